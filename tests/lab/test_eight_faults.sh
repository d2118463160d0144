#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What test_eight.sh does, with faults: what is lost, doubled, late and missing on each way and at each end is counted by its
# kind and direction, and moves no stamp to another packet.
#
#   ONLY, SELF  see there
#
# Text in single quotes is for truth_eight.py. Functions are called by slow(), too.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

family='eight, faults' truth=simnic/truth_eight.py
emitter_options=(--log-full)
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

C='--timeout 20000 --histogram --count'
# What is lost costs this.
T='--histogram --timeout 100 --count'

# ---- Loss, duplication, order ----------------------------------------------------------------------------------------

slow pair 'lost on both ways' 'drop_every=100 alternate=Y wire_back_ns=70 vary_steps=997' '' "$T 1020" \
	'way["Lost forward"] == a.dropped == 5' 'way["Lost backward"] == b.dropped == 5' 'way["Direction unknown"] == 0' \
	'e["Lost"] - e["Late"] == 10' 'len(flagged("lost")) >= 5' 'not (struck("drop_every", 1) | struck("drop_every", 2)) & set(T)'
slow pair '1 % of the probes lost' 'directions=1 drop_every=100' '' "$T 1000" 'way["Lost forward"] == a.dropped == 10' \
	'way["Lost backward"] == way["Direction unknown"] == 0 == b.dropped' 'set(range(N)) - set(R) == struck("drop_every", 1)'
slow pair '1 % of the replies lost' 'directions=2 drop_every=100' '' "$T 1000" 'way["Lost backward"] == b.dropped == 10' \
	'way["Lost forward"] == way["Direction unknown"] == 0 == a.dropped' 'len(R) == N' \
	'flagged("lost") >= {n - 1 for n in struck("drop_every", 2)}'
slow pair '1 % lost both ways, after one another' 'drop_every=99 alternate=Y from=500' '' "$T 1500" \
	'way["Lost forward"] == a.dropped == 5' 'way["Lost backward"] == b.dropped == 5' 'way["Direction unknown"] == 0'
slow pair 'the last probe lost' 'directions=1 drop_every=2001' '' "$T 2000" 'flagged("end") == {1999}' \
	'stamps["At the end"] == 1 == way["Direction unknown"]' 'len(T) == 2000' 'e["Closing"] == 1 == a.dropped'
pair 'the reply to the last probe lost' 'directions=2 drop_every=1001' '' '--histogram --timeout 4000 --count 1000' 'flagged("end") == {999}' \
	'stamps["At the end"] == 1 == way["Direction unknown"]' 'len(T) == 1000' 'e["Closing"] == 1 == b.dropped'
slow pair 'the last probes lost' 'directions=1 drop_every=1 from=490' '' "$T 500" 'len(T) == 490' 'flagged("end") == {489}' \
	'way["Direction unknown"] == a.dropped == 11'
slow pair 'twice on both ways' 'dup_every=7 alternate=Y' '' "$C 1501" 'way["Duplicated forward"] == a.duplicated == r["Duplicate"] == 107' \
	'way["Duplicated backward"] == b.duplicated == 107' 'stamps["Complete"] == len(T) == 1501' 'e["Duplicate"] == 214'
slow pair 'each probe twice' 'directions=1 dup_every=1' '' "$C 1500" 'stamps["Complete"] == len(T) == 1500' \
	'way["Duplicated forward"] >= 1500' 'len(R) == N'
slow pair 'each reply twice' 'directions=2 dup_every=1' '' "$C 1500" 'stamps["Complete"] == len(T) == 1500' \
	'way["Duplicated backward"] >= 1500'
slow pair 'each packet twice' 'dup_every=1' '' "$C 1500" 'stamps["Complete"] == len(T) == 1500'
pair 'out of order on both ways' 'reorder_every=100 alternate=Y vary_steps=997' '' "$T 820" \
	'way["Reordered forward"] == b.reordered == 4' 'way["Reordered backward"] == a.reordered == 4' \
	'way["Lost forward"] == way["Lost backward"] == way["Direction unknown"] == 0' 'stamps["Too late"] >= 4 <= e["Late"]'
slow pair 'probes out of order' 'directions=1 reorder_every=79' '' "$T 800" 'way["Reordered forward"] == b.reordered == 10' \
	'way["Reordered backward"] == 0 == way["Lost forward"] == way["Lost backward"]' 'stamps["Too late"] <= e["Late"] - 10'
slow pair 'replies out of order' 'directions=2 reorder_every=79' '' "$T 800" 'way["Reordered backward"] == a.reordered == 10' \
	'way["Reordered forward"] == 0 == way["Lost forward"] == way["Lost backward"]' 'stamps["Too late"] >= 10'
# Every 50th probe is lost; of every 100th, which comes twice, one reply; between these every 100th reply.
slow pair 'probes lost, and the first reply to each that comes twice' 'drop_every=25 drop_reply=1 dup_every=50 alternate=Y' '' \
	"$T 620" 'way["Lost forward"] == a.dropped == 12' 'b.dropped == 12' 'way["Duplicated forward"] == a.duplicated == 6' \
	'way["Lost backward"] == 0' 'way["Direction unknown"] == 6'
slow pair 'probes lost, and the second reply to each that comes twice' 'drop_every=25 drop_reply=2 dup_every=50 alternate=Y' '' \
	"$T 620" 'way["Lost forward"] == a.dropped == 12' 'way["Duplicated forward"] == a.duplicated == 6 == b.dropped' \
	'way["Lost backward"] == way["Direction unknown"] == 0'

