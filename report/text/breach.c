// SPDX-License-Identifier: GPL-2.0-or-later
/* The first and the worst breach: times, stages, and the blamed stage. */
#include "report/text/breach.h"

#include "histogram.h"
#include "options.h"
#include "report/text/causes.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/stage.h"
#include "report/text/report.h"
#include "result/breach.h"
#include "result/result.h"
#include "result/stages.h"

#include <inttypes.h>
#include <string.h>

/* ---- The blame ------------------------------------------------------------------------------------------------- */

static bool knows_stage(const struct part *parts, int n, int index)
{
	for (int i = 0; i < n; i++)
		if (parts[i].index == index)
			return parts[i].known;
	return false;
}

/* The metric that --threshold is compared with; a reflector has only its response. */
static enum metric metric_of(const struct options *o)
{
	return o->role == ROLE_EMIT ? (enum metric)o->threshold_on : METRIC_RTT;
}

/* An emitter's sample is split as far as its times allow: into network and response, or into network and the stages of
 * the response. Without T3 of the reply the candidates are the whole round trip and the known remote stages. */
static void find_candidates(const struct report *r, struct part *parts, int n)
{
	const enum metric on = metric_of(r->options);
	const bool joined = knows_stage(parts, n, STAGE_NETWORK);
	const bool split = knows_stage(parts, n, STAGE_REMOTE_WIRE_TO_APP) && knows_stage(parts, n, STAGE_REMOTE_APP) &&
			   knows_stage(parts, n, STAGE_REMOTE_APP_TO_WIRE);

	for (struct part *p = parts; p < parts + n; p++) {
		if (stages_is_part(&p->stage))
			p->candidate = false; /* see finer() */
		else if (r->options->role == ROLE_REFLECT || !p->stage.peer)
			p->candidate = p->index == STAGES ? !joined : p->stage.inside;
		else if (p->index == STAGE_NETWORK)
			p->candidate = joined && on != METRIC_RESPONSE;
		else if (p->index == STAGE_RESPONSE)
			p->candidate = joined && !split && on != METRIC_NETWORK;
		else
			p->candidate = (split || !joined) && on != METRIC_NETWORK;
	}
}

/* Excess over the median of the stage; 0 or less: the stage is not to blame. */
static int64_t excess_of(const struct part *p)
{
	return p->candidate && p->known && p->usual.value_ns != INT64_MAX ? p->value_ns - p->usual.value_ns : 0;
}

/* ---- Values that are not known --------------------------------------------------------------------------------- */

static void add_gap(struct gaps *g, const char *part, bool candidate, const char *why)
{
	int i = 0;

	while (i < g->used && (strcmp(g->gap[i].why, why) || g->gap[i].candidate != candidate))
		i++;
	if (i == g->used)
		snprintf(g->gap[g->used++].why, sizeof(g->gap[i].why), "%s", why);
	g->gap[i].candidate = candidate;
	g->gap[i].part[g->gap[i].parts++] = part;
}

/* Reason why a user-space time of this host is missing. A sample does not record the state of the clocks. */
static void why_not_here(char *why, size_t bytes, const struct report *r)
{
	const bool moved = atomic_load_explicit(&r->result->clocks_moved, memory_order_relaxed);

	if (!r->result->converted) {
		snprintf(why, bytes, "a time is missing");
		return;
	}
	snprintf(why, bytes, "no comparison of the clocks within %g s%s", label_seconds(CLOCK_FRESH_NS),
		 moved ? ", or one was set or stood still" : "");
}

#define NO_T2 "the reflector reported no receive timestamp of the probe"

static bool is_nothing_there(const struct sample *s)
{
	static const uint8_t nothing[TIMES];

	return !memcmp(s->source + REMOTE, nothing, TIMES);
}

static const char *why_no_response(const struct sample *s)
{
	if (s->follow_up == FOLLOW_UP_MIXED && !s->source[REMOTE + REFLECT_T2_WIRE] && !is_nothing_there(s))
		return NO_T2;
	return label_follow_ups[s->follow_up].meaning;
}

