#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench/bench.sh: which values of a few bound their median, and how a ratio is judged; nothing is measured.
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
# Text in single quotes is for the inner shell.
# shellcheck disable=SC2016
set -uo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.." || exit 1
family=bench
# shellcheck source=tests/judge.sh
. tests/judge.sh
bench=tests/bench/bench.sh

# ---- The interval: ranks as tables of the sign test have them (two-sided, 5 %) -----------------------------------------

# ranks_are N LOWER UPPER MEDIAN: of the numbers from 1 to N
ranks_are() {
	is "interval: of $1" "$(printf '%.6f %.6f %.6f' "$4" "$2" "$3")" "$(bash -c '. "$1"; interval $(seq "$2" | shuf)' test "$bench" "$1")"
}

ranks_are 5 1 5 3
ranks_are 6 1 6 3.5
ranks_are 8 1 8 4.5
ranks_are 9 2 8 5
ranks_are 10 2 9 5.5
ranks_are 12 3 10 6.5
ranks_are 20 6 15 10.5
ranks_are 25 8 18 13

# ---- What is measured --------------------------------------------------------------------------------------------------

# wanted NAME PAIRS WANT
wanted() {
	is "pairs: $1" "$3" "$(PAIRS=$2 bash -c '. "$1"; judged=("$control control" "a b" "c d"); printed=("a e" "f g")
		keep_wanted; echo "${judged[*]}, ${printed[*]}"' test "$bench")"
}

wanted 'all' '' 'bare-kernel-connected control a b c d, a e f g'
wanted 'those of a subject, and the control' '^a ' 'bare-kernel-connected control a b, a e'
wanted 'none but the control' 'no such' 'bare-kernel-connected control, '
is 'CPUS: one is not two' "test: CPUS is two CPUs, of emitter and reflector, as '3 2', not '3'" \
	"$(CPUS=3 bash -c '. "$1"; choose_cpus' test "$bench" 2>&1)"
is 'CPUS: the emitter on the first' '3 2' "$(CPUS='3 2' bash -c '. "$1"; choose_cpus; echo "$cpu_e $cpu_r"' test "$bench" 2>&1)"

# ---- Judgements --------------------------------------------------------------------------------------------------------

# judged NAME WANT RATIO...: of a budget of 0.95
judged() {
	is "judged: $1" "$2" "$(bash -c '. "$1"
		figures[rate/a:b/a]="${*:2}"
		figures[rate/a:b/b]=$(printf "1 %.0s" "${@:2}")
		judge_ratio what 0.95 a b' test "$bench" "${@:3}" | sed 's/.*) *//')"
}

judged 'the median reaches it' met 0.90 0.91 0.94 0.96 0.97 0.98 0.99
judged 'nearly, and chance may be why not' 'not shown' 0.90 0.91 0.92 0.94 0.95 0.96 0.97
judged 'all of the interval is below it' 'NOT met' 0.90 0.91 0.92 0.93 0.94 0.94 0.949
is 'judged: a pair of which one did not run' 'not measured' \
	"$(bash -c '. "$1"; judge_ratio what 0.95 a b' test "$bench" | sed 's/.* - *//')"
is 'judged: nothing, on a busy machine' 'too busy to tell' \
	"$(bash -c '. "$1"; busy=yes; figures[rate/a:b/a]=1; figures[rate/a:b/b]=1; judge_ratio what 0.95 a b' test "$bench" | sed 's/.*) *//')"

exit $failed
