// SPDX-License-Identifier: GPL-2.0-or-later
/* Limit of outstanding transmit timestamps of a NIC (hot). */
#include "measure/inside.h"

#include "measure/verbs.h"

/* A timestamp is taken as missing if it takes longer than this, and longer than a multiple of the slowest
 * so far; it is still used if it arrives. */
#define OVERDUE_NS (10 * NS_PER_MS)
#define OVERDUE_TIMES 4
#define STAMPS_ENOUGH 64 /* good timestamps before the limit grows by one */

void window_stamps_begin(struct exchange *x)
{
	struct window *w = &x->window;
	const bool unlimited = !x->channel->tx_stamps || channel_sent_source(x->channel) != SOURCE_HARDWARE;

	w->stamps_most = unlimited ? w->most : 1;
}

void window_stamps_pass(struct exchange *x)
{
	struct window *w = &x->window;

	for (; w->stamp_key != x->next_key; w->stamp_key++) {
		const struct flight *f = verb_flight_of(x, w->stamp_key);

		if (f->state == FLIGHT_WAITING)
			break;
		w->stamps_good += f->state == FLIGHT_STAMPED && !f->unasked;
	}
	if (!w->stamps_held || w->stamps_limited || w->stamps_good < STAMPS_ENOUGH)
		return;
	w->stamps_most += w->stamps_most < w->most;
	w->stamps_good = 0;
	w->stamps_held = false;
}

static void note_stamp_overdue(struct window *w, const struct flight *f)
{
	w->stamps_out--;
	w->stamps_good = 0;
	if (f->stamps_out < 2 || f->stamps_out > w->stamps_most)
		return; /* not for other flights, or when the limit has changed */
	w->stamps_limited = true;
	w->stamps_most = f->stamps_out - 1;
}

int64_t window_stamps_drain_timeout_ns(const struct exchange *x)
{
	const int64_t slow_ns = OVERDUE_TIMES * x->window.slowest_stamp_ns,
				ns = slow_ns > OVERDUE_NS ? slow_ns : OVERDUE_NS;

	return ns < x->options->timeout_ns ? ns : x->options->timeout_ns;
}

void window_stamps_look(struct exchange *x)
{
	struct window *w = &x->window;
	const int64_t overdue_ns = window_stamps_drain_timeout_ns(x);

	for (window_stamps_pass(x); w->stamp_key != x->next_key; window_stamps_pass(x)) {
		const struct flight *f = verb_flight_of(x, w->stamp_key);

		if (window_age(f, w->stamp_queue.read_ns) < overdue_ns)
			return;
		note_stamp_overdue(w, f);
		w->stamp_key++;
	}
}
