/* build: wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close,setmntent sources=host/trace/trace_raw.c,host/trace/trace_symbols.c,tracefs.c,host/trace/trace_files.c,host/trace/trace_doubt.c,host/trace/trace_save.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of --trace-events, in a folder of plain files; and that the other places name the same events. */
#include "host/trace/trace_events.c"

#include "golden.h"
#include "fake_tracefs.h"

/* A file for the switch of each event but of those of `missing`, a system. */
static void put_events(const char *missing)
{
	char path[512];

	make_folder("tracing/instances/" NAME "/events");
	put_file("events/enable", "X");
	for (size_t i = 0; i < trace_event_rows; i++) {
		const char *name = trace_event_table[i].name;
		const size_t length = strlen(missing);

		if (!strncmp(name, missing, length) && name[length] == '/')
			continue;
		snprintf(path, sizeof(path), "%s/events/%.*s", instance, (int)strcspn(name, "/"), name);
		__real_mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/events/%s", instance, name);
		__real_mkdir(path, 0700);
		snprintf(path, sizeof(path), "events/%s/enable", name);
		put_file(path, "0");
	}
}

static int open_set(bool made, enum trace_events set, bool given)
{
	const struct trace_wanted wanted = { .packets_per_s = 1000, .events = set, .events_given = given };
	int error;

	fake.no_mkdir = made;
	fake.keep = true;
	CAPTURED(error, trace_open(&t, NAME, &wanted));
	return error;
}

/* On are those of the set, and of no other. */
static void assert_on(enum trace_events set)
{
	char path[512];

	for (size_t i = 0; i < trace_event_rows; i++) {
		const struct trace_event *e = &trace_event_table[i];
		const bool on = set == TRACE_EVENTS_PACKET || !e->packet;

		snprintf(path, sizeof(path), "events/%s/enable", e->name);
		if (get_file(path) && *get_file(path) != (on ? '1' : '0'))
			fail_msg("%s is %s", e->name, get_file(path));
	}
}

static void test_sets(void **state)
{
	(void)state;
	put_events("none");
	assert_int_equal(open_set(true, TRACE_EVENTS_LIGHT, false), 0);
	assert_silent();
	assert_on(TRACE_EVENTS_LIGHT);
	assert_int_equal(t.events_missing, 0);
	const unsigned light = t.events;

	trace_close(&t);
	assert_int_equal(open_set(true, TRACE_EVENTS_PACKET, true), 0);
	assert_on(TRACE_EVENTS_PACKET);
	assert_true(light > 0 && light < t.events);
	assert_int_equal(t.events, trace_event_rows);
}

static void test_missing_events_are_counted(void **state)
{
	(void)state;
	put_events("irq_vectors");
	assert_int_equal(open_set(true, TRACE_EVENTS_PACKET, true), 0);
	assert_silent();
	assert_int_equal(t.events_missing, 6);
	assert_int_equal(t.events + t.events_missing, trace_event_rows);
}

static void test_event_is_refused(void **state)
{
	(void)state;
	put_events("none");
	fake.event_errno = ENOMEM;
	assert_int_equal(open_set(true, TRACE_EVENTS_LIGHT, false), -ENOMEM);
	golden_line(said);
	assert_int_equal(fake.rmdirs, 1);
}

static void test_events_of_others_stay(void **state)
{
	(void)state;
	put_events("none");
	assert_int_equal(open_set(false, TRACE_EVENTS_LIGHT, false), 0);
	assert_silent();
	assert_string_equal(get_file("events/sched/sched_switch/enable"), "0");
	assert_string_equal(get_file("events/enable"), "X");
	trace_close(&t);
	assert_string_equal(get_file("events/enable"), "X");
	assert_int_equal(open_set(false, TRACE_EVENTS_LIGHT, true), -EEXIST);
	golden_line(said);
	assert_string_equal(get_file("events/sched/sched_switch/enable"), "0");
}

static void test_events_are_off_in_an_instance_that_stays(void **state)
{
	(void)state;
	put_events("none");
	assert_int_equal(open_set(true, TRACE_EVENTS_LIGHT, false), 0);
	breach(true);
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 0);
	assert_string_equal(get_file("events/enable"), "0");
}

static void test_events_of_packets_are_counted(void **state)
{
	(void)state;
	open_well(false);
	put_file("set_event", "irq:irq_handler_entry\nirq:irq_handler\nsched:sched_switch\nsched:sched_switch_x\n"
		 "napi:napi_poll");
	assert_int_equal(trace_count_packet_events(&t), 4);
	put_file("set_event", "");
	assert_int_equal(trace_count_packet_events(&t), 0);
	put_file("current_tracer", "function\n");
	assert_int_equal(trace_count_packet_events(&t), 1);
}

/* ---- One list --------------------------------------------------------------------------------------------------- */

/* The lines of the table from row i on that belong to the set, each between these texts. */
static void assert_listed(const char *path, const char *before, const char *after, bool packet)
{
	const char *text = get_at(path), *at = text ? strstr(text, before) : NULL, *end;
	char name[96];
	int used;

	if (!at || !(end = strstr(at += strlen(before), after)))
		fail_msg("%s has no list after \"%s\"", path, before);
	for (size_t i = 0; i < trace_event_rows; i++) {
		if (trace_event_table[i].packet != packet)
			continue;
		if (sscanf(at, " %95s%n", name, &used) != 1 || at + used > end || strcmp(name, trace_event_table[i].name))
			fail_msg("%s: \"%s\" in place of \"%s\"", path, name, trace_event_table[i].name);
		at += used;
	}
	if (sscanf(at, " %95s%n", name, &used) == 1 && at + used <= end)
		fail_msg("%s: \"%s\" is in no set", path, name);
}

static void test_one_list(void **state)
{
	(void)state;
	assert_listed("config/trace.sh", "readonly events='", "'\n", false);
	assert_listed("docs/spikes.md", "The set `light`:\n", "\n\n`packet` adds", false);
	assert_listed("docs/spikes.md", "`packet` adds:\n", "\n\n- ", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_sets),
		PLAIN(test_missing_events_are_counted),
		PLAIN(test_event_is_refused),
		PLAIN(test_events_of_others_stay),
		PLAIN(test_events_are_off_in_an_instance_that_stays),
		PLAIN(test_events_of_packets_are_counted),
		PLAIN(test_one_list),
	};

	util_seed();
	return golden_run(tests);
}
