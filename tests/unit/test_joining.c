/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remote timestamps in the records of an emitter: each record gets T2 of its own reply and T3 of the wire
 * from the next reply, or none; with any loss, delay, duplication or omission never those of another
 * packet. The bench checks every record against the truth; the expected result of each fault is here.
 */
#include "measure/join.c"

#include "exchange_bench.h"

static size_t events_of(const struct fake_event *events, size_t most)
{
	size_t n = 0;

	while (n < most && events[n].fault)
		n++;
	return n;
}

/* ---- The table: results of records and directions ---------------------------------------------------------------- */

/* Deviations from PACKETS good exchanges and a closing exchange, all with remote timestamps. */
struct row {
	const char *name;
	struct fake_event events[6];
	struct fake_account more;
	int64_t lost, unknown, unreported, mixed, end, stepped; /* follow-ups: those that are not there */
	struct directions directions;
	enum fake_reflector reflector;
	bool not_reported; /* the direction of losses is not reported */
};

#define LOSSES(n) .more = { .received = -n, .recorded = -n, .answered = -n, .lost = n }
/* No wait for values that an old reflector does not report. */
#define NOTHING_TO_CLOSE(n) \
	.more = { .sent = -1, .closing = -1, .received = -1 - n, .answered = -1 - n, .recorded = -n, .lost = n }
#define NO_CLOSING_REPLY(...) .more = { .received = -1, .answered = -1, __VA_ARGS__ }

