// SPDX-License-Identifier: GPL-2.0-or-later
/* The interface of a route by rtnetlink(7); the abilities of a NIC by ethtool, its setting by SIOCGHWTSTAMP. */
#include "host/nic/nic_best.h"

#include "host/nic/nic.h"
#include "host/nic/nic_abilities.h"
#include "host/nic/nic_inside.h"
#include "host/nic/nic_names.h"
#include "host/nic/nic_stamp.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/net_tstamp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int nic_choose_interface(struct options *o, char name[IFNAMSIZ])
{
	char text[INET6_ADDRSTRLEN] = "";
	int index;

	if (o->interface || o->role != ROLE_EMIT)
		return 0;
	index = nic_route_to(&o->server);
	if (index > 0 && if_indextoname((unsigned)index, name)) {
		o->interface = name;
		return 0;
	}
	inet_ntop(o->server.any.sa_family, o->server.any.sa_family == AF_INET6 ? (void *)&o->server.in6.sin6_addr :
		  (void *)&o->server.in.sin_addr, text, sizeof(text));
	if (index)
		warnx("no route to %s: %s: see 'ip route get %s', or give the interface with -i", text,
		      strerror(-index), text);
	else
		warnx("the route to %s has several interfaces: choose one with -i, see 'ip route get %s'", text,
		      text);
	return index ? index : -EINVAL;
}

/* SIOCSHWTSTAMP needs CAP_NET_ADMIN in the user namespace of the network namespace. */
static bool may_set_nic(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return !syscall(SYS_capget, &header, data) && data[0].effective & 1U << CAP_NET_ADMIN;
}

/* The reason against hardware timestamps; NULL: hardware timestamps can be used. */
static const char *obstacle(const struct nic *n, const struct options *o)
{
	int setting[3], error;

	if (n->can.phc_index < 0)
		return "has no hardware clock";
	if (!nic_can_stamp(n) && nic_can_receive(n))
		return "timestamps received packets only, see --stamp receive";
	if (!nic_can_stamp(n))
		return "has a hardware clock but does not stamp packets in both directions";
	error = nic_read_setting(n, setting);
	if (!error && nic_stamps(setting, o))
		return NULL;
	if (!nic_lists_filter(n, o))
		return options_in_ptp(o) ? "has no receive filter for these PTP messages" :
					   "stamps only PTP packets on receipt, see --transport";
	if (error)
		return "does not report its timestamp setting, which could not be restored after the run";
	if (setting[1] > HWTSTAMP_TX_ON)
		return "is set up by another program (ptp4l?)";
	return may_set_nic() ? NULL : "can stamp packets, but setting it up needs CAP_NET_ADMIN (sudo)";
}

int nic_choose_stamp(struct options *o, char why[static 256])
{
	const char *against;
	struct nic n;
	int error;

	*why = '\0';
	if (o->stamp != STAMP_BEST)
		return 0;
	error = nic_find(&n, o->interface);
	if (error)
		return error;
	nic_find_stamper(&n);
	error = nic_read_abilities(&n);
	against = error ? "does not report its timestamp abilities" : obstacle(&n, o);
	o->stamp = against ? SOURCE_KERNEL : SOURCE_HARDWARE;
	snprintf(why, 256, "%s (driver '%s') %s", n.name, n.driver, against ? against : "stamps packets in hardware");
	nic_close(&n);
	return 0;
}

void nic_stamp_best(struct nic *n, struct options *o)
{
	if (!nic_stamp(n, o))
		return;
	warnx("--stamp best: the kernel takes the timestamps, for this reason");
	o->stamp = SOURCE_KERNEL;
}

void nic_print_choice(const struct options *o, const char *server, const char *why)
{
	static const char *const names[] = { [SOURCE_USER] = "user", [SOURCE_KERNEL] = "kernel",
					     [SOURCE_HARDWARE] = "hardware" };

	if (o->role == ROLE_EMIT && o->server_name)
		warnx("%s (%s) through %s, --stamp %s: %s", o->server_name, server, o->interface, names[o->stamp], why);
	else if (o->role == ROLE_EMIT)
		warnx("%s through %s, --stamp %s: %s", server, o->interface, names[o->stamp], why);
	else
		warnx("%s, --stamp %s: %s", o->interface, names[o->stamp], why);
}
