/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's text of a trace: each event, recorded lines of two kernels, truncated and hostile files. */
#include "explain/trace_text.c"

#include "util.h"

static struct trace_text read_bytes(const char *text, size_t bytes)
{
	FILE *file = fmemopen((void *)text, bytes, "r");
	struct trace_text t;

	assert_non_null(file);
	assert_int_equal(trace_text_read(&t, file), 0);
	fclose(file);
	return t;
}

static struct trace_text read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

#define LINE(event) "          <idle>-0       [001] d.h1. 32997.328821: " event "\n"

/* Text of a line, and its event. */
static const struct {
	const char *text;
	enum event_kind kind;
	int number;
	const char *name;
} events[] = {
	{ LINE("irq_handler_entry: irq=36 name=virtio1-req.0"), EVENT_IRQ_ENTRY, 36, "virtio1-req.0" },
	{ LINE("irq_handler_entry: irq=9 name=a b"), EVENT_IRQ_ENTRY, 9, "a b" },
	{ LINE("irq_handler_exit: irq=36 ret=handled"), EVENT_IRQ_EXIT, 36, NULL },
	{ LINE("softirq_raise: vec=9 [action=RCU]"), EVENT_SOFTIRQ_RAISE, 9, "RCU" },
	{ LINE("softirq_entry: vec=3 [action=NET_RX]"), EVENT_SOFTIRQ_ENTRY, SOFTIRQ_NET_RX, "NET_RX" },
	{ LINE("softirq_exit: vec=3 [action=NET_RX]"), EVENT_SOFTIRQ_EXIT, SOFTIRQ_NET_RX, "NET_RX" },
	{ LINE("local_timer_entry: vector=236"), EVENT_VECTOR_ENTRY, 236, "local timer" },
	{ LINE("local_timer_exit: vector=236"), EVENT_VECTOR_EXIT, 236, "local timer" },
	{ LINE("call_function_single_entry: vector=251"), EVENT_VECTOR_ENTRY, 251, "call function single" },
	{ LINE("reschedule_exit: vector=253"), EVENT_VECTOR_EXIT, 253, "reschedule" },
	{ LINE("ipi_entry: (Function call interrupts)"), EVENT_VECTOR_ENTRY, 0, "Function call interrupts" },
	{ LINE("nmi_handler: perf_event_nmi_handler() delta_ns: 1234 handled: 1"), EVENT_NMI, 1234,
	  "perf_event_nmi_handler" },
	{ LINE("sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=b c next_pid=22 "
	       "next_prio=49"), EVENT_SWITCH, 22, "b c" },
	{ LINE("sched_switch: prev_comm= ==> next_comm= prev_pid=1 prev_prio=120 prev_state=S ==> "
	       "next_comm= next_prio=1 next_pid=7 next_prio=-1"), EVENT_SWITCH, 7, " next_prio=1" },
	{ LINE("sched_waking: comm=rcu_preempt pid=15 prio=120 target_cpu=000"), EVENT_WAKING, 15, "rcu_preempt" },
	{ LINE("sched_waking: comm=x pid=1 pid=15 prio=120 success=1 target_cpu=000"), EVENT_WAKING, 15, "x pid=1" },
	{ LINE("cpu_idle: state=1 cpu_id=0"), EVENT_IDLE, 1, NULL },
	{ LINE("cpu_idle: state=4294967295 cpu_id=0"), EVENT_IDLE, -1, NULL },
	{ LINE("hrtimer_expire_entry: hrtimer=0000 function=tick_nohz_handler now=32997548018647"), EVENT_HRTIMER_ENTRY,
	  0, "tick_nohz_handler" },
	{ LINE("hrtimer_expire_exit: hrtimer=0000"), EVENT_HRTIMER_EXIT, 0, NULL },
	{ LINE("timer_expire_entry: timer=0000 function=process_timeout now=4303141631 baseclk=4303141631"),
	  EVENT_TIMER_ENTRY, 0, "process_timeout" },
	{ LINE("timer_expire_exit: timer=0000"), EVENT_TIMER_EXIT, 0, NULL },
	{ LINE("tasklet_entry: tasklet=0000 function=tasklet_action_common"), EVENT_TIMER_ENTRY, 0,
	  "tasklet_action_common" },
	{ LINE("tasklet_exit: tasklet=0000 function=tasklet_action_common"), EVENT_TIMER_EXIT, 0, NULL },
	{ LINE("workqueue_execute_start: work struct 0000: function linkwatch_event"), EVENT_WORK_START, 0,
	  "linkwatch_event" },
	{ LINE("workqueue_execute_end: work struct 0000: function linkwatch_event"), EVENT_WORK_END, 0, NULL },
	{ LINE("napi_poll: napi poll on napi struct 0000 for device eth1 work 5 budget 64"), EVENT_NAPI_POLL, 5,
	  "eth1" },
	{ LINE("netif_receive_skb_entry: dev=eth1 napi_id=0x2001 queue_mapping=1 len=240"), EVENT_RECEIVE, 0, "eth1" },
	{ LINE("napi_gro_receive_entry: dev=eth1 napi_id=0x2001"), EVENT_RECEIVE, 0, "eth1" },
	{ LINE("net_dev_queue: dev=hexv skbaddr=0000 len=254"), EVENT_QUEUE, 0, "hexv" },
	{ LINE("net_dev_start_xmit: dev=hexv queue_mapping=0 len=254"), EVENT_XMIT, 0, "hexv" },
	{ LINE("net_dev_xmit: dev=hexv skbaddr=0000 len=254 rc=0"), EVENT_XMIT_END, 0, "hexv" },
	{ LINE("sk_data_ready: family=2 protocol=17 func=sock_def_readable"), EVENT_DATA_READY, 17, NULL },
	{ LINE("consume_skb: skbaddr=0000 location=ip_recv_error+0x167/0x280"), EVENT_CONSUME, 0, NULL },
	{ LINE("tracing_mark_write: RANT_TEST_START role=emit REALTIME=1.2"), EVENT_PRINT, 0, NULL },
	{ LINE("kfree_skb: skbaddr=0000 reason: NOT_SPECIFIED"), EVENT_OTHER, 0, NULL },
};

