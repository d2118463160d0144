/* build: wraps=activity_differences sources=histogram.c,measure/log.c,measure/exchange.c,wire/timestamping.c,wire/packet.c,wire/hmac.c,wire/socket.c,wire/session.c,wire/sequence.c,tracefs.c,host/trace_*.c,host/pmc.c,host/clock*.c,host/activity*.c,host/pmu.c,host/nic*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* What people read: the lines that scripts parse, labels that never say more than is known, and a log that is whole or
 * not there. */
#include "report/report.c"

#include "wire/session.h"
#include "util.h"

#include <dirent.h>
#include <sys/sysmacros.h>

/* ---- A finished run ------------------------------------------------------------------------------------------------ */

static struct options options;
static struct histogram histogram;
static struct exchange exchange;
static struct channel channel;
static struct sessions sessions;
static struct log transactions;
static struct report report;
static struct histogram stage[STAGES], one_way[ONE_WAYS];
static struct trace trace;
static struct trace_saved saved;
static char *text;
static int width; /* of the terminal */

/* With as much room as the latency has. */
static void place(struct histogram *h, int64_t width_ns)
{
	histogram_place(h, calloc(1, histogram_layout(h, options.overflow_ns, width_ns, HISTOGRAM_OVERFLOW_STORE)));
}

static int set_up(void **state)
{
	(void)state;
	memset(&exchange, 0, sizeof(exchange));
	memset(&channel, 0, sizeof(channel));
	/* Without the other host's times, as a reflector is and an emitter by --plain. */
	options = (struct options){ .stamp = SOURCE_KERNEL, .histogram = true, .overflow_ns = 100 * NS_PER_US,
				    .bucket_ns = NS_PER_US, .interface = "veth0", .plain = true, .ttl = 255, .dscp = -1,
				    .synced_ns = -1 };
	place(&histogram, 1);
	sessions_init(&sessions);
	exchange.sessions = &sessions;
	exchange.options = &options;
	width = 0;
	report = (struct report){ .options = &options, .exchange = &exchange, .channel = &channel, .histogram = &histogram };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(histogram.overflow);
	for (int i = 0; i < STAGES; i++) {
		free(stage[i].overflow);
		stage[i].overflow = NULL;
	}
	for (int i = 0; i < ONE_WAYS; i++) {
		free(one_way[i].overflow);
		one_way[i].overflow = NULL;
	}
	free(text);
	text = NULL;
	return 0;
}

static const char *written(int columns)
{
	size_t bytes;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	histogram_finish(&histogram);
	for (int i = 0; i < STAGES; i++)
		if (exchange.stage[i])
			histogram_finish(&stage[i]);
	for (int i = 0; i < ONE_WAYS; i++)
		if (exchange.one_way[i])
			histogram_finish(&one_way[i]);
	report_write(out, &report, columns);
	fclose(out);
	return text;
}

/* A line of its own: scripts look for lines. */
static void assert_line(const char *all, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = all; (at = strstr(at, line)); at++)
		if ((at == all || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
			return;
	fail_msg("there is no line '%s' in:\n%s", line, all);
}

static void assert_no(const char *all, const char *words)
{
	if (strstr(all, words))
		fail_msg("'%s' must not be in:\n%s", words, all);
}

static int times_in(const char *all, const char *words)
{
	int n = 0;

	for (const char *at = all; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static void assert_text(const char *from, size_t bytes, const char *lines)
{
	if (bytes != strlen(lines) || strncmp(from, lines, bytes))
		fail_msg("not\n%s\nbut\n%.*s", lines, (int)bytes, from);
}

/* From the title of the section to its end. */
static void assert_section(const char *title, const char *lines)
{
	const char *from = strstr(written(width), title);

	if (!from)
		fail_msg("there is no section '%s' in:\n%s", title, text);
	from += strlen(title);
	const char *to = strstr(from, "\n\n");

	assert_text(from, to ? (size_t)(to + 1 - from) : strlen(from), lines);
}

/* ---- Statistics ---------------------------------------------------------------------------------------------------- */

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

/* ---- Labels --------------------------------------------------------------------------------------------------------- */

static void labels_say_where_stamps_come_from(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		bool no_tx;
		const char *name;
	} rows[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, false, "RTT = T4_HW - T1_HW" },
		{ ROLE_EMIT, SOURCE_KERNEL, false, "RTT = T4_KERNEL - T1_KERNEL" },
		{ ROLE_EMIT, SOURCE_USER, false, "RTT = T4_SW - T1_SW" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, false, "RESPONSE = T3_HW - T2_HW" },
		{ ROLE_REFLECT, SOURCE_KERNEL, false, "RESPONSE = T3_KERNEL - T2_KERNEL" },
		{ ROLE_REFLECT, SOURCE_USER, false, "RESPONSE = T3_SW - T2_SW" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, true, "RESPONSE = T3_SW - T2_SW" },
		{ ROLE_REFLECT, SOURCE_KERNEL, true, "RESPONSE = T3_SW - T2_SW" },
	};
	char name[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		options.role = rows[i].role;
		options.stamp = rows[i].stamp;
		options.no_tx_stamps = rows[i].no_tx;
		report_latency_name(&options, name, sizeof(name));
		assert_string_equal(name, rows[i].name);
	}
}

static void a_breach_shows_every_stamp_there_is(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.stamp = SOURCE_HARDWARE;
	options.threshold_ns = 100000;
	exchange.breach = (struct sample){
		.seq = 4294967295, .latency_ns = 330151,
		.source = { SOURCE_HARDWARE, SOURCE_USER, SOURCE_USER, SOURCE_HARDWARE },
		.time_ns = { 1773883524780127138, 1773883524780430176, 1773883524780430768, 1773883524780457289 },
	};
	counter_add(&exchange.account.breaches, 1);
	const char *all = written(0);

	assert_line(all, "Response latency (330151 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  Sequence number: 4294967295");
	assert_line(all, "  T2_HW (NIC rx): 1773883524.780127138");
	assert_line(all, "  T3_HW (NIC tx): 1773883524.780457289");
	assert_line(all, "  T2_SW (app rx): 1773883524.780430176");
	assert_line(all, "  T3_SW (app tx): 1773883524.780430768");
	exchange.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	assert_no(written(0), "T2_SW (");
}

static void kernel_stamps_are_never_called_hardware(void **state)
{
	(void)state;
	options.threshold_ns = 1;
	exchange.breach = (struct sample){ .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER } };
	counter_add(&exchange.account.breaches, 1);
	const char *all = written(0);

	assert_line(all, "Round-trip latency (0 ns) exceeds threshold (1 ns).");
	assert_line(all, "  T1_KERNEL (kernel tx): 0.000000000");
	assert_no(all, "HW");
	assert_no(all, "NIC");
}

/* ---- Where the time went ---------------------------------------------------------------------------------------------- */

#define USUAL 101 /* samples of each histogram */

/* A run whose latency and stages took so long at each exchange. An emitter has two stages. */
static void usual_run(enum role role, enum source stamp, int64_t latency_ns, int64_t s0_ns, int64_t s1_ns, int64_t s2_ns)
{
	const int64_t usual_ns[STAGES] = { s0_ns, s1_ns, s2_ns };

	options.role = role;
	options.stamp = stamp;
	options.threshold_ns = 100000;
	for (int i = 0; i < (role == ROLE_EMIT ? 2 : 3); i++) {
		place(&stage[i], 1);
		exchange.stage[i] = &stage[i];
		for (uint32_t n = 0; n < USUAL; n++)
			histogram_add(&stage[i], usual_ns[i], n);
	}
	for (uint32_t n = 0; n < USUAL; n++)
		histogram_add(&histogram, latency_ns, n);
}

/* All four times, the first at `first_ns`, with so much between them. */
static struct sample sample_of(uint32_t seq, int64_t a_ns, int64_t b_ns, int64_t c_ns)
{
	const uint8_t wire = (uint8_t)options.stamp;
	const int64_t first_ns = 1773883524780127138;
	struct sample s = { .seq = seq, .time_ns = { first_ns, first_ns + a_ns, first_ns + a_ns + b_ns,
						     first_ns + a_ns + b_ns + c_ns } };

	memcpy(s.source, options.role == ROLE_EMIT ? (uint8_t[]){ SOURCE_USER, wire, wire, SOURCE_USER } :
	       (uint8_t[]){ wire, SOURCE_USER, SOURCE_USER, wire }, TIMES);
	s.latency_ns = options.role == ROLE_EMIT ? b_ns : a_ns + b_ns + c_ns;
	return s;
}

static void breach_at(uint32_t seq, int64_t a_ns, int64_t b_ns, int64_t c_ns)
{
	struct sample s = sample_of(seq, a_ns, b_ns, c_ns);

	if (!counter_get(&exchange.account.breaches))
		exchange.breach = s;
	if (!counter_get(&exchange.account.breaches) || s.latency_ns > exchange.worst.latency_ns)
		exchange.worst = s;
	exchange.kept[counter_get(&exchange.account.breaches) % BREACHES_KEPT] = s;
	counter_add(&exchange.account.breaches, 1);
}

#define ARROW " <-- where the spike is"

static void the_documented_breakdown(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "Response latency (330151 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns" ARROW);
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns");
	assert_line(all, "  App processing (T3_SW - T2_SW): 592 ns");
	assert_line(all, "  Blame: Kernel-to-app 303.038 us, typical 7.900 us, 94 % of the excess");
	assert_no(all, "Wire and reflector");
	assert_no(all, "NIC");
	assert_no(all, "HW");
	/* Between the stamps and the blank line. */
	assert_non_null(strstr(all, "T3_SW (app tx): 1773883524.780430768\n  Kernel-to-app"));
	assert_non_null(strstr(all, "of the excess\n\nTest is complete."));
}

static void stages_to_a_nic_are_called_so(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "  NIC-to-app (T2_SW - T2_HW): 303038 ns" ARROW);
	assert_line(all, "  App-to-NIC (T3_HW - T3_SW): 26521 ns");
	assert_line(all, "  App processing (T3_SW - T2_SW): 592 ns");
	assert_line(all, "  Blame: NIC-to-app 303.038 us, typical 7.900 us, 94 % of the excess");
	assert_no(all, "ernel");
}

/* The largest is as large as ever; by how much each stage exceeds its own median is what counts, not by what factor. */
static void the_arrow_is_not_at_the_largest(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 83510, 49000, 5000, 10);
	breach_at(7, 50000, 900, 20000);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 50000 ns");
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 20000 ns" ARROW);
	assert_line(all, "  App processing (T3_SW - T2_SW): 900 ns");
	assert_int_equal(times_in(all, "<--"), 1);
	assert_non_null(strstr(all, "  Blame: App-to-kernel 20.000 us, typical 5.000 us"));
}

static void the_arrow_at_each_stage_in_turn(void **state)
{
	static const struct {
		int64_t a_ns, b_ns, c_ns;
		const char *arrow, *blame;
	} rows[] = {
		{ 120000, 1000, 2000, "  Kernel-to-app (T2_SW - T2_KERNEL): 120000 ns" ARROW,
		  "  Blame: Kernel-to-app 120.000 us, typical 3.000 us, 100 % of the excess" },
		{ 3000, 1000, 130001, "  App-to-kernel (T3_KERNEL - T3_SW): 130001 ns" ARROW,
		  "  Blame: App-to-kernel 130.001 us, typical 2.000 us, 100 % of the excess" },
		{ 3000, 140000, 2000, "  App processing (T3_SW - T2_SW): 140000 ns" ARROW,
		  "  Blame: App processing 140.000 us, typical 1.000 us, 100 % of the excess" },
		{ 63000, 1000, 42000, "  Kernel-to-app (T2_SW - T2_KERNEL): 63000 ns" ARROW,
		  "  Blame: Kernel-to-app 63.000 us, typical 3.000 us, 60 % of the excess" },
		/* Others were quicker than usual. */
		{ 1000, 101000, 1000, "  App processing (T3_SW - T2_SW): 101000 ns" ARROW,
		  "  Blame: App processing 101.000 us, typical 1.000 us, 103 % of the excess" },
	};

	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		exchange.account.breaches = 0;
		breach_at(7, rows[i].a_ns, rows[i].b_ns, rows[i].c_ns);
		const char *all = written(0);

		assert_line(all, rows[i].arrow);
		assert_line(all, rows[i].blame);
		assert_int_equal(times_in(all, "<--"), 1);
	}
}

static void an_emitter_blames_only_what_is_in_the_round_trip(void **state)
{
	(void)state;
	usual_run(ROLE_EMIT, SOURCE_KERNEL, 20000, 3000, 2000, 0);
	breach_at(7, 900000, 120000, 800000);
	const char *all = written(0);

	assert_line(all, "Round-trip latency (120000 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  App-to-kernel (T1_KERNEL - T1_SW): 900000 ns");
	assert_line(all, "  Kernel-to-app (T4_SW - T4_KERNEL): 800000 ns");
	assert_line(all, "  Wire and reflector (T4_KERNEL - T1_KERNEL): 120000 ns" ARROW);
	assert_line(all, "  Blame: Wire and reflector 120.000 us, typical 20.000 us, 100 % of the excess");
	assert_int_equal(times_in(all, "<--"), 1);
	assert_no(all, "App processing");
}

static void an_emitter_with_a_nic(void **state)
{
	(void)state;
	usual_run(ROLE_EMIT, SOURCE_HARDWARE, 20000, 3000, 2000, 0);
	breach_at(7, 900000, 120000, 800000);
	const char *all = written(0);

	assert_line(all, "  App-to-NIC (T1_HW - T1_SW): 900000 ns");
	assert_line(all, "  NIC-to-app (T4_SW - T4_HW): 800000 ns");
	assert_line(all, "  Wire and reflector (T4_HW - T1_HW): 120000 ns" ARROW);
}

static void forget_samples(struct histogram *h, int64_t value_ns, unsigned samples)
{
	free(h->overflow);
	place(h, 1);
	for (uint32_t i = 0; i < samples; i++)
		histogram_add(h, value_ns, i);
}

/* The spike alone is all that there is: it would be typical of itself. */
static void one_sample_blames_nothing(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		tear_down(state);
		set_up(state);
		usual_run(role, SOURCE_KERNEL, 1, 1, 1, 1);
		forget_samples(&histogram, 120000, 1);
		for (int i = 0; i < STAGES && exchange.stage[i]; i++)
			forget_samples(&stage[i], 40000, 1);
		breach_at(7, 40000, 120000, 40000);
		const char *all = written(0);

		assert_no(all, "<--");
		assert_line(all, "  Blame: none, there is nothing typical to compare these with");
	}
}

