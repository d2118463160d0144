#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An emitter and a reflector, and the options of a run.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# It can fail only on a machine where nothing else asks for stamps: see hold_stamps.
pair 'kernel stamps are there from the first packet on' '0 0' "$U" "$K --count 20" 'e:Unstamped -eq 0' 'e:Recorded -eq 20'
hold_stamps


pair 'kernel stamps: report and log' '0 0' "$K -H -l LOG --count 100000" "$K -H -l LOG --count 300" \
	'e:Sent -eq 301' 'r:Sent -eq 301' 'e:Closing -eq 1' 'e:Recorded -eq 300' 'e:Lost -eq 0' \
	'@columns e SEQ T1_KERNEL T4_KERNEL RTT' '@columns r SEQ T2_KERNEL T3_KERNEL RESPONSE' \
	'@log_agrees e T1_KERNEL T4_KERNEL' '@log_agrees r T2_KERNEL T3_KERNEL' '@logs_join' \
	'e.out !~ HW' 'r.out !~ HW' 'e.err empty' 'r.err empty'
pair 'kernel stamps with -s' '0 0' "$K -s -H -l LOG --count 100000" "$K -s -H -l LOG --count 200" \
	'@columns e SEQ T1_SW T1_KERNEL T4_KERNEL T4_SW RTT' \
	'@columns r SEQ T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE' \
	'@log_agrees e T1_KERNEL T4_KERNEL' '@log_agrees r T2_KERNEL T3_KERNEL' '@logs_join'
pair 'user stamps' '0 0' "$U -H -l LOG --count 100000" "$U -H -l LOG --count 200" \
	'@columns e SEQ T1_SW T4_SW RTT' '@columns r SEQ T2_SW T3_SW RESPONSE' \
	'@log_agrees e T1_SW T4_SW' '@log_agrees r T2_SW T3_SW' '@logs_join' \
	'e.out !~ KERNEL' 'r.out !~ KERNEL' \
	"e.out ~ ^Latency: RTT = T4_SW - T1_SW $USER\$" "r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW $USER\$"
pair '-R is --stamp user, and a mixed pair' '0 0' '-R' "$K --count 50" 'e:Recorded -eq 50' 'r:Recorded -eq 51' \
	'r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW ' 'e.out ~ ^Latency: RTT = T4_KERNEL - T1_KERNEL '
pair '-N: no transmit stamps, and labelled so' '0 0' "$K -N -H -l LOG --count 100000" "$K --count 100" \
	'@columns r SEQ T2_KERNEL T2_SW T3_SW RESPONSE' '@log_agrees r T2_SW T3_SW' \
	"r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW $USER\$"
pair '-N with hardware stamps leaves the NIC alone, so that it works on veth' '0 0' '-N' "$K --count 20" \
	'r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW '
pair '-w excludes the first packets' '0 0' "$K -w 30 -l LOG --count 100000" "$K -w 30 --count 70 -l LOG" \
	'e:Warm-up -eq 30' 'r:Warm-up -eq 30' 'e:Sent -eq 101' 'e:Recorded -eq 70' '@first_record e 30' '@first_record r 30'
pair '-d ends the emitter by time' '0 0' "$K" "$K -d 0.5" 'e:Recorded -gt 0' \
	'e.out ~ ^Test is complete\. Duration: (0\.[5-9]|[1-9]\.|[1-9][0-9]\.)'
ends=itself pair '-d ends the reflector by time' '0 0' "$K -d 0.5" "$K -d 1 --timeout 20" 'r:Recorded -gt 0' \
	'e:Lost -gt 0' 'r.out ~ ^Test is complete\. Duration: (0\.[5-9]|[1-9]\.|[1-9][0-9]\.)'
pair '--until-known: a run that is too short says so' '0 0' "$K" "$K -d 1.5 --until-known p99:5%" 'e:Recorded -gt 0' \
	'e.out ~ ^--until-known p99:5%: not reached: p99 is not known yet \(fewer than 30 s, or too few independent samples above it\)$' \
	'e.out ~ ^  95 % intervals of the round trip \(us\), if samples are independent of each other:$'
# Round trips in a virtual machine drift, so few of the samples are independent: random delays of the replies exceed the drift.
SPIKE_DRAWN=yes as=${spike:+$(with_spikes tx 1 50)} SLOW=1 \
	pair '--until-known ends the run when the percentile is known' '0 0' "$K" "$K -d 55 --timeout 20000 --until-known p50:90%" \
	'e.out ~ ^--until-known p50:90%: reached: p50 is known to \+-[0-9.]+ %$' 'e:Unfinished -eq 0' \
	'e.out ~ ^  95 % intervals of the round trip \(us\), by [0-9]+ blocks of [1-9] s:$' \
	'e.out ~ ^Test is complete\. Duration: [345][0-9]\.'
ends=itself pair '--count ends both' '0 0' "$K --count 40 -w 10" "$K --count 40 -w 10" 'r:Sent -eq 50' 'e:Sent -eq 51'
ends=itself pair '--once ends with the emitter' '0 0' "$K --once --once-silence 1 -H --json $logs/r.json" "$K --count 30" 'r:Sent -eq 31' \
	'@json_agrees r' "@json_has r JSON['run']['end'] == 'once'" \
	'r.out ~ ^Test is complete\. Duration: 0\.'
