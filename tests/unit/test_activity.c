// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources= libs= */
/*
 * activity.c against folders that stand for the /proc, /sys and /dev of several machines and a fake NIC, and against
 * the real ones of this machine.
 */
#include "host/activity.c"

#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "util.h"

#define TID 77

/* ---- The fake NIC ---------------------------------------------------------------------------------------------- */

static struct {
	bool real; /* ask the kernel */
	const char *bus, *const *names; /* "" ends the names */
	uint64_t value[64];
	uint32_t more; /* statistics than there are names */
	uint32_t strings_more; /* grown just between count and names */
	int error, stats_error, stamp_error;
	struct nic_stamp_counts stamps;
	unsigned asked_statistics;
} nic;

static uint32_t fake_count(void)
{
	uint32_t n = 0;

	while (nic.names && nic.names[n][0])
		n++;
	return n + nic.more;
}

static void fake_strings(struct ethtool_gstrings *s)
{
	uint32_t n = fake_count();

	for (uint32_t i = 0; i < n; i++) {
		char *to = (char *)s->data + (size_t)i * ETH_GSTRING_LEN;

		if (i < n - nic.more)
			memcpy(to, nic.names[i], strnlen(nic.names[i], ETH_GSTRING_LEN));
		else
			snprintf(to, ETH_GSTRING_LEN, "queue_%u_drops", i);
	}
	s->len = n + nic.strings_more;
}

int nic_ethtool(const struct nic *n, void *command)
{
	uint32_t what;

	if (nic.real) {
		struct ifreq r = { .ifr_data = command };

		memcpy(r.ifr_name, n->name, sizeof(r.ifr_name));
		return ioctl(n->control_fd, 0x8946 /* SIOCETHTOOL */, &r) < 0 ? -errno : 0;
	}
	memcpy(&what, command, sizeof(what));
	if (what == ETHTOOL_GDRVINFO) {
		if (!nic.bus)
			return -EOPNOTSUPP;
		struct ethtool_drvinfo *info = command;

		/* Nothing after a bus_info that fills its field ends it. */
		if (strlen(nic.bus) >= ETHTOOL_BUSINFO_LEN)
			memset(info->bus_info, 'x', sizeof(*info) - offsetof(struct ethtool_drvinfo, bus_info));
		memcpy(info->bus_info, nic.bus, strnlen(nic.bus, ETHTOOL_BUSINFO_LEN));
		return 0;
	}
	if (nic.error || !nic.names)
		return nic.error ? nic.error : -EOPNOTSUPP;
	switch (what) {
	case ETHTOOL_GSSET_INFO:
		assert_int_equal(((struct ethtool_sset_info *)command)->sset_mask, 1ULL << ETH_SS_STATS);
		((struct ethtool_sset_info *)command)->data[0] = fake_count();
		return 0;
	case ETHTOOL_GSTRINGS:
		fake_strings(command);
		return 0;
	case ETHTOOL_GSTATS:
		nic.asked_statistics++;
		for (uint32_t i = 0; i < fake_count(); i++)
			((struct ethtool_stats *)command)->data[i] = nic.value[i % COUNT_OF(nic.value)];
		return nic.stats_error;
	}
	fail_msg("ethtool command %u", what);
	return -1;
}

int nic_read_stamp_counts(const struct nic *n, struct nic_stamp_counts *counts)
{
	(void)n;
	*counts = nic.stamps;
	return nic.stamp_error;
}

/* ---- Folders that stand for a machine --------------------------------------------------------------------------- */

static char folder[PATH_MAX];
static const struct nic eth0 = { .name = "eth0", .control_fd = -1 };
static struct activity a;
static struct activity_reading before, after;
static struct activity_difference list[ACTIVITY_COUNTERS];
static size_t found;

