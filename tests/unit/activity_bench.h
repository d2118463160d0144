/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders that stand for the /proc, /sys and /dev of several machines, and a fake NIC, for the tests of the activity:
 * they open an activity, read it twice, and look at the differences. Include it after util.h, and do not link nic.c.
 */
#ifndef ACTIVITY_BENCH_H
#define ACTIVITY_BENCH_H

#include "host/counters/activity.h"
#include "host/counters/activity_inside.h"
#include "host/nic/nic.h"
#include "host/nic/nic_abilities.h"

#include <fcntl.h>
#include <ftw.h>
#include <linux/ethtool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define TID 77
#define SMI_COUNT_MSR 0x34

/* x86-64 alone has a count of SMIs: only there it is read, or noted as unreadable. */
#if defined(__x86_64__)
#define HAS_SMI_COUNT true
#else
#define HAS_SMI_COUNT false
#endif

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

/* Names of a driver: for nic.names. */
static const char *const statistics[] = { "rx_packets", "rx_dropped", "tx_hwtstamp_skipped",
					  /* as long as the field, so that no 0 ends it */
					  "rx_errors_0123456789012345678901", "drop\x1b[31m", "" };

static inline uint32_t fake_count(void)
{
	uint32_t n = 0;

	while (nic.names && nic.names[n][0])
		n++;
	return n + nic.more;
}

static inline void fake_strings(struct ethtool_gstrings *s)
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

static inline void put_bytes(const char *path, const void *bytes, size_t count)
{
	char whole[PATH_MAX + 64];
	int fd;

	snprintf(whole, sizeof(whole), "%s%s", folder, path);
	for (char *at = whole + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(whole, 0700);
		*at = '/';
	}
	/* Written in place, since the file stays open for reading. */
	fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

__attribute__((format(printf, 2, 3))) static inline void put_file(const char *path, const char *format, ...)
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

static inline int drop_entry(const char *path, const struct stat *s, int type, struct FTW *where)
{
	(void)s;
	(void)type;
	(void)where;
	return remove(path);
}

static inline void put_thread(unsigned voluntary, unsigned involuntary, unsigned migrations, unsigned cpu)
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
static inline void put_machine(void)
{
	put_thread(10, 5, 2, 1);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2       CPU3       \n"
		 "   0:         44          0          0          0  IR-IO-APIC    2-edge      timer\n"
		 " 120:          0          1          0          0  IR-PCI-MSI-0000:00:1f.2   0-edge   "
		 "ahci[0000:00:1f.2]\n"
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
		 " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
		 "colls carrier compressed\n"
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

static inline void put_smi(uint64_t count)
{
	uint8_t bytes[SMI_COUNT_MSR + 8] = { 0 };

	memcpy(bytes + SMI_COUNT_MSR, &count, sizeof(count));
	put_bytes("/dev/cpu/1/msr", bytes, sizeof(bytes));
}

static inline int setup(void **state)
{
	(void)state;
	memset(&nic, 0, sizeof(nic));
	nic.bus = "0000:03:00.0";
	nic.stamp_error = -EOPNOTSUPP;
	snprintf(folder, sizeof(folder), "/tmp/test_activity.XXXXXX");
	assert_non_null(mkdtemp(folder));
	activity_root = folder;
	put_machine();
	memset(&a, 0, sizeof(a));
	found = 0;
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	activity_close(&a);
	nftw(folder, drop_entry, 16, FTW_DEPTH | FTW_PHYS);
	activity_root = "";
	return 0;
}

static inline void open_at(int cpu)
{
	assert_int_equal(activity_open(&a, &eth0, TID, cpu), 0);
	activity_read(&a, &before, false);
}

static inline void compare_now(void)
{
	activity_read(&a, &after, false);
	found = activity_differences(&a, &before, &after, list, COUNT_OF(list));
}

static inline const struct activity_difference *find(const char *group, const char *name)
{
	for (size_t i = 0; i < found; i++)
		if (!strcmp(list[i].group, group) && !strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static inline void show(void)
{
	for (size_t i = 0; i < found; i++)
		print_message("[%s] [%s] %d %llu [%s] %llu -> %llu\n", list[i].group, list[i].name, list[i].change,
			      (unsigned long long)list[i].delta, list[i].unit, (unsigned long long)list[i].from,
			      (unsigned long long)list[i].to);
	for (unsigned i = 0; i < a.unreadables; i++)
		print_message("cannot tell: %s\n", a.unreadable[i]);
}

static inline void assert_counted(const char *group, const char *name, uint64_t delta, const char *unit)
{
	const struct activity_difference *d = find(group, name);

	if (!d || d->change != ACTIVITY_COUNTED || d->delta != delta || strcmp(d->unit, unit)) {
		show();
		fail_msg("no +%llu %s of [%s] [%s]", (unsigned long long)delta, unit, group, name);
	}
}

static inline void assert_change(const char *group, const char *name, enum activity_change change, uint64_t from,
				 uint64_t to)
{
	const struct activity_difference *d = find(group, name);

	if (!d || d->change != change || d->from != from || d->to != to) {
		show();
		fail_msg("no change %d %llu -> %llu of [%s] [%s]", change, (unsigned long long)from,
			 (unsigned long long)to, group, name);
	}
}

static inline void assert_differences(size_t count)
{
	if (found != count) {
		show();
		fail_msg("%zu differences instead of %zu", found, count);
	}
}

static inline bool is_noted(const char *text)
{
	for (unsigned i = 0; i < a.unreadables; i++)
		if (strstr(a.unreadable[i], text))
			return true;
	return false;
}

static inline void assert_noted(const char *text)
{
	if (!is_noted(text)) {
		show();
		fail_msg("'%s' is not in the list of what cannot be told", text);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
