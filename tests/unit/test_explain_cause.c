/* build: sources=explain/[a-z]*.c,analyse/tree.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cause of a breach, from folders as --save-trace writes them: a stage that takes 6 us in ordinary packets, and a
 * disturbance of each class; a recorded trace; damaged folders.
 */
#include "explain/cause.c"

#include "golden.h"

#include "explain/text.h"
#include "explain/why.h"

#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#define REAL_S 1000 /* CLOCK_REALTIME minus the trace clock */
#define ORDINARY 20
#define PACKET_US 1000 /* between ordinary packets; the late packet comes after them */
#define LATE_US ((ordinary + 1) * PACKET_US)
#define END_US (LATE_US + 3000) /* the marker of the breach */

static char folder[64];
static int ordinary = ORDINARY;
static int drift_ppm; /* of CLOCK_REALTIME against the trace clock */
static char said[4096];

/* ---- A folder ---------------------------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text, size_t bytes)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	if (!text)
		return;
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	fclose(file);
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test_explain.XXXXXX");
	assert_non_null(mkdtemp(folder));
	golden_hide("FOLDER", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	write_file("all.txt", NULL, 0);
	write_file("breach.json", NULL, 0);
	return rmdir(folder);
}

/* The data for the outputs: parts that sum to the stage, and the same cause as in the text. */
static void check_data(const struct cause *c, const struct evidence *e)
{
	int64_t value_ns = 0, typical_ns = 0;
	struct why w;

	why_take(&w, c, e);
	assert_string_equal(w.not_explained, "");
	assert_in_range(w.parts, 1, CAUSE_PARTS);
	for (unsigned i = 0; i < w.parts; i++) {
		value_ns += w.part[i].value_ns;
		typical_ns += w.part[i].typical_ns;
	}
	assert_int_equal(value_ns, c->ns);
	assert_int_equal(typical_ns, c->typical_ns);
	assert_int_equal(w.value_ns, c->ns);
	assert_int_equal(w.class < OWNER_CLASSES, w.named > 0);
}

/* Explains the folder; the text, or the line on stderr. */
static const char *explain(void)
{
	struct evidence *e = calloc(1, sizeof(*e));
	struct owners *o = calloc(1, sizeof(*o));
	struct cause *c = calloc(1, sizeof(*c));
	struct util_capture capture;
	char why[CAUSE_REASON_BYTES];
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");
	int64_t sum_ns = 0;
	int error;

	*text = '\0';
	util_capture_begin(&capture);
	error = evidence_open(e, folder, why);
	if (!error)
		error = cause_find(c, o, e, why);
	if (!error)
		explain_write(out, c, e, "");
	else
		warnx("--explain %s: %s", folder, why);
	util_capture_end(&capture, said, sizeof(said));
	fclose(out);
	if (!error) {
		unsigned lines = 0;

		for (const char *at = text; *at; at++)
			lines += *at == '\n';
		assert_in_range(lines, 4, EXPLAIN_LINES_MAX);
		for (int k = 0; k < SECTIONS; k++) {
			int64_t part_ns = 0;

			for (int i = 0; i < c->section[k].parts.count; i++)
				part_ns += c->section[k].parts.part[i].ns;
			assert_int_equal(part_ns, c->section[k].ns);
			sum_ns += part_ns;
		}
		assert_int_equal(sum_ns, c->ns);
		check_data(c, e);
	}
	owners_free(o);
	evidence_close(e);
	free(e);
	free(o);
	free(c);
	return error ? said : text;
}

/* ---- Scenarios --------------------------------------------------------------------------------------------------- */

struct scenario {
	const char *name;
	/* Lines "US TASK-PID CPU CONTEXT EVENT" around the late packet, with times after its arrival. */
	const char *lines;
	int kernel_us, app_us; /* receive times of the late packet after its arrival; 0: absent */
	int send_us, wire_us; /* transmit times */
	const char *blame;
	int first; /* ordinary packet with which the trace begins */
	bool thread_is_late; /* the buffer of its CPU begins later than that of others */
	bool no_details;
	bool no_irqs; /* breach.json has no interrupt of the NIC */
	const char *unseen; /* JSON */
	int queue_us, driver_us; /* transmit times of the kernel, with --stages full */
	bool marker_by_nic; /* the times of user space and the kernel in the marker are by the clock of the NIC */
};

static void put_event(FILE *out, int us, const char *task, int pid, int cpu, char context, const char *event)
{
	fprintf(out, "%16s-%-7d [%03d] ..%c.. %d.%06d: %s\n", task, pid, cpu, context, us / 1000000, us % 1000000,
		event);
}

/* An ordinary packet: interrupt 45 on CPU 1, the thread polls on CPU 2. */
static void put_ordinary(FILE *out, int us)
{
	put_event(out, us + 1, "<idle>", 0, 1, 'h', "irq_handler_entry: irq=45 name=eth1-rx-1");
	put_event(out, us + 1, "<idle>", 0, 1, 'h', "irq_handler_exit: irq=45 ret=handled");
	put_event(out, us + 2, "<idle>", 0, 1, 's', "softirq_entry: vec=3 [action=NET_RX]");
	put_event(out, us + 3, "<idle>", 0, 1, 's', "netif_receive_skb_entry: dev=eth1 len=240");
	put_event(out, us + 4, "<idle>", 0, 1, 's', "sk_data_ready: family=2 protocol=17 func=sock_def_readable");
	put_event(out, us + 5, "<idle>", 0, 1, 's', "softirq_exit: vec=3 [action=NET_RX]");
	put_event(out, us + 8, "rant-loop", 77, 2, '.', "net_dev_queue: dev=eth1 len=254");
	put_event(out, us + 9, "rant-loop", 77, 2, '.', "net_dev_start_xmit: dev=eth1 len=254");
}

