// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=host/counters/activity.c,host/counters/activity_cpu.c,host/counters/activity_fields.c,host/counters/activity_inside.c,host/counters/activity_interrupts.c,host/counters/activity_text.c,host/counters/activity_vm.c libs= */
/* activity_nic.c against drivers with many statistics, with none, and with others than at the start. */
#include "host/counters/activity_nic.c"

#include "util.h"

#include "activity_bench.h"

static void test_prints_trouble(void **state)
{
	static const char *const yes[] = {
		"rx_dropped", "rx-0.drops", "rx_crc_errors", "tx_err", "rxerr", "rx_missed_errors", "rx_discards_phy",
		"tx_hwtstamp_skipped", "tx_hwtstamp_timeouts", "TX_LOST", "ptp_cq0_late_cqe", "rx_out_of_buffer",
		"rx_no_buffer_count", "rx_fifo_errors", "os2bmc_rx_by_bmc_err", "rx_hwtstamp_cleared", "rx_buferrors",
		"interrupt_errors", "tx_deferred_drop",
	};
	static const char *const no[] = { "rx_packets", "tx_bytes", "interrupts", "tx_deferred_ok",
					  "rx_queue_0_packets", "tx_interrupt_count", "data_transferred", "" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(yes); i++)
		if (!prints_trouble(yes[i]))
			fail_msg("%s is left out", yes[i]);
	for (size_t i = 0; i < COUNT_OF(no); i++)
		if (prints_trouble(no[i]))
			fail_msg("%s is told", no[i]);
}

static void test_statistics(void **state)
{
	(void)state;
	nic.names = statistics;
	open_at(1);
	assert_false(is_noted("statistics"));
	for (int i = 0; i < 5; i++)
		nic.value[i] = (uint64_t)i + 1;
	compare_now();
	assert_differences(4);
	assert_counted("driver statistics of eth0", "rx_dropped", 2, "");
	assert_counted("driver statistics of eth0", "tx_hwtstamp_skipped", 3, "");
	assert_counted("driver statistics of eth0", "rx_errors_0123456789012345678901", 4, "");
	assert_counted("driver statistics of eth0", "drop?[31m", 5, "");
}

static void test_statistics_that_cannot_be_read(void **state)
{
	(void)state;
	nic.names = statistics;
	nic.strings_more = 1;
	open_at(1);
	assert_noted("statistics of the NIC ('ethtool -S eth0': Resource temporarily unavailable)");
	activity_close(&a);
	nic.strings_more = 0;
	nic.more = STATISTICS;
	open_at(1);
	assert_noted("statistics of the NIC ('ethtool -S eth0': Argument list too long)");
	activity_close(&a);
	nic.more = 0;
	nic.error = -EPERM;
	open_at(1);
	assert_noted("statistics of the NIC ('ethtool -S eth0': Operation not permitted)");
}

/* If the driver has another number of them than at the start, names are not known, and the memory is too small. */
static void test_statistics_change(void **state)
{
	unsigned asked;

	(void)state;
	nic.names = statistics;
	nic.value[1] = 8;
	open_at(1);
	asked = nic.asked_statistics;
	nic.more = 1;
	compare_now();
	assert_int_equal(nic.asked_statistics, asked);
	assert_change("driver statistics of eth0", "rx_dropped", ACTIVITY_GONE, 8, 0);
	nic.more = 0;
	nic.stats_error = -EIO;
	compare_now();
	assert_change("driver statistics of eth0", "rx_dropped", ACTIVITY_GONE, 8, 0);
}

/* Writes of the kernel behind the buffer must fail, and not overwrite anything. */
static void test_guard(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	(void)state;
	for (size_t bytes = page - 1; bytes <= page + 1; bytes++) {
		char *start = guarded_map(bytes, &mapped);
		size_t whole = bytes <= page ? page : 2 * page;

		assert_non_null(start);
		assert_int_equal(mapped, whole + page);
		assert_int_equal(read(zero, start, bytes), bytes);
		assert_int_equal(read(zero, start + whole, 1), -1);
		assert_int_equal(errno, EFAULT);
		munmap(start, mapped);
	}
	close(zero);
}

static void test_stamps(void **state)
{
	(void)state;
	nic.stamp_error = 0;
	nic.stamps = (struct nic_stamp_counts){ .sent = 100, .lost = 1, .errors = 5, .has = 3 };
	open_at(1);
	assert_false(is_noted("stamps"));
	nic.stamps = (struct nic_stamp_counts){ .sent = 150, .lost = 3, .errors = 9, .has = 3 };
	compare_now();
	assert_differences(2);
	assert_counted("stamps of eth0", "transmit stamps given", 50, "");
	assert_counted("stamps of eth0", "transmit stamps lost", 2, "");
	/* The driver has no more than two. */
	assert_int_equal(a.inside->stamp_slot[2], NONE);
	nic.stamps.has = 1;
	compare_now();
	assert_change("stamps of eth0", "transmit stamps lost", ACTIVITY_GONE, 1, 0);
	nic.stamp_error = -ENODEV;
	compare_now();
	assert_change("stamps of eth0", "transmit stamps lost", ACTIVITY_GONE, 1, 0);
}

static void test_more_statistics_than_room(void **state)
{
	static const char *const names[] = { "rx_drops", "" };

	(void)state;
	nic.names = names;
	nic.more = ACTIVITY_COUNTERS + 9;
	open_at(1);
	assert_int_equal(a.inside->slots, ACTIVITY_COUNTERS);
	assert_true(a.counters_left_out > 9);
	nic.value[0]++;
	compare_now();
	assert_counted("driver statistics of eth0", "rx_drops", 1, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_prints_trouble),
		TEST(test_statistics),
		TEST(test_statistics_that_cannot_be_read),
		TEST(test_statistics_change),
		TEST(test_guard),
		TEST(test_stamps),
		TEST(test_more_statistics_than_room),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
