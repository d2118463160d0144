/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the NIC stamp, and putting it back. A setting is the three ints of struct hwtstamp_config: flags,
 * HWTSTAMP_TX_*, HWTSTAMP_FILTER_*. Source: Documentation/networking/timestamping.rst. */
#ifndef HOST_NIC_NIC_STAMP_H
#define HOST_NIC_NIC_STAMP_H

#include "host/nic/nic.h"
#include "options.h"
#include "rant.h"

/* By SIOCGHWTSTAMP; needs no privilege. 0 or -errno, silent. */
int nic_read_setting(const struct nic *n, int setting[3]);

/* Does it make the NIC stamp the packets of these options, sent and received? */
bool nic_stamps(const int setting[3], const struct options *o);

/* Is a receive filter that does it among those that the driver lists? */
bool nic_lists_filter(const struct nic *n, const struct options *o);

/* "--transport ptp at both ends", if that is what those filters can do when they cannot do what `o` asks for; NULL:
 * nothing is. */
const char *nic_other_transport(const struct nic *n, const struct options *o);

/* By n->can: a hardware clock, and stamps of it in both directions. (That filter "all" is listed is not asked: some
 * drivers take it all the same.) */
bool nic_can_stamp(const struct nic *n);

/*
 * Makes the NIC stamp the packets of these options in both directions: reads its setting, changes only what is missing,
 * reads it back. The filter is the narrowest one listed that stamps them and all that was stamped before; of plain UDP
 * it is "all". Reads n->can too. 0, or -errno after the line that says what it can do instead.
 */
int nic_stamp(struct nic *n, const struct options *o);

/* Puts back the setting that nic_stamp() found, if it is still as nic_stamp() left it and no other rant uses it. The
 * last rant puts back what the first one found. Safe in a signal handler. */
void nic_restore(struct nic *n);

#endif