static const struct row rows[] = {
	{ .name = "nothing goes wrong" },

	/* Omissions of the reflector. */
	{ "not known in time", { { 11, 0, FOLLOW_ZERO, 0, 0 } }, .unknown = 1 },
	{ "never known in time", { { 0, CLOSING, FOLLOW_ZERO, 0, 0 } }, .unknown = PACKETS, .not_reported = true },
	{ "every other is not known in time", { { 3, 0, FOLLOW_ZERO, 0, 0 }, { 5, 0, FOLLOW_ZERO, 0, 0 },
						{ 7, 0, FOLLOW_ZERO, 0, 0 } }, .unknown = 3 },
	{ "the number before", { { 11, 0, FOLLOW_NUMBER, -1, 0 } }, .unknown = 1 },
	{ "the number of the reply itself", { { 11, 0, FOLLOW_NUMBER, 1, 0 } }, .unknown = 1 },
	{ "any number", { { 11, 0, FOLLOW_NUMBER, 0x40000000, 0 } }, .unknown = 1 },
	{ "all numbers wrong", { { 0, CLOSING, FOLLOW_NUMBER, 1, 0 } }, .unknown = PACKETS },
	{ "T3 by software, T2 by hardware", { { 11, 0, FOLLOW_METHOD, PACKET_METHOD_SOFTWARE, 0 } }, .mixed = 1 },
	{ "T3 by the control plane", { { 11, 0, FOLLOW_METHOD, PACKET_METHOD_CONTROL_PLANE, 0 } }, .mixed = 1 },
	{ "a method that nobody knows", { { 11, 0, FOLLOW_METHOD, 99, 0 } }, .unknown = 1 },
	{ "no stamp for T2", { { 10, 0, NO_T2, 0, 0 } }, .mixed = 1 },
	/* The record without does not wait; the record before it has no report. */
	{ "one reply without TLVs", { { 11, 0, NO_TLVS, 0, 0 } }, .unreported = 2 },
	{ "two replies without TLVs", { { 11, 12, NO_TLVS, 0, 0 } }, .unreported = 3 },
	{ "the last reply without TLVs", { { 39, 0, NO_TLVS, 0, 0 } }, .unreported = 2, NOTHING_TO_CLOSE(0) },
	{ "the closing reply without TLVs", { { CLOSING, 0, NO_TLVS, 0, 0 } }, .unreported = 1 },
	{ "a malformed TLV", { { 11, 0, BAD_TLVS, 0, 0 } }, .unreported = 2, .more = { .malformed_tlv = 1 } },
	{ "a TLV that was tampered with", { { 11, 0, BAD_INTEGRITY, 0, 0 } }, .unreported = 2,
	  .more = { .unusable_tlv = 1 } },
	{ "no clock", { { 10, 0, NO_CLOCK, 0, 0 } }, .mixed = 1 },
	/* RFC 5357 section 4.2.1: the reflector's own padding, not requested. */
	{ "padding behind a reply", { { 11, 0, PADDED, 27, 0 }, { 13, 0, PADDED, 1, 0 } }, .lost = 0 },
	{ "no T2 of user space", { { 10, 0, NO_T2_USER, 0, 0 } }, .lost = 0 },
	{ "no bound", { { 10, 0, NO_BOUND, 0, 0 } }, .lost = 0 },

	/* Losses. */
	{ "a probe is lost", { { 11, 0, LOST, 0, 0 } }, LOSSES(1), .directions = { .lost_forward = 1 } },
	{ "a reply is lost", { { 11, 0, LOST_BACK, 0, 0 } }, LOSSES(1), .lost = 1,
	  .directions = { .lost_backward = 1 } },
	{ "the first probe is lost", { { 0, 0, LOST, 0, 0 } }, LOSSES(1), .directions = { .lost_forward = 1 } },
	{ "the first reply is lost", { { 0, 0, LOST_BACK, 0, 0 } }, LOSSES(1), .directions = { .lost_backward = 1 } },
	{ "probe, then reply", { { 11, 0, LOST, 0, 0 }, { 12, 0, LOST_BACK, 0, 0 } }, LOSSES(2), .lost = 1,
	  .directions = { .lost_forward = 1, .lost_backward = 1 } },
	{ "reply, then probe", { { 11, 0, LOST_BACK, 0, 0 }, { 12, 0, LOST, 0, 0 } }, LOSSES(2), .lost = 1,
	  .directions = { .lost_forward = 1, .lost_backward = 1 } },
	{ "ten probes", { { 11, 20, LOST, 0, 0 } }, LOSSES(10), .directions = { .lost_forward = 10 } },
	{ "ten replies", { { 11, 20, LOST_BACK, 0, 0 } }, LOSSES(10), .lost = 1,
	  .directions = { .lost_backward = 10 } },
	{ "the last probe", { { 39, 0, LOST, 0, 0 } }, LOSSES(1), .directions = { .lost_forward = 1 } },
	{ "the last reply", { { 39, 0, LOST_BACK, 0, 0 } }, LOSSES(1), .lost = 1,
	  .directions = { .lost_backward = 1 } },
	{ "the closing probe", { { CLOSING, 0, LOST, 0, 0 } }, NO_CLOSING_REPLY(), .end = 1,
	  .directions = { .lost_unknown = 1 } },
	{ "the closing reply", { { CLOSING, 0, LOST_BACK, 0, 0 } }, NO_CLOSING_REPLY(), .end = 1,
	  .directions = { .lost_unknown = 1 } },
	{ "the last three and the closing one", { { 37, CLOSING, LOST, 0, 0 } },
	  .more = { .received = -4, .recorded = -3, .answered = -4, .lost = 3 }, .end = 1,
	  .directions = { .lost_unknown = 4 } },
	{ "the kernel refuses the closing probe", { { CLOSING, 0, SEND_ERROR, ENOBUFS, 1 } },
	  NO_CLOSING_REPLY(.sent = -1, .closing = -1, .refused = 1), .end = 1 },
	{ "the closing reply does not report it", { { CLOSING, 0, FOLLOW_ZERO, 0, 0 } }, .unknown = 1 },
	{ "the closing probe has no stamp", { { CLOSING, 0, TX_NONE, 0, 0 } }, .lost = 0 },
	{ "nothing is answered", { { 0, CLOSING, LOST, 0, 0 } },
	  .more = { .sent = -1, .closing = -1, .received = -41, .recorded = -40, .answered = -41, .lost = 40 },
	  .directions = { .lost_unknown = 40 } },

	/* Late and duplicated packets. */
	{ "a late reply", { { 11, 0, LATE, 200 * NS_PER_US, 0 } },
	  .more = { .recorded = -1, .answered = -1, .lost = 1, .late = 1, .reordered = 1, .follow_up_late = 1 },
		  .lost = 1,
	  .directions = { .reordered_backward = 1 } },
	{ "a late reply, while it is still waited for", { { 11, 0, LATE, 200 * NS_PER_US, 0 }, { 12, 0, LOST, 0, 0 } },
	  .more = { .received = -1, .recorded = -2, .answered = -2, .lost = 2, .late = 1 },
	  .directions = { .lost_forward = 1 } },
	{ "a late closing reply", { { CLOSING, 0, LATE, 200 * NS_PER_US, 0 } }, NO_CLOSING_REPLY(), .end = 1,
	  .directions = { .lost_unknown = 1 } },
	{ "a late probe", { { 10, 0, DELAYED, TIMEOUT_NS + 100 * NS_PER_US, 0 } },
	  .more = { .recorded = -1, .answered = -1, .lost = 1, .late = 1, .reordered = 1 },
	  .directions = { .reordered_forward = 1 } },
	{ "a reply twice", { { 10, 0, TWICE, 1, 0 } }, .more = { .received = 1, .duplicate = 1 },
	  .directions = { .duplicate_backward = 1 } },
	{ "a reply twice, behind others", { { 10, 0, TWICE, 100 * NS_PER_US, 0 } },
	  .more = { .received = 1, .duplicate = 1, .reordered = 1 }, .directions = { .duplicate_backward = 1 } },
	/* The follow-up comes with the second reply to the same probe. */
	{ "a probe twice", { { 10, 0, ASKED_TWICE, 2000, 0 } }, .more = { .received = 1, .duplicate = 1 },
	  .directions = { .duplicate_forward = 1 } },
	{ "a probe twice, not known in time", { { 10, 0, ASKED_TWICE, 2000, 0 }, { 10, 0, FOLLOW_ZERO, 0, 0 } },
	  .unknown = 2, .more = { .received = 1, .duplicate = 1 }, .directions = { .duplicate_forward = 1 } },
	{ "a probe twice, its first reply lost", { { 10, 0, ASKED_TWICE, 2000, 0 }, { 10, 0, LOST_BACK, 1, 0 } },
	  .lost = 1, .directions = { .duplicate_forward = 1 } },
	{ "a probe twice, its second reply lost", { { 10, 0, ASKED_TWICE, 2000, 0 }, { 10, 0, LOST_BACK, 2, 0 } },
	  .lost = 1, .directions = { .duplicate_forward = 1 } },
	/* A record that lacks its own timestamps waits for no other. */
	{ "a probe twice, the second reply while the stamp is waited for",
	  { { 10, 0, ASKED_TWICE, 2000, 0 }, { 10, 0, TX_SLOW, 40 * NS_PER_US, 0 } }, .lost = 1,
	  .more = { .received = 1, .duplicate = 1 }, .directions = { .duplicate_forward = 1 } },

	/* A reflector that begins again: its numbers mean other replies. */
	{ "begun again", { { 20, 0, RESTARTED, 0, 0 } }, .lost = 1, .directions = { .restarts = 1 } },
	{ "begun again behind losses", { { 18, 19, LOST_BACK, 0, 0 }, { 20, 0, RESTARTED, 0, 0 } }, LOSSES(2),
	  .lost = 1,
	  .directions = { .restarts = 1, .lost_forward = 2 } },
	{ "begun again twice", { { 15, 0, RESTARTED, 0, 0 }, { 25, 0, RESTARTED, 0, 0 } }, .lost = 2,
	  .directions = { .restarts = 2 } },
	{ "begun again for the closing probe", { { CLOSING, 0, RESTARTED, 0, 0 } }, .lost = 1,
	  .directions = { .restarts = 1 } },
	/* Both numbers are equal, the reply is another's. That restart cannot be detected. */
	{ "begun again, and the number fits", { { 1, 0, RESTARTED, 0, 0 }, { 1, 0, LOST_BACK, 0, 0 } }, LOSSES(1),
	  .stepped = 1, .directions = { .lost_forward = 1 } },
	{ "begun again later, and the number fits", { { 1, 4, LOST_BACK, 0, 0 }, { 3, 0, RESTARTED, 0, 0 },
						      { 5, 0, FOLLOW_NUMBER, -1, 0 } }, LOSSES(4),
	  .stepped = 1, .directions = { .lost_backward = 1, .lost_forward = 3 } },
	{ "begun before anything", { { 0, 0, RESTARTED, 0, 0 } }, .lost = 0 },

	/* A response that cannot be. */
	{ "a clock there is set forward", { { 11, 0, STEPPED_THERE, NS_PER_S, 0 } }, .stepped = 1 },
	{ "a clock there is set back", { { 11, 0, STEPPED_THERE, -NS_PER_S, 0 } }, .stepped = 1 },
	{ "a clock there is set back by a little", { { 11, 0, STEPPED_THERE, -50 * NS_PER_US, 0 } }, .stepped = 1 },

	/* Other peers. */
	{ .name = "no state", .unknown = PACKETS, .reflector = REFLECTOR_STATELESS, .not_reported = true },
	{ "no state, a reply lost", { { 11, 0, LOST_BACK, 0, 0 } }, LOSSES(1), .unknown = PACKETS - 2, .lost = 1,
	  .directions = { .lost_unknown = 1 }, .reflector = REFLECTOR_STATELESS, .not_reported = true },
	{ .name = "RFC 8762 only", NOTHING_TO_CLOSE(0), .unreported = PACKETS, .reflector = REFLECTOR_OLD,
	  .not_reported = true },
	{ "RFC 8762 only, a probe lost", { { 11, 0, LOST, 0, 0 } }, NOTHING_TO_CLOSE(1), .unreported = PACKETS - 1,
	  .directions = { .lost_forward = 1 }, .reflector = REFLECTOR_OLD },
	{ "RFC 8762 only, a reply lost", { { 11, 0, LOST_BACK, 0, 0 } }, NOTHING_TO_CLOSE(1), .unreported = PACKETS - 1,
	  .directions = { .lost_unknown = 1 }, .reflector = REFLECTOR_OLD, .not_reported = true },

	/* This host's own trouble. */
	{ "no transmit stamp here", { { 10, 0, TX_NONE, 0, 0 } },
	  .more = { .recorded = -1, .unstamped = 1, .missing_tx = 1 } },
	{ "no receive stamp here", { { 10, 0, RX, RX_ABSENT, 0 } },
	  .more = { .recorded = -1, .unstamped = 1, .missing_rx = 1 } },
	{ "a negative latency", { { 10, 0, LATENCY, -50, 0 } }, /* its response is reported all the same */
	  .more = { .recorded = -1, .negative = 1 } },
	{ "a send is refused", { { 11, 0, SEND_ERROR, ENOBUFS, 3 } }, .more = { .refused = 3 } },
	/* Accepting these would copy a wrong time. */
	{ "another session", { { 11, 0, EXTRA, EXTRA_OTHER_SSID, 0 } }, .more = { .received = 1, .foreign = 1 } },
	{ "another T1", { { 11, 0, EXTRA, EXTRA_OTHER_T1, 0 } }, .more = { .received = 1, .foreign = 1 } },
	{ "a probe to come", { { 11, 0, EXTRA, EXTRA_FUTURE, 0 } }, .more = { .received = 1, .foreign = 1 } },
	{ "cut off", { { 11, 0, EXTRA, EXTRA_TRUNCATED, 0 } }, .more = { .received = 1, .malformed = 1 } },
	{ "an error estimate of 0", { { 11, 0, EXTRA, EXTRA_MULTIPLIER, 0 } },
	  .more = { .received = 1, .malformed = 1 } },
};

