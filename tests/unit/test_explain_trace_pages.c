/* build: sources=explain/trace_text.c,explain/trace_format.c,tracefs.c,host/trace/trace_[defrs]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The raw pages of a trace: each kind of record, refused folders, and as root traces of the kernel with each clock. */
#include "explain/trace_pages.c"

#include "trace_pages_folder.h"

#ifdef WITH_TRACEEVENT

#include "host/trace/trace_files.h"
#include "host/trace/trace_save.h"

static char why[TRACE_PAGES_WHY_BYTES];

/* The text of a folder, or NULL; with its pages, or without. */
static int read_folder(struct trace_text *t, const char *folder, bool pages)
{
	const int fd = open(folder, O_RDONLY | O_DIRECTORY);
	char path[PATH_MAX];
	FILE *file;
	int error;

	snprintf(path, sizeof(path), "%s/all.txt", folder);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(trace_text_read(t, file), 0);
	fclose(file);
	strcpy(why, "unchanged");
	error = pages ? trace_pages_read(t, fd, why) : 0;
	close(fd);
	return error;
}

static bool is_equal(const struct trace_text *a, const struct event *x, const struct trace_text *b,
		     const struct event *y)
{
	return !strcmp(trace_text_name(a, x->name), trace_text_name(b, y->name)) &&
	       !strcmp(trace_text_name(a, x->task), trace_text_name(b, y->task)) && x->pid == y->pid &&
	       x->number == y->number && x->prio == y->prio && x->cpu == y->cpu && x->kind == y->kind &&
	       x->context == y->context && x->irqs == y->irqs;
}

