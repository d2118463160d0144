/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log as an array of NumPy: a header of LOG_BEGIN_BYTES, then records of 64 octets, or 96 of a full log. The number
 * of records is in the header, and is that of the octets behind it too. See struct log_form.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#ifndef REPORT_LOG_LOG_NPY_H
#define REPORT_LOG_LOG_NPY_H

#include "report/log/log_form.h"

#define NPY_MISSING INT64_MIN /* a time or latency that is not there */
#define NPY_UNPLACED 0x100 /* of FLAGS; below it is enum follow_up */

char *log_npy_begin(char *at, struct log_columns *c, uint64_t records);
char *log_npy_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);

#endif
