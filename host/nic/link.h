/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link state of the interface before and after a run; detection of a removed interface. */
#ifndef HOST_NIC_LINK_H
#define HOST_NIC_LINK_H

#include "host/nic/nic.h"
#include "rant.h"

struct link_state {
	int error; /* 0; -ENODEV: this namespace has no such interface any more; another -errno: state not known */
	bool up; /* IFF_UP is set, and the link has a carrier */
	bool downs_known;
	uint32_t downs; /* carrier losses counted by the kernel; modulo 2^32 */
	int stamper; /* interface index, by nic_stamper() */
};

struct link_watch {
	const struct nic *nic;
	struct link_state before, after;
	void (*on_gone)(void);
	/* the link went down or up since the previous link_look(); NULL: changes are ignored */
	void (*on_change)(void *context, bool up);
	/* another NIC stamps now: index is its interface, by nic_stamper(); or NULL */
	void (*on_move)(void *context, int index);
	void *context;
	enum { LINK_NOT_SEEN, LINK_SEEN_DOWN, LINK_SEEN_UP } seen;
	int stamper; /* interface index at the previous link_look() */
	unsigned moves; /* number of changes of `stamper` */
};

/* Reads the present state by RTM_GETLINK: works in any network namespace. Allocates. */
void link_read(const struct nic *n, struct link_state *s);

/* Name of the interface whose NIC stamps, by the last link_look(); NULL: not known. text: IF_NAMESIZE. */
static inline const char *link_stamper_name(const struct link_watch *w, char *text)
{
	return w->stamper ? if_indextoname((unsigned)w->stamper, text) : NULL;
}

/* Speed in Mbit/s of the link on which packets of this interface leave: of the interface itself, of the real device of
 * a VLAN, or of the active member of a bond. 0: not known, as of a device that is not Ethernet, and of a software
 * device, which makes up a speed (veth: 10000). Opens a socket, allocates. */
int link_wire_mbps(const struct nic *n);

/* For the housekeeping thread: calls on_gone() of the struct link_watch when the interface was deleted or moved to
 * another namespace, on_change() when its link went down or up since the last call, and on_move() when a bond sends
 * through another member. A change that was reverted between two calls shows only in the counters of link_read(), or
 * not at all. Two ioctls without a lock; allocates where another interface's NIC stamps (VLAN, bond). */
void link_look(void *worker);

#endif
