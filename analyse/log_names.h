/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Meaning of the column names of a log: role of the host, source of the timestamps, time of each column. */
#ifndef ANALYSE_LOG_NAMES_H
#define ANALYSE_LOG_NAMES_H

#include "rant.h"
#include "report/log/log_form.h"

struct options;

#define LOG_COLUMNS_MAX 24
#define LOG_NAME_BYTES 16

struct log_column {
	char name[LOG_NAME_BYTES];
	enum log_column_kind kind; /* never COLUMN_TIME_THERE */
	uint8_t time; /* for COLUMN_TIME: index of struct sample.time_ns */
	enum source source; /* source of this time */
	uint16_t offset, bytes; /* only for an array */
};

struct log_names {
	struct log_column column[LOG_COLUMNS_MAX];
	unsigned columns;

	/* Set by log_names_read(). */
	enum role role;
	enum source stamp; /* source of this host's wire timestamps; SOURCE_USER: none */
	enum source remote; /* source of the other host's wire timestamps, if any */
	bool has[ALL_TIMES];
	bool full; /* with times of the other host */
	uint8_t from, to; /* times whose difference is the latency */
};

/* Adds a column. False: there are too many, or the name is too long. */
bool log_names_add(struct log_names *n, const char *name, size_t bytes);

/* Evaluates all columns. NULL, or the reason why they are not columns of a log, which continues "its columns". */
const char *log_names_read(struct log_names *n);

/* Sets the options of the run that the columns imply; others stay unchanged. */
void log_names_options(const struct log_names *n, struct options *o);

#endif
