/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Result of a run: filled by the loops of measure/, and the only input of the reports. */
#ifndef RESULT_RESULT_H
#define RESULT_RESULT_H

#include "histogram.h"
#include "host/delays.h"
#include "host/periods.h"
#include "host/system.h"
#include "options.h"
#include "rant.h"
#include "result/account.h"
#include "result/breach.h"
#include "result/causes.h"
#include "result/clocks.h"
#include "result/confidence.h"
#include "result/evidence.h"
#include "result/freeze.h"
#include "result/ipdv.h"
#include "result/level.h"
#include "result/log.h"
#include "result/machine.h"
#include "result/nic.h"
#include "result/outage.h"
#include "result/placing.h"
#include "result/read.h"
#include "result/rules.h"
#include "result/source_port.h"
#include "result/spikes.h"
#include "result/stages.h"
#include "result/stamp_check.h"
#include "wire/sequence.h"

/* With --interval: send time less scheduled time, RTT from the scheduled time, and duration of the send call. */
enum planned { PLANNED_LATE, PLANNED_RTT, PLANNED_CALL, PLANNED };

#define POLL_GAP_LONG_NS (10 * NS_PER_US) /* gaps between exchanges count from here on */

/*
 * Poll gaps: times in which the measuring thread did not poll (hot). In an ordinary turn of the loop a gap is the time
 * of a system call. A longer gap is an interrupt, a softirq, another thread or a page fault on its CPU, or a
 * hypervisor: between exchanges they are what oslat(8) measures.
 */
struct poll_gaps {
	struct histogram *within; /* the longest gap of each exchange; NULL: not collected */
	struct outages between; /* gaps of POLL_GAP_LONG_NS or more between exchanges, at most one between two */
};

enum one_way { ONE_WAY_FORWARD, ONE_WAY_BACKWARD, ONE_WAYS };

enum end { END_NOT_YET, END_DURATION, END_COUNT, END_SIGNAL, END_BREACH, END_ONCE, END_GONE, END_GIVEN_UP,
	   END_KNOWN };

/* Settings granted by the kernel and the NIC. All zeros: not known. */
struct granted {
	const char *transport; /* "UDP/IPv4", "UDP/IPv4 and IPv6"; NULL: not known */
	int receive_buffer_bytes;
	enum source stamps; /* source of receive timestamps */
	bool transmit_stamps;
	bool stamp_ids_by_message; /* rant chooses the id of each transmit timestamp; else the kernel counts */
	bool stamp_ids_of_peer_sockets; /* the same for per-peer sockets of a reflector */
	bool receive_by_kernel; /* the kernel's receive times beside the NIC's timestamps */
	int64_t transmit_by_kernel; /* its transmit times of one packet in this number; 0: of none */
	bool preloaded; /* a preloaded library replaces socket functions of libc */
};

/* A probe on the link of this host. All zeros: not known. */
struct wire {
	int speed_mbps; /* as the driver reports it */
	size_t frame_bytes; /* by transport_frame_bytes() */
	int64_t probe_ns; /* by transport_wire_ns() */
};

/* With many probes in flight. All zeros: one in flight. */
struct window_use {
	uint32_t most; /* probes that may be in flight */
	uint32_t reached; /* largest number in flight at once */
	uint32_t stamps_most; /* largest number of pending transmit timestamps; of a NIC its measured capacity */
	bool by_nic; /* these timestamps are made by a NIC */
	bool stamps_limited; /* timestamps were missing with one more pending */
};

/* Timestamps of the reflector's program, as reported by a reply. */
struct software_remote {
	bool reported, t2_known;
	struct optional bound_ns; /* error of its relation to the clock of the timestamps */
};

/*
 * Plain data: no member points into the struct or to an object that changes after the run, so a copy by assignment has
 * the same reports when the original has changed. Copies share the memory to which members point: the options, the
 * histograms and source ports (run buffers), the differences of the activity, and `read`. A copy is valid as long as
 * these are. During the run other threads write some members: copy it after the run.
 */
struct result {
	const struct options *options; /* as granted; memory of the caller */
	const struct read *read; /* NULL: a live run; else members that the files lack are not known */

	struct granted granted;

	/* Times of CLOCK_MONOTONIC. --duration counts from began_ns. */
	bool started; /* a packet was sent or received */
	int64_t began_ns, ended_ns;
	int64_t last_ns; /* last exchange */
	enum end end;

