// SPDX-License-Identifier: GPL-2.0-or-later
/* The log as a NumPy array. */
#include "report/log/log_form.h"

#include "report/text/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NPY_PLAIN_BYTES 48 /* with values */
#define NPY_BYTES 64
#define NPY_FULL_BYTES 128
#define NPY_TRANSMIT_BYTES 160 /* with the kernel's transmit times */

/* In the byte order of this machine, which the header names. */
struct npy_record {
	uint32_t seq;
	uint16_t left_out; /* 65535: this number or more */
	uint16_t flags;
	int64_t time_ns[TIMES], latency_ns;
	union {
		uint8_t unused[NPY_BYTES - NPY_PLAIN_BYTES]; /* a plain record ends here */
		struct {
			int64_t remote_ns[TIMES], response_ns, network_ns;
			uint32_t poll_gap_ns, remote_poll_gap_ns; /* 0: not known; the largest number: that or more */
			int64_t kernel_ns[2]; /* T4_KERNEL, T2_KERNEL */
			uint8_t spare[8]; /* a full record ends here, or has this after: */
			int64_t transmit_ns[4]; /* T1_SCHED, T1_TXSW, T3_SCHED, T3_TXSW */
		};
	};
};

_Static_assert(offsetof(struct npy_record, unused) == NPY_PLAIN_BYTES, "a plain record");
_Static_assert(offsetof(struct npy_record, transmit_ns) == NPY_FULL_BYTES, "a full record");
_Static_assert(sizeof(struct npy_record) == NPY_TRANSMIT_BYTES, "a full record with transmit times");

#define ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

/* ---- The header -------------------------------------------------------------------------------------------------- */

/* A field, or unnamed octets. */
static int put_field(char *at, size_t space, const char *name, char kind, int bytes)
{
	return kind == 'V' ? snprintf(at, space, "('', '|V%d'), ", bytes) :
			     snprintf(at, space, "('%s', '%c%c%d'), ", name, ORDER, kind, bytes);
}

/* A plain record ends after the latency. Both are padded. */
static int put_fields(char *at, size_t space, const struct log_columns *c)
{
	struct log_field list[LOG_FIELDS_MAX];
	const unsigned fields = log_columns_list(c, list);
	int n = 0, bytes = 0;

	for (unsigned i = 0; i < fields && (c->full || bytes < NPY_PLAIN_BYTES); i++) {
		const struct log_kind *k = list[i].kind;

		if (k == &log_kinds[COLUMN_KERNEL_TRANSMIT] && bytes < NPY_FULL_BYTES) {
			n += put_field(at + n, space - (size_t)n, "", 'V', NPY_FULL_BYTES - bytes);
			bytes = NPY_FULL_BYTES;
		}
		n += put_field(at + n, space - (size_t)n, list[i].name, list[i].has_values ? k->type : 'V', k->bytes);
		bytes += k->bytes;
	}
	return bytes == NPY_TRANSMIT_BYTES ? n : n + put_field(at + n, space - (size_t)n, "", 'V',
							       (c->full ? NPY_FULL_BYTES : NPY_BYTES) - bytes);
}

/* Constant length, so that it can be overwritten. */
char *log_npy_begin(char *at, struct log_columns *c, uint64_t records)
{
	static const char magic[] = "\x93NUMPY\x01"; /* version 1.0; the terminating 0 is the minor version */
	const size_t length = NPY_BEGIN_BYTES - sizeof(magic) - 2;
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
	return at + NPY_BEGIN_BYTES;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static int64_t value_of(const struct log_columns *c, const struct sample *s, int stage)
{
	int64_t value_ns;

	return stages_value(&c->stages[stage], s, &value_ns) ? value_ns : NPY_MISSING;
}

static void copy_local(int64_t to[TIMES], const struct log_columns *c, const struct sample *s)
{
	for (int i = 0; i < TIMES; i++)
		to[i] = c->time[i] && s->source[i] ? s->time_ns[i] : NPY_MISSING;
}

static void copy_remote(int64_t to[TIMES], const struct log_columns *c, const struct sample *s)
{
	for (int i = 0; i < TIMES; i++)
		to[i] = c->time[REMOTE + i] && log_columns_has(c, s, REMOTE + i) ? s->time_ns[REMOTE + i] : NPY_MISSING;
}

static void copy_kernel(int64_t *to, const struct log_columns *c, const struct sample *s, int from, int end)
{
	for (int i = from; i < end; i++)
		*to++ = c->time[i] && log_columns_has(c, s, i) ? s->time_ns[i] : NPY_MISSING;
}

/* Writes are multiples of 32 octets, so a record can be built in place: copying a record built elsewhere
 * takes a third of the whole time. */
char *log_npy_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out)
{
	struct npy_record *r = (struct npy_record *)at;

	r->seq = s->seq;
	r->left_out = (uint16_t)(left_out < UINT16_MAX ? left_out : UINT16_MAX);
	r->flags = 0;
	copy_local(r->time_ns, c, s);
	r->latency_ns = s->latency_ns;
	if (!c->full) {
		memset(r->unused, 0, sizeof(r->unused));
		return at + NPY_BYTES;
	}
	r->flags = (uint16_t)(s->follow_up | (log_columns_unconverted(c, s) ? NPY_UNPLACED : 0));
	copy_remote(r->remote_ns, c, s);
	r->response_ns = value_of(c, s, STAGE_RESPONSE);
	r->network_ns = value_of(c, s, STAGE_NETWORK);
	r->poll_gap_ns = s->poll_gap_ns;
	r->remote_poll_gap_ns = s->remote_poll_gap_ns;
	copy_kernel(r->kernel_ns, c, s, KERNEL_RECEIVE, KERNEL_QUEUE);
	/* After a crash log_mend.c takes 32 octets of zeros at the end of a file for none of a record. */
	memset(r->spare, 0xff, sizeof(r->spare));
	if (!log_columns_transmit(c))
		return at + NPY_FULL_BYTES;
	copy_kernel(r->transmit_ns, c, s, KERNEL_QUEUE, ALL_TIMES);
	return at + NPY_TRANSMIT_BYTES;
}
