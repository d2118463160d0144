#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# rant --stamp hardware on the simulated NIC, whose stamps are computed: everything that is printed is compared with the
# truth (simnic/truth.py), to the nanosecond and to the last packet. Runs in the guest of lab.sh; needs RANT and SIMNIC.
#
#   ONLY=REGEX  only the tests whose name matches
#   SELF=1      the truth is made wrong on purpose: every test must fail then
#
# The guest's own speed decides nothing here: a probe that a stalled guest lets time out shows as lost and later as late,
# and the expectations say "Lost - Late" where that matters.
# Text in single quotes is for truth.py.
# shellcheck disable=SC2016
set -uo pipefail

family=simnic truth=simnic/truth.py
# --plain: no probe after the end, and none that tells of another. The other host's stamps are test_eight.sh's.
emitter_options=(--plain)
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

# ---- Exact to the nanosecond ---------------------------------------------------------------------------------------------

# Every packet was recorded on both sides.
ALL='N == e["Sent"] == len(E) == len(R) == a.rx_stamps == b.rx_stamps == a.tx_stamps == b.tx_stamps'
H='--histogram'
# The guest may stall: nothing is lost here that was not dropped.
S='--timeout 2000'
C='--timeout 20000 --histogram --count'

pair 'one latency' '' "$H" "$C 2000" "$ALL" 'N == 2000' 'set(E.values()) == {7000}' 'set(R.values()) == {5000}'
pair 'a wire that varies, percentiles in buckets' 'wire_ns=20000 wire_back_ns=7 response_ns=0 vary_steps=9973' \
	"$H --overflow 100" "$C 2000 --overflow 100" "$ALL" 'N == 2000' 'len(set(E.values())) > 1600' \
	'set(R.values()) == {0}'
# So many that p99.99 is not "too few"; more add nothing elsewhere.
slow pair 'a response that varies, percentiles in the overflow' \
	'wire_ns=123 response_ns=4000 vary_stage=2 vary_steps=60000 vary_ns=11' "$H --overflow 50" "$C 20000 --overflow 300" \
	"$ALL" 'N == 20000' 'len(set(R.values())) > 15000' 'max(R.values()) > 600000'
slow pair 'PHCs that drift, far apart' 'drift_ppb=123457,-500000 phc_offset_ns=-1599999000000000000,2000000000123456789
	wire_ns=1000000 vary_steps=30000 vary_ns=13' "$H --overflow 1000" "$C 3000 --overflow 5000" "$ALL" 'N == 3000' \
	'set(R.values()) == {4997, 4998}'
slow pair 'stamps by the running clock' 'period_ns=0 vary_steps=500' "$H" "$C 2000" "$ALL" 'N == 2000'
slow pair 'a round trip of 2 ns' 'wire_ns=1 response_ns=0' "$H" "$C 2000" "$ALL" 'set(E.values()) == {2}'
slow pair 'round trips of 7 s' 'period_ns=10000000000 wire_ns=1000000001 response_ns=4999999999' "$H" "$C 2000" "$ALL" \
	'set(E.values()) == {7000000001}'
slow pair 'a PHC before its epoch' 'phc_offset_ns=-1700000000000000000,0 vary_steps=1000' "$H" "$C 2000" "$ALL"
slow pair 'delays before the wire and after it do not show' 'before_ns=700000 after_ns=50000' "$H" "$C 2000" "$ALL" \
	'set(E.values()) == {7000}' 'set(R.values()) == {5000}'
slow pair 'after a warm-up' 'vary_steps=300' "$H" "$C 2000 --warmup 1000" 'e["Warm-up"] == 1000' 'min(E) == 1000' \
	'len(E) == 2000' 'len(R) == 3000' 'a.tx_stamps == 3000'

# ---- Spikes ------------------------------------------------------------------------------------------------------------

F='spike_every=100 spike_ns=40000'
W='e["Breaches"] == a.spikes == 20' # on the wire
slow pair 'spikes on the wire there are counted' "$F spike_stage=1" '-t 30 -C' "$C 2000 -t 30 -C" "$ALL" "$W" \
	'r["Breaches"] == 0' '{n for n in E if E[n] > 30000} == hit("spike_every")'
