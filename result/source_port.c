// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparison of the source ports of an emitter. */
#include "result/source_port.h"

bool source_ports_by_network(const struct source_port *port, unsigned ports)
{
	for (unsigned i = 0; i < ports; i++)
		if (port[i].network.count)
			return true;
	return false;
}

/* True if a is worse than b. Both have sent. */
static bool is_worse(const struct source_port *a, const struct source_port *b, bool by_network)
{
	const unsigned __int128 a_share = (unsigned __int128)a->lost * b->sent,
					  b_share = (unsigned __int128)b->lost * a->sent;
	const struct ipdv_metric *of_a = source_port_metric(a, by_network),
					      *of_b = source_port_metric(b, by_network);

	if (a_share != b_share)
		return a_share > b_share;
	return of_a->count && (!of_b->count || ipdv_percentile(of_a, 99, 100) > ipdv_percentile(of_b, 99,
												100));
}

int source_ports_worst(const struct source_port *port, unsigned ports)
{
	const bool by_network = source_ports_by_network(port, ports);
	int worst = -1;

	for (unsigned i = 0; i < ports; i++)
		if (port[i].sent && (worst < 0 || is_worse(&port[i], &port[worst], by_network)))
			worst = (int)i;
	return worst;
}
