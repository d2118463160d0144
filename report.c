// SPDX-License-Identifier: GPL-2.0-or-later
/* All text for people: the report, the breach, the configuration, the log file. Roles and stamp kinds are data here. */
#include "rant.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct time_label {
	const char *name, *direction;
	bool wire; /* else user space */
};

static const struct role_text {
	const char *latency; /* column of the log */
	const char *breach; /* first words of a breach */
	const char *done; /* what is counted per second */
	struct time_label time[TIMES];
} roles[] = {
	[ROLE_EMIT] = {
		"RTT", "Round-trip", "round trips",
		{ { "T1", "tx", false }, { "T1", "tx", true }, { "T4", "rx", true }, { "T4", "rx", false } },
	},
	[ROLE_REFLECT] = {
		"RESPONSE", "Response", "responses",
		{ { "T2", "rx", true }, { "T2", "rx", false }, { "T3", "tx", false }, { "T3", "tx", true } },
	},
};

/* What a wire stamp is called by where it was taken: never more than it is. */
static const struct {
	const char *suffix, *place, *option, *clock;
} wires[] = {
	[SOURCE_USER] = { "SW", "app", "user", "CLOCK_REALTIME, read by the program" },
	[SOURCE_KERNEL] = { "KERNEL", "kernel", "kernel", "CLOCK_REALTIME, read by the kernel" },
	[SOURCE_HARDWARE] = { "HW", "NIC", "hardware", "the clock of the NIC" },
};

static const char *time_name(char *text, size_t bytes, const struct time_label *t, int64_t wire)
{
	snprintf(text, bytes, "%s_%s", t->name, wires[t->wire ? wire : SOURCE_USER].suffix);
	return text;
}

void report_latency_name(const struct options *o, char *text, size_t bytes)
{
	const struct role_text *r = &roles[o->role];
	uint8_t from, to;
	char a[16], b[16];

	exchange_latency_times(o->role, options_on_wire(o), &from, &to);
	snprintf(text, bytes, "%s = %s - %s", r->latency, time_name(b, sizeof(b), &r->time[to], o->stamp),
		 time_name(a, sizeof(a), &r->time[from], o->stamp));
}

static double us(int64_t ns)
{
	return (double)ns / NS_PER_US;
}

