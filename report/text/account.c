// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of packets, timestamps and log records, one table of rows each. */
#include "report/text/sections.h"

#include "histogram.h"
#include "host/nic/nic_driver.h"
#include "options.h"
#include "report/log/log_writer.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "result/log.h"
#include "result/result.h"

#include <inttypes.h>

/* ALWAYS: printed even if it is 0. */
enum { EMITTER = 1, REFLECTOR = 2, BOTH = 3, WITH_LOAD = 4, ALWAYS = 8 };

struct account_row {
	const char *name, *meaning;
	size_t offset;
	int roles;
	const char *json; /* JSON member of schema 1, if it differs from the name; else NULL */
};

#define ROW(name, field, roles, meaning) { name, meaning, offsetof(struct account, field), roles, NULL }
#define ROW_IN_JSON(name, json, field, roles, meaning) { name, meaning, offsetof(struct account, field), roles, json }

static const struct account_row packets[] = {
	ROW("Sent", sent, BOTH | ALWAYS, NULL),
	ROW("Received", received, BOTH | ALWAYS, NULL),
	ROW("Warm-up", warmup, BOTH, "answered, left out of the statistics"),
	ROW("Recorded", recorded, BOTH | ALWAYS, NULL),
	ROW("Lost", lost, EMITTER | ALWAYS, "no reply within --timeout"),
	ROW("Not asked", unasked, WITH_LOAD, "answered, for no stamp was asked (--stamp-every): not recorded"),
	ROW("Unstamped", unstamped, BOTH, "answered, but a stamp is missing: not recorded"),
	ROW("Negative", negative, BOTH, "the clock went back: not recorded"),
	ROW("Stepped", stepped, BOTH, "a clock was set in between: not recorded"),
	ROW("Unfinished", unfinished, EMITTER, "interrupted"),
	ROW("Closing", closing, EMITTER, "sent after the end, to hear when the last reply left"),
	ROW("Answered", answered, EMITTER, "by replies in time"),
	ROW("Late", late, EMITTER, "replies to probes that were given up"),
	ROW("Duplicate", duplicate, EMITTER, "replies that came again"),
	ROW("Duplicate", repeated, REFLECTOR, "requests that came again, answered"),
	ROW("Reordered", reordered, BOTH, "received after a later packet"),
	ROW("Foreign", foreign, EMITTER, "not an answer to a probe of this run"),
	ROW("Foreign", foreign, REFLECTOR, "not answered: a reply, or from a reflector's port"),
	ROW("Malformed", malformed, BOTH, NULL),
	ROW("Unverified", unverified, BOTH, "the HMAC is wrong or missing: not used"),
	ROW("Disallowed", disallowed, REFLECTOR, "not answered: from no prefix of --allow"),
	ROW("Too short", too_short, REFLECTOR, "not answered: less than 44 octets, without --allow-short"),
	ROW("No session", no_session, REFLECTOR, "not answered: the table was full of senders that are active"),
	ROW("Stateless", stateless, BOTH,
	    "answered without a session: the reflector's table was full of senders that are active"),
	ROW("Replayed", replayed, REFLECTOR, "not answered: authenticated requests that are old or came again"),
	ROW("Over rate", over_rate, REFLECTOR, "not answered: beyond --rate-limit"),
	ROW("Bad TLVs", malformed_tlv, REFLECTOR, "answered, marked as malformed"),
	ROW("Bad TLVs", malformed_tlv, EMITTER, "of replies: malformed, or marked so"),
	ROW("Bad HMACs", unusable_tlv, EMITTER, "of replies: failed their integrity check, not used"),
	ROW("Unanswered", unanswered, REFLECTOR, "the kernel did not take the reply"),
	ROW("Woken", woken, REFLECTOR, "of the answered: after a second without a packet, when rant slept; see --spin"),
	ROW("Refused", refused, BOTH, "by the kernel: sends, and errors it reported"),
};

static const struct account_row stamps[] = {
	ROW("Transmit", missing_tx, BOTH, NULL),
	ROW("Receive", missing_rx, BOTH, NULL),
	ROW("Kernel receive", missing_kernel, BOTH, "recorded without the kernel's time beside that of the NIC"),
	ROW("Qdisc times", missing_queue, BOTH, "recorded without the kernel's time at the queueing discipline"),
	ROW("Driver times", missing_driver, BOTH, "recorded without the kernel's time at the driver"),
	ROW_IN_JSON("Late stamps", "came_late", stamp_late, BOTH, "transmit timestamps after --timeout"),
	ROW_IN_JSON("Duplicated stamps", "came_twice", stamp_duplicate, BOTH, "transmit timestamps reported again"),
	ROW("Unmatched", stamp_unmatched, BOTH, "transmit stamps of no packet in flight"),
};

