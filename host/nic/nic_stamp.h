/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Set-up of NIC timestamps, and its restoration. A setting is the three ints of struct hwtstamp_config: flags,
 * HWTSTAMP_TX_*, HWTSTAMP_FILTER_*. Source: Documentation/networking/timestamping.rst. */
#ifndef HOST_NIC_NIC_STAMP_H
#define HOST_NIC_NIC_STAMP_H

#include "host/nic/nic.h"
#include "options.h"
#include "rant.h"

/* Fills n->stamper and n->stamper_name: the interface whose NIC stamps, see nic_stamper(). */
void nic_find_stamper(struct nic *n);

/* By SIOCGHWTSTAMP; needs no privilege. 0 or -errno; prints nothing. */
int nic_read_setting(const struct nic *n, int setting[3]);

/* True if the setting makes the NIC stamp the packets of these options, sent and received. With --rx-filter any filter
 * does: a driver may grant a wider one. */
bool nic_stamps(const int setting[3], const struct options *o);

/* True if the driver lists a receive filter that stamps the packets of these options, or that of --rx-filter. */
bool nic_lists_filter(const struct nic *n, const struct options *o);

/* The cure where the listed filters do not stamp the packets of `o` but those of another transport, such as
 * "--transport ptp at both ends"; NULL: no transport helps. */
const char *nic_other_transport(const struct nic *n, const struct options *o);

/* True if n->can has a hardware clock and timestamps in both directions. Filter "all" need not be listed: some drivers
 * accept it without listing it. */
bool nic_can_stamp(const struct nic *n);

/* True if n->can has a hardware clock and timestamps of received packets: enough for --stamp receive, with transmit
 * timestamps of the kernel. */
bool nic_can_receive(const struct nic *n);

/* True if the NIC can make the timestamps of these options, nic_can_stamp() or nic_can_receive(). */
bool nic_can_serve(const struct nic *n, const struct options *o);

/*
 * Makes the NIC stamp the packets of these options in both directions: reads its setting, changes it only if needed,
 * and reads it back. The receive filter is the narrowest listed filter that stamps these packets and all that were
 * stamped before; for plain UDP it is "all". With --rx-filter it is that filter. Fills n->can. 0, or -errno after one
 * line that names an alternative.
 */
int nic_stamp(struct nic *n, const struct options *o);

/* Restores the setting that nic_stamp() found, if the NIC still has the provider of its timestamps and the setting that
 * nic_stamp() made, and no other rant uses it. The last of several rants restores the setting that the first rant found. Safe in a signal handler. */
void nic_restore(struct nic *n);

#endif
