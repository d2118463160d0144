// SPDX-License-Identifier: GPL-2.0-or-later
/* The clocks of both hosts during a run. Several runs have no common clocks. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/export/json_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Index of the text in a list of `n`; 0: it is missing, or not in the list after the first. */
static int index_of(const struct tree *t, const char *const list[], int n)
{
	const int i = run_index_of(t, list, 1, n);

	return i < 0 ? 0 : i;
}

static bool take_rate(struct clock_rate *rate, const struct tree *t)
{
	rate->measured = tree_number(tree_member(t, "rate_ppb"), &rate->ppb);
	if (!rate->measured)
		return true;
	if (!tree_number(tree_member(t, "rate_bound_ppb"), &rate->bound_ppb) || rate->bound_ppb < 0)
		return false;
	if (!tree_is_bool(tree_member(t, "rate_known"), &rate->known)) /* not in files of older versions */
		rate->known = fabs(rate->ppb) > rate->bound_ppb;
	return true;
}

static bool take_size(int64_t *size_ns, int64_t *bound_ns, const struct tree *size, const struct tree *bound)
{
	return run_take_time(size_ns, size) && run_take_time(bound_ns, bound) && *bound_ns >= 0;
}

/* 0 if the relation is missing, 1 if it is there, or -EINVAL. */
static int take_relation(struct clock_relation *to, const struct tree *t)
{
	if (!t)
		return 0;
	return take_size(&to->offset_ns, &to->bound_ns, tree_member(t, "offset_ns"), tree_member(t, "bound_ns")) ?
	       1 : -EINVAL;
}

/* Times after the start of the run. */
static bool take_between(int64_t mono_ns[2], const struct tree *t, int64_t began_ns)
{
	for (int i = 0; i < 2; i++) {
		int64_t ns;

		if (!run_take_time(&ns, tree_item(t, (size_t)i)))
			return false;
		mono_ns[i] = began_ns + ns;
	}
	return true;
}

static bool take_track(struct result_clock_track *to, const struct tree *t)
{
	const struct tree *largest = tree_member(t, "largest_jump_ns");

	to->steering = (enum clock_steering)index_of(tree_member(t, "steered"), json_steerings, CLOCK_STEERED + 1);
	tree_is_bool(tree_member(t, "rate_wrong"), &to->rate_is_wrong);
	to->has_largest = largest;
	return take_rate(&to->rate, t) && run_take_number(&to->steps, tree_member(t, "steps")) &&
	       run_take_number(&to->frequency_changes, tree_member(t, "rate_changes")) &&
	       (!largest || take_size(&to->largest.size_ns, &to->largest.bound_ns, largest,
				      tree_member(t, "largest_jump_bound_ns")));
}

static bool take_fault(struct result_clock_fault *to, const struct tree *t, int64_t began_ns)
{
	const char *kind = tree_text(tree_member(t, "kind"));
	const struct tree *most = tree_member(t, "most_ns");

	to->stands = kind && !strcmp(kind, "stood still");
	to->over = most;
	return kind && run_take_time(&to->lasted_ns[0], tree_member(t, "least_ns")) && to->lasted_ns[0] >= 0 &&
	       (!most || run_take_time(&to->lasted_ns[1], most)) && take_rate(&to->rate, t) &&
	       take_between(to->began_ns, tree_member(t, "began_after_start_ns"), began_ns);
}

static bool take_faults(struct result_clocks *c, const struct tree *t, int64_t began_ns)
{
	const struct tree *list = tree_member(t, "spells");
	struct result_clock_track *track = &c->track[CLOCK_OF_NIC];

	for (size_t i = 0; i < tree_length(list) && i < CLOCK_FAULTS_KEPT; i++)
		if (!take_fault(&c->fault[c->faults_kept++], tree_item(list, i), began_ns))
			return false;
	if (tree_member(t, "standstills"))
		return run_take_number(&track->standstills, tree_member(t, "standstills")) &&
		       run_take_number(&track->wrong_rates, tree_member(t, "wrong_rates"));
	for (uint32_t i = 0; i < c->faults_kept; i++) /* a file of an older version */
		*(c->fault[i].stands ? &track->standstills : &track->wrong_rates) += 1;
	return true;
}

static bool take_limit(struct result_clocks *c, const struct tree *t)
{
	tree_is_bool(tree_member(t, "shared"), &c->shared);
	run_take_text(c->not_shared, sizeof(c->not_shared), tree_member(t, "not_shared"));
	return run_take_u32(&c->limit_per_s, tree_member(t, "per_second")) &&
	       run_take_number(&c->waited, tree_member(t, "left_out"));
}

