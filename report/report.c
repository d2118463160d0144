// SPDX-License-Identifier: GPL-2.0-or-later
/* All text for people: the report, the breach, the configuration, the log file. Roles and stamp kinds are data here. */
#include "report/report.h"

#include "histogram.h"
#include "host/action.h"
#include "host/activity.h"
#include "host/clock.h"
#include "host/clock_peer.h"
#include "host/memory.h"
#include "host/nic.h"
#include "host/pmc.h"
#include "host/pmu.h"
#include "host/trace_save.h"
#include "measure/exchange.h"
#include "measure/log.h"
#include "options.h"
#include "report/verdict.h"
#include "tracefs.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/socket.h"

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
	const char *taken; /* at the other host */
} wires[] = {
	[SOURCE_USER] = { "SW", "app", "user", "CLOCK_REALTIME, read by the program", "by its program" },
	[SOURCE_KERNEL] = { "KERNEL", "kernel", "kernel", "CLOCK_REALTIME, read by the kernel", "by its kernel" },
	[SOURCE_HARDWARE] = { "HW", "NIC", "hardware", "the clock of the NIC", "by its NIC" },
	[SOURCE_LOCAL] = { "LOCAL", "host", NULL, NULL, "of an untold kind" },
	[SOURCE_NONE] = { "LOCAL", "host", NULL, NULL, "of an untold kind" }, /* no reply had any */
};

static const struct time_label *label_of(enum role role, int i)
{
	return i < THERE ? &roles[role].time[i] : &roles[ROLE_REFLECT].time[i - THERE];
}

static const char *label_name(char *text, size_t bytes, const struct time_label *t, int64_t wire)
{
	snprintf(text, bytes, "%s_%s", t->name, wires[t->wire ? wire : SOURCE_USER].suffix);
	return text;
}

/* What the stamps are called that time i of a sample is one of: ours by the options, those of the peer by what it says. */
static int64_t wire_of(const struct report *r, int i)
{
	return i < THERE ? r->options->stamp : r->exchange->there;
}

static const char *time_name(char *text, size_t bytes, const struct report *r, int i)
{
	return label_name(text, bytes, label_of(r->options->role, i), wire_of(r, i));
}

