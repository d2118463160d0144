// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit,nic_check_address,nic_find_own,nic_read_napis sources=doctor/cpus.c,doctor/finding.c,doctor/check_*.c,host/nic/nic*.c libs=-lnl-3 -lnl-genl-3 */
/*
 * Checks of CPUs, kernel, memory and tracing on simulated hosts: the lines of each check for a good, a bad and an
 * unreadable value.
 */
#include "doctor/facts.c"
#include "doctor/files.c"

#include "fake_machine.h"

/* ---- CPU --------------------------------------------------------------------------------------------------------- */

static void test_placement(void **state)
{
	(void)state;
	set_up();
	look("placement");
	CPU_SET(5, &c.cpus);
	look("placement");
	c.cpus_error = EINVAL;
	look("placement");
	look("scheduling");
	c.policy = SCHED_RR;
	look("scheduling");
	c.policy = SCHED_BATCH;
	look("scheduling");
	c.policy = 77;
	look("scheduling");
}

static void test_isolation(void **state)
{
	(void)state;
	set_up();
	look("isolated CPUs");
	put("/sys/devices/system/cpu/isolated", "\n");
	look("isolated CPUs");
	put("/sys/devices/system/cpu/isolated", "2,4-7\n");
	look("isolated CPUs");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "3\n");
	look("isolated CPUs");
	CPU_SET(8, &c.cpus);
	look("isolated CPUs");
	put("/sys/devices/system/cpu/isolated", "3,8,x\n");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "5\n");
	look("isolated CPUs");
	c.cpus_error = EINVAL;
	look("isolated CPUs");
	put("/sys/devices/system/cpu/isolated", "all\n");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "all\n");
	look("isolated CPUs");
}

static void test_nohz_full(void **state)
{
	(void)state;
	set_up();
	look("nohz_full");
	put("/sys/devices/system/cpu/nohz_full", "  (null)\n");
	look("nohz_full");
	put("/sys/devices/system/cpu/nohz_full", "(null)\n");
	look("nohz_full");
	put("/sys/devices/system/cpu/nohz_full", "2,4\n");
	look("nohz_full");
	put("/sys/devices/system/cpu/nohz_full", "3\n");
	look("nohz_full");
	put("/sys/devices/system/cpu/nohz_full", "3-1\n");
	look("nohz_full");
}

static void test_frequency(void **state)
{
	(void)state;
	set_up();
	look("governor");
	put("/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n");
	look("governor");
	CPU_SET(4, &c.cpus);
	put("/sys/devices/system/cpu/cpu4/cpufreq/scaling_governor", "powersave\n");
	look("governor");
	CPU_ZERO(&c.cpus);
	c.cpus_error = EINVAL;
	look("governor");
	look("turbo");
	put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
	look("turbo");
	put("/sys/devices/system/cpu/cpufreq/boost", "0\n");
	look("turbo");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	look("turbo");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	look("turbo");
}

static void put_state(int state, const char *name, const char *latency, const char *disable)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/latency", state);
	put(path, latency);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/name", state);
	put(path, name);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/disable", state);
	put(path, disable);
}

static void test_idle(void **state)
{
	const int32_t limit_us = 10;

	(void)state;
	set_up();
	look("idle states");
	put("/sys/devices/system/cpu/cpuidle/current_driver", "none\n");
	look("idle states");
	put("/sys/devices/system/cpu/cpuidle/current_driver", "acpi_idle\n");
	look("idle states");
	put_state(0, "POLL\n", "0\n", "0\n");
	put_state(1, "C1\n", "2\n", "0\n");
	put_state(2, "C6\n", "133\n", "0\n");
	put_state(3, "C10\n", "900\n", "1\n");
	look("idle states");
	put_bytes("/dev/cpu_dma_latency", "\x00\x94\x35\x77", 4); /* 2000 s, the default of the kernel */
	look("idle states");
	options.no_cpu_dma_latency = true;
	look("idle states");
	put_bytes("/dev/cpu_dma_latency", (const char *)&limit_us, 4);
	look("idle states");
	put_bytes("/dev/cpu_dma_latency", (const char *)&limit_us, 3);
	look("idle states");
	put_state(2, "C6\n", "133\n", "1\n");
	put_state(1, "C1\n", "1\n", "0\n");
	look("idle states");
}

