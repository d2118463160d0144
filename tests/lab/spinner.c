// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spinner COUNT SPIN_MS PAUSE_MS: takes its CPU so often and so long, with the policy that it was started with, and prints a line
 * "FROM UNTIL" of CLOCK_REALTIME in ns each time.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: spinner COUNT SPIN_MS PAUSE_MS");
	const int64_t spin_ns = atoll(argv[2]) * 1000000;
	const long pause_ms = atol(argv[3]);
	const struct timespec pause = { .tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000 };

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
	for (long left = atol(argv[1]); left; left--) {
		nanosleep(&pause, NULL);
		const int64_t from = now_ns();
		int64_t until;

		while ((until = now_ns()) - from < spin_ns)
			;
		printf("%lld %lld\n", (long long)from, (long long)until);
	}
	return 0;
}