static void put_bytes(const char *path, const void *bytes, size_t count)
{
	char whole[PATH_MAX + 64];
	int fd;

	snprintf(whole, sizeof(whole), "%s%s", folder, path);
	for (char *at = whole + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(whole, 0700);
		*at = '/';
	}
	/* Written in place, as what is read stays open. */
	fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

__attribute__((format(printf, 2, 3))) static void put_file(const char *path, const char *format, ...)
{
	static char text[4 << 20];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	assert_true(n >= 0 && (size_t)n < sizeof(text));
	put_bytes(path, text, (size_t)n);
}

static int drop_entry(const char *path, const struct stat *s, int type, struct FTW *where)
{
	(void)s;
	(void)type;
	(void)where;
	return remove(path);
}

static void put_thread(unsigned voluntary, unsigned involuntary, unsigned migrations, unsigned cpu)
{
	put_file("/proc/self/task/77/status", "Name:\trant\nvoluntary_ctxt_switches:\t%u\n"
		 "nonvoluntary_ctxt_switches:\t%u\n", voluntary, involuntary);
	put_file("/proc/self/task/77/sched", "rant (77, #threads: 2)\n---------------------\n"
		 "se.exec_start                                :      11290204.454251\n"
		 "se.nr_migrations                             :        %12u\nnr_switches   :   3\n", migrations);
	put_file("/proc/self/task/77/schedstat", "123456 %u000 7\n", involuntary);
	/* Field 19, nice, and 8, tpgid, are negative. */
	put_file("/proc/self/task/77/stat", "77 (ra) S 1 (nt) R 1 1 1 0 -1 4194304 %u 0 %u 0 5 6 0 0 -21 -20 1 0 "
		 "1131207 3133440 394 18446744073709551615 1 2 3 0 0 0 0 0 0 0 0 0 17 %u 0 0 0\n", voluntary * 10,
		 voluntary * 100, cpu);
}

/* A quiet machine of four CPUs with everything there is. */
static void put_machine(void)
{
	put_thread(10, 5, 2, 1);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2       CPU3       \n"
		 "   0:         44          0          0          0  IR-IO-APIC    2-edge      timer\n"
		 " 120:          0          1          0          0  IR-PCI-MSI-0000:00:1f.2   0-edge   ahci[0000:00:1f.2]\n"
		 " 130:          0          7          0         90  IR-PCI-MSIX-0000:03:00.0   1-edge   eth0-TxRx-0\n"
		 " 131:          0          0         11          0  IR-PCI-MSIX-0000:03:00.0   2-edge   eth0-TxRx-1\n"
		 " 140:          0          0          3          0  IR-PCI-MSIX-0000:04:00.0   1-edge   eth01-TxRx-0\n"
		 " NMI:          0          0          0          0   Non-maskable interrupts\n"
		 " LOC:       1000       2000       3000       4000   Local timer interrupts\n"
		 " ERR:          0\n"
		 " MIS:          0\n");
	put_file("/proc/softirqs",
		 "                    CPU0       CPU1       CPU2       CPU3       \n"
		 "          HI:          0          1          2          3\n"
		 "      NET_TX:        100        200        300        400\n"
		 "      NET_RX:       1000       2000       3000       4000\n");
	put_file("/proc/stat", "cpu  40 0 50 60 0 0 0 80 0 0\ncpu0 10 0 10 10 0 0 0 20 0 0\n"
		 "cpu1 10 0 10 10 0 0 0 30 0 0\nintr 9787231 0 0 44 0\nctxt 25457180\n");
	put_file("/proc/net/dev",
		 "Inter-|   Receive                                                |  Transmit\n"
		 " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
		 "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
		 "  eth0:100 200 1 2 3 4 0 0 500 600 5 6 7 8 9 0\n");
	put_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n");
	put_file("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3600000\n");
	put_file("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "0\n");
	put_file("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "4\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state0/name", "POLL\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state0/usage", "5\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state0/time", "50\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state1/name", "C6\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state1/usage", "7\n");
	put_file("/sys/devices/system/cpu/cpu1/cpuidle/state1/time", "7000\n");
	put_file("/sys/bus/pci/devices/0000:03:00.0/msi_irqs/130", "msix\n");
	put_file("/sys/bus/pci/devices/0000:03:00.0/msi_irqs/131", "msix\n");
	put_file("/proc/irq/130/effective_affinity_list", "3\n");
	put_file("/proc/irq/131/effective_affinity_list", "2\n");
}

static void put_smi(uint64_t count)
{
	uint8_t bytes[SMI_MSR + 8] = { 0 };

	memcpy(bytes + SMI_MSR, &count, sizeof(count));
	put_bytes("/dev/cpu/1/msr", bytes, sizeof(bytes));
}

static int setup(void **state)
{
	(void)state;
	memset(&nic, 0, sizeof(nic));
	nic.bus = "0000:03:00.0";
	nic.stamp_error = -EOPNOTSUPP;
	snprintf(folder, sizeof(folder), "/tmp/test_activity.XXXXXX");
	assert_non_null(mkdtemp(folder));
	root = folder;
	put_machine();
	memset(&a, 0, sizeof(a));
	found = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	activity_close(&a);
	nftw(folder, drop_entry, 16, FTW_DEPTH | FTW_PHYS);
	root = "";
	return 0;
}

static void open_at(int cpu)
{
	assert_int_equal(activity_open(&a, &eth0, TID, cpu), 0);
	activity_read(&a, &before, false);
}

static void compare_now(void)
{
	activity_read(&a, &after, false);
	found = activity_differences(&a, &before, &after, list, COUNT_OF(list));
}

static const struct activity_difference *find(const char *group, const char *name)
{
	for (size_t i = 0; i < found; i++)
		if (!strcmp(list[i].group, group) && !strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static void show(void)
{
	for (size_t i = 0; i < found; i++)
		print_message("[%s] [%s] %d %llu [%s] %llu -> %llu\n", list[i].group, list[i].name, list[i].change,
			      (unsigned long long)list[i].delta, list[i].unit, (unsigned long long)list[i].from,
			      (unsigned long long)list[i].to);
	for (unsigned i = 0; i < a.unreadables; i++)
		print_message("cannot tell: %s\n", a.unreadable[i]);
}

static void assert_counted(const char *group, const char *name, uint64_t delta, const char *unit)
{
	const struct activity_difference *d = find(group, name);

	if (!d || d->change != ACTIVITY_COUNTED || d->delta != delta || strcmp(d->unit, unit)) {
		show();
		fail_msg("no +%llu %s of [%s] [%s]", (unsigned long long)delta, unit, group, name);
	}
}

static void assert_change(const char *group, const char *name, enum activity_change change, uint64_t from, uint64_t to)
{
	const struct activity_difference *d = find(group, name);

	if (!d || d->change != change || d->from != from || d->to != to) {
		show();
		fail_msg("no change %d %llu -> %llu of [%s] [%s]", change, (unsigned long long)from,
			 (unsigned long long)to, group, name);
	}
}

static void assert_differences(size_t count)
{
	if (found != count) {
		show();
		fail_msg("%zu differences instead of %zu", found, count);
	}
}

static bool is_noted(const char *text)
{
	for (unsigned i = 0; i < a.unreadables; i++)
		if (strstr(a.unreadable[i], text))
			return true;
	return false;
}

static void assert_noted(const char *text)
{
	if (!is_noted(text)) {
		show();
		fail_msg("'%s' is not in the list of what cannot be told", text);
	}
}

/* ---- A quiet machine, and one that did something ----------------------------------------------------------------- */

static void test_nothing_happened(void **state)
{
	(void)state;
	open_at(1);
	compare_now();
	assert_differences(0);
	assert_int_equal(a.counters_left_out, 0);
	/* The stamps, statistics and MSR that this machine lacks, and no more. */
	assert_noted("SMI count (/dev/cpu/1/msr: No such file or directory: 'modprobe msr')");
	assert_noted("transmit stamps as the driver counts them (ethtool netlink: Operation not supported)");
	assert_noted("statistics of the NIC ('ethtool -S eth0': Operation not supported)");
	assert_int_equal(a.unreadables, 3);
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

static void test_interrupts(void **state)
{
	(void)state;
	open_at(1);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2       CPU3       \n"
		 "   0:         99          0          0          0  IR-IO-APIC    2-edge      timer\n"
		 " 120:          0          4          0          0  IR-PCI-MSI-0000:00:1f.2   0-edge   ahci[0000:00:1f.2]\n"
		 " 130:          0          8          0         92  IR-PCI-MSIX-0000:03:00.0   1-edge   eth0-TxRx-0\n"
		 " 131:          0          0         16          0  IR-PCI-MSIX-0000:03:00.0   2-edge   eth0-TxRx-1\n"
		 " 140:          0          0         99          0  IR-PCI-MSIX-0000:04:00.0   1-edge   eth01-TxRx-0\n"
		 " NMI:          9          0          9          9   Non-maskable interrupts\n"
		 " LOC:       1999       2500       3999       4999   Local timer interrupts\n"
		 " ERR:          2\n MIS:          0\n");
	put_file("/proc/softirqs",
		 "                    CPU0       CPU1       CPU2       CPU3       \n"
		 "          HI:          9          1          9          9\n"
		 "      NET_TX:        999        206        302        403\n"
		 "      NET_RX:       9999       2007       3004       4005\n");
	put_file("/proc/irq/131/effective_affinity_list", "0\n");
	compare_now();
	assert_differences(13);
	assert_counted("interrupts on CPU 1", "IRQ 120 ahci[0000:00:1f.2]", 3, "");
	assert_counted("interrupts on CPU 1", "IRQ 130 eth0-TxRx-0", 1, "");
	assert_counted("interrupts on CPU 1", "LOC Local timer interrupts", 500, "");
	assert_counted("interrupts on CPU 1", "ERR, all CPUs", 2, "");
	assert_counted("interrupts of eth0, on all CPUs", "IRQ 130 eth0-TxRx-0", 3, "");
	assert_counted("interrupts of eth0, on all CPUs", "IRQ 131 eth0-TxRx-1", 5, "");
	assert_change("interrupts of eth0, on all CPUs", "CPU of IRQ 131 eth0-TxRx-1", ACTIVITY_CHANGED, 2, 0);
	assert_counted("softirqs on CPU 1", "NET_TX", 6, "");
	assert_counted("softirqs on CPU 1", "NET_RX", 7, "");
	assert_counted("softirqs where eth0 interrupts", "NET_TX on CPU 2", 2, "");
	assert_counted("softirqs where eth0 interrupts", "NET_RX on CPU 2", 4, "");
	assert_counted("softirqs where eth0 interrupts", "NET_TX on CPU 3", 3, "");
	assert_counted("softirqs where eth0 interrupts", "NET_RX on CPU 3", 5, "");
}

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
	assert_differences(16);
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

/* ---- What would disturb ------------------------------------------------------------------------------------------ */

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
	assert_false(is_known(&after, a.inside->smi_slot));
	/* The other way round as well. */
	found = activity_differences(&a, &after, &before, list, COUNT_OF(list));
	assert_null(find("CPU 1", "system management interrupts (SMI)"));
}

static void test_smi_of_others(void **state)
{
	(void)state;
	put_smi(7);
	put_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
	open_at(1);
	assert_noted("SMI count (only CPUs of Intel have one)");
	assert_int_equal(a.inside->fd[MSR], -1);
}

static void test_smi_cut_short(void **state)
{
	(void)state;
	put_bytes("/dev/cpu/1/msr", (uint8_t[SMI_MSR + 4]){ 0 }, SMI_MSR + 4);
	open_at(1);
	assert_noted("SMI count (/dev/cpu/1/msr, MSR 0x34: Input/output error)");
	assert_int_equal(a.inside->smi_slot, NONE);
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

/* ---- Machines that change ---------------------------------------------------------------------------------------- */

static void test_unplugged_column(void **state)
{
	static const char *const unplugged =
		"           CPU0       CPU2       CPU3\n"
		" 130:        1         20        300  PCI-MSIX-0000:03:00.0 1-edge eth0-TxRx-0\n"
		" LOC:       10        200       3000   Local timer interrupts\n";

	(void)state;
	put_file("/proc/interrupts", "%s", unplugged);
	open_at(2);
	put_file("/proc/interrupts",
		 "           CPU0       CPU1       CPU2       CPU3\n"
		 " 130:        1       5000         21        300  PCI-MSIX-0000:03:00.0 1-edge eth0-TxRx-0\n"
		 " LOC:       10         77        202       3000   Local timer interrupts\n");
	compare_now();
	assert_counted("interrupts on CPU 2", "LOC Local timer interrupts", 2, "");
	assert_counted("interrupts on CPU 2", "IRQ 130 eth0-TxRx-0", 1, "");
	/* A sum over other CPUs than before. */
	assert_change("interrupts of eth0, on all CPUs", "IRQ 130 eth0-TxRx-0", ACTIVITY_RESET, 321, 5322);
}

static void test_measuring_cpu_unplugged(void **state)
{
	(void)state;
	open_at(1);
	put_file("/proc/interrupts", "  CPU0 CPU2 CPU3\n LOC: 1000 3000 4000 Local timer interrupts\n");
	compare_now();
	assert_change("interrupts on CPU 1", "LOC Local timer interrupts", ACTIVITY_GONE, 2000, 0);
	assert_false(after.rows);
	activity_close(&a);
	open_at(1);
	assert_noted("interrupts of CPU 1 (not in /proc/interrupts)");
}

/* A CPU came or went between the header and the lines: nobody can tell whose numbers they are. */
static void test_torn_lines(void **state)
{
	(void)state;
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2\n"
		 " 120:          0          4          5          6  PCI-MSI-0000:00:1f.2    0-edge      ahci\n"
		 " 121:          0          4   PCI-MSI-0000:00:1f.2    0-edge      xhci\n"
		 " LOC:          1          2          3   Local timer interrupts\n"
		 " ERR:          7\n"
		 "\n"
		 " 122: x 4 5  PCI-MSI 9-edge x\n");
	open_at(1);
	assert_noted("some interrupts (lines of /proc/interrupts that cannot be read)");
	assert_false(before.rows);
	assert_int_equal(a.inside->rows, 2);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2\n"
		 " 120:          0        400          5   PCI-MSI-0000:00:1f.2    0-edge      ahci\n"
		 " LOC:          1          3          3   Local timer interrupts\n"
		 " ERR:          7\n");
	compare_now();
	/* What was not readable before did not count from 0. */
	assert_differences(1);
	assert_counted("interrupts on CPU 1", "LOC Local timer interrupts", 1, "");
}

static void test_new_and_gone_rows(void **state)
{
	(void)state;
	open_at(1);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2       CPU3       \n"
		 " 130:          0          7          0         90  IR-PCI-MSIX-0000:03:00.0   1-edge   eth0-TxRx-0\n"
		 " 131:          0          0         11          0  IR-PCI-MSIX-0000:03:00.0   2-edge   eth0-TxRx-1\n"
		 " 150:          0         12          0          0  IR-PCI-MSIX-0000:05:00.0    0-edge      nvme0q0\n"
		 " LOC:       1000       2000       3000       4000   Local timer interrupts\n"
		 " ERR:          0\n");
	compare_now();
	assert_counted("interrupts on CPU 1", "IRQ 150 nvme0q0", 12, "");
	assert_change("interrupts on CPU 1", "IRQ 120 ahci[0000:00:1f.2]", ACTIVITY_GONE, 1, 0);
	/* Row 0 had not interrupted this CPU: nothing is lost. */
	assert_differences(2);
	before = after;
	compare_now();
	assert_differences(0);
}

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

/* 64-bit counters never wrap: one that falls was reset. */
static void test_wide_counter_goes_back(void **state)
{
	(void)state;
	put_file("/proc/net/dev", "  eth0:0 0 4294967291 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	open_at(1);
	put_file("/proc/net/dev", "  eth0:0 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	compare_now();
	assert_change("interface eth0", "receive errors", ACTIVITY_RESET, 4294967291, 3);
}

/* ---- What cannot be read ----------------------------------------------------------------------------------------- */

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
	assert_noted("SMI count (");
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
	assert_true(is_known(&before, a.inside->field_slot[9 - 1])); /* receive errors: the third number is there */
}

static void test_single_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} cases[] = {
		{ "12\n", true, 12 }, { "12", true, 12 }, { "3-5\n", true, 3 }, { "7,9\n", true, 7 },
		{ "18446744073709551615\n", true, UINT64_MAX }, { "18446744073709551616\n", false, 0 },
		{ "12abc\n", false, 0 }, { "-1\n", false, 0 }, { "\n", false, 0 }, { "", false, 0 },
		{ "00000000000000000000000000000000000000000001\n", false, 0 },
	};
	int fd;

	(void)state;
	put_file("/number", "1\n");
	fd = open_file("/number");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t value = 0;

		put_file("/number", "%s", cases[i].text);
		if (read_single(fd, &value) != cases[i].good || (cases[i].good && value != cases[i].value))
			fail_msg("case %zu: %s", i, cases[i].text);
	}
	close(fd);
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

