# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: an ftrace instance with the events that rant reads.

step trace 'with --trace: the ftrace instance "rant"' check_cpus
of_host+=('trace *')

readonly tracing=$sys/kernel/tracing trace_kb=16384 trace_clock=mono_raw
# The light set of host/trace/trace_events.c, which test_trace_events compares.
readonly events='
	irq/irq_handler_entry
	irq/irq_handler_exit
	irq/softirq_raise
	irq/softirq_entry
	irq/softirq_exit
	irq/tasklet_entry
	irq/tasklet_exit
	irq_vectors/local_timer_entry
	irq_vectors/local_timer_exit
	irq_vectors/call_function_entry
	irq_vectors/call_function_exit
	irq_vectors/call_function_single_entry
	irq_vectors/call_function_single_exit
	nmi/nmi_handler
	sched/sched_switch
	sched/sched_waking
	power/cpu_idle
	timer/hrtimer_expire_entry
	timer/hrtimer_expire_exit
	timer/timer_expire_entry
	timer/timer_expire_exit
	workqueue/workqueue_execute_start
	workqueue/workqueue_execute_end
'

step_trace() {
	local folder=$tracing/instances/rant own=yes name now=none

	if [ ! -d "$tracing/instances" ]; then
		not_supported "tracing (tracefs is not at $tracing)"
		return 0
	fi
	[ ! -d "$folder" ] || now=there
	[ "$now" = none ] || remember 'trace instance' undo_nothing
	[ "$now" = none ] || [[ ${saved['trace instance']:-} == undo_instance ]] || own=
	change=(mkdir "$folder") back=(undo_instance "$folder")
	settle 'trace instance' "$now" there read_folder "$folder"
	trace_file 'trace clock' "$folder/trace_clock" "$trace_clock" read_trace_clock
	trace_buffer "$folder"
	trace_cpus "$folder/tracing_cpumask"
	for name in $events; do
		trace_file "trace event ${name#*/}" "$folder/events/$name/enable" 1 get
	done
	trace_file 'trace snapshot' "$folder/snapshot" 1 read_snapshot
}

read_folder() {
	value=none
	[ ! -d "$1" ] || value=there
}

# trace_file NAME FILE WANTED READER: saves no reverting command in an instance made here: --undo removes the instance.
trace_file() {
	# In a dry run the instance is not there yet: the top folder has the same files.
	if ! "$4" "$2" && { [ "$mode" != dry-run ] || [ -e "$folder" ] || [ ! -e "${2/"$folder"/"$tracing"}" ]; }; then
		not_supported "$1"
		return 0
	fi
	change=(put "$2" "$3") back=(undo_trace "$2" "$value")
	[ -z "$own" ] || back=()
	settle "$1" "$value" "$3" "$4" "$2"
}

undo_trace() {
	[ ! -e "$1" ] || put "$1" "$2"
}

# The clock in use is in brackets.
read_trace_clock() {
	get "$1" || return
	value=${value#*[} value=${value%%]*}
}

# read_snapshot FILE: sets $value to 1 if the snapshot is allocated. The kernel reports this only while it is empty.
read_snapshot() {
	local text

	value=
	[ -r "$1" ] || return
	value=1
	while IFS= read -r text && [[ $text == '#'* ]]; do
		[[ $text != *'Snapshot is freed'* ]] || value=0
	done <"$1"
}

# The buffer and its snapshot, which is as large, take at most a quarter of the memory that is available.
trace_buffer() {
	local kb=$trace_kb available=0 text

	while read -r text available _; do
		[ "$text" != MemAvailable: ] || break
	done <"$proc/meminfo"
	get "$sys/devices/system/cpu/online"
	expand "$value"
	while [ $((kb * ${#cpus[@]} * 2)) -gt $((available / 4)) ] && [ "$kb" -gt 1024 ]; do
		kb=$((kb / 2))
	done
	[ "$kb" = "$trace_kb" ] || note "a trace buffer of $kb kB for each CPU, for want of memory"
	trace_file 'trace buffer kB' "$1/buffer_size_kb" "$kb" read_buffer
}

# The kernel rounds up.
read_buffer() {
	get "$1" || return
	value=${value%% *}
	[ "$value" -lt "${kb:-0}" ] || value=$kb
}

# Two ports share the instance: the CPUs of the second port are added.
trace_cpus() {
	local how=set

	! other_record 'trace instance' || how=add
	get "$1" || get "$tracing/tracing_cpumask" || return 0
	mask "$value" "$how" "${option[cpu]}" "${option[irq-cpu]}"
	trace_file 'trace CPUs' "$1" "$value" get
}

# The kernel does not remove an instance that is open, and each rant reads all instances at its start.
undo_instance() {
	wait_until is_removed "$1"
}

is_removed() {
	[ ! -d "$1" ] || rmdir "$1"
}
