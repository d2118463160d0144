/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the NIC stamp, and putting it back. A setting is the three ints of struct hwtstamp_config: flags,
 * HWTSTAMP_TX_*, HWTSTAMP_FILTER_*. Source: Documentation/networking/timestamping.rst. */
#ifndef HOST_NIC_STAMP_H
#define HOST_NIC_STAMP_H

#include "host/nic.h"
#include "rant.h"

/* By SIOCGHWTSTAMP; needs no privilege. 0 or -errno, silent. */
int nic_read_setting(const struct nic *n, int setting[3]);

/* The setting that --stamp hardware needs. */
bool nic_stamps_all(const int setting[3]);

/* By n->can: a hardware clock, and stamps of it in both directions. (That filter "all" is listed is not asked: some drivers
 * take it all the same.) */
bool nic_can_stamp(const struct nic *n);

/* Makes the NIC stamp every packet in both directions: reads its setting, changes only what is missing, reads it back.
 * Reads n->can too. 0, or -errno after the line that says what it can do instead. */
int nic_stamp(struct nic *n);

/* Puts back the setting that nic_stamp() found, if it is still as nic_stamp() left it and no other rant uses it. The
 * last rant puts back what the first one found. Safe in a signal handler. */
void nic_restore(struct nic *n);

#endif
