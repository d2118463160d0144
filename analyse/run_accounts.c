// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds the accounts of a run to those of an outcome. A missing row is from an older rant: it counts as 0, or the
 * accounts do not balance. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"
#include "report/text/sections.h"

#include <errno.h>
#include <string.h>

static int add_counter(counter *c, const struct tree *t, const char *path, const char *name)
{
	int64_t count;

	if (!run_count(t, &count))
		return run_refuse(path, name, "is not a count");
	counter_add(c, (uint64_t)count);
	return 0;
}

static int add_number(int64_t *to, const struct tree *t, const char *path, const char *name)
{
	int64_t count;

	if (!run_count(t, &count))
		return run_refuse(path, name, "is not a count");
	*to += count;
	return 0;
}

static int add_rows(struct outcome *o, enum account_table which, const struct tree *rows, const char *path)
{
	const char *label, *key;
	uint64_t before;

	for (unsigned i = 0; account_row(&o->report, which, i, &label, &key, &before); i++) {
		char name[JSON_NAME_BYTES];
		int64_t count;

		if (!run_count(tree_member(rows, json_name(name, sizeof(name), key, "")), &count))
			return run_refuse(path, name, "is not a count");
		account_row_add(&o->result, which, i, (uint64_t)count);
	}
	return 0;
}

/* A total is known only if it is known for each run. */
static int add_packets(struct outcome *o, const struct tree *packets, const char *path)
{
	struct result *result = &o->result;
	int64_t dropped = 0, strays = 0;
	int error = add_rows(o, ACCOUNT_PACKETS, packets, path);

	if (!error)
		error = add_number(&dropped, tree_member(packets, "dropped_by_this_host"), path,
				   "dropped_by_this_host");
	if (!tree_member(packets, "dropped_by_this_host") || !result->dropped.known)
		result->dropped = (struct optional){ .known = false };
	else
		result->dropped.value += dropped;
	if (!error)
		error = add_counter(&result->account.breaches, tree_member(packets, "breaches"), path, "breaches");
	if (error)
		return error;
	if (o->options.role == ROLE_EMIT) {
		if (!tree_member(packets, "strays"))
			result->strays = (struct optional){ .known = false };
		error = add_number(&strays, tree_member(packets, "strays"), path, "strays");
		if (result->strays.known)
			result->strays.value += strays;
		return error;
	}
	error = add_counter(&result->sessions, tree_member(packets, "sessions"), path, "sessions");
	if (!error)
		error = add_counter(&result->peer_sockets_taken, tree_member(packets, "lanes"), path, "lanes");
	if (!error)
		error = add_counter(&result->peer_sockets_refused, tree_member(packets, "no_lane"), path, "no_lane");
	if (!error)
		error = add_counter(&result->evicted, tree_member(packets, "evicted"), path, "evicted");
	if (!error)
		error = add_counter(&result->account.cut_short, tree_member(packets, "cut_short"), path, "cut_short");
	/* Every packet that a reflector sends is an answer. */
	return error ? error : add_counter(&result->account.answered, tree_member(packets, "sent"), path, "sent");
}

static int add_stamps(struct outcome *o, const struct tree *stamps, const char *path)
{
	int error = add_rows(o, ACCOUNT_STAMPS, stamps, path);

	if (!error)
		error = add_counter(&o->result.truncated, tree_member(stamps, "truncated"), path, "truncated");
	return error ? error : add_counter(&o->result.error_other, tree_member(stamps, "other"), path, "other");
}

/* name: the member with the count. */
static int add_outages(struct outages *to, const struct tree *t, const char *path, const char *name)
{
	int64_t count = 0, longest_ns, at_ns;
	int error = add_number(&count, tree_member(t, name), path, name);

	to->count += (uint64_t)count;
	if (!error)
		error = add_number(&to->total_ns, tree_member(t, "total_ns"), path, "total_ns");
	if (error || !tree_integer(tree_member(t, "longest_ns"), &longest_ns) ||
	    !tree_integer(tree_member(t, "longest_after_start_ns"), &at_ns) || longest_ns <= to->longest_ns)
		return error;
	to->longest_ns = longest_ns;
	to->longest_at_ns = at_ns;
	return 0;
}

static int add_directions(struct outcome *o, const struct tree *t, const char *path, bool first)
{
	struct directions *d = &o->result.directions;
	int64_t either = 0;
	int error = add_rows(o, ACCOUNT_DIRECTIONS, t, path);

	d->reported = tree_member(t, "lost_there") && (d->reported || first);
	if (!error)
		error = add_number(&either, tree_member(t, "either_way"), path, "either_way");
	d->lost_unknown += (uint64_t)either;
	return error;
}

/* Files of older versions have no reasons, and those of newer versions may have more. */
static void add_discard_reasons(struct directions *d, const struct tree *t)
{
	for (size_t i = 0; i < tree_length(t); i++) {
		const char *name = tree_text(tree_item(t, i));

		for (int k = 0; name && k < LABEL_DISCARDS; k++)
			if (!strcmp(name, label_discards[k].name))
				d->discard_reasons |= label_discards[k].reason;
	}
}

static int add_follow_ups(struct outcome *o, const struct tree *t, const char *path)
{
	struct account *a = &o->result.account;
	int error = 0;

	for (int i = 0; i < FOLLOW_UPS && !error; i++) {
		char name[JSON_NAME_BYTES];

		if (label_follow_ups[i].name)
			error = add_counter(&a->follow_up[i],
					    tree_member(t, json_name(name, sizeof(name), label_follow_up_json(i), "")),
					    path, name);
	}
	if (!error)
		error = add_counter(&a->follow_up_late, tree_member(t, "too_late"), path, "too_late");
	return error ? error : add_counter(&a->unjudged, tree_member(t, "not_judged"), path, "not_judged");
}

