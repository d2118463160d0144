// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=read sources= libs= */
/* pmc.c with made-up pages, registers and groups of counters; the test of pmu.c reads real counters. */
#define PMC_TEST
#include "host/counters/pmc.c"

#include "util.h"

/* ---- Fake registers and groups ----------------------------------------------------------------------------------- */

static struct perf_event_mmap_page page[3];
static struct pmc p;

static struct {
	uint64_t reg[8];
	unsigned reads; /* of registers */
	void (*on_read)(void); /* while one is being read */
	bool group; /* read() is ours */
	uint64_t counters, enabled, running, value[PMC_MAX];
	size_t asked_bytes;
	ssize_t give; /* what read() returns; 0: all that is asked for */
	char order[64]; /* r: register, g: group */
} fake;

static void note(char c)
{
	size_t n = strlen(fake.order);

	if (n + 1 < sizeof(fake.order))
		fake.order[n] = c;
}

static uint64_t read_register(uint32_t number)
{
	assert_true(number < COUNT_OF(fake.reg));
	note('r');
	uint64_t value = fake.reg[number];

	fake.reads++;
	if (fake.on_read)
		fake.on_read();
	return value;
}

ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes);

ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	uint64_t raw[3 + PMC_MAX] = { fake.counters, fake.enabled, fake.running };

	if (!fake.group)
		return __real_read(fd, to, bytes);
	assert_int_equal(fd, 99);
	note('g');
	fake.asked_bytes = bytes;
	memcpy(raw + 3, fake.value, sizeof(fake.value));
	memcpy(to, raw, bytes);
	return fake.give ? fake.give : (ssize_t)bytes;
}

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	memset(page, 0, sizeof(page));
	p = (struct pmc){ .group_fd = -1 };
	for (size_t i = 0; i < COUNT_OF(page); i++) {
		page[i].cap_user_rdpmc = 1;
		page[i].index = (uint32_t)i + 1;
		page[i].pmc_width = 48;
		p.page[i] = &page[i];
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake.group = false;
	return 0;
}

/* ---- One counter by rdpmc ---------------------------------------------------------------------------------------- */

