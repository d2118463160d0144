/* build: wraps=sendmsg,recvmsg,ppoll,clock_gettime,clock_to_phc,clock_peer_add,pmc_begin,pmc_end,pmc_account sources=tests/unit/fake_kernel.c,tests/unit/fake_script.c,tests/unit/fake_account.c,tests/unit/fake_reflector.c,tests/unit/fake_emitter.c,wire/timestamping.c,wire/packet.c,wire/tlv.c,wire/hmac.c,wire/session.c,wire/sequence.c,histogram.c,measure/log.c,host/pmc.c,host/clock.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both loops against a fake kernel, network and peer in virtual time. After every run three accounts are held together:
 * that of the room, that of the fake, and, where a test names numbers, the test's own.
 */
#include "measure/exchange.c"

#include "util.h"

#include "exchange_bench.h"

/* ---- The table: one script, both roles ---------------------------------------------------------------------------- */

enum { BOTH, EMIT_ONLY, REFLECT_ONLY };

/* What differs from a run of PACKETS good exchanges. */
struct row {
	const char *name;
	struct fake_event events[4];
	struct fake_account emit, reflect;
	int only;
	int64_t open_loop_ns; /* reflector */
	bool sleeps;
};

#define LOSS { .received = -1, .recorded = -1, .answered = -1, .lost = 1 }
#define NO_REQUEST { .sent = -1, .received = -1, .recorded = -1, .answered = -1 }
#define ONE_MORE { .sent = 1, .received = 1, .recorded = 1, .answered = 1, .repeated = 1 }
#define NO_TX(...) { .recorded = -1, .unstamped = 1, .missing_tx = 1, __VA_ARGS__ }
#define NO_RX(...) { .recorded = -1, .unstamped = 1, .missing_rx = 1, __VA_ARGS__ }
#define NOT_SENT(...) { .refused = 1, .unanswered = 1, .sent = -1, .answered = -1, .recorded = -1, __VA_ARGS__ }
#define SAME(...) .emit = __VA_ARGS__, .reflect = __VA_ARGS__
#define BAD_STAMP(kind) { #kind, { { 10, 0, TX, kind, 0 } }, SAME(NO_TX(.error_other = 1)), .sleeps = true }
#define BAD_EXTRA(kind) { #kind " more", { { 10, 0, TX_EXTRA, kind, 0 } }, SAME({ .error_other = 1 }) }
#define MALFORMED_EXTRA(kind) { #kind, { { 10, 0, EXTRA, kind, 0 } }, SAME({ .received = 1, .malformed = 1 }) }
#define FOREIGN_EXTRA(kind, who) \
	{ #kind, { { 10, 0, EXTRA, kind, 0 } }, SAME({ .received = 1, .foreign = 1 }), .only = who }
#define SEND_REFUSED(e) { "send " #e, { { 10, 0, SEND_ERROR, e, 0 } }, .emit = { .refused = 1 }, .reflect = NOT_SENT() }

static const struct row rows[] = {
	{ .name = "nothing goes wrong" },
	{ "lost", { { 10, 0, LOST, 0, 0 } }, .emit = LOSS, .reflect = NO_REQUEST },
	{ "the first is lost", { { 0, 0, LOST, 0, 0 } }, .emit = LOSS, .reflect = NO_REQUEST },
	{ "a peer that starts late", { { 0, 5, LOST, 0, 0 } },
	  .emit = { .received = -6, .recorded = -6, .answered = -6, .lost = 6 },
	  .reflect = { .sent = -6, .received = -6, .recorded = -6, .answered = -6 } },
	{ "a peer that stops and restarts", { { 20, 24, LOST, 0, 0 } },
	  .emit = { .received = -5, .recorded = -5, .answered = -5, .lost = 5 },
	  .reflect = { .sent = -5, .received = -5, .recorded = -5, .answered = -5 } },
	{ "late", { { 10, 0, LATE, 200 * NS_PER_US, 0 } },
	  .emit = { .recorded = -1, .answered = -1, .lost = 1, .late = 1, .reordered = 1 },
	  .reflect = { .reordered = 1 } },
	{ "late, then again", { { 10, 0, LATE, 150 * NS_PER_US, 0 }, { 10, 0, TWICE, 60 * NS_PER_US, 0 } },
	  .emit = { .received = 1, .recorded = -1, .answered = -1, .lost = 1, .late = 1, .duplicate = 1, .reordered = 2 },
	  .reflect = { .sent = 1, .received = 1, .recorded = 1, .answered = 1, .reordered = 1, .repeated = 1 } },
	{ "late before anything else answered", { { 0, 0, LATE, 200 * NS_PER_US, 0 }, { 1, 0, LOST, 0, 0 } },
	  .emit = { .received = -1, .recorded = -2, .answered = -2, .lost = 2, .late = 1 },
	  .reflect = { .sent = -1, .received = -1, .recorded = -1, .answered = -1, .reordered = 1 } },
	{ "twice", { { 10, 0, TWICE, 1, 0 } }, .emit = { .received = 1, .duplicate = 1 }, .reflect = ONE_MORE },
	{ "twice, the second one behind others", { { 10, 0, TWICE, 100 * NS_PER_US, 0 } },
	  .emit = { .received = 1, .duplicate = 1, .reordered = 1 }, .reflect = ONE_MORE },

	MALFORMED_EXTRA(EXTRA_EMPTY), MALFORMED_EXTRA(EXTRA_SHORT), MALFORMED_EXTRA(EXTRA_HUGE),
	MALFORMED_EXTRA(EXTRA_MULTIPLIER), MALFORMED_EXTRA(EXTRA_TRUNCATED),
	FOREIGN_EXTRA(EXTRA_OTHER_SSID, EMIT_ONLY), FOREIGN_EXTRA(EXTRA_FUTURE, EMIT_ONLY),
	FOREIGN_EXTRA(EXTRA_FAR_PAST, EMIT_ONLY), FOREIGN_EXTRA(EXTRA_OTHER_T1, EMIT_ONLY),
	FOREIGN_EXTRA(EXTRA_IS_REPLY, REFLECT_ONLY), FOREIGN_EXTRA(EXTRA_OWN_PORT, REFLECT_ONLY),
	FOREIGN_EXTRA(EXTRA_OWN_ADDRESS, REFLECT_ONLY), FOREIGN_EXTRA(EXTRA_MULTICAST, REFLECT_ONLY),
	FOREIGN_EXTRA(EXTRA_BROADCAST, REFLECT_ONLY), FOREIGN_EXTRA(EXTRA_NO_PKTINFO, REFLECT_ONLY),
	{ "malformed TLV", { { 10, 0, BAD_TLV, 0, 0 } }, .reflect = { .malformed_tlv = 1 }, .only = REFLECT_ONLY },
	{ "a large request", { { 10, 0, LARGE, 0, 0 } }, .only = REFLECT_ONLY },

	{ "no transmit stamp", { { 10, 0, TX_NONE, 0, 0 } }, SAME(NO_TX()), .sleeps = true },
	{ "no transmit stamp for the first", { { 0, 0, TX_NONE, 0, 0 } }, SAME(NO_TX()), .sleeps = true },
	{ "a slow transmit stamp", { { 10, 0, TX_SLOW, 2 * NS_PER_MS, 0 } }, .sleeps = true },
	{ "a transmit stamp after its timeout",
	  { { 10, 0, TX_SLOW, 6500 * NS_PER_US, 0 }, { 11, 39, LATENCY, 90000, 0 } },
	  SAME(NO_TX(.stamp_late = 1)), .open_loop_ns = 500 * NS_PER_US, .sleeps = true },
	{ "a slow reply, and a stamp that comes within its own wait",
	  { { 10, 0, LATENCY, 4 * NS_PER_MS, 0 }, { 10, 0, TX_SLOW, 7 * NS_PER_MS, 0 } }, .only = EMIT_ONLY, .sleeps = true },
	{ "a transmit stamp twice", { { 10, 0, TX_TWICE, 0, 0 } }, SAME({ .stamp_duplicate = 1 }) },
	{ "a stamp only while asleep", { { 10, 0, TX_ASLEEP, 0, 0 } }, .sleeps = true },
	{ "all stamps only while asleep", { { 0, 39, TX_ASLEEP, 0, 0 } }, .sleeps = true },
	{ "the id of the packet before", { { 10, 0, TX_ID, -1, 0 } }, SAME(NO_TX(.stamp_duplicate = 1)), .sleeps = true },
	{ "the id of a packet to come", { { 39, 0, TX_ID, 1, 0 } }, SAME(NO_TX(.stamp_unmatched = 1)), .sleeps = true },
	{ "an id of the same slot", { { 10, 0, TX_ID, FLIGHTS, 0 } }, SAME(NO_TX(.stamp_unmatched = 1)), .sleeps = true },
	{ "an old id of the same slot", { { 10, 0, TX_ID, -FLIGHTS, 0 } }, SAME(NO_TX(.stamp_unmatched = 1)),
	  .sleeps = true },
	{ "a stale stamp first", { { 10, 0, TX_EXTRA_ID, -1, 0 } }, SAME({ .stamp_duplicate = 1 }) },
	{ "a strange stamp first", { { 10, 0, TX_EXTRA_ID, FLIGHTS, 0 } }, SAME({ .stamp_unmatched = 1 }) },
	BAD_STAMP(ENTRY_ERRNO), BAD_STAMP(ENTRY_ORIGIN), BAD_STAMP(ENTRY_INFO), BAD_STAMP(ENTRY_TRUNC),
	BAD_STAMP(ENTRY_STAMP_SHORT), BAD_STAMP(ENTRY_STAMP_LONG), BAD_STAMP(ENTRY_ERROR_SHORT),
	BAD_STAMP(ENTRY_ERROR_LONG),
	BAD_STAMP(ENTRY_ZERO), BAD_STAMP(ENTRY_OTHER_KIND), BAD_STAMP(ENTRY_NO_STAMP), BAD_STAMP(ENTRY_NO_ERROR),
	BAD_STAMP(ENTRY_ICMP),
	{ "ENTRY_CTRUNC", { { 10, 0, TX, ENTRY_CTRUNC, 0 } }, SAME(NO_TX(.control_truncated = 1)), .sleeps = true },
	BAD_EXTRA(ENTRY_ERRNO), BAD_EXTRA(ENTRY_ORIGIN), BAD_EXTRA(ENTRY_INFO), BAD_EXTRA(ENTRY_ICMP),
	BAD_EXTRA(ENTRY_OTHER_KIND), BAD_EXTRA(ENTRY_TRUNC),
	{ "an ICMP error for the very first", { { 0, 0, TX_EXTRA, ENTRY_ICMP, 0 } }, SAME({ .error_other = 1 }) },

	{ "no receive stamp", { { 10, 0, RX, RX_ABSENT, 0 } }, SAME(NO_RX()) },
	{ "no receive stamp for the first", { { 0, 0, RX, RX_ABSENT, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp of zero", { { 10, 0, RX, RX_ZERO, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp of the other kind", { { 10, 0, RX, RX_OTHER_KIND, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp too short", { { 10, 0, RX, RX_SHORT, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp too long", { { 10, 0, RX, RX_LONG, 0 } }, SAME(NO_RX()) },
	{ "control data cut off on receive", { { 10, 0, RX, RX_CTRUNC, 0 } }, .emit = NO_RX(.control_truncated = 1),
	  .reflect = { .sent = -1, .answered = -1, .recorded = -1, .foreign = 1, .control_truncated = 1 } },
	{ "neither stamp", { { 10, 0, RX, RX_ABSENT, 0 }, { 10, 0, TX_NONE, 0, 0 } }, SAME(NO_TX(.missing_rx = 1)),
	  .sleeps = true },

	{ "send EINTR", { { 10, 0, SEND_ERROR, EINTR, 3 } }, .only = BOTH },
	SEND_REFUSED(ENOBUFS), SEND_REFUSED(EAGAIN), SEND_REFUSED(ECONNREFUSED), SEND_REFUSED(ENETDOWN),
	SEND_REFUSED(EPERM),
	{ "the first send is refused", { { 0, 0, SEND_ERROR, ENOBUFS, 0 } },
	  .emit = { .refused = 1 }, .reflect = NOT_SENT() },
	{ "many sends are refused", { { 10, 0, SEND_ERROR, ENOBUFS, 7 } }, .emit = { .refused = 7 }, .only = EMIT_ONLY },
	{ "receive ECONNREFUSED", { { 10, 0, RECV_ERROR, ECONNREFUSED, 0 } }, SAME({ .refused = 1 }) },
	{ "receive EINTR", { { 10, 0, RECV_ERROR, EINTR, 0 } }, .only = BOTH },

	{ "a negative latency", { { 10, 0, LATENCY, -50, 0 } }, SAME({ .recorded = -1, .negative = 1 }) },
	{ "a latency of zero", { { 10, 0, LATENCY, 0, 0 } }, .only = BOTH },
	{ "a latency that overflows", { { 10, 0, LATENCY, 2 * OVERFLOW_NS, 0 } }, .only = BOTH },
};

struct variant {
	enum source wire;
	bool id_by_message, sw_timestamps;
	uint32_t first_id;
	unsigned peers;
	bool joins; /* the times of the other host are asked for */
};

static const struct variant variants[] = {
	{ SOURCE_HARDWARE, false, false, 0, 1, false },
	{ SOURCE_HARDWARE, true, true, 0, 3, false },
	{ SOURCE_KERNEL, false, true, 0, 1, false },
	{ SOURCE_KERNEL, true, false, UINT32_MAX - 11, 1, false }, /* the numbers wrap about where things go wrong */
	{ SOURCE_HARDWARE, false, false, UINT32_MAX - 9, 1, false },
	{ SOURCE_HARDWARE, false, true, 0, 1, true },
	{ SOURCE_KERNEL, true, false, UINT32_MAX - 9, 2, true },
};

static struct fake_account expected(const struct row *row, enum role role, bool joins)
{
	struct fake_account e = role == ROLE_EMIT ? row->emit : row->reflect;
	/* One more probe at the end, unless the last of the run is not recorded. */
	int64_t closing = joins && role == ROLE_EMIT && row->events[0].first != PACKETS - 1;

	e.sent += PACKETS + closing;
	e.received += PACKETS + closing;
	e.recorded += PACKETS;
	e.answered += PACKETS + closing;
	e.closing = closing;
	if (role == ROLE_EMIT)
		e.follow_up[FOLLOW_UP_NONE] = e.recorded + e.negative;
	return e;
}

static size_t events_of(const struct row *row)
{
	size_t n = 0;

	while (n < COUNT_OF(row->events) && row->events[n].fault)
		n++;
	return n;
}

static void run_row(const struct row *row, enum role role, const struct variant *v)
{
	char name[160];

	bench_start(role, v->wire);
	b.options.sw_timestamps = v->sw_timestamps;
	fake.id_by_message = v->id_by_message;
	fake.first_id = v->first_id;
	fake.peers = v->peers;
	fake.open_loop_ns = row->open_loop_ns;
	b.options.plain = !v->joins;
	b.plan.stages = b.plan.software = b.plan.t2_user = v->joins;
	bench_script(row->events, events_of(row));
	snprintf(name, sizeof(name), "%s, %s, variant %d", row->name, role == ROLE_EMIT ? "emit" : "reflect",
		 (int)(v - variants));

	struct fake_account want = expected(row, role, v->joins), got = bench_run(name);

	/* Which is which the fake knows. */
	if (v->joins) {
		memcpy(want.follow_up, got.follow_up, sizeof(want.follow_up));
		want.follow_up_late = got.follow_up_late;
	}

	/* With several sessions what is late for all is not out of order in its own. */
	if (v->peers > 1)
		want.reordered = got.reordered;
	if (!same_account(name, &got, &want))
		fail_msg("%s", name);
	/* Only an emitter that waits for a reply waits without sleeping; and only a stamp that is missing is slept for. */
	assert_int_equal(fake.poll_calls > 0, row->sleeps);
	assert_int_equal(b.x.end, role == ROLE_EMIT ? END_COUNT : END_SIGNAL);
	/* A row has at most a dozen packets that wait for a timeout, and the stop by idleness. */
	assert_true(b.x.ended_ns - 1000 * NS_PER_S < 14 * TIMEOUT_NS + 4 * TIMEOUT_NS + 40 * 500 * NS_PER_US);
}

static void the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (size_t v = 0; v < COUNT_OF(variants); v++) {
			if (rows[i].only != REFLECT_ONLY)
				run_row(&rows[i], ROLE_EMIT, &variants[v]);
			if (rows[i].only != EMIT_ONLY)
				run_row(&rows[i], ROLE_REFLECT, &variants[v]);
		}
	}
}

/* Without transmit stamps, by either option, none is waited for and latency is between user-space times. */
static void the_table_without_transmit_stamps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (int mode = 0; mode < 4; mode++) {
			enum role role = mode & 1 ? ROLE_REFLECT : ROLE_EMIT;
			bool user = mode & 2;

			if (rows[i].only == (role == ROLE_EMIT ? REFLECT_ONLY : EMIT_ONLY))
				continue;
			bench_start(role, user ? SOURCE_USER : SOURCE_KERNEL);
			b.channel.tx_stamps = false;
			b.options.no_tx_stamps = !user;
			bench_script(rows[i].events, events_of(&rows[i]));

			struct fake_account got = bench_run(rows[i].name);

			assert_int_equal(got.unstamped, 0);
			assert_int_equal(fake.poll_calls, 0);
			if (role == ROLE_REFLECT)
				assert_int_equal(fake.fetch_calls, 0);
		}
	}
}

/* ---- The good case ------------------------------------------------------------------------------------------------ */

static void system_calls_of_a_round_trip(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		bench_run("good");
		assert_int_equal(fake.send_calls, PACKETS);
		assert_int_equal(fake.fetch_calls, PACKETS);
		assert_int_equal(fake.poll_calls, 0);
		assert_int_equal(counter_get(&b.x.account.recorded), PACKETS);
	}
}

