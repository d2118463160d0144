/* build: sources=host/nic/nic_driver.c,report/verdict/verdict_finding.c,report/export/prometheus_earlier.c,report/text/account.c,report/export/json.c,report/text/label.c,report/text/limit.c,report/log/log_file.c,report/log/log_mend.c,histogram.c,@result,wire/[a-z]*.c,host/process/memory.c,host/counters/pmc.c,host/clock/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The file for node_exporter: its buckets, when it is replaced, and that a name of an interface cannot break it. */
#include "report/export/prometheus.c"

#include "fake_report.h"

#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/rant-prometheus-XXXXXX/rant.prom";
static struct prometheus p;
static struct sample_queue sample_queue;
static char content[TEXT_BYTES];

static int begin(void **state)
{
	char *slash = strrchr(path, '/');

	set_up(state);
	strcpy(path, "/tmp/rant-prometheus-XXXXXX/rant.prom");
	*slash = 0;
	assert_non_null(mkdtemp(path));
	*slash = '/';
	options.role = ROLE_REFLECT;
	options.prometheus_path = path;
	report.samples_are_taken = true;
	assert_int_equal(prometheus_open(&p, &report, &sample_queue), 0);
	return 0;
}

static int end(void **state)
{
	char *slash = strrchr(path, '/');

	unlink(path);
	*slash = 0;
	assert_int_equal(rmdir(path), 0); /* nothing else is left there */
	*slash = '/';
	return tear_down(state);
}

static const char *read_back(void)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	content[fread(content, 1, sizeof(content) - 1, f)] = 0;
	fclose(f);
	return content;
}

static void an_edge_is_in_its_bucket(void **state)
{
	(void)state;
	prometheus_add(&p, (const int64_t[]){ 0, 1000, 1001, 5000000000, 5000000001 }, 5);
	prometheus_look(&p);
	read_back();
	assert_non_null(strstr(content, "le=\"1e-06\"} 2\n"));
	assert_non_null(strstr(content, "le=\"2e-06\"} 3\n"));
	assert_non_null(strstr(content, "le=\"2\"} 3\n"));
	assert_non_null(strstr(content, "le=\"5\"} 4\n"));
	assert_non_null(strstr(content, "le=\"+Inf\"} 5\n"));
	assert_non_null(strstr(content,
			       "_sum{role=\"reflect\",interface=\"veth0\",server=\"\",port=\"0\"} 10.000002002\n"));
}

static ino_t inode(void)
{
	struct stat s;

	assert_int_equal(stat(path, &s), 0);
	return s.st_ino;
}

/* Another file each time, that a reader has a whole one. */
static void it_is_replaced_when_it_is_time(void **state)
{
	FILE *held;
	ino_t first;
	char before[64] = "", after[64] = "";

	(void)state;
	assert_int_equal(access(path, F_OK), -1); /* opening leaves nothing */
	prometheus_look(&p);
	first = inode();
	held = fopen(path, "r"); /* so that its number is not given again */
	prometheus_look(&p);
	assert_int_equal(inode(), first);
	p.next_ns -= PROMETHEUS_PERIOD_NS;
	prometheus_look(&p);
	assert_int_not_equal(inode(), first);
	assert_in_range(p.next_ns - clock_read_ns(CLOCK_MONOTONIC), 1, PROMETHEUS_PERIOD_NS);
	assert_non_null(fgets(before, sizeof(before), held));
	fclose(held);
	snprintf(after, sizeof(after), "%.*s", (int)strcspn(read_back(), "\n") + 1, content);
	assert_string_equal(before, after);
}

static void a_place_that_goes_is_reported_once(void **state)
{
	(void)state;
	prometheus_look(&p);
	options.prometheus_path = "/proc/none/a.prom";
	p.next_ns = 0;
	prometheus_look(&p);
	assert_true(p.is_broken);
	p.next_ns = 0;
	options.prometheus_path = path;
	prometheus_look(&p);
	assert_int_equal(p.next_ns, 0);
	assert_int_equal(prometheus_end(&p), -EIO);
}

