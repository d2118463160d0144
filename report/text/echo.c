// SPDX-License-Identifier: GPL-2.0-or-later
/* With --transport icmp: lists the missing data, and possible effects of the responder as possible only. */
#include "report/text/sections.h"

#include "options.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "result/result.h"

#include <inttypes.h>

/* Whether a responder limits its rate cannot be determined, so the report gives the rate of the requests. */
static void write_lost(FILE *out, const struct result *result)
{
	const uint64_t lost = counter_get(&result->account.lost), sent = counter_get(&result->account.sent);
	const int64_t ns = result->ended_ns - result->began_ns;

	if (!lost)
		return;
	fprintf(out,
		"  Lost:    %" PRIu64 " of %" PRIu64 ": may be rate limiting, for hosts and routers often answer only "
						     "so many echoes a second", lost,
		sent);
	if (ns > 0)
		fprintf(out, " (asked: %.0f)", (double)sent / label_seconds(ns));
	fputs(": compare with a longer --interval\n", out);
}

void echo_write(FILE *out, const struct report *r)
{
	fputs("\nEcho (ICMP): the responder reports no times\n"
	      "  Unknown: response, network, each way, the direction of losses, the TTL and DSCP of arrival\n"
	      "  Slow:    a reply may have waited in the responder: many hosts and routers answer echoes in software, "
	      "after all else\n", out);
	write_lost(out, r->result);
}
