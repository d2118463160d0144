/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of the checks. A file check_*.c offers nothing but its table, so they share this header: a line more in
 * the output is a row more in the table of one file.
 */
#ifndef DOCTOR_ROWS_H
#define DOCTOR_ROWS_H

#include "rant.h"

struct check;

struct check_row {
	const char *group; /* the heading above this row; NULL: that of the row before goes on */
	const char *subject; /* NULL: the end */
	void (*look)(struct check *c); /* calls check_say() for each finding; it may find nothing to say */
	bool slow; /* left out of the short form */
};

/* In the order of the output, which is in check.c. Each ends with a row without a subject. */
extern const struct check_row check_stamps_rows[], check_link_rows[], check_refusals_rows[], check_clocks_rows[],
	check_interrupts_rows[], check_placement_rows[], check_core_rows[], check_kernel_rows[], check_memory_rows[],
	check_rights_rows[];

#endif
