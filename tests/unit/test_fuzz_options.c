/* build: wraps= sources=options.c,options/[a-qs-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines of the fuzzing corpus. */
#include "tests/fuzz/fuzz_options.c"

#include "corpus.h"

static void what_fuzzing_has_kept(void **state)
{
	(void)state;
	run_corpus("tests/fuzz/corpus_options", 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fuzzing_has_kept),
	};

	return cmocka_run_group_tests_name("fuzz_options", tests, NULL, NULL);
}
