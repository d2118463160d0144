# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Tasks and kernel threads in /proc, and the scheduling of kernel threads.

of_host+=('thread *')

readonly policies=(other fifo rr batch iso idle deadline) # by the number in /proc/PID/stat
declare -A thread=()                                     # kernel threads of interest: process by name
irqbalance=''

comm='' stat=()

# scan PID: reads $comm, and $stat from the third field on, from /proc/PID/stat. Names may have any characters, also
# line breaks.
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

# set_policy "POLICY PRIORITY" PID: sets $line to the command
set_policy() {
	line=(chrt "--${1% *}" -p "${1#* }" "$2")
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

# undo_thread NAME "POLICY PRIORITY": by name, because a link that went down and up has new threads.
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
