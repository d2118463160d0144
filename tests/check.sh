#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests, one line each, and a closing line with the counts. Builds what it runs.
#
#   check.sh            the quick ones: make check
#   check.sh --rest     what these leave out: make check-all
#
#   TEST=NAME    only those with NAME in their name, which is that of their file: make check TEST=NAME
#   LAB=0        without the virtual machines
#
# What runs in real time, in the lab, between namespaces and with threads and clocks of the kernel, is run once more where something failed:
# see twice().
set -uo pipefail
shopt -s nullglob

cd "$(dirname "$0")/.." || exit 1
only=${TEST:-} lab=${LAB:-1} rest=no
case ${1:-} in
'') ;;
--rest) rest=yes ;;
*) echo "usage: check.sh [--rest]" >&2 && exit 1 ;;
esac
work=$(mktemp -d) || exit 1
results=$work/results
: >"$results"
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=print_stacktrace=1
TIMEFORMAT='%0R s; CPU time %0U s, and %0S s in the kernel'

# ---- One test --------------------------------------------------------------------------------------------------------

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

# Runs a test program that prints lines of its own, which go into FILE too. One that dies without a failed line is a failure too.
# cmocka 1.1.5 says "not ok N # SKIP" of a test that was skipped.
once() {
	local file=$1 name=$2 status

	shift 2
	echo "# $name"
	"$@" 2>&1 | sed -uE 's/^not (ok [0-9]+ # SKIP)/\1/' | tee "$file"
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || grep -q '^not ok ' "$file" || echo "not ok - $name ended with status $status" | tee -a "$file"
}

many() {
	once "$work/$BASHPID" "$@"
	cat "$work/$BASHPID" >>"$results"
}

# passed_again SECOND: of the results on standard input, what failed there and passed in SECOND and failed nowhere in it. How a whole program
# ended has no name of its own there: that has passed where nothing failed.
passed_again() {
	awk '
		NR == FNR && /^not ok / { failed[substr($0, 5)]; any = 1 }
		NR == FNR && /^ok / { passed[$0] }
		NR == FNR { next }
		/^not ok / {
			name = substr($0, 5)
			if (!(name in failed) && (name in passed || !any && name ~ /^ok - (test_[^ ]*: |.* ended with status )/))
				$0 = name " # UNSTEADY: failed, but not when run once more"
		}
		{ print }
	' "$1" -
}

# twice AGAIN NAME COMMAND...: for tests in real time, which share the CPUs with all else that runs here. Where something failed,
# "AGAIN FILE COMMAND..." runs it once more, FILE being what was printed: what does not fail then has passed, and the end of the output
# tells so.
twice() {
	local again=$1 name=$2 first=$work/first.$BASHPID second=$work/second.$BASHPID

	shift 2
	once "$first" "$name" "$@"
	if grep -q '^not ok ' "$first"; then
		once "$second" "$name, once more" "$again" "$first" "$@"
		passed_again "$second" <"$first" >>"$results"
	else
		cat "$first" >>"$results"
	fi
}

# Those that failed, by name; all of it where that is not known.
again() {
	local names

	# shellcheck disable=SC2016 # a set of signs
	names=$(sed -n 's/^not ok - //p' "$1" | sed 's/[][\\.*^$(){}+?|]/\\&/g' | paste -sd'|')
	! grep -q '^not ok .* ended with status ' "$1" || names=
	ONLY=${names:+"^($names)\$"} "${@:2}"
}

# The files of those that failed: a line "# test_NAME, SECONDS s" is before what each prints.
again_in_lab() {
	local -a files

	mapfile -t files < <(awk '/^# test_/ { name = $2 } /^not ok - test_/ { name = $4 } /^not ok / { print name }' "$1" |
		sed 's/^test_//; s/[,:]$//' | sort -u)
	QUICK=$([ "$rest" = yes ] || echo 1) "$2" "${files[@]}"
}

