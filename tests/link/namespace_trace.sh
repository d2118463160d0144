#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the kernel's trace has of a breach.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

instance=/sys/kernel/tracing/instances/rant
saved=$logs/saved
many=100000
own_trace

# begin_trace NAME: begin, with an instance that records what a user would, and a folder to save to.
begin_trace() {
	begin "$1" || return 1
	rm -rf "$saved"
	mkdir "$saved" "$instance"
	echo mono_raw >"$instance/trace_clock"
	echo 4096 >"$instance/buffer_size_kb"
	echo 1 >"$instance/events/sched/sched_switch/enable"
}

end_trace() {
	verdict
	rmdir "$instance" 2>/dev/null
	rm -rf "$saved"
}

tracing_is() {
	[ "$(cat "$instance/tracing_on")" = "$1" ] || complain "tracing_on is not $1"
}

breach_is_frozen() {
	begin_trace 'a breach is marked, stops the trace, and is saved with what was before it' || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s -T -t 500000 --save-trace $saved -w 100"
	start_emitter e "$K --count 1000 --timeout 5000"
	finish r
	terminate e
	check '@expect_status r 2'
	check 'r.err empty'
	check 'r:Markers -eq 1'
	check 'r.out ~ ^  Stopped at #499, [0-9.]+ us after the breach was seen'
	check 'r.out ~ ^  Saved     : .*/saved/[^/]*499[^/]*, from trace, the spike is in cpu[0-9]+[.]txt$'
	tracing_is 0
	grep -v '^#' "$saved"/*/all.txt >"$work/trace.out"
	[ "$(grep -c RANT_TEST_START "$work/trace.out")" = 1 ] || complain 'not one RANT_TEST_START'
	[ "$(grep -c RANT_BREACH "$work/trace.out")" = 1 ] || complain 'not one RANT_BREACH'
	check 'trace.out ~ RANT_BREACH role=reflect seq=499 .*T2_KERNEL=[0-9]+[.][0-9]{9} .*T3_KERNEL='
	# The spike takes 0.6 s: there are switches of tasks within, and before.
	[ "$(sed '/RANT_BREACH/q' "$work/trace.out" | grep -c sched_switch)" -gt 0 ] || complain 'no event before the breach'
	set -- "$saved"/*/all.txt
	grep -q RANT_BREACH "$1" || complain 'the saved trace has no marker'
	[ -s "$1" ] && set -- "$saved"/*/raw
	[ -s "$1/cpu$last_cpu" ] || complain 'no raw pages of its CPU'
	grep -aq RANT_BREACH "$1/cpu$last_cpu" || complain 'the raw pages have no marker'
	python3 - "$1/../breach.json" <<-'END' || complain 'breach.json is not of this breach'
		import json, sys
		j = json.load(open(sys.argv[1]))
		last = j['packets'][-1]
		assert j['role'] == 'reflect' and j['seq'] == last['seq'] == 499 and j['host_cpu'] >= 0
		assert j['blame'] == 'app_processing', j['blame']
		assert [p['seq'] for p in j['packets'][:-1]] == list(range(499 - len(j['packets']) + 1, 499))
		assert len(j['packets']) > 300 and last['T3_SW'] - last['T2_SW'] > 500000000
		assert j['thread']['pid'] > 0 and j['trace_clock'] == 'mono_raw'
	END
	for part in header_page header_event saved_cmdlines events/sched/sched_switch/format events/ftrace/print/format; do
		[ -s "$1/$part" ] || complain "raw/$part is not there"
	done
	grep -lq RANT_BREACH "$saved"/*/cpu"$last_cpu".txt || complain 'the file of its CPU has no marker'
	end_trace
}

no_breach_no_marker() {
	begin_trace "$many packets without a spike leave one marker, of the start" || return 0
	start_reflector r "$K"
	start_emitter e "$K -T -t 60000000 -w 0 --count $many --timeout 10000"
	finish e
	terminate r
	check '@expect_status e 0'
	check "e:Recorded -eq $many"
	check 'e:Markers -eq 0'
	tracing_is 1
	# sched_switch may have pushed the marker out: none of these may be of a breach.
	cat "$instance/trace" >"$work/trace.out"
	check 'trace.out !~ RANT_BREACH'
	end_trace
}

start_is_marked() {
	begin_trace "the start is marked, $1" || return 0
	echo 0 >"$instance/events/sched/sched_switch/enable"
	start_reflector r "$K -T $2"
	start_emitter e "$K -T $2 --count 100"
	finish e
	terminate r
	check '@expect_status e 0'
	check '@expect_status r 0'
	cat "$instance/trace" >"$work/trace.out"
	[ "$(grep -c RANT_TEST_START "$work/trace.out")" = 2 ] || complain 'not two RANT_TEST_START'
	check 'trace.out ~ RANT_TEST_START role=emit .*REALTIME=[0-9]+[.][0-9]{9} .*MONOTONIC_RAW='
	check 'trace.out ~ RANT_TEST_START role=reflect '
	check 'trace.out !~ RANT_BREACH'
	tracing_is 1
	end_trace
}

