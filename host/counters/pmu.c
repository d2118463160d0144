// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening the hardware counters that pmc.c reads. They are one pinned group: the PMU counts the whole group or nothing,
 * so counters are never multiplexed and scaled, which would make numbers of single exchanges meaningless.
 */
#include "host/counters/pmu.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE(cache) \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The most useful events first: few machines can count all of them at once. Names as in 'perf list'. */
static const struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool in_kernel; /* occurs in the kernel only: a counter of user space alone would always be 0 */
} events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false },
	{ "dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB), false },
	{ "iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB), false },
	{ "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D), false },
	{ "LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL), false },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true },
};

_Static_assert(COUNT(events) == PMC_MAX, "struct pmc can hold each known counter");

/* A file descriptor, or -errno. */
static int open_event(const struct pmc *p, const struct event *e, int group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = group < 0,
		.pinned = group < 0,
		.exclude_kernel = p->user_only,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void name_missing(struct pmc *p, const char *name)
{
	size_t used = strlen(p->missing);

	snprintf(p->missing + used, sizeof(p->missing) - used, "%s%s", used ? ", " : "", name);
}

/* The refusal does not depend on the event: the next events would fail too. */
static bool is_refusal(int error)
{
	return error == -EACCES || error == -EPERM || error == -ENOSYS || error == -EMFILE || error == -ENFILE ||
	       error == -ENOMEM;
}

/* Adds those of the events first .. end - 1 that the machine has to the group. 0, or the refusal. */
static int open_events(struct pmc *p, size_t first, size_t end, int *group)
{
	for (size_t i = first; i < end; i++) {
		int fd = open_event(p, &events[i], *group);

		if ((fd == -EACCES || fd == -EPERM) && !p->counters && !p->user_only) {
			p->user_only = true;
			fd = open_event(p, &events[i], *group);
		}
		if (is_refusal(fd))
			return fd;
		if (fd >= 0 && events[i].in_kernel && p->user_only) {
			close(fd);
			fd = -ENOENT;
		}
		if (fd < 0) {
			name_missing(p, events[i].name);
			continue;
		}
		if (*group < 0)
			*group = fd;
		p->event[p->counters] = (uint8_t)i;
		p->fd[p->counters++] = fd;
	}
	return 0;
}

/* True if the group counts all the time. A pinned group that does not fit the PMU reads as an end of file. */
static bool counts(int fd)
{
	uint64_t raw[3 + PMC_MAX];

	return read(fd, raw, sizeof(raw)) >= (ssize_t)(4 * sizeof(uint64_t)) && raw[2] == raw[1];
}

/* The kernel checks a group against the whole PMU, but a counter may be in use by the NMI watchdog or by another perf.
 * So the last events are removed until the remaining group counts. */
static void enable(struct pmc *p, int group)
{
	while (p->counters) {
		unsigned last = p->counters - 1;

		if (!ioctl(group, PERF_EVENT_IOC_ENABLE, 0) && counts(group))
			return;
		ioctl(group, PERF_EVENT_IOC_DISABLE, 0);
		name_missing(p, events[p->event[last]].name);
		close(p->fd[last]);
		p->counters--;
	}
}

static void unmap(struct pmc *p)
{
	for (unsigned i = 0; i < PMC_MAX; i++)
		if (p->page[i])
			munmap((void *)p->page[i], (size_t)sysconf(_SC_PAGESIZE));
	memset(p->page, 0, sizeof(p->page));
}

static bool map_direct(struct pmc *p, unsigned i)
{
#if defined(__x86_64__)
	const struct perf_event_mmap_page *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
						       p->fd[i], 0);

	if (page == MAP_FAILED)
		return false;
	p->page[i] = page;
	return page->cap_user_rdpmc && page->index && page->pmc_width >= 1 && page->pmc_width <= 64;
#else
	(void)p;
	(void)i;
	return false;
#endif
}

/* All by system call or none: a system call for one counter costs as much as for all. */
static void make_direct(struct pmc *p)
{
	for (unsigned i = 0; i < p->counters; i++)
		if (!map_direct(p, i)) {
			unmap(p);
			return;
		}
	p->direct = p->counters;
}

static int say_not_opened(int error)
{
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	char level[8] = "";
	ssize_t got = fd < 0 ? -1 : read(fd, level, sizeof(level) - 1);

	if (fd >= 0)
		close(fd);
	level[got > 0 ? strcspn(level, "\n") : 0] = '\0';
	if (error == -ENOSYS || !level[0])
		warnx("--pmc: this kernel has no performance counters (CONFIG_PERF_EVENTS): leave the option out");
	else if (error == -EACCES || error == -EPERM)
		warnx("--pmc: not allowed to open performance counters (kernel.perf_event_paranoid is %s): run as "
		      "root, 'sysctl kernel.perf_event_paranoid=1', or let the container call perf_event_open", level);
	else
		warnx("--pmc: cannot open performance counters: %s: see 'ulimit -n'", strerror(-error));
	return error;
}

static int open_all(struct pmc *p, bool system_calls)
{
	size_t software = 0;
	int group = -1, error;

	while (events[software].type != PERF_TYPE_SOFTWARE)
		software++;
	error = open_events(p, 0, software, &group);
	if (error)
		return error;
	enable(p, group);
	make_direct(p);
	if (!p->counters || p->direct)
		group = -1;
	p->software_left_out = p->direct && !system_calls;
	if (!p->software_left_out)
		error = open_events(p, software, COUNT(events), &group);
	if (!error && p->counters > p->direct && ioctl(group, PERF_EVENT_IOC_ENABLE, 0))
		error = -errno;
	p->group_fd = p->counters > p->direct ? group : -1;
	p->system_calls = p->counters > p->direct ? 2 : 0;
	return error;
}

int pmc_open(struct pmc *p, bool system_calls)
{
	int error;

	*p = (struct pmc){ .group_fd = -1 };
	error = open_all(p, system_calls);
	if (error) {
		pmc_close(p);
		return say_not_opened(error);
	}
	if (p->counters)
		return 0;
	warnx("--pmc: this machine has none of the known counters (%s): a virtual machine must be given a PMU, e.g. "
	      "'-cpu host,pmu=on'", p->missing);
	return -ENODEV;
}

const char *pmc_name(const struct pmc *p, unsigned i)
{
	return events[p->event[i]].name;
}

void pmc_finish(struct pmc *p)
{
	for (unsigned i = 0; i < p->counters; i++)
		p->partial[i] = p->idle[i] || !counts(p->fd[i]);
}

void pmc_close(struct pmc *p)
{
	unmap(p);
	for (unsigned i = 0; i < p->counters; i++)
		close(p->fd[i]);
	p->counters = p->direct = 0;
	p->group_fd = -1;
}
