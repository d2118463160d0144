/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log of any form, read record by record: it is never in memory as a whole. */
#ifndef ANALYSE_LOG_READ_H
#define ANALYSE_LOG_READ_H

#include "analyse/log_names.h"
#include "options.h"
#include "rant.h"

#define LOG_LINE_BYTES 1024 /* no line of a log is as long */

struct log_read {
	const char *path; /* stays the caller's */
	FILE *file; /* the caller's too */
	enum log_format form;
	struct log_names names;
	uint64_t records; /* read so far */
	uint64_t left_out; /* by what the log tells of them */
	bool stamps_changed; /* a note names the stamps of the other host anew: its columns are of two kinds */
	bool at_least; /* a mark of an array cannot tell more than 65534 */
	/* Of the record that was read last: response and network as they were recorded, also where a time of theirs has
	 * no column. */
	bool told[2];
	int64_t told_ns[2];

	/* Inside. */
	uint64_t line; /* of a text */
	uint64_t all; /* records of an array, by its header */
	unsigned record_bytes;
	bool swapped; /* the octet order is not ours */
	char text[LOG_LINE_BYTES];
};

/* What its first octets tell: the form of a log, or that it is none. */
enum log_look {
	LOG_LOOK_TEXT = LOG_TEXT, LOG_LOOK_NPY = LOG_NPY, LOG_LOOK_CSV = LOG_CSV,
	LOG_LOOK_JSON = LOG_FORMATS, LOG_LOOK_EMPTY, LOG_LOOK_FOREIGN
};

/* Leaves the file at its begin. */
enum log_look log_read_look(FILE *file);

/* Reads what is before the first record. form: as log_read_look() tells. 0, or -errno after one line. */
int log_read_open(struct log_read *l, FILE *file, const char *path, enum log_format form);

#define LOG_READ_REPEATED 2

/* Sets *s, as it was when it was logged. 1; 0: there are no more; LOG_READ_REPEATED: no record, but the note that the
 * reflector received s->seq again; or -errno after one line, which says where. */
int log_read_next(struct log_read *l, struct sample *s);

#endif
