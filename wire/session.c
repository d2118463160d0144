// SPDX-License-Identifier: GPL-2.0-or-later
/* The reflector's sessions (hot): a table of fixed size, with hash chains and an order of use. Both are
 * linked by indices, ended by NONE. */
#include "wire/session.h"

#include "wire/sequence.h"

#include <string.h>

#define NONE UINT16_MAX

/*
 * A sender that chooses addresses, ports and SSIDs must not be able to choose its chain, as it could with a
 * constant multiplier, which is easily inverted. The sum is pairwise independent hashing of 32-bit words
 * (Dietzfelbinger 1996): for any two different senders its upper half is a pair of independent random
 * numbers over the secret, which no packet reveals, so they share a slot with probability 1 in
 * SESSION_SLOTS. The final mixing is a constant permutation and keeps that; it spreads consecutive ports,
 * which have evenly spaced sums, over the slots.
 */
static unsigned hash(const struct sessions *s, const struct session_sender *key)
{
	const uint64_t *secret = s->secret;
	uint64_t sum = secret[0] + secret[1] * (uint32_t)key->address[0] + secret[2] * (key->address[0] >> 32) +
		       secret[3] * (uint32_t)key->address[1] + secret[4] * (key->address[1] >> 32) +
		       secret[5] * ((uint32_t)key->port << 16 | key->ssid);
	uint32_t h = (uint32_t)(sum >> 32);

	h = (h ^ h >> 16) * 0x7feb352d;
	h = (h ^ h >> 15) * 0x846ca68b;
	_Static_assert(SESSION_SLOTS == 1 << 11, "the hash mixes the upper bits");
	return h >> (32 - 11);
}

static bool same(const struct session_sender *a, const struct session_sender *b)
{
	return a->address[0] == b->address[0] && a->address[1] == b->address[1] && a->port == b->port &&
	       a->ssid == b->ssid;
}

static void unlink_use(struct sessions *s, uint16_t i)
{
	struct session *e = &s->session[i];

	if (e->newer == NONE)
		s->newest = e->older;
	else
		s->session[e->newer].older = e->older;
	if (e->older == NONE)
		s->oldest = e->newer;
	else
		s->session[e->older].newer = e->newer;
}

static void link_newest(struct sessions *s, uint16_t i)
{
	s->session[i].newer = NONE;
	s->session[i].older = s->newest;
	if (s->newest == NONE)
		s->oldest = i;
	else
		s->session[s->newest].newer = i;
	s->newest = i;
}

static uint16_t evict_oldest(struct sessions *s)
{
	uint16_t i = s->oldest;
	uint16_t *link = &s->slot[hash(s, &s->session[i].sender)];

	while (*link != i)
		link = &s->session[*link].chain;
	*link = s->session[i].chain;
	unlink_use(s, i);
	counter_add(&s->evicted, 1);
	return i;
}

void sessions_init(struct sessions *s, uint32_t limit, int64_t rate_limit, const uint64_t secret[SESSION_SECRETS])
{
	memset(s, 0, offsetof(struct sessions, newest_t1_ns));
	memset(s->slot, 0xff, sizeof(s->slot));
	s->newest = s->oldest = NONE;
	s->limit = limit;
	s->interval_ns = rate_limit ? (NS_PER_S + rate_limit - 1) / rate_limit : 0;
	memcpy(s->secret, secret, sizeof(s->secret));
}

/* A new session in the slot, or NULL. */
static struct session *open_session(struct sessions *s, const struct session_sender *sender, uint16_t *head,
				    int64_t now_ns)
{
	uint16_t i;

	if (s->used < s->limit)
		i = (uint16_t)s->used++;
	else if (now_ns - s->session[s->oldest].used_ns >= SESSION_IDLE_NS)
		i = evict_oldest(s);
	else
		return NULL;
	s->session[i] = (struct session){ .sender = *sender, .chain = *head, .used_ns = now_ns };
	*head = i;
	link_newest(s, i);
	counter_add(&s->opened, 1);
	return &s->session[i];
}

struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid, int64_t now_ns)
{
	struct session_sender sender = { .ssid = ssid };

	address_as_ipv6(peer, sender.address);
	sender.port = peer->any.sa_family == AF_INET6 ? peer->in6.sin6_port : peer->in.sin_port;
	/* Ping-pong with a single emitter finds its session here. */
	if (s->newest != NONE && same(&s->session[s->newest].sender, &sender)) {
		s->session[s->newest].used_ns = now_ns;
		return &s->session[s->newest];
	}

	uint16_t *head = &s->slot[hash(s, &sender)];

	for (uint16_t i = *head; i != NONE; i = s->session[i].chain) {
		if (same(&s->session[i].sender, &sender)) {
			unlink_use(s, i);
			link_newest(s, i);
			s->session[i].used_ns = now_ns;
			return &s->session[i];
		}
	}
	return open_session(s, &sender, head, now_ns);
}

struct session *sessions_stateless(struct sessions *s, uint32_t seq)
{
	struct session *e = &s->session[SESSIONS_MAX];

	*e = (struct session){ .stateless = true, .reply_seq = seq, .due_ns = e->due_ns };
	return e;
}

bool session_replayed(struct sessions *sessions, struct session *s, uint32_t seq, int64_t t1_ns)
{
	int64_t *newest_ns = &sessions->newest_t1_ns[s->sender.ssid];
	struct sequence_window look = s->numbers;

	if (!s->requests && s->sender.ssid && t1_ns <= *newest_ns)
		return true;
	if (t1_ns > *newest_ns)
		*newest_ns = t1_ns;
	if (!s->requests || t1_ns > s->t1_ns) {
		if (!s->requests || seq <= s->numbers.highest) {
			s->numbers.noted = 0;
			s->first_t1_ns = t1_ns;
		}
		s->t1_ns = t1_ns;
		return false;
	}
	switch (sequence_note(&look, seq)) {
	case ORDER_NEXT:
		return t1_ns != s->t1_ns;
	case ORDER_REORDERED:
		return t1_ns < s->first_t1_ns;
	case ORDER_DUPLICATE:
	case ORDER_OLD:
		break;
	}
	return true;
}

/* Token bucket, represented by the time at which it is full (GCRA, ITU-T I.371): no division. */
bool session_over_rate(const struct sessions *sessions, struct session *s, int64_t now_ns)
{
	if (!sessions->interval_ns)
		return false;
	if (s->due_ns - now_ns > SESSION_AHEAD_NS) {
		s->requests++;
		s->discarded++;
		s->discard_reasons |= DISCARD_OVER_RATE;
		return true;
	}
	s->due_ns = (s->due_ns > now_ns ? s->due_ns : now_ns) + sessions->interval_ns;
	return false;
}

enum order session_note(struct session *s, uint32_t seq)
{
	enum order order = sequence_note(&s->numbers, seq);

	s->requests++;
	if (order != ORDER_OLD)
		return order;
	/* Far below: a sender that restarted at 0 with the same address, or a packet delayed in the
	 * network. */
	s->numbers.noted = 0;
	sequence_note(&s->numbers, seq);
	return seq == 0 ? ORDER_NEXT : ORDER_REORDERED;
}

unsigned session_departures(const struct session *s, struct packet_departure to[FOLLOW_UPS_MAX])
{
	unsigned count = 0;

	for (uint32_t back = 1; back <= SESSION_REPLIES && count < FOLLOW_UPS_MAX; back++) {
		const uint32_t seq = s->reply_seq - back;
		const struct session_reply *reply = &s->reply[seq % SESSION_REPLIES];

		if (reply->method != PACKET_METHOD_NONE)
			to[count++] = (struct packet_departure){ .seq = seq, .method = reply->method, .ns = reply->ns,
								 .kernel = reply->kernel, .queue_ns = reply->queue_ns,
								 .driver_ns = reply->driver_ns };
	}
	return count;
}
