#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# structure.sh finds each fault: a small correct source tree gets one fault at a time.
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
# Text in single quotes is for eval, and functions are called from there.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

structure=$(cd "$(dirname "$0")" && pwd)/structure.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# lines N: a text of N lines.
lines() {
	seq -f '/* line %.0f */' "$1"
}

# module NAME INCLUDE...: a source and its header.
module() {
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
	mkdir options host host/clock host/process wire result measure doctor report report/text config tests tests/unit
	echo '#define _GNU_SOURCE' >rant.h
	printf '#include "result/log.h"\n\nint main(void)\n{\n\treturn 0;\n}\n' >rant.c
	module host/clock/clock
	module host/process/worker
	module wire/packet host/clock/clock.h
	module result/log wire/packet.h host/clock/clock.h
	module report/text/report result/log.h
	module doctor/check report/text/report.h
	cp doctor/check.h doctor/inside.h
	printf '#include "doctor/inside.h"\n\nint rows(void)\n{\n\treturn 0;\n}\n' >doctor/check_host.c
	cp doctor/check.h report/text/sections.h
	printf '#include "report/text/sections.h"\n\nint part(void)\n{\n\treturn 0;\n}\n' >report/text/part.c
	module options options/inside.h
	cp doctor/check.h options/inside.h
	printf 'say() {\n\techo\n}\n' >config.sh
	cp config.sh config/steps.sh
	cp config.sh tests/check.sh
	cp rant.c tests/unit/test_log.c
}

# finds NAME CHECK COMMAND FAULT: after the command, the check reports this fault and no other.
finds() {
	local output status=0

	build
	eval "$3" || exit 1
	output=$("$structure" "$2" "$work" 2>&1) || status=$?
	if [ "$status" -eq 1 ] && [ "$output" = "$4" ]; then
		echo "ok - structure: $1"
	else
		failed=1
		echo "not ok - structure: $1"
		printf '# %s\n' "status $status, not 1, or it is not '$4':" "${output//$'\n'/$'\n# '}"
	fi
}

in_order() {
	local part output

	build
	for part in dependencies headers sizes; do
		if output=$("$structure" "$part" "$work" 2>&1) && [ "$(wc -l <<<"$output")" -eq 1 ]; then
			echo "ok - structure: a correct tree passes: $part"
		else
			failed=1
			echo "not ok - structure: a correct tree passes: $part"
			printf '# %s\n' "${output//$'\n'/$'\n# '}"
		fi
	done
}

in_order

higher='which is in a higher layer'
finds 'an include of a higher layer' dependencies 'module host/clock/clock wire/packet.h' "host/clock/clock.c includes wire/packet.h, $higher"
finds 'an include of a higher layer, in a header' dependencies 'echo "  #  include \"report/text/report.h\" /* x */" >>result/log.h' \
	"result/log.h includes report/text/report.h, $higher"
finds 'an include of a file that does not exist' dependencies 'module wire/packet host/clocks.h' \
	'wire/packet.c includes host/clocks.h, which does not exist: write the path from the root'
finds 'an include that is not from the root' dependencies 'module host/clock/clock worker.h' \
	'host/clock/clock.c includes worker.h, which does not exist: write the path from the root'
finds 'an include by ..' dependencies 'module wire/packet ../host/clock.h' \
	'wire/packet.c includes ../host/clock.h, which is not written from the root'
finds 'an include of a .c' dependencies 'module wire/packet host/clock/clock.c' \
	'wire/packet.c includes host/clock/clock.c: no .c is included'
finds 'a worker thread that depends on another module' dependencies 'module host/process/worker host/clock/clock.h' \
	'host/process/worker.c includes host/clock/clock.h: the worker thread depends on no other module'
finds 'a worker thread whose header depends on another module' dependencies 'echo "#include \"host/clock/clock.h\"" >>host/process/worker.h' \
	'host/process/worker.h includes host/clock/clock.h: the worker thread depends on no other module'
finds 'rant.h that includes a module' dependencies 'echo "#include \"options.h\"" >>rant.h' \
	'rant.h includes options.h: it includes nothing of the project'
finds 'a private header of another folder' dependencies 'touch wire/inside.h; module result/log wire/inside.h' \
	'result/log.c includes wire/inside.h, which is private to its folder'
