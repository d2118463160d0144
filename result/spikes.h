/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slowest samples of a run with their times (hot: add), and the period that report/verdict/rhythm.c found. */
#ifndef RESULT_SPIKES_H
#define RESULT_SPIKES_H

#include "host/periods.h"
#include "rant.h"

#define SPIKES_KEPT 1000
#define SPIKES_ORDINARY 1000
#define RHYTHM_SUSPECTS 4

struct spike {
	int64_t value_ns; /* latency */
	int64_t at_ns; /* first timestamp of the latency */
};

/* All zeros to begin with. */
struct spikes {
	struct spike kept[SPIKES_KEPT]; /* a heap: the first is the smallest */
	unsigned count;
	unsigned left; /* samples until the next one in ordinary_ns */
	/* Times of samples that were chosen at random: 500 or more of a long run. Spikes exist only where probes are, and
	 * the probes of another host may have a rhythm. */
	int64_t ordinary_ns[SPIKES_ORDINARY];
	unsigned ordinary, halvings;
	uint64_t random;
	int64_t first_ns, last_ns; /* times of the first and the last sample */
	bool of_several; /* samples of several runs */
};

/* Periodic work of the host, or of rant, whose period fits. */
struct suspect {
	struct period period;
	unsigned times; /* spikes come at this multiple of the period; 0: at its beat with the interval of the probes */
};

/* The period of the slow samples. All zeros: none was found. */
struct rhythm {
	int64_t period_ns;
	double p; /* probability of a finding like this by chance, corrected for the number of periods tried */
	unsigned in_phase, of; /* slow samples within an eighth of a period of one phase, and all */
	int64_t from_ns, during_ns; /* stretch of the run with these slow samples, after the first sample */
	bool has_suspects; /* false: the periods of the host are not known, as in a saved log */
	unsigned suspects;
	struct suspect suspect[RHYTHM_SUSPECTS];
};

/* For a sample that is among the slowest so far. */
void spikes_keep(struct spikes *s, int64_t value_ns, int64_t at_ns);

/* For a sample that is chosen at random. */
void spikes_keep_ordinary(struct spikes *s, int64_t at_ns);

/* Hot. */
static inline void spikes_add(struct spikes *s, int64_t value_ns, int64_t at_ns)
{
	s->last_ns = at_ns;
	if (!s->left--)
		spikes_keep_ordinary(s, at_ns);
	if (s->count < SPIKES_KEPT || value_ns > s->kept[0].value_ns)
		spikes_keep(s, value_ns, at_ns);
}

#endif
