/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many source ports of an emitter: a socket for each, connected to the server, so that a fabric which chooses a path by
 * ports, or a NIC a queue, sees as many flows. None has a second socket for what others send to its port: the kernel
 * answers that as it does where nobody listens, and it is not counted.
 */
#ifndef WIRE_PORTS_H
#define WIRE_PORTS_H

#include "wire/socket.h"

struct nic;
struct options;

/* Opens o->source_ports of them, the first with the socket of c->lane[0], and c->ready_fd, which tells where something
 * waits. 0; or
 * -errno after one line: socket_close() closes what is open. */
int ports_open(struct channel *c, const struct options *o, const struct nic *n);

/* All but the socket of c->lane[0]. Nothing, if there are none. */
void ports_close(struct channel *c);

#endif
