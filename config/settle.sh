# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# One setting: settle() prints, compares or changes it, by mode. Steps make all changes by settle().

readonly wait_s=5

declare -a change=() back=() broken=()
value='' required='' in_force=0 made=0
key='' # key of the saved line, if it is not the name of the setting
only_remember='' # not empty: only the reverting command is saved; another program makes the change

# settle WHAT NOW WANTED READER...: handles one setting. READER reads it again, into $value. $change is the command that
# changes it, $back the command that reverts the change: not saved if it is empty.
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

# kill_point STEP|N: for tests, see config.sh
kill_point() {
	[ "${CONFIG_KILL_AFTER:-}" != "$1" ] || kill -KILL $$
}

# succeed WHAT BEFORE NOW
succeed() {
	in_force=$((in_force + 1)) made=$((made + 1))
	say "set $1: ${2:-none} -> $3"
	[ -z "${refused[$1]:-}" ] || printf '%s\n' "$1$sep" >>"$state/refused"
}

# refuse WHAT WANTED STATUS: $value is the value now.
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

# must settle ...: if this fails, all settings are restored and the script ends.
must() {
	local required=yes

	"$@"
}

give_up() {
	printf '%s: %s: %s: all settings are restored\n' "$program" "$interface" "$*" >&2
	undo_all >&2 || true
	exit 1
}

# stumble LINE COMMAND, by the ERR trap: a command failed unexpectedly. LINE is a line of the calling file.
stumble() {
	[ "$BASH_SUBSHELL" -eq 0 ] || return 0
	trap - ERR
	set -- "line $1 of ${BASH_SOURCE[1]##*/}: '$2' failed"
	[ "$mode" != apply ] || give_up "$1"
	die "$1"
}

# get FILE: reads its first line into $value.
get() {
	value=
	[ -r "$1" ] && { read -r value || [ -n "$value" ]; } 2>/dev/null <"$1"
}

put() {
	printf '%s\n' "$2" >"$1"
}

show_put() {
	printf 'echo %s >%s' "$(quote "$2")" "$(quote "$1")"
}

undo_put() {
	! get "$1" || [ "$value" = "$2" ] || put "$1" "$2"
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

# wait_until COMMAND...
wait_until() {
	local until=$((SECONDS + wait_s))

	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.05
	done
}
