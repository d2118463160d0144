// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts about drivers of NICs. Above each row its source: files below drivers/net/ethernet/ of Linux 7.3, if no other
 * folder is named. Names of drivers are those of ETHTOOL_GDRVINFO, which for a driver without get_drvinfo is the name
 * of the bus driver (net/ethtool/ioctl.c).
 */
#include "host/nic/nic_driver.h"

#include <linux/net_tstamp.h>
#include <string.h>

#define RX(which) .receives = NIC_STAMPS_##which
#define TX(which) .transmits = NIC_STAMPS_##which
#define SLOTS(n) .in_flight = n
#define BY(which) .delivery = NIC_BY_##which
#define INTEL_LOST "tx_hwtstamp_timeouts, tx_hwtstamp_skipped"
#define AT_COMPLETION "T1 and T3 are times of the completion by DMA, not of the wire"
#define ON_THE_PORT "timestamps are taken at the port of the switch: use the interface of the port, not the conduit"
#define HYPERV "the clock of the host is a PTP clock of this machine, 'hyperv' in /sys/class/ptp"
#define BY_PHY "a PHY that has a clock is the default source of timestamps before Linux 6.14, not the MAC"

static const struct nic_driver drivers[] = {
	/* intel/igb/igb_ptp.c, igb.h:79-86, igb_ethtool.c (the filters of I210 and I350, and of 82576) */
	{ "igb", .filters = NIC_ALL_LISTED, RX(ALL), TX(ALL), SLOTS(1), BY(KWORKER), .flags = NIC_MODES,
	  .lost = INTEL_LOST,
	  .constants = "I210 and I211 only: 178 ns (transmit) and 448 ns (receive) at 1 Gb/s, 9542 and 20662 ns at "
		       "10 Mb/s" },
	{ "igb", .filters = NIC_ALL_NOT_LISTED, RX(PTP), TX(ALL), SLOTS(1), BY(OWN_KWORKER),
	  .flags = NIC_MODES | NIC_REFUSES, .lost = INTEL_LOST },
	/* intel/igc/igc_ptp.c:818-833, igc.h:472-479 */
	{ "igc", RX(ALL), TX(ALL), SLOTS(4), BY(INTERRUPT), .flags = NIC_MODES | NIC_TAKES, .lost = INTEL_LOST,
	  .constants = "80 ns (transmit) and 300 ns (receive) at 1 Gb/s, 1325 and 1485 ns at 2.5 Gb/s",
	  .fault = "a hardware fault of the timestamp registers can lose or exchange a transmit timestamp" },
	/* intel/e1000e/netdev.c:4368 (e1000e_sanitize_systim), ethtool.c */
	{ "e1000e", RX(ALL), TX(ALL), SLOTS(1), BY(OWN_KWORKER), .flags = NIC_MODES, .lost = INTEL_LOST,
	  .clock = "a reading of the clock is slow: the driver reads it several times and compares (errata of 82574)" },
	/* intel/ixgbe/ixgbe_ptp.c, ixgbe_ethtool.c: X550 and later list filter "all", older NICs do not */
	{ "ixgbe", RX(BY_DEVICE), TX(ALL), SLOTS(1), BY(OWN_KWORKER), .flags = NIC_REFUSES, .lost = INTEL_LOST },
	/* intel/i40e/i40e_ptp.c:751, i40e_ethtool.c */
	{ "i40e", RX(PTP), TX(ALL), SLOTS(1), BY(INTERRUPT), .flags = NIC_REFUSES,
	  .lost = "port.tx_hwtstamp_timeouts, port.tx_hwtstamp_skipped",
	  .clock = "a change of the link speed changes the increment of the clock: timestamps before and after are not "
		   "comparable" },
	/* intel/ice/ice_ptp.c, ice_ethtool.c; faults: openshift-docs pull request 48000, ethernet-linux-ice issue 26 */
	{ "ice", RX(ALL), TX(ALL), SLOTS(64), BY(THREAD), .flags = NIC_TAKES, .lost = INTEL_LOST,
	  .clock = "all ports of the NIC share one clock, owned by a single port; setting it drops pending timestamps",
	  .fault = "E810 under load delivers transmit timestamps up to 50 ms late" },
	/* intel/iavf/iavf_ptp.c:42-57: transmit "on" gives EOPNOTSUPP */
	{ "iavf", RX(ALL), TX(NONE), .clock = "the clock belongs to the driver of the physical function" },
	/* intel/idpf/idpf_ethtool.c, idpf_ptp.c: by capabilities that the device reports */
	{ "idpf", RX(BY_DEVICE), TX(BY_DEVICE) },
	/* mellanox/mlx5/core/en/ptp.c:182-214, en_tx.c (mlx5e_use_ptpsq), lib/clock.c:132 */
	{ "mlx5_core", RX(ALL), TX(ALL), BY(COMPLETION),
	  .lost = "ptp_cq*_lost_cqe, ptp_cq*_late_cqe, ptp_cq*_err_cqe",
	  .meaning = "T1 and T3 are times of the DMA completion, before the wire, for all packets except PTP to "
		     "port 319",
	  .clock = "functions of one chip share one clock with Linux 7.3; REAL_TIME_CLOCK_ENABLE of the firmware "
		   "decides whether it is real time or free running" },
	/* mellanox/mlx4/en_clock.c, en_tx.c */
	{ "mlx4_en", RX(ALL), TX(ALL), BY(COMPLETION), .meaning = AT_COMPLETION },
	/* broadcom/bnxt/bnxt_ptp.h:89, bnxt_ptp.c, bnxt_ethtool.c (get_ts_stats); fault: facebookincubator/ptp pull
	 * request 56 */
	{ "bnxt_en", RX(BY_DEVICE), TX(ALL), SLOTS(4), BY(THREAD), .lost = "tx_lost of 'ethtool -I -T'",
	  .fault = "some firmware refuses filter 'all'; a worker asks the firmware for each transmit timestamp, for "
		   "1 s at most" },
	/* broadcom/tg3.c */
	{ "tg3", RX(PTP), TX(ALL), SLOTS(1), BY(THREAD), .flags = NIC_REFUSES,
	  .fault = "polls for a transmit timestamp every 100 ms, three times at most" },
	/* broadcom/bnx2x/bnx2x_ethtool.c */
	{ "bnx2x", RX(PTP), TX(ALL), SLOTS(1) },
	/* sfc/ptp.c */
	{ "sfc", RX(ALL), TX(ALL), BY(COMPLETION),
	  .clock = "the driver synchronises the clock of the NIC with the system clock by itself" },
	/* stmicro/stmmac/stmmac_hwtstamp.c:40-108 (hwtstamp_correct_latency), stmmac_main.c */
	{ "st_gmac", RX(ALL), TX(ALL), BY(COMPLETION),
	  .constants = "latencies of receive and transmit that the core reports, where it has such registers",
	  .meaning = "timestamps advance in steps of the clock's increment: see 'resolution' of 'NIC clock'" },
	/* cadence/macb_ptp.c; raspberrypi/linux issue 7515 */
	{ "macb", RX(ALL), TX(ALL), .meaning = BY_PHY,
	  .fault = "the PHY of Raspberry Pi CM5 times out on transmit timestamps since Linux 6.12" },
	/* broadcom/genet has no clock; drivers/net/phy/bcm-phy-ptp.c: the BCM54210PE of Raspberry Pi CM4 */
	{ "bcmgenet", RX(PTP), TX(PTP), .meaning = "timestamps, if there are any, are those of the PHY" },
	/* freescale/fec_main.c, fec_ptp.c */
	{ "fec", RX(ALL), TX(ALL) },
	/* freescale/enetc/enetc_ethtool.c, enetc.c */
	{ "fsl_enetc", RX(ALL), TX(ALL), BY(COMPLETION) },
	/* freescale/dpaa/dpaa_ethtool.c */
	{ "fsl_dpa", RX(ALL), TX(ALL) },
	/* freescale/dpaa2/dpaa2-ethtool.c */
	{ "fsl_dpaa2_eth", RX(ALL), TX(ALL), .clock = "all interfaces of the chip share one clock" },
	/* freescale/gianfar_ethtool.c */
	{ "gfar-enet", RX(ALL), TX(ALL) },
	/* ti/cpsw_priv.c:643: refuses a setting whose source is the PHY */
	{ "cpsw", RX(PTP), TX(ALL) },
	{ "cpsw-switch", RX(PTP), TX(ALL) },
	/* ti/am65-cpsw-ethtool.c */
	{ "am65-cpsw-nuss", RX(PTP), TX(ALL) },
	/* ti/icssg/icssg_ethtool.c */
	{ "icssg-prueth", RX(ALL), TX(ALL) },
	/* microchip/lan743x_ethtool.c */
	{ "lan743x", RX(ALL), TX(ALL) },
	/* microchip/lan966x/lan966x_main.c:479 */
	{ "lan966x-switch", RX(ALL), TX(ALL),
	  .meaning = "the source of a setting decides between the MAC and the PHY" },
	/* microchip/sparx5/sparx5_ethtool.c */
	{ "sparx5-switch", RX(ALL), TX(ALL) },
	/* net/dsa/user.c; drivers/net/dsa/: ocelot, felix, sja1105, mv88e6xxx, microchip (ksz), hirschmann */
	{ "dsa", RX(PTP), TX(PTP), .meaning = ON_THE_PORT },
	/* marvell/mvpp2/mvpp2_main.c */
	{ "mvpp2", RX(ALL), TX(ALL) },
	/* marvell/octeontx2/nic/otx2_ethtool.c, otx2_ptp.c */
	{ "rvu_nicpf", RX(ALL), TX(ALL) },
	{ "rvu_nicvf", RX(ALL), TX(ALL) },
	/* cavium/thunder/nicvf_ethtool.c */
	{ "nicvf", RX(ALL), TX(ALL) },
	/* amd/xgbe/xgbe-ethtool.c */
	{ "amd-xgbe", RX(ALL), TX(ALL) },
	/* engleder/tsnep_main.c, tsnep_ethtool.c: the receive timestamp is in front of the packet */
	{ "tsnep", RX(ALL), TX(ALL) },
	/* renesas/ravb_main.c, rswitch_main.c, rtsn.c */
	{ "ravb", RX(ALL), TX(ALL) },
	{ "renesas_eth_sw", RX(ALL), TX(ALL) },
	{ "rtsn", RX(ALL), TX(ALL) },
	/* meta/fbnic/fbnic_ethtool.c, fbnic_time.c */
	{ "fbnic", RX(ALL), TX(ALL) },
	/* pensando/ionic/ionic_ethtool.c, ionic_phc.c */
	{ "ionic", RX(ALL), TX(ALL) },
	/* aquantia/atlantic/aq_ptp.c, chelsio/cxgb4/cxgb4_ethtool.c, qlogic/qede/qede_ptp.c */
	{ "atlantic", RX(PTP), TX(PTP) },
	{ "cxgb4", RX(PTP), TX(PTP) },
	{ "qede", RX(PTP), TX(PTP) },
	/* Documentation/networking/device_drivers/ethernet/amazon/ena.rst (at most 125 readings a second, of which rant
	 * leaves some to other programs), amazon/ena/ena_com.c:1806; receive: amzn-drivers pull requests 371 and 374 */
	{ "ena", RX(BY_DEVICE), TX(NONE), .reads_per_s = 100,
	  .clock = "the device accepts 125 readings of its clock a second from all programs together, and refuses more",
	  .instead = "the clock is off by default ('devlink dev param set ... enable_phc'); the driver of Amazon "
		     "(amzn-drivers) timestamps received packets" },
	/* google/gve/gve_ptp.c:10-38, gve_ethtool.c:969 */
	{ "gve", RX(ALL), TX(NONE),
	  .clock = "the clock cannot be read; the driver compares it with the device every 250 ms",
	  .fault = "received packets have no hardware timestamp directly after timestamps are switched on" },
	/* fungible/funeth/funeth_ethtool.c */
	{ "funeth", RX(ALL), TX(NONE) },
	/* alibaba/eea/eea_rx.c:423, eea_tx.c:89: no get_ts_info (the name of the driver is that of its folder) */
	{ "eea", RX(BY_DEVICE), TX(BY_DEVICE),
	  .instead = "its packets may have hardware timestamps, of which ethtool and /dev report nothing" },
	/* microsoft/mana, drivers/net/hyperv/netvsc_drv.c: no clock. drivers/hv/hv_util.c: the PTP clock "hyperv" */
	{ "mana", RX(NONE), TX(NONE), .instead = HYPERV },
	{ "hv_netvsc", RX(NONE), TX(NONE), .instead = HYPERV },
	/* drivers/net/vmxnet3/vmxnet3_ethtool.c; drivers/ptp/ptp_vmw.c */
	{ "vmxnet3", RX(NONE), TX(NONE), .instead = "a clock of the host, where it is configured: module ptp_vmw" },
	/* drivers/net/virtio_net.c; drivers/ptp/ptp_kvm_common.c */
	{ "virtio_net", RX(NONE), TX(NONE), .instead = "the clock of the host, where it is KVM: module ptp_kvm" },
	/* drivers/net/veth.c, realtek/r8169_main.c */
	{ "veth", RX(NONE), TX(NONE) },
	{ "r8169", RX(NONE), TX(NONE) },
};

const struct nic_driver *nic_driver_row(size_t index)
{
	return index < sizeof(drivers) / sizeof(drivers[0]) ? &drivers[index] : NULL;
}

const struct nic_driver *nic_driver_find(const char *name, uint32_t rx_filters)
{
	const bool all = rx_filters & (1U << HWTSTAMP_FILTER_ALL);
	const struct nic_driver *d;

	for (size_t i = 0; (d = nic_driver_row(i)); i++)
		if (!strcmp(d->name, name) && (d->filters == NIC_ALL_OR_NOT || (d->filters == NIC_ALL_LISTED) == all))
			return d;
	return NULL;
}

const char *nic_driver_lost(const char *name)
{
	const struct nic_driver *d = nic_driver_find(name, 0);

	return d ? d->lost : NULL;
}
