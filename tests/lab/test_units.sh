#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: arm64
#
# Unit tests, cross-built, on the kernel of their architecture. Quick are those that qemu-user cannot run: the table in
# tests/cross.sh.
#
#   ONLY=REGEX  only the tests whose name matches
set -uo pipefail

limit_s=300 failed=0
cd "$BUILD/.." || exit 1
output=$(mktemp) || exit 1

is_quick() {
	grep -q "^$1 " tests/cross.sh
}

# Skipped tests are named: cmocka 1.1.5 prints "not ok N # SKIP NAME" for each.
count() {
	echo "# $(grep -Ec '^ok [0-9]+ - ' "$output") passed$(sed -nE 's/^(not )?ok [0-9]+ # SKIP (.*)/, \2 skipped/p' "$output" | tr -d '\n')"
}

run() { # NAME
	local status=0 began_s=$SECONDS

	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$limit_s" "build/$1" >"$output" 2>&1 </dev/null || status=$?
	if [ "$status" -eq 0 ]; then
		echo "ok - units: $1"
	else
		failed=1
		echo "not ok - units: $1"
		echo "# status $status"
		grep -aE '^not ok|^#|rror|ault' "$output" | head -30 | sed 's/^/#   /'
	fi
	count
	[ $((SECONDS - began_s)) -lt 10 ] || echo "# $((SECONDS - began_s)) s"
}

for file in tests/unit/test_*.c; do
	name=${file##*/} name=${name%.c}
	[[ $name =~ ${ONLY:-.} ]] || continue
	if is_quick "$name"; then
		[ -n "${REST:-}" ] || run "$name"
	else
		[ -n "${QUICK:-}" ] || run "$name"
	fi
done
exit "$failed"
