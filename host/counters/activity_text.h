/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of /proc: lines with a label, numbers and a rest; a line can have thousands of columns. Only for the
 * activity_*.c. Does not allocate or print. */
#ifndef HOST_COUNTERS_ACTIVITY_TEXT_H
#define HOST_COUNTERS_ACTIVITY_TEXT_H

#include "rant.h"

#define CPUS 8192 /* the maximum of Linux */

struct activity_text {
	int fd, c; /* c: the current character, or EOF */
	off_t at;
	size_t used, filled;
	int error; /* -errno of reading; 0: the file was read to its end */
	char buffer[4096];
	struct line {
		char label[32], rest[160];
		unsigned numbers;
		bool odd; /* the line has a number more than the header has columns */
	} line;
	uint64_t number[CPUS]; /* of the line */
	uint16_t cpu_of[CPUS]; /* of a column: by the header */
	unsigned columns;
};

/* Starts at the first character of the file, which stays the caller's. False: nothing can be read. */
bool activity_text_begin(struct activity_text *t, int fd);

/* Reads "CPU0 CPU1 CPU5": the CPU of each column. False: the file has another format. */
bool activity_text_header(struct activity_text *t);

/* Column of a CPU; -1: it is not online. */
int activity_text_column(const struct activity_text *t, int cpu);

/* Reads a line: its label (empty if too long to be one of ours), up to `columns` numbers, the rest. False: the end. */
bool activity_text_line(struct activity_text *t, unsigned columns);

/* All of the word is a number of 64 bits. */
bool activity_text_number(const char *word, uint64_t *number);

/* The number at the start of a file, for example the first CPU of a list. False: the file has none. */
bool activity_text_single(int fd, uint64_t *value);

#endif
