/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of each source port of an emitter that has several. */
#ifndef RESULT_SOURCE_PORT_H
#define RESULT_SOURCE_PORT_H

#include "rant.h"
#include "result/ipdv.h"
#include "wire/sequence.h"

/* A port during the run. Initially all zeros. */
struct source_port {
	uint16_t number; /* of UDP */
	struct directions directions;
	struct ipdv_metric rtt; /* of the recorded samples */
	struct ipdv_metric network; /* RTT less response, of the samples whose response is known */
	uint64_t sent; /* with the closing probe */
	uint64_t lost; /* as account.lost */
	uint64_t refused; /* sends */
};

/* A port after the run. */
struct result_port {
	uint16_t number; /* of UDP */
	bool directions_known; /* the next two are known */
	uint64_t lost_forward, lost_backward;
	uint64_t samples; /* recorded */
	uint64_t sent, lost, refused; /* as in struct source_port */
	bool has_delay; /* the next three are known: of the metric by which the ports are compared */
	uint64_t p50_ns, p99_ns, max_ns;
};

/* Sets `ports` elements. True: the ports are compared by `network`. Where it is known it decides alone, because the
 * response time of the reflector does not depend on the path. */
bool source_ports_result(struct result_port *to, const struct source_port *from, unsigned ports);

/* Index of the port with the largest share of lost probes, and among equal shares with the highest p99; -1: no port has
 * sent. */
int source_ports_worst(const struct result_port *port, unsigned ports);

#endif
