/* build: sources=explain/trace_text.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The owner of each nanosecond: each class, and sums over random streams of events. */
#include "explain/owner.c"

#include "util.h"

#define OWN_PID 77

static struct trace_text text;
static struct owners owners;

/* Reads lines "US TASK-PID CPU CONTEXT EVENT", separated by newlines. */
static void given(const char *lines)
{
	char *whole = NULL, *copy = strdup(lines), *save;
	size_t bytes = 0;
	FILE *out = open_memstream(&whole, &bytes), *file;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char task[32], context;
		unsigned us, pid, cpu;
		int used = 0;

		if (*line == '#' || *line == 'C') {
			fprintf(out, "%s\n", line);
			continue;
		}
		if (sscanf(line, "%u %31[^-]-%u %u %c %n", &us, task, &pid, &cpu, &context, &used) != 5 || !used)
			fail_msg("%s", line);
		fprintf(out, "%16s-%-7u [%03u] ..%c.. 0.%06u: %s\n", task, pid, cpu, context, us, line + used);
	}
	fclose(out);
	file = fmemopen(whole, bytes, "r");
	assert_int_equal(trace_text_read(&text, file), 0);
	assert_int_equal(text.malformed, 0);
	fclose(file);
	free(whole);
	free(copy);
	assert_int_equal(owners_find(&owners, &text, OWN_PID), 0);
}

static int done(void **state)
{
	(void)state;
	owners_free(&owners);
	trace_text_free(&text);
	return 0;
}

/* "CLASS name number detail us; ..." of an interval in microseconds, in the order in which the owners come. */
static const char *parts_of(int cpu, int from_us, int to_us)
{
	static const char *const classes[] = {
		[OWNER_ABSENT] = "absent", [OWNER_LOST] = "lost", [OWNER_NMI] = "nmi", [OWNER_IRQ] = "irq",
		[OWNER_VECTOR] = "vector", [OWNER_SOFTIRQ] = "softirq", [OWNER_THREAD] = "thread",
		[OWNER_IDLE] = "idle", [OWNER_RANT] = "rant", [OWNER_UNSEEN] = "not seen",
	};
	static char line[1024];
	struct owner_parts p = { .count = 0 };

	*line = '\0';
	owner_add_interval(&p, &owners, cpu, from_us * NS_PER_US, to_us * NS_PER_US);
	for (int i = 0; i < p.count; i++) {
		const struct owner *o = &p.part[i].owner;

		text_add(line, sizeof(line), "%s%s", i ? "; " : "", classes[o->class]);
		if (o->name)
			text_add(line, sizeof(line), " %s", trace_text_name(&text, o->name));
		if (o->number)
			text_add(line, sizeof(line), " %d", o->number);
		if (o->detail)
			text_add(line, sizeof(line), " (%s)", trace_text_name(&text, o->detail));
		text_add(line, sizeof(line), " %g", (double)p.part[i].ns / 1000);
	}
	return line;
}

#define SWITCH(from, from_pid, state, to, to_pid, prio) ". sched_switch: prev_comm=" from " prev_pid=" from_pid \
	" prev_prio=120 prev_state=" state " ==> next_comm=" to " next_pid=" to_pid " next_prio=" prio "\n"
#define BEGIN "100 rant-77 1 . x: y\n"

