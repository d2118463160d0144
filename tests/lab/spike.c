/* build: flags=-shared,-fPIC,-z,now libs=-ldl */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into rant (LD_PRELOAD): delays packets at a stage of their path through the program, by spinning; or
 * makes a fault that the verdict has to find.
 *
 * SPIKE=STAGE,EVERY,US STAGE rx: between the wire and the program, app: in the program, tx: between program and wire
 * 
 *                              EVERY  every EVERY-th packet that is received (rx, app) or sent (tx)
 *                              US     duration of the delay
 *   SPIKE_DRAWN=yes            durations are random, uniform from 0 to US
 *   SPIKE_COUNT=FILE           gets the number of delayed packets, at the end
 *
 *   FAULT=KIND,N
 *     page,N     the sending thread touches a page that is not there, at every N-th packet that is sent
 *     strange,N  a packet of an unknown protocol is sent with every N-th
 *     back,N     every N-th packet was received a second before it was
 *     id,N       every N-th transmit stamp has a number that no packet has
 *     absent,1   the last page of the first memory that mincore() is asked for is given back
 *     filter,N   the N-th time and the next that it is asked, the NIC stamps PTP packets only
 *     clock,N    from the N-th question to the NIC's clock on it does not answer
 *     set,N      CLOCK_REALTIME is set by 1000 s, forth and back by turns, at every N-th packet that is sent: for
 *                --stamp user, since stamps of the kernel are not; a timerfd tells of it
 *     forbid,N   the sending thread asks who its parent is, which the filter forbids, at every N-th packet that is sent
 *     lock,N     to lock the memory takes N tenths of a second more
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h> /* before */
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static struct {
	enum { NOWHERE, RX, APP, TX } stage;
	unsigned long every, spin_ns;
	int is_drawn;
	unsigned short drawn[3]; /* state of the generator */
	unsigned long received, sent, made;
	unsigned reads; /* of CLOCK_REALTIME since the last packet was received */
} spike;

enum kind { NOTHING, PAGE, STRANGE, BACK, ID, ABSENT, FILTER, CLOCK, SET, FORBID, LOCK, KINDS };

static struct {
	enum kind kind;
	unsigned long every, count; /* of what the kind is about */
	char *page, *page_end;
	size_t page_bytes;
	long set_s; /* CLOCK_REALTIME is ahead by so much, */
	int timer_fd, set_unreported; /* which is not defined yet here */
	int raw_fd;
	struct sockaddr_ll strange;
} fault;

static int (*real_ioctl)(int, unsigned long, ...);
static int (*real_mincore)(void *, size_t, unsigned char *);
static int (*real_mlock)(const void *, size_t);
static int (*real_bind)(int, const struct sockaddr *, socklen_t);
static ssize_t (*real_recvmsg)(int, struct msghdr *, int);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static ssize_t (*real_recv)(int, void *, size_t, int);
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_read)(int, void *, size_t);
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
	static const char *const names[KINDS] = { "", "page", "strange", "back", "id", "absent", "filter", "clock",
						  "set", "forbid", "lock" };
	const char *text = getenv("FAULT");
	char kind[8] = "";

	real_ioctl = real("ioctl");
	real_mincore = real("mincore");
	real_mlock = real("mlock");
	real_bind = real("bind");
	if (!text || sscanf(text, "%7[^,],%lu", kind, &fault.every) != 2 || !fault.every)
		return;
	for (enum kind k = PAGE; k < KINDS; k++)
		if (!strcmp(kind, names[k]))
			fault.kind = k;
	fault.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	fault.raw_fd = fault.kind == STRANGE ? socket(AF_PACKET, SOCK_DGRAM, 0) : -1;
	if (fault.kind == STRANGE && fault.raw_fd < 0)
		abort();
}

/* Is it time for it? */
static int is_due(enum kind kind)
{
	return fault.kind == kind && ++fault.count % fault.every == 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("SPIKE");
	char stage[4] = "";
	unsigned long us;

	real_recvmsg = real("recvmsg");
	real_sendmsg = real("sendmsg");
	real_recv = real("recv");
	real_send = real("send");
	real_read = real("read");
	real_clock_gettime = real("clock_gettime");
	begin_fault();
	if (!text || sscanf(text, "%3[^,],%lu,%lu", stage, &spike.every, &us) != 3 || !spike.every)
		return;
	spike.spin_ns = us * 1000;
	spike.is_drawn = getenv("SPIKE_DRAWN") != NULL;
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
	double part;

	if (packets % spike.every != 0)
		return;
	spike.made++;
	part = spike.is_drawn ? erand48(spike.drawn) : 1;
	for (until_ns = now_ns() + (unsigned long)(part * (double)spike.spin_ns); now_ns() < until_ns;)
		;
}

/* What is locked cannot be given back. */
static void give_back(void *page)
{
	if (munlock(page, fault.page_bytes) || madvise(page, fault.page_bytes, MADV_DONTNEED))
		abort();
}

/* The filter of the measuring thread lets no page be given back: there are pages enough that were never there. They are
 * shared mappings, which the kernel does not merge with the mappings beside them. */
static void begin_to_lock(void)
{
	const size_t bytes = 1UL << 30;

	/* Whatever a handler does meanwhile, the call goes on. */
	for (unsigned long until_ns = fault.kind == LOCK ? now_ns() + fault.every * 100000000 : 0;
	     until_ns && now_ns() < until_ns;)
		usleep(10000);
	if (fault.kind != PAGE)
		return;
	fault.page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fault.page == MAP_FAILED)
		abort();
	fault.page_end = fault.page + bytes;
}

