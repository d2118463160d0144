#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reasons of the verdict that can be provoked on a veth link, and the exit status that follows. A busy machine
# adds true reasons: only the provoked reason is checked.
# build: plain: page faults and resident memory are judged
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

is_sanitized=
! grep -q __asan_init "$rant" || is_sanitized=1

# The second line of the report is the verdict, and has this reason among others.
doubts() { # NAME REGEX
	local line

	line=$(sed -n 2p "$work/$1.out")
	[[ $line =~ ^'Measurement: '('doubtful: '|'void: the peer did not answer for '.*'; ')(.*'; ')?$2(';'|$) ]] || complain "the second line of $1.out is: $line"
}

does_not_doubt() { # NAME REGEX
	local line

	line=$(sed -n 2p "$work/$1.out")
	[[ $line =~ ^'Measurement: '(trusted|doubtful|'void: the peer did not answer') && ! $line =~ $2 ]] || complain "the second line of $1.out is: $line"
}

# Runs an emitter, started by $as, to its end against a reflector.
run_pair() { # EMITTER'S ARGUMENTS
	local before=${as:-}

	as='' start_reflector r "$K"
	as=$before start_emitter e "$1"
	finish e
	terminate r
	check '@audit e'
}

healthy() {
	local never='stamps|clock|negative|log|store|moved|memory|accounts'

	begin 'verdict: a pinned, locked and complete run has no doubts' || return 0
	# AddressSanitizer makes mlock() a success that does nothing.
	[ -n "$is_sanitized" ] || never+='|faults'
	run_pair "$K --count 2000 -s -H -l LOG --strict"
	does_not_doubt e "$never"
	case $(sed -n 2p "$work/e.out") in
	'Measurement: trusted') check '@expect_status e 0' ;;
	*) check '@expect_status e 3' ;;
	esac
	verdict
}
healthy

# By getrusage() of the measuring thread before and after the loop, at both ends.
no_page_faults() { # NAME OPTIONS-OF-BOTH [OPTIONS-OF-THE-EMITTER]
	begin "verdict: no page fault in the loop, $1" || return 0
	start_reflector r "$K $2"
	start_emitter e "$K --count 3000 $2 ${3:-}"
	finish e
	terminate r
	check '@audit e'
	does_not_doubt e 'page faults|not locked|resident'
	does_not_doubt r 'page faults|not locked|resident'
	verdict
}

locked_within() { # NAME KB: all that is locked and present, while it measures
	local rss locked

	read -r locked rss < <(awk '/^Vm(Lck|RSS):/ { print $2 }' "/proc/$(pid_of "$1")/status" | paste -sd' ')
	[ "${locked:-0}" -ge 4096 ] || complain "$1: ${locked:-no} kB are locked"
	{ [ "${locked:-0}" -le "$2" ] && [ "${rss:-$2}" -lt "$2" ]; } || complain "$1: ${locked:-no} kB are locked, ${rss:-no} kB present"
}

within_8_mb() { # NAME WORDS-BEFORE
	begin "verdict: a run with a histogram locks less than 8 MB, $1" || return 0
	start_reflector r "$K -H"
	as=$2 start_emitter e "$K -H --count 100000000"
	wait_for_packets e e 200
	locked_within e 8192
	locked_within r 8192
	terminate e r
	does_not_doubt e 'page faults|not locked|resident'
	verdict
}

if [ -n "$is_sanitized" ]; then
	skip 'verdict: no page fault in the loop' 'AddressSanitizer makes mlock() a success that does nothing'
else
	(umask 077 && echo 00112233445566778899aabbccddeeff >"$work/verdict.key")
	no_page_faults 'with a log and a histogram' '-s -H -l LOG'
	no_page_faults 'with a key' "--key $work/verdict.key"
	no_page_faults 'with --stamp user' '--stamp user'
	no_page_faults 'many in flight' '' '--window 16 --source-ports 4 --interval 200us --poisson'
	within_8_mb 'by root' ''
	! command -v setpriv >/dev/null ||
		within_8_mb 'by a user who may lock that much' 'prlimit --memlock=8388608 setpriv --reuid=65534 --regid=65534 --clear-groups'
