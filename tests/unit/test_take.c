/* build: sources=result/take_nic.c,host/nic/nic*.c,host/process/affinity.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of the NIC and of the activity of the machine as plain data. The tests of the report, by fake_report.h, take
 * all others. */
#include "result/take.c"

#include "host/nic/link.h"
#include "host/nic/nic_provider.h"
#include "result/nic.h"
#include "result/take.h"
#include "util.h"

#include <inttypes.h>

/* ---- Functions that the tests of the report use ------------------------------------------------------------------ */

bool trace_is_frozen(const struct trace *t)
{
	(void)t;
	return false;
}

const char *pmc_name(const struct pmc *p, unsigned i)
{
	(void)p;
	(void)i;
	return "";
}

/* ---- The NIC ----------------------------------------------------------------------------------------------------- */

static void a_nic(void **state)
{
	const struct nic nic = { .name = "eth7", .driver = "igb", .bus = "0000:01:00.0", .mtu = 9000, .index = 7,
				 .can.phc_index = 3, .changed = true };
	struct link_watch link = { .before = { .downs = 4 }, .after = { .error = -ENODEV, .downs = 6 }, .moves = 2 };
	struct result_nic n = { .stamper = "eth9", .details.receive_us = 50 };

	(void)state;
	take_nic(&n, &nic, &link);
	assert_true(nic_is_known(&n));
	assert_string_equal(n.name, "eth7");
	assert_string_equal(n.driver, "igb");
	assert_string_equal(n.bus, "0000:01:00.0");
	assert_int_equal(n.mtu.value, 9000);
	assert_int_equal(n.phc_index.value, 3);
	assert_true(n.changed);
	assert_int_equal(n.moves, 2);
	assert_int_equal(n.before.downs, 4);
	assert_int_equal(n.after.downs, 6);
	assert_int_equal(n.after.error, -ENODEV);
	assert_int_equal(n.details.receive_us, 50); /* of the caller */
	assert_string_equal(n.stamper, ""); /* not known, or gone */

	link.stamper = (int)if_nametoindex("lo");
	take_nic(&n, &nic, &link);
	assert_string_equal(n.stamper, "lo");
	assert_true(n.stamper_is_other);
}

static void a_nic_that_stamps_itself(void **state)
{
	const int index = (int)if_nametoindex("lo");
	const struct nic nic = { .name = "lo", .index = index };
	const struct link_watch link = { .stamper = index };
	struct result_nic n = { .mtu = 0 };

	(void)state;
	take_nic(&n, &nic, &link);
	assert_string_equal(n.stamper, "lo");
	assert_false(n.stamper_is_other);
}

static void the_provider_of_the_timestamps(void **state)
{
	const struct nic nic = { .provider = { .known = true, .phc_index = 4, .source = NIC_SOURCE_MAC } };
	const struct nic_provider_watch watch = { .nic = &nic, .changes = 3,
						  .now = { .known = true, .phc_index = 5, .source = NIC_SOURCE_PHY } };
	struct result_nic n = { .mtu = 0 };

	(void)state;
	take_nic_provider(&n, &watch);
	assert_int_equal(n.provider_changes, 3);
	assert_int_equal(n.provider.phc_index, 4);
	assert_int_equal(n.provider_after.phc_index, 5);
	assert_string_equal(n.provider_text, "MAC, /dev/ptp4, precise");
	assert_string_equal(n.provider_after_text, "PHY, /dev/ptp5, precise");
}

/* ---- Activity ---------------------------------------------------------------------------------------------------- */

static struct activity_story story;
static size_t found; /* differences of each pair of readings */

size_t activity_differences(const struct activity *a, const struct activity_reading *before,
			    const struct activity_reading *after, struct activity_difference *list, size_t max)
{
	static char group[32], name[32];

	assert_ptr_equal(a, &story.activity);
	/* As after activity_close(), the texts of earlier differences are gone. */
	snprintf(group, sizeof(group), "from %" PRIu64, before->mark);
	snprintf(name, sizeof(name), "to %" PRIu64, after->mark);
	for (size_t i = 0; i < found && i < max; i++)
		list[i] = (struct activity_difference){ group, name, "kHz", ACTIVITY_CHANGED, i, 2 * i, 3 * i };
	return found;
}

static void expect(const struct result_differences *d, uint64_t from, uint64_t to)
{
	char group[32], name[32];

	snprintf(group, sizeof(group), "from %" PRIu64, from);
	snprintf(name, sizeof(name), "to %" PRIu64, to);
	assert_true(d->known);
	assert_int_equal(d->mark[0], from);
	assert_int_equal(d->mark[1], to);
	assert_int_equal(d->count, found < ACTIVITY_COUNTERS ? found : ACTIVITY_COUNTERS);
	for (size_t i = 0; i < d->count; i++) {
		assert_string_equal(d->list[i].group, group);
		assert_string_equal(d->list[i].name, name);
		assert_string_equal(d->list[i].unit, "kHz");
		assert_int_equal(d->list[i].change, ACTIVITY_CHANGED);
		assert_int_equal(d->list[i].delta, i);
		assert_int_equal(d->list[i].from, 2 * i);
		assert_int_equal(d->list[i].to, 3 * i);
	}
}

static int set_up(void **state)
{
	(void)state;
	story = (struct activity_story){ .activity = { .cpu = 3, .sees_disruptions = true, .unreadables = 1,
						       .unreadable = { "SMI count" }, .unreadables_left_out = 4,
						       .counters_left_out = 5 },
					 .start.mark = 10, .end.mark = 20, .breach.mark = 30,
					 .before_worst.mark = 40, .worst.mark = 50 };
	found = 3;
	return 0;
}

static void activity_without_a_breach(void **state)
{
	struct result_activity a;

	(void)state;
	take_activity(&a, &story);
	assert_true(a.is_read && a.sees_disruptions);
	assert_true(a.is_pinned);
	assert_int_equal(a.unreadables, 1);
	assert_string_equal(a.unreadable[0], "SMI count");
	assert_int_equal(a.unreadables_left_out, 4);
	assert_int_equal(a.counters_left_out, 5);
	expect(&a.run, 10, 20);
	assert_false(a.until_breach.known || a.before_worst.known);
	take_activity_free(&a);
	assert_false(a.is_read);
}

static void activity_with_breaches(void **state)
{
	struct result_activity a;

	(void)state;
	story.has_breach = true;
	take_activity(&a, &story);
	expect(&a.run, 10, 20);
	expect(&a.until_breach, 10, 30);
	assert_false(a.before_worst.known);
	take_activity_free(&a);
	story.has_worst = true;
	take_activity(&a, &story);
	expect(&a.run, 10, 20);
	expect(&a.until_breach, 10, 30);
	expect(&a.before_worst, 40, 50);
	take_activity_free(&a);
}

static void any_number_of_differences(void **state)
{
	static const size_t counts[] = { 0, 1, ACTIVITY_COUNTERS, ACTIVITY_COUNTERS + 1 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		struct result_activity a;

		found = counts[i];
		take_activity(&a, &story);
		expect(&a.run, 10, 20);
		take_activity_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_nic),
		cmocka_unit_test(a_nic_that_stamps_itself),
		cmocka_unit_test(the_provider_of_the_timestamps),
		cmocka_unit_test_setup(activity_without_a_breach, set_up),
		cmocka_unit_test_setup(activity_with_breaches, set_up),
		cmocka_unit_test_setup(any_number_of_differences, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
