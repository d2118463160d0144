// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line, by getopt_long(3). options/table.c has a row for each option, options/rules.c has the rules that
 * concern two options, options/value.c reads the arguments.
 */
#include "options.h"

#include "options/inside.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#define BUSY_POLL_IMPLIED_US 50 /* recommended for busy_read in Documentation/admin-guide/sysctl/net.rst */
#define PTP_PORT 319 /* IEEE 1588-2008 annex D: event messages */
#define LONG_CODE 256 /* added to the row of a long option: the code for getopt, above every letter */

static void set_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->server.any.sa_family = AF_UNSPEC;
	o->role = ROLE_REFLECT;
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++)
		if (row->kind == KIND_NUMBER || row->kind == KIND_DSCP || row->kind == KIND_CHOICE)
			*(int64_t *)((char *)o + row->offset) = row->initial;
	o->stages = (struct stages_wish){ STAGES_KERNEL, 1, "kernel" };
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
	*letter++ = ':'; /* getopt returns ':' for a missing argument and '?' for an unknown option */
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
	optind = 0; /* glibc: also resets a scan that stopped within a cluster of letters */
}

/* `code` is in the tables of getopt: neither '?' nor ':'. */
static const struct option_row *row_of(int code)
{
	const struct option_row *row = option_table;

	if (code >= LONG_CODE)
		return &option_table[code - LONG_CODE];
	while (row->letter != code)
		row++;
	return row;
}

/* ---- Options that getopt refused --------------------------------------------------------------------------------- */

#define TYPOS_MAX 32 /* octets of the longest name that is compared */

/* Levenshtein distance in octets. */
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

/* The option with the most similar name, at most a quarter of the octets and one more apart; NULL: none. */
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

/* A long option that getopt refused: an unknown name, or the beginning of several names. */
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

/* Suggests the letter in the other case; for -n, with which other programs count their packets, -c. */
static int refuse_letter(int letter)
{
	struct phrase option = { "" }, meant = { "" };

	if (letter == 'n')
		phrase_add(&meant, "-c, --count");
	phrase_add(&option, "-%c", letter > ' ' && letter < 0x7f ? letter : '?');
	for (const struct option_row *row = option_table; row < option_table + option_rows && !*meant.text; row++)
		if (row->letter && row->letter == (letter ^ ('a' ^ 'A')) &&
		    ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'))
			phrase_add(&meant, "-%c, --%s", row->letter, row->name);
	return refuse_unknown(option.text, *meant.text ? meant.text : NULL);
}

/* getopt returned '?'. optopt is 0 for an unknown long name, the code of a known long name that takes no argument, or
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

/* Help is for users whose command line is still wrong, so this scan comes first and ignores errors. */
static bool wants_help(struct options *o, const struct getopt_tables *t, int argc, char **argv)
{
	int code;

	if (argc > 1 && !strcmp(argv[1], "help")) {
		o->usage = argc == 2;
		o->help = argc > 2;
		o->help_all = argc > 2 && !strcmp(argv[2], "all");
		return true;
	}
	rewind_getopt();
	while ((code = getopt_long(argc, argv, t->letters, t->longs, NULL)) != -1) {
		const struct option_row *row;

		if (code == '?' || code == ':')
			continue;
		row = row_of(code);
		if (row->letter == 'h' || row->letter == 'V')
			option_set(o, row, NULL);
	}
	for (int i = optind; i < argc && o->help; i++)
		o->help_all |= !strcmp(argv[i], "all");
	if (o->help)
		o->version = false;
	return o->help || o->version;
}

/* Values that follow from several options together. */
static void derive(struct parse *p)
{
	struct options *o = p->o;

	if (o->server.any.sa_family != AF_UNSPEC || o->server_name)
		o->role = ROLE_EMIT;
	if (o->no_hw_stamps)
		o->stamp = SOURCE_USER;
	else if (!options_given(p, "stamp") && !o->prove && (o->host_given || (o->check && !o->interface)))
		o->stamp = STAMP_BEST;
	o->any_bound = o->stamp == STAMP_RECEIVE_ANY;
	if (o->any_bound)
		o->stamp = SOURCE_RECEIVE;
	if (o->transport != TRANSPORT_UDP)
		o->port = o->transport == TRANSPORT_PTP ? PTP_PORT : 0;
	if (options_echoes(o) && !options_given(p, "interval")) {
		o->interval_ns = ECHO_INTERVAL_NS;
		o->interval_implied = true;
	}
	o->keep_going |= o->on_breach.keep_going;
	o->trace_marker |= o->snapshot;
	o->trace_events_given = options_given(p, "trace-events") != NULL;
	/* Options without effect: notes[] in options/rules.c warns of them. */
	o->snapshot &= o->threshold_ns > 0 || o->allow_freeze;
	o->no_tx_stamps &= o->role == ROLE_REFLECT;
	if (!o->log_path)
		o->log_threshold_ns = 0;
	if (o->seed < 0 && (o->jitter_percent || o->poisson))
		o->seed = clock_read_ns(CLOCK_REALTIME);
	if (o->interval_ns && !o->pmc && !options_given(p, "window"))
		o->window = options_in_timeout(o);
	/* The kernel ignores both while SO_BUSY_POLL is 0. */
	if ((o->busy_poll_budget || o->prefer_busy_poll) && !options_given(p, "busy-poll-us")) {
		o->busy_poll_us = BUSY_POLL_IMPLIED_US;
		o->busy_poll_implied = true;
	}
}

/* ---- Arguments that belong to no option -------------------------------------------------------------------------- */

/* "1 ms" as two arguments of the command line. */
struct split_time {
	const char *number, *unit;
};

/* The first number that is followed by the name of a unit. Before getopt moves the arguments. */
static struct split_time find_split_time(int argc, char **argv)
{
	static const char *const units[] = { "ns", "us", "ms", "s", "m", "h", "d", "sec", "min" };

	for (int i = 2; i < argc; i++)
		for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++)
			if (!strcmp(argv[i], units[u]) && *argv[i - 1] &&
			    strchr("0123456789", argv[i - 1][strlen(argv[i - 1]) - 1]))
				return (struct split_time){ argv[i - 1], argv[i] };
	return (struct split_time){ NULL, NULL };
}

