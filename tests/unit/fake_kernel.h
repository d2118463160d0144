/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel, a network and a peer for the tests of the hot path, behind sendmsg, recvmsg, ppoll and
 * clock_gettime. Off by default: then the real calls are made. Time is virtual: each call takes a little of
 * it, ppoll the most, and nothing depends on the speed of the machine. A script assigns faults to packets;
 * the fake has the true times of each packet and its own counters, from the definitions in
 * result/account.h, to compare with those of the module.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include "measure/exchange.h"
#include "options.h"
#include "wire/packet.h"

#include <poll.h>
#include <sys/socket.h>

#define FAKE_FD 1000 /* no descriptor of this process */
#define FAKE_PHC_FD 1001 /* the NIC's clock */
#define FAKE_QUEUE 1024
#define FAKE_PACKETS 8192
#define FAKE_PEERS 1100 /* more than a reflector has sessions */
#define FAKE_DATA_BYTES 320 /* size of the packets with the most TLVs */
#define FAKE_LAST 8 /* replies of which a reflector remembers when they left */
#define FAKE_FIRST_PORT 40000 /* source ports of the peers that send probes */
#define FAKE_PORT 862
#define FAKE_SSID 0x1234 /* of the first peer, and of the tested emitter */
#define FAKE_LOCAL 0x0a000002 /* 10.0.0.2 */
#define FAKE_REMOTE 0x0a000001
#define FAKE_INTERFACE 7
#define FAKE_TTL 63
#define FAKE_BOUND_NS 750 /* bound of the reflecting peer's software times */
#define FAKE_SYNC_SOURCE 5 /* RFC 8972 table 7 */

/* Kinds of error queue entries. All except the first two are not the requested timestamp. */
enum fake_entry {
	ENTRY_GOOD, ENTRY_WITH_PACKET,
	ENTRY_ERRNO, ENTRY_ORIGIN, ENTRY_INFO, ENTRY_CTRUNC, ENTRY_STAMP_SHORT, ENTRY_STAMP_LONG,
	ENTRY_ERROR_SHORT, ENTRY_ERROR_LONG, ENTRY_ZERO, ENTRY_OTHER_KIND, ENTRY_NO_STAMP, ENTRY_NO_ERROR, ENTRY_ICMP,
	ENTRY_KINDS,
	/* answer to an id request: a timestamp at the entry of the queueing discipline */
	ENTRY_ID = ENTRY_KINDS
};

/* Receive timestamp of a datagram. All except the first mean that it is missing. */
enum fake_rx { RX_GOOD, RX_ABSENT, RX_ZERO, RX_OTHER_KIND, RX_SHORT, RX_LONG, RX_CTRUNC, RX_KINDS };

/* Kinds of an extra datagram just before the good datagram. */
enum fake_extra {
	/* For both roles: malformed, */
	EXTRA_EMPTY, EXTRA_SHORT, EXTRA_HUGE, EXTRA_MULTIPLIER, EXTRA_TRUNCATED, EXTRA_BOTH_ROLES,
	/* with a key, for both: unverified, and not in the random mixtures, */
	EXTRA_UNVERIFIED = 100,
	/* for the emitter after a good reply: foreign, and in no other counter */
	EXTRA_NO_SSID,
	/* for the emitter: foreign, */
	EXTRA_OTHER_SSID = EXTRA_BOTH_ROLES, EXTRA_FUTURE, EXTRA_FAR_PAST, EXTRA_OTHER_T1,
	/* (of an earlier probe by its number, but not by its T1; the former without an SSID,) */
	EXTRA_OLD, EXTRA_OLD_WITH_SSID, EXTRA_EMIT_END,
	/* for the reflector: foreign. */
	EXTRA_IS_REPLY = EXTRA_EMIT_END, EXTRA_OWN_PORT, EXTRA_OWN_ADDRESS, EXTRA_MULTICAST, EXTRA_BROADCAST,
	EXTRA_NO_PKTINFO, EXTRA_REFLECT_END
};

