/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters: each in its row, and no row for a counter that is 0. */
#include "report/text/account.c"

#include "fake_report.h"

#include <errno.h>

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

/* Each counter in its own row: they get different numbers. */
static void the_accounts_of_an_emitter(void **state)
{
	struct account *a = &result.account;
	counter *const counters[] = { &a->sent, &a->received, &a->warmup, &a->recorded, &a->lost, &a->unstamped,
				      &a->negative,
				      &a->stepped, &a->unfinished, &a->closing, &a->answered, &a->late, &a->duplicate,
				      &a->reordered,
				      &a->foreign, &a->malformed, &a->unverified, &a->malformed_tlv, &a->unusable_tlv,
				      &a->refused };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(counters); i++)
		counter_add(counters[i], 101 + i);
	result.strays = optional_of(121);
	result.dropped = optional_of(122);
	show_report();
	options.verbose = true;
	show_report();
}

/* Except the rows that readers expect. With -v each has its row. */
static void what_is_0_is_one_line(void **state)
{
	(void)state;
	counter_add(&result.account.sent, 10);
	counter_add(&result.account.late, 3);
	show_report();
	counter_add(&result.account.missing_rx, 4);
	show_report();
	options.threshold_ns = 1;
	show_report();
	options.verbose = true;
	show_report();
	/* A reflector's, where nothing was sent. */
	options.verbose = false;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 0;
	memset(&result.account, 0, sizeof(result.account));
	show_report();
}

/* Where the driver counts them: with timestamps of the NIC, by a driver whose counters are known. */
static void missing_stamps_name_the_counters_of_the_driver(void **state)
{
	(void)state;
	options.stamp = SOURCE_HARDWARE;
	strcpy(result.nic.name, "eth0");
	strcpy(result.nic.driver, "i40e");
	counter_add(&result.account.missing_rx, 4);
	assert_null(strstr(written(0), "Driver"));
	counter_add(&result.account.missing_tx, 1);
	assert_non_null(strstr(written(0), "\n  Driver    :  'i40e' counts lost transmit timestamps in "
					   "port.tx_hwtstamp_timeouts, port.tx_hwtstamp_skipped\n"));
	strcpy(result.nic.driver, "fec");
	assert_null(strstr(written(0), "\n  Driver"));
	strcpy(result.nic.driver, "new");
	assert_null(strstr(written(0), "\n  Driver"));
	strcpy(result.nic.driver, "igb");
	assert_non_null(strstr(written(0), "'igb' counts"));
	options.stamp = SOURCE_KERNEL;
	assert_null(strstr(written(0), "\n  Driver"));
	options.stamp = SOURCE_HARDWARE;
	*result.nic.name = '\0';
	assert_null(strstr(written(0), "\n  Driver"));
}

/* A rare event has a row only when it occurred. */
static void requests_that_were_cut_short(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	show_report();
	counter_add(&result.account.cut_short, 31);
	show_report();
}

/* Beside the count of lost probes the length of the outage; and losses that no probe or reply reports. */
static void what_was_not_there_for_a_while(void **state)
{
	(void)state;
	result.began_ns = 7 * NS_PER_S;
	result.ended_ns = 67 * NS_PER_S;
	result.outages = (struct outages){ .count = 2, .total_ns = 1104 * NS_PER_MS, .longest_ns = 1003 * NS_PER_MS,
					     .longest_at_ns = 19 * NS_PER_S + 345 * NS_PER_MS };
	show_report();
	result.dropped = (struct optional){ .known = false };
	show_report();
	/* A reflector has no probes, and does not know how many were sent to it. */
	options.role = ROLE_REFLECT;
	show_report();
	result.dropped = optional_of(37935);
	show_report();
}

/* ---- By direction, and at the other host ------------------------------------------------------------------------- */

static void losses_by_direction(void **state)
{
	struct directions *d = &result.directions;

	(void)state;
	d->reported = true;
	show_report();
	*d = (struct directions){ .reported = true, .lost_forward = 11, .lost_backward = 12, .lost_unknown = 13,
				  .duplicate_forward = 14, .duplicate_backward = 15, .reordered_forward = 16,
				  .reordered_backward = 17, .restarts = 18 };
	show_report();
	/* An unknown count is not 0. */
	*d = (struct directions){ .lost_unknown = 13 };
	show_report();
	d->lost_unknown = 0;
	show_report();
	options.role = ROLE_REFLECT;
	show_report();
}

static void the_account_of_the_reflectors_stamps(void **state)
{
	struct account *a = &result.account;

	(void)state;
	result.remote = SOURCE_HARDWARE;
	counter_add(&a->answered, 1);
	show_report(); /* plain */
	options.plain = false;
	a->answered = 0;
	show_report();
	counter_add(&a->answered, 1);
	show_report();
	result.remote = SOURCE_KERNEL;
	counter_add(&a->follow_up[FOLLOW_UP_THERE], 5);
	show_report();
	result.remote = SOURCE_USER;
	show_report();
	/* No reply had any. */
	result.remote = SOURCE_NONE;
	show_report();
	result.remote = SOURCE_LOCAL;
	for (int i = FOLLOW_UP_LOST; i < FOLLOW_UPS; i++)
		counter_add(&a->follow_up[i], 10 + (uint64_t)i);
	counter_add(&a->follow_up_late, 21);
	counter_add(&a->unjudged, 22);
	show_report();
	options.role = ROLE_REFLECT;
	show_report();
}

