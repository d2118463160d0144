// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of seconds and of breaches. */
#include "report/export/jsonl.h"

#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/report.h"
#include "result/result.h"

/* ---- A line ------------------------------------------------------------------------------------------------------ */

struct json *jsonl_begin_line(struct jsonl *l, const char *type)
{
	struct json *j = &l->json;

	json_begin(j, log_file_put, l->file, true);
	json_object(j, NULL);
	json_text(j, "type", type);
	return j;
}

/* Write errors are reported by the file. */
void jsonl_end_line(struct jsonl *l)
{
	json_end(&l->json);
	json_finish(&l->json);
}

/* ---- A second ---------------------------------------------------------------------------------------------------- */

/* Buckets have the width of the printed buckets, because a line of finer buckets would be too long. Seconds that are
 * known by their buckets only keep their buckets. */
void jsonl_second(struct jsonl *l, const struct second *s)
{
	const int64_t width_ns = s->again && s->again->has_buckets ? 0 : l->report->options->bucket_ns;
	struct json *j = jsonl_begin_line(l, "second");

	second_put(j, s);
	json_integer_if(j, "bucket_ns", width_ns, width_ns);
	second_put_buckets(j, s, width_ns);
	jsonl_end_line(l);
}

/* ---- Breaches ---------------------------------------------------------------------------------------------------- */

static void write_breach(void *lines, const struct sample *s, uint64_t number)
{
	struct jsonl *l = lines;
	struct json *j = jsonl_begin_line(l, "breach");

	json_breach(j, "breach", l->report, s, number + 1, false);
	jsonl_end_line(l);
}

/* ---- Doors ------------------------------------------------------------------------------------------------------- */

void jsonl_open(struct jsonl *l, const struct report *r, struct log_file *file)
{
	*l = (struct jsonl){ .report = r, .file = file };
	l->breaches = (struct breach_printer){ .result = r->result, .act = write_breach, .context = l };
}

void jsonl_begin(struct jsonl *l)
{
	struct json *j = jsonl_begin_line(l, "configuration");

	json_origin(j);
	json_run(j, l->report, false);
	json_configuration(j, l->report);
	json_host(j, l->report);
	jsonl_end_line(l);
}

void jsonl_look(struct jsonl *l)
{
	breach_print(&l->breaches);
}

void jsonl_end(struct jsonl *l, int status)
{
	const struct report *r = l->report;
	const struct read *read = r->result->read;
	struct json *j = jsonl_begin_line(l, "summary");

	json_run(j, r, true);
	json_integer(j, "exit_status", status);
	json_verdict(j, r);
	json_clocks(j, r);
	json_accounts(j, r);
	json_statistics(j, r, false);
	if (read) {
		json_integer_if(j, "breaches_not_told", read->has_accounts,
				(int64_t)counter_get(&r->result->account.breaches));
		json_read_from(j, read);
	} else {
		json_count(j, "breaches_not_told", l->breaches.missed);
	}
	jsonl_end_line(l);
}