static void test_count(void **state)
{
	static const struct {
		int64_t offset;
		uint64_t reg;
		uint16_t width;
		uint64_t count;
	} cases[] = {
		{ 1000, 5, 48, 1005 },
		/* The kernel starts it below zero, so that it overflows in time. */
		{ 1000, 0xffffffffff00, 48, 1000 - 256 },
		{ 256, 0xffffffffff00, 48, 0 },
		{ 0, 0x7fffffffffff, 48, 0x7fffffffffff },
		{ 0, 0x800000000000, 48, UINT64_MAX - 0x7fffffffffff },
		/* Bits above the width are not part of the count. */
		{ 0, 0xabcd000000000007, 48, 7 },
		{ 10, 0xffffffff, 32, 9 },
		{ 10, UINT64_MAX, 64, 9 },
		{ 10, 1, 1, 9 },
		/* Values no kernel should give must not be undefined. */
		{ 10, 1, 0, 11 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bool idle = false;

		page[0].offset = cases[i].offset;
		page[0].pmc_width = cases[i].width;
		fake.reg[0] = cases[i].reg;
		assert_int_equal(read_direct(&page[0], &idle), cases[i].count);
		assert_false(idle);
	}
	page[0].pmc_width = 65;
	bool idle = false;

	read_direct(&page[0], &idle); /* UBSan watches */
}

static void test_register_number(void **state)
{
	bool idle = false;

	(void)state;
	page[0].index = 6;
	fake.reg[5] = 42;
	fake.reg[6] = 43;
	assert_int_equal(read_direct(&page[0], &idle), 42);
}

static void test_not_on_a_register(void **state)
{
	bool idle = false;

	(void)state;
	page[0].index = 0;
	page[0].offset = 77;
	assert_int_equal(read_direct(&page[0], &idle), 77);
	assert_true(idle);
	assert_int_equal(fake.reads, 0);
}

/* The instruction would be a fault then. */
static void test_not_allowed_any_more(void **state)
{
	bool idle = false;

	(void)state;
	page[0].cap_user_rdpmc = 0;
	page[0].offset = 78;
	assert_int_equal(read_direct(&page[0], &idle), 78);
	assert_true(idle);
	assert_int_equal(fake.reads, 0);
}

static void switch_threads(void)
{
	/* The kernel takes the count off the register, and puts the counter on another one. */
	page[0].lock += 2;
	page[0].offset = 5000;
	page[0].index = 3;
	fake.reg[2] = 1;
	fake.on_read = NULL;
}

static void test_torn(void **state)
{
	bool idle = false;

	(void)state;
	page[0].offset = 100;
	fake.reg[0] = 50;
	fake.on_read = switch_threads;
	assert_int_equal(read_direct(&page[0], &idle), 5001);
	assert_int_equal(fake.reads, 2);
}

static void stop_counting(void)
{
	page[0].lock += 2;
	page[0].offset = 160;
	page[0].index = 0;
	fake.on_read = NULL;
}

static void test_torn_to_idle(void **state)
{
	bool idle = false;

	(void)state;
	page[0].offset = 100;
	fake.reg[0] = 50;
	fake.on_read = stop_counting;
	assert_int_equal(read_direct(&page[0], &idle), 160);
	assert_true(idle);
}

/* ---- An exchange ------------------------------------------------------------------------------------------------- */

static void with_group(unsigned direct, unsigned counters)
{
	p.direct = direct;
	p.counters = counters;
	p.group_fd = 99;
	fake.group = true;
	fake.counters = counters - direct;
	fake.enabled = fake.running = 1000;
}

static void test_exchange_by_rdpmc(void **state)
{
	(void)state;
	p.direct = p.counters = 3;
	fake.group = true; /* a read() would fail the test */
	fake.reg[0] = 10;
	fake.reg[1] = 0xfffffffffffe; /* passes zero meanwhile */
	page[2].offset = -1;
	pmc_begin(&p);
	fake.reg[0] = 15;
	fake.reg[1] = 4;
	fake.reg[2] = 9;
	assert_true(pmc_end(&p));
	assert_int_equal(p.delta[0], 5);
	assert_int_equal(p.delta[1], 6);
	assert_int_equal(p.delta[2], 9);
	assert_string_equal(fake.order, "rrrrrr");
	assert_int_equal(p.failed, 0);
	assert_false(p.idle[0]);
}

static void test_exchange_by_both(void **state)
{
	(void)state;
	with_group(2, 4);
	fake.value[0] = 7;
	fake.value[1] = 70;
	pmc_begin(&p);
	fake.reg[1] = 3;
	fake.value[0] = 8;
	fake.value[1] = 90;
	assert_true(pmc_end(&p));
	assert_int_equal(p.delta[0], 0);
	assert_int_equal(p.delta[1], 3);
	assert_int_equal(p.delta[2], 1);
	assert_int_equal(p.delta[3], 20);
	assert_int_equal(fake.asked_bytes, 5 * sizeof(uint64_t));
	/* The system calls are outside of the counted section. */
	assert_string_equal(fake.order, "grrrrg");
}

static void test_reading_fails(void **state)
{
	(void)state;
	with_group(0, 2);
	pmc_begin(&p);
	fake.give = -1;
	assert_false(pmc_end(&p));
	fake.give = 8;
	pmc_begin(&p);
	fake.give = 0;
	assert_false(pmc_end(&p));
	fake.counters = 1; /* another group than ours */
	pmc_begin(&p);
	assert_false(pmc_end(&p));
	assert_int_equal(p.failed, 3);
	fake.counters = 2;
	pmc_begin(&p);
	assert_true(pmc_end(&p));
	/* Without a beginning of its own. */
	assert_false(pmc_end(&p));
	assert_int_equal(p.failed, 4);
}

static void test_shared_counters_are_seen(void **state)
{
	(void)state;
	with_group(1, 3);
	pmc_begin(&p);
	assert_true(pmc_end(&p));
	assert_false(p.idle[0] || p.idle[1] || p.idle[2]);
	fake.running = 999;
	pmc_begin(&p);
	fake.running = fake.enabled;
	assert_true(pmc_end(&p));
	assert_false(p.idle[0]);
	assert_true(p.idle[1] && p.idle[2]);
}

static void account(uint64_t first, uint64_t second, bool slow)
{
	p.delta[0] = first;
	p.delta[1] = second;
	pmc_account(&p, slow);
}

static void test_account(void **state)
{
	(void)state;
	p.counters = p.direct = 2;
	account(1, 10, false);
	account(100, 1000, true);
	account(2, 20, false);
	account(300, 3000, true);
	assert_int_equal(p.quick, 2);
	assert_int_equal(p.quick_sum[0], 3);
	assert_int_equal(p.quick_sum[1], 30);
	assert_int_equal(p.slow, 2);
	assert_int_equal(p.slow_sum[0], 400);
	assert_int_equal(p.slow_sum[1], 4000);
	/* The first, since it is the reported breach. */
	assert_int_equal(p.spike[0], 100);
	assert_int_equal(p.spike[1], 1000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_count), TEST(test_register_number), TEST(test_not_on_a_register),
		TEST(test_not_allowed_any_more), TEST(test_torn), TEST(test_torn_to_idle),
		TEST(test_exchange_by_rdpmc), TEST(test_exchange_by_both), TEST(test_reading_fails),
		TEST(test_shared_counters_are_seen), TEST(test_account),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
