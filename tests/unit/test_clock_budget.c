/* build: wraps=clock_gettime sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The limit of readings a second: alone, shared by several processes, and with files that nobody may use. */
#include "host/clock/clock_budget.c"

#include "util.h"

#include <sys/wait.h>

#define LIMIT 100

static char folder[64];
static int64_t now_ns; /* 0: the real clock */

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!now_ns)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ now_ns / NS_PER_S, now_ns % NS_PER_S };
	return 0;
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/rant-budget.XXXXXX");
	assert_non_null(mkdtemp(folder));
	strcat(folder, "/rant");
	budget_folder = folder;
	now_ns = 5000 * NS_PER_S;
	return 0;
}

static const char *file(void)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/reads-ptp7", folder);
	return path;
}

static int remove_folder(void **state)
{
	(void)state;
	now_ns = 0;
	unlink(file());
	unlink(folder);
	rmdir(folder);
	*strrchr(folder, '/') = '\0';
	return rmdir(folder);
}

static struct clock_budget opened(void)
{
	struct clock_budget b;

	clock_budget_open(&b, 7, LIMIT);
	if (b.fd < 0)
		fail_msg("not shared: %s", strerror(b.error));
	return b;
}

static unsigned granted(struct clock_budget *b, unsigned requests, uint32_t reads)
{
	unsigned n = 0;

	for (unsigned i = 0; i < requests; i++)
		n += clock_budget_take(b, reads) ? reads : 0;
	return n;
}

static void no_limit(void **state)
{
	struct clock_budget b;

	(void)state;
	clock_budget_open(&b, 7, 0);
	assert_int_equal(b.fd, -1);
	assert_int_equal(b.error, 0);
	assert_int_equal(granted(&b, 1000, 5), 5000);
	assert_int_equal(b.waits, 0);
	clock_budget_close(&b);
	assert_int_equal(access(folder, F_OK), -1);
}

/* Any second has at most LIMIT readings, whatever its start. */
static void no_second_has_more(void **state)
{
	struct clock_budget b = opened();
	static int64_t at_ns[4096];
	unsigned n = 0, requests = 0;

	(void)state;
	for (int64_t end_ns = now_ns + 20 * NS_PER_S; now_ns < end_ns; now_ns += (int64_t)util_below(20 * NS_PER_MS)) {
		uint32_t reads = 1 + (uint32_t)util_below(7);

		requests++;
		if (!clock_budget_take(&b, reads))
			continue;
		for (uint32_t i = 0; i < reads; i++)
			at_ns[n++] = now_ns;
	}
	assert_true(n > 19 * (LIMIT - 7) && n <= 21 * LIMIT);
	for (unsigned i = 0; i + LIMIT < n; i++)
		assert_true(at_ns[i + LIMIT] - at_ns[i] >= NS_PER_S);
	assert_true(b.waits > 0 && b.waits < requests);
	clock_budget_close(&b);
}

/* The first rant does not keep the others out, and a rant that ends leaves its share. */
static void shares_are_equal(void **state)
{
	struct clock_budget b[3] = { opened(), opened(), opened() };
	unsigned n[3] = { 0 };

	(void)state;
	assert_true(b[0].owner != b[1].owner && b[1].owner != b[2].owner);
	assert_int_equal(granted(&b[0], 1000, 4), LIMIT);
	for (int s = 0; s < 200; s++, now_ns += 50 * NS_PER_MS)
		for (int i = 0; i < 3; i++)
			n[i] += granted(&b[i], 100, 4);
	for (int i = 0; i < 3; i++) {
		if (n[i] < 9 * (LIMIT / 3 - 4) || n[i] > 10 * (LIMIT / 3) + LIMIT)
			fail_msg("rant %d: %u readings in 10 s", i, n[i]);
	}
	clock_budget_close(&b[1]);
	clock_budget_close(&b[2]);
	now_ns += 3 * NS_PER_S;
	assert_int_equal(granted(&b[0], 1000, 4), LIMIT);
	clock_budget_close(&b[0]);
}

/* More rants than the ledger has entries, each with less than a request for its share. */
static void many_rants(void **state)
{
	enum { RANTS = CLOCK_BUDGET_USERS + 8 };
	static struct clock_budget b[RANTS];
	unsigned all = 0, without = 0;

	(void)state;
	for (int i = 0; i < RANTS; i++)
		b[i] = opened();
	for (int i = 0; i < RANTS; i++) {
		unsigned n = granted(&b[i], 5, 4);

		all += n;
		without += !n;
	}
	assert_true(all <= LIMIT && all > LIMIT - 4);
	assert_true(without < RANTS);
	for (int i = 0; i < RANTS; i++)
		clock_budget_close(&b[i]);
}

