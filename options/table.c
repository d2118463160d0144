// SPDX-License-Identifier: GPL-2.0-or-later
/* One row for each option. Rules about two options are in options/rules.c. */
#include "options/inside.h"

#include <sched.h>
#include <string.h>

#define FLAG(field) .kind = KIND_FLAG, .offset = AT(bool, field)
#define NUMBER(field) .kind = KIND_NUMBER, .offset = AT(int64_t, field)
#define CHOICE(field) .kind = KIND_CHOICE, .offset = AT(int64_t, field)
#define TEXT(text_kind, field) .kind = (text_kind), .offset = AT(const char *, field)
#define ACTION(field) .kind = KIND_ACTION, .offset = AT(struct breach_hooks, field)
#define DSCP(field) .kind = KIND_DSCP, .offset = AT(int64_t, field)
#define PREFIX(field) .kind = KIND_PREFIX, .offset = AT(struct allow_list, field)
#define ROTATION(field) .kind = KIND_ROTATION, .offset = AT(struct log_rotation, field)
#define GOAL(field) .kind = KIND_GOAL, .offset = AT(struct known_goal, field)
#define DETAIL(field) .kind = KIND_STAGES, .offset = AT(struct stages_wish, field)
#define TOLERANCE(field) .kind = KIND_TOLERANCE, .offset = AT(struct tolerance, field)
#define ADDRESS(field) .kind = KIND_ADDRESS, .offset = AT(union address, field)
#define IN_US .unit = "us", .unit_size = NS_PER_US, .decimals = 3, .ns = 1
#define IN_MS .unit = "ms", .unit_size = NS_PER_MS, .decimals = 3, .ns = 1
#define IN_S .unit = "s", .unit_size = NS_PER_S, .decimals = 3, .ns = 1
#define IN_PACKETS .unit = "packets", .unit_size = 1
#define PACKETS_MAX 1000000000000LL
#define SIZE_MAX_BYTES (65535 - 20 - 8) /* UDP in IPv4 */
#define STAGES_EVERY_MAX 1000000
#define PTP_DOMAIN_MAX 127 /* IEEE 1588-2008 table 2: those above are reserved */

static const struct choice sources[] = {
	{ "hardware", SOURCE_HARDWARE },
	{ "kernel", SOURCE_KERNEL },
	{ "user", SOURCE_USER },
	{ "receive", SOURCE_RECEIVE },
	{ "receive-any", STAMP_RECEIVE_ANY },
	{ "best", STAMP_BEST },
	{ 0 },
};

static const struct choice providers[] = {
	{ "any", PROVIDER_ANY },
	{ "mac", PROVIDER_MAC },
	{ "phy", PROVIDER_PHY },
	{ 0 },
};

static const struct choice formats[] = {
	{ "text", LOG_TEXT },
	{ "npy", LOG_NPY },
	{ "csv", LOG_CSV },
	{ 0 },
};

static const struct choice metrics[] = {
	{ "rtt", METRIC_RTT },
	{ "network", METRIC_NETWORK },
	{ "response", METRIC_RESPONSE },
	{ 0 },
};

