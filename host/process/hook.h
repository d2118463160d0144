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
	bool reported[BREACH_COMMANDS_MAX]; /* the failed start was reported */
};

/* Starts every command by /bin/sh -c, without any capability, with `environment` ("NAME=value", then NULL) and the
 * environment of rant except names that begin with RANT_, so that the given values cannot be overridden. Does not wait.
 * A command that cannot be started is reported once and counted. Not for the measuring thread. */
void hooks_run(struct hooks *a, char *const *environment);

/* Records the commands that have ended. Does not wait. */
void hooks_reap(struct hooks *a);

/* Waits up to 5 s for running commands, and prints those that still run. */
void hooks_finish(struct hooks *a);

#endif