static double seconds(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

/* ---- Times as text -------------------------------------------------------------------------------------------------- */

/* Writes the digits of v to end before `end`; returns their start. At least `least` digits. */
static char *digits(char *end, uint64_t v, int least)
{
	for (; v || least > 0; v /= 10, least--)
		*--end = (char)('0' + v % 10);
	return end;
}

/* seconds.nanoseconds, nine digits; ends before `end`. */
static char *time_digits(char *end, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	end = digits(end, size % NS_PER_S, 9);
	*--end = '.';
	end = digits(end, size / NS_PER_S, 1);
	if (ns < 0)
		*--end = '-';
	return end;
}

/* ---- The breach ------------------------------------------------------------------------------------------------------ */

/* A part of an exchange: a stage, or what is between the two stamps on the wire. */
struct part {
	char name[32], formula[48];
	struct stage stage;
	struct percentile usual; /* what it typically takes; value_ns INT64_MAX: not known */
	/* Of one sample. */
	bool known;
	int64_t value_ns;
};

static const char *stage_name(char *text, size_t bytes, const struct options *o, const struct stage *s)
{
	const struct time_label *from = &roles[o->role].time[s->from], *to = &roles[o->role].time[s->to];
	const char *wire = wires[o->stamp].place;

	if (from->wire)
		snprintf(text, bytes, "%c%s-to-app", wire[0] & ~0x20, wire + 1);
	else
		snprintf(text, bytes, to->wire ? "App-to-%s" : "App processing", wire);
	return text;
}

static void name_part(struct part *p, const struct options *o, const struct stage *s)
{
	const struct time_label *time = roles[o->role].time;
	char from[16], to[16];

	stage_name(p->name, sizeof(p->name), o, s);
	snprintf(p->formula, sizeof(p->formula), "%s - %s", time_name(to, sizeof(to), &time[s->to], o->stamp),
		 time_name(from, sizeof(from), &time[s->from], o->stamp));
}

/* With one sample there is nothing that the spike could be compared with. */
static struct percentile typical(const struct histogram *h)
{
	return h->count > 1 ? histogram_percentile(h, 50, 100) : (struct percentile){ .value_ns = INT64_MAX };
}

static void set_part(struct part *p, const struct report *r, const struct stage *s, const struct histogram *h)
{
	*p = (struct part){ .stage = *s, .usual = typical(h) };
	name_part(p, r->options, s);
}

/* The stages of the role and, where they are not all of the latency, the rest of it; with stages only. */
static int find_parts(const struct report *r, struct part parts[STAGES + 1])
{
	const struct stage *stages = exchange_stages(r->options->role);
	bool whole = false;
	int n = 0;

	for (; n < STAGES && stages[n].from != stages[n].to; n++) {
		set_part(&parts[n], r, &stages[n], r->exchange->stage[n]);
		whole |= stages[n].inside;
	}
	if (!whole) {
		struct stage wire = { .inside = true };

		exchange_latency_times(r->options->role, true, &wire.from, &wire.to);
		set_part(&parts[n], r, &wire, r->histogram);
		strcpy(parts[n++].name, "Wire and reflector");
	}
	return n;
}

/* Takes the values of a sample, and finds the part of its latency that is furthest above what is typical of it; NULL:
 * there is none. */
static const struct part *find_blame(struct part *parts, int n, const struct sample *s)
{
	const struct part *worst = NULL;
	int64_t most_ns = 0;

	for (struct part *p = parts; p < parts + n; p++) {
		p->known = exchange_stage_value(&p->stage, s, &p->value_ns);
		if (!p->known || !p->stage.inside || p->usual.value_ns == INT64_MAX ||
		    p->value_ns - p->usual.value_ns <= most_ns)
			continue;
		most_ns = p->value_ns - p->usual.value_ns;
		worst = p;
	}
	return worst;
}

static void write_parts(FILE *out, const struct report *r, const struct sample *s)
{
	struct part parts[STAGES + 1];
	int n = find_parts(r, parts);
	const struct part *blamed = find_blame(parts, n, s);
	struct percentile usual, whole;
	int64_t excess_ns;

	for (int i = 0; i < n; i++)
		if (parts[i].known)
			fprintf(out, "  %s (%s): %" PRId64 " ns%s\n", parts[i].name, parts[i].formula, parts[i].value_ns,
				&parts[i] == blamed ? " <-- where the spike is" : "");
	if (!blamed) {
		fprintf(out, "  Blame: none, %s\n", r->histogram->count > 1 ? "each of these took no longer than usual" :
			"there is nothing typical to compare these with");
		return;
	}
	usual = blamed->usual;
	whole = typical(r->histogram);
	excess_ns = s->latency_ns - whole.value_ns;
	fprintf(out, "  Blame: %s %.3f us, typical %s%.3f us", blamed->name, us(blamed->value_ns), usual.bound ? ">= " : "",
		us(usual.value_ns));
	/* A share of bounds could be anything. */
	if (excess_ns > 0 && !usual.bound && !whole.bound)
		fprintf(out, ", %.0f %% of the excess",
			100.0 * (double)(blamed->value_ns - usual.value_ns) / (double)excess_ns);
	fputc('\n', out);
}

static void write_breach(FILE *out, const struct report *r, const struct sample *s)
{
	const struct options *o = r->options;
	const struct role_text *role = &roles[o->role];

	fprintf(out, "%s latency (%" PRId64 " ns) exceeds threshold (%" PRId64 " ns).\n", role->breach, s->latency_ns,
		o->threshold_ns);
	fprintf(out, "  Sequence number: %" PRIu32 "\n", s->seq);
	for (int wire = 1; wire >= 0; wire--) {
		for (int i = 0; i < TIMES; i++) {
			const struct time_label *t = &role->time[i];
			char name[16], text[32] = "";

			if (t->wire != wire || !s->source[i])
				continue;
			fprintf(out, "  %s (%s %s): %s\n", time_name(name, sizeof(name), t, o->stamp),
				wires[t->wire ? o->stamp : SOURCE_USER].place, t->direction,
				time_digits(text + sizeof(text) - 1, s->time_ns[i]));
		}
	}
	if (exchange_has_stages(r->exchange))
		write_parts(out, r, s);
	fputc('\n', out);
}

/* How many of the breaches that are still known each part is to blame for. */
static void write_blames(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	uint64_t breaches = counter_get(&x->account.breaches), known = 0;
	uint64_t first = breaches > BREACHES_KEPT - 1 ? breaches - (BREACHES_KEPT - 1) : 0;
	unsigned blamed[STAGES + 1] = { 0 };
	struct part parts[STAGES + 1];
	const int n = find_parts(r, parts);
	struct sample s;

	for (uint64_t i = first; i < breaches; i++) {
		if (!exchange_breach(x, i, &s))
			continue;
		const struct part *worst = find_blame(parts, n, &s);

		if (worst)
			blamed[worst - parts]++;
		known++;
	}
	fprintf(out, "Blamed for the last %" PRIu64 " of %" PRIu64 " breaches:\n", known, breaches);
	for (int i = 0; i < n; i++)
		if (parts[i].stage.inside)
			fprintf(out, "  %s: %u\n", parts[i].name, blamed[i]);
	fputc('\n', out);
}

/* The first, and with --continue the worst. */
static void write_breaches(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	uint64_t breaches = counter_get(&x->account.breaches);

	if (!breaches)
		return;
	write_breach(out, r, &x->breach);
	/* Not by the number: two emitters may use the same. */
	if (x->worst.latency_ns != x->breach.latency_ns) {
		fprintf(out, "The worst of %" PRIu64 " breaches:\n", breaches);
		write_breach(out, r, &x->worst);
	}
	if (breaches > 1 && exchange_has_stages(r->exchange))
		write_blames(out, r);
}

/* ---- Statistics ------------------------------------------------------------------------------------------------------ */

static void write_statistics(FILE *out, const struct histogram *h)
{
	fprintf(out, "--- Latency Statistics ---\n");
	if (!h->count)
		fprintf(out, "MIN: n/a | MAX: n/a | AVG: n/a | Total Samples: 0\n");
	else
		fprintf(out, "MIN: %" PRId64 " ns | MAX: %" PRId64 " ns | AVG: %.0f ns | Total Samples: %" PRIu64 "\n",
			h->min_ns, h->max_ns, histogram_mean_ns(h), h->count);
}

/* Those beyond 99.99 only where at least ten samples lie above them. */
static const struct {
	const char *name;
	uint64_t numerator, denominator;
	bool rare;
} percentiles[] = {
	{ "50th", 50, 100, false },	     { "90th", 90, 100, false },
	{ "95th", 95, 100, false },	     { "99th", 99, 100, false },
	{ "99.9th", 999, 1000, false },	     { "99.99th", 9999, 10000, false },
	{ "99.999th", 99999, 100000, true }, { "99.9999th", 999999, 1000000, true },
};

static void write_percentiles(FILE *out, const struct histogram *h)
{
	fprintf(out, "  Percentiles (us):\n");
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		if (percentiles[i].rare && h->count / percentiles[i].denominator < 10)
			continue;
		struct percentile p = histogram_percentile(h, percentiles[i].numerator, percentiles[i].denominator);

		fprintf(out, "    %-8s:  %s%.3f%s%s\n", percentiles[i].name, p.bound ? ">= " : "", us(p.value_ns),
			i == 0 ? " (Median)" : "", p.bound ? " (bound: overflow store full)" : "");
	}
}

