// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line. One table holds all that is known of an option; the parser, the defaults, the error messages and
 * the help text are made from it. What concerns two options is in a second table, of rules.
 */
#include "options.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#define BUSY_POLL_IMPLIED_US 50 /* recommended for busy_read in Documentation/admin-guide/sysctl/net.rst */

/* ---- The table --------------------------------------------------------------------------------------------------- */

enum kind { KIND_FLAG, KIND_NUMBER, KIND_DSCP, KIND_CHOICE, KIND_FILE, KIND_FOLDER, KIND_USER, KIND_INTERFACE, KIND_ADDRESS, KIND_PREFIX,
	    KIND_ACTION, KIND_ROTATION, KIND_TOLERANCE };

struct choice {
	const char *name;
	int64_t value;
};

struct option_row {
	const char *heading; /* in the help text, above the first option of a group */
	char letter; /* 0: the long name only */
	const char *name;
	const char *argument; /* its name in the help text; NULL: takes none */
	enum kind kind;
	size_t offset; /* in struct options */
	/* Numbers: `min`, `max` and `initial` are as stored. */
	const char *unit;
	int64_t unit_size; /* what 1 on the command line is stored as */
	int decimals; /* allowed */
	int64_t ns; /* of a time: what a stored 1 is, so that a number may have another unit behind it; 0: it is no time */
	int64_t min, max;
	bool zero; /* 0 is taken too, though it is out of range: as if it was not given */
	int64_t initial; /* default; a number outside of its range is none */
	const struct choice *choice; /* the last has no name */
	const char *help;
};

/* Does not compile when the field is not of the type that the kind stores. */
#define AT(type, field) _Generic(((struct options *)0)->field, type: offsetof(struct options, field))
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
#define PTP_PORT 319 /* IEEE 1588-2008 annex D: event messages */
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
	{ 0 },
};

static const struct choice ptp_types[] = {
	{ "delay-req", PTP_TYPE_DELAY_REQ },
	{ "sync", PTP_TYPE_SYNC },
	{ 0 },
};