/* The number of a packet: of the emitter's probes by successful sends; of the peer's requests as they are made. */
enum fake_fault {
	NO_FAULT,
	LOST, /* the reply, or the request */
	LATE, /* by argument ns: the reply after the timeout; a request while its followers pass it */
	TWICE, /* delivered again, argument ns later */
	LATENCY, /* argument: ns between the two wire timestamps of the sample */
	STEP, /* a clock is set between them: argument ns more, and no later */
	/* CLOCK_REALTIME is set by argument ns, for good: when the probe was sent; when the request has been received
	 * and the clock been read `times` times since then. */
	SET,
	EXTRA, /* argument: enum fake_extra */
	BAD_TLV, /* request with a TLV longer than the packet */
	LARGE, /* request of nearly all that UDP can carry */
	RX, /* argument: enum fake_rx */
	TX, /* argument: enum fake_entry, instead of the transmit timestamp */
	TX_NONE,
	TX_SLOW, /* argument ns until it is delivered */
	TX_TWICE,
	TX_ASLEEP, /* delivered only once the task sleeps in ppoll */
	TX_ID, /* argument is added to the id */
	TX_EXTRA, /* argument: enum fake_entry, before the good entry */
	TX_EXTRA_ID, /* an extra timestamp before the good timestamp; argument is added to its id */
	TX_TIME, /* argument: ns added to the timestamp: it is another packet's */
	NO_ID, /* the requested id is not delivered */
	SEND_ERROR, /* argument: errno; `times`, at least once */
	RECV_ERROR, /* argument: errno, before the datagram */
	STOP, /* the stop flag is raised argument ns after the send */
	FAULTS,
	/* Reflecting peer. In the network: */
	LOST_BACK = FAULTS, /* LOST is then the probe. argument 1: the first reply only, 2: the second only, 0: all */
	DELAYED, /* the probe is delayed by argument ns, so that later probes may arrive before it */
	ASKED_TWICE, /* the probe arrives again argument ns later, and is answered again */
	/* In the reflector: */
	RESTARTED, /* before this probe arrives: its numbers begin at 0 */
	RESPONSE, /* argument ns from T2 to T3 on the wire, which make the latency longer by as much */
	STEPPED_THERE, /* its clock is set between T2 and T3 on the wire: argument ns more */
	NO_T2, /* no wire timestamp of the arrival: T2 is that of user space */
	NO_CLOCK, /* zeros for T2 and T3; not with a key */
	NO_T2_USER, /* T2_SW is not reported */
	NO_BOUND, /* its user-space times are not on the timebase of T2 */
	/* In the reply: */
	NO_TLVS, /* they come back as they were sent: the U flags are set */
	BAD_TLVS, /* the flag M in the first */
	BAD_INTEGRITY, /* the flag I in the first */
	PADDED, /* argument: additional octets after the requested length */
	FOLLOW_ZERO, /* the follow-up was not known in time */
	FOLLOW_NUMBER, /* argument is added to the number of the follow-up, whose time is wrong */
	FOLLOW_METHOD, /* argument: enum packet_method of the follow-up */
	ARRIVED_TTL, ARRIVED_TOS, /* argument: of the probe; the latter also of a request */
	ALL_FAULTS
};

/* RFC 8972; without state, so that numbers are copied and follow-ups zeros; RFC 8762, so that TLVs come back as they
 * were. */
enum fake_reflector { REFLECTOR_STATEFUL, REFLECTOR_STATELESS, REFLECTOR_OLD };

/* Sorted by `first`. `last` 0: a single packet. */
struct fake_event {
	uint32_t first, last;
	enum fake_fault fault;
	int64_t argument;
	unsigned times;
};