static void put_lines(FILE *out, const char *lines, int base_us)
{
	char *copy = strdup(lines), *save;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char task[48], context, *dash;
		int us, cpu, used = 0;

		if (*line == 'C') {
			fprintf(out, "%s\n", line);
			continue;
		}
		if (sscanf(line, "%d %47s %d %c %n", &us, task, &cpu, &context, &used) != 4 || !used)
			fail_msg("%s", line);
		dash = strrchr(task, '-');
		*dash = '\0';
		put_event(out, base_us + us, task, atoi(dash + 1), cpu, context, line + used);
	}
	free(copy);
}

static void put_time(FILE *out, bool json, const char *name, int us, int after_us)
{
	const int64_t ns = (us + after_us) * NS_PER_US + (int64_t)(us + after_us - END_US) * drift_ppm / 1000;

	if (!after_us)
		return;
	fprintf(out, json ? ",\"%s\":%d%09d" : " %s=%d.%09d", name, REAL_S + (int)(ns / NS_PER_S),
		(int)(ns % NS_PER_S));
}

/* The NIC's clock is 37 s ahead. */
static void put_times(FILE *out, bool json, int us, const struct scenario *s)
{
	const int ahead_us = 37000000, user_us = us + (s->marker_by_nic && !json ? ahead_us : 0);

	put_time(out, json, "T2_HW", us, ahead_us);
	put_time(out, json, "T2_KERNEL", user_us, s->kernel_us);
	put_time(out, json, "T2_SW", user_us, s->app_us);
	put_time(out, json, "T3_SW", user_us, s->send_us);
	/* In the marker they are absent: known after the reply only. */
	put_time(out, json, "T3_SCHED", us, json ? s->queue_us : 0);
	put_time(out, json, "T3_TXSW", us, json ? s->driver_us : 0);
	put_time(out, json, "T3_HW", us + ahead_us, s->wire_us);
}

static void write_text(const struct scenario *s, const char *clock)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	fprintf(out, "# rant: trace of a breach of 'reflect', sequence number 500\n# Trace clock: %s\n"
		"# Buffer: 100 KiB per CPU; events lost before the first lines, of all CPUs: 17\n#\n", clock);
	if (!s->thread_is_late) {
		put_event(out, s->first * PACKET_US + 500, "rant-loop", 77, 2, '.', "local_timer_entry: vector=236");
		put_event(out, s->first * PACKET_US + 500, "rant-loop", 77, 2, 'h', "local_timer_exit: vector=236");
	}
	put_event(out, s->first * PACKET_US + 500, "<idle>", 0, 1, '.', "cpu_idle: state=0 cpu_id=1");
	put_event(out, s->first * PACKET_US + 500, "other", 9, 3, '.',
		  "sched_switch: prev_comm=other prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=swapper/3 "
		  "next_pid=0 next_prio=120");
	for (int i = s->first + 1; i <= ordinary; i++)
		put_ordinary(out, i * PACKET_US);
	put_lines(out, s->lines, LATE_US);
	fprintf(out, "%16s-%-7d [002] ..... 0.%06d: tracing_mark_write: RANT_BREACH role=reflect seq=500 latency_ns=1 "
		"threshold_ns=1", "rant-loop", 77, END_US);
	put_times(out, false, LATE_US, s);
	/* The trace clock is the same as TAI, too: the text serves for each clock. */
	fprintf(out, " REALTIME=%d.%06d000 TAI=0.%06d000 MONOTONIC_RAW=0.%06d000\n", REAL_S, END_US, END_US, END_US);
	fclose(out);
	write_file("all.txt", text, bytes);
	free(text);
}

static void write_json(const struct scenario *s)
{
	static const struct scenario usual = { .kernel_us = 3, .app_us = 6, .send_us = 7, .queue_us = 8,
					       .driver_us = 10, .wire_us = 11 };
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	fprintf(out, "{\"schema\":1,\"role\":\"reflect\",\"seq\":500,\"host_cpu\":2,\"interface\":\"eth1\","
		"\"irqs\":[%s],\"blame\":\"%s\","
		"\"relations\":{\"hw_minus_realtime_ns\":37000000000,\"hw_bound_ns\":200},\"packets\":[",
		s->no_irqs ? "" : "{\"irq\":44,\"name\":\"eth1\"},{\"irq\":45,\"name\":\"eth1-rx-1\"}", s->blame);
	for (int i = 1; i <= ordinary; i++) {
		fprintf(out, "{\"seq\":%d", i);
		put_times(out, true, i * PACKET_US, &usual);
		fprintf(out, "},");
	}
	fprintf(out, "{\"seq\":500");
	put_times(out, true, LATE_US, s);
	fprintf(out, "}]%s%s}\n", s->unseen ? ",\"unseen\":" : "", s->unseen ? s->unseen : "");
	fclose(out);
	write_file("breach.json", s->no_details ? NULL : text, bytes);
	free(text);
}

#define IRQ(us) us " <idle>-0 1 h irq_handler_entry: irq=45 name=eth1-rx-1\n" \
	us " <idle>-0 1 h irq_handler_exit: irq=45 ret=handled\n"
#define RX(us) us " <idle>-0 1 s softirq_entry: vec=3 [action=NET_RX]\n"
#define RECEIVE(us) us " <idle>-0 1 s netif_receive_skb_entry: dev=eth1 len=240\n"
#define GRO(us) us " <idle>-0 1 s napi_gro_receive_entry: dev=eth1 len=240\n"
#define READY(us) us " <idle>-0 1 s sk_data_ready: family=2 protocol=17 func=f\n"
#define RX_EXIT(us) us " <idle>-0 1 s softirq_exit: vec=3 [action=NET_RX]\n"
#define FAST IRQ("1") RX("2") RECEIVE("3") READY("4") RX_EXIT("5")
#define SWITCH(us, cpu, from, from_pid, to, to_pid, prio) us " " from "-" from_pid " " cpu " . sched_switch: " \
	"prev_comm=" from " prev_pid=" from_pid " prev_prio=120 prev_state=R ==> next_comm=" to " next_pid=" to_pid \
	" next_prio=" prio "\n"

