// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timestamp provider of the NIC, by ethtool netlink. Messages are built and received without libnl, which allocates:
 * nic_restore() runs in signal handlers.
 */
#include "host/nic/nic_provider.h"

#include "host/nic/nic_inside.h"
#include "host/nic/nic_names.h"
#include "host/nic/nic_netlink.h"
#include "host/nic/nic_stamp.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool_netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Numbers of newer headers ------------------------------------------------------------------------------------ */

/* ETHTOOL_MSG_TSCONFIG_SET and ETHTOOL_A_TSCONFIG_HEADER, _HWTSTAMP_PROVIDER of the same header, Linux 6.14. */
enum { MSG_TSCONFIG_SET = 47 };
enum { TSCONFIG_HEADER = 1, TSCONFIG_PROVIDER };

/* ETHTOOL_A_TSINFO_HWTSTAMP_PROVIDER and ETHTOOL_A_TS_HWTSTAMP_PROVIDER_* of linux/ethtool_netlink_generated.h, Linux
 * 6.14; ETHTOOL_A_TSINFO_HWTSTAMP_SOURCE and _PHYINDEX, after 6.14. Older headers lack these numbers. */
enum { TSINFO_PROVIDER = 7, TSINFO_SOURCE, TSINFO_PHY_INDEX };
enum { PROVIDER_INDEX = 1, PROVIDER_QUALIFIER };

/* ---- One request and its reply ----------------------------------------------------------------------------------- */

enum { FOR_RUN, FOR_RESTORE };

/* An attribute with a u32: all parts have multiples of four octets, so the message has no gaps. */
struct u32_attribute {
	struct nlattr head;
	uint32_t value;
};

struct request {
	struct nlmsghdr head;
	struct genlmsghdr command;
	struct nlattr device; /* nest of the next two */
	struct u32_attribute device_index, flags;
};

#define U32(type, number) { { sizeof(struct u32_attribute), (type) }, (number) }
#define NEST(type, parts) { NLA_HDRLEN + (parts) * sizeof(struct u32_attribute), (type) | NLA_F_NESTED }

struct select_request {
	struct request to;
	struct nlattr provider; /* nest of the next two */
	struct u32_attribute phc_index, qualifier;
};

/* Called for each message of the family. */
typedef void take_message(struct nlmsghdr *h, void *context);

static int stamper_index(const struct nic *n)
{
	return n->stamper ? n->stamper : n->index;
}

/* The kernel ends each reply with an acknowledgement (NLM_F_ACK) or with the end of a dump, both with an errno. True:
 * this is the end. */
static bool is_end(const struct nlmsghdr *h, int *error)
{
	if (h->nlmsg_type != NLMSG_ERROR && h->nlmsg_type != NLMSG_DONE)
		return false;
	*error = -EIO;
	if (h->nlmsg_len >= NLMSG_HDRLEN + sizeof(int))
		memcpy(error, NLMSG_DATA(h), sizeof(int));
	return true;
}

/* Calls take() for the messages of the reply in a datagram. Returns 1 if the reply goes on; else 0 or -errno. */
static int take_datagram(void *datagram, size_t bytes, const struct nlmsghdr *asked, take_message *take, void *context)
{
	struct nlmsghdr *h = datagram;
	int error;

	for (; NLMSG_OK(h, bytes); h = NLMSG_NEXT(h, bytes)) {
		if (h->nlmsg_seq != asked->nlmsg_seq) /* late, of an earlier request */
			continue;
		if (is_end(h, &error))
			return error > 0 ? -EIO : error;
		if (h->nlmsg_type == asked->nlmsg_type)
			take(h, context);
	}
	return 1;
}

