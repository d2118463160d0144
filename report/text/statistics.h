/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms with their percentiles, and the table of the parts of an exchange. For report/ only. */
#ifndef REPORT_TEXT_STATISTICS_H
#define REPORT_TEXT_STATISTICS_H

#include "rant.h"

struct histogram;
struct report;

/* One of those that the report has. */
struct statistics_percentile {
	const char *percent; /* "99.9" */
	int64_t value_ns;
	bool bound; /* the true value is this or more */
	uint64_t above; /* samples of a higher rank: what the value rests on */
};

/* The one of this index, of a histogram that is not empty. False: there are no more, or too few samples for it. */
bool statistics_percentile(const struct histogram *h, unsigned index, struct statistics_percentile *p);

/* columns: width of the terminal, 0 when out is none. */

/* Minimum, maximum and average in one line, which scripts read. */
void statistics_write(FILE *out, const struct histogram *h);

/* The latency alone. */
void statistics_write_histogram(FILE *out, const struct report *r, int columns);

/* The latency, and for an emitter that hears of the other host the response and the network. */
void statistics_write_histograms(FILE *out, const struct report *r, int columns);

/* The table of the parts, if this run has it. A part that the peer did not tell of is left out, with the reason. */
void statistics_write_stages(FILE *out, const struct report *r, int columns);

/* Of an emitter that sends by the clock: its slots, how late probes were sent, and the round trips from when they were
 * due. */
void statistics_write_schedule(FILE *out, const struct report *r, int columns);

#endif
