/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a run leaves: the loops of measure/ fill it, and reports are made of it and of nothing else of the run. */
#ifndef RESULT_RESULT_H
#define RESULT_RESULT_H

#include "histogram.h"
#include "options.h"
#include "rant.h"
#include "result/account.h"
#include "result/breach.h"
#include "result/outage.h"
#include "result/read.h"
#include "result/rules.h"
#include "result/source_port.h"
#include "result/stages.h"
#include "result/variation.h"
#include "wire/sequence.h"

/* By the clock: how late a probe was sent, the round trip with that, from when it was due, and how long the kernel took
 * to send it. */
enum planned { PLANNED_LATE, PLANNED_RTT, PLANNED_CALL, PLANNED };

enum one_way { ONE_WAY_FORWARD, ONE_WAY_BACKWARD, ONE_WAYS };

enum end { END_NOT_YET, END_DURATION, END_COUNT, END_SIGNAL, END_BREACH, END_ONCE, END_GONE, END_GIVEN_UP };

/* What the kernel and the NIC granted. All zeros: it is not known. */
struct granted {
	const char *transport; /* "UDP/IPv4", "UDP/IPv4 and IPv6"; NULL: not known */
	int receive_buffer_bytes;
	enum source stamps; /* asked for, and where packets are received */
	bool transmit_stamps;
	bool stamp_ids_by_message; /* the id of a transmit stamp is sent with its packet; else the kernel counts */
	bool stamp_ids_of_lanes; /* but for busy sessions of a reflector, whose sockets count */
	bool preloaded; /* packets go through what stands before libc */
};

/* With many in flight. All zeros: one in flight. */
struct window_use {
	uint32_t most; /* probes that may be in flight */
	uint32_t reached; /* so many were in flight at once */
	/* transmit stamps that are waited for at once: of a NIC as many as it was found to take */
	uint32_t stamps_most;
	bool by_nic; /* they are those of a NIC */
	bool stamps_limited; /* with one more some were missing */
};

/* What a reply tells of the times of the reflector's program. */
struct software_there {
	bool told, t2_known;
	int64_t bound_ns; /* between its clock and that of the reflector's stamps; below 0: not known */
};

struct result {
	const struct options *options; /* as granted; they stay the caller's */
	const struct read *read; /* NULL: of a run that was measured; what the files do not have is not known */

	struct granted granted;

	/* How long, in CLOCK_MONOTONIC: the duration that was asked for counts from began_ns. */
	bool started; /* a packet was sent, or came */
	int64_t began_ns, ended_ns;
	int64_t last_ns; /* last exchange */
	enum end end;

	/* What became of packets. */
	struct account account;
	uint64_t measured; /* emitter: probes after the warm-up, with closing ones */
	size_t probe_bytes; /* emitter: length of a probe, UDP payload; 0: not known */
	struct directions directions; /* emitter, one source port or all of them; after source_ports_finish() */
	struct source_port *port; /* emitter, as many as `ports`; NULL: it has one */
	unsigned ports; /* 0: the same */
	struct outages outages; /* emitter */
	/* times in which the loop stood for STALL_NS or more, but for its own sleeps and the hook of a breach */
	struct outages stalls;
	int64_t strays; /* emitter: datagrams to our port from others than the server; -1: not counted */
	int64_t dropped; /* by this host, before they were read; -1: not known */
	counter truncated; /* control messages */
	counter error_other; /* entries of the error queue that are no transmit stamp of the kind asked for */
	/* reflector: how often a busy session got a socket of its own, and got none */
	counter lanes_taken, lanes_refused;
	counter slots, missed; /* emitter, by the clock: slots that have begun, and that had no probe */
	struct window_use window; /* emitter */
	/* reflector: sessions that were opened, and idle ones that were forgotten for newer ones */
	counter sessions, evicted;
	_Atomic bool asleep; /* reflector: nothing comes; read at any time */
	uint8_t arrived_ttl, arrived_dscp; /* emitter: the last that differed from what was sent */

	/* What was recorded. A histogram that is NULL is not collected, or its times are on different scales. */
	struct histogram *histogram; /* latencies */
	struct stage stages[STAGES];
	struct histogram *stage[STAGES]; /* of each of `stages` */
	bool has_stages; /* at least one of them */
	struct histogram *one_way[ONE_WAYS];
	struct histogram *planned[PLANNED]; /* emitter; NULL: it does not send by the clock */
	struct variation variation; /* of a reflector only how responses vary, within each session */
	/* the first one above the threshold and the largest, when account.breaches is not 0 */
	struct sample breach, worst;
	struct sample kept[BREACHES_KEPT]; /* the last ones, for breach_read() */
	/* reflector: of the requests that had to wake it, the longest response. 0: of none is it known */
	int64_t woken_slowest_ns;
	uint32_t woken_slowest_seq;

	/* Clocks. */
	/* emitter: enum source of the reflector's stamps, the best that a reply told of; read at any time */
	_Atomic uint8_t there;
	int64_t bound_ns[BOUNDS]; /* of times of user space: the largest of what was recorded */
	int64_t one_way_bound_ns[2]; /* of the offset between the two hosts' clocks: the largest, and the last */
	uint64_t one_way_beyond; /* negative by more than the bound of the moment */
	uint64_t rules_broken;
	struct broken_rule broken[BROKEN_KEPT]; /* the first ones */
	bool placed; /* times of user space are put on the scale of the NIC's clock */
	struct software_there software_there; /* emitter: by the last reply */
	uint32_t doubted_seq; /* emitter: the first packet whose reply told that the reflector's clock is in doubt */
};

/* Are stages collected that have a time of user space of this host in them? */
static inline bool result_has_stages(const struct result *r)
{
	return r->stage[0] != NULL;
}

/* Hot. What --threshold-on is about. False: this sample does not have it. */
static inline bool result_figure(const struct result *r, const struct sample *s, int64_t *value_ns)
{
	const int64_t on = r->options->threshold_on;

	*value_ns = s->latency_ns;
	return on == FIGURE_RTT ||
	       stages_value(&r->stages[on == FIGURE_RESPONSE ? STAGE_RESPONSE : STAGE_NETWORK], s, value_ns);
}

#endif
