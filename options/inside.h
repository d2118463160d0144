/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the command line: only for options.c and the files of options/. */
#ifndef OPTIONS_INSIDE_H
#define OPTIONS_INSIDE_H

#include "options.h"

/* ---- table.c ----------------------------------------------------------------------------------------------------- */

/* The table of the options: the parser, the defaults, the messages, the help and the completion are made from it. */

enum kind { KIND_FLAG, KIND_NUMBER, KIND_DSCP, KIND_CHOICE, KIND_FILE, KIND_FOLDER, KIND_USER, KIND_FILTER, KIND_INTERFACE,
	    KIND_ADDRESS, KIND_PREFIX,
	    KIND_ACTION, KIND_ROTATION, KIND_TOLERANCE, KIND_GOAL, KIND_STAGES };

struct choice {
	const char *name;
	int64_t value;
};

struct option_row {
	const char *heading; /* printed by --help all above the first option of a group; NULL: in the group above */
	char letter; /* 0: the long name only */
	const char *name;
	const char *argument; /* name of the argument in the help; NULL: the option takes none */
	enum kind kind;
	size_t offset; /* in struct options */
	/* Numbers: `min`, `max`, `bare_min`, `bare_max` and `initial` are in the stored unit. */
	const char *unit;
	int64_t unit_size; /* stored value of a 1 on the command line */
	int decimals; /* allowed after the point */
	int64_t ns; /* nanoseconds of a stored 1, for times: these accept a unit after the number; 0: not a time */
	int64_t min, max;
	int64_t bare_min, bare_max; /* a time without a unit outside of these prints a warning; 0: no limit */
	bool zero; /* 0 is accepted below `min` and means that the option is not given */
	int64_t initial; /* default; a number outside of the range: no default */
	const struct choice *choice; /* ends with a row without a name */
	const char *help; /* a verb phrase of at most 60 characters */
	const char *everyday; /* the same for --help without "all"; empty: `help`; NULL: only in --help all */
};

/* Does not compile when the field is not of the type that the kind stores. */
#define AT(type, field) _Generic(((struct options *)0)->field, type: offsetof(struct options, field))

#define OPTION_ROWS_MAX 128

extern const struct option_row option_table[];
extern const size_t option_rows; /* at most OPTION_ROWS_MAX */

/* One command line while it is parsed. */
struct parse {
	struct options *o;
	const char *given[OPTION_ROWS_MAX]; /* by row of the table: the argument, empty for a flag; NULL: not given */
};

/* The row of a long name that exists. */
const struct option_row *option_named(const char *name);

/* The argument of the option of this name, empty for a flag; NULL: it was not given. */
const char *options_given(const struct parse *p, const char *name);

/* Decimals are few: 1 to 10^9. */
static inline int64_t option_power_of_ten(int exponent)
{
	return exponent ? 10 * option_power_of_ten(exponent - 1) : 1;
}

/* ---- value.c ----------------------------------------------------------------------------------------------------- */

/* Reads, checks and stores the argument of one option. */

/* Stores `text` in the field of the row. 0, or -EINVAL after one line on stderr. A path or name points into `text`. */
int option_set(struct options *o, const struct option_row *row, const char *text);

/* The same for one kind of option each; `field` is the field of the row. */
/* In options/number.c: */
int option_set_number(const struct option_row *row, const char *text, void *field);
int option_set_dscp(const struct option_row *row, const char *text, void *field);
int option_set_goal(const struct option_row *row, const char *text, void *field);
int option_set_tolerance(const struct option_row *row, const char *text, void *field);
/* In options/address.c: */
int option_set_address(const struct option_row *row, const char *text, void *field);
int option_set_prefix(const struct option_row *row, const char *text, void *field);

/* The unit of a time under another usual name: "m" for "min"; NULL: unknown. */
const char *option_usual_unit(const char *unit);

/* True for a number without letters after it, such as "1" or "0.5". */
bool option_has_no_unit(const char *text);

/* True if the text has control characters, which could change the state of a terminal. */
bool option_has_control(const char *text);

/* Prints one line: the option, its argument, the reason and the accepted values. Returns -EINVAL. */
int option_refuse(const struct option_row *row, const char *text, const char *why);

/* ---- phrase.c ---------------------------------------------------------------------------------------------------- */

/* Phrases of messages and of the help text. */

/* A short text, passed by value. Text that does not fit is cut off. */
struct phrase {
	char text[192];
};

#define phrase_add(p, ...) text_add((p)->text, sizeof((p)->text), __VA_ARGS__)

/* Joins words as "a, b or c"; `left` words follow this word. */
void phrase_add_word(struct phrase *p, const char *prefix, const char *word, int left);

/* The argument of a user for a message of one line: at most 40 octets, without control characters. */
struct phrase phrase_excerpt(const char *text);

/* The default in the form that the command line takes, without its unit; empty: no default. */
struct phrase phrase_default(const struct option_row *row);

/* The names of the choices: "nic, kernel or full". */
struct phrase phrase_choices(const struct option_row *row);

/* The accepted values, for the end of a message: "give ...". */
struct phrase phrase_allowed(const struct option_row *row);

/* ---- rules.c ----------------------------------------------------------------------------------------------------- */

/* Rules that concern two options, or all. */

/* 0, or -EINVAL after one line on stderr for the first rule that is broken. Warns of options without effect, and of
 * times that are absurd in their default unit. */
int options_check_rules(const struct parse *p);

#endif
