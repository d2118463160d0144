// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit,nic_check_address,nic_find_own sources=doctor/cpus.c,doctor/finding.c,doctor/driver.c,doctor/check_*.c,host/nic*.c libs=-lnl-3 -lnl-genl-3 */
/*
 * The doctor's checks of CPUs, kernel, memory and tracing on made-up machines. Of each check what it prints when all is
 * well, when not, and when it cannot tell.
 */
#include "doctor/facts.c"
#include "doctor/files.c"

#include "util.h"

#include "fake_machine.h"

/* ---- CPU --------------------------------------------------------------------------------------------------------- */

static void test_placement(void **state)
{
	(void)state;
	set_up();
	expect("placement", "ok    placement: only on CPU 3 (sched_getaffinity)\n");
	CPU_SET(5, &c.cpus);
	expect("placement",
	       "warn  placement: may run on CPU 3,5 (sched_getaffinity): to be moved during a run costs caches and "
	       "time: taskset -c 5 rant ...\n");
	c.cpus_error = EINVAL;
	expect("placement", "note  placement: cannot tell (sched_getaffinity: Invalid argument)\n");
	expect("scheduling", "ok    scheduling: SCHED_FIFO 22 (sched_getscheduler)\n");
	c.policy = SCHED_RR;
	look("scheduling");
	assert_non_null(strstr(said, "ok    scheduling: SCHED_RR 22 ("));
	c.policy = SCHED_BATCH;
	expect("scheduling",
	       "note  scheduling: SCHED_BATCH (sched_getscheduler): other tasks of that CPU take turns with it: rant "
	       "--fifo 22, below the priority of interrupt threads\n");
	c.policy = 77;
	look("scheduling");
	assert_non_null(strstr(said, "note  scheduling: another policy ("));
}

static void test_isolation(void **state)
{
	(void)state;
	set_up();
	expect("isolated CPUs",
	       "note  isolated CPUs: cannot tell (/sys/devices/system/cpu/isolated: " ENOENT_TEXT ")\n");
	put("/sys/devices/system/cpu/isolated", "\n");
	expect("isolated CPUs",
	       "warn  isolated CPUs: none (/sys/devices/system/cpu/isolated): the scheduler puts other tasks on the "
	       "measuring CPU: boot with isolcpus=managed_irq,domain,3 and taskset -c 3\n");
	put("/sys/devices/system/cpu/isolated", "2,4-7\n");
	look("isolated CPUs");
	assert_non_null(strstr(said,
			       "warn  isolated CPUs: CPU 2,4-7, this process is not kept to them (/sys/devices/system/cpu/"));
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "3\n");
	expect("isolated CPUs",
	       "ok    isolated CPUs: CPU 2-7, this process is on them (cpu/isolated, cpuset.cpus.isolated)\n");
	CPU_SET(8, &c.cpus);
	look("isolated CPUs");
	assert_non_null(strstr(said, "warn  isolated CPUs: CPU 2-7, this process is not"));
	put("/sys/devices/system/cpu/isolated", "3,8,x\n");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "5\n");
	look("isolated CPUs");
	assert_non_null(strstr(said, "warn  isolated CPUs: CPU 5, this process is not kept to them ("));
	c.cpus_error = EINVAL;
	expect("isolated CPUs", "note  isolated CPUs: cannot tell (sched_getaffinity: Invalid argument)\n");
	put("/sys/devices/system/cpu/isolated", "all\n");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "all\n");
	expect("isolated CPUs",
	       "note  isolated CPUs: cannot tell (/sys/devices/system/cpu/isolated: Invalid argument)\n");
}

