// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit sources=host/nic*.c libs=-lnl-3 -lnl-genl-3 */
/*
 * The doctor on made-up machines: files below a folder of the test's own, a fake NIC behind ioctl, and a clock that
 * goes on a fixed time with each reading. Of each check what it prints when all is well, when not, and when it cannot tell.
 */
#include "doctor/check.c"
#include "doctor/check_nic.c"
#include "doctor/check_host.c"

#include <sys/stat.h>

#include "util.h"

#include "fake_nic.h"

/* ---- Folder of the machine --------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/rant-check.XXXXXX";

static void make_folders(char *path)
{
	for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
}

/* text NULL: a folder; "->X": a link to X. */
static void put_bytes(const char *path, const char *text, size_t bytes)
{
	char full[PATH_MAX];
	int fd;

	snprintf(full, sizeof(full), "%s%s%s", folder, path, text ? "" : "/");
	make_folders(full);
	if (!text)
		return;
	if (!strncmp(text, "->", 2)) {
		assert_int_equal(symlink(text + 2, full), 0);
		return;
	}
	fd = open(full, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, bytes), bytes);
	close(fd);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, text ? strlen(text) : 0);
}

static void remove_all(const char *path)
{
	struct dirent *d;
	DIR *f = opendir(path);
	char full[PATH_MAX];

	while (f && (d = readdir(f))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		snprintf(full, sizeof(full), "%s/%s", path, d->d_name);
		if (d->d_type == DT_DIR) {
			remove_all(full);
			assert_int_equal(rmdir(full), 0);
		} else {
			assert_int_equal(unlink(full), 0);
		}
	}
	if (f)
		closedir(f);
}

/* ---- Fake kernel: off until set_up(); the NIC is fake_nic.h ----------------------------------------------------------------------------- */

#define HARDWARE FAKE_NIC_HARDWARE
#define ALL (1U << HWTSTAMP_FILTER_NONE | 1U << HWTSTAMP_FILTER_ALL)
#define PTP_ONLY (1U << HWTSTAMP_FILTER_NONE | 1U << HWTSTAMP_FILTER_PTP_V2_EVENT)

static struct {
	int speed, duplex, settings_error;
	struct ethtool_coalesce coalesce;
	struct ethtool_ringparam ring;
	struct ethtool_channels channels;
	struct ethtool_pauseparam pause;
	bool gro, lro, tso;
	int ask_error; /* of all settings */
	int busy_poll_error;
	uint64_t memlock;
	/* The clock: what a reading takes, and one reading that takes longer. */
	int64_t now_ns, reading_ns, long_reading_ns;
	long readings, long_reading_at;
	/* The NIC's clock, which begins at 10^18. */
	int64_t phc_step_ns, phc_ppm, phc_jump_ns;
	bool phc_stands;
	int phc_error;
	long phc_readings;
} fake;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __real_getrlimit(__rlimit_resource_t what, struct rlimit *limit);
int __wrap_getrlimit(__rlimit_resource_t what, struct rlimit *limit);

#define ANSWER(type, answer)                                   \
	do {                                                   \
		uint32_t asked = *(uint32_t *)data;            \
							       \
		if (!fake.ask_error) {                         \
			*(type *)data = (answer);              \
			*(uint32_t *)data = asked;             \
		}                                              \
		return fail_with(fake.ask_error);              \
	} while (0)

static int fake_ethtool(void *data)
{
	struct ethtool_link_settings *link = data;

	switch (*(uint32_t *)data) {
	case ETHTOOL_GLINKSETTINGS:
		link->link_mode_masks_nwords = 0;
		link->speed = (uint32_t)fake.speed;
		link->duplex = (uint8_t)fake.duplex;
		return fail_with(fake.settings_error);
	case ETHTOOL_GGRO:
		ANSWER(struct ethtool_value, ((struct ethtool_value){ .data = fake.gro }));
	case ETHTOOL_GTSO:
		ANSWER(struct ethtool_value, ((struct ethtool_value){ .data = fake.tso }));
	case ETHTOOL_GFLAGS: /* other flags are on too */
		ANSWER(struct ethtool_value, ((struct ethtool_value){
			.data = ETH_FLAG_RXHASH | (fake.lro ? ETH_FLAG_LRO : 0) }));
	case ETHTOOL_GCOALESCE:
		ANSWER(struct ethtool_coalesce, fake.coalesce);
	case ETHTOOL_GRINGPARAM:
		ANSWER(struct ethtool_ringparam, fake.ring);
	case ETHTOOL_GCHANNELS:
		ANSWER(struct ethtool_channels, fake.channels);
	case ETHTOOL_GPAUSEPARAM:
		ANSWER(struct ethtool_pauseparam, fake.pause);
	}
	fail_msg("ethtool command %#x", *(uint32_t *)data);
	return -1;
}

static int fake_phc(struct timespec *t)
{
	int64_t ns = fake.now_ns + fake.now_ns / 1000000 * fake.phc_ppm;

	ns += ++fake.phc_readings > 50 ? fake.phc_jump_ns : 0;
	ns = fake.phc_stands ? 0 : ns / fake.phc_step_ns * fake.phc_step_ns;
	ns += 1000000000 * NS_PER_S;
	*t = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
	return fail_with(fake.phc_error);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!fake_nic.on)
		return __real_clock_gettime(clock, t);
	fake.readings++;
	fake.now_ns += fake.readings == fake.long_reading_at ? fake.long_reading_ns : fake.reading_ns;
	if (clock < 0)
		return fake_phc(t);
	*t = (struct timespec){ fake.now_ns / NS_PER_S, fake.now_ns % NS_PER_S };
	return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	if (!fake_nic.on)
		return __real_getsockopt(fd, level, name, value, bytes);
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_BUSY_POLL);
	return fail_with(fake.busy_poll_error);
}

int __wrap_getrlimit(__rlimit_resource_t what, struct rlimit *limit)
{
	if (!fake_nic.on)
		return __real_getrlimit(what, limit);
	assert_int_equal(what, RLIMIT_MEMLOCK);
	*limit = (struct rlimit){ fake.memlock, RLIM_INFINITY };
	return 0;
}

/* ---- A check of a machine ---------------------------------------------------------------------------------------- */

static struct check c;
static struct options options;
static char said[16384];

/* A machine where all is well: this process on CPU 3 with SCHED_FIFO 22, a NIC that stamps everything. */
static void set_up(void)
{
	remove_all(folder);
	root = folder;
	memset(&fake, 0, sizeof(fake));
	memset(&fake_nic, 0, sizeof(fake_nic));
	fake_nic.driver = "igc";
	fake_nic.bus = "0000:01:00.0";
	memcpy(fake_nic.mac, "\x02\0\0\0\0\x01", sizeof(fake_nic.mac));
	fake_nic.ethtool = fake_ethtool;
	fake_nic.can = (struct nic_abilities){ HARDWARE, 1U << HWTSTAMP_TX_ON | 1, ALL, 0 };
	fake.speed = 1000;
	fake.duplex = DUPLEX_FULL;
	fake.channels.combined_count = 1;
	fake.ring = (struct ethtool_ringparam){ .rx_pending = 512, .tx_pending = 512 };
	fake.reading_ns = 25;
	fake.phc_step_ns = 8;
	fake.memlock = RLIM_INFINITY;
	options = (struct options){ .interface = "fake0", .stamp = SOURCE_HARDWARE };
	c = (struct check){ .options = &options, .policy = SCHED_FIFO, .priority = 22 };
	c.nic = (struct nic){ .name = "fake0", .driver = "igc", .bus = "0000:01:00.0", .index = 7,
			      .flags = IFF_UP | IFF_RUNNING, .can = fake_nic.can, .control_fd = 1000 };
	CPU_SET(3, &c.cpus);
	fake_nic.on = true;
}

static int tear_down(void **state)
{
	(void)state;
	fake_nic.on = false;
	root = "";
	remove_all(folder);
	return 0;
}

static const struct check_row *row_of(const char *subject)
{
	static const struct check_row *const tables[] = { check_nic_rows, check_host_rows };

	for (size_t i = 0; i < 2; i++)
		for (const struct check_row *r = tables[i]; r->subject; r++)
			if (!strcmp(r->subject, subject))
				return r;
	fail_msg("no row '%s'", subject);
	return NULL;
}

static void begin_capture(FILE **out, char **text, size_t *bytes)
{
	*out = open_memstream(text, bytes);
	assert_non_null(*out);
	c.out = *out;
}

static void end_capture(FILE *out, char **text)
{
	fclose(out);
	snprintf(said, sizeof(said), "%s", *text);
	free(*text);
	c.out = NULL;
}

static void look(const char *subject)
{
	char *text;
	size_t bytes;
	FILE *out;

	begin_capture(&out, &text, &bytes);
	c.row = row_of(subject);
	c.row->look(&c);
	end_capture(out, &text);
}

/* Looks, and compares every line that is said. */
static void expect(const char *subject, const char *lines)
{
	look(subject);
	if (strcmp(said, lines))
		fail_msg("said\n%sinstead of\n%s", said, lines);
}

#define ENOENT_TEXT "No such file or directory"

static void test_stamps(void **state)
{
	(void)state;
	set_up();
	expect("stamps", "ok    stamps: hardware transmit, and receive with filter 'all' (ethtool TSINFO)\n");
	c.nic.can.rx_filters = PTP_ONLY;
	expect("stamps",
	       "warn  stamps: filter 'all' is not listed, only: none ptpv2-event (ethtool TSINFO): many such NICs "
	       "stamp only PTP packets on receipt, not rant's: rant --stamp kernel, if rant says so\n");
	strcpy(c.nic.driver, "i40e");
	expect("stamps",
	       "fail  stamps: 'i40e' stamps only PTP packets on receipt, filters: none ptpv2-event (ethtool TSINFO; "
	       "ETHTOOL_GDRVINFO; sources of Linux 7.3): rant's packets would get no receive stamp: rant --stamp "
	       "kernel\n");
	c.nic.can.stamping &= ~(unsigned)SOF_TIMESTAMPING_RX_HARDWARE;
	expect("stamps",
	       "fail  stamps: a hardware clock, but of the abilities only hardware-transmit hardware-raw-clock "
	       "(ethtool TSINFO): --stamp hardware cannot work: rant --stamp kernel\n");
	c.nic.can.phc_index = -1;
	expect("stamps",
	       "fail  stamps: no hardware clock (ethtool TSINFO): --stamp hardware cannot work: rant --stamp kernel\n");
	options.no_tx_stamps = true;
	expect("stamps", "ok    stamps: no hardware stamps are asked for (ethtool TSINFO; command line)\n");
	options.no_tx_stamps = false;
	options.stamp = SOURCE_KERNEL;
	expect("stamps",
	       "fail  stamps: no software-transmit (ethtool TSINFO): the driver makes no transmit stamps in the "
	       "kernel, T1 and T3 would be missing: rant --stamp user\n");
	c.nic.can.stamping |= SOF_TIMESTAMPING_TX_SOFTWARE;
	expect("stamps", "ok    stamps: no hardware stamps are asked for (ethtool TSINFO; command line)\n");
	c.abilities_error = -ENODEV;
	expect("stamps", "note  stamps: cannot tell (ethtool TSINFO: No such device)\n");
}