/* The events of the pages are those of the text, with times that round to those of the text. */
static void assert_as_text(const struct trace_text *pages, const struct trace_text *text)
{
	assert_int_equal(pages->count, text->count);
	assert_true(pages->kinds == text->kinds);
	for (size_t i = 0; i < text->count; i++) {
		const struct event *p = &pages->event[i], *t = &text->event[i];

		if (is_equal(pages, p, text, t) && in_text(p->ns) == t->ns && (!i || p->ns >= p[-1].ns))
			continue;
		fail_msg("event %zu: pages: kind %d, name '%s', task '%s', pid %d, number %d, prio %d, cpu %d, context '%c', "
			 "irqs '%c', %lld ns; text: kind %d, name '%s', task '%s', pid %d, number %d, prio %d, cpu %d, context '%c', "
			 "irqs '%c', %lld ns", i, p->kind, trace_text_name(pages, p->name), trace_text_name(pages, p->task),
			 p->pid, p->number, p->prio, p->cpu, p->context, p->irqs, (long long)p->ns, t->kind,
			 trace_text_name(text, t->name), trace_text_name(text, t->task), t->pid, t->number, t->prio, t->cpu,
			 t->context, t->irqs, (long long)t->ns);
	}
	assert_string_equal(pages->breach.text, text->breach.text);
	assert_string_equal(pages->start.text, text->start.text);
	assert_int_equal(in_text(pages->breach.ns), text->breach.ns);
	assert_int_equal(pages->breach.cpu, text->breach.cpu);
	assert_int_equal(pages->breach.pid, text->breach.pid);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static void add_events(void)
{
	static const struct { uint32_t vec; } softirq = { 3 };
	static const struct { uint64_t handler; int64_t delta_ns; int32_t handled, pad; } nmi = { 0xffff1234, 1234, 1, 0 };
	static const struct { uint32_t state, cpu; } idle = { UINT32_MAX, 1 };
	static const struct { uint64_t hrtimer; int64_t now; uint64_t function; } timer = { 1, 2, 0xffff5678 };
	static const struct { uint64_t napi; uint32_t name; int32_t work, budget; char text[8]; } poll = {
		1, 28 | 5 << 16, 7, 64, "eth1" };

	pages_add_print(1, 501, "rant-loop-77", "RANT_TEST_START role=emit REALTIME=1.000000001");
	pages_add_irq(0, 1499, "<idle>-0", 36, "eth1 rx");
	pages_add_switch(1, 1500, "rant-loop-77", "a b", 12, 49);
	pages_add(0, 1501, 17, "<idle>-0", TYPE_SOFTIRQ, &softirq, sizeof(softirq), "softirq_entry: vec=3 [action=NET_RX]");
	/* Equal times: CPU 0 is first, and the order of a CPU stays. */
	pages_add(0, 2000, 25, "<idle>-0", TYPE_NMI, &nmi, sizeof(nmi), "nmi_handler: perf_nmi() delta_ns: 1234 handled: 1");
	pages_add(0, 2000, 0, "<idle>-0", TYPE_IDLE, &idle, sizeof(idle), "cpu_idle: state=4294967295 cpu_id=1");
	pages_add(1, 2000, 0, "x-y-12", TYPE_IDLE, &idle, sizeof(idle), "cpu_idle: state=4294967295 cpu_id=1");
	/* A time extend of 3 s, and a record of more than 112 octets. */
	pages_add_print(1, 3000000123, "rant-loop-77", "hello, which is no marker, and is long enough to be a record with a "
			"length of its own, as all that has more than 112 octets");
	pages_put_discarded(1);
	pages_put_time(1, PAGES_NS + 3000001000);
	pages_add(1, 3000001999, 0, "rant-loop-77", TYPE_HRTIMER, &timer, sizeof(timer),
		  "hrtimer_expire_entry: hrtimer=00 function=tick now=2");
	pages_add(1, 3000002000, 0, "rant-loop-77", TYPE_OTHER, &timer, sizeof(timer), "other_event: a=1");
	pages_add(1, 3000002700, 16, "rant-loop-77", TYPE_POLL, &poll, sizeof(poll),
		  "napi_poll: napi poll on napi struct 01 for device eth1 work 7 budget 64");
	pages_add_print(1, 3000003001, "rant-loop-77", "RANT_BREACH role=emit seq=1");
}

static void each_record_is_read(void **state)
{
	struct trace_text pages, text;

	(void)state;
	add_events();
	pages_write_all();
	assert_int_equal(read_folder(&text, pages_folder, false), 0);
	assert_int_equal(text.malformed, 0);
	assert_int_equal(text.resolution_ns, 1000);
	if (read_folder(&pages, pages_folder, true))
		fail_msg("%s", why);
	assert_string_equal(why, "");
	assert_int_equal(pages.resolution_ns, 0);
	assert_int_equal(pages.count, 12);
	assert_as_text(&pages, &text);
	assert_int_equal(pages.event[0].ns, PAGES_NS + 501);
	assert_int_equal(pages.event[7].ns, PAGES_NS + 3000000123);
	assert_int_equal(pages.event[8].ns, PAGES_NS + 3000001999);
	assert_int_equal(pages.breach.ns, PAGES_NS + 3000003001);
	assert_string_equal(pages.start.text, "RANT_TEST_START role=emit REALTIME=1.000000001");
	assert_int_equal(pages.unknown, 2);
	trace_text_free(&pages);
	trace_text_free(&text);
}

/* A loss is between pages; before the first page events were overwritten. */
static void losses(void **state)
{
	struct trace_text pages;

	(void)state;
	pages_add_switch(0, 1000, "a-1", "b", 2, 120);
	pages_set_missed(0, 5);
	pages_begin_page(0, PAGES_NS + 2000);
	pages_add_switch(0, 2000, "c-3", "d", 4, 120);
	pages_set_missed(0, 123);
	pages_begin_page(0, PAGES_NS + 3000);
	pages_put_time(0, PAGES_NS + 3001);
	pages_add_switch(0, 3002, "d-4", "a", 1, 120);
	pages_set_missed(0, -1);
	pages_add_switch(1, 2500, "e-5", "f", 6, 120);
	pages_write_all();
	/* In the text the line of CPU 1 is after a later line. */
	if (read_folder(&pages, pages_folder, true))
		assert_string_equal(why, "");
	assert_int_equal(pages.count, 6);
	assert_int_equal(pages.event[0].kind, EVENT_SWITCH);
	assert_int_equal(pages.event[1].kind, EVENT_LOST);
	assert_int_equal(pages.event[1].number, 123);
	assert_int_equal(pages.event[1].ns, PAGES_NS + 2000);
	assert_int_equal(pages.event[1].pid, 3);
	assert_string_equal(trace_text_name(&pages, pages.event[1].task), "c");
	assert_int_equal(pages.event[3].cpu, 1);
	assert_int_equal(pages.event[4].kind, EVENT_LOST);
	assert_int_equal(pages.event[4].number, 1);
	assert_int_equal(pages.lost, 124);
	trace_text_free(&pages);
}

/* The text ends before the marker: the pages have it. Names that only the text has are not known. */
static void text_is_truncated(void **state)
{
	struct trace_text pages;

	(void)state;
	add_events();
	*strstr(pages_text, "napi_poll") = '\0';
	pages_write_all();
	if (read_folder(&pages, pages_folder, true))
		fail_msg("%s", why);
	assert_true(pages.cut_off);
	assert_int_equal(pages.count, 12);
	assert_string_equal(pages.breach.text, "RANT_BREACH role=emit seq=1");
	assert_string_equal(trace_text_name(&pages, pages.event[10].name), "eth1");
	assert_string_equal(trace_text_name(&pages, pages.event[10].task), "?");
	trace_text_free(&pages);
}

/* ---- Refused ----------------------------------------------------------------------------------------------------- */

static void patch(unsigned cpu, size_t at, uint64_t value, size_t bytes)
{
	memcpy((uint8_t *)pages_of[cpu].page + at, &value, bytes);
	pages_write_all();
}

static void no_raw(void)
{
	char path[96], to[96];

	snprintf(path, sizeof(path), "%s/raw", pages_folder);
	snprintf(to, sizeof(to), "%s/elsewhere", pages_folder);
	assert_int_equal(rename(path, to), 0);
}

static void raw_is_a_link(void)
{
	char path[96];

	no_raw();
	snprintf(path, sizeof(path), "%s/raw", pages_folder);
	assert_int_equal(symlink("elsewhere", path), 0);
}

static void link_to(const char *name, const char *target)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", pages_folder, name);
	remove(path);
	if (!target)
		assert_int_equal(mkfifo(path, 0600), 0);
	else
		assert_int_equal(symlink(target, path), 0);
}

