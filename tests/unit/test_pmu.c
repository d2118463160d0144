// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=syscall,read,ioctl sources=host/counters/pmc.c libs= */
/*
 * pmu.c against fake PMUs behind perf_event_open (few machines have a free PMU), and against the kernel's
 * software counters, which every machine has.
 */
#include "host/counters/pmu.c"

#include <sys/stat.h>

#include "golden.h"

#define FAKES 64
#define HARDWARE 10 /* of the events */

static struct {
	bool on;
	int error[PMC_MAX]; /* errno of an event, by its place in events[] */
	bool kernel_refused, refused; /* EACCES */
	int fail_all;
	unsigned fail_from; /* calls from this number on fail with ... */
	int fail_error;
	unsigned group_limit; /* hardware events that a group may have: EINVAL; 0: any */
	unsigned free_counters; /* that the PMU really has left; hardware groups of more are not counted */
	bool rdpmc[PMC_MAX];
	uint32_t index;
	uint16_t width;
	bool shared; /* running < enabled from now on */
	bool enable_fails;

	unsigned calls, opened;
	struct {
		bool enabled;
		int fd, group, event;
		ino_t inode; /* a number of a closed file is soon used again */
		struct perf_event_attr attr;
	} counter[FAKES];
} fake;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

static int event_of(const struct perf_event_attr *attr)
{
	for (int i = 0; i < PMC_MAX; i++)
		if (events[i].type == attr->type && events[i].config == attr->config)
			return i;
	fail_msg("type %u config %llu", attr->type, (unsigned long long)attr->config);
	return -1;
}

static int counter_of(int fd)
{
	struct stat s;

	for (int i = (int)fake.opened - 1; i >= 0; i--)
		if (fake.counter[i].fd == fd && !fstat(fd, &s) && s.st_ino == fake.counter[i].inode)
			return i;
	return -1;
}

static unsigned hardware_in(int group)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fake.opened; i++)
		n += fake.counter[i].attr.type != PERF_TYPE_SOFTWARE && counter_of(fake.counter[i].fd) == (int)i &&
		     (fake.counter[i].fd == group || fake.counter[i].group == group);
	return n;
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

static int fake_open(const struct perf_event_attr *attr, int group)
{
	int event = event_of(attr), fd;
	struct perf_event_mmap_page page = { .index = fake.index, .pmc_width = fake.width };

	fake.calls++;
	if (fake.fail_all || (fake.fail_from && fake.calls >= fake.fail_from))
		return refuse(fake.fail_all ? fake.fail_all : fake.fail_error);
	if (fake.error[event])
		return refuse(fake.error[event]);
	if (fake.refused || (fake.kernel_refused && !attr->exclude_kernel))
		return refuse(EACCES);
	if (fake.group_limit && group >= 0 && event < HARDWARE && hardware_in(group) >= fake.group_limit)
		return refuse(EINVAL);
	struct stat s;

	page.cap_user_rdpmc = fake.rdpmc[event];
	fd = memfd_create("counter", MFD_CLOEXEC);
	assert_true(fd >= 0 && fake.opened < FAKES);
	assert_int_equal(ftruncate(fd, sysconf(_SC_PAGESIZE)), 0);
	assert_int_equal(pwrite(fd, &page, sizeof(page), 0), sizeof(page));
	assert_int_equal(fstat(fd, &s), 0);
	fake.counter[fake.opened].inode = s.st_ino;
	fake.counter[fake.opened].fd = fd;
	fake.counter[fake.opened].group = group;
	fake.counter[fake.opened].event = event;
	fake.counter[fake.opened++].attr = *attr;
	return fd;
}

long __wrap_syscall(long number, ...)
{
	va_list ap;

	va_start(ap, number);
	const struct perf_event_attr *attr = va_arg(ap, const struct perf_event_attr *);
	int pid = va_arg(ap, int), cpu = va_arg(ap, int), group = va_arg(ap, int);
	unsigned long flags = va_arg(ap, unsigned long);

	va_end(ap);
	if (!fake.on)
		return __real_syscall(number, attr, pid, cpu, group, flags);
	assert_int_equal(number, SYS_perf_event_open);
	assert_int_equal(pid, 0);
	assert_int_equal(cpu, -1);
	assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
	return fake_open(attr, group);
}

ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	int i = fake.on ? counter_of(fd) : -1;
	int leader = i < 0 ? -1 : fake.counter[i].group < 0 ? fd : fake.counter[i].group;
	uint64_t raw[4] = { 1, 1000, fake.shared ? 900 : 1000, 5 };

	if (i < 0)
		return __real_read(fd, to, bytes);
	/* A pinned group that does not fit. */
	if (hardware_in(leader) > fake.free_counters)
		return 0;
	assert_true(bytes >= sizeof(raw));
	memcpy(to, raw, sizeof(raw));
	return sizeof(raw);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	int i = fake.on ? counter_of(fd) : -1;

	if (i < 0)
		return __real_ioctl(fd, request, 0);
	assert_true(request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE);
	if (fake.enable_fails)
		return refuse(EIO);
	fake.counter[i].enabled = request == PERF_EVENT_IOC_ENABLE;
	return 0;
}

