#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64 old
#
# Interfaces that stand on others, with the kernel's own drivers: a bond of two NICs whose clocks stamp, also behind a VLAN, and one that
# sends by its other member in mid-run; the priority in the tag of a VLAN, of each transport.
#
# Functions are called by poll.
# shellcheck disable=SC2317
set -uo pipefail

family=lower devices=3 truth=none
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

modprobe -a bonding 8021q veth || {
	echo "not ok - $family: the modules load"
	exit 1
}

# sim0 and sim2 into bond0 of a, which sends by sim0.
at a ip address flush dev sim0
ip link set sim2 netns a
at a ip link add bond0 type bond mode active-backup fail_over_mac active miimon 10
for nic in sim0 sim2; do
	at a ip link set "$nic" down
	at a ip link set "$nic" master bond0
done
at a ip link set bond0 type bond active_slave sim0
at a ip address add 10.78.0.1/24 dev bond0
at a ip link set bond0 up
link[a]=bond0
acquaint a b

# run NAME "E_ARGUMENTS": both, up to the end of the emitter unless "wait" is no.
run() { # INTERFACE ARGUMENT...
	reset
	set_parameters wire_ns=20000 wire_back_ns=7000 response_ns=4000 vary_stage=2 vary_steps=30000 vary_ns=7
	start r b "$RANT" --details -i sim1 --stamp hardware --no-step-check
	poll has_port r
	start e a "$RANT" --details -i "$1" -a "${address[b]}" --stamp hardware --no-step-check --log "$work/e.log" --log-full --json "$work/e.json" \
		--timeout 1000 "${@:2}"
}

# All that the reflector's and the bond's NIC stamped is exact.
expect_exact() {
	local networks

	networks=$(awk 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "NETWORK") at = i } NR > 2 && $1 !~ /^#/ { print $at }' "$work/e.log" | sort -u)
	expect "$networks" = 27000 'network of each packet'
}

is_named() {
	expect_line e.out '^  Stamped by    : sim0, which '"$1"' sends by$'
	expect_line e.json '"stamped_by": ?"sim0"'
}

begin "$family: a bond: its active member stamps, and is named"
run bond0 --count 300
finish e
stop r
expect_status e 0
expect "$(row e Recorded)" -eq 300 recorded
expect_exact
is_named bond0
expect_setting a '0 0' after
verdict

begin "$family: a bond that sends by its other member in mid-run is told, and nothing of it is believed"
take_counters before
run bond0 --duration 60
poll has_sent 200
at a ip link set bond0 type bond active_slave sim2
is_told() {
	is_gone e || grep -q 'bond0 sends by sim2 now: stamps of its NIC would be of another clock' "$work/e.err"
}
poll is_told
kill -INT "${pid[e]}"
finish e
stop r
expect_status e 3
expect_line e.err 'bond0 sends by sim2 now'
expect_line e.out '^Measurement: void: .*another NIC stamped \(1 time\)'
expect "$(setting_of a)" = '0 0' 'setting of sim0 after'
at a ip link set bond0 type bond active_slave sim0
verdict

begin "$family: a VLAN on the bond"
at a ip link add link bond0 name bond0.5 type vlan id 5
at b ip link add link sim1 name sim1.5 type vlan id 5
at a ip address add 10.79.0.1/24 dev bond0.5
at b ip address add 10.79.0.2/24 dev sim1.5
at a ip link set bond0.5 up
at b ip link set sim1.5 up
reset
start r b "$RANT" --details -i sim1.5 --stamp hardware --no-step-check
poll has_port r
start e a "$RANT" --details -i bond0.5 -a 10.79.0.2 --stamp hardware --no-step-check --json "$work/e.json" --timeout 1000 --count 50
finish e
stop r
expect_status e 0
expect "$(row e Recorded)" -eq 50 recorded
is_named bond0.5
expect_setting a '0 0' after
expect_setting b '0 0' after
at a ip link del bond0.5
at b ip link del sim1.5
verdict

at a ip link set sim0 nomaster
at a ip link set sim2 nomaster
at a ip link del bond0
at a ip link set sim2 netns 1
close_simnic

# ---- The priority of a VLAN -------------------------------------------------------------------------------------------

