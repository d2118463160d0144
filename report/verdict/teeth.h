/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modes of the latency and of its stages, and the setting of this host that explains their distance. */
#ifndef REPORT_VERDICT_TEETH_H
#define REPORT_VERDICT_TEETH_H

#include "rant.h"
#include "report/verdict/modes.h"
#include "result/stages.h"

struct delay;
struct report;

#define TEETH_OF_LATENCY (-1)

struct tooth {
	int stage; /* enum stage_index; TEETH_OF_LATENCY: of the latency, RTT or response */
	struct modes modes; /* several; a single mode only with a cause */
	const struct delay *cause; /* NULL: no setting fits */
};

struct teeth {
	unsigned count;
	struct tooth tooth[STAGES + 1]; /* the latency first, if it has any */
};

/*
 * Finds the modes of all histograms of the report. A setting of result.delays is the cause if it
 * can delay the packets on the measured path, and if all modes have its distance, or most samples are in a single thin
 * peak at its value: within 2 % or 1 us, and never more than 10 %.
 */
void teeth_find(struct teeth *to, const struct report *r);

/* The most useful finding: the first with a cause, else the modes of the latency. NULL: neither. */
const struct tooth *teeth_first(const struct teeth *t);

#endif
