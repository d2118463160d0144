/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matching and validation of transmit timestamps (hot). The id names the packet; the time must lie between
 * that packet's send, by user space, and the fetch. A contradiction means the timestamp of another packet:
 * it completes no sample, and the kernel's id count is requested again.
 *
 * Validation needs a common timebase: kernel timestamps (not placed yet) exactly; NIC timestamps within the bound of
 * the relation of the clocks. Without that relation only sample_is_stepped() remains. A timestamp less than
 * ODD_NS after its send is not compared with the fetch, since that costs a clock reading; and any packet's
 * timestamp is before its fetch.
 */
#ifndef MEASURE_TX_MATCH_H
#define MEASURE_TX_MATCH_H

#include "measure/sample.h"

/* Id of a packet with a still unknown id: half of the id space away, so that no timestamp matches. */
#define TX_MATCH_UNKNOWN_ID 0x80000000U

/* The last packet that requested its id has this id; later packets, including those already sent, count on
 * from it. */
void tx_match_learn_id(struct exchange *x, uint32_t id);

/* Notes KERNEL_QUEUE or KERNEL_DRIVER (`at`) of a packet that still waits for its timestamp: the kernel takes both before
 * it. user: time of the program before the send. */
void tx_match_kernel(struct exchange *x, const struct departure *d, unsigned at, unsigned user);

/* Marks the timestamp of an unexpected id as a miscount of the kernel; NULL: the id belongs to no flight. */
struct flight *tx_match_search(struct exchange *x, uint32_t id);

/* stamp_ns is before sent_ns, both on the timebase of the timestamps, or long after. False: the timestamp
 * is of another packet. True: it may be valid (slow), or a clock was stepped, which other checks detect
 * (f->set). */
bool tx_match_explains(struct exchange *x, struct flight *f, int64_t stamp_ns, int64_t sent_ns, int64_t bound_ns);

INLINE struct flight *tx_match_flight_of(struct exchange *x, uint32_t id)
{
	struct flight *f = &x->flight[(id - x->channel->at->ids_ahead) & x->flight_mask];

	if (f->id != id || f->peer_socket != x->channel->at->number)
		return tx_match_search(x, id);
	return f->state == FLIGHT_NONE ? NULL : f;
}

INLINE bool tx_match_agrees(struct exchange *x, struct flight *f, int64_t stamp_ns, const bool emit)
{
	int64_t sent_ns = f->sample.time_ns[emit ? EMIT_T1_USER : REFLECT_T3_USER], bound_ns = 0;

	if (!exchange_checks_stamps(x) || !x->same_timebase ||
	    (x->clocks && !x->places && !clock_to_phc(x->clocks, sent_ns, &sent_ns, &bound_ns)))
		return true;
	return (uint64_t)(stamp_ns - sent_ns + bound_ns) <= ODD_NS ||
	       tx_match_explains(x, f, stamp_ns, sent_ns, bound_ns);
}

#endif
