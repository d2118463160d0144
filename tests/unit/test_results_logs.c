/* build: sources=analyse/[a-k]*.c,analyse/log_[a-z]*.c,analyse/o[a-z]*.c,analyse/r[a-z]*.c,analyse/seconds.c,analyse/tree.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs made of logs: logs of one host added, logs of both hosts joined. */
#include "analyse/logs.c"

#include "results_files.h"

static struct outcome *o;
static struct log_read logs[3];
static FILE *files[3];

static int set_up(void **state)
{
	(void)state;
	o = outcome_open(&(struct options){ .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US });
	memset(files, 0, sizeof(files));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	outcome_close(o);
	for (size_t i = 0; i < COUNT_OF(files); i++)
		if (files[i])
			fclose(files[i]);
	return 0;
}

static void open_log(int i, const char *text)
{
	static const char *const names[] = { "one", "other", "third" };

	files[i] = file_of(text, strlen(text));
	assert_non_null(outcome_add_file(o, names[i], files[i], "csv"));
	assert_int_equal(log_read_open(&logs[i], files[i], names[i], LOG_CSV), 0);
}

static const char *reported(void)
{
	outcome_finish(o);
	return o->note ? o->note : "";
}

static int join(const char *emitter, const char *reflector)
{
	int error;

	open_log(0, emitter);
	open_log(1, reflector);
	catch();
	error = logs_join(o, &logs[0], &logs[1], &o->read.file[0], &o->read.file[1]);
	caught_text();
	return error;
}

static void assert_stage(int i, uint64_t count, int64_t min_ns, int64_t max_ns)
{
	assert_ptr_equal(o->result.stage[i], &o->stage[i]);
	assert_int_equal(o->stage[i].count, count);
	assert_int_equal(o->stage[i].min_ns, min_ns);
	assert_int_equal(o->stage[i].max_ns, max_ns);
}

#define PLAIN "SEQ,T1_HW,T4_HW,RTT\n"
#define THERE_CSV "SEQ,T2_HW,T2_SW,T3_SW,T3_HW,RESPONSE\n"

/* The reflector's log is unordered, and one record of each log has no partner. */
static void both_ends(void **state)
{
	(void)state;
	assert_int_equal(join(PLAIN "5,1000,6000,5000\n6,2000,8000,6000\n7,3000,3500,500\n",
			      THERE_CSV "6,200000,201000,202000,204000,4000\n9,300000,300100,300200,300300,300\n5,100000,100500,101000,103000,3000\n"), 0);
	assert_string_equal(said, "");
	assert_int_equal(o->latency.count, 3);
	assert_stage(STAGE_RESPONSE, 2, 3000, 4000);
	assert_stage(STAGE_NETWORK, 2, 2000, 2000);
	assert_stage(STAGE_REMOTE_WIRE_TO_APP, 2, 500, 1000);
	assert_stage(STAGE_REMOTE_APP, 2, 500, 1000);
	assert_stage(STAGE_REMOTE_APP_TO_WIRE, 2, 2000, 2000);
	assert_null(o->result.stage[STAGE_APP_TO_WIRE]);
	assert_int_equal(o->result.remote, SOURCE_HARDWARE);
	golden("%s", reported());
	assert_false(o->options.plain);
}

/* With a duplicate number in either log the partner is not known. */
static void numbers_that_are_there_twice(void **state)
{
	(void)state;
	assert_int_equal(join(PLAIN "5,1000,6000,5000\n6,2000,8000,6000\n6,12000,18000,6000\n7,3000,9000,6000\n",
			      THERE_CSV "5,1,2,3,4,3\n5,11,12,13,14,3\n6,21,22,23,24,3\n7,31,32,33,34,3\n"), 0);
	assert_stage(STAGE_RESPONSE, 2, 3, 3); /* the first 6, and 7 */
	golden("%s", reported());
}

/* The reflector answered 6 twice and logged one of the replies, perhaps not the reply that arrived. */
static void a_repeated_number_with_one_record(void **state)
{
	(void)state;
	assert_int_equal(join(PLAIN "5,1000,6000,5000\n6,2000,8000,6000\n7,3000,9000,6000\n",
			      THERE_CSV "5,1,2,3,4,3\n# SEQ 6 was received again\n6,11,12,13,14,3\n# SEQ 8 was "
					"received again\n7,31,32,33,34,3\n"), 0);
	assert_stage(STAGE_RESPONSE, 2, 3, 3);
	assert_int_equal(o->latency.count, 3);
	golden("%s", reported());
}

static void a_response_that_cannot_be(void **state)
{
	(void)state;
	assert_int_equal(join(PLAIN "5,1000,6000,5000\n6,2000,8000,6000\n",
			      THERE_CSV "5,1,2,3,9001,9000\n6,1,2,3,7001,7000\n"), 0);
	assert_stage(STAGE_RESPONSE, 1, 7000, 7000); /* within 1 us */
	assert_int_equal(o->stage[STAGE_NETWORK].negatives, 1);
	golden("%s", reported());
}

#define FULL "SEQ,T1_HW,T4_HW,RTT,T2_HW,T3_HW,RESPONSE,NETWORK,FLAGS\n"

/* Times of the reflector in the emitter's log identify the partner. */
static void another_run(void **state)
{
	(void)state;
	assert_int_equal(join(FULL "5,1000,6000,5000,100,,,,lost\n6,2000,8000,6000,300,400,100,5900,-\n",
			      THERE_CSV "5,100,110,120,3100,3000\n6,301,310,320,400,99\n"), 0);
	assert_stage(STAGE_RESPONSE, 1, 3000, 3000); /* its T3 was lost */
	golden("%s", reported());
}

