/* build: sources=@report,report/export/json.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* breach.json: what it holds of a breach, and what it leaves out. */
#include "report/export/breach_file.c"

#include "fake_report.h"

#include "host/counters/activity.h"
#include "host/counters/activity_unseen.h"

#include <sys/stat.h>

static struct sample slots[NEIGHBOURS], breached;
static _Atomic int held;
static struct neighbours kept;
static char folder[64], path[128];
static struct activity_vector vectors[] = { { .irq = 45, .name = "eth1-rx-1", .cpus = "2" },
					    { .irq = 46, .name = "a\"b" } };
static bool is_related = true;

#define OFFSET_NS 37000000000

static bool back(void *context, int64_t *ns)
{
	(void)context;
	*ns -= OFFSET_NS;
	return is_related;
}

static struct breach_facts facts = {
	.report = &report, .sample = &breached, .neighbours = &kept, .trace_clock = "mono_raw", .host_cpu = { true, 1 }, .thread = 4711,
	.interface = "eth1", .to_realtime = back, .interrupt = vectors, .interrupts = COUNT_OF(vectors),
};

/* A response of a reflector with hardware timestamps: 1 us to the program, 0.5 us in it, and to_nic_ns to the NIC. */
static struct sample response(uint32_t seq, int64_t to_app_ns, int64_t to_nic_ns)
{
	const int64_t t2_ns = 1773883524000000000 + seq * 1000000LL, bound_ns = t2_ns + to_app_ns;

	return (struct sample){
		.seq = seq, .latency_ns = to_app_ns + 500 + to_nic_ns,
		.source = { SOURCE_HARDWARE, SOURCE_USER, SOURCE_USER, SOURCE_HARDWARE },
		.time_ns = { t2_ns, bound_ns, bound_ns + 500, bound_ns + 500 + to_nic_ns },
	};
}

static void begin_reflector(uint32_t ordinary)
{
	options.role = ROLE_REFLECT;
	options.stamp = SOURCE_HARDWARE;
	options.sw_timestamps = true;
	options.threshold_ns = 100000;
	stages_of_role(ROLE_REFLECT, true, result.stages);
	for (int i = STAGE_RECEIVE; i <= STAGE_APP; i++) {
		place(&stage[i], 1);
		result.stage[i] = &stage[i];
	}
	result.has_stages = true;
	kept = (struct neighbours){ .slot = slots, .held = &held };
	for (uint32_t seq = 1; seq <= ordinary; seq++) {
		const struct sample s = response(seq, 1000 + seq, 2000);

		neighbours_add(&kept, &s);
	}
	breached = response(ordinary + 1, 300000, 2100);
	facts.converted = facts.has_relation = true;
	facts.hw_minus_realtime_ns = OFFSET_NS;
	facts.hw_bound_ns = 123;
	is_related = true;
}

static const char *write_it(void)
{
	static char file[1 << 20];
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	FILE *f;
	size_t got;

	unlink(path);
	assert_int_equal(breach_file_write(fd, &facts), 0);
	assert_int_equal(breach_file_write(fd, &facts), -EEXIST); /* nothing is overwritten */
	close(fd);
	f = fopen(path, "r");
	got = fread(file, 1, sizeof(file) - 1, f);
	fclose(f);
	file[got] = 0;
	return file;
}

static int count_of(const char *file, const char *piece)
{
	int n = 0;

	for (const char *at = file; (at = strstr(at, piece)); at++)
		n++;
	return n;
}

static void a_breach_of_a_reflector(void **state)
{
	(void)state;
	begin_reflector(30);
	const char *file = write_it();

	golden("%.*s\n", (int)(strstr(file, "\"packets\"") - file), file);
	golden("%s", strrchr(file, '['));
	assert_int_equal(count_of(file, "{\"seq\":"), 31);
}

