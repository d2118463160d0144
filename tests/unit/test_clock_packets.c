/* build: wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen sources=host/clock/clock_budget.c,host/clock/clock.c,host/clock/clock_fault.c,host/clock/clock_seqlock.c,host/clock/clock_track.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Relation of a PHC that cannot be read, by packets between simulated clocks whose truth is known. */
#include "host/clock/clock_packets.c"
#include "host/clock/clock_compare.c"

#include "util.h"
#include "fake_clocks.h"

static struct clock_packets packets;

/* Of the simulated path. */
static struct {
	int64_t out_ns, in_ns; /* shortest time between the NIC and the system, of a sent and of a received packet */
	int64_t more_ns; /* up to this is added to each, of all packets but one in `quiet_every` */
	unsigned quiet_every;
	int64_t interval_ns, round_trip_ns;
	int quiet; /* readings for which a step may be unknown */
	int64_t widest_ns;
} path;

static void open_unreadable(void)
{
	memset(&packets, 0, sizeof(packets));
	fake.phc_error = EOPNOTSUPP;
	assert_int_equal(clock_open(&c, 7), -EOPNOTSUPP);
	assert_string_equal(c.why, "/dev/ptp7 cannot be read: Operation not supported");
	clock_use_packets(&c, &packets);
	assert_string_equal(clock_method_name(&c), "timestamps of packets");
	assert_int_equal(clock_measure(&c, 0), 0);
}

static int a_path(void **state)
{
	made_clocks(state);
	memset(&path, 0, sizeof(path));
	path.out_ns = 3000;
	path.in_ns = 2000;
	path.quiet_every = 1;
	path.interval_ns = NS_PER_MS;
	path.round_trip_ns = 20000;
	return 0;
}

static int64_t delay(int64_t least_ns)
{
	const bool quiet = util_below(path.quiet_every) == 0;

	return least_ns + (int64_t)util_below(100) + (quiet ? 0 : (int64_t)util_below((uint64_t)path.more_ns));
}

/* As the emitter sees it, or else the reflector. */
static struct clock_exchange exchange(bool emit)
{
	struct clock_exchange e = { 0 };

	for (int i = 0; i < 2; i++) {
		if (emit == !i) {
			e.sent_ns = shows(REAL);
			pass(delay(path.out_ns));
			e.sent_phc_ns = shows(PHC);
		} else {
			e.received_phc_ns = shows(PHC);
			pass(delay(path.in_ns));
			e.received_ns = shows(REAL);
		}
		pass(path.round_trip_ns);
	}
	return e;
}

static void check_now(void)
{
	int64_t real_ns = shows(REAL), said_ns, bound_ns;

	if (!clock_to_phc(&c, real_ns, &said_ns, &bound_ns))
		return;
	answered++;
	path.widest_ns = larger(path.widest_ns, bound_ns);
	if (!path.quiet && distance(said_ns, shows(PHC)) > bound_ns)
		fail_msg("%lld ns off, bound %lld", (long long)(said_ns - shows(PHC)), (long long)bound_ns);
}

/* Packets, with ten readings a second. */
static void talk(int64_t ns)
{
	int64_t read_ns = fake.now_ns + NS_PER_S / 10;

	for (int64_t end_ns = fake.now_ns + ns; fake.now_ns < end_ns;) {
		const struct clock_exchange e = exchange(util_below(2));

		check_now();
		clock_packets_note(&packets, &e);
		for (int64_t next_ns = fake.now_ns + path.interval_ns; fake.now_ns < next_ns;) {
			pass(smaller(path.interval_ns, NS_PER_S / 10));
			if (fake.now_ns < read_ns)
				continue;
			read_ns += NS_PER_S / 10;
			path.quiet -= path.quiet > 0;
			assert_int_equal(clock_measure(&c, 0), 0);
			check_now();
		}
	}
}

static void set_clock(int which, int64_t ns)
{
	step(which, ns);
	path.quiet = 3; /* a reading whose packets were earlier, and that which finds the step */
}

/* ---- Drift --------------------------------------------------------------------------------------------------------- */

