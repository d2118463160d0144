/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What test_json_numbers.c wants, a constant for each part that it writes. */
#ifndef JSON_NUMBERS_H
#define JSON_NUMBERS_H

static const char want_accounts_of_an_emitter_1[] =
"{\"accounts\":{\"packets\":{\"sent\":0,\"received\":0,\"warm_up\":0,\"recorded\":0,\"lost\":0,\"unstamped\":0,"
"\"negative\":0,\"stepped\":0,\"unfinished\":0,\"closing\":1,\"answered\":900,\"late\":0,\"duplicate\":0,"
"\"reordered\":0,\"foreign\":0,\"malformed\":0,\"unverified\":0,\"bad_tlvs\":0,\"bad_hmacs\":0,\"refused\":0,"
"\"dropped_by_this_host\":21,\"strays\":22,\"breaches\":27},\"missing_stamps\":{\"transmit\":25,\"receive\":26,"
"\"came_late\":0,\"came_twice\":0,\"unmatched\":0,\"truncated\":23,\"other\":24},\"no_answer\":{\"outages\":3,"
"\"total_ns\":4000,\"longest_ns\":2500,\"longest_after_start_ns\":77},\"directions\":{\"lost_there\":11,"
"\"lost_back\":12,\"two_there\":16,\"two_back\":17,\"late_there\":14,\"late_back\":15,\"restarts\":18,"
"\"either_way\":13},\"reflector_stamps\":{\"stamp\":\"hardware\",\"complete\":41,\"reply_lost\":42,\"unknown\":43,"
"\"untold\":44,\"mixed\":45,\"at_the_end\":46,\"stepped_there\":47,\"too_late\":28,\"not_judged\":29},"
"\"traffic\":{\"to_there_packets\":999,\"to_there_bytes\":51948,\"from_there_packets\":33,\"from_there_bytes\":34},"
"\"arrived\":{\"other_ttl\":31,\"last_ttl\":63,\"other_dscp\":32,\"last_dscp\":46},\"rate_per_s\":250}}\n";

static const char want_accounts_of_a_reflector_1[] =
"{\"accounts\":{\"packets\":{\"sent\":0,\"received\":0,\"warm_up\":0,\"recorded\":0,\"unstamped\":0,\"negative\":0,"
"\"stepped\":0,\"duplicate\":0,\"reordered\":0,\"foreign\":0,\"malformed\":0,\"unverified\":0,\"disallowed\":0,"
"\"too_short\":0,\"no_session\":0,\"replayed\":0,\"over_rate\":0,\"bad_tlvs\":0,\"unanswered\":0,\"woken\":0,"
"\"refused\":0,\"dropped_by_this_host\":null,\"sessions\":53,\"evicted\":54,\"cut_short\":55,\"lanes\":56,"
"\"no_lane\":57,\"breaches\":0},\"missing_stamps\":{\"transmit\":0,\"receive\":0,\"came_late\":0,\"came_twice\":0,"
"\"unmatched\":0,\"truncated\":0,\"other\":0},\"slowest_woken\":{\"response_ns\":51,\"seq\":52},\"rate_per_s\":null}}\n";

static const char want_numbers_of_a_histogram_1[] =
"{\"statistics\":{\"rtt_ns\":{\"formula\":\"T4_KERNEL - T1_KERNEL\",\"samples\":104,\"negative\":1,\"min_ns\":4000,"
"\"min_seq\":103,\"max_ns\":300000,\"max_seq\":102,\"mean_ns\":11673,\"stddev_ns\":39033,\"sum_ns\":1214000,"
"\"percentiles\":[{\"percent\":50,\"value_ns\":5000,\"bound\":false,\"samples_above\":52},{\"percent\":90,"
"\"value_ns\":6000,\"bound\":false,\"samples_above\":10},{\"percent\":95,\"value_ns\":6000,\"bound\":false,"
"\"samples_above\":5},{\"percent\":99,\"value_ns\":200000,\"bound\":false,\"samples_above\":1},{\"percent\":99.9,"
"\"value_ns\":300000,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,\"value_ns\":300000,\"bound\":false,"
"\"samples_above\":0}],\"histogram\":{\"bucket_ns\":1,\"overflow_from_ns\":100000,\"overflow_samples\":3,"
"\"overflow_not_kept\":0,\"buckets\":[[4000,1],[5000,90],[6000,10]],\"overflow\":[[200000,2],[300000,1]]}}}}\n";

static const char want_numbers_of_a_histogram_2[] =
"{\"statistics\":{\"rtt_ns\":{\"formula\":\"T4_KERNEL - T1_KERNEL\",\"samples\":0,\"negative\":0,\"min_ns\":null,"
"\"min_seq\":null,\"max_ns\":null,\"max_seq\":null,\"mean_ns\":null,\"stddev_ns\":null,\"sum_ns\":null,"
"\"percentiles\":[],\"histogram\":{\"bucket_ns\":1,\"overflow_from_ns\":100000,\"overflow_samples\":0,"
"\"overflow_not_kept\":0,\"buckets\":[],\"overflow\":[]}}}}\n";