static const struct {
	const char *name, *events, *parts;
} cases[] = {
	{ "interrupt above thread", BEGIN "110 rant-77 1 h irq_handler_entry: irq=23 name=ahci\n"
	  "114 rant-77 1 h irq_handler_exit: irq=23 ret=handled\n200 rant-77 1 . x: y\n",
	  "rant rant 77 96; irq ahci 23 4" },
	{ "interrupt above softirq, with the functions of both",
	  BEGIN "110 rant-77 1 s softirq_entry: vec=1 [action=TIMER]\n"
	  "112 rant-77 1 s timer_expire_entry: timer=0 function=wb_timer_fn now=1\n"
	  "120 rant-77 1 H local_timer_entry: vector=236\n"
	  "121 rant-77 1 H hrtimer_expire_entry: hrtimer=0 function=tick\n"
	  "125 rant-77 1 H hrtimer_expire_exit: hrtimer=0\n126 rant-77 1 H local_timer_exit: vector=236\n"
	  "140 rant-77 1 s timer_expire_exit: timer=0\n141 rant-77 1 s softirq_exit: vec=1 [action=TIMER]\n"
	  "200 rant-77 1 . x: y\n",
	  "rant rant 77 69; softirq TIMER 1 3; softirq TIMER 1 (wb_timer_fn) 22; vector local timer 236 2; "
	  "vector local timer 236 (tick) 4" },
	{ "NMI above interrupt", BEGIN "110 rant-77 1 h irq_handler_entry: irq=23 name=ahci\n"
	  "130 rant-77 1 z nmi_handler: perf() delta_ns: 5000 handled: 1\n"
	  "140 rant-77 1 h irq_handler_exit: irq=23 ret=handled\n200 rant-77 1 . x: y\n",
	  "rant rant 77 70; irq ahci 23 25; nmi perf 5" },
	{ "NMI that is longer than the time since the last event",
	  BEGIN "110 rant-77 1 . x: y\n112 rant-77 1 z nmi_handler: perf() delta_ns: 5000 handled: 1\n"
	  "200 rant-77 1 . x: y\n",
	  "rant rant 77 98; nmi perf 2" },
	{ "another thread, and a kworker with its function that is preempted",
	  BEGIN "110 rant-77 1 " SWITCH("rant", "77", "R", "kw", "5", "120")
	  "115 kw-5 1 . workqueue_execute_start: work struct 0: function f\n"
	  "120 kw-5 1 " SWITCH("kw", "5", "R", "rt", "6", "49")
	  "150 rt-6 1 " SWITCH("rt", "6", "S", "kw", "5", "120")
	  "160 kw-5 1 . workqueue_execute_end: work struct 0: function f\n"
	  "161 kw-5 1 " SWITCH("kw", "5", "I", "rant", "77", "120")
	  "200 rant-77 1 . x: y\n",
	  "rant rant 77 49; thread kw 5 6; thread kw 5 (f) 15; thread rt 6 30" },
	{ "a kworker whose number shares a place with another keeps no function of that",
	  BEGIN "110 rant-77 1 " SWITCH("rant", "77", "R", "kw", "5", "120")
	  "115 kw-5 1 . workqueue_execute_start: work struct 0: function f\n"
	  "120 kw-5 1 " SWITCH("kw", "5", "R", "kw", "261", "120") "130 kw-261 1 " SWITCH("kw", "261", "I", "rant", "77", "120")
	  "200 rant-77 1 . x: y\n",
	  "rant rant 77 80; thread kw 5 5; thread kw 5 (f) 5; thread kw 261 10" },
	{ "PREEMPT_RT: a softirq in a thread, preempted, without a letter for its context",
	  BEGIN "110 rant-77 1 " SWITCH("rant", "77", "R", "ksoft", "5", "120")
	  "112 ksoft-5 1 . softirq_entry: vec=3 [action=NET_RX]\n120 ksoft-5 1 . x: y\n"
	  "130 ksoft-5 1 " SWITCH("ksoft", "5", "R", "rt", "6", "49") "150 rt-6 1 " SWITCH("rt", "6", "S", "ksoft", "5", "120")
	  "155 ksoft-5 1 . softirq_exit: vec=3 [action=NET_RX]\n200 ksoft-5 1 . x: y\n",
	  "rant rant 77 10; thread ksoft 5 47; softirq NET_RX 3 23; thread rt 6 20" },
	{ "PREEMPT_RT: a softirq in a thread, preempted, with the letter of its context",
	  BEGIN "110 rant-77 1 " SWITCH("rant", "77", "R", "ksoft", "5", "120")
	  "112 ksoft-5 1 s softirq_entry: vec=3 [action=NET_RX]\n120 ksoft-5 1 s x: y\n"
	  "130 ksoft-5 1 s sched_switch: prev_comm=ksoft prev_pid=5 prev_prio=120 prev_state=R ==> next_comm=rt next_pid=6 next_prio=49\n"
	  "140 rt-6 1 . x: y\n"
	  "150 rt-6 1 " SWITCH("rt", "6", "S", "ksoft", "5", "120")
	  "155 ksoft-5 1 s softirq_exit: vec=3 [action=NET_RX]\n200 ksoft-5 1 . x: y\n",
	  "rant rant 77 10; thread ksoft 5 47; softirq NET_RX 3 23; thread rt 6 20" },
	{ "idle states", "100 <idle>-0 1 . cpu_idle: state=3 cpu_id=1\n"
	  "150 <idle>-0 1 . cpu_idle: state=4294967295 cpu_id=1\n"
	  "160 <idle>-0 1 " SWITCH("swapper/1", "0", "R", "rant", "77", "120")
	  "200 rant-77 1 . x: y\n",
	  "idle 3 50; idle -1 10; rant rant 77 40" },
	{ "an exit that is not there ends at the next line without the context",
	  BEGIN "110 rant-77 1 h irq_handler_entry: irq=23 name=ahci\n120 rant-77 1 . x: y\n200 rant-77 1 . x: y\n",
	  "rant rant 77 90; irq ahci 23 10" },
	{ "a switch that is not there is seen in the next line", BEGIN "110 rant-77 1 . x: y\n150 other-6 1 . x: y\n"
	  "180 other-6 1 . x: y\n200 other-6 1 . x: y\n", "rant rant 77 10; lost 40; thread other 6 50" },
	{ "lost events", BEGIN "110 rant-77 1 . x: y\nCPU:1 [LOST 9 EVENTS]\n"
	  "150 rant-77 1 . x: y\n200 rant-77 1 . x: y\n",
	  "rant rant 77 60; lost 40" },
	{ "a buffer that begins later", "# Buffer: 9 KiB per CPU; events lost before the first lines, of all CPUs: 1\n"
	  "90 x-5 0 . x: y\n150 rant-77 1 . x: y\n200 rant-77 1 . x: y\n", "absent 50; rant rant 77 50" },
	{ "a CPU without an event at the beginning of a complete buffer",
	  "# Buffer: 9 KiB per CPU; events lost before the first lines, of all CPUs: 0\n"
	  "90 x-5 0 . x: y\n150 rant-77 1 . x: y\n200 rant-77 1 . x: y\n", "rant rant 77 100" },
	{ "a CPU whose first event of a complete buffer is an interrupt",
	  "# Buffer: 9 KiB per CPU; events lost before the first lines, of all CPUs: 0\n"
	  "90 x-5 0 . x: y\n150 rant-77 1 h local_timer_entry: vector=236\n160 rant-77 1 h local_timer_exit: vector=236\n"
	  "200 rant-77 1 . x: y\n", "rant rant 77 90; vector local timer 236 10" },
	{ "a CPU whose first event of a complete buffer is an interrupt of a softirq",
	  "# Buffer: 9 KiB per CPU; events lost before the first lines, of all CPUs: 0\n"
	  "90 x-5 0 . x: y\n150 rant-77 1 H local_timer_entry: vector=236\n160 rant-77 1 H local_timer_exit: vector=236\n"
	  "200 rant-77 1 . x: y\n", "absent 50; vector local timer 236 10; rant rant 77 40" },
	{ "a CPU whose first event of a complete buffer is a switch",
	  "# Buffer: 9 KiB per CPU; events lost before the first lines, of all CPUs: 0\n"
	  "90 x-5 0 . x: y\n150 other-6 1 " SWITCH("other", "6", "S", "rant", "77", "120")
	  "200 rant-77 1 . x: y\n", "thread other 6 50; rant rant 77 50" },
	{ "a CPU whose first event of a complete buffer is an NMI that began before",
	  "# Buffer: 9 KiB per CPU; events lost before the first lines, of all CPUs: 0\n"
	  "90 x-5 0 . x: y\n150 rant-77 1 . nmi_handler: perf() delta_ns: 70000 handled: 1\n200 rant-77 1 . x: y\n",
	  "nmi perf 50; rant rant 77 50" },
	{ "a buffer that ends earlier", BEGIN "160 rant-77 1 . x: y\n", "rant rant 77 60; absent 40" },
	{ "a CPU that is not traced", "100 x-5 0 . x: y\n200 x-5 0 . x: y\n", "absent 100" },
	{ "no event", "", "absent 100" },
};