static void test_nohz_full(void **state)
{
	(void)state;
	set_up();
	expect("nohz_full", "note  nohz_full: cannot tell (/sys/devices/system/cpu/nohz_full: " ENOENT_TEXT ")\n");
	put("/sys/devices/system/cpu/nohz_full", "  (null)\n");
	look("nohz_full");
	assert_non_null(strstr(said, "ok    nohz_full: off for this process ("));
	put("/sys/devices/system/cpu/nohz_full", "(null)\n");
	look("nohz_full");
	assert_non_null(strstr(said, "ok    nohz_full: off for this process ("));
	put("/sys/devices/system/cpu/nohz_full", "2,4\n");
	look("nohz_full");
	assert_non_null(strstr(said, "ok    nohz_full: off for this process ("));
	put("/sys/devices/system/cpu/nohz_full", "3\n");
	expect("nohz_full",
	       "note  nohz_full: CPU 3 (/sys/devices/system/cpu/nohz_full): no tick there, but each system call "
	       "costs more, and rant makes some for each packet: compare with a boot without nohz_full\n");
	put("/sys/devices/system/cpu/nohz_full", "3-1\n");
	expect("nohz_full", "note  nohz_full: cannot tell (/sys/devices/system/cpu/nohz_full: Invalid argument)\n");
}

static void test_frequency(void **state)
{
	(void)state;
	set_up();
	expect("governor",
	       "note  governor: cannot tell (/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor: " ENOENT_TEXT
	       ")\n");
	put("/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n");
	expect("governor", "ok    governor: performance (cpufreq/scaling_governor)\n");
	CPU_SET(4, &c.cpus);
	put("/sys/devices/system/cpu/cpu4/cpufreq/scaling_governor", "powersave\n");
	expect("governor",
	       "warn  governor: powersave (/sys/devices/system/cpu/cpu4/cpufreq/scaling_governor): the CPU slows "
	       "down and speeds up with its load: cpupower frequency-set -g performance\n");
	CPU_ZERO(&c.cpus);
	c.cpus_error = EINVAL;
	expect("governor", "note  governor: cannot tell (sched_getaffinity: Invalid argument)\n");
	expect("turbo", "note  turbo: cannot tell (/sys/devices/system/cpu/cpufreq/boost: " ENOENT_TEXT ")\n");
	put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
	expect("turbo",
	       "note  turbo: on (/sys/devices/system/cpu/cpufreq/boost): the frequency depends on what the other "
	       "cores do: echo 0 >/sys/devices/system/cpu/cpufreq/boost\n");
	put("/sys/devices/system/cpu/cpufreq/boost", "0\n");
	expect("turbo", "ok    turbo: off (/sys/devices/system/cpu/cpufreq/boost)\n");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	expect("turbo",
	       "note  turbo: on (/sys/devices/system/cpu/intel_pstate/no_turbo): the frequency depends on what the "
	       "other cores do: echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo\n");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	expect("turbo", "ok    turbo: off (/sys/devices/system/cpu/intel_pstate/no_turbo)\n");
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
	expect("idle states",
	       "note  idle states: cannot tell (/sys/devices/system/cpu/cpuidle/current_driver: " ENOENT_TEXT ")\n");
	put("/sys/devices/system/cpu/cpuidle/current_driver", "none\n");
	expect("idle states", "ok    idle states: no states to be read, driver 'none' (/sys/devices/system/cpu/cpuidle/"
			      "current_driver)\n");
	put("/sys/devices/system/cpu/cpuidle/current_driver", "acpi_idle\n");
	look("idle states");
	assert_non_null(strstr(said, "note  idle states: no states to be read, driver 'acpi_idle' ("));
	put_state(0, "POLL\n", "0\n", "0\n");
	put_state(1, "C1\n", "2\n", "0\n");
	put_state(2, "C6\n", "133\n", "0\n");
	put_state(3, "C10\n", "900\n", "1\n");
	expect("idle states",
	       "warn  idle states: deepest is 'C6', 133 us to leave (cpu3/cpuidle/state2, /dev/cpu_dma_latency): a "
	       "CPU that sleeps so wakes up that late: run as root, then rant holds the limit at 0\n");
	put_bytes("/dev/cpu_dma_latency", "\x00\x94\x35\x77", 4); /* 2000 s, the kernel's default */
	expect("idle states",
	       "ok    idle states: deepest is 'C6', 133 us to leave; rant holds the limit at 0 during a run "
	       "(cpu3/cpuidle/state2, /dev/cpu_dma_latency)\n");
	options.no_cpu_dma_latency = true;
	expect("idle states",
	       "warn  idle states: deepest is 'C6', 133 us to leave (cpu3/cpuidle/state2, /dev/cpu_dma_latency): a "
	       "CPU that sleeps so wakes up that late: leave out --no-cpu-dma-latency\n");
	put_bytes("/dev/cpu_dma_latency", (const char *)&limit_us, 4);
	expect("idle states",
	       "ok    idle states: 'C6' (133 us to leave) is not entered, the limit is 10 us (cpu3/cpuidle/state2, "
	       "/dev/cpu_dma_latency)\n");
	put_bytes("/dev/cpu_dma_latency", (const char *)&limit_us, 3);
	look("idle states");
	assert_non_null(strstr(said, "warn  idle states: deepest is 'C6'"));
	put_state(2, "C6\n", "133\n", "1\n");
	put_state(1, "C1\n", "1\n", "0\n");
	look("idle states");
	assert_non_null(strstr(said, "note  idle states: deepest is 'C1', 1 us to leave ("));
}

