#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# While the reflector's clock is set again and again, or stands, the times of its program have no place on its NIC's
# scale. The logs of both hosts leave them out, and no blame is made up for what is not known. On the simulated NIC,
# whose clocks are seconds away from the system's.
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - unknown # SKIP the module of the simulated NIC was not built"
	exit 0
fi
parameters=/sys/module/simnic/parameters
insmod "$SIMNIC" period_ns=0 live=Y wire_ns=1000 wire_back_ns=1000 response_ns=0 phc_offset_ns=37000000000,-5000000000 \
	spike_stage=4 spike_ns=200000000
apart sim0 sim1

# Both with a log and a threshold. The count is never reached: it makes the logs small.
start_both() {
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware --no-step-check -s -t 150000 -C \
		--log "$work/r.log" --count 500000
	poll has_port r
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --no-step-check -s -t 150000 -C \
		--log "$work/e.log" --log-full --count 500000 --timeout 2000
	# So that there is something usual.
	pause 2
}

# judged NAME LEVELS REASON: the verdict is one of these, with this reason, and the exit status is that of the level.
judged() {
	expect_line "$1.out" "^Measurement: ($2): (.*; )?$3"
	expect_status "$1" "$(grep -q '^Measurement: void' "$work/$1.out" && echo 3 || echo 0)"
}

# Empty columns of both logs, and no other clock's times in them: those of a program are near the stamps of its NIC. Of the
# emitter's records with empty columns so many say that only times of a program have no place; of the others all of the reflector is left out.
expect_empty_columns() { # LEAST
	local far='function far(a, b) { split(a, p, "."); split(b, q, "."); return p[1] - q[1] > 2 || q[1] - p[1] > 2 }'
	local -a count

	read -ra count < <(awk "$far"'
		NR > 2 { here = ($2 == "-" || $5 == "-"); there = ($8 == "-" || $9 == "-"); said = $NF ~ /(^|,)unplaced$/
			empty += there && (said || $NF ~ /stepped/); unplaced += there && said
			if (said != (here || there) && $NF !~ /stepped/) bad++
			for (i = 8; i <= 9; i++) if ($i != "-" && $7 != "-" && far($i, $7)) wrong++
			if ($15 != "-" && $4 != "-" && far($15, $4)) wrong++ # T4_KERNEL
			if ($16 != "-" && $7 != "-" && far($16, $7)) wrong++ } # T2_KERNEL
		END { print empty + 0, bad + 0, wrong + 0, unplaced + 0 }' "$work/e.log")
	expect "${count[0]}" -ge 20 'records of the emitter whose times of the other program have no place'
	expect "${count[3]}" -ge "$1" 'of these, records that say so'
	expect "${count[1]}" -eq 0 'records of the emitter with an empty column and no flag, or the other way round'
	expect "${count[2]}" -eq 0 'times of the other program in the log of the emitter that are of another clock'
	read -ra count < <(awk "$far"'
		NR > 2 { empty += $3 == "-" || $4 == "-"; for (i = 3; i <= 4; i++) if ($i != "-" && far($i, $2)) wrong++ }
		END { print empty + 0, wrong + 0 }' "$work/r.log")
	expect "${count[0]}" -ge 20 'records of the reflector whose times have no place'
	expect "${count[1]}" -eq 0 'times of the program in the log of the reflector that are of another clock'
}

# shellcheck disable=SC2317 # in the background
step_again_and_again() {
	while [ ! -e "$work/enough" ]; do
		echo '1 1000000' >"$parameters/step"
		pause 0.03
	done
}

unknown_is_no_blame() {
	local breaches unknown reason='no comparison of the clocks within [0-9]+ s, or one was set or stood still'

	begin 'unknown: spikes while the clock of the reflector is set again and again'
	start_both
	step_again_and_again &
	# The reading before the first step has grown old.
	pause 1
	echo 150 >"$parameters/spike_every"
	pause 4
	echo 0 >"$parameters/spike_every"
	pause 0.5
	: >"$work/enough"
	wait $!
	stop e
	stop r
	# So many steps forward may look like a wrong rate, which is void.
	judged r 'doubtful|void' "a clock was set \\(the NIC's clock [0-9]+ times?"
	judged e 'doubtful|void' "the reflector's clock (was set|runs at a wrong rate) \\([0-9]+ times?"
	judged e 'doubtful|void' "the reflector doubts its clock \\([0-9]+ replies, the first to packet [0-9]+\\)"
	expect "$(row e 'Remote step')" -gt 0 'samples that a step has spoilt'
	breaches=$(row r Breaches)
	expect "$breaches" -ge 2 'breaches'
	expect "$breaches" -le 63 'breaches'
	# Between two steps that a busy guest holds up the clocks may be known.
	unknown=$(sed -n 's/^  Not known: //p' "$work/r.out")
	expect "$((2 * ${unknown:-0}))" -ge "$breaches" 'twice the breaches of which it is not known'
	expect_line r.out "^  Blame: not known: NIC-to-app, .* are not known \\($reason\\)\$"
	expect_line r.out "^Blamed for the last $breaches of $breaches breaches:\$"
	expect "$(grep -c 'no longer than usual\|None of these' "$work/r.out")" -eq 0 'breaches that nothing is blamed for'
	# Steps within an exchange make T2 and T3 contradict the others: then all of the reflector is one part, with the wire.
	expect_line e.out '^  (Response and network|.*Remote NIC-to-app, Remote app processing and Remote app-to-NIC): not known: (the |T2 and T3 contradict the relation of )'
	expect_line e.out '^  Blame: (Response|Wire and reflector) [2-9][0-9]{5}\.[0-9]{3} us, typical '
	expect_empty_columns 20
	verdict
}
unknown_is_no_blame

a_standing_clock() {
	begin 'unknown: the clock of the reflector stands for two seconds'
	start_both
	echo 0,-1000000000 >"$parameters/drift_ppb"
	pause 2
	echo 0,0 >"$parameters/drift_ppb"
	pause 0.5
	stop e
	stop r
	judged r void "the NIC's clock stood still \\([0-9]+ times?, [0-9.]+ s in all\\)"
	judged e void "the reflector's clock stood still \\([0-9]+ times?, [0-9.]+ s or more in all\\)"
	judged e void "the reflector doubts its clock \\([0-9]+ replies, the first to packet [0-9]+\\)"
	# From when it goes again until two readings have agreed: a tenth of a second, in which a busy guest may send little.
	expect_empty_columns 1
	verdict
}
a_standing_clock

together
rmmod simnic
exit "$failed"
