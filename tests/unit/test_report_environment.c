/* build: sources=report/text/label.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* A breach as variables: each time that is there, and nothing written outside. */
#include "report/text/environment.c"

#include "fake_report.h"

/* On the heap, and no larger than they say, so that ASan sees one byte too many. */
static char *variables, **environment;

static int set_up_variables(void **state)
{
	variables = malloc(REPORT_ENVIRONMENT_BYTES);
	environment = malloc(REPORT_ENVIRONMENT_MAX * sizeof(*environment));
	memset(variables, 0xa5, REPORT_ENVIRONMENT_BYTES);
	memset(environment, 0xa5, REPORT_ENVIRONMENT_MAX * sizeof(*environment));
	return set_up(state);
}

static int tear_down_variables(void **state)
{
	free(variables);
	free(environment);
	return tear_down(state);
}

static void assert_variables(const struct sample *s, uint64_t number, const char *const *expected)
{
	report_environment(&report, s, number, variables, environment);
	for (size_t i = 0; expected[i]; i++) {
		assert_non_null(environment[i]);
		assert_string_equal(environment[i], expected[i]);
		assert_null(expected[i + 1] ? NULL : environment[i + 1]);
	}
}

#define VARIABLES(s, number, ...) assert_variables(s, number, (const char *const[]){ __VA_ARGS__, NULL })

static void all_variables_of_a_breach(void **state)
{
	struct sample s;

	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	s = sample_of(7, 303038, 592, 26521);
	VARIABLES(&s, 0, "RANT_ROLE=reflect", "RANT_INTERFACE=veth0", "RANT_NUMBER=1", "RANT_SEQ=7",
		  "RANT_LATENCY_NS=330151", "RANT_THRESHOLD_NS=100000", "RANT_THRESHOLD_ON=response",
		  "RANT_T2_KERNEL=1773883524.780127138",
		  "RANT_T2_SW=1773883524.780430176", "RANT_T3_SW=1773883524.780430768",
		  "RANT_T3_KERNEL=1773883524.780457289");
	options.role = ROLE_EMIT;
	options.stamp = SOURCE_HARDWARE;
	s = sample_of(8, 1, 2, 3);
	VARIABLES(&s, 41, "RANT_ROLE=emit", "RANT_INTERFACE=veth0", "RANT_NUMBER=42", "RANT_SEQ=8",
		  "RANT_LATENCY_NS=2", "RANT_THRESHOLD_NS=100000", "RANT_THRESHOLD_ON=rtt",
		  "RANT_T1_SW=1773883524.780127138",
		  "RANT_T1_HW=1773883524.780127139", "RANT_T4_HW=1773883524.780127141",
		  "RANT_T4_SW=1773883524.780127144");
}

#define JOINED_HEAD(on) "RANT_ROLE=emit", "RANT_INTERFACE=veth0", "RANT_NUMBER=3", "RANT_SEQ=9", "RANT_LATENCY_NS=15400", \
			"RANT_THRESHOLD_NS=100000", "RANT_THRESHOLD_ON=" on

