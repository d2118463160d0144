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
#include <sys/types.h>
#include <time.h>

#define RANT_VERSION "0.1"

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S 1000000000LL

/* ---- Shared by all rooms: clocks, samples, text, addresses ------------------------------------------------------- */

static inline int64_t clock_read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The clock behind a descriptor of /dev/ptpN. Documentation/driver-api/ptp.rst. */
static inline clockid_t clock_of_fd(int fd)
{
	return (clockid_t)((~(unsigned)fd << 3) | 3);
}

/* Of what all of some differences are multiples: begin with 0. Not negative unless they are. */
static inline int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* For qsort(): times in ascending order. */
static inline int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
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

/* Where a time came from. SOURCE_NONE: there is no such time, and the number beside it means nothing. SOURCE_LOCAL: by
 * software of a peer that does not tell whether its kernel or its program read the clock. */
enum source { SOURCE_NONE, SOURCE_USER, SOURCE_KERNEL, SOURCE_HARDWARE, SOURCE_LOCAL, SOURCES };

/* The four times of one exchange at one host, in the order in which they happen. */
enum { EMIT_T1_USER, EMIT_T1_WIRE, EMIT_T4_WIRE, EMIT_T4_USER };
enum { REFLECT_T2_WIRE, REFLECT_T2_USER, REFLECT_T3_USER, REFLECT_T3_WIRE };
#define TIMES 4

/* And at the other one, as an emitter has them from the replies: THERE + REFLECT_T2_WIRE and so on. */
#define THERE TIMES
#define ALL_TIMES (2 * TIMES)

/* What became of T3_WIRE of a reply, which comes in the reply after it (RFC 8972 section 4.7). */
enum follow_up {
	FOLLOW_UP_NONE, /* not asked for */
	FOLLOW_UP_THERE,
	FOLLOW_UP_LOST, /* with the reply that had it */
	FOLLOW_UP_UNKNOWN, /* the reflector did not know it in time */
	FOLLOW_UP_UNTOLD, /* the reflector does not do this */
	FOLLOW_UP_MIXED, /* T2 and T3 are stamps of different kinds, or of kinds that were not told: not comparable */
	FOLLOW_UP_END, /* no reply came after it */
	FOLLOW_UPS,
};

/* The first half is what a reflector has and what the plain log keeps: log.c stores no more than that of it. */
struct sample {
	uint32_t seq; /* sequence number of the probe, as on the wire */
	uint8_t source[ALL_TIMES]; /* enum source */
	uint8_t follow_up; /* enum follow_up */
	bool one_scale; /* the reflector's times of user space are on the scale of its stamps */
	int64_t latency_ns;
	int64_t time_ns[ALL_TIMES]; /* since the epoch of the clock that source[] names */
};

#define SAMPLE_HERE_BYTES offsetof(struct sample, time_ns[THERE])