static const char want_stages_and_ways_1[] =
"{\"statistics\":{\"rtt_ns\":{\"formula\":\"T4_HW - T1_HW\",\"samples\":101,\"negative\":0,\"min_ns\":15000,"
"\"min_seq\":0,\"max_ns\":15000,\"max_seq\":0,\"mean_ns\":15000,\"stddev_ns\":0,\"sum_ns\":1515000,"
"\"percentiles\":[{\"percent\":50,\"value_ns\":15000,\"bound\":false,\"samples_above\":50},{\"percent\":90,"
"\"value_ns\":15000,\"bound\":false,\"samples_above\":10},{\"percent\":95,\"value_ns\":15000,\"bound\":false,"
"\"samples_above\":5},{\"percent\":99,\"value_ns\":15000,\"bound\":false,\"samples_above\":1},{\"percent\":99.9,"
"\"value_ns\":15000,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,\"value_ns\":15000,\"bound\":false,"
"\"samples_above\":0}]},\"app_to_nic_ns\":{\"formula\":\"T1_HW - T1_SW\",\"samples\":101,\"negative\":0,"
"\"within_ns\":71,\"min_ns\":3000,\"min_seq\":0,\"max_ns\":3000,\"max_seq\":0,\"mean_ns\":3000,\"stddev_ns\":0,"
"\"sum_ns\":303000,\"percentiles\":[{\"percent\":50,\"value_ns\":3000,\"bound\":false,\"samples_above\":50},"
"{\"percent\":90,\"value_ns\":3000,\"bound\":false,\"samples_above\":10},{\"percent\":95,\"value_ns\":3000,"
"\"bound\":false,\"samples_above\":5},{\"percent\":99,\"value_ns\":3000,\"bound\":false,\"samples_above\":1},"
"{\"percent\":99.9,\"value_ns\":3000,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,\"value_ns\":3000,"
"\"bound\":false,\"samples_above\":0}]},\"nic_to_app_ns\":{\"formula\":\"T4_SW - T4_HW\",\"samples\":101,"
"\"negative\":0,\"within_ns\":71,\"min_ns\":2000,\"min_seq\":0,\"max_ns\":2000,\"max_seq\":0,\"mean_ns\":2000,"
"\"stddev_ns\":0,\"sum_ns\":202000,\"percentiles\":[{\"percent\":50,\"value_ns\":2000,\"bound\":false,"
"\"samples_above\":50},{\"percent\":90,\"value_ns\":2000,\"bound\":false,\"samples_above\":10},{\"percent\":95,"
"\"value_ns\":2000,\"bound\":false,\"samples_above\":5},{\"percent\":99,\"value_ns\":2000,\"bound\":false,"
"\"samples_above\":1},{\"percent\":99.9,\"value_ns\":2000,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":2000,\"bound\":false,\"samples_above\":0}]},\"response_ns\":{\"formula\":\"T3_HW - T2_HW\","
"\"samples\":101,\"negative\":0,\"min_ns\":10000,\"min_seq\":0,\"max_ns\":10000,\"max_seq\":0,\"mean_ns\":10000,"
"\"stddev_ns\":0,\"sum_ns\":1010000,\"percentiles\":[{\"percent\":50,\"value_ns\":10000,\"bound\":false,"
"\"samples_above\":50},{\"percent\":90,\"value_ns\":10000,\"bound\":false,\"samples_above\":10},{\"percent\":95,"
"\"value_ns\":10000,\"bound\":false,\"samples_above\":5},{\"percent\":99,\"value_ns\":10000,\"bound\":false,"
"\"samples_above\":1},{\"percent\":99.9,\"value_ns\":10000,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":10000,\"bound\":false,\"samples_above\":0}]},\"network_ns\":{\"formula\":\"RTT - RESPONSE\","
"\"samples\":101,\"negative\":0,\"min_ns\":5000,\"min_seq\":0,\"max_ns\":5000,\"max_seq\":0,\"mean_ns\":5000,"
"\"stddev_ns\":0,\"sum_ns\":505000,\"percentiles\":[{\"percent\":50,\"value_ns\":5000,\"bound\":false,"
"\"samples_above\":50},{\"percent\":90,\"value_ns\":5000,\"bound\":false,\"samples_above\":10},{\"percent\":95,"
"\"value_ns\":5000,\"bound\":false,\"samples_above\":5},{\"percent\":99,\"value_ns\":5000,\"bound\":false,"
"\"samples_above\":1},{\"percent\":99.9,\"value_ns\":5000,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":5000,\"bound\":false,\"samples_above\":0}]},\"remote_nic_to_app_ns\":{\"formula\":\"T2_SW - T2_HW\","
"\"samples\":101,\"negative\":0,\"within_ns\":72,\"min_ns\":2100,\"min_seq\":0,\"max_ns\":2100,\"max_seq\":0,"
"\"mean_ns\":2100,\"stddev_ns\":0,\"sum_ns\":212100,\"percentiles\":[{\"percent\":50,\"value_ns\":2100,\"bound\":false,"
"\"samples_above\":50},{\"percent\":90,\"value_ns\":2100,\"bound\":false,\"samples_above\":10},{\"percent\":95,"
"\"value_ns\":2100,\"bound\":false,\"samples_above\":5},{\"percent\":99,\"value_ns\":2100,\"bound\":false,"
"\"samples_above\":1},{\"percent\":99.9,\"value_ns\":2100,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":2100,\"bound\":false,\"samples_above\":0}]},\"remote_app_processing_ns\":{\"formula\":\"T3_SW - T2_SW\","
"\"samples\":101,\"negative\":0,\"within_ns\":72,\"min_ns\":900,\"min_seq\":0,\"max_ns\":900,\"max_seq\":0,"
"\"mean_ns\":900,\"stddev_ns\":0,\"sum_ns\":90900,\"percentiles\":[{\"percent\":50,\"value_ns\":900,\"bound\":false,"
"\"samples_above\":50},{\"percent\":90,\"value_ns\":900,\"bound\":false,\"samples_above\":10},{\"percent\":95,"
"\"value_ns\":900,\"bound\":false,\"samples_above\":5},{\"percent\":99,\"value_ns\":900,\"bound\":false,"
"\"samples_above\":1},{\"percent\":99.9,\"value_ns\":900,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":900,\"bound\":false,\"samples_above\":0}]},\"remote_app_to_nic_ns\":{\"formula\":\"T3_HW - T3_SW\","
"\"samples\":101,\"negative\":0,\"within_ns\":72,\"min_ns\":7000,\"min_seq\":0,\"max_ns\":7000,\"max_seq\":0,"
"\"mean_ns\":7000,\"stddev_ns\":0,\"sum_ns\":707000,\"percentiles\":[{\"percent\":50,\"value_ns\":7000,\"bound\":false,"
"\"samples_above\":50},{\"percent\":90,\"value_ns\":7000,\"bound\":false,\"samples_above\":10},{\"percent\":95,"
"\"value_ns\":7000,\"bound\":false,\"samples_above\":5},{\"percent\":99,\"value_ns\":7000,\"bound\":false,"
"\"samples_above\":1},{\"percent\":99.9,\"value_ns\":7000,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":7000,\"bound\":false,\"samples_above\":0}]},\"forward_ns\":{\"formula\":\"T2 - T1\",\"samples\":1,"
"\"negative\":0,\"within_ns\":73,\"min_ns\":2400,\"min_seq\":1,\"max_ns\":2400,\"max_seq\":1,\"mean_ns\":2400,"
"\"stddev_ns\":0,\"sum_ns\":2400,\"percentiles\":[{\"percent\":50,\"value_ns\":2400,\"bound\":false,"
"\"samples_above\":0},{\"percent\":90,\"value_ns\":2400,\"bound\":false,\"samples_above\":0},{\"percent\":95,"
"\"value_ns\":2400,\"bound\":false,\"samples_above\":0},{\"percent\":99,\"value_ns\":2400,\"bound\":false,"
"\"samples_above\":0},{\"percent\":99.9,\"value_ns\":2400,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":2400,\"bound\":false,\"samples_above\":0}]},\"backward_ns\":{\"formula\":\"T4 - T3\",\"samples\":1,"
"\"negative\":0,\"within_ns\":73,\"min_ns\":2600,\"min_seq\":1,\"max_ns\":2600,\"max_seq\":1,\"mean_ns\":2600,"
"\"stddev_ns\":0,\"sum_ns\":2600,\"percentiles\":[{\"percent\":50,\"value_ns\":2600,\"bound\":false,"
"\"samples_above\":0},{\"percent\":90,\"value_ns\":2600,\"bound\":false,\"samples_above\":0},{\"percent\":95,"
"\"value_ns\":2600,\"bound\":false,\"samples_above\":0},{\"percent\":99,\"value_ns\":2600,\"bound\":false,"
"\"samples_above\":0},{\"percent\":99.9,\"value_ns\":2600,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,"
"\"value_ns\":2600,\"bound\":false,\"samples_above\":0}]},\"sent_late_ns\":{\"formula\":\"T1 - slot\",\"samples\":1,"
"\"negative\":0,\"min_ns\":801,\"min_seq\":8,\"max_ns\":801,\"max_seq\":8,\"mean_ns\":801,\"stddev_ns\":0,"
"\"sum_ns\":801,\"percentiles\":[{\"percent\":50,\"value_ns\":801,\"bound\":false,\"samples_above\":0},{\"percent\":90,"
"\"value_ns\":801,\"bound\":false,\"samples_above\":0},{\"percent\":95,\"value_ns\":801,\"bound\":false,"
"\"samples_above\":0},{\"percent\":99,\"value_ns\":801,\"bound\":false,\"samples_above\":0},{\"percent\":99.9,"
"\"value_ns\":801,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,\"value_ns\":801,\"bound\":false,"
"\"samples_above\":0}]},\"rtt_from_slot_ns\":{\"formula\":\"RTT + sent late\",\"samples\":1,\"negative\":0,"
"\"min_ns\":15801,\"min_seq\":9,\"max_ns\":15801,\"max_seq\":9,\"mean_ns\":15801,\"stddev_ns\":0,\"sum_ns\":15801,"
"\"percentiles\":[{\"percent\":50,\"value_ns\":15801,\"bound\":false,\"samples_above\":0},{\"percent\":90,"
"\"value_ns\":15801,\"bound\":false,\"samples_above\":0},{\"percent\":95,\"value_ns\":15801,\"bound\":false,"
"\"samples_above\":0},{\"percent\":99,\"value_ns\":15801,\"bound\":false,\"samples_above\":0},{\"percent\":99.9,"
"\"value_ns\":15801,\"bound\":false,\"samples_above\":0},{\"percent\":99.99,\"value_ns\":15801,\"bound\":false,"
"\"samples_above\":0}]}}}\n";