/* The other host's times are named by their source, and times that are reported twice are there once. */
static void variables_of_both_hosts(void **state)
{
	struct sample s;

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_KERNEL, true);
	s = joined_sample(9, 5400, 2100, 900, 7000);
	options.threshold_on = METRIC_NETWORK;
	VARIABLES(&s, 2, JOINED_HEAD("network"), "RANT_RESPONSE_NS=10000", "RANT_NETWORK_NS=5400",
		  "RANT_T1_SW=1773883524.780127138", "RANT_T1_HW=1773883524.780130138",
		  "RANT_T4_HW=1773883524.780145538",
		  "RANT_T4_SW=1773883524.780147538", "RANT_T2_KERNEL=1234567890.000000000",
		  "RANT_T2_SW=1234567890.000002100", "RANT_T3_SW=1234567890.000003000",
		  "RANT_T3_KERNEL=1234567890.000010000");
	options.threshold_on = METRIC_RESPONSE;
	s = without_t3(s, FOLLOW_UP_LOST);
	VARIABLES(&s, 2, JOINED_HEAD("response"), "RANT_T1_SW=1773883524.780127138", "RANT_T1_HW=1773883524.780130138",
		  "RANT_T4_HW=1773883524.780145538", "RANT_T4_SW=1773883524.780147538",
		  "RANT_T2_KERNEL=1234567890.000000000",
		  "RANT_T2_SW=1234567890.000002100", "RANT_T3_SW=1234567890.000003000");
	options.threshold_on = METRIC_RTT;
	result.remote = SOURCE_USER;
	s = joined_sample(9, 5400, 2100, 900, 7000);
	VARIABLES(&s, 2, JOINED_HEAD("rtt"), "RANT_RESPONSE_NS=10000", "RANT_NETWORK_NS=5400",
		  "RANT_T1_SW=1773883524.780127138", "RANT_T1_HW=1773883524.780130138",
		  "RANT_T4_HW=1773883524.780145538",
		  "RANT_T4_SW=1773883524.780147538", "RANT_T2_SW=1234567890.000000000",
		  "RANT_T3_SW=1234567890.000010000");
}

/* Nor is a time that the reflector could not convert to the timebase of its NIC. */
static void a_time_that_has_no_place_is_no_variable(void **state)
{
	struct sample s;

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	s = joined_sample(9, 5400, 2100, 900, 7000);
	s.same_timebase = false;
	s.off_scale = true;
	VARIABLES(&s, 2, JOINED_HEAD("rtt"), "RANT_RESPONSE_NS=10000", "RANT_NETWORK_NS=5400",
		  "RANT_T1_SW=1773883524.780127138", "RANT_T1_HW=1773883524.780130138",
		  "RANT_T4_HW=1773883524.780145538",
		  "RANT_T4_SW=1773883524.780147538", "RANT_T2_HW=1234567890.000000000",
		  "RANT_T3_HW=1234567890.000010000");
}

static void a_time_that_is_not_there_is_no_variable(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	for (unsigned remote = 0; remote < 1 << TIMES; remote++) {
		static const char *const names[TIMES] = { "RANT_T2_KERNEL=", "RANT_T2_SW=", "RANT_T3_SW=",
							  "RANT_T3_KERNEL=" };
		struct sample s = sample_of(7, 1, 1, 1);
		int at = 7;

		for (int i = 0; i < TIMES; i++)
			if (!(remote & 1u << i))
				s.source[i] = SOURCE_NONE;
		report_environment(&report, &s, 0, variables, environment);
		for (int i = 0; i < TIMES; i++)
			if (remote & 1u << i)
				assert_memory_equal(environment[at++], names[i], strlen(names[i]));
		assert_null(environment[at]);
	}
}

