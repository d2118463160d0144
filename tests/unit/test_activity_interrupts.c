// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=host/counters/activity.c,host/counters/activity_cpu.c,host/counters/activity_fields.c,host/counters/activity_inside.c,host/counters/activity_nic.c,host/counters/activity_vm.c libs= */
/* activity_interrupts.c, and activity_text.c, which it uses: changing, large and torn tables. */
#include "host/counters/activity_interrupts.c"
#include "host/counters/activity_text.c"

#include "util.h"

#include "activity_bench.h"

static void test_interrupts(void **state)
{
	(void)state;
	open_at(1);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2       CPU3       \n"
		 "   0:         99          0          0          0  IR-IO-APIC    2-edge      timer\n"
		 " 120:          0          4          0          0  IR-PCI-MSI-0000:00:1f.2   0-edge   "
		 "ahci[0000:00:1f.2]\n"
		 " 130:          0          8          0         92  IR-PCI-MSIX-0000:03:00.0   1-edge   eth0-TxRx-0\n"
		 " 131:          0          0         16          0  IR-PCI-MSIX-0000:03:00.0   2-edge   eth0-TxRx-1\n"
		 " 140:          0          0         99          0  IR-PCI-MSIX-0000:04:00.0   1-edge   eth01-TxRx-0\n"
		 " NMI:          9          0          9          9   Non-maskable interrupts\n"
		 " LOC:       1999       2500       3999       4999   Local timer interrupts\n"
		 " ERR:          2\n MIS:          0\n");
	put_file("/proc/softirqs",
		 "                    CPU0       CPU1       CPU2       CPU3       \n"
		 "          HI:          9          1          9          9\n"
		 "      NET_TX:        999        206        302        403\n"
		 "      NET_RX:       9999       2007       3004       4005\n");
	put_file("/proc/irq/131/effective_affinity_list", "0\n");
	compare_now();
	assert_differences(13);
	assert_counted("interrupts on CPU 1", "IRQ 120 ahci[0000:00:1f.2]", 3, "");
	assert_counted("interrupts on CPU 1", "IRQ 130 eth0-TxRx-0", 1, "");
	assert_counted("interrupts on CPU 1", "LOC Local timer interrupts", 500, "");
	assert_counted("interrupts on CPU 1", "ERR, all CPUs", 2, "");
	assert_counted("interrupts of eth0, on all CPUs", "IRQ 130 eth0-TxRx-0", 3, "");
	assert_counted("interrupts of eth0, on all CPUs", "IRQ 131 eth0-TxRx-1", 5, "");
	assert_change("interrupts of eth0, on all CPUs", "CPU of IRQ 131 eth0-TxRx-1", ACTIVITY_CHANGED, 2, 0);
	assert_counted("softirqs on CPU 1", "NET_TX", 6, "");
	assert_counted("softirqs on CPU 1", "NET_RX", 7, "");
	assert_counted("softirqs where eth0 interrupts", "NET_TX on CPU 2", 2, "");
	assert_counted("softirqs where eth0 interrupts", "NET_RX on CPU 2", 4, "");
	assert_counted("softirqs where eth0 interrupts", "NET_TX on CPU 3", 3, "");
	assert_counted("softirqs where eth0 interrupts", "NET_RX on CPU 3", 5, "");
}

static void test_names_of_vectors(void **state)
{
	struct activity_vector v[2];

	(void)state;
	open_at(1);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2       CPU3       \n"
		 " 120:          0          4          0          0  IR-PCI-MSI-0000:00:1f.2   0-edge   ahci\n"
		 " 130:          0          8          0         92  IR-PCI-MSIX-0000:03:00.0   1-edge   eth0-TxRx-0\n"
		 " 131:          0          0         16          0  IR-PCI-MSIX-0000:03:00.0   2-edge   eth0\033-TxRx-1\n"
		 " NMI:          9          0          9          9   Non-maskable interrupts\n");
	put_file("/proc/irq/130/effective_affinity_list", "2-3\n");
	assert_int_equal(activity_read_vectors(&a, v, 2), 2);
	assert_int_equal(v[0].irq, 130);
	assert_string_equal(v[0].name, "eth0-TxRx-0");
	assert_string_equal(v[0].cpus, "2-3");
	assert_string_equal(v[1].name, "eth0?-TxRx-1");
	assert_int_equal(activity_read_vectors(&a, v, 1), 1);
}

