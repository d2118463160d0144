/* build: sources=report/headline.c,report/buckets.c,report/verdict_finding.c,report/log_file.c,report/log_mend.c,report/account.c,report/breach.c,report/clocks.c,report/clocks_there.c,report/echo.c,report/evidence.c,report/label.c,report/machine.c,host/place.c,report/part.c,report/variation.c,report/source_ports.c,report/report.c,histogram.c,tracefs.c,host/trace_*.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/activity*.c,host/clock*.c,host/nic*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms, percentiles and the table of parts: the lines that scripts parse, and what must not be in them. */
#include "report/statistics.c"

#include "fake_report.h"

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

static void the_documented_lines(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		histogram_add(&histogram, 8327 + 10 * i, 1000 + i);
	histogram_add(&histogram, 34439, 27246923);
	exchange.started = true;
	exchange.ended_ns = exchange.last_ns = 600 * NS_PER_S + 120 * NS_PER_MS;
	const char *all = written(0);

	assert_line(all, "Test is complete. Duration: 600.12 s");
	assert_line(all, "--- Latency Statistics ---");
	assert_line(all, "MIN: 8327 ns | MAX: 34439 ns | AVG: 9076 ns | Total Samples: 101");
	assert_line(all, "Histogram Summary:");
	assert_line(all, "  Samples   :  101");
	assert_line(all, "  Minimum   :  8.33 us (#1000)");
	assert_line(all, "  Maximum   :  34.44 us (#27246923)");
	assert_line(all, "  Average   :  9.08 us");
	assert_line(all, "  Percentiles (us):");
	assert_line(all, "    50th    :  8.827 (Median)");
	assert_line(all, "    90th    :  9.227");
	assert_line(all, "    99.99th :  34.439");
	assert_line(all, "         8.000 -        9.000 :           68  67.3267%");
	assert_line(all, "       100.000 -   (overflow) :            0   0.0000%");
	assert_line(all, "Rate: 0 round trips/s");
	assert_no(all, "99.999th");
	assert_no(all, "#####");
}

static void no_sample_is_not_zero(void **state)
{
	(void)state;
	const char *all = written(0);

	assert_line(all, "Test is complete. Duration: 0.00 s");
	assert_line(all, "MIN: n/a | MAX: n/a | AVG: n/a | Total Samples: 0");
	assert_line(all, "  Samples   :  0");
	assert_no(all, "Percentiles");
	assert_no(all, "Rate:");
}

static void rare_percentiles_need_ten_samples_above(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000000; i++)
		histogram_add(&histogram, 5000, i);
	const char *all = written(0);

	assert_line(all, "    99.999th:  5.000");
	assert_no(all, "99.9999th");
}

static void one_less_is_too_few(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 999999; i++)
		histogram_add(&histogram, 5000, i);
	assert_no(written(0), "99.999th");
}

static void a_full_overflow_store_gives_bounds(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HISTOGRAM_OVERFLOW_STORE + 1; i++)
		histogram_add(&histogram, 200 * NS_PER_US + i, i);
	assert_line(written(0), "    50th    :  >= 100.000 (Median) (bound: overflow store full)");
}

static void bars_only_on_a_terminal(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 50; i++)
		histogram_add(&histogram, 5000, i);
	for (uint32_t i = 0; i < 25; i++)
		histogram_add(&histogram, 7000, i);
	size_t whole = 0, half = 0;

	written(80);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, "% "))
			continue;
		if (strstr(line, "5.000 -"))
			whole = strspn(strchr(line, '#'), "#");
		if (strstr(line, "7.000 -"))
			half = strspn(strchr(line, '#'), "#");
		if (strstr(line, "#"))
			assert_true(strlen(line) <= 80);
	}
	assert_true(whole > 10);
	assert_int_equal(half, (whole + 1) / 2);
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