static const struct option_row table[] = {
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
	  .help = "what carries the packets, the same at both ends" },
	{ NULL, 0, "ptp-type", "TYPE", CHOICE(ptp_type), .initial = PTP_TYPE_DELAY_REQ, .choice = ptp_types,
	  .help = "of the PTP messages around them" },
	{ NULL, 0, "ptp-domain", "N", NUMBER(ptp_domain), .unit_size = 1, .min = 0, .max = PTP_DOMAIN_MAX, .initial = PTP_DOMAIN_MAX,
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
	{ NULL, 0, "source-ports", "N", NUMBER(source_ports), .unit_size = 1, .min = 1, .max = SOURCE_PORTS_MAX, .initial = 1,
	  .help = "emitter: from N ports in turn, e.g. to see each path of a fabric" },
	{ NULL, 0, "ttl", "N", NUMBER(ttl), .unit_size = 1, .min = 1, .max = 255, .initial = 255,
	  .help = "time to live, or hop limit, in the IP header" },

	{ "When to send", 0, "interval", "TIME", NUMBER(interval_ns), IN_US, .min = NS_PER_US, .max = 3600 * NS_PER_S,
	  .help = "emitter: probes by the clock, e.g. 50us, 10ms or 0.5s apart" },
	{ NULL, 0, "window", "N", NUMBER(window), .unit = "probes", .unit_size = 1, .min = 1, .max = WINDOW_MAX, .initial = 1,
	  .help = "emitter: in flight at most; by the clock what --timeout needs" },
	{ NULL, 0, "stamp-every", "N", NUMBER(stamp_every), .unit = "probes", .unit_size = 1, .min = 1, .max = 1000000, .initial = 1,
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
	{ NULL, 0, "rate-limit", "PPS", NUMBER(rate_limit), .unit = "requests/s", .unit_size = 1, .min = 1, .max = 1000000,
	  .help = "reflector: answer no more of a session" },
	{ NULL, 0, "sessions", "N", NUMBER(sessions), .unit_size = 1, .min = 1, .max = SESSIONS_MAX,
	  .initial = SESSIONS_MAX, .help = "reflector: answer at most so many senders at a time" },

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
	{ NULL, 0, "save-trace", "DIR", TEXT(KIND_FOLDER, save_trace_path), .help = "save the stopped trace below DIR" },
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
	{ NULL, 0, "json", "FILE", TEXT(KIND_FILE, json_path), .help = "write all results to FILE as JSON, or - for stdout" },
	{ NULL, 0, "jsonl", "FILE", TEXT(KIND_FILE, jsonl_path),
	  .help = "write a line of JSON each second and at each breach, in the same way" },
	{ NULL, 0, "hgrm", "FILE", TEXT(KIND_FILE, hgrm_path),
	  .help = "write the percentile distribution for plotters of HdrHistogram" },
	{ NULL, 0, "hlog", "FILE", TEXT(KIND_FILE, hlog_path),
	  .help = "write a histogram each second as an interval log of HdrHistogram" },
	{ NULL, 0, "prometheus", "FILE", TEXT(KIND_FILE, prometheus_path),
	  .help = "replace FILE.prom of node_exporter every 10 s" },
	{ NULL, 'q', "quiet", NULL, FLAG(quiet), .help = "nothing on stdout" },
	{ NULL, 'v', "verbose", NULL, FLAG(verbose), .help = "show configuration, allocation and what was granted" },

	{ "How to run", 0, "cpu", "N", NUMBER(cpu), .unit_size = 1, .min = 0, .max = CPU_SETSIZE - 1, .initial = -1,
	  .help = "measure on this CPU, as with taskset -c N" },
	{ NULL, 0, "fifo", "N", NUMBER(fifo), .unit_size = 1, .min = 1, .max = 99,
	  .help = "and at this real-time priority, as with chrt -f N" },
	{ NULL, 0, "spin", NULL, FLAG(spin), .help = "reflector: keep its CPU busy also when nothing comes for a second" },
	{ NULL, 'G', "hugepages", NULL, FLAG(hugepages), .help = "huge pages for log and histogram" },
	{ NULL, 'p', "busy-poll-us", "US", NUMBER(busy_poll_us), .unit = "us", .unit_size = 1, .ns = NS_PER_US, .min = 0,
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
	{ NULL, 'V', "version", NULL, FLAG(version), .help = "show the version" },
	{ NULL, 0, "check", NULL, FLAG(check), .help = "look for what spoils a measurement, and send nothing" },

	{ "What runs have left", 0, "report", NULL, FLAG(report), .help = "of logs or --json files: of one run, both ends, or several runs" },
	{ NULL, 0, "compare", NULL, FLAG(compare), .help = "two --json files: is the second run worse?" },
	{ NULL, 0, "tolerance", "P%,TIME", TOLERANCE(tolerance), .help = "it is by more than this, e.g. 5%,500ns: more than both" },
};

#define ROWS (sizeof(table) / sizeof(table[0]))
#define LONG_CODE 256 /* getopt's code of a long option: its row, beyond every letter */

struct parse {
	struct options *o;
	const char *given[ROWS]; /* the argument, empty for a flag; NULL: not given */
};

/* ---- Phrases that messages and help text share ------------------------------------------------------------------- */

struct phrase {
	char text[192];
};

#define EXCERPT_MAX 40

__attribute__((format(printf, 2, 3)))
static void append(struct phrase *p, const char *format, ...)
{
	size_t used = strlen(p->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(p->text + used, sizeof(p->text) - used, format, arguments);
	va_end(arguments);
}

/* Joins words as "a, b or c"; `left` words follow this one. */
static void append_word(struct phrase *p, const char *prefix, const char *word, int left)
{
	append(p, "%s%s%s", !*p->text ? "" : left ? ", " : " or ", prefix, word);
}

/* What the user wrote, fit for a message of one line, however long it is and whatever is in it. */
static struct phrase excerpt(const char *text)
{
	struct phrase p = { "" };

	append(&p, "%.*s%s", EXCERPT_MAX, text, strlen(text) > EXCERPT_MAX ? "..." : "");
	for (char *c = p.text; *c; c++)
		*c = text_shown(*c);
	return p;
}

static int64_t power_of_ten(int exponent)
{
	return exponent ? 10 * power_of_ten(exponent - 1) : 1;
}

/* A stored value as it is written on the command line. */
static struct phrase number_text(const struct option_row *row, int64_t value)
{
	int64_t whole = value / row->unit_size, rest = value % row->unit_size;
	struct phrase p = { "" };

	append(&p, "%" PRId64, whole);
	if (rest)
		append(&p, ".%0*" PRId64, row->decimals, rest / (row->unit_size / power_of_ten(row->decimals)));
	return p;
}

/* What may stand behind the number of an option that is a time. */
static const struct time_unit {
	const char *name;
	int64_t ns;
	int decimals; /* finer is nothing that is stored */
} time_units[] = {
	{ "ns", 1, 0 }, { "us", NS_PER_US, 3 }, { "ms", NS_PER_MS, 6 }, { "s", NS_PER_S, 9 }, { "m", 60 * NS_PER_S, 9 },
	{ "h", 3600 * NS_PER_S, 9 }, { "d", 86400 * NS_PER_S, 9 },
};

#define TIME_UNITS ((int)(sizeof(time_units) / sizeof(time_units[0])))

/* The default as it is written on the command line; empty if there is none. */
static struct phrase default_text(const struct option_row *row)
{
	struct phrase p = { "" };

	if (row->kind == KIND_NUMBER && row->initial >= row->min)
		return number_text(row, row->initial);
	if (row->kind == KIND_CHOICE)
		for (const struct choice *c = row->choice; c->name; c++)
			if (c->value == row->initial)
				append(&p, "%s", c->name);
	return p;
}

static struct phrase allowed_numbers(const struct option_row *row)
{
	struct phrase p = { "" };

	append(&p, "%s to %s", number_text(row, row->min).text, number_text(row, row->max).text);
	if (row->unit)
		append(&p, " %s", row->unit);
	if (row->ns)
		append(&p, ", or with ns, us, ms, s, m, h or d");
	return p;
}

/* What may be given, for "give ...". */
static struct phrase allowed(const struct option_row *row)
{
	struct phrase p = { "" };

	switch (row->kind) {
	case KIND_NUMBER:
		return allowed_numbers(row);
	case KIND_DSCP:
		append(&p, "0 to 63, 0x0 to 0x3f, CS0 to CS7, AF11 to AF43, EF, VA, LE or DF");
		break;
	case KIND_CHOICE:
		for (const struct choice *c = row->choice; c->name; c++)
			append_word(&p, "", c->name, c[1].name != NULL);
		break;
	case KIND_FILE:
		append(&p, "the name of a file");
		break;
	case KIND_FOLDER:
		append(&p, "the name of a directory");
		break;
	case KIND_USER:
		append(&p, "the name of a user");
		break;
	case KIND_INTERFACE:
		append(&p, "the name of a network interface");
		break;
	case KIND_ADDRESS:
		append(&p, "an IP address%s", row->letter == 'a' ? ", the name of a host, or with --transport l2 a MAC address" : "");
		break;
	case KIND_PREFIX:
		append(&p, "an IP address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32");
		break;
	case KIND_ACTION:
		append(&p, "stop, continue or exec:COMMAND");
		break;
	case KIND_ROTATION:
		append(&p, "octets (k, M, G) from 256k on, and 1 to %d files, e.g. 100M,10", LOG_ROTATE_MOST_FILES);
		break;
	case KIND_TOLERANCE:
		append(&p, "a share up to 1000%% and a time up to 10 s, or one of them, e.g. 5%%,500ns");
		break;
	case KIND_FLAG:
		append(&p, "no argument");
		break;
	}
	return p;
}

static int refuse(const struct option_row *row, const char *text, const char *why)
{
	warnx("--%s: '%s' %s: give %s", row->name, excerpt(text).text, why, allowed(row).text);
	return -EINVAL;
}

/* ---- One option -------------------------------------------------------------------------------------------------- */

enum number { NUMBER_GOOD, NUMBER_MALFORMED, NUMBER_TOO_FINE, NUMBER_OUT_OF_RANGE };

/* Up to `stop`: digits, with a point among or before them where decimals are allowed: no exponent, no blank, no sign but the
 * minus that is always out of range. In integers, so that 0.1 us is 100 ns. *value is set when the number is good. */
static enum number digits_read(const struct option_row *row, const char *text, const char *stop, int64_t *value)
{
	const char *start = text + (*text == '-'), *end = start + strspn(start, "0123456789");
	int places = 0;
	bool overflow = false;
	int64_t n = 0;

	if (*end == '.') {
		size_t length = strspn(++end, "0123456789");

		if (!length)
			return NUMBER_MALFORMED;
		places = length > INT_MAX ? INT_MAX : (int)length;
		end += length;
	}
	if (end != stop || end == start)
		return NUMBER_MALFORMED;
	if (places > row->decimals)
		return NUMBER_TOO_FINE;
	for (const char *c = start; c < end; c++)
		if (*c != '.')
			overflow |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *c - '0', &n);
	overflow |= __builtin_mul_overflow(n, row->unit_size / power_of_ten(places), &n);
	if (start > text || overflow || n < row->min || n > row->max)
		return NUMBER_OUT_OF_RANGE;
	*value = n;
	return NUMBER_GOOD;
}

/* The unit of a time, which is all that is behind the number; NULL: there is none. */
static const struct time_unit *unit_of(const struct option_row *row, const char *text, const char **at)
{
	*at = text + strspn(text, "-.0123456789");
	for (int i = 0; i < TIME_UNITS && row->ns; i++)
		if (!strcmp(*at, time_units[i].name))
			return &time_units[i];
	return NULL;
}

/* *value is set when the number is good: as stored, and exactly what was given. */
static enum number number_read(const struct option_row *row, const char *text, int64_t *value)
{
	const char *at;
	const struct time_unit *unit = unit_of(row, text, &at);
	struct option_row in_ns = *row;
	enum number verdict;
	int64_t ns;

	if (!unit)
		return digits_read(row, text, text + strlen(text), value);
	in_ns.unit_size = unit->ns;
	in_ns.decimals = unit->decimals;
	in_ns.min *= row->ns;
	in_ns.max *= row->ns;
	verdict = digits_read(&in_ns, text, at, &ns);
	if (verdict != NUMBER_GOOD)
		return verdict;
	if (ns % row->ns)
		return NUMBER_TOO_FINE;
	*value = ns / row->ns;
	return NUMBER_GOOD;
}

static int refuse_fineness(const struct option_row *row, const char *text)
{
	struct phrase why = { "" };
	const char *at;

	if (unit_of(row, text, &at))
		return refuse(row, text, row->ns == 1 ? "is finer than a nanosecond" : "is finer than a microsecond");
	if (!row->decimals)
		return refuse(row, text, "is not a whole number");
	append(&why, "has too many decimals, at most %d are allowed", row->decimals);
	return refuse(row, text, why.text);
}

static int set_number(const struct option_row *row, const char *text, void *field)
{
	struct option_row wide = *row;
	int64_t number;

	wide.min = row->zero ? 0 : row->min;
	switch (number_read(&wide, text, &number)) {
	case NUMBER_GOOD:
		if (number < row->min && !(row->zero && number == 0))
			return refuse(row, text, "is out of range");
		*(int64_t *)field = number;
		return 0;
	case NUMBER_MALFORMED:
		return refuse(row, text, "is not a number");
	case NUMBER_OUT_OF_RANGE:
		return refuse(row, text, "is out of range");
	case NUMBER_TOO_FINE:
		break;
	}
	return refuse_fineness(row, text);
}

/* By name, of either case; -1: there is no such. RFC 2474 (CS, DF), 2597 (AF), 3246 (EF), 5865 (VA), 8622 (LE). */
static int dscp_named(const char *text)
{
	static const struct choice names[] = { { "EF", 46 }, { "VA", 44 }, { "LE", 1 }, { "DF", 0 } };
	const size_t length = strlen(text);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(text, names[i].name))
			return (int)names[i].value;
	if (length == 3 && !strncasecmp(text, "CS", 2) && text[2] >= '0' && text[2] <= '7')
		return 8 * (text[2] - '0');
	if (length == 4 && !strncasecmp(text, "AF", 2) && text[2] >= '1' && text[2] <= '4' && text[3] >= '1' && text[3] <= '3')
		return 8 * (text[2] - '0') + 2 * (text[3] - '0');
	return -1;
}

static int set_dscp(const struct option_row *row, const char *text, void *field)
{
	const bool hex = !strncasecmp(text, "0x", 2);
	const char *digits = text + 2;
	int64_t number = dscp_named(text);

	if (!hex && number < 0)
		return set_number(row, text, field);
	if (hex) {
		if (!*digits || digits[strspn(digits, "0123456789abcdefABCDEF")])
			return refuse(row, text, "is not a number");
		for (number = 0; *digits && number <= row->max; digits++)
			number = 16 * number + (*digits <= '9' ? *digits - '0' : (*digits & 0xf) + 9);
		if (number > row->max)
			return refuse(row, text, "is out of range");
	}
	*(int64_t *)field = number;
	return 0;
}

static int set_flag(const struct option_row *row, const char *text, void *field)
{
	(void)row, (void)text;
	*(bool *)field = true;
	return 0;
}

static int set_choice(const struct option_row *row, const char *text, void *field)
{
	for (const struct choice *c = row->choice; c->name; c++) {
		if (!strcmp(text, c->name)) {
			*(int64_t *)field = c->value;
			return 0;
		}
	}
	return refuse(row, text, "is not a choice");
}

static int set_path(const struct option_row *row, const char *text, void *field)
{
	if (!*text)
		return refuse(row, text, "is empty");
	*(const char **)field = text;
	return 0;
}

static int set_interface(const struct option_row *row, const char *text, void *field)
{
	_Static_assert(IFNAMSIZ == 16, "the sentence below names the longest interface name");
	if (strlen(text) >= IFNAMSIZ)
		return refuse(row, text, "is too long, interface names have at most 15 characters");
	return set_path(row, text, field);
}

/* Six pairs of hexadecimal digits with colons between them. */
static bool read_mac(const char *text, uint8_t mac[6])
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	for (int i = 0; i < 17; i++) {
		const char *digit = strchr(digits, text[i]);

		if (!text[i] || (i % 3 == 2 ? text[i] != ':' : !digit))
			return false;
		if (i % 3 != 2)
			mac[i / 3] = (uint8_t)(mac[i / 3] << 4 | (digit - digits) % 16);
	}
	return !text[17];
}

