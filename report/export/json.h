/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer of JSON (RFC 8259) that keeps nothing but a block of octets. It writes what it is told in the order in which
 * it is told, and what it has written is valid when json_finish() says so. Names are the caller's: no object may have
 * one twice.
 */
#ifndef REPORT_EXPORT_JSON_H
#define REPORT_EXPORT_JSON_H

#include "rant.h"

#define JSON_BLOCK_BYTES 8192
#define JSON_DEPTH 16

struct json {
	/* Takes what is written, 0 or -errno. */
	int (*put)(void *context, const char *from, size_t bytes);
	void *context;
	bool in_a_line; /* no line ends and no blanks, but the line end behind a value that is in no other */

	int error; /* -errno: the first one; nothing is put after it */
	unsigned depth;
	struct {
		char close;
		bool flat; /* and all that is in it: in one line */
		unsigned values;
	} level[JSON_DEPTH];
	size_t used;
	char block[JSON_BLOCK_BYTES];
};

/* Hidden, for libjansson has json_object() and some more of these names: none here takes the place of the library's. */
#pragma GCC visibility push(hidden)

/* Begins a text. */
void json_begin(struct json *j, int (*put)(void *context, const char *from, size_t bytes), void *context,
		bool in_a_line);

/* An object or an array, up to json_end(). name: in an object; NULL in an array and at the top. */
void json_object(struct json *j, const char *name);
void json_array(struct json *j, const char *name);
void json_row(struct json *j, const char *name); /* an object in one line, for what is many; */
void json_pair(struct json *j, const char *name); /* an array in one line, for what is short too */
void json_end(struct json *j);

/* Values. What is no number (NaN, infinity) is null, and so is a text that is NULL. */
void json_null(struct json *j, const char *name);
void json_bool(struct json *j, const char *name, bool value);
void json_integer(struct json *j, const char *name, int64_t value);
void json_integer_if(struct json *j, const char *name, bool known, int64_t value); /* else it is null */
void json_count(struct json *j, const char *name, uint64_t value);
void json_real(struct json *j, const char *name, double value, int decimals);

/* UTF-8 with what RFC 8259 section 7 wants escaped; what is no UTF-8 becomes U+FFFD, one for each octet. */
void json_text(struct json *j, const char *name, const char *text);

/* A label of the report as a name: "App-to-NIC" and "_ns" is app_to_nic_ns. Returns to; cut off where there is no more
 * room. */
const char *json_name(char *to, size_t bytes, const char *label, const char *unit);

/* Puts what is there so far: it is not kept back until a block is full. */
void json_flush(struct json *j);

/* Puts what is left. 0, or -errno; -EINVAL: something is not ended, or was never begun. */
int json_finish(struct json *j);

#pragma GCC visibility pop

#endif
