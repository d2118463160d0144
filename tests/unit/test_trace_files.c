/* build: wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close,setmntent sources=host/trace/trace_raw.c,host/trace/trace_symbols.c,host/trace/trace_events.c,tracefs.c,host/trace/trace_doubt.c,host/trace/trace_save.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding tracefs, and whether anybody is tracing, with a folder of plain files. */
#include "host/trace/trace_files.c"
#include "host/trace/trace_running.c"

#include "golden.h"
#include "fake_tracefs.h"

static void test_not_mounted(void **state)
{
	(void)state;
	mount_as("proc /proc proc rw 0 0");
	assert_int_equal(open_it(false, 1000), -ENOENT);
	golden_line(said);
	mounts_path = "/nowhere/mounts";
	assert_int_equal(open_it(false, 1000), -ENOENT);
	trace_close(&t); /* of files that were not opened */
}

static void test_mount_with_instances_is_preferred(void **state)
{
	char line[512];

	(void)state;
	snprintf(line, sizeof(line), "tracefs %s tracefs rw 0 0\ntracefs %s/tracing tracefs rw 0 0\n"
		 "tracefs %s/out tracefs rw 0 0", root, root, root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), 0);
	assert_string_equal(t.path, instance);
}

static void test_mount_path_with_a_blank(void **state)
{
	char line[256], path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/a b", root);
	assert_int_equal(symlink("tracing", path), 0);
	snprintf(line, sizeof(line), "tracefs %s/a\\040b tracefs rw 0 0", root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), 0);
	assert_non_null(strstr(t.path, "/a b/instances/" NAME));
}

static void test_debugfs(void **state)
{
	char line[256];

	(void)state;
	snprintf(line, sizeof(line), "debugfs %s debugfs rw 0 0", root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), 0);
	assert_string_equal(t.path, instance);
	trace_close(&t);
	snprintf(line, sizeof(line), "debugfs %s/out debugfs rw 0 0", root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), -ENOENT);
}

static void put_top(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/tracing/%s", root, name);
	put_at(path, text);
}

static void test_tracing_of_others_is_seen(void **state)
{
	struct trace none = { .folder_fd = -1 }, own = { .path = "/own/instance" };
	char text[256];

	(void)state;
	/* In the instance events are enabled. */
	assert_true(trace_is_running(&none, text, sizeof(text)));
	assert_string_equal(text, instance);
	put_file("tracing_on", "0\n");
	assert_false(trace_is_running(&none, text, sizeof(text)));
	assert_string_equal(text, "");
	put_file("tracing_on", "1\n");
	put_file("set_event", "");
	assert_false(trace_is_running(&none, text, sizeof(text)));
	put_file("current_tracer", "function\n");
	assert_true(trace_is_running(&none, text, sizeof(text)));
	/* The top instance comes first. */
	put_top("tracing_on", "1\n");
	put_top("current_tracer", "nop\n");
	put_top("set_event", EVENTS_4);
	assert_true(trace_is_running(&none, text, sizeof(text)));
	assert_true(strlen(text) < strlen(instance) && !strncmp(text, instance, strlen(text)));
	put_top("set_event", "");
	put_file("current_tracer", "nop\n");
	assert_false(trace_is_running(&none, text, sizeof(text)));
	/* A breach stopped the trace of rant itself. */
	assert_true(trace_is_running(&own, text, sizeof(text)));
	assert_string_equal(text, "/own/instance");
	mounts_path = "/nowhere/mounts";
	assert_false(trace_is_running(&none, text, sizeof(text)));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_not_mounted),
		PLAIN(test_tracing_of_others_is_seen),
		PLAIN(test_mount_with_instances_is_preferred),
		PLAIN(test_mount_path_with_a_blank),
		PLAIN(test_debugfs),
	};

	util_seed();
	return golden_run(tests);
}
