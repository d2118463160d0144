// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=options.c,options/[a-qs-z]*.c libs= */
/* The command line: accepted and refused arguments, messages, help. */
#include "options/rules.c"

#include "golden.h"
#include "options_bench.h"

#include <arpa/inet.h>

/* ---- Bad command lines ------------------------------------------------------------------------------------------- */

/* Prints the command line and the caught messages, without control characters. */
static void show_said(const char *const *args)
{
	golden("rant");
	for (int i = 0; i < ARGS && args[i]; i++) {
		golden(*args[i] ? " " : " ''");
		for (const char *c = args[i]; *c; c++)
			golden("%c", (unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
	}
	golden("\n  %s", said);
}

#define BADS (sizeof(bad) / sizeof(bad[0]))

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < BADS; i++) {
		assert_refused(bad[i], NULL, 0);
		show_said(bad[i]);
	}
}

static void test_each_rule_is_seen_broken(void **state)
{
	bool seen[sizeof(rules) / sizeof(rules[0])] = { false };
	struct options o;

	(void)state;
	for (size_t i = 0; i < BADS; i++) {
		parse(&o, bad[i]);
		for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
			struct phrase name = { "" };

			phrase_add(&name, "rant: --%s ", rules[r].first);
			seen[r] |= !strncmp(said, name.text, strlen(name.text)) && strstr(said, rules[r].why);
		}
	}
	for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++)
		assert_true(seen[r]);
}

static void test_long_values_keep_the_line_short(void **state)
{
	static char nines[5001], zeros[5001], option[5001] = "--", flag[5001] = "--pmc=";
	const struct {
		const char *args[ARGS], *says[WORDS];
	} cases[] = {
		{ { "-i", "eth0", "-d", nines }, { "--duration: '999", "...' is out of range: " } },
		{ { "-i", "eth0", "-d", option }, { "--duration: '--99", "...' is not a number: " } },
		{ { "-i", nines }, { "--interface: '999", "...' is too long, interface names have at most 15" } },
		{ { "-i", "eth0", "-a", nines }, { "--address: '999", "...' is not an IPv4 address" } },
		{ { "-i", "eth0", option }, { "--999", "...: unknown option" } },
		{ { "-i", "eth0", nines }, { "--address: '999", "...' is not an IPv4 address" } },
		{ { "-i", "eth0", flag }, { "--pmc: takes no argument, not even '999", "...'" } },
		{ { "-i", "eth0", "--log-last", zeros }, { "--log-last 000", "... without --log: " } },
	};

	(void)state;
	memset(nines, '9', sizeof(nines) - 1);
	memset(zeros, '0', sizeof(zeros) - 2);
	zeros[sizeof(zeros) - 2] = '5';
	memset(option + 2, '9', sizeof(option) - 3);
	memset(flag + 6, '9', sizeof(flag) - 7);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_refused(cases[i].args, cases[i].says, WORDS);
		assert_in_range(strlen(said), 10, 200);
	}
}

/* ---- Good command lines ------------------------------------------------------------------------------------------ */

struct change {
	enum { NOTHING, BOOL, INT, INT64, ROLE, STRING, ADDRESS_OF } type;
	size_t offset;
	int64_t number;
	const char *text;
};

#define CHANGES 7
#define YES(field) { BOOL, AT(bool, field), true, NULL }
#define NUM(field, value) { INT64, AT(int64_t, field), value, NULL }
#define TXT(field, value) { STRING, AT(const char *, field), 0, value }
#define EMITS_TO(name) TXT(server_name, name), { ROLE, offsetof(struct options, role), ROLE_EMIT, NULL }
#define OWN(address) { ADDRESS_OF, offsetof(struct options, own), 0, address }
#define EMITS(address) { ADDRESS_OF, offsetof(struct options, server), 0, address }, \
		       { ROLE, offsetof(struct options, role), ROLE_EMIT, NULL }

