/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A finished run, made by hand, and its report. A test includes the source that it is about first, then
 * this. Only a test that calls written() has to be linked with all sources of the report.
 */
#ifndef FAKE_REPORT_H
#define FAKE_REPORT_H

#include "golden.h"
#include "histogram.h"
#include "host/trace/trace_save.h"
#include "options.h"
#include "report/text/report.h"
#include "result/log.h"
#include "result/result.h"
#include "result/take.h"
#include "tracefs.h"
#include "util.h"
#include "wire/packet.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

static struct options options;
static struct histogram histogram;
static struct result result;
static struct log transactions;
static uint8_t *records; /* of it */
static struct report report;
static struct histogram stage[STAGES], one_way[ONE_WAYS];
static struct trace trace;
static struct trace_keeper keeper;
static const struct clock_watch *watched_clocks; /* NULL: not watched */
static const struct clock_peer *compared_peer; /* NULL: not compared */
static struct pmc hardware; /* of no event: not read */
static bool is_traced, is_saved; /* the result has the trace, and the saved trace */
static char *text;
static int width; /* of the terminal */
static const char *part; /* regular expression: show_report() leaves out the paragraphs without a match; NULL: none */
static const char *usual_stage; /* set_up() puts it there */
static char *nothing, *shown; /* the report of an empty run, and the report that was shown last */

/* As large as the histogram of the latency. */
static inline void place(struct histogram *h, int64_t width_ns)
{
	histogram_assign(h, calloc(1, histogram_layout(h, options.overflow_ns, width_ns, HISTOGRAM_OVERFLOW_STORE)));
}

static inline int set_up(void **state)
{
	(void)state;
	memset(&result, 0, sizeof(result));
	/* Without the other host's times, as a reflector is and an emitter by --plain. */
	options = (struct options){ .stamp = SOURCE_KERNEL, .histogram = true, .overflow_ns = 100 * NS_PER_US,
				    .bucket_ns = NS_PER_US, .interface = "veth0", .plain = true, .details = true,
					    .ttl = 255, .dscp = -1,
				    .synced_ns = -1 };
	place(&histogram, 1);
	result.options = &options;
	result.dropped = result.strays = optional_of(0);
	width = 0;
	part = usual_stage;
	is_traced = is_saved = false;
	hardware.counters = 0;
	watched_clocks = NULL;
	compared_peer = NULL;
	report = (struct report){ .options = &options, .result = &result, .histogram = &histogram };
	return 0;
}

static inline int tear_down(void **state)
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
	free(shown);
	shown = NULL;
	free(records);
	records = NULL;
	return 0;
}

/* As rant.c does after the run. */
static inline void take_results(void)
{
	if (is_traced)
		take_trace(&result.trace, &trace, is_saved ? &keeper : NULL);
	else
		result.trace = (struct result_trace){ 0 };
	result.clocks.watched = false;
	if (watched_clocks) {
		take_clocks(&result.clocks, watched_clocks, result.began_ns);
		result.clocks_moved = take_clocks_moved(watched_clocks);
	}
	if (compared_peer)
		take_peer(&result.peer, compared_peer, watched_clocks, options_by_nic(&options));
	if (hardware.counters)
		take_counters(&result.counters, &hardware);
	if (result.log.exists)
		log_result(&transactions, &result.log);
}

static inline const char *written(int columns)
{
	size_t bytes;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	take_results();
	histogram_finish(&histogram);
	for (int i = 0; i < STAGES; i++)
		if (result.stage[i])
			histogram_finish(&stage[i]);
	for (int i = 0; i < ONE_WAYS; i++)
		if (result.one_way[i])
			histogram_finish(&one_way[i]);
	report_write(out, &report, columns);
	fclose(out);
	return text;
}

