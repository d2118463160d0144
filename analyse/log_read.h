/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a log of any form, record by record; the log is never in memory as a whole. */
#ifndef ANALYSE_LOG_READ_H
#define ANALYSE_LOG_READ_H

#include "options.h"
#include "rant.h"
#include "report/log/log_form.h"

#define LOG_COLUMNS_MAX 24
#define LOG_NAME_BYTES 16

struct log_column {
	char name[LOG_NAME_BYTES];
	enum log_column_kind kind; /* never COLUMN_TIME_THERE */
	uint8_t time; /* for COLUMN_TIME: index of struct sample.time_ns */
	enum source source; /* source of this time */
	uint16_t offset, bytes; /* only for an array */
};

/* Meaning of the column names of a log: role of the host, source of the timestamps, time of each column. */
struct log_names {
	struct log_column column[LOG_COLUMNS_MAX];
	unsigned columns;

	/* Set by log_names_read(). */
	enum role role;
	enum source stamp; /* source of this host's wire timestamps; SOURCE_USER: none */
	enum source remote; /* source of the other host's wire timestamps, if any */
	bool has[ALL_TIMES];
	bool full; /* with times of the other host */
	uint8_t from, to; /* times whose difference is the latency */
};

/* Adds a column. False: there are too many, or the name is too long. */
bool log_names_add(struct log_names *n, const char *name, size_t bytes);

/* Evaluates all columns. NULL, or the reason why they are not columns of a log, which continues "its columns". */
const char *log_names_read(struct log_names *n);

/* Sets the options of the run that the columns imply; others stay unchanged. */
void log_names_options(const struct log_names *n, struct options *o);

#define LOG_LINE_BYTES 1024 /* longer than any line of a log */

struct log_read {
	const char *path; /* stays the caller's */
	FILE *file; /* the caller's too */
	enum log_format form;
	struct log_names names;
	uint64_t records; /* records read so far */
	uint64_t left_out; /* records left out, according to the notes of the log */
	bool stamps_changed; /* a note changes the source of the other host's timestamps: its columns mix two sources */
	bool at_least; /* left_out is a lower bound: a mark in an array counts to 65534 */
	/* Response and network of the last record as they were logged, also where one of their times has no
	 * column. */
	bool reported[2];
	int64_t reported_ns[2];

	/* Inside. */
	uint64_t line; /* line number in a text */
	uint64_t all; /* records of an array, by its header */
	unsigned record_bytes;
	bool swapped; /* the octet order is not ours */
	char text[LOG_LINE_BYTES];
};

/* Form of a log by its first octets. */
enum log_look {
	LOG_LOOK_TEXT = LOG_TEXT, LOG_LOOK_NPY = LOG_NPY, LOG_LOOK_CSV = LOG_CSV,
	LOG_LOOK_JSON = LOG_FORMATS, LOG_LOOK_EMPTY, LOG_LOOK_FOREIGN
};

/* Leaves the file at its beginning. */
enum log_look log_read_look(FILE *file);

/* Reads the header. form: as returned by log_read_look(). 0, or -errno after one line. */
int log_read_open(struct log_read *l, FILE *file, const char *path, enum log_format form);

#define LOG_READ_REPEATED 2

/* Reads the next record into *s. 1; 0: end of the log; LOG_READ_REPEATED: not a record, but the note that the
 * reflector received s->seq again; or -errno after one line with the position. */
int log_read_next(struct log_read *l, struct sample *s);

/* ---- log_array.c ------------------------------------------------------------------------------------------------- */

/* Reads a log that is a NumPy array (.npy). For analyse/log_read.c only; report/log/log_form.h describes
 * the format. */

/* Reads the header; the file is at its beginning. 0, or -errno after one line. */
int log_array_open(struct log_read *l);

/* Reads the next record. 1; 0: end of the log; or -errno after one line. */
int log_array_next(struct log_read *l, struct sample *s);

#endif
