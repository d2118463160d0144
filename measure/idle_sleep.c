// SPDX-License-Identifier: GPL-2.0-or-later
/* Idle sleep of a reflector without requests (hot). */
#include "measure/idle_sleep.h"

#include "measure/exchange.h"

/* Notes the response time of the request that woke the loop, if answered. Its ring entry may be reused by
 * now. */
static void look_at_woken(struct exchange *x, bool waiting)
{
	struct idle_sleep_state *d = &x->reflect.idle_sleep_state;
	const struct flight *f = &x->flight[d->key & x->flight_mask];
	const struct sample *s = &f->sample;

	if (waiting && f->state == FLIGHT_WAITING && f->key == d->key && x->next_key != d->key)
		return;
	d->woken = false;
	if (x->next_key == d->key)
		return; /* the datagram was not answered */
	counter_add(&x->result.account.woken, 1);
	if (f->key != d->key || !s->source[x->from] || !s->source[x->to])
		return;
	if (s->time_ns[x->to] - s->time_ns[x->from] <= x->result.woken_slowest_ns.value)
		return;
	x->result.woken_slowest_ns = optional_of(s->time_ns[x->to] - s->time_ns[x->from]);
	x->result.woken_slowest_seq = s->seq;
}

bool idle_sleep_is_due(struct exchange *x, bool waiting)
{
	struct idle_sleep_state *d = &x->reflect.idle_sleep_state;
	const uint64_t received = counter_get(&x->result.account.received);

	if (d->woken)
		look_at_woken(x, waiting);
	if (received != d->heard || !d->heard_ns) {
		d->heard = received;
		d->heard_ns = x->now_ns;
		return false;
	}
	return !waiting && !x->options->spin && x->now_ns - d->heard_ns >= IDLE_SLEEP_AFTER_NS;
}

/* Not past the end of the run. */
static int64_t limit_ns(const struct exchange *x)
{
	const struct options *o = x->options;
	int64_t until_ns = x->now_ns + IDLE_SLEEP_NS;

	if (x->result.started && o->duration_ns && x->result.began_ns + o->duration_ns < until_ns)
		until_ns = x->result.began_ns + o->duration_ns;
	if (o->once && x->reflect.emitters_probes &&
	    x->reflect.emitters_silent_since_ns + o->once_silence_ns < until_ns)
		until_ns = x->reflect.emitters_silent_since_ns + o->once_silence_ns;
	return until_ns > x->now_ns ? until_ns - x->now_ns : 0;
}

bool idle_sleep(struct exchange *x)
{
	struct channel *c = x->channel;

	atomic_store_explicit(&x->result.asleep, true, memory_order_relaxed);
	const bool woken = stamp_wait(c, true, limit_ns(x));

	exchange_note_rest(x);
	if (woken) {
		atomic_store_explicit(&x->result.asleep, false, memory_order_relaxed);
		x->reflect.idle_sleep_state.woken = true;
		x->reflect.idle_sleep_state.key = x->next_key;
		x->reflect.idle_sleep_state.heard_ns = 0;
		for (x->reflect.hots = 0; x->reflect.hots < (unsigned)c->peer_sockets; x->reflect.hots++)
			x->reflect.hot[x->reflect.hots] = &c->peer_socket[x->reflect.hots];
		return true;
	}
	/* the sockets were empty after the clock was read */
	for (struct peer_socket *l = c->peer_socket; l < &c->peer_socket[c->peer_sockets]; l++)
		l->empty_ns = x->now_ns;
	return false;
}
