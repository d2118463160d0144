/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of the log: written while the run goes on, under a name that says so, and given its name at the end. */
#ifndef REPORT_LOG_LOG_FILE_H
#define REPORT_LOG_LOG_FILE_H

#include "rant.h"

#define LOG_FILE_PARTIAL ".partial"
#define LOG_FILE_STDOUT "-"

struct log_file {
	const char *option; /* that names it, in messages: without the dashes */
	const char *path; /* stays the caller's */
	char partial[PATH_MAX]; /* empty: path itself is written, a device, a pipe or stdout */
	int fd; /* -1: closed; of the thread that writes, once it has begun */
	mode_t mode; /* of a file */
	int error; /* -errno: no more is written */
	_Atomic int64_t whole_bytes; /* written of this file, up to the end of a record */
	_Atomic bool cut_off; /* by a signal handler, in any thread: no more is written */
	int64_t allocated_bytes, cold_bytes; /* has room on the disk; has left the memory */

	/* Rotation. */
	int64_t rotate_bytes; /* 0: one file, however long */
	int64_t keep; /* so many files, with the one that is being written */
	uint64_t first, next; /* the numbers of the oldest file that is kept, and of the next */
};

/* Is it the standard output, which then has nothing else? */
bool log_file_is_stdout(const char *path);

/*
 * Makes PATH.partial; a device or a pipe is opened itself, and "-" is stdout. PATH.partial of an earlier run loses what
 * is no whole line or record (log_mend.h) and is moved aside, which a line says; another run's that still writes it is
 * -EBUSY. Only its owner may write the file, and nobody may do more with it than with the file of that path.
 * rotate_bytes, keep: see struct log_file. 0, or
 * -errno after one line: then nothing is left.
 */
int log_file_open(struct log_file *f, const char *path, int64_t rotate_bytes, int64_t keep);

/* The same for the file of another option, a constant, without rotation. */
int log_file_open_of(struct log_file *f, const char *option, const char *path);

/* Whole records, which stay when it is cut off. 0; or -errno after one line, at the first time: what came before
 * stays. */
int log_file_write(struct log_file *f, const char *from, size_t bytes);
int log_file_put(void *file, const char *from, size_t bytes); /* the same for json_begin() */

/* Writes at the begin again what is there. Of a file alone. */
int log_file_write_begin(struct log_file *f, const char *from, size_t bytes);

/* Is there more in it than a file of a rotation is to have, with so many octets more? */
static inline bool log_file_is_long(const struct log_file *f, size_t more_bytes)
{
	return f->rotate_bytes && f->whole_bytes + (int64_t)more_bytes > f->rotate_bytes;
}

/* Ends this file, which gets its number, removes those beyond `keep`, and makes the next one. 0, or -errno after one
 * line. */
int log_file_rotate(struct log_file *f);

/* Closes the file and gives it its name. 0, or -errno after one line: then what is written stays as PATH.partial, and
 * the file of that path as it was. */
int log_file_finish(struct log_file *f);

/* In a signal handler, before the program ends: what is written stays, as PATH.partial. No file stays where nothing
 * is. */
void log_file_cut_off(struct log_file *f);

/* Removes what is unfinished and has nothing in it. Does nothing after log_file_finish(). */
void log_file_abandon(struct log_file *f);

/* The same, however much is in it: it is worth nothing. */
void log_file_discard(struct log_file *f);

#endif
