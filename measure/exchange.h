/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run: what it is given, what it leaves behind, and the packets in flight (hot). */
#ifndef MEASURE_EXCHANGE_H
#define MEASURE_EXCHANGE_H

#include "histogram.h"
#include "host/clock.h"
#include "host/pmc.h"
#include "measure/account.h"
#include "measure/log.h"
#include "measure/stages.h"
#include "options.h"
#include "rant.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/session.h"
#include "wire/socket.h"
#include "wire/timestamping.h"

/* For what is part of a loop, with the role as a constant. */
#define INLINE static inline __attribute__((always_inline))

#define FLIGHTS 256 /* packets whose transmit stamp may still come, a power of two */
#define LOST_REMEMBERED 1024 /* lost probes whose late reply is still told from a duplicate */

enum flight_state { FLIGHT_NONE, FLIGHT_WAITING, FLIGHT_STAMPED, FLIGHT_GIVEN_UP };

struct flight {
	struct sample sample;
	int64_t sent_ns; /* CLOCK_MONOTONIC, as last read */
	int64_t sent_real_ns; /* with check_set: CLOCK_REALTIME as last read, between sent_ns and sent_by_ns */
	int64_t sent_by_ns; /* CLOCK_MONOTONIC, as read next; 0: not yet */
	uint32_t key;
	uint32_t reply_seq; /* emitter: the reflector's number of the reply */
	uint8_t state; /* enum flight_state */
	uint8_t t2_method; /* emitter: enum packet_method */
	bool told; /* emitter: the reply had an answered Follow-Up TLV */
	bool warmup, breach;
	bool kept; /* emitter: concluded, and to be recorded */
	bool counted; /* pmc_end() was true */
	uint16_t session; /* reflector: of the packet that is answered */
};

enum one_way { ONE_WAY_FORWARD, ONE_WAY_BACKWARD, ONE_WAYS };

#define BREACHES_KEPT 64 /* a power of two */

enum end { END_NOT_YET, END_DURATION, END_COUNT, END_SIGNAL, END_BREACH, END_ONCE };

struct exchange {
	/* Set by the caller. */
	struct channel *channel;
	struct histogram *histogram;
	struct log *log; /* NULL: none */
	struct sessions *sessions; /* reflector */
	struct pmc *pmc; /* NULL: none */
	/* Puts the times of user space on the scale of the NIC's clock; NULL: they stay as they are. */
	const struct clock_watch *clocks;
	struct clock_peer *peer; /* emitter: the offset of the reflector's clock; NULL: not wanted */
	const struct options *options;
	const volatile sig_atomic_t *stop;
	bool loopback; /* both ends may have one address */
	/* Of each stage of the role; NULL: it is not collected, or its times are on different scales. */
	struct histogram *stage[STAGES];
	struct histogram *one_way[ONE_WAYS]; /* NULL: not collected */
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

	/* Results. */
	struct account account;
	int64_t bound_ns[BOUNDS]; /* the largest that occurred */
	int64_t one_way_bound_ns[2]; /* of the offset between the two hosts' clocks: the largest, and the last */
	struct directions directions; /* emitter */
	uint8_t there; /* emitter: enum source of the reflector's stamps, the best that a reply told of */
	uint8_t arrived_ttl, arrived_dscp; /* the last that differed from what was sent */
	struct sample breach, worst; /* the first one and the largest, when account.breaches is not 0 */
	enum end end;
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC; the duration that was asked for counts from began_ns */
	int64_t last_ns; /* last exchange */

	/* The loop's own. */
	uint8_t from, to; /* latency = time_ns[to] - time_ns[from] */
	struct stage stages[STAGES];
	bool check_steps; /* stamps of the NIC against the times of user space */
	bool check_set; /* stamps of CLOCK_REALTIME against CLOCK_MONOTONIC */
	bool read_both; /* reflector, with check_set: at a reading of the clock */
	bool want_user_rx, started, measuring, silence_told, has_stages, closing;
	bool digest_at_once; /* emitter: what its reply tells is wanted before the next probe */
	/* Emitter, NULL for none: its reply is in the channel's datagram and read as far as the base; */
	struct flight *undigested;
	struct flight *joining; /* waits for its T3_WIRE */
	uint64_t warmup_left, measured;
	int64_t now_ns; /* CLOCK_MONOTONIC, as last read */
	int64_t now_real_ns, now_by_ns; /* CLOCK_REALTIME, and CLOCK_MONOTONIC again, read after it with read_both */
	unsigned turn; /* of the loop: every so many read the clock */
	uint32_t next_key;
	uint32_t oldest_key; /* reflector: flights from it to next_key - 1 may wait for stamps */
	uint32_t highest_answered; /* emitter */
	uint64_t lost_total;
	uint64_t first_requests_seen; /* reflector, --once */
	int64_t first_silent_since_ns;
	struct arrival arrival;
	int64_t arrival_user_ns;
	struct reply reply; /* emitter: the last one that was read */
	struct request request; /* reflector: the last one */
	size_t probe_bytes;
	uint8_t probe[DATAGRAM_MAX];
	struct sample kept[BREACHES_KEPT]; /* the last breaches, for breach_read() */
	int64_t lost[LOST_REMEMBERED]; /* sequence numbers */
	struct flight flight[FLIGHTS];
};

/* Are stages collected that have a time of user space of this host in them? */
static inline bool exchange_has_stages(const struct exchange *x)
{
	return x->stage[0] != NULL;
}

/* Hot. What --threshold-on is about. False: this sample does not have it. */
static inline bool exchange_figure(const struct exchange *x, const struct sample *s, int64_t *value_ns)
{
	const int64_t on = x->options->threshold_on;

	*value_ns = s->latency_ns;
	return on == FIGURE_RTT ||
	       stages_value(&x->stages[on == FIGURE_RESPONSE ? STAGE_RESPONSE : STAGE_NETWORK], s, value_ns);
}

/* Nobody tells how the clocks relate during the run: the times of user space stay on CLOCK_REALTIME, and the stages between
 * them and the NIC's stamps are not collected. */
void exchange_drop_clocks(struct exchange *x);

/* Runs until the duration, the count, a breach or *stop ends it. The reason is in x->end. */
void exchange_run(struct exchange *x);

#endif
