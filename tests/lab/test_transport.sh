#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# On a NIC that stamps PTP event messages only: UDP is refused with the advice that helps, and with PTP messages around the packets,
# over UDP and straight on Ethernet, each of the eight stamps is compared with the truth as in test_eight.sh. Then what
# the kernel has a part in of tests/link/namespace_transports.sh, on these kernels, which have VLANs.
#
#   ONLY, SELF  see test_eight.sh
#
# Text in single quotes is for truth_eight.py. Functions are called by is_ready.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

family=transport truth=simnic/truth_eight.py
emitter_options=(--log-full)
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

has_ptp_port() {
	is_gone "$1" || [[ $(<"/proc/${pid[$1]}/net/udp") == *:013F\ * ]]
}
has_ethertype() {
	is_gone "$1" || [[ $(<"/proc/${pid[$1]}/net/packet") == *\ 88f7\ * ]]
}
mac_b=$(at b ip -o link show dev sim1 | sed 's/.*link.ether \([^ ]*\).*/\1/')

# What is to be refused says what would do, and that does.
refused() {
	local name='UDP is refused, with the transport that will do'

	wanted "$name" || return 0
	begin "$family: $name"
	reset
	set_parameters filter_all=N
	[ "$self" = 0 ] || set_parameters filter_all=Y
	set_nic a '1 12'
	start x a timeout 20 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --count 10
	finish x
	expect_status x 1
	expect "$(wc -l <"$work/x.err")" -eq 1 'lines on stderr'
	expect_line x.err "stamps PTP event packets only, its filters are: none ptpv2-event: use --transport ptp at both ends, or --stamp kernel$"
	expect_setting a '1 12' 'after the refused start'
	verdict
	set_nic a '0 0'
}
refused

H='--histogram' P='filter_all=N'
C='--timeout 4000 --histogram --count'
W='--histogram --timeout 8000 --window 16 --count'
ALL='N == e["Sent"] == len(T) + 1 == len(R) == stamps["Complete"] + 1 == a.rx_stamps == b.rx_stamps == a.tx_stamps'
WHOLE='len(T) == e["Recorded"] == e["Sent"] - e["Closing"]'

key=$RESULTS/key
(umask 077 && head -c 32 /dev/zero | od -v -An -tx1 | tr -d ' \n' >"$key")

authenticated() { # NAME PARAMETERS OPTIONS
	pair "$1: authenticated, with faults" \
		"$2 authenticated=Y vary_stage=2 vary_steps=997 drop_every=61 dup_every=29 reorder_every=71" \
		"$3 --key $key" "--histogram --timeout 3000 --window 16 --count 500 $3 --key $key" 'len(T) > 400' \
		'r["Replayed"] >= 500 // 29 - 1'
}

exact() { # ptp or l2
	local t="--transport $1"

	pair "$1: every packet" "$P wire_ns=20000 wire_back_ns=7000 response_ns=4000 vary_stage=2 vary_steps=30000 vary_ns=7" \
		"$H --overflow 300 $t" "$C 2000 --overflow 300 $t" "$ALL" '{int(l["NETWORK"]) for l in T.values()} == {27000}' \
		'len({l["RESPONSE"] for l in T.values()}) > 1500'
	pair "$1: Sync messages, clocks far apart that drift" \
		"$P phc_offset_ns=-1599999000000000000,2000000000123456789 wire_ns=100000 response_ns=10000000 vary_steps=9973 drift_ppb=0,50000" \
		"$H $t --ptp-type sync" "$C 500 --overflow 20000 $t --ptp-type sync" "$ALL" \
		'{int(l["RESPONSE"]) for l in T.values()} <= {10000499, 10000500, 10000501}'
	pair "$1: many in flight, with faults" "$P drop_every=61 dup_every=29 tx_stamp_missing_every=43 tx_stamp_twice_every=2
		rx_stamp_missing_every=17 reorder_every=71 alternate=Y" "$t" "--histogram --timeout 300 --window 16 --count 1000 $t" \
		'e["Lost"] - e["Late"] == len(struck("drop_every", 1) | struck("drop_every", 2))'
	authenticated "$1" "$P" "$t"
	pair "$1: a NIC that stamps all" 'vary_steps=997' "$t" "$W 1000 $t" "$WHOLE" 'len(T) == 1000'
}
authenticated udp '' ''
is_ready=has_ptp_port exact ptp
server=$mac_b is_ready=has_ethertype exact l2
close_simnic

if wanted link; then
	modprobe -a 8021q veth
	WITH_TRACEFS=1 ONLY='kernel stamps|VLAN|other hosts|without' \
		"$TESTS/../link/namespace_transports.sh" "$RANT" "$BUILD/hostile" 2>&1 || failed=1
fi
exit "$failed"
