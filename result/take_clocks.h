/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As result/take.h: the clocks. */
#ifndef RESULT_TAKE_CLOCKS_H
#define RESULT_TAKE_CLOCKS_H

#include "rant.h"

struct clock_peer;
struct clock_watch;
struct result_clocks;
struct result_peer;

/* began_ns: start of the run, CLOCK_MONOTONIC. */
void take_clocks(struct result_clocks *to, const struct clock_watch *from, int64_t began_ns);

/* After clock_peer_finish(). clocks: of this host; NULL: not watched. by_nic: the clock of its NIC was compared. */
void take_peer(struct result_peer *to, const struct clock_peer *from, const struct clock_watch *clocks, bool by_nic);

/* True if a clock of this host was set or stood still so far. During the run too, by any thread. */
bool take_clocks_moved(const struct clock_watch *clocks);

#endif
