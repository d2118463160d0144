// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit,nic_check_address,nic_find_own sources=doctor/cpus.c,doctor/finding.c,doctor/driver.c,doctor/check_*.c,host/nic*.c libs=-lnl-3 -lnl-genl-3 */
/*
 * The doctor's checks of the NIC and of the clocks on made-up machines. Of each check what it prints when all is well,
 * when not, and when it cannot tell.
 */
#include "doctor/facts.c"
#include "doctor/files.c"

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>

#include "util.h"

#include "fake_machine.h"

/* ---- Stamps ------------------------------------------------------------------------------------------------------ */

static void test_stamps_in_ptp(void **state)
{
	(void)state;
	set_up();
	c.nic.can.rx_filters = PTP_ONLY;
	strcpy(c.nic.driver, "i40e");
	options.transport = TRANSPORT_PTP;
	expect("stamps", "ok    stamps: hardware transmit, and receive of PTP event messages (ethtool TSINFO)\n");
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_PTP_V2_EVENT;
	expect("stamp setting", "ok    stamp setting: transmit 'on', filter 'ptpv2-event' (SIOCGHWTSTAMP)\n");
}

static void test_stamps(void **state)
{
	(void)state;
	set_up();
	expect("stamps", "ok    stamps: hardware transmit, and receive with filter 'all' (ethtool TSINFO)\n");
	c.nic.can.rx_filters = PTP_ONLY;
	expect("stamps",
	       "ok    stamps: filter 'all' is not listed, but 'igc' takes it (ethtool TSINFO; ETHTOOL_GDRVINFO; sources "
	       "of Linux 7.3)\n");
	strcpy(c.nic.driver, "new");
	expect("stamps",
	       "fail  stamps: filter 'all' is not listed, only: none ptpv2-event (ethtool TSINFO): rant will not start "
	       "unless the driver takes it all the same: rant --transport ptp at both ends, or rant --stamp kernel, or try sudo "
	       "hwstamp_ctl -i fake0 -t 1 -r 1\n");
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_ALL;
	expect("stamps",
	       "ok    stamps: hardware transmit, and receive with filter 'all', which is set though not listed (ethtool "
	       "TSINFO; SIOCGHWTSTAMP)\n");
	fake_nic.setting[2] = HWTSTAMP_FILTER_NONE;
	strcpy(c.nic.driver, "i40e");
	expect("stamps",
	       "fail  stamps: 'i40e' stamps only PTP packets on receipt, filters: none ptpv2-event (ethtool TSINFO; "
	       "ETHTOOL_GDRVINFO; sources of Linux 7.3): rant's packets would get no receive stamp: rant "
	       "--transport ptp at both ends, or rant --stamp kernel\n");
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
	options.stamp = SOURCE_HARDWARE;
	expect("stamps",
	       "fail  stamps: cannot be read: No such device (ethtool TSINFO): rant will not start: rant --stamp kernel; "
	       "see ethtool -T fake0, dmesg\n");
	expect("stamp setting", "ok    stamp setting: none to be made (ethtool TSINFO)\n");
}

/* It cannot be read: what nic_stamp() does then. */
static void test_setting_unseen(void **state)
{
	(void)state;
	set_up();
	put("/proc/self/status", "Name:\trant\nCapEff:\tffffffffffffefff\n");
	fake_nic.get_error = EOPNOTSUPP;
	expect("stamp setting",
	       "fail  stamp setting: the driver does not tell it (SIOCGHWTSTAMP; CapEff in /proc/self/status): to change "
	       "it needs CAP_NET_ADMIN: sudo rant\n");
	put("/proc/self/status", "CapEff:\t0000000000001000\n");
	expect("stamp setting",
	       "note  stamp setting: the driver does not tell it (SIOCGHWTSTAMP): rant sets it for the run and cannot put "
	       "it back: hwstamp_ctl -i fake0 -t 0 -r 0 ends it\n");
	c.nic.can.rx_filters = PTP_ONLY;
	expect("stamp setting",
	       "fail  stamp setting: the driver does not tell it, and filter 'all' is not listed (SIOCGHWTSTAMP; ethtool "
	       "TSINFO): rant will not start, for it could not put back what it tries: rant --stamp kernel\n");
	c.nic.can.rx_filters = ALL;
	fake_nic.get_error = EIO;
	expect("stamp setting",
	       "fail  stamp setting: cannot be read: Input/output error (SIOCGHWTSTAMP): rant will not start: rant "
	       "--stamp kernel; see dmesg\n");
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
	       "note  busy polling: the kernel cannot, see 'socket' (getsockopt SO_BUSY_POLL): a kernel with "
	       "CONFIG_NET_RX_BUSY_POLL\n");
	put("/sys/kernel/realtime", "1\n");
	expect("busy polling",
	       "note  busy polling: the kernel cannot, see 'socket' (getsockopt SO_BUSY_POLL): PREEMPT_RT with netconsole "
	       "has none: a kernel with CONFIG_NET_RX_BUSY_POLL\n");
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

