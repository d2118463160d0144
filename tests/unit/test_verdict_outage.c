/* build: sources=report/verdict/verdict_finding.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict on outages and absent links: each check at its limit and beside it. */
#include "report/verdict/verdict_outage.c"

#include "util.h"

#include <string.h>

static struct options options;
static struct result result;
static const struct verdict_facts facts = { .options = &options, .result = &result };
static struct verdict_finding found;

/* A run of ten seconds. */
static int set_up(void **state)
{
	(void)state;
	memset(&options, 0, sizeof(options));
	memset(&result, 0, sizeof(result));
	result.dropped = optional_of(0);
	result.began_ns = 7 * NS_PER_S;
	result.ended_ns = 17 * NS_PER_S;
	result.nic.before = result.nic.after = (struct link_state){ .up = true, .downs_known = true, .downs = 4 };
	return 0;
}

static enum verdict_outcome look(enum verdict_outcome (*by)(const struct verdict_facts *f,
							    struct verdict_finding *found))
{
	memset(&found, 0, sizeof(found));
	return by(&facts, &found);
}

static void expect(enum verdict_outcome (*by)(const struct verdict_facts *f, struct verdict_finding *found),
		   uint64_t number,
		   const char *more, const char *text)
{
	assert_int_equal(look(by), JUDGED);
	assert_int_equal(found.number, number);
	assert_string_equal(found.more, more);
	assert_string_equal(found.text, text);
}

static void refused_replies(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	counter_add(&result.account.sent, 5000);
	expect(verdict_look_refused_replies, 0, "", "0 of 5000");
	counter_add(&result.account.unanswered, 72);
	expect(verdict_look_refused_replies, 72, "", "72 of 5072");
	options.role = ROLE_EMIT;
	assert_int_equal(look(verdict_look_refused_replies), NOT_ASKED);
}

static void dropped(void **state)
{
	(void)state;
	expect(verdict_look_dropped, 0, "", "0");
	result.dropped = optional_of(37935);
	expect(verdict_look_dropped, 37935, "", "37935");
	options.role = ROLE_REFLECT;
	expect(verdict_look_dropped, 37935, "", "37935");
	result.dropped = (struct optional){ .known = false };
	assert_int_equal(look(verdict_look_dropped), CANNOT_TELL);
}

/* More than 1/1000 of the run is doubtful, more than half of it is void; never both. */
static void silence(void **state)
{
	(void)state;
	expect(verdict_look_silence, 0, " for 0.000 s", "0.00 %");
	result.outages.total_ns = 10 * NS_PER_MS;
	expect(verdict_look_silence, 1, " for 0.010 s", "0.10 %");
	result.outages.total_ns++;
	expect(verdict_look_silence, 2, " for 0.010 s", "0.10 %");
	result.outages.total_ns = 1104 * NS_PER_MS;
	expect(verdict_look_silence, 111, " for 1.104 s", "11.04 %");
	result.outages.total_ns = 5 * NS_PER_S;
	expect(verdict_look_silence, 500, " for 5.000 s", "50.00 %");
	assert_int_equal(look(verdict_look_most_silence), NOT_ASKED);
	result.outages.total_ns++;
	assert_int_equal(look(verdict_look_silence), NOT_ASKED);
	expect(verdict_look_most_silence, 51, " for 5.000 s", "50.00 %");
	result.outages.total_ns = 10 * NS_PER_S;
	expect(verdict_look_most_silence, 100, " for 10.000 s", "100.00 %");

	options.role = ROLE_REFLECT;
	assert_int_equal(look(verdict_look_silence), NOT_ASKED);
	assert_int_equal(look(verdict_look_most_silence), NOT_ASKED);
}

/* The last reading of the clock may be older than the end of an outage. A run of no length has no shares. */
static void silence_of_a_short_run(void **state)
{
	(void)state;
	result.outages.total_ns = 11 * NS_PER_S;
	expect(verdict_look_most_silence, 100, " for 11.000 s", "100.00 %");
	result.ended_ns = result.began_ns;
	expect(verdict_look_most_silence, 100, " for 11.000 s", "100.00 %");
	result.outages.total_ns = 0;
	expect(verdict_look_silence, 0, " for 0.000 s", "0.00 %");
	result.ended_ns = result.began_ns = 0;
	result.outages.total_ns = 315360000 * NS_PER_S; /* the longest duration */
	result.ended_ns = 2 * result.outages.total_ns;
	expect(verdict_look_silence, 500, " for 315360000.000 s", "50.00 %");
}

