/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket for ICMP echoes, of an emitter: any host answers. Facts: icmp(7), raw(7); net/ipv4/ping.c for ping
 * sockets. */
#ifndef WIRE_ICMP_H
#define WIRE_ICMP_H

#include "wire/socket.h"

struct nic;
struct options;

/* Opens l->fd: a ping socket or, where the kernel does not allow that, a raw one; l->transport then is the row of that.
 * A raw socket has only echo replies with the number of this run from here on. 0; or -errno after one line. */
int icmp_open(struct channel *c, struct lane *l, const struct options *o);

/*
 * Binds the channel's socket to the interface and the address to send from, and connects it, so that the kernel tells
 * of errors on the way. Replies of others than the server: a ping socket gets those that have its number, and c->strays
 * counts them; for a raw one c->stray_fd is opened, which has them. 0; or -errno after one line, and what is open is
 * the caller's to close.
 */
int icmp_bind(struct channel *c, const struct options *o, const struct nic *n);

#endif
