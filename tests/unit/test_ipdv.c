/* build: wraps= sources=histogram.c,@result libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* How delays differ: by hand, against a sorted array, and which samples have a difference. */
#include "measure/ipdv.c"
#include "result/ipdv.c"

#include "host/clock/clock_peer.h"
#include "measure/exchange.h"
#include "util.h"

#define T2 (REMOTE + REFLECT_T2_WIRE)
#define T3 (REMOTE + REFLECT_T3_WIRE)

static struct ipdv_metric f;
static struct exchange x;
static struct clock_peer peer;

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	memset(&x, 0, sizeof(x));
	x.peer = &peer;
	x.from = EMIT_T1_WIRE;
	x.to = EMIT_T4_WIRE;
	stages_of_role(ROLE_EMIT, true, x.result.stages);
	x.set_ns = INT64_MIN;
	return 0;
}

/* Delays of packets that follow each other, from `seq` on. */
static void follow_all(uint32_t seq, const int64_t *delay_ns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ipdv_add(&f, delay_ns[i], seq + (uint32_t)i, SOURCE_KERNEL);
}

#define FOLLOW(seq, ...) follow_all(seq, (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static double mean(void)
{
	return (double)f.sum / (double)f.count;
}

static double deviation(void)
{
	return histogram_deviation(f.count, f.sum, f.sum_of_squares);
}

/* ---- One figure -------------------------------------------------------------------------------------------------- */

/* Differences 10, 20, 30, 0, 40: sum 100, of squares 3000; 600 - 20 * 20 = 200. */
static void six_delays_by_hand(void **state)
{
	(void)state;
	FOLLOW(7, 100, 110, 90, 60, 60, 100);
	assert_int_equal(f.count, 5);
	assert_int_equal(f.min_ns, 0);
	assert_int_equal(f.max_ns, 40);
	assert_true(mean() == 20);
	assert_float_equal(deviation(), 14.142135623730951, 1e-12);
	assert_int_equal(ipdv_percentile(&f, 50, 100), 20);
	assert_int_equal(ipdv_percentile(&f, 99, 100), 40);
	assert_int_equal(ipdv_percentile(&f, 40, 100), 10);
	assert_int_equal(ipdv_percentile(&f, 41, 100), 20);
	assert_int_equal(ipdv_percentile(&f, 0, 100), 0);
	assert_int_equal(f.beyond, 0);
}

static void one_delay_has_no_difference(void **state)
{
	(void)state;
	assert_int_equal(f.count, 0);
	/* Number 1 follows 0, but there was no 0. */
	ipdv_add(&f, 100, 1, SOURCE_KERNEL);
	assert_int_equal(f.count, 0);
	ipdv_add(&f, 103, 2, SOURCE_KERNEL);
	assert_int_equal(f.count, 1);
	assert_int_equal(f.min_ns, 3);
	assert_int_equal(f.max_ns, 3);
	assert_true(deviation() == 0);
	assert_int_equal(ipdv_percentile(&f, 50, 100), 3);
}

static void a_gap_has_no_difference(void **state)
{
	(void)state;
	FOLLOW(10, 100, 105);
	FOLLOW(13, 1000, 1007); /* 12 is missing */
	assert_int_equal(f.count, 2);
	assert_int_equal(f.sum, 12);
	/* Late, again, and back to where it was. */
	FOLLOW(12, 5000);
	FOLLOW(12, 6000);
	FOLLOW(15, 7000, 7001);
	assert_int_equal(f.count, 3);
	assert_int_equal(f.sum, 13);
}

/* 13 after 12, whatever came before. */
static void what_comes_out_of_order_is_the_last_one(void **state)
{
	(void)state;
	FOLLOW(14, 100);
	FOLLOW(12, 200, 230);
	FOLLOW(14, 250);
	assert_int_equal(f.count, 2);
	assert_int_equal(f.sum, 50);
}

