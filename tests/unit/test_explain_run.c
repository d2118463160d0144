/* build: sources=explain/[a-z]*.c,analyse/tree.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The causes of the saved traces after a run, and the object of --explain --json, from a recorded trace. */
#include "explain/explain.c"
#include "explain/explain_peer.h"
#include "measure/exchange.h"

#include "golden.h"

#include <unistd.h>

#define TRACES "tests/unit/traces"
#define SEQ 3941
#define LATENCY_NS 7849559

static struct options options;
static struct result result;
static _Atomic int stop;
static char said[4096];

static int set_up(void **state)
{
	(void)state;
	memset(&options, 0, sizeof(options));
	memset(&result, 0, sizeof(result));
	options.save_trace_path = TRACES;
	result.options = &options;
	stop = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(result.causes);
	result.causes = NULL;
	return 0;
}

static void saved(const char *name, uint32_t seq, int64_t latency_ns)
{
	struct trace_kept *to = &result.trace.kept[result.trace.saves++ % TRACES_KEPT];

	snprintf(to->name, sizeof(to->name), "%s", name);
	to->seq = seq;
	to->latency_ns = latency_ns;
	counter_add(&result.account.breaches, 1);
}

/* The text, and that on stderr in said[]. */
static const char *run(void)
{
	static char text[8192];
	struct util_capture capture;
	FILE *out = fmemopen(text, sizeof(text), "w");

	*text = '\0';
	util_capture_begin(&capture);
	explain_run(&result, out, &stop);
	util_capture_end(&capture, said, sizeof(said));
	fclose(out);
	return text;
}

/* Only that the folder has no raw pages, or that this build does not read them. */
static void assert_no_pages_said(void)
{
	const char *end = strchr(said, '\n');

	assert_non_null(strstr(said, "/planted: times +- 1 us: "));
	assert_true(end && !end[1]);
}

/* A single trace has no counts in its text. */
static void one_trace(void **state)
{
	(void)state;
	saved("planted", SEQ, LATENCY_NS);
	golden("%s", run());
	assert_no_pages_said();
	assert_int_equal(result.causes->traces, 1);
	assert_int_equal(causes_of_class(result.causes, OWNER_THREAD), 1);
}

static void several_traces(void **state)
{
	struct sample s = { .seq = SEQ, .latency_ns = LATENCY_NS };

	(void)state;
	saved("planted", SEQ, LATENCY_NS);
	saved("absent", 4000, 1);
	saved("planted", SEQ + 1, LATENCY_NS); /* its marker is of another packet */
	saved("planted", SEQ, LATENCY_NS);
	counter_add(&result.account.breaches, 5000);
	golden("%s", run());
	assert_no_pages_said(); /* the reasons are for --json */
	assert_int_equal(result.causes->whys, 4);
	assert_string_equal(causes_find(&result, &s)->part[0].name, "planted");
	s.seq++;
	golden("%s\n", causes_find(&result, &s)->not_explained);
	s = (struct sample){ .seq = 4000, .latency_ns = 1 };
	golden("%s\n", causes_find(&result, &s)->not_explained);
	s.latency_ns++;
	assert_null(causes_find(&result, &s));
}

/* The reason of the last trace is a line, and the counts follow. */
static void last_trace_is_not_explained(void **state)
{
	(void)state;
	saved("planted", SEQ, LATENCY_NS);
	saved("absent", 4000, 1);
	golden("%s", run());
	golden("%s", said);
}

/* The list holds the last traces, which are explained, and all are counted. */
static void many_traces(void **state)
{
	(void)state;
	for (int i = 0; i < TRACES_KEPT + 6; i++)
		saved(i < 6 ? "absent" : "planted", SEQ, LATENCY_NS);
	golden("%s", run());
	assert_int_equal(result.causes->whys, TRACES_KEPT);
	assert_int_equal(result.causes->traces, TRACES_KEPT + 6);
	assert_int_equal(causes_of_class(result.causes, OWNER_THREAD), TRACES_KEPT);
	assert_int_equal(causes_of_class(result.causes, CAUSE_NOT_EXPLAINED), 6);
}

