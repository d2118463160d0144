# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of rant, rant-config and rant-plot for bash. The options come from the help of the program, which for rant is made of the table
# that parses.

# Prints all options with their texts.
_rant_help() {
	case ${1##*/} in
	*config* | *plot*) COLUMNS=1000 "$1" --help 2>/dev/null ;;
	*) "$1" --help all 2>/dev/null ;;
	esac
}

# Prints the values of option $2 of program $1: "@interfaces", "@files", "@folders", "@users", a list of words, "@several" and words that are
# joined by commas (steps or panels), or "@any". Prints nothing for an option without a value.
_rant_values() {
	_rant_help "$1" | awk -v option="$2" '
		function words(s) { gsub(/ \(.*$/, "", s); gsub(/,| or /, " ", s); return s }
		match($0, /Panels: [a-z, -]+/) { several = words(substr($0, RSTART + 8, RLENGTH - 8)) }
		steps { several = several " " $1 }
		/^Steps:/ { steps = 1 }
		{
			match($0, /^ +(-[^ ]( [A-Z][^ ,]*)?, )?--[^ ]+( [A-Z][^ ]*)?/)
			if (RLENGTH < 0)
				next
			names = substr($0, 1, RLENGTH)
			rest = substr($0, RLENGTH + 1)
			n = split(names, word, /[ ,]+/)
			for (i = 1; i <= n; i++)
				if (word[i] == option)
					break
			if (i > n)
				next
			value = word[n] ~ /^-/ ? "" : word[n]
			if (value == "IFACE") print "@interfaces"
			else if (value ~ /^(FILE|OUT)/) print "@files"
			else if (value == "DIR") print "@folders"
			else if (value == "NAME") print "@users"
			else if (names ~ /\[,/) wanted = 1
			else if (value == "ACTION") print "stop continue exec:"
			else if (value != "" && match(rest, /: [a-z0-9-]+(, [a-z0-9-]+)* or [a-z0-9-]+( \([a-z0-9-]+\))?$/))
				print words(substr(rest, RSTART + 2))
			else if (value != "") print "@any"
		}
		END { if (wanted) print "@several", several }'
}

# Prints the words for an argument that is not the value of an option.
_rant_words() {
	if [[ $2 == -* ]]; then
		_rant_help "$1" | grep -oE -- '^ +(-[^ ]( [A-Z][^ ,]*)?, )?--[^ ]+' | grep -oE -- '--?[^ ,A-Z][^ ,]*|-[A-Z]'
	elif [[ $1 == *config* ]]; then
		echo @interfaces
	else
		echo @files
	fi
}

# Readline quotes the blanks of names, and adds "/" and no blank to folders, where the names are marked as such.
_rant_names() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

_rant() {
	local program=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values first=

	COMPREPLY=()
	# "=" is one of the characters that break words for readline: "--stamp=k" is three words.
	[ "$word" != = ] || word=''
	[ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
	values=$(_rant_values "$program" "$before")
	[ "$values" ] || values=$(_rant_words "$program" "$word")
	case $values in
	@interfaces) values=$(cd /sys/class/net 2>/dev/null && printf '%s\n' *) ;;
	@files) _rant_names -f "$word" && return ;;
	@folders) _rant_names -d "$word" && return ;;
	@users) mapfile -t COMPREPLY < <(compgen -u -- "$word") && return ;;
	@several*)
		[[ $word != *,* ]] || first=${word%,*},
		mapfile -t COMPREPLY < <(compgen -P "$first" -W "${values#@several}" -- "${word##*,}") && return
		;;
	@any) return ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
}

complete -F _rant rant rant-config rant-plot
