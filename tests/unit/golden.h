/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts are compared with a golden file. The one of tests/unit/test_NAME.c is tests/golden/unit/test_NAME.txt: a line
 * "== name of the test ==" for each test that calls golden(), and below it the whole text that the test gave to
 * golden(). With GOLDEN=write in the environment the file is written instead: make golden. main() calls
 * golden_run(tests).
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "util.h"

#include <fcntl.h>
#include <stdbool.h>

#define GOLDEN_TESTS 128
#define GOLDEN_LINES 1024
#define GOLDEN_HIDDEN 8

static struct {
	const struct CMUnitTest *tests;
	size_t count, now;	  /* now: the test that runs */
	const char *path;
	bool writes;
	char *file;		  /* expected text: all sections, "" without a file */
	char *text[GOLDEN_TESTS]; /* of each test */
	bool ended[GOLDEN_TESTS]; /* not skipped */
	FILE *out;		  /* to text[now] */
	char *line;		  /* the last of this test's golden_line() */
	struct {
		const char *name;
		char *text;
	} hidden[GOLDEN_HIDDEN];
} golden_state;

/* ---- Differences ------------------------------------------------------------------------------------------------- */

/* Splits a text, which it changes. */
static inline size_t golden_lines(char *text, char **lines)
{
	size_t n = 0;

	for (char *line = text; line && *line; n++) {
		char *end = strchr(line, '\n');

		assert_true(n < GOLDEN_LINES);
		lines[n] = line;
		if (end)
			*end++ = '\0';
		line = end;
	}
	return n;
}