static const struct good {
	const char *args[ARGS];
	struct change changes[CHANGES]; /* relative to the defaults with interface eth0 */
} good[] = {
	{ { "-i", "eth0" }, { { 0 } } },
	{ { "--interface", "eth0" }, { { 0 } } },
	{ { "--interface=eth0" }, { { 0 } } },
	{ { "-ieth0" }, { { 0 } } },
	{ { "-i", "eth1", "-i", "eth0" }, { { 0 } } },
	{ { "-i", "e" }, { TXT(interface, "e") } },
	{ { "-i", "fifteencharacte" }, { TXT(interface, "fifteencharacte") } },
	{ { E, "--" }, { { 0 } } },
	{ { E, "-a", "10.1.2.3" }, { EMITS("10.1.2.3") } },
	{ { "--address", "127.0.0.1", E }, { EMITS("127.0.0.1") } },
	{ { "-a", "reflector", E, "-a", "10.1.2.3" }, { EMITS("10.1.2.3") } },
	{ { E, "-a", "fe80::1%eth0", "-a", "10.1.2.3" }, { EMITS("10.1.2.3") } },
	{ { E, "-a", "2001:db8::1" }, { EMITS("2001:db8::1") } },
	{ { E, "-a", "FE80::1%eth0" }, { EMITS("fe80::1") } },
	{ { E, "-a", "fe80::1" }, { EMITS("fe80::1") } },
	{ { E, "-a", "::1", "-6", "--bind", "fe80::2%eth0" }, { EMITS("::1"), YES(ipv6), OWN("fe80::2") } },
	{ { E, "-a", "10.1.2.3", "-a", "reflector.example" }, { EMITS_TO("reflector.example") } },
	{ { E, "-a", "3-com_7.de.", "-4" }, { EMITS_TO("3-com_7.de."), YES(ipv4) } },
	{ { E, "-4", "-a", "10.1.2.3" }, { EMITS("10.1.2.3"), YES(ipv4) } },
	{ { E, "-6" }, { YES(ipv6) } },
	{ { E, "--ipv4" }, { YES(ipv4) } },
	{ { E, "--ipv6" }, { YES(ipv6) } },
	{ { E, "--port", "319" }, { NUM(port, 319) } },
	{ { E, "--stamp", "hardware" }, { NUM(stamp, SOURCE_HARDWARE) } },
	{ { E, "--stages", "nic" }, { NUM(stages.detail, STAGES_NIC) } },
	{ { E, "--stages=kernel" }, { NUM(stages.detail, STAGES_KERNEL) } },
	{ { E, "-s", "--stages", "full" }, { YES(sw_timestamps), NUM(stages.detail, STAGES_FULL) } },
	{ { E, "-s", "--stages=full/64" }, { YES(sw_timestamps), NUM(stages.detail, STAGES_FULL), NUM(stages.every, 64) } },
	{ { E, "-s", "--stages=full/1000000" },
	  { YES(sw_timestamps), NUM(stages.detail, STAGES_FULL), NUM(stages.every, 1000000) } },
	{ { E, "--stamp", "kernel" }, { NUM(stamp, SOURCE_KERNEL) } },
	{ { E, "--stamp=user" }, { NUM(stamp, SOURCE_USER) } },
	{ { E, "--stamp", "receive" }, { NUM(stamp, SOURCE_RECEIVE) } },
	{ { E, "--stamp", "receive-any" }, { NUM(stamp, SOURCE_RECEIVE), YES(any_bound) } },
	{ { E, "--stamp", "user", "--stamp", "kernel" }, { NUM(stamp, SOURCE_KERNEL) } },
	{ { E, "-R" }, { NUM(stamp, SOURCE_USER), YES(no_hw_stamps) } },
	{ { E, "--provider", "any", "-R" }, { NUM(stamp, SOURCE_USER), YES(no_hw_stamps) } },
	{ { E, "--provider", "phy" }, { NUM(provider, PROVIDER_PHY) } },
	{ { E, "--rx-filter", "ntp-all" }, { TXT(rx_filter, "ntp-all") } },
	{ { E, "--provider=mac", "--stamp", "best" }, { NUM(provider, PROVIDER_MAC), NUM(stamp, STAMP_BEST) } },
	{ { E, "--no-hw-ts" }, { NUM(stamp, SOURCE_USER), YES(no_hw_stamps) } },
	{ { E, "-R", "--stamp", "user" }, { NUM(stamp, SOURCE_USER), YES(no_hw_stamps) } },
	{ { E, "-N" }, { YES(no_tx_stamps) } },
	{ { E, "--no-tx-ts" }, { YES(no_tx_stamps) } },
	{ { E, "-R", "-N" }, { NUM(stamp, SOURCE_USER), YES(no_hw_stamps), YES(no_tx_stamps) } },
	{ { E, "-s" }, { YES(sw_timestamps) } },
	{ { E, "--sw-timestamps" }, { YES(sw_timestamps) } },
	{ { E, "-d", "600" }, { NUM(duration_ns, 600000000000) } },
	{ { E, "-d600" }, { NUM(duration_ns, 600000000000) } },
	{ { E, "--duration", "1.5" }, { NUM(duration_ns, 1500000000) } },
	{ { E, "--dur=.25" }, { NUM(duration_ns, 250000000) } },
	{ { E, "-d", "5", "-d", "6" }, { NUM(duration_ns, 6000000000) } },
	{ { E, "-d", "10m" }, { NUM(duration_ns, 600000000000) } },
	{ { E, "-d", "1.5h" }, { NUM(duration_ns, 5400000000000) } },
	{ { E, "-d", "3650d" }, { NUM(duration_ns, 315360000000000000) } },
	{ { E, "-d", "1500000us" }, { NUM(duration_ns, 1500000000) } },
	{ { E, "-d", "1.000000001s" }, { NUM(duration_ns, 1000000001) } },
	{ { E, "--timeout", "50ms" }, { NUM(timeout_ns, 50000000) } },
	{ { E, "--timeout", "1000ns" }, { NUM(timeout_ns, 1000) } },
	{ { E, "--timeout=.000000050m" }, { NUM(timeout_ns, 3000) } },
	{ { E, "-t", "30us" }, { NUM(threshold_ns, 30000) } },
	{ { E, "-t1ns" }, { NUM(threshold_ns, 1) } },
	{ { E, "-o1ms", "-b", "10us" }, { NUM(overflow_ns, 1000000), NUM(bucket_ns, 10000) } },
	{ { E, "-l", "f", "--log-last", "1m", "-L2ms" },
	  { TXT(log_path, "f"), NUM(log_last_ns, 60000000000), NUM(log_threshold_ns, 2000000) } },
	{ { E, "--once", "--once-silence", "1d" }, { YES(once), NUM(once_silence_ns, 86400000000000) } },
	{ { E, "--trace-interval", "0.1s" }, { NUM(trace_interval_ns, 100000000) } },
	{ { E, "-p", "0.5ms" }, { NUM(busy_poll_us, 500) } },
	{ { E, "-p", "1s" }, { NUM(busy_poll_us, 1000000) } },
	{ { E, "-p", "2000ns" }, { NUM(busy_poll_us, 2) } },
	{ { E, "--count", "7" }, { NUM(count, 7) } },
	{ { E, "-c", "8" }, { NUM(count, 8) } },
	/* The form "rant HOST". */
	{ { "10.1.2.3" }, { EMITS("10.1.2.3"), YES(host_given), NUM(stamp, STAMP_BEST), TXT(interface, NULL) } },
	{ { "reflector", E }, { EMITS_TO("reflector"), YES(host_given), NUM(stamp, STAMP_BEST) } },
	{ { "-c", "5", "m", "--stamp", "hardware" },
	  { EMITS_TO("m"), YES(host_given), NUM(count, 5), TXT(interface, NULL) } },
	{ { "fe80::1%eth0", "-R" },
	  { EMITS("fe80::1"), YES(host_given), YES(no_hw_stamps), NUM(stamp, SOURCE_USER) } },
	{ { "--", "10.1.2.3", }, { EMITS("10.1.2.3"), YES(host_given), NUM(stamp, STAMP_BEST), TXT(interface, NULL) } },
	{ { E, "--stamp", "best" }, { NUM(stamp, STAMP_BEST) } },
	{ { E, "-a", "10.1.2.3" }, { EMITS("10.1.2.3") } },
	{ { "--check" }, { YES(check), NUM(stamp, STAMP_BEST), TXT(interface, NULL) } },
	{ { "--check", "--stamp", "kernel" }, { YES(check), NUM(stamp, SOURCE_KERNEL), TXT(interface, NULL) } },
	{ { E, "--once" }, { YES(once) } },
	{ { E, "--once", "--once-silence", "0.1" }, { YES(once), NUM(once_silence_ns, 100000000) } },
	{ { E, "-w", "100000" }, { NUM(warmup, 100000) } },
	{ { E, "--warmup", "0" }, { NUM(warmup, 0) } },
	{ { E, "--warmup", "00000000000000000000000000012" }, { NUM(warmup, 12) } },
	{ { E, "--timeout", "0.25" }, { NUM(timeout_ns, 250000) } },
	{ { E, "-t", "100" }, { NUM(threshold_ns, 100000) } },
	{ { E, "--threshold", "0.007" }, { NUM(threshold_ns, 7) } },
	/* 0.1, 1.001 and the like have no exact double. */
	{ { E, "-t", "0.1" }, { NUM(threshold_ns, 100) } },
	{ { E, "-t", "1.001" }, { NUM(threshold_ns, 1001) } },
	{ { E, "-t", "999999.999" }, { NUM(threshold_ns, 999999999) } },
	{ { E, "-C", "-t", "2" }, { NUM(threshold_ns, 2000), YES(keep_going) } },
	{ { E, "-t", "2", "--continue" }, { NUM(threshold_ns, 2000), YES(keep_going) } },
	{ { E, "-t", "2", "--on-breach", "continue" },
	  { NUM(threshold_ns, 2000), YES(keep_going), YES(on_breach.keep_going) } },
	{ { E, "-t", "2", "--on-breach", "stop" }, { NUM(threshold_ns, 2000), YES(on_breach.stop) } },
	{ { E, "-t", "2", "--on-breach", "exec:a b", "--on-breach=exec:exec:", "--on-breach", "stop" },
	  { NUM(threshold_ns, 2000), YES(on_breach.stop),
	    { INT, offsetof(struct options, on_breach.commands), 2, NULL },
	    TXT(on_breach.command[0], "a b"), TXT(on_breach.command[1], "exec:") } },
	{ { E, "--no-step-check" }, { YES(no_step_check) } },
	{ { E, "--user", "nobody" }, { TXT(user, "nobody") } },
	{ { E, "-M" }, { YES(pmc) } },
	{ { E, "--pmc" }, { YES(pmc) } },
	{ { E, "-T" }, { YES(trace_marker) } },
	{ { E, "--trace-marker" }, { YES(trace_marker) } },
	{ { E, "-t", "2", "-S" }, { NUM(threshold_ns, 2000), YES(snapshot), YES(trace_marker) } },
	{ { E, "-t", "2", "--snapshot" }, { NUM(threshold_ns, 2000), YES(snapshot), YES(trace_marker) } },
	{ { E, "-T", "--save-trace", "d" }, { YES(trace_marker), TXT(save_trace_path, "d") } },
	{ { E, "--trace-interval", "0.1" }, { NUM(trace_interval_ns, 100000000) } },
	{ { E, "--summary-every", "1h" }, { NUM(summary_ns, 3600000000000) } },
	{ { E, "--summary-every", "1" }, { NUM(summary_ns, 1000000000) } },
	{ { E, "-T", "--trace-events", "packet" },
	  { YES(trace_marker), YES(trace_events_given), NUM(trace_events, TRACE_EVENTS_PACKET) } },
	{ { E, "-ST", "-t1", "--trace-events=light" },
	  { YES(trace_marker), YES(snapshot), YES(trace_events_given), NUM(threshold_ns, 1000) } },
	{ { E, "-T", "-Ct2", "--trace-rearm", "--save-trace=d" },
	  { YES(trace_marker), YES(keep_going), NUM(threshold_ns, 2000), YES(trace_rearm),
	    TXT(save_trace_path, "d") } },
	{ { A, "-t", "2", "--freeze-peer" }, { EMITS("10.0.0.1"), NUM(threshold_ns, 2000), YES(freeze_peer) } },
	{ { E, "--allow-freeze" }, { YES(allow_freeze) } },
	{ { E, "-S", "--allow-freeze" }, { YES(allow_freeze), YES(trace_marker), YES(snapshot) } },
	{ { E, "-T", "--trace-rearm", "--save-trace=d", "--allow-freeze" },
	  { YES(trace_marker), YES(trace_rearm), TXT(save_trace_path, "d"), YES(allow_freeze) } },
	{ { E, "-H" }, { YES(histogram) } },
	{ { E, "--histogram" }, { YES(histogram) } },
	{ { E, "-o", "1" }, { NUM(overflow_ns, 1000) } },
	{ { E, "--overflow", "1000.5" }, { NUM(overflow_ns, 1000500) } },
	{ { E, "-b", "100" }, { NUM(bucket_ns, 100000) } },
	{ { E, "--bucket-size", "0.001" }, { NUM(bucket_ns, 1) } },
	{ { E, "-b", "500", "-o", "500" }, { NUM(bucket_ns, 500000), NUM(overflow_ns, 500000) } },
	{ { E, "-l", "a file" }, { TXT(log_path, "a file") } },
	{ { E, "--log", "/dev/null" }, { TXT(log_path, "/dev/null") } },
	{ { E, "-L", "3", "-l", "f" }, { TXT(log_path, "f"), NUM(log_threshold_ns, 3000) } },
	{ { E, "--log-threshold=3", "--log=f" }, { TXT(log_path, "f"), NUM(log_threshold_ns, 3000) } },
	{ { E, "-l", "-" }, { TXT(log_path, "-") } },
	{ { E, "--json", "f" }, { TXT(json_path, "f") } },
	{ { E, "--json=-" }, { TXT(json_path, "-") } },
	{ { E, "--hgrm", "f", "--prometheus", "g" }, { TXT(hgrm_path, "f"), TXT(prometheus_path, "g") } },
	{ { E, "--hlog", "f" }, { TXT(hlog_path, "f") } },
	{ { E, "--jsonl", "f", "--json", "g" }, { TXT(jsonl_path, "f"), TXT(json_path, "g") } },
	{ { E, "-l", "f", "--log-format", "text" }, { TXT(log_path, "f"), NUM(log_format, LOG_TEXT) } },
	{ { E, "-l", "f", "--log-format", "npy" }, { TXT(log_path, "f"), NUM(log_format, LOG_NPY) } },
	{ { E, "-l", "f", "--log-format=csv" }, { TXT(log_path, "f"), NUM(log_format, LOG_CSV) } },
	{ { E, "-l", "f", "--log-last", "0.1" }, { TXT(log_path, "f"), NUM(log_last_ns, 100000000) } },
	{ { E, "-l", "f", "--log-last", "86400" }, { TXT(log_path, "f"), NUM(log_last_ns, 86400000000000) } },
	{ { E, "-l", "f", "--log-rotate", "262144,1" },
	  { TXT(log_path, "f"), NUM(log_rotate.bytes, 262144), NUM(log_rotate.files, 1) } },
	{ { E, "-l", "f", "--log-rotate=256k,10000" },
	  { TXT(log_path, "f"), NUM(log_rotate.bytes, 262144), NUM(log_rotate.files, 10000) } },
	{ { E, "-l", "f", "--log-rotate", "100M,10" },
	  { TXT(log_path, "f"), NUM(log_rotate.bytes, 104857600), NUM(log_rotate.files, 10) } },
	{ { E, "-l", "f", "--log-rotate", "3G,2" },
	  { TXT(log_path, "f"), NUM(log_rotate.bytes, 3221225472), NUM(log_rotate.files, 2) } },
	{ { E, "-l", "f", "--log-rotate", "8589934591G,2" },
	  { TXT(log_path, "f"), NUM(log_rotate.bytes, 8589934591LL << 30), NUM(log_rotate.files, 2) } },
	{ { E, "-l", "f", "--log-rotate", "3G,2", "--log-rotate", "1M,7" },
	  { TXT(log_path, "f"), NUM(log_rotate.bytes, 1048576), NUM(log_rotate.files, 7) } },
	{ { E, "-q" }, { YES(quiet) } },
	{ { E, "--every", "1s" }, { NUM(every_ns, 1000000000) } },
	{ { E, "--details" }, { YES(details) } },
	{ { E, "--color", "never" }, { NUM(color, COLOR_NEVER) } },
	{ { E, "--color=always" }, { NUM(color, COLOR_ALWAYS) } },
	{ { E, "--quiet" }, { YES(quiet) } },
	{ { E, "-v" }, { YES(verbose) } },
	{ { E, "--verbose" }, { YES(verbose) } },
	{ { E, "-v", "-v" }, { YES(verbose) } },
	{ { E, "--check" }, { YES(check) } },
	{ { E, "--prove" }, { YES(prove) } },
	{ { E, "--prove", "--json", "-", "-q", "--rx-filter", "all" },
	  { YES(prove), TXT(json_path, "-"), YES(quiet), TXT(rx_filter, "all") } },
	{ { "10.0.0.1", "--prove" },
	  { EMITS("10.0.0.1"), TXT(interface, NULL), YES(host_given), YES(prove), NUM(stamp, SOURCE_HARDWARE) } },
	{ { E, "--no-cpu-dma-latency" }, { YES(no_cpu_dma_latency) } },
	{ { E, "--strict" }, { YES(strict) } },
	{ { A, "--until-known", "p99.9:5%" },
	  { EMITS("10.0.0.1"), NUM(until_known.numerator, 99900000), NUM(until_known.denominator, 100000000),
	    NUM(until_known.width_ppb, 50000000), TXT(until_known.text, "p99.9:5%") } },
	{ { A, "--until-known=p50:0.125%" },
	  { EMITS("10.0.0.1"), NUM(until_known.numerator, 50000000), NUM(until_known.denominator, 100000000),
	    NUM(until_known.width_ppb, 1250000), TXT(until_known.text, "p50:0.125%") } },
	{ { A, "--give-up", "0.1" }, { EMITS("10.0.0.1"), NUM(give_up_ns, 100000000) } },
	{ { A, "--give-up=1m", "--timeout", "60000" },
	  { EMITS("10.0.0.1"), NUM(give_up_ns, 60000000000), NUM(timeout_ns, 60000000000) } },
	{ { E, "--spin" }, { YES(spin) } },
	{ { E, "--cpu", "0" }, { NUM(cpu, 0) } },
	{ { E, "--cpu=3", "--fifo", "22" }, { NUM(cpu, 3), NUM(fifo, 22) } },
	{ { E, "-G" }, { YES(hugepages) } },
	{ { E, "--hugepages" }, { YES(hugepages) } },
	{ { E, "-p", "20" }, { NUM(busy_poll_us, 20) } },
	{ { E, "--busy-poll-us", "0" }, { NUM(busy_poll_us, 0) } },
	{ { E, "-B", "8" }, { NUM(busy_poll_budget, 8), NUM(busy_poll_us, 50), YES(busy_poll_implied) } },
	{ { E, "--budget", "8" }, { NUM(busy_poll_budget, 8), NUM(busy_poll_us, 50), YES(busy_poll_implied) } },
	{ { E, "-B", "8", "-p", "1" }, { NUM(busy_poll_budget, 8), NUM(busy_poll_us, 1) } },
	{ { E, "-P" }, { YES(prefer_busy_poll), NUM(busy_poll_us, 50), YES(busy_poll_implied) } },
	{ { E, "--prefer-busypoll" }, { YES(prefer_busy_poll), NUM(busy_poll_us, 50), YES(busy_poll_implied) } },
	{ { E, "-p", "50", "-P" }, { YES(prefer_busy_poll), NUM(busy_poll_us, 50) } },
	{ { E, "-sHd2" }, { YES(sw_timestamps), YES(histogram), NUM(duration_ns, 2000000000) } },

	{ { E, "--transport", "udp" }, { { 0 } } },
	{ { E, "--transport", "ptp" }, { NUM(transport, TRANSPORT_PTP), NUM(port, 319) } },
	{ { E, "--transport", "ptp", "--ptp-type", "sync" },
	  { NUM(transport, TRANSPORT_PTP), NUM(port, 319), NUM(ptp_type, PTP_TYPE_SYNC) } },
	{ { E, "--transport", "ptp", "--ptp-domain", "0" },
	  { NUM(transport, TRANSPORT_PTP), NUM(port, 319), NUM(ptp_domain, 0) } },
	{ { E, "--transport", "l2" }, { NUM(transport, TRANSPORT_L2), NUM(port, 0) } },
	{ { A, "--transport", "icmp" },
	  { EMITS("10.0.0.1"), NUM(transport, TRANSPORT_ICMP), NUM(port, 0), NUM(interval_ns, 10000000),
	    YES(interval_implied), NUM(window, 11) } },
	{ { A, "--transport", "icmp", "--interval", "1us", "--window", "4" },
	  { EMITS("10.0.0.1"), NUM(transport, TRANSPORT_ICMP), NUM(port, 0), NUM(interval_ns, 1000), NUM(window, 4) } },
	{ { E, "--transport", "icmp", "--check" },
	  { NUM(transport, TRANSPORT_ICMP), NUM(port, 0), NUM(interval_ns, 10000000), YES(interval_implied),
	    NUM(window, 11), YES(check) } },
	{ { A, "--size", "1472" }, { EMITS("10.0.0.1"), NUM(size_bytes, 1472) } },
	{ { A, "--plain" }, { EMITS("10.0.0.1"), YES(plain) } },
	{ { A, "--plain", "-t", "5", "--threshold-on", "rtt" },
	  { EMITS("10.0.0.1"), YES(plain), NUM(threshold_ns, 5000) } },
	{ { A, "--plain", "-l", "f" }, { EMITS("10.0.0.1"), YES(plain), TXT(log_path, "f") } },
	{ { A, "-t", "5", "--threshold-on=network" },
	  { EMITS("10.0.0.1"), NUM(threshold_ns, 5000), NUM(threshold_on, METRIC_NETWORK) } },
	{ { A, "-t", "5", "--threshold-on", "response" },
	  { EMITS("10.0.0.1"), NUM(threshold_ns, 5000), NUM(threshold_on, METRIC_RESPONSE) } },
	{ { A, "-l", "f", "--log-full" }, { EMITS("10.0.0.1"), TXT(log_path, "f"), YES(log_full) } },
	{ { A, "--synced", "0" }, { EMITS("10.0.0.1"), NUM(synced_ns, 0) } },
	{ { A, "--interval", "50" }, { EMITS("10.0.0.1"), NUM(interval_ns, 50000), NUM(window, 2001) } },
	{ { A, "--interval", "0.5s", "--pacing", "sleep" },
	  { EMITS("10.0.0.1"), NUM(interval_ns, 500000000), NUM(pacing, PACING_SLEEP) } },
	{ { A, "--interval", "10us", "--window", "7" },
	  { EMITS("10.0.0.1"), NUM(interval_ns, 10000), NUM(window, 7) } },
	{ { A, "--interval", "1us" }, { EMITS("10.0.0.1"), NUM(interval_ns, 1000), NUM(window, 65536) } },
	{ { A, "--interval", "1ms", "-M" }, { EMITS("10.0.0.1"), NUM(interval_ns, 1000000), YES(pmc) } },
	{ { A, "--source-ports", "256" }, { EMITS("10.0.0.1"), NUM(source_ports, 256) } },
	{ { A, "--source-ports", "1", "--pmc" }, { EMITS("10.0.0.1"), YES(pmc) } },
	{ { A, "--window", "64" }, { EMITS("10.0.0.1"), NUM(window, 64) } },
	{ { A, "--window", "2", "--stamp-every", "1000000" },
	  { EMITS("10.0.0.1"), NUM(window, 2), NUM(stamp_every, 1000000) } },
	{ { A, "--source-ports", "2", "--stamp-every", "3" },
	  { EMITS("10.0.0.1"), NUM(source_ports, 2), NUM(stamp_every, 3) } },
	{ { A, "--interval", "1us", "--stamp-every", "3" },
	  { EMITS("10.0.0.1"), NUM(interval_ns, 1000), NUM(window, 65536), NUM(stamp_every, 3) } },
	{ { A, "--stamp-every", "1" }, { EMITS("10.0.0.1") } },
	{ { A, "--window", "1", "--pmc" }, { EMITS("10.0.0.1"), YES(pmc) } },
	{ { A, "--interval", "10.000001ms", "--jitter", "5", "--seed", "7" },
	  { EMITS("10.0.0.1"), NUM(interval_ns, 10000001), NUM(window, 10), NUM(jitter_percent, 5), NUM(seed, 7) } },
	{ { A, "--interval=2.5us", "--poisson", "--seed", "0" },
	  { EMITS("10.0.0.1"), NUM(interval_ns, 2500), NUM(window, 65536), YES(poisson), NUM(seed, 0) } },
	{ { E, "--allow-short", "--rate-limit", "5", "--sessions", "7", "--allow", "10.0.0.1" },
	  { YES(allow_short), NUM(rate_limit, 5), NUM(sessions, 7) } },
	{ { E, "--key", "a key" }, { TXT(key_path, "a key") } },
	{ { E, "--dscp", "0" }, { NUM(dscp, 0) } },
	{ { E, "--dscp=46" }, { NUM(dscp, 46) } },
	{ { E, "--dscp", "EF" }, { NUM(dscp, 46) } },
	{ { E, "--dscp", "ef" }, { NUM(dscp, 46) } },
	{ { E, "--dscp", "0x2e" }, { NUM(dscp, 46) } },
	{ { E, "--dscp", "0X3F" }, { NUM(dscp, 63) } },
	{ { E, "--dscp", "0x0" }, { NUM(dscp, 0) } },
	{ { E, "--dscp", "63" }, { NUM(dscp, 63) } },
	{ { E, "--dscp", "CS0" }, { NUM(dscp, 0) } },
	{ { E, "--dscp", "cs5" }, { NUM(dscp, 40) } },
	{ { E, "--dscp", "CS7" }, { NUM(dscp, 56) } },
	{ { E, "--dscp", "AF41" }, { NUM(dscp, 34) } },
	{ { E, "--dscp", "AF11" }, { NUM(dscp, 10) } },
	{ { E, "--dscp", "AF43" }, { NUM(dscp, 38) } },
	{ { E, "--dscp", "VA" }, { NUM(dscp, 44) } },
	{ { E, "--dscp", "LE" }, { NUM(dscp, 1) } },
	{ { E, "--dscp", "DF" }, { NUM(dscp, 0) } },
	{ { E, "--bind", "10.9.8.7" }, { OWN("10.9.8.7") } },
	{ { A, "--bind=10.9.8.7" }, { EMITS("10.0.0.1"), OWN("10.9.8.7") } },
	{ { E, "--priority", "6" }, { NUM(priority, 6) } },
	{ { E, "--vlan-priority", "0" }, { NUM(vlan_priority, 0) } },
	{ { A, "--vlan-priority=7" }, { EMITS("10.0.0.1"), NUM(vlan_priority, 7) } },
	{ { E, "--ttl", "64" }, { NUM(ttl, 64) } },

	{ { "--report", "a" }, { TXT(interface, NULL), YES(report),
				 { INT, offsetof(struct options, files), 1, NULL } } },
	{ { "a", "--report", "-H", "b", "-q" },
	  { TXT(interface, NULL), YES(report), YES(histogram), YES(quiet),
	    { INT, offsetof(struct options, files), 2, NULL } } },
	{ { "--report", "a", "--jsonl", "f", "--hlog", "g" },
	  { TXT(interface, NULL), YES(report), TXT(jsonl_path, "f"), TXT(hlog_path, "g"),
	    { INT, offsetof(struct options, files), 1, NULL } } },
	{ { "--explain", "a", "-q" }, { TXT(interface, NULL), TXT(explain_path, "a"), YES(quiet) } },
	{ { "--explain", "a", "--json", "-" }, { TXT(interface, NULL), TXT(explain_path, "a"), TXT(json_path, "-") } },
	{ { "--compare", "a", "b" }, { TXT(interface, NULL), YES(compare),
				       { INT, offsetof(struct options, files), 2, NULL } } },
	{ { "--compare", "a", "b", "--tolerance", "5%,500ns" },
	  { TXT(interface, NULL), YES(compare), { INT, offsetof(struct options, files), 2, NULL },
	    NUM(tolerance.milli_percent, 5000), NUM(tolerance.ns, 500) } },
	{ { "--compare", "a", "b", "--tolerance=1.5us,0.125%" },
	  { TXT(interface, NULL), YES(compare), { INT, offsetof(struct options, files), 2, NULL },
	    NUM(tolerance.milli_percent, 125), NUM(tolerance.ns, 1500) } },
	{ { "--compare", "a", "b", "--anyway", "--strict" },
	  { TXT(interface, NULL), YES(compare), YES(anyway), YES(strict),
		  { INT, offsetof(struct options, files), 2, NULL } } },
	{ { "--compare", "a", "b", "--tolerance", "10%" },
	  { TXT(interface, NULL), YES(compare), { INT, offsetof(struct options, files), 2, NULL },
	    NUM(tolerance.milli_percent, 10000) } },

	/* Help and version: the rest of the command line is ignored, with its errors. */
	{ { "help" }, { YES(usage), TXT(interface, NULL) } },
	{ { "help", "all" }, { YES(help), YES(help_all), TXT(interface, NULL) } },
	{ { "--help", "all" }, { YES(help), YES(help_all), TXT(interface, NULL) } },
	{ { "all", "-x", "-h" }, { YES(help), YES(help_all), TXT(interface, NULL) } },
	{ { "-h" }, { YES(help), TXT(interface, NULL) } },
	{ { "--help" }, { YES(help), TXT(interface, NULL) } },
	{ { "-V" }, { YES(version), TXT(interface, NULL) } },
	{ { "--version" }, { YES(version), TXT(interface, NULL) } },
	{ { "-V", "-h" }, { YES(help), TXT(interface, NULL) } },
	{ { "-hV" }, { YES(help), TXT(interface, NULL) } },
	{ { "-d", "5x", "-h" }, { YES(help), TXT(interface, NULL) } },
	{ { "--bogus", "-x", "--t", "-q=", "--help" }, { YES(help), TXT(interface, NULL) } },
	{ { "more", "-T", "-V" }, { YES(version), TXT(interface, NULL) } },
	{ { "-h", "-d" }, { YES(help), TXT(interface, NULL) } },
	{ { "-C", "-V" }, { YES(version), TXT(interface, NULL) } },
};

