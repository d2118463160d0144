// SPDX-License-Identifier: GPL-2.0-or-later
/* A line a second, and a line a breach. */
#include "report/jsonl.h"

#include "options.h"
#include "report/json_parts.h"
#include "report/report.h"

/* ---- A line ---------------------------------------------------------------------------------------------------------- */

/* A new object, of this type. */
static struct json *begin_line(struct jsonl *l, const char *type)
{
	struct json *j = &l->json;

	json_begin(j, log_file_put, l->file, true);
	json_object(j, NULL);
	json_text(j, "type", type);
	return j;
}

/* What cannot be written, the file has said. */
static void end_line(struct json *j)
{
	json_end(j);
	json_finish(j);
}

/* ---- A second -------------------------------------------------------------------------------------------------------- */

/* The buckets are of the width of those that are printed: finer ones would be too many for a line. */
void jsonl_second(struct jsonl *l, const struct second *s)
{
	const int64_t width_ns = l->report->options->bucket_ns;
	struct json *j = begin_line(l, "second");

	second_put(j, s);
	json_integer(j, "bucket_ns", width_ns);
	second_put_buckets(j, s, width_ns);
	end_line(j);
}

/* ---- Breaches -------------------------------------------------------------------------------------------------------- */

static void write_breach(void *lines, const struct sample *s, uint64_t number)
{
	struct jsonl *l = lines;
	struct json *j = begin_line(l, "breach");

	json_breach(j, "breach", l->report, s, number + 1, false);
	end_line(j);
}

/* ---- Doors ----------------------------------------------------------------------------------------------------------- */

void jsonl_open(struct jsonl *l, const struct report *r, struct log_file *file)
{
	*l = (struct jsonl){ .report = r, .file = file };
	l->breaches = (struct breach_teller){ .exchange = r->exchange, .act = write_breach, .context = l };
}

void jsonl_begin(struct jsonl *l)
{
	struct json *j = begin_line(l, "configuration");

	json_text(j, "format", "rant");
	json_integer(j, "schema_version", JSON_SCHEMA_VERSION);
	json_text(j, "rant_version", RANT_VERSION);
	json_run(j, l->report, false);
	json_configuration(j, l->report);
	json_host(j, l->report);
	end_line(j);
}

void jsonl_look(struct jsonl *l)
{
	breach_tell(&l->breaches);
}

void jsonl_end(struct jsonl *l, int status)
{
	const struct report *r = l->report;
	struct json *j = begin_line(l, "summary");

	json_run(j, r, true);
	json_integer(j, "exit_status", status);
	json_verdict(j, r);
	json_clocks(j, r);
	json_accounts(j, r);
	json_statistics(j, r, false);
	json_count(j, "breaches_not_told", l->breaches.missed);
	end_line(j);
}