static void cpu_is_a_link(void) { link_to("raw/cpu1", "cpu0"); }
static void cpu_is_a_fifo(void) { link_to("raw/cpu1", NULL); }
static void cpu_is_absent(void) { pages_write("raw/cpu1", NULL, 0); }
static void header_is_absent(void) { pages_write("raw/header_page", NULL, 0); }
static void cpu_is_truncated(void) { pages_write("raw/cpu1", pages_of[1].page, 100); }
static void commit_is_too_long(void) { patch(1, 8, 4081, 8); }
static void commit_cuts_a_record(void) { patch(1, 8, 10, 8); }
static void lost_number_does_not_fit(void) { patch(1, 8, 4080 | 3U << 30, 8); }
static void record_is_endless(void) { patch(1, DATA_AT, 29, 4); patch(1, DATA_AT + 4, (uint64_t)-8 & UINT32_MAX, 4); }

static void record_has_no_length(void)
{
	pages_put_head(1, 0, 0);
	pages_put(1, "\0\0\0", 4);
	pages_write_all();
}

static void time_is_huge(void) { patch(1, 0, UINT64_MAX, 8); }
static void event_is_another(void) { patch(0, DATA_AT + 4, TYPE_OTHER, 2); }
static void pid_is_another(void) { patch(0, DATA_AT + 4 + 4, 5, 4); }
static void time_is_another(void) { patch(0, 0, PAGES_NS + 3499, 8); }

static void time_goes_back(void)
{
	static const struct common_fields record = { .type = TYPE_OTHER };

	pages_begin_page(1, PAGES_NS + 3000003000);
	pages_put_record(1, PAGES_NS + 3000003000, &record, sizeof(record));
	pages_write_all();
}