static void drifts_in_both_directions(void **state)
{
	static const int64_t ppb[] = { 0, 20000, -30000, 100000, -100000, 400000 };

	for (size_t i = 0; i < COUNT_OF(ppb); i++) {
		struct clock_rate rate;

		a_path(state);
		fake.clock[PHC].ppb = ppb[i];
		fake.clock[REAL].ppb = (int64_t)util_below(20000) - 10000;
		step(PHC, 37 * S);
		open_unreadable();
		talk(3 * S);
		assert_true(answered > 1000);
		assert_no_steps();
		path.widest_ns = 0;
		talk(3 * S);
		/* half of the 5.1 us, the rates within some ppm for 0.2 s, and the readings of the system clock */
		if (path.widest_ns > 6000)
			fail_msg("%lld ppb: bound %lld", (long long)ppb[i], (long long)path.widest_ns);
		assert_no_steps();
		rate = clock_drift(&c, CLOCK_OF_NIC);
		assert_true(rate.measured && rate.bound_ppb < 5000);
		check_rate(CLOCK_OF_NIC, (double)ppb[i]);
		assert_int_equal(clock_steering(&c, CLOCK_OF_NIC), CLOCK_STEERING_UNKNOWN);
		assert_int_equal(clock_scale(&c), CLOCK_SCALE_TAI);
		assert_int_equal(c.failures, 0);
		clock_close(&c);
	}
}

/* The first relation is published when its rate is known: until then its bound would be wider than any stage. */
static void the_rate_comes_first(void **state)
{
	a_path(state);
	open_unreadable();
	talk(S);
	assert_true(answered > 500);
	assert_true(path.widest_ns < 25000); /* CLOCK_PACKETS_RATE_PPB for 0.2 s, and half of the 5.1 us */
	clock_close(&c);
}

static void a_servo_turns_slowly(void **state)
{
	a_path(state);
	open_unreadable();
	for (int i = 0; i < 30; i++) {
		talk(S);
		turn(PHC, fake.frequency_ppb[PHC] + (int64_t)util_below(2 * CLOCK_PACKETS_CHANGE_PPB / 3) -
			  CLOCK_PACKETS_CHANGE_PPB / 3);
	}
	assert_no_steps();
	clock_close(&c);
}

/* ---- Late packets, and few --------------------------------------------------------------------------------------- */

static void late_packets_do_not_count(void **state)
{
	a_path(state);
	path.more_ns = 3 * NS_PER_MS;
	path.quiet_every = 4;
	fake.clock[PHC].ppb = -30000;
	open_unreadable();
	talk(4 * S);
	path.widest_ns = 0;
	talk(20 * S);
	assert_no_steps();
	assert_true(answered > 1000);
	/* of four times in a pair each is quiet once in 4: now and then none of 50 pairs is */
	assert_true(path.widest_ns < NS_PER_MS);
	clock_close(&c);
}

/* The receive timestamps alone give no bound, and neither does one exchange: it may span a step. */
static void few_packets(void **state)
{
	struct clock_exchange e;

	a_path(state);
	open_unreadable();
	e = exchange(true);
	clock_packets_note(&packets, &e);
	clock_packets_note(&packets, &e);
	assert_int_equal(clock_measure(&c, 0), 0);
	assert_int_equal(c.track[CLOCK_OF_NIC].readings, 0);
	fake.clock[PHC].ppb = 20000;
	path.interval_ns = S;
	talk(20 * S);
	assert_true(c.track[CLOCK_OF_NIC].readings > 10);
	path.interval_ns = 10 * S;
	talk(200 * S);
	assert_no_steps();
	clock_close(&c);
}

