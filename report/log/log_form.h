/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forms of the log: what a record has, and how it is written. For this folder, and analyse/log_*.c, which read it
 * again. */
#ifndef REPORT_LOG_LOG_FORM_H
#define REPORT_LOG_LOG_FORM_H

#include "options.h"
#include "report/text/label.h"
#include "result/stages.h"

#define LOG_BEGIN_BYTES 1024 /* at most, of what begins a file */
#define LOG_RECORD_BYTES 512 /* at most, of a record or a note */

/* Characters of a column of a text. */
#define LOG_SEQ_WIDTH 10
#define LOG_TIME_WIDTH 30
#define LOG_LATENCY_WIDTH 15
#define LOG_FLAGS_WIDTH 16 /* "unknown,unplaced" */

/* Kinds of columns, in the order of an array; a text has the flags at its end. */
enum log_column_kind {
	COLUMN_UNUSED, /* octets of an array that have no name */
	COLUMN_SEQ,
	COLUMN_LEFT_OUT,
	COLUMN_FLAGS,
	COLUMN_TIME,
	COLUMN_LATENCY,
	COLUMN_TIME_THERE,
	COLUMN_RESPONSE,
	COLUMN_NETWORK,
	COLUMN_KINDS
};

/* Columns of one kind. A record is laid out by log_npy_record() and log_text_record(). */
struct log_kind {
	const char *name; /* NULL: log_columns_name(), or label_roles[].latency */
	uint8_t width; /* characters in a text; 0: not in a text */
	char type; /* of an array, as NumPy names it */
	uint8_t bytes; /* of an array */
	bool full; /* in a full log only */
};

extern const struct log_kind log_kinds[COLUMN_KINDS];

/* A column of one log. */
struct log_field {
	const struct log_kind *kind;
	char name[16];
	bool has_values; /* else room for a time that is not there */
};

#define LOG_FIELDS_MAX (ALL_TIMES + 6)

/* Words that a writer and the reader share: a flag, what parts two flags, and notes: "# N records left out from SEQ M
 * on: WHY", "# SEQ N was received again", "# NAME is NAME from here on". */
#define LOG_UNPLACED "unplaced"
#define LOG_TEXT_BETWEEN ','
#define LOG_CSV_BETWEEN ';'
#define LOG_NOTE "# "
#define LOG_NOTE_LEFT_OUT " records left out from SEQ "
#define LOG_NOTE_AGAIN " was received again"
#define LOG_NOTE_CHANGED " from here on"

struct log_columns {
	const struct options *options;
	int64_t there; /* enum source of the reflector's stamps, by which its columns are named */
	bool time[ALL_TIMES], full;
	struct stage stages[STAGES];
	/* Of each time the second that was written last, as text: it changes once in a second. */
	struct {
		int64_t at_ns; /* its begin */
		char text[1 + LOG_TIME_WIDTH - 9];
	} second[ALL_TIMES];
};

struct log_form {
	const char *name; /* as the option has it */
	bool is_text; /* a file may have notes: lines that begin with "# " */
	/* Each writes at `at` and returns the end of it. */
	char *(*begin)(char *at, struct log_columns *c, uint64_t records); /* of a text: whatever the number */
	/* left_out: records that are not in the file, right before this one. */
	char *(*record)(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);
};

extern const struct log_form log_forms[LOG_FORMATS]; /* by enum log_format */

/* there: what is known of it by now. */
void log_columns_choose(struct log_columns *c, const struct options *o, int64_t there);

/* The columns of a file in the order of an array. Returns their number. */
unsigned log_columns_list(const struct log_columns *c, struct log_field list[LOG_FIELDS_MAX]);

/* The name of time i, as label_name() has it. */
const char *log_columns_name(const struct log_columns *c, char *text, size_t bytes, int i);

/* Is time i there, and of the clock that its column is named by? */
static inline bool log_columns_has(const struct log_columns *c, const struct sample *s, int i)
{
	return label_has_time(c->options->role, c->there, s, i);
}

/* Did a time of user space have no place on the scale of its host's stamps? */
bool log_columns_unplaced(const struct log_columns *c, const struct sample *s);

#endif