static struct fake_account expected(const struct row *row)
{
	struct fake_account e = row->more;

	e.sent += PACKETS + 1;
	e.received += PACKETS + 1;
	e.answered += PACKETS + 1;
	e.recorded += PACKETS;
	e.closing += 1;
	e.follow_up[FOLLOW_UP_LOST] = row->lost;
	e.follow_up[FOLLOW_UP_UNKNOWN] = row->unknown;
	e.follow_up[FOLLOW_UP_STEPPED] = row->stepped;
	e.follow_up[FOLLOW_UP_UNREPORTED] = row->unreported;
	e.follow_up[FOLLOW_UP_MIXED] = row->mixed;
	e.follow_up[FOLLOW_UP_END] = row->end;
	e.follow_up[FOLLOW_UP_THERE] =
		e.recorded + e.negative - row->lost - row->unknown - row->stepped - row->unreported -
				       row->mixed - row->end;
	return e;
}

#define SAME_DIRECTION(field) \
	if (got->field != want->field) { \
		same = false; \
		print_error("%s: " #field " is %llu, not %llu\n", name, (unsigned long long)got->field, \
			    (unsigned long long)want->field); \
	}

static bool same_directions(const char *name, const struct directions *got, const struct directions *want)
{
	bool same = true;

	SAME_DIRECTION(lost_forward)
	SAME_DIRECTION(lost_backward)
	SAME_DIRECTION(lost_unknown)
	SAME_DIRECTION(reordered_forward)
	SAME_DIRECTION(reordered_backward)
	SAME_DIRECTION(duplicate_forward)
	SAME_DIRECTION(duplicate_backward)
	SAME_DIRECTION(restarts)
	return same;
}