/* With several packets in flight most exchanges overlap the one before. */
static void many_in_flight(void **state)
{
	struct clock_exchange e[8];

	a_path(state);
	fake.clock[PHC].ppb = 20000;
	open_unreadable();
	for (int n = 0; n < 400; n++) {
		for (size_t i = 0; i < COUNT_OF(e); i++) {
			e[i].sent_ns = shows(REAL);
			pass(delay(path.out_ns));
			e[i].sent_phc_ns = shows(PHC);
			pass(5000);
		}
		for (size_t i = 0; i < COUNT_OF(e); i++) {
			e[i].received_phc_ns = shows(PHC);
			pass(delay(path.in_ns));
			e[i].received_ns = shows(REAL);
			clock_packets_note(&packets, &e[i]);
			check_now();
		}
		pass(2 * NS_PER_MS);
		if (n % 40 == 0)
			assert_int_equal(clock_measure(&c, 0), 0);
	}
	assert_true(answered > 1000 && path.widest_ns < 20000);
	assert_no_steps();
	clock_close(&c);
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

static void a_step_is_found(void **state)
{
	static const int64_t ns[] = { 50000, -50000, NS_PER_MS, -NS_PER_S };

	for (size_t i = 0; i < COUNT_OF(ns); i++)
		for (int which = REAL; which <= PHC; which++) {
			const enum clock_which of = which == PHC ? CLOCK_OF_NIC : CLOCK_OF_SYSTEM;

			a_path(state);
			fake.clock[PHC].ppb = 20000;
			open_unreadable();
			talk(3 * S);
			assert_no_steps();
			set_clock(which, ns[i]);
			talk(3 * S);
			assert_int_equal(counter_get(&c.track[of].steps), 1);
			assert_int_equal(c.steps_kept, 1);
			assert_int_equal(c.step[0].which, of);
			assert_true(distance(c.step[0].size_ns, ns[i]) <= c.step[0].bound_ns);
			answered = 0;
			talk(S);
			assert_true(answered > 100);
			clock_close(&c);
		}
}

static int64_t next_step_ns;

static void step_phc(void)
{
	step(PHC, next_step_ns);
}

/* A step within an exchange that leaves its limits possible, but wrong: the other exchange of the pair counts as well. A
 * step below the bound is not found, but the next relation holds. */
static void a_step_within_an_exchange(void **state)
{
	a_path(state);
	path.interval_ns = 5 * NS_PER_MS; /* so that the best of few is often the wrong one */
	open_unreadable();
	talk(3 * S);
	for (int i = 0; i < 300; i++) {
		next_step_ns = (int64_t)util_below(16000) - 8000;
		fake.event_at_ns = fake.now_ns + (int64_t)util_below((uint64_t)path.interval_ns);
		fake.event = step_phc;
		path.quiet = 4;
		talk(S + (int64_t)util_below((uint64_t)S));
	}
	assert_true(answered > 10000);
	clock_close(&c);
}

/* Whichever of the two exchanges spans a step, or if it is between them: between them the offset is known. */
static void one_exchange_spans_a_step(void **state)
{
	for (int i = 0; i < 20000; i++) {
		struct clock_exchange_pair pair;
		struct clock_relation r;
		int64_t true_ns;

		a_path(state);
		fake.event_at_ns = (int64_t)util_below(200000);
		fake.event = step_phc;
		next_step_ns = (int64_t)util_below(16000) - 8000;
		pair.of[0] = exchange(util_below(2));
		true_ns = shows(PHC) - shows(REAL);
		pass(50000);
		pair.of[1] = exchange(util_below(2));
		if (most_of(&pair.of[0]) < least_of(&pair.of[0]) || most_of(&pair.of[1]) < least_of(&pair.of[1]))
			continue;
		assert_true(clock_packets_relation(&pair, 0, 0, 1, &r));
		if (distance(r.offset_ns, true_ns) > r.bound_ns)
			fail_msg("step of %lld at %lld: %lld ns off, bound %lld", (long long)next_step_ns,
				 (long long)fake.event_at_ns, (long long)(r.offset_ns - true_ns), (long long)r.bound_ns);
	}
}

/* The exchanges are half a second apart: each limit is moved by the rate, and its uncertainty is added. */
static void limits_move_at_the_rate(void **state)
{
	static const int64_t ppb[] = { 500000, -500000, 7 };

	for (size_t i = 0; i < COUNT_OF(ppb); i++) {
		struct clock_exchange_pair pair;
		struct clock_relation r;

		a_path(state);
		path.round_trip_ns = 0;
		fake.clock[PHC].ppb = ppb[i];
		pair.of[0] = exchange(true);
		const int64_t true_ns = shows(PHC) - shows(REAL);

		pass(S / 2);
		pair.of[1] = exchange(true);
		assert_true(clock_packets_relation(&pair, (double)ppb[i], 0, 1, &r));
		assert_true(distance(r.offset_ns, true_ns) <= r.bound_ns && r.bound_ns < 3000);
		assert_true(clock_packets_relation(&pair, 0, 500000, 1, &r));
		assert_true(distance(r.offset_ns, true_ns) <= r.bound_ns && r.bound_ns > 250000);
	}
}

static void a_contradiction_is_counted(void **state)
{
	struct clock_exchange e;

	a_path(state);
	open_unreadable();
	e = exchange(true);
	clock_packets_note(&packets, &e);
	e = exchange(true);
	e.sent_phc_ns -= 6000;
	clock_packets_note(&packets, &e);
	assert_int_equal(counter_get(&packets.contradictions), 1);
	e = exchange(true);
	clock_packets_note(&packets, &e);
	assert_int_equal(packets.sequence, packets.taken); /* neither is in a pair */
	clock_close(&c);
}

/* ---- Hand-over and limits of the numbers ------------------------------------------------------------------------- */

static void the_hand_over_wraps(void **state)
{
	a_path(state);
	open_unreadable();
	packets.sequence = packets.taken = UINT32_MAX - 19;
	talk(2 * S);
	assert_true(packets.sequence > 20 && packets.sequence < 1000);
	assert_true(c.track[CLOCK_OF_NIC].readings > 15);
	clock_close(&c);
}

/* The loop goes on while nothing is taken, and then hands over what is best since. */
static void the_best_is_kept_until_it_is_taken(void **state)
{
	struct clock_exchange_pair pair;
	struct clock_exchange e;
	int64_t best_ns = 0;

	a_path(state);
	open_unreadable();
	assert_false(clock_packets_take(&packets, &pair));
	for (int i = 0; i < 10; i++) {
		path.in_ns = i == 6 || i == 7 ? 1000 : 2000;
		e = exchange(true);
		clock_packets_note(&packets, &e);
		pass(NS_PER_MS);
		if (i == 7)
			best_ns = e.sent_ns;
	}
	assert_true(clock_packets_take(&packets, &pair));
	assert_int_equal(pair.of[1].sent_ns, best_ns);
	assert_false(clock_packets_take(&packets, &pair));
	path.in_ns = 5000;
	e = exchange(true);
	clock_packets_note(&packets, &e);
	assert_true(clock_packets_take(&packets, &pair)); /* worse than the one taken */
	assert_int_equal(pair.of[1].sent_ns, e.sent_ns);
	packets.sequence++; /* the loop writes */
	assert_false(clock_packets_take(&packets, &pair));
	clock_close(&c);
}

static int64_t any_time(void)
{
	static const int64_t odd[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MIN / 2 };

	return util_below(2) ? odd[util_below(COUNT_OF(odd))] : (int64_t)util_random();
}

static void any_number_is_survived(void **state)
{
	a_path(state);
	open_unreadable();
	for (int i = 0; i < 100000; i++) {
		const struct clock_exchange e = { any_time(), any_time(), any_time(), any_time() };
		int64_t phc_ns, bound_ns;

		clock_packets_note(&packets, &e);
		if (i % 5 == 0)
			clock_measure(&c, 0);
		clock_to_phc(&c, any_time(), &phc_ns, &bound_ns);
	}
	clock_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(drifts_in_both_directions), MADE_TEST(the_rate_comes_first), MADE_TEST(a_servo_turns_slowly),
		MADE_TEST(late_packets_do_not_count), MADE_TEST(few_packets), MADE_TEST(many_in_flight),
		MADE_TEST(a_step_is_found), MADE_TEST(a_step_within_an_exchange), MADE_TEST(one_exchange_spans_a_step),
		MADE_TEST(limits_move_at_the_rate), MADE_TEST(a_contradiction_is_counted),
		MADE_TEST(the_hand_over_wraps), MADE_TEST(the_best_is_kept_until_it_is_taken),
		MADE_TEST(any_number_is_survived),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