static void test_smt(void **state)
{
	(void)state;
	set_up();
	look("SMT");
	put("/sys/devices/system/cpu/smt/active", "0\n");
	look("SMT");
	put("/sys/devices/system/cpu/smt/active", "1\n");
	look("SMT");
	put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3,7\n");
	look("SMT");
	put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3\n");
	look("SMT");
	put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "x\n");
	look("SMT");
	c.cpus_error = EINVAL;
	look("SMT");
	c.cpus_error = 0;
	CPU_SET(4, &c.cpus);
	look("SMT");
}

static void test_numa(void **state)
{
	(void)state;
	set_up();
	look("NUMA");
	put(DEVICE "/msi_irqs", NULL);
	find_device(&c);
	look("NUMA");
	put(DEVICE "/numa_node", "\n");
	look("NUMA");
	put(DEVICE "/numa_node", "1\n");
	look("NUMA");
	put("/sys/devices/system/node/node1/cpulist", "4-7\n");
	look("NUMA");
	put("/sys/devices/system/node/node1/cpulist", "3-7\n");
	look("NUMA");
	CPU_SET(2, &c.cpus);
	look("NUMA");
}

#define RUNTIME "/proc/sys/kernel/sched_rt_runtime_us"

static void test_throttling(void **state)
{
	(void)state;
	set_up();
	look("RT throttling");
	put(RUNTIME, "950000\n");
	look("RT throttling");
	put("/proc/sys/kernel/osrelease", "6.11.9-amd64\n");
	look("RT throttling");
	put(RUNTIME, "0\n");
	look("RT throttling");
	put(RUNTIME, "950000\n");
	put("/proc/sys/kernel/osrelease", "5.19.0\n");
	look("RT throttling");
	put("/proc/sys/kernel/osrelease", "6.12.1\n");
	look("RT throttling");
	put("/boot/config-6.12.1", "CONFIG_A=y\nCONFIG_RT_GROUP_SCHED=y\n# CONFIG_Z is not set\n");
	look("RT throttling");
	put("/boot/config-6.12.1", "CONFIG_A=y\n# CONFIG_RT_GROUP_SCHED is not set\nCONFIG_RT_GROUP_SCHED_X=y\n");
	look("RT throttling");
	put("/proc/sys/kernel/osrelease", "7.0.0\n");
	look("RT throttling");
	c.policy = SCHED_OTHER;
	look("RT throttling");
	put(RUNTIME, "-1\n");
	look("RT throttling");
	put(RUNTIME, "many\n");
	look("RT throttling");
}

#define SERVER "/sys/kernel/debug/sched/fair_server/cpu3/runtime"

static void test_fair_server(void **state)
{
	(void)state;
	set_up();
	look("fair server");
	put(SERVER, "50000000\n");
	look("fair server");
	put(SERVER, "0\n");
	look("fair server");
	c.policy = SCHED_OTHER;
	look("fair server");
}

static void test_watchdog(void **state)
{
	(void)state;
	set_up();
	look("watchdog");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	look("watchdog");
	put("/proc/sys/kernel/nmi_watchdog", "0\n");
	look("watchdog");
	put("/proc/sys/kernel/soft_watchdog", "1\n");
	look("watchdog");
	put("/proc/sys/kernel/watchdog_cpumask", "0-2,4\n");
	look("watchdog");
	put("/proc/sys/kernel/watchdog_cpumask", "0-4\n");
	look("watchdog");
	put("/proc/sys/kernel/soft_watchdog", "0\n");
	look("watchdog");
}