static void test_smt(void **state)
{
	(void)state;
	set_up();
	expect("SMT", "note  SMT: cannot tell (/sys/devices/system/cpu/smt/active: " ENOENT_TEXT ")\n");
	put("/sys/devices/system/cpu/smt/active", "0\n");
	expect("SMT", "ok    SMT: off (/sys/devices/system/cpu/smt/active)\n");
	put("/sys/devices/system/cpu/smt/active", "1\n");
	expect("SMT",
	       "note  SMT: cannot tell (/sys/devices/system/cpu/cpu3/topology/thread_siblings_list: " ENOENT_TEXT
	       ")\n");
	put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3,7\n");
	expect("SMT",
	       "warn  SMT: CPU 7 shares the core of CPU 3 "
	       "(/sys/devices/system/cpu/cpu3/topology/thread_siblings_list): what runs there slows the measuring "
	       "loop down: echo 0 >/sys/devices/system/cpu/cpu7/online\n");
	put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3\n");
	look("SMT");
	assert_non_null(strstr(said, "ok    SMT: CPU 3 has its core for itself ("));
	put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "x\n");
	look("SMT");
	assert_non_null(strstr(said,
			       "note  SMT: cannot tell (/sys/devices/system/cpu/cpu3/topology/thread_siblings_list: Invalid"));
	c.cpus_error = EINVAL;
	look("SMT");
	assert_non_null(strstr(said, "note  SMT: on ("));
	c.cpus_error = 0;
	CPU_SET(4, &c.cpus);
	expect("SMT",
	       "note  SMT: on (/sys/devices/system/cpu/smt/active): two CPUs share a core; which one depends on "
	       "where this process runs: see 'placement'\n");
}

static void test_numa(void **state)
{
	(void)state;
	set_up();
	expect("NUMA", "note  NUMA: cannot tell, the driver names no device on a bus (ETHTOOL_GDRVINFO)\n");
	put(DEVICE "/msi_irqs", NULL);
	find_device(&c);
	expect("NUMA", "note  NUMA: cannot tell (" DEVICE "/numa_node: " ENOENT_TEXT ")\n");
	put(DEVICE "/numa_node", "\n");
	expect("NUMA", "note  NUMA: cannot tell, '' is no number (" DEVICE "/numa_node)\n");
	put(DEVICE "/numa_node", "1\n");
	expect("NUMA", "note  NUMA: cannot tell (/sys/devices/system/node/node1/cpulist: " ENOENT_TEXT ")\n");
	put("/sys/devices/system/node/node1/cpulist", "4-7\n");
	expect("NUMA",
	       "warn  NUMA: the NIC is on node 1, with CPU 4-7; this process may run on CPU 3 "
	       "(/sys/devices/system/node/node1/cpulist): every access to the NIC and its packets goes through "
	       "another node: taskset -c 4 rant ...\n");
	put("/sys/devices/system/node/node1/cpulist", "3-7\n");
	expect("NUMA", "ok    NUMA: NIC and process are on node 1 (/sys/devices/system/node/node1/cpulist)\n");
	CPU_SET(2, &c.cpus);
	look("NUMA");
	assert_non_null(strstr(said, "warn  NUMA: "));
}

#define RUNTIME "/proc/sys/kernel/sched_rt_runtime_us"

