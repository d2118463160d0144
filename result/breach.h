/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples above the threshold: kept by the loop (hot), told of beside it. */
#ifndef RESULT_BREACH_H
#define RESULT_BREACH_H

#include "rant.h"

#define BREACHES_KEPT 64 /* a power of two */

struct result;

/* Hot. Keeps a sample above the threshold, which has all that it will get. */
void breach_note(struct result *r, const struct sample *s);

/* Breach 0 .. account.breaches - 1, for another thread too. False: newer ones have taken its place. */
bool breach_read(const struct result *r, uint64_t index, struct sample *s);

/* Tells of each breach once and in order, those that breach_read() has lost apart. One thread at a time. */
struct breach_teller {
	/* Set by the caller. */
	const struct result *result;
	void (*act)(void *context, const struct sample *s, uint64_t number);
	void *context;

	/* Results. */
	uint64_t seen, missed;
};

/* Those that came since the last call. A duty of host/process/watch.h: the context is a struct breach_teller. */
void breach_tell(void *teller);

#endif
