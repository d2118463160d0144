#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Hardware stamps, a spike at each stage in turn, and what rant makes of it: the stage it blames, the kernel's snapshot,
# and the circular log. On the simulated NIC, whose clock runs like the system's but is offset and drifts.
#
# lab: rt slow
#
#   SPIKES=N    of each stage, each is a run of its own: 3, or 1 if only quick tests are wanted
# Functions are called by slow() and quick().
# shellcheck disable=SC2317
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - trace # SKIP the module of the simulated NIC was not built"
	exit 0
fi
spikes=${SPIKES:-${QUICK:+1}}
spikes=${spikes:-3} # a second one shows that all is ready again after the first
parameters=/sys/module/simnic/parameters
instance=/sys/kernel/tracing/instances/rant
insmod "$SIMNIC" period_ns=0 live=Y wire_ns=1000 wire_back_ns=1000 response_ns=0 phc_offset_ns=37000000000,-123456789 \
	drift_ppb=40000,-25000
apart sim0 sim1
mkdir "$instance"
echo mono_raw >"$instance/trace_clock"
echo 256 >"$instance/buffer_size_kb"
for event in sched/sched_switch irq napi; do
	echo 1 >"$instance/events/$event/enable"
done

set_spike() { # STAGE EVERY NS, as simnic has them
	echo 0 >"$parameters/spike_every"
	echo "$1" >"$parameters/spike_stage"
	echo "$3" >"$parameters/spike_ns"
	echo "$2" >"$parameters/spike_every"
}

# The spike ends each run; the duration ends only a run without a spike.
R="-i sim1 --stamp hardware --duration 150 -s -t 150000 -S --save-trace $work/saved"
E="-i sim0 -a ${address[b]} --stamp hardware --timeout 1000"

