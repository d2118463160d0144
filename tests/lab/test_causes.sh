#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# Work of known kind and length takes the CPU of the reflector while a packet arrives (simnic_plant.h), and rant --explain names it
# from the saved trace with its time. Breaches of the guest itself, which are without a plant, must not have a false cause. simnic_causes.py
# judges both outside. Then the emitter has the threshold, and the traces of both hosts are frozen at that packet: simnic_freeze.py.
#
#   SPIKES=N    breaches of each kind. Default: 2, and of both hosts frozen one kind and snapshots only. 56 is the whole proof: a few of
#               them are counted apart; each part of it needs a LIMIT of its own, by ONLY, and MEMORY=4096 for its traces
#   ONLY=REGEX  of the names
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - causes # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

spikes=${SPIKES:-2} # a few of them may be counted apart
every=120 # probes between two plants: the trace of the one is saved before the other
threshold_us=14000

if [ ! -e /proc/simnic_plants ]; then
	echo "not ok - causes: the guest has no CPU 1 to plant on"
	exit 1
fi

# CPU 1 is left to the measuring thread of the reflector.
taskset -p 1 $$ >/dev/null
declare -A affinity=() # as the tests after this one find it
for irq in /proc/irq/*/smp_affinity; do
	affinity[$irq]=$(<"$irq")
	echo 1 >"$irq" 2>/dev/null
done
# Reading it takes seconds in the guest, for each trace. The names of functions are in the text.
mount --bind /dev/null /proc/kallsyms

start_pair() { # "R_ARGUMENTS" "E_ARGUMENTS"
	local -a words

	read -rd '' -a words <<<"$1"
	start r b taskset -c 0,1 "$RANT" --details -i sim1 --stamp hardware --timeout 2000 --cpu 1 "${words[@]}"
	poll has_port r
	read -ra words <<<"$2"
	start e a "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --timeout 2000 "${words[@]}"
}

# has_saved KINDS: enough traces of each kind of plant, by the sequence numbers in their names.
has_saved() {
	local folder seq kind
	local -a number=()

	for folder in "$work"/saved/*-seq-*; do
		[ -e "$folder" ] || return 1
		[[ $folder != *.part ]] || continue # is being saved
		seq=${folder##*-}
		((seq % every == every - 1)) || continue
		kind=$((seq / every % $1))
		number[kind]=$((${number[kind]:-0} + 1))
	done
	for ((kind = 0; kind < $1; kind++)); do
		((${number[kind]:-0} >= spikes)) || return 1
	done
}

# Ends both programs, and has their saved traces judged outside.
judge_saved() { # WORD...
	stop e
	stop r
	expect_status r 0
	cat /proc/simnic_plants >"$work/plants"
	judge_tar saved simnic_causes.py "$@"
}

# explained KINDS "ARGUMENTS" WORD...: both programs, until there are enough traces; these are judged outside. On a busy machine the guest
# is late by itself, and the trace of that is saved instead.
explained() {
	local until=$((SECONDS + 20 + 5 * spikes * $1))

	mkdir "$work/saved"
	start_pair "-s -C -T --trace-rearm --trace-interval 0.1 --trace-events packet --save-trace $work/saved -t $threshold_us $2" \
		"--interval 5ms $2"
	while [ "$SECONDS" -lt "$until" ] && ! has_saved "$1" && ! is_gone e; do
		pause 1
	done
	judge_saved "${@:3}"
}

wanted() {
	[[ $1 =~ ${ONLY:-.} ]]
}

# planted NAME IRQ_CPU KINDS ["ARGUMENTS"]
planted() {
	local -a numbers

	wanted "$1" || return 0
	begin "causes: $1"
	IFS=, read -ra numbers <<<"$3"
	set_parameters "irq_cpu=$2" "plant_kinds=$3" plant_every=0 plant_ns=20000000
	set_parameters "plant_every=$every"
	explained ${#numbers[@]} "${4:-}" "LEAST=$((spikes * 9 / 10))" "PLANTED=$3"
	set_parameters plant_every=0
}

planted 'interrupts, softirqs and packets on the CPU that receives' 0,2,0 1,2,3,8,9
planted 'threads on the CPU that receives' 0,2,0 4,5,6,7
planted 'an interrupt while the program answers' 0,2,0 10 '-s --stages full'

# The threshold is just above the usual time: breaches of the guest itself must not have a false cause.
unplanted() {
	local name='nothing is planted' threshold_us every=1 # each trace counts

	wanted "$name" || return 0
	begin "causes: $name"
	set_parameters "irq_cpu=0,2,0"
	start_pair -s '--interval 5ms --count 500'
	finish e
	stop r
	threshold_us=$(awk '$1 == "Response" && $2 == "T3_HW" { print int($9) + 1; exit }' "$work/r.out") # its 95th percentile
	if [[ $threshold_us =~ ^[1-9][0-9]*$ ]]; then
		echo "# $test_name: threshold $threshold_us us"
		explained 1 '' "LEAST=$spikes"
	else
		complain 'the reflector has no 95th percentile of its response'
		verdict
	fi
}

unplanted

# The whole guest stands still while a packet is in the reflector, as behind a hypervisor that has no time for it: the trace has
# nothing of it. The emitter sends without a pause, so that a part of the stops is within a response.
stopped() {
	local name='the guest stands still' i

	wanted "$name" || return 0
	begin "causes: $name"
	set_parameters "irq_cpu=0,2,0"
	mkdir "$work/saved"
	start_pair "-s -C -T --trace-rearm --trace-interval 0.1 --trace-events packet --save-trace $work/saved -t $threshold_us" ''
	for ((i = 0; i < 15 * spikes; i++)); do
		pause 0.3
		echo 0.1 >"$RESULTS/stop"
		poll has_stopped
	done
	judge_saved "LEAST=$spikes" STOPPED_NS=100000000
}

# shellcheck disable=SC2317 # by poll
has_stopped() {
	[ ! -e "$RESULTS/stop" ]
}

stopped

# ---- The threshold is that of the emitter -----------------------------------------------------------------------------

instance=/sys/kernel/tracing/instances/rant # of the reflector, which makes it
instance_e=/sys/kernel/tracing/instances/rant-e

# Each host has an instance of its own, although they share a kernel.
make_instance_of_emitter() {
	mkdir "$instance_e"
	echo mono_raw >"$instance_e/trace_clock"
	echo 1 >"$instance_e/events/sched/sched_switch/enable"
	cat >"$work.as-emitter" <<-END
		#!/bin/sh
		mount --bind $instance_e $instance && exec "\$@"
	END
	chmod 755 "$work.as-emitter"
}

start_frozen_r() { # ARGUMENTS
	local -a words

	mkdir -p "$work/frozen/r"
	read -ra words <<<"$1"
	start r b taskset -c 0,1 "$RANT" --details -i sim1 --stamp hardware --timeout 2000 --cpu 1 -s --trace-events packet \
		--save-trace "$work/frozen/r" "${words[@]}"
	poll has_port r
}

# shellcheck disable=SC2317 # by poll
is_measuring() {
	grep -qs '^rant-watch$' "/proc/${pid[e]}"/task/*/comm || is_gone e
}

