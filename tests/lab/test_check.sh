#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# rant --check on the real driver igb and on the simulated NIC: the lines that must be there, that nothing is sent and no
# setting changed. ONLY=REGEX: only the tests whose name matches.
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

# doctor NAME STATUS SIDE "WORDS BEFORE" "ARGUMENTS" REGEX...: one line of stdout matches each, none that of "! REGEX".
doctor() {
	local name=$1 want=$2 side=$3 sent setting regex
	local -a before arguments

	read -ra before <<<"$4"
	read -ra arguments <<<"$5"
	shift 5
	[[ $name =~ ${ONLY:-.} ]] || return 0
	begin "doctor: $name"
	sent=$(sent_by "$side") setting=$(setting_of "$side")
	start x "$side" "${before[@]}" "$RANT" --check -i "${link[$side]}" "${arguments[@]}"
	finish x
	expect_status x "$want"
	expect "$(wc -c <"$work/x.err")" -eq 0 'octets on stderr'
	[ -n "${noisy:-}" ] || expect "$(sent_by "$side")" -eq "$sent" 'packets sent'
	expect "$(setting_of "$side")" = "$setting" 'setting after'
	expect "$(grep -Ec '^(ok  |note|warn|fail)  [A-Za-z_ ]+: .*\([^()]+\)' "$work/x.out")" -eq \
		"$(grep -Evc '^$|^[A-Za-z]+:$|^[0-9]+ ok, ' "$work/x.out")" 'findings with a source, findings'
	for regex in "$@"; do
		case $regex in
		'! '*) ! grep -Eq -- "${regex#! }" "$work/x.out" || complain "a line matches: ${regex#! }" ;;
		*) expect_line x.out "$regex" ;;
		esac
	done
	verdict
}

# The run itself is refused too.
refused() {
	[[ $1 =~ ${ONLY:-.} ]] || return 0
	begin "doctor: $1: nor does rant start"
	start x a "$RANT" --details -i "${link[a]}" --duration 1
	finish x
	expect_status x 1
	expect "$(wc -l <"$work/x.err")" -eq 1 'lines on stderr'
	expect "$(wc -c <"$work/x.out")" -eq 0 'octets on stdout'
	verdict
}

threads=$([ "$FLAVOUR" = rt ] && echo yes)
ready='(interrupt context, above every process|thread of interrupt [0-9]+ has SCHED_FIFO 50, this process)'

# ---- igb -------------------------------------------------------------------------------------------------------------

apart eth0 eth1
at a hwstamp_ctl -i eth0 -t 0 -r 0 >/dev/null
filters='none ptpv1-l4-sync ptpv1-l4-delay-req ptpv2-event'
source='ETHTOOL_GDRVINFO; sources of Linux 7.3'
doctor 'igb' 1 a 'taskset -c 0' '' \
	"^fail  stamps: 'igb' timestamps only PTP packets on receipt, filters: $filters \\(ethtool TSINFO; $source\\): .*: rant --transport ptp at both ends, or rant --stamp kernel$" \
	"^ok    stamp setting: transmit 'off', filter 'none' \\(SIOCGHWTSTAMP\\)$" \
	'^ok    users: no other program uses timestamps or clock of this NIC' \
	"^ok    driver: 'igb' delivers transmit timestamps by a kworker on the sending CPU \\($source\\)$" \
	"^note  driver: one transmit timestamp at a time \\($source\\): .*ptp4l" \
	'^ok    link: up, with a carrier' '^ok    speed: 1000 Mb/s, duplex full, a probe takes 880 ns' \
	'^warn  coalescing: rx-usecs 3, with which this driver adapts the delay .*: ethtool -C eth0 rx-usecs 0$' \
	'^ok    rings: rx 256, tx 256 \(ETHTOOL_GRINGPARAM\)$' '^note  offloads: gro and tso on ' \
	'^ok    NIC clock: runs; a reading takes [0-9]+ ns \(median of 101\), resolution [0-9]+ ns \(/dev/ptp0, measured now\)$' \
	"^(ok|warn) +NIC interrupts: [0-9]+ of the NIC .*on CPU [0-9,-]+, this process on 0 \\(effective_affinity_list" \
	"^ok    interrupt priority: .*$ready" \
	'^ok    NUMA: .*\(/sys/bus/pci/devices/[0-9a-f:.]+/numa_node\)$' '^ok    placement: only on CPU 0 ' \
	'^(ok|note|warn) +largest gap: [0-9.]+ us .*\(measured now, by this process, SCHED_OTHER on CPU 0\)' \
	'^ok    tracefs: mounted, tracing is off, with snapshots ' ', 1 failure$'
