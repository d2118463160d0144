/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a log that is a NumPy array (.npy). For analyse/log_read.c only; report/log/log_npy.h describes the
 * format. */
#ifndef ANALYSE_LOG_ARRAY_H
#define ANALYSE_LOG_ARRAY_H

#include "analyse/log_read.h"

/* Reads the header; the file is at its beginning. 0, or -errno after one line. */
int log_array_open(struct log_read *l);

/* Reads the next record. 1; 0: end of the log; or -errno after one line. */
int log_array_next(struct log_read *l, struct sample *s);

#endif
