// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources: Documentation/admin-guide/pm/cpufreq.rst (scaling_cur_freq, kHz), Documentation/ABI/testing/sysfs-class-net
 * (carrier_changes), Documentation/core-api/irq/irq-affinity.rst and proc(5) (effective_affinity_list).
 */
#include "host/counters/changes.h"

#include "host/counters/activity_inside.h"
#include "host/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FREQUENCY_PART 10 /* a change by less than this part is what governors do all the time */

/* -1: not readable, or not a number. */
static int64_t read_number(const char *path)
{
	char text[32], *end;
	long long n;

	if (file_read(path, text, sizeof(text)) <= 0)
		return -1;
	n = strtoll(text, &end, 10);
	return end == text || n < 0 ? -1 : n;
}

static int64_t read_khz(const struct machine_changes *c)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", activity_root, c->cpu);
	return c->cpu < 0 ? -1 : read_number(path);
}

static int64_t read_carrier(const struct machine_changes *c)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/carrier_changes", activity_root, c->interface);
	return read_number(path);
}

/* Empty: not readable. A longer list is cut off. */
static void read_cpus(char cpus[MACHINE_CPUS_BYTES], unsigned irq)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/irq/%u/effective_affinity_list", activity_root, irq);
	if (file_read(path, cpus, MACHINE_CPUS_BYTES) < 0)
		cpus[0] = '\0';
	cpus[strspn(cpus, "0123456789,-")] = '\0';
}

static void find_irqs(struct machine_changes *c)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device/msi_irqs", activity_root, c->interface);
	folder = opendir(path);
	while (folder && c->irqs < MACHINE_CHANGES_IRQS && (entry = readdir(folder))) {
		char *end;
		const unsigned long number = strtoul(entry->d_name, &end, 10);

		if (end == entry->d_name || *end || number > UINT_MAX)
			continue;
		c->irq[c->irqs].number = (unsigned)number;
		read_cpus(c->irq[c->irqs++].cpus, (unsigned)number);
	}
	if (folder)
		closedir(folder);
}

void machine_changes_open(struct machine_changes *c, const char *interface, int cpu)
{
	*c = (struct machine_changes){ .cpu = cpu };
	snprintf(c->interface, sizeof(c->interface), "%s", interface);
	c->khz = read_khz(c);
	c->carrier_changes = read_carrier(c);
	find_irqs(c);
}

__attribute__((format(printf, 2, 3)))
static void keep(struct machine_changes *c, const char *format, ...)
{
	va_list arguments;

	if (c->count++ >= MACHINE_CHANGES_KEPT)
		return;

	struct machine_change *change = &c->kept[c->count - 1];

	change->at_ns = clock_read_ns(CLOCK_MONOTONIC);
	va_start(arguments, format);
	vsnprintf(change->text, sizeof(change->text), format, arguments);
	va_end(arguments);
}

static void look_at_frequency(struct machine_changes *c)
{
	const int64_t khz = read_khz(c), by = khz > c->khz ? khz - c->khz : c->khz - khz;

	if (khz < 0 || c->khz < 0 || by * FREQUENCY_PART <= c->khz)
		return;
	keep(c, "CPU %d from %" PRId64 " to %" PRId64 " MHz", c->cpu, c->khz / 1000, khz / 1000);
	c->khz = khz;
}

static void look_at_irq(struct machine_changes *c, struct machine_irq *irq)
{
	char cpus[MACHINE_CPUS_BYTES];

	read_cpus(cpus, irq->number);
	if (!*cpus || !strcmp(cpus, irq->cpus))
		return;
	if (*irq->cpus)
		keep(c, "interrupt %u from CPU %s to %s", irq->number, irq->cpus, cpus);
	strcpy(irq->cpus, cpus);
}

static void look_at_link(struct machine_changes *c)
{
	const int64_t changes = read_carrier(c);

	if (changes >= 0 && c->carrier_changes >= 0 && changes != c->carrier_changes)
		keep(c, "link of %s changed its state", c->interface);
	if (changes >= 0)
		c->carrier_changes = changes;
}

void machine_changes_look(void *changes)
{
	struct machine_changes *c = changes;

	if (c->idle && atomic_load_explicit(c->idle, memory_order_relaxed))
		return;
	look_at_frequency(c);
	for (unsigned i = 0; i < c->irqs; i++)
		look_at_irq(c, &c->irq[i]);
	look_at_link(c);
}
