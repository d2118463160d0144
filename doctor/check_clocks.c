// SPDX-License-Identifier: GPL-2.0-or-later
/* The doctor's checks of the clocks: the NIC's, and what a reading of the system's costs. */
#include "doctor/facts.h"
#include "doctor/files.h"
#include "doctor/finding.h"
#include "doctor/rows.h"
#include "host/nic.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHC_READS 101
#define PHC_READS_BRIEF 11
#define CLOCK_READS 1000
#define PHC_PAUSE_NS (10 * NS_PER_MS)

struct phc_readings {
	int reads;
	int64_t took_ns[PHC_READS], phc_ns[PHC_READS];
	int64_t phc_elapsed_ns, elapsed_ns; /* from the first reading to the last, by both clocks */
};

/* Each reading between two of the system's clock. 0 or errno. */
static int read_phc(int fd, int reads, struct phc_readings *r)
{
	clockid_t clock = clock_of_fd(fd);
	int64_t first_ns = 0, before_ns = 0;
	struct timespec t;

	r->reads = reads;
	for (int i = 0; i < reads; i++) {
		/* The last reading comes some time later, so that a wrong rate shows. */
		if (i == reads - 1)
			while (clock_read_ns(CLOCK_MONOTONIC_RAW) - before_ns < PHC_PAUSE_NS)
				;
		before_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
		if (clock_gettime(clock, &t))
			return errno;
		r->took_ns[i] = clock_read_ns(CLOCK_MONOTONIC_RAW) - before_ns;
		r->phc_ns[i] = t.tv_sec * NS_PER_S + t.tv_nsec;
		if (!i)
			first_ns = before_ns;
	}
	r->elapsed_ns = before_ns - first_ns;
	r->phc_elapsed_ns = r->phc_ns[reads - 1] - r->phc_ns[0];
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
	int64_t slack_ns = r->elapsed_ns / 100 + r->took_ns[r->reads - 1];

	if (!step_ns)
		check_say(c, FAIL, where, "without a running clock no stamp means anything", "ethtool -T, dmesg",
			  "stands still");
	else if (off_ns > slack_ns || off_ns < -slack_ns)
		check_say(c, FAIL, where, "it was set, or it is broken; then round trips are wrong too",
			  "see 'users'; dmesg", "went on %lld ns while the system went on %lld ns",
			  (long long)r->phc_elapsed_ns, (long long)r->elapsed_ns);
	else
		check_say(c, OK, where, NULL, NULL,
			  "runs; a reading takes %lld ns (median of %d), its times are multiples of %lld ns",
			  (long long)r->took_ns[r->reads / 2], r->reads, (long long)step_ns);
}

static void look_at_phc(struct check *c)
{
	char path[32], full[PATH_MAX];
	struct phc_readings r;
	int fd, error;

	if (c->abilities_error)
		return check_cannot_tell(c, CHECK_TSINFO, -c->abilities_error);
	if (c->nic.can.phc_index < 0)
		return check_say(c, options_by_nic(c->options) ? NOTE : OK, CHECK_TSINFO, NULL, NULL,
				 "the NIC has none");
	snprintf(path, sizeof(path), "/dev/ptp%d", c->nic.can.phc_index);
	check_full_path(full, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	error = fd < 0 ? errno : read_phc(fd, c->brief ? PHC_READS_BRIEF : PHC_READS, &r);
	if (fd >= 0)
		close(fd);
	if (error)
		return check_say(c, WARN, path, "times of user space cannot be put on the scale of the NIC",
				 error == EACCES ? check_command(c, "run as root, or setfacl -m u:NAME:r %s", path) :
						   "the device node has to be there, see ls /dev/ptp*",
				 "cannot be read: %s", strerror(error));
	judge_phc(c, path, &r);
}

/* Fast are those that clock_gettime() reads without a system call (clocksources with a vdso mode). */
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
	check_say(c, WARN, f.path, "each reading of the clock is a system call that asks a device",
		  "see dmesg why not tsc; boot with tsc=reliable if it is", "%.40s", f.text);
}

static void look_at_clock_cost(struct check *c)
{
	int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC), cost_ns;

	for (int i = 0; i < CLOCK_READS; i++)
		clock_read_ns(CLOCK_MONOTONIC);
	cost_ns = (clock_read_ns(CLOCK_MONOTONIC) - before_ns) / CLOCK_READS;
	if (cost_ns > 200)
		check_say(c, WARN, CHECK_NOW, "it is read several times for each packet", "see 'clock source'",
			  "%lld ns a call, mean of %d", (long long)cost_ns, CLOCK_READS);
	else
		check_say(c, OK, CHECK_NOW, NULL, NULL, "%lld ns a call, mean of %d", (long long)cost_ns, CLOCK_READS);
}

const struct check_row check_clocks_rows[] = {
	{ "Clock", "NIC clock", look_at_phc, false },
	{ NULL, "clock source", look_at_clocksource, false },
	{ NULL, "clock_gettime", look_at_clock_cost, false },
	{ NULL, NULL, NULL, false },
};
