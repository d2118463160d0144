/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this host is: its kernel, its CPU, and whether it is a virtual one. Read beside a measurement, never in it. */
#ifndef HOST_SYSTEM_H
#define HOST_SYSTEM_H

#include "rant.h"

#define SYSTEM_COMMAND_BYTES 8192

/* A text that is empty is not known. */
struct system {
	char hostname[72], kernel[72], version[72], machine[72]; /* uname(2) */
	char cpu_model[96]; /* "model name" of /proc/cpuinfo, which not every architecture has */
	char hypervisor[32]; /* of /sys/hypervisor/type */
	/* 1: a hypervisor says so (/proc/cpuinfo, /sys/hypervisor); 0: on x86, none does; -1: not known */
	int is_virtual;
	int is_real_time; /* PREEMPT_RT; -1: not known */
	int cpus_online; /* -1: not known */
	char governor[32]; /* of the CPU that was asked for */
	char clocksource[32];
	bool isolated_known;
	char isolated[128]; /* CPUs set aside at boot, as "2-3"; none: empty */
	size_t command_bytes; /* of the command line of this process, each word with a 0 behind it; 0: not known */
	char command[SYSTEM_COMMAND_BYTES];
};

#define SYSTEM_UNKNOWN { .is_virtual = -1, .is_real_time = -1, .cpus_online = -1 }

/* cpu: whose governor is asked for; -1: none. What cannot be read is not known; silent. */
void system_read(struct system *s, int cpu);

#endif
