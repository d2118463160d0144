/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both loops against a fake kernel, network and peer in virtual time. After every run three accounts are held together:
 * that of the program, that of the fake, and, where a test names numbers, the test's own.
 */
#include "exchange_bench.h"

/* ---- The table: one script, both roles --------------------------------------------------------------------------- */

enum { BOTH, EMIT_ONLY, REFLECT_ONLY };

/* Deviations from a run of PACKETS good exchanges. */
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
	  .emit = { .received = 1, .recorded = -1, .answered = -1, .lost = 1, .late = 1, .duplicate = 1,
		    .reordered = 2 },
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
	FOREIGN_EXTRA(EXTRA_OLD, EMIT_ONLY), FOREIGN_EXTRA(EXTRA_OLD_WITH_SSID, EMIT_ONLY),
	FOREIGN_EXTRA(EXTRA_NO_SSID, EMIT_ONLY),
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
	  { { 10, 0, LATENCY, 4 * NS_PER_MS, 0 }, { 10, 0, TX_SLOW, 7 * NS_PER_MS, 0 } }, .only = EMIT_ONLY,
	  .sleeps = true },
	{ "a transmit stamp twice", { { 10, 0, TX_TWICE, 0, 0 } }, SAME({ .stamp_duplicate = 1 }) },
	{ "the last transmit stamp twice", { { 39, 0, TX_TWICE, 0, 0 } }, .reflect = { .stamp_duplicate = 1 },
	  .only = REFLECT_ONLY },
	{ "a stamp only while asleep", { { 10, 0, TX_ASLEEP, 0, 0 } }, .sleeps = true },
	{ "all stamps only while asleep", { { 0, 39, TX_ASLEEP, 0, 0 } }, .sleeps = true },
	{ "the id of the packet before", { { 10, 0, TX_ID, -1, 0 } }, SAME(NO_TX(.stamp_duplicate = 1)),
	  .sleeps = true },
	{ "the id of a packet to come", { { 39, 0, TX_ID, 1, 0 } }, SAME(NO_TX(.stamp_unmatched = 1)), .sleeps = true },
	{ "an id of the same slot", { { 10, 0, TX_ID, FLIGHTS, 0 } }, SAME(NO_TX(.stamp_unmatched = 1)),
	  .sleeps = true },
	{ "an old id of the same slot", { { 10, 0, TX_ID, -FLIGHTS, 0 } }, SAME(NO_TX(.stamp_unmatched = 1)),
	  .sleeps = true },
	{ "a stale stamp first", { { 10, 0, TX_EXTRA_ID, -1, 0 } }, SAME({ .stamp_duplicate = 1 }) },
	{ "a strange stamp first", { { 10, 0, TX_EXTRA_ID, FLIGHTS, 0 } }, SAME({ .stamp_unmatched = 1 }) },
	BAD_STAMP(ENTRY_ERRNO), BAD_STAMP(ENTRY_ORIGIN), BAD_STAMP(ENTRY_INFO),
	BAD_STAMP(ENTRY_STAMP_SHORT), BAD_STAMP(ENTRY_STAMP_LONG), BAD_STAMP(ENTRY_ERROR_SHORT),
	BAD_STAMP(ENTRY_ERROR_LONG),
	BAD_STAMP(ENTRY_ZERO), BAD_STAMP(ENTRY_OTHER_KIND), BAD_STAMP(ENTRY_NO_STAMP), BAD_STAMP(ENTRY_NO_ERROR),
	BAD_STAMP(ENTRY_ICMP),
	{ "ENTRY_CTRUNC", { { 10, 0, TX, ENTRY_CTRUNC, 0 } }, SAME(NO_TX(.control_truncated = 1)), .sleeps = true },
	BAD_EXTRA(ENTRY_ERRNO), BAD_EXTRA(ENTRY_ORIGIN), BAD_EXTRA(ENTRY_INFO), BAD_EXTRA(ENTRY_ICMP),
	BAD_EXTRA(ENTRY_OTHER_KIND),
	{ "a transmit stamp with the packet, as that of a PHY", { { 10, 0, TX, ENTRY_WITH_PACKET, 0 } }, SAME({ 0 }) },
	{ "an ICMP error for the very first", { { 0, 0, TX_EXTRA, ENTRY_ICMP, 0 } }, SAME({ .error_other = 1 }) },

	{ "no receive stamp", { { 10, 0, RX, RX_ABSENT, 0 } }, SAME(NO_RX()) },
	{ "no receive stamp for the first", { { 0, 0, RX, RX_ABSENT, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp of zero", { { 10, 0, RX, RX_ZERO, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp of the other kind", { { 10, 0, RX, RX_OTHER_KIND, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp too short", { { 10, 0, RX, RX_SHORT, 0 } }, SAME(NO_RX()) },
	{ "a receive stamp too long", { { 10, 0, RX, RX_LONG, 0 } }, SAME(NO_RX()) },
	{ "control data cut off on receive", { { 10, 0, RX, RX_CTRUNC, 0 } }, .emit = NO_RX(.control_truncated = 1),
	  .reflect = { .sent = -1, .answered = -1, .recorded = -1, .cut_short = 1, .control_truncated = 1 } },
	{ "neither stamp", { { 10, 0, RX, RX_ABSENT, 0 }, { 10, 0, TX_NONE, 0, 0 } }, SAME(NO_TX(.missing_rx = 1)),
	  .sleeps = true },

	{ "send EINTR", { { 10, 0, SEND_ERROR, EINTR, 3 } }, .only = BOTH },
	SEND_REFUSED(ENOBUFS), SEND_REFUSED(EAGAIN), SEND_REFUSED(ECONNREFUSED), SEND_REFUSED(ENETDOWN),
	SEND_REFUSED(EPERM),
	{ "the first send is refused", { { 0, 0, SEND_ERROR, ENOBUFS, 0 } },
	  .emit = { .refused = 1 }, .reflect = NOT_SENT() },
	{ "many sends are refused", { { 10, 0, SEND_ERROR, ENOBUFS, 7 } }, .emit = { .refused = 7 },
	  .only = EMIT_ONLY },
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
	bool joins; /* remote timestamps are requested */
	bool counts_refused; /* by the kernel */
};

static const struct variant variants[] = {
	{ SOURCE_HARDWARE, false, false, 0, 1, false, false },
	{ SOURCE_HARDWARE, true, true, 0, 3, false, false },
	{ SOURCE_KERNEL, false, true, 0, 1, false, false },
	/* the numbers wrap about where things go wrong */
	{ SOURCE_KERNEL, true, false, UINT32_MAX - 11, 1, false, false },
	{ SOURCE_HARDWARE, false, false, UINT32_MAX - 9, 1, false, false },
	{ SOURCE_HARDWARE, false, true, 0, 1, true, false },
	{ SOURCE_KERNEL, true, false, UINT32_MAX - 9, 2, true, false },
	{ SOURCE_HARDWARE, false, false, 0, 3, false, true },
	{ SOURCE_KERNEL, false, true, UINT32_MAX - 11, 1, true, true },
};

static struct fake_account expected(const struct row *row, enum role role, bool joins)
{
	struct fake_account e = role == ROLE_EMIT ? row->emit : row->reflect;
	/* A closing probe at the end, unless the last of the run is not recorded. */
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
	fake.counts_refused = v->counts_refused;
	fake.first_id = v->first_id;
	fake.peers = v->peers;
	fake.open_loop_ns = row->open_loop_ns;
	b.options.plain = !v->joins;
	b.plan.stages = b.plan.software = b.plan.t2_user = v->joins;
	bench_script(row->events, events_of(row));
	snprintf(name, sizeof(name), "%s, %s, variant %d", row->name, role == ROLE_EMIT ? "emit" : "reflect",
		 (int)(v - variants));

	struct fake_account want = expected(row, role, v->joins), got = bench_run(name);

	/* Only the fake can attribute them. */
	if (v->joins) {
		memcpy(want.follow_up, got.follow_up, sizeof(want.follow_up));
		want.follow_up_late = got.follow_up_late;
	}

	/* With several sessions, packets late overall may be in order within their session. */
	if (v->peers > 1)
		want.reordered = got.reordered;
	if (!same_account(name, &got, &want))
		fail_msg("%s", name);
	/* Only an emitter waiting for a reply polls without sleeping; and only missing timestamps are
	 * waited for asleep. */
	assert_int_equal(fake.poll_calls > 0, row->sleeps);
	assert_int_equal(b.x.result.end, role == ROLE_EMIT ? END_COUNT : END_SIGNAL);
	/* A row has at most a dozen packets that wait for a timeout, and the stop by idleness. */
	assert_true(b.x.result.ended_ns - 1000 * NS_PER_S < 14 * TIMEOUT_NS + 4 * TIMEOUT_NS + 40 * 500 * NS_PER_US);
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

static bool cuts_off(const struct row *row)
{
	const struct fake_event *e = &row->events[0];

	return (e->fault == RX && e->argument == RX_CTRUNC) || (e->fault == EXTRA && e->argument == EXTRA_TRUNCATED);
}

/* Without transmit timestamps, by either option, none is awaited and latency is between user-space times. */
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
			/* Then nothing is there that could be cut off. */
			fake.bare = user && role == ROLE_EMIT && !cuts_off(&rows[i]);
			bench_script(rows[i].events, events_of(&rows[i]));

			struct fake_account got = bench_run(rows[i].name);

			assert_int_equal(got.unstamped, 0);
			assert_int_equal(fake.poll_calls, 0);
			if (role == ROLE_REFLECT)
				assert_int_equal(fake.fetch_calls, 0);
		}
	}
}

/* ---- The good case ----------------------------------------------------------------------------------------------- */

static void system_calls_of_a_round_trip(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		bench_run("good");
		assert_int_equal(fake.send_calls, PACKETS);
		/* And once at the end of the run: a reflector's last timestamp may be duplicated. */
		assert_int_equal(fake.fetch_calls, PACKETS + (role == ROLE_REFLECT));
		assert_int_equal(fake.poll_calls, 0);
		assert_int_equal(counter_get(&b.x.result.account.recorded), PACKETS);
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
		/* An emitter waits for the timestamp alone; a reflector must not sleep through the next
		 * request. */
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
		assert_int_equal(counter_get(&b.x.result.account.recorded), PACKETS);
	}
}

/* ---- The ring of flights ----------------------------------------------------------------------------------------- */

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

/* A full ring does not overflow yet. */
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

/* With any number of missing timestamps each packet is concluded, and other timestamps are matched. */
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

/* A timestamp within the timeout is accepted, however short the timeout and whatever was slept before. */
static void a_stamp_has_its_whole_timeout(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.options.timeout_ns = 300 * NS_PER_US;
	fake.packets = 2;
	fake.open_loop_ns = 900 * NS_PER_US;
	fake.idle_ns_max = 300; /* as fast as a real loop: 64 iterations take 40 us */
	SCRIPT({ 0, 0, TX_NONE, 0, 0 }, { 1, 0, TX_SLOW, 150 * NS_PER_US, 0 });

	struct fake_account got = bench_run("a short timeout");

	assert_int_equal(got.missing_tx, 1);
	assert_int_equal(got.recorded, 1);
}

/* ---- Reflector only ---------------------------------------------------------------------------------------------- */

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

#define ONCE_NEVER 2

/* --once: two peers probe alternately every 10 ms, between these numbers; returns the sender of the last
 * packet before the end. */
static void once(uint32_t first_from, uint32_t first_until, uint32_t second_from, uint32_t second_until,
		 unsigned last_by)
{
	static struct fake_event events[2000];
	int64_t last_ns = 0;
	size_t n = 0;

	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.once = true;
	b.options.once_silence_ns = 3 * NS_PER_S;
	fake.idle_stop_ns = 20 * NS_PER_S;
	fake.peers = 2;
	fake.open_loop_ns = 10 * NS_PER_MS;
	fake.packets = 1000;
	for (uint32_t i = 0; i < fake.packets; i++)
		if (i % 2 ? i < second_from || i >= second_until : i < first_from || i >= first_until)
			events[n++] = (struct fake_event){ i, 0, LOST, 0, 0 };
	bench_script(events, n);
	bench_run("once");
	if (last_by == ONCE_NEVER) {
		assert_int_equal(b.x.result.end, END_SIGNAL);
		return;
	}
	assert_int_equal(b.x.result.end, END_ONCE);
	for (uint64_t i = 0; i < fake.sends; i++)
		if (fake.packet[i].number % 2 == last_by)
			last_ns = fake.packet[i].sent_ns;
	assert_in_range(fake.now_ns - last_ns, 3 * NS_PER_S, 3 * NS_PER_S + NS_PER_MS);
	/* The silence is not part of the run. */
	assert_in_range(b.x.result.ended_ns - last_ns, 0, NS_PER_MS);
}

static void once_ends_when_no_emitter_is_left(void **state)
{
	(void)state;
	once(0, 100, 0, 400, 1); /* the first stops after 1 s, the second goes on to 4 s */
	once(0, 300, 0, 100, 0); /* with exchanged peers */
	once(0, 100, 0, 0, 0); /* alone */
	/* A peer absent for less than the silence, which returns with another session. */
	once(0, 100, 360, 500, 1);
}

static void once_takes_ten_probes_for_an_emitter(void **state)
{
	(void)state;
	/* A stray packet or two, and a long pause before the emitter comes. */
	once(0, 4, 500, 700, 1);
	once(0, 18, 0, 0, ONCE_NEVER);
	once(0, 20, 0, 0, 0);
	/* Nine probes of each of two peers do not make an emitter. */
	once(0, 18, 0, 18, ONCE_NEVER);
	/* Packets after the last probe do not delay the end. */
	once(0, 100, 200, 218, 0);
}

/* result/account.h: answered. A request whose reply the kernel refused is unanswered, and in no other
 * counter. */
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

/* A request that could not be answered has still arrived: earlier numbers are out of order. */
static void what_is_not_answered_has_been_seen(void **state)
{
	(void)state;
	for (int64_t late_us = 5; late_us < 100; late_us += 5) {
		struct fake_event events[] = { { 10, 0, LATE, late_us * NS_PER_US, 0 },
					       { 11, 0, SEND_ERROR, ENOBUFS, 0 } };

		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		bench_script(events, COUNT_OF(events));
		/* The fake kernel can attribute them. */
		assert_true(bench_run("a late request after a refused request").reordered <= 1);
	}
}

/* ---- Random ------------------------------------------------------------------------------------------------------ */

#define RANDOM_PACKETS 3000
#define RANDOM_EVENTS 6000

static struct fake_event random_events[RANDOM_EVENTS];

static int64_t random_argument(enum fake_fault fault, enum role role)
{
	static const int errors[] = { EINTR, ENOBUFS, EAGAIN, ECONNREFUSED, ENETDOWN };
	/* Away from the timeout, where both results are correct. */
	static const int64_t slow_ns[] = { 1000, 150 * NS_PER_US, 500 * NS_PER_US, TIMEOUT_NS / 2,
					   2 * TIMEOUT_NS + NS_PER_MS };
	static const int64_t ids[] = { -1, 1, -2, FLIGHTS, -FLIGHTS, 2 * FLIGHTS, 1 << 30, -100 };
	unsigned role_extras = role == ROLE_EMIT ? EXTRA_EMIT_END - EXTRA_BOTH_ROLES :
			       EXTRA_REFLECT_END - EXTRA_EMIT_END;
	int64_t extra;

	switch (fault) {
	/* A reflector's session remembers 64 numbers; larger distances are tested in test_session. */
	case LATE: return (int64_t)util_below(role == ROLE_EMIT ? 10 * NS_PER_MS : 60 * NS_PER_US) + 70 * NS_PER_US;
	case TWICE: return (int64_t)util_below(role == ROLE_EMIT ? NS_PER_MS : 60 * NS_PER_US) + 1;
	case LATENCY: return (int64_t)util_below(400000) - 100000;
	case STEP: return (int64_t)util_below(100000) - 50000;
	case SET: return util_below(2) ? NS_PER_S : -NS_PER_S;
	case EXTRA:
		extra = (int64_t)util_below(EXTRA_BOTH_ROLES + role_extras);
		return extra < EXTRA_BOTH_ROLES || role == ROLE_EMIT ? extra :
		       extra - EXTRA_BOTH_ROLES + EXTRA_EMIT_END;
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
	/* With timestamps other than the NIC's, CLOCK_REALTIME is stepped. A reflector has several packets
	 * in flight. */
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

/* A refused send is in no other counter: see what_is_not_answered_is_not_counted_twice(). */
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
	assert_int_equal(counter_get(&b.x.result.account.breaches), b.breach_calls);
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
	const struct CMUnitTest tests[] = {
		TEST(the_table),
		TEST(the_table_without_transmit_stamps),
		TEST(system_calls_of_a_round_trip),
		TEST(a_sleep_is_bounded),
		TEST(a_usual_delay_of_the_stamp_is_spun_for),
		TEST(the_ring_comes_round),
		TEST(the_ring_is_just_full),
		TEST(every_second_stamp_is_missing),
		TEST(a_stamp_has_its_whole_timeout),
		TEST(two_reflectors_do_not_loop),
		TEST(once_ends_when_no_emitter_is_left),
		TEST(once_takes_ten_probes_for_an_emitter),
		TEST(what_is_not_answered_is_not_counted_twice),
		TEST(what_is_not_answered_has_been_seen),
		TEST(random_mixtures),
	};

	util_seed();
	return cmocka_run_group_tests_name("exchange", tests, NULL, bench_free);
}
