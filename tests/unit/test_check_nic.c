// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit,nic_check_address,nic_find_own,nic_provider_list,nic_provider_read,nic_read_napis sources=doctor/cpus.c,doctor/finding.c,doctor/check_*.c,host/nic/nic*.c libs=-lnl-3 -lnl-genl-3 */
/*
 * Checks of the NIC and of the clocks on simulated hosts: the lines of each check for a good, a bad and an unreadable
 * value.
 */
#include "doctor/inside.h"
#include "doctor/facts.c"
#include "doctor/files.c"
#include "host/nic/nic_provider.h"

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>

#include "fake_machine.h"

/* ---- Stamps ------------------------------------------------------------------------------------------------------ */

static struct nic_provider providers[3]; /* the first is selected */
static int provider_count;

bool __wrap_nic_provider_read(const struct nic *n, struct nic_provider *p);
bool __wrap_nic_provider_read(const struct nic *n, struct nic_provider *p)
{
	assert_string_equal(n->name, "fake0");
	*p = providers[0];
	return p->known;
}

int __wrap_nic_provider_list(const struct nic *n, struct nic_provider list[NIC_PROVIDERS]);
int __wrap_nic_provider_list(const struct nic *n, struct nic_provider list[NIC_PROVIDERS])
{
	(void)n;
	memcpy(list, providers, sizeof(providers));
	return provider_count;
}

static void test_provider(void **state)
{
	(void)state;
	set_up();
	look("provider"); /* an older kernel */
	providers[0] = (struct nic_provider){ .known = true, .phc_index = 1, .source = NIC_SOURCE_MAC };
	look("provider");
	providers[1] = (struct nic_provider){ .known = true, .phc_index = 2, .source = NIC_SOURCE_PHY };
	providers[2] = (struct nic_provider){ .known = true, .phc_index = 1, .qualifier = 1, .source = NIC_SOURCE_MAC };
	provider_count = 3;
	look("provider");
	options.stamp = SOURCE_KERNEL;
	look("provider");
	options.stamp = SOURCE_HARDWARE;
	c.nic.can.phc_index = -1;
	look("provider");
}

static void test_wanted_provider(void **state)
{
	(void)state;
	set_up();
	memset(providers, 0, sizeof(providers));
	options.provider = PROVIDER_PHY;
	look("provider"); /* an older kernel */
	providers[0] = (struct nic_provider){ .known = true, .phc_index = 1, .source = NIC_SOURCE_MAC };
	provider_count = 1;
	look("provider");
	providers[1] = (struct nic_provider){ .known = true, .phc_index = 2, .source = NIC_SOURCE_PHY };
	providers[2] = (struct nic_provider){ .known = true, .phc_index = 3, .source = NIC_SOURCE_PHY };
	provider_count = 3;
	look("provider");
	options.provider = PROVIDER_MAC;
	look("provider");
	options.provider = PROVIDER_ANY;
}

static void test_stamps_in_ptp(void **state)
{
	(void)state;
	set_up();
	c.nic.can.rx_filters = PTP_ONLY;
	strcpy(c.nic.driver, "i40e");
	options.transport = TRANSPORT_PTP;
	look("stamps");
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_PTP_V2_EVENT;
	look("stamp setting");
}

static void test_stamps(void **state)
{
	(void)state;
	set_up();
	look("stamps");
	c.nic.can.rx_filters = PTP_ONLY;
	look("stamps");
	strcpy(c.nic.driver, "new");
	look("stamps");
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_ALL;
	look("stamps");
	fake_nic.setting[2] = HWTSTAMP_FILTER_NONE;
	strcpy(c.nic.driver, "i40e");
	look("stamps");
	c.nic.can.stamping &= ~(unsigned)SOF_TIMESTAMPING_RX_HARDWARE;
	look("stamps");
	c.nic.can.phc_index = -1;
	look("stamps");
	c.nic.can.phc_index = 0;
	c.nic.can.rx_filters = ALL;
	c.nic.can.stamping = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
			     SOF_TIMESTAMPING_TX_SOFTWARE;
	look("stamps");
	options.stamp = SOURCE_RECEIVE;
	look("stamps");
	look("stamp setting");
	c.nic.can.stamping &= ~(unsigned)SOF_TIMESTAMPING_TX_SOFTWARE;
	look("stamps");
	options.stamp = SOURCE_HARDWARE;
	c.nic.can.phc_index = -1;
	options.no_tx_stamps = true;
	look("stamps");
	options.no_tx_stamps = false;
	options.stamp = SOURCE_KERNEL;
	look("stamps");
	c.nic.can.stamping |= SOF_TIMESTAMPING_TX_SOFTWARE;
	look("stamps");
	c.abilities_error = -ENODEV;
	look("stamps");
	options.stamp = SOURCE_HARDWARE;
	look("stamps");
	look("stamp setting");
}