/* ---- Machines that change ---------------------------------------------------------------------------------------- */

static void test_unplugged_column(void **state)
{
	static const char *const unplugged =
		"           CPU0       CPU2       CPU3\n"
		" 130:        1         20        300  PCI-MSIX-0000:03:00.0 1-edge eth0-TxRx-0\n"
		" LOC:       10        200       3000   Local timer interrupts\n";

	(void)state;
	put_file("/proc/interrupts", "%s", unplugged);
	open_at(2);
	put_file("/proc/interrupts",
		 "           CPU0       CPU1       CPU2       CPU3\n"
		 " 130:        1       5000         21        300  PCI-MSIX-0000:03:00.0 1-edge eth0-TxRx-0\n"
		 " LOC:       10         77        202       3000   Local timer interrupts\n");
	compare_now();
	assert_counted("interrupts on CPU 2", "LOC Local timer interrupts", 2, "");
	assert_counted("interrupts on CPU 2", "IRQ 130 eth0-TxRx-0", 1, "");
	/* A sum over other CPUs than before. */
	assert_change("interrupts of eth0, on all CPUs", "IRQ 130 eth0-TxRx-0", ACTIVITY_RESET, 321, 5322);
}

static void test_measuring_cpu_unplugged(void **state)
{
	(void)state;
	open_at(1);
	put_file("/proc/interrupts", "  CPU0 CPU2 CPU3\n LOC: 1000 3000 4000 Local timer interrupts\n");
	compare_now();
	assert_change("interrupts on CPU 1", "LOC Local timer interrupts", ACTIVITY_GONE, 2000, 0);
	assert_false(after.rows);
	activity_close(&a);
	open_at(1);
	assert_noted("interrupts of CPU 1 (not in /proc/interrupts)");
}

/* A CPU was added or removed between the header and the lines: the owner of each number is not known. */
static void test_torn_lines(void **state)
{
	(void)state;
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2\n"
		 " 120:          0          4          5          6  PCI-MSI-0000:00:1f.2    0-edge      ahci\n"
		 " 121:          0          4   PCI-MSI-0000:00:1f.2    0-edge      xhci\n"
		 " LOC:          1          2          3   Local timer interrupts\n"
		 " ERR:          7\n"
		 "\n"
		 " 122: x 4 5  PCI-MSI 9-edge x\n");
	open_at(1);
	assert_noted("some interrupts (lines of /proc/interrupts that cannot be read)");
	assert_false(before.rows);
	assert_int_equal(a.inside->rows, 2);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2\n"
		 " 120:          0        400          5   PCI-MSI-0000:00:1f.2    0-edge      ahci\n"
		 " LOC:          1          3          3   Local timer interrupts\n"
		 " ERR:          7\n");
	compare_now();
	/* A counter that was not readable before did not count from 0. */
	assert_differences(1);
	assert_counted("interrupts on CPU 1", "LOC Local timer interrupts", 1, "");
}

static void test_new_and_gone_rows(void **state)
{
	(void)state;
	open_at(1);
	put_file("/proc/interrupts",
		 "            CPU0       CPU1       CPU2       CPU3       \n"
		 " 130:          0          7          0         90  IR-PCI-MSIX-0000:03:00.0   1-edge   eth0-TxRx-0\n"
		 " 131:          0          0         11          0  IR-PCI-MSIX-0000:03:00.0   2-edge   eth0-TxRx-1\n"
		 " 150:          0         12          0          0  IR-PCI-MSIX-0000:05:00.0    0-edge      nvme0q0\n"
		 " LOC:       1000       2000       3000       4000   Local timer interrupts\n"
		 " ERR:          0\n");
	compare_now();
	assert_counted("interrupts on CPU 1", "IRQ 150 nvme0q0", 12, "");
	assert_change("interrupts on CPU 1", "IRQ 120 ahci[0000:00:1f.2]", ACTIVITY_GONE, 1, 0);
	/* Row 0 had not interrupted this CPU: nothing is lost. */
	assert_differences(2);
	before = after;
	compare_now();
	assert_differences(0);
}