static int set_mac(const struct option_row *row, const char *text, const uint8_t mac[6], union address *server)
{
	if (mac[0] & 1)
		return refuse(row, text, "is the address of a group and not of one interface");
	if (!memcmp(mac, "\0\0\0\0\0", 6))
		return refuse(row, text, "is nobody's address");
	server->ll = (struct sockaddr_ll){ .sll_family = AF_PACKET, .sll_halen = 6 };
	memcpy(server->ll.sll_addr, mac, 6);
	return 0;
}

/* Up to a '%' or a '/', as inet_pton() wants it. */
static bool read_ipv6(const char *text, size_t bytes, struct in6_addr *in6)
{
	char address[INET6_ADDRSTRLEN];

	if (bytes >= sizeof(address))
		return false;
	memcpy(address, text, bytes);
	address[bytes] = '\0';
	return inet_pton(AF_INET6, address, in6) == 1;
}

/* Which interface the zone must name is not known before all options are: zone_elsewhere(). */
static int set_ipv6(const struct option_row *row, const char *text, union address *address)
{
	const size_t bytes = strcspn(text, "%");

	if (!read_ipv6(text, bytes, &address->in6.sin6_addr))
		return refuse(row, text, "is not an IPv6 address");
	address->in6.sin6_family = AF_INET6;
	if (IN6_IS_ADDR_V4MAPPED(&address->in6.sin6_addr))
		return refuse(row, text, "is an IPv4 address as IPv6 writes it, give its last four numbers");
	if (text[bytes] && !address_is_link_local(address))
		return refuse(row, text, "has a zone, which is only for link-local addresses (fe80::/10)");
	return 0;
}

/* What a resolver may be asked for (RFC 1123 section 2.1), and what is no mistyped address. */
static bool is_name(const char *text)
{
	static const char letters[] = "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const size_t length = strlen(text);
	struct in_addr number;

	return length && length <= 253 && strspn(text, letters) == length && *text != '-' && *text != '.' && !inet_aton(text, &number);
}

static int set_address(const struct option_row *row, const char *text, void *field)
{
	struct options *o = (struct options *)((char *)field - row->offset);
	const bool may_be_name = row->letter == 'a';
	union address *address = field;
	uint8_t mac[6] = { 0 };

	*address = (union address){ .any.sa_family = AF_UNSPEC };
	if (may_be_name)
		o->server_name = NULL;
	if (may_be_name && read_mac(text, mac))
		return set_mac(row, text, mac, address);
	if (inet_pton(AF_INET, text, &address->in.sin_addr) == 1) {
		address->in.sin_family = AF_INET;
		return 0;
	}
	if (strchr(text, ':'))
		return set_ipv6(row, text, address);
	if (text[strspn(text, "0123456789./-")] == '\0')
		return refuse(row, text, "is not an IPv4 address");
	if (!may_be_name || !is_name(text))
		return refuse(row, text, may_be_name ? "is neither an address nor a name" : "is not an IP address");
	o->server_name = text;
	return 0;
}

