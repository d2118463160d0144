/* build: wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close,setmntent sources=host/trace/trace_raw.c,host/trace/trace_symbols.c,host/trace/trace_events.c,tracefs.c,host/trace/trace_files.c,host/trace/trace_save.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Conditions that reduce the value of the trace, with a folder of plain files. */
#include "host/trace/trace_doubt.c"

#include "golden.h"
#include "fake_tracefs.h"

#include <sched.h>

static void test_markers_switched_off(void **state)
{
	(void)state;
	put_file("options/markers", "0\n");
	assert_int_equal(open_it(false, 1000), -EINVAL);
	golden_line(said);
}

static void test_no_events(void **state)
{
	(void)state;
	put_file("set_event", "");
	assert_int_equal(open_it(false, 50000), 0);
	golden_line(said);
	trace_close(&t);

	put_file("current_tracer", "function\n");
	assert_int_equal(open_it(false, 1000), 0);
	assert_silent();
}

/* Its events and its buffer are the choice of this program, and it is gone after the run. */
static void test_no_doubt_of_an_instance_made_here(void **state)
{
	(void)state;
	put_file("set_event", "");
	put_file("buffer_size_kb", "1\n");
	fake.no_mkdir = fake.keep = true;
	assert_int_equal(open_it(false, 50000), 0);
	assert_silent();
}

static void test_small_buffer(void **state)
{
	(void)state;
	/* 3 of the 4 events come with each packet, with 64 bytes: 1000 packets/s need 187.5 KiB. */
	put_file("buffer_size_kb", "188\n");
	assert_int_equal(open_it(false, 1000), 0);
	assert_silent();
	trace_close(&t);
	put_file("buffer_size_kb", "187 (expanded: 1408)\n");
	assert_int_equal(open_it(false, 1000), 0);
	golden_line(said);
	trace_close(&t);
	put_file("buffer_size_kb", "X\n");
	put_file("per_cpu/cpu1/buffer_size_kb", "1410\n");
	assert_int_equal(open_it(false, 50000), 0);
	golden_line(said);
	trace_close(&t);
	remove_file("per_cpu/cpu0/buffer_size_kb");
	remove_file("per_cpu/cpu1/buffer_size_kb");
	assert_int_equal(open_it(false, 50000), 0);
	assert_silent(); /* not known is not too small */
}

static void test_clocks(void **state)
{
	static const char *const good[] = { "mono_raw", "tai", "mono", "boot" };
	static const char *const bad[] = { "local", "global", "counter", "x86-tsc" };
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good) + COUNT_OF(bad); i++) {
		const char *name = i < COUNT_OF(good) ? good[i] : bad[i - COUNT_OF(good)];

		snprintf(text, sizeof(text), "perf [%s] uptime\n", name);
		put_file("trace_clock", text);
		assert_int_equal(open_it(false, 1000), 0);
		assert_string_equal(t.clock, name);
		if (i < COUNT_OF(good))
			assert_silent();
		else
			golden_line(said);
		trace_close(&t);
	}
	remove_file("trace_clock");
	assert_int_equal(open_it(false, 1000), 0);
	assert_string_equal(t.clock, "unknown");
}

static void test_cpu_mask(void **state)
{
	static const struct {
		const char *mask;
		size_t cpu;
		bool in;
	} rows[] = {
		{ "3", 0, true }, { "3", 1, true }, { "3", 2, false }, { "8", 3, true }, { "f0", 3, false },
		{ "f0", 4, true }, { "a", 1, true }, { "a", 2, false }, { "00000001,00000000", 32, true },
		{ "", 0, false }, { "00000001,00000000", 0, false }, { "80000000,00000000", 63, true },
		{ "80000000,00000000", 64, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (trace_in_mask(rows[i].mask, rows[i].cpu) != rows[i].in)
			fail_msg("%s, CPU %zu", rows[i].mask, rows[i].cpu);
}

static void test_cpu_not_traced(void **state)
{
	cpu_set_t before, one;
	int first = -1, second = -1, error_one, error_none;
	char mask[80];

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int cpu = 0; cpu < 32; cpu++) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		if (first < 0)
			first = cpu;
		else if (second < 0)
			second = cpu;
	}
	if (second < 0) {
		print_message("needs two CPUs below 32\n");
		skip();
	}
	snprintf(mask, sizeof(mask), "tracing_cpumask (%x) leaves out CPU %d", 1U << second, first);
	golden_hide("tracing_cpumask (MASK) leaves out CPU N", mask);
	snprintf(mask, sizeof(mask), "%x\n", 1U << second);
	put_file("tracing_cpumask", mask);
	error_one = open_it(false, 1000);
	assert_int_equal(error_one, 0);
	golden_line(said);
	trace_close(&t);
	CPU_ZERO(&one);
	CPU_SET((size_t)first, &one);
	sched_setaffinity(0, sizeof(one), &one);
	error_none = open_it(false, 1000);
	sched_setaffinity(0, sizeof(before), &before);
	assert_int_equal(error_none, -EINVAL);
	golden_line(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_markers_switched_off),
		PLAIN(test_no_events),
		PLAIN(test_no_doubt_of_an_instance_made_here),
		PLAIN(test_small_buffer),
		PLAIN(test_clocks),
		PLAIN(test_cpu_mask),
		PLAIN(test_cpu_not_traced),
	};

	util_seed();
	return golden_run(tests);
}