/* A character of what somebody else wrote, as a message of one line may show it. */
static inline char text_shown(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* ---- options.c: the command line --------------------------------------------------------------------------------- */

#define BREACH_COMMANDS_MAX 8

/* What --on-breach asks for, besides what the trace options do. */
struct breach_actions {
	bool stop, keep_going;
	int commands;
	const char *command[BREACH_COMMANDS_MAX]; /* for /bin/sh -c */
};

/* What the threshold of an emitter can be for. */
enum figure { FIGURE_RTT, FIGURE_RESPONSE, FIGURE_NETWORK };

struct options {
	const char *interface;
	union address server; /* any.sa_family is AF_UNSPEC without --address */
	const char *log_path, *save_trace_path;
	const char *key_path; /* NULL: unauthenticated */
	struct breach_actions on_breach;
	int64_t trace_interval_ns;
	int64_t threshold_ns, log_threshold_ns; /* 0: none */
	int64_t duration_ns; /* 0: until interrupted */
	int64_t timeout_ns;
	int64_t warmup, count; /* packets; count 0: no limit */
	int64_t overflow_ns, bucket_ns;
	int64_t busy_poll_us, busy_poll_budget; /* 0: not asked for */
	int64_t port;
	int64_t stamp; /* enum source */
	int64_t size_bytes; /* of the STAMP packet; 0: as it comes */
	int64_t dscp, priority; /* -1: not given */
	int64_t ttl;
	int64_t threshold_on; /* enum figure; emitter */
	int64_t synced_ns; /* the clocks of both NICs differ by at most this; -1: nobody says so */
	bool trace_marker, snapshot, trace_rearm, pmc;
	bool sw_timestamps, histogram, hugepages, prefer_busy_poll, keep_going, no_tx_stamps, no_hw_stamps, once;
	bool no_cpu_dma_latency, no_step_check;
	bool log_full, plain; /* emitter */
	bool strict;
	bool quiet, verbose, help, version, check;
	enum role role;
	bool busy_poll_implied; /* --budget or --prefer-busypoll set the busy-poll time */
};

/* Are there stamps on the wire at both ends of a latency, and are they the NIC's? */
static inline bool options_on_wire(const struct options *o)
{
	return o->stamp != SOURCE_USER && !o->no_tx_stamps;
}

/* Does an emitter ask the reflector for its times? */
static inline bool options_joined(const struct options *o)
{
	return o->role == ROLE_EMIT && !o->plain;
}

static inline bool options_by_nic(const struct options *o)
{
	return o->stamp == SOURCE_HARDWARE && !o->no_tx_stamps;
}

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
	int share_fd; /* with `changed`: see nic.c, several programs on one NIC; -1: not shared */
	char share_path[80];
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

/* Transmit stamps as the driver counts them, since it was loaded. has: bit 0 sent, bit 1 lost, bit 2 errors. */
struct nic_stamp_counts {
	uint64_t sent, lost, errors;
	unsigned has;
};

/* Asks by ethtool netlink (Linux 6.10; ice, mlx5, bnxt, idpf and a few more). 0, -EOPNOTSUPP where the kernel or the
 * driver does not count, or another -errno; silent. Allocates (libnl), so it is nothing for the measuring thread. */
int nic_read_stamp_counts(const struct nic *n, struct nic_stamp_counts *counts);

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

/* Puts back the setting that nic_stamp() found, if it is still as nic_stamp() left it and no other rant uses it. The last one
 * puts back what the first one found. Safe in a signal handler. */
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
	int set_tos, want_tos, tos_type; /* DSCP << 2 | ECN: the same three; what is sent by message is an int */
	size_t tos_bytes; /* of the message with the received one */
	int mtu_discover, mtu; /* socket option for what may be fragmented; to read the MTU of the path when connected */
	int header_bytes; /* of an MTU */
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
	bool tx_stamps; /* asked for and granted */
	bool id_by_message; /* the kernel takes the id of a transmit stamp from us (SCM_TS_OPT_ID, Linux 6.13) */
	bool connected; /* emitter: no addresses in the messages */
	bool tos_wanted; /* by socket_want_tos() */
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

/* From now on arrivals have their `tos`, each for the price of a control message; so not before somebody asks for it.
 * Silent, and one system call: the loop may call it, once (c->tos_wanted). 0 or -errno. */
int socket_want_tos(struct channel *c);

/* Datagrams for our port from others than the server, counted and dropped. Call it after the run, before close. */
uint64_t socket_count_strays(struct channel *c);

void socket_close(struct channel *c);

/* ---- packet.c (hot): STAMP, RFC 8762 and 8972 --------------------------------------------------------------------- */

#define STAMP_PORT 862 /* RFC 8762 section 4.1 */
#define STAMP_BASE_BYTES 44 /* unauthenticated packet, RFC 8762 sections 4.2 and 4.3 */
#define STAMP_AUTHENTICATED_BYTES 112 /* base of an authenticated one */
#define STAMP_REQUEST_MIN_BYTES 14 /* TWAMP-Light sender, RFC 4656 section 4.1.2 */
#define STAMP_REPLY_MIN_BYTES 38 /* up to the Session-Sender Error Estimate; TWAMP-Light sends 41 */

struct hmac;

/* PACKET_IS_REPLY: a Session-Reflector packet, which must not be answered. PACKET_UNVERIFIED: its HMAC is wrong, or it is
 * too short to have one. */
enum packet_verdict { PACKET_GOOD, PACKET_MALFORMED, PACKET_IS_REPLY, PACKET_UNVERIFIED };

/* How a time was taken: RFC 8972 section 4.3, table 9. NONE: not told. */
enum packet_method { PACKET_METHOD_NONE, PACKET_METHOD_HARDWARE, PACKET_METHOD_SOFTWARE, PACKET_METHOD_CONTROL_PLANE };

/* What every probe of a run has in common. */
struct packet_plan {
	const struct hmac *key; /* NULL: unauthenticated */
	uint16_t ssid;
	bool stages; /* ask how and when the reply was stamped: Timestamp Information and Follow-Up TLVs */
	bool software; /* and what took the stamps there: our own TLV (docs/protocol.md); */
	bool t2_user; /* in it, also for T2_SW */
	bool class_of_service; /* CoS TLV, asking for `dscp` */
	uint8_t dscp; /* 0..63 */
	size_t bytes; /* up to what UDP can carry: of the whole packet, by an Extra Padding TLV; 0: no padding */
};

/* Octets of a probe of this plan. plan->bytes that leave 1..3 octets of rest cannot be had exactly, since the header of a
 * TLV has 4: then it is the next larger size that can; the caller compares. */
size_t packet_plan_bytes(const struct packet_plan *plan);

/* Writes all that stays the same into `packet`, packet_plan_bytes() of them. PTP format (Z=1). Not hot. */
void packet_prepare(uint8_t *packet, const struct packet_plan *plan);

/* Writes what differs from probe to probe, and the HMACs, into what packet_prepare() has made by the same plan. */
void packet_probe(uint8_t *packet, const struct packet_plan *plan, uint32_t seq, int64_t t1_ns);

struct request {
	uint32_t seq;
	uint16_t ssid;
	uint16_t error_estimate;
	bool wants_t2_user; /* our TLV asks for it */
	bool wants_class; /* it has a Class of Service TLV */
};

/* With a key, nothing but PACKET_UNVERIFIED is said of a packet whose HMAC is wrong, and *r is not touched. */
enum packet_verdict packet_read_request(const uint8_t *packet, size_t bytes, const struct hmac *key, struct request *r);

/* All that a reply may say. What the request does not ask for is not looked at. */
struct answer {
	uint32_t seq;
	int64_t t2_ns, t3_ns;
	uint8_t ttl;
	uint8_t t2_method, t3_method; /* enum packet_method */
	uint8_t sync_source; /* RFC 8972 table 7, of both */
	bool tos_known;
	uint8_t tos; /* DSCP << 2 | ECN, as received; the reply must be sent with that DSCP */
	uint32_t received, sent; /* Direct Measurement: of this session, this packet included in both */
	/* Follow-Up Telemetry: when reply follow_up_seq was sent. Method NONE: not known, and zeros are written. */
	uint32_t follow_up_seq;
	int64_t follow_up_ns;
	uint8_t follow_up_method;
	/* Our own TLV. */
	uint8_t wire_source; /* enum source: what T2 and the follow-up are stamps of */
	bool t2_user_known;
	int64_t t2_user_ns;
	int64_t software_bound_ns; /* T2_SW and T3 are on the scale of T2 within this; -1: they are not on it */
};

/* Turns the request in `packet` into its reply, in place. The buffer holds at least the base of its kind. Times are
 * written in the format that the request shows. Sets *malformed_tlv when a TLV had a wrong length and was marked so, or
 * octets too few for one were left (RFC 8972 section 4). Returns the length of the reply: that of the request, at least
 * the base. */
size_t packet_reply(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a, bool *malformed_tlv);

struct reply {
	uint32_t seq; /* of the reflector */
	uint32_t sender_seq; /* of the probe it answers */
	uint16_t ssid;
	uint16_t error_estimate; /* of t2_ns and t3_ns */
	bool t2_known, t3_known; /* a reflector without a clock writes zeros */
	int64_t t2_ns, t3_ns; /* since 1970, in the reflector's clock */
	int ttl; /* of the probe as it arrived there; -1: the reply is too short to tell */
	/* By packet_read_tlvs(), from TLVs that were answered: U and M clear, length right. What has not come is 0, false,
	 * NONE. */
	uint8_t t2_method, t3_method; /* enum packet_method */
	bool follow_up_told; /* the reflector knows the TLV; then method NONE means that the time was not known to it */
	uint8_t follow_up_method;
	uint32_t follow_up_seq;
	int64_t follow_up_ns;
	bool class_told;
	uint8_t dscp, ecn; /* of the probe as it arrived there */
	bool reverse_dscp_refused; /* RP */
	bool software_told;
	uint8_t wire_source; /* enum source */
	bool t2_user_known;
	bool tlv_unrecognized, tlv_malformed; /* some TLV came back with U, with M or a wrong length */
	bool tlv_integrity; /* I set, or the HMAC TLV is wrong, or not there where it must be: no TLV was used */
	int64_t t2_user_ns, software_bound_ns; /* as in struct answer */
};

/* Fills what is in the base when it is PACKET_GOOD. With a key, nothing but PACKET_UNVERIFIED is said of a packet whose
 * HMAC is wrong. */
enum packet_verdict packet_read_reply(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r);

/* Fills the rest, of a reply that has been read as good. Apart, since it can wait until the next probe is on its way. */
void packet_read_tlvs(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r);

/* `probe` is what was sent last: a reply that names its sequence number but not its T1 and Error Estimate is none. The
 * reply must have been read as good. */
bool packet_answers(const uint8_t *packet, const uint8_t *probe, const struct hmac *key);

/* ---- hmac.c (hot: sign and verify): HMAC-SHA-256 by libcrypto, when built with it ---------------------------------- */

#define HMAC_BYTES 16 /* RFC 8762 section 4.4: the leftmost of 32 */
#define HMAC_KEY_MIN_BYTES 16
#define HMAC_KEY_MAX_BYTES 256

/* Is there libcrypto in this program? */
bool hmac_is_available(void);

/* Reads the key from a file: hexadecimal digits, white space between them ignored, HMAC_KEY_MIN_BYTES to
 * HMAC_KEY_MAX_BYTES octets. It must be a regular file, no link, and nobody but its owner may read or write it. 0, or
 * -errno after one line: -EOPNOTSUPP without libcrypto. */
int hmac_open(struct hmac **h, const char *path);

/* The first HMAC_BYTES of the HMAC over `first` and then `second`, which may be NULL when it has no octets. One thread
 * at a time. */
void hmac_sign(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
	       uint8_t out[HMAC_BYTES]);

/* Does it match? In constant time. */
bool hmac_verify(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
		 const uint8_t expected[HMAC_BYTES]);

/* Clears the memory in which the key was. NULL is fine. */
void hmac_close(struct hmac *h);

/* ---- timestamping.c (hot): send one, receive one, fetch transmit stamps ------------------------------------------- */

struct arrival {
	size_t bytes;
	union address from;
	uint8_t local[sizeof(struct in6_pktinfo)]; /* source for the answer, as the transport's packet info */
	bool to_unicast; /* the destination was an address of this host, not a broadcast or multicast one */
	bool from_self; /* source and destination address are the same */
	bool truncated;
	int ttl; /* -1: not told */
	int tos; /* DSCP << 2 | ECN; -1: not told */
	/* The answer goes out with the DSCP of `tos`, and without its ECN bits; false, which stamp_receive() leaves: as the
	 * socket is set. The kernel derives the priority from it too, whatever SO_PRIORITY is. */
	bool in_class;
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

/* ---- sequence.c (hot): sequence numbers, and loss by direction ---------------------------------------------------- */

/* All zeros to begin with. */
struct sequence_window {
	uint32_t highest;
	uint64_t seen; /* bit n: highest - n was seen */
	uint64_t noted;
};

enum order {
	ORDER_NEXT, /* ahead of all, perhaps by more than one */
	ORDER_REORDERED, /* behind, and new */
	ORDER_DUPLICATE, /* seen before */
	ORDER_OLD, /* behind by 64 or more: whether it was seen is not known. Changes only `noted` */
};

/* Notes a number and says how it stands to those before. Numbers wrap at 2^32; ahead is up to 2^31 - 1. */
enum order sequence_note(struct sequence_window *w, uint32_t seq);

/* Positions on a line that does not wrap. */
struct directions_segment {
	int64_t first_probe, last_probe, first_reply, last_reply;
	int64_t probes, replies; /* of these: answered, seen */
};

/*
 * The emitter's view of what got lost, and on which way, from the numbers that a stateful reflector gives its replies
 * (RFC 8762 section 4: its own count per session, from 0). All zeros to begin with; results are there after
 * directions_finish(). Always: lost_forward + lost_backward + lost_unknown = probes sent - probes answered. A direction is
 * exact but for two things: the order changed among the first or the last of a run, or a request came twice and one of
 * its replies was lost, which looks as the lost reply to another probe does.
 */
struct directions {
	bool told; /* the reflector counts its own replies. If not, all loss is unknown and the rest is 0 */
	uint64_t lost_forward, lost_backward; /* probes that did not arrive, or whose reply did not */
	uint64_t lost_unknown; /* after the last answer, and around a restart */
	uint64_t reordered_forward, reordered_backward; /* replies */
	uint64_t duplicate_forward; /* second replies to a request, also such as were lost */
	uint64_t duplicate_backward; /* the same reply again, or one again that is too old to tell */
	uint64_t restarts; /* its count began again, e.g. it was started again or forgot the session */

	/* Inside. */
	bool stateful; /* proven */
	uint64_t answered; /* probes */
	uint64_t hidden; /* replies that are missing beyond the probes that are */
	struct sequence_window window; /* of the replies, since the last restart */
	struct directions_segment now, before; /* since the last restart, and up to it */
	int64_t begins; /* the probe whose answer showed the restart */
};

/* Every good reply of the session, answered, late or duplicate. again: the probe that it names was answered before. */
void directions_note(struct directions *d, uint32_t sender_seq, uint32_t reply_seq, bool again);

/* Something else proves that the reflector counts by itself: it sent a follow-up (RFC 8972 section 4.7). */
void directions_stateful(struct directions *d);

/* After the run, once. sent: probes, numbered from 0. */
void directions_finish(struct directions *d, uint64_t sent);

/* ---- exchange.c (hot): the two orders of exchange, and the accounts ----------------------------------------------- */

#define FLIGHTS 256 /* packets whose transmit stamp may still come, a power of two */
#define LOST_REMEMBERED 1024 /* lost probes whose late reply is still told from a duplicate */

/*
 * Every packet is in one place of each line (exchange_balanced() holds them together):
 *   sent     = warmup + recorded + lost + unstamped + negative + stepped + unfinished + closing
 *   received = answered + late + duplicate + foreign + malformed + unverified
 *              (a reflector: answered + unanswered + foreign + malformed + unverified)
 *   an emitter: recorded + negative = the sum of follow_up[]
 */
struct account {
	counter sent, received;
	counter warmup, recorded, lost, unstamped, negative, unfinished;
	counter closing; /* emitter: sent after the end, to hear of the last reply's T3 */
	counter answered, unanswered, late, duplicate, foreign, malformed;
	counter unverified; /* the HMAC was wrong */
	counter reordered; /* of answered, late or duplicate: came after a later one */
	counter repeated; /* reflector, of answered: a sequence number for the second time */
	counter malformed_tlv; /* of answered: a TLV was malformed */
	counter unusable_tlv; /* emitter, of answered: TLVs failed their integrity check and were not used */
	counter follow_up[FOLLOW_UPS]; /* emitter: what became of T3_WIRE */
	counter follow_up_late; /* came when its record had been closed without it */
	counter unjudged; /* --threshold-on something that this sample does not have */
	counter other_ttl, other_class; /* emitter, of answered: the probe arrived with another TTL or DSCP than it was sent with */
	counter refused; /* sends that the kernel did not take, and errors it reported, e.g. port unreachable */
	counter missing_tx, missing_rx; /* stamps, by kind, after warm-up */
	counter stamp_late, stamp_duplicate, stamp_unmatched; /* transmit stamps that completed no sample */
	counter breaches;
	counter stepped; /* another clock says that the clock of the stamps was set in between: not recorded */
	counter unplaced; /* recorded, but with a time of user space that has no place on the scale of the NIC's clock */
	counter stage_negative; /* stages below zero by more than their bound */
	_Atomic int64_t recent_max_ns; /* for progress: raised here, reset by its reader */
};

enum flight_state { FLIGHT_NONE, FLIGHT_WAITING, FLIGHT_STAMPED, FLIGHT_GIVEN_UP };

struct flight {
	struct sample sample;
	int64_t sent_ns; /* CLOCK_MONOTONIC, as last read */
	int64_t sent_real_ns; /* with check_set: CLOCK_REALTIME as last read, between sent_ns and sent_by_ns */
	int64_t sent_by_ns; /* CLOCK_MONOTONIC, as read next; 0: not yet */
	uint32_t key;
	uint32_t reply_seq; /* emitter: the reflector's number of the reply */
	uint8_t state; /* enum flight_state */
	uint8_t t2_method; /* emitter: enum packet_method */
	bool told; /* emitter: the reply had an answered Follow-Up TLV */
	bool warmup, breach;
	bool kept; /* emitter: concluded, and to be recorded */
	bool counted; /* pmc_end() was true */
	uint16_t session; /* reflector: of the packet that is answered */
};

/* The parts of an exchange: differences of times on one scale. */
enum stage_index {
	/* Emitter. */
	STAGE_APP_TO_WIRE, STAGE_WIRE_TO_APP, STAGE_RESPONSE, STAGE_NETWORK, STAGE_REMOTE_WIRE_TO_APP, STAGE_REMOTE_APP,
	STAGE_REMOTE_APP_TO_WIRE,
	STAGES,
	/* Reflector. */
	STAGE_RECEIVE = 0, STAGE_TRANSMIT, STAGE_APP,
};

/* How far off a stage may be: the errors of putting user-space times on the scale of the stamps, at each host. */
enum bound { BOUND_NONE, BOUND_HERE, BOUND_THERE, BOUNDS };

struct stage {
	uint8_t from, to, less_from, less_to; /* index sample.time_ns: (to - from) - (less_to - less_from) */
	uint8_t bound; /* enum bound */
	bool inside; /* it is a part of the latency that no other part is a part of; else beside it, or made of such */
	bool user; /* a time of user space is in it: only with --sw-timestamps */
	bool peer; /* the reflector's reply is needed for it */
};

enum one_way { ONE_WAY_FORWARD, ONE_WAY_BACKWARD, ONE_WAYS };

#define BREACHES_KEPT 64 /* a power of two */

enum end { END_NOT_YET, END_DURATION, END_COUNT, END_SIGNAL, END_BREACH, END_ONCE };

struct exchange {
	/* Set by the caller. */
	struct channel *channel;
	struct histogram *histogram;
	struct log *log; /* NULL: none */
	struct sessions *sessions; /* reflector */
	struct pmc *pmc; /* NULL: none */
	/* Puts the times of user space on the scale of the NIC's clock; NULL: they stay as they are. */
	const struct clock_watch *clocks;
	struct clock_peer *peer; /* emitter: the offset of the reflector's clock; NULL: not wanted */
	const struct options *options;
	const volatile sig_atomic_t *stop;
	bool loopback; /* both ends may have one address */
	/* Of each stage of the role; NULL: it is not collected, or its times are on different scales. */
	struct histogram *stage[STAGES];
	struct histogram *one_way[ONE_WAYS]; /* NULL: not collected */
	const struct packet_plan *plan; /* emitter: what a probe is like */
	const struct hmac *key; /* NULL: no authenticated mode */
	uint8_t sync_source; /* of this host's stamps, RFC 8972 table 7 */
	/* Called in the loop when the measuring begins. May be NULL. */
	void (*on_start)(void *context);
	/* Called in the loop at a sample above the threshold, before anything else is done with it. May be NULL. */
	void (*on_breach)(void *context, const struct sample *s);
	/* Called once when nothing has answered for 3 s, while there is nothing to measure. May be NULL. */
	void (*on_silence)(void *context);
	void *context;

	/* Results. */
	struct account account;
	int64_t bound_ns[BOUNDS]; /* the largest that occurred */
	int64_t one_way_bound_ns[2]; /* of the offset between the two hosts' clocks: the largest, and the last */
	struct directions directions; /* emitter */
	uint8_t there; /* emitter: enum source of the reflector's stamps, the best that a reply told of */
	uint8_t arrived_ttl, arrived_dscp; /* the last that differed from what was sent */
	struct sample breach, worst; /* the first one and the largest, when account.breaches is not 0 */
	enum end end;
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC; the duration that was asked for counts from began_ns */
	int64_t last_ns; /* last exchange */

	/* The loop's own. */
	uint8_t from, to; /* latency = time_ns[to] - time_ns[from] */
	struct stage stages[STAGES];
	bool check_steps; /* stamps of the NIC against the times of user space */
	bool check_set; /* stamps of CLOCK_REALTIME against CLOCK_MONOTONIC */
	bool read_both; /* reflector, with check_set: at a reading of the clock */
	bool want_user_rx, started, measuring, silence_told, has_stages, closing;
	bool digest_at_once; /* emitter: what its reply tells is wanted before the next probe */
	/* Emitter, NULL for none: its reply is in the channel's datagram and read as far as the base; */
	struct flight *undigested;
	struct flight *joining; /* waits for its T3_WIRE */
	uint64_t warmup_left, measured;
	int64_t now_ns; /* CLOCK_MONOTONIC, as last read */
	int64_t now_real_ns, now_by_ns; /* CLOCK_REALTIME, and CLOCK_MONOTONIC again, read after it with read_both */
	unsigned turn; /* of the loop: every so many read the clock */
	uint32_t next_key, oldest_key; /* flights oldest_key .. next_key - 1 may wait for stamps */
	uint32_t highest_answered; /* emitter */
	uint64_t lost_total;
	uint64_t first_requests_seen; /* reflector, --once */
	int64_t first_silent_since_ns;
	struct arrival arrival;
	int64_t arrival_user_ns;
	struct reply reply; /* emitter: the last one that was read */
	struct request request; /* reflector: the last one */
	size_t probe_bytes;
	uint8_t probe[DATAGRAM_MAX];
	struct sample kept[BREACHES_KEPT]; /* the last breaches, for exchange_breach() */
	int64_t lost[LOST_REMEMBERED]; /* sequence numbers */
	struct flight flight[FLIGHTS];
};

/* Which times make the latency of a role, by where wire stamps come from; *from and *to index sample.time_ns. */
void exchange_latency_times(enum role role, bool on_wire, uint8_t *from, uint8_t *to);

/* The stages of a role, STAGES of them; those beyond its last have from == to. on_wire: as for exchange_latency_times(). */
void exchange_stages(enum role role, bool on_wire, struct stage stages[STAGES]);

/* Are stages collected that have a time of user space of this host in them? */
static inline bool exchange_has_stages(const struct exchange *x)
{
	return x->stage[0] != NULL;
}

/* Hot. True: the times of the stage are there and comparable, and *value_ns is what it took. */
bool exchange_stage_value(const struct stage *stage, const struct sample *s, int64_t *value_ns);

/* Hot. What --threshold-on is about. False: this sample does not have it. */
bool exchange_figure(const struct exchange *x, const struct sample *s, int64_t *value_ns);

/* Breach 0 .. account.breaches - 1, for another thread too. False: newer ones have taken its place. */
bool exchange_breach(const struct exchange *x, uint64_t index, struct sample *s);

/* Runs until the duration, the count, a breach or *stop ends it. The reason is in x->end. */
void exchange_run(struct exchange *x);

/* True when the identities of struct account hold after a run. */
bool exchange_balanced(const struct exchange *x);

/* ---- clock.c: the clocks, the NIC's clock (PHC), how they relate, with bounds ------------------------------------- */

#define CLOCK_HISTORY 1024 /* readings kept */
#define CLOCK_STEPS_KEPT 64
#define CLOCK_FRESH_NS NS_PER_S /* a relation is not extrapolated further than this */

enum clock_which { CLOCK_OF_NIC, CLOCK_OF_SYSTEM, CLOCKS }; /* the PHC, CLOCK_REALTIME */

/* One clock minus another, at at_ns of the other. The truth is in offset_ns - bound_ns .. offset_ns + bound_ns. */
struct clock_relation {
	int64_t at_ns, offset_ns, bound_ns;
};

/* How a clock's rate is set, by adjtimex(2) and clock_adjtime(2) with modes 0. */
struct clock_dial {
	bool known;
	int64_t ppb;
	int64_t slew_ppb; /* of the system clock: a correction that is being worked off may change the rate by this */
};

/* All relations at about one moment. raw: CLOCK_MONOTONIC_RAW, which nobody steers or steps. */
struct clock_reading {
	struct clock_relation phc_real, phc_raw; /* only with has_phc */
	struct clock_relation real_raw;
	struct clock_dial dial[CLOCKS];
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC before and after it was taken */
	uint64_t mark; /* the caller's, e.g. the sequence number sent last */
	bool has_phc;
	bool broken[CLOCKS]; /* stepped or stood still since the reading before */
	int64_t odd_ns[CLOCKS]; /* moved by up to this since then, more than its rate explains but less than a step */
};

/* A clock's deviation from its rate between two readings. */
struct clock_jump {
	enum clock_which which;
	int64_t size_ns, bound_ns;
	int64_t mono_ns[2]; /* it happened between these moments of CLOCK_MONOTONIC */
	uint64_t mark[2];
};

/* A mean rate against CLOCK_MONOTONIC_RAW over over_ns. */
struct clock_rate {
	bool measured; /* there are two readings to tell from */
	bool known; /* it is larger than its bound */
	double ppb, bound_ppb;
	int64_t over_ns;
};

/* What was seen of one clock; steps between successive readings, or a standstill, part its history. */
struct clock_track {
	counter steps; /* kept in clock_watch.step[] or not */
	counter standstills; /* the PHC had not moved in a millisecond or more; its beginning may show as a step back */
	int64_t stood_ns;
	bool standing;
	struct clock_jump largest; /* of all jumps, the one that exceeds its bound by most (or falls short by least) */
	bool has_largest;
	struct clock_dial dial[2]; /* first and last that could be read */
	uint64_t dial_changes;

	uint64_t readings; /* with this clock */
	uint64_t last_number; /* of those of clock_watch.history[], when that is not 0 */
	struct clock_relation last; /* to CLOCK_REALTIME (PHC) or CLOCK_MONOTONIC_RAW */
	/* Of the present segment: the outermost, and precise ones near it. */
	struct clock_relation first[2], recent[3];
	uint64_t segment_readings;
	struct clock_rate rate; /* of the past segment with the least bound */
};

/* One published relation of the PHC to CLOCK_REALTIME; two, so that one is always whole. */
struct clock_slot {
	_Atomic uint32_t sequence; /* odd while it is written */
	_Atomic bool valid;
	_Atomic int64_t at_ns, offset_ns, bound_ns;
	_Atomic double rate, rate_bound; /* of the offset, ns per ns */
};

enum clock_method { CLOCK_PRECISE, CLOCK_EXTENDED, CLOCK_PLAIN, CLOCK_SANDWICH, CLOCK_METHODS };

struct clock_watch {
	int phc_fd, dial_fd; /* -1: none */
	char name[32]; /* from /sys/class/ptp, which may be out of sight, or "ptp0" */
	char why[160]; /* without a PHC: the reason, after "not comparable: " */
	enum clock_method method;
	bool raw_taken; /* the kernel brackets the PHC by CLOCK_MONOTONIC_RAW too; without, two relations are added */
	/* Measured by clock_open(). */
	int64_t phc_granularity_ns; /* all its stamps were multiples of this apart */
	int64_t system_granularity_ns; /* no more than this */

	struct clock_track track[CLOCKS];
	struct clock_jump step[CLOCK_STEPS_KEPT];
	uint32_t steps_kept;
	uint64_t failures; /* readings without the PHC although there is one */
	int failure; /* the last one: an errno */
	int tai_s; /* CLOCK_TAI - CLOCK_REALTIME; 0 means that nobody has told the kernel */

	struct clock_reading history[CLOCK_HISTORY]; /* a ring */
	uint64_t readings; /* made; the last is history[(readings - 1) % CLOCK_HISTORY] */
	_Atomic uint32_t current; /* of slot[] */
	struct clock_slot slot[2];
};

/*
 * Opens /dev/ptp<phc_index> for reading only and finds the best way to compare it: PTP_SYS_OFFSET_PRECISE, _EXTENDED,
 * plain PTP_SYS_OFFSET, or clock_gettime(2) of both. PHCs are in no namespace. phc_index -1: the NIC has none. 0, or
 * -errno with c->why filled and nothing printed: the system clock can then still be watched.
 */
int clock_open(struct clock_watch *c, int phc_index);

/*
 * Takes one reading, looks for steps since the one before, and publishes. Takes some ten microseconds, with slow NICs
 * some hundred; one thread at a time, not the measuring one while it measures. 0, or -errno when the PHC could not be
 * read, counted in c->failures (-EAGAIN: a clock stepped while it was read, more than once).
 */
int clock_measure(struct clock_watch *c, uint64_t mark);

/*
 * Hot, for another thread than the one that measures: no lock, no system call. What the PHC shows at realtime_ns of
 * CLOCK_REALTIME, by the last reading and the last rate. False: there is none, it is older than CLOCK_FRESH_NS, or the
 * last reading found a step. The bound holds while rates change by no more than 1 ppm beyond what their dials showed at
 * the last reading; a change after it is seen by the next one, and then counted in c->track[].dial_changes or steps.
 */
bool clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns);

/* The mean rate, against CLOCK_MONOTONIC_RAW, of the stretch without steps that gives the least bound. */
struct clock_rate clock_drift(const struct clock_watch *c, enum clock_which which);

/* The last reading, NULL without any. */
const struct clock_reading *clock_last(const struct clock_watch *c);

enum clock_scale { CLOCK_SCALE_UNKNOWN, CLOCK_SCALE_UTC, CLOCK_SCALE_TAI, CLOCK_SCALE_OTHER };

/* Which scale the PHC shows, to a second; TAI by the kernel's offset, or 37 s if it was told none. */
enum clock_scale clock_scale(const struct clock_watch *c);

enum clock_steering { CLOCK_STEERING_UNKNOWN, CLOCK_NOT_STEERED, CLOCK_STEERED };

/* Was its rate changed between the readings? (That it was set before shows in c->track[].dial[0].) */
enum clock_steering clock_steering(const struct clock_watch *c, enum clock_which which);

const char *clock_method_name(const struct clock_watch *c);

void clock_close(struct clock_watch *c);

/* The reflector's PHC minus the emitter's, from the four times on the wire of exchanges. */
struct clock_peer {
	struct clock_relation best; /* at T1; bounds grow with age, so the best is a young one */
	struct clock_relation first, last, window; /* the best of the first, the last whole and the present second */
	uint64_t exchanges;
	uint64_t refused; /* response longer than the round trip, or beyond 64 bits */
	uint64_t jumps; /* no steady pair of clocks explains it: one was set, and all above began again */
	int64_t since_ns; /* T1 at the begin of the present second */
	bool has_first, has_last;
};

/* Hot. t1_ns .. t4_ns in the order of the exchange. The bound is half the time on the way. */
void clock_peer_add(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns, int64_t t3_ns, int64_t t4_ns);

/* Hot. The reflector's clock minus the emitter's at t1_ns, by the best exchange so far, and how far off that may be. False: there
 * was none. */
bool clock_peer_offset(const struct clock_peer *p, int64_t t1_ns, int64_t *offset_ns, int64_t *bound_ns);

/* False: nothing was added. The relation is the best of about the last two seconds, and is that of its moment, at_ns;
 * the rate is that of the reflector's clock against the emitter's. */
bool clock_peer_result(const struct clock_peer *p, struct clock_relation *offset, struct clock_rate *rate);

/* ---- histogram.c (hot: add): exact counts in byte buckets --------------------------------------------------------- */

#define HISTOGRAM_BUCKETS_MAX 1000000
#define HISTOGRAM_OVERFLOW_STORE (128 * 1024) /* samples kept one by one, of the latency */
#define HISTOGRAM_PART_STORE (8 * 1024) /* of a part of it */

struct histogram {
	int64_t width_ns; /* of a bucket */
	int64_t limit_ns; /* first value that overflows */
	uint32_t buckets;
	uint8_t *low; /* count modulo 256: all that adding touches, but for ... */
	uint32_t *carry; /* ... count / 256: 2^40 samples in one bucket are more than a month of nothing else */
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

/* Chooses the bucket width: width_ns, or the power of ten above it that needs no more than HISTOGRAM_BUCKETS_MAX.
 * overflow_capacity: samples above the limit that are kept one by one. Returns the bytes that histogram_place() wants. */
size_t histogram_layout(struct histogram *h, int64_t limit_ns, int64_t width_ns, uint32_t overflow_capacity);

size_t histogram_bytes(const struct histogram *h); /* the same, of one that is laid out */

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
#define LOG_CIRCULAR_RECORDS 500000

struct log {
	uint8_t *record; /* each record_bytes long */
	size_t record_bytes; /* of struct sample: all, or SAMPLE_HERE_BYTES */
	uint64_t capacity, used;
	uint64_t first; /* place of the oldest record */
	uint64_t left_out; /* offered when it was full; circular: overwritten */
	bool circular; /* keeps the newest instead of the oldest */
};

/* Records to make room for: LOG_RATE for the duration (an hour if 0) and 15 % more, or `count` if that is less and not
 * 0; at most what fits a quarter of free_bytes (*limited says that this cut it). */
uint64_t log_capacity(int64_t duration_ns, uint64_t count, uint64_t free_bytes, size_t record_bytes, bool *limited);

/* full: the times of the other host too. */
void log_place(struct log *l, void *memory, uint64_t capacity, bool circular, bool full);

static inline size_t log_record_bytes(bool full)
{
	return full ? sizeof(struct sample) : SAMPLE_HERE_BYTES;
}

/* False: full; the record is counted as left out. A circular log overwrites its oldest record, which is counted so. */
bool log_add(struct log *l, const struct sample *s);

/* Record 0 .. used - 1, from the oldest to the newest. Of a log that is not full, time_ns[THERE] and what follows is not
 * there: it may not be read. */
const struct sample *log_at(const struct log *l, uint64_t index);

/* ---- session.c (hot): the reflector's sessions -------------------------------------------------------------------- */

#define SESSIONS_MAX 1024
#define SESSION_SLOTS 2048 /* hash heads, a power of two */

struct session {
	uint64_t address[2];
	uint16_t port, ssid;
	uint16_t chain; /* next of the same hash */
	uint16_t older, newer; /* order of use */
	uint32_t reply_seq; /* of the next reply */
	struct sequence_window numbers; /* of the requests, since it began again */
	uint64_t requests;
	/* The last reply, for the one after it: when it was sent, as far as that is known by now. */
	uint32_t last_key, last_seq; /* of its flight; its number */
	uint8_t last_source; /* enum source of last_ns; SOURCE_NONE: not known */
	bool has_last;
	int64_t last_ns;
};

struct sessions {
	struct session session[SESSIONS_MAX];
	uint16_t slot[SESSION_SLOTS];
	uint16_t newest, oldest;
	uint32_t used;
	counter opened, evicted;
};

void sessions_init(struct sessions *s);

/* The session of a sender, made if it is new; when the table is full the one idle for longest is forgotten. */
struct session *session_find(struct sessions *s, const union address *peer, uint16_t ssid);

/* Notes the sequence number of a request, as sequence_note() does, but never says ORDER_OLD: the sender began again, at 0
 * or, ORDER_REORDERED, at what it was that came. */
enum order session_note(struct session *s, uint32_t seq);

/* ---- tracefs.c: the kernel's trace: instance, marker and stop (hot), saving --------------------------------------- */

#define TRACE_INSTANCE "rant"
#define TRACE_MARKER_BYTES 512 /* the longest marker has 326 */

/* The measuring thread takes a trace from armed to frozen, the housekeeping thread back. */
enum trace_state { TRACE_ARMED, TRACE_FROZEN };

/* One breach as trace_breach() left it. Another thread may read it while the trace is frozen. */
struct trace_record {
	uint32_t seq;
	uint8_t role; /* enum role */
	bool snapshot_taken;
	bool off_before; /* somebody else had switched tracing off: nothing was frozen here */
	int marker_error, stop_error, snapshot_error; /* errno of each step; 0: done, or not asked for */
	int64_t marker_ns, frozen_ns; /* since the entry: until the marker was written, until the last step was done */
	uint32_t marker_bytes;
	char marker[TRACE_MARKER_BYTES]; /* without an end */
};

struct trace {
	char path[256]; /* of the instance; empty: not open */
	bool created; /* by this program */
	bool switched_on; /* tracing_on was 0 before */
	bool snapshot; /* wanted and possible */
	bool spare_made; /* the buffer for the snapshot was allocated here */
	uint64_t spare_bytes; /* of that buffer, made here or not */
	char clock[16]; /* trace_clock */
	int folder_fd, marker_fd, on_fd, snapshot_fd;
	_Atomic int state; /* enum trace_state */
	bool unsaved; /* a marker of a breach is in the trace, and not in a file */
	int start_error; /* errno of the start marker */
	struct trace_record last; /* breach */
	counter marked, refused, off; /* markers written, refused by the kernel, refused since others had stopped the trace */
	counter while_frozen; /* breaches that found the trace frozen */
	unsigned saves;
};

/* Where trace_save() put a trace, and what it holds. */
struct trace_saved {
	char path[PATH_MAX]; /* a new folder: all.txt and cpuN.txt */
	const char *source; /* "snapshot" or "trace" */
	int spike_cpu; /* whose file has the marker; -1: no file has it */
	bool swap_skipped; /* there should have been a snapshot with the marker in it, so `trace` was saved instead */
	uint64_t lost_events; /* of all CPUs, older than the first lines, overwritten; UINT64_MAX: cannot be told */
};

/* Opens `instance` of tracefs, making it when it is not there, switches tracing on, and with `snapshot` allocates its
 * buffer (milliseconds, and it takes what the trace held). What cannot work is -errno after one line; what is doubtful
 * is a line each. packets_per_s is what the size of the buffer is judged by. */
int trace_open(struct trace *t, const char *instance, bool snapshot, double packets_per_s);

/* Hot. Writes RANT_TEST_START with REALTIME, TAI and MONOTONIC_RAW. */
void trace_mark_start(struct trace *t, enum role role);

/* Hot. Writes the marker of a breach: role, numbers, all times there are, then the three clocks. With `stop` it then
 * switches tracing off and takes the snapshot, and the trace is frozen. While it is, a breach is only counted. */
void trace_breach(struct trace *t, enum role role, const struct sample *s, int64_t threshold_ns, bool stop);

/* True: the trace is frozen, and t->last may be read by any thread. */
bool trace_is_frozen(const struct trace *t);

/* Housekeeping thread. Empties the buffers of a frozen trace that was saved and switches tracing on again. 0, or -errno
 * after one line: then it stays frozen. -EBUSY without a line: not frozen, or not saved. Where another program shares the
 * instance, what it has not saved yet goes too. */
int trace_rearm(struct trace *t);

/* Is the kernel tracing, in the top instance or any other: a tracer is set, or events are enabled, and tracing is on? Names
 * the first such one in text. False too where tracefs cannot be read. Takes milliseconds; changes nothing. */
bool trace_is_running(char *text, size_t bytes);

/* Can trace_save() write there? The folder must exist and be no link. 0, or -errno after one line. */
int trace_check_folder(const char *folder);

/* Writes the frozen trace, merged and per CPU, into a new folder inside `folder` that only this user may read; it gets
 * its name, rant-ROLE-NUMBER-seq-SEQ, when it is complete. Call it while the trace is frozen, or after the run. 1: *saved says where; 0: there was
 * no breach to save; -errno after one line, and nothing is left. */
int trace_save(struct trace *t, const char *folder, struct trace_saved *saved);

/* Leaves the trace as it was found, if no breach was traced. After a breach tracing stays off, and an instance that was
 * made here is removed only when the trace was saved. In use by others, all stays as it is. Safe in a signal handler. */
void trace_close(struct trace *t);

/* ---- action.c: commands of the user at a breach ---------------------------------------------------------------------- */

struct actions {
	const struct breach_actions *wanted;
	pid_t pid[BREACH_COMMANDS_MAX]; /* that runs; 0: none */
	unsigned ran[BREACH_COMMANDS_MAX], failed[BREACH_COMMANDS_MAX]; /* ended; not started, or ended with a status */
	unsigned left_out[BREACH_COMMANDS_MAX]; /* breaches at which it still ran for an earlier one */
	bool told[BREACH_COMMANDS_MAX]; /* that it could not be started */
};

/* Starts every command by /bin/sh -c, with `environment` ("NAME=value", then NULL) and that of rant but for what begins
 * with RANT_: only such names are sure to override. Does not wait. What can't be started is said once and counted. Not for
 * the measuring thread. */
void actions_run(struct actions *a, char *const *environment);

/* Notes which have ended. */
void actions_reap(struct actions *a);

/* Waits up to 5 s for those that run; says which are left. */
void actions_finish(struct actions *a);

/* ---- pmc.c (hot) and pmu.c: hardware counters of the measuring thread --------------------------------------------- */

#define PMC_MAX 13

struct pmc {
	unsigned counters; /* that are read; the arrays below go by them */
	uint8_t event[PMC_MAX]; /* which of the known ones, for pmc_name() */
	bool user_only; /* the kernel's part of the work is not counted: not allowed */
	/* System calls that reading adds to an exchange: 0 when all is read by the instruction rdpmc, else 2. */
	unsigned system_calls;
	char missing[256]; /* "a, b, c": what this machine lacks or cannot count at the same time; "" if nothing */
	bool software_left_out; /* those that only a system call can read: see pmc_open() */

	/* Results, of exchanges whose counters could be read. */
	uint64_t delta[PMC_MAX]; /* of the last exchange; valid when pmc_end() said so */
	uint64_t quick, quick_sum[PMC_MAX];
	uint64_t slow, slow_sum[PMC_MAX];
	uint64_t spike[PMC_MAX]; /* of the first slow one */
	uint64_t failed; /* exchanges whose counters could not be read */
	bool partial[PMC_MAX]; /* did not count all the time, so that its figures are too low: by pmc_finish() */

	/* Inside. The first `direct` counters are read by rdpmc, the others by one read() of a group, in this order. */
	unsigned direct;
	const void *page[PMC_MAX]; /* struct perf_event_mmap_page, NULL: none */
	int fd[PMC_MAX];
	int group_fd; /* -1: nothing is left to read() */
	bool begun, idle[PMC_MAX]; /* seen at a time when it was not counting */
	uint64_t before[PMC_MAX];
};

/* Opens counters for the calling thread, which must be the measuring one: as many of the known ones as the machine can
 * count at once. `system_calls`: also those that only a system call can read (page-faults, context-switches,
 * cpu-migrations), when rdpmc does for the others; where it does for none, all are read by system call. 0, or after
 * one line -ENODEV (there are none), -EACCES, -EMFILE and the like. Source: perf_event_open(2), linux/perf_event.h. */
int pmc_open(struct pmc *p, bool system_calls);

/* "cache-misses" and the like, as 'perf list' calls them. */
const char *pmc_name(const struct pmc *p, unsigned i);

/* Before the first and after the last verb of an exchange. pmc_end() fills p->delta; false: they could not be read. */
void pmc_begin(struct pmc *p);
bool pmc_end(struct pmc *p);

/* Adds p->delta to the sums of the quick samples, or of the slow ones; the first slow one is kept as the spike. Call it
 * only when pmc_end() was true. */
void pmc_account(struct pmc *p, bool slow);

/* After the run, on the thread that opened: sets p->partial. */
void pmc_finish(struct pmc *p);
void pmc_close(struct pmc *p);

/* ---- activity.c: what the machine was doing ----------------------------------------------------------------------- */

#define ACTIVITY_COUNTERS 2048
#define ACTIVITY_UNREADABLE 48

struct activity {
	struct activity_inside *inside; /* all memory that reading needs, made once; NULL: not open */
	const struct nic *nic;
	pid_t thread;
	int cpu; /* -1: not pinned to one */
	/* What cannot be told and why, one line each: "SMI count (/dev/cpu/1/msr: No such file or directory)". */
	char unreadable[ACTIVITY_UNREADABLE][144];
	unsigned unreadables, unreadables_left_out;
	unsigned counters_left_out; /* found at opening or later, for which there was no room */
};

struct activity_reading {
	uint64_t value[ACTIVITY_COUNTERS];
	uint8_t known[ACTIVITY_COUNTERS / 8]; /* bits: what could not be read has no value */
	bool measuring, rows; /* as it was asked for; /proc/interrupts was read to its end */
	uint64_t cpus; /* a hash of the CPUs that were online */
	uint64_t mark; /* the caller's: packets that had been sent */
};

enum activity_change {
	/* Counted up by `delta`. Interrupts, softirqs and SMIs have 32 bits: right while they count less than 2^32. */
	ACTIVITY_COUNTED,
	ACTIVITY_CHANGED, /* a level, such as a frequency: from -> to */
	ACTIVITY_RESET, /* from -> to: went back, or sums up other CPUs than before: how much it counted is not known */
	ACTIVITY_GONE, /* was `from`, and cannot be read any more */
};

struct activity_difference {
	const char *group, *name, *unit; /* unit "": a plain count. Valid until activity_close(). Printable ASCII */
	enum activity_change change;
	uint64_t delta, from, to;
};

/* Finds out what can be read about the thread, its CPU and the NIC, and lists the rest in a->unreadable. `n` stays the
 * caller's and must stay open. Files stay open, so call it before privileges are dropped. 0, or -ENOMEM after one line:
 * what cannot be read is no error. */
int activity_open(struct activity *a, const struct nic *n, pid_t thread, int cpu);

/*
 * Reads all counters: by any thread, one at a time. With `measuring` it leaves out what would interrupt the measuring
 * CPU (the SMI count: the kernel reads an MSR by an interprocessor interrupt; before Linux 5.18 on x86 the frequency
 * too). The rest costs the measuring loop nothing, but the driver may ask the NIC for its statistics, register by
 * register: so read at the start, at breaches and at the end, not periodically. Allocates only what
 * nic_read_stamp_counts() does. A reading is 16 kB: too much for the housekeeping thread's stack.
 */
void activity_read(struct activity *a, struct activity_reading *r, bool measuring);

/* The differences that are not zero, in groups; of what one of the readings left out for `measuring` there is none.
 * Returns how many there are; the first `max` of them are in list. */
size_t activity_differences(const struct activity *a, const struct activity_reading *before,
			    const struct activity_reading *after, struct activity_difference *list, size_t max);

void activity_close(struct activity *a);

/* ---- watch.c: the housekeeping thread ------------------------------------------------------------------------------ */

struct watch {
	/* Set by the caller. */
	struct exchange *exchange;
	bool progress; /* a line on stderr every second */
	/* A breach, in order; those that exchange_breach() has lost are counted in `missed`. May be NULL. */
	void (*on_breach)(void *context, const struct sample *s, uint64_t number);
	void *context;
	struct trace *trace; /* to save when it is frozen and switch on again, at most once in rearm_interval_ns; NULL: none */
	const char *save_path;
	int64_t rearm_interval_ns;
	struct clock_watch *clocks; /* to measure ten times a second; NULL: none */

	/* Results. */
	uint64_t missed;
	struct trace_saved saved; /* the last one; path empty: none */
	int save_error; /* after it nothing is saved any more */

	/* Its own. */
	bool running;
	uint64_t breaches_seen;
	int64_t rearmed_ns; /* CLOCK_MONOTONIC */
	int stop_fd;
	unsigned long thread; /* pthread_t */
};

/* Starts the housekeeping thread on another CPU than the caller's, at SCHED_OTHER, if it has anything to do. 0, or -errno:
 * -ENODEV when there is no other CPU that it may use. */
int watch_start(struct watch *w);

/* Ends the thread. What it has not got round to is done by the caller: after the run. */
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

/* How much of it is in no page, by mincore(2): a first access would fault. -errno: cannot be told. */
int64_t memory_absent_bytes(const struct memory *m);

uint64_t memory_free_bytes(void);

/* ---- verdict.c: may the numbers be trusted? -------------------------------------------------------------------------- */

/* TRUSTED: no reason was found. DOUBTFUL: some numbers may be wrong or missing. VOID: they say nothing. */
enum verdict_level { VERDICT_TRUSTED, VERDICT_DOUBTFUL, VERDICT_VOID };

/* Of the measuring thread at one moment, by getrusage(2) with RUSAGE_THREAD. */
struct verdict_thread {
	bool known;
	uint64_t minor_faults, major_faults, switches;
	int64_t at_ns; /* CLOCK_MONOTONIC */
	int cpu; /* -1: not told */
};

/* What a run left behind. All stays the caller's. */
struct verdict_facts {
	const struct options *options;
	const struct exchange *exchange;
	const struct histogram *histogram;
	const struct log *log; /* NULL: none */
	const struct clock_watch *clocks; /* NULL: not watched */
	const struct activity *activity; /* NULL: not read */
	const struct activity_reading *activity_start, *activity_end;
	struct verdict_thread thread[2]; /* right before the loop, right after it */
	int setting[2][3], setting_error[2]; /* of the NIC, by nic_read_setting(), before and after */
	int lock_error; /* by memory_lock() */
	int64_t absent_bytes; /* by memory_absent_bytes(), after the loop and before anything is unlocked */
	bool balanced; /* by exchange_balanced() */
};

#define VERDICT_TEXT_BYTES 192
#define VERDICT_REASONS 32

struct verdict_reason {
	enum verdict_level level;
	const char *name, *why;
	char text[VERDICT_TEXT_BYTES]; /* the numbers */
};

struct verdict {
	enum verdict_level level; /* the worst of the reasons */
	unsigned reasons, unjudgeds;
	struct verdict_reason reason[VERDICT_REASONS];
	struct verdict_reason unjudged[VERDICT_REASONS]; /* what this run should be asked, but what could not be read; no numbers */
};

/* For the measuring thread: two system calls. */
void verdict_read_thread(struct verdict_thread *t);

/* After the run. One thread at a time. */
void verdict_reach(struct verdict *v, const struct verdict_facts *f);

/* Is the exit status 3? */
bool verdict_fails(const struct verdict *v, bool strict);

/* ---- report.c: all text for people --------------------------------------------------------------------------------- */

struct report {
	const struct options *options;
	const struct exchange *exchange;
	const struct channel *channel;
	const struct histogram *histogram;
	const struct log *log;
	const struct trace *trace; /* NULL: none */
	const struct trace_saved *saved; /* the last one; path empty: none */
	const struct actions *actions;
	struct clock_watch *clocks; /* NULL: not watched */
	const struct clock_peer *peer; /* NULL: not looked at */
	const char *stages_why; /* why there are no stages although user-space times were asked for; NULL: there are */
	const struct pmc *pmc; /* NULL: none */
	const struct activity *activity; /* NULL: none */
	const struct activity_reading *activity_start, *activity_breach, *activity_end; /* breach: NULL without one */
	/* At the worst breach, and at the one before it (or the start); NULL: the first breach was the worst. */
	const struct activity_reading *activity_worst, *activity_before_worst;
	uint64_t strays;
	uint64_t breaches_missed; /* of struct watch */
	bool no_other_cpu; /* the housekeeping thread had to be left out */
	const struct verdict *verdict; /* NULL: not reached */
	const char *tracing; /* where the kernel is tracing; NULL: nowhere that can be seen */
};

/* "RTT = T4_KERNEL - T1_KERNEL" and the like. */
void report_latency_name(const struct options *o, char *text, size_t bytes);

#define REPORT_ENVIRONMENT_MAX (9 + ALL_TIMES + 1)
#define REPORT_ENVIRONMENT_BYTES (REPORT_ENVIRONMENT_MAX * 48)

/* A breach as variables for a command: RANT_ROLE, RANT_INTERFACE, RANT_NUMBER (of the breach, from 1), RANT_SEQ, RANT_LATENCY_NS,
 * RANT_THRESHOLD_NS, RANT_THRESHOLD_ON (rtt, response or network), RANT_RESPONSE_NS and RANT_NETWORK_NS where an emitter
 * knows them, and each time that there is, as RANT_T1_HW=1773883524.780127138. NULL ends environment[], which points
 * into text. */
void report_environment(const struct report *r, const struct sample *s, uint64_t number,
			char text[REPORT_ENVIRONMENT_BYTES], char *environment[REPORT_ENVIRONMENT_MAX]);

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
