#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bad peers: hostile.c sends their packets and prints counts of them.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# rows_are NAME HOSTILE: every counter that the bad peer prints equals that of rant. A probe whose good answer was slow on a
# busy machine is both lost and late: only the difference is compared.
rows_are() {
	local pair name want have slow
	local -a words

	read -ra words <"$work/$2.out"
	for pair in "${words[@]}"; do
		name=${pair%%=*} want=${pair#*=}
		case $name in
		sent) have=$(($(row "$1" Received) - ${others:-0})) ;;
		good) have=$(($(row "$1" Sent) - ${others:-0})) ;;
		probes) have=$(row "$1" Sent) ;;
		malformed | foreign | duplicate | reordered | strays) have=$(row "$1" "${name^}") ;;
		bad_tlvs) have=$(row "$1" Bad_TLVs) ;;
		no_session) have=$(row "$1" No_session) ;;
		sessions) have=$(($(row "$1" Sessions) - ${other_sessions:-0})) ;;
		late)
			slow=$(($(row "$1" Late) - want))
			[ "$slow" -ge 0 ] || complain "Late is $slow more than $want"
			continue
			;;
		lost) have=$(($(row "$1" Lost) - slow_allowed)) ;;
		*) continue ;;
		esac
		[ "$have" = "$want" ] || complain "the bad peer has $pair, $1 has $have"
	done
	grep -q '^hostile ' "$work/$2.out" || complain "the bad peer printed no counts"
}

# A count printed by a bad peer.
told() {
	local n

	n=$(sed -n "s/^hostile .* $2=\\([0-9]*\\).*/\\1/p" "$work/$1.out")
	echo "${n:--1}"
}

# ---- Bad emitters ----------------------------------------------------------------------------------------------------

# A good emitter measures while MODE is played; then the accounts of the reflector must be those of both.
bad_emitter() { # mode, arguments, checks
	local mode=$1 one arguments others other_sessions
	local -a words

	begin "a reflector bears a bad emitter: $mode" || return 0
	arguments=$2
	shift 2
	read -ra words <<<"$arguments"
	start_reflector r "--stamp kernel ${more:-}"
	start_emitter e --stamp kernel --timeout 5000
	wait_for_packets e e 5
	start h e "$hostile" emit "$mode" "${target:-$ip_r}" "${words[@]}"
	finish h
	terminate e r
	expect_status h 0
	expect_status e 0
	expect_status r 0
	audit e
	audit r
	# Probes of the good emitter in flight at its end may be answered or not.
	others=$(row r Sent)
	others=$((others - $(told h good)))
	if [ $(($(row e Sent) - others)) -lt 0 ] || [ $(($(row e Sent) - others)) -gt "$(row e Unfinished)" ]; then
		complain "the good emitter sent $(row e Sent), of which the reflector answered $others"
	fi
	other_sessions=1
	rows_are r h
	# By the link's counters the reflector sent nothing else except fragments of replies.
	[ "$mode" = largest ] || [ "$mode" = random ] ||
		[ "$(($(sent_by r) - moved[r]))" -eq "$(row r Sent)" ] ||
		complain "the link of the reflector moved by $(($(sent_by r) - moved[r])), it answered $(row r Sent)"
	[ "$(told h exact)" -eq "$(told h good)" ] || complain "not every good packet had an exact answer: $(cat "$work/h.out")"
	[ "$(told h replies)" -eq "$(told h good)" ] || complain "packets were answered that must not be: $(cat "$work/h.out")"
	for one in 'e:Recorded -gt 0' 'e:Lost -eq 0' 'e:Foreign -eq 0' 'e:Malformed -eq 0' 'e:Duplicate -eq 0' "$@"; do
		check "$one"
	done
	verdict
}

# repeated_in_log COUNT: each duplicate at the reflector has a note.
repeated_in_log() {
	local notes

	notes=$(grep -c '^# SEQ [0-9]* was received again$' "$logs/r.log")
	[ "$notes" -eq "$1" ] || complain "the log has $notes notes of numbers that were received again, not $1"
}

