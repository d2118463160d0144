# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: the number of descriptors.

step rings '512 descriptors each, or the nearest that the driver takes'
shows['ring']=-g sets['ring']=-G
readonly ring_entries=512

step_rings() {
	local name max wanted

	group ring || return 0
	for name in rx tx; do
		max=${nic["ring $name max"]:-} wanted=$ring_entries
		[[ ! $max =~ ^[0-9]+$ ]] || [ "$max" -ge "$wanted" ] || wanted=$max
		[[ ${nic["ring $name"]:-n/a} == n/a ]] || want ring "$name" "$wanted"
	done
	fulfil ring
}

# set_ring NAME ENTRIES: sets this number of descriptors, or another number if the driver refuses it.
set_ring() {
	local entries max=${nic["ring $1 max"]:-}

	for entries in "$2" 1024 256 2048 128 4096; do
		[[ ! $max =~ ^[0-9]+$ ]] || [ "$entries" -le "$max" ] || continue
		! at ethtool -G "$interface" "$1" "$entries" || return 0
	done
	return 1
}
