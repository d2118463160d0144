/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person sees on stderr while it runs: a line that is drawn over and over, and that nothing answers. */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include "measure/exchange.h"

#define PROGRESS_PERIOD_NS NS_PER_S

struct progress {
	struct exchange *exchange; /* set by the caller; account.recent_max_ns is reset at each line */
	uint64_t seconds, last_samples;
};

/* Draws the line. A duty of host/watch.h, every PROGRESS_PERIOD_NS: the context is a struct progress. */
void progress_draw(void *progress);

/* Wipes it. */
void progress_end(void);

/* One line: nothing has answered for 3 s, and the kernel has refused so many sends. server: its address as text. */
void progress_tell_silence(const struct options *o, const char *server, uint64_t refused);

#endif
