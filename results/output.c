// SPDX-License-Identifier: GPL-2.0-or-later
/* The files that are made of what was read. */
#include "results/output.h"

#include "report/hgrm.h"
#include "results/object.h"
#include "results/outcome.h"

#include <err.h>
#include <errno.h>
#include <sys/stat.h>

static int refuse_read(const char *option, const char *path, const struct outcome *o)
{
	struct stat s;

	if (!path || stat(path, &s))
		return 0;
	for (unsigned i = 0; i < o->files; i++) {
		if (o->file[i].device != s.st_dev || o->file[i].inode != s.st_ino)
			continue;
		warnx("--%s %s: is one of the files that are read: give another", option, path);
		return -EINVAL;
	}
	return 0;
}

int output_open_json(struct output_files *f, const struct options *o, const struct outcome *const *read, unsigned n)
{
	int error = 0;

	for (unsigned i = 0; i < n && !error; i++)
		error = refuse_read("json", o->json_path, read[i]);
	return error || !o->json_path ? error : log_file_open_of(&f->json, "json", o->json_path);
}

int output_open(struct output_files *f, struct outcome *o)
{
	const struct options *from = &o->options;
	const struct outcome *const read = o;
	int error = output_open_json(f, from, &read, 1);

	o->report.stdout_taken = from->json_path && log_file_is_stdout(from->json_path);
	if (!error && from->hgrm_path && log_file_is_stdout(from->hgrm_path) && o->report.stdout_taken) {
		warnx("--json %s with --hgrm %s: both would write to the same place: give each a file of its own", from->json_path,
		      from->hgrm_path);
		error = -EINVAL;
	}
	o->report.stdout_taken |= from->hgrm_path && log_file_is_stdout(from->hgrm_path);
	if (!error)
		error = refuse_read("hgrm", from->hgrm_path, o);
	if (!error)
		error = refuse_read("prometheus", from->prometheus_path, o);
	if (!error && from->hgrm_path)
		error = log_file_open_of(&f->hgrm, "hgrm", from->hgrm_path);
	if (!error && from->prometheus_path)
		error = prometheus_open(&f->prometheus, &o->report, &o->tally);
	if (error)
		output_close(f);
	return error;
}

struct json *output_begin_json(struct output_files *f)
{
	json_begin(&f->writer, log_file_put, &f->json, false);
	return &f->writer;
}

int output_finish_json(struct output_files *f)
{
	int error = json_finish(&f->writer);

	if (error == -EINVAL && !f->json.error)
		warnx("--json %s: what was written is no JSON: this is a fault of rant, please report it", f->json.path);
	return error | log_file_finish(&f->json);
}

int output_write(struct output_files *f, const struct outcome *o)
{
	int error = 0;

	if (f->prometheus.report) {
		prometheus_take(&f->prometheus, &o->latency);
		f->prometheus.no_accounts = !o->has_accounts;
		error |= prometheus_end(&f->prometheus);
	}
	if (f->hgrm.path)
		error |= hgrm_write_file(&f->hgrm, &o->latency);
	if (f->json.path) {
		object_write(output_begin_json(f), o);
		error |= output_finish_json(f);
	}
	return error;
}

void output_close(struct output_files *f)
{
	log_file_abandon(&f->json);
	log_file_abandon(&f->hgrm);
	log_file_abandon(&f->prometheus.file);
}
