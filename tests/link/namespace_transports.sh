#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# PTP messages around the packets: over UDP and straight on Ethernet, with a VLAN too.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

ptp="--transport ptp" l2="--transport l2"
mac_e=$(ip -n "${ns[e]}" -o link show dev "$link_e" | sed 's/.*link.ether \([^ ]*\).*/\1/')
mac_r=$(ip -n "${ns[r]}" -o link show dev "$link_r" | sed 's/.*link.ether \([^ ]*\).*/\1/')
whole=('e:Recorded -eq 200' 'r:Sent -eq 201' 'e:Lost -eq 0' 'e:Unstamped -eq 0' 'r:Unstamped -eq 0' 'e:Complete -eq 200'
	'e:Foreign -eq 0' 'e:Malformed -eq 0' 'r:Malformed -eq 0' 'e:Strays -eq 0')

# ---- All that works over UDP works there ------------------------------------------------------------------------------

key=$work/transports.key
(umask 077 && head -c 32 /dev/zero | od -v -An -tx1 | tr -d ' \n' >"$key")

# as_udp NAME OPTIONS STATUS: with the addresses in `server` and `port`.
as_udp() {
	local name=$1 t=$2 R="-H --json $logs/r.json" M="-H --json $logs/e.json"

	pair "$name: kernel stamps, all eight times, a full log" '0 0' "$t $K -s -l LOG $R" "$t $K -s --log-full -l LOG --count 200 $M" "${whole[@]}" \
		'@json_agrees e' '@json_agrees r' "@json_has e JSON['configuration']['granted']['transport'].startswith('PTP ')" \
		'@log_agrees r T2_KERNEL T3_KERNEL' '@eight_times' "e.out ~ ^Latency: RTT = T4_KERNEL - T1_KERNEL $KERNEL\$"
	pair "$name: stamps of user space" '0 0' "$t $U $R" "$t $U --count 200 $M" 'e:Recorded -eq 200' 'r:Sent -eq 201' '@json_agrees e' '@json_agrees r'
	pair "$name: Sync messages" '0 0' "$t --ptp-type sync $K" "$t --ptp-type sync $K --count 200" "${whole[@]}"
	pair "$name: a reflector answers either type" '0 0' "$t $K" "$t --ptp-type sync $K --count 200" "${whole[@]}"
	pair "$name: by the clock, many in flight" '0 0' "$t $K" "$t $K --interval 1ms --window 16 --count 200 $M" "${whole[@]}" \
		'@json_agrees e'
	pair "$name: authenticated" '0 0' "$t --key $key $K" "$t --key $key $K --count 200" "${whole[@]}" 'r:Unverified -eq 0'
	pair "$name: the wrong key" '3 1' "$t --key $key $K $R" "$t $K --count 3 --timeout 50" 'r:Unverified -eq 3' 'e:Lost -eq 3' '@json_agrees r'
	pair "$name: another domain" "$3 1" "$t --ptp-domain 3 $K" "$t $K --count 3 --timeout 50" 'e:Lost -eq 3' 'r:Sent -eq 0'
	pair "$name: --size" '0 0' "$t $K" "$t --size 1400 $K --count 200" "${whole[@]}" 'e.out ~ ^Traffic \(STAMP packets, after the warm-up\):$' \
		'e.out ~ To there *:  280000 octets in 200 packets'
	pair "$name: --plain" '0 0' "$t $K" "$t --plain $K --count 200 $M" 'e:Recorded -eq 200' '@json_agrees e'
	pair "$name: a threshold ends it" '0 2' "$t $K" "$t $K -t 0.001 $M" 'e.out ~ [Bb]reach' '@json_agrees e'
	pair "$name: -v says so" '0 0' "$t $K -v" "$t $K -v --count 20" "e.err ~ ^Emitting on $link_e .* by PTP [io]n .*domain 127\$"
}