/* Each as long as it can be: of an emitter, who has most of them. */
static void the_longest_variables_fit(void **state)
{
	struct sample s = { .seq = UINT32_MAX, .latency_ns = INT64_MIN, .same_timebase = true,
		.follow_up = FOLLOW_UP_THERE,
			    .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER,
					SOURCE_KERNEL, SOURCE_USER, SOURCE_USER, SOURCE_KERNEL },
			    .time_ns = { INT64_MIN, -1, -1, INT64_MIN, 0, INT64_MIN, INT64_MAX, INT64_MIN } };

	(void)state;
	options.plain = false;
	options.interface = "fifteen-letters"; /* IFNAMSIZ - 1 */
	options.threshold_ns = INT64_MIN;
	options.threshold_on = METRIC_RESPONSE;
	result.remote = SOURCE_KERNEL;
	s.time_ns[EMIT_T1_WIRE] = s.time_ns[EMIT_T4_WIRE] = INT64_MIN;
	s.time_ns[REMOTE + REFLECT_T2_WIRE] = 0;
	/* NETWORK is of the same length: it is -RESPONSE, except for the value without a positive. */
	s.time_ns[EMIT_T1_WIRE]++;
	for (int i = KERNEL_RECEIVE; i < ALL_TIMES; i++) {
		s.source[i] = SOURCE_KERNEL;
		s.time_ns[i] = INT64_MIN;
	}
	VARIABLES(&s, UINT64_MAX - 1, "RANT_ROLE=emit", "RANT_INTERFACE=fifteen-letters",
		  "RANT_NUMBER=18446744073709551615", "RANT_SEQ=4294967295", "RANT_LATENCY_NS=-9223372036854775808",
		  "RANT_THRESHOLD_NS=-9223372036854775808", "RANT_THRESHOLD_ON=response",
		  "RANT_RESPONSE_NS=-9223372036854775808", "RANT_NETWORK_NS=9223372036854775807",
		  "RANT_T1_SW=-9223372036.854775808", "RANT_T1_KERNEL=-9223372036.854775807",
		  "RANT_T4_KERNEL=-9223372036.854775808", "RANT_T4_SW=-9223372036.854775808",
		  "RANT_T2_KERNEL=0.000000000",
		  "RANT_T2_SW=-9223372036.854775808", "RANT_T3_SW=9223372036.854775807",
		  "RANT_T3_KERNEL=-9223372036.854775808", "RANT_T4_KERNEL=-9223372036.854775808",
		  "RANT_T2_KERNEL=-9223372036.854775808", "RANT_T1_SCHED=-9223372036.854775808",
		  "RANT_T1_KERNEL=-9223372036.854775808", "RANT_T3_SCHED=-9223372036.854775808",
		  "RANT_T3_KERNEL=-9223372036.854775808");
	assert_ptr_equal(environment[REPORT_ENVIRONMENT_MAX - 1], NULL);
}

/* No name of an interface is so long; whatever comes, nothing is written outside and nothing is cut short. */
static void what_does_not_fit_is_left_out_whole(void **state)
{
	char name[2 * REPORT_ENVIRONMENT_BYTES];

	(void)state;
	options.plain = false;
	options.sw_timestamps = true;
	result.remote = SOURCE_KERNEL;
	options.interface = name;
	for (size_t bytes = 0; bytes < sizeof(name); bytes++) {
		struct sample s = joined_sample(7, 1, 1, 1, 1);
		int n = 0;

		for (int i = KERNEL_RECEIVE; i < ALL_TIMES; i++)
			s.source[i] = SOURCE_KERNEL;
		memset(name, 'x', bytes);
		name[bytes] = '\0';
		report_environment(&report, &s, 0, variables, environment);
		for (; environment[n]; n++) {
			assert_memory_equal(environment[n], "RANT_", 5);
			assert_true(environment[n] + strlen(environment[n]) < variables + REPORT_ENVIRONMENT_BYTES);
			if (!strncmp(environment[n], "RANT_INTERFACE=", 15))
				assert_int_equal(strlen(environment[n]), 15 + bytes);
			if (!strncmp(environment[n], "RANT_T", 6) && environment[n][6] != 'H')
				assert_int_equal(strlen(strchr(environment[n], '.')), 1 + 9);
		}
		assert_true(n < REPORT_ENVIRONMENT_MAX);
		assert_true(bytes >= IFNAMSIZ || n == REPORT_ENVIRONMENT_MAX - 1);
	}
}

#define VARIABLES_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_variables, tear_down_variables)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VARIABLES_TEST(all_variables_of_a_breach),
		VARIABLES_TEST(variables_of_both_hosts),
		VARIABLES_TEST(a_time_that_has_no_place_is_no_variable),
		VARIABLES_TEST(a_time_that_is_not_there_is_no_variable),
		VARIABLES_TEST(the_longest_variables_fit),
		VARIABLES_TEST(what_does_not_fit_is_left_out_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