static void run_row(const struct row *row, enum source wire, enum source remote, bool software)
{
	struct fake_account want = expected(row), got;
	char name[160];

	snprintf(name, sizeof(name), "%s, wire %d, there %d, software %d", row->name, wire, remote, software);
	bench_join(ROLE_EMIT, wire);
	b.plan.software = b.plan.t2_user = software;
	b.exact_directions = false; /* set by the row */
	fake.remote = remote;
	fake.reflector = row->reflector;
	bench_script(row->events, events_of(row->events, COUNT_OF(row->events)));
	got = bench_run(name);
	if (!same_account(name, &got, &want))
		fail_msg("%s", name);
	assert_int_equal(b.x.result.end, END_COUNT);

	struct directions d = b.x.result.directions;

	directions_finish(&d, fake.sends);
	if (!same_directions(name, &d, &row->directions))
		fail_msg("%s", name);
	/* Without answers there is no direction. */
	if (got.answered && d.reported == row->not_reported)
		fail_msg("%s: the directions are %stold", name, d.reported ? "" : "not ");
}

static void the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		run_row(&rows[i], SOURCE_HARDWARE, SOURCE_HARDWARE, true);
		run_row(&rows[i], SOURCE_KERNEL, SOURCE_HARDWARE, false);
	}
}

/* ---- Kinds of peers ---------------------------------------------------------------------------------------------- */

/* A record is labelled by the peer's reports of its timestamps only. */
static void stamps_of_every_kind(void **state)
{
	static const enum source kinds[] = { SOURCE_USER, SOURCE_KERNEL, SOURCE_HARDWARE };

	(void)state;
	for (int mode = 0; mode < 18; mode++) {
		const enum source wire = kinds[mode % 3], remote = kinds[mode / 3 % 3];
		const bool software = mode / 9;

		bench_join(ROLE_EMIT, wire);
		b.plan.software = b.plan.t2_user = software;
		fake.remote = remote;
		assert_int_equal(bench_run("kinds of stamps").recorded, PACKETS);
		assert_int_equal(follow_up(FOLLOW_UP_THERE), PACKETS);
		assert_int_equal(b.x.result.remote, remote == SOURCE_HARDWARE ? SOURCE_HARDWARE : software ? remote :
				 SOURCE_LOCAL);
		assert_int_equal(b.x.result.bound_ns[BOUND_REMOTE].value, software ? FAKE_BOUND_NS : 0);
		assert_int_equal(logged(PACKETS - 1)->source[REMOTE + REFLECT_T3_WIRE], b.x.result.remote);
	}
}

/* Without local transmit timestamps the round trip is of user space; remote timestamps are unchanged. */
static void no_transmit_stamps_here(void **state)
{
	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		bench_join(ROLE_EMIT, mode ? SOURCE_HARDWARE : SOURCE_KERNEL);
		b.channel.tx_stamps = false;
		b.options.no_tx_stamps = true;
		assert_int_equal(bench_run("-N").follow_up[FOLLOW_UP_THERE], PACKETS);
		assert_int_equal(b.x.result.stages[STAGE_NETWORK].from, EMIT_T1_USER);
	}
}

/* A peer without a timestamp of an arrival reports its program's time: no T2, and no comparison with T3. */
static void one_stamp_is_missing_there(void **state)
{
	static const enum source kinds[] = { SOURCE_KERNEL, SOURCE_HARDWARE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		bench_join(ROLE_EMIT, SOURCE_HARDWARE);
		fake.remote = kinds[i];
		SCRIPT({ 10, 0, NO_T2, 0, 0 }, { 39, 0, NO_T2, 0, 0 });
		bench_run("no T2");
		assert_int_equal(follow_up(FOLLOW_UP_MIXED), 2);
		for (uint64_t n = 9; n <= 11; n++) {
			assert_int_equal(logged(n)->source[REMOTE + REFLECT_T2_WIRE], n == 10 ? SOURCE_NONE : kinds[i]);
			assert_int_equal(logged(n)->source[REMOTE + REFLECT_T3_WIRE], n == 10 ? SOURCE_NONE : kinds[i]);
			assert_int_equal(logged(n)->source[REMOTE + REFLECT_T2_USER], SOURCE_USER);
		}
		assert_int_equal(b.x.result.remote, kinds[i]);
	}
}

/* Before its first timestamp: the next reply, which has T3, shows that T2 was not a timestamp. */
static void the_first_stamp_is_missing_there(void **state)
{
	static const enum source kinds[] = { SOURCE_KERNEL, SOURCE_HARDWARE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		bench_join(ROLE_EMIT, SOURCE_HARDWARE);
		fake.remote = kinds[i];
		SCRIPT({ 0, 0, NO_T2, 0, 0 });
		bench_run("no T2 at first");
		assert_int_equal(follow_up(FOLLOW_UP_MIXED), 1);
		assert_int_equal(logged(0)->source[REMOTE + REFLECT_T2_WIRE], SOURCE_USER);
		assert_int_equal(logged(0)->source[REMOTE + REFLECT_T3_WIRE], SOURCE_NONE);
	}
}

