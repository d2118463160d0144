// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line. What is known of an option is a row of options/table.c, what concerns two of them one of
 * options/rules.c, and what is given to one is read by options/value.c.
 */
#include "options.h"

#include "options/phrase.h"
#include "options/rules.h"
#include "options/table.h"
#include "options/value.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#define BUSY_POLL_IMPLIED_US 50 /* recommended for busy_read in Documentation/admin-guide/sysctl/net.rst */
#define PTP_PORT 319 /* IEEE 1588-2008 annex D: event messages */
#define LONG_CODE 256 /* getopt's code of a long option: its row, beyond every letter */

static void set_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->server.any.sa_family = AF_UNSPEC;
	o->role = ROLE_REFLECT;
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++)
		if (row->kind == KIND_NUMBER || row->kind == KIND_DSCP || row->kind == KIND_CHOICE)
			*(int64_t *)((char *)o + row->offset) = row->initial;
}

/* ---- For getopt -------------------------------------------------------------------------------------------------- */

struct getopt_tables {
	char letters[2 * OPTION_ROWS_MAX + 2];
	struct option longs[OPTION_ROWS_MAX + 1];
};

static void make_getopt_tables(struct getopt_tables *t)
{
	char *letter = t->letters;

	memset(t, 0, sizeof(*t));
	*letter++ = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < option_rows; i++) {
		t->longs[i].name = option_table[i].name;
		t->longs[i].has_arg = option_table[i].argument ? required_argument : no_argument;
		t->longs[i].val = LONG_CODE + (int)i;
		if (!option_table[i].letter)
			continue;
		*letter++ = option_table[i].letter;
		if (option_table[i].argument)
			*letter++ = ':';
	}
}

static void rewind_getopt(void)
{
	opterr = 0;
	optind = 0; /* glibc: forget all of an earlier scan, even one that stopped within a cluster */
}

/* For the codes in the tables of getopt only, not for its '?' and ':'. */
static const struct option_row *row_of(int code)
{
	const struct option_row *row = option_table;

	if (code >= LONG_CODE)
		return &option_table[code - LONG_CODE];
	while (row->letter != code)
		row++;
	return row;
}

/* ---- What it did not take ---------------------------------------------------------------------------------------- */

#define TYPOS_MAX 32 /* octets of a name that is compared */

/* How many octets must be put in, left out or changed to make one of the other (Levenshtein). */
static unsigned distance(const char *a, size_t bytes, const char *b)
{
	unsigned row[TYPOS_MAX + 1];

	for (unsigned j = 0; j <= bytes; j++)
		row[j] = j;
	for (unsigned i = 1; *b; i++, b++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= bytes; j++) {
			unsigned best = corner + (a[j - 1] != *b);

			corner = row[j];
			best = best < corner + 1 ? best : corner + 1;
			row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
		}
	}
	return row[bytes];
}

/* What may have been meant: at most a quarter of it is wrong, and one octet. NULL: nothing is so near. */
static const char *nearest(const char *name, size_t bytes)
{
	unsigned least = 2 + (unsigned)bytes / 4;
	const char *found = NULL;

	if (bytes > TYPOS_MAX)
		return NULL;
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		const unsigned n = distance(name, bytes, row->name);

		if (n >= least)
			continue;
		least = n;
		found = row->name;
	}
	return found;
}

static int refuse_unknown(const char *option, const char *meant)
{
	if (meant)
		warnx("%s: unknown option: did you mean %s? 'rant --help' lists the options", option, meant);
	else
		warnx("%s: unknown option: 'rant --help' lists the options", option);
	return -EINVAL;
}

/* A long option that getopt did not take: unknown, or the beginning of several. */
static int refuse_long(const char *argument)
{
	size_t bytes = strcspn(argument + 2, "=");
	struct phrase candidates = { "" }, meant = { "" };
	int left = 0;

	for (size_t i = 0; bytes && i < option_rows; i++)
		left += !strncmp(option_table[i].name, argument + 2, bytes);
	if (!left) {
		const char *name = nearest(argument + 2, bytes);

		if (name)
			phrase_add(&meant, "--%s", name);
		return refuse_unknown(phrase_excerpt(argument).text, name ? meant.text : NULL);
	}
	for (size_t i = 0; i < option_rows; i++)
		if (!strncmp(option_table[i].name, argument + 2, bytes))
			phrase_add_word(&candidates, "--", option_table[i].name, --left);
	warnx("%s: ambiguous option: give %s", phrase_excerpt(argument).text, candidates.text);
	return -EINVAL;
}

