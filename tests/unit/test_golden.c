/* build: wraps= sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* golden.h: failures of a test, and written files. In a folder of its own, each run in a child. */
#include "rant.h"

#include "golden.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define GOLDEN_FILE "tests/golden/unit/test_probe.txt"

static void says_two_lines(void **state)
{
	(void)state;
	golden("%s\n", "one");
	golden("%s", "two"); /* the line gets its end */
}

static void says_nothing(void **state)
{
	(void)state;
}

/* The hidden text differs from run to run; the second line is the first again. */
static void says_three(void **state)
{
	char line[32], hidden[16];

	(void)state;
	snprintf(line, sizeof(line), "three at %d, %d\n", getpid(), getpid());
	snprintf(hidden, sizeof(hidden), "%d", getpid());
	golden_hide("PID", hidden);
	golden_line(line);
	golden_line(line);
}

static int set_up(void **state)
{
	char folder[] = "/tmp/test_golden.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("tests", 0700) | mkdir("tests/golden", 0700) | mkdir("tests/golden/unit", 0700), 0);
	return 0;
}

static int tear_down(void **state)
{
	char folder[256];

	(void)state;
	unlink(GOLDEN_FILE);
	assert_int_equal(rmdir("tests/golden/unit") | rmdir("tests/golden") | rmdir("tests"), 0);
	assert_non_null(getcwd(folder, sizeof(folder)));
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

/* How many of the tests above fail with this file. */
static int failures(const char *file, const char *mode)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_two_lines),
		cmocka_unit_test(says_nothing),
		cmocka_unit_test(says_three),
	};
	int status = -1;
	FILE *out = file ? fopen(GOLDEN_FILE, "w") : NULL;

	if (out) {
		fputs(file, out);
		fclose(out);
	}
	fflush(NULL);
	pid_t child = fork();

	if (!child) {
		memset(&golden_state, 0, sizeof(golden_state));
		setenv("GOLDEN", mode, 1);
		status = freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr) ?
			 golden_run_tests("tests/unit/test_probe.c", tests, COUNT_OF(tests), NULL, NULL) : 99;
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define TWO_LINES "== says_two_lines ==\none\ntwo\n"
#define THREE "== says_three ==\nthree at PID, PID\n"

static void what_differs_fails(void **state)
{
	(void)state;
	assert_int_equal(failures(TWO_LINES THREE, ""), 0);
	assert_int_equal(failures(THREE TWO_LINES, ""), 0);
	assert_int_equal(failures("== says_two_lines ==\none\ntwa\n" THREE, ""), 1);
	assert_int_equal(failures("== says_two_lines ==\none\n" THREE, ""), 1);
	assert_int_equal(failures("== says_two_lines ==\none\ntwo\ntwo\n" THREE, ""), 1);
	assert_int_equal(failures("== says_two_lines ==\n" THREE, ""), 1);
	/* No section, no file, a section that no test asked for, and a section of a test that is not there. */
	assert_int_equal(failures(TWO_LINES, ""), 1);
	assert_int_equal(failures("", ""), 2);
	assert_int_equal(failures(TWO_LINES "== says_nothing ==\n" THREE, ""), 1);
	assert_int_equal(failures(TWO_LINES THREE "== says_four ==\nfour\n", ""), 1);
	assert_int_equal(failures("== says_four ==\nfour\n" TWO_LINES THREE, ""), 1);
}

static void it_writes_what_it_then_expects(void **state)
{
	char text[256];

	(void)state;
	assert_int_equal(failures("== says_four ==\nfour\n== says_nothing ==\nx\n" THREE, "write"), 0);
	FILE *in = fopen(GOLDEN_FILE, "r");

	assert_non_null(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	assert_string_equal(text, TWO_LINES THREE);
	assert_int_equal(failures(NULL, ""), 0);
}

static void differences_have_the_line_before(void **state)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	golden_diff(out, "a\nb\nc\nd\n", "a\nB\nc\nd\ne\n");
	fclose(out);
	assert_string_equal(text, "  a\n- b\n+ B\n  d\n+ e\n");
	free(text);
}

#define IN_FOLDER(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(what_differs_fails),
		IN_FOLDER(it_writes_what_it_then_expects),
		cmocka_unit_test(differences_have_the_line_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
