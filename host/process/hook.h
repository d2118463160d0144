/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of the user at a breach. */
#ifndef HOST_PROCESS_HOOK_H
#define HOST_PROCESS_HOOK_H

#include "options.h"
#include "rant.h"

struct hooks {
	const struct breach_hooks *wanted;
	pid_t pid[BREACH_COMMANDS_MAX]; /* that runs; 0: none */
	unsigned ran[BREACH_COMMANDS_MAX], failed[BREACH_COMMANDS_MAX]; /* ended; not started, or ended with a status */
	unsigned left_out[BREACH_COMMANDS_MAX]; /* breaches during which the command still ran for an earlier breach */
	bool reported[BREACH_COMMANDS_MAX]; /* that it could not be started */
};

/* Starts every command by /bin/sh -c, with `environment` ("NAME=value", then NULL) and that of rant but for what
 * begins with RANT_: only such names are sure to override; without any capability. Does not wait. What can't be started
 * is said once and counted. Not for the measuring thread. */
void hooks_run(struct hooks *a, char *const *environment);

/* Notes which have ended. Does not wait. */
void hooks_reap(struct hooks *a);

/* Waits up to 5 s for those that run; says which are left. */
void hooks_finish(struct hooks *a);

#endif
