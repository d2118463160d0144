# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: the interface in a network namespace of its own.

step namespace 'ns_<interface> is made and the interface moved into it'

tools_namespace() {
	need nsenter util-linux
}

step_namespace() {
	local now=none

	[ ! -e "$netns/$space" ] || now=there
	change=(ip netns add "$space") back=(undo_namespace "$space")
	must settle "namespace $space" "$now" there read_namespace
	change=(ip link set dev "$interface" netns "$space") back=(undo_move "$(readlink "$proc/self/ns/net")")
	must settle 'namespace of the interface' "${here:-none}" "$space" read_place
}

read_namespace() {
	value=none
	[ ! -e "$netns/$space" ] || value=there
}

read_place() {
	locate && value=${here:-none}
}

undo_namespace() {
	local users

	[ -e "$netns/$1" ] || return 0
	users=$(ip netns pids "$1")
	if [ -n "$users" ]; then
		echo "processes ${users//$'\n'/ } still run in it"
		return 1
	fi
	ip netns del "$1"
}

# undo_move NAMESPACE: moves the interface back to the namespace with the kernel's name, as "net:[4026531840]".
undo_move() {
	if ! $present || [ -z "$here" ]; then
		return 0
	fi
	if [ "$(readlink "$proc/self/ns/net")" != "$1" ]; then
		echo "it was prepared from another network namespace, $1: run this from there"
		return 1
	fi
	ip -n "$here" link set dev "$interface" netns $$ && here=
}