static inline void print_paragraphs(FILE *out, const char *all, const char *pattern)
{
	regex_t wanted;

	assert_int_equal(regcomp(&wanted, pattern, REG_EXTENDED | REG_NOSUB), 0);
	for (const char *end; *all; all = end) {
		end = strstr(all, "\n\n");
		end = end ? end + 2 : all + strlen(all);
		char *paragraph = strndup(all, (size_t)(end - all));

		if (!regexec(&wanted, paragraph, 0, NULL, 0))
			fputs(paragraph, out);
		free(paragraph);
	}
	regfree(&wanted);
}

/* Puts the report into the golden file: without `part` as the difference from the report of an empty run, and in the
 * second and each later case of a test, as the difference from the report before. Whole where that is
 * shorter. */
static inline const char *show_report(void)
{
	char *now = NULL, *differences = NULL;
	const char *before = shown ? shown : part ? "" : nothing;
	size_t bytes;
	FILE *out = open_memstream(&now, &bytes);

	print_paragraphs(out, written(width), part ? part : "");
	fclose(out);
	out = open_memstream(&differences, &bytes);
	golden_diff(out, before, now);
	if (!strcmp(before, now))
		fprintf(out, "(the same)\n");
	fclose(out);
	golden("%s%s", shown ? "--\n" : "", *before && strlen(differences) < strlen(now) ? differences : now);
	free(differences);
	free(shown);
	shown = now;
	return text;
}

/* First of the tests that call show_report(): all of it. */
static inline void the_report_of_an_empty_run(void **state)
{
	(void)state;
	nothing = strdup(written(0));
	golden("%s", nothing);
}

