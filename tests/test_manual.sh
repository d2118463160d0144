#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual pages, whose options are those of --help; what is installed; what completes a command line. After make.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
family=manual
# shellcheck source=tests/judge.sh
. tests/judge.sh
make -s rant || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- Pages ------------------------------------------------------------------------------------------------------------

man/page.sh man/rant.1.in ./rant >"$work/rant.1"
man/page.sh man/rant-config.8.in ./config.sh >"$work/rant-config.8"
cp man/rant-plot.1 "$work/rant-plot.1"
for page in rant.1 rant-config.8 rant-plot.1; do
	judge "mandoc finds nothing in $page" "$(mandoc -Tlint -Wstyle "$work/$page" 2>&1 |
		grep -v 'referenced manual not found\|outdated mandoc.db')"
	judge "$page tells of exit statuses, files and the environment, and has examples" \
		"$(for section in 'EXIT STATUS' FILES ENVIRONMENT EXAMPLES; do grep -qx "\.Sh $section" "$work/$page" || echo "it has no $section"; done)"
done

# ---- Installed ----------------------------------------------------------------------------------------------------------

installed() {
	find "$work/root" ! -type d -printf '%P\n' | grep -v '^usr/share/rant/\(config\|plot\)/' | sort
}
mkdir -p "$work/root/usr/bin" "$work/root/usr/lib" "$work/root/usr/sbin" "$work/root/usr/share/man"
find "$work/root" | sort >"$work/before"
make -s install DESTDIR="$work/root" PREFIX=/usr >"$work/make" 2>&1
judge 'make install: each file in its place' "$(diff - <(installed) <<-'END'
	usr/bin/rant
	usr/bin/rant-plot
	usr/lib/systemd/system/rant-reflect@.service
	usr/sbin/rant-config
	usr/share/bash-completion/completions/rant
	usr/share/bash-completion/completions/rant-config
	usr/share/bash-completion/completions/rant-plot
	usr/share/man/man1/rant-plot.1
	usr/share/man/man1/rant.1
	usr/share/man/man8/rant-config.8
	usr/share/rant/config.sh
	usr/share/zsh/site-functions/_rant
	END
	)"
judge 'make install: rant-config finds its parts' "$(diff <("$work/root/usr/sbin/rant-config" --help 2>&1) <(./config.sh --help))"
judge 'make install: the pages are those that were looked at' \
	"$(diff "$work/root/usr/share/man/man1/rant.1" "$work/rant.1" && diff "$work/root/usr/share/man/man8/rant-config.8" "$work/rant-config.8")"
: >"$work/root/usr/share/rant/of_somebody_else"
make -s uninstall DESTDIR="$work/root" PREFIX=/usr >"$work/make" 2>&1
judge 'make uninstall: what is not ours stays' "$([ "$(installed)" = usr/share/rant/of_somebody_else ] || installed)"
rm "$work/root/usr/share/rant/of_somebody_else"
make -s uninstall DESTDIR="$work/root" PREFIX=/usr >"$work/make" 2>&1
judge 'make uninstall: nothing is left, no folder either' "$(find "$work/root" | sort | diff "$work/before" -)"

# ---- Options ------------------------------------------------------------------------------------------------------------

# Every name that the help has, and no other.
of_help() {
	"$@" --help | grep -oE -- '^ +(-[^ ]( [A-Z]+)?, )?--[^ ]+' | sed 's/ [A-Z][A-Z]*,/,/' | grep -oE -- '--?[^ ,]+' | sort -u
}
of_page() {
	mandoc -Tutf8 "$work/$1" | col -b | awk '/^[A-Z]/ { options = /^OPTIONS/ } options' |
		grep -oE -- '^ +(-[^ ]( [A-Z]+)?, )?--[^ ]+' | sed 's/ [A-Z][A-Z]*,/,/' | grep -oE -- '--?[^ ,]+' | sort -u
}
judge 'rant.1 has each option of --help' "$(diff <(of_help ./rant) <(of_page rant.1))"
judge 'rant-config.8 has each option of --help' "$(diff <(of_help ./config.sh) <(of_page rant-config.8))"
judge 'rant-plot.1 has each option of --help' "$(diff <(of_help plot/rant-plot) <(of_page rant-plot.1))"
judge 'a program without options makes no page' "$(man/page.sh man/rant.1.in true 2>/dev/null && echo 'there is one')"

# ---- Completion -------------------------------------------------------------------------------------------------------

program=./rant

