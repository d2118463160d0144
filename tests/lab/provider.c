// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * provider INTERFACE
 * 	prints the selected provider of timestamps: the number of its /dev/ptp, and its quality, 0 precise or 1 approximate
 * provider INTERFACE CLOCK QUALITY
 * 	selects one
 *
 * By ETHTOOL_MSG_TSCONFIG_GET and _SET (Linux 6.14), with neither the code of rant nor a library. rant itself reads the
 * selected provider by ETHTOOL_MSG_TSINFO_GET.
 */
#include <err.h>
#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TSCONFIG_GET = 46, TSCONFIG_SET, HEADER = 1, PROVIDER, CLOCK = 1, QUALIFIER };

static _Alignas(NLMSG_ALIGNTO) char message[8192];
static struct nlmsghdr *const head = (struct nlmsghdr *)message;
static int fd;

static void begin(int family, int command)
{
	*head = (struct nlmsghdr){ NLMSG_LENGTH(GENL_HDRLEN), (unsigned short)family, NLM_F_REQUEST, 0, 0 };
	*(struct genlmsghdr *)NLMSG_DATA(head) = (struct genlmsghdr){ .cmd = (unsigned char)command, .version = 1 };
}

static struct nlattr *put(int type, const void *data, size_t bytes)
{
	struct nlattr *a = (struct nlattr *)(message + head->nlmsg_len);

	*a = (struct nlattr){ (unsigned short)(NLA_HDRLEN + bytes), (unsigned short)type };
	if (bytes)
		memcpy((char *)a + NLA_HDRLEN, data, bytes);
	head->nlmsg_len += NLA_ALIGN(a->nla_len);
	return a;
}

static void put_u32(int type, unsigned value)
{
	put(type, &value, sizeof(value));
}

static void end(struct nlattr *nest)
{
	nest->nla_len = (unsigned short)(message + head->nlmsg_len - (char *)nest);
}

/* Receives the first message only: the reply, or the acknowledgement. */
static void ask(const char *what)
{
	const struct nlmsgerr *e = NLMSG_DATA(head);

	if (send(fd, message, head->nlmsg_len, 0) < 0 || recv(fd, message, sizeof(message), 0) < 0)
		err(1, "%s", what);
	if (head->nlmsg_type == NLMSG_ERROR && e->error) {
		errno = -e->error;
		err(1, "%s", what);
	}
}

static void *find(void *attributes, int bytes, int type)
{
	while (bytes >= NLA_HDRLEN) {
		const struct nlattr *a = attributes;

		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return attributes;
		bytes -= NLA_ALIGN(a->nla_len);
		attributes = (char *)attributes + NLA_ALIGN(a->nla_len);
	}
	errx(1, "the reply has no attribute %d", type);
}

static void *in_reply(int type)
{
	return find((char *)NLMSG_DATA(head) + GENL_HDRLEN, (int)NLMSG_PAYLOAD(head, GENL_HDRLEN), type);
}

static void *in_nest(struct nlattr *nest, int type)
{
	return find((char *)nest + NLA_HDRLEN, nest->nla_len - NLA_HDRLEN, type);
}

static unsigned u32(const void *attribute)
{
	unsigned value;

	memcpy(&value, (const char *)attribute + NLA_HDRLEN, sizeof(value));
	return value;
}

static int find_family(void)
{
	unsigned short family;

	begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	put(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME, sizeof(ETHTOOL_GENL_NAME));
	ask("the family " ETHTOOL_GENL_NAME);
	memcpy(&family, (const char *)in_reply(CTRL_ATTR_FAMILY_ID) + NLA_HDRLEN, sizeof(family));
	return family;
}

int main(int argc, char **argv)
{
	struct nlattr *nest;
	int family;

	if (argc != 2 && argc != 4)
		errx(2, "usage: provider INTERFACE [CLOCK QUALITY]");
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0)
		err(1, "socket");
	family = find_family();
	begin(family, argc == 2 ? TSCONFIG_GET : TSCONFIG_SET);
	nest = put(HEADER | NLA_F_NESTED, NULL, 0);
	put(ETHTOOL_A_HEADER_DEV_NAME, argv[1], strlen(argv[1]) + 1);
	end(nest);
	if (argc == 4) {
		head->nlmsg_flags |= NLM_F_ACK;
		nest = put(PROVIDER | NLA_F_NESTED, NULL, 0);
		put_u32(CLOCK, (unsigned)atoi(argv[2]));
		put_u32(QUALIFIER, (unsigned)atoi(argv[3]));
		end(nest);
	}
	ask(argv[1]);
	if (argc == 2) {
		nest = in_reply(PROVIDER);
		printf("%u %u\n", u32(in_nest(nest, CLOCK)), u32(in_nest(nest, QUALIFIER)));
	}
	return 0;
}
