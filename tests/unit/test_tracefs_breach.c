/* build: wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close,setmntent sources=host/trace/trace_raw.c,host/trace/trace_symbols.c,host/trace/trace_events.c,host/trace/trace_files.c,host/trace/trace_doubt.c,host/trace/trace_save.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The markers and the stop at a breach, with a folder of plain files. */
#include "tracefs.c"

#include "golden.h"
#include "fake_tracefs.h"

/* ---- Markers ---------------------------------------------------------------------------------------------------- */

static void test_start_marker(void **state)
{
	int64_t real_ns = clock_read_ns(CLOCK_REALTIME), tai_ns = clock_read_ns(CLOCK_TAI);
	int64_t raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	const char *text;

	(void)state;
	open_well(false);
	trace_mark_start(&t, ROLE_EMIT);
	assert_int_equal(t.start_error, 0);
	text = get_file("trace_marker");
	assert_int_equal(strncmp(text, "RANT_TEST_START role=emit REALTIME=", 35), 0);
	assert_null(strchr(text, '\n'));
	assert_true(time_of(text, " REALTIME=") >= real_ns);
	assert_true(time_of(text, " REALTIME=") <= clock_read_ns(CLOCK_REALTIME));
	assert_true(time_of(text, " TAI=") >= tai_ns);
	assert_true(time_of(text, " TAI=") <= clock_read_ns(CLOCK_TAI));
	assert_true(time_of(text, " MONOTONIC_RAW=") >= raw_ns);
	assert_true(time_of(text, " MONOTONIC_RAW=") <= clock_read_ns(CLOCK_MONOTONIC_RAW));
	assert_string_equal(fake.steps, "m ");
	fake.marker_errno = EBADF;
	trace_mark_start(&t, ROLE_REFLECT);
	assert_int_equal(t.start_error, EBADF);
	assert_false(t.unsaved);
}

static void test_breach_marker(void **state)
{
	int64_t raw_ns;
	const char *text;

	(void)state;
	open_well(false);
	raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	breach(true);
	text = get_file("trace_marker");
	assert_non_null(strstr(text, "RANT_BREACH role=reflect seq=4294967295 latency_ns=330151 threshold_ns=100000 "
			       "T2_HW=1773883524.780127138 T2_SW=1773883524.780430176 "
			       "T3_SW=1773883524.780430768 T3_HW=1773883524.780457289 REALTIME="));
	assert_true(time_of(text, " MONOTONIC_RAW=") >= raw_ns);
	assert_true(time_of(text, " MONOTONIC_RAW=") <= clock_read_ns(CLOCK_MONOTONIC_RAW));
	assert_true(time_of(text, " REALTIME=") > time_of(text, " MONOTONIC_RAW="));
	assert_int_equal(strlen(text), t.last.marker_bytes);
	assert_memory_equal(text, t.last.marker, t.last.marker_bytes);
	assert_int_equal(t.last.seq, 4294967295);
	assert_int_equal(t.last.role, ROLE_REFLECT);
}

static void test_breach_marker_of_the_emitter(void **state)
{
	struct sample s = {
		.seq = 0, .latency_ns = 2000000005,
		.source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_NONE },
		.time_ns = { 5, 1000000000, 3000000005, 77 },
	};

	(void)state;
	open_well(false);
	trace_breach(&t, ROLE_EMIT, &s, 1, false);
	assert_non_null(strstr(get_file("trace_marker"),
			       "RANT_BREACH role=emit seq=0 latency_ns=2000000005 threshold_ns=1 T1_SW=0.000000005 "
			       "T1_KERNEL=1.000000000 T4_KERNEL=3.000000005 REALTIME="));
}

static void test_breach_of_the_other_host(void **state)
{
	const char *text;

	(void)state;
	open_well(false);
	trace_peer_breach(&t, ROLE_REFLECT, 0x1f3a, 4711, &spike);
	text = get_file("trace_marker");
	assert_non_null(strstr(text, "RANT_BREACH role=reflect seq=4711 latency_ns=330151 breach_of=emit "
			       "T2_HW=1773883524.780127138 "));
	assert_true(trace_is_frozen(&t));
	assert_true(t.unsaved);
	assert_int_equal(t.last.seq, 4711);
	assert_int_equal(t.last.ssid, 0x1f3a);
	assert_int_equal(t.last.latency_ns, spike.latency_ns); /* the report finds the folder by it */
	assert_string_equal(fake.steps, "m o0");
	/* Not while it is frozen, and that is no breach of this host. */
	trace_peer_breach(&t, ROLE_REFLECT, 0x1f3a, 4712, &spike);
	assert_int_equal(t.last.seq, 4711);
	assert_int_equal(t.while_frozen, 0);
	assert_int_equal(t.marked, 1);
}

