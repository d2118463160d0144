// SPDX-License-Identifier: GPL-2.0-or-later
/* The clocks: how they ran against each other, and how well the times of the stages may be compared. */
#include "report/clocks.h"

#include "host/clock.h"
#include "host/clock_peer.h"
#include "measure/exchange.h"
#include "options.h"
#include "report/label.h"
#include "report/part.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const clock_labels[CLOCKS] = { [CLOCK_OF_NIC] = "NIC clock", [CLOCK_OF_SYSTEM] = "system clock" };

static void write_rate(FILE *out, const struct clock_rate *r)
{
	if (!r->measured)
		fprintf(out, "rate unknown: too few readings");
	else if (!r->known)
		fprintf(out, "rate unknown: within +-%.0f ppb", r->bound_ppb);
	else
		fprintf(out, "rate %+.0f ppb (+-%.0f)", r->ppb, r->bound_ppb);
}

static void write_offset(FILE *out, const struct clock_relation *r)
{
	char text[32] = "";

	fprintf(out, "%s s (+-%" PRId64 " ns)", label_time_digits(text + sizeof(text) - 1, r->offset_ns), r->bound_ns);
}

static void write_phc(FILE *out, const struct clock_watch *c)
{
	static const char *const scales[] = {
		[CLOCK_SCALE_UNKNOWN] = "unknown scale", [CLOCK_SCALE_UTC] = "UTC", [CLOCK_SCALE_TAI] = "TAI",
		[CLOCK_SCALE_OTHER] = "neither UTC nor TAI",
	};
	const struct clock_reading *last = clock_last(c);

	if (c->phc_fd < 0) {
		fprintf(out, "  NIC clock     : not comparable: %s\n", c->why);
		return;
	}
	fprintf(out, "  NIC clock     : %s, %s", c->name, scales[clock_scale(c)]);
	if (last && last->has_phc) {
		fprintf(out, ", minus CLOCK_REALTIME ");
		write_offset(out, &last->phc_real);
	}
	fprintf(out, ", by %s\n", clock_method_name(c));
	if (c->failures)
		fprintf(out, "  %" PRIu64 " readings of it failed, the last: %s\n", c->failures, strerror(c->failure));
}

/* Rate, steering and jumps of one clock; against CLOCK_MONOTONIC_RAW, which nobody sets. */
static void write_track(FILE *out, const struct clock_watch *c, enum clock_which which)
{
	const struct clock_track *t = &c->track[which];
	struct clock_rate rate = clock_drift(c, which);

	fprintf(out, "  %-14s: ", clock_labels[which]);
	write_rate(out, &rate);
	if (clock_steering(c, which) == CLOCK_STEERED)
		fprintf(out, ", steered by another program (%" PRIu64 " changes of its rate)", t->dial_changes);
	if (t->has_largest && llabs(t->largest.size_ns) > t->largest.bound_ns)
		fprintf(out, ", largest jump %+" PRId64 " ns (+-%" PRId64 ")", t->largest.size_ns, t->largest.bound_ns);
	fputc('\n', out);
	if (rate.known && (rate.ppb > 100000 || rate.ppb < -100000))
		fprintf(out, "  Warning: the %s is off by more than 100 ppm\n", clock_labels[which]);
	if (counter_get(&t->standstills))
		fprintf(out, "  Warning: the %s stood still at %" PRIu64 " readings\n", clock_labels[which],
			counter_get(&t->standstills));
}

static void write_steps(FILE *out, const struct report *r)
{
	const struct clock_watch *c = r->clocks;
	uint64_t all = counter_get(&c->track[CLOCK_OF_NIC].steps) + counter_get(&c->track[CLOCK_OF_SYSTEM].steps);
	const uint32_t shown = c->steps_kept < 10 ? c->steps_kept : 10;

	for (uint32_t i = 0; i < shown; i++) {
		const struct clock_jump *j = &c->step[i];

		fprintf(out, "  Step of the %s by %+" PRId64 " ns (+-%" PRId64 "), %.1f to %.1f s after the start, after packet %"
			PRIu64 " to %" PRIu64 "\n", clock_labels[j->which], j->size_ns, j->bound_ns,
			label_seconds(j->mono_ns[0] - r->exchange->began_ns),
			label_seconds(j->mono_ns[1] - r->exchange->began_ns), j->mark[0], j->mark[1]);
	}
	if (all > shown)
		fprintf(out, "  %" PRIu64 " more steps\n", all - shown);
}

/* Names the columns of the log whose times are then of another clock than the stamps beside them. */
static void write_no_stages(FILE *out, const struct report *r)
{
	const struct label_time *time = label_roles[r->options->role].time;
	const char *comma = "";

	fprintf(out, "  Stages        : not comparable: %s; ", r->stages_why);
	for (int i = 0; i < TIMES; i++) {
		char name[16];

		if (time[i].wire)
			continue;
		fprintf(out, "%s%s", comma, label_time_name(name, sizeof(name), r, i));
		comma = " and ";
	}
	fprintf(out, " are times of CLOCK_REALTIME\n");
}

void clocks_write(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	const struct account *a = &x->account;
	struct clock_relation offset;
	struct clock_rate rate;

	fprintf(out, "\nClocks:\n");
	if (options_by_nic(r->options)) {
		write_phc(out, r->clocks);
		if (r->clocks->phc_fd >= 0)
			write_track(out, r->clocks, CLOCK_OF_NIC);
	}
	write_track(out, r->clocks, CLOCK_OF_SYSTEM);
	write_steps(out, r);
	if (r->peer && clock_peer_result(r->peer, &offset, &rate)) {
		fprintf(out, "  Reflector     : its receive stamps minus this clock ");
		write_offset(out, &offset);
		fprintf(out, ", ");
		write_rate(out, &rate);
		fputc('\n', out);
	}
	if (exchange_has_stages(x) && x->clocks)
		fprintf(out, "  Stages        : user-space times are on the NIC's scale within +-%" PRId64 " ns\n",
			x->bound_ns[BOUND_HERE]);
	if (part_is_split(r) && (x->there == SOURCE_HARDWARE || x->bound_ns[BOUND_THERE]))
		fprintf(out, "  Remote stages : user-space times are on the scale of the reflector's stamps within +-%" PRId64
			" ns\n", x->bound_ns[BOUND_THERE]);
	if (exchange_has_stages(x) && counter_get(&a->unplaced))
		fprintf(out, "  %" PRIu64 " samples had no place on the NIC's scale: they are in no stage\n",
			counter_get(&a->unplaced));
	if (counter_get(&a->stage_negative))
		fprintf(out, "  Warning: %" PRIu64 " stages were negative by more than their bound\n",
			counter_get(&a->stage_negative));
	if (r->stages_why)
		write_no_stages(out, r);
}
