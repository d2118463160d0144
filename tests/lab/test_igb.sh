#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: rt arm64 slow
#
# The real driver igb on an emulated 82576, whose NIC has a PTP clock, stamps all that it sends, one at a time, and of
# what it receives only PTP.
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

E="-i eth0 -a ${address[b]}" R="-i eth1"
filters='none ptpv1-l4-sync ptpv1-l4-delay-req ptpv2-event'
declare -A bar=([a]=$(readlink -f /sys/class/net/eth0/device)/resource0 [b]=$(readlink -f /sys/class/net/eth1/device)/resource0)
apart eth0 eth1

# refused NAME SIDE SETTING ARGUMENTS: --stamp hardware, where SETTING was made before by another program.
refused() {
	local side=$2 setting=$3 before sent
	local -a words

	read -ra words <<<"$4"
	begin "igb: $1"
	read -r tx rx <<<"$setting"
	at "$side" hwstamp_ctl -i "${link[$side]}" -t "$tx" -r "$rx" >/dev/null
	before=$(setting_of "$side") sent=$(sent_by "$side")
	start x "$side" "$RANT" --details "${words[@]}" --stamp hardware
	finish x
	expect_status x 1
	# Lines about what a busy machine is still doing are left out.
	expect "$(grep -cv '^rant: still ' "$work/x.err")" -eq 1 'lines on stderr'
	expect_line x.err "^rant: interface '${link[$side]}' \(driver 'igb'\) stamps PTP event packets only, its filters are: $filters: use --transport ptp at both ends, or --stamp kernel$"
	expect "$(wc -c <"$work/x.out")" -eq 0 'octets on stdout'
	expect "$(sent_by "$side")" -eq "$sent" 'packets sent'
	expect "$before" = "$setting" 'setting before'
	expect "$(setting_of "$side")" = "$setting" 'setting after'
	verdict
}
refused 'hardware stamps are refused to an emitter, the setting stays off' a '0 0' "$E --count 10"
refused 'hardware stamps are refused to a reflector, the setting stays off' b '0 0' "$R"
refused "hardware stamps are refused, ptp4l's setting stays" a '1 12' "$E --count 10"
refused "hardware stamps are refused to a reflector, ptp4l's setting stays" b '1 12' "$R"
at a hwstamp_ctl -i eth0 -t 0 -r 0 >/dev/null
at b hwstamp_ctl -i eth1 -t 0 -r 0 >/dev/null

# pair NAME COUNT R_ARGUMENTS E_ARGUMENTS: a run with the NIC as it is; what is complained about is left to the caller.
pair() {
	local -a words

	begin "igb: $1"
	read -ra words <<<"$3"
	start r b "$RANT" --details -i eth1 "${words[@]}"
	poll has_port r
	read -ra words <<<"$4"
	start e a "$RANT" --details -i eth0 -a "${address[b]}" --timeout 2000 --count "$2" "${words[@]//LOG/$work/e.log}"
	finish e
	stop r
	expect_status e 0
	expect_status r 0
	expect "$(row e Recorded)" -eq "$2" 'recorded by the emitter'
	expect "$(row e Lost)" -eq 0 'lost'
	expect_setting '0 0' after
}

expect_setting() {
	expect "$(setting_of a)" = "$1" "setting of the emitter's NIC $2"
	expect "$(setting_of b)" = "$1" "setting of the reflector's NIC $2"
}

pair 'kernel stamps' 500 '--stamp kernel' '--stamp kernel --warmup 20 --log LOG'
expect "$(grep -c '' "$work/e.log")" -eq 502 'lines of the log'
verdict
pair 'a reflector with -N leaves the NIC alone' 200 '-N --stamp hardware' '--stamp kernel'
expect_line r.out 'RESPONSE = T3_SW - T2_SW'
verdict

# ---- Hardware stamps, with a NIC that seems to have filter "all" (see rxsatrh.c) -------------------------------------

# start_hw NAME SIDE ARGUMENTS...
start_hw() {
	local name=$1 side=$2

	shift 2
	start "$name" "$side" env LD_PRELOAD="$HELPERS/rxsatrh" RXSATRH_BAR="${bar[$side]}" \
		"$RANT" --details -i "${link[$side]}" --stamp hardware "$@"
}

