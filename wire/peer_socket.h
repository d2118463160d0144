/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-peer sockets of a reflector (hot): sockets on the same port, each connected to the sender of a busy
 * session, which saves the route lookup and the address in each message. The first sockets listen: one for
 * each IP family, for all other senders. The others are opened at start, the same number for each family,
 * unconnected; assigning a socket to a sender is one connect(2). From then on the kernel delivers that
 * sender's datagrams to it (udp(7): the lookup prefers the connected socket).
 */
#ifndef WIRE_PEER_SOCKET_H
#define WIRE_PEER_SOCKET_H

#include "wire/socket.h"

struct arrival;

#define PEER_SOCKET_IDLE_NS (10 * NS_PER_S) /* a socket used within this time keeps its sender */
#define PEER_SOCKET_REQUESTS 64 /* requests within that time that make a session busy; a power of two */

/* True if the request received by the listening socket c->at was sent to the address that per-peer sockets
 * are bound to, by a sender that can be connected. */
bool peer_socket_fits(const struct channel *c, const struct arrival *a);

/* Upper bound of the datagrams waiting in the socket. One system call. */
unsigned peer_socket_backlog(const struct peer_socket *l);

/* Connects a per-peer socket to a sender; NULL: all are in use or connect failed (both counted). At most
 * one system call. now_ns: CLOCK_MONOTONIC. */
struct peer_socket *peer_socket_take(struct channel *c, const union address *peer, int64_t now_ns);

#endif