#define FAKE_ACCOUNT(X) \
	X(sent) X(received) X(warmup) X(recorded) X(lost) X(unstamped) X(negative) X(unfinished) X(answered) \
	X(unanswered) X(late) X(duplicate) X(foreign) X(malformed) X(reordered) X(repeated) X(malformed_tlv) X(refused) \
	X(missing_tx) X(missing_rx) X(stamp_late) X(stamp_duplicate) X(stamp_unmatched) X(breaches) X(stepped) \
	X(closing) X(cut_short) X(unverified) X(unusable_tlv) X(follow_up_late) X(unjudged) X(other_ttl) X(other_class) \
	X(disallowed) X(too_short) X(no_session) X(replayed) X(over_rate)

struct fake_account {
#define X(field) int64_t field;
	FAKE_ACCOUNT(X)
#undef X
	int64_t error_other, control_truncated; /* of struct channel */
	int64_t follow_up[FOLLOW_UPS];
};

enum fake_verdict {
	GOOD, FOREIGN, MALFORMED, UNVERIFIED, CUT_SHORT,
	/* By a reflector only. */
	DISALLOWED, TOO_SHORT, NO_SESSION, REPLAYED, OVER_RATE
};

/* A reply of the peer: its contents and its departure. */
struct fake_reply {
	uint32_t seq;
	bool tlvs; /* requested TLVs are answered */
	bool malformed, integrity; /* flags of the first TLV */
	int64_t t2_ns, t2_user_ns, t3_ns, t3_wire_ns;
	uint8_t t2_method;
	/* Source reported by this reply as a whole by the rant TLV; NONE in a reply used after a reply with
	 * a better source. */
	enum source t2_source, t2_reported;
	bool no_clock; /* neither T2 nor T3 */
	bool t2_user, on_scale, off_scale;
	bool follow_known;
	uint32_t follow_seq;
	uint8_t follow_method;
	int64_t follow_ns;
	uint8_t ttl, tos;
	bool again; /* the second reply to its probe */
};

/* A queue entry. */
struct fake_message {
	int64_t at_ns; /* CLOCK_MONOTONIC, when it can be read */
	uint64_t order;
	bool used;
	/* delivered after the task has slept this long: by a kernel thread on the same CPU */
	int64_t asleep_ns;
	int error; /* instead of a message */
	size_t bytes; /* beyond data[]: zeros */
	uint8_t data[FAKE_DATA_BYTES];
	int flags;
	union {
		char octets[256];
		struct cmsghdr align;
	} control;
	size_t control_bytes;
	union address from;
	/* For the account of the fake. */
	enum fake_verdict verdict;
	enum fake_entry entry;
	uint32_t id; /* id of a timestamp */
	uint32_t number; /* number of the packet */
	unsigned peer;
	bool rx_stamped, bad_tlv, tos_reported;
	uint8_t tos;
	int64_t wire_ns;
	struct fake_reply reply;
};

struct fake_queue {
	struct fake_message message[FAKE_QUEUE];
	int used, high; /* none is used from `high` on */
	struct fake_message *first; /* the next entry; NULL: to be searched */
};

/* The truth about a sent packet, by the count of successful sends. */
struct fake_packet {
	uint32_t seq;
	uint32_t number;
	int64_t sent_ns; /* CLOCK_MONOTONIC */
	int64_t tx_wire_ns, rx_wire_ns, tx_user_ns, rx_user_ns, latency_ns;
	uint64_t recorded_before;
	int64_t set_ns; /* by how much CLOCK_REALTIME was set between the times of its latency */
	bool answered, rx_stamped, stamped, warmup, concluded, was_lost;
	/* the NIC's clock contradicts the relation of the clocks when its timestamp is fetched */
	bool clock_set;
	bool id_unknown; /* its id was requested and is not known yet */
	enum { PLACE_NONE, PLACE_RECORDED, PLACE_OTHER } place;
	/* Emitter's probe: the accepted reply, and the result of its T3. */
	struct fake_reply reply;
	enum follow_up follow_up;
	bool closing; /* not part of the run */
	/* In the network: arrived, number of answers, an answer returned. */
	bool arrived, came_back;
	unsigned answers;
	/* Reflector's reply: the expected report in the next reply. */
	uint32_t reply_seq;
	bool listed; /* some reply has reported it by the second rant TLV */
};

