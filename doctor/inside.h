/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the doctor share and nobody else needs: check.c is its frame, check_nic.c and check_host.c are its
 * checks. A check reads with the helpers below and calls check_say() once for each finding.
 */
#ifndef DOCTOR_INSIDE_H
#define DOCTOR_INSIDE_H

#include "host/nic.h"
#include "options.h"
#include "rant.h"

#include <sched.h>

#define CHECK_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CHECK_IRQS 256
#define CHECK_USERS 8

enum finding { OK, NOTE, WARN, FAIL, FINDINGS };

struct check;

struct check_row {
	const char *group; /* of this and the following */
	const char *subject; /* NULL: the end */
	void (*look)(struct check *c);
	bool slow; /* left out of the short form */
};

/* An interrupt of the NIC. */
struct check_irq {
	int number;
	char name[32];
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
	bool has_phc, hidden; /* holds /dev/ptpN open; its descriptors cannot be read */
};

struct check {
	FILE *out; /* NULL: only counted */
	bool brief; /* warn and fail only, and nothing that takes long */
	const struct options *options;
	struct nic nic; /* a copy: never restored from here */
	const struct check_row *row;
	unsigned found[FINDINGS];
	char command[256];

	/* What several checks need, read once. */
	int abilities_error; /* -errno */
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
	bool processes_hidden;
};

/* Each ends with a row without a subject. */
extern const struct check_row check_nic_rows[], check_host_rows[];

/* One line. `where`: what was read. `why` it matters and `cure`, a command: NULL where there is nothing to do. */
__attribute__((format(printf, 6, 7)))
void check_say(struct check *c, enum finding f, const char *where, const char *why, const char *cure,
	       const char *format, ...);

/* A note; error is an errno. */
void check_cannot_tell(struct check *c, const char *where, int error);

/* Text for the `cure` of check_say(), good until the next. */
__attribute__((format(printf, 2, 3)))
const char *check_command(struct check *c, const char *format, ...);

struct check_file {
	char path[256]; /* as shown */
	char text[4096]; /* the beginning, without the last newline; empty when it cannot be read */
	size_t bytes;
	int error; /* errno */
};

/* Reads the file of that name, below the folder that a test may have set. False: f->error. */
__attribute__((format(printf, 2, 3)))
bool check_read(struct check_file *f, const char *format, ...);

/* The same; false: it has been said that it cannot be read. */
#define CHECK_READ(c, f, ...) (check_read((f), __VA_ARGS__) || (check_cannot_tell((c), (f)->path, (f)->error), false))

/* A whole decimal number and nothing else. The second says so when it is none. */
bool check_number_in(const struct check_file *f, long long *value);
bool check_number(struct check *c, struct check_file *f, long long *value);

/* A hexadecimal set of /proc/self/status such as "CapEff"; false: not there. */
bool check_capabilities(struct check_file *f, unsigned long long *capabilities);

/* The real name of a file for calls other than check_read(); PATH_MAX octets. */
void check_full_path(char full[PATH_MAX], const char *path);
bool check_exists(const char *path);

struct check_cpu_text {
	char text[96];
};

/* A list of CPUs as "0-2,7"; an empty one is a list. False: it is none, or names a CPU beyond CPU_SETSIZE. */
bool check_cpus_read(const char *text, cpu_set_t *cpus);
struct check_cpu_text check_cpus_text(const cpu_set_t *cpus);
int check_first_cpu(const cpu_set_t *cpus);
bool check_cpus_overlap(const cpu_set_t *a, const cpu_set_t *b);
bool check_cpus_within(const cpu_set_t *part, const cpu_set_t *whole);

/* CPUs that take an interrupt of the NIC. */
cpu_set_t check_irq_cpus(const struct check *c);

/* This process: one CPU only; SCHED_FIFO or SCHED_RR. */
bool check_pinned(const struct check *c);
bool check_real_time(const struct check *c);

/* "SCHED_FIFO 22" */
const char *check_policy_text(int policy, int priority, char text[static 32]);

/* By /sys/kernel/realtime and /proc/version. */
bool check_kernel_is_rt(void);

/* check_nic.c: the driver needs the sending CPU for its own thread, so real-time priority is no advice. */
bool check_needs_own_cpu(const struct check *c);

#endif
