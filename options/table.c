// SPDX-License-Identifier: GPL-2.0-or-later
/* One row an option. What concerns two options is in options/rules.c. */
#include "options/table.h"

#include <sched.h>
#include <string.h>

#define FLAG(field) .kind = KIND_FLAG, .offset = AT(bool, field)
#define NUMBER(field) .kind = KIND_NUMBER, .offset = AT(int64_t, field)
#define CHOICE(field) .kind = KIND_CHOICE, .offset = AT(int64_t, field)
#define TEXT(text_kind, field) .kind = (text_kind), .offset = AT(const char *, field)
#define ACTION(field) .kind = KIND_ACTION, .offset = AT(struct breach_actions, field)
#define DSCP(field) .kind = KIND_DSCP, .offset = AT(int64_t, field)
#define PREFIX(field) .kind = KIND_PREFIX, .offset = AT(struct allow_list, field)
#define ROTATION(field) .kind = KIND_ROTATION, .offset = AT(struct log_rotation, field)
#define TOLERANCE(field) .kind = KIND_TOLERANCE, .offset = AT(struct tolerance, field)
#define ADDRESS(field) .kind = KIND_ADDRESS, .offset = AT(union address, field)
#define IN_US .unit = "us", .unit_size = NS_PER_US, .decimals = 3, .ns = 1
#define IN_MS .unit = "ms", .unit_size = NS_PER_MS, .decimals = 3, .ns = 1
#define IN_S .unit = "s", .unit_size = NS_PER_S, .decimals = 3, .ns = 1
#define IN_PACKETS .unit = "packets", .unit_size = 1
#define PACKETS_MAX 1000000000000LL
#define SIZE_MAX_BYTES (65535 - 20 - 8) /* UDP in IPv4 */
#define PTP_DOMAIN_MAX 127 /* IEEE 1588-2008 table 2: those above are reserved */

static const struct choice sources[] = {
	{ "hardware", SOURCE_HARDWARE },
	{ "kernel", SOURCE_KERNEL },
	{ "user", SOURCE_USER },
	{ 0 },
};

static const struct choice formats[] = {
	{ "text", LOG_TEXT },
	{ "npy", LOG_NPY },
	{ "csv", LOG_CSV },
	{ 0 },
};

static const struct choice figures[] = {
	{ "rtt", FIGURE_RTT },
	{ "network", FIGURE_NETWORK },
	{ "response", FIGURE_RESPONSE },
	{ 0 },
};

static const struct choice pacings[] = {
	{ "hybrid", PACING_HYBRID },
	{ "sleep", PACING_SLEEP },
	{ "spin", PACING_SPIN },
	{ 0 },
};

static const struct choice carriers[] = {
	{ "udp", TRANSPORT_UDP },
	{ "ptp", TRANSPORT_PTP },
	{ "l2", TRANSPORT_L2 },
	{ "icmp", TRANSPORT_ICMP },
	{ 0 },
};

static const struct choice ptp_types[] = {
	{ "delay-req", PTP_TYPE_DELAY_REQ },
	{ "sync", PTP_TYPE_SYNC },
	{ 0 },
};

