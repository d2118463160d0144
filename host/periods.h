/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periodic work of this host, by its settings. Read after a measurement, never during it. */
#ifndef HOST_PERIODS_H
#define HOST_PERIODS_H

#include "rant.h"

struct nic_details;

#define PERIODS_MAX 16

struct period {
	char name[64]; /* with the setting */
	int64_t period_ns;
};

struct periods {
	struct period each[PERIODS_MAX];
	unsigned count;
};

/* Adds a period; of 0 or less, none. */
__attribute__((format(printf, 3, 4)))
void periods_add(struct periods *p, int64_t period_ns, const char *name, ...);

/* Adds those of the kernel, and the interrupt coalescing of the NIC. A setting that cannot be read is left out; prints
 * nothing. */
void periods_read(struct periods *p, const struct nic_details *nic);

#endif
