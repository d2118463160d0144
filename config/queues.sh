# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: one queue, so that all packets use one interrupt.

step queues 'one queue; the interrupts of the other ports of this driver stay where they were'
shows['channels']=-l sets['channels']=-L

step_queues() {
	group channels || return 0
	remember_siblings
	if [ "${nic['channels combined max']:-n/a}" != n/a ] && [ "${nic['channels combined max']}" -gt 0 ]; then
		want channels combined 1
	else
		want channels rx 1
		want channels tx 1
	fi
	fulfil channels
	restore_siblings
	forget 'sibling '
	[ -z "$device" ] || find_vectors "$device"
}
