#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The eight stamps of an exchange in one record, at the emitter, on the simulated NIC: every line of --log-full, every
# stage and every count is compared with the truth (simnic/truth_eight.py says with what, and what expectations may name).
# Runs in the guest of lab.sh; needs RANT, SIMNIC and HELPERS.
#
#   ONLY=REGEX  only the tests whose name matches
#   SELF=1      the truth is made wrong on purpose: every test must fail then
#
# Text in single quotes is for truth_eight.py. Functions are called by slow(), too.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

family=eight truth=simnic/truth_eight.py
emitter_options=(--log-full)
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

H='--histogram'
# Nothing is lost here, however long the guest stops.
C='--timeout 20000 --histogram --count'
# What is lost costs this.
T='--histogram --timeout 100 --count'

# ---- Every packet ----------------------------------------------------------------------------------------------------

# The last probe is sent after the end: all others have their eight stamps, whose time on the wire they are.
ALL='N == e["Sent"] == len(T) + 1 == len(R) == stamps["Complete"] + 1 == a.rx_stamps == b.rx_stamps == a.tx_stamps'

pair 'response and network of every packet' \
	'wire_ns=20000 wire_back_ns=7000 response_ns=4000 vary_stage=2 vary_steps=30000 vary_ns=7' \
	"$H --overflow 300 -v --json $work/r.json" "$C 2000 --overflow 300 --json $work/e.json" "$ALL" 'e["Closing"] == 1' 'r["Peer sockets"] == 1' \
	'{int(l["NETWORK"]) for l in T.values()} == {27000}' 'len({l["RESPONSE"] for l in T.values()}) > 1500' \
	'stage["Response"].samples == stage["Network"].samples == 2000'
slow pair 'a wire there that varies' 'wire_back_ns=70 vary_steps=9973' "$H" "$C 3000" "$ALL" \
	'{int(l["RESPONSE"]) for l in T.values()} == {5000}' 'stage["Forward"].samples == 3000'
slow pair 'a wire back that varies' 'response_ns=0 vary_stage=3 vary_steps=9973 vary_ns=100' "$H" "$C 3000 --overflow 2000" \
	"$ALL" '{int(l["RESPONSE"]) for l in T.values()} == {0}'
slow pair 'stamps by the running clock' 'period_ns=0 vary_steps=500' "$H" "$C 3000" "$ALL"
slow pair 'after a warm-up' 'vary_steps=300' "$H" "$C 2000 --warmup 700" 'e["Warm-up"] == min(T) == 700' \
	'len(T) == stamps["Complete"] == 2000' 'len(R) == N == 2701'
slow pair 'a reflector before 1970' 'phc_offset_ns=0,-1600000000100000000 vary_steps=300' "$H" "$C 2000" "$ALL"
slow pair 'a reflector after 2106' 'phc_offset_ns=0,2694967296000000000 vary_steps=300' "$H" "$C 2000" "$ALL"

# Nothing keeps one PHC at the time of the other: 50 ppm are 500 ns in a response of 10 ms.
A='phc_offset_ns=-1599999000000000000,2000000000123456789 wire_ns=100000 response_ns=10000000 vary_steps=9973'
D='--overflow 20000'
pair 'PHCs far apart that drift from each other by 50 ppm' "$A drift_ppb=0,50000" "$H" "$C 700 $D" "$ALL" \
	'{int(l["RESPONSE"]) for l in T.values()} <= {10000499, 10000500, 10000501}'
slow pair 'PHCs far apart that drift in opposite directions' "$A drift_ppb=50000,-50000" "$H" "$C 700 $D" "$ALL" \
	'{int(l["RESPONSE"]) for l in T.values()} <= {9999499, 9999500, 9999501}'

# ---- One way -----------------------------------------------------------------------------------------------------------

# The two hosts' clocks are compared by the exchanges: by those alone it is not known better than half a network time.
pair 'each way, and a spike on the wire there' \
	'wire_ns=30000 wire_back_ns=20000 vary_steps=997 spike_every=100 spike_ns=400000 phc_offset_ns=5000000000,-7000000000' '' \
	"$C 1000 --overflow 1000" "$ALL" '5000 <= one_way_bound < 26100' \
	'stage["Forward"].ns["max"] >= 430000 - one_way_bound' 'stage["Backward"].ns["max"] <= 20000 + one_way_bound' \
	'400000 <= stage["Forward, variation"].ns["max"] <= 402000' 'stage["Backward, variation"].ns["max"] <= 2000'
slow pair 'each way, and a spike on the wire back' \
	'wire_ns=20000 wire_back_ns=30000 vary_stage=3 vary_steps=997 spike_every=100 spike_stage=3 spike_ns=400000' '' \
	"$C 1000 --overflow 1000" "$ALL" '5000 <= one_way_bound < 26100' \
	'stage["Backward"].ns["max"] >= 430000 - one_way_bound' 'stage["Forward"].ns["max"] <= 20000 + one_way_bound'
