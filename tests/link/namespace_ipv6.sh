#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# IPv6 and names: the features of IPv4, a reflector of both families, and results of the resolver.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

whole6=('e:Recorded -eq 200' 'r:Sent -eq 201' 'e:Lost -eq 0' 'e:Unstamped -eq 0' 'r:Unstamped -eq 0' 'e:Complete -eq 200'
	'e:Foreign -eq 0' 'e:Malformed -eq 0' 'r:Malformed -eq 0' 'e:Strays -eq 0' 'e.out !~ arrived with another')

eight_times_of_ipv6() {
	awk '$1 ~ /^[0-9]+$/ { rows++; for (i = 2; i <= 10; i++) if (i != 6 && $i !~ /^[0-9]+\.[0-9]+$/) bad++ } END { exit rows != 200 || bad }' \
		"$logs/e.log" || complain 'a time is missing from the full log'
}

# ---- As IPv4 ----------------------------------------------------------------------------------------------------------

as_ipv4() {
	local server=$ip6_r key=$work/ipv6.key R="-H --json $logs/r.json" M="-H --json $logs/e.json"

	(umask 077 && head -c 32 /dev/zero | od -v -An -tx1 | tr -d ' \n' >"$key")
	pair 'IPv6: kernel stamps, all eight times, a full log' '0 0' "$K -s -v -l LOG $R" "$K -s --log-full -l LOG --count 200 $M" "${whole6[@]}" \
		'@json_agrees e' '@json_agrees r' "@json_has e JSON['configuration']['granted']['transport'] == 'UDP/IPv6'" \
		'@log_agrees r T2_KERNEL T3_KERNEL' '@eight_times_of_ipv6' 'r.err ~ by UDP/IPv4 and IPv6, port 862$' \
		"e.out ~ ^Latency: RTT = T4_KERNEL - T1_KERNEL $KERNEL\$"
	pair 'IPv6: stamps of user space' '0 0' "$U $R" "$U -v --count 200 $M" 'e:Recorded -eq 200' 'r:Sent -eq 201' 'e.err ~ by UDP/IPv6, port 862$' \
		'@json_agrees e' '@json_agrees r'
	pair 'IPv6: authenticated, by the clock, many in flight' '0 0' "--key $key $K" "--key $key $K --interval 1ms --window 16 --count 200" \
		"${whole6[@]}" 'r:Unverified -eq 0'
	pair 'IPv6: a busy session gets a per-peer socket' '0 0' "$K -v -s -l LOG" "$K --count 3000 -l LOG" 'r:Peer_sockets -eq 1' 'r:No_peer_socket -eq 0' \
		'e:Recorded -eq 3000' 'e:Lost -eq 0' 'r:Recorded -eq 3001' 'r:Reordered -eq 0' 'r:Duplicate -eq 0' 'r:Unstamped -eq 0'
	pair 'IPv6: many source ports' '0 0' "$K" "$K --source-ports 4 --window 8 --count 400 $M" 'e:Recorded -eq 400' 'r:Sessions -eq 4' '@json_agrees e'
	pair 'IPv6: hop limit and traffic class are seen at the other end' '0 0' "$K" "$K --ttl 64 --dscp EF --count 200" "${whole6[@]}"
	pair 'IPv6: a size that fits the MTU' '0 0' "$K" "$K --size 1452 --count 200" "${whole6[@]}"
	alone 'IPv6: a size above the MTU' 1 e "-i $link_e -a $ip6_r $K --size 1453" '@one_line e' 'e.err ~ at most 1452 octets fit into the MTU of 1500'
	pair 'IPv6: a reflector bound to an address, an emitter bound to an address' '0 0' "--bind $ip6_r $K -v" "--bind $ip6_e $K --count 200" "${whole6[@]}" \
		'r.err ~ by UDP/IPv6, port 862$'
	pair 'IPv6: another address of the reflector is not answered' '0 1' "--bind $ip6_second $K" "$K --count 3 --timeout 50" 'r:Sent -eq 0'
	server=$ip6_second pair 'IPv6: the reply comes from the address of the request' '0 0' "$K -v" "$K --count 200" "${whole6[@]}" \
		'r:Peer_sockets -eq 0' 'r:No_peer_socket -eq 0'
	port=319 pair 'IPv6: ptp' '0 0' "--transport ptp $K" "--transport ptp $K --size 1402 --count 200 $M" "${whole6[@]}" '@json_agrees e'
	port=319 pair 'IPv6: ptp, stamps of user space' '0 0' "--transport ptp $U" "--transport ptp $U --count 200" 'e:Recorded -eq 200' \
		'r:Sent -eq 201'
	port=319 pair 'IPv6: ptp, Sync messages, authenticated' '0 0' "--transport ptp --key $key $K" \
		"--transport ptp --ptp-type sync --key $key $K --count 200" "${whole6[@]}" 'r:Unverified -eq 0'
	alone 'IPv6: ptp, larger than the MTU' 1 e "-i $link_e -a $ip6_r --transport ptp $K --size 1404" '@one_line e' 'e.err ~ at most 1402 octets'
	pair 'IPv6: a threshold ends it' '0 2' "$K" "$K -t 0.001 -H" 'e.out ~ [Bb]reach'
	pair 'IPv6: no more than the rate' '0 0' "$K --rate-limit 10" "$K --timeout 20 --interval 100us --window 64 --count 400" 'r:Over_rate -ge 100' \
		'e:Lost -ge 100'
}