static void test_unknown_forms(void **state)
{
	(void)state;
	put_file("/proc/interrupts", "           CPU0       FOO\n LOC: 1 2 Local\n");
	put_file("/proc/softirqs", "           CPU0       CPU8192\n HI: 1 2\n");
	open_at(0);
	assert_noted("interrupts (/proc/interrupts is of an unknown form)");
	assert_noted("softirqs (/proc/softirqs is of an unknown form)");
	assert_false(before.rows);
	assert_int_equal(a.inside->rows, 0);
}

/* More unreadable things than there is room to name. */
static void test_too_many_notes(void **state)
{
	(void)state;
	open_at(1);
	for (int i = 0; i < ACTIVITY_UNREADABLE + 5; i++)
		note(&a, "%0200d", i);
	assert_int_equal(a.unreadables, ACTIVITY_UNREADABLE);
	assert_int_equal(a.unreadables_left_out, 5 + 3);
}

/* ---- Large and hostile files ------------------------------------------------------------------------------------- */

static void test_many_cpus(void **state)
{
	enum { CPU_COUNT_HERE = 4096, ME = 4001 };
	static char text[1 << 20];
	size_t n = 0;

	(void)state;
	for (int grown = 0; grown < 2; grown++) {
		n = 0;
		for (int i = 0; i < CPU_COUNT_HERE; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %9s%d", "CPU", i);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n 130:");
		for (int i = 0; i < CPU_COUNT_HERE; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %10d", i + (i == ME ? 17 * grown : 0));
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      " PCI-MSIX-0000:03:00.0 1-edge eth0-TxRx-0, %05000d\n LOC:", 0);
		for (int i = 0; i < CPU_COUNT_HERE; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %10d", 2 * i + (i == ME ? 5 * grown : 0));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n%010000d: 1\n", 0);
		put_bytes("/proc/interrupts", text, n);
		if (!grown)
			open_at(ME);
	}
	compare_now();
	assert_counted("interrupts on CPU 4001", "LOC", 5, "");
	/* The line with a label longer than any is none of ours. */
	assert_int_equal(a.inside->rows, 2);
	assert_false(after.rows);
	/* Long names are cut, not dropped. */
	assert_int_equal(found, 3);
	assert_int_equal(list[0].delta, 17);
	assert_int_equal(list[2].delta, 17);
	assert_non_null(strstr(list[2].name, "IRQ 130 eth0-TxRx-0, 000"));
}

