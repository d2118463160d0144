/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface: what it can stamp, what it is set to, putting it back. */
#ifndef HOST_NIC_H
#define HOST_NIC_H

#include "rant.h"

/* Abilities as the kernel bitmaps of linux/net_tstamp.h: SOF_TIMESTAMPING_*, 1 << HWTSTAMP_TX_*, 1 << HWTSTAMP_FILTER_*. */
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
	struct nic_abilities can; /* by nic_read_abilities(), which nic_stamp() calls */
	/* What nic_stamp() changed, for nic_restore(); struct hwtstamp_config is three ints. */
	bool changed;
	int found[3], set[3];
	int share_fd; /* with `changed`: see nic.c, several programs on one NIC; -1: not shared */
	char share_path[80];
	int control_fd; /* for ioctls, kept open so that restoring needs no resources */
};

/* Looks the interface up in the network namespace of this process, by ioctl and netlink only (after nsenter --net,
 * sysfs shows another namespace). -ENODEV, -ENETDOWN: said on stderr. Without a carrier it warns and returns 0. */
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

/* Checks the address question: for an emitter, that `server` is reached through this interface and is not an address
 * of this host (loopback excepted); for a reflector (server NULL), that the interface has an IPv4 address. */
int nic_check_address(const struct nic *n, const union address *server);

/* One command of linux/ethtool.h, whose first word says which, by ioctl: works in any network namespace. 0 or -errno. */
int nic_ethtool(const struct nic *n, void *command);

/* Fills n->can. 0, or -errno after one line; an interface that stamps nothing is no error. */
int nic_read_abilities(struct nic *n);

/* Transmit stamps as the driver counts them, since it was loaded. has: bit 0 sent, bit 1 lost, bit 2 errors. */
struct nic_stamp_counts {
	uint64_t sent, lost, errors;
	unsigned has;
};

/* Asks by ethtool netlink (Linux 6.10; ice, mlx5, bnxt, idpf and a few more). 0, -EOPNOTSUPP where the kernel or the
 * driver does not count, or another -errno; silent. Allocates (libnl), so it is nothing for the measuring thread. */
int nic_read_stamp_counts(const struct nic *n, struct nic_stamp_counts *counts);

/* The stamping setting as flags, HWTSTAMP_TX_*, HWTSTAMP_FILTER_*, by SIOCGHWTSTAMP; needs no privilege. 0 or -errno. */
int nic_read_setting(const struct nic *n, int setting[3]);

/* The setting that --stamp hardware needs. */
bool nic_stamps_all(const int setting[3]);

#define NIC_NAMES_BYTES 320 /* all filters */

/* Names as 'ethtool -T' prints them; "unknown" for a number without one. The plural ones take the bits of struct
 * nic_abilities, write "name name" or "nothing" and return `text`. */
const char *nic_tx_type_name(int tx_type);
const char *nic_filter_name(int rx_filter);
const char *nic_filter_names(uint32_t rx_filters, char text[NIC_NAMES_BYTES]);
const char *nic_stamping_names(uint32_t stamping, char text[NIC_NAMES_BYTES]);

/* Makes the NIC stamp every packet in both directions: reads its setting, changes only what is missing, reads it back.
 * 0, or -errno after the line that says what it can do instead. Source: Documentation/networking/timestamping.rst. */
int nic_stamp(struct nic *n);

/* Puts back the setting that nic_stamp() found, if it is still as nic_stamp() left it and no other rant uses it. The last one
 * puts back what the first one found. Safe in a signal handler. */
void nic_restore(struct nic *n);

void nic_close(struct nic *n);

#endif
