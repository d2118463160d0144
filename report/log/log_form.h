/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log formats: columns of a record, and their encoding. For this folder and analyse/log_*.c, which read the
 * log. */
#ifndef REPORT_LOG_LOG_FORM_H
#define REPORT_LOG_LOG_FORM_H

#include "options.h"
#include "report/text/label.h"
#include "result/stages.h"

#define LOG_BEGIN_BYTES 1152 /* maximum size of the begin of a file */
#define LOG_RECORD_BYTES 640 /* maximum size of a record or a note */

/* Column widths of a text, in characters. */
#define LOG_SEQ_WIDTH 10
#define LOG_TIME_WIDTH 30
#define LOG_LATENCY_WIDTH 15
#define LOG_FLAGS_WIDTH 16 /* "unknown,unplaced" */

/* Column kinds in the order of an array; in a text the flags are last. */
enum log_column_kind {
	COLUMN_UNUSED, /* unnamed octets of an array */
	COLUMN_SEQ,
	COLUMN_LEFT_OUT,
	COLUMN_FLAGS,
	COLUMN_TIME,
	COLUMN_LATENCY,
	COLUMN_TIME_THERE,
	COLUMN_RESPONSE,
	COLUMN_NETWORK,
	COLUMN_POLL_GAP,
	COLUMN_REMOTE_POLL_GAP,
	COLUMN_KERNEL, /* KERNEL_RECEIVE */
	COLUMN_REMOTE_KERNEL,
	COLUMN_KERNEL_TRANSMIT, /* KERNEL_QUEUE to REMOTE_KERNEL_DRIVER: octets of an array only if it has values */
	COLUMN_KINDS
};

/* A column kind. Records are laid out by log_npy_record() and log_text_record(). */
struct log_kind {
	const char *name; /* NULL: log_columns_name(), or label_roles[].latency */
	uint8_t width; /* width in a text; 0: not in a text */
	char type; /* NumPy type code */
	uint8_t bytes; /* size in an array */
	bool full; /* in a full log only */
};

extern const struct log_kind log_kinds[COLUMN_KINDS];

/* A column of a certain log. */
struct log_field {
	const struct log_kind *kind;
	char name[16];
	bool has_values; /* false: a time that this log does not have */
};

#define LOG_FIELDS_MAX (ALL_TIMES + 8)

/* Strings shared by writer and reader: flag, separator of two flags, and notes: "# N records left out from
 * SEQ M on: WHY", "# SEQ N was received again", "# NAME is NAME from here on". */
#define LOG_UNCONVERTED "unplaced"
#define LOG_TEXT_BETWEEN ','
#define LOG_CSV_BETWEEN ';'
#define LOG_NOTE "# "
#define LOG_NOTE_LEFT_OUT " records left out from SEQ "
#define LOG_NOTE_AGAIN " was received again"
#define LOG_NOTE_CHANGED " from here on"

struct log_columns {
	const struct options *options;
	int64_t remote; /* enum source of the reflector's timestamps, which determines its column names */
	bool time[ALL_TIMES], full;
	struct stage stages[STAGES];
	/* Text of each time's last second: it changes once a second. */
	struct {
		int64_t at_ns; /* begin of that second */
		char text[1 + LOG_TIME_WIDTH - 9];
	} second[ALL_TIMES];
};

struct log_form {
	const char *name; /* as in the option */
	bool is_text; /* the file may have notes: lines that begin with "# " */
	/* Each writes at `at` and returns the end of the output. */
	char *(*begin)(char *at, struct log_columns *c, uint64_t records); /* a text ignores `records` */
	/* left_out: records missing from the file right before this record. */
	char *(*record)(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);
};

extern const struct log_form log_forms[LOG_FORMATS]; /* by enum log_format */

/* there: source of the reflector's timestamps as known so far. */
void log_columns_choose(struct log_columns *c, const struct options *o, int64_t remote);

/* Columns of a file in the order of an array. Returns their number. */
unsigned log_columns_list(const struct log_columns *c, struct log_field list[LOG_FIELDS_MAX]);

/* Name of time i, as by label_name(). */
const char *log_columns_name(const struct log_columns *c, char *text, size_t bytes, int i);

/* True if time i is present and from the clock that its column names. */
static inline bool log_columns_has(const struct log_columns *c, const struct sample *s, int i)
{
	return label_has_time(c->options->role, c->remote, s, i);
}

/* True if the log has the kernel's transmit times. */
static inline bool log_columns_transmit(const struct log_columns *c)
{
	return c->time[KERNEL_QUEUE] || c->time[REMOTE_KERNEL_QUEUE];
}

/* True if a user-space time could not be converted to the timebase of its host's timestamps. */
bool log_columns_unconverted(const struct log_columns *c, const struct sample *s);

/* ---- log_text.c -------------------------------------------------------------------------------------------------- */

/* The log as text in columns, and as comma-separated values. See struct log_form. */

/* Columns of fixed width, right-aligned; times in seconds with nine digits; "-" for a missing value. */
char *log_text_begin(char *at, struct log_columns *c, uint64_t records);
char *log_text_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);

/* All times in whole nanoseconds, which no reader rounds; empty if missing. */
char *log_csv_begin(char *at, struct log_columns *c, uint64_t records);
char *log_csv_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);

/* ---- log_npy.c --------------------------------------------------------------------------------------------------- */

/*
 * The log as a NumPy array: a header of NPY_BEGIN_BYTES, then records of 64 octets, or 128 of a full log, or 160 with
 * the kernel's transmit times.
 * The number of records in the header equals the number of records after it. See struct log_form.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */

#define NPY_BEGIN_BYTES 1024
#define NPY_MISSING INT64_MIN /* a missing time or latency */
#define NPY_UNPLACED 0x100 /* flag in FLAGS; the values below it are enum follow_up */

char *log_npy_begin(char *at, struct log_columns *c, uint64_t records);
char *log_npy_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);

#endif
