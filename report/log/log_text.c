// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of the log. */
#include "report/log/log_form.h"

#include "report/text/digits.h"
#include "report/text/label.h"

#include <string.h>

#define RULE_WIDTH 150
#define RULE_FULL_WIDTH \
	(LOG_SEQ_WIDTH + KERNEL_RECEIVE * (LOG_TIME_WIDTH + 1) + 5 * (LOG_LATENCY_WIDTH + 1) + LOG_FLAGS_WIDTH + 1)
#define RULE_KERNEL_WIDTH (RULE_FULL_WIDTH + (KERNEL_QUEUE - KERNEL_RECEIVE) * (LOG_TIME_WIDTH + 1))
#define RULE_MOST_WIDTH (RULE_KERNEL_WIDTH + (ALL_TIMES - KERNEL_QUEUE) * (LOG_TIME_WIDTH + 1))
/* a signed 64-bit number: latencies computed from remote times can have any value */
#define NUMBER_MAX_BYTES 20

_Static_assert(RULE_MOST_WIDTH + 5 * (NUMBER_MAX_BYTES - LOG_LATENCY_WIDTH) + 1 <= LOG_RECORD_BYTES, "a record can hold a line");
_Static_assert(2 * (RULE_MOST_WIDTH + 1) <= LOG_BEGIN_BYTES, "the buffer can hold the header");

/* ---- Both text formats ------------------------------------------------------------------------------------------- */

/* Writes the column names, each by `put`: in order, with the flags at the end. */
static char *put_names(char *at, const struct log_columns *c, char *(*put)(char *at, const char *name, size_t width))
{
	struct log_field list[LOG_FIELDS_MAX];
	const unsigned fields = log_columns_list(c, list);

	for (unsigned i = 0; i < fields; i++)
		if (list[i].has_values && list[i].kind->width && list[i].kind != &log_kinds[COLUMN_FLAGS])
			at = put(at, list[i].name, list[i].kind->width);
	return c->full ? put(at, log_kinds[COLUMN_FLAGS].name, LOG_FLAGS_WIDTH) : at;
}

static char *put_bytes(char *at, const char *text)
{
	size_t bytes = strlen(text);

	memcpy(at, text, bytes);
	return at + bytes;
}

/* between: separator of two flags. */
static char *put_flags(char *at, const struct log_columns *c, const struct sample *s, char between)
{
	const char *flag = label_follow_ups[s->follow_up].flag;

	if (!log_columns_unconverted(c, s))
		return put_bytes(at, flag);
	if (*flag != '-') {
		at = put_bytes(at, flag);
		*at++ = between;
	}
	return put_bytes(at, LOG_UNCONVERTED);
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* Pads the text that ends at `to` and was written from `from` on with blanks on the left. */
static char *fill(char *at, const char *from, char *to)
{
	memset(at, ' ', (size_t)(from - at));
	return to;
}

static char *put_word(char *at, const char *text, size_t width)
{
	const size_t bytes = strlen(text);

	memcpy(at + width - bytes, text, bytes);
	return fill(at, at + width - bytes, at + width);
}

/* Writes a leading blank too. */
static char *put_name(char *at, const char *name, size_t width)
{
	return put_word(at, name, width + (width != LOG_SEQ_WIDTH));
}

static char *put_nothing(char *at, size_t width)
{
	return put_word(at, "-", width + 1);
}

static char *put_time(char *at, struct log_columns *c, int i, int64_t ns)
{
	char *end = at + 1 + LOG_TIME_WIDTH, *text = c->second[i].text;
	const uint64_t since_ns = (uint64_t)ns - (uint64_t)c->second[i].at_ns;

	if (since_ns >= NS_PER_S || ns < NS_PER_S) { /* initially since_ns is 0 */
		fill(at, label_time_digits(end, ns), end);
		memcpy(text, at, sizeof(c->second[i].text));
		c->second[i].at_ns = ns - ns % NS_PER_S;
		return end;
	}
	memcpy(at, text, sizeof(c->second[i].text));
	end[-9] = (char)('0' + since_ns / DIGITS_EIGHT);
	digits_put_eight(end - 8, (uint32_t)(since_ns % DIGITS_EIGHT));
	return end;
}

/* Fast path for short numbers, which are the most frequent: no loop and no mispredicted branch. */
static inline char *put_number_aligned(char *at, int64_t v, size_t width)
{
	char text[NUMBER_MAX_BYTES], *start;
	size_t bytes;

	if (v >= 0 && v < DIGITS_EIGHT) {
		memset(at, ' ', width - 8);
		digits_put_aligned(at + width - 8, (uint32_t)v);
		return at + width;
	}
	start = label_signed_digits(text + sizeof(text), v);
	bytes = (size_t)(text + sizeof(text) - start);
	if (bytes >= width) {
		memcpy(at, start, bytes);
		return at + bytes;
	}
	memcpy(at + width - bytes, start, bytes);
	return fill(at, at + width - bytes, at + width);
}

/* The column of the longest numbers is wider. */
static char *put_value(char *at, int64_t value_ns)
{
	*at++ = ' ';
	return put_number_aligned(at, value_ns, LOG_LATENCY_WIDTH);
}

static char *put_stage(char *at, const struct log_columns *c, const struct sample *s, int stage)
{
	int64_t value_ns;

	return stages_value(&c->stages[stage], s, &value_ns) ? put_value(at, value_ns) :
	       put_nothing(at, LOG_LATENCY_WIDTH);
}

/* 0: not known. */
static char *put_gap(char *at, uint32_t gap_ns)
{
	return gap_ns ? put_value(at, gap_ns) : put_nothing(at, LOG_LATENCY_WIDTH);
}

static char *put_times(char *at, struct log_columns *c, const struct sample *s, int first, int n)
{
	for (int i = first; i < first + n; i++)
		if (c->time[i])
			at = log_columns_has(c, s, i) ? put_time(at, c, i, s->time_ns[i]) :
			put_nothing(at, LOG_TIME_WIDTH);
	return at;
}

char *log_text_begin(char *at, struct log_columns *c, uint64_t records)
{
	const size_t width = !c->full ? RULE_WIDTH : log_columns_transmit(c) ? RULE_MOST_WIDTH :
		c->time[KERNEL_RECEIVE] ? RULE_KERNEL_WIDTH : RULE_FULL_WIDTH;

	(void)records;
	at = put_names(at, c, put_name);
	*at++ = '\n';
	memset(at, '-', width);
	at += width;
	*at++ = '\n';
	return at;
}

char *log_text_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out)
{
	char flags[LOG_FLAGS_WIDTH + 1];

	(void)left_out;
	at = put_number_aligned(at, s->seq, LOG_SEQ_WIDTH);
	at = put_times(at, c, s, 0, TIMES);
	at = put_value(at, s->latency_ns);
	if (c->full) {
		at = put_times(at, c, s, REMOTE, TIMES);
		at = put_stage(at, c, s, STAGE_RESPONSE);
		at = put_stage(at, c, s, STAGE_NETWORK);
		at = put_gap(at, s->poll_gap_ns);
		at = put_gap(at, s->remote_poll_gap_ns);
		at = put_times(at, c, s, KERNEL_RECEIVE, ALL_TIMES - KERNEL_RECEIVE);
		*put_flags(flags, c, s, LOG_TEXT_BETWEEN) = 0;
		at = put_word(at, flags, LOG_FLAGS_WIDTH + 1);
	}
	*at++ = '\n';
	return at;
}

