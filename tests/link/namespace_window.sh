#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Many probes in flight, as fast as it goes.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# in_order NAME: each number of the log once, and in order.
in_order() {
	awk 'FNR > 2 { wrong += n++ && $1 <= last; last = $1 } END { exit wrong > 0 || n == 0 }' "$logs/$1.log" || complain 'numbers are out of order'
}

pair 'window: 64 in flight' '0 0' "$K" "$K -l LOG --log-full --window 64 --count 20000" 'e:Recorded -eq 20000' 'e:Lost -eq 0' 'e:Duplicate -eq 0' \
	'@in_order e' 'e.out ~ ^Window: up to 64 probes in flight, [0-9]+ at most were$' 'e.out !~ Schedule|Transmit stamps at once'
pair 'window: stamps of user space, and plain' '0 0' "$U" "$U --window 64 --plain --count 20000" 'e:Recorded -eq 20000' 'e:Closing -eq 0'
pair 'window: a warm-up, and a threshold' '0 0' "$K" "$K --window 16 --warmup 100 --threshold 0.001 --continue --count 2000" 'e:Recorded -eq 2000' 'e:Warm-up -eq 100' \
	'e:Warm-up -ge 100' 'e.out ~ Breaches'
pair 'window: one probe of ten is stamped' '0 0' "$K" "$K -l LOG --window 64 --stamp-every 10 --count 20000" 'e:Recorded -eq 2000' 'e.out ~ ^  Not asked +: +18000 ' 'e:Lost -eq 0' \
	'e:Unmatched -eq 0' '@in_order e' '@log_agrees e T1_KERNEL T4_KERNEL' 'e.out ~ Stamped and recorded: +one of 10 probes' 'r:Sent -ge 20000'
# The test's own key, not a secret.
(umask 077 && echo 00112233445566778899aabbccddeeff >"$work/key")
pair 'window: with a key' '0 0' "$K --key $work/key" "$K --window 16 --key $work/key --count 2000" 'e:Recorded -eq 2000' 'e:Unverified -eq 0'
emitter_signal=INT pair 'window: a signal ends it' '0 0' "$K" "$K --window 100" 'e.out ~ ^Test is complete' 'e:Recorded -ge 1'

# An emitter must not hang when its reflector is killed during the run.
killed() {
	begin 'window: the reflector is killed' || return 0
	start_reflector r "$K"
	start_emitter e "$K --window 64 --timeout 20 --duration 2"
	sleep 0.7
	send KILL r
	finish e
	for one in 'e:Recorded -ge 1' 'e:Lost -ge 64' 'e.out ~ Outages +: +[0-9]+\.[0-9]+ s  \('; do
		check "$one"
	done
	awk '$1 == "No" { silent = $4 } /^Test is complete/ { all = $5 } END { exit !(silent <= all + 0.01) }' "$work/e.out" ||
		complain 'the outage is longer than the run'
	verdict
}
killed
