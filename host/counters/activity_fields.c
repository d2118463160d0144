// SPDX-License-Identifier: GPL-2.0-or-later
/* Single numbers in files of /proc: of the thread, of the link, and steal time. */
#include "host/counters/activity_inside.h"

#include "host/nic/nic.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEAL_COLUMN 7 /* of /proc/stat: proc_stat(5) */

/* The label "@" is the interface, "#" the measuring CPU, NULL the first line. */
static const struct field {
	enum file file;
	const char *label;
	unsigned column;
	enum group group;
	enum kind kind;
	const char *name, *unit;
} fields[] = {
	{ STATUS, "voluntary_ctxt_switches", 0, GROUP_THREAD, COUNT_64, "voluntary context switches", "" },
	{ STATUS, "nonvoluntary_ctxt_switches", 0, GROUP_THREAD, COUNT_64, "involuntary context switches", "" },
	{ SCHED, "se.nr_migrations", 0, GROUP_THREAD, COUNT_64, "migrations to another CPU", "" },
	{ SCHEDSTAT, NULL, 0, GROUP_THREAD, COUNT_64, "waited for the CPU", "ns" },
	{ TASK_STAT, NULL, 6, GROUP_THREAD, COUNT_64, "minor page faults", "" },
	{ TASK_STAT, NULL, 8, GROUP_THREAD, COUNT_64, "major page faults", "" },
	{ TASK_STAT, NULL, 35, GROUP_THREAD, LEVEL, "runs on CPU", "" },
	{ STAT, "#", STEAL_COLUMN, GROUP_CPU, COUNT_64, "stolen by the hypervisor", "ms" },
	{ NET_DEV, "@", 2, GROUP_LINK, COUNT_64, "receive errors", "" },
	{ NET_DEV, "@", 3, GROUP_LINK, COUNT_64, "receive drops", "" },
	{ NET_DEV, "@", 4, GROUP_LINK, COUNT_64, "receive FIFO errors", "" },
	{ NET_DEV, "@", 5, GROUP_LINK, COUNT_64, "receive frame errors", "" },
	{ NET_DEV, "@", 10, GROUP_LINK, COUNT_64, "transmit errors", "" },
	{ NET_DEV, "@", 11, GROUP_LINK, COUNT_64, "transmit drops", "" },
	{ NET_DEV, "@", 12, GROUP_LINK, COUNT_64, "transmit FIFO errors", "" },
	{ NET_DEV, "@", 13, GROUP_LINK, COUNT_64, "collisions", "" },
	{ NET_DEV, "@", 14, GROUP_LINK, COUNT_64, "carrier errors", "" },
};

/* All files of /proc that stay open; other activity_*.c read some of them. %d: the thread. */
static const struct {
	const char *path, *what;
	bool of_cpu;
} files[] = {
	[STATUS] = { "/proc/self/task/%d/status", "context switches", false },
	[SCHED] = { "/proc/self/task/%d/sched", "migrations", false },
	[SCHEDSTAT] = { "/proc/self/task/%d/schedstat", "time waited for the CPU", false },
	[TASK_STAT] = { "/proc/self/task/%d/stat", "page faults", false },
	[INTERRUPTS] = { "/proc/interrupts", "interrupts", false },
	[SOFTIRQS] = { "/proc/softirqs", "softirqs", false },
	[STAT] = { "/proc/stat", "time stolen by the hypervisor", true },
	[NET_DEV] = { "/proc/net/dev", "errors and drops of the interface", false },
};

static void field_label(const struct activity *a, const struct field *f, char label[32])
{
	if (f->label && f->label[0] == '#')
		snprintf(label, 32, "cpu%d", a->cpu);
	else
		snprintf(label, 32, "%s", f->label && f->label[0] == '@' ? a->nic->name : f->label ? f->label : "");
}

static uint64_t ticks_in_ms(uint64_t ticks)
{
	long ticks_per_s = sysconf(_SC_CLK_TCK);

	return ticks_per_s > 0 ? ticks * 1000 / (uint64_t)ticks_per_s : ticks;
}