#define GOODS (sizeof(good) / sizeof(good[0]))

static void apply(struct options *o, const struct change *c)
{
	char *field = (char *)o + c->offset;

	if (c->type == BOOL)
		*(bool *)field = c->number;
	if (c->type == INT)
		*(int *)field = (int)c->number;
	if (c->type == INT64)
		*(int64_t *)field = c->number;
	if (c->type == ROLE)
		*(enum role *)field = (enum role)c->number;
	if (c->type == STRING)
		*(const char **)field = c->text;
	if (c->type == ADDRESS_OF) {
		union address *a = (void *)field;

		a->any.sa_family = strchr(c->text, ':') ? AF_INET6 : AF_INET;
		assert_int_equal(inet_pton(a->any.sa_family, c->text,
					   strchr(c->text, ':') ? (void *)&a->in6.sin6_addr : &a->in.sin_addr), 1);
	}
}

static void set_wanted_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->interface = "eth0";
	o->port = 862;
	o->stamp = SOURCE_HARDWARE;
	o->stages = (struct stages_wish){ STAGES_KERNEL, 1, "kernel" };
	o->timeout_ns = 100000000;
	o->overflow_ns = 100000;
	o->bucket_ns = 1000;
	o->trace_interval_ns = 10000000000;
	o->once_silence_ns = 10000000000;
	o->cpu = o->dscp = o->priority = o->vlan_priority = o->synced_ns = o->seed = -1;
	o->ttl = 255;
	o->sessions = 1024;
	o->window = o->source_ports = o->stamp_every = 1;
	o->ptp_type = PTP_TYPE_DELAY_REQ;
	o->ptp_domain = 127;
	o->role = ROLE_REFLECT;
}

