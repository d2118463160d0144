/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slowest samples of a run with their times (hot: add), and the period that report/verdict/rhythm.c found in them. */
#ifndef RESULT_SPIKES_H
#define RESULT_SPIKES_H

#include "rant.h"

#define SPIKES_KEPT 1000

struct spike {
	int64_t value_ns; /* latency */
	int64_t at_ns; /* first timestamp of the exchange at this host */
};

/* All zeros to begin with. */
struct spikes {
	struct spike kept[SPIKES_KEPT]; /* a heap: the first is the smallest */
	unsigned count;
	int64_t first_ns, last_ns; /* times of the first and the last sample; 0: no sample */
};

/* The period of the slow samples. All zeros: none was found. */
struct rhythm {
	int64_t period_ns;
	double p; /* probability of a finding like this by chance, corrected for the number of periods tried */
	unsigned in_phase, of; /* slow samples within an eighth of a period of one phase, and all */
	int64_t from_ns, during_ns; /* stretch of the run with these slow samples, after the first sample */
};

/* For a sample that is among the slowest so far. */
void spikes_keep(struct spikes *s, int64_t value_ns, int64_t at_ns);

/* Hot. */
static inline void spikes_add(struct spikes *s, int64_t value_ns, int64_t at_ns)
{
	if (!s->first_ns)
		s->first_ns = at_ns;
	s->last_ns = at_ns;
	if (s->count < SPIKES_KEPT || value_ns > s->kept[0].value_ns)
		spikes_keep(s, value_ns, at_ns);
}

#endif
