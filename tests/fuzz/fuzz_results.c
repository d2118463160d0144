// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Anything at all as what a run has left, for libFuzzer (make fuzz); tests/unit/test_fuzz_results.c runs the kept
 * inputs and changes of them in every check. The first octet selects the command: --report, --compare with
 * another file of the same contents, or --report of two files, which an octet of 0xff parts, with all that can be made
 * of them. It must not crash, and a refusal must be one line.
 */
#include "options.h"
#include "report/text/status.h"
#include "analyse/compare.h"
#include "analyse/results.h"

#include "tests/fuzz/insist.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static char results_said[8192]; /* on stderr */

/* A file that has no name but that of its descriptor. */
static int file_with(const uint8_t *data, size_t bytes, char path[32])
{
	const int fd = memfd_create("input", MFD_CLOEXEC);

	INSIST(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static int run_results(const struct options *o)
{
	FILE *const caught = fmemopen(results_said, sizeof(results_said), "w"), *const before = stderr,
			     *const out = stdout, *nowhere;
	int status;

	INSIST(caught);
	nowhere = fopen("/dev/null", "we");
	INSIST(nowhere);
	results_said[0] = '\0';
	stderr = caught; /* in glibc they are variables */
	stdout = nowhere;
	status = results_main(o);
	stderr = before;
	stdout = out;
	fclose(caught);
	fclose(nowhere);
	return status;
}

static void check_refused(int status)
{
	const char *newline = strchr(results_said, '\n');

	INSIST(status == STATUS_FAILED || status == STATUS_DONE || status == COMPARE_WORSE);
	if (status != STATUS_FAILED)
		INSIST(!*results_said);
	else
		INSIST(newline && !newline[1] && !strncmp(results_said, program_invocation_short_name,
							  strlen(program_invocation_short_name)));
	for (const char *c = results_said; *c && *c != '\n'; c++)
		INSIST(text_shown(*c) == *c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const uint8_t mode = bytes ? (uint8_t)(data[0] % 3) : 0, *rest = data + (bytes > 0);
	const size_t left = bytes - (bytes > 0);
	const uint8_t *parted = mode == 2 && left ? memchr(rest, 0xff, left) : NULL;
	const size_t first = parted ? (size_t)(parted - rest) : left;
	struct options o = { .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US, .histogram = true,
			     .report = mode != 1, .compare = mode == 1,
			     .json_path = mode ? "/dev/null" : NULL, .jsonl_path = mode == 2 ? "/dev/null" : NULL,
			     .hlog_path = mode == 2 ? "/dev/null" : NULL };
	char path[2][32], *files[2] = { path[0], path[1] };
	int fd[2] = { file_with(rest, first, path[0]), -1 };

	if (parted)
		fd[1] = file_with(parted + 1, left - first - 1, path[1]);
	else if (mode == 1)
		fd[1] = file_with(rest, left, path[1]);
	o.file = files;
	o.files = mode == 1 || parted ? 2 : 1;
	check_refused(run_results(&o));
	close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
	return 0;
}
