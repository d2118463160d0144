/* build: wraps= sources=wire/sequence.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The reflector's sessions against a model that is too simple to be wrong: an array with the time of last use. */
#include "wire/session.c"

#include "util.h"

#include <arpa/inet.h>

static struct sessions table;
static int64_t now_ns;

static void make_table(uint32_t limit, int64_t rate_limit)
{
	uint64_t secret[SESSION_SECRETS];

	util_random_bytes(secret, sizeof(secret));
	/* the caller's memory need not be zeroed but for these */
	memset(&table, 0xa5, offsetof(struct sessions, newest_t1_ns));
	memset(table.newest_t1_ns, 0, sizeof(table.newest_t1_ns));
	sessions_init(&table, limit, rate_limit, secret);
	now_ns = 1000 * NS_PER_S;
}

static int fresh_table(void **state)
{
	(void)state;
	make_table(SESSIONS_MAX, 0);
	return 0;
}

static union address peer_ipv4(uint32_t host, uint16_t port)
{
	union address a = { .in = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host) } };

	return a;
}

static union address peer_ipv6(const char *text, uint16_t port)
{
	union address a = { .in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };

	assert_int_equal(inet_pton(AF_INET6, text, &a.in6.sin6_addr), 1);
	return a;
}

static struct session *find_ipv4(uint32_t host, uint16_t port, uint16_t ssid)
{
	union address a = peer_ipv4(host, port);

	return session_find(&table, &a, ssid, now_ns);
}

/* Every session in use is once in the order of use and once in the chain of its own hash. */
static void check_structure(void)
{
	bool ordered[SESSIONS_MAX] = { false }, chained[SESSIONS_MAX] = { false };
	unsigned in_order = 0, in_chains = 0;
	uint16_t newer = NONE;

	for (uint16_t i = table.newest; i != NONE; newer = i, i = table.session[i].older) {
		assert_true(i < table.used && !ordered[i]);
		assert_int_equal(table.session[i].newer, newer);
		ordered[i] = true;
		in_order++;
	}
	assert_int_equal(table.oldest, newer);
	for (unsigned slot = 0; slot < SESSION_SLOTS; slot++) {
		for (uint16_t i = table.slot[slot]; i != NONE; i = table.session[i].chain) {
			assert_true(i < table.used && !chained[i]);
			assert_int_equal(hash(&table, &table.session[i].sender), slot);
			chained[i] = true;
			in_chains++;
		}
	}
	assert_int_equal(in_order, table.used);
	assert_int_equal(in_chains, table.used);
	assert_int_equal(counter_get(&table.opened) - counter_get(&table.evicted), table.used);
}

static void an_empty_table(void **state)
{
	(void)state;
	assert_int_equal(table.used, 0);
	assert_int_equal(counter_get(&table.opened), 0);
	assert_int_equal(counter_get(&table.evicted), 0);
	check_structure();
}

static void a_sender_keeps_its_session(void **state)
{
	(void)state;
	struct session *s = find_ipv4(0x0a000001, 5000, 1);

	assert_int_equal(s->reply_seq, 0);
	assert_int_equal(s->requests, 0);
	s->reply_seq = 17;
	assert_ptr_equal(find_ipv4(0x0a000001, 5000, 1), s);
	find_ipv4(0x0a000002, 5000, 1);
	assert_ptr_equal(find_ipv4(0x0a000001, 5000, 1), s);
	assert_int_equal(s->reply_seq, 17);
	assert_int_equal(counter_get(&table.opened), 2);
	check_structure();
}

static void address_port_and_ssid_print_senders_apart(void **state)
{
	(void)state;
	struct session *s[] = {
		find_ipv4(0x0a000001, 5000, 1), find_ipv4(0x0a000001, 5001, 1), find_ipv4(0x0a000001, 5000, 2),
		find_ipv4(0x0a000001, 5000, 0), find_ipv4(0x0a000002, 5000, 1), find_ipv4(0x0b000001, 5000, 1),
		/* Port and SSID change places. */
		find_ipv4(0x0a000001, 1, htons(5000)), find_ipv4(0x0a000001, 5000, htons(1)),
	};

	for (size_t i = 0; i < COUNT_OF(s); i++)
		for (size_t j = 0; j < i; j++)
			assert_ptr_not_equal(s[i], s[j]);
	assert_int_equal(counter_get(&table.opened), COUNT_OF(s));
	check_structure();
}

static void every_octet_of_an_ipv6_address_counts(void **state)
{
	union address a = peer_ipv6("2001:db8::1", 5000);
	struct session *first = session_find(&table, &a, 1, now_ns);

	(void)state;
	for (size_t i = 0; i < sizeof(a.in6.sin6_addr); i++) {
		a.in6.sin6_addr.s6_addr[i] ^= 0x10;
		assert_ptr_not_equal(session_find(&table, &a, 1, now_ns), first);
		a.in6.sin6_addr.s6_addr[i] ^= 0x10;
		assert_ptr_equal(session_find(&table, &a, 1, now_ns), first);
	}
	/* Fields that do not identify a sender: the flow label changes with the packet, the scope is our
	 * interface. */
	a.in6.sin6_flowinfo = htonl(0x12345);
	assert_ptr_equal(session_find(&table, &a, 1, now_ns), first);
	a.in6.sin6_port = htons(5001);
	assert_ptr_not_equal(session_find(&table, &a, 1, now_ns), first);
	assert_int_equal(counter_get(&table.opened), 2 + sizeof(a.in6.sin6_addr));
	check_structure();
}

