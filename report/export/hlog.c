// SPDX-License-Identifier: GPL-2.0-or-later
/* An interval log of HdrHistogram. */
#include "report/export/hlog.h"

#include "options.h"
#include "report/text/report.h"

#include <endian.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Where a value is -------------------------------------------------------------------------------------------- */

/* Three significant digits: 2048 counts of 1 ns, then 1024 in each power of two
 * (AbstractHistogram.countsArrayIndex()). */
#define DIGITS 3
#define PLACE_BITS 11

static int64_t place_of(int64_t value_ns)
{
	const unsigned shift = 64 - PLACE_BITS -
			       (unsigned)__builtin_clzll((uint64_t)value_ns | ((1U << PLACE_BITS) - 1));

	return ((int64_t)shift << (PLACE_BITS - 1)) + (value_ns >> shift);
}

/* ---- The encoding ------------------------------------------------------------------------------------------------ */

/* 0x10: counts are LEB128 instead of words. */
#define COOKIE_ENCODED (0x1c849303U | 0x10)
#define COOKIE_COMPRESSED (0x1c849304U | 0x10)
#define ONE_AS_DOUBLE 0x3ff0000000000000U /* 1.0 of IEEE 754: factor of integer values */

/* Counts of values up to 2^47 - 1. An empty count takes at most one octet, and each 64th sample one more: a count has a
 * second octet from 64 on, a third from 64 * 128 on. So the encoding fits into one stored block. */
#define PLACES ((47 - PLACE_BITS + 2) << (PLACE_BITS - 1))
#define HEAD_OCTETS 40
#define OCTETS_MAX (HEAD_OCTETS + PLACES + SECOND_VALUES / 63)
#define BLOCK_OCTETS 65535
#define LINE_CHARACTERS (OCTETS_MAX / 3 * 4 + 512)

static void put_integer(struct hlog *h, uint64_t value, unsigned bytes)
{
	const uint64_t big_endian = htobe64(value);

	memcpy(h->octets + h->bytes, (const uint8_t *)&big_endian + sizeof(big_endian) - bytes, bytes);
	h->bytes += bytes;
}

/* ZigZag LEB128: the sign is the lowest bit, so that values near 0 are short. */
static void put_count(struct hlog *h, int64_t count)
{
	uint64_t left = (uint64_t)count << 1 ^ (uint64_t)(count >> 63);

	for (; left >> 7; left >>= 7)
		h->octets[h->bytes++] = (uint8_t)(left | 0x80);
	h->octets[h->bytes++] = (uint8_t)left;
}

/* Writes the counts up to the last that is not 0; a series of zeros is one negative number. Returns the number of
 * values written. */
static size_t put_counts(struct hlog *h, const struct second *s)
{
	size_t from = 0, i;
	int64_t next = 0;

	for (i = 0; i < s->values && s->value[i] <= HLOG_MOST_NS; i++) {
		const int64_t place = place_of(s->value[i]);

		if (i + 1 < s->values && s->value[i + 1] <= HLOG_MOST_NS && place_of(s->value[i + 1]) == place)
			continue;
		if (place > next)
			put_count(h, next - place);
		put_count(h, (int64_t)(i + 1 - from));
		next = place + 1;
		from = i + 1;
	}
	if (!i)
		put_count(h, 0); /* readers need at least one count */
	return i;
}

static size_t encode(struct hlog *h, const struct second *s)
{
	size_t values;
	uint32_t payload;

	_Static_assert((HLOG_MOST_NS >> 47) == 0, "the largest value has a count");
	h->bytes = 0;
	put_integer(h, COOKIE_ENCODED, 4);
	put_integer(h, 0, 4); /* length of the counts: set below */
	put_integer(h, 0, 4); /* normalizing index offset */
	put_integer(h, DIGITS, 4);
	put_integer(h, 1, 8); /* lowest discernible value */
	put_integer(h, HLOG_MOST_NS, 8);
	put_integer(h, ONE_AS_DOUBLE, 8);
	values = put_counts(h, s);
	payload = htobe32((uint32_t)(h->bytes - HEAD_OCTETS));
	memcpy(h->octets + 4, &payload, sizeof(payload));
	return values;
}

/* ---- Base64 (RFC 4648 section 4) of a zlib stream ---------------------------------------------------------------- */

static void put_character(struct hlog *h, char c)
{
	h->line[h->characters++] = c;
}

static void put_octets(struct hlog *h, const uint8_t *from, size_t bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes; i++) {
		h->carry = h->carry << 8 | from[i];
		if (++h->carried < 3)
			continue;
		for (int shift = 18; shift >= 0; shift -= 6)
			put_character(h, digits[h->carry >> shift & 63]);
		h->carry = h->carried = 0;
	}
}