/* The histogram of a stage of its own may lack what that of the latency has. */
static void a_stage_that_was_hardly_seen_is_not_blamed(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	forget_samples(&stage[0], 10, 1);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns");
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns" ARROW);
	/* And the clock went back in it. */
	exchange.account.breaches = 0;
	breach_at(8, -2, 592, 126521);
	assert_line(written(0), "  Kernel-to-app (T2_SW - T2_KERNEL): -2 ns");
}

/* More samples lie beyond --overflow than are kept: the median is that value or more. */
static void a_median_that_is_only_a_bound(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	forget_samples(&stage[0], 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns" ARROW);
	assert_line(all, "  Blame: Kernel-to-app 303.038 us, typical >= 100.000 us");
	assert_no(all, "of the excess");
	/* The stage is known, the latency is not. */
	forget_samples(&stage[0], 7900, USUAL);
	forget_samples(&histogram, 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	all = written(0);
	assert_line(all, "  Blame: Kernel-to-app 303.038 us, typical 7.900 us");
	assert_no(all, "of the excess");
	/* As many as are kept: both are known. */
	forget_samples(&stage[0], 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE);
	forget_samples(&histogram, 160 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE);
	assert_line(written(0), "  Blame: Kernel-to-app 303.038 us, typical 150.000 us, 90 % of the excess");
}

/* As with a threshold below the median. */
static void what_took_no_longer_than_usual_is_not_blamed(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 330151, 303038, 26521, 592);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_no(all, "<--");
	assert_line(all, "  Blame: none, each of these took no longer than usual");
	exchange.account.breaches = 0;
	breach_at(7, 303037, 591, 26520);
	assert_no(written(0), "<--");
	exchange.account.breaches = 0;
	breach_at(7, 303037, 592, 26522); /* more than usual, in less than usual */
	all = written(0);
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26522 ns" ARROW);
	assert_line(all, "  Blame: App-to-kernel 26.522 us, typical 26.521 us");
	assert_no(all, "of the excess");
}

static void a_stage_without_a_time_is_not_shown(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	exchange.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	exchange.worst = exchange.breach;
	const char *all = written(0);

	assert_no(all, "Kernel-to-app (T2_SW - T2_KERNEL): ");
	assert_no(all, "App processing (T3_SW - T2_SW): ");
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns" ARROW);
}

static void no_breakdown_without_stages(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_no(all, "Kernel-to-app");
	assert_no(all, "Blame");
	assert_no(all, "Stages (us)");
}

/* ---- Where the time went, at both hosts ----------------------------------------------------------------------------------- */

/* What each part of an exchange typically takes; a round trip 15 us, its response 10 us. */
static const int64_t joined_ns[STAGES] = {
	[STAGE_APP_TO_WIRE] = 3000, [STAGE_WIRE_TO_APP] = 2000, [STAGE_RESPONSE] = 10000, [STAGE_NETWORK] = 5000,
	[STAGE_REMOTE_WIRE_TO_APP] = 2100, [STAGE_REMOTE_APP] = 900, [STAGE_REMOTE_APP_TO_WIRE] = 7000,
};

/* An emitter that heard of the other host, whose stamps are `there`. split: with all times of user space. */
static void joined_run(enum source here, enum source there, bool split)
{
	options.stamp = here;
	options.plain = false;
	options.sw_timestamps = split;
	options.threshold_ns = 100000;
	exchange.there = (uint8_t)there;
	exchange.has_stages = exchange.directions.told = true;
	exchange_stages(ROLE_EMIT, options_on_wire(&options), exchange.stages);
	for (int i = 0; i < STAGES; i++) {
		const struct stage *one = &exchange.stages[i];

		if (one->user && (!split || (!one->peer && here == SOURCE_USER)))
			continue;
		place(&stage[i], 1);
		exchange.stage[i] = &stage[i];
		for (uint32_t n = 0; n < USUAL; n++)
			histogram_add(&stage[i], joined_ns[i], n);
	}
	for (uint32_t n = 0; n < USUAL; n++)
		histogram_add(&histogram, 15000, n);
	counter_add(&exchange.account.follow_up[FOLLOW_UP_THERE], USUAL);
	exchange.reply = (struct reply){ .software_told = split, .t2_user_known = split };
}

/* The clocks of the two hosts have nothing to do with each other. */
static struct sample joined_sample(uint32_t seq, int64_t network_ns, int64_t rx_ns, int64_t app_ns, int64_t tx_ns)
{
	const int64_t here_ns = 1773883524780127138, there_ns = 1234567890000000000;
	const int64_t response_ns = rx_ns + app_ns + tx_ns, rtt_ns = network_ns + response_ns;
	const uint8_t wire = (uint8_t)options.stamp, remote = exchange.there, user = SOURCE_USER;
	const bool on_wire = options.stamp != SOURCE_USER, split = options.sw_timestamps;
	const int64_t beside_ns = on_wire ? 3000 : 0;
	struct sample s = {
		.seq = seq, .latency_ns = rtt_ns, .follow_up = FOLLOW_UP_THERE, .one_scale = split,
		.source = { user, on_wire ? wire : 0, on_wire ? wire : 0, split || !on_wire ? user : 0,
			    remote, split ? user : 0, user, remote },
		.time_ns = { here_ns, here_ns + beside_ns, here_ns + beside_ns + rtt_ns,
			     here_ns + beside_ns + rtt_ns + (on_wire ? 2000 : 0),
			     there_ns, there_ns + rx_ns, there_ns + rx_ns + app_ns, there_ns + response_ns },
	};

	return s;
}

/* The only one, and so the first and the worst. */
static const char *breached(const struct sample *s)
{
	exchange.account.breaches = 0;
	counter_add(&exchange.account.breaches, 1);
	exchange.breach = exchange.worst = exchange.kept[0] = *s;
	return written(width);
}

static struct sample without_t3(struct sample s, enum follow_up why)
{
	s.follow_up = (uint8_t)why;
	s.source[THERE + REFLECT_T3_WIRE] = SOURCE_NONE;
	return s;
}

/* The first lines, up to a blank one. */
static void assert_breach(const struct sample *s, const char *lines)
{
	const char *all = breached(s), *end = strstr(all, "\n\n");

	assert_non_null(end);
	assert_text(all, (size_t)(end + 1 - all), lines);
}

static void a_breach_shows_all_eight_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 5400, 512000, 900, 7000);

	assert_breach(&s, "Round-trip latency (525300 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		      "  T1_HW (NIC tx): 1773883524.780130138\n  T4_HW (NIC rx): 1773883524.780655438\n"
		      "  T1_SW (app tx): 1773883524.780127138\n  T4_SW (app rx): 1773883524.780657438\n"
		      "  T2_HW (remote NIC rx): 1234567890.000000000\n  T3_HW (remote NIC tx): 1234567890.000519900\n"
		      "  T2_SW (remote app rx): 1234567890.000512000\n  T3_SW (remote app tx): 1234567890.000512900\n"
		      "  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
		      "  Response (T3_HW - T2_HW): 519900 ns\n  Network (RTT - RESPONSE): 5400 ns\n"
		      "  Remote NIC-to-app (T2_SW - T2_HW): 512000 ns" ARROW "\n"
		      "  Remote app processing (T3_SW - T2_SW): 900 ns\n"
		      "  Remote app-to-NIC (T3_HW - T3_SW): 7000 ns\n"
		      "  Blame: Remote NIC-to-app 512.000 us, typical 2.100 us, 100 % of the excess\n");
}

/* Each host's stamps are called what they are. */
static void two_hosts_with_different_stamps(void **state)
{
	static const struct {
		enum source there;
		const char *lines;
	} rows[] = {
		{ SOURCE_KERNEL, "  T2_KERNEL (remote kernel rx): 1234567890.000000000\n"
				 "  T3_KERNEL (remote kernel tx): 1234567890.000519900\n"
				 "  T2_SW (remote app rx): 1234567890.000512000\n  T3_SW (remote app tx): 1234567890.000512900\n"
				 "  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
				 "  Response (T3_KERNEL - T2_KERNEL): 519900 ns\n  Network (RTT - RESPONSE): 5400 ns\n"
				 "  Remote kernel-to-app (T2_SW - T2_KERNEL): 512000 ns" ARROW "\n"
				 "  Remote app processing (T3_SW - T2_SW): 900 ns\n"
				 "  Remote app-to-kernel (T3_KERNEL - T3_SW): 7000 ns\n"
				 "  Blame: Remote kernel-to-app 512.000 us, typical 2.100 us, 100 % of the excess\n" },
		{ SOURCE_LOCAL, "  T2_LOCAL (remote host rx): 1234567890.000000000\n"
				"  T3_LOCAL (remote host tx): 1234567890.000519900\n"
				"  T2_SW (remote app rx): 1234567890.000512000\n  T3_SW (remote app tx): 1234567890.000512900\n"
				"  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
				"  Response (T3_LOCAL - T2_LOCAL): 519900 ns\n  Network (RTT - RESPONSE): 5400 ns\n"
				"  Remote host-to-app (T2_SW - T2_LOCAL): 512000 ns" ARROW "\n"
				"  Remote app processing (T3_SW - T2_SW): 900 ns\n"
				"  Remote app-to-host (T3_LOCAL - T3_SW): 7000 ns\n"
				"  Blame: Remote host-to-app 512.000 us, typical 2.100 us, 100 % of the excess\n" },
		/* No time twice, and no stage from a time to itself. */
		{ SOURCE_USER, "  T2_SW (remote app rx): 1234567890.000000000\n  T3_SW (remote app tx): 1234567890.000519900\n"
			       "  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
			       "  Response (T3_SW - T2_SW): 519900 ns" ARROW "\n  Network and hosts (RTT - RESPONSE): 5400 ns\n"
			       "  Blame: Response 519.900 us, typical 10.000 us, 100 % of the excess\n" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[2048];

		tear_down(state);
		set_up(state);
		joined_run(SOURCE_HARDWARE, rows[i].there, true);
		struct sample s = joined_sample(7, 5400, 512000, 900, 7000);

		snprintf(lines, sizeof(lines), "Round-trip latency (525300 ns) exceeds threshold (100000 ns).\n"
			 "  Sequence number: 7\n"
			 "  T1_HW (NIC tx): 1773883524.780130138\n  T4_HW (NIC rx): 1773883524.780655438\n"
			 "  T1_SW (app tx): 1773883524.780127138\n  T4_SW (app rx): 1773883524.780657438\n%s", rows[i].lines);
		assert_breach(&s, lines);
	}
}

static void each_part_of_both_hosts_in_turn(void **state)
{
	static const struct {
		int64_t network_ns, rx_ns, app_ns, tx_ns;
		const char *blame;
	} rows[] = {
		{ 5000, 512000, 900, 7000, "Remote NIC-to-app 512.000 us, typical 2.100 us, 100 % of the excess" },
		{ 13500, 512000, 2500, 7000, "Remote NIC-to-app 512.000 us, typical 2.100 us, 98 % of the excess" },
		{ 5000, 2100, 512000, 7000, "Remote app processing 512.000 us, typical 0.900 us, 100 % of the excess" },
		{ 5000, 2100, 900, 512000, "Remote app-to-NIC 512.000 us, typical 7.000 us, 100 % of the excess" },
		{ 512000, 2100, 900, 7000, "Network 512.000 us, typical 5.000 us, 100 % of the excess" },
		/* Not the response, which exceeds what is usual by more than the network does. */
		{ 55000, 42100, 900, 47000, "Network 55.000 us, typical 5.000 us, 38 % of the excess" },
	};
	char line[128];

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = joined_sample(7, rows[i].network_ns, rows[i].rx_ns, rows[i].app_ns, rows[i].tx_ns);

		/* What the emitter itself took is no part of the round trip. */
		s.time_ns[EMIT_T1_USER] -= 900000;
		s.time_ns[EMIT_T4_USER] += 900000;
		snprintf(line, sizeof(line), "  Blame: %s", rows[i].blame);
		assert_line(breached(&s), line);
		assert_int_equal(times_in(text, "<--"), 1);
		assert_no(text, "Wire and reflector");
		assert_no(text, "Response and network");
	}
}

/* Without stages, or for a sample that lacks some of them, the response is one part. */
static void a_response_that_is_not_told_apart(void **state)
{
	(void)state;
	joined_run(SOURCE_KERNEL, SOURCE_KERNEL, false);
	struct sample s = joined_sample(7, 5000, 512000, 900, 7000);

	assert_breach(&s, "Round-trip latency (524900 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		      "  T1_KERNEL (kernel tx): 1773883524.780130138\n  T4_KERNEL (kernel rx): 1773883524.780655038\n"
		      "  T1_SW (app tx): 1773883524.780127138\n"
		      "  T2_KERNEL (remote kernel rx): 1234567890.000000000\n"
		      "  T3_KERNEL (remote kernel tx): 1234567890.000519900\n"
		      "  T3_SW (remote app tx): 1234567890.000512900\n"
		      "  Response (T3_KERNEL - T2_KERNEL): 519900 ns" ARROW "\n  Network (RTT - RESPONSE): 5000 ns\n"
		      "  Blame: Response 519.900 us, typical 10.000 us, 100 % of the excess\n");
	for (int lacks = 0; lacks < 3; lacks++) {
		tear_down(state);
		set_up(state);
		joined_run(SOURCE_KERNEL, SOURCE_KERNEL, true);
		/* What is known of its stages exceeds what is usual by more, since the others were quicker. */
		s = joined_sample(7, 5000, 512000, 0, 0);
		if (lacks == 0)
			s.one_scale = false;
		else
			s.source[THERE + (lacks == 1 ? REFLECT_T2_USER : REFLECT_T3_USER)] = SOURCE_NONE;
		assert_line(breached(&s), "  Blame: Response 512.000 us, typical 10.000 us, 100 % of the excess");
		assert_line(text, "  Response (T3_KERNEL - T2_KERNEL): 512000 ns" ARROW);
		assert_no(text, "Remote app processing (T3_SW - T2_SW): ");
	}
}

static const struct {
	enum follow_up why;
	const char *words;
} unknowns[] = {
	{ FOLLOW_UP_LOST, "the next reply, which tells when this one left, was lost" },
	{ FOLLOW_UP_UNKNOWN, "the reflector did not have the stamp in time, or keeps no state" },
	{ FOLLOW_UP_UNTOLD, "the reflector does not tell when a reply left: RFC 8972 section 4.7" },
	{ FOLLOW_UP_MIXED, "the reflector's two stamps are of different kinds, or of untold ones" },
	{ FOLLOW_UP_END, "no reply came after this one" },
	{ FOLLOW_UP_NONE, "it was not asked for (--plain)" },
};