static const char want_variations_1[] =
"{\"ipdv\":{\"response_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":13,\"max_ns\":23,\"mean_ns\":20,"
"\"stddev_ns\":5,\"p50_ns\":23,\"p99_ns\":23},\"rtt_ipdv_ns\":{\"samples\":3,\"beyond\":82,\"min_ns\":10,\"max_ns\":20,"
"\"mean_ns\":17,\"stddev_ns\":5,\"p50_ns\":20,\"p99_ns\":20},\"network_ipdv_ns\":{\"samples\":3,\"beyond\":0,"
"\"min_ns\":14,\"max_ns\":24,\"mean_ns\":21,\"stddev_ns\":5,\"p50_ns\":24,\"p99_ns\":24},"
"\"send_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":11,\"max_ns\":21,\"mean_ns\":18,\"stddev_ns\":5,\"p50_ns\":21,"
"\"p99_ns\":21},\"receive_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":12,\"max_ns\":22,\"mean_ns\":19,"
"\"stddev_ns\":5,\"p50_ns\":22,\"p99_ns\":22},\"left_out\":81}}\n";

static const char want_variations_2[] =
"{\"ipdv\":{\"response_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":13,\"max_ns\":23,\"mean_ns\":20,"
"\"stddev_ns\":5,\"p50_ns\":23,\"p99_ns\":23},\"left_out\":81}}\n";

