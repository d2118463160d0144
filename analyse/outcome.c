// SPDX-License-Identifier: GPL-2.0-or-later
/* The result of the files that were read, and its text. */
#include "analyse/outcome.h"

#include "report/text/breach.h"
#include "report/text/brief.h"
#include "report/text/label.h"
#include "report/text/sections.h"
#include "report/verdict/rhythm_run.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Open and close ---------------------------------------------------------------------------------------------- */

static int say_no_memory(void)
{
	warnx("no memory for the contents of the files");
	return -ENOMEM;
}

struct outcome *outcome_open(const struct options *options)
{
	struct outcome *o = calloc(1, sizeof(*o));

	if (o)
		o->notes = open_memstream(&o->note, &o->note_bytes);
	if (!o || !o->notes) {
		say_no_memory();
		free(o);
		return NULL;
	}
	o->options = *options;
	o->options.ttl = 255;
	o->options.port = 0; /* a file has no port of this process */
	o->result.options = &o->options;
	o->result.read = &o->read;
	o->result.dropped = o->result.strays = optional_of(0); /* sums over the files */
	o->result.histogram = &o->latency;
	o->report = (struct report){ .options = &o->options, .result = &o->result, .samples_are_taken = true,
				     .histogram = &o->latency };
	return o;
}

static void free_histogram(struct histogram *h)
{
	free(h->overflow); /* the begin of all its memory */
}

void outcome_close(struct outcome *o)
{
	if (!o)
		return;
	free_histogram(&o->latency);
	for (int i = 0; i < STAGES; i++)
		free_histogram(&o->stage[i]);
	for (int i = 0; i < ONE_WAYS; i++)
		free_histogram(&o->one_way[i]);
	for (int i = 0; i < PLANNED; i++)
		free_histogram(&o->planned[i]);
	free_histogram(&o->poll_gaps);
	free(o->result.activity.run.list);
	free(o->result.activity.until_breach.list);
	free(o->result.activity.before_worst.list);
	free(o->result.causes);
	free(o->result.port);
	for (int i = 0; i < BREACH_COMMANDS_MAX; i++)
		free(o->read.command[i]);
	free(o->read.log_path);
	for (unsigned i = 0; i < o->read.files; i++) {
		free(o->read.file[i].found);
		free(o->read.file[i].hostname);
		free(o->read.file[i].interface);
	}
	for (unsigned i = 0; i < o->read.reasons; i++) {
		free(o->read.reason[i].name);
		free(o->read.reason[i].found);
		free(o->read.reason[i].why);
		free(o->read.reason[i].id);
		free(o->read.reason[i].unit);
	}
	for (unsigned i = 0; i < o->read.settings; i++)
		free(o->read.setting[i].text);
	for (int i = 0; i < READ_MEMBERS; i++)
		free(o->read.member[i].json);
	fclose(o->notes);
	free(o->note);
	free(o->read.reason);
	free(o->read.file);
	free(o);
}

