/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms, percentiles and the table of stages: the lines that scripts parse, and lines that must be absent. */
#include "report/text/statistics.c"

#include "host/clock/clock_peer.h"

#include "fake_report.h"

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

static void the_documented_lines(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		histogram_add(&histogram, 8327 + 10 * i, 1000 + i);
	histogram_add(&histogram, 34439, 27246923);
	result.started = true;
	result.ended_ns = result.last_ns = 600 * NS_PER_S + 120 * NS_PER_MS;
	show_report();
}

static void no_sample_is_not_zero(void **state)
{
	(void)state;
	show_report();
}

static void rare_percentiles_need_ten_samples_above(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000000; i++)
		histogram_add(&histogram, 5000, i);
	show_report();
}

static void one_less_is_too_few(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 999999; i++)
		histogram_add(&histogram, 5000, i);
	show_report();
}

static void percentiles_above_a_full_overflow_store(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HISTOGRAM_OVERFLOW_STORE + 1; i++)
		histogram_add(&histogram, 200 * NS_PER_US + i, i);
	show_report();
}

static void bars_only_on_a_terminal(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 50; i++)
		histogram_add(&histogram, 5000, i);
	for (uint32_t i = 0; i < 25; i++)
		histogram_add(&histogram, 7000, i);
	width = 80;
	show_report();
}

/* ---- The table of stages ----------------------------------------------------------------------------------------- */

static const char *line_with(const char *start)
{
	static char line[256];
	const char *at = strstr(text, start);

	assert_non_null(at);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	return line;
}

/* Where the header has the last letter of a word, each row has the last digit of a number. */
static void assert_aligned(const char *header, const char *row)
{
	if (strlen(header) != strlen(row))
		fail_msg("not of one width:\n%s\n%s", header, row);
	for (const char *end = strstr(header, "Samples"); end && *end; end++) {
		bool last = *end != ' ' && (end[1] == ' ' || !end[1]);
		const char *below = row + (end - header);

		if (last && (*below == ' ' || (below[1] && below[1] != ' ' && below[1] != '*')))
			fail_msg("not below each other, at '%s':\n%s\n%s", end, header, row);
	}
}

static void assert_stages_aligned(void)
{
	char header[256];
	const char *row = strstr(text, "Stages (us):");

	strcpy(header, line_with("Stages (us):"));
	assert_true(!width || (int)strlen(header) <= width);
	while ((row = strchr(row, '\n') + 1) && *row == ' ' && strncmp(row, "  *", 3) &&
	       !strstr(line_with(row), "not known"))
		if (!strstr(line_with(row), "99999999.999")) /* wider than its column */
			assert_aligned(header, line_with(row));
}

static void the_columns_of_the_stages_stand_in_line(void **state)
{
	static const enum source stamps[] = { SOURCE_KERNEL, SOURCE_HARDWARE };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT_OF(stamps); i++) {
		tear_down(state);
		set_up(state);
		part = "^Stages";
		usual_run(i < 2 ? ROLE_REFLECT : ROLE_EMIT, stamps[i % 2], 6000, 99999, 2000, 3);
		show_report();
		assert_stages_aligned();
	}
}

/* 1 .. 20000 ns; a stage that only went backwards; a single large value. */
static void the_numbers_of_the_stages(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 0, 0, 0);
	for (int i = 0; i < STAGES; i++)
		forget_samples(&stage[i], 0, 0);
	for (uint32_t n = 1; n <= 20000; n++)
		histogram_add(&stage[0], n, n);
	for (int n = 0; n < 12345; n++)
		histogram_add(&stage[1], -1, 0);
	histogram_add(&stage[STAGE_APP], 123456789, 0);
	show_report();
}

static void a_stage_with_a_full_overflow_store(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 1, 1, 1);
	forget_samples(&stage[0], 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	show_report();
}

