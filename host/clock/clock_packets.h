/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relation of a NIC's clock (PHC) that cannot be read, from the packets themselves. A packet is sent after the program
 * or the kernel took its time, and the NIC timestamps it later: its transmit timestamp limits PHC minus CLOCK_REALTIME
 * from above. The kernel or the program gets a packet after the NIC has timestamped it: its receive timestamp limits the
 * difference from below. One side alone gives no bound.
 */
#ifndef HOST_CLOCK_CLOCK_PACKETS_H
#define HOST_CLOCK_CLOCK_PACKETS_H

#include "host/clock/clock_history.h"
#include "rant.h"

/* Rate change of such a clock, within the two seconds over which its rate is measured, for which bounds allow. Its
 * frequency setting is not known. */
#define CLOCK_PACKETS_CHANGE_PPB 5000
/* Timestamps may be truncated to steps of this size: stmmac takes 20 to 40 ns. */
#define CLOCK_PACKETS_STEP_NS 40

/* A sent packet and a received packet with timestamps of the NIC, in any order. */
struct clock_exchange {
	int64_t sent_ns; /* CLOCK_REALTIME, before the packet was sent */
	int64_t sent_phc_ns;
	int64_t received_phc_ns;
	int64_t received_ns; /* CLOCK_REALTIME, after the packet was received */
};

/* Two exchanges, the second begins after the end of the first. A step of a clock spoils at most one of them: between
 * them the offset is within the limits of the other. */
struct clock_exchange_pair {
	struct clock_exchange of[2];
};

/* The loop keeps the best pair since the housekeeping thread took the last one. */
struct clock_packets {
	struct clock_exchange before; /* the last exchange; valid with has_before */
	bool has_before;
	int64_t best_ns; /* width of the best pair */
	counter contradictions; /* exchanges whose limits exclude each other: a clock was set, or a timestamp is wrong */

	_Atomic uint32_t sequence; /* odd while the pair is written */
	_Atomic uint32_t taken; /* sequence of the pair that was taken; equal to it: none since */
	_Atomic int64_t best[2][4]; /* the times of the pair */
};

/* Hot: no lock, no system call. The exchange whose timestamps are complete. */
void clock_packets_note(struct clock_packets *p, const struct clock_exchange *e);

/* For the housekeeping thread. False: no pair since the last. */
bool clock_packets_take(struct clock_packets *p, struct clock_exchange_pair *to);

/*
 * PHC minus CLOCK_REALTIME by a pair, at the end of the first exchange. The offset changes by ppb +- bound_ppb;
 * granularity_ns is that of CLOCK_REALTIME. The limits of both exchanges count, so that the relation is right although
 * one of them spans a step. False: no offset is possible.
 */
bool clock_packets_relation(const struct clock_exchange_pair *pair, double ppb, double bound_ppb,
			    int64_t granularity_ns, struct clock_relation *to);

#endif
