/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the actions at breaches. */
#ifndef RESULT_EVIDENCE_H
#define RESULT_EVIDENCE_H

#include "options.h"
#include "rant.h"

/* Hook commands; the text of each is in the options. All zeros: none. */
struct result_commands {
	int commands;
	unsigned ran[BREACH_COMMANDS_MAX], failed[BREACH_COMMANDS_MAX]; /* ended; not started, or ended with a status */
	unsigned left_out[BREACH_COMMANDS_MAX]; /* breaches during which the command still ran for an earlier breach */
};

#endif
