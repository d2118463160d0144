/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bench for tests of the measuring loop: a run against the fake kernel, and the checks after it: the
 * counters of the module, those of the fake, the identities of result/account.h, and every record against
 * the truth. The modules are linked; a test that calls static functions of a module includes it, at the
 * cost of compiling it.
 */
#ifndef EXCHANGE_BENCH_H
#define EXCHANGE_BENCH_H

#include "rant.h"

#include "util.h"

#include "histogram.h"
#include "host/clock/clock.h"
#include "host/clock/clock_peer.h"
#include "host/counters/pmc.h"
#include "result/breach.h"
#include "measure/exchange.h"
#include "result/log.h"
#include "measure/rules.h"
#include "measure/sample.h"
#include "measure/tx_match.h"
#include "options.h"
#include "wire/hmac.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/session.h"
#include "wire/socket.h"
#include "fake_kernel.h"

#include <sys/stat.h>

#define PACKETS 40 /* in most runs */
#define CLOSING PACKETS /* the number of the probe after the last */
#define TIMEOUT_NS (5 * NS_PER_MS)
#define OVERFLOW_NS (100 * NS_PER_US)
#define LOG_RECORDS 8192
#define THRESHOLD_NS 20000
#define BEGIN_NS (1000 * NS_PER_S) /* CLOCK_MONOTONIC of the fake */

static struct bench {
	struct options options;
	struct channel channel;
	struct histogram histogram;
	struct log log;
	struct sessions sessions;
	struct exchange x;
	_Atomic int stop;
	void *histogram_memory;
	struct sample record[LOG_RECORDS]; /* memory of the log: see logged() */
	/* Observations of the hooks. */
	unsigned breach_calls, silence_calls;
	uint64_t recorded_at_breach, logged_at_breach;
	struct sample first_breach;
	int64_t silence_ns;
	unsigned start_calls;
	uint64_t sends_at_start;
	int64_t started_ns;
	struct histogram stage[STAGES], one_way[ONE_WAYS];
	void *stage_memory[STAGES], *one_way_memory[ONE_WAYS];
	struct packet_plan plan;
	unsigned want_tos_calls, want_kernel_times_calls, want_detail_calls;
	int detail; /* flags of the kernel's transmit times that are granted */
	uint64_t accidents_max;
	bool exact_directions; /* no event makes the directions ambiguous, see wire/sequence.h */
	/* A relation that is reported as exact, and its bound. */
	int64_t converted_bound_ns;
} b;

/* Calls that the loop may make only with a given pointer. They are forwarded to the real modules, except
 * those to pmc.c. */
static struct {
	unsigned converted, added, begun_remote, begun, ended, accounted;
	bool is_begun, is_counted; /* between begin and end; between a good end and the account of it */
	unsigned every; /* pmc_end() fails except in each call of this period */
	bool slow[PACKETS + 1];
	int64_t counted_of[PACKETS + 1]; /* the packet */
	uint64_t sends_at_begin, sends_before, delta_of;
	bool peer_is_real;
	/* Which exchange contradicts the others, from 1 on, and of which on nothing is believed. */
	unsigned contradicts_remote, contradicts_back, unsettled_from, unsettled_to;
	int64_t peer_ns[PACKETS + 1][4]; /* including the closing probe */
} hook;

static struct clock_watch clocks;
static struct clock_peer peer;
static struct pmc pmc;

bool __real_clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns);
bool __wrap_clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns);
bool __wrap_clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns)
{
	assert_ptr_equal(c, &clocks);
	hook.converted++;
	return __real_clock_to_phc(c, realtime_ns, phc_ns, bound_ns);
}

bool __real_clock_peer_forward(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns,
			       const struct clock_peer_moment *moment);
bool __wrap_clock_peer_forward(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns,
			       const struct clock_peer_moment *moment);
bool __wrap_clock_peer_forward(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns,
			       const struct clock_peer_moment *moment)
{
	assert_ptr_equal(p, &peer);
	if (hook.peer_is_real)
		return __real_clock_peer_forward(p, t1_ns, t2_ns, moment);
	/* The times of an exchange are before those of the next. */
	assert_int_equal(hook.begun_remote++, hook.added);
	assert_true(hook.added <= PACKETS);
	hook.peer_ns[hook.added][0] = t1_ns;
	hook.peer_ns[hook.added][1] = t2_ns;
	peer.unsettled = hook.added >= hook.unsettled_from && hook.added < hook.unsettled_to;
	return hook.added + 1 != hook.contradicts_remote;
}

