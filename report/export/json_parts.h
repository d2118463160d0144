/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of members of the object of --json, in their order. Each function adds to the object that is open.
 * docs/json.md describes all members. */
#ifndef REPORT_EXPORT_JSON_PARTS_H
#define REPORT_EXPORT_JSON_PARTS_H

#include "rant.h"
#include "report/export/json.h"
#include "result/clocks.h"

struct check_reported;
struct read;
struct report;
struct why;

#define JSON_SCHEMA_VERSION 1
#define JSON_NAME_BYTES 64

/* Words of members, for the reader of the file as well. */
#define JSON_ACTIVITY_CHANGES 4
extern const char *const json_activity_changes[JSON_ACTIVITY_CHANGES]; /* by enum activity_change */
extern const char *const json_clocks_of[CLOCKS]; /* by enum clock_which */
extern const char *const json_steerings[]; /* by enum clock_steering, from CLOCK_NOT_STEERED on */
extern const char *const json_scales[]; /* by enum clock_scale, from CLOCK_SCALE_UTC on */
extern const char *const json_peer_kinds[PEER_KINDS]; /* by enum clock_peer_kind */
extern const char *const json_metrics_of[]; /* by enum metric, METRIC_RTT to METRIC_NETWORK */
extern const char *const json_sources[SOURCES]; /* by enum source, from SOURCE_USER on */

/* Name of the format, and the program that writes it. */
void json_origin(struct json *j);

/* The members of a finding of the doctor, but its interface. */
void json_finding(struct json *j, const struct check_reported *r);

/* The run: role, begin, duration and reason of its end. over: the run has ended. */
void json_run(struct json *j, const struct report *r, bool over);

/* Options, given or by default, and the settings that the kernel granted. */
void json_configuration(struct json *j, const struct report *r);

/* The host and its NIC; reads both. */
void json_host(struct json *j, const struct report *r);

void json_clocks(struct json *j, const struct report *r);
void json_accounts(struct json *j, const struct report *r);

/* Latency, stages, one-way delays, schedule and IPDV. histograms: each with its histogram. */
void json_statistics(struct json *j, const struct report *r, bool histograms);

/* The members `statistics` and `ipdv` only. */
void json_metrics(struct json *j, const struct report *r, bool histograms);
void json_ipdv(struct json *j, const struct report *r);

/* The histograms with several modes; null: not looked for. */
void json_modes(struct json *j, const struct report *r);

void json_rhythm(struct json *j, const struct report *r);
void json_breaches(struct json *j, const struct report *r);

/* The cause of a breach; w NULL: null. */
void json_why(struct json *j, const char *name, const struct why *w);

/* The causes of all breaches whose traces were saved; null: none was. */
void json_breach_causes(struct json *j, const struct report *r);

/* Member "freeze": requests to freeze the trace of the other host; null: none. */
void json_freeze(struct json *j, const struct report *r);

/* One breach as an object, with its stages. over: the run has ended, so that the blame rests on all samples. */
void json_breach(struct json *j, const char *name, const struct report *r, const struct sample *s, uint64_t number,
		 bool over);

/* Activity of the machine, hardware counters, trace, hook commands and log. */
void json_machine(struct json *j, const struct report *r);

void json_verdict(struct json *j, const struct report *r);

/* All members above except the origin. */
void json_whole(struct json *j, const struct report *r, int status);

/* Writes a member of the single file that the result was read from, as it is there. path: of the member, with points;
 * its last name is the name here. False: a live run, several files, or not in the file. */
bool json_read_member(struct json *j, const struct report *r, const char *path);

/* The files that a result was read from. */
void json_read_from(struct json *j, const struct read *read);

#endif
