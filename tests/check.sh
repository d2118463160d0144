#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All tests, one line each, and a closing line with the counts. Run by "make check", which builds what is needed here.
set -uo pipefail

[ -x build/rant-sanitized ] || { echo "check: run this by: sudo make check" >&2; exit 1; }
cd "$(dirname "$0")/.." || exit 1
sources=(*.c host/*.c wire/*.c measure/*.c doctor/*.c report/*.c)
results=$(mktemp)
trap 'rm -f "$results"' EXIT
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=print_stacktrace=1
warnings=(-std=gnu11 -Wall -Wextra -Wshadow -Wformat=2 -Wmissing-prototypes -Werror -I. -I/usr/include/libnl3)

# A test that is one command: what it prints is shown when it fails.
one() {
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "ok - $name"
	else
		echo "not ok - $name"
		printf '# %s\n' "${output//$'\n'/$'\n# '}"
	fi | tee -a "$results"
}

# A test program that prints lines of its own. One that dies without a failed line is a failure too.
many() {
	local name=$1 status
	shift
	echo "# $name"
	"$@" 2>&1 | tee -a "$results"
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || echo "not ok - $name ended with status $status" | tee -a "$results"
}

analyze() {
	local file
	for file in "${sources[@]}"; do
		gcc "${warnings[@]}" -O2 -fanalyzer -c "$file" -o /dev/null || return 1
	done
	# What is left out without libcrypto.
	[ ! -e /usr/include/openssl/sha.h ] || gcc "${warnings[@]}" -DWITH_CRYPTO -O2 -fanalyzer -c wire/hmac.c -o /dev/null
}

plain_compile() {
	gcc -O2 -I. ./*.c ./*/*.c -I/usr/include/libnl3 -o /dev/null -lnl-3 -lnl-genl-3 -lm
}

one "the sources compile without the Makefile" plain_compile
one "gcc -fanalyzer finds nothing" analyze
one "shellcheck finds nothing" shellcheck -x config.sh tests/*.sh tests/*/*.sh tests/unit/config/stub .ci/run
one "hot rooms call only what is allowed" tests/symbols.sh
for test in tests/unit/test_*.c; do
	test=build/$(basename "$test" .c)
	CMOCKA_MESSAGE_OUTPUT=TAP many "$(basename "$test")" tests/with_tracefs.sh "$test"
done
many "config.sh with replaced tools" tests/unit/test_config.sh
many "config.sh on a veth link" tests/link/config_veth.sh ./rant
many "on a veth link" tests/link/namespace.sh ./rant build/hostile build/spike.so
many "on a veth link, AddressSanitizer and UBSan" tests/link/namespace.sh build/rant-sanitized build/hostile
many "with programs that are not rant" tests/interop/interop.sh ./rant
many "with programs that are not rant, AddressSanitizer and UBSan" tests/interop/interop.sh build/rant-sanitized
[ "${LAB:-1}" = 0 ] || many "in virtual machines" tests/lab/lab.sh --all

# cmocka 1.1.5 says "not ok N # SKIP" of a test that was skipped.
skip='^(not )?ok .*# skip'
skipped=$(grep -Eci "$skip" "$results")
passed=$(grep -Eiv "$skip" "$results" | grep -Ec '^ok ')
failed=$(grep -Eiv "$skip" "$results" | grep -Ec '^not ok ')
echo
grep -Ei "$skip" "$results"
grep -Eiv "$skip" "$results" | grep -E '^not ok '
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
