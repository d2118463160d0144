#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: rt slow
#
# The unit tests of the trace on a kernel that takes snapshots, which those that use the real tracefs ask for: only this program has such.
# Outside, before: make lab-programs
set -uo pipefail

status=0
program=$BUILD/test_tracefs
if [ ! -x "$program" ]; then
	echo "ok - tracefs # SKIP build/test_tracefs is not built: make lab-programs"
	exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1 # its golden file is below
output=$(CMOCKA_MESSAGE_OUTPUT=TAP "$program" 2>&1) || status=$?
# TAP to the lab's own form, with the name of this file, by which a second run finds it; what is no result is shown as a comment.
sed -E -e '/^(TAP version|[0-9]+\.\.|# ok - )/d' \
	-e 's/^(not )?ok [0-9]+ #? *skip(ped)?:? *(.*)/ok - tracefs_room: \3 # SKIP not in this kernel/I' \
	-e 's/^((not )?ok) [0-9]+ - (.*)/\1 - tracefs_room: \3/' -e '/^((not )?ok) - /!s/^/# /' <<<"$output"
exit "$status"
