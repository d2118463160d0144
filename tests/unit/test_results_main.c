/* build: sources=analyse/[a-z]*.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* --report and --compare as a whole: texts and output files. */
#include "analyse/results.c"

#include "golden.h"
#include "results_run.h"

#define TEXT_BYTES 32768

static char folder[] = "/tmp/rant-results-XXXXXX";
static char *files[] = { "first.json", "second.json" };
static int origin;

static int enter_folder(void **state)
{
	(void)state;
	origin = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return origin < 0 || !mkdtemp(folder) || chdir(folder) ? errno : 0;
}

static int leave_folder(void **state)
{
	static const char *const made[] = { "first.json", "second.json", "text", "json", "jsonl" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(made); i++)
		unlink(made[i]);
	return fchdir(origin) || close(origin) ? errno : rmdir(folder);
}

/* ---- Input files ------------------------------------------------------------------------------------------------- */

/* A statistic with two samples of the same value. */
static size_t put_metric(char *to, size_t bytes, const char *name, int64_t value_ns, int64_t within_ns)
{
	return (size_t)snprintf(to, bytes,
				"\"%s\": {\"formula\": null, \"within_ns\": %lld, \"samples\": 2, \"negative\": 0, "
				"\"min_ns\": %lld, \"min_seq\": 3, "
				"\"max_ns\": %lld, \"max_seq\": 4, \"mean_ns\": %lld, \"stddev_ns\": 0, \"sum_ns\": "
				"%lld, \"percentiles\": [], "
				"\"histogram\": {\"bucket_ns\": 1, \"overflow_from_ns\": 100000, \"overflow_samples\": "
				"0, \"overflow_not_kept\": 0, "
				"\"buckets\": [[%lld, 2]], \"overflow\": []}},\n", name, (long long)within_ns,
				(long long)value_ns, (long long)value_ns,
				(long long)value_ns, 2 * (long long)value_ns, (long long)value_ns);
}

/* Writes results_run with more statistics, and the first `from` replaced by `to`. */
static void write_run(int which, const char *from, const char *to)
{
	static const char *const names[] = { "network_ns", "forward_ns", "backward_ns", "sent_late_ns",
					     "rtt_from_slot_ns" };
	static const char start[] = "\"statistics\": {";
	const char *const at = strstr(results_run, start) + strlen(start);
	char text[TEXT_BYTES], *changed;
	size_t used = (size_t)snprintf(text, sizeof(text), "%.*s", (int)(at - results_run), results_run);
	FILE *file = fopen(files[which], "we");

	for (size_t i = 0; i < COUNT_OF(names); i++)
		used += put_metric(text + used, sizeof(text) - used, names[i], 1000 * (int64_t)(i + 1) + which,
				   7 * (int64_t)(i + 1));
	snprintf(text + used, sizeof(text) - used, "%s", at);
	assert_non_null(file);
	changed = strstr(text, from);
	assert_non_null(changed);
	fprintf(file, "%.*s%s%s", (int)(changed - text), text, to, changed + strlen(from));
	fclose(file);
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

/* Leaves out versions and commits. Lines of nested members are joined with the line of their parent. */
static void show_line(const char *line)
{
	static const char *const names[] = { "\"rant_version\":", "\"rant_commit\":" };
	const size_t depth = strspn(line, "\t"), from = depth > 2 ? depth : 0;

	golden("%s", from ? " " : "\n");
	line += from;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *at = strstr(line, names[i]);

		if (!at)
			continue;
		at += strlen(names[i]);
		golden("%.*s?", (int)(at - line), line);
		line = at + strcspn(at, ",\n");
	}
	golden("%.*s", (int)strcspn(line, "\n"), line);
}

static void show(const char *name)
{
	FILE *file = fopen(name, "re");
	char *line = NULL;
	size_t bytes = 0;

	assert_non_null(file);
	golden("\n---- %s ----", name);
	while (getline(&line, &bytes, file) > 0)
		show_line(line);
	free(line);
	fclose(file);
}

