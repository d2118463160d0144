// SPDX-License-Identifier: GPL-2.0-or-later
/* The reflector's clock, derived from the exchanges, and the samples that broke a rule of measure/rules.h. */
#include "report/text/sections.h"

#include "options.h"
#include "report/text/label.h"
#include "result/result.h"
#include "result/rules.h"

#include <inttypes.h>

static void write_what(FILE *out, const struct result_peer_event *e)
{
	const double ppb = e->ppb;

	if (e->kind == PEER_STOOD) {
		fprintf(out, "stood still for %.3f s or more", label_seconds(e->stood_ns));
	} else if (e->kind == PEER_WRONG_RATE) {
		fprintf(out, ppb < 1e9 ? "ran %.3g %% %s" : "ran %.0f %% %s", (ppb < 0 ? -ppb : ppb) / 1e7,
			ppb < 0 ? "slow" : "fast");
	} else if (e->has_size) {
		fprintf(out, "jumped by %+" PRId64 " ns (+-%" PRId64 ")", e->size_ns, e->bound_ns);
		if (e->conflicts > 1)
			fprintf(out, ", not at once");
	} else {
		fprintf(out, "jumped by an unknown amount");
	}
}

static void write_event(FILE *out, const struct report *r, const struct result_peer_event *e)
{
	fprintf(out, "  The reflector's clock %s", e->theirs ? "" : "against this host's ");
	write_what(out, e);
	fprintf(out, ", %.1f to %.1f s after the start, after packet %" PRIu32 " to %" PRIu32 "%s\n",
		label_seconds(e->mono_ns[0] - r->result->began_ns), label_seconds(e->mono_ns[1] - r->result->began_ns),
		e->seq[0], e->seq[1], e->theirs ? "" : ": this host's clock moved then");
}

static void write_events(FILE *out, const struct report *r)
{
	const struct result_peer *p = &r->result->peer;

	for (uint64_t i = 0; i < clocks_peer_kept(p); i++)
		write_event(out, r, &p->event[i]);
	if (p->events > PEER_EVENTS_KEPT)
		fprintf(out, "  %" PRIu64 " more of these\n", p->events - PEER_EVENTS_KEPT);
}

static void write_broken_rule(FILE *out, const struct report *r, const struct broken_rule *b)
{
	char first[16], second[16];

	fprintf(out, "  Left out of #%" PRIu32 ": ", b->seq);
	if (b->rule == RULE_RESPONSE) {
		fprintf(out, "a response of %" PRId64 " ns is no part of the round trip\n", b->by_ns);
	} else if (b->rule == RULE_RELATION) {
		fprintf(out, "T2 and T3 do not fit to the clocks of the exchanges around it\n");
	} else {
		const struct rule *rule = &rules_of_order[r->options->role][b->rule];

		fprintf(out, "%s is %" PRId64 " ns after %s\n", label_time_name(first, sizeof(first), r, rule->first),
			b->by_ns,
			label_time_name(second, sizeof(second), r, rule->second));
	}
}

static void write_broken_rules(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const uint64_t shown = result->rules_broken < BROKEN_KEPT ? result->rules_broken : BROKEN_KEPT;

	for (uint64_t i = 0; i < shown; i++)
		write_broken_rule(out, r, &result->broken[i]);
	if (result->rules_broken > shown)
		fprintf(out, "  %" PRIu64 " more of these\n", result->rules_broken - shown);
}

bool clocks_remote_has_news(const struct report *r)
{
	const struct account *a = &r->result->account;

	return r->result->peer.events || counter_get(&a->doubted) || r->result->rules_broken;
}

void clocks_remote_write(FILE *out, const struct report *r)
{
	const struct result *result = r->result;

	write_events(out, r);
	if (counter_get(&result->account.doubted))
		fprintf(out,
			"  The reflector reports that its clock was set or stood still, or has a frequency error: %" PRIu64
			" replies, the first to packet %" PRIu32 "\n", counter_get(&result->account.doubted),
			result->doubted_seq);
	if (counter_get(&result->account.disordered))
		fprintf(out,
			"  %" PRIu64 " samples have times of user space on the wrong side of their stamps: they are in "
				     "no stage\n",
			counter_get(&result->account.disordered));
	if (r->options->verbose)
		write_broken_rules(out, r);
}
