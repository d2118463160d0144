// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timer of CLOCK_REALTIME that never expires: with TFD_TIMER_CANCEL_ON_SET (timerfd_create(2)), read(2) fails once
 * with ECANCELED if the clock was set since the last read(2), by any amount and any number of times.
 */
#include "host/clock/clock_set.h"

#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

int clock_set_open(struct clock_set *c)
{
	/* the year 2262, the last year of the kernel's clock */
	const struct itimerspec never = { .it_value.tv_sec = INT64_MAX / NS_PER_S - 1 };
	int error;

	c->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->fd >= 0 && !timerfd_settime(c->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL))
		return 0;
	error = errno;
	clock_set_close(c);
	warnx("cannot detect samples taken across a step of CLOCK_REALTIME (timerfd: %s): run with --no-step-check to "
	      "measure without this check", strerror(error));
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
