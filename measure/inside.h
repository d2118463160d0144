/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the loops of both roles (hot): only for the files of measure/. */
#ifndef MEASURE_INSIDE_H
#define MEASURE_INSIDE_H

#include "measure/exchange.h"

/* ---- emit.c ------------------------------------------------------------------------------------------------------ */

/* The emitter's loop with one probe in flight (hot): send, receive, fetch. */

/* Sends probes until x->result.end. Called by exchange_run(), which sets x up. */
void emit_run(struct exchange *x);

/* ---- reflect.c --------------------------------------------------------------------------------------------------- */

/* The reflector's loop (hot): receive, send, fetch. */

/* Answers requests until x->result.end. Called by exchange_run(), which sets x up. */
void reflect_run(struct exchange *x);

/* ---- window_stamps.c --------------------------------------------------------------------------------------------- */

/*
 * Limit of outstanding transmit timestamps of a NIC (hot). Many NICs store one at a time, others four, and
 * drop further timestamps without an error: the limit grows by one after a number of good timestamps, and
 * shrinks by one, permanently, when one is missing.
 */

/* Minimum time since the send of a probe, by clock readings before and after the send. */
INLINE int64_t window_age(const struct flight *f, int64_t now_ns)
{
	return f->sent_by_ns ? now_ns - f->sent_by_ns : 0;
}

/* Call before the first probe. */
void window_stamps_begin(struct exchange *x);

/* Advances past all timestamps that have arrived: a late, perhaps missing timestamp blocks later timestamps. */
void window_stamps_pass(struct exchange *x);

/* Marks overdue timestamps as missing, by the clock as just read. */
void window_stamps_look(struct exchange *x);

/* Time after the send at which a timestamp is taken as missing. */
int64_t window_stamps_drain_timeout_ns(const struct exchange *x);

#endif
