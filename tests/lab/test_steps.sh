#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The reflector's clock, or the emitter's, is set, stands, or runs at a wrong rate during a run: no network time, response or one-way
# time that is recorded is wrong, what is left out is counted, and the report says what happened (simnic/truth_steps.py). Other sizes,
# rates and lengths are in tests/unit/test_clock_peer.c, test_clock_track.c, test_outage.c and test_window.c, and more of the emitter's own
# clock in test_clocks.sh.
#
#   ONLY, SELF  see test_eight.sh
#
# Text in single quotes is for truth_steps.py. Functions are called by slow(), too.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

family=steps truth=simnic/truth_steps.py step_check=''
emitter_options=(--log-full)
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

L='period_ns=0 live=Y wire_ns=3000 wire_back_ns=2500 response_ns=0 phc_offset_ns=37000000000,-123456789'

# run NAME "PARAMETERS" "E_ARGUMENTS" "ACTION" EXPECTATION...: the action after a second and some packets; then 300 more. The
# exit statuses that are expected: STATUS_E, STATUS_R.
run() {
	local name=$1 action=$4
	local -a words

	read -rd '' -a words <<<"$L $2"
	wanted "$name" || return 0
	begin "$family: $name"
	reset
	set_parameters "${words[@]}"
	told[RATE_PPM]=${RATE_PPM:-0}
	start_pair "${R_ARGUMENTS:-}" "--timeout 2000 --histogram $3"
	poll has_sent_or_ended 300
	pause 1
	eval "$action"
	take_counters now
	poll has_sent_or_ended $((probes[now] - probes[before] + 300))
	stop e
	finish_reflector
	[ "${STATUS_E:-0}" = any ] || expect_status e "${STATUS_E:-0}"
	[ "${STATUS_R:-0}" = any ] || expect_status r "${STATUS_R:-0}"
	shift 4
	compare "$@"
}

has_sent_or_ended() {
	is_gone e || has_sent "$1"
}

drift() { # SIDE PPB SECONDS
	local -A by=([a]="$2,0" [b]="0,$2")

	echo "${by[$1]}" >"$parameters/drift_ppb"
	pause "$3"
	echo 0,0 >"$parameters/drift_ppb"
}

# A step in the next exchange: WHERE in it, by so much, and in so many after one another.
step_in() { # WHERE NS [TIMES]
	set_parameters "step_where=$1" "step_ns=$2" "step_times=${3:-1}" step_at=-2
	take_counters now
	poll has_sent_or_ended $((probes[now] - probes[before] + 100))
}
IN_ROUND_TRIP=0 IN_RESPONSE=1 BEFORE_T1=2 BEFORE_T2=3

# ---- The reflector's clock is set --------------------------------------------------------------------------------------

JUMPED='verdict("doubtful: .*the reflector.s clock was set \(1 time, ")'
LEFT_OUT='0 < stamps["Remote step"] < 40'

NOT_AT='{T[n][column] for n in flagged("stepped") for column in ("T2_HW", "T3_HW", "RESPONSE", "NETWORK")} == {"-"}'
run 'the reflector, -100 us within a response' '' '' "step_in $IN_RESPONSE -100000" "$JUMPED" "$LEFT_OUT" "$NOT_AT" \
	'len(flagged("stepped")) == stamps["Remote step"]' 'jumped(-100000)' 'says("The reflector reports that its clock was set")'
slow run 'the reflector, 1 s within a response' '' '' "step_in $IN_RESPONSE 1000000000" "$JUMPED" "$LEFT_OUT" "$NOT_AT"
# Where the guest stops for some 10 ms between two exchanges the clocks may have parted by as much: then the step is not seen, or the exchanges
# after it agree with those before, and the stamp in between is reported as contradicting the others.
slow run 'the reflector, -15 us within a response' '' '' "step_in $IN_RESPONSE -15000" \
	"hidden or $JUMPED or verdict('doubtful: .*the reflector.s stamps contradict each other \(')" "hidden or $LEFT_OUT" "$NOT_AT"
# It spoils no sample, and where the guest stops for some 0.1 s between two exchanges the clocks may have parted by as much.
slow run 'the reflector, 15 us between exchanges' '' '' "step_in $BEFORE_T2 15000" 'stamps["Remote step"] < 40' 'len(T) > 300'
for ns in -25000000 25000000; do
	slow run "the reflector's own responses, $ns ns" '' '' "step_in $IN_RESPONSE $ns; pause 0.5; step_in $BEFORE_T2 $ns" \
		'not off_by' 'r["Stepped"] > 0'
done
STATUS_E=3 slow run 'the reflector, a burst' '' '' "step_in $IN_RESPONSE -100000 20" 'verdict("void: .*the reflector.s clock ")' \
	'20 <= stamps["Remote step"] < 60'
slow run 'the reflector, again and again' '' '' 'for i in 1 2 3 4 5 6 7; do step_in $IN_RESPONSE 100000; done' \
	'verdict("doubtful: .*the reflector.s clock was set \(7 times, ")' '7 <= stamps["Remote step"] < 150'