static const char want_variations_3[] =
"{\"statistics\":{\"rtt_ns\":{\"formula\":\"T4_KERNEL - T1_KERNEL\",\"samples\":0,\"negative\":0,\"min_ns\":null,"
"\"min_seq\":null,\"max_ns\":null,\"max_seq\":null,\"mean_ns\":null,\"stddev_ns\":null,\"sum_ns\":null,"
"\"percentiles\":[]}},\"ipdv\":{\"response_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":13,\"max_ns\":23,"
"\"mean_ns\":20,\"stddev_ns\":5,\"p50_ns\":23,\"p99_ns\":23},\"rtt_ipdv_ns\":{\"samples\":3,\"beyond\":82,"
"\"min_ns\":10,\"max_ns\":20,\"mean_ns\":17,\"stddev_ns\":5,\"p50_ns\":20,\"p99_ns\":20},"
"\"network_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":14,\"max_ns\":24,\"mean_ns\":21,\"stddev_ns\":5,"
"\"p50_ns\":24,\"p99_ns\":24},\"send_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":11,\"max_ns\":21,\"mean_ns\":18,"
"\"stddev_ns\":5,\"p50_ns\":21,\"p99_ns\":21},\"receive_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":12,"
"\"max_ns\":22,\"mean_ns\":19,\"stddev_ns\":5,\"p50_ns\":22,\"p99_ns\":22},\"left_out\":81},"
"\"as_told\":{\"from\":\"T2 and T3 in the replies, T3 of the reflector's program before it sent\","
"\"response_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":10,\"max_ns\":20,\"mean_ns\":17,\"stddev_ns\":5,\"p50_ns\":20,"
"\"p99_ns\":20},\"network_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":11,\"max_ns\":21,\"mean_ns\":18,\"stddev_ns\":5,"
"\"p50_ns\":21,\"p99_ns\":21},\"send_delay_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":13,\"max_ns\":23,\"mean_ns\":20,"
"\"stddev_ns\":5,\"p50_ns\":23,\"p99_ns\":23},\"receive_delay_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":12,"
"\"max_ns\":22,\"mean_ns\":19,\"stddev_ns\":5,\"p50_ns\":22,\"p99_ns\":22},\"ways_within_ns\":91,"
"\"response_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":15,\"max_ns\":25,\"mean_ns\":22,\"stddev_ns\":5,"
"\"p50_ns\":25,\"p99_ns\":25},\"network_ipdv_ns\":{\"samples\":3,\"beyond\":0,\"min_ns\":16,\"max_ns\":26,"
"\"mean_ns\":23,\"stddev_ns\":5,\"p50_ns\":26,\"p99_ns\":26},\"receive_ipdv_ns\":{\"samples\":3,\"beyond\":0,"
"\"min_ns\":17,\"max_ns\":27,\"mean_ns\":24,\"stddev_ns\":5,\"p50_ns\":27,\"p99_ns\":27},\"negative\":1000,"
"\"no_part\":93,\"two_clocks\":94},\"schedule\":null,\"window\":null,\"source_ports\":null}\n";