/* A method different from T2's, with kinds of unreported source. */
static void methods_are_compared_too(void **state)
{
	(void)state;
	bench_join(ROLE_EMIT, SOURCE_KERNEL);
	b.plan.software = b.plan.t2_user = false;
	fake.remote = SOURCE_KERNEL;
	SCRIPT({ 11, 0, FOLLOW_METHOD, PACKET_METHOD_CONTROL_PLANE, 0 },
	       { 21, 0, FOLLOW_METHOD, PACKET_METHOD_SOFTWARE, 0 });
	bench_run("methods");
	assert_int_equal(follow_up(FOLLOW_UP_MIXED), 1);
	assert_int_equal(logged(10)->follow_up, FOLLOW_UP_MIXED);
}

/* The largest number is followed by 0: of the reflector's replies, and of our probes. */
static void numbers_wrap(void **state)
{
	(void)state;
	for (uint32_t before = 0; before < PACKETS + 2; before++) {
		for (int lost = 0; lost < 2; lost++) {
			bench_join(ROLE_EMIT, SOURCE_HARDWARE);
			fake.session.seq = -before;
			fake.first_id = UINT32_MAX - 20;
			if (lost)
				SCRIPT({ 19, 0, LOST_BACK, 0, 0 }, { 30, 0, FOLLOW_ZERO, 0, 0 });
			bench_run("numbers wrap");
			assert_int_equal(follow_up(FOLLOW_UP_THERE), lost ? PACKETS - 3 : PACKETS);
			assert_int_equal(follow_up(FOLLOW_UP_LOST), lost);
			assert_int_equal(follow_up(FOLLOW_UP_UNKNOWN), lost);
		}
	}
}

/* Packets have the seconds modulo 2^32, which end in 2106 in both formats: the clocks there pass that at any point of
 * an exchange. */
static void seconds_wrap(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		bench_join(ROLE_EMIT, SOURCE_HARDWARE);
		fake.remote_more_ns = (NS_PER_S << 32) - fake_remote_ns(BEGIN_NS + 100 * NS_PER_US,
									true) - i * NS_PER_US;
		hook.peer_is_real = true;
		peer = (struct clock_peer){ 0 };
		b.x.peer = &peer;
		bench_run("seconds wrap");
		assert_int_equal(follow_up(FOLLOW_UP_THERE), PACKETS);
		assert_true(logged(0)->time_ns[REMOTE + REFLECT_T2_WIRE] < NS_PER_S << 32);
		assert_true(logged(PACKETS - 1)->time_ns[REMOTE + REFLECT_T2_WIRE] > NS_PER_S << 32);
		assert_int_equal(peer.events + peer.outliers + peer.refused, 0);
	}
}

/* A hostile peer sets its clock to any time again and again: no difference overflows, and all is within half an era of
 * the first. */
static void any_time_there(void **state)
{
	struct exchange x = { .result.remote = SOURCE_NONE };
	int64_t last_ns = 0, apart_ns;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		int64_t ns = in_era(&x, (int64_t)(util_random() % (uint64_t)(NS_PER_S << 32)));

		assert_true(ns >= -HALF_ERA_NS && ns < ERA_NS + HALF_ERA_NS);
		assert_false(__builtin_sub_overflow(ns, last_ns, &apart_ns));
		last_ns = ns;
		x.emit.era_ns = ns - HALF_ERA_NS;
	}
}

/* Only reports that the probe requests: a bare probe gets a bare reply, and no wait. */
static void nothing_is_joined_that_is_not_asked_for(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		bench_start(ROLE_EMIT, SOURCE_HARDWARE);
		b.plan.class_of_service = mode & 1;
		b.plan.bytes = mode & 2 ? 100 : 0;

		struct fake_account got = bench_run("not asked for");

		assert_int_equal(got.closing, 0);
		assert_int_equal(got.sent, PACKETS);
		assert_int_equal(follow_up(FOLLOW_UP_NONE), PACKETS);
		assert_int_equal(logged(3)->source[REMOTE + REFLECT_T2_WIRE], SOURCE_LOCAL);
		assert_int_equal(logged(3)->source[REMOTE + REFLECT_T3_WIRE], SOURCE_NONE);
		assert_false(logged(3)->same_timebase);
	}
}

