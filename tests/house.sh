#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Holds the house: what may include what, and headers that stand alone. Sizes are questions: what is longer than usual is printed.
#
#   house.sh [arrows | headers | sizes] [FOLDER]    FOLDER: the tree, this one unless given
#
# One line for each fault, and exit status 1 if there is one; else one line with what was measured. "question: ..." is no fault.
set -euo pipefail
export LC_ALL=C
shopt -s nullglob

# Places, from left to right: a room includes rooms of its own place and of places to the left.
places=(
	'rant.h options.[ch] options/*.[ch] histogram.[ch]'
	'host/*.[ch] host/*/*.[ch] tracefs.[ch]'
	'wire/*.[ch]'
	'result/*.[ch]'
	'measure/*.[ch]'
	'doctor/*.[ch] report/*/*.[ch]'
	'analyse/*.[ch]'
	'rant.c'
)

# Nothing else is at the top.
at_the_top='rant.c rant.h options.c options.h histogram.c histogram.h tracefs.c tracefs.h config.sh Makefile README.md CHANGELOG.md CONTRIBUTING.md RELEASE.md SECURITY.md LICENSE'

# A .c without a header of its name: the one that has its contract, which it includes, and why.
contract_elsewhere='
report/export/json_*.c  report/export/json_parts.h  the parts of one object, in the order in which they are written
doctor/check_*.c  doctor/rows.h  the rows of one table, in the order in which they are printed
analyse/run_*.c   analyse/run_parts.h  the same parts, as they are read
options/help.c    options.h  what all others see of the table
options/number.c  options/value.h  one kind of value, which the table of kinds there has
options/address.c options/value.h  another
'

source_lines=500 header_lines=200 test_lines=1000 function_lines=50 line_columns=120 median_lines=15

cd "${2:-$(dirname "$0")/..}"
faults=0

fault() {
	echo "$*"
	faults=$((faults + 1))
}

sources=(./*.[ch] ./[!.]*/*.[ch] ./[!.t]*/*/*.[ch])
sources=("${sources[@]#./}")
headers=(./*.h ./[!.]*/*.h ./[!.t]*/*/*.h)
headers=("${headers[@]#./}")
scripts=(config.sh config/*.sh)

# ---- Arrows ----------------------------------------------------------------------------------------------------------

# Sets place to the place of file $1, from 0 on; false: it has none.
place_of() {
	local pattern

	for place in "${!places[@]}"; do
		for pattern in ${places[place]}; do
			# shellcheck disable=SC2053 # a pattern
			[[ $1 != $pattern ]] || return 0
		done
	done
	return 1
}

# FILE INCLUDED: one line of a file.
check_arrow() {
	local file=$1 included=$2 own=${1%.c} from place

	place_of "$file" && from=$place || return 0
	case $included in
	*.c) fault "$file includes $included: no .c is included" ;;
	*..*) fault "$file includes $included, which is not written from the root" ;;
	*)
		if [ ! -e "$included" ] || ! place_of "$included"; then
			fault "$file includes $included, which is not there: is it written from the root?"
		elif [ "$place" -gt "$from" ]; then
			fault "$file includes $included, which is further on the way of the packet"
		fi
		;;
	esac
	[[ $file != report/* && $file != analyse/* || $included != measure/* ]] ||
		fault "$file includes $included: a report is made of a struct result, see result/result.h"
	[ "$file" != rant.h ] || fault "rant.h includes $included: it includes nothing of the project"
	[[ $file != host/process/watch.[ch] || $included == rant.h || $included == "${own%.h}.h" ]] ||
		fault "$file includes $included: the watch knows no other room"
	[[ $included != options/* || $file == options.c || $file == options/* ]] ||
		fault "$file includes $included, which is for the command line only: options.h has what was asked for"
	[[ $included != *inside.h || ${included%/*} == "${file%/*}" ]] ||
		fault "$file includes $included, which is for its own folder only"
}

check_top() {
	local file

	while read -r file; do
		[[ $file == .* || " $at_the_top " == *" $file "* ]] || fault "$file is at the top, where it has no place"
	done < <(git ls-files -- ':(glob)*' 2>/dev/null || printf '%s\n' ./*.* | sed 's|^./||')
}

arrows() {
	local file included count=0

	for file in "${sources[@]}"; do
		place_of "$file" || fault "$file is in a folder that has no place"
	done
	while IFS=: read -r file included; do
		count=$((count + 1))
		check_arrow "$file" "$included"
	done < <(grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "${sources[@]}" | sed 's/:[^"]*"/:/; s/".*//')
	check_top
	measured="$count includes in ${#sources[@]} files"
}

# ---- Headers ---------------------------------------------------------------------------------------------------------

