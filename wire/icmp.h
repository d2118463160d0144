/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emitter socket for ICMP echoes, which any host answers. Facts: icmp(7), raw(7); net/ipv4/ping.c for ping
 * sockets. */
#ifndef WIRE_ICMP_H
#define WIRE_ICMP_H

#include "wire/socket.h"

struct nic;
struct options;

/* Opens l->fd as a ping socket or, if the kernel does not allow that, as a raw socket; l->transport is then
 * the raw row. A raw socket accepts only echo replies with the identifier of this run. 0, or -errno after
 * one line. */
int icmp_open(struct channel *c, struct peer_socket *l, const struct options *o);

/*
 * Binds the channel's socket to the interface and source address and connects it, so that the kernel
 * reports errors on the path. Replies from other hosts: a ping socket receives those with its identifier
 * and c->strays counts them; for a raw socket they go to c->stray_fd, which is opened here. 0, or -errno
 * after one line; the caller closes the open sockets.
 */
int icmp_bind(struct channel *c, const struct options *o, const struct nic *n);

#endif
