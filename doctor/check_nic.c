// SPDX-License-Identifier: GPL-2.0-or-later
/* The doctor's checks of the NIC and of the clocks: by ethtool, which works in every network namespace. */
#include "doctor/inside.h"
#include "host/nic.h"
#include "host/nic_names.h"
#include "host/nic_stamp.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_BUSY_POLL
#define SO_BUSY_POLL 46 /* asm-generic/socket.h */
#endif

#define NOW "measured now"

/* ---- NIC: what is known of its driver ---------------------------------------------------------------------------- */

enum delivery {
	BY_INTERRUPT, BY_THREAD, BY_COMPLETION,
	BY_KWORKER, /* of the CPU that took the interrupt */
	BY_OWN_KWORKER, /* of the CPU that sent */
};

#define DRIVER_SOURCE "ETHTOOL_GDRVINFO; sources of Linux 7.3"

/* From the sources of these drivers. */
struct driver {
	const char *name; /* as ETHTOOL_GDRVINFO tells */
	enum { ALL_OR_NOT, ALL_LISTED, ALL_NOT_LISTED } filters; /* tells models of one driver apart */
	int in_flight; /* transmit stamps at a time; 0: as many as the queue holds */
	enum delivery delivery;
	enum {
		MODES = 1, /* rx-usecs of 1 to 3 are ways to adapt, not microseconds */
		REFUSES = 2, /* filter "all" where it is not listed */
	} flags;
	const char *note;
};

