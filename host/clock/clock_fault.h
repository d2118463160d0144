/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standstills and frequency errors of the PHC, and the steps that they explain. For clock_track.c only; the queries are
 * in clock.h. */
#ifndef HOST_CLOCK_CLOCK_FAULT_H
#define HOST_CLOCK_CLOCK_FAULT_H

#include "host/clock/clock.h"

/* To be called before a reading with the PHC, other than the first, is added. True: the PHC stands, or stood at the
 * previous reading, which explains its offset; any remainder was counted as a step. */
bool clock_fault_stands(struct clock_watch *c, struct clock_reading *r);

/* To be called before a reading that found a step is added. True: a frequency error explains this step and the step of
 * the previous reading; both steps are taken back, and the two readings belong together. */
bool clock_fault_is_a_rate(struct clock_watch *c, struct clock_reading *r);

/* To be called after a reading was added: searches for a frequency error of the PHC. */
void clock_fault_look(struct clock_watch *c);

#endif
