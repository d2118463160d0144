#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Busy sessions get a per-peer socket at the reflector: no packet is lost or counted twice during the assignment.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

pair 'peer sockets: a busy emitter gets a socket' '0 0' "$K -v -s -l LOG" "$K --count 5000 -l LOG" 'r:Peer_sockets -eq 1' \
	'r:No_peer_socket -eq 0' 'e:Recorded -eq 5000' 'e:Lost -eq 0' 'r:Recorded -eq 5001' 'r:Reordered -eq 0' 'r:Duplicate -eq 0' \
	'r:Unstamped -eq 0' 'r:Refused -eq 0' '@log_agrees e T1_KERNEL T4_KERNEL'
pair 'peer sockets: with stamps of user space' '0 0' "$U -v" "$U --count 5000" 'r:Peer_sockets -eq 1' 'e:Recorded -eq 5000' 'r:Recorded -eq 5001'
pair 'peer sockets: a few packets do not make a busy session' '0 0' "$K -v" "$K --count 60" 'r:Peer_sockets -eq 0' 'e:Recorded -eq 60'

emitters_at_once() {
	begin 'peer sockets: each of three emitters at the same time gets a socket' || return 0
	start_reflector r "$K -v -s"
	for one in e e2 e3; do
		start_emitter $one "$K --timeout 5000 --count 3000"
	done
	finish e e2 e3
	terminate r
	for one in e e2 e3; do
		expect_status $one 0
		audit $one
		check "$one:Recorded -eq 3000"
		check "$one:Lost -eq 0"
		check "$one:Foreign -eq 0"
		check "$one:Strays -eq 0"
	done
	audit r
	for one in '@expect_status r 0' 'r:Peer_sockets -eq 3' 'r:Sessions -eq 3' 'r:Reordered -eq 0' 'r:Duplicate -eq 0' 'r:Unstamped -eq 0'; do
		check "$one"
	done
	[ "$(row r Received)" -eq $(($(row e Sent) + $(row e2 Sent) + $(row e3 Sent))) ] || complain 'not all that was sent was received'
	verdict
}
emitters_at_once

counted() { # COUNTER
	inside r nft list counter inet rant "$1" | awk '/packets/ { print $2 }'
}

# Two emitters, the second with a requested class: they share the listening socket until each gets a per-peer socket.
priority_and_class() { # NAME SERVER ip|ip6
	begin "$1" || return 0
	if ! printf '%s\n' 'table inet rant {' 'counter other {' '}' 'counter own {' '}' 'counter asked {' '}' 'chain out {' \
		'type filter hook output priority 0' "udp sport 862 meta priority != 0:7 counter name other" \
		"udp sport 862 $3 dscp cs1 counter name own" "udp sport 862 $3 dscp ef counter name asked" '}' '}' |
		inside r nft -f - 2>"$work/nft.err"; then
		skip "$1" "nft: $(head -1 "$work/nft.err")"
		return
	fi
	start_reflector r "$K -v --priority 7 --dscp CS1"
	server=$2 start_emitter e "$K --timeout 5000 --count 1000 --dscp EF"
	server=$2 start_emitter e2 "$K --timeout 5000 --count 1000"
	finish e e2
	terminate r
	for one in '@expect_status e 0' '@expect_status e2 0' '@expect_status r 0' '@audit e' '@audit e2' '@audit r' 'r:Peer_sockets -eq 2' 'r:Refused -eq 0'; do
		check "$one"
	done
	[ "$(counted other)" -eq 0 ] || complain "$(counted other) replies have another priority"
	[ "$(counted asked)" -ge 1000 ] || complain "only $(counted asked) replies have the requested class"
	[ "$(counted own)" -ge 1000 ] || complain "only $(counted own) replies are of the reflector's own class"
	inside r nft delete table inet rant
	verdict
}
priority_and_class 'peer sockets: replies keep the priority of the reflector in any class' "$ip_r" ip
if add_ipv6 2>"$work/ipv6.err"; then
	poll is_settled
	priority_and_class 'peer sockets: over IPv6' "$ip6_r" ip6
	remove_ipv6
else
	skip 'peer sockets: over IPv6' "no IPv6 here: $(head -1 "$work/ipv6.err")"
fi

# 1,000 senders of a single packet each, at the same time as the measured emitter.
flood_beside_a_measurement() {
	begin 'peer sockets: a flood of others costs a measurement no sample' || return 0
	start_reflector r "$K -v -s"
	start_emitter e "$K --timeout 5000 --count 20000"
	wait_for_packets e e 1000
	start h e "$hostile" emit ports "$ip_r" --count 1000 --for 50
	finish h e
	terminate r
	for one in '@expect_status h 0' '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'r:Peer_sockets -eq 1' \
		'r:Sessions -eq 1002' 'e:Recorded -eq 20000' 'e:Lost -eq 0' 'r:Unstamped -eq 0' 'r:Reordered -eq 0'; do
		check "$one"
	done
	[ "$(row r Received)" -eq $(($(row e Sent) + 1002)) ] || complain 'not all that was sent was received'
	grep -q 'sent=1002 .* exact=1002$' "$work/h.out" || complain "not every packet had an exact answer: $(cat "$work/h.out")"
	verdict
}
flood_beside_a_measurement

# As many as its per-peer sockets: its last file descriptors.
few_descriptors() {
	local highest

	begin 'peer sockets: too few descriptors: sessions are still served, with a warning' || return 0
	start_reflector r "$K -v"
	poll has_lanes r
	highest=$(find "/proc/$(pid_of r)/fd" -lname 'socket:*' -printf '%f\n' | sort -n | tail -n 1)
	terminate r
	as="prlimit --nofile=$((highest - 2))" start_reflector r "$K -v"
	start_emitter e "$K --timeout 5000 --count 2000"
	finish e
	terminate r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'e:Recorded -eq 2000' 'r:Recorded -eq 2001' \
		'r.err ~ ^rant: only [0-7] busy sessions can have a socket of their own, not 8 \(Too many open files\)'; do
		check "$one"
	done
	verdict
}

