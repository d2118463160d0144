/* build: sources=analyse/[a-q]*.c,analyse/run_[a-z]*.c,analyse/seconds.c,analyse/tree.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads JSON of runs: adds runs up, and refuses files that are wrong or have other settings. */
#include "analyse/runs.c"

#include "results_files.h"
#include "results_run.h"

#include "analyse/compare_write.h"

#define TEXT_BYTES 8192

/* Replaces the only occurrence of a text in the run. */
static const char *with(const char *from, const char *to)
{
	static char text[TEXT_BYTES];
	const char *at = from ? strstr(results_run, from) : NULL;

	if (!from)
		return results_run;
	if (!at || strstr(at + 1, from))
		fail_msg("not once in the run: %s", from);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - results_run), results_run, to, at + strlen(from));
	return text;
}

/* Adds a run; said[] receives the text on stderr. */
static int add(struct outcome *o, const char *path, const char *text, struct blocks *blocks)
{
	FILE *file = file_of(text, strlen(text));
	struct read_file *f;
	int error;

	catch();
	f = outcome_add_file(o, path, file, "json");
	assert_non_null(f);
	f->device = 0; /* the inode may be reused after the file is closed */
	error = runs_add(o, file, f, blocks);
	caught_text();
	fclose(file);
	return error;
}

static struct outcome *begin(void)
{
	return outcome_open(&(struct options){ .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US });
}

/* ---- Input files ------------------------------------------------------------------------------------------------- */

static void one_run(void **state)
{
	struct outcome *o = begin();
	struct blocks b = { .block = NULL };
	const struct result *x = &o->result;

	(void)state;
	assert_int_equal(add(o, "a", results_run, &b), 0);
	assert_string_equal(said, "");
	outcome_finish(o);
	assert_int_equal(o->options.role, ROLE_EMIT);
	assert_int_equal(o->options.stamp, SOURCE_KERNEL);
	assert_int_equal(o->latency.count, 200);
	assert_int_equal(histogram_bucket(&o->latency, 5000), 100);
	assert_int_equal(histogram_percentile(&o->latency, 999, 1000).value_ns, 200000);
	assert_int_equal(o->latency.max_seq, 9);
	assert_int_equal((int64_t)histogram_mean_ns(&o->latency), 6470);
	assert_int_equal((int64_t)(histogram_deviation_ns(&o->latency) + 0.5), 13728);
	assert_ptr_equal(x->stage[STAGE_RESPONSE], &o->stage[STAGE_RESPONSE]);
	assert_int_equal(o->stage[STAGE_RESPONSE].count, 199);
	assert_null(x->stage[STAGE_NETWORK]);
	assert_int_equal(x->remote, SOURCE_KERNEL);
	assert_int_equal(counter_get(&x->account.lost), 2);
	assert_int_equal(x->directions.lost_backward, 1);
	assert_true(x->directions.reported);
	assert_int_equal(x->outages.longest_at_ns, 7);
	assert_int_equal(x->probe_bytes.value, 96);
	assert_int_equal(x->ended_ns - x->began_ns, 2000000000);
	assert_int_equal(o->verdict.level, VERDICT_DOUBTFUL);
	golden("%s\n", o->read.file[0].found);
	assert_int_equal(b.blocks, 2);
	assert_int_equal(b.block[1].lost, 2);
	assert_int_equal(b.block[1].samples, 100);
	assert_int_equal(b.bucket[b.block[1].from + 1].start_ns, 199680);
	blocks_free(&b);
	outcome_close(o);
}

#define RHYTHM "\"rhythm\": {\"period_ns\": 10000000, \"p\": 3.20e-10, \"in_phase\": 312, " \
	       "\"of\": 340, \"from_ns\": 7, \"during_ns\": 8, \"suspects\": "

