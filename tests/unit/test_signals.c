/* build: wraps=clock_gettime sources=host/process/loop.c,host/process/memory.c,host/process/worker.c */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The signals that end a run: which are equivalent, and which end the program. */
#include "host/process/signals.c"

#include "util.h"

#include <fcntl.h>
#include <sys/wait.h>

static int64_t fake_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!fake_ns)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ fake_ns / NS_PER_S, fake_ns % NS_PER_S };
	errno = EDOM; /* of the interrupted code, it must not be changed */
	return 0;
}

#define START_NS (1000 * NS_PER_S)

static int cleaned[2]; /* a pipe */

static void clean(void)
{
	assert_int_equal(write(cleaned[1], "c", 1), 1);
}

/* In a process of its own: `first`, and `second` so much later. How that ended, as of waitpid(2); *times: it was
 * cleaned up. */
static int ended_by(int first, int second, int64_t later_ns, int *times)
{
	char octets[8];
	int status;
	pid_t pid;

	assert_int_equal(pipe(cleaned), 0);
	pid = fork();
	if (!pid) {
		const _Atomic int *asked = signals_catch(clean);

		fake_ns = START_NS;
		errno = 0;
		if (*asked)
			_exit(1);
		raise(first);
		if (!*asked)
			_exit(2);
		fake_ns += later_ns;
		raise(second);
		_exit(errno || !*asked ? 3 : 0);
	}
	close(cleaned[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*times = (int)read(cleaned[0], octets, sizeof(octets));
	close(cleaned[0]);
	return status;
}

static void expect_same(int first, int second, int64_t later_ns)
{
	int times, status = ended_by(first, second, later_ns, &times);

	assert_int_equal(status, 0);
	assert_int_equal(times, 0);
}

static void expect_end(int first, int second, int64_t later_ns)
{
	int times, status = ended_by(first, second, later_ns, &times);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), second);
	assert_int_equal(times, 1);
}

static void within_half_a_second_it_is_the_same(void **state)
{
	(void)state;
	expect_same(SIGTERM, SIGTERM, 0);
	expect_same(SIGINT, SIGTERM, 0);
	expect_same(SIGHUP, SIGINT, 499 * NS_PER_MS);
	expect_same(SIGTERM, SIGHUP, 500 * NS_PER_MS);
}

static void a_later_one_ends_the_program(void **state)
{
	(void)state;
	expect_end(SIGTERM, SIGTERM, 500 * NS_PER_MS + 1);
	expect_end(SIGINT, SIGTERM, 501 * NS_PER_MS);
	expect_end(SIGTERM, SIGINT, 3600 * NS_PER_S);
	expect_end(SIGINT, SIGHUP, NS_PER_S);
}

/* A caught signal stays caught, so such a test is a process of its own; it passes when it returns 0. */
struct process {
	int (*act)(void);
};

static void in_a_process(void **state)
{
	const struct process *p = *state;
	int status;
	const pid_t pid = fork();

	if (!pid)
		_exit(p->act());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define PROCESS(name) { #name, in_a_process, NULL, NULL, &(struct process){ name } }

/* The run was ended without a signal: the first signal after that, while the report is written, must not cost it. */
static int what_the_program_asked_for_is_no_signal(void)
{
	const _Atomic int *asked = signals_catch(abort);

	signals_end_now();
	if (!*asked)
		return 1;
	fake_ns = START_NS;
	raise(SIGINT);
	return *asked ? 0 : 2;
}

/* Both are there before the handler runs: it is not interrupted by itself. */
static int two_that_wait_are_the_same(void)
{
	sigset_t both;

	signals_catch(abort);
	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, NULL);
	raise(SIGINT);
	raise(SIGTERM);
	sigprocmask(SIG_UNBLOCK, &both, NULL);
	return stop ? 0 : 1;
}

/* A report that waits for its reader is not lost by the signal that is the same. */
static void a_write_goes_on(void **state)
{
	char octets[4096] = { 0 };
	int ends[2], ready[2], status;
	size_t space, got = 0;
	ssize_t n;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends) | pipe(ready), 0);
	space = (size_t)fcntl(ends[1], F_SETPIPE_SZ, 4096);
	assert_true(space >= 4096);
	for (size_t full = 0; full < space; full += sizeof(octets))
		assert_int_equal(write(ends[1], octets, sizeof(octets)), sizeof(octets));
	pid = fork();
	if (!pid) {
		signals_catch(abort);
		_exit(write(ready[1], octets, 1) == 1 && write(ends[1], octets, 1) == 1 ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(read(ready[0], octets, 1), 1);
	usleep(50000); /* until it waits, on most machines */
	kill(pid, SIGTERM);
	usleep(10000);
	while ((n = read(ends[0], octets, sizeof(octets))) > 0)
		got += (size_t)n;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ends[0]);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(status, 0);
	assert_int_equal(got, space + 1);
}

static int what_is_ignored_stays_so(void)
{
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signals_catch(abort);
	raise(SIGHUP);
	raise(SIGPIPE);
	raise(SIGXFSZ);
	if (stop)
		return 1;
	raise(SIGINT);
	return stop ? 0 : 2;
}

/* However many come, and whatever this thread does: it is interrupted by none. */
static int a_question_waits_until_it_is_taken(void)
{
	signals_catch(abort);
	if (signals_take_question())
		return 1;
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	return !stop && signals_take_question() && !signals_take_question() ? 0 : 2;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_half_a_second_it_is_the_same), cmocka_unit_test(a_later_one_ends_the_program),
		PROCESS(two_that_wait_are_the_same), cmocka_unit_test(a_write_goes_on),
		PROCESS(what_is_ignored_stays_so), PROCESS(what_the_program_asked_for_is_no_signal),
		PROCESS(a_question_waits_until_it_is_taken),
	};

	return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