pair 'spikes in the response are counted on both sides' "$F spike_stage=2" '-t 30 -C' "$C 2000 -t 30 -C" "$ALL" "$W" \
	'r["Breaches"] == 20' '{n for n in R if R[n] > 30000} == {n for n in E if E[n] > 30000} == hit("spike_every")'
slow pair 'spikes before the wire are none' "$F spike_stage=0" '-t 30 -C' "$C 2000 -t 30 -C" "$ALL" 'a.spikes == 20' \
	'e["Breaches"] == r["Breaches"] == 0'
slow pair 'spikes after the wire are none' 'spike_every=100 spike_ns=3000000 spike_stage=4' '-t 30 -C' "$C 2000 -t 30 -C" \
	"$ALL" 'a.spikes == 20' 'e["Breaches"] == r["Breaches"] == 0'
STATUS_E=2 pair 'the first spike ends the emitter' "$F from=1400" '' "$C 2000 -t 46.999" 'N == 1500 == len(E)' \
	'e["Breaches"] == 1' 'max(E) == 1499' 'below_the_top(text_e).startswith("Round-trip latency (47000 ns) exceeds threshold (46999 ns).\n  Sequence number: 1499\n  T1_HW (NIC tx): 1600000000.149900000\n  T4_HW (NIC rx): 1600000000.149947000\n")'
STATUS_R=2 pair 'the first spike ends the reflector' "$F from=1400 spike_stage=2" '-t 44.999' \
	"$C 1500" "$ALL" 'max(R) == 1499' 'r["Breaches"] == 1' \
	'below_the_top(text_r).startswith("Response latency (45000 ns) exceeds threshold (44999 ns).\n  Sequence number: 1499\n  T2_HW (NIC rx): 1600000000.149901000\n  T3_HW (NIC tx): 1600000000.149946000\n")'
slow pair 'a spike that equals the threshold does not' "$F from=1400" '' "$C 2000 -t 47" "$ALL" 'e["Breaches"] == 0' \
	'a.spikes == 6' 'max(E.values()) == 47000'
slow pair 'spikes in the warm-up are not counted' "$F" '' "$C 2000 --warmup 600 -t 30 -C" 'e["Breaches"] == 20' \
	'a.spikes == 26'

# ---- Loss, duplication, order -------------------------------------------------------------------------------------------

T='--histogram --timeout 100 --count'
pair 'replies that are dropped' 'directions=2 drop_every=179' '' "$T 2000" 'e["Lost"] - e["Late"] == b.dropped == 11' \
	'a.dropped == 0' 'len(R) == N' 'not hit("drop_every") & set(E)'
slow pair 'probes held up, in order' 'directions=1 reorder_every=179 hold_ms=20' '' "$C 2000" "$ALL" \
	'b.held_to_limit == 11' 'b.reordered == e["Reordered"] == r["Reordered"] == 0'

# ---- Missing, late and double stamps ----------------------------------------------------------------------------------------

pair 'T4 missing' 'directions=2 rx_stamp_missing_every=7' '' "$C 2000" \
	'e["Receive"] == e["Unstamped"] == a.rx_stamp_missing == 285' 'r["Unstamped"] == 0' \
	'set(range(N)) - set(E) == hit("rx_stamp_missing_every")'
slow pair 'T1 and T3 come 100 us after each send' 'tx_stamp_delay_us=100 vary_steps=1000' "$S" "$C 2000" "$ALL"
slow pair 'T1 late, but in time' 'directions=1 tx_stamp_late_every=39 late_us=8000' "$S" "$C 2000" "$ALL" \
	'a.tx_stamp_late == 51' 'e["Late stamps"] == e["Unmatched"] == 0'
slow pair 'T3 late, but in time' 'directions=2 tx_stamp_late_every=39 late_us=1500' "$S" "$C 2000" "$ALL" \
	'b.tx_stamp_late == 51' 'r["Late stamps"] == r["Unmatched"] == 0'
