#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# --stamp receive on a NIC that timestamps received packets only, at both ends and at each of them: no printed network time is below
# the true one by more than the bounds, the names and labels are not those of hardware timestamps, and --stamp hardware is refused.
#
#   ONLY=REGEX  only the tests whose name matches
#   COUNT=N     packets in each test, sent without a pause. Default: 3,000, one each millisecond. 1000000 needs MEMORY=4096
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - receive # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

pace=()
[ -n "${COUNT:-}" ] || pace=(--interval 1000)
COUNT=${COUNT:-3000}

bound_of() { # NAME: the bound of its sent packets, 0 where its NIC timestamps them
	local bound

	bound=$(sed -n 's/^  Sent packets  : T[13]_KERNEL is on the NIC.s scale within +-\([0-9]*\) ns.*/\1/p' "$work/$1.out")
	echo "${bound:-0}"
}

# expect_network BOUND WIRE_NS: RTT of the one log less RESPONSE of the other, by sequence number. The clocks drift by 30 ppm at
# most; the kernel's stamps are earlier than those of the NIC, by a time that the guest decides.
expect_network() {
	awk -v bound="$1" -v wire="$2" '
		FNR < 3 { next }
		NR == FNR { response[$1] = $NF; next }
		$1 in response && $NF != "-" {
			n++
			network = $NF - response[$1]
			if (network < wire - bound - 1 - $NF / 10000)
				print "network of #" $1 ": " network
			more += network - wire
		}
		END { print n + 0, n ? more / n : 0 >"/dev/stderr" }' "$work/r.log" "$work/e.log" >"$work/wrong" 2>"$work/joined"
	expect "$(wc -l <"$work/wrong")" -eq 0 "network times below $2 ns by more than $1 ns, the first $(head -n 1 "$work/wrong")"
	expect "$(cut -d' ' -f1 "$work/joined")" -ge $((COUNT * 9 / 10)) 'exchanges in both logs'
	echo "# $test_name: bound $1 ns, samples and mean excess (ns): $(<"$work/joined")"
}

# receive NAME STAMP_R STAMP_E
receive() {
	local -A kind=([hardware]=HW [receive]=KERNEL)

	[[ $1 =~ ${ONLY:-.} ]] || return 0
	begin "receive: $1"
	set_parameters drift_ppb=20000,-30000 "rx_only=$([ "$2" = receive ] && echo Y || echo N)"
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp "$2" --timeout 2000 --log "$work/r.log"
	poll has_port r
	set_parameters "rx_only=$([ "$3" = receive ] && echo Y || echo N)"
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp "$3" --timeout 2000 "${pace[@]}" --count "$COUNT" \
		--log "$work/e.log" --json "$work/e.json" --prometheus "$work/e.prom" --sw-timestamps
	GUARD_S=$((GUARD_S + COUNT / 1000)) finish e
	stop r
	expect_status e 0
	expect_status r 0
	expect_balance e
	expect_balance r
	expect_line e.log " T1_${kind[$3]} +T4_HW "
	expect_line r.log " T2_HW +T3_${kind[$2]} "
	expect "$(row e Disordered)" -le 0 'samples whose times are out of order'
	if [ "$3" = receive ]; then
		expect_line e.out '^RTT \(at most, \+-[0-9]+ ns\) p50 '
		expect_line e.out '^  Round trip, at most +T4_HW - T1_KERNEL '
		expect_line e.json '"limit": *"at most"'
		expect_line e.prom '^rant_last_run_latency_bound_seconds\{.*limit="at most"\} 0\.'
		expect_line e.prom '^rant_info\{.*stamp="receive"\} 1'
	else
		expect_line e.out '^RTT p50 '
		expect_line e.out '^  Round trip +T4_HW - T1_HW '
	fi
	if [ "$2" = receive ]; then
		expect_line r.out '^Response \(at least, \+-[0-9]+ ns\) p50 '
		expect_line e.out '^  Response, at least +T3_KERNEL - T2_HW '
	else
		expect_line e.out '^  Response +T3_HW - T2_HW '
	fi
	expect_line e.out '^  Network, at most +RTT - RESPONSE '
	"$RANT" --report "$work/e.json" --details >"$work/json.out" 2>"$work/json.err"
	"$RANT" --report "$work/e.log" "$work/r.log" --details >"$work/logs.out" 2>"$work/logs.err"
	for again in json logs; do
		expect "$(grep -Eo '^RTT (\(at most)?' "$work/$again.out")" = "$(grep -Eo '^RTT (\(at most)?' "$work/e.out")" "the report of $again"
		expect "$(grep -Eo '^  (Round trip|Response|Network)[a-z ,]* [RT][T0-9A-Z_]+ - [RT][A-Z0-9_]+' "$work/$again.out")" = \
			"$(grep -Eo '^  (Round trip|Response|Network)[a-z ,]* [RT][T0-9A-Z_]+ - [RT][A-Z0-9_]+' "$work/e.out")" "the stages of $again"
	done
	expect_network $(($(bound_of e) + $(bound_of r))) 2000
	verdict
}

