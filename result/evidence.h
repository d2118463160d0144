/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the actions at breaches. */
#ifndef RESULT_EVIDENCE_H
#define RESULT_EVIDENCE_H

#include "options.h"
#include "host/trace/trace_save.h"
#include "rant.h"
#include "tracefs.h"

/* Hook commands. All zeros: none. */
struct result_commands {
	int commands;
	const char *command[BREACH_COMMANDS_MAX]; /* for /bin/sh -c: memory of the options, or of struct read */
	unsigned ran[BREACH_COMMANDS_MAX], failed[BREACH_COMMANDS_MAX]; /* ended; not started, or ended with a status */
	unsigned left_out[BREACH_COMMANDS_MAX]; /* breaches during which the command still ran for an earlier breach */
	uint64_t breaches_missed; /* breaches that newer ones had replaced before a command could be told of them */
};

/* The trace instance and its last saved trace. All zeros: none. */
struct result_trace {
	char path[sizeof(((struct trace *)NULL)->path)]; /* of the instance; empty: none */
	char clock[sizeof(((struct trace *)NULL)->clock)];
	bool snapshot; /* wanted and possible */
	unsigned events, events_missing; /* switched on here; of the same set, and not in this kernel */
	uint64_t spare_bytes; /* buffer of the snapshot */
	int start_error; /* errno of the start marker */
	uint64_t marked, refused; /* markers written, refused by the kernel */
	uint64_t off; /* refused since others had stopped the trace */
	uint64_t while_frozen; /* breaches that found the trace frozen */
	unsigned saves;
	bool frozen;
	bool unsaved; /* a marker of a breach is in the trace, and not in a file */
	struct trace_record last; /* breach */
	struct trace_saved saved; /* the last saved trace; path empty: none */
	struct trace_kept kept[TRACES_KEPT]; /* the last: of `saves` saved traces, number i is kept[i % TRACES_KEPT] */
};

static inline bool evidence_has_trace(const struct result_trace *t)
{
	return *t->path;
}

#endif
