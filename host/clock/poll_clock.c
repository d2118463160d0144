// SPDX-License-Identifier: GPL-2.0-or-later
/* Choice and frequency of the counter for poll gaps. */
#include "host/clock/poll_clock.h"

#include "host/file.h"

#define CALIBRATION_NS (5 * NS_PER_MS)
#define AGREES_PER_MILLE 1 /* a gap is read to three digits */

static const char clocksource[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/* The kernel checks the counters of all CPUs against each other and against other clocks before it uses them, and goes on
 * to check (Documentation/timers/timekeeping.rst, Documentation/virt/kvm/x86/timekeeping.rst). */
static bool kernel_uses_counter(void)
{
	char name[32];

	return file_read(clocksource, name, sizeof(name)) > 0 && !strcmp(name, "tsc\n");
}

/* Both clocks, read within the shortest time of a few attempts. */
static void read_both(const struct poll_clock *c, int64_t *ticks, int64_t *ns)
{
	int64_t least_ns = INT64_MAX;

	for (int i = 0; i < 8; i++) {
		const int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC), read = poll_clock_read(c);
		const int64_t took_ns = clock_read_ns(CLOCK_MONOTONIC) - before_ns;

		if (took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		*ticks = read;
		*ns = before_ns + took_ns / 2;
	}
}

void poll_clock_open(struct poll_clock *c)
{
	int64_t ticks, ns;

	*c = (struct poll_clock){ 0 };
#ifdef __x86_64__
	if (!kernel_uses_counter())
		return;
	c->ns_per_tick = 1;
	read_both(c, &c->begun_ticks, &c->begun_ns);
	while (clock_read_ns(CLOCK_MONOTONIC) - c->begun_ns < CALIBRATION_NS)
		;
	read_both(c, &ticks, &ns);
	c->ns_per_tick = ticks > c->begun_ticks ?
			 (uint64_t)(((__int128)(ns - c->begun_ns) << 32) / (ticks - c->begun_ticks)) : 0;
#else
	(void)ticks, (void)ns;
#endif
}

bool poll_clock_agrees(const struct poll_clock *c)
{
	int64_t ticks, ns;

	if (!c->ns_per_tick)
		return true;
	if (!kernel_uses_counter())
		return false;
	read_both(c, &ticks, &ns);
	ns -= c->begun_ns;
	ticks = poll_clock_ns(c, ticks - c->begun_ticks) - ns;
	return (ticks < 0 ? -ticks : ticks) <= ns / 1000 * AGREES_PER_MILLE + NS_PER_MS;
}