ip link add va type veth peer name vb
apart va vb
for side in a b; do
	at "$side" ip link add link "${link[$side]}" name vlan5 type vlan id 5
	at "$side" ip address add "10.79.0.$([ $side = a ] && echo 1 || echo 2)/24" dev vlan5
	at "$side" ip link set vlan5 up
	at "$side" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/vlan5/disable_ipv6'
	at "$side" ip address add "2001:db8:79::$([ $side = a ] && echo 1 || echo 2)/64" dev vlan5 nodad
done
at a ip link set vlan5 type vlan egress-qos-map 2:5 4:3

# Adds to a file a line "TRANSPORT CODE" for each request of VLAN 5 that came by vb: its priority code point.
cat >"$work.tags" <<'END'
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
s.bind(("vb", 0))
s.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA
ports = {b"\x03\x5e": "udp", b"\x01\x3f": "ptp"}


def transport_of(packet):  # from its ethertype on
    if packet[:2] == b"\x88\xf7":
        return "l2"
    if packet[:2] == b"\x08\x00":
        return "icmp" if packet[11] == 1 and packet[22] == 8 else packet[11] == 17 and ports.get(packet[24:26])
    if packet[:2] == b"\x86\xdd":
        kind = "icmp" if packet[8] == 58 and packet[42] == 128 else packet[8] == 17 and ports.get(packet[44:46])
        return kind and kind + "6"
    return None


print("ready", flush=True)
while True:
    frame, ancillary, _, address = s.recvmsg(2048, 256)
    at = 12
    tag = None
    for level, kind, data in ancillary:
        if level == 263 and kind == 8:
            status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", data)
            tag = tci if status & 0x10 else None
    if frame[12:14] == b"\x81\x00":
        tag, at = struct.unpack("!H", frame[14:16])[0], 16
    kind = transport_of(frame[at:])
    if address[2] == 0 and tag is not None and kind:
        with open(sys.argv[1], "a") as file:
            print(kind, tag >> 13, file=file)
END
nsenter --net=/var/run/netns/b python3 "$work.tags" "$work.seen" >"$work.ready" 2>&1 &
pid[look]=$!

is_ready_to_look() {
	is_gone look || grep -q ready "$work.ready"
}

has_seen() { # PACKETS
	is_gone look || [ "$(wc -l <"$work.seen")" -ge "$1" ]
}

is_reflecting() {
	is_gone r || grep -q '^Reflecting' "$work/r.err"
}

# priority CODE TRANSPORT ADDRESS: the code point that is seen; with a 6 behind its name the transport is over IPv6
priority() {
	local code=$1 transport=${2%6}

	begin "$family: packets with VLAN priority $code, $2"
	if [ "$transport" != icmp ]; then
		start r b "$RANT" --details -i vlan5 --transport "$transport" --stamp kernel -v
		poll is_reflecting
	fi
	: >"$work.seen"
	start e a "$RANT" --details -i vlan5 -a "$3" --transport "$transport" --stamp kernel --interval 1ms --timeout 5000 --count 50 --vlan-priority "$code"
	finish e
	poll has_seen 50
	[ "$transport" = icmp ] || stop r
	expect_status e 0
	expect "$(sort -u "$work.seen")" = "$2 $code" 'transport and code points'
	verdict
}
poll is_ready_to_look
priority 5 udp 10.79.0.2
priority 3 udp 10.79.0.2
priority 0 udp 10.79.0.2
priority 5 udp6 2001:db8:79::2
priority 3 ptp 10.79.0.2
priority 5 ptp6 2001:db8:79::2
priority 3 l2 "$(mac_of b)"
priority 5 icmp 10.79.0.2
priority 3 icmp6 2001:db8:79::2
kill "${pid[look]}"
finish look

begin "$family: a priority that the egress map has not, and an interface that is not a VLAN"
start e a "$RANT" --details -i vlan5 -a 10.79.0.2 --stamp kernel --vlan-priority 6
finish e
expect_status e 1
expect_line e.err "the egress map of VLAN 'vlan5' maps no priority to code point 6: 'ip link set dev vlan5 type vlan egress-qos-map 6:6'"
start e a "$RANT" --details -i va -a 10.78.0.2 --stamp kernel --vlan-priority 6
finish e
expect_status e 1
expect_line e.err "interface 'va' is not a VLAN"
verdict
together
exit "$failed"
