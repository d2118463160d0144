// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit,nic_check_address,nic_find_own,nic_read_napis sources=doctor/cpus.c,doctor/facts.c,doctor/check_*.c,host/nic/nic*.c libs=-lnl-3 -lnl-genl-3 */
/* The doctor as a whole on simulated hosts, and its functions for files, numbers and lists of CPUs. */
#include "doctor/check.c"
#include "doctor/inside.h"
#include "doctor/files.c"
#include "doctor/finding.c"

#include "fake_machine.h"

/* ---- Reading of the checks --------------------------------------------------------------------------------------- */

static void test_cpu_lists(void **state)
{
	static const char *const bad[] = { "a", "1-", "-1", "1,,2", "3-2", "1024", "0-1024", "1 2", "1-2-3",
					   "99999999999999999999",
					   ",1", "1- 2", "1 " };
	static const char *const good[][2] = { { "", "" }, { "(null)", "" }, { "0", "0" }, { "1023", "1023" },
					       { "0-1,3", "0-1,3" },
					       { "3,1,2", "1-3" }, { "5-5", "5" }, { "1,", "1" }, { "  1", "1" } };
	cpu_set_t cpus;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (check_cpus_read(bad[i], &cpus))
			fail_msg("'%s' was taken for a list", bad[i]);
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		assert_true(check_cpus_read(good[i][0], &cpus));
		assert_string_equal(check_cpus_text(&cpus).text, good[i][1]);
	}
}

/* A written list is read back, unless it is longer than the text and was cut off. */
static void test_cpu_lists_random(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2000; turn++) {
		cpu_set_t cpus, back;
		struct check_cpu_text t;
		uint64_t one_in = 1 + util_below(300);

		CPU_ZERO(&cpus);
		for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (util_below(one_in) == 0)
				CPU_SET(cpu, &cpus);
		t = check_cpus_text(&cpus);
		assert_true(memchr(t.text, '\0', sizeof(t.text)) != NULL);
		if (strlen(t.text) == sizeof(t.text) - 1)
			continue;
		assert_true(check_cpus_read(t.text, &back));
		assert_true(CPU_EQUAL(&cpus, &back));
	}
}

static void test_cpu_lists_garbage(void **state)
{
	(void)state;
	for (int turn = 0; turn < 20000; turn++) {
		static const char letters[] = "0123456789-, \n(nul)x";
		char text[32];
		size_t bytes = util_below(sizeof(text));
		cpu_set_t cpus;

		for (size_t i = 0; i < bytes; i++)
			text[i] = letters[util_below(sizeof(letters) - 1)];
		text[bytes] = '\0';
		char *exact = (char *)util_exact(text, bytes + 1);

		check_cpus_read(exact, &cpus);
		free(exact);
	}
}

static void test_read(void **state)
{
	struct check_file f;
	char big[6000];
	long long n;

	(void)state;
	set_up();
	memset(big, '7', sizeof(big));
	put_bytes("/big", big, sizeof(big));
	assert_true(check_read(&f, "/%s", "big"));
	assert_string_equal(f.path, "/big");
	assert_int_equal(f.bytes, sizeof(f.text) - 1);
	assert_int_equal(strlen(f.text), f.bytes);
	assert_false(check_number_in(&f, &n));
	put("/empty", "");
	assert_true(check_read(&f, "/empty"));
	assert_int_equal(f.bytes, 0);
	assert_false(check_number_in(&f, &n));
	assert_false(check_read(&f, "/big/none"));
	assert_int_equal(f.error, ENOTDIR);
	assert_string_equal(f.text, "");
	put("/folder", NULL);
	assert_false(check_read(&f, "/folder"));
	assert_int_equal(f.error, EISDIR);
	put("/n", "-12\n\n");
	assert_true(check_read(&f, "/n") && check_number_in(&f, &n));
	assert_int_equal(n, -12);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int run_machine(bool with_output)
{
	char *text;
	size_t bytes;
	FILE *out;
	int fails;

	begin_capture(&out, &text, &bytes);
	fails = check_machine(with_output ? out : NULL, NULL, NULL, &options);
	end_capture(out, &text);
	return fails;
}

/* Each line is a heading, empty, the count, or a finding with its source. Returns the number of findings `name`. */
static unsigned count_lines(const char *name)
{
	char copy[sizeof(said)], *line, *rest = copy;
	unsigned count = 0;

	strcpy(copy, said);
	while ((line = strsep(&rest, "\n"))) {
		size_t bytes = strlen(line);
		bool finding = false;

		for (int f = OK; f < FINDINGS; f++)
			finding |= !strncmp(line, finding_names[f], strlen(finding_names[f])) &&
				   line[4] == ' ' && line[5] == ' ';
		if (finding && (!strstr(line, ": ") || !strchr(line, '(') || !strchr(line, ')') || bytes > 260))
			fail_msg("not a finding: %s", line);
		if (!finding && bytes && line[bytes - 1] != ':' && !strstr(line, " ok, "))
			fail_msg("not a line: %s", line);
		count += finding && !strncmp(line, name, strlen(name));
	}
	return count;
}

/* Headings and subjects only: some findings depend on the host of the test. */
static void show_subjects(void)
{
	for (const char *line = said; *line; line = strchr(line, '\n') + 1) {
		const int end = (int)strcspn(line, ":\n");

		if (line[end] == ':')
			golden("%.*s\n", end > 6 && line[5] == ' ' ? end - 6 : end,
			       end > 6 && line[5] == ' ' ? line + 6 : line);
	}
}

static void test_whole(void **state)
{
	char total[96];
	int fails;

	(void)state;
	set_up();
	fake.reading_ns = 1000;
	fails = run_machine(true);
	assert_int_equal(fails, 0);
	show_subjects();
	for (const char *const *name = finding_names; name < finding_names + FINDINGS; name++)
		count_lines(*name);
	assert_true(count_lines("ok") > 5 && count_lines("note") > 10);
	snprintf(total, sizeof(total), "\n\n%u ok, %u notes, %u warnings, 0 failures\n", count_lines("ok"),
		 count_lines("note"), count_lines("warn"));
	assert_string_equal(said + strlen(said) - strlen(total), total);
	/* Two failures: the interface is down and has no clock. Without output no line is printed. */
	fake_nic.down = true;
	fake_nic.can.phc_index = -1;
	assert_int_equal(run_machine(true), 2);
	assert_int_equal(count_lines("fail"), 2);
	assert_non_null(strstr(said, ", 2 failures\n"));
	fake_nic.down = false;
	assert_int_equal(run_machine(true), 1);
	assert_non_null(strstr(said, ", 1 failure\n"));
	assert_int_equal(run_machine(false), 1);
	assert_string_equal(said, "");
}

/* The start of a run uses all rows except the slow rows. */
static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHECK_COUNT(tables); i++)
		for (const struct check_row *row = tables[i]; row->subject; row++)
			golden("%s%s%s%s\n", row->group ? row->group : "", row->group ? ": " : "  ", row->subject,
			       row->slow ? " (slow)" : "");
}

