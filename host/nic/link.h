/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link of the interface before and after a run, and an interface that is gone. */
#ifndef HOST_NIC_LINK_H
#define HOST_NIC_LINK_H

#include "host/nic/nic.h"
#include "rant.h"

struct link_state {
	int error; /* 0, -ENODEV: there is no such interface in this namespace any more, or another -errno: not known */
	bool up; /* it is switched on, and has a carrier */
	bool downs_known;
	uint32_t downs; /* how often the kernel lost the carrier; modulo 2^32 */
	int stamper; /* by nic_stamper() */
};

struct link_watch {
	const struct nic *nic;
	struct link_state before, after;
	void (*on_gone)(void);
	/* of the link, as it was seen when it was first looked; NULL: nobody cares */
	void (*on_change)(void *context, bool up);
	/* the NIC that stamps is that of this interface now, as nic_stamper() has it; or NULL */
	void (*on_move)(void *context, int index);
	void *context;
	enum { LINK_NOT_SEEN, LINK_SEEN_DOWN, LINK_SEEN_UP } seen;
	int stamper; /* as it was last seen */
	unsigned moves; /* how often it was another one than before */
};

/* The state now, by RTM_GETLINK: works in any network namespace. Allocates. */
void link_read(const struct nic *n, struct link_state *s);

/* The name of the interface whose NIC stamps, as it was last seen; NULL: not known. text: IF_NAMESIZE. */
static inline const char *link_stamper_name(const struct link_watch *w, char *text)
{
	return w->stamper ? if_indextoname((unsigned)w->stamper, text) : NULL;
}

/* For the housekeeping thread: calls on_gone() of the struct link_watch when the interface is deleted, or in another
 * namespace, on_change() when its link went down or up since the last call, and on_move() when a bond sends by another
 * member. What was over in between shows in link_read() alone, or nowhere. Two ioctls without a lock; where the NIC
 * is not that of the interface itself, it allocates. */
void link_look(void *watch);

#endif
