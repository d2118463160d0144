/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples above the threshold: kept by the loop (hot), read by other threads. */
#ifndef RESULT_BREACH_H
#define RESULT_BREACH_H

#include "rant.h"

#define BREACHES_KEPT 64 /* a power of two */

struct result;

/* Hot. Keeps a sample above the threshold, after its last timestamp. */
void breach_note(struct result *r, const struct sample *s);

/* Reads breach 0 .. account.breaches - 1, in any thread. False: newer breaches have overwritten it. */
bool breach_read(const struct result *r, uint64_t index, struct sample *s);

/* For a sample as it was at its breach, in any thread: adds the times that came after that, if the breach is kept; else
 * removes the times that are not converted to the timebase of the NIC. */
void breach_complete(const struct result *r, struct sample *s);

/* Calls act() once for each breach, in order; overwritten breaches are counted in `missed`. One thread at a time. */
struct breach_printer {
	/* Set by the caller. */
	const struct result *result;
	void (*act)(void *context, const struct sample *s, uint64_t number);
	void *context;

	/* Results. */
	uint64_t seen; /* breaches so far */
	uint64_t missed; /* of these, overwritten before they were read */
};

/* Processes the breaches since the last call. A duty of host/process/worker.h; the context is a struct breach_printer.
 * */
void breach_print(void *printer);

#endif