static void test_more_rows_than_room(void **state)
{
	static char text[1 << 20];
	size_t n = (size_t)snprintf(text, sizeof(text), "  CPU0 CPU1\n");

	(void)state;
	for (int i = 0; i < ROWS + 7; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%5d: 0 %d PCI-MSI %d-edge disk%d\n", 1000 + i, i,
			      i, i);
	put_bytes("/proc/interrupts", text, n);
	assert_int_equal(activity_open(&a, &eth0, TID, 1), 0);
	assert_int_equal(a.inside->rows, ROWS);
	assert_true(a.counters_left_out >= 7);
}

static void test_more_statistics_than_room(void **state)
{
	static const char *const names[] = { "rx_drops", "" };

	(void)state;
	nic.names = names;
	nic.more = ACTIVITY_COUNTERS + 9;
	open_at(1);
	assert_int_equal(a.inside->slots, ACTIVITY_COUNTERS);
	assert_true(a.counters_left_out > 9);
	nic.value[0]++;
	compare_now();
	assert_counted("driver statistics of eth0", "rx_drops", 1, "");
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

/* ---- The NIC ----------------------------------------------------------------------------------------------------- */

static unsigned vector_rows(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a.inside->rows; i++)
		n += a.inside->row[i].vector_slot != NONE;
	return n;
}