static void test_throttling(void **state)
{
	(void)state;
	set_up();
	expect("RT throttling", "note  RT throttling: cannot tell (" RUNTIME ": " ENOENT_TEXT ")\n");
	put(RUNTIME, "950000\n");
	expect("RT throttling", "note  RT throttling: cannot tell (/proc/sys/kernel/osrelease: " ENOENT_TEXT ")\n");
	put("/proc/sys/kernel/osrelease", "6.11.9-amd64\n");
	expect("RT throttling",
	       "warn  RT throttling: 950000 us of each second (" RUNTIME "): beyond that, real-time tasks are "
	       "stopped: sysctl -w kernel.sched_rt_runtime_us=-1\n");
	put(RUNTIME, "0\n");
	look("RT throttling");
	assert_non_null(strstr(said, "warn  RT throttling: 0 us of each second ("));
	put(RUNTIME, "950000\n");
	put("/proc/sys/kernel/osrelease", "5.19.0\n");
	look("RT throttling");
	assert_non_null(strstr(said, "warn  RT throttling"));
	put("/proc/sys/kernel/osrelease", "6.12.1\n");
	expect("RT throttling",
	       "note  RT throttling: 950000 us of each second, if built with CONFIG_RT_GROUP_SCHED: cannot tell ("
	       RUNTIME ", /boot/config-6.12.1): beyond that, real-time tasks are stopped: sysctl -w "
	       "kernel.sched_rt_runtime_us=-1\n");
	put("/boot/config-6.12.1", "CONFIG_A=y\nCONFIG_RT_GROUP_SCHED=y\n# CONFIG_Z is not set\n");
	expect("RT throttling", "warn  RT throttling: 950000 us of each second, with CONFIG_RT_GROUP_SCHED (" RUNTIME
				", /boot/config-6.12.1): beyond that, real-time tasks are stopped: sysctl -w "
				"kernel.sched_rt_runtime_us=-1\n");
	put("/boot/config-6.12.1", "CONFIG_A=y\n# CONFIG_RT_GROUP_SCHED is not set\nCONFIG_RT_GROUP_SCHED_X=y\n");
	expect("RT throttling",
	       "ok    RT throttling: not in force, Linux 6.12 and newer need CONFIG_RT_GROUP_SCHED (" RUNTIME
	       ", /boot/config-6.12.1)\n");
	put("/proc/sys/kernel/osrelease", "7.0.0\n");
	look("RT throttling");
	assert_non_null(strstr(said, "note  RT throttling"));
	c.policy = SCHED_OTHER;
	expect("RT throttling", "ok    RT throttling: this process is not real-time (sched_getscheduler)\n");
	put(RUNTIME, "-1\n");
	expect("RT throttling", "ok    RT throttling: off (" RUNTIME ")\n");
	put(RUNTIME, "many\n");
	expect("RT throttling", "note  RT throttling: cannot tell, 'many' is no number (" RUNTIME ")\n");
}

#define SERVER "/sys/kernel/debug/sched/fair_server/cpu3/runtime"

static void test_fair_server(void **state)
{
	(void)state;
	set_up();
	expect("fair server", "note  fair server: cannot tell (" SERVER ": " ENOENT_TEXT ")\n");
	put(SERVER, "50000000\n");
	expect("fair server",
	       "note  fair server: 50 ms (" SERVER "): so much of each second may go to other tasks, if any wait on "
	       "that CPU: echo 0 >" SERVER "\n");
	put(SERVER, "0\n");
	expect("fair server", "ok    fair server: off (" SERVER ")\n");
	c.policy = SCHED_OTHER;
	expect("fair server", "ok    fair server: this process is not real-time (sched_getscheduler)\n");
}

