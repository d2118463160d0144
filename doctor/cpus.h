/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs, and lists of them as the kernel writes them. */
#ifndef DOCTOR_CPUS_H
#define DOCTOR_CPUS_H

#include "rant.h"

#include <sched.h>

/* Reads a list of CPUs such as "0-2,7", which may be empty. False: malformed, or a CPU of CPU_SETSIZE or more. */
bool check_cpus_read(const char *text, cpu_set_t *cpus);

struct check_cpu_text {
	char text[96];
};

/* Writes a list such as "0-2,7", cut off at 95 characters. */
struct check_cpu_text check_cpus_text(const cpu_set_t *cpus);

/* The CPU with the lowest number; 0 for an empty set. */
int check_first_cpu(const cpu_set_t *cpus);

bool check_cpus_overlap(const cpu_set_t *a, const cpu_set_t *b);

/* True if every CPU of `part` is in `whole`. */
bool check_cpus_within(const cpu_set_t *part, const cpu_set_t *whole);

#endif
