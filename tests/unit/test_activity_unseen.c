// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=host/counters/activity.c,host/counters/activity_cpu.c,host/counters/activity_fields.c,host/counters/activity_inside.c,host/counters/activity_interrupts.c,host/counters/activity_nic.c,host/counters/activity_text.c,host/counters/activity_vm.c libs= */
/* SMI count and stolen time around a freeze, from files of a machine. */
#include "host/counters/activity_unseen.c"

#include "util.h"

#include "activity_bench.h"

static struct unseen_watch w;

static void put_steal(unsigned ticks)
{
	put_file("/proc/stat", "cpu  40 0 50 60 0 0 0 80 0 0\ncpu0 10 0 10 10 0 0 0 99 0 0\n"
		 "cpu1 99 0 10 10 0 0 0 %u 0 0\n", ticks);
}

static void begin_at(int cpu)
{
	open_at(cpu);
	w = (struct unseen_watch){ .activity = &a };
	activity_unseen_begin(&w);
}

static int64_t now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC_RAW);
}

/* The SMI count between two freezes, and the stolen time since the last reading before the late stage. */
static void two_freezes(void **state)
{
	const int64_t tick_ms = activity_unseen_step_ms();
	int64_t breach_ns;

	(void)state;
	put_smi(UINT32_MAX);
	put_steal(30);
	begin_at(1);
	put_steal(31);
	activity_unseen_look(&w, 0, 0);
	assert_false(w.reading[0].smi.known); /* no interrupt of the measuring CPU */
	breach_ns = now_ns() + 2 * NS_PER_MS;
	while (now_ns() <= breach_ns)
		;
	put_steal(33); /* read within the late stage */
	activity_unseen_look(&w, 0, 0);
	put_steal(34);
	put_smi(2);
	activity_unseen_look(&w, breach_ns, NS_PER_MS / 2);
	assert_int_equal(w.breach_ns, breach_ns);
	assert_int_equal(w.before.steal_ms.value, 31 * tick_ms);
	assert_true(w.before.ended_ns <= breach_ns - NS_PER_MS / 2);
	assert_int_equal(w.after.steal_ms.value, 34 * tick_ms);
	assert_true(w.after.began_ns >= breach_ns);
	assert_int_equal(w.smi_before.smi.known, HAS_SMI_COUNT);
	assert_int_equal(w.after.smi.known, HAS_SMI_COUNT);
	if (HAS_SMI_COUNT) {
		assert_int_equal(w.smi_before.smi.value, UINT32_MAX);
		assert_int_equal(w.after.smi.value, 2);
	}
	assert_false(w.after.disruptions.known); /* no such device */
	/* The same freeze is read once. */
	put_smi(7);
	activity_unseen_look(&w, breach_ns, NS_PER_MS / 2);
	assert_int_equal(w.after.smi.value, HAS_SMI_COUNT ? 2 : 0);
	/* The next freeze without a reading between: both begin at the previous freeze. */
	activity_unseen_look(&w, now_ns(), 1);
	assert_int_equal(w.smi_before.smi.value, HAS_SMI_COUNT ? 2 : 0);
	assert_int_equal(w.after.smi.value, HAS_SMI_COUNT ? 7 : 0);
	assert_int_equal(w.before.began_ns, w.smi_before.began_ns);
}

/* A stage that is longer than the kept readings: the reading before the run. */
static void a_stage_longer_than_the_readings(void **state)
{
	(void)state;
	put_smi(7);
	put_steal(30);
	begin_at(1);
	const int64_t began_ns = w.last.began_ns;

	for (unsigned i = 0; i < UNSEEN_READINGS + 5; i++)
		activity_unseen_look(&w, 0, 0);
	activity_unseen_look(&w, now_ns(), NS_PER_S);
	assert_int_equal(w.before.began_ns, began_ns);
}

static void disruptions(void **state)
{
	const struct { uint32_t magic, size; uint16_t version; uint8_t counter, type; uint32_t sequence; uint64_t marker; }
		one = { 0x4b4c4356, 4096, 1, 0, 0, 2, 7 }, two = { 0x4b4c4356, 4096, 1, 0, 0, 4, 8 };

	(void)state;
	put_bytes("/dev/vmclock0", &one, sizeof(one));
	begin_at(1);
	put_bytes("/dev/vmclock0", &two, sizeof(two));
	activity_unseen_look(&w, now_ns(), 1);
	assert_int_equal(w.before.disruptions.value, 7);
	assert_int_equal(w.after.disruptions.value, 8);
}

/* Not known, with the reason, and never 0. */
static void not_readable(void **state)
{
	char why[128];

	(void)state;
	put_file("/proc/stat", "cpu  40 0 50 60 0 0 0 80 0 0\ncpu0 10 0 10 10 0 0 0 99 0 0\n");
	put_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
	begin_at(1);
	activity_unseen_look(&w, now_ns(), 1);
	assert_false(w.after.smi.known || w.after.steal_ms.known || w.smi_before.smi.known || w.before.steal_ms.known);
	assert_string_equal(activity_unseen_why(&a, false, why, sizeof(why)), "not in /stat");
	if (HAS_SMI_COUNT)
		assert_string_equal(activity_unseen_why(&a, true, why, sizeof(why)), "only CPUs of Intel have one");
	activity_close(&a);
	begin_at(-1);
	activity_unseen_look(&w, now_ns(), 1);
	assert_false(w.after.smi.known || w.after.steal_ms.known);
	assert_string_equal(activity_unseen_why(&a, true, why, sizeof(why)), "the measuring thread is not bound to one CPU");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_freezes),
		TEST(a_stage_longer_than_the_readings),
		TEST(disruptions),
		TEST(not_readable),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
