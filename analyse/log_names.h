/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the names of a log's columns tell: whose log it is, what took the stamps, and which time each column has. */
#ifndef ANALYSE_LOG_NAMES_H
#define ANALYSE_LOG_NAMES_H

#include "rant.h"
#include "report/log/log_form.h"

struct options;

#define LOG_COLUMNS_MAX 16
#define LOG_NAME_BYTES 16

struct log_column {
	char name[LOG_NAME_BYTES];
	enum log_column_kind kind; /* never COLUMN_TIME_THERE */
	uint8_t time; /* of COLUMN_TIME: the index of struct sample.time_ns */
	enum source source; /* and what took it */
	uint16_t offset, bytes; /* of an array alone */
};

struct log_names {
	struct log_column column[LOG_COLUMNS_MAX];
	unsigned columns;

	/* By log_names_read(). */
	enum role role;
	enum source stamp; /* of this host's times on the wire; SOURCE_USER: there are none */
	enum source there; /* of the other host's, where there are any */
	bool has[ALL_TIMES];
	bool full; /* with the other host's times */
	uint8_t from, to; /* of the latency */
};

/* Adds a column. False: there are too many, or the name is too long. */
bool log_names_add(struct log_names *n, const char *name, size_t bytes);

/* When all are there. NULL; or why these are no columns of a log, as words behind "its columns". */
const char *log_names_read(struct log_names *n);

/* Sets what they tell of the options of that run; what they do not tell stays. */
void log_names_options(const struct log_names *n, struct options *o);

#endif
