/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a finding is and how it is said. A check calls check_say() or check_cannot_tell() once for each finding. */
#ifndef DOCTOR_FINDING_H
#define DOCTOR_FINDING_H

#include "rant.h"

enum finding { OK, NOTE, WARN, FAIL, FINDINGS };

struct check;

#define CHECK_NOW "measured now" /* a `where` of what was read nowhere */

/* A finding for a program: as text, until the call returns. why, cure: NULL where there is none. */
struct check_told {
	bool fail; /* else warn */
	const char *subject, *what, *where, *why, *cure;
};

/* Counts the finding, and writes one line of it where one is wanted. `where`: what was read. `why` it matters and
 * `cure`, a command: NULL where there is nothing to do. */
__attribute__((format(printf, 6, 7)))
void check_say(struct check *c, enum finding f, const char *where, const char *why, const char *cure,
	       const char *format, ...);

/* A note that `where` cannot be read; error is an errno. */
void check_cannot_tell(struct check *c, const char *where, int error);

/* Text for the `cure` of check_say(), good until the next. */
__attribute__((format(printf, 2, 3)))
const char *check_command(struct check *c, const char *format, ...);

#endif
