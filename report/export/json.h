/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streaming writer of JSON (RFC 8259) with a buffer of one block. Members are written in the order of the calls. The
 * text is valid if json_finish() returns 0. The caller must not use a name twice in one object.
 */
#ifndef REPORT_EXPORT_JSON_H
#define REPORT_EXPORT_JSON_H

#include "rant.h"

#define JSON_BLOCK_BYTES 8192
#define JSON_DEPTH 16

struct json {
	/* Receives the text. 0, or -errno. */
	int (*put)(void *context, const char *from, size_t bytes);
	void *context;
	bool in_a_line; /* one line for each top-level value, without blanks */

	int error; /* -errno of the first error; nothing is written after it */
	unsigned depth;
	struct {
		char close;
		bool flat; /* with all members in one line */
		unsigned values;
	} level[JSON_DEPTH];
	size_t used;
	char block[JSON_BLOCK_BYTES];
};

/* Hidden: libjansson exports json_object() and other names of this header. */
#pragma GCC visibility push(hidden)

/* Begins a text. */
void json_begin(struct json *j, int (*put)(void *context, const char *from, size_t bytes), void *context,
		bool in_a_line);

/* An object or an array, up to json_end(). name: in an object; NULL in an array and at the top. */
void json_object(struct json *j, const char *name);
bool json_object_if(struct json *j, const char *name, bool known); /* false: null was written */
void json_array(struct json *j, const char *name);
void json_row(struct json *j, const char *name); /* an object in one line */
void json_pair(struct json *j, const char *name); /* an array in one line */
void json_end(struct json *j);

/* Values. NaN, infinity and a text of NULL become null. */
void json_null(struct json *j, const char *name);
void json_bool(struct json *j, const char *name, bool value);
void json_integer(struct json *j, const char *name, int64_t value);
void json_integer_if(struct json *j, const char *name, bool known, int64_t value); /* not known: null */
void json_optional(struct json *j, const char *name, struct optional value); /* the same */
void json_count(struct json *j, const char *name, uint64_t value);
void json_count_if(struct json *j, const char *name, bool known, uint64_t value); /* null if not known */
void json_real(struct json *j, const char *name, double value, int decimals);
void json_small(struct json *j, const char *name, double value); /* three digits and an exponent */

/* UTF-8, escaped by RFC 8259 section 7; each octet that is not UTF-8 becomes U+FFFD. */
void json_text(struct json *j, const char *name, const char *text);

/* A value that is JSON already. */
void json_raw(struct json *j, const char *name, const char *value);

/* A label of the report as a name: "App-to-NIC" and "_ns" is app_to_nic_ns. Returns to; truncated
 * to the size of the buffer. */
const char *json_name(char *to, size_t bytes, const char *label, const char *unit);

/* Writes the buffer before a block is full. */
void json_flush(struct json *j);

/* Writes the rest. 0, or -errno; -EINVAL: json_end() is missing, or there was one too many. */
int json_finish(struct json *j);

#pragma GCC visibility pop

#endif