void account_count(FILE *out, const char *name, uint64_t count, const char *meaning)
{
	fprintf(out, "  %-10s:  %" PRIu64, name, count);
	if (meaning && count)
		fprintf(out, "  (%s)", meaning);
	fputc('\n', out);
}

static bool is_row_of(const struct account_row *row, const struct options *o)
{
	return row->roles & ((o->role == ROLE_EMIT ? EMITTER : REFLECTOR) | (o->stamp_every > 1 ? WITH_LOAD : 0));
}

/* Rows of one table: without --verbose the rows that are 0 become one line at its end. */
struct fold {
	FILE *out; /* NULL: rows are counted and not written */
	bool all;
	unsigned shown, folded;
};

static struct fold fold_begin(FILE *out, const struct report *r)
{
	return (struct fold){ .out = out, .all = r->options->verbose };
}

static void count_row(struct fold *f, const char *name, uint64_t count, const char *meaning)
{
	if (!count && !f->all) {
		f->folded++;
		return;
	}
	f->shown++;
	if (f->out)
		account_count(f->out, name, count, meaning);
}

static void fold_end(struct fold *f)
{
	if (f->folded)
		fprintf(f->out, "  all others 0\n");
}

static void count_rows(struct fold *f, const struct report *r, const struct account_row *rows, size_t n)
{
	const char *account = (const char *)&r->result->account;

	for (size_t i = 0; i < n; i++) {
		const uint64_t count = counter_get((const counter *)(account + rows[i].offset));

		if (!is_row_of(&rows[i], r->options))
			continue;
		if (rows[i].roles & ALWAYS && f->out)
			account_count(f->out, rows[i].name, count, rows[i].meaning);
		else
			count_row(f, rows[i].name, count, rows[i].meaning);
	}
}

struct direction_row {
	const char *name;
	size_t offset;
	const char *meaning;
	const char *json; /* member of JSON of schema 1 */
};

#define DIRECTION(name, json, field, meaning) { name, offsetof(struct directions, field), meaning, json }

/* The first two are printed even if they are 0. */
static const struct direction_row direction_rows[] = {
	DIRECTION("Lost forward", "lost_there", lost_forward, "probes that did not reach the reflector"),
	DIRECTION("Lost backward", "lost_back", lost_backward, "replies that did not reach this host"),
	DIRECTION("Discarded", "discarded", discarded, "probes that reached the reflector and were not answered"),
	DIRECTION("Duplicated forward", "two_there", duplicate_forward, "probes that reached the reflector again"),
	DIRECTION("Duplicated backward", "two_back", duplicate_backward, "replies received again"),
	DIRECTION("Reordered forward", "late_there", reordered_forward,
		  "probes that reached the reflector after later probes"),
	DIRECTION("Reordered backward", "late_back", reordered_backward, "replies received after later replies"),
	DIRECTION("Restarts", "restarts", restarts, "the reflector began its count again"),
};

/* Row of outages or stalls: total time, its share, number, and the longest. */
static void write_times(struct fold *f, const char *name, const struct outages *o, const struct result *result)
{
	if (!o->total_ns && !f->all) {
		f->folded++;
		return;
	}
	fprintf(f->out, "  %-10s:  %.3f s", name, label_seconds(o->total_ns));
	if (o->count)
		fprintf(f->out,
			"  (%.2f %% of the run, %" PRIu64 " time%s, the longest %.3f s, %.3f s after the start)",
			outage_percent(o, result->ended_ns - result->began_ns), o->count, o->count == 1 ? "" : "s",
			label_seconds(o->longest_ns),
			label_seconds(o->longest_at_ns - result->began_ns));
	fputc('\n', f->out);
}

/* Outages, stalls, and packets that this host dropped: not in the sums of the other rows. */
static void write_outside(struct fold *f, const struct report *r)
{
	const struct result *result = r->result;
	const struct optional dropped = result->dropped;

	if (r->options->role == ROLE_EMIT)
		write_times(f, "Outages", &result->outages, result);
	write_times(f, "Stalled for", &result->stalls, result);
	if (!dropped.known)
		fprintf(f->out, "  Dropped by this host:  not known\n");
	else
		count_row(f, "Dropped by this host", (uint64_t)dropped.value,
			  "our socket had no room, or the checksum was wrong");
}