/* 32.1.13.184 is the beginning of 2001:db8:: and 10.0.0.1 the end of ::a00:1, with zeros for the rest. */
static void families_are_reported_apart(void **state)
{
	union address first = peer_ipv6("2001:db8::", 5000), last = peer_ipv6("::a00:1", 5000);

	(void)state;
	assert_ptr_not_equal(session_find(&table, &last, 1, now_ns), find_ipv4(0x0a000001, 5000, 1));
	assert_ptr_not_equal(session_find(&table, &first, 1, now_ns), find_ipv4(0x20010db8, 5000, 1));
}

static void a_full_table_forgets_the_one_idle_for_longest(void **state)
{
	(void)state;
	for (uint32_t host = 0; host < SESSIONS_MAX; host++)
		find_ipv4(host, 862, 1)->reply_seq = host + 1;
	assert_int_equal(counter_get(&table.opened), 1024);
	assert_int_equal(counter_get(&table.evicted), 0);
	check_structure();
	now_ns += SESSION_IDLE_NS;

	/* After its use, 0 is no longer the next to be evicted. */
	assert_int_equal(find_ipv4(0, 862, 1)->reply_seq, 1);
	struct session *s = find_ipv4(5000, 862, 1);

	assert_int_equal(s->reply_seq, 0);
	assert_int_equal(s->requests, 0);
	assert_int_equal(s->numbers.seen, 0);
	assert_int_equal(counter_get(&table.evicted), 1);
	assert_int_equal(find_ipv4(0, 862, 1)->reply_seq, 1);
	assert_int_equal(find_ipv4(2, 862, 1)->reply_seq, 3);
	assert_int_equal(counter_get(&table.opened), 1025);
	assert_int_equal(find_ipv4(1, 862, 1)->reply_seq, 0); /* it begins again; 3 had to go for it */
	assert_int_equal(find_ipv4(3, 862, 1)->reply_seq, 0);
	assert_int_equal(counter_get(&table.evicted), 3);
	check_structure();
}

/* A sender with ever new ports gets no session; the existing sessions continue. */
static void a_session_in_use_is_not_forgotten(void **state)
{
	(void)state;
	make_table(3, 0);
	for (uint32_t host = 0; host < 3; host++)
		find_ipv4(host, 862, 1)->reply_seq = host + 1;
	for (int round = 0; round < 100; round++) {
		now_ns += SESSION_IDLE_NS - 1;
		assert_null(find_ipv4(9, (uint16_t)(1000 + round), 1));
		for (uint32_t host = 0; host < 3; host++)
			assert_int_equal(find_ipv4(host, 862, 1)->reply_seq, host + 1);
		assert_null(find_ipv4(9, 862, (uint16_t)round));
	}
	assert_int_equal(counter_get(&table.opened), 3);
	assert_int_equal(counter_get(&table.evicted), 0);
	check_structure();
	/* The idle session gives its entry to a single new session. */
	now_ns += SESSION_IDLE_NS - 1;
	find_ipv4(0, 862, 1);
	find_ipv4(2, 862, 1);
	now_ns++;
	assert_non_null(find_ipv4(9, 1, 1));
	assert_null(find_ipv4(9, 2, 1));
	assert_int_equal(find_ipv4(2, 862, 1)->reply_seq, 3);
	assert_null(find_ipv4(1, 862, 1));
	assert_int_equal(counter_get(&table.evicted), 1);
	check_structure();
}

/* ---- The hash ---------------------------------------------------------------------------------------------------- */

/* How many sessions are compared until each of the table is found, on average; that of the newest takes a step too. */
static double probes_each(void)
{
	uint64_t probes = 0;

	for (unsigned slot = 0; slot < SESSION_SLOTS; slot++)
		for (uint64_t n = 1, i = table.slot[slot]; i != NONE; i = table.session[i].chain)
			probes += n++;
	return (double)probes / table.used;
}

/* Attack on a hash with known constants: senders of the same slot of it, 512 probes each. */
static unsigned constant_hash(uint32_t host, uint16_t port, uint16_t ssid)
{
	struct session_sender key = { .port = htons(port), .ssid = ssid };
	const union address a = peer_ipv4(host, port);
	uint64_t h;

	address_as_ipv6(&a, key.address);
	h = key.address[0] ^ (key.address[1] * 0x9e3779b97f4a7c15ULL) ^ ((uint64_t)key.port << 16) ^ key.ssid;
	return (unsigned)((h * 0x9e3779b97f4a7c15ULL) >> 53) % SESSION_SLOTS;
}