/* True after one line, if the number is the argument of a time: of "-d 1", "-d1" or "--duration=1". */
static bool refuse_split_time(const struct parse *p, const struct split_time *t)
{
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		const char *given = p->given[row - option_table];

		if (!row->ns || !given || given < t->number || given > t->number + strlen(t->number))
			continue;
		warnx("--%s: '%s %s' has a blank before its unit: write --%s %s%s", row->name,
		      phrase_excerpt(given).text, t->unit, row->name, phrase_excerpt(given).text,
			      option_usual_unit(t->unit));
		return true;
	}
	return false;
}

/* A link-local address names its interface in its zone, "fe80::1%eth0". */
static int take_zone(struct parse *p, const char *host)
{
	const struct option_row *interface = option_named("interface");
	const char *zone = strchr(host, '%');

	if (!zone || options_given(p, "interface"))
		return 0;
	p->given[interface - option_table] = zone + 1;
	return option_set(p->o, interface, zone + 1);
}

static int take_host(struct parse *p, const char *host)
{
	const struct option_row *address = option_named("address");
	int error;

	if (options_given(p, "address")) {
		warnx("'%s' with --address %s: both name the reflector, give one of the two", phrase_excerpt(host).text,
		      phrase_excerpt(options_given(p, "address")).text);
		return -EINVAL;
	}
	p->o->host_given = true;
	p->given[address - option_table] = host;
	error = option_set(p->o, address, host);
	return error ? error : take_zone(p, host);
}

/* The files of --report and --compare, or the HOST of "rant HOST". */
static int take_arguments(struct parse *p, int argc, char **argv, const struct split_time *split)
{
	struct options *o = p->o;

	o->file = argv + optind;
	o->files = argc - optind;
	for (int i = 0; i < o->files; i++) {
		if (!option_has_control(o->file[i]))
			continue;
		warnx("'%s': a control character, shown as '?', is in this name: give the file another name",
		      phrase_excerpt(o->file[i]).text);
		return -EINVAL;
	}
	if (o->report || o->compare)
		return 0;
	for (int i = 0; i < o->files; i++)
		if (o->file[i] == split->unit && refuse_split_time(p, split))
			return -EINVAL;
	if (o->files > 1) {
		warnx("'%s': belongs to no option, and '%s' is the host: 'rant --help' lists the options",
		      phrase_excerpt(o->file[1]).text, phrase_excerpt(o->file[0]).text);
		return -EINVAL;
	}
	o->files = 0;
	o->file = NULL;
	return take_host(p, argv[optind]);
}

int options_parse(struct options *o, int argc, char **argv)
{
	const struct split_time split = find_split_time(argc, argv);
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
	error = optind < argc ? take_arguments(&p, argc, argv, &split) : 0;
	if (error)
		return error;
	derive(&p);
	return options_check_rules(&p);
}