static void the_rhythm(void **state)
{
	struct outcome *o = begin();
	const struct rhythm *r = &o->result.rhythm;

	(void)state;
	assert_int_equal(add(o, "a", with("\"breaches\": null}", RHYTHM "[{\"name\": \"a\\nb\", \"period_ns\": 9, "
					  "\"times\": 3}, {\"name\": \"c\", \"period_ns\": 11, \"times\": null}]}}"),
			     NULL), 0);
	outcome_finish(o);
	assert_int_equal(r->period_ns, 10000000);
	assert_true(r->p > 3.19e-10 && r->p < 3.21e-10);
	assert_int_equal(r->in_phase, 312);
	assert_int_equal(r->of, 340);
	assert_int_equal(r->from_ns, 7);
	assert_int_equal(r->during_ns, 8);
	assert_true(r->has_suspects);
	assert_int_equal(r->suspects, 2);
	assert_string_equal(r->suspect[0].period.name, "a?b");
	assert_int_equal(r->suspect[0].times, 3);
	assert_int_equal(r->suspect[1].period.period_ns, 11);
	assert_int_equal(r->suspect[1].times, 0);
	/* Several runs have no common phase. */
	assert_int_equal(add(o, "b", with("\"breaches\": null}", RHYTHM "null}}"), NULL), 0);
	assert_int_equal(r->of, 0);
	outcome_close(o);
	o = begin();
	assert_int_equal(add(o, "a", with("\"breaches\": null}", RHYTHM "null}}"), NULL), 0);
	assert_int_equal(o->result.rhythm.of, 340);
	assert_false(o->result.rhythm.has_suspects);
	outcome_close(o);
}

#define WIRE "\"wire_time\": {\"probe_ns\": 67, \"frame_bytes\": "

/* One time for all files, or none. */
static void the_wire_time(void **state)
{
	static const char *const wrong[] = {
		WIRE "63, \"speed_mbps\": 10000}}", WIRE "65536, \"speed_mbps\": 10000}}", WIRE "64, \"speed_mbps\": 0}}",
		WIRE "64, \"speed_mbps\": -1}}", WIRE "64, \"speed_mbps\": 2147483648}}", WIRE "64}}",
		"\"wire_time\": {\"speed_mbps\": 10000}}", "\"wire_time\": {\"frame_bytes\": 64, \"speed_mbps\": 10000}}", "\"wire_time\": 67}",
	};
	struct outcome *o = begin();
	const struct wire *w = &o->result.wire;

	(void)state;
	assert_int_equal(add(o, "a", with("\"breaches\": null}", WIRE "142, \"speed_mbps\": 25000}}"), NULL), 0);
	assert_int_equal(w->frame_bytes, 142);
	assert_int_equal(w->speed_mbps, 25000);
	assert_int_equal(w->probe_ns, 67);
	assert_int_equal(add(o, "b", with("\"breaches\": null}", WIRE "142, \"speed_mbps\": 25000}}"), NULL), 0);
	assert_int_equal(w->speed_mbps, 25000);
	assert_int_equal(add(o, "c", with("\"breaches\": null}", WIRE "142, \"speed_mbps\": 10000}}"), NULL), 0);
	assert_int_equal(w->speed_mbps, 0);
	assert_int_equal(add(o, "d", with("\"breaches\": null}", WIRE "142, \"speed_mbps\": 25000}}"), NULL), 0);
	assert_int_equal(w->speed_mbps, 0);
	outcome_close(o);
	/* A file of an older version does not have it. */
	o = begin();
	assert_int_equal(add(o, "a", with("\"breaches\": null}", WIRE "142, \"speed_mbps\": 25000}}"), NULL), 0);
	assert_int_equal(add(o, "b", results_run, NULL), 0);
	assert_int_equal(o->result.wire.speed_mbps, 0);
	outcome_close(o);
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		o = begin();
		assert_int_equal(add(o, "a", with("\"breaches\": null}", wrong[i]), NULL), -EINVAL);
		golden_line(said);
		outcome_close(o);
	}
}

