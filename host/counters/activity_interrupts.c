// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/interrupts and /proc/softirqs, tables with a column for each CPU: counters of the measuring CPU, of the NIC's
 * interrupts, and of the CPUs that handle these.
 */
#include "host/counters/activity_inside.h"

#include "host/file.h"
#include "host/nic/nic.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which interrupts are the NIC's ---------------------------------------------------------------------------- */

/* After nsenter sysfs shows another network namespace, but PCI devices belong to none. */
static void find_vectors(struct activity *a)
{
	struct activity_inside *in = a->inside;
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	char path[PATH_MAX];
	struct dirent *entry;
	uint64_t irq;
	DIR *folder;

	if (nic_ethtool(a->nic, &info))
		return;
	snprintf(in->bus, sizeof(in->bus), "%.*s", (int)sizeof(info.bus_info), info.bus_info);
	/* The text becomes a file name and a word of the report: accept only characters of bus addresses. */
	if (in->bus[strspn(in->bus, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:._-")] ||
	    in->bus[0] == '.')
		in->bus[0] = '\0';
	if (!in->bus[0])
		return;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/msi_irqs", activity_root, in->bus);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (activity_text_number(entry->d_name, &irq) && irq <= UINT32_MAX && in->vectors < VECTORS)
			in->vector[in->vectors++] = (unsigned)irq;
	if (folder)
		closedir(folder);
}

/* Searches a whole word: "eth1" is not in "eth10-rx", nor in "veth1". */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; n && (at = strstr(at, word)); at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]))
			return true;
	return false;
}

static bool is_vector(const struct activity *a, uint64_t irq, const char *description)
{
	const struct activity_inside *in = a->inside;

	for (unsigned i = 0; i < in->vectors; i++)
		if (in->vector[i] == irq)
			return true;
	/* Another network namespace may have an interface of the same name, so compare names only without a list. */
	return !in->vectors && (has_word(description, a->nic->name) || has_word(description, in->bus));
}

/* ---- Interrupts ------------------------------------------------------------------------------------------------ */

/* The text after the controller, its number and the trigger: the names that drivers chose. */
static const char *hook_of(const char *description)
{
	static const char *const triggers[] = { "-edge ", "-level ", "-fasteoi ", " Edge ", " Level " };

	for (size_t i = 0; i < COUNT(triggers); i++) {
		const char *at = strstr(description, triggers[i]);

		if (at)
			return at + strlen(triggers[i]);
	}
	return description;
}

/* CPU of the interrupts: a change during the run explains a change of latency. */
static void open_affinity(struct activity *a, uint64_t irq, const char *action)
{
	struct activity_inside *in = a->inside;
	int fd = activity_open_file("/proc/irq/%" PRIu64 "/effective_affinity_list", irq);
	uint64_t cpu;
	bool seen = false;

	if (fd < 0)
		fd = activity_open_file("/proc/irq/%" PRIu64 "/smp_affinity_list", irq);
	if (fd < 0)
		return;
	if (activity_text_single(fd, &cpu) && cpu < CPUS && (int)cpu != a->cpu) {
		for (unsigned i = 0; i < in->vector_cpus; i++)
			seen |= in->vector_cpu[i] == (int)cpu;
		if (!seen && in->vector_cpus < VECTOR_CPUS)
			in->vector_cpu[in->vector_cpus++] = (int)cpu;
		else if (!seen)
			a->counters_left_out += 2;
	}
	activity_add_single(a, fd, activity_add_slot(a, GROUP_VECTORS, LEVEL, "", "CPU of IRQ %" PRIu64 " %s", irq,
						     action));
}

static uint16_t add_row_slot(struct activity *a, enum group group, enum kind kind, const char *name)
{
	uint16_t slot = activity_add_slot(a, group, kind, "", "%s", name);

	if (slot != NONE)
		a->inside->slot[slot].row = true;
	return slot;
}

