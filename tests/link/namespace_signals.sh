#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A run that a signal ends. Run by namespace.sh, or alone.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

for signal in INT TERM HUP; do
	emitter_signal=$signal pair "SIG$signal ends the emitter with a full report" '0 0' "$K" "$K -H -l LOG --count 100000" \
		'e.out ~ ^Test is complete' 'e:Recorded -gt 0' 'e:Unfinished -le 1' '@log_agrees e T1_KERNEL T4_KERNEL'
done

# The reflector by each signal.
reflector_ends_by() {
	begin "SIG$1 ends the reflector with a full report" || return 0
	start_reflector r "$K -H -l LOG --count 100000"
	start_emitter e "$K --count 30"
	finish e
	send "$1" r
	finish r
	expect_status r 0
	for one in '@audit r' '@log_agrees r T2_KERNEL T3_KERNEL' 'r:Recorded -eq 31'; do
		check "$one"
	done
	verdict
}
reflector_ends_by INT
reflector_ends_by TERM

# A second signal while the run is stuck: the log goes into a pipe that is full and that nobody reads.
second_signal_ends() {
	begin 'a second signal ends a run that is stuck' || return 0
	mkfifo "$logs/pipe"
	exec 7<>"$logs/pipe"
	head -c 65536 /dev/zero >&7
	start_reflector r "$K"
	start_emitter e "$K --count 100000 -l $logs/pipe"
	wait_for_packets e e 20
	send INT e
	poll is_asleep e
	is_running e || complain 'the run was not stuck'
	send INT e
	finish e
	exec 7>&-
	send TERM r
	finish r
	expect_status e 130
	check 'e.out empty'
	[ -p "$logs/pipe" ] || complain 'the pipe was replaced'
	verdict
}

# Seen asleep five times in a row: a loop that measures is never so.
is_asleep() {
	local child state _

	child=$(pid_of "$1")
	for _ in 1 2 3 4 5; do
		[ -n "$child" ] || return 0
		state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$child/status" 2>/dev/null)
		[[ $state == S* ]] || return 1
		sleep 0.01
	done
}
second_signal_ends

# Two signals that arrive at once, so that the second comes before the run has ended.
two_signals_at_once() {
	begin 'two signals at once end the program, and leave no file' || return 0
	start_reflector r "$K"
	start_emitter e "$K --count 100000 -l LOG"
	wait_for_packets e e 20
	compgen -G "$logs/e.log.*" >/dev/null || complain 'no temporary file during the run: this test tests nothing'
	send STOP e
	send INT e
	send TERM e
	send CONT e
	finish e
	send TERM r
	finish r
	[ "${status[e]}" = 130 ] || [ "${status[e]}" = 143 ] || complain "status ${status[e]}, not 130 or 143"
	check 'e.out empty'
	[ -z "$(ls -A "$logs")" ] || complain "left behind: $(ls -A "$logs")"
	verdict
}
two_signals_at_once
