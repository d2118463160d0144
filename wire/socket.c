// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens sockets for the measuring loop and reads back the granted options. */
#include "wire/socket.h"

#include "host/nic/nic.h"
#include "options.h"
#include "wire/kernel_call.h"
#include "wire/socket_inside.h"

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
 * Both queues of a socket share its receive buffer: unread datagrams would silently displace transmit
 * timestamps. An entry costs about 1 kB, so this holds thousands of both; it is a limit, not an allocation.
 */
#define RECEIVE_BUFFER_BYTES (8 << 20)

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

static int get_int(int fd, int level, int name)
{
	int value = 0;

	return getsockopt(fd, level, name, &value, &(socklen_t){ sizeof(value) }) ? -errno : value;
}

/* An option that must be set for the run to have the requested meaning. */
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

/* Flags of SO_TIMESTAMPING for the kernel's transmit times. */
static int detail_flags(const struct channel *c)
{
	return SOF_TIMESTAMPING_TX_SCHED |
	       (channel_sent_source(c) == SOURCE_HARDWARE ? SOF_TIMESTAMPING_TX_SOFTWARE : 0);
}

/* Flags of SO_TIMESTAMPING; 0: none. */
static int timestamping_flags(const struct channel *c)
{
	const bool by_socket = c->tx_stamps && !c->some_stamps;
	int flags = 0;

	if (c->wire == SOURCE_HARDWARE)
		flags = SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
			(c->kernel_times ? SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE : 0);
	else if (c->wire == SOURCE_KERNEL)
		flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE;
	if (by_socket)
		flags |= channel_sent_source(c) == SOURCE_HARDWARE ? SOF_TIMESTAMPING_TX_HARDWARE :
								     SOF_TIMESTAMPING_TX_SOFTWARE;
	if (c->tx_stamps && c->sent_by_kernel)
		flags |= SOF_TIMESTAMPING_SOFTWARE;
	/* OPT_TX_SWHW: the NIC's timestamp does not replace the kernel's. */
	if (c->detail && channel_sent_source(c) == SOURCE_HARDWARE)
		flags |= SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TX_SWHW;
	if (c->detail_by_socket)
		flags |= c->detail;
	/* OPT_TSONLY: no payload is returned, so net.core.tstamp_allow_data does not apply, except to timestamps of a
	 * PHY. */
	return flags && c->tx_stamps ? flags | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY : flags;
}

static int set_timestamping(const struct channel *c, int fd)
{
	const int flags = timestamping_flags(c);

	if (!flags)
		return 0;
	int error = set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, flags);
	int granted = get_int(fd, SOL_SOCKET, SO_TIMESTAMPING);

	if (error || granted != flags) {
		warnx("SO_TIMESTAMPING 0x%x: %s: this needs Linux 5.10 or newer; --stamp user works without it", flags,
		      error ? strerror(-error) : "the kernel granted less");
		return error ? error : -EOPNOTSUPP;
	}
	return 0;
}

int socket_bind_to(int fd, const struct nic *n, const union address *local)
{
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, n->name, (socklen_t)strlen(n->name) + 1)) {
		int error = errno;

		warnx("--interface %s: cannot bind the socket to it (%s): run as root or with CAP_NET_RAW", n->name,
		      strerror(error));
		return -error;
	}
	if (bind(fd, &local->any, address_bytes(local))) {
		int error = errno;

		transport_say_port(ntohs(local->in.sin_port), n, error); /* the same offset in both families */
		return -error;
	}
	return 0;
}

int socket_connect(int fd, const struct options *o, const struct nic *n)
{
	union address server = o->server;
	char name[TRANSPORT_NAME_BYTES];

	server.in.sin_port = htons((uint16_t)o->port); /* the same offset in both families */
	if (connect(fd, &server.any, address_bytes(&server))) {
		int error = errno;

		warnx("--address %s: cannot connect through %s: %s: check 'ip address' and 'ip route'",
		      transport_name(&server, name), n->name, strerror(error));
		return -error;
	}
	return 0;
}

static int open_shared(const struct channel *c, int *fd)
{
	int error = open_socket(c->transport, fd);

	return error ? error : set_int(*fd, SOL_SOCKET, SO_REUSEPORT, 1);
}

/* Binds *fd to the source address (requested, or the kernel's choice for the server) and a free port, or
 * the fixed port. Without port sharing, so that bind fails if another program has the port. */
static int choose_local(const struct channel *c, const struct options *o, const struct nic *n, int *fd,
			union address *local)
{
	socklen_t bytes = sizeof(*local);
	int error = open_socket(c->transport, fd);

	if (!error)
		error = socket_bind_to(*fd, n, local);
	if (!error)
		error = set_int(*fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!error)
		error = socket_connect(*fd, o, n);
	return error || !getsockname(*fd, &local->any, &bytes) ? error : -errno;
}

/*
 * The emitter's socket is connected, so that it follows the NAPI instance of its packets (busy polling) and
 * receives ICMP port errors. Datagrams of other senders would be dropped uncounted in the kernel; so a
 * second socket, never read during the run, is bound to the same port for them. The kernel prefers the
 * connected socket for the server's datagrams if the reuseport group has a connection: so connect follows
 * both binds (reuseport_has_conns_set()). The connected socket is bound last, which makes it first in its
 * hash chain: only the first socket gets early demultiplexing without a route lookup
 * (__udp4_lib_demux_lookup()).
 */
static int connect_to_server(struct channel *c, const struct options *o, const struct nic *n)
{
	union address local = options_own(o, c->transport->domain);
	int finder = -1, error;

	local.in.sin_port = c->transport->one_port ? htons((uint16_t)o->port) : 0;
	error = choose_local(c, o, n, &finder, &local);
	if (!error)
		error = open_shared(c, &c->stray_fd);
	if (!error)
		error = socket_bind_to(c->stray_fd, n, &local);
	if (!error)
		error = socket_bind_to(c->peer_socket[0].fd, n, &local);
	if (!error)
		error = socket_connect(c->peer_socket[0].fd, o, n);
	c->peer_socket[0].connected = !error;
	if (finder >= 0)
		close(finder);
	return error;
}

