/* build: wraps=write,pwrite,open,rename,poll,clock_gettime sources=report/log/log_file.c,report/log/log_mend.c,report/log/log_form.c,report/log/log_text.c,report/log/log_npy.c,report/text/label.c,host/process/worker.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* From the ring to the file: every record once and in order, or reported as missing, during the run and
 * after it. */
#include "report/log/log_writer.c"

#include "log_writer_bench.h"

/* ---- In order ---------------------------------------------------------------------------------------------------- */

static void every_record_once_and_in_order(void **state)
{
	static const uint32_t bursts[] = { 1, 700, 1000, 30000 };
	struct stat s;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bursts); i++) {
		offered = 0;
		open_writer(bursts[i]);
		for (uint32_t n = 0; n < 5; n++) {
			offer(bursts[i]);
			drain(w);
		}
		finish_and_see();
		assert_int_equal(w->written, offered);
		assert_int_equal(stat(path, &s), 0);
		assert_int_equal(s.st_size, w->octets);
		log_writer_close(w);
		assert_int_equal(files_in_folder(), 1);
	}
}

/* Without a thread all of it is written after the run. */
static void all_at_the_end(void **state)
{
	(void)state;
	open_writer(100000);
	offer(100000);
	finish_and_see();
	assert_int_equal(w->written, 100000);
	assert_false(w->beside);
}

/* With every ring entry resident in memory. */
static void a_circular_log_is_written_from_old_to_new(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 3 * RECORDS; n++) {
		offered = 0;
		open_writer(RECORDS);
		place_records(RECORDS, true, false);
		offer(n);
		assert_int_equal(log_writer_finish(w), 0);
		memset(&seen, 0, sizeof(seen));
		seen.next = n < RECORDS ? 0 : n - (uint32_t)RECORDS;
		see_file(path);
		assert_int_equal(seen.next, n);
		assert_int_equal(seen.records, w->written);
		assert_int_equal(seen.left_out, 0);
		log_writer_close(w);
	}
}

static void a_log_without_records_has_its_begin(void **state)
{
	(void)state;
	open_writer(RECORDS);
	drain(w);
	assert_file(partial, "");
	finish_and_see();
	assert_int_equal(seen.records, 0);
}

/* The file is complete at any time: no record waits longer than two calls, and no line is partial. */
static void what_is_written_by_now(void **state)
{
	(void)state;
	open_writer(100000);
	for (uint32_t n = 0; n < 20; n++) {
		const uint32_t before = offered;

		offer(n % 5 == 4 ? 9000 : 1 + n);
		drain(w);
		memset(&seen, 0, sizeof(seen));
		if (n)
			see_file(partial);
		assert_true(seen.next >= (n ? before : 0));
	}
	finish_and_see();
}

/* ---- Missing records --------------------------------------------------------------------------------------------- */

static void a_repeated_number_has_a_line(void **state)
{
	(void)state;
	open_writer(8);
	offer(2);
	log_mark_repeated(w->log, 1);
	offer(1);
	finish_and_see();
	assert_int_equal(seen.others, 1);
	golden_line(seen.last_note);
	assert_int_equal(w->written, 3);
}

static void a_gap_has_a_line(void **state)
{
	(void)state;
	open_writer(8);
	offer(12);
	drain(w);
	offer(3);
	drain(w);
	drain(w);
	memset(&seen, 0, sizeof(seen));
	see_file(partial);
	assert_int_equal(seen.notes, 1);
	golden_line(seen.last_note);
	assert_int_equal(seen.next, 15);
	/* And at the end, though no record comes after it. */
	offer(20);
	finish_and_see();
	assert_int_equal(seen.notes, 2);
	golden_line(seen.last_note);
	assert_int_equal(w->written, 8 + 3 + 8);
}

/* So that the file of a run that did not end is readable without repair. */
static void the_number_in_the_header_is_right_by_now(void **state)
{
	(void)state;
	options.log_format = LOG_NPY;
	open_writer(100000);
	for (uint32_t n = 1; n <= 20; n++) {
		offer(n % 5 == 4 ? 9000 : n);
		drain(w);
		if (n < 2)
			continue;
		struct npy_seen now = see_npy(partial);

		assert_int_equal(now.octets, 64 * now.in_header);
		assert_int_equal(now.in_header, w->written);
	}
	assert_int_equal(log_writer_finish(w), 0);
	struct npy_seen now = see_npy(path);

	assert_int_equal(now.in_header, offered);
	assert_int_equal(now.octets, 64 * offered);
	assert_int_equal(now.octets + NPY_BEGIN_BYTES, w->octets);
	assert_counts();
}

