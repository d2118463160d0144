// SPDX-License-Identifier: GPL-2.0-or-later
/* What this kernel's stamps need */
#include "wire/kernel_stamps.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Does the kernel take SCM_TS_OPT_ID? It reads control messages before it looks for a route: an unknown one is EINVAL,
 * while a known one gets as far as the broadcast address, which needs SO_BROADCAST: EACCES, or no route. Nothing is
 * sent.
 */
bool kernel_stamps_take_id(const struct transport *t)
{
	struct sockaddr_in broadcast = { .sin_family = AF_INET, .sin_port = htons(9),
					 .sin_addr.s_addr = htonl(INADDR_BROADCAST) };
	union {
		char octets[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr header;
	} control = { .header = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_TS_OPT_ID,
				  .cmsg_len = CMSG_LEN(sizeof(uint32_t)) } };
	struct iovec empty = { .iov_base = &control, .iov_len = 0 };
	struct msghdr m = { .msg_name = &broadcast, .msg_namelen = sizeof(broadcast), .msg_iov = &empty,
			    .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };

	int fd = socket(t->domain, t->type | SOCK_CLOEXEC, t->protocol); /* its own: a send gives a socket a port */
	const int flags = SOF_TIMESTAMPING_OPT_ID;
	bool takes;

	if (fd < 0)
		return false;
	takes = !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) &&
		sendmsg(fd, &m, MSG_DONTWAIT) < 0 && errno != EINVAL;
	close(fd);
	return takes;
}

/*
 * The kernel begins to stamp what is received when a worker has run: up to 2 ms (measured) after the first socket on
 * the machine asked for it (net_enable_timestamp() in net/core/dev.c). On this CPU the worker cannot run while a
 * real-time task spins. Nothing tells when it has run.
 */
void kernel_stamps_wait(void)
{
	const struct timespec enough = { .tv_nsec = 5 * NS_PER_MS };

	nanosleep(&enough, NULL);
}
