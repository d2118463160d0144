/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of this host that delay packets by a fixed time. Read before or after a measurement, never during it. */
#ifndef HOST_DELAYS_H
#define HOST_DELAYS_H

#include "rant.h"

struct nic;

#define DELAYS_MAX 16
#define DELAY_LEAST_NS 5000 /* a shorter delay fits too many distances; some drivers use small numbers as a mode */

struct delay {
	char name[80]; /* "rx-usecs 50" */
	int64_t value_ns;
	char cure[96]; /* a command or a clause */
};

struct delays {
	unsigned count;
	struct delay delay[DELAYS_MAX];
};

/* Interrupt coalescing (without adaptive coalescing, whose delay is not fixed), gro_flush_timeout, and if `sleeps` the
 * exit latencies of the idle states of the CPU that are enabled. cpu -1: not known. A setting that cannot
 * be read is left out; prints nothing. */
void delays_read(struct delays *to, const struct nic *nic, int cpu, bool sleeps);

#endif
