# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The folder of an interface in /run: what takes its changes back, saved before each change, and what was refused.

readonly sep=$'\x1f' # between the fields of a saved line: no space to "read", so that empty fields survive

state='' # the folder of this interface
alterations=0
declare -A saved=() refused=()
declare -a records=()
declare -a of_host=() # patterns of what concerns the host and not one interface; parts add theirs

# Refuses folders in which somebody else could write: what is saved there is run by --undo.
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

# replace FILE: stdin becomes its content, at once or not at all.
replace() {
	cat >"$1.new"
	mv "$1.new" "$1"
}

# read_records FOLDER: into $records. What was cut off when the script was killed is the last and has no line break: its change
# was not made.
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

# Drops a line without its end: nothing could be appended after it.
tidy_state() {
	[ ! -e "$state/undo" ] || printf '%s\n' "${records[@]}" | replace "$state/undo"
}

# remember WHAT COMMAND...: saves what takes it back, if nothing is saved for it yet. No fsync: a
# crash that loses the saved lines ends the settings too.
remember() {
	local IFS=$sep

	if [ "$mode" != apply ] || [ -n "${saved[$1]:-}" ]; then
		return 0
	fi
	[[ $* != *$'\n'* ]] || die "a line break in what is to be saved: $1"
	printf '%s\n' "$1$sep${EPOCHREALTIME/./}$sep${*:2}$sep." >>"$state/undo"
	saved[$1]=$2
}

# forget PREFIX: drops the saved lines that begin so.
forget() {
	local line

	[ "$mode" = apply ] || return 0
	read_records "$state"
	for line in "${records[@]}"; do
		[[ $line == "$1"* ]] || printf '%s\n' "$line"
	done | replace "$state/undo"
	load_state
}
