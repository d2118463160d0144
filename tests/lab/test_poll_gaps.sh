#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# A receive stage is divided by what the thread did and by the kernel's time: where the NIC hands a packet over late, the
# thread polled meanwhile and the kernel had the packet late; where the thread had no CPU, the packet waited for it in the
# socket. 50 of each at either host, on the simulated NIC.
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - poll gaps # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

planted=50
most=45 # of them; the machine may be late by itself at others
late_ms=30

# start_pair COUNT PACING...: with an interval both threads poll nearly all the time; without one a probe is nearly always on its way.
start_pair() {
	start_both '-s -C -t 20000' "-s -C -t 20000 ${*:2} --log $work/e.log --log-full --log-format csv --count $1 --json $work/e.json"
}

# counted CONDITION: numbers of records with it whose stage of more than half of late_ms, here and at the other host, was the
# packet's and the thread's, by the poll gap; then the same by the kernel's time, NIC-to-kernel and Kernel-to-app. Columns: T4_HW 4,
# T4_SW 5, T2_HW 7, T2_SW 8, POLL_GAP 13, REMOTE_POLL_GAP 14, T4_KERNEL 15, T2_KERNEL 16.
counted() {
	awk -F, -v least="$((late_ms * 500000))" '
		function add(host, stage, gap, to_kernel) {
			if (stage < least) return
			n[host "late"] += gap < 0.5 * stage
			n[host "wait"] += gap >= 0.5 * stage
			n[host "kernel"] += to_kernel >= 0.5 * stage
			n[host "app"] += to_kernel < 0.5 * stage
		}
		!/^#/ && NR > 1 && '"$1"' { add("here", $5 - $4, $13, $15 - $4); add("there", $8 - $7, $14, $16 - $7) }
		END {
			print n["herelate"] + 0, n["herewait"] + 0, n["therelate"] + 0, n["therewait"] + 0,
				n["herekernel"] + 0, n["hereapp"] + 0, n["therekernel"] + 0, n["thereapp"] + 0
		}' "$work/e.log"
}

packets_are_late() {
	local -a n

	begin "poll gaps: $planted packets that the NICs hand over late, at each host"
	set_parameters spike_stage=4 spike_ns="${late_ms}000000" spike_every=20
	start_pair $((20 * planted)) --interval 10ms --pacing spin
	finish e
	stop r
	set_parameters spike_every=0 spike_ns=0
	expect_status e 0
	# In others the guest may have been late by itself.
	# shellcheck disable=SC2016 # for awk
	read -ra n < <(counted '$1 % 20 == 19')
	# Where the guest had no CPU meanwhile, the thread was late as well.
	expect $((n[0] + n[1])) -eq "$planted" 'late replies, of those that were planted'
	expect "${n[0]}" -ge "$most" 'late replies that are called late'
	expect $((n[2] + n[3])) -eq "$planted" 'late probes, of those that were planted'
	expect "${n[2]}" -ge "$most" 'late probes that are called late'
	expect "${n[4]}" -ge "$most" 'replies that were late before the kernel'
	expect "${n[6]}" -ge "$most" 'probes that were late before the kernel'
	# The first breach is told whole.
	if (($(awk '/Sequence number:/ { print $3; exit }' "$work/e.out") % 20 == 19)); then
		expect_line e.out '^  Blame: Remote NIC-to-kernel [0-9.]+ us, typical [0-9.]+ us, [0-9]+ % of the excess: the interrupt or the softirq was late$'
	fi
	verdict
}

# Before everything else on this CPU, for a bit longer than a planted delay, with pauses: a shell reads the time.
# shellcheck disable=SC2016
hog='for ((i = 0; i < $1; i++)); do
	until=$((${EPOCHREALTIME/./} + $2))
	while [ ${EPOCHREALTIME/./} -lt $until ]; do :; done
	read -r -t 0.2 _ <><(:)
done'

# thread_waits HOST CPU COLUMN TIMES PACING...: a real-time program takes the CPU of this host so many times. Of the emitter it does so also
# while no reply is awaited.
thread_waits() {
	local -a n

	begin "poll gaps: the thread of the $1 loses its CPU, and $planted packets wait for it"
	start_pair 1000000 "${@:5}"
	wait_for_packets 50
	chrt -f 90 taskset -c "$2" bash -c "$hog" hog "$4" $((late_ms * 1500))
	stop e
	stop r
	read -ra n < <(counted 1)
	expect "${n[$3]}" -ge "$planted" 'packets that waited for the thread'
	# On a busy machine the guest stops by itself, and a packet is late without a plant.
	expect "${n[$3 - 1]}" -le $((planted - most)) 'packets that waited for the thread and are called late'
	expect "${n[$3 + 4]}" -ge "$planted" 'packets that waited after the kernel had them'
	# Not of each: it may lose the CPU while it sends.
	[ "$1" != reflector ] || expect_line e.out '^  Remote kernel-to-app: [1-9][0-9]+$'
	verdict
}

packets_are_late
thread_waits reflector 1 3 "$planted" --interval 10ms --pacing spin
thread_waits emitter 0 1 $((3 * planted))
