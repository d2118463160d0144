#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The progress line on a terminal, and the thread that draws it.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# on_terminal NAME COMMANDS: NAME.out gets the output of the terminal, NAME.pid the process id of the program.
on_terminal() {
	start "$1" e script -qec "stty cols 100; echo \$\$ >'$work/$1.pid'; exec $2" /dev/null
}

progress_is_drawn() {
	begin 'progress is drawn once a second on a terminal, and wiped' || return 0
	start_reflector r "$K"
	on_terminal t "$rant --details $E -d 2.3 >'$work/e.out'"
	finish t
	terminate r
	for one in '@expect_status t 0' '@audit e' 'e:Recorded -gt 0' \
		't.out ~ 1\.[0-9] s  [0-9]+ samples  [0-9]+/s  p50 [0-9.]+ us  p99 [0-9.]+ us  max [0-9]+\.[0-9]{3} us  lost [0-9]+' \
		't.out ~ 2\.[0-9] s  [0-9]+ samples'; do
		check "$one"
	done
	[ "$(tail -c 4 "$work/t.out" | od -An -tx1)" = ' 0d 1b 5b 4b' ] || complain 'the last thing drawn is not the wiping'
	verdict
}

progress_is_quiet() {
	begin 'no progress with -q on a terminal' || return 0
	start_reflector r "$K"
	on_terminal t "$rant $E -q -d 1.3"
	finish t
	terminate r
	for one in '@expect_status t 0' 't.out empty'; do
		check "$one"
	done
	verdict
}

bars_fit() {
	begin 'bars of the histogram fit the terminal' || return 0
	start_reflector r "$K"
	on_terminal t "$rant --details $E -H -o 20 -b 20 --count 50 2>/dev/null"
	finish t
	terminate r
	check '@expect_status t 0'
	check 't.out ~ %  #{20,}.?$'
	[ "$(tr -d '\r' <"$work/t.out" | awk '!/^(  Forward and backward are|Measurement:|RTT p50) / && length($0) > n { n = length($0) } END { print n }')" -le 100 ] ||
		complain 'a line is longer than the terminal is wide'
	verdict
}

# Policy and CPUs of each thread, such as "FIFO 0", the measuring thread first.
threads_of() {
	local task

	for task in $(grep -l '^rant-loop$' "/proc/$1/task"/*/comm) $(grep -L '^rant-loop$' "/proc/$1/task"/*/comm); do
		task=${task%/comm}
		echo "$(chrt -p "${task##*/}" | sed -n 's/.*policy: SCHED_//p')" \
			"$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status")"
	done 2>/dev/null
}

has_threads() {
	[ -s "$work/t.pid" ] && [ "$(threads_of "$(cat "$work/t.pid")" | wc -l)" -ge 2 ] || ! is_running t
}

threads_apart() { # policy of the measuring thread, words before rant
	local measuring other
	local -a others

	begin "the other threads keep off the measuring CPU: $2" || return 0
	start_reflector r "$K"
	rm -f "$work/t.pid"
	on_terminal t "$2 $rant $E --count 100000000 >'$work/e.out'"
	poll has_threads
	sleep 0.2 # the second and the third come one after the other
	{
		read -r measuring
		mapfile -t others
	} < <(threads_of "$(cat "$work/t.pid")")
	kill -TERM "$(cat "$work/t.pid")" 2>/dev/null
	finish t
	terminate r
	check '@expect_status t 0'
	check '@audit e'
	[ "$measuring" = "$1 $first_cpu" ] || complain "measuring thread: '$measuring', not '$1 $first_cpu'"
	for other in "${others[@]}"; do
		[[ $other =~ ^OTHER\ [0-9,-]+$ ]] || complain "another thread: '$other'"
		case ,${other#OTHER }, in
		*,"$first_cpu",* | *,"$first_cpu"-*) complain "another thread may run on CPU $first_cpu: $other" ;;
		esac
	done
	verdict
}

if ! command -v script >/dev/null; then
	skip 'progress, bars and threads' "'script' is not installed"
else
	progress_is_drawn
	progress_is_quiet
	bars_fit
	if [ "$first_cpu" = "$last_cpu" ]; then
		skip 'the housekeeping thread' 'there is only one CPU'
	else
		threads_apart OTHER "taskset -c $first_cpu"
		threads_apart FIFO "chrt -f 1 taskset -c $first_cpu"
	fi
fi
