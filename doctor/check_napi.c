// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the NAPI instances of the NIC: their settings, threads, queues and interrupts. */
#include "doctor/inside.h"
#include "host/nic/nic_napi.h"
#include "options.h"

#include <inttypes.h>

#define NAPI_GET "netlink netdev napi-get"
#define NAPI_RST "Documentation/networking/napi.rst"

static struct nic_napi list[NIC_NAPIS]; /* too large for the stack, whose memory a run locks */

/* False with Linux 6.12 and older: by device only. */
static bool defer_is_known(int napis)
{
	for (int i = 0; i < napis; i++)
		if (!(list[i].has & NIC_NAPI_DEFER) || !(list[i].has & NIC_NAPI_FLUSH))
			return false;
	return napis > 0;
}

bool check_napis_decide(const struct check *c)
{
	return defer_is_known(nic_read_napis(&c->nic, list));
}

/* The settings of a NAPI win over those of the device in /sys/class/net. */
static void look_at_defer(struct check *c, int napis)
{
	uint64_t defer = 0, flush_ns = 0;
	int deferring = 0;

	if (!defer_is_known(napis))
		return;
	for (int i = 0; i < napis; i++) {
		if (!list[i].defer_hard_irqs || !list[i].gro_flush_timeout_ns)
			continue;
		deferring++;
		defer = list[i].defer_hard_irqs;
		flush_ns = list[i].gro_flush_timeout_ns;
	}
	if (deferring)
		check_say(c, c->options->prefer_busy_poll && deferring == napis ? OK : NOTE, NAPI_GET, NULL, NULL,
			  "%d of %d defer interrupts: defer-hard-irqs %" PRIu64 ", gro-flush-timeout %" PRIu64 " ns",
			  deferring, napis, defer, flush_ns);
	if (c->options->prefer_busy_poll && deferring < napis)
		check_say(c, WARN, NAPI_GET, "-P has no effect on the queues of a NAPI that does not defer interrupts",
			  check_command(c, "cd /sys/class/net/%s; echo 2 >napi_defer_hard_irqs; "
					"echo 200000 >gro_flush_timeout",
					c->nic.name), "%d of %d do not defer interrupts", napis - deferring, napis);
}

/* A thread polls instead of the soft interrupt: its CPU and its priority decide when packets arrive. */
static void look_at_threads(struct check *c, int napis)
{
	int threads = 0, busy = 0;
	uint32_t pid = 0;

	for (int i = 0; i < napis; i++) {
		bool polls = list[i].has & NIC_NAPI_MODE && list[i].threaded == NIC_NAPI_BUSY_POLLS;

		if (!(list[i].has & NIC_NAPI_PID) || !list[i].pid)
			continue;
		pid = polls || !busy ? list[i].pid : pid;
		busy += polls;
		threads++;
	}
	if (busy)
		check_say(c, NOTE, NAPI_GET, "the thread occupies a CPU: it needs another CPU than rant",
			  check_command(c, "taskset -p %" PRIu32, pid),
			  "%d of %d are polled by a thread that never sleeps, %" PRIu32 "...", busy, napis, pid);
	else if (threads)
		check_say(c, NOTE, NAPI_GET,
			  "packets and timestamps wait for this thread: it needs another CPU than rant, or a higher "
			  "priority",
			  check_command(c, "taskset -p %" PRIu32 "; chrt -p %" PRIu32, pid, pid),
			  "%d of %d are polled by a kernel thread, %" PRIu32 "...", threads, napis, pid);
}

static void look_at_suspend(struct check *c, int napis)
{
	for (int i = 0; i < napis; i++)
		if (list[i].has & NIC_NAPI_SUSPEND && list[i].irq_suspend_timeout_ns)
			return check_say(c, NOTE, NAPI_GET "; " NAPI_RST, NULL, NULL,
					 "irq-suspend-timeout %" PRIu64 " ns has no effect on rant: it needs epoll "
					 "with busy polling",
					 list[i].irq_suspend_timeout_ns);
}

static void say_queues(struct check *c, int napis)
{
	const struct nic_napi *n = list;

	for (int i = 0; i < napis && !n->queues; i++)
		n = &list[i];
	if (!n->queues)
		check_say(c, OK, NAPI_GET, NULL, NULL, "%d", napis);
	else if (n->has & NIC_NAPI_IRQ)
		check_say(c, OK, NAPI_GET ", queue-get", NULL, NULL,
			  "%d; receive queue %" PRIu32 " is polled by NAPI %" PRIu32 ", of interrupt %" PRIu32, napis,
			  n->queue[0], n->id, n->irq);
	else
		check_say(c, OK, NAPI_GET ", queue-get", NULL, NULL,
			  "%d; receive queue %" PRIu32 " is polled by NAPI %" PRIu32 ", its interrupt is not reported",
			  napis, n->queue[0], n->id);
}

static void look_at_napis(struct check *c)
{
	int napis = nic_read_napis(&c->nic, list);

	if (napis < 0)
		return check_not_known(c, NAPI_GET, -napis);
	if (!napis)
		return check_say(c, NOTE, NAPI_GET, NULL, NULL, "the driver reports none");
	say_queues(c, napis);
	look_at_threads(c, napis);
	look_at_defer(c, napis);
	look_at_suspend(c, napis);
}

const struct check_row check_napi_rows[] = { /* in the group "NIC" */
	{ NULL, "NAPI", look_at_napis, false },
	{ NULL, NULL, NULL, false },
};
