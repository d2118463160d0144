/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "rant.h"

#define BREACH_COMMANDS_MAX 8

/* What --on-breach asks for, besides what the trace options do. */
struct breach_actions {
	bool stop, keep_going;
	int commands;
	const char *command[BREACH_COMMANDS_MAX]; /* for /bin/sh -c */
};

#define ALLOW_MAX 32

/* Octets as IPv6 writes them, see address_as_ipv6(); what is behind the prefix is 0 in both. */
struct allow_prefix {
	uint64_t address[2], mask[2];
	bool ipv6; /* of ::/0 and the like no IPv4 address is a part, however it is written */
};

/* Whom a reflector answers; none: anybody. */
struct allow_list {
	int prefixes;
	struct allow_prefix prefix[ALLOW_MAX];
};

/* How a log is written. */
enum log_format { LOG_TEXT, LOG_NPY, LOG_CSV, LOG_FORMATS };

#define LOG_ROTATE_LEAST_BYTES (256 << 10) /* what is written at a time */
#define LOG_ROTATE_MOST_FILES 10000

/* Files of a log: a new one when this one has so many octets, and so many are kept. bytes 0: one, however long. */
struct log_rotation {
	int64_t bytes, files;
};

/* What the threshold of an emitter can be for. */
enum figure { FIGURE_RTT, FIGURE_RESPONSE, FIGURE_NETWORK };

/* How an emitter waits for the time to send. */
enum pacing { PACING_HYBRID, PACING_SLEEP, PACING_SPIN };

/* What carries the packets, and the messages of PTP around them (IEEE 1588-2019 table 36). */
enum transport_kind { TRANSPORT_UDP, TRANSPORT_PTP, TRANSPORT_L2, TRANSPORT_ICMP };
enum ptp_type { PTP_TYPE_SYNC, PTP_TYPE_DELAY_REQ };

/* What --compare lets pass: whichever is more. */
struct tolerance {
	int64_t milli_percent, ns;
};

#define WINDOW_MAX 65536
#define SOURCE_PORTS_MAX 256
/* of --transport icmp without --interval: what a stranger's host is asked for unasked */
#define ECHO_INTERVAL_NS (10 * NS_PER_MS)

struct options {
	const char *interface;
	union address server; /* any.sa_family is AF_UNSPEC without --address, or with one that is still a name */
	const char *server_name; /* that --address is, before and after resolve_server(); NULL: an address was given */
	union address own; /* of the interface, --bind; AF_UNSPEC without, and zeros */
	const char *log_path, *save_trace_path;
	const char *key_path; /* NULL: unauthenticated */
	const char *json_path, *jsonl_path, *hgrm_path, *hlog_path, *prometheus_path; /* NULL: none */
	const char *user; /* NULL: who started rant */
	struct breach_actions on_breach;
	struct allow_list allow; /* reflector */
	int64_t trace_interval_ns;
	int64_t threshold_ns, log_threshold_ns; /* 0: none */
	int64_t log_format; /* enum log_format */
	int64_t log_last_ns; /* of the log, before and after a breach and before the end; 0: all of it */
	struct log_rotation log_rotate;
	int64_t duration_ns; /* 0: until interrupted */
	int64_t summary_ns; /* a line every so often; 0: none */
	int64_t interval_ns; /* emitter: from probe to probe; 0: when the one before is over */
	int64_t window; /* emitter: probes in flight at most */
	int64_t source_ports; /* emitter: sent from in turn */
	int64_t stamp_every; /* emitter: so many probes to one whose stamp is asked for; below 2: all are */
	int64_t pacing; /* enum pacing */
	int64_t jitter_percent, seed; /* seed -1: not given */
	int64_t timeout_ns;
	int64_t give_up_ns; /* emitter: the run ends after a silence of so long; 0: never */
	int64_t once_silence_ns; /* of `once`; reflector */
	int64_t warmup, count; /* packets; count 0: no limit */
	int64_t overflow_ns, bucket_ns;
	int64_t busy_poll_us, busy_poll_budget; /* 0: not asked for */
	int64_t port; /* of the reflector; 0: the transport has none */
	int64_t transport; /* enum transport_kind */
	int64_t ptp_type, ptp_domain; /* enum ptp_type; both of transports in PTP */
	int64_t stamp; /* enum source */
	int64_t size_bytes; /* of the STAMP packet; 0: as it comes */
	int64_t dscp, priority, vlan_priority; /* -1: not given */
	int64_t ttl;
	int64_t rate_limit; /* reflector: requests of a session in a second; 0: no limit */
	int64_t sessions; /* reflector: at most so many */
	int64_t threshold_on; /* enum figure; emitter */
	int64_t cpu; /* of the measuring thread; -1: as taskset says */
	int64_t fifo; /* its priority, SCHED_FIFO; 0: as chrt says */
	int64_t synced_ns; /* the clocks of both NICs differ by at most this; -1: nobody says so */
	bool trace_marker, snapshot, trace_rearm, pmc;
	bool sw_timestamps, histogram, hugepages, prefer_busy_poll, keep_going, no_tx_stamps, no_hw_stamps, once;
	bool no_cpu_dma_latency, no_step_check;
	bool log_full, plain, poisson; /* emitter */
	bool allow_short, spin; /* reflector */
	bool strict;
	bool fast_path, threaded; /* of another rant: taken, and needed by nothing */
	bool ipv4, ipv6; /* only this family */
	bool quiet, verbose, help, version, check;
	bool report, compare; /* files are read, and nothing is measured */
	struct tolerance tolerance;
	char *const *file; /* of these two, in argv */
	int files;
	enum role role;
	bool busy_poll_implied; /* --budget or --prefer-busypoll set the busy-poll time */
	bool interval_implied; /* --transport icmp set the interval */
};

