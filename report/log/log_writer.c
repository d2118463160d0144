// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the log's ring to its file. */
#include "report/log/log_writer.h"

#include "report/text/label.h"
#include "report/text/report.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_ROOM (2 * LOG_BLOCK_BYTES) /* maximum octets at a time */
#define TAKE_AT_ONCE 1024 /* records after which their ring space is released */

static const char was_full[] = "the ring was full", is_older[] = "they are not within --log-last of a breach";

/* ---- The block --------------------------------------------------------------------------------------------------- */

static void note_file_begin(struct log_writer *w)
{
	char begin[LOG_BEGIN_BYTES];

	if (w->begun && !w->form->is_text && *w->file.partial)
		log_file_write_begin(&w->file, begin, (size_t)(w->form->begin(begin, &w->columns, w->in_file) - begin));
}

static void flush(struct log_writer *w)
{
	if (w->used && log_file_write(&w->file, w->block, w->used)) {
		w->unwritten += w->in_block;
	} else if (w->used) {
		w->written += w->in_block;
		w->in_file += w->in_block;
		w->octets += (int64_t)w->used;
		note_file_begin(w);
	}
	w->used = w->in_block = 0;
	w->waited = false;
}

static char *space(struct log_writer *w)
{
	if (w->used + LOG_RECORD_BYTES > BLOCK_ROOM)
		flush(w);
	return w->block + w->used;
}

static void begin_file(struct log_writer *w)
{
	log_columns_choose(&w->columns, w->report->options, w->report->result->remote);
	flush(w);
	w->used = (size_t)(w->form->begin(w->block, &w->columns, 0) - w->block);
	w->in_file = 0;
	w->begun = true;
}

static void rotate(struct log_writer *w)
{
	const uint64_t keep = (uint64_t)w->file.keep, oldest = w->file.first;
	int error;

	flush(w);
	w->in_files[w->file.next % keep] = w->in_file;
	error = log_file_rotate(&w->file);
	if (w->file.first != oldest)
		w->removed += w->in_files[oldest % keep];
	if (!error)
		begin_file(w);
}

/* Prepares for a record: begins the file if necessary and makes space in the block. */
static void prepare(struct log_writer *w)
{
	if (!w->begun)
		begin_file(w);
	else if (log_file_is_long(&w->file, w->used + LOG_RECORD_BYTES))
		rotate(w);
}

/* ---- Notes ------------------------------------------------------------------------------------------------------- */

/* Notes are comments, in the syntax that most readers of such files accept. */
static void note_gap(struct log_writer *w)
{
	if (!w->gap.records)
		return;
	prepare(w);
	if (w->form->is_text)
		w->used += (size_t)snprintf(space(w), LOG_RECORD_BYTES,
					    LOG_NOTE "%" PRIu64 LOG_NOTE_LEFT_OUT "%" PRIu32 " on: %s\n",
					    w->gap.records, w->gap.seq, w->gap.why);
	w->gap.records = 0;
}

static void add_gap(struct log_writer *w, uint32_t seq, uint64_t records, const char *why)
{
	/* A note has one reason; the next record of an array has the total. */
	if (w->form->is_text && w->gap.records && w->gap.why != why)
		note_gap(w);
	if (!w->gap.records)
		w->gap.seq = seq;
	w->gap.records += records;
	w->gap.why = why;
}

static void note_repeated(struct log_writer *w, uint32_t seq)
{
	if (!w->form->is_text || w->file.error)
		return;
	note_gap(w);
	prepare(w);
	w->used += (size_t)snprintf(space(w), LOG_RECORD_BYTES, LOG_NOTE "SEQ %" PRIu32 LOG_NOTE_AGAIN "\n", seq);
}