# A stamp that comes while a stalled program does not look is in time after all.
slow pair 'T1 later than --timeout' 'directions=1 tx_stamp_late_every=449 late_us=24000' '' '--timeout 20 --count 5300' \
	'a.tx_stamp_late == 11' 'e["Late stamps"] + e["Unmatched"] == e["Transmit"] == 11 - len(hit("tx_stamp_late_every") & set(E)) > 0' \
	'e["Lost"] == e["Late"]'
slow pair 'T3 later than --timeout' 'directions=2 tx_stamp_late_every=449 late_us=24000' '--timeout 20' "$C 5300" \
	'b.tx_stamp_late == 11' 'r["Late stamps"] + r["Unmatched"] == r["Transmit"] == 11 - len(hit("tx_stamp_late_every") & set(R)) > 0' \
	'e["Unstamped"] == 0'
slow pair 'T1 twice' 'directions=1 tx_stamp_twice_every=3' '' "$C 2000" "$ALL" \
	'e["Duplicated stamps"] == a.tx_stamp_twice == 666' 'e["Other"] == 0'
slow pair 'T3 twice' 'directions=2 tx_stamp_twice_every=3' '' "$C 2000" "$ALL" \
	'r["Duplicated stamps"] == b.tx_stamp_twice == 666' 'r["Other"] == 0'
pair 'one stamp in flight, probes that come twice' \
	'stamp_slots=1,1,1 tx_stamp_delay_us=1000 directions=1 dup_every=5' "$S" "$C 1000" \
	'r["Transmit"] == r["Unstamped"] == b.tx_hwtstamp_skipped > 100' 'a.tx_hwtstamp_skipped == e["Transmit"] == 0' \
	'r["Duplicate"] == a.duplicated == 200' 'len(E) == 1000'
pair 'all faults at once' 'drop_every=1009 dup_every=31 tx_stamp_missing_every=877 tx_stamp_twice_every=13
	rx_stamp_missing_every=17 spike_every=101 spike_ns=77777 vary_steps=5000' '-t 50 -C' "$T 2100 -t 50 -C" \
	'e["Lost"] - e["Late"] == a.dropped + b.dropped > 0' 'r["Duplicate"] == a.duplicated > 0' \
	'e["Transmit"] == len(hit("tx_stamp_missing_every") - hit("drop_every"))' \
	'r["Transmit"] == b.tx_stamp_missing' 'r["Receive"] == b.rx_stamp_missing' 'r["Breaches"] == 0' \
	'e["Breaches"] == sum(v > 50000 for v in E.values()) == len(hit("spike_every") & set(E))' 'len(E) >= 1680'

# ---- The clock steps ------------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2317 # by slow
step_back() {
	wanted "$1" && echo "0 $2" >"$parameters/step"
}
slow pair 'the PHC steps forward: one round trip shows it' 'step_at=1234 step_ns=987654321' '' "$C 2000" "$ALL" \
	'E[1234] == 987661321' '{E[n] for n in E if n != 1234} == {7000}'
slow step_back 'the PHC steps forward: one round trip shows it' -987654321
slow pair 'the PHC steps back: one negative, none recorded' 'step_at=1234 step_ns=-37000000000' '' "$C 2000" \
	'e["Negative"] == 1' 'set(range(N)) - set(E) == {1234}' 'set(E.values()) == {7000}'
slow step_back 'the PHC steps back: one negative, none recorded' 37000000000

# ---- The setting of the NIC ---------------------------------------------------------------------------------------------------------

