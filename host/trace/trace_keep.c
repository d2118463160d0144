// SPDX-License-Identifier: GPL-2.0-or-later
/* Saving and re-arming of the kernel's trace during the run, by the housekeeping thread. */
#include "host/trace/trace_save.h"

#include <string.h>

static void note_saved(struct trace_keeper *k, const struct trace_saved *saved)
{
	struct trace_kept *to = &k->kept[(k->trace->saves - 1) % TRACES_KEPT];
	const char *slash = strrchr(saved->path, '/');

	snprintf(to->name, sizeof(to->name), "%.63s", slash ? slash + 1 : saved->path);
	to->seq = k->trace->last.seq;
	to->latency_ns = k->trace->last.latency_ns;
}

void trace_keep(struct trace_keeper *k, int64_t now_ns)
{
	if (!k->trace || k->error || !trace_is_frozen(k->trace))
		return;
	if (k->trace->unsaved) {
		int saved = trace_save(k->trace, k->folder, &k->saved);

		k->error = saved < 0 ? saved : 0;
		if (saved > 0)
			note_saved(k, &k->saved);
		if (k->on_saved)
			k->on_saved(k->context, &k->trace->last, saved > 0 ? k->saved.path : NULL);
	}
	if (k->error || k->interval_ns == INT64_MAX || now_ns - k->rearmed_ns < k->interval_ns)
		return;
	k->error = trace_rearm(k->trace);
	k->rearmed_ns = now_ns;
}

void trace_keep_now(void *keeper)
{
	trace_keep(keeper, clock_read_ns(CLOCK_MONOTONIC));
}

int trace_keep_last(struct trace_keeper *k)
{
	struct trace_saved last = { .path = "" };
	int saved = k->folder && !k->error ? trace_save(k->trace, k->folder, &last) : 0;

	if (saved > 0)
		note_saved(k, &last);
	if (saved)
		k->saved = last;
	return saved < 0 ? saved : k->error;
}