/* Prints the lines by which b differs from a, each part below the line before it. */
static inline void golden_diff(FILE *out, const char *a, const char *b)
{
	/* lines of the longest common sequence from here on */
	static uint16_t common[GOLDEN_LINES + 1][GOLDEN_LINES + 1];
	char *from[GOLDEN_LINES], *to[GOLDEN_LINES], *as = strdup(a), *bs = strdup(b);
	size_t m = golden_lines(as, from), n = golden_lines(bs, to), i, j;
	const char *before = NULL;

	for (i = m + 1; i-- > 0;)
		for (j = n + 1; j-- > 0;)
			common[i][j] = i == m || j == n ? 0 :
			!strcmp(from[i], to[j]) ? (uint16_t)(common[i + 1][j + 1] + 1) :
				       common[i + 1][j] > common[i][j + 1] ? common[i + 1][j] : common[i][j + 1];
	for (i = j = 0; i < m || j < n;) {
		if (i < m && j < n && !strcmp(from[i], to[j])) {
			before = from[i++];
			j++;
			continue;
		}
		if (before)
			fprintf(out, "  %s\n", before);
		before = NULL;
		if (i < m && (j == n || common[i + 1][j] >= common[i][j + 1]))
			fprintf(out, "- %s\n", from[i++]);
		else
			fprintf(out, "+ %s\n", to[j++]);
	}
	free(as);
	free(bs);
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* The section of a test in the file, for free(); NULL: there is none. */
static inline char *golden_expected(const char *name)
{
	char title[256];

	snprintf(title, sizeof(title), "== %s ==\n", name);
	for (const char *at = golden_state.file; (at = strstr(at, title)); at++) {
		if (at != golden_state.file && at[-1] != '\n')
			continue;
		const char *text = at + strlen(title),
				   *end = strncmp(text, "== ", 3) ? strstr(text, "\n== ") : text - 1;

		return end ? strndup(text, (size_t)(end + 1 - text)) : strdup(text);
	}
	return NULL;
}

/* Adds a text to the section of the test that runs. */
/* From here on the golden file has `name` in place of `text`, which differs from run to run. */
static inline void golden_hide(const char *name, const char *text)
{
	size_t i = 0;

	while (golden_state.hidden[i].name && strcmp(golden_state.hidden[i].name, name))
		assert_true(++i < GOLDEN_HIDDEN);
	free(golden_state.hidden[i].text);
	golden_state.hidden[i].name = name;
	golden_state.hidden[i].text = strdup(text);
	assert_non_null(golden_state.hidden[i].text);
}

static inline void golden_put(const char *text)
{
	while (*text) {
		size_t i = 0;

		while (i < GOLDEN_HIDDEN && golden_state.hidden[i].name &&
		       strncmp(text, golden_state.hidden[i].text, strlen(golden_state.hidden[i].text)))
			i++;
		if (i < GOLDEN_HIDDEN && golden_state.hidden[i].name) {
			fputs(golden_state.hidden[i].name, golden_state.out);
			text += strlen(golden_state.hidden[i].text);
		} else {
			fputc(*text++, golden_state.out);
		}
	}
}

static inline void __attribute__((format(printf, 1, 2))) golden(const char *format, ...)
{
	static size_t bytes;
	va_list arguments;
	char *text;

	if (!golden_state.tests)
		fail_msg("golden() needs golden_run()");
	va_start(arguments, format);
	assert_true(vasprintf(&text, format, arguments) >= 0);
	va_end(arguments);
	if (*text && !golden_state.out)
		golden_state.out = open_memstream(&golden_state.text[golden_state.now], &bytes);
	if (*text) {
		golden_put(text);
		fflush(golden_state.out);
	}
	free(text);
}

static inline void assert_one_line(const char *message)
{
	const char *newline = strchr(message, '\n');

	if (!newline || newline[1])
		fail_msg("not one line: '%s'", message);
}

/* A message of one line. One that is repeated is shown once. */
static inline void golden_line(const char *message)
{
	assert_one_line(message);
	if (golden_state.line && !strcmp(golden_state.line, message))
		return;
	free(golden_state.line);
	golden_state.line = strdup(message);
	golden("%s", message);
}

static inline int golden_set_up(void **state)
{
	const struct CMUnitTest *test = *state;

	if (golden_state.out) /* of a test that failed */
		fclose(golden_state.out);
	golden_state.out = NULL;
	free(golden_state.line);
	golden_state.line = NULL;
	golden_state.now = (size_t)(test - golden_state.tests);
	*state = test->initial_state;
	return test->setup_func ? test->setup_func(state) : 0;
}

/* Runs a test and compares its section. */
static inline void golden_test(void **state)
{
	const char *name = golden_state.tests[golden_state.now].name;
	char **text = &golden_state.text[golden_state.now], *expected;

	golden_state.tests[golden_state.now].test_func(state);
	if (*text && **text && (*text)[strlen(*text) - 1] != '\n')
		golden("\n");
	if (golden_state.out)
		fclose(golden_state.out);
	golden_state.out = NULL;
	golden_state.ended[golden_state.now] = true;
	if (golden_state.writes)
		return;
	expected = golden_expected(name);
	bool same = !expected == !*text && (!expected || !strcmp(expected, *text));

	if (!same) {
		printf("%s: section '%s' is not what the test gave (+):\n", golden_state.path, name);
		golden_diff(stdout, expected ? expected : "", *text ? *text : "");
		fflush(stdout);
	}
	free(expected);
	assert_true(same);
}

/* Each section belongs to a test. */
static inline void golden_file_has_no_other_section(void **state)
{
	(void)state;
	for (const char *at = golden_state.writes ? NULL : golden_state.file; at; at = strstr(at, "\n== ")) {
		char name[256];
		size_t i = 0;

		at += *at == '\n';
		if (sscanf(at, "== %255[^\n]", name) != 1 || strlen(name) < 3)
			continue;
		name[strlen(name) - 3] = '\0';
		while (i < golden_state.count && strcmp(golden_state.tests[i].name, name))
			i++;
		if (i == golden_state.count)
			fail_msg("%s: there is no test for section '%s'", golden_state.path, name);
	}
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static inline void golden_read(void)
{
	int fd = openat(AT_FDCWD, golden_state.path, O_RDONLY | O_CLOEXEC); /* not fopen: tests replace that */
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	size_t bytes = 0;

	if (!in || getdelim(&golden_state.file, &bytes, '\0', in) < 0) {
		free(golden_state.file);
		golden_state.file = strdup("");
	}
	if (in)
		fclose(in);
}

/* A test that was skipped keeps its section. */
static inline void golden_write(void)
{
	int fd = openat(AT_FDCWD, golden_state.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		perror(golden_state.path);
		exit(1);
	}
	for (size_t i = 0; i < golden_state.count; i++) {
		const char *name = golden_state.tests[i].name;
		char *text = golden_state.ended[i] ? golden_state.text[i] : golden_expected(name);

		if (text)
			fprintf(out, "== %s ==\n%s", name, text);
		free(text);
		golden_state.text[i] = NULL;
	}
	fclose(out);
}

/* source: of the test program. */
static inline int golden_run_tests(const char *source, const struct CMUnitTest *tests, size_t count,
				   CMFixtureFunction set_up,
				   CMFixtureFunction tear_down)
{
	struct CMUnitTest wrapped[GOLDEN_TESTS + 1];
	const char *name = strrchr(source, '/'), *write = getenv("GOLDEN");
	static char path[256];
	int failed;

	name = name ? name + 1 : source;
	snprintf(path, sizeof(path), "tests/golden/unit/%.*s.txt", (int)strcspn(name, "."), name);
	golden_state.path = path;
	golden_state.writes = write && !strcmp(write, "write");
	golden_state.tests = tests;
	golden_state.count = count;
	if (count > GOLDEN_TESTS)
		return 1;
	golden_read();
	for (size_t i = 0; i < count; i++) {
		wrapped[i] = tests[i];
		wrapped[i].test_func = golden_test;
		wrapped[i].setup_func = golden_set_up;
		wrapped[i].initial_state = (void *)&tests[i];
	}
	wrapped[count] = (struct CMUnitTest)cmocka_unit_test(golden_file_has_no_other_section);
	failed = _cmocka_run_group_tests(name, wrapped, count + 1, set_up, tear_down);
	if (golden_state.writes && !failed)
		golden_write();
	free(golden_state.file);
	for (size_t i = 0; i < count; i++)
		free(golden_state.text[i]);
	for (size_t i = 0; i < GOLDEN_HIDDEN; i++)
		free(golden_state.hidden[i].text);
	free(golden_state.line);
	return failed;
}

#define golden_run_group(tests, set_up, tear_down) golden_run_tests(__BASE_FILE__, tests, COUNT_OF(tests), set_up, tear_down)
#define golden_run(tests) golden_run_group(tests, NULL, NULL)

#endif