slow pair 'each way, between clocks that drift' \
	'wire_ns=30000 wire_back_ns=20000 vary_steps=997 drift_ppb=-50000,50000 phc_offset_ns=5000000000,-7000000000' '' \
	"$C 3000 --overflow 1000" "$ALL" '5000 <= one_way_bound < 30000'
slow pair 'each way, with losses and missing stamps' \
	'wire_ns=30000 wire_back_ns=20000 vary_steps=997 drop_every=97 rx_stamp_missing_every=17 tx_stamp_missing_every=83 alternate=Y' \
	'' "$T 1000 --overflow 1000" '5000 <= one_way_bound < 26100' 'stage["Forward"].samples == stamps["Complete"]'
pair 'each way by synchronised clocks is exact' 'wire_ns=30000 wire_back_ns=2000 vary_steps=997' '' "$C 1000 --synced 0" "$ALL" \
	'one_way_bound == 0' 'stage["Backward"].ns["max"] == 2000'
slow pair 'each way by clocks that are said to be synchronised within 300 ns' \
	'wire_ns=30000 wire_back_ns=2000 vary_steps=997 phc_offset_ns=0,300' '' "$C 1000 --synced 300" "$ALL" 'one_way_bound == 300' \
	'stage["Backward"].ns["max"] == 1700'

# ---- A threshold on any figure ---------------------------------------------------------------------------------------

F='spike_every=100 spike_ns=40000 from=400'
BREACH='below_the_top(text_e).startswith'
STATUS_E=2 pair 'the first slow network stops the run' "$F" '' "$C 2000 -t 41.999 --threshold-on network" 'max(T) == 500' \
	"$BREACH"'("Network time (42000 ns) exceeds threshold (41999 ns).\n  Sequence number: 499\n")' 'e["Breaches"] == 1' \
	'"  Blame: Network 42.000 us, typical 2.000 us, 100 % of the excess\n" in text_e' 'N == 502'
slow pair 'a network that equals the threshold does not' "$F" '' "$C 1000 -t 42 --threshold-on network" "$ALL" 'e["Breaches"] == 0'
STATUS_E=2 slow pair 'the first slow wire back stops the run' "$F spike_stage=3" '' "$C 2000 -t 41.999 --threshold-on network" \
	'max(T) == 500' "$BREACH"'("Network time (42000 ns) exceeds threshold (41999 ns).\n  Sequence number: 499\n")' \
	'"  Blame: Network 42.000 us, typical 2.000 us, 100 % of the excess\n" in text_e'
STATUS_E=2 slow pair 'the first slow response stops the run' "$F spike_stage=2" '' "$C 2000 -t 44.999 --threshold-on response" \
	'max(T) == 500' "$BREACH"'("Response time (45000 ns) exceeds threshold (44999 ns).\n  Sequence number: 499\n")' \
	'"  Blame: Response 45.000 us, typical 5.000 us, 100 % of the excess\n" in text_e' 'N == 502'
slow pair 'a response that equals the threshold does not' "$F spike_stage=2" '' "$C 1000 -t 45 --threshold-on response" "$ALL" \
	'e["Breaches"] == 0'
STATUS_E=2 slow pair 'the first slow round trip stops the run, and is told whole' "$F" '' "$C 2000 -t 46.999" 'max(T) == 499' \
	"$BREACH"'("Round-trip latency (47000 ns) exceeds threshold (46999 ns).\n  Sequence number: 499\n")' \
	'"1600000000.049941000\n" in text_e and "1600000000.049946000\n" in text_e' 'flagged("-") == set(T)' 'N == 501'
slow pair 'slow responses are no slow network' "$F spike_stage=2" '' "$C 2000 -t 20 -C --threshold-on network" "$ALL" \
	'a.spikes == 16' 'e["Breaches"] == 0'
slow pair 'slow networks are no slow response' "$F" '' "$C 2000 -t 20 -C --threshold-on response" "$ALL" 'a.spikes == 16' \
	'e["Breaches"] == 0'
slow pair 'all slow networks are counted' "$F" '' "$C 2000 -t 20 -C --threshold-on network" "$ALL" \
	'e["Breaches"] == a.spikes == 16' '"\nBlamed for the last 16 of 16 breaches:\n  Network: 16\n" in text_e'
slow pair 'all slow responses are counted' "$F spike_stage=2" '' "$C 2000 -t 20 -C --threshold-on response" "$ALL" \
	'e["Breaches"] == a.spikes == 16' '"\nBlamed for the last 16 of 16 breaches:\n  Response: 16\n" in text_e'