static void test_breach_of_the_reflector_without_a_sample(void **state)
{
	(void)state;
	open_well(false);
	trace_peer_breach(&t, ROLE_EMIT, 0x1f3a, 4711, NULL);
	assert_non_null(strstr(get_file("trace_marker"), "RANT_BREACH role=emit seq=4711 breach_of=reflect REALTIME="));
}

/* Readers take the times of user space and the kernel to be by CLOCK_REALTIME. */
static void test_times_by_the_nic_are_left_out(void **state)
{
	struct sample s = spike;

	(void)state;
	open_well(false);
	s.source[KERNEL_RECEIVE] = SOURCE_KERNEL;
	s.converted = true;
	trace_peer_breach(&t, ROLE_REFLECT, 0x1f3a, 4711, &s);
	assert_non_null(strstr(get_file("trace_marker"), "breach_of=emit T2_HW=1773883524.780127138 "
			       "T3_HW=1773883524.780457289 REALTIME="));
}

static void test_longest_marker(void **state)
{
	struct sample s = { .seq = UINT32_MAX, .latency_ns = INT64_MIN };
	const char *text;

	(void)state;
	for (int i = 0; i < TIMES; i++) {
		s.source[i] = SOURCE_KERNEL;
		s.time_ns[i] = INT64_MIN;
	}
	for (int i = KERNEL_RECEIVE; i < ALL_TIMES; i++) {
		s.source[i] = SOURCE_KERNEL;
		s.time_ns[i] = INT64_MIN;
	}
	open_well(false);
	trace_breach(&t, ROLE_REFLECT, &s, INT64_MIN, false);
	text = get_file("trace_marker");
	assert_non_null(strstr(text, " latency_ns=-9223372036854775808 "));
	assert_non_null(strstr(text, " T2_KERNEL=-9223372036.854775808 T3_SCHED=-9223372036.854775808 "
				    "T3_TXSW=-9223372036.854775808 REALTIME="));
	/* The clocks are as long as they will be until 2286, but for MONOTONIC_RAW. */
	size_t longest = strlen(text) + 3 * 21 - strlen("1773883524.780127138") * 2 - strlen(strstr(text, "_RAW=") + 5);

	assert_int_equal(longest, 419);
	assert_true(longest < TRACE_MARKER_BYTES);
}

static void test_full_text_is_cut(void **state)
{
	char space[8];
	struct marker x = { space, space + 4 };

	(void)state;
	memset(space, '.', sizeof(space));
	put_number(&x, "ab", -123);
	assert_memory_equal(space, "ab-1....", 8);
	put_seconds(&x, "c", 1);
	assert_memory_equal(space, "ab-1....", 8);
}

/* ---- The breach ------------------------------------------------------------------------------------------------- */

static void test_order_of_steps(void **state)
{
	(void)state;
	open_well(true);
	breach(true);
	assert_string_equal(fake.steps, "m o0s1");
	assert_int_equal(*get_file("tracing_on"), '0');
	assert_true(trace_is_frozen(&t));
	assert_true(t.last.snapshot_taken);
	assert_int_equal(counter_get(&t.marked), 1);
	assert_true(t.last.marker_ns > 0);
	assert_true(t.last.frozen_ns > t.last.marker_ns);
}

static void test_no_snapshot_asked_for(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	assert_string_equal(fake.steps, "m o0");
	assert_false(t.last.snapshot_taken);
	assert_true(trace_is_frozen(&t));
}

static void test_breach_without_stop(void **state)
{
	(void)state;
	open_well(true);
	breach(false);
	breach(false);
	assert_string_equal(fake.steps, "m m ");
	assert_false(trace_is_frozen(&t));
	assert_int_equal(counter_get(&t.marked), 2);
	assert_int_equal(counter_get(&t.while_frozen), 0);
	assert_int_equal(*get_file("tracing_on"), '1');
}