/* Reason for a stage of the reflector's program. NULL: the same as for the response. */
static const char *why_not_there(const struct stage *stage, const struct sample *s)
{
	const uint8_t *source = s->source;

	if (is_nothing_there(s))
		return label_follow_ups[s->follow_up].meaning;
	if (s->off_scale)
		return "the reflector could not convert its program's times to the timebase of its stamps";
	if (!s->same_timebase)
		return "the reflector did not report the timebase of its program's times";
	if (stage->from == REMOTE + REFLECT_T2_WIRE && !source[stage->from])
		return NO_T2;
	if (stage->to == REMOTE + REFLECT_T3_WIRE && !source[stage->to])
		return NULL;
	return "the reflector did not report when its program had the packet";
}

/* The kernel had no time of the packet, although the program's time of it is known. */
static bool is_without_kernel(const struct sample *s, bool remote, enum role role)
{
	const int user = remote ? REMOTE + REFLECT_T2_USER : role == ROLE_EMIT ? EMIT_T4_USER : REFLECT_T2_USER;

	return s->source[user] && !s->source[remote ? REMOTE_KERNEL_RECEIVE : KERNEL_RECEIVE];
}

/* Collects the stages whose value, or whose excess over the median, is not known. */
static void find_gaps(const struct report *r, const struct part *parts, int n, const struct sample *s, struct gaps *g)
{
	g->used = 0;
	memset(g->gap, 0, sizeof(g->gap));
	if (options_joined(r->options) && s->follow_up != FOLLOW_UP_THERE) {
		add_gap(g, "Response", true, why_no_response(s));
		add_gap(g, "network", true, why_no_response(s));
	}
	for (const struct part *p = parts; p < parts + n; p++) {
		char text[160];
		const char *why = text;

		if (p->index == STAGES)
			continue;
		if (p->known && (!p->candidate || p->usual.value_ns != INT64_MAX))
			continue;
		if (p->known)
			why = "there is no median to compare with";
		else if (p->stage.transmit_part)
			why = "the kernel has no transmit times of this packet, or none was asked for (--stages full/N)";
		else if (p->stage.receive_part && is_without_kernel(s, time_is_remote(p->stage.from), r->options->role))
			why = "the kernel had no receive time of this packet";
		else if (!p->stage.peer || r->options->role == ROLE_REFLECT)
			why_not_here(text, sizeof(text), r);
		else
			why = p->stage.user ? why_not_there(&p->stage, s) : NULL; /* response and network are known */
		if (why)
			add_gap(g, p->name, p->candidate, why);
	}
}

/* ---- Which part it is ------------------------------------------------------------------------------------------- */

/* Histogram of the metric that --threshold is compared with; NULL: not collected. */
static const struct histogram *metric_histogram(const struct report *r)
{
	static const int stages[] = { [METRIC_RESPONSE] = STAGE_RESPONSE, [METRIC_NETWORK] = STAGE_NETWORK };
	const enum metric on = metric_of(r->options);

	return on == METRIC_RTT ? r->histogram : r->result->stage[stages[on]];
}

/* Excess of the metric of --threshold over its median; INT64_MAX: not known. */
static int64_t metric_excess(const struct report *r, const struct sample *s)
{
	const struct histogram *h = metric_histogram(r);
	const int64_t typical_ns = h ? stage_typical(h).value_ns : INT64_MAX;
	int64_t value_ns;

	return result_metric(r->result, s, &value_ns) && typical_ns != INT64_MAX ? value_ns - typical_ns : INT64_MAX;
}

/* The part of a blamed stage that has at least half of its excess, by the kernel's times; or the stage. */
static struct part *finer(struct part *parts, int n, struct part *blamed)
{
	const int64_t excess_ns = excess_of(blamed);
	struct part *part = blamed;

	for (struct part *p = parts; p < parts + n; p++) {
		if (!stages_is_part(&p->stage) || p->stage.whole != blamed->index || !p->known)
			continue;
		p->candidate = true;
		if (2 * excess_of(p) >= (part == blamed ? excess_ns : 2 * excess_of(part)))
			part = p;
	}
	return part;
}

