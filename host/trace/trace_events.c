// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of --trace-events. Facts: include/trace/events/ and arch/x86/include/asm/trace/ of Linux 6.1 to 7.3. */
#include "host/trace/trace_files.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A busy-polled packet on an isolated CPU causes no event of the light set. Single events and not groups: others of
 * irq_vectors, timer and sched come with each system call or timer. irq_vectors and nmi are on x86 only, sk_data_ready
 * is not in Linux 6.1. A driver with GRO has napi_gro_receive_entry, a driver without NAPI only
 * netif_receive_skb. */
const struct trace_event trace_event_table[] = {
	{ .name = "irq/irq_handler_entry", .each = true },
	{ .name = "irq/irq_handler_exit", .each = true },
	{ .name = "irq/softirq_raise", .each = true },
	{ .name = "irq/softirq_entry", .each = true },
	{ .name = "irq/softirq_exit", .each = true },
	{ .name = "irq/tasklet_entry" },
	{ .name = "irq/tasklet_exit" },
	{ .name = "irq_vectors/local_timer_entry" },
	{ .name = "irq_vectors/local_timer_exit" },
	{ .name = "irq_vectors/call_function_entry" },
	{ .name = "irq_vectors/call_function_exit" },
	{ .name = "irq_vectors/call_function_single_entry" },
	{ .name = "irq_vectors/call_function_single_exit" },
	{ .name = "nmi/nmi_handler" },
	{ .name = "sched/sched_switch" },
	{ .name = "sched/sched_waking" },
	{ .name = "power/cpu_idle" },
	{ .name = "timer/hrtimer_expire_entry" },
	{ .name = "timer/hrtimer_expire_exit" },
	{ .name = "timer/timer_expire_entry" },
	{ .name = "timer/timer_expire_exit" },
	{ .name = "workqueue/workqueue_execute_start" },
	{ .name = "workqueue/workqueue_execute_end" },
	{ .name = "napi/napi_poll", .packet = true, .each = true },
	{ .name = "net/napi_gro_receive_entry", .packet = true, .each = true },
	{ .name = "net/netif_receive_skb_entry", .packet = true, .each = true },
	{ .name = "net/netif_receive_skb", .packet = true, .each = true },
	{ .name = "net/net_dev_queue", .packet = true, .each = true },
	{ .name = "net/net_dev_start_xmit", .packet = true, .each = true },
	{ .name = "net/net_dev_xmit", .packet = true, .each = true },
	{ .name = "sock/sk_data_ready", .packet = true, .each = true },
};
const size_t trace_event_rows = sizeof(trace_event_table) / sizeof(trace_event_table[0]);

/* 0 or errno. ENOENT: this kernel does not have it. */
static int switch_on(const struct trace *t, const char *name)
{
	char path[96];
	int fd, error;

	snprintf(path, sizeof(path), "events/%s/enable", name);
	fd = openat(t->folder_fd, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	error = trace_set(fd, "1");
	close(fd);
	return error;
}

int trace_events_on(struct trace *t, enum trace_events set)
{
	t->events_fd = openat(t->folder_fd, "events/enable", O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; i < trace_event_rows; i++) {
		const struct trace_event *e = &trace_event_table[i];
		int error = e->packet && set != TRACE_EVENTS_PACKET ? ECANCELED : switch_on(t, e->name);

		t->events += !error;
		t->events_missing += error == ENOENT;
		if (!error || error == ENOENT || error == ECANCELED)
			continue;
		warnx("--trace-events: %s/events/%s/enable: %s: see 'dmesg | tail'", t->path, e->name, strerror(error));
		return -error;
	}
	return 0;
}

void trace_events_off(const struct trace *t)
{
	if (t->events && t->events_fd >= 0)
		trace_set(t->events_fd, "0");
}

/* SYSTEM:NAME in a line of set_event. */
static bool is_named(const char *line, const char *name)
{
	const size_t length = strlen(name), system = strcspn(name, "/");

	return !strncmp(line, name, system) && line[system] == ':' &&
	       !strncmp(line + system + 1, name + system + 1, length - system - 1) &&
	       (!line[length] || line[length] == '\n');
}

static bool comes_with_packets(const char *line)
{
	for (size_t i = 0; i < trace_event_rows; i++)
		if (is_named(line, trace_event_table[i].name))
			return trace_event_table[i].each;
	return true;
}

unsigned trace_count_packet_events(const struct trace *t)
{
	char text[4096], tracer[64];
	unsigned events = 0;

	if (!trace_read_text(t, "current_tracer", tracer, sizeof(tracer)) && strcmp(tracer, "nop"))
		events++;
	if (trace_read_text(t, "set_event", text, sizeof(text)))
		return events;
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		events += comes_with_packets(at);
	return events;
}
