// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON that is read, as a tree. Without WITH_JANSSON only the refusal is built. */
#include "analyse/tree.h"

#include <err.h>
#include <errno.h>
#include <sys/stat.h>

#ifdef WITH_JANSSON

#include <dlfcn.h>
#include <jansson.h>
#include <stdlib.h>

/* The name of its functions has been the same since version 2.0 (2011). */
#define LIBRARY "libjansson.so.4"

static struct {
	void *handle;
	json_t *(*loadf)(FILE *input, size_t flags, json_error_t *error);
	void (*delete)(json_t *json);
	json_t *(*object_get)(const json_t *object, const char *name);
	size_t (*object_size)(const json_t *object);
	void *(*object_iter)(json_t *object);
	void *(*object_iter_next)(json_t *object, void *iter);
	const char *(*object_iter_key)(void *iter);
	json_t *(*object_iter_value)(void *iter);
	size_t (*array_size)(const json_t *array);
	json_t *(*array_get)(const json_t *array, size_t index);
	json_int_t (*integer_value)(const json_t *integer);
	const char *(*string_value)(const json_t *string);
} library;

_Static_assert(sizeof(json_int_t) == sizeof(int64_t), "a number of it is one of ours");

static const struct {
	void **function;
	const char *name;
} functions[] = {
	{ (void **)&library.loadf, "json_loadf" },
	{ (void **)&library.delete, "json_delete" },
	{ (void **)&library.object_get, "json_object_get" },
	{ (void **)&library.object_size, "json_object_size" },
	{ (void **)&library.object_iter, "json_object_iter" },
	{ (void **)&library.object_iter_next, "json_object_iter_next" },
	{ (void **)&library.object_iter_key, "json_object_iter_key" },
	{ (void **)&library.object_iter_value, "json_object_iter_value" },
	{ (void **)&library.array_size, "json_array_size" },
	{ (void **)&library.array_get, "json_array_get" },
	{ (void **)&library.integer_value, "json_integer_value" },
	{ (void **)&library.string_value, "json_string_value" },
};

const char *tree_library(void)
{
	return LIBRARY;
}

/* Once. False after one line. */
static bool load(const char *path)
{
	bool complete = true;

	if (library.handle)
		return true;
	library.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library.handle && i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].function = dlsym(library.handle, functions[i].name);
		complete &= *functions[i].function != NULL;
	}
	if (library.handle && complete)
		return true;
	warnx("%s: to read JSON needs %s, which is not there: install libjansson; logs can be read without", path, LIBRARY);
	if (library.handle)
		dlclose(library.handle);
	library.handle = NULL;
	return false;
}

/* Ours is never an object: struct tree is only another name of it. */
static const json_t *value_of(const struct tree *t)
{
	return (const json_t *)t;
}

static const struct tree *tree_of(const json_t *value)
{
	return value && json_typeof(value) != JSON_NULL ? (const struct tree *)value : NULL;
}

/* What the library says is about the text, and may have parts of it in it. */
static void refuse(const char *path, json_error_t *error)
{
	for (char *c = error->text; *c; c++)
		*c = text_shown(*c);
	warnx("%s: is no whole JSON, line %d: %s: give a file that --json has written", path, error->line, error->text);
}

struct tree *tree_read(FILE *file, const char *path)
{
	json_error_t error = { .line = 0 };
	struct stat s;
	json_t *root;

	if (!load(path))
		return NULL;
	if (!fstat(fileno(file), &s) && s.st_size > TREE_FILE_MAX_BYTES) {
		warnx("%s: has %lld octets: JSON of more than %lld would take too much memory, read the log of that run", path,
		      (long long)s.st_size, (long long)TREE_FILE_MAX_BYTES);
		return NULL;
	}
	rewind(file);
	root = library.loadf(file, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		refuse(path, &error);
		return NULL;
	}
	if (json_typeof(root) == JSON_OBJECT)
		return (struct tree *)root;
	warnx("%s: is no object of rant: give a file that --json has written", path);
	library.delete(root);
	return NULL;
}

/* Nobody else has counted a reference to it. */
void tree_free(struct tree *t)
{
	if (t)
		library.delete((json_t *)t);
}

const struct tree *tree_member(const struct tree *t, const char *name)
{
	return tree_is_object(t) ? tree_of(library.object_get(value_of(t), name)) : NULL;
}

size_t tree_length(const struct tree *t)
{
	if (tree_is_object(t))
		return library.object_size(value_of(t));
	return tree_is_array(t) ? library.array_size(value_of(t)) : 0;
}

const struct tree *tree_item(const struct tree *t, size_t i)
{
	return tree_is_array(t) ? tree_of(library.array_get(value_of(t), i)) : NULL;
}

int tree_each(const struct tree *t, int (*each)(void *context, const char *name, const struct tree *value), void *context)
{
	json_t *object = (json_t *)t;
	int result = 0;

	if (!tree_is_object(t))
		return 0;
	for (void *at = library.object_iter(object); at && !result; at = library.object_iter_next(object, at))
		result = each(context, library.object_iter_key(at), tree_of(library.object_iter_value(at)));
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
	*value = library.integer_value(value_of(t));
	return true;
}

const char *tree_text(const struct tree *t)
{
	return t && json_typeof(value_of(t)) == JSON_STRING ? library.string_value(value_of(t)) : NULL;
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

int tree_each(const struct tree *t, int (*each)(void *context, const char *name, const struct tree *value), void *context)
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

const char *tree_text(const struct tree *t)
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
