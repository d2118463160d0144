# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Interfaces that the script refuses: the host would lose its network, or settings would be lost that cannot be
# restored. All checks run before the first change.

# check_spared: an interface that is already prepared was checked at that time.
check_spared() {
	[ ! -s "$state/undo" ] || { check_unchanged && return; }
	chosen namespace || chosen network || return 0
	[ -n "$here" ] || check_default 4
	[ -n "$here" ] || check_default 6
	if [ -n "$here" ] || ! chosen namespace; then
		check_fib 6
		return
	fi
	check_fib 4 6
	check_above
	check_queueing
	check_others
}

# spare WHAT: refuses the interface, because a move into another namespace would lose this setting.
spare() {
	die "'$interface' $1: remove it first, or use --no-namespace"
}

# check_default FAMILY: other interfaces may have a default route from a router, too.
check_default() {
	local -A default=()

	scan_routes "$1" find_default
	[ -z "${default[here]:-}" ] || { [ "${default[origin]}" = ra ] && [ -n "${default[elsewhere]:-}" ]; } ||
		die "'$interface' carries the default route of this host: use another interface, or remove that route first"
}

find_default() {
	[[ $fib_key =~ ^route\ [46]\ default(\ metric\ [0-9]+)?$ && -n $fib_devices ]] || return 0
	if [[ $fib_devices == *" $interface "* ]]; then
		default[here]=yes default[origin]=$fib_origin
	else
		default[elsewhere]=yes
	fi
}

check_above() {
	local text

	text=$(ip -o link show dev "$interface")
	[[ ! $text =~ \ master\ ([^ ]+) ]] ||
		die "'$interface' is a port of '${BASH_REMATCH[1]}': remove it first, or use --no-namespace"
	for text in "$sys/class/net/$interface"/upper_*; do
		[ ! -e "$text" ] || die "'${text##*/upper_}' uses '$interface': remove it first, or use --no-namespace"
	done
	while IFS= read -r text; do
		die "'$text' uses '$interface': remove it first, or use --no-namespace"
	done < <(stacked)
}

# stacked: names of interfaces that would be lost with this interface, or could not send: VLANs, tunnels. The other end
# of a veth pair is not affected.
stacked() {
	local text name

	while IFS= read -r text; do
		name=${text#*: } name=${name%%: *}
		[[ ${name%@*} != "$interface" && $text != *' veth '* ]] || continue
		[[ $name != *"@$interface" && "$text " != *" dev $interface "* ]] || printf '%s\n' "${name%@*}"
	done < <(quietly ip -d -o link show)
}

check_queueing() {
	local kind handle

	while read -r _ kind handle _; do
		[ "$handle" = 0: ] || spare "has a queueing discipline of its own, $kind $handle"
	done < <(tc qdisc show dev "$interface" 2>/dev/null)
	! mentioned 'to device ([^ )]+)' tc actions list action mirred ||
		spare "is where a filter of another interface sends packets to"
}

# State that the kernel drops with an interface, and that only the program that created it can restore.
check_others() {
	! mentioned '\bdev ([^ ]+)' ip -f mpls route show || spare "has an MPLS route"
	! mentioned '\bdev ([^ ]+)' ip xfrm state show || spare "has an IPsec state"
	! mentioned '\bdev ([^ ]+)' ip xfrm policy show || spare "has an IPsec policy"
	! mentioned '^ *[0-9]+ +([^ ]+)' cat "$proc/net/ip_mr_vif" "$proc/net/ip6_mr_vif" ||
		spare "belongs to a multicast router (a program that forwards groups)"
	! mentioned '([^" ,;{}=]+)' nft_devices || spare "has nftables rules or a flow table of its own"
}

nft_devices() {
	! command -v nft >/dev/null || nft list ruleset | grep -E '\bdevices?\b'
}

# mentioned REGEX COMMAND...: true if the output has the name of the interface where REGEX matches.
mentioned() {
	local text

	while IFS= read -r text; do
		while [[ $text =~ $1 ]]; do
			[ "${BASH_REMATCH[1]}" != "$interface" ] || return 0
			text=${text#*"${BASH_REMATCH[0]}"}
		done
	done < <("${@:2}" 2>/dev/null || true)
	return 1
}

# A later run that moves the interface, or sets its addresses, would lose settings that were added since the first run.
check_unchanged() {
	local text

	load_state
	[ -e "$state/before" ] && [ -z "$here" ] || return 0
	if ! { chosen namespace && [ -z "${saved['namespace of the interface']:-}" ]; } &&
		! { chosen network && [ -z "${saved[address]:-}" ]; }; then
		return 0
	fi
	compare_dump || true
	for text in "${differences[@]}"; do
		[[ $text =~ ^(link:|ethtool|/|queueing) ]] ||
			die "'$interface' differs from its state before it was prepared, $text: restore it first with --undo"
	done
}
