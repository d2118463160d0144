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
	remember_neighbours
	remember_routes 4
	remember_routes 6
	remember_link
	remember_addresses
	remember_files '*' "$proc"/sys/net/ipv{4,6}/{conf,neigh}/"$interface"
	remember_files '[rx]ps_*' "$sys/class/net/$interface/queues/"
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

remember_neighbours() {
	local address lladdr text

	while read -r address lladdr text _; do
		[ "$lladdr" != lladdr ] || remember "neighbour $address" undo_neighbour "$address" "$text"
	done < <(at ip neigh show dev "$interface" nud permanent)
}

undo_neighbour() {
	! $present || at ip neigh replace "$1" lladdr "$2" nud permanent dev "$interface"
}

# remember_routes FAMILY: what the kernel or a router makes comes back by itself.
remember_routes() {
	local text

	while IFS= read -r text; do
		case $text in *'proto kernel'* | *'proto ra'* | local* | broadcast* | multicast* | anycast*) continue ;; esac
		text=$(sed -E 's/ (linkdown|dead|offload|rt_offload|trap|rt_trap)\b//g; s/ expires [^ ]+//; s/\\//g' <<<"$text")
		read -r -a line <<<"$text"
		remember "route $1 $text" undo_route "$1" "${line[@]}"
	done < <(at ip "-$1" -o route show table all dev "$interface" 2>/dev/null)
}

undo_route() {
	! $present || at ip "-$1" route replace "${@:2}" dev "$interface"
}

remember_link() {
	read_link
	if [ "${link[up]}" = on ]; then
		remember 'link was' undo_link up
	else
		remember 'link was' undo_link down
	fi
}

# The last address is saved first and so put back last: the first one of a network is its primary address.
remember_addresses() {
	local text i generated=0
	local -a all=()

	mapfile -t all < <(at ip -o addr show dev "$interface")
	! net_get "$proc/sys/net/ipv6/conf/$interface/addr_gen_mode" || generated=$value
	for ((i = ${#all[@]} - 1; i >= 0; i--)); do
		text=${all[i]#*"$interface"}
		case $text in
		*inet6*temporary* | *inet6*dynamic*) continue ;;
		*inet6*'scope link'*) [ "$generated" = 1 ] || continue ;;
		esac
		read -r -a line <<<"${text//\\/ }"
		address_words "${line[@]}"
		remember "address ${line[1]} before" undo_address "${words[@]}"
	done
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

# remember_files PATTERN FOLDER...: the files in these folders whose names match, in the namespace of the interface.
remember_files() {
	local path text

	line=(grep -srH "--include=$1" '' "${@:2}")
	[ -z "$here" ] || line=(ip netns exec "$here" "${line[@]}")
	while IFS=: read -r path text; do
		remember "file $path" undo_net_put "$path" "$text"
	done < <("${line[@]}" || true)
}
