/* build: sources=analyse/[a-s]*.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON in a program that was built without libjansson. */
#undef WITH_JANSSON
#include "analyse/tree.c"

#include "results_files.h"
#include "results_run.h"

#include "options.h"
#include "report/text/status.h"
#include "analyse/results.h"

static const char csv[] = "SEQ,T1_KERNEL,T4_KERNEL,RTT\n0,1000,6000,5000\n1,11000,17000,6000\n";

static enum status read_again(bool compare, const char *text)
{
	FILE *one = file_of(text, strlen(text)), *two = file_of(text, strlen(text));
	char path[2][32], *files[2] = { path[0], path[1] };
	struct options o = { .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US, .report = !compare,
			     .compare = compare, .quiet = true,
			     .file = files, .files = compare ? 2 : 1 };
	enum status status;

	snprintf(path[0], sizeof(path[0]), "/proc/self/fd/%d", fileno(one));
	snprintf(path[1], sizeof(path[1]), "/proc/self/fd/%d", fileno(two));
	golden_hide("FILE", path[0]);
	catch();
	status = (enum status)results_main(&o);
	caught_text();
	fclose(one);
	fclose(two);
	return status;
}

static void json_is_refused(void **state)
{
	(void)state;
	for (int compare = 0; compare < 2; compare++) {
		assert_int_equal(read_again(compare, results_run), STATUS_FAILED);
		golden_line(said);
	}
}

static void logs_are_read(void **state)
{
	(void)state;
	assert_int_equal(read_again(false, csv), STATUS_DONE);
	assert_string_equal(said, "");
}

static void no_library_is_reported(void **state)
{
	(void)state;
	assert_null(tree_library());
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(json_is_refused), cmocka_unit_test(logs_are_read),
					    cmocka_unit_test(no_library_is_reported) };

	return golden_run(tests);
}
