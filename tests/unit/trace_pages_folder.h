/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder with the text of a trace and its raw pages, written as kernel 6.12 writes them. Events are added in the
 * order of time; each is a record in the page of its CPU, and a line of the text.
 */
#ifndef TRACE_PAGES_FOLDER_H
#define TRACE_PAGES_FOLDER_H

#include "util.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#ifndef PAGE_BYTES
#define PAGE_BYTES 4096
#endif
#define DATA_AT 16
#define FOLDER_CPUS 3
#define PAGES_MAX 8

#define COMMON_FIELDS \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(type, name, offset, size) "\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

enum {
	TYPE_PRINT = 5, TYPE_IRQ = 300, TYPE_SOFTIRQ, TYPE_NMI, TYPE_SWITCH, TYPE_IDLE, TYPE_HRTIMER, TYPE_POLL, TYPE_OTHER
};

static const struct {
	const char *event;
	int id;
	const char *fields;
} formats[] = {
	{ "ftrace/print", TYPE_PRINT, FIELD("unsigned long", "ip", 8, 8) FIELD("char", "buf[]", 16, 0) },
	{ "irq/irq_handler_entry", TYPE_IRQ, FIELD("int", "irq", 8, 4) FIELD("__data_loc char[]", "name", 12, 4) },
	{ "irq/softirq_entry", TYPE_SOFTIRQ, FIELD("unsigned int", "vec", 8, 4) },
	{ "nmi/nmi_handler", TYPE_NMI, FIELD("void *", "handler", 8, 8) FIELD("s64", "delta_ns", 16, 8)
	  FIELD("int", "handled", 24, 4) },
	{ "sched/sched_switch", TYPE_SWITCH, FIELD("char", "prev_comm[16]", 8, 16) FIELD("pid_t", "prev_pid", 24, 4)
	  FIELD("int", "prev_prio", 28, 4) FIELD("long", "prev_state", 32, 8) FIELD("char", "next_comm[16]", 40, 16)
	  FIELD("pid_t", "next_pid", 56, 4) FIELD("int", "next_prio", 60, 4) },
	{ "power/cpu_idle", TYPE_IDLE, FIELD("u32", "state", 8, 4) FIELD("u32", "cpu_id", 12, 4) },
	{ "timer/hrtimer_expire_entry", TYPE_HRTIMER, FIELD("void *", "hrtimer", 8, 8) FIELD("s64", "now", 16, 8)
	  FIELD("void *", "function", 24, 8) },
	{ "napi/napi_poll", TYPE_POLL, FIELD("struct napi_struct *", "napi", 8, 8)
	  FIELD("__data_loc char[]", "dev_name", 16, 4) FIELD("int", "work", 20, 4) FIELD("int", "budget", 24, 4) },
};

struct common_fields {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
};

static char pages_folder[64];
static char pages_text[16384]; /* all.txt */
static struct {
	uint8_t page[PAGES_MAX][PAGE_BYTES];
	unsigned pages;
	size_t used; /* of the last */
	int64_t last_ns;
} pages_of[FOLDER_CPUS];

