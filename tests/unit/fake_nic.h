/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated NIC behind ioctl and its ethtool commands: interface "fake0", index 7. Off by default: then the real
 * calls are made. Ethtool netlink is not simulated, so that all queries use ioctl. A call that a test does not expect,
 * such as a change of the setting without fake_nic.set, fails the test. Include it after util.h;
 * wraps=ioctl,genl_ctrl_resolve.
 */
#ifndef FAKE_NIC_H
#define FAKE_NIC_H

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <netlink/genl/ctrl.h>
#include <netlink/netlink.h>
#include <sys/ioctl.h>

#define FAKE_NIC_HARDWARE (SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE)

static struct {
	bool on;
	const char *driver, *bus;
	uint8_t mac[6];
	unsigned short hardware; /* ARPHRD_* */
	struct nic_abilities can;
	int setting[3]; /* as struct hwtstamp_config */
	bool no_link, not_running, down;
	/* errno values of ETHTOOL_GET_TS_INFO, SIOCGHWTSTAMP, ETHTOOL_GLINK, SIOCGIFHWADDR. */
	int info_error, get_error, link_error, mac_error, mtu_error;
	int gets; /* number of SIOCGHWTSTAMP calls */
	int (*set)(struct hwtstamp_config *c);
	int (*ethtool)(void *data); /* all other commands */
} fake_nic;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_genl_ctrl_resolve(struct nl_sock *s, const char *name);
int __wrap_genl_ctrl_resolve(struct nl_sock *s, const char *name);

static int fail_with(int error)
{
	errno = error;
	return error ? -1 : 0;
}

static int fake_nic_ethtool(void *data)
{
	struct ethtool_drvinfo *driver = data;
	struct ethtool_ts_info *info = data;

	switch (*(uint32_t *)data) {
	case ETHTOOL_GDRVINFO:
		strcpy(driver->driver, fake_nic.driver);
		/* As in the kernel, the field may lack a terminating 0. */
		memcpy(driver->bus_info, fake_nic.bus, strnlen(fake_nic.bus, sizeof(driver->bus_info)));
		return 0;
	case ETHTOOL_GLINK:
		((struct ethtool_value *)data)->data = !fake_nic.no_link;
		return fail_with(fake_nic.link_error);
	case ETHTOOL_GET_TS_INFO:
		info->so_timestamping = fake_nic.can.stamping;
		info->tx_types = fake_nic.can.tx_types;
		info->rx_filters = fake_nic.can.rx_filters;
		info->phc_index = fake_nic.can.phc_index;
		return fail_with(fake_nic.info_error);
	}
	return fake_nic.ethtool(data);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ifreq *r;
	va_list ap;

	va_start(ap, request);
	r = va_arg(ap, struct ifreq *);
	va_end(ap);
	if (!fake_nic.on)
		return __real_ioctl(fd, request, r);
	assert_string_equal(r->ifr_name, "fake0");
	switch (request) {
	case SIOCGIFINDEX:
		r->ifr_ifindex = 7;
		return 0;
	case SIOCGIFNAME:
		return 0;
	case SIOCGIFFLAGS:
		r->ifr_flags = (short)((fake_nic.down ? 0 : IFF_UP) | (fake_nic.not_running ? 0 : IFF_RUNNING));
		return 0;
	case SIOCGIFMTU:
		r->ifr_mtu = 1500;
		return fail_with(fake_nic.mtu_error);
	case SIOCGIFHWADDR:
		r->ifr_hwaddr.sa_family = fake_nic.hardware;
		memcpy(r->ifr_hwaddr.sa_data, fake_nic.mac, sizeof(fake_nic.mac));
		return fail_with(fake_nic.mac_error);
	case SIOCETHTOOL:
		return fake_nic_ethtool(r->ifr_data);
	case SIOCGHWTSTAMP:
		fake_nic.gets++;
		if (!fake_nic.get_error)
			memcpy(r->ifr_data, fake_nic.setting, sizeof(fake_nic.setting));
		return fail_with(fake_nic.get_error);
	case SIOCSHWTSTAMP:
		if (fake_nic.set)
			return fake_nic.set((void *)r->ifr_data);
	}
	fail_msg("ioctl %#lx", request);
	return -1;
}

int __wrap_genl_ctrl_resolve(struct nl_sock *s, const char *name)
{
	return fake_nic.on ? -NLE_OBJ_NOTFOUND : __real_genl_ctrl_resolve(s, name);
}

#endif