static void test_vectors_by_name(void **state)
{
	static const struct {
		const char *bus, *description;
		bool mine;
	} cases[] = {
		{ "0000:07:00.0", "PCI-MSIX-0000:07:00.0 1-edge mlx5_comp0", true },
		{ "0000:07:00.0", "PCI-MSI 524288-edge mlx5_comp0@pci:0000:07:00.0", true },
		{ "0000:07:00.0", "PCI-MSIX-0000:07:00.01 1-edge other", false },
		{ "0000:07:00.0", "PCI-MSIX-10000:07:00.0 1-edge other", false },
		{ NULL, "PCI-MSI 524289-edge eth0-rx-0", true },
		{ NULL, "PCI-MSI 524289-edge eth0", true },
		{ NULL, "GICv3 27 Level eth0", true },
		{ NULL, "PCI-MSI 524289-edge eth01", false },
		{ NULL, "PCI-MSI 524289-edge veth0", false },
		{ "", "PCI-MSI 524289-edge disk", false },
		{ "0000:03:00.0/../../evil", "PCI-MSI 524289-edge disk", false },
		{ "..", "PCI-MSI 524289-edge disk", false },
		{ "a/../b", "PCI-MSI 524289-edge disk", false },
		/* As long as the field, so that no 0 ends it. */
		{ "0123456789abcdef0123456789abcdef", "PCI-MSI 524289-edge disk", false },
		{ "virtio2", "PCI-MSIX-0000:00:03.0 1-edge virtio2-input.0", true },
	};

	(void)state;
	/* Where those that are no addresses would lead to. */
	put_file("/sys/bus/pci/evil/msi_irqs/200", "msix\n");
	put_file("/sys/bus/pci/msi_irqs/200", "msix\n");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		nic.bus = cases[i].bus;
		put_file("/proc/interrupts", "  CPU0 CPU1\n 200: 1 2 %s\n", cases[i].description);
		open_at(1);
		if (vector_rows() != cases[i].mine)
			fail_msg("case %zu: %s", i, cases[i].description);
		if (is_noted("interrupts of the NIC") == cases[i].mine)
			fail_msg("case %zu: note", i);
		activity_close(&a);
	}
}