static void test_setting(void **state)
{
	(void)state;
	set_up();
	expect("stamp setting", "note  stamp setting: cannot tell (/proc/self/status: " ENOENT_TEXT ")\n");
	put("/proc/self/status", "Name:\trant\nCapEff:\t0000000000001000\n");
	expect("stamp setting",
	       "ok    stamp setting: transmit 'off', filter 'none': rant sets it for the run and puts it back "
	       "(SIOCGHWTSTAMP)\n");
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_PTP_V2_EVENT;
	expect("stamp setting",
	       "note  stamp setting: transmit 'on', filter 'ptpv2-event' (SIOCGHWTSTAMP): somebody has set it; rant "
	       "widens it for the run and puts it back\n");
	put("/proc/self/status", "Name:\trant\nCapEff:\tffffffffffffefff\n");
	expect("stamp setting",
	       "fail  stamp setting: transmit 'on', filter 'ptpv2-event' (SIOCGHWTSTAMP; CapEff in "
	       "/proc/self/status): to change it needs CAP_NET_ADMIN: sudo hwstamp_ctl -i fake0 -t 1 -r 1\n");
	fake_nic.setting[2] = HWTSTAMP_FILTER_ALL;
	expect("stamp setting", "ok    stamp setting: transmit 'on', filter 'all' (SIOCGHWTSTAMP)\n");
	fake_nic.setting[1] = HWTSTAMP_TX_ONESTEP_SYNC;
	expect("stamp setting",
	       "fail  stamp setting: transmit 'onestep-sync' (SIOCGHWTSTAMP): another program owns the NIC, rant "
	       "will not start: stop that program, see 'users'\n");
	fake_nic.get_error = EOPNOTSUPP;
	expect("stamp setting", "note  stamp setting: cannot tell (SIOCGHWTSTAMP: Operation not supported)\n");
	put("/proc/self/status", "CapEff:\t0000000000001000\n");
	strcpy(c.nic.driver, "tg3");
	fake_nic.get_error = 0;
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_NONE;
	expect("stamp setting",
	       "note  stamp setting: transmit 'on', filter 'none' (SIOCGHWTSTAMP): somebody has set it; rant widens "
	       "it for the run and puts it back\n");
	c.nic.can.rx_filters = PTP_ONLY;
	expect("stamp setting", "ok    stamp setting: transmit 'on', filter 'none' (SIOCGHWTSTAMP)\n");
	c.nic.can.phc_index = -1;
	expect("stamp setting", "ok    stamp setting: none to be made (ethtool TSINFO)\n");
	options.stamp = SOURCE_USER;
	expect("stamp setting", "ok    stamp setting: not needed (command line)\n");
}

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
	expect("users",
	       "ok    users: no other program uses stamps or clock of this NIC (comm, cmdline and fd in /proc)\n");
	PUT_PROCESS(30, "ptp4l\n", "ptp4l\0-m\0-i\0fake0", NULL);
	PUT_PROCESS(31, "timemaster\n", "timemaster\0-ifake0", NULL);
	PUT_PROCESS(32, "chronyd\n", "chronyd", "->/dev/ptp0");
	PUT_PROCESS(33, "phc2sys\n", "phc2sys\0-s\0fake0", NULL);
	PUT_PROCESS(34, "cl\033ock\n", "clock", "->/dev/ptp0");
	PUT_PROCESS(35, "ptp4l\n", "ptp4l\0-i\0fake00\0fake", NULL);
	look_at_processes();
	assert_int_equal(c.users, 5);
	for (int i = 0; i < 5; i++) /* in any order on disk, in one here */
		for (int j = i + 1; j < 5; j++)
			if (c.user[j].pid < c.user[i].pid) {
				struct check_user u = c.user[i];

				c.user[i] = c.user[j];
				c.user[j] = u;
			}
	expect("users",
	       "warn  users: ptp4l (30) names this interface (comm, cmdline and fd in /proc): its packets want stamps "
	       "too, and it sets the NIC as it needs it: stop it, or measure on another port\n"
	       "warn  users: timemaster (31) names this interface (comm, cmdline and fd in /proc): its packets want "
	       "stamps too, and it sets the NIC as it needs it: stop it, or measure on another port\n"
	       "warn  users: chronyd (32) holds its clock open (comm, cmdline and fd in /proc): its packets want "
	       "stamps too, and it sets the NIC as it needs it: stop it, or measure on another port\n"
	       "note  users: phc2sys (33) names this interface (comm, cmdline and fd in /proc): it reads or steers the "
	       "clock of the NIC, steps show in a run\n"
	       "note  users: cl?ock (34) holds its clock open (comm, cmdline and fd in /proc): it reads or steers "
	       "the clock of the NIC, steps show in a run\n");
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
	expect("users", "note  users: cannot tell (/proc/1/comm: " ENOENT_TEXT ")\n");
	expect("irqbalance", "note  irqbalance: cannot tell (/proc/1/comm: " ENOENT_TEXT ")\n");
	put("/proc/1/comm", "init\n");
	look_at_processes();
	expect("users",
	       "note  users: ptp4l (40) runs, cannot tell on which NIC (/proc/PID/fd): it may use this NIC: sudo "
	       "rant --check\n");
	put_bytes("/proc/40/cmdline", "ptp4l\0fake0", 12);
	look_at_processes();
	look("users");
	assert_non_null(strstr(said, "warn  users: ptp4l (40) names this interface ("));
	/* More of them than there is room for. */
	for (int pid = 50; pid < 70; pid++)
		PUT_PROCESS(pid, "phc2sys\n", "phc2sys\0fake0", NULL);
	look_at_processes();
	assert_int_equal(c.users, CHECK_USERS);
	/* Not itself. */
	remove_all(folder);
	PUT_PROCESS(getpid(), "rant\n", "rant", "->/dev/ptp0");
	look_at_processes();
	assert_int_equal(c.users, 0);
	/* Others than the known ones are not looked into at the start of a run. */
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
	expect("irqbalance", "ok    irqbalance: does not run (/proc/PID/comm)\n");
	PUT_PROCESS(9, "irqbalance\n", "irqbalance", NULL);
	look_at_processes();
	expect("irqbalance",
	       "warn  irqbalance: runs as 9 (/proc/PID/comm): it moves interrupts between CPUs during a run: "
	       "systemctl stop irqbalance\n");
}

/* ---- Driver ------------------------------------------------------------------------------------------------------ */

#define BY "(ETHTOOL_GDRVINFO; sources of Linux 7.3"

static void test_driver(void **state)
{
	(void)state;
	set_up();
	expect("driver", "ok    driver: 'igc' delivers transmit stamps by the interrupt " BY ")\n");
	strcpy(c.nic.driver, "mlx5_core");
	expect("driver",
	       "ok    driver: 'mlx5_core' delivers transmit stamps by the completion of the packet " BY ")\n"
	       "note  driver: T1 and T3 are the time of the completion (DMA), before the wire, for packets that are "
	       "not PTP to port 319 " BY ")\n");
	strcpy(c.nic.driver, "new");
	expect("driver",
	       "note  driver: 'new', of which nothing is on record (ETHTOOL_GDRVINFO): how it delivers stamps is not "
	       "known here\n");
	c.nic.can.phc_index = -1;
	expect("driver", "ok    driver: 'new', no hardware stamps in use (ETHTOOL_GDRVINFO)\n");
	c.nic.can.phc_index = 0;
	options.stamp = SOURCE_KERNEL;
	expect("driver", "ok    driver: 'new', no hardware stamps in use (ETHTOOL_GDRVINFO)\n");
}

#define ONE_AT_A_TIME "  driver: one transmit stamp at a time " BY "): a packet of another program that wants one " \
		      "(ptp4l) leaves rant's without: see 'users'\n"