slow run 'the reflector, to and fro' '' '' "step_in $BEFORE_T2 1000000; step_in $BEFORE_T2 -1000000" \
	'verdict("doubtful: .*the reflector.s clock was set \(2 times, ")'
slow run 'a threshold on the network is not judged where that is not known' '' '-t 50 --threshold-on network' \
	"step_in $IN_RESPONSE -100000" 'e["Breaches"] == 0' 'stamps["Not judged"] >= stamps["Remote step"] > 0' \
	'verdict("doubtful: .*a threshold was not judged ")'

# With many in flight those that are reflected across the step were sent together with those that are not.
STEPS='for i in 1 2 3 4 5 6 7 8; do step_in $IN_RESPONSE -700000; pause 0.2; done'
slow run 'many in flight: the reflector, -700 us, eight times' '' '-t 200 --threshold-on network -C --window 64' "$STEPS" \
	'e["Breaches"] == 0' 'stamps["Remote step"] > 0' 'len(T) > 300'
# Then as many probes as may be in flight: a step that only the closing probe shows may be hidden by a drift (docs/clocks.md).
A_WINDOW='take_counters now; poll has_sent_or_ended $((probes[now] - probes[before] + 8192))'
slow run 'thousands in flight: the reflector, -700 us, eight times' '' '-t 200 --threshold-on network -C --window 4096' "$STEPS; $A_WINDOW" \
	'e["Breaches"] == 0' 'stamps["Remote step"] > 0' 'len(T) > 300'
slow run 'by the clock: the reflector, -15 us, eight times' '' '-t 200 --threshold-on network -C --interval 500us' "${STEPS//-700000/-15000}" \
	'e["Breaches"] == 0' 'len(T) > 300'

slow run 'thousands in flight: the emitter, 1 s, three times' '' '-t 200 --threshold-on network -C --window 4096' \
	'for i in 1 2 3; do step_in $IN_ROUND_TRIP 1000000000; pause 0.2; done' 'e["Breaches"] == 0' 'len(T) > 300'

# ---- It stands ------------------------------------------------------------------------------------------------------------

STOOD='verdict("void: .*the reflector.s clock stood still \(")'
export STATUS_E=3 STATUS_R=3
run 'the reflector stands for 2 s' '' '' 'drift b -1000000000 2' "$STOOD" 'stamps["Remote step"] > 20'
# It takes two readings of the reflector, a tenth of a second apart, to tell that from a step.
STATUS_R=any slow run 'the reflector stands for 0.1 s' '' '' 'drift b -1000000000 0.1' "$STOOD" 'stamps["Remote step"] > 2'
slow run 'the reflector stands from the beginning' 'drift_ppb=0,-1000000000' '' '' "$STOOD" 'stamps["Complete"] == 0'

# ---- It runs at a wrong rate ---------------------------------------------------------------------------------------------------

export RATE_PPM=2000
slow run 'the reflector runs 5 % fast' 'drift_ppb=0,50000000' '' '' 'verdict("void: .*the reflector.s clock runs at a wrong rate \(")'
slow run 'the reflector runs 20 % slow for a second' '' '' 'drift b -200000000 1' \
	'verdict("void: .*the reflector.s clock runs at a wrong rate \(")'
unset STATUS_E STATUS_R RATE_PPM

# ---- The emitter's own -----------------------------------------------------------------------------------------------------------

OURS='verdict("doubtful: .*a clock was set \(the NIC.s clock")' NOT_THEIRS='"the reflector\x27s clock" not in text_e.splitlines()[1]'
slow run 'the emitter, 15 us within a round trip' '' '' "step_in $IN_ROUND_TRIP 15000" "$OURS" "$NOT_THEIRS"
slow run 'the emitter, -1 s between exchanges' '' '' "step_in $BEFORE_T1 -1000000000" "$OURS" "$NOT_THEIRS"
STATUS_E=3 slow run 'the emitter stands for a second' '' '' 'drift a -1000000000 1' 'verdict("void: .*the NIC.s clock stood still")' \
	"$NOT_THEIRS"

# ---- Nothing crosses the wires for a while ------------------------------------------------------------------------------------------

# Shorter and longer than --timeout with one in flight and by the clock, longer with many in flight. Where all that was sent waits in the
# reflector (4,096 in flight: 0.2 s), its replies are dropped, too.
blackout() { # SECONDS OPTIONS
	slow run "nothing for $1 s: $2" '' "$2" "set_parameters drop_every=1; pause $1; take_counters blackout; set_parameters drop_every=0" \
		"outage_is_reported($1)" 'len(T) > 300' \
		'verdict("(doubtful|void): .*the peer did not answer for ")'
}
export STATUS_E=any
blackout 0.1 '--timeout 500'
blackout 1 '--timeout 500'
blackout 1 '--timeout 500 --window 64'
blackout 1 '--timeout 4000 --interval 1ms'
blackout 5 '--timeout 4000 --window 4096'
blackout 2 '--timeout 100 --interval 200us --window 64'
unset STATUS_E

close_simnic
exit "$failed"