static void why_response_and_network_are_not_known(void **state)
{
	char line[160];

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (size_t i = 0; i < COUNT_OF(unknowns); i++) {
		struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), unknowns[i].why);

		snprintf(line, sizeof(line), "  Response and network: not known: %s", unknowns[i].words);
		assert_line(breached(&s), line);
		assert_no(text, "  T3_HW (remote");
		assert_no(text, "  Response (");
		assert_no(text, "  Network (");
		assert_no(text, "  Remote app-to-NIC (T3_HW - T3_SW): ");
		assert_line(text, "  Remote NIC-to-app (T2_SW - T2_HW): 2100 ns");
		assert_line(text, "  Wire and reflector (T4_HW - T1_HW): 522000 ns" ARROW);
		assert_line(text, "  Blame: Wire and reflector 522.000 us, typical 15.000 us, 100 % of the excess");
	}
	/* Also where nothing else is told apart, and then there is nothing to blame. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_LOCAL, false);
	exchange.stage[STAGE_RESPONSE] = exchange.stage[STAGE_NETWORK] = NULL;
	struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), FOLLOW_UP_UNTOLD);

	assert_line(breached(&s), "  Response and network: not known: the reflector does not tell when a reply left: RFC 8972 "
		    "section 4.7");
	assert_no(text, "Blame");
	/* Who did not ask is told nothing. */
	options.plain = true;
	s.follow_up = FOLLOW_UP_NONE;
	assert_no(breached(&s), "Response and network");
}

/* A part that explains at least half of it is to blame although not all parts are known. */
static void a_part_that_explains_half(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = without_t3(joined_sample(7, 105000, 102100, 900, 7000), FOLLOW_UP_LOST);

	assert_line(breached(&s), "  Remote NIC-to-app (T2_SW - T2_HW): 102100 ns" ARROW);
	assert_line(text, "  Blame: Remote NIC-to-app 102.100 us, typical 2.100 us, 50 % of the excess");
	assert_line(text, "  Wire and reflector (T4_HW - T1_HW): 215000 ns");
	s = without_t3(joined_sample(7, 105001, 102100, 900, 7000), FOLLOW_UP_LOST);
	assert_line(breached(&s), "  Wire and reflector (T4_HW - T1_HW): 215001 ns" ARROW);
	assert_line(text, "  Blame: Wire and reflector 215.001 us, typical 15.000 us, 100 % of the excess");
}

/* A threshold on one of them: the blame is among its parts, and the share is that of its excess. */
static void a_threshold_on_another_figure(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 300000, 132100, 900, 17000);

	options.threshold_on = FIGURE_RESPONSE;
	assert_line(breached(&s), "Response time (150000 ns) exceeds threshold (100000 ns).");
	assert_non_null(strstr(text, "\n  Sequence number: 7\n  Round-trip latency: 450000 ns\n  T1_HW (NIC tx): "));
	assert_line(text, "  Remote NIC-to-app (T2_SW - T2_HW): 132100 ns" ARROW);
	assert_line(text, "  Blame: Remote NIC-to-app 132.100 us, typical 2.100 us, 93 % of the excess");
	options.threshold_on = FIGURE_NETWORK;
	s = joined_sample(7, 300000, 532100, 900, 17000);
	assert_line(breached(&s), "Network time (300000 ns) exceeds threshold (100000 ns).");
	assert_line(text, "  Round-trip latency: 850000 ns");
	assert_line(text, "  Network (RTT - RESPONSE): 300000 ns" ARROW);
	assert_line(text, "  Blame: Network 300.000 us, typical 5.000 us, 100 % of the excess");
	options.threshold_on = FIGURE_RTT;
	assert_line(breached(&s), "Round-trip latency (850000 ns) exceeds threshold (100000 ns).");
	assert_no(text, "  Round-trip latency: ");
	assert_line(text, "  Blame: Remote NIC-to-app 532.100 us, typical 2.100 us, 63 % of the excess");
	/* Not split. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	options.threshold_on = FIGURE_RESPONSE;
	s = joined_sample(7, 300000, 132100, 900, 17000);
	assert_line(breached(&s), "  Blame: Response 150.000 us, typical 10.000 us, 100 % of the excess");
	options.threshold_on = FIGURE_NETWORK;
	s = joined_sample(7, 300000, 532100, 900, 17000);
	assert_line(breached(&s), "  Blame: Network 300.000 us, typical 5.000 us, 100 % of the excess");
}

/* The largest of what the threshold is about, which need not be the longest round trip. */
static void the_worst_of_another_figure(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	options.threshold_on = FIGURE_NETWORK;
	exchange.breach = joined_sample(3, 110000, 900000, 900, 7000);
	exchange.worst = joined_sample(5, 120000, 2100, 900, 7000);
	exchange.kept[0] = exchange.breach;
	exchange.kept[1] = exchange.worst;
	counter_add(&exchange.account.breaches, 2);
	assert_line(written(0), "Network time (110000 ns) exceeds threshold (100000 ns).");
	assert_non_null(strstr(text, "\n\nThe worst of 2 breaches:\nNetwork time (120000 ns) exceeds threshold (100000 ns).\n"
			       "  Sequence number: 5\n"));
	exchange.worst = joined_sample(5, 110000, 2100, 900, 7000);
	assert_no(written(0), "The worst of");
}

/* Of 70 only the last 63 are still known. Those of which not all was told are counted too. */
static void blames_of_many_breaches_at_both_hosts(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (uint32_t i = 0; i < 70; i++) {
		int kind = i < 7 ? 0 : i < 27 ? 1 : i < 39 ? 2 : i < 59 ? 3 : 4;
		struct sample s = joined_sample(i, kind == 1 ? 500000 : 5000, kind == 0 ? 500000 : 2100, kind == 2 ? 500000 : 900,
						kind == 3 ? 500000 : 7000);

		if (kind == 4)
			s = without_t3(joined_sample(i, 500000, 2100, 900, 7000), FOLLOW_UP_UNKNOWN);
		exchange.kept[i % BREACHES_KEPT] = s;
		if (!i)
			exchange.breach = exchange.worst = s;
		counter_add(&exchange.account.breaches, 1);
	}
	assert_section("\nBlamed for the last 63 of 70 breaches:\n", "  Network: 20\n  Remote NIC-to-app: 0\n"
		       "  Remote app processing: 12\n  Remote app-to-NIC: 20\n  Wire and reflector: 11\n");
	/* Where the response is never told apart, it is the part. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	exchange.account.breaches = 0;
	for (uint32_t i = 0; i < 3; i++) {
		exchange.kept[i] = joined_sample(i, i ? 5000 : 500000, i ? 500000 : 2100, 900, 7000);
		counter_add(&exchange.account.breaches, 1);
	}
	exchange.breach = exchange.worst = exchange.kept[0];
	assert_section("\nBlamed for the last 3 of 3 breaches:\n", "  Response: 2\n  Network: 1\n");
}

/* Without stamps of its own an emitter does not see where the hosts end and the network begins. */
static void an_emitter_with_times_of_user_space(void **state)
{
	(void)state;
	joined_run(SOURCE_USER, SOURCE_KERNEL, true);
	struct sample s = joined_sample(7, 512000, 2100, 900, 7000);

	assert_breach(&s, "Round-trip latency (522000 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		      "  T1_SW (app tx): 1773883524.780127138\n  T4_SW (app rx): 1773883524.780649138\n"
		      "  T2_KERNEL (remote kernel rx): 1234567890.000000000\n"
		      "  T3_KERNEL (remote kernel tx): 1234567890.000010000\n"
		      "  T2_SW (remote app rx): 1234567890.000002100\n  T3_SW (remote app tx): 1234567890.000003000\n"
		      "  Response (T3_KERNEL - T2_KERNEL): 10000 ns\n"
		      "  Network and hosts (RTT - RESPONSE): 512000 ns" ARROW "\n"
		      "  Remote kernel-to-app (T2_SW - T2_KERNEL): 2100 ns\n"
		      "  Remote app processing (T3_SW - T2_SW): 900 ns\n"
		      "  Remote app-to-kernel (T3_KERNEL - T3_SW): 7000 ns\n"
		      "  Blame: Network and hosts 512.000 us, typical 5.000 us, 100 % of the excess\n");
	s = without_t3(s, FOLLOW_UP_END);
	assert_line(breached(&s), "  Round trip (T4_SW - T1_SW): 522000 ns" ARROW);
	assert_line(text, "  Blame: Round trip 522.000 us, typical 15.000 us, 100 % of the excess");
	assert_no(text, "HW");
}

/* ---- The worst breach --------------------------------------------------------------------------------------------------- */

static void the_worst_breach_when_it_is_another(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	breach_at(3, 100000, 1, 0);
	assert_no(written(0), "The worst of");
	breach_at(4, 100000, 1, 0);
	assert_no(written(0), "The worst of");
	breach_at(5, 100000, 2, 0);
	breach_at(6, 100000, 1, 0);
	const char *all = written(0);

	assert_line(all, "Response latency (100001 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  Sequence number: 3");
	assert_non_null(strstr(all, "\n\nThe worst of 4 breaches:\nResponse latency (100002 ns) exceeds threshold (100000 ns).\n"
			       "  Sequence number: 5\n"));
	assert_no(all, "  Sequence number: 4");
	assert_no(all, "  Sequence number: 6");
}

/* Two emitters count for themselves. */
static void the_worst_breach_with_the_number_of_the_first(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	breach_at(3, 100000, 1, 0);
	breach_at(3, 100000, 2, 0);
	assert_line(written(0), "The worst of 2 breaches:");
}

static void the_worst_breach_has_a_breakdown_too(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	breach_at(3, 120000, 1000, 2000);
	breach_at(5, 3000, 130000, 2000);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 120000 ns" ARROW);
	assert_line(all, "  App processing (T3_SW - T2_SW): 130000 ns" ARROW);
	assert_int_equal(times_in(all, "  Blame: "), 2);
}

/* Also when the first was the worst. */
static void blames_of_several_breaches(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	breach_at(3, 130000, 1000, 2000);
	assert_no(written(0), "Blamed for");
	breach_at(5, 3000, 120000, 2000);
	breach_at(6, 3000, 1000, 120000);
	breach_at(7, 3000, 1000, 120000);
	assert_non_null(strstr(written(0), "\nBlamed for the last 4 of 4 breaches:\n  Kernel-to-app: 1\n  App-to-kernel: 2\n"
			       "  App processing: 1\n\n"));
	assert_no(text, "The worst of");
	/* Above the threshold, and no part above what it usually takes. */
	breach_at(8, 3000, 1000, 2000);
	assert_non_null(strstr(written(0), "\nBlamed for the last 5 of 5 breaches:\n  Kernel-to-app: 1\n  App-to-kernel: 2\n"
			       "  App processing: 1\n  None of these: 1\n\n"));
}

/* ---- The table of stages ------------------------------------------------------------------------------------------------ */

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

		if (last && (*below == ' ' || (below[1] && below[1] != ' ')))
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
		    "     19.800     19.980     19.998     20.000");
	assert_line(text, "  App-to-kernel   T3_KERNEL - T3_SW              0    12345");
	assert_line(text, "  App processing  T3_SW - T2_SW                  1        0 123456.789 123456.789 123456.789"
		    " 123456.789 123456.789 123456.789 123456.789");
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

static void the_stages_belong_to_the_histogram(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 1, 1, 1);
	options.histogram = false;
	assert_no(written(0), "Stages (us)");
	options.role = ROLE_EMIT;
	assert_no(written(0), "Stages (us)");
}

/* ---- The table of stages, of both hosts ----------------------------------------------------------------------------------- */

#define STAGES_TITLE "\nStages (us):                                      Samples Negative       50th       90th       95th" \
		     "       99th     99.9th    99.99th    Maximum    Average\n"
/* Of `USUAL` samples that are all the same. */
#define SAME(value) "        101        0" value value value value value value value value "\n"
#define HERE_ROWS                                                          \
	"  App-to-NIC             T1_HW - T1_SW        " SAME("      3.000") \
	"  NIC-to-app             T4_SW - T4_HW        " SAME("      2.000")
#define PEER_ROWS                                                          \
	"  Response               T3_HW - T2_HW        " SAME("     10.000") \
	"  Network                RTT - RESPONSE       " SAME("      5.000")
#define REMOTE_ROWS                                                        \
	"  Remote NIC-to-app      T2_SW - T2_HW        " SAME("      2.100") \
	"  Remote app processing  T3_SW - T2_SW        " SAME("      0.900") \
	"  Remote app-to-NIC      T3_HW - T3_SW        " SAME("      7.000")