static void formats_directory_is_a_link(void)
{
	char path[160], to[160];

	snprintf(path, sizeof(path), "%s/raw/events/sched", pages_folder);
	snprintf(to, sizeof(to), "%s/sched", pages_folder);
	assert_int_equal(rename(path, to), 0);
	link_to("raw/events/sched", "../../sched");
}

static void field_is_absent(void)
{
	pages_write_format("power/cpu_idle", TYPE_IDLE, FIELD("u32", "status", 8, 4));
}

static void field_has_another_size(void)
{
	pages_write_format("power/cpu_idle", TYPE_IDLE, FIELD("u32", "state", 8, 3));
}

static void field_is_outside(void)
{
	pages_write_format("power/cpu_idle", TYPE_IDLE, FIELD("u32", "state", 4000, 4));
}

static void field_is_no_text(void)
{
	pages_write_format("irq/irq_handler_entry", TYPE_IRQ, FIELD("int", "irq", 8, 4) FIELD("int", "name", 12, 4));
}

static void text_has_unusual_characters(void)
{
	pages_write_format("power/cpu_idle", TYPE_IDLE, FIELD("u32", "state\"(", 8, 4));
}

static void two_have_an_id(void)
{
	pages_write_format("power/cpu_idle", TYPE_IRQ, FIELD("u32", "state", 8, 4));
}

static void id_is_too_large(void)
{
	pages_write_format("power/cpu_idle", 65536, FIELD("u32", "state", 8, 4));
}

static void common_fields_differ(void)
{
	static const char text[] = "name: cpu_idle\nID: 304\nformat:\n"
		FIELD("unsigned short", "common_type", 0, 2) FIELD("unsigned char", "common_flags", 4, 1)
		FIELD("int", "common_pid", 8, 4) "\n" FIELD("u32", "state", 12, 4) "\nprint fmt: \"\"\n";

	pages_write("raw/events/power/cpu_idle/format", text, strlen(text));
}

static void format_is_empty(void)
{
	pages_write("raw/events/power/cpu_idle/format", "", 0);
}

static void pages_have_another_size(void)
{
	char text[512];

	snprintf(text, sizeof(text), "%s", header_page);
	memcpy(strstr(text, "4080"), "8176", 4);
	pages_write("raw/header_page", text, strlen(text));
}

static void pages_have_no_data(void)
{
	char text[512];

	snprintf(text, sizeof(text), "%s", header_page);
	memcpy(strstr(text, "char data"), "char dada", 9);
	pages_write("raw/header_page", text, strlen(text));
}

