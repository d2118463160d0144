/* build: wraps=nic_read_details sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Which settings of the NIC are delays. sysfs has no interface of this name. */
#include "host/delays.c"

#include "util.h"

static struct nic_details details;

void __wrap_nic_read_details(const struct nic *n, struct nic_details *d);
void __wrap_nic_read_details(const struct nic *n, struct nic_details *d)
{
	(void)n;
	*d = details;
}

static const struct nic nic = { .name = "none.of.these" };

static struct delays read_with(struct nic_details d)
{
	struct delays all;

	details = d;
	delays_read(&all, &nic, -1, true);
	return all;
}

static void coalescing(void **state)
{
	const struct delays d = read_with((struct nic_details){ .coalescing_known = true, .receive_us = 50,
								.transmit_us = 100 });

	(void)state;
	assert_int_equal(d.count, 2);
	assert_string_equal(d.delay[0].name, "rx-usecs 50");
	assert_int_equal(d.delay[0].value_ns, 50000);
	assert_string_equal(d.delay[0].cure, "ethtool -C none.of.these rx-usecs 0");
	assert_string_equal(d.delay[1].name, "tx-usecs 100");
	assert_string_equal(d.delay[1].cure, "ethtool -C none.of.these tx-usecs 0");
}

/* An adaptive time is not fixed; igb means modes by 1 to 3. */
static void no_delays(void **state)
{
	(void)state;
	assert_int_equal(read_with((struct nic_details){ .receive_us = 50 }).count, 0);
	assert_int_equal(read_with((struct nic_details){ .coalescing_known = true }).count, 0);
	assert_int_equal(read_with((struct nic_details){ .coalescing_known = true, .receive_us = 3 }).count, 0);
	assert_int_equal(read_with((struct nic_details){ .coalescing_known = true, .receive_us = 50,
							 .adaptive_receive = true }).count, 0);
	assert_int_equal(read_with((struct nic_details){ .coalescing_known = true, .transmit_us = 50,
							 .adaptive_transmit = true }).count, 0);
}

/* The list is limited. */
static void too_many(void **state)
{
	struct delays d = { .count = 0 };

	(void)state;
	for (int i = 0; i < DELAYS_MAX; i++)
		assert_non_null(add(&d, DELAY_LEAST_NS));
	assert_null(add(&d, DELAY_LEAST_NS));
	assert_int_equal(d.count, DELAYS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coalescing),
		cmocka_unit_test(no_delays),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
