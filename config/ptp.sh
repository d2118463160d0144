# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: phc2sys makes the clock of the interface follow another clock.

step ptp 'phc2sys keeps the clock of this interface with the system clock, or with --ptp-sync-to'

declare -a place=()

tools_ptp() {
	[ -z "$phc" ] || { need phc2sys linuxptp && need setsid util-linux; }
}

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

# start_daemon FILE COMMAND...: the process writes its own number to FILE before it becomes COMMAND.
start_daemon() {
	find_place
	# shellcheck disable=SC2016 # for the inner shell
	setsid bash -c 'echo $$ >"$1"; shift; exec "$@"' bash "$1" "${place[@]}" "${@:2}" </dev/null >/dev/null 2>&1 9>&- &
}

# $place: the taskset command that keeps a program off the CPUs of the measurement.
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

# read_daemon NAME COMMAND...: if the process started as NAME runs COMMAND, sets $value to COMMAND and $pid to its
# process ID. Fails otherwise.
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

# other_keeper: true if a program that this script did not start may adjust this clock, or all clocks.
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

# When phc2sys ends, the clock keeps the last frequency setting, so the setting before the start is saved. The time of
# the clock cannot be restored.
remember_frequency() {
	local text

	[ "$mode" = apply ] && command -v phc_ctl >/dev/null || return 0
	text=$(phc_ctl "$phc" freq 2>/dev/null) || return 0
	[[ ! $text =~ (-?[0-9.]+)ppb ]] || remember "frequency of $phc" undo_frequency "$phc" "${BASH_REMATCH[1]}"
}

undo_frequency() {
	[ ! -e "$1" ] || phc_ctl "$1" -- freq "$2"
}