/* Without the start of a run its seconds have no time of day. */
static void a_run_without_a_begin(void **state)
{
	struct outcome *o = begin();
	struct blocks b = { .block = NULL };

	(void)state;
	assert_int_equal(add(o, "a", with("\"unix_ns\": 1773883525780127138", "\"unix_ns\": null"), &b), 0);
	assert_int_equal(add(o, "b", results_run, &b), 0);
	assert_int_equal(b.blocks, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(b.block[i].has_unix, i >= 2);
	assert_int_equal(b.block[3].began_unix_ns, 1773883524780127138);
	assert_int_equal(b.block[3].run, 2);
	blocks_free(&b);
	outcome_close(o);
}

/* With wide buckets the deviation is rounded: one of 199 responses is a nanosecond longer, and the deviation is
 * still 0. */
static void a_deviation_is_never_more_than_it_was(void **state)
{
	struct outcome *o = begin();

	(void)state;
	assert_int_equal(add(o, "a",
			     with("\"sum_ns\": 796000, \"percentiles\": [],\n  \"histogram\": {\"bucket_ns\": 1,",
					  "\"sum_ns\": 796001, \"percentiles\": [],\n  \"histogram\": {\"bucket_ns\": "
					  "10,"), NULL), 0);
	outcome_finish(o);
	assert_int_equal((int64_t)(histogram_mean_ns(&o->stage[STAGE_RESPONSE]) * 1000), 4000005);
	assert_int_equal((int64_t)(histogram_deviation_ns(&o->stage[STAGE_RESPONSE]) + 0.5), 0);
	outcome_close(o);
}

static void three_runs(void **state)
{
	struct outcome *o = begin();

	(void)state;
	assert_int_equal(add(o, "a", results_run, NULL), 0);
	assert_int_equal(add(o, "b", with("\"level\": \"doubtful\", \"reasons\"", "\"level\": \"void\", \"reasons\""),
			     NULL), 0);
	assert_int_equal(add(o, "c", with("\"lost_there\": 1, \"lost_back\": 1, \"either_way\": 0}",
					   "\"lost_there\": null, \"lost_back\": null, \"either_way\": 2},\n"
					   "\"discard_reasons\": [\"refused\", 7, \"tired\", \"unread\"]"), NULL), 0);
	outcome_finish(o);
	assert_int_equal(o->latency.count, 600);
	assert_int_equal(histogram_bucket(&o->latency, 6000), 297);
	assert_int_equal(o->latency.overflows, 3);
	assert_int_equal(o->latency.kept, 3);
	assert_int_equal(counter_get(&o->result.account.sent), 609);
	assert_int_equal(o->result.ended_ns, 6000000000);
	assert_int_equal(o->verdict.level, VERDICT_VOID);
	/* A total is known only if it is known for each run. */
	assert_false(o->result.directions.reported);
	assert_int_equal(o->result.directions.lost_unknown, 2);
	/* A later version may have more reasons. */
	assert_int_equal(o->result.directions.discard_reasons, DISCARD_REFUSED | DISCARD_UNREAD);
	assert_int_equal(o->read.reasons, 3);
	assert_string_equal(o->read.reason[2].path, "c");
	outcome_close(o);
}

/* The last value that a run reported is kept. */
static void how_probes_arrived(void **state)
{
	static const char none[] = "\"from_there_bytes\": 19200}, \"rate_per_s\"";
	struct outcome *o = begin();

	(void)state;
	assert_int_equal(add(o, "a", with(none,
					  "\"from_there_bytes\": 19200}, \"arrived\": {\"other_ttl\": 3, \"last_ttl\": "
					  "61, \"other_dscp\": 0, "
						"\"last_dscp\": null}, \"rate_per_s\""), NULL), 0);
	assert_int_equal(add(o, "b", with(none,
					  "\"from_there_bytes\": 19200}, \"arrived\": {\"other_ttl\": 2, \"last_ttl\": "
					  "60, \"other_dscp\": 1, "
						"\"last_dscp\": 46}, \"rate_per_s\""), NULL), 0);
	assert_int_equal(add(o, "c", results_run, NULL), 0);
	assert_int_equal(counter_get(&o->result.account.other_ttl), 5);
	assert_int_equal(counter_get(&o->result.account.other_class), 1);
	assert_int_equal(o->result.arrived_ttl, 60);
	assert_int_equal(o->result.arrived_dscp, 46);
	outcome_close(o);
}

/* --report sorts the seconds of several runs by time. */
static void runs_of_one_file(void **state)
{
	struct outcome *o = begin();
	struct blocks b = { .block = NULL };
	char text[TEXT_BYTES];

	(void)state;
	snprintf(text, sizeof(text), "%s", with("\"from_ns\": 0,", "\"run\": 7, \"from_ns\": 0,"));
	memcpy(strstr(text, "{\"from_ns\": 1000000000,"), "{\"run\": 3, \"from_ns\":0,", 23);
	assert_int_equal(add(o, "a", results_run, &b), 0);
	assert_int_equal(add(o, "b", text, &b), 0);
	assert_int_equal(b.runs, 3);
	assert_int_equal(b.blocks, 4);
	assert_int_equal(b.block[1].run, 1);
	assert_int_equal(b.block[2].run, 2); /* that was 3 */
	assert_int_equal(b.block[2].max_ns, 200000);
	assert_int_equal(b.block[3].run, 3);
	assert_int_equal(b.block[1].began_unix_ns, 1773883524780127138);
	assert_int_equal(b.block[2].began_unix_ns, 1773883524780127138);
	assert_int_equal(o->read.file[0].run, 1);
	assert_int_equal(o->read.file[1].run, 2);
	assert_true(b.has_loss);
	assert_false(b.unknown);
	assert_int_equal(add(o, "c", with("\"seconds\": [", "\"others\": ["), &b), 0);
	assert_true(b.unknown);
	assert_int_equal(o->read.file[2].run, 0);
	blocks_free(&b);
	outcome_close(o);
}

/* A log has neither accounts nor a verdict. */
static void what_is_not_known(void **state)
{
	struct outcome *o = begin();

	(void)state;
	assert_int_equal(add(o, "a", with("\"sent\": 203", "\"sent\": null"), NULL), 0);
	assert_false(o->read.has_accounts);
	assert_true(o->read.has_duration);
	assert_int_equal(add(o, "b", with("\"duration_ns\": 2000000000", "\"duration_ns\": null"), NULL), 0);
	assert_false(o->read.has_accounts);
	assert_false(o->read.has_duration);
	outcome_close(o);
}

static char long_text[600000];

static void change(const char *from, const char *name, unsigned n)
{
	char *at = strstr(long_text, from), to[64];

	assert_non_null(at);
	snprintf(to, sizeof(to), "%s: %u", name, n);
	memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
	memcpy(at, to, strlen(to));
}

/* The file of a run with `n` samples above the limit, from `from_ns` on in steps of 1 us; it keeps the largest. */
static const char *with_overflows(unsigned n, int64_t from_ns)
{
	const unsigned kept = n < HISTOGRAM_OVERFLOW_STORE ? n : HISTOGRAM_OVERFLOW_STORE;
	const char *tail = strstr(results_run, "}},\n \"response_ns\"");
	struct histogram h;
	char *to = long_text;

	histogram_assign(&h, calloc(1, histogram_layout(&h, 100000, 1, HISTOGRAM_OVERFLOW_STORE)));
	for (unsigned i = 0; i < n; i++)
		histogram_add(&h, from_ns + 1000 * (int64_t)i, i);
	histogram_finish(&h);
	to += sprintf(to, "%.*s", (int)(strstr(results_run, "\"samples\": 200") - results_run), results_run);
	to += sprintf(to, "\"samples\": %u, \"negative\": 0, \"min_ns\": %" PRId64
		      ", \"min_seq\": 0, \"max_ns\": %" PRId64 ", \"max_seq\": %u, \"mean_ns\": %.0f, "
		      "\"stddev_ns\": %.0f, \"sum_ns\": %" PRId64
		      ", \"percentiles\": [],", n, h.min_ns, h.max_ns, n - 1, histogram_mean_ns(&h),
		      histogram_deviation_ns(&h), (int64_t)h.sum);
	to += sprintf(to, "\"histogram\": {\"bucket_ns\": 1, \"overflow_from_ns\": 100000, \"overflow_samples\": %u, "
		      "\"overflow_not_kept\": %u, \"buckets\": [], \"overflow_buckets\": [", n, n - kept);
	for (uint32_t i = h.buckets, any = 0; i < h.buckets + h.log_buckets; i++)
		if (histogram_bucket(&h, i))
			to += sprintf(to, "%s[%" PRId64 ", %u]", any++ ? ", " : "", histogram_bucket_ns(&h, i),
				      (unsigned)histogram_bucket(&h, i));
	to += sprintf(to, "], \"overflow\": [");
	for (uint32_t i = 0; i < h.kept; i++)
		to += sprintf(to, "%s[%" PRId64 ", 1]", i ? ", " : "", h.overflow[i]);
	snprintf(to, sizeof(long_text) - (size_t)(to - long_text), "]%s", tail);
	free(h.overflow);
	change("\"sent\": 203", "\"sent\"", n + 3);
	change("\"recorded\": 200", "\"recorded\"", n);
	change("\"complete\": 199", "\"complete\"", n - 1);
	return long_text;
}

/* A percentile above --overflow is that of the run whose file is read. */
static void samples_above_the_limit(void **state)
{
	const unsigned n = 3 * HISTOGRAM_OVERFLOW_STORE;
	struct outcome *o = begin();

	(void)state;
	if (add(o, "a", with_overflows(n, 150000), NULL))
		fail_msg("%s", said);
	outcome_finish(o);
	assert_int_equal(o->latency.overflows, n);
	assert_int_equal(o->latency.kept, HISTOGRAM_OVERFLOW_STORE);
	for (unsigned i = 1; i <= n; i += 7) {
		const int64_t exact = 150000 + 1000 * (int64_t)(i - 1);
		const int64_t ns = histogram_percentile(&o->latency, i, n).value_ns;

		assert_in_range(ns, i > n - HISTOGRAM_OVERFLOW_STORE ? exact : exact - exact / 1024, exact);
	}
	outcome_close(o);
}

/* The sum of two files, one of which has all of the largest samples. */
static void samples_above_the_limit_of_two(void **state)
{
	const unsigned n = 2 * HISTOGRAM_OVERFLOW_STORE;
	struct outcome *o = begin();

	(void)state;
	assert_int_equal(add(o, "a", with_overflows(n, 150000), NULL), 0);
	assert_int_equal(add(o, "b", with_overflows(n, 1000000000), NULL), 0);
	outcome_finish(o);
	assert_int_equal(o->latency.count, 2 * n);
	assert_int_equal(o->latency.overflows, 2 * n);
	assert_int_equal(o->latency.overflow[0], 1000000000 + 1000 * (int64_t)HISTOGRAM_OVERFLOW_STORE);
	assert_in_range(histogram_percentile(&o->latency, 1, 2).value_ns, 8340000 * 1023LL / 1024, 8341000);
	assert_int_equal(o->latency.min_ns, 150000);
	outcome_close(o);
}

/* A file of an older rant without buckets above the limit is read where it has all samples, and else refused. */
static void an_older_file_that_lacks_samples(void **state)
{
	struct outcome *o = begin();

	(void)state;
	assert_int_equal(add(o, "a", results_run, NULL), 0);
	assert_int_equal(histogram_edge_ns(&o->latency, 200000), 199936);
	assert_int_equal(o->latency.overflows, 1);
	outcome_close(o);
	o = begin();
	assert_int_equal(add(o, "a", with("\"overflow_samples\": 1, \"overflow_not_kept\": 0",
					  "\"overflow_samples\": 10, \"overflow_not_kept\": 9"), NULL), -EINVAL);
	assert_string_equal(said, "test_results_runs: a: rtt_ns lacks 9 samples above --overflow, which an older "
				  "version did not keep: measure again\n");
	outcome_close(o);
}

/* Three samples above the limit whose sum, minimum and maximum are right, but one is not in its bucket. */
static void an_overflow_in_another_bucket(void **state)
{
	static const char from[] = "\"sum_ns\": 1294000, \"percentiles\": [],\n  \"histogram\": {\"bucket_ns\": 1, "
				   "\"overflow_from_ns\": 100000, \"overflow_samples\": 1, "
				   "\"overflow_not_kept\": 0,\n   \"buckets\": [[5000, 100], [6000, 99]], \"overflow\": [[200000, 1]]";
	static const char *const buckets[] = { "[150016, 1], [159872, 1], [199936, 1]",
					       "[150016, 1], [160000, 1], [199936, 1]" };
	char to[512];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(buckets); i++) {
		struct outcome *o = begin();

		snprintf(to, sizeof(to), "\"sum_ns\": 1592100, \"percentiles\": [],\n  \"histogram\": "
			 "{\"bucket_ns\": 1, \"overflow_from_ns\": 100000, \"overflow_samples\": 3, \"overflow_not_kept\": 0,\n "
			 "\"buckets\": [[5000, 100], [6000, 97]], \"overflow_buckets\": [%s], "
			 "\"overflow\": [[150100, 1], [160000, 1], [200000, 1]]", buckets[i]);
		assert_int_equal(add(o, "a", with(from, to), NULL) == 0, i);
		outcome_close(o);
	}
}

