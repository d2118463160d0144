/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket on Ethernet itself, packet(7). */
#ifndef WIRE_ETHERNET_H
#define WIRE_ETHERNET_H

#include "wire/socket.h"

/*
 * Binds the channel's socket to PTP messages on the interface. From then on it has those of our domain: a reflector all
 * that are not for another station, an emitter those of the server for this one, while what others send for it goes to
 * c->stray_fd, which is opened. 0; or -errno after one line, and what is open is the caller's to close.
 */
int ethernet_bind(struct channel *c, const struct options *o, const struct nic *n);

#endif