static void the_stages_of_both_hosts(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	assert_section(STAGES_TITLE, HERE_ROWS PEER_ROWS REMOTE_ROWS);
	/* They are no part of the histogram. */
	options.histogram = false;
	assert_section(STAGES_TITLE, HERE_ROWS PEER_ROWS REMOTE_ROWS);
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	assert_section(STAGES_TITLE, PEER_ROWS);
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
		snprintf(lines, sizeof(lines), HERE_ROWS "  Response and network: not known: %s\n"
			 "  Remote stages: not known: the reflector does not tell when its program had the probe\n",
			 unknowns[i].words);
		assert_section(STAGES_TITLE, lines);
		/* Nor is there a table without a row. */
		exchange.stage[STAGE_APP_TO_WIRE] = exchange.stage[STAGE_WIRE_TO_APP] = NULL;
		exchange.stage[STAGE_REMOTE_APP] = NULL;
		snprintf(lines, sizeof(lines), "  Response and network: not known: %s\n", unknowns[i].words);
		assert_section("\nStages:\n", lines);
		assert_no(text, "Stages (us)");
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
		snprintf(lines, sizeof(lines), HERE_ROWS PEER_ROWS "  Remote stages: not known: %s\n", rows[i].words);
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

#define ONE_WAY_ROWS                                                                                                      \
	FORWARD "       1000        0      1.000      1.000      1.000      1.000      1.000    700.505    700.505      1.704\n"    \
	FORWARD_MORE "       1000        0      0.000      0.000      0.000      0.000      0.000    699.500    699.500      0.700\n" \
	BACKWARD "       1000        0      2.000      2.000      2.000      2.000      2.000      2.000      2.000      2.000\n"   \
	BACKWARD_MORE "       1000        0      0.000      0.000      0.000      0.000      0.000      0.000      0.000      0.000\n"
#define WITHIN "  Forward and backward are within +-1269 ns"

/* The bound stands beside the numbers, and where it comes from below. */
static void each_way_by_itself(void **state)
{
	(void)state;
	one_way_run();
	assert_section(STAGES_TITLE, PEER_ROWS ONE_WAY_ROWS
		       WITHIN " (at the end +-93): the clocks were compared by the exchanges themselves\n");
	options.synced_ns = 1269;
	assert_section(STAGES_TITLE, PEER_ROWS ONE_WAY_ROWS WITHIN ", if the two NICs' clocks are, as --synced says\n");
	options.synced_ns = exchange.one_way_bound_ns[0] = 0;
	assert_no(written(0), "compared by the exchanges");
	assert_line(text, "  Forward and backward are within +-0 ns, if the two NICs' clocks are, as --synced says");
	assert_non_null(strstr(text, "\n  Backward               +-0.000 us "));
	/* It was not known. */
	one_way[0].count = one_way[1].count = 0;
	assert_section(STAGES_TITLE, PEER_ROWS);
	exchange.one_way[0] = exchange.one_way[1] = NULL;
	assert_section(STAGES_TITLE, PEER_ROWS);
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

/* ---- Histograms of the parts ------------------------------------------------------------------------------------------------ */

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
		       "        10.000 -       11.000 :          101  10.0899%\n"
		       "        20.000 -       21.000 :          899  89.8102%\n"
		       "       100.000 -   (overflow) :            1   0.0999%\n");
	assert_section("\nNetwork Histogram (us):\n", "  101 samples from 5.000 (#0) to 5.000 (#0)\n"
		       "  average 5.000, standard deviation 0.000\n"
		       "  50th 5.000, 90th 5.000, 95th 5.000, 99th 5.000, 99.9th 5.000, 99.99th 5.000\n"
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

/* ---- Accounts ---------------------------------------------------------------------------------------------------------------- */

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

/* All that a reflector writes, which what an emitter hears of it has not changed: but for a row of what was not verified. */
static void the_report_of_a_reflector(void **state)
{
	struct account *a = &exchange.account;
	counter *const counters[] = { &a->sent, &a->received, &a->warmup, &a->recorded, &a->unstamped, &a->negative, &a->stepped,
				      &a->repeated, &a->reordered, &a->foreign, &a->malformed, &a->unverified, &a->malformed_tlv,
				      &a->unanswered, &a->refused, &sessions.opened, &sessions.evicted };

	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	options.plain = false; /* nothing that a reflector is asked */
	for (size_t i = 0; i < COUNT_OF(counters); i++)
		counter_add(counters[i], 101 + i);
	exchange.started = true;
	exchange.last_ns = exchange.ended_ns = 10 * NS_PER_S;
	breach_at(7, 303038, 592, 26521);
	written(0);
	assert_text(text, strlen(text), "Response latency (330151 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		    "  T2_KERNEL (kernel rx): 1773883524.780127138\n  T3_KERNEL (kernel tx): 1773883524.780457289\n"
		    "  T2_SW (app rx): 1773883524.780430176\n  T3_SW (app tx): 1773883524.780430768\n"
		    "  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns" ARROW "\n"
		    "  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns\n  App processing (T3_SW - T2_SW): 592 ns\n"
		    "  Blame: Kernel-to-app 303.038 us, typical 7.900 us, 94 % of the excess\n\n"
		    "Test is complete. Duration: 10.00 s\n\n--- Latency Statistics ---\n"
		    "MIN: 16500 ns | MAX: 16500 ns | AVG: 16500 ns | Total Samples: 101\n\nHistogram Summary:\n"
		    "  Samples   :  101\n  Minimum   :  16.50 us (#0)\n  Maximum   :  16.50 us (#0)\n"
		    "  Average   :  16.50 us\n  Percentiles (us):\n    50th    :  16.500 (Median)\n"
		    "    90th    :  16.500\n    95th    :  16.500\n    99th    :  16.500\n    99.9th  :  16.500\n"
		    "    99.99th :  16.500\n  Std dev   :  0.000 us\n  Buckets (us):\n"
		    "        16.000 -       17.000 :          101 100.0000%\n"
		    "       100.000 -   (overflow) :            0   0.0000%\n\n"
		    "Stages (us):                               Samples Negative       50th       90th       95th       99th"
		    "     99.9th    99.99th    Maximum\n"
		    "  Kernel-to-app   T2_SW - T2_KERNEL            101        0      7.900      7.900      7.900      7.900"
		    "      7.900      7.900      7.900\n"
		    "  App-to-kernel   T3_KERNEL - T3_SW            101        0      8.000      8.000      8.000      8.000"
		    "      8.000      8.000      8.000\n"
		    "  App processing  T3_SW - T2_SW                101        0      0.600      0.600      0.600      0.600"
		    "      0.600      0.600      0.600\n\n"
		    "Latency: RESPONSE = T3_KERNEL - T2_KERNEL (CLOCK_REALTIME, read by the kernel)\n\nPackets:\n"
		    "  Sent      :  101\n  Received  :  102\n  Warm-up   :  103  (answered, left out of the statistics)\n"
		    "  Recorded  :  104\n  Unstamped :  105  (answered, but a stamp is missing: not recorded)\n"
		    "  Negative  :  106  (the clock went back: not recorded)\n"
		    "  Stepped   :  107  (a clock was set in between: not recorded)\n"
		    "  Duplicate :  108  (requests that came again, answered)\n"
		    "  Reordered :  109  (came after a later one)\n"
		    "  Foreign   :  110  (not answered: a reply, or from a reflector's port)\n  Malformed :  111\n"
		    "  Unverified:  112  (the HMAC is wrong or missing: not used)\n"
		    "  Bad TLVs  :  113  (answered, marked as malformed)\n"
		    "  Unanswered:  114  (the kernel did not take the reply)\n"
		    "  Refused   :  115  (by the kernel: sends, and errors it reported)\n  Sessions  :  116\n"
		    "  Evicted   :  117  (sessions forgotten for newer ones)\n"
		    "  Breaches  :  1  (samples above the threshold)\n\nMissing stamps:\n  Transmit  :  0\n"
		    "  Receive   :  0\n  Came late :  0\n  Came twice:  0\n  Unmatched :  0\n  Truncated :  0\n"
		    "  Other     :  0\n\nRate: 10 responses/s\n");
}

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

/* Scripts look rows up by their names: no two have the same, whatever of the report is there. */
static void no_two_rows_have_one_name(void **state)
{
	char names[128][64];
	int n = 0;

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	exchange.directions = (struct directions){ .told = true, .lost_unknown = 1, .duplicate_forward = 1,
						   .duplicate_backward = 1, .reordered_forward = 1, .reordered_backward = 1,
						   .restarts = 1 };
	counter_add(&exchange.account.answered, 1);
	counter_add(&exchange.account.follow_up_late, 1);
	counter_add(&exchange.account.unjudged, 1);
	counter_add(&exchange.account.breaches, 1);
	exchange.breach = exchange.worst = joined_sample(7, 1, 1, 1, 1);
	written(0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *end = strstr(line, ":  ");

		if (line[0] != ' ' || line[1] != ' ' || line[2] == ' ' || !end || end - line >= 64)
			continue;
		while (end[-1] == ' ')
			end--;
		assert_true(n < 128);
		snprintf(names[n], sizeof(names[n]), "%.*s", (int)(end - line - 2), line + 2);
		for (int i = 0; i < n; i++)
			if (!strcmp(names[i], names[n]))
				fail_msg("there are two rows '%s'", names[i]);
		n++;
	}
	/* Histogram 5, packets 21, directions 8, stamps of the reflector 8, missing stamps 7. */
	assert_int_equal(n, 49);
}

/* ---- The trace ------------------------------------------------------------------------------------------------------------ */

#define INSTANCE "/sys/kernel/tracing/instances/rant"
#define TRACE_TITLE "\nTrace (tracing moves what is measured):\n"

static void traced(void)
{
	memset(&trace, 0, sizeof(trace));
	memset(&saved, 0, sizeof(saved));
	strcpy(trace.path, INSTANCE);
	strcpy(trace.clock, "mono_raw");
	report.trace = &trace;
}

static void frozen_at(uint32_t seq)
{
	traced();
	counter_add(&trace.marked, 1);
	trace.state = TRACE_FROZEN;
	trace.unsaved = true;
	trace.last = (struct trace_record){ .seq = seq, .marker_ns = 2345, .frozen_ns = 12345 };
}

static void no_trace_no_section(void **state)
{
	(void)state;
	assert_no(written(0), "race");
}

static void a_trace_without_a_breach(void **state)
{
	(void)state;
	traced();
	assert_section(TRACE_TITLE, "  Markers   :  0\n");
	report.saved = &saved; /* nothing saved: its path is empty */
	assert_section(TRACE_TITLE, "  Markers   :  0\n");
	trace.start_error = EACCES;
	assert_section(TRACE_TITLE, "  Markers   :  0\n  Writing RANT_TEST_START failed: Permission denied\n");
}

static void a_frozen_trace(void **state)
{
	(void)state;
	frozen_at(4294967295);
	assert_section(TRACE_TITLE, "  Markers   :  1  (of breaches)\n"
		       "  Stopped at #4294967295, 12.3 us after the breach was seen\n  Evidence  : " INSTANCE "/trace\n");
	options.verbose = true;
	trace.last.snapshot_taken = true;
	assert_section(TRACE_TITLE, "  Markers   :  1  (of breaches)\n"
		       "  Stopped at #4294967295, 12.3 us after the breach was seen (marker written after 2.3 us)\n"
		       "  Evidence  : " INSTANCE "/snapshot\n");
	counter_add(&trace.while_frozen, 5);
	options.verbose = false;
	assert_section(TRACE_TITLE, "  Markers   :  1  (of breaches)\n"
		       "  While off :  5  (breaches while the trace was frozen: not traced)\n"
		       "  Stopped at #4294967295, 12.3 us after the breach was seen\n  Evidence  : " INSTANCE "/snapshot\n");
}

static void each_step_that_failed_is_named(void **state)
{
	(void)state;
	frozen_at(7);
	trace.marked = 0;
	counter_add(&trace.refused, 1);
	trace.last.marker_error = ENOSPC;
	trace.last.snapshot_error = EBUSY;
	assert_section(TRACE_TITLE, "  Markers   :  0\n  Refused   :  1  (markers that the kernel did not take)\n"
		       "  Stopped at #7, 12.3 us after the breach was seen\n"
		       "  Writing the marker failed: No space left on device\n"
		       "  The snapshot failed: Device or resource busy\n  Evidence  : " INSTANCE "/trace\n");
}

static void what_was_not_stopped_is_not_called_so(void **state)
{
	(void)state;
	frozen_at(7);
	trace.state = TRACE_ARMED;
	trace.last.stop_error = EPERM;
	assert_section(TRACE_TITLE, "  Markers   :  1  (of breaches)\n"
		       "  Not stopped at #7, 12.3 us after the breach was seen\n"
		       "  Switching tracing off failed: Operation not permitted\n  Evidence  : " INSTANCE "/trace\n");
}

/* That there is a file is no reason to be silent about what it lacks. */
static void each_step_that_failed_is_named_though_it_was_saved(void **state)
{
	static const struct {
		int marker_error, stop_error, snapshot_error;
		const char *lines;
	} rows[] = {
		{ ENOSPC, 0, 0, "  Stopped at #7, 12.3 us after the breach was seen\n"
				"  Writing the marker failed: No space left on device\n" },
		{ 0, EPERM, 0, "  Not stopped at #7, 12.3 us after the breach was seen\n"
			       "  Switching tracing off failed: Operation not permitted\n" },
		{ 0, 0, EBUSY, "  Stopped at #7, 12.3 us after the breach was seen\n"
			       "  The snapshot failed: Device or resource busy\n" },
		{ 0, 0, 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[512];

		frozen_at(7);
		trace.state = TRACE_ARMED;
		trace.unsaved = false;
		trace.last.marker_error = rows[i].marker_error;
		trace.last.stop_error = rows[i].stop_error;
		trace.last.snapshot_error = rows[i].snapshot_error;
		saved = (struct trace_saved){ .path = "/d/x", .source = "trace", .spike_cpu = 1 };
		report.saved = &saved;
		snprintf(lines, sizeof(lines), "  Markers   :  1  (of breaches)\n%s"
			 "  Saved     : /d/x, from trace, the spike is in cpu1.txt\n", rows[i].lines);
		assert_section(TRACE_TITLE, lines);
	}
}

/* Nothing was written and nothing was stopped here. */
static void a_trace_that_others_had_switched_off(void **state)
{
	(void)state;
	traced();
	counter_add(&trace.off, 3);
	trace.unsaved = true;
	trace.last = (struct trace_record){ .seq = 7, .off_before = true, .marker_error = EBADF };
	for (int unsaved = 1; unsaved >= 0; unsaved--) {
		trace.unsaved = unsaved;
		assert_section(TRACE_TITLE, "  Markers   :  0\n"
			       "  Off       :  3  (breaches while others had switched tracing off: not traced)\n");
	}
}

static void a_saved_trace(void **state)
{
	(void)state;
	frozen_at(7);
	trace.unsaved = false;
	trace.saves = 2;
	saved = (struct trace_saved){ .path = "/var/tmp/rant-reflect-1-seq-7", .source = "snapshot", .spike_cpu = 0 };
	report.saved = &saved;
#define HEAD "  Markers   :  1  (of breaches)\n  Saves     :  2\n  Stopped at #7, 12.3 us after the breach was seen\n"
#define SAVED "  Saved     : /var/tmp/rant-reflect-1-seq-7, from "
	assert_section(TRACE_TITLE, HEAD SAVED "snapshot, the spike is in cpu0.txt\n");
	saved.lost_events = UINT64_MAX; /* cannot be told: not a number */
	assert_section(TRACE_TITLE, HEAD SAVED "snapshot, the spike is in cpu0.txt\n");
	saved.lost_events = 123;
	saved.spike_cpu = 17;
	saved.source = "trace";
	saved.swap_skipped = true;
	assert_section(TRACE_TITLE, HEAD SAVED "trace, the spike is in cpu17.txt\n"
		       "  The kernel skipped the snapshot, so the trace itself was saved\n"
		       "  Overwritten before the first line: 123 events\n");
	saved.spike_cpu = -1;
	saved.swap_skipped = false;
	saved.lost_events = 0;
	assert_section(TRACE_TITLE, HEAD SAVED "trace\n"
		       "  The marker of the breach is in no file: the buffer may be too small, or tracing was off\n");
}

/* Switched on again: there is a file, and nothing stands still any more. */
static void a_trace_that_goes_on(void **state)
{
	(void)state;
	frozen_at(7);
	trace.unsaved = false;
	trace.state = TRACE_ARMED;
	trace.saves = 1;
	saved = (struct trace_saved){ .path = "/d/x", .source = "trace", .spike_cpu = 1 };
	report.saved = &saved;
	assert_section(TRACE_TITLE, "  Markers   :  1  (of breaches)\n  Saves     :  1\n"
		       "  Saved     : /d/x, from trace, the spike is in cpu1.txt\n");
}

/* ---- Commands --------------------------------------------------------------------------------------------------------------- */

static void commands_and_what_became_of_them(void **state)
{
	struct breach_actions wanted = { .commands = 3, .command = { "date", "logger -t rant \"$RANT_SEQ\"", "sleep 9" } };
	struct actions actions = { .wanted = &wanted, .ran = { 2, 0, 1 }, .failed = { 0, 3, 1 }, .left_out = { 0, 0, 4 } };

	(void)state;
	report.actions = &actions;
	assert_section("\nCommands:\n", "  date: ran 2 times\n  logger -t rant \"$RANT_SEQ\": ran 0 times, 3 failed\n"
		       "  sleep 9: ran 1 time, 1 failed, 4 breaches came while it still ran\n");
	/* What a script that reads the report takes for a line must not come from a command. */
	wanted.command[1] = "a\nb\tc\x7f\033[2Jd \xc3\xa9 ~";
	assert_section("\nCommands:\n", "  date: ran 2 times\n  a?b?c??[2Jd \xc3\xa9 ~: ran 0 times, 3 failed\n"
		       "  sleep 9: ran 1 time, 1 failed, 4 breaches came while it still ran\n");
	assert_no(text, "not told");
	report.breaches_missed = 12;
	assert_line(written(0), "  12 breaches were not told, newer ones had taken their place");
	wanted.commands = 0;
	assert_no(written(0), "Commands");
}

static void what_no_other_cpu_means(void **state)
{
	(void)state;
	assert_no(written(0), "Nothing was done beside the measurement");
	report.no_other_cpu = true;
	assert_line(written(0), "Nothing was done beside the measurement (progress, commands, comparing the clocks): no CPU but "
		    "the measuring one may be used.");
}

/* ---- Clocks ----------------------------------------------------------------------------------------------------------------- */

#define CLOCKS_TITLE "\nClocks:\n"
#define REALTIME_UNKNOWN "  system clock  : rate unknown: too few readings\n"
#define NIC_UNKNOWN "  NIC clock     : rate unknown: too few readings\n"
#define NIC_UTC "  NIC clock     : sim0, UTC, minus CLOCK_REALTIME 0.000001500 s (+-70 ns), by PTP_SYS_OFFSET_EXTENDED\n"

static struct clock_watch clocks;
static struct clock_peer peer;

/* One reading of a NIC's clock; nothing is said of rates yet. */
static void watched(enum source stamp)
{
	memset(&clocks, 0, sizeof(clocks));
	memset(&peer, 0, sizeof(peer));
	options.stamp = stamp;
	report.clocks = &clocks;
	clocks.phc_fd = stamp == SOURCE_HARDWARE ? 7 : -1;
	strcpy(clocks.name, "sim0");
	clocks.method = CLOCK_EXTENDED;
	clocks.readings = 1;
	clocks.history[0] = (struct clock_reading){ .has_phc = true, .phc_real = { .offset_ns = 1500, .bound_ns = 70 } };
	clocks.track[CLOCK_OF_NIC].readings = 1;
	clocks.track[CLOCK_OF_NIC].last = clocks.history[0].phc_real;
}

static void clocks_belong_to_hardware_stamps(void **state)
{
	(void)state;
	assert_no(written(0), "Clocks");
	watched(SOURCE_HARDWARE);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	/* With others only for who wants to know, or where the clock of the stamps was set. */
	watched(SOURCE_KERNEL);
	assert_no(written(0), "Clocks");
	counter_add(&clocks.track[CLOCK_OF_SYSTEM].steps, 1);
	assert_section(CLOCKS_TITLE, REALTIME_UNKNOWN "  1 more steps\n");
	watched(SOURCE_KERNEL);
	options.verbose = true;
	assert_section(CLOCKS_TITLE, REALTIME_UNKNOWN);
	watched(SOURCE_HARDWARE);
	options.no_tx_stamps = true;
	assert_section(CLOCKS_TITLE, REALTIME_UNKNOWN);
}

static void a_clock_and_its_offset(void **state)
{
	static const struct {
		int64_t offset_ns, bound_ns;
		const char *words;
	} rows[] = {
		{ 37 * NS_PER_S + 5, 123, "sim0, TAI, minus CLOCK_REALTIME 37.000000005 s (+-123 ns), by " },
		{ -1, 0, "sim0, UTC, minus CLOCK_REALTIME -0.000000001 s (+-0 ns), by " },
		{ -1700000000 * NS_PER_S, 9, "sim0, neither UTC nor TAI, minus CLOCK_REALTIME -1700000000.000000000 s (+-9 ns), by " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[512];

		watched(SOURCE_HARDWARE);
		clocks.history[0].phc_real = clocks.track[CLOCK_OF_NIC].last =
			(struct clock_relation){ .offset_ns = rows[i].offset_ns, .bound_ns = rows[i].bound_ns };
		snprintf(lines, sizeof(lines), "  NIC clock     : %sPTP_SYS_OFFSET_EXTENDED\n" NIC_UNKNOWN REALTIME_UNKNOWN,
			 rows[i].words);
		assert_section(CLOCKS_TITLE, lines);
	}
}

/* There is no offset that could be told, and 0 is none. */
static void a_clock_that_cannot_be_read(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.history[0].has_phc = false;
	clocks.failures = 3;
	clocks.failure = EBUSY;
	assert_section(CLOCKS_TITLE, "  NIC clock     : sim0, UTC, by PTP_SYS_OFFSET_EXTENDED\n"
		       "  3 readings of it failed, the last: Device or resource busy\n" NIC_UNKNOWN REALTIME_UNKNOWN);
	clocks.track[CLOCK_OF_NIC].readings = 0;
	clocks.readings = 0;
	assert_section(CLOCKS_TITLE, "  NIC clock     : sim0, unknown scale, by PTP_SYS_OFFSET_EXTENDED\n"
		       "  3 readings of it failed, the last: Device or resource busy\n" NIC_UNKNOWN REALTIME_UNKNOWN);
	clocks.phc_fd = -1;
	clocks.failures = 0;
	strcpy(clocks.why, "/dev/ptp3: Permission denied");
	assert_section(CLOCKS_TITLE, "  NIC clock     : not comparable: /dev/ptp3: Permission denied\n" REALTIME_UNKNOWN);
}

static void rate_of_nic(double ppb, double bound_ppb)
{
	clocks.track[CLOCK_OF_NIC].rate = (struct clock_rate){ .measured = true, .known = ppb > bound_ppb || -ppb > bound_ppb,
							       .ppb = ppb, .bound_ppb = bound_ppb, .over_ns = NS_PER_S };
}

static void a_rate_is_known_only_above_its_bound(void **state)
{
#define OFF "  Warning: the NIC clock is off by more than 100 ppm\n"
	static const struct {
		double ppb, bound_ppb;
		const char *lines;
	} rows[] = {
		{ 12345, 20, "  NIC clock     : rate +12345 ppb (+-20)\n" },
		{ -50000, 3, "  NIC clock     : rate -50000 ppb (+-3)\n" },
		{ 19, 20, "  NIC clock     : rate unknown: within +-20 ppb\n" },
		{ 100000, 1, "  NIC clock     : rate +100000 ppb (+-1)\n" },
		{ -100000, 1, "  NIC clock     : rate -100000 ppb (+-1)\n" },
		{ 100001, 1, "  NIC clock     : rate +100001 ppb (+-1)\n" OFF },
		{ -100001, 1, "  NIC clock     : rate -100001 ppb (+-1)\n" OFF },
		/* It may be, or not. */
		{ 150000, 200000, "  NIC clock     : rate unknown: within +-200000 ppb\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[512];

		watched(SOURCE_HARDWARE);
		rate_of_nic(rows[i].ppb, rows[i].bound_ppb);
		snprintf(lines, sizeof(lines), NIC_UTC "%s" REALTIME_UNKNOWN, rows[i].lines);
		assert_section(CLOCKS_TITLE, lines);
	}
	/* Of the system's clock too. */
	watched(SOURCE_HARDWARE);
	clocks.track[CLOCK_OF_SYSTEM].rate = (struct clock_rate){ .measured = true, .known = true, .ppb = -200000, .bound_ppb = 4 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN "  system clock  : rate -200000 ppb (+-4)\n"
		       "  Warning: the system clock is off by more than 100 ppm\n");
}

static void a_clock_that_others_steer(void **state)
{
	struct clock_track *t = &clocks.track[CLOCK_OF_NIC];

	(void)state;
	watched(SOURCE_HARDWARE);
	t->dial_changes = 42; /* of what could not be read at first */
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	t->dial[0].known = true;
	assert_section(CLOCKS_TITLE, NIC_UTC "  NIC clock     : rate unknown: too few readings, steered by another program "
		       "(42 changes of its rate)\n" REALTIME_UNKNOWN);
	t->dial_changes = 0;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
}

static void the_largest_jump_above_its_bound(void **state)
{
	struct clock_track *t = &clocks.track[CLOCK_OF_NIC];

	(void)state;
	watched(SOURCE_HARDWARE);
	t->largest = (struct clock_jump){ .size_ns = -501, .bound_ns = 500 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	t->has_largest = true;
	assert_section(CLOCKS_TITLE, NIC_UTC "  NIC clock     : rate unknown: too few readings, largest jump -501 ns (+-500)\n"
		       REALTIME_UNKNOWN);
	t->largest.size_ns = 777;
	assert_section(CLOCKS_TITLE, NIC_UTC "  NIC clock     : rate unknown: too few readings, largest jump +777 ns (+-500)\n"
		       REALTIME_UNKNOWN);
	t->largest.size_ns = -500;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
}

static void a_clock_that_stood_still(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	counter_add(&clocks.track[CLOCK_OF_NIC].standstills, 2);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN "  Warning: the NIC clock stood still at 2 readings\n" REALTIME_UNKNOWN);
}

static void add_step(enum clock_which which, int64_t size_ns)
{
	int n = (int)counter_get(&clocks.track[CLOCK_OF_NIC].steps) + (int)counter_get(&clocks.track[CLOCK_OF_SYSTEM].steps);
	const int64_t mono_ns = exchange.began_ns + n * NS_PER_S;

	counter_add(&clocks.track[which].steps, 1);
	if (clocks.steps_kept < CLOCK_STEPS_KEPT)
		clocks.step[clocks.steps_kept++] = (struct clock_jump){
			.which = which, .size_ns = size_ns, .bound_ns = 30,
			.mono_ns = { mono_ns + 100 * NS_PER_MS, mono_ns + 300 * NS_PER_MS },
			.mark = { (uint64_t)(1000 * n), (uint64_t)(1000 * n + 7) } };
}

static void steps_and_where_they_were(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	exchange.began_ns = 12345 * NS_PER_S;
	add_step(CLOCK_OF_NIC, 1000123);
	add_step(CLOCK_OF_SYSTEM, -2000);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Step of the NIC clock by +1000123 ns (+-30), 0.1 to 0.3 s after the start, after packet 0 to 7\n"
		       "  Step of the system clock by -2000 ns (+-30), 1.1 to 1.3 s after the start, after packet 1000 to 1007\n");
}

/* More than are shown, and more than are kept. */
static void more_steps_than_are_shown(void **state)
{
	static const int totals[] = { 10, 11, CLOCK_STEPS_KEPT + 5 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(totals); i++) {
		char more[64];

		watched(SOURCE_HARDWARE);
		for (int n = 0; n < totals[i]; n++)
			add_step(n % 2 ? CLOCK_OF_SYSTEM : CLOCK_OF_NIC, n);
		written(0);
		assert_int_equal(times_in(text, "  Step of the "), 10);
		assert_non_null(strstr(text, "system clock by +9 ns"));
		snprintf(more, sizeof(more), "  %d more steps", totals[i] - 10);
		if (totals[i] > 10)
			assert_line(text, more);
		else
			assert_no(text, "more steps");
	}
}

static void the_offset_of_the_reflector(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	report.peer = &peer;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN); /* nothing was added */
	peer.exchanges = 5;
	peer.best = peer.window = (struct clock_relation){ .offset_ns = -1234567890, .bound_ns = 4000 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Reflector     : its receive stamps minus this clock -1.234567890 s (+-4000 ns), "
		       "rate unknown: too few readings\n");
	peer.has_first = true;
	peer.first = (struct clock_relation){ .at_ns = 0, .offset_ns = 1000, .bound_ns = 10 };
	peer.window = (struct clock_relation){ .at_ns = 10 * NS_PER_S, .offset_ns = 3000, .bound_ns = 10 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Reflector     : its receive stamps minus this clock 0.000003000 s (+-10 ns), rate +200 ppb (+-2)\n");
}

static void stages_on_the_scale_of_the_nic(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	watched(SOURCE_HARDWARE);
	exchange.bound_ns[BOUND_HERE] = 345;
	/* Where nothing was placed, nothing is promised. */
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	exchange.clocks = &clocks;
#define PLACED NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN "  Stages        : user-space times are on the NIC's scale within +-345 ns\n"
	assert_section(CLOCKS_TITLE, PLACED);
	counter_add(&exchange.account.unplaced, 17);
	assert_section(CLOCKS_TITLE, PLACED "  17 samples had no place on the NIC's scale: they are in no stage\n");
	counter_add(&exchange.account.stage_negative, 4);
	assert_section(CLOCKS_TITLE, PLACED "  17 samples had no place on the NIC's scale: they are in no stage\n"
		       "  Warning: 4 stages were negative by more than their bound\n");
	exchange.account.unplaced = 0;
	assert_section(CLOCKS_TITLE, PLACED "  Warning: 4 stages were negative by more than their bound\n");
	/* Who asked for no stages is told nothing of them. */
	memset(exchange.stage, 0, sizeof(exchange.stage));
	exchange.account.stage_negative = 0;
	exchange.account.unplaced = 17;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
}

/* Of the other host's stages, where two clocks are in them. */
static void remote_stages_on_the_scale_of_the_reflectors_stamps(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	watched(SOURCE_HARDWARE);
	exchange.bound_ns[BOUND_THERE] = 678;
#define REMOTE "  Remote stages : user-space times are on the scale of the reflector's stamps within +-%d ns\n"
	char lines[1024];

	snprintf(lines, sizeof(lines), NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN REMOTE, 678);
	assert_section(CLOCKS_TITLE, lines);
	exchange.bound_ns[BOUND_THERE] = 0;
	snprintf(lines, sizeof(lines), NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN REMOTE, 0);
	assert_section(CLOCKS_TITLE, lines);
	/* Stamps of the kernel are times of the same clock. */
	exchange.there = SOURCE_KERNEL;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	/* Nothing of them was told. */
	exchange.there = SOURCE_HARDWARE;
	forget_samples(&stage[STAGE_REMOTE_APP], 0, 0);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	/* An emitter without a NIC's clock has the other host's bound to tell, too. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_KERNEL, SOURCE_HARDWARE, true);
	watched(SOURCE_KERNEL);
	assert_no(written(0), "Clocks");
	exchange.bound_ns[BOUND_THERE] = 678;
	snprintf(lines, sizeof(lines), REALTIME_UNKNOWN REMOTE, 678);
	assert_section(CLOCKS_TITLE, lines);
}

/* And then the times of user space stand in the log as the system's clock gave them. */
static void no_stages_and_why(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.phc_fd = -1;
	strcpy(clocks.why, "/dev/ptp3: Permission denied: run as root");
	report.stages_why = clocks.why;
	assert_section(CLOCKS_TITLE, "  NIC clock     : not comparable: /dev/ptp3: Permission denied: run as root\n" REALTIME_UNKNOWN
		       "  Stages        : not comparable: /dev/ptp3: Permission denied: run as root; T1_SW and T4_SW are times of "
		       "CLOCK_REALTIME\n");
	options.role = ROLE_REFLECT;
	watched(SOURCE_HARDWARE);
	report.stages_why = "no CPU";
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Stages        : not comparable: no CPU; T2_SW and T3_SW are times of CLOCK_REALTIME\n");
}

/* ---- Counters --------------------------------------------------------------------------------------------------------------- */

#define PMC_TITLE "\nHardware counters of an exchange:\n"
#define PMC_SPIKE "                              quick, mean          spike\n"
#define PMC_CALM "                              quick, mean       no spike\n"

static struct pmc pmc;

static void counted(void)
{
	pmc = (struct pmc){ .counters = 3, .event = { 0, 1, 8 }, .quick = 4, .quick_sum = { 40000, 10, 0 } };
	report.pmc = &pmc;
}

static void counters_without_a_spike(void **state)
{
	(void)state;
	assert_no(written(0), "Hardware counters");
	counted();
	assert_section(PMC_TITLE, PMC_CALM "  cycles                          10000.0\n"
		       "  instructions                        2.5\n  L1-dcache-load-misses               0.0\n");
}

static void counters_of_a_spike(void **state)
{
	(void)state;
	counted();
	pmc.slow = 2;
	pmc.spike[0] = 987654321;
	pmc.spike[1] = 1;
	pmc.slow_sum[0] = 5000000000;
	assert_section(PMC_TITLE, PMC_SPIKE "  cycles                          10000.0      987654321\n"
		       "  instructions                        2.5              1\n"
		       "  L1-dcache-load-misses               0.0              0\n");
	/* All were slow: there is no mean, and 0 is none. */
	pmc.quick = 0;
	assert_section(PMC_TITLE, PMC_SPIKE "  cycles                                -      987654321\n"
		       "  instructions                          -              1\n"
		       "  L1-dcache-load-misses                 -              0\n");
}

static void what_the_counters_are_not(void **state)
{
	(void)state;
	counted();
	pmc.counters = 1;
	pmc.partial[0] = true;
	pmc.user_only = true;
	strcpy(pmc.missing, "cache-misses, page-faults");
	pmc.failed = 12;
	pmc.system_calls = 2;
	assert_section("\nHardware counters of an exchange, without the kernel's part:\n", PMC_CALM
		       "  cycles                          10000.0  (did not count all the time: too low)\n"
		       "  Not here: cache-misses, page-faults\n  12 exchanges could not be counted\n"
		       "  Reading them costs 2 system calls in each exchange\n");
	pmc.slow = 1;
	pmc.spike[0] = 3;
	assert_section("\nHardware counters of an exchange, without the kernel's part:\n", PMC_SPIKE
		       "  cycles                          10000.0              3  (did not count all the time: too low)\n"
		       "  Not here: cache-misses, page-faults\n  12 exchanges could not be counted\n"
		       "  Reading them costs 2 system calls in each exchange\n");
}

/* ---- What the machine did --------------------------------------------------------------------------------------------------- */

static struct activity activity;
static struct activity_reading at_start, at_breach, at_end;

/* Off by default: then the real one is asked. */
static struct {
	const struct activity_difference *until_breach, *until_end;
	size_t breach_count, end_count;
} differences;

size_t __real_activity_differences(const struct activity *a, const struct activity_reading *before,
				   const struct activity_reading *after, struct activity_difference *list, size_t max);
size_t __wrap_activity_differences(const struct activity *a, const struct activity_reading *before,
				   const struct activity_reading *after, struct activity_difference *list, size_t max);
size_t __wrap_activity_differences(const struct activity *a, const struct activity_reading *before,
				   const struct activity_reading *after, struct activity_difference *list, size_t max)
{
	const bool breach = after == &at_breach;
	const struct activity_difference *from = breach ? differences.until_breach : differences.until_end;
	const size_t count = breach ? differences.breach_count : differences.end_count;

	if (!from)
		return __real_activity_differences(a, before, after, list, max);
	assert_ptr_equal(a, &activity);
	assert_ptr_equal(before, &at_start);
	assert_true(breach || after == &at_end);
	memcpy(list, from, (count < max ? count : max) * sizeof(*list));
	return count;
}

#define UNTIL_BREACH "\nWhat the machine did until the first breach:\n"
#define DURING "\nWhat the machine did during the run:\n"

static const struct activity_difference few[] = {
	{ "Measuring thread", "involuntary switches", "", ACTIVITY_COUNTED, .delta = 3 },
	{ "Measuring thread", "waited for the CPU", "ns", ACTIVITY_COUNTED, .delta = 18446744073709551615U },
	{ "CPU 1", "frequency", "kHz", ACTIVITY_CHANGED, .from = 3000000, .to = 800000 },
	{ "CPU 1", "governor", "", ACTIVITY_CHANGED, .from = 1, .to = 2 },
	{ "veth0", "rx_missed", "", ACTIVITY_RESET, .delta = 9, .from = 70, .to = 2 },
	{ "veth0", "busy", "us", ACTIVITY_RESET, .from = 70, .to = 2 },
	{ "veth0", "tx_lost", "", ACTIVITY_GONE, .from = 5 },
};

#define FEW                                                                                                     \
	"  Measuring thread:\n    involuntary switches: 3\n    waited for the CPU: 18446744073709551615 ns\n"       \
	"  CPU 1:\n    frequency: 3000000 -> 800000 kHz\n    governor: 1 -> 2\n"                                    \
	"  veth0:\n    rx_missed: 70 -> 2 (how much was counted is not known)\n"                                    \
	"    busy: 70 -> 2 us (how much was counted is not known)\n    tx_lost: cannot be read any more\n"

static const struct activity_difference one[] = { { "Whole run", "packets", "", ACTIVITY_COUNTED, .delta = 1 } };

static void active(void)
{
	memset(&activity, 0, sizeof(activity));
	differences.until_breach = few;
	differences.breach_count = COUNT_OF(few);
	differences.until_end = one;
	differences.end_count = 1;
	report.activity = &activity;
	report.activity_start = &at_start;
	report.activity_breach = &at_breach;
	report.activity_end = &at_end;
}

static int tear_down_activity(void **state)
{
	memset(&differences, 0, sizeof(differences));
	return tear_down(state);
}

static void differences_of_each_kind(void **state)
{
	(void)state;
	active();
	assert_section(UNTIL_BREACH, FEW);
	assert_no(text, "during the run");
	assert_no(text, "Whole run");
}

static void until_the_breach_and_during_the_run(void **state)
{
	(void)state;
	active();
	/* It went on after the first breach. */
	options.keep_going = true;
	at_start.mark = 3;
	at_breach.mark = 70;
	at_end.mark = 18446744073709551615U;
	assert_section("\nWhat the machine did until the first breach, as read after 70 packets:\n", FEW);
	assert_section(DURING, "  Whole run:\n    packets: 1\n");
	assert_no(text, "before the worst");
	report.activity_before_worst = &at_start;
	report.activity_worst = &at_end;
	assert_section("What the machine did from the breach before the worst to the worst, as read after 3 and "
		       "18446744073709551615 packets:\n",
		       "  Whole run:\n    packets: 1\n");
	differences.end_count = 0;
	assert_section("What the machine did from the breach before the worst to the worst, as read after 3 and "
		       "18446744073709551615 packets:\n",
		       "  Nothing that is counted here moved\n");
	differences.end_count = 1;
	report.activity_before_worst = report.activity_worst = NULL;
	/* There was none: only for who wants to know. */
	report.activity_breach = NULL;
	options.keep_going = false;
	assert_no(written(0), "What the machine did");
	options.verbose = true;
	assert_section(DURING, "  Whole run:\n    packets: 1\n");
	assert_no(text, "until the first breach");
}

/* The run ended before, or it was not asked for. */
static void no_reading_no_difference(void **state)
{
	(void)state;
	active();
	report.activity_end = NULL;
	assert_no(written(0), "What the machine did");
	report.activity_end = &at_end;
	report.activity_start = NULL;
	assert_no(written(0), "What the machine did");
	report.activity = NULL;
	report.activity_start = &at_start;
	assert_no(written(0), "What the machine did");
}

static void more_differences_than_the_list_holds(void **state)
{
	static struct activity_difference many[201];
	static char name[201][16];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(many); i++) {
		snprintf(name[i], sizeof(name[i]), "number %zu", i);
		many[i] = (struct activity_difference){ "Many", name[i], "", ACTIVITY_COUNTED, .delta = 1000 + i };
	}
	active();
	differences.until_breach = many;
	differences.breach_count = 200;
	assert_line(written(0), "    number 199: 1199");
	assert_no(text, "more\n");
	assert_int_equal(times_in(text, "  Many:\n"), 1);
	differences.breach_count = 201;
	assert_line(written(0), "    number 199: 1199");
	assert_line(text, "  and 1 more");
	assert_no(text, "number 200");
}

static void what_cannot_be_told_of_the_machine(void **state)
{
	(void)state;
	active();
	differences.until_breach = one;
	differences.breach_count = 1;
	activity.unreadables = 2;
	strcpy(activity.unreadable[0], "SMI count (/dev/cpu/1/msr: No such file or directory)");
	strcpy(activity.unreadable[1], "frequency (no cpufreq)");
	strcpy(activity.unreadable[2], "left over");
	assert_section(UNTIL_BREACH, "  Whole run:\n    packets: 1\n");
	options.verbose = true;
	assert_section(UNTIL_BREACH, "  Whole run:\n    packets: 1\n"
		       "  Cannot tell: SMI count (/dev/cpu/1/msr: No such file or directory)\n"
		       "  Cannot tell: frequency (no cpufreq)\n");
	options.verbose = false;
	activity.counters_left_out = 5;
	assert_section(UNTIL_BREACH, "  Whole run:\n    packets: 1\n  Left out for lack of room: 5 counters\n");
	activity.unreadables_left_out = 2;
	assert_section(UNTIL_BREACH, "  Whole run:\n    packets: 1\n  Left out for lack of room: 7 counters\n");
	activity.counters_left_out = 0;
	assert_section(UNTIL_BREACH, "  Whole run:\n    packets: 1\n  Left out for lack of room: 2 counters\n");
}

/* ---- Variables for commands ------------------------------------------------------------------------------------------------- */

/* On the heap, and no larger than they say, so that ASan sees one byte too many. */
static char *variables, **environment;

static int set_up_variables(void **state)
{
	variables = malloc(REPORT_ENVIRONMENT_BYTES);
	environment = malloc(REPORT_ENVIRONMENT_MAX * sizeof(*environment));
	memset(variables, 0xa5, REPORT_ENVIRONMENT_BYTES);
	memset(environment, 0xa5, REPORT_ENVIRONMENT_MAX * sizeof(*environment));
	return set_up(state);
}

static int tear_down_variables(void **state)
{
	free(variables);
	free(environment);
	return tear_down(state);
}

static void assert_variables(const struct sample *s, uint64_t number, const char *const *expected)
{
	report_environment(&report, s, number, variables, environment);
	for (size_t i = 0; expected[i]; i++) {
		assert_non_null(environment[i]);
		assert_string_equal(environment[i], expected[i]);
		assert_null(expected[i + 1] ? NULL : environment[i + 1]);
	}
}

#define VARIABLES(s, number, ...) assert_variables(s, number, (const char *const[]){ __VA_ARGS__, NULL })

static void all_variables_of_a_breach(void **state)
{
	struct sample s;

	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	s = sample_of(7, 303038, 592, 26521);
	VARIABLES(&s, 0, "RANT_ROLE=reflect", "RANT_INTERFACE=veth0", "RANT_NUMBER=1", "RANT_SEQ=7",
		  "RANT_LATENCY_NS=330151", "RANT_THRESHOLD_NS=100000", "RANT_THRESHOLD_ON=response", "RANT_T2_KERNEL=1773883524.780127138",
		  "RANT_T2_SW=1773883524.780430176", "RANT_T3_SW=1773883524.780430768",
		  "RANT_T3_KERNEL=1773883524.780457289");
	options.role = ROLE_EMIT;
	options.stamp = SOURCE_HARDWARE;
	s = sample_of(8, 1, 2, 3);
	VARIABLES(&s, 41, "RANT_ROLE=emit", "RANT_INTERFACE=veth0", "RANT_NUMBER=42", "RANT_SEQ=8",
		  "RANT_LATENCY_NS=2", "RANT_THRESHOLD_NS=100000", "RANT_THRESHOLD_ON=rtt", "RANT_T1_SW=1773883524.780127138",
		  "RANT_T1_HW=1773883524.780127139", "RANT_T4_HW=1773883524.780127141", "RANT_T4_SW=1773883524.780127144");
}

#define JOINED_HEAD(on) "RANT_ROLE=emit", "RANT_INTERFACE=veth0", "RANT_NUMBER=3", "RANT_SEQ=9", "RANT_LATENCY_NS=15400", \
			"RANT_THRESHOLD_NS=100000", "RANT_THRESHOLD_ON=" on

/* The other host's times are called what they are, and those that are told twice are there once. */
static void variables_of_both_hosts(void **state)
{
	struct sample s;

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_KERNEL, true);
	s = joined_sample(9, 5400, 2100, 900, 7000);
	options.threshold_on = FIGURE_NETWORK;
	VARIABLES(&s, 2, JOINED_HEAD("network"), "RANT_RESPONSE_NS=10000", "RANT_NETWORK_NS=5400",
		  "RANT_T1_SW=1773883524.780127138", "RANT_T1_HW=1773883524.780130138", "RANT_T4_HW=1773883524.780145538",
		  "RANT_T4_SW=1773883524.780147538", "RANT_T2_KERNEL=1234567890.000000000",
		  "RANT_T2_SW=1234567890.000002100", "RANT_T3_SW=1234567890.000003000",
		  "RANT_T3_KERNEL=1234567890.000010000");
	options.threshold_on = FIGURE_RESPONSE;
	s = without_t3(s, FOLLOW_UP_LOST);
	VARIABLES(&s, 2, JOINED_HEAD("response"), "RANT_T1_SW=1773883524.780127138", "RANT_T1_HW=1773883524.780130138",
		  "RANT_T4_HW=1773883524.780145538", "RANT_T4_SW=1773883524.780147538", "RANT_T2_KERNEL=1234567890.000000000",
		  "RANT_T2_SW=1234567890.000002100", "RANT_T3_SW=1234567890.000003000");
	options.threshold_on = FIGURE_RTT;
	exchange.there = SOURCE_USER;
	s = joined_sample(9, 5400, 2100, 900, 7000);
	VARIABLES(&s, 2, JOINED_HEAD("rtt"), "RANT_RESPONSE_NS=10000", "RANT_NETWORK_NS=5400",
		  "RANT_T1_SW=1773883524.780127138", "RANT_T1_HW=1773883524.780130138", "RANT_T4_HW=1773883524.780145538",
		  "RANT_T4_SW=1773883524.780147538", "RANT_T2_SW=1234567890.000000000", "RANT_T3_SW=1234567890.000010000");
}

static void a_time_that_is_not_there_is_no_variable(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	for (unsigned there = 0; there < 1 << TIMES; there++) {
		static const char *const names[TIMES] = { "RANT_T2_KERNEL=", "RANT_T2_SW=", "RANT_T3_SW=", "RANT_T3_KERNEL=" };
		struct sample s = sample_of(7, 1, 1, 1);
		int at = 7;

		for (int i = 0; i < TIMES; i++)
			if (!(there & 1u << i))
				s.source[i] = SOURCE_NONE;
		report_environment(&report, &s, 0, variables, environment);
		for (int i = 0; i < TIMES; i++)
			if (there & 1u << i)
				assert_memory_equal(environment[at++], names[i], strlen(names[i]));
		assert_null(environment[at]);
	}
}

/* Each as long as it can be: of an emitter, who has most of them. */
static void the_longest_variables_fit(void **state)
{
	struct sample s = { .seq = UINT32_MAX, .latency_ns = INT64_MIN, .one_scale = true, .follow_up = FOLLOW_UP_THERE,
			    .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER,
					SOURCE_KERNEL, SOURCE_USER, SOURCE_USER, SOURCE_KERNEL },
			    .time_ns = { INT64_MIN, -1, -1, INT64_MIN, 0, INT64_MIN, INT64_MAX, INT64_MIN } };

	(void)state;
	options.plain = false;
	options.interface = "fifteen-letters"; /* IFNAMSIZ - 1 */
	options.threshold_ns = INT64_MIN;
	options.threshold_on = FIGURE_RESPONSE;
	exchange.there = SOURCE_KERNEL;
	s.time_ns[EMIT_T1_WIRE] = s.time_ns[EMIT_T4_WIRE] = INT64_MIN;
	s.time_ns[THERE + REFLECT_T2_WIRE] = 0;
	/* NETWORK is of the same length: it is -RESPONSE, but for the one that has no positive. */
	s.time_ns[EMIT_T1_WIRE]++;
	VARIABLES(&s, UINT64_MAX - 1, "RANT_ROLE=emit", "RANT_INTERFACE=fifteen-letters",
		  "RANT_NUMBER=18446744073709551615", "RANT_SEQ=4294967295", "RANT_LATENCY_NS=-9223372036854775808",
		  "RANT_THRESHOLD_NS=-9223372036854775808", "RANT_THRESHOLD_ON=response",
		  "RANT_RESPONSE_NS=-9223372036854775808", "RANT_NETWORK_NS=9223372036854775807",
		  "RANT_T1_SW=-9223372036.854775808", "RANT_T1_KERNEL=-9223372036.854775807",
		  "RANT_T4_KERNEL=-9223372036.854775808", "RANT_T4_SW=-9223372036.854775808", "RANT_T2_KERNEL=0.000000000",
		  "RANT_T2_SW=-9223372036.854775808", "RANT_T3_SW=9223372036.854775807",
		  "RANT_T3_KERNEL=-9223372036.854775808");
	assert_ptr_equal(environment[REPORT_ENVIRONMENT_MAX - 1], NULL);
}

/* No name of an interface is so long; whatever comes, nothing is written outside and nothing is cut short. */
static void what_does_not_fit_is_left_out_whole(void **state)
{
	char name[2 * REPORT_ENVIRONMENT_BYTES];

	(void)state;
	options.plain = false;
	options.sw_timestamps = true;
	exchange.there = SOURCE_KERNEL;
	options.interface = name;
	for (size_t bytes = 0; bytes < sizeof(name); bytes++) {
		struct sample s = joined_sample(7, 1, 1, 1, 1);
		int n = 0;

		memset(name, 'x', bytes);
		name[bytes] = '\0';
		report_environment(&report, &s, 0, variables, environment);
		for (; environment[n]; n++) {
			assert_memory_equal(environment[n], "RANT_", 5);
			assert_true(environment[n] + strlen(environment[n]) < variables + REPORT_ENVIRONMENT_BYTES);
			if (!strncmp(environment[n], "RANT_INTERFACE=", 15))
				assert_int_equal(strlen(environment[n]), 15 + bytes);
			if (!strncmp(environment[n], "RANT_T", 6) && environment[n][6] != 'H')
				assert_int_equal(strlen(strchr(environment[n], '.')), 1 + 9);
		}
		assert_true(n < REPORT_ENVIRONMENT_MAX);
		assert_true(bytes >= IFNAMSIZ || n == REPORT_ENVIRONMENT_MAX - 1);
	}
}

/* ---- The configuration ------------------------------------------------------------------------------------------------------ */

static const char *configured(void)
{
	static const struct transport udp = { .name = "UDP" };
	const struct memory some = { .bytes = 3 << 20 };
	const struct nic nic = { .name = "veth0", .driver = "veth" };
	size_t bytes;

	channel.transport = &udp;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	report_configuration(out, &report, &nic, &some, &some);
	fclose(out);
	return text;
}

static void the_trace_in_the_configuration(void **state)
{
	(void)state;
	const char *all = configured();

	assert_no(all, "Trace marker");
	assert_no(all, "Snapshot");
	traced();
	all = configured();
	assert_line(all, "Trace marker enabled: " INSTANCE ", clock mono_raw");
	assert_no(all, "Snapshot");
	trace.snapshot = true;
	trace.spare_bytes = 5 << 19;
	assert_line(configured(), "Snapshot enabled: its buffer takes 2.5 MB");
}

static void the_log_in_the_configuration(void **state)
{
	(void)state;
	report.log = &transactions;
	log_place(&transactions, NULL, 500000, false, false);
	assert_line(configured(), "Log buffer of 500000 records (10 s at 50000 packets/s)");
	log_place(&transactions, NULL, 500000, true, false);
	assert_line(configured(), "Circular log buffer of 500000 records (10 s at 50000 packets/s)");
}

/* ---- The log -------------------------------------------------------------------------------------------------------- */

#define RECORDS 8

static char folder[] = "/tmp/rant-report-XXXXXX", path[64];
static uint8_t *records;

/* On the heap and no larger than what a record of a plain or a full log has, so that ASan sees one octet too many. */
static void place_records(uint64_t capacity, bool circular, bool full)
{
	free(records);
	records = calloc(capacity, log_record_bytes(full));
	log_place(&transactions, records, capacity, circular, full);
}

static int set_up_log(void **state)
{
	strcpy(folder, "/tmp/rant-report-XXXXXX");
	set_up(state);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log.txt", folder);
	place_records(RECORDS, false, false);
	report.log = &transactions;
	return 0;
}

static int files_in_folder(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static int tear_down_log(void **state)
{
	unlink(path);
	assert_int_equal(files_in_folder(), 0);
	rmdir(folder);
	free(records);
	records = NULL;
	return tear_down(state);
}

static void add_record(uint32_t seq, int64_t first_ns, int64_t latency_ns)
{
	struct sample s = { .seq = seq, .latency_ns = latency_ns,
			    .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER },
			    .time_ns = { first_ns, first_ns + 1, first_ns + 2, first_ns + 3 } };

	log_add(&transactions, &s);
}

static const char *logged(void)
{
	struct log_file f;
	size_t bytes;

	assert_int_equal(log_file_open(&f, path), 0);
	assert_int_equal(log_file_write(&f, &report), 0);
	free(text);
	FILE *in = fopen(path, "r"), *out = open_memstream(&text, &bytes);

	for (int c; (c = fgetc(in)) != EOF;)
		fputc(c, out);
	fclose(in);
	fclose(out);
	return text;
}

#define RULE                                                                                                            \
	"------------------------------------------------------------------------------------------------------------" \
	"------------------------------------------"

static void the_documented_columns(void **state)
{
	(void)state;
	options.sw_timestamps = true;
	add_record(0, 1771555281293181657, 54769);
	add_record(4294967295, 0, 0);
	assert_string_equal(logged(),
		"       SEQ                          T1_SW                      T1_KERNEL                      T4_KERNEL"
		"                          T4_SW             RTT\n" RULE "\n"
		"         0           1771555281.293181657           1771555281.293181658           1771555281.293181659"
		"           1771555281.293181660           54769\n"
		"4294967295                    0.000000000                    0.000000001                    0.000000002"
		"                    0.000000003               0\n");
}

static void columns_follow_role_and_stamps(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		bool sw, no_tx;
		const char *names;
	} rows[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, false, false, "SEQ T1_HW T4_HW RTT" },
		{ ROLE_EMIT, SOURCE_HARDWARE, true, false, "SEQ T1_SW T1_HW T4_HW T4_SW RTT" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, true, false, "SEQ T2_HW T2_SW T3_SW T3_HW RESPONSE" },
		{ ROLE_REFLECT, SOURCE_KERNEL, false, false, "SEQ T2_KERNEL T3_KERNEL RESPONSE" },
		{ ROLE_EMIT, SOURCE_USER, false, false, "SEQ T1_SW T4_SW RTT" },
		{ ROLE_REFLECT, SOURCE_USER, true, false, "SEQ T2_SW T3_SW RESPONSE" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, false, true, "SEQ T2_HW T2_SW T3_SW RESPONSE" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		options.role = rows[i].role;
		options.stamp = rows[i].stamp;
		options.sw_timestamps = rows[i].sw;
		options.no_tx_stamps = rows[i].no_tx;
		char *line = strtok((char *)logged(), "\n"), names[128] = "";

		for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
			sprintf(names + strlen(names), "%s%s", *names ? " " : "", word);
		assert_string_equal(names, rows[i].names);
	}
}

/* A full log, with a record of everything and one of what there is at least; of an emitter with stages or without. */
static void full_log(enum source here, enum source there, bool split, uint64_t capacity)
{
	joined_run(here, there, split);
	options.log_full = true;
	place_records(capacity, false, true);
}

static void a_full_log_has_all_eight_times(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, RECORDS);
	s = joined_sample(4294967295, 5400, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(logged(),
		"       SEQ                          T1_SW                          T1_HW                          T4_HW"
		"                          T4_SW             RTT                          T2_HW                          T2_SW"
		"                          T3_SW                          T3_HW        RESPONSE         NETWORK      FLAGS\n"
		RULE RULE "-----------------\n"
		"4294967295           1773883524.780127138           1773883524.780130138           1773883524.780145538"
		"           1773883524.780147538           15400           1234567890.000000000           1234567890.000002100"
		"           1234567890.000003000           1234567890.000010000           10000            5400          -\n");
	assert_int_equal(strlen(RULE RULE "-----------------"), strcspn(text, "\n"));
}

/* The fields of the last line. */
static const char *last_fields(void)
{
	static char fields[512];
	char *line = (char *)logged();

	line[strlen(line) - 1] = '\0';
	line = strrchr(line, '\n') + 1;
	*fields = '\0';
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		sprintf(fields + strlen(fields), "%s%s", *fields ? " " : "", word);
	return fields;
}

/* Why T3 of the reply is missing, and all that is missing with it. */
static void flags_of_a_full_log(void **state)
{
	static const struct {
		enum follow_up why;
		const char *flag;
	} rows[] = {
		{ FOLLOW_UP_LOST, "lost" }, { FOLLOW_UP_UNKNOWN, "unknown" }, { FOLLOW_UP_UNTOLD, "untold" },
		{ FOLLOW_UP_MIXED, "mixed" }, { FOLLOW_UP_END, "end" }, { FOLLOW_UP_NONE, "plain" },
	};

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, COUNT_OF(rows));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = without_t3(joined_sample((uint32_t)i, 5400, 2100, 900, 7000), rows[i].why);
		char fields[512];

		log_add(&transactions, &s);
		snprintf(fields, sizeof(fields), "%zu 1773883524.780127138 1773883524.780130138 1773883524.780145538 "
			 "1773883524.780147538 15400 1234567890.000000000 1234567890.000002100 1234567890.000003000 - - - %s", i,
			 rows[i].flag);
		assert_string_equal(last_fields(), fields);
	}
}

