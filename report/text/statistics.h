/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms with their percentiles, and the table of stages. For report/ only. */
#ifndef REPORT_TEXT_STATISTICS_H
#define REPORT_TEXT_STATISTICS_H

#include "rant.h"

struct histogram;
struct report;

/* A percentile of the report. */
struct statistics_percentile {
	const char *percent; /* "99.9" */
	int64_t value_ns;
	uint64_t above; /* number of samples of a higher rank */
};

/* Percentile number `index` of a histogram that is not empty. False: the index is too large, or too few samples. */
bool statistics_percentile(const struct histogram *h, unsigned index, struct statistics_percentile *p);

/* Row of the longest poll gaps, see result/poll_gaps.h. */
#define STATISTICS_POLL_GAP "Poll gap"
#define STATISTICS_POLL_GAP_FORMULA "longest of an exchange"

/* columns: width of the terminal, 0: out is not a terminal. */

/* Minimum, maximum and average in one line, which scripts match; statistics_write() has a title above it. */
void statistics_write_line(FILE *out, const struct histogram *h);
void statistics_write(FILE *out, const struct histogram *h);

/* Minimum, maximum, average and percentiles of the latency, one a line, which scripts match. */
void statistics_write_summary(FILE *out, const struct histogram *h);

/* The latency alone. */
void statistics_write_histogram(FILE *out, const struct report *r, int columns);

/* The latency; for an emitter with times of the reflector also response and network. */
void statistics_write_histograms(FILE *out, const struct report *r, int columns);

/* The table of stages. Stages that the peer does not report are omitted, with the reason. */
void statistics_write_stages(FILE *out, const struct report *r, int columns);

/* For an emitter with --interval: the slots, the send delays, and the round trips from the slots. */
void statistics_write_schedule(FILE *out, const struct report *r, int columns);

#endif