bool __real_clock_peer_backward(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns);
bool __wrap_clock_peer_backward(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns);
bool __wrap_clock_peer_backward(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns)
{
	assert_ptr_equal(p, &peer);
	if (hook.peer_is_real) {
		hook.added++;
		return __real_clock_peer_backward(p, t3_ns, t4_ns);
	}
	assert_int_equal(hook.added + 1, hook.begun_remote);
	hook.peer_ns[hook.added][2] = t3_ns;
	hook.peer_ns[hook.added++][3] = t4_ns;
	return hook.added != hook.contradicts_back;
}

void __wrap_pmc_begin(struct pmc *p);
void __wrap_pmc_begin(struct pmc *p)
{
	assert_ptr_equal(p, &pmc);
	hook.begun++;
	hook.is_begun = true;
	/* A reflector's answer has been accounted by then; an emitter's may wait for the reply to the next probe. */
	if (fake.role == ROLE_REFLECT)
		hook.is_counted = false;
	hook.sends_at_begin = fake.send_calls;
	hook.sends_before = fake.sends;
}

bool __wrap_pmc_end(struct pmc *p);
bool __wrap_pmc_end(struct pmc *p)
{
	assert_ptr_equal(p, &pmc);
	assert_true(hook.is_begun);
	assert_int_equal(fake.send_calls, hook.sends_at_begin + 1); /* the first exchange, with its send */
	hook.is_begun = false;
	hook.is_counted = hook.ended++ % (hook.every ? hook.every : 1) == 0;
	/* The counters now belong to the last sent packet, or to none. */
	hook.delta_of = fake.sends == hook.sends_before ? UINT64_MAX : fake.sends - 1;
	return hook.is_counted;
}

void __wrap_pmc_account(struct pmc *p, bool slow);
void __wrap_pmc_account(struct pmc *p, bool slow)
{
	assert_ptr_equal(p, &pmc);
	assert_true(hook.is_counted);
	assert_true(hook.accounted < PACKETS);
	hook.is_counted = false;
	hook.counted_of[hook.accounted] = (int64_t)hook.delta_of;
	hook.slow[hook.accounted++] = slow;
}

int socket_want_tos(struct channel *c)
{
	assert_ptr_equal(c, &b.channel);
	b.want_tos_calls++;
	c->tos_wanted = fake.tos_reported = true;
	return 0;
}

int socket_want_kernel_times(struct channel *c)
{
	c->kernel_times = true;
	b.want_kernel_times_calls++;
	return 0;
}

int socket_want_detail(struct channel *c)
{
	c->detail = b.detail;
	b.want_detail_calls++;
	return 0;
}

static inline const struct sample *logged(uint64_t i)
{
	assert_true(i < log_ready(&b.log));
	return log_at(&b.log, i);
}

static inline void on_breach(void *context, const struct sample *s)
{
	assert_ptr_equal(context, &b);
	if (b.breach_calls++ == 0) {
		b.first_breach = *s;
		b.recorded_at_breach = b.histogram.count;
		b.logged_at_breach = log_ready(&b.log);
	}
}

static inline void on_start(void *context)
{
	assert_ptr_equal(context, &b);
	b.start_calls++;
	b.sends_at_start = fake.sends;
	b.started_ns = fake.now_ns;
	assert_int_equal(b.histogram.count, 0);
	assert_int_equal(b.x.result.account.breaches, 0);
}

static inline void on_silence(void *context)
{
	assert_ptr_equal(context, &b);
	b.silence_calls++;
	b.silence_ns = fake.now_ns;
}

static inline void bench_sessions(uint32_t limit, int64_t rate_limit)
{
	static const uint64_t secret[SESSION_SECRETS] = { 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
							  0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db };

	sessions_init(&b.sessions, limit, rate_limit, secret);
}

static inline void bench_place(enum role role)
{
	size_t bytes = histogram_layout(&b.histogram, OVERFLOW_NS, 1, HISTOGRAM_OVERFLOW_STORE);

	if (!b.histogram_memory)
		b.histogram_memory = malloc(bytes);
	memset(b.histogram_memory, 0, bytes);
	histogram_assign(&b.histogram, b.histogram_memory);
	/* So that both kinds are used. */
	log_assign(&b.log, b.record, LOG_RECORDS, false, role == ROLE_EMIT);
	bench_sessions(SESSIONS_MAX, 0);
}

/* A run without faults, which the test changes. An emitter ends by its count, a reflector when no more
 * packets arrive. */
