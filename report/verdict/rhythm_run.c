// SPDX-License-Identifier: GPL-2.0-or-later
/* The slow samples of a run, their period, the suspects, and the line of the report. */
#include "report/verdict/rhythm_run.h"

#include "report/verdict/rhythm.h"
#include "result/result.h"

#include <math.h>
#include <stdlib.h>

#define TIMES_MOST 10 /* largest multiple of a known period that is named */

static int compare_spikes(const void *a, const void *b)
{
	const struct spike *x = a, *y = b;

	return (y->value_ns > x->value_ns) - (y->value_ns < x->value_ns);
}

/* Sorts the slowest samples, the slowest first. Returns how many of them are spikes. */
static unsigned select_spikes(struct result *r)
{
	const struct options *o = r->options;
	struct spikes *s = &r->spikes;
	const uint64_t most = r->histogram ? r->histogram->count / 20 : 0;
	unsigned above = 0;

	qsort(s->kept, s->count, sizeof(s->kept[0]), compare_spikes);
	if (!o->threshold_ns || !o->keep_going || o->threshold_on != METRIC_RTT)
		return s->count < most ? s->count : (unsigned)most;
	while (above < s->count && s->kept[above].value_ns > o->threshold_ns)
		above++;
	return above;
}

static bool fits(double ns, double period_ns)
{
	return fabs(ns - period_ns) <= 0.001 * period_ns;
}

/* The period at which periodic work is seen by probes that are at equal distances and come less often. */
static double beat_ns(double period_ns, double probe_ns)
{
	const double each = probe_ns / period_ns, off = fabs(each - floor(each + 0.5));

	return each > 0.5 && off > 0 ? probe_ns / off : 0;
}

static void find_suspects(struct rhythm *r, const struct periods *p, int64_t interval_ns)
{
	const double period_ns = (double)r->period_ns;

	r->has_suspects = true;
	for (unsigned i = 0; i < p->count && r->suspects < RHYTHM_SUSPECTS; i++) {
		const double each_ns = (double)p->each[i].period_ns, times = floor(period_ns / each_ns + 0.5);

		if (times >= 1 && times <= TIMES_MOST && fits(times * each_ns, period_ns))
			r->suspect[r->suspects++] = (struct suspect){ p->each[i], (unsigned)times };
		else if (fits(beat_ns(each_ns, (double)interval_ns), period_ns))
			r->suspect[r->suspects++] = (struct suspect){ p->each[i], 0 };
	}
}

void rhythm_judge(struct result *r)
{
	const unsigned spikes = select_spikes(r);
	const struct spikes *s = &r->spikes;
	const uint64_t samples = r->histogram ? r->histogram->count : 0;
	int64_t at_ns[SPIKES_KEPT];
	struct rhythm_times t = { .spike_ns = at_ns, .spikes = spikes, .ordinary_ns = s->ordinary_ns,
				  .ordinary = s->ordinary, .from_ns = s->first_ns, .until_ns = s->last_ns };

	r->rhythm = (struct rhythm){ .of = 0 };
	if (spikes < RHYTHM_SPIKES || samples < 2 || s->of_several)
		return;
	for (unsigned i = 0; i < spikes; i++)
		at_ns[i] = s->kept[i].at_ns;
	qsort(at_ns, spikes, sizeof(*at_ns), compare_ns);
	/* With many in flight samples are not recorded in order. */
	t.from_ns = at_ns[0] < t.from_ns ? at_ns[0] : t.from_ns;
	t.until_ns = (at_ns[spikes - 1] > t.until_ns ? at_ns[spikes - 1] : t.until_ns) + 1;
	t.probe_ns = (t.until_ns - t.from_ns) / (int64_t)(samples - 1);
	if (r->options->interval_ns > t.probe_ns)
		t.probe_ns = r->options->interval_ns;
	if (rhythm_find(&r->rhythm, &t) && r->has_periods)
		find_suspects(&r->rhythm, &r->periods, r->options->poisson ? 0 : r->options->interval_ns);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

void rhythm_say(char *text, size_t bytes, const struct rhythm *r)
{
	const bool is_long = r->period_ns >= NS_PER_S;

	text_add(text, bytes, "Spikes come every %.3f %s (p < 1e%d), %u of %u in phase",
		 (double)r->period_ns / (double)(is_long ? NS_PER_S : NS_PER_MS), is_long ? "s" : "ms",
		 (int)floor(log10(r->p)) + 1, r->in_phase, r->of);
	if (!r->has_suspects)
		return;
	text_add(text, bytes, r->suspects ? ": fits " : ": no known period of this host fits");
	for (unsigned i = 0; i < r->suspects; i++) {
		const struct suspect *s = &r->suspect[i];

		text_add(text, bytes, i ? ", " : "");
		if (!s->times)
			text_add(text, bytes, "beat of --interval with ");
		else if (s->times > 1)
			text_add(text, bytes, "%u x ", s->times);
		text_add(text, bytes, "%s", s->period.name);
	}
}
