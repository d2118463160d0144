/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a result comes from that was read of saved files, and what is known of it. */
#ifndef RESULT_READ_H
#define RESULT_READ_H

#include "rant.h"

#include <sys/types.h>

#define READ_SETTINGS_MAX 32

/* A file that was read. */
struct read_file {
	const char *path; /* stays the caller's */
	const char *form; /* "text", "csv", "npy" or "json" */
	enum role role;
	uint64_t samples;
	int64_t max_ns; /* with samples */
	uint32_t run; /* number of the first of its runs among those of the seconds; 0: none */
	int level; /* enum verdict_level; -1: not known */
	char *found; /* the reasons in words; NULL: none */
	char *hostname, *interface; /* NULL: not known */
	int64_t began_unix_ns, slots, missed; /* -1: not known */
	/* In a log: */
	bool is_timed, stamps_changed; /* it has a first_stamp_ns; the other host's columns have stamps of two kinds */
	int64_t first_stamp_ns; /* the last time of its first record, by the clock of the stamps */
	uint64_t left_out; /* records, as far as the log reports them */
	dev_t device;
	ino_t inode;
};

/* A reason of the verdict on one of the runs. */
struct read_reason {
	const char *path;
	char *name, *found, *why;
	int level;
	int64_t number, limit;
};

/* An option that has one value in all the runs. */
struct read_setting {
	const char *path; /* in the object, with points between */
	enum { SETTING_NULL, SETTING_BOOL, SETTING_NUMBER, SETTING_TEXT } kind;
	int64_t number;
	char *text;
};

struct read {
	bool has_accounts; /* else nothing is known but what was recorded */
	bool has_duration;
	bool has_active; /* result.last_ns is known; else it is that of the end */
	struct read_file *file;
	unsigned files;
	struct read_reason *reason;
	unsigned reasons;
	struct read_setting setting[READ_SETTINGS_MAX];
	unsigned settings; /* 0: the files are logs, which have none */
};

#endif
