/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one inspection: its options, the count of findings, and facts for several checks. */
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
	char name[32]; /* name of the handler */
	cpu_set_t cpus;
	bool placed; /* `cpus` is known */
	int thread; /* pid of the kernel thread irq/N-...; 0: no thread */
	int policy, priority; /* scheduling of `thread` */
};

/* A program that may use the timestamps or the clock of the NIC. */
struct check_user {
	int pid;
	char comm[16];
	bool named; /* its command line names the interface */
	bool has_phc; /* it holds /dev/ptpN open */
	bool hidden; /* its descriptors cannot be read */
};

struct check {
	FILE *out; /* for the lines; NULL: findings are only counted */
	void (*print)(void *context, const struct check_reported *reported); /* called for each warning and failure; or NULL */
	void *context;
	bool brief; /* only quick checks, and only warnings and failures are printed */
	const struct options *options;
	struct nic nic; /* a copy, which never restores a setting */
	const struct check_row *row; /* the present check */
	unsigned found[FINDINGS];
	char command[256]; /* buffer of check_command() */

	/* By check_gather(). */
	int abilities_error; /* -errno of reading nic.can */
	cpu_set_t cpus; /* CPU affinity of this process */
	int cpus_error; /* errno of reading `cpus` */
	int policy, priority; /* scheduling of this process */
	char device[64]; /* folder of the NIC below /sys/bus; empty: not found */
	char class_folder[64]; /* /sys/class/net/IFACE; empty: it shows another network namespace */
	struct check_irq irq[CHECK_IRQS];
	int irqs;
	struct check_user user[CHECK_USERS];
	int users;
	int irqbalance; /* pid of irqbalance; 0: it does not run */
	bool processes_hidden; /* hidepid: users, threads and irqbalance are unknown */
};

#define CHECK_TSINFO "ethtool TSINFO" /* source of nic.can */

/* Reads the facts. A fact that cannot be read is left out, with an error or flag above where that could mislead. */
void check_gather(struct check *c);

/* True if this process may use one CPU only; if its policy is SCHED_FIFO or SCHED_RR. */
bool check_pinned(const struct check *c);
bool check_real_time(const struct check *c);

/* "SCHED_FIFO 22" */
const char *check_policy_text(int policy, int priority, char text[static 32]);

/* The CPUs of all interrupts of the NIC. */
cpu_set_t check_irq_cpus(const struct check *c);

/* True for PREEMPT_RT, by /sys/kernel/realtime and /proc/version. */
bool check_kernel_is_rt(void);

#endif
