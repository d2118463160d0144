/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the stamps of this kernel need before there are any. */
#ifndef WIRE_KERNEL_STAMPS_H
#define WIRE_KERNEL_STAMPS_H

#include "wire/socket.h"

/* Does it take the id of a transmit stamp from us (SCM_TS_OPT_ID, Linux 6.13)? Nothing is sent. False also where no
 * socket can be had. */
bool kernel_stamps_take_id(const struct transport *t);

/* Waits, 5 ms, until what is received has stamps of the kernel: a socket has asked for them. */
void kernel_stamps_wait(void);

#endif
