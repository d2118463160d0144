/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor: inspects NIC and host for anything that spoils a measurement. */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "rant.h"

struct nic;
struct options;

/* A finding as texts, of which level stays valid, the others until the callback returns. interface NULL: it concerns the
 * host. `why` and `cure` may be NULL. */
struct check_reported {
	const char *level; /* "ok", "note", "warn" or "fail" */
	const char *interface, *subject, *what, *where, *why, *cure;
};

typedef void check_print_fn(void *context, const struct check_reported *reported);

/* --check: inspects the interface of the options, or without one each interface that is up, and the host. Sends and
 * changes nothing, and writes one line for each finding:
 *   ok|note|warn|fail  SUBJECT: finding (source): reason: command that cures it
 * Takes about a second, most of it spinning. out NULL: writes nothing. print: called for each finding, or NULL. Returns
 * the number of failures, or -errno after one line on stderr. */
int check_machine(FILE *out, check_print_fn *print, void *context, const struct options *o);

/* The quick checks at the start of a run, for --verbose: prints only warnings and failures. `n` stays open. */
void check_short(FILE *out, const struct options *o, const struct nic *n);

/* The quick checks for a program: calls `print` for each warning and failure, and writes nothing
 * itself. */
void check_print(check_print_fn *print, void *context, const struct options *o, const struct nic *n);

#endif
