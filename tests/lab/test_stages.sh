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
	verdict
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
	read -r count late < <(awk -F, -v from="$from" -v least="$((held_ms * 500000))" '!/^#/ && NR > 1 && $from != "" {
			n += $(from + 1) - $from >= least
			other += $from - $(from == 17 ? 2 : 9) >= least
		}
		END { print n + 0, other + 0 }' "$work/e.log")
	expect "$count" -ge 50 'packets that waited between queueing discipline and driver'
	expect "$late" -eq 0 'of them, before the queueing discipline'
	if [ "$side" = b ]; then
		expect_line e.out '^  Blame: Remote qdisc-to-driver [0-9.]+ us, typical [0-9.]+ us, [0-9]+ % of the excess$'
		# Of the kept breaches each.
		expect "$(grep -c '"part": "remote_qdisc_to_driver' "$work/e.json")" -ge 50 'breaches that are blamed on it'
	fi
	verdict
}

every_time ''
every_time '--window 16'
held a 17
held b 19