/* The program locks its mappings in sequence. */
int mlock(const void *start, size_t bytes)
{
	static int has_begun;

	if (!has_begun++)
		begin_to_lock();
	return start == fault.page && start ? 0 : real_mlock(start, bytes);
}

static void touch_page(void)
{
	if (fault.page == fault.page_end)
		abort();
	*(volatile char *)fault.page = 1;
	fault.page += fault.page_bytes;
}

/* The socket is bound to its interface by then. */
int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(0x88b5), .sll_halen = 6 };
	char name[IF_NAMESIZE] = "";
	socklen_t name_bytes = sizeof(name);

	memset(to.sll_addr, 0xff, 6);
	if (fault.kind == STRANGE && !getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &name_bytes) && *name) {
		to.sll_ifindex = (int)if_nametoindex(name);
		fault.strange = to;
	}
	return real_bind(fd, address, bytes);
}

static void send_strange(void)
{
	struct iovec text = { .iov_base = "strange", .iov_len = 7 };
	const struct msghdr m = { .msg_name = &fault.strange, .msg_namelen = sizeof(fault.strange), .msg_iov = &text,
				  .msg_iovlen = 1 };

	if (real_sendmsg(fault.raw_fd, &m, 0) < 0)
		abort();
}

static void change_id(struct msghdr *m)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		struct sock_extended_err *e = (struct sock_extended_err *)(void *)CMSG_DATA(h);

		if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_RECVERR &&
		    e->ee_origin == SO_EE_ORIGIN_TIMESTAMPING &&
		    is_due(ID))
			e->ee_data += 1u << 30;
	}
}

static void set_back(struct msghdr *m)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h))
		if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPING)
			((struct timespec *)(void *)CMSG_DATA(h))->tv_sec--;
}

static void note_received(void)
{
	spike.received++;
	spike.reads = 0;
	if (spike.stage == RX)
		maybe_spin(spike.received);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t got = real_recvmsg(fd, m, flags);

	if (got >= 0 && flags & MSG_ERRQUEUE)
		change_id(m);
	/* Not the error queue, and not libnl's answers, which are waited for. */
	if (got <= 0 || flags & MSG_ERRQUEUE || !(flags & MSG_DONTWAIT))
		return got;
	note_received();
	if (is_due(BACK))
		set_back(m);
	return got;
}

/* Where there is nothing to set back. */
ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
	ssize_t got = real_recv(fd, to, bytes, flags);

	if (got > 0 && flags & MSG_DONTWAIT)
		note_received();
	return got;
}

static void note_sending(void)
{
	spike.sent++;
	if (spike.stage == TX)
		maybe_spin(spike.sent);
	if (is_due(PAGE))
		touch_page();
	if (is_due(FORBID))
		getppid();
	if (is_due(STRANGE))
		send_strange();
	if (is_due(SET)) {
		fault.set_s = 1000 - fault.set_s;
		fault.set_unreported = 1;
	}
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	/* Not libnl's questions. */
	if (flags & MSG_DONTWAIT)
		note_sending();
	return real_sendmsg(fd, m, flags);
}

ssize_t send(int fd, const void *packet, size_t bytes, int flags)
{
	if (flags & MSG_DONTWAIT)
		note_sending();
	return real_send(fd, packet, bytes, flags);
}

int timerfd_create(clockid_t clock, int flags)
{
	int (*real_create)(clockid_t, int) = real("timerfd_create");

	fault.timer_fd = real_create(clock, flags);
	return fault.timer_fd;
}

ssize_t read(int fd, void *to, size_t bytes)
{
	if (fault.set_unreported && fd == fault.timer_fd) {
		fault.set_unreported = 0;
		errno = ECANCELED;
		return -1;
	}
	return real_read(fd, to, bytes);
}

/* The first read after a packet is received tells when the program had it, the second when it sends. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock == CLOCK_REALTIME && spike.stage == APP && spike.received && ++spike.reads == 2)
		maybe_spin(spike.received);
	/* That of a device. */
	if (clock < 0 && fault.kind == CLOCK && ++fault.count >= fault.every) {
		errno = EIO;
		return -1;
	}
	if (real_clock_gettime(clock, t))
		return -1;
	t->tv_sec += clock == CLOCK_REALTIME ? fault.set_s : 0;
	return 0;
}

static void narrow_filter(struct ifreq *r)
{
	struct hwtstamp_config *c = (void *)r->ifr_data;

	c->rx_filter = HWTSTAMP_FILTER_PTP_V2_EVENT;
}

int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list ap;
	int result;

	va_start(ap, request);
	argument = va_arg(ap, void *);
	va_end(ap);
	if (_IOC_TYPE(request) == PTP_CLK_MAGIC && fault.kind == CLOCK && ++fault.count >= fault.every) {
		errno = EIO;
		return -1;
	}
	result = real_ioctl(fd, request, argument);
	if (request == SIOCGHWTSTAMP && fault.kind == FILTER && ++fault.count >= fault.every &&
	    fault.count < fault.every + 2)
		narrow_filter(argument);
	return result;
}

int mincore(void *start, size_t bytes, unsigned char *present)
{
	if (fault.kind == ABSENT) {
		fault.kind = NOTHING;
		give_back((char *)start + (bytes - 1) / fault.page_bytes * fault.page_bytes);
	}
	return real_mincore(start, bytes, present);
}
