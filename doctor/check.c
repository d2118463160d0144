// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The doctor: one line per finding, each with the place where it was read. It changes nothing, and what cannot be read
 * is said so, never taken as good or bad. Here: the line, reading, what several checks need, and going through the
 * tables of check_nic.c and check_host.c.
 */
#include "doctor/check.h"

#include "doctor/inside.h"
#include "host/nic.h"
#include "host/nic_abilities.h"
#include "options.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024

/* ---- One line ---------------------------------------------------------------------------------------------------- */

static const char *const finding_names[FINDINGS] = { "ok", "note", "warn", "fail" };

/* Names of programs, drivers and interfaces are others' choice: no control character of theirs reaches a terminal. */
static void print_clean(FILE *out, char *line)
{
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fprintf(out, "%s\n", line);
}

void check_say(struct check *c, enum finding f, const char *where, const char *why, const char *cure,
	       const char *format, ...)
{
	char what[LINE_BYTES / 2], line[LINE_BYTES];
	va_list ap;

	c->found[f]++;
	if (!c->out || (c->brief && f < WARN))
		return;
	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%-4s  %s: %s (%s)%s%s%s%s", finding_names[f], c->row->subject, what, where,
		 why ? ": " : "", why ? why : "", cure ? ": " : "", cure ? cure : "");
	print_clean(c->out, line);
}

void check_cannot_tell(struct check *c, const char *where, int error)
{
	char line[LINE_BYTES];

	c->found[NOTE]++;
	if (!c->out || c->brief)
		return;
	snprintf(line, sizeof(line), "%-4s  %s: cannot tell (%s: %s)", finding_names[NOTE], c->row->subject, where,
		 strerror(error));
	print_clean(c->out, line);
}

const char *check_command(struct check *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->command, sizeof(c->command), format, ap);
	va_end(ap);
	return c->command;
}

/* ---- Reading files ----------------------------------------------------------------------------------------------- */

static const char *root = ""; /* a test puts its own files in front of every path */

void check_full_path(char full[PATH_MAX], const char *path)
{
	snprintf(full, PATH_MAX, "%s%s", root, path);
}

bool check_read(struct check_file *f, const char *format, ...)
{
	char full[PATH_MAX];
	ssize_t got = -1;
	va_list ap;
	int fd;

	va_start(ap, format);
	vsnprintf(f->path, sizeof(f->path), format, ap);
	va_end(ap);
	check_full_path(full, f->path);
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		got = read(fd, f->text, sizeof(f->text) - 1);
	f->error = got < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	f->bytes = got < 0 ? 0 : (size_t)got;
	while (f->bytes && (f->text[f->bytes - 1] == '\n' || f->text[f->bytes - 1] == ' '))
		f->bytes--;
	f->text[f->bytes] = '\0';
	return got >= 0;
}

bool check_number_in(const struct check_file *f, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(f->text, &end, 10);
	return !errno && end > f->text && !*end;
}

bool check_number(struct check *c, struct check_file *f, long long *value)
{
	if (check_number_in(f, value))
		return true;
	check_say(c, NOTE, f->path, NULL, NULL, "cannot tell, '%.40s' is no number", f->text);
	return false;
}

bool check_capabilities(struct check_file *f, unsigned long long *capabilities)
{
	const char *line;

	if (!check_read(f, "/proc/self/status"))
		return false;
	line = strstr(f->text, "CapEff:");
	if (!line || sscanf(line, "CapEff: %llx", capabilities) != 1)
		f->error = ENODATA;
	return !f->error;
}

bool check_kernel_is_rt(void)
{
	struct check_file f;

	return (check_read(&f, "/sys/kernel/realtime") && !strcmp(f.text, "1")) ||
	       (check_read(&f, "/proc/version") && strstr(f.text, "PREEMPT_RT"));
}

/* ---- CPU lists, as "0-2,7" --------------------------------------------------------------------------------------- */

/* The kernel writes "(null)", older ones with blanks before it, for a list that it never made. */
bool check_cpus_read(const char *text, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	text += strspn(text, " ");
	if (!strcmp(text, "(null)"))
		return true;
	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text || !isdigit((unsigned char)*text))
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
			if (end == text || !isdigit((unsigned char)*text))
				return false;
		}
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET((size_t)cpu, cpus);
		if (*end && *end != ',')
			return false;
		text = *end ? end + 1 : end;
	}
	return true;
}

struct check_cpu_text check_cpus_text(const cpu_set_t *cpus)
{
	struct check_cpu_text t = { "" };
	size_t used = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && used < sizeof(t.text); cpu++) {
		int first = cpu;

		if (!CPU_ISSET((size_t)cpu, cpus))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET((size_t)cpu + 1, cpus))
			cpu++;
		used += (size_t)snprintf(t.text + used, sizeof(t.text) - used, first == cpu ? "%s%d" : "%s%d-%d",
					 used ? "," : "", first, cpu);
	}
	return t;
}

int check_first_cpu(const cpu_set_t *cpus)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, cpus))
			return cpu;
	return 0;
}