/* A probe in flight to the peer. */
struct fake_probe {
	bool used;
	int64_t at_ns; /* CLOCK_MONOTONIC, when it arrives */
	uint64_t n;
	int64_t more_ns; /* its reply comes so much later than that of the first */
	bool again;
	int64_t sent_ns;
	size_t bytes;
	uint8_t data[FAKE_DATA_BYTES];
};

struct fake {
	bool on;
	/* Set after fake_start(). */
	enum role role;
	enum source wire;
	bool tx_stamps, id_by_message, bare, loopback, check_steps, check_set;
	unsigned peers;
	unsigned stateful; /* this number of peers have a session, the others get stateless answers; 0: all */
	uint32_t packets; /* how many requests the peers make */
	int64_t gap_ns; /* a peer that waits for replies: time from reply to next request; 0: 3 us */
	int64_t open_loop_ns; /* the peers do not wait for replies: time between requests */
	uint16_t echo_port; /* replies come back from this port: the peer is a reflector too */
	uint32_t first_id; /* id of the first timestamp, sequence number of the first packet */
	int64_t phc_set_ns; /* offset of the NIC's clock from the relation of the clocks */
	bool phc_readable;
	bool counts_refused; /* the kernel has counted a packet that it then refused */
	const struct fake_event *events;
	size_t event_count;
	int64_t timeout_ns, threshold_ns;
	uint64_t warmup_left;
	_Atomic int *stop;
	bool cut_short; /* the end of the duration is expected to cut the last exchange short */
	int64_t idle_stop_ns; /* raises *stop after this idle time */
	uint64_t call_limit; /* a test that reaches a limit hangs, and fails */
	int64_t time_limit_ns;
	/* maximum duration of a call that finds nothing: longer calls mean fewer calls per wait */
	int64_t idle_ns_max;
	bool manual; /* no peer and no account: the test fills the queues itself */
	const uint64_t *recorded; /* the module's counter, stored with each sent packet; NULL: not */
	const struct packet_plan *plan; /* contents of the probes, in both roles; NULL: 44 octets */
	const struct hmac *key;
	enum fake_reflector reflector;
	enum source remote; /* timestamp source of the reflecting peer */
	bool no_ssid; /* it writes 0, like peers before RFC 8972 */
	uint32_t old_age; /* EXTRA_OLD: age in probes */
	int64_t remote_ppb; /* and they run so much faster than ours */
	int64_t remote_more_ns; /* all clocks of the peer that reflects are so much ahead */
	int64_t remote_set_at_ns, remote_set_by_ns; /* and are set by as much at this time of CLOCK_MONOTONIC; 0: never */
	bool synced; /* the clocks of the timestamps at both ends agree */
	enum metric threshold_on;
	const enum end *end; /* end of the module's run: later packets are closing probes */
	uint8_t dscp; /* with which the emitter sends */
	/* Converts a user-space time to the timebase of the timestamps, if the reflector can; NULL: it
	 * cannot. */
	bool (*place)(int64_t real_ns, int64_t *converted_ns, int64_t *bound_ns);
	/* To a reflector: is this request refused, and why? Else its verdict as it is. NULL: none is. */
	enum fake_verdict (*judge)(const struct fake_message *m);
	bool spread; /* each of the peers that probe has an address of its own */
	size_t cut_bytes; /* length of truncated requests; 0: not truncated */
	bool forgetful; /* more peers than sessions: each request begins a new session */

