/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Evidence of breaches: the trace, in any state, and the commands. */
#include "report/text/evidence.c"

#include "fake_report.h"
#include "host/process/hook.h"

/* ---- The trace --------------------------------------------------------------------------------------------------- */

static void frozen_at(uint32_t seq)
{
	traced();
	counter_add(&trace.marked, 1);
	trace.state = TRACE_FROZEN;
	trace.unsaved = true;
	trace.last = (struct trace_record){ .seq = seq, .marker_ns = 2345, .frozen_ns = 12345 };
}

static void no_trace_no_section(void **state)
{
	(void)state;
	show_report();
}

static void a_trace_without_a_breach(void **state)
{
	(void)state;
	traced();
	show_report();
	is_saved = true; /* nothing saved: its path is empty */
	show_report();
	trace.start_error = EACCES;
	show_report();
}

static void a_frozen_trace(void **state)
{
	(void)state;
	frozen_at(4294967295);
	show_report();
	options.verbose = true;
	trace.last.snapshot_taken = true;
	show_report();
	counter_add(&trace.while_frozen, 5);
	options.verbose = false;
	show_report();
}

static void each_step_that_failed_is_named(void **state)
{
	(void)state;
	frozen_at(7);
	trace.marked = 0;
	counter_add(&trace.refused, 1);
	trace.last.marker_error = ENOSPC;
	trace.last.snapshot_error = EBUSY;
	show_report();
}

static void what_was_not_stopped_is_not_called_so(void **state)
{
	(void)state;
	frozen_at(7);
	trace.state = TRACE_ARMED;
	trace.last.stop_error = EPERM;
	show_report();
}

/* An existing file does not hide the missing parts. */
static void each_step_that_failed_is_named_though_it_was_saved(void **state)
{
	static const struct {
		int marker_error, stop_error, snapshot_error;
	} rows[] = {
		{ ENOSPC, 0, 0 },
		{ 0, EPERM, 0 },
		{ 0, 0, EBUSY },
		{ 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		frozen_at(7);
		trace.state = TRACE_ARMED;
		trace.unsaved = false;
		trace.last.marker_error = rows[i].marker_error;
		trace.last.stop_error = rows[i].stop_error;
		trace.last.snapshot_error = rows[i].snapshot_error;
		keeper.saved = (struct trace_saved){ .path = "/d/x", .source = "trace", .spike_cpu = { true, 1 } };
		is_saved = true;
		show_report();
	}
}

/* Nothing was written and nothing was stopped here. */
static void a_trace_that_others_had_switched_off(void **state)
{
	(void)state;
	traced();
	counter_add(&trace.off, 3);
	trace.unsaved = true;
	trace.last = (struct trace_record){ .seq = 7, .off_before = true, .marker_error = EBADF };
	for (int unsaved = 1; unsaved >= 0; unsaved--) {
		trace.unsaved = unsaved;
		show_report();
	}
}

static void a_saved_trace(void **state)
{
	(void)state;
	frozen_at(7);
	trace.unsaved = false;
	trace.saves = 2;
	keeper.saved = (struct trace_saved){ .path = "/var/tmp/rant-reflect-1-seq-7", .source = "snapshot", .spike_cpu = { true, 0 } };
	is_saved = true;
	show_report();
	keeper.saved.lost_events = (struct optional){ .known = false };
	show_report();
	keeper.saved.lost_events = optional_of(123);
	keeper.saved.spike_cpu = optional_of(17);
	keeper.saved.source = "trace";
	keeper.saved.swap_skipped = true;
	show_report();
	keeper.saved.spike_cpu = (struct optional){ .known = false };
	keeper.saved.swap_skipped = false;
	keeper.saved.lost_events = optional_of(0);
	show_report();
	keeper.saved.left_out = (struct trace_left_out){ .parts = 1, .first = "breach.json (No space left on device)" };
	show_report();
	keeper.saved.left_out.parts = 2;
	show_report();
}

/* Switched on again: there is a file, and nothing stands still any more. */
static void a_trace_that_goes_on(void **state)
{
	(void)state;
	frozen_at(7);
	trace.unsaved = false;
	trace.state = TRACE_ARMED;
	trace.saves = 1;
	keeper.saved = (struct trace_saved){ .path = "/d/x", .source = "trace", .spike_cpu = { true, 1 } };
	is_saved = true;
	show_report();
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void commands_and_what_became_of_them(void **state)
{
	struct breach_hooks *const wanted = &options.on_breach;
	struct hooks hooks = { .wanted = wanted, .ran = { 2, 0, 1 }, .failed = { 0, 3, 1 },
				   .left_out = { 0, 0, 4 } };

	(void)state;
	*wanted = (struct breach_hooks){ .commands = 3,
					 .command = { "date", "logger -t rant \"$RANT_SEQ\"", "sleep 9" } };
	take_commands(&result.commands, &hooks);
	show_report();
	/* Output of a command must not look like a line of the report to a script. */
	wanted->command[1] = "a\nb\tc\x7f\033[2Jd \xc3\xa9 ~";
	take_commands(&result.commands, &hooks);
	show_report();
	result.commands.breaches_missed = 12;
	show_report();
	wanted->commands = 0;
	take_commands(&result.commands, &hooks);
	show_report();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		TEST(no_trace_no_section),
		TEST(a_trace_without_a_breach),
		TEST(a_frozen_trace),
		TEST(each_step_that_failed_is_named),
		TEST(what_was_not_stopped_is_not_called_so),
		TEST(each_step_that_failed_is_named_though_it_was_saved),
		TEST(a_trace_that_others_had_switched_off),
		TEST(a_saved_trace),
		TEST(a_trace_that_goes_on),
		TEST(commands_and_what_became_of_them),
	};

	return golden_run(tests);
}
