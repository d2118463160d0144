// SPDX-License-Identifier: GPL-2.0-or-later
/* IPDV, delays as reported, source ports and modes of a run. Several runs have none of them: their numbers do not add
 * up. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/export/json_parts.h"
#include "report/text/sections.h"
#include "report/verdict/teeth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- IPDV -------------------------------------------------------------------------------------------------------- */

static bool take_figures(struct ipdv_figures *to, const struct tree *t)
{
	*to = (struct ipdv_figures){ 0 };
	return run_take_number(&to->count, tree_member(t, "samples")) &&
	       run_take_number(&to->beyond, tree_member(t, "beyond")) &&
	       run_take_number(&to->min_ns, tree_member(t, "min_ns")) &&
	       run_take_number(&to->p50_ns, tree_member(t, "p50_ns")) &&
	       run_take_number(&to->p99_ns, tree_member(t, "p99_ns")) &&
	       run_take_number(&to->max_ns, tree_member(t, "max_ns")) &&
	       (!to->count || (tree_number(tree_member(t, "mean_ns"), &to->mean_ns) &&
			       tree_number(tree_member(t, "stddev_ns"), &to->deviation_ns)));
}

static bool take_ipdv(struct result_ipdv *to, const struct tree *t)
{
	return take_figures(&to->of[IPDV_RESPONSE], tree_member(t, "response_ipdv_ns")) &&
	       take_figures(&to->of[IPDV_RTT], tree_member(t, "rtt_ipdv_ns")) &&
	       take_figures(&to->of[IPDV_NETWORK], tree_member(t, "network_ipdv_ns")) &&
	       take_figures(&to->of[IPDV_FORWARD], tree_member(t, "send_ipdv_ns")) &&
	       take_figures(&to->of[IPDV_BACKWARD], tree_member(t, "receive_ipdv_ns")) &&
	       run_take_number(&to->left_out, tree_member(t, "left_out"));
}

static bool take_reported(struct reported_figures *to, const struct tree *t)
{
	for (int i = 0; i < REPORTED_DELAYS; i++)
		if (!run_take_number(&to->negative[i], tree_item(tree_member(t, "negative_each"), (size_t)i)))
			return false;
	return take_figures(&to->delay[REPORTED_RESPONSE], tree_member(t, "response_ns")) &&
	       take_figures(&to->delay[REPORTED_NETWORK], tree_member(t, "network_ns")) &&
	       take_figures(&to->delay[REPORTED_SEND], tree_member(t, "send_delay_ns")) &&
	       take_figures(&to->delay[REPORTED_RECEIVE], tree_member(t, "receive_delay_ns")) &&
	       run_take_time_or_0(&to->bound_ns[0], tree_member(t, "ways_within_ns")) &&
	       run_take_time_or_0(&to->bound_ns[1], tree_member(t, "ways_within_end_ns")) &&
	       take_figures(&to->varies[REPORTED_RESPONSE], tree_member(t, "response_ipdv_ns")) &&
	       take_figures(&to->varies[REPORTED_NETWORK], tree_member(t, "network_ipdv_ns")) &&
	       take_figures(&to->varies[REPORTED_RECEIVE], tree_member(t, "receive_ipdv_ns")) &&
	       run_take_number(&to->no_part, tree_member(t, "no_part")) &&
	       run_take_number(&to->two_clocks, tree_member(t, "two_clocks"));
}

/* ---- Source ports ------------------------------------------------------------------------------------------------ */

static bool take_port(struct result_port *to, const struct tree *t)
{
	uint32_t number;

	*to = (struct result_port){ .directions_known = tree_member(t, "lost_there"),
				    .has_delay = tree_member(t, "max_ns") };
	if (!run_take_u32(&number, tree_member(t, "port")) || number > UINT16_MAX)
		return false;
	to->number = (uint16_t)number;
	return run_take_number(&to->samples, tree_member(t, "samples")) &&
	       run_take_number(&to->sent, tree_member(t, "sent")) &&
	       run_take_number(&to->lost, tree_member(t, "lost")) &&
	       run_take_number(&to->refused, tree_member(t, "refused")) &&
	       run_take_number(&to->lost_forward, tree_member(t, "lost_there")) &&
	       run_take_number(&to->lost_backward, tree_member(t, "lost_back")) &&
	       run_take_number(&to->p50_ns, tree_member(t, "p50_ns")) &&
	       run_take_number(&to->p99_ns, tree_member(t, "p99_ns")) &&
	       run_take_number(&to->max_ns, tree_member(t, "max_ns"));
}

