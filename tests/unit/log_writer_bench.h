/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log writer with its ring and file, and checks of the file. A test includes report/log/log_writer.c
 * first, then this file. */
#ifndef LOG_WRITER_BENCH_H
#define LOG_WRITER_BENCH_H

#include "fake_report.h"
#include "log_folder.h"
#include "report/log/log_form.h"

/* ---- The bench --------------------------------------------------------------------------------------------------- */

static int64_t mono_ns; /* CLOCK_MONOTONIC of this test; 0: the real clock */

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC || !mono_ns)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ .tv_sec = mono_ns / NS_PER_S, .tv_nsec = mono_ns % NS_PER_S };
	return 0;
}

static struct log_writer writer;
static struct log_writer *const w = &writer;
static uint32_t offered; /* records, numbered from 0 */

static inline int set_up_writer(void **state)
{
	set_up(state);
	set_up_folder(state);
	options.log_path = path;
	mono_ns = 0;
	offered = 0;
	return 0;
}

static inline int tear_down_writer(void **state)
{
	log_writer_close(w);
	log_writer_close(w);
	tear_down_folder(state);
	return tear_down(state);
}

static inline void open_writer(uint64_t capacity)
{
	place_records(capacity, false, options.log_full);
	assert_int_equal(log_writer_open(w, &report, &transactions), 0);
	log_writer_hand_over(w);
}

static inline void offer(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, offered++)
		add_record(offered, offered, offered);
}

/* Concatenated contents of files. */
static struct {
	uint32_t next; /* the number that is expected */
	uint64_t records, left_out, notes, others;
	char last_note[512], lines[2][512]; /* how each file begins */
} seen;

static inline void see_line(const char *line)
{
	unsigned long long n, seq;

	if (*line != '#') {
		assert_int_equal(strtoul(line, NULL, 10), seen.next);
		seen.next++;
		seen.records++;
	} else if (sscanf(line, "# %llu records left out from SEQ %llu on: ", &n, &seq) == 2) {
		assert_int_equal(seq, seen.next);
		seen.next += (uint32_t)n;
		seen.left_out += n;
		seen.notes++;
		snprintf(seen.last_note, sizeof(seen.last_note), "%s", line);
	} else {
		seen.others++;
		snprintf(seen.last_note, sizeof(seen.last_note), "%s", line);
	}
}

/* Each line is whole, and each number is a record, or within a note. */
static inline void see_file(const char *name)
{
	char line[512];
	FILE *in = fopen(name, "r");

	if (!in)
		fail_msg("there is no %s", name);
	for (int i = 0; fgets(line, sizeof(line), in); i++) {
		assert_non_null(strchr(line, '\n'));
		if (i >= 2)
			see_line(line);
		else if (*seen.lines[i])
			assert_string_equal(line, seen.lines[i]);
		else
			strcpy(seen.lines[i], line);
	}
	fclose(in);
	assert_non_null(strstr(seen.lines[0], "SEQ"));
	assert_int_equal(*seen.lines[1], '-');
}

/* All that was offered: written, or counted where it was lost. */
static inline void assert_counts(void)
{
	assert_int_equal(counter_get(&transactions.added), w->written + w->unwritten + w->not_kept);
	assert_int_equal(counter_get(&transactions.added) + counter_get(&transactions.left_out), offered);
	assert_int_equal(log_ready(&transactions), 0);
	log_writer_result(w, &result.log);
	assert_true(result.log.exists);
	assert_string_equal(result.log.form, w->form->name);
	assert_int_equal(result.log.offered, offered);
	assert_int_equal(result.log.left_out, counter_get(&transactions.left_out));
	assert_int_equal(result.log.capacity, transactions.capacity);
	assert_int_equal(result.log.written, w->written);
	assert_int_equal(result.log.removed, w->removed);
	assert_int_equal(result.log.not_kept, w->not_kept);
	assert_int_equal(result.log.unwritten, w->unwritten);
	assert_int_equal(result.log.octets, w->octets);
	assert_int_equal(result.log.shortest_ns, w->shortest_ns);
	assert_int_equal(result.log.beside, w->beside);
	assert_int_equal(result.log.error, w->file.error);
	assert_int_equal(result.log.rotates, w->file.rotate_bytes != 0);
	assert_int_equal(result.log.file, w->file.next);
}

static inline void finish_and_see(void)
{
	assert_int_equal(log_writer_finish(w), 0);
	memset(&seen, 0, sizeof(seen));
	see_file(path);
	assert_int_equal(seen.next, offered);
	assert_int_equal(seen.records, w->written);
	assert_int_equal(seen.left_out, counter_get(&transactions.left_out) + w->not_kept);
	assert_int_equal(w->unwritten, 0);
	assert_counts();
}

struct npy_seen {
	uint64_t in_header, octets;
	char text[NPY_BEGIN_BYTES];
};

static inline struct npy_seen see_npy(const char *name)
{
	struct npy_seen n = { 0 };
	FILE *in = fopen(name, "r");
	unsigned long long in_header;

	assert_non_null(in);
	assert_int_equal(fread(n.text, 1, NPY_BEGIN_BYTES, in), NPY_BEGIN_BYTES);
	memset(n.text, ' ', 10);
	n.text[NPY_BEGIN_BYTES - 1] = 0;
	assert_int_equal(sscanf(strstr(n.text, "'shape': ("), "'shape': (%llu", &in_header), 1);
	n.in_header = in_header;
	fseek(in, 0, SEEK_END);
	n.octets = (uint64_t)ftell(in) - NPY_BEGIN_BYTES;
	fclose(in);
	return n;
}

/* SEQ and LEFT_OUT of record n. */
static inline void assert_npy(uint64_t n, uint32_t seq, uint16_t left_out)
{
	uint32_t got_seq = 0;
	uint16_t got_left_out = 0;
	FILE *in = fopen(path, "r");

	fseek(in, (long)(NPY_BEGIN_BYTES + 64 * n), SEEK_SET);
	assert_int_equal(fread(&got_seq, 4, 1, in), 1);
	assert_int_equal(fread(&got_left_out, 2, 1, in), 1);
	fclose(in);
	assert_int_equal(got_seq, seq);
	assert_int_equal(got_left_out, left_out);
}

#define WRITER_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_writer, tear_down_writer)

#endif
