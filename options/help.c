// SPDX-License-Identifier: GPL-2.0-or-later
/* The present value of an option, and the help text, both from the table. */
#include "options.h"

#include "options/inside.h"

#include <string.h>

static void set_value(struct option_value *v, const struct option_row *row, const void *field)
{
	if (row->kind == KIND_NUMBER || row->kind == KIND_DSCP) {
		v->number = *(const int64_t *)field;
		v->unit = row->unit_size > 1 ? "ns" : row->unit;
		v->kind = v->number < row->min || v->number > row->max ? OPTION_NONE : OPTION_NUMBER;
		return;
	}
	if (row->kind == KIND_CHOICE) {
		for (const struct choice *c = row->choice; c->name; c++)
			v->text = c->value == *(const int64_t *)field ? c->name : v->text;
	} else {
		v->text = *(const char *const *)field;
	}
	v->kind = v->text ? OPTION_TEXT : OPTION_NONE;
}

bool options_value(const struct options *o, unsigned index, struct option_value *v)
{
	const struct option_row *row = &option_table[index];
	const void *field = (const char *)o + (index < option_rows ? row->offset : 0);

	if (index >= option_rows)
		return false;
	*v = (struct option_value){ .name = row->name };
	switch (row->kind) {
	case KIND_FLAG:
		v->kind = OPTION_FLAG;
		v->number = *(const bool *)field;
		break;
	case KIND_ADDRESS:
		v->address = field;
		v->kind = v->address->any.sa_family == AF_UNSPEC ? OPTION_NONE : OPTION_ADDRESS;
		break;
	case KIND_PREFIX:
		v->kind = OPTION_PREFIXES;
		break;
	case KIND_ACTION:
		v->kind = OPTION_ACTIONS;
		break;
	case KIND_ROTATION:
		v->kind = o->log_rotate.bytes ? OPTION_ROTATION : OPTION_NONE;
		break;
	case KIND_GOAL:
		v->text = o->until_known.text;
		v->kind = v->text ? OPTION_TEXT : OPTION_NONE;
		break;
	case KIND_STAGES:
		v->text = o->stages.text;
		v->kind = OPTION_TEXT;
		break;
	case KIND_TOLERANCE: /* an option of --compare, which measures nothing */
		break;
	default:
		set_value(v, row, field);
	}
	return true;
}

const char *options_text(const struct options *o, const char *name)
{
	struct option_value v;

	for (unsigned i = 0; options_value(o, i, &v); i++)
		if (!strcmp(v.name, name))
			return v.text;
	return NULL;
}

#define HELP_COLUMN 27
#define EVERYDAY_COLUMN 25 /* leaves 55 columns for the text on a terminal of 80 */

/* The option with its letter and its argument, filled up to the column of the text. */
static void print_names(FILE *out, const struct option_row *row, int column)
{
	struct phrase left = { "" };

	if (row->letter)
		phrase_add(&left, "  -%c, --%s", row->letter, row->name);
	else
		phrase_add(&left, "      --%s", row->name);
	if (row->argument)
		phrase_add(&left, " %s", row->argument);
	fprintf(out, "%-*s ", column - 1, left.text);
}

/* "(100 ms)", "(1 probe)" */
static void print_default(FILE *out, const struct option_row *row)
{
	const struct phrase initial = phrase_default(row);
	const char *unit = row->unit ? row->unit : "";
	const bool singular = row->initial == 1 && !strcmp(unit, "probes");

	if (*initial.text)
		fprintf(out, " (%s%s%s)", initial.text, *unit ? " " : "", singular ? "probe" : unit);
	fputc('\n', out);
}

static void print_row(FILE *out, const struct option_row *row)
{
	print_names(out, row, HELP_COLUMN);
	fputs(row->help, out);
	if (row->choice)
		fprintf(out, ": %s", phrase_choices(row).text);
	print_default(out, row);
}

static void print_everyday(FILE *out, const struct option_row *row)
{
	print_names(out, row, EVERYDAY_COLUMN);
	fputs(*row->everyday ? row->everyday : row->help, out);
	print_default(out, row);
}

static const char forms[] =
	"usage: rant HOST [options]              emit probes to the reflector at HOST\n"
	"       rant -i IFACE [options]          reflect: answer the probes of emitters\n"
	"       rant --check [-i IFACE]          inspect NICs and host, send nothing\n"
	"       rant --report FILE...            report on saved logs or JSON files\n"
	"       rant --compare FILE FILE         compare the JSON files of two runs\n";

void options_usage(FILE *out)
{
	fputs(forms, out);
	fputs("Examples:\n"
	      "  rant -i eth0 --stamp kernel --once  on one host: reflect probes\n"
	      "  rant 192.0.2.1 -d 10                  on another host: measure for 10 s\n"
	      "  rant 192.0.2.1 --interval 1ms -t 50us stop at the first round trip above 50 us\n"
	      "'rant --help' lists the everyday options, 'rant --help all' lists all of them.\n", out);
}

static const char times[] = "Times take a unit after the number: 500ns, 30us, 50ms, 10s, 5m, 2h, 1d.\n";

void options_help(FILE *out, bool all)
{
	fprintf(out, "%s\n%s", forms, all ? times : "Everyday options ('rant --help all' lists all options):\n");
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		if (all && row->heading)
			fprintf(out, "\n%s:\n", row->heading);
		if (all)
			print_row(out, row);
		else if (row->everyday)
			print_everyday(out, row);
	}
	if (!all)
		fprintf(out, "%sExit status: 0 done, 1 could not run, 2 threshold breached, 3 untrusted result.\n",
			times);
	else
		fputs("\nExit status:\n"
		      "  0  done\n"
		      "  1  could not run, or bad usage\n"
		      "  2  threshold breached (without --continue)\n"
		      "  3  the run finished, but its numbers are not to be trusted\n"
		      "  4  --compare: the second run is worse\n"
		      "  5  --compare: undecided, the intervals are too wide\n", out);
}
