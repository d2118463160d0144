# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Addresses, neighbours and other state that the kernel drops when an interface moves to another namespace: saved before
# the move, and restored after the interface has returned.

declare -a words=()

# Saved in reverse order of restoring: neighbours and routes need addresses and a link that is up.
remember_interface() {
	[ -z "${saved[interface]:-}" ] || return 0
	remember_vectors
	remember_fib
	scan_neighbours remember_neighbour
	scan_proxies remember_proxy
	scan_fdb remember_fdb
	scan_groups remember_group
	remember_token
	remember_link
	remember_addresses
	remember_files
	remember interface undo_nothing
}

remember_vectors() {
	local irq name

	[ ${#vectors[@]} -gt 0 ] || return 0
	find_owners
	scan_threads
	for irq in "${vectors[@]}"; do
		[ -n "${owner[$irq]:-}" ] && get "$proc/irq/$irq/smp_affinity_list" || continue
		# shellcheck disable=SC2086 # two words
		remember "vector ${owner[$irq]} affinity" undo_affinity ${owner[$irq]} "$value"
		for name in "${!thread[@]}"; do
			[[ $name == "irq/$irq-"* ]] && read_policy "${thread[$name]}" || continue
			# shellcheck disable=SC2086 # two words
			remember "vector ${owner[$irq]} thread" undo_priority ${owner[$irq]} "$value"
		done
	done
}

# scan_neighbours FUNCTION [ARGUMENT...]: permanent neighbours only; the kernel forgets the others by itself.
scan_neighbours() {
	local text word

	while IFS= read -r text; do
		[[ $text =~ PERMANENT|extern_learn|managed ]] || continue
		read -r -a line <<<"$text"
		words=()
		for word in "${line[@]:1}"; do
			case $word in
			PERMANENT) words+=(nud permanent) ;;
			[A-Z]*) ;;
			*) words+=("$word") ;;
			esac
		done
		"$@" "${line[0]}" "${words[@]}"
	done < <(quietly ip neigh show dev "$interface")
}

remember_neighbour() {
	remember "neighbour $1" undo_entry "$@"
}

# undo_entry ADDRESS WORD...: restores a neighbour.
undo_entry() {
	! $present || at ip neigh replace "$@" dev "$interface"
}

# Kept for lines saved by earlier versions.
undo_neighbour() {
	undo_entry "$1" lladdr "$2" nud permanent
}

# scan_proxies FUNCTION [ARGUMENT...]: proxy neighbours, the addresses for which this host answers ARP or ND.
scan_proxies() {
	while read -r -a line; do
		"$@" "${line[0]}" "${line[@]:2}"
	done < <(quietly ip neigh show proxy dev "$interface")
}

remember_proxy() {
	remember "proxy neighbour $1" undo_proxy "$@"
}

undo_proxy() {
	! $present || at ip neigh replace proxy "$@" dev "$interface"
}

# scan_fdb FUNCTION [ARGUMENT...]: additional unicast MACs that the interface accepts. Groups are skipped here, because
# scan_groups() has them: "bridge fdb" also shows a MAC added by "ip maddr add".
scan_fdb() {
	local -A group=()

	scan_groups is_group
	while read -r -a line; do
		[[ ${line[0]} =~ ^[0-9a-f][02468ace]:[0-9a-f:]+$ && " ${line[*]} " == *' self '* ]] || continue
		if [ -n "${group[${line[0]}]:-}" ]; then
			unset "group[${line[0]}]"
			continue
		fi
		"$@" "${line[@]}"
	done < <(quietly bridge fdb show dev "$interface")
}

is_group() {
	group[$1]=yes
}

remember_fdb() {
	remember "fdb $1" undo_fdb "$@"
}

undo_fdb() {
	! $present || at bridge fdb replace "$@" dev "$interface"
}

# scan_groups FUNCTION [ARGUMENT...]: MAC groups joined by hand ("ip maddr add").
scan_groups() {
	while read -r -a line; do
		[[ "${line[0]:-} ${line[*]:2}" != 'link '*static* ]] || "$@" "${line[1]}"
	done < <(quietly ip maddr show dev "$interface")
}