# kept NAME SETTING: it is found again after a run, after SIGTERM, and after a second signal.
kept() {
	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	set_nic a "$2"
	set_nic b "$2"
	start_pair '' '--count 20'
	finish e
	expect_setting a "$2" 'after the emitter'
	if [ "$2" != '1 1' ]; then
		expect "$(setting_of b)" = '1 1' 'setting of sim1 while the reflector runs'
	fi
	start e a "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --no-step-check
	poll grep -q . "/proc/${pid[e]}/net/udp"
	sleep 0.5
	expect "$(setting_of a)" = '1 1' 'setting of sim0 while the emitter runs'
	# CAP_NET_ADMIN, to put it back, and nothing else.
	expect "$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/${pid[e]}/status")" = \
		"$([ "$2" = '1 1' ] && echo 0000000000000000 || echo 0000000000001000)" 'capabilities of the emitter'
	stop e
	expect_status e 0
	expect "$(row e Recorded)" -gt 0 'recorded'
	expect_setting a "$2" 'after SIGTERM'
	stop r
	expect_status r 0
	expect_setting b "$2" 'after the reflector'
	# Refused late, after the NIC was set: its port is taken.
	start r b "$RANT" --details -i sim1 --stamp hardware
	poll has_port r
	expect "$(setting_of b)" = '1 1' 'setting of sim1'
	start x b "$RANT" --details -i sim1 --stamp hardware
	finish x
	expect_status x 1
	expect "$(setting_of b)" = '1 1' 'setting of sim1 after a refused start beside a running one'
	stop r
	start x a "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --log /proc/nowhere
	finish x
	expect_status x 1
	expect_setting a "$2" 'after a refused start'
	verdict
	set_nic a '0 0'
	set_nic b '0 0'
}
kept 'a setting of off is put back' '0 0'
slow kept "ptp4l's setting is put back" '1 12'
slow kept 'a setting that stamps all is left alone' '1 1'

# refused NAME "PARAMETERS" REGEX
refused() {
	local sent
	local -a words

	read -ra words <<<"$2"
	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	set_parameters "${words[@]}"
	[ "$self" = 0 ] || set_parameters filter_all=Y has_phc=Y
	set_nic a '1 12'
	sent=$(sent_by a)
	start x a timeout 5 "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --count 10
	finish x
	expect_status x 1
	expect "$(wc -l <"$work/x.err")" -eq 1 'lines on stderr'
	expect_line x.err "$3"
	expect "$(wc -c <"$work/x.out")" -eq 0 'octets on stdout'
	expect "$(sent_by a)" -eq "$sent" 'packets sent'
	expect_setting a '1 12' 'after the refused start'
	verdict
	set_nic a '0 0'
}
refused 'a NIC that stamps only PTP is refused' 'filter_all=N' \
	"^rant[^:]*: interface 'sim0' \(driver 'simnic'\) stamps PTP event packets only, its filters are: none ptpv2-event: use --transport ptp at both ends, or --stamp kernel$"
refused 'a NIC without a clock is refused' 'has_phc=N' \
	"^rant[^:]*: interface 'sim0' \(driver 'simnic'\) has no hardware clock to stamp packets with: --stamp kernel works on any interface$"

# behind NAME SIDE SETTING "PARAMETERS" EXPECTATION...: another program changes the setting in mid-run, for a while if
# SETTING has more than one.
behind() {
	local name=$1 side=$2 settings=$3 setting side_of
	local -a words

	read -ra words <<<"$4"
	shift 4
	wanted "$name" || return 0
	begin "simnic: $name"
	reset
	set_parameters "${words[@]}"
	start_pair '--timeout 20' '--timeout 20 --count 50000'
	poll has_sent
	sleep 0.3
	IFS=, read -ra words <<<"$settings"
	for setting in "${words[@]}"; do
		set_nic "$side" "$setting"
		sleep 0.4
	done
	expect "$(is_gone e && echo gone)" = '' 'the emitter'
	stop e
	finish_reflector
	# Where most samples were not stamped they are void.
	for side_of in e r; do
		expect_line "$side_of.out" '^Measurement: '
		! grep -q '^Measurement: void' "$work/$side_of.out" || status[$side_of]=$((status[$side_of] - 3))
		expect_status "$side_of" 0
	done
	case $settings in
	*'1 1') expect_setting "$side" '0 0' after ;;
	*) expect_setting "$side" "${settings##*,}" 'after, as the other program left it' ;;
	esac
	compare 'len(E) > 100 and len(R) > 100' 'e["Lost"] == e["Late"]' "$@"
	set_nic a '0 0'
	set_nic b '0 0'
}
# A probe without a stamp whose reply comes late on a busy machine is late.
OFF_A='e["Transmit"] + e["Unfinished"] + e["Late"] >= a.tx_stamp_off >= e["Transmit"] > 0'
OFF_R='e["Receive"] + e["Unfinished"] + e["Late"] >= a.rx_stamp_off >= e["Receive"] > 0'
behind 'stamps off for a while behind the emitter' a '0 0,1 1' '' "$OFF_A" \
	'e["Receive"] + e["Late"] >= a.rx_stamp_off >= e["Receive"] > 0' 'r["Unstamped"] == 0' 'max(E) > N - 50'