# It has two CPUs for its threads to start. Then all of them have CPU 0, or each trace that it saves would be the next breach; and they
# leave it to the reflector, which saves and explains there.
start_frozen_e() { # RUN "ARGUMENTS"
	local -a words

	read -ra words <<<"$2"
	mkdir "$work/frozen/e-$1"
	start e a nice -n 19 unshare -m "$work.as-emitter" taskset -c 0,1 "$RANT" --details -i sim0 -a "${address[b]}" \
		--stamp hardware --timeout 2000 --cpu 0 --interval 5ms --window 1 -w 150 -C -t 45000 "${words[@]}" --freeze-peer --trace-rearm \
		--trace-interval 1 --save-trace "$work/frozen/e-$1" --json "$work/frozen/e-$1.json"
	poll is_measuring
	poll moves_threads
}

# taskset fails if a thread ends while it runs.
# shellcheck disable=SC2317 # by poll
moves_threads() {
	is_gone e || taskset -ap 1 "${pid[e]}" >/dev/null 2>&1
}

# is_planted SEQ: the planted number, and with met_next=1 the next one: the work may be too late for its packet.
is_planted() {
	((($1 + 1) % every <= met_next))
}

# has_pairs RUN: folders of a planted packet at both hosts, which the reflector has explained: it traces again. Of two in the first run.
# shellcheck disable=SC2317 # by poll
has_pairs() {
	local folder name pairs=0

	for folder in "$work/frozen/e-$1"/*-seq-*[0-9]; do
		name=${folder##*/}
		[ -e "$folder" ] || return 1
		is_planted "${name##*-}" && [ -e "$work/frozen/r/${name/emit/reflect}" ] && pairs=$((pairs + 1))
	done
	{ ((pairs > ($1 == 1))) && [ "$(<"$instance/tracing_on")" = 1 ]; } || is_gone e || ((SECONDS >= longest))
}

