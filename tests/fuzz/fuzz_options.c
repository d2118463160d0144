// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Anything at all as a command line, for libFuzzer (make fuzz); tests/unit/test_fuzz_options.c runs the kept inputs in
 * every check. A zero octet ends an argument. It holds what options.h promises, whatever the table has.
 */
#include "options/rules.c"

#include "tests/fuzz/insist.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define ARGS_MAX 128
#define SAID_MAX 300 /* octets of a message: the values in it are shortened */
#define BARE_TIMES 3 /* options with a warning for a time without a unit */
#define NOTES_MAX (8 + BARE_TIMES)

/* ---- A command line ---------------------------------------------------------------------------------------------- */

struct line {
	int argc;
	char *argv[ARGS_MAX + 3]; /* rant, at most one more, NULL */
};

/* Each argument in memory of its own, so that a read behind its end is detected. */
static struct line line_of(const uint8_t *data, size_t bytes)
{
	struct line l = { 1, { (char *)"rant" } };

	while (bytes && l.argc <= ARGS_MAX) {
		char *argument = strndup((const char *)data, bytes);
		size_t used = strlen(argument);

		l.argv[l.argc++] = argument;
		used += used < bytes;
		data += used;
		bytes -= used;
	}
	return l;
}

static void free_line(struct line *l)
{
	while (--l->argc)
		free(l->argv[l->argc]);
}

struct outcome {
	int error;
	struct options o;
	char said[NOTES_MAX * SAID_MAX + 2]; /* on stderr */
};

/* `l` is a copy: getopt reorders it. */
static void parse(struct line l, struct outcome *out)
{
	FILE *const caught = fmemopen(out->said, sizeof(out->said), "w"), *const before = stderr;

	INSIST(caught);
	memset(&out->o, 0xa5, sizeof(out->o));
	out->said[0] = '\0';
	stderr = caught; /* in glibc it is a variable; output of the sanitizers and libFuzzer goes its own way */
	out->error = options_parse(&out->o, l.argc, l.argv);
	stderr = before;
	INSIST(!fclose(caught));
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

/* The text behind the line. */
static const char *check_line(const char *line)
{
	const size_t end = strcspn(line, "\n");

	INSIST(!strncmp(line, "rant: ", 6));
	INSIST(end > 6 && end < SAID_MAX && line[end] == '\n');
	for (size_t i = 0; i < end; i++)
		INSIST(text_shown(line[i]) == line[i]);
	return line + end + 1;
}

static void check_refused(const struct outcome *out)
{
	INSIST(out->error == -EINVAL);
	INSIST(!*check_line(out->said));
}

/* Is it an argument, or the end of one? */
static bool is_given(const struct line *l, const char *text)
{
	for (int i = 1; i < l->argc; i++)
		if (text >= l->argv[i] && text < l->argv[i] + strlen(l->argv[i]))
			return true;
	return false;
}

static bool is_choice(const struct option_row *row, int64_t value)
{
	for (const struct choice *c = row->choice; c->name; c++)
		if (c->value == value)
			return true;
	return false;
}

static void check_row(const struct line *l, const struct option_row *row, const void *field)
{
	const char *text;
	int64_t number;

	switch (row->kind) {
	case KIND_NUMBER:
	case KIND_DSCP:
		number = *(const int64_t *)field;
		INSIST((number >= row->min && number <= row->max) || number == row->initial);
		break;
	case KIND_CHOICE:
		INSIST(is_choice(row, *(const int64_t *)field));
		break;
	case KIND_FILE:
	case KIND_FOLDER:
	case KIND_USER:
	case KIND_INTERFACE:
		text = *(const char *const *)field;
		INSIST(!text || is_given(l, text)); /* which is not empty, then */
		INSIST(row->kind != KIND_INTERFACE || !text || strlen(text) < IFNAMSIZ);
		break;
	default: /* below */
		break;
	}
}

static void check_lists(const struct line *l, const struct options *o)
{
	const struct allow_list *allow = &o->allow;

	INSIST(o->on_breach.commands >= 0 && o->on_breach.commands <= BREACH_COMMANDS_MAX);
	for (int i = 0; i < o->on_breach.commands; i++)
		INSIST(is_given(l, o->on_breach.command[i]));
	INSIST(allow->prefixes >= 0 && allow->prefixes <= ALLOW_MAX);
	for (int i = 0; i < allow->prefixes; i++)
		for (int half = 0; half < 2; half++)
			INSIST(!(allow->prefix[i].address[half] & ~allow->prefix[i].mask[half]));
}

static void check_taken(const struct line *l, const struct outcome *out)
{
	const struct options *o = &out->o;
	unsigned lines = 0;

	for (const char *line = out->said; *line; lines++)
		line = check_line(line);
	INSIST(lines <= sizeof(notes) / sizeof(notes[0]) + BARE_TIMES);
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++)
		check_row(l, row, (const char *)o + row->offset);
	check_lists(l, o);
	if (o->help || o->version || o->usage)
		return;
	if (o->report || o->compare) {
		INSIST(!o->interface && (o->compare ? o->files == 2 : o->files > 0));
		return;
	}
	INSIST((o->interface || o->host_given || o->check) && !o->files);
	INSIST((o->role == ROLE_EMIT) == (o->server.any.sa_family != AF_UNSPEC || o->server_name));
	INSIST(!o->server_name || (is_given(l, o->server_name) && o->server.any.sa_family == AF_UNSPEC));
	INSIST(!(o->ipv4 && o->ipv6));
	INSIST(o->overflow_ns >= o->bucket_ns);
	INSIST(!(o->on_breach.stop && o->keep_going));
	INSIST(o->role == ROLE_REFLECT || !(o->once || o->no_tx_stamps || o->allow.prefixes));
}

/* A request for help that comes first is answered, whatever follows. */
static void check_help(struct line l)
{
	struct outcome out;

	memmove(l.argv + 2, l.argv + 1, (size_t)l.argc * sizeof(l.argv[0]));
	l.argv[1] = (char *)"--help";
	l.argc++;
	parse(l, &out);
	INSIST(!out.error && !*out.said && out.o.help && !out.o.version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct line l = line_of(data, bytes);
	struct outcome first, second;

	program_invocation_short_name = (char *)"rant";
	parse(l, &first);
	if (first.error)
		check_refused(&first);
	else
		check_taken(&l, &first);
	check_help(l);
	parse(l, &second); /* nothing is left of the others, in getopt's variables */
	INSIST(first.error == second.error && !strcmp(first.said, second.said));
	first.o.file = second.o.file; /* of a copy of the line */
	INSIST(first.error || !memcmp(&first.o, &second.o, sizeof(first.o)));
	free_line(&l);
	return 0;
}
