// SPDX-License-Identifier: GPL-2.0-or-later
/* What each transport needs of an interface and of an address. */
#include "host/nic_reach.h"

#include "host/nic_address.h"
#include "host/nic_ptp4l.h"

int nic_check_reach(const struct nic *n, const struct options *o)
{
	const union address *server = o->role == ROLE_EMIT ? &o->server : NULL;
	int error = nic_check_address(n, server);

	if (!error && options_in_ptp(o))
		error = nic_check_ptp4l(n, (int)o->ptp_domain);
	return error;
}