const struct option_row option_table[] = {
	{ "What to measure", 'i', "interface", "IFACE", TEXT(KIND_INTERFACE, interface),
	  .help = "network interface to use; required" },
	{ NULL, 'a', "address", "IP", ADDRESS(server),
	  .help = "emit to the reflector at this IP (l2: MAC) address or name; else reflect" },
	{ NULL, 0, "bind", "IP", ADDRESS(own),
	  .help = "send from this address of the interface; a reflector answers only there" },
	{ NULL, '4', "ipv4", NULL, FLAG(ipv4), .help = "only IPv4: for a name, and of what a reflector answers" },
	{ NULL, '6', "ipv6", NULL, FLAG(ipv6), .help = "only IPv6, in the same way" },
	{ NULL, 0, "port", "PORT", NUMBER(port), .unit_size = 1, .min = 1, .max = 65535, .initial = STAMP_PORT,
	  .help = "UDP port of the reflector" },
	{ NULL, 0, "transport", "HOW", CHOICE(transport), .initial = TRANSPORT_UDP, .choice = carriers,
	  .help = "what carries the packets, at both ends alike" },
	{ NULL, 0, "ptp-type", "TYPE", CHOICE(ptp_type), .initial = PTP_TYPE_DELAY_REQ, .choice = ptp_types,
	  .help = "of the PTP messages around them" },
	{ NULL, 0, "ptp-domain", "N", NUMBER(ptp_domain), .unit_size = 1, .min = 0, .max = PTP_DOMAIN_MAX,
	  .initial = PTP_DOMAIN_MAX,
	  .help = "of these messages: one that nothing else on the link has" },
	{ NULL, 0, "stamp", "SOURCE", CHOICE(stamp), .initial = SOURCE_HARDWARE, .choice = sources,
	  .help = "what takes the time on the wire" },
	{ NULL, 'R', "no-hw-ts", NULL, FLAG(no_hw_stamps), .help = "same as --stamp user" },
	{ NULL, 'N', "no-tx-ts", NULL, FLAG(no_tx_stamps),
	  .help = "reflector: no transmit stamps; the setting of the NIC stays" },
	{ NULL, 's', "sw-timestamps", NULL, FLAG(sw_timestamps), .help = "collect the times of user space too" },

	{ NULL, 0, "synced", "NS", NUMBER(synced_ns), .unit = "ns", .unit_size = 1, .ns = 1, .min = 0, .max = NS_PER_S,
	  .initial = -1, .help = "emitter: the clocks of both NICs agree within this, e.g. by PTP" },

	{ "What to send", 0, "size", "N", NUMBER(size_bytes), .unit = "octets", .unit_size = 1, .min = STAMP_BASE_BYTES,
	  .max = SIZE_MAX_BYTES, .help = "emitter: octets of the packet in UDP; replies are as long" },
	{ NULL, 0, "plain", NULL, FLAG(plain), .help = "emitter: send 44 octets, and ask the reflector for no times" },
	{ NULL, 0, "key", "FILE", TEXT(KIND_FILE, key_path),
	  .help = "authenticate with the key in FILE, at both ends" },
	{ NULL, 0, "dscp", "N", DSCP(dscp), .unit_size = 1, .min = 0, .max = 63, .initial = -1,
	  .help = "code point in the IP header: 46, 0x2e, EF, AF41, CS5" },
	{ NULL, 0, "priority", "N", NUMBER(priority), .unit_size = 1, .min = 0, .max = 15, .initial = -1,
	  .help = "SO_PRIORITY of the socket, for the queues of this host" },
	{ NULL, 0, "vlan-priority", "N", NUMBER(vlan_priority), .unit_size = 1, .min = 0, .max = 7, .initial = -1,
	  .help = "priority in the VLAN's tag, by its egress map" },
	{ NULL, 0, "source-ports", "N", NUMBER(source_ports), .unit_size = 1, .min = 1, .max = SOURCE_PORTS_MAX,
	  .initial = 1,
	  .help = "emitter: from N ports in turn, e.g. to see each path of a fabric" },
	{ NULL, 0, "ttl", "N", NUMBER(ttl), .unit_size = 1, .min = 1, .max = 255, .initial = 255,
	  .help = "time to live, or hop limit, in the IP header" },

	{ "When to send", 0, "interval", "TIME", NUMBER(interval_ns), IN_US, .min = NS_PER_US, .max = 3600 * NS_PER_S,
	  .help = "emitter: probes by the clock, e.g. 50us, 10ms or 0.5s apart" },
	{ NULL, 0, "window", "N", NUMBER(window), .unit = "probes", .unit_size = 1, .min = 1, .max = WINDOW_MAX,
	  .initial = 1,
	  .help = "emitter: in flight at most; by the clock what --timeout needs" },
	{ NULL, 0, "stamp-every", "N", NUMBER(stamp_every), .unit = "probes", .unit_size = 1, .min = 1, .max = 1000000,
	  .initial = 1,
	  .help = "of a window: stamp and record only each Nth" },
	{ NULL, 0, "pacing", "HOW", CHOICE(pacing), .initial = PACING_HYBRID, .choice = pacings,
	  .help = "how it waits for that" },
	{ NULL, 0, "jitter", "PCT", NUMBER(jitter_percent), .unit = "%", .unit_size = 1, .min = 1, .max = 100,
	  .help = "each up to so much of the interval later, by chance" },
	{ NULL, 0, "poisson", NULL, FLAG(poisson), .help = "intervals by chance, exponentially distributed" },
	{ NULL, 0, "seed", "N", NUMBER(seed), .unit_size = 1, .min = 0, .max = INT64_MAX / 2, .initial = -1,
	  .help = "of that chance; the report tells the one that was used" },

	{ "Whom to answer", 0, "allow", "PREFIX", PREFIX(allow),
	  .help = "reflector: only who is in it, e.g. 192.0.2.0/24; may be repeated" },
	{ NULL, 0, "allow-short", NULL, FLAG(allow_short),
	  .help = "reflector: answer requests of less than 44 octets too" },
	{ NULL, 0, "rate-limit", "PPS", NUMBER(rate_limit), .unit = "requests/s", .unit_size = 1, .min = 1,
	  .max = 1000000,
	  .help = "reflector: answer no more of a session" },
	{ NULL, 0, "sessions", "N", NUMBER(sessions), .unit_size = 1, .min = 1, .max = SESSIONS_MAX,
	  .initial = SESSIONS_MAX, .help = "reflector: keep a session of at most so many senders" },

	{ "How long", 'd', "duration", "S", NUMBER(duration_ns), IN_S, .min = NS_PER_MS, .max = 315360000 * NS_PER_S,
	  .zero = true,
	  .help = "end after this time; without it, when interrupted" },
	{ NULL, 0, "count", "N", NUMBER(count), IN_PACKETS, .min = 1, .max = PACKETS_MAX,
	  .help = "end after this many packets past the warm-up" },
	{ NULL, 0, "once", NULL, FLAG(once), .help = "reflector: end when no emitter is left" },
	{ NULL, 0, "once-silence", "S", NUMBER(once_silence_ns), IN_S, .min = 100 * NS_PER_MS, .max = 86400 * NS_PER_S,
	  .initial = 10 * NS_PER_S, .help = "which is when all have been silent for this time" },
	{ NULL, 'w', "warmup", "PACKETS", NUMBER(warmup), IN_PACKETS, .min = 0, .max = PACKETS_MAX,
	  .help = "leave the first packets out of all figures" },
	{ NULL, 0, "timeout", "MS", NUMBER(timeout_ns), IN_MS, .min = NS_PER_US, .max = 60000 * NS_PER_MS,
	  .initial = 100 * NS_PER_MS, .help = "a reply that takes longer is lost" },
	{ NULL, 0, "give-up", "S", NUMBER(give_up_ns), IN_S, .min = 100 * NS_PER_MS, .max = 86400 * NS_PER_S,
	  .help = "emitter: end when nothing has answered for so long" },
	{ NULL, 0, "no-step-check", NULL, FLAG(no_step_check),
	  .help = "record also what a clock that was set must have spoilt" },

	{ "On a spike", 't', "threshold", "US", NUMBER(threshold_ns), IN_US, .min = 1, .max = 60 * NS_PER_S,
	  .help = "stop when a latency exceeds it, after the warm-up" },
	{ NULL, 0, "threshold-on", "WHICH", CHOICE(threshold_on), .initial = FIGURE_RTT, .choice = figures,
	  .help = "emitter: the latency that it is for" },
	{ NULL, 'C', "continue", NULL, FLAG(keep_going), .help = "go on after such a breach, and count" },
	{ NULL, 0, "on-breach", "ACTION", ACTION(on_breach),
	  .help = "stop, continue, or exec:COMMAND (may be repeated); stop by default" },
	{ NULL, 'T', "trace-marker", NULL, FLAG(trace_marker),
	  .help = "mark the start and a breach in the kernel's trace, and stop the trace" },
	{ NULL, 'S', "snapshot", NULL, FLAG(snapshot), .help = "take an ftrace snapshot on a breach" },
	{ NULL, 0, "save-trace", "DIR", TEXT(KIND_FOLDER, save_trace_path),
	  .help = "save the stopped trace below DIR" },
	{ NULL, 0, "trace-rearm", NULL, FLAG(trace_rearm),
	  .help = "with --continue: switch tracing on again when it is saved" },
	{ NULL, 0, "trace-interval", "S", NUMBER(trace_interval_ns), IN_S, .min = 100 * NS_PER_MS,
	  .max = 86400 * NS_PER_S, .initial = 10 * NS_PER_S, .help = "but at most once in this time" },
	{ NULL, 'M', "pmc", NULL, FLAG(pmc), .help = "hardware counters (perf): of the spike, and of quick samples" },

	{ "What to show", 'H', "histogram", NULL, FLAG(histogram), .help = "print the histogram at the end" },
	{ NULL, 'o', "overflow", "US", NUMBER(overflow_ns), IN_US, .min = 1, .max = 10 * NS_PER_S,
	  .initial = 100 * NS_PER_US, .help = "overflow threshold of the histogram" },
	{ NULL, 'b', "bucket-size", "US", NUMBER(bucket_ns), IN_US, .min = 1, .max = 10 * NS_PER_S,
	  .initial = NS_PER_US, .help = "size of the buckets that are printed" },
	{ NULL, 'l', "log", "FILE", TEXT(KIND_FILE, log_path), .help = "write each sample to FILE, or - for stdout" },
	{ NULL, 0, "log-format", "FORM", CHOICE(log_format), .initial = LOG_TEXT, .choice = formats,
	  .help = "as columns, a NumPy array, or with commas" },
	{ NULL, 0, "log-full", NULL, FLAG(log_full), .help = "emitter: log the times of the reflector too" },
	{ NULL, 'L', "log-threshold", "US", NUMBER(log_threshold_ns), IN_US, .min = 1, .max = 60 * NS_PER_S,
	  .help = "log only the latencies that exceed it" },
	{ NULL, 0, "log-last", "S", NUMBER(log_last_ns), IN_S, .min = 100 * NS_PER_MS, .max = 86400 * NS_PER_S,
	  .help = "log only so long before and after a breach, and before the end" },
	{ NULL, 0, "log-rotate", "SIZE,N", ROTATION(log_rotate),
	  .help = "write files of this size, FILE.1 and so on, and keep N of them" },
	{ NULL, 0, "json", "FILE", TEXT(KIND_FILE, json_path),
	  .help = "write all results to FILE as JSON, or - for stdout" },
	{ NULL, 0, "jsonl", "FILE", TEXT(KIND_FILE, jsonl_path),
	  .help = "write a line of JSON each second and at each breach, in the same way" },
	{ NULL, 0, "hgrm", "FILE", TEXT(KIND_FILE, hgrm_path),
	  .help = "write the percentile distribution for plotters of HdrHistogram" },
	{ NULL, 0, "hlog", "FILE", TEXT(KIND_FILE, hlog_path),
	  .help = "write a histogram each second as an interval log of HdrHistogram" },
	{ NULL, 0, "prometheus", "FILE", TEXT(KIND_FILE, prometheus_path),
	  .help = "replace FILE.prom of node_exporter every 10 s" },
	{ NULL, 0, "summary-every", "S", NUMBER(summary_ns), IN_S, .min = NS_PER_S, .max = 31 * 86400 * NS_PER_S,
	  .help = "write a line of what was measured so far, so often" },
	{ NULL, 'q', "quiet", NULL, FLAG(quiet), .help = "nothing on stdout" },
	{ NULL, 'v', "verbose", NULL, FLAG(verbose), .help = "show configuration, allocation and what was granted" },

	{ "How to run", 0, "cpu", "N", NUMBER(cpu), .unit_size = 1, .min = 0, .max = CPU_SETSIZE - 1, .initial = -1,
	  .help = "measure on this CPU, as with taskset -c N" },
	{ NULL, 0, "fifo", "N", NUMBER(fifo), .unit_size = 1, .min = 1, .max = 99,
	  .help = "and at this real-time priority, as with chrt -f N" },
	{ NULL, 0, "spin", NULL, FLAG(spin), .help =
	  "reflector: keep its CPU busy also when nothing comes for a second" },
	{ NULL, 'G', "hugepages", NULL, FLAG(hugepages), .help = "huge pages for log and histogram" },
	{ NULL, 'p', "busy-poll-us", "US", NUMBER(busy_poll_us), .unit = "us", .unit_size = 1, .ns = NS_PER_US,
	  .min = 0,
	  .max = 1000000, .help = "busy-poll time of the socket" },
	{ NULL, 'B', "budget", "N", NUMBER(busy_poll_budget), .unit_size = 1, .min = 1, .max = 65535,
	  .help = "packets per busy poll; sets a busy-poll time too" },
	{ NULL, 'P', "prefer-busypoll", NULL, FLAG(prefer_busy_poll),
	  .help = "prefer busy polling; sets a busy-poll time too" },
	{ NULL, 0, "no-cpu-dma-latency", NULL, FLAG(no_cpu_dma_latency),
	  .help = "let idle CPUs sleep as deep as they like" },
	{ NULL, 0, "user", "NAME", TEXT(KIND_USER, user), .help = "become this user when everything is open" },
	{ NULL, 'F', "fast-path", NULL, FLAG(fast_path), .help = "nothing: the loop is as short as it can be" },
	{ NULL, '2', "threaded", NULL, FLAG(threaded), .help = "nothing: one thread waits for nothing here" },
	{ NULL, 0, "strict", NULL, FLAG(strict), .help = "exit status 3 also when the measurement is doubtful" },

	{ "About rant", 'h', "help", NULL, FLAG(help), .help = "show this" },
	{ NULL, 'V', "version", NULL, FLAG(version),
	  .help = "show the version, the commit and what it was built with" },
	{ NULL, 0, "check", NULL, FLAG(check), .help = "look for what spoils a measurement, and send nothing" },

	{ "What runs have left", 0, "report", NULL, FLAG(report),
	  .help = "of logs or --json files: of one run, both ends, or several runs" },
	{ NULL, 0, "compare", NULL, FLAG(compare), .help = "two --json files: is the second run worse?" },
	{ NULL, 0, "tolerance", "P%,TIME", TOLERANCE(tolerance),
	  .help = "it is by more than this, e.g. 5%,500ns: more than both" },
};

#define ROWS (sizeof(option_table) / sizeof(option_table[0]))

_Static_assert(ROWS <= OPTION_ROWS_MAX, "OPTION_ROWS_MAX is as many as there are, or more");
const size_t option_rows = ROWS;

const struct option_row *option_named(const char *name)
{
	const struct option_row *row = option_table;

	while (strcmp(row->name, name))
		row++;
	return row;
}

const char *options_given(const struct parse *p, const char *name)
{
	return p->given[option_named(name) - option_table];
}
