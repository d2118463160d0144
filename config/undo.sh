# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Taking back, the last change first. A saved line names a function undo_NAME, of any part, and its arguments. Maybe an
# earlier version of this script saved it: those functions keep their names, and the meaning of their arguments.

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

# other_record WHAT: the saved line of another interface about the same thing, in $found. $holder is its folder.
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

# hand_over RECORD: if another interface changed the same thing later, that one gets this line and puts the value back.
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

undo_nothing() {
	:
}

declare -A taken=() # indices of records that were taken back with others

# take_back_group INDEX: this record and those just before it of the same group of ethtool, in one call. Fails if
# there is only one, or if it did not work.
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
