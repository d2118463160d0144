#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prepares a network interface and two CPUs for a latency measurement, and takes everything back: config.sh --help.
#
# Each step reads what is, and hands what it wants to settle(): what, the value now, the value wanted, the command that
# makes the change ($change) and the one that takes it back ($back). settle() then prints, compares or makes it, by mode, so
# that the plan, the change and the verification cannot differ. The command that takes it back is saved before the change is
# made, and all of these can be repeated: whenever this script ends, by SIGKILL too, --undo finds what it needs.
#
# For tests: CONFIG_ROOT=DIR stands before /sys, /proc and /run; CONFIG_KILL_AFTER=STEP or =N kills this script after that
# step, or between saving the N-th change and making it.
#
# "a && b || continue" is meant as it stands; functions are called by name.
# shellcheck disable=SC2015,SC2317
set -eEuo pipefail
export LC_ALL=C
umask 077

readonly root=${CONFIG_ROOT:-}
readonly sys=$root/sys proc=$root/proc netns=$root/run/netns tracing=$root/sys/kernel/tracing
readonly states=$root/run/rant-config
readonly sep=$'\x1f' # between the fields of a saved line: no space to "read", so that empty fields survive

readonly ring_entries=512 idle_latency_us=2 trace_kb=16384 trace_clock=mono_raw wait_s=5
readonly events='irq/irq_handler_entry irq/irq_handler_exit net/napi_gro_receive_entry sched/sched_switch'

readonly steps_help='
namespace  ns_<interface> is made and the interface moved into it
queues     one queue; the interrupts of the other ports of this driver stay where they were
rings      512 descriptors each, or the nearest that the driver takes
offloads   checksums, segmentation (TSO, GSO), merging (GRO, LRO) off
coalescing one interrupt for each packet: rx-usecs 0, rx-frames 1, adaptive off
pause      flow control off
flags      private flags of the driver that are known to cost latency, if it lists them
napi       no deferred interrupts; with --busy-poll the pair that makes "rant --prefer-busypoll" effective
network    address, static neighbour, no IPv6, multicast, ARP or queueing discipline; link up
cpus       other interrupts, tasks and kernel work away from both CPUs
irqs       vectors of the interface to the IRQ CPU; priorities of interrupt threads and ksoftirqd
power      with --cpu-power: governor "performance", no idle state slower than 2 us, on both CPUs
pcie       no link power saving (ASPM) between the card and its port, no runtime power management
ptp        phc2sys keeps the clock of this interface with the system clock, or with --ptp-sync-to
trace      with --trace: the ftrace instance "rant"'
steps=$(sed -n 's/^\([a-z]*\) .*/\1/p' <<<"$steps_help")
readonly steps

# GROUP: what ethtool shows it with, and sets it with.
declare -rA shows=([channels]=-l [ring]=-g [offload]=-k [coalesce]=-c [pause]=-a [flag]=--show-priv-flags)
declare -rA sets=([channels]=-L [ring]=-G [offload]=-K [coalesce]=-C [pause]=-A [flag]=--set-priv-flags)

# driver flag value. What it is good for:
# rx_cqe_moder, tx_cqe_moder: the moderation timer starts anew with each completion.  rx_cqe_compress: completions wait for
# each other.  rx_striding_rq: one descriptor for many packets.  legacy-rx: a copy for each packet.  flow-director-atr:
# the queue of a flow is learnt from what is sent.  fw-lldp-agent, disable-fw-lldp: the firmware sends LLDP by itself.
# ena lists no flag that matters here.
readonly driver_flags='
mlx5_core rx_cqe_moder off
mlx5_core tx_cqe_moder off
mlx5_core rx_cqe_compress off
mlx5_core rx_striding_rq off
mlx5_core tx_port_ts off
ice legacy-rx off
ice fw-lldp-agent off
igb legacy-rx off
igc legacy-rx off
i40e legacy-rx off
i40e flow-director-atr off
i40e disable-fw-lldp on
ixgbe legacy-rx off'

# ---- Saying things ---------------------------------------------------------------------------------------------------

interface=''
declare -a notes=() absent=()

say() {
	printf '%s: %s\n' "${interface:-config.sh}" "$*"
}

die() {
	printf 'config.sh: %s\n' "$*" >&2
	exit 1
}

note() {
	notes+=("$*")
}

# not_supported WHAT: this interface or this machine has no such thing.
not_supported() {
	absent+=("$*")
}

usage() {
	cat <<-'END'
		config.sh INTERFACE --ip ADDR[/LENGTH] --remote-ip ADDR --cpu N --irq-cpu N [OPTION...]
		config.sh INTERFACE --verify | --undo

		  --ip ADDR[/LENGTH]   address of the interface, /24
		  --remote-ip ADDR     address of the other side
		  --remote-mac MAC     its MAC; without it: asked for by ARP, before ARP is turned off
		  --cpu N              the CPU of rant
		  --irq-cpu N          the CPU of the interrupts
		  --busy-poll US       for rant's --busy-poll-us; 0
		  --ptp-source DEV     the PTP clock of this interface, as found: /dev/ptp0 and so on
		  --ptp-sync-to DEV    what it follows, the system clock: for a second port the clock of the first
		  --no-namespace       same as --skip namespace
		  --no-ptp             same as --skip ptp
		  --irq-prio N         FIFO priority of the threads of its interrupts, 55
		  --ksoftirqd-prio N   FIFO priority of ksoftirqd on both CPUs, 11
		  --demote-irqs        interrupt threads that cannot leave both CPUs lose their FIFO priority
		  --cpu-power          see "power"
		  --trace              see "trace"
		  --only STEP[,STEP]   nothing but these steps
		  --skip STEP[,STEP]   not these steps
		  --dry-run            print the commands, with the values they replace; change nothing
		  --verify             is every setting still in force? Exit status 1 if not. Options: those last applied
		  --undo               take everything back
		  --help

		Steps:
	END
	printf '%s\n' "${steps_help:1}" | sed 's/^/  /'
}

# ---- Options ---------------------------------------------------------------------------------------------------------

mode=apply
declare -A option=([irq-prio]=55 [ksoftirqd-prio]=11 [busy-poll]=0)
skip=, only=

# steps_of OPTION LIST
steps_of() {
	local step

	for step in ${2//,/ }; do
		grep -qx -- "$step" <<<"$steps" || die "$1: there is no step '$step'; there are: ${steps//$'\n'/ }"
	done
}

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--ip | --remote-ip | --remote-mac | --cpu | --irq-cpu | --busy-poll | --ptp-source | --ptp-sync-to | --irq-prio | \
			--ksoftirqd-prio | --only | --skip)
			[ $# -ge 2 ] || die "$1 needs a value: see --help"
			option[${1#--}]=$2
			shift
			;;
		--no-namespace | --no-ptp) skip+=${1#--no-}, ;;
		--demote-irqs | --cpu-power | --trace) option[${1#--}]=yes ;;
		--dry-run | --verify | --undo)
			[ "$mode" = apply ] || [ "$mode" = "${1#--}" ] || die "--$mode and $1 exclude each other"
			mode=${1#--}
			;;
		-*) die "unknown option '$1': see --help" ;;
		*)
			[ -z "$interface" ] || [ "$interface" = "$1" ] || die "one interface at a time: '$interface' or '$1'?"
			interface=$1
			;;
		esac
		shift
	done
}

# chosen STEP
chosen() {
	case $1 in
	power) [ -n "${option[cpu-power]:-}" ] || [[ ,$only, == *,power,* ]] || return 1 ;;
	trace) [ -n "${option[trace]:-}" ] || [[ ,$only, == *,trace,* ]] || return 1 ;;
	esac
	[[ $skip != *,$1,* ]] && { [ -z "$only" ] || [[ ,$only, == *,$1,* ]]; }
}

