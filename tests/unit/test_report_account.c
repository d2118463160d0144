/* build: sources=report/headline.c,report/buckets.c,report/verdict_finding.c,report/log_file.c,report/log_mend.c,report/breach.c,report/clocks.c,report/clocks_there.c,report/echo.c,report/evidence.c,report/label.c,report/machine.c,host/place.c,report/part.c,report/report.c,report/statistics.c,report/variation.c,report/source_ports.c,histogram.c,tracefs.c,host/trace_*.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/activity*.c,host/clock*.c,host/nic*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The accounts: each counter in its row, and none where there is nothing to tell. */
#include "report/account.c"

#include "fake_report.h"

#include <errno.h>

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

#define PACKETS "\nPackets:\n"

/* Each counter in its own row: they get different numbers. */
static void the_accounts_of_an_emitter(void **state)
{
	struct account *a = &exchange.account;
	counter *const counters[] = { &a->sent, &a->received, &a->warmup, &a->recorded, &a->lost, &a->unstamped, &a->negative,
				      &a->stepped, &a->unfinished, &a->closing, &a->answered, &a->late, &a->duplicate, &a->reordered,
				      &a->foreign, &a->malformed, &a->unverified, &a->malformed_tlv, &a->unusable_tlv, &a->refused };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(counters); i++)
		counter_add(counters[i], 101 + i);
	report.strays = 121;
	channel.dropped = 122;
	assert_section(PACKETS, "  Sent      :  101\n  Received  :  102\n"
		       "  Warm-up   :  103  (answered, left out of the statistics)\n  Recorded  :  104\n"
		       "  Lost      :  105  (no reply within --timeout)\n"
		       "  Unstamped :  106  (answered, but a stamp is missing: not recorded)\n"
		       "  Negative  :  107  (the clock went back: not recorded)\n"
		       "  Stepped   :  108  (a clock was set in between: not recorded)\n"
		       "  Unfinished:  109  (interrupted)\n"
		       "  Closing   :  110  (sent after the end, to hear when the last reply left)\n"
		       "  Answered  :  111  (by replies in time)\n"
		       "  Late      :  112  (replies to probes that were given up)\n"
		       "  Duplicate :  113  (replies that came again)\n  Reordered :  114  (came after a later one)\n"
		       "  Foreign   :  115  (not an answer to a probe of this run)\n  Malformed :  116\n"
		       "  Unverified:  117  (the HMAC is wrong or missing: not used)\n"
		       "  Bad TLVs  :  118  (of replies: malformed, or marked so)\n"
		       "  Bad HMACs :  119  (of replies: failed their integrity check, not used)\n"
		       "  Refused   :  120  (by the kernel: sends, and errors it reported)\n"
		       "  Dropped by this host:  122  (our socket had no room, or the checksum was wrong)\n"
		       "  Strays    :  121  (to our port from others than the server, dropped)\n  all others 0\n");
	options.verbose = true;
	assert_non_null(strstr(written(0), "reported)\n  No answer for:  0.000 s\n  Dropped by this host:  122"));
	assert_no(text, "all others");
}

/* But what is looked for first. With -v each has its row. */
static void what_is_0_is_one_line(void **state)
{
	(void)state;
	counter_add(&exchange.account.sent, 10);
	counter_add(&exchange.account.late, 3);
	assert_section(PACKETS, "  Sent      :  10\n  Received  :  0\n  Recorded  :  0\n  Lost      :  0\n"
		       "  Late      :  3  (replies to probes that were given up)\n  all others 0\n");
	assert_line(text, "Missing stamps: none");
	counter_add(&exchange.account.missing_rx, 4);
	assert_section("\nMissing stamps:\n", "  Receive   :  4\n  all others 0\n");
	options.threshold_ns = 1;
	assert_line(written(0), "  Breaches  :  0");
	options.verbose = true;
	assert_section("\nMissing stamps:\n", "  Transmit  :  0\n  Receive   :  4\n  Came late :  0\n  Came twice:  0\n"
		       "  Unmatched :  0\n  Truncated :  0\n  Other     :  0\n");
	assert_line(text, "  Strays    :  0");
	assert_line(text, "  Duplicate :  0");
	assert_no(text, "all others");
	/* A reflector's, where nothing was sent. */
	options.verbose = false;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 0;
	memset(&exchange.account, 0, sizeof(exchange.account));
	assert_section(PACKETS, "  Sent      :  0\n  Received  :  0\n  Recorded  :  0\n  Sessions  :  0\n  all others 0\n");
}

