/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two orders of exchange, and the accounts (hot). */
#ifndef MEASURE_EXCHANGE_H
#define MEASURE_EXCHANGE_H

#include "rant.h"
#include "histogram.h"
#include "options.h"
#include "host/clock.h"
#include "host/pmc.h"
#include "measure/log.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/session.h"
#include "wire/socket.h"
#include "wire/timestamping.h"

#define FLIGHTS 256 /* packets whose transmit stamp may still come, a power of two */
#define LOST_REMEMBERED 1024 /* lost probes whose late reply is still told from a duplicate */

/*
 * Every packet is in one place of each line (exchange_balanced() holds them together):
 *   sent     = warmup + recorded + lost + unstamped + negative + stepped + unfinished + closing
 *   received = answered + late + duplicate + foreign + malformed + unverified
 *              (a reflector: answered + unanswered + foreign + malformed + unverified)
 *   an emitter: recorded + negative = the sum of follow_up[]
 */
struct account {
	counter sent, received;
	counter warmup, recorded, lost, unstamped, negative, unfinished;
	counter closing; /* emitter: sent after the end, to hear of the last reply's T3 */
	counter answered, unanswered, late, duplicate, foreign, malformed;
	counter unverified; /* the HMAC was wrong */
	counter reordered; /* of answered, late or duplicate: came after a later one */
	counter repeated; /* reflector, of answered: a sequence number for the second time */
	counter malformed_tlv; /* of answered: a TLV was malformed */
	counter unusable_tlv; /* emitter, of answered: TLVs failed their integrity check and were not used */
	counter follow_up[FOLLOW_UPS]; /* emitter: what became of T3_WIRE */
	counter follow_up_late; /* came when its record had been closed without it */
	counter unjudged; /* --threshold-on something that this sample does not have */
	counter other_ttl, other_class; /* emitter, of answered: the probe arrived with another TTL or DSCP than it was sent with */
	counter refused; /* sends that the kernel did not take, and errors it reported, e.g. port unreachable */
	counter missing_tx, missing_rx; /* stamps, by kind, after warm-up */
	counter stamp_late, stamp_duplicate, stamp_unmatched; /* transmit stamps that completed no sample */
	counter breaches;
	counter stepped; /* another clock says that the clock of the stamps was set in between: not recorded */
	counter unplaced; /* recorded, but with a time of user space that has no place on the scale of the NIC's clock */
	counter stage_negative; /* stages below zero by more than their bound */
	_Atomic int64_t recent_max_ns; /* for progress: raised here, reset by its reader */
};

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

/* The parts of an exchange: differences of times on one scale. */
enum stage_index {
	/* Emitter. */
	STAGE_APP_TO_WIRE, STAGE_WIRE_TO_APP, STAGE_RESPONSE, STAGE_NETWORK, STAGE_REMOTE_WIRE_TO_APP, STAGE_REMOTE_APP,
	STAGE_REMOTE_APP_TO_WIRE,
	STAGES,
	/* Reflector. */
	STAGE_RECEIVE = 0, STAGE_TRANSMIT, STAGE_APP,
};

/* How far off a stage may be: the errors of putting user-space times on the scale of the stamps, at each host. */
enum bound { BOUND_NONE, BOUND_HERE, BOUND_THERE, BOUNDS };

struct stage {
	uint8_t from, to, less_from, less_to; /* index sample.time_ns: (to - from) - (less_to - less_from) */
	uint8_t bound; /* enum bound */
	bool inside; /* it is a part of the latency that no other part is a part of; else beside it, or made of such */
	bool user; /* a time of user space is in it: only with --sw-timestamps */
	bool peer; /* the reflector's reply is needed for it */
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
	uint32_t next_key, oldest_key; /* flights oldest_key .. next_key - 1 may wait for stamps */
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
	struct sample kept[BREACHES_KEPT]; /* the last breaches, for exchange_breach() */
	int64_t lost[LOST_REMEMBERED]; /* sequence numbers */
	struct flight flight[FLIGHTS];
};

/* Which times make the latency of a role, by where wire stamps come from; *from and *to index sample.time_ns. */
void exchange_latency_times(enum role role, bool on_wire, uint8_t *from, uint8_t *to);

/* The stages of a role, STAGES of them; those beyond its last have from == to. on_wire: as for exchange_latency_times(). */
void exchange_stages(enum role role, bool on_wire, struct stage stages[STAGES]);

/* Are stages collected that have a time of user space of this host in them? */
static inline bool exchange_has_stages(const struct exchange *x)
{
	return x->stage[0] != NULL;
}

/* Hot. True: the times of the stage are there and comparable, and *value_ns is what it took. */
bool exchange_stage_value(const struct stage *stage, const struct sample *s, int64_t *value_ns);

/* Hot. What --threshold-on is about. False: this sample does not have it. */
bool exchange_figure(const struct exchange *x, const struct sample *s, int64_t *value_ns);

/* Breach 0 .. account.breaches - 1, for another thread too. False: newer ones have taken its place. */
bool exchange_breach(const struct exchange *x, uint64_t index, struct sample *s);

/* Runs until the duration, the count, a breach or *stop ends it. The reason is in x->end. */
void exchange_run(struct exchange *x);

/* True when the identities of struct account hold after a run. */
bool exchange_balanced(const struct exchange *x);

#endif
