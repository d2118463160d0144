# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Routes and nexthop objects. When an interface leaves a namespace, the kernel drops all routes over it, including
# multipath routes that use other interfaces too, and IPv4 routes with a source address of the interface. Routes created
# by the kernel or a router return without help. If an interface loses its carrier, the kernel drops its nexthop objects
# with their routes: that may be the interface at the other end of the cable.

# The route or nexthop object that was read last:
fib_key=''     # unique key: "route 4 10.0.0.0/8 table 7 metric 5"
fib_words=()   # arguments for "ip route replace" or "ip nexthop replace"
fib_devices='' # its interfaces, and the interface that has its source address
fib_origin=''  # its protocol (proto)
fib_source=''  # its source address
fib_needs=''   # its requirement: via, a route to the gateway; nhid, a nexthop object
fib_strange='' # a word that this script does not know, so the route cannot be restored
declare -A addresses_on=() # the interfaces of an address
declare -A nexthop_over=() # the interfaces of a nexthop object

find_addresses() {
	local name address

	addresses_on=()
	while read -r _ name _ address _; do
		addresses_on[${address%/*}]+=" $name "
	done < <(at ip -o addr show 2>/dev/null || true)
}

# parse_route FAMILY WORD...: the words of a line of "ip -o route show table all".
parse_route() {
	local family=$1 i=2 n scope=global nhid='' word
	local -a all=("$@") kind=() piece

	fib_words=() fib_devices='' fib_origin='' fib_source='' fib_needs='' fib_strange=''
	[[ ! $2 =~ ^(unicast|local|broadcast|multicast|anycast|unreachable|blackhole|prohibit|throw)$ ]] || i=3
	kind=("${all[@]:1:i-1}")
	fib_key="route $family ${all[i - 1]}"
	for (( ; i < ${#all[@]}; i += n + 1)); do
		word=${all[i]} n=1
		case $word in
		onlink | nexthop) n=0 ;;
		linkdown | dead | unresolved | offload | rt_offload | offload_failed | rt_offload_failed | trap | rt_trap)
			n=0
			continue
			;;
		error) continue ;;
		via | mtu | advmss | hoplimit | rtt | rttvar | rto_min | window | cwnd | ssthresh | reordering | initcwnd | \
			initrwnd | quickack | congctl | features | fastopen_no_cookie)
			[[ ! ${all[i + 1]:-} =~ ^(inet|inet6|lock)$ ]] || n=2
			;;
		from | tos | table | metric) fib_key+=" $word ${all[i + 1]}" ;;
		dev | weight | nhid | proto | scope | src | pref | realm | realms) ;;
		*) fib_strange=${fib_strange:-$word} n=0 ;;
		esac
		piece=("${all[@]:i:n+1}")
		note_piece
		fib_words+=("${piece[@]}")
	done
	# ip guesses a missing scope, and all words after the first "nexthop" belong to that nexthop.
	[ "$family" = 6 ] || [ -z "$scope" ] || kind+=(scope "$scope")
	fib_words=("${kind[@]}" "${fib_words[@]}")
}

# note_piece: evaluates $piece, a word of a route with its values.
note_piece() {
	case ${piece[0]} in
	proto) fib_origin=${piece[1]} ;;
	src) fib_source=${piece[1]} ;;
	scope) scope='' ;;
	nhid) nhid=${piece[1]} fib_needs=nhid ;;
	via) fib_needs=${fib_needs:-via} ;;
	dev) fib_devices+=" ${piece[1]} " ;;
	# ip locks this metric without the word "lock".
	rto_min) piece=(rto_min "${piece[-1]}") ;;
	esac
	# The nexthop object has the interface and gateway.
	[ -z "$nhid" ] || [[ ! ${piece[0]} =~ ^(via|dev|weight|onlink|nexthop)$ ]] || piece=()
}

# with_source FAMILY: adds the interface of the source address. Only IPv4 routes are lost together with the address.
with_source() {
	local -a holders

	[ -n "$fib_source" ] && [ "$fib_origin" != kernel ] || return 0
	read -r -a holders <<<"${addresses_on[$fib_source]:-}"
	[ ${#holders[@]} -eq 1 ] && { [ "$1" = 4 ] || [ "${holders[0]}" != "$interface" ]; } || return 0
	[[ $fib_devices == *" ${holders[0]} "* ]] || fib_devices+=" ${holders[0]} "
}

# scan_routes FAMILY FUNCTION [ARGUMENT...]: calls FUNCTION for each route that could be lost with the interface, or
# that was set by hand. A router may have a million other routes.
scan_routes() {
	local text

	while IFS= read -r text; do
		text+=' '
		[[ $text != *' proto '* || $text == *' proto static '* || $text == *" dev $interface "* || $text == *' src '* ||
			$text == default\ * ]] || continue
		read -r -a line <<<"${text//\\/ }"
		parse_route "$1" "${line[@]}"
		with_source "$1"
		"${@:2}"
	done < <(at ip "-$1" -o route show table all 2>/dev/null || true)
}

# parse_nexthop WORD...: the words of a line of "ip nexthop show".
parse_nexthop() {
	local i n word id=$2

	fib_key="nexthop $2" fib_words=() fib_devices='' fib_origin='' fib_source='' fib_needs='' fib_strange=''
	local -a all=("$@") members
	for ((i = 0; i < $#; i += n + 1)); do
		word=${all[i]} n=1
		case $word in
		id | via | dev | group | proto) fib_words+=("${all[@]:i:2}") ;;
		onlink | blackhole | fdb) fib_words+=("$word") n=0 ;;
		scope) continue ;;
		linkdown | dead | unresolved | offload | trap) n=0 && continue ;;
		*) fib_strange=${fib_strange:-$word} n=0 ;;
		esac
		case $word in
		proto) fib_origin=${all[i + 1]} ;;
		dev) fib_devices=" ${all[i + 1]} " ;;
		group)
			read -r -a members <<<"${all[i + 1]//\// }"
			for word in "${members[@]}"; do
				fib_devices+=${nexthop_over[${word%,*}]:-}
			done
			;;
		esac
	done
	nexthop_over[$id]=$fib_devices
}

# scan_nexthops 4|6|groups FUNCTION [ARGUMENT...]: groups after their members.
scan_nexthops() {
	local text
	local -a which=("-$1")

	[ "$1" != groups ] || which=()
	while IFS= read -r text; do
		[[ $1 == groups && $text == *' group '* || $1 != groups && $text != *' group '* ]] || continue
		read -r -a line <<<"$text"
		[ "${line[0]:-}" = id ] || continue
		parse_nexthop "${line[@]}"
		"${@:2}"
	done < <(at ip "${which[@]}" nexthop show 2>/dev/null || true)
}

# is_lost: it is lost with the interface, and nothing else restores it.
is_lost() {
	[[ $fib_devices == *" $interface "* && ! $fib_origin =~ ^(kernel|ra|redirect)$ ]]
}

# may_go: it was set by hand, and is lost if its interface loses its carrier.
may_go() {
	[[ $fib_origin =~ ^(static)?$ && ($fib_key == nexthop* || $fib_needs == nhid) ]]
}

# find_order FAMILY: finds networks with kernel routes over this and other interfaces, of which the kernel uses the
# first route: $order has the interfaces and $first the words of the first route, by key.
find_order() {
	local key

	order=() first=()
	scan_routes "$1" note_order
	for key in "${!order[@]}"; do
		[[ ${order[$key]} == *" $interface "* && ${order[$key]// $interface /} == *[!\ ]* ]] || unset "order[$key]"
	done
}

note_order() {
	[[ $fib_origin == kernel && -z $fib_strange && $fib_key != *' table local'* ]] || return 0
	[[ $fib_key != 'route 6 '@(fe80::/64|ff00::/8)* ]] || return 0
	[ -n "${order[$fib_key]:-}" ] || first[$fib_key]="${fib_words[*]}"
	order[$fib_key]+=$fib_devices
}

# ---- Restore ---------------------------------------------------------------------------------------------------------

# The line saved first is restored last. Order of restoring: routes without requirements, then nexthop objects, then
# routes that need these objects or a gateway.
remember_fib() {
	local family key
	local -A order=() first=()

	find_addresses
	nexthop_over=()
	scan_nexthops 4 :
	scan_nexthops 6 :
	find_order 4
	for key in "${!order[@]}"; do
		read -r -a words <<<"${first[$key]}"
		remember "order of $key" undo_fib 4 "${order[$key]}" route first "${words[@]}"
	done
	for family in 4 6; do
		scan_routes "$family" remember_route "$family" via
		scan_routes "$family" remember_route "$family" nhid
	done
	scan_nexthops groups remember_fib_line any nexthop
	scan_nexthops 4 remember_fib_line 4 nexthop
	scan_nexthops 6 remember_fib_line 6 nexthop
	scan_routes 4 remember_route 4 ''
	scan_routes 6 remember_route 6 ''
}

# remember_route FAMILY NEEDS
remember_route() {
	[ "$fib_needs" != "$2" ] || remember_fib_line "$1" route
}

# remember_fib_line FAMILY route|nexthop
remember_fib_line() {
	if is_lost; then
		remember "$fib_key" undo_fib "$1" "$fib_devices" "$2" replace "${fib_words[@]}"
	elif may_go; then
		remember "$fib_key" undo_fib "$1" "$fib_devices" "$2" add "${fib_words[@]}"
	fi
}

# undo_fib 4|6|any INTERFACES route|nexthop replace|add|first WORD...: nexthop objects need a carrier, and an IPv6
# address can be the source of a route only after duplicate address detection.
undo_fib() {
	local text
	local -a change=(at ip "-$1" "${@:3}")

	$present || return 0
	if [ "$4" = first ]; then
		put_first "${@:5}" && is_complete "$2"
		return
	fi
	[ "$1" != any ] || change=(at ip "${@:3}")
	text=$("${change[@]}" 2>&1) || case $4/$text in
	add/*'File exists'*) ;;
	*arrier*) wait_until "${change[@]}" || wait_until "${change[@]}" ;;
	*'Invalid source'*) has_source "${@:5}" && wait_until "${change[@]}" ;;
	*) printf '%s\n' "$text" && return 1 ;;
	esac
}

# has_source WORD...: true if the source address exists.
has_source() {
	while [ "$1" != src ]; do
		shift
	done
	[ -n "$(at ip -o addr show to "$2")" ]
}

# is_complete INTERFACES: none of them is still prepared; else the order is corrected when that interface returns.
is_complete() {
	local name
	local -a ports

	read -r -a ports <<<"$1"
	for name in "${ports[@]}"; do
		[ "$name" = "$interface" ] || [ ! -s "$states/$name/undo" ] || return 1
	done
}

# put_first WORD...: moves this kernel route before other routes to the same network.
put_first() {
	local key wanted text

	parse_route 4 "$@"
	key=$fib_key wanted=${fib_words[*]}
	while IFS= read -r text; do
		read -r -a line <<<"$text"
		parse_route 4 "${line[@]}"
		[ "$fib_key" != "$key" ] || break
	done < <(quietly ip -4 -o route show exact "$1" proto kernel)
	[ "$fib_key ${fib_words[*]}" = "$key $wanted" ] || { at ip -4 route del "$@" && at ip -4 route prepend "$@"; }
}

# add_others: saves routes that may be lost with the carrier when the interface returns. They are restored last.
add_others() {
	local here=''

	[ -e "$state/before" ] || return 0
	{
		find_addresses
		nexthop_over=()
		scan_nexthops 4 :
		scan_nexthops 6 :
		scan_routes 4 add_other 4 route
		scan_routes 6 add_other 6 route
		scan_nexthops groups add_other any nexthop
		scan_nexthops 4 add_other 4 nexthop
		scan_nexthops 6 add_other 6 nexthop
		[ ! -e "$state/undo" ] || cat "$state/undo"
	} | replace "$state/undo"
	load_state
}

# add_other FAMILY route|nexthop
add_other() {
	local IFS=$sep

	[ -z "${saved[$fib_key]:-}" ] && may_go || return 0
	grep -qF "$sep$fib_key$sep" "$state/before" || fact "$fib_devices" "$fib_key" "${fib_words[*]}" >>"$state/before"
	printf '%s\n' "$fib_key${sep}0${sep}undo_fib$sep$1$sep$fib_devices$sep$2${sep}add$sep${fib_words[*]}$sep."
}

# ---- Refused ---------------------------------------------------------------------------------------------------------

# check_fib FAMILY...: ends this script if a route or nexthop object of these families would be lost for good.
check_fib() {
	local family
	local -A seen=()

	find_addresses
	nexthop_over=()
	for family in "$@"; do
		scan_nexthops "$family" check_strange
		seen=()
		scan_routes "$family" count_key
		scan_routes "$family" check_strange
	done
	scan_nexthops groups check_strange
}

count_key() {
	seen[$fib_key]=$((${seen[$fib_key]:-0} + 1))
}

check_strange() {
	is_lost || return 0
	[ -z "$fib_strange" ] ||
		die "'$fib_key' uses '$interface', and its '$fib_strange' cannot be restored: remove it first"
	[ "${seen[$fib_key]:-1}" -eq 1 ] ||
		die "'$fib_key' uses '$interface' and exists ${seen[$fib_key]} times, in an order that cannot be" \
			"restored: give each a different metric"
}