fi

not_locked() {
	begin "verdict: memory that is not locked, $1" || return 0
	as="prlimit --memlock=65536 setpriv --reuid=65534 --regid=65534 --clear-groups" run_pair "$K --count 3000 -s -H $2"
	check "@expect_status e $3"
	[ "$3" = 3 ] || doubts e 'memory is not locked \(Cannot allocate memory\)'
	# But what can be there before the loop, is.
	does_not_doubt e 'page faults|resident'
	verdict
}
if [ -n "$is_sanitized" ]; then
	skip 'verdict: memory that is not locked' 'AddressSanitizer makes mlock() a success that does nothing'
elif ! command -v setpriv >/dev/null; then
	skip 'verdict: memory that is not locked' "'setpriv' is not installed"
else
	not_locked 'is doubted' '' 0
	not_locked 'is status 3 with --strict' --strict 3
fi

# An emitter that is moved to another CPU in the middle of its run.
run_moved() { # ITS ARGUMENTS
	start_reflector r "$K"
	start_emitter e "$K --count 100000000 $1"
	wait_for_packets e e 200
	taskset -p -c "$last_cpu" "$(loop_of e)" >/dev/null
	wait_for_packets e e 400
	terminate e r
}

moved_to_another_cpu() {
	begin 'verdict: a measuring thread that is moved to another CPU' || return 0
	run_moved -v
	check '@expect_status e 0'
	doubts e "the measuring thread was moved to another CPU \\([1-9][0-9]* times?, from CPU $first_cpu to CPU $last_cpu\\)"
	check 'e.out ~ ^Why it matters: the measuring thread was moved to another CPU: .*taskset$'
	verdict
}
if [ "$first_cpu" = "$last_cpu" ]; then
	skip 'verdict: a measuring thread that is moved' 'there is only one CPU'
else
	moved_to_another_cpu
fi

with_fault() { # KIND EVERY: words before rant
	echo "env LD_PRELOAD=$spike FAULT=$1,$2"
}

page_faults() {
	local faults

	begin 'verdict: page faults of the measuring thread are counted' || return 0
	as=$(with_fault page 50) run_pair "$K --count 1000 -v"
	check '@expect_status e 0'
	faults=$(sed -n '2s/.*page faults during the run (\([0-9]*\)).*/\1/p' "$work/e.out")
	[ "${faults:-0}" -ge 20 ] || complain "20 page faults were made, not ${faults:-0}"
	doubts e 'page faults during the run \([0-9]+\)'
	check 'e.out ~ ^Why it matters: page faults during the run: each page fault stops the measuring thread$'
	does_not_doubt e 'not locked|resident|stamps'
	as=$(with_fault page 50) run_pair "$K --count 1000 --strict -q"
	check '@expect_status e 3'
	verdict
}

other_ids() {
	begin 'verdict: transmit stamps with numbers that no packet has' || return 0
	as=$(with_fault id 20) run_pair "$K --count 100"
	check '@expect_status e 0'
	# One of them may belong to a packet that was lost on a busy machine.
	check 'e:Unstamped -ge 1'
	check 'e:Unstamped -le 5'
	doubts e 'stamps are missing \([1-5] of [0-9]+ samples, .* %\); stamps did not match \(5 transmit stamps of no packet in flight\)'
	as=$(with_fault id 10) start_reflector r "$K"
	start_emitter e "$K --count 100"
	finish e
	terminate r
	check 'r:Unstamped -eq 10'
	doubts r 'stamps did not match \(10 transmit stamps of no packet in flight\)'
	does_not_doubt e 'stamps'
	verdict
}

not_resident() {
	begin 'verdict: a page of the histogram that is not there' || return 0
	as=$(with_fault absent 1) run_pair "$K --count 100 -H"
	check '@expect_status e 0'
	doubts e "memory of histogram or log is not resident \\($(($(getconf PAGESIZE) / 1024)) kB\\)"
	does_not_doubt e 'locked|stamps|accounts'
	verdict
}
negative_latencies() {
	begin 'verdict: negative latencies are counted, and are no step of the clock' || return 0
	as=$(with_fault back 20) run_pair "$K --count 100 --timeout 2000"
	check '@expect_status e 0'
	check 'e:Negative -eq 5'
	check 'e:Stepped -eq 0'
	doubts e 'latencies were negative \(5 not recorded\)'
	does_not_doubt e 'clock was set'
	verdict
}

