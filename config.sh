#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prepares a network interface and two CPUs for a latency measurement, and restores all settings: config.sh --help.
#
# Each step reads the current settings, and passes each setting to settle(): its name, the current value, the wanted
# value, the command that changes it ($change) and the command that reverts the change ($back). By mode, settle()
# prints, compares or changes the setting, so that the plan, the change and the verification cannot differ. The
# reverting command is saved before the change and can be repeated: even if SIGKILL ends this script, --undo has all
# commands that it needs.
#
# A step is one file, config/STEP.sh, and one line in the list of steps below. The file has
#   step STEP HELP [CHECK]  its line of --help, and the function that checks the options if the step is chosen
#   step_STEP               its changes, by settle()
#   undo_NAME               reverts a change, if undo_put() and similar functions cannot
#   tools_STEP              calls need() for each program other than ip and ethtool
#   of_host+=(PATTERN...)   names of settings that belong to the host, not to the interface
#
# For tests: CONFIG_ROOT=DIR is a prefix of /sys, /proc and /run. CONFIG_KILL_AFTER=STEP or =N kills this script after
# that step, or after the N-th change is saved and before it is made.
#
# "a && b || continue" is intended; functions are called by name.
# shellcheck source-path=SCRIPTDIR/config disable=SC2015,SC2317
set -eEuo pipefail
export LC_ALL=C
umask 077

readonly root=${CONFIG_ROOT:-}
readonly sys=$root/sys proc=$root/proc netns=$root/run/netns states=$root/run/rant-config

# ---- Parts -----------------------------------------------------------------------------------------------------------

# The name in messages and in suggested commands: the installed link, or this file.
program=config.sh
[ "${0##*/}" != rant-config ] || program=rant-config
readonly program

# Prints one line, also if a quoted argument has control characters.
die() {
	printf '%s: %s\n' "$program" "${*//[[:cntrl:]]/?}" >&2
	exit 1
}

# This runs as root: parts are read only from the folder of this file, after all links are resolved. The array
# BASH_SOURCE has its path, but bash does not set it if the environment has a variable of that name.
[[ $(declare -p BASH_SOURCE) == 'declare -a '* ]] || die "BASH_SOURCE is set in the environment: unset it"
[ -n "${BASH_SOURCE[0]:-}" ] && self=$(readlink -f -- "${BASH_SOURCE[0]}") ||
	die "its folder config/ is found only when it is run as a file: give its path"