# A part of the tests, and how long it took. On a busy machine CPU time says more than the clock.
part() {
	local name=$1 status
	shift
	{ time "$@"; } 2>"$work/time.$name"
	status=$?
	head -n -1 "$work/time.$name"
	echo "# $name: $(tail -n 1 "$work/time.$name")"
	return $status
}

# ---- Without running it ----------------------------------------------------------------------------------------------

warnings=(-std=gnu11 -Wall -Wextra -Wshadow -Wformat=2 -Wmissing-prototypes -Werror -I. -I/usr/include/libnl3)

analyze() {
	local file status=0
	for file in *.c */*.c; do
		gcc "${warnings[@]}" -O2 -fanalyzer -c "$file" -o /dev/null || status=1
	done
	# What is left out without libcrypto, libseccomp and libjansson.
	[ ! -e /usr/include/openssl/sha.h ] ||
		gcc "${warnings[@]}" -DWITH_CRYPTO -O2 -fanalyzer -c wire/hmac.c -o /dev/null || status=1
	[ ! -e /usr/include/seccomp.h ] ||
		gcc "${warnings[@]}" -DWITH_SECCOMP -O2 -fanalyzer -c host/filter.c -o /dev/null || status=1
	[ ! -e /usr/include/jansson.h ] ||
		gcc "${warnings[@]}" -DWITH_JANSSON -O2 -fanalyzer -c results/tree.c -o /dev/null || status=1
	return $status
}

# The line that the README gives, with no word of the compiler about it.
compile() {
	local line output
	line=$(sed -n 's/^    \(gcc .* -o \)rant /\1\/dev\/null /p' README.md)
	[ "$(grep -c . <<<"$line")" -eq 1 ] || { echo "README.md has not one line '    gcc ... -o rant ...'" && return 1; }
	output=$(bash -c "$line" 2>&1) || output+=" failed"
	[ -z "$output" ] || { echo "$line: $output" && return 1; }
}

# As with other libraries than there are.
rebuilds() {
	[ "$(make -n CRYPTO=x SECCOMP=x JANSSON=x build/host/filter.o build/wire/hmac.o build/results/tree.o |
		grep -cE ' -c (host/filter|wire/hmac|results/tree)\.c ')" -eq 3 ]
}

scripts() {
	shellcheck -x .ci/run config.sh config/*.sh debian/*.p[or]* packaging/*.sh tests/*.sh tests/*/*.sh tests/unit/config/stub \
		contrib/crucible/rant-{base,client,get-runtime,server-start,server-stop}
}

declare -A title=(
	[compile]='the sources compile without the Makefile'
	[analyze]='gcc -fanalyzer finds nothing'
	[rebuilds]='what CRYPTO, SECCOMP and JANSSON change is built again'
	[shellcheck]='shellcheck finds nothing'
	[symbols]='hot rooms call only what is allowed'
	[house_arrows]='includes go one way, and each file has its place'
	[house_headers]='each source has a header, and each header compiles alone'
	[house_sizes]='no file and no function is too long'
)

# ---- What there is ---------------------------------------------------------------------------------------------------

tests=() names=()

# offer KIND FILE PROGRAMS COMMAND...: a test, which has the name of its file. PROGRAMS (A,B or none) are built first.
offer() {
	local name=${2##*/}

	name=${name%.*}
	names+=("$name")
	[[ $name != *"$only"* ]] || tests+=("$1 $name ${*:3}")
}

# What may be executed in tests/link is a test. The parts of namespace.sh are when it is not asked for itself.
offer_links() {
	local file

	for file in tests/link/*.sh; do
		[[ -x $file ]] || continue
		[[ $file != */namespace_* || namespace != *"$only"* ]] || continue
		case $rest,$file in
		no,*/config_veth.sh) offer config "$file" rant "$file" ./rant ;;
		no,*) offer network "$file" rant,build/hostile,build/spike.so "$file" ./rant build/hostile build/spike.so ;;
		yes,*/namespace*) offer network "$file" build/rant-sanitized,build/hostile "$file" build/rant-sanitized build/hostile ;;
		esac
	done
}