# evidence NAME PART [SHARE]: the report of one run, its saved snapshot and its log agree on one spike in PART.
evidence() {
	local name=$1 seq all cpu

	expect_status "$name" 2
	expect_line "$name.out" "^  $2 \\(.*\\): [0-9]{9} ns <-- where the spike is\$"
	expect "$(grep -c 'where the spike is' "$work/$name.out")" -eq 1 'arrows'
	expect_line "$name.out" "^  Blame: $2 [0-9.]+ us, typical [0-9.]+ us, ${3:-(9[0-9]|10[0-9])} % of the excess(: .*)?\$"
	expect_line "$name.out" '^  Saved     : .*, from snapshot, the spike is in cpu[01]\.txt$'
	seq=$(sed -n 's/^  Sequence number: //p' "$work/$name.out" | head -1)
	all=$(echo "$work"/saved/*/all.txt)
	expect "$(grep -v '^#' "$all" | grep -c "RANT_BREACH role=.* seq=$seq ")" -eq 1 "markers of #$seq"
	expect "$(tail -n 1 "$work/$name.log" | awk '{ print $1 }')" = "$seq" 'the last record of the log'
	for cpu in 0 1; do
		# Lines of events: those that are no comments, and no marker of ours.
		expect "$(grep -vc '^#\|RANT_' "$work/saved/"*"/cpu$cpu.txt")" -gt 0 "events of CPU $cpu before the breach"
	done
	expect "$(<"$instance/tracing_on")" = 0 'tracing_on'
	rm -rf "$work/saved"
	# What is frozen would come back in the next one.
	echo 0 >"$instance/snapshot"
	echo >"$instance/trace"
	echo 1 >"$instance/tracing_on"
}

# reflector_stage NAME PART PRELOADED [OPTION]: the emitter goes on all the time, the reflector runs once for each spike.
reflector_stage() {
	local i
	local -a words

	begin "trace: spikes $1 are blamed on: $2"
	read -ra words <<<"$R ${4:-}"
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --timeout 1000 -q
	for ((i = 0; i < spikes; i++)); do
		mkdir "$work/saved"
		start r b env ${3:+LD_PRELOAD="$HELPERS/spike" SPIKE="$3"} taskset -c 1 "$RANT" --details "${words[@]}" --log "$work/r.log"
		finish r
		evidence r "$2"
		[ ${#complaints[@]} -eq 0 ] || break
	done
	stop e
	verdict
}

set_spike 4 300 200000000
reflector_stage 'between NIC and kernel' NIC-to-kernel ''
set_spike 0 0 0
reflector_stage 'in the program' 'App processing' app,300,200000
set_spike 2 300 200000000
# The simulated stamp is of a time that is still to come when it is fetched: a real one would be no stamp of this packet.
reflector_stage 'between program and NIC' App-to-NIC '' --no-step-check

emitter_wire() {
	local i
	local -a words

	begin "trace: spikes on the wire are blamed on: Network"
	# On the simulated wire it takes no time, so the times of user space contradict it.
	read -ra words <<<"$E --no-step-check --duration 150 -s -t 150000 -S --save-trace $work/saved"
	set_spike 3 300 200000000
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware -q
	poll has_port r
	for ((i = 0; i < spikes; i++)); do
		mkdir "$work/saved"
		start e a taskset -c 0 "$RANT" --details "${words[@]}" --log "$work/e.log"
		finish e
		# A stall of the guest may have its share, in the reflector.
		evidence e Network '[0-9]+'
		[ ${#complaints[@]} -eq 0 ] || break
	done
	stop r
	verdict
}
emitter_wire

# ---- Stages on the NIC's scale ---------------------------------------------------------------------------------------

stages_add_up() {
	local words

	begin "clocks: stages are right although the clocks are seconds apart and drift by $1 ppb"
	set_spike 0 0 0
	echo "$1" >"$parameters/drift_ppb"
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware -s -H --log "$work/r.log" --count 50000
	poll has_port r
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware -s -H --log "$work/e.log" --count 3000 \
		--timeout 2000
	finish e
	stop r
	expect_status e 0
	expect_status r 0
	for name in e r; do
		expect_line "$name.out" '^  NIC clock     : sim[01], (neither UTC nor TAI|TAI|UTC), minus CLOCK_REALTIME '
		expect_line "$name.out" "^  Stages        : user-space times are on the NIC's scale within \\+-[0-9]+ ns\$"
		expect "$(grep -c 'on the wrong side of their stamps' "$work/$name.out")" -eq 0 'samples out of order'
	done
	# In the log all four times have the same timebase: in order, within the bound that the report gives.
	for name in e r; do
		bound=$(sed -n 's/^  Stages  .* within +-\([0-9]*\) ns$/\1/p' "$work/$name.out")
		words=$(awk -v bound="$bound" '
			function ns(later, earlier) {
				split(later, a, "."); split(earlier, b, ".")
				return (a[1] - b[1]) * 1000000000 + a[2] - b[2]
			}
			NR > 2 && (ns($3, $2) < -bound || ns($4, $3) < -bound || ns($5, $4) < -bound) { bad++ }
			END { print bad + 0, NR - 2 }' "$work/$name.log")
		expect "${words% *}" -eq 0 "records of $name whose times are out of order by more than $bound ns"
		expect "${words#* }" -ge 2900 "records of $name"
	done
	verdict
}
slow stages_add_up 0,0
quick stages_add_up 50000,-50000

without_ptp() {
	begin 'clocks: without /dev/ptp packets give the relation of the clocks, and the report says why'
	mkdir /dev/kept
	mv /dev/ptp* /dev/kept
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware -s -H
	poll has_port r
	# For 3 s: the relation is known after about half a second.
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware -s -H --interval 1ms --count 3000 --timeout 2000
	finish e
	stop r
	mv /dev/kept/* /dev
	expect_status e 0
	expect "$(row e Recorded)" -eq 3000 'recorded'
	for name in e r; do
		expect_line "$name.out" '^  NIC clock     : sim[01], .* minus CLOCK_REALTIME .*, by timestamps of packets$'
		expect_line "$name.out" '^  It is not read: /dev/ptp[0-9]+: No such file or directory: .*\. Packets sent and received limit its offset$'
		expect_line "$name.out" '^  Stages        : user-space times are on the NIC.s scale within \+-[0-9]+ ns$'
	done
	# These are differences of stamps of one NIC.
	expect_line e.out '^  Response +T3_HW - T2_HW +3000 '
	expect_line e.out '^  Network +RTT - RESPONSE +3000 '
	expect_line r.out '^  Response +T3_HW - T2_HW +[0-9]+ '
	verdict
}
quick without_ptp

step_is_seen() {
	begin 'clocks: the one round trip in which the clock was set is left out and counted'
	echo 500000000 >"$parameters/step_ns"
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware
	poll has_port r
	echo 1500 >"$parameters/step_at"
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --log "$work/e.log" --count 3000 \
		--timeout 2000
	finish e
	stop r
	expect_status e 0
	expect "$(row e Stepped)" -eq 1 'stepped'
	expect "$(awk 'NR > 2 && $NF > 400000000' "$work/e.log" | wc -l)" -eq 0 'round trips that show the step'
	expect "$(awk '$1 == 1500' "$work/e.log" | wc -l)" -eq 0 'records of the packet in which the clock was set'
	expect_line e.out '^  Step of the NIC clock by \+(500000|49999[0-9]|50000[0-9])[0-9]{3} ns '
	expect_balance e
	verdict
}
quick step_is_seen

together
rmmod simnic
exit "$failed"