/* With and without -H, at both roles, and also where no stage was reported. */
static void all_of_it_is_the_first_stage(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 1, 1, 1);
	for (int i = 0; i < 2; i++) {
		options.histogram = i;
		options.role = ROLE_REFLECT;
		show_report();
		options.role = ROLE_EMIT;
		result.stage[STAGE_RESPONSE] = result.stage[STAGE_APP];
		result.stage[STAGE_APP] = NULL;
		show_report();
		result.stage[STAGE_APP] = result.stage[STAGE_RESPONSE];
		result.stage[STAGE_RESPONSE] = NULL;
	}
	for (int i = 0; i < STAGES; i++)
		result.stage[i] = NULL;
	show_report();
	forget_samples(&histogram, 0, 0);
	show_report();
}

/* The last percentile that ten samples are above has no mark, nor have those before it. */
static void what_few_samples_support_is_marked(void **state)
{
	static const unsigned samples[] = { 19, 20, 199, 200, 1000, 99999, 100000 };

	(void)state;
	options.role = ROLE_REFLECT;
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		forget_samples(&histogram, 6000, samples[i]);
		show_report();
	}
}

/* 100,000 samples for each sample above; a terminal gets them where they fit. */
static void long_runs_have_more_columns(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	forget_samples(&histogram, 6000, 999999);
	show_report();
	histogram_add(&histogram, 7000, 0);
	show_report();
	width = 80;
	show_report();
}

/* ---- The table of stages, of both hosts -------------------------------------------------------------------------- */

static void the_stages_of_both_hosts(void **state)
{
	(void)state;
	part = "^Stages";
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	show_report();
	/* They are no part of the histogram. */
	options.histogram = false;
	show_report();
	tear_down(state);
	set_up(state);
	part = "^Stages";
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	show_report();
	/* Nothing was recorded. */
	forget_samples(&histogram, 0, 0);
	show_report();
}

static void the_names_of_remote_stages(void **state)
{
	/* The last: its program's times are the stamps, once is enough. */
	static const enum source remote[] = { SOURCE_KERNEL, SOURCE_LOCAL, SOURCE_USER };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(remote); i++) {
		tear_down(state);
		set_up(state);
		part = "^Stages";
		joined_run(SOURCE_HARDWARE, remote[i], true);
		show_report();
		assert_stages_aligned();
	}
}

/* Columns that do not fit are left out, and no line is broken. Samples of every width, and a bound. */
static void the_table_fits_the_terminal(void **state)
{
	static const int columns[] = { 80, 86, 87, 98, 120, 143, 154, 160 };

	(void)state;
	part = "^Stages";
	joined_run(SOURCE_KERNEL, SOURCE_KERNEL, true);
	forget_samples(&stage[STAGE_RESPONSE], 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	histogram_add(&stage[STAGE_NETWORK], 99999999999, 0);
	for (size_t i = 0; i < COUNT_OF(columns); i++) {
		width = columns[i];
		show_report();
		assert_stages_aligned();
	}
	/* A reflector's in full. */
	tear_down(state);
	set_up(state);
	part = "^Stages";
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 1, 1, 1);
	width = 136;
	show_report();
	width = 80;
	show_report();
}

/* Next to the network time, and only with the speed of the link and timestamps outside the programs. */
static void the_time_of_a_probe_on_the_link(void **state)
{
	static const struct {
		struct wire wire;
		size_t probe_bytes, replies_bytes;
		enum source local, remote;
	} rows[] = {
		{ { 10000, 64, 67 }, 18, 100 * 18, SOURCE_HARDWARE, SOURCE_HARDWARE },
		{ { 0, 0, 0 }, 18, 100 * 18, SOURCE_HARDWARE, SOURCE_HARDWARE },
		{ { 2500, 1518, 4922 }, 1472, 100 * 44, SOURCE_KERNEL, SOURCE_KERNEL },
		{ { 100, 142, 12960 }, 96, 100 * 96, SOURCE_KERNEL, SOURCE_HARDWARE },
		{ { 10000, 64, 67 }, 18, 0, SOURCE_HARDWARE, SOURCE_KERNEL },
		{ { 10000, 64, 67 }, 18, 100 * 18, SOURCE_USER, SOURCE_KERNEL },
		{ { 10000, 64, 67 }, 18, 100 * 18, SOURCE_HARDWARE, SOURCE_USER },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		tear_down(state);
		set_up(state);
		part = "^Stages";
		width = 80;
		joined_run(rows[i].local, rows[i].remote, false);
		result.wire = rows[i].wire;
		result.probe_bytes = optional_of((int64_t)rows[i].probe_bytes);
		counter_add(&result.account.timed_packets, rows[i].replies_bytes ? 100 : 0);
		counter_add(&result.account.timed_bytes, rows[i].replies_bytes);
		show_report();
		if (i < 2)
			assert_int_equal(times_in(text, "  Wire time: 2 x 67 ns "), !i);
	}
	/* The reflector does not report its times, so the network time is not known. */
	tear_down(state);
	set_up(state);
	part = "^Stages";
	width = 80;
	joined_run(SOURCE_HARDWARE, SOURCE_LOCAL, false);
	result.wire = rows[0].wire;
	forget_samples(&stage[STAGE_NETWORK], 0, 0);
	assert_no(written(80), "Wire time");
	/* A reflector. */
	tear_down(state);
	set_up(state);
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 6000, 1, 1, 1);
	result.wire = rows[0].wire;
	assert_no(written(80), "Wire time");
}

