/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel, CPU and hypervisor of this host. Read before or after a measurement, never during it. */
#ifndef HOST_SYSTEM_H
#define HOST_SYSTEM_H

#include "rant.h"

#define SYSTEM_COMMAND_BYTES 8192

/* An empty text means: not known. All zeros: nothing is known. */
struct system {
	char hostname[72], kernel[72], version[72], machine[72]; /* uname(2) */
	char cpu_model[96]; /* "model name" of /proc/cpuinfo, which not every architecture has */
	char hypervisor[32]; /* from /sys/hypervisor/type */
	/* 1: by /proc/cpuinfo or /sys/hypervisor; 0: neither reports a hypervisor, on x86 */
	struct optional is_virtual;
	struct optional is_real_time; /* PREEMPT_RT: 1 or 0 */
	struct optional cpus_online;
	char governor[32]; /* of the CPU given to system_read() */
	char clocksource[32];
	bool isolated_known;
	char isolated[128]; /* CPUs set aside at boot, as "2-3"; none: empty */
	size_t command_bytes; /* length of `command`; 0: not known */
	char command[SYSTEM_COMMAND_BYTES]; /* command line of this process, each word terminated by a 0 */
};

/* cpu: reads the governor of this CPU; -1: none. A value that cannot be read stays not known; prints nothing. */
void system_read(struct system *s, int cpu);

#endif
