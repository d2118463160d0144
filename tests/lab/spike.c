/* build: flags=-shared,-fPIC libs=-ldl */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into rant (LD_PRELOAD): makes packets late at one stage of their way through the program, by spinning.
 *
 *   SPIKE=STAGE,EVERY,US       STAGE  rx: between the wire and the program, app: in the program, tx: between program and wire
 *                              EVERY  every so many-th packet that is received (rx, app) or sent (tx)
 *                              US     how long
 *   SPIKE_COUNT=FILE           gets the number of those that were made late, at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static struct {
	enum { NOWHERE, RX, APP, TX } stage;
	unsigned long every, spin_ns;
	unsigned long received, sent, made;
	unsigned reads; /* of CLOCK_REALTIME since the last packet was received */
} spike;

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

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("SPIKE");
	char stage[4] = "";
	unsigned long us;

	real_recvmsg = real("recvmsg");
	real_sendmsg = real("sendmsg");
	real_clock_gettime = real("clock_gettime");
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

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t got = real_recvmsg(fd, m, flags);

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
	return real_sendmsg(fd, m, flags);
}

/* The first read after a packet is received tells when the program had it, the second when it sends. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock == CLOCK_REALTIME && spike.stage == APP && spike.received && ++spike.reads == 2)
		maybe_spin(spike.received);
	return real_clock_gettime(clock, t);
}
