// SPDX-License-Identifier: GPL-2.0-or-later
/* build: flags=-shared,-fPIC libs=-ldl */
/*
 * For rant on QEMU's igb, by LD_PRELOAD: the NIC of the emulated 82576 seems to stamp every packet that is received,
 * with the driver as it is. RXSATRH_BAR names the file of the device's registers, "/sys/bus/pci/devices/.../resource0".
 *
 * QEMU's igb (hw/net/igb_core.c) stamps a received packet if its ethertype has a filter that says so and what follows
 * looks like PTP; and only one at a time: the latch is cleared by a read of RXSATRH, which the Linux driver never does.
 * So: filter "all" is asked for as PTP and given back as "all", the ethertype filter is set to IPv4, IPv4 headers look
 * like a Sync of version 2 by their TOS, and the latch is cleared after each packet, of which the driver has taken the
 * time before any program could see it.
 *
 * With a filter of PTP events it stamps Sync on Ethernet and nothing else: it has no parser of UDP 319, and one type of
 * message at a time. RXSATRH_EVENT names another that rant is to have: "ipv4", by the way above, or "delay-req" on
 * Ethernet.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { /* offsets in BAR 0, of the 82576 data sheet */
	ETQF3 = 0x5cbc,
	TSYNCRXCFG = 0x5f50,
	RXSATRH = 0xb630,
	BAR_BYTES = 0x20000,
};

#define ETQF3_IPV4_STAMPED 0x44000800 /* enabled, stamped, ethertype 0x0800 */
#define TSYNCRXCFG_IPV4 0x4500 /* message type: the first octet of an IPv4 header */
#define TSYNCRXCFG_DELAY_REQ 0x0100
#define TOS_PTP_V2 0x02 /* the nibble of the version */

static volatile uint32_t *bar;
static bool pretending;

__attribute__((constructor)) static void map_registers(void)
{
	const char *path = getenv("RXSATRH_BAR");
	int fd = path ? open(path, O_RDWR | O_SYNC | O_CLOEXEC) : -1;

	if (fd < 0)
		err(1, "rxsatrh: RXSATRH_BAR=%s", path ? path : "");
	void *map = mmap(NULL, BAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		err(1, "rxsatrh: mmap (is iomem=relaxed on the kernel's command line?)");
	bar = map;
}

static void clear_latch(void)
{
	(void)bar[RXSATRH / 4];
}

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		errx(1, "rxsatrh: no %s", name);
	return function;
}

static int (*real_ioctl)(int, unsigned long, ...);

static int set_filter(int fd, struct ifreq *r)
{
	struct hwtstamp_config *c = (void *)r->ifr_data;
	const char *event = getenv("RXSATRH_EVENT");
	bool all = c->rx_filter == HWTSTAMP_FILTER_ALL;
	bool others = event && c->rx_filter == HWTSTAMP_FILTER_PTP_V2_EVENT;
	bool ipv4 = all || (others && !strcmp(event, "ipv4"));

	if (all)
		c->rx_filter = HWTSTAMP_FILTER_PTP_V2_EVENT;
	int error = real_ioctl(fd, SIOCSHWTSTAMP, r);

	if (error)
		return error;
	pretending = all;
	/* The driver has just written both. */
	if (ipv4)
		bar[ETQF3 / 4] = ETQF3_IPV4_STAMPED;
	if (ipv4 || others)
		bar[TSYNCRXCFG / 4] = ipv4 ? TSYNCRXCFG_IPV4 : TSYNCRXCFG_DELAY_REQ;
	clear_latch();
	if (all)
		c->rx_filter = HWTSTAMP_FILTER_ALL;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (!real_ioctl)
		real_ioctl = next("ioctl");
	if (request == SIOCSHWTSTAMP)
		return set_filter(fd, argument);
	int error = real_ioctl(fd, request, argument);

	if (request == SIOCGHWTSTAMP && !error && pretending) {
		struct hwtstamp_config *c = (void *)((struct ifreq *)argument)->ifr_data;

		if (c->rx_filter == HWTSTAMP_FILTER_PTP_V2_EVENT)
			c->rx_filter = HWTSTAMP_FILTER_ALL;
	}
	return error;
}

int socket(int domain, int type, int protocol)
{
	static int (*real)(int, int, int);
	const int tos = TOS_PTP_V2;

	if (!real)
		real = next("socket");
	int fd = real(domain, type, protocol);

	if (fd >= 0 && domain == AF_INET)
		setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	return fd;
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	static ssize_t (*real)(int, struct msghdr *, int);

	if (!real)
		real = next("recvmsg");
	ssize_t bytes = real(fd, m, flags);

	if (bytes >= 0 && !(flags & MSG_ERRQUEUE))
		clear_latch();
	return bytes;
}
