/* build: sources=report/headline.c,report/buckets.c,report/verdict_finding.c,report/log_file.c,report/log_mend.c,report/account.c,report/breach.c,report/clocks.c,report/clocks_there.c,report/echo.c,report/evidence.c,report/label.c,report/machine.c,host/place.c,report/part.c,report/statistics.c,report/variation.c,report/source_ports.c,histogram.c,tracefs.c,host/trace_*.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/activity*.c,host/clock*.c,host/nic*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The report as a whole: a run with one of everything, the last lines, and the configuration before it. */
#include "report/report.c"
#include "report/configuration.c"

#include "fake_report.h"

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static const char all_of_a_reflector[] =
	"Response p50 16.5 us, p99.9 16.5 us, max 16.5 us (#0) of 101 samples (too few for p99.9) in 10 s\n\n"
	"Response latency (330151 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
	"  T2_KERNEL (kernel rx): 1773883524.780127138\n  T3_KERNEL (kernel tx): 1773883524.780457289\n"
	"  T2_SW (app rx): 1773883524.780430176\n  T3_SW (app tx): 1773883524.780430768\n"
	"  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns" ARROW "\n"
	"  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns\n  App processing (T3_SW - T2_SW): 592 ns\n"
	"  Blame: Kernel-to-app 303.038 us, typical 7.900 us, 94 % of the excess\n\n"
	"Test is complete. Duration: 10.00 s\n\n--- Latency Statistics ---\n"
	"MIN: 16500 ns | MAX: 16500 ns | AVG: 16500 ns | Total Samples: 101\n\nHistogram Summary:\n"
	"  Samples   :  101\n  Minimum   :  16.50 us (#0)\n  Maximum   :  16.50 us (#0)\n"
	"  Average   :  16.50 us\n  Percentiles (us):\n    50th    :  16.500 (Median)\n"
	"    90th    :  16.500\n    95th    :  16.500\n    99th    :  16.500\n    99.9th  :  16.500\n"
	"    99.99th :  16.500\n    fewer than ten samples are above: 95th, 99th, 99.9th, 99.99th\n  Std dev   :  0.000 us\n  Buckets (us):\n"
	"        16.000 -       17.000 :          101 100.0000%\n"
	"       100.000 -   (overflow) :            0   0.0000%\n\n"
	"Stages (us):                               Samples Negative       50th       90th       95th       99th"
	"     99.9th    99.99th    Maximum\n"
	"  Response        T3_KERNEL - T2_KERNEL        101        0     16.500     16.500     16.500*    16.500*"
	"    16.500*    16.500*    16.500\n"
	"  Kernel-to-app   T2_SW - T2_KERNEL            101        0      7.900      7.900      7.900*     7.900*"
	"     7.900*     7.900*     7.900\n"
	"  App-to-kernel   T3_KERNEL - T3_SW            101        0      8.000      8.000      8.000*     8.000*"
	"     8.000*     8.000*     8.000\n"
	"  App processing  T3_SW - T2_SW                101        0      0.600      0.600      0.600*     0.600*"
	"     0.600*     0.600*     0.600\n"
	"  * fewer than ten samples are above it\n\n"
	"Delays (us):      Samples        Min       Mean     Median       99th        Max    Stddev\n"
	"  Response            101     16.500     16.500     16.500     16.500*    16.500     0.000\n"
	"  * fewer than ten samples are above it\n\n"
	"Latency: RESPONSE = T3_KERNEL - T2_KERNEL (CLOCK_REALTIME, read by the kernel)\n\nPackets:\n"
	"  Sent      :  101\n  Received  :  102\n  Warm-up   :  103  (answered, left out of the statistics)\n"
	"  Recorded  :  104\n  Unstamped :  105  (answered, but a stamp is missing: not recorded)\n"
	"  Negative  :  106  (the clock went back: not recorded)\n"
	"  Stepped   :  107  (a clock was set in between: not recorded)\n"
	"  Duplicate :  108  (requests that came again, answered)\n"
	"  Reordered :  109  (came after a later one)\n"
	"  Foreign   :  110  (not answered: a reply, or from a reflector's port)\n  Malformed :  111\n"
	"  Unverified:  112  (the HMAC is wrong or missing: not used)\n"
	"  Disallowed:  113  (not answered: from no prefix of --allow)\n"
	"  Too short :  114  (not answered: less than 44 octets, without --allow-short)\n"
	"  No session:  115  (not answered: the table was full of senders that are active)\n"
	"  Replayed  :  116  (not answered: authenticated requests that are old or came again)\n"
	"  Over rate :  117  (not answered: beyond --rate-limit)\n"
	"  Bad TLVs  :  118  (answered, marked as malformed)\n"
	"  Unanswered:  119  (the kernel did not take the reply)\n"
	"  Woken     :  123  (of the answered: after a second without a packet, when rant slept; see --spin)\n"
	"  Refused   :  120  (by the kernel: sends, and errors it reported)\n"
	"  Sessions  :  121\n"
	"  Evicted   :  122  (idle sessions forgotten for newer ones)\n"
	"  Breaches  :  1  (samples above the threshold)\n  all others 0\n\nMissing stamps: none\n\nRate: 10 responses/s\n";

