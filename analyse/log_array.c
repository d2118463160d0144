// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a log that is a NumPy array (.npy). */
#include "analyse/log_read.h"

#include "report/log/log_form.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#define HEADER_MAX_BYTES 4096
#define PREFIX_BYTES 10 /* magic, version, and length of the rest of the header */
#define ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

static int refuse(const struct log_read *l, const char *why)
{
	warnx("%s: %s: give a log that --log-format npy has written", l->path, why);
	return -EINVAL;
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

/* Moves past `words`. False: the text does not continue with them. */
static bool skip(const char **at, const char *words)
{
	const size_t bytes = strlen(words);

	if (strncmp(*at, words, bytes))
		return false;
	*at += bytes;
	return true;
}

/* "'NAME', '<i8'), " after the opening bracket. */
static bool read_field(struct log_read *l, const char **at)
{
	struct log_column *c = &l->names.column[l->names.columns];
	size_t bytes;
	char order, kind;

	if (!skip(at, "'"))
		return false;
	bytes = strcspn(*at, "'");
	if (!log_names_add(&l->names, *at, bytes))
		return false;
	*at += bytes;
	if (!skip(at, "', '"))
		return false;
	order = **at;
	*at += order != 0;
	kind = **at;
	*at += kind != 0;
	c->bytes = (uint16_t)strtoul(*at, NULL, 10);
	*at += strspn(*at, "0123456789");
	c->offset = (uint16_t)l->record_bytes;
	l->record_bytes += c->bytes;
	if (order != '|')
		l->swapped = order != ORDER;
	if (!c->bytes || c->bytes > 64 || (order == '|') != (kind == 'V') || !strchr("<>|", order) ||
	    !strchr("uiV", kind))
		return false;
	/* A void field is the padding of a missing time, and has the name of its column. */
	if (kind == 'V')
		c->name[0] = '\0';
	return skip(at, "'), ") || skip(at, "')");
}

static bool has_right_sizes(const struct log_read *l)
{
	for (unsigned i = 0; i < l->names.columns; i++) {
		const struct log_column *c = &l->names.column[i];

		if (c->kind != COLUMN_UNUSED && c->bytes != log_kinds[c->kind].bytes)
			return false;
	}
	return l->record_bytes <= sizeof(l->text);
}

/* Python's text of a dictionary, as log_npy.c writes it. */
static int read_text(struct log_read *l, const char *at)
{
	const char *why;
	char *end;

	if (!skip(&at, "{'descr': ["))
		return refuse(l, "its header is not that of a log");
	while (skip(&at, "("))
		if (!read_field(l, &at))
			return refuse(l, "its header has a field that a log does not have");
	if (!skip(&at, "], 'fortran_order': False, 'shape': (") || *at < '0' || *at > '9')
		return refuse(l, "its header is not that of a log");
	errno = 0;
	l->all = strtoull(at, &end, 10);
	at = end;
	if (errno || !skip(&at, ",), }") || at[strspn(at, " ")] != '\n')
		return refuse(l, "its header is not that of a log");
	why = log_names_read(&l->names);
	return why || !has_right_sizes(l) ? refuse(l, "its fields are not those of a log") : 0;
}

static int check_length(const struct log_read *l, size_t begin)
{
	struct stat s;

	if (fstat(fileno(l->file), &s) || !S_ISREG(s.st_mode))
		return 0;
	if ((uint64_t)s.st_size - begin == l->all * l->record_bytes && l->all <= (uint64_t)s.st_size)
		return 0;
	warnx("%s: has %" PRIu64 " records by its header, and room for %.1f: it was cut off, or is still being written",
	      l->path, l->all,
	      (double)((uint64_t)s.st_size - begin) / l->record_bytes);
	return -EINVAL;
}

int log_array_open(struct log_read *l)
{
	char header[HEADER_MAX_BYTES + 1];
	unsigned char prefix[PREFIX_BYTES];
	size_t bytes;
	int error;

	if (fread(prefix, 1, sizeof(prefix), l->file) != sizeof(prefix))
		return refuse(l, "its header is cut off");
	if (prefix[6] != 1 || prefix[7] != 0)
		return refuse(l, "it is of another version of the format");
	bytes = (size_t)(prefix[8] | prefix[9] << 8);
	if (bytes > HEADER_MAX_BYTES)
		return refuse(l, "its header is too long");
	if (fread(header, 1, bytes, l->file) != bytes)
		return refuse(l, "its header is cut off");
	header[bytes] = '\0';
	error = read_text(l, header);
	return error ? error : check_length(l, PREFIX_BYTES + bytes);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static uint64_t number_at(const struct log_read *l, const struct log_column *c)
{
	const unsigned char *from = (const unsigned char *)l->text + c->offset;
	const bool little = (ORDER == '<') != l->swapped;
	uint64_t n = 0;

	for (unsigned i = 0; i < c->bytes; i++)
		n = n << 8 | from[little ? c->bytes - 1 - i : i];
	return n;
}

static bool set_flags(struct sample *s, uint64_t flags)
{
	s->follow_up = (uint8_t)flags;
	return !(flags & ~(uint64_t)(NPY_UNPLACED | 0xff)) && s->follow_up < FOLLOW_UPS;
}

static bool set_field(struct log_read *l, const struct log_column *c, struct sample *s)
{
	const uint64_t n = c->kind == COLUMN_UNUSED ? 0 : number_at(l, c);

	switch (c->kind) {
	case COLUMN_SEQ:
		s->seq = (uint32_t)n;
		return true;
	case COLUMN_TIME:
		s->time_ns[c->time] = (int64_t)n;
		s->source[c->time] = (int64_t)n == NPY_MISSING ? SOURCE_NONE : (uint8_t)c->source;
		return true;
	case COLUMN_LATENCY:
		s->latency_ns = (int64_t)n;
		return s->latency_ns >= 0;
	case COLUMN_FLAGS:
		return set_flags(s, n);
	case COLUMN_LEFT_OUT:
		l->left_out += n;
		l->at_least |= n == UINT16_MAX;
		return true;
	case COLUMN_POLL_GAP:
		s->poll_gap_ns = (uint32_t)n;
		return true;
	case COLUMN_REMOTE_POLL_GAP:
		s->remote_poll_gap_ns = (uint32_t)n;
		return true;
	case COLUMN_RESPONSE:
	case COLUMN_NETWORK:
		l->reported_ns[c->kind == COLUMN_NETWORK] = (int64_t)n;
		l->reported[c->kind == COLUMN_NETWORK] = (int64_t)n != NPY_MISSING;
		return true;
	default:
		return true;
	}
}

int log_array_next(struct log_read *l, struct sample *s)
{
	if (l->records == l->all)
		return 0;
	if (fread(l->text, 1, l->record_bytes, l->file) != l->record_bytes)
		return refuse(l, "it has fewer records than its header says");
	for (unsigned i = 0; i < l->names.columns; i++) {
		if (set_field(l, &l->names.column[i], s))
			continue;
		warnx("%s: record %" PRIu64 " has no valid %s", l->path, l->records + 1, l->names.column[i].name);
		return -EINVAL;
	}
	return 1;
}
