/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON of a small run, for tests that read it or a changed copy. */
#ifndef RESULTS_RUN_H
#define RESULTS_RUN_H

/* 200 round trips: 100 of 5 us, 99 of 6 us and one of 200 us, above the overflow threshold; responses of 4 us; two
 * seconds. */
static const char results_run[] =
"{\"format\": \"rant\", \"schema_version\": 1, \"rant_version\": \"0.1\",\n"
"\"run\": {\"role\": \"emit\", \"interface\": \"eth0\", \"server\": \"192.0.2.1\", \"port\": 862, \"stamp\": "
"\"kernel\",\n"
" \"latency\": \"RTT = T4_KERNEL - T1_KERNEL\", \"began_unix_ns\": 1773883524780127138, \"duration_ns\": 2000000000, "
"\"end\": \"count\"},\n"
"\"exit_status\": 0,\n"
"\"verdict\": {\"level\": \"doubtful\", \"reasons\": [{\"name\": \"stamps are missing\", \"level\": \"doubtful\", "
"\"found\": \"3 of 9\", \"number\": 3,\n"
" \"limit\": 0, \"why\": \"because\"}], \"not_judged\": [], \"tracing\": null},\n"
"\"configuration\": {\"options\": {\"interface\": \"eth0\", \"stamp\": \"kernel\", \"port\": 862, \"timeout_ns\": "
"100000000, \"interval_ns\": null,\n"
" \"plain\": false, \"sw_timestamps\": false, \"no_tx_ts\": false, \"stamp_every\": 1, \"ttl\": 255, \"overflow_ns\": "
"100000}},\n"
"\"accounts\": {\"packets\": {\"sent\": 203, \"received\": 201, \"warm_up\": 0, \"recorded\": 200, \"lost\": 2, "
"\"closing\": 1, \"answered\": 201,\n"
" \"dropped_by_this_host\": 0, \"strays\": 0, \"breaches\": 0}, \"missing_stamps\": {\"transmit\": 0, \"receive\": 0, "
"\"truncated\": 0, \"other\": 0},\n"
" \"no_answer\": {\"outages\": 2, \"total_ns\": 200000000, \"longest_ns\": 100000000, \"longest_after_start_ns\": 7},\n"
" \"directions\": {\"lost_there\": 1, \"lost_back\": 1, \"either_way\": 0},\n"
" \"reflector_stamps\": {\"stamp\": \"kernel\", \"complete\": 199, \"reply_lost\": 1},\n"
" \"traffic\": {\"to_there_packets\": 202, \"to_there_bytes\": 19392, \"from_there_packets\": 200, "
"\"from_there_bytes\": 19200}, \"rate_per_s\": 100, \"active_ns\": 2000000000},\n"
"\"statistics\": {\"rtt_ns\": {\"formula\": \"T4_KERNEL - T1_KERNEL\", \"samples\": 200, \"negative\": 0, \"min_ns\": "
"5000, \"min_seq\": 0,\n"
"  \"max_ns\": 200000, \"max_seq\": 9, \"mean_ns\": 6470, \"stddev_ns\": 13728, \"sum_ns\": 1294000, \"percentiles\": "
"[],\n"
"  \"histogram\": {\"bucket_ns\": 1, \"overflow_from_ns\": 100000, \"overflow_samples\": 1, \"overflow_not_kept\": 0,\n"
"   \"buckets\": [[5000, 100], [6000, 99]], \"overflow\": [[200000, 1]]}},\n"
" \"response_ns\": {\"formula\": \"T3_KERNEL - T2_KERNEL\", \"samples\": 199, \"negative\": 0, \"min_ns\": 4000, "
"\"min_seq\": 0,\n"
"  \"max_ns\": 4000, \"max_seq\": 0, \"mean_ns\": 4000, \"stddev_ns\": 0, \"sum_ns\": 796000, \"percentiles\": [],\n"
"  \"histogram\": {\"bucket_ns\": 1, \"overflow_from_ns\": 100000, \"overflow_samples\": 0, \"overflow_not_kept\": 0,\n"
"   \"buckets\": [[4000, 199]], \"overflow\": []}}},\n"
"\"seconds\": [{\"from_ns\": 0, \"to_ns\": 1000000000, \"unix_ns\": 1773883525780127138, \"sent\": 100, \"lost\": 0, "
"\"samples\": 100,\n"
"  \"p50_ns\": 5000, \"p99_ns\": 5000, \"p99_9_ns\": 5000, \"max_ns\": 5000, \"not_in_percentiles\": 0, \"buckets\": "
"[[4992, 100]]},\n"
" {\"from_ns\": 1000000000, \"to_ns\": 2000000000, \"unix_ns\": 1773883526780127138, \"sent\": 102, \"lost\": 2, "
"\"samples\": 100,\n"
"  \"p50_ns\": 6000, \"p99_ns\": 6000, \"p99_9_ns\": 200000, \"max_ns\": 200000, \"not_in_percentiles\": 0, "
"\"buckets\": [[5984, 99], [199680, 1]]}],\n"
"\"breaches\": null}\n";

#endif