static void write_bar(FILE *out, uint64_t count, uint64_t largest, int room)
{
	int length = room > 0 ? (int)((double)count / (double)largest * room + 0.5) : 0;

	if (length > 0)
		fputs("  ", out);
	while (length-- > 0)
		fputc('#', out);
	fputc('\n', out);
}

/* Buckets of --bucket-size, added up from the fine ones; the empty ones are left out. */
static void write_buckets(FILE *out, const struct histogram *h, int64_t size_ns, int columns)
{
	const uint32_t per = (uint32_t)(size_ns / h->width_ns);
	const int width_used = 54; /* columns before a bar */
	uint64_t largest = h->overflows;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < h->buckets; i += per) {
			uint64_t count = 0;
			int64_t upper_ns = (int64_t)(i + per) * h->width_ns;

			for (uint32_t k = i; k < i + per && k < h->buckets; k++)
				count += histogram_bucket(h, k);
			if (pass == 0 && count > largest)
				largest = count;
			if (pass == 0 || !count)
				continue;
			fprintf(out, "  %12.3f - %12.3f : %12" PRIu64 " %8.4f%%", us(i * h->width_ns),
				us(upper_ns < h->limit_ns ? upper_ns : h->limit_ns), count,
				100.0 * (double)count / (double)h->count);
			write_bar(out, count, largest, columns - width_used - 2);
		}
		if (pass == 0)
			fprintf(out, "  Buckets (us):\n");
	}
	fprintf(out, "  %12.3f - %12s : %12" PRIu64 " %8.4f%%", us(h->limit_ns), "(overflow)", h->overflows,
		100.0 * (double)h->overflows / (double)h->count);
	write_bar(out, h->overflows, largest ? largest : 1, columns - width_used - 2);
}

/* One line for each stage; in microseconds. */
static void write_stages(FILE *out, const struct report *r)
{
	const struct stage *stages = exchange_stages(r->options->role);
	const size_t shown = 6; /* of percentiles[], those that are not rare */

	fprintf(out, "\nStages (us):                               Samples Negative");
	for (size_t i = 0; i < shown; i++)
		fprintf(out, " %10s", percentiles[i].name);
	fprintf(out, " %10s\n", "Maximum");
	for (int i = 0; i < STAGES && r->exchange->stage[i]; i++) {
		const struct histogram *h = r->exchange->stage[i];
		struct part p;

		name_part(&p, r->options, &stages[i]);
		fprintf(out, "  %-15s %-22s %9" PRIu64 " %8" PRIu64, p.name, p.formula, h->count, h->negatives);
		for (size_t k = 0; h->count && k < shown; k++) {
			struct percentile v = histogram_percentile(h, percentiles[k].numerator, percentiles[k].denominator);
			char text[24];

			snprintf(text, sizeof(text), "%s%.3f", v.bound ? ">=" : "", us(v.value_ns));
			fprintf(out, " %10s", text);
		}
		if (h->count)
			fprintf(out, " %10.3f", us(h->max_ns));
		fputc('\n', out);
	}
}

static void write_histogram(FILE *out, const struct report *r, int columns)
{
	const struct histogram *h = r->histogram;

	fprintf(out, "\nHistogram Summary:\n  Samples   :  %" PRIu64 "\n", h->count);
	if (!h->count)
		return;
	fprintf(out, "  Minimum   :  %.2f us (#%" PRIu32 ")\n", us(h->min_ns), h->min_seq);
	fprintf(out, "  Maximum   :  %.2f us (#%" PRIu32 ")\n", us(h->max_ns), h->max_seq);
	fprintf(out, "  Average   :  %.2f us\n", histogram_mean_ns(h) / NS_PER_US);
	write_percentiles(out, h);
	fprintf(out, "  Std dev   :  %.3f us\n", histogram_deviation_ns(h) / NS_PER_US);
	if (h->width_ns > 1)
		fprintf(out, "  Resolution:  %.3f us (percentiles are lower edges)\n", us(h->width_ns));
	write_buckets(out, h, r->options->bucket_ns, columns);
}

/* ---- Accounts -------------------------------------------------------------------------------------------------------- */

enum { EMITTER = 1, REFLECTOR = 2, BOTH = 3 };

struct row {
	const char *name, *meaning;
	size_t offset;
	int roles;
};

#define ROW(name, field, roles, meaning) { name, meaning, offsetof(struct account, field), roles }

