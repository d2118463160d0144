/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Admission by a reflector: a refused request is counted by its reason, and is in nothing else of the run. The bench
 * holds every account, record and reply against the truth; here is said which request is to be refused, and why. */
#include "exchange_bench.h"

/* ---- Who it is, and how much he sends ---------------------------------------------------------------------------- */

static void put_prefix(uint32_t host, int bits)
{
	struct allow_prefix *p = &b.options.allow.prefix[b.options.allow.prefixes++];
	union address a = { .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) } };

	address_as_ipv6(&a, p->address);
	a.in.sin_addr.s_addr = htonl(UINT32_MAX << (32 - bits));
	address_as_ipv6(&a, p->mask);
	memset(p->mask, 0xff, 12);
}

/* The peers are 10.0.0.1, 10.0.1.1, 10.0.2.1 and so on: 10.0.0.1/32 and 10.0.4.0/22. */
static enum fake_verdict by_address(const struct fake_message *m)
{
	return m->peer == 0 || (m->peer >= 4 && m->peer <= 7) ? m->verdict : DISALLOWED;
}

/* A run of which only 5 of 10 peers are to be answered, with 2 * PACKETS requests. */
static void start_with_a_list(void)
{
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	put_prefix(0x0a000001, 32);
	put_prefix(0x0a000400, 22);
	fake.spread = true;
	fake.peers = 10;
	fake.packets = 2 * PACKETS;
	fake.judge = by_address;
}

static void only_who_is_allowed(void **state)
{
	struct fake_account got;

	(void)state;
	start_with_a_list();
	b.x.pmc = &pmc;
	got = bench_run("--allow");
	assert_int_equal(got.disallowed, PACKETS);
	assert_int_equal(got.recorded, PACKETS);
	assert_int_equal(hook.begun, PACKETS);
	assert_int_equal(counter_get(&b.sessions.opened), 5);

	/* No packet of the others is even read: the malformed packets of peer 1, and those of peer 4. */
	start_with_a_list();
	SCRIPT({ 21, 0, EXTRA, EXTRA_MULTIPLIER, 0 }, { 24, 0, EXTRA, EXTRA_MULTIPLIER, 0 });
	got = bench_run("--allow, malformed");
	assert_int_equal(got.malformed, 1);
	assert_int_equal(got.disallowed, PACKETS + 1);
}

/* Those refused are in no count of a run, of its warm-up and its breaches. */
static void a_run_is_of_what_is_answered(void **state)
{
	struct fake_account got;

	(void)state;
	start_with_a_list();
	b.options.count = 20;
	b.options.warmup = 5;
	got = bench_run("--allow --count");
	assert_int_equal(b.x.result.end, END_COUNT);
	assert_int_equal(got.sent, 25);
	assert_int_equal(got.warmup, 5);
	assert_int_equal(got.recorded, 20);
	assert_true(got.disallowed >= 20 && got.disallowed <= 30);

	/* Slow requests of 10.0.1.1, which are refused, and one of 10.0.0.1. */
	for (int good = 0; good < 2; good++) {
		start_with_a_list();
		b.options.threshold_ns = THRESHOLD_NS;
		if (good)
			SCRIPT({ 11, 0, LATENCY, 50000, 0 }, { 20, 0, LATENCY, 50000, 0 },
			       { 21, 0, LATENCY, 50000, 0 });
		else
			SCRIPT({ 11, 0, LATENCY, 50000, 0 }, { 21, 0, LATENCY, 50000, 0 });
		got = bench_run("--allow --threshold");
		assert_int_equal(got.breaches, good);
		assert_int_equal(b.breach_calls, good);
		assert_int_equal(b.x.result.end, good ? END_BREACH : END_SIGNAL);
	}
}

static enum fake_verdict all_too_short(const struct fake_message *m)
{
	(void)m;
	return TOO_SHORT;
}

static void short_requests(void **state)
{
	(void)state;
	for (size_t bytes = STAMP_REQUEST_MIN_BYTES; bytes <= STAMP_BASE_BYTES; bytes += 5) {
		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		fake.cut_bytes = bytes;
		fake.judge = bytes < STAMP_BASE_BYTES ? all_too_short : NULL;
		assert_int_equal(bench_run("short").too_short, bytes < STAMP_BASE_BYTES ? PACKETS : 0);
		assert_int_equal(counter_get(&b.sessions.opened), bytes < STAMP_BASE_BYTES ? 0 : 1);

		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		b.options.allow_short = true;
		fake.cut_bytes = bytes;
		assert_int_equal(bench_run("--allow-short").recorded, PACKETS);
	}
}

static enum fake_verdict first_four(const struct fake_message *m)
{
	return m->peer < 4 ? m->verdict : NO_SESSION;
}