static void test_driver_kworker(void **state)
{
	(void)state;
	set_up();
	strcpy(c.nic.driver, "igb");
	c.irqs = 1;
	c.irq[0] = (struct check_irq){ .number = 30, .placed = true };
	CPU_SET(2, &c.irq[0].cpus);
	expect("driver",
	       "ok    driver: 'igb' delivers transmit stamps by a kworker on the CPU of its interrupt " BY ")\n"
	       "note" ONE_AT_A_TIME);
	CPU_SET(3, &c.irq[0].cpus);
	expect("driver",
	       "warn  driver: 'igb' delivers transmit stamps by a kworker on the CPU of its interrupt, and this "
	       "process has SCHED_FIFO 22 " BY "; sched_getscheduler): a busy real-time loop starves that thread: 0.9 "
	       "s for a stamp was seen: taskset to another CPU, or no chrt\n"
	       "note" ONE_AT_A_TIME);
	c.irqs = 0;
	c.nic.can.rx_filters = PTP_ONLY;
	c.users = 1;
	strcpy(c.user[0].comm, "phc2sys");
	expect("driver",
	       "warn  driver: 'igb' delivers transmit stamps by a kworker on the CPU that sends, and this process has "
	       "SCHED_FIFO 22 " BY "; sched_getscheduler): a busy real-time loop starves that thread: 0.9 s for a "
	       "stamp was seen: run without chrt\n"
	       "note" ONE_AT_A_TIME);
	c.policy = SCHED_OTHER;
	strcpy(c.user[0].comm, "ptp4l");
	expect("driver", "ok    driver: 'igb' delivers transmit stamps by a kworker on the CPU that sends " BY ")\n"
			 "warn" ONE_AT_A_TIME);
	expect("scheduling", "ok    scheduling: SCHED_OTHER, see 'driver' (sched_getscheduler)\n");
	options.stamp = SOURCE_KERNEL;
	look("scheduling");
	assert_non_null(strstr(said, "note  scheduling: SCHED_OTHER ("));
}

/* ---- Link and settings ------------------------------------------------------------------------------------------- */

static void test_link(void **state)
{
	(void)state;
	set_up();
	expect("link", "ok    link: up, with a carrier (SIOCGIFFLAGS, ETHTOOL_GLINK)\n");
	fake_nic.no_link = true;
	expect("link",
	       "fail  link: no carrier (ETHTOOL_GLINK): nothing will answer: check the cable and the other end, 'ip "
	       "link show dev fake0'\n");
	c.nic.flags = 0;
	expect("link", "fail  link: down (SIOCGIFFLAGS): nothing can be sent: ip link set fake0 up\n");
}

static void test_speed(void **state)
{
	(void)state;
	set_up();
	expect("speed", "ok    speed: 1000 Mb/s, duplex full, one probe takes 880 ns (ETHTOOL_GLINKSETTINGS)\n");
	fake.speed = 100;
	expect("speed",
	       "note  speed: 100 Mb/s, duplex full, one probe takes 8800 ns (ETHTOOL_GLINKSETTINGS): a slow link is "
	       "a good part of what is measured\n");
	fake.duplex = DUPLEX_HALF;
	expect("speed",
	       "warn  speed: duplex half (ETHTOOL_GLINKSETTINGS): packets wait for each other, and collide: ethtool "
	       "-s fake0 duplex full, at both ends\n");
	fake.duplex = DUPLEX_UNKNOWN;
	for (fake.speed = -1; fake.speed <= 0; fake.speed++)
		expect("speed",
		       "note  speed: speed unknown, duplex unknown (ETHTOOL_GLINKSETTINGS): the time on the wire "
		       "cannot be told\n");
	fake.settings_error = EOPNOTSUPP;
	expect("speed", "note  speed: cannot tell (ETHTOOL_GLINKSETTINGS: Operation not supported)\n");
}

static void test_coalescing(void **state)
{
	(void)state;
	set_up();
	strcpy(c.nic.driver, "ice");
	expect("coalescing", "ok    coalescing: receive off (ETHTOOL_GCOALESCE)\n");
	fake.coalesce.rx_coalesce_usecs = 3;
	expect("coalescing",
	       "warn  coalescing: rx-usecs 3: each interrupt may come up to 3 us late (ETHTOOL_GCOALESCE): a thin "
	       "peak there is this timer, not the network: ethtool -C fake0 rx-usecs 0\n");
	strcpy(c.nic.driver, "igc");
	expect("coalescing",
	       "warn  coalescing: rx-usecs 3, which makes this driver choose the time (ETHTOOL_GCOALESCE): how long "
	       "it holds a packet back changes with the traffic: ethtool -C fake0 rx-usecs 0\n");
	fake.coalesce.rx_coalesce_usecs = 4;
	expect("coalescing",
	       "warn  coalescing: rx-usecs 4: each interrupt may come up to 4 us late (ETHTOOL_GCOALESCE): a thin "
	       "peak there is this timer, not the network: ethtool -C fake0 rx-usecs 0\n");
	fake.coalesce.use_adaptive_rx_coalesce = 1;
	fake.coalesce.tx_coalesce_usecs = 50;
	expect("coalescing",
	       "warn  coalescing: adaptive-rx on, rx-usecs 4 now (ETHTOOL_GCOALESCE): how long it holds a packet back "
	       "changes with the traffic: ethtool -C fake0 adaptive-rx off rx-usecs 0\n"
	       "note  coalescing: tx-usecs 50 (ETHTOOL_GCOALESCE): transmit stamps may be delivered that late, not "
	       "wrong: ethtool -C fake0 tx-usecs 0\n");
	fake.coalesce = (struct ethtool_coalesce){ .use_adaptive_tx_coalesce = 1 };
	expect("coalescing",
	       "ok    coalescing: receive off (ETHTOOL_GCOALESCE)\n"
	       "note  coalescing: adaptive-tx on, tx-usecs 0 (ETHTOOL_GCOALESCE): transmit stamps may be delivered "
	       "that late, not wrong: ethtool -C fake0 adaptive-tx off tx-usecs 0\n");
	fake.ask_error = EOPNOTSUPP;
	expect("coalescing", "note  coalescing: cannot tell (ETHTOOL_GCOALESCE: Operation not supported)\n");
}