/* A line of its own: scripts look for lines. */
static inline void assert_line(const char *all, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = all; (at = strstr(at, line)); at++)
		if ((at == all || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
			return;
	fail_msg("there is no line '%s' in:\n%s", line, all);
}

static inline void assert_no(const char *all, const char *words)
{
	if (strstr(all, words))
		fail_msg("'%s' must not be in:\n%s", words, all);
}

static inline int times_in(const char *all, const char *words)
{
	int n = 0;

	for (const char *at = all; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static inline void assert_text(const char *from, size_t bytes, const char *lines)
{
	if (bytes != strlen(lines) || strncmp(from, lines, bytes))
		fail_msg("not\n%s\nbut\n%.*s", lines, (int)bytes, from);
}

/* The lines after the first line and the verdict. */
static inline const char *below_the_top(const char *all)
{
	return strstr(all, "\n\n") + 2;
}

/* From the title of the section to its end. */
static inline void assert_section(const char *title, const char *lines)
{
	const char *from = strstr(written(width), title);

	if (!from)
		fail_msg("there is no section '%s' in:\n%s", title, text);
	from += strlen(title);
	const char *to = strstr(from, "\n\n");

	assert_text(from, to ? (size_t)(to + 1 - from) : strlen(from), lines);
}

/* ---- Samples and histograms of a run ----------------------------------------------------------------------------- */

#define USUAL 101 /* samples of each histogram */

/* A run whose latency and stages took so long at each exchange. An emitter has two stages. */
static inline void usual_run(enum role role, enum source stamp, int64_t latency_ns, int64_t s0_ns, int64_t s1_ns,
			     int64_t s2_ns)
{
	const int64_t usual_ns[STAGES] = { s0_ns, s1_ns, s2_ns };

	options.role = role;
	options.stamp = stamp;
	options.threshold_ns = 100000;
	for (int i = 0; i < (role == ROLE_EMIT ? 2 : 3); i++) {
		place(&stage[i], 1);
		result.stage[i] = &stage[i];
		for (uint32_t n = 0; n < USUAL; n++)
			histogram_add(&stage[i], usual_ns[i], n);
	}
	for (uint32_t n = 0; n < USUAL; n++)
		histogram_add(&histogram, latency_ns, n);
}

/* All four times, the first at `first_ns`, with so much between them. */
static inline struct sample sample_of(uint32_t seq, int64_t a_ns, int64_t b_ns, int64_t c_ns)
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

static inline void breach_at(uint32_t seq, int64_t a_ns, int64_t b_ns, int64_t c_ns)
{
	struct sample s = sample_of(seq, a_ns, b_ns, c_ns);

	if (!counter_get(&result.account.breaches))
		result.breach = s;
	if (!counter_get(&result.account.breaches) || s.latency_ns > result.worst.latency_ns)
		result.worst = s;
	result.kept[counter_get(&result.account.breaches) % BREACHES_KEPT] = s;
	counter_add(&result.account.breaches, 1);
}

#define ARROW " <-- where the spike is"

static inline void forget_samples(struct histogram *h, int64_t value_ns, unsigned samples)
{
	free(h->overflow);
	place(h, 1);
	for (uint32_t i = 0; i < samples; i++)
		histogram_add(h, value_ns, i);
}

/* ---- A run that heard of the other host -------------------------------------------------------------------------- */

/* Typical durations of each part of an exchange; a round trip 15 us, its response 10 us. */
static const int64_t joined_ns[STAGES] = {
	[STAGE_APP_TO_WIRE] = 3000, [STAGE_WIRE_TO_APP] = 2000, [STAGE_RESPONSE] = 10000, [STAGE_NETWORK] = 5000,
	[STAGE_REMOTE_WIRE_TO_APP] = 2100, [STAGE_REMOTE_APP] = 900, [STAGE_REMOTE_APP_TO_WIRE] = 7000,
	[STAGE_WIRE_TO_KERNEL] = 1400, [STAGE_KERNEL_TO_APP] = 600, [STAGE_REMOTE_WIRE_TO_KERNEL] = 1500,
	[STAGE_REMOTE_KERNEL_TO_APP] = 600, [STAGE_APP_TO_QUEUE] = 1000, [STAGE_QUEUE_TO_DRIVER] = 300,
	[STAGE_DRIVER_TO_WIRE] = 1700, [STAGE_REMOTE_APP_TO_QUEUE] = 1100, [STAGE_REMOTE_QUEUE_TO_DRIVER] = 400,
	[STAGE_REMOTE_DRIVER_TO_WIRE] = 5500,
};

/* An emitter that heard of the other host, whose stamps are `there`. split: with all times of user space. */
static inline void joined_run(enum source local, enum source remote, bool split)
{
	options.stamp = local;
	options.plain = false;
	options.sw_timestamps = split;
	options.threshold_ns = 100000;
	result.remote = (uint8_t)remote;
	result.has_stages = result.directions.reported = true;
	stages_of_role(ROLE_EMIT, options_on_wire(&options), result.stages);
	for (int i = 0; i < STAGES; i++) {
		const struct stage *one = &result.stages[i];

		if ((one->user && (!split || (!one->peer && local == SOURCE_USER))) ||
		    (one->receive_part && !options_kernel_times(&options)) ||
		    (one->transmit_part && !options_queue_times(&options)))
			continue;
		place(&stage[i], 1);
		result.stage[i] = &stage[i];
		for (uint32_t n = 0; n < USUAL; n++)
			histogram_add(&stage[i], joined_ns[i], n);
	}
	for (uint32_t n = 0; n < USUAL; n++)
		histogram_add(&histogram, 15000, n);
	counter_add(&result.account.follow_up[FOLLOW_UP_THERE], USUAL);
	result.software_remote = (struct software_remote){ .reported = split, .t2_known = split,
							  .bound_ns = { .known = split } };
}

/* Adds the receive times of both kernels, so long after those of the NICs. */
static inline void received_by_kernels(struct sample *s, int64_t here_ns, int64_t remote_ns)
{
	s->source[KERNEL_RECEIVE] = s->source[REMOTE_KERNEL_RECEIVE] = SOURCE_KERNEL;
	s->time_ns[KERNEL_RECEIVE] = s->time_ns[EMIT_T4_WIRE] + here_ns;
	s->time_ns[REMOTE_KERNEL_RECEIVE] = s->time_ns[REMOTE + REFLECT_T2_WIRE] + remote_ns;
}

/* The clocks of the two hosts have nothing to do with each other. */
static inline struct sample joined_sample(uint32_t seq, int64_t network_ns, int64_t rx_ns, int64_t app_ns,
					  int64_t tx_ns)
{
	const int64_t local_ns = 1773883524780127138, remote_ns = 1234567890000000000;
	const int64_t response_ns = rx_ns + app_ns + tx_ns, rtt_ns = network_ns + response_ns;
	const uint8_t wire = (uint8_t)options.stamp, remote = result.remote, user = SOURCE_USER;
	const bool on_wire = options.stamp != SOURCE_USER, split = options.sw_timestamps;
	const int64_t beside_ns = on_wire ? 3000 : 0;
	struct sample s = {
		.seq = seq, .latency_ns = rtt_ns, .follow_up = FOLLOW_UP_THERE, .same_timebase = split,
		.source = { user, on_wire ? wire : 0, on_wire ? wire : 0, split || !on_wire ? user : 0,
			    remote, split ? user : 0, user, remote },
		.time_ns = { local_ns, local_ns + beside_ns, local_ns + beside_ns + rtt_ns,
			     local_ns + beside_ns + rtt_ns + (on_wire ? 2000 : 0),
			     remote_ns, remote_ns + rx_ns, remote_ns + rx_ns + app_ns, remote_ns + response_ns },
	};

	return s;
}

static inline struct sample without_t3(struct sample s, enum follow_up why)
{
	s.follow_up = (uint8_t)why;
	s.source[REMOTE + REFLECT_T3_WIRE] = SOURCE_NONE;
	return s;
}

static const struct {
	enum follow_up why;
	const char *words;
} unknowns[] = {
	{ FOLLOW_UP_LOST, "the next reply, which reports when this reply left, was lost" },
	{ FOLLOW_UP_UNKNOWN, "the reflector did not have the stamp in time, or keeps no state" },
	{ FOLLOW_UP_UNREPORTED, "the reflector does not report when a reply left: RFC 8972 section 4.7" },
	{ FOLLOW_UP_MIXED, "the reflector's two stamps are of different or unreported kinds" },
	{ FOLLOW_UP_END, "no later reply arrived" },
	{ FOLLOW_UP_NONE, "it was not asked for (--plain)" },
};

/* ---- A trace ----------------------------------------------------------------------------------------------------- */

#define INSTANCE "/sys/kernel/tracing/instances/rant"

static inline void traced(void)
{
	memset(&trace, 0, sizeof(trace));
	memset(&keeper, 0, sizeof(keeper));
	strcpy(trace.path, INSTANCE);
	strcpy(trace.clock, "mono_raw");
	is_traced = true;
}

/* ---- A log ------------------------------------------------------------------------------------------------------- */

#define RECORDS 8

/* On the heap and no larger than a record of a plain or a full log, so that ASan sees one octet too many. */
static inline void place_records(uint64_t capacity, bool circular, bool full)
{
	free(records);
	records = calloc(capacity, log_record_bytes(full));
	log_assign(&transactions, records, capacity, circular, full);
}

static inline void add_record(uint32_t seq, int64_t first_ns, int64_t latency_ns)
{
	struct sample s = { .seq = seq, .latency_ns = latency_ns,
			    .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER },
			    .time_ns = { first_ns, first_ns + 1, first_ns + 2, first_ns + 3 } };

	log_add(&transactions, &s);
}

/* As if so many records had been written beside the run. */
static inline void write_log(uint64_t written)
{
	result.log = (struct result_log){ .exists = true, .form = "text", .beside = true, .written = written,
					  .octets = 150 * (int64_t)written };
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif
