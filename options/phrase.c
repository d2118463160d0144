// SPDX-License-Identifier: GPL-2.0-or-later
/* Phrases of messages and of the help text. */
#include "options/inside.h"

#include <inttypes.h>
#include <string.h>

#define EXCERPT_MAX 40

void phrase_add_word(struct phrase *p, const char *prefix, const char *word, int left)
{
	phrase_add(p, "%s%s%s", !*p->text ? "" : left ? ", " : " or ", prefix, word);
}

struct phrase phrase_excerpt(const char *text)
{
	struct phrase p = { "" };

	phrase_add(&p, "%.*s%s", EXCERPT_MAX, text, strlen(text) > EXCERPT_MAX ? "..." : "");
	for (char *c = p.text; *c; c++) {
		if ((unsigned char)c[0] == 0xc2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xa0)
			c[0] = c[1] = '?'; /* U+0080 to U+009F, as option_has_control() */
		*c = text_shown(*c);
	}
	return p;
}

/* A stored value in the form that the command line takes. */
static struct phrase number_text(const struct option_row *row, int64_t value)
{
	int64_t whole = value / row->unit_size, rest = value % row->unit_size;
	struct phrase p = { "" };

	phrase_add(&p, "%" PRId64, whole);
	if (rest)
		phrase_add(&p, ".%0*" PRId64, row->decimals,
			   rest / (row->unit_size / option_power_of_ten(row->decimals)));
	return p;
}

struct phrase phrase_default(const struct option_row *row)
{
	struct phrase p = { "" };

	if (row->kind == KIND_NUMBER && row->initial >= row->min)
		return number_text(row, row->initial);
	if (row->kind == KIND_CHOICE || row->kind == KIND_STAGES)
		for (const struct choice *c = row->choice; c->name; c++)
			if (c->value == row->initial)
				phrase_add(&p, "%s", c->name);
	return p;
}

static struct phrase allowed_numbers(const struct option_row *row)
{
	struct phrase p = { "" };

	phrase_add(&p, "%s to %s", number_text(row, row->min).text, number_text(row, row->max).text);
	if (row->unit)
		phrase_add(&p, " %s", row->unit);
	if (row->ns)
		phrase_add(&p, ", or with ns, us, ms, s, m, h or d");
	return p;
}

struct phrase phrase_choices(const struct option_row *row)
{
	struct phrase p = { "" };

	for (const struct choice *c = row->choice; c->name; c++)
		phrase_add_word(&p, "", c->name, c[1].name != NULL);
	return p;
}

struct phrase phrase_allowed(const struct option_row *row)
{
	struct phrase p = { "" };

	switch (row->kind) {
	case KIND_NUMBER:
		return allowed_numbers(row);
	case KIND_DSCP:
		phrase_add(&p, "0 to 63, 0x0 to 0x3f, CS0 to CS7, AF11 to AF43, EF, VA, LE or DF");
		break;
	case KIND_CHOICE:
		return phrase_choices(row);
	case KIND_STAGES:
		phrase_add(&p, "%s, or full/N for one packet in N, e.g. full/64", phrase_choices(row).text);
		break;
	case KIND_FILE:
		phrase_add(&p, "the name of a file");
		break;
	case KIND_FOLDER:
		phrase_add(&p, "the name of a directory");
		break;
	case KIND_USER:
		phrase_add(&p, "the name of a user");
		break;
	case KIND_FILTER:
		phrase_add(&p, "the name of a receive filter");
		break;
	case KIND_INTERFACE:
		phrase_add(&p, "the name of a network interface");
		break;
	case KIND_ADDRESS:
		phrase_add(&p, "an IP address%s", row->letter == 'a' ?
			   ", the name of a host, or with --transport l2 a MAC address" : "");
		break;
	case KIND_PREFIX:
		phrase_add(&p, "an IP address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32");
		break;
	case KIND_ACTION:
		phrase_add(&p, "stop, continue or exec:COMMAND");
		break;
	case KIND_ROTATION:
		phrase_add(&p, "256k octets or more (k, M, G) and 1 to %d files, e.g. 100M,10", LOG_ROTATE_MOST_FILES);
		break;
	case KIND_TOLERANCE:
		phrase_add(&p, "a share up to 1000%%, a time up to 10 s, or both, e.g. 5%%,500ns");
		break;
	case KIND_GOAL:
		phrase_add(&p, "a percentile and half the width of its interval in percent, e.g. p99.9:5%%");
		break;
	case KIND_FLAG:
		phrase_add(&p, "no argument");
		break;
	}
	return p;
}
