/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saving the kernel's trace to files, and switching tracing on again. */
#ifndef HOST_TRACE_TRACE_SAVE_H
#define HOST_TRACE_TRACE_SAVE_H

#include "tracefs.h"

/* Parts that could not be saved. All zeros: none. */
struct trace_left_out {
	unsigned parts;
	char first[96]; /* name of the first, and the reason */
};

/* A trace that trace_save() has written. */
struct trace_saved {
	char path[PATH_MAX]; /* a new folder: all.txt, cpuN.txt, and raw/ of trace_raw.c */
	const char *source; /* "snapshot" or "trace" */
	struct optional spike_cpu; /* CPU whose file has the marker; not known: no file has it */
	bool swap_skipped; /* the expected snapshot with the marker is missing, so `trace` was saved instead */
	struct optional lost_events; /* overwritten events of all CPUs, older than the first lines */
	struct trace_left_out left_out; /* of the raw pages and breach.json */
};

/* Checks that trace_save() can write there. The folder must exist and not be a link. 0, or -errno after one line. */
int trace_check_folder(const char *folder);

/* Writes the frozen trace, merged and per CPU, into a new folder inside `folder` that only this user may read; it gets
 * its name, rant-ROLE-run-RUN-seq-SEQ, when the text is complete; RUN: the SSID in hexadecimal, and if it is not known
 * rant-ROLE-NUMBER-seq-SEQ with the number of the save. Then saves the raw pages, which may empty the buffer,
 * as far as that is possible. Call it while the trace is frozen, or after the run. 1:
 * *saved has the path; 0: no breach occurred; -errno after one line, and no file is left. */
int trace_save(struct trace *t, const char *folder, struct trace_saved *saved);

/* Housekeeping thread. Empties the buffers of a frozen trace that was saved and switches tracing on again. 0, or -errno
 * after one line: then it stays frozen. -EBUSY without a line: not frozen, or not saved. Where another program shares
 * the instance, its unsaved trace is lost too. */
int trace_rearm(struct trace *t);

/* ---- trace_raw.c ------------------------------------------------------------------------------------------------- */

/* Saving the raw pages of a trace, and the files that explain them. For trace_save.c only. */

/* Counts a part that is left out, and keeps the name of the first. error: errno. */
void trace_leave_out(struct trace_left_out *left_out, const char *name, int error);

/* Makes the folder `raw` in the folder of a saved trace: the pages of each traced CPU, from `source` ("snapshot" or
 * "trace"), header_page, header_event, the formats of the enabled events and of ftrace/print, and saved_cmdlines. The
 * paths below `raw` are those of tracefs. A part that cannot be read or written is left out. Reading the pages of
 * "trace" removes them from the buffer, so they are left out while another program measures with this instance. */
void trace_save_raw(const struct trace *t, const char *source, int folder_fd, struct trace_left_out *left_out);

/* ---- trace_symbols.c --------------------------------------------------------------------------------------------- */

/* The kernel's symbols; the tests have another file. */
extern const char *trace_symbols_path;

/* Opens them, before the privileges are dropped that show their addresses. */
void trace_open_symbols(struct trace *t);

/* Writes the lines of the functions that all.txt names to raw/kallsyms. No file if their addresses are hidden
 * (kernel.kptr_restrict). For trace_save.c only. */
void trace_save_symbols(const struct trace *t, int folder_fd, struct trace_left_out *left_out);

/* ---- trace_keep.c ------------------------------------------------------------------------------------------------ */

/* Saving and re-arming of the trace during the run. */

#define TRACES_KEPT 64 /* a power of two */

/* A saved trace of the run. */
struct trace_kept {
	char name[64]; /* of its folder */
	uint32_t seq; /* of the breach, and: */
	int64_t latency_ns;
};

struct trace_keeper {
	/* Set by the caller. */
	struct trace *trace; /* NULL: none */
	const char *folder; /* for saved traces */
	int64_t interval_ns; /* re-arm at most once in this time; INT64_MAX: never */
	/* During the run, after a trace was saved. path: its folder; NULL: it could not be saved. May be NULL. */
	void (*on_saved)(void *context, const struct trace_record *breach, const char *path);
	void *context;

	/* Results; initialize with zeros. */
	struct trace_saved saved; /* the last saved trace; path empty: none */
	struct trace_kept kept[TRACES_KEPT]; /* of trace->saves saved traces, number i is kept[i % TRACES_KEPT] */
	int error; /* -errno of saving or re-arming; no trace is saved after it */
	int64_t rearmed_ns; /* CLOCK_MONOTONIC */
};

/* Housekeeping thread. Saves a frozen trace that is not saved yet, and re-arms it. A trace that cannot be saved stays
 * frozen as evidence, and saving it is not tried again. now_ns: CLOCK_MONOTONIC. */
void trace_keep(struct trace_keeper *k, int64_t now_ns);

/* trace_keep() at the current time, as a duty of host/process/worker.h: the context is a struct trace_keeper. */
void trace_keep_now(void *keeper);

/* After the run: saves the trace of the last breach, if `folder` is given and it was not saved already. k->saved is
 * then the last saved trace. 0, or -errno after one line: saving or re-arming failed. */
int trace_keep_last(struct trace_keeper *k);

#endif
