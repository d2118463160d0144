/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPDV (RFC 3393) of consecutive probes (hot): from samples to the statistics of result/ipdv.h. */
#ifndef MEASURE_IPDV_H
#define MEASURE_IPDV_H

#include "rant.h"

struct exchange;
struct flight;

/* Clock step and fault counters as of the last sample. All zeros initially. */
struct disturbance {
	uint64_t doubted; /* account.doubted */
	int64_t set_ns; /* exchange.set_ns */
	bool lasts; /* a counter changed during that sample */
};

/* Reflector: adds a recorded answer, once: the difference of its response time to that of the session's
 * previous request. */
void ipdv_note_answer(struct exchange *x, const struct flight *f);

/* Adds a recorded sample, once: its latency, and its one-way delays, response and network time as far as
 * known and consistent with measure/rules.h. True: its response time is reported by the reflector's program
 * only. */
bool ipdv_note(struct exchange *x, const struct sample *s);

/* Adds both one-way delays of such a sample, by the offset of the reflector's clock at T1 and T4, which is
 * known within bound_ns. */
void ipdv_print_directions(struct exchange *x, const struct sample *s, const int64_t offset_ns[2], int64_t bound_ns);

#endif