static void each_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		given(*cases[i].events ? cases[i].events : "#\n");
		if (strcmp(parts_of(1, 100, 200), cases[i].parts))
			fail_msg("%s:\n%s\nexpected:\n%s", cases[i].name, parts_of(1, 100, 200), cases[i].parts);
		done(NULL);
	}
}

/* Ticks of a CPU in a thread, from 0 on every 4 ms until to_us. */
static void add_ticks(char *lines, size_t bytes, const char *thread, int cpu, int to_us)
{
	for (int us = 0; us <= to_us; us += 4000)
		text_add(lines, bytes, "%d %s %d h hrtimer_expire_entry: hrtimer=0 function=tick_nohz_handler now=1\n",
			 us + cpu, thread, cpu);
}

static int by_time(const void *a, const void *b)
{
	return atoi(*(char *const *)a) - atoi(*(char *const *)b);
}

/* The lines in the order of their times. */
static void given_sorted(char *lines)
{
	static char sorted[65536];
	char *line[512], *save;
	size_t n = 0;

	for (char *next = strtok_r(lines, "\n", &save); next; next = strtok_r(NULL, "\n", &save))
		line[n++] = next;
	qsort(line, n, sizeof(*line), by_time);
	*sorted = '\0';
	for (size_t i = 0; i < n; i++)
		text_add(sorted, sizeof(sorted), "%s\n", line[i]);
	given(sorted);
}

