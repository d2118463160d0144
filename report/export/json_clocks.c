// SPDX-License-Identifier: GPL-2.0-or-later
/* Clocks, their relation, and its error. */
#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "report/text/stage.h"
#include "result/result.h"

const char *const json_clocks_of[CLOCKS] = { [CLOCK_OF_NIC] = "nic_clock", [CLOCK_OF_SYSTEM] = "system_clock" };
const char *const json_steerings[] = { [CLOCK_STEERING_UNKNOWN] = NULL, [CLOCK_NOT_STEERED] = "no",
				       [CLOCK_STEERED] = "yes" };
const char *const json_scales[] = { [CLOCK_SCALE_UNKNOWN] = NULL, [CLOCK_SCALE_UTC] = "UTC", [CLOCK_SCALE_TAI] = "TAI",
				    [CLOCK_SCALE_OTHER] = "other" };
const char *const json_peer_kinds[PEER_KINDS] = { [PEER_JUMPED] = "jumped", [PEER_STOOD] = "stood still",
						  [PEER_WRONG_RATE] = "wrong rate" };

static void put_rate(struct json *j, const struct clock_rate *rate)
{
	if (rate->measured) {
		json_real(j, "rate_ppb", rate->ppb, 0);
		json_real(j, "rate_bound_ppb", clocks_rate_bound_ppb(rate), 0);
	} else {
		json_null(j, "rate_ppb");
		json_null(j, "rate_bound_ppb");
	}
}

static void put_relation(struct json *j, const char *name, const struct clock_relation *relation)
{
	json_object(j, name);
	json_integer(j, "offset_ns", relation->offset_ns);
	json_integer(j, "bound_ns", relation->bound_ns);
	json_end(j);
}

/* Times of CLOCK_MONOTONIC, relative to the start. */
static void put_between(struct json *j, const char *name, const struct report *r, const int64_t mono_ns[2])
{
	json_pair(j, name);
	json_integer(j, NULL, mono_ns[0] - r->result->began_ns);
	json_integer(j, NULL, mono_ns[1] - r->result->began_ns);
	json_end(j);
}

static void put_track(struct json *j, const struct result_clock_track *t)
{
	put_rate(j, &t->rate);
	json_bool(j, "rate_known", t->rate.known);
	json_bool(j, "rate_wrong", t->rate_is_wrong);
	json_text(j, "steered", json_steerings[t->steering]);
	json_count(j, "rate_changes", t->frequency_changes);
	json_count(j, "steps", t->steps);
	if (t->has_largest) {
		json_integer(j, "largest_jump_ns", t->largest.size_ns);
		json_integer(j, "largest_jump_bound_ns", t->largest.bound_ns);
	} else {
		json_null(j, "largest_jump_ns");
		json_null(j, "largest_jump_bound_ns");
	}
}

static void put_faults(struct json *j, const struct report *r)
{
	const struct result_clocks *c = &r->result->clocks;

	json_array(j, "spells");
	for (uint32_t i = 0; i < c->faults_kept; i++) {
		const struct result_clock_fault *s = &c->fault[i];

		json_object(j, NULL);
		json_text(j, "kind", s->stands ? "stood still" : "wrong rate");
		if (!s->stands)
			put_rate(j, &s->rate);
		json_integer(j, "least_ns", s->lasted_ns[0]);
		json_integer_if(j, "most_ns", s->over, s->lasted_ns[1]);
		put_between(j, "began_after_start_ns", r, s->began_ns);
		json_end(j);
	}
	json_end(j);
}

static void put_limit(struct json *j, const struct result_clocks *c)
{
	if (!json_object_if(j, "read_limit", c->limit_per_s))
		return;
	json_count(j, "per_second", c->limit_per_s);
	json_bool(j, "shared", c->shared);
	json_text(j, "not_shared", *c->not_shared ? c->not_shared : NULL);
	json_count(j, "left_out", c->waited);
	json_end(j);
}

