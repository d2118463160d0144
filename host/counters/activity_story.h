/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activity of the machine until the first breach, from the breach before the worst to the worst, and in the
 * whole run. */
#ifndef HOST_COUNTERS_ACTIVITY_STORY_H
#define HOST_COUNTERS_ACTIVITY_STORY_H

#include "host/counters/activity.h"

/* A reading is 16 kB, so do not put this on a stack. Initialize with zeros. */
struct activity_story {
	struct activity activity;
	struct activity_reading start, end;
	struct activity_reading breach; /* the first, with has_breach */
	struct activity_reading before_worst, worst; /* with has_worst; without, the first breach was the worst */
	bool has_breach, has_worst;

	/* Internal. */
	struct activity_reading last, now;
	int64_t read_ns, worst_ns;
};

/* activity_open() for the measuring thread, which has the CPU affinity of the caller, and for the CPU of both. */
int activity_story_open(struct activity_story *s, const struct nic *n, pid_t thread);

/* A breach of value_ns, when `mark` packets had been sent: reads, but in a burst of breaches no more often than every
 * 10 ms unless it is the worst. measuring: as for activity_read(). For one thread at a time, and not for
 * the measuring thread during the measurement. */
void activity_story_breach(struct activity_story *s, int64_t value_ns, uint64_t mark, bool measuring);

#endif
