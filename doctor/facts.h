/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One visit of the doctor: what was asked, what was found so far, and the facts that several checks need. */
#ifndef DOCTOR_FACTS_H
#define DOCTOR_FACTS_H

#include "doctor/finding.h"
#include "host/nic/nic.h"
#include "rant.h"

#include <sched.h>

#define CHECK_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CHECK_IRQS 256
#define CHECK_USERS 8

struct options;
struct check_row;

/* An interrupt of the NIC. */
struct check_irq {
	int number;
	char name[32]; /* of its handler */
	cpu_set_t cpus;
	bool placed; /* cpus is known */
	int thread; /* pid of irq/N-..., 0: none */
	int policy, priority; /* of the thread */
};

/* A program that may use the NIC's stamps or its clock. */
struct check_user {
	int pid;
	char comm[16];
	bool named; /* the interface, on its command line */
	bool has_phc; /* it holds /dev/ptpN open */
	bool hidden; /* its descriptors cannot be read */
};

struct check {
	FILE *out; /* NULL: only counted */
	void (*tell)(void *context, const struct check_told *told); /* of warn and fail; NULL: nobody is told */
	void *context;
	bool brief; /* warn and fail only, and nothing that takes long */
	const struct options *options;
	struct nic nic; /* a copy: never restored from here */
	const struct check_row *row; /* being looked at */
	unsigned found[FINDINGS];
	char command[256]; /* of check_command() */

	/* By check_gather(). */
	int abilities_error; /* of nic.can; -errno */
	cpu_set_t cpus; /* that this process may use */
	int cpus_error; /* errno */
	int policy, priority; /* of this process */
	char device[64]; /* folder of the NIC below /sys/bus; empty: not found */
	char class_folder[64]; /* /sys/class/net/IFACE; empty: it shows another network namespace */
	struct check_irq irq[CHECK_IRQS];
	int irqs;
	struct check_user user[CHECK_USERS];
	int users;
	int irqbalance; /* pid; 0: does not run */
	bool processes_hidden; /* so users, threads and irqbalance are not known */
};

#define CHECK_TSINFO "ethtool TSINFO" /* where nic.can was read */

/* Reads the facts once. What cannot be read is left out, and marked above where its being missing would mislead. */
void check_gather(struct check *c);

/* This process: one CPU only; SCHED_FIFO or SCHED_RR. */
bool check_pinned(const struct check *c);
bool check_real_time(const struct check *c);

/* "SCHED_FIFO 22" */
const char *check_policy_text(int policy, int priority, char text[static 32]);

/* CPUs that take an interrupt of the NIC. */
cpu_set_t check_irq_cpus(const struct check *c);

/* By /sys/kernel/realtime and /proc/version. */
bool check_kernel_is_rt(void);

#endif