static void the_columns_of_the_stages_stand_in_line(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		const char *rows[STAGES];
	} tables[] = {
		{ ROLE_REFLECT, SOURCE_KERNEL, { "  Kernel-to-app   T2_SW - T2_KERNEL ", "  App-to-kernel   T3_KERNEL - T3_SW ",
						 "  App processing  T3_SW - T2_SW " } },
		{ ROLE_REFLECT, SOURCE_HARDWARE, { "  NIC-to-app      T2_SW - T2_HW ", "  App-to-NIC      T3_HW - T3_SW ",
						   "  App processing  T3_SW - T2_SW " } },
		{ ROLE_EMIT, SOURCE_KERNEL, { "  App-to-kernel   T1_KERNEL - T1_SW ", "  Kernel-to-app   T4_SW - T4_KERNEL " } },
		{ ROLE_EMIT, SOURCE_HARDWARE, { "  App-to-NIC      T1_HW - T1_SW ", "  NIC-to-app      T4_SW - T4_HW " } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tables); i++) {
		char header[256];

		tear_down(state);
		set_up(state);
		usual_run(tables[i].role, tables[i].stamp, 6000, 99999, 2000, 3);
		written(0);
		strcpy(header, line_with("Stages (us):"));
		for (int k = 0; k < STAGES && tables[i].rows[k]; k++)
			assert_aligned(header, line_with(tables[i].rows[k]));
		assert_int_equal(times_in(text, "  App processing"), tables[i].role == ROLE_REFLECT);
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
	histogram_add(&stage[2], 123456789, 0);
	written(0);
	assert_line(text, "  Kernel-to-app   T2_SW - T2_KERNEL          20000        0     10.000     18.000     19.000"
		    "     19.800     19.980     19.998*    20.000");
	assert_line(text, "  App-to-kernel   T3_KERNEL - T3_SW              0    12345");
	assert_line(text, "  App processing  T3_SW - T2_SW                  1        0 123456.789*123456.789*123456.789"
		    "*123456.789*123456.789*123456.789*123456.789");
	assert_line(text, "Stages (us):                               Samples Negative       50th       90th       95th"
		    "       99th     99.9th    99.99th    Maximum");
}

static void a_stage_with_a_full_overflow_store(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 1, 1, 1);
	forget_samples(&stage[0], 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	written(0);
	assert_line(text, "  Kernel-to-app   T2_SW - T2_KERNEL         131073        0  >=100.000  >=100.000  >=100.000"
		    "  >=100.000  >=100.000  >=100.000    200.000");
}

/* With and without -H, at both roles, and also where nothing of it was told apart. */
static void all_of_it_is_the_first_stage(void **state)
{
	static const char rtt[] = "  Round trip      T4_KERNEL - T1_KERNEL        101        0      6.000      6.000      6.000*     6.000"
				  "*     6.000*     6.000*     6.000";
	static const char response[] = "  Response        T3_KERNEL - T2_KERNEL        101        0      6.000      6.000      6.000"
				       "*     6.000*     6.000*     6.000*     6.000";

	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 1, 1, 1);
	for (int i = 0; i < 2; i++) {
		options.histogram = i;
		options.role = ROLE_REFLECT;
		assert_line(written(0), response);
		assert_line(text, "  * fewer than ten samples are above it");
		assert_non_null(strstr(text, "\n  Kernel-to-app "));
		options.role = ROLE_EMIT;
		assert_line(written(0), rtt);
	}
	for (int i = 0; i < STAGES; i++)
		exchange.stage[i] = NULL;
	assert_line(written(0), rtt);
	assert_no(text, "-to-app");
	forget_samples(&histogram, 0, 0);
	assert_no(written(0), "Stages");
}

/* The last percentile that ten samples are above has no mark, nor have those before it. */
static void what_few_samples_support_is_marked(void **state)
{
	static const struct {
		unsigned samples;
		const char *marks; /* behind 50th, 90th ... 99.99th */
		const char *names; /* NULL: none */
	} rows[] = {
		{ 19, "******", "50th, 90th, 95th, 99th, 99.9th, 99.99th" }, { 20, " *****", "90th, 95th, 99th, 99.9th, 99.99th" },
		{ 199, "  ****", "95th, 99th, 99.9th, 99.99th" }, { 200, "   ***", "99th, 99.9th, 99.99th" },
		{ 1000, "    **", "99.9th, 99.99th" }, { 99999, "     *", "99.99th" }, { 100000, "      ", NULL },
	};

	(void)state;
	options.role = ROLE_REFLECT;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char line[256], few[128];

		forget_samples(&histogram, 6000, rows[i].samples);
		snprintf(line, sizeof(line), "  Response        T3_KERNEL - T2_KERNEL  %9u        0      6.000", rows[i].samples);
		for (int k = 0; k < 6; k++)
			snprintf(line + strlen(line), sizeof(line) - strlen(line), "%c     6.000", rows[i].marks[k]);
		assert_line(written(0), line);
		snprintf(few, sizeof(few), "    fewer than ten samples are above: %s", rows[i].names ? rows[i].names : "");
		if (rows[i].names)
			assert_line(text, few);
		else
			assert_no(text, "fewer than ten");
	}
}

