// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps that may take long. A signal that arrives while the caller is in a system call that no handler interrupts
 * (mlock(2), the populating of memory) stays pending until the call ends, but this thread can detect it by
 * sigpending(2), and can end the program, which interrupts the call.
 */
#include "host/process/startup_watchdog.h"

#include "host/process/worker.h"

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define LOOK_NS (50 * NS_PER_MS)
#define STACK_BYTES (64 * 1024)

static struct {
	/* protects the members below. The thread keeps it when it ends the program, so that no step begins then */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned long thread; /* pthread_t */
	bool running, over;
	const char *step;
	bool whole; /* the step must not be interrupted */
	bool reported; /* a message about some step was printed */
	bool ended; /* by a signal, which was reported */
	int64_t began_ns, step_ns; /* start of the first and of the current step, CLOCK_MONOTONIC */
	int64_t reported_ns, asked_ns; /* time of the message about this step, and of the signal; 0: not yet */
	const _Atomic int *stop;
	void (*give_up)(void);
} startup_watchdog = { .lock = PTHREAD_MUTEX_INITIALIZER };

static double seconds(int64_t since_ns)
{
	return (double)(clock_read_ns(CLOCK_MONOTONIC) - since_ns) / NS_PER_S;
}

/* ---- In the thread, with the lock -------------------------------------------------------------------------------- */

/* Only signals that this thread blocks are reported as pending: all that end a run. Ignored signals are never
 * pending. */
static bool is_asked_to_end(void)
{
	sigset_t pending;

	return *startup_watchdog.stop || (!sigpending(&pending) &&
					  (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
							    sigismember(&pending, SIGHUP) == 1));
}

static void print(int64_t now_ns)
{
	const int64_t since_ns = startup_watchdog.reported_ns ? startup_watchdog.reported_ns :
		startup_watchdog.reported ? startup_watchdog.step_ns :
				 startup_watchdog.began_ns;

	if (now_ns - since_ns < (startup_watchdog.reported_ns ? STARTUP_WATCHDOG_AGAIN_NS : STARTUP_WATCHDOG_TELL_NS))
		return;
	startup_watchdog.reported = true;
	startup_watchdog.reported_ns = now_ns;
	warnx("still %s, for %.1f s now; nothing has been sent", startup_watchdog.step,
	      seconds(startup_watchdog.step_ns));
}

/* No message so far: the next step ends soon, as without the watchdog. */
static void obey(int64_t now_ns)
{
	if (!startup_watchdog.reported || !is_asked_to_end())
		return;
	if (!startup_watchdog.asked_ns && startup_watchdog.whole)
		warnx("a signal: rant ends when it is done with %s", startup_watchdog.step);
	if (!startup_watchdog.asked_ns)
		startup_watchdog.asked_ns = now_ns;
	if (startup_watchdog.whole || now_ns - startup_watchdog.asked_ns < STARTUP_WATCHDOG_GRACE_NS)
		return;
	warnx("ended by a signal while %s, after %.1f s; nothing has been sent", startup_watchdog.step,
	      seconds(startup_watchdog.step_ns));
	startup_watchdog.give_up();
	_exit(1);
}

static void *look(void *unused)
{
	pthread_mutex_lock(&startup_watchdog.lock);
	while (!startup_watchdog.over) {
		const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), next_ns = now_ns + LOOK_NS;
		const struct timespec next = { .tv_sec = next_ns / NS_PER_S, .tv_nsec = next_ns % NS_PER_S };

		print(now_ns);
		obey(now_ns);
		pthread_cond_timedwait(&startup_watchdog.changed, &startup_watchdog.lock, &next);
	}
	pthread_mutex_unlock(&startup_watchdog.lock);
	return unused;
}

/* ---- In the caller's --------------------------------------------------------------------------------------------- */

/* On another CPU, where the caller cannot prevent it from running; otherwise on any allowed CPU. */
static bool start(void)
{
	pthread_condattr_t attributes;
	cpu_set_t cpus;
	int error = -EINVAL;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&startup_watchdog.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!worker_choose_cpus(&cpus))
		error = worker_start_thread(&startup_watchdog.thread, &cpus, STACK_BYTES, look, NULL);
	if (error == -EINVAL && !sched_getaffinity(0, sizeof(cpus), &cpus))
		error = worker_start_thread(&startup_watchdog.thread, &cpus, STACK_BYTES, look, NULL);
	return !error;
}

void startup_watchdog_begin(const _Atomic int *stop, void (*give_up)(void))
{
	startup_watchdog.stop = stop;
	startup_watchdog.give_up = give_up;
	startup_watchdog.step = "starting";
	startup_watchdog.began_ns = startup_watchdog.step_ns = clock_read_ns(CLOCK_MONOTONIC);
	startup_watchdog.running = start();
}

/* Needs the lock. */
static int look_if_ended(void)
{
	if (!startup_watchdog.reported || !*startup_watchdog.stop)
		return 0;
	if (!startup_watchdog.ended)
		warnx("ended by a signal, after %s; nothing has been sent", startup_watchdog.step);
	startup_watchdog.ended = true;
	return -EINTR;
}

static int begin_step(const char *step, bool whole)
{
	int error;

	if (!startup_watchdog.running)
		return 0;
	pthread_mutex_lock(&startup_watchdog.lock);
	error = look_if_ended();
	if (!error) {
		startup_watchdog.step = step;
		startup_watchdog.whole = whole;
		startup_watchdog.step_ns = clock_read_ns(CLOCK_MONOTONIC);
		startup_watchdog.reported_ns = startup_watchdog.asked_ns = 0;
	}
	pthread_mutex_unlock(&startup_watchdog.lock);
	return error;
}

int startup_watchdog_on(const char *step)
{
	return begin_step(step, false);
}

int startup_watchdog_on_whole(const char *step)
{
	return begin_step(step, true);
}

int startup_watchdog_end(void)
{
	int error;

	if (!startup_watchdog.running)
		return 0;
	pthread_mutex_lock(&startup_watchdog.lock);
	error = look_if_ended();
	startup_watchdog.over = true;
	pthread_cond_signal(&startup_watchdog.changed);
	pthread_mutex_unlock(&startup_watchdog.lock);
	pthread_join(startup_watchdog.thread, NULL);
	startup_watchdog.running = false;
	return error;
}