/* An unreadable setting: the findings match the behaviour of nic_stamp(). */
static void test_setting_unseen(void **state)
{
	(void)state;
	set_up();
	put("/proc/self/status", "Name:\trant\nCapEff:\tffffffffffffefff\n");
	fake_nic.get_error = EOPNOTSUPP;
	look("stamp setting");
	put("/proc/self/status", "CapEff:\t0000000000001000\n");
	look("stamp setting");
	c.nic.can.rx_filters = PTP_ONLY;
	look("stamp setting");
	c.nic.can.rx_filters = ALL;
	fake_nic.get_error = EIO;
	look("stamp setting");
}

static void test_setting(void **state)
{
	(void)state;
	set_up();
	look("stamp setting");
	put("/proc/self/status", "Name:\trant\nCapEff:\t0000000000001000\n");
	look("stamp setting");
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_PTP_V2_EVENT;
	look("stamp setting");
	put("/proc/self/status", "Name:\trant\nCapEff:\tffffffffffffefff\n");
	look("stamp setting");
	fake_nic.setting[2] = HWTSTAMP_FILTER_ALL;
	look("stamp setting");
	fake_nic.setting[1] = HWTSTAMP_TX_ONESTEP_SYNC;
	look("stamp setting");
	put("/proc/self/status", "CapEff:\t0000000000001000\n");
	strcpy(c.nic.driver, "tg3");
	fake_nic.get_error = 0;
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_NONE;
	look("stamp setting");
	c.nic.can.rx_filters = PTP_ONLY;
	look("stamp setting");
	c.nic.can.phc_index = -1;
	look("stamp setting");
	options.stamp = SOURCE_USER;
	look("stamp setting");
}

/* ---- Driver ------------------------------------------------------------------------------------------------------ */

static void test_driver(void **state)
{
	(void)state;
	set_up();
	look("driver");
	strcpy(c.nic.driver, "mlx5_core");
	look("driver");
	strcpy(c.nic.driver, "new");
	look("driver");
	c.nic.can.phc_index = -1;
	look("driver");
	c.nic.can.phc_index = 0;
	options.stamp = SOURCE_KERNEL;
	look("driver");
}

static void test_driver_kworker(void **state)
{
	(void)state;
	set_up();
	strcpy(c.nic.driver, "igb");
	c.irqs = 1;
	c.irq[0] = (struct check_irq){ .number = 30, .placed = true };
	CPU_SET(2, &c.irq[0].cpus);
	look("driver");
	CPU_SET(3, &c.irq[0].cpus);
	look("driver");
	c.irqs = 0;
	c.nic.can.rx_filters = PTP_ONLY;
	c.users = 1;
	strcpy(c.user[0].comm, "phc2sys");
	look("driver");
	c.policy = SCHED_OTHER;
	strcpy(c.user[0].comm, "ptp4l");
	look("driver");
	look("scheduling");
	options.stamp = SOURCE_KERNEL;
	look("scheduling");
}

/* Every row of the table, on a NIC with the abilities that the row says. */
static void test_driver_rows(void **state)
{
	const struct nic_driver *d;

	(void)state;
	set_up();
	for (size_t i = 0; (d = nic_driver_row(i)); i++) {
		strcpy(c.nic.driver, d->name);
		c.nic.can = fake_nic.can;
		c.nic.can.rx_filters = d->filters == NIC_ALL_NOT_LISTED || d->receives == NIC_STAMPS_PTP ? PTP_ONLY : ALL;
		if (d->transmits == NIC_STAMPS_NONE)
			c.nic.can.tx_types = 1U << HWTSTAMP_TX_OFF;
		assert_ptr_equal(check_find_driver(&c), d);
		golden("%s%s\n", d->name, d->filters == NIC_ALL_NOT_LISTED ? " without filter 'all'" : "");
		look("driver");
	}
}

/* ---- Link and settings ------------------------------------------------------------------------------------------- */

static void test_link(void **state)
{
	(void)state;
	set_up();
	look("link");
	fake_nic.no_link = true;
	look("link");
	c.nic.flags = 0;
	look("link");
}

