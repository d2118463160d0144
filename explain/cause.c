// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cause of a breach.
 *
 * The typical times are means over the ordinary packets whose stage is in the central half of all of them: means of
 * parts sum to the mean of the stage, as medians would not, and the central half has no late packet.
 */
#include "explain/cause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACKETS_LEAST 8 /* for typical times */
#define PLACED_MAX_NS (20 * NS_PER_US) /* of an ordinary packet, whose parts are far smaller */

static const struct stage_row stages[] = {
	{ "nic_to_app", "NIC-to-app", STAGE_IS_RECEIVE, { 4, 2 }, { 4, 2 }, STAMP_HW, STAMP_SW },
	{ "nic_to_kernel", "NIC-to-kernel", STAGE_IS_RECEIVE, { 4, 2 }, { 4, 2 }, STAMP_HW, STAMP_KERNEL },
	{ "kernel_to_app", "Kernel-to-app", STAGE_IS_RECEIVE, { 4, 2 }, { 4, 2 }, STAMP_KERNEL, STAMP_SW },
	{ "app_processing", "App processing", STAGE_IS_APP, { 0, 2 }, { 0, 3 }, STAMP_SW, STAMP_SW },
	{ "app_to_nic", "App-to-NIC", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_SW, STAMP_HW },
	{ "app_to_kernel", "App-to-kernel", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_SW, STAMP_KERNEL },
	/* With --stages full. */
	{ "app_to_qdisc", "App-to-qdisc", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_SW, STAMP_QUEUE },
	{ "qdisc_to_driver", "Qdisc-to-driver", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_QUEUE, STAMP_DRIVER },
	{ "qdisc_to_kernel", "Qdisc-to-kernel", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_QUEUE, STAMP_KERNEL },
	{ "driver_to_nic", "Driver-to-NIC", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_DRIVER, STAMP_HW },
};

#define STAGE_ROWS (sizeof(stages) / sizeof(stages[0]))

/* ---- Owners of the whole stage ----------------------------------------------------------------------------------- */

/* Sums of one or of many packets. */
struct totals {
	int64_t section_ns[SECTIONS];
	struct owner_parts parts;
};

static void add_totals(struct totals *t, const struct section_time section[SECTIONS])
{
	for (int k = 0; k < SECTIONS; k++) {
		t->section_ns[k] += section[k].ns;
		for (int i = 0; i < section[k].parts.count; i++)
			owner_add(&t->parts, &section[k].parts.part[i].owner, section[k].parts.part[i].ns);
	}
}

/* The element of an owner; threads of the same name share one. The last element is of all others when the list is
 * full, so that the elements sum to the stage. */
static struct owner_excess *rank_of(struct cause *c, const struct owner *o)
{
	struct owner_excess *r = c->rank;

	while (r < c->rank + c->ranks && (r->owner.class != o->class || r->owner.name != o->name ||
					  (!owner_is_thread(o) && r->owner.number != o->number)))
		r++;
	if (r < c->rank + c->ranks)
		return r;
	if (c->ranks == CAUSE_RANKS)
		return r - 1;
	c->ranks++;
	*r = (struct owner_excess){ .owner = *o };
	r->owner.detail = 0;
	if (c->ranks == CAUSE_RANKS)
		r->owner = (struct owner){ .class = OWNER_OTHERS };
	return r;
}

static int by_excess(const void *a, const void *b)
{
	const struct owner_excess *x = a, *y = b;
	const int64_t dx = x->ns - x->typical_ns, dy = y->ns - y->typical_ns;

	return (dx < dy) - (dx > dy);
}

/* True if no part before part i is of the same task. */
static bool is_first(const struct owner_parts *p, int i)
{
	for (int k = 0; k < i; k++)
		if (owner_is_same(&p->part[k].owner, &p->part[i].owner, false))
			return false;
	return true;
}

/* Mean over the ordinary packets of a part that follows others of the given sum: the rounded means of all parts sum to
 * that of the whole. */
static int64_t mean_of_next(const struct cause *c, int64_t *sum_ns, int64_t ns)
{
	const int64_t n = (int64_t)c->packets, before_ns = *sum_ns / n;

	*sum_ns += ns;
	return *sum_ns / n - before_ns;
}

static void rank_owners(struct cause *c, const struct totals *late, const struct totals *usual)
{
	int64_t sum_ns = 0;

	for (int i = 0; i < late->parts.count; i++) {
		const struct owner_part *p = &late->parts.part[i];
		struct owner_excess *r = rank_of(c, &p->owner);

		r->ns += p->ns;
		r->tasks += is_first(&late->parts, i);
		if (p->owner.detail && r->owner.class != OWNER_OTHERS && p->ns > r->detail_ns) {
			r->owner.detail = p->owner.detail;
			r->detail_ns = p->ns;
		}
	}
	for (int i = 0; i < usual->parts.count && c->packets; i++) {
		const struct owner_part *p = &usual->parts.part[i];

		rank_of(c, &p->owner)->typical_ns += mean_of_next(c, &sum_ns, p->ns);
	}
	qsort(c->rank, (size_t)c->ranks, sizeof(*c->rank), by_excess);
}

