/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of nic.c for the files of host/nic/ only. */
#ifndef HOST_NIC_NIC_INSIDE_H
#define HOST_NIC_NIC_INSIDE_H

#include "host/nic/nic.h"
#include "rant.h"

/* One request of linux/sockios.h for this interface; fills in r->ifr_name. 0 or -errno. Safe in a signal handler. */
int nic_ioctl(const struct nic *n, unsigned long request, struct ifreq *r);

/* Prints "cannot WHAT interface ...: ERROR: see ...". Returns `error`. */
int nic_say_io(const struct nic *n, const char *what, int error);

#endif
