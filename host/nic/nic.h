/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interface lookup and read-only queries. */
#ifndef HOST_NIC_NIC_H
#define HOST_NIC_NIC_H

#include "rant.h"

/* Abilities as the kernel bitmaps of linux/net_tstamp.h: SOF_TIMESTAMPING_*, 1 << HWTSTAMP_TX_*, 1 <<
 * HWTSTAMP_FILTER_*. */
struct nic_abilities {
	uint32_t stamping, tx_types, rx_filters;
	int phc_index; /* -1: no hardware clock */
};

#define NIC_DRIVER_BYTES 32

/* A device that stamps packets of the interface, see nic_provider.h. All zeros: not known. */
struct nic_provider {
	bool known;
	uint32_t phc_index;
	uint32_t qualifier; /* enum hwtstamp_provider_qualifier of linux/net_tstamp.h: 0 precise, 1 approximate */
	enum nic_source { NIC_SOURCE_UNKNOWN, NIC_SOURCE_MAC, NIC_SOURCE_PHY } source; /* as enum hwtstamp_source */
	bool has_phy_index;
	uint32_t phy_index;
};

/* A change of the provider by nic_stamp(), to be reverted by nic_restore(). */
struct nic_switch {
	bool done;
	struct nic_provider found;
	bool has_setting;
	int setting[3]; /* of `found` before the change, which turns its timestamps off */
};

#define NIC_PROVIDER_BYTES 64 /* of the text of a provider, see nic_names.h */

struct nic {
	char name[IFNAMSIZ];
	char driver[NIC_DRIVER_BYTES];
	char bus[32]; /* bus address by ETHTOOL_GDRVINFO, for most devices a PCI address; empty: not reported */
	int index;
	unsigned flags; /* IFF_* */
	bool is_ethernet; /* by SIOCGIFHWADDR */
	uint8_t mac[6]; /* valid with is_ethernet */
	int mtu; /* octets, by SIOCGIFMTU; 0: not reported */
	/* first address of each IP family, by nic_find_own(); AF_UNSPEC: no address, or not read yet */
	union address first4, first6;
	struct nic_abilities can; /* filled by nic_read_abilities(), which nic_stamp() calls */
	/* Index and name of the interface whose NIC stamps, by nic_stamp(); this interface if not known. */
	int stamper;
	char stamper_name[IFNAMSIZ];
	bool changed; /* nic_stamp() changed the setting, nic_restore() has to restore it */
	int found[3], set[3]; /* settings before and after nic_stamp(), as in nic_stamp.h */
	int share_fd; /* valid with `changed`: see nic_inside.h; -1: not shared */
	char share_path[80];
	struct nic_provider provider; /* that stamps, by nic_stamp() */
	struct nic_switch provider_switch;
	/* Netlink sockets for the run and for nic_restore(), which may interrupt a request of the other; valid if
	 * ethtool_family is not 0. */
	int provider_fd[2];
	uint16_t ethtool_family;
	int control_fd; /* for ioctls; kept open so that nic_restore() needs no new descriptor */
};

/* Finds the interface in the network namespace of this process, by ioctl: after nsenter --net, sysfs still shows the
 * previous namespace. Returns 0, or -ENODEV, -ENETDOWN and the like after one line. Without a carrier it warns and
 * returns 0. */
int nic_open(struct nic *n, const char *name);

/* As nic_open(), but without a check of the link: an interface that is down is found too. */
int nic_find(struct nic *n, const char *name);

/* By ETHTOOL_GLINK, or by IFF_RUNNING where the driver does not report the link. */
bool nic_has_carrier(const struct nic *n);

/* Driver of the NIC that stamps, by ETHTOOL_GDRVINFO: for a VLAN or a bond not that of the interface, which it is where
 * the stamper is not known. */
void nic_read_stamper_driver(const struct nic *n, char driver[NIC_DRIVER_BYTES]);

#define NIC_MAC_BYTES 18

/* Writes "02:00:00:00:00:01", by SIOCGIFHWADDR. 0 or -errno. */
int nic_read_mac(const struct nic *n, char text[NIC_MAC_BYTES]);

struct nic_link {
	struct optional speed_mbps;
	enum { NIC_DUPLEX_UNKNOWN, NIC_DUPLEX_HALF, NIC_DUPLEX_FULL } duplex;
};

/* By ETHTOOL_GLINKSETTINGS. 0 or -errno; -EOPNOTSUPP where the driver does not report a speed. */
int nic_read_link(const struct nic *n, struct nic_link *link);

/* Driver, firmware, link speed and interrupt coalescing of the NIC, as context for a result. */
struct nic_details {
	char driver_version[40], firmware[40]; /* empty: not reported */
	struct nic_link link;
	bool coalescing_known;
	bool adaptive_receive, adaptive_transmit;
	uint32_t receive_us, transmit_us; /* longest delay of an interrupt by coalescing */
};

/* By ETHTOOL_GDRVINFO, GLINKSETTINGS and GCOALESCE. A value that cannot be read is marked as not known; prints
 * nothing. */
void nic_read_details(const struct nic *n, struct nic_details *d);

/* Runs one command of linux/ethtool.h by ioctl, in any network namespace. `command` points to the struct of the
 * command, which begins with its ETHTOOL_* number. 0 or -errno. */
int nic_ethtool(const struct nic *n, void *command);

/* Calls nic_restore() first, which needs control_fd. Does nothing if the interface is closed already. */
void nic_close(struct nic *n);

#endif
