// SPDX-License-Identifier: GPL-2.0-or-later
/* A socket that is ready for the measuring loop: what was asked for is read back before it is used. */
#include "wire/socket.h"

#include "host/nic.h"
#include "options.h"
#include "wire/ethernet.h"
#include "wire/kernel_stamps.h"
#include "wire/ports.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Both queues of a socket share its receive buffer: unread datagrams would keep transmit stamps out, silently. Each
 * entry costs about 1 kB, so this holds thousands of both; it is a limit, not an allocation.
 */
#define RECEIVE_BUFFER_BYTES (8 << 20)

#define NOBODYS_PORT 1
#define DESCRIPTORS_SPARE 4 /* left for what else needs them */

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

static int get_int(int fd, int level, int name)
{
	int value = 0;

	return getsockopt(fd, level, name, &value, &(socklen_t){ sizeof(value) }) ? -errno : value;
}

/* A row: an option that must be set for the run to mean what was asked. */
struct setting {
	int level, name, value;
	bool wanted;
	const char *what, *cure;
};

static int apply(int fd, const struct setting *s, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		if (!s[i].wanted)
			continue;
		int error = set_int(fd, s[i].level, s[i].name, s[i].value);

		if (error) {
			warnx("%s %d: refused by the kernel (%s): %s", s[i].what, s[i].value, strerror(-error),
			      s[i].cure);
			return error;
		}
	}
	return 0;
}

static int set_busy_poll(int fd, const struct options *o)
{
	const char *cure = "it needs CAP_NET_ADMIN (sudo) and a kernel with CONFIG_NET_RX_BUSY_POLL; leave it out";
	const struct setting rows[] = {
		{ SOL_SOCKET, SO_BUSY_POLL, (int)o->busy_poll_us, o->busy_poll_us, "--busy-poll-us", cure },
		{ SOL_SOCKET, SO_PREFER_BUSY_POLL, 1, o->prefer_busy_poll, "--prefer-busypoll", cure },
		{ SOL_SOCKET, SO_BUSY_POLL_BUDGET, (int)o->busy_poll_budget, o->busy_poll_budget, "--budget", cure },
	};

	return apply(fd, rows, sizeof(rows) / sizeof(rows[0]));
}

static int open_socket(const struct transport *t, int *fd)
{
	*fd = socket(t->domain, t->type | SOCK_CLOEXEC, t->protocol);
	if (*fd < 0) {
		int error = errno;

		warnx("cannot open a socket for %s: %s: %s", t->name, strerror(error),
		      error == EPERM ? "run as root or with CAP_NET_RAW" : "see 'ulimit -n'");
		return -error;
	}
	return 0;
}

static int set_timestamping(const struct channel *c, int fd)
{
	const bool by_socket = c->tx_stamps && !c->some_stamps;
	int flags = 0;

	if (c->wire == SOURCE_HARDWARE)
		flags = SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | (by_socket ? SOF_TIMESTAMPING_TX_HARDWARE : 0);
	else if (c->wire == SOURCE_KERNEL)
		flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | (by_socket ? SOF_TIMESTAMPING_TX_SOFTWARE : 0);
	if (!flags)
		return 0;
	/* OPT_TSONLY: no payload comes back, and net.core.tstamp_allow_data has no say. */
	if (c->tx_stamps)
		flags |= SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;

	int error = set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, flags);
	int granted = get_int(fd, SOL_SOCKET, SO_TIMESTAMPING);

	if (error || granted != flags) {
		warnx("SO_TIMESTAMPING 0x%x: %s: this needs Linux 5.10 or newer; --stamp user works without it", flags,
		      error ? strerror(-error) : "the kernel granted less");
		return error ? error : -EOPNOTSUPP;
	}
	return 0;
}

static int bind_to(int fd, const struct nic *n, const struct sockaddr_in *local)
{
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, n->name, (socklen_t)strlen(n->name) + 1)) {
		int error = errno;

		warnx("--interface %s: cannot bind the socket to it (%s): run as root or with CAP_NET_RAW", n->name,
		      strerror(error));
		return -error;
	}
	if (bind(fd, (const struct sockaddr *)local, sizeof(*local))) {
		int error = errno;

		transport_say_port(ntohs(local->sin_port), n, error);
		return -error;
	}
	return 0;
}

static int connect_to(int fd, const struct options *o, const struct nic *n)
{
	struct sockaddr_in server = o->server.in;

	server.sin_port = htons((uint16_t)o->port);
	if (connect(fd, (struct sockaddr *)&server, sizeof(server))) {
		int error = errno;

		warnx("--address %s: cannot connect through %s: %s: check 'ip address' and 'ip route'",
		      inet_ntoa(server.sin_addr), n->name, strerror(error));
		return -error;
	}
	return 0;
}

static int open_shared(const struct channel *c, int *fd)
{
	int error = open_socket(c->transport, fd);

	return error ? error : set_int(*fd, SOL_SOCKET, SO_REUSEPORT, 1);
}

/* The address to send from, or what the kernel sends from to the server, and a free port of it, or the one that there is. *fd: a socket
 * that holds it. It is bound alone, so that it is refused where anybody else has the port. */
static int choose_local(const struct channel *c, const struct options *o, const struct nic *n, int *fd, struct sockaddr_in *local)
{
	socklen_t bytes = sizeof(*local);
	int error = open_socket(c->transport, fd);

	if (!error)
		error = bind_to(*fd, n, local);
	if (!error)
		error = set_int(*fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!error)
		error = connect_to(*fd, o, n);
	return error || !getsockname(*fd, (struct sockaddr *)local, &bytes) ? error : -errno;
}

/*
 * The emitter's socket is connected, so that it follows the NAPI instance of its packets (busy polling) and hears of
 * refused ports. Datagrams from others would vanish uncounted in the kernel; so a second socket, never read during the
 * run, holds the same port for them. The kernel prefers the connected one for what the server sends if their reuseport group knows of
 * a connection: so it is connected when both are bound (reuseport_has_conns_set()). And it is bound last, which makes it the first in its
 * chain: only for that one the route of what comes is spared (__udp4_lib_demux_lookup()).
 */
static int connect_to_server(struct channel *c, const struct options *o, const struct nic *n)
{
	struct sockaddr_in local = options_own(o);
	int finder = -1, error;

	local.sin_port = c->transport->one_port ? htons((uint16_t)o->port) : 0;
	error = choose_local(c, o, n, &finder, &local);
	if (!error)
		error = open_shared(c, &c->stray_fd);
	if (!error)
		error = bind_to(c->stray_fd, n, &local);
	if (!error)
		error = bind_to(c->lane[0].fd, n, &local);
	if (!error)
		error = connect_to(c->lane[0].fd, o, n);
	c->lane[0].connected = !error;
	if (finder >= 0)
		close(finder);
	return error;
}

/* listens: whoever sends; else it will know its sender. */
static int set_options(const struct channel *c, int fd, const struct options *o, bool listens)
{
	const struct transport *t = c->transport;
	const char *cure = "this kernel is too old or too bare: rant needs Linux 5.10 or newer";
	bool reflect = o->role == ROLE_REFLECT;
	const struct setting rows[] = {
		{ SOL_SOCKET, SO_REUSEPORT, 1, !reflect && t->domain != AF_PACKET, "SO_REUSEPORT", cure },
		{ t->ip_level, t->set_ttl, (int)o->ttl, t->set_ttl, "--ttl", cure },
		/* A fragmented packet has several times on the wire and one stamp. But a request that came in fragments
		 * is answered as it came: a reply is as long. Neither heeds what ICMP messages say of the path, which
		 * anybody can send: PROBE and OMIT go by the interface. The values are the same for IPv6. */
		{ t->ip_level, t->mtu_discover, reflect ? IP_PMTUDISC_OMIT : IP_PMTUDISC_PROBE, t->mtu_discover, "IP_MTU_DISCOVER",
		  cure },
		/* The kernel derives a priority from the TOS, so the one that was asked for comes after it. */
		{ t->ip_level, t->set_tos, (int)o->dscp * 4, o->dscp >= 0 && t->set_tos, "IP_TOS", cure },
		{ SOL_SOCKET, SO_PRIORITY, (int)o->priority, o->priority >= 0, o->vlan_priority < 0 ? "--priority" : "--vlan-priority",
		  "above 6 it needs CAP_NET_ADMIN (sudo)" },
		{ t->ip_level, t->want_ttl, 1, reflect && t->want_ttl, "IP_RECVTTL", cure },
		{ t->ip_level, t->want_pktinfo, 1, reflect && listens && t->want_pktinfo, "IP_PKTINFO", cure },
		/* What ptp4l has joined comes to it; unasked, to all who have the port. */
		{ t->ip_level, t->want_multicast, 0, t->one_port && t->want_multicast, "IP_MULTICAST_ALL", cure },
	};

	/* FORCE needs CAP_NET_ADMIN; without it the limit is net.core.rmem_max, and what was granted is reported. */
	if (set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES / 2))
		set_int(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES / 2);

	int error = apply(fd, rows, sizeof(rows) / sizeof(rows[0]));

	return error ? error : set_busy_poll(fd, o);
}

int socket_open(struct channel *c, const struct options *o)
{
	int error;

	c->transport = transport_of(o);
	c->wire = (enum source)o->stamp;
	c->tx_stamps = c->wire != SOURCE_USER && !o->no_tx_stamps;
	c->some_stamps = c->tx_stamps && o->stamp_every > 1;
	c->stray_fd = -1;
	c->at = &c->lane[0];
	c->lanes = 1;
	for (int i = 0; i < LANES; i++) {
		c->lane[i].empty_ns = INT64_MIN;
		c->lane[i].number = (uint8_t)i;
	}
	error = open_socket(c->transport, &c->at->fd);
	if (error)
		return error;
	/* A connected socket is better off without any message. UDP tells for all: packet sockets take it since the same release. */
	c->at->id_by_message = c->tx_stamps && o->role == ROLE_REFLECT &&
			       kernel_stamps_take_id(transport_of(&(struct options){ .transport = TRANSPORT_UDP }));
	c->at->bare = c->wire == SOURCE_USER && o->role == ROLE_EMIT;
	error = set_options(c, c->at->fd, o, true);
	c->receive_buffer_bytes = get_int(c->at->fd, SOL_SOCKET, SO_RCVBUF);
	if (!error)
		error = set_timestamping(c, c->at->fd);
	if (error)
		socket_close(c);
	return error;
}

/* Does --size fit the interface? Of the path ICMP messages tell the kernel, and these anybody can send. */
static int check_size(const struct channel *c, const struct options *o, const struct nic *n)
{
	const int most = n->mtu - c->transport->header_bytes;

	if (!n->mtu || o->size_bytes <= most)
		return 0;
	warnx("--size %" PRId64 ": at most %d octets fit into the MTU of %d of %s, and nothing is fragmented: give less, or "
	      "raise the MTU at both ends ('ip link set %s mtu N')", o->size_bytes, most, n->mtu, n->name, n->name);
	return -EMSGSIZE;
}

/* What the kernel dropped of what came for a socket, modulo 2^32. 0 or -errno. */
static int read_drops(int fd, uint32_t *drops)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t bytes = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &bytes))
		return -errno;
	*drops = info[SK_MEMINFO_DROPS];
	return 0;
}

/* From now on nothing is queued, and the kernel counts it as dropped. 0 or -errno. */
static int take_nothing(int fd)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog filter = { .len = 1, .filter = &nothing };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ? -errno : 0;
}

/* The address to answer on, or the first one of the interface, with our port. 0 or -errno. */
static int find_own(struct channel *c, const struct options *o, const struct nic *n)
{
	struct ifreq r = { .ifr_addr = o->own.any };

	memcpy(r.ifr_name, n->name, sizeof(r.ifr_name));
	if (!o->own.any.sa_family && ioctl(c->lane[0].fd, SIOCGIFADDR, &r))
		return -errno;
	memcpy(&c->own.in, &r.ifr_addr, sizeof(c->own.in));
	c->own.in.sin_port = htons((uint16_t)o->port);
	return 0;
}

/* Connected to a port of our own address from which nothing comes. Until it is, all that comes to that address would be its. */
static int open_lane(const struct channel *c, struct lane *l, const struct options *o, const struct nic *n)
{
	struct sockaddr_in nobody = c->own.in;
	int error;

	nobody.sin_port = htons(NOBODYS_PORT);
	l->fd = socket(c->transport->domain, c->transport->type | SOCK_CLOEXEC, c->transport->protocol);
	if (l->fd < 0)
		return -errno;
	error = set_options(c, l->fd, o, false);
	if (!error)
		error = set_timestamping(c, l->fd);
	if (!error)
		error = set_int(l->fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!error)
		error = take_nothing(l->fd);
	if (!error && (setsockopt(l->fd, SOL_SOCKET, SO_BINDTODEVICE, n->name, (socklen_t)strlen(n->name) + 1) ||
		       bind(l->fd, &c->own.any, sizeof(c->own.in)) ||
		       connect(l->fd, (struct sockaddr *)&nobody, sizeof(nobody)) ||
		       setsockopt(l->fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, sizeof(int)) ||
		       read_drops(l->fd, &l->drops_before)))
		error = -errno;
	if (!error) {
		l->connected = true;
		return 0;
	}
	close(l->fd);
	l->fd = -1;
	return error;
}

int socket_open_port(const struct channel *c, struct lane *l, const struct options *o, const struct nic *n)
{
	struct sockaddr_in local = options_own(o);
	socklen_t bytes = sizeof(local);
	int error = 0;

	if (l->fd < 0) {
		error = open_socket(c->transport, &l->fd);
		if (!error)
			error = set_options(c, l->fd, o, true);
		if (!error)
			error = set_timestamping(c, l->fd);
	}
	/* To those that share their ports the kernel may give one port twice. */
	if (!error)
		error = set_int(l->fd, SOL_SOCKET, SO_REUSEPORT, 0);
	if (!error)
		error = bind_to(l->fd, n, &local);
	if (!error)
		error = connect_to(l->fd, o, n);
	if (error)
		return error;
	getsockname(l->fd, (struct sockaddr *)&local, &bytes);
	l->own_port = ntohs(local.sin_port);
	l->connected = true;
	read_drops(l->fd, &l->drops_before); /* should it fail, it will again */
	return 0;
}

