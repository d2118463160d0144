/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket on Ethernet itself, packet(7). */
#ifndef WIRE_ETHERNET_H
#define WIRE_ETHERNET_H

#include "wire/socket.h"

/*
 * Binds the channel's socket to PTP messages on the interface. It then receives messages of this program's
 * PTP domain: a reflector all except those addressed to other stations, an emitter those from the server to
 * this station. Messages from other senders to an emitter go to c->stray_fd, which is opened here. 0, or
 * -errno after one line; the caller closes the open sockets.
 */
int ethernet_bind(struct channel *c, const struct options *o, const struct nic *n);

#endif
