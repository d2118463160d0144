/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines on stderr during a run: the live line, outages and link changes. */
#ifndef REPORT_TEXT_PROGRESS_H
#define REPORT_TEXT_PROGRESS_H

#include "result/result.h"

struct progress {
	struct result *result; /* set by the caller */
	const char *server; /* its address as text; set by the caller */
	/* CLOCK_MONOTONIC: begin of the outage, and of the link failure, that was reported; 0: none */
	int64_t gone_since_ns, down_since_ns;
};

/* Draws this text, of less than 190 characters, in place of the line that is there. */
void progress_draw(const char *text);

/* Wipes it. */
void progress_end(void);

/* One line when the peer has been gone for long, one when it is back. A duty of host/process/worker.h, at an emitter:
 * the context is a struct progress. */
void progress_print_outage(void *progress);

/* One line: the link went down, or up again. For struct link_watch: the context is a struct progress. */
void progress_print_link(void *progress, bool up);

/* One line: the interface sends by this one now, whose NIC stamps. For struct link_watch: the context is a struct
 * progress. */
void progress_print_move(void *progress, int index);

/* One line: no reply for 3 s. refused: sends that the kernel refused. server: its address as text. */
void progress_print_silence(const struct options *o, const char *server, uint64_t refused);

#endif
