/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter of system calls for the measuring thread (seccomp), built with libseccomp. If it is wanted it is on while packets of others
 * are read. A filter cannot be taken off: what comes after the measurement is done by another thread, which was there before, asleep, on another CPU if there is one.
 */
#ifndef HOST_PROCESS_FILTER_H
#define HOST_PROCESS_FILTER_H

#include "rant.h"

/* The library that makes it; NULL: built without libseccomp. */
const char *filter_library(void);

/* Makes the filter, which takes some time, if it is wanted. Where there can be none there is none, after one line; without libseccomp
 * there is not a word. */
void filter_open(bool wanted);

/*
 * From now on the calling thread may do no more than the loop needs; anything else is a SIGSYS (stop_catch_signals()). Needs
 * no_new_privs. After one line where it cannot be. Nothing may be opened between this and filter_leave().
 */
void filter_begin(void);

/* `act` is done outside of the filter, and does not return to the thread that is under it: that one closes its files and
 * sleeps. Without a filter it is called, no more. In a signal handler too. */
void filter_leave(void (*act)(void *context), void *context);

#endif
