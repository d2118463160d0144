#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks the structure of the source: dependencies between layers, and headers that compile alone. A file or function that
# is longer than usual is printed as a question.
#
#   structure.sh [dependencies | headers | sizes] [FOLDER]    FOLDER: the source tree (default: this one)
#
# One line for each fault, and exit status 1 if there is one; else one line with the measured numbers. "question: ..." is not a fault.
set -euo pipefail
export LC_ALL=C
shopt -s nullglob extglob

# Layers, lowest first: a module includes modules of its own layer and of lower layers.
layers=(
	'rant.h options.[ch] options/*.[ch] histogram.[ch]'
	'host/*.[ch] host/*/*.[ch] tracefs.[ch]'
	'wire/*.[ch]'
	'result/*.[ch]'
	'measure/*.[ch]'
	'doctor/*.[ch] report/*/*.[ch]'
	'analyse/*.[ch]'
	'explain/*.[ch]'
	'rant.c'
)

# The only files of the root folder.
at_the_top='rant.c rant.h options.c options.h histogram.c histogram.h tracefs.c tracefs.h config.sh Makefile README.md CHANGELOG.md CONTRIBUTING.md RELEASE.md SECURITY.md LICENSE'

# A .c without a header of its name includes the private header of its folder (inside.h or NAME_inside.h), or one of
# these: FILE  HEADER  what the header declares
other_header='
report/export/json_*.c  report/export/json_parts.h  the members of one object, in the order in which they are written
analyse/run_*.c   analyse/run_parts.h  the same members, as they are read
analyse/log_*.c   analyse/log_read.h  the reader of a log, and the parts of each form
host/trace/trace_*.c  host/trace/trace_files.h  the parts of tracefs.c
host/trace/trace_*.c  host/trace/trace_save.h  saving during the run and after it
report/log/log_*.c  report/log/log_form.h  the forms of a log
report/text/*.c   report/text/sections.h  the sections of the report
report/text/*.c   report/text/report.h  functions that begin with report_
result/take_*.c   result/take.h  the copies of the objects of host/
'

# A report is made of a struct result: report/ and analyse/ include nothing of host/, wire/, measure/ and tracefs.h, except:
# FILE  INCLUDED  the reason
report_exceptions='
report/export/outputs.h              host/process/worker.h            the thread of the outputs
report/export/outputs.c              host/process/privileges.h        output files are opened before the privileges are dropped
report/export/outputs.c              host/process/startup_watchdog.h  the first write may block
report/export/breach_file.c          host/counters/activity.h         the interrupts of the NIC, by number
report/export/breach_file.c          host/counters/activity_unseen.h  what the kernel does not see, around a breach
report/export/breach_file.c          host/file.h                      file_write_all(): all octets, or an error
report/export/json_configuration.c   wire/transport.h                 transport_name(): the text of an address
report/export/prometheus.c           wire/transport.h                 transport_name(): the text of an address
report/log/log_writer.h              host/process/worker.h            the thread of the log
analyse/prove.c                      host/nic/nic_names.h             the name of each receive filter
report/text/account.c                host/nic/nic_driver.h            name of the counter of lost timestamps, by driver
report/text/interim.h                host/process/worker.h            the thread of the reports during a run
report/text/interim.c                host/process/signals.h           SIGQUIT asks for a report
report/text/configuration.c          host/process/memory.h            the pages that the memory of the run has got
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

# ---- Dependencies ----------------------------------------------------------------------------------------------------

# Sets layer to the index of the layer of file $1, from 0; false: the file is in none.
layer_of() {
	local pattern

	for layer in "${!layers[@]}"; do
		for pattern in ${layers[layer]}; do
			# shellcheck disable=SC2053 # a pattern
			[[ $1 != $pattern ]] || return 0
		done
	done
	return 1
}

# FILE INCLUDED: one #include line of a file.
check_dependency() {
	local file=$1 included=$2 own=${1%.c} from layer

	layer_of "$file" && from=$layer || return 0
	case $included in
	*.c) fault "$file includes $included: no .c is included" ;;
	*..*) fault "$file includes $included, which is not written from the root" ;;
	*)
		if [ ! -e "$included" ] || ! layer_of "$included"; then
			fault "$file includes $included, which does not exist: write the path from the root"
		elif [ "$layer" -gt "$from" ]; then
			fault "$file includes $included, which is in a higher layer"
		fi
		;;
	esac
	[[ $file != report/* && $file != analyse/* || $included != @(host/*|wire/*|measure/*|tracefs.h) ]] ||
		grep -q "^$file  *$included " <<<"$report_exceptions" ||
		fault "$file includes $included: a report is made of a struct result, see result/result.h"
	[ "$file" != rant.h ] || fault "rant.h includes $included: it includes nothing of the project"
	[[ $file != host/process/worker.[ch] || $included == rant.h || $included == "${own%.h}.h" ]] ||
		fault "$file includes $included: the worker thread depends on no other module"
	[[ $included != options/* || $file == options.c || $file == options/* ]] ||
		fault "$file includes $included, which is for the command line only: include options.h"
	[[ $included != *inside.h || ${included%/*} == "${file%/*}" || ${included%/*}.c == "$file" ]] ||
		fault "$file includes $included, which is private to its folder"
}

check_exceptions() {
	local file included

	while read -r file included _; do
		[ ! -e "$file" ] || grep -q "^#include \"$included\"" "$file" ||
			fault "$file does not include $included: remove this exception of a report"
	done <<<"$report_exceptions"
}

check_top() {
	local file

	while read -r file; do
		[[ $file == .* || " $at_the_top " == *" $file "* ]] || fault "$file is not one of the files of the root folder"
	done < <(git ls-files -- ':(glob)*' 2>/dev/null || printf '%s\n' ./*.* | sed 's|^./||')
}

dependencies() {
	local file included count=0

	for file in "${sources[@]}"; do
		layer_of "$file" || fault "$file is in a folder that belongs to no layer"
	done
	while IFS=: read -r file included; do
		count=$((count + 1))
		check_dependency "$file" "$included"
	done < <(grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "${sources[@]}" | sed 's/:[^"]*"/:/; s/".*//')
	check_exceptions
	check_top
	measured="$count includes in ${#sources[@]} files"
}

