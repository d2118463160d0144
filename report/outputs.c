// SPDX-License-Identifier: GPL-2.0-or-later
/* The files that a run writes. */
#include "report/outputs.h"

#include "doctor/check.h"
#include "doctor/finding.h"
#include "host/patience.h"
#include "host/rights.h"
#include "options.h"
#include "report/hgrm.h"
#include "report/json_parts.h"
#include "report/report.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- Which there are ------------------------------------------------------------------------------------------------- */

struct output {
	const char *option, *path; /* NULL: not asked for */
	const struct log_file *file; /* NULL: a new one is made each time */
};

#define OUTPUTS 6
#define LOOK_NS (100 * NS_PER_MS) /* so often what is told while the run goes on is looked at */
#define TAKEN_AT_ONCE 1024

static void list_outputs(const struct outputs *o, struct output list[OUTPUTS])
{
	const struct options *from = o->report->options;
	const struct output all[OUTPUTS] = {
		{ "log", from->log_path, &o->log.file },
		{ "json", from->json_path, &o->json },
		{ "jsonl", from->jsonl_path, &o->lines_file },
		{ "hgrm", from->hgrm_path, &o->hgrm },
		{ "hlog", from->hlog_path, &o->hlog_file },
		{ "prometheus", from->prometheus_path, NULL },
	};

	memcpy(list, all, sizeof(all));
}