finds 'a private header of another folder, at the top' dependencies 'touch wire/inside.h; echo "#include \"wire/inside.h\"" >>rant.c' \
	'rant.c includes wire/inside.h, which is private to its folder'
finds 'a report that includes a measuring loop' dependencies 'module measure/loop result/log.h; module report/text/report measure/loop.h' \
	'report/text/report.c includes measure/loop.h: a report is made of a struct result, see result/result.h'
finds 'a report that reads the machine' dependencies 'module report/text/report host/clock/clock.h' \
	'report/text/report.c includes host/clock/clock.h: a report is made of a struct result, see result/result.h'
finds 'an exception that no report needs any more' dependencies 'module report/text/interim' \
	'report/text/interim.h does not include host/process/worker.h: remove this exception of a report
report/text/interim.c does not include host/process/signals.h: remove this exception of a report'
finds 'a folder without a layer' dependencies 'mkdir tools; touch tools/x.c' 'tools/x.c is in a folder that belongs to no layer'
finds 'a script in the root folder' dependencies 'touch run.sh' 'run.sh is not one of the files of the root folder'
finds 'a source in the root folder' dependencies 'touch clock.c' "clock.c is in a folder that belongs to no layer
clock.c is not one of the files of the root folder"

finds 'a header that does not compile alone' headers 'echo "uint64_t x(void);" >>wire/packet.h' \
	"wire/packet.h does not compile alone: wire/packet.h:9:1: error: unknown type name 'uint64_t'"
finds 'a source without a header' headers 'cp wire/packet.c wire/decode.c' 'wire/decode.c has no header'

finds 'a source that does not include the private header of its folder' headers 'cp wire/packet.c doctor/check_nic.c' \
	'doctor/check_nic.c has no header'
finds 'a source that includes the private header of another folder only' headers 'cp doctor/check_host.c wire/decode.c' \
	'wire/decode.c has no header'
finds 'an excepted source that does not include its header' headers 'cp wire/packet.c report/text/row.c' \
	'report/text/row.c has no header'

# asks NAME COMMAND QUESTION: after the command, sizes prints this question and no fault.
asks() {
	local output status=0

	build
	eval "$2" || exit 1
	output=$("$structure" sizes "$work" 2>&1) || status=$?
	if [ "$status" -eq 0 ] && [ "$(grep '^question: ' <<<"$output")" = "$3" ] && [ "$(grep -c '^sizes: ' <<<"$output")" -eq 1 ]; then
		echo "ok - structure: $1"
	else
		failed=1
		echo "not ok - structure: $1"
		printf '# %s\n' "status $status, not 0, or it is not '$3':" "${output//$'\n'/$'\n# '}"
	fi
}

asks 'a long source' 'lines 500 >wire/packet.c; lines 501 >wire/decode.c' \
	'question: wire/decode.c has 501 lines, a source usually at most 500: split it?'
asks 'a long header' 'lines 200 >wire/packet.h; lines 201 >wire/decode.h' \
	'question: wire/decode.h has 201 lines, a header usually at most 200: split it?'
asks 'wide lines' 'printf "/* %113s */\n/* %115s */\n" "" "" >>wire/packet.c' 'question: 1 lines of the program are wider than 120 columns'
asks 'a long script' 'lines 501 >config/steps.sh' 'question: config/steps.sh has 501 lines, a script usually at most 500: split it?'
asks 'a long file of the tests' 'lines 1000 >tests/unit/test_log.c; lines 1001 >tests/unit/test_x.py' \
	'question: tests/unit/test_x.py has 1001 lines, a file of the tests usually at most 1000: split it?'
asks 'a long function' 'c_function wire/packet.c good 50; c_function wire/packet.c bad 51' \
	'question: wire/packet.c:bad has 51 lines, a function usually at most 50: split it?'
asks 'a long function of a test' 'c_function tests/unit/test_log.c bad 51' \
	'question: tests/unit/test_log.c:bad has 51 lines, a function usually at most 50: split it?'
asks 'a long function of a script' 'shell_function config.sh good 50; shell_function config.sh bad 51' \
	'question: config.sh:bad has 51 lines, a function usually at most 50: split it?'
asks 'many functions that are a little long' 'for i in $(seq 20); do c_function wire/packet.c "f$i" 16; done' \
	'question: the median function has 16 lines, usually at most 15'

exit "$failed"