/* With a table that is half full a chain has 1.25 on average; chosen senders make it no longer than any others. */
static void nobody_can_choose_a_chain(void **state)
{
	static struct { uint32_t host; uint16_t port, ssid; } chosen[2][SESSIONS_MAX];
	unsigned found = 0;

	(void)state;
	for (uint32_t n = 0; found < SESSIONS_MAX; n++)
		if (constant_hash(0x0a000001, (uint16_t)n, (uint16_t)(n >> 16)) == 3) {
			chosen[0][found].host = 0x0a000001;
			chosen[0][found].port = (uint16_t)n;
			chosen[0][found++].ssid = (uint16_t)(n >> 16);
		}
	for (uint32_t i = 0; i < SESSIONS_MAX; i++) { /* consecutive ports */
		chosen[1][i].host = 0x0a000001;
		chosen[1][i].port = (uint16_t)(40000 + i);
	}
	for (int kind = 0; kind < 2; kind++) {
		double sum = 0, most = 0;

		for (int round = 0; round < 100; round++) {
			make_table(SESSIONS_MAX, 0);
			for (unsigned i = 0; i < SESSIONS_MAX; i++)
				assert_non_null(find_ipv4(chosen[kind][i].host, chosen[kind][i].port,
							  chosen[kind][i].ssid));
			assert_int_equal(table.used, SESSIONS_MAX);
			sum += probes_each();
			most = probes_each() > most ? probes_each() : most;
		}
		print_message("%s: %.2f probes on average, at most %.2f of 100 keys\n", kind ? "ports in a row" :
			      "chosen against a constant hash", sum / 100, most);
		assert_true(sum / 100 < 1.4);
		assert_true(most < 2);
	}
}

/* ---- The rate ---------------------------------------------------------------------------------------------------- */

/* In any interval at most the rate plus the burst; and no less if enough requests arrive. */
static void no_more_than_the_rate(void **state)
{
	static const int64_t rates[] = { 1, 3, 7, 10, 300, 5000 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rates); i++) {
		int64_t answered[2000], n = 0, refused = 0;
		struct session *s;

		make_table(SESSIONS_MAX, rates[i]);
		s = find_ipv4(1, 1, 1);
		while (n < 2000) {
			if (session_over_rate(&table, s, now_ns))
				refused++;
			else
				answered[n++] = now_ns;
			/* Bursts, pauses, and a rate a few times too high. */
			now_ns += util_below(500) ? (int64_t)util_below((uint64_t)(NS_PER_S / rates[i] / 2 + 1)) :
						    (int64_t)util_below((uint64_t)(20 * NS_PER_S / rates[i]));
		}
		for (int64_t from = 0; from < n; from++)
			for (int64_t to = from; to < n && to < from + 400; to++)
				assert_true((to - from) * (NS_PER_S / rates[i]) <=
					    answered[to] - answered[from] + SESSION_AHEAD_NS + NS_PER_S / rates[i]);
		assert_true(refused > 500);
		assert_int_equal(s->requests, refused);
		assert_int_equal(s->discarded, refused);
		assert_int_equal(s->discard_reasons, DISCARD_OVER_RATE);
	}
}

/* A sender within the rate is never refused, also with a clock reading up to 100 ms old. */
static void the_rate_itself_is_answered(void **state)
{
	(void)state;
	for (int64_t rate = 1; rate <= 1000000; rate = 3 * rate + 1) {
		make_table(SESSIONS_MAX, rate);
		struct session *s = find_ipv4(1, 1, 1), *other = find_ipv4(1, 2, 1);

		for (int64_t n = 0; n < 3000; n++) {
			int64_t at_ns = now_ns + n * ((NS_PER_S + rate - 1) / rate);

			assert_false(session_over_rate(&table, s, at_ns - (int64_t)util_below(SESSION_AHEAD_NS)));
		}
		/* Each has its own. */
		assert_false(session_over_rate(&table, other, now_ns));
	}
	make_table(SESSIONS_MAX, 0);
	for (int n = 0; n < 100000; n++)
		assert_false(session_over_rate(&table, find_ipv4(1, 1, 1), now_ns));
}

/* ---- The table against a model ----------------------------------------------------------------------------------- */

struct key {
	union address peer;
	uint16_t ssid;
};

static struct {
	bool used;
	unsigned key; /* index into the pool */
	uint64_t last_use;
	uint32_t tag; /* in the session's reply_seq, to identify it */
} model[SESSIONS_MAX];
static uint64_t model_opened, model_evicted, model_refused;
static int64_t model_used_ns[SESSIONS_MAX];

/* Returns the tag that the session of this key must carry, 0 for a new session; *slot: its entry, NONE if
 * the table is full. */
