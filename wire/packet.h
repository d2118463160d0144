/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encoding and decoding of STAMP packets, RFC 8762 and 8972 (hot). */
#ifndef WIRE_PACKET_H
#define WIRE_PACKET_H

#include "rant.h"

#define STAMP_AUTHENTICATED_BYTES 112 /* base length of an authenticated packet */
#define STAMP_REQUEST_MIN_BYTES 14 /* TWAMP-Light sender, RFC 4656 section 4.1.2 */
#define STAMP_REPLY_MIN_BYTES 38 /* up to the Session-Sender Error Estimate; TWAMP-Light sends 41 */

struct hmac;

/* PACKET_IS_REPLY: a Session-Reflector packet, which must not be answered. PACKET_UNVERIFIED: the HMAC is
 * wrong or missing. */
enum packet_verdict { PACKET_GOOD, PACKET_MALFORMED, PACKET_IS_REPLY, PACKET_UNVERIFIED };

/* Timestamping methods: RFC 8972 section 4.3, table 9. NONE: not reported. */
enum packet_method { PACKET_METHOD_NONE, PACKET_METHOD_HARDWARE, PACKET_METHOD_SOFTWARE, PACKET_METHOD_CONTROL_PLANE };

/* Reasons for discarded requests, as the rant TLV reports them. */
enum packet_discard {
	DISCARD_OVER_RATE = 0x08, /* the session exceeded --rate-limit */
	DISCARD_REFUSED = 0x04, /* the reflector's host refused to send the reply of this session */
	/* any session, within the last few replies: dropped by the socket, or received without the sender's
	 * address */
	DISCARD_UNREAD = 0x02,
};

#define FOLLOW_UPS_MAX 6 /* departures of earlier replies that the second rant TLV of one reply reports */

/* Departure time of a reply and its timestamping method. */
struct packet_departure {
	uint32_t seq; /* the reply's number in the reflector's count */
	uint8_t method; /* enum packet_method, not NONE */
	int64_t ns; /* same clock and epoch as t2_ns and t3_ns */
	uint32_t queue_ns, driver_ns; /* the kernel's times, after T3 of user space of that reply */
	uint8_t kernel; /* enum packet_kernel: which of these two are known */
};

enum packet_kernel { PACKET_KERNEL_QUEUE = 1, PACKET_KERNEL_DRIVER = 2 };

/* Flags of the freeze TLV of rant (docs/protocol.md), the first two of requests, the others of replies. */
enum {
	FREEZE_ASKED = 0x80, /* the emitter had a breach at this sequence number: the reflector shall freeze its trace */
	FREEZE_SEEN = 0x08, /* the reflector's breach of this sequence number was seen */
	FREEZE_BREACH = 0x80, /* the reflector had a breach: its response to this sequence number was late */
	FREEZE_FROZEN = 0x40, /* the reflector has marked the sequence number that the request names */
	FREEZE_REFUSED = 0x20, /* it has not: not allowed, or again within --trace-interval */
	FREEZE_OCCUPIED = 0x10, /* it has not: its trace was frozen already, at another sequence number */
	FREEZE_NO_TRACE = 0x04, /* with FREEZE_FROZEN: it has no trace, or could not stop it */
	FREEZE_ANSWER = 0x01, /* set by any reflector that supports the TLV */
};

/* Contents of the freeze TLV. age_us: since the breach was seen (FREEZE_ASKED, FREEZE_BREACH), or since the trace was
 * frozen (FREEZE_FROZEN), at the time when the packet was made; UINT32_MAX: that or more. */
struct packet_freeze {
	bool present; /* the packet has the TLV */
	uint8_t flags;
	uint32_t seq, age_us;
};

/* Contents of the cause TLV of rant (docs/protocol.md). */
#define PACKET_CAUSE_NAME_BYTES 32
#define PACKET_CAUSE_NO_CPU UINT16_MAX

enum packet_cause_state {
	PACKET_CAUSE_NONE, /* nothing is asked */
	PACKET_CAUSE_PENDING, /* the trace is being saved or explained */
	PACKET_CAUSE_KNOWN,
	PACKET_CAUSE_NO_TRACE, /* no trace was saved */
	PACKET_CAUSE_NOT_EXPLAINED, /* the saved trace could not be explained */
	PACKET_CAUSE_REFUSED, /* not a breach at which the trace was frozen for this run, or not remembered any more */
	PACKET_CAUSE_STATES,
	PACKET_CAUSE_ASKED = 0x80, /* in a request */
};

