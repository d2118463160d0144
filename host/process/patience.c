// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps that may take long. A signal that comes while the caller is in a system call that no handler interrupts
 * (mlock(2), the populating of memory) waits there for as long as that takes, but can be seen from here, by
 * sigpending(2); and the end of the program interrupts what no handler does.
 */
#include "host/process/patience.h"

#include "host/process/watch.h"

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define LOOK_NS (50 * NS_PER_MS)
#define STACK_BYTES (64 * 1024)

static struct {
	/* of all that follows. The thread keeps it when it ends the program, so that no other step begins then */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned long thread; /* pthread_t */
	bool running, over;
	const char *step;
	bool whole; /* it is not cut off */
	bool told; /* some step */
	bool ended; /* by a signal, which was said */
	int64_t began_ns, step_ns; /* CLOCK_MONOTONIC: the first step, and this one */
	int64_t told_ns, asked_ns; /* this step was told; a signal was seen; 0: not yet */
	const _Atomic int *stop;
	void (*give_up)(void);
} patience = { .lock = PTHREAD_MUTEX_INITIALIZER };

static double seconds(int64_t since_ns)
{
	return (double)(clock_read_ns(CLOCK_MONOTONIC) - since_ns) / NS_PER_S;
}

/* ---- In the thread, with the lock -------------------------------------------------------------------------------- */

/* Only what this thread blocks is told as pending: all that ends a run. What is ignored is never pending. */
static bool is_asked_to_end(void)
{
	sigset_t pending;

	return *patience.stop || (!sigpending(&pending) &&
				  (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
							    sigismember(&pending, SIGHUP) == 1));
}

static void tell(int64_t now_ns)
{
	const int64_t since_ns = patience.told_ns ? patience.told_ns : patience.told ? patience.step_ns :
				 patience.began_ns;

	if (now_ns - since_ns < (patience.told_ns ? PATIENCE_AGAIN_NS : PATIENCE_TELL_NS))
		return;
	patience.told = true;
	patience.told_ns = now_ns;
	warnx("still %s, for %.1f s now; nothing has been sent", patience.step, seconds(patience.step_ns));
}

/* Nothing was told yet: what comes next ends by itself, soon, as it does without this. */
static void obey(int64_t now_ns)
{
	if (!patience.told || !is_asked_to_end())
		return;
	if (!patience.asked_ns && patience.whole)
		warnx("a signal: rant ends when it is done with %s", patience.step);
	if (!patience.asked_ns)
		patience.asked_ns = now_ns;
	if (patience.whole || now_ns - patience.asked_ns < PATIENCE_GRACE_NS)
		return;
	warnx("ended by a signal while %s, after %.1f s; nothing has been sent", patience.step,
	      seconds(patience.step_ns));
	patience.give_up();
	_exit(1);
}

static void *look(void *unused)
{
	pthread_mutex_lock(&patience.lock);
	while (!patience.over) {
		const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), next_ns = now_ns + LOOK_NS;
		const struct timespec next = { .tv_sec = next_ns / NS_PER_S, .tv_nsec = next_ns % NS_PER_S };

		tell(now_ns);
		obey(now_ns);
		pthread_cond_timedwait(&patience.changed, &patience.lock, &next);
	}
	pthread_mutex_unlock(&patience.lock);
	return unused;
}

/* ---- In the caller's --------------------------------------------------------------------------------------------- */

/* On another CPU, where the caller cannot keep it from running; else wherever it may. */
static bool start(void)
{
	pthread_condattr_t attributes;
	cpu_set_t cpus;
	int error = -EINVAL;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&patience.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!watch_choose_cpus(&cpus))
		error = watch_start_thread(&patience.thread, &cpus, STACK_BYTES, look, NULL);
	if (error == -EINVAL && !sched_getaffinity(0, sizeof(cpus), &cpus))
		error = watch_start_thread(&patience.thread, &cpus, STACK_BYTES, look, NULL);
	return !error;
}

void patience_begin(const _Atomic int *stop, void (*give_up)(void))
{
	patience.stop = stop;
	patience.give_up = give_up;
	patience.step = "starting";
	patience.began_ns = patience.step_ns = clock_read_ns(CLOCK_MONOTONIC);
	patience.running = start();
}

/* With the lock. */
static int look_if_ended(void)
{
	if (!patience.told || !*patience.stop)
		return 0;
	if (!patience.ended)
		warnx("ended by a signal, after %s; nothing has been sent", patience.step);
	patience.ended = true;
	return -EINTR;
}

static int begin_step(const char *step, bool whole)
{
	int error;

	if (!patience.running)
		return 0;
	pthread_mutex_lock(&patience.lock);
	error = look_if_ended();
	if (!error) {
		patience.step = step;
		patience.whole = whole;
		patience.step_ns = clock_read_ns(CLOCK_MONOTONIC);
		patience.told_ns = patience.asked_ns = 0;
	}
	pthread_mutex_unlock(&patience.lock);
	return error;
}

int patience_on(const char *step)
{
	return begin_step(step, false);
}

int patience_on_whole(const char *step)
{
	return begin_step(step, true);
}

int patience_end(void)
{
	int error;

	if (!patience.running)
		return 0;
	pthread_mutex_lock(&patience.lock);
	error = look_if_ended();
	patience.over = true;
	pthread_cond_signal(&patience.changed);
	pthread_mutex_unlock(&patience.lock);
	pthread_join(patience.thread, NULL);
	patience.running = false;
	return error;
}
