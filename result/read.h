/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a result was read from, and the members that they have. */
#ifndef RESULT_READ_H
#define RESULT_READ_H

#include "options.h"
#include "rant.h"

#include <sys/types.h>

#define READ_SETTINGS_MAX 32
#define READ_MEMBERS 8

/* A file that was read. */
struct read_file {
	const char *path; /* stays the caller's */
	const char *form; /* "text", "csv", "npy" or "json" */
	enum role role;
	uint64_t samples;
	int64_t max_ns; /* with samples */
	uint32_t run; /* number of its first run in the list of seconds; 0: none */
	struct optional level; /* enum verdict_level */
	char *found; /* the reasons in words; NULL: none */
	char *hostname, *interface; /* NULL: not known */
	struct optional began_unix_ns, slots, missed;
	/* For a log: */
	bool is_timed, stamps_changed; /* first_stamp_ns is known; remote timestamps have two sources */
	int64_t first_stamp_ns; /* last timestamp of its first record */
	uint64_t left_out; /* records, as far as the log reports them */
	dev_t device;
	ino_t inode;
};

/* A reason of the verdict of one run. */
struct read_reason {
	const char *path;
	char *name, *found, *why;
	char *id, *unit; /* empty: the file is older than these */
	int level;
	int64_t number, limit;
};

/* An option with the same value in all runs. */
struct read_setting {
	const char *path; /* path of the JSON member, with points */
	enum { SETTING_NULL, SETTING_BOOL, SETTING_NUMBER, SETTING_TEXT } kind;
	int64_t number;
	char *text;
};

/* A member of the JSON of a single run that no report computes with: it is written again as it is. */
struct read_member {
	const char *path; /* with points; a constant */
	char *json; /* NULL: the file does not have it */
};

struct read {
	bool has_accounts; /* else only the recorded samples are known */
	bool has_duration;
	bool has_breaches; /* the breaches, not only their number */
	bool has_active; /* result.last_ns is known; else it equals ended_ns */
	struct read_file *file;
	unsigned files;
	struct read_reason *reason;
	unsigned reasons;
	struct read_setting setting[READ_SETTINGS_MAX];
	unsigned settings; /* 0 for logs */
	struct read_member member[READ_MEMBERS]; /* a single JSON file */
	char *command[BREACH_COMMANDS_MAX], *log_path; /* of a single JSON file; NULL: none */
};

#endif
