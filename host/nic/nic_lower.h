/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an interface stands on, by RTM_GETLINK: the real one of a VLAN, and the member of a bond that sends. */
#ifndef HOST_NIC_NIC_LOWER_H
#define HOST_NIC_NIC_LOWER_H

#include "host/nic/nic.h"
#include "options.h"
#include "rant.h"

#define NIC_EGRESS_MAX 16

struct nic_lower {
	enum { NIC_ITSELF, NIC_VLAN, NIC_BOND } kind;
	int index; /* of what is below: of a bond the active member; 0: none, or in another namespace */
	struct nic_egress {
		uint32_t priority, code; /* SO_PRIORITY, and the priority code point in the tag: IEEE 802.1Q */
	} egress[NIC_EGRESS_MAX]; /* of a VLAN, as far as there is room; any other priority has code point 0 */
	unsigned egresses;
};

/* Of the interface of this index, in the namespace of the process. 0 or -errno. Allocates. */
int nic_read_lower(int index, struct nic_lower *l);

/* The index of the interface whose NIC stamps what goes through this one: its own, the one below a VLAN, the active
 * member of a bond; 0: cannot be told. Allocates. */
int nic_stamper(const struct nic *n);

/* With --vlan-priority the priority of the options becomes what SO_PRIORITY has to be for packets with this code point
 * in their tag. 0, or
 * -errno after one line: it is no VLAN, or its egress map has no such entry. */
int nic_choose_priority(const struct nic *n, struct options *o);

#endif