/* The name may be that of an interface in another namespace: sysfs knows better. */
static void test_list_of_vectors_wins(void **state)
{
	(void)state;
	put_file("/proc/interrupts", "  CPU0 CPU1\n 130: 1 2 PCI-MSI 1-edge a\n 131: 1 2 PCI-MSI 2-edge b\n"
		 " 132: 1 2 PCI-MSI 3-edge eth0-TxRx-0\n");
	open_at(1);
	assert_int_equal(vector_rows(), 2);
	assert_int_equal(a.inside->row[2].vector_slot, NONE);
}

/* The measuring CPU's softirqs are told already. */
static void test_vector_on_measuring_cpu(void **state)
{
	(void)state;
	put_file("/proc/irq/131/effective_affinity_list", "1\n");
	open_at(1);
	assert_int_equal(a.inside->vector_cpus, 1);
	assert_int_equal(a.inside->vector_cpu[0], 3);
}

static void test_tells_trouble(void **state)
{
	static const char *const yes[] = {
		"rx_dropped", "rx-0.drops", "rx_crc_errors", "tx_err", "rxerr", "rx_missed_errors", "rx_discards_phy",
		"tx_hwtstamp_skipped", "tx_hwtstamp_timeouts", "TX_LOST", "ptp_cq0_late_cqe", "rx_out_of_buffer",
		"rx_no_buffer_count", "rx_fifo_errors", "os2bmc_rx_by_bmc_err", "rx_hwtstamp_cleared", "rx_buferrors",
		"interrupt_errors", "tx_deferred_drop",
	};
	static const char *const no[] = { "rx_packets", "tx_bytes", "interrupts", "tx_deferred_ok",
					  "rx_queue_0_packets", "tx_interrupt_count", "data_transferred", "" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(yes); i++)
		if (!tells_trouble(yes[i]))
			fail_msg("%s is left out", yes[i]);
	for (size_t i = 0; i < COUNT_OF(no); i++)
		if (tells_trouble(no[i]))
			fail_msg("%s is told", no[i]);
}

