/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of each source port of an emitter that has several. */
#ifndef RESULT_SOURCE_PORT_H
#define RESULT_SOURCE_PORT_H

#include "rant.h"
#include "result/ipdv.h"
#include "wire/sequence.h"

/* Initially all zeros. */
struct source_port {
	uint16_t number; /* of UDP */
	struct directions directions;
	struct ipdv_metric rtt; /* of the recorded samples */
	struct ipdv_metric network; /* RTT less response, of the samples whose response is known */
	uint64_t sent; /* with the closing probe */
	uint64_t lost; /* as account.lost */
	uint64_t refused; /* sends */
};

/* True if ports are compared by `network`. Where it is known it decides alone, because the response time of the
 * reflector does not depend on the path. */
bool source_ports_by_network(const struct source_port *port, unsigned ports);

/* The metric by which ports are compared. */
static inline const struct ipdv_metric *source_port_metric(const struct source_port *p, bool by_network)
{
	return by_network ? &p->network : &p->rtt;
}

/* Index of the port with the largest share of lost probes, and among equal shares with the highest p99; -1: no port has
 * sent. */
int source_ports_worst(const struct source_port *port, unsigned ports);

#endif