/* 0, or -errno. */
static int take_ports(struct result *r, const struct tree *t)
{
	const struct tree *each = tree_member(t, "each");
	const size_t ports = tree_length(each);
	const char *by = tree_text(tree_member(t, "figure"));

	if (!t)
		return 0;
	if (!ports || ports > SOURCE_PORTS_MAX || !by)
		return -EINVAL;
	r->port = calloc(ports, sizeof(*r->port));
	if (!r->port)
		return -ENOMEM;
	r->ports = (unsigned)ports;
	r->ports_by_network = !strcmp(by, "network_ns");
	for (unsigned i = 0; i < ports; i++)
		if (!take_port(&r->port[i], tree_item(each, i)))
			return -EINVAL;
	return 0;
}

/* ---- Modes ------------------------------------------------------------------------------------------------------- */

/* False: no metric of this role has the name. */
static bool take_metric(struct outcome *o, struct tooth *to, const struct tree *t)
{
	const char *wanted = tree_text(tree_member(t, "metric"));
	char label[48], name[JSON_NAME_BYTES];

	for (to->stage = TEETH_OF_LATENCY; wanted && to->stage < STAGES; to->stage++) {
		const struct histogram *h = to->stage < 0 ? &o->latency : o->result.stage[to->stage];

		if (!h || strcmp(json_name(name, sizeof(name), teeth_name(label, sizeof(label), &o->report, to), "_ns"),
				 wanted))
			continue;
		to->modes.samples = h->count;
		return h->count;
	}
	return false;
}

/* The settings of the host are not in the file, but those that are a cause. */
static bool take_cause(struct delays *all, const struct delay **to, const struct tree *t)
{
	struct delay *d = &all->delay[all->count];

	if (!t)
		return true;
	if (all->count == DELAYS_MAX || !run_take_time(&d->value_ns, tree_member(t, "delay_ns")))
		return false;
	run_take_text(d->name, sizeof(d->name), tree_member(t, "setting"));
	run_take_text(d->cure, sizeof(d->cure), tree_member(t, "cure"));
	all->count++;
	*to = d;
	return true;
}

static bool take_tooth(struct outcome *o, struct tooth *to, const struct tree *t)
{
	const struct tree *largest = tree_member(t, "largest");
	struct modes *m = &to->modes;

	if (!take_metric(o, to, t) || !run_take_u32(&m->count, tree_member(t, "modes")) ||
	    tree_length(largest) > MODES_KEPT || tree_length(largest) > m->count)
		return false;
	for (; m->kept < tree_length(largest); m->kept++) {
		const struct tree *one = tree_item(largest, m->kept);

		if (!run_take_time(&m->mode[m->kept].value_ns, tree_member(one, "value_ns")) ||
		    !run_take_number(&m->mode[m->kept].samples, tree_member(one, "samples")))
			return false;
	}
	return run_take_time_or_0(&m->distance_ns, tree_member(t, "distance_ns")) &&
	       take_cause(&o->result.delays, &to->cause, tree_member(t, "cause"));
}

static bool take_modes(struct outcome *o, const struct tree *t)
{
	struct teeth *teeth = &o->teeth;

	if (!t)
		return true;
	if (!tree_is_array(t) || tree_length(t) > STAGES + 1)
		return false;
	for (; teeth->count < tree_length(t); teeth->count++)
		if (!take_tooth(o, &teeth->tooth[teeth->count], tree_item(t, teeth->count)))
			return false;
	o->report.teeth = teeth;
	return true;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void forget(struct outcome *o)
{
	free(o->result.port);
	o->result.port = NULL;
	o->result.ports = 0;
	o->result.ipdv = (struct result_ipdv){ 0 };
	o->result.delays.count = 0;
	o->teeth.count = 0;
	o->report.teeth = NULL;
}

int run_take_delays(struct outcome *o, const struct tree *root, const char *path)
{
	struct result *r = &o->result;
	int error;

	if (o->read.files > 1) {
		forget(o);
		return 0;
	}
	if (!take_ipdv(&r->ipdv, tree_member(root, "ipdv")))
		return run_refuse(path, "ipdv", "is not valid");
	if (!take_reported(&r->ipdv.reported, tree_member(root, "as_told")))
		return run_refuse(path, "as_told", "is not valid");
	if (!take_modes(o, tree_member(root, "modes")))
		return run_refuse(path, "modes", "is not valid");
	error = take_ports(r, tree_member(root, "source_ports"));
	return error == -EINVAL ? run_refuse(path, "source_ports", "is not valid") : error;
}