/* State of the probe at its arrival at the reflector. */
static void what_arrived_there(void **state)
{
	(void)state;
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	b.plan.class_of_service = true;
	b.plan.dscp = 34;
	b.options.dscp = fake.dscp = 34;
	assert_int_equal(bench_run("nothing is other").other_ttl, 0);

	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	b.plan.class_of_service = true;
	b.plan.dscp = 34;
	b.options.dscp = fake.dscp = 34;
	SCRIPT({ 10, 12, ARRIVED_TTL, 60, 0 }, { 12, 13, ARRIVED_TOS, 0, 0 }, { 14, 0, ARRIVED_TTL, 61, 0 },
	       { 15, 0, ARRIVED_TOS, 46 << 2, 0 }, { 16, 0, ARRIVED_TOS, 34 << 2 | 3, 0 });

	struct fake_account got = bench_run("others");

	assert_int_equal(got.other_ttl, 4);
	assert_int_equal(got.other_class, 3);
	assert_int_equal(b.x.result.arrived_ttl, 61);
	assert_int_equal(b.x.result.arrived_dscp, 46);

	/* Without a request there is no report. */
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 15, 0, ARRIVED_TOS, 46 << 2, 0 });
	assert_int_equal(bench_run("not asked").other_class, 0);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void the_closing_probe_is_no_part_of_the_run(void **state)
{
	(void)state;
	bench_join(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.duration_ns = NS_PER_MS;
	/* The run ends during the wait for a reply; the closing exchange is slow. */
	SCRIPT({ 0, FAKE_PACKETS, LATENCY, 70 * NS_PER_US, 0 });

	struct fake_account got = bench_run("duration");
	const struct fake_packet *closing = &fake.packet[fake.sends - 1];

	assert_int_equal(b.x.result.end, END_DURATION);
	assert_int_equal(got.closing, 1);
	assert_int_equal(got.sent, got.recorded + 1);
	assert_int_equal(b.histogram.count, got.recorded);
	assert_int_equal(follow_up(FOLLOW_UP_THERE), got.recorded);
	assert_int_not_equal(logged(log_ready(&b.log) - 1)->seq, closing->seq);
	assert_true(closing->answered);
	assert_in_range(b.x.result.ended_ns - b.x.result.began_ns, NS_PER_MS, NS_PER_MS + 100 * NS_PER_US);
	assert_true(b.x.result.ended_ns < closing->sent_ns && b.x.result.last_ns < closing->sent_ns);
	assert_true(fake.now_ns - b.x.result.ended_ns > 70 * NS_PER_US);
}

static void a_single_packet_is_closed_too(void **state)
{
	(void)state;
	for (int64_t count = 1; count < 4; count++) {
		bench_join(ROLE_EMIT, SOURCE_HARDWARE);
		b.options.count = count;

		struct fake_account got = bench_run("few packets");

		assert_int_equal(got.sent, count + 1);
		assert_int_equal(got.recorded, count);
		assert_int_equal(follow_up(FOLLOW_UP_THERE), count);
	}
}

/* If no record waits, no closing probe is sent. */
static void nothing_to_close(void **state)
{
	static const struct {
		struct fake_event event;
		int64_t warmup;
	} cases[] = {
		{ { 0, PACKETS, LOST, 0, 0 }, 0 },
		{ { 0, PACKETS, TX_NONE, 0, 0 }, 0 },
		{ { 39, 0, RX, RX_ABSENT, 0 }, 0 },
		{ { 20, FAKE_PACKETS, LOST, 0, 0 }, 30 }, /* all warm-up */
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bench_join(ROLE_EMIT, SOURCE_HARDWARE);
		b.options.warmup = cases[i].warmup;
		if (cases[i].warmup) {
			b.options.count = 0;
			b.options.duration_ns = 20 * NS_PER_MS;
		}
		bench_script(&cases[i].event, 1);
		assert_int_equal(bench_run("nothing to close").closing, 0);
	}
}

/* The wait for the closing reply is short, whatever the --timeout. */
static void the_closing_wait_is_bounded(void **state)
{
	static const int64_t timeouts_ns[] = { NS_PER_MS, 60 * NS_PER_S };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(timeouts_ns); i++) {
		bench_join(ROLE_EMIT, SOURCE_HARDWARE);
		b.options.timeout_ns = timeouts_ns[i];
		SCRIPT({ CLOSING, 0, LOST, 0, 0 });
		assert_int_equal(bench_run("no closing reply").follow_up[FOLLOW_UP_END], 1);
		assert_in_range(fake.now_ns - fake.packet[CLOSING].sent_ns, i ? 100 * NS_PER_MS : NS_PER_MS,
				(i ? 100 * NS_PER_MS : NS_PER_MS) + 300 * NS_PER_US);
		assert_int_equal(b.x.result.end, END_COUNT);
	}
}

static void a_stop_while_the_closing_reply_is_waited_for(void **state)
{
	(void)state;
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ CLOSING, 0, LATENCY, 90 * NS_PER_US, 0 }, { CLOSING, 0, STOP, 10 * NS_PER_US, 0 });
	bench_run("stop at the closing probe");
	assert_int_equal(b.x.result.end, END_COUNT);
	assert_int_equal(follow_up(FOLLOW_UP_THERE), PACKETS);

	/* And without a reply the wait is as short as ever. */
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.timeout_ns = 60 * NS_PER_S;
	SCRIPT({ CLOSING, 0, LOST, 0, 0 }, { CLOSING, 0, STOP, 10 * NS_PER_US, 0 });
	bench_run("stop at the closing probe, which is lost");
	assert_int_equal(follow_up(FOLLOW_UP_END), 1);
	assert_true(fake.now_ns - fake.packet[CLOSING].sent_ns <= 101 * NS_PER_MS);
}

/* A reply not awaited at the stop arrives during the wait for the closing reply: late, not duplicated. */
static void a_stop_while_a_reply_is_waited_for(void **state)
{
	struct directions d;

	(void)state;
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, LATENCY, 80 * NS_PER_US, 0 }, { 10, 0, STOP, 20 * NS_PER_US, 0 },
	       { 11, 0, LATENCY, 90 * NS_PER_US, 0 });

	struct fake_account got = bench_run("stop before the reply");

	assert_int_equal(b.x.result.end, END_SIGNAL);
	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.recorded, 10);
	assert_int_equal(got.closing, 1);
	assert_int_equal(got.sent, 12);
	assert_int_equal(got.late, 1);
	assert_int_equal(got.duplicate, 0);
	/* It has the follow-up of the previous reply. */
	assert_int_equal(follow_up(FOLLOW_UP_THERE), 10);
	d = b.x.result.directions;
	directions_finish(&d, fake.sends);
	assert_int_equal(d.duplicate_forward + d.duplicate_backward + d.lost_forward + d.lost_backward + d.lost_unknown,
			 0);

	/* It is lost: so is the follow-up in it. */
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, LOST_BACK, 0, 0 }, { 10, 0, STOP, 20 * NS_PER_US, 0 });
	got = bench_run("stop before a reply that is lost");
	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.closing, 1);
	assert_int_equal(follow_up(FOLLOW_UP_LOST), 1);
	assert_int_equal(follow_up(FOLLOW_UP_THERE), 9);
}

/* Its reply has reported the previous reply, and it is not recorded itself. */
static void a_stop_while_a_stamp_is_waited_for(void **state)
{
	(void)state;
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TX_SLOW, 900 * NS_PER_US, 0 }, { 10, 0, STOP, 100 * NS_PER_US, 0 });

	struct fake_account got = bench_run("stop before the stamp");

	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.recorded, 10);
	assert_int_equal(got.closing, 0);
	assert_int_equal(follow_up(FOLLOW_UP_THERE), 10);
}

