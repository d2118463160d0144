/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text about freezing the traces of both hosts: result/freeze.h. */
#ifndef REPORT_TEXT_FREEZE_H
#define REPORT_TEXT_FREEZE_H

#include <stdbool.h>
#include <stddef.h>

#define FREEZE_TEXT_BYTES 400
#define FREEZE_CAUSE_TEXT_BYTES 200

struct report;

/* True if a freeze was requested, at either host. */
bool freeze_is_shown(const struct report *r);

/* Appends one sentence: the breach, the times at which each host froze, or why the other one did not. */
void freeze_say(char *text, size_t bytes, const struct report *r);

/* Appends one line: the cause of the breach at the reflector, or why it is not known. False: none was asked for. */
bool freeze_say_cause(char *text, size_t bytes, const struct report *r);

#endif