static void a_sleep_is_bounded(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		SCRIPT({ 39, 0, TX_NONE, 0, 0 });
		bench_run("one stamp missing");
		/* Sleeps of 1 ms, after 200 us of spinning, until the timeout. */
		assert_true(fake.poll_calls >= 3 && fake.poll_calls <= 10);
		assert_true(fake.slept_ns >= TIMEOUT_NS * 3 / 5);
		assert_true(fake.poll_limit_ns > 0 && fake.poll_limit_ns <= 10 * NS_PER_MS);
		/* An emitter waits for the stamp alone; a reflector must not sleep through the next request. */
		assert_int_equal(fake.poll_events, role == ROLE_EMIT ? 0 : POLLIN);
	}
}

static void a_usual_delay_of_the_stamp_is_spun_for(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		SCRIPT({ 0, 39, TX_SLOW, 60 * NS_PER_US, 0 });
		bench_run("stamps after 60 us");
		assert_int_equal(fake.poll_calls, 0);
		assert_int_equal(counter_get(&b.x.account.recorded), PACKETS);
	}
}

/* ---- Warm-up, count, duration ------------------------------------------------------------------------------------- */

static void count_is_exact(void **state)
{
	static const struct fake_event faults[] = {
		{ 1, 0, LOST, 0, 0 }, { 7, 0, TX_NONE, 0, 0 }, { 8, 0, LOST, 0, 0 }, { 9, 0, RX, RX_ABSENT, 0 },
		{ 10, 0, LATENCY, -1, 0 },
	};

	(void)state;
	/* Emit: the loss in the warm-up is made good, those after it count. */
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.warmup = 5;
	b.options.count = 10;
	bench_script(faults, COUNT_OF(faults));
	struct fake_account got = bench_run("emit, count 10");

	assert_int_equal(b.x.end, END_COUNT);
	assert_int_equal(got.sent, 16);
	assert_int_equal(got.warmup, 5);
	assert_int_equal(got.lost, 2);
	assert_int_equal(got.recorded, 6);

	/* Reflect: what never came was never counted. */
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.warmup = 5;
	b.options.count = 10;
	bench_script(faults, COUNT_OF(faults));
	got = bench_run("reflect, count 10");
	assert_int_equal(b.x.end, END_COUNT);
	assert_int_equal(got.sent, 15);
	assert_int_equal(got.warmup, 5);
	assert_int_equal(got.recorded, 7);
}

static void count_without_warmup(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		for (int count = 1; count < 4; count++) {
			bench_start(role, SOURCE_HARDWARE);
			b.options.count = count;
			assert_int_equal(bench_run("count").recorded, count);
			assert_int_equal(b.x.end, END_COUNT);
		}
	}
}

static void warmup_is_not_in_the_numbers(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.options.warmup = 10;
		b.options.count = 30;
		b.options.threshold_ns = 50 * NS_PER_US;
		SCRIPT({ 0, 9, LATENCY, 90 * NS_PER_US, 0 }, { 5, 0, TX_NONE, 0, 0 }, { 6, 0, RX, RX_ABSENT, 0 });

		struct fake_account got = bench_run("warm-up");

		assert_int_equal(got.warmup, 10);
		assert_int_equal(got.recorded, 30);
		assert_int_equal(got.breaches + got.missing_tx + got.missing_rx, 0);
		assert_int_equal(b.breach_calls, 0);
		assert_true(b.histogram.max_ns < 10 * NS_PER_US);
		assert_int_equal(logged(0)->seq, 10);
	}
}

static void duration_begins_after_the_warmup(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.warmup = 5;
	b.options.duration_ns = 20 * NS_PER_MS;
	SCRIPT({ 2, 4, LOST, 0, 0 });
	bench_run("duration");
	assert_int_equal(b.x.end, END_DURATION);
	/* Five answered, three lost: the ninth probe begins the run. */
	assert_true(b.x.began_ns > fake.packet[7].sent_ns && b.x.began_ns <= fake.packet[8].sent_ns);
	assert_true(b.x.ended_ns - b.x.began_ns >= b.options.duration_ns);
	assert_true(b.x.ended_ns - b.x.began_ns < b.options.duration_ns + 2 * TIMEOUT_NS);

	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.warmup = 5;
	b.options.duration_ns = 20 * NS_PER_MS;
	fake.packets = 1000;
	fake.open_loop_ns = 100 * NS_PER_US;
	SCRIPT({ 0, 99, LOST, 0, 0 });
	bench_run("duration");
	assert_int_equal(b.x.end, END_DURATION);
	/* The first ping that is answered begins the run. */
	assert_true(b.x.began_ns >= fake.packet[0].sent_ns && b.x.began_ns < fake.packet[1].sent_ns);
	assert_true(b.x.ended_ns - b.x.began_ns >= b.options.duration_ns);
	assert_true(b.x.ended_ns - b.x.began_ns < b.options.duration_ns + TIMEOUT_NS);
}