/* A duration that ends while nothing answers: the record before that is closed like any other. */
static void the_duration_ends_in_silence(void **state)
{
	(void)state;
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.count = 0;
	b.options.timeout_ns = 60 * NS_PER_S;
	b.options.duration_ns = NS_PER_S;
	fake.cut_short = true;
	SCRIPT({ 10, FAKE_PACKETS, LOST, 0, 0 });

	struct fake_account got = bench_run("silence");

	assert_int_equal(b.x.result.end, END_DURATION);
	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.closing, 1);
	assert_int_equal(got.recorded, 10);
	assert_int_equal(follow_up(FOLLOW_UP_END), 1);
	assert_in_range(b.x.result.ended_ns - b.x.result.began_ns, NS_PER_S, NS_PER_S + 300 * NS_PER_MS);
}

static void the_warmup_waits_for_nothing(void **state)
{
	(void)state;
	for (int64_t warmup = 1; warmup <= 20; warmup += 19) {
		bench_join(ROLE_EMIT, SOURCE_HARDWARE);
		b.options.warmup = warmup;
		SCRIPT({ 0, 0, FOLLOW_ZERO, 0, 0 });

		struct fake_account got = bench_run("warm-up");

		assert_int_equal(got.warmup, warmup);
		assert_int_equal(got.recorded, PACKETS);
		assert_int_equal(got.sent, warmup + PACKETS + 1);
		assert_int_equal(follow_up(FOLLOW_UP_THERE), PACKETS);
		assert_int_equal(logged(0)->seq, warmup);
	}
}

/* ---- The ring of flights ----------------------------------------------------------------------------------------- */

/* A record waits while hundreds of probes are lost: its ring entry is needed again. */
static void a_record_waits_for_a_whole_ring(void **state)
{
	static struct fake_event events[2];

	(void)state;
	for (uint32_t losses = FLIGHTS - 5; losses <= FLIGHTS + 45; losses += losses < FLIGHTS + 5 ? 1 : 20) {
		for (int back = 0; back < 2; back++) {
			bench_join(ROLE_EMIT, SOURCE_HARDWARE);
			b.options.timeout_ns = NS_PER_MS;
			b.options.count = 10 + losses + 300;
			events[0] = (struct fake_event){ 10, 9 + losses, back ? LOST_BACK : LOST, 0, 0 };
			bench_script(events, 1);

			struct fake_account got = bench_run("a ring of losses");

			assert_int_equal(got.lost, losses);
			assert_int_equal(got.recorded, 310);
			/* At 255 the entry is needed for the 256th. Before that its follow-up arrives in
			 * the reply after the losses, unless it was in a lost reply. */
			assert_int_equal(follow_up(FOLLOW_UP_LOST), losses >= FLIGHTS - 1 || back);
			assert_int_equal(follow_up(FOLLOW_UP_THERE), 310 - follow_up(FOLLOW_UP_LOST));
		}
	}
}

/* ---- With a key -------------------------------------------------------------------------------------------------- */

/* A peer without the key is neither accepted nor answered; all else is as without a key. */
static void only_verified_packets_count(void **state)
{
	struct hmac *key = bench_open_key();

	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_join(role, SOURCE_HARDWARE);
		b.plan.key = b.x.key = fake.key = key;
		SCRIPT({ 10, 0, EXTRA, EXTRA_UNVERIFIED, 0 }, { 12, 0, EXTRA, EXTRA_UNVERIFIED, 0 },
		       { 14, 0, LOST, 0, 0 });

		struct fake_account got = bench_run("with a key");

		assert_int_equal(got.unverified, 2);
		assert_int_equal(got.malformed + got.foreign, 0);
		assert_int_equal(got.recorded, PACKETS - 1);
		if (role == ROLE_EMIT)
			assert_int_equal(follow_up(FOLLOW_UP_THERE), PACKETS - 1);
		else
			assert_int_equal(fake.follow_ups, PACKETS - 2);
	}
	hmac_close(key);
}

/* ---- Random ------------------------------------------------------------------------------------------------------ */

#define RANDOM_PACKETS 3000
#define RANDOM_EVENTS 9000

static struct fake_event random_events[RANDOM_EVENTS];

/* Faults of both hosts. Excluded: faults that end a run, and faults where both results are correct. */
static const enum fake_fault emit_faults[] = {
	LOST, LOST_BACK, LATE, DELAYED, TWICE, ASKED_TWICE, RESTARTED, LATENCY, RESPONSE, STEPPED_THERE, EXTRA, RX, TX,
		TX_NONE, TX_SLOW,
	TX_TWICE, TX_ASLEEP, TX_ID, TX_EXTRA, SEND_ERROR, NO_T2, NO_T2_USER, NO_BOUND, NO_TLVS, BAD_TLVS, BAD_INTEGRITY,
	FOLLOW_ZERO, FOLLOW_NUMBER, FOLLOW_METHOD, ARRIVED_TTL, STEP, LOST, LOST_BACK, FOLLOW_ZERO,
};

/* With these faults the directions are exact. */
static const enum fake_fault plain_faults[] = {
	LOST, LOST_BACK, TWICE, LATENCY, RESPONSE, EXTRA, RX, TX_NONE, TX_SLOW, SEND_ERROR, NO_T2, NO_TLVS, FOLLOW_ZERO,
	FOLLOW_NUMBER, FOLLOW_METHOD, NO_BOUND,
};

