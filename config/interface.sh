# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The interface: its namespace, its properties, and reading and writing its settings.

readonly names='^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}$'
present=true # false: the interface and its settings do not exist any more
space='' # name of its namespace after the step namespace; empty: the current namespace
here=''  # name of its namespace now; empty: the current namespace
declare -a line=()
driver='' bus='' device='' pci='' mac='' phc=''

# locate: sets $here. Fails if the interface does not exist.
locate() {
	here=
	ip -o link show dev "$interface" >/dev/null 2>&1 && return
	here=ns_$interface
	[ -e "$netns/$here" ] && ip -n "$here" -o link show dev "$interface" >/dev/null 2>&1
}

# within NAMESPACE COMMAND...: sets $line to the command for that namespace. nsenter keeps the mounts of /sys and
# tracefs.
within() {
	if [ -z "$1" ]; then
		line=("${@:2}")
	elif [ "$2" = ip ] || [ "$2" = tc ] || [ "$2" = bridge ]; then
		line=("$2" -n "$1" "${@:3}")
	else
		line=(nsenter "--net=$netns/$1" "${@:2}")
	fi
}

at() {
	within "$here" "$@"
	"${line[@]}"
}

# /proc/sys/net shows the namespace of its reader, and /sys/class/net the namespace in which /sys was mounted. "ip netns
# exec" satisfies both.
net_get() {
	if [ -z "$here" ]; then
		get "$1"
	else
		value=$(ip netns exec "$here" cat "$1" 2>/dev/null)
	fi
}

# net_write NAMESPACE FILE VALUE
net_write() {
	if [ -z "$1" ]; then
		put "$2" "$3"
	else
		# shellcheck disable=SC2016 # for the inner shell
		ip netns exec "$1" sh -c 'echo "$1" >"$2"' sh "$3" "$2"
	fi
}

show_net_write() {
	if [ -z "$1" ]; then
		show_put "$2" "$3"
	else
		show ip netns exec "$1" sh -c "$(show_put "$2" "$3")"
	fi
}

undo_net_put() {
	! $present || ! net_get "$1" || [ "$value" = "$2" ] || net_write "$here" "$1" "$2"
}

# settle_net WHAT FILE WANTED
settle_net() {
	if ! net_get "$2"; then
		not_supported "$1"
		return 0
	fi
	change=(net_write "$space" "$2" "$3") back=(undo_net_put "$2" "$value")
	settle "$1" "$value" "$3" net_get "$2"
}

# Finds the properties of the interface in its namespace.
discover() {
	local key rest folder text

	locate || die "there is no interface '$interface', here or in namespace ns_$interface"
	while IFS=: read -r key rest; do
		case $key in
		driver) driver=${rest# } ;;
		bus-info) bus=${rest# } ;;
		esac
	done < <(at ethtool -i "$interface" 2>/dev/null)
	text=$(at ip -o link show dev "$interface")
	key=${text#*: } key=${key%%: *} key=${key%@*}
	[ "$key" = "$interface" ] || die "'$interface' is another name of '$key': use '$key'"
	mac=$(sed -n 's/.*link.ether \([^ ]*\).*/\1/p' <<<"$text")
	[ -n "$mac" ] || die "'$interface' is not an Ethernet interface"
	[[ $bus =~ ^[A-Za-z0-9][A-Za-z0-9:._-]*$ ]] || bus=
	for folder in "$sys/bus"/*/devices/"$bus"; do
		[ -z "$bus" ] || [ ! -d "$folder" ] || device=$folder
	done
	[[ ! $bus =~ ^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$ ]] || pci=$bus
	[ -z "$device" ] || find_vectors "$device"
	discover_clock
}

# "PTP Hardware Clock: 0", or since 6.14 "Hardware timestamp provider index: 0"
discover_clock() {
	local text folder

	phc=${option[ptp-source]:-}
	[ -z "$phc" ] || { phc=/dev/${phc#/dev/} && return; }
	text=$(at ethtool -T "$interface" 2>/dev/null) || text=
	if [[ $text =~ (Clock|provider\ index):\ ([0-9]+) ]]; then
		phc=/dev/ptp${BASH_REMATCH[2]}
	else
		for folder in "$device"/ptp/ptp*; do
			[ -z "$device" ] || [ ! -d "$folder" ] || phc=/dev/${folder##*/}
		done
	fi
}

# For --undo: the device that was found when the interface was prepared.
find_device() {
	local folder

	get "$state/device" && device=$sys/bus/$value bus=${value##*/} || return 0
	for folder in "${device%/*}/../drivers"/*/"$bus"; do
		[ ! -d "$folder" ] || { driver=${folder%/*} && driver=${driver##*/}; }
	done
	find_vectors "$device"
}

print_discovery() {
	local node=none cpu

	if [ -n "$device" ] && get "$device/numa_node" && [ "$value" -ge 0 ]; then
		node=$value
		for cpu in "${option[cpu]:-}" "${option[irq-cpu]:-}"; do
			[ -z "$cpu" ] || [ -d "$sys/devices/system/cpu/cpu$cpu/node$node" ] ||
				note "CPU $cpu is not on node $node, where the card is"
		done
	fi
	say "# driver ${driver:-unknown}, MAC $mac, PCI ${pci:-none}, PTP clock ${phc:-none}, NUMA node $node," \
		"interrupts ${vectors[*]:-none}, namespace ${here:-none}"
}

declare -A link=()

# read_link: $link[up|arp|multicast|carrier|qdisc]
read_link() {
	local text

	text=$(at ip -o link show dev "$interface") || return
	link=([up]=off [arp]=on [multicast]=off [carrier]=off [qdisc]='')
	[[ $text != *[\<,]UP[,\>]* ]] || link[up]=on
	[[ $text != *NOARP* ]] || link[arp]=off
	[[ $text != *[\<,]MULTICAST[,\>]* ]] || link[multicast]=on
	[[ $text != *LOWER_UP* ]] || link[carrier]=on
	[[ ! $text =~ \ qdisc\ ([^ ]+) ]] || link[qdisc]=${BASH_REMATCH[1]}
}

undo_link() {
	! $present || at ip link set dev "$interface" "$@"
}