/* Both CPUs have ticks until 24 ms; CPU 1 has the next event at 60 ms. */
static void standstill_of_the_machine(void **state)
{
	static const struct {
		const char *name, *thread, *other;
		int other_until_us, until_us; /* ticks of the other CPU, and the next event of this one */
		const char *parts; /* of 20 to 70 ms of CPU 1 */
	} rows[] = {
		{ "all CPUs", "rant-77", "x-5", 24000, 60000, "rant rant 77 14000; not seen 35998" },
		{ "the other CPU goes on", "rant-77", "x-5", 100000, 60000, "rant rant 77 49998" },
		{ "the other CPU is idle, which stops its tick", "rant-77", "<idle>-0", 24000, 60000, "rant rant 77 49998" },
		{ "the other CPU has no tick, by nohz_full", "rant-77", "x-5", 0, 60000, "rant rant 77 49998" },
		{ "this CPU alone is traced", "rant-77", "x-5", -1, 60000, "rant rant 77 49998" },
		{ "shorter than four ticks", "rant-77", "x-5", 24000, 39000, "rant rant 77 49998" },
		{ "the kernel stops all CPUs", "migration/1-9", "migration/2-10", 24000, 60000, "thread migration/1 9 49998" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[16384] = "";

		add_ticks(lines, sizeof(lines), rows[i].thread, 1, 24000);
		add_ticks(lines, sizeof(lines), rows[i].other, 2, rows[i].other_until_us);
		for (int us = rows[i].until_us; us <= 70000; us += 1000)
			text_add(lines, sizeof(lines), "%d %s 1 . x: y\n", us, rows[i].thread);
		given_sorted(lines);
		/* 2 us: from the tick of CPU 1 to the one of CPU 2, from where all is silent */
		if (strcmp(parts_of(1, 20002, 70000), rows[i].parts))
			fail_msg("%s:\n%s\nexpected:\n%s", rows[i].name, parts_of(1, 20002, 70000), rows[i].parts);
		done(NULL);
	}
}

static void no_such_cpu(void **state)
{
	(void)state;
	given(BEGIN "200 rant-77 1 . x: y\n");
	assert_string_equal(parts_of(-1, 100, 200), "absent 100");
	assert_string_equal(parts_of(TRACE_TEXT_CPUS_MAX, 100, 200), "absent 100");
	assert_string_equal(parts_of(1, 150, 150), "");
	done(NULL);
}

static struct event random_event(int64_t ns)
{
	return (struct event){
		.ns = ns, .name = (uint32_t)util_below(5), .task = (uint32_t)util_below(5),
		.pid = (int32_t)util_below(4) + 75, .number = (int32_t)util_below(200),
		.cpu = (uint16_t)util_below(3), .kind = (uint8_t)util_below(EVENT_KINDS),
		.context = ".hHsSzZ"[util_below(7)], .prio = 120,
	};
}

/* Whatever the events are, the parts of an interval sum to it, and those of two halves to those of the whole. */
static void parts_sum_to_the_interval(void **state)
{
	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct event events[64];
		struct trace_text t = { .event = events, .count = util_below(COUNT_OF(events)),
					.lost_known = util_below(2) };
		int64_t ns = 1000, from_ns, to_ns, middle_ns, sum_ns = 0;
		struct owner_parts whole = { .count = 0 }, halves = { .count = 0 };
		const int cpu = (int)util_below(4);

		for (size_t i = 0; i < t.count; i++)
			events[i] = random_event(ns += (int64_t)util_below(3) * (int64_t)util_below(50));
		from_ns = (int64_t)util_below(4000);
		to_ns = from_ns + (int64_t)util_below(4000);
		middle_ns = from_ns + (int64_t)util_below((uint64_t)(to_ns - from_ns + 1));
		assert_int_equal(owners_find(&owners, &t, OWN_PID), 0);
		owner_add_interval(&whole, &owners, cpu, from_ns, to_ns);
		owner_add_interval(&halves, &owners, cpu, from_ns, middle_ns);
		owner_add_interval(&halves, &owners, cpu, middle_ns, to_ns);
		assert_int_equal(whole.count, halves.count);
		for (int i = 0; i < whole.count; i++) {
			assert_true(whole.part[i].ns > 0);
			sum_ns += whole.part[i].ns;
			assert_true(owner_is_same(&whole.part[i].owner, &halves.part[i].owner, true));
			assert_int_equal(whole.part[i].ns, halves.part[i].ns);
		}
		assert_int_equal(sum_ns, to_ns - from_ns);
		owners_free(&owners);
	}
}

static void more_owners_than_a_list_holds(void **state)
{
	struct owner_parts p = { .count = 0 };
	int64_t sum_ns = 0;

	(void)state;
	for (int i = 0; i < 3 * OWNER_PARTS_MAX; i++)
		owner_add(&p, &(struct owner){ .class = OWNER_THREAD, .number = i }, 10);
	assert_int_equal(p.count, OWNER_PARTS_MAX);
	assert_int_equal(p.part[OWNER_PARTS_MAX - 1].owner.class, OWNER_OTHERS);
	for (int i = 0; i < p.count; i++)
		sum_ns += p.part[i].ns;
	assert_int_equal(sum_ns, 30 * OWNER_PARTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_class), cmocka_unit_test(standstill_of_the_machine), cmocka_unit_test(no_such_cpu),
		cmocka_unit_test(parts_sum_to_the_interval), cmocka_unit_test(more_owners_than_a_list_holds),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
