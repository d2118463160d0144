/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor: inspects NIC and host for anything that spoils a measurement. */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "rant.h"

struct nic;
struct options;

/* --check: inspects the interface of the options, or without one each interface that is up, and the host. Sends and
 * changes nothing, and writes one line for each finding:
 *   ok|note|warn|fail  SUBJECT: finding (source): reason: command that cures it
 * Takes about a second, most of it spinning. out NULL: writes nothing. Returns the number of failures, or -errno after
 * one line on stderr. */
int check_machine(FILE *out, const struct options *o);

/* The quick checks at the start of a run, for --verbose: prints only warnings and failures. `n` stays open. */
void check_short(FILE *out, const struct options *o, const struct nic *n);

/* A finding as texts, valid until the callback returns. `why` and `cure` may be NULL. */
struct check_reported {
	bool fail; /* a failure, else a warning */
	const char *subject, *what, *where, *why, *cure;
};

/* The quick checks for a program: calls `print` for each warning and failure, and writes nothing
 * itself. */
void check_print(void (*print)(void *context, const struct check_reported *reported), void *context,
		 const struct options *o,
		 const struct nic *n);

#endif
