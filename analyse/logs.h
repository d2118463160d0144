/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a run of logs: of one host, or of both hosts joined on SEQ. */
#ifndef ANALYSE_LOGS_H
#define ANALYSE_LOGS_H

#include "analyse/log_read.h"

struct outcome;
struct read_file;

/*
 * Adds the samples of logs of one host. log[i] is open and belongs to file i of the outcome. Sets the options of the
 * outcome that the logs imply. 0, or -errno after one line.
 */
int logs_add(struct outcome *o, struct log_read *log, unsigned logs);

/* Joins the logs of both hosts of one run. The reflector's is held in memory, 48 octets a record. 0, or -errno
 * after one line. */
int logs_join(struct outcome *o, struct log_read *emitter, struct log_read *reflector,
	      struct read_file *emitter_file,
	      struct read_file *reflector_file);

#endif
