#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The cause of a breach by name, from the trace that --save-trace wrote.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

instance=/sys/kernel/tracing/instances/rant
saved=$logs/saved
here=$(cd "$(dirname "$0")" && pwd)
own_trace

events='irq/irq_handler_entry irq/irq_handler_exit irq/softirq_entry irq/softirq_exit irq_vectors/local_timer_entry
	irq_vectors/local_timer_exit sched/sched_switch sched/sched_waking power/cpu_idle timer/timer_expire_entry
	timer/timer_expire_exit workqueue/workqueue_execute_start workqueue/workqueue_execute_end'

explain() { # ARGUMENTS: in explain.out, explain.err and status[explain]
	"$rant" --explain "$@" >"$work/explain.out" 2>"$work/explain.err"
	status[explain]=$?
}

planted_thread_is_named() {
	local event

	begin 'a real-time thread on the measuring CPU is named as the cause, with its time' || return 0
	mkdir "$saved" "$instance"
	echo mono_raw >"$instance/trace_clock"
	echo 2048 >"$instance/buffer_size_kb"
	for event in $events; do
		echo 1 >"$instance/events/$event/enable" 2>/dev/null
	done
	start_reflector r "$K -s -T -t 40000 --save-trace $saved -w 100"
	# The machine may be busy: no other task has the CPU for as long.
	start planted r python3 "$here/planted.py" "$last_cpu" 0.06 8
	start_emitter e "$K --interval 500 -d 10 --timeout 5000"
	finish r
	terminate e planted
	check '@expect_status r 2'
	# The report of the run ends with it.
	check 'r.out ~ ^  Cause: thread planted [(][0-9]+, real-time priority 50[)] on CPU '
	explain "$saved"/*
	check '@expect_status explain 0'
	[ "$(wc -l <"$work/explain.out")" -le 12 ] || complain 'more than 12 lines'
	check 'explain.out ~ ^Why [(]trace of CPU'
	check 'explain.out ~ ^  Cause: thread planted [(][0-9]+, real-time priority 50[)] on CPU [0-9]+, [0-9]+ % of the '
	check 'explain.out ~ ^  Cure : keep this thread off the CPU'
	check 'explain.out ~ all of Kernel-to-app: nothing left over$'
	verdict
	rmdir "$instance" 2>/dev/null
}

refused_with_one_line() {
	begin 'a folder without a trace is refused with one line' || return 0
	mkdir "$saved.empty"
	explain "$saved.empty"
	check '@expect_status explain 1'
	check '@one_line explain'
	check 'explain.err ~ ^rant: --explain .*: all[.]txt: No such file or directory: give a folder '
	verdict
	rmdir "$saved.empty"
}

if ! grep -q '^[^ ]* /sys/kernel/tracing tracefs ' /proc/mounts; then
	skip 'the cause of a breach' 'there is no tracefs'
elif [ -e "$instance" ]; then
	skip 'the cause of a breach' 'another program uses the tracing instance rant'
elif ! chrt -f 50 true 2>/dev/null; then
	skip 'the cause of a breach' 'no real-time priority is permitted here'
else
	trace_instance=$instance
	planted_thread_is_named
	refused_with_one_line
fi