static void put_stamp_check(struct json *j, const struct stamp_check *c)
{
	static const char *const ways[STAMP_WAYS] = { [STAMP_SENT] = "transmit", [STAMP_RECEIVED] = "receive" };

	if (!json_object_if(j, "stamps", c->stamps[STAMP_SENT] || c->stamps[STAMP_RECEIVED]))
		return;
	json_optional(j, "step_ns", stamp_check_step_ns(c));
	for (int i = 0; i < STAMP_WAYS; i++) {
		json_row(j, ways[i]);
		json_count(j, "count", c->stamps[i]);
		json_count(j, "repeated", c->repeated[i]);
		json_count(j, "backward", c->backward[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_nic_clock(struct json *j, const struct report *r)
{
	const struct result_clocks *c = &r->result->clocks;

	json_object(j, json_clocks_of[CLOCK_OF_NIC]);
	put_stamp_check(j, &r->result->stamp_check);
	if (!c->comparable) {
		json_text(j, "not_comparable", c->why);
		json_end(j);
		return;
	}
	json_text(j, "name", c->name);
	json_text(j, "scale", json_scales[c->scale]);
	json_text(j, "method", c->method);
	if (c->by_packets)
		json_text(j, "not_read", c->why);
	if (c->has_relation)
		put_relation(j, "minus_realtime", &c->minus_realtime);
	else
		json_null(j, "minus_realtime");
	json_count(j, "readings", c->readings);
	json_count(j, "failed_readings", c->failures);
	json_text(j, "failure", c->failures ? c->failure : NULL);
	json_count(j, "refused_readings", c->refused);
	put_limit(j, c);
	put_track(j, &c->track[CLOCK_OF_NIC]);
	json_count(j, "standstills", c->track[CLOCK_OF_NIC].standstills);
	json_count(j, "wrong_rates", c->track[CLOCK_OF_NIC].wrong_rates);
	put_faults(j, r);
	json_end(j);
}

static void put_steps(struct json *j, const struct report *r)
{
	const struct result_clocks *c = &r->result->clocks;

	json_array(j, "steps");
	for (uint32_t i = 0; i < c->steps_kept; i++) {
		const struct clock_jump *s = &c->step[i];

		json_object(j, NULL);
		json_text(j, "clock", json_clocks_of[s->which]);
		json_integer(j, "size_ns", s->size_ns);
		json_integer(j, "bound_ns", s->bound_ns);
		put_between(j, "after_start_ns", r, s->mono_ns);
		json_pair(j, "after_packets");
		json_count(j, NULL, s->mark[0]);
		json_count(j, NULL, s->mark[1]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

/* Size of a step, from the clock relations before and after it. */
static void put_size(struct json *j, const struct result_peer_event *e)
{
	const bool known = e->has_size && e->kind == PEER_JUMPED;

	json_integer_if(j, "size_ns", known, e->size_ns);
	json_integer_if(j, "bound_ns", known, e->bound_ns);
	json_integer_if(j, "stood_ns", e->kind == PEER_STOOD, e->stood_ns);
	if (e->kind == PEER_WRONG_RATE)
		json_real(j, "rate_ppb", e->ppb, 0);
	else
		json_null(j, "rate_ppb");
}

static void put_events(struct json *j, const struct report *r)
{
	const struct result_peer *p = &r->result->peer;

	json_array(j, "events");
	for (uint64_t i = 0; i < clocks_peer_kept(p); i++) {
		const struct result_peer_event *e = &p->event[i];

		json_object(j, NULL);
		json_text(j, "kind", json_peer_kinds[e->kind]);
		json_bool(j, "of_the_reflector", e->theirs);
		put_size(j, e);
		put_between(j, "after_start_ns", r, e->mono_ns);
		json_pair(j, "after_seq");
		json_count(j, NULL, e->seq[0]);
		json_count(j, NULL, e->seq[1]);
		json_end(j);
		json_count(j, "conflicts", e->conflicts);
		json_end(j);
	}
	json_end(j);
	json_count(j, "events_left_out", p->events - clocks_peer_kept(p));
}

static void put_peer(struct json *j, const struct report *r)
{
	const struct result_peer *p = &r->result->peer;

	if (!json_object_if(j, "reflector", p->is_known || (p->compared && clocks_remote_has_news(r))))
		return;
	if (p->is_known)
		put_relation(j, "minus_this_clock", &p->offset);
	else
		json_null(j, "minus_this_clock");
	put_rate(j, &p->rate);
	json_bool(j, "rate_known", p->rate.known);
	json_count(j, "doubted_replies", counter_get(&r->result->account.doubted));
	json_integer_if(j, "first_doubted_seq", counter_get(&r->result->account.doubted), r->result->doubted_seq);
	put_events(j, r);
	json_end(j);
}

/* Of --stamp receive, absent otherwise. */
static void put_placing(struct json *j, const struct placing *p)
{
	if (!counter_get(&p->samples))
		return;
	json_object(j, "nic_to_kernel");
	json_count(j, "samples", counter_get(&p->samples));
	json_integer(j, "mean_ns", placing_delay_ns(p));
	json_integer(j, "bound_ns", atomic_load_explicit(&p->bound_ns, memory_order_relaxed));
	json_end(j);
}

static void put_bounds(struct json *j, const struct report *r)
{
	const struct result *result = r->result;

	if (options_place_sent(r->options) && limit_placed_ns(r).known)
		json_integer(j, "placed_within_ns", limit_placed_ns(r).value);
	put_placing(j, &result->placing);
	if (result_has_stages(result) && result->converted && result->bound_ns[BOUND_LOCAL].value)
		json_integer(j, "stages_within_ns", clocks_stages_bound(r));
	if ((result->remote == SOURCE_RECEIVE && result->bound_ns[BOUND_REMOTE].known) ||
	    (stage_is_split(r) && (result->remote == SOURCE_HARDWARE || result->bound_ns[BOUND_REMOTE].value)))
		json_integer(j, "remote_stages_within_ns", result->bound_ns[BOUND_REMOTE].value);
	json_bool(j, "converted", result->converted);
	json_text(j, "no_stages", *result->no_stages ? result->no_stages : NULL);
	json_count(j, "unplaced", counter_get(&result->account.unconverted));
	json_count(j, "disordered", counter_get(&result->account.disordered));
}

void json_clocks(struct json *j, const struct report *r)
{
	const struct result_clocks *c = &r->result->clocks;

	if (!json_object_if(j, "clocks", c->watched))
		return;
	if (options_by_nic(r->options))
		put_nic_clock(j, r);
	json_object(j, json_clocks_of[CLOCK_OF_SYSTEM]);
	put_track(j, &c->track[CLOCK_OF_SYSTEM]);
	json_end(j);
	put_steps(j, r);
	if (r->options->role == ROLE_EMIT)
		put_peer(j, r);
	put_bounds(j, r);
	json_end(j);
}
