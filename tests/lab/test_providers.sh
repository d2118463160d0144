#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow new
#
# The providers of timestamps of a kernel that has them (Linux 6.14), on the simulated NIC with a PHY: which are listed, --provider, the
# one that was selected before and its setting after each kind of end, and the verdict where another program selects another one in
# mid-run. provider.c reads and selects without the code of rant.
#
#   ONLY=REGEX  only the tests whose name matches
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - providers # SKIP the module of the simulated NIC was not built"
	exit 0
fi
simnic_options=phy=1
GUARD_S=60 # the whole takes less
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

wanted() {
	[[ $1 =~ ${ONLY:-.} ]] || return 1
	begin "providers: $1"
}

clock_of() { # NAME
	basename "$(dirname "$(grep -lx "$1" /sys/class/ptp/ptp*/clock_name)")" | tr -dc 0-9
}

find_clocks() {
	local side

	for side in a b; do
		mac[$side]=$(clock_of "${link[$side]}")
		phy[$side]=$(clock_of "phy${link[$side]#sim}")
	done
}

selected() { # SIDE: "CLOCK QUALIFIER"
	at "$1" "$HELPERS/provider" "${link[$1]}"
}

choose() { # SIDE CLOCK QUALIFIER
	at "$1" "$HELPERS/provider" "${link[$1]}" "$2" "$3" || complain "cannot select clock $2"
}

# expect_as_before CLOCK SETTING: of the emitter's NIC.
expect_as_before() {
	expect "$(selected a)" = "$1 0" 'selected provider after'
	expect "$(setting_of a)" = "$2" 'setting of it after'
}

# shellcheck disable=SC2317 # by poll
is_open() { # NAME: its socket for PTP messages, of either transport
	is_gone "$1" || [[ $(<"/proc/${pid[$1]}/net/udp") == *:013F\ * ]] || [[ $(<"/proc/${pid[$1]}/net/packet") == *\ 88f7\ * ]]
}

# start_ptp "E ARGUMENTS" [TRANSPORT [VLAN]]: PTP messages, which a PHY timestamps.
start_ptp() {
	local server=${address[b]}
	local -a words

	[ -z "${3:-}" ] || server=10.79.0.2
	[ "${2:-ptp}" = ptp ] || server=$(mac_of b)
	read -ra words <<<"$1"
	start r b taskset -c 1 "$RANT" --details -i "sim1${3:-}" --stamp hardware --transport "${2:-ptp}" --provider phy
	poll is_open r
	start e a taskset -c 0 "$RANT" --details -i "sim0${3:-}" -a "$server" --stamp hardware --transport "${2:-ptp}" --timeout 2000 "${words[@]}"
}

# shellcheck disable=SC2317 # by poll
is_selected() { # SIDE CLOCK
	is_gone e || [ "$(selected "$1")" = "$2 0" ]
}

declare -A mac=() phy=()
find_clocks
# The index of a PHY is counted by the kernel.
phy_a="PHY [0-9]+, /dev/ptp${phy[a]}, precise" mac_a="MAC, /dev/ptp${mac[a]}, precise"

if wanted 'all are listed, and nothing is changed'; then
	start x a "$RANT" --check -i sim0
	finish x
	expect_status x 0
	expect_line x.out "^ok    provider: $mac_a \\(ethtool TSINFO\\)\$"
	expect_line x.out "^note  provider: not selected: $phy_a \\(ethtool TSINFO\\): .*: rant --provider phy\$"
	expect_line x.out "^note  provider: not selected: MAC, /dev/ptp${mac[a]}, approx \\(ethtool TSINFO\\)"
	expect "$(grep -c ' provider: ' "$work/x.out")" -eq 3 'providers'
	expect_as_before "${mac[a]}" '0 0'
	verdict
fi

# Nothing was selected until now.
if wanted 'a MAC without timestamps'; then
	set_parameters has_phc=N
	start x a "$RANT" -i sim0 -a "${address[b]}" --stamp hardware --transport ptp --provider phy
	finish x
	set_parameters has_phc=Y
	expect_status x 1
	expect "$(wc -l <"$work/x.err")" -eq 1 'lines on stderr'
	expect_line x.err "select the PHY with 'ethtool --set-hwtimestamp-cfg sim0 index ${phy[a]} qualifier precise', and leave out"
	expect_as_before "${mac[a]}" '0 0'
	verdict
fi