static void a_warmup_longer_than_the_duration(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.warmup = 100;
	b.options.duration_ns = 20 * NS_PER_MS;
	SCRIPT({ 0, FAKE_PACKETS, LATENCY, NS_PER_MS, 0 });
	assert_int_equal(bench_run("a long warm-up").warmup, 100);
	assert_in_range(b.x.account.recorded, 18, 20);
	assert_in_range(b.x.ended_ns - b.x.began_ns, 20 * NS_PER_MS, 22 * NS_PER_MS);
}

static void a_reflector_that_hears_nothing_goes_on(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.duration_ns = NS_PER_MS;
	b.options.once = true;
	fake.packets = 0;
	fake.idle_stop_ns = 5 * NS_PER_S;
	bench_run("no emitter");
	assert_int_equal(b.x.end, END_SIGNAL);
	assert_int_equal(b.x.account.sent, 0);
}

/* ---- Silence ------------------------------------------------------------------------------------------------------ */

static void silence(const struct fake_event *events, size_t n, int64_t warmup)
{
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.warmup = warmup;
	b.options.timeout_ns = 100 * NS_PER_MS;
	b.options.duration_ns = 8 * NS_PER_S;
	bench_script(events, n);
	bench_run("silence");
}

static void check_silence_told_once(void)
{
	assert_int_equal(b.silence_calls, 1);
	assert_true(b.silence_ns - 1000 * NS_PER_S >= 3 * NS_PER_S);
	assert_true(b.silence_ns - 1000 * NS_PER_S < 3 * NS_PER_S + 300 * NS_PER_MS);
	assert_int_equal(b.x.end, END_DURATION);
	assert_true(b.x.ended_ns - 1000 * NS_PER_S < 8 * NS_PER_S + 300 * NS_PER_MS);
}

static void a_peer_that_never_answers(void **state)
{
	static const struct fake_event lost[] = { { 0, FAKE_PACKETS, LOST, 0, 0 } };
	static const struct fake_event refused_sends[] = { { 0, FAKE_PACKETS, SEND_ERROR, ECONNREFUSED, UINT_MAX } };
	static const struct fake_event garbage[] = { { 0, FAKE_PACKETS, LOST, 0, 0 },
						     { 0, FAKE_PACKETS, EXTRA, EXTRA_SHORT, 0 } };

	(void)state;
	for (int64_t warmup = 0; warmup <= 100; warmup += 100) {
		silence(lost, COUNT_OF(lost), warmup);
		check_silence_told_once();
		assert_int_equal(b.x.account.lost, b.x.account.sent);
		silence(refused_sends, COUNT_OF(refused_sends), warmup);
		check_silence_told_once();
		assert_int_equal(b.x.account.sent, 0);
		assert_true(b.x.account.refused >= 70 && b.x.account.refused <= 81);
		silence(garbage, COUNT_OF(garbage), warmup);
		check_silence_told_once();
	}
}

/* A long timeout must not keep the run from ending, nor the warning from coming. */
static void a_long_timeout(void **state)
{
	(void)state;
	for (int is_refused = 0; is_refused < 2; is_refused++) {
		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.options.count = 0;
		b.options.timeout_ns = 60 * NS_PER_S;
		b.options.duration_ns = 5 * NS_PER_S;
		fake.cut_short = true;
		if (is_refused)
			SCRIPT({ 0, FAKE_PACKETS, SEND_ERROR, ENOBUFS, UINT_MAX });
		else
			SCRIPT({ 0, FAKE_PACKETS, LOST, 0, 0 });

		struct fake_account got = bench_run("a long timeout");

		assert_int_equal(b.x.end, END_DURATION);
		assert_in_range(b.x.ended_ns - b.x.began_ns, 5 * NS_PER_S, 5 * NS_PER_S + 300 * NS_PER_MS);
		assert_int_equal(b.silence_calls, 1);
		assert_in_range(b.silence_ns - 1000 * NS_PER_S, 3 * NS_PER_S, 3 * NS_PER_S + 100 * NS_PER_MS);
		assert_int_equal(got.unfinished, !is_refused);
		assert_int_equal(got.lost, 0);
		assert_in_range(got.refused, is_refused ? 40 : 0, is_refused ? 60 : 0);
	}
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.timeout_ns = 60 * NS_PER_S;
	SCRIPT({ 10, 0, TX_NONE, 0, 0 }, { 10, 0, STOP, 1, 0 });
	assert_int_equal(bench_run("a long timeout, reflect").unstamped, 1);
	assert_true(fake.now_ns - fake.stop_at_ns < NS_PER_S);
}

static void a_peer_that_answers_is_not_silent(void **state)
{
	static const struct fake_event late_start[] = { { 0, 35, LOST, 0, 0 },
							{ 36, FAKE_PACKETS, LATENCY, 2 * NS_PER_MS, 0 } };
	static const struct fake_event stops[] = { { 1, FAKE_PACKETS, LOST, 0, 0 } };

	(void)state;
	silence(late_start, COUNT_OF(late_start), 3);
	assert_int_equal(b.silence_calls, 1);
	assert_int_equal(b.x.account.lost, 36);
	assert_int_equal(b.x.account.warmup, 3);
	assert_true(b.x.account.recorded > 1000);
	silence(stops, COUNT_OF(stops), 0);
	assert_int_equal(b.silence_calls, 0);
	assert_int_equal(b.x.end, END_DURATION);
	/* In the warm-up too. */
	silence(stops, COUNT_OF(stops), 5);
	assert_int_equal(b.silence_calls, 0);
	assert_int_equal(b.x.end, END_DURATION);
	assert_int_equal(b.x.account.warmup, 1);
}

#define LOST_0_NS (1097 * NS_PER_MS)
#define LOST_400_NS (1075 * NS_PER_MS)

static void more_losses_than_are_remembered(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.timeout_ns = NS_PER_MS;
	b.options.count = 1600;
	/* Each loss takes a little more than the timeout: some ten more than are remembered, and some ten fewer. */
	SCRIPT({ 0, 0, LATE, LOST_0_NS, 0 }, { 1, 399, LOST, 0, 0 }, { 400, 0, LATE, LOST_400_NS, 0 },
	       { 401, 1500, LOST, 0, 0 });

	struct fake_account got = bench_run("many losses");

	assert_int_equal(got.lost, 1501);
	assert_int_equal(got.late, 1);
	assert_int_equal(got.duplicate, 1);
	assert_int_equal(got.recorded, 99);
}

/* ---- The ring of flights ------------------------------------------------------------------------------------------ */

static void the_ring_comes_round(void **state)
{
	(void)state;
	for (int wrap = 0; wrap < 2; wrap++) {
		bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
		fake.packets = 400;
		fake.open_loop_ns = 2000;
		fake.first_id = wrap ? UINT32_MAX - 200 : 0;
		SCRIPT({ 0, 399, TX_SLOW, 4 * NS_PER_MS, 0 });

		struct fake_account got = bench_run("400 stamps outstanding");

		assert_int_equal(got.sent, 400);
		assert_int_equal(got.recorded, FLIGHTS);
		assert_int_equal(got.unstamped, 400 - FLIGHTS);
		assert_int_equal(got.stamp_unmatched, 400 - FLIGHTS);
	}
}

/* A full ring is not yet one too many. */
static void the_ring_is_just_full(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
		fake.packets = (uint32_t)(FLIGHTS + more);
		fake.open_loop_ns = 2000;
		SCRIPT({ 0, 399, TX_SLOW, 4 * NS_PER_MS, 0 });
		assert_int_equal(bench_run("a full ring").unstamped, more);
	}
}

/* However many stamps are missing, each packet is concluded, and stamps in between land where they belong. */
static void every_second_stamp_is_missing(void **state)
{
	static struct fake_event events[500];

	(void)state;
	for (uint32_t i = 0; i < COUNT_OF(events); i++)
		events[i] = (struct fake_event){ 2 * i, 0, TX_NONE, 0, 0 };
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	fake.packets = 1000;
	fake.open_loop_ns = 5000;
	bench_script(events, COUNT_OF(events));

	struct fake_account got = bench_run("every second stamp missing");

	assert_int_equal(got.recorded, 500);
	assert_int_equal(got.missing_tx, 500);
}

/* A stamp that comes within the timeout is taken, however short that is and whatever was slept before. */
static void a_stamp_has_its_whole_timeout(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.options.timeout_ns = 300 * NS_PER_US;
	fake.packets = 2;
	fake.open_loop_ns = 900 * NS_PER_US;
	fake.idle_ns_max = 300; /* as fast as a real loop: 64 turns take 40 us */
	SCRIPT({ 0, 0, TX_NONE, 0, 0 }, { 1, 0, TX_SLOW, 150 * NS_PER_US, 0 });

	struct fake_account got = bench_run("a short timeout");

	assert_int_equal(got.missing_tx, 1);
	assert_int_equal(got.recorded, 1);
}

/* ---- Ends --------------------------------------------------------------------------------------------------------- */

static void a_stop_in_the_middle_of_an_exchange(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, LATENCY, 80 * NS_PER_US, 0 }, { 10, 0, STOP, 20 * NS_PER_US, 0 });

	struct fake_account got = bench_run("stop before the reply");

	assert_int_equal(b.x.end, END_SIGNAL);
	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.answered, 10);
	assert_int_equal(got.recorded, 10);
	assert_true(b.x.ended_ns - fake.packet[10].sent_ns < 100 * NS_PER_US);

	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TX_SLOW, 900 * NS_PER_US, 0 }, { 10, 0, STOP, 100 * NS_PER_US, 0 });
	got = bench_run("stop before the stamp");
	assert_int_equal(b.x.end, END_SIGNAL);
	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.answered, 11);

	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 9, 0, STOP, 200 * NS_PER_US, 0 }, { 10, 0, SEND_ERROR, ENOBUFS, UINT_MAX });
	got = bench_run("stop while sends are refused");
	assert_int_equal(b.x.end, END_SIGNAL);
	assert_int_equal(got.sent, 10);
	assert_int_equal(got.unfinished, 0);
}

static void a_stop_before_the_run(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.stop = 1;
		fake.packets = 0;
		assert_int_equal(bench_run("stopped").sent, 0);
		assert_int_equal(b.x.end, END_SIGNAL);
	}
}