/* The reflector has reported better timestamps than the source in the names of its columns. */
static void note_remote(struct log_writer *w)
{
	const int64_t remote = w->report->result->remote;
	char before[16], now[16];
	struct log_columns *c = &w->columns, named = *c;

	if (!w->begun || remote == c->remote)
		return;
	c->remote = remote;
	for (int i = REMOTE; i < KERNEL_RECEIVE && c->full && w->form->is_text; i++)
		if (c->time[i] && label_time(c->options->role, i)->wire)
			w->used += (size_t)snprintf(space(w), LOG_RECORD_BYTES,
						    LOG_NOTE "%s is %s" LOG_NOTE_CHANGED "\n",
						    log_columns_name(&named, before, sizeof(before), i),
						    log_columns_name(c, now, sizeof(now), i));
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static void write_record(struct log_writer *w, const struct sample *s)
{
	const uint64_t left_out = w->gap.records;
	char *at;

	if (w->file.error) {
		w->unwritten++;
		return;
	}
	note_gap(w);
	prepare(w);
	at = space(w);
	w->used += (size_t)(w->form->record(at, &w->columns, s, left_out) - at);
	w->in_block++;
}

static void skip_record(struct log_writer *w, const struct sample *s)
{
	w->not_kept++;
	add_gap(w, s->seq, 1, is_older);
}

/* Removes the oldest n records of the ring. */
static void take(struct log_writer *w, uint64_t n, void (*act)(struct log_writer *w, const struct sample *s))
{
	while (n) {
		const uint64_t some = n < TAKE_AT_ONCE ? n : TAKE_AT_ONCE;

		for (uint64_t i = 0; i < some; i++) {
			const struct sample *s = log_at(w->log, i);

			if (log_is_gap(s))
				add_gap(w, s->seq, log_gap(s), was_full);
			else if (log_is_mark(s))
				note_repeated(w, s->seq);
			else
				act(w, s);
		}
		log_take(w->log, some);
		n -= some;
	}
}

/* ---- The last seconds -------------------------------------------------------------------------------------------- */

/* Total records at a time, by the time at which this thread saw them, since the clock of the records may be set. */
static uint64_t ready_before(const struct log_writer *w, int64_t mono_ns)
{
	const uint64_t oldest = w->marks > LOG_MARKS ? w->marks - LOG_MARKS : 0;

	for (uint64_t i = w->marks; i > oldest; i--)
		if (w->mark[(i - 1) % LOG_MARKS].mono_ns <= mono_ns)
			return w->mark[(i - 1) % LOG_MARKS].ready;
	return 0;
}

static void mark(struct log_writer *w, int64_t now_ns, uint64_t ready)
{
	/* Half of the marks cover the required time. */
	if (w->marks && now_ns - w->mark[(w->marks - 1) % LOG_MARKS].mono_ns < w->last_ns / (LOG_MARKS / 2))
		return;
	w->mark[w->marks++ % LOG_MARKS] = (struct log_mark){ .mono_ns = now_ns, .ready = ready };
}

/* Number of oldest records to drop for free ring space; the kept interval is recorded. */
static uint64_t too_many(struct log_writer *w, int64_t now_ns, uint64_t ready)
{
	const uint64_t most = w->log->capacity - w->log->capacity / 4, oldest = log_taken(w->log) + ready - most;

	if (ready <= most)
		return 0;
	for (uint64_t i = w->marks; i && i + LOG_MARKS > w->marks; i--) {
		const struct log_mark *m = &w->mark[(i - 1) % LOG_MARKS];
		const int64_t kept_ns = now_ns - m->mono_ns;

		if (m->ready >= oldest)
			continue;
		if (kept_ns < w->last_ns && (!w->shortest_ns || kept_ns < w->shortest_ns))
			w->shortest_ns = kept_ns;
		break;
	}
	return ready - most;
}

/* Writes the records near a breach, and drops records too old to precede one. */
static void drain_last(struct log_writer *w, uint64_t ready)
{
	const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	const uint64_t breaches = counter_get(&w->report->result->account.breaches);
	const bool was_near = w->is_near, is_new = log_taken(w->log) + ready != w->seen;
	const int64_t before_ns = w->looked_ns; /* new records came after that */
	uint64_t old;

	w->looked_ns = now_ns;
	w->seen = log_taken(w->log) + ready;
	mark(w, now_ns, w->seen);
	if (breaches != w->breaches)
		w->write_until_ns = now_ns + w->last_ns;
	w->breaches = breaches;
	/* Once more after that time: records since the last call belong to it too. */
	if (was_near || now_ns < w->write_until_ns) {
		w->is_near = now_ns < w->write_until_ns;
		take(w, ready, write_record);
		return;
	}
	/* Without a new mark this may be the end, or the probe of a breach is in flight. */
	old = is_new ? ready_before(w, before_ns - w->last_ns) : 0;
	if (old > log_taken(w->log))
		take(w, old - log_taken(w->log), skip_record);
	take(w, too_many(w, now_ns, log_ready(w->log)), skip_record);
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void drain(void *writer)
{
	struct log_writer *w = writer;
	uint64_t ready;

	if (atomic_load_explicit(&w->state, memory_order_acquire) == LOG_WRITER_WAITS)
		return;
	ready = log_ready(w->log);
	note_remote(w);
	if (w->last_ns)
		drain_last(w, ready);
	else
		take(w, ready, write_record);
	if (w->used >= LOG_BLOCK_BYTES || w->waited)
		flush(w);
	w->waited = w->used;
}

static void write_rest(struct log_writer *w)
{
	uint64_t last;
	uint32_t seq;

	note_remote(w);
	take(w, log_ready(w->log), write_record);
	last = log_last_gap(w->log, &seq);
	if (last)
		add_gap(w, seq, last, was_full);
	note_gap(w);
	if (!w->begun)
		begin_file(w);
	flush(w);
	log_file_finish(&w->file);
}

static void begin_thread(void *writer)
{
	struct log_writer *w = writer;

	w->begin(w->context);
}

static void end_thread(void *writer)
{
	struct log_writer *w = writer;

	if (atomic_load_explicit(&w->state, memory_order_acquire) == LOG_WRITER_ENDS)
		write_rest(w);
}

/* ---- Interface --------------------------------------------------------------------------------------------------- */

int log_writer_open(struct log_writer *w, const struct report *r, struct log *log)
{
	const struct options *o = r->options;
	int error;

	if (!o->log_path)
		return 0;
	*w = (struct log_writer){ .report = r, .log = log, .form = &log_forms[o->log_format], .last_ns = o->log_last_ns,
				  .file.fd = -1 };
	error = log_file_open(&w->file, o->log_path, o->log_rotate.bytes, o->log_rotate.files);
	if (error)
		return error;
	if (!w->form->is_text && !*w->file.partial) {
		warnx("--log-format npy: --log %s is not a regular file, and the number of records is written at "
		      "its begin: give the path of one, or --log-format csv", o->log_path);
		log_writer_close(w);
		return -EINVAL;
	}
	w->block = malloc(BLOCK_ROOM);
	/* a single file without rotation */
	w->in_files = calloc((size_t)o->log_rotate.files + 1, sizeof(*w->in_files));
	if (w->block && w->in_files)
		return 0;
	warnx("no memory for the log");
	log_writer_close(w);
	return -ENOMEM;
}

int log_writer_start(struct log_writer *w, void (*begin)(void *context), void *context)
{
	int error;

	if (!w->block)
		return 0;
	w->begin = begin;
	w->context = context;
	w->worker = (struct worker){ .name = "rant-log", .begin = begin_thread, .end = end_thread, .context = w };
	worker_add(&w->worker, (struct worker_duty){ .period_ns = LOG_WRITER_PERIOD_NS, .act = drain, .context = w });
	error = worker_start(&w->worker);
	w->beside = !error;
	return error;
}

void log_writer_hand_over(struct log_writer *w)
{
	atomic_store_explicit(&w->state, LOG_WRITER_DRAINS, memory_order_release);
	if (w->beside && !w->worker.shares_files)
		close(w->file.fd);
}

int log_writer_finish(struct log_writer *w)
{
	if (!w->block)
		return 0;
	atomic_store_explicit(&w->state, LOG_WRITER_ENDS, memory_order_release);
	if (w->beside)
		worker_stop(&w->worker);
	else
		write_rest(w);
	return w->file.error;
}

void log_writer_result(const struct log_writer *w, struct result_log *to)
{
	if (!w->log)
		return;
	log_result(w->log, to);
	to->path = w->report->options->log_path;
	to->form = w->form->name;
	to->beside = w->beside;
	to->by_option_at_end = options_log_is_circular(w->report->options);
	to->rotates = w->file.rotate_bytes;
	to->file = w->file.next;
	to->error = w->file.error;
	to->written = w->written;
	to->removed = w->removed;
	to->not_kept = w->not_kept;
	to->unwritten = w->unwritten;
	to->octets = w->octets;
	to->shortest_ns = w->shortest_ns;
}

void log_writer_close(struct log_writer *w)
{
	if (w->worker.running)
		worker_stop(&w->worker);
	if (w->beside)
		w->file.fd = -1; /* closed by the thread */
	log_file_abandon(&w->file);
	free(w->block);
	free(w->in_files);
	w->block = NULL;
	w->in_files = NULL;
}