static void add_row(struct activity *a, bool of_all_cpus)
{
	struct activity_inside *in = a->inside;
	const struct line *l = &in->text.line;
	struct row *row = &in->row[in->rows++];
	const char *action = hook_of(l->rest);
	char name[96];
	uint64_t irq;
	bool numbered = activity_text_number(l->label, &irq);

	*row = (struct row){ .cpu_slot = NONE, .vector_slot = NONE };
	memcpy(row->label, l->label, sizeof(row->label));
	snprintf(name, sizeof(name), "%s%s%s%s%.40s", numbered ? "IRQ " : "", l->label, of_all_cpus ? ", all CPUs" : "",
		 action[0] ? " " : "", action);
	if (a->cpu >= 0)
		row->cpu_slot = add_row_slot(a, GROUP_INTERRUPTS, COUNT_32, name);
	if (!numbered || !is_vector(a, irq, l->rest))
		return;
	row->vector_slot = add_row_slot(a, GROUP_VECTORS, SUM_32, name);
	if (in->opening)
		open_affinity(a, irq, action);
}

/* The row with the label of the line; rows have the same order at each reading. */
static struct row *find_row(struct activity *a, bool of_all_cpus)
{
	struct activity_inside *in = a->inside;

	for (unsigned i = 0; i < in->rows; i++) {
		struct row *row = &in->row[(in->next_row + i) % in->rows];

		if (!strcmp(row->label, in->text.line.label)) {
			in->next_row = (unsigned)(row - in->row) + 1;
			return row;
		}
	}
	if (in->rows == ROWS) {
		a->counters_left_out++;
		return NULL;
	}
	add_row(a, of_all_cpus);
	return &in->row[in->rows - 1];
}

static uint64_t sum(const struct activity_text *t)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < t->line.numbers; i++)
		total += t->number[i];
	return total;
}

static uint64_t hash_cpus(const struct activity_text *t)
{
	uint64_t hash = t->columns;

	for (unsigned i = 0; i < t->columns; i++)
		hash = (hash ^ t->cpu_of[i]) * 0x9e3779b97f4a7c15ULL;
	return hash;
}

/* If a CPU goes offline or online while the kernel writes the file, lines have more or fewer columns than the header,
 * and the CPUs of the numbers are not known. */
static bool read_interrupts(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;
	struct activity_text *t = &in->text;
	int column;
	bool whole = true;

	if (!activity_text_begin(t, in->fd[INTERRUPTS]) || !activity_text_header(t))
		return false;
	r->cpus = hash_cpus(t);
	column = activity_text_column(t, a->cpu);
	in->next_row = 0;
	while (activity_text_line(t, t->columns)) {
		const struct line *l = &t->line;
		/* "ERR: 0" */
		bool of_all_cpus = l->numbers == 1 && t->columns > 1 && !l->rest[0];
		struct row *row;

		if (!l->label[0] && !l->numbers && !l->rest[0])
			continue;
		if (!l->label[0] || l->odd || (l->numbers != t->columns && !of_all_cpus)) {
			whole = false;
			continue;
		}
		row = find_row(a, of_all_cpus);
		if (!row)
			continue;
		if (of_all_cpus || column >= 0)
			activity_put(r, row->cpu_slot, t->number[of_all_cpus ? 0 : column]);
		activity_put(r, row->vector_slot, sum(t));
	}
	r->rows = whole && !t->error && (column >= 0 || a->cpu < 0);
	return true;
}

/* ---- Softirqs -------------------------------------------------------------------------------------------------- */

static const char *const net_softirqs[] = { "NET_RX", "NET_TX" };

static void open_vector_softirqs(struct activity *a)
{
	struct activity_inside *in = a->inside;

	for (unsigned i = 0; i < in->vector_cpus; i++)
		for (int k = 0; k < 2; k++)
			in->vector_softirq[i][k] = activity_add_slot(a, GROUP_VECTOR_SOFTIRQS, COUNT_32, "",
								     "%s on CPU %d", net_softirqs[k],
								     in->vector_cpu[i]);
}

static void put_softirq(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;
	const struct activity_text *t = &in->text;
	int column = activity_text_column(t, a->cpu);

	if (t->line.numbers != t->columns || t->line.odd)
		return;
	for (unsigned i = 0; column >= 0 && i < in->slots; i++)
		if (in->slot[i].group == GROUP_SOFTIRQS && !strcmp(in->slot[i].name, t->line.label))
			activity_put(r, (uint16_t)i, t->number[column]);
	for (int k = 0; k < 2; k++)
		for (unsigned i = 0; i < in->vector_cpus && !strcmp(t->line.label, net_softirqs[k]); i++) {
			int other = activity_text_column(t, in->vector_cpu[i]);

			if (other >= 0)
				activity_put(r, in->vector_softirq[i][k], t->number[other]);
		}
}

