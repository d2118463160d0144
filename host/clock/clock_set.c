// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timer that never expires, of CLOCK_REALTIME: with TFD_TIMER_CANCEL_ON_SET (timerfd_create(2)) reading it fails with
 * ECANCELED once for all times that the clock was set since the last reading, however far it is off in the end.
 */
#include "host/clock/clock_set.h"

#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

int clock_set_open(struct clock_set *c)
{
	/* the year 2262, the last one of the kernel */
	const struct itimerspec never = { .it_value.tv_sec = INT64_MAX / NS_PER_S - 1 };
	int error;

	c->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->fd >= 0 && !timerfd_settime(c->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL))
		return 0;
	error = errno;
	clock_set_close(c);
	warnx("the kernel does not tell when CLOCK_REALTIME is set (timerfd: %s), by which samples that it spoils are "
	      "found: "
	      "--no-step-check goes without", strerror(error));
	return -error;
}

bool clock_set_seen(const struct clock_set *c)
{
	uint64_t expirations;

	return read(c->fd, &expirations, sizeof(expirations)) < 0 && errno == ECANCELED;
}

void clock_set_close(struct clock_set *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}
