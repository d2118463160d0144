// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time line of a breach for a picture. All times are by the trace clock of this host; the stamps have those of
 * their own clock, too, so that two folders can be compared.
 */
#include "explain/timeline.h"

#include "explain/why.h"
#include "report/export/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAD_LEAST_NS 5000 /* of the window, before and after the times of the packet */
#define TEXT_BYTES 160

struct window {
	bool known;
	int64_t from_ns, to_ns; /* first and last time of the packet at this host */
	int64_t pad_ns; /* shown before and after it */
};

static bool is_own(const struct evidence *e, int n)
{
	return (n == 1 || n == 4) == (e->role == ROLE_EMIT);
}

/* ---- The packet -------------------------------------------------------------------------------------------------- */

static void put_stamps(struct json *j, const struct evidence *e, struct window *w)
{
	int64_t ns, bound_ns;
	char name[16];

	json_array(j, "stamps");
	for (int n = 1; n <= 4; n++)
		for (int kind = 0; kind < STAMP_KINDS; kind++) {
			const bool placed = is_own(e, n) && evidence_place(e, &e->breach, n, kind, &ns, &bound_ns);

			if (!e->breach.known[n][kind])
				continue;
			snprintf(name, sizeof(name), "T%d_%s", n, stamp_kinds[kind]);
			json_row(j, NULL);
			json_text(j, "name", name);
			json_integer(j, "own_ns", e->breach.ns[n][kind]);
			json_integer_if(j, "ns", placed, placed ? ns : 0);
			json_integer_if(j, "bound_ns", placed, placed ? bound_ns : 0);
			json_end(j);
			if (!placed)
				continue;
			w->from_ns = w->known && w->from_ns < ns ? w->from_ns : ns;
			w->to_ns = w->known && w->to_ns > ns ? w->to_ns : ns;
			w->known = true;
		}
	json_end(j);
}

/* The time nearest to the wire. */
static bool place_nearest(const struct evidence *e, const struct stamps *s, int n, int64_t *ns, int64_t *bound_ns)
{
	return evidence_place(e, s, n, STAMP_HW, ns, bound_ns) || evidence_place(e, s, n, STAMP_KERNEL, ns, bound_ns) ||
	       evidence_place(e, s, n, STAMP_SW, ns, bound_ns);
}

static void put_packet(struct json *j, const struct evidence *e, const struct stamps *s)
{
	const bool emit = e->role == ROLE_EMIT;
	int64_t sent_ns, received_ns, bound_ns, other_ns;

	if (s->other_run || !place_nearest(e, s, emit ? 1 : 3, &sent_ns, &bound_ns) ||
	    !place_nearest(e, s, emit ? 4 : 2, &received_ns, &other_ns))
		return;
	json_row(j, NULL);
	json_count(j, "seq", s->seq);
	json_integer(j, "sent_ns", sent_ns);
	json_integer(j, "received_ns", received_ns);
	json_integer(j, "bound_ns", bound_ns > other_ns ? bound_ns : other_ns);
	json_end(j);
}

static void put_packets(struct json *j, const struct evidence *e)
{
	json_array(j, "packets");
	for (size_t i = 0; i < e->packets; i++)
		put_packet(j, e, &e->packet[i]);
	put_packet(j, e, &e->breach);
	json_end(j);
}

/* ---- Owners ------------------------------------------------------------------------------------------------------ */

static void put_owner(struct json *j, const struct evidence *e, const struct owner *o)
{
	char name[CAUSE_NAME_BYTES];

	why_owner_name(name, e, o);
	json_text(j, "class", cause_words[o->class].id);
	json_text(j, "name", *name ? name : NULL);
	json_integer(j, "number", o->number);
	json_text(j, "function", o->detail ? trace_text_name(&e->text, o->detail) : NULL);
}

/* The spans of a CPU within the window. Returns the number that were left out. */
static uint64_t put_spans(struct json *j, const struct evidence *e, const struct timeline *t, const struct window *w,
			  unsigned *spans)
{
	const int64_t from_ns = w->from_ns - w->pad_ns, to_ns = w->to_ns + w->pad_ns;
	uint64_t left_out = 0;

	json_array(j, "spans");
	for (size_t i = 0; i < t->count; i++) {
		const int64_t begin_ns = t->span[i].from_ns, end_ns = i + 1 < t->count ? t->span[i + 1].from_ns : t->end_ns;
		const int64_t first_ns = begin_ns > from_ns ? begin_ns : from_ns, last_ns = end_ns < to_ns ? end_ns : to_ns;

		if (first_ns >= last_ns)
			continue;
		if (*spans == TIMELINE_SPANS_MAX) {
			left_out++;
			continue;
		}
		++*spans;
		json_row(j, NULL);
		json_integer(j, "from_ns", first_ns);
		json_integer(j, "to_ns", last_ns);
		put_owner(j, e, &t->span[i].owner);
		json_end(j);
	}
	json_end(j);
	return left_out;
}

