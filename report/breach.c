// SPDX-License-Identifier: GPL-2.0-or-later
/* The first breach and the worst one: their times, their parts, and which part is to blame. */
#include "report/breach.h"

#include "histogram.h"
#include "measure/breach.h"
#include "measure/exchange.h"
#include "measure/stages.h"
#include "options.h"
#include "report/label.h"
#include "report/part.h"
#include "report/report.h"

#include <inttypes.h>

/* ---- The blame ------------------------------------------------------------------------------------------------- */

static bool knows_part(const struct part *parts, int n, int index)
{
	for (int i = 0; i < n; i++)
		if (parts[i].index == index)
			return parts[i].known;
	return false;
}

/* What the threshold is about: of a reflector its own response. */
static enum figure figure_of(const struct options *o)
{
	return o->role == ROLE_EMIT ? (enum figure)o->threshold_on : FIGURE_RTT;
}

/* An emitter's sample is split as far as its times allow: into network and response, or into network and the stages of
 * the response. Without T3 of the reply, all of the round trip is a candidate, and so are the remote stages that are
 * known. */
static void find_candidates(const struct report *r, struct part *parts, int n)
{
	const enum figure on = figure_of(r->options);
	const bool joined = knows_part(parts, n, STAGE_NETWORK);
	const bool split = knows_part(parts, n, STAGE_REMOTE_WIRE_TO_APP) && knows_part(parts, n, STAGE_REMOTE_APP) &&
			   knows_part(parts, n, STAGE_REMOTE_APP_TO_WIRE);

	for (struct part *p = parts; p < parts + n; p++) {
		if (r->options->role == ROLE_REFLECT || !p->stage.peer)
			p->candidate = p->index == STAGES ? !joined : p->stage.inside;
		else if (p->index == STAGE_NETWORK)
			p->candidate = joined && on != FIGURE_RESPONSE;
		else if (p->index == STAGE_RESPONSE)
			p->candidate = joined && !split && on != FIGURE_NETWORK;
		else
			p->candidate = (split || !joined) && on != FIGURE_NETWORK;
	}
}

/* By how much it is above what it typically takes; 0 or less: it is not to blame. */
static int64_t excess_of(const struct part *p)
{
	return p->candidate && p->known && p->usual.value_ns != INT64_MAX ? p->value_ns - p->usual.value_ns : 0;
}

/* Sets the values of the parts for a sample. Returns the candidate that is furthest above what it typically takes;
 * NULL: none is above it. */
static const struct part *find_blame(const struct report *r, struct part *parts, int n, const struct sample *s)
{
	const struct part *worst = NULL, *whole = n && parts[n - 1].index == STAGES ? &parts[n - 1] : NULL;

	for (struct part *p = parts; p < parts + n; p++)
		p->known = stages_value(&p->stage, s, &p->value_ns);
	find_candidates(r, parts, n);
	for (const struct part *p = parts; p < parts + n; p++)
		if (p != whole && excess_of(p) > (worst ? excess_of(worst) : 0))
			worst = p;
	/* The other parts may not explain all of it: the worst must explain half of it, else the whole is to blame. */
	if (whole && excess_of(whole) > (worst ? 2 * excess_of(worst) : 0))
		worst = whole;
	return worst;
}

/* ---- The words ------------------------------------------------------------------------------------------------- */

/* Not all of the latency can be told apart where T3 of the reply is not there. */
static void write_unknown(FILE *out, const struct report *r, const struct sample *s)
{
	if (options_joined(r->options) && s->follow_up != FOLLOW_UP_THERE)
		fprintf(out, "  Response and network: not known: %s\n", label_follow_ups[s->follow_up].meaning);
}

/* Of what the threshold is about; NULL: not collected. */
static const struct histogram *figure_histogram(const struct report *r)
{
	static const int stages[] = { [FIGURE_RESPONSE] = STAGE_RESPONSE, [FIGURE_NETWORK] = STAGE_NETWORK };
	const enum figure on = figure_of(r->options);

	return on == FIGURE_RTT ? r->histogram : r->exchange->stage[stages[on]];
}

static void write_blame(FILE *out, const struct report *r, const struct sample *s, const struct part *blamed)
{
	const struct histogram *h = figure_histogram(r);
	struct percentile usual, whole;
	int64_t value_ns;

	if (!blamed) {
		fprintf(out, "  Blame: none, %s\n",
			r->histogram->count > 1 ? "each of these took no longer than usual" :
			"there is nothing typical to compare these with");
		return;
	}
	usual = blamed->usual;
	fprintf(out, "  Blame: %s %.3f us, typical %s%.3f us", blamed->name, label_us(blamed->value_ns),
		usual.bound ? ">= " : "", label_us(usual.value_ns));
	whole = h ? part_typical(h) : (struct percentile){ .value_ns = INT64_MAX };
	/* A share of bounds could be anything. */
	if (exchange_figure(r->exchange, s, &value_ns) && value_ns > whole.value_ns && !usual.bound && !whole.bound)
		fprintf(out, ", %.0f %% of the excess",
			100.0 * (double)(blamed->value_ns - usual.value_ns) / (double)(value_ns - whole.value_ns));
	fputc('\n', out);
}

