/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose is a transmit stamp (hot)? Its id says so; and its time has to lie between the send of that packet, by user
 * space, and the fetch. What contradicts is the stamp of another packet: it completes no sample, and the kernel's count
 * is asked for again.
 *
 * The witness knows only what is on one scale: stamps of the kernel, exactly; those of the NIC, within the bound of the
 * relation of the clocks. Where there is none, sample_is_stepped() is what is left. A stamp that is less than ODD_NS
 * after its send is not held against the fetch, for that takes a clock to be read; and a stamp of any packet is before
 * its fetch.
 */
#ifndef MEASURE_WITNESS_H
#define MEASURE_WITNESS_H

#include "measure/sample.h"

/* Of a packet whose id is not known yet: half of all ids away, so that none matches. */
#define WITNESS_UNKNOWN_ID 0x80000000U

/* The last packet that asked for its id has this one, and the kernel counts on from there, also those that were sent
 * since. */
void witness_learn_id(struct exchange *x, uint32_t id);

/* It is not where it should be if the kernel had counted as we did; NULL: it is in no flight. */
struct flight *witness_search(struct exchange *x, uint32_t id);

/* stamp_ns is before sent_ns, both on the scale of the stamps, or long after. False: it is of another packet. True: it
 * may be, for it took long; or a clock was set, which other checks are for (f->set tells them). */
bool witness_explains(struct exchange *x, struct flight *f, int64_t stamp_ns, int64_t sent_ns, int64_t bound_ns);

INLINE struct flight *witness_flight_of(struct exchange *x, uint32_t id)
{
	struct flight *f = &x->flight[(id - x->channel->at->ids_ahead) & x->flight_mask];

	if (f->id != id || f->lane != x->channel->at->number)
		return witness_search(x, id);
	return f->state == FLIGHT_NONE ? NULL : f;
}

INLINE bool witness_agrees(struct exchange *x, struct flight *f, int64_t stamp_ns, const bool emit)
{
	int64_t sent_ns = f->sample.time_ns[emit ? EMIT_T1_USER : REFLECT_T3_USER], bound_ns = 0;

	if (!exchange_checks_stamps(x) || !x->one_scale ||
	    (x->clocks && !clock_to_phc(x->clocks, sent_ns, &sent_ns, &bound_ns)))
		return true;
	return (uint64_t)(stamp_ns - sent_ns + bound_ns) <= ODD_NS ||
	       witness_explains(x, f, stamp_ns, sent_ns, bound_ns);
}

#endif