bad_emitter good ''
bad_emitter empty '' 'r:Malformed -eq 200'
bad_emitter tiny '' 'r:Malformed -eq 200'
more=--allow-short bad_emitter short '' 'r:Malformed -eq 0' 'r:Too_short -eq 0'
bad_emitter largest '--count 20' 'r:Unanswered -eq 0'
more=--allow-short bad_emitter random '--count 400 --seed 7' 'r:Malformed -gt 0' 'r:Bad_TLVs -gt 0'
bad_emitter tlv '' 'r:Bad_TLVs -eq 200'
bad_emitter estimate '' 'r:Malformed -eq 200'
bad_emitter replies '' 'r:Foreign -eq 200'
bad_emitter mirror '' 'r:Foreign -eq 200'
target=$ip_broadcast bad_emitter broadcast "--barrier $ip_r" 'r:Foreign -eq 200'
more='-l LOG' bad_emitter duplicates '' 'r:Duplicate -eq 100' '@repeated_in_log 100'
bad_emitter reordered '' 'r:Reordered -eq 100'
bad_emitter replay '--count 180' 'r:Duplicate -eq 120'

# A reply would be longer than its request, which needs --allow-short.
short_requests() {
	begin 'a reflector does not answer short requests' || return 0
	start_reflector r "$K"
	start h e "$hostile" emit short "$ip_r" --count 1
	finish h
	terminate r
	for one in '@expect_status r 0' '@audit r' 'r:Sent -eq 1' 'r:Too_short -eq 1' 'r:Sessions -eq 1'; do
		check "$one"
	done
	[ "$(told h replies)" -eq 1 ] || complain "a short request was answered: $(cat "$work/h.out")"
	verdict
}
short_requests

# More senders than the session table holds, alone, so that the numbers are exact. Existing sessions continue, and new senders are
# answered at once.
many_sessions() {
	begin "a reflector bears 2000 senders: $1" || return 0
	start_reflector r "$K"
	start h e "$hostile" emit "$1" "$ip_r" --count 2000 --for 50
	finish h
	start_emitter e "$K --timeout 5000 --count 20"
	finish e
	terminate r
	for one in '@expect_status h 0' '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' "r:Sent -eq $((2002 + $(row e Sent)))" \
		'r:Sessions -eq 1024' "r:Stateless -eq $((977 + $(row e Sent)))" 'r:No_session -eq 0' 'r:Evicted -eq 0' \
		'e:Recorded -eq 20' 'e:Lost -eq 0' "e:Stateless -eq $(row e Sent)"; do
		check "$one"
	done
	# It does not stay for the answers by ports that it has left.
	[ "$(told h exact)" -ge 1025 ] || complain "not every packet had an exact answer: $(cat "$work/h.out")"
	[ "$(told h exact)" -eq "$(told h replies)" ] || complain "there were other answers: $(cat "$work/h.out")"
	verdict
}
many_sessions ssids
many_sessions ports

# Datagrams of a namespace: delivered to a program, and dropped because its buffer was full.
udp_counts() {
	# shellcheck disable=SC2016 # of awk
	inside r awk '$1 == "Udp:" { if (!n) { for (i = 2; i <= NF; i++) at[$i] = i; n = 1 }
		else print $at["InDatagrams"], $at["RcvbufErrors"] }' /proc/net/snmp
}

flood() {
	local before after dropped_before dropped

	begin 'a reflector survives a flood of everything at full rate' || return 0
	read -r before dropped_before < <(udp_counts)
	start_reflector r "$K --allow-short"
	start_emitter e "$K --timeout 20"
	wait_for_packets e e 5
	start h e "$hostile" emit mixture "$ip_r" --rate max --count 0 --for 2
	finish h
	terminate e r
	read -r after dropped < <(udp_counts)
	for one in '@expect_status h 0' '@expect_status r 0' '@audit e' '@audit r' 'r:Malformed -gt 0' 'r:Foreign -gt 0' \
		'r:Bad_TLVs -gt 0' 'r:Sessions -eq 1024' 'r:Stateless -gt 0' "r:Received -eq $((after - before))"; do
		check "$one"
	done
	[ "$(told h sent)" -gt 1000 ] || complain 'this was no flood'
	[ $((after - before + dropped - dropped_before)) -le $(($(told h sent) + $(row e Sent))) ] ||
		complain "more was received than sent: $((after - before)) and $((dropped - dropped_before)) dropped"
	verdict
}
flood

