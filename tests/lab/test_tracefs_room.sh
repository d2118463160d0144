#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: rt, so that both guests take about as long
#
# The unit tests of the trace on a kernel that takes snapshots, which those that use the real tracefs ask for. Outside, before:
# make lab-programs
set -uo pipefail

status=0
programs=("$TESTS"/../../build/test_trace*)
if [ ! -x "${programs[0]}" ]; then
	echo "ok - tracefs # SKIP build/test_trace* are not built: make lab-programs"
	exit 0
fi
for program in "${programs[@]}"; do
	output=$(CMOCKA_MESSAGE_OUTPUT=TAP "$program" 2>&1) || status=$?
	# TAP to the lab's own form; what is no result is shown as a comment.
	sed -E -e '/^(TAP version|[0-9]+\.\.|# ok - )/d' \
		-e 's/^(not )?ok [0-9]+ #? *skip(ped)?:? *(.*)/ok - \3 # SKIP not in this kernel/I' \
		-e 's/^((not )?ok) [0-9]+ - (.*)/\1 - \3/' -e '/^((not )?ok) - /!s/^/# /' <<<"$output"
done
exit "$status"
