/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measuring thread, "rant-loop" in ps and top. It has the CPUs, the scheduling policy and the priority that the
 * caller had when it was opened. All functions are for the main thread only, unless they say otherwise.
 */
#ifndef HOST_PROCESS_LOOP_H
#define HOST_PROCESS_LOOP_H

#include "rant.h"

/* Starts the thread, asleep, with a stack whose pages are present: to be called before memory_lock(), which locks them.
 * 0, or -errno after one line. */
int loop_open(void);

/* Its id (gettid(2)); 0: it was not opened, or it is closed. */
pid_t loop_thread(void);

/* The measuring thread calls act(context) while the caller sleeps: for functions that act on the calling thread. The
 * result of act. */
int loop_call(int (*act)(void *context), void *context);

/*
 * The same for the measurement, once. During it the signals that end a run are handled in the measuring thread, which
 * thus ends at once also where the other CPUs have no time; the caller sleeps, and may run on other CPUs only, at
 * SCHED_OTHER, from then on. The measuring thread has a table of files of its own, which is empty when this returns:
 * open files stay the caller's. The thread then sleeps until the process ends, so that /proc/self/task still has it.
 */
int loop_run(int (*act)(void *context), void *context);

/* Ends the thread if it has not measured. More calls do nothing. */
void loop_close(void);

/* For a signal handler: calls act(context), which does not return, where that may use all system calls: in loop_run()'s
 * caller, while the measuring thread sleeps; in any other thread at once. */
void loop_leave(void (*act)(void *context), void *context);

/* Wakes the thread, if it runs, by SIGURG. Any thread may call it. */
void loop_wake(void);

#endif
