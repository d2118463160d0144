/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Socket polling order of a reflector, and assignment of per-peer sockets (hot): see wire/peer_socket.h. For
 * reflect.c only. Each iteration of the loop polls one socket, the first of these that applies:
 * 1. after a per-peer socket was assigned: the listening socket, until its queued datagrams are read;
 * 2. in one of 64 iterations: the next of all sockets in turn;
 * 3. in one of 16: a listening socket;
 * 4. the next hot socket in turn; without any, the listening socket that received last.
 * Right after an answer to the only busy sender, when it cannot be back, the next iteration polls a listening socket.
 *
 * Compared with the socket of the last request, and epoll(7) for the others, which has as many lines: epoll had a rate
 * of 0.94 with one emitter, of 0.93 with eight busy source ports, and of 1.10 with eight emitters on one CPU, of which
 * one sends at a time (kernel timestamps, medians of 22 pairs).
 */
#ifndef MEASURE_POLLING_ORDER_H
#define MEASURE_POLLING_ORDER_H

#include "measure/verbs.h"
#include "wire/peer_socket.h"

/* Loop iterations, each at least one system call, between two readings of the clock, which only rate limits
 * and idle times need. */
#define REFLECT_CLOCK_TURNS 64
/* polling period of a listening socket while only per-peer sockets are in use: a new sender waits
 * microseconds */
#define FIRST_TURNS 16
#define UNREAD_MAX 64 /* queued datagrams of a listening socket beyond which no per-peer socket is assigned */

/* Assigns a per-peer socket to a busy session. Datagrams queued in the listening socket are read before the
 * new socket: if too many are queued, the assignment is retried later. */
static inline void polling_hand_over(struct exchange *x)
{
	struct peer_socket *l, *from = x->channel->at;

	if (peer_socket_backlog(from) > UNREAD_MAX)
		return;
	l = peer_socket_take(x->channel, &x->arrival.from, x->now_ns);
	if (!l)
		return;
	if (x->reflect.hots < (unsigned)x->channel->peer_sockets) /* after an idle sleep all sockets are hot */
		x->reflect.hot[x->reflect.hots++] = l;
	x->reflect.first = from->number;
	x->reflect.unread = peer_socket_backlog(from) + 1;
}

/* Called every PEER_SOCKET_REQUESTS requests of a session that arrive at a listening socket. */
static inline void polling_look_if_busy(struct exchange *x, struct session *session)
{
	const bool is_busy = x->now_ns - session->counted_ns <= PEER_SOCKET_IDLE_NS;

	session->counted_ns = x->now_ns;
	if (is_busy && peer_socket_fits(x->channel, &x->arrival))
		polling_hand_over(x);
}

/* The hot sockets: those with recent requests, and a listening socket until it is checked: a new sender
 * gets a per-peer socket or none is free. The other sockets are polled rarely. */
static inline void polling_choose_hot(struct exchange *x)
{
	struct channel *c = x->channel;

	x->reflect.hots = 0;
	for (struct peer_socket *l = c->peer_socket; l < &c->peer_socket[c->listeners]; l++) {
		if (l->received != l->looked) {
			x->reflect.hot[x->reflect.hots++] = l;
			x->reflect.first = x->reflect.unread ? x->reflect.first : l->number;
		}
		l->looked = l->received;
	}
	for (struct peer_socket *l = &c->peer_socket[c->listeners]; l < &c->peer_socket[c->peer_sockets]; l++)
		if (x->now_ns - l->used_ns < PEER_SOCKET_IDLE_NS)
			x->reflect.hot[x->reflect.hots++] = l;
}

/* The socket to poll in this iteration. */
INLINE struct peer_socket *polling_choose_peer_socket(struct exchange *x)
{
	struct channel *c = x->channel;

	if (!x->reflect.unread && x->turn % REFLECT_CLOCK_TURNS == 0) {
		x->reflect.next_cold = x->reflect.next_cold + 1 < (unsigned)c->peer_sockets ? x->reflect.next_cold + 1 :
			0;
		return &c->peer_socket[x->reflect.next_cold];
	}
	if (x->reflect.unread)
		return &c->peer_socket[x->reflect.first];
	/* With two, each in alternate iterations. */
	if (x->turn % FIRST_TURNS == 0)
		return &c->peer_socket[c->listeners > 1 && x->turn % (2 * FIRST_TURNS) == 0];
	if (!x->reflect.hots)
		return &c->peer_socket[x->reflect.first];
	x->reflect.next_hot = x->reflect.next_hot + 1 < x->reflect.hots ? x->reflect.next_hot + 1 : 0;
	return x->reflect.hot[x->reflect.next_hot];
}

/* After a single request the only sender waits for the answer: poll the other sockets in the next
 * iteration, not when its next request is due. */
INLINE void polling_note(struct exchange *x, bool came)
{
	x->reflect.came = x->reflect.came << 1 | came;
	if (x->reflect.hots == 1 && (x->reflect.came & 7) == 2)
		x->turn |= FIRST_TURNS - 1;
}

#endif