static bool same_string(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool used(const char *const *args, const char *word)
{
	for (int i = 0; i < ARGS && args[i]; i++)
		if (!strncmp(args[i], word, strlen(word)) && strchr("=", args[i][strlen(word)]))
			return true;
	return false;
}

/* Compares every field, to find an option that writes to the field of another option. */
static void assert_same(const char *const *args, const struct options *got, struct options *want)
{
	bool same = same_string(got->interface, want->interface) && same_string(got->log_path, want->log_path) &&
		    same_string(got->save_trace_path, want->save_trace_path) &&
		    same_string(got->key_path, want->key_path) && same_string(got->json_path, want->json_path) &&
		    same_string(got->jsonl_path, want->jsonl_path) &&
		    same_string(got->server_name, want->server_name) &&
		    same_string(got->hgrm_path, want->hgrm_path) && same_string(got->hlog_path, want->hlog_path) &&
		    same_string(got->prometheus_path, want->prometheus_path) &&
		    same_string(got->until_known.text, want->until_known.text);

	same = same && got->files == want->files && (got->files > 0) == (got->file != NULL);
	want->file = got->file; /* test_files checks it */
	for (int i = 0; i < BREACH_COMMANDS_MAX; i++) {
		same = same && same_string(got->on_breach.command[i], want->on_breach.command[i]);
		want->on_breach.command[i] = got->on_breach.command[i];
	}
	want->interface = got->interface;
	want->log_path = got->log_path;
	want->save_trace_path = got->save_trace_path;
	want->key_path = got->key_path;
	want->server_name = got->server_name;
	want->json_path = got->json_path;
	want->jsonl_path = got->jsonl_path;
	want->hgrm_path = got->hgrm_path;
	want->hlog_path = got->hlog_path;
	want->prometheus_path = got->prometheus_path;
	want->until_known.text = got->until_known.text;
	want->stages.text = got->stages.text;
	want->allow = used(args, "--allow") ? got->allow : want->allow; /* test_allow checks it */
	for (size_t i = 0; i < sizeof(*got) && same; i++) {
		same = ((const char *)got)[i] == ((const char *)want)[i];
		if (!same)
			print_message("byte %zu of struct options differs\n", i);
	}
	if (!same)
		print_args(args);
	assert_true(same);
}

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < GOODS; i++) {
		struct options got, want;
		int error;

		memset(&got, 0xa5, sizeof(got));
		error = parse(&got, good[i].args);
		if (error || *said)
			print_args(good[i].args);
		assert_int_equal(error, 0);
		assert_string_equal(said, "");
		set_wanted_defaults(&want);
		for (int c = 0; c < CHANGES; c++)
			apply(&want, &good[i].changes[c]);
		assert_same(good[i].args, &got, &want);
	}
}

