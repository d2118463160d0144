// SPDX-License-Identifier: GPL-2.0-or-later
/* Output files of a run. */
#include "report/export/outputs.h"

#include "doctor/check.h"
#include "host/process/startup_watchdog.h"
#include "host/process/privileges.h"
#include "options.h"
#include "report/export/hgrm.h"
#include "report/export/json_parts.h"
#include "report/export/output_paths.h"
#include "report/text/report.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

/* ---- Which there are --------------------------------------------------------------------------------------------- */

struct output {
	const char *option, *path; /* NULL: option not given */
	const struct log_file *file; /* NULL: a new file each time */
};

#define OUTPUTS 6
#define LOOK_NS (100 * NS_PER_MS) /* period of outputs during the run */
/* the same while a reflector sleeps: the queue of samples holds what 327,000 packets/s add in this time */
#define IDLE_LOOK_NS (200 * NS_PER_MS)
#define TAKEN_AT_ONCE 1024

static void list_outputs(const struct outputs *o, struct output list[OUTPUTS])
{
	const struct options *from = o->report->options;
	const struct output all[OUTPUTS] = {
		{ "log", from->log_path, &o->log.file },
		{ "json", from->json_path, &o->reported.json },
		{ "jsonl", from->jsonl_path, &o->reported.lines_file },
		{ "hgrm", from->hgrm_path, &o->hgrm },
		{ "hlog", from->hlog_path, &o->reported.hlog_file },
		{ "prometheus", from->prometheus_path, NULL },
	};

	memcpy(list, all, sizeof(all));
}

/* ---- Before the run ---------------------------------------------------------------------------------------------- */

static int refuse_same(const struct output list[OUTPUTS])
{
	struct output_path paths[OUTPUTS];

	for (int i = 0; i < OUTPUTS; i++)
		paths[i] = (struct output_path){ list[i].option, list[i].path };
	return output_paths_refuse_same(paths, OUTPUTS);
}

static int open_files(struct outputs *o, struct log *log)
{
	const struct options *from = o->report->options;
	int error = log_writer_open(&o->log, o->report, log);

	if (!error)
		error = by_second_open(&o->reported, o->report);
	if (!error && from->hgrm_path)
		error = log_file_open_of(&o->hgrm, "hgrm", from->hgrm_path);
	if (!error && from->prometheus_path)
		error = prometheus_open(&o->prometheus, o->report, &o->sample_queue);
	if (!error && from->prometheus_path)
		prometheus_go_on(&o->prometheus);
	return error;
}

static bool prints_meanwhile(const struct outputs *o)
{
	return by_second_is_wanted(&o->reported) || o->prometheus.report;
}

static int open_sample_queue(struct outputs *o)
{
	if (!prints_meanwhile(o))
		return 0;
	o->sample_queue.value = calloc(SAMPLE_QUEUE_VALUES, sizeof(*o->sample_queue.value));
	if (o->sample_queue.value)
		return 0;
	warnx("no memory for the sample queue of outputs during the run");
	return -ENOMEM;
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
		error = open_sample_queue(o);
	if (error)
		outputs_close(o);
	return error;
}

static void begin_thread(void *outputs)
{
	struct outputs *o = outputs;

	o->begin(o->context);
}

/* ---- Beside the run ---------------------------------------------------------------------------------------------- */

static void take(struct outputs *o)
{
	int64_t some[TAKEN_AT_ONCE];
	size_t n;

	while ((n = sample_queue_take(&o->sample_queue, some, TAKEN_AT_ONCE))) {
		if (o->reported.second.value)
			second_add(&o->reported.second, some, n);
		if (o->prometheus.report)
			prometheus_add(&o->prometheus, some, n);
	}
}

static void look_at_goal(struct outputs *o)
{
	const struct known_goal *goal = &o->report->options->until_known;
	double width;

	if (goal->denominator && o->on_known &&
	    confidence_width(o->reported.confidence, goal, &width) && confidence_is_reached(goal, width))
		o->on_known();
}

static void look(void *outputs)
{
	struct outputs *o = outputs;

	if (!atomic_load_explicit(&o->begun, memory_order_acquire))
		return;
	take(o);
	if (o->reported.lines_file.path)
		jsonl_look(&o->reported.lines);
	if (o->reported.second.value && second_is_over(&o->reported.second)) {
		by_second_pass_on(&o->reported);
		look_at_goal(o);
	}
	if (o->prometheus.report)
		prometheus_look(&o->prometheus);
}

static bool start_thread(struct outputs *o, void (*begin)(void *context), void *context)
{
	if (!prints_meanwhile(o) || o->report->no_other_cpu)
		return false;
	o->begin = begin;
	o->context = context;
	o->worker = (struct worker){ .name = "rant-outputs", .begin = begin_thread, .context = o,
				     .idle = &o->report->result->asleep, .idle_ns = IDLE_LOOK_NS };
	worker_add(&o->worker, (struct worker_duty){ .period_ns = LOOK_NS, .act = look, .context = o });
	return !worker_start(&o->worker);
}

struct sample_queue *outputs_start(struct outputs *o, void (*begin)(void *context), void *context)
{
	struct report *r = o->report;

	if (!options_log_is_circular(r->options) && !r->no_other_cpu)
		log_writer_start(&o->log, begin, context); /* without a thread the log is written after the run */
	interim_start(&o->interim, r, begin, context);
	r->samples_are_taken = start_thread(o, begin, context);
	if (r->options->until_known.denominator && !r->samples_are_taken)
		warnx("--until-known %s: not checked: no CPU but the measuring one may be used here: give more CPUs to "
		      "taskset", r->options->until_known.text);
	return r->samples_are_taken ? &o->sample_queue : NULL;
}

