// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Anything at all as the folder of a saved trace, for libFuzzer (make fuzz); tests/unit/test_fuzz_trace.c runs the kept
 * inputs and changes of them in every check. The input is a list of files: the number of a name, a length of 16 bits,
 * the contents. It must not crash; each line on stderr is complete, and a refusal is one line.
 */
#include "explain/text.h"
#include "explain/timeline.h"
#include "explain/why.h"
#include "report/export/json.h"

#include "tests/fuzz/insist.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* libtraceevent 1.7 leaks what it has read of a format that it then refuses. Its frames have names only while it is
 * loaded, so it stays loaded. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\n";
}

__attribute__((constructor))
static void keep_library(void)
{
	dlopen("libtraceevent.so.1", RTLD_NOW | RTLD_LOCAL);
}

static const char *const trace_files[] = {
	"all.txt", "breach.json", "raw/header_page", "raw/events/ftrace/print/format",
	"raw/events/sched/sched_switch/format", "raw/events/irq/irq_handler_entry/format", "raw/cpu0", "raw/cpu1",
};
#define TRACE_FILES (sizeof(trace_files) / sizeof(trace_files[0]))

static char trace_folder[64];
static char trace_said[4096]; /* on stderr */

static void remove_trace_folder(void)
{
	static const char *const folders[] = { "raw/events/irq/irq_handler_entry", "raw/events/irq",
		"raw/events/sched/sched_switch", "raw/events/sched", "raw/events/ftrace/print", "raw/events/ftrace",
		"raw/events", "raw", "" };
	char path[192];

	for (size_t i = 0; i < TRACE_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", trace_folder, trace_files[i]);
		unlink(path);
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", trace_folder, folders[i]);
		rmdir(path);
	}
}

/* In memory where that is possible. */
static void make_trace_folder(void)
{
	if (*trace_folder)
		return;
	strcpy(trace_folder, access("/dev/shm", W_OK) ? "/tmp/fuzz_trace.XXXXXX" : "/dev/shm/fuzz_trace.XXXXXX");
	INSIST(mkdtemp(trace_folder));
	atexit(remove_trace_folder);
}

/* Makes the folders of its path. bytes 0: there is no such file. */
static void put_trace_file(const char *name, const uint8_t *data, size_t bytes)
{
	char path[192];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", trace_folder, name);
	if (!bytes) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (char *at = strchr(path + strlen(trace_folder) + 1, '/'); fd < 0 && at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	if (fd < 0)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	INSIST(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

static void put_trace_files(const uint8_t *data, size_t bytes)
{
	const uint8_t *contents[TRACE_FILES] = { NULL };
	size_t length[TRACE_FILES] = { 0 };

	for (size_t at = 0; at + 3 < bytes;) {
		const size_t file = data[at] % TRACE_FILES, left = bytes - at - 3;
		size_t some = data[at + 1] | (size_t)data[at + 2] << 8;

		some = some < left ? some : left;
		contents[file] = data + at + 3;
		length[file] = some;
		at += 3 + some;
	}
	for (size_t i = 0; i < TRACE_FILES; i++)
		put_trace_file(trace_files[i], contents[i], length[i]);
}

static int put_nowhere(void *context, const char *from, size_t bytes)
{
	(void)context;
	return bytes && !from ? -EINVAL : 0;
}

static void write_timeline(const struct evidence *e, const struct owners *o, const struct cause *c)
{
	static struct json j;

	json_begin(&j, put_nowhere, NULL, false);
	json_object(&j, NULL);
	timeline_write(&j, e, o, c);
	json_end(&j);
	INSIST(!json_finish(&j));
}

static int explain_trace(void)
{
	static struct evidence e;
	static struct owners o;
	static struct cause c;
	static struct why w;
	FILE *const caught = fmemopen(trace_said, sizeof(trace_said), "w"), *const before = stderr, *nowhere;
	char reason[CAUSE_REASON_BYTES] = "";
	int error;

	INSIST(caught);
	nowhere = fopen("/dev/null", "we");
	INSIST(nowhere);
	memset(trace_said, 0, sizeof(trace_said));
	memset(&o, 0, sizeof(o));
	stderr = caught; /* in glibc it is a variable */
	error = evidence_open(&e, trace_folder, reason);
	if (!error) {
		error = cause_find(&c, &o, &e, reason);
		write_timeline(&e, &o, &c); /* also without a cause */
	}
	if (!error) {
		explain_write(nowhere, &c, &e, "");
		why_take(&w, &c, &e);
	}
	owners_free(&o);
	evidence_close(&e);
	if (error)
		fprintf(stderr, "%s\n", reason);
	stderr = before;
	fclose(caught);
	fclose(nowhere);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	unsigned lines = 0;
	int error;

	make_trace_folder();
	put_trace_files(data, bytes);
	error = explain_trace();
	for (const char *c = trace_said; *c; c++) {
		lines += *c == '\n';
		INSIST(*c == '\n' || text_shown(*c) == *c);
	}
	/* Besides a refusal, breach.json that cannot be read, and pages that cannot be read, have a line each. */
	INSIST(error <= 0 && lines <= 3 && (!error || lines));
	return 0;
}