/* Command lines with a warning; the run starts. */
static const struct ignored {
	const char *args[ARGS];
	struct change changes[CHANGES];
} ignored[] = {
	{ { E, "-C" }, { YES(keep_going) } },
	{ { E, "-S" }, { YES(trace_marker) } },
	{ { E, "-L", "5" }, { { 0 } } },
	{ { A, "-N" }, { EMITS("10.0.0.1") } },
	{ { "-N", "-a", "10.0.0.1", E }, { EMITS("10.0.0.1") } },
	{ { E, "-d", "0" }, { { 0 } } },
	{ { E, "-d", "0.000s" }, { { 0 } } },
	{ { E, "-F" }, { YES(fast_path) } },
	{ { E, "--fast-path", "-2" }, { YES(fast_path), YES(threaded) } },
	{ { A, "--interval", "1" }, { EMITS("10.0.0.1"), NUM(interval_ns, 1000), NUM(window, 65536) } },
	{ { A, "-l", "f", "-t1500000", "-L", "1500000" },
	  { EMITS("10.0.0.1"), TXT(log_path, "f"), NUM(threshold_ns, 1500000000),
	    NUM(log_threshold_ns, 1500000000) } },
	{ { A, "-NCd0", "--threaded" }, { EMITS("10.0.0.1"), YES(keep_going), YES(threaded) } },
};