/* The length behind the slash, 0 to `most`; -1: it is none. */
static int prefix_bits(const char *text, int most)
{
	size_t digits = strspn(text, "0123456789");
	int bits = 0;

	if (!digits || digits > (most > 99 ? 3 : 2) || text[digits])
		return -1;
	while (*text)
		bits = 10 * bits + *text++ - '0';
	return bits <= most ? bits : -1;
}

/* Of the two families; what is behind the slash is not looked at. */
static bool read_prefix(const char *text, union address *at)
{
	const size_t bytes = strcspn(text, "/");
	char address[INET_ADDRSTRLEN] = "";

	at->any.sa_family = memchr(text, ':', bytes) ? AF_INET6 : AF_INET;
	if (at->any.sa_family == AF_INET6)
		return read_ipv6(text, bytes, &at->in6.sin6_addr);
	if (bytes < sizeof(address))
		memcpy(address, text, bytes);
	return inet_pton(AF_INET, address, &at->in.sin_addr) == 1;
}

/* The first bits of one of IPv6 as it is in memory. */
static void make_mask(int bits, uint64_t mask[2])
{
	uint8_t *octet = (uint8_t *)mask;

	for (int i = 0; i < 16; i++, bits -= 8)
		octet[i] = bits >= 8 ? 0xff : bits > 0 ? (uint8_t)(0xff00 >> bits) : 0;
}

static int set_prefix(const struct option_row *row, const char *text, void *field)
{
	const char *length = strchr(text, '/');
	struct allow_list *list = field;
	struct allow_prefix p = { .ipv6 = false };
	union address at = { .any.sa_family = AF_UNSPEC };
	int most, bits;

	if (!read_prefix(text, &at))
		return refuse(row, text, at.any.sa_family == AF_INET6 ? "is not an IPv6 prefix" : "is not an IPv4 prefix");
	p.ipv6 = at.any.sa_family == AF_INET6;
	most = p.ipv6 ? 128 : 32;
	bits = length ? prefix_bits(length + 1, most) : most;
	if (bits < 0)
		return refuse(row, text, p.ipv6 ? "has no length of 0 to 128 behind the slash" : "has no length of 0 to 32 behind the slash");
	address_as_ipv6(&at, p.address);
	make_mask(p.ipv6 ? bits : 96 + bits, p.mask);
	if (p.address[0] & ~p.mask[0] || p.address[1] & ~p.mask[1])
		return refuse(row, text, "has bits set behind its length");
	if (list->prefixes == ALLOW_MAX) {
		_Static_assert(ALLOW_MAX == 32, "the sentence below says how many");
		return refuse(row, text, "is one more than the 32 that are allowed");
	}
	list->prefix[list->prefixes++] = p;
	return 0;
}

static int set_action(const struct option_row *row, const char *text, void *field)
{
	struct breach_actions *actions = field;

	if (!strcmp(text, "stop")) {
		actions->stop = true;
	} else if (!strcmp(text, "continue")) {
		actions->keep_going = true;
	} else if (strncmp(text, "exec:", 5) || !text[5]) {
		return refuse(row, text, "is not an action");
	} else if (actions->commands == BREACH_COMMANDS_MAX) {
		_Static_assert(BREACH_COMMANDS_MAX == 8, "the sentence below says how many");
		return refuse(row, text, "is the ninth command, eight are allowed");
	} else {
		actions->command[actions->commands++] = text + 5;
	}
	return 0;
}

/* Digits; what follows them is at *end. False: there is no such number. */
static bool read_whole(const char *text, const char **end, int64_t *value)
{
	bool overflow = false;

	for (*value = 0, *end = text; **end >= '0' && **end <= '9'; ++*end)
		overflow |= __builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, **end - '0', value);
	return *end > text && !overflow;
}

static int set_rotation(const struct option_row *row, const char *text, void *field)
{
	static const char scales[] = "kMG";
	struct log_rotation *r = field;
	const char *end, *scale;

	if (!read_whole(text, &end, &r->bytes))
		return refuse(row, text, "has no size");
	scale = *end ? strchr(scales, *end) : NULL;
	if (scale && __builtin_mul_overflow(r->bytes, 1LL << 10 * (scale - scales + 1), &r->bytes))
		return refuse(row, text, "is out of range");
	end += scale != NULL;
	if (*end != ',' || !read_whole(end + 1, &end, &r->files) || *end)
		return refuse(row, text, "is not a size and a number of files");
	if (r->bytes < LOG_ROTATE_LEAST_BYTES || r->files < 1 || r->files > LOG_ROTATE_MOST_FILES)
		return refuse(row, text, "is out of range");
	return 0;
}

/* One of the two parts: a share with a percent sign, or a time with its unit. */
static enum number part_read(const char *text, struct tolerance *t)
{
	static const struct option_row percent = { .unit_size = 1000, .decimals = 3, .min = 0, .max = 1000000 };
	static const struct option_row time = { .unit_size = 1, .ns = 1, .min = 0, .max = 10 * NS_PER_S };
	const size_t bytes = strlen(text);
	const char *at;

	if (bytes && text[bytes - 1] == '%')
		return t->milli_percent ? NUMBER_MALFORMED : digits_read(&percent, text, text + bytes - 1, &t->milli_percent);
	return t->ns || !unit_of(&time, text, &at) ? NUMBER_MALFORMED : number_read(&time, text, &t->ns);
}

static int set_tolerance(const struct option_row *row, const char *text, void *field)
{
	const size_t first = strcspn(text, ",");
	struct tolerance *t = field;
	enum number verdict;
	char part[64];

	*t = (struct tolerance){ 0 };
	if (first >= sizeof(part))
		return refuse(row, text, "is no tolerance");
	memcpy(part, text, first);
	part[first] = '\0';
	verdict = part_read(part, t);
	if (verdict == NUMBER_GOOD && text[first])
		verdict = part_read(text + first + 1, t);
	return verdict == NUMBER_GOOD ? 0 : refuse(row, text, verdict == NUMBER_OUT_OF_RANGE ? "is out of range" : "is no tolerance");
}

static int (*const set[])(const struct option_row *row, const char *text, void *field) = {
	[KIND_FLAG] = set_flag,
	[KIND_NUMBER] = set_number,
	[KIND_DSCP] = set_dscp,
	[KIND_CHOICE] = set_choice,
	[KIND_FILE] = set_path,
	[KIND_FOLDER] = set_path,
	[KIND_USER] = set_path,
	[KIND_INTERFACE] = set_interface,
	[KIND_ADDRESS] = set_address,
	[KIND_PREFIX] = set_prefix,
	[KIND_ACTION] = set_action,
	[KIND_ROTATION] = set_rotation,
	[KIND_TOLERANCE] = set_tolerance,
};