# Above one drop per second: the frames are sent within a second.
strange_packets() {
	begin 'verdict: packets dropped on receipt' || return 0
	as=$(with_fault strange 2) run_pair "$K --count 1000"
	check '@expect_status e 0'
	doubts r 'packets were dropped on receipt \((49[0-9]|50[01])\)'
	does_not_doubt e 'dropped|drops'
	verdict
}

if [ -z "$spike" ]; then
	skip 'verdict: faults that are made' 'no library to make them was given'
else
	page_faults
	other_ids
	not_resident
	negative_latencies
	strange_packets
fi

transmit_drops() {
	begin 'verdict: packets that the interface drops in transmission' || return 0
	start_reflector r "$K"
	start_emitter e "$K --count 100000000"
	wait_for_packets e e 200
	# The other end takes none of this size.
	ip -n "${ns[r]}" link set "$link_r" mtu 500
	inside e bash -c 'for i in 1 2 3; do head -c 1000 /dev/zero >/dev/udp/'"$ip_r"'/9; done'
	ip -n "${ns[r]}" link set "$link_r" mtu 1500
	terminate e r
	check '@expect_status e 0'
	doubts e 'the NIC counted errors or drops \(transmit drops 3\)'
	verdict
}
transmit_drops

# Files as a CPU with cpufreq and a thermometer has them, where only this program sees them: FREQUENCY_KHZ THROTTLED.
faked_cpu=$work/faked_cpu
cat >"$faked_cpu" <<'END'
#!/bin/sh
cpu=/sys/devices/system/cpu/cpu$1 khz=$2 throttled=$3
shift 3
mount -t tmpfs none "$cpu" && mkdir "$cpu/cpufreq" "$cpu/thermal_throttle" &&
	echo "$khz" >"$cpu/cpufreq/scaling_cur_freq" &&
	echo "$throttled" >"$cpu/thermal_throttle/core_throttle_count" &&
	echo "$throttled" >"$cpu/thermal_throttle/package_throttle_count" && exec "$@"
END
chmod 755 "$faked_cpu"

# An emitter whose CPU has this frequency in the end, and was throttled so often.
on_faked_cpu() { # KHZ THROTTLED
	local cpu

	start_reflector r "$K"
	moved[e]=$(sent_by e)
	as="unshare --mount $faked_cpu $first_cpu 3000000 7" start_emitter e "$K --count 100000000 -v"
	wait_for_packets e e 200
	cpu=/proc/$(pid_of e)/root/sys/devices/system/cpu/cpu$first_cpu
	echo "$1" >"$cpu/cpufreq/scaling_cur_freq"
	echo "$2" >"$cpu/thermal_throttle/core_throttle_count"
	terminate e r
	check '@expect_status e 0'
}

hot_and_slow() {
	begin 'verdict: a CPU that was throttled by heat, and one whose frequency changed' || return 0
	on_faked_cpu 3000000 9
	doubts e 'the CPU was throttled by heat \(core throttled by heat 2\)'
	check 'e.out ~ ^Why it matters: the CPU was throttled by heat: the CPU ran at a lower frequency for some time$'
	does_not_doubt e frequency
	on_faked_cpu 2000000 7
	doubts e "the CPU's frequency changed \\(from 3000 to 2000 MHz\\)"
	does_not_doubt e heat
	# 5 % are the limit, of the higher one.
	on_faked_cpu 2850000 7
	does_not_doubt e 'heat|frequency'
	check 'e.out !~ ^Not judged: .*(heat|frequency)'
	verdict
}
if unshare --mount "$faked_cpu" "$first_cpu" 1 1 true 2>/dev/null; then
	hot_and_slow
else
	skip 'verdict: heat and frequency' 'no mount namespaces here'
fi