static int ask(int fd, struct nlmsghdr *h, take_message *take, void *context)
{
	static _Atomic uint32_t last_seq;
	_Alignas(NLMSG_ALIGNTO) char datagram[8192]; /* a dump of the kernel has at most this size, see rtnetlink(7) */
	ssize_t bytes;
	int error;

	h->nlmsg_seq = ++last_seq;
	if (send(fd, h, h->nlmsg_len, 0) != (ssize_t)h->nlmsg_len)
		return -EIO;
	do {
		bytes = recv(fd, datagram, sizeof(datagram), 0);
		if (bytes < 0)
			return -errno;
		error = take_datagram(datagram, (size_t)bytes, h, take, context);
	} while (error == 1);
	return error;
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

static bool read_u32(const struct nlattr *a, uint32_t *value)
{
	if (!a || nla_len(a) != sizeof(*value))
		return false;
	memcpy(value, nla_data(a), sizeof(*value));
	return true;
}

/* A kernel that knows neither PHCs of PHYs nor providers lists no nest. */
static bool parse_provider(struct nlmsghdr *h, int index, struct nic_provider *p)
{
	struct nlattr *a[TSINFO_PHY_INDEX + 1], *device[ETHTOOL_A_HEADER_MAX + 1], *nest[PROVIDER_QUALIFIER + 1];
	struct nic_provider new = { .known = true };
	uint32_t of, source;

	if (!genlmsg_valid_hdr(h, 0) || genlmsg_hdr(h)->cmd != ETHTOOL_MSG_TSINFO_GET_REPLY ||
	    genlmsg_parse(h, 0, a, TSINFO_PHY_INDEX, NULL) < 0 || !a[TSINFO_PROVIDER] || !a[ETHTOOL_A_TSINFO_HEADER] ||
	    nla_parse_nested(device, ETHTOOL_A_HEADER_MAX, a[ETHTOOL_A_TSINFO_HEADER], NULL) < 0 ||
	    nla_parse_nested(nest, PROVIDER_QUALIFIER, a[TSINFO_PROVIDER], NULL) < 0)
		return false;
	if (!read_u32(device[ETHTOOL_A_HEADER_DEV_INDEX], &of) || of != (uint32_t)index ||
	    !read_u32(nest[PROVIDER_INDEX], &new.phc_index) || new.phc_index > INT_MAX ||
	    !read_u32(nest[PROVIDER_QUALIFIER], &new.qualifier))
		return false;
	if (read_u32(a[TSINFO_SOURCE], &source) && (source == NIC_SOURCE_MAC || source == NIC_SOURCE_PHY))
		new.source = source;
	new.has_phy_index = new.source == NIC_SOURCE_PHY && read_u32(a[TSINFO_PHY_INDEX], &new.phy_index);
	*p = new;
	return true;
}

struct listed {
	struct nic_provider *list;
	int index; /* of the interface: a dump of older kernels has all interfaces */
	int most, count;
};

static void take_provider(struct nlmsghdr *h, void *context)
{
	struct listed *l = context;

	if (l->count < l->most && parse_provider(h, l->index, &l->list[l->count]))
		l->count++;
}

/* 0, or -errno. */
static int read_providers(int fd, uint16_t family, uint16_t flags, struct listed *l)
{
	struct request r = {
		.head = { sizeof(r), family, NLM_F_REQUEST | flags, 0, 0 },
		.command = { .cmd = ETHTOOL_MSG_TSINFO_GET, .version = ETHTOOL_GENL_VERSION },
		.device = NEST(ETHTOOL_A_TSINFO_HEADER, 2),
		.device_index = U32(ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)l->index),
		.flags = U32(ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS),
	};
	const int error = ask(fd, &r.head, take_provider, l);

	if (error)
		l->count = 0;
	return error;
}

/* ---- Sockets ----------------------------------------------------------------------------------------------------- */

/* A socket with the time limit of nic_netlink_open(). -1: failed. */
static int open_socket(uint16_t *family)
{
	struct nl_sock *s = nic_netlink_open(NETLINK_GENERIC);
	const int found = s ? genl_ctrl_resolve(s, ETHTOOL_GENL_NAME) : -1;
	const int fd = found > 0 ? fcntl(nl_socket_get_fd(s), F_DUPFD_CLOEXEC, 0) : -1;

	*family = fd < 0 ? 0 : (uint16_t)found;
	nl_socket_free(s);
	return fd;
}