static void test_whole_without_interface(void **state)
{
	struct util_capture capture;
	char error[256];
	int result;

	(void)state;
	set_up();
	fake_nic.on = false;
	options.interface = "rant-none";
	util_capture_begin(&capture);
	result = run_machine(true);
	util_capture_end(&capture, error, sizeof(error));
	assert_int_equal(result, -ENODEV);
	golden_line(error);
	assert_string_equal(said, "");
}

/* The start of a run keeps the changed setting of the NIC, and does not spin for a second. */
static void test_short(void **state)
{
	struct nic n;
	char *text;
	size_t bytes;
	FILE *out;

	(void)state;
	set_up();
	assert_int_equal(nic_find(&n, "fake0"), 0);
	n.changed = true;
	put("/sys/devices/system/cpu/isolated", "\n");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	fake.now_ns = 0;
	begin_capture(&out, &text, &bytes);
	check_short(out, &options, &n);
	end_capture(out, &text);
	assert_true(fake.now_ns < NS_PER_S / 2);
	assert_true(n.changed);
	assert_true(count_lines("warn") >= 2);
	assert_int_equal(count_lines("ok") + count_lines("note"), 0);
	assert_non_null(strstr(said, "watchdog"));
	assert_null(strstr(said, ":\n"));
	assert_true(fcntl(n.control_fd, F_GETFD) >= 0);
	n.changed = false;
	nic_close(&n);
}

static unsigned reported, reported_fails;

static void print(void *context, const struct check_reported *t)
{
	assert_ptr_equal(context, &reported);
	reported++;
	reported_fails += !strcmp(t->level, "fail");
	assert_non_null(t->what);
	if (strcmp(t->subject, "watchdog"))
		return;
	assert_string_equal(t->level, "warn");
	assert_memory_equal(t->what, "nmi_watchdog 1", 14);
	assert_non_null(strstr(t->where, "nmi_watchdog"));
	assert_non_null(t->cure);
	assert_null(strstr(t->what, t->cure));
}

/* check_print() passes the findings that check_short() prints. */
static void test_print(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out;
	struct nic n;

	(void)state;
	set_up();
	assert_int_equal(nic_find(&n, "fake0"), 0);
	put("/sys/devices/system/cpu/isolated", "\n");
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	begin_capture(&out, &text, &bytes);
	check_short(out, &options, &n);
	end_capture(out, &text);
	reported = reported_fails = 0;
	check_print(print, &reported, &options, &n);
	assert_true(reported >= 2);
	assert_int_equal(reported - reported_fails, count_lines("warn"));
	assert_int_equal(reported_fails, count_lines("fail"));
	nic_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cpu_lists), TEST(test_cpu_lists_random), TEST(test_cpu_lists_garbage), TEST(test_read),
		TEST(test_rows), TEST(test_whole), TEST(test_whole_without_interface), TEST(test_short),
		TEST(test_print),
	};

	util_seed();
	return golden_run_group(tests, make_machine, remove_machine);
}