doctor 'igb with kernel stamps' 0 a '' '--stamp kernel' '^ok    stamps: no hardware timestamps are requested' ', 0 failures$' \
	"^ok    driver: 'igb', no hardware timestamps in use" '^warn  placement: may run on CPU 0-1 '
doctor 'igb with a real-time spinner' 1 a 'chrt -f 20 taskset -c 1' '' \
	"^warn  driver: 'igb' delivers .* by a kworker on the sending CPU, and this process has SCHED_FIFO 20 .*: run without chrt$" \
	'^ok    scheduling: SCHED_FIFO 20'
# Other rings take the link down for a moment: three times in a row means that it is back.
# shellcheck disable=SC2317 # by poll
link_is_back() {
	local _

	for _ in 1 2 3; do
		at a ethtool eth0 | grep -q 'Link detected: yes' || return 1
		sleep 0.3
	done
}

at a ethtool -C eth0 rx-usecs 50
at a ethtool -G eth0 rx 1024
sleep 1
poll link_is_back
doctor 'igb with other settings' 0 a '' '--stamp kernel' \
	'^warn  coalescing: rx-usecs 50: interrupts are up to 50 us late .*: a narrow peak' \
	'^note  rings: rx 1024, tx 256 '
at a ethtool -C eth0 rx-usecs 0
at a ethtool -G eth0 rx 256
sleep 1
poll link_is_back
doctor 'igb without coalescing' 0 a '' '--stamp kernel' '^ok    coalescing: receive off '

# It sends, and sets the NIC at its start: a moment is given for that.
start ptp a ptp4l -i eth0 -2 -m
sleep 2
noisy=1 doctor 'igb with ptp4l' 1 a '' '' \
	"^warn  users: ptp4l \\(${pid[ptp]}\\) names this interface \\(comm, cmdline and fd in /proc\\): .*: stop it" \
	'^warn  driver: one transmit timestamp at a time '
stop ptp
at a hwstamp_ctl -i eth0 -t 0 -r 0 >/dev/null
start clock a tail -f /dev/ptp0
sleep 0.5
doctor 'igb with its clock held by another program' 1 a '' '' "^note  users: tail \\(${pid[clock]}\\) holds its clock open"
stop clock

if [ -n "$threads" ]; then
	for priority in 50 60 99; do
		doctor "igb threads that a loop of priority $priority would starve" 1 a "chrt -f $priority taskset -c 0" '' \
			"^(warn|note)  interrupt priority: thread of interrupt [0-9]+ has SCHED_FIFO 50, this process SCHED_FIFO $priority .*: chrt -f 22 rant [.][.][.]\$" \
			'^ok    preemption: PREEMPT_RT '
	done
	# Its interrupts go where the loop is.
	doctor 'igb threads on all CPUs of the loop' 1 a 'chrt -f 99' '' '^warn  interrupt priority: .*: chrt -f 22 rant [.][.][.]$'
	doctor 'igb threads above the loop' 1 a 'chrt -f 49' '' '^ok    interrupt priority: '
else
	doctor 'not a real-time kernel' 0 a '' '--stamp kernel' '^note  preemption: (PREEMPT_DYNAMIC|not PREEMPT_RT) '
fi
at a ip link set eth0 down
doctor 'igb down' 1 a '' '--stamp kernel' '^fail  link: down \(SIOCGIFFLAGS\): rant cannot send packets: ip link set eth0 up$'
at a ip link set eth0 up
together

# ---- The simulated NIC -----------------------------------------------------------------------------------------------

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - doctor: the simulated NIC # SKIP its module was not built"
	exit "$failed"
