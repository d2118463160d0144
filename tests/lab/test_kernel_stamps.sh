#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: amd64
#
# Kernel stamps over a veth pair with netem: what rant counts against what netem says it has done. The kernel stamps a
# transmitted packet in the driver, after netem: a delay at the emitter is before T1, one at the reflector before T3.
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

ip link add v0 type veth peer name v1
apart v0 v1

# Packets of a side that netem has dropped.
dropped_by() {
	at "$1" tc -s qdisc show dev "${link[$1]}" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | head -1
}

declare -A before=()

# pair NAME NETEM_A NETEM_B ARGUMENTS: a run of both programs; netem is set before and taken away by the caller.
pair() {
	local side
	local -a words

	begin "kernel stamps: $1"
	for side in a b; do
		at "$side" tc qdisc del dev "${link[$side]}" root 2>/dev/null
		before[$side]=$(sent_by "$side")
	done
	read -ra words <<<"$2"
	[ -z "$2" ] || at a tc qdisc add dev v0 root netem limit 10000 "${words[@]}" || complain 'tc failed'
	read -ra words <<<"$3"
	[ -z "$3" ] || at b tc qdisc add dev v1 root netem limit 10000 "${words[@]}" || complain 'tc failed'
	start r b "$RANT" --details -i v1 --stamp kernel
	poll has_port r
	read -ra words <<<"$4"
	start e a "$RANT" --details -i v0 -a "${address[b]}" --stamp kernel --log "$work/e.log" "${words[@]}"
	finish e
	pause 0.3 # for what is on its way
	stop r
	expect_status e 0
	expect_status r 0
	expect_balance e
	expect_balance r
}

# Packets that left the interface, after netem.
gone_out() {
	echo $(($(sent_by "$1") - before[$1]))
}

# The probe after the last may be among them, and a slow answer, for the machine is busy, is not.
expect_lost() {
	expect $(($(row e Sent) - $(row e Received))) -eq "$1" 'sent and not answered, against dropped by netem'
	expect $(($(row e Lost) - $(row e Late))) -le "$1" 'lost, not late'
}

least() { # NAME: the least latency in ns
	sed -n 's/^MIN: \([0-9]*\) ns .*/\1/p' "$work/$1.out"
}

if [ -z "${REST:-}" ]; then
	pair 'no netem, nothing lost' '' '' '--count 2000 --timeout 2000'
	expect "$(row e Recorded)" -eq 2000 'recorded'
	expect "$(row r Recorded)" -eq "$(row e Sent)" 'recorded by the reflector'
	verdict

	pair 'loss of both' 'loss 10%' 'loss 10%' '--count 150 --timeout 100'
	expect_lost $(($(dropped_by a) + $(dropped_by b)))
	verdict

	# netem sends its copy first, which has no transmit timestamp, so that T3 may be after T4: --plain does not compare them.
pair 'duplicated pings' 'duplicate 30%' '' '--plain --count 1000 --timeout 2000'
	extra=$(($(gone_out a) - $(row e Sent)))
	expect "$extra" -gt 100 'duplicated by netem'
	expect "$(row r Duplicate)" -eq "$extra" 'duplicates at the reflector'
	# The answer to a duplicate of the last probe comes when the emitter is gone.
	expect "$(row e Duplicate)" -ge $((extra - 1)) 'duplicates at the emitter'
	expect "$(row e Duplicate)" -le "$extra" 'duplicates at the emitter'
	verdict

	pair 'a delay before the wire at the reflector is in response and round trip' '' 'delay 20ms' '--count 40 --timeout 2000'
	expect "$(least r)" -ge 20000000 'least response'
	expect "$(least e)" -ge "$(least r)" 'least round trip'
	verdict
fi
if [ -n "${QUICK:-}" ]; then
	together
	exit "$failed"
fi

pair 'loss of pings' 'loss 10%' '' '--count 150 --timeout 100'
expect "$(dropped_by a)" -gt 0 'dropped by netem'
expect_lost "$(dropped_by a)"
expect "$(row r Received)" -eq $(($(row e Sent) - $(dropped_by a))) 'received by the reflector'
verdict

pair 'loss of pongs' '' 'loss 10%' '--count 150 --timeout 100'
expect "$(dropped_by b)" -gt 0 'dropped by netem'
expect_lost "$(dropped_by b)"
expect "$(row r Received)" -eq "$(row e Sent)" 'received by the reflector'
verdict

pair 'duplicated pongs' '' 'duplicate 30%' '--plain --count 1000 --timeout 2000'
extra=$(($(gone_out b) - $(row r Sent)))
expect "$extra" -gt 100 'duplicated by netem'
expect "$(row r Duplicate)" -eq 0 'duplicates at the reflector'
expect "$(row e Duplicate)" -ge $((extra - 1)) 'duplicates at the emitter'
expect "$(row e Duplicate)" -le "$extra" 'duplicates at the emitter'
verdict

pair 'a delay before the wire at the emitter is in neither' 'delay 20ms' '' '--count 40 --timeout 2000'
expect "$(least r)" -lt 20000000 'least response'
expect "$(least e)" -lt 20000000 'least round trip'
verdict

pair 'overtaken pings are lost, late and reordered' 'delay 60ms reorder 50%' '' '--count 150 --timeout 20'
expect "$(row e Lost)" -gt 10 'lost'
expect "$(row e Late)" -gt 10 'late'
expect "$(row r Reordered)" -gt 10 'reordered at the reflector'
expect "$(row r Received)" -eq "$(row e Sent)" 'received by the reflector'
verdict

