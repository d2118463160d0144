/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one parser of /proc: lines of a label, numbers, the rest, since a line can have thousands of columns. Only for
 * the files of the activity. Allocates nothing and says nothing. */
#ifndef HOST_COUNTERS_ACTIVITY_TEXT_H
#define HOST_COUNTERS_ACTIVITY_TEXT_H

#include "rant.h"

#define CPUS 8192 /* as many as Linux can have */

struct activity_text {
	int fd, c; /* c: the current character, or EOF */
	off_t at;
	size_t used, filled;
	int error; /* -errno of reading; 0: the file was read to its end */
	char buffer[4096];
	struct line {
		char label[32], rest[160];
		unsigned numbers;
		bool odd; /* a number more than there are columns */
	} line;
	uint64_t number[CPUS]; /* of the line */
	uint16_t cpu_of[CPUS]; /* of a column: by the header */
	unsigned columns;
};

/* Starts at the first character of the file, which stays the caller's. False: nothing can be read. */
bool activity_text_begin(struct activity_text *t, int fd);

/* Reads "CPU0 CPU1 CPU5": which CPU each column is about. False: the file is of another form. */
bool activity_text_header(struct activity_text *t);

/* Of a CPU; -1: it is not online. */
int activity_text_column(const struct activity_text *t, int cpu);

/* Reads a line: its label (empty if too long to be one of ours), up to `columns` numbers, the rest. False: the end. */
bool activity_text_line(struct activity_text *t, unsigned columns);

/* All of the word is a number of 64 bits. */
bool activity_text_number(const char *word, uint64_t *number);

/* The number that a file begins with: of a list of CPUs the first one. False: there is none. */
bool activity_text_single(int fd, uint64_t *value);

#endif
