/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lane a reflector asks in each turn of its loop, and who gets one (hot): see wire/lane.h. For reflect.c
 * alone. */
#ifndef MEASURE_TURNS_H
#define MEASURE_TURNS_H

#include "measure/verbs.h"
#include "wire/lane.h"

/* A reflector needs the clock for rate limits and idle times only, and reads it in every so many turns, each of which
 * is a system call or more. */
#define REFLECT_CLOCK_TURNS 64
/* while only others are in use, one that listens is asked in every so many: who is new waits microseconds */
#define FIRST_TURNS 16
#define UNREAD_MAX 64 /* datagrams of one that listens for which the others wait while one is given to a sender */

/* A busy session gets a lane. What its sender has sent before that waits in the one that listens, and comes before what
 * is in the new one: if too much does, another time. */
static inline void turns_hand_over(struct exchange *x)
{
	struct lane *l, *from = x->channel->at;

	if (lane_backlog(from) > UNREAD_MAX)
		return;
	l = lane_take(x->channel, &x->arrival.from, x->now_ns);
	if (!l)
		return;
	if (x->reflect.hots < (unsigned)x->channel->lanes) /* after a doze all are in it */
		x->reflect.hot[x->reflect.hots++] = l;
	x->reflect.first = from->number;
	x->reflect.unread = lane_backlog(from) + 1;
}

/* Of every so many requests of a session that came by a lane that listens. */
static inline void turns_look_if_busy(struct exchange *x, struct session *session)
{
	const bool is_busy = x->now_ns - session->counted_ns <= LANE_IDLE_NS;

	session->counted_ns = x->now_ns;
	if (is_busy && lane_fits(x->channel, &x->arrival))
		turns_hand_over(x);
}

/* Those by which something came of late; by one that listens, since it was looked: who is new gets a lane, or there is
 * none for him. The others are asked too, but seldom. */
static inline void turns_choose_hot(struct exchange *x)
{
	struct channel *c = x->channel;

	x->reflect.hots = 0;
	for (struct lane *l = c->lane; l < &c->lane[c->listeners]; l++) {
		if (l->received != l->looked) {
			x->reflect.hot[x->reflect.hots++] = l;
			x->reflect.first = x->reflect.unread ? x->reflect.first : l->number;
		}
		l->looked = l->received;
	}
	for (struct lane *l = &c->lane[c->listeners]; l < &c->lane[c->lanes]; l++)
		if (x->now_ns - l->used_ns < LANE_IDLE_NS)
			x->reflect.hot[x->reflect.hots++] = l;
}

/* The lane that is asked in this turn. */
INLINE struct lane *turns_choose_lane(struct exchange *x)
{
	struct channel *c = x->channel;

	if (!x->reflect.unread && x->turn % REFLECT_CLOCK_TURNS == 0) {
		x->reflect.next_cold = x->reflect.next_cold + 1 < (unsigned)c->lanes ? x->reflect.next_cold + 1 : 0;
		return &c->lane[x->reflect.next_cold];
	}
	if (x->reflect.unread)
		return &c->lane[x->reflect.first];
	/* Of two, one in each second of these turns. */
	if (x->turn % FIRST_TURNS == 0)
		return &c->lane[c->listeners > 1 && x->turn % (2 * FIRST_TURNS) == 0];
	if (!x->reflect.hots)
		return &c->lane[x->reflect.first];
	x->reflect.next_hot = x->reflect.next_hot + 1 < x->reflect.hots ? x->reflect.next_hot + 1 : 0;
	return x->reflect.hot[x->reflect.next_hot];
}

/* After one request and none behind it the only sender there is waits for the answer: now the others are asked, in the
 * next turn, and not when he is back. */
INLINE void turns_note(struct exchange *x, bool came)
{
	x->reflect.came = x->reflect.came << 1 | came;
	if (x->reflect.hots == 1 && (x->reflect.came & 7) == 2)
		x->turn |= FIRST_TURNS - 1;
}

#endif
