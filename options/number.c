// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers, times with their units, names of code points, tolerances. */
#include "options/inside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The units that an option for a time accepts after its number. */
static const struct time_unit {
	const char *name;
	int64_t ns;
	int decimals; /* down to one nanosecond */
} time_units[] = {
	{ "ns", 1, 0 }, { "us", NS_PER_US, 3 }, { "ms", NS_PER_MS, 6 }, { "s", NS_PER_S, 9 }, { "m", 60 * NS_PER_S, 9 },
	{ "h", 3600 * NS_PER_S, 9 }, { "d", 86400 * NS_PER_S, 9 },
};

#define TIME_UNITS ((int)(sizeof(time_units) / sizeof(time_units[0])))

enum number { NUMBER_GOOD, NUMBER_MALFORMED, NUMBER_TOO_FINE, NUMBER_OUT_OF_RANGE };

/* Reads digits up to `stop`, with a point where decimals are allowed. An exponent, a blank or a plus sign is malformed,
 * a minus sign out of range. Integer arithmetic: 0.1 us is 100 ns exactly. *value is set when the number is good. */
static enum number digits_read(const struct option_row *row, const char *text, const char *stop, int64_t *value)
{
	const char *start = text + (*text == '-'), *end = start + strspn(start, "0123456789");
	int places = 0;
	bool overflow = false;
	int64_t n = 0;

	if (*end == '.') {
		size_t length = strspn(++end, "0123456789");

		if (!length)
			return NUMBER_MALFORMED;
		places = length > INT_MAX ? INT_MAX : (int)length;
		end += length;
	}
	if (end != stop || end == start)
		return NUMBER_MALFORMED;
	if (places > row->decimals)
		return NUMBER_TOO_FINE;
	for (const char *c = start; c < end; c++)
		if (*c != '.')
			overflow |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *c - '0', &n);
	overflow |= __builtin_mul_overflow(n, row->unit_size / option_power_of_ten(places), &n);
	if (start > text || overflow || n < row->min || n > row->max)
		return NUMBER_OUT_OF_RANGE;
	*value = n;
	return NUMBER_GOOD;
}

/* The unit after the number of a time, and where it starts; NULL: no unit, or an unknown one. */
static const struct time_unit *unit_of(const struct option_row *row, const char *text, const char **at)
{
	*at = text + strspn(text, "-.0123456789");
	for (int i = 0; i < TIME_UNITS && row->ns; i++)
		if (!strcmp(*at, time_units[i].name))
			return &time_units[i];
	return NULL;
}

/* *value is set when the number is good: in the stored unit, without rounding. */
static enum number number_read(const struct option_row *row, const char *text, int64_t *value)
{
	const char *at;
	const struct time_unit *unit = unit_of(row, text, &at);
	struct option_row in_ns = *row;
	enum number verdict;
	int64_t ns;

	if (!unit)
		return digits_read(row, text, text + strlen(text), value);
	in_ns.unit_size = unit->ns;
	in_ns.decimals = unit->decimals;
	in_ns.min *= row->ns;
	in_ns.max *= row->ns;
	verdict = digits_read(&in_ns, text, at, &ns);
	if (verdict != NUMBER_GOOD)
		return verdict;
	if (ns % row->ns)
		return NUMBER_TOO_FINE;
	*value = ns / row->ns;
	return NUMBER_GOOD;
}

static int refuse_fineness(const struct option_row *row, const char *text)
{
	struct phrase why = { "" };
	const char *at;

	if (unit_of(row, text, &at))
		return option_refuse(row, text, row->ns == 1 ? "is finer than a nanosecond" :
				     "is finer than a microsecond");
	if (!row->decimals)
		return option_refuse(row, text, "is not a whole number");
	phrase_add(&why, "has too many decimals, at most %d are allowed", row->decimals);
	return option_refuse(row, text, why.text);
}

bool option_has_no_unit(const char *text)
{
	return text[strspn(text, ".0123456789")] == '\0';
}