void breach_find_blame(const struct report *r, struct part *parts, int n, const struct sample *s, struct blame *b)
{
	struct part *worst = NULL, *whole = n && parts[n - 1].index == STAGES ? &parts[n - 1] : NULL;

	for (struct part *p = parts; p < parts + n; p++)
		p->known = stages_value(&p->stage, s, &p->value_ns);
	find_candidates(r, parts, n);
	find_gaps(r, parts, n, s, &b->gaps);
	for (struct part *p = parts; p < parts + n; p++)
		if (p != whole && excess_of(p) > (worst ? excess_of(worst) : 0))
			worst = p;
	/* The stages may not explain the whole excess: the worst must explain half of it, else the whole is blamed. */
	if (whole && excess_of(whole) > (worst ? 2 * excess_of(worst) : 0))
		worst = whole;
	b->unknown = false;
	for (int i = 0; i < b->gaps.used; i++)
		b->unknown |= b->gaps.gap[i].candidate;
	/* If a stage is not known, a known stage is blamed only for more than half of the excess. */
	if (b->unknown && worst && metric_excess(r, s) - excess_of(worst) > excess_of(worst))
		worst = NULL;
	b->unknown = b->unknown && !worst && n;
	b->part = worst ? finer(parts, n, worst) : NULL;
}

/* ---- The words ------------------------------------------------------------------------------------------------- */

static void write_gap(FILE *out, const struct gap *g)
{
	for (int i = 0; i < g->parts; i++)
		fprintf(out, "%s%s", !i ? "" : i == g->parts - 1 ? " and " : ", ", g->part[i]);
}

/* Without the gaps that write_no_blame() prints. */
static void write_gaps(FILE *out, const struct blame *b)
{
	for (int i = 0; i < b->gaps.used; i++) {
		const struct gap *g = &b->gaps.gap[i];

		if (b->unknown && g->candidate)
			continue;
		fprintf(out, "  ");
		write_gap(out, g);
		fprintf(out, ": not known: %s\n", g->why);
	}
}

static void write_no_blame(FILE *out, const struct report *r, const struct blame *b)
{
	const char *between = "  Blame: not known: ";

	if (r->histogram->count <= 1 || !b->unknown) {
		fprintf(out, "  Blame: none, %s\n", r->histogram->count > 1 ?
			"each of these took no longer than usual" :
			"there is no median to compare these with");
		return;
	}
	for (int i = 0; i < b->gaps.used; i++) {
		const struct gap *g = &b->gaps.gap[i];

		if (!g->candidate)
			continue;
		fprintf(out, "%s", between);
		write_gap(out, g);
		fprintf(out, " %s not known (%s)", g->parts > 1 ? "are" : "is", g->why);
		between = "; ";
	}
	fputc('\n', out);
}

enum receive_cause breach_receive_cause(const struct report *r, const struct part *p, const struct sample *s)
{
	int64_t unpolled_ns, late_ns;

	if (p->stage.transmit_part)
		return RECEIVE_CAUSE_NONE;
	if (p->stage.receive_part && label_time(r->options->role, p->stage.to)->kernel)
		return RECEIVE_CAUSE_INTERRUPT;
	if (!stages_split(&p->stage, r->options->role, s, &unpolled_ns, &late_ns))
		return RECEIVE_CAUSE_NONE;

	const int64_t half_ns = excess_of(p) / 2;

	return unpolled_ns - p->usual.value_ns >= half_ns ? RECEIVE_CAUSE_THREAD :
	       late_ns - p->usual.value_ns >= half_ns ? RECEIVE_CAUSE_PACKET : RECEIVE_CAUSE_NONE;
}

static const char *const receive_causes[] = {
	[RECEIVE_CAUSE_THREAD] = "the thread was not polling",
	[RECEIVE_CAUSE_PACKET] = "the packet was late, the thread polled",
	[RECEIVE_CAUSE_INTERRUPT] = "the interrupt or the softirq was late",
};

