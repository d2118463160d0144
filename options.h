/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "rant.h"

#define BREACH_COMMANDS_MAX 8

/* The actions of --on-breach, in addition to those of the trace options. */
struct breach_hooks {
	bool stop, keep_going;
	int commands;
	const char *command[BREACH_COMMANDS_MAX]; /* for /bin/sh -c */
};

#define ALLOW_MAX 32

/* Octets as in IPv6, see address_as_ipv6(); the bits after the prefix are 0 in both. */
struct allow_prefix {
	uint64_t address[2], mask[2];
	bool ipv6; /* an IPv6 prefix matches no IPv4 address, not even ::/0 */
};

/* Prefixes of the emitters that a reflector answers; without any prefix it answers all. */
struct allow_list {
	int prefixes;
	struct allow_prefix prefix[ALLOW_MAX];
};

enum log_format { LOG_TEXT, LOG_NPY, LOG_CSV, LOG_FORMATS };

#define LOG_ROTATE_LEAST_BYTES (256 << 10) /* octets of one write() of the log */
#define LOG_ROTATE_MOST_FILES 10000

/* A log starts a new file at `bytes` octets and keeps the last `files` files. bytes 0: one file of any length. */
struct log_rotation {
	int64_t bytes, files;
};

/* The latencies that the threshold of an emitter can check. */
enum metric { METRIC_RTT, METRIC_RESPONSE, METRIC_NETWORK };

/* The ways in which an emitter waits for the send time. */
enum pacing { PACING_HYBRID, PACING_SLEEP, PACING_SPIN };

/* Transports, and types of PTP messages that carry the packets (IEEE 1588-2019 table 36). */
enum transport_kind { TRANSPORT_UDP, TRANSPORT_PTP, TRANSPORT_L2, TRANSPORT_ICMP };
enum ptp_type { PTP_TYPE_SYNC, PTP_TYPE_DELAY_REQ };

/* Differences that --compare accepts: the larger of the two counts. */
struct tolerance {
	int64_t milli_percent, ns;
};

/* --until-known: a percentile, and the half width of its 95 % interval that ends the run. denominator 0: none. */
struct known_goal {
	const char *text; /* as given */
	int64_t numerator, denominator;
	int64_t width_ppb; /* of the value of the percentile */
};

/* --stamp best: replaced by SOURCE_HARDWARE or SOURCE_KERNEL before anything is opened, see host/nic/nic_best.h. */
#define STAMP_BEST (-1)
/* --stamp receive-any: replaced by SOURCE_RECEIVE with options.any_bound. */
#define STAMP_RECEIVE_ANY (-2)

/* --provider: the device whose timestamps are used. The numbers are those of enum nic_source. */
enum provider_choice { PROVIDER_ANY, PROVIDER_MAC, PROVIDER_PHY };

#define WINDOW_MAX 65536
#define SOURCE_PORTS_MAX 256
/* Default of --transport icmp: any host may be probed, so the rate stays below usual limits of echo replies. */
#define ECHO_INTERVAL_NS (10 * NS_PER_MS)

/* Colour of the report; COLOR_AUTO: on a terminal, unless NO_COLOR is set. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Timestamps of the stages: those of the NIC alone, the kernel's receive times beside them, or its transmit times
 * too. */
enum stages_detail { STAGES_NIC, STAGES_KERNEL, STAGES_FULL };

/* --stages */
struct stages_wish {
	int64_t detail; /* enum stages_detail */
	int64_t every; /* STAGES_FULL: the kernel's transmit times of one packet in this number */
	const char *text; /* as given */
};

/* --trace-events: events that an ordinary packet on an isolated CPU does not cause, or those of each packet as well. */
enum trace_events { TRACE_EVENTS_LIGHT, TRACE_EVENTS_PACKET };

