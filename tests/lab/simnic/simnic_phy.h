/* SPDX-License-Identifier: GPL-2.0 */
/*
 * With the parameter phy=1 each simulated NIC also has a PHY that timestamps. The kernel gives it PTP messages only; it
 * timestamps those of version 2 by real time and by a PHC of its own, "phyN", which is PHY_AHEAD_NS ahead of that of the
 * MAC. One of them is selected (Linux 6.14): the MAC at first, with phy=2 the PHY. The MAC then has timestamps of two
 * qualities, precise and approximate, which are the same. simnic.c alone includes this.
 */
#ifndef SIMNIC_PHY_H
#define SIMNIC_PHY_H

#include "simnic.h"
#include "simnic_clock.h"

#include <linux/netdevice.h>
#include <linux/version.h>

static uint phy;
module_param(phy, uint, 0444);
MODULE_PARM_DESC(phy, "1: each NIC has a PHY that timestamps PTP messages; 2: and it does so by default");

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)

#include <linux/device/faux.h>
#include <linux/mii_timestamper.h>
#include <linux/phy.h>
#include <linux/ptp_classify.h>
#include <linux/rtnetlink.h>

#define PHY_ID 0x51a10000
#define PHY_AHEAD_NS (1000000 * NSEC_PER_SEC)

struct sim_phy {
	struct mii_timestamper stamper;
	struct clock clock;
	struct phy_device *dev;
	int tx_type, rx_filter;
};

static struct sim_phy phys[SIMS];
static struct faux_device *phy_parent; /* phy_attach_direct() reads the driver of the parent */
static struct mii_bus *phy_bus;
static struct ethtool_ops phy_mac_ops; /* of the MAC, with timestamps of another quality, too */

/* ---- Timestamps -------------------------------------------------------------------------------------------------- */

static struct sim_phy *phy_of(struct mii_timestamper *stamper)
{
	return container_of(stamper, struct sim_phy, stamper);
}

static struct skb_shared_hwtstamps phy_stamp(struct sim_phy *p)
{
	return (struct skb_shared_hwtstamps){ .hwtstamp = ns_to_ktime(clock_read_at(&p->clock, true_now())) };
}

/* The packet is a clone. */
static void sim_phy_txtstamp(struct mii_timestamper *stamper, struct sk_buff *skb, int type)
{
	struct skb_shared_hwtstamps stamp;

	if (READ_ONCE(phy_of(stamper)->tx_type) != HWTSTAMP_TX_ON || !(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP)) {
		kfree_skb(skb);
		return;
	}
	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	stamp = phy_stamp(phy_of(stamper));
	skb_complete_tx_timestamp(skb, &stamp);
}

/* In band: the packet goes on at once. */
static bool sim_phy_rxtstamp(struct mii_timestamper *stamper, struct sk_buff *skb, int type)
{
	if (READ_ONCE(phy_of(stamper)->rx_filter) != HWTSTAMP_FILTER_NONE && (type & PTP_CLASS_VMASK) == PTP_CLASS_V2)
		*skb_hwtstamps(skb) = phy_stamp(phy_of(stamper));
	return false;
}

static int sim_phy_hwtstamp_get(struct mii_timestamper *stamper, struct kernel_hwtstamp_config *c)
{
	c->tx_type = phy_of(stamper)->tx_type;
	c->rx_filter = phy_of(stamper)->rx_filter;
	return 0;
}

static int sim_phy_hwtstamp_set(struct mii_timestamper *stamper, struct kernel_hwtstamp_config *c,
				struct netlink_ext_ack *extack)
{
	if (c->tx_type != HWTSTAMP_TX_OFF && c->tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	switch (c->rx_filter) {
	case HWTSTAMP_FILTER_NONE:
		break;
	case HWTSTAMP_FILTER_PTP_V2_L4_EVENT ... HWTSTAMP_FILTER_PTP_V2_DELAY_REQ:
		c->rx_filter = HWTSTAMP_FILTER_PTP_V2_EVENT;
		break;
	default:
		return -ERANGE;
	}
	WRITE_ONCE(phy_of(stamper)->tx_type, c->tx_type);
	WRITE_ONCE(phy_of(stamper)->rx_filter, c->rx_filter);
	return 0;
}

static int sim_phy_ts_info(struct mii_timestamper *stamper, struct kernel_ethtool_ts_info *info)
{
	info->so_timestamping = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = ptp_clock_index(phy_of(stamper)->clock.ptp);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_PTP_V2_EVENT);
	return 0;
}