static void nothing_joins(void **state)
{
	(void)state;
	assert_int_equal(join(PLAIN "5,1000,6000,5000\n", THERE_CSV "6,1,2,3,4,3\n"), -EINVAL);
	golden_line(said);
}

/* A reflector without wire timestamps has only the times of its program. */
static void a_program_there(void **state)
{
	(void)state;
	assert_int_equal(join("SEQ,T1_KERNEL,T4_KERNEL,RTT\n5,1000,6000,5000\n",
			      "SEQ,T2_KERNEL,T2_SW,T3_SW,RESPONSE\n5,90,100,1100,1000\n"), 0);
	assert_stage(STAGE_RESPONSE, 1, 1000, 1000);
	assert_stage(STAGE_NETWORK, 1, 4000, 4000);
	assert_int_equal(o->result.remote, SOURCE_USER);
	assert_null(o->result.stage[STAGE_REMOTE_APP]);
}

/* Response and network are those of the log, also where one of their timestamps has no column. */
static void one_end(void **state)
{
	(void)state;
	open_log(0, FULL "5,1000,6000,5000,100,400,300,4700,-\n6,2000,8000,6000,,,700,5300,-\n");
	assert_int_equal(logs_add(o, logs, 1), 0);
	assert_stage(STAGE_RESPONSE, 2, 300, 700);
	assert_stage(STAGE_NETWORK, 2, 4700, 5300);
	assert_int_equal(o->read.file[0].samples, 2);
	assert_int_equal(o->read.file[0].max_ns, 6000);
	assert_string_equal(reported(), "");
}

static void several_of_one_end(void **state)
{
	(void)state;
	open_log(0,
		 PLAIN "5,1000,6000,5000\n# 3 records left out from SEQ 6 on: the ring was full\n5,11000,16000,5000\n");
	open_log(1, PLAIN "5,1000,7000,6000\n");
	assert_int_equal(logs_add(o, logs, 2), 0);
	assert_int_equal(o->latency.count, 3);
	golden("%s", reported());
	assert_null(strstr(reported(), "other:"));
}

/* Members of read_from in the JSON. */
static void what_a_log_prints_of_itself(void **state)
{
	(void)state;
	open_log(0, FULL "5,1000,6000,5000,100,400,300,4700,-\n# 3 records left out from SEQ 6 on: the ring was full\n"
			 "# T2_HW is T2_KERNEL from here on\n9,11000,16000,5000,100,400,300,4700,-\n");
	open_log(1,
		 FULL "6,1000,7000,6000,100,400,300,5700,-\n# T2_HW is T2_KERNEL from here\n# SEQ 6 was received "
		      "again\n");
	assert_int_equal(logs_add(o, logs, 2), 0);
	assert_true(o->read.file[0].is_timed);
	assert_int_equal(o->read.file[0].first_stamp_ns, 6000);
	assert_int_equal(o->read.file[0].left_out, 3);
	assert_true(o->read.file[0].stamps_changed);
	assert_int_equal(o->read.file[1].first_stamp_ns, 7000);
	assert_int_equal(o->read.file[1].left_out, 0);
	assert_false(o->read.file[1].stamps_changed);
}

static void a_log_without_a_record(void **state)
{
	(void)state;
	open_log(0, PLAIN);
	assert_int_equal(logs_add(o, logs, 1), 0);
	assert_false(o->read.file[0].is_timed);
}

/* Counts numbers missing between the first and the last, for whatever reason. */
static void numbers_without_a_record(void **state)
{
	(void)state;
	open_log(0, PLAIN "9,1000,6000,5000\n5,2000,8000,6000\n7,3000,9000,6000\n7,3000,9000,6000\n");
	assert_int_equal(logs_add(o, logs, 1), 0);
	golden("%s", reported());
}

/* In the log of a reflector the numbers may be those of several emitters. */
static void numbers_at_a_reflector(void **state)
{
	(void)state;
	open_log(0, THERE_CSV "5,1,2,3,4,3\n7,11,12,13,14,3\n");
	assert_int_equal(logs_add(o, logs, 1), 0);
	assert_string_equal(reported(), "");
}

/* IPDV of each pair of consecutive numbers. A reflector's numbers belong to sessions, so it has none. */
static void how_round_trips_vary(void **state)
{
	const struct ipdv_metric *f = &o->rtt_ipdv;

	(void)state;
	open_log(0, PLAIN "5,1000,6000,5000\n6,2000,9000,7000\n8,3000,9000,6000\n9,3000,9001,6001\n");
	assert_int_equal(logs_add(o, logs, 1), 0);
	assert_int_equal(f->count, 2);
	assert_int_equal(f->min_ns, 1);
	assert_int_equal(f->max_ns, 2000);
}

static void of_other_kinds(void **state)
{
	(void)state;
	open_log(0, PLAIN "5,1000,6000,5000\n");
	open_log(1, PLAIN "6,1000,6000,5000\n");
	open_log(2, "SEQ,T1_KERNEL,T4_KERNEL,RTT\n5,1000,7000,6000\n");
	catch();
	assert_int_equal(logs_add(o, logs, 3), -EINVAL);
	caught_text();
	golden_line(said);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_ends), TEST(numbers_that_are_there_twice), TEST(a_response_that_cannot_be),
			TEST(a_repeated_number_with_one_record), TEST(another_run), TEST(nothing_joins),
		TEST(a_program_there), TEST(one_end), TEST(several_of_one_end), TEST(what_a_log_prints_of_itself),
		TEST(a_log_without_a_record), TEST(numbers_without_a_record),
		TEST(numbers_at_a_reflector), TEST(how_round_trips_vary), TEST(of_other_kinds),
	};

	return golden_run(tests);
}