struct packet_cause {
	uint8_t state; /* enum packet_cause_state */
	uint32_t seq; /* of the breach */
	/* Only with PACKET_CAUSE_KNOWN. The numbers of class and stage are those of docs/protocol.md. */
	uint8_t class, stage, percent;
	uint16_t cpu;
	int64_t stage_ns, ns; /* of the stage, and of the cause in it */
	char name[PACKET_CAUSE_NAME_BYTES]; /* from the wire: any octets, no NUL if it has the full length */
};

/* Contents that all probes of a run share. */
struct packet_plan {
	const struct hmac *key; /* NULL: unauthenticated */
	uint16_t ssid;
	/* request timestamping methods and reply departures: Timestamp Information and Follow-Up TLVs */
	bool stages;
	/* request the sources of the timestamps and the state of the clock: rant TLV (docs/protocol.md) */
	bool software;
	bool t2_user; /* request the user-space receive time T2_SW in that TLV */
	bool t2_kernel; /* with t2_user: request the kernel's receive time T2_KERNEL in the receipt TLV */
	/* request the kernel's transmit times of one reply in this number: departure TLV; 0: TLV not sent */
	uint32_t kernel_every;
	/* number of departures of earlier replies to request by the second rant TLV, at most
	 * FOLLOW_UPS_MAX; 0: TLV not sent */
	uint8_t follow_ups;
	bool freeze; /* send the freeze TLV, initially without flags: see packet_freeze_probe() */
	bool cause; /* ask for the cause of breach cause_seq by the cause TLV */
	uint32_t cause_seq;
	bool class_of_service; /* send a CoS TLV that requests `dscp` */
	uint8_t dscp; /* 0..63 */
	/* size of the whole packet by an Extra Padding TLV, up to the maximum of UDP; 0: no padding */
	size_t bytes;
};

/* Length of a probe of this plan. If plan->bytes leaves 1..3 octets, less than a TLV header (4), the result
 * is the next larger possible size; the caller compares. */
size_t packet_plan_bytes(const struct packet_plan *plan);

/* Writes the constant fields into `packet`, packet_plan_bytes() octets. PTP format (Z=1). Not hot. */
void packet_prepare(uint8_t *packet, const struct packet_plan *plan);

/* Writes the fields that change with each probe, and the HMACs, into a packet made by packet_prepare() with
 * the same plan. */
void packet_probe(uint8_t *packet, const struct packet_plan *plan, uint32_t seq, int64_t t1_ns);

/* Sets flags, sequence number and age of the freeze TLV of the next probes. The plan has plan->freeze. */
void packet_freeze_probe(uint8_t *packet, const struct packet_plan *plan, const struct packet_freeze *f);

struct request {
	uint32_t seq;
	uint16_t ssid;
	uint16_t error_estimate;
	int64_t t1_ns; /* with a key: T1 since 1970, in the sender's clock */
	bool is_rant; /* the request has the rant TLV */
	bool wants_t2_user; /* the rant TLV requests T2_SW */
	bool wants_t2_kernel; /* the receipt TLV has room for T2_KERNEL */
	bool wants_follow_ups; /* the request has the second rant TLV */
	uint32_t kernel_every; /* wants the kernel's transmit times of one reply in this number; 0: of none */
	bool wants_class; /* the request has a Class of Service TLV */
	struct packet_freeze freeze; /* without `present` the other members are undefined */
	bool wants_cause; /* of the breach cause_seq: the cause TLV */
	uint32_t cause_seq;
};

/* With a key and a wrong HMAC the result is always PACKET_UNVERIFIED, and *r is unchanged. */
enum packet_verdict packet_read_request(const uint8_t *packet, size_t bytes, const struct hmac *key, struct request *r);

/* All possible contents of a reply. Fields that the request does not ask for are ignored. */
struct answer {
	uint32_t seq;
	int64_t t2_ns, t3_ns;
	uint8_t ttl;
	uint8_t t2_method, t3_method; /* enum packet_method */
	uint8_t sync_source; /* RFC 8972 table 7, for T2 and T3 */
	bool tos_known;
	uint8_t tos; /* DSCP << 2 | ECN, as received; the caller must send the reply with that DSCP */
	uint32_t received, sent; /* Direct Measurement: counts of this session, including this packet */
	/* Follow-Up Telemetry: departure of reply follow_up_seq. Method NONE: unknown, written as zeros. */
	uint32_t follow_up_seq;
	int64_t follow_up_ns;
	uint8_t follow_up_method;
	/* The rant TLV. */
	uint8_t wire_source; /* enum source: timestamp source of T2 and of the follow-up */
	bool t2_user_known;
	int64_t t2_user_ns;
	/* error bound of T2_SW and T3 on the timebase of T2; -1: not on that timebase */
	int64_t software_bound_ns;
	/* the clock of T2 was stepped, stood still or has a frequency error since the session began */
	bool clock_doubted;
	uint32_t discarded; /* requests of this session that were not answered, without replayed requests */
	uint8_t discard_reasons; /* enum packet_discard: reasons since the session began */
	/* the session table is full, so the sender has no session; `seq` is the request's number (RFC 8762
	 * section 4) */
	bool stateless;
	/* The receipt TLV. */
	uint32_t poll_gap_ns; /* see struct sample */
	bool t2_kernel_known;
	int64_t t2_kernel_ns; /* on the timebase of t2_user_ns */
	struct packet_freeze freeze; /* the freeze TLV, without FREEZE_ANSWER */
	const struct packet_cause *cause; /* the cause TLV; NULL: nothing is asked */
	/* The second rant TLV and the departure TLV: known departures of the last replies, newest first. The
	 * reply reports as many as the request asks for. */
	uint8_t follow_ups; /* at most FOLLOW_UPS_MAX */
	const struct packet_departure *follow_up; /* array of follow_ups entries, owned by the caller */
};