start_hw_pair() {
	start_hw r b --log "$work/r.log" --count 50000
	poll has_port r
	start_hw e a -a "${address[b]}" --timeout 2000 --log "$work/e.log" "$@"
}

# The clock of the emulated NIC is that of this machine, from which the guest's own may differ by tens of ppm while the run goes on.
expect_trusted() {
	if grep -q "^Measurement: void: the NIC's clock runs at a wrong rate" "$work/$1.out"; then
		expect_status "$1" 3
	else
		expect_status "$1" 0
	fi
}

finish_hw_pair() {
	finish e
	stop r
	expect_trusted e
	expect_trusted r
	expect "$(row e Lost)" -eq 0 'lost'
	expect_setting '0 0' after
}

skipped_by() {
	at "$1" ethtool -S "${link[$1]}" | awk '$1 == "tx_hwtstamp_skipped:" { print $2 }'
}

# shellcheck disable=SC2317 # by poll
has_sent() {
	[ "$(sent_by "$1")" -ge "$2" ]
}

# shellcheck disable=SC2317 # by poll
is_set() {
	[ "$(setting_of "$1")" = '1 12' ]
}

# The latency of each line is the difference of its own stamps; times are compared as text, for awk's numbers are short.
log_adds_up() {
	awk -v name="$1" 'NR > 2 {
		first = $2; last = $(NF - 1)
		split(first, a, "."); split(last, b, ".")
		if ((b[1] - a[1]) * 1000000000 + b[2] - a[2] != $NF) { print name " line " NR ": " $0; exit }
	} END { if (NR < 3) print name " is empty" }' "$work/$1.log"
}

# skips_fit SIDE BEFORE NAME...: what these miss is what the driver counted as skipped, but for stamps that came too late for
# rant, and those that nobody waited for: of a probe that was still under way at the end, and of the one after the end.
skips_fit() {
	local skipped=$(($(skipped_by "$1") - $2)) missing=0 late=0 unwanted=0 name

	shift 2
	for name in "$@"; do
		missing=$((missing + $(row "$name" Transmit)))
		late=$((late + $(row "$name" 'Late stamps')))
		[[ $name == r ]] || unwanted=$((unwanted + $(row "$name" Unfinished) + $(row "$name" Closing)))
	done
	expect "$skipped" -ge $((missing - late)) "skipped by the driver, missing at $*"
	expect "$skipped" -le $((missing + unwanted)) "skipped by the driver, missing or not waited for at $*"
}

begin_hw() {
	local side

	for side in a b; do
		at "$side" hwstamp_ctl -i "${link[$side]}" -t 0 -r 0 >/dev/null
	done
	begin "igb: $1"
}

begin_hw 'hardware stamps of every packet, both logs add up; what the reflector misses the driver has skipped'
skipped=$(skipped_by b)
start_hw_pair --count 60
finish_hw_pair
expect "$(row e Recorded)" -ge 50 'recorded by the emitter'
expect "$(row e Unstamped)" -le "$(row e 'Late stamps')" 'unstamped at the emitter'
expect "$(row r Receive)" -eq 0 'receive stamps missing at the reflector'
expect "$(row r Sent)" -eq "$(row e Sent)" 'sent by the reflector'
# The clock jumps by 2^41 ns now and then, where the emulated counter wraps: one sample in such a run.
expect "$(awk 'NR > 2 && ($NF <= 0 || $NF > 2e9)' "$work/e.log" | wc -l)" -le 1 'absurd round trips'
for name in e r; do
	[ -z "$(log_adds_up "$name")" ] || complain "$(log_adds_up "$name")"
done
skips_fit b "$skipped" r
verdict

begin_hw "an emitter knows the reflector's stamps, and of those that the driver skipped that they are not known"
start_hw_pair --count 100 --log-full
finish_hw_pair
expect "$(row e Complete)" -ge 50 'samples with eight stamps'
expect_known 50 e.log -- r.log
expect_balance e
expect_balance r
# RTT = RESPONSE + NETWORK, where the clock that jumps leaves both as they are.
expect "$(awk 'NR > 2 && $NF == "-" && ($4 != $9 + $10 || $10 <= 0) && $4 < 2e9 && $9 < 2e9' "$work/e.log" | wc -l)" -le 1 \
	'round trips that are not response and network'