static const struct row packets[] = {
	ROW("Sent", sent, BOTH, NULL),
	ROW("Received", received, BOTH, NULL),
	ROW("Warm-up", warmup, BOTH, "answered, left out of the statistics"),
	ROW("Recorded", recorded, BOTH, NULL),
	ROW("Lost", lost, EMITTER, "no reply within --timeout"),
	ROW("Unstamped", unstamped, BOTH, "answered, but a stamp is missing: not recorded"),
	ROW("Negative", negative, BOTH, "the clock went back: not recorded"),
	ROW("Stepped", stepped, BOTH, "a clock was set in between: not recorded"),
	ROW("Unfinished", unfinished, EMITTER, "interrupted"),
	ROW("Late", late, EMITTER, "replies to probes already counted as lost"),
	ROW("Duplicate", duplicate, EMITTER, "replies that came again"),
	ROW("Duplicate", repeated, REFLECTOR, "requests that came again, answered"),
	ROW("Reordered", reordered, BOTH, "came after a later one"),
	ROW("Foreign", foreign, EMITTER, "not an answer to a probe of this run"),
	ROW("Foreign", foreign, REFLECTOR, "not answered: a reply, or from a reflector's port"),
	ROW("Malformed", malformed, BOTH, NULL),
	ROW("Bad TLVs", malformed_tlv, REFLECTOR, "answered, marked as malformed"),
	ROW("Unanswered", unanswered, REFLECTOR, "the kernel did not take the reply"),
	ROW("Refused", refused, BOTH, "by the kernel: sends, and errors it reported"),
};

static const struct row stamps[] = {
	ROW("Transmit", missing_tx, BOTH, NULL),
	ROW("Receive", missing_rx, BOTH, NULL),
	ROW("Came late", stamp_late, BOTH, "transmit stamps after --timeout"),
	ROW("Came twice", stamp_duplicate, BOTH, "transmit stamps"),
	ROW("Unmatched", stamp_unmatched, BOTH, "transmit stamps of no packet in flight"),
};

static void write_count(FILE *out, const char *name, uint64_t count, const char *meaning)
{
	fprintf(out, "  %-10s:  %" PRIu64, name, count);
	if (meaning && count)
		fprintf(out, "  (%s)", meaning);
	fputc('\n', out);
}

static void write_rows(FILE *out, const struct report *r, const struct row *rows, size_t n)
{
	const char *account = (const char *)&r->exchange->account;

	for (size_t i = 0; i < n; i++)
		if (rows[i].roles & (r->options->role == ROLE_EMIT ? EMITTER : REFLECTOR))
			write_count(out, rows[i].name, counter_get((const counter *)(account + rows[i].offset)),
				    rows[i].meaning);
}

static void write_accounts(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	int64_t active_ns = x->last_ns - x->began_ns;

	fprintf(out, "\nPackets:\n");
	write_rows(out, r, packets, sizeof(packets) / sizeof(packets[0]));
	if (r->options->role == ROLE_EMIT)
		write_count(out, "Strays", r->strays, "to our port from others than the server, dropped");
	else
		write_count(out, "Sessions", counter_get(&x->sessions->opened), NULL);
	if (r->options->role == ROLE_REFLECT)
		write_count(out, "Evicted", counter_get(&x->sessions->evicted), "sessions forgotten for newer ones");
	if (r->options->threshold_ns)
		write_count(out, "Breaches", counter_get(&x->account.breaches), "samples above the threshold");

	fprintf(out, "\nMissing stamps:\n");
	write_rows(out, r, stamps, sizeof(stamps) / sizeof(stamps[0]));
	write_count(out, "Truncated", counter_get(&r->channel->control_truncated), "control messages");
	write_count(out, "Other", counter_get(&r->channel->error_other), "entries of the error queue, not our stamps");

	if (r->histogram->count > 1 && active_ns > 0)
		fprintf(out, "\nRate: %.0f %s/s\n", (double)r->histogram->count / seconds(active_ns),
			roles[r->options->role].done);
}

static void write_log_account(FILE *out, const struct report *r)
{
	uint64_t below = r->histogram->count - r->log->used - r->log->left_out;

	fprintf(out, "\nLog: %" PRIu64 " of %" PRIu64 " records", r->log->used, r->histogram->count);
	if (r->log->left_out)
		fprintf(out, r->log->circular ? ", the last ones: %" PRIu64 " older ones were overwritten" :
			", %" PRIu64 " left out because it was full", r->log->left_out);
	if (below)
		fprintf(out, ", %" PRIu64 " not above --log-threshold", below);
	fputc('\n', out);
}

/* ---- The trace ------------------------------------------------------------------------------------------------------- */

static void write_step(FILE *out, const char *what, int error)
{
	if (error)
		fprintf(out, "  %s failed: %s\n", what, strerror(error));
}

/* Where the evidence is, and how far it is to be trusted. */
static void write_frozen(FILE *out, const struct report *r)
{
	const struct trace *t = r->trace;
	const struct trace_record *last = &t->last;

	/* What goes on again by --trace-rearm had been stopped too. */
	fprintf(out, "  %s at #%" PRIu32 ", %.1f us after the breach was seen",
		trace_is_frozen(t) || !last->stop_error ? "Stopped" : "Not stopped", last->seq, us(last->frozen_ns));
	if (r->options->verbose)
		fprintf(out, " (marker written after %.1f us)", us(last->marker_ns));
	fputc('\n', out);
	write_step(out, "Writing the marker", last->marker_error);
	write_step(out, "Switching tracing off", last->stop_error);
	write_step(out, "The snapshot", last->snapshot_error);
	if (t->unsaved)
		fprintf(out, "  Evidence  : %s/%s\n", t->path, last->snapshot_taken ? "snapshot" : "trace");
}

