/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of a run: parameters, results and packets in flight (hot). */
#ifndef MEASURE_EXCHANGE_H
#define MEASURE_EXCHANGE_H

#include "histogram.h"
#include "host/clock/clock.h"
#include "host/clock/clock_set.h"
#include "host/counters/pmc.h"
#include "measure/idle_sleep.h"
#include "measure/flight.h"
#include "measure/freeze.h"
#include "measure/pace.h"
#include "host/clock/poll_clock.h"
#include "measure/source_port.h"
#include "measure/ipdv.h"
#include "measure/window.h"
#include "options.h"
#include "rant.h"
#include "result/log.h"
#include "result/neighbours.h"
#include "result/result.h"
#include "result/sample_queue.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/session.h"
#include "wire/socket.h"
#include "wire/timestamping.h"

#define STALL_NS (10 * NS_PER_MS)

/* Clock of a latency's timestamps, which decides how steps of that clock are detected. */
enum timebase {
	TIMEBASE_SYSTEM, /* CLOCK_REALTIME, against CLOCK_MONOTONIC */
	TIMEBASE_NIC, /* the NIC's clock, against the times of user space */
	TIMEBASE_UNCHECKED, /* either clock: --no-step-check */
};

/* State of the emitter's loops. */
struct emitter {
	/* the reflector's times are within 2^32 s from here on: half of that before its last T2; initially
	 * 1970 */
	int64_t era_ns;
	int64_t due_ns; /* CLOCK_MONOTONIC: scheduled time of the next probe */
	bool ssid_reported; /* a reply had our SSID, so the peer supports SSIDs */
	bool digest_at_once; /* the TLVs of a reply must be read before the next probe */
	/* its reply is in the channel's datagram with only the base read; NULL: none */
	struct flight *undigested;
	struct flight *joining; /* flight that waits for its T3_WIRE; NULL: none */
	uint64_t lost_total;
	uint64_t warmup_open; /* several probes in flight: warm-up probes neither answered nor lost yet */
	struct disturbance disturbance;
	uint32_t highest_answered;
	struct freeze_emitter freeze;
	struct reply reply; /* the last reply that was read */
	uint8_t probe[DATAGRAM_MAX];
	size_t probe_bytes; /* its length */
	struct lost_probe lost[LOST_REMEMBERED];
	/* packet_t1() of the last probes, by sequence number: few_t1, or with a window the caller's memory */
	uint64_t *t1;
	uint32_t t1_mask;
	uint64_t few_t1[T1_REMEMBERED];
};

/* State of the reflector's loop. */
struct reflector {
	struct idle_sleep_state idle_sleep_state;
	/* TIMEBASE_SYSTEM: CLOCK_REALTIME, and CLOCK_MONOTONIC again, read after now_ns */
	int64_t now_real_ns, now_by_ns;
	/* upper bound of the datagrams queued in the listening socket before the newest per-peer socket was
	 * assigned */
	unsigned unread;
	unsigned first; /* index of that listening socket, or of the listening socket that received last */
	struct peer_socket *hot[PEER_SOCKETS]; /* per-peer and listening sockets with recent requests */
	unsigned hots, next_hot; /* number of hot sockets; index of the next to poll */
	unsigned next_cold; /* index of the next of all sockets to poll */
	unsigned came; /* polls that received a datagram, the last in bit 0 */
	/* --once: probes of the sessions of emitters, how many of them were received, and time of the last. */
	uint64_t emitters_probes, emitters_probes_seen;
	int64_t emitters_silent_since_ns;
	bool kernel_times_asked, detail_asked; /* a request has asked for T2_KERNEL, or for T3_SCHED */
	struct freeze_reflector freeze;
	/* With exchange.places: largest bound of the T3 placed since the count began, and of those before. */
	int64_t placed_bound_ns[2];
	unsigned placed; /* T3 placed since the count began */
	struct request request; /* the last request */
};

