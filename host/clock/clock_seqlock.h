/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seqlock that publishes the clock relation to the measuring thread. For clock.c only; the readers are in clock.h. */
#ifndef HOST_CLOCK_CLOCK_SEQLOCK_H
#define HOST_CLOCK_CLOCK_SEQLOCK_H

#include "host/clock/clock.h"

/* To be called after a reading was added: publishes the new relation, and records the error of the previous. */
void clock_seqlock_publish(struct clock_watch *c);

#endif