/* All that a reflector writes. Options about the other host, which an emitter has, change nothing in it. */
static void the_report_of_a_reflector(void **state)
{
	struct account *a = &exchange.account;
	counter *const counters[] = { &a->sent, &a->received, &a->warmup, &a->recorded, &a->unstamped, &a->negative, &a->stepped,
				      &a->repeated, &a->reordered, &a->foreign, &a->malformed, &a->unverified, &a->disallowed,
				      &a->too_short, &a->no_session, &a->replayed, &a->over_rate, &a->malformed_tlv,
				      &a->unanswered, &a->refused, &sessions.opened, &sessions.evicted, &a->woken };

	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	options.plain = false; /* nothing that a reflector is asked */
	for (size_t i = 0; i < COUNT_OF(counters); i++)
		counter_add(counters[i], 101 + i);
	exchange.started = true;
	exchange.last_ns = exchange.ended_ns = 10 * NS_PER_S;
	breach_at(7, 303038, 592, 26521);
	written(0);
	assert_text(text, strlen(text), all_of_a_reflector);
}

/* Scripts look rows up by their names: no two have the same, whatever of the report is there. */
static void no_two_rows_have_one_name(void **state)
{
	char names[128][64];
	int n = 0;

	(void)state;
	options.verbose = true;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	exchange.directions = (struct directions){ .told = true, .lost_unknown = 1, .duplicate_forward = 1,
						   .duplicate_backward = 1, .reordered_forward = 1, .reordered_backward = 1,
						   .restarts = 1 };
	counter_add(&exchange.account.answered, 1);
	counter_add(&exchange.account.follow_up_late, 1);
	counter_add(&exchange.account.unjudged, 1);
	counter_add(&exchange.account.breaches, 1);
	exchange.breach = exchange.worst = joined_sample(7, 1, 1, 1, 1);
	written(0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *end = strstr(line, ":  ");

		if (line[0] != ' ' || line[1] != ' ' || line[2] == ' ' || !end || end - line >= 64)
			continue;
		while (end[-1] == ' ')
			end--;
		assert_true(n < 128);
		snprintf(names[n], sizeof(names[n]), "%.*s", (int)(end - line - 2), line + 2);
		for (int i = 0; i < n; i++)
			if (!strcmp(names[i], names[n]))
				fail_msg("there are two rows '%s'", names[i]);
		n++;
	}
	/* Histogram 5, packets 24, directions 8, stamps of the reflector 9, missing stamps 7. */
	assert_int_equal(n, 53);
}

