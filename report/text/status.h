/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exit status of a run. */
#ifndef REPORT_TEXT_STATUS_H
#define REPORT_TEXT_STATUS_H

#include "report/text/report.h"
#include "report/verdict/verdict.h"

enum status { STATUS_DONE, STATUS_FAILED, STATUS_BREACH, STATUS_UNTRUSTED };

/* After the verdict. server: as text. write_error: log or report could not be written, which one line has reported.
 * Prints the reason of a failure to stderr, unless a line has reported it already. */
enum status status_judge(const struct report *r, const char *server, int write_error);

#endif
