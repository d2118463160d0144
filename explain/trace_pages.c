// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The raw pages of a trace. Facts: include/linux/ring_buffer.h (types of records), kernel/trace/ring_buffer.c
 * (rb_event_length(), ring_buffer_read_page()), kernel/trace/trace_output.c (trace_print_lat_fmt()).
 *
 * libtraceevent trusts its input: a length in a page may lead it outside of its memory or into an endless loop. So
 * page_is_sound() checks all lengths of a page first.
 */
#include "explain/trace_pages.h"

#include "explain/trace_format.h"

#include <errno.h>

#ifdef WITH_TRACEEVENT

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SLACK_BYTES 64 /* after a page: the library reads the head of a record before it looks for the end */
#define PAGES_MAX_BYTES (4LL << 30) /* of a CPU */

struct reader {
	struct trace_text *t;
	struct trace_formats f;
	struct kbuffer *kbuffer;
	uint8_t *page;

	struct event *event; /* by CPU, then in the order of time */
	size_t count, space;
	size_t begin[TRACE_TEXT_CPUS_MAX + 1]; /* the first element of each CPU */
	struct trace_text markers; /* its members start and breach */
	int64_t begin_ns; /* older events are not read: the text does not have them */
	uint64_t lost, malformed;
};

const char *trace_pages_library(void)
{
	return TRACE_FORMAT_LIBRARY;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

#define MISSED (1U << 31) /* of the commit: events were lost before this page */
#define MISSED_STORED (1U << 30) /* and their number is after the data */

static uint32_t read_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t read_long(const struct reader *r, const uint8_t *at)
{
	uint64_t value;

	if (r->f.long_bytes == 4)
		return read_u32(at);
	memcpy(&value, at, sizeof(value));
	return value;
}

/* Octets of the record at `at`, of which `left` octets are in the page; 0: not a record. */
static size_t record_bytes(const uint8_t *at, size_t left)
{
	const uint32_t head = left < 4 ? 0 : read_u32(at);
	const uint32_t type = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? head & 31 : head >> 27;
	const uint32_t length = left < 8 ? 0 : read_u32(at + 4);
	size_t bytes;

	if (type == KBUFFER_TYPE_TIME_EXTEND || type == KBUFFER_TYPE_TIME_STAMP)
		bytes = 8;
	else if (type && type != KBUFFER_TYPE_PADDING)
		bytes = 4 + 4 * type;
	else if (length < 4 || length > left)
		bytes = 0;
	else
		bytes = 4 + (length + 3) / 4 * 4;
	return bytes <= left ? bytes : 0;
}

/* Checks all lengths of r->page. missed: events lost before it; 1 if the kernel does not know their number. */
static bool page_is_sound(const struct reader *r, uint64_t *missed)
{
	const uint64_t commit = read_long(r, r->page + 8);
	const uint8_t *data = r->page + r->f.data_offset;
	const size_t bytes = commit & ~(uint64_t)(MISSED | MISSED_STORED), space = r->f.page_bytes - r->f.data_offset;

	if (bytes > space || (commit & MISSED_STORED && bytes + r->f.long_bytes > space))
		return false;
	*missed = commit & MISSED ? commit & MISSED_STORED ? read_long(r, data + bytes) : 1 : 0;
	if (*missed > INT32_MAX)
		*missed = 1;
	for (size_t at = 0, record; at < bytes; at += record) {
		record = record_bytes(data + at, bytes - at);
		if (!record)
			return false;
	}
	return true;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static int append(struct reader *r, const struct event *e)
{
	if (r->count == r->space) {
		const size_t space = r->space ? 2 * r->space : 4096;
		struct event *more = r->space < TRACE_TEXT_EVENTS_MAX ? realloc(r->event, space * sizeof(*more)) : NULL;

		if (!more)
			return trace_format_refuse(&r->f, ENOMEM, "too many events");
		r->event = more;
		r->space = space;
	}
	r->event[r->count++] = *e;
	return 0;
}

/* False: the record is too short. */
static bool read_number(const struct reader *r, const struct trace_field *f, const uint8_t *record, size_t bytes,
			int64_t *to)
{
	uint64_t value;

	if (f->offset + f->bytes > bytes)
		return false;
	value = r->f.lib.tep_read_number(r->f.tep, record + f->offset, (int)f->bytes);
	/* As the text has it: state=4294967295 is -1. */
	*to = f->bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
	return true;
}

/* A string up to its end, or that of its array. False: the record is too short. */
static bool read_text(const struct reader *r, const struct trace_field *f, const uint8_t *record, size_t bytes,
		      const char **text, size_t *length)
{
	size_t from = f->offset, most = f->bytes ? f->bytes : bytes - f->offset; /* buf[] has all the rest */
	int64_t place;

	if (f->offset > bytes)
		return false;
	if (f->dynamic) {
		if (!read_number(r, &(struct trace_field){ .offset = f->offset, .bytes = 4 }, record, bytes, &place))
			return false;
		from = ((uint32_t)place & 0xffff) + (f->relative ? f->offset + 4 : 0);
		most = (uint32_t)place >> 16;
	}
	if (from > bytes || most > bytes - from)
		return false;
	*text = (const char *)record + from;
	*length = strnlen(*text, most);
	return true;
}

/* The columns of the option irq-info: trace_print_lat_fmt(). */
static void read_context(struct event *e, unsigned flags)
{
	enum { IRQS_OFF = 0x01, HARDIRQ = 0x08, SOFTIRQ = 0x10, NMI = 0x40, BH_OFF = 0x80 };

	if (flags & NMI)
		e->context = flags & HARDIRQ ? 'Z' : 'z';
	else if (flags & HARDIRQ)
		e->context = flags & SOFTIRQ ? 'H' : 'h';
	else
		e->context = flags & SOFTIRQ ? 's' : '.';
	if (flags & IRQS_OFF)
		e->irqs = flags & BH_OFF ? 'D' : 'd';
	else
		e->irqs = flags & BH_OFF ? 'b' : '.';
}

static void note_marker(struct reader *r, const struct event *e, const char *text, size_t bytes)
{
	struct trace_text read = { .names = r->t->names };
	char copy[TRACE_TEXT_LINE_BYTES];

	snprintf(copy, sizeof(copy), "%.*s", (int)bytes, text);
	trace_text_note_marker(&read, e, copy);
	/* The last of each, of all CPUs. */
	if (*read.start.text && (!*r->markers.start.text || e->ns >= r->markers.start.ns))
		r->markers.start = read.start;
	if (*read.breach.text && (!*r->markers.breach.text || e->ns >= r->markers.breach.ns))
		r->markers.breach = read.breach;
}

/* Reads what the fields of this kind of event have. False: the record cannot be read. */
static bool read_fields(struct reader *r, struct event *e, const struct trace_layout *l, const uint8_t *record,
			size_t bytes)
{
	int64_t number = 0, prio = 0;
	const char *text = "";
	size_t length = 0;

	e->kind = (uint8_t)l->kind;
	e->name = l->fixed_name;
	if ((l->number.bytes && !read_number(r, &l->number, record, bytes, &number)) ||
	    (l->number.bytes && (number < l->low || number > l->high)) ||
	    (l->prio.bytes && !read_number(r, &l->prio, record, bytes, &prio)) ||
	    (l->has_name && !read_text(r, &l->name, record, bytes, &text, &length)))
		return false;
	e->number = (int32_t)number;
	if (l->prio.bytes)
		e->prio = (int16_t)(prio < 0 ? -1 : prio <= 1000 ? prio : 120);
	if (l->kind != EVENT_PRINT) {
		e->name = l->has_name ? trace_text_intern(r->t, text, length) : e->name;
	} else if (length < 5 || memcmp(text, "RANT_", 5)) {
		e->kind = EVENT_OTHER;
	} else {
		note_marker(r, e, text, length);
	}
	return true;
}

static int add_record(struct reader *r, unsigned cpu, int64_t ns, const uint8_t *record, size_t bytes)
{
	struct event e = { .ns = ns, .cpu = (uint16_t)cpu, .kind = EVENT_OTHER, .task = TRACE_FORMAT_NAME_BY_TEXT };
	int64_t type, flags, pid;
	unsigned layout;

	if (!read_number(r, &r->f.common.type, record, bytes, &type) ||
	    !read_number(r, &r->f.common.flags, record, bytes, &flags) ||
	    !read_number(r, &r->f.common.pid, record, bytes, &pid) || pid < 0) {
		r->malformed++;
		return 0;
	}
	e.pid = (int32_t)pid;
	read_context(&e, (unsigned)flags);
	layout = r->f.layout_of[(uint16_t)type];
	if (layout && !read_fields(r, &e, &r->f.layout[layout - 1], record, bytes)) {
		r->malformed++;
		return 0;
	}
	return append(r, &e);
}

/* The records of r->page. last_ns: of the previous record of this CPU. */
static int read_page(struct reader *r, unsigned cpu, int64_t *last_ns)
{
	unsigned long long ns;
	uint64_t missed;
	void *record;
	int error = 0;

	if (!page_is_sound(r, &missed))
		return trace_format_refuse(&r->f, EINVAL, "raw/cpu%u has an invalid page", cpu);
	if (r->f.lib.kbuffer_load_subbuffer(r->kbuffer, r->page))
		return trace_format_refuse(&r->f, EINVAL, "raw/cpu%u has a page that cannot be read", cpu);
	for (record = r->f.lib.kbuffer_read_event(r->kbuffer, &ns); record && !error;
	     record = r->f.lib.kbuffer_next_event(r->kbuffer, &ns)) {
		const int bytes = r->f.lib.kbuffer_event_size(r->kbuffer);

		if (ns > INT64_MAX / 4 || (int64_t)ns < *last_ns)
			return trace_format_refuse(&r->f, EINVAL, "raw/cpu%u: its times go back", cpu);
		*last_ns = (int64_t)ns;
		if (bytes < 0 || *last_ns < r->begin_ns)
			continue;
		/* Before the first page events are not lost, but overwritten: the header of the text has their number. */
		if (missed && r->count > r->begin[cpu]) {
			error = append(r, &(struct event){ .ns = *last_ns, .cpu = (uint16_t)cpu, .kind = EVENT_LOST,
							   .number = (int32_t)missed });
			r->lost += missed;
		}
		missed = 0;
		error = error ? error : add_record(r, cpu, *last_ns, record, (size_t)bytes);
	}
	return error;
}

static int read_cpu(struct reader *r, unsigned cpu)
{
	int64_t bytes = 0, last_ns = 0;
	char path[32];
	int fd, error = 0;

	snprintf(path, sizeof(path), "cpu%u", cpu);
	fd = trace_format_open_file(&r->f, path, PAGES_MAX_BYTES, &bytes);
	if (fd == -ENOENT)
		return 0; /* if the text has events of it, the pages are refused later */
	if (fd < 0)
		return trace_format_refuse(&r->f, -fd, "raw/%s: %s", path, strerror(-fd));
	if (bytes % r->f.page_bytes)
		error = trace_format_refuse(&r->f, EINVAL, "raw/%s is truncated, or has pages of another size", path);
	while (!error) {
		const ssize_t got = trace_format_read(fd, r->page, r->f.page_bytes);

		if (got < 0)
			error = trace_format_refuse(&r->f, (int)-got, "raw/%s: %s", path, strerror((int)-got));
		if (got < (ssize_t)r->f.page_bytes)
			break;
		error = read_page(r, cpu, &last_ns);
	}
	close(fd);
	return error;
}

static int read_pages(struct reader *r)
{
	int error = 0;

	r->page = calloc(1, r->f.page_bytes + PAGE_SLACK_BYTES);
	r->kbuffer = r->f.lib.kbuffer_alloc(r->f.long_bytes == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
					    KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!r->page || !r->kbuffer)
		return trace_format_refuse(&r->f, ENOMEM, "%s", strerror(ENOMEM));
	for (unsigned cpu = 0; cpu < TRACE_TEXT_CPUS_MAX && !error; cpu++) {
		r->begin[cpu] = r->count;
		error = read_cpu(r, cpu);
	}
	r->begin[TRACE_TEXT_CPUS_MAX] = r->count;
	if (!error && !r->count)
		error = trace_format_refuse(&r->f, ENOENT, "no raw pages in raw/");
	return error;
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

/* As the kernel rounds it: ns2usecs(). */
static int64_t in_text(int64_t ns)
{
	return (ns + NS_PER_US / 2) / NS_PER_US * NS_PER_US;
}

static bool is_same(const struct event *page, const struct event *text)
{
	return in_text(page->ns) == text->ns && page->kind == text->kind && page->pid == text->pid &&
	       page->number == text->number;
}

/* Finds the event of the pages for each event of the text, which gives it the names that the pages do not have. Pages
 * that lack an event are of another trace, or were read after tracing went on. */
static int compare_with_text(struct reader *r)
{
	size_t *next = malloc(sizeof(r->begin));
	int error = next ? 0 : trace_format_refuse(&r->f, ENOMEM, "%s", strerror(ENOMEM));

	if (next)
		memcpy(next, r->begin, sizeof(r->begin));
	for (size_t i = 0; i < r->t->count && !error; i++) {
		const struct event *text = &r->t->event[i];
		const size_t end = r->begin[text->cpu + 1];
		size_t *at = &next[text->cpu];

		if (text->kind == EVENT_LOST)
			continue;
		while (*at < end && in_text(r->event[*at].ns) <= text->ns && !is_same(&r->event[*at], text))
			++*at;
		if (*at == end || !is_same(&r->event[*at], text)) {
			const int64_t s = text->ns / NS_PER_S, us = text->ns % NS_PER_S / NS_PER_US;

			error = trace_format_refuse(&r->f, EINVAL, "raw/cpu%u lacks the event of all.txt at %" PRId64
						    ".%06" PRId64, text->cpu, s, us);
			break;
		}

		r->event[*at].task = text->task;
		if (r->event[*at].name == TRACE_FORMAT_NAME_BY_TEXT)
			r->event[*at].name = text->name;
		++*at;
	}
	free(next);
	return error;
}

/* ---- The order of time ------------------------------------------------------------------------------------------- */

/* Merges from[low, middle) and from[middle, high), each in the order of time, to `to`. Of equal times those of the
 * first come first, as in the text. */
static void merge(struct event *to, const struct event *from, size_t low, size_t middle, size_t high)
{
	size_t a = low, b = middle;

	for (size_t i = low; i < high; i++)
		to[i] = b == high || (a < middle && from[a].ns <= from[b].ns) ? from[a++] : from[b++];
}

/* Merges the events of all CPUs: in each round those of neighbours. */
static int order(struct reader *r)
{
	struct event *other = malloc((r->count + 1) * sizeof(*other)), *from = r->event, *swap;

	if (!other)
		return trace_format_refuse(&r->f, ENOMEM, "%s", strerror(ENOMEM));
	for (size_t width = 1; width < TRACE_TEXT_CPUS_MAX; width *= 2) {
		for (size_t cpu = 0; cpu < TRACE_TEXT_CPUS_MAX; cpu += 2 * width)
			merge(other, from, r->begin[cpu], r->begin[cpu + width], r->begin[cpu + 2 * width]);
		swap = from;
		from = other;
		other = swap;
	}
	r->event = from;
	free(other);
	return 0;
}

/* A loss is before the next event of its CPU, and has its task. */
static void name_losses(struct reader *r)
{
	for (size_t i = 0; i + 1 < r->count; i++)
		if (r->event[i].kind == EVENT_LOST) {
			r->event[i].pid = r->event[i + 1].pid;
			r->event[i].task = r->event[i + 1].task;
		}
}

static void replace(struct reader *r)
{
	struct trace_text *t = r->t;

	free(t->event);
	t->event = r->event;
	r->event = NULL;
	t->count = r->count;
	t->kinds = t->unknown = 0;
	for (size_t i = 0; i < t->count; i++) {
		t->kinds |= 1ULL << t->event[i].kind;
		t->unknown += t->event[i].kind == EVENT_OTHER;
	}
	t->lost = r->lost;
	t->malformed = r->malformed;
	if (*r->markers.start.text)
		t->start = r->markers.start;
	if (*r->markers.breach.text)
		t->breach = r->markers.breach;
	t->resolution_ns = 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void close_all(struct reader *r)
{
	if (r->kbuffer)
		r->f.lib.kbuffer_free(r->kbuffer);
	trace_format_close(&r->f);
	free(r->page);
	free(r->event);
	free(r);
}

int trace_pages_read(struct trace_text *t, int folder_fd, char why[static TRACE_PAGES_WHY_BYTES])
{
	struct reader *r = calloc(1, sizeof(*r));
	int error;

	*why = '\0';
	if (!r) {
		snprintf(why, TRACE_PAGES_WHY_BYTES, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	r->t = r->f.t = t;
	r->f.why = why;
	r->begin_ns = t->count ? t->event[0].ns - NS_PER_US : INT64_MIN;
	error = trace_format_open(&r->f, folder_fd);
	error = error ? error : read_pages(r);
	error = error ? error : compare_with_text(r);
	if (!error) {
		name_losses(r);
		error = order(r);
	}
	if (!error)
		replace(r);
	close_all(r);
	return error;
}

#else

const char *trace_pages_library(void)
{
	return NULL;
}

int trace_pages_read(struct trace_text *t, int folder_fd, char why[static TRACE_PAGES_WHY_BYTES])
{
	(void)t, (void)folder_fd;
	snprintf(why, TRACE_PAGES_WHY_BYTES, "rant was built without libtraceevent: make TRACEEVENT=1");
	return -ENOTSUP;
}

#endif
