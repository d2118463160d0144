/* build: sources=analyse/log_array.c,report/log/log_form.c,report/log/log_text.c,report/log/log_npy.c,report/text/label.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads logs of each form, and refuses damaged logs. */
#include "analyse/log_read.c"

#include "report/log/log_form.h"
#include "results_files.h"

/* ---- Logs that rant wrote ---------------------------------------------------------------------------------------- */

static struct options options;
static enum source remote;

static struct sample some_sample(uint32_t seq)
{
	struct sample s = { .seq = seq, .same_timebase = true, .follow_up = FOLLOW_UP_THERE };
	uint8_t from, to;

	for (int i = 0; i < ALL_TIMES; i++) {
		s.time_ns[i] = (int64_t)util_below(2000000000000000000ULL) + 1;
		s.source[i] = (uint8_t)label_source_of(label_time(options.role, i), time_is_remote(i) ? remote : options.stamp);
	}
	stages_latency_times(options.role, options_on_wire(&options), &from, &to);
	s.latency_ns = (int64_t)util_below(1ULL << util_below(40));
	s.time_ns[to] = s.time_ns[from] + s.latency_ns;
	/* Some times are missing. */
	if (util_below(4) == 0)
		s.source[util_below(ALL_TIMES)] = SOURCE_NONE;
	if (util_below(3) == 0)
		s.follow_up = (uint8_t)util_below(FOLLOW_UPS);
	return s;
}

#define RECORDS 200

static struct sample written[RECORDS];
static struct log_columns columns;

static FILE *write_log(enum log_format format, unsigned records)
{
	char space[LOG_BEGIN_BYTES + LOG_RECORD_BYTES];
	FILE *file = tmpfile();

	log_columns_choose(&columns, &options, remote);
	fwrite(space, 1, (size_t)(log_forms[format].begin(space, &columns, records) - space), file);
	for (unsigned i = 0; i < records; i++) {
		written[i] = some_sample(i ? (uint32_t)util_random() : UINT32_MAX);
		fwrite(space, 1, (size_t)(log_forms[format].record(space, &columns, &written[i], i == 7 ? 3 :
								   0) - space),
		       file);
	}
	rewind(file);
	return file;
}

static void assert_same(const struct log_read *l, const struct sample *got, const struct sample *want)
{
	int64_t ns;

	assert_int_equal(got->seq, want->seq);
	assert_int_equal(got->latency_ns, want->latency_ns);
	for (int i = 0; i < ALL_TIMES; i++) {
		if (!columns.time[i])
			continue;
		const bool known = log_columns_has(&columns, want, i);

		assert_int_equal(got->source[i] != SOURCE_NONE, known);
		if (known)
			assert_int_equal(got->time_ns[i], want->time_ns[i]);
		if (known)
			assert_int_equal(got->source[i], want->source[i]);
	}
	if (!options.log_full)
		return;
	assert_int_equal(got->follow_up, want->follow_up);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(l->reported[i], stages_value(&columns.stages[i ? STAGE_NETWORK : STAGE_RESPONSE], want,
							      &ns));
		if (l->reported[i])
			assert_int_equal(l->reported_ns[i], ns);
	}
}

static void assert_options(const struct log_read *l)
{
	struct options o = options;

	o.role = (enum role)!options.role;
	o.stamp = SOURCE_NONE;
	o.no_tx_stamps = o.sw_timestamps = !options.sw_timestamps;
	log_names_options(&l->names, &o);
	assert_int_equal(o.role, options.role);
	assert_int_equal(o.stamp, options.stamp);
	assert_int_equal(options_on_wire(&o), options_on_wire(&options));
	assert_int_equal(o.plain, options.role == ROLE_EMIT && !options.log_full);
	assert_int_equal(o.log_full && options_kernel_times(&o), options.log_full && options_kernel_times(&options));
	assert_int_equal(o.log_full && options_queue_times(&o) && l->names.stamp >= SOURCE_KERNEL,
			 options.log_full && options_queue_times(&options));
	if (options.log_full)
		assert_int_equal(l->names.remote, remote);
}

static void read_back(enum log_format format)
{
	static const enum log_look looks[] = { [LOG_TEXT] = LOG_LOOK_TEXT, [LOG_NPY] = LOG_LOOK_NPY,
					       [LOG_CSV] = LOG_LOOK_CSV };
	FILE *file = write_log(format, RECORDS);
	struct log_read l;
	struct sample s;

	assert_int_equal(log_read_look(file), looks[format]);
	assert_int_equal(log_read_open(&l, file, "log", format), 0);
	assert_options(&l);
	for (unsigned i = 0; i < RECORDS; i++) {
		assert_int_equal(log_read_next(&l, &s), 1);
		assert_same(&l, &s, &written[i]);
	}
	assert_int_equal(log_read_next(&l, &s), 0);
	assert_int_equal(l.records, RECORDS);
	assert_int_equal(l.left_out, format == LOG_NPY ? 3 : 0);
	fclose(file);
}