has_lanes() {
	! is_running "$1" || [ "$(grep -c ":035E .*:0001 " "/proc/$(pid_of "$1")/net/udp")" -eq 8 ]
}
few_descriptors

same_port() {
	begin 'peer sockets: another reflector on the port is refused as before' || return 0
	start_reflector r "$K"
	poll has_lanes r
	alone_r2=$(as='' inside r timeout 20 "$rant" -i "$link_r" --stamp user -d 1 2>&1)
	[[ $alone_r2 == *'port 862: taken by another program on'* ]] || complain "the other printed: $alone_r2"
	start_emitter e "$K --timeout 5000 --count 500"
	finish e
	terminate r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'e:Recorded -eq 500'; do
		check "$one"
	done
	verdict
}
same_port

# Kernel timestamps are of the same clock, and round trips follow each other: finds samples with the timestamp of another packet. LOG
wrong_stamps() {
	awk 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		FNR > 2 && $at["T3_KERNEL"] ~ /[0-9]/ {
			known++
			wrong += $at["T1_KERNEL"] < last || $at["T4_KERNEL"] < $at["T3_KERNEL"] || $at["T3_KERNEL"] < $at["T1_KERNEL"]
			last = $at["T4_KERNEL"] ""
		}
		END { print wrong + 0, known + 0 }' "$1"
}

# A program of the control group refuses as an output firewall does, when the kernel has counted the packet or has not: connected
# sockets of UDP send no ids.
refused_sends() { # SIDE REFUSED
	local as_e='' as_r='' wrong known

	begin "peer sockets: sends that a program of the kernel refuses at side $1: no stamp is another's" || return 0
	if ! make_refuser; then
		skip 'this kernel has no control group programs, or there is no compiler'
		return
	fi
	printf -v "as_$1" %s "$work/refuser"
	as=$as_r start_reflector r "$K -v -s"
	as=$as_e start_emitter e "$K --timeout 200 -d 5 --log-full -l $work/e.log"
	wait_for_packets e e 1000
	echo >&"$refuse"
	finish e
	terminate r
	read -r wrong known < <(wrong_stamps "$work/e.log")
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'r:Peer_sockets -eq 1' \
		"$1:Refused -eq $2" 'e:Transmit -eq 0' 'e:Unmatched -eq 0' 'r:Transmit -eq 0' 'r:Unmatched -eq 0'; do
		check "$one"
	done
	[ "$wrong" -eq 0 ] || complain "$wrong stamps are of another packet"
	[ "$known" -gt 4000 ] || complain "only $known replies have reported their timestamp"
	verdict
}

make_refuser() {
	local tap=$work/tap

	[ ! -x "$work/refuser" ] || return 0
	"${CC:-cc}" -O2 "$(dirname "$0")/../lab/ids.c" -o "$work/ids" 2>/dev/null || return 1
	[ -p "$tap" ] || mkfifo "$tap"
	exec {refuse}<>"$tap"
	inside e "$work/ids" hold 8 true </dev/null 2>/dev/null || return 1
	printf '#!/bin/sh\nexec %s hold 8 "$@" <%s\n' "$work/ids" "$tap" >"$work/refuser"
	chmod +x "$work/refuser"
}
refused_sends e 8
refused_sends r 4 # a busy session's socket tries twice

# T1 is of the time between the call and the answer. LOG
wrong_departures() {
	awk 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		FNR > 2 && $at["T1_KERNEL"] ~ /[0-9]/ { known++; wrong += $at["T1_KERNEL"] < $at["T1_SW"] || $at["T4_KERNEL"] < $at["T1_KERNEL"] }
		END { print wrong + 0, known + 0 }' "$1"
}

# Echoes get their id from rant if the kernel accepts ids; with --stamp-every by an additional message.
refused_echoes() { # KIND GROUPS
	local as=$work/refuser wrong known ids='counted by the kernel'

	begin "peer sockets: echoes of a $1 socket that a program of the kernel refuses" || return 0
	if ! make_refuser; then
		skip 'this kernel has no control group programs, or there is no compiler'
		return
	fi
	[ "$(printf '%s\n' 6.13 "$(uname -r)" | sort -V | head -1)" != 6.13 ] || ids='by message'
	inside e sh -c "echo '$2' >/proc/sys/net/ipv4/ping_group_range"
	start_emitter e "--transport icmp -v $K --timeout 5000 --interval 500us --stamp-every 3 --count 1800 -s -l $work/e.log --json $work/e.json"
	wait_for_packets e e 200
	echo >&"$refuse"
	finish e
	inside e sh -c "echo '1 0' >/proc/sys/net/ipv4/ping_group_range"
	for one in '@expect_status e 0' '@audit e' 'e:Refused -eq 8' 'e:Transmit -eq 0' 'e:Unmatched -eq 0' "e.err ~ $1 socket"; do
		check "$one"
	done
	grep -qF "\"stamp_ids\": \"$ids\"" "$work/e.json" || complain "ids are not $ids: $(grep stamp_ids "$work/e.json")"
	read -r wrong known < <(wrong_departures "$work/e.log")
	[ "$wrong" -eq 0 ] || complain "$wrong stamps are of another packet"
	[ "$known" -ge 590 ] || complain "only $known probes have a stamp"
	verdict
}
refused_echoes raw '1 0'
refused_echoes ping '0 2147483647'
