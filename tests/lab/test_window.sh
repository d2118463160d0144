#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64 old
#
# Many probes in flight, compared with the truth as in test_eight.sh: nothing of one packet gets into the record of another,
# whatever is lost, doubled, late, missing or overtaken, and every count is exact.
#
#   ONLY, SELF  see there
#
# Text in single quotes is for truth_eight.py.
# shellcheck disable=SC2016
set -uo pipefail

family=window truth=simnic/truth_eight.py
emitter_options=(--log-full)
on_old='all faults at once' # the ids of stamps, which the kernel counts
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

W='--histogram --timeout 8000 --window 64 --count'
# What is lost costs this.
T='--histogram --timeout 300 --window 64 --count'
WHOLE='len(T) == e["Recorded"] == e["Sent"] - e["Closing"]'

pair '64 in flight' 'vary_steps=997' '' "$W 3000" "$WHOLE" 'len(T) == 3000'
pair 'lost on both ways' 'drop_every=100 alternate=Y from=500' '' "$T 3000" 'e["Lost"] - e["Late"] == a.dropped + b.dropped == 25' \
	'way["Lost forward"] == a.dropped' 'way["Lost backward"] == b.dropped' 'not (struck("drop_every", 1) | struck("drop_every", 2)) & set(T)'
pair 'twice on both ways' 'dup_every=7 alternate=Y' '' "$W 1501" "$WHOLE" 'len(T) == 1501' 'e["Duplicate"] == a.duplicated + b.duplicated'
pair 'out of order on both ways' 'reorder_every=13 alternate=Y' '' "$W 2000" "$WHOLE" 'len(T) == 2000' 'r["Reordered"] == b.reordered > 50' \
	'e["Reordered"] > 50' 'e["Lost"] == e["Late"] == 0'
pair 'T1 missing' 'directions=1 tx_stamp_missing_every=179' '' "$T 2000" 'e["Unstamped"] == a.tx_stamp_missing == 11 == 2000 - len(T) - e["Lost"]'
pair 'T4 missing' 'directions=2 rx_stamp_missing_every=7' '' "$W 2000" 'e["Unstamped"] == a.rx_stamp_missing == 285 == 2000 - len(T)'
pair 'T2 missing' 'directions=1 rx_stamp_missing_every=7' '' "$W 2000" "$WHOLE" 'stamps["Mixed"] == b.rx_stamp_missing == 285'
pair 'T1 late, and twice' 'directions=1 tx_stamp_late_every=19 late_us=20000 tx_stamp_twice_every=3' '' "$W 1500" "$WHOLE" \
	'len(T) == 1500' 'e["Duplicated stamps"] == a.tx_stamp_twice'
pair 'all faults at once' 'drop_every=61 dup_every=29 tx_stamp_missing_every=43 tx_stamp_twice_every=2 rx_stamp_missing_every=17
	reorder_every=71 alternate=Y' '' "$T 1500" 'e["Lost"] - e["Late"] == len(struck("drop_every", 1) | struck("drop_every", 2))'
pair 'by the clock' 'vary_steps=997' '' '--histogram --timeout 8000 --interval 5ms --count 300' "$WHOLE" 'len(T) == 300'

# Sixteen sessions, and sixteen counts of ids by the kernel.
pair 'sixteen source ports' 'vary_steps=997' '' "$W 3000 --source-ports 16" "$WHOLE" 'len(T) == 3000'
pair 'sixteen source ports, all faults at once' 'drop_every=61 dup_every=29 tx_stamp_missing_every=43 tx_stamp_twice_every=2
	rx_stamp_missing_every=17 reorder_every=71 alternate=Y' '' "$T 1500 --source-ports 16" \
	'e["Lost"] - e["Late"] == len(struck("drop_every", 1) | struck("drop_every", 2))'
pair 'one of ten is stamped' 'stamp_slots=1,0,0 tx_stamp_delay_us=1000' '' "$W 2000 --stamp-every 10" 'e["Not asked"] == 1800' \
	'len(T) == 200 - e["Unstamped"]' 'e["Unstamped"] == a.tx_hwtstamp_skipped <= 3'

# Whoever sends more than the NIC has places for its stamps gets none for some; how many places there are is found.
slots() { # N
	pair "a NIC with $1 places for stamps" "stamp_slots=$1,0,0 tx_stamp_delay_us=1000" '' \
		'--histogram --timeout 4000 --window 64 --count 2000' '1 <= e["Unstamped"] == a.tx_hwtstamp_skipped <= 3' 'len(T) == 2000 - e["Unstamped"]' \
		"stamp_slots == $1"
}
slots 1
slots 4
close_simnic
exit "$failed"
