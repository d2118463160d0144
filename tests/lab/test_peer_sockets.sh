#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64 old
#
# Two emitters at once, each on a simulated NIC of its own, and a reflector that gives their sessions sockets of their own: all that both
# emitters and the reflector print is compared with the truth (simnic/truth_eight.py), before, while and after the sessions are handed
# over. Then some of it where only one session gets such a socket, and where there are too few descriptors for any.
#
#   ONLY, SELF  see test_eight.sh
#
# A session is handed over with its 128th request or, the guest being slow, with a later multiple of 64: what strikes then goes on.
# Text in single quotes is for truth_eight.py.
# shellcheck disable=SC2016
set -uo pipefail

on_old='^all faults at once$' # the ids of stamps, which the kernel counts for each socket
family=lanes truth=simnic/truth_eight.py
emitter_options=(--log-full)
devices=3
# shellcheck source=tests/lab/simnic.sh
. "$(dirname "${BASH_SOURCE[0]}")/simnic.sh"

link[c]=sim2
settle c
acquaint b c

# Two exchanges of one number differ in all times of the wire.
APART='third_ns=40000 vary_steps=997 phc_offset_ns=5000000000,-7000000000,11000000000'

# compare_one NAME DEVICE EXPECTATION...: one of the two emitters, which has the files of e.
compare_one() {
	test_name="$family: $1"
	told[EMITTER]=$2
	shift 2
	compare "${expected[@]}" "$@"
}

# shellcheck disable=SC2317 # by poll
have_begun() {
	local device sent before

	take_counters now
	for device in 0 2; do
		sent=$(sed -n "s/^$device stamp_probes_sent: //p" "$work/now")
		before=$(sed -n "s/^$device stamp_probes_sent: //p" "$work/before")
		[ "$sent" -gt "$before" ] || return 1
	done
}

# So many sockets of sessions are open, and nobody's yet. What comes while one is bound and not yet that is dropped.
# shellcheck disable=SC2317 # by poll
has_lanes() {
	has_port r && { is_gone r || [ "$(grep -c ':035E .*:0001 ' "/proc/${pid[r]}/net/udp")" -eq "$lanes" ]; }
}
is_ready=has_lanes lanes=8

# two NAME "PARAMETERS" "R_ARGUMENTS" "E_ARGUMENTS" EXPECTATION...: of each emitter. FIRST: more arguments of the first one. Where
# nothing is lost the reflector waits for both.
two() {
	local name=$suffix$1 file
	local -a words

	wanted "$name" || return 0
	begin "$family: $name"
	reset
	read -rd '' -a words <<<"$APART $2"
	set_parameters "${words[@]}"
	start_pair "-v $3" "$4 ${FIRST:-}"
	[[ $4 != "$C"* ]] || kill -STOP "${pid[r]}"
	read -ra words <<<"$4"
	start f c taskset -c 0 "$RANT" --details -i sim2 -a "${address[b]}" --stamp hardware --no-step-check --log "$work/f.log" \
		"${emitter_options[@]}" "${words[@]}"
	[[ $4 != "$C"* ]] || poll have_begun
	kill -CONT "${pid[r]}"
	finish e f
	finish_reflector
	for file in e f r; do
		expect_status "$file" 0
	done
	[ -z "$told_of_lanes" ] || expect_line r.err "$told_of_lanes"
	shift 4
	compare_one "$name: the first" 0 'beside > 100' 'r["Sessions"] == 2' "$@"
	for file in out err log; do
		mv "$work/f.$file" "$work/e.$file"
	done
	compare_one "$name: the second" 2 'beside > 100' 'r["Sessions"] == 2' "$@"
}

C='--timeout 20000 --histogram --count'
# What is lost costs this.
T='--histogram --timeout 100 --count'
WHOLE='N == e["Sent"] == len(T) + 1 == len(R) == stamps["Complete"] + 1 == a.rx_stamps == a.tx_stamps'
NO_STRANGER='r["Unmatched"] == r["Late stamps"] == 0'

no_fault() {
	two 'two emitters' '' '--histogram' "$C 3000" "$WHOLE" "$NO_STRANGER" 'len(T) == 3000' \
		'r["Duplicated stamps"] == r["Reordered"] == r["Duplicate"] == 0'
}

# Also T3 of the last reply to the emitter that ends first, while the other goes on.
stamps_twice() {
	FIRST='--count 3000' two 'T3 twice' 'directions=2 tx_stamp_twice_every=1' '' "$C 1000" "$WHOLE" "$NO_STRANGER" \
		'r["Duplicated stamps"] == b.tx_stamp_twice == r["Sent"] == 4002'
}

# By the clock: a reflector keeps 256 replies, and as fast as it goes more than those went out before a stamp was handed over.
stamps_late() {
	two 'T3 late, and twice' 'directions=2 tx_stamp_late_every=7 late_us=20000 tx_stamp_twice_every=2' '--timeout 2000' "$C 700 --interval 2ms" \
		'len(T) == stamps["Complete"] + stamps["Unknown"] == 700' 'flagged("unknown") <= struck("tx_stamp_late_every", 2)' \
		'r["Duplicated stamps"] == b.tx_stamp_twice' "$NO_STRANGER" 'r["Unstamped"] == 0' 'len(R) == N'
}