/* ---- What a run refuses ------------------------------------------------------------------------------------------ */

static void test_address(void **state)
{
	(void)state;
	set_up();
	options.role = ROLE_REFLECT;
	expect("address", "ok    address: there is one (RTM_GETADDR)\n");
	assert_null(fake.asked_for);
	fake.address_refused = "interface 'fake0' has no IPv4 address: 'ip address add ADDRESS/PREFIX dev fake0'";
	expect("address",
	       "fail  address: interface 'fake0' has no IPv4 address (RTM_GETADDR): rant will not start: 'ip address add "
	       "ADDRESS/PREFIX dev fake0'\n");
	fake.address_refused = NULL;
	options.role = ROLE_EMIT;
	expect("address", "ok    address: the server is reached through this interface (RTM_GETROUTE)\n");
	assert_ptr_equal(fake.asked_for, &options.server);
	fake.address_refused = "no route";
	expect("address", "fail  address: no route (RTM_GETROUTE): rant will not start\n");
}

/* What rant says is told here and not on stderr, which is as before. */
static void test_socket(void **state)
{
	struct util_capture capture;
	FILE *before = stderr;
	char error[256];

	(void)state;
	set_up();
	options.role = ROLE_REFLECT;
	look("address");
	expect("socket", "ok    socket: the kernel takes all options (setsockopt)\n");
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

#define NO_BUSY_READING "it is there, but unread it is no scale for times of user space: stop who else reads it ('fuser -v " \
			"/dev/ptp0'); dmesg shows a reset of the NIC\n"

/* A busy clock is there, and is judged by what it tells. */
static void test_phc_busy(void **state)
{
	static const int busy[] = { EBUSY, EAGAIN, ETIMEDOUT, EINTR };
	static const int broken[] = { EIO, EOPNOTSUPP };

	(void)state;
	set_up();
	put("/dev/ptp0", "");
	for (size_t i = 0; i < COUNT_OF(busy); i++) {
		char line[512];

		fake.phc_error = busy[i];
		snprintf(line, sizeof(line), "warn  NIC clock: busy, refused 101 of 101 readings: %s (/dev/ptp0): "
			 NO_BUSY_READING, strerror(busy[i]));
		expect("NIC clock", line);
	}
	/* Every fourth, then three of four. */
	fake.phc_error = EBUSY;
	fake.phc_error_every = 4;
	fake.phc_readings = 1;
	expect("NIC clock",
	       "warn  NIC clock: busy, refused 33 of 134 readings: Device or resource busy (/dev/ptp0): " NO_BUSY_READING
	       "ok    NIC clock: runs; a reading takes 50 ns (median of 101), its times are multiples of 8 ns (/dev/ptp0, "
	       "measured now)\n");
	fake.phc_error_every = 0;
	fake.phc_error_from = 10;
	fake.phc_readings = 0;
	expect("NIC clock",
	       "warn  NIC clock: busy, refused 101 of 111 readings: Device or resource busy (/dev/ptp0): " NO_BUSY_READING);
	/* Half a second for each: no more than a second passes before the last. */
	fake.phc_error_ns = NS_PER_S / 2;
	fake.phc_error = ETIMEDOUT;
	fake.phc_readings = 10;
	look("NIC clock");
	assert_non_null(strstr(said, "warn  NIC clock: busy, refused 4 of 4 readings: Connection timed out ("));
	fake.phc_error_ns = 0;
	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		fake.phc_error = broken[i];
		look("NIC clock");
		assert_non_null(strstr(said, "warn  NIC clock: cannot be read: "));
		assert_non_null(strstr(said, "see dmesg for what the driver says\n"));
	}
	fake.phc_error = ENODEV;
	look("NIC clock");
	assert_non_null(strstr(said, "the device node has to be there"));
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
	/* A thread that was held up for one reading of many knows as much as before. */
	fake.phc_ppm = 50000;
	fake.phc_stall_ns = 20 * NS_PER_MS;
	fake.phc_readings = 0;
	look("NIC clock");
	assert_non_null(strstr(said, "fail  NIC clock: went on "));
	fake.phc_stall_ns = 0;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stamps), TEST(test_stamps_in_ptp), TEST(test_setting),
		TEST(test_setting_unseen), TEST(test_driver), TEST(test_driver_kworker), TEST(test_link),
		TEST(test_speed), TEST(test_coalescing), TEST(test_rings), TEST(test_offloads), TEST(test_pause),
		TEST(test_queues), TEST(test_busy_poll), TEST(test_prefer_busy_poll), TEST(test_phc),
		TEST(test_phc_busy), TEST(test_phc_wrong), TEST(test_address), TEST(test_socket), TEST(test_clock_source),
	};

	util_seed();
	return cmocka_run_group_tests_name("check_nic", tests, make_machine, remove_machine);
}
