// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a run of logs: of one host, or of both hosts joined on SEQ. */
#include "analyse/logs.h"

#include "analyse/outcome.h"
#include "analyse/seconds.h"
#include "report/text/label.h"
#include "result/rules.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- Which numbers were seen ------------------------------------------------------------------------------------- */

/* One bit for each sequence number. Only pages with a bit set use memory. */
#define SEEN_BYTES ((size_t)1 << 29)

struct seen {
	uint8_t *bits;
	uint64_t again, different;
	uint32_t least, most; /* sequence numbers seen */
};

static int seen_open(struct seen *s)
{
	void *memory = mmap(NULL, SEEN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);

	*s = (struct seen){ .bits = memory == MAP_FAILED ? NULL : memory };
	if (s->bits)
		return 0;
	warnx("no memory to find duplicate sequence numbers (%zu octets)", SEEN_BYTES);
	return -ENOMEM;
}

/* True if this number was not seen before. */
static bool seen_note(struct seen *s, uint32_t seq)
{
	const uint8_t bit = (uint8_t)(1U << seq % 8);
	const bool first = !(s->bits[seq / 8] & bit);

	s->bits[seq / 8] |= bit;
	s->again += !first;
	s->least = !s->different || seq < s->least ? seq : s->least;
	s->most = !s->different || seq > s->most ? seq : s->most;
	s->different += first;
	return first;
}

/* Number of sequence numbers between the least and the most that were not seen. */
static uint64_t seen_missing(const struct seen *s)
{
	return s->different ? (uint64_t)s->most - s->least + 1 - s->different : 0;
}

static void seen_close(struct seen *s)
{
	munmap(s->bits, SEEN_BYTES);
}

struct halves;

/* ---- One end ----------------------------------------------------------------------------------------------------- */

/* Collects each stage whose times have columns. Times reported by replies have their own columns in a full log. */
static bool is_collected(const struct stage *s, const bool has[ALL_TIMES], bool on_wire)
{
	/* With --stamp user the latency itself is between times of the program, so this host has no stages. */
	return (!s->user || s->peer || on_wire) && (s->from != s->to || s->less_from != s->less_to) && has[s->from] &&
	       has[s->to] && has[s->less_from] && has[s->less_to];
}

/* The same capacities as in measure/run_buffers.c, so that the report has the same lines. */
static int open_histograms(struct outcome *o, const bool has[ALL_TIMES], enum source remote)
{
	struct result *result = &o->result;
	int error = outcome_assign(&o->latency, NULL, &o->options, 1);

	result->remote = (uint8_t)remote;
	stages_of_role(o->options.role, options_on_wire(&o->options), result->stages);
	for (int i = 0; i < STAGES && !error; i++) {
		const bool reported = options_joined(&o->options) && (i == STAGE_RESPONSE || i == STAGE_NETWORK);

		if (reported || is_collected(&result->stages[i], has, options_on_wire(&o->options)))
			error = outcome_assign(&o->stage[i], &result->stage[i], &o->options, 1);
	}
	return error;
}

static void add_stages(struct outcome *o, const struct sample *s, const struct log_read *reported)
{
	const struct result *result = &o->result;

	for (int i = 0; i < STAGES; i++) {
		const bool by_column = reported && reported->names.full && (i == STAGE_RESPONSE || i == STAGE_NETWORK);
		bool known;
		int64_t ns;

		if (!result->stage[i])
			continue;
		known = stages_value(&result->stages[i], s, &ns);
		if (by_column) {
			known = reported->reported[i == STAGE_NETWORK];
			ns = reported->reported_ns[i == STAGE_NETWORK];
		}
		if (known)
			histogram_add(result->stage[i], ns, s->seq);
	}
}

/* from: index of the first time of the latency. */
static void add_spike(struct result *result, const struct sample *s, uint8_t from)
{
	if (s->source[from] && s->latency_ns >= 0)
		spikes_add(&result->spikes, s->latency_ns, s->time_ns[from]);
}

