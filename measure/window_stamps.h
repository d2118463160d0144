/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many transmit stamps a NIC takes at once (hot). Many keep one at a time, others four; what they do not take has
 * none, and nobody says so: there is one more after so many came, and one less, for good, when one is missing.
 */
#ifndef MEASURE_WINDOW_STAMPS_H
#define MEASURE_WINDOW_STAMPS_H

#include "measure/exchange.h"

/* For how long a probe has been on its way, at least: by the clock as read before and after the send. */
INLINE int64_t window_age(const struct flight *f, int64_t now_ns)
{
	return f->sent_by_ns ? now_ns - f->sent_by_ns : 0;
}

/* Before the first probe. */
void window_stamps_begin(struct exchange *x);

/* Past all whose stamps have come: one that is late, and may be missing, holds up those behind it. */
void window_stamps_pass(struct exchange *x);

/* By the clock as just read: which are taken for missing. */
void window_stamps_look(struct exchange *x);

/* So long after its send a stamp is taken for missing. */
int64_t window_stamps_patience_ns(const struct exchange *x);

#endif
