/* build: sources=explain/[a-d]*.c,explain/ev*.c,explain/[f-z]*.c,analyse/tree.c,result/causes.c,report/text/causes.c,report/export/json.c,report/text/label.c,result/stages.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Folders of traces: those of the fuzzing corpus, and random changes of them. */
#include "tests/fuzz/fuzz_trace.c"

#include "corpus.h"

#define CHANGES 1000

/* Each file of a kept input as it is, then changed. */
static void changes(void **state)
{
	uint8_t good[INPUT_MAX_BYTES], input[INPUT_MAX_BYTES];
	const size_t bytes = read_input("tests/fuzz/corpus_trace", "pages", good);

	(void)state;
	LLVMFuzzerTestOneInput(good, bytes);
#ifdef WITH_TRACEEVENT
	assert_string_equal(trace_said, "");
#endif
	for (int i = 0; i < CHANGES; i++) {
		memcpy(input, good, bytes);
		for (uint64_t k = util_below(3) + 1; k; k--)
			input[util_below(bytes)] = (uint8_t)util_random();
		LLVMFuzzerTestOneInput(input, bytes);
	}
}

static void what_fuzzing_has_kept(void **state)
{
	(void)state;
	run_corpus("tests/fuzz/corpus_trace", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_fuzzing_has_kept), cmocka_unit_test(changes) };

	util_seed();
	return cmocka_run_group_tests_name("fuzz_trace", tests, NULL, NULL);
}
