#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Log and report as files, devices and pipes.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

make_old_log() {
	echo old >"$logs/e.log"
	chmod 640 "$logs/e.log"
	exec 8<"$logs/e.log"
}

is_replaced() {
	[ "$(cat <&8)" = old ] || complain 'the old file was written over, not replaced'
	exec 8<&-
	[ "$(stat -c %a "$logs/e.log")" = 640 ] || complain 'the new log has another mode than the old one'
}

make_link() {
	echo old >"$logs/aim"
	ln -s aim "$logs/e.log"
}

make_nodes() {
	mknod "$logs/null" c 1 3
	mknod "$logs/full" c 1 7
}

still_node() {
	[ -c "$logs/$1" ] || complain "$1 is no longer a device"
}

still_old() {
	[ "$(cat "$logs/$1")" = old ] || complain "$1 was changed"
}

prepare=make_old_log pair 'a log is replaced, not written over' '0 0' "$K" "$K --count 20 -l LOG" '@is_replaced' \
	'@columns e SEQ T1_KERNEL T4_KERNEL RTT'
alone 'log: a directory' 1 e "$E -l $logs" '@silent' '@one_line e' "e.err ~ --log $logs: is a directory"
prepare=make_link alone 'log: a symbolic link' 1 e "$E -l LOG" '@silent' '@one_line e' \
	"e.err ~ --log .*: is a symbolic link" '@still_old aim'
alone 'log: no such directory' 1 e "$E -l /nonexistent/log" '@silent' '@one_line e' \
	'e.err ~ --log /nonexistent/log: cannot write there \(No such file or directory\): choose another place'
# Own nodes: a rant that replaced /dev/null would harm the machine.
if make_nodes 2>/dev/null && true >"$logs/null"; then
	prepare=make_nodes pair 'log: a device stays a device' '0 0' "$K" "$K --count 20 -l $logs/null" '@still_node null' \
		'e.err empty' 'e.out ~ ^Log: 20 of 20 records; text, [0-9]+ octets$'
	prepare=make_nodes pair 'log: a full device is an error, and the report is complete' '0 1' "$K" "$K --count 20 -l $logs/full" \
		'@still_node full' '@one_line e' "e.err ~ --log $logs/full: could not be written \(No space left on device\): the rest of the log is left out" \
		'e:Recorded -eq 20' 'e.out ~ ^Log: 0 of 20 records, 20 could not be written; text, 0 octets$' \
		'e.out ~ ^Measurement: .*the log is incomplete \(20 records left out\)'
else
	skip 'log: devices' 'no device nodes can be made here'
fi
emitter_stdout=/dev/full pair 'report: a full device is an error' '0 1' "$K" "$K --count 20 -l LOG" '@one_line e' \
	'e.err ~ the report could not be written to stdout: No space left on device' '@columns e SEQ T1_KERNEL T4_KERNEL RTT'

cat >"$work/into-nothing" <<-'END'
	#!/bin/bash
	"$@" | exec 0<&-
	exit "${PIPESTATUS[0]}"
END
chmod 755 "$work/into-nothing"

broken_pipe() {
	begin 'report: a reader that went away costs neither log nor status' || return 0
	start_reflector r "$K"
	as=$work/into-nothing start_emitter e "$K -d 0.3 -l LOG"
	finish e
	terminate r
	for one in '@expect_status e 1' '@columns e SEQ T1_KERNEL T4_KERNEL RTT' '@one_line e' \
		'e.err ~ the report could not be written to stdout: Broken pipe'; do
		check "$one"
	done
	verdict
}
broken_pipe

full_disk() {
	local disk=$work/disk

	begin 'log: a full disk is an error, and the old log stays' || return 0
	rm -rf "$disk" "$disk.after"
	mkdir "$disk"
	start_reflector r "$K"
	as="unshare -m $work/on-disk 8k $disk" start_emitter e "$K --timeout 5000 --count 100 -l $disk/log"
	finish e
	terminate r
	for one in '@expect_status e 1' '@audit e' 'e:Recorded -eq 100' '@one_line e' \
		"e.err ~ --log $disk/log: could not be written \(No space left on device\): the rest of the log is left out: choose another place$"; do
		check "$one"
	done
	[ "$(cat "$disk.after/log")" = old ] || complain 'the old log is gone'
	[ "$(ls -A "$disk.after")" = log ] || complain "left behind: $(ls -A "$disk.after")"
	verdict
}
if unshare -m true 2>/dev/null; then
	full_disk
else
	skip 'log: a full disk' 'no mount namespace can be made here'
fi

# Folders with the names of all outputs are created during the run.
names_are_taken() {
	local kind

	begin 'outputs whose names are taken during the run stay as .partial, with a line each and status 1' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 -H --log $logs/e.log --json $logs/e.json --jsonl $logs/e.jsonl --hlog $logs/e.hlog --hgrm $logs/e.hgrm"
	wait_for_packets e e 20
	mkdir "$logs"/e.{log,json,jsonl,hlog,hgrm}
	send INT e
	finish e
	terminate r
	for one in '@expect_status e 1' '@audit e' 'e:Recorded -ge 18'; do
		check "$one"
	done
	for kind in log json jsonl hlog hgrm; do
		check "e.err ~ ^rant: --$kind $logs/e.$kind: could not be written \(Is a directory\): .* stays as $logs/e.$kind.partial: "
		[ -s "$logs/e.$kind.partial" ] || complain "e.$kind.partial is not there"
	done
	json_agrees e "$logs/e.json.partial"
	leaves=partial verdict
}
names_are_taken

# Each error has its line, and SIGXFSZ ends no process.
long_files() {
	begin 'files at the size limit (ulimit -f) are errors, and the report is complete' || return 0
	start_reflector r "$K"
	as='prlimit --fsize=4096' start_emitter e "$K --timeout 5000 --count 200 --log $logs/e.log --json $logs/e.json"
	finish e
	terminate r
	for one in '@expect_status e 1' '@audit e' 'e:Recorded -eq 200'; do
		check "$one"
	done
	for kind in log json; do
		check "e.err ~ ^rant: --$kind $logs/e.$kind: could not be written \(File too large\): "
	done
	leaves=partial verdict
}
long_files
