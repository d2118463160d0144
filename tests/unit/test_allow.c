/* build: wraps= sources=wire/allow.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom a reflector answers: --allow and the limits as options, and membership against an oracle that goes bit by
 * bit. */
#include "options.h"

#include "golden.h"

#include <arpa/inet.h>

#include "wire/allow.h"

static struct options o;
static char said[1024]; /* stderr of the last parse() */

static int parse(const char *const *args, int count)
{
	char *argv[80] = { (char *)"rant", (char *)"-i", (char *)"eth0" };
	struct util_capture c;
	int error;

	assert_true(count + 4 <= (int)COUNT_OF(argv));
	for (int i = 0; i < count; i++)
		argv[3 + i] = (char *)args[i];
	util_capture_begin(&c);
	error = options_parse(&o, 3 + count, argv);
	util_capture_end(&c, said, sizeof(said));
	return error;
}

#define PARSE(...) parse((const char *const[]){ __VA_ARGS__ }, COUNT_OF(((const char *const[]){ __VA_ARGS__ })))

static bool has(const char *text)
{
	union address a = { .in.sin_family = AF_INET };

	if (inet_pton(AF_INET, text, &a.in.sin_addr) != 1) {
		a = (union address){ .in6.sin6_family = AF_INET6 };
		assert_int_equal(inet_pton(AF_INET6, text, &a.in6.sin6_addr), 1);
	}
	return allow_has(&o.allow, &a);
}

static void what_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--verbose"), 0);
	assert_int_equal(o.allow.prefixes, 0);
	assert_false(o.allow_short);
	assert_int_equal(o.rate_limit, 0);
	assert_int_equal(o.sessions, 1024);
	assert_int_equal(PARSE("--rate-limit", "500", "--sessions", "3", "--allow-short", "--allow", "10.0.0.0/8"), 0);
	assert_int_equal(o.allow.prefixes, 1);
	assert_true(o.allow_short);
	assert_int_equal(o.rate_limit, 500);
	assert_int_equal(o.sessions, 3);
}

static void some_prefixes(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--allow", "192.0.2.0/24", "--allow", "198.51.100.7", "--allow", "203.0.113.128/25"), 0);
	assert_true(has("192.0.2.0") && has("192.0.2.255") && has("198.51.100.7") && has("203.0.113.128"));
	assert_false(has("192.0.1.255") || has("192.0.3.0") || has("198.51.100.6") || has("203.0.113.127"));
	/* The octets of 192.0.2.1, but no IPv4 address. */
	assert_false(has("c000:201::") || has("::192.0.2.1") || has("2001:db8::192.0.2.1"));
	assert_false(has("2001:db8::ffff:192.0.2.1") || has("::1:ffff:192.0.2.1"));
	assert_true(has("::ffff:192.0.2.1"));
	assert_int_equal(PARSE("--allow", "0.0.0.0/0"), 0);
	assert_true(has("0.0.0.0") && has("255.255.255.255"));
	assert_false(has("::1") || has("2001:db8::1"));
	assert_int_equal(PARSE("--allow", "255.255.255.255/32"), 0);
	assert_false(has("255.255.255.254"));
}

static void both_families(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--allow", "2001:db8::/32", "--allow", "192.0.2.0/24", "--allow", "fe80::1"), 0);
	assert_true(has("2001:db8::1") && has("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff") && has("192.0.2.7") &&
		    has("fe80::1"));
	assert_false(has("2001:db9::1") || has("2001:db7:ffff::") || has("192.0.3.7") || has("fe80::2") || has("::1"));
	/* All of one family is nothing of the other, whatever it is mapped to. */
	assert_int_equal(PARSE("--allow", "::/0"), 0);
	assert_true(has("::1") && has("2001:db8::1"));
	assert_false(has("192.0.2.1") || has("0.0.0.0"));
	assert_int_equal(PARSE("--allow", "::fffe:0:0/95"), 0);
	assert_false(has("192.0.2.1"));
	/* Lengths that end within an octet, and at each end. */
	assert_int_equal(PARSE("--allow", "2001:db8:80::/41"), 0);
	assert_true(has("2001:db8:80::1") && has("2001:db8:ff::"));
	assert_false(has("2001:db8:7f::") || has("2001:db8:100::"));
	assert_int_equal(PARSE("--allow", "2001:db8::2/127"), 0);
	assert_true(has("2001:db8::2") && has("2001:db8::3"));
	assert_false(has("2001:db8::1") || has("2001:db8::4"));
	assert_int_equal(PARSE("--allow", "2001:db8:0:1::/64"), 0);
	assert_true(has("2001:db8:0:1::") && has("2001:db8:0:1:ffff:ffff:ffff:ffff"));
	assert_false(has("2001:db8::ffff:ffff:ffff:ffff") || has("2001:db8:0:2::"));
	assert_int_equal(PARSE("--allow", "8000::/1"), 0);
	assert_true(has("fe80::1"));
	assert_false(has("2001:db8::1"));
}

