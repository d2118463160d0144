/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of the raw pages of a trace, by libtraceevent, and the files below the folder `raw`. For trace_pages.c
 * only. Without WITH_TRACEEVENT there is nothing.
 */
#ifndef EXPLAIN_TRACE_FORMAT_H
#define EXPLAIN_TRACE_FORMAT_H

#include "explain/trace_pages.h"

#ifdef WITH_TRACEEVENT

#include <regex.h>
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>

#define TRACE_FORMAT_LIBRARY "libtraceevent.so.1"
#define TRACE_FORMAT_TYPES 65536 /* of events: common_type has 16 bits */
#define TRACE_FORMAT_LAYOUTS_MAX 64
#define TRACE_FORMAT_NAME_BY_TEXT UINT32_MAX /* trace_text_name() prints "?" if the text does not have the event */

#define TRACE_FORMAT_FUNCTIONS(X) X(tep_alloc) X(tep_free) X(tep_set_loglevel) X(tep_set_file_bigendian) \
	X(tep_parse_event) X(tep_find_event_by_name) X(tep_find_any_field) X(tep_read_number) X(kbuffer_alloc) \
	X(kbuffer_free) X(kbuffer_load_subbuffer) X(kbuffer_read_event) X(kbuffer_next_event) X(kbuffer_event_size)

/* Loaded after the run: linked, its constants would stay in the memory of each run (160 KiB). */
struct trace_library {
	void *handle;
#define MEMBER(name) __typeof__(name) *name;
	TRACE_FORMAT_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* A field of an event. bytes 0: the event has no such field. */
struct trace_field {
	uint32_t offset, bytes;
	bool dynamic, relative; /* 32 bits with length and offset of the data, from the record, or from the field's end */
};

/* Places of the fields of one event. */
struct trace_layout {
	enum event_kind kind;
	uint32_t fixed_name; /* of an event without a field for it */
	struct trace_field number, name, prio;
	int32_t low, high; /* of the number; an event with another is not read */
	bool has_name; /* the field `name` is there; `buf` of a marker has no size */
};

struct trace_common {
	struct trace_field type, flags, pid;
};

struct trace_formats {
	struct trace_text *t; /* its names */
	char *why; /* TRACE_PAGES_WHY_BYTES */
	int fd; /* the folder `raw` */
	struct trace_library lib;
	struct tep_handle *tep;
	regex_t declaration;
	bool has_declaration;

	uint32_t long_bytes, page_bytes, data_offset; /* from header_page */
	struct trace_common common;
	uint8_t layout_of[TRACE_FORMAT_TYPES]; /* by common_type: index of layout[] + 1; 0: none */
	struct trace_layout layout[TRACE_FORMAT_LAYOUTS_MAX];
	unsigned layouts;
};

/* Loads the library, and reads header_page and the formats of the known events. *f is all zeros but for `t` and `why`.
 * folder_fd: the folder that contains `raw`. 0, or -errno and the reason. Call trace_format_close() in any case. */
int trace_format_open(struct trace_formats *f, int folder_fd);

void trace_format_close(struct trace_formats *f);

/* Writes the reason. Returns -error. */
int trace_format_refuse(const struct trace_formats *f, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Opens a regular file below `raw`; no part of its path may be a link. The descriptor and its size, or -errno. */
int trace_format_open_file(const struct trace_formats *f, const char *path, int64_t max_bytes, int64_t *bytes);

/* Reads up to `most` octets, fewer at the end of the file. Their number, or -errno. */
ssize_t trace_format_read(int fd, void *to, size_t most);

#endif
#endif
