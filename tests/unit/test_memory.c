/* build: wraps=mmap,munmap,madvise,fopen,mlock,mlockall,munlockall,sysinfo,mincore sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory: real mappings, and the order of attempts on a kernel that refuses some of them. */
#include "host/process/memory.c"

#include "util.h"

#include <sys/wait.h>

#define MB (1UL << 20)
#define TRIES_MAX 8

/* The fake kernel is off unless a test turns it on; each test begins with it off. */
static struct {
	bool on;
	int refuse[TRIES_MAX]; /* errno for the attempt, 0: grant it */
	int tries;
	struct {
		size_t bytes;
		int protection, flags, fd;
		off_t offset;
	} tried[TRIES_MAX];

	int advised, advice[TRIES_MAX];
	void *advised_start;
	size_t advised_bytes;
	int populate_errno; /* of MADV_POPULATE_WRITE, 0: the real one */

	int unmapped;
	void *unmapped_start;
	size_t unmapped_bytes;

	const char *maps; /* text of /proc/self/maps, NULL: it cannot be opened */
	/* of mlock() and mlockall(), for this number of calls from call number lock_errno_from on */
	int lock_errno, lock_errno_times;
	int lock_errno_from, lock_calls;
	int locked; /* ranges that are locked now */
	uintptr_t locked_from[TRIES_MAX], locked_to[TRIES_MAX];
	int lock_flags;

	int absent_errno; /* of mincore(), 0: the real one */

	bool info_on, info_fails;
	struct sysinfo info;
} fake;

void *__real_mmap(void *start, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *start, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *start, size_t bytes);
int __wrap_munmap(void *start, size_t bytes);
int __real_madvise(void *start, size_t bytes, int advice);
int __wrap_madvise(void *start, size_t bytes, int advice);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_mlock(const void *start, size_t bytes);
int __wrap_mlockall(int flags);
int __wrap_munlockall(void);
int __real_mincore(void *start, size_t bytes, unsigned char *present);
int __wrap_mincore(void *start, size_t bytes, unsigned char *present);
int __real_sysinfo(struct sysinfo *info);
int __wrap_sysinfo(struct sysinfo *info);

void *__wrap_mmap(void *start, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	int try = fake.tries++;

	if (try < TRIES_MAX) {
		fake.tried[try].bytes = bytes;
		fake.tried[try].protection = protection;
		fake.tried[try].flags = flags;
		fake.tried[try].fd = fd;
		fake.tried[try].offset = offset;
	}
	if (fake.on && try < TRIES_MAX && fake.refuse[try]) {
		errno = fake.refuse[try];
		return MAP_FAILED;
	}
	/* Few machines have free huge pages: normal pages are granted. */
	if (fake.on)
		flags &= ~(MAP_HUGETLB | MAP_HUGE_2MB);
	return __real_mmap(start, bytes, protection, flags, fd, offset);
}

int __wrap_munmap(void *start, size_t bytes)
{
	fake.unmapped++;
	fake.unmapped_start = start;
	fake.unmapped_bytes = bytes;
	return __real_munmap(start, bytes);
}

int __wrap_madvise(void *start, size_t bytes, int advice)
{
	assert_true(fake.advised < TRIES_MAX);
	fake.advice[fake.advised++] = advice;
	fake.advised_start = start;
	fake.advised_bytes = bytes;
	if (advice == MADV_POPULATE_WRITE && fake.populate_errno) {
		errno = fake.populate_errno;
		return -1;
	}
	if (advice == MADV_DONTNEED) /* of a mapping in the list below, which is none of this process */
		return 0;
	return __real_madvise(start, bytes, advice);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (strcmp(path, "/proc/self/maps"))
		return __real_fopen(path, mode);
	errno = ENOENT;
	return fake.maps ? fmemopen((void *)fake.maps, strlen(fake.maps), "r") : NULL;
}

static bool lock_is_refused(void)
{
	const int after = fake.lock_calls++ - fake.lock_errno_from;

	errno = fake.lock_errno;
	return fake.lock_errno && after >= 0 && after < fake.lock_errno_times;
}

/* Never the real calls: a test that runs as root would lock the shadow memory of ASan. */
int __wrap_mlock(const void *start, size_t bytes)
{
	if (lock_is_refused())
		return -1;
	assert_true(fake.locked < TRIES_MAX);
	fake.locked_from[fake.locked] = (uintptr_t)start;
	fake.locked_to[fake.locked++] = (uintptr_t)start + bytes;
	return 0;
}

