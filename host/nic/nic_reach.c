// SPDX-License-Identifier: GPL-2.0-or-later
/* Requirements of each transport on the interface and on the address. */
#include "host/nic/nic_reach.h"

#include "host/nic/nic_inside.h"

#include <err.h>
#include <errno.h>
#include <string.h>

/* For --transport l2. */
static int check_station(const struct nic *n, const union address *server)
{
	if (!n->is_ethernet) {
		warnx("interface '%s' is not an Ethernet interface%s: use --transport udp%s", n->name,
		      n->flags & IFF_LOOPBACK ? ", no packet leaves this host through it" : "",
		      n->flags & IFF_LOOPBACK ? "" : " or ptp");
		return -EAFNOSUPPORT;
	}
	if (!server || memcmp(server->ll.sll_addr, n->mac, sizeof(n->mac)))
		return 0;
	warnx("the address of the reflector is the address of interface '%s' itself, such frames never leave: give "
	      "--address the MAC address of the other end ('ip link' there)", n->name);
	return -EADDRNOTAVAIL;
}

int nic_check_reach(struct nic *n, const struct options *o)
{
	const union address *server = o->role == ROLE_EMIT ? &o->server : NULL;
	int error = o->transport == TRANSPORT_L2 ? check_station(n, server) :
		    server			 ? nic_check_address(n, server) :
						   nic_find_own(n, options_family(o));

	if (!error)
		error = nic_check_own(n, &o->own);
	if (!error && options_in_ptp(o))
		error = nic_check_ptp4l(n, (int)o->ptp_domain);
	return error;
}
