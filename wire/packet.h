/* SPDX-License-Identifier: GPL-2.0-or-later */
/* STAMP by the octet, RFC 8762 and 8972 (hot). */
#ifndef WIRE_PACKET_H
#define WIRE_PACKET_H

#include "rant.h"

#define STAMP_AUTHENTICATED_BYTES 112 /* base of an authenticated one */
#define STAMP_REQUEST_MIN_BYTES 14 /* TWAMP-Light sender, RFC 4656 section 4.1.2 */
#define STAMP_REPLY_MIN_BYTES 38 /* up to the Session-Sender Error Estimate; TWAMP-Light sends 41 */

struct hmac;

/* PACKET_IS_REPLY: a Session-Reflector packet, which must not be answered. PACKET_UNVERIFIED: its HMAC is wrong, or it
 * is too short to have one. */
enum packet_verdict { PACKET_GOOD, PACKET_MALFORMED, PACKET_IS_REPLY, PACKET_UNVERIFIED };

/* How a time was taken: RFC 8972 section 4.3, table 9. NONE: not told. */
enum packet_method { PACKET_METHOD_NONE, PACKET_METHOD_HARDWARE, PACKET_METHOD_SOFTWARE, PACKET_METHOD_CONTROL_PLANE };

/* Why a reflector that got requests did not answer them, as our own TLV reports it. */
enum packet_discard {
	DISCARD_OVER_RATE = 0x08, /* of this session: beyond --rate-limit */
	DISCARD_REFUSED = 0x04, /* of this session: its host refused to send the reply */
	/* of whatever session, a few replies ago at most: dropped by its socket, or received without the sender's
	 * address */
	DISCARD_UNREAD = 0x02,
};

#define FOLLOW_UPS_MAX 6 /* replies that one reply tells of by our second TLV */

/* When a reply left, and how that was taken. */
struct packet_departure {
	uint32_t seq; /* of the reply, by the reflector's count */
	uint8_t method; /* enum packet_method, not NONE */
	int64_t ns; /* as t2_ns and t3_ns */
};

/* What every probe of a run has in common. */
struct packet_plan {
	const struct hmac *key; /* NULL: unauthenticated */
	uint16_t ssid;
	bool stages; /* ask how and when the reply was stamped: Timestamp Information and Follow-Up TLVs */
	bool software; /* and what took the stamps there, and in which state: our own TLV (docs/protocol.md); */
	bool t2_user; /* in it, also for T2_SW */
	/* ask when up to so many of the last replies left, by our second TLV; 0: it is not sent. At most FOLLOW_UPS_MAX
	 * */
	uint8_t follow_ups;
	bool class_of_service; /* CoS TLV, asking for `dscp` */
	uint8_t dscp; /* 0..63 */
	size_t bytes; /* up to what UDP can carry: of the whole packet, by an Extra Padding TLV; 0: no padding */
};

/* Octets of a probe of this plan. plan->bytes that leave 1..3 octets of rest cannot be had exactly, since the header of
 * a TLV has 4: then it is the next larger size that can; the caller compares. */
size_t packet_plan_bytes(const struct packet_plan *plan);

/* Writes all that stays the same into `packet`, packet_plan_bytes() of them. PTP format (Z=1). Not hot. */
void packet_prepare(uint8_t *packet, const struct packet_plan *plan);

/* Writes what differs from probe to probe, and the HMACs, into what packet_prepare() has made by the same plan. */
void packet_probe(uint8_t *packet, const struct packet_plan *plan, uint32_t seq, int64_t t1_ns);

struct request {
	uint32_t seq;
	uint16_t ssid;
	uint16_t error_estimate;
	int64_t t1_ns; /* with a key: since 1970, in the sender's clock */
	bool is_rant; /* it has our TLV */
	bool wants_t2_user; /* our TLV asks for it */
	bool wants_follow_ups; /* it has our second TLV */
	bool wants_class; /* it has a Class of Service TLV */
};

/* With a key, nothing but PACKET_UNVERIFIED is said of a packet whose HMAC is wrong, and *r is not touched. */
enum packet_verdict packet_read_request(const uint8_t *packet, size_t bytes, const struct hmac *key, struct request *r);