/* None is shown as zero, and the reason is that of most samples. */
static void stages_that_the_reflector_did_not_print(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(unknowns); i++) {
		tear_down(state);
		set_up(state);
		part = "^Stages";
		joined_run(SOURCE_HARDWARE, SOURCE_LOCAL, true);
		for (int k = STAGE_RESPONSE; k < STAGES; k++)
			forget_samples(&stage[k], 0, 0);
		result.software_remote.reported = false;
		result.account.follow_up[FOLLOW_UP_THERE] = 0;
		counter_add(&result.account.follow_up[unknowns[i].why], 95);
		counter_add(&result.account.follow_up[unknowns[(i + 1) % COUNT_OF(unknowns)].why], 6);
		show_report();
		result.stage[STAGE_APP_TO_WIRE] = result.stage[STAGE_WIRE_TO_APP] = NULL;
		result.stage[STAGE_REMOTE_APP] = NULL;
		show_report();
	}
}

static void why_remote_stages_are_not_known(void **state)
{
	static const struct software_remote last[] = {
		{ .reported = false, .t2_known = true },
		{ .reported = true, .t2_known = false },
		{ .reported = true, .t2_known = true },
		{ .reported = true, .t2_known = true, .bound_ns = { .known = true } },
	};

	(void)state;
	part = "^Stages";
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (int k = STAGE_REMOTE_WIRE_TO_APP; k < STAGES; k++)
		forget_samples(&stage[k], 0, 0);
	for (size_t i = 0; i < COUNT_OF(last); i++) {
		result.software_remote = last[i];
		show_report();
	}
	/* A stage with negative values only was reported. */
	histogram_add(&stage[STAGE_REMOTE_APP], -1, 0);
	show_report();
	/* They were not asked for. */
	result.stage[STAGE_REMOTE_APP] = NULL;
	show_report();
	/* No reply had any stamps. */
	result.stage[STAGE_REMOTE_APP] = &stage[STAGE_REMOTE_APP];
	forget_samples(&stage[STAGE_REMOTE_APP], 0, 0);
	result.remote = SOURCE_NONE;
	result.software_remote = last[0];
	show_report();
}

static void one_way_run(void)
{
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	for (int i = 0; i < ONE_WAYS; i++) {
		place(&one_way[i], 10);
		result.one_way[i] = &one_way[i];
	}
	for (uint32_t n = 0; n < 1000; n++) {
		/* 700.5 us in one of a thousand. */
		histogram_add(&one_way[ONE_WAY_FORWARD], n == 999 ? 700505 : 1005, n);
		histogram_add(&one_way[ONE_WAY_BACKWARD], 2000, n);
	}
	result.one_way_bound_ns[0] = optional_of(1269);
	result.one_way_bound_ns[1] = optional_of(93);
}