static const char *const statistics[] = { "rx_packets", "rx_dropped", "tx_hwtstamp_skipped",
					  /* as long as the field, so that no 0 ends it */
					  "rx_errors_0123456789012345678901", "drop\x1b[31m", "" };

static void test_statistics(void **state)
{
	(void)state;
	nic.names = statistics;
	open_at(1);
	assert_false(is_noted("statistics"));
	for (int i = 0; i < 5; i++)
		nic.value[i] = (uint64_t)i + 1;
	compare_now();
	assert_differences(4);
	assert_counted("driver statistics of eth0", "rx_dropped", 2, "");
	assert_counted("driver statistics of eth0", "tx_hwtstamp_skipped", 3, "");
	assert_counted("driver statistics of eth0", "rx_errors_0123456789012345678901", 4, "");
	assert_counted("driver statistics of eth0", "drop?[31m", 5, "");
}

static void test_statistics_that_cannot_be_read(void **state)
{
	(void)state;
	nic.names = statistics;
	nic.strings_more = 1;
	open_at(1);
	assert_noted("statistics of the NIC ('ethtool -S eth0': Resource temporarily unavailable)");
	activity_close(&a);
	nic.strings_more = 0;
	nic.more = STATISTICS;
	open_at(1);
	assert_noted("statistics of the NIC ('ethtool -S eth0': Argument list too long)");
	activity_close(&a);
	nic.more = 0;
	nic.error = -EPERM;
	open_at(1);
	assert_noted("statistics of the NIC ('ethtool -S eth0': Operation not permitted)");
}

/* If the driver has another number of them than at the start, names are not known, and the memory is too small. */
static void test_statistics_change(void **state)
{
	unsigned asked;

	(void)state;
	nic.names = statistics;
	nic.value[1] = 8;
	open_at(1);
	asked = nic.asked_statistics;
	nic.more = 1;
	compare_now();
	assert_int_equal(nic.asked_statistics, asked);
	assert_change("driver statistics of eth0", "rx_dropped", ACTIVITY_GONE, 8, 0);
	nic.more = 0;
	nic.stats_error = -EIO;
	compare_now();
	assert_change("driver statistics of eth0", "rx_dropped", ACTIVITY_GONE, 8, 0);
}