bool check_cpus_overlap(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;

	CPU_AND(&both, a, b);
	return CPU_COUNT(&both) > 0;
}

bool check_cpus_within(const cpu_set_t *part, const cpu_set_t *whole)
{
	cpu_set_t both;

	CPU_AND(&both, part, whole);
	return CPU_EQUAL(&both, part);
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

/* ---- Facts that several checks need ------------------------------------------------------------------------------ */

static void find_own_place(struct check *c)
{
	struct sched_param p = { .sched_priority = 0 };

	c->cpus_error = sched_getaffinity(0, sizeof(c->cpus), &c->cpus) ? errno : 0;
	c->policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	if (!sched_getparam(0, &p))
		c->priority = p.sched_priority;
}

bool check_exists(const char *path)
{
	char full[PATH_MAX];

	check_full_path(full, path);
	return access(full, F_OK) == 0;
}

/* By the bus address that the driver tells: /sys/bus is the same in every network namespace. */
static void find_device(struct check *c)
{
	static const char *const buses[] = { "pci", "platform" };

	/* What a driver of a virtual device writes there may be any text. */
	if (!*c->nic.bus || *c->nic.bus == '.' || strchr(c->nic.bus, '/'))
		return;
	for (size_t i = 0; i < CHECK_COUNT(buses) && !*c->device; i++) {
		snprintf(c->device, sizeof(c->device), "/sys/bus/%s/devices/%s", buses[i], c->nic.bus);
		if (!check_exists(c->device))
			*c->device = '\0';
	}
}

/* After nsenter --net, /sys still shows the network namespace in which it was mounted, where another interface may have
 * the same name: index and hardware address must be the same too. */
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
	/* The wish in smp_affinity_list need not be what the hardware was given; old kernels have nothing better. */
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

/* Of the numbers in a folder those that have a handler; with `named`, one named after the interface. */
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
	/* A device without message-signalled interrupts: most drivers call theirs by the name of the interface. */
	if (!c->irqs)
		add_irqs_in(c, "/proc/irq", true);
}

/* ---- Other programs ---------------------------------------------------------------------------------------------- */

/* Programs that ask a NIC for stamps or steer its clock. */
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

/* Whether it holds the NIC's clock open. -EACCES and the like: its descriptors cannot be read. */
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

	/* Reading everybody's descriptors takes too long for the start of a run. */
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

/* Fields 40 and 41 of /proc/PID/stat: priority and policy. The name in field 2 may have blanks and brackets. */
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
			continue; /* it has just ended */
		if (!strcmp(f.text, "irqbalance"))
			c->irqbalance = pid;
		if (sscanf(f.text, "irq/%d-", &number) == 1)
			for (int i = 0; i < c->irqs; i++)
				if (c->irq[i].number == number && !c->irq[i].thread)
					read_irq_thread(&c->irq[i], pid);
		look_for_user(c, pid, f.text);
	}
	/* With hidepid, others' processes are not there at all. */
	c->processes_hidden = !check_read(&f, "/proc/1/comm");
	if (folder)
		closedir(folder);
}

static void gather(struct check *c)
{
	c->abilities_error = nic_read_abilities(&c->nic);
	find_own_place(c);
	find_device(c);
	find_class_folder(c);
	find_irqs(c);
	find_processes(c);
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

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void look_at_all(struct check *c)
{
	static const struct check_row *const tables[] = { check_nic_rows, check_host_rows };

	for (size_t i = 0; i < CHECK_COUNT(tables); i++) {
		for (c->row = tables[i]; c->row->subject; c->row++) {
			if (c->row->group && c->out && !c->brief)
				fprintf(c->out, "%s%s:\n", c->row == check_nic_rows ? "" : "\n", c->row->group);
			if (!c->row->slow || !c->brief)
				c->row->look(c);
		}
	}
}

static void plural(char text[static 32], unsigned n, const char *one, const char *many)
{
	snprintf(text, 32, "%u %s", n, n == 1 ? one : many);
}

int check_machine(FILE *out, const struct options *o)
{
	static struct check c;
	char notes[32], warnings[32], failures[32];
	int error;

	c = (struct check){ .out = out, .options = o };
	error = nic_find(&c.nic, o->interface);
	if (error)
		return error;
	gather(&c);
	look_at_all(&c);
	nic_close(&c.nic);
	plural(notes, c.found[NOTE], "note", "notes");
	plural(warnings, c.found[WARN], "warning", "warnings");
	plural(failures, c.found[FAIL], "failure", "failures");
	if (out)
		fprintf(out, "\n%u ok, %s, %s, %s\n", c.found[OK], notes, warnings, failures);
	return (int)c.found[FAIL];
}

void check_short(FILE *out, const struct options *o, const struct nic *n)
{
	static struct check c;

	c = (struct check){ .out = out, .brief = true, .options = o, .nic = *n };
	c.nic.changed = false; /* what was changed is put back from the other one */
	gather(&c);
	look_at_all(&c);
}
