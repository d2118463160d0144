/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reflector that nobody sends to (hot, where the clock is read): after a second it sleeps in the kernel, until a
 * datagram comes. That one waits for as long as it takes to wake a task, some microseconds and more from a deep sleep
 * of the CPU; so it is counted, and how slow it was is kept. Then the loop is as it was, for a second at least.
 */
#ifndef MEASURE_DOZE_H
#define MEASURE_DOZE_H

#include "measure/exchange.h"

#define DOZE_AFTER_NS NS_PER_S
/* at a time: a signal ends it, but one that comes in the microseconds before it is seen after it */
#define DOZE_NS NS_PER_S

/* By the clock as just read, and with every datagram read that was there: is it time to sleep? Not while an answer
 * waits for its stamp (`waiting`), nor with --spin. It looks at what woke it last, too. */
bool doze_is_due(struct exchange *x, bool waiting);

/* Sleeps, until the end of the run if that comes first. What is in an error queue must be fetched before, or it would
 * wake us at once. True: something came; any lane may have it, and all are hot. The clock was read before, and is to
 * be read again. One system call. */
bool doze(struct exchange *x);

#endif
