/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections of the complete report, and their parts that other reports share. For report/ and analyse/ only. */
#ifndef REPORT_TEXT_SECTIONS_H
#define REPORT_TEXT_SECTIONS_H

#include "rant.h"
#include "report/text/report.h"

struct clock_rate;
struct histogram;
struct options;
struct report;
struct result;
struct result_counters;
struct tooth;

/* ---- headline.c -------------------------------------------------------------------------------------------------- */

/* The result of the run in one line, to be quoted. */

/* "RTT p50 11.2 us, p99.9 16.4 us, max 34.4 us (#27) of 28,546 samples in 600 s, 0 lost: trusted", with a line end. For
 * a reflector: its responses, without losses, which it cannot detect. A percentile with fewer than ten samples above it
 * is marked. */
void headline_write(FILE *out, const struct report *r);

/* The begin of the line, without a line end: "RTT p50 11.2 us, ... of 28,546 samples". */
void headline_write_latency(FILE *out, const struct report *r);

/* The line without the verdict and the line end: "RTT p50 11.2 us, ... of 28,546 samples in 600 s, 0 lost". */
void headline_write_after(FILE *out, const struct report *r, double seconds);

/* ---- statistics.c ------------------------------------------------------------------------------------------------ */

/* Histograms with their percentiles, and the table of stages. */

/* A percentile of the report. */
struct statistics_percentile {
	const char *percent; /* "99.9" */
	int64_t value_ns;
	uint64_t above; /* number of samples of a higher rank */
};

/* Percentile number `index` of a histogram that is not empty. False: the index is too large, or too few samples. */
bool statistics_percentile(const struct histogram *h, unsigned index, struct statistics_percentile *p);

/* Row of the longest poll gaps, see result/result.h. */
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

/* ---- buckets.c --------------------------------------------------------------------------------------------------- */

/* The rows of a histogram. */

#define BUCKETS_ROWS_MOST 40 /* without --verbose */

/* True if the histogram needs more rows than that: one for each bucket of --bucket-size with a sample, and one for the
 * overflow. Needs count > 0. */
bool buckets_are_folded(const struct histogram *h, const struct options *o);

/* Each row has its limits, its samples and their share; on a terminal also a bar. A folded histogram has at most
 * BUCKETS_ROWS_MOST rows, the narrowest where most samples are; "..." replaces buckets without a sample, and it has
 * bars in a file too. columns: width of the terminal, 0: out is not a terminal. Needs count > 0. */
void buckets_write(FILE *out, const struct histogram *h, const struct options *o, int columns);

/* ---- ipdv.c ------------------------------------------------------------------------------------------------------ */

/* Delays and IPDV (RFC 3393), in one table. */

/* For a run with a sample; a reflector has its own response only. Rows without values are omitted. columns:
 * width of the terminal, 0: out is not a terminal. */
void ipdv_write(FILE *out, const struct report *r, int columns);

/* True if the reflector reported no transmit time of a reply: only T2 and T3 in the replies are known. */
bool ipdv_is_reported(const struct report *r);

/* ---- source_ports.c ---------------------------------------------------------------------------------------------- */

/* Latency and losses by source port. */

/* A row for each source port, in the order of opening; the worst is marked. Nothing with a single port. */
void source_ports_write(FILE *out, const struct report *r);

/* ---- echo.c ------------------------------------------------------------------------------------------------------ */

/* Limits of measurements by ICMP echo. */

/* Writes a paragraph for a run with --transport icmp. */
void echo_write(FILE *out, const struct report *r);

/* ---- teeth.c ----------------------------------------------------------------------------------------------------- */

/* Modes of the latency and its stages as text. */

#define TEETH_TEXT_BYTES 400

/* "RTT", or the name of the stage. */
const char *teeth_name(char *text, size_t bytes, const struct report *r, const struct tooth *t);

/* "2 modes of RTT: 71 % near 41.2 us, 29 % near 91.3 us, 50.1 us apart: rx-usecs 50: ethtool -C eth1 rx-usecs 0"; the
 * shares of the `shares` largest modes. */
void teeth_say(char *text, size_t bytes, const struct report *r, const struct tooth *t, unsigned shares);

/* A line for each histogram that has several modes, or a thin peak that a setting explains. Nothing without them. */
void teeth_write(FILE *out, const struct report *r);

/* ---- account.c --------------------------------------------------------------------------------------------------- */

/* Counters of packets, timestamps and log records. */

/* Packets, directions, stamps of the other host, missing stamps, and the rate. */
void account_write(FILE *out, const struct report *r);

/* The log. Needs --log. */
void account_write_log(FILE *out, const struct report *r);

/* Writes a row; scripts find it by its name. meaning: printed after a count that is not 0; NULL: none. */
void account_count(FILE *out, const char *name, uint64_t count, const char *meaning);

enum account_table { ACCOUNT_PACKETS, ACCOUNT_DIRECTIONS, ACCOUNT_STAMPS };

/* Row `index` of a table of the report for this role; the name is unique in its table. json: text from which
 * json_name() makes the member of JSON. False: no more rows. */
bool account_row(const struct report *r, enum account_table which, unsigned index, const char **name, const char **json,
		 uint64_t *count);

/* Adds to the counter of a row, when several runs are merged. */
void account_row_add(struct result *result, enum account_table which, unsigned index, uint64_t count);

/* ---- clocks.c ---------------------------------------------------------------------------------------------------- */

/* Section "Clocks" of the report. */

/* True if the clocks were watched, and the report has a reason to show them. */
bool clocks_are_shown(const struct report *r);

/* The clocks must have been watched. */
void clocks_write(FILE *out, const struct report *r);

/* For printing in whole ppb: rounded up, at least 1. */
double clocks_rate_bound_ppb(const struct clock_rate *r);

/* Error bound of user-space times that were converted to the timebase of the timestamps. Needs r->result->converted. */
int64_t clocks_stages_bound(const struct report *r);

/* ---- clocks_remote.c --------------------------------------------------------------------------------------------- */

/* The reflector's clock, and the samples that broke a rule, in the section "Clocks". */

/* True if the reflector's clock had an event. */
bool clocks_remote_has_news(const struct report *r);

void clocks_remote_write(FILE *out, const struct report *r);

/* ---- machine.c --------------------------------------------------------------------------------------------------- */

/* Activity of the machine during the run. */

/* Hardware counters of quick exchanges, and of the spike. */
void machine_write_counters(FILE *out, const struct result_counters *p);

/* Counters of the kernel: until the first breach, before the worst breach, during the run. Nothing if a reading at the
 * start or the end is missing; needs the activity. */
void machine_write_activity(FILE *out, const struct report *r);

/* ---- evidence.c -------------------------------------------------------------------------------------------------- */

/* Evidence of breaches: trace and commands. */

/* The trace: number of markers, file of the frozen trace, saved traces. Needs a trace. */
void evidence_write_trace(FILE *out, const struct report *r);

/* One line: the folder of the saved trace, or the file of the frozen trace; nothing without a trace. */
void evidence_write_place(FILE *out, const struct report *r);

/* The hook commands and their results. Needs commands. */
void evidence_write_commands(FILE *out, const struct report *r);

#endif