void report_latency_name(const struct options *o, char *text, size_t bytes)
{
	const struct role_text *r = &roles[o->role];
	uint8_t from, to;
	char a[16], b[16];

	exchange_latency_times(o->role, options_on_wire(o), &from, &to);
	snprintf(text, bytes, "%s = %s - %s", r->latency, label_name(b, sizeof(b), &r->time[to], o->stamp),
		 label_name(a, sizeof(a), &r->time[from], o->stamp));
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

static char *signed_digits(char *end, int64_t v)
{
	end = digits(end, v < 0 ? -(uint64_t)v : (uint64_t)v, 1);
	if (v < 0)
		*--end = '-';
	return end;
}

/* ---- The breach ------------------------------------------------------------------------------------------------------ */

/* A part of an exchange: a stage, or all of the round trip. */
struct part {
	char name[40], formula[48];
	int index; /* enum stage_index; STAGES: all of it */
	struct stage stage;
	struct percentile usual; /* what it typically takes; value_ns INT64_MAX: not known */
	/* Of one sample. */
	bool known, candidate; /* its value is there; it may be to blame, since no other candidate has it in it */
	int64_t value_ns;
};

#define PARTS_MAX (STAGES + 1)

static void name_part(struct part *p, const struct report *r, const struct stage *s)
{
	const enum role role = r->options->role;
	const struct time_label *from = label_of(role, s->from), *to = label_of(role, s->to);
	const char *wire = wires[wire_of(r, s->from)].place, *remote = s->from >= THERE ? "Remote " : "";
	char a[16], b[16];

	if (s->less_from != s->less_to) {
		/* Without stamps on the wire at both hosts, theirs is what lies before and after them too. */
		const bool more = r->options->stamp == SOURCE_USER || r->exchange->there == SOURCE_USER;

		strcpy(p->name, more ? "Network and hosts" : "Network");
		snprintf(p->formula, sizeof(p->formula), "%s - %s", roles[role].latency, roles[ROLE_REFLECT].latency);
		return;
	}
	if (from->wire && to->wire)
		snprintf(p->name, sizeof(p->name), "%s", s->from >= THERE ? "Response" : "Wire and reflector");
	else if (from->wire)
		snprintf(p->name, sizeof(p->name), "%s%c%s-to-app", remote, *remote ? wire[0] : wire[0] & ~0x20, wire + 1);
	else
		snprintf(p->name, sizeof(p->name), to->wire ? "%s%cpp-to-%s" : "%s%cpp processing", remote,
			 *remote ? 'a' : 'A', wire);
	snprintf(p->formula, sizeof(p->formula), "%s - %s", time_name(b, sizeof(b), r, s->to),
		 time_name(a, sizeof(a), r, s->from));
}

/* With one sample there is nothing that the spike could be compared with. */
static struct percentile typical(const struct histogram *h)
{
	return h->count > 1 ? histogram_percentile(h, 50, 100) : (struct percentile){ .value_ns = INT64_MAX };
}

/* Where the reflector's stamps are those of its program, its times of user space are the same once more. */
static bool is_told_twice(const struct report *r, int i)
{
	return i >= THERE && !label_of(r->options->role, i)->wire && r->exchange->there == SOURCE_USER;
}

/* Is there anything of stage i of the role? What the peer did not tell is none. */
static bool is_collected(const struct report *r, int i, const struct stage *s)
{
	const struct histogram *h = r->exchange->stage[i];

	return h && (!s->peer || (h->count + h->negatives && !is_told_twice(r, s->from) && !is_told_twice(r, s->to)));
}

/* Are the stages inside the response there? */
static bool is_split(const struct report *r)
{
	struct stage stages[STAGES];

	exchange_stages(r->options->role, options_on_wire(r->options), stages);
	return r->options->role == ROLE_EMIT && is_collected(r, STAGE_REMOTE_APP, &stages[STAGE_REMOTE_APP]);
}

static void set_part(struct part *p, const struct report *r, int index, const struct stage *s, const struct histogram *h)
{
	*p = (struct part){ .index = index, .stage = *s, .usual = typical(h) };
	name_part(p, r, s);
}

/* The parts that are collected and, for an emitter, all of the round trip, of which not all may be told apart. */
static int find_parts(const struct report *r, struct part parts[PARTS_MAX])
{
	const struct options *o = r->options;
	struct stage stages[STAGES], whole = { .inside = true };
	int n = 0;

	exchange_stages(o->role, options_on_wire(o), stages);
	for (int i = 0; i < STAGES; i++)
		if (is_collected(r, i, &stages[i]))
			set_part(&parts[n++], r, i, &stages[i], r->exchange->stage[i]);
	if (!n || o->role == ROLE_REFLECT)
		return n;
	exchange_latency_times(o->role, options_on_wire(o), &whole.from, &whole.to);
	whole.less_from = whole.less_to = whole.from;
	set_part(&parts[n], r, STAGES, &whole, r->histogram);
	if (!options_on_wire(o))
		strcpy(parts[n].name, "Round trip");
	return n + 1;
}

static bool is_known(const struct part *parts, int n, int index)
{
	for (int i = 0; i < n; i++)
		if (parts[i].index == index)
			return parts[i].known;
	return false;
}

/* What the threshold is about: of a reflector its own response. */
static enum figure figure_of(const struct options *o)
{
	return o->role == ROLE_EMIT ? (enum figure)o->threshold_on : FIGURE_RTT;
}

/* An emitter's sample is told apart as far as its times came: into the network and the response, or the stages of that.
 * Without T3 of the reply, all of it stands beside what is known of the other host. */
static void find_candidates(const struct report *r, struct part *parts, int n)
{
	const enum figure on = figure_of(r->options);
	const bool joined = is_known(parts, n, STAGE_NETWORK);
	const bool split = is_known(parts, n, STAGE_REMOTE_WIRE_TO_APP) && is_known(parts, n, STAGE_REMOTE_APP) &&
			   is_known(parts, n, STAGE_REMOTE_APP_TO_WIRE);

	for (struct part *p = parts; p < parts + n; p++) {
		if (r->options->role == ROLE_REFLECT || !p->stage.peer)
			p->candidate = p->index == STAGES ? !joined : p->stage.inside;
		else if (p->index == STAGE_NETWORK)
			p->candidate = joined && on != FIGURE_RESPONSE;
		else if (p->index == STAGE_RESPONSE)
			p->candidate = joined && !split && on != FIGURE_NETWORK;
		else
			p->candidate = (split || !joined) && on != FIGURE_NETWORK;
	}
}

/* By how much it is above what it typically takes; 0 or less: it is not to blame. */
static int64_t excess_of(const struct part *p)
{
	return p->candidate && p->known && p->usual.value_ns != INT64_MAX ? p->value_ns - p->usual.value_ns : 0;
}

/* Takes the values of a sample, and finds the part of its latency that is furthest above what is typical of it; NULL:
 * there is none. */
static const struct part *find_blame(const struct report *r, struct part *parts, int n, const struct sample *s)
{
	const struct part *worst = NULL, *whole = n && parts[n - 1].index == STAGES ? &parts[n - 1] : NULL;

	for (struct part *p = parts; p < parts + n; p++)
		p->known = exchange_stage_value(&p->stage, s, &p->value_ns);
	find_candidates(r, parts, n);
	for (const struct part *p = parts; p < parts + n; p++)
		if (p != whole && excess_of(p) > (worst ? excess_of(worst) : 0))
			worst = p;
	/* The parts that are known are not all: they must explain at least half. */
	if (whole && excess_of(whole) > (worst ? 2 * excess_of(worst) : 0))
		worst = whole;
	return worst;
}

/* Names that no other row of the report has: scripts look rows up by name. */
static const struct {
	const char *flag, *name, *meaning;
} follow_ups[FOLLOW_UPS] = {
	[FOLLOW_UP_NONE] = { "plain", NULL, "it was not asked for (--plain)" },
	[FOLLOW_UP_THERE] = { "-", "Complete", NULL },
	[FOLLOW_UP_LOST] = { "lost", "Reply lost", "the next reply, which tells when this one left, was lost" },
	[FOLLOW_UP_UNKNOWN] = { "unknown", "Unknown", "the reflector did not have the stamp in time, or keeps no state" },
	[FOLLOW_UP_UNTOLD] = { "untold", "Untold", "the reflector does not tell when a reply left: RFC 8972 section 4.7" },
	[FOLLOW_UP_MIXED] = { "mixed", "Mixed", "the reflector's two stamps are of different kinds, or of untold ones" },
	[FOLLOW_UP_END] = { "end", "At the end", "no reply came after this one" },
};

/* Not all of the latency can be told apart where T3 of the reply is not there. */
static void write_unknown(FILE *out, const struct report *r, const struct sample *s)
{
	if (options_joined(r->options) && s->follow_up != FOLLOW_UP_THERE)
		fprintf(out, "  Response and network: not known: %s\n", follow_ups[s->follow_up].meaning);
}

/* Of what the threshold is about. */
static const struct histogram *figure_histogram(const struct report *r)
{
	static const int stages[] = { [FIGURE_RESPONSE] = STAGE_RESPONSE, [FIGURE_NETWORK] = STAGE_NETWORK };
	const enum figure on = figure_of(r->options);

	return on == FIGURE_RTT ? r->histogram : r->exchange->stage[stages[on]];
}

static void write_blame(FILE *out, const struct report *r, const struct sample *s, const struct part *blamed)
{
	const struct histogram *h = figure_histogram(r);
	struct percentile usual, whole;
	int64_t value_ns;

	if (!blamed) {
		fprintf(out, "  Blame: none, %s\n", r->histogram->count > 1 ? "each of these took no longer than usual" :
			"there is nothing typical to compare these with");
		return;
	}
	usual = blamed->usual;
	fprintf(out, "  Blame: %s %.3f us, typical %s%.3f us", blamed->name, us(blamed->value_ns), usual.bound ? ">= " : "",
		us(usual.value_ns));
	whole = h ? typical(h) : (struct percentile){ .value_ns = INT64_MAX };
	/* A share of bounds could be anything. */
	if (exchange_figure(r->exchange, s, &value_ns) && value_ns > whole.value_ns && !usual.bound && !whole.bound)
		fprintf(out, ", %.0f %% of the excess",
			100.0 * (double)(blamed->value_ns - usual.value_ns) / (double)(value_ns - whole.value_ns));
	fputc('\n', out);
}

static void write_parts(FILE *out, const struct report *r, const struct sample *s)
{
	struct part parts[PARTS_MAX];
	int n = find_parts(r, parts);
	const struct part *blamed = find_blame(r, parts, n, s);

	for (int i = 0; i < n; i++)
		if (parts[i].known && (parts[i].index != STAGES || parts[i].candidate))
			fprintf(out, "  %s (%s): %" PRId64 " ns%s\n", parts[i].name, parts[i].formula, parts[i].value_ns,
				&parts[i] == blamed ? " <-- where the spike is" : "");
	write_unknown(out, r, s);
	if (n)
		write_blame(out, r, s, blamed);
}

/* Stamps on the wire first, then the times of user space; of one host. */
static void write_times(FILE *out, const struct report *r, const struct sample *s, int first)
{
	for (int wire = 1; wire >= 0; wire--) {
		for (int i = first; i < first + TIMES; i++) {
			const struct time_label *t = label_of(r->options->role, i);
			char name[16], text[32] = "";

			if (t->wire != wire || !s->source[i] || is_told_twice(r, i))
				continue;
			fprintf(out, "  %s (%s%s %s): %s\n", time_name(name, sizeof(name), r, i), first ? "remote " : "",
				wires[t->wire ? wire_of(r, i) : SOURCE_USER].place, t->direction,
				time_digits(text + sizeof(text) - 1, s->time_ns[i]));
		}
	}
}

static void write_breach(FILE *out, const struct report *r, const struct sample *s)
{
	static const char *const figures[] = { [FIGURE_RESPONSE] = "Response", [FIGURE_NETWORK] = "Network" };
	const struct options *o = r->options;
	const bool other = figure_of(o) != FIGURE_RTT;
	int64_t value_ns;

	exchange_figure(r->exchange, s, &value_ns);
	fprintf(out, "%s %s (%" PRId64 " ns) exceeds threshold (%" PRId64 " ns).\n",
		other ? figures[o->threshold_on] : roles[o->role].breach, other ? "time" : "latency", value_ns,
		o->threshold_ns);
	fprintf(out, "  Sequence number: %" PRIu32 "\n", s->seq);
	if (other)
		fprintf(out, "  %s latency: %" PRId64 " ns\n", roles[o->role].breach, s->latency_ns);
	write_times(out, r, s, 0);
	if (o->role == ROLE_EMIT)
		write_times(out, r, s, THERE);
	write_parts(out, r, s);
	fputc('\n', out);
}

/* How many of the breaches that are still known each part is to blame for, of those that could be in one of them. */
static void write_blames(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	uint64_t breaches = counter_get(&x->account.breaches), known = 0;
	uint64_t first = breaches > BREACHES_KEPT - 1 ? breaches - (BREACHES_KEPT - 1) : 0;
	unsigned blamed[PARTS_MAX] = { 0 }, none = 0;
	bool candidate[PARTS_MAX] = { false };
	struct part parts[PARTS_MAX];
	const int n = find_parts(r, parts);
	struct sample s;

	for (uint64_t i = first; i < breaches; i++) {
		if (!exchange_breach(x, i, &s))
			continue;
		const struct part *worst = find_blame(r, parts, n, &s);

		for (int k = 0; k < n; k++)
			candidate[k] |= parts[k].candidate;
		if (worst)
			blamed[worst - parts]++;
		else
			none++;
		known++;
	}
	if (!n)
		return;
	fprintf(out, "Blamed for the last %" PRIu64 " of %" PRIu64 " breaches:\n", known, breaches);
	for (int i = 0; i < n; i++)
		if (candidate[i])
			fprintf(out, "  %s: %u\n", parts[i].name, blamed[i]);
	if (none)
		fprintf(out, "  None of these: %u\n", none);
	fputc('\n', out);
}

/* The first, and with --continue the worst. */
static void write_breaches(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	uint64_t breaches = counter_get(&x->account.breaches);
	int64_t first_ns, worst_ns;

	if (!breaches)
		return;
	write_breach(out, r, &x->breach);
	exchange_figure(x, &x->breach, &first_ns);
	exchange_figure(x, &x->worst, &worst_ns);
	/* Not by the number: two emitters may use the same. */
	if (worst_ns != first_ns) {
		fprintf(out, "The worst of %" PRIu64 " breaches:\n", breaches);
		write_breach(out, r, &x->worst);
	}
	if (breaches > 1)
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

#define PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

static bool is_fit(const struct histogram *h, size_t i)
{
	return !percentiles[i].rare || h->count / percentiles[i].denominator >= 10;
}

static void write_percentiles(FILE *out, const struct histogram *h)
{
	fprintf(out, "  Percentiles (us):\n");
	for (size_t i = 0; i < PERCENTILES && is_fit(h, i); i++) {
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
	}
	fprintf(out, "  %12.3f - %12s : %12" PRIu64 " %8.4f%%", us(h->limit_ns), "(overflow)", h->overflows,
		100.0 * (double)h->overflows / (double)h->count);
	write_bar(out, h->overflows, largest ? largest : 1, columns - width_used - 2);
}

/* The columns of the table of stages, after the name. */
enum cell { CELL_FORMULA, CELL_SAMPLES, CELL_NEGATIVE, CELL_50, CELL_90, CELL_95, CELL_99, CELL_99_9, CELL_99_99, CELL_MAXIMUM,
	    CELL_AVERAGE, CELLS };

static const struct {
	const char *title;
	int width; /* negative: to the left */
} cells[CELLS] = {
	[CELL_FORMULA] = { "", -22 }, [CELL_SAMPLES] = { "Samples", 9 }, [CELL_NEGATIVE] = { "Negative", 8 },
	[CELL_50] = { "50th", 10 }, [CELL_90] = { "90th", 10 }, [CELL_95] = { "95th", 10 }, [CELL_99] = { "99th", 10 },
	[CELL_99_9] = { "99.9th", 10 }, [CELL_99_99] = { "99.99th", 10 }, [CELL_MAXIMUM] = { "Maximum", 10 },
	[CELL_AVERAGE] = { "Average", 10 },
};

/* What a terminal that is too narrow for all of them gets, the first ones first. A file gets all. */
static const uint8_t cell_ranks[CELLS] = { CELL_SAMPLES, CELL_MAXIMUM, CELL_50, CELL_99, CELL_99_9, CELL_NEGATIVE, CELL_99_99,
					   CELL_90, CELL_AVERAGE, CELL_FORMULA, CELL_95 };

struct table {
	int name_width;
	bool shown[CELLS];
};

static void begin_table(FILE *out, struct table *t, const struct options *o, int columns)
{
	int width = 2;

	*t = (struct table){ .name_width = options_joined(o) ? 22 : 15 };
	width += t->name_width;
	for (int i = 0; i < CELLS; i++) {
		const enum cell cell = cell_ranks[i];

		if (cell == CELL_AVERAGE && !options_joined(o))
			continue;
		width += 1 + abs(cells[cell].width);
		if (columns && width > columns)
			break;
		t->shown[cell] = true;
	}
	fprintf(out, "\n%-*s", 2 + t->name_width, "Stages (us):");
	for (int i = 0; i < CELLS; i++)
		if (t->shown[i])
			fprintf(out, " %*s", cells[i].width, cells[i].title);
	fputc('\n', out);
}

/* less_ns is taken off every value. A percentile is the lower edge of a bucket, and so may be below the minimum. */
static void cell_text(char *text, size_t bytes, const struct histogram *h, int cell, int64_t less_ns)
{
	if (cell == CELL_SAMPLES || cell == CELL_NEGATIVE) {
		snprintf(text, bytes, "%" PRIu64, cell == CELL_SAMPLES ? h->count : h->negatives);
	} else if (cell == CELL_MAXIMUM) {
		snprintf(text, bytes, "%.3f", us(h->max_ns - less_ns));
	} else if (cell == CELL_AVERAGE) {
		snprintf(text, bytes, "%.3f", (histogram_mean_ns(h) - (double)less_ns) / NS_PER_US);
	} else {
		const int k = cell - CELL_50;
		struct percentile v = histogram_percentile(h, percentiles[k].numerator, percentiles[k].denominator);

		snprintf(text, bytes, "%s%.3f", v.bound ? ">=" : "", us(v.value_ns > less_ns ? v.value_ns - less_ns : 0));
	}
}

static void write_stage(FILE *out, const struct table *t, const char *name, const char *formula,
			const struct histogram *h, int64_t less_ns)
{
	fprintf(out, "  %-*s", t->name_width, name);
	if (t->shown[CELL_FORMULA])
		fprintf(out, " %*s", cells[CELL_FORMULA].width, formula);
	for (int i = CELL_SAMPLES; i < (h->count ? CELLS : CELL_50); i++) {
		char text[32];

		if (!t->shown[i])
			continue;
		cell_text(text, sizeof(text), h, i, less_ns);
		fprintf(out, " %*s", cells[i].width, text);
	}
	fputc('\n', out);
}

/* Each way by itself needs the difference of the two hosts' clocks; how much it varies does not, but its minimum must be
 * there. */
static void write_one_way(FILE *out, const struct report *r, const struct table *t)
{
	static const char *const names[ONE_WAYS][2] = { { "Forward", "Forward, variation" },
							{ "Backward", "Backward, variation" } };
	const struct exchange *x = r->exchange;
	const int64_t bound_ns = x->one_way_bound_ns[0];
	char bound[40];

	snprintf(bound, sizeof(bound), "+-%.3f us", us(bound_ns));
	for (int i = 0; i < ONE_WAYS; i++) {
		const struct histogram *h = x->one_way[i];

		if (!h || !(h->count + h->negatives))
			continue;
		write_stage(out, t, names[i][0], bound, h, 0);
		if (!h->negatives)
			write_stage(out, t, names[i][1], "above its minimum", h, h->min_ns);
	}
	if (!x->one_way[0] || !(x->one_way[0]->count + x->one_way[0]->negatives))
		return;
	fprintf(out, "  Forward and backward are within +-%" PRId64 " ns", bound_ns);
	if (r->options->synced_ns >= 0)
		fprintf(out, ", if the two NICs' clocks are, as --synced says\n");
	else
		fprintf(out, " (at the end +-%" PRId64 "): the clocks were compared by the exchanges themselves\n",
			x->one_way_bound_ns[1]);
}

/* Why nothing of the response is known, where it was asked for. */
static void write_no_response(FILE *out, const struct exchange *x)
{
	int most = FOLLOW_UP_NONE;

	for (int i = 0; i < FOLLOW_UPS; i++)
		if (counter_get(&x->account.follow_up[i]) > counter_get(&x->account.follow_up[most]))
			most = i;
	if (counter_get(&x->account.follow_up[most]))
		fprintf(out, "  Response and network: not known: %s\n", follow_ups[most].meaning);
}

static void write_no_remote_stages(FILE *out, const struct exchange *x)
{
	const struct reply *last = &x->reply;

	fprintf(out, "  Remote stages: not known: %s\n",
		x->there == SOURCE_USER ? "the reflector's stamps are those of its program" :
		!last->software_told || !last->t2_user_known ? "the reflector does not tell when its program had the probe" :
		last->software_bound_ns < 0 ? "the reflector cannot compare its program's clock with that of its stamps" :
		"the reflector's times are not complete");
}

/* The peer's parts that it did not tell of are left out, with the reason. */
static void write_stages(FILE *out, const struct report *r, int columns)
{
	const struct exchange *x = r->exchange;
	struct stage stages[STAGES];
	struct table t;
	int any = 0;

	exchange_stages(r->options->role, options_on_wire(r->options), stages);
	for (int i = 0; i < STAGES; i++) {
		struct part p;

		if (!is_collected(r, i, &stages[i]))
			continue;
		if (!any++)
			begin_table(out, &t, r->options, columns);
		name_part(&p, r, &stages[i]);
		write_stage(out, &t, p.name, p.formula, x->stage[i], 0);
	}
	if (any)
		write_one_way(out, r, &t);
	else
		fprintf(out, "\nStages:\n");
	if (!options_joined(r->options))
		return;
	if (x->stage[STAGE_RESPONSE] && !is_collected(r, STAGE_RESPONSE, &stages[STAGE_RESPONSE]))
		write_no_response(out, x);
	if (x->stage[STAGE_REMOTE_APP] && !is_split(r))
		write_no_remote_stages(out, x);
}

/* By an emitter that hears of the other host always, else with the histogram. */
static bool wants_stages(const struct report *r)
{
	const struct exchange *x = r->exchange;

	if (!options_joined(r->options))
		return r->options->histogram && exchange_has_stages(x);
	for (int i = 0; i < STAGES; i++)
		if (x->stage[i] && r->histogram->count)
			return true;
	return false;
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
	fprintf(out, "  Buckets (us):\n");
	write_buckets(out, h, r->options->bucket_ns, columns);
}

/* In other words than the latency's, so that a script which looks for those lines finds them once. */
static void write_part_histogram(FILE *out, const struct report *r, const char *title, const struct histogram *h,
				 int columns)
{
	if (!h || !h->count)
		return;
	fprintf(out, "\n%s Histogram (us):\n", title);
	fprintf(out, "  %" PRIu64 " samples from %.3f (#%" PRIu32 ") to %.3f (#%" PRIu32 ")\n", h->count, us(h->min_ns),
		h->min_seq, us(h->max_ns), h->max_seq);
	fprintf(out, "  average %.3f, standard deviation %.3f\n", histogram_mean_ns(h) / NS_PER_US,
		histogram_deviation_ns(h) / NS_PER_US);
	for (size_t i = 0; i < PERCENTILES && is_fit(h, i); i++) {
		struct percentile v = histogram_percentile(h, percentiles[i].numerator, percentiles[i].denominator);

		fprintf(out, "%s%s %s%.3f", i ? ", " : "  ", percentiles[i].name, v.bound ? ">=" : "", us(v.value_ns));
	}
	fputc('\n', out);
	write_buckets(out, h, r->options->bucket_ns, columns);
}

static void write_histograms(FILE *out, const struct report *r, int columns)
{
	write_histogram(out, r, columns);
	if (!options_joined(r->options))
		return;
	write_part_histogram(out, r, "Response", r->exchange->stage[STAGE_RESPONSE], columns);
	write_part_histogram(out, r, "Network", r->exchange->stage[STAGE_NETWORK], columns);
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
	ROW("Closing", closing, EMITTER, "sent after the end, to hear when the last reply left"),
	ROW("Late", late, EMITTER, "replies to probes that were given up"),
	ROW("Duplicate", duplicate, EMITTER, "replies that came again"),
	ROW("Duplicate", repeated, REFLECTOR, "requests that came again, answered"),
	ROW("Reordered", reordered, BOTH, "came after a later one"),
	ROW("Foreign", foreign, EMITTER, "not an answer to a probe of this run"),
	ROW("Foreign", foreign, REFLECTOR, "not answered: a reply, or from a reflector's port"),
	ROW("Malformed", malformed, BOTH, NULL),
	ROW("Unverified", unverified, BOTH, "the HMAC is wrong or missing: not used"),
	ROW("Bad TLVs", malformed_tlv, REFLECTOR, "answered, marked as malformed"),
	ROW("Bad TLVs", malformed_tlv, EMITTER, "of replies: malformed, or marked so"),
	ROW("Bad HMACs", unusable_tlv, EMITTER, "of replies: failed their integrity check, not used"),
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

struct direction_row {
	const char *name;
	size_t offset;
	const char *meaning;
};

#define DIRECTION(name, field, meaning) { name, offsetof(struct directions, field), meaning }

/* The first two are there although they are 0. */
static const struct direction_row direction_rows[] = {
	DIRECTION("Lost there", lost_forward, "probes that did not reach the reflector"),
	DIRECTION("Lost back", lost_backward, "replies that did not come back"),
	DIRECTION("Two there", duplicate_forward, "probes that reached the reflector again"),
	DIRECTION("Two back", duplicate_backward, "replies that came again"),
	DIRECTION("Late there", reordered_forward, "probes that reached the reflector after later ones"),
	DIRECTION("Late back", reordered_backward, "replies that came after later ones"),
	DIRECTION("Restarts", restarts, "the reflector began its count again"),
};

/* On which way packets were lost, by the reflector's own numbers. */
static void write_directions(FILE *out, const struct directions *d)
{
	fprintf(out, "\nDirections:%s\n", d->told ? "" : " not known: the reflector shows no count of its own");
	for (size_t i = 0; d->told && i < sizeof(direction_rows) / sizeof(direction_rows[0]); i++) {
		const struct direction_row *row = &direction_rows[i];
		uint64_t count = *(const uint64_t *)((const char *)d + row->offset);

		if (i < 2 || count)
			write_count(out, row->name, count, row->meaning);
	}
	if (d->lost_unknown)
		write_count(out, "Either way", d->lost_unknown, "unanswered, and on which way is not known");
}

/* What the replies told of the other host, and what they did not. */
static void write_follow_ups(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	const struct account *a = &x->account;

	if (!counter_get(&a->answered))
		return;
	fprintf(out, "\nReflector's stamps, %s (T3_%s comes with the next reply):\n", wires[x->there].taken,
		wires[x->there].suffix);
	for (int i = 0; i < FOLLOW_UPS; i++)
		if (follow_ups[i].name)
			write_count(out, follow_ups[i].name, counter_get(&a->follow_up[i]), follow_ups[i].meaning);
	if (counter_get(&a->follow_up_late))
		write_count(out, "Too late", counter_get(&a->follow_up_late), "came in late replies: not used");
	if (counter_get(&a->unjudged))
		write_count(out, "Not judged", counter_get(&a->unjudged), "samples without what --threshold-on is about");
}

static void write_arrived(FILE *out, const struct report *r)
{
	const struct exchange *x = r->exchange;
	const uint64_t ttl = counter_get(&x->account.other_ttl), class = counter_get(&x->account.other_class);

	if (ttl)
		fprintf(out, "  %" PRIu64 " probes arrived with another TTL than %" PRId64 ", the last with %u\n", ttl,
			r->options->ttl, x->arrived_ttl);
	if (class)
		fprintf(out, "  %" PRIu64 " probes arrived with another DSCP than %" PRId64 ", the last with %u\n", class,
			r->options->dscp, x->arrived_dscp);
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

	if (r->options->role == ROLE_EMIT) {
		write_arrived(out, r);
		write_directions(out, &x->directions);
		if (options_joined(r->options))
			write_follow_ups(out, r);
	}

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
		fprintf(out, "%s%s", comma, time_name(name, sizeof(name), r, i));
		comma = " and ";
	}
	fprintf(out, " are times of CLOCK_REALTIME\n");
}

static void write_clocks(FILE *out, const struct report *r)
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
	if (is_split(r) && (x->there == SOURCE_HARDWARE || x->bound_ns[BOUND_THERE]))
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
	if (!all)
		fprintf(out, "  Nothing that is counted here moved\n");
	if (all > DIFFERENCES_MAX)
		fprintf(out, "  and %zu more\n", all - DIFFERENCES_MAX);
}

static void write_activity(FILE *out, const struct report *r)
{
	const struct activity *a = r->activity;

	if (!r->activity_start || !r->activity_end)
		return;
	if (r->activity_breach) {
		fprintf(out, "\nWhat the machine did until the first breach");
		/* By the housekeeping thread, which looks ten times a second if its CPU is free. */
		if (r->options->keep_going)
			fprintf(out, ", as read after %" PRIu64 " packets", r->activity_breach->mark);
		fprintf(out, ":\n");
		write_differences(out, r, r->activity_start, r->activity_breach);
	}
	if (r->activity_worst) {
		fprintf(out, "\nWhat the machine did from the breach before the worst to the worst, as read after %" PRIu64
			" and %" PRIu64 " packets:\n", r->activity_before_worst->mark, r->activity_worst->mark);
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
		write_histograms(out, r, columns);
	if (wants_stages(r))
		write_stages(out, r, columns);
	report_latency_name(r->options, latency, sizeof(latency));
	fprintf(out, "\nLatency: %s (%s)\n", latency,
		wires[options_on_wire(r->options) ? r->options->stamp : SOURCE_USER].clock);
	write_accounts(out, r);
	if (r->log)
		write_log_account(out, r);
	if (r->clocks && (r->options->stamp == SOURCE_HARDWARE || r->options->verbose || r->stages_why ||
			  counter_get(&r->clocks->track[CLOCK_OF_SYSTEM].steps) || (is_split(r) && x->bound_ns[BOUND_THERE])))
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

/* What an emitter knows beside the round trip; a reflector's sample has no such times. */
static void put_figures(struct environment *e, const struct report *r, const struct sample *s)
{
	struct stage stages[STAGES];
	int64_t value_ns;

	exchange_stages(ROLE_EMIT, options_on_wire(r->options), stages);
	if (exchange_stage_value(&stages[STAGE_RESPONSE], s, &value_ns))
		put_variable(e, "RANT_RESPONSE_NS=%" PRId64, value_ns);
	if (exchange_stage_value(&stages[STAGE_NETWORK], s, &value_ns))
		put_variable(e, "RANT_NETWORK_NS=%" PRId64, value_ns);
}

void report_environment(const struct report *r, const struct sample *s, uint64_t number,
			char text[REPORT_ENVIRONMENT_BYTES], char *environment[REPORT_ENVIRONMENT_MAX])
{
	static const char *const figures[] = { [FIGURE_RTT] = "rtt", [FIGURE_RESPONSE] = "response",
					       [FIGURE_NETWORK] = "network" };
	const struct options *o = r->options;
	const int times = o->role == ROLE_EMIT ? ALL_TIMES : TIMES;
	struct environment e = { text, text + REPORT_ENVIRONMENT_BYTES, environment };

	put_variable(&e, "RANT_ROLE=%s", o->role == ROLE_EMIT ? "emit" : "reflect");
	put_variable(&e, "RANT_INTERFACE=%s", o->interface);
	put_variable(&e, "RANT_NUMBER=%" PRIu64, number + 1);
	put_variable(&e, "RANT_SEQ=%" PRIu32, s->seq);
	put_variable(&e, "RANT_LATENCY_NS=%" PRId64, s->latency_ns);
	put_variable(&e, "RANT_THRESHOLD_NS=%" PRId64, o->threshold_ns);
	put_variable(&e, "RANT_THRESHOLD_ON=%s", o->role == ROLE_EMIT ? figures[o->threshold_on] : "response");
	put_figures(&e, r, s);
	for (int i = 0; i < times; i++) {
		char name[16], digit[32] = "";

		if (s->source[i] && !is_told_twice(r, i))
			put_variable(&e, "RANT_%s=%s", time_name(name, sizeof(name), r, i),
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
#define FLAGS_WIDTH 10
#define RULE_WIDTH 150
#define RULE_FULL_WIDTH (SEQ_WIDTH + ALL_TIMES * (TIME_WIDTH + 1) + 3 * (LATENCY_WIDTH + 1) + FLAGS_WIDTH + 1)
#define NUMBER_MAX_BYTES 20 /* of 64 bits, with a sign; what another host's times make of them may be anything */
#define LINE_MAX_BYTES (RULE_FULL_WIDTH + 3 * (NUMBER_MAX_BYTES - LATENCY_WIDTH) + 1)
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

/* Which of the times are columns: wire stamps if there are any, user-space ones if asked for or if they are all there is; in
 * a full log, of the other host all. */
static bool is_column(const struct report *r, int i)
{
	const struct options *o = r->options;
	const struct time_label *t = label_of(o->role, i);
	bool transmit = *t->direction == 't';

	if (i >= THERE)
		return !is_told_twice(r, i);
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

static char *put_word(char *at, const char *text, size_t width)
{
	*at++ = ' ';
	return pad(at, text, strlen(text), width);
}

static char *put_names(char *at, const struct report *r, int first)
{
	char name[16];

	for (int i = first; i < first + TIMES; i++)
		if (is_column(r, i))
			at = put_word(at, time_name(name, sizeof(name), r, i), TIME_WIDTH);
	return at;
}

static char *put_header(char *at, const struct report *r)
{
	const bool full = r->options->log_full;

	at = pad(at, "SEQ", 3, SEQ_WIDTH);
	at = put_names(at, r, 0);
	at = put_word(at, roles[r->options->role].latency, LATENCY_WIDTH);
	if (full) {
		at = put_names(at, r, THERE);
		at = put_word(at, "RESPONSE", LATENCY_WIDTH);
		at = put_word(at, "NETWORK", LATENCY_WIDTH);
		at = put_word(at, "FLAGS", FLAGS_WIDTH);
	}
	*at++ = '\n';
	memset(at, '-', full ? RULE_FULL_WIDTH : RULE_WIDTH);
	at += full ? RULE_FULL_WIDTH : RULE_WIDTH;
	*at++ = '\n';
	return at;
}

/* A number, or that there is none. */
static char *put_value(char *at, bool known, int64_t value_ns)
{
	char text[32], *end = text + sizeof(text), *start = end - 1;

	if (known)
		start = signed_digits(end, value_ns);
	else
		*start = '-';
	*at++ = ' ';
	return pad(at, start, (size_t)(end - start), LATENCY_WIDTH);
}

static char *put_times(char *at, const struct sample *s, const bool column[ALL_TIMES], int first)
{
	char text[32], *end = text + sizeof(text);

	for (int i = first; i < first + TIMES; i++) {
		char *start = end - 1;

		if (!column[i])
			continue;
		if (s->source[i])
			start = time_digits(end, s->time_ns[i]);
		else
			*start = '-';
		*at++ = ' ';
		at = pad(at, start, (size_t)(end - start), TIME_WIDTH);
	}
	return at;
}

/* The columns and the stages that a line is made of. */
struct line {
	bool column[ALL_TIMES], full;
	struct stage stages[STAGES];
};

static char *put_record(char *at, const struct sample *s, const struct line *line)
{
	char text[32], *end = text + sizeof(text), *start = digits(end, s->seq, 1);
	int64_t value_ns;
	bool known;

	at = pad(at, start, (size_t)(end - start), SEQ_WIDTH);
	at = put_times(at, s, line->column, 0);
	at = put_value(at, true, s->latency_ns);
	if (line->full) {
		at = put_times(at, s, line->column, THERE);
		known = exchange_stage_value(&line->stages[STAGE_RESPONSE], s, &value_ns);
		at = put_value(at, known, value_ns);
		known = exchange_stage_value(&line->stages[STAGE_NETWORK], s, &value_ns);
		at = put_value(at, known, value_ns);
		at = put_word(at, follow_ups[s->follow_up].flag, FLAGS_WIDTH);
	}
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
	struct line line = { .full = r->options->log_full };
	int error = 0;

	if (!chunk)
		return -ENOMEM;
	for (int i = 0; i < (line.full ? ALL_TIMES : TIMES); i++)
		line.column[i] = is_column(r, i);
	exchange_stages(r->options->role, options_on_wire(r->options), line.stages);
	at = put_header(chunk, r);
	for (uint64_t i = 0; i < r->log->used && !error; i++) {
		at = put_record(at, log_at(r->log, i), &line);
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
