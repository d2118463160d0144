// SPDX-License-Identifier: GPL-2.0-or-later
/* A text of the format 0.0.4, as prometheus.c writes it. Other programs may have changed it: each line is checked. */
#include "report/export/prometheus_earlier.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 65536 /* twice the size of the output of prometheus.c */
#define COUNT_MOST 1000000000000000000ULL /* two of these can be added */

struct reading {
	struct prometheus_earlier *e;
	const char *labels, *histogram;
	uint64_t causes; /* bit 1 << i: that of class i was read */
	bool has_sum, has_count, is_other; /* is_other: a line has other labels */
};

/* Reads a number of digits only. */
static bool read_count(const char *text, uint64_t *count)
{
	const size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 19 || text[digits])
		return false;
	*count = strtoull(text, NULL, 10);
	return *count <= COUNT_MOST;
}

/* Seconds with nine digits after the point. */
static bool read_ns(char *text, int64_t *ns)
{
	char *point = strchr(text, '.');
	uint64_t whole, rest;

	if (!point || strlen(point + 1) != 9)
		return false;
	*point = 0;
	if (!read_count(text, &whole) || !read_count(point + 1, &rest) || whole > COUNT_MOST / NS_PER_S)
		return false;
	*ns = (int64_t)(whole * NS_PER_S + rest);
	return true;
}

static bool take_counter(struct prometheus_earlier *e, const char *name, uint64_t count)
{
	for (unsigned i = 0; i < e->counters; i++)
		if (!strcmp(e->counter[i].name, name))
			return false;
	if (e->counters == sizeof(e->counter) / sizeof(e->counter[0]) || strlen(name) >= sizeof(e->counter[0].name))
		return false;
	strcpy(e->counter[e->counters].name, name);
	e->counter[e->counters++].count = count;
	return true;
}

/* Each class once. */
static bool take_cause(struct reading *r, const char *more, uint64_t count)
{
	for (int i = 0; i < CAUSE_CLASSES; i++) {
		char label[64];

		snprintf(label, sizeof(label), "cause=\"%s\"", cause_words[i].id);
		if (strcmp(more, label))
			continue;
		if (r->causes & 1ULL << i)
			return false;
		r->causes |= 1ULL << i;
		r->e->has_causes = true;
		r->e->cause[i] = count;
		return true;
	}
	return false;
}

/* Buckets ascend, and the last has all samples. */
static bool take_bucket(struct prometheus_earlier *e, const char *more, uint64_t count)
{
	const bool is_last = !strcmp(more, "le=\"+Inf\"");

	if (e->buckets == PROMETHEUS_BUCKETS || is_last != (e->buckets == PROMETHEUS_BUCKETS - 1) ||
	    strncmp(more, "le=\"", 4) || (e->buckets && count < e->upto[e->buckets - 1]))
		return false;
	e->upto[e->buckets++] = count;
	return true;
}

/* name: without its labels. more: labels of this metric only. Gauges describe the earlier run and are not read. */
static bool take(struct reading *r, const char *name, const char *more, char *value)
{
	struct prometheus_earlier *e = r->e;
	const size_t length = strlen(name), prefix = strlen(r->histogram);
	const bool is_total = length > 6 && !strcmp(name + length - 6, "_total");
	const char *end = strncmp(name, r->histogram, prefix) ? NULL : name + prefix;
	uint64_t count;

	if (!strcmp(name, PROMETHEUS_CAUSES))
		return read_count(value, &count) && take_cause(r, more, count);
	if (is_total)
		return !*more && read_count(value, &count) && take_counter(e, name, count);
	if (!end)
		return true;
	if (!strcmp(end, "_sum"))
		return !*more && !r->has_sum && (r->has_sum = read_ns(value, &e->sum_ns));
	if (!strcmp(end, "_count"))
		return !*more && !r->has_count && (r->has_count = read_count(value, &e->samples));
	return !strcmp(end, "_bucket") && read_count(value, &count) && take_bucket(e, more, count);
}

/* "name{labels} value" or "name{labels,more} value", or a comment. */
static bool read_line(struct reading *r, char *line)
{
	char *open = strchr(line, '{'), *close = strstr(line, "} ");
	const size_t length = strlen(r->labels);
	const char *more;

	if (*line == '#')
		return true;
	if (strncmp(line, "rant_", 5) || !open || !close || close < open || open - line >= PROMETHEUS_NAME_BYTES)
		return false;
	*open = *close = 0;
	more = open + 1 + length;
	if (strncmp(open + 1, r->labels, length) || (*more && *more != ',')) {
		r->is_other = true;
		return true;
	}
	return take(r, line, *more ? more + 1 : more, close + 2);
}

static bool is_whole(const struct reading *r)
{
	const struct prometheus_earlier *e = r->e;

	return e->buckets == PROMETHEUS_BUCKETS && r->has_sum && r->has_count &&
	       e->upto[PROMETHEUS_BUCKETS - 1] == e->samples;
}

static int read_text(struct reading *r, char *text, unsigned *line)
{
	*line = 0;
	for (char *end; (end = strchr(text, '\n')); text = end + 1) {
		*end = 0;
		++*line;
		if (!read_line(r, text))
			return -EINVAL;
	}
	++*line;
	if (*text)
		return -EINVAL;
	if (r->is_other) {
		*r->e = (struct prometheus_earlier){ 0 };
		return 0;
	}
	return is_whole(r) ? 0 : -EINVAL;
}

static int read_file(int fd, char *text, size_t bytes)
{
	struct stat s;
	size_t used = 0;
	ssize_t n;

	if (fstat(fd, &s))
		return -errno;
	if (!S_ISREG(s.st_mode))
		return -EINVAL;
	while (used < bytes && (n = read(fd, text + used, bytes - used)) != 0) {
		if (n < 0)
			return -errno;
		used += (size_t)n;
	}
	text[used < bytes ? used : 0] = 0;
	return used < bytes && !memchr(text, 0, used) ? 0 : -EINVAL;
}

int prometheus_earlier_read(struct prometheus_earlier *e, const char *path, const char *labels, const char *histogram,
			    unsigned *line)
{
	struct reading r = { .e = e, .labels = labels, .histogram = histogram };
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text; /* not static: a run locks all memory of the program */
	int error;

	*e = (struct prometheus_earlier){ 0 };
	*line = 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	text = malloc(FILE_BYTES);
	error = text ? read_file(fd, text, FILE_BYTES) : -ENOMEM;
	close(fd);
	if (!error)
		error = read_text(&r, text, line);
	free(text);
	if (error)
		*e = (struct prometheus_earlier){ 0 };
	return error;
}

uint64_t prometheus_earlier_count(const struct prometheus_earlier *e, const char *name)
{
	for (unsigned i = 0; i < e->counters; i++)
		if (!strcmp(e->counter[i].name, name))
			return e->counter[i].count;
	return 0;
}
