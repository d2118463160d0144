#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# house.sh finds what it is there for: in a small house that is in order one thing at a time is spoilt.
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
# Text in single quotes is for eval, and functions are called from there.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

house=$(cd "$(dirname "$0")" && pwd)/house.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# lines N: a text of so many lines.
lines() {
	seq -f '/* line %.0f */' "$1"
}

# room NAME INCLUDE...: a source and its header.
room() {
	local name=$1 included

	shift
	{
		echo "#include \"$name.h\""
		for included in "$@"; do
			echo "#include \"$included\""
		done
		printf '\nint %s(void)\n{\n\treturn 0;\n}\n' "${name//\//_}"
	} >"$name.c"
	printf '#ifndef X\n#define X\n\n#include "rant.h"\n\nint %s(void);\n\n#endif\n' "${name//\//_}" >"$name.h"
}

# c_function FILE NAME LINES, with its name in the first of them.
c_function() {
	printf '\n__attribute__((format(printf, 1, 2)))\nstatic struct x *%s(struct x *a,\n\tint b)\n{\n%s\n}\n' \
		"$2" "$(lines $(($3 - 4)))" >>"$1"
}

# shell_function FILE NAME LINES
shell_function() {
	printf '\n%s() { # WORDS\n%s\n}\n' "$2" "$(lines $(($3 - 2)))" >>"$1"
}

