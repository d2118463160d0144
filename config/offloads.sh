# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: checksum, segmentation and merging offloads of the card and the kernel.

step offloads 'checksums, segmentation (TSO, GSO), merging (GRO, LRO) off'
shows['offload']=-k sets['offload']=-K

step_offloads() {
	local pattern key keys

	group offload || return 0
	keys=$(printf '%s\n' "${!nic[@]}" | sed -n 's/^offload //p' | sort)
	for pattern in 'large-receive-offload' 'generic-receive-offload' 'rx-gro-*' 'rx-udp-gro-forwarding' \
		'tx-tcp*-segmentation' 'tx-udp-segmentation' 'tx-gso-list' 'generic-segmentation-offload' 'rx-checksumming' \
		'tx-checksum-*'; do
		while read -r key; do
			# shellcheck disable=SC2053 # a pattern
			[[ $key == $pattern ]] || continue
			[ "${nic["offload $key"]}" = off ] && [[ ${fixed["offload $key"]} == *fixed* ]] || want offload "$key" off
		done <<<"$keys"
	done
	fulfil offload
}
