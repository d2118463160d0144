/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of an emitter's source ports (hot): the reflector has a session for each, with its own reply
 * numbers; the kernel a socket, with its own timestamp ids; and the network perhaps a separate path.
 */
#ifndef MEASURE_SOURCE_PORT_H
#define MEASURE_SOURCE_PORT_H

#include "measure/window.h"
#include "rant.h"
#include "result/source_port.h"

struct exchange;
struct flight;

#define SOURCE_PORT_REPLIES 64 /* more than the replies waiting for T3 on one port, a power of two */

/* All zeros initially, except id_key and id_mask. */
struct port_state {
	struct replies replies;
	uint32_t reply_key[SOURCE_PORT_REPLIES];
	uint32_t *id_key; /* flight key by timestamp id, id_mask + 1 entries */
	uint32_t id_mask; /* older ids are found by search */
};

/* Size of `ports` with id rings for this number of flights in all. */
size_t source_ports_bytes(unsigned ports, uint32_t flights);

/* Lays the ports out in zeroed memory of that size: x->port, x->source_port, x->source_ports,
 * and the two of x->result. */
void source_ports_assign(struct exchange *x, unsigned ports, uint32_t flights, void *memory);

/* Notes a packet sent by its port: f->peer_socket and f->id are set; sets f->port_seq. */
void source_port_note_sent(struct exchange *x, struct flight *f);

/* The kernel has reported the id of a packet. */
void source_port_note_id(struct exchange *x, const struct flight *f);

/* The flight on channel->at whose timestamp has this id; NULL: search the ring, which may not have it
 * either. */
struct flight *source_port_flight(struct exchange *x, uint32_t id);

/* Counts a recorded sample. */
void source_port_note(struct exchange *x, const struct flight *f);

/* Call once after the run, also without source ports: computes the loss by direction in
 * x->result.directions. */
void source_ports_finish(struct exchange *x);

#endif