struct exchange {
	/* Set by the caller. */
	struct channel *channel;
	struct log *log; /* NULL: none */
	struct sample_queue *sample_queue; /* NULL: none */
	struct neighbours *neighbours; /* NULL: none */
	struct sessions *sessions; /* reflector */
	struct pmc *pmc; /* NULL: none */
	/* Converts user-space times to the timebase of the NIC's clock; NULL: they stay on CLOCK_REALTIME. */
	const struct clock_watch *clocks;
	/* The NIC's clock cannot be read: packets give `clocks`; NULL: readings, or nothing. */
	struct clock_packets *packets;
	/* open with TIMEBASE_SYSTEM; NULL: steps are detected by clock readings only */
	const struct clock_set *clock_set;
	/* faults of this host's clocks, which a reflector reports; NULL: not watched */
	const struct clock_watch *watched;
	struct clock_peer *peer; /* emitter: offset of the reflector's clock; NULL: not measured */
	const struct options *options;
	const _Atomic int *stop;
	bool loopback; /* loopback interface: both ends may have the same address */
	struct pace pace; /* emitter; interval_ns 0: the next probe is sent when the previous exchange ends */
	struct window window; /* emitter */
	/* emitter: arrays of `source_ports` entries; NULL: a single port */
	struct port_state *port;
	struct source_port *source_port;
	unsigned source_ports;
	const struct packet_plan *plan; /* emitter: contents of a probe */
	const struct hmac *key; /* NULL: unauthenticated mode */
	uint8_t sync_source; /* RFC 8972 table 7: synchronisation source of this host's timestamps */
	/* Called in the loop when the measurement begins. May be NULL. */
	void (*on_start)(void *context);
	/* Called in the loop for a sample above the threshold, before any other processing. May be NULL. */
	void (*on_breach)(void *context, const struct sample *s);
	/* Called in the loop for a breach of the other host. s: the sample of that number; NULL: not known. May be NULL. */
	void (*on_peer_breach)(void *context, uint16_t ssid, uint32_t seq, const struct sample *s);
	/* enum trace_state of the trace that on_breach freezes; NULL: none */
	const _Atomic int *trace_state;
	struct freeze_done froze; /* set by the two hooks */
	struct freeze_causes *causes; /* reflector: another thread explains saved traces; NULL: none does */
	/* Called once after 3 s without an answer, while there is nothing to measure. May be NULL. */
	void (*on_silence)(void *context);
	void *context;

	struct result result; /* its histograms and source ports are also set by the caller */
	struct ipdv ipdv; /* result.ipdv after the run, by ipdv_result() */

	/* Loop state of both roles. */
	uint8_t from, to; /* latency = time_ns[to] - time_ns[from] */
	enum timebase timebase;
	bool same_timebase; /* user-space times are on the timebase of the NIC timestamps, or are not taken */
	/* --stamp receive: transmit timestamps are of the kernel, and are placed on the scale of the NIC's clock */
	bool places;
	unsigned details; /* transmit times of the kernel beside the timestamp: 0, 1 or 2 entries of the error queue */
	/* a breach of this host is to freeze the trace of the other: an emitter with the freeze TLV, or a reflector */
	bool freezes;
	bool wants_user_rx; /* the user-space receive time of each packet is needed */
	bool measuring, silence_reported, closing;
	uint64_t warmup_left;
	int64_t now_ns; /* CLOCK_MONOTONIC, as last read */
	int64_t rested_ns; /* CLOCK_MONOTONIC: end of the last sleep or breach hook, which is not a stall */
	/* TIMEBASE_SYSTEM: CLOCK_REALTIME was stepped before now_ns was set_ns; time of the last query of
	 * the kernel */
	int64_t set_ns, asked_ns;
	unsigned turn; /* iteration of the loop: the clock is read at a multiple */
	uint32_t next_key;
	/* reflector, and with a window: flights from this key to next_key - 1 may wait for timestamps or
	 * for more */
	uint32_t oldest_key;
	struct arrival arrival;
	int64_t arrival_user_ns;
	/* Times of poll_clock: end of the last poll of a socket, of the last send, or of a sleep; the last poll gap,
	 * and the longest poll gap before it since an exchange began or ended. */
	struct poll_clock poll_clock;
	int64_t polled_ticks, last_gap_ticks, longest_gap_ticks;
	/* The longest gap of the exchange that ended last, which is recorded after the next send; 0: none. */
	int64_t ended_gap_ticks;
	uint32_t ended_gap_seq;
	uint32_t poll_gap_ns; /* of the last received packet: see struct sample */
	/* Rings by sequence number, mask + 1 entries: the arrays below, or with a window the caller's
	 * memory. */
	struct flight *flight;
	uint32_t flight_mask;
	struct flight few[FLIGHTS];

	struct emitter emit;
	struct reflector reflect;
};

/* Hot. True if steps of the NIC's clock are checked. */
static inline bool exchange_checks_nic(const struct exchange *x)
{
	return x->timebase == TIMEBASE_NIC;
}

/* Hot. True if steps of CLOCK_REALTIME are checked. */
static inline bool exchange_checks_realtime(const struct exchange *x)
{
	return x->timebase == TIMEBASE_SYSTEM;
}

