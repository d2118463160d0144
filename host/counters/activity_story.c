// SPDX-License-Identifier: GPL-2.0-or-later
/* The readings of activity that a run keeps. */
#include "host/counters/activity_story.h"

#include <sched.h>
#include <unistd.h>

/* Shortest time between two readings in a burst of breaches, except for a new worst breach. */
#define PAUSE_NS (10 * NS_PER_MS)

/* The CPU to which the caller is pinned; -1: none. */
static int only_cpu(void)
{
	cpu_set_t mine;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(mine), &mine) || CPU_COUNT(&mine) != 1)
		return -1;
	while (!CPU_ISSET((size_t)cpu, &mine))
		cpu++;
	return cpu;
}

int activity_story_open(struct activity_story *s, const struct nic *n, pid_t thread)
{
	return activity_open(&s->activity, n, thread, only_cpu());
}

void activity_story_breach(struct activity_story *s, int64_t value_ns, uint64_t mark, bool measuring)
{
	const bool worst = value_ns > s->worst_ns;
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!worst && now_ns - s->read_ns < PAUSE_NS)
		return;
	activity_read(&s->activity, &s->now, measuring);
	s->now.mark = mark;
	if (!s->has_breach) {
		s->breach = s->now;
		s->has_breach = true;
	} else if (worst) {
		s->before_worst = s->last;
		s->worst = s->now;
		s->has_worst = true;
	}
	s->last = s->now;
	s->read_ns = now_ns;
	if (worst)
		s->worst_ns = value_ns;
}
