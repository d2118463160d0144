// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the sockets of a reflector. Two listening sockets, since a dual-stack socket takes longer for IPv4,
 * see docs/protocol.md. */
#include "wire/socket_inside.h"

#include "host/nic/nic.h"
#include "options.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOBODYS_PORT 1
#define DESCRIPTORS_SPARE 4 /* file descriptors left for other uses */

static int share(int fd, int on)
{
	return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) ? -errno : 0;
}

/* The address to reply from (--address, or the interface's first of that family) with our port. 0 or
 * -errno. */
static int find_own(struct peer_socket *l, const struct options *o, const struct nic *n)
{
	struct ifreq r = { .ifr_flags = 0 };
	union address own = o->own;

	memcpy(r.ifr_name, n->name, sizeof(r.ifr_name));
	if (own.any.sa_family == AF_UNSPEC && l->transport->domain == AF_INET6) {
		own = n->first6;
	} else if (own.any.sa_family == AF_UNSPEC) {
		if (ioctl(l->fd, SIOCGIFADDR, &r))
			return -errno;
		memcpy(&own.in, &r.ifr_addr, sizeof(own.in));
	}
	own.in.sin_port = htons((uint16_t)o->port); /* the same offset in both families */
	l->own = own;
	return 0;
}

/* Connects an unassigned socket to a port of our own address that never sends. Unconnected, it would
 * receive all datagrams to that address. */
static int open_peer_socket(const struct channel *c, struct peer_socket *l, const struct peer_socket *listener,
			    const struct options *o,
			    const struct nic *n)
{
	union address nobody = listener->own;
	int error;

	nobody.in.sin_port = htons(NOBODYS_PORT);
	l->transport = listener->transport;
	l->listener = listener->number;
	l->fd = socket(l->transport->domain, l->transport->type | SOCK_CLOEXEC, l->transport->protocol);
	if (l->fd < 0)
		return -errno;
	error = socket_prepare(c, l, o, false);
	if (!error)
		error = share(l->fd, 1);
	if (!error)
		error = socket_take_nothing(l->fd);
	if (!error && (setsockopt(l->fd, SOL_SOCKET, SO_BINDTODEVICE, n->name, (socklen_t)strlen(n->name) + 1) ||
		       bind(l->fd, &listener->own.any, address_bytes(&listener->own)) ||
		       connect(l->fd, &nobody.any, address_bytes(&nobody)) ||
		       setsockopt(l->fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, sizeof(int)) ||
		       socket_read_drops(l->fd, &l->drops_before)))
		error = -errno;
	if (!error) {
		l->connected = true;
		return 0;
	}
	close(l->fd);
	l->fd = -1;
	return error;
}

/* Opens sockets for each family in turn; if a family fails, the other family gets the rest. */
static int open_each(struct channel *c, const struct options *o, const struct nic *n)
{
	int error[LISTENERS], last = 0;

	for (int i = 0; i < c->listeners; i++) {
		error[i] = find_own(&c->peer_socket[i], o, n);
		if (!error[i])
			error[i] = share(c->peer_socket[i].fd, 1);
	}
	for (int i = 0; i < c->listeners * (PEER_SOCKETS_EACH - 1); i++) {
		int *of = &error[i % c->listeners];

		if (!*of)
			*of = open_peer_socket(c, &c->peer_socket[c->peer_sockets], &c->peer_socket[i % c->listeners], o, n);
		c->peer_sockets += !*of;
		last = *of ? *of : last;
	}
	for (int i = 0; i < c->listeners; i++)
		share(c->peer_socket[i].fd, 0);
	return last;
}

/*
 * Opens as many per-peer sockets as possible; without them the listening sockets serve all senders. Those
 * were bound without port sharing, so that bind fails if another program has the port, even a sharing
 * program; they share the port only while the per-peer sockets are bound, so that later programs are
 * refused.
 */
static void open_peer_sockets(struct channel *c, const struct options *o, const struct nic *n)
{
	int spare[DESCRIPTORS_SPARE], error;

	for (int i = 0; i < DESCRIPTORS_SPARE; i++)
		spare[i] = fcntl(c->peer_socket[0].fd, F_DUPFD_CLOEXEC, 0);
	error = open_each(c, o, n);
	for (int i = 0; i < DESCRIPTORS_SPARE; i++)
		if (spare[i] >= 0)
			close(spare[i]);
	if (error && o->verbose)
		warnx("only %d busy sessions can have a socket of their own, not %d (%s): the others are a little "
		      "slower",
		      c->peer_sockets - c->listeners, c->listeners * (PEER_SOCKETS_EACH - 1), strerror(-error));
}

int listen_bind(struct channel *c, const struct options *o, const struct nic *n)
{
	int error = 0;

	for (int i = 0; i < c->listeners && !error; i++) {
		union address own = options_own(o, c->peer_socket[i].transport->domain);

		own.in.sin_port = htons((uint16_t)o->port);
		error = socket_bind_to(c->peer_socket[i].fd, n, &own);
	}
	if (!error && !c->transport->one_port)
		open_peer_sockets(c, o, n);
	return error;
}
