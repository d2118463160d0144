/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the measuring thread is told of the clocks. For clock.c alone; how it asks is in clock.h. */
#ifndef HOST_CLOCK_CLOCK_PLACE_H
#define HOST_CLOCK_CLOCK_PLACE_H

#include "host/clock/clock.h"

/* After a reading was added: looks how far off was what had been told before it, and tells the new relation. */
void clock_place_publish(struct clock_watch *c);

#endif
