/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NIC and its link during the run. */
#ifndef RESULT_NIC_H
#define RESULT_NIC_H

#include "host/nic/link.h"
#include "host/nic/nic.h"
#include "rant.h"

/* A timestamp setting of the NIC, with its names in 'ethtool -T'. */
struct result_nic_setting {
	bool known; /* false: all zeros */
	int value[3]; /* of struct hwtstamp_config */
	bool stamps; /* the packets of this run */
	char transmit[24], filter[32];
};

/* All zeros: not known. */
struct result_nic {
	char name[IFNAMSIZ]; /* empty: not known */
	char driver[sizeof(((struct nic *)NULL)->driver)];
	char bus[sizeof(((struct nic *)NULL)->bus)]; /* empty: not reported */
	struct optional mtu; /* octets */
	struct optional phc_index; /* the clock of its hardware timestamps */
	bool changed; /* its timestamp setting was changed for the run */
	struct result_nic_setting setting[2]; /* before and after the run */
	struct nic_details details; /* before the run: for --jsonl only */
	char stamper[IFNAMSIZ]; /* interface whose NIC stamps; empty: not known */
	bool stamper_is_other; /* it is not this interface */
	unsigned moves; /* changes of the stamper during the run */
	struct nic_provider provider; /* of the timestamps, before the run */
	struct nic_provider provider_after;
	unsigned provider_changes; /* during the run */
	char provider_text[NIC_PROVIDER_BYTES], provider_after_text[NIC_PROVIDER_BYTES]; /* empty: `provider` is not known */
	struct link_state before, after; /* the run */
};

static inline bool nic_is_known(const struct result_nic *n)
{
	return *n->name;
}

#endif
