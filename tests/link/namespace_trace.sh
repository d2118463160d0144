# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Part of namespace.sh: what happens at a spike, with the kernel's real trace and with spikes that are made (lab/spike.c).

instance=/sys/kernel/tracing/instances/rant
saved=$logs/saved

if [ -z "$spike" ]; then
	skip 'spikes' 'no library to make them was given'
	return
fi

# trace NAME: begin, with an instance that records what a user would, and a folder to save to.
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

with_spikes() { # STAGE EVERY US: words before rant
	echo "env LD_PRELOAD=$spike SPIKE=$1,$2,$3 SPIKE_COUNT=$work/spikes.out"
}

tracing_is() {
	[ "$(cat "$instance/tracing_on")" = "$1" ] || complain "tracing_on is not $1"
}

# All that was made late was a breach, and each was blamed on its stage: at the reflector, in kernel mode.
blamed() { # STAGE, NAME in the report
	local part

	begin "50 spikes made in stage '$1' are found and blamed on: $2" || return 0
	as=$(with_spikes "$1" 20 60000) start_reflector r "$K -s -t 50000 -C"
	start_emitter e "$K --count 1000 --timeout 5000"
	finish e
	send TERM r
	finish r
	check '@expect_status e 0'
	check '@expect_status r 0'
	check '@audit r'
	expect_line spikes.out '^50$'
	check 'r:Breaches -eq 50'
	check 'r.out ~ ^Blamed for the last 50 of 50 breaches:'
	for part in Kernel-to-app App-to-kernel 'App processing'; do
		check "r.out ~ ^  $part: $([ "$part" = "$2" ] && echo 50 || echo 0)$"
	done
	check "r.out ~ ^  $2 \\(.*\\): 6[0-9]{7} ns <-- where the spike is$"
	check "r.out ~ ^  Blame: $2 6[0-9]{4}[.][0-9]{3} us, typical [0-9.]+ us, (99|100|101) % of the excess$"
	check '@columns_in_order'
	check 'r.out ~ ^What the machine did until the first breach, as read after [0-9]+ packets:'
	[ "$(grep -c '^The worst of 50 breaches:' "$work/r.out")" = "$(grep -c '^What .* before the worst to' "$work/r.out")" ] ||
		complain 'the worst breach, but not what the machine did until it, or the other way round'
	verdict
}

expect_line() { # FILE REGEX
	grep -Eq -- "$2" "$work/$1" || complain "no line of $1 matches: $2"
}

# The lines of a breach as they are documented.
columns_in_order() {
	grep -E '^  (T[23]_(KERNEL|SW) |Kernel-to-app \(|App-to-kernel|App processing \()' "$work/r.out" | head -7 |
		sed 's/:.*//' | tr '\n' ';' >"$work/order.out"
	expect_line order.out '^  T2_KERNEL \(kernel rx\);  T3_KERNEL \(kernel tx\);  T2_SW \(app rx\);  T3_SW \(app tx\);  Kernel-to-app \(T2_SW - T2_KERNEL\);  App-to-kernel \(T3_KERNEL - T3_SW\);  App processing \(T3_SW - T2_SW\);$'
}

blamed rx Kernel-to-app
blamed tx App-to-kernel
blamed app 'App processing'

a_late_reflector_is_beside_the_emitter() {
	begin "an emitter blames the reflector's stage for a reflector's spike" || return 0
	as=$(with_spikes app 500 60000) start_reflector r "$K -s"
	start_emitter e "$K -s -t 50000 --count 1000 --timeout 5000"
	finish e
	send TERM r
	finish r
	check '@expect_status e 2'
	check 'e.out ~ ^  Remote app processing \(T3_SW - T2_SW\): 6[0-9]{7} ns <-- where the spike is$'
	check 'e.out ~ ^  Network \(RTT - RESPONSE\): [0-9]+ ns$'
	check 'e.out ~ ^  App-to-kernel \(T1_KERNEL - T1_SW\): [0-9]+ ns$'
	check 'e.out ~ ^  Kernel-to-app \(T4_SW - T4_KERNEL\): [0-9]+ ns$'
	verdict
}
a_late_reflector_is_beside_the_emitter

