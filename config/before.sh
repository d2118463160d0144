# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the interface is before anything changes. A move to another namespace loses it: it is saved before, and put back
# after the interface has returned.

declare -a words=()

# What is saved first is put back last: neighbours and routes need addresses and a link that is up.
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

# scan_neighbours FUNCTION [ARGUMENT...]: those that the kernel does not forget by itself.
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

# undo_entry ADDRESS WORD...: a neighbour
undo_entry() {
	! $present || at ip neigh replace "$@" dev "$interface"
}

# As earlier versions saved it.
undo_neighbour() {
	undo_entry "$1" lladdr "$2" nud permanent
}

# scan_proxies FUNCTION [ARGUMENT...]: addresses that this host answers for.
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

# scan_fdb FUNCTION [ARGUMENT...]: MACs of others that the interface takes too. Groups are another thing, also where "ip maddr add" made one
# of such a MAC: that is shown here as well.
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

# scan_groups FUNCTION [ARGUMENT...]: MACs of groups that somebody joined by hand.
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

# The part of IPv6 addresses that a router does not give.
remember_token() {
	while read -r -a line; do
		[[ "${line[*]}" != 'token '*" dev $interface" || ${line[1]} = :: ]] || remember token undo_token "${line[1]}"
	done < <(quietly ip token show dev "$interface")
}

undo_token() {
	! $present || at ip token set "$1" dev "$interface"
}

# As earlier versions saved it: undo_route FAMILY WORD...
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

# What is saved last is put back first. The first IPv4 address of a network is its primary one; of IPv6 the kernel shows
# the newest one first.
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

# address_words FAMILY ADDRESS WORD...: of "ip -o address show". $words are those that "ip address replace" takes.
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

# files_of_interface: its settings in /proc and /sys, as "PATH:TEXT". A secret that is written sets how addresses are
# made: it is saved last and so put back first.
files_of_interface() {
	as_mounted grep -srH --exclude=stable_secret '' "$proc"/sys/net/{ipv4,ipv6,mpls}/{conf,neigh}/"$interface"
	as_mounted grep -srH '--include=[rx]ps_*' '--include=limit_m*' --include=hold_time --include=tx_maxrate '' \
		"$sys/class/net/$interface/queues/"
	as_mounted grep -sH '' "$proc/sys/net/ipv6/conf/$interface/stable_secret"
}

# as_mounted COMMAND...: with /proc and /sys of the namespace of the interface. It may fail.
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
