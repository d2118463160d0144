# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Groups of settings that ethtool shows and sets. The step of a group names the options of ethtool for it.

declare -A shows=() sets=() # options of ethtool, by group

declare -A nic=() fixed=() # by "GROUP NAME", and "GROUP NAME max"

# read_ethtool GROUP: reads the settings into $nic. Versions 5 and 6 of ethtool print different texts.
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

# group GROUP: true if the driver has this group of settings.
group() {
	read_ethtool "$1" || { not_supported "$1" && return 1; }
}

declare -a wishes=() # "NAME VALUE" of one group, not made yet

# want GROUP NAME WANTED: fulfil() must follow, which makes the change.
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

# fulfil GROUP: sets all wishes in one call, because some drivers reset the link at each call. Settings that the call
# did not change are then set one by one.
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

# fulfil_all GROUP: $line is the command
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

declare -A sibling=() # interrupt of another port of the same driver: its CPUs

# On some cards "ethtool -L" for one port resets the interrupts of the other port.
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