/* 100,000 samples for each sample above; a terminal gets them where they fit. */
static void long_runs_have_more_columns(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	forget_samples(&histogram, 6000, 999999);
	assert_no(written(0), "99.999th");
	histogram_add(&histogram, 7000, 0);
	assert_non_null(strstr(written(0), "    99.99th   99.999th    Maximum\n"));
	assert_line(text, "  Response        T3_KERNEL - T2_KERNEL    1000000        0      6.000      6.000      6.000      6.000      6.000"
		    "      6.000      6.000      7.000");
	assert_no(text, "fewer than ten");
	written(80);
	assert_line(text, "Stages (us):        Samples Negative       50th       99th     99.9th    Maximum");
}

/* ---- The table of stages, of both hosts -------------------------------------------------------------------------- */

#define STAGES_TITLE "\nStages (us):                                      Samples Negative       50th       90th       95th" \
		     "       99th     99.9th    99.99th    Maximum    Average\n"
/* Of `USUAL` samples that are all the same: fewer than ten are above the 95th and what follows. */
#define SAME(value) "        101        0 " value " " value " " value "*" value "*" value "*" value "*" value " " value "\n"
#define WHOLE_ROW "  Round trip             T4_HW - T1_HW        " SAME("    15.000")
#define FEW "  * fewer than ten samples are above it\n"
#define HERE_ROWS                                                          \
	"  App-to-NIC             T1_HW - T1_SW        " SAME("     3.000") \
	"  NIC-to-app             T4_SW - T4_HW        " SAME("     2.000")
#define PEER_ROWS                                                          \
	"  Response               T3_HW - T2_HW        " SAME("    10.000") \
	"  Network                RTT - RESPONSE       " SAME("     5.000")
#define REMOTE_ROWS                                                        \
	"  Remote NIC-to-app      T2_SW - T2_HW        " SAME("     2.100") \
	"  Remote app processing  T3_SW - T2_SW        " SAME("     0.900") \
	"  Remote app-to-NIC      T3_HW - T3_SW        " SAME("     7.000")

static void the_stages_of_both_hosts(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	assert_section(STAGES_TITLE, WHOLE_ROW HERE_ROWS PEER_ROWS REMOTE_ROWS FEW);
	/* They are no part of the histogram. */
	options.histogram = false;
	assert_section(STAGES_TITLE, WHOLE_ROW HERE_ROWS PEER_ROWS REMOTE_ROWS FEW);
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	assert_section(STAGES_TITLE, WHOLE_ROW PEER_ROWS FEW);
	/* Nothing was recorded. */
	forget_samples(&histogram, 0, 0);
	assert_no(written(0), "Stages");
}