slow behind 'stamps off for a while behind the reflector' b '0 0,1 1' '' 'r["Transmit"] == b.tx_stamp_off > 0' \
	'r["Receive"] == b.rx_stamp_off > 0' 'e["Unstamped"] == 0' 'max(R) > N - 50'
slow behind 'transmit stamps off behind the reflector' b '0 1' '' 'r["Transmit"] == b.tx_stamp_off > 0' \
	'r["Receive"] == 0' 'e["Unstamped"] == 0'
slow behind 'stamps off behind the emitter, and not restored over' a '0 0' '' "$OFF_A" "$OFF_R" 'r["Unstamped"] == 0'
slow behind "ptp4l's setting behind the emitter, and not restored over" a '1 12' '' 'a.tx_stamp_off == e["Transmit"] == 0' \
	"$OFF_R" 'r["Unstamped"] == 0'

# ---- Modes -----------------------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2317 # by slow
expect_modes() { # NAME COUNT REGEX
	expect "$(grep -Ec "^  [0-9]+ modes of $3" "$work/$1.out")" -eq $(($2 + self)) "lines of modes in $1"
}

# The emitter has the modes too, but its own settings do not explain them.
# shellcheck disable=SC2317 # by slow
moderation() {
	local cure

	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	at b ethtool -C sim1 rx-usecs 50 || complain 'cannot set rx-usecs'
	start_pair '' "$C 2000"
	finish e
	finish_reflector
	expect_status e 0
	expect_status r 0
	expect_modes r 1 'Response: 50 % near 5\.0 us, 50 % near 55\.0 us, 50\.0 us apart: rx-usecs 50: ethtool -C sim1 rx-usecs 0$'
	expect_modes e 1 'RTT: 50 % near 7\.0 us, 50 % near 57\.0 us, 50\.0 us apart$'
	cure=$(sed -n 's/^  2 modes of Response: .*: \(ethtool .*\)$/\1/p' "$work/r.out")
	at b sh -c "${cure:-false}" || complain "the cure fails: $cure"
	start_pair '' "$C 2000"
	finish e
	finish_reflector
	expect_status e 0
	expect_status r 0
	expect_modes r 0 ''
	expect_modes e 0 ''
	at b ethtool -C sim1 rx-usecs 0 >/dev/null 2>&1
	verdict
}
slow moderation 'moderation of 50 us shows as modes, with the setting and its cure'

# Probes are 100 us apart by the stamps, so each 500th is late every 50 ms.
# shellcheck disable=SC2317 # by slow
rhythm() {
	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	set_parameters spike_every=500 spike_ns=40000 spike_stage=2 vary_steps=7 vary_ns=300
	start_pair "" "$C 20000 -t 30 -C"
	finish e
	finish_reflector
	expect_status e 0
	expect "$(grep -Ec '^Spikes come every 50[.]000 ms \(p < 1e-[0-9]+\), [0-9]+ of [0-9]+ in phase' "$work/e.out")" -eq $((1 + self)) \
		'lines with the period in the report of the emitter'
	set_parameters spike_every=0
	start_pair "" "$C 2000 -t 30 -C"
	finish e
	finish_reflector
	expect "$(grep -c '^Spikes come every' "$work/e.out")" -eq "$self" 'lines with a period where there is none'
	verdict
}
slow rhythm 'a spike every 50 ms is found with its period'

# ---- The lab itself -------------------------------------------------------------------------------------------------------------------