/* ---- Files that cannot be read, or only in part ------------------------------------------------------------------ */

static void test_single_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} cases[] = {
		{ "12\n", true, 12 }, { "12", true, 12 }, { "3-5\n", true, 3 }, { "7,9\n", true, 7 },
		{ "18446744073709551615\n", true, UINT64_MAX }, { "18446744073709551616\n", false, 0 },
		{ "12abc\n", false, 0 }, { "-1\n", false, 0 }, { "\n", false, 0 }, { "", false, 0 },
		{ "00000000000000000000000000000000000000000001\n", false, 0 },
	};
	int fd;

	(void)state;
	put_file("/number", "1\n");
	fd = activity_open_file("/number");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t value = 0;

		put_file("/number", "%s", cases[i].text);
		if (activity_text_single(fd, &value) != cases[i].good || (cases[i].good && value != cases[i].value))
			fail_msg("case %zu: %s", i, cases[i].text);
	}
	close(fd);
}

static void test_unknown_forms(void **state)
{
	(void)state;
	put_file("/proc/interrupts", "           CPU0       FOO\n LOC: 1 2 Local\n");
	put_file("/proc/softirqs", "           CPU0       CPU8192\n HI: 1 2\n");
	open_at(0);
	assert_noted("interrupts (/proc/interrupts is of an unknown form)");
	assert_noted("softirqs (/proc/softirqs is of an unknown form)");
	assert_false(before.rows);
	assert_int_equal(a.inside->rows, 0);
}

static void test_many_cpus(void **state)
{
	enum { CPU_COUNT_HERE = 4096, ME = 4001 };
	static char text[1 << 20];
	size_t n = 0;

	(void)state;
	for (int grown = 0; grown < 2; grown++) {
		n = 0;
		for (int i = 0; i < CPU_COUNT_HERE; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %9s%d", "CPU", i);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n 130:");
		for (int i = 0; i < CPU_COUNT_HERE; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %10d", i + (i == ME ? 17 * grown : 0));
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      " PCI-MSIX-0000:03:00.0 1-edge eth0-TxRx-0, %05000d\n LOC:", 0);
		for (int i = 0; i < CPU_COUNT_HERE; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %10d", 2 * i + (i == ME ? 5 * grown : 0));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n%010000d: 1\n", 0);
		put_bytes("/proc/interrupts", text, n);
		if (!grown)
			open_at(ME);
	}
	compare_now();
	assert_counted("interrupts on CPU 4001", "LOC", 5, "");
	/* The line with a label longer than any is none of ours. */
	assert_int_equal(a.inside->rows, 2);
	assert_false(after.rows);
	/* Long names are cut, not dropped. */
	assert_int_equal(found, 3);
	assert_int_equal(list[0].delta, 17);
	assert_int_equal(list[2].delta, 17);
	assert_non_null(strstr(list[2].name, "IRQ 130 eth0-TxRx-0, 000"));
}

static void test_more_rows_than_room(void **state)
{
	static char text[1 << 20];
	size_t n = (size_t)snprintf(text, sizeof(text), "  CPU0 CPU1\n");

	(void)state;
	for (int i = 0; i < ROWS + 7; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%5d: 0 %d PCI-MSI %d-edge disk%d\n", 1000 + i, i,
			      i, i);
	put_bytes("/proc/interrupts", text, n);
	assert_int_equal(activity_open(&a, &eth0, TID, 1), 0);
	assert_int_equal(a.inside->rows, ROWS);
	assert_true(a.counters_left_out >= 7);
}

