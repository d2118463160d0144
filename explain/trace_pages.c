// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The raw pages of a trace. Facts: include/linux/ring_buffer.h (types of records), kernel/trace/ring_buffer.c
 * (rb_event_length(), ring_buffer_read_page()), kernel/trace/trace_output.c (trace_print_lat_fmt()).
 *
 * libtraceevent trusts its input: a length in a page, or the syntax of a format, may lead it outside of its memory or
 * into an endless loop. So page_is_sound() checks all lengths of a page first, and the library gets only the lines of a
 * format that declare fields, without those that have unusual characters.
 */
#include "explain/trace_pages.h"

#include <errno.h>

#ifdef WITH_TRACEEVENT

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>
#include <unistd.h>

#define LIBRARY "libtraceevent.so.1"
#define FORMAT_BYTES 16384 /* of a format: the fields come first */
#define FIELDS_MAX 64 /* of a format */
#define FIELD_LINE_BYTES 256
#define PAGE_MIN_BYTES 1024
#define PAGE_MAX_BYTES (1 << 20)
#define PAGE_SLACK_BYTES 64 /* after a page: the library reads the head of a record before it looks for the end */
#define PAGES_MAX_BYTES (4LL << 30) /* of a CPU */
#define TYPES 65536 /* of events: common_type has 16 bits */
#define LAYOUTS_MAX 64
#define NAME_BY_TEXT UINT32_MAX /* trace_text_name() prints "?" if the text does not have the event */

#define FUNCTIONS(X) X(tep_alloc) X(tep_free) X(tep_set_loglevel) X(tep_set_file_bigendian) X(tep_parse_event) \
	X(tep_find_event_by_name) X(tep_find_any_field) X(tep_read_number) X(kbuffer_alloc) X(kbuffer_free) \
	X(kbuffer_load_subbuffer) X(kbuffer_read_event) X(kbuffer_next_event) X(kbuffer_event_size)

/* Loaded after the run: linked, its constants would stay in the memory of each run (160 KiB). */
struct library {
	void *handle;
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

/* A field of an event. bytes 0: the event has no such field. */
struct field {
	uint32_t offset, bytes;
	bool dynamic, relative; /* 32 bits with length and offset of the data, from the record, or from the field's end */
};

/* The fields of a kind of event that the pages have. The name of a function is there as an address, and that of a
 * softirq as a number: these names are those of the text. */
struct fields {
	const char *number, *name, *prio;
	int32_t low, high; /* of the number; an event with another is not read */
	bool name_by_text;
};

static const struct fields fields_of[EVENT_KINDS] = {
	[EVENT_IRQ_ENTRY] = { .number = "irq", .name = "name", .high = INT32_MAX },
	[EVENT_IRQ_EXIT] = { .number = "irq", .high = INT32_MAX, .name_by_text = true },
	[EVENT_VECTOR_ENTRY] = { .number = "vector", .low = INT32_MIN, .high = INT32_MAX },
	[EVENT_VECTOR_EXIT] = { .number = "vector", .low = INT32_MIN, .high = INT32_MAX },
	[EVENT_SOFTIRQ_RAISE] = { .number = "vec", .high = 31, .name_by_text = true },
	[EVENT_SOFTIRQ_ENTRY] = { .number = "vec", .high = 31, .name_by_text = true },
	[EVENT_SOFTIRQ_EXIT] = { .number = "vec", .high = 31, .name_by_text = true },
	[EVENT_NMI] = { .number = "delta_ns", .high = INT32_MAX, .name_by_text = true },
	[EVENT_SWITCH] = { .number = "next_pid", .name = "next_comm", .prio = "next_prio", .high = INT32_MAX },
	[EVENT_WAKING] = { .number = "pid", .name = "comm", .prio = "prio", .high = INT32_MAX },
	[EVENT_IDLE] = { .number = "state", .low = -1, .high = 99 },
	[EVENT_HRTIMER_ENTRY] = { .name_by_text = true },
	[EVENT_TIMER_ENTRY] = { .name_by_text = true },
	[EVENT_WORK_START] = { .name_by_text = true },
	[EVENT_NAPI_POLL] = { .number = "work", .name = "dev_name", .low = INT32_MIN, .high = INT32_MAX },
	[EVENT_RECEIVE] = { .name = "name" },
	[EVENT_QUEUE] = { .name = "name" },
	[EVENT_XMIT] = { .name = "name" },
	[EVENT_DATA_READY] = { .number = "protocol", .low = INT32_MIN, .high = INT32_MAX },
	[EVENT_PRINT] = { .name = "buf" },
};

/* Places of the fields of one event. */
struct layout {
	enum event_kind kind;
	uint32_t fixed_name; /* of an event without a field for it */
	struct field number, name, prio;
};

struct common {
	struct field type, flags, pid;
};

struct reader {
	struct trace_text *t;
	char *why;
	int fd; /* the folder `raw` */
	struct library lib;
	struct tep_handle *tep;
	struct kbuffer *kbuffer;

