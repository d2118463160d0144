// SPDX-License-Identifier: GPL-2.0-or-later
/* The clocks: their rates, steps and faults, and the error bound of the stages. */
#include "report/text/sections.h"

#include "options.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/stage.h"
#include "report/text/report.h"
#include "report/verdict/verdict.h"
#include "result/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const clock_labels[CLOCKS] = { [CLOCK_OF_NIC] = "NIC clock", [CLOCK_OF_SYSTEM] = "system clock" };

double clocks_rate_bound_ppb(const struct clock_rate *r)
{
	return r->bound_ppb > 1 ? ceil(r->bound_ppb) : 1;
}

static void write_rate(FILE *out, const struct clock_rate *r)
{
	if (!r->measured)
		fprintf(out, "rate unknown: too few readings");
	else if (!r->known)
		fprintf(out, "rate within +-%.0f ppb", clocks_rate_bound_ppb(r));
	else
		fprintf(out, "rate %+.0f ppb (+-%.0f)", r->ppb, clocks_rate_bound_ppb(r));
}

static void write_wrong_rate(FILE *out, const char *verb, const struct clock_rate *rate)
{
	char text[48];

	label_rate(text, sizeof(text), rate, true);
	fprintf(out, "%s %s", verb, text);
}

static void write_offset(FILE *out, const struct clock_relation *r)
{
	char text[32] = "";

	fprintf(out, "%s s (+-%" PRId64 " ns)", label_time_digits(text + sizeof(text) - 1, r->offset_ns), r->bound_ns);
}

/* The bounds above are those of the readings that the limit admits. */
static void write_limit(FILE *out, const struct result_clocks *c)
{
	fprintf(out, "  It is read at most %" PRIu32 " times a second", c->limit_per_s);
	if (c->shared)
		fprintf(out, " by all rants together");
	else
		fprintf(out, " by this rant, a quarter of its limit: /run/rant is not shared (%s)", c->not_shared);
	if (c->waited)
		fprintf(out, "; %" PRIu64 " comparisons were left out for that", c->waited);
	fputc('\n', out);
}

static void write_phc(FILE *out, const struct result_clocks *c)
{
	static const char *const scales[] = {
		[CLOCK_SCALE_UNKNOWN] = "unknown scale", [CLOCK_SCALE_UTC] = "UTC", [CLOCK_SCALE_TAI] = "TAI",
		[CLOCK_SCALE_OTHER] = "neither UTC nor TAI",
	};

	if (!c->comparable) {
		fprintf(out, "  NIC clock     : not comparable: %s\n", c->why);
		return;
	}
	fprintf(out, "  NIC clock     : %s, %s", c->name, scales[c->scale]);
	if (c->has_relation) {
		fprintf(out, ", minus CLOCK_REALTIME ");
		write_offset(out, &c->minus_realtime);
	}
	fprintf(out, ", by %s\n", c->method);
	if (c->by_packets)
		fprintf(out, "  It is not read: %s. Packets sent and received limit its offset%s\n", c->why,
			c->has_relation ? "" : "; there were too few");
	if (c->failures)
		fprintf(out, "  %" PRIu64 " readings of it failed, the last: %s\n", c->failures, c->failure);
	if (c->refused)
		fprintf(out, "  It refused %" PRIu64 " attempts; after refusals rant waits longer for the next\n",
			c->refused);
	if (c->limit_per_s)
		write_limit(out, c);
}

/* Rate, steering and steps of one clock against CLOCK_MONOTONIC_RAW, which is never set. */
static void write_track(FILE *out, const struct result_clocks *c, enum clock_which which)
{
	const struct result_clock_track *t = &c->track[which];

	fprintf(out, "  %-14s: ", clock_labels[which]);
	if (t->rate_is_wrong)
		write_wrong_rate(out, "runs", &t->rate);
	else
		write_rate(out, &t->rate);
	if (t->steering == CLOCK_STEERED)
		fprintf(out, ", steered by another program (%" PRIu64 " changes of its rate)", t->frequency_changes);
	if (t->has_largest && llabs(t->largest.size_ns) > t->largest.bound_ns)
		fprintf(out, ", largest jump %+" PRId64 " ns (+-%" PRId64 ")", t->largest.size_ns, t->largest.bound_ns);
	fputc('\n', out);
	if (t->rate.known && (t->rate.ppb > 100000 || t->rate.ppb < -100000))
		fprintf(out, "  Warning: the %s is off by more than 100 ppm\n", clock_labels[which]);
}

/* "2.0", or "1.9 to 2.1" if only limits are known. */
static void write_span(FILE *out, double from, double to, int digits)
{
	char text[2][32];

	snprintf(text[0], sizeof(text[0]), "%.*f", digits, from);
	snprintf(text[1], sizeof(text[1]), "%.*f", digits, to);
	fputs(text[0], out);
	if (strcmp(text[0], text[1]))
		fprintf(out, " to %s", text[1]);
}