/* What never happens has a row only when it does. */
static void requests_that_were_cut_short(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	assert_no(written(0), "Cut short");
	assert_no(text, "Answered"); /* it is Sent */
	counter_add(&exchange.account.cut_short, 31);
	assert_line(written(0), "  Cut short :  31  (not answered: the kernel's control messages were truncated)");
}

/* Beside the count of lost probes, for how long that was; and what no probe or reply tells. */
static void what_was_not_there_for_a_while(void **state)
{
	(void)state;
	exchange.began_ns = 7 * NS_PER_S;
	exchange.ended_ns = 67 * NS_PER_S;
	exchange.outages = (struct outages){ .count = 2, .total_ns = 1104 * NS_PER_MS, .longest_ns = 1003 * NS_PER_MS,
					     .longest_at_ns = 19 * NS_PER_S + 345 * NS_PER_MS };
	assert_line(written(0), "  No answer for:  1.104 s  (1.84 % of the run, 2 times, the longest 1.003 s, 12.345 s after the start)");
	assert_no(text, "Dropped by this host");
	channel.dropped = -1;
	assert_line(written(0), "  Dropped by this host:  not known");
	/* A reflector has no probes, and does not know what it should have got. */
	options.role = ROLE_REFLECT;
	assert_no(written(0), "No answer for");
	assert_line(text, "  Dropped by this host:  not known");
	channel.dropped = 37935;
	assert_line(written(0), "  Dropped by this host:  37935  (our socket had no room, or the checksum was wrong)");
}

/* ---- By direction, and at the other host ------------------------------------------------------------------------- */

#define DIRECTIONS "\nDirections:"

static void losses_by_direction(void **state)
{
	struct directions *d = &exchange.directions;

	(void)state;
	d->told = true;
	assert_section(DIRECTIONS, "\n  Lost there:  0\n  Lost back :  0\n");
	*d = (struct directions){ .told = true, .lost_forward = 11, .lost_backward = 12, .lost_unknown = 13,
				  .duplicate_forward = 14, .duplicate_backward = 15, .reordered_forward = 16,
				  .reordered_backward = 17, .restarts = 18 };
	assert_section(DIRECTIONS, "\n  Lost there:  11  (probes that did not reach the reflector)\n"
		       "  Lost back :  12  (replies that did not come back)\n"
		       "  Two there :  14  (probes that reached the reflector again)\n"
		       "  Two back  :  15  (replies that came again)\n"
		       "  Late there:  16  (probes that reached the reflector after later ones)\n"
		       "  Late back :  17  (replies that came after later ones)\n"
		       "  Restarts  :  18  (the reflector began its count again)\n"
		       "  Either way:  13  (unanswered, and on which way is not known)\n");
	/* What is not known is not 0. */
	*d = (struct directions){ .lost_unknown = 13 };
	assert_section(DIRECTIONS, " not known: the reflector shows no count of its own\n"
		       "  Either way:  13  (unanswered, and on which way is not known)\n");
	d->lost_unknown = 0;
	assert_section(DIRECTIONS, " not known: the reflector shows no count of its own\n");
	options.role = ROLE_REFLECT;
	assert_no(written(0), "Directions");
}

