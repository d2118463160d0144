// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit,nic_check_address,nic_find_own,nic_read_napis sources=doctor/cpus.c,doctor/finding.c,doctor/check_*.c,host/nic/nic*.c libs=-lnl-3 -lnl-genl-3 */
/*
 * Facts that the doctor reads on a simulated host, and the checks of them: other programs, interrupts and their
 * threads, the folder of the NIC.
 */
#include "doctor/facts.c"
#include "doctor/files.c"

#include "fake_machine.h"

/* ---- Other programs ---------------------------------------------------------------------------------------------- */

static void put_process(int pid, const char *comm, const char *cmdline, size_t bytes, const char *fd3)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	put(path, comm);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	put_bytes(path, cmdline, bytes);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	put(path, NULL);
	if (!fd3)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/0", pid);
	put(path, "->/dev/null");
	snprintf(path, sizeof(path), "/proc/%d/fd/3", pid);
	put(path, fd3);
	snprintf(path, sizeof(path), "/proc/%d/fd/4", pid);
	put(path, "->/a/name/that/is/longer/than/that/of/any/clock/and/than/what/is/read/of/it");
}

#define PUT_PROCESS(pid, comm, cmdline, fd3) put_process(pid, comm, cmdline, sizeof(cmdline), fd3)

static void look_at_processes(void)
{
	memset(c.user, 0, sizeof(c.user));
	c.users = 0;
	find_processes(&c);
}

static void test_users(void **state)
{
	(void)state;
	set_up();
	PUT_PROCESS(1, "init\n", "init", NULL);
	PUT_PROCESS(20, "ptp4l\n", "ptp4l\0-i\0eth1\0-m", "->/dev/ptp1");
	PUT_PROCESS(21, "chronyd\n", "chronyd", "->/dev/ptp01");
	PUT_PROCESS(22, "fake0\n", "fake0\0-i\0fake0", NULL);
	look_at_processes();
	assert_int_equal(c.users, 0);
	assert_false(c.processes_hidden);
	look("users");
	PUT_PROCESS(30, "ptp4l\n", "ptp4l\0-m\0-i\0fake0", NULL);
	PUT_PROCESS(31, "timemaster\n", "timemaster\0-ifake0", NULL);
	PUT_PROCESS(32, "chronyd\n", "chronyd", "->/dev/ptp0");
	PUT_PROCESS(33, "phc2sys\n", "phc2sys\0-s\0fake0", NULL);
	PUT_PROCESS(34, "cl\033ock\n", "clock", "->/dev/ptp0");
	PUT_PROCESS(35, "ptp4l\n", "ptp4l\0-i\0fake00\0fake", NULL);
	look_at_processes();
	assert_int_equal(c.users, 5);
	for (int i = 0; i < 5; i++) /* the order in a folder is undefined; here it is fixed */
		for (int j = i + 1; j < 5; j++)
			if (c.user[j].pid < c.user[i].pid) {
				struct check_user u = c.user[i];

				c.user[i] = c.user[j];
				c.user[j] = u;
			}
	look("users");
}

static void test_users_hidden(void **state)
{
	static const char *const known[] = { "ptp4l\n", "phc2sys\n", "ts2phc\n", "timemaster\n", "chronyd\n" };

	(void)state;
	set_up();
	put("/proc/40/comm", "ptp4l\n");
	put("/proc/40/cmdline", "ptp4l");
	look_at_processes();
	assert_true(c.processes_hidden);
	look("users");
	look("irqbalance");
	put("/proc/1/comm", "init\n");
	look_at_processes();
	look("users");
	put_bytes("/proc/40/cmdline", "ptp4l\0fake0", 12);
	look_at_processes();
	look("users");
	/* More programs than the array can hold. */
	for (int pid = 50; pid < 70; pid++)
		PUT_PROCESS(pid, "phc2sys\n", "phc2sys\0fake0", NULL);
	look_at_processes();
	assert_int_equal(c.users, CHECK_USERS);
	/* The process of the doctor itself is left out. */
	remove_all(folder);
	PUT_PROCESS(getpid(), "rant\n", "rant", "->/dev/ptp0");
	look_at_processes();
	assert_int_equal(c.users, 0);
	/* The start of a run reads descriptors of known programs only. */
	PUT_PROCESS(71, "clock\n", "clock", "->/dev/ptp0");
	c.brief = true;
	look_at_processes();
	assert_int_equal(c.users, 0);
	for (size_t i = 0; i < COUNT_OF(known); i++)
		PUT_PROCESS(80 + (int)i, known[i], "x", "->/dev/ptp0");
	look_at_processes();
	assert_int_equal(c.users, COUNT_OF(known));
	c.brief = false;
	look_at_processes();
	assert_int_equal(c.users, COUNT_OF(known) + 1);
}

