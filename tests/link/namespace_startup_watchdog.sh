#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A slow step before the first probe is reported, and a signal ends it.
# build: plain: the sanitizer does not lock memory
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

has_reported() { # NAME WORDS
	! is_running "$1" || grep -Eqs "$2" "$work/$1.err"
}

ended_at_once() { # SINCE: within a second, and a busy machine may be slow
	[ $((${EPOCHREALTIME/./} - $1)) -lt 3000000 ] || complain "it took $((${EPOCHREALTIME/./} - $1)) us to end"
}

# The first line cannot be written: the pipe is full and its reader does not read.
full_pipe() {
	local since

	begin 'start-up watchdog: a pipe without a reader is reported, and a signal ends the wait' || return 0
	mkfifo "$logs/pipe"
	exec 7<>"$logs/pipe"
	head -c 65536 /dev/zero >&7
	start_emitter e "$K --jsonl $logs/pipe -l LOG"
	poll has_reported e 'still writing the first lines, for [0-9.]+ s now; nothing has been sent'
	since=${EPOCHREALTIME/./}
	terminate e
	ended_at_once "$since"
	exec 7>&-
	expect_status e 1
	check 'e.err ~ ^rant: ended by a signal while writing the first lines, after '
	check 'e.out empty'
	silent
	[ "$(ls -A "$logs")" = pipe ] || complain "left behind: $(ls -A "$logs")"
	verdict
}

slow_lock() {
	begin 'start-up watchdog: slow memory locking is reported once, and the run goes on' || return 0
	start_reflector r "$K"
	as="env LD_PRELOAD=$spike FAULT=lock,15" start_emitter e "$K --count 20 --timeout 5000"
	finish e
	terminate r
	for one in '@expect_status e 0' '@audit e' 'e:Recorded -eq 20' \
		'e.err ~ ^rant: still locking memory, for [0-9.]+ s now; nothing has been sent$'; do
		check "$one"
	done
	[ "$(grep -c . "$work/e.err")" -eq 1 ] || complain 'the warning is printed more than once'
	verdict
}

ended_while_it_locks() {
	local since

	begin 'start-up watchdog: a signal ends a program that locks memory' || return 0
	as="env LD_PRELOAD=$spike FAULT=lock,300" start_emitter e "$K -l LOG"
	poll has_reported e 'still locking memory'
	since=${EPOCHREALTIME/./}
	send INT e
	finish e
	ended_at_once "$since"
	expect_status e 1
	check 'e.err ~ ^rant: ended by a signal while locking memory, after '
	check 'e.out empty'
	silent
	[ -z "$(ls -A "$logs")" ] || complain "left behind: $(ls -A "$logs")"
	verdict
}

full_pipe
if [ -n "$spike" ]; then
	slow_lock
	ended_while_it_locks
else
	skip 'start-up watchdog: locking memory' 'no library that makes it slow'
fi