static void numbers_wrap(void **state)
{
	(void)state;
	FOLLOW(UINT32_MAX - 1, 1, 2, 4, 8);
	assert_int_equal(f.count, 3);
	assert_int_equal(f.sum, 7);
}

static void kinds_are_not_compared(void **state)
{
	(void)state;
	ipdv_add(&f, 100, 1, SOURCE_LOCAL);
	ipdv_add(&f, 37000000000, 2, SOURCE_HARDWARE);
	assert_int_equal(f.count, 0);
	ipdv_add(&f, 37000000001, 3, SOURCE_HARDWARE);
	assert_int_equal(f.count, 1);
	assert_int_equal(f.max_ns, 1);
}

/* The last accepted value, the first rejected value, and values beyond 64 bits. */
static void values_beyond_all(void **state)
{
	const int64_t last_ns = (1LL << IPDV_BITS) - 1;

	(void)state;
	FOLLOW(1, 0, last_ns, 0);
	assert_int_equal(f.count, 2);
	assert_int_equal(f.max_ns, last_ns);
	assert_int_equal(f.beyond, 0);
	assert_int_equal(f.low[IPDV_BUCKETS - 1], 2);
	assert_in_range(ipdv_percentile(&f, 99, 100), last_ns - last_ns / 64, last_ns);
	FOLLOW(4, last_ns + 1, 0, INT64_MAX, INT64_MIN, INT64_MAX);
	assert_int_equal(f.count, 2);
	assert_int_equal(f.beyond, 5);
	assert_true(f.sum == 2 * (unsigned __int128)last_ns);
	assert_true(f.sum_of_squares == 2 * (unsigned __int128)last_ns * (unsigned __int128)last_ns);
}

/* The sums stay exact where those of doubles do not: a difference of 1 ns beside 2^48 of 18 minutes. */
static void sums_are_exact(void **state)
{
	const uint64_t n = 1ULL << 48, ns = (1ULL << IPDV_BITS) - 1;

	(void)state;
	f.count = n;
	f.sum = (unsigned __int128)n * ns;
	f.sum_of_squares = (unsigned __int128)n * ns * ns;
	f.min_ns = f.max_ns = ns;
	assert_true(deviation() == 0);
	FOLLOW(1, 0, 1);
	assert_true(f.sum == (unsigned __int128)n * ns + 1);
	assert_true(f.sum_of_squares == (unsigned __int128)n * ns * ns + 1);
	/* (ns - 1) / sqrt(n) */
	assert_float_equal(deviation(), 65536, 0.001);
}

static void counts_pass_a_byte(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= 70000; i++)
		ipdv_add(&f, i % 2 ? 5 : 0, i, SOURCE_KERNEL);
	assert_int_equal(f.count, 70000);
	assert_int_equal(f.carry[5] * 256 + f.low[5], 70000);
	ipdv_add(&f, 1000000, 70001, SOURCE_KERNEL);
	assert_int_equal(ipdv_percentile(&f, 99, 100), 5);
	assert_int_equal(ipdv_percentile(&f, 1, 1), 1000000);
}

/* Each value is in a bucket of its own, or within 1/64 of its middle. */
static void buckets_are_as_fine_as_reported(void **state)
{
	unsigned before = 0;

	(void)state;
	for (unsigned bit = 0; bit < IPDV_BITS; bit++) {
		for (int by = -2; by <= 2; by++) {
			const int64_t ns = (1LL << bit) + by;
			uint64_t reported_ns;

			if (ns < 0)
				continue;
			set_up(NULL);
			FOLLOW(1, 0, ns);
			f.min_ns = 0; /* from here on of the bucket alone */
			f.max_ns = UINT64_MAX;
			reported_ns = ipdv_percentile(&f, 1, 1);
			if (ns < 64)
				assert_int_equal(reported_ns, ns);
			assert_true(llabs((int64_t)reported_ns - ns) <= ns / 64);
		}
	}
	/* They go up one by one, each with its own values. */
	for (unsigned i = 1; i < IPDV_BUCKETS; i++) {
		assert_true(value_of(i) > value_of(before));
		set_up(NULL);
		FOLLOW(1, 0, (int64_t)value_of(i));
		assert_int_equal(f.low[i], 1);
		before = i;
	}
}

