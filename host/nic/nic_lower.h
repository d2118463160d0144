/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lower device of an interface, by RTM_GETLINK: the real device of a VLAN, the active member of a bond. */
#ifndef HOST_NIC_NIC_LOWER_H
#define HOST_NIC_NIC_LOWER_H

#include "host/nic/nic.h"
#include "options.h"
#include "rant.h"

#define NIC_EGRESS_MAX 16

struct nic_lower {
	enum { NIC_ITSELF, NIC_VLAN, NIC_BOND } kind;
	int index; /* of the lower device, for a bond the active member; 0: none, or in another namespace */
	struct nic_egress {
		uint32_t priority, code; /* SO_PRIORITY, and the priority code point in the tag: IEEE 802.1Q */
	} egress[NIC_EGRESS_MAX]; /* first entries of a VLAN's egress map; other priorities have code point 0 */
	unsigned egresses;
};

/* Reads the interface of this index in the network namespace of this process. 0 or -errno. Allocates. */
int nic_read_lower(int index, struct nic_lower *l);

/* Index of the interface whose NIC stamps the packets of this interface: the interface itself, the lower device of a
 * VLAN, or the active member of a bond; 0: not known. Allocates. */
int nic_stamper(const struct nic *n);

/* With --vlan-priority: sets o->priority to the SO_PRIORITY that the VLAN's egress map turns into this code point.
 * 0, or -errno after one line: the interface is not a VLAN, or its egress map has no such entry. */
int nic_choose_priority(const struct nic *n, struct options *o);

#endif
