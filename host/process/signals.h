/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that end a run, and those that request an interim report. */
#ifndef HOST_PROCESS_SIGNALS_H
#define HOST_PROCESS_SIGNALS_H

#include "rant.h"

#include <signal.h>

#define SIGNALS_SAME_NS (500 * NS_PER_MS)

/*
 * From now on the first SIGINT, SIGTERM or SIGHUP (unless SIGHUP is ignored) sets the result to 1. A signal within
 * SIGNALS_SAME_NS after it counts as the same: timeout(1) signals its child and then the process group of the child,
 * and so does a terminal whose shell signals too. A later signal calls clean_up as loop_leave() does, and ends the
 * program by that signal. Interrupted system calls are restarted where possible. SIGPIPE is ignored. A system call that
 * the filter forbids (SIGSYS) is reported, and ends the program like a later signal. SIGUSR1 and SIGQUIT are blocked,
 * also in all threads that start from now on: see signals_take_question().
 */
const _Atomic int *signals_catch(void (*clean_up)(void));

/* The result if not a signal but the run itself asked for the end: signals_end_known(). */
#define SIGNALS_KNOWN 2

/* Sets the result to SIGNALS_KNOWN, if it is still 0: the run is long enough. For any thread; wakes the measuring thread
 * if it sleeps. */
void signals_end_known(void);

/* Sets the result to 1 like a signal, but the next signal still counts as the first. For any thread; wakes the
 * measuring thread if it sleeps. */
void signals_end_now(void);

/* True if SIGUSR1 or SIGQUIT arrived since the last call; several signals count once. Not for the measuring thread,
 * which has no time for it. */
bool signals_take_question(void);

#endif
