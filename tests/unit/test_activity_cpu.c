// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=host/counters/activity.c,host/counters/activity_fields.c,host/counters/activity_inside.c,host/counters/activity_interrupts.c,host/counters/activity_nic.c,host/counters/activity_text.c,host/counters/activity_vm.c libs= */
/* activity_cpu.c against the files of an Intel CPU, and of others. */
#include "host/counters/activity_cpu.c"

#include "util.h"

#include "activity_bench.h"

static void test_cpu_and_link(void **state)
{
	(void)state;
	put_smi(7);
	open_at(1);
	assert_false(is_noted("SMI"));
	put_smi(9);
	put_file("/proc/stat", "cpu  40 0 50 60 0 0 0 80 0 0\ncpu0 10 0 10 10 0 0 0 99 0 0\n"
		 "cpu1 99 0 10 10 0 0 0 33 0 0\n");
	put_file("/proc/net/dev", "    lo: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n"
		 "  eth0:999 999 2 4 6 8 99 99 999 999 10 12 14 16 18 99\n");
	put_file("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1200000\n");
	put_file("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "1\n");
	put_file("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "6\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state1/usage", "9\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state1/time", "7900\n");
	compare_now();
	assert_differences(15 + HAS_SMI_COUNT);
	if (HAS_SMI_COUNT)
		assert_counted("CPU 1", "system management interrupts (SMI)", 2, "");
	assert_counted("CPU 1", "stolen by the hypervisor", 3 * 1000 / (uint64_t)sysconf(_SC_CLK_TCK), "ms");
	assert_change("CPU 1", "frequency", ACTIVITY_CHANGED, 3600000, 1200000);
	assert_counted("CPU 1", "core throttled by heat", 1, "");
	assert_counted("CPU 1", "package throttled by heat", 2, "");
	assert_counted("CPU 1", "idle state 1 C6 entered", 2, "");
	assert_counted("CPU 1", "idle state 1 C6", 900, "us");
	assert_counted("interface eth0", "receive errors", 1, "");
	assert_counted("interface eth0", "receive drops", 2, "");
	assert_counted("interface eth0", "receive FIFO errors", 3, "");
	assert_counted("interface eth0", "receive frame errors", 4, "");
	assert_counted("interface eth0", "transmit errors", 5, "");
	assert_counted("interface eth0", "transmit drops", 6, "");
	assert_counted("interface eth0", "transmit FIFO errors", 7, "");
	assert_counted("interface eth0", "collisions", 8, "");
	assert_counted("interface eth0", "carrier errors", 9, "");
}

/* ---- Disturbances ------------------------------------------------------------------------------------------------ */

static void test_measuring_reads_no_msr(void **state)
{
	(void)state;
	put_smi(7);
	open_at(1);
	put_smi(9);
	put_thread(11, 5, 2, 1);
	activity_read(&a, &after, true);
	found = activity_differences(&a, &before, &after, list, COUNT_OF(list));
	assert_counted("measuring thread", "voluntary context switches", 1, "");
	/* Neither as unchanged nor as gone. */
	assert_null(find("CPU 1", "system management interrupts (SMI)"));
	assert_false(activity_is_known(&after, a.inside->smi_slot));
	/* The other way round as well. */
	found = activity_differences(&a, &after, &before, list, COUNT_OF(list));
	assert_null(find("CPU 1", "system management interrupts (SMI)"));
}

static void test_smi_of_others(void **state)
{
	(void)state;
	if (!HAS_SMI_COUNT)
		skip();
	put_smi(7);
	put_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
	open_at(1);
	assert_noted("SMI count (only CPUs of Intel have one)");
	assert_int_equal(a.inside->fd[MSR], -1);
}

static void test_smi_cut_short(void **state)
{
	(void)state;
	if (!HAS_SMI_COUNT)
		skip();
	put_bytes("/dev/cpu/1/msr", (uint8_t[SMI_MSR + 4]){ 0 }, SMI_MSR + 4);
	open_at(1);
	assert_noted("SMI count (/dev/cpu/1/msr, MSR 0x34: Input/output error)");
	assert_int_equal(a.inside->smi_slot, NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cpu_and_link),
		TEST(test_measuring_reads_no_msr),
		TEST(test_smi_of_others),
		TEST(test_smi_cut_short),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