static const struct choice colors[] = {
	{ "auto", COLOR_AUTO },
	{ "always", COLOR_ALWAYS },
	{ "never", COLOR_NEVER },
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

static const struct choice details[] = {
	{ "nic", STAGES_NIC },
	{ "kernel", STAGES_KERNEL },
	{ "full", STAGES_FULL },
	{ 0 },
};

static const struct choice event_sets[] = {
	{ "light", TRACE_EVENTS_LIGHT },
	{ "packet", TRACE_EVENTS_PACKET },
	{ 0 },
};

static const struct choice ptp_types[] = {
	{ "delay-req", PTP_TYPE_DELAY_REQ },
	{ "sync", PTP_TYPE_SYNC },
	{ 0 },
};

const struct option_row option_table[] = {
	{ "Path and timestamps", 'i', "interface", "IFACE", TEXT(KIND_INTERFACE, interface),
	  .help = "use this network interface",
	  .everyday = "use this interface (with HOST: that of its route)" },
	{ NULL, 'a', "address", "IP", ADDRESS(server),
	  .help = "emit to the reflector at this IP address, name or MAC",
	  .everyday = "emit to this reflector, as HOST does" },
	{ NULL, 0, "bind", "IP", ADDRESS(own),
	  .help = "send and receive only on this address of the interface" },
	{ NULL, '4', "ipv4", NULL, FLAG(ipv4), .help = "use only IPv4" },
	{ NULL, '6', "ipv6", NULL, FLAG(ipv6), .help = "use only IPv6" },
	{ NULL, 0, "port", "PORT", NUMBER(port), .unit_size = 1, .min = 1, .max = 65535, .initial = STAMP_PORT,
	  .help = "set the UDP port of the reflector",
	  .everyday = "" },
	{ NULL, 0, "transport", "HOW", CHOICE(transport), .initial = TRANSPORT_UDP, .choice = carriers,
	  .help = "choose the transport, the same at both ends" },
	{ NULL, 0, "ptp-type", "TYPE", CHOICE(ptp_type), .initial = PTP_TYPE_DELAY_REQ, .choice = ptp_types,
	  .help = "choose the type of the PTP messages" },
	{ NULL, 0, "ptp-domain", "N", NUMBER(ptp_domain), .unit_size = 1, .min = 0, .max = PTP_DOMAIN_MAX,
	  .initial = PTP_DOMAIN_MAX,
	  .help = "set the PTP domain, which no other program on the link uses" },
	{ NULL, 0, "stamp", "SOURCE", CHOICE(stamp), .initial = SOURCE_HARDWARE, .choice = sources,
	  .help = "stamp by",
	  .everyday = "by hardware, kernel, user, receive or best" },
	{ NULL, 0, "provider", "DEVICE", CHOICE(provider), .initial = PROVIDER_ANY, .choice = providers,
	  .help = "select the device that timestamps" },
	{ NULL, 0, "rx-filter", "NAME", TEXT(KIND_FILTER, rx_filter),
	  .help = "set this receive filter of the NIC" },
	{ NULL, 'R', "no-hw-ts", NULL, FLAG(no_hw_stamps), .help = "take timestamps in user space, as --stamp user" },
	{ NULL, 'N', "no-tx-ts", NULL, FLAG(no_tx_stamps),
	  .help = "reflector: take no transmit timestamps" },
	{ NULL, 's', "sw-timestamps", NULL, FLAG(sw_timestamps), .help = "record the times of user space as well" },
	{ NULL, 0, "stages", "DETAIL", DETAIL(stages), .initial = STAGES_KERNEL, .choice = details,
	  .max = STAGES_EVERY_MAX, .help = "with -s: choose the detail of the stages" },

	{ NULL, 0, "synced", "NS", NUMBER(synced_ns), .unit = "ns", .unit_size = 1, .ns = 1, .min = 0, .max = NS_PER_S,
	  .initial = -1, .help = "emitter: declare both NIC clocks equal within this time" },

	{ "Packets", 0, "size", "N", NUMBER(size_bytes), .unit = "octets", .unit_size = 1, .min = STAMP_BASE_BYTES,
	  .max = SIZE_MAX_BYTES, .help = "emitter: send STAMP packets of this many octets" },
	{ NULL, 0, "plain", NULL, FLAG(plain), .help = "emitter: send 44 octets and request no reflector times" },
	{ NULL, 0, "key", "FILE", TEXT(KIND_FILE, key_path),
	  .help = "authenticate packets with the key in FILE, at both ends" },
	{ NULL, 0, "dscp", "N", DSCP(dscp), .unit_size = 1, .min = 0, .max = 63, .initial = -1,
	  .help = "set the code point in the IP header, e.g. 46, 0x2e, EF, CS5" },
	{ NULL, 0, "priority", "N", NUMBER(priority), .unit_size = 1, .min = 0, .max = 15, .initial = -1,
	  .help = "set SO_PRIORITY of the socket, for the queues of this host" },
	{ NULL, 0, "vlan-priority", "N", NUMBER(vlan_priority), .unit_size = 1, .min = 0, .max = 7, .initial = -1,
	  .help = "set the priority in the VLAN tag by the egress map" },
	{ NULL, 0, "source-ports", "N", NUMBER(source_ports), .unit_size = 1, .min = 1, .max = SOURCE_PORTS_MAX,
	  .initial = 1,
	  .help = "emitter: send from N source ports in turn, for ECMP paths" },
	{ NULL, 0, "ttl", "N", NUMBER(ttl), .unit_size = 1, .min = 1, .max = 255, .initial = 255,
	  .help = "set the time to live or hop limit in the IP header" },

	{ "Send schedule", 0, "interval", "TIME", NUMBER(interval_ns), IN_US, .min = NS_PER_US, .max = 3600 * NS_PER_S,
	  .bare_min = 10 * NS_PER_US,
	  .help = "emitter: send at this interval, e.g. 50us, 10ms or 0.5s",
	  .everyday = "" },
	{ NULL, 0, "window", "N", NUMBER(window), .unit = "probes", .unit_size = 1, .min = 1, .max = WINDOW_MAX,
	  .initial = 1,
	  .help = "emitter: keep at most this many probes in flight" },
	{ NULL, 0, "stamp-every", "N", NUMBER(stamp_every), .unit = "probes", .unit_size = 1, .min = 1, .max = 1000000,
	  .initial = 1,
	  .help = "emitter: timestamp and record only every Nth probe" },
	{ NULL, 0, "pacing", "HOW", CHOICE(pacing), .initial = PACING_HYBRID, .choice = pacings,
	  .help = "choose how to wait for the send time" },
	{ NULL, 0, "jitter", "PCT", NUMBER(jitter_percent), .unit = "%", .unit_size = 1, .min = 1, .max = 100,
	  .help = "delay each probe at random by up to PCT of the interval" },
	{ NULL, 0, "poisson", NULL, FLAG(poisson), .help = "draw intervals from an exponential distribution" },
	{ NULL, 0, "seed", "N", NUMBER(seed), .unit_size = 1, .min = 0, .max = INT64_MAX / 2, .initial = -1,
	  .help = "seed the random numbers of --jitter and --poisson" },

	{ "Reflector", 0, "allow", "PREFIX", PREFIX(allow),
	  .help = "reflector: answer only this address or prefix (repeatable)" },
	{ NULL, 0, "allow-short", NULL, FLAG(allow_short),
	  .help = "reflector: answer requests below 44 octets as well" },
	{ NULL, 0, "rate-limit", "PPS", NUMBER(rate_limit), .unit = "requests/s", .unit_size = 1, .min = 1,
	  .max = 1000000,
	  .help = "reflector: limit the requests answered in each session" },
	{ NULL, 0, "sessions", "N", NUMBER(sessions), .unit_size = 1, .min = 1, .max = SESSIONS_MAX,
	  .initial = SESSIONS_MAX, .help = "reflector: keep at most this many sessions" },

	{ "Start and end of a run", 'd', "duration", "S", NUMBER(duration_ns), IN_S, .min = NS_PER_MS,
	  .max = 315360000 * NS_PER_S,
	  .zero = true,
	  .help = "end after this time (default: when interrupted)",
	  .everyday = "end after this time (else when interrupted)" },
	{ NULL, 'c', "count", "N", NUMBER(count), IN_PACKETS, .min = 1, .max = PACKETS_MAX,
	  .help = "end after this many packets past the warm-up",
	  .everyday = "" },
	{ NULL, 0, "until-known", "P:W%", GOAL(until_known),
	  .help = "end when a percentile is known within this (p99.9:5%)" },
	{ NULL, 0, "once", NULL, FLAG(once), .help = "reflector: end when no emitter is left",
	  .everyday = "" },
	{ NULL, 0, "once-silence", "S", NUMBER(once_silence_ns), IN_S, .min = 100 * NS_PER_MS, .max = 86400 * NS_PER_S,
	  .initial = 10 * NS_PER_S, .help = "with --once: end after this long without a probe" },
	{ NULL, 'w', "warmup", "PACKETS", NUMBER(warmup), IN_PACKETS, .min = 0, .max = PACKETS_MAX,
	  .help = "exclude the first packets from all results",
	  .everyday = "" },
	{ NULL, 0, "timeout", "MS", NUMBER(timeout_ns), IN_MS, .min = NS_PER_US, .max = 60000 * NS_PER_MS,
	  .initial = 100 * NS_PER_MS, .help = "count a reply as lost after this time" },
	{ NULL, 0, "give-up", "S", NUMBER(give_up_ns), IN_S, .min = 100 * NS_PER_MS, .max = 86400 * NS_PER_S,
	  .help = "emitter: end when nothing has answered for this long" },
	{ NULL, 0, "no-step-check", NULL, FLAG(no_step_check),
	  .help = "record samples taken across a clock step as well" },

	{ "Spikes", 't', "threshold", "US", NUMBER(threshold_ns), IN_US, .min = 1, .max = 60 * NS_PER_S,
	  .bare_max = NS_PER_S,
	  .help = "stop when a latency exceeds this value after the warm-up",
	  .everyday = "stop when a latency exceeds this value" },
	{ NULL, 0, "threshold-on", "WHICH", CHOICE(threshold_on), .initial = METRIC_RTT, .choice = metrics,
	  .help = "emitter: choose the latency to check" },
	{ NULL, 'C', "continue", NULL, FLAG(keep_going), .help = "count threshold breaches and continue",
	  .everyday = "" },
	{ NULL, 0, "on-breach", "ACTION", ACTION(on_breach),
	  .help = "stop, continue or run a command (exec:) on a breach" },
	{ NULL, 'T', "trace-marker", NULL, FLAG(trace_marker),
	  .help = "mark start and breach in the kernel trace, then stop it" },
	{ NULL, 'S', "snapshot", NULL, FLAG(snapshot), .help = "take an ftrace snapshot on a breach" },
	{ NULL, 0, "trace-events", "SET", CHOICE(trace_events), .initial = TRACE_EVENTS_LIGHT, .choice = event_sets,
	  .help = "choose the events of an instance that rant makes" },
	{ NULL, 0, "save-trace", "DIR", TEXT(KIND_FOLDER, save_trace_path),
	  .help = "save the stopped trace below DIR" },
	{ NULL, 0, "trace-rearm", NULL, FLAG(trace_rearm),
	  .help = "with --continue: restart tracing after each saved trace" },
	{ NULL, 0, "trace-interval", "S", NUMBER(trace_interval_ns), IN_S, .min = 100 * NS_PER_MS,
	  .max = 86400 * NS_PER_S, .initial = 10 * NS_PER_S,
	  .help = "with --trace-rearm: save at most one trace in this time" },
	{ NULL, 0, "freeze-peer", NULL, FLAG(freeze_peer),
	  .help = "emitter: freeze the trace of the reflector at a breach, too" },
	{ NULL, 0, "allow-freeze", NULL, FLAG(allow_freeze),
	  .help = "reflector: freeze the trace at a breach of an emitter" },
	{ NULL, 'M', "pmc", NULL, FLAG(pmc), .help = "count hardware events (perf) of spikes and quick samples" },

	{ "Report and files", 'H', "histogram", NULL, FLAG(histogram), .help = "print the histogram at the end",
	  .everyday = "" },
	{ NULL, 'o', "overflow", "US", NUMBER(overflow_ns), IN_US, .min = 1, .max = 10 * NS_PER_S,
	  .initial = 100 * NS_PER_US, .help = "keep the histogram exact up to this latency" },
	{ NULL, 'b', "bucket-size", "US", NUMBER(bucket_ns), IN_US, .min = 1, .max = 10 * NS_PER_S,
	  .initial = NS_PER_US, .help = "set the bucket size of the printed histogram" },
	{ NULL, 'l', "log", "FILE", TEXT(KIND_FILE, log_path), .help = "write each sample to FILE, - for stdout",
	  .everyday = "" },
	{ NULL, 0, "log-format", "FORM", CHOICE(log_format), .initial = LOG_TEXT, .choice = formats,
	  .help = "choose the log format" },
	{ NULL, 0, "log-full", NULL, FLAG(log_full), .help = "emitter: log the times of the reflector as well" },
	{ NULL, 'L', "log-threshold", "US", NUMBER(log_threshold_ns), IN_US, .min = 1, .max = 60 * NS_PER_S,
	  .bare_max = NS_PER_S,
	  .help = "log only latencies above this value" },
	{ NULL, 0, "log-last", "S", NUMBER(log_last_ns), IN_S, .min = 100 * NS_PER_MS, .max = 86400 * NS_PER_S,
	  .help = "log only this long around a breach and before the end" },
	{ NULL, 0, "log-rotate", "SIZE,N", ROTATION(log_rotate),
	  .help = "start a new log file at SIZE, keep the last N files" },
	{ NULL, 0, "json", "FILE", TEXT(KIND_FILE, json_path),
	  .help = "write all results to FILE as JSON, - for stdout",
	  .everyday = "" },
	{ NULL, 0, "jsonl", "FILE", TEXT(KIND_FILE, jsonl_path),
	  .help = "write a JSON line to FILE each second and at each breach" },
	{ NULL, 0, "hgrm", "FILE", TEXT(KIND_FILE, hgrm_path),
	  .help = "write the percentile distribution as HdrHistogram text" },
	{ NULL, 0, "hlog", "FILE", TEXT(KIND_FILE, hlog_path),
	  .help = "write a histogram each second as an HdrHistogram log" },
	{ NULL, 0, "prometheus", "FILE", TEXT(KIND_FILE, prometheus_path),
	  .help = "update FILE.prom for node_exporter every 10 s" },
	{ NULL, 0, "summary-every", "S", NUMBER(summary_ns), IN_S, .min = NS_PER_S, .max = 31 * 86400 * NS_PER_S,
	  .help = "print a summary line at this interval during the run" },
	{ NULL, 0, "every", "S", NUMBER(every_ns), IN_S, .min = 100 * NS_PER_MS, .max = 86400 * NS_PER_S,
	  .help = "print a line for each interval of this length",
	  .everyday = "" },
	{ NULL, 0, "details", NULL, FLAG(details), .help = "print the complete report",
	  .everyday = "" },
	{ NULL, 0, "color", "WHEN", CHOICE(color), .initial = COLOR_AUTO, .choice = colors,
	  .help = "colour the report" },
	{ NULL, 'q', "quiet", NULL, FLAG(quiet), .help = "print nothing on stdout",
	  .everyday = "" },
	{ NULL, 'v', "verbose", NULL, FLAG(verbose), .help = "print the configuration and the complete report",
	  .everyday = "" },

	{ "CPU, memory and privileges", 0, "cpu", "N", NUMBER(cpu), .unit_size = 1, .min = 0,
	  .max = CPU_SETSIZE - 1, .initial = -1,
	  .help = "measure on this CPU, as taskset -c N does",
	  .everyday = "" },
	{ NULL, 0, "fifo", "N", NUMBER(fifo), .unit_size = 1, .min = 1, .max = 99,
	  .help = "measure at this real-time priority, as chrt -f N does",
	  .everyday = "" },
	{ NULL, 0, "spin", NULL, FLAG(spin), .help = "reflector: never sleep while no request arrives" },
	{ NULL, 'G', "hugepages", NULL, FLAG(hugepages), .help = "use huge pages for log and histogram" },
	{ NULL, 'p', "busy-poll-us", "US", NUMBER(busy_poll_us), .unit = "us", .unit_size = 1, .ns = NS_PER_US,
	  .min = 0,
	  .max = 1000000, .help = "set the busy-poll time of the socket" },
	{ NULL, 'B', "budget", "N", NUMBER(busy_poll_budget), .unit_size = 1, .min = 1, .max = 65535,
	  .help = "set the packets per busy poll (implies --busy-poll-us 50)" },
	{ NULL, 'P', "prefer-busypoll", NULL, FLAG(prefer_busy_poll),
	  .help = "prefer busy polling (implies --busy-poll-us 50)" },
	{ NULL, 0, "no-cpu-dma-latency", NULL, FLAG(no_cpu_dma_latency),
	  .help = "allow deep sleep states of idle CPUs" },
	{ NULL, 0, "user", "NAME", TEXT(KIND_USER, user), .help = "switch to this user when everything is open" },
	{ NULL, 'F', "fast-path", NULL, FLAG(fast_path), .help = "accept and ignore, for scripts of another rant" },
	{ NULL, '2', "threaded", NULL, FLAG(threaded), .help = "accept and ignore, for scripts of another rant" },
	{ NULL, 0, "strict", NULL, FLAG(strict), .help = "exit with status 3 for doubtful results as well" },

	{ "Information", 'h', "help", NULL, FLAG(help),
	  .help = "show the everyday options; --help all shows all options",
	  .everyday = "show this help" },
	{ NULL, 'V', "version", NULL, FLAG(version),
	  .help = "show version, commit, compiler and libraries",
	  .everyday = "" },
	{ NULL, 0, "check", NULL, FLAG(check), .help = "inspect NICs and host without sending packets",
	  .everyday = "inspect NICs and host, send nothing" },
	{ NULL, 0, "prove", NULL, FLAG(prove), .help = "prove by packets whether NIC timestamps are of the wire" },

	{ "Saved results", 0, "report", NULL, FLAG(report),
	  .help = "report on saved logs or JSON files, without a network" },
	{ NULL, 0, "compare", NULL, FLAG(compare), .help = "compare the JSON files of two runs, judge the second" },
	{ NULL, 0, "tolerance", "P%,TIME", TOLERANCE(tolerance),
	  .help = "with --compare: accept a difference up to this size" },
	{ NULL, 0, "anyway", NULL, FLAG(anyway),
	  .help = "with --compare: accept runs with different settings" },
	{ NULL, 0, "explain", "DIR", TEXT(KIND_FOLDER, explain_path),
	  .help = "name the cause of the breach in a folder of --save-trace" },
};

#define ROWS (sizeof(option_table) / sizeof(option_table[0]))

_Static_assert(ROWS <= OPTION_ROWS_MAX, "OPTION_ROWS_MAX is at least the number of rows");
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