static void test_irqbalance(void **state)
{
	(void)state;
	set_up();
	PUT_PROCESS(1, "init\n", "init", NULL);
	PUT_PROCESS(8, "irqbalance-ui\n", "irqbalance-ui", NULL);
	look_at_processes();
	look("irqbalance");
	PUT_PROCESS(9, "irqbalance\n", "irqbalance", NULL);
	look_at_processes();
	look("irqbalance");
}

/* /sys of another network namespace has an interface of the same name. */
static void test_other_namespace(void **state)
{
	static const char *const others[][2] = {
		{ "8\n", "02:00:00:00:00:01\n" }, { "7\n", "02:00:00:00:00:02\n" }, { "7x\n", "02:00:00:00:00:01\n" },
	};

	(void)state;
	set_up();
	find_class_folder(&c);
	assert_string_equal(c.class_folder, "");
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		put("/sys/class/net/fake0/ifindex", others[i][0]);
		put("/sys/class/net/fake0/address", others[i][1]);
		find_class_folder(&c);
		assert_string_equal(c.class_folder, "");
	}
	put("/sys/class/net/fake0/ifindex", "7\n");
	put("/sys/class/net/fake0/address", "02:00:00:00:00:01\n");
	c.nic.flags |= IFF_LOOPBACK;
	find_class_folder(&c);
	assert_string_equal(c.class_folder, "");
}

/* ---- Interrupts -------------------------------------------------------------------------------------------------- */

static void look_for_irqs(void)
{
	c.irqs = 0;
	*c.device = '\0';
	find_device(&c);
	find_irqs(&c);
}

static void put_irq(int number, const char *handler, const char *cpus)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/irq/%d/%s", number, handler);
	put(path, NULL);
	snprintf(path, sizeof(path), "/proc/irq/%d/effective_affinity_list", number);
	if (cpus)
		put(path, cpus);
}

static void test_irqs(void **state)
{
	(void)state;
	set_up();
	look_for_irqs();
	look("NIC interrupts");
	put(DEVICE "/msi_irqs/30", "msix\n");
	look_for_irqs();
	assert_string_equal(c.device, DEVICE);
	look("NIC interrupts");
	put_irq(30, "fake0", NULL);
	look_for_irqs();
	assert_int_equal(c.irqs, 1);
	look("NIC interrupts");
	put("/proc/irq/30/effective_affinity_list", "0,x\n");
	look_for_irqs();
	look("NIC interrupts");
	remove_all(folder);
	put(DEVICE "/msi_irqs/30", "msix\n");
	put_irq(30, "fake0", NULL);
	put("/proc/irq/30/smp_affinity_list", "0-1\n");
	look_for_irqs();
	look("NIC interrupts");
	/* The effective affinity counts. */
	put_irq(30, "fake0", "3\n");
	put("/proc/irq/31/node", "0\n"); /* without a handler */
	put(DEVICE "/msi_irqs/31", "msix\n");
	put_irq(32, "fake0-rx-0", "1\n"); /* of another device */
	look_for_irqs();
	assert_int_equal(c.irqs, 1);
	look("NIC interrupts");
	CPU_SET(2, &c.cpus);
	look("NIC interrupts");
	c.cpus_error = EINVAL;
	look("NIC interrupts");
}