/* ---- Small things ------------------------------------------------------------------------------------------------ */

static struct pmc p;
static char said[1024];
static int first_fd;

static int lowest_free_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static int fake_on(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.on = true;
	fake.free_counters = HARDWARE;
	fake.index = 1;
	fake.width = 48;
	for (int i = 0; i < HARDWARE; i++)
		fake.rdpmc[i] = true;
	first_fd = lowest_free_fd();
	return 0;
}

static int fake_off(void **state)
{
	(void)state;
	pmc_close(&p);
	fake.on = false;
	return lowest_free_fd() == first_fd ? 0 : -1;
}

static int real_on(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	first_fd = lowest_free_fd();
	return 0;
}

static int open_said(bool system_calls)
{
	struct util_capture capture;
	int result;

	util_capture_begin(&capture);
	result = pmc_open(&p, system_calls);
	util_capture_end(&capture, said, sizeof(said));
	return result;
}

static void assert_names(const char *expected)
{
	char text[512] = "";

	for (unsigned i = 0; i < p.counters; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "", pmc_name(&p, i));
	}
	assert_string_equal(text, expected);
}

#define ALL_HARDWARE "cycles instructions cache-references cache-misses branch-misses stalled-cycles-backend " \
	"dTLB-load-misses iTLB-load-misses L1-dcache-load-misses LLC-load-misses"
#define ALL_SOFTWARE "page-faults context-switches cpu-migrations"
#define MACHINE_WITHOUT_PMU "cycles, instructions, cache-references, cache-misses, branch-misses, " \
	"stalled-cycles-backend, dTLB-load-misses, iTLB-load-misses, L1-dcache-load-misses, LLC-load-misses"

/* ---- Fake PMUs --------------------------------------------------------------------------------------------------- */

static void skip_without_rdpmc(void)
{
#if !defined(__x86_64__)
	print_message("counters are read by rdpmc on x86-64 only\n");
	skip();
#endif
}

static void test_all_by_rdpmc(void **state)
{
	(void)state;
	skip_without_rdpmc();
	assert_int_equal(open_said(false), 0);
	assert_string_equal(said, "");
	assert_names(ALL_HARDWARE);
	assert_int_equal(p.direct, HARDWARE);
	assert_int_equal(p.system_calls, 0);
	assert_int_equal(p.group_fd, -1);
	assert_true(p.software_left_out);
	assert_false(p.user_only);
	assert_string_equal(p.missing, "");
	for (unsigned i = 0; i < fake.opened; i++) {
		const struct perf_event_attr *attr = &fake.counter[i].attr;

		assert_int_equal(fake.counter[i].group, i ? fake.counter[0].fd : -1);
		assert_int_equal(attr->pinned, i == 0);
		assert_int_equal(attr->disabled, i == 0);
		assert_int_equal(attr->size, sizeof(*attr));
		assert_int_equal(attr->exclude_kernel, 0);
		assert_int_equal(attr->read_format, PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				 PERF_FORMAT_TOTAL_TIME_RUNNING);
		assert_non_null(p.page[i]);
	}
	assert_true(fake.counter[0].enabled);
}

static void test_software_beside_rdpmc(void **state)
{
	(void)state;
	skip_without_rdpmc();
	assert_int_equal(open_said(true), 0);
	assert_names(ALL_HARDWARE " " ALL_SOFTWARE);
	assert_int_equal(p.direct, HARDWARE);
	assert_int_equal(p.system_calls, 2);
	assert_false(p.software_left_out);
	/* A group of their own, so that its read() does not count events of the registers. */
	assert_int_equal(fake.counter[HARDWARE].group, -1);
	assert_int_equal(p.group_fd, fake.counter[HARDWARE].fd);
	assert_int_equal(fake.counter[HARDWARE + 2].group, p.group_fd);
	assert_true(fake.counter[HARDWARE].enabled);
}

static void assert_one_group(void)
{
	assert_int_equal(open_said(false), 0);
	assert_names(ALL_HARDWARE " " ALL_SOFTWARE);
	assert_int_equal(p.direct, 0);
	assert_int_equal(p.system_calls, 2);
	assert_int_equal(p.group_fd, fake.counter[0].fd);
	assert_int_equal(fake.counter[HARDWARE].group, fake.counter[0].fd);
	assert_false(p.software_left_out);
	for (int i = 0; i < PMC_MAX; i++)
		assert_null(p.page[i]);
}