/* listens: unconnected; else connected to its sender */
static int set_options(const struct transport *t, int fd, const struct options *o, bool listens)
{
	const char *cure = "this kernel is too old or too bare: rant needs Linux 5.10 or newer";
	bool reflect = o->role == ROLE_REFLECT;
	const struct setting rows[] = {
		{ SOL_SOCKET, SO_REUSEPORT, 1, !reflect && t->domain != AF_PACKET && !t->echoes, "SO_REUSEPORT", cure },
		/* IPv4 has a separate socket: a dual-stack socket took longer (docs/protocol.md). */
		{ SOL_IPV6, IPV6_V6ONLY, 1, t->domain == AF_INET6 && !t->echoes, "IPV6_V6ONLY", cure },
		/* The kernel gives a connected socket a random flow label, an unconnected socket a label
		 * from the ports (ip6_make_flowlabel()): a session that moves to a per-peer socket would
		 * change its flow on the return path. */
		{ SOL_IPV6, IPV6_AUTOFLOWLABEL, 0, t->domain == AF_INET6 && reflect, "IPV6_AUTOFLOWLABEL", cure },
		{ t->ip_level, t->set_ttl, (int)o->ttl, t->set_ttl, "--ttl", cure },
		/* A fragmented packet has several times on the wire and one timestamp. But a fragmented
		 * request is answered in fragments: a reply has the same length. Both settings ignore ICMP
		 * messages about the path MTU, which anybody can send: PROBE and OMIT use the interface
		 * MTU. The values are the same for IPv6. */
		{ t->ip_level, t->mtu_discover, reflect ? IP_PMTUDISC_OMIT : IP_PMTUDISC_PROBE, t->mtu_discover,
		  "IP_MTU_DISCOVER",
		  cure },
		/* The kernel derives a priority from the TOS, so the requested priority is set after it. */
		{ t->ip_level, t->set_tos, (int)o->dscp * 4, o->dscp >= 0 && t->set_tos, "IP_TOS", cure },
		{ SOL_SOCKET, SO_PRIORITY, (int)o->priority, o->priority >= 0,
		  o->vlan_priority < 0 ? "--priority" : "--vlan-priority",
		  "above 6 it needs CAP_NET_ADMIN (sudo)" },
		{ t->ip_level, t->want_ttl, 1, reflect && t->want_ttl, "IP_RECVTTL", cure },
		{ t->ip_level, t->want_pktinfo, 1, reflect && listens && t->want_pktinfo, "IP_PKTINFO", cure },
		/* Without this option groups joined by ptp4l are delivered to every socket on the port. */
		{ t->ip_level, t->want_multicast, 0, t->one_port && t->want_multicast, "IP_MULTICAST_ALL", cure },
		/* Drop count in a message of the next datagram after a drop (sock_recv_drops() in
		 * include/net/sock.h). */
		{ SOL_SOCKET, SO_RXQ_OVFL, 1, o->role == ROLE_REFLECT, "SO_RXQ_OVFL", cure },
		/* ICMP errors of routers for any destination. They arrive in the error queue, which is not
		 * read without timestamps. */
		{ t->ip_level, t->recverr_type, 1, t->echoes && o->stamp != SOURCE_USER, "IP_RECVERR", cure },
	};

	/* FORCE needs CAP_NET_ADMIN; without it the limit is net.core.rmem_max, and the granted size is
	 * reported. */
	if (set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES / 2))
		set_int(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES / 2);

	int error = apply(fd, rows, sizeof(rows) / sizeof(rows[0]));

	return error ? error : set_busy_poll(fd, o);
}

int socket_prepare(const struct channel *c, const struct peer_socket *l, const struct options *o, bool listens)
{
	int error = set_options(l->transport, l->fd, o, listens);

	return error ? error : set_timestamping(c, l->fd);
}

/* IP families of a reflector without a requested address: both in which the interface has an address, IPv4
 * first. Returns their number. */
static int choose_families(const struct options *o, const struct nic *n, int family[LISTENERS])
{
	int count = 0;

	family[0] = options_family(o);
	if (family[0] != AF_UNSPEC || o->transport == TRANSPORT_L2)
		return 1;
	if (n->first4.any.sa_family || !n->first6.any.sa_family)
		family[count++] = AF_INET;
	if (n->first6.any.sa_family)
		family[count++] = AF_INET6;
	return count;
}