eight_times() {
	awk '$1 ~ /^[0-9]+$/ { rows++; for (i = 2; i <= 10; i++) if (i != 6 && $i !~ /^[0-9]+\.[0-9]+$/) bad++ } END { exit rows != 200 || bad }' \
		"$logs/e.log" || complain 'a time is missing from the full log'
}

# Messages of another domain arrive over UDP only: there the run measures nothing.
port=319 as_udp ptp "$ptp" 3
port=l2 server=$mac_r as_udp l2 "$l2" 0
port=l2 server=$mac_r pair 'l2: unavailable figures are named and not printed as 0' '0 0' "$l2 $K" "$l2 $K --count 20" \
	'e.out ~ ^  No TTL and no DSCP: there is no IP header$' 'e.out !~ arrived with another'

# ---- On a VLAN --------------------------------------------------------------------------------------------------------

vlan=rv$$
add_vlans() {
	add_vlan "$vlan" 5 &&
		ip -n "${ns[e]}" address add 10.77.5.1/24 dev "$vlan" && ip -n "${ns[r]}" address add 10.77.5.2/24 dev "$vlan" &&
		ip -n "${ns[e]}" link set "$vlan" up && ip -n "${ns[r]}" link set "$vlan" up
}
vlans=false
if add_vlans 2>"$work/vlan.err"; then
	vlans=true
	link=$vlan port=319 server=10.77.5.2 pair 'ptp on a VLAN' '0 0' "$ptp $K" "$ptp $K --count 200" "${whole[@]}"
	link=$vlan port=l2 server=$mac_r pair 'l2 on a VLAN' '0 0' "$l2 $K" "$l2 $K --count 200" "${whole[@]}"
else
	skip 'ptp and l2 on a VLAN' "$(head -1 "$work/vlan.err")"
fi

# ---- Decoding by tshark -----------------------------------------------------------------------------------------------

is_capturing() {
	! is_running "$1" || { [ -s "$work/$1.pcap" ] && grep -q '^Capturing on' "$work/$1.err"; }
}

# decoded NAME LINK TRANSPORT SERVER PORT: tshark decodes each frame as a PTP message with correct lengths, and over UDP with a correct
# checksum.
decoded() {
	local name=$1 on=$2 type=${6:-delay-req}

	begin "tshark decodes $name" || return 0
	leave_checksums off
	start cap r tshark -i "$on" -f 'udp port 319 or ether proto 0x88f7 or (vlan and (udp port 319 or ether proto 0x88f7))' -c 20 \
		-w "$work/cap.pcap"
	poll is_capturing cap
	link=$on port=$5 start_reflector r "$3 --ptp-type $type $K"
	link=$7 server=$4 start_emitter e "--timeout 5000 $3 --ptp-type $type $K --count 20"
	finish e
	send TERM r
	finish r cap
	leave_checksums on
	expect_status e 0
	tshark -r "$work/cap.pcap" -o udp.check_checksum:TRUE -T fields -E separator=, -e ptp.v2.messagetype -e ptp.v2.versionptp \
		-e ptp.v2.domainnumber -e ptp.v2.messagelength -e frame.len -e ptp.v2.sequenceid -e _ws.malformed -e udp.length -e udp.checksum.status \
		>"$work/fields" 2>/dev/null
	awk -F, -v type="$([ "$type" = sync ] && echo 0 || echo 1)" -v headers="$8" '
		strtonum0($1) != type || $2 != 2 || $3 != 127 || $5 != $4 + headers || $6 != int((NR - 1) / 2) || $7 != "" { bad++ }
		$8 != "" && ($8 != $4 + 8 || $9 != 1) { bad++ }
		function strtonum0(t) { return t ~ /^0x/ ? substr(t, 3) + 0 : t + 0 }
		END { exit NR != 20 || bad }' "$work/fields" || complain "frames: $(head -3 "$work/fields" | tr '\n' ' ')"
	verdict
}

if ! command -v tshark >/dev/null || ! command -v ethtool >/dev/null; then
	skip 'tshark decodes ptp and l2' 'tshark or ethtool is not installed'