static void a_reflector_waits_for_its_last_stamps(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TX_SLOW, 3 * NS_PER_MS, 0 }, { 10, 0, STOP, 1, 0 });
	assert_int_equal(bench_run("stop, a stamp on its way").unstamped, 0);
	assert_int_equal(b.x.end, END_SIGNAL);

	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TX_NONE, 0, 0 }, { 10, 0, STOP, 1, 0 });
	assert_int_equal(bench_run("stop, a stamp missing").unstamped, 1);
	assert_true(fake.now_ns - fake.stop_at_ns < TIMEOUT_NS + 2 * NS_PER_MS);
}

/* The emitter goes on, since it does not know that the reflector is about to end. What it sends must not keep the task
 * from sleeping, without which some drivers deliver no stamp (kernel-timestamping, section 8). */
static void a_reflector_sleeps_for_its_last_stamps(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.options.count = 10;
	fake.open_loop_ns = 20 * NS_PER_US;
	SCRIPT({ 9, 0, TX_ASLEEP, 0, 0 });

	struct fake_account got = bench_run("count, requests in the queue, a stamp only while asleep");

	assert_int_equal(b.x.end, END_COUNT);
	assert_int_equal(got.sent, 10);
	assert_true(fake.sleeps > 0);
	assert_int_equal(got.recorded, 10);
}

/* ---- Threshold ---------------------------------------------------------------------------------------------------- */

#define THRESHOLD_NS 20000

static void bench_threshold(enum role role, bool keep_going)
{
	bench_start(role, SOURCE_HARDWARE);
	b.options.threshold_ns = THRESHOLD_NS;
	b.options.keep_going = keep_going;
	b.options.sw_timestamps = true;
	SCRIPT({ 8, 0, LATENCY, -THRESHOLD_NS - 5, 0 }, { 10, 0, LATENCY, THRESHOLD_NS, 0 },
	       { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 }, { 14, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
}

static void check_breach_sample(const struct sample *s)
{
	bool emit = b.options.role == ROLE_EMIT;
	const struct fake_packet *p = &fake.packet[12];

	assert_int_equal(s->seq, 12);
	assert_int_equal(s->latency_ns, THRESHOLD_NS + 1);
	assert_int_equal(s->time_ns[emit ? EMIT_T1_WIRE : REFLECT_T3_WIRE], p->tx_wire_ns);
	assert_int_equal(s->time_ns[emit ? EMIT_T4_WIRE : REFLECT_T2_WIRE], p->rx_wire_ns);
	assert_int_equal(s->time_ns[emit ? EMIT_T1_USER : REFLECT_T3_USER], p->tx_user_ns);
	assert_int_equal(s->time_ns[emit ? EMIT_T4_USER : REFLECT_T2_USER], p->rx_user_ns);
	for (int i = 0; i < TIMES; i++)
		assert_int_not_equal(s->source[i], SOURCE_NONE);
}

static void a_breach_ends_the_run(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_threshold(role, false);

		struct fake_account got = bench_run("threshold");

		assert_int_equal(b.x.end, END_BREACH);
		assert_int_equal(got.sent, 13); /* exactly at the threshold is no breach, negative even less */
		assert_int_equal(got.breaches, 1);
		assert_int_equal(b.breach_calls, 1);
		check_breach_sample(&b.x.breach);
		check_breach_sample(&b.first_breach);
		/* Evidence first: it was not yet in the histogram or the log. One before it was negative. */
		assert_int_equal(b.recorded_at_breach, 11);
		assert_int_equal(b.logged_at_breach, 11);
		assert_int_equal(got.recorded, 12);
	}
}

static void continue_counts_all_breaches(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_threshold(role, true);

		struct fake_account got = bench_run("threshold, continue");

		assert_int_not_equal(b.x.end, END_BREACH);
		assert_int_equal(got.sent, PACKETS);
		assert_int_equal(got.breaches, 2);
		assert_int_equal(b.breach_calls, 2);
		check_breach_sample(&b.x.breach);
		assert_int_equal(got.recorded, PACKETS - 1);
	}
}

static void a_breach_without_a_hook(void **state)
{
	(void)state;
	bench_threshold(ROLE_EMIT, false);
	b.x.on_breach = NULL;
	assert_int_equal(bench_run("no hook").breaches, 1);
	assert_int_equal(b.x.end, END_BREACH);
}

static void the_log_threshold(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.options.log_threshold_ns = THRESHOLD_NS;
		SCRIPT({ 10, 0, LATENCY, THRESHOLD_NS, 0 }, { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 },
		       { 14, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
		assert_int_equal(bench_run("log threshold").recorded, PACKETS);
		assert_int_equal(b.log.used, 2);
		assert_int_equal(logged(0)->seq, 12);
		assert_int_equal(logged(1)->seq, 14);
	}
}

static void no_log_and_a_full_log(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.log = NULL;
		assert_int_equal(bench_run("no log").recorded, PACKETS);

		bench_start(role, SOURCE_HARDWARE);
		b.options.log_threshold_ns = 1; /* so that the records are not compared with all */
		log_place(&b.log, b.record, 7, false, role == ROLE_REFLECT);
		assert_int_equal(bench_run("a full log").recorded, PACKETS);
		assert_int_equal(b.log.used, 7);
		assert_int_equal(b.log.left_out, PACKETS - 7);
	}
}

static void the_recent_maximum(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 12, 0, LATENCY, 77777, 0 });
	bench_run("recent maximum");
	assert_int_equal(b.x.account.recent_max_ns, 77777);
	assert_int_equal(b.histogram.max_ns, 77777);
	assert_int_equal(b.histogram.max_seq, 12);
}

/* ---- The start ---------------------------------------------------------------------------------------------------- */

static void the_start_is_told_before_the_first_probe(void **state)
{
	(void)state;
	for (int64_t warmup = 0; warmup < 4; warmup++) {
		bench_start(ROLE_EMIT, SOURCE_HARDWARE);
		b.x.on_start = on_start;
		b.options.warmup = warmup;
		bench_run("start, emit");
		assert_int_equal(b.start_calls, 1);
		assert_int_equal(b.sends_at_start, warmup);
		assert_true(b.started_ns < fake.packet[warmup].sent_ns);
		/* What the hook takes is no part of the duration. */
		assert_true(b.x.began_ns > b.started_ns);
	}
}

static void the_start_is_told_after_the_first_reply(void **state)
{
	(void)state;
	for (int64_t warmup = 0; warmup < 4; warmup++) {
		for (int stamps = 0; stamps < 2; stamps++) {
			bench_start(ROLE_REFLECT, stamps ? SOURCE_HARDWARE : SOURCE_USER);
			b.x.on_start = on_start;
			b.options.warmup = warmup;
			bench_run("start, reflect");
			assert_int_equal(b.start_calls, 1);
			assert_int_equal(b.sends_at_start, warmup + 1);
			assert_true(b.started_ns >= fake.packet[warmup].sent_ns);
			assert_true(b.started_ns < fake.packet[warmup + 1].sent_ns);
		}
	}
}

static void the_warmup_ends_by_answers_not_by_probes(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	b.options.warmup = 3;
	SCRIPT({ 1, 2, LOST, 0, 0 });
	bench_run("start, losses in the warm-up");
	assert_int_equal(b.start_calls, 1);
	assert_int_equal(b.sends_at_start, 5);
}

static void a_refused_send_is_no_second_start(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	b.options.warmup = 2;
	SCRIPT({ 2, 0, SEND_ERROR, ENOBUFS, 3 });
	bench_run("start, refused");
	assert_int_equal(b.start_calls, 1);
	assert_int_equal(b.sends_at_start, 2);

	/* A reply that the kernel did not take was not measured. */
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	SCRIPT({ 0, 1, SEND_ERROR, ENOBUFS, 1 });
	bench_run("start, refused");
	assert_int_equal(b.start_calls, 1);
	assert_int_equal(b.sends_at_start, 1);
}

static void no_start_where_nothing_is_measured(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.on_start = on_start;
		b.options.warmup = 2 * PACKETS;
		b.options.count = 0;
		if (role == ROLE_EMIT)
			b.options.duration_ns = 20 * NS_PER_MS;
		SCRIPT({ 5, FAKE_PACKETS, LOST, 0, 0 });
		bench_run("all warm-up");
		assert_int_equal(b.start_calls, 0);
	}
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	SCRIPT({ 0, PACKETS, LOST, 0, 0 });
	bench_run("nobody asks");
	assert_int_equal(b.start_calls, 0);
}

/* ---- Stages --------------------------------------------------------------------------------------------------------- */

static void stages_of_both_roles(void **state)
{
	struct stage stages[STAGES];

	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		const enum role role = mode & 1 ? ROLE_REFLECT : ROLE_EMIT;
		const bool on_wire = mode & 2;

		exchange_stages(role, on_wire, stages);
		for (int i = 0; i < STAGES; i++) {
			struct by_hand want = stages_by_hand[role][i];

			if (i == STAGE_NETWORK && role == ROLE_EMIT && !on_wire) {
				want.from = EMIT_T1_USER;
				want.to = EMIT_T4_USER;
			}
			assert_int_equal(stages[i].from, want.from);
			assert_int_equal(stages[i].to, want.to);
			assert_int_equal(stages[i].bound, want.bound);
			assert_int_equal(stages[i].inside, want.inside);
			assert_int_equal(stages[i].user, want.user);
			assert_int_equal(stages[i].peer, want.peer);
			/* Nothing is taken off, or what is named. */
			if (want.less_from == want.less_to) {
				assert_int_equal(stages[i].less_from, stages[i].less_to);
			} else {
				assert_int_equal(stages[i].less_from, want.less_from);
				assert_int_equal(stages[i].less_to, want.less_to);
			}
		}
	}
}

static void a_stage_needs_both_times(void **state)
{
	const struct stage stage = { .from = REFLECT_T2_USER, .to = REFLECT_T3_USER, .less_from = REFLECT_T2_USER,
				     .less_to = REFLECT_T2_USER, .inside = true };
	struct sample s = { .time_ns = { 0, 5000, 5700, 0 } };
	int64_t value_ns;

	(void)state;
	for (unsigned sources = 0; sources < 4; sources++) {
		s.source[REFLECT_T2_USER] = sources & 1 ? SOURCE_USER : SOURCE_NONE;
		s.source[REFLECT_T3_USER] = sources & 2 ? SOURCE_USER : SOURCE_NONE;
		assert_int_equal(exchange_stage_value(&stage, &s, &value_ns), sources == 3);
	}
	assert_int_equal(value_ns, 700);
	s.time_ns[REFLECT_T3_USER] = 4999;
	assert_true(exchange_stage_value(&stage, &s, &value_ns));
	assert_int_equal(value_ns, -1);
}

static void every_recorded_sample_is_in_its_stages(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_stages(role, SOURCE_KERNEL);
		b.options.warmup = 5;
		SCRIPT({ 2, 0, LATENCY, 90 * NS_PER_US, 0 }, { 10, 0, TX_NONE, 0, 0 }, { 12, 0, RX, RX_ABSENT, 0 },
		       { 14, 0, LATENCY, -50, 0 }, { 16, 0, LATENCY, 3 * OVERFLOW_NS, 0 });

		struct fake_account got = bench_run("stages");

		assert_int_equal(got.warmup, 5);
		assert_int_equal(got.unstamped, 2);
		assert_int_equal(got.negative, 1);
		for (int i = 0; i < STAGES; i++) {
			const struct by_hand *stage = &stages_by_hand[role][i];
			bool used = stage->from != stage->to && !stage->peer;

			check_stage(i);
			/* Whatever the clocks say: one value for each sample, none for the others. */
			assert_int_equal(b.stage[i].count + b.stage[i].negatives, used ? got.recorded : 0);
		}
		free_stages();
	}
}

