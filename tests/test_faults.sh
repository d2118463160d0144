#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The table of faults in docs/faults.md: each named test exists, and is run by the named command; and every
# wrong in such a table is found. Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ".
# Text in single quotes is for sed.
# shellcheck disable=SC2016
set -uo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.." || exit 1
work=$(mktemp) || exit 1
trap 'rm -f "$work"' EXIT
least=60 # faults
failed=0

# line_of FILE NAME: prints the number of the line with a test of that name, and whether only check-all runs it. In C a
# name is a row's in quotes, or a function's that is in the list of tests. In a script it stands in quotes or where a
# command does; "slow" before it, and an end for the quick part above it, leave it to check-all.
line_of() {
	NAME=$2 awk '
		function ends(c) { return c == "" || index("\047\" \t,;", c) }
		BEGIN { name = ENVIRON["NAME"]; c = ARGV[1] ~ /[.]c$/ }
		/^#[ \t]*lab:.* slow/ { all = 1 }
		/^[ \t]*#/ { next }
		/QUICK/ && /^if / { all = 1 }
		c && (index($0, "\"" name "\"") || index($0, "(" name ")") || index($0, "(" name ",")) && !/^static/ { found = 1 }
		!c {
			at = index($0, name)
			before = substr($0, 1, at - 1)
			found = at && ends(substr(before, length(before))) && ends(substr($0, at + length(name), 1))
		}
		found { print NR, all || before ~ /(^|[ \t=(])slow / ? "check-all" : "check"; exit }' "$1"
}

# Prints a line for each fault of the table in FILE, and at the end how many rows it has.
read_table() {
	local fault seen test runs file name at have rows=0
	local -A named=()
	local -a paths

	while IFS='|' read -r _ fault seen test runs _; do
		[[ $test == *'`'* ]] || continue
		rows=$((rows + 1))
		IFS='`' read -r _ file _ name _ <<<"$test"
		paths=(tests/"$file".[csp]*)
		[ -n "${seen// /}" ] || echo "${fault# }: nothing is seen of it"
		[ -z "${named[$test]:-}" ] || echo "${fault# }: its test is named for${named[$test]}too"
		named[$test]=$fault
		[ -f "${paths[0]}" ] || { echo "${fault# }: there is no tests/$file" && continue; }
		read -r at have < <(line_of "${paths[0]}" "$name")
		if [ -z "${at:-}" ]; then
			echo "${fault# }: ${paths[0]} has no test '$name'"
		elif [ "$have" != "${runs//[ ]/}" ]; then
			echo "${fault# }: line $at of ${paths[0]} is run by $have, not${runs% }"
		elif [[ ${paths[0]} == *.sh && $file != lab/* && ! -x ${paths[0]} ]]; then
			echo "${fault# }: ${paths[0]} is run by nothing"
		fi
		at=''
	done <"$1"
	[ "$rows" -ge "$least" ] || echo "only $rows faults: at least $least are wanted"
}

# holds NAME REGEX FILE: the faults of this table are one, which matches; none without a REGEX.
holds() {
	local told

	told=$(read_table "$3")
	if [ -z "$2" ] && [ -z "$told" ]; then
		echo "ok - $1"
	elif [ -n "$2" ] && [[ $(wc -l <<<"$told") -eq 1 && $told =~ $2 ]]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		printf '# %s\n' "${told//$'\n'/$'\n# '}"
		failed=1
	fi
}

# spoilt NAME REGEX SED: as the table is when SED has been at it.
spoilt() {
	sed "$3" docs/faults.md >"$work"
	holds "docs/faults.md: found: $1" "$2" "$work"
}

holds 'docs/faults.md: each test that is named exists, and is run where it is said to' '' docs/faults.md
spoilt 'a row of a unit test that there is not' "has no test 'a send is refused twice'" 's/`a send is refused`/`a send is refused twice`/'
spoilt 'a function that is not in the list of tests' "has no test 'set_up_log'" \
	's/`what_is_opened_is_what_was_checked`/`set_up_log`/'
spoilt 'a part of a name in a script' "has no test 'loss of bot'" 's/`loss of both`/`loss of bot`/'
spoilt 'a call that there is not' "has no test 'bad_reflector t2'" 's/`bad_reflector t1`/`bad_reflector t2`/'
spoilt 'a file that there is not' 'there is no tests/lab/test_igc' '0,/test_igb/s/test_igb/test_igc/'
spoilt 'a slow test that is said to be quick' 'is run by check-all, not check' '/`T1 twice`/s/check-all/check/'
spoilt 'a quick test that is said to be slow' 'is run by check, not check-all' '/`the reflector, -100 us within a response`/s/check |$/check-all |/'
spoilt 'a slow file' 'is run by check-all, not check' '/most stamps are missing`/s/check-all/check/'
spoilt 'what only check-all comes to' 'is run by check-all, not check' '/`set_in_between kernel`/s/check-all/check/'
spoilt 'one test for two faults' 'is named for T4 is missing too' 's/`a send is refused`/`no transmit stamp here`/; s/^| T1 is/| T4 is/'
spoilt 'nothing that is seen' 'nothing is seen of it' 's/| \*Strays\* |/| |/'
spoilt 'too few faults' 'only [3-5][0-9] faults' '/^## Stamps/,$d; /`bad_/d'
exit $failed