static void the_names_of_remote_stages(void **state)
{
	static const struct {
		enum source there;
		const char *rows[5];
	} tables[] = {
		{ SOURCE_KERNEL, { "  Response               T3_KERNEL - T2_KERNEL  ", "  Network                RTT - RESPONSE         ",
				   "  Remote kernel-to-app   T2_SW - T2_KERNEL      ", "  Remote app processing  T3_SW - T2_SW          ",
				   "  Remote app-to-kernel   T3_KERNEL - T3_SW      " } },
		{ SOURCE_LOCAL, { "  Response               T3_LOCAL - T2_LOCAL    ", "  Network                RTT - RESPONSE         ",
				  "  Remote host-to-app     T2_SW - T2_LOCAL       ", "  Remote app processing  T3_SW - T2_SW          ",
				  "  Remote app-to-host     T3_LOCAL - T3_SW       " } },
		/* Its program's times are the stamps: once is enough. */
		{ SOURCE_USER, { "  Response               T3_SW - T2_SW          ", "  Network and hosts      RTT - RESPONSE         ",
				 "  Remote stages: not known: the reflector's stamps are those of its program" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tables); i++) {
		char header[256];

		tear_down(state);
		set_up(state);
		joined_run(SOURCE_HARDWARE, tables[i].there, true);
		written(0);
		strcpy(header, line_with("Stages (us):"));
		for (int k = 0; k < 5 && tables[i].rows[k]; k++) {
			const char *row = line_with(tables[i].rows[k]);

			if (!strstr(row, "not known"))
				assert_aligned(header, row);
		}
		assert_int_equal(times_in(text, "  Remote app"), tables[i].there == SOURCE_USER ? 0 : 2);
	}
}

/* What does not fit is left out, and no line is broken. Samples of every width, and a bound. */
static void the_table_fits_the_terminal(void **state)
{
	static const struct {
		int columns;
		const char *header;
	} rows[] = {
		{ 80, "Stages (us):               Samples       50th       99th     99.9th    Maximum" },
		{ 86, "Stages (us):               Samples       50th       99th     99.9th    Maximum" },
		{ 87, "Stages (us):               Samples Negative       50th       99th     99.9th    Maximum" },
		{ 98, "Stages (us):               Samples Negative       50th       99th     99.9th    99.99th    Maximum" },
		{ 120, "Stages (us):               Samples Negative       50th       90th       99th     99.9th    99.99th    Maximum"
		       "    Average" },
		{ 143, "Stages (us):                                      Samples Negative       50th       90th       99th"
		       "     99.9th    99.99th    Maximum    Average" },
		{ 154, STAGES_TITLE },
		{ 160, STAGES_TITLE },
	};

	(void)state;
	joined_run(SOURCE_KERNEL, SOURCE_KERNEL, true);
	forget_samples(&stage[STAGE_RESPONSE], 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	histogram_add(&stage[STAGE_NETWORK], 99999999999, 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char header[256];

		written(rows[i].columns);
		strcpy(header, line_with("Stages (us):"));
		assert_memory_equal(header, rows[i].header + (*rows[i].header == '\n'), strlen(header));
		assert_true((int)strlen(header) <= rows[i].columns);
		assert_aligned(header, line_with("  Remote kernel-to-app "));
		assert_aligned(header, line_with("  Response "));
		assert_int_equal(times_in(text, "Stages (us):"), 1);
	}
	/* A reflector's in full. */
	tear_down(state);
	set_up(state);
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 1, 1, 1);
	written(136);
	assert_line(text, "Stages (us):                               Samples Negative       50th       90th       95th"
		    "       99th     99.9th    99.99th    Maximum");
	written(80);
	assert_line(text, "Stages (us):        Samples Negative       50th       99th     99.9th    Maximum");
}

/* None is shown as zero, and the reason is that of most samples. */
static void stages_that_the_reflector_did_not_tell(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(unknowns); i++) {
		char lines[2048];

		tear_down(state);
		set_up(state);
		joined_run(SOURCE_HARDWARE, SOURCE_LOCAL, true);
		for (int k = STAGE_RESPONSE; k < STAGES; k++)
			forget_samples(&stage[k], 0, 0);
		exchange.reply.software_told = false;
		exchange.account.follow_up[FOLLOW_UP_THERE] = 0;
		counter_add(&exchange.account.follow_up[unknowns[i].why], 95);
		counter_add(&exchange.account.follow_up[unknowns[(i + 1) % COUNT_OF(unknowns)].why], 6);
		snprintf(lines, sizeof(lines), WHOLE_ROW HERE_ROWS FEW "  Response and network: not known: %s\n"
			 "  Remote stages: not known: the reflector does not tell when its program had the probe\n",
			 unknowns[i].words);
		assert_section(STAGES_TITLE, lines);
		exchange.stage[STAGE_APP_TO_WIRE] = exchange.stage[STAGE_WIRE_TO_APP] = NULL;
		exchange.stage[STAGE_REMOTE_APP] = NULL;
		snprintf(lines, sizeof(lines), WHOLE_ROW FEW "  Response and network: not known: %s\n", unknowns[i].words);
		assert_section(STAGES_TITLE, lines);
	}
}

