#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# --stages full on the simulated NIC: every packet has the transmit times of both kernels, in their order, with one and with many in
# flight; and packets that a queueing discipline holds are late between it and the driver, at either host.
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - stages # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"
modprobe sch_netem

held_ms=30

# Of a log with T1_SW in column 2, T3_SW 9, T1_SCHED 17, T1_TXSW 18, T3_SCHED 19, T3_TXSW 20: records, those with all times of the
# kernels, and those with times out of order. As text: the numbers have more digits than a double.
ordered() {
	awk -F, '!/^#/ && NR > 1 {
			n++
			full += $17 != "" && $18 != "" && $19 != "" && $20 != ""
			wrong += $17 != "" && ($2 "" > $17 "" || $17 "" > $18 "")
			wrong += $19 != "" && ($9 "" > $19 "" || $19 "" > $20 "")
		}
		END { print n + 0, full + 0, wrong + 0 }' "$work/e.log"
}

in_order() {
	! grep -H 'out of order' "$work/e.out" "$work/r.out" || complain 'times are out of order'
}

# every_time ARGUMENTS
every_time() {
	local -a n

	begin "stages: the transmit times of both kernels${1:+, $1}"
	start_both '-s' "-s --stages full $1 --log $work/e.log --log-full --log-format csv --count 2000"
	finish e
	stop r
	expect_status e 0
	read -ra n < <(ordered)
	expect "${n[0]}" -eq 2000 'records'
	# The reflector asks its kernel when the first probe has asked for them; the last reply has no later one.
	expect "${n[1]}" -ge 1930 'records with all transmit times of the kernels'
	expect "${n[2]}" -eq 0 'times out of order'
	in_order
	verdict
}

# Kept breaches whose reply waited in the queueing discipline for more than half of the round trip, and how many are blamed on another
# stage. The guest may be late by itself in the others.
blamed() {
	python3 -c '
import json, sys
held = [b for b in json.load(open(sys.argv[1]))["breaches"]["last"] if "t3_sched_ns" in b["stamps"] and
        2 * (b["stamps"]["t3_txsw_ns"] - b["stamps"]["t3_sched_ns"]) > b["latency_ns"]]
print(len(held), sum(b["blame"]["part"] != "remote_qdisc_to_driver_ns" for b in held))' "$work/e.json"
}

# held HOST COLUMN: netem holds some packets of this host, and the time between these columns has the delay.
held() {
	local side=$1 from=$2 count

	begin "stages: packets that a queueing discipline holds, of the $([ "$side" = a ] && echo emitter || echo reflector)"
	at "$side" tc qdisc replace dev "$([ "$side" = a ] && echo sim0 || echo sim1)" root netem limit 10000 delay "${held_ms}ms" reorder 95% ||
		complain 'tc failed'
	start_both '-s' "-s --stages full -C -t 20000 --log $work/e.log --log-full --log-format csv --json $work/e.json --count 1500"
	finish e
	stop r
	at "$side" tc qdisc del dev "$([ "$side" = a ] && echo sim0 || echo sim1)" root
	expect_status e 0
	in_order
	read -r count wrong < <(awk -F, -v from="$from" -v least="$((held_ms * 500000))" '!/^#/ && NR > 1 && $from != "" {
			held = $(from + 1) - $from
			n += held >= least
			wrong += held >= least && $from - $(from == 17 ? 2 : 9) > held
		}
		END { print n + 0, wrong + 0 }' "$work/e.log")
	expect "$count" -ge 40 'packets that waited between queueing discipline and driver'
	expect "$wrong" -eq 0 'of them, longer before the queueing discipline'
	if [ "$side" = b ]; then
		read -r count wrong < <(blamed)
		expect "$count" -ge 30 'kept breaches that were held for most of their time'
		expect "$wrong" -eq 0 'of them, blamed on something else'
	fi
	verdict
}

every_time ''
every_time '--window 16'
held a 17
held b 19
