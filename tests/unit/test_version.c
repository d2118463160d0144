/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* --version: the first line for programs, the commit, and the optional libraries. */
#define RANT_COMMIT "0123456789ab-dirty"
#include "report/text/version.c"

#include "util.h"

#include <fcntl.h>

/* Calls version_print() with this file as stdout; *text, unless NULL, gets the contents of the file. */
static int print_to(const char *path, const char *hmac, const char *filter, const char *tree, const char *pages,
		    char text[2048])
{
	int stdout_fd = dup(STDOUT_FILENO), fd = open(path, O_RDWR | O_TRUNC), error;
	ssize_t bytes = 0;

	assert_true(stdout_fd >= 0 && fd >= 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	error = version_print(hmac, filter, tree, pages);
	dup2(stdout_fd, STDOUT_FILENO);
	if (text) {
		bytes = pread(fd, text, 2047, 0);
		assert_true(bytes >= 0);
		text[bytes] = 0;
	}
	close(stdout_fd);
	close(fd);
	clearerr(stdout);
	return error;
}

static void print(const char *hmac, const char *filter, const char *tree, const char *pages, char text[2048])
{
	char path[] = "/tmp/rant-version.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(print_to(path, hmac, filter, tree, pages, text), 0);
	unlink(path);
}

static void assert_has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("'%s' is not in:\n%s", line, text);
}

static void it_begins_with_the_version(void **state)
{
	const char *first = "rant " RANT_VERSION "\n";
	char text[2048];

	(void)state;
	print(NULL, NULL, NULL, NULL, text);
	assert_memory_equal(text, first, strlen(first));
}

static void it_has_the_commit(void **state)
{
	char text[2048];

	(void)state;
	print(NULL, NULL, NULL, NULL, text);
	assert_has(text, "\n  Commit    :  0123456789ab-dirty\n");
	assert_string_equal(version_commit(), "0123456789ab-dirty");
}

/* The version on this host comes from the library, not from its header. */
static void it_prints_what_it_was_built_with(void **state)
{
	char text[2048], line[128];

	(void)state;
	print(NULL, NULL, NULL, NULL, text);
	snprintf(line, sizeof(line), "here %s\n", gnu_get_libc_version());
	assert_has(text, line);
	snprintf(line, sizeof(line), "\n  libnl     :  %s, here %d.%d.%d\n", LIBNL_VERSION, nl_ver_maj, nl_ver_min,
		 nl_ver_mic);
	assert_has(text, line);
	assert_has(text, "\n  Kernel    :  headers of Linux ");
	assert_has(text, __VERSION__ " for ");
#ifdef __SANITIZE_ADDRESS__ /* not by tests/cross.sh and tests/coverage.sh */
	assert_has(text, ", with AddressSanitizer\n");
#endif
}

static void each_part_is_built_in_or_not(void **state)
{
	char text[2048];

	(void)state;
	print("liba 1.2", "libb.so.1", NULL, "libd.so.1", text);
	assert_has(text, "\n  --key     :  liba 1.2\n");
	assert_has(text, "\n  Filter    :  libb.so.1\n");
	assert_has(text, "\n  Read JSON :  not built in: make JANSSON=1\n");
	assert_has(text, "\n  Raw pages :  libd.so.1\n");
	print(NULL, NULL, "libc.so.7", NULL, text);
	assert_has(text, "\n  --key     :  not built in: make NETTLE=1\n");
	assert_has(text, "\n  Filter    :  not built in: make SECCOMP=1\n");
	assert_has(text, "\n  Read JSON :  libc.so.7\n");
	assert_has(text, "\n  Raw pages :  not built in: make TRACEEVENT=1\n");
}

static void a_full_device_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(print_to("/dev/full", NULL, NULL, NULL, NULL, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_begins_with_the_version),
		cmocka_unit_test(it_has_the_commit),
		cmocka_unit_test(it_prints_what_it_was_built_with),
		cmocka_unit_test(each_part_is_built_in_or_not),
		cmocka_unit_test(a_full_device_is_an_error),
	};

	return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
