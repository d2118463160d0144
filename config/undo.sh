# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Reverts the changes, the last change first. A saved line has a function undo_NAME of any part, and its arguments. An
# earlier version of this script may have saved it: these functions keep their names and the meaning of their arguments.

found='' holder=''

# Settings of the host and not of one interface: two ports may have changed them, one after the other.
is_of_host() {
	local pattern

	for pattern in "${of_host[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $1 != $pattern ]] || return 0
	done
	return 1
}

# other_record WHAT: sets $found to the saved line of another interface for the same setting, and $holder to its folder.
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

# hand_over RECORD: if another interface changed the same setting later, moves this line to that interface, whose --undo
# restores the value.
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

declare -A passed=() # by name of the setting: the port whose --undo restores it

# is_there PORT
is_there() {
	local here interface=$1

	locate
}

# pass_on RECORD: moves a route that cannot be restored while another port is prepared to that port, to be restored
# last. If the line has the ports that the route needs, these are tried first. A port that does not exist any more is
# skipped: nobody may run its --undo.
pass_on() {
	local name
	local -a fields ports

	IFS=$sep read -r -a fields <<<"$1"
	[ "${fields[2]}" = undo_fib ] || return 1
	read -r -a ports <<<"${fields[4]}"
	for name in "${ports[@]}" "$states"/*/; do
		name=${name%/} name=${name##*/}
		[ "$name" != "$interface" ] && [ -s "$states/$name/undo" ] && is_there "$name" || continue
		{ printf '%s\n' "$1" && cat "$states/$name/undo"; } | replace "$states/$name/undo"
		passed[${fields[0]}]=$name
		return 0
	done
	return 1
}

# take_back RECORD
take_back() {
	local status=0
	local -a fields

	IFS=$sep read -r -a fields <<<"$1"
	if [[ ! ${fields[2]} =~ ^undo_[a-z_]+$ ]] || ! declare -F "${fields[2]}" >/dev/null; then
		echo "'${fields[2]}' is not a command of this $program" >"$state/output"
		return 1
	fi
	"${fields[@]:2:${#fields[@]}-3}" >"$state/output" 2>&1 </dev/null || status=$?
	return "$status"
}

undo_nothing() {
	:
}

declare -A taken=() # indices of records that were reverted together with others

# take_back_group INDEX: reverts this record and the preceding records of the same ethtool group in one call. Fails for
# a single record, or if the call failed.
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

# undo_records [last]: reverts the records, the last record first. Records that remain are in $records: a route may need
# another route that is restored later, so failures are final and passed on only in the last round.
undo_records() {
	local i reason
	local -a left=()

	taken=()
	for ((i = ${#records[@]} - 1; i >= 0; i--)); do
		! take_back_group "$i" || continue
		! hand_over "${records[i]}" && ! take_back "${records[i]}" || continue
		[ -z "${1:-}" ] || ! pass_on "${records[i]}" || continue
		left=("${records[i]}" "${left[@]}")
		[ -n "${1:-}" ] || continue
		reason=$(tail -n 1 "$state/output")
		printf '%s: %s: not taken back: %s: %s\n' "$program" "$interface" "${records[i]%%"$sep"*}" "${reason:-refused}"
	done
	records=("${left[@]}")
}

undo_all() {
	mode=undo present=true
	load_state
	locate || present=false
	find_device
	[ -z "$here" ] || add_others
	undo_records
	undo_records last
	if [ ${#records[@]} -gt 0 ]; then
		printf '%s\n' "${records[@]}" | replace "$state/undo"
		return 1
	fi
	rm -f "$state"/{undo,undo.new,refused,output,device,arguments,arguments.new,phc2sys}
	is_as_before && remove_state
}

# is_as_before: compares the state after all changes were reverted, and prints a line for each difference. Some links
# need some seconds.
is_as_before() {
	local text

	[ -e "$state/before" ] && $present || return 0
	! wait_until compare_dump || return 0
	has_carrier || ! wait_until compare_dump || return 0
	for text in "${differences[@]}"; do
		printf '%s: %s: differs from before: %s\n' "$program" "$interface" "$text"
	done | sort
	return 1
}

remove_state() {
	rm -f "$state"/{undo,undo.new,refused,output,boot,before,before.new,device,arguments,arguments.new,phc2sys}
	rmdir "$state"
	rmdir "$states" 2>/dev/null || true # not while another interface has something there
}

run_undo() {
	local boot text

	if [ ! -e "$state" ]; then
		say "nothing to restore"
		return 0
	fi
	open_states
	get "$proc/sys/kernel/random/boot_id"
	boot=$value
	if get "$state/boot" && [ "$value" != "$boot" ]; then
		say "the host was rebooted since: nothing to restore"
		remove_state
		return 0
	fi
	undo_all >&2 || {
		[ -e "$state/undo" ] ||
			die "$interface: all settings are restored, but differ from before: correct these, then run --undo again"
		die "$interface: some settings are not restored: correct the errors above, then run --undo again"
	}
	text=$(printf '%s\n' "${passed[@]}" | sort -u)
	say "all settings are restored${text:+, except ${#passed[@]} routes, which return with --undo of ${text//$'\n'/ and }}"
}