/* O_NONBLOCK: to open a pipe would wait for its writer. */
FILE *outcome_open_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat s;

	if (!file) {
		warnx("%s: cannot be read (%s)", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (!fstat(fd, &s) && S_ISREG(s.st_mode))
		return file;
	warnx("%s: is not a regular file: give a file that a run has written", path);
	fclose(file);
	return NULL;
}

int outcome_refuse_same(const struct read_file *a, const struct read_file *b)
{
	if (a->device != b->device || a->inode != b->inode)
		return 0;
	warnx("%s: is the same file as %s: give each run once", b->path, a->path);
	return -EINVAL;
}

struct read_file *outcome_add_file(struct outcome *o, const char *path, FILE *file, const char *form)
{
	struct read_file *files, one;
	struct stat s;

	if (fstat(fileno(file), &s)) {
		warnx("%s: cannot be read (%s)", path, strerror(errno));
		return NULL;
	}
	one = (struct read_file){ .path = path, .form = form, .device = s.st_dev, .inode = s.st_ino };
	for (unsigned i = 0; i < o->read.files; i++)
		if (outcome_refuse_same(&o->read.file[i], &one))
			return NULL;
	files = realloc(o->read.file, (o->read.files + 1) * sizeof(*files));
	if (!files) {
		say_no_memory();
		return NULL;
	}
	o->read.file = files;
	o->read.file[o->read.files] = one;
	return &o->read.file[o->read.files++];
}

/* ---- Histograms -------------------------------------------------------------------------------------------------- */

int outcome_assign(struct histogram *h, struct histogram **pointer, const struct options *o, int64_t width_ns)
{
	void *memory = calloc(1, histogram_layout(h, o->overflow_ns, width_ns, HISTOGRAM_OVERFLOW_STORE));

	if (!memory)
		return say_no_memory();
	histogram_assign(h, memory);
	if (pointer)
		*pointer = h;
	return 0;
}

static bool is_fine(const struct outcome *o, const struct histogram *h)
{
	return !h || !h->width_ns || o->options.bucket_ns % h->width_ns == 0;
}

int outcome_check_buckets(const struct outcome *o)
{
	const struct result *result = &o->result;
	const bool joined = options_joined(&o->options);

	if (is_fine(o, &o->latency) &&
	    (!joined || (is_fine(o, result->stage[STAGE_RESPONSE]) && is_fine(o, result->stage[STAGE_NETWORK]))))
		return 0;
	warnx("--bucket-size: the finest bucket that there is has %.3f us: give a multiple of that",
	      label_us(o->latency.width_ns));
	return -EINVAL;
}

void outcome_finish(struct outcome *o)
{
	histogram_finish(&o->latency);
	for (int i = 0; i < STAGES; i++)
		histogram_finish(&o->stage[i]);
	for (int i = 0; i < ONE_WAYS; i++)
		histogram_finish(&o->one_way[i]);
	for (int i = 0; i < PLANNED; i++)
		histogram_finish(&o->planned[i]);
	histogram_finish(&o->poll_gaps);
	if (o->result.spikes.count) /* from logs */
		rhythm_judge(&o->result);
	if (!o->read.settings)
		ipdv_figures(&o->result.ipdv.of[IPDV_RTT], &o->rtt_ipdv);
	if (!o->read.has_active)
		o->result.last_ns = o->result.ended_ns;
	fflush(o->notes);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void write_file(FILE *out, const struct read_file *f)
{
	fprintf(out, "  %s: %s of %s, %" PRIu64 " samples", f->path, strcmp(f->form, "json") ? f->form : "results",
		f->role == ROLE_EMIT ? "an emitter" : "a reflector", f->samples);
	if (f->samples)
		fprintf(out, ", maximum %.3f us", label_us(f->max_ns));
	fprintf(out, ": %s%s%s\n", f->level.known ? verdict_levels[f->level.value] : "not judged", f->found ? ": " : "",
		f->found ? f->found : "");
}

static void write_top(FILE *out, const struct outcome *o)
{
	if (o->read.has_accounts) {
		headline_write(out, &o->report);
	} else {
		headline_write_latency(out, &o->report);
		fputs(": losses are not known\n", out);
	}
	if (o->report.verdict)
		fprintf(out, "Measurement: %s%s\n", verdict_levels[o->verdict.level],
			o->read.files > 1 ? ", the worst of all files" : "");
	else
		fputs("Measurement: not known\n", out);
	fprintf(out, "Read from %u file%s:\n", o->read.files, o->read.files == 1 ? "" : "s");
	for (unsigned i = 0; i < o->read.files; i++)
		write_file(out, &o->read.file[i]);
	fputs(o->note, out);
}

void outcome_write(FILE *out, const struct outcome *o, int columns)
{
	const struct report *r = &o->report;

	if (!options_complete(r->options)) {
		brief_write(out, r, brief_has_color(out, r));
		return;
	}
	write_top(out, o);
	fputc('\n', out);
	report_write_sections(out, r, columns);
}