static void test_rings(void **state)
{
	(void)state;
	set_up();
	expect("rings", "ok    rings: rx 512, tx 512 (ETHTOOL_GRINGPARAM)\n");
	fake.ring.rx_pending = 513;
	expect("rings",
	       "note  rings: rx 513, tx 512 (ETHTOOL_GRINGPARAM): each packet lies in other memory, which the cache "
	       "has lost when it comes round: ethtool -G fake0 rx 512\n");
	fake.ring.rx_pending = fake.ring.tx_pending = 0;
	expect("rings", "note  rings: the driver tells no sizes (ETHTOOL_GRINGPARAM)\n");
	fake.ask_error = EPERM;
	expect("rings", "note  rings: cannot tell (ETHTOOL_GRINGPARAM: Operation not permitted)\n");
}

static void test_offloads(void **state)
{
	(void)state;
	set_up();
	expect("offloads", "ok    offloads: gro, lro and tso off (ETHTOOL_GGRO, GTSO, GFLAGS)\n");
	fake.gro = true;
	expect("offloads",
	       "note  offloads: gro on (ETHTOOL_GGRO, GTSO, GFLAGS): work for each packet, and rant's gain nothing: "
	       "ethtool -K fake0 gro off\n");
	fake.tso = true;
	expect("offloads",
	       "note  offloads: gro and tso on (ETHTOOL_GGRO, GTSO, GFLAGS): work for each packet, and rant's gain "
	       "nothing: ethtool -K fake0 gro off tso off\n");
	fake.gro = false;
	fake.lro = true;
	expect("offloads",
	       "warn  offloads: lro on (ETHTOOL_GGRO, GTSO, GFLAGS): the NIC may hold a packet back to join it with "
	       "the next: ethtool -K fake0 lro off tso off\n");
	fake.ask_error = EOPNOTSUPP;
	expect("offloads", "note  offloads: cannot tell (ETHTOOL_GGRO, GTSO, GFLAGS: Operation not supported)\n");
}

static void test_pause(void **state)
{
	(void)state;
	set_up();
	fake.pause.autoneg = 1;
	expect("pause frames", "ok    pause frames: off (ETHTOOL_GPAUSEPARAM)\n");
	fake.pause.tx_pause = 1;
	expect("pause frames",
	       "warn  pause frames: rx off, tx on (ETHTOOL_GPAUSEPARAM): a full receiver at one end stops the sender "
	       "at the other: ethtool -A fake0 autoneg off rx off tx off\n");
	fake.pause = (struct ethtool_pauseparam){ .rx_pause = 1 };
	look("pause frames");
	assert_non_null(strstr(said, "warn  pause frames: rx on, tx off ("));
	fake.ask_error = EOPNOTSUPP;
	expect("pause frames", "note  pause frames: cannot tell (ETHTOOL_GPAUSEPARAM: Operation not supported)\n");
}

static void test_queues(void **state)
{
	(void)state;
	set_up();
	expect("queues", "ok    queues: 1 for receiving (ETHTOOL_GCHANNELS)\n");
	fake.channels.combined_count = 8;
	expect("queues",
	       "note  queues: 8 for receiving (ETHTOOL_GCHANNELS): which queue, interrupt and CPU take the packets "
	       "is left to a hash: ethtool -L fake0 combined 1\n");
	fake.channels = (struct ethtool_channels){ .rx_count = 2, .tx_count = 4 };
	expect("queues",
	       "note  queues: 2 for receiving (ETHTOOL_GCHANNELS): which queue, interrupt and CPU take the packets "
	       "is left to a hash: ethtool -L fake0 rx 1\n");
	fake.channels.rx_count = 0;
	expect("queues", "note  queues: the driver tells no number (ETHTOOL_GCHANNELS)\n");
	fake.ask_error = EOPNOTSUPP;
	expect("queues", "note  queues: cannot tell (ETHTOOL_GCHANNELS: Operation not supported)\n");
}

static void test_busy_poll(void **state)
{
	(void)state;
	set_up();
	expect("busy polling", "ok    busy polling: not asked for (getsockopt SO_BUSY_POLL)\n");
	fake.busy_poll_error = ENOPROTOOPT;
	expect("busy polling", "ok    busy polling: not asked for, and the kernel cannot (getsockopt SO_BUSY_POLL)\n");
	options.busy_poll_us = 50;
	expect("busy polling",
	       "warn  busy polling: the kernel cannot (getsockopt SO_BUSY_POLL): -p, -B, -P do nothing: a kernel "
	       "with CONFIG_NET_RX_BUSY_POLL\n");
	put("/sys/kernel/realtime", "1\n");
	expect("busy polling",
	       "warn  busy polling: the kernel cannot (getsockopt SO_BUSY_POLL): -p, -B, -P do nothing; PREEMPT_RT "
	       "with netconsole has none: a kernel with CONFIG_NET_RX_BUSY_POLL\n");
	fake.busy_poll_error = EBADF;
	expect("busy polling", "note  busy polling: cannot tell (getsockopt SO_BUSY_POLL: Bad file descriptor)\n");
	fake.busy_poll_error = 0;
	expect("busy polling", "ok    busy polling: the kernel can; 50 us asked for (getsockopt SO_BUSY_POLL)\n");
}

#define CAN "ok    busy polling: the kernel can; 50 us because of --budget or --prefer-busypoll (getsockopt " \
	    "SO_BUSY_POLL)\n"

