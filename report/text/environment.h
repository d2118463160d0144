/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A breach as variables for a command. */
#ifndef REPORT_TEXT_ENVIRONMENT_H
#define REPORT_TEXT_ENVIRONMENT_H

#include "rant.h"

struct report;

#define REPORT_ENVIRONMENT_MAX (9 + ALL_TIMES + 1)
#define REPORT_ENVIRONMENT_BYTES (REPORT_ENVIRONMENT_MAX * 48)

/*
 * RANT_ROLE, RANT_INTERFACE, RANT_NUMBER (number + 1: of the breach, from 1), RANT_SEQ, RANT_LATENCY_NS,
 * RANT_THRESHOLD_NS, RANT_THRESHOLD_ON (rtt, response or network), RANT_RESPONSE_NS and RANT_NETWORK_NS if an
 * emitter knows them, and each known time, as RANT_T1_HW=1773883524.780127138. NULL ends environment[], which points
 * into text. A variable that does not fit is omitted.
 */
void report_environment(const struct report *r, const struct sample *s, uint64_t number,
			char text[REPORT_ENVIRONMENT_BYTES], char *environment[REPORT_ENVIRONMENT_MAX]);

#endif
