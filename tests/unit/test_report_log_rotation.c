/* build: wraps=write,pwrite,open,rename,poll sources=report/log/log_mend.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The log in several files: their numbers, the kept files, and errors while creating a file. */
#include "report/log/log_file.c"

#include "log_folder.h"

/* ---- Rotation ---------------------------------------------------------------------------------------------------- */

static void rotate_times(struct log_file *f, int from, int to)
{
	for (int i = from; i <= to; i++) {
		char words[16];

		snprintf(words, sizeof(words), "%d\n", i);
		assert_int_equal(put(f, words), 0);
		assert_int_equal(i < to ? log_file_rotate(f) : log_file_finish(f), 0);
	}
}

static void the_last_files_are_kept(void **state)
{
	(void)state;
	for (int keep = 1; keep <= 5; keep++) {
		struct log_file f;

		assert_int_equal(log_file_open(&f, path, 1000, keep), 0);
		rotate_times(&f, 1, 7);
		assert_int_equal(f.next, 7);
		for (int n = 1; n <= 8; n++) {
			char words[16];

			snprintf(words, sizeof(words), "%d\n", n);
			assert_number(n, n <= 7 && n > 7 - keep ? words : NULL);
		}
		assert_int_equal(files_in_folder(), keep);
		tear_down_folder(state);
		set_up_folder(state);
	}
}

/* During the run the limit of kept files holds too. */
static void there_are_never_more_than_are_kept(void **state)
{
	struct log_file f;

	(void)state;
	assert_int_equal(log_file_open(&f, path, 1000, 3), 0);
	for (int i = 1; i < 10; i++) {
		assert_int_equal(put(&f, "a\n"), 0);
		assert_int_equal(files_in_folder(), i < 3 ? i : 3);
		assert_int_equal(log_file_rotate(&f), 0);
		assert_int_equal(f.whole_bytes, 0);
	}
	log_file_abandon(&f);
	assert_int_equal(files_in_folder(), 2);
}

/* No file of an earlier run is replaced, though its first files have been removed, and none is removed. */
static void numbers_go_on_after_those_that_are_there(void **state)
{
	static const char *const others[] = { ".x", ".7x", "7", ".-9", ". 9", ".partial.9", ".99999999999999999999",
					      "." };
	struct log_file f;
	char name[96];

	(void)state;
	put_file(path, "plain\n");
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		snprintf(name, sizeof(name), "%s%s", path, others[i]);
		put_file(name, "other\n");
	}
	assert_int_equal(log_file_open(&f, path, 1000, 2), 0);
	assert_int_equal(f.next, 1);
	rotate_times(&f, 1, 5);
	assert_number(4, "4\n");
	assert_number(5, "5\n");
	assert_int_equal(files_in_folder(), 1 + (int)COUNT_OF(others) + 2);
	assert_int_equal(log_file_open(&f, path, 1000, 3), 0);
	assert_int_equal(f.next, 6);
	rotate_times(&f, 1, 4);
	assert_number(4, "4\n");
	assert_number(5, "5\n");
	assert_number(6, NULL);
	assert_number(7, "2\n");
	assert_number(9, "4\n");
	assert_file(path, "plain\n");
	assert_int_equal(files_in_folder(), 1 + (int)COUNT_OF(others) + 2 + 3);
}

/* Next to the present folder, as well as in it. */
static void numbers_in_this_folder(void **state)
{
	struct log_file f;
	char before[PATH_MAX];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	put_file("log.txt.41", "other\n");
	int error = log_file_open(&f, "log.txt", 1000, 2);

	assert_int_equal(chdir(before), 0);
	assert_int_equal(error, 0);
	assert_int_equal(f.next, 42);
	close(f.fd);
}

static void when_a_file_is_long_enough(void **state)
{
	struct log_file f;

	(void)state;
	assert_int_equal(log_file_open(&f, path, 1000, 2), 0);
	assert_int_equal(put(&f, "abcdefghi\n"), 0);
	assert_false(log_file_is_long(&f, 990));
	assert_true(log_file_is_long(&f, 991));
	f.rotate_bytes = 0;
	assert_false(log_file_is_long(&f, SIZE_MAX / 4));
	log_file_abandon(&f);
}

/* Data reported to stay as PATH.partial stay so. */
static void after_an_error_nothing_rotates(void **state)
{
	struct log_file f;

	(void)state;
	assert_int_equal(log_file_open(&f, path, 1000, 1), 0);
	assert_int_equal(put(&f, "a\n"), 0);
	kernel.until = 1;
	kernel.error = ENOSPC;
	listen_from_here();
	int error = put(&f, "b\n"), rotated = log_file_rotate(&f), end = log_file_finish(&f);

	assert_said_line();
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(rotated, -ENOSPC);
	assert_int_equal(end, -ENOSPC);
	assert_file(partial, "a\n");
	assert_int_equal(files_in_folder(), 1);
}

static void put_others_partial(void)
{
	put_file(partial, "of another\n");
}

/* The next file cannot be created: the earlier files have their numbers, and the file with its name is not
 * ours. */
static void the_next_file_cannot_be_made(void **state)
{
	(void)state;
	for (int how = 0; how < 2; how++) {
		struct log_file f;

		assert_int_equal(log_file_open(&f, path, 1000, 5), 0);
		assert_int_equal(put(&f, "a\n"), 0);
		kernel.open_error = how ? 0 : ENOSPC;
		before_partial = how ? put_others_partial : NULL;
		listen_from_here();
		int error = log_file_rotate(&f), again = put(&f, "b\n"), end = log_file_finish(&f);

		log_file_abandon(&f);
		assert_said_line();
		assert_int_equal(error, how ? -EEXIST : -ENOSPC);
		assert_int_equal(again, error);
		assert_int_equal(end, error);
		assert_number(1 + how, "a\n");
		assert_int_equal(files_in_folder(), how ? 3 : 1);
		kernel.open_error = 0;
	}
	assert_file(partial, "of another\n");
}

/* It must not get the length of the previous file. */
static void cut_off_while_the_next_file_is_made(void **state)
{
	(void)state;
	for (int after = 0; after < 2; after++) {
		assert_int_equal(log_file_open(&being_written, path, 1000, 5), 0);
		assert_int_equal(put(&being_written, "abc\n"), 0);
		before_partial = after ? NULL : cut_off;
		after_partial = after ? cut_off : NULL;
		assert_int_equal(log_file_rotate(&being_written), 0);
		assert_int_equal(put(&being_written, "def\n"), -ECANCELED);
		assert_number(1 + after, "abc\n");
		assert_int_equal(left_bytes, -1);
		close(being_written.fd);
		unlink(partial);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(the_last_files_are_kept),
		LOG_TEST(there_are_never_more_than_are_kept),
		LOG_TEST(numbers_go_on_after_those_that_are_there),
		LOG_TEST(numbers_in_this_folder),
		LOG_TEST(when_a_file_is_long_enough),
		LOG_TEST(after_an_error_nothing_rotates),
		LOG_TEST(the_next_file_cannot_be_made),
		LOG_TEST(cut_off_while_the_next_file_is_made),
	};

	return golden_run(tests);
}
