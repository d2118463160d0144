/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log that is an array of NumPy. For analyse/log_read.c only; report/log/log_npy.h says what it is like. */
#ifndef ANALYSE_LOG_ARRAY_H
#define ANALYSE_LOG_ARRAY_H

#include "analyse/log_read.h"

/* The header, from the begin of the file on. 0, or -errno after one line. */
int log_array_open(struct log_read *l);

/* 1; 0: there are no more; or -errno after one line. */
int log_array_next(struct log_read *l, struct sample *s);

#endif