static void test_preemption(void **state)
{
	(void)state;
	set_up();
	look("preemption");
	put("/proc/version", "Linux version 6.12 #1 SMP PREEMPT_DYNAMIC Debian\n");
	look("preemption");
	put("/proc/version", "Linux version 6.12 #1 SMP PREEMPT Debian\n");
	look("preemption");
	put("/proc/version", "Linux version 6.12 #1 SMP Debian\n");
	look("preemption");
	put("/sys/kernel/realtime", "0\n");
	look("preemption");
	put("/sys/kernel/realtime", "1\n");
	look("preemption");
	put("/sys/kernel/realtime", "0\n");
	put("/proc/version", "Linux version 6.1 #1 SMP PREEMPT_RT Debian\n");
	look("preemption");
}

/* Replaces the number of the CPU, which depends on the host of the test. */
static void look_at_gap(void)
{
	look_quietly("largest gap");
	const char *cpu = strstr(said, " on CPU ");

	assert_non_null(cpu);
	cpu += strlen(" on CPU ");
	golden("%.*sN%s", (int)(cpu - said), said, cpu + strspn(cpu, "0123456789"));
}

static void test_gap(void **state)
{
	(void)state;
	set_up();
	fake.reading_ns = 2000;
	look_at_gap();
	assert_true(fake.now_ns >= NS_PER_S && fake.now_ns < NS_PER_S + 10000);
	fake.readings = 0;
	fake.long_reading_at = 1000;
	fake.long_reading_ns = 10001;
	look_at_gap();
	fake.readings = 0;
	fake.long_reading_ns = 100001;
	look_at_gap();
}

/* ---- Memory, tracing --------------------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";

	(void)state;
	set_up();
	look("huge pages");
	put(path, "always [madvise] never\n");
	look("huge pages");
	put(path, "[always] madvise never\n");
	look("huge pages");
	look("memory lock");
	put("/proc/self/status", "Name:\trant\n");
	look("memory lock");
	put("/proc/self/status", "CapEff:\t0000000000000000\n");
	look("memory lock");
	fake.memlock = 8192 * 1024;
	look("memory lock");
	put("/proc/self/status", "CapEff:\t0000000000004000\n");
	look("memory lock");
}

/* CAP_NET_ADMIN 12, CAP_NET_RAW 13, CAP_NET_BIND_SERVICE 10, CAP_SYS_NICE 23, CAP_IPC_LOCK 14, CAP_SETPCAP 8. */
static void test_capabilities(void **state)
{
	(void)state;
	set_up();
	look("capabilities");
	put("/proc/self/status", "CapEff:\t0000000000807500\n");
	look("capabilities");
	put("/proc/self/status", "CapEff:\t0000000000007500\n");
	look("capabilities");
	put("/proc/self/status", "CapEff:\tffffffffff7f8aff\n");
	look("capabilities");
}

static void test_tracefs(void **state)
{
	(void)state;
	set_up();
	look("tracefs");
	put("/sys/kernel/tracing/trace_marker", "");
	put("/sys/kernel/tracing/current_tracer", "nop\n");
	put("/sys/kernel/tracing/set_event", "\n");
	look("tracefs");
	put("/sys/kernel/tracing/snapshot", "");
	look("tracefs");
	put("/sys/kernel/tracing/set_event", "irq:irq_handler_entry\nsched:sched_switch\n");
	look("tracefs");
	put("/sys/kernel/tracing/current_tracer", "function\n");
	look("tracefs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_placement), TEST(test_isolation), TEST(test_nohz_full), TEST(test_frequency),
		TEST(test_idle), TEST(test_smt), TEST(test_numa), TEST(test_throttling), TEST(test_fair_server),
		TEST(test_watchdog), TEST(test_preemption), TEST(test_gap), TEST(test_memory), TEST(test_capabilities),
		TEST(test_tracefs),
	};

	util_seed();
	return golden_run_group(tests, make_machine, remove_machine);
}