commands() {
	begin '--on-breach: commands get the breach and run while the measurement goes on' || return 0
	cat >"$work/command" <<-'END'
		#!/bin/sh
		env | grep '^RANT_' | sort >"$1.$RANT_NUMBER"
		exec >"$1.threads" && grep -E '^(SigBlk|SigIgn):' /proc/self/status
	END
	chmod 755 "$work/command"
	export RANT_SEQ=inherited
	as=$(with_spikes app 500 60000) start_reflector r "$K -s -t 50000 -C --on-breach exec:$work/command\${IFS}$logs/c --on-breach exec:false"
	unset RANT_SEQ
	start_emitter e "$K --count 600 --timeout 5000"
	finish e
	# A command that still runs is not started again.
	poll test -s "$logs/c.threads"
	sleep 0.3
	start_emitter e "$K --count 500 --timeout 5000"
	finish e
	poll test -e "$logs/c.2"
	send TERM r
	finish r
	check '@expect_status r 0'
	check 'r:Breaches -eq 2'
	check "r.out ~ ^  $work/command.*: ran 2 times$"
	check 'r.out ~ ^  false: ran 2 times, 2 failed$'
	cat "$logs"/c.1 >"$work/c.out"
	check 'c.out ~ ^RANT_ROLE=reflect$'
	check "c.out ~ ^RANT_INTERFACE=$link_r$"
	check 'c.out ~ ^RANT_NUMBER=1$'
	check 'c.out ~ ^RANT_SEQ=499$'
	check 'c.out ~ ^RANT_LATENCY_NS=6[0-9]{7}$'
	check 'c.out ~ ^RANT_THRESHOLD_NS=50000000$'
	for name in T2_KERNEL T2_SW T3_SW T3_KERNEL; do
		check "c.out ~ ^RANT_$name=[0-9]+[.][0-9]{9}$"
	done
	grep -q '^RANT_SEQ=398$' "$logs/c.2" || complain 'the second breach was not told'
	cat "$logs/c.threads" >"$work/c.out"
	check 'c.out ~ ^SigBlk:.0+$'
	verdict
}
commands

# ---- The trace -------------------------------------------------------------------------------------------------------

if ! grep -q '^[^ ]* /sys/kernel/tracing tracefs ' /proc/mounts; then
	skip 'the trace' 'there is no tracefs'
	return
fi
if [ -e "$instance" ]; then
	skip 'the trace' 'another program uses the tracing instance rant'
	return
fi
# Leave nothing behind, wherever a test ends.
trap 'rmdir "$instance" 2>/dev/null; remove_all' EXIT

breach_is_frozen() {
	begin_trace 'a breach is marked, stops the trace, and is saved with what was before it' || return 0
	as=$(with_spikes app 500 60000) start_reflector r "$K -s -T -t 50000 --save-trace $saved -w 100"
	start_emitter e "$K --count 1000 --timeout 5000"
	finish r
	send TERM e
	finish e
	check '@expect_status r 2'
	check 'r.err empty'
	check 'r:Markers -eq 1'
	check 'r.out ~ ^  Stopped at #499, [0-9.]+ us after the breach was seen'
	check 'r.out ~ ^  Saved     : .*/saved/[^/]*499[^/]*, from trace, the spike is in cpu[0-9]+[.]txt$'
	tracing_is 0
	cat "$instance/trace" >"$work/trace.out"
	[ "$(grep -c RANT_TEST_START "$work/trace.out")" = 1 ] || complain 'not one RANT_TEST_START'
	[ "$(grep -c RANT_BREACH "$work/trace.out")" = 1 ] || complain 'not one RANT_BREACH'
	check 'trace.out ~ RANT_BREACH role=reflect seq=499 .*T2_KERNEL=[0-9]+[.][0-9]{9} .*T3_KERNEL='
	# The spike takes 60 ms: there are switches of tasks within, and before.
	[ "$(sed '/RANT_BREACH/q' "$work/trace.out" | grep -c sched_switch)" -gt 0 ] || complain 'no event before the breach'
	set -- "$saved"/*/all.txt
	grep -q RANT_BREACH "$1" || complain 'the saved trace has no marker'
	grep -lq RANT_BREACH "$saved"/*/cpu"$last_cpu".txt || complain 'the file of its CPU has no marker'
	end_trace
}
breach_is_frozen