static void set_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->server.any.sa_family = AF_UNSPEC;
	o->role = ROLE_REFLECT;
	for (const struct option_row *row = table; row < table + ROWS; row++)
		if (row->kind == KIND_NUMBER || row->kind == KIND_DSCP || row->kind == KIND_CHOICE)
			*(int64_t *)((char *)o + row->offset) = row->initial;
}

/* ---- Rules across options ---------------------------------------------------------------------------------------- */

static const struct option_row *row_named(const char *name)
{
	const struct option_row *row = table;

	while (strcmp(row->name, name))
		row++;
	return row;
}

/* Its argument, empty for a flag; NULL: it was not given. */
static const char *given(const struct parse *p, const char *name)
{
	return p->given[row_named(name) - table];
}

static bool reads_files(const struct parse *p)
{
	return p->o->report || p->o->compare;
}

static bool no_interface(const struct parse *p)
{
	return !given(p, "interface") && !reads_files(p);
}

static bool save_without_trace(const struct parse *p)
{
	return p->o->save_trace_path && !p->o->trace_marker;
}

static bool rearm_without_continue(const struct parse *p)
{
	return p->o->trace_rearm && !p->o->keep_going;
}

static bool stop_and_continue(const struct parse *p)
{
	return p->o->on_breach.stop && p->o->keep_going;
}

static bool give_up_before_timeout(const struct parse *p)
{
	return p->o->give_up_ns && p->o->give_up_ns < p->o->timeout_ns;
}

static bool user_stamps_and_others(const struct parse *p)
{
	return p->o->no_hw_stamps && given(p, "stamp") && strcmp(given(p, "stamp"), "user");
}

static bool overflow_below_bucket(const struct parse *p)
{
	return p->o->overflow_ns < p->o->bucket_ns;
}

static bool budget_without_busy_poll(const struct parse *p)
{
	return p->o->busy_poll_budget && given(p, "busy-poll-us") && !p->o->busy_poll_us;
}

static bool preference_without_busy_poll(const struct parse *p)
{
	return p->o->prefer_busy_poll && given(p, "busy-poll-us") && !p->o->busy_poll_us;
}

static bool seed_without_chance(const struct parse *p)
{
	return p->o->seed >= 0 && !p->o->jitter_percent && !p->o->poisson;
}

static bool window_with_counters(const struct parse *p)
{
	return p->o->pmc && p->o->window > 1;
}

static bool ports_with_counters(const struct parse *p)
{
	return p->o->pmc && p->o->source_ports > 1;
}

static bool load_without_window(const struct parse *p)
{
	return p->o->stamp_every > 1 && p->o->window < 2 && p->o->source_ports < 2;
}

static bool load_by_user(const struct parse *p)
{
	return p->o->stamp_every > 1 && p->o->stamp == SOURCE_USER;
}

static bool plain_figure(const struct parse *p)
{
	return p->o->plain && p->o->threshold_on != FIGURE_RTT;
}

static bool duration_zero(const struct parse *p)
{
	return given(p, "duration") && !p->o->duration_ns;
}

static bool has_fast_path(const struct parse *p)
{
	return p->o->fast_path;
}

static bool has_threaded(const struct parse *p)
{
	return p->o->threaded;
}

static bool port_of_ptp(const struct parse *p)
{
	return options_in_ptp(p->o) && given(p, "port");
}

static bool ports_in_ptp(const struct parse *p)
{
	return options_in_ptp(p->o) && p->o->source_ports > 1;
}

static bool type_without_ptp(const struct parse *p)
{
	return !options_in_ptp(p->o) && given(p, "ptp-type");
}

static bool domain_without_ptp(const struct parse *p)
{
	return !options_in_ptp(p->o) && given(p, "ptp-domain");
}

static bool on_ethernet(const struct parse *p)
{
	return p->o->transport == TRANSPORT_L2;
}

static bool mac_without_ethernet(const struct parse *p)
{
	return p->o->server.any.sa_family == AF_PACKET && !on_ethernet(p);
}

static bool ip_on_ethernet(const struct parse *p)
{
	return given(p, "address") && p->o->server.any.sa_family != AF_PACKET && on_ethernet(p);
}

static bool ipv4_on_ethernet(const struct parse *p)
{
	return p->o->ipv4 && on_ethernet(p);
}

static bool ipv6_on_ethernet(const struct parse *p)
{
	return p->o->ipv6 && on_ethernet(p);
}

/* Is one of either IP family, and not of this one? */
static bool is_other(const union address *a, int family)
{
	return (a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6) && a->any.sa_family != family;
}

static bool address_not_ipv4(const struct parse *p)
{
	return p->o->ipv4 && is_other(&p->o->server, AF_INET);
}

static bool address_not_ipv6(const struct parse *p)
{
	return p->o->ipv6 && is_other(&p->o->server, AF_INET6);
}

static bool bind_not_ipv4(const struct parse *p)
{
	return p->o->ipv4 && is_other(&p->o->own, AF_INET);
}

static bool bind_not_ipv6(const struct parse *p)
{
	return p->o->ipv6 && is_other(&p->o->own, AF_INET6);
}

static bool bind_not_as_address(const struct parse *p)
{
	return p->o->own.any.sa_family != AF_UNSPEC && is_other(&p->o->server, p->o->own.any.sa_family);
}

/* Has it a zone that is not the interface? */
static bool zone_elsewhere(const struct parse *p, const char *name)
{
	const char *zone = given(p, name) ? strchr(given(p, name), '%') : NULL;

	return zone && p->o->interface && strcmp(zone + 1, p->o->interface);
}

static bool address_elsewhere(const struct parse *p)
{
	return zone_elsewhere(p, "address");
}

static bool bind_elsewhere(const struct parse *p)
{
	return zone_elsewhere(p, "bind");
}

static bool bind_on_ethernet(const struct parse *p)
{
	return given(p, "bind") && on_ethernet(p);
}

static bool dscp_on_ethernet(const struct parse *p)
{
	return given(p, "dscp") && on_ethernet(p);
}

static bool ttl_on_ethernet(const struct parse *p)
{
	return given(p, "ttl") && on_ethernet(p);
}

static bool allow_on_ethernet(const struct parse *p)
{
	return given(p, "allow") && on_ethernet(p);
}

static bool busy_poll_on_ethernet(const struct parse *p)
{
	return p->o->busy_poll_us && on_ethernet(p);
}

/* The length of a TLV is even. */
static bool odd_in_ptp(const struct parse *p)
{
	return options_in_ptp(p->o) && p->o->size_bytes % 2;
}