/* Counts of a file above the limit must agree with each other. */
static void an_overflow_that_disagrees(void **state)
{
	static const char *const wrong[] = {
		"\"overflow_buckets\": [[199936, 2]], ", "\"overflow_buckets\": [], ",
		"\"overflow_buckets\": [[199937, 1]], ", "\"overflow_buckets\": [[150016, 1]], ",
		"\"overflow_buckets\": [[99936, 1]], ", "\"overflow_buckets\": [[200064, 1], [199936, 1]], ",
		"\"overflow_buckets\": [[199936, 9000000000000000]], ",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i <= COUNT_OF(wrong); i++) {
		struct outcome *o = begin();

		snprintf(text, sizeof(text), "%s\"overflow\": [[200000", i < COUNT_OF(wrong) ? wrong[i] :
			 "\"overflow_buckets\": [[199936, 1]], ");
		if ((add(o, "a", with("\"overflow\": [[200000", text), NULL) != 0) != (i < COUNT_OF(wrong)))
			fail_msg("%s", text);
		outcome_close(o);
	}
}

/* ---- Refused files ----------------------------------------------------------------------------------------------- */

static const struct {
	const char *from, *to;
} bad[] = {
	{ "{\"format\": \"rant\"", "[{\"format\": \"rant\"" },
	{ "\"breaches\": null}", "\"breaches\": null" },
	{ "\"exit_status\": 0", "\"exit_status\": NaN" },
	{ "\"exit_status\": 0", "\"exit_status\": 99999999999999999999" },
	{ "\"exit_status\": 0", "\"breaches\": 0" }, /* twice */
	{ "{\"format\": \"rant\"", "{\"format\": \"irtt\"" },
	{ "{\"format\"", "{\"form\"" },
	{ "\"schema_version\": 1", "\"schema_version\": 2" },
	{ "\"schema_version\": 1", "\"schema_version\": 1.0" },
	{ "\"schema_version\": 1", "\"schema_version\": -1" },
	{ "\"role\": \"emit\"", "\"role\": \"both\"" },
	{ "\"stamp\": \"kernel\", \"port\"", "\"stamp\": \"soft\", \"port\"" },
	{ "RTT = T4_KERNEL - T1_KERNEL", "RTT = T4_HW - T1_HW" },
	{ "\"duration_ns\": 2000000000", "\"duration_ns\": -1" },
	{ "\"statistics\": {\"rtt_ns\"", "\"statistics\": {\"ttr_ns\"" },
	{ "\"samples\": 200, \"negative\"", "\"samples\": 201, \"negative\"" },
	{ "\"samples\": 200, \"negative\"", "\"samples\": 200.0, \"negative\"" },
	{ "\"min_ns\": 5000", "\"min_ns\": 4999" },
	{ "\"max_ns\": 200000, \"max_seq", "\"max_ns\": 200001, \"max_seq" },
	{ "\"sum_ns\": 1294000", "\"sum_ns\": 1294001" },
	{ "[[5000, 100], [6000, 99]]", "[[5000, 100], [6000, 98]]" },
	{ "[[5000, 100], [6000, 99]]", "[[6000, 99], [5000, 100]]" },
	{ "[[5000, 100], [6000, 99]]", "[[5000, 100], [6000, -99]]" },
	{ "[[5000, 100], [6000, 99]]", "[[5000, 100], [100000, 99]]" },
	{ "[[5000, 100], [6000, 99]]", "[[-5, 100], [6000, 99]]" },
	{ "[[5000, 100], [6000, 99]]", "[[5000, 100], [6000, 99, 1]]" },
	{ "[[5000, 100], [6000, 99]]", "[[5000, 100], [6000, 9e1]]" },
	{ "[[5000, 100], [6000, 99]]", "[[5000, 100], [6000, 9000000000000000]]" },
	{ "[[200000, 1]]", "[[99999, 1]]" },
	{ "[[200000, 1]]", "[[200000, 99000000]]" },
	{ "\"stddev_ns\": 13728, \"sum_ns\": 1294000", "\"stddev_ns\": 13728, \"sum_ns\": -1" },
	{ "\"lost\": 2, \"closing\"", "\"lost\": 3, \"closing\"" },
	{ "\"lost\": 2, \"closing\"", "\"lost\": -2, \"closing\"" },
	{ "\"closing\": 1", "\"closing\": 9999999999999999" },
	{ "\"complete\": 199", "\"complete\": 198" },
	{ "19200}, \"rate", "19200}, \"arrived\": {\"other_ttl\": 1, \"last_ttl\": 256}, \"rate" },
	{ "\"to_there_bytes\": 19392", "\"to_there_bytes\": 19393" },
	{ "\"level\": \"doubtful\", \"reasons\"", "\"level\": \"good\", \"reasons\"" },
	{ "\"limit\": 0, \"why\"", "\"limit\": true, \"why\"" },
	{ "[[4992, 100]]", "[[4993, 100]]" },
	{ "[[4992, 100]]", "[[4992, 99]]" },
	{ "[[4992, 100]]", "[[4992, 101]]" },
	{ "\"sent\": 100, \"lost\": 0", "\"sent\": 100, \"lost\": []" },
	{ "{\"from_ns\": 0, \"to_ns\": 1000000000,", "{\"to_ns\": 1000000000," },
	{ "{\"from_ns\": 0, \"to_ns\": 1000000000,", "{\"from_ns\": 0, \"to_ns\": -1," },
	{ "{\"from_ns\": 1000000000,", "{\"from_ns\": 2000000001," },
	{ "\"unix_ns\": 1773883525780127138", "\"unix_ns\": -9223372036854775807" },
	{ "\"unix_ns\": 1773883525780127138", "\"unix_ns\": true" },
	{ "\"p99_9_ns\": 200000", "\"p99_9_ns\": 200001" },
	{ "\"p50_ns\": 6000", "\"p50_ns\": null" },
	{ "\"p50_ns\": 6000", "\"run\": 4294967296, \"p50_ns\": 6000" },
	{ "\"ttl\": 255", "\"ttl\": [255]" },
	{ "\"breaches\": null}", "\"rhythm\": {\"period_ns\": 0, \"p\": 1e-9, \"in_phase\": 1, \"of\": 2}}" },
	{ "\"breaches\": null}", "\"rhythm\": {\"period_ns\": 1, \"p\": 0, \"in_phase\": 1, \"of\": 2}}" },
	{ "\"breaches\": null}", "\"rhythm\": {\"period_ns\": 1, \"p\": 1e-9, \"in_phase\": 3, \"of\": 2}}" },
	{ "\"breaches\": null}", RHYTHM "[{\"name\": 1, \"period_ns\": 1, \"times\": null}]}}" },
};