static void the_processing_of_a_reflector_is_one_of_them(void **state)
{
	(void)state;
	bench_stages(ROLE_REFLECT, SOURCE_KERNEL);
	bench_run("stages");
	/* Both times are of the same clock, so the fake knows it. */
	for (unsigned n = 0; n < PACKETS; n++) {
		int64_t value_ns = fake.packet[n].tx_user_ns - fake.packet[n].rx_user_ns;

		assert_true(value_ns > 0);
		assert_true(histogram_bucket(&b.stage[2], (uint32_t)value_ns) > 0);
	}
	assert_int_equal(b.stage[2].count, PACKETS);
	assert_in_range(b.stage[2].min_seq, 0, PACKETS - 1);
	free_stages();
}

/* Latencies between user-space times; a stage to the wire is not there. */
static void no_stage_without_its_time(void **state)
{
	(void)state;
	bench_stages(ROLE_REFLECT, SOURCE_KERNEL);
	b.channel.tx_stamps = false;
	b.channel.wire = SOURCE_KERNEL;
	SCRIPT({ 10, 0, RX, RX_ABSENT, 0 });
	assert_int_equal(bench_run("stages without transmit stamps").recorded, PACKETS);
	for (int i = 0; i < STAGES; i++)
		check_stage(i);
	assert_int_equal(b.stage[0].count + b.stage[0].negatives, PACKETS - 1);
	assert_int_equal(b.stage[1].count + b.stage[1].negatives, 0);
	assert_int_equal(b.stage[2].count, PACKETS);
	free_stages();
}

/* ---- The ring of breaches --------------------------------------------------------------------------------------------- */

static int64_t latency_of(uint64_t n)
{
	return n == 70 ? 9000 : 100 + (int64_t)(n * 37 % 1000);
}

static void note(uint64_t n)
{
	struct flight f = { .sample = { .seq = (uint32_t)(5000 + n), .latency_ns = latency_of(n) } };

	freeze(&b.x, &f);
	assert_true(f.breach);
	note_breach(&b.x, &f.sample);
}

static void the_newest_breaches_can_be_read_in_any_order(void **state)
{
	enum { MOST = 3 * BREACHES_KEPT };
	struct sample s;

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.keep_going = true;
	for (uint64_t n = 0; n < MOST; n++) {
		note(n);
		assert_int_equal(counter_get(&b.x.account.breaches), n + 1);
		for (uint64_t i = 0; i <= n; i++) {
			/* The oldest place may be the one that is being written now. */
			bool there = n + 1 - i < BREACHES_KEPT;

			assert_int_equal(exchange_breach(&b.x, i, &s), there);
			if (there) {
				assert_int_equal(s.seq, 5000 + i);
				assert_int_equal(s.latency_ns, latency_of(i));
			}
		}
	}
	assert_int_equal(b.breach_calls, MOST);
}

static void the_first_and_the_worst_breach_are_kept(void **state)
{
	int64_t worst_ns = 0;

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.keep_going = true;
	for (uint64_t n = 0; n < 3 * BREACHES_KEPT; n++) {
		note(n);
		worst_ns = latency_of(n) > worst_ns ? latency_of(n) : worst_ns;
		assert_int_equal(b.x.breach.seq, 5000);
		assert_int_equal(b.x.worst.latency_ns, worst_ns);
	}
	assert_int_equal(b.x.worst.seq, 5070);

	/* Of two alike the earlier one. */
	b.x.worst.latency_ns = latency_of(5);
	b.x.worst.seq = 1;
	note(5);
	assert_int_equal(b.x.worst.seq, 1);
}

/* A hook that looks at everything that may come only after it. */
static void on_breach_comes_first(void *context, const struct sample *s)
{
	const struct exchange *x = context;
	const struct sample none = { .seq = 0 };

	assert_ptr_equal(x, &b.x);
	assert_int_equal(s->seq, 12);
	b.breach_calls++;
	assert_int_equal(counter_get(&x->account.breaches), 0);
	assert_memory_equal(&x->breach, &none, sizeof(none));
	assert_memory_equal(&x->worst, &none, sizeof(none));
	assert_memory_equal(&x->kept[0], &none, sizeof(none));
	assert_int_equal(x->end, END_NOT_YET);
	/* The eighth was negative. */
	assert_int_equal(x->histogram->count, 11);
	assert_int_equal(counter_get(&x->account.recorded), 11);
	assert_int_equal(b.log.used, 11);
	assert_true(x->account.recent_max_ns <= THRESHOLD_NS);
	for (int i = 0; i < STAGES && x->stage[i]; i++)
		if (!stages_by_hand[x->options->role][i].peer)
			assert_int_equal(x->stage[i]->count + x->stage[i]->negatives, 11);
	/* Nor was another packet sent. */
	assert_int_equal(fake.sends, 13);
}

static void the_hook_comes_before_all_else(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_stages(role, SOURCE_KERNEL);
		b.options.threshold_ns = THRESHOLD_NS;
		b.x.on_breach = on_breach_comes_first;
		b.x.context = &b.x;
		SCRIPT({ 8, 0, LATENCY, -THRESHOLD_NS - 5, 0 }, { 10, 0, LATENCY, THRESHOLD_NS, 0 },
		       { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 });
		bench_run("the hook first");
		assert_int_equal(b.breach_calls, 1);
		assert_int_equal(b.x.end, END_BREACH);
		assert_int_equal(b.x.kept[0].seq, 12);
		free_stages();
	}
}

/* ---- A clock that was set ------------------------------------------------------------------------------------------- */

/* 20 us, and 1/512 of the inner time: exactly that is none yet. */
static void the_slack_of_a_step(void **state)
{
	static const struct {
		int64_t within_ns, around_ns;
		bool stepped;
	} cases[] = {
		{ 5000, 6000, false }, { 5000, 5000, false }, { 20000, -39, false }, { 20000, -40, true },
		{ 20479, 440, false }, { 20479, 439, true }, { 20480, 440, false }, { 20480, 439, true },
		{ NS_PER_MS, NS_PER_MS - 20000 - 1953, false }, { NS_PER_MS, NS_PER_MS - 20000 - 1954, true },
		{ 0, -20000, false }, { 0, -20001, true }, { NS_PER_S, NS_PER_S, false }, { NS_PER_S, 2 * NS_PER_S, false },
		{ NS_PER_S, -NS_PER_S, true }, { -NS_PER_S, NS_PER_S, false },
		/* 2000 ppm in a second is more than clocks are off, 1 ms more is not. */
		{ NS_PER_S, NS_PER_S - 1900 * NS_PER_US, false }, { NS_PER_S, NS_PER_S - 2900 * NS_PER_US, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		for (unsigned there = 0; there < 1 << TIMES; there++) {
			/* The outer two and the inner two are of clocks that are far apart. */
			struct sample s = { .time_ns = { 1700 * NS_PER_S, 37, 37 + cases[i].within_ns,
							 1700 * NS_PER_S + cases[i].around_ns } };

			for (int t = 0; t < TIMES; t++)
				s.source[t] = there & 1u << t ? SOURCE_USER : SOURCE_NONE;
			if (is_stepped(&s) != (cases[i].stepped && there == (1 << TIMES) - 1))
				fail_msg("case %zu with times %x", i, there);
		}
	}
}

static struct fake_event step_event = { .first = 10, .fault = STEP };

static struct fake_account run_with_step(enum role role, int64_t step_ns, bool check)
{
	bench_start(role, SOURCE_HARDWARE);
	b.options.no_step_check = !check;
	step_event.argument = step_ns;
	bench_script(&step_event, 1);
	return bench_run("a step");
}

/* The last step that is taken for what clocks do by themselves; time is virtual, so it is that in the next run too. */
static int64_t largest_unseen_step(enum role role)
{
	int64_t sign = role == ROLE_EMIT ? 1 : -1, step_ns = 0;
	const struct fake_packet *p = &fake.packet[10];
	int64_t user_ns, wire_ns, within_ns, around_ns;

	run_with_step(role, 0, true);
	do {
		step_ns += sign;
		user_ns = sign * (p->rx_user_ns - p->tx_user_ns);
		wire_ns = sign * (p->rx_wire_ns - p->tx_wire_ns) + step_ns;
		within_ns = role == ROLE_EMIT ? wire_ns : user_ns;
		around_ns = role == ROLE_EMIT ? user_ns : wire_ns;
	} while (within_ns - around_ns <= 20000 + within_ns / 512);
	return step_ns - sign;
}

static void a_stepped_sample_is_counted_apart(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		int64_t sign = role == ROLE_EMIT ? 1 : -1, most_ns = largest_unseen_step(role);

		assert_in_range(sign * most_ns, 20000, 40000);
		assert_int_equal(run_with_step(role, most_ns, true).stepped, 0);
		/* At a reflector such a step makes the response negative. */
		assert_int_equal(b.histogram.count, role == ROLE_EMIT ? PACKETS : PACKETS - 1);

		struct fake_account got = run_with_step(role, most_ns + sign, true);

		assert_int_equal(got.stepped, 1);
		assert_int_equal(got.recorded, PACKETS - 1);
		assert_int_equal(got.negative, 0);
		for (uint64_t i = 0; i < b.log.used; i++)
			assert_int_not_equal(logged(i)->seq, 10);
		/* The balance needs it. */
		counter_add(&b.x.account.stepped, 1);
		assert_false(exchange_balanced(&b.x));

		got = run_with_step(role, sign * NS_PER_S, false);
		assert_int_equal(got.stepped, 0);
		assert_int_equal(got.recorded + got.negative, PACKETS);
		assert_int_equal(got.negative, role == ROLE_REFLECT);
	}
}

static void a_stepped_sample_is_no_breach(void **state)
{
	(void)state;
	for (int check = 0; check < 2; check++) {
		bench_start(ROLE_EMIT, SOURCE_HARDWARE);
		b.options.no_step_check = !check;
		b.options.threshold_ns = THRESHOLD_NS;
		SCRIPT({ 10, 0, STEP, NS_PER_MS, 0 });

		struct fake_account got = bench_run("a step above the threshold");

		assert_int_equal(got.breaches, !check);
		assert_int_equal(b.breach_calls, !check);
		assert_int_equal(b.x.end, check ? END_COUNT : END_BREACH);
		assert_int_equal(b.histogram.max_ns > THRESHOLD_NS, !check);
	}
}

/* In the warm-up all is warm-up; without a stamp there is nothing to compare. */
static void what_is_not_looked_at_for_steps(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		int64_t step_ns = role == ROLE_EMIT ? NS_PER_S : -NS_PER_S;
		struct fake_event events[] = { { 2, 0, STEP, step_ns, 0 }, { 10, 0, STEP, step_ns, 0 },
					       { 10, 0, TX_NONE, 0, 0 }, { 12, 0, STEP, step_ns, 0 },
					       { 12, 0, RX, RX_ABSENT, 0 } };

		bench_start(role, SOURCE_HARDWARE);
		b.options.no_step_check = false;
		b.options.warmup = 5;
		bench_script(events, COUNT_OF(events));

		struct fake_account got = bench_run("steps that do not count");

		assert_int_equal(got.stepped, 0);
		assert_int_equal(got.unstamped, 2);
		assert_int_equal(got.warmup, 5);
	}
}