static void a_gap_in_an_array(void **state)
{
	(void)state;
	options.log_format = LOG_NPY;
	open_writer(8);
	offer(12);
	drain(w);
	offer(3);
	drain(w);
	assert_int_equal(log_writer_finish(w), 0);
	assert_npy(7, 7, 0);
	assert_npy(8, 12, 4);
	assert_npy(9, 13, 0);
	assert_int_equal(see_npy(path).in_header, 11);
}

/* Some were too old, and then the ring was full: the record after them has the total, in every format. */
static void a_gap_for_two_reasons(void **state)
{
	(void)state;
	for (int npy = 0; npy < 2; npy++) {
		offered = 0;
		options.log_format = npy ? LOG_NPY : LOG_TEXT;
		open_writer(8);
		offer(3);
		take(w, 3, skip_record);
		offer(13); /* five of them do not fit */
		take(w, 8, skip_record);
		offer(2);
		take(w, 1, skip_record); /* the mark */
		if (npy)
			assert_int_equal(log_writer_finish(w), 0);
		else
			finish_and_see();
		assert_int_equal(w->not_kept, 11);
		if (npy)
			assert_npy(0, 16, 16);
		else
			assert_int_equal(seen.notes, 2);
		log_writer_close(w);
	}
}

/* ---- Better stamps in the run ------------------------------------------------------------------------------------ */

static void add_joined(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, offered++) {
		struct sample s = joined_sample(offered, 5400, 2100, 900, 7000);

		log_add(&transactions, &s);
	}
}

static void better_stamps_have_a_line(void **state)
{
	static const char *const notes = "\n# T2_KERNEL is T2_HW from here on\n# T3_KERNEL is T3_HW from here on\n";

	(void)state;
	for (int form = 0; form < LOG_FORMATS; form++) {
		char all[8192] = "";
		FILE *in;

		offered = 0;
		result.remote = SOURCE_NONE;
		joined_run(SOURCE_HARDWARE, SOURCE_KERNEL, false);
		options.log_full = true;
		options.log_format = form;
		open_writer(100);
		add_joined(3);
		drain(w);
		drain(w);
		result.remote = SOURCE_HARDWARE;
		add_joined(3);
		drain(w);
		drain(w);
		assert_int_equal(log_writer_finish(w), 0);
		in = fopen(path, "r");
		assert_true(fread(all, 1, sizeof(all) - 1, in) > 0);
		fclose(in);
		if (form == LOG_NPY) {
			assert_non_null(strstr(see_npy(path).text, "('T2_HW', "));
			assert_non_null(strstr(see_npy(path).text, "('T3_HW', "));
			assert_int_equal(see_npy(path).in_header, 6);
		} else {
			assert_non_null(strstr(all, "T2_KERNEL"));
			assert_int_equal(times_in(all, notes), 1);
			assert_int_equal(times_in(all, "#"), 2);
			/* Right before the first record that was not there before it. */
			assert_int_equal(strtoul(strstr(all, notes) + strlen(notes), NULL, 10), 3);
		}
		log_writer_close(w);
		tear_down(state);
		set_up(state);
		options.log_path = path;
	}
}

/* Sources known before the first record need no line, nor those without a column. */
static void better_stamps_that_need_no_line(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_NONE, false);
	options.log_full = true;
	open_writer(100);
	drain(w);
	result.remote = SOURCE_HARDWARE;
	add_joined(3);
	finish_and_see();
	assert_int_equal(seen.others, 0);
	assert_non_null(strstr(seen.lines[0], " T2_HW "));
	log_writer_close(w);
	options.log_full = false;
	offered = 0;
	result.remote = SOURCE_KERNEL;
	open_writer(100);
	offer(3);
	drain(w);
	result.remote = SOURCE_HARDWARE;
	offer(3);
	finish_and_see();
	assert_int_equal(seen.others, 0);
}

/* ---- Rotation ---------------------------------------------------------------------------------------------------- */

/* All files that are there, in the order of their numbers. */
static unsigned see_numbers(unsigned first)
{
	unsigned n = first;
	char name[80];
	struct stat s;

	for (;; n++) {
		snprintf(name, sizeof(name), "%s.%u", path, n);
		if (stat(name, &s))
			return n - first;
		assert_true(s.st_size <= options.log_rotate.bytes);
		see_file(name);
	}
}

static void every_record_is_in_one_of_the_files(void **state)
{
	(void)state;
	for (int64_t keep = 1; keep <= 20; keep += keep < 3 ? 1 : 17) {
		offered = 0;
		options.log_rotate = (struct log_rotation){ .bytes = 256 << 10, .files = keep };
		open_writer(5000);
		for (int n = 0; n < 10; n++) {
			offer(2500 + (n == 3 ? 3000 : 0)); /* once, the ring is full */
			drain(w);
		}
		assert_int_equal(log_writer_finish(w), 0);
		memset(&seen, 0, sizeof(seen));
		seen.next = (uint32_t)w->removed + (w->removed > 10000 ? 500 : 0);
		unsigned files = see_numbers((unsigned)w->file.first);

		assert_int_equal(files, keep < 20 ? keep : files_in_folder());
		assert_int_equal(files_in_folder(), files);
		assert_int_equal(seen.next, offered);
		assert_int_equal(seen.records, w->written - w->removed);
		assert_int_equal(w->file.next - w->file.first + 1, files);
		assert_counts();
		log_writer_close(w);
		tear_down_folder(state);
		set_up_folder(state);
	}
}