link_local() {
	local there

	there=$(ip -n "${ns[r]}" -6 -o address show dev "$link_r" scope link | sed 's/.*inet6 \([^/]*\).*/\1/')
	server=$there%$link_e pair 'IPv6: a link-local address with its zone' '0 0' "$K" "$K --count 200" "${whole6[@]}"
	server=$there pair 'IPv6: without, it is that of -i' '0 0' "--bind $there%$link_r $K -v" "$K --count 3000" 'e:Recorded -eq 3000' 'r:Peer_sockets -eq 1'
}

# Where the kernel has VLANs.
on_a_vlan() {
	local vlan=rv6$$ side

	if ! add_vlan "$vlan" 6 2>"$work/vlan6.err"; then
		skip 'IPv6 on a VLAN' "$(head -1 "$work/vlan6.err")"
		return
	fi
	for side in e r; do
		inside "$side" sh -c "echo 0 >/proc/sys/net/ipv6/conf/$vlan/disable_ipv6"
	done
	ip -n "${ns[e]}" address add 2001:db8:76::1/64 dev "$vlan" nodad
	ip -n "${ns[r]}" address add 2001:db8:76::2/64 dev "$vlan" nodad
	ip -n "${ns[e]}" link set "$vlan" up
	ip -n "${ns[r]}" link set "$vlan" up
	link=$vlan server=2001:db8:76::2 pair 'IPv6 on a VLAN' '0 0' "$K" "$K --count 200" "${whole6[@]}"
	port=319 link=$vlan server=2001:db8:76::2 pair 'IPv6 on a VLAN: ptp' '0 0' "--transport ptp $K" "--transport ptp $K --count 200" "${whole6[@]}"
	ip -n "${ns[e]}" link del "$vlan"
	ip -n "${ns[r]}" link del "$vlan"
}

# ---- Both families ----------------------------------------------------------------------------------------------------

both_at_once() {
	local one

	begin 'a reflector answers both families at once' || return 0
	start_reflector r "$K -v -s"
	start_emitter e "$K --timeout 5000 --count 3000"
	server=$ip6_r start_emitter e6 "$K --timeout 5000 --count 3000"
	server=$ip6_second start_emitter e7 "$K --timeout 5000 --count 500"
	finish e e6 e7
	terminate r
	for one in e e6 e7; do
		expect_status $one 0
		audit $one
		check "$one:Lost -eq 0"
		check "$one:Strays -eq 0"
	done
	audit r
	for one in '@expect_status r 0' 'r:Peer_sockets -eq 2' 'r:Sessions -eq 3' 'r:Reordered -eq 0' 'r:Duplicate -eq 0' 'r:Unstamped -eq 0' \
		'e:Recorded -eq 3000' 'e6:Recorded -eq 3000' 'e7:Recorded -eq 500'; do
		check "$one"
	done
	verdict
}

is_in_files() {
	tr -d ' \n\t' <"$work/allow.json" | grep -qF '"allow":["192.0.2.0/24","2001:db8::/32"]' || complain 'the prefixes are not in the JSON'
	tr -d ' \n\t' <"$work/allow.json" | grep -qF '"transport":"UDP/IPv4andIPv6"' || complain 'the transport is not in the JSON'
	grep -q "^rant_info.*server=\"$ip6_r\"" "$work/six" || complain 'the server is not in the file for node_exporter'
}

