/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log as text in columns, and as comma-separated values. See struct log_form. */
#ifndef REPORT_LOG_LOG_TEXT_H
#define REPORT_LOG_LOG_TEXT_H

#include "report/log/log_form.h"

/* Columns of fixed width, right-aligned; times in seconds with nine digits; "-" for a missing value. */
char *log_text_begin(char *at, struct log_columns *c, uint64_t records);
char *log_text_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);

/* All times in whole nanoseconds, which no reader rounds; empty if missing. */
char *log_csv_begin(char *at, struct log_columns *c, uint64_t records);
char *log_csv_record(char *at, struct log_columns *c, const struct sample *s, uint64_t left_out);

#endif
