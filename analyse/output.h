/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output files of --report and --compare. */
#ifndef ANALYSE_OUTPUT_H
#define ANALYSE_OUTPUT_H

#include "analyse/seconds.h"
#include "report/export/by_second.h"
#include "report/export/prometheus.h"

struct options;
struct outcome;

struct output_files {
	struct by_second reported;
	struct seconds seconds; /* source of the seconds for `reported` */
	struct log_file hgrm; /* path NULL: not requested */
	struct prometheus prometheus; /* report NULL: not requested */
};

#define OUTPUT_CLOSED { .reported = BY_SECOND_CLOSED, .hgrm.fd = -1, .prometheus.file.fd = -1 }

/* Opens the outputs of the outcome's options, before anything is read, and the seconds if an output needs them.
 * The input files are those of the outcome. 0, or -errno after one line, with no file left behind. */
int output_open(struct output_files *f, struct outcome *o);

/* Writes and closes all outputs. 0, or -errno after one line. */
int output_write(struct output_files *f, const struct outcome *o);

void output_close(struct output_files *f);

/* Opens only the file of --json, for the object of a comparison, before anything is read. An existing file is
 * replaced when the new one is complete. 0, or -errno after one line. */
int output_open_json(struct output_files *f, const struct options *o);

/* -EINVAL after one line if the file of --json is an input file of this outcome; else 0. */
int output_check_json(const struct options *o, const struct outcome *read);

/* Begins the JSON; by_second_finish_json() ends it. */
struct json *output_begin_json(struct output_files *f);

#endif