static void test_speed(void **state)
{
	(void)state;
	set_up();
	look("speed");
	fake.speed = 100;
	look("speed");
	fake.duplex = DUPLEX_HALF;
	look("speed");
	fake.duplex = DUPLEX_UNKNOWN;
	for (fake.speed = -1; fake.speed <= 0; fake.speed++)
		look("speed");
	fake.settings_error = EOPNOTSUPP;
	look("speed");
}

static void test_coalescing(void **state)
{
	(void)state;
	set_up();
	strcpy(c.nic.driver, "ice");
	look("coalescing");
	fake.coalesce.rx_coalesce_usecs = 3;
	look("coalescing");
	strcpy(c.nic.driver, "igc");
	look("coalescing");
	fake.coalesce.rx_coalesce_usecs = 4;
	look("coalescing");
	fake.coalesce.use_adaptive_rx_coalesce = 1;
	fake.coalesce.tx_coalesce_usecs = 50;
	look("coalescing");
	fake.coalesce = (struct ethtool_coalesce){ .use_adaptive_tx_coalesce = 1 };
	look("coalescing");
	fake.ask_error = EOPNOTSUPP;
	look("coalescing");
}

static void test_rings(void **state)
{
	(void)state;
	set_up();
	look("rings");
	fake.ring.rx_pending = 513;
	look("rings");
	fake.ring.rx_pending = fake.ring.tx_pending = 0;
	look("rings");
	fake.ask_error = EPERM;
	look("rings");
}

static void test_offloads(void **state)
{
	(void)state;
	set_up();
	look("offloads");
	fake.gro = true;
	look("offloads");
	fake.tso = true;
	look("offloads");
	fake.gro = false;
	fake.lro = true;
	look("offloads");
	fake.ask_error = EOPNOTSUPP;
	look("offloads");
}

static void test_pause(void **state)
{
	(void)state;
	set_up();
	fake.pause.autoneg = 1;
	look("pause frames");
	fake.pause.tx_pause = 1;
	look("pause frames");
	fake.pause = (struct ethtool_pauseparam){ .rx_pause = 1 };
	look("pause frames");
	fake.ask_error = EOPNOTSUPP;
	look("pause frames");
}

static void test_queues(void **state)
{
	(void)state;
	set_up();
	look("queues");
	fake.channels.combined_count = 8;
	look("queues");
	fake.channels = (struct ethtool_channels){ .rx_count = 2, .tx_count = 4 };
	look("queues");
	fake.channels.rx_count = 0;
	look("queues");
	fake.ask_error = EOPNOTSUPP;
	look("queues");
}

static void test_busy_poll(void **state)
{
	(void)state;
	set_up();
	look("busy polling");
	fake.busy_poll_error = ENOPROTOOPT;
	look("busy polling");
	options.busy_poll_us = 50;
	look("busy polling");
	put("/sys/kernel/realtime", "1\n");
	look("busy polling");
	fake.busy_poll_error = EBADF;
	look("busy polling");
	fake.busy_poll_error = 0;
	look("busy polling");
}

static void test_prefer_busy_poll(void **state)
{
	(void)state;
	set_up();
	options.busy_poll_us = 50;
	options.busy_poll_implied = options.prefer_busy_poll = true;
	look("busy polling");
	put("/sys/class/net/fake0/ifindex", "7\n");
	put("/sys/class/net/fake0/address", "02:00:00:00:00:01\n");
	find_class_folder(&c);
	assert_string_equal(c.class_folder, "/sys/class/net/fake0");
	look("busy polling");
	put("/sys/class/net/fake0/napi_defer_hard_irqs", "2\n");
	put("/sys/class/net/fake0/gro_flush_timeout", "200000\n");
	look("busy polling");
	put("/sys/class/net/fake0/gro_flush_timeout", "0\n");
	look("busy polling");
	put("/sys/class/net/fake0/napi_defer_hard_irqs", "0\n");
	put("/sys/class/net/fake0/gro_flush_timeout", "1\n");
	look("busy polling");
	put("/sys/class/net/fake0/gro_flush_timeout", "what\n");
	look("busy polling");
}

/* ---- NAPI -------------------------------------------------------------------------------------------------------- */