static const char want_schedule_and_ports_1[] =
"{\"statistics\":{\"rtt_ns\":{\"formula\":\"T4_KERNEL - T1_KERNEL\",\"samples\":0,\"negative\":0,\"min_ns\":null,"
"\"min_seq\":null,\"max_ns\":null,\"max_seq\":null,\"mean_ns\":null,\"stddev_ns\":null,\"sum_ns\":null,"
"\"percentiles\":[]}},\"ipdv\":{\"response_ipdv_ns\":null,\"rtt_ipdv_ns\":null,\"network_ipdv_ns\":null,"
"\"send_ipdv_ns\":null,\"receive_ipdv_ns\":null},\"as_told\":null,\"schedule\":{\"interval_ns\":1001,\"slots\":1002,"
"\"missed\":1003},\"window\":{\"most\":64,\"reached\":63,\"transmit_stamps_at_once\":62,"
"\"transmit_stamps_limited\":true,\"stamp_every\":4},\"source_ports\":{\"figure\":\"rtt_ns\",\"worst_port\":40002,"
"\"each\":[{\"port\":40001,\"samples\":3,\"sent\":1000,\"lost\":5,\"refused\":20,\"lost_there\":null,"
"\"lost_back\":null,\"p50_ns\":20,\"p99_ns\":20,\"max_ns\":20},{\"port\":40002,\"samples\":3,\"sent\":1001,\"lost\":14,"
"\"refused\":21,\"lost_there\":31,\"lost_back\":32,\"p50_ns\":21,\"p99_ns\":21,\"max_ns\":21}]}}\n";

static const char want_schedule_and_ports_2[] =
"source_ports\":{\"figure\":\"rtt_ns\",\"worst_port\":null,\"each\":[{\"port\":40001,\"samples\":3,\"sent\":0,"
"\"lost\":5,\"refused\":20,\"lost_there\":null,\"lost_back\":null,\"p50_ns\":20,\"p99_ns\":20,\"max_ns\":20},"
"{\"port\":40002,\"samples\":0,\"sent\":0,\"lost\":14,\"refused\":21,\"lost_there\":31,\"lost_back\":32,"
"\"p50_ns\":null,\"p99_ns\":null,\"max_ns\":null}]}}\n";

static const char want_schedule_and_ports_3[] =
"as_told\":null,\"schedule\":null,\"window\":null,\"source_ports\":null}\n";

