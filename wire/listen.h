/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets of a reflector: where it listens, and the lanes beside that (see wire/lane.h). */
#ifndef WIRE_LISTEN_H
#define WIRE_LISTEN_H

#include "wire/socket.h"

struct nic;
struct options;

/* Binds the sockets that listen to the interface and the port, and opens the other lanes, as many as there can be; too
 * few are no error, and said with --verbose. 0; or -errno after one line. */
int listen_bind(struct channel *c, const struct options *o, const struct nic *n);

#endif