#define AT(kernel, app, send, wire) .kernel_us = kernel, .app_us = app, .send_us = send, .wire_us = wire

static const struct scenario scenarios[] = {
	{ .name = "softirq with the function of its timer, and another interrupt",
	  .lines = IRQ("1") "2 <idle>-0 1 s softirq_entry: vec=1 [action=TIMER]\n"
	  "2 <idle>-0 1 s timer_expire_entry: timer=0 function=wb_timer_fn now=1\n"
	  "100 <idle>-0 1 H irq_handler_entry: irq=23 name=ahci\n"
	  "104 <idle>-0 1 H irq_handler_exit: irq=23 ret=handled\n"
	  "263 <idle>-0 1 s timer_expire_exit: timer=0\n264 <idle>-0 1 s softirq_exit: vec=1 [action=TIMER]\n"
	  RX("264") RECEIVE("265") READY("266") RX_EXIT("267"), 265, 268, 269, 273, "nic_to_app" },
	{ .name = "interrupt held back while a thread ran",
	  .lines = SWITCH("-50", "1", "<idle>", "0", "locker", "9", "120")
	  "301 locker-9 1 h irq_handler_entry: irq=45 name=eth1-rx-1\n"
	  "301 locker-9 1 h irq_handler_exit: irq=45 ret=handled\n"
	  "302 locker-9 1 s softirq_entry: vec=3 [action=NET_RX]\n"
	  "303 locker-9 1 s netif_receive_skb_entry: dev=eth1 len=240\n", 303, 306, 307, 311, "nic_to_app" },
	{ .name = "interrupt held back while the CPU was idle",
	  .lines = "-50 <idle>-0 1 . cpu_idle: state=3 cpu_id=1\n" IRQ("301") RX("302") RECEIVE("303") READY("304")
	  RX_EXIT("305"),
	  303, 306, 307, 311, "nic_to_app" },
	{ .name = "deferred to ksoftirqd",
	  .lines = IRQ("1") SWITCH("2", "1", "<idle>", "0", "hog", "9", "120")
	  SWITCH("280", "1", "hog", "9", "ksoftirqd/1", "22", "120")
	  "282 ksoftirqd/1-22 1 s softirq_entry: vec=3 [action=NET_RX]\n"
	  "283 ksoftirqd/1-22 1 s netif_receive_skb_entry: dev=eth1 len=240\n", 283, 286, 287, 291, "nic_to_app" },
	{ .name = "other packets before it",
	  .lines = IRQ("1") RX("2") RECEIVE("10") RECEIVE("20") RECEIVE("30") RECEIVE("40") RECEIVE("50")
	  RECEIVE("60") READY("61") RX_EXIT("62"), 60, 63, 64, 68, "nic_to_app" },
	{ .name = "real-time thread on the CPU of the measuring thread",
	  .lines = SWITCH("-500", "2", "rant-loop", "77", "hog", "9", "49") FAST
	  SWITCH("400", "2", "hog", "9", "rant-loop", "77", "120"), 3, 402, 403, 407, "nic_to_app" },
	{ .name = "kworker, and its function",
	  .lines = SWITCH("-5", "2", "rant-loop", "77", "kworker/2:1", "9", "120")
	  "-4 kworker/2:1-9 2 . workqueue_execute_start: work struct 0: function vmstat_update\n" FAST
	  "398 kworker/2:1-9 2 . workqueue_execute_end: work struct 0: function vmstat_update\n"
	  SWITCH("400", "2", "kworker/2:1", "9", "rant-loop", "77", "120"), 3, 402, 403, 407, "kernel_to_app_ns" },
	{ .name = "idle before the wake-up",
	  .lines = SWITCH("-500", "2", "rant-loop", "77", "swapper/2", "0", "120")
	  "-499 <idle>-0 2 . cpu_idle: state=2 cpu_id=2\n"
	  FAST "5 <idle>-0 1 s sched_waking: comm=rant-loop pid=77 prio=120 "
	  "target_cpu=002\n150 <idle>-0 2 . cpu_idle: state=4294967295 cpu_id=2\n"
	  SWITCH("160", "2", "<idle>", "0", "rant-loop", "77", "120"), 3, 162, 163, 167, "nic_to_app" },
	{ .name = "no event while rant had the CPU",
	  .lines = FAST, 3, 306, 307, 311, "nic_to_app" },
	{ .name = "NMI between receive and send",
	  .lines = FAST "260 rant-loop-77 2 z nmi_handler: perf_event_nmi_handler() delta_ns: 250000 "
	  "handled: 1\n", 3, 6, 266, 270, "app_processing" },
	{ .name = "no event between receive and send",
	  .lines = FAST, 3, 6, 266, 270, "app_processing" },
	{ .name = "queue of the interface",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 s softirq_entry: vec=4 [action=BLOCK]\n"
	  "200 rant-loop-77 2 s softirq_exit: vec=4 [action=BLOCK]\n"
	  "201 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n", 3, 6, 7, 204, "app_to_nic" },
	{ .name = "after the driver",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n", 3, 6, 7, 204, "app_to_nic" },
	{ .name = "two causes",
	  .lines = FAST SWITCH("10", "2", "rant-loop", "77", "one", "8", "120")
	  SWITCH("110", "2", "one", "8", "two", "9", "130") SWITCH("205", "2", "two", "9", "three", "10", "120")
	  SWITCH("300", "2", "three", "10", "rant-loop", "77", "120"), 3, 302, 303, 307, "nic_to_app" },
	{ .name = "spread over many parts",
	  .lines = FAST SWITCH("10", "2", "rant-loop", "77", "a", "8", "120")
	  SWITCH("60", "2", "a", "8", "b", "9", "120") SWITCH("110", "2", "b", "9", "c", "10", "120")
	  SWITCH("160", "2", "c", "10", "d", "11", "120") SWITCH("210", "2", "d", "11", "e", "12", "120")
	  SWITCH("260", "2", "e", "12", "f", "13", "120") SWITCH("300", "2", "f", "13", "rant-loop", "77", "120"),
	  3, 302, 303, 307, "nic_to_app" },
	{ .name = "many threads of one name",
	  .lines = FAST SWITCH("10", "2", "rant-loop", "77", "sh", "8", "120")
	  SWITCH("110", "2", "sh", "8", "sh", "9", "120") SWITCH("205", "2", "sh", "9", "sh", "10", "120")
	  SWITCH("300", "2", "sh", "10", "rant-loop", "77", "120"), 3, 302, 303, 307, "nic_to_app" },
	{ .name = "events lost in the stage",
	  .lines = FAST "10 rant-loop-77 2 . x: y\nCPU:2 [LOST 90 EVENTS]\n300 rant-loop-77 2 . x: y\n",
	  3, 306, 307, 311, "nic_to_app" },
	{ .name = "the trace begins within the stage",
	  .lines = "700 rant-loop-77 2 . x: y\n", AT(3, 806, 807, 811), .blame = "nic_to_app",
	  .first = ORDINARY + 1 },
	{ .name = "the buffer of one CPU begins within the stage",
	  .lines = "700 rant-loop-77 2 . x: y\n", AT(3, 806, 807, 811), .blame = "nic_to_app",
	  .first = ORDINARY, .thread_is_late = true },
	{ .name = "without breach.json",
	  .lines = SWITCH("-5", "2", "rant-loop", "77", "hog", "9", "49") FAST
	  SWITCH("400", "2", "hog", "9", "rant-loop", "77", "120"), AT(3, 402, 403, 407), .blame = "",
	  .no_details = true },
	{ .name = "a stage of the other host",
	  .lines = FAST, 3, 6, 7, 11, "remote_nic_to_app" },
	{ .name = "a thread that has softirqs off",
	  .lines = SWITCH("-9", "1", "<idle>", "0", "hog", "9", "120")
	  "1 hog-9 1 h irq_handler_entry: irq=45 name=eth1-rx-1\n1 hog-9 1 h irq_handler_exit: irq=45 ret=handled\n"
	  "282 hog-9 1 s softirq_entry: vec=3 [action=NET_RX]\n"
	  "283 hog-9 1 s netif_receive_skb_entry: dev=eth1 len=240\n", AT(283, 286, 287, 291), .blame = "nic_to_app" },
	{ .name = "App-to-qdisc: a thread in the send call",
	  .lines = FAST SWITCH("8", "2", "rant-loop", "77", "hog", "9", "49")
	  SWITCH("200", "2", "hog", "9", "rant-loop", "77", "120")
	  "202 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "203 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n", AT(3, 6, 7, 206), .queue_us = 202,
	  .driver_us = 204, .blame = "app_to_qdisc_ns" },
	{ .name = "Qdisc-to-driver: a softirq while the packet was in the queue",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 s softirq_entry: vec=4 [action=BLOCK]\n"
	  "200 rant-loop-77 2 s softirq_exit: vec=4 [action=BLOCK]\n"
	  "201 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n", AT(3, 6, 7, 204), .queue_us = 8, .driver_us = 202,
	  .blame = "qdisc_to_driver_ns" },
	{ .name = "Driver-to-NIC",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n", AT(3, 6, 7, 204), .queue_us = 8, .driver_us = 10,
	  .blame = "driver_to_nic_ns" },
	{ .name = "NIC-to-kernel: another interrupt before NET_RX",
	  .lines = IRQ("1") "2 <idle>-0 1 h irq_handler_entry: irq=23 name=ahci\n"
	  "200 <idle>-0 1 h irq_handler_exit: irq=23 ret=handled\n" RX("201") RECEIVE("202") READY("203") RX_EXIT("204"),
	  AT(202, 206, 207, 211), .blame = "nic_to_kernel_ns" },
	{ .name = "App-to-NIC: the kernel's times are the milestones without the events",
	  .lines = FAST "9 rant-loop-77 2 s softirq_entry: vec=4 [action=BLOCK]\n"
	  "100 rant-loop-77 2 s softirq_exit: vec=4 [action=BLOCK]\n", AT(3, 6, 7, 204), .queue_us = 8, .driver_us = 102,
	  .blame = "app_to_nic_ns" },
	{ .name = "an interrupt while the driver passes the packet to the NIC",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n20 rant-loop-77 2 h local_timer_entry: vector=236\n"
	  "21 rant-loop-77 2 h hrtimer_expire_entry: hrtimer=0 function=plant_hrtimer_function\n"
	  "200 rant-loop-77 2 h hrtimer_expire_exit: hrtimer=0\n201 rant-loop-77 2 h local_timer_exit: vector=236\n",
	  AT(3, 6, 7, 214), .blame = "app_to_nic" },
	{ .name = "a thread that preempts the driver, as on PREEMPT_RT",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n" SWITCH("20", "2", "rant-loop", "77", "plant", "8", "49")
	  SWITCH("200", "2", "plant", "8", "rant-loop", "77", "120")
	  "203 rant-loop-77 2 . net_dev_xmit: dev=eth1 skbaddr=0000 len=254 rc=0\n", AT(3, 6, 7, 214), .blame = "app_to_nic" },
	{ .name = "a thread after the driver, and a slow NIC",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n"
	  "10 rant-loop-77 2 . net_dev_xmit: dev=eth1 skbaddr=0000 len=254 rc=0\n"
	  SWITCH("20", "2", "rant-loop", "77", "other", "8", "49") SWITCH("200", "2", "other", "8", "rant-loop", "77", "120"),
	  AT(3, 6, 7, 214), .blame = "app_to_nic" },
	{ .name = "a thread after the driver, whose end is not in the trace, and the next packet",
	  .lines = FAST "8 rant-loop-77 2 . net_dev_queue: dev=eth1 len=254\n"
	  "9 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n"
	  SWITCH("20", "2", "rant-loop", "77", "other", "8", "49") SWITCH("200", "2", "other", "8", "rant-loop", "77", "120")
	  "220 rant-loop-77 2 . net_dev_start_xmit: dev=eth1 len=254\n"
	  "221 rant-loop-77 2 . net_dev_xmit: dev=eth1 skbaddr=0000 len=254 rc=0\n", AT(3, 6, 7, 214), .blame = "app_to_nic" },
	/* As drivers with GRO on a NIC without a known interrupt, in traces of Linux 6.12. */
	{ .name = "with GRO the kernel's time is after the whole batch, and the packet does not wait for itself",
	  .lines = IRQ("1") "2 <idle>-0 1 h irq_handler_entry: irq=23 name=ahci\n"
	  "200 <idle>-0 1 h irq_handler_exit: irq=23 ret=handled\n" RX("201") GRO("202") READY("223") RX_EXIT("224"),
	  AT(222, 226, 227, 231), .blame = "nic_to_kernel_ns" },
	{ .name = "with GRO other packets before it, and the packet's own time",
	  .lines = IRQ("1") RX("2") GRO("10") GRO("80") GRO("150") GRO("200") READY("253") RX_EXIT("254"),
	  AT(222, 256, 257, 261), .blame = "nic_to_kernel_ns" },
	{ .name = "interrupts off in a thread, and the interrupt of the NIC is not known",
	  .lines = SWITCH("-50", "1", "<idle>", "0", "plant-irqs_off", "9", "49")
	  "301 plant-irqs_off-9 1 h call_function_single_entry: vector=251\n"
	  "302 plant-irqs_off-9 1 h softirq_raise: vec=3 [action=NET_RX]\n"
	  "303 plant-irqs_off-9 1 h call_function_single_exit: vector=251\n"
	  "304 plant-irqs_off-9 1 s softirq_entry: vec=3 [action=NET_RX]\n"
	  "305 plant-irqs_off-9 1 s napi_gro_receive_entry: dev=eth1 len=240\n"
	  "327 plant-irqs_off-9 1 s softirq_exit: vec=3 [action=NET_RX]\n", AT(325, 328, 329, 333), .blame = "nic_to_app",
	  .no_irqs = true },
	{ .name = "a softirq before NET_RX on the CPU that received, and the interrupt of the NIC is not known",
	  .lines = "-9 <idle>-0 1 s softirq_entry: vec=6 [action=TASKLET]\n"
	  "1 <idle>-0 1 H call_function_single_entry: vector=251\n"
	  "2 <idle>-0 1 H softirq_raise: vec=3 [action=NET_RX]\n"
	  "3 <idle>-0 1 H call_function_single_exit: vector=251\n300 <idle>-0 1 s softirq_exit: vec=6 [action=TASKLET]\n"
	  RX("301") GRO("302") READY("323") RX_EXIT("324"), AT(322, 326, 327, 331), .blame = "nic_to_app", .no_irqs = true },
	{ .name = "a packet that was not late",
	  .lines = FAST, 3, 6, 7, 11, "nic_to_app" },
};

static void each_cause(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(scenarios); i++) {
		write_text(&scenarios[i], "mono_raw");
		write_json(&scenarios[i]);
		golden("# %s\n", scenarios[i].name);
		golden("%s", explain());
	}
}

