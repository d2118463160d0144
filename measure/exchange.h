/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run: what it is given, what it leaves behind, and the packets in flight (hot). */
#ifndef MEASURE_EXCHANGE_H
#define MEASURE_EXCHANGE_H

#include "histogram.h"
#include "host/clock/clock.h"
#include "host/clock/clock_set.h"
#include "host/counters/pmc.h"
#include "measure/dozing.h"
#include "measure/flight.h"
#include "measure/pace.h"
#include "measure/source_port.h"
#include "measure/variation.h"
#include "measure/window.h"
#include "options.h"
#include "rant.h"
#include "result/log.h"
#include "result/result.h"
#include "result/tally.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/session.h"
#include "wire/socket.h"
#include "wire/timestamping.h"

#define STALL_NS (10 * NS_PER_MS)

/* Which clock the stamps of a latency are of, and so what its steps are seen by. */
enum timebase {
	TIMEBASE_SYSTEM, /* CLOCK_REALTIME, against CLOCK_MONOTONIC */
	TIMEBASE_NIC, /* the NIC's clock, against the times of user space */
	TIMEBASE_UNCHECKED, /* either of them: --no-step-check */
};

/* What an emitter's loops have to themselves. */
struct emitter {
	/* the reflector's times are within 2^32 s from here on: half of that before its last T2, at first 1970 */
	int64_t era_ns;
	int64_t due_ns; /* by the clock: of the probe that is sent next */
	bool ssid_told; /* a reply had our SSID, so this peer knows of SSIDs */
	bool digest_at_once; /* what its reply tells is wanted before the next probe */
	struct flight *undigested; /* its reply is in the channel's datagram and read as far as the base; NULL: none */
	struct flight *joining; /* waits for its T3_WIRE; NULL: none */
	uint64_t lost_total;
	uint64_t warmup_open; /* with many in flight: so many of these probes are neither answered nor lost yet */
	struct disturbance disturbance;
	uint32_t highest_answered;
	struct reply reply; /* the last one that was read */
	uint8_t probe[DATAGRAM_MAX];
	struct lost_probe lost[LOST_REMEMBERED];
	/* packet_t1() of the last probes, by sequence number: few_t1, or with a window the caller's memory */
	uint64_t *t1;
	uint32_t t1_mask;
	uint64_t few_t1[T1_REMEMBERED];
};

/* What a reflector's loop has to itself. */
struct reflector {
	struct dozing dozing;
	/* TIMEBASE_SYSTEM: CLOCK_REALTIME, and CLOCK_MONOTONIC again, read after now_ns */
	int64_t now_real_ns, now_by_ns;
	/* so many datagrams of the lane that listens may have come before the newest was its sender's */
	unsigned unread;
	unsigned first; /* which of the lanes that listen that is, or by which something came last */
	struct lane *hot[LANES]; /* the lanes that were used of late, */
	unsigned hots, next_hot; /* how many, and the one that is asked next */
	unsigned next_cold; /* the one of all lanes that is asked next */
	unsigned came; /* in which turns something came, the last one in bit 0 */
	/* --once: probes of the sessions that are an emitter's, how many of them were seen, and when the last was. */
	uint64_t emitters_probes, emitters_probes_seen;
	int64_t emitters_silent_since_ns;
	struct request request; /* the last one */
};

struct exchange {
	/* Set by the caller. */
	struct channel *channel;
	struct log *log; /* NULL: none */
	struct tally *tally; /* NULL: none */
	struct sessions *sessions; /* reflector */
	struct pmc *pmc; /* NULL: none */
	/* Puts the times of user space on the scale of the NIC's clock; NULL: they stay as they are. */
	const struct clock_watch *clocks;
	const struct clock_set *clock_set; /* open with TIMEBASE_SYSTEM; NULL: only readings of clocks tell */
	const struct clock_watch *watched; /* this host's clocks, whose faults a reflector tells; NULL: nobody looks */
	struct clock_peer *peer; /* emitter: the offset of the reflector's clock; NULL: not wanted */
	const struct options *options;
	const _Atomic int *stop;
	bool loopback; /* both ends may have one address */
	struct pace pace; /* emitter; interval_ns 0: the next probe leaves when the one before is over */
	struct window window; /* emitter */
	struct port_state *port; /* emitter, as many as result.ports; NULL: it has one */
	const struct packet_plan *plan; /* emitter: what a probe is like */
	const struct hmac *key; /* NULL: no authenticated mode */
	uint8_t sync_source; /* of this host's stamps, RFC 8972 table 7 */
	/* Called in the loop when the measuring begins. May be NULL. */
	void (*on_start)(void *context);
	/* Called in the loop at a sample above the threshold, before anything else is done with it. May be NULL. */
	void (*on_breach)(void *context, const struct sample *s);
	/* Called once when nothing has answered for 3 s, while there is nothing to measure. May be NULL. */
	void (*on_silence)(void *context);
	void *context;