static uint32_t model_find(unsigned key, uint64_t now, unsigned *slot)
{
	unsigned idlest = 0;

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		if (model[i].used && model[i].key == key) {
			model[i].last_use = now;
			model_used_ns[i] = now_ns;
			*slot = i;
			return model[i].tag;
		}
		if (model[idlest].used && (!model[i].used || model[i].last_use < model[idlest].last_use))
			idlest = i;
	}
	if (model[idlest].used && now_ns - model_used_ns[idlest] < SESSION_IDLE_NS) {
		model_refused++;
		*slot = NONE;
		return 0;
	}
	model_opened++;
	model_evicted += model[idlest].used;
	model_used_ns[idlest] = now_ns;
	model[idlest].used = true;
	model[idlest].key = key;
	model[idlest].last_use = now;
	model[idlest].tag = (uint32_t)now;
	*slot = idlest;
	return 0;
}

static void check_order_of_use(void)
{
	uint64_t last_use[SESSIONS_MAX];
	uint64_t before = 0;
	unsigned walked = 0;

	for (unsigned i = 0; i < table.used; i++) {
		last_use[i] = 0;
		for (unsigned m = 0; m < SESSIONS_MAX && !last_use[i]; m++)
			if (model[m].used && model[m].tag == table.session[i].reply_seq)
				last_use[i] = model[m].last_use;
		assert_int_not_equal(last_use[i], 0);
	}
	for (uint16_t i = table.oldest; i != NONE; i = table.session[i].newer) {
		assert_true(last_use[i] > before);
		before = last_use[i];
		walked++;
	}
	assert_int_equal(walked, table.used);
}

static void run_against_model(const struct key *pool, unsigned keys, unsigned steps)
{
	unsigned key = 0, slot;

	memset(model, 0, sizeof(model));
	model_opened = model_evicted = model_refused = 0;
	for (uint64_t now = 1; now <= steps; now++) {
		/* Sequences of one sender, many frequent senders, and occasionally a random sender. */
		if (util_below(4))
			key = (unsigned)util_below(util_below(3) ? keys / 2 : keys);

		uint32_t tag = model_find(key, now, &slot);
		struct session *s = session_find(&table, &pool[key].peer, pool[key].ssid, now_ns);

		/* For a while the idlest is idle for long enough, then it is not. */
		now_ns += (int64_t)util_below(now % 30000 < 24000 ? SESSION_IDLE_NS / 20000 : SESSION_IDLE_NS / 500);
		assert_int_equal(s == NULL, slot == NONE);
		if (s) {
			assert_int_equal(s->reply_seq, tag);
			s->reply_seq = model[slot].tag;
		}
		assert_int_equal(counter_get(&table.opened), model_opened);
		assert_int_equal(counter_get(&table.evicted), model_evicted);
		if (now % 1000 == 0) {
			check_structure();
			check_order_of_use();
		}
	}
	/* Else this has shown little. */
	assert_int_not_equal(model_evicted, 0);
	assert_int_not_equal(model_refused, 0);
}

static void random_use_against_the_model(void **state)
{
	enum { KEYS = 1700 };
	static struct key pool[KEYS];

	(void)state;
	for (unsigned i = 0; i < KEYS; i++) {
		/* Neighbours, as on a real link: they differ in a single field. */
		switch (i % 4) {
		case 0:
			pool[i] = (struct key){ peer_ipv4(0x0a000000 + i, 862), 1 };
			break;
		case 1:
			pool[i] = (struct key){ peer_ipv4(0x0a000001, (uint16_t)(1024 + i)), 1 };
			break;
		case 2:
			pool[i] = (struct key){ peer_ipv4(0x0a000001, 862), (uint16_t)i };
			break;
		default:
			pool[i] = (struct key){ peer_ipv6("fe80::1", (uint16_t)(1024 + i / 100)), 1 };
			pool[i].peer.in6.sin6_addr.s6_addr[15] = (uint8_t)i;
			pool[i].peer.in6.sin6_addr.s6_addr[8] = (uint8_t)(i >> 8);
		}
	}
	run_against_model(pool, KEYS, 40000);
}

/* All in the same chain: slow, but correct. */
static void one_chain_against_the_model(void **state)
{
	enum { KEYS = 1200 };
	static struct key pool[KEYS];
	unsigned found = 0;

	(void)state;
	for (uint32_t n = 0; found < KEYS; n++) {
		struct key key = { peer_ipv4(0x0a000000 + (n >> 16), 862), (uint16_t)n };

		assert_true(n < 100000000); /* one in SESSION_SLOTS is expected */
		struct session_sender probe = { .port = key.peer.in.sin_port, .ssid = key.ssid };

		address_as_ipv6(&key.peer, probe.address);
		if (hash(&table, &probe) == 3)
			pool[found++] = key;
	}
	run_against_model(pool, KEYS, 40000);
}

/* ---- Sequence numbers -------------------------------------------------------------------------------------------- */

static void numbers_in_order(void **state)
{
	struct session s = { 0 };

	(void)state;
	for (uint32_t seq = 0; seq < 1000; seq++)
		assert_int_equal(session_note(&s, seq), ORDER_NEXT);
	assert_int_equal(s.requests, 1000);
	assert_int_equal(session_note(&s, 1100), ORDER_NEXT); /* a gap is loss, not disorder */
	/* More than half of the number range ahead counts as below. */
	assert_int_equal(session_note(&s, 0xf0000000), ORDER_REORDERED);
}