/* Each form, role and source of timestamps at both hosts, with and without times of user space. */
static void what_was_written_is_read(void **state)
{
	(void)state;
	for (int format = 0; format < LOG_FORMATS; format++)
		for (int stamp = SOURCE_USER; stamp < HOST_SOURCES; stamp++)
			for (remote = SOURCE_USER; remote < HOST_SOURCES; remote++)
				for (int kind = 0; kind < 24; kind++) {
					const bool emits = kind & 1;

					/* Other hosts only; and of received packets alone it is hardware. */
					if (stamp == SOURCE_LOCAL || (stamp == SOURCE_RECEIVE && !emits && kind & 4))
						continue;
					options = (struct options){ .role = emits ? ROLE_EMIT : ROLE_REFLECT,
								    .stamp = stamp, .sw_timestamps = kind & 2,
								    .stages.detail = kind >> 3,
								    .log_full = emits && kind & 4,
								    .no_tx_stamps = !emits && kind & 4 };
					read_back((enum log_format)format);
				}
}

/* ---- Logs that it did not write ---------------------------------------------------------------------------------- */

#define HEADER "       SEQ                      T1_KERNEL                      T4_KERNEL             RTT\n-----\n"
#define LINE "         0  1773883524.000000100  1773883524.000000300             200\n"
#define CSV "SEQ,T1_KERNEL,T4_KERNEL,RTT\n"

static int read_text(const char *text, enum log_format format, uint64_t *records, uint64_t *left_out)
{
	FILE *file = file_of(text, strlen(text));
	struct log_read l;
	struct sample s;
	int found;

	catch();
	found = log_read_open(&l, file, "log", format);
	while (!found && (found = log_read_next(&l, &s)) == 1)
		found = 0;
	caught_text();
	*records = l.records;
	*left_out = l.left_out;
	fclose(file);
	return found;
}

static void bad_text(void **state)
{
	static const char *const bad[] = {
		HEADER LINE "         1",
		"SEQ RTT\n-\n",
		"SEQ T1_HW T1_KERNEL T4_HW RTT\n-\n",
		"SEQ T1_KERNEL T4_KERNEL T4_KERNEL RTT\n-\n",
		"SEQ T1_KERNEL T4_KERNEL RTT MORE\n-\n",
		"SEQ T1_KERNEL T4_KERNEL RTT\n" LINE,
		HEADER "         0  1773883524.000000100  1773883524.000000300             201\n",
		HEADER "         0  1773883524.000000300  1773883524.000000100            -200\n",
		HEADER "         0  1773883524.00000010   1773883524.000000300             200\n",
		HEADER "         0  99999999999.000000100 1773883524.000000300             200\n",
		HEADER "4294967296  1773883524.000000100  1773883524.000000300             200\n",
		HEADER "        -1  1773883524.000000100  1773883524.000000300             200\n",
		HEADER "         0  1773883524.000000100  1773883524.000000300             nan\n",
		HEADER "         0  1773883524.000000100  1773883524.000000300           200.5\n",
		HEADER "         0  1773883524.000000100  1773883524.000000300\n",
		HEADER "         0  1773883524.000000100  1773883524.000000300    200         1\n",
		HEADER "         0  1773883524x000000100  1773883524.000000300             200\n",
		HEADER "\n",
	};
	uint64_t records, left_out;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(read_text(bad[i], LOG_TEXT, &records, &left_out), -EINVAL);
		golden_line(said);
	}
	assert_int_equal(read_text(HEADER LINE LINE, LOG_TEXT, &records, &left_out), 0);
	assert_int_equal(records, 2);
}

static void bad_csv(void **state)
{
	static const char *const bad[] = {
		CSV "0,100,300,200",
		CSV "0,100,300\n",
		CSV "0,100,300,200,\n",
		CSV ",100,300,200\n",
		CSV "0,100,300,\n",
		CSV "0,1.5,300,200\n",
		CSV "0,9223372036854775808,300,200\n",
		CSV "0,-9223372036854775808,300,200\n",
		"SEQ,,RTT\n",
	};
	uint64_t records, left_out;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(read_text(bad[i], LOG_CSV, &records, &left_out), -EINVAL);
		golden_line(said);
	}
}

static void notes(void **state)
{
	uint64_t records, left_out;

	(void)state;
	assert_int_equal(read_text(CSV "0,100,300,200\n# 1234 records left out from SEQ 1 on: the ring was full\n# "
				       "T2_SW is T2_HW from here on\n"
				   "9,,300,5\n# 7 records left out from SEQ 10 on: they are not within --log-last of a "
				   "breach\n", LOG_CSV, &records,
				   &left_out), 0);
	assert_string_equal(said, "");
	assert_int_equal(records, 2);
	assert_int_equal(left_out, 1241);
}

