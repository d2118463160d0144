// SPDX-License-Identifier: GPL-2.0-or-later
/* The log as a file: columns, records, and that it is whole or not there. */
#include "report/log_file.h"

#include "measure/exchange.h"
#include "measure/log.h"
#include "measure/stages.h"
#include "options.h"
#include "report/label.h"
#include "report/report.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEQ_WIDTH 10
#define TIME_WIDTH 30
#define LATENCY_WIDTH 15
#define FLAGS_WIDTH 10
#define RULE_WIDTH 150
#define RULE_FULL_WIDTH (SEQ_WIDTH + ALL_TIMES * (TIME_WIDTH + 1) + 3 * (LATENCY_WIDTH + 1) + FLAGS_WIDTH + 1)
#define NUMBER_MAX_BYTES 20 /* of 64 bits, with a sign; what another host's times make of them may be anything */
#define LINE_MAX_BYTES (RULE_FULL_WIDTH + 3 * (NUMBER_MAX_BYTES - LATENCY_WIDTH) + 1)
#define LOG_CHUNK_BYTES (1 << 20)

/* ---- The columns ----------------------------------------------------------------------------------------------- */

/* Is time i a column? Wire stamps are if there are any, times of user space if they were asked for or are all there is.
 * Of the other host, which only a full log has, all are. */
static bool is_column(const struct report *r, int i)
{
	const struct options *o = r->options;
	const struct label_time *t = label_time(o->role, i);
	bool transmit = *t->direction == 't';

	if (i >= THERE)
		return !label_told_twice(r, i);
	if (t->wire)
		return o->stamp != SOURCE_USER && !(transmit && o->no_tx_stamps);
	return o->sw_timestamps || !options_on_wire(o);
}

static char *pad(char *at, const char *text, size_t bytes, size_t width)
{
	size_t blanks = bytes < width ? width - bytes : 0;

	memset(at, ' ', blanks);
	memcpy(at + blanks, text, bytes);
	return at + blanks + bytes;
}

static char *put_word(char *at, const char *text, size_t width)
{
	*at++ = ' ';
	return pad(at, text, strlen(text), width);
}

static char *put_names(char *at, const struct report *r, int first)
{
	char name[16];

	for (int i = first; i < first + TIMES; i++)
		if (is_column(r, i))
			at = put_word(at, label_time_name(name, sizeof(name), r, i), TIME_WIDTH);
	return at;
}

static char *put_header(char *at, const struct report *r)
{
	const bool full = r->options->log_full;

	at = pad(at, "SEQ", 3, SEQ_WIDTH);
	at = put_names(at, r, 0);
	at = put_word(at, label_roles[r->options->role].latency, LATENCY_WIDTH);
	if (full) {
		at = put_names(at, r, THERE);
		at = put_word(at, "RESPONSE", LATENCY_WIDTH);
		at = put_word(at, "NETWORK", LATENCY_WIDTH);
		at = put_word(at, "FLAGS", FLAGS_WIDTH);
	}
	*at++ = '\n';
	memset(at, '-', full ? RULE_FULL_WIDTH : RULE_WIDTH);
	at += full ? RULE_FULL_WIDTH : RULE_WIDTH;
	*at++ = '\n';
	return at;
}

/* ---- The records ----------------------------------------------------------------------------------------------- */

/* A number, or that there is none. */
static char *put_value(char *at, bool known, int64_t value_ns)
{
	char text[32], *end = text + sizeof(text), *start = end - 1;

	if (known)
		start = label_signed_digits(end, value_ns);
	else
		*start = '-';
	*at++ = ' ';
	return pad(at, start, (size_t)(end - start), LATENCY_WIDTH);
}

static char *put_times(char *at, const struct sample *s, const bool column[ALL_TIMES], int first)
{
	char text[32], *end = text + sizeof(text);

	for (int i = first; i < first + TIMES; i++) {
		char *start = end - 1;

		if (!column[i])
			continue;
		if (s->source[i])
			start = label_time_digits(end, s->time_ns[i]);
		else
			*start = '-';
		*at++ = ' ';
		at = pad(at, start, (size_t)(end - start), TIME_WIDTH);
	}
	return at;
}

/* The columns and the stages that a line is made of. */
struct log_line {
	bool column[ALL_TIMES], full;
	struct stage stages[STAGES];
};

