// SPDX-License-Identifier: GPL-2.0-or-later
/* --allow (hot): compares a peer's address with the allowed prefixes. */
#include "wire/allow.h"

bool allow_has(const struct allow_list *list, const union address *peer)
{
	uint64_t address[2];

	address_as_ipv6(peer, address);
	for (int i = 0; i < list->prefixes; i++) {
		const struct allow_prefix *p = &list->prefix[i];

		if (p->ipv6 && peer->any.sa_family != AF_INET6)
			continue;
		if (!(((address[0] ^ p->address[0]) & p->mask[0]) | ((address[1] ^ p->address[1]) & p->mask[1])))
			return true;
	}
	return false;
}