static void test_watchdog(void **state)
{
	(void)state;
	set_up();
	expect("watchdog", "note  watchdog: cannot tell (/proc/sys/kernel/nmi_watchdog: " ENOENT_TEXT ")\n");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	expect("watchdog",
	       "warn  watchdog: nmi_watchdog 1 (/proc/sys/kernel/nmi_watchdog): its interrupts cannot be held off, "
	       "and stop the loop now and then: sysctl -w kernel.nmi_watchdog=0\n");
	put("/proc/sys/kernel/nmi_watchdog", "0\n");
	expect("watchdog", "note  watchdog: cannot tell (/proc/sys/kernel/soft_watchdog: " ENOENT_TEXT ")\n");
	put("/proc/sys/kernel/soft_watchdog", "1\n");
	expect("watchdog",
	       "note  watchdog: nmi_watchdog off, soft_watchdog on (/proc/sys/kernel/soft_watchdog): a timer and a "
	       "thread of top priority on each CPU every few seconds: sysctl -w kernel.watchdog=0\n");
	put("/proc/sys/kernel/watchdog_cpumask", "0-2,4\n");
	expect("watchdog", "ok    watchdog: not on the CPUs of this process (/proc/sys/kernel/watchdog_cpumask)\n");
	put("/proc/sys/kernel/watchdog_cpumask", "0-4\n");
	look("watchdog");
	assert_non_null(strstr(said, "note  watchdog"));
	put("/proc/sys/kernel/soft_watchdog", "0\n");
	expect("watchdog", "ok    watchdog: off (/proc/sys/kernel/soft_watchdog)\n");
}

static void test_preemption(void **state)
{
	(void)state;
	set_up();
	expect("preemption", "note  preemption: cannot tell (/proc/version: " ENOENT_TEXT ")\n");
	put("/proc/version", "Linux version 6.12 #1 SMP PREEMPT_DYNAMIC Debian\n");
	expect("preemption",
	       "note  preemption: PREEMPT_DYNAMIC (/proc/version): long stretches of the kernel keep a task waiting, "
	       "or an interrupt's work: a kernel with PREEMPT_RT\n");
	put("/proc/version", "Linux version 6.12 #1 SMP PREEMPT Debian\n");
	look("preemption");
	assert_non_null(strstr(said, "note  preemption: PREEMPT ("));
	put("/proc/version", "Linux version 6.12 #1 SMP Debian\n");
	look("preemption");
	assert_non_null(strstr(said, "note  preemption: not PREEMPT_RT ("));
	put("/sys/kernel/realtime", "0\n");
	look("preemption");
	assert_non_null(strstr(said, "note  preemption"));
	put("/sys/kernel/realtime", "1\n");
	expect("preemption", "ok    preemption: PREEMPT_RT (/sys/kernel/realtime, /proc/version)\n");
	put("/sys/kernel/realtime", "0\n");
	put("/proc/version", "Linux version 6.1 #1 SMP PREEMPT_RT Debian\n");
	look("preemption");
	assert_non_null(strstr(said, "ok    preemption: PREEMPT_RT"));
}

static void test_gap(void **state)
{
	char where[96];

	(void)state;
	set_up();
	fake.reading_ns = 2000;
	snprintf(where, sizeof(where), "measured now, by this process, SCHED_FIFO 22 on CPU ");
	look("largest gap");
	assert_non_null(strstr(said, "ok    largest gap: 2.000 us without this CPU in one second of spinning ("));
	assert_non_null(strstr(said, where));
	assert_true(fake.now_ns >= NS_PER_S && fake.now_ns < NS_PER_S + 10000);
	fake.readings = 0;
	fake.long_reading_at = 1000;
	fake.long_reading_ns = 10001;
	look("largest gap");
	assert_non_null(strstr(said, "note  largest gap: 10.001 us without"));
	assert_non_null(strstr(said, "): a packet that comes then waits so long: see 'isolated CPUs', 'scheduling'\n"));
	fake.readings = 0;
	fake.long_reading_ns = 100001;
	look("largest gap");
	assert_non_null(strstr(said, "warn  largest gap: 100.001 us without"));
}