static void each_event_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(events); i++) {
		struct trace_text t = read_text(events[i].text);

		if (t.count != 1 || t.event[0].kind != events[i].kind || t.event[0].number != events[i].number ||
		    (events[i].name && strcmp(trace_text_name(&t, t.event[0].name), events[i].name)))
			fail_msg("%s: %zu events, kind %d, number %d, name %s", events[i].text, t.count,
				 t.count ? t.event[0].kind : -1, t.count ? t.event[0].number : -1,
				 t.count ? trace_text_name(&t, t.event[0].name) : "");
		assert_int_equal(t.kinds, 1ULL << events[i].kind);
		assert_int_equal(t.unknown, events[i].kind == EVENT_OTHER);
		assert_int_equal(t.malformed, 0);
		trace_text_free(&t);
	}
}

static void beginning_of_a_line(void **state)
{
	struct trace_text t = read_text(
		"  a-b [001] x-7-123     [002] dNh2. 10.000001: x: y\n"	/* not a line: the name is too long */
		"     a-b [1] x 7-123     [002] dNh2. 10.000001: x: y\n"
		/* a kernel before 5.17, with the option tgid */
		"              rt-9       (     77) [000] .... 10.000002: x: y\n"
		"              rt-9       [000] 10.000003: x: y\n" /* without the option irq-info */);

	(void)state;
	assert_int_equal(t.malformed, 1);
	assert_int_equal(t.count, 3);
	assert_int_equal(t.event[0].pid, 123);
	assert_string_equal(trace_text_name(&t, t.event[0].task), "a-b [1] x 7");
	assert_int_equal(t.event[0].context, 'h');
	assert_int_equal(t.event[0].irqs, 'd');
	assert_int_equal(t.event[0].cpu, 2);
	assert_int_equal(t.event[0].ns, 10000001000);
	assert_int_equal(t.event[1].context, '.');
	assert_int_equal(t.event[1].pid, 9);
	assert_int_equal(t.event[2].context, 0);
	assert_int_equal(t.event[2].ns, 10000003000);
	trace_text_free(&t);
}

static void header_and_losses(void **state)
{
	struct trace_text t = read_text(
		"# Trace clock: mono_raw\n"
		"# Buffer: 1411 KiB per CPU; events lost before the first lines, of all CPUs: 105; of this CPU: 7\n#\n"
		LINE("x: y") "CPU:1 [LOST 123 EVENTS]\n" LINE("x: y") "CPU:0 [LOST EVENTS]\n" LINE("x: y"));

	(void)state;
	assert_string_equal(t.clock, "mono_raw");
	assert_int_equal(t.buffer_kib, 1411);
	assert_true(t.lost_known);
	assert_int_equal(t.lost_before, 105);
	assert_int_equal(t.lost, 124);
	assert_int_equal(t.count, 4);
	assert_int_equal(t.event[1].kind, EVENT_LOST);
	assert_int_equal(t.event[1].number, 123);
	assert_int_equal(t.event[1].cpu, 1);
	trace_text_free(&t);
}

