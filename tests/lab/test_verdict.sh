#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# The verdict on hardware stamps: each reason that a NIC can give is provoked once, and has to be in the last line of the
# report, with its number and its exit status. On the simulated NIC, and for a jump of the clock on igb.
#
# The guest is slow, so that a thread may have had to wait for its CPU: that alone is always allowed.
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - verdict # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

begin 'verdict: a healthy run is trusted, with log, histogram and stages'
# The reflector must not end by its count, which makes its log small, before the emitter does, whose warm-up it counts too.
run "-s -H --log $work/r.log --count 1000" "-s -H --log $work/e.log --count 400 --warmup 20 -v"
verdict_is e trusted 0
verdict_is r trusted 0
expect "$(row e Lost)" -eq 0 'probes without an answer'
expect "$(grep -c '^Not judged.*NIC' "$work/e.out")" -eq 0 'questions about the NIC that were not judged'
verdict

begin 'verdict: missing stamps are counted, and with --strict a failure'
set_parameters directions=1 tx_stamp_missing_every=50
run '' '--count 300 --timeout 600'
lost='stamps are missing \(6 of 300 samples, 2 %\); the driver lost stamps \(tx_stamp_missing 6\)'
verdict_is e doubtful 0 "$lost"
verdict_is r trusted 0
run '-q' '--count 300 --timeout 600 --strict -q'
expect_status e 3
expect_status r 0
expect "$(wc -c <"$work/e.out")" -eq 0 'octets on stdout with -q'
verdict

begin 'verdict: in the warm-up missing stamps do not count'
run '' '--count 100 --warmup 400 --timeout 600'
verdict_is e doubtful 0 "stamps are missing \(2 of 100 samples, 2 %\); the driver lost stamps \(tx_stamp_missing [0-9]+\)"
verdict

begin 'verdict: void where most stamps are missing'
set_parameters directions=3 tx_stamp_missing_every=2 rx_stamp_missing_every=3
run '' '--count 30 --timeout 500'
verdict_is e void 3 'most stamps are missing \(67 % of the samples\); stamps are missing \(20 of 30 samples, 67 %\); .*'
set_parameters tx_stamp_missing_every=0 rx_stamp_missing_every=0
verdict

begin "verdict: another program changes the NIC's setting"
start_both '' '--count 1000000 --timeout 50'
wait_for_packets 1500
at a hwstamp_ctl -i sim0 -t 1 -r 12 >/dev/null
wait_for_packets 10
stop e
stop r
verdict_is e doubtful 0 "stamps are missing \(.*\); the NIC's setting was changed during the run \(from transmit 'on', receive 'all' to transmit 'on', receive 'ptpv2-event'\)"
verdict_is r trusted 0
at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
verdict

begin 'verdict: a NIC that stamps one packet at a time and skips others'
set_parameters stamp_slots=1,1,1 tx_stamp_delay_us=1000 directions=1 dup_every=5
run '' '--count 100'
verdict_is e trusted 0
verdict_is r doubtful 0 'stamps are missing \(.*\); the driver lost stamps \(tx_hwtstamp_skipped [0-9]+\)'
set_parameters stamp_slots=0,0,0 tx_stamp_delay_us=0 dup_every=0
verdict

begin 'verdict: a step of 1 ms in the middle is found at its place, and the statistics are clean'
set_parameters step_ns=1000000 step_at=600
run '' "--log $work/e.log --count 1200"
# Until a reading shows the step, times of user space are off by it, and some stamps beside them are on the wrong side.
disordered='times were out of order \([0-9]+ samples? left out of the stages\)'
verdict_is e doubtful 0 "a clock was set \(the NIC's clock 1 time, 1 sample left out\)(; $disordered)?"
verdict_is r trusted 0
expect "$(awk '$1 == 600' "$work/e.log" | wc -l)" -eq 0 'records of the packet in which the clock was set'
sed -n 's/^  Step of the NIC clock by +\([0-9]*\) ns (+-\([0-9]*\)), .* after packet \([0-9]*\) to \([0-9]*\)$/\1 \2 \3 \4/p' "$work/e.out" >"$work/step"
size=0 bound=0 from='' to=''
read -r size bound from to <"$work/step"
expect $((size - bound)) -le 1000000 'size of the step less its bound'
expect $((size + bound)) -ge 1000000 'size of the step and its bound'
expect "${from:-9999}" -le 601 'packets before the step'
expect "${to:-0}" -ge 600 'packets after the step'
set_parameters step_at=-1
verdict

begin "verdict: void where the NIC's clock stands still"
start_both '' '--count 1000000'
wait_for_packets 100
set_parameters drift_ppb=-1000000000,0
pause 1
stop e
stop r
set_parameters drift_ppb=0,0
verdict_is e void 3 "(a clock was set \(.*\); )?the NIC's clock stood still \([0-9]+ times?, [0-9]+[.][0-9]+ s in all\)(; $disordered)?"
verdict_is r trusted 0
verdict

# The setting is asked for before it is changed and after; then right before the run, after it, and before it is put back.
begin 'verdict: void where the NIC stamps less than what was asked'
fault=(env LD_PRELOAD="$HELPERS/spike" "FAULT=filter,3")
run '' '--count 100'
verdict_is e void 3 "the NIC does not stamp what was asked \(transmit 'on', receive 'ptpv2-event'\)"
verdict_is r trusted 0
expect "$(setting_of a)" = '0 0' 'the setting that was put back'
verdict

begin "verdict: the NIC's clock cannot be read any more"
fault=(env LD_PRELOAD="$HELPERS/spike" "FAULT=clock,80")
start_both '' '--count 1000000'
wait_for_packets 100
pause 2
stop e
stop r
fault=()
verdict_is e doubtful 0 "the NIC's clock could not be read \([0-9]+ of [0-9]+ readings failed, the last: Input/output error\)"
verdict_is r trusted 0
verdict

begin 'verdict: stages that are negative'
set_parameters before_ns=-20000000
run '' '--count 200 -s --no-step-check'
verdict_is e doubtful 0 "$disordered"
set_parameters before_ns=0
verdict

for stamp in kernel user; do
	begin "verdict: the system clock is set, --stamp $stamp"
	start_both "--stamp $stamp" "--stamp $stamp --count 1000000"
	wait_for_packets 300
	date -s '+3 seconds' >/dev/null
	# The reflector, whose clock this is too, has looked by then.
	pause 1
	wait_for_packets 300
	stop e
	stop r
	# Also the sample after it, where a busy guest reads the clocks late.
	set='a clock was set \(CLOCK_REALTIME 1 time(, [12] samples? left out)?\)'
	verdict_is e doubtful 0 "$set; the reflector doubts its clock \([0-9]+ replies, the first to packet [0-9]+\)"
	verdict_is r doubtful 0 "$set"
	verdict
done

begin 'verdict: a breach ends the run with status 2 all the same'
set_parameters tx_stamp_missing_every=3
run '' '--count 1000 --timeout 50 -t 0.001 --strict'
expect_status e 2
expect "$(grep -c '^Measurement: ' "$work/e.out")" -eq 1 'verdicts'
verdict

together
rmmod simnic
exit "$failed"