/* The step is not computed again. */
static bool take_stamp_check(struct stamp_check *c, const struct tree *t)
{
	static const char *const ways[STAMP_WAYS] = { [STAMP_SENT] = "transmit", [STAMP_RECEIVED] = "receive" };
	const struct tree *step = tree_member(t, "step_ns");
	bool valid = true;

	if (step) {
		valid = tree_integer(step, &c->divisor_ns) && c->divisor_ns > 0;
		c->steps_of = STAMP_STEP_MOST;
	}
	for (int i = 0; i < STAMP_WAYS; i++) {
		const struct tree *way = tree_member(t, ways[i]);

		valid = valid && run_take_number(&c->stamps[i], tree_member(way, "count")) &&
			run_take_number(&c->repeated[i], tree_member(way, "repeated")) &&
			run_take_number(&c->backward[i], tree_member(way, "backward"));
	}
	return valid;
}

static bool take_nic_clock(struct result_clocks *c, const struct tree *t, int64_t began_ns)
{
	const struct tree *why = tree_member(t, "not_comparable");
	int relation;

	run_take_text(c->why, sizeof(c->why), why);
	c->comparable = t && !why;
	if (!c->comparable)
		return true;
	c->by_packets = tree_member(t, "not_read");
	if (c->by_packets)
		run_take_text(c->why, sizeof(c->why), tree_member(t, "not_read"));
	run_take_text(c->name, sizeof(c->name), tree_member(t, "name"));
	run_take_text(c->method, sizeof(c->method), tree_member(t, "method"));
	run_take_text(c->failure, sizeof(c->failure), tree_member(t, "failure"));
	c->scale = (enum clock_scale)index_of(tree_member(t, "scale"), json_scales, CLOCK_SCALE_OTHER + 1);
	relation = take_relation(&c->minus_realtime, tree_member(t, "minus_realtime"));
	c->has_relation = relation > 0;
	return relation >= 0 && run_take_number(&c->readings, tree_member(t, "readings")) &&
	       run_take_number(&c->failures, tree_member(t, "failed_readings")) &&
	       run_take_number(&c->refused, tree_member(t, "refused_readings")) &&
	       take_limit(c, tree_member(t, "read_limit")) &&
	       take_track(&c->track[CLOCK_OF_NIC], t) && take_faults(c, t, began_ns);
}

static bool take_step(struct clock_jump *to, const struct tree *t, int64_t began_ns)
{
	const struct tree *packets = tree_member(t, "after_packets");

	to->which = (enum clock_which)index_of(tree_member(t, "clock"), json_clocks_of, CLOCKS);
	return take_size(&to->size_ns, &to->bound_ns, tree_member(t, "size_ns"), tree_member(t, "bound_ns")) &&
	       take_between(to->mono_ns, tree_member(t, "after_start_ns"), began_ns) &&
	       run_take_number(&to->mark[0], tree_item(packets, 0)) &&
	       run_take_number(&to->mark[1], tree_item(packets, 1));
}

static bool take_steps(struct result_clocks *c, const struct tree *list, int64_t began_ns)
{
	for (size_t i = 0; i < tree_length(list) && i < CLOCK_STEPS_KEPT; i++)
		if (!take_step(&c->step[c->steps_kept++], tree_item(list, i), began_ns))
			return false;
	return true;
}

static bool take_event(struct result_peer_event *e, const struct tree *t, int64_t began_ns)
{
	const struct tree *size = tree_member(t, "size_ns"), *rate = tree_member(t, "rate_ppb");
	const struct tree *stood = tree_member(t, "stood_ns"), *seq = tree_member(t, "after_seq");

	e->kind = (enum clock_peer_kind)index_of(tree_member(t, "kind"), json_peer_kinds, PEER_KINDS);
	tree_is_bool(tree_member(t, "of_the_reflector"), &e->theirs);
	e->has_size = size;
	return run_take_u32(&e->seq[0], tree_item(seq, 0)) && run_take_u32(&e->seq[1], tree_item(seq, 1)) &&
	       run_take_number(&e->conflicts, tree_member(t, "conflicts")) &&
	       (!size || take_size(&e->size_ns, &e->bound_ns, size, tree_member(t, "bound_ns"))) &&
	       (!stood || run_take_time(&e->stood_ns, stood)) && (!rate || tree_number(rate, &e->ppb)) &&
	       take_between(e->mono_ns, tree_member(t, "after_start_ns"), began_ns);
}

