/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an emitter with several source ports knows of each (hot): to the reflector each is a session, with its own
 * numbers of replies; to the kernel a socket, with its own ids of stamps; and on the way perhaps a path of its own.
 */
#ifndef MEASURE_SOURCE_PORT_H
#define MEASURE_SOURCE_PORT_H

#include "measure/window.h"
#include "rant.h"
#include "result/source_port.h"

struct exchange;
struct flight;

#define SOURCE_PORT_REPLIES 64 /* more than T3 of one is waited for, a power of two */

/* All zeros to begin with, but for where ids are. */
struct port_state {
	struct replies replies;
	uint32_t reply_key[SOURCE_PORT_REPLIES];
	uint32_t *id_key; /* of the packet whose stamp has this id, as many as the mask says and one more; */
	uint32_t id_mask; /* those before are looked for */
};

/* Octets of `ports` with room for the ids of so many flights in all. */
size_t source_ports_bytes(unsigned ports, uint32_t flights);

/* Lays them out in memory of that size that is all zeros: x->port, x->result.port and x->result.ports. */
void source_ports_place(struct exchange *x, unsigned ports, uint32_t flights, void *memory);

/* A packet left by its port: f->lane and f->id are its own; f->port_seq becomes so. */
void source_port_note_sent(struct exchange *x, struct flight *f);

/* The kernel has told the id of a packet. */
void source_port_note_id(struct exchange *x, const struct flight *f);

/* The flight on channel->at whose stamp has this id; NULL: it is to be looked for, and may be in none. */
struct flight *source_port_flight(struct exchange *x, uint32_t id);

/* A sample was recorded. */
void source_port_note(struct exchange *x, const struct flight *f);

/* To be called once, after the run, also where there are no ports: what became of the loss, by direction, in
 * x->result.directions. */
void source_ports_finish(struct exchange *x);

#endif