static void the_account_of_the_reflectors_stamps(void **state)
{
	struct account *a = &exchange.account;

	(void)state;
	exchange.there = SOURCE_HARDWARE;
	counter_add(&a->answered, 1);
	assert_no(written(0), "Reflector's stamps"); /* plain */
	options.plain = false;
	a->answered = 0;
	assert_no(written(0), "Reflector's stamps");
	counter_add(&a->answered, 1);
#define NONE_OF "  all others 0\n"
	assert_section("\nReflector's stamps, by its NIC (T3_HW comes with the next reply):\n", "  Complete  :  0\n" NONE_OF);
	exchange.there = SOURCE_KERNEL;
	counter_add(&a->follow_up[FOLLOW_UP_THERE], 5);
	assert_section("\nReflector's stamps, by its kernel (T3_KERNEL comes with the next reply):\n", "  Complete  :  5\n" NONE_OF);
	exchange.there = SOURCE_USER;
	assert_section("\nReflector's stamps, by its program (T3_SW comes with the next reply):\n", "  Complete  :  5\n" NONE_OF);
	/* No reply had any. */
	exchange.there = SOURCE_NONE;
	assert_section("\nReflector's stamps, of an untold kind (T3_LOCAL comes with the next reply):\n", "  Complete  :  5\n" NONE_OF);
	exchange.there = SOURCE_LOCAL;
	for (int i = FOLLOW_UP_LOST; i < FOLLOW_UPS; i++)
		counter_add(&a->follow_up[i], 10 + (uint64_t)i);
	counter_add(&a->follow_up_late, 21);
	counter_add(&a->unjudged, 22);
	assert_section("\nReflector's stamps, of an untold kind (T3_LOCAL comes with the next reply):\n",
		       "  Complete  :  5\n  Reply lost:  12  (the next reply, which tells when this one left, was lost)\n"
		       "  Unknown   :  13  (the reflector did not have the stamp in time, or keeps no state)\n"
		       "  Untold    :  14  (the reflector does not tell when a reply left: RFC 8972 section 4.7)\n"
		       "  Mixed     :  15  (the reflector's two stamps are of different kinds, or of untold ones)\n"
		       "  At the end:  16  (no reply came after this one)\n"
		       "  Stepped there:  17  (T2 and T3 contradict what is known of the two hosts' clocks: not used)\n"
		       "  Too late  :  21  (came in late replies: not used)\n"
		       "  Not judged:  22  (samples without what --threshold-on is about)\n");
	options.role = ROLE_REFLECT;
	assert_no(written(0), "Reflector's stamps");
}

static void probes_that_arrived_in_another_state(void **state)
{
	(void)state;
	assert_no(written(0), "arrived");
	exchange.arrived_ttl = 250;
	counter_add(&exchange.account.other_ttl, 41);
	assert_line(written(0), "  41 probes arrived with another TTL than 255, the last with 250");
	assert_no(text, "DSCP");
	options.dscp = 46;
	exchange.arrived_dscp = 0;
	counter_add(&exchange.account.other_class, 42);
	assert_line(written(0), "  42 probes arrived with another DSCP than 46, the last with 0");
	exchange.account.other_ttl = 0;
	assert_no(written(0), "TTL");
}

/* ---- Traffic and shares -------------------------------------------------------------------------------------------- */

#define TRAFFIC "\nTraffic (UDP payload, after the warm-up):\n"