static void test_one_without_rdpmc(void **state)
{
	(void)state;
	fake.rdpmc[HARDWARE - 1] = false;
	assert_one_group();
}

static void test_not_on_a_register(void **state)
{
	(void)state;
	fake.index = 0;
	assert_one_group();
}

static void test_odd_width(void **state)
{
	(void)state;
	fake.width = 0;
	assert_one_group();
}

static void test_too_wide(void **state)
{
	(void)state;
	fake.width = 65;
	assert_one_group();
}

static void test_missing_are_named(void **state)
{
	(void)state;
	fake.error[5] = ENOENT;
	fake.error[7] = EOPNOTSUPP;
	fake.error[9] = EINVAL;
	assert_int_equal(open_said(true), 0);
	assert_string_equal(said, "");
	assert_names("cycles instructions cache-references cache-misses branch-misses dTLB-load-misses "
		     "L1-dcache-load-misses " ALL_SOFTWARE);
	assert_string_equal(p.missing, "stalled-cycles-backend, iTLB-load-misses, LLC-load-misses");
}

static void test_first_is_missing(void **state)
{
	(void)state;
	fake.error[0] = ENOENT;
	assert_int_equal(open_said(true), 0);
	assert_string_equal(p.missing, "cycles");
	assert_int_equal(fake.counter[0].event, 1);
	assert_int_equal(fake.counter[0].attr.pinned, 1);
	assert_true(fake.counter[0].enabled);
}

static void test_small_pmu(void **state)
{
	(void)state;
	fake.group_limit = 4;
	assert_int_equal(open_said(true), 0);
	assert_names("cycles instructions cache-references cache-misses " ALL_SOFTWARE);
	assert_string_equal(p.missing, "branch-misses, stalled-cycles-backend, dTLB-load-misses, iTLB-load-misses, "
			    "L1-dcache-load-misses, LLC-load-misses");
}

/* The kernel accepts a group for which the watchdog's counter leaves no counter. */
static void test_taken_counter(void **state)
{
	(void)state;
	fake.group_limit = 4;
	fake.free_counters = 3;
	assert_int_equal(open_said(true), 0);
	assert_names("cycles instructions cache-references " ALL_SOFTWARE);
	assert_non_null(strstr(p.missing, "LLC-load-misses, cache-misses"));
	assert_true(fake.counter[0].enabled);
}

static void test_all_taken(void **state)
{
	(void)state;
	fake.free_counters = 0;
	assert_int_equal(open_said(false), 0);
	assert_names(ALL_SOFTWARE);
	assert_int_equal(p.system_calls, 2);
	/* A group of its own: the leader of the other is closed. */
	assert_int_equal(fake.counter[HARDWARE].group, -1);
	assert_int_equal(p.group_fd, fake.counter[HARDWARE].fd);
	assert_true(fake.counter[HARDWARE].enabled);
}

static void test_no_pmu(void **state)
{
	(void)state;
	for (int i = 0; i < HARDWARE; i++)
		fake.error[i] = ENOENT;
	assert_int_equal(open_said(false), 0);
	assert_string_equal(said, "");
	assert_names(ALL_SOFTWARE);
	assert_string_equal(p.missing, MACHINE_WITHOUT_PMU);
	assert_int_equal(p.direct, 0);
}

static void test_nothing_at_all(void **state)
{
	(void)state;
	fake.fail_all = ENOENT;
	assert_int_equal(open_said(false), -ENODEV);
	golden_line(said);
}

/* Events in the kernel only would count as 0. */
static void test_user_only(void **state)
{
	(void)state;
	fake.kernel_refused = true;
	assert_int_equal(open_said(true), 0);
	assert_string_equal(said, "");
	assert_true(p.user_only);
	assert_names(ALL_HARDWARE " page-faults");
	assert_string_equal(p.missing, "context-switches, cpu-migrations");
	assert_int_equal(fake.counter[0].attr.exclude_kernel, 1);
	assert_int_equal(fake.counter[1].attr.exclude_kernel, 1);
}

static void test_refused(void **state)
{
	const char *level;
	char hidden[32];

	(void)state;
	fake.refused = true;
	assert_int_equal(open_said(false), -EACCES);
	level = strstr(said, "paranoid is ");
	assert_non_null(level);
	snprintf(hidden, sizeof(hidden), "%.*s", (int)strcspn(level, ")"), level);
	golden_hide("paranoid is N", hidden);
	golden_line(said);
	assert_int_equal(fake.calls, 2); /* with and without the kernel's part */
}