struct options {
	const char *interface;
	union address server; /* AF_UNSPEC without an address, or before resolve_server() with a name */
	const char *server_name; /* name in --address, also after resolve_server(); NULL: an address was given */
	union address own; /* address of --bind; AF_UNSPEC and zeros without it */
	const char *log_path, *save_trace_path;
	const char *explain_path; /* folder of --explain; NULL: not given */
	const char *key_path; /* NULL: unauthenticated packets */
	const char *json_path, *jsonl_path, *hgrm_path, *hlog_path, *prometheus_path; /* NULL: no such output */
	const char *user; /* NULL: no change of user */
	struct breach_hooks on_breach;
	struct allow_list allow; /* reflector only */
	int64_t trace_interval_ns;
	int64_t trace_events; /* enum trace_events */
	int64_t threshold_ns, log_threshold_ns; /* 0: no threshold */
	int64_t log_format; /* enum log_format */
	int64_t log_last_ns; /* kept part of the log before and after a breach and before the end; 0: the whole log */
	struct log_rotation log_rotate;
	struct known_goal until_known;
	int64_t duration_ns; /* 0: until interrupted */
	int64_t summary_ns; /* interval of the summary lines; 0: no lines */
	int64_t every_ns; /* length of the intervals of --every; 0: none */
	int64_t color; /* enum color */
	int64_t interval_ns; /* emitter: between send times; 0: a probe follows the reply to the previous probe */
	int64_t window; /* emitter: probes in flight at most */
	int64_t source_ports; /* emitter: number of ports to send from in turn */
	int64_t stamp_every; /* emitter: every Nth probe is timestamped; below 2: every probe */
	int64_t pacing; /* enum pacing */
	int64_t jitter_percent, seed; /* seed -1: not given, and not needed */
	int64_t timeout_ns;
	int64_t give_up_ns; /* emitter: the run ends after a silence of this length; 0: never */
	int64_t once_silence_ns; /* reflector with `once`: the run ends after a silence of this length */
	int64_t warmup, count; /* in packets; count 0: no limit */
	int64_t overflow_ns, bucket_ns;
	int64_t busy_poll_us, busy_poll_budget; /* 0: not set */
	int64_t port; /* port of the reflector; 0: the transport has no ports */
	int64_t transport; /* enum transport_kind */
	int64_t ptp_type, ptp_domain; /* enum ptp_type; used by transports with PTP messages */
	int64_t stamp; /* enum source; STAMP_BEST until it is resolved */
	bool any_bound; /* SOURCE_RECEIVE: also where the bound is wider than the error of the kernel's receive times */
	int64_t provider; /* enum provider_choice */
	const char *rx_filter; /* of the NIC, by its name in host/nic/nic_names.h; NULL: chosen by the packets */
	struct stages_wish stages;
	int64_t size_bytes; /* size of the STAMP packet in octets; 0: as long as its content */
	int64_t dscp, priority, vlan_priority; /* -1: not given */
	int64_t ttl;
	int64_t rate_limit; /* reflector: requests per second of a session; 0: no limit */
	int64_t sessions; /* reflector: sessions at most */
	int64_t threshold_on; /* enum figure; emitter */
	int64_t cpu; /* CPU of the measuring thread; -1: affinity of the process */
	int64_t fifo; /* SCHED_FIFO priority of the measuring thread; 0: policy of the process */
	int64_t synced_ns; /* declared bound of the difference of both NIC clocks; -1: not declared */
	bool trace_marker, snapshot, trace_rearm, pmc;
	bool trace_events_given;
	bool freeze_peer; /* emitter: a breach freezes the trace of the reflector, too, and the other way round */
	bool sw_timestamps, histogram, hugepages, prefer_busy_poll, keep_going, no_tx_stamps, no_hw_stamps, once;
	bool no_cpu_dma_latency, no_step_check;
	bool log_full, plain, poisson; /* emitter only */
	bool allow_short, spin; /* reflector only */
	bool allow_freeze; /* reflector: emitters may freeze the trace */
	bool strict;
	bool fast_path, threaded; /* options of another rant, without effect */
	bool ipv4, ipv6; /* only this family is allowed */
	bool details; /* print the complete report */
	bool quiet, verbose, help, version, check, prove;
	bool help_all, usage; /* "--help all"; "rant help" */
	bool host_given; /* "rant HOST": the interface may come from the route */
	bool report, compare; /* modes that read files and measure nothing */
	bool anyway; /* --compare: accept runs with different settings */
	struct tolerance tolerance;
	char *const *file; /* file names of --report and --compare, in argv */
	int files; /* number of `file` */
	enum role role;
	bool busy_poll_implied; /* --budget or --prefer-busypoll set the busy-poll time */
	bool interval_implied; /* --transport icmp set the interval */
};

/* The address that a socket of this family is bound to, without a port: that of --bind, or any. */
static inline union address options_own(const struct options *o, int family)
{
	union address own = o->own;

	own.any.sa_family = (sa_family_t)family;
	return own;
}

