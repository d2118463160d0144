/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of socket.c: only for the files of wire/ that open sockets. */
#ifndef WIRE_SOCKET_INSIDE_H
#define WIRE_SOCKET_INSIDE_H

#include "wire/socket.h"

struct nic;
struct options;

/* ---- ethernet.c -------------------------------------------------------------------------------------------------- */

/* A socket on Ethernet itself, packet(7). */

/*
 * Binds the channel's socket to PTP messages on the interface. It then receives messages of this program's
 * PTP domain: a reflector all except those addressed to other stations, an emitter those from the server to
 * this station. Messages from other senders to an emitter go to c->stray_fd, which is opened here. 0, or
 * -errno after one line; the caller closes the open sockets.
 */
int ethernet_bind(struct channel *c, const struct options *o, const struct nic *n);

/* ---- icmp.c ------------------------------------------------------------------------------------------------------ */

/* Emitter socket for ICMP echoes, which any host answers. Facts: icmp(7), raw(7); net/ipv4/ping.c for ping
 * sockets. */

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

/* ---- listen.c ---------------------------------------------------------------------------------------------------- */

/* Opens the sockets of a reflector: the listening sockets and the per-peer sockets (see wire/peer_socket.h). */

/* Binds the listening sockets to the interface and port and opens as many per-peer sockets as possible; too
 * few are reported with --verbose only. 0, or -errno after one line. */
int listen_bind(struct channel *c, const struct options *o, const struct nic *n);

/* ---- ports.c ----------------------------------------------------------------------------------------------------- */

/*
 * Several source ports of an emitter: one connected socket for each, so that a fabric that hashes ports, or
 * NIC receive queues, see several flows. These ports have no second socket for datagrams of other senders:
 * the kernel answers those as for a closed port, and they are not counted.
 */

/* Opens o->source_ports sockets, the first with the socket of c->peer_socket[0], and c->ready_fd, which reports
 * readable sockets. 0, or -errno after one line: the caller calls socket_close(). */
int ports_open(struct channel *c, const struct options *o, const struct nic *n);

/* Closes all source ports except the socket of c->peer_socket[0]. No effect without source ports. */
void ports_close(struct channel *c);

/* ---- kernel_stamps.c --------------------------------------------------------------------------------------------- */

/* Capabilities and start-up of the kernel's timestamps. */

/* True if the kernel accepts transmit timestamp ids from the program (SCM_TS_OPT_ID, Linux 6.13). Sends
 * nothing. False if no socket can be opened. */
bool kernel_stamps_take_id(const struct transport *t);

/* Waits 5 ms until the kernel timestamps received packets; a socket must have requested timestamps before. */
void kernel_stamps_wait(void);

#endif
