#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages, installed files, completion of command lines. After make.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
family=manual
# shellcheck source=tests/judge.sh
. tests/judge.sh
make -s rant || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- Pages ------------------------------------------------------------------------------------------------------------

man/page.sh man/rant.1.in docs/options.md >"$work/rant.1"
man/page.sh man/rant-config.8.in ./config.sh >"$work/rant-config.8"
cp man/rant-plot.1 "$work/rant-plot.1"
for page in rant.1 rant-config.8 rant-plot.1; do
	judge "mandoc finds nothing in $page" "$(mandoc -Tlint -Wstyle "$work/$page" 2>&1 |
		grep -v 'referenced manual not found\|outdated mandoc.db')"
	judge "$page has exit statuses, files, the environment and examples" \
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
judge 'make install: rant-config finds its parts' "$(diff <("$work/root/usr/sbin/rant-config" --help 2>&1) <(./config.sh --help | sed 's/config\.sh/rant-config/'))"
judge 'make install: rant-config has its own name in messages' \
	"$(same "rant-config: unknown option '--bad': see --help" "$("$work/root/usr/sbin/rant-config" --bad 2>&1)")"
judge 'make install: the pages are those that were looked at' \
	"$(diff "$work/root/usr/share/man/man1/rant.1" <(sed 's|/usr/local/|/usr/|' "$work/rant.1") && diff "$work/root/usr/share/man/man8/rant-config.8" "$work/rant-config.8")"
judge 'make install: rant.1 names the installed files' "$(mandoc -Tutf8 "$work/root/usr/share/man/man1/rant.1" | col -b |
	grep -oE '/usr/[^ ,]*[a-z@]/?[a-z.-]+' | grep -v '^/usr/share/doc/' | while read -r path; do
		[ -e "$work/root$path" ] || echo "there is no $path"
	done)"
: >"$work/root/usr/share/rant/of_somebody_else"
make -s uninstall DESTDIR="$work/root" PREFIX=/usr >"$work/make" 2>&1
judge 'make uninstall: what is not ours stays' "$([ "$(installed)" = usr/share/rant/of_somebody_else ] || installed)"
rm "$work/root/usr/share/rant/of_somebody_else"
make -s uninstall DESTDIR="$work/root" PREFIX=/usr >"$work/make" 2>&1
judge 'make uninstall: nothing is left, no folder either' "$(find "$work/root" | sort | diff "$work/before" -)"

# ---- Options ------------------------------------------------------------------------------------------------------------

# All option names of the help, and of the manual page.
of_help() {
	local all=

	[ "$1" != ./rant ] || all=all
	"$@" --help $all | grep -oE -- '^ +(-[^ ]( [A-Z]+)?, )?--[^ ]+' | sed 's/ [A-Z][A-Z]*,/,/' | grep -oE -- '--?[^ ,]+' | sort -u
}
of_page() {
	mandoc -Tutf8 "$work/$1" | col -b | awk '/^[A-Z]/ { options = /^OPTIONS/ } options' |
		grep -oE -- '^ +(-[^ ]( [A-Z]+)?, )?--[^ ]+' | sed 's/ [A-Z][A-Z]*,/,/' | grep -oE -- '--?[^ ,]+' |
		sed 's/[.;:)]*$//' | sort -u # a line of text may begin with an option
}
judge 'rant.1 has each option of --help' "$(diff <(of_help ./rant) <(of_page rant.1))"
judge 'rant-config.8 has each option of --help' "$(diff <(of_help ./config.sh) <(of_page rant-config.8))"
judge 'rant-plot.1 has each option of --help' "$(diff <(of_help plot/rant-plot) <(of_page rant-plot.1))"
judge 'rant.1 has a paragraph of docs/options.md' "$(mandoc -Tutf8 "$work/rant.1" | col -b | tr -s ' \t\n' ' ' |
	grep -q 'A slot that ends before its probe could be sent, because the window was full' || echo 'it has not')"
judge 'rant.1 has no heading without text' "$(mandoc -Tutf8 "$work/rant.1" | col -b | awk '
	/^   ?[A-Z]/ && was { print was }
	{ if (/^[A-Z]|^   [A-Z]/) was = $0; else if (NF) was = "" }' | grep '^   ')"
judge 'a program without options makes no page' "$(man/page.sh man/rant.1.in true 2>/dev/null && echo 'there is one')"

# ---- Completion -------------------------------------------------------------------------------------------------------

program=./rant

# complete_bash WORD...: the completions of the last word.
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

# "OPTION WORD...": the options with choices, from the table that parses.
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
completes '' -c ''
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

# zsh completes on a terminal only, so this replaces the functions that the completion calls; real terminals follow below.
zsh_said=
if command -v zsh >/dev/null; then
	for program in plot/rant-plot ./config.sh ./rant; do
		zsh_says=$(zsh -fc '
			words=($0)
			_call_program() { shift; eval "$@" }
			_arguments() { shift; print -l -- "$@" }
			. completion/_rant' "$program")
		judge "zsh: every option of $program is completed" \
			"$(diff <(of_help "$program") <(grep -oE -- '^--?[^[ =]+' <<<"$zsh_says" | sort -u))"
		zsh_said+=$zsh_says$'\n'
	done
	while read -r option words; do
		judge "zsh: $option has its words" "$(grep -q -- "^$option=\[.*:($words)\$" <<<"$zsh_says" || grep -- "^$option" <<<"$zsh_says")"
	done <<<"$choices"
	for line in '--panel=\[.*:_values -s , NAME histogram percentiles time stages one-way$' \
		"--only=\\[.*:_values -s , STEP ${steps//$'\n'/ }\$" '--skip=\[.*:_values -s , STEP namespace ' \
		'--on-breach=\[.*:ACTION:(stop continue exec.*:)' '-i\[.*:IFACE:_net_interfaces' '--json=\[.*:FILE:_files' '-d\[.*:S:$' \
		'--save-trace=\[.*:DIR:_files -/' '--user=\[.*:NAME:_users' '--poisson\[[^]]*\]$' \
		'\*:FILE:_files'; do
		judge "zsh: $line" "$(grep -q -- "^$line" <<<"$zsh_said" || echo 'there is no such line')"
	done
else
	echo 'ok - manual: zsh # SKIP there is no zsh'
fi

# ---- Completion by real shells on a terminal ----------------------------------------------------------------------------

mkdir -p "$work/typed/a folder"
: >"$work/typed/a file"
for shell in bash zsh; do
	if ! command -v "$shell" >/dev/null || ! command -v python3 >/dev/null; then
		echo "ok - manual: $shell on a terminal # SKIP there is no $shell or no python3"
		continue
	fi
	while IFS='|' read -r text wanted; do
		judge "$shell on a terminal: '$text'" "$(same "$wanted" "$(timeout 90 tests/type_tab.py "$shell" "$PWD" "$work/typed" "$text" X)")"
	done <<-'END'
		rant --json a\ fi|<rant><--json><a file><X>
		rant --save-trace a\ fo|<rant><--save-trace><a folder/X>
		rant --stamp=k|<rant><--stamp=kernel><X>
		rant --stamp u|<rant><--stamp><user><X>
	END
done
