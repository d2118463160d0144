#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A run that a signal ends.
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

# timeout(1) signals its child and then its whole group, so the child gets the signal twice. It passes on the signal that it
# gets in the same way as when its time is up.
timeout_ends() {
	local name _

	begin 'timeout(1) ends both roles with a full report, ten times' || return 0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		start r r timeout "$GUARD_S" taskset -c "$last_cpu" \
			"$rant" "${details[@]}" -i "$link_r" --stamp kernel --count 100000 -l "$logs/r.log"
		poll has_port r 862
		start e e timeout "$GUARD_S" taskset -c "$first_cpu" \
			"$rant" "${details[@]}" -i "$link_e" -a "$ip_r" --stamp kernel --count 100000 -l "$logs/e.log"
		wait_for_packets e e 20
		for name in e r; do
			terminate $name
			expect_status $name 0
			check "$name.out ~ ^Test is complete"
			check "@audit $name"
		done
		check '@log_agrees e T1_KERNEL T4_KERNEL'
		check '@log_agrees r T2_KERNEL T3_KERNEL'
		[ ${#complaints[@]} -eq 0 ] || break
		moved[e]=$(sent_by e)
	done
	verdict
}
timeout_ends

signals_at_once() {
	begin "$1 and $2 at once are one signal" || return 0
	start_reflector r "$K"
	start_emitter e "$K --count 100000 -l LOG"
	wait_for_packets e e 20
	send STOP e
	send "$1" e
	send "$2" e
	send CONT e
	finish e
	terminate r
	expect_status e 0
	check 'e.out ~ ^Test is complete'
	check '@audit e'
	check '@log_agrees e T1_KERNEL T4_KERNEL'
	verdict
}
signals_at_once INT TERM
signals_at_once HUP INT

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
	sleep 0.6
	is_running e || complain 'the run was not stuck'
	send INT e
	finish e
	exec 7>&-
	terminate r
	expect_status e 130
	check 'e.out empty'
	[ -p "$logs/pipe" ] || complain 'the pipe was replaced'
	verdict
}

# Seen asleep five times in a row: a loop that measures is never so.
is_asleep() {
	local child loop state _

	child=$(pid_of "$1")
	for _ in 1 2 3 4 5; do
		loop=$(loop_of "$1")
		[ -n "$loop" ] || return 0
		state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$child/task/$loop/status" 2>/dev/null)
		[[ $state == S* ]] || return 1
		sleep 0.01
	done
}
second_signal_ends

# A run that is over waits for its last command, up to 5 s: its log has no name yet.
second_signal_comes_late() { # EMITTER_ARGUMENTS LOOK...
	printf '#!/bin/sh\ntouch %s\nexec sleep 8\n' "$work/runs" >"$work/command"
	chmod 755 "$work/command"
	rm -f "$work/runs"
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 -t 0.001 -C --on-breach exec:$work/command --count 100000 -l LOG $1"
	wait_for_packets e e 20
	poll test -e "$work/runs"
	[ -e "$logs/e.log.partial" ] || complain 'no unfinished log during the run: this test tests nothing'
	send INT e
	poll is_asleep e # from now on that signal is the first, also for a thread without a CPU
	sleep 0.6
	"${@:2}"
	is_running e || complain 'the run was over: this test tests nothing'
	terminate e r
	expect_status e 143
	check 'e.out empty'
}

second_signal_leaves_nothing() {
	begin 'a second signal more than 0.5 s later ends the program, and leaves no file where nothing was written' || return 0
	second_signal_comes_late '-L 60000000' true
	[ -z "$(ls -A "$logs")" ] || complain "left behind: $(ls -A "$logs")"
	verdict
}
second_signal_leaves_nothing

# All probes but the last, and the closing probe.
all_is_in_the_log() {
	! is_running e || [ "$(grep -c '' "$logs/e.log.partial")" -ge $(($(sent_by e) - moved[e])) ]
}

second_signal_leaves_all() {
	begin 'a second signal more than 0.5 s later leaves all that was recorded, under a name that says so' || return 0
	second_signal_comes_late '' poll all_is_in_the_log
	whole_log "$logs/e.log.partial"
	[ "$(ls -A "$logs")" = e.log.partial ] || complain "left behind: $(ls -A "$logs")"
	leaves=partial verdict
}
second_signal_leaves_all

what_is_written_stays() {
	local _

	begin 'a second signal while the log is written keeps the written records under the name of a partial log' || return 0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		echo old >"$logs/e.log"
		start_reflector r "$K"
		start_emitter e "$K --count 1000000 -l LOG --log-full"
		wait_for_packets e e 30000
		send INT e
		if send STOP e; then
			sleep 0.6
			send INT e
			send CONT e
		fi
		finish e
		terminate r
		[ ! -e "$logs/e.log.partial" ] || break
		moved[e]=$(sent_by e)
	done
	expect_status e 130
	check 'e.out empty'
	[ "$(cat "$logs/e.log")" = old ] || complain 'the log of an earlier run was touched'
	whole_log "$logs/e.log.partial"
	[ "${log_has[0]}" -ge 1000 ] || complain "only ${log_has[0]} records"
	leaves=partial verdict
}
what_is_written_stays