void nic_provider_open(struct nic *n)
{
	uint16_t family;

	n->provider = (struct nic_provider){ 0 };
	n->provider_fd[FOR_RUN] = open_socket(&family);
	n->provider_fd[FOR_RESTORE] = family ? open_socket(&family) : -1;
	if (!family && n->provider_fd[FOR_RUN] >= 0)
		close(n->provider_fd[FOR_RUN]);
	n->ethtool_family = family;
	if (family)
		nic_provider_read(n, &n->provider);
}

void nic_provider_close(struct nic *n)
{
	if (!n->ethtool_family)
		return;
	n->ethtool_family = 0;
	close(n->provider_fd[FOR_RUN]);
	close(n->provider_fd[FOR_RESTORE]);
}

/* Sends a request by the socket of the run, or by a new one. */
static int list(const struct nic *n, uint16_t flags, struct nic_provider *providers, int most)
{
	struct listed l = { providers, stamper_index(n), most, 0 };
	uint16_t family = n->ethtool_family;
	int fd;

	if (family) {
		read_providers(n->provider_fd[FOR_RUN], family, flags, &l);
		return l.count;
	}
	fd = open_socket(&family);
	if (fd < 0)
		return 0;
	read_providers(fd, family, flags, &l);
	close(fd);
	return l.count;
}

bool nic_provider_read(const struct nic *n, struct nic_provider *p)
{
	*p = (struct nic_provider){ 0 };
	return list(n, NLM_F_ACK, p, 1) == 1;
}

int nic_provider_list(const struct nic *n, struct nic_provider providers[NIC_PROVIDERS])
{
	return list(n, NLM_F_DUMP, providers, NIC_PROVIDERS);
}

bool nic_provider_same(const struct nic_provider *a, const struct nic_provider *b)
{
	return a->known && b->known && a->phc_index == b->phc_index && a->qualifier == b->qualifier;
}

bool nic_provider_is_ours(const struct nic *n)
{
	struct nic_provider now;
	struct listed l = { &now, stamper_index(n), 1, 0 };

	if (!n->ethtool_family || !n->provider.known ||
	    read_providers(n->provider_fd[FOR_RESTORE], n->ethtool_family, NLM_F_ACK, &l) || !l.count)
		return true;
	return nic_provider_same(&now, &n->provider);
}

/* ---- Selection --------------------------------------------------------------------------------------------------- */

static void ignore(struct nlmsghdr *h, void *context)
{
	(void)h;
	(void)context;
}

/* Some kernels send no reply but the acknowledgement. The kernel turns the timestamps of the earlier provider off
 * (net/ethtool/tsconfig.c). 0, or -errno. */
static int request_selection(int fd, uint16_t family, int index, const struct nic_provider *p)
{
	struct select_request r = {
		.to.head = { sizeof(r), family, NLM_F_REQUEST | NLM_F_ACK, 0, 0 },
		.to.command = { .cmd = MSG_TSCONFIG_SET, .version = ETHTOOL_GENL_VERSION },
		.to.device = NEST(TSCONFIG_HEADER, 2),
		.to.device_index = U32(ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)index),
		.to.flags = U32(ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS),
		.provider = NEST(TSCONFIG_PROVIDER, 2),
		.phc_index = U32(PROVIDER_INDEX, p->phc_index),
		.qualifier = U32(PROVIDER_QUALIFIER, p->qualifier),
	};

	return ask(fd, &r.to.head, ignore, NULL);
}

static const char *source_name(enum nic_source source)
{
	return source == NIC_SOURCE_MAC ? "MAC" : "PHY";
}

/* Also where a kernel of 6.14 does not report the sources. */
static int say_not_found(const struct nic *n, enum nic_source source, const struct nic_provider *list, int count)
{
	char one[NIC_PROVIDER_BYTES], all[256] = "";

	for (int i = 0; i < count; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? "; " : "",
			 nic_provider_text(&list[i], one));
	warnx("interface '%s' reports no %s that timestamps packets; it reports: %s: leave out --provider", n->name,
	      source_name(source), count ? all : "nothing");
	return -ENODEV;
}

