/* build: sources=analyse/[a-z]*.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* All that --report and --compare make of files: their texts, and each file that they write. */
#include "analyse/results.c"

#include "golden.h"
#include "results_run.h"

#define TEXT_BYTES 16384

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

/* ---- What is read ------------------------------------------------------------------------------------------------ */

/* Two samples of one value: what is known of a figure besides its name. */
static size_t put_figure(char *to, size_t bytes, const char *name, int64_t value_ns, int64_t within_ns)
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

/* results_run with figures more, and `from` replaced where it is first. */
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
		used += put_figure(text + used, sizeof(text) - used, names[i], 1000 * (int64_t)(i + 1) + which,
				   7 * (int64_t)(i + 1));
	snprintf(text + used, sizeof(text) - used, "%s", at);
	assert_non_null(file);
	changed = strstr(text, from);
	assert_non_null(changed);
	fprintf(file, "%.*s%s%s", (int)(changed - text), text, to, changed + strlen(from));
	fclose(file);
}

/* ---- What is made of it ------------------------------------------------------------------------------------------ */

/* Without what is another with each version; what is deep inside stands behind what it is in. */
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
	write_run(0, "\"ttl\": 255", "\"ttl\": 255, \"timeout_why\": null, \"quiet\": true");
	run(&(struct options){ .report = true, .histogram = true, .json_path = "json", .jsonl_path = "jsonl" }, 1,
	    STATUS_DONE);
	show("json");
	show("jsonl");
}

static void two_runs_together(void **state)
{
	(void)state;
	write_run(0, "\"lost\": 2", "\"lost\": 2");
	write_run(1, "1773883524780127138", "1773883624780127138");
	run(&(struct options){ .report = true, .json_path = "json" }, 2, STATUS_DONE);
	show("json");
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(everything_of_one_run),
					    cmocka_unit_test(two_runs_together),
					    cmocka_unit_test(one_beside_the_other) };

	return golden_run_group(tests, enter_folder, leave_folder);
}
