// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a log in text or CSV form, and the names of the columns of any log. log_array.c reads NumPy arrays. */
#include "analyse/log_read.h"

#include "report/text/label.h"
#include "result/stages.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>

/* ---- Names of the columns, as log_kinds[] and report/text/label.c define them ------------------------------------ */

bool log_names_add(struct log_names *n, const char *name, size_t bytes)
{
	struct log_column *c = &n->column[n->columns];

	if (n->columns == LOG_COLUMNS_MAX || bytes >= sizeof(c->name))
		return false;
	*c = (struct log_column){ .kind = COLUMN_UNUSED };
	memcpy(c->name, name, bytes);
	n->columns++;
	return true;
}

static const struct log_column *find(const struct log_names *n, const char *name)
{
	for (unsigned i = 0; i < n->columns; i++)
		if (!strcmp(n->column[i].name, name))
			return &n->column[i];
	return NULL;
}

static enum source source_named(const char *suffix)
{
	for (int i = SOURCE_USER; i < SOURCES; i++)
		if (!strcmp(suffix, label_stamps[i].suffix))
			return (enum source)i;
	return SOURCE_NONE;
}

/* Sets the source of the wire stamps of the host that has these two times. False: the two differ. A kernel's time
 * beside the NIC's timestamp is none of them: that of a sent packet has another name. */
static bool find_wire(const struct log_names *n, const char *digits, enum source *wire)
{
	bool sent_by_kernel = false;

	*wire = SOURCE_USER;
	for (unsigned i = 0; i < n->columns; i++) {
		const char *name = n->column[i].name;
		const enum source source = name[0] == 'T' && name[1] && strchr(digits, name[1]) && name[2] == '_' ?
					   source_named(name + 3) : SOURCE_NONE;

		if (source == SOURCE_NONE || source == SOURCE_USER)
			continue;
		sent_by_kernel |= source == SOURCE_KERNEL && strchr("13", name[1]);
		if (*wire == SOURCE_HARDWARE && source == SOURCE_KERNEL)
			continue;
		if (*wire != SOURCE_USER && *wire != source && !(*wire == SOURCE_KERNEL && source == SOURCE_HARDWARE))
			return false;
		*wire = source;
	}
	if (*wire == SOURCE_HARDWARE && sent_by_kernel)
		*wire = SOURCE_RECEIVE;
	return true;
}

/* The log of a reflector has no times of the emitter. */
static bool set_time(struct log_names *n, struct log_column *c)
{
	const enum source source = source_named(c->name + 3);

	for (int i = 0; i < ALL_TIMES; i++) {
		if (n->role == ROLE_REFLECT && time_is_remote(i))
			continue;

		const struct label_time *t = label_time(n->role, i);
		const bool transmit = t->suffix && !strcmp(c->name + 3, t->suffix);
		const enum source host = source_of_packets(time_is_remote(i) ? n->remote : n->stamp,
							   *t->direction == 't');
		const bool kernel = source == SOURCE_KERNEL && host == SOURCE_HARDWARE;
		/* Only for the other host: without wire timestamps the times of its program take their place. */
		const bool wire = source != SOURCE_USER || (time_is_remote(i) && n->remote == SOURCE_USER);

		if (strncmp(c->name, t->name, 2) || (t->suffix && !transmit) ||
		    (!t->suffix && (source == SOURCE_NONE || t->kernel != kernel || (!kernel && t->wire != wire))))
			continue;
		if (n->has[i] || (!time_is_remote(i) && source == SOURCE_LOCAL))
			return false;
		c->kind = COLUMN_TIME;
		c->time = (uint8_t)i;
		c->source = transmit ? SOURCE_KERNEL : source;
		return n->has[i] = true;
	}
	return false;
}

static enum log_column_kind kind_named(const struct log_names *n, const char *name)
{
	if (!strcmp(name, label_roles[n->role].latency))
		return COLUMN_LATENCY;
	for (int kind = COLUMN_SEQ; kind < COLUMN_KINDS; kind++)
		if (log_kinds[kind].name && !strcmp(name, log_kinds[kind].name))
			return (enum log_column_kind)kind;
	return COLUMN_UNUSED;
}

static bool set_column(struct log_names *n, struct log_column *c)
{
	if (!*c->name)
		return true; /* octets of an array without a column name */
	if (find(n, c->name) != c)
		return false;
	c->kind = kind_named(n, c->name);
	return c->kind != COLUMN_UNUSED || (c->name[0] == 'T' && c->name[1] && c->name[2] == '_' && set_time(n, c));
}

