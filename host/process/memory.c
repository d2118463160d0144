// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that is mapped, present and locked before the run: a page fault takes longer than most measured latencies. */
#include "host/process/memory.h"

#include <err.h>
#include <errno.h>
#include <linux/mman.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ 22 /* asm-generic/mman-common.h, Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

#define STACK_BYTES (128 << 10) /* more than the main thread uses before it unlocks */
#define STACK_LEAST_BYTES (2 * STACK_BYTES)
#define LOCK_TRIES 3

static const struct {
	int flags;
	size_t page_bytes; /* 0: the system's page size */
} kinds[] = {
	[MEMORY_NORMAL] = { 0, 0 },
	[MEMORY_HUGE_DEFAULT] = { MAP_HUGETLB | MAP_POPULATE, 1 << 21 },
	[MEMORY_HUGE_2M] = { MAP_HUGETLB | MAP_HUGE_2MB | MAP_POPULATE, 1 << 21 },
};

/*
 * Makes every normal page present, and reports missing memory, which MAP_POPULATE does not. Transparent huge pages make
 * it many times faster for a large log. Afterwards khugepaged is disabled for these pages: it would remap them during
 * the loop, and locking does not prevent that.
 */
static int populate(void *start, size_t bytes, size_t page)
{
	int error = 0;

	madvise(start, bytes, MADV_HUGEPAGE);
	if (madvise(start, bytes, MADV_POPULATE_WRITE)) {
		if (errno != EINVAL)
			error = -errno;
		else /* an older kernel: touch each page */
			for (size_t at = 0; at < bytes; at += page)
				((volatile char *)start)[at] = 0;
	}
	madvise(start, bytes, MADV_NOHUGEPAGE);
	return error;
}

int memory_map(struct memory *m, size_t bytes, bool huge)
{
	*m = (struct memory){ 0 };
	for (int kind = huge ? MEMORY_HUGE_2M : MEMORY_NORMAL; kind >= MEMORY_NORMAL; kind--) {
		size_t page = kinds[kind].page_bytes ? kinds[kind].page_bytes : (size_t)sysconf(_SC_PAGESIZE);
		size_t whole = (bytes + page - 1) / page * page;
		void *start = mmap(NULL, whole, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | kinds[kind].flags, -1, 0);
		int error;

		if (start == MAP_FAILED)
			continue;
		error = kind == MEMORY_NORMAL ? populate(start, whole, page) : 0;
		if (error) {
			munmap(start, whole);
			return error;
		}
		*m = (struct memory){ .start = start, .bytes = whole, .pages = (enum memory_pages)kind };
		return 0;
	}
	return -errno;
}

void memory_unmap(struct memory *m)
{
	if (m->start)
		munmap(m->start, m->bytes);
	*m = (struct memory){ 0 };
}

/* Symbols of the linker: the image of the program, which is writable from __data_start on. */
extern char __executable_start[], __data_start[], _end[];

static void advise_image(const char *start, const char *end, int advice)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)start / page * page, to = ((uintptr_t)end + page - 1) / page * page;

	madvise((void *)from, to - from, advice);
}

/* The kernel checks the limit whenever the stack of the first thread grows, so it can be raised during the run. */
int memory_allow_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_LEAST_BYTES)
		return 0;
	limit.rlim_cur = STACK_LEAST_BYTES;
	if (limit.rlim_max >= STACK_LEAST_BYTES && !setrlimit(RLIMIT_STACK, &limit))
		return 0;
	warnx("the stack may have %llu kB at most: rant needs %d: 'ulimit -s %d', which root may raise",
	      (unsigned long long)limit.rlim_max >> 10, STACK_LEAST_BYTES >> 10, STACK_LEAST_BYTES >> 10);
	return -EPERM;
}