static void test_napi(void **state)
{
	static const struct nic_napi usual = { .id = 257, .has = NIC_NAPI_IRQ | NIC_NAPI_DEFER | NIC_NAPI_FLUSH |
					       NIC_NAPI_SUSPEND | NIC_NAPI_MODE, .irq = 30, .queues = 1 };

	(void)state;
	set_up();
	look("NAPI");
	fake.napis = -EOPNOTSUPP;
	look("NAPI");
	fake.napis = 2;
	fake.napi[0] = fake.napi[1] = usual;
	fake.napi[0].queues = 0;
	fake.napi[1].id = 258;
	fake.napi[1].queue[0] = 5;
	look("NAPI");
	fake.napi[1].has &= ~(unsigned)NIC_NAPI_IRQ;
	look("NAPI");
	fake.napi[1].queues = 0;
	look("NAPI");
	fake.napi[1].irq_suspend_timeout_ns = 20000000;
	look("NAPI");
	fake.napi[1].has &= ~(unsigned)NIC_NAPI_SUSPEND; /* a value that was not reported */
	look("NAPI");
}

static void test_napi_that_defers(void **state)
{
	(void)state;
	set_up();
	fake.napis = 2;
	for (int i = 0; i < 2; i++)
		fake.napi[i] = (struct nic_napi){ .id = 257, .has = NIC_NAPI_DEFER | NIC_NAPI_FLUSH };
	look("NAPI");
	options.prefer_busy_poll = true;
	look("NAPI");
	fake.napi[0].defer_hard_irqs = 2;
	look("NAPI");
	fake.napi[0].gro_flush_timeout_ns = 200000;
	look("NAPI");
	options.prefer_busy_poll = false;
	look("NAPI");
	options.prefer_busy_poll = true;
	fake.napi[1] = fake.napi[0];
	look("NAPI");
	options.busy_poll_us = 50;
	look("busy polling");
	fake.napi[1].has = NIC_NAPI_DEFER; /* Linux 6.12: by device */
	look("NAPI");
	look("busy polling");
}

static void test_napi_in_threads(void **state)
{
	(void)state;
	set_up();
	fake.napis = 3;
	for (int i = 0; i < 3; i++)
		fake.napi[i] = (struct nic_napi){ .id = 257, .has = NIC_NAPI_PID | NIC_NAPI_MODE, .pid = 0 };
	look("NAPI");
	fake.napi[1].pid = 812;
	fake.napi[1].threaded = NIC_NAPI_THREADED;
	look("NAPI");
	fake.napi[2].pid = 813;
	fake.napi[2].threaded = NIC_NAPI_BUSY_POLLS;
	look("NAPI");
}

/* ---- Refusals of a run ------------------------------------------------------------------------------------------- */

static void test_address(void **state)
{
	(void)state;
	set_up();
	options.role = ROLE_REFLECT;
	look("address");
	assert_null(fake.asked_for);
	fake.address_refused = "interface 'fake0' has no IPv4 address: 'ip address add ADDRESS/PREFIX dev fake0'";
	look("address");
	fake.address_refused = NULL;
	options.role = ROLE_EMIT;
	look("address");
	assert_ptr_equal(fake.asked_for, &options.server);
	fake.address_refused = "no route";
	look("address");
}

/* The message of a refusal becomes a finding; stderr is the same as before. */
static void test_socket(void **state)
{
	struct util_capture capture;
	FILE *before = stderr;
	char error[256];

	(void)state;
	set_up();
	options.role = ROLE_REFLECT;
	look("address");
	look("socket");
	assert_true(fake.socket_in_ipv6);
	fake.socket_refused = "--priority 7: refused by the kernel (Operation not permitted): above 6 it needs "
			      "CAP_NET_ADMIN (sudo)";
	util_capture_begin(&capture);
	look("socket");
	util_capture_end(&capture, error, sizeof(error));
	assert_string_equal(error, "");
	assert_ptr_equal(stderr, before);
	assert_string_equal(said,
	       "fail  socket: --priority 7 (setsockopt): rant will not start: refused by the kernel (Operation not "
	       "permitted): above 6 it needs CAP_NET_ADMIN (sudo)\n");
	assert_true(row_of("socket")->slow && row_of("address")->slow);
}

/* ---- Clock ------------------------------------------------------------------------------------------------------- */