static const struct rule {
	bool (*broken)(const struct parse *p); /* NULL: it is, when the first is given with, or without, the second */
	const char *first;
	const char *second; /* NULL: the rule is that the first must be given */
	const char *joint; /* the sentence is "--first 1 joint --second 2: why", or "--first why" */
	const char *why;
} rules[] = {
	{ NULL, "report", "compare", "with", "give one of the two" },
	{ NULL, "tolerance", "compare", "without", "nothing else compares" },
	{ no_interface, "interface", NULL, NULL,
	  "is missing: give the name of a network interface ('ip link' lists them)" },
	{ NULL, "once", "address", "with", "only a reflector waits for emitters, use --count or --duration" },
	{ NULL, "allow", "address", "with", "only a reflector answers" },
	{ NULL, "allow-short", "address", "with", "only a reflector answers" },
	{ NULL, "rate-limit", "address", "with", "only a reflector answers" },
	{ NULL, "sessions", "address", "with", "only a reflector answers" },
	{ NULL, "spin", "address", "with", "only a reflector sleeps when nothing comes" },
	{ NULL, "allow-short", "key", "with", "an authenticated request has 112 octets or more" },
	{ NULL, "once-silence", "once", "without", "nothing else waits for a silence" },
	{ NULL, "give-up", "address", "without", "a reflector waits for whoever comes, see --once" },
	{ give_up_before_timeout, "give-up", "timeout", "with", "a reply may still come in time, give at least as much" },
	{ NULL, "vlan-priority", "priority", "with", "it chooses the SO_PRIORITY that has it" },
	{ NULL, "size", "address", "without", "a reply is as long as its request" },
	{ NULL, "plain", "address", "without", "a reply is as its request asks" },
	{ NULL, "interval", "address", "without", "a reflector answers when it is asked" },
	{ NULL, "window", "address", "without", "a reflector answers when it is asked" },
	{ window_with_counters, "pmc", "window", "with", "the counters are of one exchange at a time, give --window 1" },
	{ NULL, "source-ports", "address", "without", "a reflector answers by the port that was asked" },
	{ ports_with_counters, "pmc", "source-ports", "with", "the counters are of one socket, give --source-ports 1" },
	{ NULL, "stamp-every", "address", "without", "a reflector stamps all replies, or none with --no-tx-ts" },
	{ load_without_window, "stamp-every", "window", "without", "one probe at a time is no load, give --window N or --interval TIME" },
	{ load_by_user, "stamp-every", NULL, NULL, "is for stamps of the NIC or the kernel: what user space reads keeps nothing waiting, leave it out" },
	{ port_of_ptp, "port", "transport", "with", "its port is not ours to choose" },
	{ ports_in_ptp, "source-ports", "transport", "with", "it has one" },
	{ type_without_ptp, "ptp-type", "transport", "with", "there is no PTP message around a packet" },
	{ domain_without_ptp, "ptp-domain", "transport", "with", "there is no PTP message around a packet" },
	{ mac_without_ethernet, "address", "transport", "with", "a MAC address is for --transport l2, at both ends" },
	{ ip_on_ethernet, "address", "transport", "with", "there is no IP, give the MAC address of the reflector's interface" },
	{ NULL, "ipv4", "ipv6", "with", "a reflector answers both without either of them, and to a name the first address that is reached is taken" },
	{ address_not_ipv4, "address", "ipv4", "with", "that is an IPv6 address" },
	{ address_not_ipv6, "address", "ipv6", "with", "that is an IPv4 address" },
	{ bind_not_ipv4, "bind", "ipv4", "with", "that is an IPv6 address" },
	{ bind_not_ipv6, "bind", "ipv6", "with", "that is an IPv4 address" },
	{ bind_not_as_address, "bind", "address", "with", "one is of IPv4 and one of IPv6, give two of one family" },
	{ address_elsewhere, "address", "interface", "with", "its zone, behind the %, must be this interface: leave it out" },
	{ bind_elsewhere, "bind", "interface", "with", "its zone, behind the %, must be this interface: leave it out" },
	{ ipv4_on_ethernet, "ipv4", "transport", "with", "there is no IP" },
	{ ipv6_on_ethernet, "ipv6", "transport", "with", "there is no IP" },
	{ bind_on_ethernet, "bind", "transport", "with", "there are no IP addresses" },
	{ dscp_on_ethernet, "dscp", "transport", "with", "there is no IP header" },
	{ ttl_on_ethernet, "ttl", "transport", "with", "there is no IP header" },
	{ allow_on_ethernet, "allow", "transport", "with", "there are no IP addresses" },
	{ busy_poll_on_ethernet, "busy-poll-us", "transport", "with", "the kernel polls for no packet socket" },
	{ odd_in_ptp, "size", "transport", "with", "what a PTP message carries is of even length" },
	{ NULL, "pacing", "interval", "without", "there is nothing to wait for, give --interval TIME" },
	{ NULL, "jitter", "interval", "without", "there is no interval, give --interval TIME" },
	{ NULL, "poisson", "interval", "without", "there is no interval, give --interval TIME" },
	{ NULL, "poisson", "jitter", "with", "its intervals are by chance already" },
	{ seed_without_chance, "seed", "jitter", "without", "nothing is left to chance, give --jitter PCT or --poisson" },
	{ NULL, "synced", "address", "without", "only an emitter has the times of both ends" },
	{ NULL, "threshold-on", "address", "without", "the threshold of a reflector is for its response" },
	{ NULL, "log-full", "address", "without", "only an emitter has the times of both ends" },
	{ NULL, "threshold-on", "threshold", "without",
	  "there is no threshold, give --threshold US" },
	{ NULL, "log-full", "log", "without", "there is no log, give --log FILE" },
	{ NULL, "plain", "log-full", "with", "the reflector would not be asked for its times" },
	{ plain_figure, "plain", "threshold-on", "with", "the reflector would not be asked for its times" },
	{ NULL, "plain", "size", "with", "a plain packet has 44 octets" },
	{ user_stamps_and_others, "no-hw-ts", "stamp", "with", "it means --stamp user, give one of the two" },
	{ NULL, "on-breach", "threshold", "without", "there is no breach to act on" },
	{ stop_and_continue, "on-breach", "continue", "with", "give stop or continue" },
	{ save_without_trace, "save-trace", "trace-marker", "without", "there is no trace to save, give -T or -S" },
	{ NULL, "trace-rearm", "save-trace", "without", "what is not saved would be overwritten" },
	{ rearm_without_continue, "trace-rearm", "continue", "without", "the run ends at the first breach" },
	{ NULL, "log-format", "log", "without", "there is no log, give --log FILE" },
	{ NULL, "log-last", "log", "without", "there is no log, give --log FILE" },
	{ NULL, "log-rotate", "log", "without", "there is no log, give --log FILE" },
	{ overflow_below_bucket, "overflow", "bucket-size", "with",
	  "the overflow threshold must be at least one bucket" },
	{ budget_without_busy_poll, "budget", "busy-poll-us", "with",
	  "without a busy-poll time the kernel ignores it" },
	{ preference_without_busy_poll, "prefer-busypoll", "busy-poll-us", "with",
	  "without a busy-poll time the kernel ignores it" },
};

