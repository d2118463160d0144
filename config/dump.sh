# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# State of the interface and of the host's routes and rules that depend on it: recorded before the first change, and
# compared by --undo at its end. A line has the interfaces that the fact depends on, its name and its value. Left out is
# state that changes by itself: counters, lifetimes, the carrier, entries that the kernel learns or makes for each link.

# fact INTERFACES NAME VALUE
fact() {
	local how=${3//$sep/ }

	printf '%s\n' "$1$sep${2//$sep/ }$sep${how% }"
}

# quietly COMMAND...: runs COMMAND in the namespace of the interface; it may fail.
quietly() {
	at "$@" 2>/dev/null || true
}

# lines NAME: each line of stdin is a fact, named by NAME and the line number.
lines() {
	local text i=0

	while IFS= read -r text; do
		i=$((i + 1))
		fact " $interface " "$1, line $i" "$text"
	done
}

dump() {
	{
		dump_link
		dump_addresses
		dump_fib
		dump_rules 4
		dump_rules 6
		dump_neighbours
		dump_files
		dump_queueing
		dump_card
	} | sort -u
}

dump_link() {
	local text

	text=$(quietly ip -d -o link show dev "$interface" | sed -E 's/^[0-9]+: [^ ]+: //; s/(NO-CARRIER|LOWER_UP|DORMANT)//g
		s/,+/,/g; s/<,/</; s/,>/>/; s/ state [A-Z]+//; s/ (promiscuity|allmulti|link-netns|link-netnsid) [^ ]+//g
		s/ [a-z_]+_timer +[0-9.]+//g; s/[\\ ]+/ /g')
	fact " $interface " link "$text"
	while IFS= read -r text; do
		fact " $interface " "interface $text" "on $interface"
	done < <(stacked)
}

# Lifetimes, and addresses made by a router or by the IPv6 privacy extensions, change with time and are left out.
dump_addresses() {
	local text i=0

	while IFS= read -r text; do
		text=${text#*"$interface"}
		case $text in *inet6*temporary* | *inet6*dynamic*) continue ;; esac
		text=$(sed -E 's/_lft [0-9]+sec/_lft limited/g; s/ (tentative|dadfailed|optimistic|deprecated)\b//g
			s/[\\ ]+/ /g' <<<"$text")
		read -r -a line <<<"$text"
		if [ "${line[0]}" = inet ]; then
			i=$((i + 1))
			fact " $interface " "address number $i" "${line[*]}"
		else
			fact " $interface " "address ${line[1]}" "${line[*]:2}"
		fi
	done < <(quietly ip -o addr show dev "$interface")
}

dump_fib() {
	local family key
	local -A order=() first=()

	find_addresses
	nexthop_over=()
	scan_nexthops 4 dump_fib_line
	scan_nexthops 6 dump_fib_line
	scan_nexthops groups dump_fib_line
	scan_routes 4 dump_fib_line
	scan_routes 6 dump_fib_line
	for family in 4 6; do
		find_order "$family"
		for key in "${!order[@]}"; do
			fact "${order[$key]}" "order of $key" "${order[$key]}"
		done
	done
}

# Routes over other interfaces count only if they were set by hand. Routes that the kernel makes for each IPv6 link come
# with the carrier, and routes from a router come with its next advertisement.
dump_fib_line() {
	if [[ $fib_devices == *" $interface "* ]]; then
		[[ ! $fib_origin =~ ^(ra|redirect)$ && $fib_strange != expires ]] || return 0
		[[ $fib_origin != kernel || ! $fib_key =~ ^route\ 6\ (.*\ table\ local|fe80::/64|ff00::/8) ]] || return 0
	else
		[[ $fib_origin =~ ^(static)?$ ]] || return 0
	fi
	fact "$fib_devices" "$fib_key" "${fib_words[*]}"
}

# dump_rules FAMILY: "ip rule" shows a rule as "detached" while its interface does not exist.
dump_rules() {
	local text devices

	while IFS= read -r text; do
		devices=
		[[ ! $text =~ \ [io]if\ ([^ ]+) ]] || devices=" ${BASH_REMATCH[1]} "
		read -r -a line <<<"${text//\[detached\]/}"
		fact "$devices" "rule $1 ${line[*]}" there
	done < <(quietly ip "-$1" rule show)
}

dump_neighbours() {
	local text

	scan_neighbours dump_entry neighbour
	scan_proxies dump_entry 'proxy neighbour'
	scan_fdb dump_entry fdb
	scan_groups dump_entry group
	while IFS= read -r text; do
		[[ "$text " != *" dev $interface "* ]] || fact " $interface " "$text" there
	done < <({
		quietly ip token show dev "$interface"
		quietly ip addrlabel show
		quietly ip mptcp endpoint show
	} | sort -u)
}

# dump_entry KIND ADDRESS WORD...
dump_entry() {
	fact " $interface " "$1 $2" "${*:3} there"
}

dump_files() {
	local path text

	while IFS=: read -r path text; do
		fact " $interface " "${path#"$root"}" "$text"
	done < <(files_of_interface)
}

dump_queueing() {
	local where

	quietly tc qdisc show dev "$interface" | sed 's/ refcnt [0-9]*//' | lines 'queueing discipline'
	for where in root ingress egress; do
		quietly tc filter show dev "$interface" "$where" | lines "filter at $where"
	done
}

# With adaptive moderation some drivers report the values that they chose last.
dump_card() {
	local group

	for group in -a -c -g -k -l -n -x --show-priv-flags; do
		quietly ethtool "$group" "$interface" | sed -E '/ negotiated:/d; /^Adaptive RX: on/,$ { /^rx-(usecs|frames):/d; }
			/^Adaptive.*TX: on/,$ { /^tx-(usecs|frames):/d; }' | lines "ethtool $group"
	done
}

# ---- Compared --------------------------------------------------------------------------------------------------------

declare -a differences=()

# compare_dump: true if the state is as recorded; else $differences has a line for each difference.
compare_dump() {
	local devices what how
	local -A there=() new=() wanting=() waiting=()

	differences=()
	while IFS=$sep read -r devices what how; do
		there[$what$sep$how]=$devices
	done < <(dump)
	while IFS=$sep read -r devices what how; do
		if pass_fact "$devices" "$what" "$how"; then
			waiting[$what]=yes
		elif [ -z "${there[$what$sep$how]+is}" ]; then
			wanting[$what]=$how
		fi
		there[$what$sep$how]=''
	done <"$state/before"
	for what in "${!there[@]}"; do
		[[ ${there[$what]} != *" $interface "* ]] || new[${what%%"$sep"*}]=${what#*"$sep"}
	done
	for what in "${!wanting[@]}"; do
		differ "$what" "${wanting[$what]}" "${new[$what]:-not there}"
	done
	for what in "${!new[@]}"; do
		[ -n "${wanting[$what]:-}${waiting[$what]:-}" ] || differ "$what" 'not there' "${new[$what]}"
	done
	[ ${#differences[@]} -eq 0 ]
}

# differ NAME BEFORE NOW: adds a difference. Equal words at the end are cut; equal words at the start, except the last.
differ() {
	local -a before now

	read -r -a before <<<"$2"
	read -r -a now <<<"$3"
	while [ -n "${before[2]:-}" ] && [ "${before[*]:0:2}" = "${now[*]:0:2}" ]; do
		before=("${before[@]:1}") now=("${now[@]:1}")
	done
	while [ -n "${before[2]:-}" ] && [ -n "${now[2]:-}" ] && [ "${before[-1]}" = "${now[-1]}" ]; do
		unset 'before[-1]' 'now[-1]'
	done
	differences+=("$1: was '${before[*]}', is '${now[*]}'")
}

# pass_fact INTERFACES NAME VALUE: moves a fact that depends on another prepared port to that port's record: it is
# restored with that port and compared then.
pass_fact() {
	local name text
	local -a ports

	read -r -a ports <<<"$1 ${passed[$2]:-}"
	for name in "${ports[@]}"; do
		[ "$name" != "$interface" ] && [ -s "$states/$name/undo" ] && [ -e "$states/$name/before" ] || continue
		[ "$mode" = undo ] || return 0
		{
			while IFS= read -r text; do
				[[ $text == *"$sep$2$sep"* ]] || printf '%s\n' "$text"
			done <"$states/$name/before"
			fact "$@"
		} | replace "$states/$name/before"
		return 0
	done
	return 1
}
