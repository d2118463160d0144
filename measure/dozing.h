/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reflector knows of its sleep when nothing comes. */
#ifndef MEASURE_DOZING_H
#define MEASURE_DOZING_H

#include "rant.h"

struct dozing {
	/* The loop's own: so many datagrams had come when the clock was read last, and since when there are no more; */
	uint64_t heard;
	int64_t heard_ns;
	uint32_t key; /* of the answer to what woke it, */
	bool woken; /* if there is one */
};

#endif
