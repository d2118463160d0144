// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands of the user, run at a breach by the housekeeping thread. posix_spawn() instead of fork(), after which each
 * page that the measuring thread writes would fault (copy on write).
 */
#include "host/process/hook.h"

#include "host/process/privileges.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define WAIT_LAST_MS 5000

extern char **environ;

#define OURS "RANT_"

/* `more`, and the environment of rant without variables that could be taken for values of this breach; NULL: no memory.
 * The strings stay the callers'. */
static char **environment_with(char *const *more)
{
	size_t own = 0, added = 0;
	char **all;

	while (environ[own])
		own++;
	while (more[added])
		added++;
	all = malloc((own + added + 1) * sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, more, added * sizeof(*all));
	for (size_t i = 0; i < own; i++)
		if (strncmp(environ[i], OURS, strlen(OURS)))
			all[added++] = environ[i];
	all[added] = NULL;
	return all;
}

/* Signals are blocked in the housekeeping thread, SIGPIPE and SIGXFSZ are ignored in rant, and a real-time policy may
 * be set: the command inherits none of these. */
static int spawn(pid_t *pid, const char *command, char *const *environment)
{
	const struct sched_param other = { .sched_priority = 0 };
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int error;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	error = posix_spawnattr_init(&attributes);
	if (error)
		return -error;
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER);
	posix_spawnattr_setschedparam(&attributes, &other);
	posix_spawnattr_setflags(&attributes,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSCHEDULER);
	error = posix_spawn(pid, "/bin/sh", NULL, &attributes, argv, environment);
	posix_spawnattr_destroy(&attributes);
	return -error;
}

struct errand {
	pid_t *pid;
	const char *command;
	char *const *environment;
	int error;
};

static void *run_errand(void *argument)
{
	struct errand *e = argument;

	e->error = privileges_give_up();
	if (!e->error)
		e->error = spawn(e->pid, e->command, e->environment);
	return NULL;
}

/* In a thread that has dropped its capabilities: a command of root would inherit the kept capabilities. */
static int spawn_without_privileges(pid_t *pid, const char *command, char *const *environment)
{
	struct errand e = { .pid = pid, .command = command, .environment = environment };
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run_errand, &e);

	if (error)
		return -error;
	pthread_join(thread, NULL);
	return e.error;
}

#define SHOWN_MAX 60

struct shown {
	char text[SHOWN_MAX + 1];
};

/* The start of a command for a message, without line breaks. */
static struct shown shown(const char *command)
{
	struct shown s = { "" };

	for (int i = 0; i < SHOWN_MAX && command[i]; i++)
		s.text[i] = text_shown(command[i]);
	return s;
}

static void note_end(struct hooks *a, int i, int status)
{
	a->pid[i] = 0;
	a->ran[i]++;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		a->failed[i]++;
}

void hooks_reap(struct hooks *a)
{
	int status;

	for (int i = 0; i < a->wanted->commands; i++)
		if (a->pid[i] && waitpid(a->pid[i], &status, WNOHANG) == a->pid[i])
			note_end(a, i, status);
}

void hooks_run(struct hooks *a, char *const *environment)
{
	char **all = environment_with(environment);

	hooks_reap(a);
	for (int i = 0; i < a->wanted->commands; i++) {
		if (a->pid[i]) {
			a->left_out[i]++;
			continue;
		}
		int error = all ? spawn_without_privileges(&a->pid[i], a->wanted->command[i], all) : -ENOMEM;

		if (!error)
			continue;
		a->pid[i] = 0;
		a->failed[i]++;
		if (a->reported[i])
			continue;
		a->reported[i] = true;
		warnx("--on-breach exec:%s: could not be started: %s", shown(a->wanted->command[i]).text,
		      strerror(-error));
	}
	free(all);
}

void hooks_finish(struct hooks *a)
{
	for (int waited_ms = 0; waited_ms < WAIT_LAST_MS; waited_ms += 10) {
		bool running = false;

		hooks_reap(a);
		for (int i = 0; i < a->wanted->commands; i++)
			running |= a->pid[i] != 0;
		if (!running)
			return;
		poll(NULL, 0, 10);
	}
	for (int i = 0; i < a->wanted->commands; i++)
		if (a->pid[i])
			warnx("--on-breach exec:%s: still runs after %d s, as process %d",
			      shown(a->wanted->command[i]).text, WAIT_LAST_MS / 1000, (int)a->pid[i]);
}