verdict

# The driver's own filter. Of what it stamps this emulation knows only Sync messages on Ethernet; the rest by rxsatrh.c.
# shellcheck disable=SC2317 # by poll
is_open() {
	is_gone r || [[ $(<"/proc/${pid[r]}/net/packet") == *\ 88f7\ * || $(<"/proc/${pid[r]}/net/udp") == *:013F\ * ]]
}

# ptp_only TRANSPORT SERVER NAME ARGUMENTS...
ptp_only() {
	local transport=$1 server=$2

	begin_hw "a NIC that stamps PTP only has all eight stamps $3"
	shift 3
	start_hw r b --transport "$transport" "$@" --log "$work/r.log" --count 50000
	poll is_open
	start_hw e a --transport "$transport" "$@" -a "$server" --timeout 2000 --log "$work/e.log" --log-full --count 40 --interval 25ms
	poll is_set a && poll is_set b
	finish_hw_pair
	expect "$(row e Complete)" -ge 25 'samples with eight stamps'
	# The emulated NIC holds one receive stamp: a probe has none where the reflector was late with the one before.
	expect "$(row r Receive)" -le 5 'receive stamps missing at the reflector'
	expect_known 25 e.log -- r.log
	verdict
}
ptp_only l2 "$(mac_of b)" 'in Sync messages on Ethernet' --ptp-type sync
RXSATRH_EVENT=delay-req ptp_only l2 "$(mac_of b)" 'in Delay_Req messages on Ethernet'
RXSATRH_EVENT=ipv4 ptp_only ptp "${address[b]}" 'in PTP messages over UDP'

begin_hw 'two emitters on a port miss the transmit stamps that the driver skipped'
skipped=$(skipped_by a)
start_hw_pair --duration 4 --timeout 300
start_hw f a -a "${address[b]}" --timeout 300 --duration 4
finish e f
stop r
expect "$(row e Sent)" -ge 10 'sent by the first'
expect "$(row f Sent)" -ge 10 'sent by the second'
skips_fit a "$skipped" e f
verdict

for signal in TERM INT; do
	begin_hw "the setting of both NICs is put back after SIG$signal"
	sent=$(sent_by b)
	start_hw_pair --count 50000
	poll has_sent b $((sent + 100))
	expect_setting '1 12' 'during the run'
	kill -"$signal" "${pid[e]}" "${pid[r]}"
	finish e r
	expect_trusted e
	expect_trusted r
	expect_setting '0 0' after
	verdict
done

# A jump between two exchanges is not seen: so ten of each.
begin_hw 'round trips in which the clock of the NIC jumps are left out, and counted'
sent=$(sent_by a)
start_hw_pair --count 50000
poll has_sent a $((sent + 100))
for _ in 1 2 3 4 5 6 7 8 9 10; do
	at a phc_ctl eth0 -- adj -3.0 >"$work/phc_ctl.out" 2>&1 || complain 'phc_ctl failed'
	at a phc_ctl eth0 -- adj 4.5 >"$work/phc_ctl.out" 2>&1 || complain 'phc_ctl failed'
done
kill -TERM "${pid[e]}"
finish e
stop r
# Of twenty steps in two seconds it may say that the clock runs at a wrong rate.
expect_status e "$(grep -q '^Measurement: void: ' "$work/e.out" && echo 3 || echo 0)"
expect_trusted r
expect "$(row e Lost)" -eq 0 'lost'
expect_setting '0 0' after
expect "$(row e Negative)" -ge 1 'negative round trips'
expect "$(row e Negative)" -le 11 'negative round trips'
expect "$(row e Stepped)" -ge 1 'round trips of 4.5 s'
expect "$(row e Stepped)" -le 11 'round trips of 4.5 s'
expect "$(awk 'NR > 2 && $NF > 1e9' "$work/e.log" | wc -l)" -eq 0 'absurd round trips'
expect_line e.out "^Measurement: (doubtful|void): .*a clock was set \\(the NIC's clock [0-9]+ times?"
verdict

together
exit "$failed"