if wanted 'the PHY timestamps'; then
	set_nic=$(at a hwstamp_ctl -i sim0 -t 1 -r 1 2>&1) || complain "$set_nic"
	start_ptp "--provider phy --log $work/e.log --count 300"
	poll is_selected a "${phy[a]}"
	finish e
	stop r
	expect_status e 0
	expect_status r 0
	expect "$(row e Recorded)" -eq 300 recorded
	expect_line e.err "warning: the MAC of interface 'sim0' is set to stamp packets for another program"
	expect_line e.out "^  Provider      : $phy_a\$"
	expect_line r.out "^  Provider      : PHY [0-9]+, /dev/ptp${phy[b]}, precise\$"
	# Its clock is a million seconds ahead of the one of the MAC, which the test of the time of day of both has.
	expect "$(awk -v now="$EPOCHSECONDS" 'NR > 2 { split($2, t, "."); ahead = t[1] - now - 37; if (ahead > 999000 && ahead < 1001000) n++ }
		END { print n + 0 }' "$work/e.log")" -eq 300 'transmit timestamps of the PHY'
	expect_as_before "${mac[a]}" '1 1'
	expect "$(selected b)" = "${mac[b]} 0" 'selected provider of the reflector after'
	at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
	verdict
fi

# What the reflector reports of its PHY is in the eight stamps, too.
if wanted 'the PHY timestamps, on Ethernet, with all stages'; then
	start_ptp "--provider phy -s --stages full --log-full --log $work/e.log --count 100" l2
	finish e
	stop r
	expect_status e 0
	expect "$(row e Recorded)" -eq 100 recorded
	expect "$(row e Complete)" -eq 100 'complete stamps'
	expect "$(grep -c '^  Provider      : PHY ' "$work/e.out")" -eq 1 'lines of the provider'
	expect_as_before "${mac[a]}" '0 0'
	verdict
fi

if wanted 'the PHY below a VLAN timestamps'; then
	modprobe 8021q
	for side in a b; do
		at "$side" ip link add link "${link[$side]}" name "${link[$side]}.5" type vlan id 5
		at "$side" ip link set "${link[$side]}.5" up
	done
	at a ip address add 10.79.0.1/24 dev sim0.5
	at b ip address add 10.79.0.2/24 dev sim1.5
	start_ptp '--provider phy --count 50' ptp .5
	finish e
	stop r
	expect_status e 0
	expect "$(row e Recorded)" -eq 50 recorded
	expect_line e.out "^  Provider      : $phy_a\$"
	expect_as_before "${mac[a]}" '0 0'
	at a ip link del sim0.5
	at b ip link del sim1.5
	verdict
fi

if wanted 'two rants of a NIC: the last one selects the former provider'; then
	at a hwstamp_ctl -i sim0 -t 0 -r 1 >/dev/null
	start_ptp '--provider phy'
	poll is_selected a "${phy[a]}"
	start f a "$RANT" --details -i sim0 --stamp hardware --transport l2
	poll is_open f
	pause 1
	start x a "$RANT" -i sim0 -a "${address[b]}" --stamp hardware --provider mac --count 10
	finish x
	stop e
	stop r
	expect "$(selected a)" = "${phy[a]} 0" 'provider while another rant uses it'
	stop f
	expect_status f 0
	expect_line f.out "^  Provider      : $phy_a\$"
	expect_status x 1
	expect_line x.err "another rant uses timestamps of interface 'sim0' by another device than the MAC"
	expect_as_before "${mac[a]}" '0 1'
	at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
	verdict
fi

for end in INT 'STOP INT TERM CONT'; do
	wanted "the former one after SIG${end// /, SIG}" || continue
	at a hwstamp_ctl -i sim0 -t 1 -r 12 >/dev/null
	start_ptp '--provider phy'
	poll is_selected a "${phy[a]}"
	wait_for_packets 100
	expect "$(selected a)" = "${phy[a]} 0" 'selected provider during the run'
	for signal in $end; do
		kill "-$signal" "${pid[e]}"
	done
	finish e
	stop r
	[[ $end == *CONT ]] || expect_status e 0
	expect_as_before "${mac[a]}" '1 12'
	at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
	verdict
done

if wanted 'the former one after an error at the start'; then
	at a hwstamp_ctl -i sim0 -t 0 -r 1 >/dev/null
	start x a "$RANT" -i sim0 -a "${address[b]}" --stamp hardware --provider phy --count 10
	finish x
	expect_status x 1
	expect "$(wc -l <"$work/x.err")" -eq 1 'lines on stderr'
	expect_line x.err "stamps PTP event packets only, its filters are: none ptpv2-event: use --transport ptp at both ends"
	expect_as_before "${mac[a]}" '0 1'
	at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
	verdict