else
	decoded ptp "$link_r" "$ptp" "$ip_r" 319 delay-req "$link_e" 42
	decoded 'ptp, Sync' "$link_r" "$ptp" "$ip_r" 319 sync "$link_e" 42
	decoded l2 "$link_r" "$l2" "$mac_r" l2 delay-req "$link_e" 14
	decoded 'l2, Sync' "$link_r" "$l2" "$mac_r" l2 sync "$link_e" 14
	! $vlans || decoded 'l2 on a VLAN' "$vlan" "$l2" "$mac_r" l2 delay-req "$vlan" 14
fi

# ---- Bad peers --------------------------------------------------------------------------------------------------------

hostile_ptp=$(dirname "$0")/hostile_ptp.py

# While an emitter measures, the bad peer's messages are counted by kind, and the good messages among them answered.
bad_ptp() { # ptp or l2 (with optional words), options, address
	local what=$1 transport=${1%% *} malformed foreign good

	begin "a reflector survives invalid messages: $what" || return 0
	start_reflector r "--transport $transport $K"
	server=$3 start_emitter e "--transport $transport $K --timeout 5000"
	wait_for_packets e e 5
	inside e python3 "$hostile_ptp" "$2" "$link_e" "$3" >"$work/h.out" 2>&1 || complain "$(cat "$work/h.out")"
	malformed=$(sed -n 's/.*malformed=\([0-9]*\).*/\1/p' "$work/h.out") foreign=$(sed -n 's/.*foreign=\([0-9]*\).*/\1/p' "$work/h.out")
	good=$(sed -n 's/.*good=\([0-9]*\).*/\1/p' "$work/h.out")
	wait_for_packets e e 50
	send TERM e
	finish e
	send TERM r
	finish r
	expect_status e 0
	expect_status r 0
	check "r:Malformed -eq ${malformed:--1}"
	check "r:Foreign -eq ${foreign:--1}"
	[ "$(row r Sent)" -eq $(($(row e Sent) + ${good:-0})) ] || complain "answered: $(row r Sent), of $(row e Sent) and ${good:-?}"
	check 'e:Lost -eq 0'
	verdict
}
port=319 bad_ptp ptp udp "$ip_r"
port=l2 bad_ptp l2 l2 "$mac_r"
if add_ipv6 2>"$work/ipv6.err"; then
	poll is_settled
	port=319 bad_ptp 'ptp in IPv6' udp "$ip6_r"
	remove_ipv6
else
	skip 'a reflector bears bad messages: ptp in IPv6' "no IPv6 here: $(head -1 "$work/ipv6.err")"
fi

if begin 'l2: packets of other hosts to an emitter are strays'; then
	port=l2 start_reflector r "$l2 $K"
	server=$mac_r start_emitter e "$l2 $K --timeout 5000"
	wait_for_packets e e 5
	inside r python3 "$hostile_ptp" strays "$link_r" "$mac_e" 7
	wait_for_packets e e 50
	send TERM e
	finish e
	terminate r
	check 'e:Strays -eq 7'
	check 'e:Foreign -eq 0'
	check 'e:Malformed -eq 0'
	verdict
fi

# ---- Refusals ---------------------------------------------------------------------------------------------------------

