// SPDX-License-Identifier: GPL-2.0-or-later
/* Timestamp capabilities and counters of the NIC, by one request of ethtool netlink (TSINFO_GET). */
#include "host/nic/nic_abilities.h"

#include "host/nic/nic_inside.h"
#include "host/nic/nic_netlink.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <string.h>

/* ---- Capabilities ---------------------------------------------------------------------------------------------- */

/* Reads the first word of a compact bitset: rant uses no bit above 31. An absent bitset is empty. */
static bool read_bitset(struct nlattr *bitset, uint32_t *bits)
{
	struct nlattr *part[ETHTOOL_A_BITSET_MAX + 1], *value;

	*bits = 0;
	if (!bitset)
		return true;
	if (nla_parse_nested(part, ETHTOOL_A_BITSET_MAX, bitset, NULL) < 0)
		return false;
	value = part[ETHTOOL_A_BITSET_VALUE];
	if (!value || nla_len(value) < (int)sizeof(*bits) || nla_len(value) % (int)sizeof(*bits))
		return false;
	*bits = nla_get_u32(value);
	return true;
}

static bool parse_tsinfo(struct nlmsghdr *h, struct nic_abilities *can)
{
	struct nlattr *a[ETHTOOL_A_TSINFO_MAX + 1], *phc;

	if (!genlmsg_valid_hdr(h, 0) || genlmsg_hdr(h)->cmd != ETHTOOL_MSG_TSINFO_GET_REPLY ||
	    genlmsg_parse(h, 0, a, ETHTOOL_A_TSINFO_MAX, NULL) < 0)
		return false;
	phc = a[ETHTOOL_A_TSINFO_PHC_INDEX];
	if (phc && nla_len(phc) != sizeof(uint32_t))
		return false;
	can->phc_index = phc ? (int)nla_get_u32(phc) : -1;
	return read_bitset(a[ETHTOOL_A_TSINFO_TIMESTAMPING], &can->stamping) &&
	       read_bitset(a[ETHTOOL_A_TSINFO_TX_TYPES], &can->tx_types) &&
	       read_bitset(a[ETHTOOL_A_TSINFO_RX_FILTERS], &can->rx_filters);
}

struct tsinfo {
	struct nic_abilities can;
	bool good;
};

static int read_tsinfo(struct nl_msg *m, void *context)
{
	struct tsinfo *t = context;

	t->good = parse_tsinfo(nlmsg_hdr(m), &t->can);
	return NL_OK;
}

static bool put_tsinfo_request(struct nl_msg *m, int family, int index, uint32_t flags)
{
	struct nlattr *header;

	if (!genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, ETHTOOL_MSG_TSINFO_GET, ETHTOOL_GENL_VERSION))
		return false;
	header = nla_nest_start(m, ETHTOOL_A_TSINFO_HEADER);
	if (!header || nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)index) ||
	    nla_put_u32(m, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS | flags))
		return false;
	return nla_nest_end(m, header) >= 0;
}

static bool abilities_by_netlink(const struct nic *n, struct nic_abilities *can)
{
	struct tsinfo t = { .good = false };
	struct nl_sock *s = nic_netlink_open(NETLINK_GENERIC);
	struct nl_msg *m = nlmsg_alloc();
	int family = s ? genl_ctrl_resolve(s, ETHTOOL_GENL_NAME) : -1;

	if (family >= 0 && m && put_tsinfo_request(m, family, n->index, 0) && nic_netlink_ask(s, m, read_tsinfo, &t))
		t.good = false;
	if (t.good)
		*can = t.can;
	nlmsg_free(m);
	nl_socket_free(s);
	return t.good;
}

static int abilities_by_ioctl(const struct nic *n, struct nic_abilities *can)
{
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };
	int error = nic_ethtool(n, &info);

	*can = (struct nic_abilities){ .phc_index = -1 };
	if (error == -EOPNOTSUPP)
		return 0;
	if (error)
		return nic_say_io(n, "read the stamping abilities of", error);
	*can = (struct nic_abilities){ info.so_timestamping, info.tx_types, info.rx_filters, info.phc_index };
	return 0;
}

/* Filter "all" need not be listed: some drivers (igc, ice) accept it without listing it. */
int nic_read_abilities(struct nic *n)
{
	return abilities_by_netlink(n, &n->can) ? 0 : abilities_by_ioctl(n, &n->can);
}

/* ---- Counters of transmit timestamps ----------------------------------------------------------------------------- */

/* From linux/ethtool_netlink.h of Linux 6.10: older headers lack these numbers. */
enum { TSINFO_STATS = 6, TS_STAT_TX_PKTS = 1, TS_STAT_TX_LOST, TS_STAT_TX_ERR };
#define REQUEST_STATS (1 << 2) /* ETHTOOL_FLAG_STATS */

static int read_stamp_counts(struct nl_msg *m, void *context)
{
	struct nlattr *a[TSINFO_STATS + 1], *stat[TS_STAT_TX_ERR + 1];
	struct nic_stamp_counts *c = context;
	struct nlmsghdr *h = nlmsg_hdr(m);

	if (!genlmsg_valid_hdr(h, 0) || genlmsg_hdr(h)->cmd != ETHTOOL_MSG_TSINFO_GET_REPLY ||
	    genlmsg_parse(h, 0, a, TSINFO_STATS, NULL) < 0 || !a[TSINFO_STATS] ||
	    nla_parse_nested(stat, TS_STAT_TX_ERR, a[TSINFO_STATS], NULL) < 0)
		return NL_OK;
	c->has = (unsigned)nic_netlink_read_uint(stat[TS_STAT_TX_PKTS], &c->sent) |
		 (unsigned)nic_netlink_read_uint(stat[TS_STAT_TX_LOST], &c->lost) << 1 |
		 (unsigned)nic_netlink_read_uint(stat[TS_STAT_TX_ERR], &c->errors) << 2;
	return NL_OK;
}

int nic_read_stamp_counts(const struct nic *n, struct nic_stamp_counts *counts)
{
	struct nl_sock *s = nic_netlink_open(NETLINK_GENERIC);
	struct nl_msg *m = nlmsg_alloc();
	int family = s ? genl_ctrl_resolve(s, ETHTOOL_GENL_NAME) : -1, error = -EOPNOTSUPP;

	*counts = (struct nic_stamp_counts){ .has = 0 };
	if (family >= 0 && m && put_tsinfo_request(m, family, n->index, REQUEST_STATS))
		error = nic_netlink_ask(s, m, read_stamp_counts, counts);
	nlmsg_free(m);
	nl_socket_free(s);
	return error ? error : counts->has ? 0 : -EOPNOTSUPP;
}