	struct result result; /* its histograms and source ports are set by the caller, too */

	/* The loop's own, by both roles. */
	uint8_t from, to; /* latency = time_ns[to] - time_ns[from] */
	enum timebase timebase;
	bool one_scale; /* times of user space are on the scale of the stamps, or have no source */
	bool wants_user_rx; /* the time at which the program had a packet is wanted of each */
	bool measuring, silence_told, closing;
	uint64_t warmup_left;
	int64_t now_ns; /* CLOCK_MONOTONIC, as last read */
	int64_t rested_ns; /* until then it did not stand but slept, or ran the hook of a breach */
	/* TIMEBASE_SYSTEM: CLOCK_REALTIME was set at some time before now_ns was set_ns; when the kernel was asked */
	int64_t set_ns, asked_ns;
	unsigned turn; /* of the loop: every so many read the clock */
	uint32_t next_key;
	/* reflector, and with a window: flights from it to next_key - 1 may wait for stamps, or for more */
	uint32_t oldest_key;
	struct arrival arrival;
	int64_t arrival_user_ns;
	/* By sequence number, as many as the mask says and one more: those below, or with a window of the caller's
	 * memory. */
	struct flight *flight;
	uint32_t flight_mask;
	struct flight few[FLIGHTS];

	struct emitter emit;
	struct reflector reflect;
};

/* Hot. True: steps of the NIC's clock are looked for. */
static inline bool exchange_checks_nic(const struct exchange *x)
{
	return x->timebase == TIMEBASE_NIC;
}

/* Hot. True: steps of CLOCK_REALTIME are looked for. */
static inline bool exchange_checks_realtime(const struct exchange *x)
{
	return x->timebase == TIMEBASE_SYSTEM;
}

/* Hot. True: a reflector reads CLOCK_REALTIME too whenever it reads CLOCK_MONOTONIC. */
static inline bool exchange_reads_both(const struct exchange *x)
{
	return exchange_checks_realtime(x) && x->options->role == ROLE_REFLECT;
}

/* Hot. True: transmit timestamps are validated, see measure/witness.h. */
static inline bool exchange_checks_stamps(const struct exchange *x)
{
	return x->channel->tx_stamps && x->timebase != TIMEBASE_UNCHECKED;
}

/* Hot. Reads the clock into now_ns. If that is STALL_NS or more after the reading before, the loop did not run; but for
 * its sleeps. */
static inline void exchange_read_now(struct exchange *x)
{
	const int64_t ns = x->now_ns, since_ns = ns > x->rested_ns ? ns : x->rested_ns;

	x->now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (x->now_ns - since_ns >= STALL_NS && x->measuring)
		outage_add(&x->result.stalls, since_ns, x->now_ns);
}

/* Nobody tells how the clocks relate during the run: the times of user space stay on CLOCK_REALTIME, and the stages
 * between them and the NIC's stamps are not collected. */
void exchange_drop_clocks(struct exchange *x);

/* Copies into x->result what the open channel was granted. */
void exchange_note_granted(struct exchange *x);

/* Copies the counters of sessions and of the socket into x->result. Any thread may call it during the run. A copy
 * that began before the end may be old, so the caller repeats it after the watch thread has ended. */
void exchange_collect(struct exchange *x);

/* Runs until the duration, the count, a breach or *stop ends it. The reason is in x->result.end. */
void exchange_run(struct exchange *x);

#endif