static void test_not_built(void **state)
{
	(void)state;
	fake.fail_all = ENOSYS;
	assert_int_equal(open_said(false), -ENOSYS);
	golden_line(said);
}

static void test_no_more_files(void **state)
{
	(void)state;
	for (unsigned from = 1; from <= PMC_MAX; from++) {
		fake.calls = fake.opened = 0;
		fake.fail_from = from;
		fake.fail_error = EMFILE;
		assert_int_equal(open_said(true), -EMFILE);
		golden_line(said);
		assert_int_equal(lowest_free_fd(), first_fd);
		assert_int_equal(p.counters, 0);
	}
}

static void test_enable_fails(void **state)
{
	(void)state;
	fake.enable_fails = true;
	assert_int_equal(open_said(true), -EIO);
	golden_line(said);
}

static void test_partial(void **state)
{
	(void)state;
	assert_int_equal(open_said(true), 0);
	p.idle[2] = true;
	pmc_finish(&p);
	for (unsigned i = 0; i < p.counters; i++)
		assert_int_equal(p.partial[i], i == 2);
	fake.shared = true;
	pmc_finish(&p);
	for (unsigned i = 0; i < p.counters; i++)
		assert_true(p.partial[i]);
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

static int find(const char *name)
{
	for (unsigned i = 0; i < p.counters; i++)
		if (!strcmp(pmc_name(&p, i), name))
			return (int)i;
	return -1;
}

static void open_or_skip(void)
{
	if (open_said(true)) {
		print_message("no counters here: %s", said);
		skip();
	}
}

static void touch_pages(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)memory)[i * page] = 1;
	munmap(memory, pages * page);
}

static void test_software_counters(void **state)
{
	int faults, switches, switched = 0;

	(void)state;
	open_or_skip();
	faults = find("page-faults");
	switches = find("context-switches");
	if (faults < 0 || switches < 0) {
		print_message("the kernel's part is not counted: not allowed\n");
		skip();
	}
	for (int round = 0; round < 20; round++) {
		pmc_begin(&p);
		touch_pages(50);
		usleep(1000);
		assert_true(pmc_end(&p));
		assert_true(p.delta[faults] >= 50 && p.delta[faults] < 500);
		switched += p.delta[switches] >= 1;
		pmc_account(&p, round == 7);
	}
	/* A sleep whose end comes before the CPU is given away, since the machine stood still, is none. */
	assert_true(switched >= 10);
	assert_int_equal(p.quick, 19);
	assert_true(p.quick_sum[faults] >= 19 * 50);
	assert_true(p.spike[faults] >= 50);
	/* Work between two exchanges belongs to none. */
	pmc_begin(&p);
	assert_true(pmc_end(&p));
	touch_pages(1000);
	pmc_begin(&p);
	assert_true(pmc_end(&p));
	assert_true(p.delta[faults] < 500);
	pmc_finish(&p);
	assert_false(p.partial[faults] || p.partial[switches]);
	assert_int_equal(p.failed, 0);
}

static void test_hardware_counters(void **state)
{
	int cycles, instructions;
	uint64_t before;

	(void)state;
	open_or_skip();
	cycles = find("cycles");
	instructions = find("instructions");
	if (cycles < 0 || instructions < 0) {
		print_message("this machine has no hardware counters that are free\n");
		skip();
	}
	pmc_begin(&p);
	assert_true(pmc_end(&p));
	before = p.delta[instructions];
	pmc_begin(&p);
	for (volatile int i = 0; i < 1000000; i++)
		;
	assert_true(pmc_end(&p));
	assert_true(p.delta[instructions] >= before + 2000000 && p.delta[instructions] < 1000000000);
	assert_true(p.delta[cycles] > 100000);
}

#define FAKE(f) cmocka_unit_test_setup_teardown(f, fake_on, fake_off)
#define REAL(f) cmocka_unit_test_setup_teardown(f, real_on, fake_off)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE(test_all_by_rdpmc), FAKE(test_software_beside_rdpmc), FAKE(test_one_without_rdpmc),
		FAKE(test_not_on_a_register), FAKE(test_odd_width), FAKE(test_too_wide), FAKE(test_missing_are_named),
		FAKE(test_first_is_missing), FAKE(test_small_pmu), FAKE(test_taken_counter), FAKE(test_all_taken),
		FAKE(test_no_pmu), FAKE(test_nothing_at_all), FAKE(test_user_only), FAKE(test_refused),
		FAKE(test_not_built), FAKE(test_no_more_files), FAKE(test_enable_fails), FAKE(test_partial),
		REAL(test_software_counters), REAL(test_hardware_counters),
	};

	return golden_run(tests);
}