remember_group() {
	remember "group $1" undo_group "$1"
}

undo_group() {
	$present && [[ $(at ip maddr show dev "$interface") != *" $1 "*static* ]] || return 0
	at ip maddr add "$1" dev "$interface"
}

# IPv6 token: the interface identifier for addresses from router advertisements.
remember_token() {
	while read -r -a line; do
		[[ "${line[*]}" != 'token '*" dev $interface" || ${line[1]} = :: ]] || remember token undo_token "${line[1]}"
	done < <(quietly ip token show dev "$interface")
}

undo_token() {
	! $present || at ip token set "$1" dev "$interface"
}

# undo_route FAMILY WORD...: kept for lines saved by earlier versions.
undo_route() {
	! $present || at ip "-$1" route replace "${@:2}" dev "$interface"
}

remember_link() {
	read_link
	remember 'qdisc was' undo_qdisc "${link[qdisc]}"
	if [ "${link[up]}" = on ]; then
		remember 'link was' undo_link up
	else
		remember 'link was' undo_link down
	fi
}

# The address saved last is restored first. The first IPv4 address of a network becomes the primary address; the kernel
# lists IPv6 addresses from the newest to the oldest.
remember_addresses() {
	local i
	local -a all=()

	mapfile -t all < <(quietly ip -o -4 addr show dev "$interface")
	for ((i = ${#all[@]} - 1; i >= 0; i--)); do
		remember_address "${all[i]}"
	done
	mapfile -t all < <(quietly ip -o -6 addr show dev "$interface")
	for i in "${!all[@]}"; do
		[[ ${all[i]} =~ temporary|dynamic ]] || remember_address "${all[i]}"
	done
}

remember_address() {
	local text=${1#*"$interface"}

	read -r -a line <<<"${text//\\/ }"
	address_words "${line[@]}"
	remember "address ${line[1]} before" undo_address "${words[@]}"
}

# address_words FAMILY ADDRESS WORD...: converts a line of "ip -o address show" to $words for "ip address replace".
address_words() {
	local family=$1

	words=("$2")
	shift 2
	while [ $# -gt 0 ]; do
		case $1 in
		metric | brd | peer | scope | proto)
			words+=("$1" "$2")
			shift
			;;
		valid_lft | preferred_lft)
			words+=("$1" "${2%sec}")
			shift
			;;
		noprefixroute | mngtmpaddr | home | nodad | autojoin) words+=("$1") ;;
		dynamic | secondary | tentative | deprecated | dadfailed | optimistic | permanent) ;;
		*) [ "$family" != inet ] || words+=(label "$1") ;;
		esac
		shift
	done
}

undo_address() {
	! $present || at ip address replace "$@" dev "$interface"
}

# files_of_interface: prints its settings in /proc and /sys as "PATH:TEXT". Writing stable_secret also changes
# addr_gen_mode, so it is saved last and restored first.
files_of_interface() {
	as_mounted grep -srH --exclude=stable_secret '' "$proc"/sys/net/{ipv4,ipv6,mpls}/{conf,neigh}/"$interface"
	as_mounted grep -srH '--include=[rx]ps_*' '--include=limit_m*' --include=hold_time --include=tx_maxrate '' \
		"$sys/class/net/$interface/queues/"
	as_mounted grep -sH '' "$proc/sys/net/ipv6/conf/$interface/stable_secret"
}

# as_mounted COMMAND...: runs COMMAND with /proc and /sys of the interface's namespace. It may fail.
as_mounted() {
	if [ -z "$here" ]; then
		"$@" 2>/dev/null || true
	else
		ip netns exec "$here" "$@" 2>/dev/null || true
	fi
}

remember_files() {
	local path text

	while IFS=: read -r path text; do
		remember "file $path" undo_net_put "$path" "$text"
	done < <(files_of_interface)
}
