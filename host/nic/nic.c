// SPDX-License-Identifier: GPL-2.0-or-later
/* Interface lookup and read-only queries, by ioctl. */
#include "host/nic/nic.h"

#include "host/nic/nic_inside.h"
#include "host/nic/nic_provider.h"
#include "host/nic/nic_stamp.h"

#include <err.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int nic_ioctl(const struct nic *n, unsigned long request, struct ifreq *r)
{
	memcpy(r->ifr_name, n->name, sizeof(r->ifr_name));
	return ioctl(n->control_fd, request, r) < 0 ? -errno : 0;
}

int nic_ethtool(const struct nic *n, void *command)
{
	struct ifreq r = { .ifr_data = command };

	return nic_ioctl(n, SIOCETHTOOL, &r);
}

int nic_say_io(const struct nic *n, const char *what, int error)
{
	warnx("cannot %s interface '%s': %s: see 'ip -d link show dev %s' and the kernel log ('dmesg')", what, n->name,
	      strerror(-error), n->name);
	return error;
}

/* ---- Finding the interface ------------------------------------------------------------------------------------- */

static int find(struct nic *n, const char *name)
{
	struct ifreq r = { .ifr_ifindex = 0 };
	int error;

	if (strlen(name) >= sizeof(n->name)) {
		warnx("interface name '%s' is longer than %zu characters, the limit: list names with 'ip link'",
		      name, sizeof(n->name) - 1);
		return -ENODEV;
	}
	strcpy(n->name, name);
	/* The kernel cuts "eth0:1" at the colon in these ioctls, but not in SO_BINDTODEVICE. */
	error = strchr(name, ':') ? -ENODEV : nic_ioctl(n, SIOCGIFINDEX, &r);
	if (error == -ENODEV)
		warnx("interface '%s' not found in this network namespace: list them with 'ip link'; "
		      "enter another with 'nsenter --net=/var/run/netns/NAME'", name);
	else if (error)
		nic_say_io(n, "find", error);
	if (error)
		return error;
	n->index = r.ifr_ifindex;
	/* The given name may be an alternative name ('ip link property add'): SIOCGIFNAME returns the primary. */
	if (!nic_ioctl(n, SIOCGIFNAME, &r))
		memcpy(n->name, r.ifr_name, sizeof(n->name));
	return 0;
}

/* IFF_RUNNING follows the carrier by up to a second; ETHTOOL_GLINK reads the carrier itself. */
bool nic_has_carrier(const struct nic *n)
{
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };

	return nic_ethtool(n, &link) ? n->flags & IFF_RUNNING : link.data;
}

static int read_flags(struct nic *n)
{
	struct ifreq r = { .ifr_flags = 0 };
	int error = nic_ioctl(n, SIOCGIFFLAGS, &r);

	if (error)
		return nic_say_io(n, "read the flags of", error);
	n->flags = (unsigned short)r.ifr_flags;
	return 0;
}

static void read_mtu(struct nic *n)
{
	struct ifreq r = { .ifr_mtu = 0 };

	n->mtu = nic_ioctl(n, SIOCGIFMTU, &r) ? 0 : r.ifr_mtu;
}

static int check_up(const struct nic *n)
{
	if (!(n->flags & IFF_UP)) {
		warnx("interface '%s' is down: 'ip link set %s up'", n->name, n->name);
		return -ENETDOWN;
	}
	if (!nic_has_carrier(n))
		warnx("warning: interface '%s' has no carrier, so no reply will arrive: check the cable and the "
		      "other end, see 'ip link show dev %s'", n->name, n->name);
	return 0;
}

/* The loopback (ARPHRD_LOOPBACK) has an address of zeros, which is not an Ethernet address. */
static void read_link_address(struct nic *n)
{
	struct ifreq r = { .ifr_ifindex = 0 };

	n->is_ethernet = !nic_ioctl(n, SIOCGIFHWADDR, &r) && r.ifr_hwaddr.sa_family == ARPHRD_ETHER;
	memcpy(n->mac, r.ifr_hwaddr.sa_data, sizeof(n->mac));
}