/* 2000 probes of 44 octets in 4 s; some replies were longer. */
static void packets_and_octets_by_time(void **state)
{
	struct account *a = &exchange.account;

	(void)state;
	assert_no(written(0), "Traffic");
	counter_add(&a->sent, 2101);
	counter_add(&a->closing, 1);
	counter_add(&a->timed_packets, 1900);
	counter_add(&a->timed_bytes, 1900 * 60);
	counter_add(&a->lost, 105);
	counter_add(&a->late, 21);
	counter_add(&a->duplicate, 42);
	exchange.measured = 2001;
	exchange.probe_bytes = 44;
	exchange.began_ns = NS_PER_S;
	exchange.ended_ns = 5 * NS_PER_S;
	assert_section(TRAFFIC, "  To there  :  88000 octets in 2000 packets, 500.0 packets/s, 176000 bit/s\n"
		       "  From there:  114000 octets in 1900 packets, 475.0 packets/s, 228000 bit/s\n"
		       "  Of all probes:  5.000 % lost, 1.000 % answered late, 2.000 % again\n");
	exchange.directions = (struct directions){ .told = true, .lost_forward = 84, .lost_backward = 21 };
	assert_non_null(strstr(written(0), "  Of all probes:  5.000 % lost (4.000 % there, 1.000 % back), 1.000 % answered late,"));
	exchange.directions.lost_unknown = 1;
	assert_non_null(strstr(written(0), "  Of all probes:  5.000 % lost (>= 4.000 % there, >= 1.000 % back), 1.000 % answered"));
	options.role = ROLE_REFLECT;
	assert_no(written(0), "Traffic");
	assert_no(text, "Of all probes");
}

/* A rate needs two, and time. The closing probe is no part of it. */
static void traffic_of_next_to_nothing(void **state)
{
	struct account *a = &exchange.account;

	(void)state;
	counter_add(&a->sent, 1);
	counter_add(&a->timed_packets, 2);
	counter_add(&a->timed_bytes, 88);
	exchange.measured = 1;
	exchange.probe_bytes = 44;
	assert_non_null(strstr(written(0), "  From there:  88 octets in 2 packets\n"));
	exchange.ended_ns = NS_PER_S;
	assert_section(TRAFFIC, "  To there  :  44 octets in 1 packets\n"
		       "  From there:  88 octets in 2 packets, 2.0 packets/s, 704 bit/s\n"
		       "  Of all probes:  0.000 % lost, 0.000 % answered late, 0.000 % again\n");
	/* All was warm-up, as the closing probe was. */
	exchange.measured = 0;
	counter_add(&a->sent, 1);
	counter_add(&a->closing, 1);
	assert_non_null(strstr(written(0), "  To there  :  0 octets in 0 packets\n"));
	a->sent = a->closing;
	assert_no(written(0), "Traffic");
}

/* ---- The rate ------------------------------------------------------------------------------------------------------ */

/* As the duration has it; and where it was otherwise by more than 1 % while there were answers, that too. */
static void rate_of_all_the_time(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	exchange.started = true;
	exchange.began_ns = NS_PER_S;
	exchange.last_ns = exchange.ended_ns = 11 * NS_PER_S;
	histogram_add(&histogram, 1, 0);
	assert_no(written(0), "Rate:");
	for (uint32_t i = 1; i < 1000; i++)
		histogram_add(&histogram, 1, i);
	assert_line(written(0), "Rate: 100 responses/s");
	/* The last 2 s had none: 1000 in 8 s. */
	exchange.last_ns = 9 * NS_PER_S;
	assert_line(written(0), "Rate: 100 responses/s (125 while answered)");
	assert_line(text, "Test is complete. Duration: 10.00 s");
	exchange.last_ns = 11 * NS_PER_S - 99 * NS_PER_MS;
	assert_line(written(0), "Rate: 100 responses/s");
	exchange.last_ns = 11 * NS_PER_S - 100 * NS_PER_MS;
	assert_line(written(0), "Rate: 100 responses/s (101 while answered)");
	/* An outage in the middle; at the end it is both. */
	options.role = ROLE_EMIT;
	exchange.last_ns = 11 * NS_PER_S;
	exchange.outages = (struct outages){ .count = 1, .total_ns = 5 * NS_PER_S };
	assert_line(written(0), "Rate: 100 round trips/s (200 while answered)");
	exchange.last_ns = 6 * NS_PER_S;
	assert_line(written(0), "Rate: 100 round trips/s (200 while answered)");
	/* No time is left. */
	exchange.outages.total_ns = 11 * NS_PER_S;
	assert_line(written(0), "Rate: 100 round trips/s");
}

/* ---- The log ----------------------------------------------------------------------------------------------------- */

