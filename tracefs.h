/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace: instance, marker and stop (hot), saving. */
#ifndef TRACEFS_H
#define TRACEFS_H

#include "rant.h"

#define TRACE_INSTANCE "rant"
#define TRACE_MARKER_BYTES 512 /* the longest marker has 326 */

/* The measuring thread takes a trace from armed to frozen, the housekeeping thread back. */
enum trace_state { TRACE_ARMED, TRACE_FROZEN };

/* One breach as trace_breach() left it. Another thread may read it while the trace is frozen. */
struct trace_record {
	uint32_t seq;
	uint8_t role; /* enum role */
	bool snapshot_taken;
	bool off_before; /* somebody else had switched tracing off: nothing was frozen here */
	int marker_error, stop_error, snapshot_error; /* errno of each step; 0: done, or not asked for */
	int64_t marker_ns, frozen_ns; /* since the entry: until the marker was written, until the last step was done */
	uint32_t marker_bytes;
	char marker[TRACE_MARKER_BYTES]; /* without an end */
};

struct trace {
	char path[256]; /* of the instance; empty: not open */
	bool created; /* by this program */
	bool switched_on; /* tracing_on was 0 before */
	bool snapshot; /* wanted and possible */
	bool spare_made; /* the buffer for the snapshot was allocated here */
	uint64_t spare_bytes; /* of that buffer, made here or not */
	char clock[16]; /* trace_clock */
	int folder_fd, marker_fd, on_fd, snapshot_fd;
	_Atomic int state; /* enum trace_state */
	bool unsaved; /* a marker of a breach is in the trace, and not in a file */
	int start_error; /* errno of the start marker */
	struct trace_record last; /* breach */
	counter marked, refused, off; /* markers written, refused by the kernel, refused since others had stopped the trace */
	counter while_frozen; /* breaches that found the trace frozen */
	unsigned saves;
};

/* Where trace_save() put a trace, and what it holds. */
struct trace_saved {
	char path[PATH_MAX]; /* a new folder: all.txt and cpuN.txt */
	const char *source; /* "snapshot" or "trace" */
	int spike_cpu; /* whose file has the marker; -1: no file has it */
	bool swap_skipped; /* there should have been a snapshot with the marker in it, so `trace` was saved instead */
	uint64_t lost_events; /* of all CPUs, older than the first lines, overwritten; UINT64_MAX: cannot be told */
};

/* Opens `instance` of tracefs, making it when it is not there, switches tracing on, and with `snapshot` allocates its
 * buffer (milliseconds, and it takes what the trace held). What cannot work is -errno after one line; what is doubtful
 * is a line each. packets_per_s is what the size of the buffer is judged by. */
int trace_open(struct trace *t, const char *instance, bool snapshot, double packets_per_s);

/* Hot. Writes RANT_TEST_START with REALTIME, TAI and MONOTONIC_RAW. */
void trace_mark_start(struct trace *t, enum role role);

/* Hot. Writes the marker of a breach: role, numbers, all times there are, then the three clocks. With `stop` it then
 * switches tracing off and takes the snapshot, and the trace is frozen. While it is, a breach is only counted. */
void trace_breach(struct trace *t, enum role role, const struct sample *s, int64_t threshold_ns, bool stop);

/* True: the trace is frozen, and t->last may be read by any thread. */
bool trace_is_frozen(const struct trace *t);

/* Housekeeping thread. Empties the buffers of a frozen trace that was saved and switches tracing on again. 0, or -errno
 * after one line: then it stays frozen. -EBUSY without a line: not frozen, or not saved. Where another program shares the
 * instance, what it has not saved yet goes too. */
int trace_rearm(struct trace *t);

/* Is the kernel tracing, in the top instance or any other: a tracer is set, or events are enabled, and tracing is on? Names
 * the first such one in text. False too where tracefs cannot be read. Takes milliseconds; changes nothing. */
bool trace_is_running(char *text, size_t bytes);

/* Can trace_save() write there? The folder must exist and be no link. 0, or -errno after one line. */
int trace_check_folder(const char *folder);

/* Writes the frozen trace, merged and per CPU, into a new folder inside `folder` that only this user may read; it gets
 * its name, rant-ROLE-NUMBER-seq-SEQ, when it is complete. Call it while the trace is frozen, or after the run. 1: *saved says where; 0: there was
 * no breach to save; -errno after one line, and nothing is left. */
int trace_save(struct trace *t, const char *folder, struct trace_saved *saved);

/* Leaves the trace as it was found, if no breach was traced. After a breach tracing stays off, and an instance that was
 * made here is removed only when the trace was saved. In use by others, all stays as it is. Safe in a signal handler. */
void trace_close(struct trace *t);

#endif