/* The IP family of the given addresses or of -4 and -6; AF_UNSPEC: either. */
static inline int options_family(const struct options *o)
{
	const int of_address = o->server.any.sa_family != AF_UNSPEC ? o->server.any.sa_family : o->own.any.sa_family;

	return of_address != AF_UNSPEC ? of_address : o->ipv4 ? AF_INET : o->ipv6 ? AF_INET6 : AF_UNSPEC;
}

/* True if each packet is in a PTP message. */
static inline bool options_in_ptp(const struct options *o)
{
	return o->transport == TRANSPORT_PTP || o->transport == TRANSPORT_L2;
}

/* True if the responder echoes the packet and reports no timestamps. */
static inline bool options_echoes(const struct options *o)
{
	return o->transport == TRANSPORT_ICMP;
}

/* True if kernel or NIC timestamp both ends of a latency. */
static inline bool options_on_wire(const struct options *o)
{
	return o->stamp != SOURCE_USER && !o->no_tx_stamps;
}

/* True if both ends of a latency are on the scale of the NIC's clock. */
static inline bool options_by_nic(const struct options *o)
{
	return (o->stamp == SOURCE_HARDWARE || o->stamp == SOURCE_RECEIVE) && !o->no_tx_stamps;
}

/* True if the kernel timestamps sent packets, and these times are placed on the scale of the NIC's clock. */
static inline bool options_place_sent(const struct options *o)
{
	return o->stamp == SOURCE_RECEIVE && !o->no_tx_stamps;
}

/* True if the kernel's time of each received packet is taken beside the NIC's timestamp. */
static inline bool options_kernel_times(const struct options *o)
{
	return o->stages.detail >= STAGES_KERNEL && o->sw_timestamps &&
	       source_of_packets(o->stamp, false) == SOURCE_HARDWARE;
}

/* True if the kernel's times of sent packets are taken: at the entry of the queueing discipline, and with timestamps of
 * the NIC also at the driver. */
static inline bool options_queue_times(const struct options *o)
{
	return o->stages.detail == STAGES_FULL && o->sw_timestamps && options_on_wire(o);
}

/* True if the complete report is printed. */
static inline bool options_complete(const struct options *o)
{
	return o->details || o->verbose;
}

/* True if the log keeps only the last samples of the run, as with --snapshot, and is written at the end. */
static inline bool options_log_is_circular(const struct options *o)
{
	return o->snapshot && !o->log_last_ns && !o->log_rotate.bytes;
}

/* With --interval: the number of probes that are sent within the timeout, twice as many with random intervals; at most
 * WINDOW_MAX. */
static inline int64_t options_in_timeout(const struct options *o)
{
	const int64_t n = o->timeout_ns / o->interval_ns * (o->poisson ? 2 : 1) + 1;

	return n < WINDOW_MAX ? n : WINDOW_MAX;
}

/* True for an emitter that requests the times of the reflector. */
static inline bool options_joined(const struct options *o)
{
	return o->role == ROLE_EMIT && !o->plain && !options_echoes(o);
}

/* Sets the defaults, reads argv into *o, and checks each value and the rules across options. 0, or -EINVAL after one
 * line on stderr that names the option, the value and the accepted values. Strings point into argv. */
int options_parse(struct options *o, int argc, char **argv);

/* The present value of an option: given, default, or implied by other options. */
struct option_value {
	const char *name; /* without the dashes */
	enum { OPTION_NONE, OPTION_FLAG, OPTION_NUMBER, OPTION_TEXT, OPTION_ADDRESS, OPTION_PREFIXES, OPTION_ACTIONS,
	       OPTION_ROTATION } kind;
	int64_t number; /* 0 or 1 for a flag */
	const char *unit; /* unit of `number`: "ns" for all times, "octets" and the like; NULL: no unit */
	const char *text;
	const union address *address;
};

/* Reads option `index` of the table. Lists are in *o. OPTION_NONE: not given, without a default. False: `index` is
 * after the last option. */
bool options_value(const struct options *o, unsigned index, struct option_value *v);

/* Returns the text of the option `name`: given, default or implied, as options_value(). The text belongs to the table or
 * to argv. NULL: unknown name, no value, or a value that is not a text. */
const char *options_text(const struct options *o, const char *name);

/* Ten lines of usage with three examples. */
void options_usage(FILE *out);

/* The help, made from the table that parses: the everyday options in 80 columns, or all options by topic. */
void options_help(FILE *out, bool all);

#endif