/* reported: response and network as in the log; NULL: computed from the times. */
static void add_sample(struct outcome *o, const struct sample *s, struct read_file *f, const struct log_read *reported)
{
	struct result *result = &o->result;

	histogram_add(&o->latency, s->latency_ns, s->seq);
	if (!f->samples++ || s->latency_ns > f->max_ns)
		f->max_ns = s->latency_ns;
	/* Each session of a reflector has its own sequence numbers, and a log does not name the session. */
	if (o->options.role == ROLE_EMIT)
		ipdv_add(&o->rtt_ipdv, s->latency_ns, s->seq, SOURCE_USER);
	add_stages(o, s, reported);
	counter_add(&result->account.follow_up[s->follow_up], 1);
}

static void note_time(struct read_file *f, const struct sample *s, uint8_t to)
{
	if (f->is_timed || !s->source[to])
		return;
	f->is_timed = true;
	f->first_stamp_ns = s->time_ns[to];
}

static void print(struct outcome *o, const struct log_read *l, const struct seen *seen, struct read_file *f)
{
	f->left_out = l->left_out;
	f->stamps_changed = l->stamps_changed;
	if (l->left_out)
		fprintf(o->notes, "  %s: %s%" PRIu64 " more samples were left out of it while it was written\n",
			l->path,
			l->at_least ? "at least " : "", l->left_out);
	/* In the log of a reflector the numbers may be those of several emitters. */
	if (l->names.role == ROLE_EMIT && seen_missing(seen))
		fprintf(o->notes,
			"  %s: %" PRIu64 " sequence numbers between its first and its last have no record: lost, "
					 "without stamps, or left out\n",
			l->path, seen_missing(seen));
	if (seen->again)
		fprintf(o->notes, "  %s: %" PRIu64 " records have a sequence number that was there before\n", l->path,
			seen->again);
}

static void join_sample(struct halves *h, struct sample *s, bool first);

/* Adds each record of a log. halves: records of the reflector to join with; NULL: none. */
static int add_log(struct outcome *o, struct log_read *l, struct read_file *f, struct halves *h)
{
	struct sample s;
	struct seen seen;
	int found = seen_open(&seen);

	if (found)
		return found;
	if (o->seconds)
		seconds_next_log(o->seconds);
	while ((found = log_read_next(l, &s)) > 0) {
		if (found == LOG_READ_REPEATED)
			continue;
		const bool first = seen_note(&seen, s.seq);

		note_time(f, &s, l->names.to);
		if (h)
			join_sample(h, &s, first);
		add_sample(o, &s, f, h ? NULL : l);
		add_spike(&o->result, &s, l->names.from);
		if (o->seconds)
			seconds_add(o->seconds, &s, l->names.to);
		if (o->seconds && f->samples == 1)
			f->run = o->seconds->again.run;
	}
	print(o, l, &seen, f);
	seen_close(&seen);
	return found;
}

/* Sets the options of the outcome to those that the logs imply. */
static int begin(struct outcome *o, const bool has[ALL_TIMES], enum source remote)
{
	int error = open_histograms(o, has, remote);

	if (!error && o->seconds)
		seconds_begin(o->seconds, true);
	return error;
}

static bool is_same_kind(const struct log_names *a, const struct log_names *b)
{
	return a->role == b->role && a->stamp == b->stamp && a->remote == b->remote && a->full == b->full &&
	       a->from == b->from &&
	       !memcmp(a->has, b->has, sizeof(a->has));
}

int logs_add(struct outcome *o, struct log_read *log, unsigned logs)
{
	int error;

	for (unsigned i = 1; i < logs; i++) {
		if (is_same_kind(&log[0].names, &log[i].names))
			continue;
		warnx("%s and %s: have different columns, by role or timestamps: give logs of one kind, or both logs "
		      "of one run",
		      log[0].path, log[i].path);
		return -EINVAL;
	}
	log_names_options(&log[0].names, &o->options);
	o->result.spikes.of_several = logs > 1;
	error = begin(o, log[0].names.has, log[0].names.remote);
	for (unsigned i = 0; i < logs && !error; i++) {
		o->read.file[i].role = log[i].names.role;
		error = add_log(o, &log[i], &o->read.file[i], NULL);
	}
	return error;
}

