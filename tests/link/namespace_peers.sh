#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Peers that are not there, come late, go, or are several; a link that fails.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# Both at once, since each takes more than 3 s.
nobody_answers() {
	begin 'no reply: reported after 3 s, probes until the end, status 1' || return 0
	start_emitter e "$K -d 3.5"
	server=$ip_nobody start_emitter e2 "$K -d 3.5"
	poll told_silence e
	poll told_silence e2
	is_running e || complain 'it did not go on after the message'
	finish e e2
	for one in e e2; do
		expect_status $one 1
		audit $one
		check "$one:Recorded -eq 0"
		check "$one:Lost -ge 2"
		check "$one.out ~ ^MIN: n/a \| MAX: n/a \| AVG: n/a \| Total Samples: 0\$"
		[ "$(grep -c 'after 3 s' "$work/$one.err")" -eq 1 ] || complain "$one does not report it once"
	done
	check "e.err ~ ^rant: no answer from $ip_r port 862 after 3 s; the kernel refused [0-9]+ sends: no reflector runs there"
	check "e2.err ~ ^rant: no answer from $ip_nobody port 862 after 3 s: no reflector running, .*firewall.*ARP.*still trying"
	check "e.err ~ ^rant: nothing was measured: no program listens on $ip_r port 862 \\(ICMP port unreachable\\)"
	check "e2.err ~ ^rant: nothing was measured: $ip_nobody port 862 never answered$"
	check 'e:Refused -gt 0'
	check 'e2:Refused -eq 0'
	verdict
}

told_silence() {
	! is_running "$1" || grep -qs 'after 3 s' "$work/$1.err"
}
nobody_answers

reflector_comes_and_goes() {
	begin 'a reflector that starts late, is killed and starts again' || return 0
	start_emitter e "$K -w 5 --timeout 20 -l LOG --count 100000"
	wait_for_packets e e 3
	start_reflector r "$K"
	wait_for_packets r r 20
	send KILL r
	finish r
	expect_status r 137
	wait_for_packets e e $(($(sent_by e) - moved[e] + 5))
	start_reflector r "$K"
	wait_for_packets r r $(($(sent_by r) - moved[r] + 20))
	terminate e r
	expect_status e 0
	for one in '@audit e' '@audit r' 'e:Lost -ge 5' 'e:Recorded -ge 20' 'e:Warm-up -eq 5' \
		'@log_agrees e T1_KERNEL T4_KERNEL'; do
		check "$one"
	done
	verdict
}
reflector_comes_and_goes

several_emitters() {
	begin 'several emitters at once' || return 0
	start_reflector r "$K"
	start_emitter e "$K --count 60 --timeout 5000"
	start_emitter e2 "$U --count 60 --timeout 5000"
	start_emitter e3 "$K -s --count 60 --timeout 5000"
	finish e e2 e3
	terminate r
	for one in e e2 e3; do
		expect_status $one 0
		audit $one
		check "$one:Recorded -eq 60"
		check "$one:Strays -eq 0"
	done
	for one in '@audit r' 'r:Sent -eq 183' 'r:Sessions -eq 3' 'r:Duplicate -eq 0' 'r:Reordered -eq 0'; do
		check "$one"
	done
	verdict
}
several_emitters

link_fails() {
	begin 'the link fails and comes back: the run goes on and counts' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 20"
	wait_for_packets e e 20
	ip -n "${ns[e]}" link set "$link_e" down
	poll is_refused
	ip -n "${ns[e]}" link set "$link_e" up
	know_neighbours
	wait_for_packets e e $(($(sent_by e) - moved[e] + 20))
	terminate e r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'e:Refused -ge 1' 'e:Recorded -ge 20'; do
		check "$one"
	done
	verdict
}

# No account can be read during a run: three times --timeout have passed without a packet.
is_refused() {
	local before

	before=$(sent_by e)
	sleep 0.1
	[ "$(sent_by e)" -eq "$before" ]
}
link_fails

# ---- Senders that a reflector answers ---------------------------------------------------------------------------------

pair 'a reflector answers whom --allow names' '0 0' "$K --allow 192.0.2.0/24 --allow $ip_e" "$K --count 20" \
	'e:Recorded -eq 20' 'r:Disallowed -eq 0'