static void write_blame(FILE *out, const struct report *r, const struct sample *s, const struct blame *b)
{
	const struct histogram *h = metric_histogram(r);
	const struct part *blamed = b->part;
	struct percentile usual, whole;
	int64_t value_ns;

	if (!blamed) {
		write_no_blame(out, r, b);
		return;
	}

	const enum receive_cause cause = breach_receive_cause(r, blamed, s);

	usual = blamed->usual;
	fprintf(out, "  Blame: %s %.3f us, typical %.3f us", blamed->name, label_us(blamed->value_ns),
		label_us(usual.value_ns));
	whole = h ? stage_typical(h) : (struct percentile){ .value_ns = INT64_MAX };
	if (result_metric(r->result, s, &value_ns) && value_ns > whole.value_ns)
		fprintf(out, ", %.0f %% of the excess",
			100.0 * (double)(blamed->value_ns - usual.value_ns) / (double)(value_ns - whole.value_ns));
	if (cause)
		fprintf(out, ": %s", receive_causes[cause]);
	fputc('\n', out);
}

static void write_stages(FILE *out, const struct report *r, const struct sample *s)
{
	struct part parts[PARTS_MAX];
	int n = stage_find(r, parts);
	struct blame blame;

	breach_find_blame(r, parts, n, s, &blame);
	for (int i = 0; i < n; i++) {
		int64_t unpolled_ns, late_ns;

		if (!parts[i].known || (parts[i].index == STAGES && !parts[i].candidate))
			continue;
		limit_add(parts[i].name, sizeof(parts[i].name), r, limit_of_stage(r, parts[i].index));
		fprintf(out, "  %s (%s): %" PRId64 " ns%s\n", parts[i].name, parts[i].formula, parts[i].value_ns,
			&parts[i] == blame.part ? " <-- where the spike is" : "");
		if (stages_split(&parts[i].stage, r->options->role, s, &unpolled_ns, &late_ns))
			fprintf(out, "    thread not polling for at most %" PRId64 " ns, packet late by %" PRId64 " ns\n",
				unpolled_ns, late_ns);
	}
	write_gaps(out, &blame);
	if (n)
		write_blame(out, r, s, &blame);
}

static void write_time(FILE *out, const struct report *r, const struct sample *s, int i)
{
	const enum role role = r->options->role;
	const struct label_time *t = label_time(role, i);
	const int64_t remote = r->result->remote;
	char name[16], text[32] = "";

	if (!label_has_time(role, remote, s, i) || label_reported_twice(role, remote, i))
		return;
	fprintf(out, "  %s (%s%s %s): %s\n", label_time_name(name, sizeof(name), r, i),
		time_is_remote(i) ? "remote " : "", label_stamps[label_source_of(t, label_source(r, i))].place,
		t->direction, label_time_digits(text + sizeof(text) - 1, s->time_ns[i]));
}

/* Times of one host: stamps on the wire first, then the kernel's, then user space. */
static void write_times(FILE *out, const struct report *r, const struct sample *s, bool remote)
{
	const enum role role = r->options->role;
	const int first = remote ? REMOTE : 0, queue = remote ? REMOTE_KERNEL_QUEUE : KERNEL_QUEUE;

	for (int i = first; i < first + TIMES; i++)
		if (label_time(role, i)->wire)
			write_time(out, r, s, i);
	write_time(out, r, s, remote ? REMOTE_KERNEL_RECEIVE : KERNEL_RECEIVE);
	write_time(out, r, s, queue);
	if (source_of_packets(label_source(r, queue), true) == SOURCE_HARDWARE)
		write_time(out, r, s, queue + 1);
	for (int i = first; i < first + TIMES; i++)
		if (!label_time(role, i)->wire)
			write_time(out, r, s, i);
}

static void write_exceeds(FILE *out, const struct report *r, const struct sample *s)
{
	static const char *const metrics[] = { [METRIC_RESPONSE] = "Response", [METRIC_NETWORK] = "Network" };
	const struct options *o = r->options;
	const bool other = metric_of(o) != METRIC_RTT;
	const enum limit_of of = !other ? LIMIT_LATENCY : o->threshold_on == METRIC_RESPONSE ? LIMIT_RESPONSE :
				 LIMIT_NETWORK;
	char limit[48];
	int64_t value_ns;

	result_metric(r->result, s, &value_ns);
	fprintf(out, "%s %s (%" PRId64 " ns", other ? metrics[o->threshold_on] : label_roles[o->role].breach,
		other ? "time" : "latency", value_ns);
	if (*limit_text(limit, sizeof(limit), r, of))
		fprintf(out, ", %s", limit);
	fprintf(out, ") exceeds threshold (%" PRId64 " ns).\n", o->threshold_ns);
}

