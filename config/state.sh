# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The folder of an interface in /run: reverting commands, saved before each change, and refused settings.

readonly sep=$'\x1f' # between the fields of a saved line: no space to "read", so that empty fields survive

state='' # the folder of this interface
alterations=0
declare -A saved=() refused=()
declare -a records=()
declare -a of_host=() # patterns of settings of the host, not of one interface; parts add patterns

# Refuses folders in which other users could write, because --undo runs the saved commands.
open_states() {
	local folder

	[ ! -L "$states.lock" ] || die "$states.lock is a symbolic link: remove it"
	exec 9>>"$states.lock"
	flock -w 60 9 || die "another $program holds $states.lock: wait for it"
	for folder in "$states" "$state"; do
		mkdir -m 0700 "$folder" 2>/dev/null || true
		[ -d "$folder" ] && [ ! -L "$folder" ] && [ -O "$folder" ] || die "$folder is not a folder of root: remove it"
		chmod 0700 "$folder"
	done
	[ -e "$state/boot" ] || cp "$proc/sys/kernel/random/boot_id" "$state/boot"
}

# replace FILE: stdin becomes its content, atomically.
replace() {
	cat >"$1.new"
	mv "$1.new" "$1"
}

# read_records FOLDER: reads the saved lines into $records. A last line without a line break was truncated when the
# script was killed: its change was not made.
read_records() {
	local line number=0

	records=()
	[ -e "$1/undo" ] || return 0
	while IFS= read -r line; do
		number=$((number + 1))
		[ -n "$line" ] || continue
		[[ $line == *"$sep." ]] || die "$interface: line $number of $1/undo is not a line that $program has saved, so nothing is done:" \
			"look at it, and remove it"
		records+=("$line")
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

# Drops a truncated last line, after which no line could be appended.
tidy_state() {
	[ ! -e "$state/undo" ] || printf '%s\n' "${records[@]}" | replace "$state/undo"
}

# remember WHAT COMMAND...: saves the reverting command, unless a command is saved for WHAT already. No fsync: a crash
# that loses the saved lines ends the settings too.
remember() {
	local IFS=$sep

	if [ "$mode" != apply ] || [ -n "${saved[$1]:-}" ]; then
		return 0
	fi
	[[ $* != *$'\n'* ]] || die "a line break in what is to be saved: $1"
	printf '%s\n' "$1$sep${EPOCHREALTIME/./}$sep${*:2}$sep." >>"$state/undo"
	saved[$1]=$2
}

# forget PREFIX: drops the saved lines that begin with PREFIX.
forget() {
	local line

	[ "$mode" = apply ] || return 0
	read_records "$state"
	for line in "${records[@]}"; do
		[[ $line == "$1"* ]] || printf '%s\n' "$line"
	done | replace "$state/undo"
	load_state
}
