// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading hardware counters around an exchange. By rdpmc a counter costs tens of nanoseconds and no system call: a page
 * of each counter, under a sequence lock, has the offset that makes a count of the register (perf_event_open(2)).
 */
#include "host/counters/pmc.h"

#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#if defined(PMC_TEST)
static uint64_t read_register(uint32_t number);
#elif defined(__x86_64__)
static uint64_t read_register(uint32_t number)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
	return (uint64_t)high << 32 | low;
}
#else
static uint64_t read_register(uint32_t number)
{
	(void)number; /* pmu.c makes no counter direct */
	return 0;
}
#endif

/* The register counts from some value below zero, in `width` bits. */
static uint64_t extend(uint64_t value, unsigned width)
{
	unsigned unused = (64 - width) & 63;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* The writer is the kernel on the same CPU, when it switches threads: a compiler barrier is enough. */
static uint64_t read_direct(const struct perf_event_mmap_page *at, bool *idle)
{
	const volatile struct perf_event_mmap_page *page = at;
	uint32_t lock, index;
	uint64_t count;

	do {
		lock = page->lock;
		atomic_signal_fence(memory_order_seq_cst);
		index = page->cap_user_rdpmc ? page->index : 0;
		count = (uint64_t)page->offset;
		if (index)
			count += extend(read_register(index - 1), page->pmc_width);
		atomic_signal_fence(memory_order_seq_cst);
	} while (page->lock != lock);
	if (!index)
		*idle = true;
	return count;
}

static void read_registers(struct pmc *p, uint64_t *value)
{
	for (unsigned i = 0; i < p->direct; i++)
		value[i] = read_direct(p->page[i], &p->idle[i]);
}

/* Layout with PERF_FORMAT_GROUP, TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING: perf_event_open(2). */
static bool read_group(struct pmc *p, uint64_t *value)
{
	struct {
		uint64_t counters, enabled, running, value[PMC_MAX];
	} raw;
	const unsigned count = p->counters - p->direct;
	const size_t bytes = offsetof(typeof(raw), value) + count * sizeof(uint64_t);

	if (p->group_fd < 0)
		return true;
	if (read(p->group_fd, &raw, bytes) != (ssize_t)bytes || raw.counters != count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		value[p->direct + i] = raw.value[i];
		p->idle[p->direct + i] |= raw.running < raw.enabled;
	}
	return true;
}

/* The registers are read innermost, so that they do not count the system calls. */
void pmc_begin(struct pmc *p)
{
	p->begun = read_group(p, p->before);
	read_registers(p, p->before);
}

bool pmc_end(struct pmc *p)
{
	uint64_t now[PMC_MAX] = { 0 };
	bool begun = p->begun;

	read_registers(p, now);
	p->begun = false;
	if (!read_group(p, now) || !begun) {
		p->failed++;
		return false;
	}
	for (unsigned i = 0; i < p->counters; i++)
		p->delta[i] = now[i] - p->before[i];
	return true;
}

void pmc_account(struct pmc *p, bool slow)
{
	uint64_t *sum = slow ? p->slow_sum : p->quick_sum;

	for (unsigned i = 0; i < p->counters; i++)
		sum[i] += p->delta[i];
	if (!slow)
		p->quick++;
	else if (p->slow++ == 0)
		memcpy(p->spike, p->delta, sizeof(p->spike));
}
