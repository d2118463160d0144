# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: private flags of drivers that cost latency.

step flags 'private flags of the driver that are known to cost latency, if it lists them'
shows['flag']=--show-priv-flags sets['flag']=--set-priv-flags

# driver flag value. Why:
#   rx_cqe_moder, tx_cqe_moder: the moderation timer starts anew with each completion
#   rx_cqe_compress: completions wait for each other
#   rx_striding_rq: one descriptor holds many packets
#   legacy-rx: a copy for each packet
#   flow-director-atr: the driver learns the receive queue of a flow from sent packets
#   fw-lldp-agent, disable-fw-lldp: the firmware sends LLDP by itself
# ena lists no flag that matters here.
readonly driver_flags='
mlx5_core rx_cqe_moder off
mlx5_core tx_cqe_moder off
mlx5_core rx_cqe_compress off
mlx5_core rx_striding_rq off
mlx5_core tx_port_ts off
ice legacy-rx off
ice fw-lldp-agent off
igb legacy-rx off
igc legacy-rx off
i40e legacy-rx off
i40e flow-director-atr off
i40e disable-fw-lldp on
ixgbe legacy-rx off'

step_flags() {
	local owner name wanted

	read_ethtool flag || return 0
	while read -r owner name wanted; do
		[ -n "$owner" ] && [ "$owner" = "$driver" ] && [ -n "${nic["flag $name"]:-}" ] || continue
		want flag "$name" "$wanted"
		[ "$name" != tx_port_ts ] ||
			note "tx_port_ts is off: the card stamps what it sends at the completion of DMA, before" \
				"the wire; with it on only PTP (UDP port 319, ethertype 0x88F7) would be stamped at the port"
	done <<<"$driver_flags"
	fulfil flag
}
