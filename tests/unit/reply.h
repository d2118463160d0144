/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole reply at once, which rant itself reads in two steps. */
#ifndef REPLY_H
#define REPLY_H

#include "wire/packet.h"

static inline enum packet_verdict read_whole_reply(const uint8_t *packet, size_t bytes, const struct hmac *key,
						   struct reply *r)
{
	enum packet_verdict verdict = packet_read_reply(packet, bytes, key, r);

	if (verdict == PACKET_GOOD)
		packet_read_tlvs(packet, bytes, key, r);
	return verdict;
}

#endif