static void child(int to)
{
	struct clock_budget b = opened();
	struct timespec pause = { .tv_nsec = 3 * NS_PER_MS };
	int64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + 2500 * NS_PER_MS;

	while (clock_read_ns(CLOCK_MONOTONIC) < end_ns) {
		int64_t row[2] = { getpid(), clock_read_ns(CLOCK_MONOTONIC) };

		if (clock_budget_take(&b, 4))
			assert_int_equal(write(to, row, sizeof(row)), sizeof(row));
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

/* A grant is noted before it is given, so any second has at most the limit also by the times at which they were given;
 * the requests of a child begin up to a scheduling delay earlier. */
static void three_processes(void **state)
{
	static struct { int64_t pid, at_ns; } row[1024];
	int fd[2], n = 0, each[3] = { 0 };
	pid_t pid[3];

	(void)state;
	now_ns = 0;
	assert_int_equal(pipe(fd), 0);
	for (int i = 0; i < 3; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i])
			child(fd[1]);
	}
	close(fd[1]);
	while (n < 1024 && read(fd[0], &row[n], sizeof(row[n])) == sizeof(row[n]))
		n++;
	for (int i = 0; i < 3; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
		for (int k = 0; k < n; k++)
			each[i] += row[k].pid == pid[i];
		if (each[i] < 8) /* of 20 by equal shares */
			fail_msg("process %d: %d of %d grants", i, each[i], n);
	}
	close(fd[0]);
	/* 2.5 s have parts of at most three full seconds. */
	assert_true(n <= 3 * LIMIT / 4);
	assert_true(n >= LIMIT / 4);
}

/* A process that died with the lock held, or in the middle of writing. */
static void after_a_crash(void **state)
{
	struct clock_budget b = opened();
	uint8_t garbage[sizeof(struct clock_ledger)];
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		struct clock_budget other = opened();

		_exit(!lock(other.fd, F_WRLCK));
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(clock_budget_take(&b, 4));
	for (int i = 0; i < 200; i++) {
		util_random_bytes(garbage, sizeof(garbage));
		if (i % 2)
			memcpy(garbage, &(uint32_t){ VERSION }, sizeof(uint32_t));
		assert_int_equal(ftruncate(b.fd, 0), 0);
		assert_true(pwrite(b.fd, garbage, 1 + util_below(sizeof(garbage)), 0) > 0);
		now_ns += 2 * NS_PER_S;
		assert_int_equal(granted(&b, 1000, 1), LIMIT);
	}
	clock_budget_close(&b);
}

/* While another process holds the lock nothing is granted; the wait for it is limited. */
static void a_lock_that_is_held(void **state)
{
	struct clock_budget b = opened(), other = opened();

	(void)state;
	assert_true(lock(other.fd, F_WRLCK));
	assert_false(clock_budget_take(&b, 1));
	assert_int_equal(b.waits, 1);
	assert_true(lock(other.fd, F_UNLCK));
	assert_true(clock_budget_take(&b, 1));
	clock_budget_close(&b);
	clock_budget_close(&other);
}

static void expect_alone(int error)
{
	struct clock_budget b;

	clock_budget_open(&b, 7, LIMIT);
	assert_int_equal(b.fd, -1);
	assert_int_equal(b.error, error);
	assert_int_equal(b.reads_per_s, LIMIT / 4);
	assert_int_equal(granted(&b, 1000, 4), LIMIT / 4 / 4 * 4);
	now_ns += NS_PER_S;
	assert_int_equal(granted(&b, 1000, 4), LIMIT / 4 / 4 * 4);
	clock_budget_close(&b);
}

static void files_that_are_not_ours(void **state)
{
	(void)state;
	/* Links, at either level. */
	assert_int_equal(symlink("/tmp", folder), 0);
	expect_alone(ENOTDIR);
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(symlink("elsewhere", file()), 0);
	expect_alone(ELOOP);
	assert_int_equal(unlink(file()), 0);
	/* A file with two names, and no file. */
	assert_int_equal(mkfifo(file(), 0600), 0);
	expect_alone(EPERM);
	assert_int_equal(unlink(file()), 0);
	/* Others may write. */
	assert_int_equal(chmod(folder, 0770), 0);
	expect_alone(EPERM);
	assert_int_equal(chmod(folder, 0700), 0);
	clock_budget_close(&(struct clock_budget){ .fd = opened().fd, .reads_per_s = 1 });
	assert_int_equal(chmod(file(), 0622), 0);
	expect_alone(EPERM);
	assert_int_equal(chmod(file(), 0600), 0);
	if (geteuid())
		return;
	assert_int_equal(chown(file(), 1, 1), 0);
	expect_alone(EPERM);
	assert_int_equal(unlink(file()), 0);
	assert_int_equal(chown(folder, 1, 1), 0);
	expect_alone(EPERM);
}

static void the_file_is_private(void **state)
{
	struct clock_budget b;
	struct stat s;
	mode_t before = umask(0);

	(void)state;
	b = opened();
	umask(before);
	assert_int_equal(stat(folder, &s), 0);
	assert_int_equal(s.st_mode, S_IFDIR | 0700);
	assert_int_equal(stat(file(), &s), 0);
	assert_int_equal(s.st_mode, S_IFREG | 0600);
	assert_true(fcntl(b.fd, F_GETFD) & FD_CLOEXEC);
	clock_budget_close(&b);
	assert_int_equal(b.fd, -1);
	clock_budget_close(&b);
	budget_folder = "/proc/nowhere";
	expect_alone(ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_limit), TEST(no_second_has_more), TEST(shares_are_equal), TEST(many_rants),
		TEST(three_processes), TEST(after_a_crash), TEST(a_lock_that_is_held), TEST(files_that_are_not_ours),
		TEST(the_file_is_private),
	};

	util_seed();
	return cmocka_run_group_tests_name("clock_budget", tests, NULL, NULL);
}
