/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs as a run: of one end, or of both ends joined on SEQ. */
#ifndef ANALYSE_LOGS_H
#define ANALYSE_LOGS_H

#include "analyse/log_read.h"

struct outcome;
struct read_file;

/*
 * Logs of one end, whose samples are added. log[i] is open, and belongs to file i of the outcome. The options of the
 * outcome say what the log tells from then on. 0, or -errno after one line.
 */
int logs_add(struct outcome *o, struct log_read *log, unsigned logs);

/* The logs of both ends of one run; the reflector's is held in memory, 48 octets for a record. 0, or -errno after one
 * line. */
int logs_join(struct outcome *o, struct log_read *emitter, struct log_read *reflector,
	      struct read_file *emitter_file,
	      struct read_file *reflector_file);

#endif