static void read_driver(struct nic *n)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	bool reported = !nic_ethtool(n, &info) && info.driver[0];

	snprintf(n->driver, sizeof(n->driver), "%.*s", (int)sizeof(n->driver) - 1, reported ? info.driver : "unknown");
	snprintf(n->bus, sizeof(n->bus), "%.*s", (int)sizeof(n->bus) - 1, reported ? info.bus_info : "");
}

void nic_read_stamper_driver(const struct nic *n, char driver[NIC_DRIVER_BYTES])
{
	struct nic stamper = *n;

	if (*n->stamper_name) {
		memcpy(stamper.name, n->stamper_name, sizeof(stamper.name));
		read_driver(&stamper);
	}
	memcpy(driver, stamper.driver, NIC_DRIVER_BYTES);
}

int nic_find(struct nic *n, const char *name)
{
	int error;

	*n = (struct nic){ .can.phc_index = -1, .control_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) };
	if (n->control_fd < 0) {
		error = -errno;
		warnx("cannot open a socket to query interface '%s': %s: see 'ulimit -n'", name, strerror(-error));
		return error;
	}
	error = find(n, name);
	if (!error)
		error = read_flags(n);
	if (error) {
		nic_close(n);
		return error;
	}
	read_mtu(n);
	read_link_address(n);
	read_driver(n);
	return 0;
}

int nic_open(struct nic *n, const char *name)
{
	int error = nic_find(n, name);

	if (error)
		return error;
	error = check_up(n);
	if (error)
		nic_close(n);
	return error;
}

void nic_close(struct nic *n)
{
	if (n->control_fd < 0)
		return;
	nic_restore(n);
	nic_provider_close(n);
	close(n->control_fd);
	n->control_fd = -1;
}

/* ---- Read-only queries ----------------------------------------------------------------------------------------- */

int nic_read_mac(const struct nic *n, char text[NIC_MAC_BYTES])
{
	struct ifreq r = { .ifr_ifindex = 0 };
	int error = nic_ioctl(n, SIOCGIFHWADDR, &r);
	const uint8_t *m = (const uint8_t *)r.ifr_hwaddr.sa_data;

	if (!error)
		snprintf(text, NIC_MAC_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	return error;
}

int nic_read_link(const struct nic *n, struct nic_link *link)
{
	union {
		struct ethtool_link_settings s;
		uint8_t with_masks[sizeof(struct ethtool_link_settings) + 3 * SCHAR_MAX * sizeof(uint32_t)];
	} ask = { .s.cmd = ETHTOOL_GLINKSETTINGS };
	int error = nic_ethtool(n, &ask);

	/* The first reply holds the size of the masks as a negative number, the second reply the settings. */
	if (!error && ask.s.link_mode_masks_nwords < 0) {
		ask.s = (struct ethtool_link_settings){ .cmd = ETHTOOL_GLINKSETTINGS, .link_mode_masks_nwords =
							(int8_t)-ask.s.link_mode_masks_nwords };
		error = nic_ethtool(n, &ask);
	}
	if (error)
		return error;
	/* Drivers without a link report 0 or -1, which is not a speed. */
	link->speed_mbps = (struct optional){ .known = false };
	if (ask.s.speed && ask.s.speed <= INT_MAX)
		link->speed_mbps = optional_of((int64_t)ask.s.speed);
	link->duplex = ask.s.duplex == DUPLEX_HALF ? NIC_DUPLEX_HALF :
		       ask.s.duplex == DUPLEX_FULL ? NIC_DUPLEX_FULL : NIC_DUPLEX_UNKNOWN;
	return 0;
}

void nic_read_details(const struct nic *n, struct nic_details *d)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ethtool_coalesce c = { .cmd = ETHTOOL_GCOALESCE };

	*d = (struct nic_details){ 0 };
	if (!nic_ethtool(n, &info)) {
		snprintf(d->driver_version, sizeof(d->driver_version), "%.*s", (int)sizeof(info.version), info.version);
		snprintf(d->firmware, sizeof(d->firmware), "%.*s", (int)sizeof(info.fw_version), info.fw_version);
	}
	nic_read_link(n, &d->link);
	d->coalescing_known = !nic_ethtool(n, &c);
	d->adaptive_receive = c.use_adaptive_rx_coalesce;
	d->adaptive_transmit = c.use_adaptive_tx_coalesce;
	d->receive_us = c.rx_coalesce_usecs;
	d->transmit_us = c.tx_coalesce_usecs;
}