static uint64_t in_unit(const struct field *f, uint64_t value)
{
	return f->file == STAT ? ticks_in_ms(value) : value;
}

/* "TID (name) S 1 2 3": the name may hold blanks and brackets, and some numbers are negative. */
static void read_task_stat(struct activity_inside *in, struct activity_reading *r)
{
	char text[1024], *at;
	ssize_t got = in->fd[TASK_STAT] < 0 ? -1 : pread(in->fd[TASK_STAT], text, sizeof(text) - 1, 0);

	if (got <= 0)
		return;
	text[got] = '\0';
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return;
	at += 3;
	for (unsigned column = 0; *at == ' '; column++) {
		unsigned long long value = strtoull(at + 1, &at, 10);

		for (size_t i = 0; i < COUNT(fields); i++)
			if (fields[i].file == TASK_STAT && fields[i].column == column)
				activity_put(r, in->field_slot[i], value);
	}
}

static void read_fields(struct activity *a, struct activity_reading *r, enum file file)
{
	struct activity_inside *in = a->inside;
	char label[32];

	if (!activity_text_begin(&in->text, in->fd[file]))
		return;
	while (activity_text_line(&in->text, 16)) {
		for (size_t i = 0; i < COUNT(fields); i++) {
			const struct field *f = &fields[i];

			if (f->file != file || f->column >= in->text.line.numbers)
				continue;
			field_label(a, f, label);
			if (!f->label || !strcmp(label, in->text.line.label))
				activity_put(r, in->field_slot[i], in_unit(f, in->text.number[f->column]));
		}
	}
}

void activity_fields_open(struct activity *a)
{
	struct activity_inside *in = a->inside;

	for (enum file file = 0; file < COUNT(files); file++) {
		char path[64];

		if (files[file].of_cpu && a->cpu < 0)
			continue;
		/* The format is one of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), files[file].path, (int)a->thread);
#pragma GCC diagnostic pop
		in->fd[file] = activity_open_file("%s", path);
		if (in->fd[file] < 0)
			activity_note(a, "%s (%s: %s)", files[file].what, path, strerror(-in->fd[file]));
	}
	for (size_t i = 0; i < COUNT(fields); i++)
		if (in->fd[fields[i].file] >= 0)
			in->field_slot[i] = activity_add_slot(a, fields[i].group, fields[i].kind, fields[i].unit,
							      "%s", fields[i].name);
}

void activity_fields_read(struct activity *a, struct activity_reading *r)
{
	for (enum file file = 0; file < COUNT(files); file++)
		if (file == TASK_STAT)
			read_task_stat(a->inside, r);
		else if (file != INTERRUPTS && file != SOFTIRQS)
			read_fields(a, r, file);
}

void activity_fields_steal_begin(struct activity *a)
{
	struct activity_inside *in = a->inside;

	if (in && !in->unseen_text)
		in->unseen_text = calloc(1, sizeof(*in->unseen_text));
}

bool activity_fields_steal(struct activity *a, uint64_t *ms)
{
	struct activity_text *text = a->inside->unseen_text;
	char label[32];

	snprintf(label, sizeof(label), "cpu%d", a->cpu);
	if (!text || a->cpu < 0 || !activity_text_begin(text, a->inside->fd[STAT]))
		return false;
	while (activity_text_line(text, 16)) {
		if (strcmp(label, text->line.label) || text->line.numbers <= STEAL_COLUMN)
			continue;
		*ms = ticks_in_ms(text->number[STEAL_COLUMN]);
		return true;
	}
	return false;
}

void activity_fields_note_missing(struct activity *a)
{
	const struct activity_inside *in = a->inside;

	for (size_t i = 0; i < COUNT(fields); i++)
		if (in->field_slot[i] != NONE && !activity_is_known(&in->first, in->field_slot[i]))
			activity_note(a, "%s (not in %s)", fields[i].name, strrchr(files[fields[i].file].path, '/'));
}
