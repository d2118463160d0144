// SPDX-License-Identifier: GPL-2.0-or-later
/* breach.json: evidence of one breach, for --explain. Called by the housekeeping thread: no histogram is read. */
#include "report/export/breach_file.h"

#include "host/counters/activity.h"
#include "host/counters/activity_unseen.h"
#include "host/file.h"
#include "options.h"
#include "report/export/json.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "report/text/stage.h"
#include "result/neighbours.h"
#include "result/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "breach.json"
#define TYPICAL_LEAST 20 /* packets for a median */

/* Without a threshold, at a host whose trace was frozen for the other, each packet but that of the breach. */
static bool is_ordinary(const struct breach_facts *f, const struct sample *s)
{
	const int64_t threshold_ns = f->report->options->threshold_ns;
	int64_t value_ns;

	return (s->seq != f->sample->seq || s->ssid != f->sample->ssid) &&
	       (!threshold_ns || !result_metric(f->report->result, s, &value_ns) || value_ns <= threshold_ns);
}

/* Number of the oldest kept samples that were recorded before the breach. */
static unsigned count_before(const struct breach_facts *f)
{
	const unsigned n = neighbours_count(f->neighbours);

	for (unsigned i = 0; i < n; i++)
		if (neighbours_at(f->neighbours, i)->seq == f->sample->seq &&
		    neighbours_at(f->neighbours, i)->ssid == f->sample->ssid)
			return i;
	return n;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

/* The median of a stage over the ordinary packets. False: too few have it. */
static bool find_typical(const struct breach_facts *f, unsigned before, const struct stage *stage, int64_t *median_ns)
{
	int64_t values[NEIGHBOURS], value_ns;
	unsigned n = 0;

	for (unsigned i = 0; i < before; i++) {
		const struct sample *s = neighbours_at(f->neighbours, i);

		if (is_ordinary(f, s) && stages_value(stage, s, &value_ns))
			values[n++] = value_ns;
	}
	if (n < TYPICAL_LEAST)
		return false;
	qsort(values, n, sizeof(values[0]), compare_ns);
	*median_ns = values[n / 2];
	return true;
}

/* Stages whose sum is the latency: those within it that are not divided further, and the response if it is not
 * split. */
static bool is_candidate(const struct part *p, bool split)
{
	return !stages_is_part(&p->stage) && p->index != STAGES &&
	       (p->stage.inside || (p->index == STAGE_RESPONSE && p->stage.peer && !split));
}

/* Known bounds only: stamps of one clock have none; user-space times of this host have that of the clocks' relation. */
static bool find_bound(const struct breach_facts *f, const struct part *p, int64_t *bound_ns)
{
	*bound_ns = p->stage.bound == BOUND_LOCAL && f->converted ? f->hw_bound_ns : 0;
	return p->stage.bound == BOUND_NONE || (p->stage.bound == BOUND_LOCAL && (!f->converted || f->has_relation));
}

static const char *name_of(char name[JSON_NAME_BYTES], const struct part *p)
{
	return json_name(name, JSON_NAME_BYTES, p->name, "");
}

/* The part of a stage that has at least half of its excess, by the kernel's times; or the stage. As in the text. */
static const struct part *find_finer(const struct part *parts, int n, const struct optional over[PARTS_MAX],
				     const struct part *stage)
{
	const struct part *finer = stage;
	int64_t least_ns = over[stage - parts].value / 2;

	for (int i = 0; i < n; i++) {
		if (!stages_is_part(&parts[i].stage) || parts[i].stage.whole != stage->index || !over[i].known ||
		    over[i].value < least_ns)
			continue;
		finer = &parts[i];
		least_ns = over[i].value;
	}
	return finer;
}

/* The stage with the largest excess, if it is at least half of the excess of the latency; with --stages full a part of
 * it. */
static void put_stages(struct json *j, const struct breach_facts *f, unsigned before)
{
	struct part parts[PARTS_MAX];
	const int n = stage_of_sample(f->report, f->sample, parts);
	const struct part *worst = NULL;
	struct optional over[PARTS_MAX] = { { .known = false } };
	int64_t worst_ns = 0, excess_ns = 0;
	char name[JSON_NAME_BYTES];
	bool split = false;

	for (int i = 0; i < n; i++)
		split |= parts[i].index == STAGE_REMOTE_APP;
	json_array(j, "stages");
	for (int i = 0; i < n; i++) {
		int64_t typical_ns, bound_ns;

		if (parts[i].index == STAGES)
			continue;
		json_row(j, NULL);
		json_text(j, "id", name_of(name, &parts[i]));
		json_integer(j, "value_ns", parts[i].value_ns);
		if (find_bound(f, &parts[i], &bound_ns))
			json_integer(j, "bound_ns", bound_ns);
		if (find_typical(f, before, &parts[i].stage, &typical_ns)) {
			const int64_t over_ns = parts[i].value_ns - typical_ns;

			json_integer(j, "typical_ns", typical_ns);
			over[i] = optional_of(over_ns);
			if (is_candidate(&parts[i], split)) {
				excess_ns += over_ns;
				if (over_ns > worst_ns) {
					worst_ns = over_ns;
					worst = &parts[i];
				}
			}
		}
		json_end(j);
	}
	json_end(j);
	if (worst && worst_ns >= excess_ns - worst_ns)
		json_text(j, "blame", name_of(name, options_queue_times(f->report->options) ?
					      find_finer(parts, n, over, worst) : worst));
}

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

/* Times of this host's CLOCK_REALTIME, which the loop converts to the clock of the NIC. */
static bool is_converted(const struct breach_facts *f, const struct sample *s, int i)
{
	return f->converted && !time_is_remote(i) && s->source[i] != SOURCE_HARDWARE;
}

/* Text of the run; NULL: not known. */
static const char *run_id(char text[8], const struct sample *s)
{
	snprintf(text, 8, RUN_ID_FORMAT, s->ssid);
	return s->ssid ? text : NULL;
}

static void put_packet(struct json *j, const struct breach_facts *f, const struct sample *s)
{
	const enum role role = f->report->options->role;
	const int64_t remote = f->report->result->remote;
	char label[16], run[8];

	json_row(j, NULL);
	json_count(j, "seq", s->seq);
	/* A number is of one packet only within a run. */
	if (s->ssid != f->sample->ssid)
		json_text(j, "run", run_id(run, s));
	for (int i = 0; i < ALL_TIMES; i++) {
		int64_t ns = s->time_ns[i];

		if (!label_has_time(role, remote, s, i) || label_reported_twice(role, remote, i) ||
		    (is_converted(f, s, i) && !f->to_realtime(f->context, &ns)))
			continue;
		json_integer(j, label_time_name(label, sizeof(label), f->report, i), ns);
	}
	json_end(j);
}

static void put_packets(struct json *j, const struct breach_facts *f, unsigned before)
{
	unsigned ordinary = 0;

	for (unsigned i = 0; i < before; i++)
		ordinary += is_ordinary(f, neighbours_at(f->neighbours, i));
	json_array(j, "packets");
	for (unsigned i = 0; i < before; i++) {
		const struct sample *s = neighbours_at(f->neighbours, i);

		if (is_ordinary(f, s) && ordinary-- <= NEIGHBOURS_SAVED)
			put_packet(j, f, s);
	}
	put_packet(j, f, f->sample);
	json_end(j);
}

/* ---- What the kernel does not see -------------------------------------------------------------------------------- */

/* The reason if a counter cannot be read; else true, and the values follow. */
static bool put_interval(struct json *j, const struct unseen_watch *w, const char *name,
			 const struct unseen_reading *before, bool known, bool smi)
{
	char why[128];

	json_row(j, name);
	if (!known) {
		json_text(j, "not_known", activity_unseen_why(w->activity, smi, why, sizeof(why)));
		json_end(j);
		return false;
	}
	json_integer(j, "from_raw_ns", before->ended_ns);
	json_integer(j, "to_raw_ns", w->after.began_ns);
	return true;
}

static void put_unseen(struct json *j, const struct unseen_watch *w)
{
	json_object(j, "unseen");
	if (w->activity->cpu >= 0)
		json_integer(j, "cpu", w->activity->cpu);
	if (put_interval(j, w, "smi", &w->smi_before, w->smi_before.smi.known && w->after.smi.known, true)) {
		json_integer(j, "from", w->smi_before.smi.value);
		json_integer(j, "to", w->after.smi.value);
		json_end(j);
	}
	if (put_interval(j, w, "steal", &w->before, w->before.steal_ms.known && w->after.steal_ms.known, false)) {
		json_integer(j, "from_ms", w->before.steal_ms.value);
		json_integer(j, "to_ms", w->after.steal_ms.value);
		json_integer(j, "step_ms", activity_unseen_step_ms());
		json_end(j);
	}
	if (w->before.disruptions.known && w->after.disruptions.known) {
		put_interval(j, w, "disruptions", &w->before, true, false);
		json_bool(j, "changed", w->before.disruptions.value != w->after.disruptions.value);
		json_end(j);
	}
	json_end(j);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void put_host(struct json *j, const struct breach_facts *f)
{
	json_text(j, "trace_clock", f->trace_clock);
	if (f->host_cpu.known)
		json_integer(j, "host_cpu", f->host_cpu.value);
	json_array(j, "irqs");
	for (unsigned i = 0; i < f->interrupts; i++) {
		json_row(j, NULL);
		json_count(j, "irq", f->interrupt[i].irq);
		json_text(j, "name", f->interrupt[i].name);
		if (*f->interrupt[i].cpus)
			json_text(j, "cpus", f->interrupt[i].cpus);
		json_end(j);
	}
	json_end(j);
	json_row(j, "thread");
	json_integer(j, "pid", f->thread);
	json_text(j, "name", "rant-loop");
	json_end(j);
	json_text(j, "interface", f->interface);
	json_row(j, "relations");
	if (f->has_relation) {
		json_integer(j, "hw_minus_realtime_ns", f->hw_minus_realtime_ns);
		json_integer(j, "hw_bound_ns", f->hw_bound_ns);
	}
	json_end(j);
}

static int put(void *fd, const char *from, size_t bytes)
{
	return file_write_all(*(const int *)fd, from, bytes);
}

int breach_file_write(int folder_fd, const struct breach_facts *f)
{
	const unsigned before = count_before(f);
	int fd = openat(folder_fd, FILE_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), error;
	struct json j;
	char run[8];

	if (fd < 0)
		return -errno;
	json_begin(&j, put, &fd, false);
	json_object(&j, NULL);
	json_integer(&j, "schema", 1);
	json_text(&j, "role", role_name(f->report->options->role));
	if (f->sample->ssid)
		json_text(&j, "run", run_id(run, f->sample));
	json_count(&j, "seq", f->sample->seq);
	json_integer(&j, "latency_ns", f->sample->latency_ns);
	json_integer(&j, "threshold_ns", f->report->options->threshold_ns);
	put_host(&j, f);
	put_stages(&j, f, before);
	if (f->unseen && f->unseen->breach_ns)
		put_unseen(&j, f->unseen);
	put_packets(&j, f, before);
	json_end(&j);
	error = json_finish(&j);
	if (close(fd) && !error)
		error = -errno;
	if (error)
		unlinkat(folder_fd, FILE_NAME, 0);
	return error;
}