static void test_phc(void **state)
{
	(void)state;
	set_up();
	look("NIC clock");
	put("/dev/ptp0", "");
	look("NIC clock");
	c.brief = true;
	look("NIC clock");
	assert_string_equal(said, "");
	c.brief = false;
	fake.phc_error = EACCES;
	look("NIC clock");
	options.stamp = SOURCE_RECEIVE;
	look("NIC clock");
	options.stamp = SOURCE_HARDWARE;
	fake.phc_error = 0;
	c.nic.can.phc_index = -1;
	look("NIC clock");
	options.stamp = SOURCE_KERNEL;
	look("NIC clock");
	c.abilities_error = -EIO;
	look("NIC clock");
}

/* Few readings of a clock that refuses more than some a second. */
static void test_phc_limited(void **state)
{
	(void)state;
	set_up();
	put("/dev/ptp0", "");
	strcpy(c.nic.driver, "ena");
	look("NIC clock");
	assert_int_equal(fake.phc_readings, 5);
	c.brief = true;
	fake.phc_error = EBUSY;
	look("NIC clock");
	assert_true(fake.phc_readings <= 10);
}

/* A busy clock is checked by its successful readings. */
static void test_phc_busy(void **state)
{
	static const int busy[] = { EBUSY, EAGAIN, ETIMEDOUT, EINTR };
	static const int broken[] = { EIO, EOPNOTSUPP };

	(void)state;
	set_up();
	put("/dev/ptp0", "");
	for (size_t i = 0; i < COUNT_OF(busy); i++) {
		fake.phc_error = busy[i];
		look("NIC clock");
	}
	/* Every fourth reading is refused, then three of four. */
	fake.phc_error = EBUSY;
	fake.phc_error_every = 4;
	fake.phc_readings = 1;
	look("NIC clock");
	fake.phc_error_every = 0;
	fake.phc_error_from = 10;
	fake.phc_readings = 0;
	look("NIC clock");
	/* Half a second for each reading: at most a second passes before the last. */
	fake.phc_error_ns = NS_PER_S / 2;
	fake.phc_error = ETIMEDOUT;
	fake.phc_readings = 10;
	look("NIC clock");
	fake.phc_error_ns = 0;
	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		fake.phc_error = broken[i];
		look("NIC clock");
	}
	fake.phc_error = ENODEV;
	look("NIC clock");
}

static void test_phc_wrong(void **state)
{
	(void)state;
	set_up();
	put("/dev/ptp0", "");
	fake.phc_stands = true;
	look("NIC clock");
	fake.phc_stands = false;
	/* A rate within 1 %, and beyond. */
	fake.phc_ppm = -9000;
	look("NIC clock");
	fake.phc_ppm = 11000;
	look("NIC clock");
	/* A delay of one reading does not change the result. */
	fake.phc_ppm = 50000;
	fake.phc_stall_ns = 20 * NS_PER_MS;
	fake.phc_readings = 0;
	look("NIC clock");
	fake.phc_stall_ns = 0;
	fake.phc_ppm = 0;
	for (fake.phc_jump_ns = -NS_PER_S; fake.phc_jump_ns <= NS_PER_S; fake.phc_jump_ns += 2 * NS_PER_S) {
		fake.phc_readings = 0;
		look("NIC clock");
	}
}

static void test_clock_source(void **state)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

	(void)state;
	set_up();
	look("clock source");
	put(path, "arch_sys_counter\n");
	look("clock source");
	put(path, "hpet\n");
	look("clock source");
	look("clock_gettime");
	fake.reading_ns = 201;
	look("clock_gettime");
	/* A program that had the CPU meanwhile does not change the result. */
	fake.reading_ns = 25;
	fake.long_reading_at = fake.readings + 150;
	fake.long_reading_ns = 4 * NS_PER_MS;
	look("clock_gettime");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stamps), TEST(test_stamps_in_ptp), TEST(test_provider), TEST(test_wanted_provider), TEST(test_setting),
		TEST(test_setting_unseen), TEST(test_driver), TEST(test_driver_kworker),
		TEST(test_driver_rows), TEST(test_link),
		TEST(test_speed), TEST(test_coalescing), TEST(test_rings), TEST(test_offloads), TEST(test_pause),
		TEST(test_queues), TEST(test_busy_poll), TEST(test_prefer_busy_poll), TEST(test_phc),
		TEST(test_napi), TEST(test_napi_that_defers), TEST(test_napi_in_threads),
		TEST(test_phc_limited),
		TEST(test_phc_busy), TEST(test_phc_wrong), TEST(test_address), TEST(test_socket),
		TEST(test_clock_source),
	};

	util_seed();
	return golden_run_group(tests, make_machine, remove_machine);
}