const char *log_names_read(struct log_names *n)
{
	const bool emits = find(n, "RTT");
	enum source local, remote;
	bool on_wire;

	if (!find(n, "SEQ") || (!emits && !find(n, "RESPONSE")))
		return "are not those of a log: SEQ, RTT or RESPONSE is missing";
	n->role = emits ? ROLE_EMIT : ROLE_REFLECT;
	n->full = emits && find(n, "FLAGS");
	if (!find_wire(n, emits ? "14" : "23", &local) || !find_wire(n, emits ? "23" : "14", &remote))
		return "have stamps of several kinds at one host";
	n->stamp = local;
	n->remote = remote;
	for (unsigned i = 0; i < n->columns; i++)
		if (!set_column(n, &n->column[i]))
			return "are not those of a log: a column is unknown or duplicated";
	/* With timestamps of the kernel they are the times at the driver: see sample_note_driver(). */
	n->has[KERNEL_DRIVER] |= n->has[KERNEL_QUEUE] && source_of_packets(local, true) == SOURCE_KERNEL;
	n->has[REMOTE_KERNEL_DRIVER] |= n->has[REMOTE_KERNEL_QUEUE] &&
					source_of_packets(remote, true) == SOURCE_KERNEL;
	on_wire = emits ? n->has[EMIT_T1_WIRE] && n->has[EMIT_T4_WIRE] :
			  n->has[REFLECT_T2_WIRE] && n->has[REFLECT_T3_WIRE];
	stages_latency_times(n->role, on_wire, &n->from, &n->to);
	if (!n->has[n->from] || !n->has[n->to] || (emits && local != SOURCE_USER && !on_wire))
		return "are not those of a log: a time of the latency is missing";
	return NULL;
}

void log_names_options(const struct log_names *n, struct options *o)
{
	const bool emits = n->role == ROLE_EMIT;

	o->role = n->role;
	o->stamp = n->stamp;
	o->plain = emits && !n->full;
	o->log_full = n->full;
	o->no_tx_stamps = !emits && n->stamp != SOURCE_USER && !n->has[REFLECT_T3_WIRE];
	o->sw_timestamps = emits ? n->has[EMIT_T1_USER] || n->has[EMIT_T4_USER] || n->has[REMOTE + REFLECT_T2_USER] :
				   n->has[REFLECT_T2_USER] || n->has[REFLECT_T3_USER];
	o->stages.detail = n->has[KERNEL_QUEUE] || n->has[REMOTE_KERNEL_QUEUE] ? STAGES_FULL :
			   n->has[KERNEL_RECEIVE] ? STAGES_KERNEL : STAGES_NIC;
	o->interface = NULL;
}

/* ---- Form of a log ----------------------------------------------------------------------------------------------- */

enum log_look log_read_look(FILE *file)
{
	char begin[128];
	size_t bytes, at = 0;