static void wrong_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct outcome *o = begin();
		struct blocks b = { .block = NULL };

		if (!add(o, "a", with(bad[i].from, bad[i].to), &b))
			fail_msg("taken: %s", bad[i].to);
		golden_line(said);
		blocks_free(&b);
		outcome_close(o);
	}
}

static const struct {
	const char *from, *to;
} other[] = {
	{ "\"ttl\": 255", "\"ttl\": 64" },
	{ "\"interval_ns\": null", "\"interval_ns\": 1000" },
	{ "\"interval_ns\": null,\n \"plain\": false", "\"interval_ns\": 7, \"plain\": true" },
	{ "\"plain\": false", "\"plain\": true" },
	{ "\"reflector_stamps\": {\"stamp\": \"kernel\"", "\"reflector_stamps\": {\"stamp\": \"hardware\"" },
	{ "\"to_there_bytes\": 19392", "\"to_there_bytes\": 20200" },
};

static void runs_that_do_not_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(other); i++) {
		struct outcome *o = begin(), *p = begin();

		assert_int_equal(add(o, "a", results_run, NULL), 0);
		assert_int_equal(add(o, "b", with(other[i].from, other[i].to), NULL), -EINVAL);
		golden_line(said);
		if (i + 1 < COUNT_OF(other)) { /* the last row is about the length of probes */
			add(p, "b", with(other[i].from, other[i].to), NULL);
			catch();
			assert_false(runs_are_alike(o, p));
			caught_text();
			golden_line(said);
		}
		outcome_close(p);
		outcome_close(o);
	}
}

