// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=host/counters/activity_cpu.c,host/counters/activity_fields.c,host/counters/activity_inside.c,host/counters/activity_interrupts.c,host/counters/activity_nic.c,host/counters/activity_text.c,host/counters/activity_vm.c libs= */
/*
 * activity.c and, in all, its parsers: against folders that stand for a machine, and against the real files of this
 * machine. The test of each parser has its particular cases.
 */
#include "host/counters/activity.c"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "util.h"

#include "activity_bench.h"

/* ---- A quiet and an active machine ------------------------------------------------------------------------------- */

static void test_nothing_happened(void **state)
{
	(void)state;
	open_at(1);
	compare_now();
	assert_differences(0);
	assert_int_equal(a.counters_left_out, 0);
	/* The stamps, statistics and MSR that this machine lacks, and no more. */
	assert_int_equal(is_noted("SMI count (/dev/cpu/1/msr: No such file or directory: 'modprobe msr')"),
			 HAS_SMI_COUNT);
	assert_noted("transmit stamps as the driver counts them (ethtool netlink: Operation not supported)");
	assert_noted("statistics of the NIC ('ethtool -S eth0': Operation not supported)");
	assert_int_equal(a.unreadables, 2 + HAS_SMI_COUNT);
}

static void test_thread(void **state)
{
	(void)state;
	open_at(1);
	put_thread(13, 9, 3, 2);
	compare_now();
	assert_differences(7);
	assert_counted("measuring thread", "voluntary context switches", 3, "");
	assert_counted("measuring thread", "involuntary context switches", 4, "");
	assert_counted("measuring thread", "migrations to another CPU", 1, "");
	assert_counted("measuring thread", "waited for the CPU", 4000, "ns");
	assert_counted("measuring thread", "minor page faults", 30, "");
	assert_counted("measuring thread", "major page faults", 300, "");
	assert_change("measuring thread", "runs on CPU", ACTIVITY_CHANGED, 1, 2);
}

static void test_not_pinned(void **state)
{
	(void)state;
	put_smi(7);
	open_at(-1);
	assert_noted("taskset");
	for (unsigned i = 0; i < a.inside->slots; i++)
		assert_true(a.inside->slot[i].group != GROUP_CPU && a.inside->slot[i].group != GROUP_INTERRUPTS &&
			    a.inside->slot[i].group != GROUP_SOFTIRQS);
	assert_true(before.rows);
	put_thread(11, 5, 2, 0);
	compare_now();
	assert_counted("measuring thread", "voluntary context switches", 1, "");
	assert_int_equal(a.inside->vector_cpus, 2);
}

static void test_list_is_full(void **state)
{
	struct activity_difference *short_list = malloc(2 * sizeof(*short_list));

	(void)state;
	open_at(1);
	put_thread(13, 9, 3, 2);
	activity_read(&a, &after, false);
	assert_int_equal(activity_differences(&a, &before, &after, short_list, 2), 7);
	assert_string_equal(short_list[1].name, "involuntary context switches");
	assert_int_equal(activity_differences(&a, &before, &after, NULL, 0), 7);
	free(short_list);
}

/* ---- Counters that go back --------------------------------------------------------------------------------------- */

static void put_loc(uint64_t count, uint64_t sum_of_others)
{
	put_file("/proc/interrupts", "  CPU0 CPU1\n 130: %llu 0 PCI-MSIX-0000:03:00.0 1-edge eth0-TxRx-0\n"
		 " LOC: 0 %llu Local timer interrupts\n", (unsigned long long)sum_of_others, (unsigned long long)count);
}

