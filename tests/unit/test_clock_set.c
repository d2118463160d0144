/* build: wraps=read,timerfd_create,timerfd_settime,close */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The timer that detects a step of CLOCK_REALTIME: its creation, and the results of read(2). The lab
 * (test_kernel_stamps.sh), where a clock may be set, tests it with the kernel. */
#include "host/clock/clock_set.c"

#include "util.h"

#define FAKE_FD 1000

int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old);
int __real_close(int fd);
int __wrap_close(int fd);
ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes);

static struct {
	int create_error, settime_error, read_error, closed;
	bool armed;
} fake;

int __wrap_timerfd_create(int clock, int flags)
{
	assert_int_equal(clock, CLOCK_REALTIME);
	assert_int_equal(flags, TFD_NONBLOCK | TFD_CLOEXEC);
	errno = fake.create_error;
	return errno ? -1 : FAKE_FD;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	assert_int_equal(fd, FAKE_FD);
	assert_int_equal(flags, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	assert_true(value->it_value.tv_sec > 5000000000LL); /* it never expires */
	assert_null(old);
	errno = fake.settime_error;
	fake.armed = !errno;
	return errno ? -1 : 0;
}

ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	if (fd != FAKE_FD)
		return __real_read(fd, to, bytes);
	assert_int_equal(bytes, sizeof(uint64_t));
	assert_true(fake.armed);
	errno = fake.read_error;
	return errno ? -1 : (ssize_t)bytes;
}

int __wrap_close(int fd)
{
	if (fd != FAKE_FD)
		return __real_close(fd);
	fake.closed++;
	errno = 0;
	return 0;
}

static void what_reading_means(void **state)
{
	struct clock_set c;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	assert_int_equal(clock_set_open(&c), 0);
	fake.read_error = EAGAIN;
	assert_false(clock_set_seen(&c));
	fake.read_error = ECANCELED;
	assert_true(clock_set_seen(&c));
	fake.read_error = 0;
	assert_false(clock_set_seen(&c));
	clock_set_close(&c);
	clock_set_close(&c);
	assert_int_equal(fake.closed, 1);
}

static void without_it_nothing_is_promised(void **state)
{
	struct clock_set c;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.create_error = EMFILE;
	assert_int_equal(clock_set_open(&c), -EMFILE);
	assert_int_equal(c.fd, -1);
	fake.create_error = 0;
	fake.settime_error = EINVAL;
	assert_int_equal(clock_set_open(&c), -EINVAL);
	assert_int_equal(c.fd, -1);
	assert_int_equal(fake.closed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_reading_means),
		cmocka_unit_test(without_it_nothing_is_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