slow pair 'slow round trips are blamed on the network' "$F" '' "$C 2000 -t 20 -C" "$ALL" \
	'e["Breaches"] == a.spikes == 16' '"\nBlamed for the last 16 of 16 breaches:\n  Response: 0\n  Network: 16\n" in text_e'
slow pair 'slow round trips are blamed on the response' "$F spike_stage=2" '' "$C 2000 -t 20 -C" "$ALL" \
	'e["Breaches"] == a.spikes == 16' '"\nBlamed for the last 16 of 16 breaches:\n  Response: 16\n  Network: 0\n" in text_e'
pair 'what cannot be judged is counted' "$F spike_stage=2 directions=2 tx_stamp_missing_every=50" '' \
	"$C 1000 -t 20 -C --threshold-on response" 'a.spikes == 6' 'e["Breaches"] == 0' 'stamps["Not judged"] == stamps["Unknown"] == 12'
slow pair 'what cannot be judged by the network is judged by the round trip' \
	"$F spike_stage=2 directions=2 tx_stamp_missing_every=50" '' "$C 1000 -t 20 -C" 'e["Breaches"] == a.spikes == 6'

# ---- In real time: the stages of both hosts --------------------------------------------------------------------------

# Clocks that show the same again, but for the offsets: those of before have drifted.
close_simnic
open_simnic
L='period_ns=0 live=Y wire_ns=3000 wire_back_ns=1000 response_ns=0 phc_offset_ns=37000000000,-123456789'
LC='--timeout 20000 --histogram -s --count'
SPLIT='all(name in stage for name in ("App-to-NIC", "NIC-to-app", "Remote NIC-to-app", "Remote app processing", "Remote app-to-NIC"))'
pair 'the stages of both hosts add up to the round trip' "$L" "$H -s" "$LC 1000" "$ALL" "$SPLIT" 'e["Negative"] == 0' \
	'len({l["T2_SW"] for l in T.values()}) > 900'
slow pair 'the stages of both hosts, with faults' \
	"$L drop_every=97 dup_every=31 tx_stamp_missing_every=83 rx_stamp_missing_every=17 alternate=Y" "$H -s" "$LC 1000 --timeout 150" "$SPLIT"
slow pair 'the stages of both hosts, with clocks that drift' "$L drift_ppb=50000,-50000" "$H -s" "$LC 2000" "$ALL" "$SPLIT"
slow pair 'real time without times of user space' "$L" "$H" "$C 2000" "$ALL"

SPIKES=${SPIKES:-${QUICK:+2}}
SPIKES=${SPIKES:-10}
PARTS=('Network' 'Remote NIC-to-app' 'Remote app processing' 'Remote app-to-NIC')

# blamed "PARAMETERS" "STAGE,EVERY,US" PART: every 150th exchange is 0.4 s late, in the simulated NIC or, by spike.c, in the
# reflector; all of these and nothing else are breaches, and blamed on that part.
blamed() {
	local name="$SPIKES spikes are blamed on: $3" part want=$3
	local -a words

	wanted "$name" || return 0
	begin "$family: $name"
	reset
	read -ra words <<<"$L $1"
	set_parameters "${words[@]}"
	start r b env ${2:+LD_PRELOAD="$HELPERS/spike" SPIKE="$2"} taskset -c 1 "$RANT" --details -i sim1 --stamp hardware --no-step-check -q
	poll has_port r
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --no-step-check -s --timeout 5000 -t 300000 -C \
		--count $((SPIKES * 150 + 20)) --log "$work/e.log" --log-full
	finish e
	stop r
	[ "$self" = 0 ] || want=nothing
	expect "$(row e Breaches)" -eq "$SPIKES" 'breaches'
	expect_line e.out "^Blamed for the last $SPIKES of $SPIKES breaches:\$"
	for part in "${PARTS[@]}"; do
		[ "$part" = "$want" ] || expect_line e.out "^  $part: 0\$"
	done
	expect_line e.out "^  $want: $SPIKES\$"
	expect_line e.out "^  $want \\(.*\\): 4[0-9]{8} ns <-- where the spike is\$"
	expect_line e.out "^  Blame: $want 4[0-9]{5}[.][0-9]{3} us, typical [0-9.]+ us, [0-9]+ % of the excess(: .*)?\$"
	expect "$(awk 'NR > 2 && $6 > 300000000 && $1 % 150 != 149 { n++ } END { print n + 0 }' "$work/e.log")" -eq 0 'other slow packets'
	verdict
}
slow blamed 'spike_every=150 spike_ns=400000000 spike_stage=3' '' Network
slow blamed 'spike_every=150 spike_ns=400000000 spike_stage=4' '' 'Remote NIC-to-kernel'
# With fewer spikes these are quick.
SLOW=1 blamed '' app,150,400000 'Remote app processing'
slow blamed 'spike_every=150 spike_ns=400000000 spike_stage=2' '' 'Remote app-to-NIC'

