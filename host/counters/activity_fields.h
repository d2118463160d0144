/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single numbers in files of /proc: of the thread, of the link, and steal time. */
#ifndef HOST_COUNTERS_ACTIVITY_FIELDS_H
#define HOST_COUNTERS_ACTIVITY_FIELDS_H

#include "host/counters/activity_inside.h"

/* Opens all files of /proc that stay open, those of the other files of the room too, and adds its own counters. */
void activity_fields_open(struct activity *a);

/* Puts all of them but those that a file turned out not to have. */
void activity_fields_read(struct activity *a, struct activity_reading *r);

/* After the first reading: notes the counters that the files turned out not to have. */
void activity_fields_note_missing(struct activity *a);

#endif
