#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# The clocks on real /dev/ptpN: those of igb, and those of the simulated NIC, whose drift and steps are set here and have to
# come out within the bounds that are printed; other drifts and sizes are in tests/unit/test_clock_track.c. Runs in the guest of lab.sh; needs build/test_clock, made outside:
# make build/test_clock && tests/lab/lab.sh clock_room
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lab/guest.sh
. "$here/guest.sh"
program=$BUILD/test_clock
parameters=/sys/module/simnic/parameters

if [ ! -x "$program" ]; then
	echo "ok - clock_room # SKIP build/test_clock was not made"
	exit 0
fi

# look NAME PHC READINGS: in NAME.out, the readings 50 ms apart.
look() {
	PHC=$2 READINGS=$3 "$program" 'phcs_of_this_machine' >"$work/$1.out" 2>&1 || complain "$1: it failed"
	grep '^ptp' "$work/$1.out" | sed 's/^/# /'
}

# expect_within FILE "WORDS BEFORE" TRUTH: the file has "WORDS BEFORE value +- bound", and the truth lies in it.
expect_within() {
	awk -v words="$2" -v truth="$3" '
		(at = index($0, words " ")) {
			split(substr($0, at + length(words) + 1), f, " ")
			found = 1
			if (f[1] - f[3] > truth || f[1] + f[3] < truth) exit 1
		}
		END { exit !found }' "$work/$1" || complain "$1: $2 is not $3, or not told"
}

for device in /dev/ptp*; do
	begin "clock_room: $device, $(cat "/sys/class/ptp/${device##*/}/clock_name")"
	look igb "${device#/dev/ptp}" 40
	expect_line igb.out '^ptp. offset'
	verdict
done

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - clock_room: simulated NIC # SKIP its module was not built"
	exit "$failed"
fi
insmod "$SIMNIC"
first=$(grep -l '^sim0' /sys/class/ptp/*/clock_name | sed 's|.*/ptp\([0-9]*\)/.*|\1|')

for drift in 0 50000 -500000; do
	begin "clock_room: simulated NIC, drift $drift ppb"
	echo "$drift,0" >"$parameters/drift_ppb"
	look drift "$first" 50
	expect_within drift.out drift "$drift"
	verdict
done
echo 0,0 >"$parameters/drift_ppb"

begin "clock_room: simulated NIC, its dial is turned by 20000 ppb"
(
	sleep 1
	phc_ctl "/dev/ptp$first" freq 20000 >/dev/null 2>&1
) &
look dial "$first" 50
wait $!
expect_line dial.out 'frequency setting known.* (19999|20000) ppb, changed 1 times, stood still 0 times, outside [01]'
expect "$(grep -c ' step of ' "$work/dial.out")" -eq 0 'steps found'
phc_ctl "/dev/ptp$first" freq 0 >/dev/null 2>&1
verdict

for size in -1000000 2199023255552; do
	begin "clock_room: simulated NIC, a step of $size ns"
	(
		sleep 2
		echo "0 $size" >"$parameters/step"
	) &
	look step "$first" 50
	wait $!
	expect_within step.out 'step of PHC:' "$size"
	expect "$(grep -c ' step of ' "$work/step.out")" -eq 1 'steps found'
	expect_within step.out drift 0
	verdict
done
exit "$failed"
