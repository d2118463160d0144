/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rant: round-trip and network timing. One section per room; what a room promises is said here.
 *
 * Conventions: every time is a signed 64-bit count of nanoseconds, converted at the kernel's door; the unit is part of
 * the name. Functions return 0 (or a count) or -errno. A set-up function that fails has already written its one line
 * to stderr (what, why, what to do); callers only pass the error on. Rooms marked "hot" run between send and receive:
 * no allocation, no stdio, no lock.
 */
#ifndef RANT_H
#define RANT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* so this header comes first in every file */
#endif

#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define RANT_VERSION "0.1"

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S 1000000000LL

/* ---- Shared by all rooms: clocks, samples, addresses ------------------------------------------------------------- */

static inline int64_t clock_read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Counters have one writer, the measuring thread; the housekeeping thread may read them at any time. */
typedef _Atomic uint64_t counter;

static inline void counter_add(counter *c, uint64_t n)
{
	/* A relaxed load and store: with one writer no locked instruction is needed. */
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}

static inline uint64_t counter_get(const counter *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

enum role { ROLE_EMIT, ROLE_REFLECT };

/* Where a time came from. SOURCE_NONE: there is no such time, and the number beside it means nothing. */
enum source { SOURCE_NONE, SOURCE_USER, SOURCE_KERNEL, SOURCE_HARDWARE };

/* The four times of one exchange at one host, in the order in which they happen. */
enum { EMIT_T1_USER, EMIT_T1_WIRE, EMIT_T4_WIRE, EMIT_T4_USER };
enum { REFLECT_T2_WIRE, REFLECT_T2_USER, REFLECT_T3_USER, REFLECT_T3_WIRE };
#define TIMES 4

struct sample {
	uint32_t seq; /* sequence number of the probe, as on the wire */
	uint8_t source[TIMES]; /* enum source */
	int64_t time_ns[TIMES]; /* since the epoch of the clock that source[] names */
	int64_t latency_ns;
};

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* ---- options.c: the command line --------------------------------------------------------------------------------- */

struct options {
	const char *interface;
	union address server; /* any.sa_family is AF_UNSPEC without --address */
	const char *log_path;
	int64_t threshold_ns, log_threshold_ns; /* 0: none */
	int64_t duration_ns; /* 0: until interrupted */
	int64_t timeout_ns;
	int64_t warmup, count; /* packets; count 0: no limit */
	int64_t overflow_ns, bucket_ns;
	int64_t busy_poll_us, busy_poll_budget; /* 0: not asked for */
	int64_t port;
	int64_t stamp; /* enum source */
	bool trace_marker, snapshot, pmc;
	bool sw_timestamps, histogram, hugepages, prefer_busy_poll, keep_going, no_tx_stamps, no_hw_stamps, once;
	bool no_cpu_dma_latency;
	bool quiet, verbose, help, version, check;
	enum role role;
	bool busy_poll_implied; /* --budget or --prefer-busypoll set the busy-poll time */
};

/* Reads argv into *o, defaults first, and checks each value and the rules across options. 0, or -EINVAL after one line
 * on stderr that names the option, the value and what is allowed. Strings point into argv. */
int options_parse(struct options *o, int argc, char **argv);

/* Writes the help text, made from the same table that parses. */
void options_usage(FILE *out);

/* ---- nic.c: the interface: what it can stamp, what it is set to, putting it back ---------------------------------- */

/* Abilities as the kernel bitmaps of linux/net_tstamp.h: SOF_TIMESTAMPING_*, 1 << HWTSTAMP_TX_*, 1 << HWTSTAMP_FILTER_*. */
struct nic_abilities {
	uint32_t stamping, tx_types, rx_filters;
	int phc_index; /* -1: no hardware clock */
};

struct nic {
	char name[IFNAMSIZ];
	char driver[32];
	char bus[32]; /* where the driver says the device is: a PCI address for most; empty: not told */
	int index;
	unsigned flags; /* IFF_* */
	struct nic_abilities can; /* by nic_read_abilities(), which nic_stamp() calls */
	/* What nic_stamp() changed, for nic_restore(); struct hwtstamp_config is three ints. */
	bool changed;
	int found[3], set[3];
	int control_fd; /* for ioctls, kept open so that restoring needs no resources */
};

/* Looks the interface up in the network namespace of this process, by ioctl and netlink only (after nsenter --net,
 * sysfs shows another namespace). -ENODEV, -ENETDOWN: said on stderr. Without a carrier it warns and returns 0. */
int nic_open(struct nic *n, const char *name);

/* The same without a word about the link: an interface that is down is found too. */
int nic_find(struct nic *n, const char *name);

/* By ETHTOOL_GLINK, or IFF_RUNNING where the driver does not tell. */
bool nic_has_carrier(const struct nic *n);

#define NIC_MAC_BYTES 18

/* "02:00:00:00:00:01", by SIOCGIFHWADDR. 0 or -errno. */
int nic_read_mac(const struct nic *n, char text[NIC_MAC_BYTES]);

struct nic_link {
	int speed_mbps; /* -1: unknown */
	enum { NIC_DUPLEX_UNKNOWN, NIC_DUPLEX_HALF, NIC_DUPLEX_FULL } duplex;
};

/* By ETHTOOL_GLINKSETTINGS. 0 or -errno; -EOPNOTSUPP where the driver has no notion of a speed. */
int nic_read_link(const struct nic *n, struct nic_link *link);

/* Checks the address question: for an emitter, that `server` is reached through this interface and is not an address
 * of this host (loopback excepted); for a reflector (server NULL), that the interface has an IPv4 address. */
int nic_check_address(const struct nic *n, const union address *server);

/* One command of linux/ethtool.h, whose first word says which, by ioctl: works in any network namespace. 0 or -errno. */
int nic_ethtool(const struct nic *n, void *command);

/* Fills n->can. 0, or -errno after one line; an interface that stamps nothing is no error. */
int nic_read_abilities(struct nic *n);

/* The stamping setting as flags, HWTSTAMP_TX_*, HWTSTAMP_FILTER_*, by SIOCGHWTSTAMP; needs no privilege. 0 or -errno. */
int nic_read_setting(const struct nic *n, int setting[3]);

/* The setting that --stamp hardware needs. */
bool nic_stamps_all(const int setting[3]);

#define NIC_NAMES_BYTES 320 /* all filters */

/* Names as 'ethtool -T' prints them; "unknown" for a number without one. The plural ones take the bits of struct
 * nic_abilities, write "name name" or "nothing" and return `text`. */
const char *nic_tx_type_name(int tx_type);
const char *nic_filter_name(int rx_filter);
const char *nic_filter_names(uint32_t rx_filters, char text[NIC_NAMES_BYTES]);
const char *nic_stamping_names(uint32_t stamping, char text[NIC_NAMES_BYTES]);

/* Makes the NIC stamp every packet in both directions: reads its setting, changes only what is missing, reads it back.
 * 0, or -errno after the line that says what it can do instead. Source: Documentation/networking/timestamping.rst. */
int nic_stamp(struct nic *n);

/* Puts back the setting that nic_stamp() found, if it is still as nic_stamp() left it. Safe in a signal handler. */
void nic_restore(struct nic *n);

void nic_close(struct nic *n);

/* ---- socket.c: transports, and a socket ready for the loop -------------------------------------------------------- */

/* A transport is a row of data: how the socket is made and how its control messages are named. */
struct transport {
	const char *name;
	int domain, type, protocol;
	size_t stamp_offset; /* octets before the STAMP packet in what the socket carries */
	int ip_level; /* SOL_IP, SOL_IPV6 */
	int recverr_type; /* error queue: extended error */
	size_t recverr_bytes;
	int set_ttl, want_ttl, ttl_type; /* socket option to send with, to ask for the received one; its message, an int */
	int want_pktinfo, pktinfo_type; /* destination of the request, source of the reply */
	size_t pktinfo_bytes;
};

#ifndef SCM_TS_OPT_ID
#define SCM_TS_OPT_ID 81 /* asm-generic/socket.h, Linux 6.13 */
#endif

/* Socket and buffers of the measuring loop: made by socket.c, used by timestamping.c. */
#define DATAGRAM_MAX 65536 /* more than UDP can carry, so that MSG_TRUNC stays a surprise */

struct channel {
	const struct transport *transport;
	int fd;
	int stray_fd; /* emitter: bound to the same port, gets what others than the server send; -1 if none */
	enum source wire; /* of the stamps asked for; SOURCE_USER: none */
	bool tx_stamps, rx_stamps; /* asked for and granted */
	bool id_by_message; /* the kernel takes the id of a transmit stamp from us (SCM_TS_OPT_ID, Linux 6.13) */
	bool connected; /* emitter: no addresses in the messages */
	int receive_buffer_bytes; /* granted */
	counter error_other; /* entries of the error queue that are no transmit stamp of the kind asked for */
	counter control_truncated;
	uint8_t datagram[DATAGRAM_MAX]; /* last received; the reflector turns it into the reply in place */
};

/* Opens the socket and sets every option, reading back what was granted. 0, or -errno after one line. */
int socket_open(struct channel *c, const struct options *o);

/* Binds to the interface and the port, and connects (emitter). Datagrams queue up from here on, so it comes right before
 * the loop: what waited for the rest of the start would show as slow. 0, or -errno after one line. */
int socket_bind(struct channel *c, const struct options *o, const struct nic *n);

/* Datagrams for our port from others than the server, counted and dropped. Call it after the run, before close. */
uint64_t socket_count_strays(struct channel *c);

void socket_close(struct channel *c);

/* ---- packet.c (hot): STAMP, RFC 8762 and 8972 --------------------------------------------------------------------- */

#define STAMP_PORT 862 /* RFC 8762 section 4.1 */
#define STAMP_BASE_BYTES 44 /* unauthenticated packet, RFC 8762 sections 4.2 and 4.3 */
#define STAMP_REQUEST_MIN_BYTES 14 /* TWAMP-Light sender, RFC 4656 section 4.1.2 */
#define STAMP_REPLY_MIN_BYTES 38 /* up to the Session-Sender Error Estimate; TWAMP-Light sends 41 */

enum packet_verdict { PACKET_GOOD, PACKET_MALFORMED, PACKET_IS_REPLY };

struct request {
	uint32_t seq;
	uint16_t ssid;
	uint16_t error_estimate;
};

struct reply {
	uint32_t seq; /* of the reflector */
	uint32_t sender_seq; /* of the probe it answers */
	uint16_t ssid;
	int64_t t2_ns, t3_ns; /* since 1970, in the reflector's clock */
};

/* Writes a Session-Sender packet: 44 octets, PTP format (Z=1). */
void packet_probe(uint8_t *packet, uint32_t seq, uint16_t ssid, int64_t t1_ns);

/* PACKET_IS_REPLY: a Session-Reflector packet, which must not be answered. */
enum packet_verdict packet_read_request(const uint8_t *packet, size_t bytes, struct request *r);

/* Turns the request in `packet` into its reply, in place. The buffer holds at least STAMP_BASE_BYTES. ttl 0..255. Times
 * are written in the format that the request shows. Sets *malformed_tlv when a TLV was longer than the packet, and
 * marked so, or octets too few for one were left (RFC 8972 section 4). Returns the length of the reply: that of the request, at least 44. */
size_t packet_reply(uint8_t *packet, size_t bytes, uint32_t seq, int64_t t2_ns, int64_t t3_ns, uint8_t ttl,
		    bool *malformed_tlv);

/* `probe` is what was sent last: a reply that names its sequence number but not its T1 and Error Estimate is none. */
enum packet_verdict packet_read_reply(const uint8_t *packet, size_t bytes, struct reply *r);
bool packet_answers(const uint8_t *packet, const uint8_t *probe);

/* ---- timestamping.c (hot): send one, receive one, fetch transmit stamps ------------------------------------------- */

struct arrival {
	size_t bytes;
	union address from;
	uint8_t local[sizeof(struct in6_pktinfo)]; /* source for the answer, as the transport's packet info */
	bool to_unicast; /* the destination was an address of this host, not a broadcast or multicast one */
	bool from_self; /* source and destination address are the same */
	bool truncated;
	int ttl; /* -1: not told */
	uint8_t source; /* enum source of time_ns */
	int64_t time_ns;
};

struct departure {
	uint32_t key;
	int64_t time_ns;
};

/* Sends one packet. `key` becomes the id of its transmit stamp: it must count successful sends from 0, since older
 * kernels count by themselves. `answering` is the arrival that is answered, NULL on a connected socket. 0 or -errno. */
int stamp_send(struct channel *c, const void *packet, size_t bytes, uint32_t key, const struct arrival *answering);

/* Receives one datagram into c->datagram without waiting. 1: *a is filled; 0: nothing there; -errno. */
int stamp_receive(struct channel *c, struct arrival *a);

enum fetch { FETCH_EMPTY, FETCH_STAMP, FETCH_OTHER };

/* Reads one entry of the error queue without waiting. FETCH_OTHER: it was no stamp of ours, and is counted in *c. */
enum fetch stamp_fetch(struct channel *c, struct departure *d);

/* Sleeps until there is something to fetch, or with `receive` to receive, at most limit_ns. */
void stamp_wait(struct channel *c, bool receive, int64_t limit_ns);

/* ---- exchange.c (hot): the two orders of exchange, and the accounts ----------------------------------------------- */

#define FLIGHTS 256 /* packets whose transmit stamp may still come, a power of two */
#define LOST_REMEMBERED 1024 /* lost probes whose late reply is still told from a duplicate */

/*
 * Every packet is in one place of each line (exchange_balanced() holds them together):
 *   sent     = warmup + recorded + lost + unstamped + negative + unfinished
 *   received = answered + late + duplicate + foreign + malformed   (a reflector: answered + unanswered + foreign + malformed)
 */
struct account {
	counter sent, received;
	counter warmup, recorded, lost, unstamped, negative, unfinished;
	counter answered, unanswered, late, duplicate, foreign, malformed;
	counter reordered; /* of answered, late or duplicate: came after a later one */
	counter repeated; /* reflector, of answered: a sequence number for the second time */
	counter malformed_tlv; /* reflector, of answered: a TLV was marked malformed */
	counter refused; /* sends that the kernel did not take, and errors it reported, e.g. port unreachable */
	counter missing_tx, missing_rx; /* stamps, by kind, after warm-up */
	counter stamp_late, stamp_duplicate, stamp_unmatched; /* transmit stamps that completed no sample */
	counter breaches;
	_Atomic int64_t recent_max_ns; /* for progress: raised here, reset by its reader */
};

enum flight_state { FLIGHT_NONE, FLIGHT_WAITING, FLIGHT_STAMPED, FLIGHT_GIVEN_UP };

struct flight {
	struct sample sample;
	int64_t sent_ns; /* CLOCK_MONOTONIC */
	uint32_t key;
	uint8_t state; /* enum flight_state */
	bool warmup;
};

enum end { END_NOT_YET, END_DURATION, END_COUNT, END_SIGNAL, END_BREACH, END_ONCE };

struct exchange {
	/* Set by the caller. */
	struct channel *channel;
	struct histogram *histogram;
	struct log *log; /* NULL: none */
	struct sessions *sessions; /* reflector */
	const struct options *options;
	const volatile sig_atomic_t *stop;
	uint16_t ssid; /* emitter, not 0 */
	bool loopback; /* both ends may have one address */
	/* Called in the loop at a sample above the threshold, before anything else is done with it. May be NULL. */
	void (*on_breach)(void *context, const struct sample *s);
	/* Called once when nothing has answered for 3 s, while there is nothing to measure. May be NULL. */
	void (*on_silence)(void *context);
	void *context;

	/* Results. */
	struct account account;
	struct sample breach; /* the first one, when account.breaches is not 0 */
	enum end end;
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC; the duration that was asked for counts from began_ns */
	int64_t last_ns; /* last exchange */

	/* The loop's own. */
	uint8_t from, to; /* latency = time_ns[to] - time_ns[from] */
	bool want_user_rx, started, measuring, silence_told;
	uint64_t warmup_left, measured;
	int64_t now_ns; /* CLOCK_MONOTONIC, as last read */
	unsigned turn; /* of the loop: every so many read the clock */
	uint32_t next_key, oldest_key; /* flights oldest_key .. next_key - 1 may wait for stamps */
	uint32_t highest_answered; /* emitter */
	uint64_t lost_total;
	uint64_t first_requests_seen; /* reflector, --once */
	int64_t first_silent_since_ns;
	struct arrival arrival;
	int64_t arrival_user_ns;
	uint8_t probe[STAMP_BASE_BYTES];
	int64_t lost[LOST_REMEMBERED]; /* sequence numbers */
	struct flight flight[FLIGHTS];
};

/* Which times make the latency of a role, by where wire stamps come from; *from and *to index sample.time_ns. */
void exchange_latency_times(enum role role, bool on_wire, uint8_t *from, uint8_t *to);

/* Runs until the duration, the count, a breach or *stop ends it. The reason is in x->end. */
void exchange_run(struct exchange *x);

/* True when the identities of struct account hold after a run. */
bool exchange_balanced(const struct exchange *x);

/* ---- histogram.c (hot: add): exact counts in byte buckets --------------------------------------------------------- */

#define HISTOGRAM_BUCKETS_MAX 1000000
#define HISTOGRAM_OVERFLOW_STORE (128 * 1024) /* samples kept one by one */

struct histogram {
	int64_t width_ns; /* of a bucket */
	int64_t limit_ns; /* first value that overflows */
	uint32_t buckets;
	uint8_t *low; /* count modulo 256: all that adding touches, but for ... */
	uint64_t *carry; /* ... count / 256 */
	int64_t *overflow; /* in order of arrival until histogram_finish() sorts them */
	uint32_t overflow_capacity;
	uint64_t overflows; /* all, kept or not */
	uint64_t count; /* buckets + overflows */
	uint64_t negatives; /* never in a bucket */
	int64_t min_ns, max_ns;
	uint32_t min_seq, max_seq;
	__int128 sum, sum_of_squares; /* 10^12 samples of 10^9 ns fit */
};

struct percentile {
	int64_t value_ns;
	bool bound; /* the overflow store was full: the true value is this or more */
};

/* Chooses the bucket width: 1 ns, or the power of ten that needs no more than HISTOGRAM_BUCKETS_MAX. Returns the bytes
 * that histogram_place() wants. */
size_t histogram_layout(struct histogram *h, int64_t limit_ns);

/* Lays the buckets out in zeroed memory that the caller owns, aligned for uint64_t. */
void histogram_place(struct histogram *h, void *memory);

/* True: recorded. False: negative, and counted as such. */
bool histogram_add(struct histogram *h, int64_t value_ns, uint32_t seq);

uint64_t histogram_bucket(const struct histogram *h, uint32_t index);

/* Once, after the last histogram_add(): sorts the overflow samples. */
void histogram_finish(struct histogram *h);

/* Smallest recorded value with at least numerator/denominator of the samples at or below it (nearest rank); with
 * buckets wider than 1 ns, the lower edge of its bucket. Needs count > 0. */
struct percentile histogram_percentile(const struct histogram *h, uint64_t numerator, uint64_t denominator);

/* Both need count > 0. */
double histogram_mean_ns(const struct histogram *h);
double histogram_deviation_ns(const struct histogram *h); /* of the population */

/* ---- log.c (hot: add): the transaction log ------------------------------------------------------------------------ */

#define LOG_RATE 50000 /* packets per second that a log is sized for */

struct log {
	struct sample *record;
	uint64_t capacity, used;
	uint64_t left_out; /* offered when it was full */
};

/* Records to make room for: LOG_RATE for the duration (an hour if 0) and 15 % more, or `count` if that is less and not
 * 0; at most what fits a quarter of free_bytes (*limited says that this cut it). */
uint64_t log_capacity(int64_t duration_ns, uint64_t count, uint64_t free_bytes, bool *limited);

void log_place(struct log *l, void *memory, uint64_t capacity);

/* False: full; the record is counted as left out. */
bool log_add(struct log *l, const struct sample *s);

/* ---- session.c (hot): the reflector's sessions -------------------------------------------------------------------- */

#define SESSIONS_MAX 1024
#define SESSION_SLOTS 2048 /* hash heads, a power of two */

struct session {
	uint64_t address[2];
	uint16_t port, ssid;
	uint16_t chain; /* next of the same hash */
	uint16_t older, newer; /* order of use */
	uint32_t reply_seq; /* of the next reply */
	uint32_t highest; /* highest sequence number seen */
	uint64_t seen; /* bit n: highest - n was seen */
	uint64_t requests;
};

struct sessions {
	struct session session[SESSIONS_MAX];
	uint16_t slot[SESSION_SLOTS];
	uint16_t newest, oldest;
	uint32_t used;
	counter opened, evicted;
};

enum order { ORDER_NEXT, ORDER_REORDERED, ORDER_DUPLICATE };

void sessions_init(struct sessions *s);

/* The session of a sender, made if it is new; when the table is full the one idle for longest is forgotten. */
struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid);

