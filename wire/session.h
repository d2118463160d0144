/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's sessions (hot). */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "rant.h"
#include "wire/packet.h"
#include "wire/sequence.h"

#define SESSION_SLOTS 2048 /* hash heads, a power of two */
#define SESSION_SECRETS 6 /* words of the secret hash key */
#define SESSION_REPLIES 8 /* remembered replies, a power of two */
#define SESSION_IDLE_NS (10 * NS_PER_S) /* a session used within this time is not evicted for a new session */
#define SESSION_AHEAD_NS (100 * NS_PER_MS) /* --rate-limit: burst allowance of a session */

/* Identity of a session. */
struct session_sender {
	uint64_t address[2]; /* IPv6 or IPv4-mapped address */
	uint16_t port, ssid; /* port: in network order */
};

/* Departure of a recent reply, as far as known. */
struct session_reply {
	int64_t ns;
	uint32_t key; /* key of the reply's flight */
	uint8_t method; /* enum packet_method of ns; NONE: unknown */
	uint8_t kernel; /* as the next two: struct packet_departure */
	uint32_t queue_ns, driver_ns;
};

struct session {
	struct session_sender sender;
	uint16_t chain; /* next session with the same hash */
	uint16_t older, newer; /* neighbours in the order of use */
	uint32_t reply_seq; /* number of the next reply */
	struct sequence_window numbers; /* request numbers since the sender's count began */
	uint64_t requests; /* received requests, without replayed requests */
	uint32_t discarded; /* requests that were not answered */
	uint8_t discard_reasons; /* enum packet_discard */
	/* channel.unread plus own changes, as last seen; reply number at its last change */
	uint32_t unread, unread_at;
	int64_t used_ns; /* last session_find() */
	/* reflector: time at which the request count was last a multiple of PEER_SOCKET_REQUESTS */
	int64_t counted_ns;
	int64_t due_ns; /* with a rate limit: due time of the next request at an even rate */
	int64_t t1_ns, first_t1_ns; /* with a key: newest T1; T1 at which the request count began */
	uint32_t doubts; /* clock_doubts() at the first request */
	/* reflector: last timestamps of the NIC, of a reply (0) and of the newest request (1); 0: none */
	int64_t stamp_ns[2];
	/* reflector: the number that this sender last requested a freeze at was judged, and the flags of the answer */
	bool freeze_judged;
	uint8_t freeze_flags; /* of struct packet_freeze */
	uint32_t freeze_seq;
	bool stateless; /* the shared substitute, see sessions_stateless() */
	/* response time and request number of the last recorded response */
	bool has_response;
	uint32_t response_seq;
	int64_t response_ns;
	/* last replies, indexed by number modulo SESSION_REPLIES */
	struct session_reply reply[SESSION_REPLIES];
};

struct sessions {
	/* the last element is the substitute of sessions_stateless() */
	struct session session[SESSIONS_MAX + 1];
	uint16_t slot[SESSION_SLOTS];
	uint16_t newest, oldest;
	uint32_t used, limit; /* at most SESSIONS_MAX */
	/* minimum interval of a session's requests under --rate-limit, rounded up; 0: no limit */
	int64_t interval_ns;
	uint64_t secret[SESSION_SECRETS];
	counter opened, evicted;
	/* with a key, by SSID: newest T1 of all sessions, also evicted sessions; 0: none. Last member: see
	 * sessions_init() */
	int64_t newest_t1_ns[1 << 16];
};

/* newest_t1_ns[] is not written and must be zero before the first use: without a key its pages are never
 * touched. secret: random and secret. rate_limit: requests/s of a session; 0: no limit. */
void sessions_init(struct sessions *s, uint32_t limit, int64_t rate_limit, const uint64_t secret[SESSION_SECRETS]);

/*
 * Returns the session of a sender, created if it is new. If the table is full, the session idle for longest
 * is evicted if it is idle for SESSION_IDLE_NS; else NULL: a sender with many ports must not end a running
 * measurement. The pointer is valid until eviction; the index in sessions->session[] stays the same.
 * now_ns: CLOCK_MONOTONIC.
 */
struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid, int64_t now_ns);

/*
 * Substitute if session_find() returned NULL: for the answer to one request of this number, valid until the
 * next call. It has no history of its sender, and all such senders share one rate limit.
 */
struct session *sessions_stateless(struct sessions *s, uint32_t seq);

/*
 * Replay check of an authenticated request: true if it was, or may have been, answered before. A request is
 * new if its T1 is newer than all before. Else its number must be above the highest with an equal T1
 * (coarse clock), or be an unseen number of the 64 up to the highest, with a T1 not older than the T1 at
 * which these numbers began. A number that is not above the highest, with a newer T1, begins the numbers
 * again: the sender restarted or its count wrapped.
 *
 * The first request of a session must have a newer T1 than all before it with its SSID: a recorded request
 * may be replayed from any address and port, which the HMAC does not cover. Senders without an SSID (0) may
 * be several hosts with different clocks, so this check does not apply to them.
 */
bool session_replayed(struct sessions *sessions, struct session *s, uint32_t seq, int64_t t1_ns);

/* True if this request exceeds the rate limit; it is then counted in `requests` and `discarded`. */
bool session_over_rate(const struct sessions *sessions, struct session *s, int64_t now_ns);

/* Notes the number of a request like sequence_note(). ORDER_OLD of that function means here that the sender
 * began again: ORDER_NEXT if the number is 0, else ORDER_REORDERED. */
enum order session_note(struct session *s, uint32_t seq);

/* Notes a sent reply with the flight of this key and the number s->reply_seq (before the call). The
 * departure is known with `method`, or later (NONE) by session_note_departure(). */
static inline void session_note_reply(struct session *s, uint32_t key, uint8_t method, int64_t ns)
{
	s->reply[s->reply_seq++ % SESSION_REPLIES] = (struct session_reply){ .ns = ns, .key = key, .method = method };
}

/*
 * Notes the departure of reply d->seq with the flight of this key. Ignored if the reply is not one of
 * the last SESSION_REPLIES of this session or the session was evicted: the remembered replies belong to the
 * present session, and keys are unique among them.
 */
static inline void session_note_departure(struct session *s, uint32_t key, const struct packet_departure *d)
{
	struct session_reply *reply = &s->reply[d->seq % SESSION_REPLIES];

	if (s->reply_seq - d->seq - 1 >= SESSION_REPLIES || reply->key != key)
		return;
	*reply = (struct session_reply){ .ns = d->ns, .key = key, .method = d->method, .kernel = d->kernel,
					 .queue_ns = d->queue_ns, .driver_ns = d->driver_ns };
}

/* The last reply, s->reply_seq - 1. Method NONE if it was never sent. */
static inline const struct session_reply *session_last_reply(const struct session *s)
{
	return &s->reply[(s->reply_seq - 1) % SESSION_REPLIES];
}

/* Fills `to` with the known departures of the last replies, newest first. Returns their number, at most
 * FOLLOW_UPS_MAX. */
unsigned session_departures(const struct session *s, struct packet_departure to[FOLLOW_UPS_MAX]);

#endif
