// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The measuring thread, and the wait of the main thread for it. Sources: unshare(2), sched(7), signal-safety(7).
 */
#include "host/process/loop.h"

#include "host/process/memory.h"
#include "host/process/worker.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES (128 << 10) /* locked in memory, like the stack of worker.c */
#define USED_BYTES (64 << 10) /* more than the measurement and a signal use */

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif

static struct {
	pthread_t thread;
	pid_t id, caller; /* id 0: no thread */
	sem_t asked, answered; /* the members below belong to the measuring thread between the two */
	int (*act)(void *context); /* NULL: the thread ends */
	void *context;
	int result;
	bool measures; /* the request comes from loop_run() */
	bool has_aside;
	cpu_set_t aside; /* CPUs for the caller during the measurement */
	bool owns_files; /* the table of files is not shared with other threads */
	sigset_t mask; /* signals that are blocked during the measurement */
	void (*leave)(void *context); /* set by loop_leave(), otherwise NULL */
	void *leave_context;
} loop;

static _Thread_local bool is_loop;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

/* ---- In the measuring thread ------------------------------------------------------------------------------------- */

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
}

/* The measuring thread moves the sleeping caller: to move itself, the caller would first need time on a CPU that
 * another measurement may use. */
static void put_caller_aside(void)
{
	const struct sched_param other = { .sched_priority = 0 };

	if (loop.has_aside)
		sched_setaffinity(loop.caller, sizeof(loop.aside), &loop.aside);
	sched_setscheduler(loop.caller, SCHED_OTHER | (sched_getscheduler(loop.caller) & SCHED_RESET_ON_FORK), &other);
}

/* An instance of tracefs can be removed only when all tables of files have closed its files. */
static void close_files(void)
{
	if (loop.owns_files)
		syscall(SYS_close_range, 0, ~0U, 0);
}

static int measure(void)
{
	int result;

	put_caller_aside();
	/* While two threads share a table of files, each system call of the measuring thread counts references to its
	 * socket. */
	loop.owns_files = !unshare(CLONE_FILES);
	if (!loop.owns_files)
		warnx("the measuring thread shares its files with others (%s), which makes it slower by some percent",
		      strerror(errno));
	pthread_sigmask(SIG_SETMASK, &loop.mask, NULL);
	result = loop.act(loop.context);
	block_signals();
	close_files();
	return result;
}

static void *serve(void *unused)
{
	is_loop = true;
	prctl(PR_SET_NAME, "rant-loop", 0, 0, 0);
	memory_touch_stack(USED_BYTES); /* present also where memory cannot be locked */
	loop.id = gettid();
	sem_post(&loop.answered);
	for (;;) {
		wait_for(&loop.asked);
		if (!loop.act)
			break;
		loop.result = loop.measures ? measure() : loop.act(loop.context);
		sem_post(&loop.answered);
	}
	return unused;
}

void loop_leave(void (*act)(void *context), void *context)
{
	if (!is_loop) {
		act(context);
		return;
	}
	block_signals();
	close_files();
	loop.leave_context = context;
	loop.leave = act;
	sem_post(&loop.answered);
	for (;;)
		ppoll(NULL, 0, NULL, NULL);
}

/* ---- In the caller ----------------------------------------------------------------------------------------------- */

/* With `chrt -R` the kernel starts threads at SCHED_OTHER, so the policy is copied, by the structures of
 * sched_setattr(2). */
static int inherit_schedule(void)
{
	uint64_t attributes[16];

	if (!(sched_getscheduler(0) & SCHED_RESET_ON_FORK))
		return 0;
	return syscall(SYS_sched_getattr, 0, attributes, sizeof(attributes), 0) ||
	       syscall(SYS_sched_setattr, loop.id, attributes, 0) ? -errno : 0;
}

static int start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&loop.thread, &attributes, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (!error)
		wait_for(&loop.answered);
	return -error;
}

int loop_open(void)
{
	int error;

	sem_init(&loop.asked, 0, 0);
	sem_init(&loop.answered, 0, 0);
	loop.caller = gettid();
	error = start_thread();
	if (error) {
		warnx("the measuring thread could not be started (%s): raise 'ulimit -u' and 'ulimit -v'; "
		      "SCHED_DEADLINE needs 'chrt -R'",
		      strerror(-error));
		return error;
	}
	error = inherit_schedule();
	if (error)
		warnx("the measuring thread does not get the priority of rant (%s): leave -R of chrt out",
		      strerror(-error));
	return error;
}

pid_t loop_thread(void)
{
	return loop.id;
}

int loop_call(int (*act)(void *context), void *context)
{
	loop.act = act;
	loop.context = context;
	sem_post(&loop.asked);
	wait_for(&loop.answered);
	if (loop.leave)
		loop.leave(loop.leave_context);
	return loop.result;
}

int loop_run(int (*act)(void *context), void *context)
{
	sigset_t all;
	int result;

	loop.has_aside = !worker_choose_cpus(&loop.aside);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &loop.mask);
	loop.measures = true;
	result = loop_call(act, context);
	pthread_sigmask(SIG_SETMASK, &loop.mask, NULL);
	return result;
}

void loop_close(void)
{
	/* A thread that has measured may have the system call filter, which forbids the calls of libc at the end of a
	 * thread. It has no files, and sleeps until the process ends. */
	if (!loop.id || loop.measures)
		return;
	loop.act = NULL;
	sem_post(&loop.asked);
	pthread_join(loop.thread, NULL);
	loop.id = 0;
}

void loop_wake(void)
{
	if (loop.id)
		pthread_kill(loop.thread, SIGURG);
}