static void test_prefer_busy_poll(void **state)
{
	(void)state;
	set_up();
	options.busy_poll_us = 50;
	options.busy_poll_implied = options.prefer_busy_poll = true;
	expect("busy polling",
	       CAN "note  busy polling: cannot tell about napi_defer_hard_irqs, another network namespace is shown "
	       "(/sys/class/net)\n");
	put("/sys/class/net/fake0/ifindex", "7\n");
	put("/sys/class/net/fake0/address", "02:00:00:00:00:01\n");
	find_class_folder(&c);
	assert_string_equal(c.class_folder, "/sys/class/net/fake0");
	expect("busy polling",
	       CAN "note  busy polling: cannot tell (/sys/class/net/fake0/napi_defer_hard_irqs: " ENOENT_TEXT ")\n");
	put("/sys/class/net/fake0/napi_defer_hard_irqs", "2\n");
	put("/sys/class/net/fake0/gro_flush_timeout", "200000\n");
	expect("busy polling",
	       CAN "ok    busy polling: napi_defer_hard_irqs 2, gro_flush_timeout 200000 (/sys/class/net/fake0)\n");
	put("/sys/class/net/fake0/gro_flush_timeout", "0\n");
	expect("busy polling",
	       CAN "warn  busy polling: napi_defer_hard_irqs 2, gro_flush_timeout 0 (/sys/class/net/fake0): -P "
	       "changes nothing unless both are above 0: cd /sys/class/net/fake0; echo 2 >napi_defer_hard_irqs; echo "
	       "200000 >gro_flush_timeout\n");
	put("/sys/class/net/fake0/napi_defer_hard_irqs", "0\n");
	put("/sys/class/net/fake0/gro_flush_timeout", "1\n");
	look("busy polling");
	assert_non_null(strstr(said, "warn  busy polling: napi_defer_hard_irqs 0, gro_flush_timeout 1 ("));
	put("/sys/class/net/fake0/gro_flush_timeout", "what\n");
	expect("busy polling",
	       CAN "note  busy polling: cannot tell, 'what' is no number (/sys/class/net/fake0/gro_flush_timeout)\n");
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

/* ---- Clock ------------------------------------------------------------------------------------------------------- */

static void test_phc(void **state)
{
	(void)state;
	set_up();
	expect("NIC clock",
	       "warn  NIC clock: cannot be read: " ENOENT_TEXT " (/dev/ptp0): times of user space cannot be put on "
	       "the scale of the NIC: the device node has to be there, see ls /dev/ptp*\n");
	put("/dev/ptp0", "");
	expect("NIC clock",
	       "ok    NIC clock: runs; a reading takes 50 ns (median of 101), its times are multiples of 8 ns "
	       "(/dev/ptp0, measured now)\n");
	c.brief = true;
	look("NIC clock");
	assert_string_equal(said, "");
	c.brief = false;
	fake.phc_error = EACCES;
	expect("NIC clock",
	       "warn  NIC clock: cannot be read: Permission denied (/dev/ptp0): times of user space cannot be put on "
	       "the scale of the NIC: run as root, or setfacl -m u:NAME:r /dev/ptp0\n");
	fake.phc_error = 0;
	c.nic.can.phc_index = -1;
	expect("NIC clock", "note  NIC clock: the NIC has none (ethtool TSINFO)\n");
	options.stamp = SOURCE_KERNEL;
	expect("NIC clock", "ok    NIC clock: the NIC has none (ethtool TSINFO)\n");
	c.abilities_error = -EIO;
	expect("NIC clock", "note  NIC clock: cannot tell (ethtool TSINFO: Input/output error)\n");
}

static void test_phc_wrong(void **state)
{
	(void)state;
	set_up();
	put("/dev/ptp0", "");
	fake.phc_stands = true;
	expect("NIC clock",
	       "fail  NIC clock: stands still (/dev/ptp0, measured now): without a running clock no stamp means "
	       "anything: ethtool -T, dmesg\n");
	fake.phc_stands = false;
	/* Within one in a hundred, and beyond. */
	fake.phc_ppm = -9000;
	look("NIC clock");
	assert_non_null(strstr(said, "ok    NIC clock: runs"));
	fake.phc_ppm = 11000;
	look("NIC clock");
	assert_non_null(strstr(said, "fail  NIC clock: went on 10"));
	fake.phc_ppm = 0;
	for (fake.phc_jump_ns = -NS_PER_S; fake.phc_jump_ns <= NS_PER_S; fake.phc_jump_ns += 2 * NS_PER_S) {
		fake.phc_readings = 0;
		look("NIC clock");
		assert_non_null(strstr(said, fake.phc_jump_ns < 0 ? "fail  NIC clock: went on -98" :
								    "fail  NIC clock: went on 101"));
		assert_non_null(strstr(said, "it was set, or it is broken"));
	}
}

static void test_clock_source(void **state)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

	(void)state;
	set_up();
	expect("clock source",
	       "note  clock source: cannot tell (/sys/devices/system/clocksource/clocksource0/current_clocksource: "
	       ENOENT_TEXT ")\n");
	put(path, "arch_sys_counter\n");
	look("clock source");
	assert_non_null(strstr(said, "ok    clock source: arch_sys_counter (/sys/devices"));
	put(path, "hpet\n");
	expect("clock source",
	       "warn  clock source: hpet (/sys/devices/system/clocksource/clocksource0/current_clocksource): each "
	       "reading of the clock is a system call that asks a device: see dmesg why not tsc; boot with "
	       "tsc=reliable if it is\n");
	expect("clock_gettime", "ok    clock_gettime: 25 ns a call, mean of 1000 (measured now)\n");
	fake.reading_ns = 201;
	expect("clock_gettime",
	       "warn  clock_gettime: 201 ns a call, mean of 1000 (measured now): it is read several times for each "
	       "packet: see 'clock source'\n");
}

/* ---- Interrupts -------------------------------------------------------------------------------------------------- */

#define DEVICE "/sys/bus/pci/devices/0000:01:00.0"

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
	expect("NIC interrupts",
	       "note  NIC interrupts: cannot tell, the driver names no device on a bus and no handler is named "
	       "'fake0' (ETHTOOL_GDRVINFO, /proc/irq)\n");
	put(DEVICE "/msi_irqs/30", "msix\n");
	look_for_irqs();
	assert_string_equal(c.device, DEVICE);
	expect("NIC interrupts",
	       "note  NIC interrupts: cannot tell, no interrupt of it has a handler in /proc/irq (" DEVICE ")\n");
	put_irq(30, "fake0", NULL);
	look_for_irqs();
	assert_int_equal(c.irqs, 1);
	expect("NIC interrupts",
	       "note  NIC interrupts: cannot tell where the 1 of the NIC go (effective_affinity_list in /proc/irq)\n");
	put("/proc/irq/30/effective_affinity_list", "0,x\n");
	look_for_irqs();
	look("NIC interrupts");
	assert_non_null(strstr(said, "note  NIC interrupts: cannot tell where the 1 of the NIC go ("));
	remove_all(folder);
	put(DEVICE "/msi_irqs/30", "msix\n");
	put_irq(30, "fake0", NULL);
	put("/proc/irq/30/smp_affinity_list", "0-1\n");
	look_for_irqs();
	expect("NIC interrupts",
	       "ok    NIC interrupts: 1 of the NIC on CPU 0-1, this process on 3 (effective_affinity_list in "
	       "/proc/irq, sched_getaffinity)\n");
	/* What is in force counts. */
	put_irq(30, "fake0", "3\n");
	put("/proc/irq/31/node", "0\n"); /* has no handler */
	put(DEVICE "/msi_irqs/31", "msix\n");
	put_irq(32, "fake0-rx-0", "1\n"); /* not of this device */
	look_for_irqs();
	assert_int_equal(c.irqs, 1);
	expect("NIC interrupts",
	       "warn  NIC interrupts: 1 of the NIC (30 fake0...) on CPU 3, this process on 3 "
	       "(effective_affinity_list in /proc/irq, sched_getaffinity): an interrupt on the measuring CPU stops "
	       "the loop: echo CPU >/proc/irq/30/smp_affinity_list, and so on\n");
	CPU_SET(2, &c.cpus);
	look("NIC interrupts");
	assert_non_null(strstr(said,
			       "note  NIC interrupts: 1 of the NIC (30 fake0...) on CPU 3, this process on 2-3 ("));
	c.cpus_error = EINVAL;
	expect("NIC interrupts", "note  NIC interrupts: cannot tell (sched_getaffinity: Invalid argument)\n");
}

