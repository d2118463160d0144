/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps before the first probe. A message names a step that takes long, and a signal then ends the program,
 * whatever the step waits for.
 */
#ifndef HOST_PROCESS_STARTUP_WATCHDOG_H
#define HOST_PROCESS_STARTUP_WATCHDOG_H

#include "rant.h"

#define STARTUP_WATCHDOG_TELL_NS NS_PER_S /* for all steps together, or for a new step */
#define STARTUP_WATCHDOG_AGAIN_NS (10 * NS_PER_S) /* interval of messages about the same step */
#define STARTUP_WATCHDOG_GRACE_NS (200 * NS_PER_MS) /* so long a step may still take to end by itself when a signal has come */

/*
 * Starts a thread that looks after the steps; where there can be none, they are waited for in silence. stop: that of
 * signals_catch(), which the calling thread has called. give_up: restores settings that outlive the program, in that
 * thread, when a signal has come and the step does not end: the program then ends with status 1.
 */
void startup_watchdog_begin(const _Atomic int *stop, void (*give_up)(void));

/* The next step: "locking memory". It has to stay where it is. 0; or -EINTR after one line: a signal has come, and it
 * has been told that this takes long. Before that a signal ends nothing here. */
int startup_watchdog_on(const char *step);

/* The same of a step that must not be cut off, since somebody would have to put right what it left. A signal ends it
 * when it is over. */
int startup_watchdog_on_whole(const char *step);

/* The last step is over, and the thread with it. 0 or -EINTR as above. More calls do nothing, and are 0. */
int startup_watchdog_end(void);

#endif