/* Notes a sequence number and says how it stands to those before. Numbers wrap at 2^32. */
enum order session_note(struct session *s, uint32_t seq);

/* ---- watch.c: the housekeeping thread ------------------------------------------------------------------------------ */

struct watch {
	const struct exchange *exchange;
	bool running;
	int stop_fd;
	unsigned long thread; /* pthread_t */
};

/* Starts the progress display on another CPU than the caller's, at SCHED_OTHER. 0, or -errno: -ENODEV when there is no
 * other CPU that it may use. */
int watch_start(struct watch *w, struct exchange *x);
void watch_stop(struct watch *w);

/* ---- check.c: the doctor ------------------------------------------------------------------------------------------- */

/* --check: looks at the NIC and the machine without sending or changing anything, and writes one line per finding:
 *   ok|note|warn|fail  SUBJECT: what was found (where it was read): why it matters: the command that cures it
 * Takes about a second, most of it spinning. out NULL: writes nothing. Number of fails, or -errno after one line on stderr. */
int check_machine(FILE *out, const struct options *o);

/* The same at the start of a run, for --verbose: the lines of warn and fail only, without what takes long. `n` is open. */
void check_short(FILE *out, const struct options *o, const struct nic *n);

/* ---- memory.c: memory that never faults during the run ------------------------------------------------------------ */

