/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that end a run, and those that request an interim report. */
#ifndef HOST_PROCESS_SIGNALS_H
#define HOST_PROCESS_SIGNALS_H

#include "rant.h"

#include <signal.h>

#define SIGNALS_SAME_NS (500 * NS_PER_MS)

/*
 * From now on the first SIGINT, SIGTERM or SIGHUP (unless that one is ignored) makes the result 1, and no more. One
 * that comes within SIGNALS_SAME_NS of it is the same: timeout(1) signals its child and then the group of it, and so
 * does a terminal whose shell signals too. A later one calls clean_up as loop_leave() does, and ends the program by
 * that signal. A call that a signal interrupts goes on, where it can. SIGPIPE is ignored. A system call that the filter
 * forbids (SIGSYS) is told, and ends the program in the same way as the later one. SIGUSR1 and SIGQUIT are blocked, in
 * all threads that start from now on too: see signals_take_question().
 */
const _Atomic int *signals_catch(void (*clean_up)(void));

/* Makes it 1 as a signal would, but the first signal after this is still the first. For any thread; the measuring
 * one is woken if it sleeps. */
void signals_end_now(void);

/* Has a SIGUSR1 or SIGQUIT come since this was last asked? However many: once. It is not for the measuring thread,
 * which has no time to ask. */
bool signals_take_question(void);

#endif
