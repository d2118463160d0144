#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --threshold: a breach at either side.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

pair 'a breach at the emitter' '0 2' "$K" "$K -t 0.001 -s -w 10" \
	'e.out ~ ^Round-trip latency \([0-9]+ ns\) exceeds threshold \(1 ns\)\.$' 'e.out ~ ^  Sequence number: 10$' \
	'e.out ~ ^  T1_KERNEL \(kernel tx\): [0-9]+\.[0-9]{9}$' 'e.out ~ ^  T4_KERNEL \(kernel rx\): [0-9]+\.[0-9]{9}$' \
	'e.out ~ ^  T1_SW \(app tx\): [0-9]+\.[0-9]{9}$' 'e.out ~ ^  T4_SW \(app rx\): [0-9]+\.[0-9]{9}$' \
	'e.out ~ ^Test is complete' 'e:Breaches -eq 1' 'e:Recorded -eq 1' 'e:Warm-up -eq 10'
ends=itself pair 'a breach at the reflector' '2 0' "$K -t 0.001 -s" "$K -d 0.5 --timeout 20" \
	'r.out ~ ^Response latency \([0-9]+ ns\) exceeds threshold \(1 ns\)\.$' 'r.out ~ ^  Sequence number: 0$' \
	'r.out ~ ^  T2_KERNEL \(kernel rx\): [0-9]+\.[0-9]{9}$' 'r.out ~ ^  T3_KERNEL \(kernel tx\): [0-9]+\.[0-9]{9}$' \
	'r.out ~ ^  T2_SW \(app rx\): [0-9]+\.[0-9]{9}$' 'r.out ~ ^  T3_SW \(app tx\): [0-9]+\.[0-9]{9}$' \
	'r:Breaches -eq 1'
pair '-C goes on after a breach' '0 0' "$K -t 0.001 -C" "$K -t 0.001 -C --count 30" \
	'e:Breaches -eq 30' 'e:Recorded -eq 30' 'r:Breaches -eq r:Recorded' 'e.out ~ ^Round-trip latency '
pair 'no breach below the threshold' '0 0' "$K -t 60000000" "$K -t 60000000 --count 30" \
	'e:Breaches -eq 0' 'r:Breaches -eq 0' 'e.out !~ exceeds' 'r.out !~ exceeds'
pair 'a breach with -q: only the status' '0 2' "$K" "$K -q -t 0.001" 'e.out empty'
pair 'a breach leaves a log' '0 2' "$K" "$K -t 0.001 -l LOG --count 1000" '@columns e SEQ T1_KERNEL T4_KERNEL RTT' \
	'e.out ~ ^Log: 1 of 1 records; text, [0-9]+ octets$'