# ---- Missing, late and double stamps ---------------------------------------------------------------------------------

slow pair 'stamps missing at both ends, on both ways' 'tx_stamp_missing_every=71 rx_stamp_missing_every=23 alternate=Y' '' "$T 1500" \
	'len(flagged("unknown")) > 5' 'len(flagged("mixed")) > 25' 'e["Transmit"] == a.tx_stamp_missing' \
	'e["Receive"] > 25' 'way["Lost forward"] == way["Lost backward"] == way["Direction unknown"] == 0'
slow pair 'T3 missing' 'directions=2 tx_stamp_missing_every=39' '' "$C 2000" \
	'flagged("unknown") == struck("tx_stamp_missing_every", 2)' 'stamps["Unknown"] == b.tx_stamp_missing == 51 == 2000 - stamps["Complete"]'
slow pair 'T1 missing' 'directions=1 tx_stamp_missing_every=179' '' "$T 2000" \
	'stamps["Complete"] == len(T) == 2000 - 11 - e["Lost"]' 'e["Unstamped"] == a.tx_stamp_missing == 11'
slow pair 'T2 missing' 'directions=1 rx_stamp_missing_every=7' '' "$C 2000" \
	'flagged("mixed") == struck("rx_stamp_missing_every", 1)' 'stamps["Mixed"] == b.rx_stamp_missing == 285'
slow pair 'T2 missing of the last packet too' 'directions=1 rx_stamp_missing_every=3' '' "$C 2000" \
	'flagged("mixed") == struck("rx_stamp_missing_every", 1) - {2000}' 'b.rx_stamp_missing == 667'
slow pair 'T4 missing' 'directions=2 rx_stamp_missing_every=7' '' "$C 2000" 'stamps["Complete"] == len(T) == 2000 - 285' \
	'e["Unstamped"] == a.rx_stamp_missing == 285'
slow pair 'T2 and T3 of the same packets missing' 'rx_stamp_missing_every=18 tx_stamp_missing_every=9 alternate=Y' '' "$T 400" \
	'len(struck("rx_stamp_missing_every", 1) & struck("tx_stamp_missing_every", 2) & flagged("unknown")) == 11'
pair 'T3 twice, and late for the next reply' 'directions=2 tx_stamp_late_every=19 late_us=20000 tx_stamp_twice_every=3' \
	'--timeout 2000' "$C 400" 'len(flagged("unknown")) > 10' 'flagged("unknown") <= struck("tx_stamp_late_every", 2)' \
	'e["Late stamps"] == 0' 'r["Duplicated stamps"] > 100' 'len(R) + r["Unstamped"] == N'
slow pair 'every T3 late for the next reply' 'directions=2 tx_stamp_late_every=1 late_us=40000' '--timeout 2000' "$C 400 --interval 1ms" \
	'len(T) == 400' 'len(flagged("unknown")) > 300'
slow pair 'T1 late' 'directions=1 tx_stamp_late_every=39 late_us=8000' '--timeout 2000' "$C 2000" 'len(T) == stamps["Complete"] == 2000'
slow pair 'every stamp comes 100 us after its packet' 'tx_stamp_delay_us=100 vary_steps=1000' '--timeout 2000' "$C 2000" \
	'len(T) == 2000 == stamps["Complete"] + stamps["Unknown"]' 'len(R) == N'
slow pair 'every stamp comes 100 us after its packet, and packets come twice' 'tx_stamp_delay_us=100 dup_every=3' \
	'--timeout 2000' "$C 1500" 'len(T) == 1500'
slow pair 'one stamp in flight, probes that come twice' 'stamp_slots=1,1,1 tx_stamp_delay_us=1000 directions=1 dup_every=5' \
	'--timeout 2000' "$C 1000" 'b.tx_hwtstamp_skipped > 100' 'len(T) == 1000' 'stamps["Complete"] > 0' \
	'way["Duplicated forward"] == a.duplicated == 200'
pair 'all faults at once' 'drop_every=97 dup_every=31 tx_stamp_missing_every=83 tx_stamp_twice_every=13 rx_stamp_missing_every=17
	alternate=Y spike_every=101 spike_ns=77777 vary_steps=5000 phc_offset_ns=-1599999000000000000,0' '-v' "$T 1500" \
	'r["Peer sockets"] == 1' 'way["Lost forward"] == a.dropped == 8' 'way["Direction unknown"] == b.dropped == 7' 'way["Lost backward"] == 0' \
	'all(stamps[row] for row in ("Reply lost", "Unknown", "Mixed"))'
slow pair 'all faults at once, on each way' 'drop_every=1009 dup_every=31 tx_stamp_missing_every=577 tx_stamp_twice_every=13
	rx_stamp_missing_every=17 spike_every=101 spike_ns=77777 vary_steps=5000 from=100' '' "$T 4000" \
	'way["Lost forward"] == a.dropped == 3' 'way["Duplicated backward"] > 100 < way["Duplicated forward"]'
slow pair 'negative round trips' 'spike_every=40 spike_ns=-8000 spike_stage=2' '' "$C 2000" \
	'e["Negative"] == 50' 'len(T) == 1950' 'stamps["Complete"] == sum(stamps.values()) == len(T) + e["Negative"]'

close_simnic
exit "$failed"
