// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupt coalescing delays a packet until a timer expires, and a packet that arrives right after an interrupt waits
 * for the whole period: a thin peak, or modes at the distance of the period. A setting of this host acts only between
 * the wire and the program of this host.
 */
#include "report/verdict/teeth.h"

#include "options.h"
#include "report/text/report.h"
#include "report/text/stage.h"
#include "result/result.h"

#include <stdlib.h>

/* Timestamps of a NIC are made before the interrupt; those of the kernel and of the program after it. */
static bool is_delayed_here(const struct options *o, int stage)
{
	const bool by_nic = options_by_nic(o);

	if (o->role == ROLE_EMIT)
		return by_nic ? stage == STAGE_WIRE_TO_APP : stage == TEETH_OF_LATENCY || stage == STAGE_NETWORK;
	return by_nic && (stage == TEETH_OF_LATENCY || stage == STAGE_RECEIVE);
}

static int64_t tolerance_ns(int64_t value_ns)
{
	const int64_t usual_ns = value_ns / 50 > NS_PER_US ? value_ns / 50 : NS_PER_US;

	return usual_ns < value_ns / 10 ? usual_ns : value_ns / 10;
}

static const struct mode *largest(const struct modes *m)
{
	const struct mode *most = &m->mode[0];

	for (unsigned i = 1; i < m->kept; i++)
		most = m->mode[i].samples > most->samples ? &m->mode[i] : most;
	return most;
}

/* Difference between the delay and the distance of the modes, or the value of a thin peak. INT64_MAX: neither. */
static int64_t misfit_ns(const struct modes *m, int64_t delay_ns)
{
	const struct mode *most = largest(m);

	if (m->count > 1)
		return m->distance_ns ? llabs(m->distance_ns - delay_ns) : INT64_MAX;
	if (most->spread_ns > tolerance_ns(delay_ns) || 2 * most->samples < m->samples)
		return INT64_MAX;
	return llabs(most->value_ns - delay_ns);
}

static const struct delay *cause_of(const struct modes *m, const struct delays *d)
{
	const struct delay *best = NULL;
	int64_t least_ns = INT64_MAX;

	for (unsigned i = 0; i < d->count; i++) {
		const int64_t ns = misfit_ns(m, d->delay[i].value_ns);

		if (ns <= tolerance_ns(d->delay[i].value_ns) && ns < least_ns) {
			best = &d->delay[i];
			least_ns = ns;
		}
	}
	return best;
}

static void look(struct teeth *to, const struct result *r, int stage, const struct histogram *h)
{
	struct tooth *one = &to->tooth[to->count];

	*one = (struct tooth){ .stage = stage };
	modes_find(&one->modes, h);
	if (one->modes.count && is_delayed_here(r->options, stage))
		one->cause = cause_of(&one->modes, &r->delays);
	to->count += one->modes.count > 1 || one->cause;
}

void teeth_find(struct teeth *to, const struct report *r)
{
	struct stage stages[STAGES];

	to->count = 0;
	look(to, r->result, TEETH_OF_LATENCY, r->histogram);
	stages_of_role(r->options->role, options_on_wire(r->options), stages);
	for (int i = 0; i < STAGES; i++)
		if (stage_is_collected(r, i, &stages[i]))
			look(to, r->result, i, r->result->stage[i]);
}

const struct tooth *teeth_first(const struct teeth *t)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->tooth[i].cause)
			return &t->tooth[i];
	return t->count && t->tooth[0].stage == TEETH_OF_LATENCY ? &t->tooth[0] : NULL;
}
