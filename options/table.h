/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table: all that is known of each option. The parser, the defaults, the messages and the help text are made from
 * it. */
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include "options.h"

enum kind { KIND_FLAG, KIND_NUMBER, KIND_DSCP, KIND_CHOICE, KIND_FILE, KIND_FOLDER, KIND_USER, KIND_INTERFACE,
	    KIND_ADDRESS, KIND_PREFIX,
	    KIND_ACTION, KIND_ROTATION, KIND_TOLERANCE };

struct choice {
	const char *name;
	int64_t value;
};

struct option_row {
	const char *heading; /* in the help text, above the first option of a group */
	char letter; /* 0: the long name only */
	const char *name;
	const char *argument; /* its name in the help text; NULL: takes none */
	enum kind kind;
	size_t offset; /* in struct options */
	/* Numbers: `min`, `max` and `initial` are as stored. */
	const char *unit;
	int64_t unit_size; /* what 1 on the command line is stored as */
	int decimals; /* allowed */
	/* of a time: what a stored 1 is, so that a number may have another unit behind it; 0: it is no time */
	int64_t ns;
	int64_t min, max;
	bool zero; /* 0 is taken too, though it is out of range: as if it was not given */
	int64_t initial; /* default; a number outside of its range is none */
	const struct choice *choice; /* the last has no name */
	const char *help;
};

/* Does not compile when the field is not of the type that the kind stores. */
#define AT(type, field) _Generic(((struct options *)0)->field, type: offsetof(struct options, field))

#define OPTION_ROWS_MAX 128

extern const struct option_row option_table[];
extern const size_t option_rows; /* at most OPTION_ROWS_MAX */

/* What stands on the command line. */
struct parse {
	struct options *o;
	const char *given[OPTION_ROWS_MAX]; /* by row: the argument, empty for a flag; NULL: not given */
};

/* The row of a long name, which there must be. */
const struct option_row *option_named(const char *name);

/* The argument of the option of this name, empty for a flag; NULL: it was not given. */
const char *options_given(const struct parse *p, const char *name);

/* Decimals are few: 1 to 10^9. */
static inline int64_t option_power_of_ten(int exponent)
{
	return exponent ? 10 * option_power_of_ten(exponent - 1) : 1;
}

#endif
