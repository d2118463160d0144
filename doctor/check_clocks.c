// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the clocks: the clock of the NIC, and the cost of reading the system clock. */
#include "doctor/inside.h"
#include "host/nic/nic.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHC_READS 101
#define PHC_READS_BRIEF 11
#define PHC_READS_LIMITED 5 /* of a clock that refuses more than some readings a second: others need them */
#define CLOCK_BATCHES 10
#define CLOCK_READS 100 /* of each */
#define PHC_PAUSE_NS (10 * NS_PER_MS)

struct phc_readings {
	int reads, refused;
	int error; /* errno of the last refused reading */
	int64_t took_ns[PHC_READS], phc_ns[PHC_READS];
	int64_t phc_elapsed_ns, elapsed_ns; /* from the first reading to the last, by the clocks of NIC and system */
	int64_t open_ns; /* uncertainty of these two: the time that the first and the last reading took */
};

/* Errors of a clock that exists while its driver or firmware is busy. */
static bool is_busy(int error)
{
	return error == EBUSY || error == EAGAIN || error == ETIMEDOUT || error == EINTR;
}

/*
 * Makes `wanted` readings, each between two readings of the system clock, in at most twice as many tries, because a
 * busy clock refuses some, and slowly. Returns 0, with fewer in r->reads after too many refusals; or errno.
 */
static int read_phc(int fd, int wanted, struct phc_readings *r)
{
	clockid_t clock = clock_of_fd(fd);
	int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC_RAW), first_ns = 0, before_ns = began_ns;
	struct timespec t;

	*r = (struct phc_readings){ 0 };
	while (r->reads < wanted && r->refused < wanted && before_ns - began_ns <= wanted * PHC_PAUSE_NS) {
		/* A pause before the last reading makes a wrong rate visible. */
		if (r->reads == wanted - 1)
			while (clock_read_ns(CLOCK_MONOTONIC_RAW) - before_ns < PHC_PAUSE_NS)
				;
		before_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
		if (clock_gettime(clock, &t)) {
			if (!is_busy(errno))
				return errno;
			r->error = errno;
			r->refused++;
			continue;
		}
		r->took_ns[r->reads] = clock_read_ns(CLOCK_MONOTONIC_RAW) - before_ns;
		r->phc_ns[r->reads] = t.tv_sec * NS_PER_S + t.tv_nsec;
		if (!r->reads++)
			first_ns = before_ns;
	}
	if (r->reads < wanted)
		return 0;
	r->elapsed_ns = before_ns - first_ns;
	r->open_ns = r->took_ns[0] + r->took_ns[wanted - 1];
	r->phc_elapsed_ns = r->phc_ns[wanted - 1] - r->phc_ns[0];
	return 0;
}

static void judge_phc(struct check *c, const char *path, struct phc_readings *r)
{
	int64_t step_ns = 0, off_ns = r->phc_elapsed_ns - r->elapsed_ns;
	char where[64];

	for (int i = 1; i < r->reads; i++)
		step_ns = common_divisor(step_ns, r->phc_ns[i] - r->phc_ns[i - 1]);
	qsort(r->took_ns, (size_t)r->reads, sizeof(r->took_ns[0]), compare_ns);
	snprintf(where, sizeof(where), "%s, " CHECK_NOW, path);
	int64_t slack_ns = r->elapsed_ns / 100 + r->open_ns;

	if (!step_ns)
		check_say(c, FAIL, where, "hardware timestamps are meaningless", "ethtool -T, dmesg",
			  "stands still");
	else if (off_ns > slack_ns || off_ns < -slack_ns)
		check_say(c, FAIL, where, "another program set the clock, or it is broken: round trips are wrong",
			  "see 'users'; dmesg", "advanced %lld ns while the system clock advanced %lld ns",
			  (long long)r->phc_elapsed_ns, (long long)r->elapsed_ns);
	else
		check_say(c, OK, where, NULL, NULL,
			  "runs; a reading takes %lld ns (median of %d), resolution %lld ns",
			  (long long)r->took_ns[r->reads / 2], r->reads, (long long)step_ns);
}

