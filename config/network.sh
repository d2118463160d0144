# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: the link has one address and one neighbour, and the kernel sends nothing on it by itself.

step network 'address, static neighbour, no IPv6, multicast, ARP or queueing discipline; link up' check_addresses

tools_network() {
	need tc iproute2
}

check_addresses() {
	local ip=${option[ip]:-} remote

	remote=${option[remote-ip]:-}
	[ -n "$ip" ] || die "--ip is missing: see --help"
	[ -n "$remote" ] || die "--remote-ip is missing: see --help"
	[[ $ip == */* ]] || ip=$ip/24
	is_ipv4 "${ip%/*}" && [[ ${ip#*/} =~ ^[0-9]{1,2}$ ]] && ((10#${ip#*/} >= 1 && 10#${ip#*/} <= 32)) ||
		die "--ip: '${option[ip]}' is not an IPv4 address with a prefix length, such as 192.168.10.1/24"
	is_ipv4 "$remote" || die "--remote-ip: '$remote' is not an IPv4 address"
	[ "$remote" != "${ip%/*}" ] || die "--remote-ip: '$remote' is the address of this host"
	option[ip]=$ip
	[ -z "${option[remote-mac]:-}" ] || check_mac "${option[remote-mac]}"
}

check_mac() {
	[[ $1 =~ ^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$ ]] || die "--remote-mac: '$1' is not a MAC address such as 52:54:00:00:00:01"
	(((16#${1:0:2} & 1) == 0)) && [ "$1" != 00:00:00:00:00:00 ] || die "--remote-mac: '$1' is not a unicast MAC address"
	option[remote-mac]=${1,,}
}

is_ipv4() {
	local part

	[[ $1 =~ ^[0-9]{1,3}(\.[0-9]{1,3}){3}$ ]] || return 1
	for part in ${1//./ }; do
		((10#$part <= 255)) || return 1
	done
}

# The neighbour is set after ARP is turned off, because that removes all neighbours.
step_network() {
	local peer now=none

	settle_net disable_ipv6 "$proc/sys/net/ipv6/conf/$interface/disable_ipv6" 1
	read_network
	settle_link multicast off
	within "$space" ip address replace "${option[ip]}" brd + dev "$interface"
	change=("${line[@]}") back=(undo_ip "${option[ip]}")
	[ -z "${has_address:-}" ] || now=${option[ip]}
	must settle address "$now" "${option[ip]}" read_address
	must settle_link up on
	find_peer
	if [ -n "$peer" ]; then
		settle_link arp off
		settle_neighbour "$peer"
	else
		refusals+=("the MAC of ${option[remote-ip]} is not known, so ARP stays on: give --remote-mac")
	fi
	settle_qdisc
	[ "$mode" != apply ] || wait_until has_carrier || note "no carrier after $wait_s s: is the other side up?"
}

has_address=''

# A dry run has not moved the interface: it will then be down and without addresses.
read_network() {
	read_link
	read_address
	[ "$mode" = dry-run ] && [ "$here" != "$space" ] || return 0
	link['up']=off link['qdisc']=noop has_address='' value=none
}

# settle_link up|arp|multicast on|off
settle_link() {
	local -A flags=(['up on']=up ['up off']=down ['arp on']='arp on' ['arp off']='arp off'
		['multicast on']='multicast on' ['multicast off']='multicast off')
	local new=${flags["$1 $2"]} old=${flags["$1 ${link[$1]}"]}

	# shellcheck disable=SC2086 # words
	within "$space" ip link set dev "$interface" $new
	change=("${line[@]}")
	read -r -a line <<<"$old"
	back=(undo_link "${line[@]}")
	settle "link $1" "${link[$1]}" "$2" read_link_flag "$1"
}

read_link_flag() {
	read_link && value=${link[$1]}
}

read_address() {
	value=none has_address=
	[ -z "$(at ip -o -4 addr show dev "$interface" to "${option[ip]%/*}")" ] || { value=${option[ip]} has_address=yes; }
}

undo_ip() {
	if ! $present || [ -z "$(at ip -o -4 addr show dev "$interface" to "${1%/*}")" ]; then
		return 0
	fi
	at ip address del "$1" dev "$interface"
}

# find_peer: sets $peer to the MAC of the remote address: given, known to the kernel, of another port of this host, or
# found by ARP.
find_peer() {
	local name

	peer=${option[remote-mac]:-}
	[ -z "$peer" ] || return 0
	read_neighbour
	for name in "$netns"/ns_*; do
		[ -z "$peer" ] && [ -e "$name" ] && [ "$name" != "$netns/$space" ] || continue
		peer_in "${name##*/}"
	done
	[ -z "$peer" ] && [ "$mode" = apply ] || return 0
	# The kernel sends an ARP request before it sends any packet.
	at bash -c "echo >/dev/udp/${option[remote-ip]}/9" 2>/dev/null || true
	wait_until knows_peer || true
}

# peer_in NAMESPACE
peer_in() {
	local other

	other=$(ip -n "$1" -o -4 addr show to "${option[remote-ip]}" 2>/dev/null | sed -n '1s/^[0-9]*: *\([^ @]*\).*/\1/p')
	[ -z "$other" ] || peer=$(ip -n "$1" -o link show dev "$other" | sed -n 's/.*link.ether \([^ ]*\).*/\1/p')
}

knows_peer() {
	read_neighbour
	[ -n "$peer" ]
}

# read_neighbour: sets $peer, and $value to the state of the neighbour.
read_neighbour() {
	local lladdr text state_of

	value=none peer=
	read -r _ lladdr text state_of < <(at ip neigh show to "${option[remote-ip]}" dev "$interface") || return 0
	[ "$lladdr" = lladdr ] || return 0
	[[ $state_of == *FAILED* ]] || { peer=$text && value="$text ${state_of,,}"; }
}

settle_neighbour() {
	local wanted=$1 peer

	within "$space" ip neigh replace "${option[remote-ip]}" lladdr "$wanted" nud permanent dev "$interface"
	change=("${line[@]}") back=(undo_neigh "${option[remote-ip]}")
	read_neighbour
	must settle neighbour "$value" "$wanted permanent" read_neighbour
}

undo_neigh() {
	if ! $present || [ -z "$(at ip neigh show to "$1" dev "$interface")" ]; then
		return 0
	fi
	at ip neigh del "$1" dev "$interface"
}

settle_qdisc() {
	read_link
	[ "$mode" != dry-run ] || [ "$here" = "$space" ] || link['qdisc']='the default one'
	if [ "${link[qdisc]}" != noqueue ] && [ -z "${saved[qdisc]:-}" ] && has_own_qdisc; then
		refusals+=("the queueing discipline ${link[qdisc]} was set up by somebody: it stays")
		return 0
	fi
	within "$space" tc qdisc replace dev "$interface" root noqueue
	change=("${line[@]}") back=(undo_qdisc "${link[qdisc]}")
	settle qdisc "${link[qdisc]}" noqueue read_link_flag qdisc
}

has_own_qdisc() {
	local handle

	while read -r _ _ handle _; do
		[ "$handle" = 0: ] || return 0
	done < <(at tc qdisc show dev "$interface" 2>/dev/null)
	return 1
}

# The default queueing discipline returns when another is deleted, and only a discipline with a handle can be deleted.
undo_qdisc() {
	$present || return 0
	read_link
	[ "${link[qdisc]}" != "$1" ] && [ "${link[qdisc]}" != noop ] || return 0
	[[ " $1 ${link[qdisc]} " == *' noqueue '* ]] || return 0
	[ "$1" != noqueue ] || { at tc qdisc replace dev "$interface" root noqueue && return; }
	at tc qdisc replace dev "$interface" root handle 1: pfifo && at tc qdisc del dev "$interface" root
}

has_carrier() {
	read_link && [ "${link[carrier]}" = on ]
}
