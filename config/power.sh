# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: both CPUs keep their frequency and avoid deep idle states.

step power 'with --cpu-power: governor "performance", no idle state slower than 2 us, on both CPUs' check_cpus
of_host+=('governor *' 'idle *')
readonly idle_latency_us=2

step_power() {
	local cpu folder

	for cpu in "${option[cpu]}" "${option[irq-cpu]}"; do
		folder=$sys/devices/system/cpu/cpu$cpu
		settle_file "governor of CPU $cpu" "$folder/cpufreq/scaling_governor" performance
		[ -d "$folder/cpuidle/state0" ] || not_supported "idle states of CPU $cpu"
		for folder in "$folder"/cpuidle/state*; do
			get "$folder/latency" && [ "$value" -gt "$idle_latency_us" ] || continue
			settle_file "idle ${folder##*/} of CPU $cpu" "$folder/disable" 1
		done
	done
}