static const char want_breaches_of_an_emitter_1[] =
"{\"breaches\":{\"threshold_ns\":100000,\"threshold_on\":\"rtt_ns\",\"count\":2,\"first\":{\"number\":1,\"seq\":7,"
"\"value_ns\":115000,\"latency_ns\":115000,\"stamps\":{\"t1_sw_ns\":1773883524780127138,"
"\"t1_hw_ns\":1773883524780130138,\"t4_hw_ns\":1773883524780245138,\"t4_sw_ns\":1773883524780247138,"
"\"t2_hw_ns\":1234567890000000000,\"t2_sw_ns\":1234567890000002100,\"t3_sw_ns\":1234567890000003000,"
"\"t3_hw_ns\":1234567890000110000},\"parts\":{\"app_to_nic_ns\":3000,\"nic_to_app_ns\":2000,\"response_ns\":110000,"
"\"network_ns\":5000,\"remote_nic_to_app_ns\":2100,\"remote_app_processing_ns\":900,\"remote_app_to_nic_ns\":107000},"
"\"not_known\":[],\"blame\":{\"part\":\"remote_app_to_nic_ns\",\"known\":true,\"value_ns\":107000,\"typical_ns\":7000,"
"\"typical_is_bound\":false}},\"worst\":{\"seq\":9,\"value_ns\":215000,\"latency_ns\":215000,"
"\"stamps\":{\"t1_sw_ns\":1773883524780127138,\"t1_hw_ns\":1773883524780130138,\"t4_hw_ns\":1773883524780345138,"
"\"t4_sw_ns\":1773883524780347138,\"t2_hw_ns\":1234567890000000000,\"t2_sw_ns\":1234567890000002100,"
"\"t3_sw_ns\":1234567890000003000,\"t3_hw_ns\":1234567890000010000},\"parts\":{\"app_to_nic_ns\":3000,"
"\"nic_to_app_ns\":2000,\"response_ns\":10000,\"network_ns\":205000,\"remote_nic_to_app_ns\":2100,"
"\"remote_app_processing_ns\":900,\"remote_app_to_nic_ns\":7000},\"not_known\":[],\"blame\":{\"part\":\"network_ns\","
"\"known\":true,\"value_ns\":205000,\"typical_ns\":5000,\"typical_is_bound\":false}},\"last\":[{\"number\":1,\"seq\":7,"
"\"value_ns\":115000,\"latency_ns\":115000,\"stamps\":{\"t1_sw_ns\":1773883524780127138,"
"\"t1_hw_ns\":1773883524780130138,\"t4_hw_ns\":1773883524780245138,\"t4_sw_ns\":1773883524780247138,"
"\"t2_hw_ns\":1234567890000000000,\"t2_sw_ns\":1234567890000002100,\"t3_sw_ns\":1234567890000003000,"
"\"t3_hw_ns\":1234567890000110000},\"parts\":{\"app_to_nic_ns\":3000,\"nic_to_app_ns\":2000,\"response_ns\":110000,"
"\"network_ns\":5000,\"remote_nic_to_app_ns\":2100,\"remote_app_processing_ns\":900,\"remote_app_to_nic_ns\":107000},"
"\"not_known\":[],\"blame\":{\"part\":\"remote_app_to_nic_ns\",\"known\":true,\"value_ns\":107000,\"typical_ns\":7000,"
"\"typical_is_bound\":false}},{\"number\":2,\"seq\":9,\"value_ns\":215000,\"latency_ns\":215000,"
"\"stamps\":{\"t1_sw_ns\":1773883524780127138,\"t1_hw_ns\":1773883524780130138,\"t4_hw_ns\":1773883524780345138,"
"\"t4_sw_ns\":1773883524780347138,\"t2_hw_ns\":1234567890000000000,\"t2_sw_ns\":1234567890000002100,"
"\"t3_sw_ns\":1234567890000003000,\"t3_hw_ns\":1234567890000010000},\"parts\":{\"app_to_nic_ns\":3000,"
"\"nic_to_app_ns\":2000,\"response_ns\":10000,\"network_ns\":205000,\"remote_nic_to_app_ns\":2100,"
"\"remote_app_processing_ns\":900,\"remote_app_to_nic_ns\":7000},\"not_known\":[],\"blame\":{\"part\":\"network_ns\","
"\"known\":true,\"value_ns\":205000,\"typical_ns\":5000,\"typical_is_bound\":false}}]}}\n";

static const char want_breaches_of_an_emitter_2[] =
"{\"breach\":{\"number\":2,\"seq\":9,\"value_ns\":215000,\"latency_ns\":215000,"
"\"stamps\":{\"t1_sw_ns\":1773883524780127138,\"t1_hw_ns\":1773883524780130138,\"t4_hw_ns\":1773883524780345138,"
"\"t4_sw_ns\":1773883524780347138,\"t2_hw_ns\":1234567890000000000,\"t2_sw_ns\":1234567890000002100,"
"\"t3_sw_ns\":1234567890000003000,\"t3_hw_ns\":1234567890000010000},\"parts\":{\"app_to_nic_ns\":3000,"
"\"nic_to_app_ns\":2000,\"response_ns\":10000,\"network_ns\":205000,\"remote_nic_to_app_ns\":2100,"
"\"remote_app_processing_ns\":900,\"remote_app_to_nic_ns\":7000}}}\n";

static const char want_breaches_of_an_emitter_3[] =
"{\"breaches\":{\"threshold_ns\":100000,\"threshold_on\":\"rtt_ns\",\"count\":0,\"first\":null,\"worst\":null,"
"\"last\":[]}}\n";

static const char want_breaches_of_an_emitter_4[] =
"{\"breaches\":null}\n";

static const char want_what_a_breach_does_not_tell_1[] =
"{\"breach\":{\"seq\":7,\"value_ns\":115000,\"latency_ns\":115000,\"stamps\":{\"t1_sw_ns\":1773883524780127138,"
"\"t1_hw_ns\":1773883524780130138,\"t4_hw_ns\":1773883524780245138,\"t4_sw_ns\":1773883524780247138,"
"\"t2_hw_ns\":1234567890000000000,\"t2_sw_ns\":1234567890000002100,\"t3_sw_ns\":1234567890000003000},"
"\"parts\":{\"app_to_nic_ns\":3000,\"nic_to_app_ns\":2000,\"remote_nic_to_app_ns\":2100,"
"\"remote_app_processing_ns\":900,\"wire_and_reflector_ns\":115000},\"not_known\":[{\"parts\":[\"Response\","
"\"network\"],\"why\":\"the next reply, which tells when this one left, was lost\"}],"
"\"blame\":{\"part\":\"wire_and_reflector_ns\",\"known\":true,\"value_ns\":115000,\"typical_ns\":15000,"
"\"typical_is_bound\":false}}}\n";

