// SPDX-License-Identifier: GPL-2.0-or-later
/* A terminal that does not take the line of progress misses that, no more. */
#include "report/progress.h"

#include "options.h"

#include <err.h>
#include <inttypes.h>
#include <unistd.h>

#define WIPE "\r\033[K"

static void put(const char *line, int bytes)
{
	if (write(STDERR_FILENO, line, (size_t)bytes) < 0)
		return;
}

void progress_draw(void *progress)
{
	struct progress *p = progress;
	struct account *a = &p->exchange->account;
	uint64_t samples = counter_get(&a->recorded);
	int64_t max_ns = atomic_exchange_explicit(&a->recent_max_ns, 0, memory_order_relaxed);
	char line[160];

	p->seconds++;
	put(line, snprintf(line, sizeof(line),
			   WIPE "%" PRIu64 " s  %" PRIu64 " samples  %" PRIu64 "/s  max %.3f us  lost %" PRIu64, p->seconds,
			   samples, samples - p->last_samples, (double)max_ns / NS_PER_US, counter_get(&a->lost)));
	p->last_samples = samples;
}

void progress_end(void)
{
	put(WIPE, sizeof(WIPE) - 1);
}

void progress_tell_silence(const struct options *o, const char *server, uint64_t refused)
{
	if (refused)
		warnx("no answer from %s after 3 s; the kernel refused %" PRIu64 " times: no reflector runs there "
		      "(ICMP port unreachable), or sending is not possible; still trying", server, refused);
	else
		warnx("no answer from %s after 3 s: %s%s; still trying", server,
		      o->transport == TRANSPORT_L2 ? "no reflector running there with --transport l2 and this --ptp-domain, a wrong address, or a "
						     "switch that keeps PTP messages to itself" :
		      options_in_ptp(o)		   ? "no reflector running there with --transport ptp and this --ptp-domain, a wrong address, a "
						     "firewall, a switch that keeps PTP messages to itself, or no ARP entry (see 'ip neigh')" :
						     "no reflector running, a wrong address or port, a firewall, no ARP entry (see 'ip neigh')",
		      o->key_path ? ", another --key there, or its --allow" : ", or a --key or an --allow there");
}
