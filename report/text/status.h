/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exit status of a run. */
#ifndef REPORT_TEXT_STATUS_H
#define REPORT_TEXT_STATUS_H

#include "report/text/report.h"
#include "report/verdict/verdict.h"

enum status { STATUS_DONE, STATUS_FAILED, STATUS_BREACH, STATUS_UNTRUSTED };

/* After the verdict. server: as text. write_error: log or report could not be written, and one line has said so. What
 * makes the run a failure and is in no other line is said on stderr. */
enum status status_judge(const struct report *r, const struct verdict_facts *f, const char *server, int write_error);

#endif
