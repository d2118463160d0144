// SPDX-License-Identifier: GPL-2.0-or-later
/* Sources: Documentation/netlink/specs/netdev.yaml, include/uapi/linux/netdev.h, Documentation/networking/napi.rst. */
#include "host/nic/nic_napi.h"

#include "host/nic/nic_netlink.h"

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

/* From linux/netdev.h of Linux 6.17: older systems lack the header, or numbers of it. */
#define NETDEV_FAMILY "netdev"
#define NETDEV_VERSION 1
enum { QUEUE_GET = 10, NAPI_GET = 11 };
enum {
	NAPI_A_IFINDEX = 1, NAPI_A_ID, NAPI_A_IRQ, NAPI_A_PID, NAPI_A_DEFER, NAPI_A_FLUSH, NAPI_A_SUSPEND,
	NAPI_A_THREADED
};
enum { QUEUE_A_ID = 1, QUEUE_A_IFINDEX, QUEUE_A_TYPE, QUEUE_A_NAPI };
#define QUEUE_IS_RX 0

struct napis {
	uint32_t index; /* of the interface */
	struct nic_napi *list;
	int count;
};

static void read_small(struct nic_napi *to, const struct nlattr *a, unsigned bit, uint32_t *value)
{
	uint64_t number;

	if (!nic_netlink_read_uint(a, &number) || number > UINT32_MAX)
		return;
	*value = (uint32_t)number;
	to->has |= bit;
}

static void read_large(struct nic_napi *to, const struct nlattr *a, unsigned bit, uint64_t *value)
{
	if (nic_netlink_read_uint(a, value))
		to->has |= bit;
}

static bool parse(struct nl_msg *m, int command, struct nlattr **a, int most)
{
	struct nlmsghdr *h = nlmsg_hdr(m);

	return genlmsg_valid_hdr(h, 0) && genlmsg_hdr(h)->cmd == command && genlmsg_parse(h, 0, a, most, NULL) >= 0;
}

static int read_napi(struct nl_msg *m, void *context)
{
	struct nlattr *a[NAPI_A_THREADED + 1];
	struct nic_napi napi = { .has = 0 };
	struct napis *to = context;
	uint64_t index, id;

	if (!parse(m, NAPI_GET, a, NAPI_A_THREADED) || !nic_netlink_read_uint(a[NAPI_A_IFINDEX], &index) ||
	    index != to->index || !nic_netlink_read_uint(a[NAPI_A_ID], &id) || id > UINT32_MAX || to->count == NIC_NAPIS)
		return NL_OK;
	napi.id = (uint32_t)id;
	read_small(&napi, a[NAPI_A_IRQ], NIC_NAPI_IRQ, &napi.irq);
	read_small(&napi, a[NAPI_A_PID], NIC_NAPI_PID, &napi.pid);
	read_small(&napi, a[NAPI_A_DEFER], NIC_NAPI_DEFER, &napi.defer_hard_irqs);
	read_large(&napi, a[NAPI_A_FLUSH], NIC_NAPI_FLUSH, &napi.gro_flush_timeout_ns);
	read_large(&napi, a[NAPI_A_SUSPEND], NIC_NAPI_SUSPEND, &napi.irq_suspend_timeout_ns);
	read_small(&napi, a[NAPI_A_THREADED], NIC_NAPI_MODE, &napi.threaded);
	to->list[to->count++] = napi;
	return NL_OK;
}

static int read_queue(struct nl_msg *m, void *context)
{
	struct nlattr *a[QUEUE_A_NAPI + 1];
	struct napis *to = context;
	uint64_t index, type, queue, id;

	if (!parse(m, QUEUE_GET, a, QUEUE_A_NAPI) || !nic_netlink_read_uint(a[QUEUE_A_IFINDEX], &index) ||
	    index != to->index || !nic_netlink_read_uint(a[QUEUE_A_TYPE], &type) || type != QUEUE_IS_RX ||
	    !nic_netlink_read_uint(a[QUEUE_A_ID], &queue) ||
	    !nic_netlink_read_uint(a[QUEUE_A_NAPI], &id))
		return NL_OK;
	for (struct nic_napi *n = to->list; n < to->list + to->count; n++) {
		if (n->id != id)
			continue;
		if (n->queues < NIC_NAPI_QUEUES)
			n->queue[n->queues] = (uint32_t)queue;
		n->queues++;
	}
	return NL_OK;
}

static int dump(struct nl_sock *s, int family, struct napis *to, int command, int index_type,
		nl_recvmsg_msg_cb_t on_answer)
{
	struct nl_msg *m = nlmsg_alloc();
	int error = -ENOMEM;

	if (m && genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_DUMP, (uint8_t)command, NETDEV_VERSION) &&
	    !nla_put_u32(m, index_type, to->index))
		error = nic_netlink_ask(s, m, on_answer, to);
	nlmsg_free(m);
	return error;
}

int nic_read_napis(const struct nic *n, struct nic_napi list[NIC_NAPIS])
{
	struct napis to = { (uint32_t)n->index, list, 0 };
	struct nl_sock *s = nic_netlink_open(NETLINK_GENERIC);
	int family = s ? genl_ctrl_resolve(s, NETDEV_FAMILY) : -1, error = -EOPNOTSUPP;

	if (family >= 0)
		error = dump(s, family, &to, NAPI_GET, NAPI_A_IFINDEX, read_napi);
	if (!error && to.count)
		dump(s, family, &to, QUEUE_GET, QUEUE_A_IFINDEX, read_queue); /* without it the queues are not known */
	nl_socket_free(s);
	return error ? error : to.count;
}
