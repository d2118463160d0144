/* build: sources=analyse/[a-z]*.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of the fuzzing corpus, and random changes of valid files, with a fixed seed. */
#include "tests/fuzz/fuzz_results.c"

#include "corpus.h"
#include "results_run.h"

static void what_fuzzing_has_kept(void **state)
{
	(void)state;
	run_corpus("tests/fuzz/corpus_results", 6);
}

#define CHANGES 400

static const char log_text[] =
"       SEQ                      T1_KERNEL                      T4_KERNEL             RTT\n-----\n"
"         0  1773883524.000000100  1773883524.000000300             200\n"
"# 5 records left out from SEQ 1 on: the ring was full\n"
"         7  1773883525.000000100  1773883525.000000350             250\n";
static const char log_csv[] =
"SEQ,T1_KERNEL,T4_KERNEL,RTT,T2_HW,T3_HW,RESPONSE,NETWORK,FLAGS\n"
"0,100,300,200,1000,1100,100,100,-\n1,500,900,400,,,,,lost\n2,1000,1400,400,2000,,,,end;unplaced\n";
static const char log_reflector[] = "SEQ,T2_HW,T3_HW,RESPONSE\n0,1000,1100,100\n1,1500,1600,100\n2,2000,2100,100\n";

/* Changes, removes and duplicates octets, and replaces some numbers. */
static size_t change(uint8_t *input, size_t bytes)
{
	static const char *const words[] = { "-1", "null", "9223372036854775807", "1e5", "0", "{}", "[[", "NaN", ",",
					     "\n", "18446744073709551616" };

	for (uint64_t i = 1 + util_below(4); i && bytes > 2; i--) {
		const size_t at = 1 + util_below(bytes - 1), some = 1 + util_below(40) % (bytes - at);
		const char *word = words[util_below(COUNT_OF(words))];

		switch (util_below(5)) {
		case 0:
			input[at] ^= (uint8_t)(1U << util_below(8));
			break;
		case 1:
			memmove(input + at, input + at + some, bytes - at - some);
			bytes -= some;
			break;
		case 2:
			if (bytes + some > INPUT_MAX_BYTES)
				break;
			memmove(input + at + some, input + at, bytes - at);
			bytes += some;
			break;
		case 3:
			memcpy(input + at, word, strlen(word) < bytes - at ? strlen(word) : bytes - at);
			break;
		default:
			bytes = util_below(3) ? bytes : at;
		}
	}
	return bytes;
}

static void changes_of(const char *good, size_t bytes, uint8_t mode)
{
	uint8_t input[INPUT_MAX_BYTES];

	for (unsigned i = 0; i < CHANGES; i++) {
		size_t n = bytes + 1;

		assert_true(n <= sizeof(input));
		input[0] = mode;
		memcpy(input + 1, good, bytes);
		if (i)
			n = change(input, n);
		LLVMFuzzerTestOneInput(input, n);
		if (!i && *results_said)
			fail_msg("%s", results_said);
	}
}

static void changes(void **state)
{
	char both[sizeof(log_csv) + sizeof(log_reflector)];

	(void)state;
	changes_of(log_text, sizeof(log_text) - 1, 0);
	changes_of(log_csv, sizeof(log_csv) - 1, 0);
	changes_of(log_text, sizeof(log_text) - 1, 2);
	changes_of(log_csv, sizeof(log_csv) - 1, 2);
	snprintf(both, sizeof(both), "%s\xff%s", log_csv, log_reflector);
	changes_of(both, strlen(both), 2);
#ifdef WITH_JANSSON
	changes_of(results_run, sizeof(results_run) - 1, 0);
	changes_of(results_run, sizeof(results_run) - 1, 1);
	changes_of(results_run, sizeof(results_run) - 1, 2);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_fuzzing_has_kept), cmocka_unit_test(changes) };

	util_seed();
	return cmocka_run_group_tests_name("fuzz_results", tests, NULL, NULL);
}
