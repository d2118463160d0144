/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter of system calls for the measuring thread (seccomp), built with libseccomp. If it is wanted it is on while
 * packets of others are read. A filter cannot be taken off, so the thread does nothing after the measurement: loop.h.
 */
#ifndef HOST_PROCESS_FILTER_H
#define HOST_PROCESS_FILTER_H

#include "rant.h"

/* The library that makes it; NULL: built without libseccomp. */
const char *filter_library(void);

/* Makes the filter, which takes some time, if it is wanted. Where there can be none there is none, after one line;
 * without libseccomp there is not a word. */
void filter_open(bool wanted);

/* From now on the calling thread may do no more than the loop needs; anything else is a SIGSYS (stop_catch_signals()).
 * Needs no_new_privs. After one line where it cannot be. Nothing may be opened after this. */
void filter_begin(void);

#endif
