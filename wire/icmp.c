// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Socket for ICMP echoes. Although it is connected, each packet carries the server's address and each reply
 * requests its sender's address: a connected ping socket receives replies of other hosts too.
 */
#include "wire/socket_inside.h"

#include "host/nic/nic.h"
#include "options.h"
#include "wire/socket_filter.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_as(struct peer_socket *l, const struct transport *t)
{
	l->transport = t;
	l->fd = socket(t->domain, t->type | SOCK_CLOEXEC, t->protocol);
	return l->fd < 0 ? -errno : 0;
}

/* Replies with our identifier: from the server, or from all other hosts. A raw IPv4 socket delivers the
 * IPv4 header, of variable length. Until the filter is attached a raw socket also receives replies to other
 * programs' pings. */
static int take_replies(int fd, const struct echo *e, const union address *server, bool servers)
{
	const uint8_t same = servers ? SOCKET_FILTER_YES : SOCKET_FILTER_NO, other = servers ? SOCKET_FILTER_NO :
		SOCKET_FILTER_YES;
	const uint16_t id = get16(e->sent + ECHO_AT_ID);
	const uint8_t *v6 = server->in6.sin6_addr.s6_addr;
	struct sock_filter four[] = {
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, ECHO_AT_TYPE), SOCKET_FILTER_IS(ECHO_REPLY, 0, SOCKET_FILTER_NO),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, ECHO_AT_ID), SOCKET_FILTER_IS(id, 0, SOCKET_FILTER_NO),
		SOCKET_FILTER_LOAD(W, 12), SOCKET_FILTER_IS(ntohl(server->in.sin_addr.s_addr), same, other),
		SOCKET_FILTER_END,
	};
	struct sock_filter six[] = {
		SOCKET_FILTER_LOAD(B, ECHO_AT_TYPE), SOCKET_FILTER_IS(ECHO6_REPLY, 0, SOCKET_FILTER_NO),
		SOCKET_FILTER_LOAD(H, ECHO_AT_ID), SOCKET_FILTER_IS(id, 0, SOCKET_FILTER_NO),
		SOCKET_FILTER_LOAD(W, SKF_NET_OFF + 8), SOCKET_FILTER_IS(get32(v6), 0, other),
		SOCKET_FILTER_LOAD(W, SKF_NET_OFF + 12), SOCKET_FILTER_IS(get32(v6 + 4), 0, other),
		SOCKET_FILTER_LOAD(W, SKF_NET_OFF + 16), SOCKET_FILTER_IS(get32(v6 + 8), 0, other),
		SOCKET_FILTER_LOAD(W, SKF_NET_OFF + 20), SOCKET_FILTER_IS(get32(v6 + 12), same, other),
		SOCKET_FILTER_END,
	};

	socket_empty(fd);
	return e->reply_type == ECHO6_REPLY ? socket_filter_attach(fd, six, sizeof(six) / sizeof(six[0])) :
					      socket_filter_attach(fd, four, sizeof(four) / sizeof(four[0]));
}

static int say_refused(const struct transport *t, int error)
{
	if (error == -EPERM || error == -EACCES)
		warnx("cannot open a socket for ICMP: no group of this process is in net.ipv4.ping_group_range, and a "
		      "raw socket takes "
		      "CAP_NET_RAW: 'sudo sysctl net.ipv4.ping_group_range=\"0 2147483647\"', or 'sudo setcap "
		      "cap_net_raw+ep' on this program, "
		      "or sudo");
	else
		warnx("cannot open a socket for %s: %s: see 'ulimit -n'", t->name, strerror(-error));
	return error;
}

int icmp_open(struct channel *c, struct peer_socket *l, const struct options *o)
{
	const struct transport *ping = l->transport;
	uint8_t id[2] = { 0 };
	int error = open_as(l, ping);

	if (error == -EPERM || error == -EACCES)
		error = open_as(l, ping->instead);
	if (error)
		return say_refused(ping, error);
	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		id[0] = (uint8_t)getpid(); /* replies to other programs differ in more than the identifier */
	echo_prepare(&c->echo, ping->domain == AF_INET6, id, (uint8_t)o->ttl, l->transport->before_bytes,
		     l->transport->type == SOCK_RAW && ping->domain == AF_INET);
	if (l->transport->type == SOCK_RAW)
		error = take_replies(l->fd, &c->echo, &o->server, true);
	if (error)
		warnx("%s: the kernel takes no filter (%s): is CONFIG_NET there?", l->transport->name,
		      strerror(-error));
	return error;
}

/* The kernel matches replies to a ping socket by the identifier, which it assigns like a port. */
static int learn_id(struct channel *c, int fd)
{
	union address local;
	socklen_t bytes = sizeof(local);

	if (getsockname(fd, &local.any, &bytes))
		return -errno;
	memcpy(c->echo.sent + ECHO_AT_ID, &local.in.sin_port, 2); /* the same offset in both families */
	return 0;
}

static int open_strays(struct channel *c, const struct options *o, const struct nic *n, const union address *own)
{
	const struct transport *t = c->transport;
	int error;

	c->stray_fd = socket(t->domain, t->type | SOCK_CLOEXEC, t->protocol);
	if (c->stray_fd < 0)
		return -errno;
	error = take_replies(c->stray_fd, &c->echo, &o->server, false);
	return error ? error : socket_bind_to(c->stray_fd, n, own);
}

int icmp_bind(struct channel *c, const struct options *o, const struct nic *n)
{
	const union address own = options_own(o, c->transport->domain);
	const int fd = c->peer_socket[0].fd;
	int error = socket_bind_to(fd, n, &own);

	c->server = o->server;
	if (!error)
		error = socket_connect(fd, o, n);
	if (error)
		return error; /* already reported */
	error = c->transport->type == SOCK_RAW ? open_strays(c, o, n, &own) : learn_id(c, fd);
	if (error)
		warnx("%s: %s: see 'ulimit -n'", c->transport->name, strerror(-error));
	return error;
}