static void the_first_number_may_be_any(void **state)
{
	static const uint32_t firsts[] = { 0, 1, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(firsts); i++) {
		struct session s = { 0 };

		assert_int_equal(session_note(&s, firsts[i]), ORDER_NEXT);
		assert_int_equal(session_note(&s, firsts[i]), ORDER_DUPLICATE);
		assert_int_equal(session_note(&s, firsts[i] - 1), ORDER_REORDERED);
		assert_int_equal(session_note(&s, firsts[i] - 1), ORDER_DUPLICATE);
		assert_int_equal(session_note(&s, firsts[i] + 1), ORDER_NEXT);
		assert_int_equal(s.requests, 5);
	}
}

static void the_window_is_64_numbers(void **state)
{
	(void)state;
	/* The number 63 below is still remembered: unseen, then seen. */
	struct session s = { 0 };

	session_note(&s, 1000);
	assert_int_equal(session_note(&s, 1000 - 63), ORDER_REORDERED);
	assert_int_equal(session_note(&s, 1000 - 63), ORDER_DUPLICATE);

	/* Advanced by 63 it keeps its memory; by 64 it does not, and must not misread it. */
	s = (struct session){ 0 };
	session_note(&s, 1000);
	assert_int_equal(session_note(&s, 1063), ORDER_NEXT);
	assert_int_equal(session_note(&s, 1000), ORDER_DUPLICATE);
	assert_int_equal(session_note(&s, 1001), ORDER_REORDERED);
	s = (struct session){ 0 };
	session_note(&s, 1000);
	assert_int_equal(session_note(&s, 1064), ORDER_NEXT);
	assert_int_equal(session_note(&s, 1001), ORDER_REORDERED);
	assert_int_equal(session_note(&s, 1063), ORDER_REORDERED);
	assert_int_equal(session_note(&s, 1064), ORDER_DUPLICATE);

	/* 64 below: unknown whether it was seen; the following numbers are in order. */
	s = (struct session){ 0 };
	session_note(&s, 1000);
	assert_int_equal(session_note(&s, 1000 - 64), ORDER_REORDERED);
	assert_int_equal(session_note(&s, 1000 - 64), ORDER_DUPLICATE);
	assert_int_equal(session_note(&s, 1001), ORDER_NEXT);
}

static void numbers_wrap(void **state)
{
	struct session s = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(session_note(&s, UINT32_MAX - 99 + i), ORDER_NEXT);
	assert_int_equal(session_note(&s, 40), ORDER_DUPLICATE);
	s = (struct session){ 0 };
	session_note(&s, UINT32_MAX - 10);
	assert_int_equal(session_note(&s, 5), ORDER_NEXT);
	assert_int_equal(session_note(&s, UINT32_MAX), ORDER_REORDERED);
	assert_int_equal(session_note(&s, UINT32_MAX), ORDER_DUPLICATE);
	assert_int_equal(session_note(&s, UINT32_MAX - 10), ORDER_DUPLICATE);
	assert_int_equal(session_note(&s, 0), ORDER_REORDERED);

	/* The farthest ahead that is ahead. */
	s = (struct session){ 0 };
	session_note(&s, 7);
	assert_int_equal(session_note(&s, 7 + 0x7fffffffU), ORDER_NEXT);
	s = (struct session){ 0 };
	session_note(&s, 7);
	assert_int_equal(session_note(&s, 7 + 0x80000000U), ORDER_REORDERED);
}

static void a_sender_begins_again(void **state)
{
	static const uint32_t ends[] = { 64, 1000, 0x7fffffff, 0x80000000, 0xf0000000 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		struct session s = { 0 };

		session_note(&s, ends[i] - 1);
		session_note(&s, ends[i]);
		for (uint32_t seq = 0; seq < 130; seq++)
			assert_int_equal(session_note(&s, seq), ORDER_NEXT);
		assert_int_equal(session_note(&s, 100), ORDER_DUPLICATE);
	}
}

