# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Output for the user: messages, the notes and refusals listed at the end, and commands quoted for a shell.

declare -a notes=() refusals=() absent=()

say() {
	printf '%s: %s\n' "${interface:-$program}" "$*"
}

note() {
	notes+=("$*")
}

# not_supported NAME: this interface or this machine does not have the setting.
not_supported() {
	absent+=("$*")
}

summary() {
	local text

	for text in "${notes[@]}"; do
		say "note: $text"
	done
	for text in "${refusals[@]}"; do
		say "refused: $text"
	done
	for text in "${absent[@]}"; do
		say "not supported: $text"
	done
}

# quote WORD: prints the word quoted for a shell.
quote() {
	if [[ $1 =~ ^[A-Za-z0-9_./:=@%+,-]+$ ]]; then
		printf '%s' "$1"
	else
		printf '%s' "${1@Q}"
	fi
}

# show COMMAND...: prints the command quoted for a shell. A function of this script is printed by its show_NAME.
show() {
	local word space_between=''

	if declare -F "show_$1" >/dev/null; then
		"show_$1" "${@:2}"
		return
	fi
	for word in "$@"; do
		printf '%s' "$space_between"
		quote "$word"
		space_between=' '
	done
}