/* What the kernel would write behind the room must fail, and not overwrite anything. */
static void test_guard(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	(void)state;
	for (size_t bytes = page - 1; bytes <= page + 1; bytes++) {
		char *start = guarded_map(bytes, &mapped);
		size_t whole = bytes <= page ? page : 2 * page;

		assert_non_null(start);
		assert_int_equal(mapped, whole + page);
		assert_int_equal(read(zero, start, bytes), bytes);
		assert_int_equal(read(zero, start + whole, 1), -1);
		assert_int_equal(errno, EFAULT);
		munmap(start, mapped);
	}
	close(zero);
}

static void test_stamps(void **state)
{
	(void)state;
	nic.stamp_error = 0;
	nic.stamps = (struct nic_stamp_counts){ .sent = 100, .lost = 1, .errors = 5, .has = 3 };
	open_at(1);
	assert_false(is_noted("stamps"));
	nic.stamps = (struct nic_stamp_counts){ .sent = 150, .lost = 3, .errors = 9, .has = 3 };
	compare_now();
	assert_differences(2);
	assert_counted("stamps of eth0", "transmit stamps given", 50, "");
	assert_counted("stamps of eth0", "transmit stamps lost", 2, "");
	/* The driver has no more than two. */
	assert_int_equal(a.inside->stamp_slot[2], NONE);
	nic.stamps.has = 1;
	compare_now();
	assert_change("stamps of eth0", "transmit stamps lost", ACTIVITY_GONE, 1, 0);
	nic.stamp_error = -ENODEV;
	compare_now();
	assert_change("stamps of eth0", "transmit stamps lost", ACTIVITY_GONE, 1, 0);
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
	root = "";
	nic.real = true;
	n.control_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(activity_open(&a, &n, (pid_t)syscall(SYS_gettid), 0), 0);
	activity_read(&a, &before, false);
	memory = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 64 * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < 64; i++)
		memory[i * 4096] = 1;
	usleep(1000);
	/* By the housekeeping thread, about this one. */
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
	assert_true(is_known(&after, a.inside->row[0].cpu_slot));
	for (unsigned i = 0; i < a.inside->slots; i++)
		if (a.inside->slot[i].group == GROUP_LINK || a.inside->slot[i].group == GROUP_SOFTIRQS)
			assert_true(is_known(&after, i));
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
	root = "";
	assert_int_equal(pipe(ends), 0);
	m.end_fd = ends[0];
	assert_int_equal(pthread_create(&other, NULL, live, &m), 0);
	while (!m.thread)
		usleep(100);
	assert_int_equal(activity_open(&a, &eth0, m.thread, -1), 0);
	activity_read(&a, &before, false);
	assert_true(is_known(&before, a.inside->field_slot[0]) && is_known(&before, a.inside->field_slot[4]));
	close(ends[1]);
	pthread_join(other, NULL);
	close(ends[0]);
	/* The kernel may need a moment to take the thread out of /proc. */
	for (int i = 0; i < 1000 && !syscall(SYS_tgkill, getpid(), m.thread, 0); i++)
		usleep(1000);
	activity_read(&a, &after, false);
	found = activity_differences(&a, &before, &after, list, COUNT_OF(list));
	for (int i = 0; i < 7; i++)
		assert_false(is_known(&after, a.inside->field_slot[i]));
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_happened), TEST(test_thread), TEST(test_interrupts), TEST(test_cpu_and_link),
		TEST(test_measuring_reads_no_msr), TEST(test_smi_of_others), TEST(test_smi_cut_short),
		TEST(test_not_pinned), TEST(test_unplugged_column), TEST(test_measuring_cpu_unplugged),
		TEST(test_torn_lines), TEST(test_new_and_gone_rows), TEST(test_wrap_and_reset),
		TEST(test_wide_counter_goes_back), TEST(test_nothing_there), TEST(test_fields_missing),
		TEST(test_gone_in_the_middle), TEST(test_single_numbers), TEST(test_unknown_forms), TEST(test_too_many_notes),
		TEST(test_many_cpus), TEST(test_more_rows_than_room), TEST(test_more_statistics_than_room),
		TEST(test_garbage), TEST(test_list_is_full), TEST(test_vectors_by_name),
		TEST(test_list_of_vectors_wins), TEST(test_vector_on_measuring_cpu), TEST(test_tells_trouble), TEST(test_statistics),
		TEST(test_statistics_that_cannot_be_read), TEST(test_statistics_change), TEST(test_guard),
		TEST(test_stamps), TEST(test_this_machine), TEST(test_thread_that_ends), TEST(test_closed),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
