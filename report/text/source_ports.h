/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Latency and losses by source port. For report/ only. */
#ifndef REPORT_TEXT_SOURCE_PORTS_H
#define REPORT_TEXT_SOURCE_PORTS_H

#include "rant.h"

struct report;

/* A row for each source port, in the order of opening; the worst is marked. Nothing with a single port. */
void source_ports_write(FILE *out, const struct report *r);

#endif
