/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Freezing the traces of both hosts at one breach: requests of the emitter, and what became of them. */
#ifndef RESULT_FREEZE_H
#define RESULT_FREEZE_H

#include "rant.h"

/* FREEZE_MARKED: the other host marked the sequence number but froze no trace. FREEZE_BY_PEER: an emitter
 * froze its trace at a breach of the reflector. FREEZE_WAITING is never the outcome after a run. */
enum freeze_outcome { FREEZE_NONE, FREEZE_WAITING, FREEZE_CONFIRMED, FREEZE_MARKED, FREEZE_DENIED, FREEZE_TAKEN,
		      FREEZE_UNCONFIRMED, FREEZE_BY_PEER, FREEZE_OUTCOMES };

/* Outcome names in JSON files; NULL: FREEZE_NONE. */
static const char *const freeze_names[FREEZE_OUTCOMES] = {
	[FREEZE_WAITING] = "waiting", [FREEZE_CONFIRMED] = "frozen", [FREEZE_MARKED] = "marked",
	[FREEZE_DENIED] = "refused", [FREEZE_TAKEN] = "occupied", [FREEZE_UNCONFIRMED] = "unconfirmed",
	[FREEZE_BY_PEER] = "by_peer",
};

/* The cause of an emitter's breach at the reflector, explained by its trace. The first states have the numbers of the
 * cause TLV (docs/protocol.md). */
enum freeze_cause_state { FREEZE_CAUSE_NONE, FREEZE_CAUSE_PENDING, FREEZE_CAUSE_KNOWN, FREEZE_CAUSE_NO_TRACE,
			  FREEZE_CAUSE_NOT_EXPLAINED, FREEZE_CAUSE_REFUSED, FREEZE_CAUSE_INVALID, FREEZE_CAUSE_STATES };

/* State names in JSON files; NULL: FREEZE_CAUSE_NONE. */
static const char *const freeze_cause_names[FREEZE_CAUSE_STATES] = {
	[FREEZE_CAUSE_PENDING] = "pending", [FREEZE_CAUSE_KNOWN] = "known", [FREEZE_CAUSE_NO_TRACE] = "no_trace",
	[FREEZE_CAUSE_NOT_EXPLAINED] = "not_explained", [FREEZE_CAUSE_REFUSED] = "refused",
	[FREEZE_CAUSE_INVALID] = "invalid",
};

/* Stages of a reflector by their numbers in the cause TLV: in JSON files, and in texts. */
static const struct freeze_stage {
	const char *id, *text;
} freeze_stages[] = {
	{ "nic_to_app", "NIC-to-app" }, { "nic_to_kernel", "NIC-to-kernel" }, { "kernel_to_app", "Kernel-to-app" },
	{ "app_processing", "App processing" }, { "app_to_nic", "App-to-NIC" }, { "app_to_kernel", "App-to-kernel" },
	{ "app_to_qdisc", "App-to-qdisc" }, { "qdisc_to_driver", "Qdisc-to-driver" },
	{ "qdisc_to_kernel", "Qdisc-to-kernel" }, { "driver_to_nic", "Driver-to-NIC" },
};

#define FREEZE_STAGES (sizeof(freeze_stages) / sizeof(freeze_stages[0]))
#define FREEZE_CAUSE_NAME_BYTES 33

struct freeze_cause {
	enum freeze_cause_state state;
	/* Only with FREEZE_CAUSE_KNOWN. */
	uint8_t class; /* enum owner_class, CAUSE_SPREAD or CAUSE_NONE */
	uint8_t stage; /* index of freeze_stages[] */
	uint8_t percent; /* share of the cause in the excess of the stage */
	struct optional cpu; /* of the reflector */
	int64_t stage_ns, ns; /* of the stage, and of the cause in it */
	char name[FREEZE_CAUSE_NAME_BYTES]; /* printable ASCII characters; empty: the class has none */
};

/* The first breach of the run at which the other host was to freeze. */
struct freeze_first {
	enum freeze_outcome outcome;
	uint32_t seq;
	/* the trace of this host was frozen this long after the breach was seen; at a breach of the other host, after
	 * the packet with its flag was read */
	struct optional own_ns;
	/* an emitter's breach: the reflector froze at most this long after it was seen, and at least this less the
	 * bound. A breach of the other host: its age when its packet was made */
	struct optional peer_ns, peer_bound_ns;
	uint32_t probes; /* emitter: probes that carried the request */
	struct freeze_cause cause; /* emitter, with FREEZE_CONFIRMED or FREEZE_BY_PEER */
	struct optional holds; /* 1: the frozen buffer of this host reaches back to the packet; 0: it does not */
};

struct result_freeze {
	counter asked; /* emitter: breaches that were requested of the reflector; reflector: breaches of emitters */
	counter confirmed; /* of these, marked by the reflector */
	counter refused, occupied; /* of these, refused, or refused since the trace was frozen at another breach */
	counter unconfirmed; /* emitter: of these, without an answer */
	counter left_out; /* emitter: breaches that were not requested, during another request or soon after it */
	counter of_peer; /* emitter: breaches of the reflector, which froze the trace here */
	counter announced; /* reflector: own breaches that its replies reported to an emitter */
	bool peer_supports; /* emitter: a reply had the freeze TLV */
	struct freeze_first first;
	union address emitter; /* reflector: sender of the request of `first` */
	char emitter_name[64]; /* the same as text, after the run; empty: none */
	struct optional event_raw_ns; /* CLOCK_MONOTONIC_RAW before the packet of `first` was sent or received */
};

#endif
