/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses command lines and catches their messages. */
#ifndef OPTIONS_BENCH_H
#define OPTIONS_BENCH_H

#include "options/inside.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bad_options.h"

static char said[8192]; /* stderr of the last parse() */

/* Runs the parser on a copy of the arguments, which it may reorder, and catches stderr. */
static inline int parse(struct options *o, const char *const *args)
{
	char *argv[ARGS + 2] = { (char *)"rant" };
	int argc = 1, old = dup(STDERR_FILENO), error;
	FILE *caught = tmpfile();

	assert_non_null(caught);
	while (argc <= ARGS && args[argc - 1]) {
		argv[argc] = (char *)args[argc - 1];
		argc++;
	}
	program_invocation_short_name = (char *)"rant";
	dup2(fileno(caught), STDERR_FILENO);
	error = options_parse(o, argc, argv);
	dup2(old, STDERR_FILENO);
	close(old);
	rewind(caught);
	said[fread(said, 1, sizeof(said) - 1, caught)] = '\0';
	fclose(caught);
	return error;
}

static inline void print_args(const char *const *args)
{
	print_message("rant");
	for (int i = 0; i < ARGS && args[i]; i++)
		print_message(" %s", args[i]);
	print_message("\nsaid: %s\n", said);
}

/* The message is one line with the name of the program and all of the words. */
static inline void assert_refused(const char *const *args, const char *const *words, size_t count)
{
	struct options o;
	int error = parse(&o, args);
	const char *newline = strchr(said, '\n');
	bool good = error == -EINVAL && !strncmp(said, "rant: ", 6) && newline && !newline[1];

	for (size_t i = 0; i < count && words[i]; i++)
		good &= strstr(said, words[i]) != NULL;
	if (!good)
		print_args(args);
	assert_true(good);
}

#endif
