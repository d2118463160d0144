// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts for several checks, read once: this process, kernel, NIC and its interrupts, other programs. */
#include "doctor/inside.h"

#include "host/nic/nic.h"
#include "host/nic/nic_abilities.h"
#include "options.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- This process, and the kernel -------------------------------------------------------------------------------- */

static void find_own_affinity(struct check *c)
{
	struct sched_param p = { .sched_priority = 0 };

	c->cpus_error = sched_getaffinity(0, sizeof(c->cpus), &c->cpus) ? errno : 0;
	c->policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	if (!sched_getparam(0, &p))
		c->priority = p.sched_priority;
}

bool check_pinned(const struct check *c)
{
	return !c->cpus_error && CPU_COUNT(&c->cpus) == 1;
}

bool check_real_time(const struct check *c)
{
	return c->policy == SCHED_FIFO || c->policy == SCHED_RR;
}

const char *check_policy_text(int policy, int priority, char text[static 32])
{
	static const char *const names[] = { [SCHED_OTHER] = "SCHED_OTHER", [SCHED_FIFO] = "SCHED_FIFO",
					     [SCHED_RR] = "SCHED_RR", [SCHED_BATCH] = "SCHED_BATCH",
					     [SCHED_IDLE] = "SCHED_IDLE" };
	bool known = policy >= 0 && (size_t)policy < CHECK_COUNT(names) && names[policy];
	const char *name = known ? names[policy] : "another policy";

	if (policy == SCHED_FIFO || policy == SCHED_RR)
		snprintf(text, 32, "%s %d", name, priority);
	else
		snprintf(text, 32, "%s", name);
	return text;
}

bool check_kernel_is_rt(void)
{
	struct check_file f;

	return (check_read(&f, "/sys/kernel/realtime") && !strcmp(f.text, "1")) ||
	       (check_read(&f, "/proc/version") && strstr(f.text, "PREEMPT_RT"));
}

/* ---- The NIC as a device ----------------------------------------------------------------------------------------- */

/* By the bus address that the driver reports: /sys/bus is the same in every network namespace. */
static void find_device(struct check *c)
{
	static const char *const buses[] = { "pci", "platform" };

	/* The driver of a virtual device may report any text. */
	if (!*c->nic.bus || *c->nic.bus == '.' || strchr(c->nic.bus, '/'))
		return;
	for (size_t i = 0; i < CHECK_COUNT(buses) && !*c->device; i++) {
		snprintf(c->device, sizeof(c->device), "/sys/bus/%s/devices/%s", buses[i], c->nic.bus);
		if (!check_exists(c->device))
			*c->device = '\0';
	}
}

/* After nsenter --net, /sys still shows the network namespace of its mount, where another interface may have the same
 * name: compare index and hardware address as well. */
static void find_class_folder(struct check *c)
{
	char mac[NIC_MAC_BYTES];
	struct check_file f;
	long long index;

	/* The loopback interface is the same everywhere. */
	if ((c->nic.flags & IFF_LOOPBACK) || nic_read_mac(&c->nic, mac) ||
	    !check_read(&f, "/sys/class/net/%s/ifindex", c->nic.name) ||
	    !check_number_in(&f, &index) || index != c->nic.index ||
	    !check_read(&f, "/sys/class/net/%s/address", c->nic.name) || strcmp(f.text, mac))
		return;
	snprintf(c->class_folder, sizeof(c->class_folder), "/sys/class/net/%s", c->nic.name);
}

/* ---- Interrupts of the NIC --------------------------------------------------------------------------------------- */

/* The next entry of a folder that begins with a digit, as a number; -1 at the end. */
static int next_number(DIR *folder)
{
	struct dirent *d;

	while ((d = readdir(folder)))
		if (isdigit((unsigned char)d->d_name[0]))
			return atoi(d->d_name);
	return -1;
}

static DIR *open_folder(const char *path)
{
	char full[PATH_MAX];

	check_full_path(full, path);
	return opendir(full);
}

