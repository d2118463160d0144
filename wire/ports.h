/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several source ports of an emitter: one connected socket for each, so that a fabric that hashes ports, or
 * NIC receive queues, see several flows. These ports have no second socket for datagrams of other senders:
 * the kernel answers those as for a closed port, and they are not counted.
 */
#ifndef WIRE_PORTS_H
#define WIRE_PORTS_H

#include "wire/socket.h"

struct nic;
struct options;

/* Opens o->source_ports sockets, the first with the socket of c->peer_socket[0], and c->ready_fd, which reports
 * readable sockets. 0, or -errno after one line: the caller calls socket_close(). */
int ports_open(struct channel *c, const struct options *o, const struct nic *n);

/* Closes all source ports except the socket of c->peer_socket[0]. No effect without source ports. */
void ports_close(struct channel *c);

#endif
