/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface: finding it, and what can be read of it without changing anything. */
#ifndef HOST_NIC_NIC_H
#define HOST_NIC_NIC_H

#include "rant.h"

/* Abilities as the kernel bitmaps of linux/net_tstamp.h: SOF_TIMESTAMPING_*, 1 << HWTSTAMP_TX_*, 1 <<
 * HWTSTAMP_FILTER_*. */
struct nic_abilities {
	uint32_t stamping, tx_types, rx_filters;
	int phc_index; /* -1: no hardware clock */
};

struct nic {
	char name[IFNAMSIZ];
	char driver[32];
	char bus[32]; /* where the driver says the device is: a PCI address for most; empty: not told */
	int index;
	unsigned flags; /* IFF_* */
	bool is_ethernet; /* then it has an address, by SIOCGIFHWADDR: */
	uint8_t mac[6];
	int mtu; /* octets, by SIOCGIFMTU; 0: not told */
	/* its first one of each IP family, by nic_find_own(); AF_UNSPEC: there is none, or nobody asked */
	union address first4, first6;
	struct nic_abilities can; /* by nic_read_abilities(), which nic_stamp() calls */
	/* By nic_stamp(), whose NIC it is: see nic_stamper(). Its own if that cannot be told. */
	int stamper;
	char stamper_name[IFNAMSIZ];
	/* What nic_stamp() changed, for nic_restore(); settings as in nic_stamp.h. */
	bool changed;
	int found[3], set[3];
	int share_fd; /* with `changed`: see nic_share.h; -1: not shared */
	char share_path[80];
	int control_fd; /* for ioctls, kept open so that restoring needs no resources */
};

/* Looks the interface up in the network namespace of this process, by ioctl and not in sysfs, which shows another
 * namespace after nsenter --net. 0, or -ENODEV, -ENETDOWN and the like after one line. Without a carrier it warns
 * and returns 0. */
int nic_open(struct nic *n, const char *name);

/* The same without a word about the link: an interface that is down is found too. */
int nic_find(struct nic *n, const char *name);

/* By ETHTOOL_GLINK, or IFF_RUNNING where the driver does not tell. */
bool nic_has_carrier(const struct nic *n);

#define NIC_MAC_BYTES 18

/* "02:00:00:00:00:01", by SIOCGIFHWADDR. 0 or -errno. */
int nic_read_mac(const struct nic *n, char text[NIC_MAC_BYTES]);

struct nic_link {
	int speed_mbps; /* -1: unknown */
	enum { NIC_DUPLEX_UNKNOWN, NIC_DUPLEX_HALF, NIC_DUPLEX_FULL } duplex;
};

/* By ETHTOOL_GLINKSETTINGS. 0 or -errno; -EOPNOTSUPP where the driver has no notion of a speed. */
int nic_read_link(const struct nic *n, struct nic_link *link);

/* One command of linux/ethtool.h, whose first word says which, by ioctl: works in any network namespace. 0 or
 * -errno. */
int nic_ethtool(const struct nic *n, void *command);

/* Calls nic_restore() first, since afterwards it cannot be done. Does nothing if the interface is closed already. */
void nic_close(struct nic *n);

#endif
