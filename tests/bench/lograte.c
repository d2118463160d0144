// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills the ring of a log and times its writing into a file, as beside a run. Linked with the
 * sources. */
#include "histogram.h"
#include "host/process/memory.h"
#include "measure/exchange.h"
#include "result/log.h"
#include "options.h"
#include "report/log/log_writer.h"
#include "report/text/report.h"
#include "wire/socket.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

/* Like real sequence numbers: nine digits that change from record to record. */
static void fill(struct log *l, uint64_t records)
{
	int64_t now_ns = clock_read_ns(CLOCK_REALTIME);

	for (uint64_t i = 0; i < records; i++) {
		struct sample s = { .seq = (uint32_t)i, .latency_ns = 8000 + (int64_t)(i * 7919 % 4001) };

		s.source[EMIT_T1_USER] = s.source[EMIT_T4_USER] = SOURCE_USER;
		s.source[EMIT_T1_WIRE] = s.source[EMIT_T4_WIRE] = SOURCE_KERNEL;
		s.time_ns[EMIT_T1_USER] = now_ns += 12347;
		s.time_ns[EMIT_T1_WIRE] = s.time_ns[EMIT_T1_USER] + 611;
		s.time_ns[EMIT_T4_WIRE] = s.time_ns[EMIT_T1_WIRE] + s.latency_ns;
		s.time_ns[EMIT_T4_USER] = s.time_ns[EMIT_T4_WIRE] + 997;
		s.follow_up = FOLLOW_UP_THERE;
		for (int t = 0; t < TIMES; t++) {
			s.source[REMOTE + t] = SOURCE_KERNEL;
			s.time_ns[REMOTE + t] = s.time_ns[EMIT_T1_WIRE] + 997 * (t + 1);
		}
		log_add(l, &s);
	}
}

int main(int argc, char **argv)
{
	static struct result result = { .remote = SOURCE_KERNEL };
	static struct log_writer writer;
	static struct log log;
	struct options o = { .role = ROLE_EMIT, .stamp = SOURCE_KERNEL };
	struct report report = { .options = &o, .result = &result };
	struct memory memory;

	if (argc != 5 || (strcmp(argv[3], "wire") && strcmp(argv[3], "all") && strcmp(argv[3], "full")))
		errx(1, "usage: lograte FILE RECORDS wire|all|full text|csv|npy");

	uint64_t records = strtoull(argv[2], NULL, 10);

	o.log_path = argv[1];
	o.log_full = !strcmp(argv[3], "full");
	o.sw_timestamps = o.log_full || !strcmp(argv[3], "all");
	while (strcmp(log_forms[o.log_format].name, argv[4]))
		if (++o.log_format == LOG_FORMATS)
			errx(1, "%s: no form of a log", argv[4]);
	if (memory_map(&memory, records * log_record_bytes(o.log_full), false))
		errx(1, "no memory for %llu records", (unsigned long long)records);
	log_assign(&log, memory.start, records, false, o.log_full);
	fill(&log, records);
	if (log_writer_open(&writer, &report, &log))
		return 1;

	int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (log_writer_finish(&writer))
		return 1;
	printf("%.0f\n", (double)writer.written * NS_PER_S / (double)(clock_read_ns(CLOCK_MONOTONIC) - began_ns));
	return 0;
}