/* The device cannot be opened or read. */
static void say_no_phc(struct check *c, const char *path, int error)
{
	const char *why = "only packets relate times of user space to the NIC clock, within microseconds", *cure;

	if (options_place_sent(c->options))
		return check_say(c, FAIL, path,
				 "rant will not start, sent packets would have no place on the NIC clock's scale",
				 "rant --stamp kernel", "cannot be read: %s", strerror(error));
	if (error == EACCES || error == EPERM)
		cure = check_command(c, "run as root, or setfacl -m u:NAME:r %s", path);
	else if (error == ENOENT || error == ENODEV || error == ENXIO)
		cure = "create the device node, see ls /dev/ptp*";
	else
		cure = "see dmesg for messages of the driver";
	check_say(c, WARN, path, why, cure, "cannot be read: %s", strerror(error));
}

static void say_busy_phc(struct check *c, const char *path, int refused, int tries, int error)
{
	check_say(c, WARN, path, "without readings, times of user space cannot be converted to the NIC clock",
		  check_command(c, "stop the programs that read it ('fuser -v %s'); dmesg shows resets of the NIC",
				path),
		  "busy, refused %d of %d readings: %s", refused, tries, strerror(error));
}

static int wanted_reads(const struct check *c)
{
	const struct nic_driver *d = check_find_driver(c);

	return d && d->reads_per_s ? PHC_READS_LIMITED : c->brief ? PHC_READS_BRIEF : PHC_READS;
}

static void look_at_phc(struct check *c)
{
	const int wanted = wanted_reads(c);
	char path[32], full[PATH_MAX];
	struct phc_readings r;
	int fd, error;

	if (c->abilities_error)
		return check_not_known(c, CHECK_TSINFO, -c->abilities_error);
	if (c->nic.can.phc_index < 0)
		return check_say(c, options_by_nic(c->options) ? NOTE : OK, CHECK_TSINFO, NULL, NULL,
				 "the NIC has no clock");
	snprintf(path, sizeof(path), "/dev/ptp%d", c->nic.can.phc_index);
	check_full_path(full, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	error = fd < 0 ? errno : read_phc(fd, wanted, &r);
	if (fd >= 0)
		close(fd);
	if (fd < 0 && is_busy(error))
		return say_busy_phc(c, path, 1, 1, error);
	if (error)
		return say_no_phc(c, path, error);
	if (r.refused)
		say_busy_phc(c, path, r.refused, r.refused + r.reads, r.error);
	if (r.reads == wanted)
		judge_phc(c, path, &r);
}

/* Fast clock sources have a vdso mode: clock_gettime() reads them without a system call. */
static void look_at_clocksource(struct check *c)
{
	static const char *const fast[] = { "tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page",
					    "xen" };
	struct check_file f;

	if (!CHECK_READ(c, &f, "/sys/devices/system/clocksource/clocksource0/current_clocksource"))
		return;
	for (size_t i = 0; i < CHECK_COUNT(fast); i++)
		if (!strcmp(f.text, fast[i]))
			return check_say(c, OK, f.path, NULL, NULL, "%s", f.text);
	check_say(c, WARN, f.path, "each reading of the clock is a system call that reads a device",
		  "see dmesg for the reason against tsc; boot with tsc=reliable if the TSC is stable", "%.40s", f.text);
}

/* Another program may have the CPU meanwhile, which is no cost of the call: the least of the batches counts. */
static void look_at_clock_cost(struct check *c)
{
	int64_t cost_ns = INT64_MAX;

	for (int batch = 0; batch < CLOCK_BATCHES; batch++) {
		const int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC);
		int64_t mean_ns;

		for (int i = 1; i < CLOCK_READS; i++)
			clock_read_ns(CLOCK_MONOTONIC);
		mean_ns = (clock_read_ns(CLOCK_MONOTONIC) - before_ns) / CLOCK_READS;
		if (mean_ns < cost_ns)
			cost_ns = mean_ns;
	}
	if (cost_ns > 200)
		check_say(c, WARN, CHECK_NOW, "rant reads the clock several times for each packet",
			  "see 'clock source'",
			  "%lld ns a call, least mean of %d", (long long)cost_ns, CLOCK_READS);
	else
		check_say(c, OK, CHECK_NOW, NULL, NULL, "%lld ns a call, least mean of %d", (long long)cost_ns, CLOCK_READS);
}

const struct check_row check_clocks_rows[] = {
	{ "Clock", "NIC clock", look_at_phc, false },
	{ NULL, "clock source", look_at_clocksource, false },
	{ NULL, "clock_gettime", look_at_clock_cost, false },
	{ NULL, NULL, NULL, false },
};
