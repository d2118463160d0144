/* build: sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Detection of a ptp4l with the interface and the domain of rant, in a simulated /proc. */
#include "host/nic/nic_ptp4l.c"

#include "golden.h"

static char folder[] = "/tmp/rant-ptp4l.XXXXXX";
static const struct nic nic = { .name = "eth0" };

static void put(const char *path, const char *text, size_t bytes)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", folder, path);
	f = fopen(whole, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, bytes, f), bytes);
	fclose(f);
}

static void make_folder(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s/%s", folder, path);
	assert_int_equal(mkdir(whole, 0700), 0);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	proc = folder;
	make_folder("self"); /* not a process */
	make_folder("7");
	make_folder("7/cwd");
	make_folder("7/root");
	make_folder("7/root/etc");
	put("7/comm", "ptp4l\n", 6);
	put("7/cmdline", "", 0);
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	return 0;
}

/* Arguments of ptp4l, each terminated by a 0; its configuration; domain of rant; whether the run is refused. */
static const struct {
	const char *arguments;
	size_t bytes;
	const char *configuration;
	int domain;
	bool refused;
} cases[] = {
#define ARGUMENTS(text) (text), sizeof(text)
	{ ARGUMENTS("ptp4l\0-i\0eth0"), "", 0, true }, /* 0 is the default of ptp4l */
	{ ARGUMENTS("ptp4l\0-i\0eth0"), "", 127, false },
	{ ARGUMENTS("ptp4l\0-ieth0\0-m"), "", 0, true },
	{ ARGUMENTS("ptp4l\0-2mi\0eth0"), "", 0, true },
	{ ARGUMENTS("ptp4l\0-i\0eth1\0-i\0eth0"), "", 0, true },
	{ ARGUMENTS("ptp4l\0-i\0eth01"), "", 0, false },
	{ ARGUMENTS("ptp4l\0-p\0eth0"), "", 0, false }, /* -p takes a clock device */
	{ ARGUMENTS("ptp4l\0-p\0-i\0eth0"), "", 0, false },
	{ ARGUMENTS("ptp4l\0eth0"), "", 0, false },
	{ ARGUMENTS("ptp4l\0-m\0-i"), "", 0, false }, /* -i without a value */
	{ ARGUMENTS("ptp4l\0-i\0eth0\0--domainNumber=24"), "", 24, true },
	{ ARGUMENTS("ptp4l\0-i\0eth0\0--domainNumber\00024"), "", 24, true },
	{ ARGUMENTS("ptp4l\0-i\0eth0\0--domainNumber=24"), "", 0, false },
	{ ARGUMENTS("ptp4l\0--domainNumber"), "", 0, false },
	{ ARGUMENTS("ptp4l\0-i\0eth0\0-f\0a.conf"), "[global]\ndomainNumber\t\t127\n", 127, true },
	{ ARGUMENTS("ptp4l\0-i\0eth0\0-fa.conf"), "[global]\n  domainNumber 127\n", 0, false },
	{ ARGUMENTS("ptp4l\0-f\0a.conf"), "[global]\ndomainNumber 127\n[eth0]\ndelay_mechanism E2E\n", 127, true },
	{ ARGUMENTS("ptp4l\0-f\0a.conf"), "[global]\n#domainNumber 127\n[eth0]\n", 127, false },
	{ ARGUMENTS("ptp4l\0-f\0a.conf"), "[global]\n[eth1]\n", 0, false },
	{ ARGUMENTS("ptp4l\0-f\0a.conf\0--domainNumber=3"), "[global]\ndomainNumber 127\n[eth0]\n", 3, true },
	{ ARGUMENTS("ptp4l\0-f\0/etc/a.conf"), "[global]\ndomainNumber 127\n[eth0]\n", 127, true },
	{ ARGUMENTS("ptp4l\0-i\0eth0\0-f\0none.conf"), "", 0, true },
};

static void each_case(void **state)
{
	char line[512];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct util_capture capture;
		int result;

		put("7/cmdline", cases[i].arguments, cases[i].bytes);
		put("7/cwd/a.conf", cases[i].configuration, strlen(cases[i].configuration));
		put("7/root/etc/a.conf", cases[i].configuration, strlen(cases[i].configuration));
		util_capture_begin(&capture);
		result = nic_check_ptp4l(&nic, cases[i].domain);
		util_capture_end(&capture, line, sizeof(line));
		if (result != (cases[i].refused ? -EBUSY : 0))
			fail_msg("case %zu: %d", i, result);
		assert_int_equal(*line != 0, cases[i].refused);
		if (cases[i].refused)
			golden_line(line);
	}
}

/* Another program with such arguments; a ptp4l in another namespace; a ptp4l that has just ended. */
static void nobody_else(void **state)
{
	(void)state;
	put("7/cmdline", ARGUMENTS("ptp4l\0-i\0eth0"));
	put("7/comm", "ptp4lx\n", 7);
	assert_int_equal(nic_check_ptp4l(&nic, 0), 0);
	put("7/comm", "ptp4l\n", 6);
	make_folder("7/ns");
	make_folder("self/ns");
	put("7/ns/net", "", 0);
	put("self/ns/net", "", 0);
	assert_int_equal(nic_check_ptp4l(&nic, 0), 0);
	proc = "/nowhere";
	assert_int_equal(nic_check_ptp4l(&nic, 0), 0);
	proc = folder;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_case), cmocka_unit_test(nobody_else) };

	return golden_run_group(tests, setup, teardown);
}
