// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Formats of the raw pages of a trace. Facts: Documentation/trace/events.rst (event formats),
 * kernel/trace/ring_buffer.c (ring_buffer_print_page_header()).
 *
 * libtraceevent trusts its input: the syntax of a format may lead it into lost memory or further. So it gets only lines
 * that declare a field as kernels do.
 */
#include "explain/trace_format.h"

#ifdef WITH_TRACEEVENT

#include "host/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT_BYTES 16384 /* of a format: the fields come first */
#define FIELDS_MAX 64 /* of a format */
#define FIELD_LINE_BYTES 256
#define PAGE_MIN_BYTES 1024
#define PAGE_MAX_BYTES (1 << 20)

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

int trace_format_refuse(const struct trace_formats *f, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(f->why, TRACE_PAGES_WHY_BYTES, format, arguments);
	va_end(arguments);
	return -error;
}

/* ---- The library ------------------------------------------------------------------------------------------------- */

static int load(struct trace_formats *f)
{
	struct trace_library *lib = &f->lib;
	bool whole = true;

	lib->handle = dlopen(TRACE_FORMAT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!lib->handle)
		return trace_format_refuse(f, ENOENT, "%s is not here: install it", TRACE_FORMAT_LIBRARY);
#define FIND(name) \
	*(void **)&lib->name = dlsym(lib->handle, #name); \
	whole &= lib->name != NULL;
	TRACE_FORMAT_FUNCTIONS(FIND)
#undef FIND
	return whole ? 0 : trace_format_refuse(f, ENOSYS, "%s is too old", TRACE_FORMAT_LIBRARY);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

int trace_format_open_file(const struct trace_formats *f, const char *path, int64_t max_bytes, int64_t *bytes)
{
	int fd = dup(f->fd), error = 0;

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
	*bytes = file_regular_bytes(fd, max_bytes);
	if (*bytes >= 0)
		return fd;
	close(fd);
	return (int)*bytes;
}

ssize_t trace_format_read(int fd, void *to, size_t most)
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
static ssize_t read_file(const struct trace_formats *f, const char *path, char text[static FORMAT_BYTES])
{
	int64_t bytes;
	const int fd = trace_format_open_file(f, path, 1 << 20, &bytes);
	ssize_t got;

	*text = '\0';
	if (fd < 0)
		return fd;
	got = trace_format_read(fd, text, FORMAT_BYTES - 1);
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
static bool read_declaration(const struct trace_formats *f, const char *text, char line[static FIELD_LINE_BYTES])
{
	const size_t bytes = strcspn(text, "\n");

	if (bytes >= FIELD_LINE_BYTES)
		return false;
	memcpy(line, text, bytes);
	line[bytes] = '\0';
	return !regexec(&f->declaration, line, 0, NULL, 0);
}

/* Copies the declarations of a format to what tep_parse_event() reads, with another name. */
static size_t copy_declarations(const struct trace_formats *f, char *to, size_t bytes, const char *text, int id)
{
	char line[FIELD_LINE_BYTES];
	bool common = true;
	int fields = 0;

	snprintf(to, bytes, "name: event%d\nID: %d\nformat:\n", id, id);
	for (; *text && fields < FIELDS_MAX; text += strcspn(text, "\n")) {
		text += *text == '\n';
		if (!read_declaration(f, text, line))
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
static struct tep_event *parse_format(struct trace_formats *f, const char *text, int id)
{
	char copy[FIELDS_MAX * FIELD_LINE_BYTES + 128], name[32];
	const size_t bytes = copy_declarations(f, copy, sizeof(copy), text, id);

	if (f->lib.tep_parse_event(f->tep, copy, bytes, "rant"))
		return NULL;
	snprintf(name, sizeof(name), "event%d", id);
	return f->lib.tep_find_event_by_name(f->tep, "rant", name);
}

/* 0, or -EINVAL and the reason. name NULL: nothing to find. is_text: an array or a string, else a number. */
static int find_field(struct trace_formats *f, struct tep_event *event, const char *path, const char *name,
		      bool is_text, struct trace_field *to)
{
	const struct tep_format_field *found = name ? f->lib.tep_find_any_field(event, name) : NULL;
	bool fits;

	*to = (struct trace_field){ 0 };
	if (!name)
		return 0;
	if (!found)
		return trace_format_refuse(f, EINVAL, "raw/%s has no field %s", path, name);
	*to = (struct trace_field){ .offset = (uint32_t)found->offset, .bytes = (uint32_t)found->size,
			      .dynamic = found->flags & TEP_FIELD_IS_DYNAMIC, .relative = found->flags & TEP_FIELD_IS_RELATIVE };
	if (is_text)
		fits = to->dynamic ? found->size == 4 : found->flags & TEP_FIELD_IS_ARRAY;
	else
		fits = !to->dynamic && (found->size == 1 || found->size == 2 || found->size == 4 || found->size == 8);
	if (!fits || found->offset < 0 || found->size < 0 || found->offset > PAGE_MAX_BYTES || found->size > PAGE_MAX_BYTES)
		return trace_format_refuse(f, EINVAL, "raw/%s: the field %s has %d octets", path, name, found->size);
	return 0;
}

static int find_common(struct trace_formats *f, struct tep_event *event, const char *path, struct trace_common *c)
{
	int error = find_field(f, event, path, "common_type", false, &c->type);

	error = error ? error : find_field(f, event, path, "common_flags", false, &c->flags);
	error = error ? error : find_field(f, event, path, "common_pid", false, &c->pid);
	if (!error && (c->type.bytes != 2 || c->pid.bytes != 4))
		error = trace_format_refuse(f, EINVAL, "raw/%s: common fields of another size", path);
	return error;
}

static bool read_id(const char *text, uint64_t *id)
{
	const char *at = strstr(text, "\nID: ");

	*id = at ? strtoull(at + 5, NULL, 10) : 0;
	return *id > 0 && *id < TRACE_FORMAT_TYPES;
}

/* Reads the format of an event. Its id: 1 to TRACE_FORMAT_TYPES - 1; 0: the event was not enabled; -errno and the
 * reason. */
static int read_format(struct trace_formats *f, const char *path, struct tep_event **event, struct trace_common *common)
{
	char text[FORMAT_BYTES];
	const ssize_t got = read_file(f, path, text);
	uint64_t id;
	int error;

	if (got < 0)
		return got == -ENOENT ? 0 : trace_format_refuse(f, (int)-got, "raw/%s: %s", path, strerror((int)-got));
	if (!read_id(text, &id) || f->layout_of[id])
		return trace_format_refuse(f, EINVAL, "raw/%s has no id, or that of another event", path);
	*event = parse_format(f, text, (int)id);
	if (!*event)
		return trace_format_refuse(f, EINVAL, "raw/%s cannot be read", path);
	error = find_common(f, *event, path, common);
	if (!error && f->layouts && memcmp(common, &f->common, sizeof(*common)))
		error = trace_format_refuse(f, EINVAL, "raw/%s is of another kernel", path);
	return error ? error : (int)id;
}

/* 0, or -errno and the reason. */
static int add_layout(struct trace_formats *f, const struct trace_event_row *row)
{
	const struct fields *fields = &fields_of[row->kind];
	/* The vectors of arm64 have a name and no number. */
	const bool is_vector = row->kind == EVENT_VECTOR_ENTRY || row->kind == EVENT_VECTOR_EXIT;
	const char *number = is_vector && !row->name ? NULL : fields->number;
	struct trace_layout l = { .kind = row->kind, .low = fields->low, .high = fields->high,
				  .has_name = fields->name };
	struct trace_common common;
	struct tep_event *event;
	char path[96];
	int id, error;

	snprintf(path, sizeof(path), "events/%s/%s/format", row->system, row->event);
	id = read_format(f, path, &event, &common);
	if (id <= 0)
		return id;
	error = find_field(f, event, path, number, false, &l.number);
	error = error ? error : find_field(f, event, path, fields->name, true, &l.name);
	error = error ? error : find_field(f, event, path, fields->prio, false, &l.prio);
	if (!error && f->layouts == TRACE_FORMAT_LAYOUTS_MAX)
		error = trace_format_refuse(f, EINVAL, "raw/events has too many formats");
	if (error)
		return error;
	if (row->name)
		l.fixed_name = trace_text_intern(f->t, row->name, strlen(row->name));
	else if (fields->name_by_text || is_vector)
		l.fixed_name = TRACE_FORMAT_NAME_BY_TEXT;
	f->common = common;
	f->layout[f->layouts++] = l;
	f->layout_of[id] = (uint8_t)f->layouts;
	return 0;
}

static int read_formats(struct trace_formats *f)
{
	static const struct trace_event_row print = { "ftrace", "print", EVENT_PRINT, NULL, NULL };
	const struct trace_event_row *row;
	int error = add_layout(f, &print);

	for (size_t i = 0; !error && (row = trace_text_row(i)); i++)
		error = add_layout(f, row);
	if (!error && !f->layouts)
		error = trace_format_refuse(f, ENOENT, "raw/events has no format");
	return error;
}

/* The sizes of a page. */
static int read_header_page(struct trace_formats *f)
{
	static const char path[] = "header_page";
	struct trace_field time, commit, data = { 0 };
	char text[FORMAT_BYTES];
	const ssize_t got = read_file(f, path, text);
	struct tep_event *event;
	int error;

	if (got < 0)
		return trace_format_refuse(f, (int)-got, "raw/%s: %s", path, strerror((int)-got));
	event = parse_format(f, text, TRACE_FORMAT_TYPES);
	if (!event)
		return trace_format_refuse(f, EINVAL, "raw/%s cannot be read", path);
	error = find_field(f, event, path, "timestamp", false, &time);
	error = error ? error : find_field(f, event, path, "commit", false, &commit);
	if (error)
		return error;

	const struct tep_format_field *found = f->lib.tep_find_any_field(event, "data");

	if (found && found->offset > 0 && found->size > 0)
		data = (struct trace_field){ .offset = (uint32_t)found->offset, .bytes = (uint32_t)found->size };
	f->long_bytes = commit.bytes;
	f->data_offset = data.offset;
	f->page_bytes = data.offset + data.bytes;
	if (time.offset || time.bytes != 8 || commit.offset != 8 || (commit.bytes != 4 && commit.bytes != 8) ||
	    data.offset != 8 + commit.bytes || data.bytes > PAGE_MAX_BYTES || f->page_bytes < PAGE_MIN_BYTES ||
	    f->page_bytes % 512)
		return trace_format_refuse(f, EINVAL, "raw/%s has another layout of pages", path);
	return 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int open_library(struct trace_formats *f)
{
	const int error = load(f);

	if (error)
		return error;
	f->lib.tep_set_loglevel(TEP_LOG_NONE);
	f->tep = f->lib.tep_alloc();
	if (!f->tep)
		return trace_format_refuse(f, ENOMEM, "%s", strerror(ENOMEM));
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		f->lib.tep_set_file_bigendian(f->tep, TEP_BIG_ENDIAN);
	f->has_declaration = !regcomp(&f->declaration, DECLARATION, REG_EXTENDED | REG_NOSUB);
	return f->has_declaration ? 0 : trace_format_refuse(f, ENOMEM, "%s", strerror(ENOMEM));
}

int trace_format_open(struct trace_formats *f, int folder_fd)
{
	int error;

	f->fd = openat(folder_fd, "raw", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0)
		return trace_format_refuse(f, errno, "no raw pages: raw/: %s", strerror(errno));
	error = open_library(f);
	error = error ? error : read_header_page(f);
	return error ? error : read_formats(f);
}

void trace_format_close(struct trace_formats *f)
{
	if (f->has_declaration)
		regfree(&f->declaration);
	if (f->tep)
		f->lib.tep_free(f->tep);
	if (f->lib.handle)
		dlclose(f->lib.handle);
	if (f->fd >= 0)
		close(f->fd);
}

#endif
