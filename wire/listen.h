/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the sockets of a reflector: the listening sockets and the per-peer sockets (see wire/peer_socket.h). */
#ifndef WIRE_LISTEN_H
#define WIRE_LISTEN_H

#include "wire/socket.h"

struct nic;
struct options;

/* Binds the listening sockets to the interface and port and opens as many per-peer sockets as possible; too
 * few are reported with --verbose only. 0, or -errno after one line. */
int listen_bind(struct channel *c, const struct options *o, const struct nic *n);

#endif
