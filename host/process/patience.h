/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done before the first probe, step by step. One that takes long is told, and a signal then ends the program,
 * whatever the step waits for.
 */
#ifndef HOST_PROCESS_PATIENCE_H
#define HOST_PROCESS_PATIENCE_H

#include "rant.h"

#define PATIENCE_TELL_NS NS_PER_S /* all steps together, or one that is told anew */
#define PATIENCE_AGAIN_NS (10 * NS_PER_S) /* so often the same step is told */
#define PATIENCE_GRACE_NS (200 * NS_PER_MS) /* so long a step may still take to end by itself when a signal has come */

/*
 * Starts a thread that looks after the steps; where there can be none, they are waited for in silence. stop: that of
 * stop_catch_signals(), which the calling thread has called. give_up: puts back what outlives the program, in that
 * thread, when a signal has come and the step does not end: the program then ends with status 1.
 */
void patience_begin(const _Atomic int *stop, void (*give_up)(void));

/* The next step: "locking memory". It has to stay where it is. 0; or -EINTR after one line: a signal has come, and it
 * has been told that this takes long. Before that a signal ends nothing here. */
int patience_on(const char *step);

/* The same of a step that must not be cut off, since somebody would have to put right what it left. A signal ends it
 * when it is over. */
int patience_on_whole(const char *step);

/* The last step is over, and the thread with it. 0 or -EINTR as above. More calls do nothing, and are 0. */
int patience_end(void);

#endif
