/* build: sources=report/verdict/verdict_finding.c,report/text/account.c,report/export/json.c,report/text/label.c,report/log/log_file.c,report/log/log_mend.c,histogram.c,@result,wire/[a-z]*.c,host/process/memory.c,host/counters/pmc.c,host/clock/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The file for node_exporter: its buckets, when it is replaced, and that a name of an interface cannot break it. */
#include "report/export/prometheus.c"

#include "fake_report.h"

#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/rant-prometheus-XXXXXX/rant.prom";
static struct prometheus p;
static struct tally tally;
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
	report.tally = &tally;
	assert_int_equal(prometheus_open(&p, &report, &tally), 0);
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

static void a_place_that_goes_is_told_once(void **state)
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

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(an_edge_is_in_its_bucket), TEST(it_is_replaced_when_it_is_time),
					    TEST(a_place_that_goes_is_told_once), TEST(names_are_escaped),
					    TEST(no_verdict_before_the_end) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