instance_made_here() {
	begin 'an instance that was made is removed again, but not with evidence in it' || return 0
	start_reflector r "$K"
	start_emitter e "$K -T --count 10"
	finish e
	[ ! -e "$instance" ] || complain 'it is still there'
	check 'e.err empty'
	start_emitter e1 "$K -T -v --trace-events packet --count 10"
	finish e1
	check 'e1.err ~ ^Trace events: [0-9]+ \(--trace-events packet\), [0-9]+ not in this kernel$'
	[ ! -e "$instance" ] || complain 'it is still there'
	as=$(with_spikes tx 50 60000) start_emitter e2 "$K -T -t 0.001 --count 100 --timeout 5000 -H --json $logs/e2.json"
	finish e2
	check '@expect_status e2 2'
	grep -q RANT_BREACH "$instance/trace" || complain 'the evidence is gone'
	tracing_is 0
	check "e2.out ~ ^  Evidence  : $instance/trace$"
	json_agrees e2
	json_has e2 "JSON['trace']['path'] == '$instance' and JSON['trace']['markers'] >= 1"
	rmdir "$instance"
	terminate r
	verdict
}

rearmed() {
	local folders

	begin_trace 'with --trace-rearm each trace is saved and tracing goes on' || return 0
	as=$(with_spikes app 50 60000) start_reflector r \
		"$K -s -T -t 50000 -C --save-trace $saved --trace-rearm --trace-interval 0.1"
	start_emitter e "$K --count 1000 --timeout 5000"
	finish e
	terminate r
	check '@expect_status r 0'
	check 'r:Breaches -ge 20' # and those of a busy machine
	folders=$(find "$saved" -mindepth 1 -maxdepth 1 -type d | wc -l)
	[ "$folders" -ge 2 ] || complain "only $folders traces were saved"
	check "r:Saves -eq $folders"
	check "r:Markers -eq $folders"
	# What was marked and what came while the trace was frozen is all there was.
	[ $(($(row r Markers) + $(row r While_off))) -eq "$(row r Breaches)" ] || complain 'markers and breaches do not add up'
	for folder in "$saved"/*; do
		[ "$(grep -c RANT_BREACH "$folder/all.txt")" -ge 1 ] || complain "$folder has no marker"
		[ "$(grep RANT_BREACH "$folder/all.txt" | grep -c ':.*RANT_BREACH')" -le 2 ] ||
			complain "$folder has markers of others"
		python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); assert j["packets"][-1]["seq"] == j["seq"]' \
			"$folder/breach.json" || complain "$folder has no breach.json"
	done
	end_trace
}

# trace_refused NAME WORDS-BEFORE-RANT ARGUMENTS REGEX
trace_refused() {
	begin_trace "$1" || return 0
	as=$2 start_emitter e "$K --count 10 $3"
	finish e
	check '@expect_status e 1'
	check '@one_line e'
	check "e.err ~ $4"
	check '@silent'
	tracing_is 1
	end_trace
}

cat >"$work/unmounted" <<-'END'
	#!/bin/sh
	umount -l /sys/kernel/tracing
	exec "$@"
END
chmod 755 "$work/unmounted"

all_of_them() {
	breach_is_frozen
	no_breach_no_marker
	start_is_marked 'without a warm-up' '-w 0'
	start_is_marked 'after a warm-up' '-w 50'
	instance_made_here
	rearmed
	trace_refused 'no tracefs: refused with the command that mounts it' "unshare -m $work/unmounted" '-T' \
		'^rant: --trace-marker: tracefs is not mounted here .*: mount -t tracefs tracefs /sys/kernel/tracing$'
	trace_refused 'no permission for tracefs: refused' 'setpriv --reuid 65534 --clear-groups' '-T' \
		'^rant: --trace-marker: .*: Permission denied: '
	trace_refused 'a folder that is not there: refused' '' "-T --save-trace $logs/nowhere" \
		'^rant: --save-trace .*: the folder does not exist: mkdir -p '
	if [ ! -e /sys/kernel/tracing/snapshot ]; then
		trace_refused 'a kernel without snapshots: refused' '' '-S -t 100' \
			'^rant: --snapshot: this kernel has none \(CONFIG_TRACER_SNAPSHOT is not set\): use --trace-marker alone'
	fi
}

if [ -z "$spike" ]; then
	: # namespace_spikes.sh says so
elif ! grep -q '^[^ ]* /sys/kernel/tracing tracefs ' /proc/mounts; then
	skip 'the trace' 'there is no tracefs'
elif [ -e "$instance" ]; then
	skip 'the trace' 'another program uses the tracing instance rant'
else
	# Nothing is left behind, wherever a test ends.
	trace_instance=$instance
	all_of_them
fi
