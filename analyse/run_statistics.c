// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds the histograms of a run to those of an outcome, without loss, because their buckets are equal. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "histogram.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"
#include "report/text/stage.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>

/* One statistic of one file. */
struct reading {
	const char *path, *name;
	const struct tree *tree;
	struct histogram *h;
	int64_t width_ns, limit_ns, samples, negative, counted, beyond, kept, not_kept;
	int64_t least_ns, most_ns; /* lower edges of the first and of the last bucket that is not empty */
	int64_t least_kept_ns, most_kept_ns; /* first and last of the samples that are kept to the nanosecond */
	__int128 sum, squares; /* of the lower edges */
};

static int refuse(const struct reading *f, const char *why)
{
	return run_refuse(f->path, f->name, why);
}

/* Values that an older version did not keep are not guessed. */
static int refuse_lack(const struct reading *f)
{
	warnx("%s: %s lacks %" PRId64 " samples above --overflow, which an older version did not keep: measure again",
	      f->path, f->name, f->not_kept);
	return -EINVAL;
}

/* ---- Buckets ----------------------------------------------------------------------------------------------------- */

/* Reads pairs in ascending order; a count of 0 is an error. */
static bool read_pair(const struct tree *list, size_t i, int64_t *value, int64_t *count)
{
	const struct tree *pair = tree_item(list, i);

	return tree_length(pair) == 2 && tree_integer(tree_item(pair, 0), value) &&
	       tree_integer(tree_item(pair, 1), count) && *value >= 0 &&
	       *count > 0 && *count <= RUN_COUNT_MAX;
}

static void add_to_sums(struct reading *f, int64_t value_ns, int64_t count)
{
	f->sum += (__int128)value_ns * count;
	f->squares += (__int128)value_ns * value_ns * count;
}

static int add_bucket(struct reading *f, int64_t start_ns, int64_t count)
{
	if (!histogram_fill(f->h, start_ns, (uint64_t)count))
		return refuse(f, "has more samples in a bucket than can be");
	if (!f->counted)
		f->least_ns = start_ns;
	f->most_ns = start_ns;
	f->counted += count;
	return 0;
}

static int add_buckets(struct reading *f, const struct tree *list)
{
	int64_t start_ns, count, before_ns = -1;
	int error = 0;

	for (size_t i = 0; i < tree_length(list) && !error; i++, before_ns = start_ns) {
		if (!read_pair(list, i, &start_ns, &count) || start_ns <= before_ns || start_ns % f->h->width_ns ||
		    start_ns >= f->limit_ns)
			return refuse(f, "has a bucket that is not valid");
		error = add_bucket(f, start_ns, count);
		add_to_sums(f, start_ns, count);
	}
	return error;
}

static int add_overflow_buckets(struct reading *f, const struct tree *list)
{
	int64_t start_ns, count, before_ns = -1;
	int error = 0;

	for (size_t i = 0; i < tree_length(list) && !error; i++, before_ns = start_ns) {
		if (!read_pair(list, i, &start_ns, &count) || start_ns <= before_ns || start_ns < f->limit_ns ||
		    histogram_edge_ns(f->h, start_ns) != start_ns)
			return refuse(f, "has an overflow bucket that is not valid");
		error = add_bucket(f, start_ns, count);
		f->beyond += count;
	}
	return error;
}

/* The samples that are known to the nanosecond. A file without overflow_buckets has all of them, or too few. */
static int add_overflow(struct reading *f, const struct tree *list, bool in_buckets)
{
	int64_t value_ns, count, before_ns = -1;
	int error = 0;

	for (size_t i = 0; i < tree_length(list) && !error; i++, before_ns = value_ns) {
		if (!read_pair(list, i, &value_ns, &count) || value_ns <= before_ns || value_ns < f->limit_ns)
			return refuse(f, "has an overflow that is not valid");
		/* Equal values beyond those that are kept change nothing. */
		for (int64_t k = 0; k < count && k < HISTOGRAM_OVERFLOW_STORE; k++)
			histogram_keep(f->h, value_ns);
		if (!in_buckets) {
			error = add_bucket(f, histogram_edge_ns(f->h, value_ns), count);
			f->beyond += count;
		}
		add_to_sums(f, value_ns, count);
		if (!f->kept)
			f->least_kept_ns = value_ns;
		f->most_kept_ns = value_ns;
		f->kept += count;
	}
	return error;
}

/* The values in `overflow` must be the largest of those in `overflow_buckets`: in each bucket all of them, but for the
 * bucket of the smallest. */