static bool take_peer(struct result *r, const struct tree *t)
{
	const struct tree *list = tree_member(t, "events");
	const size_t kept = tree_length(list) < PEER_EVENTS_KEPT ? tree_length(list) : PEER_EVENTS_KEPT;
	struct result_peer *p = &r->peer;
	uint64_t doubted, left_out;
	int relation;

	p->compared = t;
	relation = take_relation(&p->offset, tree_member(t, "minus_this_clock"));
	p->is_known = relation > 0;
	if (relation < 0 || !take_rate(&p->rate, t) || !run_take_number(&doubted, tree_member(t, "doubted_replies")) ||
	    !run_take_u32(&r->doubted_seq, tree_member(t, "first_doubted_seq")) ||
	    !run_take_number(&left_out, tree_member(t, "events_left_out")) || (left_out && kept < PEER_EVENTS_KEPT))
		return false;
	counter_add(&r->account.doubted, doubted);
	p->events = kept + left_out;
	for (size_t i = 0; i < kept; i++) {
		if (!take_event(&p->event[i], tree_item(list, i), r->began_ns))
			return false;
		p->faults[p->event[i].kind] += p->event[i].theirs;
	}
	return true;
}

/* Files without --stamp receive do not have it. */
static bool take_placing(struct placing *to, const struct tree *t)
{
	int64_t samples, mean_ns, bound_ns, sum_ns;

	if (!t)
		return true;
	if (!run_count(tree_member(t, "samples"), &samples) || !run_take_time(&mean_ns, tree_member(t, "mean_ns")) ||
	    !run_take_time(&bound_ns, tree_member(t, "bound_ns")) || __builtin_mul_overflow(mean_ns, samples, &sum_ns))
		return false;
	counter_add(&to->samples, (uint64_t)samples);
	counter_add(&to->delay_ns, (uint64_t)sum_ns);
	to->bound_ns = bound_ns;
	return true;
}

/* The bound of the stages of this host is also in the statistics, from where it was taken. */
static bool take_bounds(struct result *r, const struct tree *t)
{
	const struct tree *stages = tree_member(t, "stages_within_ns");
	const struct tree *remote = tree_member(t, "remote_stages_within_ns");
	uint64_t unconverted, disordered;

	if (!tree_is_bool(tree_member(t, "converted"), &r->converted)) /* not in files of older versions */
		r->converted = stages;
	if (remote) {
		r->bound_ns[BOUND_REMOTE].known = true;
		if (!run_take_time(&r->bound_ns[BOUND_REMOTE].value, remote))
			return false;
	}
	if (!take_placing(&r->placing, tree_member(t, "nic_to_kernel")) ||
	    !run_take_number(&unconverted, tree_member(t, "unplaced")) ||
	    !run_take_number(&disordered, tree_member(t, "disordered")))
		return false;
	counter_add(&r->account.unconverted, unconverted);
	counter_add(&r->account.disordered, disordered);
	run_take_text(r->no_stages, sizeof(r->no_stages), tree_member(t, "no_stages"));
	return true;
}

/* The texts of the NIC that the report prints. All members are kept as JSON. */
static bool take_nic(struct result_nic *to, const struct tree *t)
{
	run_take_text(to->name, sizeof(to->name), tree_member(t, "interface"));
	run_take_text(to->driver, sizeof(to->driver), tree_member(t, "driver"));
	run_take_text(to->stamper, sizeof(to->stamper), tree_member(t, "stamped_by"));
	to->stamper_is_other = strcmp(to->stamper, to->name);
	run_take_text(to->provider_text, sizeof(to->provider_text), tree_at(t, "provider.name"));
	run_take_text(to->provider_after_text, sizeof(to->provider_after_text), tree_at(t, "provider_after.name"));
	return run_take_u32(&to->provider_changes, tree_member(t, "provider_changes"));
}

int run_take_clocks(struct outcome *o, const struct tree *root, const char *path)
{
	const struct tree *t = tree_member(root, "clocks");
	struct result *r = &o->result;
	struct result_clocks *c = &r->clocks;
	bool valid;

	r->nic = (struct result_nic){ .name = "" };
	if (o->read.files > 1)
		return 0;
	if (!take_nic(&r->nic, tree_member(root, "nic")))
		return run_refuse(path, "nic", "is not valid");
	if (!tree_is_object(t))
		return 0;
	c->watched = true;
	valid = take_stamp_check(&r->stamp_check, tree_member(tree_member(t, json_clocks_of[CLOCK_OF_NIC]), "stamps")) &&
		take_nic_clock(c, tree_member(t, json_clocks_of[CLOCK_OF_NIC]), r->began_ns) &&
	       take_track(&c->track[CLOCK_OF_SYSTEM], tree_member(t, json_clocks_of[CLOCK_OF_SYSTEM])) &&
	       take_steps(c, tree_member(t, "steps"), r->began_ns) && take_peer(r, tree_member(t, "reflector")) &&
	       take_bounds(r, t);
	for (int i = 0; i < CLOCKS; i++)
		if (c->track[i].steps || c->track[i].standstills)
			atomic_store_explicit(&r->clocks_moved, true, memory_order_relaxed);
	return valid ? 0 : run_refuse(path, "clocks", "is not valid");
}
