/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that are made of what was read. */
#ifndef ANALYSE_OUTPUT_H
#define ANALYSE_OUTPUT_H

#include "analyse/seconds.h"
#include "report/export/by_second.h"
#include "report/export/prometheus.h"

struct options;
struct outcome;

struct output_files {
	struct by_second told;
	struct seconds seconds; /* what it tells of */
	struct log_file hgrm; /* path NULL: not asked for */
	struct prometheus prometheus; /* report NULL: the same */
};

#define OUTPUT_CLOSED { .told = BY_SECOND_CLOSED, .hgrm.fd = -1, .prometheus.file.fd = -1 }

/* Opens what the outcome's options ask for, before anything is read; and its seconds, if anything tells of them. A file
 * that is read may not be written: the outcome has those. 0, or
 * -errno after one line: nothing is left then. */
int output_open(struct output_files *f, struct outcome *o);

/* Writes and closes them. 0, or -errno after one line. */
int output_write(struct output_files *f, const struct outcome *o);

void output_close(struct output_files *f);

/* Opens the file of --json alone, for another object than that of an outcome, before anything is read: what has its
 * name stays as it is until it is whole. 0, or -errno after one line. */
int output_open_json(struct output_files *f, const struct options *o);

/* When it was read: is it one of the files of this outcome? Then -EINVAL after one line, else 0. */
int output_check_json(const struct options *o, const struct outcome *read);

/* Begins it; by_second_finish_json() ends it. */
struct json *output_begin_json(struct output_files *f);

#endif