has_contract() { # FILE
	local pattern header

	[[ $1 != *.h && ! -e ${1%.c}.h ]] || return 0
	while read -r pattern header _; do
		# shellcheck disable=SC2053 # a pattern
		[[ ! $header || $1 != $pattern ]] || ! grep -q "^#include \"$header\"" "$1" || return 0
	done <<<"$contract_elsewhere"
	return 1
}

headers() {
	local header file output

	for header in "${headers[@]}"; do
		output=$(echo "#include \"$header\"" | gcc -std=gnu11 -Wall -Wextra -Werror -I. -I/usr/include/libnl3 \
			-x c -c - -o /dev/null 2>&1) || fault "$header does not compile alone: $(grep -m 1 error <<<"$output")"
	done
	for file in "${sources[@]}"; do
		has_contract "$file" || fault "$file has no header beside it"
	done
	measured="${#headers[@]} headers"
}

# ---- Sizes -----------------------------------------------------------------------------------------------------------

# Prints "LINES FILE:FUNCTION" of each function in the files given: C from the line with its name to the brace in the
# first column, shell from "name() {" to that brace.
functions_of() {
	[ $# -eq 0 ] || awk '
		function told() { print FNR - first + 1, FILENAME ":" name; first = open = 0 }
		FNR == 1 { first = open = 0; shell = FILENAME !~ /[.][ch]$/ }
		shell && !open && /^[A-Za-z_][A-Za-z0-9_]*\(\) *[{(]/ {
			name = $1; sub(/\(.*/, "", name)
			first = FNR; open = 1
			if (/[})]$/) told()
			next
		}
		!shell && !open && /^[A-Za-z_]/ {
			line = $0
			gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?\)\) */, "", line)
			if (match(line, /^[^=;]*\(/)) {
				match(line, /[A-Za-z0-9_]+\(/)
				name = substr(line, RSTART, RLENGTH - 1)
				first = FNR
				if (/[{].*}$/) { told(); next }
			}
		}
		!shell && first && !open && /;$/ { first = 0 }
		!shell && first && !open && /(^|[^=] )[{]$/ { open = 1; next }
		open && /^[})]/ { told() }' "$@"
}

lines_of() {
	[ $# -eq 0 ] || wc -l "$@" | awk '$2 != "total" { print $1, $2 }'
}

# too_long LIMIT WHAT <LINES-AND-NAMES
too_long() {
	local lines name

	while read -r lines name; do
		[ "$lines" -le "$1" ] || echo "question: $name has $lines lines, $2 usually at most $1: are these two things?"
	done
}

# Prints the longest.
longest() {
	sort -rn | awk 'NR == 1 { print $2 " (" $1 ")" }'
}

sizes() {
	local product median
	local -a programs python plots

	mapfile -t programs < <(find tests -type f -name '*.[ch]' -o -type f -name '*.sh' | sort)
	mapfile -t python < <(find tests -type f -name '*.py' | sort)
	plots=(plot/* contrib/*/rant-* contrib/*/run contrib/*/*.py)
	product=$(functions_of "${sources[@]}" "${scripts[@]}") # what is installed, for the median
	expand "${sources[@]}" "${headers[@]}" | awk -v most=$line_columns 'length($0) > most { wide++ }
		END { if (wide) printf "question: %d lines of the program are wider than %d columns\n", wide, most }'
	too_long $source_lines 'a source' < <(lines_of "${sources[@]}" | grep '[.]c$')
	too_long $header_lines 'a header' < <(lines_of "${headers[@]}")
	too_long $source_lines 'a script' < <(lines_of "${scripts[@]}" "${plots[@]}")
	too_long $test_lines 'a file of the tests' < <(lines_of "${programs[@]}" "${python[@]}")
	too_long $function_lines 'a function' < <(functions_of "${sources[@]}" "${scripts[@]}" "${programs[@]}")
	median=$(sort -n <<<"$product" | awk '{ n[NR] = $1 } END { print NR % 2 ? n[(NR + 1) / 2] : (n[NR / 2] + n[NR / 2 + 1]) / 2 }')
	awk "BEGIN { exit !($median <= $median_lines) }" ||
		echo "question: the median function has $median lines, usually at most $median_lines"
	measured="${#sources[@]} files; longest: source $(lines_of "${sources[@]}" | grep '[.]c$' | longest), header \
$(lines_of "${headers[@]}" | longest), function $(longest <<<"$product"), file of the tests \
$(lines_of "${programs[@]}" "${python[@]}" | longest); median function $median lines"
}

for part in ${1:-arrows headers sizes}; do
	case $part in
	arrows | headers | sizes)
		$part
		[ "$faults" -gt 0 ] || echo "$part: $measured"
		;;
	*)
		echo "usage: house.sh [arrows | headers | sizes] [FOLDER]" >&2
		exit 1
		;;
	esac
done
[ "$faults" -eq 0 ]
