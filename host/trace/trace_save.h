/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saving the kernel's trace to files, and switching tracing on again. */
#ifndef HOST_TRACE_TRACE_SAVE_H
#define HOST_TRACE_TRACE_SAVE_H

#include "host/trace/trace_raw.h"
#include "tracefs.h"

/* A trace that trace_save() has written. */
struct trace_saved {
	char path[PATH_MAX]; /* a new folder: all.txt, cpuN.txt, and raw/ of trace_raw.h */
	const char *source; /* "snapshot" or "trace" */
	int spike_cpu; /* CPU whose file has the marker; -1: no file has it */
	bool swap_skipped; /* the expected snapshot with the marker is missing, so `trace` was saved instead */
	uint64_t lost_events; /* overwritten events of all CPUs, older than the first lines; UINT64_MAX: not known */
	struct trace_left_out left_out; /* of the raw pages and breach.json */
};

/* Checks that trace_save() can write there. The folder must exist and not be a link. 0, or -errno after one line. */
int trace_check_folder(const char *folder);

/* Writes the frozen trace, merged and per CPU, into a new folder inside `folder` that only this user may read; it gets
 * its name, rant-ROLE-NUMBER-seq-SEQ, when the text is complete. Then saves the raw pages, which may empty the buffer,
 * as far as that is possible. Call it while the trace is frozen, or after the run. 1:
 * *saved has the path; 0: no breach occurred; -errno after one line, and no file is left. */
int trace_save(struct trace *t, const char *folder, struct trace_saved *saved);

/* Housekeeping thread. Empties the buffers of a frozen trace that was saved and switches tracing on again. 0, or -errno
 * after one line: then it stays frozen. -EBUSY without a line: not frozen, or not saved. Where another program shares
 * the instance, its unsaved trace is lost too. */
int trace_rearm(struct trace *t);

#endif