static const char want_clocks_of_both_hosts_1[] =
"{\"clocks\":{\"nic_clock\":{\"name\":\"ptp_x\",\"scale\":null,\"method\":\"PTP_SYS_OFFSET_EXTENDED\","
"\"minus_realtime\":{\"offset_ns\":37000000102,\"bound_ns\":103},\"readings\":1,\"failed_readings\":104,"
"\"rate_ppb\":109,\"rate_bound_ppb\":110,\"steered\":null,\"steps\":105,\"largest_jump_ns\":null,"
"\"largest_jump_bound_ns\":null,\"spells\":[{\"kind\":\"stood still\",\"least_ns\":52,\"most_ns\":58,"
"\"began_after_start_ns\":[100,110]},{\"kind\":\"wrong rate\",\"rate_ppb\":-2000,\"rate_bound_ppb\":115,"
"\"least_ns\":80,\"most_ns\":null,\"began_after_start_ns\":[200,220]}]},\"system_clock\":{\"rate_ppb\":null,"
"\"rate_bound_ppb\":null,\"steered\":null,\"steps\":106,\"largest_jump_ns\":-107,\"largest_jump_bound_ns\":108},"
"\"steps\":[{\"clock\":\"system_clock\",\"size_ns\":111,\"bound_ns\":112,\"after_start_ns\":[113,114]}],"
"\"reflector\":{\"minus_this_clock\":null,\"rate_ppb\":null,\"rate_bound_ppb\":null,\"doubted_replies\":131,"
"\"events\":[{\"kind\":\"jumped\",\"of_the_reflector\":false,\"size_ns\":2000,\"bound_ns\":251,\"stood_ns\":null,"
"\"rate_ppb\":null,\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"stood still\","
"\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":127,\"rate_ppb\":null,"
"\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,"
"\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],"
"\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,"
"\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\","
"\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,"
"\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,"
"\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],"
"\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,"
"\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\","
"\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,"
"\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,"
"\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],"
"\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,"
"\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\","
"\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,"
"\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,"
"\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],"
"\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,"
"\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\","
"\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,"
"\"after_start_ns\":[123,124],\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,"
"\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],"
"\"after_seq\":[121,122]},{\"kind\":\"jumped\",\"of_the_reflector\":false,\"size_ns\":null,\"bound_ns\":null,"
"\"stood_ns\":null,\"rate_ppb\":null,\"after_start_ns\":[123,124],\"after_seq\":[121,122]}],\"events_left_out\":3},"
"\"stages_within_ns\":128,\"remote_stages_within_ns\":129,\"no_stages\":\"why\",\"unplaced\":132,\"disordered\":133}}\n";

static const char want_clocks_of_both_hosts_2[] =
"{\"clocks\":{\"nic_clock\":{\"not_comparable\":\"no clock\"},\"system_clock\":{\"rate_ppb\":null,"
"\"rate_bound_ppb\":null,\"steered\":null,\"steps\":106,\"largest_jump_ns\":-107,\"largest_jump_bound_ns\":108},"
"\"steps\":[{\"clock\":\"system_clock\",\"size_ns\":111,\"bound_ns\":112,\"after_start_ns\":[113,114]}],"
"\"reflector\":null,\"stages_within_ns\":128,\"remote_stages_within_ns\":129,\"no_stages\":\"why\",\"unplaced\":132,"
"\"disordered\":133}}\n";

static const char want_clocks_of_both_hosts_3[] =
"{\"clocks\":null}\n";

static const char want_what_the_machine_did_1[] =
"{\"activity\":{\"run\":[{\"group\":\"cpu\",\"name\":\"a\",\"unit\":null,\"change\":\"counted\",\"count\":141},"
"{\"group\":\"cpu\",\"name\":\"b\",\"unit\":\"MHz\",\"change\":\"changed\",\"from\":145,\"to\":146},{\"group\":\"nic\","
"\"name\":\"c\",\"unit\":null,\"change\":\"gone\",\"from\":148,\"to\":null}],\"until_first_breach\":null,"
"\"before_worst_breach\":null,\"left_out\":0,\"not_read\":351},\"counters\":{\"user_only\":true,\"quick_exchanges\":10,"
"\"slow_exchanges\":1,\"failed_exchanges\":154,\"each\":[{\"name\":\"cycles\",\"quick_mean\":5.5,\"spike\":152,"
"\"too_low\":false},{\"name\":\"instructions\",\"quick_mean\":6.6,\"spike\":153,\"too_low\":true}]},"
"\"trace\":{\"path\":\"/sys/kernel/tracing/instances/rant\",\"clock\":\"mono_raw\",\"markers\":158,\"saves\":159,"
"\"saved\":\"/x\"},\"commands\":[{\"command\":\"true\",\"ran\":155,\"failed\":156,\"left_out\":157}],"
"\"log\":{\"path\":null,\"form\":\"text\",\"records\":101,\"left_out\":163,\"unwritten\":162,\"octets\":24150}}\n";