static void why_remote_stages_are_not_known(void **state)
{
	static const struct {
		struct reply last;
		const char *words;
	} rows[] = {
		{ { .software_told = false, .t2_user_known = true }, "the reflector does not tell when its program had the probe" },
		{ { .software_told = true, .t2_user_known = false }, "the reflector does not tell when its program had the probe" },
		{ { .software_told = true, .t2_user_known = true, .software_bound_ns = -1 },
		  "the reflector cannot compare its program's clock with that of its stamps" },
		{ { .software_told = true, .t2_user_known = true }, "the reflector's times are not complete" },
	};

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (int k = STAGE_REMOTE_WIRE_TO_APP; k < STAGES; k++)
		forget_samples(&stage[k], 0, 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[2048];

		exchange.reply = rows[i].last;
		snprintf(lines, sizeof(lines), WHOLE_ROW HERE_ROWS PEER_ROWS FEW "  Remote stages: not known: %s\n", rows[i].words);
		assert_section(STAGES_TITLE, lines);
	}
	/* A stage that was only negative was told. */
	histogram_add(&stage[STAGE_REMOTE_APP], -1, 0);
	assert_no(written(0), "not known");
	assert_line(text, "  Remote app processing  T3_SW - T2_SW                  0        1");
	/* They were not asked for. */
	exchange.stage[STAGE_REMOTE_APP] = NULL;
	assert_no(written(0), "not known");
	/* No reply had any stamps. */
	exchange.stage[STAGE_REMOTE_APP] = &stage[STAGE_REMOTE_APP];
	forget_samples(&stage[STAGE_REMOTE_APP], 0, 0);
	exchange.there = SOURCE_NONE;
	exchange.reply = rows[0].last;
	assert_line(written(0), "  Remote stages: not known: the reflector does not tell when its program had the probe");
}

#define FORWARD "  Forward                +-1.269 us           "
#define FORWARD_MORE "  Forward, variation     above its minimum    "
#define BACKWARD "  Backward               +-1.269 us           "
#define BACKWARD_MORE "  Backward, variation    above its minimum    "

static void one_way_run(void)
{
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	for (int i = 0; i < ONE_WAYS; i++) {
		place(&one_way[i], 10);
		exchange.one_way[i] = &one_way[i];
	}
	for (uint32_t n = 0; n < 1000; n++) {
		/* 700.5 us in one of a thousand. */
		histogram_add(&one_way[ONE_WAY_FORWARD], n == 999 ? 700505 : 1005, n);
		histogram_add(&one_way[ONE_WAY_BACKWARD], 2000, n);
	}
	exchange.one_way_bound_ns[0] = 1269;
	exchange.one_way_bound_ns[1] = 93;
}

/* One of a thousand is above the 99.9th. */
#define ONE_WAY_ROWS                                                                                                      \
	FORWARD "       1000        0      1.000      1.000      1.000      1.000      1.000*   700.505*   700.505      1.704\n"    \
	FORWARD_MORE "       1000        0      0.000      0.000      0.000      0.000      0.000*   699.500*   699.500      0.700\n" \
	BACKWARD "       1000        0      2.000      2.000      2.000      2.000      2.000*     2.000*     2.000      2.000\n"   \
	BACKWARD_MORE "       1000        0      0.000      0.000      0.000      0.000      0.000*     0.000*     0.000      0.000\n"
#define WITHIN "  Forward and backward are within +-1269 ns"

/* The bound stands beside the numbers, and where it comes from below. */
static void each_way_by_itself(void **state)
{
	(void)state;
	one_way_run();
	assert_section(STAGES_TITLE, WHOLE_ROW PEER_ROWS ONE_WAY_ROWS
		       WITHIN " (at the end +-93): the clocks were compared by the exchanges themselves\n" FEW);
	options.synced_ns = 1269;
	assert_section(STAGES_TITLE, WHOLE_ROW PEER_ROWS ONE_WAY_ROWS WITHIN ", if the two NICs' clocks are, as --synced says\n" FEW);
	options.synced_ns = exchange.one_way_bound_ns[0] = 0;
	assert_no(written(0), "compared by the exchanges");
	assert_line(text, "  Forward and backward are within +-0 ns, if the two NICs' clocks are, as --synced says");
	assert_non_null(strstr(text, "\n  Backward               +-0.000 us "));
	/* It was not known. */
	one_way[0].count = one_way[1].count = 0;
	assert_section(STAGES_TITLE, WHOLE_ROW PEER_ROWS FEW);
	exchange.one_way[0] = exchange.one_way[1] = NULL;
	assert_section(STAGES_TITLE, WHOLE_ROW PEER_ROWS FEW);
}