# ---- Headers ---------------------------------------------------------------------------------------------------------

has_header() { # FILE
	local pattern header

	[[ $1 != *.h && ! -e ${1%.c}.h ]] || return 0
	! grep -q "^#include \"${1%/*}/[a-z_]*inside\.h\"" "$1" || return 0
	while read -r pattern header _; do
		# shellcheck disable=SC2053 # a pattern
		[[ ! $header || $1 != $pattern ]] || ! grep -q "^#include \"$header\"" "$1" || return 0
	done <<<"$other_header"
	return 1
}

headers() {
	local header file output

	for header in "${headers[@]}"; do
		output=$(echo "#include \"$header\"" | gcc -std=gnu11 -Wall -Wextra -Werror -I. -I/usr/include/libnl3 \
			-x c -c - -o /dev/null 2>&1) || fault "$header does not compile alone: $(grep -m 1 error <<<"$output")"
	done
	for file in "${sources[@]}"; do
		has_header "$file" || fault "$file has no header"
	done
	measured="${#headers[@]} headers"
}

# ---- Sizes -----------------------------------------------------------------------------------------------------------

# Prints "LINES FILE:FUNCTION" of each function in the files given: C from the line with its name to the brace in the
# first column, shell from "name() {" to that brace.
functions_of() {
	[ $# -eq 0 ] || awk '
		function print_lines() { print FNR - first + 1, FILENAME ":" name; first = open = 0 }
		FNR == 1 { first = open = 0; shell = FILENAME !~ /[.][ch]$/ }
		shell && !open && /^[A-Za-z_][A-Za-z0-9_]*\(\) *[{(]/ {
			name = $1; sub(/\(.*/, "", name)
			first = FNR; open = 1
			if (/[})]$/) print_lines()
			next
		}
		!shell && !open && /^[A-Za-z_]/ {
			line = $0
			gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?\)\) */, "", line)
			if (match(line, /^[^=;]*\(/)) {
				match(line, /[A-Za-z0-9_]+\(/)
				name = substr(line, RSTART, RLENGTH - 1)
				first = FNR
				if (/[{].*}$/) { print_lines(); next }
			}
		}
		!shell && first && !open && /;$/ { first = 0 }
		!shell && first && !open && /(^|[^=] )[{]$/ { open = 1; next }
		open && /^[})]/ { print_lines() }' "$@"
}

lines_of() {
	[ $# -eq 0 ] || wc -l "$@" | awk '$2 != "total" { print $1, $2 }'
}

# too_long LIMIT KIND <LINES-AND-NAMES
too_long() {
	local lines name

	while read -r lines name; do
		[ "$lines" -le "$1" ] || echo "question: $name has $lines lines, $2 usually at most $1: split it?"
	done
}

# Prints the name and length of the longest.
longest() {
	sort -rn | awk 'NR == 1 { print $2 " (" $1 ")" }'
}

sizes() {
	local product median
	local -a programs python plots

	mapfile -t programs < <(find tests -type f -name '*.[ch]' -o -type f -name '*.sh' | sort)
	mapfile -t python < <(find tests -type f -name '*.py' | sort)
	plots=(plot/* contrib/*/rant-* contrib/*/run contrib/*/*.py)
	product=$(functions_of "${sources[@]}" "${scripts[@]}") # installed files only, for the median
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

for part in ${1:-dependencies headers sizes}; do
	case $part in
	dependencies | headers | sizes)
		$part
		[ "$faults" -gt 0 ] || echo "$part: $measured"
		;;
	*)
		echo "usage: structure.sh [dependencies | headers | sizes] [FOLDER]" >&2
		exit 1
		;;
	esac
done
[ "$faults" -eq 0 ]