alone 'l2: an IP address' 1 e "-i $link_e -a $ip_r $l2 $K" '@silent' '@one_line e' 'e.err ~ give the MAC address of the reflector'
alone 'l2: the address of a group' 1 e "-i $link_e -a 01:1b:19:00:00:00 $l2 $K" '@silent' '@one_line e' 'e.err ~ is a group address'
alone 'l2: its own address' 1 e "-i $link_e -a $mac_e $l2 $K" '@silent' '@one_line e' "e.err ~ the address of interface '$link_e' itself"
alone 'l2: the loopback' 1 e "-i lo -a $mac_r $l2 $K" '@silent' '@one_line e' "e.err ~ 'lo' is not an Ethernet interface, .*: use --transport udp\$"
alone 'l2: the loopback, reflector' 1 r "-i lo $l2 $K" '@silent' '@one_line r' "r.err ~ 'lo' is not an Ethernet interface"
alone 'a MAC address and --transport udp' 1 e "-i $link_e -a $mac_r $K" '@silent' '@one_line e' 'e.err ~ is for --transport l2'
alone 'l2: larger than the MTU' 1 e "-i $link_e -a $mac_r $l2 $K --size 1454" '@one_line e' 'e.err ~ at most 1452 octets fit into the MTU of 1500'
if command -v setpriv >/dev/null; then
	as='setpriv --bounding-set -net_raw,-net_bind_service --inh-caps -all --reuid 65534 --clear-groups'
	as=$as alone 'l2 without CAP_NET_RAW' 1 e "-i $link_e -a $mac_r $l2 $K" '@silent' '@one_line e' 'e.err ~ run as root or with CAP_NET_RAW'
	as=$as alone 'ptp without the right to its port' 1 e "-i $link_e -a $ip_r $ptp $K" '@silent' \
		'e.err ~ port 319: .*CAP_NET_BIND_SERVICE: use sudo$'
	unset as
else
	skip 'l2 and ptp without rights' "'setpriv' is not installed"
fi

if begin 'ptp: one emitter on an interface, and no second reflector'; then
	port=319 start_reflector r "$ptp $K"
	start_emitter e "$ptp $K"
	wait_for_packets e e 5
	start second e "$rant" -i "$link_e" -a "$ip_r" --transport ptp --stamp kernel --count 3
	finish second
	expect_status second 1
	one_line second
	check 'second.err ~ port 319: taken by another program on .*ptp4l, or another rant.*--transport l2'
	start second r "$rant" -i "$link_r" --transport ptp --stamp kernel --count 3
	finish second
	expect_status second 1
	check 'second.err ~ port 319: taken'
	# As ptp4l binds it: it may be started while we run.
	inside e python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", 319))' 2>"$work/bind.err" || complain "ptp4l could not be started: $(tail -1 "$work/bind.err")"
	terminate e r
	verdict
fi

# The kernel shows a script of that name as that program.
ptp4l=$work/ptp4l
printf '#!/bin/bash\nread -r -t 60 <><(:)\n' >"$ptp4l"
chmod +x "$ptp4l"
printf '[global]\ndomainNumber 44\n[%s]\n' "$link_e" >"$work/ptp4l.conf"

# beside NAME ARGUMENTS STATUS PATTERN OPTIONS
beside() {
	local -a words options

	begin "$1" || return 0
	read -ra words <<<"$2"
	read -ra options <<<"$5"
	start daemon e "$ptp4l" "${words[@]}"
	port=l2 start_reflector r "$l2 --ptp-domain ${6:-127} $K"
	start e e "$rant" "${details[@]}" -i "$link_e" -a "$mac_r" --transport l2 --stamp kernel --timeout 5000 --count 20 "${options[@]}"
	finish e
	terminate daemon r
	expect_status e "$3"
	[ -z "$4" ] || { one_line e && check "e.err ~ $4"; }
	verdict
}
refused="ptp4l \\([0-9]+\\) uses this domain on interface '$link_e' .*: give another --ptp-domain at both ends\$"
beside 'a ptp4l of the same domain is refused' "-i $link_e --domainNumber=127" 1 "$refused" ''
beside 'a ptp4l of the same domain, by its file' "-f $work/ptp4l.conf" 1 "$refused" '--ptp-domain 44' 44
beside 'a ptp4l of another domain is not' "-i $link_e" 0 '' ''
beside 'a ptp4l of another interface is not' "-i $link_bare --domainNumber=127" 0 '' ''

ip -n "${ns[e]}" link del "$vlan" 2>/dev/null
ip -n "${ns[r]}" link del "$vlan" 2>/dev/null