static struct fake_event set_event = { .first = 10, .fault = SET };

/* The reflector's CLOCK_REALTIME is set between its two times of user space, if these are its latency. */
static struct fake_account run_with_set(enum role role, enum source wire, int64_t set_ns, bool check)
{
	bench_start(role, wire);
	b.options.no_step_check = !check;
	b.options.threshold_ns = role == ROLE_EMIT ? OVERFLOW_NS : 0;
	set_event.argument = set_ns;
	set_event.times = wire == SOURCE_USER;
	bench_script(&set_event, 1);
	return bench_run("a clock that is set");
}

/* Forward it is neither the largest latency nor a breach, back it is not taken for a wrong stamp. */
static void a_sample_in_which_the_system_clock_is_set(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		for (enum source wire = SOURCE_USER; wire <= SOURCE_KERNEL; wire++) {
			for (int64_t set_ns = -3600 * NS_PER_S; set_ns <= 3600 * NS_PER_S; set_ns += 7200 * NS_PER_S) {
				struct fake_account got = run_with_set(role, wire, set_ns, true);

				assert_int_equal(got.stepped, 1);
				assert_int_equal(got.recorded, PACKETS - 1);
				assert_int_equal(got.negative + got.breaches, 0);
				assert_true(b.histogram.max_ns < OVERFLOW_NS);
				for (uint64_t i = 0; i < b.log.used; i++)
					assert_int_not_equal(logged(i)->seq, 10);

				got = run_with_set(role, wire, set_ns, false);
				assert_int_equal(got.stepped, 0);
				assert_int_equal(got.negative, set_ns < 0);
				assert_int_equal(got.breaches, role == ROLE_EMIT && set_ns > 0);
			}
		}
	}
}

/* A reflector that has nothing to do until the first request, and one that was set before T2 of user space. */
static void a_clock_that_was_set_before_is_none(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_USER);
	b.options.no_step_check = false;
	SCRIPT({ 10, 0, SET, NS_PER_S, 0 }, { 20, 0, SET, -NS_PER_S, 0 }, { 30, 0, SET, 3 * NS_PER_S, 2 });
	assert_int_equal(bench_run("set before T2 and after T3").stepped, 0);
	assert_int_equal(b.histogram.count, PACKETS);
}

/* Latencies of all sizes, and stamps of the wrong order, are not taken for it; nor is the time of this thread. */
static void what_is_slow_was_not_set(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_KERNEL);
		b.options.no_step_check = false;
		SCRIPT({ 0, 0, LATENCY, NS_PER_MS, 0 }, { 4, 0, LATENCY, 90 * NS_PER_US, 0 }, { 8, 0, LATENCY, 101 * NS_PER_US, 0 },
		       { 12, 0, LATENCY, 2 * NS_PER_MS, 0 }, { 16, 0, LATENCY, -90 * NS_PER_US, 0 },
		       { 18, 0, LATENCY, TIMEOUT_NS - 200 * NS_PER_US, 0 }, { 20, 0, TX_SLOW, NS_PER_MS, 0 },
		       { 20, 0, LATENCY, NS_PER_MS, 0 });

		struct fake_account got = bench_run("slow, but true");

		assert_int_equal(got.stepped, 0);
		assert_int_equal(got.negative, 1);
		assert_int_equal(got.recorded, PACKETS - 1);
	}
}

/* The thread was held up between the three readings of clocks at sending, for 20 ms - 2 ms: what is in these bounds may be
 * that. Each reading takes 20 ns here. */
static void how_much_a_step_must_be(void **state)
{
	(void)state;
	for (int64_t over_ns = -1; over_ns <= 1; over_ns++) {
		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		struct flight f = { .sent_ns = fake.now_ns - 20 * NS_PER_MS, .sent_real_ns = fake_real_ns(fake.now_ns),
				    .sent_by_ns = fake.now_ns - 2 * NS_PER_MS };

		/* That it went by no more than the longest time there was ... */
		f.sent_real_ns -= 20 * NS_PER_MS + STEP_SLACK_NS + 20 + over_ns;
		assert_int_equal(was_set(&f), over_ns > 0);
		/* ... and by no less than the shortest, */
		f.sent_ns = fake.now_ns - 20 * NS_PER_MS;
		f.sent_by_ns = fake.now_ns - 2 * NS_PER_MS;
		f.sent_real_ns = fake_real_ns(fake.now_ns) - 2 * NS_PER_MS + STEP_SLACK_NS + 20 + over_ns;
		assert_int_equal(was_set(&f), over_ns > 0);
		/* which is none where no clock was read since. */
		f.sent_by_ns = 0;
		f.sent_real_ns = fake_real_ns(fake.now_ns) + STEP_SLACK_NS + 40 + over_ns;
		assert_int_equal(was_set(&f), over_ns > 0);
		fake_end();
	}
	assert_false(is_odd(&(struct sample){ .latency_ns = 100 * NS_PER_US }));
	assert_true(is_odd(&(struct sample){ .latency_ns = 100 * NS_PER_US + 1 }));
	assert_false(is_odd(&(struct sample){ .latency_ns = 0 }));
	assert_true(is_odd(&(struct sample){ .latency_ns = -1 }));
}

/* What is neither long nor a breach is not looked at. */
static void a_step_is_no_breach_of_a_low_threshold(void **state)
{
	(void)state;
	for (int64_t threshold_ns = 0; threshold_ns <= 20 * NS_PER_US; threshold_ns += 20 * NS_PER_US) {
		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.options.no_step_check = false;
		b.options.threshold_ns = threshold_ns;
		SCRIPT({ 10, 0, SET, 60 * NS_PER_US, 0 });

		struct fake_account got = bench_run("a small step");

		assert_int_equal(got.stepped, threshold_ns != 0);
		assert_int_equal(b.breach_calls, 0);
		assert_int_equal(b.histogram.max_ns > 60 * NS_PER_US, threshold_ns == 0);
	}
}

/* Smaller ones than the latency itself too, of a network that takes 2 ms. */
static void a_step_of_less_than_the_latency(void **state)
{
	(void)state;
	for (int64_t set_ns = -NS_PER_MS; set_ns <= NS_PER_MS; set_ns += 2 * NS_PER_MS) {
		struct fake_event events[] = { { 0, PACKETS, LATENCY, 2 * NS_PER_MS, 0 }, { 10, 0, SET, set_ns, 0 } };

		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.options.no_step_check = false;
		bench_script(events, COUNT_OF(events));
		assert_int_equal(bench_run("a step of half the latency").stepped, 1);
		assert_int_equal(b.histogram.min_ns, 2 * NS_PER_MS);
		assert_int_equal(b.histogram.max_ns, 2 * NS_PER_MS);
	}
	/* Of a reflector only the one answer that leaves late. */
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.no_step_check = false;
	SCRIPT({ 10, 0, LATENCY, 2 * NS_PER_MS, 0 }, { 10, 0, TX_SLOW, 2 * NS_PER_MS, 0 }, { 10, 0, SET, -NS_PER_MS, 0 });
	assert_int_equal(bench_run("a step back of half the response").stepped, 1);
}

/* ---- Times of user space on the NIC's scale --------------------------------------------------------------------------- */

#define BEGIN_NS (1000 * NS_PER_S) /* of the fake, CLOCK_MONOTONIC */

/* How far the farthest time of user space is from a moment. */
static int64_t farthest_ns(int64_t moment_ns)
{
	int64_t most_ns = 0;

	for (uint64_t n = 0; n < fake.sends; n++) {
		int64_t tx_ns = llabs(fake.packet[n].tx_user_ns - moment_ns), rx_ns = llabs(fake.packet[n].rx_user_ns - moment_ns);

		most_ns = tx_ns > most_ns ? tx_ns : most_ns;
		most_ns = rx_ns > most_ns ? rx_ns : most_ns;
	}
	return most_ns;
}

/* check_samples() has seen that the log holds the placed times. The relation is of the begin of the run, or of its end. */
static void stages_are_right_without_synchronisation(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		enum role role = mode & 1 ? ROLE_REFLECT : ROLE_EMIT;
		int64_t at_ns = BEGIN_NS + (mode & 2 ? 500 * NS_PER_US : 0);

		bench_stages(role, SOURCE_HARDWARE);
		relate_clocks(at_ns, 100, 0.001);
		assert_int_equal(bench_run("placed").recorded, PACKETS);
		/* A reflector puts T3 of its reply on the scale too. */
		assert_int_equal(hook.placed, (role == ROLE_EMIT ? 2 : 3) * PACKETS);
		assert_int_equal(b.x.account.unplaced, 0);
		for (int i = 0; i < STAGES && b.x.stage[i]; i++) {
			check_stage(i);
			if (stages_by_hand[role][i].peer)
				continue;
			assert_int_equal(b.stage[i].count, PACKETS);
			assert_true(b.stage[i].max_ns < 50 * NS_PER_US);
		}
		/* The bound grows with the distance from the relation: the largest counts, first or last. */
		assert_in_range(farthest_ns(fake_real_ns(at_ns)), 100000, NS_PER_MS);
		assert_int_equal(b.x.bound_ns[BOUND_HERE], 100 + farthest_ns(fake_real_ns(at_ns)) / 1000 + 2);
		free_stages();
	}
}

/* In the middle of the run, at age_ns of it, the relation gets too old. Returns how many have one of their times placed. */
static unsigned run_until_too_old(enum role role, int64_t age_ns)
{
	uint64_t unplaced = 0, in_stage[STAGES] = { 0 };
	unsigned halves = 0;

	bench_stages(role, SOURCE_HARDWARE);
	relate_clocks(BEGIN_NS + age_ns - NS_PER_S, 100, 0);
	assert_int_equal(bench_run("too old").recorded, PACKETS);
	for (uint64_t n = 0; n < fake.sends; n++) {
		const struct fake_packet *p = &fake.packet[n];
		bool tx = has_place(p->tx_user_ns), rx = has_place(p->rx_user_ns);

		unplaced += !tx || !rx;
		halves += tx != rx;
		in_stage[0] += role == ROLE_EMIT ? tx : rx;
		in_stage[1] += role == ROLE_EMIT ? rx : tx;
		in_stage[2] += role == ROLE_REFLECT && tx && rx;
	}
	assert_in_range(unplaced, 5, PACKETS - 5);
	assert_int_equal(b.x.account.unplaced, unplaced);
	for (int i = 0; i < STAGES; i++) {
		check_stage(i);
		assert_int_equal(b.stage[i].count + b.stage[i].negatives, in_stage[i]);
	}
	free_stages();
	return halves;
}

