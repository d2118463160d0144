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

declare -A passed=() # by what it is about: the port with which it is put back

# pass_on RECORD: a route that cannot be put back while another port is prepared is put back with that one, after all
# else of it. If it says which ports it needs, with one of those.
pass_on() {
	local name
	local -a fields ports

	IFS=$sep read -r -a fields <<<"$1"
	[ "${fields[2]}" = undo_fib ] || return 1
	read -r -a ports <<<"${fields[4]}"
	for name in "${ports[@]}" "$states"/*/; do
		name=${name%/} name=${name##*/}
		[ "$name" != "$interface" ] && [ -s "$states/$name/undo" ] || continue
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

# undo_records [last]: the last one first. What is left over is in $records: a route may need another one that is put
# back later, so that only in the last round it is told what is not taken back.
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

# is_as_before: after everything was taken back. If not, a line for each difference. Some links take their time.
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
