/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of packets and timestamps of a run, and the identities between them. */
#ifndef RESULT_ACCOUNT_H
#define RESULT_ACCOUNT_H

#include "histogram.h"
#include "rant.h"

/*
 * Every packet is in one counter of each line (account_balances() checks it):
 *   sent     = warmup + recorded + lost + unasked + unstamped + negative + stepped + unfinished + closing
 *   received = answered + late + duplicate + foreign + malformed + unverified
 *              (a reflector: answered + unanswered + foreign + malformed + unverified + cut_short +
 *               disallowed + too_short + no_session + replayed + over_rate)
 *   an emitter: recorded + negative = the sum of follow_up[]
 */
struct account {
	counter sent, received;
	counter unasked; /* emitter: answered, without a timestamp request by --stamp-every */
	counter warmup, recorded, lost, unstamped, negative, unfinished;
	counter closing; /* emitter: sent after the end, to fetch T3 of the last reply, or for a freeze */
	counter answered, unanswered, late, duplicate, foreign, malformed;
	counter unverified; /* the HMAC was wrong */
	counter cut_short; /* reflector: truncated control messages, so the destination address is unknown */
	/* Reflector, not answered: */
	counter disallowed; /* address outside --allow; the packet was not parsed */
	counter too_short; /* shorter than a STAMP packet, without --allow-short */
	counter no_session; /* with --key: the table of sessions was full */
	counter stateless; /* answered while the table of sessions was full (emitter: as replies report) */
	counter replayed; /* with --key: answered before, or too old to know */
	counter over_rate; /* above --rate-limit */
	counter reordered; /* answered, late or duplicate: received after a packet that was sent later */
	counter woken; /* reflector, answered: received during an idle sleep, see measure/idle_sleep.h */
	counter repeated; /* reflector, answered: a sequence number received again */
	counter malformed_tlv; /* answered: a TLV was malformed */
	counter unusable_tlv; /* emitter, answered: TLVs failed their integrity check and were ignored */
	counter follow_up[FOLLOW_UPS]; /* emitter: outcome of T3_WIRE */
	counter follow_up_late; /* T3_WIRE received after its record was closed without it */
	counter unjudged; /* samples without the metric of --threshold-on */
	counter other_ttl, other_class; /* emitter, answered: TTL or DSCP changed on the way to the reflector */
	counter timed_packets, timed_bytes; /* emitter: received from warm-up to closing probe; UDP payload */
	counter refused; /* sends that the kernel did not accept, and errors that it reported */
	counter port_closed; /* of refused: ECONNREFUSED, after an ICMP port unreachable */
	counter missing_tx, missing_rx; /* timestamps, after the warm-up */
	counter missing_kernel; /* recorded without the requested receive time of the kernel */
	counter detailed; /* recorded with a request for the kernel's transmit times */
	counter missing_queue, missing_driver; /* of these, recorded without KERNEL_QUEUE or KERNEL_DRIVER */
	counter stamp_late, stamp_duplicate, stamp_unmatched; /* transmit timestamps that completed no sample */
	counter breaches;
	counter stepped; /* not recorded: by comparison with another clock, a clock step was in between */
	counter unconverted; /* recorded, but a user-space time cannot be converted to the timebase of the NIC */
	counter disordered; /* recorded, but user-space times contradict timestamps: in no stage with both */
	counter doubted; /* emitter, answered: the reply reports a step or standstill of the reflector's clock */
	_Atomic int64_t recent_max_ns; /* for the progress line: raised here, reset by its reader */
};

/* After a run: true if the identities above hold, and agree with the histogram and the log. logged: by log_offered();
 * 0: no log. */
bool account_balances(const struct account *a, enum role role, const struct histogram *h, uint64_t logged);

#endif
