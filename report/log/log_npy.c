// SPDX-License-Identifier: GPL-2.0-or-later
/* The log as an array of NumPy. */
#include "report/log/log_npy.h"

#include "report/text/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NPY_PLAIN_BYTES 48 /* of it with values */
#define NPY_BYTES 64
#define NPY_FULL_BYTES 96

/* In the octet order of this machine, which the header tells. */
struct npy_record {
	uint32_t seq;
	uint16_t left_out; /* 65535: so many, or more */
	uint16_t flags;
	int64_t time_ns[TIMES], latency_ns;
	union {
		uint8_t unused[NPY_BYTES - NPY_PLAIN_BYTES]; /* of a plain log, the record ends here */
		struct {
			int64_t there_ns[TIMES], response_ns, network_ns;
		};
	};
};

_Static_assert(offsetof(struct npy_record, unused) == NPY_PLAIN_BYTES, "a plain record");
_Static_assert(sizeof(struct npy_record) == NPY_FULL_BYTES, "a full record");

#define ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

/* ---- The header -------------------------------------------------------------------------------------------------- */

/* A field, or octets that have no name. */
static int put_field(char *at, size_t room, const char *name, char kind, int bytes)
{
	return kind == 'V' ? snprintf(at, room, "('', '|V%d'), ", bytes) :
			     snprintf(at, room, "('%s', '%c%c%d'), ", name, ORDER, kind, bytes);
}

/* A plain record ends after the latency, and is filled up. */
static int put_fields(char *at, size_t room, const struct log_columns *c)
{
	struct log_field list[LOG_FIELDS_MAX];
	const unsigned fields = log_columns_list(c, list);
	int n = 0, bytes = 0;

	for (unsigned i = 0; i < fields && (c->full || bytes < NPY_PLAIN_BYTES); i++) {
		const struct log_kind *k = list[i].kind;

		n += put_field(at + n, room - (size_t)n, list[i].name, list[i].has_values ? k->type : 'V', k->bytes);
		bytes += k->bytes;
	}
	return c->full ? n : n + put_field(at + n, room - (size_t)n, "", 'V', NPY_BYTES - bytes);
}

/* Always as long, so that it can be written again. */
char *log_npy_begin(char *at, struct log_columns *c, uint64_t records)
{
	static const char magic[] = "\x93NUMPY\x01"; /* version 1.0, with the 0 that ends it */
	const size_t length = LOG_BEGIN_BYTES - sizeof(magic) - 2;
	char *text = at + sizeof(magic) + 2;
	size_t n;

	memcpy(at, magic, sizeof(magic));
	at[sizeof(magic)] = (char)(length & 0xff);
	at[sizeof(magic) + 1] = (char)(length >> 8);
	n = (size_t)snprintf(text, length, "{'descr': [");
	n += (size_t)put_fields(text + n, length - n, c);
	n += (size_t)snprintf(text + n, length - n, "], 'fortran_order': False, 'shape': (%" PRIu64 ",), }", records);
	memset(text + n, ' ', length - n);
	text[length - 1] = '\n';
	return at + LOG_BEGIN_BYTES;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static int64_t value_of(const struct log_columns *c, const struct sample *s, int stage)
{
	int64_t value_ns;

	return stages_value(&c->stages[stage], s, &value_ns) ? value_ns : NPY_MISSING;
}

static void copy_here(int64_t to[TIMES], const struct log_columns *c, const struct sample *s)
{
	for (int i = 0; i < TIMES; i++)
		to[i] = c->time[i] && s->source[i] ? s->time_ns[i] : NPY_MISSING;
}

static void copy_there(int64_t to[TIMES], const struct log_columns *c, const struct sample *s)
{
	for (int i = 0; i < TIMES; i++)
		to[i] = c->time[THERE + i] && log_columns_has(c, s, THERE + i) ? s->time_ns[THERE + i] : NPY_MISSING;
}

/* What is written is in multiples of 32 octets, so a record may be made where it is to be: a copy of one that was put
 * together elsewhere takes a third of the time of all this. */
char *log_npy_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out)
{
	struct npy_record *r = (struct npy_record *)at;

	r->seq = s->seq;
	r->left_out = (uint16_t)(left_out < UINT16_MAX ? left_out : UINT16_MAX);
	r->flags = 0;
	copy_here(r->time_ns, c, s);
	r->latency_ns = s->latency_ns;
	if (!c->full) {
		memset(r->unused, 0, sizeof(r->unused));
		return at + NPY_BYTES;
	}
	r->flags = (uint16_t)(s->follow_up | (log_columns_unplaced(c, s) ? NPY_UNPLACED : 0));
	copy_there(r->there_ns, c, s);
	r->response_ns = value_of(c, s, STAGE_RESPONSE);
	r->network_ns = value_of(c, s, STAGE_NETWORK);
	return at + NPY_FULL_BYTES;
}