no_breach_no_marker() {
	begin_trace "$million packets without a spike leave one marker, of the start" || return 0
	start_reflector r "$K"
	start_emitter e "$K -T -t 60000000 -w 0 --count $million --timeout 10000"
	finish e
	send TERM r
	finish r
	check '@expect_status e 0'
	check "e:Recorded -eq $million"
	check 'e:Markers -eq 0'
	tracing_is 1
	# sched_switch may have pushed the marker out: none of these may be of a breach.
	cat "$instance/trace" >"$work/trace.out"
	check 'trace.out !~ RANT_BREACH'
	end_trace
}
no_breach_no_marker

start_is_marked() {
	begin_trace "the start is marked, $1" || return 0
	echo 0 >"$instance/events/sched/sched_switch/enable"
	start_reflector r "$K -T $2"
	start_emitter e "$K -T $2 --count 100"
	finish e
	send TERM r
	finish r
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
start_is_marked 'without a warm-up' '-w 0'
start_is_marked 'after a warm-up' '-w 50'

instance_made_here() {
	begin 'an instance that was made is removed again, but not with evidence in it' || return 0
	start_reflector r "$K"
	start_emitter e "$K -T --count 10"
	finish e
	[ ! -e "$instance" ] || complain 'it is still there'
	check 'e.err ~ ^rant: --trace-marker: no event is enabled, so the trace will hold markers only: '
	as=$(with_spikes tx 50 60000) start_emitter e2 "$K -T -t 0.001 --count 100 --timeout 5000"
	finish e2
	check '@expect_status e2 2'
	grep -q RANT_BREACH "$instance/trace" || complain 'the evidence is gone'
	tracing_is 0
	check "e2.out ~ ^  Evidence  : $instance/trace$"
	rmdir "$instance"
	send TERM r
	finish r
	verdict
}
instance_made_here

rearmed() {
	local folders

	begin_trace 'with --trace-rearm each trace is saved and tracing goes on' || return 0
	as=$(with_spikes app 50 60000) start_reflector r \
		"$K -s -T -t 50000 -C --save-trace $saved --trace-rearm --trace-interval 0.1"
	start_emitter e "$K --count 1000 --timeout 5000"
	finish e
	send TERM r
	finish r
	check '@expect_status r 0'
	check 'r:Breaches -eq 20'
	folders=$(find "$saved" -mindepth 1 -maxdepth 1 -type d | wc -l)
	[ "$folders" -ge 2 ] || complain "only $folders traces were saved"
	check "r:Saves -eq $folders"
	check "r:Markers -eq $folders"
	# What was marked and what came while the trace was frozen is all there was.
	[ $(($(row r Markers) + $(row r While_off))) -eq 20 ] || complain 'markers and breaches do not add up'
	for folder in "$saved"/*; do
		[ "$(grep -c RANT_BREACH "$folder/all.txt")" -ge 1 ] || complain "$folder has no marker"
		[ "$(grep RANT_BREACH "$folder/all.txt" | grep -c ':.*RANT_BREACH')" -le 2 ] ||
			complain "$folder has markers of others"
	done
	end_trace
}
rearmed

# refused NAME WORDS-BEFORE-RANT ARGUMENTS REGEX
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
trace_refused 'no tracefs: refused with the command that mounts it' "unshare -m $work/unmounted" '-T' \
	'^rant: --trace-marker: tracefs is not mounted here .*: mount -t tracefs tracefs /sys/kernel/tracing$'
trace_refused 'no permission for tracefs: refused' 'setpriv --reuid 65534 --clear-groups' '-T' \
	'^rant: --trace-marker: .*: Permission denied: '
trace_refused 'a folder that is not there: refused' '' "-T --save-trace $logs/nowhere" \
	'^rant: --save-trace .*: there is no such folder: mkdir -p '
if [ ! -e /sys/kernel/tracing/snapshot ]; then
	trace_refused 'a kernel without snapshots: refused' '' '-S -t 100' \
		'^rant: --snapshot: this kernel has none \(CONFIG_TRACER_SNAPSHOT is not set\): use --trace-marker alone'
fi