is_ipv4() {
	local part

	[[ $1 =~ ^[0-9]{1,3}(\.[0-9]{1,3}){3}$ ]] || return 1
	for part in ${1//./ }; do
		((10#$part <= 255)) || return 1
	done
}

# number OPTION LOW HIGH
number() {
	[[ ${option[$1]:-} =~ ^[0-9]{1,7}$ ]] && ((10#${option[$1]} >= $2 && 10#${option[$1]} <= $3)) ||
		die "--$1: '${option[$1]:-}' is not a number from $2 to $3"
	option[$1]=$((10#${option[$1]}))
}

check_cpu() {
	local online=1 directory

	[ -n "${option[$1]:-}" ] || die "--$1 is missing: see --help"
	number "$1" 0 65535
	directory=$sys/devices/system/cpu/cpu${option[$1]}
	[ -d "$directory" ] || die "--$1: there is no CPU ${option[$1]}"
	[ ! -e "$directory/online" ] || read -r online <"$directory/online"
	[ "$online" = 1 ] || die "--$1: CPU ${option[$1]} is offline"
}

check_addresses() {
	local ip=${option[ip]:-} remote

	remote=${option[remote-ip]:-}
	[ -n "$ip" ] || die "--ip is missing: see --help"
	[ -n "$remote" ] || die "--remote-ip is missing: see --help"
	[[ $ip == */* ]] || ip=$ip/24
	is_ipv4 "${ip%/*}" && [[ ${ip#*/} =~ ^[0-9]{1,2}$ ]] && ((10#${ip#*/} >= 1 && 10#${ip#*/} <= 32)) ||
		die "--ip: '${option[ip]}' is not an IPv4 address with its prefix length, as 192.168.10.1/24"
	is_ipv4 "$remote" || die "--remote-ip: '$remote' is not an IPv4 address"
	[ "$remote" != "${ip%/*}" ] || die "--remote-ip: '$remote' is the address of this side"
	option[ip]=$ip
	[ -z "${option[remote-mac]:-}" ] || check_mac "${option[remote-mac]}"
}

check_mac() {
	[[ $1 =~ ^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$ ]] || die "--remote-mac: '$1' is not a MAC, as 52:54:00:00:00:01"
	(((16#${1:0:2} & 1) == 0)) && [ "$1" != 00:00:00:00:00:00 ] || die "--remote-mac: '$1' is not the MAC of one interface"
	option[remote-mac]=${1,,}
}

check_options() {
	local name

	steps_of --only "${option[only]:-}"
	steps_of --skip "${option[skip]:-}"
	only=${option[only]:-} skip=$skip${option[skip]:-},
	! chosen network || check_addresses
	for name in cpus irqs power trace; do
		! chosen "$name" || { check_cpu cpu && check_cpu irq-cpu; }
	done
	[ -z "${option[cpu]:-}" ] || [ "${option[cpu]}" != "${option[irq-cpu]:-}" ] ||
		die "--cpu and --irq-cpu are both ${option[cpu]}: rant and the interrupts need a CPU each"
	number irq-prio 1 99
	number ksoftirqd-prio 1 99
	number busy-poll 0 1000000
	for name in ptp-source ptp-sync-to; do
		[[ ${option[$name]:-/dev/ptp0} =~ ^(/dev/)?ptp[0-9]{1,4}$ ]] ||
			die "--$name: '${option[$name]}' is not a PTP clock, as /dev/ptp0"
	done
}

# ---- State: what takes changes back ----------------------------------------------------------------------------------

state='' # the folder of this interface
alterations=0
declare -A saved=() refused=()
declare -a records=()

# The folder is only used if nobody but this user could write in it.
open_states() {
	local folder

	exec 9>"$states.lock"
	flock -w 60 9 || die "another config.sh holds $states.lock: wait for it"
	for folder in "$states" "$state"; do
		mkdir -m 0700 "$folder" 2>/dev/null || true
		[ -d "$folder" ] && [ ! -L "$folder" ] && [ -O "$folder" ] || die "$folder is not a folder of root's: remove it"
		chmod 0700 "$folder"
	done
	[ -e "$state/boot" ] || cp "$proc/sys/kernel/random/boot_id" "$state/boot"
}

# replace FILE: stdin becomes its content, at once or not at all.
replace() {
	cat >"$1.new"
	mv "$1.new" "$1"
}

# read_records FOLDER: into $records. A line without its end was cut off when the script was killed; its change was not made.
read_records() {
	local line

	records=()
	[ -e "$1/undo" ] || return 0
	while IFS= read -r line; do
		[[ $line != *"$sep." ]] || records+=("$line")
	done <"$1/undo"
}

load_state() {
	local line what verb

	read_records "$state"
	saved=() refused=()
	for line in "${records[@]}"; do
		IFS=$sep read -r what _ verb _ <<<"$line"
		saved[$what]=$verb
	done
	[ -e "$state/refused" ] || return 0
	while IFS= read -r line; do
		what=${line%%"$sep"*}
		refused[$what]=${line#*"$sep"}
	done <"$state/refused"
}

# After a crash a line may be incomplete: nothing can be appended to that.
tidy_state() {
	[ ! -e "$state/undo" ] || printf '%s\n' "${records[@]}" | replace "$state/undo"
}

# remember WHAT COMMAND...: what takes it back, once. No fsync: what ends the file system's cache ends the settings too.
remember() {
	local IFS=$sep

	if [ "$mode" != apply ] || [ -n "${saved[$1]:-}" ]; then
		return 0
	fi
	[[ $* != *$'\n'* ]] || die "a line break in what is to be saved: $1"
	printf '%s\n' "$1$sep${EPOCHREALTIME/./}$sep${*:2}$sep." >>"$state/undo"
	saved[$1]=$2
}

# forget PREFIX: nothing of it is to be taken back any more.
forget() {
	local line

	[ "$mode" = apply ] || return 0
	read_records "$state"
	for line in "${records[@]}"; do
		[[ $line == "$1"* ]] || printf '%s\n' "$line"
	done | replace "$state/undo"
	load_state
}

kill_point() {
	[ "${CONFIG_KILL_AFTER:-}" != "$1" ] || kill -KILL $$
}

# ---- One setting -----------------------------------------------------------------------------------------------------

declare -a change=() back=() refusals=() broken=()
value='' required='' in_force=0 made=0
key='' # under which it is saved, if not by what it is called

# settle WHAT NOW WANTED READER...: one setting. READER puts the value into $value. Uses $change, and $back unless empty.
settle() {
	local what=$1 now=$2 wanted=$3

	shift 3
	if [ "$now" = "$wanted" ]; then
		in_force=$((in_force + 1))
		[ "$mode" != verify ] || say "ok: $what is $now"
	elif [ -n "$only_remember" ]; then
		remember "${key:-$what}" "${back[@]}"
	elif [ "$mode" = apply ]; then
		alter "$what" "$now" "$wanted" "$@"
	elif [ "$mode" = dry-run ]; then
		printf '%s  # %s: now %s\n' "$(show "${change[@]}")" "$what" "${now:-none}"
	elif [ "${refused[$what]:-}" = "$wanted$sep$now" ]; then
		refusals+=("$what is $now, wanted $wanted: was refused when it was set")
	else
		broken+=("$what")
		say "not in force: $what is ${now:-none}, wanted $wanted"
	fi
}

alter() {
	local what=$1 now=$2 wanted=$3 status=0

	shift 3
	[ ${#back[@]} -eq 0 ] || remember "${key:-$what}" "${back[@]}"
	alterations=$((alterations + 1))
	kill_point "$alterations"
	"${change[@]}" >"$state/output" 2>&1 </dev/null || status=$?
	value=
	"$@" || true
	if [ "$value" = "$wanted" ]; then
		succeed "$what" "$now" "$wanted"
	else
		refuse "$what" "$wanted" "$status"
	fi
}

# succeed WHAT BEFORE NOW
succeed() {
	in_force=$((in_force + 1)) made=$((made + 1))
	say "set $1: ${2:-none} -> $3"
	[ -z "${refused[$1]:-}" ] || printf '%s\n' "$1$sep" >>"$state/refused"
}

# refuse WHAT WANTED STATUS: $value is what it is.
refuse() {
	local reason='' line

	while IFS= read -r line; do
		reason=${line##*: line [0-9]*: }
	done <"$state/output"
	[ "$3" -ne 0 ] || reason="accepted, but it is not so"
	[ -z "$required" ] || give_up "$1: wanted $2, is ${value:-none}: ${reason:-status $3}"
	refusals+=("$1 is ${value:-none}, wanted $2: ${reason:-status $3}")
	printf '%s\n' "$1$sep$2$sep$value" >>"$state/refused"
}

# must settle ...: without it nothing else makes sense.
must() {
	local required=yes

	"$@"
}

give_up() {
	printf 'config.sh: %s: %s: everything is taken back\n' "$interface" "$*" >&2
	undo_all >&2 || true
	exit 1
}

# By ERR: something that this script did not reckon with.
stumble() {
	[ "$BASH_SUBSHELL" -eq 0 ] || return 0
	trap - ERR
	[ "$mode" != apply ] || give_up "line $1: '$2' failed"
	die "line $1: '$2' failed"
}

# quote WORD: as a shell would take it.
quote() {
	if [[ $1 =~ ^[A-Za-z0-9_./:=@%+,-]+$ ]]; then
		printf '%s' "$1"
	else
		printf '%s' "${1@Q}"
	fi
}

# A command as a shell would take it.
show() {
	local word space_between=''

	case $1 in
	put | net_write | start_daemon)
		"show_$1" "${@:2}"
		return
		;;
	esac
	for word in "$@"; do
		printf '%s' "$space_between"
		quote "$word"
		space_between=' '
	done
}

show_put() {
	printf 'echo %s >%s' "$(quote "$2")" "$(quote "$1")"
}

put() {
	printf '%s\n' "$2" >"$1"
}

# get FILE: its first line into $value.
get() {
	value=
	[ -r "$1" ] && { read -r value || [ -n "$value" ]; } 2>/dev/null <"$1"
}

# settle_file WHAT PATH WANTED
settle_file() {
	if ! get "$2"; then
		not_supported "$1"
		return 0
	fi
	change=(put "$2" "$3") back=(undo_put "$2" "$value")
	settle "$1" "$value" "$3" get "$2"
}

undo_put() {
	! get "$1" || [ "$value" = "$2" ] || put "$1" "$2"
}

# ---- Lists and masks of CPUs -----------------------------------------------------------------------------------------

declare -a cpus=()

# expand LIST: "0-2,5" into $cpus
expand() {
	local part from to

	cpus=()
	for part in ${1//,/ }; do
		from=${part%-*} to=${part#*-}
		for ((; from <= to; from++)); do
			cpus+=("$from")
		done
	done
}

# holds LIST CPU...: one of them
holds() {
	local cpu wanted=" ${*:2} "

	expand "$1"
	for cpu in "${cpus[@]}"; do
		[[ $wanted != *" $cpu "* ]] || return 0
	done
	return 1
}

# minus LIST CPU...: $value is the list without them, written as the kernel does.
minus() {
	local cpu wanted=" ${*:2} " from='' to=''

	expand "$1"
	value=
	for cpu in "${cpus[@]}" end; do
		[[ $wanted != *" $cpu "* ]] || continue
		if [ -n "$to" ] && [ "$cpu" = $((to + 1)) ]; then
			to=$cpu
			continue
		fi
		[ -z "$from" ] || value+=,$from
		[ "$from" = "$to" ] || value+=-$to
		from=$cpu to=$cpu
		[ "$cpu" != end ] || break
	done
	value=${value#,}
}

# mask MASK set|add|clear CPU...: $value is a mask of the same width, "ffffffff,ffffffff", with nothing but these, with these
# too, or without these.
mask() {
	local what=$2 cpu index count word
	local -a words

	IFS=, read -r -a words <<<"$1"
	count=${#words[@]}
	[ "$what" != set ] || words=("${words[@]//[0-9a-f]/0}")
	for cpu in "${@:3}"; do
		index=$((count - 1 - cpu / 32))
		[ "$index" -ge 0 ] || continue
		word=$((16#${words[index]} & ~(1 << cpu % 32)))
		[ "$what" = clear ] || word=$((word | 1 << cpu % 32))
		printf -v "words[$index]" '%0*x' "${#words[index]}" "$word"
	done
	local IFS=,
	value=${words[*]}
}

# ---- The interface ---------------------------------------------------------------------------------------------------

readonly names='^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}$'
present=true # false: it is gone, and what was set on it
space='' # the name of its namespace as it will be; empty: this one
here=''  # the one it is in
driver='' bus='' device='' pci='' mac='' phc=''
declare -a vectors=()

# locate: $here. Fails where there is no such interface.
locate() {
	here=
	ip -o link show dev "$interface" >/dev/null 2>&1 && return
	here=ns_$interface
	[ -e "$netns/$here" ] && ip -n "$here" -o link show dev "$interface" >/dev/null 2>&1
}

# within NAMESPACE COMMAND...: $line is the command there. By nsenter, which leaves /sys and with it tracefs as they are.
within() {
	if [ -z "$1" ]; then
		line=("${@:2}")
	elif [ "$2" = ip ] || [ "$2" = tc ]; then
		line=("$2" -n "$1" "${@:3}")
	else
		line=(nsenter "--net=$netns/$1" "${@:2}")
	fi
}

declare -a line=()

at() {
	within "$here" "$@"
	"${line[@]}"
}

# /sys/class/net and /proc/sys/net show the namespace of their reader, /sys that in which it was mounted: "ip netns exec".
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

# find_vectors DEVICE: the interrupts of a folder of /sys/bus/*/devices, in the order of the card's vectors.
find_vectors() {
	local file
	local -a sorted=()

	for file in "$1"/msi_irqs/*; do
		[ ! -e "$file" ] || sorted[${file##*/}]=${file##*/}
	done
	vectors=("${sorted[@]}")
	if [ ${#vectors[@]} -eq 0 ] && get "$1/irq" && [ "$value" -gt 0 ]; then
		vectors=("$value")
	fi
}

declare -A owner=() # "DEVICE POSITION" of an interrupt

# The number of a vector changes when its card gets more or fewer; its place does not.
find_owners() {
	local folder i
	local -a mine=("${vectors[@]}")

	owner=()
	for folder in "$sys"/bus/*/devices/*/msi_irqs; do
		[ -d "$folder" ] || continue
		folder=${folder%/msi_irqs}
		find_vectors "$folder"
		for i in "${!vectors[@]}"; do
			owner[${vectors[i]}]="${folder#"$sys/bus/"} $i"
		done
	done
	vectors=("${mine[@]}")
}

# undo_affinity DEVICE POSITION CPUS
undo_affinity() {
	find_vectors "$sys/bus/$1"
	[ -z "${vectors[$2]:-}" ] || undo_put "$proc/irq/${vectors[$2]}/smp_affinity_list" "$3"
}

# undo_priority DEVICE POSITION "POLICY PRIORITY"
undo_priority() {
	local name

	find_vectors "$sys/bus/$1"
	[ -n "${vectors[$2]:-}" ] || return 0
	scan_threads
	for name in "${!thread[@]}"; do
		[[ $name != "irq/${vectors[$2]}-"* ]] || undo_thread "$name" "$3" || return
	done
}

# What follows from the name alone, wherever the interface is.
discover() {
	local key rest folder

	locate || die "there is no interface '$interface', here or in namespace ns_$interface"
	while IFS=: read -r key rest; do
		case $key in
		driver) driver=${rest# } ;;
		bus-info) bus=${rest# } ;;
		esac
	done < <(at ethtool -i "$interface" 2>/dev/null)
	mac=$(at ip -o link show dev "$interface" | sed -n 's/.*link.ether \([^ ]*\).*/\1/p')
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

# What would be cut off or lost, and could not be put back.
check_spared() {
	local text kind handle

	[ -z "$here" ] && { chosen namespace || chosen network; } || return 0
	[ -z "$(ip route show default dev "$interface" 2>/dev/null)" ] ||
		die "'$interface' carries the default route of this host: use another interface, or remove that route first"
	chosen namespace || return 0
	text=$(ip -o link show dev "$interface")
	[[ ! $text =~ \ master\ ([^ ]+) ]] ||
		die "'$interface' is a port of '${BASH_REMATCH[1]}': take it out first, or --no-namespace"
	for text in "$sys/class/net/$interface"/upper_*; do
		[ ! -e "$text" ] || die "'${text##*/upper_}' stands on '$interface': remove it first, or --no-namespace"
	done
	while read -r _ kind handle _; do
		[ "$handle" = 0: ] ||
			die "'$interface' has a queueing discipline of its own, $kind $handle: remove it first, or --no-namespace"
	done < <(tc qdisc show dev "$interface" 2>/dev/null)
}

# need TOOL PACKAGE
need() {
	command -v "$1" >/dev/null || die "'$1' is missing: install the package $2"
}

check_tools() {
	need ip iproute2
	need ethtool ethtool
	need flock util-linux
	! chosen namespace || need nsenter util-linux
	! chosen network || need tc iproute2
	! chosen cpus || need taskset util-linux
	! chosen irqs || need chrt util-linux
	[ -z "$pci" ] || ! chosen pcie || need setpci pciutils
	[ -z "$phc" ] || ! chosen ptp || { need phc2sys linuxptp && need setsid util-linux; }
}

# ---- What the interface is before anything changes -------------------------------------------------------------------

# All of it is put back after the interface is back where it was: what is remembered first is put back last, so this is
# in the order: neighbours, routes, link, addresses, settings of the kernel for this interface, queues.
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

undo_nothing() {
	:
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

declare -A link=()

# read_link: $link[up|arp|multicast|qdisc]
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

# Last first: the order of addresses decides which is the primary one.
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

# address_words FAMILY ADDRESS WORD...: as "ip address replace" takes what "ip -o address show" prints, into $words.
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

declare -a words=()

undo_address() {
	! $present || at ip address replace "$@" dev "$interface"
}

# remember_files PATTERN FOLDER...: the files of that name in them, where the interface is now.
remember_files() {
	local path text

	line=(grep -srH "--include=$1" '' "${@:2}")
	[ -z "$here" ] || line=(ip netns exec "$here" "${line[@]}")
	while IFS=: read -r path text; do
		remember "file $path" undo_net_put "$path" "$text"
	done < <("${line[@]}" || true)
}

# ---- Steps: the interface --------------------------------------------------------------------------------------------

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

# undo_move NAMESPACE: as the kernel names it, "net:[4026531840]".
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

declare -A nic=() fixed=() # by "GROUP NAME", and "GROUP NAME max"

# read_ethtool GROUP: into $nic. The texts of ethtool 5 and 6.
read_ethtool() {
	local group=$1 max='' text all key

	all=$(at ethtool "${shows[$group]}" "$interface" 2>/dev/null) || return
	while IFS= read -r text; do
		if [[ $text =~ ^(Adaptive|CQE\ mode)\ RX:\ +([^ ]+)\ +TX:\ +([^ ]+) ]]; then
			key=${BASH_REMATCH[1]// /-} key=${key,,}
			nic["$group $key-rx"]=${BASH_REMATCH[2]} nic["$group $key-tx"]=${BASH_REMATCH[3]}
			continue
		fi
		case $text in
		'Pre-set maximums:'*) max=' max' ;;
		'Current hardware settings:'*) max='' ;;
		esac
		[[ $text =~ ^[[:space:]]*([^:]*[^:[:space:]])[[:space:]]*:[[:space:]]*([^[:space:]]+)(.*)$ ]] || continue
		key="$group ${BASH_REMATCH[1]}$max"
		case $group in channels | ring | pause) key=${key,,} ;; esac
		key=${key/autonegotiate/autoneg}
		nic[$key]=${BASH_REMATCH[2]}
		fixed[$key]=${BASH_REMATCH[3]}
	done <<<"$all"
}

read_ethtool_value() {
	read_ethtool "$1" && value=${nic["$1 $2"]:-}
}

# group GROUP: is there such a thing?
group() {
	read_ethtool "$1" || { not_supported "$1" && return 1; }
}

declare -a wishes=() # "NAME VALUE" of one group, not made yet

# want GROUP NAME WANTED: made by fulfil(), which must follow.
want() {
	local now=${nic["$1 $2"]:-n/a}

	if [ "$now" = n/a ] || { [ "$now" != "$3" ] && [[ ${fixed["$1 $2"]:-} == *fixed* ]]; }; then
		not_supported "$1 $2"
	elif [ "$now" = "$3" ] || [ "$mode" = verify ]; then
		settle "$1 $2" "$now" "$3"
	else
		wishes+=("$2 $3")
	fi
}

# fulfil GROUP: all at once, for some drivers reset the link each time; what that leaves one by one.
fulfil() {
	local wish comment=''
	local -A before=()

	[ ${#wishes[@]} -gt 0 ] || return 0
	for wish in "${wishes[@]}"; do
		before[$wish]=${nic["$1 ${wish% *}"]}
		comment+=", $1 ${wish% *}: now ${before[$wish]}"
	done
	read -r -a words <<<"${wishes[*]}"
	within "$space" ethtool "${sets[$1]}" "$interface" "${words[@]}"
	if [ "$mode" = dry-run ]; then
		printf '%s  # %s\n' "$(show "${line[@]}")" "${comment#, }"
	else
		[ ${#wishes[@]} -eq 1 ] || fulfil_all "$1"
		for wish in "${wishes[@]}"; do
			fulfil_one "$1" "${wish% *}" "${wish#* }" "${before[$wish]}"
		done
	fi
	wishes=()
}

# fulfil_all GROUP: by $line
fulfil_all() {
	local wish

	for wish in "${wishes[@]}"; do
		remember "$1 ${wish% *}" undo_ethtool "$1" "${wish% *}" "${before[$wish]}"
	done
	alterations=$((alterations + 1))
	kill_point "$alterations"
	"${line[@]}" >"$state/output" 2>&1 </dev/null || true
	read_ethtool "$1"
}

# fulfil_one GROUP NAME WANTED BEFORE
fulfil_one() {
	local now=${nic["$1 $2"]}

	if [ "$now" = "$3" ]; then
		succeed "$1 $2" "$4" "$3"
		return
	fi
	within "$space" ethtool "${sets[$1]}" "$interface" "$2" "$3"
	change=("${line[@]}") back=(undo_ethtool "$1" "$2" "$4")
	[ "$1" != ring ] || change=(set_ring "$2" "$3")
	settle "$1 $2" "$now" "$3" read_ethtool_value "$1" "$2"
}

# undo_ethtool GROUP NAME VALUE...
undo_ethtool() {
	local group=$1 i
	local -a different=()

	$present && read_ethtool "$group" || return 0
	shift
	for ((i = 1; i < $#; i += 2)); do
		[ "${nic["$group ${!i}"]:-}" = "${*:i+1:1}" ] || different+=("${@:i:2}")
	done
	[ ${#different[@]} -gt 0 ] || return 0
	[ "$group" != channels ] || remember_siblings
	at ethtool "${sets[$group]}" "$interface" "${different[@]}" || true
	[ "$group" != channels ] || restore_siblings
	read_ethtool "$group"
	for ((i = 0; i < ${#different[@]}; i += 2)); do
		[ "${nic["$group ${different[i]}"]:-}" = "${different[i + 1]}" ] || return 1
	done
}

step_queues() {
	group channels || return 0
	remember_siblings
	if [ "${nic['channels combined max']:-n/a}" != n/a ] && [ "${nic['channels combined max']}" -gt 0 ]; then
		want channels combined 1
	else
		want channels rx 1
		want channels tx 1
	fi
	fulfil channels
	restore_siblings
	forget 'sibling '
	[ -z "$device" ] || find_vectors "$device"
}

declare -A sibling=() # interrupt of another port of the same driver: its CPUs

# On some cards "ethtool -L" for one port sets the interrupts of the other one anew.
remember_siblings() {
	local folder irq own=" ${vectors[*]} "
	local -a mine=("${vectors[@]}")

	sibling=()
	[ -n "$device" ] && [ -n "$driver" ] || return 0
	for folder in "${device%/*}/../drivers/$driver"/*:*; do
		[ -d "$folder" ] && [ "${folder##*/}" != "$bus" ] || continue
		find_vectors "$folder"
		for irq in "${vectors[@]}"; do
			[[ $own != *" $irq "* ]] && get "$proc/irq/$irq/smp_affinity_list" || continue
			sibling[$irq]=$value
			[ "$mode" = undo ] || remember "sibling $irq" undo_put "$proc/irq/$irq/smp_affinity_list" "$value"
		done
	done
	vectors=("${mine[@]}")
}

restore_siblings() {
	local irq path

	for irq in "${!sibling[@]}"; do
		path=$proc/irq/$irq/smp_affinity_list
		get "$path" && [ "$value" != "${sibling[$irq]}" ] || continue
		put "$path" "${sibling[$irq]}" || note "interrupt $irq of another port moved to CPUs $value and cannot be put back"
	done
}

step_rings() {
	local name max wanted

	group ring || return 0
	for name in rx tx; do
		max=${nic["ring $name max"]:-} wanted=$ring_entries
		[[ ! $max =~ ^[0-9]+$ ]] || [ "$max" -ge "$wanted" ] || wanted=$max
		[[ ${nic["ring $name"]:-n/a} == n/a ]] || want ring "$name" "$wanted"
	done
	fulfil ring
}

# set_ring NAME ENTRIES: or the nearest that is taken.
set_ring() {
	local entries max=${nic["ring $1 max"]:-}

	for entries in "$2" 1024 256 2048 128 4096; do
		[[ ! $max =~ ^[0-9]+$ ]] || [ "$entries" -le "$max" ] || continue
		! at ethtool -G "$interface" "$1" "$entries" || return 0
	done
	return 1
}

step_offloads() {
	local pattern key

	group offload || return 0
	for pattern in 'large-receive-offload' 'generic-receive-offload' 'rx-gro-*' 'rx-udp-gro-forwarding' 'tx-tcp*-segmentation' \
		'tx-udp-segmentation' 'tx-gso-list' 'generic-segmentation-offload' 'rx-checksumming' 'tx-checksum-*'; do
		while read -r key; do
			# shellcheck disable=SC2053 # a pattern
			[[ $key == $pattern ]] || continue
			[ "${nic["offload $key"]}" = off ] && [[ ${fixed["offload $key"]} == *fixed* ]] || want offload "$key" off
		done < <(printf '%s\n' "${!nic[@]}" | sed -n 's/^offload //p' | sort)
	done
	fulfil offload
}

step_coalescing() {
	local setting

	group coalesce || return 0
	for setting in adaptive-rx=off adaptive-tx=off cqe-mode-rx=off cqe-mode-tx=off rx-usecs=0 rx-frames=1 tx-usecs=0 \
		tx-frames=1 rx-usecs-irq=0 tx-usecs-irq=0; do
		[ "${nic["coalesce ${setting%=*}"]:-n/a}" = n/a ] || want coalesce "${setting%=*}" "${setting#*=}"
	done
	fulfil coalesce
}

step_pause() {
	group pause || return 0
	want pause autoneg off
	want pause rx off
	want pause tx off
	fulfil pause
}

step_flags() {
	local owner name wanted

	read_ethtool flag || return 0
	while read -r owner name wanted; do
		[ -n "$owner" ] && [ "$owner" = "$driver" ] && [ -n "${nic["flag $name"]:-}" ] || continue
		want flag "$name" "$wanted"
		[ "$name" != tx_port_ts ] || note "tx_port_ts is off: the card stamps what it sends at the completion of DMA, before" \
			"the wire; with it on only PTP (UDP port 319, ethertype 0x88F7) would be stamped at the port"
	done <<<"$driver_flags"
	fulfil flag
}

# Interrupts stay masked while somebody polls at least every gro_flush_timeout nanoseconds.
step_napi() {
	local folder=$sys/class/net/$interface defer=0 timeout_ns=0

	if [ "${option[busy-poll]}" -gt 0 ]; then
		defer=2 timeout_ns=$((option[busy-poll] * 2000))
		[ "$timeout_ns" -ge 200000 ] || timeout_ns=200000
	fi
	settle_net napi_defer_hard_irqs "$folder/napi_defer_hard_irqs" "$defer"
	settle_net gro_flush_timeout "$folder/gro_flush_timeout" "$timeout_ns"
}

# ---- Steps: the network ----------------------------------------------------------------------------------------------

# The neighbour comes after ARP was turned off, which forgets all of them.
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

# As it will be after a move that is only planned: down and without addresses.
read_network() {
	read_link
	read_address
	[ "$mode" = dry-run ] && [ "$here" != "$space" ] || return 0
	link[up]=off link[qdisc]=noop has_address='' value=none
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

# find_peer: $peer, the MAC of the remote address: given, known, that of another port of this host, or asked for.
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
	# Whatever is sent asks for the neighbour first.
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

# read_neighbour: $peer, and $value with its state.
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
	[ "$mode" != dry-run ] || [ "$here" = "$space" ] || link[qdisc]='the default one'
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

# Only one with a handle can be deleted, and then the default one comes back.
undo_qdisc() {
	$present || return 0
	read_link
	[ "${link[qdisc]}" = noqueue ] && [ "$1" != noqueue ] || return 0
	at tc qdisc replace dev "$interface" root handle 1: pfifo && at tc qdisc del dev "$interface" root
}

has_carrier() {
	read_link && [ "${link[carrier]}" = on ]
}

# wait_until COMMAND...
wait_until() {
	local until=$((SECONDS + wait_s))

	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.05
	done
}

# ---- Steps: CPUs and interrupts --------------------------------------------------------------------------------------

readonly policies=(other fifo rr batch iso idle deadline) # by the number in /proc/PID/stat
declare -A thread=()                                     # kernel threads of interest: process by name
irqbalance=''

# scan PID: of /proc/PID/stat: $comm, and $stat from the third field on. Names may hold anything, line breaks too.
scan() {
	local text=''

	comm='' stat=()
	[ -r "$proc/$1/stat" ] || return 1
	{ IFS= read -r -d '' text || true; } 2>/dev/null <"$proc/$1/stat"
	[[ $text == *')'* ]] || return 1
	comm=${text#*(} comm=${comm%)*} comm=${comm//[^[:print:]]/?}
	read -r -a stat <<<"${text##*) }"
	[ ${#stat[@]} -ge 39 ]
}

comm='' stat=()

is_kernel_thread() {
	((stat[6] & 0x200000))
}

scan_threads() {
	local folder

	thread=()
	for folder in "$proc"/[0-9]*; do
		scan "${folder##*/}" || continue
		[ "$comm" != irqbalance ] || irqbalance=${folder##*/}
		! is_kernel_thread || thread[$comm]=${folder##*/}
	done
}

# read_policy PID: "fifo 50"
read_policy() {
	scan "$1" && value="${policies[stat[38]]} ${stat[37]}"
}

# set_policy "POLICY PRIORITY" PID: $line
set_policy() {
	line=(chrt "--${1% *}" -p "${1#* }" "$2")
}

# By name and not by number: links that went down and up have new threads.
undo_thread() {
	local pid

	scan_threads
	pid=${thread[$1]:-}
	if [ -z "$pid" ] || ! read_policy "$pid" || [ "$value" = "$2" ]; then
		return 0
	fi
	set_policy "$2" "$pid"
	"${line[@]}"
}

# settle_thread NAME "POLICY PRIORITY"
settle_thread() {
	local pid=${thread[$1]} now irq=${1#irq/} key=''

	read_policy "$pid" || return 0
	now=$value irq=${irq%%-*}
	set_policy "$2" "$pid"
	change=("${line[@]}") back=(undo_thread "$1" "$now")
	if [[ $1 == irq/* ]] && [ -n "${owner[$irq]:-}" ]; then
		# shellcheck disable=SC2206 # two words
		key="vector ${owner[$irq]} thread" back=(undo_priority ${owner[$irq]} "$now")
	fi
	settle "thread $1" "$now" "$2" read_policy "$pid"
}

# The CPUs that are left for everything else, into $rest.
find_rest() {
	get "$sys/devices/system/cpu/online"
	minus "$value" "${option[cpu]}" "${option[irq-cpu]}"
	rest=$value
}

rest=''

step_cpus() {
	find_rest
	if [ -z "$rest" ]; then
		refusals+=("no CPU is left for the rest: other interrupts and tasks stay where they are")
		return 0
	fi
	find_protected
	find_owners
	use_tuna
	step_cpus_irqs
	settle_mask default_smp_affinity "$proc/irq/default_smp_affinity"
	settle_mask 'workqueue cpumask' "$sys/devices/virtual/workqueue/cpumask"
	step_cpus_tasks
}

declare -A protected=() # interrupts of this interface, and of others that were prepared

find_protected() {
	local folder irq
	local -a mine=("${vectors[@]}")

	protected=()
	for folder in "$states"/*/device; do
		! get "$folder" || { find_vectors "$sys/bus/$value" && mine+=("${vectors[@]}"); }
	done
	for irq in "${mine[@]}"; do
		protected[$irq]=1
	done
	[ -z "$device" ] || find_vectors "$device"
}

step_cpus_irqs() {
	local folder irq path now

	for folder in "$proc"/irq/[0-9]*; do
		irq=${folder##*/} path=$folder/smp_affinity_list
		[ -z "${protected[$irq]:-}" ] && get "$path" && holds "$value" "${option[cpu]}" "${option[irq-cpu]}" || continue
		now=$value
		minus "$now" "${option[cpu]}" "${option[irq-cpu]}"
		settle_affinity "$irq" "${value:-$rest}"
	done
}

# settle_affinity IRQ CPUS
settle_affinity() {
	local path=$proc/irq/$1/smp_affinity_list key=''

	get "$path" || return 0
	change=(put "$path" "$2") back=(undo_put "$path" "$value")
	if [ -n "${owner[$1]:-}" ]; then
		# shellcheck disable=SC2206 # two words
		key="vector ${owner[$1]} affinity" back=(undo_affinity ${owner[$1]} "$value")
	fi
	settle "irq $1 affinity" "$value" "$2" get "$path"
}

# settle_mask WHAT FILE: without both CPUs, if there are others in it.
settle_mask() {
	if ! get "$2"; then
		not_supported "$1"
		return 0
	fi
	mask "$value" clear "${option[cpu]}" "${option[irq-cpu]}"
	[[ $value != *[1-9a-f]* ]] || settle_file "$1" "$2" "$value"
}

# list_tasks: "TASK CPUS" of all that are allowed on both CPUs or one of them.
list_tasks() {
	local text list
	local -A concerned=()

	while IFS= read -r text; do
		list=${text##*[[:space:]]} text=${text%/status*}
		[ -n "${concerned[$list]:-}" ] || concerned[$list]=$(! holds "$list" "${option[cpu]}" "${option[irq-cpu]}" || echo yes)no
		[[ ${concerned[$list]} != yes* ]] || echo "${text##*/} $list"
	done < <(grep -sH '^Cpus_allowed_list:' -- "$proc"/[0-9]*/task/[0-9]*/status || true)
}

step_cpus_tasks() {
	local task list

	get "$proc/uptime"
	remember 'tasks since' undo_heirs "$rest" "$((${value%%.*} * 100))"
	while read -r task list; do
		scan "$task" && [ "$task" != $$ ] && [ "${stat[1]}" != $$ ] || continue
		# PF_NO_SETAFFINITY: threads that the kernel needs on each CPU. Those of interrupts follow their interrupts.
		((!(stat[6] & 0x4000000))) || continue
		! is_kernel_thread || [[ $comm != irq/* ]] || continue
		minus "$list" "${option[cpu]}" "${option[irq-cpu]}"
		if [ -z "$value" ] && [ -z "$only_remember" ]; then
			note "task $task ($comm) is pinned to CPUs $list: it stays"
			continue
		fi
		change=(taskset -p -c "$value" "$task") back=(undo_task "$task" "${stat[19]}" "$list")
		settle "task $task ($comm)" "$list" "$value" read_task "$task" "$value"
	done < <(list_tasks)
}

# read_task TASK WANTED: one that has ended is nowhere.
read_task() {
	value=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$proc/$1/status" 2>/dev/null) || value=
	[ -n "$value" ] || value=$2
}

undo_task() {
	if ! scan "$1" || [ "${stat[19]}" != "$2" ]; then
		return 0
	fi
	taskset -p -c "$3" "$1" || [ ! -e "$proc/$1" ]
}

# undo_heirs LIST SINCE: tasks that began since then, in ticks, inherited the list of those that were moved.
undo_heirs() {
	local task list all

	read_task 1 "$1"
	all=$value
	[ "$all" != "$1" ] || return 0
	while read -r task list; do
		[ "$list" = "$1" ] && scan "$task" && ! is_kernel_thread && [ "${stat[19]}" -ge "$2" ] || continue
		[ "$task" = $$ ] || taskset -p -c "$all" "$task" || [ ! -e "$proc/$task" ]
	done < <(grep -sH '^Cpus_allowed_list:' -- "$proc"/[0-9]*/task/[0-9]*/status |
		sed -E 's|^.*/([0-9]+)/status:.*[[:space:]]|\1 |')
}

# tuna moves all at once, where it works (0.15 without Gtk does not); what it leaves is moved one by one. Not if the vectors
# of another port that was prepared would be moved too.
use_tuna() {
	local only_remember=yes
	local -a command=(tuna isolate "--cpus=${option[cpu]},${option[irq-cpu]}")

	command -v tuna >/dev/null && [ ${#protected[@]} -le ${#vectors[@]} ] || return 0
	if [ "$mode" = dry-run ]; then
		echo "$(show "${command[@]}")  # if it works; what it leaves is moved as follows"
	elif [ "$mode" = apply ] && [ -z "${saved['tasks since']:-}" ]; then
		step_cpus_irqs
		step_cpus_tasks
		! "${command[@]}" >/dev/null 2>&1 </dev/null || say "set interrupts and tasks by: ${command[*]}"
	fi
}

only_remember=

step_irqs() {
	local irq name

	[ ${#vectors[@]} -gt 0 ] || not_supported 'interrupts of the interface'
	find_owners
	for irq in "${vectors[@]}"; do
		settle_affinity "$irq" "${option[irq-cpu]}"
	done
	scan_threads
	for irq in "${vectors[@]}"; do
		for name in "${!thread[@]}"; do
			[[ $name != "irq/$irq-"* ]] || settle_thread "$name" "fifo ${option[irq-prio]}"
		done
	done
	for name in "ksoftirqd/${option[irq-cpu]}" "ksoftirqd/${option[cpu]}"; do
		[ -z "${thread[$name]:-}" ] || settle_thread "$name" "fifo ${option[ksoftirqd-prio]}"
	done
	step_irqs_competitors
	[ -z "$irqbalance" ] ||
		note "irqbalance runs (process $irqbalance) and will move interrupts again: stop it, or ban these CPUs"
}

# Threads of other interrupts that can still run on these CPUs.
step_irqs_competitors() {
	local name irq list competitors=''

	find_protected
	while read -r name; do
		irq=${name#irq/} irq=${irq%%-*}
		[[ $irq =~ ^[0-9]+$ ]] && [ -z "${protected[$irq]:-}" ] && read_policy "${thread[$name]}" || continue
		[[ $value == fifo* || $value == rr* ]] || [ -n "${option[demote-irqs]:-}" ] || continue
		list=$value
		# The effective one is old until the next interrupt: if it may not stay, it does not count.
		! get "$proc/irq/$irq/smp_affinity_list" || holds "$value" "${option[cpu]}" "${option[irq-cpu]}" || continue
		get "$proc/irq/$irq/effective_affinity_list" && holds "$value" "${option[cpu]}" "${option[irq-cpu]}" || continue
		if [ -n "${option[demote-irqs]:-}" ]; then
			settle_thread "$name" 'other 0'
		else
			competitors+=", $name ($list, CPUs $value)"
		fi
	done < <(printf '%s\n' "${!thread[@]}" | sed -n '/^irq\//p' | sort)
	[ -z "$competitors" ] || note "other interrupts compete; --demote-irqs takes their priority: ${competitors#, }"
}

# ---- Steps: power, PCI Express ---------------------------------------------------------------------------------------

step_power() {
	local cpu folder

	for cpu in "${option[cpu]}" "${option[irq-cpu]}"; do
		folder=$sys/devices/system/cpu/cpu$cpu
		settle_file "governor of CPU $cpu" "$folder/cpufreq/scaling_governor" performance
		[ -d "$folder/cpuidle/state0" ] || not_supported "idle states of CPU $cpu"
		for folder in "$folder"/cpuidle/state*; do
			get "$folder/latency" && [ "$value" -gt "$idle_latency_us" ] || continue
			settle_file "idle ${folder##*/} of CPU $cpu" "$folder/disable" 1
		done
	done
}

# The card first and its port after it, and the other way round on the way back, as PCI Express asks for.
step_pcie() {
	local parent

	if [ -z "$pci" ]; then
		not_supported 'PCI Express'
		return 0
	fi
	settle_aspm "$pci"
	parent=$(readlink -f "$device") parent=${parent%/*} parent=${parent##*/}
	[[ ! $parent =~ ^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$ ]] || settle_aspm "$parent"
	settle_file "runtime power management of $pci" "$device/power/control" on
}

# settle_aspm ADDRESS: two bits of the Link Control register, found by the capability and never by an offset of our own.
settle_aspm() {
	if ! read_aspm "$1"; then
		not_supported "ASPM of $1 ($(setpci -s "$1" CAP_EXP+10.w 2>&1 | tail -n 1))"
		return 0
	fi
	change=(setpci -s "$1" CAP_EXP+10.w=0:3) back=(undo_aspm "$1" "$value")
	settle "ASPM of $1" "$value" 0 read_aspm "$1"
}

read_aspm() {
	local text

	text=$(setpci -s "$1" CAP_EXP+10.w 2>/dev/null) && [[ $text =~ ^[0-9a-f]{4}$ ]] && value=$((16#$text & 3))
}

undo_aspm() {
	! read_aspm "$1" || [ "$value" = "$2" ] || setpci -s "$1" "CAP_EXP+10.w=$2:3"
}

# ---- Steps: the clock ------------------------------------------------------------------------------------------------

step_ptp() {
	local source=${option[ptp-sync-to]:-CLOCK_REALTIME} pid=none now
	local -a command

	[ "$source" = CLOCK_REALTIME ] || source=/dev/${source#/dev/}
	if [ -z "$phc" ] || [ "$phc" = "$source" ]; then
		not_supported "synchronisation of its clock (${phc:-it has none})"
		return 0
	fi
	command=(phc2sys -s "$source" -c "$phc" -O 0)
	read_daemon phc2sys "${command[@]}" || true
	now=$value
	if [ "$now" = none ] && other_keeper; then
		return 0
	fi
	remember_frequency
	change=(start_daemon "$state/phc2sys" "${command[@]}") back=(undo_daemon phc2sys "${command[@]}")
	settle phc2sys "$now" "${command[*]}" wait_until read_daemon phc2sys "${command[@]}"
}

# start_daemon FILE COMMAND...: which writes its process number there itself, before it begins.
start_daemon() {
	find_place
	# shellcheck disable=SC2016 # for the inner shell
	setsid bash -c 'echo $$ >"$1"; shift; exec "$@"' bash "$1" "${place[@]}" "${@:2}" </dev/null >/dev/null 2>&1 9>&- &
}

declare -a place=()

# Not on the CPUs of the measurement.
find_place() {
	place=()
	[ -n "${option[cpu]:-}" ] && [ -n "${option[irq-cpu]:-}" ] || return 0
	find_rest
	[ -z "$rest" ] || place=(taskset -c "$rest")
}

show_start_daemon() {
	find_place
	show setsid "${place[@]}" "${@:2}"
	printf ' &'
}

# read_daemon NAME COMMAND...: $value is the command if it is this that runs, with its process in $pid.
read_daemon() {
	local -a arguments=()

	value=none
	get "$state/$1" && [[ $value =~ ^[0-9]+$ ]] || { value=none && return 1; }
	pid=$value value=none
	[ ! -r "$proc/$pid/cmdline" ] || mapfile -d '' -t arguments <"$proc/$pid/cmdline" 2>/dev/null
	[ "${arguments[*]}" = "${*:2}" ] && value=${*:2}
}

undo_daemon() {
	local pid=none

	read_daemon "$@" || return 0
	kill -TERM "$pid" || true
	wait_until daemon_gone "$@" || kill -KILL "$pid" || true
	wait_until daemon_gone "$@"
}

daemon_gone() {
	! read_daemon "$@"
}

# other_keeper: somebody else already keeps this clock, or all of them.
other_keeper() {
	local folder arguments

	for folder in "$proc"/[0-9]*; do
		get "$folder/comm" || continue
		case $value in phc2sys | ptp4l | ts2phc) ;; *) continue ;; esac
		mapfile -d '' -t arguments <"$folder/cmdline" 2>/dev/null || continue
		[[ " ${arguments[*]} " == *[\ /]"${phc##*/} "* || " ${arguments[*]} " == *" $interface "* ||
			" ${arguments[*]} " == *' -a'* ]] || continue
		note "${arguments[0]##*/} (process ${folder##*/}) runs already and may keep $phc: phc2sys is not started"
		return 0
	done
	return 1
}

# phc2sys leaves the frequency that it found; the time of the clock cannot be taken back.
remember_frequency() {
	local text

	[ "$mode" = apply ] && command -v phc_ctl >/dev/null || return 0
	text=$(phc_ctl "$phc" freq 2>/dev/null) || return 0
	[[ ! $text =~ (-?[0-9.]+)ppb ]] || remember "frequency of $phc" undo_frequency "$phc" "${BASH_REMATCH[1]}"
}

undo_frequency() {
	[ ! -e "$1" ] || phc_ctl "$1" -- freq "$2"
}

# ---- Steps: tracing --------------------------------------------------------------------------------------------------

step_trace() {
	local folder=$tracing/instances/rant own=yes name now=none

	if [ ! -d "$tracing/instances" ]; then
		not_supported "tracing (tracefs is not at $tracing)"
		return 0
	fi
	[ ! -d "$folder" ] || now=there
	[ "$now" = none ] || remember 'trace instance' undo_nothing
	[ "$now" = none ] || [[ ${saved['trace instance']:-} == undo_instance ]] || own=
	change=(mkdir "$folder") back=(undo_instance "$folder")
	settle 'trace instance' "$now" there read_folder "$folder"
	trace_file 'trace clock' "$folder/trace_clock" "$trace_clock" read_trace_clock
	trace_buffer "$folder"
	trace_cpus "$folder/tracing_cpumask"
	for name in $events; do
		trace_file "trace event ${name#*/}" "$folder/events/$name/enable" 1 get
	done
	trace_file 'trace snapshot' "$folder/snapshot" 1 read_snapshot
}

read_folder() {
	value=none
	[ ! -d "$1" ] || value=there
}

# trace_file WHAT FILE WANTED READER: in an instance of our own nothing has to be taken back, for it goes as a whole.
trace_file() {
	# What an instance has that is not made yet, the top folder has.
	if ! "$4" "$2" && { [ "$mode" != dry-run ] || [ -e "$folder" ] || [ ! -e "${2/"$folder"/"$tracing"}" ]; }; then
		not_supported "$1"
		return 0
	fi
	change=(put "$2" "$3") back=(undo_trace "$2" "$value")
	[ -z "$own" ] || back=()
	settle "$1" "$value" "$3" "$4" "$2"
}

undo_trace() {
	[ ! -e "$1" ] || put "$1" "$2"
}

# The one in brackets.
read_trace_clock() {
	get "$1" || return
	value=${value#*[} value=${value%%]*}
}

# read_snapshot FILE: 1 if it is allocated, which the kernel says only while there is nothing in it.
read_snapshot() {
	local text

	value=
	[ -r "$1" ] || return
	value=1
	while IFS= read -r text && [[ $text == '#'* ]]; do
		[[ $text != *'Snapshot is freed'* ]] || value=0
	done <"$1"
}

# As much as was wanted, or as a quarter of the memory that is available allows, with a snapshot of the same size.
trace_buffer() {
	local kb=$trace_kb available=0 text

	while read -r text available _; do
		[ "$text" != MemAvailable: ] || break
	done <"$proc/meminfo"
	get "$sys/devices/system/cpu/online"
	expand "$value"
	while [ $((kb * ${#cpus[@]} * 2)) -gt $((available / 4)) ] && [ "$kb" -gt 1024 ]; do
		kb=$((kb / 2))
	done
	[ "$kb" = "$trace_kb" ] || note "a trace buffer of $kb kB for each CPU, for want of memory"
	trace_file 'trace buffer kB' "$1/buffer_size_kb" "$kb" read_buffer
}

# The kernel rounds up.
read_buffer() {
	get "$1" || return
	value=${value%% *}
	[ "$value" -lt "${kb:-0}" ] || value=$kb
}

# With two ports both are traced into the same instance.
trace_cpus() {
	local how=set

	! is_shared 'trace instance' || how=add
	get "$1" || get "$tracing/tracing_cpumask" || return 0
	mask "$value" "$how" "${option[cpu]}" "${option[irq-cpu]}"
	trace_file 'trace CPUs' "$1" "$value" get
}

undo_instance() {
	[ ! -d "$1" ] || rmdir "$1"
}

# ---- Taking back -----------------------------------------------------------------------------------------------------

# Settings of the host and not of one interface: two ports may have changed them, one after the other.
is_of_host() {
	case $1 in
	irq\ * | vector\ * | thread\ * | task\ * | tasks\ * | default_smp_affinity | workqueue\ * | governor\ * | idle\ *) ;;
	ASPM\ * | runtime\ * | trace\ *) ;;
	*) return 1 ;;
	esac
}

# other_record WHAT: the newest of another interface, into $found, of the state in $holder.
other_record() {
	local text

	found='' holder=''
	for holder in "$states"/*/; do
		[ "$holder" != "$state/" ] && [ -e "$holder/undo" ] || continue
		while IFS= read -r text; do
			[[ $text == "$1$sep"*"$sep." ]] && found=$text && return
		done <"$holder/undo"
	done
	return 1
}

found='' holder=''

is_shared() {
	other_record "$1"
}

# hand_over RECORD: if another interface changed the same thing later, it is this one that will put the first value back.
hand_over() {
	local what serial other text
	local -a lines

	IFS=$sep read -r what serial _ <<<"$1"
	is_of_host "$what" && other_record "$what" || return 1
	IFS=$sep read -r _ other _ <<<"$found"
	[ "$other" -ge "$serial" ] || return 1
	[ "$other" != "$serial" ] || return 0
	mapfile -t lines <"$holder/undo"
	for text in "${lines[@]}"; do
		[ "$text" != "$found" ] || text=$1
		printf '%s\n' "$text"
	done | replace "$holder/undo"
}

# take_back RECORD
take_back() {
	local status=0
	local -a fields

	IFS=$sep read -r -a fields <<<"$1"
	if [[ ! ${fields[2]} =~ ^undo_[a-z_]+$ ]] || ! declare -F "${fields[2]}" >/dev/null; then
		echo "'${fields[2]}' is not a command of this config.sh" >"$state/output"
		return 1
	fi
	"${fields[@]:2:${#fields[@]}-3}" >"$state/output" 2>&1 </dev/null || status=$?
	return "$status"
}

declare -A taken=() # indices of records that were taken back with others

# take_back_group INDEX: with all before it that concern the same group of ethtool. Fails if that is not so, or not done.
take_back_group() {
	local i group=''
	local -a fields all=() indices=()

	[ -z "${taken[$1]:-}" ] || return 0
	for ((i = $1; i >= 0; i--)); do
		IFS=$sep read -r -a fields <<<"${records[i]}"
		[ "${fields[2]}" = undo_ethtool ] && [ "${fields[3]}" = "${group:=${fields[3]}}" ] || break
		all+=("${fields[@]:4:2}")
		indices+=("$i")
	done
	[ ${#indices[@]} -gt 1 ] && undo_ethtool "$group" "${all[@]}" >"$state/output" 2>&1 </dev/null || return 1
	for i in "${indices[@]}"; do
		taken[$i]=1
	done
}

# As it was found when the interface was prepared.
find_device() {
	local folder

	get "$state/device" && device=$sys/bus/$value bus=${value##*/} || return 0
	for folder in "${device%/*}/../drivers"/*/"$bus"; do
		[ ! -d "$folder" ] || { driver=${folder%/*} && driver=${driver##*/}; }
	done
	find_vectors "$device"
}

undo_all() {
	local i reason
	local -a left=()

	mode=undo taken=() present=true
	load_state
	locate || present=false
	find_device
	for ((i = ${#records[@]} - 1; i >= 0; i--)); do
		! take_back_group "$i" || continue
		! hand_over "${records[i]}" && ! take_back "${records[i]}" || continue
		left=("${records[i]}" "${left[@]}")
		reason=$(tail -n 1 "$state/output")
		printf 'config.sh: %s: not taken back: %s: %s\n' "$interface" "${records[i]%%"$sep"*}" "${reason:-refused}"
	done
	if [ ${#left[@]} -gt 0 ]; then
		printf '%s\n' "${left[@]}" | replace "$state/undo"
		return 1
	fi
	remove_state
}

remove_state() {
	rm -f "$state"/{undo,undo.new,refused,output,boot,device,arguments,arguments.new,phc2sys}
	rmdir "$state"
	rmdir "$states" 2>/dev/null || true # not while another interface has something there
}

run_undo() {
	local boot

	if [ ! -e "$state" ]; then
		say "nothing to take back"
		return 0
	fi
	open_states
	get "$proc/sys/kernel/random/boot_id"
	boot=$value
	if get "$state/boot" && [ "$value" != "$boot" ]; then
		say "the host was started anew since: nothing to take back"
		remove_state
		return 0
	fi
	undo_all >&2 || die "$interface: some settings are not taken back: see above, then --undo once more"
	say "everything is taken back"
}

# ---- All of it -------------------------------------------------------------------------------------------------------

run_steps() {
	local step

	for step in $steps; do
		chosen "$step" || continue
		"step_$step"
		kill_point "$step"
	done
}

summary() {
	local text

	for text in "${notes[@]}"; do
		say "note: $text"
	done
	for text in "${refusals[@]}"; do
		say "refused: $text"
	done
	for text in "${absent[@]}"; do
		say "not supported: $text"
	done
}

run_apply() {
	open_states
	load_state
	tidy_state
	printf '%s\0' "${given[@]}" | replace "$state/arguments"
	[ -z "$device" ] || echo "${device#"$sys/bus/"}" | replace "$state/device"
	print_discovery
	remember_interface
	run_steps
	summary
	say "$in_force settings in force, $made of them set now, ${#refusals[@]} refused; take back: config.sh $interface --undo"
}

run_verify() {
	print_discovery
	load_state
	run_steps
	summary
	[ ${#broken[@]} -eq 0 ] || die "$interface: ${#broken[@]} settings are not in force any more"
	say "all $in_force settings are in force"
}

run_dry() {
	print_discovery
	load_state
	run_steps
	summary
}

declare -a given=("$@")

main() {
	local -a before=()

	[[ " $* " != *' --help '* && " $* " != *' -h '* && $# -gt 0 ]] || { usage && exit 0; }
	parse_options "$@"
	[[ $interface =~ $names ]] || die "'$interface' is not the name of an interface: see --help"
	state=$states/$interface
	[ "$EUID" -eq 0 ] || die "only root can do this: sudo config.sh ..."
	[ "$mode" != undo ] || { need ip iproute2 && need flock util-linux && run_undo && exit 0; }
	if [ "$mode" = verify ] && [ -O "$state/arguments" ]; then
		mapfile -d '' -t before <"$state/arguments"
		parse_options "${before[@]}" "$@"
	fi
	check_options
	need ip iproute2
	need ethtool ethtool
	discover
	check_tools
	check_spared
	space=$here
	! chosen namespace || space=ns_$interface
	trap 'say "interrupted: config.sh $interface --undo takes back what was done"; exit 130' INT TERM HUP
	trap 'stumble "$LINENO" "$BASH_COMMAND"' ERR
	case $mode in
	apply) run_apply ;;
	verify) run_verify ;;
	dry-run) run_dry ;;
	esac
}

main "$@"