static void put_cpus(struct json *j, const struct evidence *e, const struct owners *o, const struct window *w)
{
	unsigned spans = 0;
	uint64_t left_out = 0;

	json_array(j, "cpus");
	for (int cpu = 0; cpu < TRACE_TEXT_CPUS_MAX && w->known; cpu++) {
		if (!o->cpu[cpu].count)
			continue;
		json_object(j, NULL);
		json_integer(j, "cpu", cpu);
		left_out += put_spans(j, e, &o->cpu[cpu], w, &spans);
		json_end(j);
	}
	json_end(j);
	json_count(j, "spans_left_out", left_out);
}

/* ---- The late stage ---------------------------------------------------------------------------------------------- */

/* Sections in the order of time; their parts sum to them, without an order. */
static void put_sections(struct json *j, const struct evidence *e, const struct cause *c)
{
	int64_t at_ns = c->from_ns;

	json_array(j, "sections");
	for (int k = 0; k < SECTIONS; k++) {
		const struct section_time *s = &c->section[k];

		if (!s->there || !s->ns)
			continue;
		json_object(j, NULL);
		json_integer(j, "from_ns", at_ns);
		json_integer(j, "to_ns", at_ns + s->ns);
		json_integer_if(j, "cpu", s->cpu >= 0, s->cpu);
		json_array(j, "parts");
		for (int i = 0; i < s->parts.count; i++) {
			json_row(j, NULL);
			put_owner(j, e, &s->parts.part[i].owner);
			json_integer(j, "value_ns", s->parts.part[i].ns);
			json_end(j);
		}
		json_end(j);
		json_end(j);
		at_ns += s->ns;
	}
	json_end(j);
}

