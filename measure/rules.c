// SPDX-License-Identifier: GPL-2.0-or-later
/* What the times of a sample must obey (hot): the parts that are rare. */
#include "measure/rules.h"

void rules_note_broken(struct exchange *x, struct sample *s, unsigned rule, unsigned out, int64_t by_ns)
{
	if (x->result.rules_broken < BROKEN_KEPT)
		x->result.broken[x->result.rules_broken] = (struct broken_rule){ .seq = s->seq, .rule = (uint8_t)rule,
										 .by_ns = by_ns };
	x->result.rules_broken++;
	/* These have been told, but are not on the scale as they were said to be. */
	if (out == RULE_USER_THERE) {
		s->one_scale = false;
		s->off_scale = true;
		return;
	}
	for (int i = 0; i < ALL_TIMES; i++)
		if (out & 1U << i)
			s->source[i] = SOURCE_NONE;
}