#define IGNOREDS (sizeof(ignored) / sizeof(ignored[0]))

static void test_ignored(void **state)
{
	(void)state;
	for (size_t i = 0; i < IGNOREDS; i++) {
		struct options got, want;

		memset(&got, 0xa5, sizeof(got));
		assert_int_equal(parse(&got, ignored[i].args), 0);
		show_said(ignored[i].args);
		set_wanted_defaults(&want);
		for (int c = 0; c < CHANGES; c++)
			apply(&want, &ignored[i].changes[c]);
		assert_same(ignored[i].args, &got, &want);
	}
}

static void test_each_note_is_seen(void **state)
{
	struct options o;

	(void)state;
	for (size_t n = 0; n < sizeof(notes) / sizeof(notes[0]); n++) {
		bool seen = false;

		for (size_t i = 0; i < IGNOREDS; i++) {
			parse(&o, ignored[i].args);
			seen |= strstr(said, notes[n].why) != NULL;
		}
		assert_true(seen);
	}
}

/* getopt has its state in global variables; the first line stops within a cluster of letters. */
static void test_parses_again_after_an_error(void **state)
{
	const char *const broken[ARGS] = { "-i", "eth0", "-xd" };
	const char *const whole[ARGS] = { "-i", "eth0", "-H", "-d", "5" };
	struct options o;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(parse(&o, broken), -EINVAL);
		assert_int_equal(parse(&o, whole), 0);
		assert_string_equal(o.interface, "eth0");
		assert_true(o.histogram);
		assert_int_equal(o.duration_ns, 5000000000);
	}
}

