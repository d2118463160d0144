// SPDX-License-Identifier: GPL-2.0-or-later
/* Source ports of an emitter. */
#include "wire/socket_inside.h"

#include "options.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static int worker(const struct channel *c, const struct peer_socket *l)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = l->number };

	return epoll_ctl(c->ready_fd, EPOLL_CTL_ADD, l->fd, &e) ? -errno : 0;
}

static int open_ready(struct channel *c, const struct options *o)
{
	int error = 0;

	c->port = calloc((size_t)o->source_ports, sizeof(*c->port));
	c->ready_fd = c->port ? epoll_create1(EPOLL_CLOEXEC) : -1;
	if (c->ready_fd >= 0)
		return 0;
	error = c->port ? errno : ENOMEM;
	warnx("--source-ports %d: cannot be opened: %s: see 'ulimit -n'", (int)o->source_ports, strerror(error));
	return -error;
}

int ports_open(struct channel *c, const struct options *o, const struct nic *n)
{
	int error = open_ready(c, o);

	while (!error && c->ports < o->source_ports) {
		struct peer_socket *l = &c->port[c->ports];

		*l = (struct peer_socket){ .fd = c->ports ? -1 : c->peer_socket[0].fd, .number = (uint8_t)c->ports,
				    .bare = c->peer_socket[0].bare, .transport = c->transport,
				    .empty_ns = INT64_MIN };
		error = socket_open_port(c, l, o, n);
		c->ports += l->fd >= 0;
		if (error)
			break; /* already reported */
		error = worker(c, l);
		if (error)
			warnx("--source-ports %d: cannot be watched: %s", (int)o->source_ports, strerror(-error));
	}
	c->at = c->port;
	return error;
}

void ports_close(struct channel *c)
{
	if (!c->port)
		return;
	for (int i = 1; i < c->ports; i++)
		close(c->port[i].fd);
	if (c->ready_fd >= 0)
		close(c->ready_fd);
	free(c->port);
	c->port = NULL;
	c->ports = 0;
	c->at = &c->peer_socket[0];
}