static void names_are_escaped(void **state)
{
	(void)state;
	options.interface = "a\"b\\c";
	prometheus_look(&p);
	assert_non_null(strstr(read_back(), "interface=\"a\\\"b\\\\c\","));
}

static void no_verdict_before_the_end(void **state)
{
	const struct verdict verdict = { .level = VERDICT_VOID };

	(void)state;
	report.verdict = &verdict;
	prometheus_look(&p);
	assert_non_null(strstr(read_back(), "level=\"void\"} 0\n"));
	assert_non_null(strstr(content,
			       "rant_running{role=\"reflect\",interface=\"veth0\",server=\"\",port=\"0\"} 1\n"));
	assert_int_equal(prometheus_end(&p), 0);
	assert_non_null(strstr(read_back(), "level=\"void\"} 1\n"));
	assert_non_null(strstr(content, "level=\"trusted\"} 0\n"));
}

/* ---- Counters go on ---------------------------------------------------------------------------------------------- */

#define LABELS "role=\"reflect\",interface=\"veth0\",server=\"\",port=\"0\""

/* As at the begin of the next run: returns its stderr. */
static const char *go_on(void)
{
	struct util_capture capture;
	static char said[512];

	assert_int_equal(prometheus_open(&p, &report, &sample_queue), 0);
	util_capture_begin(&capture);
	prometheus_go_on(&p);
	util_capture_end(&capture, said, sizeof(said));
	return said;
}

static void run(uint64_t sent, const int64_t *value_ns, size_t n)
{
	result.account = (struct account){ 0 };
	counter_add(&result.account.sent, sent);
	counter_add(&result.account.recorded, n);
	prometheus_add(&p, value_ns, n);
	assert_int_equal(prometheus_end(&p), 0);
	read_back();
}

static void counters_go_on_from_the_file(void **state)
{
	(void)state;
	assert_string_equal(go_on(), ""); /* there is no file yet */
	run(7, (const int64_t[]){ 1000, 3000000000 }, 2);
	assert_string_equal(go_on(), "");
	run(5, (const int64_t[]){ 1500, 6000000000, 999999999 }, 3);
	assert_non_null(strstr(content, "rant_sent_total{" LABELS "} 12\n"));
	assert_non_null(strstr(content, "rant_recorded_total{" LABELS "} 5\n"));
	assert_non_null(strstr(content, "_bucket{" LABELS ",le=\"1e-06\"} 1\n"));
	assert_non_null(strstr(content, "_bucket{" LABELS ",le=\"2e-06\"} 2\n"));
	assert_non_null(strstr(content, "_bucket{" LABELS ",le=\"1\"} 3\n"));
	assert_non_null(strstr(content, "_bucket{" LABELS ",le=\"+Inf\"} 5\n"));
	assert_non_null(strstr(content, "_count{" LABELS "} 5\n"));
	assert_non_null(strstr(content, "_sum{" LABELS "} 10.000002499\n"));
	assert_non_null(strstr(content, "rant_last_run_sent_packets{" LABELS "} 5\n"));
	assert_non_null(strstr(content, "rant_last_run_samples{" LABELS "} 3\n"));
	/* A file that is written twice in a run has its counts once. */
	assert_string_equal(go_on(), "");
	prometheus_look(&p);
	run(1, NULL, 0);
	assert_non_null(strstr(content, "rant_sent_total{" LABELS "} 13\n"));
}

/* A file of another interface is another series, which ends when its file is replaced. */
static void another_series_is_not_added(void **state)
{
	(void)state;
	run(7, NULL, 0);
	options.interface = "veth00";
	assert_string_equal(go_on(), "");
	run(1, NULL, 0);
	assert_non_null(strstr(content, "rant_sent_total{role=\"reflect\",interface=\"veth00\","));
	assert_non_null(strstr(content, ",interface=\"veth00\",server=\"\",port=\"0\"} 1\n"));
}

static void write_changed(const char *from, const char *to)
{
	char *at = strstr(content, from);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_non_null(at);
	fprintf(f, "%.*s%s%s", (int)(at - content), content, to, at + strlen(from));
	fclose(f);
}

