/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's clock, and the samples that broke a rule, in the section "Clocks". */
#ifndef REPORT_TEXT_CLOCKS_THERE_H
#define REPORT_TEXT_CLOCKS_THERE_H

#include "host/clock/clock_peer.h"
#include "options.h"
#include "report/text/report.h"

/* True if the event is a fault of the reflector's clock. False if a fault of this host's clock (`which` of c; NULL: not
 * watched) at that time may explain it. */
bool clocks_remote_is_theirs(const struct clock_peer_event *e, const struct clock_watch *c, enum clock_which which);

/* Number of events of a kind that are faults of the reflector's clock. */
uint64_t clocks_remote_count(const struct clock_peer *p, enum clock_peer_kind kind, const struct clock_watch *c,
			     enum clock_which which);

/* True if the reflector's clock had an event. */
bool clocks_remote_has_news(const struct report *r);

void clocks_remote_write(FILE *out, const struct report *r);

/* The clock of this host with which the reflector's clock is compared. */
static inline enum clock_which clocks_remote_compared(const struct options *o)
{
	return options_by_nic(o) ? CLOCK_OF_NIC : CLOCK_OF_SYSTEM;
}

#endif
