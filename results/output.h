/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that are made of what was read. */
#ifndef RESULTS_OUTPUT_H
#define RESULTS_OUTPUT_H

#include "report/json.h"
#include "report/log_file.h"
#include "report/prometheus.h"

struct options;
struct outcome;

struct output_files {
	struct log_file json, hgrm; /* path NULL: not asked for */
	struct prometheus prometheus; /* report NULL: the same */
	struct json writer;
};

#define OUTPUT_CLOSED { .json.fd = -1, .hgrm.fd = -1, .prometheus.file.fd = -1 }

/* Opens what the outcome's options ask for, before anything is read. A file that is read may not be written: the outcome has those. 0, or
 * -errno after one line: nothing is left then. */
int output_open(struct output_files *f, struct outcome *o);

/* Writes and closes them. 0, or -errno after one line. */
int output_write(struct output_files *f, const struct outcome *o);

void output_close(struct output_files *f);

/* Opens the file of --json alone, for another object than that of an outcome. 0, or -errno after one line. */
int output_open_json(struct output_files *f, const struct options *o, const struct outcome *const *read, unsigned n);

/* Ends that object. 0, or -errno after one line. */
int output_finish_json(struct output_files *f);

/* Begins it. */
struct json *output_begin_json(struct output_files *f);

#endif
