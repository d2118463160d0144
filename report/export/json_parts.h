/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of what --json writes, in its order: each a few members of the object that is open. docs/json.md names them
 * all. */
#ifndef REPORT_EXPORT_JSON_PARTS_H
#define REPORT_EXPORT_JSON_PARTS_H

#include "rant.h"
#include "report/export/json.h"

struct read;
struct report;

#define JSON_SCHEMA_VERSION 1
#define JSON_NAME_BYTES 64

/* Whose format this is, and which program writes it. */
void json_origin(struct json *j);

/* What a run is: its role, when it began, how long it took and why it ended. over: it has. */
void json_run(struct json *j, const struct report *r, bool over);

/* The options, as they were given and by default, and what the kernel granted. */
void json_configuration(struct json *j, const struct report *r);

/* The host and its NIC; reads both. */
void json_host(struct json *j, const struct report *r);

void json_clocks(struct json *j, const struct report *r);
void json_accounts(struct json *j, const struct report *r);

/* Latency, stages, ways and the schedule; how consecutive delays differ. histograms: each with its histogram. */
void json_statistics(struct json *j, const struct report *r, bool histograms);

/* Of these only the members `statistics` and `ipdv`. */
void json_figures(struct json *j, const struct report *r, bool histograms);
void json_variations(struct json *j, const struct report *r);

void json_breaches(struct json *j, const struct report *r);

/* One breach as an object, with what its time was spent on. over: the run is, so that all samples tell what is to
 * blame. */
void json_breach(struct json *j, const char *name, const struct report *r, const struct sample *s, uint64_t number,
		 bool over);

/* What the machine did, counters, the trace, commands and the log. */
void json_machine(struct json *j, const struct report *r);

void json_verdict(struct json *j, const struct report *r);

/* All the parts above but the origin. */
void json_whole(struct json *j, const struct report *r, int status);

/* The files that a result was read of. */
void json_read_from(struct json *j, const struct read *read);

#endif
