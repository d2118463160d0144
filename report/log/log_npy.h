/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log as a NumPy array: a header of NPY_BEGIN_BYTES, then records of 64 octets, or 128 of a full log, or 160 with
 * the kernel's transmit times.
 * The number of records in the header equals the number of records after it. See struct log_form.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#ifndef REPORT_LOG_LOG_NPY_H
#define REPORT_LOG_LOG_NPY_H

#include "report/log/log_form.h"

#define NPY_BEGIN_BYTES 1024
#define NPY_MISSING INT64_MIN /* a missing time or latency */
#define NPY_UNPLACED 0x100 /* flag in FLAGS; the values below it are enum follow_up */

char *log_npy_begin(char *at, struct log_columns *c, uint64_t records);
char *log_npy_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);

#endif