static void write_saved(FILE *out, const struct trace_saved *s)
{
	fprintf(out, "  Saved     : %s, from %s", s->path, s->source);
	if (s->spike_cpu >= 0)
		fprintf(out, ", the spike is in cpu%d.txt", s->spike_cpu);
	fputc('\n', out);
	if (s->spike_cpu < 0)
		fprintf(out, "  The marker of the breach is in no file: the buffer may be too small, or tracing was off\n");
	if (s->swap_skipped)
		fprintf(out, "  The kernel skipped the snapshot, so the trace itself was saved\n");
	if (s->lost_events && s->lost_events != UINT64_MAX)
		fprintf(out, "  Overwritten before the first line: %" PRIu64 " events\n", s->lost_events);
}

/* Something stands still, waits to be saved, or went wrong with what was saved. */
static bool is_worth_telling(const struct trace *t)
{
	const struct trace_record *last = &t->last;
	bool wrong = last->marker_error || last->stop_error || last->snapshot_error;

	return trace_is_frozen(t) || ((t->unsaved || wrong) && !last->off_before);
}

static void write_trace(FILE *out, const struct report *r)
{
	const struct trace *t = r->trace;

	fprintf(out, "\nTrace (tracing moves what is measured):\n");
	write_count(out, "Markers", counter_get(&t->marked), "of breaches");
	if (counter_get(&t->refused))
		write_count(out, "Refused", counter_get(&t->refused), "markers that the kernel did not take");
	if (counter_get(&t->off))
		write_count(out, "Off", counter_get(&t->off), "breaches while others had switched tracing off: not traced");
	if (counter_get(&t->while_frozen))
		write_count(out, "While off", counter_get(&t->while_frozen), "breaches while the trace was frozen: not traced");
	write_step(out, "Writing RANT_TEST_START", t->start_error);
	if (t->saves)
		write_count(out, "Saves", t->saves, NULL);
	if (is_worth_telling(t))
		write_frozen(out, r);
	if (r->saved && *r->saved->path)
		write_saved(out, r->saved);
}

static void write_actions(FILE *out, const struct report *r)
{
	const struct actions *a = r->actions;

	fprintf(out, "\nCommands:\n");
	for (int i = 0; i < a->wanted->commands; i++) {
		fputs("  ", out);
		for (const char *c = a->wanted->command[i]; *c; c++)
			fputc(text_shown(*c), out);
		fprintf(out, ": ran %u time%s", a->ran[i], a->ran[i] == 1 ? "" : "s");
		if (a->failed[i])
			fprintf(out, ", %u failed", a->failed[i]);
		if (a->left_out[i])
			fprintf(out, ", %u breaches came while it still ran", a->left_out[i]);
		fputc('\n', out);
	}
	if (r->breaches_missed)
		fprintf(out, "  %" PRIu64 " breaches were not told, newer ones had taken their place\n", r->breaches_missed);
}

/* ---- Clocks ---------------------------------------------------------------------------------------------------------- */

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

	fprintf(out, "%s s (+-%" PRId64 " ns)", time_digits(text + sizeof(text) - 1, r->offset_ns), r->bound_ns);
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
			seconds(j->mono_ns[0] - r->exchange->began_ns), seconds(j->mono_ns[1] - r->exchange->began_ns),
			j->mark[0], j->mark[1]);
	}
	if (all > shown)
		fprintf(out, "  %" PRIu64 " more steps\n", all - shown);
}

/* With the names of the columns of the log, whose times are then of another clock than those beside them. */
static void write_no_stages(FILE *out, const struct report *r)
{
	const struct time_label *time = roles[r->options->role].time;
	const char *comma = "";

	fprintf(out, "  Stages        : not comparable: %s; ", r->stages_why);
	for (int i = 0; i < TIMES; i++) {
		char name[16];

		if (time[i].wire)
			continue;
		fprintf(out, "%s%s", comma, time_name(name, sizeof(name), &time[i], r->options->stamp));
		comma = " and ";
	}
	fprintf(out, " are times of CLOCK_REALTIME\n");
}

static void write_clocks(FILE *out, const struct report *r)
{
	const struct account *a = &r->exchange->account;
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
	if (exchange_has_stages(r->exchange) && r->exchange->clocks)
		fprintf(out, "  Stages        : user-space times are on the NIC's scale within +-%" PRId64 " ns\n",
			r->exchange->stage_bound_ns);
	if (exchange_has_stages(r->exchange) && counter_get(&a->unplaced))
		fprintf(out, "  %" PRIu64 " samples had no place on the NIC's scale: they are in no stage\n",
			counter_get(&a->unplaced));
	if (counter_get(&a->stage_negative))
		fprintf(out, "  Warning: %" PRIu64 " stages were negative by more than their bound\n",
			counter_get(&a->stage_negative));
	if (r->stages_why)
		write_no_stages(out, r);
}

/* ---- Counters -------------------------------------------------------------------------------------------------------- */