/* No message-signalled interrupts, or no device on a bus: by the name of the handler. */
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
	expect("NUMA",
	       "ok    NUMA: the NIC belongs to no node (/sys/bus/platform/devices/fd580000.ethernet/numa_node)\n");
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
	snprintf(text, sizeof(text), "%d (%s) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 -51 0 1 0 103 0 0 18446744073709551615 0 "
		 "0 0 0 0 0 0 2147483647 0 0 0 0 17 1 %s 0 0 0\n", pid, comm, priority_and_policy);
	put(path, text);
}

static void test_irq_priority(void **state)
{
	(void)state;
	set_up();
	expect("interrupt priority",
	       "note  interrupt priority: cannot tell, the driver names no device on a bus and no handler is named "
	       "'fake0' (ETHTOOL_GDRVINFO, /proc/irq)\n");
	put("/proc/1/comm", "init\n");
	put_irq(30, "fake0-rx-0", "3\n");
	put_irq(31, "fake0-tx-0", "2\n");
	look_for_irqs();
	find_processes(&c);
	expect("interrupt priority",
	       "ok    interrupt priority: in interrupt context, above every process (no thread irq/N-* in /proc)\n");
	put_irq_thread(60, "irq/30-a) R 1 2", "50 1");
	put_irq_thread(61, "irq/31-fake0-tx", "10 2");
	put_irq_thread(62, "irq/3-other", "1 1");
	find_processes(&c);
	expect("interrupt priority",
	       "ok    interrupt priority: thread of interrupt 31 has SCHED_RR 10, this process SCHED_FIFO 22 "
	       "(/proc/PID/stat)\n");
	c.priority = 50;
	expect("interrupt priority",
	       "warn  interrupt priority: thread of interrupt 30 has SCHED_FIFO 50, this process SCHED_FIFO 50 "
	       "(/proc/PID/stat): on one CPU the busy loop keeps the thread from delivering packet and stamp: chrt "
	       "-f -p 51 60, or another CPU\n");
	c.priority = 49;
	look("interrupt priority");
	assert_non_null(strstr(said, "ok    interrupt priority"));
	c.policy = SCHED_OTHER;
	c.priority = 99;
	expect("interrupt priority",
	       "ok    interrupt priority: thread of interrupt 31 has SCHED_RR 10, this process SCHED_OTHER "
	       "(/proc/PID/stat)\n");
	c.processes_hidden = true;
	expect("interrupt priority", "note  interrupt priority: cannot tell (/proc/1/comm: " ENOENT_TEXT ")\n");
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
	       "note  scheduling: SCHED_BATCH (sched_getscheduler): other tasks of that CPU take turns with it: chrt "
	       "-f 22 rant ..., below the priority of interrupt threads\n");
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

/* ---- Helpers ----------------------------------------------------------------------------------------------------- */

static void test_cpu_lists(void **state)
{
	static const char *const bad[] = { "a", "1-", "-1", "1,,2", "3-2", "1024", "0-1024", "1 2", "1-2-3",
					   "99999999999999999999",
					   ",1", "1- 2", "1 " };
	static const char *const good[][2] = { { "", "" }, { "(null)", "" }, { "0", "0" }, { "1023", "1023" },
					       { "0-1,3", "0-1,3" },
					       { "3,1,2", "1-3" }, { "5-5", "5" }, { "1,", "1" }, { "  1", "1" } };
	cpu_set_t cpus;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (check_cpus_read(bad[i], &cpus))
			fail_msg("'%s' was taken for a list", bad[i]);
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		assert_true(check_cpus_read(good[i][0], &cpus));
		assert_string_equal(check_cpus_text(&cpus).text, good[i][1]);
	}
}

/* What is written is read back; only where it fits, for the text is cut. */
static void test_cpu_lists_random(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2000; turn++) {
		cpu_set_t cpus, back;
		struct check_cpu_text t;
		uint64_t one_in = 1 + util_below(300);

		CPU_ZERO(&cpus);
		for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (util_below(one_in) == 0)
				CPU_SET(cpu, &cpus);
		t = check_cpus_text(&cpus);
		assert_true(memchr(t.text, '\0', sizeof(t.text)) != NULL);
		if (strlen(t.text) == sizeof(t.text) - 1)
			continue;
		assert_true(check_cpus_read(t.text, &back));
		assert_true(CPU_EQUAL(&cpus, &back));
	}
}

static void test_cpu_lists_garbage(void **state)
{
	(void)state;
	for (int turn = 0; turn < 20000; turn++) {
		static const char letters[] = "0123456789-, \n(nul)x";
		char text[32];
		size_t bytes = util_below(sizeof(text));
		cpu_set_t cpus;

		for (size_t i = 0; i < bytes; i++)
			text[i] = letters[util_below(sizeof(letters) - 1)];
		text[bytes] = '\0';
		char *exact = (char *)util_exact(text, bytes + 1);

		check_cpus_read(exact, &cpus);
		free(exact);
	}
}