build() {
	rm -rf "${work:?}"/*
	cd "$work" || exit 1
	mkdir host host/clock host/process wire result measure doctor report report/text config tests tests/unit
	echo '#define _GNU_SOURCE' >rant.h
	printf '#include "result/log.h"\n\nint main(void)\n{\n\treturn 0;\n}\n' >rant.c
	room host/clock/clock
	room host/process/watch
	room wire/packet host/clock/clock.h
	room result/log wire/packet.h host/clock/clock.h
	room report/text/report result/log.h
	room doctor/check report/text/report.h
	cp doctor/check.h doctor/rows.h
	printf '#include "doctor/rows.h"\n\nint rows(void)\n{\n\treturn 0;\n}\n' >doctor/check_host.c
	printf 'say() {\n\techo\n}\n' >config.sh
	cp config.sh config/steps.sh
	cp config.sh tests/check.sh
	cp rant.c tests/unit/test_log.c
}

# finds WHAT PART COMMAND FAULT: after the command there is this fault, and no other.
finds() {
	local output status=0

	build
	eval "$3" || exit 1
	output=$("$house" "$2" "$work" 2>&1) || status=$?
	if [ "$status" -eq 1 ] && [ "$output" = "$4" ]; then
		echo "ok - house: $1"
	else
		failed=1
		echo "not ok - house: $1"
		printf '# %s\n' "status $status, not 1, or it is not '$4':" "${output//$'\n'/$'\n# '}"
	fi
}

in_order() {
	local part output

	build
	for part in arrows headers sizes; do
		if output=$("$house" "$part" "$work" 2>&1) && [ "$(wc -l <<<"$output")" -eq 1 ]; then
			echo "ok - house: what is in order passes: $part"
		else
			failed=1
			echo "not ok - house: what is in order passes: $part"
			printf '# %s\n' "${output//$'\n'/$'\n# '}"
		fi
	done
}

in_order

away='which is further on the way of the packet'
finds 'an include against the arrows' arrows 'room host/clock/clock wire/packet.h' "host/clock/clock.c includes wire/packet.h, $away"
finds 'an include against the arrows, in a header' arrows 'echo "  #  include \"report/text/report.h\" /* x */" >>result/log.h' \
	"result/log.h includes report/text/report.h, $away"
finds 'an include of what is not there' arrows 'room wire/packet host/clocks.h' \
	'wire/packet.c includes host/clocks.h, which is not there: is it written from the root?'
finds 'an include that is not from the root' arrows 'room host/clock/clock watch.h' \
	'host/clock/clock.c includes watch.h, which is not there: is it written from the root?'
finds 'an include by ..' arrows 'room wire/packet ../host/clock.h' \
	'wire/packet.c includes ../host/clock.h, which is not written from the root'
finds 'an include of a .c' arrows 'room wire/packet host/clock/clock.c' \
	'wire/packet.c includes host/clock/clock.c: no .c is included'
finds 'a watch that knows another room' arrows 'room host/process/watch host/clock/clock.h' \
	'host/process/watch.c includes host/clock/clock.h: the watch knows no other room'
finds 'a watch whose header knows another room' arrows 'echo "#include \"host/clock/clock.h\"" >>host/process/watch.h' \
	'host/process/watch.h includes host/clock/clock.h: the watch knows no other room'
finds 'rant.h that includes a room' arrows 'touch options.h; echo "#include \"options.h\"" >>rant.h' \
	'rant.h includes options.h: it includes nothing of the project'
finds 'a header of another folder that is not for all' arrows 'touch wire/inside.h; room result/log wire/inside.h' \
	'result/log.c includes wire/inside.h, which is for its own folder only'
finds 'a report that includes a loop' arrows 'room measure/loop result/log.h; room report/text/report measure/loop.h' \
	'report/text/report.c includes measure/loop.h: a report is made of a struct result, see result/result.h'
finds 'a folder without a place' arrows 'mkdir tools; touch tools/x.c' 'tools/x.c is in a folder that has no place'
finds 'a script at the top' arrows 'touch run.sh' 'run.sh is at the top, where it has no place'
finds 'a source at the top' arrows 'touch clock.c' "clock.c is in a folder that has no place
clock.c is at the top, where it has no place"

finds 'a header that does not stand alone' headers 'echo "uint64_t x(void);" >>wire/packet.h' \
	"wire/packet.h does not compile alone: wire/packet.h:9:1: error: unknown type name 'uint64_t'"
finds 'a source without a header' headers 'cp wire/packet.c wire/decode.c' 'wire/decode.c has no header beside it'

finds 'a source that is excused and has no contract' headers 'cp wire/packet.c doctor/check_nic.c' \
	'doctor/check_nic.c has no header beside it'

# asks NAME COMMAND QUESTION: after the command the sizes have this question, and no fault.
asks() {
	local output status=0

	build
	eval "$2" || exit 1
	output=$("$house" sizes "$work" 2>&1) || status=$?
	if [ "$status" -eq 0 ] && [ "$(grep '^question: ' <<<"$output")" = "$3" ] && [ "$(grep -c '^sizes: ' <<<"$output")" -eq 1 ]; then
		echo "ok - house: $1"
	else
		failed=1
		echo "not ok - house: $1"
		printf '# %s\n' "status $status, not 0, or it is not '$3':" "${output//$'\n'/$'\n# '}"
	fi
}

asks 'a long source' 'lines 500 >wire/packet.c; lines 501 >wire/decode.c' \
	'question: wire/decode.c has 501 lines, a source usually at most 500: are these two things?'
asks 'a long header' 'lines 200 >wire/packet.h; lines 201 >wire/decode.h' \
	'question: wire/decode.h has 201 lines, a header usually at most 200: are these two things?'
asks 'wide lines' 'printf "/* %113s */\n/* %115s */\n" "" "" >>wire/packet.c' 'question: 1 lines of the program are wider than 120 columns'
asks 'a long script' 'lines 501 >config/steps.sh' 'question: config/steps.sh has 501 lines, a script usually at most 500: are these two things?'
asks 'a long file of the tests' 'lines 1000 >tests/unit/test_log.c; lines 1001 >tests/unit/test_x.py' \
	'question: tests/unit/test_x.py has 1001 lines, a file of the tests usually at most 1000: are these two things?'
asks 'a long function' 'c_function wire/packet.c good 50; c_function wire/packet.c bad 51' \
	'question: wire/packet.c:bad has 51 lines, a function usually at most 50: are these two things?'
asks 'a long function of a test' 'c_function tests/unit/test_log.c bad 51' \
	'question: tests/unit/test_log.c:bad has 51 lines, a function usually at most 50: are these two things?'
asks 'a long function of a script' 'shell_function config.sh good 50; shell_function config.sh bad 51' \
	'question: config.sh:bad has 51 lines, a function usually at most 50: are these two things?'
asks 'many functions that are a little long' 'for i in $(seq 20); do c_function wire/packet.c "f$i" 16; done' \
	'question: the median function has 16 lines, usually at most 15'

exit "$failed"