/* The bound stands beside the numbers, and where it comes from below. */
static void each_way_by_itself(void **state)
{
	(void)state;
	part = "^Stages";
	one_way_run();
	show_report();
	options.synced_ns = 1269;
	show_report();
	options.synced_ns = 0;
	result.one_way_bound_ns[0] = optional_of(0);
	show_report();
	/* It was not known. */
	one_way[0].count = one_way[1].count = 0;
	show_report();
	result.one_way[0] = result.one_way[1] = NULL;
	show_report();
}

/* Clocks that are further apart than --synced says: then there is no minimum to vary above. */
static void a_way_that_took_less_than_nothing(void **state)
{
	(void)state;
	part = "^Stages";
	one_way_run();
	options.synced_ns = 1269;
	histogram_add(&one_way[ONE_WAY_FORWARD], -1, 0);
	result.peer.compared = true;
	show_report();
	result.one_way_beyond = 1;
	show_report();
	result.peer.compared = false; /* nor where runs are read again */
	show_report();
	/* Nothing else was seen. */
	one_way[0].count = 0;
	show_report();
}

/* ---- Histograms of the parts ------------------------------------------------------------------------------------- */

static void histograms_of_response_and_network(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	for (uint32_t n = 0; n < 899; n++)
		histogram_add(&stage[STAGE_RESPONSE], 20000, 1000 + n);
	histogram_add(&stage[STAGE_RESPONSE], 123456, 4294967295);
	show_report();
	show_report();
	/* A store that is full, and bars on a terminal. */
	forget_samples(&stage[STAGE_RESPONSE], 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	width = 80;
	show_report();
	/* An unreported stage has none, nor has a run without -s, nor one without -H. */
	forget_samples(&stage[STAGE_RESPONSE], 0, 0);
	show_report();
	result.stage[STAGE_RESPONSE] = NULL;
	show_report();
	options.histogram = false;
	show_report();
	options.histogram = options.plain = true;
	show_report();
}

/* Ten samples lie above it. */
static void rare_percentiles_of_a_part(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	for (uint32_t n = USUAL; n < 999999; n++)
		histogram_add(&stage[STAGE_NETWORK], 5000, n);
	show_report();
	histogram_add(&stage[STAGE_NETWORK], 5000, 7);
	show_report();
}

static void the_schedule(void **state)
{
	static struct histogram planned[PLANNED];

	(void)state;
	part = "^Schedule|^Window";
	options.interval_ns = 250 * NS_PER_US;
	options.jitter_percent = 20;
	options.seed = 7;
	counter_add(&result.slots, 4000);
	show_report();
	counter_add(&result.missed, 30);
	for (int i = 0; i < PLANNED; i++) {
		place(&planned[i], 10);
		result.planned[i] = &planned[i];
		for (uint32_t n = 0; n < 100; n++)
			histogram_add(&planned[i], 1000 * (i + 1) + n, n);
	}
	show_report();
	result.window = (struct window_use){ .most = 64, .reached = 63 };
	options.poisson = true;
	options.pacing = PACING_SPIN;
	show_report();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_documented_lines),
		TEST(no_sample_is_not_zero),
		TEST(rare_percentiles_need_ten_samples_above),
		TEST(one_less_is_too_few),
		TEST(percentiles_above_a_full_overflow_store),
		TEST(bars_only_on_a_terminal),
		TEST(the_columns_of_the_stages_stand_in_line),
		TEST(the_numbers_of_the_stages),
		TEST(a_stage_with_a_full_overflow_store),
		TEST(all_of_it_is_the_first_stage),
		TEST(what_few_samples_support_is_marked),
		TEST(long_runs_have_more_columns),
		TEST(the_stages_of_both_hosts),
		TEST(the_names_of_remote_stages),
		TEST(the_table_fits_the_terminal),
		TEST(the_time_of_a_probe_on_the_link),
		TEST(stages_that_the_reflector_did_not_print),
		TEST(why_remote_stages_are_not_known),
		TEST(each_way_by_itself),
		TEST(a_way_that_took_less_than_nothing),
		TEST(histograms_of_response_and_network),
		TEST(rare_percentiles_of_a_part),
		TEST(the_schedule),
	};

	usual_stage = "^--- |Test is complete|Histogram|^Stages|^Rate:|One-way";
	return golden_run(tests);
}
