#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The table of delays and IPDV, and the traffic, against the log of the same run.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# What the log tells, computed again: each number of the report within its rounding, median and 99th of IPDV within 1/64. Says what is
# wrong, and at the end how many rows were compared.
# shellcheck disable=SC2016 # awk's
compare_delays='
	# Nanoseconds since the second of the first time: so a double has all digits. Empty: there is no such time.
	function ns(column, part) {
		if (!(column in at) || $at[column] == "-")
			return ""
		split($at[column], part, ".")
		if (second == "")
			second = part[1]
		return (part[1] - second) * 1e9 + part[2]
	}
	function put(name, value) { v[name, n[name]++] = value }
	# IPDV needs the previous sequence number.
	function follow(name, delay) {
		if (delay == "")
			return
		if (name in seq && $at["SEQ"] == seq[name] + 1)
			put(name, delay > last[name] ? delay - last[name] : last[name] - delay)
		seq[name] = $at["SEQ"]
		last[name] = delay
	}
	function less(a, b) { return a == "" || b == "" ? "" : a - b }
	function sort(name, i, k, value) {
		for (i = 1; i < n[name]; i++) {
			value = v[name, i]
			for (k = i; k > 0 && v[name, k - 1] > value; k--)
				v[name, k] = v[name, k - 1]
			v[name, k] = value
		}
	}
	function rank(name, percent, r) { r = int((n[name] * percent + 99) / 100); return v[name, r < 1 ? 0 : r - 1] }
	function near(name, what, told, true_ns, share, off_ns) {
		off_ns = told * 1e3 - true_ns
		if (off_ns > 0.51 + true_ns * share || -off_ns > 0.51 + true_ns * share)
			print name ": " what " is " told " us, and by the log " true_ns / 1e3
	}
	function judge(name, told, i, sum, squares, share) {
		compared++
		if (told[1] != n[name])
			print name ": " told[1] " samples, and by the log " n[name]
		sort(name)
		for (i = 0; i < n[name]; i++)
			sum += v[name, i]
		for (i = 0; i < n[name]; i++)
			squares += (v[name, i] - sum / n[name]) ^ 2
		share = name ~ /IPDV/ ? 1 / 64 : 0
		near(name, "minimum", told[2], v[name, 0], 0)
		near(name, "mean", told[3], sum / n[name], 0)
		near(name, "median", told[4], rank(name, 50), share)
		near(name, "99th", told[5], rank(name, 99), share)
		near(name, "maximum", told[6], v[name, n[name] - 1], 0)
		near(name, "deviation", told[7], sqrt(squares / n[name]), 0)
	}
	FNR == 1 { file++ }
	file == 1 && FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	file == 1 && FNR > 2 {
		if ("RTT" in at) {
			put("RTT", $at["RTT"])
			follow("RTT IPDV", $at["RTT"])
		}
		if ("RESPONSE" in at && $at["RESPONSE"] != "-")
			put("Response", $at["RESPONSE"])
		if ("RESPONSE" in at)
			follow("Response IPDV", $at["RESPONSE"] == "-" ? "" : $at["RESPONSE"])
		if ("NETWORK" in at && $at["NETWORK"] != "-")
			put("Network", $at["NETWORK"])
		if ("NETWORK" in at)
			follow("Network IPDV", $at["NETWORK"] == "-" ? "" : $at["NETWORK"])
		follow("Send IPDV", less(ns("T2_" there), ns("T1_KERNEL")))
		follow("Receive IPDV", less(ns("T4_KERNEL"), ns("T3_" there)))
	}
	file == 2 && /^Delays/ { inside = 1; next }
	file == 2 && /^$/ { inside = 0 }
	inside {
		name = substr($0, 3, 13)
		sub(/ +$/, "", name)
		if (name in n) {
			gsub(/\*/, " ")
			split(substr($0, 16), told)
			judge(name, told)
		}
	}
	END { print compared + 0 " compared" }'

