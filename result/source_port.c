// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparison of the source ports of an emitter. */
#include "result/source_port.h"

static bool is_by_network(const struct source_port *port, unsigned ports)
{
	for (unsigned i = 0; i < ports; i++)
		if (port[i].network.count)
			return true;
	return false;
}

static void take_delay(struct result_port *to, const struct ipdv_metric *from)
{
	struct ipdv_figures f;

	ipdv_figures(&f, from);
	to->has_delay = f.count;
	to->p50_ns = f.p50_ns;
	to->p99_ns = f.p99_ns;
	to->max_ns = f.max_ns;
}

bool source_ports_result(struct result_port *to, const struct source_port *from, unsigned ports)
{
	const bool by_network = is_by_network(from, ports);

	for (unsigned i = 0; i < ports; i++) {
		const struct source_port *p = &from[i];

		to[i] = (struct result_port){ .number = p->number, .directions_known = p->directions.reported,
					      .lost_forward = p->directions.lost_forward,
					      .lost_backward = p->directions.lost_backward, .samples = p->rtt.count,
					      .sent = p->sent, .lost = p->lost, .refused = p->refused };
		take_delay(&to[i], by_network ? &p->network : &p->rtt);
	}
	return by_network;
}

/* True if a is worse than b. Both have sent. */
static bool is_worse(const struct result_port *a, const struct result_port *b)
{
	const unsigned __int128 a_share = (unsigned __int128)a->lost * b->sent,
					  b_share = (unsigned __int128)b->lost * a->sent;

	if (a_share != b_share)
		return a_share > b_share;
	return a->has_delay && (!b->has_delay || a->p99_ns > b->p99_ns);
}

int source_ports_worst(const struct result_port *port, unsigned ports)
{
	int worst = -1;

	for (unsigned i = 0; i < ports; i++)
		if (port[i].sent && (worst < 0 || is_worse(&port[i], &port[worst])))
			worst = (int)i;
	return worst;
}
