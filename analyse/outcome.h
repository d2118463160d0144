/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read of one run or several: put together as a run leaves it behind, so that the rooms of the report can
 * speak of it. */
#ifndef ANALYSE_OUTCOME_H
#define ANALYSE_OUTCOME_H

#include "histogram.h"
#include "options.h"
#include "report/text/report.h"
#include "report/verdict/verdict.h"
#include "result/result.h"
#include "result/tally.h"

struct seconds;

#define OUTCOME_FORMULA_BYTES 64
#define OUTCOME_SETTINGS_MAX 32

/* A file that was read. */
struct outcome_file {
	const char *path; /* stays the caller's */
	const char *form; /* "text", "csv", "npy" or "json" */
	enum role role;
	uint64_t samples;
	int64_t max_ns; /* with samples */
	uint32_t run; /* the first of its runs, as the seconds are told; 0: none */
	int level; /* enum verdict_level; -1: not known */
	char *found; /* the reasons in words; NULL: none */
	char *hostname, *interface; /* of a run; NULL: not known */
	int64_t began_unix_ns, slots, missed; /* -1: not known */
	/* Of a log: */
	bool is_timed, stamps_changed; /* it has a first_stamp_ns; the other host's columns have stamps of two kinds */
	int64_t first_stamp_ns; /* the last time of its first record, by the clock of the stamps */
	uint64_t left_out; /* records, as far as it tells */
	dev_t device;
	ino_t inode;
};

/* What a verdict had against a run. */
struct outcome_reason {
	const char *path;
	char *name, *found, *why;
	int level;
	int64_t number, limit;
};

/* What all the runs have alike. */
struct outcome_setting {
	const char *path; /* in the object, with points between */
	enum { SETTING_NULL, SETTING_BOOL, SETTING_NUMBER, SETTING_TEXT } kind;
	int64_t number;
	char *text;
};

struct outcome {
	struct options options; /* what is to be written, and what is known of the runs */
	struct result result;
	struct report report;
	struct histogram latency, stage[STAGES], one_way[ONE_WAYS], planned[PLANNED];
	struct verdict verdict; /* only its level */
	struct tally tally; /* what is in no bucket */
	bool has_accounts; /* else nothing is known but of what was recorded */
	bool has_duration;
	struct seconds *seconds; /* the caller's; NULL: nobody tells of them */
	bool has_seconds; /* and there are some to be told */

	struct outcome_file *file;
	unsigned files;
	struct outcome_reason *reason;
	unsigned reasons;
	struct outcome_setting setting[OUTCOME_SETTINGS_MAX];
	unsigned settings;
	char *note; /* lines about what was read, for the text; NULL: none */
	size_t note_bytes;
	FILE *notes; /* where they are written */
};

/* Begins one with what the command line says of the output. NULL after one line: no memory. outcome_close() frees
 * it. */
struct outcome *outcome_open(const struct options *o);
void outcome_close(struct outcome *o);

/* Opens a file to be read, which is no device and no pipe. NULL after one line. */
FILE *outcome_open_file(const char *path);

/* Adds a file, whose memory is the outcome's; NULL after one line: no memory, or it is there already. */
struct outcome_file *outcome_add_file(struct outcome *o, const char *path, FILE *file, const char *form);

/* Are these one file, by device and inode? Then -EINVAL after one line, else 0. */
int outcome_refuse_same(const struct outcome_file *a, const struct outcome_file *b);

/* Lays one of the histograms out as a run does, by the options of the outcome, and sets the pointer to it. 0, or -errno
 * after one line. */
int outcome_place(struct histogram *h, struct histogram **pointer, const struct options *o, int64_t width_ns,
		  uint32_t overflow_capacity);

/* When all is read: can the buckets of --bucket-size be made of what there is? 0, or -errno after one line. */
int outcome_check_buckets(const struct outcome *o);

/* When all is read: sorts what must be. */
void outcome_finish(struct outcome *o);

/* The whole text. columns: width of the terminal, 0: out is none. */
void outcome_write(FILE *out, const struct outcome *o, int columns);

#endif
