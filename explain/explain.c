// SPDX-License-Identifier: GPL-2.0-or-later
/* --explain, and the causes of the saved traces after a run. */
#include "explain/explain.h"

#include "explain/text.h"
#include "explain/timeline.h"
#include "explain/why.h"
#include "report/export/json_parts.h"
#include "report/log/log_file.h"
#include "report/text/causes.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- One folder -------------------------------------------------------------------------------------------------- */

struct explained {
	struct evidence evidence;
	struct owners owners;
	struct cause cause;
};

/* Explains a folder into *w, which has the reason if that is not possible. The result is freed by finish(); NULL: the
 * folder cannot be read. */
static struct explained *begin(const char *folder, struct why *w)
{
	struct explained *x = calloc(1, sizeof(*x));
	char reason[CAUSE_REASON_BYTES] = "";
	int error;

	if (!x) {
		evidence_refuse(w->not_explained, ENOMEM, "%s", strerror(ENOMEM));
		return NULL;
	}
	error = evidence_open(&x->evidence, folder, reason);
	if (!error) {
		if (!cause_find(&x->cause, &x->owners, &x->evidence, reason))
			why_take(w, &x->cause, &x->evidence);
		else
			memcpy(w->not_explained, reason, sizeof(w->not_explained));
		return x;
	}
	memcpy(w->not_explained, reason, sizeof(w->not_explained));
	evidence_close(&x->evidence);
	free(x);
	return NULL;
}

static void finish(struct explained *x)
{
	if (!x)
		return;
	owners_free(&x->owners);
	evidence_close(&x->evidence);
	free(x);
}

void explain_folder(struct why *w, const char *folder)
{
	*w = (struct why){ .not_explained = "" };
	finish(begin(folder, w));
}

static void print_reason(const char *folder, const struct why *w)
{
	warnx("--explain %s: %s", folder, w->not_explained);
}

/* The text has microseconds only. */
static void print_no_pages(const char *folder, const struct explained *x)
{
	if (*x->evidence.no_pages)
		warnx("--explain %s: times +- 1 us: %s", folder, x->evidence.no_pages);
}

/* ---- After a run ------------------------------------------------------------------------------------------------- */

struct limits {
	int64_t end_ns; /* CLOCK_MONOTONIC */
	const _Atomic int *stop;
	int stop_before;
};

/* False: no further trace is explained; w has the reason. */
static bool is_within(const struct limits *l, struct why *w)
{
	if (*l->stop != l->stop_before)
		snprintf(w->not_explained, sizeof(w->not_explained), "left out after a signal");
	else if (clock_read_ns(CLOCK_MONOTONIC) >= l->end_ns)
		snprintf(w->not_explained, sizeof(w->not_explained),
			 "left out: explaining newer traces took %d s", (int)(EXPLAIN_LIMIT_NS / NS_PER_S));
	return !*w->not_explained;
}

static const struct trace_kept *kept_trace(const struct result *r, uint64_t i)
{
	return &r->trace.kept[i % TRACES_KEPT];
}

/* Adds trace number i of the run to the list. */
static struct why *add_trace(struct result *r, uint64_t i)
{
	struct why *w = &r->causes->why[r->causes->whys++];

	*w = (struct why){ .seq = kept_trace(r, i)->seq, .latency_ns = kept_trace(r, i)->latency_ns };
	return w;
}

static void set_path(char path[PATH_MAX], const struct result *r, uint64_t i)
{
	snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 2 * (int)sizeof(kept_trace(r, i)->name),
		 r->options->save_trace_path, kept_trace(r, i)->name);
}

/* Explains trace number i. NULL: it is not explained. */
static struct explained *explain_trace(struct result *r, uint64_t i, struct why *w)
{
	const struct trace_kept *kept = kept_trace(r, i);
	struct explained *x;
	char path[PATH_MAX];

	set_path(path, r, i);
	x = begin(path, w);
	if (!x || (!*w->not_explained && w->seq == kept->seq && w->latency_ns == kept->latency_ns))
		return x;
	finish(x);
	if (*w->not_explained)
		return NULL;
	*w = (struct why){ .seq = kept->seq, .latency_ns = kept->latency_ns,
			   .not_explained = "the last marker in all.txt is of another packet" };
	return NULL;
}