static void write_parts(FILE *out, const struct report *r, const struct sample *s)
{
	struct part parts[PARTS_MAX];
	int n = part_find(r, parts);
	const struct part *blamed = find_blame(r, parts, n, s);

	for (int i = 0; i < n; i++)
		if (parts[i].known && (parts[i].index != STAGES || parts[i].candidate))
			fprintf(out, "  %s (%s): %" PRId64 " ns%s\n", parts[i].name, parts[i].formula,
				parts[i].value_ns, &parts[i] == blamed ? " <-- where the spike is" : "");
	write_unknown(out, r, s);
	if (n)
		write_blame(out, r, s, blamed);
}

/* Stamps on the wire first, then the times of user space; of one host. */
static void write_times(FILE *out, const struct report *r, const struct sample *s, int first)
{
	for (int wire = 1; wire >= 0; wire--) {
		for (int i = first; i < first + TIMES; i++) {
			const struct label_time *t = label_time(r->options->role, i);
			char name[16], text[32] = "";

			if (t->wire != wire || !s->source[i] || label_told_twice(r, i))
				continue;
			fprintf(out, "  %s (%s%s %s): %s\n", label_time_name(name, sizeof(name), r, i),
				first ? "remote " : "", label_stamps[t->wire ? label_source(r, i) : SOURCE_USER].place,
				t->direction, label_time_digits(text + sizeof(text) - 1, s->time_ns[i]));
		}
	}
}

static void write_breach(FILE *out, const struct report *r, const struct sample *s)
{
	static const char *const figures[] = { [FIGURE_RESPONSE] = "Response", [FIGURE_NETWORK] = "Network" };
	const struct options *o = r->options;
	const bool other = figure_of(o) != FIGURE_RTT;
	int64_t value_ns;

	exchange_figure(r->exchange, s, &value_ns);
	fprintf(out, "%s %s (%" PRId64 " ns) exceeds threshold (%" PRId64 " ns).\n",
		other ? figures[o->threshold_on] : label_roles[o->role].breach, other ? "time" : "latency", value_ns,
		o->threshold_ns);
	fprintf(out, "  Sequence number: %" PRIu32 "\n", s->seq);
	if (other)
		fprintf(out, "  %s latency: %" PRId64 " ns\n", label_roles[o->role].breach, s->latency_ns);
	write_times(out, r, s, 0);
	if (o->role == ROLE_EMIT)
		write_times(out, r, s, THERE);
	write_parts(out, r, s);
	fputc('\n', out);
}

/* How many of the breaches that are still known each part is to blame for. A part that could be to blame for none is
 * left out. */
static void write_blames(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	uint64_t breaches = counter_get(&x->account.breaches), known = 0;
	uint64_t first = breaches > BREACHES_KEPT - 1 ? breaches - (BREACHES_KEPT - 1) : 0;
	unsigned blamed[PARTS_MAX] = { 0 }, none = 0;
	bool candidate[PARTS_MAX] = { false };
	struct part parts[PARTS_MAX];
	const int n = part_find(r, parts);
	struct sample s;

	for (uint64_t i = first; i < breaches; i++) {
		if (!breach_read(x, i, &s))
			continue;
		const struct part *worst = find_blame(r, parts, n, &s);

		for (int k = 0; k < n; k++)
			candidate[k] |= parts[k].candidate;
		if (worst)
			blamed[worst - parts]++;
		else
			none++;
		known++;
	}
	if (!n)
		return;
	fprintf(out, "Blamed for the last %" PRIu64 " of %" PRIu64 " breaches:\n", known, breaches);
	for (int i = 0; i < n; i++)
		if (candidate[i])
			fprintf(out, "  %s: %u\n", parts[i].name, blamed[i]);
	if (none)
		fprintf(out, "  None of these: %u\n", none);
	fputc('\n', out);
}

void breach_write(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	uint64_t breaches = counter_get(&x->account.breaches);
	int64_t first_ns, worst_ns;

	if (!breaches)
		return;
	write_breach(out, r, &x->breach);
	exchange_figure(x, &x->breach, &first_ns);
	exchange_figure(x, &x->worst, &worst_ns);
	/* Not by the number: two emitters may use the same. */
	if (worst_ns != first_ns) {
		fprintf(out, "The worst of %" PRIu64 " breaches:\n", breaches);
		write_breach(out, r, &x->worst);
	}
	if (breaches > 1)
		write_blames(out, r);
}