/* Without message-signalled interrupts or a bus device, the name of the handler decides. */
static void test_irqs_by_name(void **state)
{
	static const char *const not_a_bus[] = { "", "..", ".", "../../../etc", "a/b" };

	(void)state;
	set_up();
	put_irq(40, "fake0", "0\n");
	put_irq(41, "fake0-TxRx-1", "1\n");
	put_irq(42, "fake01", "2\n");
	put_irq(43, "other", "3\n");
	put("/proc/irq/default_smp_affinity", "f\n");
	put("/etc/x", "");
	put("/sys/bus/pci/devices/a/b", "");
	for (size_t i = 0; i < COUNT_OF(not_a_bus); i++) {
		strcpy(c.nic.bus, not_a_bus[i]);
		look_for_irqs();
		assert_string_equal(c.device, "");
		assert_int_equal(c.irqs, 2);
	}
	put("/sys/bus/platform/devices/fd580000.ethernet/numa_node", "-1\n");
	strcpy(c.nic.bus, "fd580000.ethernet");
	look_for_irqs();
	assert_string_equal(c.device, "/sys/bus/platform/devices/fd580000.ethernet");
	assert_int_equal(c.irqs, 2);
	look("NUMA");
	for (int number = 100; number < 100 + CHECK_IRQS; number++)
		put_irq(number, "fake0-many", "3\n");
	look_for_irqs();
	assert_int_equal(c.irqs, CHECK_IRQS);
}

static void put_irq_thread(int pid, const char *comm, const char *priority_and_policy)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	put(path, comm);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (%s) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 -51 0 1 0 103 0 0 18446744073709551615 0 "
		 "0 0 0 0 0 0 2147483647 0 0 0 0 17 1 %s 0 0 0\n", pid, comm, priority_and_policy);
	put(path, text);
}

static void test_irq_priority(void **state)
{
	(void)state;
	set_up();
	look("interrupt priority");
	put("/proc/1/comm", "init\n");
	put_irq(30, "fake0-rx-0", "3\n");
	put_irq(31, "fake0-tx-0", "2\n");
	look_for_irqs();
	find_processes(&c);
	look("interrupt priority");
	put_irq_thread(60, "irq/30-a) R 1 2", "50 1");
	find_processes(&c);
	look("interrupt priority");
	for (int i = 0; i < c.irqs; i++)
		assert_int_equal(c.irq[i].thread, c.irq[i].number == 30 ? 60 : 0);
	put_irq_thread(61, "irq/31-fake0-tx", "10 2");
	put_irq_thread(62, "irq/3-other", "1 1");
	find_processes(&c);
	look("interrupt priority");
	c.priority = 50;
	look("interrupt priority");
	c.priority = 49; /* above the thread on another CPU, below the thread on this CPU */
	look("interrupt priority");
	c.priority = 9;
	look("interrupt priority");
	c.policy = SCHED_OTHER;
	c.priority = 99;
	look("interrupt priority");
	c.processes_hidden = true;
	look("interrupt priority");
}

/* No thread can be above SCHED_FIFO 99, so the cure is a lower priority of this process. */
static void test_irq_priority_99(void **state)
{
	(void)state;
	set_up();
	put("/proc/1/comm", "init\n");
	put_irq(30, "fake0-rx-0", "0\n");
	look_for_irqs();
	put_irq_thread(60, "irq/30-fake0-rx", "50 1");
	find_processes(&c);
	c.priority = 99;
	look("interrupt priority");
	/* On the same CPU, or on an unknown CPU. */
	c.irq[0].placed = false;
	look("interrupt priority");
	c.irq[0].placed = true;
	CPU_SET(3, &c.irq[0].cpus);
	look("interrupt priority");
	c.irq[0].priority = 0;
	c.irq[0].policy = SCHED_OTHER;
	look("interrupt priority");
	c.irq[0].priority = 99;
	c.irq[0].policy = SCHED_FIFO;
	look("interrupt priority");
	c.policy = SCHED_OTHER;
	look("interrupt priority");
}

static void test_irq_thread_cut(void **state)
{
	struct check_irq i = { .number = 30 };

	(void)state;
	set_up();
	put("/proc/60/stat", "60 (irq/30-fake0");
	read_irq_thread(&i, 60);
	put("/proc/60/stat", "60 (irq/30-fake0) S 2 0 0 0 -1");
	read_irq_thread(&i, 60);
	put("/proc/60/stat", "");
	read_irq_thread(&i, 60);
	read_irq_thread(&i, 61);
	assert_int_equal(i.thread, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_users), TEST(test_users_hidden), TEST(test_irqbalance), TEST(test_other_namespace),
		TEST(test_irqs), TEST(test_irqs_by_name), TEST(test_irq_priority), TEST(test_irq_priority_99),
		TEST(test_irq_thread_cut),
	};

	util_seed();
	return golden_run_group(tests, make_machine, remove_machine);
}