/* The nearest to a letter is the same one of the other case. */
static int refuse_letter(int letter)
{
	struct phrase option = { "" }, meant = { "" };

	phrase_add(&option, "-%c", letter > ' ' && letter < 0x7f ? letter : '?');
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++)
		if (row->letter && row->letter == (letter ^ ('a' ^ 'A')) &&
		    ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'))
			phrase_add(&meant, "-%c, --%s", row->letter, row->name);
	return refuse_unknown(option.text, *meant.text ? meant.text : NULL);
}

/* getopt said '?'. optopt is 0 for a long name it does not know, the code of a known one that takes no argument, or
 * an unknown letter. */
static int refuse_option(const char *argument)
{
	if (optopt == 0)
		return refuse_long(argument);
	if (optopt >= LONG_CODE) {
		warnx("--%s: takes no argument, not even '%s'", row_of(optopt)->name,
		      phrase_excerpt(strchr(argument, '=') + 1).text);
		return -EINVAL;
	}
	return refuse_letter(optopt);
}

/* ---- From the first argument to the last ------------------------------------------------------------------------- */

static int read_option(struct parse *p, int code, char **argv)
{
	const struct option_row *row;

	if (code == '?')
		return refuse_option(argv[optind - 1]);
	if (code == ':') {
		row = row_of(optopt);
		warnx("--%s: %s is missing: give %s", row->name, row->argument, phrase_allowed(row).text);
		return -EINVAL;
	}
	row = row_of(code);
	p->given[row - option_table] = optarg ? optarg : "";
	return option_set(p->o, row, optarg);
}

/* Help is for those whose command line is not right yet, so it is looked for first and errors don't count. */
static bool wants_help(struct options *o, const struct getopt_tables *t, int argc, char **argv)
{
	int code;

	rewind_getopt();
	while ((code = getopt_long(argc, argv, t->letters, t->longs, NULL)) != -1) {
		const struct option_row *row;

		if (code == '?' || code == ':')
			continue;
		row = row_of(code);
		if (row->letter == 'h' || row->letter == 'V')
			option_set(o, row, NULL);
	}
	if (o->help)
		o->version = false;
	return o->help || o->version;
}

/* What follows from several options together. */
static void derive(struct parse *p)
{
	struct options *o = p->o;

	if (o->server.any.sa_family != AF_UNSPEC || o->server_name)
		o->role = ROLE_EMIT;
	if (o->no_hw_stamps)
		o->stamp = SOURCE_USER;
	if (o->transport != TRANSPORT_UDP)
		o->port = o->transport == TRANSPORT_PTP ? PTP_PORT : 0;
	if (options_echoes(o) && !options_given(p, "interval")) {
		o->interval_ns = ECHO_INTERVAL_NS;
		o->interval_implied = true;
	}
	o->keep_going |= o->on_breach.keep_going;
	o->trace_marker |= o->snapshot;
	/* What is ignored: see notes[] in options/rules.c. */
	o->snapshot &= o->threshold_ns > 0;
	o->no_tx_stamps &= o->role == ROLE_REFLECT;
	if (!o->log_path)
		o->log_threshold_ns = 0;
	if (o->seed < 0 && (o->jitter_percent || o->poisson))
		o->seed = clock_read_ns(CLOCK_REALTIME);
	if (o->interval_ns && !o->pmc && !options_given(p, "window"))
		o->window = options_in_timeout(o);
	/* The kernel looks at neither while SO_BUSY_POLL is 0. */
	if ((o->busy_poll_budget || o->prefer_busy_poll) && !options_given(p, "busy-poll-us")) {
		o->busy_poll_us = BUSY_POLL_IMPLIED_US;
		o->busy_poll_implied = true;
	}
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct parse p = { .o = o };
	struct getopt_tables t;
	int code, error;

	set_defaults(o);
	make_getopt_tables(&t);
	if (wants_help(o, &t, argc, argv))
		return 0;
	rewind_getopt();
	while ((code = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		error = read_option(&p, code, argv);
		if (error)
			return error;
	}
	if (optind < argc) {
		o->file = argv + optind;
		o->files = argc - optind;
	}
	for (int i = 0; i < o->files; i++) {
		if (!option_has_control(o->file[i]))
			continue;
		warnx("'%s': a control character, shown as '?', is in this name: give the file another name",
		      phrase_excerpt(o->file[i]).text);
		return -EINVAL;
	}
	if (o->files && !o->report && !o->compare) {
		warnx("'%s': belongs to no option: 'rant --help' lists the options", phrase_excerpt(argv[optind]).text);
		return -EINVAL;
	}
	derive(&p);
	return options_check_rules(&p);
}
