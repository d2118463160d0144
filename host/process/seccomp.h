/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter of system calls for the measuring thread (seccomp), built with libseccomp. If it is wanted it is on while
 * packets of others are read. A filter cannot be taken off, so the thread does nothing after the measurement: loop.h.
 */
#ifndef HOST_PROCESS_SECCOMP_H
#define HOST_PROCESS_SECCOMP_H

#include "rant.h"

/* The library that makes it; NULL: built without libseccomp. */
const char *seccomp_library(void);

/* Compiles the system call filter if it is wanted, which takes time. If no filter can be installed, prints one warning
 * and continues without it; without libseccomp there is not a word. */
void seccomp_open(bool wanted);

/* From now on the calling thread may do no more than the loop needs; anything else is a SIGSYS (signals_catch()).
 * Needs no_new_privs. After one line where it cannot be. Nothing may be opened after this. */
void seccomp_begin(void);

#endif
