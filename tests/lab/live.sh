# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of the lab that judge a run by its last line, which source it: the simulated NIC in live mode, with clocks that run
# like the system's and can be set or spoilt while a run goes on, and an emitter beside a reflector. simnic_options: words for insmod.

# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

parameters=/sys/module/simnic/parameters
# Of a machine that is slow; and with a short --timeout a probe whose answer was slow is lost.
waited='(the measuring thread (had to wait for its CPU|did not run)|the hypervisor took the measuring CPU|the peer did not answer for [0-9.]+ s) \([^;]*\)'
# shellcheck disable=SC2086 # words
insmod "$SIMNIC" ${simnic_options:-} period_ns=0 live=Y wire_ns=1000 wire_back_ns=1000 response_ns=0 phc_offset_ns=37000000000,-123456789
apart sim0 sim1

set_parameters() {
	local pair

	for pair in "$@"; do
		echo "${pair#*=}" >"$parameters/${pair%%=*}" || complain "cannot set $pair"
	done
}

fault=() # words before the emitter: a fault that is made by spike.c

# run "R ARGUMENTS" "E ARGUMENTS": an emitter of some packets beside a reflector. Where stamps are missing each costs the --timeout
# of the emitter, which is given again then.
start_both() {
	local -a words

	read -ra words <<<"$1"
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware --timeout 2000 "${words[@]}"
	poll has_port r
	read -ra words <<<"$2"
	start e a "${fault[@]}" taskset -c 0 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --timeout 2000 "${words[@]}"
}

run() {
	start_both "$1" "$2"
	finish e
	stop r
}

# verdict_is NAME LEVEL STATUS [REASONS]: one regular expression for all, in the order of the report; `waited` may be anywhere.
verdict_is() {
	local name=$1 level=$2 want=$3 line

	shift 3
	expect_status "$name" "$want"
	want="^Measurement: $level${1:+: $1}\$"
	line=$(grep '^Measurement: ' "$work/$name.out" |
		sed -E ":again; s/(: |; )$waited(; |$)/\1/; t again; s/; $//; s/doubtful: $/trusted/")
	[[ $line =~ $want ]] || complain "$name says: $(grep '^Measurement: ' "$work/$name.out")"
}

# shellcheck disable=SC2317 # by poll
has_sent_more() { # SIDE THAN
	is_gone e || [ "$(sent_by "$1")" -gt "$2" ]
}

# Until the emitter has sent so many more.
wait_for_packets() {
	poll has_sent_more a $(($(sent_by a) + $1))
}
