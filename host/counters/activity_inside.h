/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the activity only. activity.c calls the others. activity_fields.c,
 * activity_cpu.c, activity_interrupts.c and activity_nic.c each find counters when the activity is opened, and put
 * their values into each reading. A counter is a slot.
 */
#ifndef HOST_COUNTERS_ACTIVITY_INSIDE_H
#define HOST_COUNTERS_ACTIVITY_INSIDE_H

#include "host/counters/activity.h"
#include "host/counters/activity_text.h"
#include "rant.h"

#include <linux/ethtool.h>

#define ROWS 1024 /* of /proc/interrupts */
#define VECTORS 2048 /* interrupts of one PCI function, at most (PCI 3.0: MSI-X table) */
#define VECTOR_CPUS 32 /* CPUs whose softirqs are reported */
#define SINGLES 160 /* files with one number */
#define NONE UINT16_MAX /* no slot */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum group {
	GROUP_THREAD, GROUP_CPU, GROUP_INTERRUPTS, GROUP_SOFTIRQS, GROUP_VECTORS, GROUP_VECTOR_SOFTIRQS, GROUP_LINK,
	GROUP_STATISTICS, GROUP_STAMPS, GROUP_VM, GROUPS
};

enum kind { COUNT_64, COUNT_32, SUM_32 /* over the CPUs that are online */, LEVEL };

enum file { STATUS, SCHED, SCHEDSTAT, TASK_STAT, INTERRUPTS, SOFTIRQS, STAT, NET_DEV, MSR, VMCLOCK, FILES };

struct slot {
	char name[96];
	const char *unit;
	uint8_t group, kind;
	bool row; /* of /proc/interrupts: without a row the interrupt has never occurred */
	bool interrupts; /* reading it interrupts the measuring CPU */
};

struct row {
	char label[32];
	uint16_t cpu_slot, vector_slot;
};

struct activity_inside {
	bool opening; /* added counters are known from the start */
	int fd[FILES]; /* -1 or -errno: not open */
	char group[GROUPS][64];
	struct slot slot[ACTIVITY_COUNTERS];
	unsigned slots;
	struct row row[ROWS];
	unsigned rows, next_row;
	struct {
		int fd;
		uint16_t slot;
	} single[SINGLES];
	unsigned singles;
	unsigned vector[VECTORS], vectors; /* interrupt numbers that belong to the NIC, as sysfs lists them */
	char bus[ETHTOOL_BUSINFO_LEN]; /* "" if not known */
	int vector_cpu[VECTOR_CPUS];
	uint16_t vector_softirq[VECTOR_CPUS][2]; /* NET_RX, NET_TX */
	unsigned vector_cpus;
	struct ethtool_stats *statistics;
	size_t statistics_bytes; /* mapped */
	uint32_t statistics_count;
	struct {
		uint32_t index;
		uint16_t slot;
	} reported[ACTIVITY_COUNTERS];
	unsigned reported_count;
	uint16_t stamp_slot[3], smi_slot, vm_slot;
	uint16_t field_slot[32];
	struct activity_text text; /* of the file that is being read */
	/* The same for activity_unseen.c, which reads while another thread may read; NULL: not used, or no memory. */
	struct activity_text *unseen_text;
	struct activity_reading first; /* made at opening, to find the readable counters */
};

/* Prefix of every opened path: the tests have another tree there. */
extern const char *activity_root;

/* A file descriptor for reading, or -errno. */
__attribute__((format(printf, 1, 2))) int activity_open_file(const char *format, ...);

/* Adds a line about a counter that cannot be read, or counts it if the list is full. */
__attribute__((format(printf, 2, 3))) void activity_note(struct activity *a, const char *format, ...);

/* Adds a counter, whose name is made printable; `unit` must be a constant. NONE: the
 * table is full, which is counted. */
__attribute__((format(printf, 5, 6))) uint16_t activity_add_slot(struct activity *a, enum group group, enum kind kind,
								 const char *unit, const char *format, ...);

/* Adds a file with a single number, the value of the slot, and takes ownership of the file. */
void activity_add_single(struct activity *a, int fd, uint16_t slot);

/* Puts the values of all files with a single number. */
void activity_read_singles(struct activity_inside *in, struct activity_reading *r);

/* Puts a value into the reading. NONE: does nothing. */
void activity_put(struct activity_reading *r, uint16_t slot, uint64_t value);

/* True if the reading has a value of this slot. */
bool activity_is_known(const struct activity_reading *r, unsigned slot);

/* ---- activity_fields.c ------------------------------------------------------------------------------------------- */

/* Single numbers in files of /proc: of the thread, of the link, and steal time. */

/* Opens all files of /proc that stay open, including those that the other activity_*.c read, and adds the counters of
 * this file. */
void activity_fields_open(struct activity *a);

/* Puts the values of its counters, without those that a file turned out to lack. */
void activity_fields_read(struct activity *a, struct activity_reading *r);

/* After the first reading: notes the counters that the files turned out to lack. */
void activity_fields_note_missing(struct activity *a);

/* Allocates what the next function needs, once. */
void activity_fields_steal_begin(struct activity *a);

/* Stolen time of the measuring CPU since boot. False: it cannot be read. */
bool activity_fields_steal(struct activity *a, uint64_t *ms);

/* ---- activity_cpu.c ---------------------------------------------------------------------------------------------- */

/* The measuring CPU: frequency, throttling and idle states by sysfs, the count of SMIs by an MSR. */

/* Adds the counters of the CPU that the thread is bound to; for a thread that is not bound it notes the counters that
 * cannot be read. */
void activity_cpu_open(struct activity *a);

/* The SMIs, unless r->measuring: reading an MSR interrupts that CPU. The files are read by activity_read_singles(). */
void activity_cpu_read(struct activity_inside *in, struct activity_reading *r);

/* The SMI count, by an interrupt of that CPU. False: it cannot be read. */
bool activity_cpu_smi(const struct activity_inside *in, uint64_t *count);

/* ---- activity_interrupts.c --------------------------------------------------------------------------------------- */

/* Interrupts and softirqs of the measuring CPU and of the NIC: /proc/interrupts and /proc/softirqs. */

/* Finds out which interrupts are the NIC's and on which CPUs they come. After activity_fields_open(), which opens
 * the files. */
void activity_interrupts_open(struct activity *a);

/* Adds the interrupts that come for the first time, too. Sets r->cpus and r->rows. */
void activity_interrupts_read(struct activity *a, struct activity_reading *r);

/* ---- activity_nic.c ---------------------------------------------------------------------------------------------- */

/* Counters of the NIC driver: statistics by ethtool, and timestamps delivered and lost. */

/* Adds, of the driver's statistics, those whose names contain a word for a fault. Maps memory. */
void activity_nic_open(struct activity *a);

/* Nothing of the statistics when the driver has another number of them than at opening. */
void activity_nic_read(struct activity *a, struct activity_reading *r);

/* Unmaps it. */
void activity_nic_close(struct activity_inside *in);

/* ---- activity_vm.c ----------------------------------------------------------------------------------------------- */

/* The hypervisor's report of disruptions: migration, pause, snapshot (VMClock, UAPI.13). */

/* Opens /dev/vmclock0 (Linux 6.13 and newer). Without the device nothing is added and nothing is noted. */
void activity_vm_open(struct activity *a);

void activity_vm_read(const struct activity_inside *in, struct activity_reading *r);

/* The disruption marker. False: it cannot be read. */
bool activity_vm_marker(const struct activity_inside *in, uint64_t *marker);

#endif