flooded_emitter() {
	begin 'an emitter survives a flood of garbage at full rate' || return 0
	start h r "$hostile" reflect garbage "$ip_r" --every 1 --count 50 --rate max --for 2
	poll has_port h 862
	start_emitter e "$K --timeout 20"
	finish h
	terminate e
	for one in '@expect_status h 0' '@expect_status e 0' '@audit e' 'e:Malformed -gt 100' 'e:Foreign -gt 100' \
		'e:Recorded -ge 1'; do
		check "$one"
	done
	verdict
}
flooded_emitter

# ---- Bad reflectors --------------------------------------------------------------------------------------------------

# bad_reflector MODE HOSTILE_ARGUMENTS COUNT STATUS EMITTER_ARGUMENTS CHECK...
bad_reflector() {
	local mode=$1 count=$3 want=$4 one slow_allowed
	local -a peer words

	begin "an emitter bears a bad reflector: $mode${2:+ $2}" || return 0
	read -ra peer <<<"$2"
	read -ra words <<<"--stamp kernel --count $count $5"
	start h r "$hostile" reflect "$mode" "$ip_r" --count "$count" --for 10 "${peer[@]}"
	poll has_port h 862
	start_emitter e "${words[@]}"
	finish e h
	expect_status e "$want"
	expect_status h 0
	audit e
	slow_allowed=$(($(row e Late) - $(told h late)))
	rows_are e h
	shift 5
	for one in "$@"; do
		check "$one"
	done
	verdict
}

# Without the closing probe: the faults of a bad peer are counted for each probe.
PATIENT='--plain --timeout 5000'
bad_reflector good '' 100 0 "$PATIENT" 'e:Recorded -eq 100'
bad_reflector drop '--every 10' 40 0 '--plain --timeout 100' 'e:Lost -ge 4'
bad_reflector twice '' 100 0 "$PATIENT" 'e:Duplicate -eq 99' 'e:Recorded -eq 100'
bad_reflector late '--every 10' 40 0 '--plain --timeout 100' 'e:Late -ge 4' 'e:Lost -ge 4'
bad_reflector swapped '--every 10' 40 0 '--plain --timeout 100' 'e:Late -ge 4' 'e:Reordered -ge 4'
bad_reflector future '' 100 0 "$PATIENT" 'e:Foreign -eq 100' 'e:Recorded -eq 100'
bad_reflector future '--instead' 5 1 '--timeout 100' 'e:Foreign -ge 4' 'e:Lost -eq 5' 'e.err ~ answers, but is not a STAMP reflector'
bad_reflector ssid '' 100 0 "$PATIENT" 'e:Foreign -eq 100' 'e:Recorded -eq 100'
bad_reflector old '' 100 0 "$PATIENT" 'e:Foreign -eq 100' 'e:Recorded -eq 100' 'e:Duplicate -eq 0' 'e:Late -eq 0'
bad_reflector unnamed '' 100 0 "$PATIENT" 'e:Foreign -eq 99' 'e:Recorded -eq 100'
bad_reflector light '' 50 0 "$PATIENT" 'e:Recorded -eq 50'
bad_reflector t1 '' 100 0 "$PATIENT" 'e:Foreign -eq 100' 'e:Recorded -eq 100'
bad_reflector t1 '--instead' 5 1 '--timeout 100' 'e:Foreign -eq 5' 'e:Lost -eq 5'
bad_reflector short '' 100 0 "$PATIENT" 'e:Malformed -eq 100' 'e:Recorded -eq 100'
bad_reflector largest '' 20 0 "$PATIENT" 'e:Recorded -eq 20'
bad_reflector estimate '' 100 0 "$PATIENT" 'e:Malformed -eq 100' 'e:Recorded -eq 100'
bad_reflector elsewhere '' 600 0 "$PATIENT" 'e:Strays -eq 600' 'e:Recorded -eq 600'
bad_reflector elsewhere "--second $ip_second" 100 0 "$PATIENT" 'e:Strays -eq 100' 'e:Recorded -eq 100'
bad_reflector elsewhere '--instead' 5 1 '--timeout 50' 'e:Strays -eq 5' 'e:Received -eq 0'
bad_reflector garbage '--every 20' 50 0 "$PATIENT" 'e:Recorded -eq 50' 'e:Malformed -gt 0' 'e:Foreign -gt 0'
bad_reflector echo '' 50 0 "$PATIENT" 'e:Malformed -eq 50' 'e:Recorded -eq 50'