static void nothing_to_do(void **state)
{
	(void)state;
	assert_string_equal(run(), ""); /* no trace */
	assert_null(result.causes);
	saved("planted", SEQ, LATENCY_NS);
	explain_run(&result, NULL, &stop); /* neither a text nor an output */
	assert_null(result.causes);
	options.prometheus_path = "x";
	explain_run(&result, NULL, &stop);
	assert_non_null(result.causes);
}

/* The time and a signal end the explanation of earlier traces. */
static void limits(void **state)
{
	const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	struct limits l = { now_ns + 1000 * NS_PER_S, &stop, 0 };
	struct why w = { .seq = 1 };

	(void)state;
	assert_true(is_within(&l, &w));
	l.end_ns = now_ns;
	assert_false(is_within(&l, &w));
	golden("%s\n", w.not_explained);
	l.end_ns = now_ns + 1000 * NS_PER_S;
	stop = 1;
	w = (struct why){ .seq = 1 };
	assert_false(is_within(&l, &w));
	golden("%s\n", w.not_explained);
	/* The signal that ended the run is not a second. */
	l.stop_before = 1;
	w = (struct why){ .seq = 1 };
	assert_true(is_within(&l, &w));
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

static void count(int class, const char *name, int cpu, int traces)
{
	struct why w = { .class = (uint8_t)class, .named = class < OWNER_CLASSES,
			 .part = { { .class = (uint8_t)class, .cpu = optional_cpu(cpu) } } };

	snprintf(w.part[0].name, sizeof(w.part[0].name), "%s", name);
	for (int i = 0; i < traces; i++)
		causes_count(result.causes, &w);
}

static const char *counts(void)
{
	static char text[1024];

	*text = '\0';
	causes_sort(result.causes);
	causes_add(text, sizeof(text), &result);
	return text;
}

static void counts_of_causes(void **state)
{
	struct why w = { .class = OWNER_THREAD, .named = 1, .part = { { .class = OWNER_THREAD, .name = "kworker/1:2" } } };
	char text[128] = "";

	(void)state;
	result.causes = calloc(1, sizeof(*result.causes));
	count(OWNER_THREAD, "kworker/1:2", 1, 1);
	counter_add(&result.account.breaches, 23);
	assert_string_equal(counts(), "");
	count(OWNER_SOFTIRQ, "TIMER", 1, 17);
	count(OWNER_THREAD, "kworker/1:2", 0, 3);
	causes_count_not_explained(result.causes, 2);
	golden("%s\n", counts());
	causes_add_same(text, sizeof(text), &result, &w);
	golden("%s\n", text);
	/* The same name of another class is another cause. */
	count(OWNER_HELD, "kworker/1:2", 1, 1);
	count(OWNER_IDLE, "state 2", 1, 1);
	count(OWNER_IDLE, "exit", 1, 3);
	count(OWNER_WIRE, "", -1, 2);
	count(CAUSE_SPREAD, "", -1, 1);
	golden("%s\n", counts());
}

/* ---- --explain --json -------------------------------------------------------------------------------------------- */

static char *read_file(const char *path)
{
	static char text[1 << 17];
	FILE *file = fopen(path, "r");

	if (!file)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

/* The object, without the version; NULL: there is no file. */
static char *explained_json(const char *folder, int expected)
{
	static char path[64] = "/tmp/test_explain_run.XXXXXX";
	struct util_capture capture;
	char *text;
	int error;

	strcpy(path, "/tmp/test_explain_run.XXXXXX");
	close(mkstemp(path));
	unlink(path);
	options = (struct options){ .explain_path = folder, .json_path = path, .quiet = true };
	util_capture_begin(&capture);
	error = explain_main(&options);
	util_capture_end(&capture, said, sizeof(said));
	assert_int_equal(error, expected);
	text = read_file(path);
	unlink(path);
	return text ? strstr(text, "\"folder\"") : NULL;
}

static void explained_as_json(void **state)
{
	(void)state;
	char *json = explained_json(TRACES "/planted", 0), *timeline = strstr(json, "\t\"timeline\"");

	assert_non_null(timeline);
	assert_non_null(strstr(timeline, "{\"name\":\"T2_KERNEL\",\"own_ns\":1795839338861255518,\"ns\":34370489295"));
	assert_non_null(strstr(timeline, "\"text\":\"switches to rant-loop (7747)\"}"));
	*timeline = '\0';
	golden("%s", json);
	assert_string_equal(said, "");
	assert_null(explained_json(TRACES, -EINVAL));
	golden("%s", said);
}

/* Copies a file of the planted trace, with `extra` before the last occurrence of `at`. */
static void copy_planted(const char *folder, const char *name, const char *at, const char *extra)
{
	char from[64], to[64];
	const char *text, *place = NULL;
	FILE *file;

	snprintf(from, sizeof(from), TRACES "/planted/%s", name);
	snprintf(to, sizeof(to), "%s/%s", folder, name);
	text = read_file(from);
	for (const char *next = text; (next = strstr(next, at)); next++)
		place = next;
	assert_non_null(place);
	file = fopen(to, "w");
	fprintf(file, "%.*s%s%s", (int)(place - text), text, extra, place);
	fclose(file);
}

/* The same cause for the emitter at the other end; and a trace that cannot be read, or was not saved. */
static void for_the_peer(void **state)
{
	static struct freeze_causes causes;
	const struct packet_cause *c = &causes.slot[0].cause;
	struct trace_record breach = { .seq = SEQ, .ssid = 0x1f3a };
	struct util_capture capture;

	(void)state;
	util_capture_begin(&capture);
	explain_for_peer(&causes, &breach, TRACES "/planted");
	breach.seq++;
	explain_for_peer(&causes, &breach, TRACES);
	explain_for_peer(&causes, &breach, NULL);
	util_capture_end(&capture, said, sizeof(said));
	assert_string_equal(said, "");
	assert_int_equal(causes.written, 3);
	assert_int_equal(causes.slot[0].ssid, 0x1f3a);
	assert_int_equal(c->seq, SEQ);
	assert_int_equal(c->state, PACKET_CAUSE_KNOWN);
	assert_int_equal(c->class, OWNER_THREAD);
	assert_string_equal(c->name, "planted");
	assert_string_equal(freeze_stages[c->stage].text, "Kernel-to-app");
	assert_true(c->ns > 7 * NS_PER_MS && c->ns < c->stage_ns && c->stage_ns < LATENCY_NS);
	assert_in_range(c->percent, 95, 100);
	assert_int_equal(causes.slot[1].cause.state, PACKET_CAUSE_NOT_EXPLAINED);
	assert_int_equal(causes.slot[1].cause.seq, SEQ + 1);
	assert_int_equal(causes.slot[2].cause.state, PACKET_CAUSE_NO_TRACE);
}

/* With --stages full breach.json has times of the kernel, which the marker lacks. */
static void all_times_of_the_kernel_have_names(void **state)
{
	char folder[] = "/tmp/test_explain_run.d.XXXXXX", command[64];
	char *json;

	(void)state;
	assert_non_null(mkdtemp(folder));
	copy_planted(folder, "all.txt", "\n", "");
	copy_planted(folder, "breach.json", "\"T3_KERNEL\"", "\"T3_SCHED\":1795839338869099000,\"T3_TXSW\":1795839338869101000,");
	json = explained_json(folder, 0);
	assert_non_null(json);
	assert_non_null(strstr(json, "{\"name\":\"T3_SCHED\",\"own_ns\":1795839338869099000,"));
	assert_non_null(strstr(json, "{\"name\":\"T3_TXSW\",\"own_ns\":1795839338869101000,"));
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void evidence_is_not_overwritten(void **state)
{
	struct util_capture capture;

	(void)state;
	options = (struct options){ .explain_path = TRACES "/planted", .json_path = TRACES "/planted/breach.json",
				    .quiet = true };
	util_capture_begin(&capture);
	assert_int_equal(explain_main(&options), -EINVAL);
	util_capture_end(&capture, said, sizeof(said));
	golden("%s", said);
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_trace), TEST(several_traces), TEST(last_trace_is_not_explained), TEST(many_traces),
		TEST(nothing_to_do), TEST(limits), TEST(counts_of_causes), TEST(explained_as_json),
		TEST(for_the_peer),
		TEST(all_times_of_the_kernel_have_names),
		TEST(evidence_is_not_overwritten),
	};

	return golden_run(tests);
}