/* Frozen for the other host, which has the threshold. */
static void a_host_without_a_threshold(void **state)
{
	(void)state;
	begin_reflector(30);
	options.threshold_ns = 0;
	assert_int_equal(count_of(write_it(), "{\"seq\":"), 31);
}

/* Two emitters at one reflector: a packet of the other may have the number of the breach. */
static void two_runs_at_a_reflector(void **state)
{
	const char *file;
	struct sample s;

	(void)state;
	begin_reflector(0);
	kept = (struct neighbours){ .slot = slots, .held = &held };
	for (uint32_t seq = 1; seq <= 30; seq++) {
		s = response(seq, 1000 + seq, 2000);
		s.ssid = seq % 2 ? 0x1f3a : 0xb;
		neighbours_add(&kept, &s);
	}
	breached = response(30, 300000, 2100);
	breached.ssid = 0x1f3a;
	neighbours_add(&kept, &breached);
	file = write_it();
	assert_non_null(strstr(file, "\"role\": \"reflect\",\n\t\"run\": \"1f3a\",\n\t\"seq\": 30,"));
	assert_int_equal(count_of(file, "{\"seq\":"), 31);
	assert_int_equal(count_of(file, "{\"seq\":30,\"run\":\"000b\",\"T2_HW\":"), 1);
	assert_int_equal(count_of(file, "{\"seq\":29,\"T2_HW\":"), 1);
	assert_int_equal(count_of(file, "\"run\":\"000b\""), 15);
	assert_int_equal(count_of(file, "\"run\":"), 16);
}

static struct sample sent_through(struct sample s, int64_t queue_ns, int64_t driver_ns)
{
	s.source[KERNEL_QUEUE] = s.source[KERNEL_DRIVER] = SOURCE_KERNEL;
	s.time_ns[KERNEL_QUEUE] = s.time_ns[REFLECT_T3_USER] + queue_ns;
	s.time_ns[KERNEL_DRIVER] = s.time_ns[KERNEL_QUEUE] + driver_ns;
	return s;
}

/* With --stages full a part of the stage is to blame, if it has half of its excess; the times of the kernel are in the
 * packets. */
static void a_part_is_to_blame(void **state)
{
	static const struct {
		int64_t queue_ns, driver_ns;
		const char *blame;
	} rows[] = {
		{ 200500, 700, "\"blame\": \"app_to_qdisc\"" }, { 500, 200700, "\"blame\": \"qdisc_to_driver\"" },
		{ 500, 700, "\"blame\": \"driver_to_nic\"" }, { 70500, 70700, "\"blame\": \"app_to_nic\"" },
	};

	(void)state;
	begin_reflector(0);
	for (int k = STAGE_TRANSMIT_APP; k <= STAGE_TRANSMIT_DRIVER; k++) {
		place(&stage[k], 1);
		result.stage[k] = &stage[k];
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		kept = (struct neighbours){ .slot = slots, .held = &held };
		options.stages.detail = STAGES_FULL;
		for (uint32_t seq = 1; seq <= 30; seq++) {
			const struct sample s = sent_through(response(seq, 1000, 2000), 500, 700);

			neighbours_add(&kept, &s);
		}
		breached = sent_through(response(31, 1000, 202000), rows[i].queue_ns, rows[i].driver_ns);
		const char *file = write_it();

		if (!strstr(file, rows[i].blame))
			fail_msg("%zu: %s", i, strstr(file, "\"blame\""));
		assert_int_equal(count_of(file, "\"T3_SCHED\""), 31);
		assert_int_equal(count_of(file, "\"T3_TXSW\""), 31);
		options.stages.detail = STAGES_KERNEL;
		assert_non_null(strstr(write_it(), "\"blame\": \"app_to_nic\""));
	}
}

/* 19 packets give no median, so nothing is to blame. */
static void few_packets(void **state)
{
	(void)state;
	begin_reflector(19);
	const char *file = write_it();

	assert_int_equal(count_of(file, "typical_ns"), 0);
	assert_int_equal(count_of(file, "blame"), 0);
	assert_int_equal(count_of(file, "{\"seq\":"), 20);
}

