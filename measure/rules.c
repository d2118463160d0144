// SPDX-License-Identifier: GPL-2.0-or-later
/* Consistency rules for the times of a sample (hot): rare cases. */
#include "measure/rules.h"

void rules_note_broken(struct exchange *x, struct sample *s, unsigned rule, unsigned out, int64_t by_ns)
{
	if (x->result.rules_broken < BROKEN_KEPT)
		x->result.broken[x->result.rules_broken] = (struct broken_rule){ .seq = s->seq, .rule = (uint8_t)rule,
										 .by_ns = by_ns };
	x->result.rules_broken++;
	/* Reported times that are not on the timebase that was reported. */
	if (out == RULE_USER_REMOTE) {
		s->same_timebase = false;
		s->off_scale = true;
		return;
	}
	for (int i = 0; i < ALL_TIMES; i++)
		if (out & 1U << i)
			s->source[i] = SOURCE_NONE;
}