static void write_pmc(FILE *out, const struct pmc *p)
{
	fprintf(out, "\nHardware counters of an exchange%s:\n", p->user_only ? ", without the kernel's part" : "");
	fprintf(out, "  %-24s %14s %14s\n", "", "quick, mean", p->slow ? "spike" : "no spike");
	for (unsigned i = 0; i < p->counters; i++) {
		fprintf(out, "  %-24s", pmc_name(p, i));
		if (p->quick)
			fprintf(out, " %14.1f", (double)p->quick_sum[i] / (double)p->quick);
		else
			fprintf(out, " %14s", "-");
		if (p->slow)
			fprintf(out, " %14" PRIu64, p->spike[i]);
		fprintf(out, "%s\n", p->partial[i] ? "  (did not count all the time: too low)" : "");
	}
	if (*p->missing)
		fprintf(out, "  Not here: %s\n", p->missing);
	if (p->failed)
		fprintf(out, "  %" PRIu64 " exchanges could not be counted\n", p->failed);
	if (p->system_calls)
		fprintf(out, "  Reading them costs %u system calls in each exchange\n", p->system_calls);
}

#define DIFFERENCES_MAX 200

static void write_differences(FILE *out, const struct report *r, const struct activity_reading *before,
			      const struct activity_reading *after)
{
	static struct activity_difference list[DIFFERENCES_MAX];
	size_t all = activity_differences(r->activity, before, after, list, DIFFERENCES_MAX);
	const char *group = "";

	for (size_t i = 0; i < all && i < DIFFERENCES_MAX; i++) {
		const struct activity_difference *d = &list[i];
		const char *blank = *d->unit ? " " : "";

		if (strcmp(group, d->group))
			fprintf(out, "  %s:\n", d->group);
		group = d->group;
		fprintf(out, "    %s: ", d->name);
		if (d->change == ACTIVITY_COUNTED)
			fprintf(out, "%" PRIu64 "%s%s\n", d->delta, blank, d->unit);
		else if (d->change == ACTIVITY_GONE)
			fprintf(out, "cannot be read any more\n");
		else
			fprintf(out, "%" PRIu64 " -> %" PRIu64 "%s%s%s\n", d->from, d->to, blank, d->unit,
				d->change == ACTIVITY_RESET ? " (how much was counted is not known)" : "");
	}
	if (all > DIFFERENCES_MAX)
		fprintf(out, "  and %zu more\n", all - DIFFERENCES_MAX);
}

static void write_activity(FILE *out, const struct report *r)
{
	const struct activity *a = r->activity;

	if (!r->activity_start || !r->activity_end)
		return;
	if (r->activity_breach) {
		fprintf(out, "\nWhat the machine did until the first breach:\n");
		write_differences(out, r, r->activity_start, r->activity_breach);
	}
	if (r->activity_worst) {
		fprintf(out, "\nWhat the machine did from the breach before the worst to the worst:\n");
		write_differences(out, r, r->activity_before_worst, r->activity_worst);
	}
	if (!r->activity_breach || r->options->keep_going) {
		fprintf(out, "\nWhat the machine did during the run:\n");
		write_differences(out, r, r->activity_start, r->activity_end);
	}
	if (a->counters_left_out || a->unreadables_left_out)
		fprintf(out, "  Left out for lack of room: %u counters\n", a->counters_left_out + a->unreadables_left_out);
	for (unsigned i = 0; r->options->verbose && i < a->unreadables; i++)
		fprintf(out, "  Cannot tell: %s\n", a->unreadable[i]);
}

/* ---- The verdict ------------------------------------------------------------------------------------------------------ */

static void write_verdict(FILE *out, const struct report *r)
{
	static const char *const levels[] = { [VERDICT_TRUSTED] = "trusted", [VERDICT_DOUBTFUL] = "doubtful",
					      [VERDICT_VOID] = "void" };
	const struct verdict *v = r->verdict;

	fputc('\n', out);
	for (unsigned i = 0; r->options->verbose && i < v->unjudgeds; i++)
		fprintf(out, "Not judged, cannot be read: %s\n", v->unjudged[i].name);
	for (unsigned i = 0; r->options->verbose && i < v->reasons; i++)
		fprintf(out, "Why it matters: %s: %s\n", v->reason[i].name, v->reason[i].why);
	if (r->tracing)
		fprintf(out, "Note: tracing is on (%s): it moves what is measured\n", r->tracing);
	fprintf(out, "Measurement: %s", levels[v->level]);
	for (unsigned i = 0; i < v->reasons; i++)
		fprintf(out, "%s%s (%s)", i ? "; " : ": ", v->reason[i].name, v->reason[i].text);
	fputc('\n', out);
}

void report_write(FILE *out, const struct report *r, int columns)
{
	const struct exchange *x = r->exchange;
	char latency[64];

	write_breaches(out, r);
	fprintf(out, "Test is complete. Duration: %.2f s\n\n", x->started ? seconds(x->ended_ns - x->began_ns) : 0.0);
	write_statistics(out, r->histogram);
	if (r->options->histogram)
		write_histogram(out, r, columns);
	if (r->options->histogram && exchange_has_stages(r->exchange))
		write_stages(out, r);
	report_latency_name(r->options, latency, sizeof(latency));
	fprintf(out, "\nLatency: %s (%s)\n", latency,
		wires[options_on_wire(r->options) ? r->options->stamp : SOURCE_USER].clock);
	write_accounts(out, r);
	if (r->log)
		write_log_account(out, r);
	if (r->clocks && (r->options->stamp == SOURCE_HARDWARE || r->options->verbose || r->stages_why ||
			  counter_get(&r->clocks->track[CLOCK_OF_SYSTEM].steps)))
		write_clocks(out, r);
	if (r->pmc)
		write_pmc(out, r->pmc);
	if (r->activity && (r->activity_breach || r->options->verbose))
		write_activity(out, r);
	if (r->trace)
		write_trace(out, r);
	if (r->actions && r->actions->wanted->commands)
		write_actions(out, r);
	if (r->no_other_cpu)
		fprintf(out, "\nNothing was done beside the measurement (progress, commands, comparing the clocks): no CPU but "
			"the measuring one may be used.\n");
	if (r->verdict)
		write_verdict(out, r);
}