/* ---- Comma-separated values -------------------------------------------------------------------------------------- */

static char *put_field(char *at, const char *name, size_t width)
{
	if (width != LOG_SEQ_WIDTH)
		*at++ = ',';
	return put_bytes(at, name);
}

static char *put_number(char *at, bool known, int64_t value)
{
	char text[32], *start = label_signed_digits(text + sizeof(text), value);
	const size_t bytes = (size_t)(text + sizeof(text) - start);

	*at++ = ',';
	if (!known)
		return at;
	memcpy(at, start, bytes);
	return at + bytes;
}

static char *put_numbers(char *at, const struct log_columns *c, const struct sample *s, int first, int n)
{
	for (int i = first; i < first + n; i++)
		if (c->time[i])
			at = put_number(at, log_columns_has(c, s, i), s->time_ns[i]);
	return at;
}

char *log_csv_begin(char *at, struct log_columns *c, uint64_t records)
{
	(void)records;
	at = put_names(at, c, put_field);
	*at++ = '\n';
	return at;
}

char *log_csv_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out)
{
	char text[32], *start = label_digits(text + sizeof(text), s->seq, 1);
	const size_t bytes = (size_t)(text + sizeof(text) - start);

	(void)left_out;
	memcpy(at, start, bytes);
	at = put_numbers(at + bytes, c, s, 0, TIMES);
	at = put_number(at, true, s->latency_ns);
	if (c->full) {
		int64_t value_ns;
		bool known;

		at = put_numbers(at, c, s, REMOTE, TIMES);
		known = stages_value(&c->stages[STAGE_RESPONSE], s, &value_ns);
		at = put_number(at, known, value_ns);
		known = stages_value(&c->stages[STAGE_NETWORK], s, &value_ns);
		at = put_number(at, known, value_ns);
		at = put_number(at, s->poll_gap_ns, s->poll_gap_ns);
		at = put_number(at, s->remote_poll_gap_ns, s->remote_poll_gap_ns);
		at = put_numbers(at, c, s, KERNEL_RECEIVE, ALL_TIMES - KERNEL_RECEIVE);
		*at++ = ',';
		at = put_flags(at, c, s, LOG_CSV_BETWEEN); /* one field */
	}
	*at++ = '\n';
	return at;
}