/* Meaning of the row, by the reasons that the reflector reports. */
static const char *direction_meaning(const struct direction_row *row, const struct directions *d)
{
	static const char *const because[] = {
		[DISCARD_OVER_RATE] = "probes that reached the reflector: beyond its --rate-limit",
		[DISCARD_REFUSED] = "probes that reached the reflector: its host refused to send the reply",
		[DISCARD_OVER_RATE | DISCARD_REFUSED] =
			"probes that reached the reflector: beyond its --rate-limit, or its host refused to send the "
			"reply",
	};
	const unsigned reasons = d->discard_reasons & (DISCARD_OVER_RATE | DISCARD_REFUSED);

	if (row->offset == offsetof(struct directions, discarded) && reasons)
		return because[reasons];
	if (row->offset == offsetof(struct directions, lost_forward) && d->restarts)
		return "probes that did not reach the reflector, or not the instance that answered next";
	return row->meaning;
}

/* Losses by direction, from the sequence numbers of the reflector. */
static void write_directions(FILE *out, const struct directions *d)
{
	const char *unknown = d->discard_reasons & DISCARD_UNREAD ?
			      "unanswered, direction not known: the reflector's host dropped packets before they were "
			      "read" :
			      "unanswered, direction not known";

	fprintf(out, "\nDirections:%s\n", d->reported ? "" : " not known: the reflector shows no count of its own");
	for (size_t i = 0; d->reported && i < sizeof(direction_rows) / sizeof(direction_rows[0]); i++) {
		const struct direction_row *row = &direction_rows[i];
		uint64_t count = *(const uint64_t *)((const char *)d + row->offset);

		if (i < 2 || count)
			account_count(out, row->name, count, direction_meaning(row, d));
	}
	if (d->lost_unknown)
		account_count(out, "Direction unknown", d->lost_unknown, unknown);
}

/* Number of replies with T3, and of replies without it by reason. */
static void write_follow_ups(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const struct account *a = &result->account;
	struct fold f = fold_begin(out, r);

	if (!counter_get(&a->answered))
		return;
	fprintf(out, "\nReflector's stamps, %s (T3_%s comes with the next reply):\n",
		label_stamps[result->remote].taken,
		label_stamps[result->remote].suffix);
	account_count(out, label_follow_ups[FOLLOW_UP_THERE].name, counter_get(&a->follow_up[FOLLOW_UP_THERE]), NULL);
	for (int i = FOLLOW_UP_THERE + 1; i < FOLLOW_UPS; i++)
		count_row(&f, label_follow_ups[i].name, counter_get(&a->follow_up[i]), label_follow_ups[i].meaning);
	fold_end(&f);
	if (counter_get(&a->follow_up_late))
		account_count(out, "Too late", counter_get(&a->follow_up_late), "came in late replies: not used");
	if (counter_get(&a->unjudged))
		account_count(out, "Not judged", counter_get(&a->unjudged),
			      "samples without the times for --threshold-on");
}

static void write_arrived(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const uint64_t ttl = counter_get(&result->account.other_ttl), class = counter_get(&result->account.other_class);

	if (r->options->transport == TRANSPORT_L2)
		fprintf(out, "  No TTL and no DSCP: there is no IP header\n");
	if (ttl)
		fprintf(out, "  %" PRIu64 " probes arrived with another TTL than %" PRId64 ", the last with %u\n", ttl,
			r->options->ttl, result->arrived_ttl);
	if (class)
		fprintf(out, "  %" PRIu64 " probes arrived with another DSCP than %" PRId64 ", the last with %u\n",
			class,
			r->options->dscp, result->arrived_dscp);
}

static void write_traffic_row(FILE *out, const char *name, uint64_t count, uint64_t octets, int64_t ns)
{
	fprintf(out, "  %-10s:  %" PRIu64 " octets in %" PRIu64 " packets", name, octets, count);
	if (count > 1 && ns > 0)
		fprintf(out, ", %.1f packets/s, %.0f bit/s", (double)count / label_seconds(ns),
			8.0 * (double)octets / label_seconds(ns));
	fputc('\n', out);
}