who_is_answered() {
	local server=$ip6_r

	pair '--allow: a prefix of IPv6' '0 0' "--allow 192.0.2.0/24 --allow 2001:db8::/32 --json $work/allow.json $K" \
		"$K --count 200 --prometheus $work/six" "${whole6[@]}" 'r:Disallowed -eq 0' '@is_in_files'
	pair '--allow: another network' '3 1' "--allow 2001:db8:78::/48 --allow 0.0.0.0/0 $K" "$K --count 3 --timeout 50" 'r:Disallowed -ge 3' 'r:Sent -eq 0'
	server=$ip_r pair '--allow: all of IPv6 allows no IPv4 address' '3 1' "--allow ::/0 $K" "$K --count 3 --timeout 50" 'r:Disallowed -ge 3' 'r:Sent -eq 0'
	pair '--ipv4: a reflector of that only' '0 1' "-4 $K -v" "$K --count 3 --timeout 50" 'r:Sent -eq 0' 'r.err ~ by UDP/IPv4, port 862$'
	pair '--ipv6: a reflector of that only' '0 0' "-6 $K -v" "$K --count 200" "${whole6[@]}" 'r.err ~ by UDP/IPv6, port 862$'
	server=$ip_r pair '--ipv6: and not of IPv4' '0 1' "-6 $K" "$K --count 3 --timeout 50" 'r:Sent -eq 0'
}

# ---- Others -----------------------------------------------------------------------------------------------------------

# Datagrams of other hosts to the port of an emitter.
strays_of_ipv6() {
	local port

	begin 'IPv6: packets of other hosts to an emitter are strays' || return 0
	start_reflector r "$K"
	server=$ip6_r start_emitter e "$K --timeout 5000"
	wait_for_packets e e 20
	# shellcheck disable=SC2016 # for awk
	port=$(inside e awk '$1 ~ /:/ && $3 !~ /:0000$/ { split($2, a, ":"); print a[2]; exit }' /proc/net/udp6)
	inside r python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for i in range(7):
    s.sendto(bytes(44), (sys.argv[1], int(sys.argv[2], 16)))' "$ip6_e" "${port:-0}" 2>"$work/h.err" || complain "$(tail -1 "$work/h.err")"
	wait_for_packets e e 50
	send TERM e
	finish e
	terminate r
	expect_status e 0
	check 'e:Strays -eq 7'
	check 'e:Lost -eq 0'
	verdict
}

# A reply has the length of its request, in as many fragments as the interface needs. Multicast requests are not answered.
in_fragments() {
	begin 'IPv6: a request in fragments is answered in fragments, a multicast request is not' || return 0
	start_reflector r "$K"
	inside e python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.settimeout(20)
base = bytes(12) + b"\0\1" + bytes(30)
s.sendto(base, ("ff02::1%" + sys.argv[2], 862))
s.sendto(base + b"\0\1" + (2952).to_bytes(2, "big") + bytes(2952), (sys.argv[1], 862))
sys.exit(len(s.recv(9000)) != 3000)' "$ip6_r" "$link_e" 2>"$work/h.err" || complain "not so: $(tail -1 "$work/h.err")"
	terminate r
	expect_status r 0
	check 'r:Sent -eq 1'
	check 'r:Foreign -eq 1'
	verdict
}

# The port is closed for a while: ICMPv6 reports it, and the run continues.
restarted_peer() {
	begin 'IPv6: a reflector that is started again' || return 0
	start_reflector r "$K"
	server=$ip6_r start_emitter e "$K --timeout 20"
	wait_for_packets e e 20
	terminate r
	start_reflector r "$K"
	wait_for_packets e e $(($(sent_by e) - moved[e] + 50))
	send TERM e
	finish e
	terminate r
	expect_status r 0
	audit e
	check 'e:Recorded -ge 50'
	check 'r:Sent -ge 20'
	verdict
}

is_capturing_ipv6() {
	! is_running cap || { [ -s "$work/cap.pcap" ] && grep -q '^Capturing on' "$work/cap.err"; }
}