/* ---- Which interrupts are the NIC's ------------------------------------------------------------------------------ */

static unsigned vector_rows(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a.inside->rows; i++)
		n += a.inside->row[i].vector_slot != NONE;
	return n;
}

static void test_vectors_by_name(void **state)
{
	static const struct {
		const char *bus, *description;
		bool mine;
	} cases[] = {
		{ "0000:07:00.0", "PCI-MSIX-0000:07:00.0 1-edge mlx5_comp0", true },
		{ "0000:07:00.0", "PCI-MSI 524288-edge mlx5_comp0@pci:0000:07:00.0", true },
		{ "0000:07:00.0", "PCI-MSIX-0000:07:00.01 1-edge other", false },
		{ "0000:07:00.0", "PCI-MSIX-10000:07:00.0 1-edge other", false },
		{ NULL, "PCI-MSI 524289-edge eth0-rx-0", true },
		{ NULL, "PCI-MSI 524289-edge eth0", true },
		{ NULL, "GICv3 27 Level eth0", true },
		{ NULL, "PCI-MSI 524289-edge eth01", false },
		{ NULL, "PCI-MSI 524289-edge veth0", false },
		{ "", "PCI-MSI 524289-edge disk", false },
		{ "0000:03:00.0/../../evil", "PCI-MSI 524289-edge disk", false },
		{ "..", "PCI-MSI 524289-edge disk", false },
		{ "a/../b", "PCI-MSI 524289-edge disk", false },
		/* As long as the field, so that no 0 ends it. */
		{ "0123456789abcdef0123456789abcdef", "PCI-MSI 524289-edge disk", false },
		{ "virtio2", "PCI-MSIX-0000:00:03.0 1-edge virtio2-input.0", true },
	};

	(void)state;
	/* Targets of paths that are not addresses. */
	put_file("/sys/bus/pci/evil/msi_irqs/200", "msix\n");
	put_file("/sys/bus/pci/msi_irqs/200", "msix\n");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		nic.bus = cases[i].bus;
		put_file("/proc/interrupts", "  CPU0 CPU1\n 200: 1 2 %s\n", cases[i].description);
		open_at(1);
		if (vector_rows() != cases[i].mine)
			fail_msg("case %zu: %s", i, cases[i].description);
		if (is_noted("interrupts of the NIC") == cases[i].mine)
			fail_msg("case %zu: note", i);
		activity_close(&a);
	}
}

/* The name may be that of an interface in another namespace: sysfs knows better. */
static void test_list_of_vectors_wins(void **state)
{
	(void)state;
	put_file("/proc/interrupts", "  CPU0 CPU1\n 130: 1 2 PCI-MSI 1-edge a\n 131: 1 2 PCI-MSI 2-edge b\n"
		 " 132: 1 2 PCI-MSI 3-edge eth0-TxRx-0\n");
	open_at(1);
	assert_int_equal(vector_rows(), 2);
	assert_int_equal(a.inside->row[2].vector_slot, NONE);
}

/* The softirqs of the measuring CPU are listed already. */
static void test_vector_on_measuring_cpu(void **state)
{
	(void)state;
	put_file("/proc/irq/131/effective_affinity_list", "1\n");
	open_at(1);
	assert_int_equal(a.inside->vector_cpus, 1);
	assert_int_equal(a.inside->vector_cpu[0], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names_of_vectors),
		TEST(test_interrupts),
		TEST(test_unplugged_column),
		TEST(test_measuring_cpu_unplugged),
		TEST(test_torn_lines),
		TEST(test_new_and_gone_rows),
		TEST(test_single_numbers),
		TEST(test_unknown_forms),
		TEST(test_many_cpus),
		TEST(test_more_rows_than_room),
		TEST(test_vectors_by_name),
		TEST(test_list_of_vectors_wins),
		TEST(test_vector_on_measuring_cpu),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
