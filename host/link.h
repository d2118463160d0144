/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link of the interface before and after a run, and an interface that is gone. */
#ifndef HOST_LINK_H
#define HOST_LINK_H

#include "host/nic.h"
#include "rant.h"

struct link_state {
	int error; /* 0, -ENODEV: there is no such interface in this namespace any more, or another -errno: not known */
	bool up; /* it is switched on, and has a carrier */
	bool downs_known;
	uint32_t downs; /* how often the kernel lost the carrier; modulo 2^32 */
};

struct link_watch {
	const struct nic *nic;
	struct link_state before, after;
	void (*on_gone)(void);
	void (*on_change)(void *context, bool up); /* of the link, as it was seen when it was first looked; NULL: nobody cares */
	void *context;
	enum { LINK_NOT_SEEN, LINK_SEEN_DOWN, LINK_SEEN_UP } seen;
};

/* The state now, by RTM_GETLINK: works in any network namespace. Allocates. */
void link_read(const struct nic *n, struct link_state *s);

/* For the housekeeping thread: calls on_gone() of the struct link_watch when the interface is deleted, or in another namespace, and on_change() when its link went
 * down or up since the last call. What was over in between shows in link_read() alone. Two ioctls without a lock. */
void link_look(void *watch);

#endif