/* ---- Both ends --------------------------------------------------------------------------------------------------- */

/* The reflector's times of a packet. */
struct half {
	uint32_t seq;
	uint8_t source[TIMES];
	bool again; /* several records have this number, so the partner is not known */
	bool is_note; /* not a record: the reflector received this number again, perhaps without another record */
	int64_t time_ns[TIMES];
};

struct halves {
	struct half *half;
	size_t halves, space, next;
	uint64_t used, again, contrary, other;
};

static int compare_halves(const void *a, const void *b)
{
	const struct half *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int add_half(struct halves *h, const struct sample *s, bool on_wire)
{
	if (h->halves == h->space) {
		const size_t space = h->space ? 2 * h->space : 4096;
		struct half *more = realloc(h->half, space * sizeof(*more));

		if (!more) {
			warnx("no memory for the %zu records of the reflector's log, which is held as a whole: %zu MB "
			      "are needed", space,
			      space * sizeof(*more) >> 20);
			return -ENOMEM;
		}
		h->half = more;
		h->space = space;
	}
	struct half *one = &h->half[h->halves++];

	*one = (struct half){ .seq = s->seq };
	memcpy(one->source, s->source, sizeof(one->source));
	memcpy(one->time_ns, s->time_ns, sizeof(one->time_ns));
	if (on_wire)
		return 0;
	/* With --stamp user the latency is between times of the program. */
	one->source[REFLECT_T2_WIRE] = one->source[REFLECT_T2_USER];
	one->source[REFLECT_T3_WIRE] = one->source[REFLECT_T3_USER];
	one->time_ns[REFLECT_T2_WIRE] = one->time_ns[REFLECT_T2_USER];
	one->time_ns[REFLECT_T3_WIRE] = one->time_ns[REFLECT_T3_USER];
	return 0;
}

static void order(struct halves *h)
{
	for (size_t i = 1; i < h->halves; i++) {
		if (h->half[i - 1].seq <= h->half[i].seq)
			continue;
		qsort(h->half, h->halves, sizeof(*h->half), compare_halves);
		break;
	}
	for (size_t i = 1; i < h->halves; i++)
		if (h->half[i - 1].seq == h->half[i].seq)
			h->half[i - 1].again = h->half[i].again = true;
	for (size_t i = 0; i < h->halves; i++)
		h->again += h->half[i].again && !h->half[i].is_note;
}

static int read_halves(struct halves *h, struct log_read *l, struct read_file *f)
{
	const bool on_wire = l->names.from == REFLECT_T2_WIRE;
	struct sample s;
	int found;

	while ((found = log_read_next(l, &s)) > 0) {
		const bool repeated = found == LOG_READ_REPEATED;

		found = add_half(h, &s, on_wire);
		if (found)
			return found;
		h->half[h->halves - 1].again = h->half[h->halves - 1].is_note = repeated;
		if (repeated)
			continue;
		note_time(f, &s, l->names.to);
		if (!f->samples++ || s.latency_ns > f->max_ns)
			f->max_ns = s.latency_ns;
	}
	order(h);
	return found;
}

/* Both logs are nearly in order, so the record after the last match is tried first. */
static struct half *find_half(struct halves *h, uint32_t seq)
{
	const struct half key = { .seq = seq };
	struct half *one = h->next < h->halves && h->half[h->next].seq == seq ? &h->half[h->next] :
			   h->halves ? bsearch(&key, h->half, h->halves, sizeof(key), compare_halves) : NULL;

	if (one)
		h->next = (size_t)(one - h->half) + 1;
	return one;
}

/* Times of the reflector in the emitter's log come from the same reply, so they must be equal to its own log. */
static bool is_partner(const struct sample *s, const struct half *one)
{
	const unsigned t2 = REMOTE + REFLECT_T2_WIRE;

	return !s->source[t2] || s->source[t2] != one->source[REFLECT_T2_WIRE] ||
	       s->time_ns[t2] == one->time_ns[REFLECT_T2_WIRE];
}

static bool find_partner(struct halves *h, struct sample *s)
{
	struct half *one = find_half(h, s->seq);

	if (!one || one->again)
		return false;
	if (!is_partner(s, one)) {
		h->other++;
		return false;
	}
	memcpy(s->source + REMOTE, one->source, sizeof(one->source));
	memcpy(s->time_ns + REMOTE, one->time_ns, sizeof(one->time_ns));
	if (s->source[REMOTE + REFLECT_T2_WIRE] && s->source[REMOTE + REFLECT_T3_WIRE] && !rules_is_response(s, 0)) {
		h->contrary++;
		return false;
	}
	h->used++;
	return true;
}

/* first: the first record with this number. */
static void join_sample(struct halves *h, struct sample *s, bool first)
{
	const bool joined = first && find_partner(h, s);

	s->follow_up = joined ? FOLLOW_UP_THERE : FOLLOW_UP_LOST;
	if (joined)
		return;
	for (int i = REMOTE; i < ALL_TIMES; i++)
		if (time_is_remote(i))
			s->source[i] = SOURCE_NONE;
}

static void print_joined(struct outcome *o, const struct halves *h, const struct log_read *e, const struct log_read *r)
{
	fprintf(o->notes,
		"  Joined on SEQ: %" PRIu64 " pairs; without a partner: %" PRIu64 " of the emitter's, %" PRIu64
		" of the reflector's\n",
		h->used, e->records - h->used, r->records - h->used);
	if (h->again)
		fprintf(o->notes,
			"  %s: %" PRIu64 " records have a sequence number that was received more than once, and are "
					 "not joined\n", r->path, h->again);
	if (h->other)
		fprintf(o->notes, "  %" PRIu64 " numbers have different times in the two logs, and are not joined\n",
			h->other);
	if (h->contrary)
		fprintf(o->notes, "  %" PRIu64 " responses are longer than their round trip, and are not joined\n",
			h->contrary);
	fprintf(o->notes, "  The reflector's log is held in memory: %zu kB\n", h->halves * sizeof(*h->half) >> 10);
}

int logs_join(struct outcome *o, struct log_read *e, struct log_read *r, struct read_file *emitter_file,
	      struct read_file *reflector_file)
{
	const bool on_wire = r->names.from == REFLECT_T2_WIRE;
	const struct seen none = { .again = 0 };
	struct halves h = { .half = NULL };
	bool has[ALL_TIMES];
	int error;

	memcpy(has, e->names.has, sizeof(has));
	memcpy(has + REMOTE, r->names.has, TIMES);
	has[REMOTE + REFLECT_T2_WIRE] = has[REMOTE + REFLECT_T3_WIRE] = true;
	if (!on_wire)
		has[REMOTE + REFLECT_T2_USER] = has[REMOTE + REFLECT_T3_USER] = false;
	log_names_options(&e->names, &o->options);
	o->options.plain = false;
	emitter_file->role = ROLE_EMIT;
	reflector_file->role = ROLE_REFLECT;
	error = begin(o, has, on_wire ? r->names.stamp : SOURCE_USER);
	if (!error)
		error = read_halves(&h, r, reflector_file);
	if (!error)
		error = add_log(o, e, emitter_file, &h);
	if (!error && e->records && r->records && !h.used) {
		warnx("%s and %s: no record of the first belongs to the second: give both logs of one run", e->path,
		      r->path);
		error = -EINVAL;
	}
	print(o, r, &none, reflector_file);
	print_joined(o, &h, e, r);
	free(h.half);
	return error;
}