static inline void bench_start(enum role role, enum source wire)
{
	void *memory = b.histogram_memory;

	memset(&b, 0, sizeof(b));
	memset(&hook, 0, sizeof(hook));
	b.histogram_memory = memory;
	bench_place(role);
	b.options = (struct options){ .role = role, .timeout_ns = TIMEOUT_NS, .port = FAKE_PORT, .no_step_check = true,
				      .overflow_ns = OVERFLOW_NS, .bucket_ns = NS_PER_US, .stamp = wire, .plain = true,
				      .ttl = FAKE_TTL, .dscp = -1, .synced_ns = -1 };
	b.plan = (struct packet_plan){ .ssid = FAKE_SSID };
	b.channel.at = &b.channel.peer_socket[0];
	b.channel.peer_sockets = b.channel.listeners = 1;
	b.channel.at->fd = FAKE_FD;
	b.channel.stray_fd = -1;
	b.channel.wire = wire;
	b.channel.tx_stamps = wire != SOURCE_USER;
	b.channel.at->connected = role == ROLE_EMIT;
	b.x = (struct exchange){ .channel = &b.channel, .result.histogram = &b.histogram, .log = &b.log,
				 .sessions = &b.sessions,
				 .options = &b.options, .result.options = &b.options, .stop = &b.stop, .plan = &b.plan,
				 .on_breach = on_breach,
				 .on_silence = on_silence, .context = &b };
	fake_start(role, wire);
	fake.stop = &b.stop;
	fake.plan = &b.plan;
	fake.end = role == ROLE_EMIT ? &b.x.result.end : NULL;
	fake.packets = PACKETS;
	if (role == ROLE_EMIT)
		b.options.count = PACKETS;
	else
		fake.idle_stop_ns = 4 * TIMEOUT_NS;
}

/* A run that requests everything that a reflector can report. */
static inline void bench_join(enum role role, enum source wire)
{
	bench_start(role, wire);
	b.options.plain = false;
	b.options.sw_timestamps = true;
	b.plan.stages = b.plan.software = b.plan.t2_user = true;
	b.exact_directions = true;
}

/* Skips the test without libnettle. */
static inline struct hmac *bench_open_key(void)
{
	char path[] = "/tmp/bench_key.XXXXXX";
	struct hmac *key;
	int fd;

	if (!hmac_library()) {
		print_message("built without libnettle\n");
		skip();
	}
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_int_equal(dprintf(fd, "00112233445566778899aabbccddeeff\n"), 33);
	close(fd);
	assert_int_equal(hmac_open(&key, path), 0);
	unlink(path);
	return key;
}

static inline void bench_script(const struct fake_event *events, size_t n)
{
	fake.events = events;
	fake.event_count = n;
}

#define SCRIPT(...) \
	do { \
		static const struct fake_event events[] = { __VA_ARGS__ }; \
		bench_script(events, COUNT_OF(events)); \
	} while (0)

