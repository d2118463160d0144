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
#define STARTUP_WATCHDOG_GRACE_NS (200 * NS_PER_MS) /* time for a step to end by itself after a signal */

/*
 * Starts a thread that monitors the steps; if it cannot be started, the steps are not monitored. stop: result of
 * signals_catch(), called by the calling thread. give_up: restores settings that outlive the program, in that thread,
 * when the step does not end after a signal: the program then ends with status 1.
 */
void startup_watchdog_begin(const _Atomic int *stop, void (*give_up)(void));

/* Begins the next step, such as "locking memory"; the text must stay valid. 0; or -EINTR after one line: a signal
 * arrived after the message about a slow step. Before that message a signal has no effect here. */
int startup_watchdog_on(const char *step);

/* The same for a step that must not be interrupted, because it would leave a changed setting. A signal takes effect at
 * the end of the step. */
int startup_watchdog_on_whole(const char *step);

/* Ends the last step and the thread. 0 or -EINTR as above. Further calls do nothing and return 0. */
int startup_watchdog_end(void);

#endif
