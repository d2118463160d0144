/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times in which the PHC stands still or runs at a wrong rate, and the steps that are none because of them. For
 * clock_track.c alone; what others ask is in clock.h. */
#ifndef HOST_CLOCK_CLOCK_SPELL_H
#define HOST_CLOCK_CLOCK_SPELL_H

#include "host/clock/clock.h"

/* Before a reading with the PHC, not the first, is added. True: the PHC stands, or did so at the reading before, and
 * this explains where it is; what it does not explain was counted as a step. */
bool clock_spell_stands(struct clock_watch *c, struct clock_reading *r);

/* The same, where a step was found by it. True: it was none, but the wrong rate that already made a step of the reading
 * before; both are taken back, and the two readings belong together. */
bool clock_spell_is_a_rate(struct clock_watch *c, struct clock_reading *r);

/* After it was added: does the PHC run at a wrong rate? */
void clock_spell_look(struct clock_watch *c);

#endif