/* Input beyond the limits of a JSON library. */
static void deep_and_odd(void **state)
{
	static char text[100000];
	struct outcome *o = begin();

	(void)state;
	memset(text, '[', sizeof(text) - 1);
	memcpy(text, "{\"a\":", 5);
	assert_int_equal(add(o, "a", text, NULL), -EINVAL);
	golden_line(said);
	assert_int_equal(add(o, "b", "{\"format\": \"rant\xff\"}", NULL), -EINVAL);
	golden_line(said);
	assert_int_equal(add(o, "c", "[]", NULL), -EINVAL);
	golden_line(said);
	outcome_close(o);
}

static void a_statistic_of_a_newer_rant(void **state)
{
	struct outcome *o = begin();

	(void)state;
	assert_int_equal(add(o, "a", with("\"response_ns\": {\"formula\"", "\"other_ns\": {\"formula\""), NULL), 0);
	fflush(o->notes);
	golden_line(o->note);
	outcome_close(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run), cmocka_unit_test(the_rhythm), cmocka_unit_test(the_wire_time),
			cmocka_unit_test(a_run_without_a_begin),
			cmocka_unit_test(a_deviation_is_never_more_than_it_was), cmocka_unit_test(three_runs),
			cmocka_unit_test(how_probes_arrived),
		cmocka_unit_test(runs_of_one_file),
		cmocka_unit_test(what_is_not_known),
		cmocka_unit_test(samples_above_the_limit), cmocka_unit_test(samples_above_the_limit_of_two),
		cmocka_unit_test(an_older_file_that_lacks_samples),
		cmocka_unit_test(an_overflow_that_disagrees),
		cmocka_unit_test(an_overflow_in_another_bucket), cmocka_unit_test(wrong_files),
		cmocka_unit_test(runs_that_do_not_fit),
		cmocka_unit_test(deep_and_odd), cmocka_unit_test(a_statistic_of_a_newer_rant),
	};

#ifndef WITH_JANSSON
	print_message("ok - results of --json # SKIP rant is built without libjansson\n");
	return 0;
#endif
	return golden_run(tests);
}