static bool agree(const struct reading *f, const struct tree *buckets, const struct tree *overflow)
{
	size_t b = tree_length(buckets), i = tree_length(overflow);
	int64_t edge_ns, in_bucket, value_ns, count;

	while (i && b && read_pair(buckets, --b, &edge_ns, &in_bucket)) {
		while (i && read_pair(overflow, i - 1, &value_ns, &count) &&
		       histogram_edge_ns(f->h, value_ns) == edge_ns && count <= in_bucket) {
			in_bucket -= count;
			i--;
		}
		if (in_bucket && i)
			return false;
	}
	return !i;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static bool is_exact(const struct reading *f)
{
	return f->width_ns == 1 && !f->not_kept;
}

/* Buckets are wider than a nanosecond, so the sums come from the file; the squares from its standard deviation,
 * which is rounded. */
static int take_sums(struct reading *f)
{
	const struct tree *sum = tree_member(f->tree, "sum_ns");
	int64_t sum_ns, mean_ns, deviation_ns;
	__int128 n = f->samples, mean, rest; /* sum = mean * n + rest */

	if (sum && (!tree_integer(sum, &sum_ns) || sum_ns < 0))
		return refuse(f, "has a sum_ns that is not valid");
	if (is_exact(f))
		return sum && (__int128)sum_ns != f->sum ? refuse(f, "has a sum_ns that is not that of its samples") :
		0;
	if (!run_count(tree_member(f->tree, "mean_ns"), &mean_ns) ||
	    !run_count(tree_member(f->tree, "stddev_ns"), &deviation_ns))
		return refuse(f, "has no mean_ns and stddev_ns");
	f->sum = sum ? (__int128)sum_ns : (__int128)mean_ns * f->samples;
	mean = f->sum / n;
	rest = f->sum % n;
	f->squares = (mean * mean + (__int128)deviation_ns * deviation_ns) * n + 2 * mean * rest + rest * rest / n;
	return 0;
}

static bool has_extreme(const struct reading *f, const char *ns_name, const char *seq_name, int64_t *ns, int64_t *seq)
{
	return tree_integer(tree_member(f->tree, ns_name), ns) && *ns >= 0 &&
	       tree_integer(tree_member(f->tree, seq_name), seq) &&
	       *seq >= 0 && *seq <= UINT32_MAX;
}

/* In the bucket that begins there; above the limit the largest is kept, and where all are kept the smallest too. */
static bool extremes_agree(const struct reading *f, int64_t min_ns, int64_t max_ns)
{
	return histogram_edge_ns(f->h, min_ns) == f->least_ns && histogram_edge_ns(f->h, max_ns) == f->most_ns &&
	       (max_ns < f->limit_ns || max_ns == f->most_kept_ns) &&
	       (min_ns < f->limit_ns || f->not_kept || min_ns == f->least_kept_ns);
}

static int take_extremes(struct reading *f)
{
	struct histogram *h = f->h;
	int64_t min_ns, max_ns, min_seq, max_seq;

	if (!has_extreme(f, "min_ns", "min_seq", &min_ns, &min_seq) ||
	    !has_extreme(f, "max_ns", "max_seq", &max_ns, &max_seq))
		return refuse(f, "has a min_ns or max_ns that is not valid");
	if (!extremes_agree(f, min_ns, max_ns))
		return refuse(f, "has a min_ns or max_ns that is not that of its samples");
	if (!h->count || min_ns < h->min_ns) {
		h->min_ns = min_ns;
		h->min_seq = (uint32_t)min_seq;
	}
	if (!h->count || max_ns > h->max_ns) {
		h->max_ns = max_ns;
		h->max_seq = (uint32_t)max_seq;
	}
	return 0;
}

static int take_numbers(struct reading *f)
{
	struct histogram *h = f->h;
	int64_t beyond;
	int error;

	h->negatives += (uint64_t)f->negative;
	h->overflows += (uint64_t)f->beyond;
	if (!tree_integer(tree_at(f->tree, "histogram.overflow_samples"), &beyond) || beyond != f->beyond ||
	    f->kept + f->not_kept != f->beyond || (f->not_kept && f->kept < HISTOGRAM_OVERFLOW_STORE) ||
	    f->counted != f->samples)
		return refuse(f, "has not as many samples in its histogram as it says");
	if (!f->samples)
		return 0;
	error = take_extremes(f);
	if (!error)
		error = take_sums(f);
	h->count += (uint64_t)f->samples;
	h->sum += f->sum;
	h->sum_of_squares += f->squares;
	return error;
}

/* ---- Which they are ---------------------------------------------------------------------------------------------- */

static int read_layout(struct reading *f, const struct options *o)
{
	const struct tree *t = tree_member(f->tree, "histogram");

	if (!tree_integer(tree_member(t, "bucket_ns"), &f->width_ns) ||
	    !tree_integer(tree_member(t, "overflow_from_ns"), &f->limit_ns) ||
	    f->width_ns < 1 || f->width_ns > 10 * NS_PER_S || f->limit_ns < 1 || f->limit_ns > 10 * NS_PER_S ||
	    (f->limit_ns + f->width_ns - 1) / f->width_ns > HISTOGRAM_BUCKETS_MAX)
		return refuse(f, "has a histogram that is not valid");
	if (!run_count(tree_member(f->tree, "samples"), &f->samples) ||
	    !run_count(tree_member(f->tree, "negative"), &f->negative) ||
	    !run_count(tree_member(t, "overflow_not_kept"), &f->not_kept))
		return refuse(f, "has a count of samples that is not valid");
	return f->limit_ns == o->overflow_ns ? 0 :
	       refuse(f, "has another overflow_from_ns than the latency, or than the other files");
}

static int add_metric(struct outcome *o, struct reading *f, struct histogram **pointer)
{
	const struct tree *t = tree_member(f->tree, "histogram");
	const struct tree *beyond = tree_member(t, "overflow_buckets");
	int error = read_layout(f, &o->options);

	if (error)
		return error;
	if (!beyond && f->not_kept)
		return refuse_lack(f);
	if (!f->h->low)
		error = outcome_assign(f->h, pointer, &o->options, f->width_ns);
	if (!error && f->h->width_ns != f->width_ns)
		error = refuse(f, "has another bucket_ns than the other files");
	if (!error)
		error = add_buckets(f, tree_member(t, "buckets"));
	if (!error)
		error = add_overflow_buckets(f, beyond);
	if (!error)
		error = add_overflow(f, tree_member(t, "overflow"), beyond);
	if (!error && beyond && !agree(f, beyond, tree_member(t, "overflow")))
		error = refuse(f, "has an overflow that is not in its overflow_buckets");
	if (!error)
		error = take_numbers(f);
	return error;
}

struct statistics {
	struct outcome *outcome;
	struct read_file *file;
	const char *latency;
};

static struct histogram *find_stage(struct outcome *o, const char *name, struct histogram ***pointer)
{
	struct stage stages[STAGES];

	stages_of_role(o->options.role, options_on_wire(&o->options), stages);
	for (int i = 0; i < STAGES; i++) {
		char own[JSON_NAME_BYTES];
		struct part p;

		if (stages[i].from == stages[i].to && stages[i].less_from == stages[i].less_to)
			continue;
		stage_name(&p, &o->report, &stages[i]);
		if (strcmp(json_name(own, sizeof(own), p.name, "_ns"), name))
			continue;
		*pointer = &o->result.stage[i];
		return &o->stage[i];
	}
	return NULL;
}

static struct histogram *find_histogram(struct outcome *o, const char *name, struct histogram ***pointer)
{
	static const char *const directions[] = { [ONE_WAY_FORWARD] = "forward_ns",
		[ONE_WAY_BACKWARD] = "backward_ns" };
	static const char *const planned[] = { [PLANNED_LATE] = "sent_late_ns", [PLANNED_RTT] = "rtt_from_slot_ns",
						[PLANNED_CALL] = "send_call_ns" };

	for (int i = 0; i < ONE_WAYS; i++) {
		*pointer = &o->result.one_way[i];
		if (!strcmp(name, directions[i]))
			return &o->one_way[i];
	}
	for (size_t i = 0; i < sizeof(planned) / sizeof(planned[0]); i++) {
		*pointer = &o->result.planned[i];
		if (!strcmp(name, planned[i]))
			return &o->planned[i];
	}
	*pointer = &o->result.poll_gaps.within;
	if (!strcmp(name, "poll_gap_ns"))
		return &o->poll_gaps;
	return find_stage(o, name, pointer);
}

static void raise_bound(struct optional *to, int64_t ns)
{
	if (ns > to->value || !to->known)
		*to = optional_of(ns);
}

/* Keeps the largest bound of all files. */
static void take_bound(struct outcome *o, const struct reading *f)
{
	struct result *result = &o->result;
	struct stage stages[STAGES];
	int64_t ns;

	if (!tree_integer(tree_member(f->tree, "within_ns"), &ns) || ns < 0)
		return;
	stages_of_role(o->options.role, options_on_wire(&o->options), stages);
	if (f->h == &o->latency && options_place_sent(&o->options))
		raise_bound(&result->bound_ns[BOUND_LOCAL], ns);
	for (int i = 0; i < STAGES; i++)
		if (f->h == &o->stage[i])
			raise_bound(&result->bound_ns[stages[i].bound], ns);
	if (f->h != &o->one_way[0] && f->h != &o->one_way[1])
		return;
	raise_bound(&result->one_way_bound_ns[0], ns);
	result->one_way_bound_ns[1] = (struct optional){ .known = false };
	if (o->read.files == 1 && tree_integer(tree_member(f->tree, "within_end_ns"), &ns) && ns >= 0)
		result->one_way_bound_ns[1] = optional_of(ns);
}

static int add_statistic(void *context, const char *name, const struct tree *t)
{
	struct statistics *s = context;
	struct outcome *o = s->outcome;
	struct reading f = { .path = s->file->path, .name = name, .tree = t };
	struct histogram **pointer = NULL;
	int error;

	if (!strcmp(name, s->latency))
		return 0;
	f.h = find_histogram(o, name, &pointer);
	if (!f.h) {
		char shown[JSON_NAME_BYTES];

		snprintf(shown, sizeof(shown), "%s", name);
		for (char *c = shown; *c; c++)
			*c = text_shown(*c);
		fprintf(o->notes, "  %s: has %s, which this rant does not know: ignored\n", s->file->path, shown);
		return 0;
	}
	error = add_metric(o, &f, pointer);
	if (!error)
		take_bound(o, &f);
	return error;
}

/* Source of the other host's timestamps, by the names of its times. */
static void find_remote(struct outcome *o, const struct tree *statistics)
{
	const char *formula = tree_text(tree_at(statistics, "response_ns.formula"));

	if (o->options.role != ROLE_EMIT || !formula || strncmp(formula, "T3_", 3))
		return;
	for (int i = SOURCE_USER; i < SOURCES; i++)
		if (!strncmp(formula + 3, label_stamps[i].suffix, strlen(label_stamps[i].suffix)))
			o->result.remote = (uint8_t)i;
	if (o->result.remote == SOURCE_KERNEL && strstr(formula, "- T2_HW"))
		o->result.remote = SOURCE_RECEIVE;
}

/* Only of a single file: blocks of several runs are not kept. */
static int read_confidence(struct outcome *o, const struct tree *root, const struct read_file *file)
{
	const struct tree *t = tree_member(root, "confidence"), *effective = tree_member(t, "effective_samples");
	struct confidence c = { 0 };
	int64_t blocks, block_s;

	o->result.confidence = c;
	if (file != o->read.file || !tree_is_object(t))
		return 0;
	if (!tree_integer(tree_member(t, "blocks"), &blocks) || blocks < CONFIDENCE_BLOCKS_LEAST || blocks > UINT16_MAX ||
	    !tree_integer(tree_member(t, "block_s"), &block_s) || block_s < 1 || block_s > UINT32_MAX ||
	    tree_length(effective) != PERCENTILES)
		return run_refuse(file->path, "confidence", "has values that are not valid");
	for (unsigned i = 0; i < PERCENTILES; i++)
		if (!tree_integer(tree_item(effective, i), &c.effective[i]) || c.effective[i] < 0 || c.effective[i] > INT64_C(1) << 52)
			return run_refuse(file->path, "confidence.effective_samples", "has values that are not valid");
	c.blocks = (unsigned)blocks;
	c.block_s = (unsigned)block_s;
	o->result.confidence = c;
	return 0;
}

/* Not known together if it differs between files. */
static int take_wire(struct outcome *o, const struct tree *root, const struct read_file *file)
{
	const struct tree *t = tree_member(root, "wire_time");
	struct wire *w = &o->result.wire;
	int64_t mbps = 0, bytes = 0, ns = 0;

	if (t && (!run_count(tree_member(t, "speed_mbps"), &mbps) || mbps < 1 || mbps > INT_MAX ||
		  !run_count(tree_member(t, "frame_bytes"), &bytes) || bytes < 64 || bytes > UINT16_MAX ||
		  !run_count(tree_member(t, "probe_ns"), &ns) || !ns))
		return run_refuse(file->path, "wire_time", "has values that are not valid");
	if (file == o->read.file)
		*w = (struct wire){ (int)mbps, (size_t)bytes, ns };
	else if (w->speed_mbps != mbps || w->frame_bytes != (size_t)bytes)
		*w = (struct wire){ 0 };
	return 0;
}

int run_add_statistics(struct outcome *o, const struct tree *root, struct read_file *file)
{
	struct statistics s = { o, file, o->options.role == ROLE_EMIT ? "rtt_ns" : "response_ns" };
	const struct tree *all = tree_member(root, "statistics"), *latency = tree_member(all, s.latency);
	struct reading f = { .path = file->path, .name = s.latency, .tree = latency, .h = &o->latency };
	int64_t limit_ns;
	int error;

	if (!latency)
		return run_refuse(file->path, s.latency, "is missing");
	if (file == o->read.file && tree_integer(tree_at(latency, "histogram.overflow_from_ns"), &limit_ns))
		o->options.overflow_ns = limit_ns;
	find_remote(o, all);
	error = read_confidence(o, root, file);
	if (!error)
		error = take_wire(o, root, file);
	if (!error)
		error = add_metric(o, &f, NULL);
	file->samples = (uint64_t)f.samples;
	if (!error && f.samples)
		tree_integer(tree_member(latency, "max_ns"), &file->max_ns);
	return error ? error : tree_each(all, add_statistic, &s);
}