# delays_are NAME KIND ROWS: so many rows of its report have a log to compare with; T2_KIND, T3_KIND.
delays_are() {
	local said

	said=$(awk -v there="$2" "$compare_delays" "$logs/$1.log" "$work/$1.out" 2>&1)
	[ "$said" = "$3 compared" ] || complain "${said//$'\n'/; }"
}

# traffic_is NAME OCTETS: counts probes and replies, except warm-up and the closing probe.
traffic_is() {
	local sent=$(($(row "$1" Sent) - $(row "$1" Closing) - $(row "$1" Warm-up)))
	local received=$(($(row "$1" Received) - $(row "$1" Closing) - $(row "$1" Warm-up))) name

	for name in To:$sent From:$received; do
		grep -Eq "^  ${name%:*} there *:  $((${name#*:} * $2)) octets in ${name#*:} packets, [0-9.]+ packets/s, [0-9]+ bit/s\$" \
			"$work/$1.out" || complain "no traffic ${name%:*} there of ${name#*:} packets of $2 octets"
	done
}

pair 'delays and IPDV are those of the log' '0 0' "$K" "$K --count 400 --warmup 30 -l LOG --log-full" 'e:Recorded -eq 400' \
	'@delays_are e KERNEL 8' '@traffic_is e 96' 'e.out ~ ^  Send delay +[0-9]+ ' 'e.out ~ ^  Receive delay +[0-9]+ ' \
	'e.out !~ ^  Timer error' 'e.out ~ ^  Of all probes:  0\.000 % lost \(0\.000 % forward, 0\.000 % backward\)'
pair 'delays by the clock have the error of the timer' '0 0' "$K" "$K --count 200 -l LOG --log-full --interval 1ms" \
	'@delays_are e KERNEL 8' 'e.out ~ ^  Timer error +200 ' 'e.out ~ ^  Send call +200 '
# Without the reflector's timestamps no one-way delay can be computed, but T2 is in every reply.
pair 'IPDV without one-way delays' '0 0' "$K" "$K --count 200 -l LOG --plain" '@delays_are e KERNEL 2' \
	'e.out ~ ^  Send IPDV +199 ' 'e.out ~ ^As its program reports, by T2 and T3 in the replies ' 'e.out ~ ^  Response +200 ' \
	'e.out ~ ^  Receive IPDV +199 ' 'e.out !~ ^  Send and receive delay: not known'

# Each tenth reply is lost: the numbers around it have no difference.
gaps() {
	local one

	begin 'IPDV has none where a number is missing' || return 0
	start h r "$hostile" reflect drop "$ip_r" --every 10 --count 60
	poll has_port h 862
	start_emitter e "$K --plain --timeout 100 --count 40 -l LOG"
	finish e
	[ ! -v 'guard[h]' ] || terminate h
	for one in '@delays_are e KERNEL 2' 'e:Lost -ge 3' 'e.out ~ ^  Of all probes:  (7\.500|10\.000) % lost'; do
		check "$one"
	done
	verdict
}
gaps

pair 'a reflector has the delays of its response, as its log' '0 0' "$K -H -l LOG" "$K --count 400" '@delays_are r KERNEL 2' \
	'r.out !~ ^  (RTT|Network|Send|Receive) |Traffic' 'r.out ~ ^  IPDV: between the delays of consecutive probes of one session '

# Each of 200 follows one of its own, however they alternate: and the closing probe too.
two_sessions() {
	begin 'IPDV of a reflector is within each session' || return 0
	start_reflector r "$K -H --json $logs/r.json"
	start_emitter e "$K --count 200 --timeout 5000 --interval 200us"
	start_emitter e2 "$K --count 200 --timeout 5000 --interval 200us"
	finish e e2
	terminate r
	expect_status r 0
	check 'r:Recorded -eq 402'
	check 'r.out ~ ^  Response IPDV +400 '
	grep -A1 '"response_ipdv_ns"' "$logs/r.json" | grep -q '"samples": 400,' || complain 'JSON has another number'
	verdict
}
two_sessions
