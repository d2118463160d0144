# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: conditions under which the kernel defers interrupts and polls the card instead.

step napi 'no deferred interrupts, no NAPI threads; with --busy-poll the pair that makes "rant --prefer-busypoll" effective'

# settle_deferral FILE WANTED: since Linux 6.13 each NAPI has a value of its own, set by netlink, which wins over that of the device in the
# file. The kernel gives a written value to the device and to all its NAPIs (net/core/dev.h, netdev_set_defer_hard_irqs()), so it is also
# written where the file has it.
settle_deferral() {
	local file=$sys/class/net/$interface/$1

	if [ "$mode" = apply ] && net_get "$file" && [ "$value" = "$2" ]; then
		net_write "$space" "$file" "$2" 2>/dev/null || true
	fi
	settle_net "$1" "$file" "$2"
}

# With both set, interrupts stay masked while a program polls at least every gro_flush_timeout nanoseconds. A thread that polls
# (threaded NAPI) has neither a real-time priority nor the CPU of the interrupt.
step_napi() {
	local defer=0 timeout_ns=0

	if [ "${option[busy-poll]}" -gt 0 ]; then
		defer=2 timeout_ns=$((option[busy-poll] * 2000))
		[ "$timeout_ns" -ge 200000 ] || timeout_ns=200000
	fi
	settle_deferral napi_defer_hard_irqs "$defer"
	settle_deferral gro_flush_timeout "$timeout_ns"
	settle_net 'NAPI threads' "$sys/class/net/$interface/threaded" 0
}
