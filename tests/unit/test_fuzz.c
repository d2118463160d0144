/* build: wraps= sources=wire/packet.c,wire/tlv.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The inputs that fuzzing has kept (make fuzz), and every beginning of each: what was found once is found again,
 * without a fuzzer. Run from the top of the sources. */
#include "tests/fuzz/fuzz_packet.c"

#include "util.h"

#include <dirent.h>

#define CORPUS "tests/fuzz/corpus"
#define INPUT_MAX_BYTES 4096

static size_t read_input(const char *name, uint8_t input[INPUT_MAX_BYTES])
{
	char path[PATH_MAX];
	size_t bytes;
	FILE *f;

	snprintf(path, sizeof(path), CORPUS "/%s", name);
	f = fopen(path, "re");
	assert_non_null(f);
	bytes = fread(input, 1, INPUT_MAX_BYTES, f);
	assert_false(ferror(f));
	fclose(f);
	return bytes;
}

static void what_fuzzing_has_kept(void **state)
{
	DIR *d = opendir(CORPUS);
	struct dirent *entry;
	unsigned inputs = 0;

	(void)state;
	if (!d)
		fail_msg(CORPUS ": %s: run this from the top of the sources", strerror(errno));
	while ((entry = readdir(d))) {
		uint8_t input[INPUT_MAX_BYTES];
		size_t bytes;

		if (entry->d_name[0] == '.')
			continue;
		bytes = read_input(entry->d_name, input);
		for (size_t n = 0; n <= bytes; n++)
			LLVMFuzzerTestOneInput(input, n);
		inputs++;
	}
	closedir(d);
	print_message("%u inputs\n", inputs);
	assert_true(inputs >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fuzzing_has_kept),
	};

	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
