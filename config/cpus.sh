# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: other interrupts and tasks leave the two CPUs.

step cpus 'other interrupts, tasks and kernel work away from both CPUs' check_cpus
of_host+=('task *' 'tasks *' default_smp_affinity 'workqueue *')

tools_cpus() {
	need taskset util-linux
}

step_cpus() {
	find_rest
	if [ -z "$rest" ]; then
		refusals+=("no CPU is left for the rest: other interrupts and tasks stay where they are")
		return 0
	fi
	find_protected
	find_owners
	use_tuna
	step_cpus_irqs
	settle_mask default_smp_affinity "$proc/irq/default_smp_affinity"
	settle_mask 'workqueue cpumask' "$sys/devices/virtual/workqueue/cpumask"
	step_cpus_tasks
}

step_cpus_irqs() {
	local folder irq path now

	for folder in "$proc"/irq/[0-9]*; do
		irq=${folder##*/} path=$folder/smp_affinity_list
		[ -z "${protected[$irq]:-}" ] && get "$path" && holds "$value" "${option[cpu]}" "${option[irq-cpu]}" || continue
		now=$value
		minus "$now" "${option[cpu]}" "${option[irq-cpu]}"
		settle_affinity "$irq" "${value:-$rest}"
	done
}

# settle_mask NAME FILE: removes both CPUs from the mask, unless no other CPU is left.
settle_mask() {
	if ! get "$2"; then
		not_supported "$1"
		return 0
	fi
	mask "$value" clear "${option[cpu]}" "${option[irq-cpu]}"
	[[ $value != *[1-9a-f]* ]] || settle_file "$1" "$2" "$value"
}

# list_tasks: prints "TASK CPUS" for each task that may run on either of the two CPUs.
list_tasks() {
	local text list
	local -A concerned=()

	while IFS= read -r text; do
		list=${text##*[[:space:]]} text=${text%/status*}
		[ -n "${concerned[$list]:-}" ] ||
			concerned[$list]=$(! holds "$list" "${option[cpu]}" "${option[irq-cpu]}" || echo yes)no
		[[ ${concerned[$list]} != yes* ]] || echo "${text##*/} $list"
	done < <(grep -sH '^Cpus_allowed_list:' -- "$proc"/[0-9]*/task/[0-9]*/status || true)
}

step_cpus_tasks() {
	local task list

	get "$proc/uptime"
	remember 'tasks since' undo_heirs "$rest" "$((${value%%.*} * 100))"
	while read -r task list; do
		scan "$task" && [ "$task" != $$ ] && [ "${stat[1]}" != $$ ] || continue
		# PF_NO_SETAFFINITY: threads that the kernel needs on each CPU. Those of interrupts follow their interrupts.
		((!(stat[6] & 0x4000000))) || continue
		! is_kernel_thread || [[ $comm != irq/* ]] || continue
		minus "$list" "${option[cpu]}" "${option[irq-cpu]}"
		if [ -z "$value" ] && [ -z "$only_remember" ]; then
			note "task $task ($comm) is pinned to CPUs $list: it stays"
			continue
		fi
		change=(taskset -p -c "$value" "$task") back=(undo_task "$task" "${stat[19]}" "$list")
		settle "task $task ($comm)" "$list" "$value" read_task "$task" "$value"
	done < <(list_tasks)
}

# read_task TASK WANTED: a task that has ended counts as moved.
read_task() {
	value=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$proc/$1/status" 2>/dev/null) || value=
	[ -n "$value" ] || value=$2
}

undo_task() {
	if ! scan "$1" || [ "${stat[19]}" != "$2" ]; then
		return 0
	fi
	taskset -p -c "$3" "$1" || [ ! -e "$proc/$1" ]
}

# undo_heirs LIST SINCE: tasks started after SINCE (ticks since boot) inherited the CPU list of a moved parent.
undo_heirs() {
	local task list all

	read_task 1 "$1"
	all=$value
	[ "$all" != "$1" ] || return 0
	while read -r task list; do
		[ "$list" = "$1" ] && scan "$task" && ! is_kernel_thread && [ "${stat[19]}" -ge "$2" ] || continue
		[ "$task" = $$ ] || taskset -p -c "$all" "$task" || [ ! -e "$proc/$task" ]
	done < <(grep -sH '^Cpus_allowed_list:' -- "$proc"/[0-9]*/task/[0-9]*/status |
		sed -E 's|^.*/([0-9]+)/status:.*[[:space:]]|\1 |')
}

# tuna moves all tasks and interrupts at once, where it works (0.15 without Gtk does not). Tasks that it leaves are
# moved singly. It is not used after another port was prepared, because it would also move that port's vectors.
use_tuna() {
	local only_remember=yes
	local -a command=(tuna isolate "--cpus=${option[cpu]},${option[irq-cpu]}")

	command -v tuna >/dev/null && [ ${#protected[@]} -le ${#vectors[@]} ] || return 0
	if [ "$mode" = dry-run ]; then
		echo "$(show "${command[@]}")  # if it works; the remaining tasks are moved as follows"
	elif [ "$mode" = apply ] && [ -z "${saved['tasks since']:-}" ]; then
		step_cpus_irqs
		step_cpus_tasks
		! "${command[@]}" >/dev/null 2>&1 </dev/null || say "set interrupts and tasks by: ${command[*]}"
	fi
}
