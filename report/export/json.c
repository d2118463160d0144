// SPDX-License-Identifier: GPL-2.0-or-later
/* Streaming writer of JSON. */
#include "report/export/json.h"

#include "report/text/label.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- Octets ------------------------------------------------------------------------------------------------------ */

void json_flush(struct json *j)
{
	if (!j->error && j->used)
		j->error = j->put(j->context, j->block, j->used);
	j->used = 0;
}

static void put(struct json *j, const char *from, size_t bytes)
{
	while (bytes) {
		const size_t space = sizeof(j->block) - j->used, some = bytes < space ? bytes : space;

		memcpy(j->block + j->used, from, some);
		j->used += some;
		from += some;
		bytes -= some;
		if (j->used == sizeof(j->block))
			json_flush(j);
	}
}

static void put_text(struct json *j, const char *text)
{
	put(j, text, strlen(text));
}

/* ---- UTF-8 ------------------------------------------------------------------------------------------------------- */

/* RFC 3629 section 4: length of the character at the text; 0: invalid. The limits of the second octet exclude overlong
 * forms, surrogates and values above U+10FFFF. */
static size_t utf8_bytes(const unsigned char *at)
{
	static const struct {
		unsigned char first[2], second[2];
		size_t bytes;
	} forms[] = {
		{ { 0x01, 0x7f }, { 0 }, 1 },
		{ { 0xc2, 0xdf }, { 0x80, 0xbf }, 2 },
		{ { 0xe0, 0xe0 }, { 0xa0, 0xbf }, 3 },
		{ { 0xe1, 0xec }, { 0x80, 0xbf }, 3 },
		{ { 0xed, 0xed }, { 0x80, 0x9f }, 3 },
		{ { 0xee, 0xef }, { 0x80, 0xbf }, 3 },
		{ { 0xf0, 0xf0 }, { 0x90, 0xbf }, 4 },
		{ { 0xf1, 0xf3 }, { 0x80, 0xbf }, 4 },
		{ { 0xf4, 0xf4 }, { 0x80, 0x8f }, 4 },
	};
	size_t i = 0;

	while (i < sizeof(forms) / sizeof(forms[0]) && (at[0] < forms[i].first[0] || at[0] > forms[i].first[1]))
		i++;
	if (i == sizeof(forms) / sizeof(forms[0]))
		return 0;
	if (forms[i].bytes > 1 && (at[1] < forms[i].second[0] || at[1] > forms[i].second[1]))
		return 0;
	for (size_t k = 2; k < forms[i].bytes; k++)
		if ((at[k] & 0xc0) != 0x80)
			return 0;
	return forms[i].bytes;
}

