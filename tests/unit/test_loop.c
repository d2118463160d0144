/* build: wraps=pthread_create,unshare sources=host/process/memory.c,host/process/worker.c libs=-lpthread */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The measuring thread: its CPUs, its own objects, the signals, and the end of both threads. */
#include "host/process/loop.c"

#include "golden.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int thread_error, unshare_error;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*act)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*act)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*act)(void *), void *argument)
{
	return thread_error ? thread_error : __real_pthread_create(thread, attributes, act, argument);
}

int __real_unshare(int flags);
int __wrap_unshare(int flags);
int __wrap_unshare(int flags)
{
	if (!unshare_error)
		return __real_unshare(flags);
	errno = unshare_error;
	return -1;
}

static char said[1024]; /* on stderr, by the process of a test */

/* A test is a process of its own, for its threads move and its signals are others. It passes when it returns 0. */
struct process {
	int (*act)(void);
	int ended_by; /* a signal; 0: it returns */
};

static void in_a_process(void **state)
{
	const struct process *p = *state;
	size_t used = 0;
	int err[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(err), 0);
	pid = fork();
	if (!pid) {
		dup2(err[1], STDERR_FILENO);
		close(err[0]);
		close(err[1]);
		_exit(p->act());
	}
	close(err[1]);
	while ((got = read(err[0], said + used, sizeof(said) - 1 - used)) > 0)
		used += (size_t)got;
	said[used] = 0;
	close(err[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (p->ended_by) {
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), p->ended_by);
	} else {
		assert_int_equal(status, 0);
	}
	golden("%s", said);
}

#define PROCESS(name, signal_number) \
	{ #name, in_a_process, NULL, NULL, &(struct process){ name, signal_number } }

/* ---- Where it runs ----------------------------------------------------------------------------------------------- */

static cpu_set_t before;
static struct {
	pid_t id;
	char name[16];
	cpu_set_t cpus, caller_cpus;
	int policy, priority, caller_policy;
	long faults;
} seen;

/* As deep as the loop goes. */
__attribute__((noinline)) static int touch(int bytes)
{
	volatile char stack[4096];

	for (size_t at = 0; at < sizeof(stack); at += 64)
		stack[at] = 1;
	return bytes > 0 ? stack[0] + touch(bytes - (int)sizeof(stack)) : 0;
}

static int look_around(void *result)
{
	struct sched_param param = { 0 };
	struct rusage from, to;

	seen.id = gettid();
	prctl(PR_GET_NAME, seen.name);
	sched_getaffinity(0, sizeof(seen.cpus), &seen.cpus);
	sched_getaffinity(getpid(), sizeof(seen.caller_cpus), &seen.caller_cpus);
	seen.policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	sched_getparam(0, &param);
	seen.priority = param.sched_priority;
	seen.caller_policy = sched_getscheduler(getpid()) & ~SCHED_RESET_ON_FORK;
	getrusage(RUSAGE_THREAD, &from);
	touch(24 << 10); /* of which a sanitizer makes twice as much */
	getrusage(RUSAGE_THREAD, &to);
	seen.faults = to.ru_minflt - from.ru_minflt;
	return *(int *)result;
}

static int only(size_t cpu)
{
	CPU_ZERO(&before);
	CPU_SET(cpu, &before);
	return sched_setaffinity(0, sizeof(before), &before);
}

static int it_runs_where_the_caller_did(void)
{
	int five = 5, six = 6;

	only((size_t)sched_getcpu());
	look_around(&five); /* the code is in memory from now on */
	if (loop_open())
		return 1;
	if (loop_call(look_around, &five) != 5 || seen.faults || seen.id != loop_thread() || seen.id == gettid())
		return 2;
	if (strcmp(seen.name, "rant-loop") || !CPU_EQUAL(&seen.cpus, &before) || !CPU_EQUAL(&seen.caller_cpus, &before))
		return 3;
	if (loop_run(look_around, &six) != 6 || seen.id != loop_thread() || !CPU_EQUAL(&seen.cpus, &before))
		return 4;
	if (seen.faults)
		return 5;
	/* The caller is elsewhere, if there is another CPU. */
	CPU_AND(&seen.caller_cpus, &seen.caller_cpus, &before);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1 && CPU_COUNT(&seen.caller_cpus))
		return 6;
	loop_close();
	return loop_thread() ? 0 : 7;
}

static int look_at_priority(int flag)
{
	const struct sched_param one = { .sched_priority = 1 };
	int result = 0;

	if (sched_setscheduler(0, SCHED_FIFO | flag, &one))
		return 0; /* it is not allowed here */
	if (loop_open())
		return 1;
	loop_run(look_around, &result);
	if (seen.policy != SCHED_FIFO || seen.priority != 1)
		return 2;
	return seen.caller_policy == SCHED_OTHER ? 0 : 3;
}

static int it_has_the_priority_of_chrt(void)
{
	return look_at_priority(0);
}