static void slots(void **state)
{
	(void)state;
	assert_int_equal(look(verdict_look_schedule), NOT_ASKED);
	options.interval_ns = NS_PER_MS;
	expect(verdict_look_schedule, 0, "", "0 of 0, 0.00 %");
	counter_add(&result.slots, 2000);
	counter_add(&result.missed, 2);
	expect(verdict_look_schedule, 1, "", "2 of 2000, 0.10 %");
	counter_add(&result.missed, 1);
	expect(verdict_look_schedule, 2, "", "3 of 2000, 0.15 %");
}

static void a_link(void **state)
{
	(void)state;
	expect(verdict_look_link, 0, "", "");
	result.nic.after.downs = 6;
	expect(verdict_look_link, 2, "", "2 times");
	result.nic.after.up = false;
	expect(verdict_look_link, 3, "", "2 times, down at the end");
	result.nic.after.downs = 4;
	expect(verdict_look_link, 1, "", "down at the end");
	result.nic.after.up = true;
	result.nic.before.downs = UINT32_MAX;
	expect(verdict_look_link, 5, "", "5 times");
	result.nic.after = (struct link_state){ .error = -ENODEV };
	expect(verdict_look_link, 1, "", "the interface is gone");
	result.nic.before.error = -EIO;
	expect(verdict_look_link, 1, "", "the interface is gone");
}

static void a_link_that_does_not_print(void **state)
{
	(void)state;
	result.nic.after.error = -EIO;
	assert_int_equal(look(verdict_look_link), CANNOT_TELL);
	result.nic.after.error = 0;
	result.nic.before.error = -EIO;
	assert_int_equal(look(verdict_look_link), CANNOT_TELL);
	/* Without the count: the state at the end is reported, and a good state at the end says nothing of the state
	 * before. */
	result.nic.before.error = 0;
	result.nic.after.downs_known = false;
	result.nic.after.downs = 0;
	assert_int_equal(look(verdict_look_link), CANNOT_TELL);
	result.nic.after.up = false;
	expect(verdict_look_link, 1, "", "down at the end");
}

/* Members of a bond. */
static void another_nic_stamped(void **state)
{
	(void)state;
	options.stamp = SOURCE_KERNEL;
	assert_int_equal(look(verdict_look_stamper), NOT_ASKED);
	options.stamp = SOURCE_HARDWARE;
	assert_int_equal(look(verdict_look_stamper), CANNOT_TELL);
	result.nic.before.stamper = result.nic.after.stamper = 7;
	expect(verdict_look_stamper, 0, "", "0 times");
	result.nic.after.stamper = 8;
	expect(verdict_look_stamper, 1, "", "1 time");
	/* And back again. */
	result.nic.after.stamper = 7;
	result.nic.moves = 2;
	expect(verdict_look_stamper, 2, "", "2 times");
	result.nic.moves = 0;
	result.nic.after.stamper = 0;
	assert_int_equal(look(verdict_look_stamper), CANNOT_TELL);
}

/* MAC or PHY. */
static void another_provider_stamped(void **state)
{
	struct result_nic *n = &result.nic;

	(void)state;
	options.stamp = SOURCE_HARDWARE;
	assert_int_equal(look(verdict_look_provider), NOT_ASKED); /* an older kernel */
	n->provider.known = true;
	assert_int_equal(look(verdict_look_provider), CANNOT_TELL);
	n->provider_after.known = true;
	strcpy(n->provider_text, "MAC");
	strcpy(n->provider_after_text, "PHY 1");
	expect(verdict_look_provider, 0, "", "0 times");
	n->provider_changes = 1;
	expect(verdict_look_provider, 1, "", "1 time: from MAC to PHY 1");
	options.stamp = SOURCE_KERNEL;
	assert_int_equal(look(verdict_look_provider), NOT_ASKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(refused_replies, set_up), cmocka_unit_test_setup(dropped, set_up),
		cmocka_unit_test_setup(silence, set_up),
		cmocka_unit_test_setup(silence_of_a_short_run, set_up),
		cmocka_unit_test_setup(slots, set_up),
		cmocka_unit_test_setup(a_link, set_up),
		cmocka_unit_test_setup(a_link_that_does_not_print, set_up),
		cmocka_unit_test_setup(another_nic_stamped, set_up),
		cmocka_unit_test_setup(another_provider_stamped, set_up),
	};

	return cmocka_run_group_tests_name("verdict_outage", tests, NULL, NULL);
}