/* All that a reply may say. What the request does not ask for is not looked at. */
struct answer {
	uint32_t seq;
	int64_t t2_ns, t3_ns;
	uint8_t ttl;
	uint8_t t2_method, t3_method; /* enum packet_method */
	uint8_t sync_source; /* RFC 8972 table 7, of both */
	bool tos_known;
	uint8_t tos; /* DSCP << 2 | ECN, as received; the reply must be sent with that DSCP */
	uint32_t received, sent; /* Direct Measurement: of this session, this packet included in both */
	/* Follow-Up Telemetry: when reply follow_up_seq was sent. Method NONE: not known, and zeros are written. */
	uint32_t follow_up_seq;
	int64_t follow_up_ns;
	uint8_t follow_up_method;
	/* Our own TLV. */
	uint8_t wire_source; /* enum source: what T2 and the follow-up are stamps of */
	bool t2_user_known;
	int64_t t2_user_ns;
	int64_t software_bound_ns; /* T2_SW and T3 are on the scale of T2 within this; -1: they are not on it */
	bool clock_doubted; /* the clock of T2 was set or stood since this session began, or is not running right */
	uint32_t discarded; /* requests of this session that were not answered, but for those that were replayed */
	uint8_t discard_reasons; /* enum packet_discard: since the session began */
	/* there is no session, for the table of senders is full; `seq` is the request's (RFC 8762 section 4) */
	bool stateless;
	/* Our second TLV: of the last replies those of which it is known when they left, newest first. As many are told
	 * as are asked for. */
	uint8_t follow_ups; /* at most FOLLOW_UPS_MAX */
	const struct packet_departure *follow_up; /* so many; the caller's */
};

/* Turns the request in `packet` into its reply, in place. The buffer holds at least the base of its kind. Times are
 * written in the format that the request shows. Sets *malformed_tlv when a TLV had a wrong length and was marked so, or
 * octets too few for one were left (RFC 8972 section 4). Returns the length of the reply: that of the request, at least
 * the base. */
size_t packet_reply(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a, bool *malformed_tlv);

struct reply {
	uint32_t seq; /* of the reflector */
	uint32_t sender_seq; /* of the probe it answers */
	uint16_t ssid;
	uint16_t error_estimate; /* of t2_ns and t3_ns */
	bool t2_known, t3_known; /* a reflector without a clock writes zeros */
	int64_t t2_ns, t3_ns; /* since 1970, in the reflector's clock */
	int ttl; /* of the probe as it arrived there; -1: the reply is too short to tell */
	/* By packet_read_tlvs(), from TLVs that were answered: U and M clear, length right. What has not come is 0,
	 * false, NONE. */
	uint8_t t2_method, t3_method; /* enum packet_method */
	bool follow_up_told; /* the reflector knows the TLV; then method NONE means that the time was not known to it */
	uint8_t follow_up_method;
	uint32_t follow_up_seq;
	int64_t follow_up_ns;
	bool class_told;
	uint8_t dscp, ecn; /* of the probe as it arrived there */
	bool reverse_dscp_refused; /* RP */
	bool software_told;
	uint8_t wire_source; /* enum source */
	bool t2_user_known, clock_doubted;
	bool discards_told;
	bool stateless; /* as in struct answer, as are the next two */
	uint16_t discarded; /* the low bits */
	uint8_t discard_reasons;
	bool tlv_unrecognized, tlv_malformed; /* some TLV came back with U, with M or a wrong length */
	bool tlv_integrity; /* I set, or the HMAC TLV is wrong, or not there where it must be: no TLV was used */
	int64_t t2_user_ns, software_bound_ns; /* as in struct answer */
	uint8_t follow_ups; /* how many of follow_up[], newest first, were told; behind them stands anything */
	struct packet_departure follow_up[FOLLOW_UPS_MAX];
};

/* Fills what is in the base when it is PACKET_GOOD. With a key, nothing but PACKET_UNVERIFIED is said of a packet whose
 * HMAC is wrong. */
enum packet_verdict packet_read_reply(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r);

/* Fills the rest, of a reply that has been read as good. Apart, since it can wait until the next probe is under way. */
void packet_read_tlvs(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r);

/* `probe` is what was sent last: a reply that names its sequence number but not its T1 and Error Estimate is none. The
 * reply must have been read as good. */
bool packet_answers(const uint8_t *packet, const uint8_t *probe, const struct hmac *key);

/* T1 of a probe, its octets as they are on the wire, to be kept for the replies that come when other probes were
 * sent. */
uint64_t packet_t1(const uint8_t *probe, const struct hmac *key);

/* Does the reply name this T1? It must have been read as good. */
bool packet_has_t1(const uint8_t *packet, uint64_t t1, const struct hmac *key);

#endif
