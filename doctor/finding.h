/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings. A check calls check_say() or check_not_known() once for each finding. */
#ifndef DOCTOR_FINDING_H
#define DOCTOR_FINDING_H

#include "rant.h"

enum finding { OK, NOTE, WARN, FAIL, FINDINGS };

struct check;

#define CHECK_NOW "measured now" /* source of values that are not read from a file or call */

/* A finding as texts, valid until the callback returns. `why` and `cure` may be NULL. */
struct check_reported {
	bool fail; /* a failure, else a warning */
	const char *subject, *what, *where, *why, *cure;
};

/* Counts the finding and prints its line. `where` is the source. `why`, the reason why it matters, and `cure`, a
 * command, are NULL if there is nothing to do. */
__attribute__((format(printf, 6, 7)))
void check_say(struct check *c, enum finding f, const char *where, const char *why, const char *cure,
	       const char *format, ...);

/* A note that the source `where` cannot be read; `error` is an errno. */
void check_not_known(struct check *c, const char *where, int error);

/* Formats a text for the `cure` of check_say(), valid until the next call. */
__attribute__((format(printf, 2, 3)))
const char *check_command(struct check *c, const char *format, ...);

#endif