fi
parameters=/sys/module/simnic/parameters
insmod "$SIMNIC" || {
	echo "not ok - doctor: the module of the simulated NIC loads"
	exit 1
}
apart sim0 sim1
at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
doctor 'simulated NIC' 0 a '' '' \
	"^ok    stamps: hardware transmit, and receive with filter 'all' \\(ethtool TSINFO\\)$" \
	"^ok    stamp setting: transmit 'off', filter 'none': rant sets it for the run and restores it" \
	'! ^[a-z]+ +driver: ' '^ok    link: up' '^ok    speed: 1000 Mb/s' \
	'^ok    NIC clock: runs; a reading takes [0-9]+ ns .*\(/dev/ptp[0-9]+, measured now\)$' \
	'^note  NIC interrupts: unknown, ' '^note  NUMA: unknown, ' \
	'^ok    coalescing: receive off \(ETHTOOL_GCOALESCE\)$' ', 0 failures$'
at a hwstamp_ctl -i sim0 -t 1 -r 1 >/dev/null
doctor 'simulated NIC, set' 0 a '' '' "^ok    stamp setting: transmit 'on', filter 'all' "
doctor 'simulated NIC, no privilege is needed where it is set' 0 a 'setpriv --reuid=65534 --clear-groups' '' \
	"^ok    stamp setting: transmit 'on', filter 'all' " '^warn  NIC clock: cannot be read: Permission denied \(/dev/ptp[0-9]+\)' \
	'^warn  memory lock: [0-9]+ kB may be locked '
at a hwstamp_ctl -i sim0 -t 1 -r 0 >/dev/null
doctor 'simulated NIC, set by somebody' 0 a '' '' "^note  stamp setting: transmit 'on', filter 'none' .*: another program has set it"
doctor 'simulated NIC, a setting that cannot be changed' 1 a 'setpriv --reuid=65534 --clear-groups' '' \
	"^fail  stamp setting: transmit 'on', filter 'none' .*: the change needs CAP_NET_ADMIN: sudo hwstamp_ctl -i sim0 -t 1 -r 1$"
echo N >"$parameters/filter_all"
doctor 'simulated NIC, PTP only' 1 a '' '' \
	"^fail  stamps: filter 'all' is not listed, only: none ptpv2-event .*: rant will not start .*: rant --transport ptp at both ends, or rant --stamp kernel" ', 1 failure$'
refused 'simulated NIC, PTP only'
echo Y >"$parameters/filter_all"
echo 50000000,0 >"$parameters/drift_ppb"
doctor 'simulated NIC, a clock that is 5 % too fast' 1 a '' '' '^fail  NIC clock: advanced [0-9]+ ns while the system clock advanced '
echo -1000000000,0 >"$parameters/drift_ppb"
doctor 'simulated NIC, a clock that stands still' 1 a '' '' '^fail  NIC clock: stands still \(/dev/ptp'
echo 0,0 >"$parameters/drift_ppb"
# 101 readings are wanted, of which as many may be refused.
echo 3 >"$parameters/read_error_every"
doctor 'simulated NIC, a clock of which every third reading is refused' 0 a '' '' \
	'^warn  NIC clock: busy, refused 5[01] of 15[12] readings: Device or resource busy \(/dev/ptp[0-9]+\): .*fuser -v /dev/ptp[0-9]+' \
	'^ok    NIC clock: runs; a reading takes [0-9]+ ns \(median of 101\)'
echo 1 >"$parameters/read_error_every"
for error in '16 Device or resource busy' '11 Resource temporarily unavailable' '110 Connection timed out'; do
	echo "${error%% *}" >"$parameters/read_error"
	doctor "simulated NIC, a clock that refuses all readings, errno ${error%% *}" 0 a '' '' \
		"^warn  NIC clock: busy, refused 101 of 101 readings: ${error#* } " '! ^ok    NIC clock: ' '! NIC clock: cannot be read'
done
echo 5 >"$parameters/read_error"
doctor 'simulated NIC, a clock whose readings fail' 0 a '' '' '^warn  NIC clock: cannot be read: Input/output error \(/dev/ptp[0-9]+\)' \
	'! NIC clock: busy'
echo 0 >"$parameters/read_error_every"
echo 16 >"$parameters/read_error"
echo N >"$parameters/has_phc"
doctor 'simulated NIC, no clock' 1 a '' '' '^fail  stamps: no hardware clock ' '^note  NIC clock: the NIC has no clock '
refused 'simulated NIC, no clock'
doctor 'simulated NIC, no clock, kernel stamps' 0 a '' '--stamp kernel' '^ok    stamps: '
together
rmmod simnic
exit "$failed"