static const struct {
	const char *name;
	void (*damage)(void);
	const char *why;
} refused[] = {
	{ "no raw", no_raw, "no raw pages: raw/: No such file or directory" },
	{ "raw is a link", raw_is_a_link, "no raw pages: raw/: Not a directory" },
	{ "a CPU is a link", cpu_is_a_link, "raw/cpu1: Too many levels of symbolic links" },
	{ "a CPU is a FIFO", cpu_is_a_fifo, "raw/cpu1: Invalid argument" },
	{ "a CPU is absent", cpu_is_absent, "raw/cpu1 lacks the event of all.txt at 1000.000001" },
	{ "a CPU is truncated", cpu_is_truncated, "raw/cpu1 is truncated, or has pages of another size" },
	{ "a page is longer than it is", commit_is_too_long, "raw/cpu1 has an invalid page" },
	{ "a page ends within a record", commit_cuts_a_record, "raw/cpu1 has an invalid page" },
	{ "no room for the number of lost events", lost_number_does_not_fit, "raw/cpu1 has an invalid page" },
	{ "a record leads back", record_is_endless, "raw/cpu1 has an invalid page" },
	{ "a record has no length", record_has_no_length, "raw/cpu1 has an invalid page" },
	{ "a time is too large", time_is_huge, "raw/cpu1: its times go back" },
	{ "a page is older than the one before", time_goes_back, "raw/cpu1: its times go back" },
	{ "another event", event_is_another, "raw/cpu0 lacks the event of all.txt at 1000.000001" },
	{ "another task", pid_is_another, "raw/cpu0 lacks the event of all.txt at 1000.000001" },
	{ "another time", time_is_another, "raw/cpu0 lacks the event of all.txt at 1000.000001" },
	{ "no header_page", header_is_absent, "raw/header_page: No such file or directory" },
	{ "pages of another size", pages_have_another_size, "raw/cpu0 is truncated, or has pages of another size" },
	{ "pages without data", pages_have_no_data, "raw/header_page has another layout of pages" },
	{ "a folder of formats is a link", formats_directory_is_a_link,
	  "raw/events/sched/sched_switch/format: Not a directory" },
	{ "a field is absent", field_is_absent, "raw/events/power/cpu_idle/format has no field state" },
	{ "a field of another size", field_has_another_size,
	  "raw/events/power/cpu_idle/format: the field state has 3 octets" },
	{ "a field outside of the record", field_is_outside, "raw/cpu0 lacks the event of all.txt at 1000.000002" },
	{ "a number instead of a name", field_is_no_text,
	  "raw/events/irq/irq_handler_entry/format: the field name has 4 octets" },
	{ "unusual characters", text_has_unusual_characters, "raw/events/power/cpu_idle/format has no field state" },
	{ "an id of another event", two_have_an_id, "raw/events/power/cpu_idle/format has no id, or that of another event" },
	{ "an id beyond 16 bits", id_is_too_large, "raw/events/power/cpu_idle/format has no id, or that of another event" },
	{ "common fields differ", common_fields_differ, "raw/events/power/cpu_idle/format is of another kernel" },
	{ "an empty format", format_is_empty, "raw/events/power/cpu_idle/format has no id, or that of another event" },
};

/* The text remains, as it was read. */
static void refused_pages(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		struct trace_text text, pages;

		assert_int_equal(pages_make_folder(NULL), 0);
		add_events();
		pages_write_all();
		refused[i].damage();
		assert_int_equal(read_folder(&text, pages_folder, false), 0);
		if (!read_folder(&pages, pages_folder, true) || strcmp(why, refused[i].why))
			fail_msg("%s: '%s' instead of '%s'", refused[i].name, why, refused[i].why);
		assert_int_equal(pages.resolution_ns, 1000);
		assert_as_text(&pages, &text);
		trace_text_free(&pages);
		trace_text_free(&text);
		assert_int_equal(pages_remove_folder(NULL), 0);
	}
}

/* No crash, no endless loop, and events in the order of time, whatever the octets are. */
static void random_changes(void **state)
{
	static const char *const names[] = { "raw/cpu0", "raw/cpu1", "raw/header_page",
					     "raw/events/sched/sched_switch/format", "raw/events/ftrace/print/format" };
	unsigned read = 0;

	(void)state;
	add_events();
	for (int i = 0; i < 400; i++) {
		const char *name = names[util_below(COUNT_OF(names))];
		struct trace_text pages;
		uint8_t data[2 * PAGE_BYTES];
		char path[160];
		size_t bytes;
		FILE *file;

		pages_write_all();
		snprintf(path, sizeof(path), "%s/%s", pages_folder, name);
		file = fopen(path, "r");
		assert_non_null(file);
		bytes = fread(data, 1, sizeof(data), file);
		fclose(file);
		for (uint64_t k = util_below(4) + 1; k; k--)
			data[util_below(bytes < 400 ? bytes : 400)] = (uint8_t)util_random();
		pages_write(name, data, bytes);
		read += !read_folder(&pages, pages_folder, true);
		for (size_t k = 1; k < pages.count; k++)
			assert_true(pages.event[k].ns >= pages.event[k - 1].ns);
		trace_text_free(&pages);
	}
	print_message("%u of 400 were read\n", read);
}

/* ---- Traces of the kernel ---------------------------------------------------------------------------------------- */

