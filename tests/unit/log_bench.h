/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs without a file: output of each format for the records in the ring. A test includes its module first,
 * then this file; it is linked with all formats.
 */
#ifndef LOG_BENCH_H
#define LOG_BENCH_H

#include "fake_report.h"

#include "report/log/log_form.h"

static inline int set_up_log(void **state)
{
	set_up(state);
	place_records(RECORDS, false, false);
	return 0;
}

/* An emitter with a full log. split: with all times of user space. */
static inline void full_log(enum source local, enum source remote, bool split, uint64_t capacity)
{
	joined_run(local, remote, split);
	options.log_full = true;
	place_records(capacity, false, true);
}

/* The exact space of a writer; earlier contents show octets that were not written. */
static inline void put_exact(FILE *out, size_t space, const struct log_form *form, struct log_columns *c,
			     const struct sample *s)
{
	char *at = malloc(space), *end;

	memset(at, '?', space);
	end = s ? form->record(at, c, s, 0) : form->begin(at, c, 0);
	fwrite(at, 1, (size_t)(end - at), out);
	free(at);
}

/* A file with all that is in the ring, in `text`. */
static inline const char *logged_as(enum log_format format)
{
	struct log_columns c;
	size_t bytes;

	free(text);
	FILE *out = open_memstream(&text, &bytes);

	log_columns_choose(&c, &options, result.remote);
	put_exact(out, LOG_BEGIN_BYTES, &log_forms[format], &c, NULL);
	for (uint64_t i = 0; i < log_ready(&transactions); i++)
		put_exact(out, LOG_RECORD_BYTES, &log_forms[format], &c, log_at(&transactions, i));
	fclose(out);
	return text;
}

/* The fields of the last line. */
static inline const char *last_fields(enum log_format format)
{
	static char fields[512];
	char *line = (char *)logged_as(format);

	line[strlen(line) - 1] = '\0';
	line = strrchr(line, '\n') + 1;
	*fields = '\0';
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		sprintf(fields + strlen(fields), "%s%s", *fields ? " " : "", word);
	return fields;
}

#endif
