#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64 old
#
# Ids of transmit stamps on kernels that count them by themselves: which refused packets they count, and what rant makes of that, with
# stamps of the kernel and of the simulated NIC. A program of the control group refuses packets as an output firewall does: after they
# were counted.
#
# Functions are called by the name of the stamps, too.
# shellcheck disable=SC2317
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

ip link add v0 type veth peer name v1
apart v0 v1

# ---- What the kernel counts --------------------------------------------------------------------------------------------

# told NAME WANT ADDRESS OCTETS [BUFFER]: WANT is an errno, or "sent". What it took is printed, and may be 0 or 1.
told() {
	local name="ids: $1" want=$2 got taken true

	begin "$name"
	shift 2
	read -r got taken true < <(at a "$HELPERS/ids" tell "$@" 2>"$work/told.err")
	expect "$got" = "$want" 'what became of it'
	[[ $taken == [01] ]] || complain "it took $taken ids"
	expect "$true" = true 'the id that was told is that of the stamp'
	echo "# $name: $got, $taken ids"
	verdict
}

at a ip route add prohibit 10.9.0.1
at a ip route add unreachable 10.9.0.2
at a ip route add blackhole 10.9.0.3
at a ip route add 10.9.0.4 via "${address[b]}" dev v0 mtu 600
told 'nothing is refused' sent "${address[b]}" 50
told 'prohibited' EACCES 10.9.0.1 50
told 'unreachable' EHOSTUNREACH 10.9.0.2 50
told 'a black hole' EINVAL 10.9.0.3 50
told 'no route' ENETUNREACH 192.0.2.1 50
told 'a broadcast' EACCES 10.78.0.255 50
told 'more than the MTU of the path' EMSGSIZE 10.9.0.4 1400
told 'more than UDP carries' EMSGSIZE "${address[b]}" 65000
told 'no room in the send buffer' EAGAIN 10.78.0.77 1400 1

# ---- What rant makes of it ---------------------------------------------------------------------------------------------

tap=$work.tap
mkfifo "$tap"
exec {refuse}<>"$tap"

# held NAME SIDE COMMAND...: as start(), and "echo >&$refuse" makes its next 8 packets be refused.
held() {
	local name=$1 side=$2

	shift 2
	# shellcheck disable=SC2016 # for the inner shell
	start "$name" "$side" bash -c 'tap=$1; shift; exec "$0" hold 8 "$@" <"$tap"' "$HELPERS/ids" "$tap" "$@"
}

# Stamps of the kernel are of one clock, and the replies go one after the other: each was stamped after the one before it arrived, and
# before it arrived itself. Whoever has the stamp of another is found here. LOG...
wrong_kernel_stamps() {
	awk 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		FNR > 2 && $at["T3_KERNEL"] ~ /[0-9]/ && $at["T4_KERNEL"] ~ /[0-9]/ { print $at["T4_KERNEL"], $at["T3_KERNEL"] }' "$@" |
		sort | awk '$2 > $1 || $2 < last { wrong++ } { last = $1 "" } END { print wrong + 0, NR }'
}

# The simulated NICs have one clock, and each packet is on the wire for 1000 ns. LOG...
wrong_hardware_stamps() {
	awk 'function apart(late, early, p, q) { split($at[late], p, "."); split($at[early], q, "."); return (p[1] - q[1]) * 1e9 + p[2] - q[2] }
		FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		FNR > 2 && $at["T2_HW"] ~ /[0-9]/ && $at["T3_HW"] ~ /[0-9]/ {
			known++; wrong += apart("T2_HW", "T1_HW") != 1000 || apart("T4_HW", "T3_HW") != 1000 }
		END { print wrong + 0, known + 0 }' "$@"
}

# How late stamps are, in us. The probe after a reply is late too, so that the stamp of the reply is known by then, also on a busy machine.
late_kernel_stamps() {
	at b tc qdisc replace dev v1 root netem limit 10000 delay "$1us"
	at a tc qdisc replace dev v0 root netem limit 10000 delay 4ms
}

late_hardware_stamps() {
	echo "$1" >"$parameters/tx_stamp_delay_us"
	echo 4000000 >"$parameters/after_ns"
}

has_sent() {
	[ "$(sent_by a)" -ge $((sent + $1)) ]
}

# refused NAME STAMPS SIDE EMITTERS US: 8 packets of that side are refused in the middle; how late stamps are.
refused() {
	local i wrong known sent stamps=$2 side=$3 emitters=$4
	local -a r=("$RANT" --details -i "${link[b]}" --stamp "$stamps" --timeout 10000) e

	begin "ids: $1"
	"late_${stamps}_stamps" "$5"
	if [ "$side" = b ]; then held r b "${r[@]}"; else start r b "${r[@]}"; fi
	poll has_port r
	sent=$(sent_by a)
	for ((i = 1; i <= emitters; i++)); do
		e=("$RANT" --details -i "${link[a]}" -a "${address[b]}" --stamp "$stamps" --log-full --log "$work/e$i.log" --timeout 500 --count 400)
		if [ "$side" = a ]; then held "e$i" a "${e[@]}"; else start "e$i" a "${e[@]}"; fi
	done
	poll has_sent 60
	echo >&"$refuse"
	for ((i = 1; i <= emitters; i++)); do
		finish "e$i"
		expect_status "e$i" 0
		expect_balance "e$i"
		expect "$(row "e$i" Transmit)" -eq 0 "missing stamps of e$i"
		expect "$(row "e$i" Unmatched)" -eq 0 "stamps of e$i that no packet has"
	done
	stop r
	expect_balance r
	expect "$(row r Transmit)" -eq 0 'missing stamps of the reflector'
	expect "$(row r Unmatched)" -eq 0 'stamps of the reflector that no packet has'
	if [ "$side" = b ]; then
		expect "$(row r Refused)" -eq 8 'refused'
		expect "$(row r Unanswered)" -eq 8 'unanswered'
	else
		expect "$(row e1 Refused)" -eq 8 'refused'
	fi
	expect "$(row r Recorded)" -eq "$(row r Sent)" 'recorded by the reflector'
	read -r wrong known < <("wrong_${stamps}_stamps" "$work"/e?.log)
	expect "$wrong" -eq 0 'stamps of another packet'
	expect "$known" -gt $((200 * emitters)) 'stamps that were held against the arrival'
	echo "# $1: $known stamps, $wrong wrong"
	verdict
}

refused 'eight replies to three emitters, late stamps' kernel b 3 3000
refused 'eight replies to one emitter' kernel b 1 1000
refused 'eight probes' kernel a 1 1000
together

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - ids: stamps of a NIC # SKIP the module of the simulated NIC was not built"
	exit "$failed"
fi
parameters=/sys/module/simnic/parameters
insmod "$SIMNIC" period_ns=0 live=Y wire_ns=1000 wire_back_ns=1000 response_ns=0
apart sim0 sim1
refused 'eight replies to three emitters, late stamps of a NIC' hardware b 3 3000
refused 'eight replies to one emitter, stamps of a NIC' hardware b 1 0
refused 'eight probes, late stamps of a NIC' hardware a 1 3000

together
rmmod simnic
exit "$failed"
