/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A limit of the readings of a PHC a second, for devices that refuse more. All rants of a host share it by a file in
 * /run/rant, which only root can use; a process without the file keeps to a quarter of the limit. Each function but
 * open and close may be called by one thread only.
 */
#ifndef HOST_CLOCK_CLOCK_BUDGET_H
#define HOST_CLOCK_CLOCK_BUDGET_H

#include "rant.h"

#define CLOCK_BUDGET_MAX 128 /* largest limit: each reading may be a grant of its own */
#define CLOCK_BUDGET_USERS 32

/* Content of the file. Times are of CLOCK_MONOTONIC. */
struct clock_ledger {
	uint32_t version;
	uint32_t unused;
	struct {
		uint64_t owner;
		int64_t asked_ns; /* last request */
	} user[CLOCK_BUDGET_USERS];
	struct clock_grant {
		uint64_t owner;
		int64_t at_ns;
		uint64_t reads;
	} grant[CLOCK_BUDGET_MAX];
};

struct clock_budget {
	uint32_t reads_per_s; /* limit of this process or, with fd, of all rants together; 0: no limit */
	int fd; /* of the shared file; -1: not shared */
	int error; /* not shared: errno of the attempt */
	uint64_t owner; /* random number of this process in the ledger */
	uint64_t waits; /* requests that were not granted */
	struct clock_ledger own; /* not shared */
};

/* reads_per_s 0: no limit. Prints nothing. */
void clock_budget_open(struct clock_budget *b, int phc_index, uint32_t reads_per_s);

/* True: the caller may read the clock `reads` times now. The grants of any second add up to the limit at most, and if
 * several rants request readings, to an equal share for each. */
bool clock_budget_take(struct clock_budget *b, uint32_t reads);

/* As clock_budget_take(), but waits for it, for a few seconds, which b->waits does not count. */
bool clock_budget_wait(struct clock_budget *b, uint32_t reads);

void clock_budget_close(struct clock_budget *b);

#endif
