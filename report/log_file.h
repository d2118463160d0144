/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log file: opened and checked before the run, given its name after it. */
#ifndef REPORT_LOG_FILE_H
#define REPORT_LOG_FILE_H

#include "rant.h"

struct report;

struct log_file {
	const char *path; /* stays the caller's */
	char temporary[PATH_MAX]; /* empty: path is written directly (a device or a pipe) */
	int fd; /* -1: closed */
};

/* Opens a file beside path, which stays as it is until log_file_write(); a device or a pipe itself. 0, or -errno after
 * one line: then nothing is left. */
int log_file_open(struct log_file *f, const char *path);

/* Writes the log and closes the file; -errno after one line, and then `path` is as it was before the run. */
int log_file_write(struct log_file *f, const struct report *r);

/* Removes what is unfinished. Safe in a signal handler, and after log_file_write(). */
void log_file_abandon(struct log_file *f);

#endif
