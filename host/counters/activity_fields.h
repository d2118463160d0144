/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single numbers in files of /proc: of the thread, of the link, and steal time. */
#ifndef HOST_COUNTERS_ACTIVITY_FIELDS_H
#define HOST_COUNTERS_ACTIVITY_FIELDS_H

#include "host/counters/activity_inside.h"

/* Opens all files of /proc that stay open, including those that the other activity_*.c read, and adds the counters of
 * this file. */
void activity_fields_open(struct activity *a);

/* Puts the values of its counters, without those that a file turned out to lack. */
void activity_fields_read(struct activity *a, struct activity_reading *r);

/* After the first reading: notes the counters that the files turned out to lack. */
void activity_fields_note_missing(struct activity *a);

#endif
