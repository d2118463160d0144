/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timestamp provider of the NIC. Since Linux 6.14 an interface may have several devices that stamp its packets, the
 * MAC and PHYs, each with its own clock; one of them is selected. Source: the specification of the family "ethtool",
 * Documentation/netlink/specs/ethtool.yaml, tsinfo and tsconfig.
 */
#ifndef HOST_NIC_NIC_PROVIDER_H
#define HOST_NIC_NIC_PROVIDER_H

#include "host/nic/nic.h"
#include "rant.h"

/* Opens the sockets of the functions below, for the NIC that stamps (n->stamper), and fills n->provider. Where the
 * kernel has no ethtool netlink, n->provider is not known. Allocates (libnl). */
void nic_provider_open(struct nic *n);

/* Does nothing if nothing is open. Safe in a signal handler. */
void nic_provider_close(struct nic *n);

/* The selected provider. False: not known, for an older kernel, no hardware clock, or no reply. Opens a socket where
 * nic_provider_open() was not called. */
bool nic_provider_read(const struct nic *n, struct nic_provider *p);

#define NIC_PROVIDERS 8

/* All providers of the interface, at most NIC_PROVIDERS. Returns their number; 0: not known. */
int nic_provider_list(const struct nic *n, struct nic_provider list[NIC_PROVIDERS]);

/* True if both are known and the same. */
bool nic_provider_same(const struct nic_provider *a, const struct nic_provider *b);

/* True unless another provider than n->provider is selected now: then the setting of the NIC is that of another
 * device. Safe in a signal handler. */
bool nic_provider_is_ours(const struct nic *n);

/* Selects the provider of this source, if it is not selected; `shared`: another rant uses the NIC, so the selection may
 * not change. Saves the selected one and its setting in n->provider_switch. 0, or -errno after one line. */
int nic_provider_select(struct nic *n, enum nic_source source, bool shared);

/* Selects the provider that nic_provider_select() found and restores its setting, if the provider that it selected is
 * still selected. Safe in a signal handler. */
void nic_provider_restore(struct nic *n);

/* ---- During a run ------------------------------------------------------------------------------------------------ */

struct nic_provider_watch {
	const struct nic *nic;
	struct nic_provider now; /* by the last call of nic_provider_look() that had a reply; not known: none had */
	unsigned changes; /* since nic_stamp(), between two calls */
};

/* For the housekeeping thread: counts changes of the provider. One request, under the lock of the kernel's network
 * settings. Does nothing where the provider was not known at the start. */
void nic_provider_look(void *watch);

#endif
