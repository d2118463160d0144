// SPDX-License-Identifier: GPL-2.0-or-later
/* What an option is now, and the help text: by the table. */
#include "options.h"

#include "options/phrase.h"
#include "options/table.h"

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
	case KIND_TOLERANCE: /* of no run */
		break;
	default:
		set_value(v, row, field);
	}
	return true;
}

#define HELP_COLUMN 27

static void print_row(FILE *out, const struct option_row *row)
{
	struct phrase left = { "" }, initial = phrase_default(row);

	if (row->letter)
		phrase_add(&left, "  -%c, --%s", row->letter, row->name);
	else
		phrase_add(&left, "      --%s", row->name);
	if (row->argument)
		phrase_add(&left, " %s", row->argument);
	fprintf(out, "%-*s%s", HELP_COLUMN, left.text, row->help);
	if (row->kind == KIND_CHOICE)
		fprintf(out, ": %s", phrase_allowed(row).text);
	if (*initial.text)
		fprintf(out, " (%s%s%s)", initial.text, row->unit ? " " : "", row->unit ? row->unit : "");
	fputc('\n', out);
}

void options_usage(FILE *out)
{
	fputs("rant measures network latency, stamped where packets cross the wire.\n\n"
	      "usage: rant -i IFACE -a IP [options]   emit: send probes to the reflector at IP\n"
	      "       rant -i IFACE [options]         reflect: answer probes\n"
	      "       rant -i IFACE --check           look at the NIC and this machine\n"
	      "       rant --report FILE...           what runs have left, without the network\n"
	      "       rant --compare FILE FILE        of two runs: is the second one worse?\n\n"
	      "A time may have its unit behind it, whatever unit is meant without one: 30us, 50ms, 10m.\n", out);
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		if (row->heading)
			fprintf(out, "\n%s:\n", row->heading);
		print_row(out, row);
	}
	fputs("\nExit status:\n"
	      "  0  done\n"
	      "  1  could not run, or bad usage\n"
	      "  2  threshold breached (without --continue)\n"
	      "  3  the run finished, but its numbers are not to be trusted\n"
	      "  4  --compare: the second run is worse\n", out);
}
