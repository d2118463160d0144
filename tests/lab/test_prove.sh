#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# rant --prove on simulated NICs of 1000 Mbit/s, whose timestamps follow a script: slopes, the verdict, what the NIC stamps, and the
# setting of the NIC afterwards.
#
#   ONLY=REGEX  only the tests whose name matches
#   COUNT=N     those with a reflector N times each, with the number of runs that were as expected
set -uo pipefail

family=prove
truth=none
emitter_options=()
# shellcheck source=tests/lab/simnic.sh
. "$TESTS/simnic.sh"

verdicts=([0]=of_the_wire [1]=not_known [3]=not_of_the_wire) # by exit status

# prove NAME "PARAMETERS" "ARGUMENTS OF BOTH" STATUS EXPECTED_LINE...
prove() {
	local -a words

	wanted "$1" || return 0
	begin "prove: $1"
	reset
	read -ra words <<<"$2"
	set_parameters "${words[@]}"
	set_nic a '0 0'
	set_nic b '0 0'
	repeated run_proof "$@"
	verdict
}

# shellcheck disable=SC2317 # by repeated
run_proof() {
	local -a arguments

	read -ra arguments <<<"$3"
	start r b taskset -c 1 "$RANT" -i sim1 --quiet --no-step-check "${arguments[@]}"
	poll "${is_ready:-has_port}" r
	start e a taskset -c 0 "$RANT" --prove -i sim0 -a "${address[b]}" --no-step-check --json "$work/e.json" "${arguments[@]}"
	finish e
	stop r
	sed -n '/^Filter/,/^$/p' "$work/e.out" | sed 's/^/# /'
	[ -z "$3" ] || expect "$(grep -c '^Filter' "$work/e.out")" -eq 0 'tables of filters, with --rx-filter'
	expect_status e "$4"
	expect_line e.json "\"verdict\": \"${verdicts[$4]}\""
	expect_setting a '0 0' after
	shift 4
	while [ $# -gt 0 ]; do
		expect_line e.out "$1"
		shift
	done
	echo "# $test_name: $(grep -E '^(Slope|Rate|timestamps|not known)' "$work/e.out" | tr '\n' ' ')"
}

[ "$self" = 0 ] || exit 0
both='ns_per_kilo_octet=8000' one_filter='--rx-filter all'
prove 'timestamps of the wire' "$both" '' 0 '^timestamps are of the wire: slope 16\.0[0-9] ns/octet, 16\.00 expected \(2 serialisations of 8\.00 at 1000 Mbit/s\)$' \
	'^Slope +[0-9.]+ +-?0\.00 +16\.0[0-9]  ns/octet; 8\.00 on a link of 1000 Mbit/s$' \
	'^Rate          every timestamp came up to [0-9]+ packets/s' \
	'^all +all +([1-9][0-9]*) +\1$' '^ptpv2-l4-sync +ptpv2-event +[1-9][0-9]* +0$' '^ptpv2-event +ptpv2-event +[1-9][0-9]* +0$' '^Refused: some ptpv1-l4-event .* ntp-all$' \
	'^STAMP in UDP +2[01] +2[01] +2[01] +2[01]$' '^PTP in UDP +2[0-9] +2[0-9] +0 +0$' '^PTP in L2 +2[01] +2[01] +0 +0$' '^ICMP echo +2[01] +2[01] +2[01] +2[01]$'
prove 'timestamps of the completion' "$both completion_per_kilo_octet=3000" "$one_filter" 3 \
	'^timestamps are not of the wire, or a link on the path has another speed: slope 10\.0[0-9] ns/octet'
prove 'timestamps that do not depend on the size' '' "$one_filter" 3 '^timestamps are not of the wire: network slope 0 and response slope -?0\.00 ns/octet'
prove 'late packets' "$both spike_every=7 spike_ns=50000 spike_stage=1" "$one_filter" 0 '^timestamps are of the wire: slope 16\.0[0-9] ns/octet'

# The driver lists and grants "all", which stamps nothing at this NIC.
prove 'a filter that stamps nothing' "$both filter_dead=1,0,0" '' 1 '^not known: no exchange has all timestamps$' \
	'^all +all +[1-9][0-9]* +0$' '^STAMP in UDP +2[01] +2[01] +2[01] +0$'

if wanted 'without a reflector'; then
	begin 'prove: without a reflector'
	reset
	set_nic a '0 0'
	start e a taskset -c 0 "$RANT" --prove -i sim0
	finish e
	expect_status e 1
	expect_setting a '0 0' after
	expect_line e.out '^PTP in L2 +2[01] +2[01] +0 +0$'
	expect_line e.out '^STAMP in UDP   not tried: needs -a with an IP address$'
	expect_line e.out '^not known: a slope needs a reflector: give -a PEER$'
	verdict
fi

# shellcheck disable=SC2317 # by poll
is_untouched() {
	[ "$(setting_of a)" = '0 0' ]
}

# shellcheck disable=SC2317 # by poll
is_set() {
	! is_untouched
}

# The run in progress ends with its parent, however that ended.
if wanted 'killed in mid-run'; then
	begin 'prove: killed in mid-run'
	reset
	set_nic a '0 0'
	start e a taskset -c 0 "$RANT" --prove -i sim0
	poll is_set
	kill -KILL "${pid[e]}"
	finish e
	poll is_untouched
	expect "$(wc -l <"$work/e.out")" -lt 8 'lines of its table'
	verdict
fi

# shellcheck disable=SC2317 # by poll
tries_ptp() {
	is_gone e || { grep -q '^all ' "$work/e.out" && [ "$(setting_of a)" = '1 12' ]; }
}

if wanted 'killed while it tries filters'; then
	begin 'prove: killed while it tries filters'
	reset
	set_nic a '0 0'
	set_nic b '0 0'
	start r b taskset -c 1 "$RANT" -i sim1 --quiet --no-step-check
	poll has_port r
	start e a taskset -c 0 "$RANT" --prove -i sim0 -a "${address[b]}" --no-step-check
	poll tries_ptp
	kill -KILL "${pid[e]}"
	finish e
	stop r
	GUARD_S=20 poll is_untouched
	expect "$(grep -c '^ntp-all\|^Refused' "$work/e.out")" -eq 0 'the last lines of its table'
	verdict
fi

# The driver lists PTP only, and stamps nothing else on receipt.
if wanted 'a NIC that stamps PTP only'; then
	begin 'prove: a NIC that stamps PTP only'
	reset
	set_parameters filter_all=N
	start e a taskset -c 0 "$RANT" --prove -i sim0 -a "${address[b]}"
	finish e
	expect_status e 1
	expect_line e.out '^STAMP in UDP   no: .*--transport ptp'
	expect_line e.out '^PTP in UDP +2[0-9] +2[0-9] +0 +0$'
	expect_line e.out '^not known: '
	verdict
fi
reset
close_simnic
exit "$failed"