/* Random prefixes and neighbours of them, by comparing one bit after the other. */
static void against_the_oracle(void **state)
{
	uint32_t at[ALLOW_MAX];
	int bits[ALLOW_MAX];
	unsigned in = 0, out = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		char text[ALLOW_MAX][32];
		const char *args[2 * ALLOW_MAX];
		int n = 1 + (int)util_below(ALLOW_MAX);

		for (int i = 0; i < n; i++) {
			bits[i] = 1 + (int)util_below(32);
			at[i] = (uint32_t)util_random() >> (32 - bits[i]) << (32 - bits[i]);
			snprintf(text[i], sizeof(text[i]), "%u.%u.%u.%u/%d", at[i] >> 24, at[i] >> 16 & 255,
				 at[i] >> 8 & 255, at[i] & 255, bits[i]);
			args[2 * i] = "--allow";
			args[2 * i + 1] = text[i];
		}
		assert_int_equal(parse(args, 2 * n), 0);
		assert_int_equal(o.allow.prefixes, n);
		for (int k = 0; k < 500; k++) {
			/* One bit beside a listed prefix. */
			uint32_t host = at[util_below((uint64_t)n)] ^ (1U << util_below(32));
			union address a = { .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) } };
			bool want = false;

			for (int i = 0; i < n; i++) {
				int same = 0;

				while (same < bits[i] && (host >> (31 - same) & 1) == (at[i] >> (31 - same) & 1))
					same++;
				want |= same == bits[i];
			}
			assert_int_equal(allow_has(&o.allow, &a), want);
			in += want;
			out += !want;
		}
	}
	assert_true(in > 10000 && out > 10000);
}

static void what_is_refused(void **state)
{
	static const struct {
		const char *option, *value;
	} rows[] = {
		{ "--allow", "" },
		{ "--allow", "/8" },
		{ "--allow", "10.0.0/8" },
		{ "--allow", "10.0.0.0.0/8" },
		{ "--allow", " 10.0.0.0/8" },
		{ "--allow", "example.org" },
		{ "--allow", "100.100.100.1000" },
		{ "--allow", "1111111111111111111111111111/8" },
		{ "--allow", "2001:db8::/129" },
		{ "--allow", "2001:db8::/" },
		{ "--allow", "2001:db8::/1000" },
		{ "--allow", "2001:db8::/-1" },
		{ "--allow", "2001:db8::1/64" },
		{ "--allow", "2001:db8:8000::/32" },
		{ "--allow", "2001:db8::x/64" },
		{ "--allow", "fe80::1%eth0" },
		{ "--allow", "::ffff:10.80.0.0/120" },
		{ "--allow", "::ffff:0:0/96" },
		{ "--allow", "::ffff:192.0.2.1" },
		{ "--allow", "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/8" },
		{ "--allow", "10.0.0.0/" },
		{ "--allow", "10.0.0.0/33" },
		{ "--allow", "10.0.0.0/-1" },
		{ "--allow", "10.0.0.0/008" },
		{ "--allow", "10.0.0.0/8/8" },
		{ "--allow", "10.0.0.0/4294967304" },
		{ "--allow", "10.0.0.0/255.0.0.0" },
		{ "--allow", "10.0.0.1/24" },
		{ "--allow", "0.0.0.1/0" },
		{ "--rate-limit", "0" },
		{ "--rate-limit", "1000001" },
		{ "--sessions", "0" },
		{ "--sessions", "1025" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(PARSE(rows[i].option, rows[i].value), -EINVAL);
		golden("%s", said);
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	}
}

static void at_most_32_prefixes(void **state)
{
	const char *args[66];

	(void)state;
	for (int i = 0; i < 66; i++)
		args[i] = i % 2 ? "10.1.0.0/16" : "--allow";
	assert_int_equal(parse(args, 64), 0);
	assert_int_equal(o.allow.prefixes, 32);
	assert_int_equal(parse(args, 66), -EINVAL);
	golden("%s", said);
}

static void only_for_a_reflector(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-a", "10.0.0.1", "--allow", "10.0.0.0/8"), -EINVAL);
	golden("%s", said);
	assert_int_equal(PARSE("-a", "10.0.0.1", "--rate-limit", "5"), -EINVAL);
	golden("%s", said);
	assert_int_equal(PARSE("-a", "10.0.0.1", "--sessions", "5"), -EINVAL);
	golden("%s", said);
	assert_int_equal(PARSE("-a", "10.0.0.1", "--allow-short"), -EINVAL);
	golden("%s", said);
	assert_int_equal(PARSE("--key", "k", "--allow-short"), -EINVAL);
	golden("%s", said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for),
		cmocka_unit_test(some_prefixes),
		cmocka_unit_test(both_families),
		cmocka_unit_test(against_the_oracle),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(at_most_32_prefixes),
		cmocka_unit_test(only_for_a_reflector),
	};

	util_seed();
	return golden_run(tests);
}
