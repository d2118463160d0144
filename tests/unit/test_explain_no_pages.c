/* build: sources=explain/trace_text.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Raw pages of a trace in a program that was built without libtraceevent. */
#undef WITH_TRACEEVENT
#include "explain/trace_pages.c"

#include "util.h"

static void pages_are_refused(void **state)
{
	struct trace_text t = { .resolution_ns = TRACE_TEXT_NS };
	char why[TRACE_PAGES_WHY_BYTES];

	(void)state;
	assert_null(trace_pages_library());
	assert_int_equal(trace_pages_read(&t, -1, why), -ENOTSUP);
	assert_string_equal(why, "rant was built without libtraceevent: make TRACEEVENT=1");
	assert_int_equal(t.resolution_ns, TRACE_TEXT_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(pages_are_refused) };

	return cmocka_run_group_tests_name("explain_no_pages", tests, NULL, NULL);
}