# complete_bash WORD...: what may stand in the place of the last one.
complete_bash() {
	bash -c '
		. completion/rant.bash
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_rant "$1"
		printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd" "' bash "$program" "$@"
}

# completes WANTED WORD...
completes() {
	local wanted=$1 have

	shift
	have=$(complete_bash "$@")
	judge "bash: '$*' becomes '$wanted'" "$([ "$have" = "$wanted" ] || echo "'$have'")"
}

: >"$work/afile"
mkdir "$work/afolder"
completes '--json --jsonl' --js

# "OPTION WORD...": the rows with a choice, of the table that parses.
choices=$(awk -F'"' '
	/^static const struct choice/ { split($0, word, /[ []/); set = word[5] }
	/^};/ { set = "" }
	set && /^\t{ "/ { words[set] = words[set] " " $2 }
	/CHOICE\(.*\.choice = / { match($0, /\.choice = [a-z_]+/); print "--" $2 words[substr($0, RSTART + 10, RLENGTH - 10)] }' options/table.c)
is 'each option with a choice is found in the table' "$(grep -c '\<CHOICE([a-z]' options/table.c)" "$((1 + $(wc -l <<<"$choices")))" # and the macro
while read -r option words; do
	completes "$(tr ' ' '\n' <<<"$words" | sort | paste -sd' ')" "$option" ''
done <<<"$choices"
completes 'continue exec: stop' --on-breach ''
completes 'continue' --on-breach c

completes 'kernel' --stamp = k
completes 'hybrid' -i eth0 --pacing h
completes "$(cd /sys/class/net && printf '%s\n' l* | sort | paste -sd' ')" -i l
completes "$work/afile $work/afolder" -l "$work/a"
completes "$work/afolder" --save-trace "$work/a"
completes 'root' --user roo
completes '' -d 1
completes "$work/afile $work/afolder" --report -H "$work/a"
completes '' --count ''
completes "$work/afile $work/afolder" --once "$work/a"
for program in ./rant ./config.sh plot/rant-plot; do
	judge "bash: every option of $program is completed" "$(diff <(of_help "$program") <(complete_bash - | tr ' ' '\n' | sort -u))"
done
completes "$work/afile $work/afolder" "$work/a"
completes "$work/afile $work/afolder" -o "$work/a"
completes '' --title ''
completes 'histogram one-way percentiles stages time' --panel ''
completes 'stages,one-way' --panel stages,o
program=./config.sh
steps=$(./config.sh --help | sed -n '/^Steps:/,$ s/^  \([a-z]*\) .*/\1/p')
completes "$(sort <<<"$steps" | paste -sd' ')" --only ''
completes 'rings,pause rings,pcie rings,power rings,ptp' --skip rings,p
completes lo l
completes '' --cpu ''

# zsh has no way to ask for a completion but a terminal, so its parts are put in the place of the functions that it calls.
zsh_said=
if command -v zsh >/dev/null; then
	for program in plot/rant-plot ./config.sh ./rant; do
		zsh_says=$(zsh -fc '
			words=($0)
			_call_program() { shift; eval "$@" }
			_arguments() { shift; print -l -- "$@" }
			. completion/_rant' "$program")
		judge "zsh: every option of $program is completed" \
			"$(diff <(of_help "$program") <(grep -oE -- '^--?[^[ ]+' <<<"$zsh_says" | sort -u))"
		zsh_said+=$zsh_says$'\n'
	done
	while read -r option words; do
		judge "zsh: $option has its words" "$(grep -q -- "^$option\[.*:($words)\$" <<<"$zsh_says" || grep -- "^$option\[" <<<"$zsh_says")"
	done <<<"$choices"
	for line in '--panel\[.*:_values -s , NAME histogram percentiles time stages one-way$' \
		"--only\\[.*:_values -s , STEP ${steps//$'\n'/ }\$" '--skip\[.*:_values -s , STEP namespace ' \
		'--on-breach\[.*:ACTION:(stop continue exec.*:)' '-i\[.*:IFACE:_net_interfaces' '--json\[.*:FILE:_files' '-d\[.*:S:$' \
		'--save-trace\[.*:DIR:_files -/' '--user\[.*:NAME:_users' '--poisson\[[^]]*\]$' \
		'\*:FILE:_files'; do
		judge "zsh: $line" "$(grep -q -- "^$line" <<<"$zsh_said" || echo 'there is no such line')"
	done
else
	echo 'ok - manual: zsh # SKIP there is no zsh'
fi