static int compare(const void *a, const void *b)
{
	return compare_ns(a, b);
}

/* Percentiles against a sorted array; mean and deviation against long doubles. */
static void random_delays(void **state)
{
	enum { N = 2000 };
	static int64_t by_ns[N];

	(void)state;
	for (int round = 0; round < 20; round++) {
		const unsigned bits = 4 + (unsigned)util_below(35);
		int64_t at_ns = (int64_t)(util_random() >> 2), sum = 0;
		long double squares = 0;

		set_up(NULL);
		ipdv_add(&f, at_ns, 0, SOURCE_USER);
		for (int i = 0; i < N; i++) {
			by_ns[i] = (int64_t)util_below(1ULL << bits);
			at_ns += util_below(2) ? by_ns[i] : -by_ns[i];
			ipdv_add(&f, at_ns, (uint32_t)i + 1, SOURCE_USER);
			sum += by_ns[i];
		}
		qsort(by_ns, N, sizeof(by_ns[0]), compare);
		for (int i = 0; i < N; i++)
			squares += ((long double)by_ns[i] - (long double)sum / N) *
			((long double)by_ns[i] - (long double)sum / N);
		assert_int_equal(f.count, N);
		assert_int_equal(f.min_ns, by_ns[0]);
		assert_int_equal(f.max_ns, by_ns[N - 1]);
		assert_true(f.sum == (unsigned __int128)sum);
		assert_true(llabs((int64_t)(deviation() * deviation() - (double)(squares / N))) <= (double)(squares /
			N) * 1e-9 + 1e-6);
		for (uint64_t percent = 1; percent <= 100; percent++) {
			const int64_t exact_ns = by_ns[percent * N / 100 - 1];

			assert_true(llabs((int64_t)ipdv_percentile(&f, percent, 100) - exact_ns) <= exact_ns / 64);
		}
	}
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* Probe seq took so long there, in the response and back; the reflector's clock is ahead by 5 s. */
static struct sample sample_of(uint32_t seq, int64_t remote_ns, int64_t response_ns, int64_t back_ns)
{
	const int64_t t1_ns = NS_PER_S + seq * 100 * NS_PER_US, t2_ns = t1_ns + 5 * NS_PER_S + remote_ns;
	struct sample s = { .seq = seq, .latency_ns = remote_ns + response_ns + back_ns };

	s.time_ns[x.from] = t1_ns;
	s.time_ns[T2] = t2_ns;
	s.time_ns[T3] = t2_ns + response_ns;
	s.time_ns[x.to] = t1_ns + s.latency_ns;
	s.source[x.from] = s.source[x.to] = s.source[T2] = s.source[T3] = SOURCE_KERNEL;
	return s;
}

static void note(struct sample s)
{
	ipdv_note(&x, &s);
}

/* Response and network need T2 and T3, as the way back needs T3. */
static void assert_metrics(uint64_t rtt, uint64_t forward, uint64_t backward)
{
	assert_int_equal(x.ipdv.of[IPDV_RESPONSE].count, backward);
	assert_int_equal(x.ipdv.of[IPDV_NETWORK].count, backward);
	assert_int_equal(x.ipdv.of[IPDV_RTT].count, rtt);
	assert_int_equal(x.ipdv.of[IPDV_FORWARD].count, forward);
	assert_int_equal(x.ipdv.of[IPDV_BACKWARD].count, backward);
}

static void the_ways_of_two_samples(void **state)
{
	(void)state;
	note(sample_of(1, 1000, 5000, 700));
	note(sample_of(2, 1010, 5400, 640));
	assert_metrics(1, 1, 1);
	assert_int_equal(x.ipdv.of[IPDV_RTT].sum, 350);
	assert_int_equal(x.ipdv.of[IPDV_FORWARD].sum, 10);
	assert_int_equal(x.ipdv.of[IPDV_BACKWARD].sum, 60);
	assert_int_equal(x.ipdv.of[IPDV_RESPONSE].sum, 400);
	assert_int_equal(x.ipdv.of[IPDV_NETWORK].sum, 50);
	assert_int_equal(x.ipdv.left_out, 0);
}

/* A sample that a rule removed, or without a report, is a gap in that figure alone. */
static void a_way_that_is_not_known(void **state)
{
	struct sample s = sample_of(2, 1000, 5000, 700), none = sample_of(4, 1000, 5000, 700);

	(void)state;
	s.source[T3] = SOURCE_NONE;
	none.source[T2] = none.source[T3] = SOURCE_NONE;
	note(sample_of(1, 1000, 5000, 700));
	note(s);
	assert_metrics(1, 1, 0);
	note(sample_of(3, 1000, 5000, 700));
	assert_metrics(2, 2, 0);
	note(none);
	note(sample_of(5, 1000, 5000, 700));
	assert_metrics(4, 2, 0);
	note(sample_of(6, 1000, 5000, 700));
	assert_metrics(5, 3, 1);
	assert_int_equal(x.ipdv.left_out, 0);
}

/* Nothing held its times against the others'. */
static void without_a_peer_there_are_no_ways(void **state)
{
	(void)state;
	x.peer = NULL;
	note(sample_of(1, 1000, 5000, 700));
	note(sample_of(2, 1000, 5000, 700));
	assert_metrics(1, 0, 0);
}

/* Times of other kinds: a reflector whose stamps became better. */
static void a_reflector_with_other_stamps(void **state)
{
	struct sample s = sample_of(1, 1000, 5000, 700);

	(void)state;
	s.source[T2] = s.source[T3] = SOURCE_LOCAL;
	note(s);
	note(sample_of(2, 1000, 5000, 700));
	assert_metrics(1, 0, 0);
}

/* That it was set, or is in doubt, is seen while a sample waits: neither it nor the one after has a difference of one
 * way. */
static void a_clock_that_was_set(void **state)
{
	(void)state;
	for (int doubt = 0; doubt < 2; doubt++) {
		set_up(NULL);
		note(sample_of(1, 1000, 5000, 700));
		note(sample_of(2, 1000, 5000, 700));
		assert_metrics(1, 1, 1);
		if (doubt)
			counter_add(&x.result.account.doubted, 1);
		else
			x.set_ns = 77;
		note(sample_of(3, 1000, 5000, 700));
		note(sample_of(4, 1000, 5000, 700));
		note(sample_of(5, 1000, 5000, 700));
		assert_metrics(4, 1, 1);
		note(sample_of(6, 1000, 5000, 700));
		assert_metrics(5, 2, 2);
		assert_int_equal(x.ipdv.left_out, 2);
	}
	/* A doubt that stays. */
	for (uint32_t seq = 7; seq < 17; seq++) {
		counter_add(&x.result.account.doubted, 1);
		note(sample_of(seq, 1000, 5000, 700));
	}
	assert_metrics(15, 2, 2);
	assert_int_equal(x.ipdv.left_out, 12);
	/* A sample without reported directions is not left out. */
	struct sample none = sample_of(17, 1000, 5000, 700);

	none.source[T2] = none.source[T3] = SOURCE_NONE;
	note(none);
	assert_int_equal(x.ipdv.left_out, 12);
}

/* ---- Times reported by the program ------------------------------------------------------------------------------- */

#define T3_REPORTED (REMOTE + REFLECT_T3_USER)

/* The same with a reflector that does not report the departure of its replies: T3 was read, the reply sent later. */
static struct sample reported_of(uint32_t seq, int64_t remote_ns, int64_t response_ns, int64_t back_ns)
{
	struct sample s = sample_of(seq, remote_ns, response_ns, back_ns);

	s.time_ns[T3_REPORTED] = s.time_ns[T3];
	s.source[T3] = SOURCE_NONE;
	s.source[T2] = SOURCE_LOCAL;
	s.source[T3_REPORTED] = SOURCE_USER;
	s.alike = true;
	return s;
}

static bool print_one(struct sample s)
{
	return ipdv_note(&x, &s);
}

static void assert_reported(uint64_t delays, uint64_t differences)
{
	assert_int_equal(x.ipdv.reported.delay[REPORTED_RESPONSE].count, delays);
	assert_int_equal(x.ipdv.reported.delay[REPORTED_NETWORK].count, delays);
	for (int i = 0; i < REPORTED_VARIATIONS; i++)
		assert_int_equal(x.ipdv.reported.varies[i].count, differences);
	/* No part of it is among the values by timestamps. */
	assert_int_equal(x.ipdv.of[IPDV_BACKWARD].count, 0);
	assert_int_equal(x.ipdv.of[IPDV_RESPONSE].count, 0);
	assert_int_equal(x.ipdv.of[IPDV_NETWORK].count, 0);
}

static void what_only_its_program_prints(void **state)
{
	const struct reported *t = &x.ipdv.reported;

	(void)state;
	assert_true(print_one(reported_of(1, 1000, 5000, 700)));
	assert_true(print_one(reported_of(2, 1010, 5400, 640)));
	assert_reported(2, 1);
	assert_true(t->delay[REPORTED_RESPONSE].sum == 10400 && t->delay[REPORTED_NETWORK].sum == 1700 + 1650);
	assert_true(t->varies[REPORTED_RESPONSE].sum == 400 && t->varies[REPORTED_NETWORK].sum == 50 &&
		    t->varies[REPORTED_RECEIVE].sum == 60);
	/* The way there needs no T3. */
	assert_true(x.ipdv.of[IPDV_FORWARD].count == 1 &&
		    x.ipdv.of[IPDV_FORWARD].sum == 10);
	/* A gap, and a sample by timestamps: neither is compared with times of the program. */
	assert_true(print_one(reported_of(4, 1000, 5000, 700)));
	assert_false(print_one(sample_of(5, 1000, 5000, 700)));
	assert_true(print_one(reported_of(6, 1000, 5000, 700)));
	assert_reported(4, 1);
}

static void what_its_program_cannot_print(void **state)
{
	struct sample s = reported_of(1, 1000, 5000, 700);

	(void)state;
	s.alike = false;
	assert_false(print_one(s));
	assert_int_equal(x.ipdv.reported.two_clocks, 1);
	/* No clock, and a sample that a rule removed. */
	s = reported_of(2, 1000, 5000, 700);
	s.source[T3_REPORTED] = SOURCE_NONE;
	assert_false(print_one(s));
	s = reported_of(3, 1000, 5000, 700);
	s.source[T2] = SOURCE_NONE;
	assert_false(print_one(s));
	/* A response that is longer than all of the round trip, by more than clocks go wrong; one of TAI less UTC; one
	 * beyond 64 bits. */
	s = reported_of(4, 1000, 5000, 700);
	s.time_ns[T3_REPORTED] += 1700 + RESPONSE_SLACK_NS + (7700 >> STEP_SLACK_SHIFT) + 3;
	assert_false(print_one(s));
	s = reported_of(5, 1000, 5000, 700);
	s.time_ns[T3_REPORTED] -= 37 * NS_PER_S;
	assert_false(print_one(s));
	s = reported_of(6, 1000, 5000, 700);
	s.time_ns[T2] = -5;
	s.time_ns[T3_REPORTED] = INT64_MAX;
	assert_false(print_one(s));
	assert_int_equal(x.ipdv.reported.no_part, 3);
	assert_int_equal(x.ipdv.reported.two_clocks, 1);
	assert_reported(0, 0);
}

/* Within the error of the clocks it is used; below 0 it is counted, and still has an IPDV. */
static void what_it_prints_may_be_negative(void **state)
{
	struct sample s = reported_of(1, 1000, 0, 700);

	(void)state;
	s.time_ns[T3_REPORTED] -= RESPONSE_SLACK_NS;
	assert_true(print_one(s));
	s = reported_of(2, 1000, 0, 700);
	s.time_ns[T3_REPORTED] += 1700 + 1000;
	assert_true(print_one(s));
	assert_int_equal(x.ipdv.reported.negative[REPORTED_RESPONSE], 1);
	assert_int_equal(x.ipdv.reported.negative[REPORTED_NETWORK], 1);
	assert_int_equal(x.ipdv.reported.delay[REPORTED_RESPONSE].count, 1);
	assert_int_equal(x.ipdv.reported.delay[REPORTED_NETWORK].count, 1);
	assert_true(x.ipdv.reported.varies[REPORTED_RESPONSE].sum == 3700);
}

static void both_ways_by_the_offset_of_the_clocks(void **state)
{
	const struct reported *t = &x.ipdv.reported;
	struct sample s = reported_of(1, 1000, 5000, 700);

	(void)state;
	ipdv_print_directions(&x, &s, (const int64_t[]){ 5 * NS_PER_S + 300, 5 * NS_PER_S + 300 }, 850);
	ipdv_print_directions(&x, &s, (const int64_t[]){ 5 * NS_PER_S - 100, 5 * NS_PER_S - 100 }, 840);
	ipdv_print_directions(&x, &s, (const int64_t[]){ 5 * NS_PER_S + 1001, 5 * NS_PER_S + 1001 }, 700);
	assert_true(t->delay[REPORTED_SEND].count == 2 && t->delay[REPORTED_SEND].sum == 700 + 1100);
	assert_true(t->delay[REPORTED_RECEIVE].count == 3 && t->delay[REPORTED_RECEIVE].sum == 1000 + 600 + 1701);
	assert_int_equal(t->negative[REPORTED_SEND], 1);
	assert_int_equal(t->bound_ns[0], 850);
	assert_int_equal(t->bound_ns[1], 700);
}

static void a_clock_that_was_set_prints_nothing(void **state)
{
	(void)state;
	assert_true(print_one(reported_of(1, 1000, 5000, 700)));
	x.set_ns = 77;
	assert_false(print_one(reported_of(2, 1000, 5000, 700)));
	assert_false(print_one(reported_of(3, 1000, 5000, 700)));
	assert_true(print_one(reported_of(4, 1000, 5000, 700)));
	assert_reported(2, 0);
	assert_int_equal(x.ipdv.left_out, 2);
}

/* ---- At a reflector ---------------------------------------------------------------------------------------------- */

static struct sessions sessions;

static void answer(uint16_t session, uint32_t seq, int64_t response_ns)
{
	const struct flight flight = { .session = session, .sample = { .seq = seq, .latency_ns = response_ns },
				       .sent_ns = x.now_ns - 1000 };

	x.sessions = &sessions;
	ipdv_note_answer(&x, &flight);
}

/* Requests of three senders by turns, one of which begins where another is: each follows its own. */
static void each_session_by_itself(void **state)
{
	const struct ipdv_metric *response = &x.ipdv.of[IPDV_RESPONSE];

	(void)state;
	memset(&sessions, 0, sizeof(sessions));
	for (uint32_t seq = 0; seq < 10; seq++) {
		answer(0, seq, 1000 + 10 * (seq % 2));
		answer(5, seq + 1, 5000 + seq);
		answer(SESSIONS_MAX - 1, 77 * seq, 900000);
	}
	assert_int_equal(response->count, 18);
	assert_true(response->sum == 9 * 10 + 9);
	assert_int_equal(response->max_ns, 10);
	/* Lost, again, late, and where numbers go round. */
	answer(0, 12, 2000);
	answer(0, 12, 3000);
	answer(0, 11, 4000);
	assert_int_equal(response->count, 18);
	answer(5, UINT32_MAX, 100);
	answer(5, 0, 600);
	assert_int_equal(response->count, 19);
	assert_int_equal(response->max_ns, 500);
	for (int i = 0; i < IPDV_METRICS; i++)
		assert_true(i == IPDV_RESPONSE || !x.ipdv.of[i].count);
}

/* The first of a session has no predecessor, whatever its number; nor has a sample of another session. */
static void the_first_answer_of_a_session(void **state)
{
	const struct ipdv_metric *response = &x.ipdv.of[IPDV_RESPONSE];
	const struct flight late = { .sample = { .seq = 2, .latency_ns = 77 }, .sent_ns = -SESSION_IDLE_NS };

	(void)state;
	memset(&sessions, 0, sizeof(sessions));
	answer(0, 1, 1000);
	assert_int_equal(response->count, 0);
	ipdv_note_answer(&x, &late);
	assert_int_equal(response->count, 0);
	answer(0, 2, 1300);
	assert_int_equal(response->count, 1);
	assert_int_equal(response->max_ns, 300);
	sessions.session[0] = (struct session){ .requests = 1 };
	answer(0, 3, 5000);
	assert_int_equal(response->count, 1);
}

/* Times of clocks that have nothing in common, at the ends of 64 bits. */
static void times_beyond_64_bits(void **state)
{
	struct sample s = sample_of(1, 1000, 5000, 700);

	(void)state;
	s.time_ns[T2] = INT64_MIN;
	s.time_ns[T3] = INT64_MIN;
	note(s);
	s.seq = 2;
	s.time_ns[T2] = s.time_ns[T3] = INT64_MAX;
	note(s);
	s.seq = 3;
	note(s);
	assert_int_equal(x.ipdv.of[IPDV_RTT].count, 2);
	assert_int_equal(x.ipdv.of[IPDV_FORWARD].count, 1);
	assert_int_equal(x.ipdv.of[IPDV_BACKWARD].count, 1);
	assert_int_equal(x.ipdv.of[IPDV_RESPONSE].count, 2); /* none of them is far from T2 */
	assert_int_equal(x.ipdv.of[IPDV_FORWARD].max_ns, 0);
}

#define TEST(function) cmocka_unit_test_setup(function, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(six_delays_by_hand),
		TEST(one_delay_has_no_difference),
		TEST(a_gap_has_no_difference),
		TEST(what_comes_out_of_order_is_the_last_one),
		TEST(numbers_wrap),
		TEST(kinds_are_not_compared),
		TEST(values_beyond_all),
		TEST(sums_are_exact),
		TEST(counts_pass_a_byte),
		TEST(buckets_are_as_fine_as_reported),
		TEST(random_delays),
		TEST(the_ways_of_two_samples),
		TEST(a_way_that_is_not_known),
		TEST(without_a_peer_there_are_no_ways),
		TEST(a_reflector_with_other_stamps),
		TEST(a_clock_that_was_set),
		TEST(times_beyond_64_bits),
		TEST(each_session_by_itself),
		TEST(the_first_answer_of_a_session),
		TEST(what_only_its_program_prints),
		TEST(what_its_program_cannot_print),
		TEST(what_it_prints_may_be_negative),
		TEST(both_ways_by_the_offset_of_the_clocks),
		TEST(a_clock_that_was_set_prints_nothing),
	};

	util_seed();
	return cmocka_run_group_tests_name("variation", tests, NULL, NULL);
}