/* ---- For commands --------------------------------------------------------------------------------------------------- */

struct environment {
	char *text, *end;
	char **entry;
};

__attribute__((format(printf, 2, 3)))
static void put_variable(struct environment *e, const char *format, ...)
{
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(e->text, (size_t)(e->end - e->text), format, arguments);
	va_end(arguments);
	if (bytes < 0 || bytes >= e->end - e->text)
		return;
	*e->entry++ = e->text;
	e->text += bytes + 1;
}

void report_environment(const struct options *o, const struct sample *s, uint64_t number,
			char text[REPORT_ENVIRONMENT_BYTES], char *environment[REPORT_ENVIRONMENT_MAX])
{
	struct environment e = { text, text + REPORT_ENVIRONMENT_BYTES, environment };

	put_variable(&e, "RANT_ROLE=%s", o->role == ROLE_EMIT ? "emit" : "reflect");
	put_variable(&e, "RANT_INTERFACE=%s", o->interface);
	put_variable(&e, "RANT_NUMBER=%" PRIu64, number + 1);
	put_variable(&e, "RANT_SEQ=%" PRIu32, s->seq);
	put_variable(&e, "RANT_LATENCY_NS=%" PRId64, s->latency_ns);
	put_variable(&e, "RANT_THRESHOLD_NS=%" PRId64, o->threshold_ns);
	for (int i = 0; i < TIMES; i++) {
		char name[16], digit[32] = "";

		if (s->source[i])
			put_variable(&e, "RANT_%s=%s", time_name(name, sizeof(name), &roles[o->role].time[i], o->stamp),
				     time_digits(digit + sizeof(digit) - 1, s->time_ns[i]));
	}
	*e.entry = NULL;
}

/* ---- Configuration --------------------------------------------------------------------------------------------------- */

static void write_memory(FILE *out, const char *what, const struct memory *m)
{
	static const char *const pages[] = {
		[MEMORY_NORMAL] = "normal pages",
		[MEMORY_HUGE_DEFAULT] = "huge pages of the default size",
		[MEMORY_HUGE_2M] = "2 MB huge pages",
	};

	fprintf(out, "%s: %.1f MB in %s\n", what, (double)m->bytes / (1 << 20), pages[m->pages]);
}

void report_configuration(FILE *out, const struct report *r, const struct nic *n, const struct memory *histogram,
			  const struct memory *log)
{
	const struct options *o = r->options;
	const struct channel *c = r->channel;
	char latency[64];

	report_latency_name(o, latency, sizeof(latency));
	fprintf(out, "%s on %s (%s) by %s, port %" PRId64 "\n", o->role == ROLE_EMIT ? "Emitting" : "Reflecting",
		n->name, *n->driver ? n->driver : "driver unknown", c->transport->name, o->port);
	fprintf(out, "Stamps: %s; %s\n", wires[o->stamp].option, latency);
	if (options_by_nic(o))
		fprintf(out, "NIC clock: /dev/ptp%d; stamp setting %s\n", n->can.phc_index,
			n->changed ? "changed for this run, restored at its end" : "as found");
	if (c->tx_stamps)
		fprintf(out, "Transmit stamps are matched by %s\n",
			c->id_by_message ? "an id sent with each packet" : "the kernel's own count");
	fprintf(out, "Socket receive buffer: %d bytes granted\n", c->receive_buffer_bytes);
	if (o->busy_poll_us)
		fprintf(out, "Busy polling: %" PRId64 " us%s\n", o->busy_poll_us,
			o->busy_poll_implied ? " (set because --budget and --prefer-busypoll do nothing without it)" : "");
	write_memory(out, "Histogram", histogram);
	if (r->log) {
		write_memory(out, "Log", log);
		fprintf(out, "%s of %" PRIu64 " records (%.0f s at %d packets/s)\n",
			r->log->circular ? "Circular log buffer" : "Log buffer", r->log->capacity,
			(double)r->log->capacity / LOG_RATE, LOG_RATE);
	}
	if (r->trace) {
		fprintf(out, "Trace marker enabled: %s, clock %s\n", r->trace->path, r->trace->clock);
		if (r->trace->snapshot)
			fprintf(out, "Snapshot enabled: its buffer takes %.1f MB\n", (double)r->trace->spare_bytes / (1 << 20));
	}
}

/* ---- The log file ----------------------------------------------------------------------------------------------------- */

#define SEQ_WIDTH 10
#define TIME_WIDTH 30
#define LATENCY_WIDTH 15
#define RULE_WIDTH 150
#define LINE_MAX_BYTES (SEQ_WIDTH + TIMES * (TIME_WIDTH + 1) + LATENCY_WIDTH + 2)
#define LOG_CHUNK_BYTES (1 << 20)