static int64_t random_argument(enum fake_fault fault)
{
	static const int64_t slow_ns[] = { 1000, 150 * NS_PER_US, 500 * NS_PER_US, 2 * TIMEOUT_NS + NS_PER_MS };
	static const int64_t ids[] = { -1, 1, -2, FLIGHTS, -FLIGHTS };

	switch (fault) {
	case LOST_BACK: return (int64_t)util_below(3);
	case LATE: return (int64_t)util_below(10 * NS_PER_MS) + 70 * NS_PER_US;
	case DELAYED: return (int64_t)util_below(3 * TIMEOUT_NS) + 1;
	case TWICE: return (int64_t)util_below(NS_PER_MS) + 1;
	case ASKED_TWICE: return (int64_t)util_below(util_below(2) ? 100 * NS_PER_US : 5000) + 1;
	case LATENCY: return (int64_t)util_below(400000) - 100000;
	case RESPONSE: return (int64_t)util_below(90000);
	case STEP:
	case STEPPED_THERE: return (int64_t)util_below(100000) - 50000;
	case EXTRA: return (int64_t)util_below(EXTRA_EMIT_END);
	case RX: return (int64_t)util_below(RX_KINDS);
	case TX: return (int64_t)util_below(ENTRY_KINDS);
	case TX_EXTRA: return 1 + (int64_t)util_below(ENTRY_KINDS - 1);
	case TX_SLOW: return slow_ns[util_below(COUNT_OF(slow_ns))];
	case TX_ID: return ids[util_below(COUNT_OF(ids))];
	case SEND_ERROR: return ENOBUFS;
	case FOLLOW_NUMBER: return 0x40000000 + (int64_t)util_below(5); /* a lie by accident may be true of another */
	case FOLLOW_METHOD: return 3 + (int64_t)util_below(3);
	case ARRIVED_TTL: return 60 + (int64_t)util_below(3);
	default: return 0;
	}
}

/* One fault of a kind for each packet, and a refused send alone: it is retried. */
static bool fits(size_t n, const struct fake_event *e)
{
	for (; n && random_events[n - 1].first == e->first; n--)
		if (random_events[n - 1].fault == e->fault)
			return false;
	return true;
}

static size_t random_script(const enum fake_fault *faults, size_t kinds, unsigned one_in)
{
	size_t n = 0;

	for (uint32_t number = 0; number < RANDOM_PACKETS; number++) {
		while (n < RANDOM_EVENTS && util_below(one_in) == 0) {
			struct fake_event e = { .first = number, .fault = faults[util_below(kinds)], .times = 1 };

			e.argument = random_argument(e.fault);
			if (fits(n, &e))
				random_events[n++] = e;
		}
	}
	return n;
}

static void random_emit(bool exact, unsigned one_in)
{
	static const enum source wires[] = { SOURCE_HARDWARE, SOURCE_KERNEL, SOURCE_USER };

	bench_join(ROLE_EMIT, wires[util_below(COUNT_OF(wires))]);
	b.exact_directions = exact;
	/* Where half of all packets are at fault it happens once in a thousand restarts. */
	b.accidents_max = exact ? 0 : one_in == 2 ? 5 : 2;
	b.options.count = RANDOM_PACKETS - 200;
	b.options.warmup = (int64_t)util_below(3) * 40;
	b.options.threshold_ns = THRESHOLD_NS;
	b.options.threshold_on = (int64_t)util_below(3);
	b.options.keep_going = true;
	b.options.sw_timestamps = util_below(2);
	b.options.no_step_check = util_below(2);
	b.plan.software = util_below(2);
	b.plan.t2_user = b.plan.software && util_below(2);
	b.plan.bytes = util_below(3) * 60;
	b.plan.class_of_service = util_below(2);
	b.options.dscp = b.plan.dscp = fake.dscp = (uint8_t)util_below(64);
	fake.remote = wires[util_below(COUNT_OF(wires))];
	fake.id_by_message = util_below(2);
	fake.session.seq = exact ? 0 : (uint32_t)-util_below(RANDOM_PACKETS);
	if (util_below(2) && !exact)
		fake.first_id = (uint32_t)-util_below(RANDOM_PACKETS);
	if (exact)
		bench_script(random_events, random_script(plain_faults, COUNT_OF(plain_faults), one_in));
	else
		bench_script(random_events, random_script(emit_faults, COUNT_OF(emit_faults), one_in));
	bench_run("random");
	assert_int_equal(counter_get(&b.x.result.account.breaches), b.breach_calls);
}

static void random_mixtures(void **state)
{
	static const unsigned one_in[] = { 2, 5, 50 };

	(void)state;
	for (int i = 0; i < 9; i++) {
		random_emit(false, one_in[i % 3]);
		random_emit(true, one_in[i % 3]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_table),
		TEST(stamps_of_every_kind),
		TEST(no_transmit_stamps_here),
		TEST(one_stamp_is_missing_there),
		TEST(the_first_stamp_is_missing_there),
		TEST(methods_are_compared_too),
		TEST(numbers_wrap),
		TEST(seconds_wrap),
		TEST(any_time_there),
		TEST(nothing_is_joined_that_is_not_asked_for),
		TEST(what_arrived_there),
		TEST(the_closing_probe_is_no_part_of_the_run),
		TEST(a_single_packet_is_closed_too),
		TEST(nothing_to_close),
		TEST(the_closing_wait_is_bounded),
		TEST(a_stop_while_the_closing_reply_is_waited_for),
		TEST(a_stop_while_a_reply_is_waited_for),
		TEST(a_stop_while_a_stamp_is_waited_for),
		TEST(the_duration_ends_in_silence),
		TEST(the_warmup_waits_for_nothing),
		TEST(a_record_waits_for_a_whole_ring),
		TEST(only_verified_packets_count),
		TEST(random_mixtures),
	};

	util_seed();
	return cmocka_run_group_tests_name("joining", tests, NULL, bench_free);
}