static int64_t excess_of(const struct owner_excess *r)
{
	return r->ns - r->typical_ns;
}

/* An owner with at least half of the excess is the cause, else the two largest together. */
static void name_cause(struct cause *c)
{
	const int64_t excess_ns = c->ns - c->typical_ns;

	if (excess_ns <= 0 || excess_ns <= c->bound_ns || !c->ranks)
		return;
	for (int i = 0; i < c->ranks; i++)
		c->spread += excess_of(&c->rank[i]) > 0;
	if (2 * excess_of(&c->rank[0]) >= excess_ns)
		c->named = 1;
	else if (c->ranks > 1 && 2 * (excess_of(&c->rank[0]) + excess_of(&c->rank[1])) >= excess_ns)
		c->named = 2;
}

/* ---- Ordinary packets -------------------------------------------------------------------------------------------- */

static bool is_complete(const struct section_time section[SECTIONS])
{
	for (int k = 0; k < SECTIONS; k++)
		for (int i = 0; i < section[k].parts.count; i++)
			if (section[k].parts.part[i].owner.class <= OWNER_LOST)
				return false;
	return true;
}

/* Intervals of the ordinary packets that the buffer holds; returns their number. */
static size_t place_ordinary(const struct evidence *e, const struct stage_row *stage, struct placed *interval,
			     size_t *index)
{
	const int64_t begin_ns = e->text.count ? e->text.event[0].ns : INT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < e->packets; i++)
		if (walk_place(e, stage, &e->packet[i], &interval[n]) && interval[n].from_ns >= begin_ns &&
		    interval[n].to_ns <= e->text.breach.ns && interval[n].bound_ns <= PLACED_MAX_NS)
			index[n++] = i;
	return n;
}

static void quartiles(const struct placed *interval, size_t n, int64_t *low_ns, int64_t *high_ns)
{
	int64_t length[EVIDENCE_PACKETS_MAX + 1];

	for (size_t i = 0; i < n; i++)
		length[i] = interval[i].to_ns - interval[i].from_ns;
	qsort(length, n, sizeof(*length), compare_ns);
	*low_ns = length[n / 4];
	*high_ns = length[n - 1 - n / 4];
}

/* Sums over the packets in the central half; c->packets is their number. */
static void find_typical(struct cause *c, const struct owners *o, const struct evidence *e, struct totals *usual)
{
	struct placed *interval = calloc(EVIDENCE_PACKETS_MAX + 1, sizeof(*interval));
	size_t *index = calloc(EVIDENCE_PACKETS_MAX + 1, sizeof(*index)), n;
	struct section_time *section = calloc(SECTIONS, sizeof(*section));
	int64_t low_ns, high_ns, sum_ns = 0;

	n = interval && index && section ? place_ordinary(e, c->stage, interval, index) : 0;
	if (n >= PACKETS_LEAST) {
		quartiles(interval, n, &low_ns, &high_ns);
		for (size_t i = 0; i < n; i++) {
			const int64_t ns = interval[i].to_ns - interval[i].from_ns;

			if (ns < low_ns || ns > high_ns)
				continue;
			walk_stage(e, o, c->stage, &e->packet[index[i]], &interval[i], section);
			if (!is_complete(section))
				continue;
			add_totals(usual, section);
			c->packets++;
		}
	}
	free(interval);
	free(index);
	free(section);
	if (c->packets < PACKETS_LEAST / 2)
		c->packets = 0;
	for (int k = 0; k < SECTIONS && c->packets; k++) {
		c->section_typical_ns[k] = mean_of_next(c, &sum_ns, usual->section_ns[k]);
		c->typical_ns += c->section_typical_ns[k];
	}
}

/* ---- The breach -------------------------------------------------------------------------------------------------- */

static const struct stage_row *stage_named(const char *id)
{
	const size_t bytes = strlen(id) > 3 && !strcmp(id + strlen(id) - 3, "_ns") ? strlen(id) - 3 : strlen(id);

	for (size_t i = 0; i < STAGE_ROWS; i++)
		if (strlen(stages[i].id) == bytes && !strncmp(stages[i].id, id, bytes))
			return &stages[i];
	return NULL;
}

/* The longest stage of this host that can be placed. */
static const struct stage_row *longest_stage(const struct evidence *e, struct placed *i)
{
	const struct stage_row *longest = NULL;
	struct placed at;

	for (size_t k = 0; k < STAGE_ROWS; k++) {
		if (!walk_place(e, &stages[k], &e->breach, &at) ||
		    (longest && at.to_ns - at.from_ns <= i->to_ns - i->from_ns))
			continue;
		longest = &stages[k];
		*i = at;
	}
	return longest;
}

