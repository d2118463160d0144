#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64
#
# Beside the real ptp4l on the simulated NIC: it follows another ptp4l in domain 0, and goes on while rant measures in its own domain by the
# same kind of message and with the same setting of the NIC, and after. All eight times are compared with the truth as in test_eight.sh.
#
# Text in single quotes is for truth_eight.py. Functions are called by poll.
# shellcheck disable=SC2016,SC2317
set -uo pipefail

family=ptp4l truth=simnic/truth_eight.py
emitter_options=(--log-full)
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

is_reflecting() {
	is_gone "$1" || grep -q '^Reflecting' "$work/$1.err"
}
is_ready=is_reflecting server=$(mac_of b)

# It only looks at the clock, on which the truth depends, and says so each second.
daemon=(-2 -m --free_running=1 --freq_est_interval=0 --summary_interval=-3 --logAnnounceInterval=-2 --logSyncInterval=-3
	--logMinDelayReqInterval=-3 --tx_timestamp_timeout=1000)

followed() {
	grep -cE 'master offset +-?0 .* path delay +20000$' "$work/slave.out" # what simnic computes
}
has_followed() { # TIMES
	is_gone slave || [ "$(followed)" -ge "$1" ]
}

begin "$family: l2 beside it, which goes on, and the NIC's setting stays"
reset
set_parameters filter_all=N wire_ns=20000 wire_back_ns=7000 response_ns=4000 vary_stage=2 vary_steps=30000 vary_ns=7
start master b ptp4l -i sim1 "${daemon[@]}" --uds_address=/run/master --masterOnly=1
start slave a ptp4l -i sim0 "${daemon[@]}" --uds_address=/run/slave -s --announceReceiptTimeout=100
poll has_followed 1
expect_setting a '1 12' before
start x a "$RANT" --details -i sim0 -a "$server" --transport l2 --ptp-domain 0 --stamp hardware --count 10
finish x
expect_status x 1
expect_line x.err "^rant: --ptp-domain 0: ptp4l \\(${pid[slave]}\\) uses this domain on interface 'sim0'"
start_pair '-v --histogram --overflow 300 --transport l2' '--histogram --overflow 300 --transport l2 --timeout 4000 --count 500'
finish e
finish_reflector
expect_status e 0
expect_status r 0
expect_setting a '1 12' after
expect_setting b '1 12' after
seen=$(followed)
poll has_followed $((seen + 2))
expect "$(followed)" -ge $((seen + 2)) 'times it told after'
expect "$(grep -c 'master offset' "$work/slave.out")" -eq "$(followed)" 'times it told, by its own stamps alone'
stop slave
stop master
expect "$(cat "$work/slave.out" "$work/master.out" | grep -ciE 'fault|timed out|without timestamp')" -eq 0 'complaints of ptp4l'
compare 'N == e["Sent"] == len(T) + 1 == len(R) == stamps["Complete"] + 1' '{int(l["NETWORK"]) for l in T.values()} == {27000}' \
	'e["Foreign"] == e["Malformed"] == r["Foreign"] == r["Malformed"] == 0'
close_simnic
exit "$failed"
