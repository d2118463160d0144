/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lanes of a reflector (hot): sockets on the same port, each connected to the sender of a busy session, for which the
 * kernel then looks up no route and carries no address in each message. One lane that listens has everybody else of an
 * IP family, so there are two of these where there are both: the first ones. The others are made with them, of each
 * family as many, connected to nobody who sends; giving one to a sender is one connect(2). From then on the kernel puts
 * what comes from there into it (udp(7); the lookup prefers the socket that names the sender).
 */
#ifndef WIRE_LANE_H
#define WIRE_LANE_H

#include "wire/socket.h"

struct arrival;

#define LANE_IDLE_NS (10 * NS_PER_S) /* a lane that was used since then is not taken away */
#define LANE_REQUESTS 64 /* within that time: so busy is a session that gets a lane, a power of two */

/* It came by c->at, which listens: was it sent to the address that lanes are bound to, by somebody who can have one? */
bool lane_fits(const struct channel *c, const struct arrival *a);

/* At most so many datagrams wait there (one system call). */
unsigned lane_backlog(const struct lane *l);

/* Connects one to a sender; NULL: all are in use, or it cannot be (both counted). One system call at most. now_ns:
 * CLOCK_MONOTONIC. */
struct lane *lane_take(struct channel *c, const union address *peer, int64_t now_ns);

#endif
