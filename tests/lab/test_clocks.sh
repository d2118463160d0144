#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# What a NIC's clock may do while it stamps: it is set, stands, runs at a wrong rate, cannot be read. The report has to say
# which, how long and how much, the verdict has to fit, and no time of user space may be further from the stamp beside it
# than is printed.
#
#   ONLY=REGEX  only the tests whose name matches
#
# What changes a clock is text that is run later, and knows how many packets were sent before this run.
# shellcheck disable=SC2016,SC2034,SC2317
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - clocks # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

set_verdict='a clock was set \(.*\)'

# clocks NAME CHANGE PACKETS LEVEL STATUS REASONS: a run with stages and log; after some packets CHANGE is done, and the run
# goes on for so many more and half a second. STATUS "either": as its verdict is.
clocks() {
	local name=$1 change=$2 packets=$3 level=$4 want=$5 reasons=$6

	[[ $name =~ ${ONLY:-.} ]] || return 1
	begin "clocks: $name"
	set_parameters step_at=-1 step_times=1 read_error_every=0
	[[ $change != at_first:* ]] || eval "${change#*:}"
	sent=$(sent_by a)
	start_both "-s -H --log $work/r.log" "-s -H --log $work/e.log --count 1000000"
	wait_for_packets 300
	[[ $change == at_first:* ]] || eval "$change"
	wait_for_packets "$packets"
	pause 0.5
	stop e
	stop r
	set_parameters drift_ppb=0,0 read_error_every=0
	# What happens before it is found contradicts the stamps, or what the exchanges tell; and a stamp may seem another's.
	sed -i -E '/^Measurement: /{:again; s/(: |; )(times were out of order|stamps are missing|stamps did not match|the reflector.s [a-z ]*) \([^;]*\)(; |$)/\1/; t again; s/; $//}' "$work/e.out"
	[ "$want" != either ] || want=$(grep -q '^Measurement: void' "$work/e.out" && echo 3 || echo 0)
	verdict_is e "$level" "$want" "$reasons"
	expect_placed
}

# T1_SW <= T1_HW and T4_HW <= T4_SW by no more than the bound that is printed, in every line that has them.
expect_placed() {
	local bound

	bound=$(sed -n 's/^  Stages .* within +-\([0-9]*\) ns$/\1/p' "$work/e.out")
	awk -v bound="${bound:-0}" '
		function ns(t, p) { split(t, p, "."); if (!base) base = p[1]; return (p[1] - base) * 1000000000 + p[2] }
		NR > 2 && $2 != "-" && $3 != "-" && ns($2) > ns($3) + bound { print "T1_SW > T1_HW: " $0 }
		NR > 2 && $4 != "-" && $5 != "-" && ns($4) > ns($5) + bound { print "T4_HW > T4_SW: " $0 }' "$work/e.log" >"$work/wrong"
	expect "$(wc -l <"$work/wrong")" -eq 0 "records further off than ${bound:-nothing} ns, the first $(head -n 1 "$work/wrong")"
	expect "$(grep -c 'within +-0 ns' "$work/e.out")" -eq 0 'bounds of nothing'
}

# expect_step SIZE: exactly one step is reported, with this size.
expect_step() {
	awk -v truth="$1" '/^  Step of the NIC clock by/ {
			size = $7 + 0; bound = $9; gsub(/[^0-9]/, "", bound)
			if (size - bound <= truth && size + bound >= truth) found = 1
		}
		END { exit !found }' "$work/e.out" || complain "a step of $1 ns is not told"
}

steps() {
	grep -c '^  Step of the NIC clock' "$work/e.out"
}

step_now() {
	echo "0 $1" >"$parameters/step"
}

for size in 15000 -1000000000; do
	clocks "a step of $size ns" "step_now $size" 100 doubtful 0 "$set_verdict" && {
		expect_step "$size"
		expect "$(steps)" -eq 1 steps
		verdict
	}
done
clocks 'a burst of steps of 1 ms' 'set_parameters step_ns=1000000 step_times=20 step_at=$(($(sent_by a) - sent + 3000))' 6000 \
	doubtful 0 "$set_verdict" && verdict