int log_file_open(struct log_file *f, const char *path)
{
	struct stat s;
	bool exists = !lstat(path, &s);
	int length;

	*f = (struct log_file){ .path = path, .fd = -1 };
	if (exists && (S_ISLNK(s.st_mode) || S_ISDIR(s.st_mode))) {
		warnx("--log %s: is a %s: give the path of a file", path, S_ISDIR(s.st_mode) ? "directory" : "symbolic link");
		return -EINVAL;
	}
	if (exists && !S_ISREG(s.st_mode)) {
		/* A device or a pipe must not be replaced by a file. Not blocking: a pipe may have no reader. */
		f->fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (f->fd >= 0)
			fcntl(f->fd, F_SETFL, O_WRONLY);
	} else {
		length = snprintf(f->temporary, sizeof(f->temporary), "%s.XXXXXX", path);
		if (length >= (int)sizeof(f->temporary))
			errno = ENAMETOOLONG;
		else
			f->fd = mkostemp(f->temporary, O_CLOEXEC);
	}
	if (f->fd < 0) {
		int error = errno;

		*f->temporary = 0;
		warnx("--log %s: cannot write there (%s): choose another place", path, strerror(error));
		return -error;
	}
	if (*f->temporary) {
		/* mkostemp gives 0600; a log is as readable as any file that this user makes. */
		mode_t mask = umask(0);

		umask(mask);
		fchmod(f->fd, exists ? s.st_mode & 0777 : 0666 & ~mask);
	}
	return 0;
}

void log_file_abandon(struct log_file *f)
{
	if (*f->temporary)
		unlink(f->temporary);
	*f->temporary = 0;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Which of the times are columns: wire stamps if there are any, user-space ones if asked for or if they are all there is. */
static bool is_column(const struct options *o, int i)
{
	const struct time_label *t = &roles[o->role].time[i];
	bool transmit = *t->direction == 't';

	if (t->wire)
		return o->stamp != SOURCE_USER && !(transmit && o->no_tx_stamps);
	return o->sw_timestamps || !options_on_wire(o);
}

static char *pad(char *at, const char *text, size_t bytes, size_t width)
{
	size_t blanks = bytes < width ? width - bytes : 0;

	memset(at, ' ', blanks);
	memcpy(at + blanks, text, bytes);
	return at + blanks + bytes;
}

static char *put_header(char *at, const struct options *o)
{
	const struct role_text *r = &roles[o->role];
	char name[16];

	at = pad(at, "SEQ", 3, SEQ_WIDTH);
	for (int i = 0; i < TIMES; i++) {
		if (!is_column(o, i))
			continue;
		*at++ = ' ';
		time_name(name, sizeof(name), &r->time[i], o->stamp);
		at = pad(at, name, strlen(name), TIME_WIDTH);
	}
	*at++ = ' ';
	at = pad(at, r->latency, strlen(r->latency), LATENCY_WIDTH);
	*at++ = '\n';
	memset(at, '-', RULE_WIDTH);
	at += RULE_WIDTH;
	*at++ = '\n';
	return at;
}

static char *put_record(char *at, const struct sample *s, const bool column[TIMES])
{
	char text[32], *end = text + sizeof(text), *start = digits(end, s->seq, 1);

	at = pad(at, start, (size_t)(end - start), SEQ_WIDTH);
	for (int i = 0; i < TIMES; i++) {
		if (!column[i])
			continue;
		start = s->source[i] ? time_digits(end, s->time_ns[i]) : memcpy(end - 1, "-", 1);
		*at++ = ' ';
		at = pad(at, start, (size_t)(end - start), TIME_WIDTH);
	}
	start = digits(end, (uint64_t)s->latency_ns, 1);
	*at++ = ' ';
	at = pad(at, start, (size_t)(end - start), LATENCY_WIDTH);
	*at++ = '\n';
	return at;
}

static int write_all(int fd, const char *from, const char *to)
{
	while (from < to) {
		ssize_t done = write(fd, from, (size_t)(to - from));

		if (done < 0 && errno != EINTR)
			return -errno;
		from += done > 0 ? done : 0;
	}
	return 0;
}

static int write_records(int fd, const struct report *r)
{
	char *chunk = malloc(LOG_CHUNK_BYTES), *at;
	bool column[TIMES];
	int error = 0;

	if (!chunk)
		return -ENOMEM;
	for (int i = 0; i < TIMES; i++)
		column[i] = is_column(r->options, i);
	at = put_header(chunk, r->options);
	for (uint64_t i = 0; i < r->log->used && !error; i++) {
		at = put_record(at, log_at(r->log, i), column);
		if (at > chunk + LOG_CHUNK_BYTES - LINE_MAX_BYTES) {
			error = write_all(fd, chunk, at);
			at = chunk;
		}
	}
	if (!error)
		error = write_all(fd, chunk, at);
	free(chunk);
	return error;
}

int log_file_write(struct log_file *f, const struct report *r)
{
	int error = write_records(f->fd, r);

	/* Some file systems find out at close that there is no room. */
	if (close(f->fd) && !error)
		error = -errno;
	f->fd = -1;
	if (!error && *f->temporary && rename(f->temporary, f->path))
		error = -errno;
	if (!error)
		*f->temporary = 0;
	else
		warnx("--log %s: could not be written (%s): the log of this run is lost; free space or choose another place",
		      f->path, strerror(-error));
	log_file_abandon(f);
	return error;
}