/* What is said of options that are taken and do nothing, when no rule is broken; see derive(). */
static const struct rule notes[] = {
	{ NULL, "continue", "threshold", "without", "ignored, there is no breach to go on after" },
	{ NULL, "snapshot", "threshold", "without", "ignored but for the -T in it, there is no breach to take it at" },
	{ NULL, "log-threshold", "log", "without", "ignored, there is no log, give --log FILE" },
	{ NULL, "no-tx-ts", "address", "with", "ignored, the round trip starts at a transmit stamp, only a reflector can do without" },
	{ duration_zero, "duration", NULL, NULL, "of 0 is no limit: it is measured until interrupted" },
	{ has_fast_path, "fast-path", NULL, NULL,
	  "is not needed: between sending and receiving there is nothing to leave out, with or without it" },
	{ has_threaded, "threaded", NULL, NULL,
	  "is not needed: one thread sends, receives and fetches stamps, and never waits for one of them; the rest is on another CPU" },
};

/* The option with its value, as it was given or is by default. */
static struct phrase as_given(const struct parse *p, const char *name)
{
	const char *text = given(p, name);
	struct phrase value = text ? excerpt(text) : default_text(row_named(name)), option = { "" };

	append(&option, "--%s%s%s", name, *value.text ? " " : "", value.text);
	return option;
}

static bool is_broken(const struct parse *p, const struct rule *r)
{
	if (r->broken)
		return r->broken(p);
	if (!r->second)
		return !given(p, r->first);

	bool without = !strcmp(r->joint, "without");

	return given(p, r->first) && without == !given(p, r->second);
}

static void say_rule(const struct parse *p, const struct rule *r, const char *prefix)
{
	if (r->second)
		warnx("%s%s %s %s: %s", prefix, as_given(p, r->first).text, r->joint, as_given(p, r->second).text, r->why);
	else
		warnx("--%s %s", r->first, r->why);
}

/* What is of a run has no place where files are read: it would be taken for what the files were made with. */
static int check_reading(const struct parse *p)
{
	static const char *const of_both[] = { "report", "compare", "json", "quiet", "verbose", "tolerance" };
	static const char *const of_report[] = { "histogram", "overflow", "bucket-size", "hgrm", "prometheus" };
	const char *mode = p->o->report ? "report" : "compare";

	for (const struct option_row *row = table; row < table + ROWS; row++) {
		bool fits = !p->given[row - table];

		for (size_t i = 0; i < sizeof(of_both) / sizeof(of_both[0]); i++)
			fits |= !strcmp(row->name, of_both[i]);
		for (size_t i = 0; i < sizeof(of_report) / sizeof(of_report[0]) && p->o->report; i++)
			fits |= !strcmp(row->name, of_report[i]);
		if (fits)
			continue;
		warnx("%s with --%s: nothing is measured where files are read, leave it out", as_given(p, row->name).text, mode);
		return -EINVAL;
	}
	if (p->o->compare ? p->o->files == 2 : p->o->files > 0)
		return 0;
	warnx("--%s needs %s", mode, p->o->compare ? "two files that --json has written: give the one of before, and the new one" :
						      "files: give logs, or what --json has written");
	return -EINVAL;
}

static int check_rules(const struct parse *p)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!is_broken(p, &rules[i]))
			continue;
		say_rule(p, &rules[i], "");
		return -EINVAL;
	}
	if (reads_files(p))
		return check_reading(p);
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (is_broken(p, &notes[i]))
			say_rule(p, &notes[i], "warning: ");
	return 0;
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

struct getopt_tables {
	char letters[2 * ROWS + 2];
	struct option longs[ROWS + 1];
};

static void make_getopt_tables(struct getopt_tables *t)
{
	char *letter = t->letters;

	memset(t, 0, sizeof(*t));
	*letter++ = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < ROWS; i++) {
		t->longs[i].name = table[i].name;
		t->longs[i].has_arg = table[i].argument ? required_argument : no_argument;
		t->longs[i].val = LONG_CODE + (int)i;
		if (!table[i].letter)
			continue;
		*letter++ = table[i].letter;
		if (table[i].argument)
			*letter++ = ':';
	}
}

static void rewind_getopt(void)
{
	opterr = 0;
	optind = 0; /* glibc: forget all of an earlier scan, even one that stopped within a cluster */
}

/* For the codes in the tables of getopt only, not for its '?' and ':'. */
static const struct option_row *row_of(int code)
{
	const struct option_row *row = table;

	if (code >= LONG_CODE)
		return &table[code - LONG_CODE];
	while (row->letter != code)
		row++;
	return row;
}

#define TYPOS_MAX 32 /* octets of a name that is compared */

/* How many octets must be put in, left out or changed to make one of the other (Levenshtein). */
static unsigned distance(const char *a, size_t bytes, const char *b)
{
	unsigned row[TYPOS_MAX + 1];

	for (unsigned j = 0; j <= bytes; j++)
		row[j] = j;
	for (unsigned i = 1; *b; i++, b++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= bytes; j++) {
			unsigned best = corner + (a[j - 1] != *b);

			corner = row[j];
			best = best < corner + 1 ? best : corner + 1;
			row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
		}
	}
	return row[bytes];
}

/* What may have been meant: at most a quarter of it is wrong, and one octet. NULL: nothing is so near. */
static const char *nearest(const char *name, size_t bytes)
{
	unsigned least = 2 + (unsigned)bytes / 4;
	const char *found = NULL;

	if (bytes > TYPOS_MAX)
		return NULL;
	for (const struct option_row *row = table; row < table + ROWS; row++) {
		const unsigned n = distance(name, bytes, row->name);

		if (n >= least)
			continue;
		least = n;
		found = row->name;
	}
	return found;
}

static int refuse_unknown(const char *option, const char *meant)
{
	if (meant)
		warnx("%s: unknown option: did you mean %s? 'rant --help' lists the options", option, meant);
	else
		warnx("%s: unknown option: 'rant --help' lists the options", option);
	return -EINVAL;
}

/* A long option that getopt did not take: unknown, or the beginning of several. */
static int refuse_long(const char *argument)
{
	size_t bytes = strcspn(argument + 2, "=");
	struct phrase candidates = { "" }, meant = { "" };
	int left = 0;

	for (size_t i = 0; bytes && i < ROWS; i++)
		left += !strncmp(table[i].name, argument + 2, bytes);
	if (!left) {
		const char *name = nearest(argument + 2, bytes);

		if (name)
			append(&meant, "--%s", name);
		return refuse_unknown(excerpt(argument).text, name ? meant.text : NULL);
	}
	for (size_t i = 0; i < ROWS; i++)
		if (!strncmp(table[i].name, argument + 2, bytes))
			append_word(&candidates, "--", table[i].name, --left);
	warnx("%s: ambiguous option: give %s", excerpt(argument).text, candidates.text);
	return -EINVAL;
}

