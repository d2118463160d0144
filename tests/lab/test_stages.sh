#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# --stages full on the simulated NIC: all times that the emitter has of a packet, of both hosts, against the moments at which the NICs
# had it (COUNT=N exchanges each); and SPIKES=N late packets, which both hosts blame on the stage at which they were held.
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - stages # SKIP the module of the simulated NIC was not built"
	exit 0
fi
COUNT=${COUNT:-2000} SPIKES=${SPIKES:-10}
simnic_options="truth_rows=$COUNT"
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"
modprobe sch_netem

late_ms=200 # more than the guest is late by itself, mostly
# Of the plants so many percent are kept breaches at least: netem draws lots, and a plant may hit between two packets.
declare -A plant_least=([poll]=100 [spin]=90 [qdisc]=80)

# twelve NAME "PARAMETERS" "E_ARGUMENTS" [EXPECTATION...]: all times of every packet against what the NICs know.
twelve() {
	local name=$1 arguments=$3
	local -a words

	[[ $name =~ ${ONLY:-.} ]] || return 0
	begin "stages: twelve times, $name"
	read -ra words <<<"$2"
	set_parameters "${words[@]}"
	echo >/dev/simnic_truth
	shift 3
	start_both '-s --timeout 200' "-s --stages full --timeout 200 --log $work/e.npy --log-format npy --log-full --json $work/e.json --count $COUNT $arguments"
	GUARD_S=$((GUARD_S + COUNT / 100)) finish e
	stop r
	cat /dev/simnic_truth >"$work/truth"
	judged_outside simnic/truth_twelve.py "SELF=${SELF:-0}" "COUNT=$COUNT" "${words[@]}" -- "$@"
	set_parameters drift_ppb=0,0 drop_every=0 dup_every=0 reorder_every=0 tx_stamp_missing_every=0 rx_stamp_missing_every=0 \
		kernel_stamp_missing_every=0 kernel_stamp_after=N
}

# So that the reflector mostly polls when the spinner takes its CPU.
interval_of() {
	[ "$1" != spin ] || echo --interval 5000
}

# planted NAME PLANT PART: delays at the reflector, which both hosts blame on that part.
planted() {
	local name="$SPIKES late packets are blamed on $1" plant=$2 part=$3

	[[ $name =~ ${ONLY:-.} ]] || return 0
	begin "stages: $name"
	case $plant in
	poll) set_parameters spike_stage=4 spike_every=100 spike_ns="$((late_ms * 1000000))" ;;
	qdisc) at b tc qdisc replace dev sim1 root netem limit 10000 delay "${late_ms}ms" reorder 99% || complain 'tc failed' ;;
	esac
	start_both "-s --stages full -C -t $((late_ms * 500)) --json $work/r.json" \
		"-s --stages full -C -t $((late_ms * 500)) --json $work/e.json --count 1000000 $(interval_of "$plant")"
	wait_for_packets 200 # what is usual
	case $plant in
	spin) taskset -c 1 chrt -f 50 "$HELPERS/spinner" "$SPIKES" "$late_ms" 100 >"$work/spins" ;;
	poll) wait_for_packets $((SPIKES * 100 + 50)) ;;
	qdisc) wait_for_packets $((SPIKES * 200)) ;;
	esac
	stop e
	stop r
	set_parameters spike_every=0
	at b tc qdisc del dev sim1 root 2>/dev/null
	judged_outside simnic/truth_blame.py "plant=$plant" "part=$part" "least=$((plant_least[$plant] * SPIKES / 100))"
}

# At the emitter this is before its round trip, so no breach.
held() {
	local count

	[[ 'packets that the queueing discipline of the emitter holds' =~ ${ONLY:-.} ]] || return 0
	begin 'stages: packets that the queueing discipline of the emitter holds'
	at a tc qdisc replace dev sim0 root netem limit 10000 delay 30ms reorder 95% || complain 'tc failed'
	start_both '-s' "-s --stages full --log $work/e.log --log-full --log-format csv --count 1500"
	finish e
	stop r
	at a tc qdisc del dev sim0 root
	expect_status e 0
	read -r count wrong < <(awk -F, '!/^#/ && NR > 1 && $17 != "" {
			held = $18 - $17
			n += held >= 15000000
			wrong += held >= 15000000 && $17 - $2 > held
		}
		END { print n + 0, wrong + 0 }' "$work/e.log")
	expect "$count" -ge 40 'packets that waited between queueing discipline and driver'
	expect "$wrong" -eq 0 'of them, longer before the queueing discipline'
	verdict
}

faults='drop_every=97 dup_every=89 reorder_every=83 tx_stamp_missing_every=101 rx_stamp_missing_every=103 kernel_stamp_missing_every=107'
all_known='min(known.values()) > 0.9 * N > 0.7 * COUNT'
# As few as the reflector's last replies, which nobody reports; and a time that the guest was too slow to place.
twelve 'one in flight' 'drift_ppb=20000,-30000' '' 'min(known.values()) >= 0.98 * N > 0.97 * COUNT'
twelve '64 in flight' 'drift_ppb=20000,-30000' '--window 64' "$all_known"
twelve 'one in flight, with faults' "$faults" '' "$all_known" 'missing["Driver times"] > 0'
twelve '64 in flight, with faults' "$faults" '--window 64' "$all_known" 'missing["Driver times"] > 0'
twelve 'a driver that takes the time after the NIC' 'kernel_stamp_after=Y' '--window 16' 'N > 0.9 * COUNT' \
	'known["T1_TXSW"] == known["T3_TXSW"] == 0' 'known["T1_SCHED"] > 0.9 * N' 'known["T3_SCHED"] > 0.9 * N'
planted 'the poll of the reflector' poll nic_to_kernel_ns
planted 'between softirq and thread of the reflector' spin kernel_to_app_ns
planted 'the queueing discipline of the reflector' qdisc qdisc_to_driver_ns
held
