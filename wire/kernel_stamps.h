/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities and start-up of the kernel's timestamps. */
#ifndef WIRE_KERNEL_STAMPS_H
#define WIRE_KERNEL_STAMPS_H

#include "wire/socket.h"

/* True if the kernel accepts transmit timestamp ids from the program (SCM_TS_OPT_ID, Linux 6.13). Sends
 * nothing. False if no socket can be opened. */
bool kernel_stamps_take_id(const struct transport *t);

/* Waits 5 ms until the kernel timestamps received packets; a socket must have requested timestamps before. */
void kernel_stamps_wait(void);

#endif