/* Clocks that are further apart than --synced says: then there is no minimum to vary above. */
static void a_way_that_took_less_than_nothing(void **state)
{
	(void)state;
	one_way_run();
	options.synced_ns = 1269;
	histogram_add(&one_way[ONE_WAY_FORWARD], -1, 0);
	assert_non_null(strstr(written(0), "\n" FORWARD "       1000        1      1.000"));
	assert_no(text, "Forward, variation");
	assert_non_null(strstr(text, "\n" BACKWARD_MORE));
	/* Nothing else was seen. */
	one_way[0].count = 0;
	written(0);
	assert_line(text, FORWARD "          0        1");
	assert_line(text, WITHIN ", if the two NICs' clocks are, as --synced says");
}

/* ---- Histograms of the parts ------------------------------------------------------------------------------------- */

static void histograms_of_response_and_network(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	for (uint32_t n = 0; n < 899; n++)
		histogram_add(&stage[STAGE_RESPONSE], 20000, 1000 + n);
	histogram_add(&stage[STAGE_RESPONSE], 123456, 4294967295);
	assert_section("\nResponse Histogram (us):\n", "  1001 samples from 10.000 (#0) to 123.456 (#4294967295)\n"
		       "  average 19.094, standard deviation 4.468\n"
		       "  50th 20.000, 90th 20.000, 95th 20.000, 99th 20.000, 99.9th 20.000, 99.99th 123.456\n"
		       "    fewer than ten samples are above: 99.9th, 99.99th\n"
		       "        10.000 -       11.000 :          101  10.0899%\n"
		       "        20.000 -       21.000 :          899  89.8102%\n"
		       "       100.000 -   (overflow) :            1   0.0999%\n");
	assert_section("\nNetwork Histogram (us):\n", "  101 samples from 5.000 (#0) to 5.000 (#0)\n"
		       "  average 5.000, standard deviation 0.000\n"
		       "  50th 5.000, 90th 5.000, 95th 5.000, 99th 5.000, 99.9th 5.000, 99.99th 5.000\n"
		       "    fewer than ten samples are above: 95th, 99th, 99.9th, 99.99th\n"
		       "         5.000 -        6.000 :          101 100.0000%\n"
		       "       100.000 -   (overflow) :            0   0.0000%\n");
	/* A store that is full, and bars on a terminal. */
	forget_samples(&stage[STAGE_RESPONSE], 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	width = 80;
	assert_section("\nResponse Histogram (us):\n", "  131073 samples from 200.000 (#0) to 200.000 (#0)\n"
		       "  average 200.000, standard deviation 0.000\n"
		       "  50th >=100.000, 90th >=100.000, 95th >=100.000, 99th >=100.000, 99.9th >=100.000, 99.99th >=100.000\n"
		       "       100.000 -   (overflow) :       131073 100.0000%  ########################\n");
	/* What was not told has none, nor who did not ask, nor without -H. */
	forget_samples(&stage[STAGE_RESPONSE], 0, 0);
	assert_no(written(0), "Response Histogram");
	assert_non_null(strstr(text, "Network Histogram"));
	exchange.stage[STAGE_RESPONSE] = NULL;
	assert_no(written(0), "Response Histogram");
	options.histogram = false;
	assert_no(written(0), "Histogram");
	options.histogram = options.plain = true;
	assert_no(written(0), "Network Histogram");
}

/* Ten samples lie above it. */
static void rare_percentiles_of_a_part(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	for (uint32_t n = USUAL; n < 999999; n++)
		histogram_add(&stage[STAGE_NETWORK], 5000, n);
	assert_line(written(0), "  50th 5.000, 90th 5.000, 95th 5.000, 99th 5.000, 99.9th 5.000, 99.99th 5.000");
	histogram_add(&stage[STAGE_NETWORK], 5000, 7);
	assert_line(written(0), "  50th 5.000, 90th 5.000, 95th 5.000, 99th 5.000, 99.9th 5.000, 99.99th 5.000, 99.999th 5.000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_documented_lines),
		TEST(no_sample_is_not_zero),
		TEST(rare_percentiles_need_ten_samples_above),
		TEST(one_less_is_too_few),
		TEST(a_full_overflow_store_gives_bounds),
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
		TEST(stages_that_the_reflector_did_not_tell),
		TEST(why_remote_stages_are_not_known),
		TEST(each_way_by_itself),
		TEST(a_way_that_took_less_than_nothing),
		TEST(histograms_of_response_and_network),
		TEST(rare_percentiles_of_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