int __wrap_mlockall(int flags)
{
	fake.lock_flags = flags;
	return lock_is_refused() ? -1 : 0;
}

int __wrap_munlockall(void)
{
	fake.locked = 0;
	return 0;
}

int __wrap_sysinfo(struct sysinfo *info)
{
	if (!fake.info_on)
		return __real_sysinfo(info);
	if (fake.info_fails) {
		errno = ENOSYS;
		return -1;
	}
	*info = fake.info;
	return 0;
}

int __wrap_mincore(void *start, size_t bytes, unsigned char *present)
{
	if (!fake.absent_errno)
		return __real_mincore(start, bytes, present);
	errno = fake.absent_errno;
	return -1;
}

static int fake_off(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static const int base_flags = MAP_PRIVATE | MAP_ANONYMOUS;

static void check_try(int try, size_t bytes, int more_flags)
{
	assert_true(try < fake.tries);
	assert_int_equal(fake.tried[try].bytes, bytes);
	assert_int_equal(fake.tried[try].flags, base_flags | more_flags);
	assert_int_equal(fake.tried[try].protection, PROT_READ | PROT_WRITE);
	assert_int_equal(fake.tried[try].fd, -1);
	assert_int_equal(fake.tried[try].offset, 0);
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Zeroed, present, ours to write, and gone after memory_unmap(). */
static void check_mapping(struct memory *m, size_t bytes)
{
	size_t pages = (bytes + page_bytes() - 1) / page_bytes();
	unsigned char *present = calloc(1, pages);
	const struct memory before = *m;
	uint8_t *octet = m->start;

	assert_non_null(m->start);
	assert_true(m->bytes >= bytes);
	assert_int_equal(mincore(m->start, bytes, present), 0);
	for (size_t i = 0; i < pages; i++)
		assert_true(present[i] & 1);
	free(present);
	for (size_t i = 0; i < bytes; i++)
		if (octet[i])
			fail_msg("octet %zu is not zero", i);
	memset(m->start, 0xff, m->bytes);

	int unmapped = fake.unmapped;

	memory_unmap(m);
	assert_int_equal(fake.unmapped, unmapped + 1);
	assert_ptr_equal(fake.unmapped_start, before.start);
	assert_int_equal(fake.unmapped_bytes, before.bytes);
	assert_null(m->start);
	assert_int_equal(m->bytes, 0);

	unsigned char one;

	assert_int_equal(mincore(before.start, 1, &one), -1);
	assert_int_equal(errno, ENOMEM);
}

static void real_mappings(void **state)
{
	const size_t sizes[] = { 1, page_bytes() - 1, page_bytes(), page_bytes() + 1, 3 * MB + 5 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct memory m;

		memset(&m, 0xa5, sizeof(m));
		fake_off(NULL);
		assert_int_equal(memory_map(&m, sizes[i], false), 0);
		assert_int_equal(m.pages, MEMORY_NORMAL);
		assert_int_equal(m.bytes, (sizes[i] + page_bytes() - 1) / page_bytes() * page_bytes());
		assert_int_equal(fake.tries, 1);
		check_try(0, m.bytes, 0);
		/* The last: else khugepaged remaps it under the loop. */
		assert_int_equal(fake.advised, 3);
		assert_int_equal(fake.advice[0], MADV_HUGEPAGE);
		assert_int_equal(fake.advice[1], MADV_POPULATE_WRITE);
		assert_int_equal(fake.advice[2], MADV_NOHUGEPAGE);
		assert_ptr_equal(fake.advised_start, m.start);
		assert_int_equal(fake.advised_bytes, m.bytes);
		check_mapping(&m, sizes[i]);
	}
}

/* Whatever this machine has to give. */
static void a_real_attempt_at_huge_pages(void **state)
{
	struct memory m;

	(void)state;
	assert_int_equal(memory_map(&m, 3 * MB, true), 0);
	assert_int_equal(fake.tries, 1 + (MEMORY_HUGE_2M - m.pages));
	check_mapping(&m, 3 * MB);
}

static void huge_pages_of_2_mb_come_first(void **state)
{
	struct memory m;

	(void)state;
	fake.on = true;
	assert_int_equal(memory_map(&m, 3 * MB + 1, true), 0);
	assert_int_equal(fake.tries, 1);
	check_try(0, 4 * MB, MAP_HUGETLB | MAP_HUGE_2MB | MAP_POPULATE);
	assert_int_equal(m.pages, MEMORY_HUGE_2M);
	assert_int_equal(m.bytes, 4 * MB);
	assert_int_equal(fake.advised, 0); /* the advice is for normal pages only */
	check_mapping(&m, 3 * MB + 1);
}

static void then_the_default_size(void **state)
{
	struct memory m;

	(void)state;
	fake.on = true;
	fake.refuse[0] = EINVAL;
	assert_int_equal(memory_map(&m, 2 * MB, true), 0);
	assert_int_equal(fake.tries, 2);
	check_try(0, 2 * MB, MAP_HUGETLB | MAP_HUGE_2MB | MAP_POPULATE);
	check_try(1, 2 * MB, MAP_HUGETLB | MAP_POPULATE);
	assert_int_equal(m.pages, MEMORY_HUGE_DEFAULT);
	assert_int_equal(m.bytes, 2 * MB);
	assert_int_equal(fake.advised, 0);
	check_mapping(&m, 2 * MB);
}

static void then_normal_pages(void **state)
{
	struct memory m;

	(void)state;
	fake.on = true;
	fake.refuse[0] = ENOMEM;
	fake.refuse[1] = ENOMEM;
	assert_int_equal(memory_map(&m, 2 * MB + 1, true), 0);
	assert_int_equal(fake.tries, 3);
	check_try(0, 4 * MB, MAP_HUGETLB | MAP_HUGE_2MB | MAP_POPULATE);
	check_try(1, 4 * MB, MAP_HUGETLB | MAP_POPULATE);
	check_try(2, 2 * MB + page_bytes(), 0); /* not more than is needed */
	assert_int_equal(m.pages, MEMORY_NORMAL);
	assert_int_equal(m.bytes, 2 * MB + page_bytes());
	assert_int_equal(fake.advised, 3);
	check_mapping(&m, 2 * MB + 1);
}

static void no_memory_at_all(void **state)
{
	struct memory m;

	(void)state;
	fake.on = true;
	fake.refuse[0] = EINVAL;
	fake.refuse[1] = EPERM;
	fake.refuse[2] = ENOMEM;
	memset(&m, 0xa5, sizeof(m));
	assert_int_equal(memory_map(&m, MB, true), -ENOMEM); /* of the last attempt, which had to succeed */
	assert_int_equal(fake.tries, 3);
	assert_int_equal(fake.advised, 0);
	assert_null(m.start);
	assert_int_equal(m.bytes, 0);
	memory_unmap(&m);
	assert_int_equal(fake.unmapped, 0);

	fake_off(NULL);
	fake.on = true;
	fake.refuse[0] = EAGAIN;
	assert_int_equal(memory_map(&m, MB, false), -EAGAIN);
	assert_int_equal(fake.tries, 1);
	assert_null(m.start);
}

static void an_older_kernel_populates_by_hand(void **state)
{
	struct memory m;

	(void)state;
	fake.populate_errno = EINVAL;
	assert_int_equal(memory_map(&m, 3 * MB + 5, false), 0);
	check_mapping(&m, 3 * MB + 5);
}

static void too_little_memory_is_said(void **state)
{
	struct memory m;

	(void)state;
	fake.populate_errno = ENOMEM;
	assert_int_equal(memory_map(&m, MB, false), -ENOMEM);
	assert_int_equal(fake.unmapped, 1);
	assert_null(m.start);
}

static void unmapping_twice(void **state)
{
	struct memory m;

	(void)state;
	assert_int_equal(memory_map(&m, MB, false), 0);
	memory_unmap(&m);
	memory_unmap(&m);
	assert_int_equal(fake.unmapped, 1);
}

static const char maps[] =
	"55d0c2a00000-55d0c2a0e000 r--p 00000000 fd:00 1201                       /usr/bin/rant\n"
	"55d0c2a0e000-55d0c2a7b000 r-xp 0000e000 fd:00 1201                       /usr/bin/rant\n"
	"55d0c3000000-55d0c3021000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
	"7f0000001000-7f0000021000 rw-p 00000000 00:00 0 \n"
	"7f0000100000-7f0000200000 r-xp 00026000 fd:00 77                         /usr/lib/x86_64-linux-gnu/libc.so.6\n"
	"7f0000300000-7f0000308000 r--p 00000000 fd:00 78                         "
	"/usr/lib/x86_64-linux-gnu/libnl-3.so.200.26.0\n"
	"7f0000308000-7f0000317000 r-xp 00008000 fd:00 78                         "
	"/usr/lib/x86_64-linux-gnu/libnl-3.so.200.26.0\n"
	"7f000031f000-7f0000320000 r--p 0001f000 fd:00 78                         "
	"/usr/lib/x86_64-linux-gnu/libnl-3.so.200.26.0\n"
	"7f0000320000-7f0000321000 rw-p 00022000 fd:00 78                         "
	"/usr/lib/x86_64-linux-gnu/libnl-3.so.200.26.0\n"
	"7f0000400000-7f0000402000 r-xp 00008000 fd:00 79                         /usr/lib/libnl-other/libx.so "
	"(deleted)\n"
	"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
	"7ffc00100000-7ffc00104000 r--p 00000000 00:00 0                          [vvar]\n"
	"7ffc00104000-7ffc00106000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0                  [vsyscall]\n";

/* All mappings but libnl's code and constants, which the loop does not call, guards, and mappings of the kernel
 * own. */
static void locking(void **state)
{
	static const struct {
		uintptr_t from, to;
	} wanted[] = {
		{ 0x55d0c2a00000, 0x55d0c2a0e000 }, { 0x55d0c2a0e000, 0x55d0c2a7b000 },
			{ 0x55d0c3000000, 0x55d0c3021000 },
		{ 0x7f0000001000, 0x7f0000021000 }, { 0x7f0000100000, 0x7f0000200000 },
			{ 0x7f0000320000, 0x7f0000321000 },
		{ 0x7f0000400000, 0x7f0000402000 }, { 0x7ffc00000000, 0x7ffc00021000 },
	};

	(void)state;
	fake.maps = maps;
	assert_int_equal(memory_lock(false), 0);
	assert_int_equal(fake.locked, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(fake.locked_from[i], wanted[i].from);
		assert_int_equal(fake.locked_to[i], wanted[i].to);
	}
	/* And the names and the code are given back, but not constants that the dynamic linker has written. */
	assert_int_equal(fake.advised, 2);
	assert_int_equal(fake.advice[0], MADV_DONTNEED);
	assert_int_equal(fake.advice[1], MADV_DONTNEED);
	assert_int_equal((uintptr_t)fake.advised_start, 0x7f0000308000);
	assert_int_equal(fake.advised_bytes, 0xf000);
	assert_int_equal(fake.lock_flags, 0);
}

/* The loop calls it with a key only. */
static void locking_of_libnettle(void **state)
{
	(void)state;
	fake.maps = "7f0000300000-7f000030d000 r--p 00000000 fd:00 78                         /usr/lib/libnettle.so.8.5\n"
		    "7f000030d000-7f0000334000 r-xp 0000d000 fd:00 78                         /usr/lib/libnettle.so.8.5\n";
	assert_int_equal(memory_lock(false), 0);
	assert_int_equal(fake.locked, 0);
	assert_int_equal(fake.advised, 2);
	assert_int_equal((uintptr_t)fake.advised_start, 0x7f000030d000);
	assert_int_equal(memory_lock(true), 0);
	assert_int_equal(fake.locked, 2);
	assert_int_equal(fake.advised, 2);
}

static void locking_is_refused(void **state)
{
	(void)state;
	fake.maps = maps;
	fake.lock_errno_from = 2;
	fake.lock_errno_times = 100;
	fake.lock_errno = EPERM;
	assert_int_equal(memory_lock(false), -EPERM);
	assert_int_equal(fake.lock_calls, 3);
	/* A locked part would reduce the limit by which the stack may grow. */
	assert_int_equal(fake.locked, 0);
	/* Then the program is at least made present: all of it, and writable pages by a write. */
	assert_int_equal(fake.advised, 2);
	assert_int_equal(fake.advice[0], MADV_POPULATE_READ);
	assert_int_equal(fake.advice[1], MADV_POPULATE_WRITE);
	assert_true((char *)fake.advised_start <= (char *)&fake &&
		    (char *)fake.advised_start + fake.advised_bytes >= (char *)(&fake + 1));
	fake.lock_errno = ENOMEM;
	assert_int_equal(memory_lock(false), -ENOMEM);
	assert_int_equal(fake.locked, 0);
}

/* ENOMEM: another thread has unmapped it meanwhile. */
static void a_mapping_that_is_gone(void **state)
{
	(void)state;
	fake.maps =
		    "7f0000001000-7f0000021000 rw-p 00000000 00:00 0 \n7f0000031000-7f0000041000 rw-p 00000000 00:00 0 "
		    "\n";
	fake.lock_errno_from = 1;
	fake.lock_errno_times = 1;
	fake.lock_errno = ENOMEM;
	assert_int_equal(memory_lock(false), 0);
	assert_int_equal(fake.lock_calls, 4);
	assert_int_equal(fake.advised, 0);
}

static void locking_without_a_list(void **state)
{
	(void)state;
	assert_int_equal(memory_lock(false), 0);
	/* Later mappings would need CAP_IPC_LOCK, which is given up. */
	assert_int_equal(fake.lock_flags, MCL_CURRENT);
	assert_int_equal(fake.locked, 0);
	fake.lock_errno_times = 100;
	fake.lock_errno = EPERM;
	assert_int_equal(memory_lock(false), -EPERM);
	assert_int_equal(fake.advised, 2);
}

/* 40 MB are looked at in several parts, the last of which is not whole. */
static void absent_pages(void **state)
{
	struct memory m;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_int_equal(memory_map(&m, 40 * MB + 1, false), 0);
	assert_int_equal(memory_absent_bytes(&m), 0);
	assert_int_equal(__real_madvise((char *)m.start + m.bytes - page, page, MADV_DONTNEED), 0);
	assert_int_equal(memory_absent_bytes(&m), page);
	assert_int_equal(__real_madvise((char *)m.start + 17 * MB, 3 * page, MADV_DONTNEED), 0);
	assert_int_equal(memory_absent_bytes(&m), 4 * page);
	fake.absent_errno = ENOMEM;
	assert_int_equal(memory_absent_bytes(&m), -ENOMEM);
	memory_unmap(&m);
	assert_int_equal(memory_absent_bytes(&m), 0);
}

static void free_memory(void **state)
{
	(void)state;
	assert_true(memory_free_bytes() > 0);
	fake.info_on = true;
	fake.info.freeram = 3000000;
	fake.info.mem_unit = 4096; /* as on large 32-bit machines */
	assert_true(memory_free_bytes() == 3000000ULL * 4096);
	fake.info_fails = true;
	assert_true(memory_free_bytes() == 0);
}

static int stack_with(rlim_t soft_kb, rlim_t hard_kb, rlim_t *got_kb)
{
	struct rlimit limit = { soft_kb << 10, hard_kb << 10 };
	struct util_capture c;
	char said[256];
	int error;

	if (setrlimit(RLIMIT_STACK, &limit))
		return 1;
	util_capture_begin(&c);
	error = memory_allow_stack();
	util_capture_end(&c, said, sizeof(said));
	getrlimit(RLIMIT_STACK, &limit);
	*got_kb = limit.rlim_cur >> 10;
	if (!error != !*said || limit.rlim_max >> 10 != hard_kb)
		return 2;
	return error;
}

/* In a process of its own, for a hard limit is for good. */
static void the_stack_may_grow(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		rlim_t kb;

		if (stack_with(8192, 8192, &kb) || kb != 8192 || stack_with(96, 8192, &kb) || kb != 256 ||
		    stack_with(256, 256, &kb) ||
		    kb != 256)
			_exit(1);
		_exit(stack_with(96, 255, &kb) == -EPERM && kb == 96 ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(real_mappings, fake_off),
		cmocka_unit_test_setup(a_real_attempt_at_huge_pages, fake_off),
		cmocka_unit_test_setup(huge_pages_of_2_mb_come_first, fake_off),
		cmocka_unit_test_setup(then_the_default_size, fake_off),
		cmocka_unit_test_setup(then_normal_pages, fake_off),
		cmocka_unit_test_setup(no_memory_at_all, fake_off),
		cmocka_unit_test_setup(an_older_kernel_populates_by_hand, fake_off),
		cmocka_unit_test_setup(too_little_memory_is_said, fake_off),
		cmocka_unit_test_setup(unmapping_twice, fake_off),
		cmocka_unit_test_setup(locking, fake_off),
		cmocka_unit_test_setup(locking_of_libnettle, fake_off),
		cmocka_unit_test_setup(locking_is_refused, fake_off),
		cmocka_unit_test_setup(a_mapping_that_is_gone, fake_off),
		cmocka_unit_test_setup(locking_without_a_list, fake_off),
		cmocka_unit_test_setup(absent_pages, fake_off),
		cmocka_unit_test_setup(free_memory, fake_off),
		cmocka_unit_test(the_stack_may_grow),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