static inline uint64_t follow_up(enum follow_up how)
{
	return counter_get(&b.x.result.account.follow_up[how]);
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

/* Calculated by hand, with wire timestamps: (to - from) - (less_to - less_from). */
static const struct by_hand {
	uint8_t from, to, less_from, less_to;
	uint8_t bound;
	bool inside, user, peer, kernel;
} stages_by_hand[2][STAGES] = {
	[ROLE_EMIT] = {
		{ 0, 1, 0, 0, BOUND_LOCAL, false, true, false },
		{ 2, 3, 0, 0, BOUND_LOCAL, false, true, false },
		{ 0, 10, 0, 0, BOUND_NONE, false, true, false, true },
		{ 10, 11, 0, 0, BOUND_NONE, false, true, false, true },
		{ 11, 1, 0, 0, BOUND_LOCAL, false, true, false, true },
		{ 2, 8, 0, 0, BOUND_LOCAL, false, true, false, true },
		{ 8, 3, 0, 0, BOUND_NONE, false, true, false, true },
		{ 4, 7, 0, 0, BOUND_NONE, false, false, true },
		{ 1, 2, 4, 7, BOUND_NONE, true, false, true },
		{ 4, 5, 0, 0, BOUND_REMOTE, true, true, true },
		{ 4, 9, 0, 0, BOUND_REMOTE, false, true, true, true },
		{ 9, 5, 0, 0, BOUND_NONE, false, true, true, true },
		{ 5, 6, 0, 0, BOUND_REMOTE, true, true, true },
		{ 6, 7, 0, 0, BOUND_REMOTE, true, true, true },
		{ 6, 12, 0, 0, BOUND_NONE, false, true, true, true },
		{ 12, 13, 0, 0, BOUND_NONE, false, true, true, true },
		{ 13, 7, 0, 0, BOUND_REMOTE, false, true, true, true },
	},
	[ROLE_REFLECT] = {
		{ 0, 1, 0, 0, BOUND_LOCAL, true, true, false },
		{ 2, 3, 0, 0, BOUND_LOCAL, true, true, false },
		{ 1, 2, 0, 0, BOUND_LOCAL, true, true, false },
		{ 0, 8, 0, 0, BOUND_LOCAL, false, true, false, true },
		{ 8, 1, 0, 0, BOUND_NONE, false, true, false, true },
		{ 2, 10, 0, 0, BOUND_NONE, false, true, false, true },
		{ 10, 11, 0, 0, BOUND_NONE, false, true, false, true },
		{ 11, 3, 0, 0, BOUND_LOCAL, false, true, false, true },
	},
};

/* The clocks of the fake are apart, so a stage of both is far from any real value: below 0 or an overflow. */
static inline void bench_stages(enum role role, enum source wire)
{
	bench_start(role, wire);
	b.options.sw_timestamps = true;
	for (int i = 0; i < STAGES; i++) {
		size_t bytes = histogram_layout(&b.stage[i], OVERFLOW_NS, 1, HISTOGRAM_OVERFLOW_STORE);

		b.stage_memory[i] = calloc(1, bytes);
		histogram_assign(&b.stage[i], b.stage_memory[i]);
		if (stages_by_hand[role][i].from != stages_by_hand[role][i].to)
			b.x.result.stage[i] = &b.stage[i];
	}
}

static inline void free_stages(void)
{
	for (int i = 0; i < STAGES; i++) {
		free(b.stage_memory[i]);
		b.stage_memory[i] = NULL;
	}
}

static inline bool stage_by_hand(const struct sample *s, const struct by_hand *stage, int64_t *value_ns)
{
	const int64_t *ns = s->time_ns;

	if (stage->from == stage->to || !s->source[stage->from] || !s->source[stage->to])
		return false;
	if (stage->bound == BOUND_REMOTE && !s->same_timebase)
		return false;
	*value_ns = ns[stage->to] - ns[stage->from];
	if (stage->less_from == stage->less_to)
		return true;
	*value_ns -= ns[stage->less_to] - ns[stage->less_from];
	return s->source[stage->less_from] && s->source[stage->less_to];
}

/* Each duplicated request number at a reflector has a mark, as long as the ring has space. The rest are the
 * records. */
static inline void take_marks_out(void)
{
	uint64_t records = 0, marks = 0;

	for (uint64_t i = 0; i < log_ready(&b.log); i++) {
		const uint8_t *at = b.log.record + i * b.log.record_bytes;
		const struct sample *s = (const struct sample *)at;

		marks += log_is_mark(s) && !log_is_gap(s);
		if (!log_is_mark(s))
			memmove(b.log.record + records++ * b.log.record_bytes, at, b.log.record_bytes);
	}
	if (b.x.log && !b.log.left_out)
		assert_int_equal(marks, b.x.result.account.repeated);
	b.log.ready -= log_ready(&b.log) - records;
}

/* Expected histogram of a stage, from the log, which holds every recorded sample. */
static inline void check_stage(int i)
{
	const struct histogram *h = &b.stage[i];
	uint64_t count = 0, negatives = 0;
	__int128 sum = 0;

	for (uint64_t n = 0; n < log_ready(&b.log); n++) {
		int64_t value_ns;

		if (!stage_by_hand(logged(n), &stages_by_hand[b.options.role][i], &value_ns))
			continue;
		count += value_ns >= 0;
		negatives += value_ns < 0;
		sum += value_ns >= 0 ? value_ns : 0;
	}
	assert_int_equal(h->count, count);
	assert_int_equal(h->negatives, negatives);
	assert_true(h->sum == sum);
}

/* ---- After every run --------------------------------------------------------------------------------------------- */

static inline struct fake_account account_of_room(void)
{
	const struct account *a = &b.x.result.account;
	struct fake_account r = { 0 };

#define X(field) r.field = (int64_t)counter_get(&a->field);
	FAKE_ACCOUNT(X)
#undef X
	r.error_other = (int64_t)counter_get(&b.channel.error_other);
	r.control_truncated = (int64_t)counter_get(&b.channel.control_truncated);
	for (int i = 0; i < FOLLOW_UPS; i++)
		r.follow_up[i] = (int64_t)counter_get(&a->follow_up[i]);
	return r;
}

static inline bool same_account(const char *what, const struct fake_account *got, const struct fake_account *want)
{
	bool same = true;

#define X(field) \
	if (got->field != want->field) { \
		same = false; \
		print_error("%s: " #field " is %lld, not %lld\n", what, (long long)got->field, (long long)want->field); \
	}
	FAKE_ACCOUNT(X)
	X(error_other)
	X(control_truncated)
	X(follow_up[FOLLOW_UP_NONE])
	X(follow_up[FOLLOW_UP_THERE])
	X(follow_up[FOLLOW_UP_LOST])
	X(follow_up[FOLLOW_UP_UNKNOWN])
	X(follow_up[FOLLOW_UP_UNREPORTED])
	X(follow_up[FOLLOW_UP_MIXED])
	X(follow_up[FOLLOW_UP_END])
	X(follow_up[FOLLOW_UP_STEPPED])
#undef X
	return same;
}

/* Written down again from result/account.h, not from account_balances(). */
static inline void check_identities(const struct fake_account *a)
{
	int64_t records = 0, follow_ups = 0;

	for (int i = 0; i < FOLLOW_UPS; i++)
		follow_ups += a->follow_up[i];
	assert_int_equal(a->sent, a->warmup + a->recorded + a->lost + a->unstamped + a->negative + a->stepped +
				  a->unfinished + a->closing);
	if (b.options.role == ROLE_EMIT) {
		assert_int_equal(a->received, a->answered + a->late + a->duplicate + a->foreign + a->malformed +
					      a->unverified);
		assert_int_equal(a->unanswered + a->repeated + a->cut_short, 0);
		assert_int_equal(follow_ups, a->recorded + a->negative);
		assert_true(a->closing <= 1);
	} else {
		assert_int_equal(a->received, a->answered + a->unanswered + a->foreign + a->malformed + a->unverified +
					      a->cut_short + a->disallowed + a->too_short + a->no_session +
					      a->replayed + a->over_rate);
		assert_int_equal(a->sent, a->answered);
		assert_int_equal(a->late + a->duplicate + a->lost + a->unfinished + a->closing + follow_ups, 0);
		assert_true(a->repeated + a->reordered <= a->answered);
	}
	assert_true(a->missing_tx + a->missing_rx >= a->unstamped);
	for (uint32_t i = 0; i < b.histogram.buckets; i++)
		records += (int64_t)histogram_bucket(&b.histogram, i);
	assert_int_equal(records + (int64_t)b.histogram.overflows, a->recorded);
	assert_int_equal(b.histogram.count, a->recorded);
	assert_int_equal(b.histogram.negatives, a->negative);
	assert_true(account_balances(&b.x.result.account, b.options.role, &b.histogram, log_offered(&b.log)));
}

/* The packet of a log record: in the emitter by its number, in the reflector by T3, which is read once for each
 * reply. */
static inline struct fake_packet *packet_of(const struct sample *s)
{
	if (b.options.role == ROLE_EMIT)
		return &fake.packet[(uint32_t)(s->seq - fake.first_id)];
	for (uint64_t n = 0; n < fake.sends; n++)
		if (b.x.clocks ? fake.packet[n].tx_wire_ns == s->time_ns[REFLECT_T3_WIRE] :
				 fake.packet[n].tx_user_ns == s->time_ns[REFLECT_T3_USER])
			return &fake.packet[n];
	return NULL;
}

static inline void check_time(const struct sample *s, unsigned at, int64_t want_ns, enum source source)
{
	assert_int_equal(s->source[at], source);
	if (source)
		assert_int_equal(s->time_ns[at], want_ns);
}

/* A relation of the clocks of the fake that is as old as at_ns (CLOCK_MONOTONIC), by hand. */
static inline void relate_clocks(int64_t at_ns, int64_t bound_ns, double rate_bound)
{
	struct clock_slot *s = &clocks.slot[0];

	memset(&clocks, 0, sizeof(clocks));
	clocks.phc_fd = -1;
	s->valid = true;
	s->at_ns = fake_real_ns(at_ns);
	s->offset_ns = fake_wire_ns(0) - fake_real_ns(0);
	s->bound_ns = bound_ns;
	s->rate_bound = rate_bound;
	s->growth[0] = s->growth[1] = CLOCK_USELESS_NS + 1;
	b.x.clocks = &clocks;
	b.converted_bound_ns = bound_ns;
}

/* The bound that relate_clocks() made is of no use after more than a second. */
static inline bool has_place(int64_t user_ns)
{
	return b.x.clocks && user_ns - clocks.slot[0].at_ns <= NS_PER_S;
}

/* For the fake: by the offset of its clocks, and the bound that the relation was given. */
static inline bool place_by_hand(int64_t real_ns, int64_t *converted_ns, int64_t *bound_ns)
{
	*converted_ns = real_ns - fake_real_ns(0) + fake_wire_ns(0);
	*bound_ns = b.converted_bound_ns + 2 +
		    (int64_t)((double)llabs(real_ns - clocks.slot[0].at_ns) * clocks.slot[0].rate_bound);
	return has_place(real_ns);
}

/* Expected user-space time in the record. */
static inline void check_user_time(const struct sample *s, unsigned at, int64_t user_ns, bool wanted)
{
	bool remote = wanted && (!b.x.clocks || has_place(user_ns));

	check_time(s, at, b.x.clocks ? user_ns - fake_real_ns(0) + fake_wire_ns(0) : user_ns,
		   remote ? SOURCE_USER : SOURCE_NONE);
}

/* True if the user-space times of a sample with wire timestamps are in order. */
static inline bool is_in_order(const struct fake_packet *p, bool emit, bool rx_user)
{
	const int64_t slack_ns = b.x.clocks ? b.converted_bound_ns + 2 : 0;
	int64_t tx_ns = p->tx_user_ns, rx_ns = p->rx_user_ns, bound_ns;

	if (!b.channel.tx_stamps || (b.channel.wire == SOURCE_HARDWARE && !b.x.clocks))
		return true;
	if (b.x.clocks && (!place_by_hand(tx_ns, &tx_ns, &bound_ns) ||
			   (rx_user && !place_by_hand(rx_ns, &rx_ns, &bound_ns))))
		return true;
	return tx_ns <= p->tx_wire_ns + slack_ns && (!rx_user || p->rx_wire_ns <= rx_ns + slack_ns) &&
	       (emit || !rx_user || rx_ns <= tx_ns);
}

static inline const char *follow_up_name(unsigned how)
{
	static const char *const names[] = { "NONE", "COMPLETE", "LOST", "UNKNOWN", "UNREPORTED", "MIXED", "END",
		"STEPPED" };

	return how < COUNT_OF(names) ? names[how] : "?";
}

/* True if the peer's user-space times are between its timestamps. */
static inline bool users_in_order(const struct fake_reply *r, bool joined)
{
	if (r->t2_user && !r->no_clock && r->t2_user_ns > r->t3_ns)
		return false;
	return !r->on_scale || !r->t2_source || r->no_clock ||
	       ((!r->t2_user || r->t2_ns <= r->t2_user_ns + FAKE_BOUND_NS) &&
		(!joined || r->t3_ns <= r->t3_wire_ns + FAKE_BOUND_NS));
}

/* The times of the other host: those of the reply to this probe, or none. */
static inline void check_remote(const struct sample *s, const struct fake_packet *p)
{
	const struct fake_reply *r = &p->reply;
	bool joined = p->follow_up == FOLLOW_UP_THERE;

	if (s->follow_up != p->follow_up)
		fail_msg("#%u: %s, not %s", s->seq, follow_up_name(s->follow_up), follow_up_name(p->follow_up));
	/* Contradicting times are removed completely. */
	const bool out = p->follow_up == FOLLOW_UP_STEPPED, in_order = users_in_order(r, joined);

	check_time(s, REMOTE + REFLECT_T2_WIRE, r->t2_ns, out ? SOURCE_NONE : r->t2_source);
	check_time(s, REMOTE + REFLECT_T2_USER, r->t2_user_ns, r->t2_user && !out ? SOURCE_USER : SOURCE_NONE);
	check_time(s, REMOTE + REFLECT_T3_USER, r->t3_ns, r->no_clock || out ? SOURCE_NONE : SOURCE_USER);
	check_time(s, REMOTE + REFLECT_T3_WIRE, r->t3_wire_ns, joined ? r->t2_source : SOURCE_NONE);
	assert_int_equal(s->same_timebase, r->on_scale && (out || in_order));
	assert_int_equal(s->off_scale, r->off_scale || (!out && !in_order));
}

/* Metrics that need no common clock, and are calculated from both timestamps of the peer only. */
static inline void check_metrics(const struct sample *s, const struct fake_packet *p)
{
	const int64_t response_ns = p->reply.t3_wire_ns - p->reply.t2_ns;
	int64_t value_ns;

	assert_int_equal(stages_value(&b.x.result.stages[STAGE_RESPONSE], s, &value_ns),
			 p->follow_up == FOLLOW_UP_THERE);
	if (p->follow_up == FOLLOW_UP_THERE)
		assert_int_equal(value_ns, response_ns);
	assert_int_equal(stages_value(&b.x.result.stages[STAGE_NETWORK], s, &value_ns),
			 p->follow_up == FOLLOW_UP_THERE);
	if (p->follow_up == FOLLOW_UP_THERE)
		assert_int_equal(value_ns, p->latency_ns - response_ns);
}

static inline void check_sample(const struct sample *s)
{
	bool emit = b.options.role == ROLE_EMIT, user = !b.channel.tx_stamps;
	enum source tx = b.channel.tx_stamps ? b.channel.wire : SOURCE_NONE;
	bool rx_user = user || b.options.sw_timestamps || fake.check_steps;
	struct fake_packet *p = packet_of(s);

	assert_non_null(p);
	assert_int_equal(p->place, PLACE_RECORDED);
	p->place = PLACE_OTHER; /* each only once */
	assert_int_equal(s->seq, p->seq);
	assert_int_equal(s->latency_ns, p->latency_ns);
	if (emit) {
		check_remote(s, p);
		check_metrics(s, p);
	}
	/* If the clocks were stepped in between, the user-space times are on the wrong side of the
	 * timestamps, and removed. */
	const bool in_order = is_in_order(p, emit, rx_user);

	check_user_time(s, emit ? EMIT_T1_USER : REFLECT_T3_USER, p->tx_user_ns, in_order);
	check_time(s, emit ? EMIT_T1_WIRE : REFLECT_T3_WIRE, p->tx_wire_ns, tx);
	check_user_time(s, emit ? EMIT_T4_USER : REFLECT_T2_USER, p->rx_user_ns, rx_user && in_order);
	check_time(s, emit ? EMIT_T4_WIRE : REFLECT_T2_WIRE, p->rx_wire_ns,
		   p->rx_stamped ? b.channel.wire : SOURCE_NONE);
}

static inline int64_t took_ns(const struct sample *s, int from, int to)
{
	return s->time_ns[to] - s->time_ns[from];
}

/* without_ns: the time excluded from each. */
static inline void add_ipdv(struct ipdv_metric *f, const struct sample *s, const struct sample *before,
			    int from, int to,
			    int64_t without_ns, int64_t without_before_ns)
{
	const int64_t by_ns = took_ns(s, from, to) - without_ns - (took_ns(before, from, to) - without_before_ns);

	if (s->seq - before->seq != 1 || !s->source[from] || !s->source[to] ||
	    s->source[from] != before->source[from] ||
	    s->source[to] != before->source[to] || llabs(by_ns) >> IPDV_BITS)
		return;
	f->count++;
	f->sum += (uint64_t)llabs(by_ns);
}

/* Between consecutive records without a missing number; for one direction only if both report it and no
 * clock has a fault. */
static inline void check_ipdv(void)
{
	const bool undoubted = !b.x.result.account.doubted && b.x.set_ns == INT64_MIN;
	struct ipdv_metric expect[IPDV_METRICS] = { 0 };

	for (uint64_t i = 1; i < log_ready(&b.log); i++) {
		const int t2 = REMOTE + REFLECT_T2_WIRE, t3 = REMOTE + REFLECT_T3_WIRE;
		const struct sample *now = logged(i), *before = logged(i - 1);

		add_ipdv(&expect[IPDV_RTT], now, before, b.x.from, b.x.to, 0, 0);
		add_ipdv(&expect[IPDV_FORWARD], now, before, b.x.from, t2, 0, 0);
		add_ipdv(&expect[IPDV_BACKWARD], now, before, t3, b.x.to, 0, 0);
		add_ipdv(&expect[IPDV_RESPONSE], now, before, t2, t3, 0, 0);
		if (now->source[t2] && now->source[t3] && before->source[t2] && before->source[t3])
			add_ipdv(&expect[IPDV_NETWORK], now, before, b.x.from, b.x.to, took_ns(now, t2, t3),
				 took_ns(before, t2, t3));
	}
	for (int i = 0; i < IPDV_METRICS; i++) {
		const struct ipdv_metric *f = &b.x.ipdv.of[i];

		if (i != IPDV_RTT && !b.x.peer) {
			assert_int_equal(f->count, 0);
		} else if (i == IPDV_RTT || undoubted) {
			assert_int_equal(f->count, expect[i].count);
			assert_true(f->sum == expect[i].sum);
		} else {
			assert_true(f->count <= expect[i].count && f->sum <= expect[i].sum);
		}
	}
	assert_true(!undoubted || !b.x.ipdv.left_out);
}

static inline void check_samples(void)
{
	__int128 sum = 0;

	if (!b.x.log || b.options.log_threshold_ns)
		return;
	assert_int_equal(log_ready(&b.log), b.histogram.count);
	for (uint64_t i = 0; i < log_ready(&b.log); i++) {
		check_sample(logged(i));
		if (i && b.options.role == ROLE_EMIT)
			assert_true((int32_t)(logged(i)->seq - logged(i - 1)->seq) > 0);
		sum += logged(i)->latency_ns;
	}
	assert_true(sum == b.histogram.sum);
	if (b.options.role == ROLE_EMIT)
		check_ipdv();
}

/* A closing probe after the run, not counted, whenever a record waited for a report that only the next
 * reply has. */
static inline void check_closing(const struct fake_account *a)
{
	if (a->closing) {
		const struct fake_packet *last = &fake.packet[fake.sends - 1];

		assert_true(last->closing);
		assert_true(b.x.result.ended_ns < last->sent_ns);
		assert_true(b.x.result.last_ns <= b.x.result.ended_ns);
	}
	for (uint64_t n = 0; n + 1 < fake.sends; n++)
		assert_false(fake.packet[n].closing);
}

/* The true loss, and the part that can be known: after the last answer none. */
static inline void check_directions(void)
{
	struct directions d = b.x.result.directions;
	uint64_t forward = 0, backward = 0, unknown = 0, last = 0, answered = 0;

	for (uint64_t n = 0; n < fake.sends; n++) {
		answered += fake.packet[n].came_back;
		last = fake.packet[n].came_back ? n + 1 : last;
	}
	for (uint64_t n = 0; n < fake.sends; n++) {
		const struct fake_packet *p = &fake.packet[n];

		unknown += !p->came_back && n >= last;
		forward += !p->came_back && n < last && !p->arrived;
		backward += !p->came_back && n < last && p->arrived;
	}
	directions_finish(&d, fake.sends);
	assert_int_equal(d.lost_forward + d.lost_backward + d.lost_unknown, fake.sends - answered);
	if (!b.exact_directions)
		return;
	assert_int_equal(d.lost_forward, forward);
	assert_int_equal(d.lost_backward, backward);
	assert_int_equal(d.lost_unknown, unknown);
}

static inline struct fake_account bench_run(const char *name)
{
	fake.warmup_left = (uint64_t)b.options.warmup;
	fake.timeout_ns = b.options.timeout_ns;
	fake.threshold_ns = b.options.threshold_ns;
	fake.threshold_on = (enum metric)b.options.threshold_on;
	fake.place = b.x.clocks ? place_by_hand : NULL;
	fake.phc_readable = b.x.clocks && clocks.phc_fd == FAKE_PHC_FD && !clocks.budget.reads_per_s;
	b.channel.at->next_id = b.x.next_key = b.x.oldest_key = fake.first_id;
	fake.tx_stamps = b.channel.tx_stamps;
	fake.check_steps = b.channel.tx_stamps && b.channel.wire == SOURCE_HARDWARE && !b.options.no_step_check;
	fake.check_set = !fake.check_steps && !b.options.no_step_check;
	b.channel.peer_socket[0].id_by_message = fake.id_by_message;
	b.channel.peer_socket[0].bare = fake.bare;
	/* Transports differ in data only; this is the part of socket.c's row that exchange and timestamping
	 * need. */
	static const struct transport ipv4 = { .ip_level = SOL_IP, .recverr_type = IP_RECVERR, .recverr_bytes = 16 + 16,
					       .ttl_type = IP_TTL, .pktinfo_type = IP_PKTINFO,
					       .pktinfo_bytes = sizeof(struct in_pktinfo), .tos_type = IP_TOS,
					       .tos_bytes = 1 };
	b.channel.transport = b.channel.peer_socket[0].transport = &ipv4;
	fake_begin();
	exchange_run(&b.x);
	fake_finish();
	fake_end();

	struct fake_account got = account_of_room();

	assert_true(b.x.result.end != END_NOT_YET);
	assert_true(same_account(name, &got, &fake.expect));
	/* Never the timestamp of another packet, except as described at test_joining's random mixtures. */
	assert_true(fake.accidents <= b.accidents_max);
	assert_int_equal(b.x.result.remote, fake.best_remote);
	check_identities(&got);
	take_marks_out();
	check_samples();
	check_closing(&got);
	if (b.options.role == ROLE_EMIT && !fake.first_id)
		check_directions();
	assert_true(b.x.clocks || !(hook.converted + b.x.result.account.unconverted));
	assert_true(b.x.peer || !hook.added);
	assert_true(b.x.pmc || !(hook.begun + hook.ended + hook.accounted));
	return got;
}

static inline int teardown(void **state)
{
	(void)state;
	fake_end();
	return 0;
}

/* After the last test. */
static inline int bench_free(void **state)
{
	(void)state;
	free(b.histogram_memory);
	b.histogram_memory = NULL;
	return 0;
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

#endif
