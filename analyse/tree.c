// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads JSON into a tree. Without WITH_JANSSON only the error message is built. */
#include "analyse/tree.h"

#include <err.h>
#include <errno.h>
#include <sys/stat.h>

#ifdef WITH_JANSSON

#include <jansson.h>
#include <stdlib.h>

_Static_assert(sizeof(json_int_t) == sizeof(int64_t), "a number of it is one of ours");

const char *tree_library(void)
{
	return "libjansson.so.4"; /* since version 2.0 (2011) */
}

/* struct tree is never defined: it is a json_t under another name. */
static const json_t *value_of(const struct tree *t)
{
	return (const json_t *)t;
}

static const struct tree *tree_of(const json_t *value)
{
	return value && json_typeof(value) != JSON_NULL ? (const struct tree *)value : NULL;
}

/* Each line of --jsonl is an object whose first member is "type". */
static bool is_json_lines(FILE *file)
{
	static const char start[] = "{\"type\":";
	char begin[sizeof(start)];

	rewind(file);
	return fgets(begin, sizeof(begin), file) && !strcmp(begin, start);
}

/* The message of the library may quote the file. */
static void refuse(const char *path, FILE *file, json_error_t *error)
{
	if (is_json_lines(file)) {
		warnx("%s: is a file of --jsonl, which has no histogram of the run: give the --json file or the log "
		      "of this run", path);
		return;
	}
	for (char *c = error->text; *c; c++)
		*c = text_shown(*c);
	warnx("%s: is not complete JSON, line %d: %s: give a file that --json has written", path, error->line,
	      error->text);
}

struct tree *tree_read(FILE *file, const char *path)
{
	json_error_t error = { .line = 0 };
	struct stat s;
	json_t *root;

	if (!fstat(fileno(file), &s) && s.st_size > TREE_FILE_MAX_BYTES) {
		warnx("%s: has %lld octets: JSON of more than %lld would take too much memory, read the log of that "
		      "run", path,
		      (long long)s.st_size, (long long)TREE_FILE_MAX_BYTES);
		return NULL;
	}
	rewind(file);
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		refuse(path, file, &error);
		return NULL;
	}
	if (json_typeof(root) == JSON_OBJECT)
		return (struct tree *)root;
	warnx("%s: is not an object of rant: give a file that --json has written", path);
	json_delete(root);
	return NULL;
}

/* The tree holds the only reference. */
void tree_free(struct tree *t)
{
	if (t)
		json_delete((json_t *)t);
}

const struct tree *tree_member(const struct tree *t, const char *name)
{
	return tree_is_object(t) ? tree_of(json_object_get(value_of(t), name)) : NULL;
}

size_t tree_length(const struct tree *t)
{
	if (tree_is_object(t))
		return json_object_size(value_of(t));
	return tree_is_array(t) ? json_array_size(value_of(t)) : 0;
}

const struct tree *tree_item(const struct tree *t, size_t i)
{
	return tree_is_array(t) ? tree_of(json_array_get(value_of(t), i)) : NULL;
}

int tree_each(const struct tree *t, int (*each)(void *context, const char *name, const struct tree *value),
	      void *context)
{
	json_t *object = (json_t *)t;
	int result = 0;

	if (!tree_is_object(t))
		return 0;
	for (void *at = json_object_iter(object); at && !result; at = json_object_iter_next(object, at))
		result = each(context, json_object_iter_key(at), tree_of(json_object_iter_value(at)));
	return result;
}

bool tree_is_object(const struct tree *t)
{
	return t && json_typeof(value_of(t)) == JSON_OBJECT;
}

bool tree_is_array(const struct tree *t)
{
	return t && json_typeof(value_of(t)) == JSON_ARRAY;
}

bool tree_is_bool(const struct tree *t, bool *value)
{
	*value = t && json_typeof(value_of(t)) == JSON_TRUE;
	return *value || (t && json_typeof(value_of(t)) == JSON_FALSE);
}

bool tree_integer(const struct tree *t, int64_t *value)
{
	if (!t || json_typeof(value_of(t)) != JSON_INTEGER)
		return false;
	*value = json_integer_value(value_of(t));
	return true;
}

bool tree_number(const struct tree *t, double *value)
{
	if (!t || !json_is_number(value_of(t)))
		return false;
	*value = json_number_value(value_of(t));
	return true;
}

const char *tree_text(const struct tree *t)
{
	return t && json_typeof(value_of(t)) == JSON_STRING ? json_string_value(value_of(t)) : NULL;
}

char *tree_copy_text(const struct tree *t)
{
	return tree_text(t) ? strdup(tree_text(t)) : NULL;
}

char *tree_json(const struct tree *t)
{
	return t ? json_dumps(value_of(t), JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
}

#else

const char *tree_library(void)
{
	return NULL;
}

struct tree *tree_read(FILE *file, const char *path)
{
	(void)file;
	warnx("%s: to read JSON is not available: rant was built without libjansson; logs can be read", path);
	return NULL;
}

void tree_free(struct tree *t)
{
	(void)t;
}

const struct tree *tree_member(const struct tree *t, const char *name)
{
	(void)t, (void)name;
	return NULL;
}

size_t tree_length(const struct tree *t)
{
	(void)t;
	return 0;
}

const struct tree *tree_item(const struct tree *t, size_t i)
{
	(void)t, (void)i;
	return NULL;
}

int tree_each(const struct tree *t, int (*each)(void *context, const char *name, const struct tree *value),
	      void *context)
{
	(void)t, (void)each, (void)context;
	return 0;
}

bool tree_is_object(const struct tree *t)
{
	(void)t;
	return false;
}

bool tree_is_array(const struct tree *t)
{
	(void)t;
	return false;
}

bool tree_is_bool(const struct tree *t, bool *value)
{
	(void)t;
	return *value = false;
}

bool tree_integer(const struct tree *t, int64_t *value)
{
	(void)t, (void)value;
	return false;
}

bool tree_number(const struct tree *t, double *value)
{
	(void)t, (void)value;
	return false;
}

const char *tree_text(const struct tree *t)
{
	(void)t;
	return NULL;
}

char *tree_copy_text(const struct tree *t)
{
	(void)t;
	return NULL;
}

char *tree_json(const struct tree *t)
{
	(void)t;
	return NULL;
}

#endif

const struct tree *tree_at(const struct tree *t, const char *path)
{
	while (t) {
		const size_t bytes = strcspn(path, ".");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)bytes, path);
		t = tree_member(t, name);
		if (!path[bytes])
			return t;
		path += bytes + 1;
	}
	return NULL;
}