/* A standstill or frequency error of the clock: its duration and time, as far as the readings show them. */
static void write_fault(FILE *out, const struct report *r, const struct result_clock_fault *s)
{
	const int64_t start_ns = r->result->began_ns;

	fprintf(out, "  Warning: the NIC clock ");
	if (s->stands)
		fprintf(out, "stood still");
	else
		write_wrong_rate(out, "ran", &s->rate);
	fprintf(out, s->over ? " for " : " for at least ");
	write_span(out, label_seconds(s->lasted_ns[0]), label_seconds(s->lasted_ns[s->over]), s->stands ? 3 : 1);
	fprintf(out, " s, from ");
	if (s->began_ns[0] <= start_ns) {
		fprintf(out, "the start");
	} else {
		write_span(out, label_seconds(s->began_ns[0] - start_ns), label_seconds(s->began_ns[1] - start_ns), 1);
		fprintf(out, " s after the start");
	}
	fprintf(out, s->stands ? ": latencies of that time are nothing\n" :
		": latencies of that time are off by as much\n");
}

static void write_faults(FILE *out, const struct report *r)
{
	const struct result_clocks *c = &r->result->clocks;
	const struct result_clock_track *t = &c->track[CLOCK_OF_NIC];
	uint64_t all = t->standstills + t->wrong_rates;
	const uint32_t shown = c->faults_kept < 10 ? c->faults_kept : 10;

	for (uint32_t i = 0; i < shown; i++)
		write_fault(out, r, &c->fault[i]);
	if (all > shown)
		fprintf(out, "  It did so %" PRIu64 " time%s more\n", all - shown, all - shown == 1 ? "" : "s");
}

static void write_steps(FILE *out, const struct report *r)
{
	const struct result_clocks *c = &r->result->clocks;
	uint64_t all = c->track[CLOCK_OF_NIC].steps + c->track[CLOCK_OF_SYSTEM].steps;
	const uint32_t shown = c->steps_kept < 10 ? c->steps_kept : 10;

	for (uint32_t i = 0; i < shown; i++) {
		const struct clock_jump *j = &c->step[i];

		fprintf(out,
			"  Step of the %s by %+" PRId64 " ns (+-%" PRId64 "), %.1f to %.1f s after the start, after "
									  "packet %"
			PRIu64 " to %" PRIu64 "\n", clock_labels[j->which], j->size_ns, j->bound_ns,
			label_seconds(j->mono_ns[0] - r->result->began_ns),
			label_seconds(j->mono_ns[1] - r->result->began_ns), j->mark[0], j->mark[1]);
	}
	if (all > shown)
		fprintf(out, "  %" PRIu64 " more steps\n", all - shown);
}

/* Names the columns of the log whose times are from another clock than the timestamps next to them. */
static void write_no_stages(FILE *out, const struct report *r)
{
	const struct options *o = r->options;
	const char *comma = "";

	fprintf(out, "  Stages        : not comparable: %s; ", r->result->no_stages);
	for (int i = 0; i < ALL_TIMES; i++) {
		const struct label_time *t = label_time(o->role, i);
		char name[16];

		if (time_is_remote(i) || t->wire || (t->kernel && !label_kernel_is_taken(t, o)))
			continue;
		fprintf(out, "%s%s", comma, label_time_name(name, sizeof(name), r, i));
		comma = " and ";
	}
	fprintf(out, " are times of CLOCK_REALTIME\n");
}

/* The largest bound, or the error by a clock fault that was detected later. Such a fault shifts one of the two stages
 * next to the wire up and the other down; neither was recorded below 0 by more than its bound, so the shift cannot
 * exceed the sum of both. */
int64_t clocks_stages_bound(const struct report *r)
{
	const struct result *result = r->result;
	const int64_t bound_ns = result->bound_ns[BOUND_LOCAL].value, late_ns = result->clocks.late_ns;
	int64_t most_ns = bound_ns;

	/* at the emitter App-to-NIC and NIC-to-app, at the reflector the same in its order */
	for (int i = 0; i < 2; i++)
		if (result->stage[i] && result->stage[i]->count)
			most_ns += result->stage[i]->max_ns;
	return late_ns < bound_ns ? bound_ns : late_ns < most_ns ? late_ns : most_ns;
}

/* The clock of a bond, or of a VLAN on a bond, belongs to another interface. */
static void write_stamper(FILE *out, const struct report *r)
{
	const struct result_nic *n = &r->result->nic;

	if (*n->stamper && n->stamper_is_other)
		fprintf(out, "  Stamped by    : %s, which %s sends by\n", n->stamper, n->name);
}