/* text NULL: removed. The folders of its path are made. */
static void pages_write(const char *name, const void *data, size_t bytes)
{
	char path[192];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", pages_folder, name);
	for (char *slash = strchr(path + strlen(pages_folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	unlink(path);
	if (!data)
		return;
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	fclose(file);
}

static void pages_write_format(const char *event, int id, const char *fields)
{
	char text[4096], name[96];

	snprintf(text, sizeof(text), "name: %s\nID: %d\nformat:\n" COMMON_FIELDS "%s\nprint fmt: \"%%d {}\", REC->a(b)\n",
		 strchr(event, '/') + 1, id, fields);
	snprintf(name, sizeof(name), "raw/events/%s/format", event);
	pages_write(name, text, strlen(text));
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static uint8_t *pages_last(unsigned cpu)
{
	return pages_of[cpu].page[pages_of[cpu].pages - 1];
}

static void pages_put(unsigned cpu, const void *data, size_t bytes)
{
	const uint64_t commit = pages_of[cpu].used + bytes;

	assert_true(commit <= PAGE_BYTES - DATA_AT);
	memcpy(pages_last(cpu) + DATA_AT + pages_of[cpu].used, data, bytes);
	pages_of[cpu].used = commit;
	memcpy(pages_last(cpu) + 8, &commit, sizeof(commit));
}

static void pages_put_head(unsigned cpu, uint32_t type, uint32_t delta)
{
	const uint32_t head = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? type | delta << 5 : type << 27 | delta;

	pages_put(cpu, &head, 4);
}

static void pages_begin_page(unsigned cpu, int64_t ns)
{
	assert_true(pages_of[cpu].pages < PAGES_MAX);
	pages_of[cpu].pages++;
	pages_of[cpu].used = 0;
	pages_of[cpu].last_ns = ns;
	memcpy(pages_last(cpu), &ns, sizeof(ns));
	memset(pages_last(cpu) + 8, 0, PAGE_BYTES - 8);
}

/* The last page is complete; `missed` events were lost before it, -1: the kernel does not know their number. */
static void pages_set_missed(unsigned cpu, int64_t missed)
{
	const uint64_t commit = pages_of[cpu].used | 1U << 31 | (missed > 0 ? 1U << 30 : 0);

	memcpy(pages_last(cpu) + 8, &commit, sizeof(commit));
	if (missed > 0)
		memcpy(pages_last(cpu) + DATA_AT + pages_of[cpu].used, &missed, sizeof(missed));
}

/* A time with 59 bits, as in a nested interrupt. */
static void pages_put_time(unsigned cpu, int64_t ns)
{
	const uint32_t high = (uint32_t)(ns >> 27);

	pages_put_head(cpu, 31, (uint32_t)ns & ((1U << 27) - 1));
	pages_put(cpu, &high, 4);
	pages_of[cpu].last_ns = ns;
}

/* An event that was discarded: padding with a time. */
static void pages_put_discarded(unsigned cpu)
{
	const uint32_t length = 12;

	pages_put_head(cpu, 29, 1);
	pages_put(cpu, &length, 4);
	pages_put(cpu, "12345678", 8);
	pages_of[cpu].last_ns++;
}

static void pages_put_record(unsigned cpu, int64_t ns, const void *record, size_t bytes)
{
	int64_t delta;

	if (!pages_of[cpu].pages)
		pages_begin_page(cpu, ns);
	delta = ns - pages_of[cpu].last_ns;
	if (delta >= 1 << 27) {
		const uint32_t high = (uint32_t)(delta >> 27);

		pages_put_head(cpu, 30, (uint32_t)delta & ((1U << 27) - 1));
		pages_put(cpu, &high, 4);
		delta = 0;
	}
	bytes = (bytes + 3) / 4 * 4;
	if (bytes <= 28 * 4) {
		pages_put_head(cpu, (uint32_t)bytes / 4, (uint32_t)delta);
	} else {
		const uint32_t length = (uint32_t)bytes + 4;

		pages_put_head(cpu, 0, (uint32_t)delta);
		pages_put(cpu, &length, 4);
	}
	pages_put(cpu, record, bytes);
	pages_of[cpu].last_ns = ns;
}

static void pages_add_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void pages_add_text(const char *format, ...)
{
	const size_t used = strlen(pages_text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(pages_text + used, sizeof(pages_text) - used, format, arguments);
	va_end(arguments);
	assert_true(strlen(pages_text) < sizeof(pages_text) - 1);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

#define PAGES_NS 1000000000000 /* times are after it */

/* An event in the record and, with its arguments as text, in the line. task: "NAME-PID". */
static void pages_add(unsigned cpu, int64_t ns, uint8_t flags, const char *task, uint16_t type, const void *fields,
		      size_t bytes, const char *arguments)
{
	const char *dash = strrchr(task, '-');
	const struct common_fields common = { .type = type, .flags = flags, .pid = atoi(dash + 1) };
	const int64_t at_ns = PAGES_NS + ns, us = (at_ns + 500) / 1000;
	uint8_t record[1024] = { 0 };
	char columns[8];

	memcpy(record, &common, sizeof(common));
	memcpy(record + sizeof(common), fields, bytes);
	pages_put_record(cpu, at_ns, record, sizeof(common) + bytes);
	snprintf(columns, sizeof(columns), "%c.%c..", flags & 1 ? 'd' : '.',
		 flags & 8 ? flags & 16 ? 'H' : 'h' : flags & 16 ? 's' : '.');
	pages_add_text("%16.*s-%-7d [%03u] %s %5lld.%06lld: %s\n", (int)(dash - task), task, common.pid, cpu, columns,
		       (long long)us / 1000000, (long long)us % 1000000, arguments);
}

static void pages_add_switch(unsigned cpu, int64_t ns, const char *task, const char *next, int32_t pid, int32_t prio)
{
	struct {
		char prev_comm[16];
		int32_t prev_pid, prev_prio;
		int64_t prev_state;
		char next_comm[16];
		int32_t next_pid, next_prio;
	} fields = { .next_pid = pid, .next_prio = prio };
	char text[160];

	memcpy(fields.next_comm, next, strlen(next));
	snprintf(text, sizeof(text), "sched_switch: prev_comm= prev_pid=0 prev_prio=0 prev_state=R ==> next_comm=%s "
		 "next_pid=%d next_prio=%d", next, pid, prio);
	pages_add(cpu, ns, 1, task, TYPE_SWITCH, &fields, sizeof(fields), text);
}

static void pages_add_print(unsigned cpu, int64_t ns, const char *task, const char *text)
{
	uint8_t fields[512] = { 0 };
	char line[600];

	snprintf((char *)fields + 8, sizeof(fields) - 8, "%s\n", text);
	snprintf(line, sizeof(line), "tracing_mark_write: %s", text);
	pages_add(cpu, ns, 0, task, TYPE_PRINT, fields, 8 + strlen(text) + 2, line);
}

static void pages_add_irq(unsigned cpu, int64_t ns, const char *task, int32_t irq, const char *name)
{
	struct {
		int32_t irq;
		uint32_t name;
		char text[32];
	} fields = { irq, 16 | (uint32_t)(strlen(name) + 1) << 16, "" };
	char text[96];

	strcpy(fields.text, name);
	snprintf(text, sizeof(text), "irq_handler_entry: irq=%d name=%s", irq, name);
	pages_add(cpu, ns, 9, task, TYPE_IRQ, &fields, sizeof(fields), text);
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

static int pages_make_folder(void **state)
{
	(void)state;
	strcpy(pages_folder, "/tmp/test_pages.XXXXXX");
	assert_non_null(mkdtemp(pages_folder));
	memset(pages_of, 0, sizeof(pages_of));
	strcpy(pages_text, "# Trace clock: mono_raw\n");
	return 0;
}

static int pages_remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
	(void)s, (void)type, (void)ftw;
	return remove(path);
}

static int pages_remove_folder(void **state)
{
	(void)state;
	return nftw(pages_folder, pages_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes all of it, over what is there. */
static void pages_write_all(void)
{
	char name[32];

	pages_write("all.txt", pages_text, strlen(pages_text));
	pages_write("raw/header_page", header_page, strlen(header_page));
	for (size_t i = 0; i < COUNT_OF(formats); i++)
		pages_write_format(formats[i].event, formats[i].id, formats[i].fields);
	for (unsigned cpu = 0; cpu < FOLDER_CPUS; cpu++) {
		snprintf(name, sizeof(name), "raw/cpu%u", cpu);
		pages_write(name, pages_of[cpu].page, pages_of[cpu].pages * PAGE_BYTES);
	}
}

#endif