/* The name of a file in a folder that has one name. */
static void real_name(char name[PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	char folder[PATH_MAX], real[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(file - path) : 1, slash ? path : ".");
	if (!realpath(folder, real) || snprintf(name, PATH_MAX, "%s/%s", strcmp(real, "/") ? real : "", file) >= PATH_MAX)
		snprintf(name, PATH_MAX, "%s", path);
}

/* To a device such as /dev/null any number may write. */
static bool is_shared(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISCHR(s.st_mode);
}

static bool is_same(const char *a, const char *b)
{
	char one[PATH_MAX], other[PATH_MAX];

	if (log_file_is_stdout(a) || log_file_is_stdout(b))
		return log_file_is_stdout(a) && log_file_is_stdout(b);
	real_name(one, a);
	real_name(other, b);
	return !strcmp(one, other) && !is_shared(a);
}

static int refuse_same(const struct output list[OUTPUTS])
{
	for (int i = 0; i < OUTPUTS; i++) {
		for (int k = 0; k < i; k++) {
			if (!list[i].path || !list[k].path || !is_same(list[i].path, list[k].path))
				continue;
			warnx("--%s %s with --%s %s: both would write to the same place: give each a file of its own", list[k].option,
			      list[k].path, list[i].option, list[i].path);
			return -EINVAL;
		}
	}
	return 0;
}

/* ---- Before the run -------------------------------------------------------------------------------------------------- */

static int open_files(struct outputs *o, struct log *log)
{
	const struct options *from = o->report->options;
	int error = log_writer_open(&o->log, o->report, log);

	if (!error && from->json_path)
		error = log_file_open_of(&o->json, "json", from->json_path);
	if (!error && from->hgrm_path)
		error = log_file_open_of(&o->hgrm, "hgrm", from->hgrm_path);
	if (!error && from->jsonl_path)
		error = log_file_open_of(&o->lines_file, "jsonl", from->jsonl_path);
	if (!error && from->hlog_path)
		error = log_file_open_of(&o->hlog_file, "hlog", from->hlog_path);
	if (!error && from->prometheus_path)
		error = prometheus_open(&o->prometheus, o->report, &o->tally);
	return error;
}

static bool tells_seconds(const struct outputs *o)
{
	return o->json.path || o->lines_file.path || o->hlog_file.path;
}

static bool tells_meanwhile(const struct outputs *o)
{
	return tells_seconds(o) || o->prometheus.report;
}

static int open_tally(struct outputs *o)
{
	o->tally.value = calloc(TALLY_VALUES, sizeof(*o->tally.value));
	if (o->tally.value)
		return 0;
	warnx("no memory for what is told while the run goes on");
	return -ENOMEM;
}

/* What is told while the run goes on, and who tells of it. */
static int open_tellers(struct outputs *o)
{
	int error = tells_meanwhile(o) ? open_tally(o) : 0;

	if (!error && tells_seconds(o))
		error = second_open(&o->second, o->report, &o->tally);
	if (!error && o->hlog_file.path)
		error = hlog_open(&o->hlog, o->report, &o->hlog_file);
	if (!error && o->lines_file.path)
		jsonl_open(&o->lines, o->report, &o->lines_file);
	return error;
}

int outputs_open(struct outputs *o, struct report *r, struct log *log)
{
	struct output list[OUTPUTS];
	int error;

	o->report = r;
	list_outputs(o, list);
	for (int i = 0; i < OUTPUTS; i++)
		r->stdout_taken |= list[i].path && log_file_is_stdout(list[i].path);
	error = refuse_same(list);
	if (!error)
		error = open_files(o, log);
	if (!error)
		error = open_tellers(o);
	if (error)
		outputs_close(o);
	return error;
}

static void begin_thread(void *outputs)
{
	struct outputs *o = outputs;

	o->begin(o->context);
}

/* ---- Beside the run -------------------------------------------------------------------------------------------------- */

static void take(struct outputs *o)
{
	int64_t some[TAKEN_AT_ONCE];
	size_t n;

	while ((n = tally_take(&o->tally, some, TAKEN_AT_ONCE))) {
		if (o->second.value)
			second_add(&o->second, some, n);
		if (o->prometheus.report)
			prometheus_add(&o->prometheus, some, n);
	}
}

/* Each in a line of its own, and in the file when it is over: nothing of it is kept. */
static void write_element(struct json *j, const struct second *s)
{
	json_row(j, NULL);
	second_put(j, s);
	second_put_buckets(j, s, 0);
	json_end(j);
	json_flush(j);
}

static void tell_second(struct outputs *o)
{
	if (o->lines_file.path)
		jsonl_second(&o->lines, &o->second);
	if (o->json.path)
		write_element(&o->writer, &o->second);
	if (o->hlog_file.path)
		hlog_second(&o->hlog, &o->second);
	second_next(&o->second);
}

static void look(void *outputs)
{
	struct outputs *o = outputs;

	if (!atomic_load_explicit(&o->begun, memory_order_acquire))
		return;
	take(o);
	if (o->lines_file.path)
		jsonl_look(&o->lines);
	if (o->second.value && second_is_over(&o->second))
		tell_second(o);
	if (o->prometheus.report)
		prometheus_look(&o->prometheus);
}

struct tally *outputs_start(struct outputs *o, void (*begin)(void *context), void *context)
{
	if (!tells_meanwhile(o) || o->report->no_other_cpu)
		return NULL;
	o->begin = begin;
	o->context = context;
	o->watch = (struct watch){ .begin = begin_thread, .context = o };
	watch_add(&o->watch, (struct watch_duty){ .period_ns = LOOK_NS, .act = look, .context = o });
	return watch_start(&o->watch) ? NULL : &o->tally;
}

void outputs_need(const struct outputs *o, struct rights_needs *n)
{
	struct output list[OUTPUTS];

	_Static_assert(OUTPUTS <= RIGHTS_FILES_MAX, "there is room for all");
	list_outputs(o, list);
	for (int i = 0; i < OUTPUTS; i++) {
		if (!list[i].path || (list[i].file && !*list[i].file->partial))
			continue;
		n->file[n->files].option = list[i].option;
		n->file[n->files++].path = list[i].path;
	}
}

int outputs_hand_over(struct outputs *o, const struct rights *r)
{
	struct output list[OUTPUTS];
	int error = 0;

	list_outputs(o, list);
	for (int i = 0; i < OUTPUTS && !error; i++)
		if (list[i].path && list[i].file && *list[i].file->partial)
			error = rights_give(r, list[i].option, list[i].file->fd);
	if (!error)
		log_writer_hand_over(&o->log);
	return error;
}

static void keep_finding(void *outputs, const struct check_told *told)
{
	struct outputs *o = outputs;
	struct outputs_finding *f = &o->finding[o->findings];

	if (o->findings++ >= OUTPUTS_FINDINGS)
		return;
	f->fail = told->fail;
	snprintf(f->subject, sizeof(f->subject), "%s", told->subject);
	snprintf(f->what, sizeof(f->what), "%s", told->what);
	snprintf(f->where, sizeof(f->where), "%s", told->where);
	snprintf(f->why, sizeof(f->why), "%s", told->why ? told->why : "");
	snprintf(f->cure, sizeof(f->cure), "%s", told->cure ? told->cure : "");
}

/* Up to the seconds, which come one by one. It stays in the block until the first one is over: a run that does not begin leaves no file. */
static void begin_json(struct outputs *o)
{
	struct json *j = &o->writer;

	json_begin(j, log_file_put, &o->json, false);
	json_object(j, NULL);
	json_text(j, "format", "rant");
	json_integer(j, "schema_version", JSON_SCHEMA_VERSION);
	json_text(j, "rant_version", RANT_VERSION);
	if (o->report->exchange->tally)
		json_array(j, "seconds");
	else
		json_null(j, "seconds");
}

void outputs_look(struct outputs *o, const struct nic *n)
{
	if (o->json.path) {
		check_tell(keep_finding, o, o->report->options, n);
		begin_json(o);
	}
	if (patience_on("writing the first lines"))
		return;
	if (o->lines_file.path)
		jsonl_begin(&o->lines);
	second_begin(&o->second);
	if (o->hlog_file.path)
		hlog_begin(&o->hlog, o->second.start_unix_ns);
	atomic_store_explicit(&o->begun, true, memory_order_release);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------ */

static void write_findings(struct json *j, const struct outputs *o)
{
	json_array(j, "findings");
	for (unsigned i = 0; i < o->findings && i < OUTPUTS_FINDINGS; i++) {
		const struct outputs_finding *f = &o->finding[i];

		json_object(j, NULL);
		json_text(j, "level", f->fail ? "fail" : "warn");
		json_text(j, "subject", f->subject);
		json_text(j, "what", f->what);
		json_text(j, "where", f->where);
		json_text(j, "why", *f->why ? f->why : NULL);
		json_text(j, "cure", *f->cure ? f->cure : NULL);
		json_end(j);
	}
	json_end(j);
}

/* What is known after the run. */
static void end_object(struct json *j, const struct outputs *o, enum status status)
{
	const struct report *r = o->report;

	if (r->exchange->tally)
		json_end(j);
	json_run(j, r, true);
	json_integer(j, "exit_status", status);
	json_verdict(j, r);
	json_configuration(j, r);
	json_host(j, r);
	json_clocks(j, r);
	json_accounts(j, r);
	json_statistics(j, r, true);
	json_breaches(j, r);
	json_machine(j, r);
	write_findings(j, o);
	json_end(j);
}

static int write_json(struct outputs *o, enum status status)
{
	int error;

	if (!o->json.path)
		return 0;
	end_object(&o->writer, o, status);
	error = json_finish(&o->writer);
	if (error == -EINVAL && !o->json.error)
		warnx("--json %s: what was written is no JSON: this is a fault of rant, please report it", o->json.path);
	return error | log_file_finish(&o->json);
}

/* ---- After the run --------------------------------------------------------------------------------------------------- */

static int end_lines(struct outputs *o, enum status status)
{
	if (!o->lines_file.path)
		return 0;
	jsonl_end(&o->lines, status);
	return log_file_finish(&o->lines_file);
}

static int end_hlog(struct outputs *o)
{
	if (!o->hlog_file.path)
		return 0;
	hlog_end(&o->hlog);
	return log_file_finish(&o->hlog_file);
}

enum status outputs_write(struct outputs *o, enum status status)
{
	int error;

	watch_stop(&o->watch);
	if (tells_meanwhile(o))
		take(o);
	if (o->lines_file.path)
		jsonl_look(&o->lines);
	if (o->second.value && second_is_left(&o->second))
		tell_second(o);
	error = end_lines(o, status);
	error |= end_hlog(o);
	if (o->prometheus.report)
		error |= prometheus_end(&o->prometheus);
	if (o->hgrm.path)
		error |= hgrm_write_file(&o->hgrm, o->report->histogram);
	error |= write_json(o, status);
	return error && status != STATUS_BREACH ? STATUS_FAILED : status;
}

void outputs_cut_off(struct outputs *o)
{
	log_file_cut_off(&o->log.file);
	log_file_cut_off(&o->json);
	log_file_cut_off(&o->hgrm);
	log_file_cut_off(&o->lines_file);
	log_file_cut_off(&o->hlog_file);
	log_file_cut_off(&o->prometheus.file);
}

void outputs_close(struct outputs *o)
{
	log_writer_close(&o->log);
	watch_stop(&o->watch);
	log_file_abandon(&o->json);
	log_file_abandon(&o->hgrm);
	log_file_abandon(&o->lines_file);
	log_file_abandon(&o->hlog_file);
	hlog_close(&o->hlog);
	second_close(&o->second);
	free(o->tally.value);
	o->tally.value = NULL;
}
