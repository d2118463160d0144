// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The housekeeping thread: what has to happen during a run and is not the measurement. It is born at SCHED_OTHER on
 * other CPUs than the measuring one and never runs there.
 */
#include "host/watch.h"

#include "host/clock.h"
#include "measure/breach.h"
#include "measure/exchange.h"
#include "tracefs.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES (128 * 1024) /* locked in memory like all else: the default of 8 MB would be too */
#define PERIOD_MS 100
#define PROGRESS_PERIODS 10
/* At first more often, until the rates of the clocks are known. */
#define FIRST_PERIOD_MS 10
#define FIRST_PERIODS 10

/* CPUs that were set aside at boot may be another measurement's; the file is empty or absent where there are none. */
static void remove_isolated(cpu_set_t *cpus)
{
	FILE *f = fopen("/sys/devices/system/cpu/isolated", "re");
	int first, last;

	if (!f)
		return;
	while (fscanf(f, "%d", &first) == 1) {
		last = first;
		if (fscanf(f, "-%d", &last) < 0)
			last = first;
		for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_CLR(cpu, cpus);
		if (fgetc(f) != ',')
			break;
	}
	fclose(f);
}

/* All CPUs but the caller's and the isolated ones. Wider than the mask of taskset, which is about the measuring thread;
 * the kernel still keeps to the cpuset. */
static int choose_cpus(cpu_set_t *cpus)
{
	cpu_set_t allowed, mine;
	long online = sysconf(_SC_NPROCESSORS_CONF);

	CPU_ZERO(cpus);
	for (long cpu = 0; cpu < online && cpu < CPU_SETSIZE; cpu++)
		CPU_SET((size_t)cpu, cpus);
	remove_isolated(cpus);
	if (sched_getaffinity(0, sizeof(mine), &mine))
		return -errno;
	if (CPU_COUNT(&mine) > 1) {
		CPU_ZERO(&mine);
		CPU_SET((size_t)sched_getcpu(), &mine);
	}
	CPU_AND(&allowed, cpus, &mine);
	CPU_XOR(cpus, cpus, &allowed);
	return CPU_COUNT(cpus) ? 0 : -ENODEV;
}

static void draw(const struct exchange *x, uint64_t second, uint64_t *last_samples)
{
	struct account *a = (struct account *)&x->account;
	uint64_t samples = counter_get(&a->recorded);
	int64_t max_ns = atomic_exchange_explicit(&a->recent_max_ns, 0, memory_order_relaxed);
	char line[160];
	int bytes = snprintf(line, sizeof(line),
			     "\r\033[K%" PRIu64 " s  %" PRIu64 " samples  %" PRIu64 "/s  max %.3f us  lost %" PRIu64, second,
			     samples, samples - *last_samples, (double)max_ns / NS_PER_US, counter_get(&a->lost));

	*last_samples = samples;
	/* A terminal that does not take it misses a line of progress, no more. */
	if (write(STDERR_FILENO, line, (size_t)bytes) < 0)
		return;
}

static void tell_breaches(struct watch *w)
{
	uint64_t breaches = counter_get(&w->exchange->account.breaches);
	struct sample s;

	if (!w->on_breach)
		return;
	while (w->breaches_seen < breaches) {
		if (breach_read(w->exchange, w->breaches_seen, &s))
			w->on_breach(w->context, &s, w->breaches_seen);
		else
			w->missed++;
		w->breaches_seen++;
	}
}

/* A trace that cannot be saved stays frozen: it is the evidence. */
static void save_and_rearm(struct watch *w, int64_t now_ns)
{
	if (!w->trace || w->save_error || !trace_is_frozen(w->trace))
		return;
	if (w->trace->unsaved) {
		int saved = trace_save(w->trace, w->save_path, &w->saved);

		w->save_error = saved < 0 ? saved : 0;
	}
	if (w->save_error || now_ns - w->rearmed_ns < w->rearm_interval_ns)
		return;
	w->save_error = trace_rearm(w->trace);
	w->rearmed_ns = now_ns;
}

static void *run(void *argument)
{
	static const char wipe[] = "\r\033[K";
	struct watch *w = argument;
	struct pollfd stop = { .fd = w->stop_fd, .events = POLLIN };
	uint64_t last_samples = 0;

	/* While two threads share one table of files, each system call of the measuring one counts references to its socket. */
	if (unshare(CLONE_FILES))
		warnx("the housekeeping thread shares its files with the measuring one (%s), which makes that slower by some "
		      "percent", strerror(errno));

	for (int i = 0; w->clocks && i < FIRST_PERIODS && poll(&stop, 1, FIRST_PERIOD_MS) == 0; i++)
		clock_measure(w->clocks, counter_get(&w->exchange->account.sent));
	for (uint64_t period = 1; poll(&stop, 1, PERIOD_MS) == 0; period++) {
		tell_breaches(w);
		save_and_rearm(w, clock_read_ns(CLOCK_MONOTONIC));
		if (w->clocks)
			clock_measure(w->clocks, counter_get(&w->exchange->account.sent));
		if (w->progress && period % PROGRESS_PERIODS == 0)
			draw(w->exchange, period / PROGRESS_PERIODS, &last_samples);
	}
	if (w->progress && write(STDERR_FILENO, wipe, sizeof(wipe) - 1) < 0)
		return NULL;
	return NULL;
}

static int start_thread(struct watch *w, const cpu_set_t *cpus)
{
	const struct sched_param other = { .sched_priority = 0 };
	sigset_t all, before;
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &other);
	pthread_attr_setaffinity_np(&attributes, sizeof(*cpus), cpus);
	/* Signals are the measuring thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&w->thread, &attributes, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

static bool has_duties(const struct watch *w)
{
	return w->progress || w->on_breach || w->trace || w->clocks;
}

int watch_start(struct watch *w)
{
	cpu_set_t cpus;
	int error;

	w->stop_fd = -1;
	if (!has_duties(w))
		return 0;
	error = choose_cpus(&cpus);
	if (error)
		return error;
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (w->stop_fd < 0)
		return -errno;
	error = start_thread(w, &cpus);
	if (error) {
		close(w->stop_fd);
		/* EINVAL: the cpuset leaves none of these CPUs. */
		return error == -EINVAL ? -ENODEV : error;
	}
	w->running = true;
	return 0;
}

void watch_stop(struct watch *w)
{
	if (w->running) {
		eventfd_write(w->stop_fd, 1);
		pthread_join(w->thread, NULL);
		close(w->stop_fd);
		w->running = false;
	}
	if (w->exchange)
		tell_breaches(w);
}