/* The nearest to a letter is the same one of the other case. */
static int refuse_letter(int letter)
{
	struct phrase option = { "" }, meant = { "" };

	append(&option, "-%c", letter > ' ' && letter < 0x7f ? letter : '?');
	for (const struct option_row *row = table; row < table + ROWS; row++)
		if (row->letter && row->letter == (letter ^ ('a' ^ 'A')) && ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'))
			append(&meant, "-%c, --%s", row->letter, row->name);
	return refuse_unknown(option.text, *meant.text ? meant.text : NULL);
}

/* getopt said '?'. optopt is 0 for a long name it does not know, the code of a known one that takes no argument, or
 * an unknown letter. */
static int refuse_option(const char *argument)
{
	if (optopt == 0)
		return refuse_long(argument);
	if (optopt >= LONG_CODE) {
		warnx("--%s: takes no argument, not even '%s'", row_of(optopt)->name,
		      excerpt(strchr(argument, '=') + 1).text);
		return -EINVAL;
	}
	return refuse_letter(optopt);
}

static int read_option(struct parse *p, int code, char **argv)
{
	const struct option_row *row;

	if (code == '?')
		return refuse_option(argv[optind - 1]);
	if (code == ':') {
		row = row_of(optopt);
		warnx("--%s: %s is missing: give %s", row->name, row->argument, allowed(row).text);
		return -EINVAL;
	}
	row = row_of(code);
	p->given[row - table] = optarg ? optarg : "";
	return set[row->kind](row, optarg, (char *)p->o + row->offset);
}

/* Help is for those whose command line is not right yet, so it is looked for first and errors don't count. */
static bool wants_help(struct options *o, const struct getopt_tables *t, int argc, char **argv)
{
	int code;

	rewind_getopt();
	while ((code = getopt_long(argc, argv, t->letters, t->longs, NULL)) != -1) {
		const struct option_row *row;

		if (code == '?' || code == ':')
			continue;
		row = row_of(code);
		if (row->letter == 'h' || row->letter == 'V')
			set_flag(row, NULL, (char *)o + row->offset);
	}
	if (o->help)
		o->version = false;
	return o->help || o->version;
}

/* What follows from several options together. */
static void derive(struct parse *p)
{
	struct options *o = p->o;

	if (o->server.any.sa_family != AF_UNSPEC || o->server_name)
		o->role = ROLE_EMIT;
	if (o->no_hw_stamps)
		o->stamp = SOURCE_USER;
	if (options_in_ptp(o))
		o->port = o->transport == TRANSPORT_PTP ? PTP_PORT : 0;
	o->keep_going |= o->on_breach.keep_going;
	o->trace_marker |= o->snapshot;
	/* What is ignored: see notes[]. */
	o->snapshot &= o->threshold_ns > 0;
	o->no_tx_stamps &= o->role == ROLE_REFLECT;
	if (!o->log_path)
		o->log_threshold_ns = 0;
	if (o->seed < 0 && (o->jitter_percent || o->poisson))
		o->seed = clock_read_ns(CLOCK_REALTIME);
	if (o->interval_ns && !o->pmc && !given(p, "window"))
		o->window = options_in_timeout(o);
	/* The kernel looks at neither while SO_BUSY_POLL is 0. */
	if ((o->busy_poll_budget || o->prefer_busy_poll) && !given(p, "busy-poll-us")) {
		o->busy_poll_us = BUSY_POLL_IMPLIED_US;
		o->busy_poll_implied = true;
	}
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct parse p = { .o = o };
	struct getopt_tables t;
	int code, error;

	set_defaults(o);
	make_getopt_tables(&t);
	if (wants_help(o, &t, argc, argv))
		return 0;
	rewind_getopt();
	while ((code = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		error = read_option(&p, code, argv);
		if (error)
			return error;
	}
	if (optind < argc) {
		o->file = argv + optind;
		o->files = argc - optind;
	}
	if (o->files && !o->report && !o->compare) {
		warnx("'%s': belongs to no option: 'rant --help' lists the options", excerpt(argv[optind]).text);
		return -EINVAL;
	}
	derive(&p);
	return check_rules(&p);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void set_value(struct option_value *v, const struct option_row *row, const void *field)
{
	if (row->kind == KIND_NUMBER || row->kind == KIND_DSCP) {
		v->number = *(const int64_t *)field;
		v->unit = row->unit_size > 1 ? "ns" : row->unit;
		v->kind = v->number < row->min || v->number > row->max ? OPTION_NONE : OPTION_NUMBER;
		return;
	}
	if (row->kind == KIND_CHOICE) {
		for (const struct choice *c = row->choice; c->name; c++)
			v->text = c->value == *(const int64_t *)field ? c->name : v->text;
	} else {
		v->text = *(const char *const *)field;
	}
	v->kind = v->text ? OPTION_TEXT : OPTION_NONE;
}

bool options_value(const struct options *o, unsigned index, struct option_value *v)
{
	const struct option_row *row = &table[index];
	const void *field = (const char *)o + (index < ROWS ? row->offset : 0);

	if (index >= ROWS)
		return false;
	*v = (struct option_value){ .name = row->name };
	switch (row->kind) {
	case KIND_FLAG:
		v->kind = OPTION_FLAG;
		v->number = *(const bool *)field;
		break;
	case KIND_ADDRESS:
		v->address = field;
		v->kind = v->address->any.sa_family == AF_UNSPEC ? OPTION_NONE : OPTION_ADDRESS;
		break;
	case KIND_PREFIX:
		v->kind = OPTION_PREFIXES;
		break;
	case KIND_ACTION:
		v->kind = OPTION_ACTIONS;
		break;
	case KIND_ROTATION:
		v->kind = o->log_rotate.bytes ? OPTION_ROTATION : OPTION_NONE;
		break;
	case KIND_TOLERANCE: /* of no run */
		break;
	default:
		set_value(v, row, field);
	}
	return true;
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

#define HELP_COLUMN 27

static void print_row(FILE *out, const struct option_row *row)
{
	struct phrase left = { "" }, initial = default_text(row);

	if (row->letter)
		append(&left, "  -%c, --%s", row->letter, row->name);
	else
		append(&left, "      --%s", row->name);
	if (row->argument)
		append(&left, " %s", row->argument);
	fprintf(out, "%-*s%s", HELP_COLUMN, left.text, row->help);
	if (row->kind == KIND_CHOICE)
		fprintf(out, ": %s", allowed(row).text);
	if (*initial.text)
		fprintf(out, " (%s%s%s)", initial.text, row->unit ? " " : "", row->unit ? row->unit : "");
	fputc('\n', out);
}

void options_usage(FILE *out)
{
	fputs("rant measures network latency, stamped where packets cross the wire.\n\n"
	      "usage: rant -i IFACE -a IP [options]   emit: send probes to the reflector at IP\n"
	      "       rant -i IFACE [options]         reflect: answer probes\n"
	      "       rant -i IFACE --check           look at the NIC and this machine\n"
	      "       rant --report FILE...           what runs have left, without the network\n"
	      "       rant --compare FILE FILE        of two runs: is the second one worse?\n\n"
	      "A time may have its unit behind it, whatever unit is meant without one: 30us, 50ms, 10m.\n", out);
	for (const struct option_row *row = table; row < table + ROWS; row++) {
		if (row->heading)
			fprintf(out, "\n%s:\n", row->heading);
		print_row(out, row);
	}
	fputs("\nExit status:\n"
	      "  0  done\n"
	      "  1  could not run, or bad usage\n"
	      "  2  threshold breached (without --continue)\n"
	      "  3  the run finished, but its numbers are not to be trusted\n"
	      "  4  --compare: the second run is worse\n", out);
}
