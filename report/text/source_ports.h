/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was seen by each source port. For report/ only. */
#ifndef REPORT_TEXT_SOURCE_PORTS_H
#define REPORT_TEXT_SOURCE_PORTS_H

#include "rant.h"

struct report;

/* A row for each, in the order in which they were opened, the worst one marked. Nothing, if there is only one. */
void source_ports_write(FILE *out, const struct report *r);

#endif
