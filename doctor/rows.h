/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the checks. Each file check_*.c exports one table; a row of it makes the lines of one subject. */
#ifndef DOCTOR_ROWS_H
#define DOCTOR_ROWS_H

#include "rant.h"

struct check;

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

#endif
