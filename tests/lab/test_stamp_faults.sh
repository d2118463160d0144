#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# The step of a NIC's timestamps, and timestamps that repeat an earlier one or go backwards: each fault is found where it is, and a
# NIC without faults has none, with one and with many in flight.
#
#   ONLY=REGEX  only the tests whose name matches
#   COUNT=N     each of them N times, with the number of runs that were as expected
#   SPIKES=N    faults in a run, and each hundred probes has one
set -uo pipefail
SPIKES=${SPIKES:-6}

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - stamp faults # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

# faults NAME "PARAMETERS" "E_ARGUMENTS" STEP_NS "FAULTS OF E" "FAULTS OF R": each transmit and receive, repeated and backward.
faults() {
	local -a words

	[[ $1 =~ ${ONLY:-.} ]] || return 1
	begin "stamp faults: $1"
	read -ra words <<<"$2"
	set_parameters stale=0 stale_on=3 back_ns=0 quantum=1 constant=0 directions=3 "${words[@]}"
	repeated run_faults "$1" "$3" "$4" "${5//6/$SPIKES}" "${6//6/$SPIKES}"
	verdict
}

# run_faults NAME "E_ARGUMENTS" STEP_NS "FAULTS OF E" "FAULTS OF R"
# shellcheck disable=SC2317 # by repeated
run_faults() {
	local -a words
	local name counts

	run "--json $work/r.json" "--count $((100 * SPIKES - 20)) --warmup 20 --json $work/e.json $2"
	# Stale timestamps may look like a clock that stands.
	[ "$4 $5" = '0 0 0 0 0 0 0 0' ] && expect_status e 0 && expect_status r 0
	for name in e r; do
		counts=$(sed -n 's/.*"\(transmit\|receive\)": {"count":\([0-9]*\),"repeated":\([0-9]*\),"backward":\([0-9]*\)}.*/\2 \3 \4/p' \
			"$work/$name.json" | tr '\n' ' ')
		read -ra words <<<"$counts"
		expect "${#words[@]}" -eq 6 "$name has counts"
		expect "${words[0]:-0}" -ge $((100 * SPIKES - 10)) "$name: timestamps of sent packets"
		expect "${words[3]:-0}" -ge $((100 * SPIKES - 10)) "$name: timestamps of received packets"
		expect "${words[1]:-} ${words[2]:-} ${words[4]:-} ${words[5]:-}" = "$([ "$name" = e ] && echo "$4" || echo "$5")" \
			"faults of $name"
		if [ "$3" -gt 1 ]; then
			expect_line "$name.out" "^  Timestamps    : in steps of $3 ns\$"
		else
			expect "$(grep -c '^  Timestamps    :' "$work/$name.out")" -eq 0 "a step is printed"
		fi
		expect "$(grep -c "^Measurement: .*the NIC's stamps contradict" "$work/$name.out")" -eq \
			"$([ "$([ "$name" = e ] && echo "$4" || echo "$5")" = '0 0 0 0' ] && echo 0 || echo 1)" "verdict of $name"
	done
	[ "${COUNT:-1}" -gt 1 ] || echo "# $test_name: $counts"
}

faults 'a NIC without faults' '' '' 1 '0 0 0 0' '0 0 0 0'
faults 'many in flight without faults' '' '--window 32' 1 '0 0 0 0' '0 0 0 0'
faults 'steps of 8 ns' 'quantum=8' '' 8 '0 0 0 0' '0 0 0 0'
faults 'steps of 1000 ns' 'quantum=1000' '' 1000 '0 0 0 0' '0 0 0 0'
# Numbers 99, 199 ... of the probes. Steps and the matching of transmit timestamps by user-space times are not checked, so that the
# stamps reach the samples.
faults 'stale transmit timestamps of probes' 'stale=100 stale_on=1 directions=1' --no-step-check 1 '6 0 0 0' '0 0 0 0'
faults 'stale receive timestamps of probes' 'stale=100 stale_on=2 directions=1' '' 1 '0 0 0 0' '0 0 6 0'
faults 'stale receive timestamps of replies' 'stale=100 stale_on=2 directions=2' --no-step-check 1 '0 0 6 0' '0 0 0 0'
faults 'receive timestamps of replies that go back' 'stale=100 stale_on=2 directions=2 back_ns=5' --no-step-check 1 '0 0 0 6' '0 0 0 0'

# A constant that is longer than the way from the NIC to the program: receive timestamps are after the time of user space.
if [[ 'stamp faults: a constant of 10 ms' =~ ${ONLY:-.} ]]; then
	begin 'stamp faults: a constant of 10 ms'
	set_parameters stale=0 constant=10000000
	# Each transmit timestamp is after its fetch, so each probe waits for another one.
	run '' '--count 20 --timeout 50 --sw-timestamps'
	expect_line e.out '^Measurement: (doubtful|void): .*(times were out of order|stamps did not match)'
	verdict
fi
set_parameters stale=0 stale_on=3 back_ns=0 quantum=1 constant=0 directions=3
together
rmmod simnic
exit "$failed"