static void put_string(struct json *j, const char *text)
{
	put(j, "\"", 1);
	while (*text) {
		const unsigned char c = (unsigned char)*text;
		const size_t bytes = utf8_bytes((const unsigned char *)text);
		char escape[8];

		if (!bytes)
			put(j, "\xef\xbf\xbd", 3);
		else if (c == '"' || c == '\\')
			put(j, (const char[]){ '\\', *text }, 2);
		else if (c < ' ')
			put(j, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", c));
		else
			put(j, text, bytes);
		text += bytes ? bytes : 1;
	}
	put(j, "\"", 1);
}

/* ---- Nesting ----------------------------------------------------------------------------------------------------- */

static bool is_flat(const struct json *j)
{
	return j->in_a_line || (j->depth && j->level[j->depth - 1].flat);
}

static void new_line(struct json *j)
{
	if (is_flat(j))
		return;
	put(j, "\n", 1);
	for (unsigned i = 0; i < j->depth; i++)
		put(j, "\t", 1);
}

static void fail(struct json *j)
{
	if (!j->error)
		j->error = -EINVAL;
}

/* Comma, line end, indentation and name before a value. */
static void begin_value(struct json *j, const char *name)
{
	if (!j->depth) {
		if (name)
			fail(j);
		return;
	}
	if ((j->level[j->depth - 1].close == '}') != (name != NULL))
		fail(j);
	if (j->level[j->depth - 1].values++)
		put(j, ",", 1);
	new_line(j);
	if (!name)
		return;
	put_string(j, name);
	put_text(j, is_flat(j) ? ":" : ": ");
}

static void end_value(struct json *j)
{
	if (!j->depth)
		put(j, "\n", 1);
}

static void begin_level(struct json *j, const char *name, char open, char close, bool flat)
{
	flat |= is_flat(j);
	begin_value(j, name);
	put(j, &open, 1);
	if (j->depth == JSON_DEPTH) {
		fail(j);
		return;
	}
	j->level[j->depth].close = close;
	j->level[j->depth].flat = flat;
	j->level[j->depth++].values = 0;
}

void json_begin(struct json *j, int (*to)(void *context, const char *from, size_t bytes), void *context, bool in_a_line)
{
	j->put = to;
	j->context = context;
	j->in_a_line = in_a_line;
	j->error = 0;
	j->depth = 0;
	j->used = 0;
}

void json_object(struct json *j, const char *name)
{
	begin_level(j, name, '{', '}', false);
}

bool json_object_if(struct json *j, const char *name, bool known)
{
	if (known)
		json_object(j, name);
	else
		json_null(j, name);
	return known;
}

void json_array(struct json *j, const char *name)
{
	begin_level(j, name, '[', ']', false);
}

void json_row(struct json *j, const char *name)
{
	begin_level(j, name, '{', '}', true);
}

void json_pair(struct json *j, const char *name)
{
	begin_level(j, name, '[', ']', true);
}

void json_end(struct json *j)
{
	if (!j->depth) {
		fail(j);
		return;
	}
	const bool flat = is_flat(j), empty = !j->level[j->depth - 1].values;
	const char close = j->level[--j->depth].close;

	if (!empty && !flat)
		new_line(j);
	put(j, &close, 1);
	end_value(j);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void put_value(struct json *j, const char *name, const char *text)
{
	begin_value(j, name);
	put_text(j, text);
	end_value(j);
}

void json_raw(struct json *j, const char *name, const char *value)
{
	put_value(j, name, value);
}

void json_null(struct json *j, const char *name)
{
	put_value(j, name, "null");
}

void json_bool(struct json *j, const char *name, bool value)
{
	put_value(j, name, value ? "true" : "false");
}

void json_integer(struct json *j, const char *name, int64_t value)
{
	char text[32] = "";

	put_value(j, name, label_signed_digits(text + sizeof(text) - 1, value));
}

void json_integer_if(struct json *j, const char *name, bool known, int64_t value)
{
	if (known)
		json_integer(j, name, value);
	else
		json_null(j, name);
}

void json_optional(struct json *j, const char *name, struct optional value)
{
	json_integer_if(j, name, value.known, value.value);
}

void json_count(struct json *j, const char *name, uint64_t value)
{
	char text[32] = "";

	put_value(j, name, label_digits(text + sizeof(text) - 1, value, 1));
}

void json_count_if(struct json *j, const char *name, bool known, uint64_t value)
{
	if (known)
		json_count(j, name, value);
	else
		json_null(j, name);
}

void json_real(struct json *j, const char *name, double value, int decimals)
{
	char text[400]; /* the largest has 309 digits before the point */

	snprintf(text, sizeof(text), "%.*f", decimals, value);
	put_value(j, name, isfinite(value) ? text : "null");
}

void json_small(struct json *j, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2e", value);
	put_value(j, name, isfinite(value) ? text : "null");
}

void json_text(struct json *j, const char *name, const char *text)
{
	if (!text) {
		json_null(j, name);
		return;
	}
	begin_value(j, name);
	put_string(j, text);
	end_value(j);
}

const char *json_name(char *to, size_t bytes, const char *label, const char *unit)
{
	size_t n = 0;

	for (; *label && n + 1 < bytes; label++) {
		const bool upper = *label >= 'A' && *label <= 'Z';

		if (upper || (*label >= 'a' && *label <= 'z') || (*label >= '0' && *label <= '9'))
			to[n++] = (char)(upper ? *label - 'A' + 'a' : *label);
		else if (n && to[n - 1] != '_')
			to[n++] = '_';
	}
	while (n && to[n - 1] == '_')
		n--;
	snprintf(to + n, bytes - n, "%s", unit);
	return to;
}

int json_finish(struct json *j)
{
	json_flush(j);
	if (j->depth)
		fail(j);
	return j->error;
}
