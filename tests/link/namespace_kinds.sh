#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The report of each kind of run, compared with a report of its kind in tests/reports: the complete report, and the brief one of the same
# command in tests/reports/brief. A change of the report changes those too: KEEP=DIRECTORY saves the reports of this run there, brief reports in
# DIRECTORY/brief.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

kind='' which=''
reports=$(dirname "$(readlink -f "$0")")/../reports

# reads_as NAME KIND
reads_as() {
	local said

	[ -z "${KEEP:-}" ] || cp "$work/$1.out" "$KEEP/$which$2.txt"
	[ -z "$which" ] || fits "$1"
	said=$(python3 "$(dirname "$0")/compare_report.py" "$reports/$which$2.txt" "$work/$1.out" 2>&1) ||
		complain "the report of $1 is not a $2: ${said:-it cannot be compared}"
}

# At most 22 lines within 80 columns; 4 more lines with a breach, 2 more with a period of the spikes, 2 more with modes, and 14 more with the block of -H.
# Scripts match the line that begins with MIN.
fits() {
	local lines most=22

	! grep -q 'exceeds threshold' "$work/$1.out" || most=$((most + 4))
	! grep -q '^Spikes come every' "$work/$1.out" || most=$((most + 2))
	! grep -Eq '^([0-9]+ modes|Thin peak) of ' "$work/$1.out" || most=$((most + 2))
	! grep -q '^Histogram Summary:' "$work/$1.out" || most=$((most + 14))
	lines=$(wc -l <"$work/$1.out")
	[ "$lines" -le "$most" ] || complain "the brief report of $1 has $lines lines, not at most $most"
	! grep -v '^MIN: ' "$work/$1.out" | grep -Eq '^.{81}' || complain "the brief report of $1 has a line of more than 80 columns"
	for line in '^Test is complete\. Duration: [0-9.]+ s$' '^MIN: [0-9]+ ns \| MAX: [0-9]+ ns \| AVG: [0-9]+ ns \| Total Samples: [0-9]+$|^MIN: n/a '; do
		grep -Eq "$line" "$work/$1.out" || complain "the brief report of $1 has no line $line"
	done
}

lossy() {
	begin "$kind: an emitter that loses probes" || return 0
	start h r "$hostile" reflect drop "$ip_r" --every 10 --count 60
	poll has_port h 862
	start_emitter e "$K --plain --timeout 400 --count 40"
	finish e
	[ ! -v 'guard[h]' ] || terminate h
	check '@expect_status e 0'
	check '@reads_as e emit-lost'
	verdict
}

unanswered() {
	begin "$kind: an emitter without a reflector" || return 0
	server=$ip_nobody start_emitter e "$K --count 5 --timeout 50"
	finish e
	check '@expect_status e 1'
	check '@reads_as e emit-unanswered'
	verdict
}

# In the last of 500 the reflector's program is held up for 0.6 s.
breached() {
	begin "$kind: an emitter that a breach ends" || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s"
	start_emitter e "$K -s --threshold 500000 --timeout 5000 --count 1000"
	finish e
	terminate r
	check '@expect_status e 2'
	check '@reads_as e emit-breached'
	verdict
}

unused() {
	begin "$kind: a reflector without an emitter" || return 0
	start_reflector r "$K"
	terminate r
	check '@expect_status r 0'
	check '@reads_as r reflect-unused'
	verdict
}

each_kind() {
	pair "$kind: both ends, with stamps of the kernel" '0 0' "$K" "$K --count 2000" '@reads_as e emit-kernel' '@reads_as r reflect-kernel'
	pair "$kind: both ends, with stamps of user space" '0 0' "$U" "$U --count 2000" '@reads_as e emit-user' '@reads_as r reflect-user'
	pair "$kind: both ends, with -H and -s" '0 0' "$K -H -s" "$K -H -s --count 2000" '@reads_as e emit-histogram' \
		'@reads_as r reflect-histogram'
	pair "$kind: a window" '0 0' "$K" "$K --window 16 --count 2000" '@reads_as e emit-window'
	pair "$kind: by the clock" '0 0' "$K" "$K --interval 5ms --count 200" '@reads_as e emit-interval'
	emitter_signal=INT pair "$kind: an emitter that is interrupted" '0 0' "$K" "$K" '@reads_as e emit-interrupted'
	pair "$kind: a log that is incomplete" '0 1' "$K" "$K --count 20 -l /dev/full" '@reads_as e emit-doubtful'
	lossy
	unanswered
	unused
	if [ -n "$spike" ]; then breached; else skip "$kind: an emitter that a breach ends" 'no library that makes spikes was given'; fi
}

if ! command -v python3 >/dev/null; then
	skip 'report: each kind of run' 'python3 is not installed'
else
	kind=report which='' each_kind
	details=()
	kind='brief report' which=brief/ each_kind
fi
