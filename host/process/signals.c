// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that end a run, and signals that request an interim report. Handlers call only functions of
 * signal-safety(7). */
#include "host/process/signals.h"

#include "host/process/loop.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic int stop; /* stored by handlers, and by signals_end_now() in another thread */
static bool signalled; /* used, like first_ns, only by the handler, which never interrupts itself */
static int64_t first_ns; /* time of the first signal */
static void (*at_once)(void);

/* The signal is blocked in its handler, and in the thread that waits for the measuring thread. */
static void end_by(void *signal_number)
{
	const int number = (int)(intptr_t)signal_number;
	sigset_t one;

	at_once();
	sigemptyset(&one);
	sigaddset(&one, number);
	signal(number, SIG_DFL);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static void on_signal(int signal_number)
{
	int saved_errno = errno;
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!signalled)
		first_ns = now_ns;
	else if (now_ns - first_ns > SIGNALS_SAME_NS)
		loop_leave(end_by, (void *)(intptr_t)signal_number);
	signalled = true;
	stop = 1;
	errno = saved_errno;
}

static void on_wake(int signal_number)
{
	(void)signal_number;
}

/* Blocked in all threads, so that it stays pending until signals_take_question(). */
static sigset_t question(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGQUIT); /* Ctrl-\ at a terminal */
	return set;
}

bool signals_take_question(void)
{
	const sigset_t asked = question();
	const struct timespec no_wait = { 0 };

	return sigtimedwait(&asked, NULL, &no_wait) > 0;
}

void signals_end_known(void)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&stop, &none, SIGNALS_KNOWN))
		loop_wake(); /* it may be asleep */
}

void signals_end_now(void)
{
	stop = 1;
	loop_wake(); /* the measuring thread may sleep */
}

/* By the filter: an attack, or a system call that is missing in the list. */
static void on_forbidden(int signal_number, siginfo_t *info, void *context)
{
	char text[128] = "rant: the measuring thread asked for a forbidden system call, number ", digits[] = "0000\n";
	size_t used = strlen(text);

	(void)context;
	for (int i = 3, n = info->si_syscall; i >= 0; i--, n /= 10)
		digits[i] = (char)('0' + n % 10);
	memcpy(text + used, digits, strlen(digits));
	if (write(STDERR_FILENO, text, used + strlen(digits)) < 0)
		used = 0; /* the pipe has no reader */
	loop_leave(end_by, (void *)(intptr_t)signal_number);
}

const _Atomic int *signals_catch(void (*clean_up)(void))
{
	/* Restarted, because a repeated signal must not end a report that waits for its reader. */
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;
	const struct sigaction wake = { .sa_handler = on_wake, .sa_flags = SA_RESTART }; /* except ppoll */
	const struct sigaction forbidden = { .sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO };
	const sigset_t asked = question();

	at_once = clean_up;
	sigaction(SIGURG, &wake, NULL);
	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	sigaddset(&action.sa_mask, SIGHUP);
	/* A shell script starts its background jobs with SIGINT ignored, and then sends it to end them. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Under nohup it stays ignored. */
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	sigaction(SIGSYS, &forbidden, NULL);
	sigprocmask(SIG_BLOCK, &asked, NULL);
	/* A reader of the report that exits must not prevent the log and the exit status. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* neither must a file at the limit of ulimit -f */
	return &stop;
}
