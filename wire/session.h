/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's sessions (hot). */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "rant.h"
#include "wire/packet.h"
#include "wire/sequence.h"

#define SESSION_SLOTS 2048 /* hash heads, a power of two */
#define SESSION_SECRETS 6 /* words of the key of the hash */
#define SESSION_REPLIES 8 /* that are remembered, a power of two */
#define SESSION_IDLE_NS (10 * NS_PER_S) /* a session that was used since then is not forgotten for a new one */
#define SESSION_AHEAD_NS (100 * NS_PER_MS) /* of --rate-limit: what a session may send in advance */

/* Whose session it is. */
struct session_sender {
	uint64_t address[2]; /* as IPv6 writes it */
	uint16_t port, ssid; /* the port: octets as in the packet */
};

/* When one of the last replies left, as far as that is known by now. */
struct session_reply {
	int64_t ns;
	uint32_t key; /* of its flight */
	uint8_t method; /* enum packet_method of ns; NONE: not known */
};

struct session {
	struct session_sender sender;
	uint16_t chain; /* next of the same hash */
	uint16_t older, newer; /* order of use */
	uint32_t reply_seq; /* of the next reply */
	struct sequence_window numbers; /* of the requests, since it began again */
	uint64_t requests; /* but for those that were replayed */
	uint32_t discarded; /* of them, not answered */
	uint8_t discard_reasons; /* enum packet_discard */
	uint32_t unread, unread_at; /* channel.unread and more, as last seen; and at which reply it had changed */
	int64_t used_ns; /* when it was last looked for */
	int64_t counted_ns; /* reflector: when the number of its requests was last a multiple of LANE_REQUESTS */
	int64_t due_ns; /* with a rate limit: when its next request would be due, if they came evenly */
	int64_t t1_ns, first_t1_ns; /* with a key: the newest T1, and that at which its numbers began */
	uint32_t doubts; /* clock_doubts() at its first request */
	bool stateless; /* sessions_stateless() */
	/* a response of it was recorded: the last one, to the request of this number, took so long */
	bool has_response;
	uint32_t response_seq;
	int64_t response_ns;
	struct session_reply reply[SESSION_REPLIES]; /* the last ones, each at its number modulo their number */
};

struct sessions {
	struct session session[SESSIONS_MAX + 1]; /* the last one: sessions_stateless() */
	uint16_t slot[SESSION_SLOTS];
	uint16_t newest, oldest;
	uint32_t used, limit; /* at most SESSIONS_MAX */
	int64_t interval_ns; /* between the requests of a session at --rate-limit, rounded up; 0: no limit */
	uint64_t secret[SESSION_SECRETS];
	counter opened, evicted;
	/* with a key, by SSID: of all sessions, also forgotten ones; 0: none. The last member: see sessions_init() */
	int64_t newest_t1_ns[1 << 16];
};

/* newest_t1_ns[] stays as it is, zeros before the first use: without a key none of its pages is ever touched. secret:
 * random, and known to nobody. rate_limit: requests of a session in a second; 0: no limit. */
void sessions_init(struct sessions *s, uint32_t limit, int64_t rate_limit, const uint64_t secret[SESSION_SECRETS]);

/*
 * The session of a sender, made if it is new. When the table is full the session idle for longest is forgotten, if that
 * is for SESSION_IDLE_NS; else NULL: whoever sends from many ports must not end a measurement that runs. The pointer is
 * good until it is forgotten; its place in sessions->session[] stays the same. now_ns: CLOCK_MONOTONIC.
 */
struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid, int64_t now_ns);

/*
 * In place of a session, where session_find() had none: for the answer to one request of this number, and until the
 * next call. Nothing is known of other requests of its sender, and the rate limit is one for all of them.
 */
struct session *sessions_stateless(struct sessions *s, uint32_t seq);

/*
 * For a request that was authenticated: was it, or may it have been, answered before? It was not when its T1 is newer
 * than all before it. Else its number must be ahead with a T1 as new, as a coarse clock makes it, or one of the 64 up
 * to the highest and not seen yet, with a T1 that is not older than where these numbers began. A number that is not
 * larger than the highest, with a newer T1, begins them again: a sender that started again, or that went round.
 *
 * The first request of a session must have a newer T1 than all before it with its SSID: what was recorded may come
 * again from any address and port, which the HMAC does not cover. Senders that have no SSID (0) may be many, by clocks
 * that differ: of them this is not asked.
 */
bool session_replayed(struct sessions *sessions, struct session *s, uint32_t seq, int64_t t1_ns);

/* Is this request beyond the rate limit? If so it is counted in `requests` and in `discarded`. */
bool session_over_rate(const struct sessions *sessions, struct session *s, int64_t now_ns);

/* Notes the sequence number of a request as sequence_note() does. But what is ORDER_OLD there is a sender that began
 * again here: ORDER_NEXT when the number is 0, else ORDER_REORDERED. */
enum order session_note(struct session *s, uint32_t seq);

/* A reply was sent, by the flight of this key; its number is what s->reply_seq was. When it left is known with
 * `method`, or later (NONE): session_note_departure(). */
static inline void session_note_reply(struct session *s, uint32_t key, uint8_t method, int64_t ns)
{
	s->reply[s->reply_seq++ % SESSION_REPLIES] = (struct session_reply){ .ns = ns, .key = key, .method = method };
}

/*
 * Reply `seq` of the flight of this key left at that time. Not noted if it is not one of the last SESSION_REPLIES of
 * this session, or if the session is another's by now: what is within them is of this session, and there no two have
 * one key.
 */
static inline void session_note_departure(struct session *s, uint32_t seq, uint32_t key, uint8_t method, int64_t ns)
{
	struct session_reply *reply = &s->reply[seq % SESSION_REPLIES];

	if (s->reply_seq - seq - 1 >= SESSION_REPLIES || reply->key != key)
		return;
	reply->ns = ns;
	reply->method = method;
}

/* The last reply, s->reply_seq - 1. One that was never sent has method NONE. */
static inline const struct session_reply *session_last_reply(const struct session *s)
{
	return &s->reply[(s->reply_seq - 1) % SESSION_REPLIES];
}

/* Fills `to`: the last replies of which it is known when they left, newest first. Returns how many, at most
 * FOLLOW_UPS_MAX. */
unsigned session_departures(const struct session *s, struct packet_departure to[FOLLOW_UPS_MAX]);

#endif
