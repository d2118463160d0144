/* build: wraps= sources=host/trace/trace_[a-p]*.c,host/trace/trace_ra*.c,host/trace/trace_ru*.c,host/trace/trace_s*.c,tracefs.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* How far back a frozen trace reaches, by the files of its CPUs. */
#include "host/trace/trace_reach.c"

#include "util.h"

#include <fcntl.h>
#include <sys/stat.h>

#define EVENT_NS (5143 * NS_PER_S + 13 * NS_PER_US)

static char root[] = "/tmp/trace_reach.XXXXXX";
static struct trace t;

/* stats of a CPU; NULL: the file is not there. */
static void put_stats(int cpu, const char *text)
{
	char path[64], folder[64];
	FILE *out;

	snprintf(folder, sizeof(folder), "%s/per_cpu/cpu%d", root, cpu);
	snprintf(path, sizeof(path), "%s/stats", folder);
	mkdir(folder, 0755);
	unlink(path);
	if (!text)
		return;
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

#define STATS(overrun, oldest) \
	"entries: 5\noverrun: " overrun "\ncommit overrun: 0\nbytes: 200\noldest event ts: " oldest "\nnow ts:  5144.000000\n"

static int begin(void **state)
{
	char path[64];

	(void)state;
	t = (struct trace){ .clock = "mono_raw", .state = TRACE_FROZEN, .unsaved = true };
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/per_cpu", root);
	assert_int_equal(mkdir(path, 0755), 0);
	t.folder_fd = open(root, O_RDONLY | O_DIRECTORY);
	assert_true(t.folder_fd >= 0);
	put_stats(0, STATS("0", " 0.000000"));
	return 0;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	close(t.folder_fd);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	return 0;
}

/* -1: not known. */
static int reach(void)
{
	const struct optional reaches = trace_reaches(&t, EVENT_NS);

	return reaches.known ? (int)reaches.value : -1;
}

static void each_cpu_has_to_reach_back(void **state)
{
	static const struct {
		const char *stats;
		int reaches;
	} rows[] = {
		{ STATS("0", " 6000.000000"), 1 }, /* nothing was overwritten */
		{ STATS("9", " 5143.000013"), 1 },
		{ STATS("9", " 5143.000014"), 0 },
		{ STATS("9", " 5142.999999"), 1 },
		{ STATS("9", " 5144.000000"), 0 },
		{ STATS("9", " 12345678901234"), -1 }, /* a clock without nanoseconds */
		{ STATS("9", ""), -1 },
		{ "overrun: 9\n", -1 }, /* not after another line */
		{ "entries: 5\noverrun: \n", -1 },
		{ "", -1 },
		{ NULL, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		put_stats(1, rows[i].stats);
		if (reach() != rows[i].reaches)
			fail_msg("row %zu", i);
	}
	/* One CPU that does not is enough. */
	put_stats(0, STATS("1", " 5144.000000"));
	put_stats(1, STATS("9", " 5143.000013"));
	assert_int_equal(reach(), 0);
	put_stats(0, STATS("0", " 0.000000"));
	assert_int_equal(reach(), 1);
}

static void of_other_traces_it_is_not_known(void **state)
{
	(void)state;
	put_stats(1, STATS("0", " 5143.000013"));
	assert_int_equal(reach(), 1);
	t.unsaved = false;
	assert_int_equal(reach(), -1);
	t.unsaved = true;
	t.last.snapshot_taken = true;
	assert_int_equal(reach(), -1);
	t.last.snapshot_taken = false;
	t.state = TRACE_ARMED;
	assert_int_equal(reach(), -1);
	t.state = TRACE_FROZEN;
	strcpy(t.clock, "local");
	assert_int_equal(reach(), -1);
	strcpy(t.clock, "mono_raw");
	close(t.folder_fd);
	t.folder_fd = -1;
	assert_int_equal(reach(), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cpu_has_to_reach_back),
		cmocka_unit_test(of_other_traces_it_is_not_known),
	};

	return cmocka_run_group_tests_name("trace_reach", tests, begin, end);
}
