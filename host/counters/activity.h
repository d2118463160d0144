/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activity of the machine during a run, by counters of the kernel and the NIC. */
#ifndef HOST_COUNTERS_ACTIVITY_H
#define HOST_COUNTERS_ACTIVITY_H

#include "host/nic/nic.h"
#include "rant.h"

#define ACTIVITY_COUNTERS 2048
#define ACTIVITY_UNREADABLE 48

struct activity {
	struct activity_inside *inside; /* all memory that reading needs, made once; NULL: not open */
	const struct nic *nic;
	pid_t thread;
	int cpu; /* the CPU that the thread is pinned to; -1: none */
	bool sees_disruptions; /* the hypervisor reports disruptions of the virtual machine */
	/* Counters that cannot be read, with the reason, a line each: "SMI count (/dev/cpu/1/msr: No such file or
	 * directory)". */
	char unreadable[ACTIVITY_UNREADABLE][144];
	unsigned unreadables, unreadables_left_out;
	unsigned counters_left_out; /* counters found at opening or later that exceed the table */
};

/* A numbered interrupt of the NIC. */
struct activity_vector {
	unsigned irq;
	char name[48]; /* as the driver chose it, printable ASCII */
	char cpus[32]; /* list of the CPUs that it is sent to; empty: not known */
};

struct activity_reading {
	uint64_t value[ACTIVITY_COUNTERS];
	uint8_t known[ACTIVITY_COUNTERS / 8]; /* a bit for each counter that has a value */
	bool measuring, rows; /* argument of activity_read(); /proc/interrupts was read to its end */
	uint64_t cpus; /* a hash of the CPUs that were online */
	uint64_t mark; /* set by the caller: number of packets sent */
};

enum activity_change {
	/* Counted up by `delta`. Interrupts, softirqs and SMIs have 32 bits: right while they count less than 2^32. */
	ACTIVITY_COUNTED,
	ACTIVITY_CHANGED, /* a level, such as a frequency: from -> to */
	ACTIVITY_RESET, /* from -> to: decreased, or sums other CPUs than before: the number counted is not known */
	ACTIVITY_GONE, /* was `from`, and cannot be read any more */
};

struct activity_difference {
	const char *group, *name, *unit; /* unit "": a plain count. Valid until activity_close(). Printable ASCII */
	enum activity_change change;
	uint64_t delta, from, to;
};

/* Finds the readable counters of the thread, its CPU and the NIC, and lists the others in a->unreadable. `n` stays the
 * caller's and must stay open. Files stay open, so call it before privileges are dropped. 0, or -ENOMEM after one line:
 * an unreadable counter is not an error. */
int activity_open(struct activity *a, const struct nic *n, pid_t thread, int cpu);

/*
 * Reads all counters: by any thread, one at a time. With `measuring` it omits counters whose reading would interrupt
 * the measuring CPU (the SMI count: the kernel reads an MSR by an interprocessor interrupt; before Linux 5.18 on x86
 * the frequency too). The other counters cost the measuring loop nothing, but the driver may read the statistics of the
 * NIC register by register: so call it at the start, at breaches and at the end, not periodically. Allocates memory
 * only in nic_read_stamp_counts(). A reading is 16 kB: too much for the housekeeping thread's stack.
 */
void activity_read(struct activity *a, struct activity_reading *r, bool measuring);

/* Reads the numbered interrupts of the NIC, `most` at most, and returns their number. By any thread; allocates memory. */
unsigned activity_read_vectors(const struct activity *a, struct activity_vector *v, unsigned most);

/* The differences that are not zero, in groups, without counters that either reading omitted for `measuring`.
 * Returns their number; the first `max` of them are in list. */
size_t activity_differences(const struct activity *a, const struct activity_reading *before,
			    const struct activity_reading *after, struct activity_difference *list, size_t max);

void activity_close(struct activity *a);

#endif