run_time_change() {
	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	start_pair '' '--timeout 2000 --count 50000'
	poll has_sent
	for wire in 2000 3000 1500; do
		sleep 0.3
		echo "$wire" >"$parameters/wire_ns"
	done
	sleep 0.3
	stop e
	finish_reflector
	expect_status e 0
	expect "$(awk 'NR > 2 { print $4 }' "$work/e.log" | uniq | tr '\n' ' ')" = \
		"$([ "$self" = 0 ] || echo wrong)7000 9000 11000 8000 " 'round trips'
	verdict
}
run_time_change 'a parameter that changes shows from one packet to the next'

ethtool_agrees() {
	local side

	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	set_nic b '1 12'
	start_pair '--stamp kernel' '--stamp kernel --count 100'
	finish e
	finish_reflector
	for side in a b; do
		{
			at "$side" ethtool -S "${link[$side]}" | sed -n "s/^ *\(\w*: [0-9]*\)$/${index[$side]} \1/p"
			at "$side" hwstamp_ctl -i "${link[$side]}" | sed -n "s/^\(tx_type\|rx_filter\) \([0-9]*\)$/${index[$side]} \1: \2/p"
		} >>"$work/told"
	done
	[ "$self" = 0 ] || echo '0 wrong: 1' >>"$work/told"
	expect "$(sort "$work/told")" = "$(sort "$work/after")" 'what ethtool and hwstamp_ctl say, and the state of simnic'
	expect "${probes[after]}" -eq $((probes[before] + 100)) 'probes that it counted'
	set_nic b '0 0'
	verdict
}
ethtool_agrees 'ethtool -S and hwstamp_ctl tell its state'

clock_reads() {
	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	local ptp before after
	ptp=$(at a ethtool -T sim0 | sed -n 's/.*\(Clock\|Hardware timestamp provider index\): //p' | head -1)
	before=$(phc_ctl "/dev/ptp$ptp" get | sed 's/.*time is \([0-9]*\)\..*/\1/')
	echo '0 100000000000' >"$parameters/step"
	after=$(phc_ctl "/dev/ptp$ptp" get | sed 's/.*time is \([0-9]*\)\..*/\1/')
	expect $((after - before)) -ge $((100 + self * 100)) 'seconds from before the step to after it'
	expect $((after - before)) -le 110 'seconds from before the step to after it'
	expect $((before - $(date +%s))) -le 2 'seconds between the PHC and the time of day'
	phc_ctl "/dev/ptp$ptp" -- adj -100 >"$work/adj.out" || complain 'adjtime'
	phc_ctl "/dev/ptp$ptp" freq 5000 >"$work/freq.out" 2>&1 || complain 'adjfine'
	phc_ctl "/dev/ptp$ptp" freq 0 >>"$work/freq.out" 2>&1 || complain 'adjfine'
	verdict
}
clock_reads 'its clock can be read, stepped and steered'

# shellcheck disable=SC2317 # by poll
has_socket() {
	is_gone "$1" || [ "$(wc -l <"/proc/${pid[$1]}/net/udp")" -gt 1 ]
}

unload() {
	wanted "$1" || return 0
	begin "simnic: $1"
	reset
	ip netns del b
	poll ip link show dev sim1 >"$work/link.out" 2>&1
	set_parameters after_ns=2000000 tx_stamp_delay_us=2000 reorder_every=3
	ip link set sim1 up
	start e a "$RANT" --details -i sim0 -a "${address[b]}" --stamp hardware --timeout 1
	poll has_socket e
	sleep 0.5
	timeout 20 rmmod simnic || complain 'rmmod: status not 0'
	expect "$(at a ip -o link show | grep -c sim)" -eq "$self" 'devices left'
	sleep 0.3
	stop e
	expect_status e 1
	expect_line e.err "^rant[^:]*: interface 'sim0' was deleted during the run"
	ip netns del a
	dmesg | grep -E 'BUG|WARNING|Oops|refcount|leak' >"$work/dmesg.out" && complain 'the kernel complained'
	insmod "$SIMNIC" || complain 'cannot load it again'
	rmmod simnic || complain 'cannot unload it again'
	verdict
}
unload 'a namespace that goes gives its device back, and the module unloads under traffic'
exit "$failed"
