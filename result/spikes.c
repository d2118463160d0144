// SPDX-License-Identifier: GPL-2.0-or-later
/* The slowest samples in a heap, and samples at random. */
#include "result/spikes.h"

static void swap(struct spike *a, struct spike *b)
{
	const struct spike kept = *a;

	*a = *b;
	*b = kept;
}

static void move_up(struct spikes *s, unsigned at)
{
	for (; at && s->kept[at].value_ns < s->kept[(at - 1) / 2].value_ns; at = (at - 1) / 2)
		swap(&s->kept[at], &s->kept[(at - 1) / 2]);
}

static void move_down(struct spikes *s)
{
	for (unsigned at = 0, next; (next = 2 * at + 1) < s->count; at = next) {
		next += next + 1 < s->count && s->kept[next + 1].value_ns < s->kept[next].value_ns;
		if (s->kept[at].value_ns <= s->kept[next].value_ns)
			return;
		swap(&s->kept[at], &s->kept[next]);
	}
}

void spikes_keep(struct spikes *s, int64_t value_ns, int64_t at_ns)
{
	const struct spike spike = { .value_ns = value_ns, .at_ns = at_ns };

	if (s->count < SPIKES_KEPT) {
		s->kept[s->count] = spike;
		move_up(s, s->count++);
		return;
	}
	s->kept[0] = spike;
	move_down(s);
}

/* The distance is random too, because every n-th probe has a rhythm of its own. */
void spikes_keep_ordinary(struct spikes *s, int64_t at_ns)
{
	if (!s->ordinary && !s->halvings)
		s->first_ns = at_ns;
	if (s->ordinary == SPIKES_ORDINARY) {
		for (s->ordinary = 0; s->ordinary < SPIKES_ORDINARY / 2; s->ordinary++)
			s->ordinary_ns[s->ordinary] = s->ordinary_ns[2 * s->ordinary];
		s->halvings += s->halvings < 30;
	}
	s->ordinary_ns[s->ordinary++] = at_ns;
	s->left = (unsigned)random_next(&s->random) & ((2U << s->halvings) - 1);
}