/* A clock there that runs fast can make the network take less than nothing: that is written as it is. */
static void what_a_full_log_has_of_odd_samples(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_KERNEL, SOURCE_LOCAL, false, RECORDS);
	s = joined_sample(1, -20, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "1 1773883524.780130138 1773883524.780140118 9980 1234567890.000000000 - "
			    "1234567890.000003000 1234567890.000010000 10000 -20 -");
	/* A clock that was set back. */
	s = joined_sample(2, 5400, 2100, 900, -7000);
	s.latency_ns = -3;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "2 1773883524.780130138 1773883524.780131538 -3 1234567890.000000000 - "
			    "1234567890.000003000 1234567889.999996000 -4000 5400 -");
	/* Nothing at all was told. */
	memset(s.source, SOURCE_NONE, sizeof(s.source));
	s.follow_up = FOLLOW_UP_UNTOLD;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "2 - - -3 - - - - - - untold");
}

static void a_full_log_with_times_of_user_space(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_USER, SOURCE_USER, true, RECORDS);
	s = joined_sample(3, 5400, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "3 1773883524.780127138 1773883524.780142538 15400 1234567890.000000000 "
			    "1234567890.000010000 10000 5400 -");
}

static void columns_of_a_full_log(void **state)
{
	static const struct {
		enum source here, there;
		bool split;
		const char *names;
	} rows[] = {
		{ SOURCE_HARDWARE, SOURCE_KERNEL, true,
		  "SEQ T1_SW T1_HW T4_HW T4_SW RTT T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE NETWORK FLAGS" },
		{ SOURCE_HARDWARE, SOURCE_LOCAL, false,
		  "SEQ T1_HW T4_HW RTT T2_LOCAL T2_SW T3_SW T3_LOCAL RESPONSE NETWORK FLAGS" },
		{ SOURCE_HARDWARE, SOURCE_NONE, false, "SEQ T1_HW T4_HW RTT T2_LOCAL T2_SW T3_SW T3_LOCAL RESPONSE NETWORK FLAGS" },
		{ SOURCE_KERNEL, SOURCE_HARDWARE, false,
		  "SEQ T1_KERNEL T4_KERNEL RTT T2_HW T2_SW T3_SW T3_HW RESPONSE NETWORK FLAGS" },
		{ SOURCE_USER, SOURCE_HARDWARE, false, "SEQ T1_SW T4_SW RTT T2_HW T2_SW T3_SW T3_HW RESPONSE NETWORK FLAGS" },
		/* Times that are told twice are there once. */
		{ SOURCE_USER, SOURCE_USER, true, "SEQ T1_SW T4_SW RTT T2_SW T3_SW RESPONSE NETWORK FLAGS" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		tear_down(state);
		set_up(state);
		report.log = &transactions;
		full_log(rows[i].here, rows[i].there, rows[i].split, 1);
		char *line = strtok((char *)logged(), "\n"), names[256] = "";

		for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
			sprintf(names + strlen(names), "%s%s", *names ? " " : "", word);
		assert_string_equal(names, rows[i].names);
	}
}

/* In more than one piece, and each as full as it may be: with times that a hostile reflector could tell, the last line of a
 * piece is the longest. */
static void a_long_full_log_is_whole(void **state)
{
	enum { MANY = 20000, SHORT = RULE_FULL_WIDTH + 1, LONG = SHORT + 4 + 5 };
	const long room = LOG_CHUNK_BYTES - SHORT - 2 * SHORT; /* beside the header and a last line, if that were a short one */
	long shorts = 0;
	size_t lines = 0;

	(void)state;
	while ((room - shorts * SHORT) % LONG >= LONG - SHORT)
		shorts++;
	assert_true(shorts < room / SHORT);
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		struct sample s = joined_sample(i, 5400, 2100, 900, 7000);

		/* -4 10^18 and 4 10^18: as far as a time of the packet goes. */
		if (i >= shorts) {
			s.time_ns[THERE + REFLECT_T2_WIRE] = 4000000000 * NS_PER_S;
			s.time_ns[THERE + REFLECT_T3_WIRE] = i % 2 ? 0 : 8000000000 * NS_PER_S;
		}
		log_add(&transactions, &s);
	}
	logged();
	for (const char *at = text; (at = strchr(at, '\n')) && at[1]; at++)
		if (++lines > 1)
			assert_int_equal(strtoul(at + 1, NULL, 10), lines - 2);
	assert_int_equal(lines, MANY + 1);
	assert_int_equal(strlen(text), (2 + shorts) * SHORT + (MANY - shorts) * LONG);
}

