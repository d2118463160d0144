// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * set_clock NS: sets CLOCK_REALTIME forward or back by exactly so much, as date(1) cannot: it first reads the clock.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <sys/timex.h>

#define NS_PER_S 1000000000LL

int main(int argc, char **argv)
{
	long long ns = argc == 2 ? strtoll(argv[1], NULL, 10) : 0;
	struct timex t = { .modes = ADJ_SETOFFSET | ADJ_NANO };

	if (!ns)
		errx(1, "usage: set_clock NS");
	t.time.tv_sec = ns / NS_PER_S - (ns % NS_PER_S < 0);
	t.time.tv_usec = ns % NS_PER_S + (ns % NS_PER_S < 0 ? NS_PER_S : 0); /* ns, by ADJ_NANO */
	if (adjtimex(&t) < 0)
		err(1, "adjtimex");
	return 0;
}
