// SPDX-License-Identifier: GPL-2.0-or-later
/* Names for the numbers of linux/net_tstamp.h, as 'ethtool -T' prints them. */
#include "host/nic/nic_names.h"

#include <linux/net_tstamp.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const stamping_names[] = { /* by the log2 of SOF_TIMESTAMPING_* */
	[0] = "hardware-transmit", [1] = "software-transmit", [2] = "hardware-receive", [6] = "hardware-raw-clock",
};

static const char *const tx_names[] = {
	[HWTSTAMP_TX_OFF] = "off",
	[HWTSTAMP_TX_ON] = "on",
	[HWTSTAMP_TX_ONESTEP_SYNC] = "onestep-sync",
	[HWTSTAMP_TX_ONESTEP_P2P] = "onestep-p2p",
};

static const char *const filter_names[] = {
	[HWTSTAMP_FILTER_NONE] = "none",
	[HWTSTAMP_FILTER_ALL] = "all",
	[HWTSTAMP_FILTER_SOME] = "some",
	[HWTSTAMP_FILTER_PTP_V1_L4_EVENT] = "ptpv1-l4-event",
	[HWTSTAMP_FILTER_PTP_V1_L4_SYNC] = "ptpv1-l4-sync",
	[HWTSTAMP_FILTER_PTP_V1_L4_DELAY_REQ] = "ptpv1-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L4_EVENT] = "ptpv2-l4-event",
	[HWTSTAMP_FILTER_PTP_V2_L4_SYNC] = "ptpv2-l4-sync",
	[HWTSTAMP_FILTER_PTP_V2_L4_DELAY_REQ] = "ptpv2-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L2_EVENT] = "ptpv2-l2-event",
	[HWTSTAMP_FILTER_PTP_V2_L2_SYNC] = "ptpv2-l2-sync",
	[HWTSTAMP_FILTER_PTP_V2_L2_DELAY_REQ] = "ptpv2-l2-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_EVENT] = "ptpv2-event",
	[HWTSTAMP_FILTER_PTP_V2_SYNC] = "ptpv2-sync",
	[HWTSTAMP_FILTER_PTP_V2_DELAY_REQ] = "ptpv2-delay-req",
	[HWTSTAMP_FILTER_NTP_ALL] = "ntp-all",
};

static const char *name_of(const char *const *names, size_t count, int value)
{
	return value >= 0 && (size_t)value < count && names[value] ? names[value] : "unknown";
}

static const char *names_of(const char *const *names, size_t count, uint32_t bits, char text[NIC_NAMES_BYTES])
{
	size_t used = 0;

	strcpy(text, "nothing");
	for (size_t i = 0; i < count; i++)
		if ((bits & (1U << i)) && names[i] && used < NIC_NAMES_BYTES)
			used += (size_t)snprintf(text + used, NIC_NAMES_BYTES - used, "%s%s", used ? " " : "",
						 names[i]);
	return text;
}

const char *nic_tx_type_name(int tx_type)
{
	return name_of(tx_names, COUNT(tx_names), tx_type);
}

const char *nic_tx_type_names(uint32_t tx_types, char text[NIC_NAMES_BYTES])
{
	return names_of(tx_names, COUNT(tx_names), tx_types, text);
}

const char *nic_filter_name(int rx_filter)
{
	return name_of(filter_names, COUNT(filter_names), rx_filter);
}

int nic_filter_of(const char *name)
{
	for (size_t i = 0; i < COUNT(filter_names); i++)
		if (!strcmp(filter_names[i], name))
			return (int)i;
	return -1;
}

const char *nic_filter_names(uint32_t rx_filters, char text[NIC_NAMES_BYTES])
{
	return names_of(filter_names, COUNT(filter_names), rx_filters, text);
}

const char *nic_stamping_names(uint32_t stamping, char text[NIC_NAMES_BYTES])
{
	return names_of(stamping_names, COUNT(stamping_names), stamping, text);
}

const char *nic_provider_text(const struct nic_provider *p, char text[NIC_PROVIDER_BYTES])
{
	static const char *const sources[] = { "MAC or PHY", "MAC", "PHY" };
	char phy[16] = "";

	if (!p->known)
		return "not known";
	if (p->has_phy_index)
		snprintf(phy, sizeof(phy), " %u", p->phy_index);
	snprintf(text, NIC_PROVIDER_BYTES, "%s%s, /dev/ptp%u, %s", sources[p->source], phy, p->phc_index,
		 p->qualifier == 0 ? "precise" : p->qualifier == 1 ? "approx" : "unknown precision");
	return text;
}
