/* build: sources=result/take*.c,analyse/[a-q]*.c,analyse/run_acco*.c,analyse/run_[b-z]*.c,analyse/runs.c,analyse/results.c,analyse/seconds.c,analyse/tree.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON of a run is written, read and written again: the same members, and the same sections of the report. */
#include "analyse/run_activity.c"

#include "fake_report.h"
#include "results_files.h"

#include "analyse/outcome.h"
#include "analyse/runs.h"
#include "report/export/json_parts.h"
#include "report/text/machine.h"

/* ---- The way of a result ------------------------------------------------------------------------------------------ */

static int append(void *out, const char *from, size_t bytes)
{
	return fwrite(from, 1, bytes, out) == bytes ? 0 : -EIO;
}

/* The members in one line; the caller frees it. */
static char *json_of(void (*write_members)(struct json *j, const struct report *r), const struct report *r)
{
	static struct json j;
	size_t bytes;
	char *to;
	FILE *out = open_memstream(&to, &bytes);

	json_begin(&j, append, out, true);
	json_object(&j, NULL);
	write_members(&j, r);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	fclose(out);
	return to;
}

static char *text_of(void (*write_section)(FILE *out, const struct report *r), const struct report *r)
{
	size_t bytes;
	char *to;
	FILE *out = open_memstream(&to, &bytes);

	write_section(out, r);
	fclose(out);
	return to;
}

static void write_run(struct json *j, const struct report *r)
{
	json_origin(j);
	json_whole(j, r, 0);
}

/* 0 or -errno; said[] receives the text on stderr. */
static int read_again(struct outcome **o, const char *json)
{
	FILE *file = file_of(json, strlen(json));
	struct read_file *f;
	int error;

	*o = outcome_open(&(struct options){ .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US, .verbose = true });
	assert_non_null(*o);
	catch();
	f = outcome_add_file(*o, "run.json", file, "json");
	error = f ? runs_add(*o, file, f, NULL) : -EINVAL;
	caught_text();
	fclose(file);
	if (!error)
		outcome_finish(*o);
	return error;
}

static struct outcome *again(void)
{
	char *json = json_of(write_run, &report);
	struct outcome *o;
	const int error = read_again(&o, json);

	if (error)
		fail_msg("%s%s", said, json);
	free(json);
	return o;
}

static void assert_same(char *from, char *now)
{
	if (strcmp(from, now))
		fail_msg("\n%s\nis after reading\n%s", from, now);
	free(from);
	free(now);
}

static void set(counter *c, uint64_t n)
{
	atomic_store_explicit(c, n, memory_order_relaxed);
}

/* A joined run of an emitter whose counters add up. */
static int set_up_run(void **state)
{
	struct account *a = &result.account;

	set_up(state);
	options.verbose = true;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	histogram_finish(&histogram);
	for (int i = 0; i < FOLLOW_UPS; i++)
		set(&a->follow_up[i], 0);
	set(&a->recorded, histogram.count);
	set(&a->sent, histogram.count);
	set(&a->answered, histogram.count);
	set(&a->received, histogram.count);
	set(&a->follow_up[FOLLOW_UP_THERE], histogram.count);
	return 0;
}

/* ---- Activity ---------------------------------------------------------------------------------------------------- */

static struct result_differences differences_of(size_t count)
{
	static struct result_difference list[DIFFERENCES_SHOWN + 7];
	static const struct result_difference some[] = {
		{ "CPU 3", "interrupt \"45\" eth0", "", ACTIVITY_COUNTED, .delta = UINT64_C(1) << 60 },
		{ "CPU 3", "frequency", "MHz", ACTIVITY_CHANGED, .from = 3600, .to = 2400 },
		{ "NIC", "rx_errors", "", ACTIVITY_RESET, .from = 7, .to = 1 },
		{ "NIC", "rx_missed", "packets", ACTIVITY_GONE, .from = 8 },
	};

	for (size_t i = 0; i < COUNT_OF(list); i++)
		list[i] = some[i % COUNT_OF(some)];
	return (struct result_differences){ .known = true, .count = count, .list = list };
}

static void assert_same_activity(void)
{
	struct outcome *o = again();

	assert_same(json_of(json_machine, &report), json_of(json_machine, &o->report));
	assert_same(text_of(machine_write_activity, &report), text_of(machine_write_activity, &o->report));
	outcome_close(o);
}

static void activity_of_the_machine(void **state)
{
	struct result_activity *a = &result.activity;

	(void)state;
	*a = (struct result_activity){ .is_read = true, .cpu = 3, .run = differences_of(0) };
	assert_same_activity();
	a->run = differences_of(4);
	assert_same_activity();
	a->unreadables = 1;
	strcpy(a->unreadable[0], "/proc/interrupts: Permission denied");
	a->counters_left_out = 3;
	a->unreadables_left_out = 2;
	a->until_breach = differences_of(3);
	a->until_breach.mark[1] = 17;
	assert_same_activity();
	options.keep_going = true;
	a->before_worst = differences_of(2);
	a->before_worst.mark[0] = 18;
	a->before_worst.mark[1] = 19;
	assert_same_activity();
	/* Longer than a report shows. */
	a->run = differences_of(DIFFERENCES_SHOWN + 7);
	a->before_worst = differences_of(DIFFERENCES_SHOWN + 5);
	assert_same_activity();
}

/* Another version of rant may know other words; a list cannot be longer than a report shows. */
static void wrong_activity(void **state)
{
	static const char *const wrong[][2] = {
		{ "\"changed\"", "\"grown\"" }, { "\"count\":1152921504606846976", "\"count\":-1" },
		{ "\"left_out_each\":[0,", "\"left_out_each\":[1," }, { "\"not_read\":0", "\"not_read\":65536" },
		{ "\"until_first_breach\":null", "\"until_first_breach\":7" },
		{ "\"first_breach_read_after\":null", "\"first_breach_read_after\":\"x\"" },
	};
	char *json;

	(void)state;
	result.activity = (struct result_activity){ .is_read = true, .run = differences_of(2) };
	json = json_of(write_run, &report);
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		const char *at = strstr(json, wrong[i][0]);
		struct outcome *o;
		char *changed;

		if (!at)
			fail_msg("no %s in %s", wrong[i][0], json);
		assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - json), json, wrong[i][1],
				     at + strlen(wrong[i][0])) > 0);
		assert_int_equal(read_again(&o, changed), -EINVAL);
		assert_string_equal(said, "test_results_again: run.json: activity is not valid: give a file that --json has written\n");
		outcome_close(o);
		free(changed);
	}
	free(json);
}

#define TEST_RUN(test) cmocka_unit_test_setup_teardown(test, set_up_run, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_RUN(activity_of_the_machine),
		TEST_RUN(wrong_activity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