# capture_ipv6 PORT FRAMES "R_ARGUMENTS" "E_ARGUMENTS": a run of both.
capture_ipv6() {
	leave_checksums off
	start cap r tshark -i "$link_r" -f "ip6 and udp port $1" -c "$2" -w "$work/cap.pcap"
	poll is_capturing_ipv6
	port=$1 start_reflector r "$3"
	server=$ip6_r start_emitter e "--timeout 5000 $4"
	finish e
	terminate r
	finish cap
	leave_checksums on
	expect_status e 0
}

# Hop limit, class, a constant flow label in each direction, a correct checksum, and STAMP decoded as TWAMP-Test.
decoded_ipv6() {
	begin 'tshark decodes IPv6' || return 0
	capture_ipv6 862 400 "$K -v" "$K --dscp EF --count 400"
	check 'r:Peer_sockets -eq 1'
	tshark -r "$work/cap.pcap" -o udp.check_checksum:TRUE -d udp.port==862,twamp.test -T fields -E separator=, -e ipv6.src -e ipv6.hlim \
		-e ipv6.tclass.dscp -e udp.checksum -e udp.checksum.status -e ipv6.flow -e ipv6.plen -e udp.length -e _ws.malformed \
		-e twamp.test.seq_number -e twamp.test.sender_seq_number -e twamp.test.sender_ttl >"$work/fields" 2>/dev/null
	awk -F, -v e="$ip6_e" -v r="$ip6_r" '
		($1 != e && $1 != r) || $2 != 255 || $4 == "0x0000" || $5 != 1 || $7 != $8 || $9 != "" { bad++ }
		$1 == e && $3 != 46 { bad++ }
		$10 != int((NR - 1) / 2) || ($1 == r && ($11 != $10 || $12 != 255)) { bad++ }
		{ count[$1]++ }
		!(($1, $6) in seen) { seen[$1, $6]; labels[$1]++ }
		END { exit NR != 400 || bad || count[e] != 200 || labels[e] != 1 || labels[r] != 1 }' "$work/fields" ||
		complain "frames: $(head -4 "$work/fields" | tr '\n' ' ')"
	verdict
}

# Two octets follow the message, and the checksum covers them too.
decoded_ptp_in_ipv6() {
	begin 'tshark decodes ptp in IPv6' || return 0
	capture_ipv6 319 40 "--transport ptp $K" "--transport ptp $K --count 20"
	tshark -r "$work/cap.pcap" -o udp.check_checksum:TRUE -T fields -E separator=, -e ptp.v2.versionptp -e ptp.v2.domainnumber \
		-e ptp.v2.messagelength -e udp.length -e udp.checksum.status -e _ws.malformed >"$work/fields" 2>/dev/null
	awk -F, '$1 != 2 || $2 != 127 || $4 != $3 + 8 + 2 || $5 != 1 || $6 != "" { bad++ } END { exit NR != 40 || bad }' "$work/fields" ||
		complain "frames: $(head -3 "$work/fields" | tr '\n' ' ')"
	verdict
}

# ---- Names ------------------------------------------------------------------------------------------------------------

make_names() {
	cat >"$work/hosts" <<-END
		127.0.0.1 localhost
		$ip_r four
		$ip6_r six
		2001:db8:5::5 both
		192.0.2.5 both
		$ip6_r both
		$ip_r both
		2001:db8:5::5 far
		192.0.2.5 far
	END
	echo 'hosts: files dns' >"$work/nsswitch"
	echo "nameserver $ip_nobody" >"$work/resolver"
	cat >"$work/with-names" <<-'END'
		#!/bin/bash
		# with-names DIRECTORY COMMAND...: in a mount namespace of its own, with its files in place of the host's
		mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/nsswitch" /etc/nsswitch.conf && mount --bind "$1/resolver" /etc/resolv.conf || exit 99
		exec "${@:2}"
	END
	chmod 755 "$work/with-names"
	unshare -m "$work/with-names" "$work" true 2>/dev/null
}

# of_name NAME OPTIONS ADDRESS PATTERN: the emitter takes that address.
of_name() {
	pair "$1" '0 0' "$K" "$2 $K --count 20 --json $work/names.json" 'e:Recorded -eq 20' "e.err ~ ^rant: --address $server: resolved to $3$4\$"
	[[ $1 =~ ${ONLY:-} ]] || return 0
	grep -Eq "\"server\": *\"$3\"" "$work/names.json" || { failed=1 && echo "not ok - $1: --json" && grep server "$work/names.json"; }
}

