/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace: its instance, and marker and stop (hot). */
#ifndef TRACEFS_H
#define TRACEFS_H

#include "options.h"
#include "rant.h"

#define TRACE_INSTANCE "rant"
#define TRACE_MARKER_BYTES 512 /* the longest marker has 419 */

/* The measuring thread takes a trace from armed to frozen, the housekeeping thread back. */
enum trace_state { TRACE_ARMED, TRACE_FROZEN };

/* One breach as trace_breach() left it. Another thread may read it while the trace is frozen. */
struct trace_record {
	uint32_t seq;
	uint16_t ssid; /* identifies the run of the emitter; 0: not known */
	int64_t latency_ns;
	uint8_t role; /* enum role */
	bool snapshot_taken;
	bool off_before; /* somebody else had switched tracing off: nothing was frozen here */
	int marker_error, stop_error, snapshot_error; /* errno of each step; 0: done, or not asked for */
	int64_t entered_ns; /* CLOCK_MONOTONIC_RAW at the entry */
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
	int folder_fd, marker_fd, on_fd, snapshot_fd, events_fd;
	int symbols_fd; /* trace_open_symbols(); -1: not open */
	unsigned events, events_missing; /* switched on here; of the same set, and not in this kernel */
	_Atomic int state; /* enum trace_state */
	bool unsaved; /* a marker of a breach is in the trace, and not in a file */
	int start_error; /* errno of the start marker */
	struct trace_record last; /* breach */
	counter marked, refused; /* markers written, refused by the kernel */
	counter off; /* refused since others had stopped the trace */
	counter while_frozen; /* breaches that found the trace frozen */
	unsigned saves;
	/* Set by the caller after trace_open(): adds a file to the folder of a saved trace. 0 or -errno. NULL: none. */
	int (*describe)(void *context, int folder_fd, struct optional spike_cpu);
	void *context;
};

struct trace_wanted {
	bool snapshot;
	double packets_per_s; /* rate by which the size of the buffer is judged */
	enum trace_events events; /* switched on in an instance that is made */
	bool events_given; /* an instance that exists, whose events stay as they are, is an error */
};

/* Opens `instance` of tracefs, making it when it is not there, switches tracing on, and with `snapshot` allocates its
 * buffer (milliseconds, and it takes what the trace held). A setting that cannot work is -errno after one line; each
 * doubtful setting is a line. */
int trace_open(struct trace *t, const char *instance, const struct trace_wanted *wanted);

/* Hot. Writes RANT_TEST_START with REALTIME, TAI and MONOTONIC_RAW. */
void trace_mark_start(struct trace *t, enum role role);

/* Hot. Writes the marker of a breach: role, numbers, all times there are, then the three clocks. With `stop` it then
 * switches tracing off and takes the snapshot, and the trace is frozen. While it is, a breach is only counted. */
void trace_breach(struct trace *t, enum role role, const struct sample *s, int64_t threshold_ns, bool stop);

/* Hot. The same for the breach of the other host, with the run and the number of its packet, the role of that host and
 * the times of this host. s: NULL if they are not known. No effect while the trace is frozen. */
void trace_peer_breach(struct trace *t, enum role role, uint16_t ssid, uint32_t seq, const struct sample *s);

/* True: the trace is frozen, and t->last may be read by any thread. */
bool trace_is_frozen(const struct trace *t);

/* Leaves the trace as it was found, if no breach was traced. After a breach tracing stays off, and an instance that was
 * made here is removed only when the trace was saved; otherwise the events that were switched on here are switched
 * off. In use by others, all stays as it is. Safe in a signal handler. */
void trace_close(struct trace *t);

/* ---- trace_running.c --------------------------------------------------------------------------------------------- */

/* Detection of a running kernel trace. */

/* True if the kernel was tracing during the run: in `own`, which a breach may have stopped since, or if that is not
 * open in any instance now: tracing is on, and a tracer is set or events are enabled. text: name of the first such
 * instance, or empty. Also false if tracefs cannot be read. Takes milliseconds; changes nothing. */
bool trace_is_running(const struct trace *own, char *text, size_t bytes);

/* ---- trace_reach.c ----------------------------------------------------------------------------------------------- */

/* How far back a frozen trace reaches. */

/* 1: the frozen buffer of each CPU has all events since raw_ns of CLOCK_MONOTONIC_RAW; 0: one of them has overwritten
 * some. Not known with a snapshot or another trace clock, or if the buffers are saved already. Not in the loop. */
struct optional trace_reaches(const struct trace *t, int64_t raw_ns);

#endif