fi

if wanted 'no privilege to select'; then
	start x a setpriv --reuid=65534 --clear-groups "$RANT" -i sim0 -a "${address[b]}" --stamp hardware --transport ptp --provider phy
	finish x
	expect_status x 1
	expect "$(wc -l <"$work/x.err")" -eq 1 'lines on stderr'
	expect_line x.err "^rant: selecting the PHY of interface 'sim0' for timestamps needs CAP_NET_ADMIN: "
	expect_as_before "${mac[a]}" '0 0'
	verdict
fi

# by_mac "E ARGUMENTS": the PHY is selected, and set. Without --count until SIGINT.
by_mac() {
	at a hwstamp_ctl -i sim0 -t 1 -r 12 >/dev/null
	start_both '' "--provider mac $1"
	poll is_selected a "${mac[a]}"
	[[ $1 == *--count* ]] || { wait_for_packets 100 && kill -INT "${pid[e]}"; }
	finish e
	stop r
	expect_status e 0
	expect_line e.err "warning: the PHY of interface 'sim0' is set to stamp packets for another program"
	expect_line e.out "^  Provider      : $mac_a\$"
	expect_as_before "${phy[a]}" '1 12'
	at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
	choose a "${mac[a]}" 0
}

if wanted 'the MAC, where the PHY was selected, until SIGINT'; then
	choose a "${phy[a]}" 0
	by_mac ''
	verdict
fi

if wanted 'a NIC without a PHY'; then
	ip link set eth0 up
	ip address add 10.77.0.1/24 dev eth0
	"$RANT" --check -i eth0 --provider phy --transport ptp >"$work/check.out" 2>"$work/check.err"
	expect "$?" -eq 1 'exit status of --check'
	expect_line check.out '^fail  provider: no PHY that timestamps packets \(ethtool TSINFO\): rant will not start: leave out --provider$'
	"$RANT" -i eth0 -a 10.77.0.2 --stamp hardware --transport ptp --provider phy >"$work/x.out" 2>"$work/x.err"
	expect "$?" -eq 1 'exit status'
	expect "$(wc -l <"$work/x.err")" -eq 1 'lines on stderr'
	expect_line x.err "interface 'eth0' reports no PHY that timestamps packets; it reports: MAC, /dev/ptp[0-9]+, precise: leave out --provider\$"
	ip address flush dev eth0
	verdict
fi

if wanted 'another program selects the PHY in mid-run'; then
	start_both '' '--timeout 50'
	wait_for_packets 200
	choose a "${phy[a]}" 0
	wait_for_packets 20
	kill -INT "${pid[e]}"
	finish e
	stop r
	expect_status e 3
	expect_line e.out "^Measurement: void: .*the timestamp provider changed \\(1 time: from $mac_a to $phy_a\\)"
	expect_line e.out "^  Provider      : $mac_a, changed to $phy_a\$"
	expect_as_before "${phy[a]}" '0 0'
	choose a "${mac[a]}" 0
	verdict
fi

if wanted 'another program selects the MAC while --provider phy measures'; then
	start_ptp '--provider phy --timeout 50'
	poll is_selected a "${phy[a]}"
	wait_for_packets 200
	choose a "${mac[a]}" 0
	at a hwstamp_ctl -i sim0 -t 1 -r 1 >/dev/null
	wait_for_packets 20
	kill -INT "${pid[e]}"
	finish e
	stop r
	expect_status e 3
	expect_line e.out "^Measurement: void: .*the timestamp provider changed \\(1 time: from $phy_a to $mac_a\\)"
	expect_as_before "${mac[a]}" '1 1'
	at a hwstamp_ctl -i sim0 -t 0 -r 0 >/dev/null
	verdict
fi

together
rmmod simnic || echo 'not ok - providers: the module with PHYs is removed'

# With no selection of a program the kernel takes the PHY.
insmod "$SIMNIC" phy=2 period_ns=0 live=Y
apart sim0 sim1
find_clocks
phy_a="PHY [0-9]+, /dev/ptp${phy[a]}, precise" mac_a="MAC, /dev/ptp${mac[a]}, precise"

if wanted 'the PHY by default'; then
	start x a "$RANT" --check -i sim0
	finish x
	expect_line x.out "^ok    provider: $phy_a \\(ethtool TSINFO\\)\$"
	expect_line x.out "^note  provider: not selected: $mac_a \\(ethtool TSINFO\\): .*: rant --provider mac\$"
	choose b "${mac[b]}" 0
	by_mac '--count 100'
	verdict
fi
exit "$failed"