readonly parts=${self%/*}/config

# part NAME: ends this script if the part does not exist.
part() {
	[ -f "$parts/$1.sh" ] && [ -r "$parts/$1.sh" ] ||
		die "$parts/$1.sh cannot be read: copy the folder config/ with config.sh, or use make install"
}

part say && . "$parts/say.sh"
part settle && . "$parts/settle.sh"
part state && . "$parts/state.sh"
part undo && . "$parts/undo.sh"
part cpu_lists && . "$parts/cpu_lists.sh"
part interface && . "$parts/interface.sh"
part spared && . "$parts/spared.sh"
part fib && . "$parts/fib.sh"
part before && . "$parts/before.sh"
part dump && . "$parts/dump.sh"
part vectors && . "$parts/vectors.sh"
part threads && . "$parts/threads.sh"
part ethtool && . "$parts/ethtool.sh"

steps='' # one a line
declare -A help=() check=()

# step NAME HELP [CHECK]
step() {
	steps+=${steps:+$'\n'}$1
	help[$1]=$2
	check[$1]=${3:-}
}

# In the order in which they run.
part namespace && . "$parts/namespace.sh"
part queues && . "$parts/queues.sh"
part rings && . "$parts/rings.sh"
part offloads && . "$parts/offloads.sh"
part coalescing && . "$parts/coalescing.sh"
part pause && . "$parts/pause.sh"
part flags && . "$parts/flags.sh"
part napi && . "$parts/napi.sh"
part network && . "$parts/network.sh"
part cpus && . "$parts/cpus.sh"
part irqs && . "$parts/irqs.sh"
part power && . "$parts/power.sh"
part pcie && . "$parts/pcie.sh"
part ptp && . "$parts/ptp.sh"
part trace && . "$parts/trace.sh"
readonly steps

# ---- Options ---------------------------------------------------------------------------------------------------------

mode=apply interface=''
declare -A option=([irq-prio]=55 [ksoftirqd-prio]=11 [busy-poll]=0)
skip=, only=

usage() {
	local step

	cat <<-END
		$program INTERFACE --ip ADDR[/LENGTH] --remote-ip ADDR --cpu N --irq-cpu N [OPTION...]
		$program INTERFACE --verify | --undo

		  --ip ADDR[/LENGTH]   set this address of the interface (length /24)
		  --remote-ip ADDR     add a static neighbour with this address
		  --remote-mac MAC     set the MAC address of the neighbour (default: by ARP)
		  --cpu N              reserve this CPU for rant
		  --irq-cpu N          move the interrupts of the interface to this CPU
		  --busy-poll US       prepare for --busy-poll-us of rant (0)
		  --ptp-source DEV     use this PTP clock of the interface (default: the one it reports)
		  --ptp-sync-to DEV    synchronise the PTP clock to DEV (default: the system clock)
		  --no-namespace       same as --skip namespace
		  --no-ptp             same as --skip ptp
		  --irq-prio N         set the FIFO priority of the interrupt threads (55)
		  --ksoftirqd-prio N   set the FIFO priority of ksoftirqd on both CPUs (11)
		  --demote-irqs        take the FIFO priority from interrupt threads that cannot leave both CPUs
		  --cpu-power          run step "power"
		  --trace              run step "trace"
		  --only STEP[,STEP]   run only these steps
		  --skip STEP[,STEP]   leave these steps out
		  --dry-run            print the commands and the present values, change nothing
		  --verify             exit with status 1 if a setting is not in force, with the options of the last run
		  --undo               restore all settings
		  --help               show this help

		Steps:
	END
	for step in $steps; do
		printf '  %-10s %s\n' "$step" "${help[$step]}"
	done
}

wants_help() {
	local word

	for word in "$@"; do
		[ "$word" != --help ] && [ "$word" != -h ] || return 0
	done
	[ $# -eq 0 ]
}

# steps_of OPTION: each name in its list must be the exact name of a step.
steps_of() {
	local list=${option[$1]},
	local step

	while [ -n "$list" ]; do
		step=${list%%,*} list=${list#*,}
		[ -n "$step" ] || die "--$1: a step is missing in '${option[$1]}'; there are: ${steps//$'\n'/ }"
		is_step "$step" || die "--$1: there is no step ${step@Q}; there are: ${steps//$'\n'/ }"
	done
}

is_step() {
	local name

	for name in $steps; do
		[ "$name" != "$1" ] || return 0
	done
	return 1
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
			[ -z "$interface" ] || [ "$interface" = "$1" ] || die "'$interface' and '$1' are two interfaces: give one"
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

# CHECK of steps that set up both CPUs.
check_cpus() {
	check_cpu cpu
	check_cpu irq-cpu
}

check_options() {
	local name

	for name in only skip; do
		[ -z "${option[$name]+given}" ] || steps_of "$name"
	done
	only=${option[only]:-} skip=$skip${option[skip]:-},
	for name in cpu irq-cpu; do
		[ -z "${option[$name]:-}" ] || check_cpu "$name"
	done
	for name in $steps; do
		! chosen "$name" || "${check[$name]:-:}"
	done
	[ -z "${option[cpu]:-}" ] || [ "${option[cpu]}" != "${option[irq-cpu]:-}" ] ||
		die "--cpu and --irq-cpu are both ${option[cpu]}: rant and the interrupts need a CPU each"
	number irq-prio 1 99
	number ksoftirqd-prio 1 99
	number busy-poll 0 1000000
	for name in ptp-source ptp-sync-to; do
		[[ ${option[$name]:-/dev/ptp0} =~ ^(/dev/)?ptp[0-9]{1,4}$ ]] ||
			die "--$name: '${option[$name]}' is not a PTP clock such as /dev/ptp0"
	done
}

# ---- The whole run ---------------------------------------------------------------------------------------------------

# need TOOL PACKAGE
need() {
	command -v "$1" >/dev/null || die "'$1' is missing: install the package $2"
}

check_tools() {
	local step

	need ip iproute2
	need ethtool ethtool
	need flock util-linux
	for step in $steps; do
		! chosen "$step" || ! declare -F "tools_$step" >/dev/null || "tools_$step"
	done
}

run_steps() {
	local step

	for step in $steps; do
		chosen "$step" || continue
		"step_$step"
		kill_point "$step"
	done
}

run_apply() {
	open_states
	load_state
	tidy_state
	[ ${#records[@]} -gt 0 ] || dump | replace "$state/before"
	printf '%s\0' "${given[@]}" | replace "$state/arguments"
	[ -z "$device" ] || echo "${device#"$sys/bus/"}" | replace "$state/device"
	print_discovery
	remember_interface
	run_steps
	summary
	say "$in_force settings in force, $made of them set now, ${#refusals[@]} refused;" \
		"restore with: $program $interface --undo"
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

	! wants_help "$@" || { usage && exit 0; }
	parse_options "$@"
	[[ $interface =~ $names ]] || die "'$interface' is not the name of an interface: see --help"
	state=$states/$interface
	[ "$EUID" -eq 0 ] || die "only root can do this: sudo $program ..."
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
	[ "$mode" = verify ] || check_spared
	space=$here
	! chosen namespace || space=ns_$interface
	trap 'say "interrupted: $program $interface --undo restores the settings"; exit 130' INT TERM HUP
	trap 'stumble "$LINENO" "$BASH_COMMAND"' ERR
	case $mode in
	apply) run_apply ;;
	verify) run_verify ;;
	dry-run) run_dry ;;
	esac
}

main "$@"
