// SPDX-License-Identifier: GPL-2.0-or-later
/* State of an emitter's source ports (hot). */
#include "measure/source_port.h"

#include "measure/exchange.h"

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Id ring of a port; if a port sends more than its share (others are refused), older ids are found by
 * search. */
static uint32_t ids_of(unsigned ports, uint32_t flights)
{
	uint32_t ids = 64;

	while (ids < flights / ports)
		ids *= 2;
	return ids;
}

size_t source_ports_bytes(unsigned ports, uint32_t flights)
{
	const size_t of_port = sizeof(struct source_port) + sizeof(struct result_port) + sizeof(struct port_state);

	return ports * (of_port + ids_of(ports, flights) * sizeof(uint32_t));
}

void source_ports_assign(struct exchange *x, unsigned ports, uint32_t flights, void *memory)
{
	const uint32_t ids = ids_of(ports, flights);

	x->source_port = memory;
	x->source_ports = x->result.ports = ports;
	x->result.port = (struct result_port *)(x->source_port + ports);
	x->port = (struct port_state *)(x->result.port + ports);
	for (unsigned i = 0; i < ports; i++) {
		struct port_state *p = &x->port[i];

		p->id_key = (uint32_t *)(x->port + ports) + (size_t)i * ids;
		p->id_mask = ids - 1;
		p->replies = (struct replies){ .key = p->reply_key, .mask = SOURCE_PORT_REPLIES - 1 };
	}
}

/* ---- Ids of stamps ----------------------------------------------------------------------------------------------- */

void source_port_note_id(struct exchange *x, const struct flight *f)
{
	struct port_state *p = &x->port[f->peer_socket];

	p->id_key[f->id & p->id_mask] = f->key;
}

void source_port_note_sent(struct exchange *x, struct flight *f)
{
	f->port_seq = (uint32_t)x->source_port[f->peer_socket].sent++;
	if (!f->unasked)
		source_port_note_id(x, f);
}

struct flight *source_port_flight(struct exchange *x, uint32_t id)
{
	const unsigned peer_socket = x->channel->at->number;
	const struct port_state *p = &x->port[peer_socket];
	struct flight *f = &x->flight[p->id_key[id & p->id_mask] & x->flight_mask];

	return f->id == id && f->peer_socket == peer_socket && f->state != FLIGHT_NONE ? f : NULL;
}

/* ---- Delays ------------------------------------------------------------------------------------------------------ */

void source_port_note(struct exchange *x, const struct flight *f)
{
	struct source_port *p = &x->source_port[f->peer_socket];
	int64_t ns;

	ipdv_count(&p->rtt, (uint64_t)f->sample.latency_ns);
	if (stages_value(&x->result.stages[STAGE_NETWORK], &f->sample, &ns) && ns >= 0)
		ipdv_count(&p->network, (uint64_t)ns);
}

/* ---- After the run ----------------------------------------------------------------------------------------------- */

static void add(struct directions *all, const struct directions *d)
{
	all->reported |= d->reported;
	all->lost_forward += d->lost_forward;
	all->lost_backward += d->lost_backward;
	all->discarded += d->discarded;
	all->discard_reasons |= d->discard_reasons;
	all->lost_unknown += d->lost_unknown;
	all->reordered_forward += d->reordered_forward;
	all->reordered_backward += d->reordered_backward;
	all->duplicate_forward += d->duplicate_forward;
	all->duplicate_backward += d->duplicate_backward;
	all->restarts += d->restarts;
}

void source_ports_finish(struct exchange *x)
{
	if (!x->port)
		directions_finish(&x->result.directions, counter_get(&x->result.account.sent));
	for (unsigned i = 0; i < x->source_ports; i++) {
		directions_finish(&x->source_port[i].directions, x->source_port[i].sent);
		add(&x->result.directions, &x->source_port[i].directions);
	}
}