pair '-q prints nothing on stdout' '0 0' "$K -q -H -l LOG --count 100000" "$K -q -H --count 20 -l LOG" \
	'e.out empty' 'r.out empty' '@columns e SEQ T1_KERNEL T4_KERNEL RTT' '@columns r SEQ T2_KERNEL T3_KERNEL RESPONSE'
pair '-v prints the configuration on stderr' '0 0' "$K -v -l LOG --count 1000" "$K -v --count 20" \
	"e.err ~ Emitting on $link_e .*port 862" "r.err ~ Reflecting on $link_r .*port 862" \
	'e.err ~ Socket receive buffer: [1-9][0-9]+ bytes granted' 'r.err ~ Log buffer of 1000 records' \
	'e.err ~ ^Histogram: ' 'e.out ~ ^Test is complete' 'r.out !~ Reflecting'
pair '-b and -o: buckets of 50 us to 1 s, counts add up' '0 0' "$K -H -o 1000000 -b 50" "$K -H -o 1000000 -b 50 --count 100" \
	'e.out ~ ^  Resolution:  1\.000 us' 'e.out ~ ^ +[0-9]*[05]?0\.000 - +[0-9]*[05]0\.000 : '
pair '-b and -o take 0.001 us' '0 0' "$K -H -o 50 -b 0.001" "$K -H -o 0.001 -b 0.001 --count 100" \
	'e.out ~ ^ +0\.001 - +\(overflow\) : +100 100\.0000%$'
pair '-L logs only samples that exceed it' '0 0' "$K -l LOG -L 60000000 --count 100000" "$K -l LOG -L 0.001 --count 50" \
	'e.out ~ ^Log: 50 of 50 records; text, [0-9]+ octets$' \
	'r.out ~ ^Log: 0 of 51 records, 51 not above --log-threshold; text, [0-9]+ octets$' \
	'@log_agrees e T1_KERNEL T4_KERNEL'
pair '-G works or reports a lack of huge pages' '0 0' "$K -G" "$K -G -v --count 20" \
	'e.err ~ Histogram: .*huge pages|huge pages are free, normal ones are used' 'e:Recorded -eq 20'
pair '--port at both ends' '0 0' "$K --port 862" "$K --port 862 --count 20" 'e:Recorded -eq 20'
port=10862 pair '--port other than 862' '0 0' "$K --port 10862" "$K --port 10862 --count 20" 'e:Recorded -eq 20'
server=$ip_second pair 'the reply comes from the address of the request' '0 0' "$K" "$K --count 20" \
	'e:Recorded -eq 20' 'e:Strays -eq 0'
pair 'an option without effect gives a warning, and the run goes on' '0 0' "$K -L 5 -S -d 0" "$K -N -C -F -2 --count 20" 'e:Recorded -eq 20' \
	'e.out ~ ^Latency: RTT = T4_KERNEL - T1_KERNEL ' 'e.err ~ ^rant: warning: --no-tx-ts with --address' \
	'e.err ~ ^rant: --fast-path has no effect: ' 'e.err ~ ^rant: --threaded has no effect: ' \
	'e.err ~ ^rant: warning: --continue without --threshold: ignored' 'r.err ~ ^rant: warning: --log-threshold 5 without --log: ignored' \
	'r.err ~ ^rant: warning: --snapshot without --threshold: ignored' 'r.err ~ ^rant: --duration of 0 means no limit'
port=10862 server=$ip_second pair '--bind: a reflector answers on that address' '0 0' "$K --bind $ip_second --port 10862" \
	"$K --port 10862 --count 200" 'e:Recorded -eq 200' 'r:Sent -eq 201'
port=10862 server=$ip_r pair '--bind: a reflector answers on no other address' '0 1' "$K --bind $ip_second --port 10862" \
	"$K --port 10862 --timeout 20 --count 5" 'r:Sent -eq 0' 'e:Refused -gt 0'
prepare='ip -n '${ns[e]}' address add 10.77.0.7/24 dev '$link_e pair '--bind: an emitter sends from that address' '0 0' \
	"$K --allow 10.77.0.7" "$K --bind 10.77.0.7 --count 20" 'e:Recorded -eq 20' 'r:Disallowed -eq 0'
ip -n "${ns[e]}" address del 10.77.0.7/24 dev "$link_e" 2>/dev/null
emitter_side=r server=127.0.0.1 link=lo pair 'both ends on the loopback' '0 0' "$K" "$K --count 20" \
	'e:Recorded -eq 20' 'r:Sent -eq 21'

if inside e "$rant" -i "$link_e" -a "$ip_nobody" --stamp user -p 50 -d 0.01 2>&1 | grep -q 'refused by the kernel'; then
	skip 'busy polling' 'this kernel has none'
else
	pair 'busy polling' '0 0' "$K -p 50 -v" "$K -B 8 -P -v --count 20" 'e:Recorded -eq 20' \
		'e.err ~ ^Busy polling: 50 us \(set because' 'r.err ~ ^Busy polling: 50 us$'
fi
