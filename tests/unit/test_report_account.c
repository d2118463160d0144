/* build: sources=report/breach.c,report/clocks.c,report/evidence.c,report/label.c,report/machine.c,report/part.c,report/report.c,report/statistics.c,histogram.c,tracefs.c,host/trace_*.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/activity*.c,host/clock*.c,host/nic*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The accounts: each counter in its row, and none where there is nothing to tell. */
#include "report/account.c"

#include "fake_report.h"

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

#define PACKETS "\nPackets:\n"

/* Each counter in its own row: they get different numbers. */
static void the_accounts_of_an_emitter(void **state)
{
	struct account *a = &exchange.account;
	counter *const counters[] = { &a->sent, &a->received, &a->warmup, &a->recorded, &a->lost, &a->unstamped, &a->negative,
				      &a->stepped, &a->unfinished, &a->closing, &a->late, &a->duplicate, &a->reordered, &a->foreign,
				      &a->malformed, &a->unverified, &a->malformed_tlv, &a->unusable_tlv, &a->refused };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(counters); i++)
		counter_add(counters[i], 101 + i);
	report.strays = 120;
	assert_section(PACKETS, "  Sent      :  101\n  Received  :  102\n"
		       "  Warm-up   :  103  (answered, left out of the statistics)\n  Recorded  :  104\n"
		       "  Lost      :  105  (no reply within --timeout)\n"
		       "  Unstamped :  106  (answered, but a stamp is missing: not recorded)\n"
		       "  Negative  :  107  (the clock went back: not recorded)\n"
		       "  Stepped   :  108  (a clock was set in between: not recorded)\n"
		       "  Unfinished:  109  (interrupted)\n"
		       "  Closing   :  110  (sent after the end, to hear when the last reply left)\n"
		       "  Late      :  111  (replies to probes that were given up)\n"
		       "  Duplicate :  112  (replies that came again)\n  Reordered :  113  (came after a later one)\n"
		       "  Foreign   :  114  (not an answer to a probe of this run)\n  Malformed :  115\n"
		       "  Unverified:  116  (the HMAC is wrong or missing: not used)\n"
		       "  Bad TLVs  :  117  (of replies: malformed, or marked so)\n"
		       "  Bad HMACs :  118  (of replies: failed their integrity check, not used)\n"
		       "  Refused   :  119  (by the kernel: sends, and errors it reported)\n"
		       "  Strays    :  120  (to our port from others than the server, dropped)\n");
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
#define NONE_OF "  Reply lost:  0\n  Unknown   :  0\n  Untold    :  0\n  Mixed     :  0\n  At the end:  0\n"
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

/* ---- The log ----------------------------------------------------------------------------------------------------- */

static int set_up_records(void **state)
{
	set_up(state);
	place_records(RECORDS, false, false);
	report.log = &transactions;
	return 0;
}

static void accounts_of_a_log(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 0; i < 10; i++)
		add_record(i, i, i);
	assert_line(written(0), "Log: 8 of 20 records, 2 left out because it was full, 10 not above --log-threshold");
}

static void accounts_of_a_circular_log(void **state)
{
	(void)state;
	place_records(RECORDS, true, false);
	for (uint32_t i = 0; i < 8; i++) {
		histogram_add(&histogram, i, i);
		add_record(i, i, i);
	}
	assert_line(written(0), "Log: 8 of 8 records");
	for (uint32_t i = 8; i < 30; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 8; i < 20; i++)
		add_record(i, i, i);
	assert_line(written(0), "Log: 8 of 30 records, the last ones: 12 older ones were overwritten, 10 not above --log-threshold");
	assert_no(text, "left out");
}

#define RECORDS_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_records, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_accounts_of_an_emitter),
		TEST(losses_by_direction),
		TEST(the_account_of_the_reflectors_stamps),
		TEST(probes_that_arrived_in_another_state),
		RECORDS_TEST(accounts_of_a_log),
		RECORDS_TEST(accounts_of_a_circular_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