# ---- A third host that forges ICMP messages --------------------------------------------------------------------------

# The kernel of a side takes packets to an address to be limited to 600 octets.
is_misled() { # side, address
	ip -n "${ns[$1]}" route get "$2" | grep -q ' mtu 600'
}

# ICMP messages of that type that the reflector's side took.
unreachables() {
	# shellcheck disable=SC2016 # of awk
	inside r awk '$1 == "Icmp:" { if (!n) { for (i = 2; i <= NF; i++) at[$i] = i; n = 1 }
		else print $at["InDestUnreachs"] }' /proc/net/snmp
}

# A recreated route has no path MTU from it.
forget_misleading() {
	local side link=("$link_e" "$link_r") address=("$ip_e" "$ip_r") i=0

	for side in e r; do
		ip -n "${ns[$side]}" route del 10.77.0.0/24 dev "${link[i]}"
		ip -n "${ns[$side]}" route add 10.77.0.0/24 dev "${link[i]}" proto kernel scope link src "${address[i]}"
		i=$((i + 1))
	done
	! is_misled e "$ip_r" || complain 'the forged MTU is left'
}

# Packets longer than the claimed MTU stay unfragmented in both directions, and a later run starts.
forged_too_long() {
	local port heard before=("$(sent_by e)" "$(sent_by r)")

	begin 'a forged "fragmentation needed" stops and cuts nothing' || return 0
	heard=$(unreachables)
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --size 1400"
	wait_for_packets e e 20
	port=$(awk '$3 ~ /:035E$/ { split($2, at, ":"); print at[2]; exit }' "/proc/$(pid_of e)/net/udp")
	start h r "$hostile" forge emitter "$ip_e" --second "$ip_r" --port "$((16#${port:-0}))"
	start i e "$hostile" forge reflector "$ip_r" --second "$ip_e" --port "$((16#${port:-0}))"
	finish h i
	is_misled e "$ip_r" || complain 'the forged message reached no socket of the emitter'
	! is_misled r "$ip_e" || complain 'the reflector believed the forged message'
	[ "$(unreachables)" -gt "$heard" ] || complain 'the forged message did not come to the reflector'
	wait_for_packets e e $(($(sent_by e) - moved[e] + 100))
	terminate e
	start_emitter e2 "$K --timeout 5000 --size 1400 --count 20"
	finish e2
	terminate r
	for one in '@expect_status h 0' '@expect_status i 0' '@expect_status e 0' '@expect_status e2 0' '@expect_status r 0' \
		'@audit e' '@audit e2' '@audit r' 'e:Refused -eq 1' 'e:Lost -eq 0' 'e2:Recorded -eq 20' 'r:Unanswered -eq 0'; do
		check "$one"
	done
	[ $(($(sent_by r) - before[1])) -eq $(($(row r Sent) + 1)) ] ||
		complain "the reflector answered $(row r Sent) in $(($(sent_by r) - before[1] - 1)) packets"
	forget_misleading
	verdict
}
forged_too_long
