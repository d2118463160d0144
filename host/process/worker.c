// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The worker thread: duties during a run other than the measurement. It runs at SCHED_OTHER and never on the measuring
 * CPU.
 */
#include "host/process/worker.h"

#include <assert.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STACK_BYTES (128 * 1024) /* locked in memory, so the default of 8 MB would be too large */
#define EARLY_NS (10 * NS_PER_MS)
/* less than CLOCK_FRESH_NS, so that later samples find valid clock relations */
#define IDLE_NS (500 * NS_PER_MS)

/* CPUs isolated at boot may belong to another measurement; without such CPUs the file is empty or absent. */
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

/* Wider than the mask of taskset, which applies to the measuring thread; the kernel still applies the cpuset. */
int worker_choose_cpus(cpu_set_t *cpus)
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

/* Times of the next calls. */
struct schedule {
	int64_t next_ns[WORKER_DUTIES_MAX]; /* CLOCK_MONOTONIC */
	unsigned calls[WORKER_DUTIES_MAX];
};

static int64_t gap_ns(const struct worker *w, const struct worker_duty *d, unsigned calls)
{
	if (calls < d->early)
		return EARLY_NS;
	const int64_t idle_ns = w->idle_ns ? w->idle_ns : IDLE_NS;

	if (w->idle && atomic_load_explicit(w->idle, memory_order_relaxed) && d->period_ns < idle_ns)
		return idle_ns;
	return d->period_ns;
}

/* Runs the duties that are due. Returns the time of the next duty. */
static int64_t do_duties(const struct worker *w, struct schedule *s)
{
	int64_t first_ns = INT64_MAX;

	for (unsigned i = 0; i < w->duties; i++) {
		const struct worker_duty *d = &w->duty[i];

		if (s->next_ns[i] <= clock_read_ns(CLOCK_MONOTONIC)) {
			d->act(d->context);
			s->next_ns[i] = clock_read_ns(CLOCK_MONOTONIC) + gap_ns(w, d, ++s->calls[i]);
		}
		if (s->next_ns[i] < first_ns)
			first_ns = s->next_ns[i];
	}
	return first_ns;
}

static bool is_over(const struct worker *w, int64_t until_ns)
{
	struct pollfd stop = { .fd = w->stop_fd, .events = POLLIN };
	int64_t ns = until_ns - clock_read_ns(CLOCK_MONOTONIC);

	return poll(&stop, 1, ns < 0 ? 0 : (int)((ns + NS_PER_MS - 1) / NS_PER_MS)) != 0;
}

static void *run(void *argument)
{
	struct worker *w = argument;
	struct schedule s = { .calls = { 0 } };
	int64_t next_ns;

	if (w->name)
		prctl(PR_SET_NAME, w->name, 0, 0, 0);
	if (w->begin)
		w->begin(w->context);
	/* While two threads share a table of files, each system call of the measuring thread counts references to its
	 * socket. */
	w->shares_files = unshare(CLONE_FILES);
	if (w->shares_files)
		warnx("the worker thread shares its file table with the measuring thread (%s), which slows it down "
		      "by some percent", strerror(errno));
	sem_post(&w->begun);
	for (unsigned i = 0; i < w->duties; i++)
		s.next_ns[i] = clock_read_ns(CLOCK_MONOTONIC) + gap_ns(w, &w->duty[i], 0);
	do
		next_ns = do_duties(w, &s);
	while (!is_over(w, next_ns));
	if (w->end)
		w->end(w->context);
	return NULL;
}

int worker_start_thread(unsigned long *thread, const cpu_set_t *cpus, size_t stack_bytes, void *(*act)(void *),
			void *argument)
{
	const struct sched_param other = { .sched_priority = 0 };
	sigset_t all, before;
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	if (stack_bytes)
		pthread_attr_setstacksize(&attributes, stack_bytes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &other);
	pthread_attr_setaffinity_np(&attributes, sizeof(*cpus), cpus);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(thread, &attributes, act, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

void worker_add(struct worker *w, struct worker_duty duty)
{
	assert(w->duties < WORKER_DUTIES_MAX);
	w->duty[w->duties++] = duty;
}

int worker_start(struct worker *w)
{
	cpu_set_t cpus;
	int error;

	w->stop_fd = -1;
	if (!w->duties)
		return 0;
	error = worker_choose_cpus(&cpus);
	if (error)
		return error;
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (w->stop_fd < 0)
		return -errno;
	sem_init(&w->begun, 0, 0);
	error = worker_start_thread(&w->thread, &cpus, STACK_BYTES, run, w);
	if (error) {
		close(w->stop_fd);
		/* EINVAL: the cpuset has none of these CPUs. */
		return error == -EINVAL ? -ENODEV : error;
	}
	while (sem_wait(&w->begun))
		;
	w->running = true;
	return 0;
}

void worker_stop(struct worker *w)
{
	if (w->running) {
		eventfd_write(w->stop_fd, 1);
		pthread_join(w->thread, NULL);
		close(w->stop_fd);
		w->running = false;
	}
	for (unsigned i = 0; i < w->duties; i++)
		if (w->duty[i].at_end)
			w->duty[i].act(w->duty[i].context);
}