/* A MAC without timestamps beside a PHY that has them: no request makes the kernel select none again. */
static int say_none_selected(const struct nic *n, const struct nic_provider *to)
{
	warnx("the kernel has selected no device to timestamp the packets of interface '%s', and rant could not restore "
	      "that: select the %s with 'ethtool --set-hwtimestamp-cfg %s index %u qualifier %s', and leave out --provider",
	      n->name, source_name(to->source), n->name, to->phc_index, to->qualifier ? "approx" : "precise");
	return -EOPNOTSUPP;
}

static int say_not_known(const struct nic *n)
{
	warnx("the kernel does not report which device timestamps the packets of interface '%s', Linux 6.14 and newer "
	      "do so for a NIC with a hardware clock: leave out --provider", n->name);
	return -EOPNOTSUPP;
}

static int say_not_selected(const struct nic *n, enum nic_source source, int error)
{
	if (error == -EPERM)
		warnx("selecting the %s of interface '%s' for timestamps needs CAP_NET_ADMIN: run with sudo, or leave "
		      "out --provider", source_name(source), n->name);
	else
		warnx("cannot select the %s of interface '%s' for timestamps: %s: leave out --provider",
		      source_name(source), n->name, strerror(-error));
	return error;
}

/* n->provider is set first, so that a signal from here on restores. */
static int change(struct nic *n, const struct nic_provider *to)
{
	struct nic_switch *s = &n->provider_switch;
	struct nic_provider now;
	int error;

	s->found = n->provider;
	s->has_setting = !nic_read_setting(n, s->setting);
	if (s->has_setting && s->setting[1])
		warnx("warning: the %s of interface '%s' is set to stamp packets for another program (ptp4l?), which gets no "
		      "timestamps during this run", source_name(s->found.source), n->name);
	n->provider = *to;
	s->done = true;
	error = request_selection(n->provider_fd[FOR_RUN], n->ethtool_family, stamper_index(n), to);
	if (!error && (!nic_provider_read(n, &now) || !nic_provider_same(&now, to)))
		error = -EIO;
	if (!error)
		return 0;
	n->provider = s->found;
	nic_provider_restore(n);
	return say_not_selected(n, to->source, error);
}

int nic_provider_select(struct nic *n, enum nic_source source, bool shared)
{
	struct nic_provider providers[NIC_PROVIDERS];
	int count, i = 0;

	if (n->provider.known && n->provider.source == source)
		return 0;
	count = nic_provider_list(n, providers);
	while (i < count && providers[i].source != source)
		i++;
	if (!n->provider.known)
		return i == count ? say_not_known(n) : say_none_selected(n, &providers[i]);
	if (i == count)
		return say_not_found(n, source, providers, count);
	if (shared) {
		warnx("another rant uses timestamps of interface '%s' by another device than the %s: wait for its end, or "
		      "leave out --provider", n->name, source_name(source));
		return -EBUSY;
	}
	return change(n, &providers[i]);
}

void nic_provider_restore(struct nic *n)
{
	const struct nic_switch *s = &n->provider_switch;
	int setting[3];

	if (!s->done)
		return;
	if (n->ethtool_family && nic_provider_is_ours(n)) {
		request_selection(n->provider_fd[FOR_RESTORE], n->ethtool_family, stamper_index(n), &s->found);
		memcpy(setting, s->setting, sizeof(setting));
		if (s->has_setting)
			nic_write_setting(n, setting);
	}
	n->provider_switch.done = false; /* last: a signal before restores as well */
}

/* ---- During a run ------------------------------------------------------------------------------------------------ */

void nic_provider_look(void *watch)
{
	struct nic_provider_watch *w = watch;
	struct nic_provider now;

	if (!w->nic->provider.known || !nic_provider_read(w->nic, &now))
		return;
	w->changes += !nic_provider_same(&now, w->now.known ? &w->now : &w->nic->provider);
	w->now = now;
}