not_allowed() {
	begin 'a reflector answers only the addresses of --allow' || return 0
	start_reflector r "$K --allow 192.0.2.0/24 --allow $ip_nobody --threshold 0.001 -H"
	start_emitter e "$K --count 20 --timeout 5"
	finish e
	terminate r
	for one in '@expect_status e 1' '@expect_status r 3' '@audit e' '@audit r' 'e:Recorded -eq 0' 'r:Sent -eq 0' \
		'r:Recorded -eq 0' 'r:Breaches -eq 0' 'r:Sessions -eq 0' 'r:Disallowed -gt 0' "r:Disallowed -eq $(row r Received)"; do
		check "$one"
	done
	verdict
}
not_allowed

# No loss in the network: the reflector reports the discarded requests, except those after its last answer.
row_if_any() {
	row "$1" "$2" || echo 0
}

discarded_is_lost() { # for the reason $because
	local known=$(($(row e Discarded) + $(row_if_any e Direction_unknown) + $(row e Late) - $(row e Lost)))

	# The closing probe may add one. Late answers count as lost, too.
	[ $known -eq 0 ] || [ $known -eq 1 ] || complain "Discarded, Direction unknown and Late are $known more than Lost"
	for one in 'e:Lost_forward -eq 0' 'e:Lost_backward -eq 0' 'e:Discarded -ge 1' "e.out ~ ^  Discarded :  [0-9]+  \\(probes that reached the reflector: $because\\)$"; do
		check "$one"
	done
}

because='beyond its --rate-limit'
pair 'a reflector with --rate-limit leaves the rest unanswered' '0 0' "$K --rate-limit 20" "$K --count 300 --timeout 4" \
	'e:Lost -ge 20' 'e:Recorded -ge 2' 'r:Over_rate -ge 20' 'r:Disallowed -eq 0' '@discarded_is_lost'

# By its own firewall, for a while.
refused_replies() {
	local name='a reflector whose host refuses to send replies: the emitter names it'

	begin "$name" || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 20"
	wait_for_packets e e 20
	if ! printf '%s\n' 'table inet rant {' 'chain out {' 'type filter hook output priority 0' 'udp sport 862 drop' '}' '}' |
		inside r nft -f - 2>"$work/nft.err"; then
		send INT e
		finish e
		terminate r
		skip "$name" "nft: $(head -1 "$work/nft.err")"
		return
	fi
	sleep 0.3
	inside r nft delete table inet rant
	wait_for_packets e e $(($(sent_by e) - moved[e] + 20))
	terminate e r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'r:Unanswered -ge 1' \
		"e:Discarded -eq $(row r Unanswered)" '@discarded_is_lost' \
		'r.out ~ ^Measurement: doubtful: .*this host refused to send replies \([0-9]+ of [0-9]+\)'; do
		check "$one"
	done
	verdict
}
because='its host refused to send the reply' refused_replies

# Probes in the meantime are lost forward, and T3 of later answers is reported as before.
restarted() { # NAME OPTIONS SESSIONS T3S
	local gone

	begin "a reflector that is started again: $1" || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 100 $2"
	wait_for_packets e e 50
	terminate r
	gone=$(row r Sent)
	start_reflector r "$K"
	wait_for_packets e e $(($(sent_by e) - moved[e] + gone + 50))
	terminate e r
	for one in '@expect_status r 0' '@audit e' '@audit r' "e:Restarts -eq $3" 'e:Lost_backward -eq 0' \
		"e:Lost_forward -ge $(($(row e Lost) - $(row_if_any e Direction_unknown)))" "e:Reply_lost -le $4"; do
		check "$one"
	done
	grep -q "^  Too late" "$work/e.out" && complain "T3 came too late: $(grep '^  Too late' "$work/e.out")"
	grep -q 'stamps contradict each other' "$work/e.out" && complain 'the report has contradicting timestamps'
	verdict
}
restarted 'one in flight' '' 1 1
restarted 'by the clock' '--interval 2ms' 1 2
restarted 'many in flight' '--window 64' 1 64
restarted 'many source ports' '--interval 2ms --source-ports 4' 4 8
