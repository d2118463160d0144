#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a run asks of the machine: idle CPUs that stay awake, its port, and rights.
# build: plain: CPU time and locked memory are judged
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

latency_held() {
	begin 'CPU latency request during a run, unless disabled' || return 0
	start_reflector r "$K --no-cpu-dma-latency"
	start_emitter e "$K --count 100000000"
	wait_for_packets e e 20
	holds e /dev/cpu_dma_latency || complain '/dev/cpu_dma_latency is not open'
	[ "$(od -An -td4 /dev/cpu_dma_latency | tr -d ' ')" = 0 ] || complain 'the limit is not 0'
	! holds r /dev/cpu_dma_latency || complain '/dev/cpu_dma_latency is open in spite of --no-cpu-dma-latency'
	terminate e r
	check '@expect_status e 0'
	check '@expect_status r 0'
	check 'e.err empty'
	verdict
}

# In a mount namespace of its own, which ends with it.
printf 'mount -t tmpfs none /dev && exec "$@"\n' >"$work/no-dev.sh"
if [ -e /dev/cpu_dma_latency ]; then
	latency_held
else
	skip 'CPU latency request' 'there is no /dev/cpu_dma_latency'
fi
as="unshare -m sh $work/no-dev.sh" alone 'without /dev/cpu_dma_latency a run goes on, -v reports it' 1 e \
	"-i $link_e -a $ip_nobody $U -d 0.1 -v" 'e.err ~ idle CPUs may sleep deeply .*No such file or directory: run as root$'
as="unshare -m sh $work/no-dev.sh" alone 'without /dev/cpu_dma_latency nothing is said without -v' 1 e \
	"-i $link_e -a $ip_nobody $U -d 0.1" 'e.err !~ idle CPUs'

port_taken() {
	begin 'port taken by another program: said, and the old log stays' || return 0
	echo old >"$logs/e.log"
	start_reflector r "$K"
	start e r "$rant" "${details[@]}" -i "$link_r" --stamp kernel -l "$logs/e.log" --count 10
	finish e
	terminate r
	for one in '@expect_status e 1' '@expect_status r 0' '@one_line e' 'e.out empty' \
		'e.err ~ port 862: taken by another program' '@silent'; do
		check "$one"
	done
	[ "$(cat "$logs/e.log")" = old ] || complain 'the old log is gone'
	verdict
}
port_taken

# The measuring thread is there alone, and nothing else of rant is.
placed() { # NAME CPU
	local task cpus

	[ -n "$(loop_of "$1")" ] || complain 'there is no thread of the name rant-loop'
	for task in "/proc/$(pid_of "$1")/task"/*; do
		cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status")
		if [ "${task##*/}" = "$(loop_of "$1")" ]; then
			[ "$cpus" = "$2" ] || complain "the measuring thread may run on $cpus"
			[ "$(awk '{ print $40, $41 }' "$task/stat")" = '3 1' ] || complain 'the measuring thread is not at SCHED_FIFO 3'
		else
			[[ ",$cpus," != *",$2,"* ]] || complain "another thread may run on $cpus"
			[ "$(awk '{ print $40, $41 }' "$task/stat")" = '0 0' ] || complain 'another thread is real-time too'
		fi
	done
}

