/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel, a network and a peer for the tests of the hot rooms, behind sendmsg, recvmsg, ppoll and clock_gettime. Off by
 * default: then the real calls are made. Time is virtual: each call takes a little of it, ppoll the most, and nothing
 * depends on how fast the machine is. A script says what goes wrong with which packet; the fake knows the true times of
 * each packet and keeps an account of its own, from the contract in rant.h, to hold against that of the room.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include "rant.h"

#include <poll.h>
#include <sys/socket.h>

#define FAKE_FD 1000 /* no descriptor of this process */
#define FAKE_QUEUE 1024
#define FAKE_PACKETS 8192
#define FAKE_PEERS 8
#define FAKE_FIRST_PORT 40000 /* of the peers that probe */
#define FAKE_PORT 862
#define FAKE_SSID 0x1234 /* of the first peer, and of the emitter under test */
#define FAKE_LOCAL 0x0a000002 /* 10.0.0.2 */
#define FAKE_REMOTE 0x0a000001
#define FAKE_INTERFACE 7
#define FAKE_TTL 63
#define FAKE_T2_NS 1000 /* T2 in the replies of the peer, after T1 in the probe */

/* What an entry of the error queue looks like. All but the first are not what was asked for. */
enum fake_entry {
	ENTRY_GOOD, ENTRY_ERRNO, ENTRY_ORIGIN, ENTRY_INFO, ENTRY_CTRUNC, ENTRY_TRUNC, ENTRY_STAMP_SHORT, ENTRY_STAMP_LONG,
	ENTRY_ERROR_SHORT, ENTRY_ERROR_LONG, ENTRY_ZERO, ENTRY_OTHER_KIND, ENTRY_NO_STAMP, ENTRY_NO_ERROR, ENTRY_ICMP,
	ENTRY_KINDS
};

/* The receive stamp of a datagram. All but the first mean that there is none. */
enum fake_rx { RX_GOOD, RX_ABSENT, RX_ZERO, RX_OTHER_KIND, RX_SHORT, RX_LONG, RX_CTRUNC, RX_KINDS };

/* A datagram more, just before the good one. */
enum fake_extra {
	/* For both roles: malformed, */
	EXTRA_EMPTY, EXTRA_SHORT, EXTRA_HUGE, EXTRA_MULTIPLIER, EXTRA_TRUNCATED, EXTRA_BOTH_ROLES,
	/* for the emitter: foreign, */
	EXTRA_OTHER_SSID = EXTRA_BOTH_ROLES, EXTRA_FUTURE, EXTRA_FAR_PAST, EXTRA_OTHER_T1, EXTRA_EMIT_END,
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
	LATENCY, /* argument ns between the two wire stamps of the sample */
	STEP, /* a clock is set between them: argument ns more, and no later */
	/* CLOCK_REALTIME is set by argument ns, for good: when the probe was sent; when the request has been received and
	 * the clock been read `times` times since then. */
	SET,
	EXTRA, /* argument: enum fake_extra */
	BAD_TLV, /* request with a TLV longer than the packet */
	LARGE, /* request of nearly all that UDP can carry */
	RX, /* argument: enum fake_rx */
	TX, /* argument: enum fake_entry, in place of the transmit stamp */
	TX_NONE,
	TX_SLOW, /* argument ns until it is delivered */
	TX_TWICE,
	TX_ASLEEP, /* delivered only once the task sleeps in ppoll */
	TX_ID, /* argument is added to the id */
	TX_EXTRA, /* argument: enum fake_entry, before the good one */
	TX_EXTRA_ID, /* a stamp more, before the good one; argument is added to its id */
	SEND_ERROR, /* argument: errno; `times`, at least once */
	RECV_ERROR, /* argument: errno, before the datagram */
	STOP, /* the stop flag is raised argument ns after the send */
	FAULTS
};

/* Sorted by `first`. `last` 0: one packet only. */
struct fake_event {
	uint32_t first, last;
	enum fake_fault fault;
	int64_t argument;
	unsigned times;
};