	rewind(file);
	bytes = fread(begin, 1, sizeof(begin) - 1, file);
	rewind(file);
	begin[bytes] = '\0';
	if (!bytes)
		return LOG_LOOK_EMPTY;
	if (bytes >= 6 && !memcmp(begin, "\x93NUMPY", 6))
		return LOG_LOOK_NPY;
	at = strspn(begin, " \t\r\n");
	if (begin[at] == '{')
		return LOG_LOOK_JSON;
	if (strncmp(begin + at, "SEQ", 3))
		return LOG_LOOK_FOREIGN;
	return begin[at + 3] == ',' ? LOG_LOOK_CSV : begin[at + 3] == ' ' ? LOG_LOOK_TEXT : LOG_LOOK_FOREIGN;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static int refuse(const struct log_read *l, const char *why)
{
	if (l->line)
		warnx("%s: line %" PRIu64 " %s", l->path, l->line, why);
	else
		warnx("%s: %s", l->path, why);
	return -EINVAL;
}

/* 1: the next line is in l->text, without its line feed; 0: end of the log; or -errno after one line. */
static int read_line(struct log_read *l)
{
	size_t bytes;

	l->line++;
	if (!fgets(l->text, sizeof(l->text), l->file))
		return ferror(l->file) ? refuse(l, "cannot be read") : 0;
	bytes = strlen(l->text); /* a zero octet in the line makes it look shorter */
	if (bytes + 1 == sizeof(l->text) && l->text[bytes - 1] != '\n')
		return refuse(l, "is longer than a line of a log");
	if (!bytes || l->text[bytes - 1] != '\n')
		return refuse(l, feof(l->file) ? "has no end: the log was cut off there; leave that line out" :
			      "has octets that are not text");
	l->text[bytes - 1] = '\0';
	return 1;
}

/* Sets *field to the next field from *at on, which ends at a blank or a comma. False: end of the line. */
static bool next_field(enum log_format form, char **at, const char **field, size_t *bytes)
{
	char *from = *at;

	if (!from)
		return false;
	if (form == LOG_TEXT) {
		from += strspn(from, " ");
		*bytes = strcspn(from, " ");
		*at = from + *bytes;
		*field = from;
		return *bytes > 0;
	}
	*bytes = strcspn(from, ",");
	*at = from[*bytes] ? from + *bytes + 1 : NULL;
	*field = from;
	return true;
}

static int read_names(struct log_read *l)
{
	const char *field, *why;
	char *at = l->text, text[128];
	size_t bytes;

	while (next_field(l->form, &at, &field, &bytes))
		if (!bytes || !log_names_add(&l->names, field, bytes))
			return refuse(l, "has no names of columns of a log");
	why = log_names_read(&l->names);
	if (!why)
		return 0;
	snprintf(text, sizeof(text), "is not a header: its columns %s", why);
	return refuse(l, text);
}

int log_read_open(struct log_read *l, FILE *file, const char *path, enum log_format form)
{
	int found, error;

	*l = (struct log_read){ .path = path, .file = file, .form = form };
	if (form == LOG_NPY)
		return log_array_open(l);
	found = read_line(l);
	if (found <= 0)
		return found ? found : refuse(l, "is empty");
	error = read_names(l);
	if (error || form != LOG_TEXT)
		return error;
	found = read_line(l);
	if (found < 0)
		return found;
	return found && *l->text && !l->text[strspn(l->text, "-")] ? 0 :
	       refuse(l, "is not the rule below a log's header");
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

/* Reads digits with an optional minus. point: seconds with a point and nine decimals. */
static bool read_number(const char *text, size_t bytes, bool point, int64_t *value)
{
	const bool minus = bytes && *text == '-';
	const size_t dot = point ? bytes - 10 : bytes;
	bool overflow = false;
	int64_t n = 0;

	if (bytes <= minus || (point && (bytes < 11u + minus || text[dot] != '.')))
		return false;
	for (size_t i = minus; i < bytes; i++) {
		if (i == dot)
			continue;
		if (text[i] < '0' || text[i] > '9')
			return false;
		overflow |= __builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, text[i] - '0', &n);
	}
	/* The negative range has one value more, so the sum is kept negative. */
	overflow |= !minus && __builtin_sub_overflow(0, n, &n);
	*value = n;
	return !overflow;
}

static bool is_missing(enum log_format form, const char *text, size_t bytes)
{
	return form == LOG_TEXT ? bytes == 1 && *text == '-' : !bytes;
}

static bool is_unconverted(const char *text, size_t bytes)
{
	return bytes == strlen(LOG_UNCONVERTED) && !memcmp(text, LOG_UNCONVERTED, bytes);
}

/* "lost", or "lost,unplaced". Missing times mark the second. */
static bool read_flags(const char *text, size_t bytes, char between, uint8_t *follow_up)
{
	const char *parted = memchr(text, between, bytes);
	const size_t first = parted ? (size_t)(parted - text) : bytes;

	*follow_up = FOLLOW_UP_THERE;
	if (parted && !is_unconverted(parted + 1, bytes - first - 1))
		return false;
	if (!parted && is_unconverted(text, bytes))
		return true;
	for (int i = 0; i < FOLLOW_UPS; i++) {
		if (strlen(label_follow_ups[i].flag) != first || memcmp(label_follow_ups[i].flag, text, first))
			continue;
		*follow_up = (uint8_t)i;
		return true;
	}
	return false;
}

static bool read_field(struct log_read *l, const struct log_column *c, struct sample *s, const char *text, size_t bytes)
{
	const bool missing = is_missing(l->form, text, bytes), network = c->kind == COLUMN_NETWORK;
	int64_t n;

	switch (c->kind) {
	case COLUMN_SEQ:
		if (!read_number(text, bytes, false, &n) || n < 0 || n > UINT32_MAX)
			return false;
		s->seq = (uint32_t)n;
		return true;
	case COLUMN_TIME:
		s->source[c->time] = missing ? SOURCE_NONE : (uint8_t)c->source;
		return missing || read_number(text, bytes, l->form == LOG_TEXT, &s->time_ns[c->time]);
	case COLUMN_LATENCY:
		return read_number(text, bytes, false, &s->latency_ns) && s->latency_ns >= 0;
	case COLUMN_FLAGS:
		return read_flags(text, bytes, l->form == LOG_TEXT ? LOG_TEXT_BETWEEN : LOG_CSV_BETWEEN, &s->follow_up);
	case COLUMN_POLL_GAP:
	case COLUMN_REMOTE_POLL_GAP:
		if (!missing && (!read_number(text, bytes, false, &n) || n <= 0 || n > UINT32_MAX))
			return false;
		*(c->kind == COLUMN_POLL_GAP ? &s->poll_gap_ns : &s->remote_poll_gap_ns) = missing ? 0 : (uint32_t)n;
		return true;
	default:
		l->reported[network] = !missing;
		return missing || read_number(text, bytes, false, &l->reported_ns[network]);
	}
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static int read_record(struct log_read *l, struct sample *s)
{
	const char *field;
	char *at = l->text, why[64];
	size_t bytes;

	for (unsigned i = 0; i < l->names.columns; i++) {
		const struct log_column *c = &l->names.column[i];

		if (!next_field(l->form, &at, &field, &bytes))
			return refuse(l, "has too few columns");
		if (read_field(l, c, s, field, bytes))
			continue;
		snprintf(why, sizeof(why), "has no valid %s", c->name);
		return refuse(l, why);
	}
	return next_field(l->form, &at, &field, &bytes) ? refuse(l, "has too many columns") : 1;
}

/* Reads the number between two texts of a note. Returns the rest of the note; NULL: it is another note. */
static const char *read_words(const char *text, const char *before, const char *after, int64_t *n)
{
	const char *from = text + strlen(before), *end;

	if (strncmp(text, before, strlen(before)))
		return NULL;
	end = from + strspn(from, "0123456789");
	if (end == from || strncmp(end, after, strlen(after)) || !read_number(from, (size_t)(end - from), false, n))
		return NULL;
	return end + strlen(after);
}

/* "# 1234 records left out from SEQ 5678 on: why", "# T2_KERNEL is T2_HW from here on" and "# SEQ 1234 was received
 * again". True: the last, of s->seq. */
static bool read_note(struct log_read *l, struct sample *s)
{
	const size_t bytes = strlen(l->text), changed = strlen(LOG_NOTE_CHANGED);
	const char *rest;
	int64_t n;

	l->stamps_changed |= bytes > changed && !strcmp(l->text + bytes - changed, LOG_NOTE_CHANGED);
	if (read_words(l->text, LOG_NOTE, LOG_NOTE_LEFT_OUT, &n))
		l->left_out += (uint64_t)n;
	rest = read_words(l->text, LOG_NOTE "SEQ ", LOG_NOTE_AGAIN, &n);
	if (!rest || *rest || n > UINT32_MAX)
		return false;
	s->seq = (uint32_t)n;
	return true;
}

/* A value that the log has in two columns must be equal in both. */
static int check(const struct log_read *l, const struct sample *s)
{
	const struct log_names *n = &l->names;
	int64_t ns;

	if (s->source[n->from] && s->source[n->to] &&
	    (__builtin_sub_overflow(s->time_ns[n->to], s->time_ns[n->from], &ns) || ns != s->latency_ns))
		return refuse(l, "has a latency that is not the difference of its two times");
	return 1;
}

int log_read_next(struct log_read *l, struct sample *s)
{
	int found;

	memset(s, 0, sizeof(*s));
	s->same_timebase = true; /* else the times of the other host's program are not in the log */
	if (l->form == LOG_NPY) {
		found = log_array_next(l, s);
	} else {
		while ((found = read_line(l)) == 1 && !strncmp(l->text, LOG_NOTE, strlen(LOG_NOTE)))
			if (read_note(l, s))
				return LOG_READ_REPEATED;
		if (found == 1)
			found = read_record(l, s);
	}
	if (found == 1) {
		sample_note_driver(s, l->names.role == ROLE_EMIT ? EMIT_T1_WIRE : REFLECT_T3_WIRE, false);
		sample_note_driver(s, REMOTE + REFLECT_T3_WIRE, true);
		found = check(l, s);
	}
	l->records += found == 1;
	return found;
}