static char *put_record(char *at, const struct sample *s, const struct log_line *line)
{
	char text[32], *end = text + sizeof(text), *start = label_digits(end, s->seq, 1);
	int64_t value_ns;
	bool known;

	at = pad(at, start, (size_t)(end - start), SEQ_WIDTH);
	at = put_times(at, s, line->column, 0);
	at = put_value(at, true, s->latency_ns);
	if (line->full) {
		at = put_times(at, s, line->column, THERE);
		known = stages_value(&line->stages[STAGE_RESPONSE], s, &value_ns);
		at = put_value(at, known, value_ns);
		known = stages_value(&line->stages[STAGE_NETWORK], s, &value_ns);
		at = put_value(at, known, value_ns);
		at = put_word(at, label_follow_ups[s->follow_up].flag, FLAGS_WIDTH);
	}
	*at++ = '\n';
	return at;
}

static int write_whole(int fd, const char *from, const char *to)
{
	while (from < to) {
		ssize_t done = write(fd, from, (size_t)(to - from));

		if (done < 0 && errno != EINTR)
			return -errno;
		from += done > 0 ? done : 0;
	}
	return 0;
}

static int write_records(int fd, const struct report *r)
{
	char *chunk = malloc(LOG_CHUNK_BYTES), *at;
	struct log_line line = { .full = r->options->log_full };
	int error = 0;

	if (!chunk)
		return -ENOMEM;
	for (int i = 0; i < (line.full ? ALL_TIMES : TIMES); i++)
		line.column[i] = is_column(r, i);
	stages_of_role(r->options->role, options_on_wire(r->options), line.stages);
	at = put_header(chunk, r);
	for (uint64_t i = 0; i < r->log->used && !error; i++) {
		at = put_record(at, log_at(r->log, i), &line);
		if (at > chunk + LOG_CHUNK_BYTES - LINE_MAX_BYTES) {
			error = write_whole(fd, chunk, at);
			at = chunk;
		}
	}
	if (!error)
		error = write_whole(fd, chunk, at);
	free(chunk);
	return error;
}

/* ---- The file -------------------------------------------------------------------------------------------------- */

int log_file_open(struct log_file *f, const char *path)
{
	struct stat s;
	bool exists = !lstat(path, &s);
	int length;

	*f = (struct log_file){ .path = path, .fd = -1 };
	if (exists && (S_ISLNK(s.st_mode) || S_ISDIR(s.st_mode))) {
		warnx("--log %s: is a %s: give the path of a file", path, S_ISDIR(s.st_mode) ? "directory" : "symbolic link");
		return -EINVAL;
	}
	if (exists && !S_ISREG(s.st_mode)) {
		/* A device or a pipe must not be replaced by a file. Not blocking: a pipe may have no reader. */
		f->fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (f->fd >= 0)
			fcntl(f->fd, F_SETFL, O_WRONLY);
	} else {
		length = snprintf(f->temporary, sizeof(f->temporary), "%s.XXXXXX", path);
		if (length >= (int)sizeof(f->temporary))
			errno = ENAMETOOLONG;
		else
			f->fd = mkostemp(f->temporary, O_CLOEXEC);
	}
	if (f->fd < 0) {
		int error = errno;

		*f->temporary = 0;
		warnx("--log %s: cannot write there (%s): choose another place", path, strerror(error));
		return -error;
	}
	if (*f->temporary) {
		/* mkostemp gives 0600; a log is as readable as any file that this user makes. */
		mode_t mask = umask(0);

		umask(mask);
		fchmod(f->fd, exists ? s.st_mode & 0777 : 0666 & ~mask);
	}
	return 0;
}

void log_file_abandon(struct log_file *f)
{
	if (*f->temporary)
		unlink(f->temporary);
	*f->temporary = 0;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

int log_file_write(struct log_file *f, const struct report *r)
{
	int error = write_records(f->fd, r);

	/* Some file systems find out at close that there is no room. */
	if (close(f->fd) && !error)
		error = -errno;
	f->fd = -1;
	if (!error && *f->temporary && rename(f->temporary, f->path))
		error = -errno;
	if (!error)
		*f->temporary = 0;
	else
		warnx("--log %s: could not be written (%s): the log of this run is lost; free space or choose another place",
		      f->path, strerror(-error));
	log_file_abandon(f);
	return error;
}