/* The newest first, because --json has the last breaches. The last trace is explained by its caller. */
static void explain_earlier(struct result *r, const _Atomic int *stop)
{
	const uint64_t last = r->trace.saves - 1, first = last >= TRACES_KEPT ? last - (TRACES_KEPT - 1) : 0;
	const struct limits l = { clock_read_ns(CLOCK_MONOTONIC) + EXPLAIN_LIMIT_NS, stop, *stop };

	for (uint64_t i = last; i-- > first;) {
		struct why *w = add_trace(r, i);

		if (is_within(&l, w))
			finish(explain_trace(r, i, w));
		causes_count(r->causes, w);
	}
	causes_count_not_explained(r->causes, first);
}

static void write_run(FILE *out, const struct result *r, const struct explained *x, const struct why *w)
{
	char also[128] = "", path[PATH_MAX];

	causes_add_same(also, sizeof(also), r, w);
	set_path(path, r, r->trace.saves - 1);
	if (x || r->causes->traces > 1)
		fputs("\n", out);
	if (x) {
		explain_write(out, &x->cause, &x->evidence, also);
		print_no_pages(path, x);
	} else {
		print_reason(path, w);
	}
	causes_write(out, r);
}

void explain_run(struct result *r, FILE *out, const _Atomic int *stop)
{
	const struct options *o = r->options;
	struct explained *x;
	struct why *w;

	if (!r->trace.saves || (!out && !o->json_path && !o->prometheus_path))
		return;
	r->causes = calloc(1, sizeof(*r->causes));
	if (!r->causes) {
		warnx("no memory for the causes of the breaches: rant --explain finds them in %s", o->save_trace_path);
		return;
	}
	explain_earlier(r, stop);
	w = add_trace(r, r->trace.saves - 1);
	x = explain_trace(r, r->trace.saves - 1, w);
	causes_count(r->causes, w);
	causes_sort(r->causes);
	if (out)
		write_run(out, r, x, w);
	finish(x);
}

/* ---- --explain --------------------------------------------------------------------------------------------------- */

/* The folder is the only evidence of a breach: it is not overwritten. */
static int refuse_evidence(const char *folder, const char *json_path)
{
	static const char *const names[] = { "all.txt", "breach.json" };
	char path[PATH_MAX];
	struct stat from, to;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - 32, folder, names[i]);
		if (stat(path, &from) || stat(json_path, &to) || from.st_dev != to.st_dev || from.st_ino != to.st_ino)
			continue;
		warnx("--json %s: is an input file: give another path", json_path);
		return -EINVAL;
	}
	return 0;
}

static int write_json(struct log_file *file, const struct why *w, const struct explained *x, const char *folder)
{
	static struct json j;

	json_begin(&j, log_file_put, file, false);
	json_object(&j, NULL);
	json_origin(&j);
	json_text(&j, "folder", folder);
	json_count(&j, "seq", x->evidence.breach.seq);
	json_integer(&j, "latency_ns", x->evidence.latency_ns);
	json_why(&j, "why", w);
	timeline_write(&j, &x->evidence, &x->owners, &x->cause);
	json_end(&j);
	json_finish(&j);
	return log_file_finish(file);
}

static int write_text(FILE *out, const char *folder, const struct explained *x)
{
	explain_write(out, &x->cause, &x->evidence, "");
	print_no_pages(folder, x);
	if (!fflush(out) && !ferror(out))
		return 0;
	warnx("--explain %s: cannot be written: %s", folder, strerror(errno));
	return -EIO;
}

int explain_main(const struct options *o)
{
	FILE *out = o->json_path && log_file_is_stdout(o->json_path) ? stderr : stdout;
	struct log_file file = { .fd = -1 };
	struct why w = { .not_explained = "" };
	struct explained *x;
	int error = o->json_path ? refuse_evidence(o->explain_path, o->json_path) : 0;

	signal(SIGPIPE, SIG_IGN); /* a closed pipe is reported as an error of write(), and no partial file is left */
	if (!error && o->json_path)
		error = log_file_open_of(&file, "json", o->json_path);
	if (error)
		return error;
	x = begin(o->explain_path, &w);
	if (*w.not_explained)
		print_reason(o->explain_path, &w);
	else if (!o->quiet)
		error = write_text(out, o->explain_path, x);
	/* Without a cause the times and events are still valid. */
	if (!error && x && o->json_path)
		error = write_json(&file, &w, x, o->explain_path);
	log_file_discard(&file);
	finish(x);
	return error ? error : *w.not_explained ? -EINVAL : 0;
}
