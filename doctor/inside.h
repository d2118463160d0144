/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inspection and its findings: only for the files of doctor/. */
#ifndef DOCTOR_INSIDE_H
#define DOCTOR_INSIDE_H

#include "doctor/check.h"
#include "host/nic/nic.h"
#include "host/nic/nic_driver.h"
#include "rant.h"

#include <sched.h>

struct check;
struct options;

/* ---- check_*.c --------------------------------------------------------------------------------------------------- */

/* The tables of the checks. Each file check_*.c exports one table; a row of it makes the lines of one subject. */

struct check_row {
	const char *group; /* heading printed above this row; NULL: no heading */
	const char *subject; /* NULL: end of the table */
	void (*look)(struct check *c); /* calls check_say() for each finding, possibly for none */
	bool slow; /* not in the short form */
};

/* In the order of the output, see check.c. Each table ends with a row without a subject. */
extern const struct check_row check_stamps_rows[], check_link_rows[], check_napi_rows[], check_refusals_rows[],
	check_clocks_rows[], check_interrupts_rows[], check_placement_rows[], check_core_rows[],
	check_kernel_rows[], check_memory_rows[], check_privileges_rows[];

/* True if the kernel reports by NAPI whether interrupts are deferred: then those values count, and not the settings in
 * /sys/class/net. */
bool check_napis_decide(const struct check *c);

/* ---- finding.c --------------------------------------------------------------------------------------------------- */

/* Findings. A check calls check_say() or check_not_known() once for each finding. */

enum finding { OK, NOTE, WARN, FAIL, FINDINGS };

#define CHECK_NOW "measured now" /* source of values that are not read from a file or call */

/* Counts the finding and prints its line. `where` is the source. `why`, the reason why it matters, and `cure`, a
 * command, are NULL if there is nothing to do. */
__attribute__((format(printf, 6, 7)))
void check_say(struct check *c, enum finding f, const char *where, const char *why, const char *cure,
	       const char *format, ...);

/* A note that the source `where` cannot be read; `error` is an errno. */
void check_not_known(struct check *c, const char *where, int error);

/* Formats a text for the `cure` of check_say(), valid until the next call. */
__attribute__((format(printf, 2, 3)))
const char *check_command(struct check *c, const char *format, ...);

/* ---- facts.c ----------------------------------------------------------------------------------------------------- */

/* The state of one inspection: its options, the count of findings, and facts for several checks. */

#define CHECK_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CHECK_IRQS 256
#define CHECK_USERS 8

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
	FILE *out; /* for the lines; NULL: none */
	check_print_fn *print; /* called for each finding; or NULL */
	void *context;
	bool brief; /* only quick checks, and only warnings and failures are reported */
	const struct options *options;
	struct nic nic; /* a copy, which never restores a setting */
	const struct check_row *row; /* the present check */
	bool of_interface; /* it concerns the interface, not the host */
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

#define CHECK_DRIVER_SOURCE "ETHTOOL_GDRVINFO; sources of Linux 7.3"

/* The row of facts about the driver of the NIC. NULL: none are known. */
const struct nic_driver *check_find_driver(const struct check *c);

/* True if the driver needs the sending CPU for a kernel thread, so that real-time priority does harm. */
bool check_needs_own_cpu(const struct check *c);

/* ---- files.c ----------------------------------------------------------------------------------------------------- */

/* Reads small files of /proc, /sys and /dev. */

struct check_file {
	char path[256]; /* for messages */
	char text[4096]; /* the first octets, without trailing blanks and newlines; empty after an error */
	size_t bytes; /* length of `text` */
	int error; /* errno; 0: the file was read */
};

/* Reads the file whose path the format makes. False: see f->error. */
__attribute__((format(printf, 2, 3)))
bool check_read(struct check_file *f, const char *format, ...);

/* The same; false after a finding that the file cannot be read. */
#define CHECK_READ(c, f, ...) (check_read((f), __VA_ARGS__) || (check_not_known((c), (f)->path, (f)->error), false))

/* True if the file contains a decimal integer and nothing else. check_number() adds a finding if not. */
bool check_number_in(const struct check_file *f, long long *value);
bool check_number(struct check *c, struct check_file *f, long long *value);

/* The effective capabilities of this process as bits, by "CapEff" in /proc/self/status. False: see f->error. */
bool check_capabilities(struct check_file *f, unsigned long long *capabilities);

/* The path of a file for other calls than check_read(), with the prefix of tests. */
void check_full_path(char full[PATH_MAX], const char *path);
bool check_exists(const char *path);

/* ---- cpus.c ------------------------------------------------------------------------------------------------------ */

/* Sets of CPUs, and lists of them as the kernel writes them. */

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