/* Positions do not wrap; the model keeps a list of those that stand in the window. */
static void random_numbers_against_a_model(void **state)
{
	unsigned reported[3] = { 0 };

	(void)state;
	for (int run = 0; run < 200; run++) {
		struct session s = { 0 };
		int64_t seen[64], position = (1LL << 33) - (int64_t)util_below(300), highest = position;
		unsigned known = 1;

		seen[0] = position;
		assert_int_equal(session_note(&s, (uint32_t)position), ORDER_NEXT);
		for (int step = 0; step < 2000; step++) {
			bool duplicate = false;
			enum order expected;
			unsigned kept = 0;

			position = highest - 63 + (int64_t)util_below(util_below(4) ? 66 : 200);
			if (util_below(200) == 0)
				position = highest + 1 + (int64_t)util_below(INT32_MAX);
			for (unsigned i = 0; i < known; i++)
				duplicate |= seen[i] == position;
			expected = position > highest ? ORDER_NEXT : duplicate ? ORDER_DUPLICATE : ORDER_REORDERED;
			highest = position > highest ? position : highest;
			for (unsigned i = 0; i < known; i++)
				if (seen[i] > highest - 64)
					seen[kept++] = seen[i];
			if (!duplicate)
				seen[kept++] = position;
			known = kept;
			assert_int_equal(session_note(&s, (uint32_t)position), expected);
			assert_int_equal(s.numbers.highest, (uint32_t)highest);
			reported[expected]++;
		}
		assert_int_equal(s.requests, 2001);
	}
	assert_true(reported[ORDER_NEXT] > 1000 && reported[ORDER_REORDERED] > 1000 &&
		    reported[ORDER_DUPLICATE] > 1000);
}

/* ---- Replays ----------------------------------------------------------------------------------------------------- */

/* As the loop has it. */
static bool answered(struct session *s, uint32_t seq, int64_t t1_ns)
{
	if (session_replayed(&table, s, seq, t1_ns))
		return false;
	session_note(s, seq);
	return true;
}

static void what_is_a_replay(void **state)
{
	struct session s = { 0 };

	(void)state;
	assert_true(answered(&s, 100, 1000));
	assert_false(answered(&s, 100, 1000)); /* once more */
	assert_false(answered(&s, 99, 990)); /* from before */
	assert_true(answered(&s, 101, 1010));
	assert_true(answered(&s, 105, 1050));
	assert_true(answered(&s, 103, 1030)); /* reordered by the network */
	assert_false(answered(&s, 103, 1030));
	assert_false(answered(&s, 200, 1040)); /* ahead, but older: of an earlier run */
	assert_false(answered(&s, 101, 1010));
	assert_true(answered(&s, 106, 1050)); /* a coarse clock */
	assert_true(answered(&s, 104, 1040));
	assert_true(answered(&s, 170, 1700));
	assert_false(answered(&s, 102, 1020)); /* 64 and more below are unknown */
	assert_true(answered(&s, 107, 1070));
	assert_int_equal(s.requests, 8);

	/* It began again, and all of the first run is old, whatever its number. */
	assert_true(answered(&s, 0, 2000));
	for (uint32_t seq = 0; seq < 200; seq++)
		assert_false(answered(&s, seq, 10 * seq));
	assert_false(answered(&s, UINT32_MAX, 1999));
	assert_true(answered(&s, 2, 2020));
	assert_true(answered(&s, 1, 2010));
	assert_false(answered(&s, 0, 2000));
	/* Where the window is known, too. */
	assert_true(answered(&s, 1, 3000));
	assert_false(answered(&s, 2, 2020));
	assert_false(answered(&s, 1, 2010));
}

/* An HMAC does not cover where a request comes from: nothing that was answered is answered again by another session. */
static void what_comes_from_another_port_is_a_replay(void **state)
{
	(void)state;
	assert_true(answered(find_ipv4(1, 1, 7), 100, 1000));
	assert_true(answered(find_ipv4(1, 1, 7), 101, 1010));
	for (uint16_t port = 2; port < 42; port++) {
		assert_false(answered(find_ipv4(1, port, 7), 100, 1000));
		assert_false(answered(find_ipv4(1, port, 7), 101, 1010));
		assert_false(answered(find_ipv4(port, 1, 7), 101, 1010));
	}
	/* Its next request is not another's either, and it may change its address, or use several ports. */
	assert_true(answered(find_ipv4(1, 50, 7), 102, 1020));
	assert_true(answered(find_ipv4(1, 1, 7), 103, 1030));
	assert_false(answered(find_ipv4(1, 51, 7), 103, 1030));
	/* Others have their own clocks, and senders without an SSID are several hosts. */
	assert_true(answered(find_ipv4(1, 1, 8), 5, 10));
	assert_true(answered(find_ipv4(1, 1, 0), 0, 500));
	assert_true(answered(find_ipv4(2, 1, 0), 0, 400));
	/* Also when its session is forgotten. */
	for (uint32_t host = 100; host < 100 + SESSIONS_MAX; host++) {
		now_ns += SESSION_IDLE_NS;
		find_ipv4(host, 1, 9);
	}
	assert_false(answered(find_ipv4(1, 1, 7), 103, 1030));
	assert_true(answered(find_ipv4(1, 1, 7), 104, 1040));
}