static void a_time_without_a_place_is_in_no_stage(void **state)
{
	unsigned halves = 0;

	(void)state;
	for (int64_t age_us = 90; age_us < 110; age_us += 2) {
		run_until_too_old(ROLE_REFLECT, age_us * NS_PER_US);
		halves += run_until_too_old(ROLE_EMIT, age_us * NS_PER_US);
	}
	assert_true(halves > 0);
}

/* The marker of the trace has the clocks to place them itself, and must not wait for it. */
static void the_hook_gets_the_times_as_they_were_read(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		const struct fake_packet *p = &fake.packet[12];
		const unsigned tx = role == ROLE_EMIT ? EMIT_T1_USER : REFLECT_T3_USER;
		const unsigned rx = role == ROLE_EMIT ? EMIT_T4_USER : REFLECT_T2_USER;

		bench_threshold(role, false);
		relate_clocks(BEGIN_NS, 100, 0);
		assert_int_equal(bench_run("a breach, placed").breaches, 1);
		check_breach_sample(&b.first_breach);

		const struct sample *kept[] = { &b.x.breach, &b.x.worst, &b.x.kept[0] };
		const int64_t apart_ns = fake_wire_ns(0) - fake_real_ns(0);

		for (size_t i = 0; i < COUNT_OF(kept); i++) {
			assert_int_equal(kept[i]->seq, 12);
			assert_int_equal(kept[i]->time_ns[tx], p->tx_user_ns + apart_ns);
			assert_int_equal(kept[i]->time_ns[rx], p->rx_user_ns + apart_ns);
		}
	}
}

/* What is not recorded needs no place. */
static void only_what_is_recorded_is_placed(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.no_step_check = false;
	b.options.warmup = 5;
	relate_clocks(BEGIN_NS - 2 * NS_PER_S, 100, 0);
	SCRIPT({ 10, 0, LOST, 0, 0 }, { 11, 0, TX_NONE, 0, 0 }, { 12, 0, STEP, NS_PER_S, 0 });

	struct fake_account got = bench_run("not placed");

	assert_int_equal(got.recorded, PACKETS - 3);
	assert_int_equal(hook.placed, 2 * got.recorded);
	/* One for the sample, though both of its times have none. */
	assert_int_equal(b.x.account.unplaced, got.recorded);
	assert_int_equal(b.x.bound_ns[BOUND_HERE], 0);
}

/* Without steps being looked for the emitter has one time of user space only. */
static void one_time_is_placed_too(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	relate_clocks(BEGIN_NS, 7, 0);
	assert_int_equal(bench_run("one time").recorded, PACKETS);
	assert_int_equal(hook.placed, PACKETS);
	assert_int_equal(b.x.account.unplaced, 0);
	assert_int_equal(b.x.bound_ns[BOUND_HERE], 7 + 2);
}

static void a_stage_below_its_bound_is_negative(void **state)
{
	static const int64_t bounds_ns[] = { 0, 1, 102, NS_PER_MS };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bounds_ns); i++) {
		for (int64_t below = -2; below <= 2; below++) {
			struct sample s = { .source = { SOURCE_USER, SOURCE_HARDWARE, SOURCE_HARDWARE, SOURCE_USER },
					    .time_ns = { 0, -bounds_ns[i] - below, 0, 0 } };

			bench_stages(ROLE_EMIT, SOURCE_HARDWARE);
			fake_end();
			exchange_stages(ROLE_EMIT, true, b.x.stages);
			b.x.bound_ns[BOUND_HERE] = bounds_ns[i];
			record_stages(&b.x, &s);
			assert_int_equal(b.x.account.stage_negative, below > 0);
			assert_int_equal(b.stage[0].count + b.stage[0].negatives, 1);
			/* A stage without its time is not looked at. */
			s.source[EMIT_T1_USER] = SOURCE_NONE;
			record_stages(&b.x, &s);
			assert_int_equal(b.x.account.stage_negative, below > 0);
			free_stages();
		}
	}
}

/* ---- The clock of the reflector, and counters --------------------------------------------------------------------------- */

/* T3 of a reply may be of another clock than T2. */
static void the_peer_gets_t1_t2_t4_of_what_is_recorded(void **state)
{
	unsigned n = 0;

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.no_step_check = false;
	b.options.warmup = 5;
	b.x.peer = &peer;
	/* The late reply comes between another reply and its stamp. */
	SCRIPT({ 3, 0, LOST, 0, 0 }, { 10, 0, LOST, 0, 0 }, { 11, 0, TX_NONE, 0, 0 }, { 12, 0, STEP, NS_PER_S, 0 },
	       { 14, 0, RX, RX_ABSENT, 0 }, { 16, 0, TWICE, 1, 0 }, { 18, 0, TWICE, 100 * NS_PER_US, 0 },
	       { 20, 0, LATE, 50 * NS_PER_US, 0 }, { 21, 25, TX_SLOW, 40 * NS_PER_US, 0 },
	       { 22, 0, EXTRA, EXTRA_OTHER_T1, 0 });

	struct fake_account got = bench_run("the peer");

	assert_int_equal(got.late, 1);
	assert_int_equal(got.duplicate, 2);
	assert_int_equal(got.stepped, 1);
	assert_int_equal(hook.added, got.recorded);
	assert_int_equal(b.log.used, got.recorded);
	for (uint64_t i = 0; i < b.log.used; i++) {
		const struct fake_packet *p = packet_of(logged(i));
		const int64_t *ns = hook.peer_ns[n++];

		assert_int_equal(ns[0], p->tx_wire_ns);
		assert_int_equal(ns[1], p->reply.t2_ns);
		assert_int_equal(ns[2], p->reply.t2_ns);
		assert_int_equal(ns[3], p->rx_wire_ns);
	}
}

static void a_reflector_has_no_peer(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.peer = &peer;
	bench_run("the peer of a reflector");
	assert_int_equal(hook.added, 0);
}

static void counters_of_each_exchange(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.options.threshold_ns = THRESHOLD_NS;
		b.options.keep_going = true;
		b.x.pmc = &pmc;
		SCRIPT({ 10, 0, LATENCY, THRESHOLD_NS, 0 }, { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 },
		       { 20, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
		assert_int_equal(bench_run("counters").breaches, 2);
		assert_int_equal(hook.begun, PACKETS);
		assert_int_equal(hook.ended, PACKETS);
		assert_int_equal(hook.accounted, PACKETS);
		for (unsigned n = 0; n < PACKETS; n++)
			assert_int_equal(hook.slow[n], n == 12 || n == 20);
	}
}

static void counters_without_transmit_stamps(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_USER);
		b.x.pmc = &pmc;
		assert_int_equal(bench_run("counters, user").recorded, PACKETS);
		assert_int_equal(hook.ended, PACKETS);
		assert_int_equal(hook.accounted, PACKETS);
	}
}

/* Without a threshold nothing is slow. */
static void counters_without_a_threshold(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.pmc = &pmc;
		SCRIPT({ 12, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
		bench_run("counters");
		assert_int_equal(hook.accounted, PACKETS);
		for (unsigned n = 0; n < PACKETS; n++)
			assert_false(hook.slow[n]);
	}
}

static void counters_that_could_not_be_read(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.pmc = &pmc;
		hook.every = 4;
		assert_int_equal(bench_run("counters that fail").recorded, PACKETS);
		assert_int_equal(hook.ended, PACKETS);
		assert_int_equal(hook.accounted, PACKETS / 4);
	}
}

static void only_what_is_recorded_is_counted(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		int64_t step_ns = role == ROLE_EMIT ? NS_PER_S : -NS_PER_S;
		struct fake_event events[] = { { 10, 0, LOST, 0, 0 }, { 12, 0, TX_NONE, 0, 0 }, { 14, 0, RX, RX_ABSENT, 0 },
					       { 16, 0, STEP, step_ns, 0 }, { 18, 0, EXTRA, EXTRA_SHORT, 0 },
					       { 20, 0, SEND_ERROR, ENOBUFS, 1 } };

		bench_start(role, SOURCE_HARDWARE);
		b.options.no_step_check = false;
		b.options.warmup = 5;
		b.x.pmc = &pmc;
		bench_script(events, COUNT_OF(events));

		struct fake_account got = bench_run("counters of what is not recorded");

		assert_int_equal(got.stepped, 1);
		assert_int_equal(got.unstamped, 2);
		assert_int_equal(got.refused, 1);
		assert_int_equal(hook.accounted, got.recorded);
		/* Each that was tried to be sent, but not what a reflector does not answer. */
		assert_int_equal(hook.begun, got.sent + got.refused);
	}
}

/* What was counted while two answers were on their way is of neither. */
static void overlapping_answers_are_not_counted(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.pmc = &pmc;
	fake.open_loop_ns = 20 * NS_PER_US;
	/* Three requests come before the stamp of the first answer; that of the last may end before it or after it. */
	SCRIPT({ 10, 0, TX_SLOW, 50 * NS_PER_US, 0 }, { 20, 0, TX_SLOW, 25 * NS_PER_US, 0 });
	assert_int_equal(bench_run("overlapping answers").recorded, PACKETS);
	assert_int_equal(hook.begun, PACKETS);
	assert_int_equal(hook.ended, PACKETS - 2);
	assert_int_equal(hook.accounted, PACKETS - 2);
}

/* ---- Reflector only ----------------------------------------------------------------------------------------------- */

static void two_reflectors_do_not_loop(void **state)
{
	static const uint16_t ports[] = { FAKE_PORT, 5000 }; /* a translated port too */

	(void)state;
	for (size_t i = 0; i < COUNT_OF(ports); i++) {
		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		fake.echo_port = ports[i];

		struct fake_account got = bench_run("two reflectors");

		assert_int_equal(got.sent, PACKETS);
		assert_int_equal(got.foreign, PACKETS);
	}
}

/* On lo both ends have one address; the other rules hold there too. */
static void own_address_on_loopback(void **state)
{
	(void)state;
	for (int loopback = 0; loopback < 2; loopback++) {
		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		fake_end();
		b.x.loopback = loopback;
		b.x.arrival = (struct arrival){ .to_unicast = true, .from_self = true };
		b.x.arrival.from.in.sin_port = htons(FAKE_FIRST_PORT);
		assert_int_equal(is_foreign(&b.x, PACKET_GOOD), !loopback);
		assert_true(is_foreign(&b.x, PACKET_IS_REPLY));
		b.x.arrival.to_unicast = false;
		assert_true(is_foreign(&b.x, PACKET_GOOD));
		b.x.arrival.to_unicast = true;
		b.x.arrival.from.in.sin_port = htons(FAKE_PORT);
		assert_true(is_foreign(&b.x, PACKET_GOOD));
	}
}

/* --once ends when the first emitter has been silent for 2 s, whatever a second one does. */
static void once(uint32_t first_until, uint32_t second_until)
{
	static struct fake_event events[2000];
	int64_t last_ns = 0;
	size_t n = 0;

	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.once = true;
	fake.idle_stop_ns = 0;
	fake.peers = 2;
	fake.open_loop_ns = 10 * NS_PER_MS;
	fake.packets = 1000;
	for (uint32_t i = 0; i < fake.packets; i++)
		if (i >= (i % 2 ? second_until : first_until))
			events[n++] = (struct fake_event){ i, 0, LOST, 0, 0 };
	bench_script(events, n);
	bench_run("once");
	assert_int_equal(b.x.end, END_ONCE);
	for (uint64_t i = 0; i < fake.sends; i++)
		if (fake.packet[i].number % 2 == 0)
			last_ns = fake.packet[i].sent_ns;
	assert_in_range(fake.now_ns - last_ns, 2 * NS_PER_S, 2 * NS_PER_S + NS_PER_MS);
	/* The silence is no part of the run. */
	assert_in_range(b.x.ended_ns - last_ns, 0, NS_PER_MS);
}