clocks 'a step before T1' 'set_parameters step_where=2 step_ns=15000 step_at=$(($(sent_by a) - sent + 1000))' 2000 \
	doubtful 0 "$set_verdict" && verdict
set_parameters step_where=0
clocks "a step of the system's clock" "date -s '+3 seconds' >/dev/null" 100 doubtful 0 'a clock was set \(CLOCK_REALTIME 1 time.*\)' &&
	verdict
# What the emitter makes of that is not looked at here.
clocks "a step of the reflector's clock" "echo '1 1000000' >$parameters/step" 100 '(trusted|doubtful)(: .*)?' 0 '' && {
	verdict_is r doubtful 0 "a clock was set \(the NIC's clock 1 time.*\)"
	verdict
}

# expect_stood LEAST MOST: in milliseconds.
expect_stood() {
	local least most

	read -r least most < <(sed -n 's/^  Warning: the NIC clock stood still for \(at least \)*\([0-9.]*\)\( to \([0-9.]*\)\)* s.*/\2 \4/p' \
		"$work/e.out")
	least=${least//./} most=${most//./}
	[ -n "${least:-}" ] || complain 'how long it stood is not told'
	expect "$((10#${least:-0}))" -ge "$1" 'milliseconds that it stood'
	expect "$((10#${most:-${least:-0}}))" -le "$2" 'milliseconds that it stood'
}

stand() { # SECONDS
	set_parameters drift_ppb=-1000000000,0
	pause "$1"
	set_parameters drift_ppb=0,0
}

stood_verdict="the NIC's clock stood still \(1 time, [0-9]+[.][0-9]+ s in all\)"
clocks 'it stands for 1 s' 'stand 1' 100 void 3 "$stood_verdict" && {
	expect_stood 1000 1250
	expect "$(steps)" -eq 0 steps
	verdict
}
clocks 'it stands for 0.1 s' 'stand 0.1' 100 '(void|doubtful)' either "($set_verdict|$stood_verdict)" && verdict
clocks 'it stands until the end' 'set_parameters drift_ppb=-1000000000,0; pause 1' 100 void 3 "$stood_verdict" && {
	expect_stood 900 10000
	expect "$(steps)" -eq 0 steps
	verdict
}

# By percent; a clock that is faster makes stamps that do not fit between the times of user space, so those samples are left out.
for rate in -500000000:'50[.]0 % slow' -5000000:'5000 ppm slow' 50000000:'5[.]0 % fast'; do
	share=${rate#*:} rate=${rate%%:*}
	wrong="the NIC's clock runs at a wrong rate \($share, for [0-9.]+ s at least\)"
	clocks "it runs at $rate ppb from the start" "at_first:set_parameters drift_ppb=$rate,0" 300 void 3 \
		"(nothing was recorded .*; )?$wrong" && {
		expect_line e.out "^  NIC clock     : runs $share \(\+-[0-9.]+\)"
		expect "$(steps)" -eq 0 steps
		verdict
	}
	clocks "it runs at $rate ppb later" "set_parameters drift_ppb=$rate,0; pause 1" 300 void 3 "$wrong" && {
		expect_line e.out "^  Warning: the NIC clock ran $share \(\+-[0-9.]+\) for at least"
		expect "$(steps)" -eq 0 steps
		verdict
	}
done

clocks 'every third read is busy' 'at_first:set_parameters read_error=16 read_error_every=3' 300 trusted 0 '' && verdict
clocks 'no read works any more' 'set_parameters read_error=5 read_error_every=1; pause 3' 300 doubtful 0 \
	"the NIC's clock could not be read \(.*the last: Input/output error\)" && {
	expect_line e.out 'samples had no place on the NIC'
	verdict
}
clocks 'no read works for a while, and it is set meanwhile' \
	'set_parameters read_error=11 read_error_every=1; pause 1; step_now 1000000; pause 1; set_parameters read_error_every=0' \
	300 doubtful 0 "$set_verdict; the NIC's clock could not be read \(.*Resource temporarily unavailable\)" && {
	expect_step 1000000
	verdict
}

together
rmmod simnic
exit "$failed"
