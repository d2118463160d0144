/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State and results of a reflector's idle sleep. */
#ifndef MEASURE_IDLE_SLEEP_STATE_H
#define MEASURE_IDLE_SLEEP_STATE_H

#include "rant.h"

struct idle_sleep_state {
	/* The loop's own: so many datagrams had come when the clock was read last, and since when there are no more; */
	uint64_t heard;
	int64_t heard_ns;
	uint32_t key; /* flight key of the answer to the request that woke the loop */
	bool woken; /* `key` is valid */
};

#endif