static void arrays_of_a_rotation(void **state)
{
	uint64_t records_of_all = 0;

	(void)state;
	options.log_format = LOG_NPY;
	options.log_rotate = (struct log_rotation){ .bytes = 256 << 10, .files = 10 };
	open_writer(100000);
	offer(20000);
	assert_int_equal(log_writer_finish(w), 0);
	for (uint64_t n = 1; n <= w->file.next; n++) {
		char name[96];
		struct npy_seen now;

		snprintf(name, sizeof(name), "%s.%llu", path, (unsigned long long)n);
		now = see_npy(name);
		assert_int_equal(now.octets, 64 * now.in_header);
		assert_true(now.octets + NPY_BEGIN_BYTES <= 256 << 10);
		records_of_all += now.in_header;
	}
	assert_int_equal(w->file.next, 5);
	assert_int_equal(records_of_all, 20000);
}

/* However full the last file is: no data are left for a new file, for which it would be removed. */
static void the_end_makes_no_file_more(void **state)
{
	(void)state;
	options.log_rotate = (struct log_rotation){ .bytes = 256 << 10, .files = 1 };
	for (uint32_t less = 0; less < 16; less++) {
		const uint32_t records_of_file = (256 << 10) / 89 - less;

		offered = 0;
		open_writer(10000);
		offer(records_of_file);
		assert_int_equal(log_writer_finish(w), 0);
		assert_true(w->written > w->removed);
		memset(&seen, 0, sizeof(seen));
		seen.next = (uint32_t)w->removed;
		assert_int_equal(see_numbers((unsigned)w->file.next), 1);
		assert_true(seen.records > 0);
		assert_int_equal(seen.next, offered);
		log_writer_close(w);
	}
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void what_could_not_be_written_is_counted(void **state)
{
	static const int64_t rows[] = { 0, 1, 1000, 300000, 900000 };

	(void)state;
	for (int rotates = 0; rotates < 2; rotates++)
		for (size_t i = 0; i < COUNT_OF(rows); i++) {
			offered = 0;
			options.log_rotate = (struct log_rotation){ .bytes = rotates ? 256 << 10 : 0,
								    .files = rotates * 100 };
			open_writer(50000);
			kernel.until = rows[i];
			kernel.error = ENOSPC;
			listen_from_here();
			for (int n = 0; n < 5; n++) {
				offer(5000);
				drain(w);
			}
			int error = log_writer_finish(w);

			assert_said_line();
			assert_int_equal(error, -ENOSPC);
			assert_counts();
			assert_true(w->unwritten > 0);
			memset(&seen, 0, sizeof(seen));
			if (rotates)
				see_numbers(1);
			if (!access(partial, F_OK))
				see_file(partial);
			assert_int_equal(seen.records, w->written);
			assert_int_equal(seen.next, w->written);
			kernel.until = -1;
			log_writer_close(w);
			tear_down_folder(state);
			set_up_folder(state);
		}
}

/* The next file cannot be made: the oldest has gone before, and is counted so. */
static void a_rotation_that_fails(void **state)
{
	(void)state;
	options.log_rotate = (struct log_rotation){ .bytes = 256 << 10, .files = 2 };
	open_writer(50000);
	offer(5000);
	drain(w);
	kernel.open_error = EMFILE;
	offer(15000);
	listen_from_here();
	drain(w);
	int error = log_writer_finish(w);

	assert_said_line();
	assert_int_equal(error, -EMFILE);
	assert_counts();
	memset(&seen, 0, sizeof(seen));
	seen.next = (uint32_t)w->removed;
	see_numbers((unsigned)w->file.first);
	assert_int_equal(seen.records, w->written - w->removed);
	assert_true(w->removed > 0);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void without_a_log_nothing_is_done(void **state)
{
	(void)state;
	options.log_path = NULL;
	memset(w, 0, sizeof(*w));
	w->file.fd = -1;
	assert_int_equal(log_writer_open(w, &report, &transactions), 0);
	log_writer_result(w, &result.log);
	assert_false(result.log.exists);
	assert_int_equal(log_writer_start(w, NULL, NULL), 0);
	log_writer_hand_over(w);
	assert_int_equal(log_writer_finish(w), 0);
	log_writer_close(w);
	assert_int_equal(files_in_folder(), 0);
}

static void an_array_needs_a_file(void **state)
{
	static const char *const paths[] = { "/dev/null", "-" };

	(void)state;
	options.log_format = LOG_NPY;
	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		options.log_path = paths[i];
		listen_from_here();
		int error = log_writer_open(w, &report, &transactions);

		assert_said_line();
		assert_int_equal(error, -EINVAL);
		assert_null(w->block);
	}
	options.log_format = LOG_CSV;
	options.log_path = "/dev/null";
	open_writer(RECORDS);
	offer(3);
	assert_int_equal(log_writer_finish(w), 0);
	assert_int_equal(w->written, 3);
}

static void a_run_that_does_not_begin_leaves_nothing(void **state)
{
	(void)state;
	open_writer(RECORDS);
	assert_int_equal(files_in_folder(), 1);
	log_writer_close(w);
	assert_int_equal(files_in_folder(), 0);
}

/* ---- With a thread ----------------------------------------------------------------------------------------------- */

static struct {
	unsigned calls;
	pid_t thread;
} begun;

static void note_begin(void *context)
{
	assert_ptr_equal(context, &begun);
	begun.calls++;
	begun.thread = gettid();
}

static void start_or_skip(void)
{
	int error;

	memset(&begun, 0, sizeof(begun));
	error = log_writer_start(w, note_begin, &begun);
	if (error == -ENODEV) {
		print_message("no CPU but this one may be used here\n");
		skip();
	}
	assert_int_equal(error, 0);
	assert_true(w->beside);
	assert_int_equal(begun.calls, 1);
	assert_int_not_equal(begun.thread, gettid());
}

/* The ring is placed when the thread is there already, and the thread alone has the file. */
static void a_thread_writes_beside_the_run(void **state)
{
	const int forms[] = { LOG_TEXT, LOG_TEXT, LOG_NPY };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		options.log_format = forms[i];
		options.log_rotate = (struct log_rotation){ .bytes = i == 1 ? 256 << 10 : 0,
							    .files = i == 1 ? 1000 : 0 };
		offered = 0;
		memset(&transactions, 0, sizeof(transactions));
		assert_int_equal(log_writer_open(w, &report, &transactions), 0);
		start_or_skip();
		place_records(1000, false, false);
		log_writer_hand_over(w);
		if (!w->worker.shares_files)
			assert_int_equal(fcntl(w->file.fd, F_GETFD), -1);
		for (int n = 0; n < 2000; n++) {
			offer(100);
			if (n % 10 == 0)
				usleep(100);
		}
		if (i == 0)
			finish_and_see();
		else
			assert_int_equal(log_writer_finish(w), 0);
		assert_counts();
		assert_true(w->written > 0);
		memset(&seen, 0, sizeof(seen));
		if (i == 1) {
			see_numbers(1);
			assert_int_equal(seen.next, offered);
			assert_int_equal(seen.records, w->written);
		}
		if (i == 2)
			assert_int_equal(see_npy(path).octets, 64 * see_npy(path).in_header);
		log_writer_close(w);
	}
}

