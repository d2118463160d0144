/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person sees on stderr while it runs: a line that is drawn over and over, and that nothing answers. */
#ifndef REPORT_TEXT_PROGRESS_H
#define REPORT_TEXT_PROGRESS_H

#include "result/result.h"

#define PROGRESS_PERIOD_NS NS_PER_S

struct progress {
	struct result *result; /* set by the caller; account.recent_max_ns is reset at each line */
	const char *server; /* its address as text; set by the caller */
	uint64_t seconds, last_samples;
	int64_t gone_since_ns, down_since_ns; /* CLOCK_MONOTONIC; what was told to be gone, or down; 0: nothing was */
};

/* Draws the line. A duty of host/process/watch.h, every PROGRESS_PERIOD_NS: the context is a struct progress. */
void progress_draw(void *progress);

/* Wipes it. */
void progress_end(void);

/* One line when the peer has been gone for long, one when it is back. A duty of host/process/watch.h, at an emitter:
 * the context is a struct progress. */
void progress_tell_outage(void *progress);

/* One line: the link went down, or up again. For struct link_watch: the context is a struct progress. */
void progress_tell_link(void *progress, bool up);

/* One line: the interface sends by this one now, whose NIC stamps. For struct link_watch: the context is a struct
 * progress. */
void progress_tell_move(void *progress, int index);

/* One line: nothing has answered for 3 s, and the kernel has refused so many sends. server: its address as text. */
void progress_tell_silence(const struct options *o, const char *server, uint64_t refused);

#endif
