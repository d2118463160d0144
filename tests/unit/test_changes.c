/* build: wraps= sources=host/counters/activity_inside.c,host/counters/activity_text.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of a machine, in a folder of files that stand for it. */
#include "host/counters/changes.c"

#include "util.h"

#include <sys/stat.h>
#include <unistd.h>

#define FREQUENCY "/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq"
#define CARRIER "/sys/class/net/eth9/carrier_changes"
#define IRQS "/sys/class/net/eth9/device/msi_irqs"

static char root[] = "/tmp/rant-changes-XXXXXX";
static struct machine_changes c;

static void put(const char *path, const char *text)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(whole, 0755);
	}

	FILE *f = fopen(whole, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	(void)state;
	put(FREQUENCY, "3600000\n");
	put(CARRIER, "2\n");
	put(IRQS "/45", "msix\n");
	put("/proc/irq/45/effective_affinity_list", "1\n");
	activity_root = root;
	machine_changes_open(&c, "eth9", 3);
	return 0;
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void a_quiet_machine_has_none(void **state)
{
	(void)state;
	assert_int_equal(c.khz, 3600000);
	assert_int_equal(c.carrier_changes, 2);
	assert_int_equal(c.irqs, 1);
	put(FREQUENCY, "3300000\n"); /* by less than a tenth */
	for (int i = 0; i < 3; i++)
		machine_changes_look(&c);
	assert_int_equal(c.count, 0);
}

static void each_change_is_seen_once_with_its_time(void **state)
{
	const int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC);

	(void)state;
	put(FREQUENCY, "2400000\n");
	put(CARRIER, "4\n");
	put("/proc/irq/45/effective_affinity_list", "0-2\n");
	/* Not while the measuring thread sleeps. */
	_Atomic bool idle = true;

	c.idle = &idle;
	machine_changes_look(&c);
	assert_int_equal(c.count, 0);
	idle = false;
	machine_changes_look(&c);
	machine_changes_look(&c);
	c.idle = NULL;
	assert_int_equal(c.count, 3);
	assert_string_equal(c.kept[0].text, "CPU 3 from 3600 to 2400 MHz");
	assert_string_equal(c.kept[1].text, "interrupt 45 from CPU 1 to 0-2");
	assert_string_equal(c.kept[2].text, "link of eth9 changed its state");
	for (int i = 0; i < 3; i++)
		assert_in_range(c.kept[i].at_ns, before_ns, clock_read_ns(CLOCK_MONOTONIC));
}

/* A file that goes away, and one that is there only later, is no change; nor is one with other text. */
static void what_cannot_be_read_is_no_change(void **state)
{
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s" FREQUENCY, root);
	assert_int_equal(unlink(path), 0);
	put(CARRIER, "many\n");
	put("/proc/irq/45/effective_affinity_list", "\033[31m\n");
	machine_changes_look(&c);
	assert_int_equal(c.count, 0);
	machine_changes_open(&c, "eth8", -1);
	assert_int_equal(c.khz, -1);
	assert_int_equal(c.carrier_changes, -1);
	assert_int_equal(c.irqs, 0);
	put("/sys/class/net/eth8/carrier_changes", "9\n");
	machine_changes_look(&c);
	assert_int_equal(c.count, 0);
}

static void more_than_fit_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < MACHINE_CHANGES_KEPT + 5; i++) {
		put(CARRIER, i % 2 ? "7\n" : "8\n");
		machine_changes_look(&c);
	}
	assert_int_equal(c.count, MACHINE_CHANGES_KEPT + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_quiet_machine_has_none, set_up),
		cmocka_unit_test_setup(each_change_is_seen_once_with_its_time, set_up),
		cmocka_unit_test_setup(what_cannot_be_read_is_no_change, set_up),
		cmocka_unit_test_setup(more_than_fit_are_counted, set_up),
	};

	return cmocka_run_group_tests_name("changes", tests, make_root, remove_root);
}