# ---- CLOCK_REALTIME is set in the middle of a run ------------------------------------------------------------------------

# shellcheck disable=SC2317 # by poll
has_sent_more() { # THAN
	is_gone e || [ "$(sent_by a)" -gt "$1" ]
}

# Each step is named with its size, within its bound.
expect_steps() { # NAME NS...
	local name=$1 truth n=0 size bound

	shift
	while read -r size bound; do
		truth=${1:-0}
		[ $# -eq 0 ] || shift
		n=$((n + 1))
		expect $((size - bound)) -le "$truth" "step $n of $name less its bound"
		expect $((size + bound)) -ge "$truth" "step $n of $name and its bound"
	done < <(sed -n 's/^  Step of the system clock by +*\(-*[0-9]*\) ns (+-\([0-9]*\)), .*/\1 \2/p' "$work/$name.out")
	expect $# -eq 0 "steps that $name does not name"
}

# All that is on its way for half a second at least is on its way when the clock is set, but for one or two of four.
expect_left_out() { # NAME
	local name=$1 least=500000000 most=1400000000 # a step of a second would make more of it

	expect "$(row "$name" Stepped)" -ge 2 "left out by $name"
	expect "$(row "$name" Stepped)" -le 4 "left out by $name"
	expect "$(row "$name" Negative)" -le 0 "negative latencies of $name"
	expect "$(least "$name")" -ge $least "least latency of $name"
	expect "$(sed -n 's/.* MAX: \([0-9]*\) ns .*/\1/p' "$work/$name.out")" -lt $most "largest latency of $name"
	expect "$(awk -v least=$least -v most=$most 'NR > 2 && ($NF < least || $NF > most)' "$work/$name.log" | wc -l)" -eq 0 \
		"records of $name that a step has spoilt"
}

# A run of both while the clock is set forward and back, by less and by more than what is measured.
set_in_between() { # STAMP
	local steps='5000000 -5000000 1000000000 -1000000000' ns

	begin "kernel stamps: the system clock is set, --stamp $1"
	at b tc qdisc replace dev v1 root netem limit 10000 delay 500ms
	start r b "$RANT" --details -i v1 --stamp "$1" --log "$work/r.log" --timeout 2000
	poll has_port r
	start e a "$RANT" --details -i v0 -a "${address[b]}" --stamp "$1" --log "$work/e.log" --timeout 2000
	for ns in $steps; do
		poll has_sent_more $(($(sent_by a) + 4))
		"$HELPERS/set_clock" "$ns" || complain 'the clock was not set'
	done
	poll has_sent_more $(($(sent_by a) + 4))
	stop e
	stop r
	at b tc qdisc del dev v1 root
	expect_status e 0
	# shellcheck disable=SC2086 # words
	expect_steps e $steps
	expect_left_out e
	expect_line e.out "^Measurement: doubtful: (.*; )?a clock was set \\(CLOCK_REALTIME 4 times, $(row e Stepped) samples left out\\)"
	expect_balance e
	if [ "$1" = kernel ]; then
		# shellcheck disable=SC2086 # words
		expect_steps r $steps
		expect_left_out r
	fi
	expect_balance r
	[ -z "${SHOW:-}" ] || grep -hE '^  (Step|Stepped|Recorded)|^MIN|^Measure' "$work/e.out" "$work/r.out" | sed 's/^/# /'
	verdict
}
set_in_between kernel
set_in_between user

# The reflector does not run for a while, and probes wait. Each step is longer than that, so that it shows in what it spoilt.
stalled() { # STAMP LEFT_OUT NS...
	local stamp=$1 left_out=$2 ns undo=0

	shift 2
	begin "kernel stamps: the reflector is stopped, --stamp $stamp, and the clock is set by: ${*:-nothing}"
	start r b "$RANT" --details -i v1 --stamp "$stamp" --log "$work/r.log" --threshold 60000000 --continue
	poll has_port r
	start e a "$RANT" --details -i v0 -a "${address[b]}" --stamp kernel --timeout 20
	poll has_sent_more $(($(sent_by a) + 50))
	kill -STOP "${pid[r]}"
	poll has_sent_more $(($(sent_by a) + 20))
	for ns; do
		"$HELPERS/set_clock" "$ns" || complain 'the clock was not set'
		undo=$((undo - ns))
		poll has_sent_more $(($(sent_by a) + 20))
	done
	kill -CONT "${pid[r]}"
	poll has_sent_more $(($(sent_by a) + 50))
	stop e
	stop r
	[ "$undo" = 0 ] || "$HELPERS/set_clock" "$undo"
	expect_status r 0
	expect "$(row r Stepped)" -ge "$left_out" 'left out by the reflector'
	# None of those that wait; it may be stopped between the two times of one.
	[ "$left_out" != 0 ] || expect "$(row r Stepped)" -le 1 'left out by the reflector'
	expect "$(row r Negative)" -eq 0 'negative'
	expect "$(row r Breaches)" -eq 0 'false breaches'
	expect_balance e
	expect_balance r
	verdict
}
stalled kernel 0
stalled kernel 20 100000000000
stalled kernel 20 100000000000 -100000000000
stalled user 0 100000000000 -100000000000

together
exit "$failed"