/* It ends before the run began: nothing is written, nothing stays, and the thread is gone. */
static void a_thread_that_has_nothing_to_write(void **state)
{
	(void)state;
	memset(&transactions, 0, sizeof(transactions));
	assert_int_equal(log_writer_open(w, &report, &transactions), 0);
	start_or_skip();
	log_writer_close(w);
	assert_false(w->worker.running);
	assert_int_equal(files_in_folder(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_TEST(every_record_once_and_in_order),
		WRITER_TEST(all_at_the_end),
		WRITER_TEST(a_circular_log_is_written_from_old_to_new),
		WRITER_TEST(a_log_without_records_has_its_begin),
		WRITER_TEST(what_is_written_by_now),
		WRITER_TEST(a_gap_has_a_line), WRITER_TEST(a_repeated_number_has_a_line),
		WRITER_TEST(the_number_in_the_header_is_right_by_now),
		WRITER_TEST(a_gap_in_an_array),
		WRITER_TEST(a_gap_for_two_reasons),
		WRITER_TEST(better_stamps_have_a_line),
		WRITER_TEST(better_stamps_that_need_no_line),
		WRITER_TEST(every_record_is_in_one_of_the_files),
		WRITER_TEST(arrays_of_a_rotation),
		WRITER_TEST(the_end_makes_no_file_more),
		WRITER_TEST(what_could_not_be_written_is_counted),
		WRITER_TEST(a_rotation_that_fails),
		WRITER_TEST(without_a_log_nothing_is_done),
		WRITER_TEST(an_array_needs_a_file),
		WRITER_TEST(a_run_that_does_not_begin_leaves_nothing),
		WRITER_TEST(a_thread_writes_beside_the_run),
		WRITER_TEST(a_thread_that_has_nothing_to_write),
	};

	return golden_run(tests);
}