/* By class, and only if traces are saved. All classes are there from the start. */
static void causes_of_breaches(void **state)
{
	static struct result_causes causes;
	struct why w = { .class = OWNER_THREAD, .named = 1, .part = { { .class = OWNER_THREAD, .name = "a\"b" } } };

	(void)state;
	assert_string_equal(go_on(), "");
	run(7, NULL, 0);
	assert_null(strstr(content, "rant_breach_causes_total"));
	options.save_trace_path = "/var/tmp";
	prometheus_look(&p);
	assert_non_null(strstr(read_back(), "rant_breach_causes_total{" LABELS ",cause=\"thread\"} 0\n"));
	for (int i = 0; i < CAUSE_CLASSES; i++)
		assert_non_null(strstr(content, cause_words[i].id));
	causes_count(&causes, &w);
	snprintf(w.part[0].name, sizeof(w.part[0].name), "another");
	causes_count(&causes, &w);
	causes_count_not_explained(&causes, 3);
	result.causes = &causes;
	run(7, NULL, 0);
	assert_non_null(strstr(content, "rant_breach_causes_total{" LABELS ",cause=\"thread\"} 2\n"));
	assert_non_null(strstr(content, "rant_breach_causes_total{" LABELS ",cause=\"not_explained\"} 3\n"));
	assert_non_null(strstr(content, "rant_breach_causes_total{" LABELS ",cause=\"softirq\"} 0\n"));
	assert_null(strstr(content, "another"));
	assert_string_equal(go_on(), "");
	run(1, NULL, 0);
	assert_non_null(strstr(content, "rant_breach_causes_total{" LABELS ",cause=\"thread\"} 4\n"));
	/* A run without traces keeps the counters. */
	options.save_trace_path = NULL;
	result.causes = NULL;
	assert_string_equal(go_on(), "");
	run(1, NULL, 0);
	assert_non_null(strstr(content, "rant_breach_causes_total{" LABELS ",cause=\"thread\"} 4\n"));
	assert_non_null(strstr(content, "rant_breach_causes_total{" LABELS ",cause=\"not_explained\"} 6\n"));
}

/* The longest labels: the text has room. */
static void longest_file(void **state)
{
	(void)state;
	options.interface = "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"";
	options.save_trace_path = "/var/tmp";
	for (int role = 0; role < 2; role++) {
		options.role = role ? ROLE_EMIT : ROLE_REFLECT;
		options.stamp_every = 2;
		run(1, NULL, 0);
		assert_non_null(strstr(content, "rant_last_run_end_time_seconds{"));
		assert_in_range(strlen(content), 1, TEXT_BYTES / 4 * 3);
	}
}

/* Whatever a file has been changed to, nothing of it is taken, and a line says so. */
static void a_file_that_rant_has_not_written(void **state)
{
	static const char *const changes[][2] = {
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} -7\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} 7.5\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} NaN\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} 7 1\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} \n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} 18446744073709551615\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} 1000000000000000001\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS ",a=\"b\"} 7\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total{" LABELS "} 7\nrant_sent_total{" LABELS "} 7\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total 7\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "node_sent_total{" LABELS "} 7\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "rant_sent_total} {\n" },
		{ "rant_sent_total{" LABELS "} 7\n", "\n" },
		{ "le=\"1e-06\"} 1\n", "le=\"1e-06\"} 3\n" },
		{ "le=\"1e-06\"} 1\n", "le=\"+Inf\"} 1\n" },
		{ "le=\"+Inf\"} 2\n", "le=\"7\"} 2\n" },
		{ "le=\"+Inf\"} 2\n", "le=\"+Inf\"} 1\n" },
		{ "_seconds_count{" LABELS "} 2\n", "_seconds_count{" LABELS "} 3\n" },
		{ "_seconds_count{" LABELS "} 2\n", "_seconds_count{" LABELS "} 2\n"
		  "rant_response_seconds_count{" LABELS "} 2\n" },
		{ "_sum{" LABELS "} 3.000001000\n", "_sum{" LABELS "} 3\n" },
		{ "_sum{" LABELS "} 3.000001000\n", "_sum{" LABELS "} -3.000001000\n" },
		{ "_sum{" LABELS "} 3.000001000\n", "_sum{" LABELS "} 9999999999999999999.000000000\n" },
		{ "# HELP rant_response", "x\n# HELP rant_response" },
		{ "\nrant_last_run_samples{", "\nrant_" },
		{ "cause=\"thread\"} 0\n", "cause=\"threads\"} 0\n" },
		{ "cause=\"thread\"} 0\n", "cause=\"irq\"} 0\n" },
		{ "cause=\"thread\"} 0\n", "cause=\"thread\"} 0.5\n" },
		{ ",cause=\"thread\"} 0\n", "} 0\n" },
	};

	(void)state;
	options.save_trace_path = "/var/tmp";
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		unlink(path);
		assert_string_equal(go_on(), "");
		run(7, (const int64_t[]){ 1000, 3000000000 }, 2);
		write_changed(changes[i][0], changes[i][1]);
		if (!strstr(go_on(), "is not what rant writes, so its counters begin at 0\n"))
			fail_msg("taken: %s", changes[i][1]);
		run(5, NULL, 0);
		assert_non_null(strstr(content, "rant_sent_total{" LABELS "} 5\n"));
		assert_non_null(strstr(content, "_count{" LABELS "} 0\n"));
	}
}

