/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the delays of consecutive probes differ (hot): from samples to the figures of result/variation.h. */
#ifndef MEASURE_VARIATION_H
#define MEASURE_VARIATION_H

#include "rant.h"

struct exchange;
struct flight;

/* What says that a clock was set or is in doubt, as the last sample saw it. All zeros to begin with. */
struct disturbance {
	uint64_t doubted; /* account.doubted */
	int64_t set_ns; /* exchange.set_ns */
	bool lasts; /* one of them had changed */
};

/* Reflector: takes an answer that was recorded, once: by how much its response differs from that of the request before
 * it of the same session. */
void variation_note_answer(struct exchange *x, const struct flight *f);

/* Takes a sample that was recorded, once: its latency; and of its ways, its response and its network what is known and
 * obeys the rules of measure/rules.h. True: its response is one that only the reflector's program tells. */
bool variation_note(struct exchange *x, const struct sample *s);

/* Of such a sample both ways, by the offset of the reflector's clock at T1 and at T4, which is known within
 * bound_ns. */
void variation_tell_ways(struct exchange *x, const struct sample *s, const int64_t offset_ns[2], int64_t bound_ns);

#endif
