// SPDX-License-Identifier: GPL-2.0-or-later
/* Outputs per second. */
#include "report/export/by_second.h"

#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/report.h"
#include "report/verdict/steadiness.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

/* 270 kB, which a run without such outputs need not lock. */
static int open_confidence(struct by_second *b)
{
	b->confidence = calloc(1, sizeof(*b->confidence));
	if (b->confidence)
		return 0;
	warnx("no memory for outputs per second (%zu bytes): leave them out", sizeof(*b->confidence));
	return -ENOMEM;
}

int by_second_open(struct by_second *b, const struct report *r)
{
	const struct options *from = r->options;
	int error = 0;

	b->is_goal = from->until_known.denominator;
	if (from->json_path)
		error = log_file_open_of(&b->json, "json", from->json_path);
	if (!error && from->jsonl_path)
		error = log_file_open_of(&b->lines_file, "jsonl", from->jsonl_path);
	if (!error && from->hlog_path)
		error = log_file_open_of(&b->hlog_file, "hlog", from->hlog_path);
	if (!error && b->hlog_file.path)
		error = hlog_open(&b->hlog, r, &b->hlog_file);
	if (!error && b->lines_file.path)
		jsonl_open(&b->lines, r, &b->lines_file);
	if (!error && by_second_is_wanted(b))
		error = open_confidence(b);
	return error;
}

void by_second_begin_json(struct by_second *b, bool seconds)
{
	struct json *j = &b->writer;

	json_begin(j, log_file_put, &b->json, false);
	json_object(j, NULL);
	json_origin(j);
	if (seconds)
		json_array(j, "seconds");
	else
		json_null(j, "seconds");
}

/* Each second is one line, written when it ends. */
static void write_element(struct json *j, const struct second *s)
{
	json_row(j, NULL);
	second_put(j, s);
	second_put_buckets(j, s, 0);
	json_end(j);
	json_flush(j);
}

static void add_level(struct levels *l, const struct second *s)
{
	l->of_several |= s->again && s->again->run > 1;
	steadiness_add(l, s->from_ns - s->start_ns, s->values, second_percentile_ns(s, SECOND_P50),
		       second_percentile_ns(s, SECOND_P99));
}

void by_second_pass_on(struct by_second *b)
{
	if (b->lines_file.path)
		jsonl_second(&b->lines, &b->second);
	if (b->json.path)
		write_element(&b->writer, &b->second);
	if (b->hlog_file.path)
		hlog_second(&b->hlog, &b->second);
	add_level(&b->levels, &b->second);
	if (!b->levels.of_several)
		confidence_add(b->confidence, b->second.value, b->second.values);
	second_next(&b->second);
}

int by_second_finish_json(struct by_second *b)
{
	int error;

	if (!b->json.path)
		return 0;
	error = json_finish(&b->writer);
	if (error == -EINVAL && !b->json.error)
		warnx("--json %s: the text is not valid JSON, which is a fault of rant: please report it",
		      b->json.path);
	return error | log_file_finish(&b->json);
}

int by_second_finish_lines(struct by_second *b)
{
	return b->lines_file.path ? log_file_finish(&b->lines_file) : 0;
}

int by_second_finish_hlog(struct by_second *b)
{
	if (!b->hlog_file.path)
		return 0;
	hlog_end(&b->hlog);
	return log_file_finish(&b->hlog_file);
}

void by_second_cut_off(struct by_second *b)
{
	log_file_cut_off(&b->json);
	log_file_cut_off(&b->lines_file);
	log_file_cut_off(&b->hlog_file);
}

void by_second_close(struct by_second *b)
{
	log_file_discard(&b->json);
	log_file_discard(&b->lines_file);
	log_file_discard(&b->hlog_file);
	hlog_close(&b->hlog);
	second_close(&b->second);
	free(b->confidence);
	b->confidence = NULL;
}