int socket_open(struct channel *c, const struct options *o, const struct nic *n)
{
	int error = 0, family[LISTENERS];

	c->listeners = c->peer_sockets = choose_families(o, n, family);
	c->transport = transport_of(o, family[0]);
	c->wire = source_of_packets(o->stamp, false);
	c->sent_by_kernel = options_place_sent(o);
	c->tx_stamps = c->wire != SOURCE_USER && !o->no_tx_stamps;
	c->some_stamps = c->tx_stamps && o->stamp_every > 1;
	/* to compare the bound of --stamp receive with the delay that it avoids */
	c->kernel_times = options_kernel_times(o) || options_place_sent(o);
	c->detail = options_queue_times(o) ? detail_flags(c) : 0;
	c->detail_by_socket = c->detail && o->stages.every == 1 && !c->some_stamps;
	c->priority = (int)o->priority;
	c->tos = o->dscp > 0 ? (int)o->dscp * 4 : 0;
	c->stray_fd = -1;
	c->direct = kernel_call_is_free();
	c->at = &c->peer_socket[0];
	for (int i = 0; i < PEER_SOCKETS; i++) {
		c->peer_socket[i].empty_ns = INT64_MIN;
		c->peer_socket[i].number = (uint8_t)i;
		c->peer_socket[i].tos = c->tos;
	}
	for (int i = 0; i < c->listeners && !error; i++) {
		struct peer_socket *l = &c->peer_socket[i];

		l->transport = transport_of(o, family[i]);
		l->listener = (uint8_t)i;
		error = l->transport->echoes ? icmp_open(c, l, o) : open_socket(l->transport, &l->fd);
		/* A connected UDP socket is faster without control messages; other transports name the
		 * receiver of each packet. The test on IPv4 is valid for all: the kernel supports them
		 * since the same release. */
		l->id_by_message = !error && c->tx_stamps &&
				   (o->role == ROLE_REFLECT || l->transport->domain == AF_PACKET ||
				    l->transport->echoes) &&
				   kernel_stamps_take_id(transport_of(&(struct options){ .transport = TRANSPORT_UDP },
								      AF_INET));
		l->bare = c->wire == SOURCE_USER && o->role == ROLE_EMIT;
		c->keeps_priority |= o->role == ROLE_REFLECT && o->priority >= 0 && l->transport->domain == AF_INET;
		if (!error)
			error = socket_prepare(c, l, o, true);
	}
	c->transport = c->peer_socket[0].transport; /* or its fallback */
	c->receive_buffer_bytes = get_int(c->peer_socket[0].fd, SOL_SOCKET, SO_RCVBUF);
	if (error)
		socket_close(c);
	return error;
}

/* True if --size fits the interface. The path MTU is known by ICMP messages only, which anybody can send. */
static int check_size(const struct channel *c, const struct options *o, const struct nic *n)
{
	const int most = n->mtu - c->transport->header_bytes;

	if (!n->mtu || o->size_bytes <= most)
		return 0;
	warnx("--size %" PRId64 ": at most %d octets fit into the MTU of %d of %s, and nothing is fragmented: give "
				"less, or "
	      "raise the MTU at both ends ('ip link set %s mtu N')", o->size_bytes, most, n->mtu, n->name, n->name);
	return -EMSGSIZE;
}

int socket_read_drops(int fd, uint32_t *drops)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t bytes = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &bytes))
		return -errno;
	*drops = info[SK_MEMINFO_DROPS];
	return 0;
}

int socket_take_nothing(int fd)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog filter = { .len = 1, .filter = &nothing };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ? -errno : 0;
}

uint64_t socket_empty(int fd)
{
	uint64_t count = 0;
	char octet;

	/* Bounded, so that a sender as fast as this loop cannot block it. */
	if (!socket_take_nothing(fd))
		while (recv(fd, &octet, sizeof(octet), MSG_DONTWAIT | MSG_TRUNC) >= 0)
			count++;
	return count;
}

int socket_open_port(const struct channel *c, struct peer_socket *l, const struct options *o, const struct nic *n)
{
	union address local = options_own(o, c->transport->domain);
	socklen_t bytes = sizeof(local);
	int error = 0;

	if (l->fd < 0) {
		error = open_socket(c->transport, &l->fd);
		if (!error)
			error = socket_prepare(c, l, o, true);
	}
	/* With port sharing the kernel may assign a port twice. */
	if (!error)
		error = set_int(l->fd, SOL_SOCKET, SO_REUSEPORT, 0);
	if (!error)
		error = socket_bind_to(l->fd, n, &local);
	if (!error)
		error = socket_connect(l->fd, o, n);
	if (error)
		return error;
	getsockname(l->fd, &local.any, &bytes);
	l->own_port = ntohs(local.in.sin_port);
	l->connected = true;
	socket_read_drops(l->fd, &l->drops_before); /* an error here is reported by the later call */
	return 0;
}

/*
 * Shares the port, so that a ptp4l started later can bind it: ptp4l binds for all interfaces before it
 * selects its own (udp_open() in its udp.c), and shares the port with sharing sockets. A ptp4l that is
 * already running made bind() fail.
 */
