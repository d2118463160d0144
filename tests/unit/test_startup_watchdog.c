/* build: sources=host/process/signals.c,host/process/loop.c,host/process/memory.c,host/process/worker.c */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages about slow steps, and their end by a signal: each in a process of its own, all at the same
 * time. */
#include "host/process/startup_watchdog.c"

#include "host/process/signals.h"
#include "golden.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static int cleaned; /* a pipe's end */

static void clean(void)
{
	if (write(cleaned, "c", 1) != 1)
		abort();
}

/* However often a signal interrupts it. */
static void take_ms(int64_t ms)
{
	const int64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + ms * NS_PER_MS;

	while (clock_read_ns(CLOCK_MONOTONIC) < until_ns)
		usleep(5000);
}

/* ---- The program under test: the exit status is 0 when all was as it should be ----------------------------------- */

static int quick(void)
{
	for (int i = 0; i < 5; i++) {
		if (startup_watchdog_on("hurrying"))
			return 2;
		take_ms(20);
	}
	return startup_watchdog_end() || startup_watchdog_end() || startup_watchdog_on("over");
}

static int one_is_slow(void)
{
	if (startup_watchdog_on("hurrying"))
		return 2;
	take_ms(20);
	if (startup_watchdog_on("dawdling"))
		return 3;
	take_ms(1300);
	if (startup_watchdog_on("hurrying again"))
		return 4;
	take_ms(400);
	return startup_watchdog_end();
}

/* None of them takes long, all of them do; and then one does. */
static int all_are_slow(void)
{
	for (int i = 0; i < 3; i++) {
		if (startup_watchdog_on(i < 2 ? "one" : "another"))
			return 2;
		take_ms(450);
	}
	if (startup_watchdog_on("the last"))
		return 3;
	take_ms(1200);
	return startup_watchdog_end();
}

static int stuck(void)
{
	if (startup_watchdog_on("being stuck"))
		return 2;
	take_ms(60000);
	return 3;
}

/* As in a system call that no handler interrupts. */
static int stuck_in_the_kernel(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	return stuck();
}

static int ends_by_itself(void)
{
	if (startup_watchdog_on("dawdling"))
		return 2;
	take_ms(1300);
	while (!*startup_watchdog.stop)
		take_ms(1);
	if (startup_watchdog_on("the next step") != -EINTR || startup_watchdog_on("and then") != -EINTR)
		return 3;
	return startup_watchdog_end() == -EINTR ? 0 : 4;
}

static int must_be_whole(void)
{
	if (startup_watchdog_on_whole("setting a device"))
		return 2;
	take_ms(2200);
	return startup_watchdog_on("the next step") == -EINTR ? 0 : 3;
}

/* It is seen by who comes later, as ever. */
static int signal_before_a_word(void)
{
	if (startup_watchdog_on("hurrying"))
		return 2;
	take_ms(700);
	return startup_watchdog_on("the next step") || startup_watchdog_end() || !*startup_watchdog.stop;
}

/* ---- All at once ------------------------------------------------------------------------------------------------- */

static struct {
	const char *name;
	int (*act)(void);
	int signal_number, at_ms; /* 0: none */
	int status;
	bool cleans;
	bool nohup;
} rows[] = {
	{ "quick steps", quick, 0, 0, 0, false, false },
	{ "a slow step", one_is_slow, 0, 0, 0, false, false },
	{ "slow together", all_are_slow, 0, 0, 0, false, false },
	{ "stuck, SIGINT", stuck, SIGINT, 1300, 1, true, false },
	{ "stuck, SIGTERM", stuck, SIGTERM, 1300, 1, true, false },
	{ "stuck in the kernel", stuck_in_the_kernel, SIGINT, 1300, 1, true, false },
	{ "stuck, a signal before a word", stuck, SIGINT, 300, 1, true, false },
	{ "stuck, nohup", stuck, SIGHUP, 1300, -SIGKILL, false, true },
	{ "it ends by itself", ends_by_itself, SIGHUP, 1400, 0, false, false },
	{ "it must be whole", must_be_whole, SIGINT, 1300, 0, false, false },
	{ "a signal before a word", signal_before_a_word, SIGINT, 300, 0, false, false },
};

static struct {
	pid_t pid;
	int text_fd, cleaned_fd;
} running[COUNT_OF(rows)];

static void start_row(size_t i)
{
	int text[2], c[2];

	assert_int_equal(pipe(text), 0);
	assert_int_equal(pipe(c), 0);
	running[i].pid = fork();
	if (!running[i].pid) {
		/* The suite itself may run under nohup. */
		signal(SIGHUP, rows[i].nohup ? SIG_IGN : SIG_DFL);
		dup2(text[1], STDERR_FILENO);
		cleaned = c[1];
		startup_watchdog_begin(signals_catch(clean), clean);
		_exit(rows[i].act());
	}
	close(text[1]);
	close(c[1]);
	running[i].text_fd = text[0];
	running[i].cleaned_fd = c[0];
}

static void end_row(size_t i)
{
	char text[1024] = "", octet[8];
	size_t used = 0;
	ssize_t got;
	int status;

	assert_int_equal(waitpid(running[i].pid, &status, 0), running[i].pid);
	while ((got = read(running[i].text_fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	for (char *c = text; *c; c++)
		*c = isdigit((unsigned char)*c) ? '#' : *c; /* seconds */
	golden("%s:\n%s", rows[i].name, text);
	if ((WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)) != rows[i].status)
		fail_msg("%s: status %x, not %d", rows[i].name, (unsigned)status, rows[i].status);
	if ((read(running[i].cleaned_fd, octet, sizeof(octet)) == 1) != rows[i].cleans)
		fail_msg("%s: it %s", rows[i].name, rows[i].cleans ? "did not clean up" : "cleaned up");
	close(running[i].text_fd);
	close(running[i].cleaned_fd);
}

static void all_kinds_of_steps(void **state)
{
	const int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		start_row(i);
	for (int ms = 0; ms <= 2500; ms += 100) {
		while (clock_read_ns(CLOCK_MONOTONIC) < began_ns + ms * NS_PER_MS)
			usleep(5000);
		for (size_t i = 0; i < COUNT_OF(rows); i++)
			if (rows[i].signal_number && rows[i].at_ms == ms)
				kill(running[i].pid, rows[i].signal_number);
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (rows[i].nohup)
			kill(running[i].pid, SIGKILL);
		end_row(i);
	}
}

/* Nobody looks: it is waited for in silence. */
static void without_a_thread(void **state)
{
	(void)state;
	assert_int_equal(startup_watchdog_on("anything"), 0);
	assert_int_equal(startup_watchdog_on_whole("anything"), 0);
	assert_int_equal(startup_watchdog_end(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_thread),
		cmocka_unit_test(all_kinds_of_steps),
	};

	return golden_run(tests);
}