static void test_wrap_and_reset(void **state)
{
	static const struct {
		uint64_t from, to;
		enum activity_change change;
		uint64_t delta;
	} cases[] = {
		{ 4294967291, 3, ACTIVITY_COUNTED, 8 },
		{ 4294967295, 0, ACTIVITY_COUNTED, 1 },
		{ 2147483648, 0, ACTIVITY_COUNTED, 2147483648 },
		{ 2147483647, 0, ACTIVITY_RESET, 0 },
		{ 5000, 3, ACTIVITY_RESET, 0 },
		{ 0, 4294967295, ACTIVITY_COUNTED, 4294967295 },
		{ 8589934592, 0, ACTIVITY_RESET, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		put_loc(cases[i].from, cases[i].from);
		open_at(1);
		put_loc(cases[i].to, cases[i].to);
		compare_now();
		if (cases[i].change == ACTIVITY_COUNTED)
			assert_counted("interrupts on CPU 1", "LOC Local timer interrupts", cases[i].delta, "");
		assert_change("interrupts on CPU 1", "LOC Local timer interrupts", cases[i].change, cases[i].from,
			      cases[i].to);
		assert_change("interrupts of eth0, on all CPUs", "IRQ 130 eth0-TxRx-0", cases[i].change, cases[i].from,
			      cases[i].to);
		activity_close(&a);
	}
}

/* 64-bit counters never wrap: a counter that falls was reset. */
static void test_wide_counter_goes_back(void **state)
{
	(void)state;
	put_file("/proc/net/dev", "  eth0:0 0 4294967291 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	open_at(1);
	put_file("/proc/net/dev", "  eth0:0 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	compare_now();
	assert_change("interface eth0", "receive errors", ACTIVITY_RESET, 4294967291, 3);
}

/* ---- Unreadable files -------------------------------------------------------------------------------------------- */

static void test_nothing_there(void **state)
{
	(void)state;
	nftw(folder, drop_entry, 16, FTW_DEPTH | FTW_PHYS);
	assert_int_equal(mkdir(folder, 0700), 0);
	nic.bus = NULL;
	open_at(1);
	compare_now();
	assert_differences(0);
	assert_int_equal(a.inside->slots, 0);
	assert_noted("context switches (/proc/self/task/77/status: No such file or directory)");
	assert_noted("migrations (/proc/self/task/77/sched: No such file or directory)");
	assert_noted("page faults (/proc/self/task/77/stat: ");
	assert_noted("interrupts (/proc/interrupts: ");
	assert_noted("softirqs (/proc/softirqs: ");
	assert_noted("time stolen by the hypervisor (/proc/stat: ");
	assert_noted("errors and drops of the interface (/proc/net/dev: ");
	assert_noted("frequency (/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq: ");
	assert_noted("idle states (/sys/devices/system/cpu/cpu1/cpuidle/state0: ");
	assert_noted("core throttled by heat (");
	assert_int_equal(is_noted("SMI count ("), HAS_SMI_COUNT);
	assert_int_equal(a.unreadables_left_out, 0);
}

static void test_fields_missing(void **state)
{
	(void)state;
	put_file("/proc/self/task/77/sched", "rant (77, #threads: 2)\nse.nr_migrationsX : 1\nse.nr_migrations : x\n");
	put_file("/proc/net/dev", "  eth01: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  eth0: 1 2 3\n");
	put_file("/proc/stat", "cpu1 1 2 3 4 5 6 7\ncpu11 1 2 3 4 5 6 7 8 9 10\n");
	put_file("/proc/self/task/77/stat", "77 (rant) S 1 2 3");
	put_file("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "<unsupported>\n");
	open_at(1);
	compare_now();
	assert_differences(0);
	assert_noted("migrations to another CPU (not in /sched)");
	assert_noted("receive drops (not in /dev)");
	assert_noted("stolen by the hypervisor (not in /stat)");
	assert_noted("minor page faults (not in /stat)");
	assert_noted("runs on CPU (not in /stat)");
	assert_noted("frequency (/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq: holds no number)");
	/* Receive errors: the third number is there. */
	assert_true(activity_is_known(&before, a.inside->field_slot[9 - 1]));
}

static void test_gone_in_the_middle(void **state)
{
	(void)state;
	open_at(1);
	put_file("/proc/self/task/77/status", "%s", "");
	put_file("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "%s", "");
	compare_now();
	assert_change("measuring thread", "voluntary context switches", ACTIVITY_GONE, 10, 0);
	assert_change("CPU 1", "frequency", ACTIVITY_GONE, 3600000, 0);
}

/* More unreadable things than the list can name. */
static void test_too_many_notes(void **state)
{
	(void)state;
	open_at(1);
	for (int i = 0; i < ACTIVITY_UNREADABLE + 5; i++)
		activity_note(&a, "%0200d", i);
	assert_int_equal(a.unreadables, ACTIVITY_UNREADABLE);
	assert_int_equal(a.unreadables_left_out, 5 + 2 + HAS_SMI_COUNT);
}

/* Random octets, and good files with some of theirs changed: ASan and UBSan watch. */
static void test_garbage(void **state)
{
	static const char *const paths[] = {
		"/proc/self/task/77/status", "/proc/self/task/77/sched", "/proc/self/task/77/schedstat",
		"/proc/self/task/77/stat", "/proc/interrupts", "/proc/softirqs", "/proc/stat", "/proc/net/dev",
		"/proc/cpuinfo", "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq",
		"/sys/devices/system/cpu/cpu1/cpuidle/state0/name", "/sys/devices/system/cpu/cpu1/cpuidle/state0/usage",
		"/proc/irq/130/effective_affinity_list", "/dev/cpu/1/msr",
	};
	uint8_t bytes[4096];

	(void)state;
	for (int round = 0; round < 300; round++) {
		put_machine();
		for (size_t i = 0; i < COUNT_OF(paths); i++) {
			char whole[PATH_MAX + 64];
			int fd;
			ssize_t n;

			snprintf(whole, sizeof(whole), "%s%s", folder, paths[i]);
			fd = open(whole, O_RDONLY | O_CLOEXEC);
			n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
			if (fd >= 0)
				close(fd);
			if (util_below(4) == 0) {
				n = (ssize_t)util_below(sizeof(bytes));
				util_random_bytes(bytes, (size_t)n);
			}
			for (uint64_t k = util_below(6); k && n; k--)
				bytes[util_below((uint64_t)n)] = "\0\n: 9-C\xff"[util_below(8)];
			put_bytes(paths[i], bytes, (size_t)n);
		}
		if (round % 2)
			open_at(1);
		else
			compare_now();
		for (size_t i = 0; i < found; i++)
			for (const char *c = list[i].name; *c; c++)
				assert_true(*c >= ' ' && *c <= '~');
		if (round % 2 == 0)
			activity_close(&a);
		found = 0;
	}
}

/* ---- This machine ------------------------------------------------------------------------------------------------ */

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void *read_for_other(void *argument)
{
	activity_read(&a, argument, true);
	return NULL;
}

static void test_this_machine(void **state)
{
	static const struct nic lo = { .name = "lo" };
	struct nic n = lo;
	const struct activity_difference *d;
	unsigned files_before = open_files();
	pthread_t other;
	char *memory;

	(void)state;
	activity_root = "";
	nic.real = true;
	n.control_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(activity_open(&a, &n, (pid_t)syscall(SYS_gettid), 0), 0);
	activity_read(&a, &before, false);
	memory = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 64 * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < 64; i++)
		memory[i * 4096] = 1;
	usleep(1000);
	/* By the housekeeping thread, about the measuring thread. */
	assert_int_equal(pthread_create(&other, NULL, read_for_other, &after), 0);
	pthread_join(other, NULL);
	found = activity_differences(&a, &before, &after, list, COUNT_OF(list));
	munmap(memory, 64 * 4096);
	d = find("measuring thread", "voluntary context switches");
	assert_true(d && d->change == ACTIVITY_COUNTED && d->delta >= 1);
	d = find("measuring thread", "minor page faults");
	assert_true(d && d->change == ACTIVITY_COUNTED && d->delta >= 64);
	/* CPU 0 has interrupts; the tables were read to their end. */
	assert_true(after.rows && a.inside->rows > 3);
	assert_true(activity_is_known(&after, a.inside->row[0].cpu_slot));
	for (unsigned i = 0; i < a.inside->slots; i++)
		if (a.inside->slot[i].group == GROUP_LINK || a.inside->slot[i].group == GROUP_SOFTIRQS)
			assert_true(activity_is_known(&after, i));
	activity_close(&a);
	close(n.control_fd);
	assert_int_equal(open_files(), files_before);
}

struct mortal {
	_Atomic pid_t thread;
	int end_fd; /* a pipe: it ends when this does */
};

static void *live(void *argument)
{
	struct mortal *m = argument;
	char c;

	m->thread = (pid_t)syscall(SYS_gettid);
	return read(m->end_fd, &c, 1) < 0 ? NULL : NULL;
}

static void test_thread_that_ends(void **state)
{
	struct mortal m = { .thread = 0 };
	int ends[2];
	pthread_t other;

	(void)state;
	activity_root = "";
	assert_int_equal(pipe(ends), 0);
	m.end_fd = ends[0];
	assert_int_equal(pthread_create(&other, NULL, live, &m), 0);
	while (!m.thread)
		usleep(100);
	assert_int_equal(activity_open(&a, &eth0, m.thread, -1), 0);
	activity_read(&a, &before, false);
	assert_true(activity_is_known(&before, a.inside->field_slot[0]) &&
		    activity_is_known(&before, a.inside->field_slot[4]));
	close(ends[1]);
	pthread_join(other, NULL);
	close(ends[0]);
	/* The kernel may need a moment to take the thread out of /proc. */
	for (int i = 0; i < 1000 && !syscall(SYS_tgkill, getpid(), m.thread, 0); i++)
		usleep(1000);
	activity_read(&a, &after, false);
	found = activity_differences(&a, &before, &after, list, COUNT_OF(list));
	for (int i = 0; i < 7; i++)
		assert_false(activity_is_known(&after, a.inside->field_slot[i]));
	assert_int_equal(find("measuring thread", "minor page faults")->change, ACTIVITY_GONE);
	activity_close(&a);
	assert_int_equal(activity_open(&a, &eth0, m.thread, -1), 0);
	assert_noted("context switches (/proc/self/task/");
	assert_noted("No such file or directory");
}

static void test_closed(void **state)
{
	unsigned files_before = open_files();
	void *mapped;

	(void)state;
	nic.names = statistics;
	put_smi(1);
	activity_read(&a, &before, false);
	assert_int_equal(activity_differences(&a, &before, &before, list, COUNT_OF(list)), 0);
	open_at(1);
	mapped = a.inside->statistics;
	assert_int_equal(msync(mapped, 1, MS_ASYNC), 0);
	assert_true(open_files() > files_before + 10);
	activity_close(&a);
	assert_int_equal(msync(mapped, 1, MS_ASYNC), -1);
	assert_int_equal(open_files(), files_before);
	activity_close(&a);
	activity_read(&a, &after, false);
	assert_int_equal(activity_differences(&a, &before, &after, list, COUNT_OF(list)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_happened),
		TEST(test_thread),
		TEST(test_not_pinned),
		TEST(test_list_is_full),
		TEST(test_wrap_and_reset),
		TEST(test_wide_counter_goes_back),
		TEST(test_nothing_there),
		TEST(test_fields_missing),
		TEST(test_gone_in_the_middle),
		TEST(test_too_many_notes),
		TEST(test_garbage),
		TEST(test_this_machine),
		TEST(test_thread_that_ends),
		TEST(test_closed),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
