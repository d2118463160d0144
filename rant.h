/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rant: round-trip and network timing. The words that all rooms share; what a room promises is said in its own header.
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
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#define RANT_VERSION "0.2" /* the newest of CHANGELOG.md */

#define STAMP_PORT 862 /* RFC 8762 section 4.1 */
#define STAMP_BASE_BYTES 44 /* unauthenticated packet, RFC 8762 sections 4.2 and 4.3 */
#define SESSIONS_MAX 1024 /* of a reflector */

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S 1000000000LL

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

/* splitmix64 (Steele, Lea and Flood 2014): all 2^64 numbers, in an order that looks like none. The state may begin with
 * any number. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* For qsort(): times in ascending order. */
static inline int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Counters have one writer, the measuring thread; the housekeeping thread may read them at any time. */
typedef _Atomic uint64_t counter;

/* For what is part of a loop, with the role as a constant. */
#define INLINE static inline __attribute__((always_inline))

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

/* As files, the trace and the environment of hook commands have it. */
static inline const char *role_name(enum role role)
{
	return role == ROLE_EMIT ? "emit" : "reflect";
}

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
	FOLLOW_UP_STEPPED, /* T2 and T3 contradict what is known of the two hosts' clocks */
	FOLLOW_UPS,
};

/* The first half is what a reflector has and what the plain log keeps: log.c stores no more than that of it. */
struct sample {
	uint32_t seq; /* sequence number of the probe, as on the wire */
	uint8_t source[ALL_TIMES]; /* enum source */
	uint8_t follow_up; /* enum follow_up */
	/* The reply told of the reflector's times of user space: they are on the scale of its stamps; they are not. */
	bool one_scale, off_scale;
	bool alike; /* T2 and T3 in the reply are of one clock, as far as it tells */
	int64_t latency_ns;
	int64_t time_ns[ALL_TIMES]; /* since the epoch of the clock that source[] names */
};

#define SAMPLE_HERE_BYTES offsetof(struct sample, time_ns[THERE])

/* A character of what somebody else wrote, as a message of one line may show it. */
static inline char text_shown(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

/* Puts more behind a text, as printf(3) would write it; what does not fit into these bytes is cut off. */
__attribute__((format(printf, 3, 4)))
static inline void text_add(char *text, size_t bytes, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, bytes - used, format, arguments);
	va_end(arguments);
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ll ll; /* AF_PACKET: an address of the link */
};

/* Octets of one of either IP family, for system calls and to compare two of what came from there. */
static inline socklen_t address_bytes(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

/* Does it need an interface beside it, its zone (RFC 4007)? To a socket that is bound to one, that is it. */
static inline bool address_is_link_local(const union address *a)
{
	return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr);
}

/* The octets of an address of either IP family as IPv6 writes them (RFC 4291 section 2.5.5.2): the two share none. Of
 * one of the link, as the last ones: all peers of a run are of one family. */
static inline void address_as_ipv6(const union address *a, uint64_t octets[2])
{
	if (a->any.sa_family == AF_INET6) {
		memcpy(octets, &a->in6.sin6_addr, 16);
		return;
	}
	uint8_t *mapped = (uint8_t *)octets;

	memset(mapped, 0, 10);
	if (a->any.sa_family == AF_PACKET) {
		memcpy(mapped + 10, a->ll.sll_addr, 6);
		return;
	}
	mapped[10] = mapped[11] = 0xff;
	memcpy(mapped + 12, &a->in.sin_addr, 4);
}

#endif