static void run(struct options *o, int count, int status)
{
	const int before = dup(STDOUT_FILENO), out = open("text", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	o->bucket_ns = NS_PER_US;
	o->overflow_ns = 100 * NS_PER_US;
	o->file = files;
	o->files = count;
	fflush(stdout);
	assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(results_main(o), status);
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	close(before);
	close(out);
	show("text");
}

static void everything_of_one_run(void **state)
{
	(void)state;
	write_run(0, "\"ttl\": 255, \"overflow_ns\": 100000}}",
		  "\"ttl\": 255, \"timeout_why\": null, \"quiet\": true, \"overflow_ns\": 100000}},\n"
		  "\"wire_time\": {\"probe_ns\": 93, \"frame_bytes\": 142, \"speed_mbps\": 14000}");
	run(&(struct options){ .report = true, .details = true, .histogram = true, .json_path = "json",
		.jsonl_path = "jsonl" }, 1,
	    STATUS_DONE);
	show("json");
	show("jsonl");
}

static void two_runs_together(void **state)
{
	(void)state;
	write_run(0, "\"lost\": 2", "\"lost\": 2");
	write_run(1, "1773883524780127138", "1773883624780127138");
	run(&(struct options){ .report = true, .details = true, .json_path = "json" }, 2, STATUS_DONE);
	show("json");
}

static void one_run_in_brief(void **state)
{
	(void)state;
	write_run(0, "\"lost\": 2", "\"lost\": 2");
	run(&(struct options){ .report = true }, 1, STATUS_DONE);
}

static void one_beside_the_other(void **state)
{
	(void)state;
	write_run(0, "[[5000, 100], [6000, 99]]", "[[5000, 100], [6000, 99]]");
	write_run(1, "\"mean_ns\": 6470, \"stddev_ns\": 13728, \"sum_ns\": 1294000, \"percentiles\": [],\n"
		  "  \"histogram\": {\"bucket_ns\": 1, \"overflow_from_ns\": 100000, \"overflow_samples\": 1, "
		  "\"overflow_not_kept\": 0,\n"
		  "   \"buckets\": [[5000, 100], [6000, 99]]",
		  "\"mean_ns\": 7460, \"stddev_ns\": 13694, \"sum_ns\": 1492000, \"percentiles\": [],\n"
		  "  \"histogram\": {\"bucket_ns\": 1, \"overflow_from_ns\": 100000, \"overflow_samples\": 1, "
		  "\"overflow_not_kept\": 0,\n"
		  "   \"buckets\": [[5000, 1], [6500, 198]]");
	run(&(struct options){ .compare = true, .json_path = "json" }, 2, COMPARE_WORSE);
	show("json");
}

/* Forty more seconds whose level rises by 20 % after the twentieth: the change is in the text and in the JSON. */
static void a_level_that_changes(void **state)
{
	static char seconds[TEXT_BYTES] = "\"seconds\": [";
	FILE *file;
	char *line = NULL;
	size_t bytes = 0;
	bool seen = false;

	(void)state;
	for (int i = 2; i < 42; i++)
		text_add(seconds, sizeof(seconds),
			 "{\"from_ns\": %d000000000, \"to_ns\": %d000000000, \"unix_ns\": %lld, \"sent\": 100, "
			 "\"lost\": 0, \"samples\": 100, \"p50_ns\": %d, \"p99_ns\": %d, \"p99_9_ns\": %d, "
			 "\"max_ns\": %d, \"not_in_percentiles\": 0, \"buckets\": [[%d, 100]]}, ",
			 i, i + 1, 1773883524780127138 + (i + 1) * NS_PER_S, i < 22 ? 5000 : 6000,
			 i < 22 ? 5000 : 6000, i < 22 ? 5000 : 6000, i < 22 ? 5000 : 6000, i < 22 ? 4992 : 5984);
	write_run(0, "\"seconds\": [", seconds);
	run(&(struct options){ .report = true, .details = true }, 1, STATUS_DONE);
	file = fopen("text", "re");
	assert_non_null(file);
	while (getline(&line, &bytes, file) > 0)
		seen |= !strcmp(line, "  The level changed: p50 5.00 to 6.00 us after 22 s, p99 5.00 to 6.00 us after "
				      "22 s\n");
	fclose(file);
	assert_true(seen);
	run(&(struct options){ .report = true, .quiet = true, .json_path = "json" }, 1, STATUS_DONE);
	file = fopen("json", "re");
	assert_non_null(file);
	seen = false;
	while (getline(&line, &bytes, file) > 0)
		seen |= strstr(line, "\"metric\":\"p99\",\"after_ns\":22000000000,\"before_ns\":5000,\"now_ns\":6000") != NULL;
	fclose(file);
	free(line);
	assert_true(seen);
}

/* --strict refuses a doubtful run, --anyway accepts different settings, and a file of --jsonl is named in the
 * error. */
static void refused_or_not(void **state)
{
	struct util_capture capture;
	char said[2048];
	FILE *file;

	(void)state;
	write_run(0, "\"ttl\": 255", "\"ttl\": 255, \"size_bytes\": 64");
	write_run(1, "\"ttl\": 255", "\"ttl\": 255, \"size_bytes\": 128");
	util_capture_begin(&capture);
	run(&(struct options){ .compare = true }, 2, STATUS_FAILED);
	run(&(struct options){ .compare = true, .anyway = true, .strict = true }, 2, STATUS_FAILED);
	run(&(struct options){ .compare = true, .anyway = true, .json_path = "json" }, 2, STATUS_DONE);
	file = fopen(files[0], "we");
	assert_non_null(file);
	fputs("{\"type\":\"configuration\"}\n{\"type\":\"second\"}\n", file);
	fclose(file);
	run(&(struct options){ .report = true }, 1, STATUS_FAILED);
	util_capture_end(&capture, said, sizeof(said));
	golden("\n%s", said);
	show("json");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(everything_of_one_run),
					    cmocka_unit_test(two_runs_together),
					    cmocka_unit_test(one_run_in_brief),
					    cmocka_unit_test(one_beside_the_other),
					    cmocka_unit_test(a_level_that_changes),
					    cmocka_unit_test(refused_or_not) };

	return golden_run_group(tests, enter_folder, leave_folder);
}
