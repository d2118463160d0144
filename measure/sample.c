// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of a sample: the parts that are rare, or a loop by themselves (hot). */
#include "measure/sample.h"

/* Since sent_real_ns was read. Each reading lies between two of the other clock, so that time in which this thread does not
 * run, anywhere, is not taken for a step. */
bool sample_was_set(const struct flight *f)
{
	int64_t since_ns = clock_read_ns(CLOCK_MONOTONIC);
	int64_t real_ns = clock_read_ns(CLOCK_REALTIME) - f->sent_real_ns;
	int64_t most_ns = clock_read_ns(CLOCK_MONOTONIC) - f->sent_ns;
	int64_t least_ns = f->sent_by_ns ? since_ns - f->sent_by_ns : 0;

	return real_ns > most_ns + STEP_SLACK_NS || real_ns < least_ns - STEP_SLACK_NS;
}

/* The two times of user space, from CLOCK_REALTIME to the clock of the NIC. */
void sample_place_user_times(struct exchange *x, struct sample *s)
{
	bool placed = true;

	for (int i = 0; i < TIMES; i++) {
		int64_t bound_ns;

		if (s->source[i] != SOURCE_USER)
			continue;
		if (!clock_to_phc(x->clocks, s->time_ns[i], &s->time_ns[i], &bound_ns)) {
			s->source[i] = SOURCE_NONE;
			placed = false;
		} else if (bound_ns > x->bound_ns[BOUND_HERE]) {
			x->bound_ns[BOUND_HERE] = bound_ns;
		}
	}
	counter_add(&x->account.unplaced, !placed);
}

void sample_record_stages(struct exchange *x, const struct sample *s)
{
	int64_t value_ns;

	for (int i = 0; i < STAGES; i++) {
		const struct stage *stage = &x->stages[i];

		if (!x->stage[i] || !stages_value(stage, s, &value_ns))
			continue;
		histogram_add(x->stage[i], value_ns, s->seq);
		/* The two hosts' clocks may differ in rate: by no more than 1/1024 of the time that is taken off. */
		counter_add(&x->account.stage_negative, value_ns < -(x->bound_ns[stage->bound] +
			    ((s->time_ns[stage->less_to] - s->time_ns[stage->less_from]) >> 10)));
	}
}