/*
 * As many as there can be; without them all is served by the first. That one was bound alone, so that it is refused where anybody else
 * has the port, also one who would share it; and it shares it itself only while the others are bound, so that another is refused.
 */
static void open_lanes(struct channel *c, const struct options *o, const struct nic *n)
{
	int error = find_own(c, o, n), spare[DESCRIPTORS_SPARE];

	for (int i = 0; i < DESCRIPTORS_SPARE; i++)
		spare[i] = fcntl(c->lane[0].fd, F_DUPFD_CLOEXEC, 0);
	if (!error)
		error = set_int(c->lane[0].fd, SOL_SOCKET, SO_REUSEPORT, 1);
	while (!error && c->lanes < LANES) {
		error = open_lane(c, &c->lane[c->lanes], o, n);
		c->lanes += !error;
	}
	set_int(c->lane[0].fd, SOL_SOCKET, SO_REUSEPORT, 0);
	for (int i = 0; i < DESCRIPTORS_SPARE; i++)
		if (spare[i] >= 0)
			close(spare[i]);
	if (error && o->verbose)
		warnx("only %d busy sessions can have a socket of their own, not %d (%s): the others are a little slower", c->lanes - 1,
		      LANES - 1, strerror(-error));
}

/*
 * A ptp4l that is started now is not to be kept from its port: it binds it for all interfaces before it names its own (udp_open() in
 * its udp.c), and shares it, with those who do too. One that is there was seen by bind().
 */
static void let_others_bind(const struct channel *c)
{
	set_int(c->lane[0].fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (c->stray_fd >= 0)
		set_int(c->stray_fd, SOL_SOCKET, SO_REUSEADDR, 1);
}

int socket_bind(struct channel *c, const struct options *o, const struct nic *n)
{
	struct sockaddr_in own = options_own(o);
	int error;

	own.sin_port = htons((uint16_t)o->port);
	if (c->wire == SOURCE_KERNEL)
		kernel_stamps_wait();
	if (c->transport->domain == AF_PACKET)
		error = ethernet_bind(c, o, n);
	else
		error = o->role == ROLE_REFLECT ? bind_to(c->lane[0].fd, n, &own) :
			o->source_ports > 1	? ports_open(c, o, n) :
						  connect_to_server(c, o, n);
	if (!error && o->role == ROLE_EMIT)
		error = check_size(c, o, n);
	if (!error && o->role == ROLE_REFLECT && !c->transport->one_port)
		open_lanes(c, o, n);
	if (!error && c->transport->one_port)
		let_others_bind(c);
	if (!error && c->transport->envelope_bytes)
		transport_seal(&c->envelope, o, n);
	if (error)
		socket_close(c);
	else
		c->dropped = read_drops(c->lane[0].fd, &c->lane[0].drops_before) ? -1 : 0;
	return error;
}

void socket_note_drops(struct channel *c)
{
	uint32_t now;

	for (int i = 0; i < (c->port ? c->ports : c->lanes) && c->dropped >= 0; i++) {
		const struct lane *l = channel_lane(c, (unsigned)i);

		if (read_drops(l->fd, &now))
			c->dropped = -1;
		else
			c->dropped += (uint32_t)(now - l->drops_before);
	}
}

int socket_want_tos(struct channel *c)
{
	int error = 0;

	c->tos_wanted = true;
	for (int i = 0; c->transport->want_tos && i < c->lanes && !error; i++)
		error = set_int(c->lane[i].fd, c->transport->ip_level, c->transport->want_tos, 1);
	return error;
}

uint64_t socket_count_strays(struct channel *c)
{
	uint32_t drops;
	uint64_t count = 0;
	char octet;

	if (c->stray_fd < 0)
		return 0;
	/* Who sends as fast as we read cannot keep us here. */
	if (!take_nothing(c->stray_fd))
		while (recv(c->stray_fd, &octet, sizeof(octet), MSG_DONTWAIT | MSG_TRUNC) >= 0)
			count++;
	/* What found no room in the buffer was dropped too. */
	if (!read_drops(c->stray_fd, &drops))
		count += drops;
	return count;
}

void socket_close(struct channel *c)
{
	if (c->stray_fd >= 0)
		close(c->stray_fd);
	ports_close(c);
	for (int i = 0; i < LANES; i++) {
		if (c->lane[i].fd >= 0)
			close(c->lane[i].fd);
		c->lane[i].fd = -1;
	}
	c->stray_fd = -1;
}
