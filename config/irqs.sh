# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: the interrupts of the interface run on the IRQ CPU, and their threads with a higher priority than other tasks.

step irqs 'vectors of the interface to the IRQ CPU; priorities of interrupt threads and ksoftirqd' check_cpus

tools_irqs() {
	need chrt util-linux
}

step_irqs() {
	local irq name

	[ ${#vectors[@]} -gt 0 ] || not_supported 'interrupts of the interface'
	find_owners
	for irq in "${vectors[@]}"; do
		settle_affinity "$irq" "${option[irq-cpu]}"
	done
	scan_threads
	for irq in "${vectors[@]}"; do
		for name in "${!thread[@]}"; do
			[[ $name != "irq/$irq-"* ]] || settle_thread "$name" "fifo ${option[irq-prio]}"
		done
	done
	for name in "ksoftirqd/${option[irq-cpu]}" "ksoftirqd/${option[cpu]}"; do
		[ -z "${thread[$name]:-}" ] || settle_thread "$name" "fifo ${option[ksoftirqd-prio]}"
	done
	step_irqs_competitors
	[ -z "$irqbalance" ] ||
		note "irqbalance runs (process $irqbalance) and will move interrupts again: stop it, or ban these CPUs"
}

# Threads of other interrupts that can still run on these CPUs.
step_irqs_competitors() {
	local name irq list competitors=''

	find_protected
	while read -r name; do
		irq=${name#irq/} irq=${irq%%-*}
		[[ $irq =~ ^[0-9]+$ ]] && [ -z "${protected[$irq]:-}" ] && read_policy "${thread[$name]}" || continue
		[[ $value == fifo* || $value == rr* ]] || [ -n "${option[demote-irqs]:-}" ] || continue
		list=$value
		# effective_affinity is out of date until the next interrupt: it counts only if smp_affinity allows these CPUs.
		! get "$proc/irq/$irq/smp_affinity_list" || holds "$value" "${option[cpu]}" "${option[irq-cpu]}" || continue
		get "$proc/irq/$irq/effective_affinity_list" && holds "$value" "${option[cpu]}" "${option[irq-cpu]}" || continue
		if [ -n "${option[demote-irqs]:-}" ]; then
			settle_thread "$name" 'other 0'
		else
			competitors+=", $name ($list, CPUs $value)"
		fi
	done < <(printf '%s\n' "${!thread[@]}" | sed -n '/^irq\//p' | sort)
	[ -z "$competitors" ] || note "other interrupts compete; --demote-irqs takes their priority: ${competitors#, }"
}