static int it_has_the_priority_of_chrt_with_reset_on_fork(void)
{
	return look_at_priority(SCHED_RESET_ON_FORK);
}

static int return_it(void *result)
{
	return *(int *)result;
}

static int it_ends_if_it_has_not_measured(void)
{
	int five = 5;

	if (loop_open() || loop_call(return_it, &five) != 5)
		return 1;
	loop_close();
	loop_close();
	return loop_thread() ? 2 : 0;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static int held[2];

static int open_more(void *context)
{
	(void)context;
	return pipe2(held, O_NONBLOCK);
}

static int look_at_files(void *context)
{
	(void)context;
	return fcntl(held[1], F_GETFD) < 0;
}

/* Objects that the thread opens before the run are the caller's too; then the caller's alone, although the thread
 * is there. */
static int files_are_the_callers_after_it(void)
{
	char c;

	if (loop_open() || loop_call(open_more, NULL) || loop_run(look_at_files, NULL) || fcntl(held[1], F_GETFD) < 0)
		return 1;
	close(held[1]);
	return read(held[0], &c, 1) == 0 && loop_thread() && !kill(loop_thread(), 0) ? 0 : 2;
}

static int files_stay_where_they_are_shared(void)
{
	unshare_error = EPERM;
	if (loop_open() || loop_call(open_more, NULL) || loop_run(look_at_files, NULL))
		return 1;
	return fcntl(held[1], F_GETFD) < 0 ? 2 : 0;
}

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

static _Atomic int taken_by; /* a thread */

static void on_signal(int signal_number)
{
	(void)signal_number;
	taken_by = gettid();
}

static void on_wake(int signal_number)
{
	(void)signal_number;
}

static int send_one(void *context)
{
	(void)context;
	kill(getpid(), SIGTERM);
	return taken_by == gettid() ? 0 : 1;
}

static int signals_are_of_who_measures(void)
{
	sigset_t set;

	signal(SIGTERM, on_signal);
	if (loop_open())
		return 1;
	/* Before and after the run it is not the loop. */
	if (!loop_call(send_one, NULL) || taken_by != getpid())
		return 2;
	if (loop_run(send_one, NULL) || taken_by != loop_thread())
		return 3;
	kill(getpid(), SIGTERM);
	if (taken_by != getpid())
		return 4;
	return sigprocmask(SIG_SETMASK, NULL, &set) || sigismember(&set, SIGTERM) ? 5 : 0;
}

static int sleep_until_woken(void *context)
{
	const struct timespec long_time = { .tv_sec = 30 };

	(void)context;
	return ppoll(NULL, 0, &long_time, NULL) == -1 && errno == EINTR ? 0 : 1;
}

/* More than once: the first may come before it sleeps. */
static void *wake(void *unused)
{
	for (;;) {
		usleep(10000);
		loop_wake();
	}
	return unused;
}

static int it_is_woken(void)
{
	pthread_t other;

	signal(SIGURG, on_wake);
	loop_wake(); /* nobody */
	if (loop_open() || pthread_create(&other, NULL, wake, NULL))
		return 1;
	return loop_run(sleep_until_woken, NULL);
}

/* ---- Leaving ----------------------------------------------------------------------------------------------------- */

static void end_elsewhere(void *context)
{
	char c;

	if (gettid() != getpid())
		_exit(11);
	/* The measuring thread has closed its files. */
	close(held[1]);
	if (read(held[0], &c, 1) != 0)
		_exit(12);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM); /* blocked as yet */
	_exit(context == held ? 0 : 13);
}

static int leave(void *context)
{
	loop_leave(end_elsewhere, context);
	return 1;
}

static int it_leaves_in_the_caller(void)
{
	if (pipe2(held, O_NONBLOCK) || loop_open())
		return 1;
	loop_run(leave, held);
	return 2;
}

static void end_by_term(void *context)
{
	(void)context;
	raise(SIGTERM);
}

static int others_leave_where_they_are(void)
{
	if (loop_open())
		return 1;
	loop_leave(end_by_term, NULL);
	return 2;
}

/* ---- None -------------------------------------------------------------------------------------------------------- */

static int without_a_thread_it_is_said(void)
{
	thread_error = EAGAIN;
	if (loop_open() != -EAGAIN || loop_thread())
		return 1;
	loop_wake();
	loop_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS(it_runs_where_the_caller_did, 0), PROCESS(it_has_the_priority_of_chrt, 0),
		PROCESS(it_has_the_priority_of_chrt_with_reset_on_fork, 0), PROCESS(it_ends_if_it_has_not_measured, 0),
		PROCESS(files_are_the_callers_after_it, 0), PROCESS(files_stay_where_they_are_shared, 0),
		PROCESS(signals_are_of_who_measures, 0), PROCESS(it_is_woken, 0), PROCESS(it_leaves_in_the_caller, 0),
		PROCESS(others_leave_where_they_are, SIGTERM), PROCESS(without_a_thread_it_is_said, 0),
	};

	return golden_run(tests);
}