#define FAKE_ACCOUNT(X) \
	X(sent) X(received) X(warmup) X(recorded) X(lost) X(unstamped) X(negative) X(unfinished) X(answered) \
	X(unanswered) X(late) X(duplicate) X(foreign) X(malformed) X(reordered) X(repeated) X(malformed_tlv) X(refused) \
	X(missing_tx) X(missing_rx) X(stamp_late) X(stamp_duplicate) X(stamp_unmatched) X(breaches) X(stepped)

struct fake_account {
#define X(field) int64_t field;
	FAKE_ACCOUNT(X)
#undef X
	int64_t error_other, control_truncated; /* of struct channel */
};

enum fake_verdict { GOOD, FOREIGN, MALFORMED };

/* One entry of a queue. */
struct fake_message {
	int64_t at_ns; /* CLOCK_MONOTONIC, when it can be read */
	uint64_t order;
	bool used;
	int64_t asleep_ns; /* comes when the task has slept for so long: it is made by a thread of the same CPU */
	int error; /* instead of a message */
	size_t bytes; /* beyond data[]: zeros */
	uint8_t data[128];
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
	uint32_t id; /* of a stamp */
	uint32_t number; /* of the packet */
	unsigned peer;
	bool rx_stamped, bad_tlv;
	int64_t wire_ns;
};

struct fake_queue {
	struct fake_message message[FAKE_QUEUE];
	int used, high; /* none is used from `high` on */
};

/* The truth about one packet that was sent, by the number of successful sends. */
struct fake_packet {
	uint32_t seq;
	uint32_t number;
	int64_t sent_ns; /* CLOCK_MONOTONIC */
	int64_t tx_wire_ns, rx_wire_ns, tx_user_ns, rx_user_ns, latency_ns;
	int64_t set_ns; /* by how much CLOCK_REALTIME was set between the times of its latency */
	bool answered, rx_stamped, stamped, warmup, concluded, was_lost;
	enum { PLACE_NONE, PLACE_RECORDED, PLACE_OTHER } place;
};

struct fake {
	bool on;
	/* Set after fake_start(). */
	enum role role;
	enum source wire;
	bool tx_stamps, id_by_message, loopback, check_steps, check_set;
	unsigned peers;
	uint32_t packets; /* how many requests the peers make */
	int64_t open_loop_ns; /* the peers do not wait for replies: time between requests */
	uint16_t echo_port; /* replies come back from this port: the peer is a reflector too */
	uint32_t first_id; /* id of the first stamp, sequence number of the first packet */
	const struct fake_event *events;
	size_t event_count;
	int64_t timeout_ns, threshold_ns;
	uint64_t warmup_left;
	volatile sig_atomic_t *stop;
	bool cut_short; /* the end of the duration is expected to cut the last exchange short */
	int64_t idle_stop_ns; /* raises *stop when nothing has happened for so long */
	uint64_t call_limit; /* a test that reaches one of these hangs, and fails */
	int64_t time_limit_ns;
	int64_t idle_ns_max; /* what a call that finds nothing takes, at most: the longer, the fewer calls a wait needs */
	bool manual; /* no peer and no account: the test fills the queues itself */

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
		uint8_t data[128], control[256];
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
	uint8_t seen[FAKE_PEERS][FAKE_PACKETS];
};

extern struct fake fake;

/* On, with nothing scripted and defaults set; and off. */
void fake_start(enum role role, enum source wire);
void fake_end(void);

/* The peers begin. Call it when the script is set. */
void fake_begin(void);

/* The run is over: what is still open in the account of the fake is concluded. */
void fake_finish(void);

/* Clock offsets: no two clocks may be mistaken for each other. */
int64_t fake_real_ns(int64_t monotonic_ns);
int64_t fake_wire_ns(int64_t monotonic_ns);

/* For tests that build messages: one control message more. length 0: the right one. */
void fake_control(struct fake_message *m, int level, int type, const void *payload, size_t bytes, size_t length);
void fake_put(struct fake_queue *queue, const struct fake_message *m);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *limit, const sigset_t *mask);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

#endif