	/* Packets. */
	struct account account;
	uint64_t measured; /* emitter: probes after the warm-up, with closing probes */
	struct optional probe_bytes; /* emitter: UDP payload of a probe */
	struct wire wire; /* emitter */
	struct directions directions; /* emitter, over all source ports; after source_ports_finish() */
	struct result_port *port; /* emitter, `ports` elements, after the run; NULL: a single source port */
	unsigned ports; /* 0: a single source port */
	bool ports_by_network; /* they are compared by the network delay; else by the round trip */
	struct outages outages; /* emitter */
	struct outages stalls; /* times of STALL_NS or more without the loop, except its sleeps and hook commands */
	struct poll_gaps poll_gaps;
	struct confidence confidence; /* of `histogram`; no blocks where no output needs the samples of each second */
	struct spikes spikes;
	struct rhythm rhythm;
	struct level_changes level_changes; /* empty where no output needs the samples of each second */
	struct optional strays; /* emitter: datagrams from other addresses than the server; not counted with several ports */
	struct optional dropped; /* packets dropped by this host before they were read */
	counter truncated; /* truncated control messages */
	counter error_other; /* entries of the error queue that are not a transmit timestamp of the requested source */
	counter peer_sockets_taken, peer_sockets_refused; /* reflector: opened per-peer sockets, and failed attempts */
	counter slots, missed; /* emitter, --interval: slots begun, and slots without a probe */
	struct window_use window; /* emitter */
	counter sessions, evicted; /* reflector: sessions opened, and idle sessions replaced by newer sessions */
	_Atomic bool asleep; /* reflector: in an idle sleep; read by other threads */
	uint8_t arrived_ttl, arrived_dscp; /* emitter: last values that differed from those sent */

	/* Samples. A histogram is NULL if it is not collected, or if its timestamps are on different timebases. */
	struct histogram *histogram; /* latencies */
	struct stage stages[STAGES];
	struct histogram *stage[STAGES]; /* of the element of `stages` with the same index */
	bool has_stages; /* at least one stage is collected */
	char no_stages[160]; /* reason why requested stages are not known; empty: they are known */
	struct histogram *one_way[ONE_WAYS];
	struct histogram *planned[PLANNED]; /* emitter; NULL: without --interval */
	struct result_ipdv ipdv; /* after the run */
	struct sample breach, worst; /* first and largest breach; valid if account.breaches is not 0 */
	struct sample kept[BREACHES_KEPT]; /* last breaches, for breach_read() */
	struct result_freeze freeze;
	struct optional woken_slowest_ns; /* reflector: longest response after an idle sleep */
	uint32_t woken_slowest_seq; /* sequence number of that response, where it is known */

	/* Clocks. */
	_Atomic uint8_t remote; /* emitter: enum source of remote timestamps, best so far; read by other threads */
	struct optional bound_ns[BOUNDS]; /* largest error of user-space times of recorded samples */
	struct optional one_way_bound_ns[2]; /* error of the offset between the clocks of the hosts: the largest and the last */
	uint64_t one_way_beyond; /* one-way delays that were negative by more than the error at that time */
	uint64_t rules_broken;
	struct broken_rule broken[BROKEN_KEPT]; /* the first BROKEN_KEPT */
	struct placing placing; /* --stamp receive, live runs only */
	struct stamp_check stamp_check; /* of the NIC; no timestamps: not known */
	bool converted; /* user-space times are converted to the timebase of the NIC */
	_Atomic bool clocks_moved; /* a clock of this host was set or stood still; written and read by other threads */
	struct software_remote software_remote; /* emitter: of the last reply */
	uint32_t doubted_seq; /* emitter: first packet whose reply reports a doubtful clock of the reflector */

	/* The host. */
	struct system system; /* for --json and --jsonl only */
	struct result_affinity affinity;
	struct result_nic nic;

	struct result_log log; /* before the run: the ring */

	/* The host, after the run; by result/take.h. */
	struct result_clocks clocks;
	struct result_peer peer; /* emitter */
	struct result_commands commands;
	struct result_trace trace; /* before the run: the instance */
	struct result_causes *causes; /* of the breaches whose traces were saved; the owner frees it. NULL: none */
	struct result_counters counters;
	struct result_activity activity;
	struct result_changes changes;
	bool has_periods;
	struct periods periods; /* periodic work of the kernel and of rant itself */
	struct delays delays; /* settings that delay packets by a fixed time */
};

/* True if stages with a user-space time of this host are collected. */
static inline bool result_has_stages(const struct result *r)
{
	return r->stage[0] != NULL;
}

/* Hot. Value of the metric of --threshold-on. False: this sample does not have it. */
static inline bool result_metric(const struct result *r, const struct sample *s, int64_t *value_ns)
{
	const int64_t on = r->options->threshold_on;

	*value_ns = s->latency_ns;
	return on == METRIC_RTT ||
	       stages_value(&r->stages[on == METRIC_RESPONSE ? STAGE_RESPONSE : STAGE_NETWORK], s, value_ns);
}

#endif
