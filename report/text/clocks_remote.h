/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's clock, and the samples that broke a rule, in the section "Clocks". */
#ifndef REPORT_TEXT_CLOCKS_THERE_H
#define REPORT_TEXT_CLOCKS_THERE_H

#include "host/clock/clock_peer.h"
#include "options.h"
#include "report/text/report.h"

/* Is it the reflector's clock, or may what our own (`which` of c; NULL: not watched) did at the time explain it? */
bool clocks_remote_is_theirs(const struct clock_peer_event *e, const struct clock_watch *c, enum clock_which which);

/* How many of the events of a kind are the reflector's. */
uint64_t clocks_remote_count(const struct clock_peer *p, enum clock_peer_kind kind, const struct clock_watch *c,
			     enum clock_which which);

/* True if the reflector's clock had an event. */
bool clocks_remote_has_news(const struct report *r);

void clocks_remote_write(FILE *out, const struct report *r);

/* Which of our clocks the reflector's is compared with. */
static inline enum clock_which clocks_remote_compared(const struct options *o)
{
	return options_by_nic(o) ? CLOCK_OF_NIC : CLOCK_OF_SYSTEM;
}

#endif
