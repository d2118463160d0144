// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of the NIC as plain data. */
#include "result/take.h"

#include "host/nic/link.h"
#include "host/nic/nic_names.h"
#include "host/nic/nic_provider.h"
#include "host/nic/nic_stamp.h"
#include "result/nic.h"

#include <string.h>

void take_nic(struct result_nic *to, const struct nic *from, const struct link_watch *link)
{
	memcpy(to->name, from->name, sizeof(to->name));
	memcpy(to->driver, from->driver, sizeof(to->driver));
	memcpy(to->bus, from->bus, sizeof(to->bus));
	if (from->mtu)
		to->mtu = optional_of(from->mtu);
	if (from->can.phc_index >= 0)
		to->phc_index = optional_of(from->can.phc_index);
	to->changed = from->changed;
	if (!link_stamper_name(link, to->stamper))
		*to->stamper = '\0';
	to->stamper_is_other = link->stamper != from->index;
	to->moves = link->moves;
	to->before = link->before;
	to->after = link->after;
}

void take_nic_provider(struct result_nic *to, const struct nic_provider_watch *from)
{
	char text[NIC_PROVIDER_BYTES];

	to->provider = from->nic->provider;
	to->provider_after = from->now;
	to->provider_changes = from->changes;
	if (!to->provider.known)
		return;
	snprintf(to->provider_text, sizeof(to->provider_text), "%s", nic_provider_text(&to->provider, text));
	snprintf(to->provider_after_text, sizeof(to->provider_after_text), "%s",
		 nic_provider_text(&to->provider_after, text));
}

void take_nic_setting(struct result_nic_setting *to, const int setting[3], int error, const struct options *o)
{
	*to = (struct result_nic_setting){ .known = !error };
	if (error)
		return;
	memcpy(to->value, setting, sizeof(to->value));
	to->stamps = nic_stamps(setting, o);
	snprintf(to->transmit, sizeof(to->transmit), "%s", nic_tx_type_name(setting[1]));
	snprintf(to->filter, sizeof(to->filter), "%s", nic_filter_name(setting[2]));
}
