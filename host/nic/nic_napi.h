/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NAPI instances of a NIC with their settings, and those of its receive queues, by the netlink family "netdev". */
#ifndef HOST_NIC_NIC_NAPI_H
#define HOST_NIC_NIC_NAPI_H

#include "host/nic/nic.h"
#include "rant.h"

#define NIC_NAPIS 256
#define NIC_NAPI_QUEUES 4 /* receive queues kept of a NAPI */

enum nic_napi_threaded { NIC_NAPI_NOT_THREADED, NIC_NAPI_THREADED, NIC_NAPI_BUSY_POLLS };

/* Bits of nic_napi.has: values that the kernel reported. */
enum { NIC_NAPI_IRQ = 1, NIC_NAPI_PID = 2, NIC_NAPI_DEFER = 4, NIC_NAPI_FLUSH = 8, NIC_NAPI_SUSPEND = 16,
       NIC_NAPI_MODE = 32 };

struct nic_napi {
	uint32_t id;
	unsigned has;
	uint32_t irq; /* interrupt that starts it */
	uint32_t pid; /* kernel thread that polls it */
	uint32_t defer_hard_irqs; /* these three: since Linux 6.13, before by device only, in /sys/class/net */
	uint64_t gro_flush_timeout_ns;
	uint64_t irq_suspend_timeout_ns;
	uint32_t threaded; /* enum nic_napi_threaded; since Linux 6.17 */
	uint32_t queue[NIC_NAPI_QUEUES]; /* numbers of receive queues */
	unsigned queues; /* also those that are not kept */
};

/* Number of NAPIs in `list`, or -errno; -EOPNOTSUPP before Linux 6.8. */
int nic_read_napis(const struct nic *n, struct nic_napi list[NIC_NAPIS]);

#endif
