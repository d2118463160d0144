# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of rant, rant-config and rant-plot for bash. All that it knows of the options it reads from "PROGRAM --help", which for rant is
# made of the table that parses.

# Prints what may stand behind option $2 of the program $1: "@interfaces", "@files", "@folders", "@users", words, "@several" and words with
# commas between them, or "@any"; nothing: it takes no value. Those words are the steps, or the panels.
_rant_values() {
	COLUMNS=1000 "$1" --help 2>/dev/null | awk -v option="$2" '
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
			else if (value == "ACTION") { gsub(/[A-Z]/, "", rest); print words(rest) }
			else if (value != "" && match(rest, /: [a-z0-9-]+(, [a-z0-9-]+)* or [a-z0-9-]+( \([a-z0-9-]+\))?$/))
				print words(substr(rest, RSTART + 2))
			else if (value != "") print "@any"
		}
		END { if (wanted) print "@several", several }'
}

# Prints what may stand where no option is waiting for its value.
_rant_words() {
	if [[ $2 == -* ]]; then
		"$1" --help 2>/dev/null | grep -oE -- '^ +(-[^ ]( [A-Z][^ ,]*)?, )?--[^ ]+' | grep -oE -- '--?[^ ,A-Z][^ ,]*|-[A-Z]'
	elif [[ $1 == *config* ]]; then
		echo @interfaces
	else
		echo @files
	fi
}

_rant() {
	local program=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values first=

	COMPREPLY=()
	# "--stamp=k" is three words to readline, with "=" among the characters that break them.
	[ "$word" != = ] || word=''
	[ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
	values=$(_rant_values "$program" "$before")
	[ "$values" ] || values=$(_rant_words "$program" "$word")
	case $values in
	@interfaces) values=$(cd /sys/class/net 2>/dev/null && printf '%s\n' *) ;;
	@files) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
	@folders) mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
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
