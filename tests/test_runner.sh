#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh counts the results, in a small tree with tests of a few lines each: failures, second runs, skips, an interrupt.
# Text in single quotes is for the scripts that are written here.
# shellcheck disable=SC2016
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
family=runner
# shellcheck source=tests/judge.sh
. tests/judge.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# script NAME LINE...: an executable file below tests/.
script() {
	local file=$work/tests/$1

	shift
	printf '%s\n' '#!/bin/bash' "$@" >"$file"
	chmod +x "$file"
}

# A tree with one passing script, where nothing has to be built.
small_tree() {
	rm -rf "${work:?}"/*
	mkdir -p "$work"/tests/{unit,link,lab,interop}
	cp tests/check.sh tests/skips.txt "$work/tests"
	printf 'rant:\n\t@true\nbuild/%%:\n\t@true\n' >"$work/Makefile"
	script structure.sh 'true'
	script symbols.sh 'true'
	script with_tracefs.sh 'exec "$@"'
	script interop/interop.sh 'echo "ok - interop"'
	script link/config_veth.sh 'echo "ok - veth"'
	script test_good.sh 'echo "ok - good"'
}

# The last two lines and the status of a run of the tests with "x", or $only, in their name.
last() {
	local status=0

	TEST=${only:-x} LAB=${lab:-0} "$work/tests/check.sh" >"$work/output" 2>&1 || status=$?
	echo "$(tail -n 2 "$work/output" | paste -sd/) $status"
}

small_tree
judge 'one that passes' "$(same '1 passed, 0 failed, 0 skipped/0 needed a second run 0' "$(only=good last)")"
judge 'a name that no test has: the names' "$(
	only=none last >"$work/last"
	grep -q '^check: no test has .none. in its name' "$work/output" || cat "$work/output"
	grep -qw test_good "$work/output" || echo 'test_good is not named'
)"
script test_x.sh 'echo "ok - one"; echo "not ok - two"'
judge 'one that fails' "$(same '1 passed, 1 failed, 0 skipped/0 needed a second run 1' "$(last)")"
script test_x.sh 'echo "ok - one"; echo "not ok - two"; seq -f "# because of %.0f" 20; echo "# of another"; echo "ok - three"'
last >/dev/null
judge 'the end of the output has the first diagnostics of a failed test' "$(
	same "$(echo 'not ok - two'; seq -f '# because of %.0f' 15)" "$(sed '1,/^$/d' "$work/output" | grep -E '^(not ok|# because)')"
)"
script test_x.sh 'echo "ok - one"; exit 3'
judge 'one that dies without a failed line' "$(same '1 passed, 1 failed, 0 skipped/0 needed a second run 1' "$(last)")"
script test_x.sh 'true'
judge 'one that prints nothing' "$(same '0 passed, 0 failed, 0 skipped/0 needed a second run 1' "$(last)")"

# ---- Second runs -------------------------------------------------------------------------------------------------------

# unsteady LINE: a test between namespaces that fails first and prints LINE when it is run again; ONLY has the name of the failed test.
unsteady() {
	script link/namespace_x.sh 'cd "$(dirname "$0")" || exit' \
		'if [ -e again ]; then echo "asked for: $ONLY"; '"$1"'; exit; fi' 'touch again; echo "ok - one"; echo "not ok - two"; exit 1'
}

namespaces=
if [ "$(id -u)" -eq 0 ] && ip netns add "rant-runner-$$" 2>/dev/null; then
	ip netns del "rant-runner-$$"
	namespaces=yes
	small_tree
	unsteady 'echo "ok - two"'
	judge 'a test that passes in its second run is counted' "$(same '2 passed, 0 failed, 0 skipped/1 needed a second run 0' "$(last)")"
	judge 'only the failed test runs again' "$(grep -qFx 'asked for: ^(two)$' "$work/output" || cat "$work/output")"
	judge 'both outcomes are printed' "$(grep -qx 'ok - two # SECOND RUN: failed, then passed' "$work/output" || cat "$work/output")"
	small_tree
	unsteady 'echo "not ok - two"'
	judge 'a test that fails twice has failed' "$(same '1 passed, 1 failed, 0 skipped/1 needed a second run 1' "$(last)")"
	judge 'both outcomes of a failure are printed' \
		"$(grep -qx 'not ok - two # SECOND RUN: failed, then failed' "$work/output" || cat "$work/output")"
	small_tree
	unsteady 'true'
	judge 'a test that is not in the second run has failed' "$(same '1 passed, 1 failed, 0 skipped/1 needed a second run 1' "$(last)")"
	small_tree
	script link/namespace_x.sh '[ -z "$ONLY" ] || exit 0' 'echo "ok - one"; echo "not ok - two"; exit 1'
	judge 'a second run that prints nothing is a failure' "$(same '1 passed, 1 failed, 0 skipped/1 needed a second run 1' "$(last)")"
	small_tree
	script link/namespace_x.sh 'slow() { echo "ok - QUICK=$QUICK, REST=$REST"; }' $'if true; then\n\tslow tests\nfi'
	script link/namespace_xx.sh '# a slow machine' 'echo "ok - none is slow"'
	last >/dev/null
	judge 'by name all tests of a file run, in make check' "$(same 'ok - QUICK=, REST=' "$(grep '^ok - QUICK' "$work/output")")"
	TEST='' LAB=0 "$work/tests/check.sh" >"$work/output" 2>&1
	judge 'make check leaves the slow ones out' "$(same 'ok - QUICK=1, REST=' "$(grep '^ok - QUICK' "$work/output")")"
	TEST=x LAB=0 "$work/tests/check.sh" --rest >"$work/output" 2>&1
	judge 'make check-all has only these' "$(same 'ok - QUICK=, REST=1' "$(grep '^ok - ' "$work/output")")"
else
	echo 'ok - runner: second runs # SKIP no network namespaces here'
fi

# ---- Skips -------------------------------------------------------------------------------------------------------------

small_tree
script test_x.sh 'echo "ok - one"; echo "ok - two # SKIP no netem on this kernel"'
judge 'a skip that is allowed' "$(same '1 passed, 0 failed, 1 skipped/0 needed a second run 0' "$(last)")"
script test_x.sh 'echo "ok - one"; echo "ok - two # SKIP tshark is not installed"'
judge 'a skip that is not allowed is status 1' "$(same '1 passed, 0 failed, 1 skipped/0 needed a second run 1' "$(last)")"
judge 'and is named' "$(sed -n '/^Not allowed/{n;p}' "$work/output" | grep -qx 'ok - two # SKIP tshark is not installed' || cat "$work/output")"

# units: the last two lines and the status of unit tests, as somebody who is not root.
units() {
	local status=0
	local -a nobody=()

	[ "$(id -u)" -ne 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod 755 "$work"
	"${nobody[@]}" env LAB=0 TEST=x "$work/tests/check.sh" --unit >"$work/output" 2>&1 || status=$?
	echo "$(tail -n 2 "$work/output" | paste -sd/) $status"
}

small_tree
: >"$work/tests/unit/test_x.c"
mkdir "$work/build"
printf '#!/bin/bash\necho "ok 1 - one"; echo "ok 2 # SKIP it_needs_root"\n' >"$work/build/test_x"
chmod 755 "$work/build/test_x"
judge 'without root unit tests may be skipped' "$(same '1 passed, 0 failed, 1 skipped/0 needed a second run 0' "$(units)")"

# ---- An interrupt ------------------------------------------------------------------------------------------------------

# await FILE: until it has something in it.
await() {
	local i

	for ((i = 0; i < 500; i++)); do
		[ ! -s "$1" ] || break
		sleep 0.02
	done
}

interrupted() {
	local pid status=0

	small_tree
	script test_x.sh 'trap "sleep 0.2; echo removing; touch ended; exit 1" TERM' 'sleep 60 &' 'echo $! >sleeper' 'wait'
	TEST=x LAB=0 "$work/tests/check.sh" >"$work/output" 2>&1 &
	pid=$!
	await "$work/sleeper"
	kill -TERM $pid
	wait $pid || status=$?
	[ $status -eq 143 ] || echo "status $status"
	[ -e "$work/ended" ] || echo 'the test was not ended by SIGTERM'
	! kill -0 "$(<"$work/sleeper")" 2>/dev/null || echo 'a process of the test is still there'
}
judge 'an interrupt ends the tests that run, and what they started' "$(interrupted)"

# A link test whose programs do nothing is ended, with all it runs, while it compares the settings at its end with those before.
interrupted_at_its_end() {
	local pid status=0

	script diff 'echo begun >"$0.begun"' 'exec sleep 60'
	PATH=$work/tests:$PATH ONLY='no setting' setsid tests/link/namespace_report.sh /bin/true /bin/true >"$work/output" 2>&1 &
	pid=$!
	await "$work/tests/diff.begun"
	kill -TERM -- -$pid
	wait $pid || status=$?
	[ $status -eq 143 ] || echo "status $status"
	! ip netns list | grep -e "-$pid\>" || echo 'are still there'
}

# A test by a name that is not in its file: the holder of the kernel's stamps for all tests may not have begun when it is to end.
nothing_to_do() {
	local i

	script hold 'exec sleep 60'
	for i in 1 2 3 4; do
		ONLY='^none$' timeout 30 tests/link/namespace_report.sh /bin/true "$work/tests/hold" >"$work/output" 2>&1 || echo "status $?"
	done
}

if [ -n "$namespaces" ]; then
	judge 'a link test without anything to do ends' "$(nothing_to_do)"
	judge 'a link test that is interrupted at its end removes its namespaces' "$(interrupted_at_its_end)"
fi