/* An interrupt line in use has a folder with the name of its handler in /proc/irq/N. */
static bool handler_of(int number, char *name, size_t bytes)
{
	char path[64];
	struct dirent *d;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/irq/%d", number);
	folder = open_folder(path);
	while (folder && !found && (d = readdir(folder))) {
		found = d->d_type == DT_DIR && d->d_name[0] != '.';
		if (found)
			snprintf(name, bytes, "%.*s", (int)bytes - 1, d->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}

static void add_irq(struct check *c, int number, const char *name)
{
	struct check_irq *i = &c->irq[c->irqs];
	struct check_file f;

	if (c->irqs == CHECK_IRQS)
		return;
	*i = (struct check_irq){ .number = number };
	snprintf(i->name, sizeof(i->name), "%s", name);
	/* smp_affinity_list is the requested set, which the hardware may not use in full; older kernels have only this.
	 * */
	i->placed = (check_read(&f, "/proc/irq/%d/effective_affinity_list", number) ||
		     check_read(&f, "/proc/irq/%d/smp_affinity_list", number)) &&
		    check_cpus_read(f.text, &i->cpus);
	c->irqs++;
}

/* "eth0", "eth0-rx-0", "eth0:tx" */
static bool is_name_of(const char *handler, const char *interface)
{
	size_t bytes = strlen(interface);

	return !strncmp(handler, interface, bytes) && (!handler[bytes] || strchr("-:@", handler[bytes]));
}

/* Adds the interrupts in a folder that have a handler. named: only those whose handler is named after the interface. */
static void add_irqs_in(struct check *c, const char *path, bool named)
{
	DIR *folder = open_folder(path);
	char name[32];
	int number;

	while (folder && (number = next_number(folder)) >= 0)
		if (handler_of(number, name, sizeof(name)) && (!named || is_name_of(name, c->nic.name)))
			add_irq(c, number, name);
	if (folder)
		closedir(folder);
}

static void find_irqs(struct check *c)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/msi_irqs", c->device);
	if (*c->device)
		add_irqs_in(c, path, false);
	/* A device without message-signalled interrupts: most drivers name the handler after the interface. */
	if (!c->irqs)
		add_irqs_in(c, "/proc/irq", true);
}

cpu_set_t check_irq_cpus(const struct check *c)
{
	cpu_set_t all;

	CPU_ZERO(&all);
	for (int i = 0; i < c->irqs; i++)
		if (c->irq[i].placed)
			CPU_OR(&all, &all, &c->irq[i].cpus);
	return all;
}

/* ---- Other programs ---------------------------------------------------------------------------------------------- */

/* Programs that use timestamps of a NIC or adjust its clock. */
static const char *const clock_programs[] = { "ptp4l", "phc2sys", "ts2phc", "timemaster", "chronyd" };

static bool is_clock_program(const char *comm)
{
	for (size_t i = 0; i < CHECK_COUNT(clock_programs); i++)
		if (!strcmp(comm, clock_programs[i]))
			return true;
	return false;
}

/* "-i eth0" or "-ieth0" */
static bool names_interface(const struct check *c, int pid)
{
	struct check_file f;
	bool named = false;

	check_read(&f, "/proc/%d/cmdline", pid);
	for (size_t at = 0; at < f.bytes; at += strlen(f.text + at) + 1) {
		const char *word = f.text + at;

		named |= !strcmp(word, c->nic.name) || (!strncmp(word, "-i", 2) && !strcmp(word + 2, c->nic.name));
	}
	return named;
}

/* 1 if the process holds the clock of the NIC open, else 0. -EACCES and the like: its descriptors are unreadable. */
static int holds_phc(const struct check *c, int pid)
{
	char path[64], phc[32], target[64];
	struct dirent *d;
	ssize_t bytes;
	int held = 0;
	DIR *folder;

	snprintf(phc, sizeof(phc), "/dev/ptp%d", c->nic.can.phc_index);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = open_folder(path);
	if (!folder)
		return -errno;
	while (!held && (d = readdir(folder))) {
		bytes = readlinkat(dirfd(folder), d->d_name, target, sizeof(target));
		held = bytes == (ssize_t)strlen(phc) && !memcmp(target, phc, strlen(phc));
	}
	closedir(folder);
	return held;
}

static void look_for_user(struct check *c, int pid, const char *comm)
{
	bool known = is_clock_program(comm);
	struct check_user u = { .pid = pid };
	int held = 0;

	/* Reading the descriptors of all processes takes too long for the start of a run. */
	if (pid == getpid() || (!known && c->brief) || c->users == CHECK_USERS)
		return;
	if (c->nic.can.phc_index >= 0)
		held = holds_phc(c, pid);
	u.named = known && names_interface(c, pid);
	u.has_phc = held > 0;
	u.hidden = known && held < 0;
	snprintf(u.comm, sizeof(u.comm), "%.15s", comm);
	if (u.named || u.has_phc || u.hidden)
		c->user[c->users++] = u;
}

/* Fields 40 and 41 of /proc/PID/stat: priority and policy. The name in field 2 may contain blanks and brackets. */
static void read_irq_thread(struct check_irq *i, int pid)
{
	struct check_file f;
	const char *at;
	unsigned priority, policy;

	if (!check_read(&f, "/proc/%d/stat", pid))
		return;
	at = strrchr(f.text, ')');
	for (int field = 2; at && field < 40; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%u %u", &priority, &policy) != 2)
		return;
	i->thread = pid;
	i->priority = (int)priority;
	i->policy = (int)policy;
}

static void find_processes(struct check *c)
{
	DIR *folder = open_folder("/proc");
	struct check_file f;
	int pid, number;

	while (folder && (pid = next_number(folder)) >= 0) {
		if (!check_read(&f, "/proc/%d/comm", pid))
			continue; /* the process has just ended */
		if (!strcmp(f.text, "irqbalance"))
			c->irqbalance = pid;
		if (sscanf(f.text, "irq/%d-", &number) == 1)
			for (int i = 0; i < c->irqs; i++)
				if (c->irq[i].number == number && !c->irq[i].thread)
					read_irq_thread(&c->irq[i], pid);
		look_for_user(c, pid, f.text);
	}
	/* With hidepid, /proc has no entries for processes of other users. */
	c->processes_hidden = !check_read(&f, "/proc/1/comm");
	if (folder)
		closedir(folder);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

void check_gather(struct check *c)
{
	c->abilities_error = nic_read_abilities(&c->nic);
	find_own_affinity(c);
	find_device(c);
	find_class_folder(c);
	find_irqs(c);
	find_processes(c);
}

const struct nic_driver *check_find_driver(const struct check *c)
{
	return nic_driver_find(c->nic.driver, c->nic.can.rx_filters);
}

bool check_needs_own_cpu(const struct check *c)
{
	const struct nic_driver *d = check_find_driver(c);

	return options_by_nic(c->options) && !options_place_sent(c->options) && d && d->delivery == NIC_BY_OWN_KWORKER;
}