/* ---- Memory, tracing --------------------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";

	(void)state;
	set_up();
	expect("huge pages",
	       "note  huge pages: cannot tell (/sys/kernel/mm/transparent_hugepage/enabled: " ENOENT_TEXT ")\n");
	put(path, "always [madvise] never\n");
	expect("huge pages", "ok    huge pages: always [madvise] never (/sys/kernel/mm/transparent_hugepage/enabled)\n");
	put(path, "[always] madvise never\n");
	expect("huge pages",
	       "note  huge pages: always (/sys/kernel/mm/transparent_hugepage/enabled): memory of any program may be "
	       "remapped while it runs; rant's large arrays are exempt: echo madvise "
	       ">/sys/kernel/mm/transparent_hugepage/enabled\n");
	expect("memory lock", "note  memory lock: cannot tell (/proc/self/status: " ENOENT_TEXT ")\n");
	put("/proc/self/status", "Name:\trant\n");
	expect("memory lock", "note  memory lock: cannot tell (/proc/self/status: No data available)\n");
	put("/proc/self/status", "CapEff:\t0000000000000000\n");
	expect("memory lock", "ok    memory lock: no limit for this process (CapEff in /proc/self/status, getrlimit)\n");
	fake.memlock = 8192 * 1024;
	expect("memory lock",
	       "warn  memory lock: 8192 kB may be locked (CapEff in /proc/self/status, getrlimit): memory that is "
	       "not locked may fault in the loop: ulimit -l unlimited, or run as root\n");
	put("/proc/self/status", "CapEff:\t0000000000004000\n");
	look("memory lock");
	assert_non_null(strstr(said, "ok    memory lock"));
}

/* CAP_NET_ADMIN 12, CAP_NET_RAW 13, CAP_NET_BIND_SERVICE 10, CAP_SYS_NICE 23, CAP_IPC_LOCK 14, CAP_SETPCAP 8. */
static void test_capabilities(void **state)
{
	(void)state;
	set_up();
	expect("capabilities", "note  capabilities: cannot tell (/proc/self/status: " ENOENT_TEXT ")\n");
	put("/proc/self/status", "CapEff:\t0000000000807500\n");
	expect("capabilities", "ok    capabilities: all that rant makes use of (CapEff in /proc/self/status)\n");
	put("/proc/self/status", "CapEff:\t0000000000007500\n");
	expect("capabilities",
	       "note  capabilities: without cap_sys_nice (CapEff in /proc/self/status): what needs them is refused, or said to be left "
	       "out: sudo, or setcap as in docs/privileges.md\n");
	put("/proc/self/status", "CapEff:\tffffffffff7f8aff\n");
	look("capabilities");
	assert_non_null(strstr(said, "without cap_net_admin, cap_net_raw, cap_net_bind_service, cap_sys_nice, cap_ipc_lock, cap_setpcap (CapEff"));
}

static void test_tracefs(void **state)
{
	(void)state;
	set_up();
	expect("tracefs",
	       "note  tracefs: cannot be used: " ENOENT_TEXT " (/sys/kernel/tracing/trace_marker): without it a "
	       "spike cannot be marked in a trace: mount -t tracefs none /sys/kernel/tracing\n");
	put("/sys/kernel/tracing/trace_marker", "");
	put("/sys/kernel/tracing/current_tracer", "nop\n");
	put("/sys/kernel/tracing/set_event", "\n");
	expect("tracefs", "ok    tracefs: there, nothing is traced, without snapshots (/sys/kernel/tracing)\n");
	put("/sys/kernel/tracing/snapshot", "");
	expect("tracefs", "ok    tracefs: there, nothing is traced, with snapshots (/sys/kernel/tracing)\n");
	put("/sys/kernel/tracing/set_event", "irq:irq_handler_entry\nsched:sched_switch\n");
	expect("tracefs",
	       "note  tracefs: events are on, the first is irq:irq_handler_entry (/sys/kernel/tracing/set_event): "
	       "tracing moves what is measured: echo >/sys/kernel/tracing/set_event\n");
	put("/sys/kernel/tracing/current_tracer", "function\n");
	expect("tracefs",
	       "note  tracefs: tracer 'function' is on (/sys/kernel/tracing/current_tracer): tracing moves what is "
	       "measured: echo nop >/sys/kernel/tracing/current_tracer\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_placement), TEST(test_isolation), TEST(test_nohz_full), TEST(test_frequency),
		TEST(test_idle), TEST(test_smt), TEST(test_numa), TEST(test_throttling), TEST(test_fair_server),
		TEST(test_watchdog), TEST(test_preemption), TEST(test_gap), TEST(test_memory), TEST(test_capabilities), TEST(test_tracefs),
	};

	util_seed();
	return cmocka_run_group_tests_name("check_host", tests, make_machine, remove_machine);
}
