/* build: wraps= sources=wire/packet.c,wire/tlv*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets that fuzzing has kept. */
#include "tests/fuzz/fuzz_packet.c"

#include "corpus.h"

static void what_fuzzing_has_kept(void **state)
{
	(void)state;
	run_corpus("tests/fuzz/corpus", 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fuzzing_has_kept),
	};

	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
