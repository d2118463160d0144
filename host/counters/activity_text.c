// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of any length, character by character through a small buffer. */
#include "host/counters/activity_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX_BYTES (64 << 20) /* limit for files of /proc, which are far smaller, so that reading always ends */

static void advance(struct activity_text *t)
{
	if (t->used == t->filled) {
		ssize_t got = t->at < FILE_MAX_BYTES ? pread(t->fd, t->buffer, sizeof(t->buffer), t->at) : 0;

		if (got < 0)
			t->error = -errno;
		t->used = 0;
		t->filled = got < 0 ? 0 : (size_t)got;
		t->at += (off_t)t->filled;
	}
	t->c = t->used < t->filled ? (unsigned char)t->buffer[t->used++] : EOF;
}

bool activity_text_begin(struct activity_text *t, int fd)
{
	t->fd = fd;
	t->at = 0;
	t->used = t->filled = 0;
	t->error = 0;
	t->c = EOF;
	if (fd >= 0)
		advance(t);
	return t->c != EOF;
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t';
}

static bool at_end(const struct activity_text *t)
{
	return t->c == '\n' || t->c == EOF;
}

/* Reads a word, which also ends at `stop`; characters that do not fit are dropped. False: end of the line. */
static bool read_word(struct activity_text *t, char *word, size_t bytes, int stop, bool *cut)
{
	size_t n = 0;

	while (is_blank(t->c))
		advance(t);
	if (at_end(t))
		return false;
	for (*cut = false; !at_end(t) && !is_blank(t->c) && t->c != stop; advance(t)) {
		if (n + 1 < bytes)
			word[n++] = (char)t->c;
		else
			*cut = true;
	}
	word[n] = '\0';
	return true;
}

bool activity_text_number(const char *word, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*number = strtoull(word, &end, 10);
	return !errno && !*end;
}

static void append(struct line *l, const char *word)
{
	size_t used = strlen(l->rest);

	snprintf(l->rest + used, sizeof(l->rest) - used, "%s%s", used ? " " : "", word);
}

bool activity_text_line(struct activity_text *t, unsigned columns)
{
	struct line *l = &t->line;
	char word[sizeof(l->rest)];
	bool cut;

	if (t->c == EOF)
		return false;
	*l = (struct line){ .numbers = 0 };
	if (read_word(t, l->label, sizeof(l->label), ':', &cut) && cut)
		l->label[0] = '\0';
	while (is_blank(t->c))
		advance(t);
	if (t->c == ':')
		advance(t);
	while (read_word(t, word, sizeof(word), '\n', &cut)) {
		uint64_t number;

		if (l->rest[0] || cut || !activity_text_number(word, &number)) {
			append(l, word);
		} else if (l->numbers < columns) {
			t->number[l->numbers++] = number;
		} else {
			l->odd = true;
			append(l, word);
		}
	}
	advance(t); /* past the end of the line */
	return true;
}

bool activity_text_header(struct activity_text *t)
{
	char word[24];
	bool cut;

	t->columns = 0;
	while (read_word(t, word, sizeof(word), '\n', &cut)) {
		uint64_t cpu;

		if (cut || strncmp(word, "CPU", 3) || !activity_text_number(word + 3, &cpu) || cpu >= CPUS ||
		    t->columns == CPUS)
			return false;
		t->cpu_of[t->columns++] = (uint16_t)cpu;
	}
	advance(t);
	return t->columns;
}

int activity_text_column(const struct activity_text *t, int cpu)
{
	for (unsigned i = 0; i < t->columns; i++)
		if (t->cpu_of[i] == cpu)
			return (int)i;
	return -1;
}
bool activity_text_single(int fd, uint64_t *value)
{
	char text[32], *end;
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0 || !isdigit((unsigned char)text[0]))
		return false;
	text[got] = '\0';
	errno = 0;
	*value = strtoull(text, &end, 10);
	/* A number that fills the text may continue after it. */
	return !errno && (*end ? strchr("\n-, ", *end) != NULL : got < (ssize_t)sizeof(text) - 1);
}