static void once_ends_with_the_first_emitter(void **state)
{
	(void)state;
	once(100, 1000); /* the first stops after 1 s, the second goes on */
	assert_true(fake.sends > 50 + 140);
	once(300, 100); /* the second stops, the first goes on to 3 s */
	once(100, 0); /* alone */
}

/* rant.h: of answered. A request whose reply the kernel refused is unanswered, and nothing else. */
static void what_is_not_answered_is_not_counted_twice(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	SCRIPT({ 10, 0, LATE, 100 * NS_PER_US, 0 }, { 10, 0, SEND_ERROR, ENOBUFS, 0 });
	assert_int_equal(bench_run("a reordered request, refused").reordered, 0);
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	SCRIPT({ 10, 0, BAD_TLV, 0, 0 }, { 10, 0, SEND_ERROR, ENOBUFS, 0 });
	assert_int_equal(bench_run("a malformed TLV, refused").malformed_tlv, 0);
}

/* A request that could not be answered has come all the same: what is before it is out of order. */
static void what_is_not_answered_has_been_seen(void **state)
{
	(void)state;
	for (int64_t late_us = 5; late_us < 100; late_us += 5) {
		struct fake_event events[] = { { 10, 0, LATE, late_us * NS_PER_US, 0 },
					       { 11, 0, SEND_ERROR, ENOBUFS, 0 } };

		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		bench_script(events, COUNT_OF(events));
		/* The fake kernel knows which ones it is. */
		assert_true(bench_run("a late request after one that is refused").reordered <= 1);
	}
}

/* ---- Random ------------------------------------------------------------------------------------------------------- */

#define RANDOM_PACKETS 3000
#define RANDOM_EVENTS 6000

static struct fake_event random_events[RANDOM_EVENTS];

static int64_t random_argument(enum fake_fault fault, enum role role)
{
	static const int errors[] = { EINTR, ENOBUFS, EAGAIN, ECONNREFUSED, ENETDOWN };
	/* Clear of the timeout, at which the room may decide either way. */
	static const int64_t slow_ns[] = { 1000, 150 * NS_PER_US, 500 * NS_PER_US, TIMEOUT_NS / 2,
					   2 * TIMEOUT_NS + NS_PER_MS };
	static const int64_t ids[] = { -1, 1, -2, FLIGHTS, -FLIGHTS, 2 * FLIGHTS, 1 << 30, -100 };
	unsigned role_extras = role == ROLE_EMIT ? EXTRA_EMIT_END - EXTRA_BOTH_ROLES : EXTRA_REFLECT_END - EXTRA_EMIT_END;
	int64_t extra;

	switch (fault) {
	/* A reflector's session remembers 64 numbers; what is farther behind is another matter, and test_session's. */
	case LATE: return (int64_t)util_below(role == ROLE_EMIT ? 10 * NS_PER_MS : 60 * NS_PER_US) + 70 * NS_PER_US;
	case TWICE: return (int64_t)util_below(role == ROLE_EMIT ? NS_PER_MS : 60 * NS_PER_US) + 1;
	case LATENCY: return (int64_t)util_below(400000) - 100000;
	case STEP: return (int64_t)util_below(100000) - 50000;
	case SET: return util_below(2) ? NS_PER_S : -NS_PER_S;
	case EXTRA:
		extra = (int64_t)util_below(EXTRA_BOTH_ROLES + role_extras);
		return extra < EXTRA_BOTH_ROLES || role == ROLE_EMIT ? extra : extra - EXTRA_BOTH_ROLES + EXTRA_EMIT_END;
	case RX: return (int64_t)util_below(RX_KINDS);
	case TX: return (int64_t)util_below(ENTRY_KINDS);
	case TX_EXTRA: return 1 + (int64_t)util_below(ENTRY_KINDS - 1);
	case TX_SLOW: return slow_ns[util_below(COUNT_OF(slow_ns))];
	case TX_ID:
	case TX_EXTRA_ID: return ids[util_below(COUNT_OF(ids))];
	case SEND_ERROR: return errors[util_below(COUNT_OF(errors))];
	case RECV_ERROR: return util_below(2) ? EINTR : ECONNREFUSED;
	default: return 0;
	}
}

static bool is_possible(enum fake_fault fault, enum role role)
{
	switch (fault) {
	case STOP: return false;
	case BAD_TLV:
	case LARGE: return role == ROLE_REFLECT;
	/* With others than the NIC's stamps it is CLOCK_REALTIME that is set. A reflector has more than one packet in flight. */
	case STEP: return b.channel.wire == SOURCE_HARDWARE;
	case SET: return role == ROLE_EMIT;
	default: return true;
	}
}

static enum fake_fault random_fault(enum role role)
{
	enum fake_fault fault;

	do
		fault = (enum fake_fault)(1 + util_below(FAULTS - 1));
	while (!is_possible(fault, role));
	return fault;
}

/* What is refused must be nothing else: what_is_not_answered_is_not_counted_twice() has that. */
static bool fits(const struct fake_event *events, size_t n, const struct fake_event *e)
{
	for (; n && events[n - 1].first == e->first; n--)
		if (events[n - 1].fault == SEND_ERROR || e->fault == SEND_ERROR || events[n - 1].fault == e->fault)
			return false;
	return true;
}

static size_t random_script(enum role role, unsigned one_in)
{
	size_t n = 0;

	for (uint32_t number = 0; number < RANDOM_PACKETS; number++) {
		while (n < RANDOM_EVENTS && util_below(one_in) == 0) {
			struct fake_event e = { .first = number, .fault = random_fault(role), .times = 1 };

			e.argument = random_argument(e.fault, role);
			if (fits(random_events, n, &e))
				random_events[n++] = e;
		}
	}
	return n;
}

static void random_run(enum role role, unsigned one_in)
{
	static const enum source wires[] = { SOURCE_HARDWARE, SOURCE_KERNEL, SOURCE_USER };

	bench_start(role, wires[util_below(COUNT_OF(wires))]);
	if (role == ROLE_EMIT)
		b.options.count = RANDOM_PACKETS - 100;
	b.options.warmup = (int64_t)util_below(3) * 40;
	b.options.threshold_ns = util_below(2) ? THRESHOLD_NS : 0;
	b.options.keep_going = true;
	b.options.sw_timestamps = util_below(2);
	b.options.no_step_check = util_below(2);
	b.plan.stages = util_below(2);
	b.plan.software = b.plan.stages && util_below(2);
	b.plan.t2_user = b.plan.software && util_below(2);
	fake.packets = RANDOM_PACKETS;
	fake.peers = role == ROLE_REFLECT ? 1 + (unsigned)util_below(8) : 1;
	fake.id_by_message = util_below(2);
	fake.first_id = util_below(2) ? (uint32_t)util_random() : (uint32_t)-util_below(RANDOM_PACKETS);
	bench_script(random_events, random_script(role, one_in));
	bench_run("random");
	assert_int_equal(counter_get(&b.x.account.breaches), b.breach_calls);
}

static void random_mixtures(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
			random_run(role, 2);
			random_run(role, 5);
			random_run(role, 50);
		}
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_table), TEST(the_table_without_transmit_stamps), TEST(system_calls_of_a_round_trip),
		TEST(a_sleep_is_bounded), TEST(a_usual_delay_of_the_stamp_is_spun_for), TEST(count_is_exact),
		TEST(count_without_warmup), TEST(warmup_is_not_in_the_numbers), TEST(duration_begins_after_the_warmup),
		TEST(a_reflector_that_hears_nothing_goes_on), TEST(a_warmup_longer_than_the_duration), TEST(a_peer_that_never_answers), TEST(a_long_timeout),
		TEST(a_peer_that_answers_is_not_silent), TEST(more_losses_than_are_remembered),
		TEST(the_ring_comes_round),
		TEST(the_ring_is_just_full), TEST(every_second_stamp_is_missing), TEST(a_stamp_has_its_whole_timeout),
		TEST(a_stop_in_the_middle_of_an_exchange), TEST(a_stop_before_the_run),
		TEST(a_reflector_waits_for_its_last_stamps), TEST(a_reflector_sleeps_for_its_last_stamps),
		TEST(a_breach_ends_the_run), TEST(continue_counts_all_breaches), TEST(a_breach_without_a_hook),
		TEST(the_log_threshold), TEST(no_log_and_a_full_log), TEST(the_recent_maximum),
		TEST(the_start_is_told_before_the_first_probe), TEST(the_start_is_told_after_the_first_reply),
		TEST(the_warmup_ends_by_answers_not_by_probes), TEST(a_refused_send_is_no_second_start),
		TEST(no_start_where_nothing_is_measured), TEST(stages_of_both_roles), TEST(a_stage_needs_both_times),
		TEST(every_recorded_sample_is_in_its_stages), TEST(the_processing_of_a_reflector_is_one_of_them),
		TEST(no_stage_without_its_time), TEST(the_newest_breaches_can_be_read_in_any_order),
		TEST(the_first_and_the_worst_breach_are_kept), TEST(the_hook_comes_before_all_else),
		TEST(the_slack_of_a_step),
		TEST(a_stepped_sample_is_counted_apart),
		TEST(a_stepped_sample_is_no_breach),
		TEST(what_is_not_looked_at_for_steps),
		TEST(a_sample_in_which_the_system_clock_is_set),
		TEST(a_clock_that_was_set_before_is_none),
		TEST(what_is_slow_was_not_set),
		TEST(how_much_a_step_must_be),
		TEST(a_step_of_less_than_the_latency),
		TEST(a_step_is_no_breach_of_a_low_threshold),
		TEST(stages_are_right_without_synchronisation),
		TEST(a_time_without_a_place_is_in_no_stage),
		TEST(the_hook_gets_the_times_as_they_were_read),
		TEST(only_what_is_recorded_is_placed),
		TEST(one_time_is_placed_too),
		TEST(a_stage_below_its_bound_is_negative),
		TEST(the_peer_gets_t1_t2_t4_of_what_is_recorded),
		TEST(a_reflector_has_no_peer),
		TEST(counters_of_each_exchange),
		TEST(counters_without_transmit_stamps),
		TEST(counters_without_a_threshold),
		TEST(counters_that_could_not_be_read),
		TEST(only_what_is_recorded_is_counted),
		TEST(overlapping_answers_are_not_counted),
		TEST(two_reflectors_do_not_loop), TEST(own_address_on_loopback), TEST(once_ends_with_the_first_emitter),
		TEST(what_is_not_answered_is_not_counted_twice),
		TEST(what_is_not_answered_has_been_seen), TEST(random_mixtures),
	};
	int failed;

	util_seed();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(b.histogram_memory);
	return failed;
}