const char *option_usual_unit(const char *unit)
{
	static const struct {
		const char *name, *ours;
	} units[] = {
		{ "nsec", "ns" }, { "usec", "us" }, { "\302\265s", "us" }, { "\316\274s", "us" }, { "msec", "ms" },
		{ "sec", "s" }, { "second", "s" }, { "seconds", "s" }, { "min", "m" }, { "mins", "m" },
		{ "minutes", "m" }, { "hr", "h" }, { "hour", "h" }, { "hours", "h" }, { "day", "d" }, { "days", "d" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcasecmp(unit, units[i].name))
			return units[i].ours;
	for (int i = 0; i < TIME_UNITS; i++)
		if (!strcmp(unit, time_units[i].name))
			return time_units[i].name;
	return NULL;
}

/* "1e6": with the number in full, where that is a whole one of at most 15 digits. */
static bool explain_exponent(const char *text, struct phrase *why)
{
	const size_t digits = strspn(text, ".0123456789"), sign = text[digits] ? strspn(text + digits + 1, "+-") : 0;
	char *end;
	const double value = strtod(text, &end);

	if (!digits || (text[digits] | 0x20) != 'e' || sign > 1 || !text[digits + 1 + sign] || *end)
		return false;
	if (value >= 1 && value < 1e15 && value == (double)(int64_t)value)
		phrase_add(why, "has an exponent, which is not supported (write %.0f)", value);
	else
		phrase_add(why, "has an exponent, which is not supported");
	return true;
}

/* Digits with something after them that is not a unit of this option. */
static int refuse_malformed(const struct option_row *row, const char *text)
{
	const size_t digits = strspn(text, ".0123456789"), blanks = strspn(text + digits, " \t");
	const char *unit = text + digits + blanks, *ours = option_usual_unit(unit);
	struct phrase why = { "" };

	if (!digits || !*unit || *text == '.' || strchr("-+,_:%", *unit) || text[digits - 1] == '.' ||
	    (!blanks && row->ns && ours && !strcmp(ours, unit)))
		return option_refuse(row, text, "is not a number");
	if (explain_exponent(text, &why))
		return option_refuse(row, text, why.text);
	if (!row->ns)
		return option_refuse(row, text, "has an unknown unit");
	if (ours)
		phrase_add(&why, "has %s (write %.*s%s)", !strcmp(ours, unit) ? "a blank before its unit" :
			   "an unknown unit",
			   digits > 24 ? 24 : (int)digits, text, ours);
	else
		phrase_add(&why, "has an unknown unit");
	return option_refuse(row, text, why.text);
}

int option_set_number(const struct option_row *row, const char *text, void *field)
{
	struct option_row wide = *row;
	int64_t number;

	wide.min = row->zero ? 0 : row->min;
	switch (number_read(&wide, text, &number)) {
	case NUMBER_GOOD:
		if (number < row->min && !(row->zero && number == 0))
			return option_refuse(row, text, "is out of range");
		*(int64_t *)field = number;
		return 0;
	case NUMBER_MALFORMED:
		return refuse_malformed(row, text);
	case NUMBER_OUT_OF_RANGE:
		return option_refuse(row, text, "is out of range");
	case NUMBER_TOO_FINE:
		break;
	}
	return refuse_fineness(row, text);
}

/* The code point of a name in upper or lower case; -1: unknown name. RFC 2474 (CS, DF), 2597 (AF), 3246 (EF), 5865
 * (VA), 8622 (LE). */
static int dscp_named(const char *text)
{
	static const struct choice names[] = { { "EF", 46 }, { "VA", 44 }, { "LE", 1 }, { "DF", 0 } };
	const size_t length = strlen(text);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(text, names[i].name))
			return (int)names[i].value;
	if (length == 3 && !strncasecmp(text, "CS", 2) && text[2] >= '0' && text[2] <= '7')
		return 8 * (text[2] - '0');
	if (length == 4 && !strncasecmp(text, "AF", 2) && text[2] >= '1' && text[2] <= '4' && text[3] >= '1' &&
	    text[3] <= '3')
		return 8 * (text[2] - '0') + 2 * (text[3] - '0');
	return -1;
}