static void files_without_lines(void **state)
{
	FILE *f;

	(void)state;
	run(7, NULL, 0);
	f = fopen(path, "w"); /* empty */
	fclose(f);
	assert_non_null(strstr(go_on(), "line 1 is not what rant writes"));
	f = fopen(path, "w");
	for (int i = 0; i < 100000; i++)
		fputc('#', f);
	fclose(f);
	assert_non_null(strstr(go_on(), "is not a file that rant writes, so its counters begin at 0\n"));
	f = fopen(path, "w");
	fwrite("#\0\n", 1, 3, f);
	fclose(f);
	assert_non_null(strstr(go_on(), "is not a file that rant writes"));
	run(3, NULL, 0);
	assert_non_null(strstr(content, "rant_sent_total{" LABELS "} 3\n"));
}

/* The percentiles of the last run are there at its end. */
static void gauges_of_the_last_run(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		histogram_add(&histogram, i < 990 ? 5000 : 250000, i);
	histogram_finish(&histogram);
	prometheus_look(&p);
	assert_null(strstr(read_back(), "rant_last_run_latency_seconds"));
	run(1000, NULL, 0);
	assert_non_null(strstr(content, "rant_last_run_latency_seconds{" LABELS ",percent=\"50\"} 0.000005000\n"));
	assert_non_null(strstr(content, "rant_last_run_latency_seconds{" LABELS ",percent=\"99.9\"} 0.000250000\n"));
	assert_non_null(strstr(content, "rant_last_run_latency_seconds{" LABELS ",percent=\"100\"} 0.000250000\n"));
	assert_non_null(strstr(content, "rant_last_run_end_time_seconds{" LABELS "} 1"));
}

/* Every metric has a sentence of its own, not the fallback. */
static void help_texts(void **state)
{
	(void)state;
	for (int role = 0; role < 2; role++) {
		options.role = role ? ROLE_EMIT : ROLE_REFLECT;
		options.stamp_every = 2;
		run(1, NULL, 0);
		assert_null(strstr(content, "of the report."));
		for (const char *line = content; (line = strstr(line, "# HELP ")); line++)
			assert_true(strcspn(line, ".") < strcspn(line, "\n"));
	}
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(an_edge_is_in_its_bucket), TEST(it_is_replaced_when_it_is_time),
					    TEST(a_place_that_goes_is_reported_once), TEST(names_are_escaped),
					    TEST(no_verdict_before_the_end), TEST(counters_go_on_from_the_file),
					    TEST(another_series_is_not_added), TEST(causes_of_breaches),
					    TEST(longest_file), TEST(a_file_that_rant_has_not_written),
					    TEST(files_without_lines), TEST(gauges_of_the_last_run), TEST(help_texts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