/* What a socket of this family is bound to, without a port: any address where none was asked for. */
static inline union address options_own(const struct options *o, int family)
{
	union address own = o->own;

	own.any.sa_family = (sa_family_t)family;
	return own;
}

/* The one IP family that was asked for, by an address or by itself; AF_UNSPEC: either. */
static inline int options_family(const struct options *o)
{
	const int of_address = o->server.any.sa_family != AF_UNSPEC ? o->server.any.sa_family : o->own.any.sa_family;

	return of_address != AF_UNSPEC ? of_address : o->ipv4 ? AF_INET : o->ipv6 ? AF_INET6 : AF_UNSPEC;
}

/* Is there a PTP message around each packet? */
static inline bool options_in_ptp(const struct options *o)
{
	return o->transport == TRANSPORT_PTP || o->transport == TRANSPORT_L2;
}

/* Does whoever is asked send back what came, and tell nothing? */
static inline bool options_echoes(const struct options *o)
{
	return o->transport == TRANSPORT_ICMP;
}

/* Is a latency stamped on the wire at both ends, by the kernel or the NIC? */
static inline bool options_on_wire(const struct options *o)
{
	return o->stamp != SOURCE_USER && !o->no_tx_stamps;
}

/* The same by the NIC? */
static inline bool options_by_nic(const struct options *o)
{
	return o->stamp == SOURCE_HARDWARE && !o->no_tx_stamps;
}

/* Is the log to have no more than the last samples of the run, as with --snapshot? Then nothing is written before its
 * end. */
static inline bool options_log_is_circular(const struct options *o)
{
	return o->snapshot && !o->log_last_ns && !o->log_rotate.bytes;
}

/* With --interval: probes that are sent within the timeout, and some more where chance has a say; at most
 * WINDOW_MAX. */
static inline int64_t options_in_timeout(const struct options *o)
{
	const int64_t n = o->timeout_ns / o->interval_ns * (o->poisson ? 2 : 1) + 1;

	return n < WINDOW_MAX ? n : WINDOW_MAX;
}

/* Does an emitter ask the reflector for its times? */
static inline bool options_joined(const struct options *o)
{
	return o->role == ROLE_EMIT && !o->plain && !options_echoes(o);
}

/* Reads argv into *o, defaults first, and checks each value and the rules across options. 0, or -EINVAL after one line
 * on stderr that names the option, the value and what is allowed. Strings point into argv. */
int options_parse(struct options *o, int argc, char **argv);

/* What an option is now: as it was given, by default, or as it follows from others. */
struct option_value {
	const char *name; /* without the dashes */
	enum { OPTION_NONE, OPTION_FLAG, OPTION_NUMBER, OPTION_TEXT, OPTION_ADDRESS, OPTION_PREFIXES, OPTION_ACTIONS,
	       OPTION_ROTATION } kind;
	int64_t number; /* of a flag: 0 or 1 */
	const char *unit; /* of a number: "ns" of all times, "octets" and the like; NULL: it has none */
	const char *text;
	const union address *address;
};

/* Option `index` of the table; what is no number, flag or text is in *o. OPTION_NONE: it was not given and has no
 * default. False: there are no more. */
bool options_value(const struct options *o, unsigned index, struct option_value *v);

/* Writes the help text, made from the same table that parses. */
void options_usage(FILE *out);

#endif
