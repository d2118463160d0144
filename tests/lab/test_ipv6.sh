#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# IPv6 on the simulated NIC: each of the eight stamps is compared with the truth as in test_eight.sh. Then what the kernel has a part in of
# tests/link/namespace_ipv6.sh, on these kernels, which have VLANs: stamps, sockets, addresses, header fields, fragments. What the program
# decides alone (stamps of user space, thresholds, rates, sizes that are refused, a new start, keys, names) is the same on each kernel:
# make check. Echoes are in test_icmp.sh.
#
#   ONLY, SELF  see test_eight.sh
#
# Text in single quotes is for truth_eight.py. Functions are called by is_ready.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

family=ipv6 truth=simnic/truth_eight.py
emitter_options=(--log-full)
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

is_reflecting() {
	is_gone "$1" || grep -q '^Reflecting' "$work/$1.err"
}
is_ready=is_reflecting
add_ipv6
server=${address6[b]}

# exact TRANSPORT PARAMETERS: the kernel sends packets of its own too, which are stamped where all are
exact() {
	pair "$1: every packet" "$2 wire_ns=20000 wire_back_ns=7000 response_ns=4000 vary_stage=2 vary_steps=30000 vary_ns=7" \
		"-v --histogram --overflow 300 --transport $1" "--histogram --overflow 300 --transport $1 --timeout 4000 --count 300" \
		'N == e["Sent"] == len(T) + 1 == len(R) == stamps["Complete"] + 1' '{int(l["NETWORK"]) for l in T.values()} == {27000}' \
		'len({l["RESPONSE"] for l in T.values()}) > 200'
}
exact udp ''
exact ptp filter_all=N
close_simnic

if wanted link; then
	modprobe -a 8021q veth || {
		echo 'not ok - ipv6: the modules load'
		exit 1
	}
	of_kernel='kernel stamps|a busy session|many source ports|hop limit|a size that fits|a reflector bound|the reply comes|ptp$|a link-local|packets of|a request'
	GUARD_S=200 WITH_TRACEFS=1 ONLY="^IPv6 on a VLAN|^IPv6: ($of_kernel)|both families" "$TESTS/../link/namespace_ipv6.sh" "$RANT" "$BUILD/hostile" 2>&1 || failed=1
fi
exit "$failed"