cpu_and_fifo() {
	begin '--cpu and --fifo: where and how the measuring thread runs, and that alone' || return 0
	start_reflector r "$K"
	as="taskset -c $last_cpu chrt -b 0" start_emitter e "$K --interval 1ms --pacing sleep --cpu $first_cpu --fifo 3 -d 60 -H --json $logs/e.json"
	wait_for_packets e e 20
	placed e "$first_cpu"
	terminate e r
	for one in '@expect_status e 0' "e.out ~ ^Measuring thread: CPU $first_cpu, SCHED_FIFO 3\$" \
		"r.out ~ ^Measuring thread: CPU $last_cpu, SCHED_OTHER\$" '@json_agrees e'; do
		check "$one"
	done
	verdict
}
# cpu_of NAME: time on a CPU so far of all its threads, in ns. /proc/PID/stat has it in ticks of 10 ms.
cpu_of() {
	cat "/proc/$(pid_of "$1")/task"/*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# Less than 0.1 % of a CPU, all threads together, also after a busy session, whose per-peer socket can wake it too.
idle_reflector() {
	local before after

	begin 'an idle reflector takes less than 0.1 % of a CPU, and answers the packet that wakes it' || return 0
	start_reflector r "$K -H --json $logs/r.json"
	start_emitter e "$K --count 2000"
	finish e
	status[e1]=${status[e]}
	sleep 1.5
	before=$(cpu_of r)
	sleep 10
	after=$(cpu_of r)
	[ $((after - before)) -lt 10000000 ] || complain "it took $(((after - before) / 1000)) us of CPU time in 10 s"
	start_emitter e "$K --timeout 1000 --count 200"
	finish e
	terminate r
	for one in '@expect_status e1 0' '@expect_status e 0' 'e:Recorded -eq 200' 'e:Lost -eq 0' 'r:Sent -eq 2202' 'r:Woken -ge 1' \
		'r:Woken -le 2' '@audit r' '@audit e' 'r.out ~ ^  Slowest of the woken:  [0-9.]+ us  [(]#[0-9]+[)]$' '@json_agrees r'; do
		check "$one"
	done
	verdict
}

# One that is asleep ends at once; --spin sleeps never.
idle_ends() {
	local began ms

	begin 'a signal ends a sleeping reflector at once, and --spin prevents idle sleep' || return 0
	start_reflector r "$K"
	sleep 1.5
	began=$(date +%s%N)
	terminate r
	ms=$((($(date +%s%N) - began) / 1000000))
	[ "$ms" -le 2000 ] || complain "it took $ms ms to end"
	start_reflector r "$K --spin"
	sleep 1.5
	began=$(cpu_of r)
	sleep 1
	[ $(($(cpu_of r) - began)) -gt 100000000 ] || complain 'it slept'
	terminate r
	verdict
}
if [ -r /proc/self/schedstat ]; then
	idle_reflector
	idle_ends
else
	skip 'a reflector to which nothing comes' 'this kernel has no /proc/PID/schedstat'
fi

if chrt -f 3 true 2>/dev/null && [ "$first_cpu" != "$last_cpu" ]; then
	cpu_and_fifo
else
	skip '--cpu and --fifo: where and how the measuring thread runs, and that alone' 'it takes two CPUs, and real-time priorities'
fi
as='prlimit --stack=98304:8388608' pair 'a small stack (ulimit -s 96) is let grow' '0 0' "$K" "$K --count 50 -l LOG" 'e:Recorded -eq 50'
as='prlimit --stack=98304:98304' alone 'a stack that may not grow' 1 e "-i $link_e -a $ip_r $K" '@silent' '@one_line e' \
	"e.err ~ ^rant: the stack may have 96 kB at most: rant needs 256: 'ulimit -s 256', which root may raise$"
alone '--cpu of a CPU that does not exist' 1 e "-i $link_e -a $ip_r $K --cpu 1023" '@silent' '@one_line e' 'e.err ~ --cpu 1023: there is no such CPU'
if command -v setpriv >/dev/null; then
	as='setpriv --reuid=65534 --regid=65534 --clear-groups' alone '--fifo without the right' 1 e "-i $link_e -a $ip_r $K --fifo 3" \
		'@silent' '@one_line e' 'e.err ~ --fifo 3: refused by the kernel \(Operation not permitted\): use sudo, '
fi
if command -v setpriv >/dev/null; then
	NOBODY='setpriv --reuid=65534 --regid=65534 --clear-groups'
	unlocked='NAME.err ~ memory is not locked .*ulimit -l'
	# AddressSanitizer makes mlock() a success that does nothing.
	! grep -q __asan_init "$rant" || unlocked='@true'
	as=$NOBODY alone 'without root: port 862' 1 r "-i $link_r $K" '@silent' '@one_line r' \
		'r.err ~ port 862: ports below 1024 need root or CAP_NET_BIND_SERVICE: use sudo, or --port 1024'
	as="prlimit --memlock=65536:65536 $NOBODY" port=10862 pair 'without root: a pair on port 10862' '0 0' \
		"$K --port 10862 -l LOG --count 200" "$K --port 10862 --count 50 -l LOG" 'e:Recorded -eq 50' \
		"${unlocked/NAME/e}" "${unlocked/NAME/r}" '@logs_join'
	as=$NOBODY alone 'without root: a log in a folder without write permission' 1 e "$E -l $work/e.log" '@silent' '@one_line e' \
		"e.err ~ --log $work/e.log: cannot write there \(Permission denied\)"
else
	skip 'without root' 'setpriv is not installed'
fi