/* The others are answered without a session; not with a key, since replayed requests could not be detected. */
static void only_so_many_sessions(void **state)
{
	struct hmac *key = bench_open_key();
	struct fake_account got;

	(void)state;
	for (int with = 0; with < 2; with++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		bench_sessions(4, 0);
		fake.peers = 10;
		fake.packets = 10 * PACKETS;
		fake.stateful = 4;
		fake.judge = with ? first_four : NULL;
		b.plan.key = b.x.key = fake.key = with ? key : NULL;
		got = bench_run("--sessions");
		assert_int_equal(got.recorded, with ? 4 * PACKETS : 10 * PACKETS);
		assert_int_equal(got.no_session, with ? 6 * PACKETS : 0);
		assert_int_equal(counter_get(&b.x.result.account.stateless), with ? 0 : 6 * PACKETS);
		assert_int_equal(counter_get(&b.sessions.opened), 4);
	}
	hmac_close(key);
}

/* ---- How fast he sends ------------------------------------------------------------------------------------------- */

#define RATE 2000
#define INTERVAL_NS (NS_PER_S / RATE)

static struct {
	int64_t at_ns, level_ns;
	unsigned refused;
} bucket[3];

/* A bucket of tokens, by the clock as the loop has last read it; that is never old. */
static enum fake_verdict by_rate(const struct fake_message *m)
{
	const int64_t now_ns = b.x.now_ns, full_ns = SESSION_AHEAD_NS + INTERVAL_NS;
	int64_t level_ns = bucket[m->peer].level_ns + now_ns - bucket[m->peer].at_ns;

	assert_true(fake.now_ns - now_ns < NS_PER_MS);
	level_ns = level_ns > full_ns ? full_ns : level_ns;
	bucket[m->peer].at_ns = now_ns;
	bucket[m->peer].level_ns = level_ns >= INTERVAL_NS ? level_ns - INTERVAL_NS : level_ns;
	if (level_ns >= INTERVAL_NS)
		return m->verdict;
	bucket[m->peer].refused++;
	return OVER_RATE;
}

static void no_more_than_the_rate(void **state)
{
	struct fake_account got;

	(void)state;
	memset(bucket, 0, sizeof(bucket));
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	bench_sessions(SESSIONS_MAX, RATE);
	fake.peers = COUNT_OF(bucket);
	fake.packets = 3000;
	fake.gap_ns = 50 * NS_PER_US;
	fake.judge = by_rate;
	got = bench_run("--rate-limit");
	assert_true(got.over_rate > 1000 && got.recorded >= 3 * 201 && got.recorded < 3 * 201 + 3 * 400);
	for (size_t i = 0; i < COUNT_OF(bucket); i++)
		assert_int_equal(b.sessions.session[i].requests, 1000);

	/* A sender below the limit is not. */
	memset(bucket, 0, sizeof(bucket));
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	bench_sessions(SESSIONS_MAX, RATE);
	fake.packets = 1000;
	fake.gap_ns = INTERVAL_NS;
	fake.judge = by_rate;
	assert_int_equal(bench_run("at the rate").recorded, 1000);
}

/* ---- With a key -------------------------------------------------------------------------------------------------- */

static enum fake_verdict by_number(const struct fake_message *m)
{
	return fake.seen[m->number % FAKE_PACKETS] ? REPLAYED : m->verdict;
}

/* A repeated request is not answered again. A late request is, if it is among the last 64, and once. */
static void a_replay_is_not_answered(void **state)
{
	struct hmac *key = bench_open_key();
	struct fake_account got;

	(void)state;
	for (int with = 0; with < 2; with++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		fake.packets = 200;
		fake.open_loop_ns = 20 * NS_PER_US;
		fake.judge = with ? by_number : NULL;
		b.plan.key = b.x.key = fake.key = with ? key : NULL;
		SCRIPT({ 5, 9, TWICE, 0, 0 }, { 20, 0, LATE, 90 * NS_PER_US, 0 }, { 30, 0, TWICE, 50 * NS_PER_US, 0 },
		       { 40, 0, TWICE, NS_PER_MS, 0 }, { 60, 0, LATE, 70 * NS_PER_US, 0 });
		got = bench_run(with ? "replays with a key" : "replays without a key");
		assert_int_equal(got.replayed, with ? 7 : 0);
		assert_int_equal(got.repeated, with ? 0 : 7);
		assert_int_equal(got.recorded, with ? 200 : 207);
		assert_true(got.reordered >= 2);
	}
	hmac_close(key);
}

/* It does not take from the rate, which is for who has the key. */
static void a_replay_costs_no_rate(void **state)
{
	struct hmac *key = bench_open_key();

	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	bench_sessions(SESSIONS_MAX, RATE);
	fake.packets = 400;
	fake.gap_ns = INTERVAL_NS;
	fake.judge = by_number;
	b.plan.key = b.x.key = fake.key = key;
	SCRIPT({ 0, 399, TWICE, 10 * NS_PER_US, 0 });

	struct fake_account got = bench_run("replays at a rate");

	assert_int_equal(got.recorded, 400);
	assert_int_equal(got.replayed, 400);
	assert_int_equal(got.over_rate, 0);
	hmac_close(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_who_is_allowed), TEST(a_run_is_of_what_is_answered), TEST(short_requests),
		TEST(only_so_many_sessions), TEST(no_more_than_the_rate), TEST(a_replay_is_not_answered),
		TEST(a_replay_costs_no_rate),
	};

	return cmocka_run_group_tests_name("admit", tests, NULL, bench_free);
}
