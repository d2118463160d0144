/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System call filter (seccomp) for the measuring thread, built with libseccomp. If requested, it is active while
 * packets from the network are read. A filter cannot be removed, so the thread does nothing after the measurement:
 * loop.h.
 */
#ifndef HOST_PROCESS_SECCOMP_H
#define HOST_PROCESS_SECCOMP_H

#include "rant.h"

/* The library that builds the filter; NULL: built without libseccomp. */
const char *seccomp_library(void);

/* Compiles the system call filter if it is wanted, which takes time. If no filter can be installed, prints one warning
 * and continues without it; without libseccomp it prints nothing. */
void seccomp_open(bool wanted);

/* From now on the calling thread may use only the system calls of the loop; any other call causes SIGSYS
 * (signals_catch()). Needs no_new_privs. Prints one line if the filter cannot be installed. No file may be opened after
 * this. */
void seccomp_begin(void);

#endif