/* Keeps the last value that a run reported. */
static int add_last(counter *c, uint8_t *last, const struct tree *count, const struct tree *value, const char *path)
{
	int64_t n;

	if (value && (!run_count(value, &n) || n > UINT8_MAX))
		return run_refuse(path, "accounts.arrived", "has a value that is not valid");
	if (value)
		*last = (uint8_t)n;
	return add_counter(c, count, path, "accounts.arrived");
}

static int add_arrived(struct outcome *o, const struct tree *t, const char *path)
{
	struct result *result = &o->result;
	int error = add_last(&result->account.other_ttl, &result->arrived_ttl, tree_member(t, "other_ttl"),
			     tree_member(t, "last_ttl"), path);

	return error ? error : add_last(&result->account.other_class, &result->arrived_dscp,
					tree_member(t, "other_dscp"), tree_member(t, "last_dscp"), path);
}

/* Keeps the slowest of all runs. */
static int add_slowest_woken(struct outcome *o, const struct tree *t, const char *path)
{
	struct result *result = &o->result;
	int64_t ns, seq;

	if (!run_count(tree_member(t, "response_ns"), &ns) || !run_count(tree_member(t, "seq"), &seq) ||
	    seq > UINT32_MAX)
		return run_refuse(path, "accounts.slowest_woken", "has a value that is not valids");
	if (ns <= result->woken_slowest_ns.value)
		return 0;
	result->woken_slowest_ns = optional_of(ns);
	result->woken_slowest_seq = (uint32_t)seq;
	return 0;
}

/* All probes have the same length. */
static int add_traffic(struct outcome *o, const struct tree *t, const struct tree *packets, const char *path)
{
	struct result *result = &o->result;
	int64_t count, bytes, closing;
	int error;

	if (!run_count(tree_member(t, "to_there_packets"), &count) ||
	    !run_count(tree_member(t, "to_there_bytes"), &bytes) ||
	    !run_count(tree_member(packets, "closing"), &closing) || (count && bytes % count))
		return run_refuse(path, "accounts.traffic", "has counts that are not valid");
	if (count && result->probe_bytes.known && result->probe_bytes.value != bytes / count)
		return run_refuse(path, "accounts.traffic", "is of probes of another length than in the other files");
	if (count)
		result->probe_bytes = optional_of(bytes / count);
	result->measured += (uint64_t)(count + closing);
	error = add_counter(&result->account.timed_packets, tree_member(t, "from_there_packets"), path,
			    "from_there_packets");
	return error ? error : add_counter(&result->account.timed_bytes, tree_member(t, "from_there_bytes"), path,
					   "from_there_bytes");
}

/* Files of older versions do not have this member. */
static int add_active(struct outcome *o, const struct tree *t, const char *path, bool first)
{
	struct result *result = &o->result;

	o->read.has_active = t && (o->read.has_active || first);
	if (first)
		result->last_ns = result->began_ns;
	return t ? add_number(&result->last_ns, t, path, "active_ns") : 0;
}

/* With --plain the reflector reports nothing, so all samples count here. */
static void note_plain(struct outcome *o)
{
	struct account *a = &o->result.account;

	if (options_joined(&o->options))
		return;
	atomic_store_explicit(&a->follow_up[FOLLOW_UP_NONE], counter_get(&a->recorded) + counter_get(&a->negative),
			      memory_order_relaxed);
}

int run_add_accounts(struct outcome *o, const struct tree *root, const char *path)
{
	const struct tree *accounts = tree_member(root, "accounts"), *packets = tree_member(accounts, "packets");
	const bool first = path == o->read.file[0].path;
	int error;

	o->read.has_accounts = tree_member(packets, "sent") && (o->read.has_accounts || first);
	if (!o->read.has_accounts)
		return 0;
	error = add_packets(o, packets, path);
	if (!error)
		error = add_stamps(o, tree_member(accounts, "missing_stamps"), path);
	if (!error && tree_member(accounts, "stalls")) /* not in files of older versions */
		error = add_outages(&o->result.stalls, tree_member(accounts, "stalls"), path, "stalls");
	if (!error && tree_is_object(tree_member(accounts, "long_poll_gaps"))) /* the same */
		error = add_outages(&o->result.poll_gaps.between, tree_member(accounts, "long_poll_gaps"), path,
				    "long_poll_gaps");
	if (!error && o->options.role == ROLE_EMIT) {
		error = add_outages(&o->result.outages, tree_member(accounts, "no_answer"), path, "outages");
		if (!error)
			error = add_directions(o, tree_member(accounts, "directions"), path, first);
		add_discard_reasons(&o->result.directions, tree_member(accounts, "discard_reasons"));
		if (!error)
			error = add_follow_ups(o, tree_member(accounts, "reflector_stamps"), path);
		if (!error)
			error = add_traffic(o, tree_member(accounts, "traffic"), packets, path);
		if (!error)
			error = add_arrived(o, tree_member(accounts, "arrived"), path);
		note_plain(o);
	} else if (!error) {
		error = add_slowest_woken(o, tree_member(accounts, "slowest_woken"), path);
	}
	if (!error)
		error = add_active(o, tree_member(accounts, "active_ns"), path, first);
	if (error)
		return error;
	return account_balances(&o->result.account, o->options.role, &o->latency, 0) ? 0 :
	       run_refuse(path, "accounts", "do not add up with the histogram");
}