/* Index of the time at which the latency of a sample begins. */
static int latency_begin(const struct options *o)
{
	uint8_t from, to;

	stages_latency_times(o->role, options_on_wire(o), &from, &to);
	return from;
}

static void write_breach(FILE *out, const struct report *r, const struct sample *s)
{
	const struct options *o = r->options;
	const bool other = metric_of(o) != METRIC_RTT;

	write_exceeds(out, r, s);
	fprintf(out, "  Sequence number: %" PRIu32 "\n", s->seq);
	if (other)
		fprintf(out, "  %s latency: %" PRId64 " ns\n", label_roles[o->role].breach, s->latency_ns);
	write_times(out, r, s, false);
	if (o->role == ROLE_EMIT)
		write_times(out, r, s, true);
	write_stages(out, r, s);
	causes_write_cause(out, r->result, s);
	fputc('\n', out);
}

/* Number of kept breaches by blamed stage. A stage that was never a candidate is omitted. */
static void write_blames(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	uint64_t breaches = counter_get(&result->account.breaches), known = 0;
	uint64_t first = breaches > BREACHES_KEPT - 1 ? breaches - (BREACHES_KEPT - 1) : 0;
	unsigned blamed[PARTS_MAX] = { 0 }, none = 0, unknown = 0;
	bool candidate[PARTS_MAX] = { false };
	struct part parts[PARTS_MAX];
	const int n = stage_find(r, parts);
	struct blame blame;
	struct sample s;

	for (uint64_t i = first; i < breaches; i++) {
		if (!breach_read(result, i, &s))
			continue;
		breach_find_blame(r, parts, n, &s, &blame);
		for (int k = 0; k < n; k++)
			candidate[k] |= parts[k].candidate;
		if (blame.part)
			blamed[blame.part - parts]++;
		else if (blame.unknown)
			unknown++;
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
	if (unknown)
		fprintf(out, "  Not known: %u\n", unknown);
	if (none)
		fprintf(out, "  None of these: %u\n", none);
	fputc('\n', out);
}

void breach_write_brief(FILE *out, const struct report *r)
{
	const struct sample *s = &r->result->worst;
	const uint64_t breaches = counter_get(&r->result->account.breaches);
	struct part parts[PARTS_MAX];
	const int n = stage_find(r, parts);
	struct blame blame;
	char digits[32] = "", name[16];

	write_exceeds(out, r, s);
	fprintf(out, "  #%" PRIu32 ", ", s->seq);
	if (breaches > 1)
		fprintf(out, "the worst of %" PRIu64 " breaches, ", breaches);
	fprintf(out, "%s %s\n",
		label_time_name(name, sizeof(name), r, latency_begin(r->options)),
		label_time_digits(digits + sizeof(digits) - 1, s->time_ns[latency_begin(r->options)]));
	breach_find_blame(r, parts, n, s, &blame);
	if (!blame.part) {
		fprintf(out, "  Blame: no single stage, see -v\n");
		return;
	}

	const enum receive_cause cause = breach_receive_cause(r, blame.part, s);

	fprintf(out, "  Blame: %s %.3f us, typical %.3f us%s%s\n", blame.part->name, label_us(blame.part->value_ns),
		label_us(blame.part->usual.value_ns), cause ? ":\n    " : "", cause ? receive_causes[cause] : "");
}

void breach_write(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	uint64_t breaches = counter_get(&result->account.breaches);
	int64_t first_ns, worst_ns;

	if (!breaches)
		return;
	write_breach(out, r, &result->breach);
	result_metric(result, &result->breach, &first_ns);
	result_metric(result, &result->worst, &worst_ns);
	/* Not by the sequence number: two emitters may use the same. */
	if (worst_ns != first_ns) {
		fprintf(out, "The worst of %" PRIu64 " breaches:\n", breaches);
		write_breach(out, r, &result->worst);
	}
	if (breaches > 1)
		write_blames(out, r);
	if (causes_write(out, r->result))
		fputc('\n', out);
}
