/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner of each nanosecond of a CPU, from the events of a trace: a stack of contexts, NMI above interrupt above
 * softirq above thread or idle. The parts of an interval sum to the interval by construction.
 */
#ifndef EXPLAIN_OWNER_H
#define EXPLAIN_OWNER_H

#include "explain/trace_text.h"
#include "result/causes.h"

#define OWNER_IDLE_UNKNOWN (-2)

struct owner {
	uint32_t name; /* of trace_text_name() */
	uint32_t detail; /* function of a timer or work item; 0: none */
	int32_t number; /* interrupt, vector, softirq, pid, idle state */
	int16_t prio; /* of a thread; 0: not known */
	uint8_t class; /* enum owner_class */
};

/* An owner from this time until the next element. */
struct span {
	int64_t from_ns;
	struct owner owner;
};

/* One CPU. Before the first span and after end_ns it is OWNER_ABSENT. */
struct timeline {
	struct span *span;
	size_t count;
	int64_t end_ns;
};

struct owners {
	struct span *spans; /* memory of all timelines */
	struct timeline cpu[TRACE_TEXT_CPUS_MAX];
};

/* Makes the timelines of all CPUs. own_pid: the measuring thread. 0, or -ENOMEM. Call owners_free() in any case. */
int owners_find(struct owners *o, const struct trace_text *t, int32_t own_pid);

void owners_free(struct owners *o);

/* Time of an owner within an interval. */
struct owner_part {
	struct owner owner;
	int64_t ns;
};

#define OWNER_PARTS_MAX 64

struct owner_parts {
	struct owner_part part[OWNER_PARTS_MAX]; /* each owner once */
	int count;
};

/* True if `name` is that of a thread. */
static inline bool owner_is_thread(const struct owner *o)
{
	return o->class == OWNER_THREAD || o->class == OWNER_HELD || o->class == OWNER_DEFERRED ||
	       o->class == OWNER_SOFTIRQS_OFF;
}

/* True if both are the same owner; without `details` also with different functions. */
bool owner_is_same(const struct owner *a, const struct owner *b, bool details);

/* Adds time of an owner. The last element is of OWNER_OTHERS when all others are taken. */
void owner_add(struct owner_parts *p, const struct owner *owner, int64_t ns);

/* Adds the owners of [from_ns, to_ns) on a CPU. The sum of all parts grows by exactly to_ns - from_ns. */
void owner_add_interval(struct owner_parts *p, const struct owners *o, int cpu, int64_t from_ns, int64_t to_ns);

#endif