/* A plain log although the other host told everything: its records end after our times. */
static void a_plain_log_of_an_emitter_that_heard_all(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	place_records(2, true, false);
	for (uint32_t i = 0; i < 3; i++) {
		struct sample s = joined_sample(i, 5400, 2100, 900, 7000);

		log_add(&transactions, &s);
	}
	assert_string_equal(last_fields(), "2 1773883524.780127138 1773883524.780130138 1773883524.780145538 "
			    "1773883524.780147538 15400");
}

static void an_absent_stamp_is_a_dash(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.no_tx_stamps = true;
	add_record(7, NS_PER_S, 1);
	((struct sample *)records)->source[REFLECT_T2_WIRE] = SOURCE_NONE;
	assert_non_null(strstr(logged(), "\n         7                              -"));
}

static void times_before_1970_keep_their_sign(void **state)
{
	(void)state;
	add_record(1, -2, 5);
	assert_non_null(strstr(logged(), " -0.000000001                    0.000000000 "));
}

static void a_long_log_is_whole(void **state)
{
	enum { MANY = 100000 };
	size_t lines = 0;

	(void)state;
	place_records(MANY, false, false);
	for (uint32_t i = 0; i < MANY; i++)
		add_record(i, i, i);
	for (const char *at = logged(); (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, MANY + 2);
	assert_non_null(strstr(text, "\n     99999 "));
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

/* With every place of the newest record in the memory. */
static void a_circular_log_is_written_from_old_to_new(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 3 * RECORDS; n++) {
		uint32_t expected = n < RECORDS ? 0 : n - (uint32_t)RECORDS;

		place_records(RECORDS, true, false);
		for (uint32_t i = 0; i < n; i++)
			add_record(i, i, i);
		const char *line = strchr(strchr(logged(), '\n') + 1, '\n') + 1; /* below the header */

		for (; *line; line = strchr(line, '\n') + 1)
			assert_int_equal(strtoul(line, NULL, 10), expected++);
		assert_int_equal(expected, n);
	}
}

/* ---- The file of the log ------------------------------------------------------------------------------------------------ */

static void assert_refused(const char *bad, const char *words)
{
	struct util_capture c;
	struct log_file f;
	char said[512];

	util_capture_begin(&c);
	int error = log_file_open(&f, bad);

	util_capture_end(&c, said, sizeof(said));
	assert_true(error < 0);
	assert_non_null(strstr(said, words));
	assert_non_null(strstr(said, bad));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	log_file_abandon(&f);
}

static void bad_paths_are_refused_before_the_run(void **state)
{
	char link[80];

	(void)state;
	assert_refused(folder, "directory");
	assert_refused("/nonexistent/log.txt", "No such file");
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	assert_refused(link, "symbolic link");
	unlink(link);
	assert_int_equal(files_in_folder(), 0);
}

static void a_full_device_is_an_error_and_stays_a_device(void **state)
{
	struct util_capture c;
	struct log_file f;
	struct stat s;
	char said[512];

	(void)state;
	add_record(1, 1, 1);
	/* A node of its own: a fault here would replace /dev/full for all. */
	if (mknod(path, S_IFCHR | 0666, makedev(1, 7))) {
		print_message("device nodes need root\n");
		skip();
	}
	assert_int_equal(log_file_open(&f, path), 0);
	util_capture_begin(&c);
	int error = log_file_write(&f, &report);

	util_capture_end(&c, said, sizeof(said));
	assert_int_equal(error, -ENOSPC);
	assert_non_null(strstr(said, "No space left"));
	assert_int_equal(stat(path, &s), 0);
	assert_true(S_ISCHR(s.st_mode));
}

static void the_old_log_stays_until_the_new_one_is_whole(void **state)
{
	struct log_file f;
	struct stat before, after;

	(void)state;
	add_record(1, 1, 1);
	logged();
	chmod(path, 0640);
	stat(path, &before);
	assert_int_equal(log_file_open(&f, path), 0);
	assert_int_equal(files_in_folder(), 2);
	stat(path, &after);
	assert_int_equal(before.st_ino, after.st_ino);
	log_file_abandon(&f);
	assert_int_equal(files_in_folder(), 1);
	logged();
	stat(path, &after);
	assert_true(before.st_ino != after.st_ino);
	assert_int_equal(after.st_mode & 0777, 0640);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
#define VARIABLES_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_variables, tear_down_variables)
#define ACTIVITY_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down_activity)
#define LOG_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_log, tear_down_log)

/* ---- The verdict --------------------------------------------------------------------------------------------------- */

static struct verdict verdict;

static void give_verdict(enum verdict_level level, unsigned reasons)
{
	verdict = (struct verdict){
		.level = level, .reasons = reasons, .unjudgeds = 1,
		.reason = { { level, "stamps are missing", "they may have been slow", "3 of 9" },
			    { VERDICT_DOUBTFUL, "page faults during the run", "each stops the thread", "2" } },
		.unjudged = { { VERDICT_DOUBTFUL, "the CPU's frequency changed", "no", "" } },
	};
	report.verdict = &verdict;
}

/* Of the whole report. */
static void assert_end(const char *all, const char *end)
{
	size_t n = strlen(all), bytes = strlen(end);

	if (n < bytes || strcmp(all + n - bytes, end))
		fail_msg("'%s' is not the end of:\n%s", end, all);
}

static void the_verdict_is_the_last_line(void **state)
{
	(void)state;
	report.no_other_cpu = true;
	give_verdict(VERDICT_TRUSTED, 0);
	assert_end(written(0), "\n\nMeasurement: trusted\n");
	give_verdict(VERDICT_DOUBTFUL, 1);
	assert_end(written(0), "\n\nMeasurement: doubtful: stamps are missing (3 of 9)\n");
	give_verdict(VERDICT_VOID, 2);
	assert_end(written(0), "\n\nMeasurement: void: stamps are missing (3 of 9); page faults during the run (2)\n");
	report.verdict = NULL;
	assert_no(written(0), "Measurement");
}

static void why_a_reason_matters(void **state)
{
	(void)state;
	options.verbose = true;
	give_verdict(VERDICT_DOUBTFUL, 2);
	assert_end(written(0), "\n\nNot judged, cannot be read: the CPU's frequency changed\n"
		   "Why it matters: stamps are missing: they may have been slow\n"
		   "Why it matters: page faults during the run: each stops the thread\n"
		   "Measurement: doubtful: stamps are missing (3 of 9); page faults during the run (2)\n");
}

static void tracing_is_a_note(void **state)
{
	(void)state;
	give_verdict(VERDICT_TRUSTED, 0);
	report.tracing = "/t/instances/rant";
	assert_end(written(0), "\n\nNote: tracing is on (/t/instances/rant): it moves what is measured\nMeasurement: trusted\n");
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
		TEST(labels_say_where_stamps_come_from),
		TEST(a_breach_shows_every_stamp_there_is),
		TEST(kernel_stamps_are_never_called_hardware),
		TEST(the_documented_breakdown),
		TEST(stages_to_a_nic_are_called_so),
		TEST(the_arrow_is_not_at_the_largest),
		TEST(the_arrow_at_each_stage_in_turn),
		TEST(an_emitter_blames_only_what_is_in_the_round_trip),
		TEST(an_emitter_with_a_nic),
		TEST(one_sample_blames_nothing),
		TEST(a_stage_that_was_hardly_seen_is_not_blamed),
		TEST(a_median_that_is_only_a_bound),
		TEST(what_took_no_longer_than_usual_is_not_blamed),
		TEST(a_stage_without_a_time_is_not_shown),
		TEST(no_breakdown_without_stages),
		TEST(a_breach_shows_all_eight_times),
		TEST(two_hosts_with_different_stamps),
		TEST(each_part_of_both_hosts_in_turn),
		TEST(a_response_that_is_not_told_apart),
		TEST(why_response_and_network_are_not_known),
		TEST(a_part_that_explains_half),
		TEST(a_threshold_on_another_figure),
		TEST(the_worst_of_another_figure),
		TEST(blames_of_many_breaches_at_both_hosts),
		TEST(an_emitter_with_times_of_user_space),
		TEST(the_worst_breach_when_it_is_another),
		TEST(the_worst_breach_with_the_number_of_the_first),
		TEST(the_worst_breach_has_a_breakdown_too),
		TEST(blames_of_several_breaches),
		TEST(the_columns_of_the_stages_stand_in_line),
		TEST(the_numbers_of_the_stages),
		TEST(a_stage_with_a_full_overflow_store),
		TEST(the_stages_belong_to_the_histogram),
		TEST(the_stages_of_both_hosts),
		TEST(the_names_of_remote_stages),
		TEST(the_table_fits_the_terminal),
		TEST(stages_that_the_reflector_did_not_tell),
		TEST(why_remote_stages_are_not_known),
		TEST(each_way_by_itself),
		TEST(a_way_that_took_less_than_nothing),
		TEST(histograms_of_response_and_network),
		TEST(rare_percentiles_of_a_part),
		TEST(the_accounts_of_an_emitter),
		TEST(the_report_of_a_reflector),
		TEST(losses_by_direction),
		TEST(the_account_of_the_reflectors_stamps),
		TEST(probes_that_arrived_in_another_state),
		TEST(no_two_rows_have_one_name),
		TEST(no_trace_no_section),
		TEST(a_trace_without_a_breach),
		TEST(a_frozen_trace),
		TEST(each_step_that_failed_is_named),
		TEST(what_was_not_stopped_is_not_called_so),
		TEST(each_step_that_failed_is_named_though_it_was_saved),
		TEST(a_trace_that_others_had_switched_off),
		TEST(a_saved_trace),
		TEST(a_trace_that_goes_on),
		TEST(commands_and_what_became_of_them),
		TEST(what_no_other_cpu_means),
		TEST(clocks_belong_to_hardware_stamps),
		TEST(a_clock_and_its_offset),
		TEST(a_clock_that_cannot_be_read),
		TEST(a_rate_is_known_only_above_its_bound),
		TEST(a_clock_that_others_steer),
		TEST(the_largest_jump_above_its_bound),
		TEST(a_clock_that_stood_still),
		TEST(steps_and_where_they_were),
		TEST(more_steps_than_are_shown),
		TEST(the_offset_of_the_reflector),
		TEST(stages_on_the_scale_of_the_nic),
		TEST(remote_stages_on_the_scale_of_the_reflectors_stamps),
		TEST(no_stages_and_why),
		TEST(counters_without_a_spike),
		TEST(counters_of_a_spike),
		TEST(what_the_counters_are_not),
		ACTIVITY_TEST(differences_of_each_kind),
		ACTIVITY_TEST(until_the_breach_and_during_the_run),
		ACTIVITY_TEST(no_reading_no_difference),
		ACTIVITY_TEST(more_differences_than_the_list_holds),
		ACTIVITY_TEST(what_cannot_be_told_of_the_machine),
		TEST(the_verdict_is_the_last_line),
		TEST(why_a_reason_matters),
		TEST(tracing_is_a_note),
		VARIABLES_TEST(all_variables_of_a_breach),
		VARIABLES_TEST(variables_of_both_hosts),
		VARIABLES_TEST(a_time_that_is_not_there_is_no_variable),
		VARIABLES_TEST(the_longest_variables_fit),
		VARIABLES_TEST(what_does_not_fit_is_left_out_whole),
		TEST(the_trace_in_the_configuration),
		TEST(the_log_in_the_configuration),
		LOG_TEST(the_documented_columns),
		LOG_TEST(columns_follow_role_and_stamps),
		LOG_TEST(a_full_log_has_all_eight_times),
		LOG_TEST(flags_of_a_full_log),
		LOG_TEST(what_a_full_log_has_of_odd_samples),
		LOG_TEST(a_full_log_with_times_of_user_space),
		LOG_TEST(columns_of_a_full_log),
		LOG_TEST(a_long_full_log_is_whole),
		LOG_TEST(a_plain_log_of_an_emitter_that_heard_all),
		LOG_TEST(an_absent_stamp_is_a_dash),
		LOG_TEST(times_before_1970_keep_their_sign),
		LOG_TEST(a_long_log_is_whole),
		LOG_TEST(accounts_of_a_log),
		LOG_TEST(accounts_of_a_circular_log),
		LOG_TEST(a_circular_log_is_written_from_old_to_new),
		LOG_TEST(bad_paths_are_refused_before_the_run),
		LOG_TEST(a_full_device_is_an_error_and_stays_a_device),
		LOG_TEST(the_old_log_stays_until_the_new_one_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
