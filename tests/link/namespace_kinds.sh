#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The whole report of each kind of run, next to one of its kind that was read and found good: tests/reports.
# A change of the report changes those too: KEEP=DIRECTORY leaves the reports of this run there.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

reports=$(dirname "$(readlink -f "$0")")/../reports

# reads_as NAME KIND
reads_as() {
	local said

	[ -z "${KEEP:-}" ] || cp "$work/$1.out" "$KEEP/$2.txt"
	said=$(python3 "$(dirname "$0")/compare_report.py" "$reports/$2.txt" "$work/$1.out" 2>&1) ||
		complain "the report of $1 is no $2: ${said:-it cannot be compared}"
}

lossy() {
	begin 'report: an emitter that loses probes' || return 0
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
	begin 'report: an emitter that nobody answers' || return 0
	server=$ip_nobody start_emitter e "$K --count 5 --timeout 50"
	finish e
	check '@expect_status e 1'
	check '@reads_as e emit-unanswered'
	verdict
}

# In the last of 500 the reflector's program is held up for 0.6 s.
breached() {
	begin 'report: an emitter that a breach ends' || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s"
	start_emitter e "$K -s --threshold 500000 --timeout 5000 --count 1000"
	finish e
	terminate r
	check '@expect_status e 2'
	check '@reads_as e emit-breached'
	verdict
}

unused() {
	begin 'report: a reflector that nobody used' || return 0
	start_reflector r "$K"
	terminate r
	check '@expect_status r 0'
	check '@reads_as r reflect-unused'
	verdict
}

if ! command -v python3 >/dev/null; then
	skip 'report: each kind of run' 'python3 is not installed'
else
	pair 'report: both ends, with stamps of the kernel' '0 0' "$K" "$K --count 2000" '@reads_as e emit-kernel' '@reads_as r reflect-kernel'
	pair 'report: both ends, with stamps of user space' '0 0' "$U" "$U --count 2000" '@reads_as e emit-user' '@reads_as r reflect-user'
	pair 'report: both ends, with -H and -s' '0 0' "$K -H -s" "$K -H -s --count 2000" '@reads_as e emit-histogram' \
		'@reads_as r reflect-histogram'
	pair 'report: a window' '0 0' "$K" "$K --window 16 --count 2000" '@reads_as e emit-window'
	pair 'report: by the clock' '0 0' "$K" "$K --interval 5ms --count 200" '@reads_as e emit-interval'
	emitter_signal=INT pair 'report: an emitter that is interrupted' '0 0' "$K" "$K" '@reads_as e emit-interrupted'
	pair 'report: a log that is incomplete' '0 1' "$K" "$K --count 20 -l /dev/full" '@reads_as e emit-doubtful'
	lossy
	unanswered
	unused
	if [ -n "$spike" ]; then breached; else skip 'report: an emitter that a breach ends' 'no library that makes spikes was given'; fi
fi