static void test_files(void **state)
{
	char *argv[] = { (char *)"rant", (char *)"a", (char *)"--report", (char *)"-H", (char *)"b", NULL };
	struct options o;

	(void)state;
	assert_int_equal(options_parse(&o, 5, argv), 0);
	assert_int_equal(o.files, 2);
	assert_string_equal(o.file[0], "a");
	assert_string_equal(o.file[1], "b");
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static struct option_value value_of(const struct options *o, const char *name)
{
	struct option_value v;

	for (unsigned i = 0; options_value(o, i, &v); i++)
		if (!strcmp(v.name, name))
			return v;
	fail_msg("no option --%s", name);
	return v;
}

static void assert_number(const struct options *o, const char *name, int64_t number, const char *unit)
{
	const struct option_value v = value_of(o, name);

	assert_int_equal(v.kind, OPTION_NUMBER);
	assert_int_equal(v.number, number);
	assert_true(same_string(v.unit, unit));
}

static void assert_kind(const struct options *o, const char *name, int kind)
{
	assert_int_equal(value_of(o, name).kind, kind);
}

static void test_values(void **state)
{
	const char *const args[ARGS] = { "-i", "eth0", "-d", "5", "--interval", "1ms", "-a", "10.0.0.1", "--stamp",
					 "kernel", "-b", "2" };
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, args), 0);
	assert_number(&o, "duration", 5000000000, "ns");
	assert_number(&o, "interval", 1000000, "ns");
	assert_number(&o, "bucket-size", 2000, "ns");
	assert_number(&o, "port", 862, NULL);
	assert_number(&o, "busy-poll-us", 0, "us");
	assert_string_equal(value_of(&o, "stamp").text, "kernel");
	assert_string_equal(value_of(&o, "interface").text, "eth0");
	assert_kind(&o, "address", OPTION_ADDRESS);
	/* An option that is not given and has no default has no value, not even 0. */
	assert_kind(&o, "threshold", OPTION_NONE);
	assert_kind(&o, "count", OPTION_NONE);
	assert_kind(&o, "dscp", OPTION_NONE);
	assert_kind(&o, "log", OPTION_NONE);
	assert_kind(&o, "log-rotate", OPTION_NONE);
	assert_int_equal(value_of(&o, "histogram").kind, OPTION_FLAG);
	assert_int_equal(value_of(&o, "histogram").number, 0);
}

