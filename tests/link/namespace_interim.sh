#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reports during a run: the interim report at SIGUSR1 and SIGQUIT, the lines of --summary-every and those of --every.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# Takes the reports so far, and the lines, out of what a program has printed, into NAME.so_far: what is left is as without them.
take_so_far() {
	local name

	for name in "$@"; do
		awk -v to="$work/$name.so_far" '
			/^Report so far, / { inside = 1 }
			inside || /^So far: / { print >to }
			!inside && !/^So far: /
			/^Only at the end: / { inside = 0; getline; print >to }' "$work/$name.out" >"$work/$name.rest"
		touch "$work/$name.so_far"
		mv "$work/$name.rest" "$work/$name.out"
	done
}

# Asks again and again while the emitter runs.
ask_often() {
	while is_running e; do
		send USR1 e
		send USR1 r
		sleep 0.1
	done
}

# at_least N REGEX NAME: of the lines that were taken out.
at_least() {
	local have

	have=$(grep -Ec -- "$2" "$work/$3.so_far")
	[ "$have" -ge "$1" ] || complain "$3: $have lines so far that match $2, not $1"
}

# Samples of one report so far to the next never become fewer, nor more than at the end.
grows_to_the_end() {
	local name=$1

	awk -v last="$(sed -n 's/^MIN: .*Total Samples: //p' "$work/$name.out")" '
		/^MIN: / { n = $NF + 0; if (n < before || n > last) exit bad = 1; before = n }
		END { exit bad }' "$work/$name.so_far" || complain "$name: the counts so far do not grow to the last one"
}

asked_ten_times_a_second() {
	local name

	begin 'SIGUSR1 ten times a second: both print an interim report and go on, and the final report is exact' || return 0
	start_reflector r "$K -H -l LOG"
	start_emitter e "$K --timeout 5000 -d 2 -H -l LOG"
	wait_for_packets e e 20
	ask_often
	finish e
	terminate r
	take_so_far e r
	for name in e r; do
		expect_status $name 0
		check "@audit $name"
		check "$name.err !~ so far"
		at_least 5 '^Report so far, after [0-9]+\.[0-9] s; it goes on\.$' $name
		at_least 5 '^MIN: [0-9]+ ns \| MAX: [0-9]+ ns \| AVG: [0-9]+ ns \| Total Samples: [0-9]+$' $name
		at_least 5 '^    99th    :  ' $name
		at_least 5 '^  Received  :  [0-9]+$' $name
		grows_to_the_end $name
	done
	at_least 5 '^RTT p50 .* samples? .*in [0-9.]+ s, 0 lost$' e
	at_least 5 '^Response p50 .* samples? .*in [0-9.]+ s$' r
	check '@log_agrees e T1_KERNEL T4_KERNEL'
	check '@log_agrees r T2_KERNEL T3_KERNEL'
	verdict
}

# With --json - the report goes to stderr, and so does this; with -q there is neither.
asked_where_stdout_is_taken() {
	begin 'SIGUSR1: where stdout is taken it goes to stderr, and nowhere with -q' || return 0
	start_reflector r "$K -q"
	start_emitter e "$K --timeout 5000 -d 1.5 --json -"
	wait_for_packets e e 20
	ask_often
	finish e
	terminate r
	expect_status e 0
	expect_status r 0
	check 'e.err ~ ^Report so far, '
	check 'e.out !~ so far'
	check 'r.out empty'
	check 'r.err !~ so far'
	verdict
}

# Into a pipe, at both ends; their samples add up to fewer than all, for the last interval has no line.
intervals_into_a_pipe() {
	begin '--every: a line for each interval, not cumulative, at once also into a pipe' || return 0
	start_reflector r "$K --every 0.5"
	start_emitter e "$K --timeout 5000 --interval 1ms -d 3.2 --every 500ms"
	poll grep -q '^1\.[0-9] s  ' "$work/e.out"
	is_running e || complain 'the lines came at the end only'
	finish e
	terminate r
	for name in e r; do
		expect_status $name 0
		grep -E '^[0-9.]+ s  [0-9]+ samples  [0-9]+/s  (p50 [0-9.]+ us  p99 [0-9.]+ us  max [0-9.]+ us|p50 -  p99 -  max -)  lost [0-9]+$' \
			"$work/$name.out" >"$work/$name.so_far"
		check "@audit $name"
		at_least 4 ' samples  ' $name
		awk -v last="$(sed -n 's/^MIN: .*Total Samples: //p' "$work/$name.out")" '{ sum += $3 } END { exit !(sum > 0 && sum <= last) }' \
			"$work/$name.so_far" || complain "$name: the samples of the intervals are more than those of the run"
	done
	[ "$(grep -c . "$work/e.so_far")" -le 6 ] || complain 'more than a line each 0.5 s'
	verdict
}

# As Ctrl-\ does it.
sigquit_asks() {
	begin 'SIGQUIT: a report so far, and the run goes on' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 -d 1.5"
	wait_for_packets e e 20
	send QUIT e
	poll grep -q '^Only at the end: ' "$work/e.out"
	is_running e || complain 'it ended'
	finish e
	terminate r
	check '@expect_status e 0'
	take_so_far e
	at_least 1 '^Report so far, after [0-9]+\.[0-9] s; it goes on\.$' e
	check '@audit e'
	verdict
}

lines_every_second() {
	begin '--summary-every: a line every second, with the refused packets' || return 0
	start_reflector r "$K --summary-every 1 --allow 10.77.0.0/24 --rate-limit 100"
	start_emitter e "$K --timeout 20 -d 3.4"
	finish e
	terminate r
	take_so_far r
	check '@audit r'
	at_least 2 '^So far: Response p50 [0-9.]+ us, .* in [0-9.]+ s; Sent [0-9]+; Received [0-9]+; Recorded [0-9]+; (.*; )?Over rate [0-9]+; (.*; )?Sessions 1$' r
	[ "$(grep -c . "$work/r.so_far")" -le 8 ] || complain 'more than a line a second'
	check 'r:Over_rate -gt 0'
	verdict
}

# As on a machine where all other CPUs are set aside.
nobody_to_write_them() {
	have_one_cpu '--summary-every without another CPU' || return
	begin '--summary-every without another CPU: a line says that there are none, and SIGUSR1 does nothing' || return 0
	as="$one_cpu" start_reflector r "$K --summary-every 1"
	send USR1 r
	start_emitter e "$K --timeout 5000 --count 20"
	finish e
	terminate r
	expect_status r 0
	check 'r.err ~ ^rant: --summary-every: .*there is no such CPU'
	check 'r.out !~ so far[,:]'
	check 'r.out ~ ^Nothing was done beside the measurement .*the report so far'
	check '@audit r'
	verdict
}

if [ "$first_cpu" = "$last_cpu" ]; then
	skip 'SIGUSR1 and --summary-every' 'there is only one CPU'
else
	asked_ten_times_a_second
	asked_where_stdout_is_taken
	lines_every_second
	intervals_into_a_pipe
	sigquit_asks
	nobody_to_write_them
fi