offer_quick() {
	local file

	offer static compile none compile
	offer static analyze none analyze
	offer static rebuilds rant rebuilds
	offer static shellcheck none scripts
	offer static symbols rant tests/symbols.sh
	for file in arrows headers sizes; do
		offer static house_$file none tests/house.sh $file
	done
	for file in tests/unit/test_*.c; do
		file=build/$(basename "$file" .c)
		offer unit "$file" "$file" tests/with_tracefs.sh "$file"
	done
	for file in tests/test_*.sh tests/unit/test_*.sh; do
		[[ ! -x $file ]] || offer script "$file" none "$file"
	done
	offer_links
	offer network interop rant tests/interop/interop.sh ./rant
}

offer_rest() {
	offer script tests/packaging/packages.sh none tests/packaging/packages.sh
	offer_links
	offer network interop build/rant-sanitized tests/interop/interop.sh build/rant-sanitized
}

if [ "$rest" = no ]; then
	offer_quick
else
	offer_rest
fi
if [ "$lab" != 0 ]; then
	for file in tests/lab/test_*.sh; do
		offer lab "$file" lab-programs
	done
fi
if [ ${#tests[@]} -eq 0 ]; then
	echo "check: no test has '$only' in its name. There are:" >&2
	printf '%s\n' "${names[@]}" | sort -u | paste -sd' ' | fold -sw 100 >&2
	exit 1
fi

# ---- Running them ----------------------------------------------------------------------------------------------------

# run KIND
run() {
	local kind name command

	for test in "${tests[@]}"; do
		read -r kind name _ command <<<"$test"
		[ "$kind" = "$1" ] || continue
		# shellcheck disable=SC2086 # words
		case $kind in
		static) one "${title[$name]}" $command ;;
		unit) CMOCKA_MESSAGE_OUTPUT=TAP twice again "$name" $command ;;
		script | config) many "$name" $command ;;
		network) part "$name" twice again "$command" $command ;;
		esac
	done
}

# All that are asked for in one go.
run_lab() {
	local -a asked=()

	[[ "${tests[*]}" == *lab-programs* ]] || return 0
	if [ -n "$only" ]; then
		mapfile -t asked < <(printf '%s\n' "${tests[@]}" | sed -n 's/^lab test_\([^ ]*\) .*/\1/p')
	elif [ "$rest" = yes ]; then
		asked=(--rest)
	fi
	RANT=./rant part lab twice again_in_lab "in virtual machines" tests/lab/lab.sh "${asked[@]}"
}

mapfile -t programs < <(printf '%s\n' "${tests[@]}" | awk '$3 != "none" { gsub(",", "\n", $3); print $3 }' | sort -u)
if [ ${#programs[@]} -gt 0 ] && ! part build make -s -j"$(nproc)" "${programs[@]}"; then
	echo "check: it does not build"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
# Side by side: few of these depend on time.
{
	part static run static
	part unit run unit
} >"$work/beside" &
part config run config >"$work/config" &
part scripts run script
wait
cat "$work/config" "$work/beside"
run network
run_lab

skip='^ok .*# skip'
skipped=$(grep -Eci "$skip" "$results")
passed=$(grep -Eiv "$skip" "$results" | grep -Ec '^ok ')
failed=$(grep -Ec '^not ok ' "$results")
echo
grep -Ei "$skip" "$results"
grep ' # UNSTEADY: ' "$results"
grep -E '^not ok ' "$results"
case $rest,$only in
no,) echo "Left out: slow tests of the lab, and link and interop tests under AddressSanitizer and UBSan: make check-all" ;;
yes,) echo "Left out: the quick tests: make check" ;;
*) echo "Left out: all tests without '$only' in their name" ;;
esac
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
