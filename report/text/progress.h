/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines on stderr during a run: the live line, outages and link changes. */
#ifndef REPORT_TEXT_PROGRESS_H
#define REPORT_TEXT_PROGRESS_H

#include "result/result.h"

struct progress {
	struct result *result; /* set by the caller */
	const char *server; /* its address as text; set by the caller */
	/* begin of the reported outage, and of the reported link failure, CLOCK_MONOTONIC; 0: none */
	int64_t gone_since_ns, down_since_ns;
};

/* Replaces the line on the terminal by this text of fewer than 190 characters. */
void progress_draw(const char *text);

/* Clears the line. */
void progress_end(void);

/* Prints one line when the peer has not answered for long, and one line when it answers again. A duty of
 * host/process/worker.h, at an emitter: the context is a struct progress. */
void progress_print_outage(void *progress);

/* Prints one line: the link went down, or up again. For struct link_watch: the context is a struct progress. */
void progress_print_link(void *progress, bool up);

/* Prints one line: the bond now sends through this interface, whose NIC makes the timestamps. For struct link_watch:
 * the context is a struct progress. */
void progress_print_move(void *progress, int index);

/* Prints one line: no reply for 3 s. refused: sends that the kernel refused. server: its address as text. */
void progress_print_silence(const struct options *o, const char *server, uint64_t refused);

#endif