static const struct driver drivers[] = {
	{ "igb", ALL_LISTED, 1, BY_KWORKER, MODES, NULL },
	{ "igb", ALL_NOT_LISTED, 1, BY_OWN_KWORKER, MODES | REFUSES, NULL },
	{ "igc", ALL_OR_NOT, 4, BY_INTERRUPT, MODES, NULL },
	{ "e1000e", ALL_OR_NOT, 1, BY_OWN_KWORKER, MODES, NULL },
	{ "ixgbe", ALL_OR_NOT, 1, BY_OWN_KWORKER, REFUSES, NULL },
	{ "i40e", ALL_OR_NOT, 1, BY_INTERRUPT, REFUSES, NULL },
	{ "ice", ALL_OR_NOT, 64, BY_THREAD, 0, NULL },
	{ "mlx5_core", ALL_OR_NOT, 0, BY_COMPLETION, 0,
	  "T1 and T3 are the time of the completion (DMA), before the wire, for packets that are not PTP to port 319" },
	{ "mlx4_en", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
	{ "bnxt_en", ALL_OR_NOT, 4, BY_THREAD, 0, NULL },
	{ "tg3", ALL_OR_NOT, 1, BY_THREAD, REFUSES, "looks for a transmit stamp every 100 ms, and three times only" },
	{ "st_gmac", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
	{ "fsl_enetc", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
	{ "sfc", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
};

static const struct driver *find_driver(const struct check *c)
{
	bool all = c->nic.can.rx_filters & (1U << HWTSTAMP_FILTER_ALL);

	for (const struct driver *d = drivers; d < drivers + CHECK_COUNT(drivers); d++)
		if (!strcmp(d->name, c->nic.driver) &&
		    (d->filters == ALL_OR_NOT || (d->filters == ALL_LISTED) == all))
			return d;
	return NULL;
}

/* ---- NIC: what stamps it can make, and for whom ------------------------------------------------------------------ */

#define TSINFO "ethtool TSINFO"
#define SETTING "SIOCGHWTSTAMP"

static bool stamps_in_hardware(const struct check *c)
{
	const uint32_t needed = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE;

	return c->nic.can.phc_index >= 0 && (c->nic.can.stamping & needed) == needed &&
	       (c->nic.can.tx_types & (1U << HWTSTAMP_TX_ON));
}

static bool refuses_all(const struct check *c)
{
	const struct driver *d = find_driver(c);

	return d && (d->flags & REFUSES) && !(c->nic.can.rx_filters & (1U << HWTSTAMP_FILTER_ALL));
}

static void look_at_kernel_stamps(struct check *c)
{
	if (c->options->stamp == SOURCE_KERNEL && !(c->nic.can.stamping & SOF_TIMESTAMPING_TX_SOFTWARE))
		check_say(c, FAIL, TSINFO,
			  "the driver makes no transmit stamps in the kernel, T1 and T3 would be missing",
			  "rant --stamp user", "no software-transmit");
	else
		check_say(c, OK, TSINFO "; command line", NULL, NULL, "no hardware stamps are asked for");
}

static void look_at_abilities(struct check *c)
{
	char filters[NIC_NAMES_BYTES];

	if (c->abilities_error)
		return check_cannot_tell(c, TSINFO, -c->abilities_error);
	if (!options_by_nic(c->options))
		return look_at_kernel_stamps(c);
	if (c->nic.can.phc_index < 0)
		return check_say(c, FAIL, TSINFO, "--stamp hardware cannot work", "rant --stamp kernel",
				 "no hardware clock");
	if (!stamps_in_hardware(c))
		return check_say(c, FAIL, TSINFO, "--stamp hardware cannot work", "rant --stamp kernel",
				 "a hardware clock, but of the abilities only %s",
				 nic_stamping_names(c->nic.can.stamping, filters));
	if (c->nic.can.rx_filters & (1U << HWTSTAMP_FILTER_ALL))
		return check_say(c, OK, TSINFO, NULL, NULL, "hardware transmit, and receive with filter 'all'");
	nic_filter_names(c->nic.can.rx_filters, filters);
	if (refuses_all(c))
		check_say(c, FAIL, TSINFO "; " DRIVER_SOURCE, "rant's packets would get no receive stamp",
			  "rant --stamp kernel", "'%s' stamps only PTP packets on receipt, filters: %.100s",
			  c->nic.driver, filters);
	else
		/* igc and ice take it all the same. */
		check_say(c, WARN, TSINFO, "many such NICs stamp only PTP packets on receipt, not rant's",
			  "rant --stamp kernel, if rant says so", "filter 'all' is not listed, only: %.100s", filters);
}

/* The NIC does not stamp everything as it is set; whether rant may change that. */
static void judge_setting(struct check *c, const int setting[3])
{
	const char *tx = nic_tx_type_name(setting[1]), *filter = nic_filter_name(setting[2]);
	unsigned long long capabilities;
	struct check_file f;

	if (setting[1] > HWTSTAMP_TX_ON)
		check_say(c, FAIL, SETTING, "another program owns the NIC, rant will not start",
			  "stop that program, see 'users'", "transmit '%s'", tx);
	else if (!check_capabilities(&f, &capabilities))
		check_cannot_tell(c, f.path, f.error);
	else if (!(capabilities & 1ULL << 12)) /* CAP_NET_ADMIN */
		check_say(c, FAIL, SETTING "; CapEff in /proc/self/status", "to change it needs CAP_NET_ADMIN",
			  check_command(c, "sudo hwstamp_ctl -i %s -t 1 -r 1", c->nic.name),
			  "transmit '%s', filter '%s'", tx, filter);
	else if (setting[1] || setting[2])
		check_say(c, NOTE, SETTING, "somebody has set it; rant widens it for the run and puts it back", NULL,
			  "transmit '%s', filter '%s'", tx, filter);
	else
		check_say(c, OK, SETTING, NULL, NULL,
			  "transmit '%s', filter '%s': rant sets it for the run and puts it back", tx, filter);
}

static void look_at_setting(struct check *c)
{
	int setting[3], error;

	if (!options_by_nic(c->options))
		return check_say(c, OK, "command line", NULL, NULL, "not needed");
	if (!stamps_in_hardware(c))
		return check_say(c, OK, TSINFO, NULL, NULL, "none to be made");
	error = nic_read_setting(&c->nic, setting);
	if (error)
		check_cannot_tell(c, SETTING, -error);
	else if (nic_stamps_all(setting) || refuses_all(c))
		check_say(c, OK, SETTING, NULL, NULL, "transmit '%s', filter '%s'", nic_tx_type_name(setting[1]),
			  nic_filter_name(setting[2]));
	else
		judge_setting(c, setting);
}

/* It sends packets that ask for stamps; others (phc2sys) only read and steer the clock. */
static bool asks_for_stamps(const struct check_user *u)
{
	return !strcmp(u->comm, "ptp4l") || !strcmp(u->comm, "chronyd") || !strcmp(u->comm, "timemaster");
}

static void look_at_users(struct check *c)
{
	const char *where = "comm, cmdline and fd in /proc";

	if (c->processes_hidden)
		return check_cannot_tell(c, "/proc/1/comm", ENOENT);
	for (int i = 0; i < c->users; i++) {
		const struct check_user *u = &c->user[i];

		if (u->hidden && !u->named)
			check_say(c, NOTE, "/proc/PID/fd", "it may use this NIC", "sudo rant --check",
				  "%s (%d) runs, cannot tell on which NIC", u->comm, u->pid);
		else if (asks_for_stamps(u))
			check_say(c, WARN, where, "its packets want stamps too, and it sets the NIC as it needs it",
				  "stop it, or measure on another port", "%s (%d) %s", u->comm,
				  u->pid, u->named ? "names this interface" : "holds its clock open");
		else
			check_say(c, NOTE, where, "it reads or steers the clock of the NIC, steps show in a run", NULL,
				  "%s (%d) %s", u->comm, u->pid,
				  u->has_phc ? "holds its clock open" : "names this interface");
	}
	if (!c->users)
		check_say(c, OK, c->brief ? "comm and cmdline in /proc" : where, NULL, NULL,
			  "no other program uses stamps or clock of this NIC");
}

/* ---- NIC: how its driver delivers stamps ------------------------------------------------------------------------ */

bool check_needs_own_cpu(const struct check *c)
{
	const struct driver *d = find_driver(c);

	return options_by_nic(c->options) && d && d->delivery == BY_OWN_KWORKER;
}

/* A driver that fetches the stamp in a kernel thread of a CPU where nobody lets that thread run. */
static bool starves_kworker(const struct check *c, const struct driver *d)
{
	cpu_set_t irqs = check_irq_cpus(c);

	if (!check_real_time(c))
		return false;
	return d->delivery == BY_OWN_KWORKER || (d->delivery == BY_KWORKER && check_cpus_overlap(&c->cpus, &irqs));
}

static void look_at_delivery(struct check *c, const struct driver *d)
{
	static const char *const ways[] = {
		[BY_INTERRUPT] = "the interrupt", [BY_THREAD] = "a thread of the driver",
		[BY_COMPLETION] = "the completion of the packet",
		[BY_KWORKER] = "a kworker on the CPU of its interrupt",
		[BY_OWN_KWORKER] = "a kworker on the CPU that sends",
	};
	char policy[32];

	if (starves_kworker(c, d))
		check_say(c, WARN, DRIVER_SOURCE "; sched_getscheduler",
			  "a busy real-time loop starves that thread: 0.9 s for a stamp was seen",
			  d->delivery == BY_KWORKER ? "taskset to another CPU, or no chrt" : "run without chrt",
			  "'%s' delivers transmit stamps by %s, and this process has %s", d->name, ways[d->delivery],
			  check_policy_text(c->policy, c->priority, policy));
	else
		check_say(c, OK, DRIVER_SOURCE, NULL, NULL, "'%s' delivers transmit stamps by %s", d->name,
			  ways[d->delivery]);
}

static void look_at_driver(struct check *c)
{
	const struct driver *d = find_driver(c);
	bool others = false;

	if (!options_by_nic(c->options) || !stamps_in_hardware(c))
		return check_say(c, OK, "ETHTOOL_GDRVINFO", NULL, NULL, "'%s', no hardware stamps in use",
				 c->nic.driver);
	if (!d)
		return check_say(c, NOTE, "ETHTOOL_GDRVINFO", "how it delivers stamps is not known here", NULL,
				 "'%s', of which nothing is on record", c->nic.driver);
	look_at_delivery(c, d);
	if (d->note)
		check_say(c, NOTE, DRIVER_SOURCE, NULL, NULL, "%s", d->note);
	for (int i = 0; i < c->users; i++)
		others |= asks_for_stamps(&c->user[i]);
	if (d->in_flight == 1)
		check_say(c, others ? WARN : NOTE, DRIVER_SOURCE,
			  "a packet of another program that wants one (ptp4l) leaves rant's without", "see 'users'",
			  "one transmit stamp at a time");
}

/* ---- NIC: link and settings -------------------------------------------------------------------------------------- */

static void look_at_link(struct check *c)
{
	if (!(c->nic.flags & IFF_UP))
		check_say(c, FAIL, "SIOCGIFFLAGS", "nothing can be sent",
			  check_command(c, "ip link set %s up", c->nic.name), "down");
	else if (!nic_has_carrier(&c->nic))
		check_say(c, FAIL, "ETHTOOL_GLINK", "nothing will answer",
			  check_command(c, "check the cable and the other end, 'ip link show dev %s'", c->nic.name),
			  "no carrier");
	else
		check_say(c, OK, "SIOCGIFFLAGS, ETHTOOL_GLINK", NULL, NULL, "up, with a carrier");
}

static void look_at_speed(struct check *c)
{
	static const char *const duplex[] = { [NIC_DUPLEX_UNKNOWN] = "unknown", [NIC_DUPLEX_HALF] = "half",
					      [NIC_DUPLEX_FULL] = "full" };
	const char *where = "ETHTOOL_GLINKSETTINGS";
	struct nic_link link;
	int error = nic_read_link(&c->nic, &link);

	if (error)
		return check_cannot_tell(c, where, -error);
	if (link.duplex == NIC_DUPLEX_HALF)
		return check_say(c, WARN, where, "packets wait for each other, and collide",
				 check_command(c, "ethtool -s %s duplex full, at both ends", c->nic.name),
				 "duplex half");
	if (link.speed_mbps < 0)
		return check_say(c, NOTE, where, "the time on the wire cannot be told", NULL,
				 "speed unknown, duplex %s", duplex[link.duplex]);
	/* 44 octets of STAMP, 28 of UDP and IP, 18 of Ethernet, 20 of preamble and gap. */
	check_say(c, link.speed_mbps < 1000 ? NOTE : OK, where,
		  link.speed_mbps < 1000 ? "a slow link is a good part of what is measured" : NULL, NULL,
		  "%d Mb/s, duplex %s, one probe takes %lld ns", link.speed_mbps, duplex[link.duplex],
		  110 * 8 * 1000LL / link.speed_mbps);
}

/* False: cannot be read, which has been said. */
static bool ask(struct check *c, void *setting, const char *name)
{
	int error = nic_ethtool(&c->nic, setting);

	if (error)
		check_cannot_tell(c, name, -error);
	return !error;
}

static void look_at_coalescing(struct check *c)
{
	struct ethtool_coalesce s = { .cmd = ETHTOOL_GCOALESCE };
	const struct driver *d = find_driver(c);
	const char *where = "ETHTOOL_GCOALESCE";

	if (!ask(c, &s, where))
		return;
	bool modes = d && (d->flags & MODES) && s.rx_coalesce_usecs >= 1 && s.rx_coalesce_usecs <= 3;
	bool adaptive = s.use_adaptive_rx_coalesce || modes;
	const char *cure = check_command(c, "ethtool -C %s %srx-usecs 0", c->nic.name,
					 s.use_adaptive_rx_coalesce ? "adaptive-rx off " : "");

	if (adaptive)
		check_say(c, WARN, where, "how long it holds a packet back changes with the traffic", cure,
			  modes ? "rx-usecs %u, which makes this driver choose the time" :
				  "adaptive-rx on, rx-usecs %u now",
			  s.rx_coalesce_usecs);
	else if (s.rx_coalesce_usecs)
		check_say(c, WARN, where, "a thin peak there is this timer, not the network", cure,
			  "rx-usecs %u: each interrupt may come up to %u us late", s.rx_coalesce_usecs,
			  s.rx_coalesce_usecs);
	else
		check_say(c, OK, where, NULL, NULL, "receive off");
	if (s.use_adaptive_tx_coalesce || s.tx_coalesce_usecs > s.rx_coalesce_usecs)
		check_say(c, NOTE, where, "transmit stamps may be delivered that late, not wrong",
			  check_command(c, "ethtool -C %s %stx-usecs 0", c->nic.name,
					s.use_adaptive_tx_coalesce ? "adaptive-tx off " : ""),
			  "%stx-usecs %u", s.use_adaptive_tx_coalesce ? "adaptive-tx on, " : "", s.tx_coalesce_usecs);
}

static void look_at_rings(struct check *c)
{
	struct ethtool_ringparam s = { .cmd = ETHTOOL_GRINGPARAM };
	const char *where = "ETHTOOL_GRINGPARAM";

	if (!ask(c, &s, where))
		return;
	if (!s.rx_pending && !s.tx_pending)
		check_say(c, NOTE, where, NULL, NULL, "the driver tells no sizes");
	else if (s.rx_pending > 512)
		check_say(c, NOTE, where,
			  "each packet lies in other memory, which the cache has lost when it comes round",
			  check_command(c, "ethtool -G %s rx 512", c->nic.name), "rx %u, tx %u", s.rx_pending,
			  s.tx_pending);
	else
		check_say(c, OK, where, NULL, NULL, "rx %u, tx %u", s.rx_pending, s.tx_pending);
}

/* -1: cannot be read. */
static int feature(const struct check *c, uint32_t get, uint32_t mask)
{
	struct ethtool_value v = { .cmd = get };

	return nic_ethtool(&c->nic, &v) ? -1 : !!(v.data & mask);
}

static void look_at_offloads(struct check *c)
{
	const char *where = "ETHTOOL_GGRO, GTSO, GFLAGS";
	int gro = feature(c, ETHTOOL_GGRO, ~0U), tso = feature(c, ETHTOOL_GTSO, ~0U);
	int lro = feature(c, ETHTOOL_GFLAGS, ETH_FLAG_LRO);

	if (gro < 0 || tso < 0 || lro < 0)
		return check_cannot_tell(c, where, EOPNOTSUPP);
	const char *cure = check_command(c, "ethtool -K %s%s%s%s", c->nic.name, gro ? " gro off" : "",
					 lro ? " lro off" : "", tso ? " tso off" : "");

	if (lro)
		check_say(c, WARN, where, "the NIC may hold a packet back to join it with the next", cure, "lro on");
	else if (gro || tso)
		check_say(c, NOTE, where,
			  "work for each packet, and rant's gain nothing", cure,
			  "%s%s%s on", gro ? "gro" : "", gro && tso ? " and " : "", tso ? "tso" : "");
	else
		check_say(c, OK, where, NULL, NULL, "gro, lro and tso off");
}

static void look_at_pause(struct check *c)
{
	struct ethtool_pauseparam s = { .cmd = ETHTOOL_GPAUSEPARAM };
	const char *where = "ETHTOOL_GPAUSEPARAM";

	if (!ask(c, &s, where))
		return;
	if (s.rx_pause || s.tx_pause)
		check_say(c, WARN, where, "a full receiver at one end stops the sender at the other",
			  check_command(c, "ethtool -A %s autoneg off rx off tx off", c->nic.name), "rx %s, tx %s",
			  s.rx_pause ? "on" : "off", s.tx_pause ? "on" : "off");
	else
		check_say(c, OK, where, NULL, NULL, "off");
}

static void look_at_queues(struct check *c)
{
	struct ethtool_channels s = { .cmd = ETHTOOL_GCHANNELS };
	const char *where = "ETHTOOL_GCHANNELS";

	if (!ask(c, &s, where))
		return;
	if (!s.combined_count && !s.rx_count)
		check_say(c, NOTE, where, NULL, NULL, "the driver tells no number");
	else if (s.combined_count + s.rx_count > 1)
		check_say(c, NOTE, where, "which queue, interrupt and CPU take the packets is left to a hash",
			  check_command(c, "ethtool -L %s %s 1", c->nic.name, s.combined_count ? "combined" : "rx"),
			  "%u for receiving", s.combined_count + s.rx_count);
	else
		check_say(c, OK, where, NULL, NULL, "%u for receiving", s.combined_count + s.rx_count);
}

/* ---- NIC: busy polling ------------------------------------------------------------------------------------------- */

static void look_at_preference(struct check *c)
{
	struct check_file defer, flush;
	long long n = 0, ns = 0;

	if (!c->options->prefer_busy_poll)
		return;
	if (!*c->class_folder)
		return check_say(c, NOTE, "/sys/class/net", NULL, NULL,
				 "cannot tell about napi_defer_hard_irqs, another network namespace is shown");
	if (!CHECK_READ(c, &defer, "%s/napi_defer_hard_irqs", c->class_folder) || !check_number(c, &defer, &n) ||
	    !CHECK_READ(c, &flush, "%s/gro_flush_timeout", c->class_folder) || !check_number(c, &flush, &ns))
		return;
	if (n && ns)
		check_say(c, OK, c->class_folder, NULL, NULL, "napi_defer_hard_irqs %lld, gro_flush_timeout %lld", n,
			  ns);
	else
		check_say(c, WARN, c->class_folder, "-P changes nothing unless both are above 0",
			  check_command(c, "cd %s; echo 2 >napi_defer_hard_irqs; echo 200000 >gro_flush_timeout",
					c->class_folder),
			  "napi_defer_hard_irqs %lld, gro_flush_timeout %lld", n, ns);
}

static void look_at_busy_poll(struct check *c)
{
	const struct options *o = c->options;
	const char *where = "getsockopt SO_BUSY_POLL";
	int time_us;
	socklen_t bytes = sizeof(time_us);
	int error = getsockopt(c->nic.control_fd, SOL_SOCKET, SO_BUSY_POLL, &time_us, &bytes) ? errno : 0;

	if (error && error != ENOPROTOOPT)
		return check_cannot_tell(c, where, error);
	if (error && o->busy_poll_us)
		return check_say(c, WARN, where,
				 check_kernel_is_rt() ? "-p, -B, -P do nothing; PREEMPT_RT with netconsole has none" :
							"-p, -B, -P do nothing",
				 "a kernel with CONFIG_NET_RX_BUSY_POLL", "the kernel cannot");
	if (!o->busy_poll_us)
		return check_say(c, OK, where, NULL, NULL, "not asked for%s", error ? ", and the kernel cannot" : "");
	check_say(c, OK, where, NULL, NULL, "the kernel can; %lld us %s", (long long)o->busy_poll_us,
		  o->busy_poll_implied ? "because of --budget or --prefer-busypoll" : "asked for");
	look_at_preference(c);
}

/* ---- Clock ------------------------------------------------------------------------------------------------------- */

#define PHC_READS 101
#define PHC_READS_BRIEF 11
#define CLOCK_READS 1000
#define PHC_PAUSE_NS (10 * NS_PER_MS)

struct phc_readings {
	int reads;
	int64_t took_ns[PHC_READS], phc_ns[PHC_READS];
	int64_t phc_elapsed_ns, elapsed_ns; /* from the first reading to the last, by both clocks */
};

/* Each reading between two of the system's clock. 0 or errno. */
static int read_phc(int fd, int reads, struct phc_readings *r)
{
	clockid_t clock = clock_of_fd(fd);
	int64_t first_ns = 0, before_ns = 0;
	struct timespec t;

	r->reads = reads;
	for (int i = 0; i < reads; i++) {
		/* The last one some time later, so that going wrong shows. */
		if (i == reads - 1)
			while (clock_read_ns(CLOCK_MONOTONIC_RAW) - before_ns < PHC_PAUSE_NS)
				;
		before_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
		if (clock_gettime(clock, &t))
			return errno;
		r->took_ns[i] = clock_read_ns(CLOCK_MONOTONIC_RAW) - before_ns;
		r->phc_ns[i] = t.tv_sec * NS_PER_S + t.tv_nsec;
		if (!i)
			first_ns = before_ns;
	}
	r->elapsed_ns = before_ns - first_ns;
	r->phc_elapsed_ns = r->phc_ns[reads - 1] - r->phc_ns[0];
	return 0;
}

static void judge_phc(struct check *c, const char *path, struct phc_readings *r)
{
	int64_t step_ns = 0, off_ns = r->phc_elapsed_ns - r->elapsed_ns;
	char where[64];

	for (int i = 1; i < r->reads; i++)
		step_ns = common_divisor(step_ns, r->phc_ns[i] - r->phc_ns[i - 1]);
	qsort(r->took_ns, (size_t)r->reads, sizeof(r->took_ns[0]), compare_ns);
	snprintf(where, sizeof(where), "%s, " NOW, path);
	int64_t slack_ns = r->elapsed_ns / 100 + r->took_ns[r->reads - 1];

	if (!step_ns)
		check_say(c, FAIL, where, "without a running clock no stamp means anything", "ethtool -T, dmesg",
			  "stands still");
	else if (off_ns > slack_ns || off_ns < -slack_ns)
		check_say(c, FAIL, where, "it was set, or it is broken; then round trips are wrong too",
			  "see 'users'; dmesg", "went on %lld ns while the system went on %lld ns",
			  (long long)r->phc_elapsed_ns, (long long)r->elapsed_ns);
	else
		check_say(c, OK, where, NULL, NULL,
			  "runs; a reading takes %lld ns (median of %d), its times are multiples of %lld ns",
			  (long long)r->took_ns[r->reads / 2], r->reads, (long long)step_ns);
}

static void look_at_phc(struct check *c)
{
	char path[32], full[PATH_MAX];
	struct phc_readings r;
	int fd, error;

	if (c->abilities_error)
		return check_cannot_tell(c, TSINFO, -c->abilities_error);
	if (c->nic.can.phc_index < 0)
		return check_say(c, options_by_nic(c->options) ? NOTE : OK, TSINFO, NULL, NULL, "the NIC has none");
	snprintf(path, sizeof(path), "/dev/ptp%d", c->nic.can.phc_index);
	check_full_path(full, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	error = fd < 0 ? errno : read_phc(fd, c->brief ? PHC_READS_BRIEF : PHC_READS, &r);
	if (fd >= 0)
		close(fd);
	if (error)
		return check_say(c, WARN, path, "times of user space cannot be put on the scale of the NIC",
				 error == EACCES ? check_command(c, "run as root, or setfacl -m u:NAME:r %s", path) :
						   "the device node has to be there, see ls /dev/ptp*",
				 "cannot be read: %s", strerror(error));
	judge_phc(c, path, &r);
}

/* Those that clock_gettime() reads without a system call (clocksources with a vdso mode). */
static void look_at_clocksource(struct check *c)
{
	static const char *const fast[] = { "tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page",
					    "xen" };
	struct check_file f;

	if (!CHECK_READ(c, &f, "/sys/devices/system/clocksource/clocksource0/current_clocksource"))
		return;
	for (size_t i = 0; i < CHECK_COUNT(fast); i++)
		if (!strcmp(f.text, fast[i]))
			return check_say(c, OK, f.path, NULL, NULL, "%s", f.text);
	check_say(c, WARN, f.path, "each reading of the clock is a system call that asks a device",
		  "see dmesg why not tsc; boot with tsc=reliable if it is", "%.40s", f.text);
}

static void look_at_clock_cost(struct check *c)
{
	int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC), cost_ns;

	for (int i = 0; i < CLOCK_READS; i++)
		clock_read_ns(CLOCK_MONOTONIC);
	cost_ns = (clock_read_ns(CLOCK_MONOTONIC) - before_ns) / CLOCK_READS;
	if (cost_ns > 200)
		check_say(c, WARN, NOW, "it is read several times for each packet", "see 'clock source'",
			  "%lld ns a call, mean of %d", (long long)cost_ns, CLOCK_READS);
	else
		check_say(c, OK, NOW, NULL, NULL, "%lld ns a call, mean of %d", (long long)cost_ns, CLOCK_READS);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

const struct check_row check_nic_rows[] = {
	{ "NIC", "stamps", look_at_abilities, false },
	{ NULL, "stamp setting", look_at_setting, false },
	{ NULL, "users", look_at_users, false },
	{ NULL, "driver", look_at_driver, false },
	{ NULL, "link", look_at_link, false },
	{ NULL, "speed", look_at_speed, false },
	{ NULL, "coalescing", look_at_coalescing, false },
	{ NULL, "rings", look_at_rings, false },
	{ NULL, "offloads", look_at_offloads, false },
	{ NULL, "pause frames", look_at_pause, false },
	{ NULL, "queues", look_at_queues, false },
	{ NULL, "busy polling", look_at_busy_poll, false },
	{ "Clock", "NIC clock", look_at_phc, false },
	{ NULL, "clock source", look_at_clocksource, false },
	{ NULL, "clock_gettime", look_at_clock_cost, false },
	{ NULL, NULL, NULL, false },
};
