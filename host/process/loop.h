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

/* Id of the thread (gettid(2)); 0: not opened, or closed. */
pid_t loop_thread(void);

/* The measuring thread calls act(context) while the caller sleeps: for functions that act on the calling thread.
 * Returns the result of act. */
int loop_call(int (*act)(void *context), void *context);

/*
 * loop_call() for the measurement; call it once. During the measurement the measuring thread handles the signals that
 * end a run, so it ends at once even if the other CPUs are busy; the caller sleeps, and from then on may run only on
 * other CPUs, at SCHED_OTHER. The measuring thread has a separate table of files, which is empty when this returns:
 * open files stay the caller's. The thread then sleeps until the process ends, so that /proc/self/task still has it.
 */
int loop_run(int (*act)(void *context), void *context);

/* Ends the thread if it has not measured. Further calls do nothing. */
void loop_close(void);

/* For a signal handler: calls act(context), which does not return, in a thread that may use all system calls: from the
 * measuring thread, in the caller of loop_run(), while the measuring thread sleeps; from any other thread, at once. */
void loop_leave(void (*act)(void *context), void *context);

/* Wakes the thread, if it runs, by SIGURG. Any thread may call it. */
void loop_wake(void);

#endif