/* Timestamps of a kernel on the scale of a NIC's clock. */
static void write_placed(FILE *out, const struct report *r)
{
	const struct placing *p = &r->result->placing;
	char name[16];

	if (options_place_sent(r->options) && limit_placed_ns(r).known)
		fprintf(out, "  Sent packets  : %s is on the NIC's scale within +-%" PRId64
			" ns, and before the NIC sends\n",
			label_time_name(name, sizeof(name), r,
					r->options->role == ROLE_EMIT ? EMIT_T1_WIRE : REFLECT_T3_WIRE),
			limit_placed_ns(r).value);
	if (counter_get(&p->samples))
		fprintf(out, "  Kernel        : got received packets %" PRId64 " ns after the NIC (mean)%s\n",
			placing_delay_ns(p),
			placing_is_worse(p, 1) ? ": less than this bound, --stamp kernel is better" : "");
	if (r->result->remote == SOURCE_RECEIVE && r->result->bound_ns[BOUND_REMOTE].known)
		fprintf(out, "  Its replies   : T3_KERNEL is on the scale of the reflector's NIC within +-%" PRId64
			" ns, and before it sends\n", r->result->bound_ns[BOUND_REMOTE].value);
}

static void write_stamp_faults(FILE *out, const struct stamp_check *c)
{
	static const char *const ways[STAMP_WAYS] = { [STAMP_SENT] = "transmit", [STAMP_RECEIVED] = "receive" };

	for (int i = 0; i < STAMP_WAYS; i++) {
		if (c->repeated[i])
			fprintf(out, "  Warning: %" PRIu64 " of %" PRIu64 " %s timestamps repeated an earlier one\n",
				c->repeated[i], c->stamps[i], ways[i]);
		if (c->backward[i])
			fprintf(out, "  Warning: %" PRIu64 " of %" PRIu64 " %s timestamps were before an earlier one\n",
				c->backward[i], c->stamps[i], ways[i]);
	}
}

/* A step of 1 ns is the unit of the timestamps, and not a property of the clock. */
static void write_stamp_check(FILE *out, const struct report *r)
{
	const struct stamp_check *c = &r->result->stamp_check;
	const struct optional step_ns = stamp_check_step_ns(c);

	if (step_ns.value > 1)
		fprintf(out, "  Timestamps    : in steps of %" PRId64 " ns\n", step_ns.value);
	else if (step_ns.known && r->options->verbose)
		fprintf(out, "  Timestamps    : no common step above 1 ns\n");
	write_stamp_faults(out, c);
}

static void write_provider(FILE *out, const struct result_nic *n)
{
	if (*n->provider_text)
		fprintf(out, "  Provider      : %s%s%s\n", n->provider_text, n->provider_changes ? ", changed to " : "",
			n->provider_changes ? n->provider_after_text : "");
}

bool clocks_are_shown(const struct report *r)
{
	const struct result *result = r->result;

	return result->clocks.watched &&
	       (source_of_packets(r->options->stamp, false) == SOURCE_HARDWARE || r->options->verbose ||
		*result->no_stages || result->clocks.track[CLOCK_OF_SYSTEM].steps || clocks_remote_has_news(r) ||
		result->remote == SOURCE_RECEIVE || (stage_is_split(r) && result->bound_ns[BOUND_REMOTE].value));
}

void clocks_write(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const struct account *a = &result->account;
	const struct result_clocks *c = &result->clocks;
	const struct result_peer *p = &result->peer;

	fprintf(out, "\nClocks:\n");
	if (options_by_nic(r->options)) {
		write_phc(out, c);
		write_stamper(out, r);
		write_provider(out, &r->result->nic);
		if (c->comparable)
			write_track(out, c, CLOCK_OF_NIC);
		write_stamp_check(out, r);
		write_faults(out, r);
	}
	write_track(out, c, CLOCK_OF_SYSTEM);
	write_steps(out, r);
	if (p->is_known) {
		fprintf(out, "  Reflector     : its receive stamps minus this clock ");
		write_offset(out, &p->offset);
		fprintf(out, ", ");
		write_rate(out, &p->rate);
		fputc('\n', out);
	}
	write_placed(out, r);
	if (result_has_stages(result) && result->converted && result->bound_ns[BOUND_LOCAL].value)
		fprintf(out, "  Stages        : user-space times are on the NIC's scale within +-%" PRId64 " ns\n",
			clocks_stages_bound(r));
	if (stage_is_split(r) &&
	    (source_of_packets(result->remote, false) == SOURCE_HARDWARE || result->bound_ns[BOUND_REMOTE].value))
		fprintf(out,
			"  Remote stages : user-space times are on the scale of the reflector's stamps within +-"
			"%" PRId64 " ns\n", result->bound_ns[BOUND_REMOTE].value);
	if (result_has_stages(result) && counter_get(&a->unconverted))
		fprintf(out, "  %" PRIu64 " samples had no place on the NIC's scale: they are in no stage\n",
			counter_get(&a->unconverted));
	clocks_remote_write(out, r);
	if (*result->no_stages)
		write_no_stages(out, r);
}
