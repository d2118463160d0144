/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modes of the latency and its stages as text. For report/ only. */
#ifndef REPORT_TEXT_TEETH_H
#define REPORT_TEXT_TEETH_H

#include "rant.h"

struct report;
struct tooth;

#define TEETH_TEXT_BYTES 400

/* "RTT", or the name of the stage. */
const char *teeth_name(char *text, size_t bytes, const struct report *r, const struct tooth *t);

/* "2 modes of RTT: 71 % near 41.2 us, 29 % near 91.3 us, 50.1 us apart: rx-usecs 50: ethtool -C eth1 rx-usecs 0"; the
 * shares of the `shares` largest modes. */
void teeth_say(char *text, size_t bytes, const struct report *r, const struct tooth *t, unsigned shares);

/* A line for each histogram that has several modes, or a thin peak that a setting explains. Nothing without them. */
void teeth_write(FILE *out, const struct report *r);

#endif