void memory_touch_stack(size_t bytes)
{
	volatile char stack[4096];

	for (size_t at = 0; at < sizeof(stack); at += 1024)
		stack[at] = 0;
	if (bytes > sizeof(stack))
		memory_touch_stack(bytes - sizeof(stack));
	(void)stack[0]; /* after the call, so that each call has a separate frame */
}

/* Memory that cannot be locked can still be present when the run begins. */
static void touch_program(void)
{
	advise_image(__executable_start, _end, MADV_POPULATE_READ);
	advise_image(__data_start, _end, MADV_POPULATE_WRITE);
}

/* Libraries that the loop does not call, by the beginning of the file name: their code and constants need not be
 * present. */
static const char *const idle_libraries[] = { "libjansson.", "libm.", "libm-", "libnl-", "libseccomp." };

static bool is_idle_library(const char *path, bool signs)
{
	const char *name = strrchr(path, '/');

	if (name && !strncmp(name + 1, "libnettle.", strlen("libnettle.")))
		return !signs;
	for (size_t i = 0; name && i < sizeof(idle_libraries) / sizeof(idle_libraries[0]); i++)
		if (!strncmp(name + 1, idle_libraries[i], strlen(idle_libraries[i])))
			return true;
	return false;
}

/* Makes a mapping resident and locks it, or releases its pages. line: of /proc/self/maps. 0 or -errno. */
static int lock_mapping(const char *line, bool signs)
{
	unsigned long from, to, offset;
	char access[8];
	int path = 0;

	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &from, &to, access, &offset, &path) < 4 || access[0] != 'r')
		return 0;
	/* Mappings of the kernel: [vdso], [vvar], [vsyscall]. */
	if (!strncmp(line + path, "[v", 2))
		return 0;
	if (access[1] == 'w' || !is_idle_library(line + path, signs))
		return mlock((void *)from, to - from) ? -errno : 0;
	/* Drops code that start-up made resident near the called functions, and names at the beginning of the file.
	 * Constants after these stay, because the dynamic linker has written some. */
	if (access[2] == 'x' || !offset)
		madvise((void *)from, to - from, MADV_DONTNEED);
	return 0;
}

static int lock_mappings(bool signs)
{
	char line[4096 + 128]; /* a path and the fields before it */
	FILE *maps = fopen("/proc/self/maps", "re");
	int error = 0;

	if (!maps)
		return mlockall(MCL_CURRENT) ? -errno : 0;
	while (!error && fgets(line, sizeof(line), maps))
		error = lock_mapping(line, signs);
	fclose(maps);
	return error;
}

int memory_lock(bool signs)
{
	int error = -ENOMEM;

	/* A locked stack does not grow beyond 'ulimit -l' without CAP_IPC_LOCK, which is dropped. For the same reason
	 * later mappings are not locked (MCL_FUTURE): the measuring thread uses none of them. */
	memory_touch_stack(STACK_BYTES);
	/* mlockall() would compare 'ulimit -l' with all mappings, including unused libraries. ENOMEM may also mean that
	 * another thread has unmapped memory after the list was read. */
	for (int tries = 0; tries < LOCK_TRIES && error == -ENOMEM; tries++)
		error = lock_mappings(signs);
	if (!error)
		return 0;
	munlockall();
	touch_program();
	return error;
}

int64_t memory_absent_bytes(const struct memory *m)
{
	enum { PAGES = 4096 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char present[PAGES];
	int64_t absent = 0;

	for (size_t at = 0; at < m->bytes; at += PAGES * page) {
		size_t bytes = m->bytes - at < PAGES * page ? m->bytes - at : PAGES * page;

		if (mincore((char *)m->start + at, bytes, present))
			return -errno;
		for (size_t i = 0; i < (bytes + page - 1) / page; i++)
			absent += present[i] & 1 ? 0 : (int64_t)page;
	}
	return absent;
}

uint64_t memory_free_bytes(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		return 0;
	return (uint64_t)info.freeram * info.mem_unit;
}
