// SPDX-License-Identifier: GPL-2.0-or-later
/* Capabilities and start-up of the kernel's timestamps. */
#include "wire/socket_inside.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Tests for SCM_TS_OPT_ID without sending: the kernel parses control messages before the route lookup. An
 * unknown message is EINVAL; with a known message the broadcast destination fails without SO_BROADCAST:
 * EACCES, or no route.
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

	/* a separate socket: a send binds the socket to a port */
	int fd = socket(t->domain, t->type | SOCK_CLOEXEC, t->protocol);
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
 * The kernel starts to timestamp received packets after a worker has run: up to 2 ms (measured) after the
 * first socket on the machine requested timestamps (net_enable_timestamp() in net/core/dev.c). The worker
 * cannot run on this CPU while a real-time task spins. The kernel does not report that the worker has run.
 */
void kernel_stamps_wait(void)
{
	const struct timespec enough = { .tv_nsec = 5 * NS_PER_MS };

	nanosleep(&enough, NULL);
}