	/* State and results. */
	int64_t now_ns;
	uint64_t calls, send_calls, receive_calls, fetch_calls, poll_calls, sleeps;
	int64_t slept_ns;
	uint64_t sends;
	struct fake_account expect;
	struct fake_packet packet[FAKE_PACKETS];
	struct fake_queue receive_queue, error_queue;
	struct fake_message current; /* delivered last, of those that get a reply */
	struct {
		struct msghdr header;
		uint8_t data[FAKE_DATA_BYTES], control[256];
		size_t bytes;
		union address name;
		int flags;
	} last_sent;
	int last_receive_flags;
	int64_t poll_limit_ns;
	short poll_events;
	int send_errors[8]; /* manual: taken in order until a 0 */
	unsigned send_errors_used;
	int64_t real_read_ns; /* CLOCK_REALTIME as last read */
	int64_t real_set_ns; /* how far it was set in all */

	/* The fake's own. */
	size_t cursor;
	uint64_t order;
	unsigned empty_turns;
	int64_t last_event_ns, stop_at_ns;
	uint64_t attempts_at_last_send, attempts;
	uint32_t failed_number, failed_times;
	uint32_t peer_made, chain_number;
	bool chain_waits, user_rx_wanted;
	int64_t set_pending_ns; /* 0: nothing */
	unsigned set_after_reads;
	int64_t arrival_user_ns;
	uint64_t lost_order; /* how many were lost */
	uint64_t lost_at[FAKE_PACKETS];
	uint64_t highest_answered;
	uint32_t peer_highest[FAKE_PEERS], peer_replies[FAKE_PEERS];
	uint64_t peer_requests[FAKE_PEERS];
	/* the last replies to it, each at its number modulo theirs */
	struct fake_packet *peer_last[FAKE_PEERS][FAKE_LAST];
	uint8_t seen[FAKE_PACKETS];
	/* The reflector's session. */
	struct {
		uint32_t seq; /* number of the next reply */
		bool has_last;
		uint32_t last_seq;
		int64_t last_ns;
		uint8_t last_method;
	} session;
	struct fake_probe probe[FAKE_QUEUE];
	unsigned probes, probes_high;
	bool tos_reported; /* by the kernel, from now on */
	uint64_t contradicts_first, contradicts_last; /* packets that do not fit to the clocks; the last 0: none */
	struct fake_packet *waiting; /* its record waits for a follow-up; NULL: none */
	enum source best_remote; /* best source reported by an accepted reply */
	uint64_t restarts, accidents;
	uint64_t follow_ups; /* number of follow-ups reported by the tested reflector */
	/* number of replies reported by the second rant TLV; reported later than in the next reply */
	uint64_t listed, listed_late;
	uint32_t refused_ids; /* ids that were given to refused packets */
	bool id_asked; /* by the packet that is sent */
	/* Entries with the kernel's transmit times of each packet: 1 of the queueing discipline, 2 also of the driver.
	 * After the timestamp; of a wrong id or time; or none. */
	unsigned detail;
	enum fake_detail { DETAIL_GOOD, DETAIL_AFTER, DETAIL_OTHER_ID, DETAIL_EARLY, DETAIL_LATER, DETAIL_TWICE,
			   DETAIL_NONE, FAKE_DETAILS } how;
	uint64_t ids_asked;
};

extern struct fake fake;

/* On, with nothing scripted and defaults set; and off. */
void fake_start(enum role role, enum source wire);
void fake_end(void);

/* The peers begin. Call it when the script is set. */
void fake_begin(void);

/* The run is over: concludes the open entries of the fake's counters. */
void fake_finish(void);

/* Clock offsets: no two clocks may be mistaken for each other. */
int64_t fake_real_ns(int64_t monotonic_ns);
int64_t fake_wire_ns(int64_t monotonic_ns);
/* reflecting peer: clock of its timestamps, or of user space */
int64_t fake_remote_ns(int64_t monotonic_ns, bool stamped);

/* For tests that build messages: adds a control message. length 0: the correct length. */
void fake_control(struct fake_message *m, int level, int type, const void *payload, size_t bytes, size_t length);
void fake_put(struct fake_queue *queue, const struct fake_message *m);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_send(int fd, const void *packet, size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t bytes, int flags);
int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *limit, const sigset_t *mask);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

#endif
