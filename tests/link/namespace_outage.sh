#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Report of outages of packets, the peer or the interface, and the end of --once after its emitter has ended.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# Far fewer packets than an emitter sends, then a silence longer than --once-silence.
once_and_strays() {
	begin '--once: a few stray packets neither begin the wait nor end it' || return 0
	start_reflector r "$K --once --once-silence 0.3"
	start h e "$hostile" emit good "$ip_r" --count 5
	finish h
	sleep 1
	is_running r || complain 'the reflector ended after the stray packets'
	start_emitter e "$K --count 30 --timeout 5000"
	finish e
	finish r
	for one in '@expect_status h 0' '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'r:Sent -eq 37' \
		'r:Sessions -eq 3'; do
		check "$one"
	done
	verdict
}
once_and_strays

once_and_few() { # OPTIONS
	begin "--once: an emitter of three probes ends it: ${1:-no option}" || return 0
	start_reflector r "$K --once --once-silence 0.3"
	start_emitter e "$K --count 3 --timeout 5000 $1"
	finish e
	finish r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'r:Sessions -eq 1'; do
		check "$one"
	done
	verdict
}
once_and_few ''
once_and_few '--interval 1ms --window 4'

# is_near NAME VALUE LEAST MOST: seconds or percent, compared by awk.
is_near() {
	awk -v have="${2:-none}" -v least="$3" -v most="$4" 'BEGIN { exit !(have ~ /^[0-9.]+$/ && have + 0 >= least && have + 0 <= most) }' ||
		complain "$1 is ${2:-missing}, not $3 to $4"
}

# silence_of NAME: seconds of "Outages", share in percent, number, and the longest.
silence_of() {
	sed -n 's/^  Outages   :  \([0-9.]*\) s  (\([0-9.]*\) % of the run, \([0-9]*\) times\{0,1\}, the longest \([0-9.]*\) s, .*/\1 \2 \3 \4/p' \
		"$work/$1.out"
}

# Stopped between two probes, so that it answers nothing. Replies to packets that wait in its socket are late.
stopped_peer() {
	local total share times longest

	begin 'a peer that is stopped for a second' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 50 --duration 6"
	wait_for_packets e e 20
	send STOP r
	sleep 1
	send CONT r
	finish e
	terminate r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'e:Lost -ge 10' 'e:Recorded -ge 1' \
		'e.out ~ ^Measurement: (doubtful|void): the peer did not answer for [0-9.]+ s \([0-9.]+ %\)'; do
		check "$one"
	done
	read -r total share times longest <<<"$(silence_of e)"
	is_near 'the longest silence' "$longest" 0.9 6
	is_near 'all silence' "$total" "${longest:-0}" 7
	is_near 'its share' "$share" 15 100
	is_near 'how often' "$times" 1 100
	verdict
}
stopped_peer

# The same at this host: probes that were not sent are not lost, so only this line shows it.
stopped_emitter() { # NAME OPTIONS
	local total share times longest

	begin "an emitter that is stopped for a second: $1" || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --duration 4 $2"
	wait_for_packets e e 20
	send STOP e
	sleep 1
	send CONT e
	finish e
	terminate r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'e:Lost -eq 0' \
		'e.out ~ ^Measurement: doubtful: .*the measuring thread did not run \([0-9.]+ s, [0-9.]+ % of the run\)'; do
		check "$one"
	done
	read -r total share times longest <<<"$(sed -n \
		's/^  Stalled for:  \([0-9.]*\) s  (\([0-9.]*\) % of the run, \([0-9]*\) times\{0,1\}, the longest \([0-9.]*\) s, .*/\1 \2 \3 \4/p' "$work/e.out")"
	is_near 'the longest stall' "$longest" 0.9 5
	is_near 'all stalls' "$total" "${longest:-0}" 6
	is_near 'its share' "$share" 15 100
	verdict
}
stopped_emitter 'one in flight' ''
stopped_emitter 'by the clock' '--interval 2ms'
stopped_emitter 'by the clock, asleep in between' '--interval 20ms --pacing sleep'

is_told() { # NAME REGEX
	grep -Eq -- "$2" "$work/$1.err"
}

# With one probe in flight and with many: both loops report an outage.
peer_gone_and_back() { # NAME OPTIONS
	begin "a peer that goes away is reported within 4 s, and when it comes back: $1" || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 50 $2"
	wait_for_packets e e 20
	send STOP r
	poll is_told e "^rant: no answer from $ip_r port 862 for [34] s, last at #[0-9]+; still trying\$"
	is_told e 'answers again' && complain 'the return of the peer is reported too early'
	send CONT r
	poll is_told e "^rant: $ip_r port 862 answers again, after [0-9.]+ s\$"
	terminate e r
	for one in '@audit e' '@audit r' 'e:Recorded -ge 1'; do
		check "$one"
	done
	[ "$(said e | wc -l)" -eq 2 ] || complain 'there are other lines on stderr'
	verdict
}
peer_gone_and_back 'one in flight' ''
peer_gone_and_back 'many in flight' '--window 8'

gone_to_the_end() { # NAME OPTIONS
	begin "a peer that is gone when the run ends is not reported as back: $1" || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 50 $2"
	wait_for_packets e e 20
	send STOP r
	poll is_told e '^rant: no answer from '
	terminate e
	send CONT r
	terminate r
	check '@one_line e'
	verdict
}
gone_to_the_end 'one in flight' ''
gone_to_the_end 'many in flight' '--window 8'