/* Hot. True if a reflector reads CLOCK_REALTIME with each reading of CLOCK_MONOTONIC. */
static inline bool exchange_reads_both(const struct exchange *x)
{
	return exchange_checks_realtime(x) && x->options->role == ROLE_REFLECT;
}

/* Hot. True if transmit timestamps are validated, see measure/tx_match.h. */
static inline bool exchange_checks_stamps(const struct exchange *x)
{
	return x->channel->tx_stamps && x->timebase != TIMEBASE_UNCHECKED;
}

/* Hot. True if the kernel's transmit times of this packet are wanted: of one in `every`, 0: of none. */
static inline bool exchange_is_detailed(const struct exchange *x, uint32_t seq, uint32_t every)
{
	return x->channel->detail && every && (every == 1 || seq % every == 0);
}

/* Hot. Reads the clock into now_ns. STALL_NS or more since the previous reading, without sleeps, counts as
 * a stall of the loop. */
static inline void exchange_read_now(struct exchange *x)
{
	const int64_t ns = x->now_ns, since_ns = ns > x->rested_ns ? ns : x->rested_ns;

	x->now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (x->now_ns - since_ns >= STALL_NS && x->measuring)
		outage_add(&x->result.stalls, since_ns, x->now_ns);
}

/* Hot. A signal ends the run, so that nothing is awaited for long. */
static inline bool exchange_is_interrupted(const struct exchange *x)
{
	return *x->stop == 1;
}

/* Hot. After a sleep or a hook command, which are neither stalls nor poll gaps. */
static inline void exchange_note_rest(struct exchange *x)
{
	x->rested_ns = clock_read_ns(CLOCK_MONOTONIC);
	x->polled_ticks = poll_clock_read(&x->poll_clock);
}

/* Hot. After each poll and each send: the time since the last call is a poll gap, in which this thread could not notice
 * a packet. */
static inline void exchange_note_poll(struct exchange *x)
{
	const int64_t before_ticks = x->polled_ticks;

	if (x->last_gap_ticks > x->longest_gap_ticks)
		x->longest_gap_ticks = x->last_gap_ticks;
	x->polled_ticks = poll_clock_read(&x->poll_clock);
	x->last_gap_ticks = x->polled_ticks - before_ticks;
}

/* Hot. An exchange begins: the gaps until here were between exchanges, the last gap only with with_last. */
static inline void exchange_begin_gaps(struct exchange *x, bool with_last)
{
	const bool last = with_last && x->last_gap_ticks > x->longest_gap_ticks;
	const int64_t gap_ns = poll_clock_ns(&x->poll_clock, last ? x->last_gap_ticks : x->longest_gap_ticks);

	/* Not the start-up. */
	if (gap_ns >= POLL_GAP_LONG_NS && x->measuring && x->now_ns - gap_ns >= x->result.began_ns)
		outage_add(&x->result.poll_gaps.between, x->now_ns - gap_ns, x->now_ns);
	x->longest_gap_ticks = 0;
	if (with_last)
		x->last_gap_ticks = 0;
}

/* Hot. An exchange ends: keeps its longest gap for exchange_record_gap(). */
static inline void exchange_end_gaps(struct exchange *x, uint32_t seq)
{
	x->ended_gap_ticks = x->last_gap_ticks > x->longest_gap_ticks ? x->last_gap_ticks : x->longest_gap_ticks;
	x->ended_gap_seq = seq;
	x->last_gap_ticks = x->longest_gap_ticks = 0;
}

/* Hot. After the next send, where it delays no probe. */
static inline void exchange_record_gap(struct exchange *x)
{
	if (x->measuring && x->ended_gap_ticks > 0 && x->result.poll_gaps.within)
		histogram_add(x->result.poll_gaps.within, poll_clock_ns(&x->poll_clock, x->ended_gap_ticks),
			      x->ended_gap_seq);
	x->ended_gap_ticks = 0;
}

/* For runs without a relation of the clocks: user-space times stay on CLOCK_REALTIME, and stages between
 * them and NIC timestamps are not collected. */
void exchange_drop_clocks(struct exchange *x);

/* Copies the granted settings of the open channel into x->result. */
void exchange_note_granted(struct exchange *x);

/* Notes the length of a probe on a link of this speed; 0: not known. */
void exchange_note_wire(struct exchange *x, int speed_mbps);

/* Copies the counters of sessions and of the socket into x->result. Any thread may call it during the run.
 * A copy that began before the end may be old, so the caller repeats it after the watch thread has ended. */
void exchange_collect(struct exchange *x);

/* Runs until the duration, the count, a breach or *stop ends it. The reason is in x->result.end. */
void exchange_run(struct exchange *x);

#endif