	regex_t declaration;
	bool has_declaration;
	uint32_t long_bytes, page_bytes, data_offset;
	uint8_t *page;
	struct common common;
	uint8_t layout_of[TYPES]; /* by common_type: index of layout[] + 1; 0: none */
	struct layout layout[LAYOUTS_MAX];
	unsigned layouts;

	struct event *event; /* by CPU, then in the order of time */
	size_t count, space;
	size_t begin[TRACE_TEXT_CPUS_MAX + 1]; /* the first element of each CPU */
	struct trace_text markers; /* its members start and breach */
	int64_t begin_ns; /* older events are not read: the text does not have them */
	uint64_t lost, malformed;
};

static int refuse(struct reader *r, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int refuse(struct reader *r, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(r->why, TRACE_PAGES_WHY_BYTES, format, arguments);
	va_end(arguments);
	return -error;
}

/* ---- The library ------------------------------------------------------------------------------------------------- */

const char *trace_pages_library(void)
{
	return LIBRARY;
}

static int load(struct reader *r)
{
	struct library *lib = &r->lib;
	bool whole = true;

	lib->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!lib->handle)
		return refuse(r, ENOENT, "%s is not here: install it", LIBRARY);
#define FIND(name) \
	*(void **)&lib->name = dlsym(lib->handle, #name); \
	whole &= lib->name != NULL;
	FUNCTIONS(FIND)
#undef FIND
	return whole ? 0 : refuse(r, ENOSYS, "%s is too old", LIBRARY);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Opens a regular file below `raw`; no part of its path may be a link. The descriptor, or -errno. */
static int open_file(const struct reader *r, const char *path, int64_t max_bytes, int64_t *bytes)
{
	int fd = dup(r->fd), error = 0;
	struct stat s;

	while (fd >= 0) {
		const size_t length = strcspn(path, "/");
		char name[128];
		int next = -1;

		if ((size_t)snprintf(name, sizeof(name), "%.*s", (int)length, path) < sizeof(name))
			next = openat(fd, name, (path[length] ? O_DIRECTORY : O_NONBLOCK) | O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		error = next < 0 ? errno : 0;
		close(fd);
		fd = next;
		path += length;
		if (!*path++)
			break;
	}
	if (fd < 0)
		return error ? -error : -EMFILE;
	if (fstat(fd, &s))
		error = errno;
	else if (!S_ISREG(s.st_mode))
		error = EINVAL;
	else if (s.st_size > max_bytes)
		error = EFBIG;
	if (error)
		close(fd);
	else
		*bytes = s.st_size;
	return error ? -error : fd;
}

/* Reads up to `most` octets. Their number, or -errno. */
static ssize_t read_some(int fd, void *to, size_t most)
{
	size_t done = 0;

	while (done < most) {
		const ssize_t got = read(fd, (char *)to + done, most - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* The beginning of a file. Its octets, or -errno. */
static ssize_t read_file(const struct reader *r, const char *path, char text[static FORMAT_BYTES])
{
	int64_t bytes;
	const int fd = open_file(r, path, 1 << 20, &bytes);
	ssize_t got;

	*text = '\0';
	if (fd < 0)
		return fd;
	got = read_some(fd, text, FORMAT_BYTES - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got;
}

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

/* A declaration of a field as kernels write it, "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;". Other lines
 * make the library lose memory. */
#define WORD "[A-Za-z_][A-Za-z0-9_]*"
#define DECLARATION "^\tfield: ?(" WORD "(\\[])?[ *]+)+" WORD "(\\[[A-Za-z0-9_]*])?;" \
	"\toffset:[0-9]{1,5};\tsize:[0-9]{1,5};(\tsigned:[01];)?$"

/* The line without what is after it. False: not a declaration. */
static bool read_declaration(const struct reader *r, const char *text, char line[static FIELD_LINE_BYTES])
{
	const size_t bytes = strcspn(text, "\n");

	if (bytes >= FIELD_LINE_BYTES)
		return false;
	memcpy(line, text, bytes);
	line[bytes] = '\0';
	return !regexec(&r->declaration, line, 0, NULL, 0);
}

/* Copies the declarations of a format to what tep_parse_event() reads, with another name. */
static size_t copy_declarations(const struct reader *r, char *to, size_t bytes, const char *text, int id)
{
	char line[FIELD_LINE_BYTES];
	bool common = true;
	int fields = 0;

	snprintf(to, bytes, "name: event%d\nID: %d\nformat:\n", id, id);
	for (; *text && fields < FIELDS_MAX; text += strcspn(text, "\n")) {
		text += *text == '\n';
		if (!read_declaration(r, text, line))
			continue;
		/* After the common fields there is an empty line. */
		text_add(to, bytes, "%s%s\n", common && !strstr(line, " common_") ? "\n" : "", line);
		common &= strstr(line, " common_") != NULL;
		fields++;
	}
	text_add(to, bytes, "%s\nprint fmt: \"\"\n", common ? "\n" : "");
	return strlen(to);
}

/* NULL: the format cannot be read. */
static struct tep_event *parse_format(struct reader *r, const char *text, int id)
{
	char copy[FIELDS_MAX * FIELD_LINE_BYTES + 128], name[32];
	const size_t bytes = copy_declarations(r, copy, sizeof(copy), text, id);

	if (r->lib.tep_parse_event(r->tep, copy, bytes, "rant"))
		return NULL;
	snprintf(name, sizeof(name), "event%d", id);
	return r->lib.tep_find_event_by_name(r->tep, "rant", name);
}

/* 0, or -EINVAL and the reason. name NULL: nothing to find. is_text: an array or a string, else a number. */
static int find_field(struct reader *r, struct tep_event *event, const char *path, const char *name, bool is_text,
		      struct field *to)
{
	const struct tep_format_field *f = name ? r->lib.tep_find_any_field(event, name) : NULL;
	bool fits;

	*to = (struct field){ 0 };
	if (!name)
		return 0;
	if (!f)
		return refuse(r, EINVAL, "raw/%s has no field %s", path, name);
	*to = (struct field){ .offset = (uint32_t)f->offset, .bytes = (uint32_t)f->size,
			      .dynamic = f->flags & TEP_FIELD_IS_DYNAMIC, .relative = f->flags & TEP_FIELD_IS_RELATIVE };
	if (is_text)
		fits = to->dynamic ? f->size == 4 : f->flags & TEP_FIELD_IS_ARRAY;
	else
		fits = !to->dynamic && (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
	if (!fits || f->offset < 0 || f->size < 0 || f->offset > PAGE_MAX_BYTES || f->size > PAGE_MAX_BYTES)
		return refuse(r, EINVAL, "raw/%s: the field %s has %d octets", path, name, f->size);
	return 0;
}

static int find_common(struct reader *r, struct tep_event *event, const char *path, struct common *c)
{
	int error = find_field(r, event, path, "common_type", false, &c->type);

	error = error ? error : find_field(r, event, path, "common_flags", false, &c->flags);
	error = error ? error : find_field(r, event, path, "common_pid", false, &c->pid);
	if (!error && (c->type.bytes != 2 || c->pid.bytes != 4))
		error = refuse(r, EINVAL, "raw/%s: common fields of another size", path);
	return error;
}

static bool read_id(const char *text, uint64_t *id)
{
	const char *at = strstr(text, "\nID: ");

	*id = at ? strtoull(at + 5, NULL, 10) : 0;
	return *id > 0 && *id < TYPES;
}

/* Reads the format of an event. Its id: 1 to TYPES - 1; 0: the event was not enabled; -errno and the reason. */
static int read_format(struct reader *r, const char *path, struct tep_event **event, struct common *common)
{
	char text[FORMAT_BYTES];
	const ssize_t got = read_file(r, path, text);
	uint64_t id;
	int error;

	if (got < 0)
		return got == -ENOENT ? 0 : refuse(r, (int)-got, "raw/%s: %s", path, strerror((int)-got));
	if (!read_id(text, &id) || r->layout_of[id])
		return refuse(r, EINVAL, "raw/%s has no id, or that of another event", path);
	*event = parse_format(r, text, (int)id);
	if (!*event)
		return refuse(r, EINVAL, "raw/%s cannot be read", path);
	error = find_common(r, *event, path, common);
	if (!error && r->layouts && memcmp(common, &r->common, sizeof(*common)))
		error = refuse(r, EINVAL, "raw/%s is of another kernel", path);
	return error ? error : (int)id;
}

/* 0, or -errno and the reason. */
static int add_layout(struct reader *r, const struct trace_event_row *row)
{
	const struct fields *f = &fields_of[row->kind];
	/* The vectors of arm64 have a name and no number. */
	const bool is_vector = row->kind == EVENT_VECTOR_ENTRY || row->kind == EVENT_VECTOR_EXIT;
	const char *number = is_vector && !row->name ? NULL : f->number;
	struct layout l = { .kind = row->kind };
	struct common common;
	struct tep_event *event;
	char path[96];
	int id, error;

	snprintf(path, sizeof(path), "events/%s/%s/format", row->system, row->event);
	id = read_format(r, path, &event, &common);
	if (id <= 0)
		return id;
	error = find_field(r, event, path, number, false, &l.number);
	error = error ? error : find_field(r, event, path, f->name, true, &l.name);
	error = error ? error : find_field(r, event, path, f->prio, false, &l.prio);
	if (!error && r->layouts == LAYOUTS_MAX)
		error = refuse(r, EINVAL, "raw/events has too many formats");
	if (error)
		return error;
	if (row->name)
		l.fixed_name = trace_text_intern(r->t, row->name, strlen(row->name));
	else if (f->name_by_text || is_vector)
		l.fixed_name = NAME_BY_TEXT;
	r->common = common;
	r->layout[r->layouts++] = l;
	r->layout_of[id] = (uint8_t)r->layouts;
	return 0;
}

static int read_formats(struct reader *r)
{
	static const struct trace_event_row print = { "ftrace", "print", EVENT_PRINT, NULL, NULL };
	const struct trace_event_row *row;
	int error = add_layout(r, &print);

	for (size_t i = 0; !error && (row = trace_text_row(i)); i++)
		error = add_layout(r, row);
	if (!error && !r->layouts)
		error = refuse(r, ENOENT, "raw/events has no format");
	return error;
}

/* The sizes of a page. */
static int read_header_page(struct reader *r)
{
	static const char path[] = "header_page";
	struct field time, commit, data;
	char text[FORMAT_BYTES];
	const ssize_t got = read_file(r, path, text);
	struct tep_event *event;
	int error;

	if (got < 0)
		return refuse(r, (int)-got, "raw/%s: %s", path, strerror((int)-got));
	event = parse_format(r, text, TYPES);
	if (!event)
		return refuse(r, EINVAL, "raw/%s cannot be read", path);
	error = find_field(r, event, path, "timestamp", false, &time);
	error = error ? error : find_field(r, event, path, "commit", false, &commit);
	if (error)
		return error;

	const struct tep_format_field *f = r->lib.tep_find_any_field(event, "data");

	data = f && f->offset > 0 && f->size > 0 ? (struct field){ (uint32_t)f->offset, (uint32_t)f->size, false, false } :
		   (struct field){ 0 };
	r->long_bytes = commit.bytes;
	r->data_offset = data.offset;
	r->page_bytes = data.offset + data.bytes;
	if (time.offset || time.bytes != 8 || commit.offset != 8 || (commit.bytes != 4 && commit.bytes != 8) ||
	    data.offset != 8 + commit.bytes || data.bytes > PAGE_MAX_BYTES || r->page_bytes < PAGE_MIN_BYTES ||
	    r->page_bytes % 512)
		return refuse(r, EINVAL, "raw/%s has another layout of pages", path);
	r->page = calloc(1, r->page_bytes + PAGE_SLACK_BYTES);
	r->kbuffer = r->lib.kbuffer_alloc(commit.bytes == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
					  KBUFFER_ENDIAN_SAME_AS_HOST);
	return r->page && r->kbuffer ? 0 : refuse(r, ENOMEM, "%s", strerror(ENOMEM));
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

	if (r->long_bytes == 4)
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
	const uint8_t *data = r->page + r->data_offset;
	const size_t bytes = commit & ~(uint64_t)(MISSED | MISSED_STORED), space = r->page_bytes - r->data_offset;

	if (bytes > space || (commit & MISSED_STORED && bytes + r->long_bytes > space))
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
			return refuse(r, ENOMEM, "too many events");
		r->event = more;
		r->space = space;
	}
	r->event[r->count++] = *e;
	return 0;
}

/* False: the record is too short. */
static bool read_number(const struct reader *r, const struct field *f, const uint8_t *record, size_t bytes, int64_t *to)
{
	uint64_t value;

	if (f->offset + f->bytes > bytes)
		return false;
	value = r->lib.tep_read_number(r->tep, record + f->offset, (int)f->bytes);
	/* As the text has it: state=4294967295 is -1. */
	*to = f->bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
	return true;
}

/* A string up to its end, or that of its array. False: the record is too short. */
static bool read_text(const struct reader *r, const struct field *f, const uint8_t *record, size_t bytes,
		      const char **text, size_t *length)
{
	size_t from = f->offset, most = f->bytes ? f->bytes : bytes - f->offset; /* buf[] has all the rest */
	int64_t place;

	if (f->offset > bytes)
		return false;
	if (f->dynamic) {
		if (!read_number(r, &(struct field){ .offset = f->offset, .bytes = 4 }, record, bytes, &place))
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
static bool read_fields(struct reader *r, struct event *e, const struct layout *l, const uint8_t *record, size_t bytes)
{
	const struct fields *f = &fields_of[l->kind];
	int64_t number = 0, prio = 0;
	const char *text = "";
	size_t length = 0;

	e->kind = (uint8_t)l->kind;
	e->name = l->fixed_name;
	if ((l->number.bytes && !read_number(r, &l->number, record, bytes, &number)) ||
	    (l->number.bytes && (number < f->low || number > f->high)) ||
	    (l->prio.bytes && !read_number(r, &l->prio, record, bytes, &prio)) ||
	    (f->name && !read_text(r, &l->name, record, bytes, &text, &length)))
		return false;
	e->number = (int32_t)number;
	if (l->prio.bytes)
		e->prio = (int16_t)(prio < 0 ? -1 : prio <= 1000 ? prio : 120);
	if (l->kind != EVENT_PRINT) {
		e->name = f->name ? trace_text_intern(r->t, text, length) : e->name;
	} else if (length < 5 || memcmp(text, "RANT_", 5)) {
		e->kind = EVENT_OTHER;
	} else {
		note_marker(r, e, text, length);
	}
	return true;
}

static int add_record(struct reader *r, unsigned cpu, int64_t ns, const uint8_t *record, size_t bytes)
{
	struct event e = { .ns = ns, .cpu = (uint16_t)cpu, .kind = EVENT_OTHER, .task = NAME_BY_TEXT };
	int64_t type, flags, pid;
	unsigned layout;

	if (!read_number(r, &r->common.type, record, bytes, &type) ||
	    !read_number(r, &r->common.flags, record, bytes, &flags) ||
	    !read_number(r, &r->common.pid, record, bytes, &pid) || pid < 0) {
		r->malformed++;
		return 0;
	}
	e.pid = (int32_t)pid;
	read_context(&e, (unsigned)flags);
	layout = r->layout_of[(uint16_t)type];
	if (layout && !read_fields(r, &e, &r->layout[layout - 1], record, bytes)) {
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
		return refuse(r, EINVAL, "raw/cpu%u has an invalid page", cpu);
	if (r->lib.kbuffer_load_subbuffer(r->kbuffer, r->page))
		return refuse(r, EINVAL, "raw/cpu%u has a page that cannot be read", cpu);
	for (record = r->lib.kbuffer_read_event(r->kbuffer, &ns); record && !error;
	     record = r->lib.kbuffer_next_event(r->kbuffer, &ns)) {
		const int bytes = r->lib.kbuffer_event_size(r->kbuffer);

		if (ns > INT64_MAX / 4 || (int64_t)ns < *last_ns)
			return refuse(r, EINVAL, "raw/cpu%u: its times go back", cpu);
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
	fd = open_file(r, path, PAGES_MAX_BYTES, &bytes);
	if (fd == -ENOENT)
		return 0; /* if the text has events of it, the pages are refused later */
	if (fd < 0)
		return refuse(r, -fd, "raw/%s: %s", path, strerror(-fd));
	if (bytes % r->page_bytes)
		error = refuse(r, EINVAL, "raw/%s is truncated, or has pages of another size", path);
	while (!error) {
		const ssize_t got = read_some(fd, r->page, r->page_bytes);

		if (got < 0)
			error = refuse(r, (int)-got, "raw/%s: %s", path, strerror((int)-got));
		if (got < (ssize_t)r->page_bytes)
			break;
		error = read_page(r, cpu, &last_ns);
	}
	close(fd);
	return error;
}

static int read_pages(struct reader *r)
{
	int error = 0;

	for (unsigned cpu = 0; cpu < TRACE_TEXT_CPUS_MAX && !error; cpu++) {
		r->begin[cpu] = r->count;
		error = read_cpu(r, cpu);
	}
	r->begin[TRACE_TEXT_CPUS_MAX] = r->count;
	if (!error && !r->count)
		error = refuse(r, ENOENT, "no raw pages in raw/");
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
	int error = next ? 0 : refuse(r, ENOMEM, "%s", strerror(ENOMEM));

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

			error = refuse(r, EINVAL, "raw/cpu%u lacks the event of all.txt at %" PRId64 ".%06" PRId64,
				       text->cpu, s, us);
			break;
		}

		r->event[*at].task = text->task;
		if (r->event[*at].name == NAME_BY_TEXT)
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
		return refuse(r, ENOMEM, "%s", strerror(ENOMEM));
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

static int open_library(struct reader *r)
{
	const int error = load(r);

	if (error)
		return error;
	r->lib.tep_set_loglevel(TEP_LOG_NONE);
	r->tep = r->lib.tep_alloc();
	if (!r->tep)
		return refuse(r, ENOMEM, "%s", strerror(ENOMEM));
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		r->lib.tep_set_file_bigendian(r->tep, TEP_BIG_ENDIAN);
	r->has_declaration = !regcomp(&r->declaration, DECLARATION, REG_EXTENDED | REG_NOSUB);
	return r->has_declaration ? 0 : refuse(r, ENOMEM, "%s", strerror(ENOMEM));
}

static void close_all(struct reader *r)
{
	if (r->has_declaration)
		regfree(&r->declaration);
	if (r->kbuffer)
		r->lib.kbuffer_free(r->kbuffer);
	if (r->tep)
		r->lib.tep_free(r->tep);
	if (r->lib.handle)
		dlclose(r->lib.handle);
	if (r->fd >= 0)
		close(r->fd);
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
	r->t = t;
	r->why = why;
	r->begin_ns = t->count ? t->event[0].ns - NS_PER_US : INT64_MIN;
	r->fd = openat(folder_fd, "raw", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	error = r->fd < 0 ? refuse(r, errno, "no raw pages: raw/: %s", strerror(errno)) : open_library(r);
	error = error ? error : read_header_page(r);
	error = error ? error : read_formats(r);
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
