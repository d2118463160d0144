// SPDX-License-Identifier: GPL-2.0-or-later
/* The reflector's sessions (hot): a table of fixed size, with hash chains and an order of use. Both are made of
 * indices, and NONE ends them. */
#include "wire/session.h"

#include "wire/sequence.h"

#include <string.h>

#define NONE UINT16_MAX

static unsigned hash(const struct session *key)
{
	uint64_t h = key->address[0] ^ (key->address[1] * 0x9e3779b97f4a7c15ULL) ^ ((uint64_t)key->port << 16) ^
		     key->ssid;

	/* Multiplicative hashing: the upper bits are the mixed ones. */
	return (unsigned)((h * 0x9e3779b97f4a7c15ULL) >> 53) % SESSION_SLOTS;
}

static bool same(const struct session *a, const struct session *b)
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
	uint16_t *link = &s->slot[hash(&s->session[i])];

	while (*link != i)
		link = &s->session[*link].chain;
	*link = s->session[i].chain;
	unlink_use(s, i);
	counter_add(&s->evicted, 1);
	return i;
}

void sessions_init(struct sessions *s)
{
	memset(s, 0, sizeof(*s));
	memset(s->slot, 0xff, sizeof(s->slot));
	s->newest = s->oldest = NONE;
}

struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid)
{
	struct session key = { .ssid = ssid };

	if (peer->any.sa_family == AF_INET6) {
		memcpy(key.address, &peer->in6.sin6_addr, sizeof(key.address));
		key.port = peer->in6.sin6_port;
	} else {
		/* As IPv6 writes it (RFC 4291 section 2.5.5.2), so that the two families share no key. */
		uint8_t *mapped = (uint8_t *)key.address;

		mapped[10] = mapped[11] = 0xff;
		memcpy(mapped + 12, &peer->in.sin_addr, 4);
		key.port = peer->in.sin_port;
	}
	/* Ping-pong with one emitter finds its session here. */
	if (s->newest != NONE && same(&s->session[s->newest], &key))
		return &s->session[s->newest];

	uint16_t *head = &s->slot[hash(&key)];

	for (uint16_t i = *head; i != NONE; i = s->session[i].chain) {
		if (same(&s->session[i], &key)) {
			unlink_use(s, i);
			link_newest(s, i);
			return &s->session[i];
		}
	}

	uint16_t i = s->used < SESSIONS_MAX ? (uint16_t)s->used++ : evict_oldest(s);

	s->session[i] = key;
	s->session[i].chain = *head;
	*head = i;
	link_newest(s, i);
	counter_add(&s->opened, 1);
	return &s->session[i];
}

enum order session_note(struct session *s, uint32_t seq)
{
	enum order order = sequence_note(&s->numbers, seq);

	s->requests++;
	if (order != ORDER_OLD)
		return order;
	/* Far behind: a sender that began again at 0 under the same name, or a packet that was long in the network. */
	s->numbers.noted = 0;
	sequence_note(&s->numbers, seq);
	return seq == 0 ? ORDER_NEXT : ORDER_REORDERED;
}