int option_set_dscp(const struct option_row *row, const char *text, void *field)
{
	const bool hex = !strncasecmp(text, "0x", 2);
	const char *digits = text + 2;
	int64_t number = dscp_named(text);

	if (!hex && number < 0 && (!*text || text[strspn(text, "-.0123456789")]))
		return option_refuse(row, text, "is not a code point");
	if (!hex && number < 0)
		return option_set_number(row, text, field);
	if (hex) {
		if (!*digits || digits[strspn(digits, "0123456789abcdefABCDEF")])
			return option_refuse(row, text, "is not a code point");
		for (number = 0; *digits && number <= row->max; digits++)
			number = 16 * number + (*digits <= '9' ? *digits - '0' : (*digits & 0xf) + 9);
		if (number > row->max)
			return option_refuse(row, text, "is out of range");
	}
	*(int64_t *)field = number;
	return 0;
}

/* Reads one element of a tolerance: a share with a percent sign, or a time with its unit. */
static enum number part_read(const char *text, struct tolerance *t)
{
	static const struct option_row percent = { .unit_size = 1000, .decimals = 3, .min = 0, .max = 1000000 };
	static const struct option_row time = { .unit_size = 1, .ns = 1, .min = 0, .max = 10 * NS_PER_S };
	const size_t bytes = strlen(text);
	const char *at;

	if (bytes && text[bytes - 1] == '%')
		return t->milli_percent ? NUMBER_MALFORMED :
		digits_read(&percent, text, text + bytes - 1, &t->milli_percent);
	return t->ns || !unit_of(&time, text, &at) ? NUMBER_MALFORMED : number_read(&time, text, &t->ns);
}

int option_set_tolerance(const struct option_row *row, const char *text, void *field)
{
	const size_t first = strcspn(text, ",");
	struct tolerance *t = field;
	enum number verdict;
	char part[64];

	*t = (struct tolerance){ 0 };
	if (first >= sizeof(part))
		return option_refuse(row, text, "is not a tolerance");
	memcpy(part, text, first);
	part[first] = '\0';
	verdict = part_read(part, t);
	if (verdict == NUMBER_GOOD && text[first])
		verdict = part_read(text + first + 1, t);
	return verdict == NUMBER_GOOD ? 0 : option_refuse(row, text,
							  verdict == NUMBER_OUT_OF_RANGE ? "is out of range" :
							  "is not a tolerance");
}

#define GOAL_DIGITS 6 /* decimals of the percentile: "p99.9999" */

/* Reads a number with up to GOAL_DIGITS decimals up to the character `end`, in units of 10^-GOAL_DIGITS. NULL: it is none. */
static const char *goal_number(const char *text, char end, uint64_t *value)
{
	size_t whole = strspn(text, "0123456789"), decimals = 0;

	*value = 0;
	if (!whole || whole > 3)
		return NULL;
	for (size_t i = 0; i < whole; i++)
		*value = *value * 10 + (uint64_t)(text[i] - '0');
	text += whole;
	if (*text == '.') {
		decimals = strspn(++text, "0123456789");
		if (!decimals || decimals > GOAL_DIGITS)
			return NULL;
	}
	for (size_t i = 0; i < GOAL_DIGITS; i++)
		*value = *value * 10 + (i < decimals ? (uint64_t)(text[i] - '0') : 0);
	return text[decimals] == end ? text + decimals + 1 : NULL;
}

/* "p99.9:5%" */
int option_set_goal(const struct option_row *row, const char *text, void *field)
{
	const uint64_t all = 100 * (uint64_t)option_power_of_ten(GOAL_DIGITS);
	struct known_goal *goal = field;
	uint64_t share, width;
	const char *rest = *text == 'p' ? goal_number(text + 1, ':', &share) : NULL;

	*goal = (struct known_goal){ .text = text };
	rest = rest ? goal_number(rest, '%', &width) : NULL;
	if (!rest || *rest)
		return option_refuse(row, text, "is not a percentile and a width");
	if (!share || share >= all || !width || width > all)
		return option_refuse(row, text, "is out of range");
	goal->numerator = (int64_t)share;
	goal->denominator = (int64_t)all;
	goal->width_ppb = (int64_t)width * 10;
	return 0;
}
