/* build: wraps= sources=wire/sequence.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The reflector's sessions against a model that is too simple to be wrong: an array with the time of last use. */
#include "wire/session.c"

#include "util.h"

#include <arpa/inet.h>

static struct sessions table;

static int fresh_table(void **state)
{
	(void)state;
	memset(&table, 0xa5, sizeof(table)); /* the caller's memory need not be zeroed */
	sessions_init(&table);
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

	return session_find(&table, &a, ssid);
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
			assert_int_equal(hash(&table.session[i]), slot);
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

static void address_port_and_ssid_tell_senders_apart(void **state)
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
	struct session *first = session_find(&table, &a, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(a.in6.sin6_addr); i++) {
		a.in6.sin6_addr.s6_addr[i] ^= 0x10;
		assert_ptr_not_equal(session_find(&table, &a, 1), first);
		a.in6.sin6_addr.s6_addr[i] ^= 0x10;
		assert_ptr_equal(session_find(&table, &a, 1), first);
	}
	/* What names no sender: the flow label changes with the packet, the scope is our interface. */
	a.in6.sin6_flowinfo = htonl(0x12345);
	assert_ptr_equal(session_find(&table, &a, 1), first);
	a.in6.sin6_port = htons(5001);
	assert_ptr_not_equal(session_find(&table, &a, 1), first);
	assert_int_equal(counter_get(&table.opened), 2 + sizeof(a.in6.sin6_addr));
	check_structure();
}

/* 32.1.13.184 is the beginning of 2001:db8:: and 10.0.0.1 the end of ::a00:1, with zeros for the rest. */
static void families_are_told_apart(void **state)
{
	union address first = peer_ipv6("2001:db8::", 5000), last = peer_ipv6("::a00:1", 5000);

	(void)state;
	assert_ptr_not_equal(session_find(&table, &last, 1), find_ipv4(0x0a000001, 5000, 1));
	assert_ptr_not_equal(session_find(&table, &first, 1), find_ipv4(0x20010db8, 5000, 1));
}

static void a_full_table_forgets_the_one_idle_for_longest(void **state)
{
	(void)state;
	for (uint32_t host = 0; host < SESSIONS_MAX; host++)
		find_ipv4(host, 862, 1)->reply_seq = host + 1;
	assert_int_equal(counter_get(&table.opened), 1024);
	assert_int_equal(counter_get(&table.evicted), 0);
	check_structure();

	/* Used again, 0 is no longer the one that has to go. */
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

/* ---- The table against a model ----------------------------------------------------------------------------------- */

struct key {
	union address peer;
	uint16_t ssid;
};

static struct {
	bool used;
	unsigned key; /* index into the pool */
	uint64_t last_use;
	uint32_t tag; /* in the session's reply_seq, to know it again */
} model[SESSIONS_MAX];
static uint64_t model_opened, model_evicted;

/* Returns the tag that the session of this key must carry, 0 if it is to be a new one; *slot says where it is. */
static uint32_t model_find(unsigned key, uint64_t now, unsigned *slot)
{
	unsigned idlest = 0;

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		if (model[i].used && model[i].key == key) {
			model[i].last_use = now;
			*slot = i;
			return model[i].tag;
		}
		if (model[idlest].used && (!model[i].used || model[i].last_use < model[idlest].last_use))
			idlest = i;
	}
	model_opened++;
	model_evicted += model[idlest].used;
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
	model_opened = model_evicted = 0;
	for (uint64_t now = 1; now <= steps; now++) {
		/* Runs of one sender, a crowd of frequent ones, and now and then anybody. */
		if (util_below(4))
			key = (unsigned)util_below(util_below(3) ? keys / 2 : keys);

		uint32_t tag = model_find(key, now, &slot);
		struct session *s = session_find(&table, &pool[key].peer, pool[key].ssid);

		assert_int_equal(s->reply_seq, tag);
		s->reply_seq = model[slot].tag;
		assert_int_equal(counter_get(&table.opened), model_opened);
		assert_int_equal(counter_get(&table.evicted), model_evicted);
		if (now % 1000 == 0) {
			check_structure();
			check_order_of_use();
		}
	}
	assert_int_not_equal(model_evicted, 0); /* else this has shown little */
}

static void random_use_against_the_model(void **state)
{
	enum { KEYS = 1700 };
	static struct key pool[KEYS];

	(void)state;
	for (unsigned i = 0; i < KEYS; i++) {
		/* Neighbours, as on a real link: they differ in one part only. */
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

/* An attacker can choose ports and SSIDs so that all stand in one chain: slow, but right. */
static void one_chain_against_the_model(void **state)
{
	enum { KEYS = 1200 };
	static struct key pool[KEYS];
	unsigned found = 0;

	for (uint32_t n = 0; found < KEYS; n++) {
		struct key key = { peer_ipv4(0x0a000000 + (n >> 16), 862), (uint16_t)n };

		assert_true(n < 100000000); /* one in SESSION_SLOTS is to be expected */
		if (hash(session_find(&table, &key.peer, key.ssid)) == 3)
			pool[found++] = key;
	}
	fresh_table(state);
	run_against_model(pool, KEYS, 20000);
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
	/* More than half of the numbers ahead is behind. */
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
	/* The one behind by 63 is still known: unseen, then seen. */
	struct session s = { 0 };

	session_note(&s, 1000);
	assert_int_equal(session_note(&s, 1000 - 63), ORDER_REORDERED);
	assert_int_equal(session_note(&s, 1000 - 63), ORDER_DUPLICATE);

	/* Moved on by 63 it still holds what it knew; by 64 it does not, and must not take it for something else. */
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

	/* Behind by 64 nobody knows whether it was seen; what follows in order is in order. */
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
	unsigned told[3] = { 0 };

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
			told[expected]++;
		}
		assert_int_equal(s.requests, 2001);
	}
	assert_true(told[ORDER_NEXT] > 1000 && told[ORDER_REORDERED] > 1000 && told[ORDER_DUPLICATE] > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_empty_table, fresh_table),
		cmocka_unit_test_setup(a_sender_keeps_its_session, fresh_table),
		cmocka_unit_test_setup(address_port_and_ssid_tell_senders_apart, fresh_table),
		cmocka_unit_test_setup(every_octet_of_an_ipv6_address_counts, fresh_table),
		cmocka_unit_test_setup(families_are_told_apart, fresh_table),
		cmocka_unit_test_setup(a_full_table_forgets_the_one_idle_for_longest, fresh_table),
		cmocka_unit_test_setup(random_use_against_the_model, fresh_table),
		cmocka_unit_test_setup(one_chain_against_the_model, fresh_table),
		cmocka_unit_test(numbers_in_order),
		cmocka_unit_test(the_first_number_may_be_any),
		cmocka_unit_test(the_window_is_64_numbers),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(a_sender_begins_again),
		cmocka_unit_test(random_numbers_against_a_model),
	};

	util_seed();
	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