static void end_octets(struct hlog *h)
{
	const unsigned missing = h->carried ? 3 - h->carried : 0;

	put_octets(h, (const uint8_t[2]){ 0 }, missing);
	for (unsigned i = 1; i <= missing; i++)
		h->line[h->characters - i] = '=';
}

static void put_32(struct hlog *h, uint32_t value)
{
	const uint32_t big_endian = htobe32(value);

	put_octets(h, (const uint8_t *)&big_endian, sizeof(big_endian));
}

/* RFC 1950 section 8.2. */
static uint32_t adler32(const uint8_t *octets, size_t bytes)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < bytes; i++) {
		a = (a + octets[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

static void put_histogram(struct hlog *h)
{
	const size_t bytes = h->bytes;
	/* Header of the stream; last block, its length, and the complement of its length. */
	const uint8_t head[] = { 0x78, 0x01, 1, bytes & 0xff, bytes >> 8 & 0xff, ~bytes & 0xff, ~bytes >> 8 & 0xff };

	_Static_assert(OCTETS_MAX <= BLOCK_OCTETS, "the encoding fits into one block");
	put_32(h, COOKIE_COMPRESSED);
	put_32(h, (uint32_t)(sizeof(head) + bytes + 4));
	put_octets(h, head, sizeof(head));
	put_octets(h, h->octets, bytes);
	put_32(h, adler32(h->octets, bytes));
	end_octets(h);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

int hlog_open(struct hlog *h, const struct report *r, struct log_file *file)
{
	*h = (struct hlog){ .report = r, .file = file, .octets = malloc(OCTETS_MAX), .line = malloc(LINE_CHARACTERS) };
	if (h->octets && h->line)
		return 0;
	warnx("no memory for --hlog");
	hlog_close(h);
	return -ENOMEM;
}

static int64_t in_ms(int64_t ns)
{
	return (ns + NS_PER_MS / 2) / NS_PER_MS;
}

/* hdr_log_read_header() reads lines of at most 126 characters. */
void hlog_begin(struct hlog *h, int64_t start_unix_ns, const char *note)
{
	const struct options *o = h->report->options;
	const time_t start_s = start_unix_ns / NS_PER_S;
	const int64_t start_ms = in_ms(start_unix_ns);
	char date[64], start[128] = "", more[128] = "";
	struct tm t;

	strftime(date, sizeof(date), "%a %b %d %H:%M:%S UTC %Y", gmtime_r(&start_s, &t));
	if (start_unix_ns)
		snprintf(start, sizeof(start), "#[StartTime: %" PRId64 ".%03d (seconds since epoch), %s]\n",
			 start_ms / 1000,
			 (int)(start_ms % 1000), date);
	if (note)
		snprintf(more, sizeof(more), "#[%s]\n", note);
	snprintf(h->head, sizeof(h->head),
		 "#[Logged with rant " RANT_VERSION "]\n#[%s of %s, in nanoseconds]\n%s#[Histogram log format version "
						    "1.2]\n%s"
		 "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		 o->role == ROLE_EMIT ? "Round trips" : "Responses",
		 o->interface ? o->interface : "saved files", more, start);
}

static void write_head(struct hlog *h)
{
	if (*h->head)
		log_file_write(h->file, h->head, strlen(h->head));
	*h->head = 0;
}

/* The maximum is in milliseconds (HistogramLogWriter.outputIntervalHistogram()). */
void hlog_second(struct hlog *h, const struct second *s)
{
	const int64_t from_ms = in_ms(s->start_unix_ns + s->from_ns - s->start_ns);
	const int64_t length_ms = in_ms(s->start_unix_ns + s->to_ns - s->start_ns) - from_ms;
	const size_t values = encode(h, s);
	const int64_t max_ns = values ? s->value[values - 1] : 0;

	h->left_out += second_left_out(s) + s->values - values;
	h->characters = (size_t)snprintf(h->line, LINE_CHARACTERS, "%" PRId64 ".%03d,%" PRId64 ".%03d,%lld.%06d,",
					 from_ms / 1000,
					 (int)(from_ms % 1000), length_ms / 1000, (int)(length_ms % 1000),
					 max_ns / NS_PER_MS,
					 (int)(max_ns % NS_PER_MS));
	put_histogram(h);
	put_character(h, '\n');
	write_head(h);
	log_file_write(h->file, h->line, h->characters);
}

void hlog_end(struct hlog *h)
{
	write_head(h);
	if (h->left_out)
		warnx("--hlog %s: %" PRIu64 " samples are in none of its histograms: they came faster than they could "
		      "be written, or took more than a day", h->file->path, h->left_out);
}

void hlog_close(struct hlog *h)
{
	free(h->octets);
	free(h->line);
	h->octets = NULL;
	h->line = NULL;
}