receive 'at both ends' receive receive
receive 'at the emitter' hardware receive
receive 'at the reflector' receive hardware

if [[ 'receive: hardware is refused and receive is offered' =~ ${ONLY:-.} ]]; then
	begin 'receive: hardware is refused and receive is offered'
	set_parameters rx_only=Y
	start e a "$RANT" -i sim0 -a "${address[b]}" --stamp hardware --duration 1
	finish e
	expect_status e 1
	expect_line e.err "interface 'sim0' \\(driver 'simnic'\\) timestamps received packets only: use --stamp receive at this end\$"
	start c a "$RANT" --check -i sim0 -a "${address[b]}" --stamp hardware
	finish c
	expect_line c.out '^fail  stamps: hardware timestamps of received packets only \(ethtool TSINFO\): .*: rant --stamp receive$'
	start d a "$RANT" --check -i sim0 -a "${address[b]}" --stamp receive
	finish d
	expect_line d.out "^ok    stamps: kernel transmit, and hardware receive with filter 'all'"
	verdict
fi

if [[ 'receive: a breach says that it is at most' =~ ${ONLY:-.} ]]; then
	begin 'receive: a breach says that it is at most'
	set_parameters rx_only=Y
	start r b taskset -c 1 "$RANT" -i sim1 --stamp receive --timeout 2000
	poll has_port r
	start e a taskset -c 0 "$RANT" -i sim0 -a "${address[b]}" --stamp receive --timeout 2000 --warmup 20 --threshold 1
	finish e
	stop r
	expect_status e 2
	expect_line e.out '^Round-trip latency \([0-9]+ ns, at most, \+-[0-9]+ ns\) exceeds threshold \(1000 ns\)\.$'
	verdict
fi

# Stamps of the NIC that lie after the delivery make the delay that they avoid negative.
if [[ 'receive: a bound above the delay to the kernel is refused' =~ ${ONLY:-.} ]]; then
	begin 'receive: a bound above the delay to the kernel is refused'
	set_parameters rx_only=Y wire_back_ns=200000
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp receive-any --timeout 2000
	poll has_port r
	for stamp in receive receive-any; do
		start "$stamp" a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp "$stamp" --no-step-check --timeout 2000 \
			--interval 1000 --count 2000
		finish "$stamp"
	done
	stop r
	expect_status receive 1
	expect_line receive.err '--stamp receive places sent packets within \+-[0-9]+ ns, but avoids a delay of -[0-9]+ ns only .*: use --stamp kernel, or --stamp receive-any$'
	expect "$(row receive Recorded)" -lt 2000 'samples of the run that was refused'
	expect_status receive-any 0
	expect "$(row receive-any Recorded)" -gt 1900 'samples of the run that was told'
	expect_line receive-any.out '^  Kernel        : got received packets -[0-9]+ ns after the NIC \(mean\): less than this bound, --stamp kernel is better$'
	verdict
fi

set_parameters rx_only=N drift_ppb=0,0 wire_back_ns=1000
together
rmmod simnic
exit "$failed"