static const char want_what_the_machine_did_2[] =
"{\"activity\":{\"run\":null,\"until_first_breach\":null,\"before_worst_breach\":null,\"left_out\":0,\"not_read\":0},"
"\"counters\":{\"user_only\":true,\"quick_exchanges\":0,\"slow_exchanges\":0,\"failed_exchanges\":154,"
"\"each\":[{\"name\":\"cycles\",\"quick_mean\":null,\"spike\":null,\"too_low\":false},{\"name\":\"instructions\","
"\"quick_mean\":null,\"spike\":null,\"too_low\":true}]},\"trace\":null,\"commands\":[],\"log\":null}\n";

static const char want_the_verdict_and_its_numbers_1[] =
"{\"verdict\":null}\n";

static const char want_the_verdict_and_its_numbers_2[] =
"{\"verdict\":{\"level\":\"void\",\"reasons\":[{\"name\":\"stamps are missing of requests\",\"level\":\"doubtful\","
"\"found\":\"3 of 9\",\"number\":171,\"limit\":172,\"why\":\"because\"},{\"name\":\"b\",\"level\":\"void\","
"\"found\":\"d\",\"number\":173,\"limit\":174,\"why\":\"c\"}],\"not_judged\":[\"e\"],\"tracing\":\"/t\"}}\n";

static const char want_a_run_1[] =
"{\"run\":{\"role\":\"emit\",\"interface\":\"veth0\",\"server\":null,\"port\":862,\"stamp\":\"kernel\","
"\"latency\":\"RTT = T4_KERNEL - T1_KERNEL\",\"began_unix_ns\":null,\"duration_ns\":0,\"end\":null}}\n";

static const char want_the_host_and_what_it_granted_1[] =
"{\"host\":{\"hostname\":\"h\",\"kernel\":\"k\",\"kernel_version\":\"v\",\"real_time_kernel\":false,\"machine\":\"m\","
"\"cpu_model\":\"c\",\"cpus_online\":201,\"measuring_cpu\":193,\"governor\":\"g\",\"isolated_cpus\":\"2-3\","
"\"clocksource\":\"tsc\",\"virtual\":true,\"hypervisor\":null},\"nic\":{\"interface\":\"eth7\",\"driver\":\"igb\","
"\"driver_version\":\"dv\",\"firmware\":\"f\",\"bus\":\"b\",\"mtu_bytes\":194,\"speed_mbps\":202,\"duplex\":\"half\","
"\"coalescing\":{\"adaptive_receive\":true,\"receive_us\":203,\"adaptive_transmit\":false,\"transmit_us\":204},"
"\"phc_index\":195,\"stamped_by\":null,\"stamp_setting\":{\"transmit\":\"on\",\"receive_filter\":\"none\"},"
"\"stamp_setting_after\":{\"transmit\":\"off\",\"receive_filter\":\"all\"}}}\n";

static const char want_the_host_and_what_it_granted_2[] =
"\"granted\":{\"transport\":null,\"receive_buffer_bytes\":197,\"stamps\":\"hardware\",\"transmit_stamps\":true,"
"\"stamp_ids\":\"counted by the kernel\",\"bucket_ns\":1,\"probe_bytes\":198,\"window\":199,\"busy_poll_us\":196,"
"\"cpus_allowed\":191,\"policy\":\"SCHED_FIFO\",\"priority\":192,\"other_cpu\":true,\"memory_locked\":false}}}\n";

static const char want_the_host_and_what_it_granted_3[] =
"{\"host\":{\"hostname\":\"h\",\"kernel\":\"k\",\"kernel_version\":\"v\",\"real_time_kernel\":null,\"machine\":\"m\","
"\"cpu_model\":\"c\",\"cpus_online\":null,\"measuring_cpu\":null,\"governor\":\"g\",\"isolated_cpus\":null,"
"\"clocksource\":\"tsc\",\"virtual\":null,\"hypervisor\":null},\"nic\":{\"interface\":\"eth7\",\"driver\":\"igb\","
"\"driver_version\":\"dv\",\"firmware\":\"f\",\"bus\":\"b\",\"mtu_bytes\":194,\"speed_mbps\":null,\"duplex\":null,"
"\"coalescing\":null,\"phc_index\":null,\"stamped_by\":null,\"stamp_setting\":null,"
"\"stamp_setting_after\":{\"transmit\":\"off\",\"receive_filter\":\"all\"}}}\n";

#endif
