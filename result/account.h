/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of each packet: the counters of a run, and the identities that hold between them. */
#ifndef RESULT_ACCOUNT_H
#define RESULT_ACCOUNT_H

#include "histogram.h"
#include "rant.h"
#include "result/log.h"

/*
 * Every packet is in one place of each line (account_balances() holds them together):
 *   sent     = warmup + recorded + lost + unasked + unstamped + negative + stepped + unfinished + closing
 *   received = answered + late + duplicate + foreign + malformed + unverified
 *              (a reflector: answered + unanswered + foreign + malformed + unverified + cut_short +
 *               disallowed + too_short + no_session + replayed + over_rate)
 *   an emitter: recorded + negative = the sum of follow_up[]
 */
struct account {
	counter sent, received;
	counter unasked; /* emitter, of those answered: --stamp-every */
	counter warmup, recorded, lost, unstamped, negative, unfinished;
	counter closing; /* emitter: sent after the end, to hear of the last reply's T3 */
	counter answered, unanswered, late, duplicate, foreign, malformed;
	counter unverified; /* the HMAC was wrong */
	/* reflector: its control messages were truncated, so that it is not known to whom it was sent */
	counter cut_short;
	/* Reflector, not answered: */
	counter disallowed; /* not from a prefix of --allow; it was not read */
	counter too_short; /* less than STAMP has, without --allow-short */
	counter no_session; /* with a key: the table was full */
	counter stateless; /* of answered: the reflector's table was full (emitter: as its replies report) */
	counter replayed; /* with a key: it was, or may have been, answered before */
	counter over_rate; /* beyond --rate-limit */
	counter reordered; /* of answered, late or duplicate: came after a later one */
	counter woken; /* reflector, of answered: it came while nobody looked, see measure/doze.h */
	counter repeated; /* reflector, of answered: a sequence number for the second time */
	counter malformed_tlv; /* of answered: a TLV was malformed */
	counter unusable_tlv; /* emitter, of answered: TLVs failed their integrity check and were not used */
	counter follow_up[FOLLOW_UPS]; /* emitter: what became of T3_WIRE */
	counter follow_up_late; /* came when its record had been closed without it */
	counter unjudged; /* --threshold-on something that this sample does not have */
	/* emitter, of answered: the probe arrived with another TTL or DSCP than it was sent with */
	counter other_ttl, other_class;
	/* emitter: received after the warm-up and before the closing probe; UDP payload */
	counter timed_packets, timed_bytes;
	counter refused; /* sends that the kernel did not take, and errors it reported, e.g. port unreachable */
	counter port_closed; /* of refused: nobody listens on that port (ECONNREFUSED, of an ICMP port unreachable) */
	counter missing_tx, missing_rx; /* stamps, by kind, after warm-up */
	counter stamp_late, stamp_duplicate, stamp_unmatched; /* transmit stamps that completed no sample */
	counter breaches;
	counter stepped; /* another clock says that the clock of the stamps was set in between: not recorded */
	/* recorded, but with a time of user space that has no place on the scale of the NIC's clock */
	counter unplaced;
	/* recorded, but its times of user space and its stamps contradict each other: in no stage with them */
	counter disordered;
	counter doubted; /* emitter, of answered: the reply told that the reflector's clock was set or stood */
	_Atomic int64_t recent_max_ns; /* for progress: raised here, reset by its reader */
};

/* After a run: do the identities above hold, and agree with what is in the histogram and in the log (NULL: none)? */
bool account_balances(const struct account *a, enum role role, const struct histogram *h, const struct log *log);

#endif