static void let_others_bind(const struct channel *c)
{
	for (int i = 0; i < c->listeners; i++)
		set_int(c->peer_socket[i].fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (c->stray_fd >= 0)
		set_int(c->stray_fd, SOL_SOCKET, SO_REUSEADDR, 1);
}

int socket_bind(struct channel *c, const struct options *o, const struct nic *n)
{
	int error;

	if (c->wire == SOURCE_KERNEL || c->kernel_times)
		kernel_stamps_wait();
	if (c->transport->domain == AF_PACKET)
		error = ethernet_bind(c, o, n);
	else if (c->transport->echoes)
		error = icmp_bind(c, o, n);
	else
		error = o->role == ROLE_REFLECT ? listen_bind(c, o, n) :
			o->source_ports > 1	? ports_open(c, o, n) :
						  connect_to_server(c, o, n);
	if (!error && o->role == ROLE_EMIT)
		error = check_size(c, o, n);
	if (!error && c->transport->one_port)
		let_others_bind(c);
	if (!error && c->transport->encapsulation_bytes && !c->transport->echoes)
		transport_seal(&c->encapsulation, o, n);
	c->dropped = optional_of(0);
	for (int i = 0; i < c->listeners && !error; i++)
		if (socket_read_drops(c->peer_socket[i].fd, &c->peer_socket[i].drops_before))
			c->dropped = (struct optional){ .known = false };
	if (error)
		socket_close(c);
	return error;
}

void socket_note_drops(struct channel *c)
{
	uint32_t now;

	for (int i = 0; i < (c->port ? c->ports : c->peer_sockets) && c->dropped.known; i++) {
		const struct peer_socket *l = channel_peer_socket(c, (unsigned)i);

		if (socket_read_drops(l->fd, &now))
			c->dropped = (struct optional){ .known = false };
		else
			c->dropped.value += (uint32_t)(now - l->drops_before);
	}
}

int socket_want_tos(struct channel *c)
{
	int error = 0;

	c->tos_wanted = true;
	for (int i = 0; c->transport->want_tos && i < c->peer_sockets && !error; i++)
		error = set_int(c->peer_socket[i].fd, c->peer_socket[i].transport->ip_level,
				c->peer_socket[i].transport->want_tos, 1);
	return error;
}

static int change_timestamping(const struct channel *c)
{
	int error = 0;

	for (int i = 0; i < c->peer_sockets && !error; i++)
		error = set_int(c->peer_socket[i].fd, SOL_SOCKET, SO_TIMESTAMPING, timestamping_flags(c));
	return error;
}

int socket_want_kernel_times(struct channel *c)
{
	int error;

	if (c->wire != SOURCE_HARDWARE)
		return -EOPNOTSUPP;
	c->kernel_times = true;
	error = change_timestamping(c);
	c->kernel_times = !error;
	return error;
}

int socket_want_detail(struct channel *c)
{
	int error;

	if (!c->tx_stamps)
		return -EOPNOTSUPP;
	c->detail = detail_flags(c);
	error = change_timestamping(c);
	if (error)
		c->detail = 0;
	return error;
}

uint64_t socket_count_strays(struct channel *c)
{
	uint32_t drops;
	uint64_t count = counter_get(&c->strays);

	if (c->stray_fd < 0)
		return count;
	count += socket_empty(c->stray_fd);
	/* Datagrams dropped for lack of buffer space count too. */
	if (!socket_read_drops(c->stray_fd, &drops))
		count += drops;
	return count;
}

void socket_close(struct channel *c)
{
	if (c->stray_fd >= 0)
		close(c->stray_fd);
	ports_close(c);
	for (int i = 0; i < PEER_SOCKETS; i++) {
		if (c->peer_socket[i].fd >= 0)
			close(c->peer_socket[i].fd);
		c->peer_socket[i].fd = -1;
	}
	c->stray_fd = -1;
}
