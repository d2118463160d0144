// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=host/counters/activity.c,host/counters/activity_cpu.c,host/counters/activity_fields.c,host/counters/activity_inside.c,host/counters/activity_interrupts.c,host/counters/activity_nic.c,host/counters/activity_text.c libs= */
/* activity_vm.c with files in place of the device of VMClock. */
#include "host/counters/activity_vm.c"

#include "util.h"

#include "activity_bench.h"

static void put_vmclock(uint16_t version, uint32_t sequence, uint64_t marker, size_t bytes)
{
	const struct vmclock_begin begin = { .magic = htole32(VMCLOCK_MAGIC), .size = htole32(4096),
					     .version = htole16(version), .sequence = htole32(sequence),
					     .disruption_marker = htole64(marker) };

	put_bytes("/dev/vmclock0", &begin, bytes);
}

static void a_migration_changes_the_marker(void **state)
{
	(void)state;
	put_vmclock(1, 2, 7, sizeof(struct vmclock_begin));
	open_at(1);
	assert_true(a.sees_disruptions);
	assert_false(is_noted("disruptions"));
	put_vmclock(1, 4, 8, sizeof(struct vmclock_begin));
	compare_now();
	assert_differences(1);
	assert_change("virtual machine", "disruption marker", ACTIVITY_CHANGED, 7, 8);
}

static void an_update_without_disruption(void **state)
{
	(void)state;
	put_vmclock(1, 2, 7, sizeof(struct vmclock_begin));
	open_at(1);
	put_vmclock(1, 6, 7, sizeof(struct vmclock_begin));
	compare_now();
	assert_differences(0);
}

static void without_the_device(void **state)
{
	(void)state;
	open_at(1);
	assert_false(a.sees_disruptions);
	assert_false(is_noted("disruptions"));
}

static void another_layout_is_noted(void **state)
{
	(void)state;
	put_vmclock(2, 2, 7, sizeof(struct vmclock_begin));
	open_at(1);
	assert_false(a.sees_disruptions);
	assert_noted("disruptions of the virtual machine (/dev/vmclock0: not a VMClock of version 1)");
}

static void a_short_file_is_noted(void **state)
{
	(void)state;
	put_vmclock(1, 2, 7, 8);
	open_at(1);
	assert_noted("disruptions of the virtual machine (/dev/vmclock0: not a VMClock of version 1)");
}

static void an_endless_update_is_noted(void **state)
{
	(void)state;
	put_vmclock(1, 3, 7, sizeof(struct vmclock_begin));
	open_at(1);
	assert_false(a.sees_disruptions);
	assert_noted("disruptions of the virtual machine (/dev/vmclock0: Resource temporarily unavailable)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_migration_changes_the_marker),
		TEST(an_update_without_disruption),
		TEST(without_the_device),
		TEST(another_layout_is_noted),
		TEST(a_short_file_is_noted),
		TEST(an_endless_update_is_noted),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
