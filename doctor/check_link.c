// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the link and of the settings of the NIC, by ethtool, which works in every network namespace. */
#include "doctor/inside.h"
#include "host/nic/nic.h"
#include "options.h"
#include "wire/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <sys/socket.h>

#ifndef SO_BUSY_POLL
#define SO_BUSY_POLL 46 /* asm-generic/socket.h */
#endif

/* ---- Link -------------------------------------------------------------------------------------------------------- */

static void look_at_link(struct check *c)
{
	if (!(c->nic.flags & IFF_UP))
		check_say(c, FAIL, "SIOCGIFFLAGS", "rant cannot send packets",
			  check_command(c, "ip link set %s up", c->nic.name), "down");
	else if (!nic_has_carrier(&c->nic))
		check_say(c, FAIL, "ETHTOOL_GLINK", "no reply will arrive",
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
		return check_not_known(c, where, -error);
	if (link.duplex == NIC_DUPLEX_HALF)
		return check_say(c, WARN, where, "both directions share the link, packets wait and collide",
				 check_command(c, "ethtool -s %s duplex full, at both ends", c->nic.name),
				 "duplex half");
	if (!link.speed_mbps.known)
		return check_say(c, NOTE, where, "the serialisation time is unknown", NULL,
				 "speed unknown, duplex %s", duplex[link.duplex]);
	/* 28 octets of UDP and IPv4, 44 of the shortest STAMP packet. */
	check_say(c, link.speed_mbps.value < 1000 ? NOTE : OK, where,
		  link.speed_mbps.value < 1000 ? "the serialisation time is a large share of the latency" : NULL, NULL,
		  "%" PRId64 " Mb/s, duplex %s, a probe takes %" PRId64 " ns", link.speed_mbps.value, duplex[link.duplex],
		  transport_wire_ns(transport_frame_bytes(28, 44), (int)link.speed_mbps.value));
}

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

/* False after a finding: the setting cannot be read. */
static bool ask(struct check *c, void *setting, const char *name)
{
	int error = nic_ethtool(&c->nic, setting);

	if (error)
		check_not_known(c, name, -error);
	return !error;
}

static void look_at_coalescing(struct check *c)
{
	struct ethtool_coalesce s = { .cmd = ETHTOOL_GCOALESCE };
	const struct nic_driver *d = check_find_driver(c);
	const char *where = "ETHTOOL_GCOALESCE";

	if (!ask(c, &s, where))
		return;
	bool modes = d && (d->flags & NIC_MODES) && s.rx_coalesce_usecs >= 1 && s.rx_coalesce_usecs <= 3;
	bool adaptive = s.use_adaptive_rx_coalesce || modes;
	const char *cure = check_command(c, "ethtool -C %s %srx-usecs 0", c->nic.name,
					 s.use_adaptive_rx_coalesce ? "adaptive-rx off " : "");

	if (adaptive)
		check_say(c, WARN, where, "the delay of receive interrupts changes with the traffic", cure,
			  modes ? "rx-usecs %u, with which this driver adapts the delay" :
				  "adaptive-rx on, rx-usecs %u now",
			  s.rx_coalesce_usecs);
	else if (s.rx_coalesce_usecs)
		check_say(c, WARN, where, "a narrow peak at this latency comes from this timer, not from the network",
			  cure,
			  "rx-usecs %u: interrupts are up to %u us late", s.rx_coalesce_usecs,
			  s.rx_coalesce_usecs);
	else
		check_say(c, OK, where, NULL, NULL, "receive off");
	if (s.use_adaptive_tx_coalesce || s.tx_coalesce_usecs > s.rx_coalesce_usecs)
		check_say(c, NOTE, where, "transmit timestamps may be delivered this late, with correct times",
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
		check_say(c, NOTE, where, NULL, NULL, "the driver reports no sizes");
	else if (s.rx_pending > 512)
		check_say(c, NOTE, where,
			  "a large ring does not stay in the cache",
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
		return check_not_known(c, where, EOPNOTSUPP);
	const char *cure = check_command(c, "ethtool -K %s%s%s%s", c->nic.name, gro ? " gro off" : "",
					 lro ? " lro off" : "", tso ? " tso off" : "");

	if (lro)
		check_say(c, WARN, where, "the NIC may delay a packet to merge it with the next", cure, "lro on");
	else if (gro || tso)
		check_say(c, NOTE, where,
			  "extra work for each packet without a benefit for rant", cure,
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
		check_say(c, WARN, where, "a full receiver stops the sender at the other end",
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
		check_say(c, NOTE, where, NULL, NULL, "the driver reports no number");
	else if (s.combined_count + s.rx_count > 1)
		check_say(c, NOTE, where, "a hash chooses queue, interrupt and CPU of the packets",
			  check_command(c, "ethtool -L %s %s 1", c->nic.name, s.combined_count ? "combined" : "rx"),
			  "%u receive queues", s.combined_count + s.rx_count);
	else
		check_say(c, OK, where, NULL, NULL, "%u receive queue", s.combined_count + s.rx_count);
}

/* ---- Busy polling ------------------------------------------------------------------------------------------------ */

static void look_at_preference(struct check *c)
{
	struct check_file defer, flush;
	long long n = 0, ns = 0;

	if (!c->options->prefer_busy_poll || check_napis_decide(c))
		return; /* else see 'NAPI' */
	if (!*c->class_folder)
		return check_say(c, NOTE, "/sys/class/net", NULL, NULL,
				 "napi_defer_hard_irqs unknown, /sys shows another network namespace");
	if (!CHECK_READ(c, &defer, "%s/napi_defer_hard_irqs", c->class_folder) || !check_number(c, &defer, &n) ||
	    !CHECK_READ(c, &flush, "%s/gro_flush_timeout", c->class_folder) || !check_number(c, &flush, &ns))
		return;
	if (n && ns)
		check_say(c, OK, c->class_folder, NULL, NULL, "napi_defer_hard_irqs %lld, gro_flush_timeout %lld", n,
			  ns);
	else
		check_say(c, WARN, c->class_folder, "-P has no effect unless both are above 0",
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
		return check_not_known(c, where, error);
	if (error && o->busy_poll_us)
		return check_say(c, NOTE, where, check_kernel_is_rt() ? "PREEMPT_RT with netconsole disables it" : NULL,
				 "boot a kernel with CONFIG_NET_RX_BUSY_POLL",
					 "not supported by the kernel, see 'socket'");
	if (!o->busy_poll_us)
		return check_say(c, OK, where, NULL, NULL, "not requested%s", error ?
				 ", and not supported by the kernel" : "");
	check_say(c, OK, where, NULL, NULL, "supported by the kernel; %lld us %s", (long long)o->busy_poll_us,
		  o->busy_poll_implied ? "implied by --budget or --prefer-busypoll" : "requested");
	look_at_preference(c);
}

const struct check_row check_link_rows[] = { /* in the group "NIC" */
	{ NULL, "link", look_at_link, false },
	{ NULL, "speed", look_at_speed, false },
	{ NULL, "coalescing", look_at_coalescing, false },
	{ NULL, "rings", look_at_rings, false },
	{ NULL, "offloads", look_at_offloads, false },
	{ NULL, "pause frames", look_at_pause, false },
	{ NULL, "queues", look_at_queues, false },
	{ NULL, "busy polling", look_at_busy_poll, false },
	{ NULL, NULL, NULL, false },
};