static int choose_stage(struct cause *c, const struct evidence *e, struct placed *i, char *why)
{
	const struct stamps *s = &e->breach;
	const bool by_nic = s->known[1][STAMP_HW] || s->known[2][STAMP_HW] || s->known[3][STAMP_HW] ||
			    s->known[4][STAMP_HW];

	c->stage = *e->blame ? stage_named(e->blame) : NULL;
	if (*e->blame && !c->stage)
		return evidence_refuse(why, EINVAL,
				       "the late stage is %s, which is not on this host: explain the trace of the "
				       "other host, saved there by a run with -t, -T and --save-trace", e->blame);
	if (c->stage && walk_place(e, c->stage, &e->breach, i))
		return 0;
	c->chosen = !c->stage;
	c->stage = c->stage ? NULL : longest_stage(e, i);
	if (c->stage)
		return 0;
	return evidence_refuse(why, EINVAL, "no stage of this host can be placed in the trace: %s",
			       !by_nic ? "measure with -s, which records the times of the program" :
			       e->hw_known ? "the times of the program are not in breach.json: they could not be "
			       "converted to the clock of the NIC, or -s was not given" :
			       "the relation of the NIC's clock is not in breach.json");
}

static void add_cpus(struct cause *c)
{
	for (int k = 0; k < SECTIONS; k++) {
		int i = 0;

		if (!c->section[k].there || c->section[k].cpu < 0 || !c->section[k].ns)
			continue;
		while (i < c->cpu_count && c->cpus[i] != c->section[k].cpu)
			i++;
		if (i == c->cpu_count && i < (int)(sizeof(c->cpus) / sizeof(c->cpus[0])))
			c->cpus[c->cpu_count++] = c->section[k].cpu;
	}
}

/* Counts the events that were lost on a CPU during the stage. The time of a loss ends at its event, and began at the
 * previous event of this CPU. Returns the time of the first event of the CPU; INT64_MAX: it has none. */
static int64_t add_lost(struct cause *c, const struct trace_text *t, int cpu)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = 0; i < t->count; i++) {
		const struct event *e = &t->event[i];

		if (e->cpu != cpu)
			continue;
		if (e->kind == EVENT_LOST && e->ns > c->from_ns && last_ns < c->from_ns + c->ns) {
			c->lost_cpu = c->lost ? c->lost_cpu : cpu;
			c->lost += cpu == c->lost_cpu ? (uint64_t)e->number : 0;
		}
		first_ns = first_ns < e->ns ? first_ns : e->ns;
		last_ns = e->ns;
	}
	return first_ns;
}

/* A CPU that is late to begin while nothing was overwritten had no event before. */
static void find_absent(struct cause *c, const struct evidence *e, const struct totals *late)
{
	const struct trace_text *t = &e->text;
	const bool overwritten = !t->lost_known || t->lost_before || t->dropped;
	int64_t begin_ns = t->count ? t->event[0].ns : c->from_ns;

	for (int i = 0; i < late->parts.count; i++)
		if (late->parts.part[i].owner.class <= OWNER_LOST)
			c->absent_ns += late->parts.part[i].ns;
	for (int i = 0; i < c->cpu_count; i++) {
		const int64_t first_ns = add_lost(c, t, c->cpus[i]);

		if (overwritten && c->absent_ns && first_ns > begin_ns && first_ns < t->breach.ns)
			begin_ns = first_ns;
	}
	c->missing_ns = begin_ns > c->from_ns ? begin_ns - c->from_ns : 0;
	c->held_ns = t->breach.ns - begin_ns;
}

int cause_cpu(const struct cause *c, const struct owner *o)
{
	int64_t most_ns = 0;
	int cpu = -1;

	for (int k = 0; k < SECTIONS && o->class != OWNER_WIRE; k++)
		for (int i = 0; i < c->section[k].parts.count; i++) {
			const struct owner_part *p = &c->section[k].parts.part[i];

			if (p->owner.class != o->class || p->owner.name != o->name || p->ns <= most_ns)
				continue;
			most_ns = p->ns;
			cpu = c->section[k].cpu;
		}
	return cpu;
}

int cause_find(struct cause *c, struct owners *o, const struct evidence *e, char why[CAUSE_REASON_BYTES])
{
	struct totals *late = calloc(1, sizeof(*late)), *usual = calloc(1, sizeof(*usual));
	struct placed i = { 0, 0, 0 };
	int error;

	*c = (struct cause){ .stage = NULL };
	error = owners_find(o, &e->text, e->text.breach.pid);
	if (!error && (!late || !usual))
		error = -ENOMEM;
	if (error)
		evidence_refuse(why, -error, "%s", strerror(-error));
	else
		error = choose_stage(c, e, &i, why);
	if (!error) {
		c->from_ns = i.from_ns;
		c->ns = i.to_ns - i.from_ns;
		c->bound_ns = i.bound_ns;
		walk_stage(e, o, c->stage, &e->breach, &i, c->section);
		add_totals(late, c->section);
		add_cpus(c);
		find_absent(c, e, late);
		find_typical(c, o, e, usual);
		rank_owners(c, late, usual);
		name_cause(c);
	}
	free(late);
	free(usual);
	return error;
}