/* ---- The bus, with the PHY of each NIC at the address of its index ------------------------------------------------ */

static int phy_bus_read(struct mii_bus *bus, int address, int number)
{
	switch (number) {
	case MII_PHYSID1:
		return PHY_ID >> 16;
	case MII_PHYSID2:
		return PHY_ID & 0xffff;
	case MII_BMSR:
		return BMSR_LSTATUS | BMSR_ANEGCAPABLE | BMSR_100FULL;
	default:
		return 0;
	}
}

static int phy_bus_write(struct mii_bus *bus, int address, int number, u16 value)
{
	return 0;
}

static int sim_phy_probe(struct phy_device *dev)
{
	struct sim_phy *p = &phys[dev->mdio.addr];

	p->stamper = (struct mii_timestamper){
		.rxtstamp = sim_phy_rxtstamp,
		.txtstamp = sim_phy_txtstamp,
		.hwtstamp_get = sim_phy_hwtstamp_get,
		.hwtstamp_set = sim_phy_hwtstamp_set,
		.ts_info = sim_phy_ts_info,
	};
	dev->mii_ts = &p->stamper;
	dev->default_timestamp = phy == 2;
	return 0;
}

static struct phy_driver phy_driver = {
	.name = "simnic PHY",
	.phy_id = PHY_ID,
	.phy_id_mask = 0xffffffff,
	.probe = sim_phy_probe,
};

/* Without an owner of the bus and of the driver: the module would hold itself. */
static int phys_open(void)
{
	int error;

	if (!phy)
		return 0;
	phy_parent = faux_device_create("simnic", NULL, NULL);
	phy_bus = mdiobus_alloc();
	if (!phy_parent || !phy_bus)
		return -ENOMEM;
	phy_bus->name = "simnic";
	strscpy(phy_bus->id, "simnic", sizeof(phy_bus->id));
	phy_bus->parent = &phy_parent->dev;
	phy_bus->read = phy_bus_read;
	phy_bus->write = phy_bus_write;
	phy_bus->phy_mask = ~(BIT(devices) - 1);
	error = phy_drivers_register(&phy_driver, 1, NULL);
	return error ? error : __mdiobus_register(phy_bus, NULL);
}

/* Before the NIC is registered. */
static int phy_join(struct net_device *dev, int index)
{
	struct sim_phy *p = &phys[index];
	int error;

	if (!phy)
		return 0;
	error = clock_open(&p->clock, "phy", index);
	if (error)
		return error;
	clock_step(&p->clock, PHY_AHEAD_NS);
	phy_mac_ops = *dev->ethtool_ops;
	phy_mac_ops.supported_hwtstamp_qualifiers =
		BIT(HWTSTAMP_PROVIDER_QUALIFIER_PRECISE) | BIT(HWTSTAMP_PROVIDER_QUALIFIER_APPROX);
	dev->ethtool_ops = &phy_mac_ops;
	SET_NETDEV_DEV(dev, &phy_parent->dev);
	p->dev = mdiobus_get_phy(phy_bus, index);
	if (!p->dev)
		return -ENODEV;
	rtnl_lock();
	error = phy_attach_direct(dev, p->dev, 0, PHY_INTERFACE_MODE_INTERNAL);
	rtnl_unlock();
	return error;
}

/* After no NIC is registered any more. */
static void phys_close(void)
{
	for (int i = 0; i < SIMS; i++) {
		if (phys[i].dev && phys[i].dev->attached_dev) {
			rtnl_lock();
			phy_detach(phys[i].dev);
			rtnl_unlock();
		}
		if (!IS_ERR_OR_NULL(phys[i].clock.ptp))
			ptp_clock_unregister(phys[i].clock.ptp);
	}
	if (phy_bus && phy_bus->state == MDIOBUS_REGISTERED)
		mdiobus_unregister(phy_bus);
	if (phy_driver.mdiodrv.driver.p)
		phy_drivers_unregister(&phy_driver, 1);
	if (phy_bus)
		mdiobus_free(phy_bus);
	faux_device_destroy(phy_parent);
}

#else

static int phys_open(void)
{
	return phy ? -EOPNOTSUPP : 0;
}

static int phy_join(struct net_device *dev, int index)
{
	return 0;
}

static void phys_close(void)
{
}

#endif

#endif