static void put_word(const char *instance, const char *name, const char *word)
{
	char path[TRACE_MOUNT_BYTES + 160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	file = fopen(path, "w");
	if (!file)
		return; /* an event that this kernel does not have */
	fputs(word, file);
	fclose(file);
}

/* Enabling an event takes the kernel long. False: no instance can be made here. */
static bool make_instance(char *instance, size_t bytes)
{
	const struct trace_event_row *row;
	char mount[TRACE_MOUNT_BYTES], path[160];

	if (geteuid() || !trace_find(mount))
		return false;
	snprintf(instance, bytes, "%s/instances/rant_pages_%d", mount, (int)getpid());
	if (mkdir(instance, 0700))
		return false;
	for (size_t i = 0; (row = trace_text_row(i)); i++) {
		snprintf(path, sizeof(path), "events/%s/%s/enable", row->system, row->event);
		put_word(instance, path, "1");
	}
	put_word(instance, "events/syscalls/sys_enter_clock_nanosleep/enable", "1"); /* without a meaning here */
	put_word(instance, "buffer_size_kb", "4096");
	return true;
}

static void record(const char *instance, const char *clock, struct trace_saved *saved)
{
	const struct trace_wanted wanted = { .packets_per_s = 1000 };
	struct util_capture capture;
	struct trace t;
	char lines[2048];
	int opened, done = 0;

	*saved = (struct trace_saved){ .path = "" };
	put_word(instance, "trace_clock", clock);
	util_capture_begin(&capture);
	opened = trace_open(&t, strrchr(instance, '/') + 1, &wanted);
	if (!opened) {
		trace_mark_start(&t, ROLE_EMIT);
		for (int i = 0; i < 5; i++)
			util_visit_cpus(2000);
		trace_breach(&t, ROLE_EMIT, &(struct sample){ .seq = 7 }, 1000, true);
		done = trace_save(&t, pages_folder, saved);
		trace_close(&t);
	}
	util_capture_end(&capture, lines, sizeof(lines));
	if (opened || done != 1)
		fail_msg("%s: %d %d %s", clock, opened, done, lines);
}

static void compare_real(const char *instance, const char *clock)
{
	struct trace_text pages, text;
	struct trace_saved saved;

	record(instance, clock, &saved);
	assert_int_equal(read_folder(&text, saved.path, false), 0);
	if (read_folder(&pages, saved.path, true))
		fail_msg("%s: %s", clock, why);
	print_message("%s: %zu events\n", clock, pages.count);
	assert_string_equal(pages.clock, clock);
	assert_true(pages.count >= 50);
	assert_true(pages.kinds & 1ULL << EVENT_SWITCH);
	assert_non_null(strstr(pages.breach.text, "RANT_BREACH role=emit seq=7 "));
	assert_as_text(&pages, &text);
	trace_text_free(&pages);
	trace_text_free(&text);
}

static void as_the_text_of_the_kernel(void **state)
{
	static const char *const clocks[] = { "mono_raw", "local", "global", "mono", "tai" };
	char instance[TRACE_MOUNT_BYTES + 64];

	(void)state;
	if (!make_instance(instance, sizeof(instance))) {
		print_message("needs root and a mounted tracefs\n");
		skip();
	}
	for (size_t i = 0; i < COUNT_OF(clocks); i++)
		compare_real(instance, clocks[i]);
	for (int i = 0; i < 100 && rmdir(instance) && errno == EBUSY; i++)
		usleep(1000);
}

#define PAGES_TEST(f) cmocka_unit_test_setup_teardown(f, pages_make_folder, pages_remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAGES_TEST(each_record_is_read),
		PAGES_TEST(losses),
		PAGES_TEST(text_is_truncated),
		cmocka_unit_test(refused_pages),
		PAGES_TEST(random_changes),
		PAGES_TEST(as_the_text_of_the_kernel),
	};

	util_seed();
	return cmocka_run_group_tests_name("explain_trace_pages", tests, NULL, NULL);
}

#else

int main(void)
{
	printf("ok - raw pages of a trace # SKIP rant is built without libtraceevent\n");
	return 0;
}

#endif
