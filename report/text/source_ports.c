// SPDX-License-Identifier: GPL-2.0-or-later
/* Latency and losses by source port, in one table. */
#include "report/text/sections.h"

#include "report/text/label.h"
#include "report/text/report.h"
#include "result/result.h"

#include <inttypes.h>

static void write_us(FILE *out, bool known, uint64_t ns)
{
	if (known)
		fprintf(out, " %10.3f", label_us((int64_t)ns));
	else
		fprintf(out, " %10s", "-");
}

static void write_row(FILE *out, const struct result_port *p, bool worst)
{
	fprintf(out, "  %-6u %9" PRIu64 " %8" PRIu64, p->number, p->samples, p->lost);
	if (p->directions_known)
		fprintf(out, " %7" PRIu64 " %7" PRIu64, p->lost_forward, p->lost_backward);
	else
		fprintf(out, " %7s %7s", "-", "-");
	write_us(out, p->has_delay, p->p50_ns);
	write_us(out, p->has_delay, p->p99_ns);
	write_us(out, p->has_delay, p->max_ns);
	fprintf(out, "%s\n", worst ? " *" : "");
}

void source_ports_write(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const int worst = source_ports_worst(result->port, result->ports);

	if (!result->ports)
		return;
	fprintf(out, "\nSource ports (us, of %s):\n  %-6s %9s %8s %7s %7s %10s %10s %10s\n",
		result->ports_by_network ? "the network: RTT - response" : "the round trip", "Port", "Samples", "Lost", "There",
		"Back", "Median",
		"99th", "Max");
	for (unsigned i = 0; i < result->ports; i++)
		write_row(out, &result->port[i], (int)i == worst);
	if (worst >= 0)
		fprintf(out, "  * the worst: %s\n",
			result->port[worst].lost ? "the largest share of its probes was lost" :
			"its 99th percentile is the highest");
	fputs("  Median and 99th within 1.6 %\n", out);
	for (unsigned i = 0; i < result->ports; i++)
		if (result->port[i].refused)
			fprintf(out, "  Port %u: %" PRIu64 " sends were refused by the kernel\n",
				result->port[i].number, result->port[i].refused);
}
