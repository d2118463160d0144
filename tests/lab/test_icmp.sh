#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64 old
#
# Echoes on the simulated NIC: the kernel of the other side answers, and no rant runs there. Each of the emitter's stamps is compared with the
# truth (simnic.c), by both kinds of socket; then what tests/link/namespace_icmp.sh needs these kernels for: netem and VLANs.
set -uo pipefail

family=icmp truth=''
on_old='raw socket' # the ids of their stamps, which the kernel counts, and ICMPv6
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

# T1 of probe n is at 1600000000 s and n times 100 us; its round trip is 7 us, and 40 us more where a spike hits it.
expect_exact() { # COUNT SPIKES
	awk -v spikes="$2" '$1 ~ /^[0-9]+$/ {
			n = $1
			rtt = 7000 + (spikes && n % spikes == spikes - 1 ? 40000 : 0)
			t1 = sprintf("%d.%09d", 1600000000 + int(n / 10000), n % 10000 * 100000)
			t4 = sprintf("%d.%09d", 1600000000 + int(n / 10000), n % 10000 * 100000 + rtt)
			if (n in seen || $2 != t1 || $3 != t4 || $4 != rtt) {
				if (bad++ < 3)
					print "wrong: " $0 ", not " t1 " " t4 " " rtt
			}
			seen[n]; rows++
		}
		END { print rows + 0, bad + 0 }' "$work/e.log" >"$work/exact"
	[ "$(tail -1 "$work/exact")" = "$1 0" ] || complain "lines and wrong ones: $(tr '\n' ';' <"$work/exact")"
}

# exact NAME PARAMETERS GROUPS SPIKES ARGUMENTS: to $server
exact() {
	local -a words

	wanted "$1" || return 0
	begin "icmp: $1"
	reset
	read -ra words <<<"$2"
	set_parameters "${words[@]}"
	set_nic a '0 0'
	at a sh -c "echo '$3' >/proc/sys/net/ipv4/ping_group_range"
	read -ra words <<<"$5"
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "$server" --transport icmp --stamp hardware --no-step-check -v --log "$work/e.log" "${words[@]}"
	finish e
	expect_status e 0
	expect "$(row e Lost)" -eq 0 'lost'
	expect "$(row e Unstamped)" -eq 0 'without a stamp'
	expect_balance e
	expect_exact 500 "$4"
	verdict
}

server=${address[b]}
exact 'a raw socket, many in flight' '' '1 0' 0 '--timeout 8000 --interval 1ms --window 16 --count 500'
exact 'a ping socket, one at a time, spikes' 'spike_every=100 spike_ns=40000' '0 2147483647' 100 '--timeout 8000 --interval 500us --window 1 --count 500'
add_ipv6
server=${address6[b]}
exact 'IPv6, a raw socket, many in flight' '' '1 0' 0 '--timeout 8000 --interval 1ms --window 16 --count 500'
exact 'IPv6, a ping socket, one at a time, spikes' 'spike_every=100 spike_ns=40000' '0 2147483647' 100 '--timeout 8000 --interval 500us --window 1 --count 500'
close_simnic

modprobe -a 8021q veth sch_netem
only='losses are exact|on a VLAN|(ping|raw) socket, IPv6: (some stamps|kernel stamps)'
[ "$FLAVOUR" != old ] || only='raw socket, IPv6: (some stamps|kernel stamps)'
WITH_TRACEFS=1 ONLY=$only \
	"$TESTS/../link/namespace_icmp.sh" "$RANT" "$BUILD/hostile" 2>&1 || failed=1
exit "$failed"