static void test_text_of_a_value(void **state)
{
	const char *const args[ARGS] = { "-i", "eth0", "-a", "10.0.0.1", "--provider", "phy" };
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, args), 0);
	assert_string_equal(options_text(&o, "provider"), "phy");
	o.transport = TRANSPORT_ICMP;
	assert_string_equal(options_text(&o, "transport"), "icmp");
	assert_null(options_text(&o, "log")); /* not given */
	assert_null(options_text(&o, "port"));
	assert_null(options_text(&o, "no such option"));
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static bool used_somewhere(const char *word)
{
	bool found = false;
	struct options o;

	for (size_t i = 0; i < GOODS; i++)
		found |= used(good[i].args, word);
	for (size_t i = 0; i < IGNOREDS; i++)
		found |= used(ignored[i].args, word);
	for (size_t i = 0; i < BADS; i++)
		if (used(bad[i], word)) {
			parse(&o, bad[i]);
			found |= strstr(said, "not available") != NULL;
		}
	return found;
}

/* Every option is in the tables above, by its long name and its letter. */
static void test_every_name_is_tested(void **state)
{
	(void)state;
	for (size_t i = 0; i < option_rows; i++) {
		struct phrase name = { "" }, letter = { "" };

		phrase_add(&name, "--%s", option_table[i].name);
		phrase_add(&letter, "-%c", option_table[i].letter);
		if (!used_somewhere(name.text) || (option_table[i].letter && !used_somewhere(letter.text)))
			fail_msg("no good command line uses %s %s", name.text, letter.text);
	}
}

static void test_names_are_unique(void **state)
{
	(void)state;
	for (size_t i = 0; i < option_rows; i++) {
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(option_table[i].name, option_table[j].name);
			assert_false(option_table[i].letter && option_table[i].letter == option_table[j].letter);
		}
	}
}

/* Usage (0), everyday help (1) or all of the help (2), which the caller frees. Fails at a line above `columns`. Returns
 * the number of lines. */
static size_t help_lines(char **text, int kind, size_t columns)
{
	size_t bytes, lines = 0;
	FILE *out = open_memstream(text, &bytes);

	assert_non_null(out);
	if (kind)
		options_help(out, kind == 2);
	else
		options_usage(out);
	fclose(out);
	golden("%s", *text);
	for (const char *line = *text; *line; line = strchr(line, '\n') + 1, lines++)
		if (strcspn(line, "\n") > columns)
			fail_msg("%zu columns: %.*s", strcspn(line, "\n"), (int)strcspn(line, "\n"), line);
	assert_null(strchr(*text, '\t'));
	return lines;
}

static void test_usage_has_ten_lines(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(help_lines(&text, 0, 80), 10);
	free(text);
}

static void test_everyday_help_is_short_and_narrow(void **state)
{
	char *text;

	(void)state;
	assert_in_range(help_lines(&text, 1, 80), 25, 32);
	free(text);
}

static void test_help_is_complete_and_narrow(void **state)
{
	char *text;

	(void)state;
	assert_true(help_lines(&text, 2, 100) > option_rows);
	for (size_t i = 0; i < option_rows; i++) {
		if (!strstr(text, option_table[i].help))
			fail_msg("no help for --%s", option_table[i].name);
		if (strlen(option_table[i].help) > 60)
			fail_msg("%zu characters for --%s", strlen(option_table[i].help), option_table[i].name);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_each_rule_is_seen_broken),
		cmocka_unit_test(test_long_values_keep_the_line_short),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_each_note_is_seen),
		cmocka_unit_test(test_parses_again_after_an_error),
		cmocka_unit_test(test_every_name_is_tested),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_text_of_a_value),
		cmocka_unit_test(test_usage_has_ten_lines),
		cmocka_unit_test(test_everyday_help_is_short_and_narrow),
		cmocka_unit_test(test_help_is_complete_and_narrow),
	};

	unsetenv("POSIXLY_CORRECT"); /* with it, getopt stops at the first argument that is not an option */
	return golden_run(tests);
}
