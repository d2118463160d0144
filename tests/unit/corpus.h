/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inputs that fuzzing has kept (make fuzz), and every beginning of each: a fault once found is found again,
 * without a fuzzer. Run from the top of the sources. */
#ifndef CORPUS_H
#define CORPUS_H

#include "util.h"

#include <dirent.h>

#define INPUT_MAX_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static size_t read_input(const char *folder, const char *name, uint8_t input[INPUT_MAX_BYTES])
{
	char path[PATH_MAX];
	size_t bytes;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	assert_non_null(f);
	bytes = fread(input, 1, INPUT_MAX_BYTES, f);
	assert_false(ferror(f));
	fclose(f);
	return bytes;
}

/* At least `least` inputs must be there. */
static void run_corpus(const char *folder, unsigned least)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	unsigned inputs = 0;

	if (!d)
		fail_msg("%s: %s: run this from the top of the sources", folder, strerror(errno));
	while ((entry = readdir(d))) {
		uint8_t input[INPUT_MAX_BYTES];
		size_t bytes;

		if (entry->d_name[0] == '.')
			continue;
		bytes = read_input(folder, entry->d_name, input);
		for (size_t n = 0; n <= bytes; n++)
			LLVMFuzzerTestOneInput(input, n);
		inputs++;
	}
	closedir(d);
	print_message("%u inputs\n", inputs);
	assert_true(inputs >= least);
}

#endif