gives_up() { # NAME OPTIONS
	begin "--give-up ends the run with its report and status 1: $1" || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 50 --give-up 500ms -d 50 $2 -H --json $logs/e.json"
	wait_for_packets e e 20
	send STOP r
	finish e
	send CONT r
	terminate r
	for one in '@expect_status e 1' '@audit e' '@audit r' 'e:Recorded -ge 1' 'e.out ~ ^Measurement: ' \
		'@json_agrees e' "@json_has e JSON['run']['end'] == 'given_up' and JSON['exit_status'] == 1" \
		"e.err ~ ^rant: gave up: $ip_r port 862 has not answered for 0[.]5 s: the report has what was measured until then\$"; do
		check "$one"
	done
	verdict
}
gives_up 'one in flight' ''
gives_up 'many in flight' '--window 8'
gives_up 'by the clock' '--interval 1ms --window 1'
alone '--give-up of a peer that never was there' 1 e "$E --timeout 50 --give-up 0.3 -d 50" '@one_line e' 'e.err ~ ^rant: nothing was measured: ' \
	'e.out ~ ^Test is complete[.] Duration: 0[.]'

has_read_all() {
	awk '$2 ~ /:035E$/ { split($5, queue, ":"); waiting += queue[2] != "00000000" } END { exit waiting }' \
		"/proc/$(pid_of "$1")/net/udp"
}

# The kernel drops packets when the socket buffer is full.
dropped_by_us() {
	begin 'a reflector that is stopped while packets arrive: it reports packets that its socket dropped' || return 0
	start_reflector r "$K"
	start_emitter e "$K"
	wait_for_packets e e 20
	terminate e
	send STOP r
	start h e "$hostile" emit good "$ip_r" --count 20000 --rate max
	finish h
	send CONT r
	poll has_read_all r
	terminate r
	for one in '@expect_status r 0' '@audit r' 'r:Dropped_by_this_host -ge 100' \
		'r.out ~ ^Measurement: doubtful: (.*; )?this host dropped packets \([0-9]+\)'; do
		check "$one"
	done
	check "r:Dropped_by_this_host -eq $((20000 + $(row e Sent) - $(row r Received)))"
	verdict
}
dropped_by_us

link_down_and_up() {
	begin 'a link that goes down and comes back is reported' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 20"
	wait_for_packets e e 20
	ip -n "${ns[e]}" link set "$link_e" down
	sleep 0.3
	poll is_told e "^rant: the link of $link_e went down; still trying\$"
	ip -n "${ns[e]}" link set "$link_e" up
	know_neighbours
	wait_for_packets e e $(($(sent_by e) - moved[e] + 20))
	poll is_told e "^rant: the link of $link_e is up again, after [0-9.]+ s\$"
	# At the other end it is up, without a carrier, for the rest of the run.
	ip -n "${ns[r]}" link set "$link_r" down
	sleep 0.3
	terminate e
	ip -n "${ns[r]}" link set "$link_r" up
	know_neighbours
	terminate r
	for one in '@audit e' '@audit r' 'e:Refused -ge 1' 'e:Recorded -ge 1' \
		'e.out ~ ^Measurement: .*the link went down \(2 times, down at the end\)' \
		'e.out ~ ^Measurement: .*the peer did not answer for [0-9.]+ s' 'r.out ~ ^Measurement: .*the link went down \(2 times\)'; do
		check "$one"
	done
	verdict
}
link_down_and_up

# A second veth pair between the same namespaces: deleting one end deletes both.
make_other_link() {
	ip link add name "oe$$" netns "${ns[e]}" type veth peer name "or$$" netns "${ns[r]}" &&
		ip -n "${ns[e]}" address add 10.78.0.1/24 dev "oe$$" && ip -n "${ns[r]}" address add 10.78.0.2/24 dev "or$$" &&
		ip -n "${ns[e]}" link set "oe$$" up && ip -n "${ns[r]}" link set "or$$" up
}

deleted_interface() { # NAME COMMAND...
	local one began

	begin "an interface that is $1 ends the run at both ends, with a report and status 1" || return 0
	shift
	make_other_link || complain 'no other link'
	link=or$$ start_reflector r "$K -H --json $logs/r.json"
	link=oe$$ server=10.78.0.2 start_emitter e "$K --timeout 60000 -H --json $logs/e.json"
	wait_for_packets e e 50
	began=$SECONDS
	"$@"
	finish e r
	[ $((SECONDS - began)) -le 10 ] || complain "it took $((SECONDS - began)) s to end"
	for one in e r; do
		expect_status $one 1
		audit $one
		one_line $one
		check "$one:Recorded -ge 10"
		check "$one.err ~ ^rant: interface 'o[er]$$' was deleted during the run, or moved to another namespace"
		check "$one.out ~ ^Measurement: .*the link went down \\(the interface is gone\\)"
		json_agrees $one
		json_has $one "JSON['run']['end'] == 'interface_gone'"
	done
	verdict
}
deleted_interface deleted ip -n "${ns[e]}" link del "oe$$"

# A reflector that receives nothing sends nothing, so it has no send error.
deleted_idle() {
	begin 'a deleted interface ends an idle reflector' || return 0
	make_other_link || complain 'no other link'
	link=or$$ start_reflector r "$K"
	ip -n "${ns[r]}" link del "or$$"
	finish r
	expect_status r 1
	one_line r
	check "r.err ~ ^rant: interface 'or$$' was deleted"
	verdict
}
deleted_idle
