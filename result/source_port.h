/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an emitter with several source ports leaves of each, and which is the worst. */
#ifndef RESULT_SOURCE_PORT_H
#define RESULT_SOURCE_PORT_H

#include "rant.h"
#include "result/variation.h"
#include "wire/sequence.h"

/* All zeros to begin with. */
struct source_port {
	uint16_t number; /* of UDP */
	struct directions directions;
	/* Of what was recorded, their distribution: the round trip; and without the response, where that is known. */
	struct variation_figure rtt, network;
	uint64_t sent; /* the closing probe too */
	uint64_t lost; /* as account.lost */
	uint64_t refused; /* sends */
};

/* Are ports compared by `network`? Then by nothing else: how long the reflector lets a probe wait is none of the
 * path's. */
bool source_ports_by_network(const struct source_port *port, unsigned ports);

/* The figure that ports are compared by. */
static inline const struct variation_figure *source_port_figure(const struct source_port *p, bool by_network)
{
	return by_network ? &p->network : &p->rtt;
}

/* Of those that have sent the one that lost the largest share, and of equal ones that whose 99th percentile is highest;
 * -1: none has. */
int source_ports_worst(const struct source_port *port, unsigned ports);

#endif