/* Turns the request in `packet` into its reply, in place. The buffer holds at least the base. Times are
 * written in the format of the request. Sets *malformed_tlv if a TLV had a wrong length and was marked, or
 * if too few octets for a TLV were left (RFC 8972 section 4). Returns the length of the reply: that of the
 * request, at least the base. */
size_t packet_reply(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a, bool *malformed_tlv);

struct reply {
	uint32_t seq; /* reply number in the reflector's count */
	uint32_t sender_seq; /* sequence number of the answered probe */
	uint16_t ssid;
	uint16_t error_estimate; /* Error Estimate of t2_ns and t3_ns */
	bool t2_known, t3_known; /* false: written as zeros by a reflector without a clock */
	int64_t t2_ns, t3_ns; /* since 1970, in the reflector's clock */
	int ttl; /* TTL of the probe at the reflector; -1: the reply is too short to report it */
	/* Set by packet_read_tlvs() from answered TLVs (U and M clear, length correct). Absent values are
	 * 0, false or NONE. */
	uint8_t t2_method, t3_method; /* enum packet_method */
	/* the reflector supports the TLV; method NONE then means that the time was unknown to it */
	bool follow_up_reported;
	uint8_t follow_up_method;
	uint32_t follow_up_seq;
	int64_t follow_up_ns;
	bool class_reported;
	uint8_t dscp, ecn; /* DSCP and ECN of the probe at the reflector */
	bool reverse_dscp_refused; /* RP flag: the reflector could not use the requested DSCP */
	bool software_reported;
	uint8_t wire_source; /* enum source */
	bool t2_user_known, clock_doubted;
	bool discards_reported;
	bool stateless; /* see struct answer, also for the next two members */
	uint16_t discarded; /* the low 16 bits */
	uint8_t discard_reasons;
	bool tlv_unrecognized, tlv_malformed; /* a TLV was returned with U, with M or a wrong length */
	bool tlv_integrity; /* I flag set, or the HMAC TLV is wrong or missing: no TLV was used */
	int64_t t2_user_ns, software_bound_ns; /* see struct answer */
	uint32_t poll_gap_ns; /* 0: not reported */
	bool t2_kernel_known;
	int64_t t2_kernel_ns; /* see struct answer */
	struct packet_freeze freeze; /* present: the reflector supports the TLV */
	uint8_t follow_ups; /* valid entries of follow_up[], newest first; the rest is undefined */
	uint8_t departures; /* those of departure[], which have no method and no time on the wire */
	struct packet_departure follow_up[FOLLOW_UPS_MAX], departure[FOLLOW_UPS_MAX];
	struct packet_cause cause; /* with PACKET_CAUSE_NONE the other members are undefined */
};

/* Fills *r from the base of a PACKET_GOOD packet. With a key and a wrong HMAC the result is always
 * PACKET_UNVERIFIED. */
enum packet_verdict packet_read_reply(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r);

/* Reads the TLVs of a reply whose base was good. Separate, since it can wait until the next probe has been
 * sent. */
void packet_read_tlvs(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r);

/* False if the reply names the sequence number of the last `probe` but not its T1 and Error Estimate. The
 * reply's base must be good. */
bool packet_answers(const uint8_t *packet, const uint8_t *probe, const struct hmac *key);

/* T1 of a probe in its wire octets, kept to match replies that arrive after later probes were sent. */
uint64_t packet_t1(const uint8_t *probe, const struct hmac *key);

/* True if the reply names this T1. The reply's base must be good. */
bool packet_has_t1(const uint8_t *packet, uint64_t t1, const struct hmac *key);

#endif