static void a_note_of_a_repeated_number(void **state)
{
	static const char text[] =
				   CSV "0,100,300,200\n# SEQ 4294967295 was received again\n# SEQ 1 was received again "
				       "later\n"
		"# SEQ 4294967296 was received again\n9,100,105,5\n";
	FILE *file = file_of(text, sizeof(text) - 1);
	struct log_read l;
	struct sample s;

	(void)state;
	assert_int_equal(log_read_open(&l, file, "log", LOG_CSV), 0);
	assert_int_equal(log_read_next(&l, &s), 1);
	assert_int_equal(log_read_next(&l, &s), LOG_READ_REPEATED);
	assert_int_equal(s.seq, UINT32_MAX);
	assert_int_equal(log_read_next(&l, &s), 1);
	assert_int_equal(s.seq, 9);
	assert_int_equal(log_read_next(&l, &s), 0);
	assert_int_equal(l.records, 2);
	fclose(file);
}

/* Cut at each octet, and with each octet of the header changed: refused, or read unchanged. */
static void bad_arrays(void **state)
{
	static char octets[64 * 1024];
	struct sample s;
	struct log_read l;
	size_t bytes;
	FILE *file;

	(void)state;
	options = (struct options){ .role = ROLE_EMIT, .stamp = SOURCE_KERNEL, .log_full = true };
	remote = SOURCE_HARDWARE;
	file = write_log(LOG_NPY, 20);
	bytes = fread(octets, 1, sizeof(octets), file);
	fclose(file);
	for (size_t i = 0; i < bytes; i += i < NPY_BEGIN_BYTES ? 1 : 7) {
		const char was = octets[i];
		int found;

		file = file_of(octets, i ? i : 1);
		catch();
		assert_int_equal(log_read_open(&l, file, "log", LOG_NPY), -EINVAL);
		caught_text();
		assert_one_line(said);
		fclose(file);
		octets[i] = (char)(was ^ (1 << util_below(8)));
		file = file_of(octets, bytes);
		catch();
		found = log_read_open(&l, file, "log", LOG_NPY);
		while (!found && (found = log_read_next(&l, &s)) == 1)
			found = 0;
		caught_text();
		if (found)
			assert_one_line(said);
		else
			assert_string_equal(said, "");
		fclose(file);
		octets[i] = was;
	}
}

static void more_than_the_header_says(void **state)
{
	FILE *file;
	struct log_read l;

	(void)state;
	options = (struct options){ .role = ROLE_REFLECT, .stamp = SOURCE_KERNEL };
	file = write_log(LOG_NPY, 3);
	fseek(file, 0, SEEK_END);
	fputs("more", file);
	rewind(file);
	catch();
	assert_int_equal(log_read_open(&l, file, "log", LOG_NPY), -EINVAL);
	caught_text();
	golden_line(said);
	fclose(file);
}

static void no_text(void **state)
{
	static const char octets[] = CSV "0,100,300,200\0,\n";
	char line[LOG_LINE_BYTES + 8];
	struct log_read l;
	struct sample s;
	FILE *file = file_of(octets, sizeof(octets) - 1);

	(void)state;
	catch();
	assert_int_equal(log_read_open(&l, file, "log", LOG_CSV), 0);
	assert_int_equal(log_read_next(&l, &s), -EINVAL);
	caught_text();
	golden_line(said);
	fclose(file);
	memset(line, '1', sizeof(line));
	file = file_of(line, sizeof(line));
	catch();
	assert_int_equal(log_read_open(&l, file, "log", LOG_CSV), -EINVAL);
	caught_text();
	golden_line(said);
	fclose(file);
}

static void looks(void **state)
{
	static const struct {
		const char *text;
		enum log_look look;
	} all[] = { { "", LOG_LOOK_EMPTY }, { "{", LOG_LOOK_JSON }, { "\n {\"a\"", LOG_LOOK_JSON },
		    { "SEQUENCE", LOG_LOOK_FOREIGN },
		    { "hello", LOG_LOOK_FOREIGN }, { "SEQ,", LOG_LOOK_CSV }, { "   SEQ ", LOG_LOOK_TEXT },
			    { "[1]", LOG_LOOK_FOREIGN } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		FILE *file = file_of(all[i].text, strlen(all[i].text));

		assert_int_equal(log_read_look(file), all[i].look);
		assert_int_equal(ftell(file), 0);
		fclose(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read), cmocka_unit_test(bad_text), cmocka_unit_test(bad_csv),
		cmocka_unit_test(notes), cmocka_unit_test(a_note_of_a_repeated_number), cmocka_unit_test(bad_arrays),
		cmocka_unit_test(looks),
		cmocka_unit_test(more_than_the_header_says), cmocka_unit_test(no_text),
	};

	util_seed();
	return golden_run(tests);
}