static void what_no_other_cpu_means(void **state)
{
	(void)state;
	assert_no(written(0), "Nothing was done beside the measurement");
	report.no_other_cpu = true;
	assert_line(written(0), "Nothing was done beside the measurement (progress, commands, comparing the clocks, the report so far): "
		    "no CPU but the measuring one may be used.");
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static struct verdict verdict;

static void give_verdict(enum verdict_level level, unsigned reasons)
{
	verdict = (struct verdict){
		.level = level, .reasons = reasons, .unjudgeds = 1,
		.reason = { { level, "stamps are missing", "they may have been slow", "3 of 9" },
			    { VERDICT_DOUBTFUL, "page faults during the run", "each stops the thread", "2" } },
		.unjudged = { { VERDICT_DOUBTFUL, "the CPU's frequency changed", "no", "" } },
	};
	report.verdict = &verdict;
}

/* Its first lines, up to a blank one, below the one on top. */
static void assert_top(const char *all, const char *lines)
{
	const char *second = strchr(all, '\n') + 1;

	assert_text(second, (size_t)(below_the_top(all) - 1 - second), lines);
}

static void the_verdict_is_on_top(void **state)
{
	(void)state;
	report.no_other_cpu = true;
	give_verdict(VERDICT_TRUSTED, 0);
	assert_top(written(0), "Measurement: trusted\n");
	assert_int_equal(strncmp(text, "RTT not known: no samples in 0 s, 0 lost: trusted\n", 50), 0);
	give_verdict(VERDICT_DOUBTFUL, 1);
	strcpy(verdict.reason[0].more, " for 1.104 s");
	assert_top(written(0), "Measurement: doubtful: stamps are missing for 1.104 s (3 of 9)\n");
	*verdict.reason[0].more = '\0';
	assert_top(written(0), "Measurement: doubtful: stamps are missing (3 of 9)\n");
	give_verdict(VERDICT_VOID, 2);
	assert_top(written(0), "Measurement: void: stamps are missing (3 of 9); page faults during the run (2)\n");
	assert_int_equal(times_in(text, "Measurement: "), 1);
	/* Before what made it so, too. */
	options.threshold_ns = 100000;
	histogram_add(&histogram, 200000, 7);
	breach_at(7, 1, 200000, 1);
	written(0);
	assert_int_equal(strncmp(below_the_top(text), "Round-trip latency (200000 ns) exceeds", 38), 0);
	report.verdict = NULL;
	assert_no(written(0), "Measurement");
}

static void why_a_reason_matters(void **state)
{
	(void)state;
	options.verbose = true;
	give_verdict(VERDICT_DOUBTFUL, 2);
	assert_top(written(0), "Measurement: doubtful: stamps are missing (3 of 9); page faults during the run (2)\n"
		   "Why it matters: stamps are missing: they may have been slow\n"
		   "Why it matters: page faults during the run: each stops the thread\n"
		   "Not judged, cannot be read: the CPU's frequency changed\n");
}

static void tracing_is_a_note(void **state)
{
	(void)state;
	give_verdict(VERDICT_TRUSTED, 0);
	report.tracing = "/t/instances/rant";
	assert_top(written(0), "Measurement: trusted\nNote: tracing is on (/t/instances/rant): it moves what is measured\n");
}

/* ---- The configuration ------------------------------------------------------------------------------------------- */

static const char *configured(void)
{
	static const struct transport udp = { .name = "UDP" };
	const struct memory some = { .bytes = 3 << 20 };
	const struct nic nic = { .name = "veth0", .driver = "veth" };
	size_t bytes;

	channel.transport = &udp;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	report_configuration(out, &report, &nic, &some, &some);
	fclose(out);
	return text;
}

static void the_trace_in_the_configuration(void **state)
{
	(void)state;
	const char *all = configured();

	assert_no(all, "Trace marker");
	assert_no(all, "Snapshot");
	traced();
	all = configured();
	assert_line(all, "Trace marker enabled: " INSTANCE ", clock mono_raw");
	assert_no(all, "Snapshot");
	trace.snapshot = true;
	trace.spare_bytes = 5 << 19;
	assert_line(configured(), "Snapshot enabled: its buffer takes 2.5 MB");
}

static void the_log_in_the_configuration(void **state)
{
	(void)state;
	write_log(0);
	log_place(&transactions, NULL, 500000, false, false);
	assert_line(configured(), "Log buffer of 500000 records (10.0 s at 50000 packets/s), written beside the run");
	writer.beside = false;
	assert_line(configured(), "Log buffer of 500000 records (10.0 s at 50000 packets/s), written at its end");
	log_place(&transactions, NULL, 500000, true, false);
	assert_line(configured(), "Circular log buffer of 500000 records (10.0 s at 50000 packets/s), written at its end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_a_reflector),
		TEST(no_two_rows_have_one_name),
		TEST(what_no_other_cpu_means),
		TEST(the_verdict_is_on_top),
		TEST(why_a_reason_matters),
		TEST(tracing_is_a_note),
		TEST(the_trace_in_the_configuration),
		TEST(the_log_in_the_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