/* Those of breach.json count, which are by CLOCK_REALTIME. */
static void times_of_the_marker_by_the_nic(void **state)
{
	struct scenario s = scenarios[0];
	char expected[4096];

	(void)state;
	write_text(&s, "mono_raw");
	write_json(&s);
	snprintf(expected, sizeof(expected), "%s", explain());
	s.marker_by_nic = true;
	write_text(&s, "mono_raw");
	assert_string_equal(explain(), expected);
}

/* The stage begins at 21 ms and the marker is at 24 ms: in this interval or not. */
#define COUNTED(from_ms, from, to_ms, to) "{\"from_raw_ns\":" from_ms "000000,\"to_raw_ns\":" to_ms "000000," \
	"\"from\":" from ",\"to\":" to "}"
#define STOLEN(from, to) "{\"from_raw_ns\":20000000,\"to_raw_ns\":220000000,\"from_ms\":" from ",\"to_ms\":" to \
	",\"step_ms\":10}"
#define UNSEEN(cpu, smi, steal) "{\"cpu\":" cpu ",\"smi\":" smi ",\"steal\":" steal "}"

/* What the counters say of a cause that the kernel does not see. */
static void not_seen_by_the_kernel(void **state)
{
	static const struct {
		const char *name, *unseen;
	} rows[] = {
		{ "an SMI", UNSEEN("2", COUNTED("1", "4294967295", "25", "1"), STOLEN("7", "7")) },
		{ "stolen time", UNSEEN("2", COUNTED("1", "5", "25", "5"), STOLEN("10", "40")) },
		{ "neither", UNSEEN("2", COUNTED("1", "5", "25", "5"), STOLEN("0", "0")) },
		{ "not readable", UNSEEN("2", "{\"not_known\":\"only CPUs of Intel have one\"}",
					 "{\"not_known\":\"no \\u001b[31m\"}") },
		{ "read within the stage, and before its end",
		  UNSEEN("2", COUNTED("22", "5", "25", "5"), "{\"from_raw_ns\":20000000,\"to_raw_ns\":23000000,"
							  "\"from_ms\":1,\"to_ms\":9,\"step_ms\":10}") },
		{ "another CPU", UNSEEN("3", COUNTED("1", "5", "25", "6"), STOLEN("10", "40")) },
		{ "a disruption", "{\"cpu\":2,\"disruptions\":{\"from_raw_ns\":20000000,\"to_raw_ns\":24000000,"
				  "\"changed\":true}}" },
		{ "no disruption", "{\"cpu\":2,\"disruptions\":{\"from_raw_ns\":20000000,\"to_raw_ns\":24000000,"
				   "\"changed\":false}}" },
		{ "another type", "7" },
		{ "negative", UNSEEN("-2", COUNTED("-1", "5", "25", "6"), STOLEN("40", "10")) },
	};
	struct scenario s = { .lines = FAST, AT(3, 306, 307, 311), .blame = "nic_to_app" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		s.unseen = rows[i].unseen;
		write_text(&s, "mono_raw");
		write_json(&s);
		golden("# %s\n", rows[i].name);
		const char *cause = strstr(explain(), "  Cause:");

		assert_non_null(cause);
		golden("%s", cause);
	}
	/* The counters of a cause that the kernel saw are in the data only. */
	s = scenarios[5];
	s.unseen = rows[0].unseen;
	write_text(&s, "mono_raw");
	write_json(&s);
	assert_null(strstr(explain(), "SMI"));
}