/* All probes have the same length. Probes sent after the warm-up are measured; the closing probe is sent last. */
static void write_traffic(FILE *out, const struct result *result)
{
	const uint64_t count = result->measured ? result->measured - counter_get(&result->account.closing) : 0;
	const int64_t ns = result->ended_ns - result->began_ns;

	fprintf(out, "\nTraffic (%s, after the warm-up):\n",
		result->options->transport == TRANSPORT_UDP ? "UDP payload" : "STAMP packets");
	write_traffic_row(out, "To there", count, count * (uint64_t)result->probe_bytes.value, ns);
	write_traffic_row(out, "From there", counter_get(&result->account.timed_packets),
			  counter_get(&result->account.timed_bytes), ns);
}

/* Losses whose direction is not known make the shares of both directions lower bounds. */
static void write_shares(FILE *out, const struct result *result)
{
	const struct account *a = &result->account;
	const struct directions *d = &result->directions;
	const char *least = d->lost_unknown ? ">= " : "";
	const double percent = 100.0 / (double)(counter_get(&a->sent) - counter_get(&a->closing));

	fprintf(out, "  Of all probes:  %.3f %% lost", percent * (double)counter_get(&a->lost));
	if (d->reported)
		fprintf(out, " (%s%.3f %% forward, %s%.3f %% backward)", least, percent * (double)d->lost_forward, least,
			percent * (double)d->lost_backward);
	fprintf(out, ", %.3f %% late, %.3f %% duplicated\n", percent * (double)counter_get(&a->late),
		percent * (double)counter_get(&a->duplicate));
}

/* The row with this index among the rows of the role; NULL: the index is too large. */
static const struct account_row *row_at(const struct options *o, enum account_table which, unsigned index)
{
	const struct account_row *rows = which == ACCOUNT_PACKETS ? packets : stamps;
	const size_t n = which == ACCOUNT_PACKETS ? sizeof(packets) / sizeof(packets[0]) :
			 sizeof(stamps) / sizeof(stamps[0]);

	for (size_t i = 0; i < n; i++)
		if (is_row_of(&rows[i], o) && !index--)
			return &rows[i];
	return NULL;
}

bool account_row(const struct report *r, enum account_table which, unsigned index, const char **name, const char **json,
		 uint64_t *count)
{
	const struct account_row *row;

	if (which == ACCOUNT_DIRECTIONS) {
		if (index >= sizeof(direction_rows) / sizeof(direction_rows[0]))
			return false;
		*name = direction_rows[index].name;
		*json = direction_rows[index].json;
		*count = *(const uint64_t *)((const char *)&r->result->directions + direction_rows[index].offset);
		return true;
	}
	row = row_at(r->options, which, index);
	if (!row)
		return false;
	*name = row->name;
	*json = row->json ? row->json : row->name;
	*count = counter_get((const counter *)((const char *)&r->result->account + row->offset));
	return true;
}

void account_row_add(struct result *result, enum account_table which, unsigned index, uint64_t count)
{
	const struct account_row *row = which == ACCOUNT_DIRECTIONS ? NULL : row_at(result->options, which, index);

	if (row)
		counter_add((counter *)((char *)&result->account + row->offset), count);
	else if (which == ACCOUNT_DIRECTIONS && index < sizeof(direction_rows) / sizeof(direction_rows[0]))
		*(uint64_t *)((char *)&result->directions + direction_rows[index].offset) += count;
}

static void write_packets(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const bool emits = r->options->role == ROLE_EMIT;
	struct fold f = fold_begin(out, r);

	fprintf(out, "\nPackets:\n");
	count_rows(&f, r, packets, sizeof(packets) / sizeof(packets[0]));
	write_outside(&f, r);
	if (emits && !result->strays.known)
		fputs("  Strays    :  not counted with --source-ports\n", out);
	else if (emits)
		count_row(&f, "Strays", (uint64_t)result->strays.value, "to our port from others than the server, dropped");
	else
		account_count(out, "Sessions", counter_get(&result->sessions), NULL);
	if (!emits && r->options->verbose) {
		account_count(out, "Peer sockets", counter_get(&result->peer_sockets_taken),
			      "times a busy session got a socket of its own");
		account_count(out, "No peer socket", counter_get(&result->peer_sockets_refused),
			      "times a busy session got none");
	}
	if (counter_get(&result->account.cut_short))
		account_count(out, "Truncated", counter_get(&result->account.cut_short),
			      "not answered: the kernel's control messages were truncated");
	if (!emits)
		count_row(&f, "Evicted", counter_get(&result->evicted), "idle sessions removed for newer sessions");
	if (result->woken_slowest_ns.known)
		fprintf(out, "  Slowest of the woken:  %.3f us  (#%" PRIu32 ")\n",
			(double)result->woken_slowest_ns.value / NS_PER_US, result->woken_slowest_seq);
	if (r->options->threshold_ns)
		account_count(out, "Breaches", counter_get(&result->account.breaches), "samples above the threshold");
	fold_end(&f);
}

