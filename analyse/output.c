// SPDX-License-Identifier: GPL-2.0-or-later
/* Output files of --report and --compare. */
#include "analyse/output.h"

#include "analyse/outcome.h"
#include "report/export/hgrm.h"
#include "report/export/json_parts.h"
#include "report/export/output_paths.h"

#include <err.h>
#include <errno.h>
#include <sys/stat.h>

static int refuse_read(const char *option, const char *path, const struct outcome *o)
{
	struct stat s;

	if (!path || stat(path, &s))
		return 0;
	for (unsigned i = 0; i < o->read.files; i++) {
		if (o->read.file[i].device != s.st_dev || o->read.file[i].inode != s.st_ino)
			continue;
		warnx("--%s %s: is an input file: give another path", option, path);
		return -EINVAL;
	}
	return 0;
}

int output_open_json(struct output_files *f, const struct options *o)
{
	return o->json_path ? log_file_open_of(&f->reported.json, "json", o->json_path) : 0;
}

int output_check_json(const struct options *o, const struct outcome *read)
{
	return refuse_read("json", o->json_path, read);
}

/* Refuses an output that is one of the input files, and two outputs to the same file. */
static int check_paths(struct outcome *o)
{
	const struct options *from = &o->options;
	const struct output_path list[] = { { "json", from->json_path }, { "jsonl", from->jsonl_path },
					    { "hgrm", from->hgrm_path },
					    { "hlog", from->hlog_path }, { "prometheus", from->prometheus_path } };
	const size_t n = sizeof(list) / sizeof(list[0]);
	int error = output_paths_refuse_same(list, n);

	for (size_t i = 0; i < n && !error; i++) {
		error = refuse_read(list[i].option, list[i].path, o);
		o->report.stdout_taken |= list[i].path && log_file_is_stdout(list[i].path);
	}
	return error;
}

int output_open(struct output_files *f, struct outcome *o)
{
	const struct options *from = &o->options;
	int error = check_paths(o);

	if (!error)
		error = by_second_open(&f->reported, &o->report);
	if (!error && from->hgrm_path)
		error = log_file_open_of(&f->hgrm, "hgrm", from->hgrm_path);
	if (!error && from->prometheus_path)
		error = prometheus_open(&f->prometheus, &o->report, &o->sample_queue);
	if (!error && by_second_is_wanted(&f->reported))
		error = seconds_open(&f->seconds, &f->reported, o);
	if (error)
		output_close(f);
	return error;
}

struct json *output_begin_json(struct output_files *f)
{
	json_begin(&f->reported.writer, log_file_put, &f->reported.json, false);
	return &f->reported.writer;
}

static void write_object(struct json *j, const struct outcome *o)
{
	if (o->has_seconds)
		json_end(j);
	json_whole(j, &o->report, 0);
	if (!json_read_member(j, &o->report, "findings")) {
		json_array(j, "findings");
		json_end(j);
	}
	json_read_member(j, &o->report, "findings_left_out");
	json_read_from(j, &o->read);
	json_end(j);
}

static int write_by_second(struct by_second *b, const struct outcome *o)
{
	int error;

	if (b->lines_file.path) {
		jsonl_end(&b->lines, 0);
	}
	if (b->json.path)
		write_object(&b->writer, o);
	error = by_second_finish_lines(b);
	error |= by_second_finish_hlog(b);
	return error | by_second_finish_json(b);
}

int output_write(struct output_files *f, const struct outcome *o)
{
	int error = 0;

	if (f->prometheus.report) {
		prometheus_take(&f->prometheus, &o->latency);
		f->prometheus.no_accounts = !o->read.has_accounts;
		error |= prometheus_end(&f->prometheus);
	}
	if (f->hgrm.path)
		error |= hgrm_write_file(&f->hgrm, &o->latency);
	return error | write_by_second(&f->reported, o);
}

void output_close(struct output_files *f)
{
	by_second_close(&f->reported);
	log_file_abandon(&f->hgrm);
	log_file_abandon(&f->prometheus.file);
}
