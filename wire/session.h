/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's sessions (hot). */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "rant.h"
#include "wire/sequence.h"

#define SESSION_SLOTS 2048 /* hash heads, a power of two */
#define SESSION_SECRETS 6 /* words of the key of the hash */
#define SESSION_IDLE_NS (10 * NS_PER_S) /* a session that was used since then is not forgotten for a new one */
#define SESSION_AHEAD_NS (100 * NS_PER_MS) /* of --rate-limit: what a session may send in advance */

struct session {
	uint64_t address[2]; /* of the sender, as IPv6 writes it, */
	uint16_t port, ssid; /* and its port: octets as in the packet */
	uint16_t chain; /* next of the same hash */
	uint16_t older, newer; /* order of use */
	uint32_t reply_seq; /* of the next reply */
	struct sequence_window numbers; /* of the requests, since it began again */
	uint64_t requests; /* but for those that were replayed */
	int64_t used_ns; /* when it was last looked for */
	int64_t counted_ns; /* reflector: when the number of its requests was last a multiple of LANE_REQUESTS */
	int64_t due_ns; /* with a rate limit: when its next request would be due, if they came evenly */
	int64_t t1_ns, first_t1_ns; /* with a key: the newest T1, and that at which its numbers began */
	uint32_t doubts; /* clock_doubts() at its first request */
	/* The last reply, for the one after it: when it was sent, as far as that is known by now. */
	uint32_t last_key, last_seq; /* of its flight; its number */
	uint8_t last_source; /* enum source of last_ns; SOURCE_NONE: not known */
	bool has_last;
	int64_t last_ns;
};

struct sessions {
	struct session session[SESSIONS_MAX];
	uint16_t slot[SESSION_SLOTS];
	uint16_t newest, oldest;
	uint32_t used, limit; /* at most SESSIONS_MAX */
	int64_t interval_ns; /* between the requests of a session at --rate-limit, rounded up; 0: no limit */
	uint64_t secret[SESSION_SECRETS];
	counter opened, evicted;
};

/* secret: random, and known to nobody. rate_limit: requests of a session in a second; 0: no limit. */
void sessions_init(struct sessions *s, uint32_t limit, int64_t rate_limit, const uint64_t secret[SESSION_SECRETS]);

/*
 * The session of a sender, made if it is new. When the table is full the session idle for longest is forgotten, if that
 * is for SESSION_IDLE_NS; else NULL: whoever sends from many ports must not end a measurement that runs. The pointer is
 * good until it is forgotten; its place in sessions->session[] stays the same. now_ns: CLOCK_MONOTONIC.
 */
struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid, int64_t now_ns);

/*
 * For a request that was authenticated: was it, or may it have been, answered before? It was not when its T1 is newer
 * than all before it. Else its number must be ahead with a T1 as new, as a coarse clock makes it, or one of the 64 up
 * to the highest and not seen yet, with a T1 that is not older than where these numbers began. A number that is not
 * larger than the highest, with a newer T1, begins them again: a sender that started again, or that went round.
 */
bool session_replayed(struct session *s, uint32_t seq, int64_t t1_ns);

/* Is this request beyond the rate limit? If so it is counted in `requests` and nothing else. */
bool session_over_rate(const struct sessions *sessions, struct session *s, int64_t now_ns);

/* Notes the sequence number of a request as sequence_note() does. But what is ORDER_OLD there is a sender that began
 * again here: ORDER_NEXT when the number is 0, else ORDER_REORDERED. */
enum order session_note(struct session *s, uint32_t seq);

#endif
