// SPDX-License-Identifier: GPL-2.0-or-later
/* --report: detects the form of each file, reads the files and writes the outputs. */
#include "analyse/results.h"

#include "analyse/blocks.h"
#include "analyse/compare.h"
#include "analyse/logs.h"
#include "analyse/outcome.h"
#include "analyse/output.h"
#include "analyse/runs.h"
#include "analyse/seconds.h"
#include "report/text/status.h"
#include "report/verdict/steadiness.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

struct input {
	FILE *file;
	enum log_look look;
};

/* A file that only looks like a log or JSON is refused when it is read. */
static FILE *open_file(const char *path, enum log_look *look)
{
	FILE *file = outcome_open_file(path);

	if (!file)
		return NULL;
	*look = log_read_look(file);
	if (*look != LOG_LOOK_EMPTY && *look != LOG_LOOK_FOREIGN)
		return file;
	warnx("%s: %s: give a log, or what --json has written", path,
	      *look == LOG_LOOK_EMPTY ? "is empty" : "is neither a log nor JSON of rant");
	fclose(file);
	return NULL;
}

static int open_all(struct outcome *o, struct input *input)
{
	for (int i = 0; i < o->options.files; i++) {
		const char *path = o->options.file[i];

		input[i].file = open_file(path, &input[i].look);
		if (!input[i].file ||
		    !outcome_add_file(o, path, input[i].file,
				      input[i].look == LOG_LOOK_JSON ? "json" : log_forms[input[i].look].name))
			return -EINVAL;
		if ((input[i].look == LOG_LOOK_JSON) == (input[0].look == LOG_LOOK_JSON))
			continue;
		warnx("%s and %s: a log and JSON cannot be combined: give files of one kind", o->options.file[0], path);
		return -EINVAL;
	}
	return 0;
}

static int read_logs(struct outcome *o, const struct input *input)
{
	const unsigned n = o->read.files;
	struct log_read *log = calloc(n, sizeof(*log));
	int error = 0;

	if (!log) {
		warnx("no memory for %u logs", n);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < n && !error; i++)
		error = log_read_open(&log[i], input[i].file, o->read.file[i].path, (enum log_format)input[i].look);
	if (!error && n == 2 && log[0].names.role != log[1].names.role) {
		const unsigned e = log[0].names.role != ROLE_EMIT;

		error = logs_join(o, &log[e], &log[!e], &o->read.file[e], &o->read.file[!e]);
	} else if (!error) {
		error = logs_add(o, log, n);
	}
	free(log);
	return error;
}

static int print_blocks(struct outcome *o, const struct blocks *b)
{
	seconds_begin(o->seconds, !b->unknown);
	if (!b->unknown)
		return seconds_pass_on(o->seconds, b);
	fputs("  Not all files have seconds, so no output has any\n", o->notes);
	return 0;
}

static void add_levels(struct levels *l, const struct blocks *b)
{
	l->of_several = b->unknown || b->runs != 1;
	for (size_t i = 0; i < b->blocks && !l->of_several; i++) {
		const struct block *one = &b->block[i];

		steadiness_add(l, one->from_ns, one->samples, one->percentile_ns[SECOND_P50],
			       one->percentile_ns[SECOND_P99]);
	}
}

/* A log has levels only where an output by the second is made of it. */
static void find_level_changes(struct outcome *o, const struct levels *l)
{
	char text[256] = "";

	steadiness_find(&o->result.level_changes, l);
	steadiness_say(text, sizeof(text), &o->result.level_changes);
	if (*text)
		fprintf(o->notes, "  The level changed: %s\n", text);
}

static int read_runs(struct outcome *o, const struct input *input)
{
	struct blocks blocks = { .block = NULL };
	int error = 0;

	for (unsigned i = 0; i < o->read.files && !error; i++)
		error = runs_add(o, input[i].file, &o->read.file[i], &blocks);
	if (!error) {
		struct levels levels = { .stretches = 0 };

		add_levels(&levels, &blocks);
		find_level_changes(o, &levels);
	}
	if (!error && o->seconds)
		error = print_blocks(o, &blocks);
	blocks_free(&blocks);
	return error;
}

static int read_all(struct outcome *o, const struct input *input)
{
	const bool is_json = input[0].look == LOG_LOOK_JSON;
	int error = is_json ? read_runs(o, input) : read_logs(o, input);

	if (!error && o->seconds)
		seconds_end(o->seconds);
	if (!error && o->seconds && !is_json)
		find_level_changes(o, &o->seconds->to->levels);
	return error;
}

static int write_all(struct output_files *f, struct outcome *o)
{
	FILE *out = o->report.stdout_taken ? stderr : stdout;

	outcome_finish(o);
	if (!o->options.quiet)
		outcome_write(out, o, report_columns(out));
	if (fflush(out) || ferror(out)) {
		warnx("the report could not be written (%s)", strerror(errno));
		return -EIO;
	}
	return output_write(f, o);
}

static int report(const struct options *options)
{
	struct output_files output = OUTPUT_CLOSED;
	struct input *input = calloc((size_t)options->files, sizeof(*input));
	struct outcome *o = input ? outcome_open(options) : NULL;
	int error = o ? open_all(o, input) : -ENOMEM;

	if (!error)
		error = output_open(&output, o);
	if (!error)
		error = read_all(o, input);
	if (!error)
		error = outcome_check_buckets(o);
	if (!error)
		error = write_all(&output, o);
	output_close(&output);
	for (int i = 0; input && i < options->files; i++)
		if (input[i].file)
			fclose(input[i].file);
	outcome_close(o);
	free(input);
	return error ? STATUS_FAILED : STATUS_DONE;
}

int results_main(const struct options *o)
{
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is reported as an error of write(), and no partial file is left */
	signal(SIGXFSZ, SIG_IGN); /* the same at the file size limit (ulimit -f) */
	return o->compare ? compare_main(o) : report(o);
}
