// SPDX-License-Identifier: GPL-2.0-or-later
/* Configuration of the run, for --verbose. */
#include "report/text/report.h"

#include "host/process/memory.h"
#include "options.h"
#include "report/text/label.h"
#include "result/log.h"
#include "result/result.h"

#include <inttypes.h>

static void write_memory(FILE *out, const char *what, const struct memory *m)
{
	static const char *const pages[] = {
		[MEMORY_NORMAL] = "normal pages",
		[MEMORY_HUGE_DEFAULT] = "huge pages of the default size",
		[MEMORY_HUGE_2M] = "2 MB huge pages",
	};

	fprintf(out, "%s: %.1f MB in %s\n", what, (double)m->bytes / (1 << 20), pages[m->pages]);
}

void report_configuration(FILE *out, const struct report *r, const struct memory *histogram, const struct memory *log)
{
	const struct options *o = r->options;
	const struct granted *g = &r->result->granted;
	const struct result_nic *n = &r->result->nic;
	const struct result_log *l = &r->result->log;
	const struct result_trace *t = &r->result->trace;
	char latency[64];

	label_latency(o, latency, sizeof(latency));
	fprintf(out, "%s on %s (%s) by %s", o->role == ROLE_EMIT ? "Emitting" : "Reflecting", n->name,
		*n->driver ? n->driver : "driver unknown", g->transport);
	if (o->port)
		fprintf(out, ", port %" PRId64, o->port);
	if (options_in_ptp(o))
		fprintf(out, ", domain %" PRId64, o->ptp_domain);
	fputc('\n', out);
	fprintf(out, "Stamps: %s; %s\n", label_stamps[o->stamp].option, latency);
	if (options_by_nic(o))
		fprintf(out, "NIC clock: /dev/ptp%" PRId64 "; stamp setting %s\n", n->phc_index.value,
			n->changed ? "changed for this run, restored at its end" : "as found");
	if (g->transmit_stamps)
		fprintf(out, "Transmit stamps are matched by %s\n",
			!g->stamp_ids_by_message ? "the kernel's own count" :
			g->stamp_ids_of_peer_sockets ?
				"an id sent with each packet; those of busy sessions, by the kernel's own count" :
				       "an id sent with each packet");
	if (g->receive_by_kernel || g->transmit_by_kernel)
		fprintf(out, "Stages at the kernel: times of %s\n",
			!g->transmit_by_kernel ? "received packets" : g->receive_by_kernel ?
				"received packets and of sent packets" : "sent packets");
	if (g->transmit_by_kernel > 1)
		fprintf(out, "Sent packets with times of the kernel: one in %" PRId64 "\n", g->transmit_by_kernel);
	fprintf(out, "Socket receive buffer: %d bytes granted\n", g->receive_buffer_bytes);
	if (g->preloaded)
		fputs("Packets go through a preloaded library (LD_PRELOAD)\n", out);
	if (o->busy_poll_us)
		fprintf(out, "Busy polling: %" PRId64 " us%s\n", o->busy_poll_us,
			o->busy_poll_implied ? " (set because --budget and --prefer-busypoll do nothing without it)" :
			"");
	write_memory(out, "Histogram", histogram);
	if (l->exists) {
		write_memory(out, "Log", log);
		fprintf(out, "%s of %" PRIu64 " records (%.1f s at %d packets/s), written %s\n",
			l->circular ? "Circular log buffer" : "Log buffer", l->capacity,
			(double)l->capacity / LOG_RATE, LOG_RATE,
			l->beside ? "beside the run" : "at its end");
	}
	if (evidence_has_trace(t)) {
		fprintf(out, "Trace marker enabled: %s, clock %s\n", t->path, t->clock);
		if (t->events)
			fprintf(out, "Trace events: %u (--trace-events %s), %u not in this kernel\n", t->events,
				o->trace_events == TRACE_EVENTS_PACKET ? "packet" : "light", t->events_missing);
		if (t->snapshot)
			fprintf(out, "Snapshot enabled: its buffer takes %.1f MB\n",
				(double)t->spare_bytes / (1 << 20));
	}
}