/* Where the table is full. */
static void without_a_session(void **state)
{
	struct session *s = sessions_stateless(&table, 77);

	(void)state;
	assert_true(s->stateless);
	assert_int_equal(s->reply_seq, 77);
	assert_int_equal(session_note(s, 77), ORDER_NEXT);
	session_note_reply(s, 5, PACKET_METHOD_SOFTWARE, 1000);
	s = sessions_stateless(&table, 78);
	assert_int_equal(s->reply_seq, 78);
	assert_int_equal(session_last_reply(s)->method, PACKET_METHOD_NONE);
	assert_int_equal(session_note(s, 78), ORDER_NEXT);
	assert_null(find_ipv4(1, 1, 1) == s ? s : NULL);
	/* Many senders together share the rate of one. */
	make_table(SESSIONS_MAX, 10);
	for (uint32_t n = 0, refused = 0; n < 1000; n++) {
		refused += session_over_rate(&table, sessions_stateless(&table, n), now_ns);
		assert_true(n < 999 || refused >= 990);
	}
}

/* Nothing is answered twice, and all of a sender is, whatever is recorded and comes again: runs that begin again
 * anywhere, the numbers going round among them, and a network that loses and reorders a little. */
static void nothing_is_answered_twice(void **state)
{
	enum { REQUESTS = 30000 };
	static struct { uint32_t seq; int64_t t1_ns; bool answered; } sent[REQUESTS];
	struct session s = { 0 };
	uint32_t seq = 0xffffff00;
	uint64_t replays = 0, late = 0;

	(void)state;
	for (int n = 0; n < REQUESTS; n++) {
		sent[n].seq = seq;
		sent[n].t1_ns = 1000 + 100 * (int64_t)n;
		/* 1 in 10 is held up by the network, and may come later, among the replays. */
		if (n && util_below(10) == 0)
			late++;
		else
			assert_true(sent[n].answered = answered(&s, sent[n].seq, sent[n].t1_ns));
		seq = util_below(3000) ? seq + 1 : util_below(2) ? (uint32_t)util_random() :
		      seq - (uint32_t)util_below(100);
		for (int k = 0; k < 20; k++) {
			uint64_t back = util_below(2) ? util_below(80) : util_below((uint64_t)n + 1);
			uint64_t i = (uint64_t)n - (back <= (uint64_t)n ? back : 0);
			bool taken = answered(&s, sent[i].seq, sent[i].t1_ns);

			assert_false(taken && sent[i].answered);
			replays += sent[i].answered;
			sent[i].answered |= taken;
		}
	}
	assert_true(replays > 100000 && late > 1000);
}

/* Reordered within 64, in one run: every request is answered once. */
static void what_the_network_reorders_is_answered(void **state)
{
	struct session s = { 0 };

	(void)state;
	assert_true(answered(&s, 0, 1));
	for (uint32_t block = 1; block < 20000; block += 60) {
		uint32_t order[60];

		for (uint32_t i = 0; i < 60; i++)
			order[i] = i;
		for (uint32_t i = 59; i > 0; i--) {
			uint32_t k = (uint32_t)util_below(i + 1), swapped = order[i];

			order[i] = order[k];
			order[k] = swapped;
		}
		for (uint32_t i = 0; i < 60; i++)
			assert_true(answered(&s, block + order[i], 1 + (int64_t)(block + order[i])));
		for (uint32_t i = 0; i < 60; i++)
			assert_false(answered(&s, block + order[i], 1 + (int64_t)(block + order[i])));
	}
}

/* ---- The last replies -------------------------------------------------------------------------------------------- */

#define NEVER_NS INT64_MIN

/* Required reports of a session: the newest six known departures of its last eight replies. */
static void check_departures(const struct session *s, const int64_t *left_ns, uint32_t first_seq, uint32_t sent)
{
	struct packet_departure reported[FOLLOW_UPS_MAX];
	unsigned count = session_departures(s, reported), expected = 0;

	for (uint32_t back = 1; back <= 8 && back <= sent && expected < 6; back++) {
		if (left_ns[sent - back] == NEVER_NS)
			continue;
		assert_true(expected < count);
		assert_int_equal(reported[expected].seq, first_seq + sent - back);
		assert_int_equal(reported[expected].ns, left_ns[sent - back]);
		assert_int_equal(reported[expected].method, PACKET_METHOD_HARDWARE);
		expected++;
	}
	assert_int_equal(count, expected);
	assert_int_equal(session_last_reply(s)->method,
			 sent && left_ns[sent - 1] != NEVER_NS ? PACKET_METHOD_HARDWARE : PACKET_METHOD_NONE);
}

/* Departures that are known 0 to 12 replies late, in any order, or not at all: those of the last eight are
 * reported from then on. */
static void departures_come_late(void **state)
{
	enum { REPLIES = 400 };
	static const uint32_t firsts[] = { 0, 1, UINT32_MAX - 200, 0x7fffff00 };

	(void)state;
	for (int run = 0; run < 400; run++) {
		const uint32_t first = firsts[run % 4], first_key = (uint32_t)util_random();
		struct session s = { .reply_seq = first };
		int64_t left_ns[REPLIES];
		uint32_t due[REPLIES]; /* when it comes: after that many replies */
		const uint64_t latest = run % 13;

		for (uint32_t n = 0; n < REPLIES; n++) {
			session_note_reply(&s, first_key + n, PACKET_METHOD_NONE, 5);
			left_ns[n] = NEVER_NS;
			due[n] = util_below(10) ? n + (uint32_t)util_below(latest + 1) : UINT32_MAX;
			check_departures(&s, left_ns, first, n + 1);
			/* Both ways round: the oldest first, the newest first. */
			for (uint32_t k = 0; k <= n && k <= latest; k++) {
				const uint32_t i = run % 2 ? n - k : n - (n < latest ? n : (uint32_t)latest) + k;

				if (i > n || due[i] != n)
					continue;
				session_note_departure(&s, first_key + i, &(struct packet_departure){ .seq = first + i, .method = PACKET_METHOD_HARDWARE, .ns = 1000 + i });
				if (n - i < 8)
					left_ns[i] = 1000 + i;
				check_departures(&s, left_ns, first, n + 1);
			}
		}
	}
}

