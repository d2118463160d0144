/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for the numbers of linux/net_tstamp.h, as 'ethtool -T' prints them. */
#ifndef HOST_NIC_NIC_NAMES_H
#define HOST_NIC_NIC_NAMES_H

#include "host/nic/nic.h"
#include "rant.h"

#define NIC_NAMES_BYTES 320 /* holds the names of all filters */

/* Name of one value; "unknown" for a value without a name. */
const char *nic_tx_type_name(int tx_type);
const char *nic_filter_name(int rx_filter);

/* Value of the receive filter of this name; -1: unknown. */
int nic_filter_of(const char *name);

/* Names of all bits that are set in a field of struct nic_abilities: "name name", or "nothing". Return `text`. */
const char *nic_tx_type_names(uint32_t tx_types, char text[NIC_NAMES_BYTES]);
const char *nic_filter_names(uint32_t rx_filters, char text[NIC_NAMES_BYTES]);
const char *nic_stamping_names(uint32_t stamping, char text[NIC_NAMES_BYTES]);

/* "MAC, /dev/ptp0, precise", "PHY 1, /dev/ptp3, approx"; with an older kernel, which does not report the source, "MAC or
 * PHY, ..."; "not known". */
const char *nic_provider_text(const struct nic_provider *p, char text[NIC_PROVIDER_BYTES]);

#endif
