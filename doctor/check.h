/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor: what is wrong with the NIC and this machine, for a measurement. */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "rant.h"

struct nic;
struct options;

/* --check: looks at the NIC and the machine without sending or changing anything, and writes one line per finding:
 *   ok|note|warn|fail  SUBJECT: what was found (where it was read): why it matters: the command that cures it
 * Takes about a second, most of it spinning. out NULL: writes nothing. The number of fails, or -errno after
 * one line on stderr. */
int check_machine(FILE *out, const struct options *o);

/* The same at the start of a run, for --verbose: only the lines of warn and fail, and nothing that takes long. `n` is
 * open, and left as it is. */
void check_short(FILE *out, const struct options *o, const struct nic *n);

struct check_told;

/* The same for a program (doctor/finding.h), and not a word. */
void check_tell(void (*tell)(void *context, const struct check_told *told), void *context, const struct options *o,
		const struct nic *n);

#endif