static int set_up_records(void **state)
{
	set_up(state);
	place_records(RECORDS, false, false);
	write_log(RECORDS);
	return 0;
}

static void accounts_of_a_log(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 0; i < 10; i++)
		add_record(i, i, i);
	assert_line(written(0), "Log: 8 of 20 records, 2 left out because the ring was full, 10 not above --log-threshold; text, "
		    "1200 octets");
}

/* Each of what is not in the file has its own number, and together with what is there they are all. */
static void accounts_of_what_is_not_in_the_file(void **state)
{
	(void)state;
	place_records(100, false, false);
	for (uint32_t i = 0; i < 100; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 0; i < 90; i++)
		add_record(i, i, i);
	write_log(60);
	writer.removed = 20;
	writer.not_kept = 17;
	writer.unwritten = 13;
	assert_line(written(0), "Log: 40 of 100 records, 13 could not be written, 20 removed with the oldest files, "
		    "17 not within --log-last, 10 not above --log-threshold; text, 9000 octets");
}

static void how_a_log_was_written(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		histogram_add(&histogram, i, i);
		add_record(i, i, i);
	}
	assert_line(written(0), "Log: 8 of 8 records; text, 1200 octets");
	writer.file = (struct log_file){ .rotate_bytes = 1000, .next = 12 };
	assert_line(written(0), "Log: 8 of 8 records; text, 1200 octets, the last in file 12");
	writer.file.rotate_bytes = 0;
	/* All is written, and still it is no whole file. */
	writer.file.error = -ENOSPC;
	assert_line(written(0), "Log: 8 of 8 records; text, 1200 octets; the file could not be finished (No space left on device)");
	writer.unwritten = 1;
	assert_no(written(0), "finished");
	writer.unwritten = 0;
	writer.file.error = 0;
	writer.shortest_ns = 1250 * NS_PER_MS;
	assert_line(written(0), "Log: 8 of 8 records; text, 1200 octets; at times the ring held 1.2 s of --log-last");
	writer.shortest_ns = 0;
	writer.beside = false;
	assert_line(written(0), "Log: 8 of 8 records; text, 1200 octets; written at the end, for no CPU but the measuring one may be "
		    "used");
}

static void accounts_of_a_circular_log(void **state)
{
	(void)state;
	place_records(RECORDS, true, false);
	writer.beside = false;
	options.snapshot = true;
	for (uint32_t i = 0; i < 8; i++) {
		histogram_add(&histogram, i, i);
		add_record(i, i, i);
	}
	assert_line(written(0), "Log: 8 of 8 records; text, 1200 octets");
	for (uint32_t i = 8; i < 30; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 8; i < 20; i++)
		add_record(i, i, i);
	assert_line(written(0), "Log: 8 of 30 records, 12 older ones were overwritten, 10 not above --log-threshold; text, "
		    "1200 octets");
	assert_no(text, "left out");
	assert_no(text, "at the end");
	/* That of --log-last is one only where no other thread may write. */
	options.log_last_ns = NS_PER_S;
	assert_line(written(0), "Log: 8 of 30 records, 12 older ones were overwritten, 10 not above --log-threshold; text, "
		    "1200 octets; written at the end, for no CPU but the measuring one may be used");
}

#define RECORDS_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_records, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_accounts_of_an_emitter),
		TEST(what_is_0_is_one_line),
		TEST(rate_of_all_the_time), TEST(what_was_not_there_for_a_while),
		TEST(requests_that_were_cut_short),
		TEST(losses_by_direction),
		TEST(the_account_of_the_reflectors_stamps),
		TEST(probes_that_arrived_in_another_state),
		TEST(packets_and_octets_by_time),
		TEST(traffic_of_next_to_nothing),
		RECORDS_TEST(accounts_of_a_log),
		RECORDS_TEST(accounts_of_what_is_not_in_the_file),
		RECORDS_TEST(how_a_log_was_written),
		RECORDS_TEST(accounts_of_a_circular_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
