/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's sessions (hot). */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "rant.h"
#include "wire/sequence.h"

#define SESSIONS_MAX 1024
#define SESSION_SLOTS 2048 /* hash heads, a power of two */

struct session {
	uint64_t address[2]; /* of the sender, as IPv6 writes it, */
	uint16_t port, ssid; /* and its port: octets as in the packet */
	uint16_t chain; /* next of the same hash */
	uint16_t older, newer; /* order of use */
	uint32_t reply_seq; /* of the next reply */
	struct sequence_window numbers; /* of the requests, since it began again */
	uint64_t requests;
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
	uint32_t used;
	counter opened, evicted;
};

void sessions_init(struct sessions *s);

/* The session of a sender, made if it is new. When the table is full the session idle for longest is forgotten. The
 * pointer is good until it is forgotten; its place in sessions->session[] stays the same. */
struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid);

/* Notes the sequence number of a request as sequence_note() does. But what is ORDER_OLD there is a sender that began
 * again here: ORDER_NEXT when the number is 0, else ORDER_REORDERED. */
enum order session_note(struct session *s, uint32_t seq);

#endif
