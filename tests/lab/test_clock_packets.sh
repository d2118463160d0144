#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# A NIC's clock that cannot be read, as that of gve: packets give its relation to the system clock, and nothing that is printed is
# further from the truth than its bound, whatever the clock does. Without transmit timestamps there is no relation.
#
#   ONLY=REGEX  only the tests whose name matches
#   COUNT=N     packets in each test, sent without a pause. Default: one each millisecond for 12 s. 1000000 needs MEMORY=4096
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - clock packets # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

set_parameters phc_unreadable=Y
ptp=$(at a ethtool -T sim0 | sed -n 's/.*\(Clock\|Hardware timestamp provider index\): //p' | head -1) # of the emitter's NIC
length='--interval 1000 --duration 12'
[ -z "${COUNT:-}" ] || length="--count $COUNT"

bound_of() { # NAME
	sed -n 's/^  Stages .* within +-\([0-9]*\) ns$/\1/p' "$work/$1.out"
}

# expect_placed NAME: in the order of its log, each packet takes at least 0 ns from the program to the NIC, or back, less the bound.
expect_placed() {
	local bound counts

	bound=$(bound_of "$1")
	counts=$(awk -v bound="${bound:-0}" -v emit="$([ "$1" = e ] && echo 1)" '
		function ns(t, p) { split(t, p, "."); if (!base) base = p[1]; return (p[1] - base) * 1000000000 + p[2] }
		NR < 3 { next }
		$2 == "-" || $3 == "-" || $4 == "-" || $5 == "-" { out++; next }
		{
			n++
			out_ns = emit ? ns($3) - ns($2) : ns($5) - ns($4)
			in_ns = emit ? ns($5) - ns($4) : ns($3) - ns($2)
			if (out_ns < -bound || in_ns < -bound)
				wrong++
			if (n == 1 || out_ns < least_out) least_out = out_ns
			if (n == 1 || in_ns < least_in) least_in = in_ns
		}
		END { print wrong + 0, n + 0, out + 0, least_out + 0, least_in + 0 }' "$work/$1.log")
	echo "# $test_name: $1 within ${bound:-nothing} ns; wrong, placed, not placed, least out and in (ns): $counts"
	expect "${counts%% *}" -eq 0 "records of $1 beyond the bound"
	expect "$(cut -d' ' -f2 <<<"$counts")" -gt 1000 "placed records of $1"
}

# expect_offset DRIFT_PPB: the last relation in the report of the emitter, by readings after the run. The relation is about as old as the
# last packet, whose T1 is in the timebase of the NIC.
expect_offset() {
	local said bound true_ns after_s

	set_parameters phc_unreadable=N
	true_ns=$(phc_ctl "/dev/ptp$ptp" cmp | sed -n 's/.*offset from CLOCK_REALTIME is \(-\?[0-9]*\)ns.*/\1/p')
	read -r said bound < <(sed -n 's/^  NIC clock .* minus CLOCK_REALTIME \([-+]\?[0-9.]*\) s (+-\([0-9]*\) ns).*/\1 \2/p' "$work/e.out")
	after_s=$(tail -n 1 "$work/e.log" | awk -v now="$EPOCHREALTIME" -v said="$said" '{ print now - ($2 - said) }')
	set_parameters phc_unreadable=Y
	echo "# $test_name: e minus CLOCK_REALTIME $said s +- $bound ns; $after_s s later $((-true_ns)) ns"
	# 20 us for phc_ctl, and 1 s between the relation and the last packet
	awk -v said="$said" -v bound="$bound" -v true_ns="$true_ns" -v drift="$1" -v after="$after_s" '
		BEGIN {
			split(said, p, ".")
			off = p[1] * 1000000000 + p[2] + true_ns + drift * after
			if (off < 0) off = -off
			exit !(off <= bound + (drift < 0 ? -drift : drift) + 20000)
		}' || complain "the offset of $1"
}

# unreadable NAME DRIFT_A DRIFT_B [CHANGE]: CHANGE is run after 5 s.
unreadable() {
	local name=$1 end

	[[ $name =~ ${ONLY:-.} ]] || return 1
	begin "clock packets: $name"
	set_parameters "drift_ppb=$2,$3"
	start_both "-s -H --log $work/r.log" "-s -H --log $work/e.log --json $work/e.json $length"
	if [ -n "${4:-}" ]; then
		pause 5
		"$4"
	fi
	GUARD_S=$((GUARD_S + ${COUNT:-0} / 1000)) finish e
	stop r
	expect_balance e
	for end in e r; do
		expect_line "$end.out" '^  NIC clock     : sim[01], .* minus CLOCK_REALTIME .*, by timestamps of packets$'
		expect_line "$end.out" '^  It is not read: /dev/ptp[0-9]+ cannot be read: Operation not supported\. Packets sent and received limit its offset$'
		expect_placed "$end"
	done
	expect_line e.json '"method": *"timestamps of packets"'
	expect_line e.json '"not_read": *"/dev/ptp[0-9]+ cannot be read: Operation not supported"'
	"$RANT" --report "$work/e.json" --details >"$work/again.out" 2>"$work/again.err"
	expect "$(grep '^  NIC clock \|^  It is not read' "$work/again.out")" = "$(grep '^  NIC clock \|^  It is not read' "$work/e.out")" 'the report of JSON'
}

no_steps() {
	local end

	for end in e r; do
		expect "$(grep -c 'Step of the' "$work/$end.out")" -eq 0 "steps found by $end"
	done
}

for drift in '0 0' '20000 -30000' '-30000 20000'; do
	# shellcheck disable=SC2086
	if unreadable "drift $drift ppb" $drift; then
		no_steps
		expect_offset "${drift% *}"
		verdict
	fi
done
# shellcheck disable=SC2317 # called by its name
step_it() {
	set_parameters phc_unreadable=N # phc_ctl reads the clock, too; rant has closed it
	phc_ctl "/dev/ptp$ptp" -- adj 0.0005 >"$work/adj.out" 2>&1 || complain adj
	set_parameters phc_unreadable=Y
}

if unreadable 'a step' 20000 -30000 step_it; then
	expect_line e.out '^  Step of the NIC clock by \+(4[0-9]|5[0-9])[0-9]{4} ns '
	verdict
fi

# Receive timestamps limit the offset from one side only: nothing is printed that needs the other.
if [[ 'receive timestamps only' =~ ${ONLY:-.} ]]; then
	begin 'clock packets: receive timestamps only'
	set_parameters rx_only=Y
	start e a "$RANT" -i sim0 -a "${address[b]}" --stamp receive --duration 1
	finish e
	expect_status e 1
	expect_line e.err '--stamp receive needs the relation .*: /dev/ptp[0-9]+ cannot be read: Operation not supported; receive timestamps limit the offset of its clock from one side only: use --stamp kernel$'
	start k a "$RANT" -i sim0 -a "${address[b]}" --stamp receive-any --duration 1
	finish k
	expect_status k 1
	verdict
fi

set_parameters rx_only=N phc_unreadable=N drift_ppb=0,0
together
rmmod simnic
exit "$failed"