log_left_out() {
	local left

	begin 'verdict: the log is incomplete when the report says so, and only then' || return 0
	run_pair "$U -d 1 -l LOG"
	check '@expect_status e 0'
	left=$(sed -n 's/^Log: .*, \([0-9]*\) left out.*/\1/p' "$work/e.out")
	if [ -n "$left" ]; then
		doubts e "the log is incomplete \\($left records left out\\)"
	else
		does_not_doubt e 'the log'
	fi
	verdict
}
log_left_out

nothing_recorded() {
	begin 'verdict: where nothing was recorded it is void, with -q too' || return 0
	start_reflector r "$K -w 1000"
	start_emitter e "$K --count 100 -w 0"
	finish e
	terminate r
	check '@expect_status e 0'
	check '@expect_status r 3'
	check 'r.out ~ ^Measurement: void: nothing was recorded \(101 packets sent\)'
	start_reflector r "$K -w 1000 -q"
	start_emitter e "$K --count 100 -w 0"
	finish e
	terminate r
	check '@expect_status r 3'
	check 'r.out empty'
	check '@one_line r'
	check 'r.err ~ ^rant: the measurement is void: nothing was recorded \(101 packets sent\)'
	verdict
}
nothing_recorded

# A signal ends the reflector as the user intended: status 0.
nobody_came() {
	local quiet

	begin 'verdict: a reflector without an emitter is void, and its status 0 when a signal ends it' || return 0
	for quiet in '' -q; do
		start_reflector r "$K --strict $quiet"
		terminate r
		check '@expect_status r 0'
		check 'r.err empty'
		[ -z "$quiet" ] || check 'r.out empty'
		[ -n "$quiet" ] || check 'r.out ~ ^Measurement: void: nothing was recorded \(0 packets sent\)'
	done
	verdict
}
nobody_came

other_statuses_come_first() {
	begin 'verdict: a breach is status 2 and a missing reflector status 1 with every verdict' || return 0
	start_reflector r "$K"
	start_emitter e "$K -t 0.001 --count 1000 --strict"
	finish e
	check '@expect_status e 2'
	check 'e.out ~ ^Measurement: (trusted|doubtful: )'
	server=$ip_nobody start_emitter e "$K --count 2 --timeout 20 --strict"
	finish e
	check '@expect_status e 1'
	check 'e.out ~ ^Measurement: void: nothing was recorded \(2 packets sent\)'
	terminate r
	verdict
}
other_statuses_come_first

quiet_but_strict() {
	begin 'verdict: --strict with -q has the status, and says why on stderr' || return 0
	run_moved '-q --strict'
	check '@expect_status e 3'
	check 'e.out empty'
	check '@one_line e'
	check 'e.err ~ ^rant: the measurement is doubtful: (.*; )?the measuring thread was moved to another CPU \('
	verdict
}
[ "$first_cpu" = "$last_cpu" ] || quiet_but_strict

tracing_is_said() {
	local other=/sys/kernel/tracing/instances/rant-verdict-$$

	begin 'verdict: tracing is reported, whoever does it, and not blamed' || return 0
	run_pair "$K --count 100 -T"
	check 'e.out ~ ^Note: tracing is on \(.*/instances/rant\): it changes the measured latencies$'
	does_not_doubt e tracing
	mkdir "$other"
	run_pair "$K --count 100"
	check "e.out !~ ^Note: tracing is on .*$other"
	echo 1 >"$other/events/sched/sched_switch/enable"
	run_pair "$K --count 100"
	check 'e.out ~ ^Note: tracing is on \(.*\): it changes the measured latencies$'
	does_not_doubt e tracing
	echo 0 >"$other/tracing_on"
	run_pair "$K --count 100"
	check "e.out !~ ^Note: tracing is on .*$other"
	rmdir "$other"
	verdict
}
own_trace
if ! grep -q '^[^ ]* /sys/kernel/tracing tracefs ' /proc/mounts || [ -e /sys/kernel/tracing/instances/rant ]; then
	skip 'verdict: tracing is reported' 'there is no tracefs, or another program uses the tracing instance rant'
else
	tracing_is_said
	trace_instance=/sys/kernel/tracing/instances/rant # which is kept where something is marked in it
	[ -n "$is_sanitized" ] || no_page_faults 'with marks in the trace' '' '-t 0.001 -C -T'
fi