static void probes_that_arrived_in_another_state(void **state)
{
	(void)state;
	show_report();
	result.arrived_ttl = 250;
	counter_add(&result.account.other_ttl, 41);
	show_report();
	options.dscp = 46;
	result.arrived_dscp = 0;
	counter_add(&result.account.other_class, 42);
	show_report();
	result.account.other_ttl = 0;
	show_report();
}

/* ---- Traffic and shares ------------------------------------------------------------------------------------------ */

/* 2000 probes of 44 octets in 4 s; some replies were longer. */
static void packets_and_octets_by_time(void **state)
{
	struct account *a = &result.account;

	(void)state;
	show_report();
	counter_add(&a->sent, 2101);
	counter_add(&a->closing, 1);
	counter_add(&a->timed_packets, 1900);
	counter_add(&a->timed_bytes, 1900 * 60);
	counter_add(&a->lost, 105);
	counter_add(&a->late, 21);
	counter_add(&a->duplicate, 42);
	result.measured = 2001;
	result.probe_bytes = optional_of(44);
	result.began_ns = NS_PER_S;
	result.ended_ns = 5 * NS_PER_S;
	show_report();
	result.directions = (struct directions){ .reported = true, .lost_forward = 84, .lost_backward = 21 };
	show_report();
	result.directions.lost_unknown = 1;
	show_report();
	options.role = ROLE_REFLECT;
	show_report();
}

/* A rate needs two samples, and time. The closing probe does not count. */
static void traffic_of_next_to_nothing(void **state)
{
	struct account *a = &result.account;

	(void)state;
	counter_add(&a->sent, 1);
	counter_add(&a->timed_packets, 2);
	counter_add(&a->timed_bytes, 88);
	result.measured = 1;
	result.probe_bytes = optional_of(44);
	show_report();
	result.ended_ns = NS_PER_S;
	show_report();
	/* All was warm-up, as the closing probe was. */
	result.measured = 0;
	counter_add(&a->sent, 1);
	counter_add(&a->closing, 1);
	show_report();
	a->sent = a->closing;
	show_report();
}

/* ---- The rate ---------------------------------------------------------------------------------------------------- */

/* As the duration has it; and where it was otherwise by more than 1 % while there were answers, that too. */
static void rate_of_all_the_time(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	result.started = true;
	result.began_ns = NS_PER_S;
	result.last_ns = result.ended_ns = 11 * NS_PER_S;
	histogram_add(&histogram, 1, 0);
	show_report();
	for (uint32_t i = 1; i < 1000; i++)
		histogram_add(&histogram, 1, i);
	show_report();
	/* The last 2 s had none: 1000 in 8 s. */
	result.last_ns = 9 * NS_PER_S;
	show_report();
	result.last_ns = 11 * NS_PER_S - 99 * NS_PER_MS;
	show_report();
	result.last_ns = 11 * NS_PER_S - 100 * NS_PER_MS;
	show_report();
	/* An outage in the middle; at the end it is both. */
	options.role = ROLE_EMIT;
	result.last_ns = 11 * NS_PER_S;
	result.outages = (struct outages){ .count = 1, .total_ns = 5 * NS_PER_S };
	show_report();
	result.last_ns = 6 * NS_PER_S;
	show_report();
	/* No time is left. */
	result.outages.total_ns = 11 * NS_PER_S;
	show_report();
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
	show_report();
}

/* Each kind of missing record has its own number, and with the records these are all samples. */
static void accounts_of_what_is_not_in_the_file(void **state)
{
	(void)state;
	place_records(100, false, false);
	for (uint32_t i = 0; i < 100; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 0; i < 90; i++)
		add_record(i, i, i);
	write_log(60);
	result.log.removed = 20;
	result.log.not_kept = 17;
	result.log.unwritten = 13;
	show_report();
}

static void how_a_log_was_written(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		histogram_add(&histogram, i, i);
		add_record(i, i, i);
	}
	show_report();
	result.log.rotates = true;
	result.log.file = 12;
	show_report();
	result.log.rotates = false;
	/* All is written, and still it is no whole file. */
	result.log.error = -ENOSPC;
	show_report();
	result.log.unwritten = 1;
	show_report();
	result.log.unwritten = 0;
	result.log.error = 0;
	result.log.shortest_ns = 1250 * NS_PER_MS;
	show_report();
	result.log.shortest_ns = 0;
	result.log.beside = false;
	show_report();
}

static void accounts_of_a_circular_log(void **state)
{
	(void)state;
	place_records(RECORDS, true, false);
	result.log.beside = false;
	result.log.by_option_at_end = true;
	for (uint32_t i = 0; i < 8; i++) {
		histogram_add(&histogram, i, i);
		add_record(i, i, i);
	}
	show_report();
	for (uint32_t i = 8; i < 30; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 8; i < 20; i++)
		add_record(i, i, i);
	show_report();
	/* That of --log-last is one only where no other thread may write. */
	result.log.by_option_at_end = false;
	show_report();
}

#define RECORDS_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_records, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		TEST(the_accounts_of_an_emitter),
		TEST(what_is_0_is_one_line),
		TEST(rate_of_all_the_time), TEST(what_was_not_there_for_a_while),
		TEST(missing_stamps_name_the_counters_of_the_driver), TEST(requests_that_were_cut_short),
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

	return golden_run(tests);
}