/* Each clock that is accepted gives the same text: here all have the times of the marker. */
static void clocks(void **state)
{
	static const char *const names[] = { "mono_raw", "mono", "boot", "tai", "local", "x86-tsc", "" };
	struct scenario s = scenarios[5];

	(void)state;
	write_json(&s);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		write_text(&s, names[i]);
		golden("# %s\n", names[i]);
		golden("%s", explain());
	}
}

/* Time without an event is unexplained while an event that could explain it is not enabled. */
static void events_that_are_not_enabled(void **state)
{
	static const char *const folders[] = { "raw", "raw/events", "raw/events/sched", "raw/events/sched/sched_switch" };
	static const struct scenario quiet = { .lines = "1 rant-loop-77 2 . x: y\n", AT(3, 306, 307, 311),
					       .blame = "kernel_to_app", .first = ORDINARY };
	char path[256], why[CAUSE_REASON_BYTES];
	struct evidence e;

	(void)state;
	write_text(&quiet, "mono_raw");
	write_json(&quiet);
	assert_int_equal(evidence_open(&e, folder, why), 0);
	assert_string_equal(e.not_enabled, "irq:irq_handler_entry");
	evidence_close(&e);
	golden("%s", explain());
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	write_file("raw/events/sched/sched_switch/format", "x", 1);
	assert_int_equal(evidence_open(&e, folder, why), 0);
	assert_string_equal(e.not_enabled, "irq:irq_handler_entry");
	evidence_close(&e);
	write_file("raw/events/sched/sched_switch/format", NULL, 0);
	for (size_t i = COUNT_OF(folders); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

/* Without a marker of the start the rate of the clocks comes from the events of the ordinary packets. */
static void rate_of_the_clocks(void **state)
{
	(void)state;
	ordinary = 300;
	for (drift_ppm = -80; drift_ppm <= 80; drift_ppm += 40) {
		char why[CAUSE_REASON_BYTES];
		struct evidence e;

		write_text(&scenarios[0], "mono_raw");
		write_json(&scenarios[0]);
		assert_int_equal(evidence_open(&e, folder, why), 0);
		assert_true(e.rate_known);
		if (e.rate < -(drift_ppm + 5) * 1e-6 || e.rate > -(drift_ppm - 5) * 1e-6)
			fail_msg("%d ppm: %g", drift_ppm, e.rate);
		evidence_close(&e);
	}
	drift_ppm = 0;
	ordinary = ORDINARY;
}

/* A real-time thread that spins for 8 ms, recorded on a veth pair with Linux 6.18: its name, and its time. */
static void recorded_trace(void **state)
{
	(void)state;
	strcpy(folder, "tests/unit/traces/planted");
	golden_hide("FOLDER", folder);
	golden("%s", explain());
}

/* ---- Breaches without a planted cause ---------------------------------------------------------------------------- */

#define DELAYS 14 /* owners that may delay a packet */
#define UNPLANTED 200
#define PLANTED 50
#define RANT_US 5 /* of the measuring thread in a late packet: 3 before the delays, and 2 after them */

static const struct delay {
	uint8_t class;
	int number; /* pid, interrupt or softirq */
	const char *name;
} delays[DELAYS] = {
	{ OWNER_IRQ, 23, "ahci" }, { OWNER_IRQ, 24, "nvme" }, { OWNER_IRQ, 25, "eth0" }, { OWNER_SOFTIRQ, 1, "TIMER" },
	{ OWNER_SOFTIRQ, 4, "BLOCK" }, { OWNER_SOFTIRQ, 9, "RCU" }, { OWNER_THREAD, 101, "sshd" },
	{ OWNER_THREAD, 102, "cron" }, { OWNER_THREAD, 103, "kworker/2:1" }, { OWNER_THREAD, 104, "jbd2/sda1-8" },
	{ OWNER_THREAD, 105, "bash" }, { OWNER_THREAD, 106, "migration/2" }, { OWNER_THREAD, 107, "qemu" },
	{ OWNER_THREAD, 108, "rcu_sched" },
};

/* What the generator gave to each owner, without the parser. */
struct truth {
	int us[DELAYS], all_us;
};

/* One piece on CPU 2 from *us on: an interrupt or a softirq above the thread that runs, or a change to another thread. */
static void put_piece(FILE *out, const struct delay *d, const struct delay **runs, int *us, int length_us)
{
	const char *task = *runs ? (*runs)->name : "rant-loop";
	const int pid = *runs ? (*runs)->number : 77;

	if (d->class == OWNER_THREAD) {
		fprintf(out, "%d %s-%d 2 . sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=R ==> "
			"next_comm=%s next_pid=%d next_prio=120\n", *us, task, pid, task, pid, d->name, d->number);
		*runs = d;
	} else if (d->class == OWNER_IRQ) {
		fprintf(out, "%d %s-%d 2 h irq_handler_entry: irq=%d name=%s\n", *us, task, pid, d->number, d->name);
		fprintf(out, "%d %s-%d 2 h irq_handler_exit: irq=%d ret=handled\n", *us + length_us, task, pid, d->number);
	} else {
		fprintf(out, "%d %s-%d 2 s softirq_entry: vec=%d [action=%s]\n", *us, task, pid, d->number, d->name);
		fprintf(out, "%d %s-%d 2 s softirq_exit: vec=%d [action=%s]\n", *us + length_us, task, pid, d->number,
			d->name);
	}
	*us += length_us;
}

/* Delays of 20 to 40 us of at least eight owners, in pieces and in any order: no two have half of the excess. With a
 * planted owner it has more than all others together. */
static char *draw_delays(struct truth *t, int planted, int *end_us)
{
	char *lines = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&lines, &bytes);
	const struct delay *runs = NULL;
	int left_us[DELAYS] = { 0 }, us = 6, left = 0;

	*t = (struct truth){ .all_us = 0 };
	fputs(FAST, out);
	for (int i = 0, owners = 0; owners < 8 || i < DELAYS; i = i < DELAYS ? i + 1 : 0) {
		if (i == DELAYS || t->us[i] || !util_below(2))
			continue;
		t->us[i] = 20 + (int)util_below(21);
		t->all_us += t->us[i];
		owners++;
	}
	if (planted >= 0) {
		const int more_us = t->all_us + 10 + (int)util_below(300);

		t->us[planted] += more_us;
		t->all_us += more_us;
	}
	for (int i = 0; i < DELAYS; i++)
		left += left_us[i] = t->us[i];
	while (left) {
		const int i = (int)util_below(DELAYS);
		const int most = left_us[i] < 30 ? left_us[i] : left_us[i] / 2;
		const int piece_us = !left_us[i] ? 0 : left_us[i] < 10 ? left_us[i] : 1 + (int)util_below((uint64_t)most);

		if (!piece_us)
			continue;
		if (runs == &delays[i])
			us += piece_us; /* it runs on */
		else
			put_piece(out, &delays[i], &runs, &us, piece_us);
		left_us[i] -= piece_us;
		left -= piece_us;
	}
	if (runs)
		fprintf(out, "%d %s-%d 2 . sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=R ==> "
			"next_comm=rant-loop next_pid=77 next_prio=120\n", us, runs->name, runs->number, runs->name,
			runs->number);
	*end_us = us + 2;
	fclose(out);
	return lines;
}

static void explain_as_data(struct why *w)
{
	struct evidence *e = calloc(1, sizeof(*e));
	struct owners *o = calloc(1, sizeof(*o));
	struct cause *c = calloc(1, sizeof(*c));
	char why[CAUSE_REASON_BYTES];

	if (evidence_open(e, folder, why) || cause_find(c, o, e, why))
		fail_msg("%s", why);
	why_take(w, c, e);
	owners_free(o);
	evidence_close(e);
	free(e);
	free(o);
	free(c);
}

static int64_t part_ns(const struct why *w, const struct delay *d)
{
	for (unsigned i = 0; i < w->parts; i++)
		if (w->part[i].class == d->class && !strcmp(w->part[i].name, d->name))
			return w->part[i].value_ns;
	return 0;
}

/* Each owner has exactly the time that it was given, and the rest is that of the measuring thread. */
static void check_parts(const struct why *w, const struct truth *t)
{
	int64_t rest_ns = w->value_ns;

	for (int i = 0; i < DELAYS; i++) {
		if (part_ns(w, &delays[i]) != t->us[i] * NS_PER_US)
			fail_msg("%s: %ld, not %d us", delays[i].name, (long)part_ns(w, &delays[i]), t->us[i]);
		rest_ns -= t->us[i] * NS_PER_US;
	}
	assert_int_equal(rest_ns, RANT_US * NS_PER_US);
}

/* A late packet: no cause where none was planted, and the planted owner where one was. */
static void unplanted_and_planted(void **state)
{
	int false_causes = 0, right = 0;

	(void)state;
	for (int i = 0; i < UNPLANTED + PLANTED; i++) {
		const int planted = i < UNPLANTED ? -1 : (int)util_below(DELAYS);
		struct scenario s = { .kernel_us = 3, .blame = "kernel_to_app_ns" };
		struct truth t;
		struct why w;
		char *lines = draw_delays(&t, planted, &s.app_us);

		s.lines = lines;
		s.send_us = s.app_us + 1;
		s.wire_us = s.app_us + 5;
		write_text(&s, "mono_raw");
		write_json(&s);
		explain_as_data(&w);
		assert_int_equal(w.value_ns, (t.all_us + RANT_US) * NS_PER_US);
		check_parts(&w, &t);
		false_causes += planted < 0 && w.class != CAUSE_SPREAD;
		right += planted >= 0 && w.named == 1 && w.class == delays[planted].class &&
			 !strcmp(w.part[0].name, delays[planted].name);
		free(lines);
	}
	if (false_causes || right != PLANTED)
		fail_msg("%d false causes of %d, %d of %d right", false_causes, UNPLANTED, right, PLANTED);
}

/* Just above the typical time: the times of the events do not permit a cause. */
static void just_above_typical(void **state)
{
	static const struct scenario late = { .lines = FAST, AT(3, 7, 8, 12), .blame = "kernel_to_app_ns" };
	struct why w;

	(void)state;
	write_text(&late, "mono_raw");
	write_json(&late);
	explain_as_data(&w);
	assert_int_equal(w.value_ns - w.typical_ns, NS_PER_US);
	assert_true(w.bound_ns >= NS_PER_US);
	assert_int_equal(w.class, CAUSE_NONE);
}

/* The last element has the time of all owners that the list does not hold; rounded means sum to the mean of the stage. */
static void more_owners_than_the_list_holds(void **state)
{
	struct totals *late = calloc(1, sizeof(*late)), *usual = calloc(1, sizeof(*usual));
	struct cause c = { .packets = 3 };
	int64_t ns = 0, typical_ns = 0, usual_ns = 0;

	(void)state;
	for (int32_t i = 0; i < CAUSE_RANKS + 8; i++) {
		const struct owner o = { .class = OWNER_IRQ, .number = i, .name = 1, .detail = 2 };

		owner_add(&late->parts, &o, 1000 - i);
		owner_add(&usual->parts, &o, 100 + i % 3);
		c.ns += 1000 - i;
		usual_ns += 100 + i % 3;
	}
	rank_owners(&c, late, usual);
	assert_int_equal(c.ranks, CAUSE_RANKS);
	for (int i = 0; i < c.ranks; i++) {
		ns += c.rank[i].ns;
		typical_ns += c.rank[i].typical_ns;
	}
	assert_int_equal(ns, c.ns);
	assert_int_equal(typical_ns, usual_ns / 3);
	assert_int_equal(c.rank[0].owner.class, OWNER_OTHERS); /* nine of them: the largest excess */
	assert_int_equal(c.rank[0].owner.detail, 0);
	free(late);
	free(usual);
}

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static void damaged(const char *name, const char *text, const char *json)
{
	write_file("all.txt", text, text ? strlen(text) : 0);
	write_file("breach.json", json, json ? strlen(json) : 0);
	golden("# %s\n", name);
	golden("%s", explain());
}

static void damaged_folders(void **state)
{
	char path[128];

	(void)state;
	damaged("no file", NULL, NULL);
	damaged("empty", "", NULL);
	damaged("no marker", "# Trace clock: mono_raw\n", NULL);
	damaged("marker without clocks", "# Trace clock: mono_raw\n               a-1       [000] ..... 9.000000: "
		"tracing_mark_write: RANT_BREACH role=emit seq=1 latency_ns=5\n", NULL);
	damaged("no times of the program", "# Trace clock: mono_raw\n               a-1       [000] ..... 9.000000: "
		"tracing_mark_write: RANT_BREACH role=emit seq=1 latency_ns=5 T1_KERNEL=1.000000000 "
		"REALTIME=1.000000000 TAI=1.000000000 MONOTONIC_RAW=9.000000000\n", NULL);
	damaged("times of the NIC only", "# Trace clock: mono_raw\n               a-1       [000] ..... 9.000000: "
		"tracing_mark_write: RANT_BREACH role=reflect seq=1 latency_ns=5 T2_HW=1.000000000 T3_HW=1.020000000 "
		"REALTIME=1.000000000 TAI=1.000000000 MONOTONIC_RAW=9.000000000\n",
		"{\"relations\":{\"hw_minus_realtime_ns\":5,\"hw_bound_ns\":3}}");
	damaged("times far away", "# Trace clock: mono_raw\n               a-1       [000] ..... 9.000000: "
		"tracing_mark_write: RANT_BREACH role=emit seq=1 latency_ns=5 T4_KERNEL=1.000000000 "
		"T4_SW=2305843008.000000000 REALTIME=2.000000000 TAI=1.000000000 MONOTONIC_RAW=9.000000000\n", NULL);
	write_text(&scenarios[5], "mono_raw");
	write_file("breach.json", "{\"schema\":", 10);
	golden("# %s\n", "half a breach.json: the line on stderr, and the text without it");
	golden("%s", explain());
	golden("%s", said);
	write_file("breach.json", "{\"packets\":[1,null,{}],\"irqs\":{},\"blame\":7,\"host_cpu\":-5}", 57);
	golden("# %s\n", "a breach.json with other types");
	golden("%s", explain());
	snprintf(path, sizeof(path), "%s/breach.json", folder);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	golden("# %s\n", "breach.json is a link");
	explain();
	golden("%s", said);
	unlink(path);
	snprintf(path, sizeof(path), "%s/all.txt", folder);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	golden("# %s\n", "all.txt is a link");
	golden("%s", explain());
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	golden("# %s\n", "all.txt is a pipe");
	golden("%s", explain());
}

static char *read_whole(const char *name, size_t *bytes)
{
	char path[128], *text = calloc(1, 1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	*bytes = fread(text, 1, (1 << 20) - 64, file);
	fclose(file);
	return text;
}

static void mutate(char *text, size_t *bytes)
{
	for (uint64_t n = 1 + util_below(30); n && *bytes > 1; n--) {
		const size_t at = util_below(*bytes);

		switch (util_below(5)) {
		case 0:
			text[at] = (char)util_random();
			break;
		case 1:
			memmove(text + at, text + at + 1, *bytes - at - 1);
			--*bytes;
			break;
		case 2:
			text[at] = "0123456789=-[].: \n\"{},"[util_below(22)];
			break;
		case 3:
			memset(text + at, '9', *bytes - at < 8 ? *bytes - at : 8);
			break;
		default:
			*bytes = util_below(20) ? *bytes : at + 1;
		}
	}
}

/* No crash, no endless loop, at most twelve lines, parts that sum: see explain(). */
static void mutated_folders(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		const struct scenario *s = &scenarios[util_below(COUNT_OF(scenarios))];
		size_t bytes;
		char *text;

		write_text(s, util_below(4) ? "mono_raw" : "local");
		write_json(s);
		text = read_whole("all.txt", &bytes);
		mutate(text, &bytes);
		write_file("all.txt", text, bytes);
		free(text);
		if (!s->no_details && util_below(2)) {
			text = read_whole("breach.json", &bytes);
			mutate(text, &bytes);
			write_file("breach.json", text, bytes);
			free(text);
		}
		explain();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_cause, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(times_of_the_marker_by_the_nic, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(not_seen_by_the_kernel, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(clocks, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(events_that_are_not_enabled, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(rate_of_the_clocks, make_folder, remove_folder),
		cmocka_unit_test(recorded_trace),
		cmocka_unit_test(more_owners_than_the_list_holds),
		cmocka_unit_test_setup_teardown(unplanted_and_planted, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(just_above_typical, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(damaged_folders, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(mutated_folders, make_folder, remove_folder),
	};

	util_seed();
	return golden_run(tests);
}
