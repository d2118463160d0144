// SPDX-License-Identifier: GPL-2.0-or-later
/* Flags, choices, names, actions, log rotation; and the table of the function for each kind of option. */
#include "options/inside.h"

#include <err.h>
#include <errno.h>
#include <string.h>

int option_refuse(const struct option_row *row, const char *text, const char *why)
{
	warnx("--%s: '%s' %s: give %s", row->name, phrase_excerpt(text).text, why, phrase_allowed(row).text);
	return -EINVAL;
}

static int set_flag(const struct option_row *row, const char *text, void *field)
{
	(void)row, (void)text;
	*(bool *)field = true;
	return 0;
}

static int set_choice(const struct option_row *row, const char *text, void *field)
{
	for (const struct choice *c = row->choice; c->name; c++) {
		if (!strcmp(text, c->name)) {
			*(int64_t *)field = c->value;
			return 0;
		}
	}
	return option_refuse(row, text, "is not a choice");
}

/* Messages and reports show names, which must not control the terminal. U+0080 to U+009F are control characters too
 * (ECMA-48). */
bool option_has_control(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (text_shown((char)*c) != (char)*c || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
			return true;
	return false;
}

static int set_path(const struct option_row *row, const char *text, void *field)
{
	if (!*text)
		return option_refuse(row, text, "is empty");
	if (option_has_control(text))
		return option_refuse(row, text, "has a control character, shown as '?'");
	*(const char **)field = text;
	return 0;
}

static int set_interface(const struct option_row *row, const char *text, void *field)
{
	_Static_assert(IFNAMSIZ == 16, "the message below has this length");
	if (strlen(text) >= IFNAMSIZ)
		return option_refuse(row, text, "is too long, interface names have at most 15 characters");
	return set_path(row, text, field);
}

static int set_hook(const struct option_row *row, const char *text, void *field)
{
	struct breach_hooks *hooks = field;

	if (!strcmp(text, "stop")) {
		hooks->stop = true;
	} else if (!strcmp(text, "continue")) {
		hooks->keep_going = true;
	} else if (strncmp(text, "exec:", 5) || !text[5]) {
		return option_refuse(row, text, "is not an action");
	} else if (hooks->commands == BREACH_COMMANDS_MAX) {
		_Static_assert(BREACH_COMMANDS_MAX == 8, "the message below has this number");
		return option_refuse(row, text, "is the ninth command, eight are allowed");
	} else {
		hooks->command[hooks->commands++] = text + 5;
	}
	return 0;
}

/* Reads digits; *end is set after them. False: no digit, or more than 64 bits. */
static bool read_whole(const char *text, const char **end, int64_t *value)
{
	bool overflow = false;

	for (*value = 0, *end = text; **end >= '0' && **end <= '9'; ++*end)
		overflow |= __builtin_mul_overflow(*value, 10, value) ||
		__builtin_add_overflow(*value, **end - '0', value);
	return *end > text && !overflow;
}

static int set_rotation(const struct option_row *row, const char *text, void *field)
{
	static const char scales[] = "kMG";
	struct log_rotation *r = field;
	const char *end, *scale;

	if (!read_whole(text, &end, &r->bytes))
		return option_refuse(row, text, "has no size");
	scale = *end ? strchr(scales, *end) : NULL;
	if (scale && __builtin_mul_overflow(r->bytes, 1LL << 10 * (scale - scales + 1), &r->bytes))
		return option_refuse(row, text, "is out of range");
	end += scale != NULL;
	if (*end != ',' || !read_whole(end + 1, &end, &r->files) || *end)
		return option_refuse(row, text, "is not a size and a number of files");
	if (r->bytes < LOG_ROTATE_LEAST_BYTES || r->files < 1 || r->files > LOG_ROTATE_MOST_FILES)
		return option_refuse(row, text, "is out of range");
	return 0;
}

static int set_stages(const struct option_row *row, const char *text, void *field)
{
	const char *slash = strchr(text, '/'), *end = NULL;
	struct stages_wish *wish = field;
	const struct choice *c = row->choice;
	const size_t bytes = slash ? (size_t)(slash - text) : strlen(text);

	while (c->name && (strncmp(text, c->name, bytes) || c->name[bytes]))
		c++;
	if (!c->name || (slash && c->value != STAGES_FULL))
		return option_refuse(row, text, "is not a choice");
	*wish = (struct stages_wish){ c->value, 1, text };
	if (slash && (!read_whole(slash + 1, &end, &wish->every) || *end || !wish->every || wish->every > row->max))
		return option_refuse(row, text, "has no number of packets up to 1000000");
	return 0;
}

static int (*const set[])(const struct option_row *row, const char *text, void *field) = {
	[KIND_FLAG] = set_flag,
	[KIND_NUMBER] = option_set_number,
	[KIND_DSCP] = option_set_dscp,
	[KIND_CHOICE] = set_choice,
	[KIND_FILE] = set_path,
	[KIND_FOLDER] = set_path,
	[KIND_USER] = set_path,
	[KIND_FILTER] = set_path,
	[KIND_INTERFACE] = set_interface,
	[KIND_ADDRESS] = option_set_address,
	[KIND_PREFIX] = option_set_prefix,
	[KIND_ACTION] = set_hook,
	[KIND_ROTATION] = set_rotation,
	[KIND_TOLERANCE] = option_set_tolerance,
	[KIND_GOAL] = option_set_goal,
	[KIND_STAGES] = set_stages,
};

int option_set(struct options *o, const struct option_row *row, const char *text)
{
	return set[row->kind](row, text, (char *)o + row->offset);
}
