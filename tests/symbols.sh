#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rule of the hot rooms: between send and receive nothing is called that could allocate, lock, print or sleep, but
# for what is in this list. symbols.sh, after make
set -euo pipefail

allowed='
sendmsg recvmsg ppoll clock_gettime __errno_location
memcpy memset memcmp
packet_plan_bytes packet_prepare packet_probe packet_read_request packet_read_reply packet_read_tlvs packet_answers packet_reply
tlv_plan_bytes tlv_prepare tlv_sign tlv_read_wishes tlv_answer
hmac_sign hmac_verify
stamp_send stamp_receive stamp_fetch stamp_wait socket_want_tos
session_find session_note sequence_note
directions_note directions_stateful
pmc_begin pmc_end pmc_account read
clock_to_phc clock_peer_add clock_peer_offset
histogram_add histogram_bucket log_add
'
cd "$(dirname "$0")/.."
hot=(build/wire/{packet,tlv,timestamping,session,sequence}.o build/measure/exchange.o build/host/pmc.o)
status=0
for object in "${hot[@]}"; do
	undefined=$(nm -u "$object") || exit 1
	while read -r _ symbol; do
		grep -qw -- "$symbol" <<<"$allowed" || {
			echo "$object calls $symbol, which is not in the list of what hot rooms may call"
			status=1
		}
	done <<<"$undefined"
done
exit $status
