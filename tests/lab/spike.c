/* build: flags=-shared,-fPIC libs=-ldl */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into rant (LD_PRELOAD): makes packets late at one stage of their way through the program, by spinning; or one of
 * the faults that the verdict has to find.
 *
 *   SPIKE=STAGE,EVERY,US       STAGE  rx: between the wire and the program, app: in the program, tx: between program and wire
 *                              EVERY  every so many-th packet that is received (rx, app) or sent (tx)
 *                              US     how long
 *   SPIKE_COUNT=FILE           gets the number of those that were made late, at the end
 *
 *   FAULT=KIND,EVERY           KIND   page: the sending thread touches a page that is not there
 *                                     id: a transmit stamp has a number that no packet has
 *                                     absent: the last page of the first memory that mincore() is asked for is given back
 *                              EVERY  every so many-th packet that is sent (page), stamp (id); absent: 1
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h> /* before */
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
	enum { NOWHERE, RX, APP, TX } stage;
	unsigned long every, spin_ns;
	unsigned long received, sent, made;
	unsigned reads; /* of CLOCK_REALTIME since the last packet was received */
} spike;

static struct {
	enum { NOTHING, PAGE, ID, ABSENT } kind;
	unsigned long every, sent, stamps;
	char *page;
	size_t page_bytes;
} fault;

static int (*real_mincore)(void *, size_t, unsigned char *);
static ssize_t (*real_recvmsg)(int, struct msghdr *, int);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static int (*real_clock_gettime)(clockid_t, struct timespec *);

static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		abort();
	return f;
}

static void begin_fault(void)
{
	const char *text = getenv("FAULT");
	char kind[8] = "";

	real_mincore = real("mincore");
	if (!text || sscanf(text, "%7[^,],%lu", kind, &fault.every) != 2 || !fault.every)
		return;
	fault.kind = !strcmp(kind, "page") ? PAGE : !strcmp(kind, "id") ? ID : !strcmp(kind, "absent") ? ABSENT : NOTHING;
	fault.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	fault.page = mmap(NULL, fault.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fault.page == MAP_FAILED)
		abort();
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("SPIKE");
	char stage[4] = "";
	unsigned long us;

	real_recvmsg = real("recvmsg");
	real_sendmsg = real("sendmsg");
	real_clock_gettime = real("clock_gettime");
	begin_fault();
	if (!text || sscanf(text, "%3[^,],%lu,%lu", stage, &spike.every, &us) != 3 || !spike.every)
		return;
	spike.spin_ns = us * 1000;
	spike.stage = !strcmp(stage, "rx") ? RX : !strcmp(stage, "app") ? APP : !strcmp(stage, "tx") ? TX : NOWHERE;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("SPIKE_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", spike.made);
	fclose(f);
}

static unsigned long now_ns(void)
{
	struct timespec t;

	real_clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000000000 + (unsigned long)t.tv_nsec;
}

static void maybe_spin(unsigned long packets)
{
	unsigned long until_ns;

	if (packets % spike.every != 0)
		return;
	spike.made++;
	for (until_ns = now_ns() + spike.spin_ns; now_ns() < until_ns;)
		;
}

/* What is locked cannot be given back. */
static void give_back(void *page)
{
	if (munlock(page, fault.page_bytes) || madvise(page, fault.page_bytes, MADV_DONTNEED))
		abort();
}

static void change_id(struct msghdr *m)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		struct sock_extended_err *e = (struct sock_extended_err *)(void *)CMSG_DATA(h);

		if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_RECVERR && e->ee_origin == SO_EE_ORIGIN_TIMESTAMPING &&
		    ++fault.stamps % fault.every == 0)
			e->ee_data += 1u << 30;
	}
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t got = real_recvmsg(fd, m, flags);

	if (got >= 0 && flags & MSG_ERRQUEUE && fault.kind == ID)
		change_id(m);
	/* Not the error queue, and not libnl's answers, which are waited for. */
	if (got <= 0 || flags & MSG_ERRQUEUE || !(flags & MSG_DONTWAIT))
		return got;
	spike.received++;
	spike.reads = 0;
	if (spike.stage == RX)
		maybe_spin(spike.received);
	return got;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	/* Not libnl's questions. */
	if (flags & MSG_DONTWAIT)
		spike.sent++;
	if (flags & MSG_DONTWAIT && spike.stage == TX)
		maybe_spin(spike.sent);
	if (flags & MSG_DONTWAIT && fault.kind == PAGE && ++fault.sent % fault.every == 0) {
		give_back(fault.page);
		*(volatile char *)fault.page = 1;
	}
	return real_sendmsg(fd, m, flags);
}

/* The first read after a packet is received tells when the program had it, the second when it sends. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock == CLOCK_REALTIME && spike.stage == APP && spike.received && ++spike.reads == 2)
		maybe_spin(spike.received);
	return real_clock_gettime(clock, t);
}

int mincore(void *start, size_t bytes, unsigned char *present)
{
	if (fault.kind == ABSENT) {
		fault.kind = NOTHING;
		give_back((char *)start + (bytes - 1) / fault.page_bytes * fault.page_bytes);
	}
	return real_mincore(start, bytes, present);
}