void outputs_need(const struct outputs *o, struct privileges_needs *n)
{
	struct output list[OUTPUTS];

	_Static_assert(OUTPUTS <= PRIVILEGES_FILES_MAX, "the list can hold all outputs");
	list_outputs(o, list);
	for (int i = 0; i < OUTPUTS; i++) {
		if (!list[i].path || (list[i].file && !*list[i].file->partial))
			continue;
		n->file[n->files].option = list[i].option;
		n->file[n->files++].path = list[i].path;
	}
}

int outputs_hand_over(struct outputs *o, const struct privileges *r)
{
	struct output list[OUTPUTS];
	int error = 0;

	list_outputs(o, list);
	for (int i = 0; i < OUTPUTS && !error; i++)
		if (list[i].path && list[i].file && *list[i].file->partial)
			error = privileges_give(r, list[i].option, list[i].file->fd);
	if (!error)
		log_writer_hand_over(&o->log);
	/* outputs_look() has reported missing memory. */
	return !error && o->no_seconds ? -ENOMEM : error;
}

static void keep_finding(void *outputs, const struct check_reported *reported)
{
	struct outputs *o = outputs;
	struct outputs_finding *f = &o->finding[o->findings];

	if (o->findings++ >= OUTPUTS_FINDINGS)
		return;
	f->level = reported->level;
	snprintf(f->subject, sizeof(f->subject), "%s", reported->subject);
	snprintf(f->what, sizeof(f->what), "%s", reported->what);
	snprintf(f->where, sizeof(f->where), "%s", reported->where);
	snprintf(f->why, sizeof(f->why), "%s", reported->why ? reported->why : "");
	snprintf(f->cure, sizeof(f->cure), "%s", reported->cure ? reported->cure : "");
}

void outputs_look(struct outputs *o, const struct nic *n)
{
	struct by_second *b = &o->reported;
	const bool taken = o->report->samples_are_taken;

	/* After the memory of the run is locked, because this memory belongs to another thread. */
	o->no_seconds = by_second_is_wanted(b) && second_open(&b->second, o->report, &o->sample_queue);
	if (o->no_seconds)
		return;
	if (b->json.path) {
		check_print(keep_finding, o, o->report->options, n);
		by_second_begin_json(b, taken);
	}
	if (startup_watchdog_on("writing the first lines"))
		return;
	if (b->lines_file.path)
		jsonl_begin(&b->lines);
	second_begin(&b->second);
	if (b->hlog_file.path)
		hlog_begin(&b->hlog, b->second.start_unix_ns,
			   taken ? NULL :
				   "No intervals: no CPU but the measuring one may be used to write them");
	atomic_store_explicit(&o->begun, true, memory_order_release);
	interim_begin(&o->interim);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_findings(struct json *j, const struct outputs *o)
{
	const unsigned kept = o->findings < OUTPUTS_FINDINGS ? o->findings : OUTPUTS_FINDINGS;

	json_array(j, "findings");
	for (unsigned i = 0; i < kept; i++) {
		const struct outputs_finding *f = &o->finding[i];

		json_object(j, NULL);
		json_finding(j, &(struct check_reported){ .level = f->level, .subject = f->subject, .what = f->what,
							  .where = f->where, .why = *f->why ? f->why : NULL,
							  .cure = *f->cure ? f->cure : NULL });
		json_end(j);
	}
	json_end(j);
	json_count(j, "findings_left_out", o->findings - kept);
}

/* Members that are known after the run. */
static void end_object(struct json *j, const struct outputs *o, enum status status)
{
	const struct report *r = o->report;

	if (r->samples_are_taken)
		json_end(j);
	json_whole(j, r, status);
	write_findings(j, o);
	json_end(j);
}

/* ---- After the run ----------------------------------------------------------------------------------------------- */

static int finish_by_second(struct outputs *o, enum status status)
{
	struct by_second *b = &o->reported;
	int error;

	if (b->lines_file.path)
		jsonl_look(&b->lines);
	if (b->second.value && second_is_left(&b->second))
		by_second_pass_on(b);
	if (b->lines_file.path)
		jsonl_end(&b->lines, status);
	if (b->json.path)
		end_object(&b->writer, o, status);
	error = by_second_finish_lines(b);
	error |= by_second_finish_hlog(b);
	return error | by_second_finish_json(b);
}

int outputs_end_beside(struct outputs *o)
{
	const int error = log_writer_finish(&o->log);

	interim_stop(&o->interim);
	worker_stop(&o->worker);
	if (prints_meanwhile(o))
		take(o);
	return error;
}

enum status outputs_write(struct outputs *o, enum status status)
{
	int error = finish_by_second(o, status);

	if (o->prometheus.report)
		error |= prometheus_end(&o->prometheus);
	if (o->hgrm.path)
		error |= hgrm_write_file(&o->hgrm, o->report->histogram);
	return error && status != STATUS_BREACH ? STATUS_FAILED : status;
}

void outputs_cut_off(struct outputs *o)
{
	log_file_cut_off(&o->log.file);
	by_second_cut_off(&o->reported);
	log_file_cut_off(&o->hgrm);
	log_file_cut_off(&o->prometheus.file);
}

void outputs_close(struct outputs *o)
{
	log_writer_close(&o->log);
	interim_stop(&o->interim);
	worker_stop(&o->worker);
	by_second_close(&o->reported);
	log_file_abandon(&o->hgrm);
	free(o->sample_queue.value);
	o->sample_queue.value = NULL;
}
