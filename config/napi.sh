# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: conditions under which the kernel defers interrupts and polls the card instead.

step napi 'no deferred interrupts; with --busy-poll the pair that makes "rant --prefer-busypoll" effective'

# With both set, interrupts stay masked while a program polls at least every gro_flush_timeout nanoseconds.
step_napi() {
	local folder=$sys/class/net/$interface defer=0 timeout_ns=0

	if [ "${option[busy-poll]}" -gt 0 ]; then
		defer=2 timeout_ns=$((option[busy-poll] * 2000))
		[ "$timeout_ns" -ge 200000 ] || timeout_ns=200000
	fi
	settle_net napi_defer_hard_irqs "$folder/napi_defer_hard_irqs" "$defer"
	settle_net gro_flush_timeout "$folder/gro_flush_timeout" "$timeout_ns"
}