static bool read_softirqs(struct activity *a, struct activity_reading *r)
{
	struct activity_inside *in = a->inside;
	struct activity_text *t = &in->text;
	unsigned rows = 0;

	if (!activity_text_begin(t, in->fd[SOFTIRQS]) || !activity_text_header(t))
		return false;
	for (; activity_text_line(t, t->columns); rows++) {
		/* Linux has ten kinds of softirqs, which do not change. */
		if (in->opening && a->cpu >= 0 && t->line.label[0] && t->line.numbers == t->columns && rows < 32)
			activity_add_slot(a, GROUP_SOFTIRQS, COUNT_32, "", "%s", t->line.label);
		put_softirq(a, r);
	}
	return true;
}

/* ---- Both ------------------------------------------------------------------------------------------------------ */

void activity_interrupts_open(struct activity *a)
{
	struct activity_inside *in = a->inside;
	unsigned vectors = 0;

	find_vectors(a);
	in->opening = true;
	if (in->fd[INTERRUPTS] >= 0 && !read_interrupts(a, &in->first))
		activity_note(a, "interrupts (/proc/interrupts is of an unknown form)");
	else if (in->fd[INTERRUPTS] >= 0 && a->cpu >= 0 && activity_text_column(&in->text, a->cpu) < 0)
		activity_note(a, "interrupts of CPU %d (not in /proc/interrupts)", a->cpu);
	else if (in->fd[INTERRUPTS] >= 0 && !in->first.rows)
		activity_note(a, "some interrupts (lines of /proc/interrupts that cannot be read)");
	for (unsigned i = 0; i < in->rows; i++)
		vectors += in->row[i].vector_slot != NONE;
	if (in->fd[INTERRUPTS] >= 0 && !vectors)
		activity_note(a, "interrupts of the NIC (no line of /proc/interrupts names '%s'%s%s)", a->nic->name,
			      in->bus[0] ? " or " : "", in->bus);
	open_vector_softirqs(a);
	if (in->fd[SOFTIRQS] >= 0 && !read_softirqs(a, &in->first))
		activity_note(a, "softirqs (/proc/softirqs is of an unknown form)");
	in->opening = false;
}

void activity_interrupts_read(struct activity *a, struct activity_reading *r)
{
	read_interrupts(a, r);
	read_softirqs(a, r);
}

/* ---- Their names and CPUs ---------------------------------------------------------------------------------------- */

static void set_vector(struct activity_vector *v, uint64_t irq, const char *description)
{
	static const char *const files[] = { "effective_affinity_list", "smp_affinity_list" };
	const char *name = hook_of(description);
	char path[PATH_MAX];

	*v = (struct activity_vector){ .irq = (unsigned)irq };
	name += strspn(name, " ");
	for (size_t i = 0; i + 1 < sizeof(v->name) && name[i] && name[i] != '\n'; i++)
		v->name[i] = name[i] < ' ' || name[i] > '~' ? '?' : name[i];
	for (size_t i = 0; i < COUNT(files) && !*v->cpus; i++) {
		snprintf(path, sizeof(path), "%s/proc/irq/%" PRIu64 "/%s", activity_root, irq, files[i]);
		file_read(path, v->cpus, sizeof(v->cpus));
		v->cpus[strcspn(v->cpus, "\n")] = 0;
	}
}

unsigned activity_read_vectors(const struct activity *a, struct activity_vector *v, unsigned most)
{
	char path[PATH_MAX], *line = NULL, *rest;
	unsigned n = 0;
	size_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/interrupts", activity_root);
	f = a->inside ? fopen(path, "re") : NULL;
	while (f && n < most && getline(&line, &bytes, f) > 0) {
		const uint64_t irq = strtoull(line, &rest, 10);

		if (*rest == ':' && irq <= UINT32_MAX && is_vector(a, irq, rest))
			set_vector(&v[n++], irq, rest + strspn(rest, ": 0123456789"));
	}
	if (f)
		fclose(f);
	free(line);
	return n;
}
