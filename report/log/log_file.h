/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File of the log: written during the run as PATH.partial, renamed to PATH at the end. */
#ifndef REPORT_LOG_LOG_FILE_H
#define REPORT_LOG_LOG_FILE_H

#include "rant.h"

#define LOG_FILE_PARTIAL ".partial"
#define LOG_FILE_STDOUT "-"

struct log_file {
	const char *option; /* option that sets the path, for messages: without dashes */
	const char *path; /* owned by the caller */
	char partial[PATH_MAX]; /* empty: path itself is written (a device, pipe or stdout) */
	int fd; /* -1: closed; owned by the writer thread once that has begun */
	mode_t mode; /* mode of a regular file */
	int error; /* -errno: nothing more is written */
	_Atomic int64_t whole_bytes; /* octets of this file up to the end of a record */
	_Atomic bool cut_off; /* set by a signal handler in any thread: nothing more is written */
	int64_t allocated_bytes, cold_bytes; /* preallocated on disk; dropped from the page cache */

	/* Rotation. */
	int64_t rotate_bytes; /* 0: a single file of any size */
	int64_t keep; /* number of files kept, including the present file */
	uint64_t first, next; /* numbers of the oldest kept file and of the next */
};

/* True for the standard output, which then gets no other text. */
bool log_file_is_stdout(const char *path);

/*
 * Creates PATH.partial; a device or pipe is opened itself, and "-" is stdout. PATH.partial of an earlier
 * run is cut to whole lines or records (log_mend.h) and moved aside with one line; -EBUSY if another run
 * still writes it. The file is writable by its owner only, and its other permissions do not exceed those of
 * the existing PATH. rotate_bytes, keep: see struct log_file. 0, or -errno after one line with nothing
 * left.
 */
int log_file_open(struct log_file *f, const char *path, int64_t rotate_bytes, int64_t keep);

/* The same for the file of another option (a string constant), without rotation. */
int log_file_open_of(struct log_file *f, const char *option, const char *path);

/* Writes whole records, which stay if the run is cut off. 0; or -errno, with one line the first time:
 * earlier data stay. */
int log_file_write(struct log_file *f, const char *from, size_t bytes);
int log_file_put(void *file, const char *from, size_t bytes); /* the same for json_begin() */

/* Overwrites existing octets at the begin. Regular files only. */
int log_file_write_begin(struct log_file *f, const char *from, size_t bytes);

/* True if the file with this number of octets more exceeds the size of a rotation. */
static inline bool log_file_is_long(const struct log_file *f, size_t more_bytes)
{
	return f->rotate_bytes && f->whole_bytes + (int64_t)more_bytes > f->rotate_bytes;
}

/* Ends this file, which gets its number, removes files beyond `keep`, and makes the next file. 0, or -errno
 * after one line. */
int log_file_rotate(struct log_file *f);

/* Closes the file and renames it to its path. 0, or -errno after one line: then the data stay as
 * PATH.partial and PATH is unchanged. */
int log_file_finish(struct log_file *f);

/* For a signal handler before the program ends: the data stay as PATH.partial; an empty file is removed. */
void log_file_cut_off(struct log_file *f);

/* Removes an unfinished file without data. No effect after log_file_finish(). */
void log_file_abandon(struct log_file *f);

/* Removes an unfinished file with any contents, which are useless. */
void log_file_discard(struct log_file *f);

#endif
