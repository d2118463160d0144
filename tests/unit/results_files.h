/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Input files of tests, and capture of stderr. */
#ifndef RESULTS_FILES_H
#define RESULTS_FILES_H

#include "golden.h"

#include <stdarg.h>
#include <unistd.h>

static char said[2048];
static FILE *caught;
static int before;

static inline void catch(void)
{
	caught = tmpfile();
	assert_non_null(caught);
	fflush(stderr);
	before = dup(STDERR_FILENO);
	dup2(fileno(caught), STDERR_FILENO);
}

static inline const char *caught_text(void)
{
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(caught);
	said[fread(said, 1, sizeof(said) - 1, caught)] = '\0';
	fclose(caught);
	return said;
}

static inline FILE *file_of(const void *octets, size_t bytes)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(fwrite(octets, 1, bytes, file), bytes);
	rewind(file);
	return file;
}

#endif
