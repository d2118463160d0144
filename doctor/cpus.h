/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs, and lists of them as the kernel writes them. */
#ifndef DOCTOR_CPUS_H
#define DOCTOR_CPUS_H

#include "rant.h"

#include <sched.h>

/* A list of CPUs as "0-2,7"; an empty one is a list. False: it is none, or names a CPU beyond CPU_SETSIZE. */
bool check_cpus_read(const char *text, cpu_set_t *cpus);

struct check_cpu_text {
	char text[96];
};

/* As "0-2,7"; cut off where there is no more room. */
struct check_cpu_text check_cpus_text(const cpu_set_t *cpus);

/* 0 for an empty set. */
int check_first_cpu(const cpu_set_t *cpus);

bool check_cpus_overlap(const cpu_set_t *a, const cpu_set_t *b);

/* Is all of `part` in `whole`? */
bool check_cpus_within(const cpu_set_t *part, const cpu_set_t *whole);

#endif