all_at_once() {
	two 'all faults at once' 'from=70 drop_every=61 dup_every=3 tx_stamp_missing_every=43 tx_stamp_twice_every=2
		rx_stamp_missing_every=17 reorder_every=71 alternate=Y' '' "$T 700" "$NO_STRANGER" 'r["Duplicated stamps"] == b.tx_stamp_twice' \
		'e["Lost"] - e["Late"] == len(struck("drop_every", 1) | struck("drop_every", 2))' \
		'r["Duplicate"] == a.duplicated + c.duplicated' \
		'r["Reordered"] == 2 * len(struck("reorder_every", 1) - struck("dup_every", 1)) > 0'
}

# ---- Each session gets a socket of its own -----------------------------------------------------------------------------

suffix='' told_of_lanes='' expected=('r["Peer sockets"] == 2' 'r["No peer socket"] == 0')
no_fault
stamps_twice
stamps_late
two 'every T3 late, and twice' 'tx_stamp_delay_us=3000 directions=2 tx_stamp_twice_every=1' '--timeout 2000' "$C 600" \
	'r["Duplicated stamps"] == b.tx_stamp_twice == r["Sent"]' "$NO_STRANGER" 'r["Unstamped"] == 0' 'len(R) == N'
two 'probes and replies lost' 'from=96 drop_every=32 alternate=Y' '' "$T 500" 'e["Lost"] - e["Late"] == 12 == 2 * a.dropped' \
	"$NO_STRANGER"
two 'each probe twice' 'from=2 directions=1 dup_every=1' '' "$C 1500" 'stamps["Complete"] == len(T) == 1500' \
	'r["Duplicate"] == a.duplicated + c.duplicated == 2998' 'r["Reordered"] == 0' "$NO_STRANGER"
two 'probes and replies out of order' 'from=90 reorder_every=13 alternate=Y' '' "$T 400" \
	'r["Reordered"] == b.reordered > 10' "$NO_STRANGER"
all_at_once

# ---- A thousand others -------------------------------------------------------------------------------------------------

# Each from an address that there is not, as a STAMP sender of 44 octets.
flood() {
	at c python3 - "$1" "$(mac_of c)" "$(mac_of b)" <<-'END'
		import socket, struct, sys

		count, own, peer = int(sys.argv[1]), *(bytes.fromhex(mac.replace(":", "")) for mac in sys.argv[2:])
		link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		link.bind(("sim2", 0))
		for n in range(count):
		    udp = struct.pack("!HHHH", 40000, 862, 52, 0) + struct.pack("!IIIH", n, 3900000000, 0, 1) + bytes(30)
		    ip = struct.pack("!BBHHHBBH", 0x45, 0, 72, 0, 0, 255, 17, 0) + bytes((10, 99, n >> 8, n & 255, 10, 78, 0, 2))
		    total = sum(struct.unpack("!10H", ip))
		    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
		    link.send(peer + own + b"\x08\x00" + ip[:10] + struct.pack("!H", total) + ip[12:] + udp)
	END
}

# shellcheck disable=SC2317 # by poll
has_answered() { # N
	take_counters now
	[ "$(sed -n 's/^1 stamp_replies_sent: //p' "$work/now")" -ge $(($(sed -n 's/^1 stamp_replies_sent: //p' "$work/before") + $1)) ]
}

flooded() {
	local -a words

	wanted "$1" || return 0
	begin "$family: $1"
	reset
	read -ra words <<<"$APART"
	set_parameters "${words[@]}"
	start_pair '-v' '--timeout 2000'
	poll has_answered 1000
	flood 1000 || complain 'the flood ended with an error'
	poll has_answered 6000
	stop e
	finish_reflector
	expect_status e 0
	expect_status r 0
	compare_one "$1" 0 'r["Peer sockets"] == 1' 'r["Sessions"] == 1001' 'c.stamp_probes_sent == 1000' 'r["Received"] == N + 1000' \
		'len(T) == stamps["Complete"] == N - 1 - e["Unfinished"] > 5000' 'e["Unfinished"] <= 1 == e["Closing"]' 'len(R) == N' \
		'e["Lost"] == e["Unstamped"] == r["Unstamped"] == 0' \
		'beside == 1000' 'r["No peer socket"] == r["Reordered"] == r["Duplicate"] == r["Evicted"] == 0' "$NO_STRANGER"
}
expected=()
at b ip route add 10.99.0.0/16 via "${address[c]}" dev sim1
flooded 'a thousand spoofed senders beside a measurement'

# ---- Too few sockets ---------------------------------------------------------------------------------------------------

# How many descriptors there may be for so many sockets of sessions; those are the last of them that a reflector opens.
limit_lanes() { # N
	local highest

	begin limit
	as=()
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware --no-step-check --log "$work/r.log"
	lanes=8
	poll has_lanes
	highest=$(find "/proc/${pid[r]}/fd" -lname 'socket:*' -printf '%f\n' | sort -n | tail -n 1)
	stop r
	lanes=$1
	as=(prlimit --nofile=$((highest - 7 + lanes)))
	told_of_lanes="^rant[^:]*: only $1 busy sessions can have a socket of their own, not 8 \\(Too many open files\\)"
}

# The other session gets it when the first has ended for so long, which on a slow machine it may have.
limit_lanes 1
suffix='one socket for two sessions: ' expected=('1 <= r["Peer sockets"] <= 2' 'r["No peer socket"] > 0')
stamps_twice
all_at_once

limit_lanes 0
suffix='no sockets of their own: ' expected=('r["Peer sockets"] == 0' 'r["No peer socket"] == 0')
stamps_late
all_at_once

ip netns del c
close_simnic
exit "$failed"