# first_is_planted RUN: the first breach of the run, by the folders of the emitter.
first_is_planted() {
	local folder first=

	for folder in "$work/frozen/e-$1"/*-seq-*[0-9]; do
		[ -n "$first" ] && ((${folder##*-} > first)) || first=${folder##*-}
	done
	[[ $first =~ ^[0-9]+$ ]] && is_planted "$first"
}

# frozen NAME "ARGUMENTS" KIND NUMBER: the first breach of each run has its cause at the reflector in the report of the emitter.
frozen() {
	local run firsts=0 longest every=240 # both traces are saved between two plants
	local met_next=0

	wanted "both hosts frozen: $1" || return 0
	[ "$3" != read ] || met_next=1
	begin "causes: both hosts frozen: $1"
	cat /proc/simnic_plants >"$work/plants.before"
	set_parameters irq_cpu=0,2,0 "plant_kinds=$4" plant_ns=60000000 "plant_every=$every"
	start_frozen_r "$2 --allow-freeze --trace-rearm --trace-interval 0.1"
	for ((run = 1; run <= 2 * spikes && firsts < spikes; run++)); do
		longest=$((SECONDS + 20))
		start_frozen_e "$run" "$2"
		poll has_pairs "$run"
		stop e
		expect_status e 0
		! first_is_planted "$run" || firsts=$((firsts + 1))
	done
	stop r
	expect_status r 0
	set_parameters plant_every=0
	cat /proc/simnic_plants >"$work/plants"
	judge_tar frozen simnic_freeze.py "LEAST=$((spikes * 9 / 10))" "KIND=$3"
}

# shellcheck disable=SC2317 # by poll
has_folder() {
	compgen -G "$work/frozen/e-1/*-seq-*[0-9]" >/dev/null || is_gone e
}

not_allowed() {
	wanted 'a reflector without --allow-freeze' || return 0
	begin 'causes: a reflector without --allow-freeze leaves its trace alone'
	set_parameters irq_cpu=0,2,0 plant_kinds=7 plant_ns=60000000 plant_every=240
	start_frozen_r '-T'
	start_frozen_e 1 -T
	poll has_folder
	stop e
	[ "$(<"$instance/tracing_on")" = 1 ] || complain 'tracing is off at the reflector'
	! grep -q RANT_BREACH "$instance/trace" || complain 'the reflector has a marker of a breach'
	stop r
	set_parameters plant_every=0
	expect_status e 0
	expect_status r 0
	[ -z "$(ls -A "$work/frozen/r")" ] || complain "the reflector has saved $(ls -A "$work/frozen/r")"
	expect_line e.out '^Frozen: this host [0-9.]+ us after breach #[0-9]+ was seen; .*the peer refused: see its --allow-freeze'
	expect_line r.out '^Frozen: not on request of an emitter; refused [1-9][0-9]*: --allow-freeze allows it$'
	verdict
}

# An ordinary packet causes no event of the light set on a CPU that the NIC does not interrupt, so the set costs nothing there.
light_is_silent() {
	local name='light events: none of an ordinary packet' before packets ticks of_packets

	wanted "$name" || return 0
	begin "causes: $name"
	set_parameters irq_cpu=1,1,0
	start_pair '-s -T -t 10s --trace-events light' '--interval 500'
	wait_for_packets 200
	echo >"$instance/trace"
	before=$(sent_by b)
	wait_for_packets 2000
	packets=$(($(sent_by b) - before))
	cp "$instance/per_cpu/cpu1/trace" "$work/light"
	stop e
	stop r
	expect_status r 0
	ticks=$(grep -c ' local_timer_entry: ' "$work/light")
	of_packets=$(grep -cE ' (irq_handler_entry|call_function(_single)?_entry|sched_waking|softirq_entry: .*action=NET_.X\])' "$work/light")
	echo "# $test_name: $packets packets, $ticks ticks; $of_packets other interrupts, network softirqs and wake-ups"
	expect "$ticks" -gt 0 'ticks in the trace'
	expect "$of_packets" -lt $((packets / 2)) "interrupts, network softirqs and wake-ups beside $packets packets"
	verdict
}

make_instance_of_emitter
light_is_silent
kinds=(irq timer tasklet work irqs_off preempt_off fifo packets send read)
[ -n "${SPIKES:-}" ] || kinds=([1]=timer) # each takes a minute
for i in "${!kinds[@]}"; do
	frozen "${kinds[i]}" '-T -s --stages full' "${kinds[i]}" $((i + 1))
done
frozen 'fifo, with snapshots' -S fifo 7
not_allowed
rmdir "$instance_e"

umount /proc/kallsyms
for irq in "${!affinity[@]}"; do
	echo "${affinity[$irq]}" >"$irq" 2>/dev/null
done
together
rmmod simnic
exit "$failed"