static void count_missing(struct fold *f, const struct report *r)
{
	count_rows(f, r, stamps, sizeof(stamps) / sizeof(stamps[0]));
	count_row(f, "Truncated", counter_get(&r->result->truncated), "control messages");
	count_row(f, "Other", counter_get(&r->result->error_other), "entries of the error queue, not our stamps");
}

/* Where the driver counts the timestamps that it did not deliver. */
static void write_lost_counters(FILE *out, const struct report *r)
{
	const struct result_nic *nic = &r->result->nic;
	const char *lost = nic_is_known(nic) ? nic_driver_lost(nic->driver) : NULL;

	if (lost && options_by_nic(r->options) && !options_place_sent(r->options) &&
	    counter_get(&r->result->account.missing_tx))
		fprintf(out, "  Driver    :  '%s' counts lost transmit timestamps in %s\n", nic->driver, lost);
}

static void write_missing(FILE *out, const struct report *r)
{
	struct fold any = fold_begin(NULL, r), f = fold_begin(out, r);

	count_missing(&any, r);
	fprintf(out, "\nMissing stamps:%s\n", any.shown ? "" : " none");
	if (!any.shown)
		return;
	count_missing(&f, r);
	fold_end(&f);
	write_lost_counters(out, r);
}

/* Rate since the start, like the duration; and the rate without the time of which nothing is known, if it differs: on a
 * reflector the time after its last response, on an emitter the time of outages. */
static void write_rate(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const int64_t all_ns = result->ended_ns - result->began_ns, to_last_ns = result->last_ns - result->began_ns;
	const int64_t answered_ns = to_last_ns < all_ns - result->outages.total_ns ? to_last_ns :
				    all_ns - result->outages.total_ns;
	const double samples = (double)r->histogram->count;

	if (r->histogram->count < 2 || all_ns <= 0)
		return;
	fprintf(out, "\nRate: %.0f %s/s", samples / label_seconds(all_ns), label_roles[r->options->role].done);
	if (answered_ns > 0 && (double)all_ns > 1.01 * (double)answered_ns)
		fprintf(out, " (%.0f while answered)", samples / label_seconds(answered_ns));
	fputc('\n', out);
}

void account_write(FILE *out, const struct report *r)
{
	const struct result *result = r->result;

	write_packets(out, r);
	if (r->options->role == ROLE_EMIT) {
		write_arrived(out, r);
		if (!options_echoes(r->options)) /* report/text/echo.c prints the reason */
			write_directions(out, &result->directions);
		if (options_joined(r->options))
			write_follow_ups(out, r);
	}
	write_missing(out, r);
	write_rate(out, r);
	if (r->options->role != ROLE_EMIT ||
	    counter_get(&result->account.sent) <= counter_get(&result->account.closing))
		return;
	write_traffic(out, result);
	write_shares(out, result);
}

void account_write_log(FILE *out, const struct report *r)
{
	const struct result_log *l = &r->result->log;
	const struct {
		uint64_t records;
		const char *why;
	} rows[] = {
		{ l->overwritten, "older records were overwritten" },
		{ l->left_out, "left out because the ring was full" },
		{ l->unwritten, "could not be written" },
		{ l->removed, "removed with the oldest files" },
		{ l->not_kept, "not within --log-last" },
		{ r->histogram->count - l->offered, "not above --log-threshold" },
	};

	fprintf(out, "\nLog: %" PRIu64 " of %" PRIu64 " records", l->written - l->removed, r->histogram->count);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].records)
			fprintf(out, ", %" PRIu64 " %s", rows[i].records, rows[i].why);
	fprintf(out, "; %s, %" PRId64 " octets", l->form, l->octets);
	if (l->error && !l->unwritten)
		fprintf(out, "; the file could not be finished (%s)", strerror(-l->error));
	if (l->rotates)
		fprintf(out, ", the last in file %" PRIu64, l->file);
	if (!l->beside && !l->by_option_at_end)
		fprintf(out, "; written at the end, because only the measuring CPU may be used");
	if (l->shortest_ns)
		fprintf(out, "; at times the ring held %.1f s of --log-last", label_seconds(l->shortest_ns));
	fputc('\n', out);
}