static void test_read(void **state)
{
	struct check_file f;
	char big[6000];
	long long n;

	(void)state;
	set_up();
	memset(big, '7', sizeof(big));
	put_bytes("/big", big, sizeof(big));
	assert_true(check_read(&f, "/%s", "big"));
	assert_string_equal(f.path, "/big");
	assert_int_equal(f.bytes, sizeof(f.text) - 1);
	assert_int_equal(strlen(f.text), f.bytes);
	assert_false(check_number_in(&f, &n));
	put("/empty", "");
	assert_true(check_read(&f, "/empty"));
	assert_int_equal(f.bytes, 0);
	assert_false(check_number_in(&f, &n));
	assert_false(check_read(&f, "/big/none"));
	assert_int_equal(f.error, ENOTDIR);
	assert_string_equal(f.text, "");
	put("/folder", NULL);
	assert_false(check_read(&f, "/folder"));
	assert_int_equal(f.error, EISDIR);
	put("/n", "-12\n\n");
	assert_true(check_read(&f, "/n") && check_number_in(&f, &n));
	assert_int_equal(n, -12);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int run_machine(bool with_output)
{
	char *text;
	size_t bytes;
	FILE *out;
	int fails;

	begin_capture(&out, &text, &bytes);
	fails = check_machine(with_output ? out : NULL, &options);
	end_capture(out, &text);
	return fails;
}

/* Every line is a heading, empty, the count, or a finding with its source. Returns how many findings are `name`. */
static unsigned count_lines(const char *name)
{
	char copy[sizeof(said)], *line, *rest = copy;
	unsigned count = 0;

	strcpy(copy, said);
	while ((line = strsep(&rest, "\n"))) {
		size_t bytes = strlen(line);
		bool finding = false;

		for (int f = OK; f < FINDINGS; f++)
			finding |= !strncmp(line, finding_names[f], strlen(finding_names[f])) &&
				   line[4] == ' ' && line[5] == ' ';
		if (finding && (!strstr(line, ": ") || !strchr(line, '(') || !strchr(line, ')') || bytes > 260))
			fail_msg("not a finding: %s", line);
		if (!finding && bytes && line[bytes - 1] != ':' && !strstr(line, " ok, "))
			fail_msg("not a line: %s", line);
		count += finding && !strncmp(line, name, strlen(name));
	}
	return count;
}

static void test_whole(void **state)
{
	char total[96];
	int fails;

	(void)state;
	set_up();
	fake.reading_ns = 1000;
	fails = run_machine(true);
	assert_int_equal(fails, 0);
	assert_int_equal(strncmp(said, "NIC:\nok    stamps: hardware", 27), 0);
	assert_non_null(strstr(said, "\n\nClock:\n"));
	assert_non_null(strstr(said, "\n\nTracing:\nnote  tracefs: "));
	for (const char *const *name = finding_names; name < finding_names + FINDINGS; name++)
		count_lines(*name);
	assert_true(count_lines("ok") > 5 && count_lines("note") > 10);
	snprintf(total, sizeof(total), "\n\n%u ok, %u notes, %u warnings, 0 failures\n", count_lines("ok"),
		 count_lines("note"), count_lines("warn"));
	assert_string_equal(said + strlen(said) - strlen(total), total);
	/* Down, and without a clock: two of them, and no line where none is wanted. */
	fake_nic.down = true;
	fake_nic.can.phc_index = -1;
	assert_int_equal(run_machine(true), 2);
	assert_int_equal(count_lines("fail"), 2);
	assert_non_null(strstr(said, ", 2 failures\n"));
	fake_nic.down = false;
	assert_int_equal(run_machine(true), 1);
	assert_non_null(strstr(said, ", 1 failure\n"));
	assert_int_equal(run_machine(false), 1);
	assert_string_equal(said, "");
}

static void test_whole_without_interface(void **state)
{
	struct util_capture capture;
	char error[256];
	int result;

	(void)state;
	set_up();
	fake_nic.on = false;
	options.interface = "rant-none";
	util_capture_begin(&capture);
	result = run_machine(true);
	util_capture_end(&capture, error, sizeof(error));
	assert_int_equal(result, -ENODEV);
	assert_non_null(strstr(error, "interface 'rant-none' not found"));
	assert_string_equal(said, "");
}

/* At the start of a run: what was changed for it stays, and no second is spent. */
static void test_short(void **state)
{
	struct nic n;
	char *text;
	size_t bytes;
	FILE *out;

	(void)state;
	set_up();
	assert_int_equal(nic_find(&n, "fake0"), 0);
	n.changed = true;
	put("/sys/devices/system/cpu/isolated", "\n");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	fake.now_ns = 0;
	begin_capture(&out, &text, &bytes);
	check_short(out, &options, &n);
	end_capture(out, &text);
	assert_true(fake.now_ns < NS_PER_S / 2);
	assert_true(n.changed);
	assert_true(count_lines("warn") >= 2);
	assert_non_null(strstr(said, "warn  watchdog: nmi_watchdog 1 ("));
	assert_int_equal(count_lines("ok") + count_lines("note"), 0);
	assert_null(strstr(said, ":\n"));
	assert_true(fcntl(n.control_fd, F_GETFD) >= 0);
	n.changed = false;
	nic_close(&n);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stamps), TEST(test_setting), TEST(test_users), TEST(test_users_hidden), TEST(test_irqbalance),
		TEST(test_driver), TEST(test_driver_kworker), TEST(test_link), TEST(test_speed), TEST(test_coalescing),
		TEST(test_rings), TEST(test_offloads), TEST(test_pause), TEST(test_queues), TEST(test_busy_poll),
		TEST(test_prefer_busy_poll), TEST(test_other_namespace), TEST(test_phc), TEST(test_phc_wrong),
		TEST(test_clock_source), TEST(test_irqs), TEST(test_irqs_by_name), TEST(test_irq_priority),
		TEST(test_irq_thread_cut), TEST(test_placement), TEST(test_isolation), TEST(test_nohz_full),
		TEST(test_frequency), TEST(test_idle), TEST(test_smt), TEST(test_numa), TEST(test_throttling),
		TEST(test_fair_server), TEST(test_watchdog), TEST(test_preemption), TEST(test_gap), TEST(test_memory),
		TEST(test_tracefs), TEST(test_cpu_lists), TEST(test_cpu_lists_random), TEST(test_cpu_lists_garbage),
		TEST(test_read), TEST(test_whole), TEST(test_whole_without_interface), TEST(test_short),
	};
	int failed;

	util_seed();
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests_name("check", tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