names() {
	local as=''

	if ! make_names; then
		skip 'names of hosts' 'no mount namespaces here'
		return
	fi
	as="unshare -m $work/with-names $work"
	server=six of_name 'a name with one address' '' "$ip6_r" ''
	server=both of_name 'a name with many: the first that is reached' '' "($ip6_r|$ip_r)" ", the first of its 4 addresses that is reached through $link_e"
	server=both of_name 'a name with many, -4' -4 "$ip_r" ", the first of its 2 addresses that is reached through $link_e"
	server=both of_name 'a name with many, -6' -6 "$ip6_r" ", the first of its 2 addresses that is reached through $link_e"
	alone 'a name whose addresses are not reachable through -i' 1 e "-i $link_e -a far $K" '@silent' 'e.err ~ none of which is reached through' \
		"e.err ~ no route to address '(192.0.2.5|2001:db8:5::5)' through interface"
	alone 'a name without an IPv6 address' 1 e "-i $link_e -6 -a four $K --count 1" '@one_line_of_resolver' \
		'e.err ~ --address four: the resolver of this host has not found an IPv6 address: .+: sources: files dns \('"$ip_nobody"'\): see '
	slow_name
}

# It asks the network, which does not answer.
one_line_of_resolver() {
	grep -c '^rant: ' "$work/e.err" | grep -qx '[12]' || complain 'more than the expected lines'
}

says_it_waits() {
	! is_running e || grep -q 'still waiting for the address of this name' "$work/e.err"
}

slow_name() {
	local began ms

	begin 'a name that takes long: it is said, and Ctrl-C ends it at once' || return 0
	server=slow.example start_emitter e "$K --count 1"
	poll says_it_waits
	began=${EPOCHREALTIME/./}
	send INT e
	finish e
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	[ "$ms" -lt 2000 ] || complain "it took $ms ms to end"
	expect_status e 130
	check 'e.err ~ --address slow.example: still waiting for the address of this name'
	check 'e.out empty'
	verdict
}

# ---- Refusals ---------------------------------------------------------------------------------------------------------

bad_addresses() {
	local arguments pattern

	while IFS='|' read -r arguments pattern; do
		[ -n "$arguments" ] || continue
		alone "bad address: $arguments" 1 e "-i $link_e $K $arguments" '@one_line e' 'e.out empty' "e.err ~ $pattern"
	done <<-END
		-a $ip6_e|address '$ip6_e' is this host's own address
		-a ff02::1|address 'ff02::1' is not a single host
		-a ::|address '::' is not a single host
		-a 2001:db8:9::1|no route to address '2001:db8:9::1' through interface '$link_e'
		-a fe80::1%nosuch|--address fe80::1%nosuch with --interface $link_e: the zone
		-a $ip6_r%$link_e|has a zone, which only link-local addresses
		-a ::ffff:10.77.0.2|is an IPv4-mapped IPv6 address
		-a $ip6_r -4|--address $ip6_r with --ipv4: that is an IPv6 address
		-a $ip_r -6|--address $ip_r with --ipv6: that is an IPv4 address
		-a $ip6_r --bind $ip_e|--bind $ip_e with --address $ip6_r: one is IPv4 and one is IPv6
		-a $ip6_r --bind 2001:db8:77::8|--bind 2001:db8:77::8: not an address of interface '$link_e': give an address of the interface, such as $ip6_e
		-a $ip6_r --transport l2|this transport has no IP, give the MAC address
		-6 -4|--ipv4 with --ipv6
	END
}

taken_port() {
	begin 'IPv6: a port that is taken' || return 0
	start_reflector r "-6 $K"
	start second r "$rant" -i "$link_r" --stamp kernel --count 3
	finish second
	expect_status second 1
	one_line second
	check 'second.err ~ port 862: taken by another program'
	terminate r
	verdict
}

if ! add_ipv6 2>"$work/ipv6.err"; then
	skip 'IPv6' "not on this host: $(head -1 "$work/ipv6.err")"
else
	poll is_settled
	as_ipv4
	link_local
	on_a_vlan
	both_at_once
	who_is_answered
	strays_of_ipv6
	in_fragments
	restarted_peer
	if command -v tshark >/dev/null && command -v ethtool >/dev/null; then
		decoded_ipv6
		decoded_ptp_in_ipv6
	else
		skip 'tshark decodes IPv6' 'tshark or ethtool is not installed'
	fi
	names
	bad_addresses
	taken_port
fi
remove_ipv6