static void test_breach_while_frozen(void **state)
{
	struct sample other = spike;

	(void)state;
	open_well(true);
	breach(true);
	*fake.steps = 0;
	other.seq = 5;
	trace_breach(&t, ROLE_REFLECT, &other, 100000, true);
	assert_string_equal(fake.steps, "");
	assert_int_equal(t.last.seq, spike.seq);
	assert_int_equal(counter_get(&t.while_frozen), 1);
	assert_int_equal(counter_get(&t.marked), 1);
}

static void test_last_breach_is_kept(void **state)
{
	struct sample other = spike;

	(void)state;
	open_well(false);
	other.seq = 5;
	trace_breach(&t, ROLE_REFLECT, &other, 100000, false);
	breach(true);
	assert_int_equal(t.last.seq, spike.seq);
}

/* Two programs on one instance: the first has frozen it, and a second swap would undo the first. */
static void test_others_have_stopped_the_trace(void **state)
{
	(void)state;
	open_well(true);
	fake.marker_errno = EBADF;
	put_file("tracing_on", "0\n");
	breach(true);
	assert_string_equal(fake.steps, "m ");
	assert_false(trace_is_frozen(&t));
	assert_true(t.last.off_before);
	assert_int_equal(t.last.marker_error, EBADF);
	assert_int_equal(counter_get(&t.off), 1);
	assert_int_equal(counter_get(&t.marked) + counter_get(&t.refused), 0);
}

/* On a CPU that is not traced. */
static void test_marker_refused_but_tracing_is_on(void **state)
{
	static const int errors[] = { EBADF, EINVAL };

	(void)state;
	open_well(true);
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		atomic_store(&t.state, TRACE_ARMED);
		*fake.steps = 0;
		fake.marker_errno = errors[i];
		put_file("tracing_on", "1\n");
		breach(true);
		assert_string_equal(fake.steps, "m o0s1");
		assert_true(trace_is_frozen(&t));
		assert_int_equal(t.last.marker_error, errors[i]);
		assert_int_equal(counter_get(&t.refused), i + 1);
	}
	assert_int_equal(counter_get(&t.off), 0);
}

static void test_marker_is_cut(void **state)
{
	(void)state;
	open_well(false);
	fake.marker_room = 40;
	breach(true);
	assert_int_equal(t.last.marker_error, EMSGSIZE);
	assert_int_equal(t.last.marker_bytes, 40);
	assert_int_equal(counter_get(&t.refused), 1);
	assert_string_equal(fake.steps, "m o0");
}

static void test_stop_is_refused(void **state)
{
	(void)state;
	open_well(false);
	fake.on_errno = EIO;
	breach(true);
	assert_int_equal(t.last.stop_error, EIO);
	assert_false(trace_is_frozen(&t)); /* it goes on */
	trace_close(&t);

	open_well(true);
	breach(true);
	assert_string_equal(fake.steps, "m o0s1");
	assert_int_equal(t.last.stop_error, EIO);
	assert_true(trace_is_frozen(&t)); /* in the snapshot */
}

static void test_snapshot_is_refused_at_the_breach(void **state)
{
	(void)state;
	open_well(true);
	fake.snapshot_errno = EBUSY;
	breach(true);
	assert_int_equal(t.last.snapshot_error, EBUSY);
	assert_false(t.last.snapshot_taken);
	assert_true(trace_is_frozen(&t)); /* in the trace */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_start_marker),
		PLAIN(test_breach_marker),
		PLAIN(test_breach_marker_of_the_emitter),
		PLAIN(test_breach_of_the_other_host),
		PLAIN(test_breach_of_the_reflector_without_a_sample),
		PLAIN(test_times_by_the_nic_are_left_out),
		PLAIN(test_longest_marker),
		PLAIN(test_full_text_is_cut),
		PLAIN(test_order_of_steps),
		PLAIN(test_no_snapshot_asked_for),
		PLAIN(test_breach_without_stop),
		PLAIN(test_breach_while_frozen),
		PLAIN(test_last_breach_is_kept),
		PLAIN(test_others_have_stopped_the_trace),
		PLAIN(test_marker_refused_but_tracing_is_on),
		PLAIN(test_marker_is_cut),
		PLAIN(test_stop_is_refused),
		PLAIN(test_snapshot_is_refused_at_the_breach),
	};

	util_seed();
	return cmocka_run_group_tests_name("tracefs_breach", tests, NULL, NULL);
}