# ---- Several emitters, several reflectors ----------------------------------------------------------------------------

# The program that ends first leaves the NIC to the other.
several_emitters() {
	wanted "$1" || return 0
	begin "$family: $1"
	reset
	set_parameters vary_steps=997
	set_nic a '0 0'
	start_pair '' '--count 300 --timeout 2000'
	start f a "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --no-step-check --log "$work/f.log" --log-full \
		--count 900 --interval 5ms --timeout 2000
	finish e
	expect_setting a '1 1' 'when the first has ended'
	finish f
	expect_setting a '0 0' 'when both have ended'
	stop r
	for name in e f; do
		expect_status "$name" 0
		expect_balance "$name"
		expect "$(row "$name" Complete)" -eq "$([ "$name" = e ] && echo 300 || echo 900)" "samples of $name with eight stamps"
	done
	expect_known 300 e.log f.log -- r.log
	verdict
}
slow several_emitters 'two emitters hear only of their own packets'

restarted() {
	wanted "$1" || return 0
	begin "$family: $1"
	reset
	set_parameters vary_steps=997
	start_pair '' '--count 50000 --timeout 100'
	poll has_sent 250
	stop r
	mv "$work/r.log" "$work/first.log"
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware --no-step-check --log "$work/r.log" --count 50000
	poll has_port r
	take_counters now
	poll has_sent $((probes[now] - probes[before] + 250))
	stop e
	stop r
	expect_status e 0
	expect_balance e
	expect "$(row e Restarts)" -eq $((1 + self)) 'restarts of the reflector'
	expect_known 300 e.log -- first.log r.log
	verdict
}
slow restarted 'a reflector that was started again'

# kernel "E_ARGUMENTS" KIND
kernel_stamps() {
	local name="a reflector with kernel stamps${1:+, $1}"
	local -a words

	wanted "$name" || return 0
	begin "$family: $name"
	reset
	read -ra words <<<"$L"
	set_parameters "${words[@]}"
	start_pair '--stamp kernel' "--count 2000 --timeout 2000 $1"
	finish e
	finish_reflector
	expect_status e 0
	expect_balance e
	expect "$(row e Complete)" -eq 2000 'samples with eight stamps'
	expect_line e.log " T2_$2 .* T3_$2 "
	expect_line e.out " T3_$2 - T2_$2 "
	expect_known 2000 e.log -- r.log
	verdict
}
slow kernel_stamps -s KERNEL

interrupted() {
	wanted "$1" || return 0
	begin "$family: $1"
	reset
	set_parameters vary_steps=997
	start_pair '' '--timeout 2000 --histogram'
	poll has_sent
	pause 0.3
	stop e
	finish_reflector
	expect_status e 0
	compare 'e["Closing"] == 1' 'len(T) == stamps["Complete"] > 10' 'len(R) == N' 'e["Unfinished"] <= 1'
}
interrupted 'a run that is interrupted ends with whole records'

# ---- What arrives there ------------------------------------------------------------------------------------------------

# changed_on_the_way NAME "TC WORDS" "E_ARGUMENTS" REGEX...
changed_on_the_way() {
	local name=$1 regex
	local -a words

	wanted "$name" || return 0
	begin "$family: $name"
	reset
	read -ra words <<<"$2"
	if [ ${#words[@]} -gt 0 ] && ! { modprobe -a sch_ingress cls_matchall act_pedit act_csum &&
		at a tc qdisc add dev sim0 clsact &&
		at a tc filter add dev sim0 egress matchall action pedit ex "${words[@]}" pipe action csum ip; } 2>"$work/tc.err"; then
		echo "ok - $family: $name # SKIP tc cannot change packets here: $(head -1 "$work/tc.err")"
		return
	fi
	start_pair '' "--count 200 --timeout 2000 $3"
	finish e
	finish_reflector
	shift 3
	at a tc qdisc del dev sim0 clsact 2>"$work/tc.out"
	expect_status e 0
	expect "$(row e Complete)" -eq 200 'samples with eight stamps'
	expect "$(grep -c 'probes arrived with another' "$work/e.out")" -eq $(($# + self)) 'what arrived otherwise'
	for regex in "$@"; do
		expect_line e.out "$regex"
	done
	verdict
}
# Of the DSCP of the first probe the reflector cannot know: who asks for it first makes the kernel tell.
changed_on_the_way 'a router changes TTL and DSCP' 'munge ip ttl set 9 munge ip dsfield set 40 retain 252' '--dscp 46' \
	'^  201 probes arrived with another TTL than 255, the last with 9$' \
	'^  200 probes arrived with another DSCP than 46, the last with 10$'
slow changed_on_the_way 'what arrives as it was sent is not told' '' '--dscp 46 --ttl 7'

close_simnic
exit "$failed"