enum memory_pages { MEMORY_NORMAL, MEMORY_HUGE_DEFAULT, MEMORY_HUGE_2M };

struct memory {
	void *start;
	size_t bytes; /* mapped */
	enum memory_pages pages;
};

/* Maps zeroed memory with every page present. With `huge`: 2 MB pages, then the default huge size, then normal pages;
 * m->pages says which. 0 or -errno. */
int memory_map(struct memory *m, size_t bytes, bool huge);
void memory_unmap(struct memory *m);

/* Locks all memory of the process, now and later. 0 or -errno. */
int memory_lock(void);

uint64_t memory_free_bytes(void);

/* ---- report.c: all text for people --------------------------------------------------------------------------------- */

struct report {
	const struct options *options;
	const struct exchange *exchange;
	const struct channel *channel;
	const struct histogram *histogram;
	const struct log *log;
	uint64_t strays;
	bool no_other_cpu; /* the progress display had to be left out */
};

/* "RTT = T4_KERNEL - T1_KERNEL" and the like. */
void report_latency_name(const struct options *o, char *text, size_t bytes);

/* What is about to run, for --verbose. */
void report_configuration(FILE *out, const struct report *r, const struct nic *n, const struct memory *histogram,
			  const struct memory *log);

/* The whole text report. columns: width of the terminal, 0 when out is none. */
void report_write(FILE *out, const struct report *r, int columns);

/* The log file: opened and checked before the run, given its name after it. */
struct log_file {
	const char *path;
	char temporary[PATH_MAX]; /* empty: path is written directly (a device or a pipe) */
	int fd;
};

int log_file_open(struct log_file *f, const char *path);

/* Writes the log and closes the file; -errno after one line, and then `path` is as it was before the run. */
int log_file_write(struct log_file *f, const struct report *r);

/* Removes what is unfinished. Safe in a signal handler, and after log_file_write(). */
void log_file_abandon(struct log_file *f);

#endif