/* Departures known at once, as without transmit timestamps. */
static void departures_that_are_known_at_once(void **state)
{
	struct session s = { 0 };
	struct packet_departure reported[FOLLOW_UPS_MAX];

	(void)state;
	assert_int_equal(session_departures(&s, reported), 0);
	for (uint32_t n = 0; n < 20; n++) {
		session_note_reply(&s, 3 * n, PACKET_METHOD_SOFTWARE, 77 + n);
		assert_int_equal(session_departures(&s, reported), n < 6 ? n + 1 : 6);
		assert_int_equal(reported[0].seq, n);
		assert_int_equal(reported[0].method, PACKET_METHOD_SOFTWARE);
		assert_int_equal(reported[0].ns, 77 + n);
	}
}

/* The timestamp of an evicted sender's reply arrives when its entry is another's, with as many replies or
 * fewer. */
static void a_departure_of_who_was_forgotten(void **state)
{
	(void)state;
	for (uint32_t had = 1; had <= 20; had++) {
		for (uint32_t has = 0; has <= 20; has++) {
			struct packet_departure reported[FOLLOW_UPS_MAX];
			struct session *s;

			make_table(1, 0);
			s = find_ipv4(1, 1, 1);
			for (uint32_t n = 0; n < had; n++)
				/* its keys begin at 0, which a new record has too */
				session_note_reply(s, n, PACKET_METHOD_NONE, 0);
			for (uint32_t n = 0; n < had; n += 2)
				session_note_departure(s, n, &(struct packet_departure){ .seq = n, .method = PACKET_METHOD_HARDWARE, .ns = 4 });
			now_ns += SESSION_IDLE_NS;
			assert_ptr_equal(find_ipv4(2, 1, 1), s);
			assert_int_equal(session_departures(s, reported), 0);
			for (uint32_t n = 0; n < has; n++)
				session_note_reply(s, had + n, PACKET_METHOD_NONE, 0);
			for (uint32_t n = 0; n < had; n++)
				session_note_departure(s, n, &(struct packet_departure){ .seq = n, .method = PACKET_METHOD_HARDWARE, .ns = 5 });
			assert_int_equal(session_departures(s, reported), 0);
			assert_int_equal(s->reply_seq, has);
			for (uint32_t n = 0; n < has; n++)
				session_note_departure(s, had + n, &(struct packet_departure){ .seq = n, .method = PACKET_METHOD_HARDWARE, .ns = 5 });
			assert_int_equal(session_departures(s, reported), has < 6 ? has : 6);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_empty_table, fresh_table),
		cmocka_unit_test_setup(a_sender_keeps_its_session, fresh_table),
		cmocka_unit_test_setup(address_port_and_ssid_print_senders_apart, fresh_table),
		cmocka_unit_test_setup(every_octet_of_an_ipv6_address_counts, fresh_table),
		cmocka_unit_test_setup(families_are_reported_apart, fresh_table),
		cmocka_unit_test_setup(a_full_table_forgets_the_one_idle_for_longest, fresh_table),
		cmocka_unit_test(a_session_in_use_is_not_forgotten),
		cmocka_unit_test(nobody_can_choose_a_chain),
		cmocka_unit_test(no_more_than_the_rate),
		cmocka_unit_test(the_rate_itself_is_answered),
		cmocka_unit_test_setup(random_use_against_the_model, fresh_table),
		cmocka_unit_test_setup(one_chain_against_the_model, fresh_table),
		cmocka_unit_test(numbers_in_order),
		cmocka_unit_test(the_first_number_may_be_any),
		cmocka_unit_test(the_window_is_64_numbers),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(a_sender_begins_again),
		cmocka_unit_test(random_numbers_against_a_model),
		cmocka_unit_test(what_is_a_replay),
		cmocka_unit_test_setup(what_comes_from_another_port_is_a_replay, fresh_table),
		cmocka_unit_test_setup(without_a_session, fresh_table),
		cmocka_unit_test(nothing_is_answered_twice),
		cmocka_unit_test(what_the_network_reorders_is_answered),
		cmocka_unit_test(departures_come_late),
		cmocka_unit_test(departures_that_are_known_at_once),
		cmocka_unit_test(a_departure_of_who_was_forgotten),
	};

	util_seed();
	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