static void put_late(struct json *j, const struct evidence *e, const struct cause *c)
{
	if (!json_object_if(j, "late", c->stage))
		return;
	json_text(j, "name", c->stage->name);
	json_integer(j, "from_ns", c->from_ns);
	json_integer(j, "to_ns", c->from_ns + c->ns);
	json_integer(j, "bound_ns", c->bound_ns);
	json_bool(j, "longest", c->chosen);
	put_sections(j, e, c);
	json_end(j);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* What follows the words; ON_NOTHING: the words are the whole text. */
enum object { ON_NOTHING, ON_NAME, ON_NUMBER_NAME, ON_NUMBER, ON_TASK };

static const struct {
	const char *words;
	enum object object;
} phrases[] = {
	[EVENT_IRQ_ENTRY] = { "interrupt begins: irq", ON_NUMBER_NAME },
	[EVENT_IRQ_EXIT] = { "interrupt ends: irq", ON_NUMBER },
	[EVENT_VECTOR_ENTRY] = { "interrupt begins:", ON_NAME },
	[EVENT_VECTOR_EXIT] = { "interrupt ends:", ON_NAME },
	[EVENT_SOFTIRQ_RAISE] = { "softirq raised:", ON_NAME },
	[EVENT_SOFTIRQ_ENTRY] = { "softirq begins:", ON_NAME },
	[EVENT_SOFTIRQ_EXIT] = { "softirq ends:", ON_NAME },
	[EVENT_NMI] = { "NMI ends:", ON_NAME },
	[EVENT_SWITCH] = { "switches to", ON_TASK },
	[EVENT_WAKING] = { "wakes", ON_TASK },
	[EVENT_HRTIMER_ENTRY] = { "timer begins:", ON_NAME },
	[EVENT_HRTIMER_EXIT] = { "timer ends", ON_NOTHING },
	[EVENT_TIMER_ENTRY] = { "timer begins:", ON_NAME },
	[EVENT_TIMER_EXIT] = { "timer ends", ON_NOTHING },
	[EVENT_WORK_START] = { "work begins:", ON_NAME },
	[EVENT_WORK_END] = { "work ends:", ON_NAME },
	[EVENT_NAPI_POLL] = { "NAPI has polled", ON_NAME },
	[EVENT_RECEIVE] = { "a packet enters the stack from", ON_NAME },
	[EVENT_QUEUE] = { "a packet is queued at", ON_NAME },
	[EVENT_XMIT] = { "a packet is passed to the driver of", ON_NAME },
	[EVENT_DATA_READY] = { "a socket has data", ON_NOTHING },
	[EVENT_CONSUME] = { "a packet was read", ON_NOTHING },
};

/* False: an event without a meaning for a reader. */
static bool describe(char text[TEXT_BYTES], const struct trace_text *t, const struct event *v)
{
	const char *name = trace_text_name(t, v->name);
	const char *words = v->kind < sizeof(phrases) / sizeof(phrases[0]) ? phrases[v->kind].words : NULL;

	if (v->kind == EVENT_IDLE) {
		if (v->number < 0)
			snprintf(text, TEXT_BYTES, "leaves idle");
		else
			snprintf(text, TEXT_BYTES, "enters idle state %d", v->number);
		return true;
	}
	if (!words)
		return false;
	switch (phrases[v->kind].object) {
	case ON_NAME:
		snprintf(text, TEXT_BYTES, "%s %s", words, name);
		break;
	case ON_NUMBER_NAME:
		snprintf(text, TEXT_BYTES, "%s %d %s", words, v->number, name);
		break;
	case ON_NUMBER:
		snprintf(text, TEXT_BYTES, "%s %d", words, v->number);
		break;
	case ON_TASK:
		if (v->number)
			snprintf(text, TEXT_BYTES, "%s %s (%d)", words, name, v->number);
		else
			snprintf(text, TEXT_BYTES, "%s idle", words);
		break;
	default:
		snprintf(text, TEXT_BYTES, "%s", words);
	}
	return true;
}

/* The CPU with most time of the late stage; -1: there is none. */
static int late_cpu(const struct cause *c)
{
	int64_t most_ns = 0;
	int cpu = -1;

	for (int k = 0; k < SECTIONS; k++)
		if (c->section[k].there && c->section[k].ns > most_ns) {
			most_ns = c->section[k].ns;
			cpu = c->section[k].cpu;
		}
	return cpu;
}

static void put_events(struct json *j, const struct evidence *e, const struct cause *c, const struct window *w)
{
	const struct trace_text *t = &e->text;
	const int64_t end_ns = c->stage ? c->from_ns + c->ns : w->to_ns;
	const int late = late_cpu(c), own = e->text.breach.cpu;
	size_t chosen[TIMELINE_EVENTS];
	char text[TEXT_BYTES];
	int n = 0;

	for (size_t i = w->known ? trace_text_first(t, end_ns + 1) : 0; i > 0 && n < TIMELINE_EVENTS; i--)
		if ((t->event[i - 1].cpu == late || t->event[i - 1].cpu == own) && describe(text, t, &t->event[i - 1]))
			chosen[n++] = i - 1;
	json_array(j, "events");
	while (n-- > 0) {
		const struct event *v = &t->event[chosen[n]];

		describe(text, t, v);
		json_row(j, NULL);
		json_integer(j, "ns", v->ns);
		json_integer(j, "cpu", v->cpu);
		json_text(j, "task", v->pid ? trace_text_name(t, v->task) : "idle");
		json_integer(j, "pid", v->pid);
		json_text(j, "text", text);
		json_end(j);
	}
	json_end(j);
}

void timeline_write(struct json *j, const struct evidence *e, const struct owners *o, const struct cause *c)
{
	struct window w = { .known = false };

	json_object(j, "timeline");
	json_text(j, "role", role_name(e->role));
	json_text(j, "run", *e->run ? e->run : NULL);
	json_text(j, "interface", *e->interface ? e->interface : NULL);
	json_integer(j, "pid", e->text.breach.pid);
	json_integer(j, "cpu", e->text.breach.cpu);
	json_integer(j, "breach_ns", e->placed_ns);
	json_integer(j, "realtime_ns", e->realtime_ns);
	json_integer(j, "bound_ns", e->placed_bound_ns);
	json_integer(j, "resolution_ns", e->text.resolution_ns);
	json_bool(j, "cut_off", e->text.cut_off);
	put_stamps(j, e, &w);
	put_packets(j, e);
	w.pad_ns = (w.to_ns - w.from_ns) / 2 > PAD_LEAST_NS ? (w.to_ns - w.from_ns) / 2 : PAD_LEAST_NS;
	json_integer_if(j, "from_ns", w.known, w.from_ns - w.pad_ns);
	json_integer_if(j, "to_ns", w.known, w.to_ns + w.pad_ns);
	put_late(j, e, c);
	put_cpus(j, e, o, &w);
	put_events(j, e, c, &w);
	json_end(j);
}