static void the_last_thousand_before_the_breach(void **state)
{
	(void)state;
	begin_reflector(1500);
	struct sample s = response(1501, 900000, 2000); /* a breach before, which was not frozen */

	neighbours_add(&kept, &s);
	breached = response(1502, 300000, 2000);
	neighbours_add(&kept, &breached);
	s = response(1503, 1000, 2000); /* after it */
	neighbours_add(&kept, &s);
	const char *file = write_it();

	assert_int_equal(count_of(file, "{\"seq\":"), 1001);
	assert_int_equal(count_of(file, "{\"seq\":1500,"), 1);
	assert_int_equal(count_of(file, "{\"seq\":501,"), 1);
	assert_int_equal(count_of(file, "{\"seq\":500,"), 0);
	assert_int_equal(count_of(file, "{\"seq\":1501,"), 0);
	assert_int_equal(count_of(file, "{\"seq\":1503,"), 0);
	assert_non_null(strstr(strrchr(file, '{'), "\"seq\":1502,"));
}

/* Times that cannot be converted back are absent, and never another clock's. */
static void no_relation(void **state)
{
	(void)state;
	begin_reflector(30);
	facts.has_relation = false;
	is_related = false;
	const char *file = write_it();

	assert_int_equal(count_of(file, "T2_SW"), 0);
	assert_int_equal(count_of(file, "T2_HW"), 31);
	assert_int_equal(count_of(file, "hw_minus"), 0);
	assert_non_null(strstr(file, "\"relations\": {}"));
}

#define READING(at, s, t, d) { .began_ns = (at), .ended_ns = (at) + 5, .smi = s, .steal_ms = t, .disruptions = d }
#define KNOWN(v) { true, v }
#define NOT_KNOWN { false, 0 }

static void what_the_kernel_does_not_see(void **state)
{
	static struct activity activity = { .cpu = 2, .unreadables = 2, .unreadable = {
		"SMI count (only CPUs of Intel have one)", "time stolen by the hypervisor (/proc/stat: Permission denied)" } };
	static struct unseen_watch w = {
		.activity = &activity, .breach_ns = 500, .before = READING(400, NOT_KNOWN, KNOWN(70), KNOWN(8)),
		.smi_before = READING(100, KNOWN(3), NOT_KNOWN, NOT_KNOWN), .after = READING(600, KNOWN(5), KNOWN(90), KNOWN(9)),
	};

	(void)state;
	begin_reflector(30);
	facts.unseen = &w;
	for (int i = 0; i < 3; i++) {
		const char *file = write_it(), *at = strstr(file, "\"unseen\"");

		if (i == 2) { /* no freeze was read */
			assert_null(at);
			break;
		}
		golden("%.*s\n", (int)(strstr(at, "\"packets\"") - at), at);
		w.smi_before.smi.known = w.before.steal_ms.known = w.after.disruptions.known = false;
		if (i == 1)
			w.breach_ns = 0;
	}
	facts.unseen = NULL;
}

static void nowhere_to_write(void **state)
{
	(void)state;
	begin_reflector(30);
	int fd = open("/dev/null", O_RDONLY);

	assert_int_equal(breach_file_write(fd, &facts), -ENOTDIR);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_breach_of_a_reflector, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_host_without_a_threshold, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_runs_at_a_reflector, set_up, tear_down),
		cmocka_unit_test_setup_teardown(few_packets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_part_is_to_blame, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_last_thousand_before_the_breach, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_relation, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_kernel_does_not_see, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nowhere_to_write, set_up, tear_down),
	};
	int failed;

	strcpy(folder, "/tmp/rant-breach-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/breach.json", folder);
	failed = golden_run(tests);
	unlink(path);
	rmdir(folder);
	return failed;
}