static void markers(void **state)
{
	struct trace_text t = read_text(
		"       rant-loop-30191   [001] ...1. 7.000009: tracing_mark_write: RANT_TEST_START role=emit "
		"TAI=1.000000002\n"
		"       rant-loop-30191   [001] ...1. 8.000009: tracing_mark_write: RANT_BREACH role=reflect seq=2888\n"
		"           other-1       [000] ...1. 9.000009: tracing_mark_write: hello\n");

	(void)state;
	assert_string_equal(t.start.text, "RANT_TEST_START role=emit TAI=1.000000002");
	assert_string_equal(t.breach.text, "RANT_BREACH role=reflect seq=2888");
	assert_string_equal(t.breach.task, "rant-loop");
	assert_int_equal(t.breach.pid, 30191);
	assert_int_equal(t.breach.cpu, 1);
	assert_int_equal(t.breach.ns, 8000009000);
	trace_text_free(&t);
}

static void times_do_not_go_back(void **state)
{
	struct trace_text t = read_text("               a-1       [000] ..... 9.000000: x: y\n"
					"               a-1       [000] ..... 8.000000: x: y\n"
					"               a-1       [000] ..... 9.000000: x: y\n");

	(void)state;
	assert_int_equal(t.count, 2);
	assert_int_equal(t.malformed, 1);
	trace_text_free(&t);
}

static void file_that_ends_within_a_line(void **state)
{
	struct trace_text t = read_text(LINE("x: y") "          <idle>-0       [001] d.h1. 32997.328822: softirq_ent");

	(void)state;
	assert_true(t.cut_off);
	assert_int_equal(t.count, 1);
	trace_text_free(&t);
}

/* The oldest of too many events are dropped, and the memory is bounded. */
static void many_events(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	struct trace_text t;

	(void)state;
	for (unsigned i = 0; i < TRACE_TEXT_EVENTS_MAX + 10; i++)
		fprintf(out, "               a-1       [000] ..... %u.000000: x: y\n", i);
	fclose(out);
	t = read_bytes(text, bytes);
	assert_int_equal(t.dropped, TRACE_TEXT_EVENTS_MAX / 2);
	assert_int_equal(t.count, TRACE_TEXT_EVENTS_MAX / 2 + 10);
	assert_int_equal(t.event[t.count - 1].ns, (TRACE_TEXT_EVENTS_MAX + 9) * NS_PER_S);
	trace_text_free(&t);
	free(text);
}

static void many_names(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	struct trace_text t;

	(void)state;
	for (unsigned i = 0; i < TRACE_TEXT_NAMES_MAX + 10; i++)
		fprintf(out, "%16u-1       [000] ..... 1.000000: x: y\n", i);
	fclose(out);
	t = read_bytes(text, bytes);
	assert_int_equal(t.count, TRACE_TEXT_NAMES_MAX + 10);
	assert_string_equal(trace_text_name(&t, t.event[t.count - 1].task), "?");
	trace_text_free(&t);
	free(text);
}

static void names_control_no_terminal(void **state)
{
	struct trace_text t = read_text("      a\x1b[31m\xc2\x9bzz-1       [000] ..... 1.000000: irq_handler_entry: "
					"irq=1 name=\x1b]0\n");

	(void)state;
	assert_int_equal(t.count, 1);
	for (uint32_t i = 0; i < t.names->count; i++)
		for (const char *c = t.names->name[i]; *c; c++)
			assert_true(*c >= ' ' && *c < 0x7f);
	trace_text_free(&t);
}

/* Events with changed, removed and inserted octets: no crash, and each event is within its limits. */
static void mutated_text(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		char text[2048] = "# Trace clock: mono\n";
		size_t bytes;
		struct trace_text t;

		for (int i = 0; i < 8; i++)
			text_add(text, sizeof(text), "%s", events[util_below(COUNT_OF(events))].text);
		bytes = strlen(text);
		for (uint64_t n = util_below(12); n && bytes > 1; n--) {
			const size_t at = util_below(bytes);

			switch (util_below(4)) {
			case 0:
				text[at] = (char)util_random();
				break;
			case 1:
				memmove(text + at, text + at + 1, bytes - at - 1);
				bytes--;
				break;
			case 2:
				text[at] = "0123456789=-[].: \n"[util_below(18)];
				break;
			default:
				bytes = at + 1; /* a truncated file */
			}
		}
		t = read_bytes(text, bytes);
		for (size_t i = 0; i < t.count; i++) {
			const struct event *e = &t.event[i];

			assert_true(e->kind < EVENT_KINDS && e->cpu < TRACE_TEXT_CPUS_MAX && e->pid >= 0);
			assert_true(e->name < t.names->count && e->task < t.names->count);
			assert_true(!i || e->ns >= e[-1].ns);
		}
		trace_text_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_read), cmocka_unit_test(beginning_of_a_line),
		cmocka_unit_test(header_and_losses), cmocka_unit_test(markers), cmocka_unit_test(times_do_not_go_back),
		cmocka_unit_test(file_that_ends_within_a_line), cmocka_unit_test(many_events),
		cmocka_unit_test(many_names), cmocka_unit_test(names_control_no_terminal),
		cmocka_unit_test(mutated_text),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
