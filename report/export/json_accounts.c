// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of packets and timestamps: the rows of the report. */
#include "histogram.h"
#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "result/result.h"

static void put_rows(struct json *j, const struct report *r, enum account_table which)
{
	char name[JSON_NAME_BYTES];
	const char *label, *key;
	uint64_t count;

	for (unsigned i = 0; account_row(r, which, i, &label, &key, &count); i++)
		json_count(j, json_name(name, sizeof(name), key, ""), count);
}

static void put_packets(struct json *j, const struct report *r)
{
	const struct result *result = r->result;

	json_object(j, "packets");
	put_rows(j, r, ACCOUNT_PACKETS);
	json_optional(j, "dropped_by_this_host", result->dropped);
	if (r->options->role == ROLE_EMIT) {
		json_optional(j, "strays", result->strays);
	} else {
		json_count(j, "sessions", counter_get(&result->sessions));
		json_count(j, "evicted", counter_get(&result->evicted));
		json_count(j, "cut_short", counter_get(&result->account.cut_short));
		json_count(j, "lanes", counter_get(&result->peer_sockets_taken));
		json_count(j, "no_lane", counter_get(&result->peer_sockets_refused));
	}
	json_count(j, "breaches", counter_get(&result->account.breaches));
	json_end(j);
}

static void put_stamps(struct json *j, const struct report *r)
{
	json_object(j, "missing_stamps");
	put_rows(j, r, ACCOUNT_STAMPS);
	json_count(j, "truncated", counter_get(&r->result->truncated));
	json_count(j, "other", counter_get(&r->result->error_other));
	json_end(j);
}

static void put_outages(struct json *j, const struct result *result)
{
	const struct outages *o = &result->outages;

	json_object(j, "no_answer");
	json_count(j, "outages", o->count);
	json_integer(j, "total_ns", o->total_ns);
	if (o->count) {
		json_integer(j, "longest_ns", o->longest_ns);
		json_integer(j, "longest_after_start_ns", o->longest_at_ns - result->began_ns);
	} else {
		json_null(j, "longest_ns");
		json_null(j, "longest_after_start_ns");
	}
	json_end(j);
}

/* Stalls of the loop of this host, or its long poll gaps between exchanges: `name` is also the name of their count. */
static void put_stalls(struct json *j, const char *name, const struct outages *s, const struct result *result)
{
	json_object(j, name);
	json_count(j, name, s->count);
	json_integer(j, "total_ns", s->total_ns);
	json_integer_if(j, "longest_ns", s->count, s->longest_ns);
	json_integer_if(j, "longest_after_start_ns", s->count, s->longest_at_ns - result->began_ns);
	json_end(j);
}

static void put_directions(struct json *j, const struct report *r)
{
	const struct directions *d = &r->result->directions;
	char name[JSON_NAME_BYTES];
	const char *label, *key;
	uint64_t count;

	json_object(j, "directions");
	for (unsigned i = 0; account_row(r, ACCOUNT_DIRECTIONS, i, &label, &key, &count); i++) {
		json_name(name, sizeof(name), key, "");
		if (d->reported)
			json_count(j, name, count);
		else
			json_null(j, name);
	}
	json_count(j, "either_way", d->lost_unknown);
	json_end(j);
	json_array(j, "discard_reasons");
	for (int i = 0; i < LABEL_DISCARDS; i++)
		if (d->discard_reasons & label_discards[i].reason)
			json_text(j, NULL, label_discards[i].name);
	json_end(j);
}

static void put_follow_ups(struct json *j, const struct report *r)
{
	const struct account *a = &r->result->account;
	char name[JSON_NAME_BYTES];

	if (!json_object_if(j, "reflector_stamps", options_joined(r->options) && counter_get(&a->answered)))
		return;
	json_text(j, "stamp", label_stamps[r->result->remote].option);
	for (int i = 0; i < FOLLOW_UPS; i++)
		if (label_follow_ups[i].name)
			json_count(j, json_name(name, sizeof(name), label_follow_up_json(i), ""),
				   counter_get(&a->follow_up[i]));
	json_count(j, "too_late", counter_get(&a->follow_up_late));
	json_count(j, "not_judged", counter_get(&a->unjudged));
	json_end(j);
}

/* TTL and DSCP of probes on arrival at the reflector, as far as replies report them. */
static void put_arrived(struct json *j, const struct result *result)
{
	const uint64_t ttl = counter_get(&result->account.other_ttl), dscp = counter_get(&result->account.other_class);

	json_object(j, "arrived");
	json_count(j, "other_ttl", ttl);
	json_integer_if(j, "last_ttl", ttl, result->arrived_ttl);
	json_count(j, "other_dscp", dscp);
	json_integer_if(j, "last_dscp", dscp, result->arrived_dscp);
	json_end(j);
}

/* Responses to requests that ended an idle sleep of the reflector. */
static void put_slowest_woken(struct json *j, const struct result *result)
{
	json_object(j, "slowest_woken");
	json_optional(j, "response_ns", result->woken_slowest_ns);
	json_integer_if(j, "seq", result->woken_slowest_ns.known, result->woken_slowest_seq);
	json_end(j);
}

static void put_traffic(struct json *j, const struct result *result)
{
	const struct account *a = &result->account;
	const uint64_t count = result->measured ? result->measured - counter_get(&a->closing) : 0;

	json_object(j, "traffic");
	json_count(j, "to_there_packets", count);
	json_count(j, "to_there_bytes", count * (uint64_t)result->probe_bytes.value);
	json_count(j, "from_there_packets", counter_get(&a->timed_packets));
	json_count(j, "from_there_bytes", counter_get(&a->timed_bytes));
	json_end(j);
}

/* A log has no counters. */
static void put_unknown(struct json *j)
{
	static const char *const packets[] = { "sent", "received", "recorded", "breaches" };

	json_object(j, "packets");
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		json_null(j, packets[i]);
	json_end(j);
	json_object(j, "missing_stamps");
	json_end(j);
	json_null(j, "rate_per_s");
}

void json_accounts(struct json *j, const struct report *r)
{
	const struct result *result = r->result;
	const bool is_known = !result->read || result->read->has_active;
	const int64_t active_ns = is_known ? result->last_ns - result->began_ns : 0;

	json_object(j, "accounts");
	if (result->read && !result->read->has_accounts) {
		put_unknown(j);
		json_end(j);
		return;
	}
	put_packets(j, r);
	put_stamps(j, r);
	put_stalls(j, "stalls", &result->stalls, result);
	if (result->poll_gaps.within)
		put_stalls(j, "long_poll_gaps", &result->poll_gaps.between, result);
	else
		json_null(j, "long_poll_gaps");
	if (r->options->role == ROLE_EMIT) {
		put_outages(j, result);
		put_directions(j, r);
		put_follow_ups(j, r);
		put_traffic(j, result);
		put_arrived(j, result);
	} else {
		put_slowest_woken(j, result);
	}
	json_integer_if(j, "active_ns", is_known && active_ns >= 0, active_ns);
	if (r->histogram->count > 1 && active_ns > 0)
		json_real(j, "rate_per_s", (double)r->histogram->count / label_seconds(active_ns), 0);
	else
		json_null(j, "rate_per_s");
	json_end(j);
}
