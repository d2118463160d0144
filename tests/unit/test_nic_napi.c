// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources=host/nic/nic_netlink.c libs=-lnl-3 -lnl-genl-3 */
/* nic_napi.c: constructed messages, valid and invalid, and replies of the real kernel. */
#include "host/nic/nic_napi.c"

#include "util.h"

#define INDEX 7

/* The numbers of linux/netdev.h. */
_Static_assert(NAPI_A_IRQ == 3 && NAPI_A_PID == 4 && NAPI_A_DEFER == 5 && NAPI_A_FLUSH == 6 && NAPI_A_SUSPEND == 7 &&
	       NAPI_A_THREADED == 8 && QUEUE_A_TYPE == 3 && QUEUE_A_NAPI == 4 && QUEUE_GET == 10 && NAPI_GET == 11,
	       "as the kernel has them");

static struct nic_napi list[NIC_NAPIS];
static struct napis to;

static int begin(void **state)
{
	(void)state;
	memset(list, 0, sizeof(list));
	to = (struct napis){ INDEX, list, 0 };
	return 0;
}

static struct nl_msg *message(int command)
{
	struct nl_msg *m = nlmsg_alloc();

	assert_non_null(m);
	assert_non_null(genlmsg_put(m, 1, 1, 20, 0, 0, (uint8_t)command, NETDEV_VERSION));
	return m;
}

static void read_and_free(struct nl_msg *m, int (*read)(struct nl_msg *m, void *context))
{
	assert_int_equal(read(m, &to), NL_OK);
	nlmsg_free(m);
}

static void put_napi(uint32_t index, uint32_t id, bool all)
{
	struct nl_msg *m = message(NAPI_GET);

	nla_put_u32(m, NAPI_A_IFINDEX, index);
	nla_put_u32(m, NAPI_A_ID, id);
	if (all) {
		nla_put_u32(m, NAPI_A_IRQ, 31);
		nla_put_u32(m, NAPI_A_PID, 812);
		nla_put_u32(m, NAPI_A_DEFER, 2);
		nla_put_u64(m, NAPI_A_FLUSH, 1ULL << 33);
		nla_put_u32(m, NAPI_A_SUSPEND, 20000);
		nla_put_u32(m, NAPI_A_THREADED, NIC_NAPI_BUSY_POLLS);
	}
	read_and_free(m, read_napi);
}

static void put_queue(uint32_t index, uint32_t type, uint32_t queue, uint32_t napi)
{
	struct nl_msg *m = message(QUEUE_GET);

	nla_put_u32(m, QUEUE_A_IFINDEX, index);
	nla_put_u32(m, QUEUE_A_TYPE, type);
	nla_put_u32(m, QUEUE_A_ID, queue);
	if (napi)
		nla_put_u32(m, QUEUE_A_NAPI, napi);
	read_and_free(m, read_queue);
}

static void each_value(void **state)
{
	(void)state;
	put_napi(INDEX, 257, true);
	put_napi(INDEX, 258, false);
	put_napi(INDEX + 1, 259, true);
	assert_int_equal(to.count, 2);
	assert_int_equal(list[0].id, 257);
	assert_int_equal(list[0].has, NIC_NAPI_IRQ | NIC_NAPI_PID | NIC_NAPI_DEFER | NIC_NAPI_FLUSH | NIC_NAPI_SUSPEND |
			 NIC_NAPI_MODE);
	assert_int_equal(list[0].irq, 31);
	assert_int_equal(list[0].pid, 812);
	assert_int_equal(list[0].defer_hard_irqs, 2);
	assert_int_equal(list[0].gro_flush_timeout_ns, 1ULL << 33);
	assert_int_equal(list[0].irq_suspend_timeout_ns, 20000);
	assert_int_equal(list[0].threaded, NIC_NAPI_BUSY_POLLS);
	assert_int_equal(list[1].id, 258);
	assert_int_equal(list[1].has, 0);
}

static void queues_of_napis(void **state)
{
	(void)state;
	put_napi(INDEX, 257, false);
	put_napi(INDEX, 258, false);
	put_queue(INDEX, QUEUE_IS_RX, 3, 258);
	put_queue(INDEX, 1, 4, 258); /* transmit */
	put_queue(INDEX + 1, QUEUE_IS_RX, 5, 258);
	put_queue(INDEX, QUEUE_IS_RX, 6, 259);
	put_queue(INDEX, QUEUE_IS_RX, 7, 0);
	assert_int_equal(list[0].queues, 0);
	assert_int_equal(list[1].queues, 1);
	assert_int_equal(list[1].queue[0], 3);
	for (uint32_t i = 0; i < 2 * NIC_NAPI_QUEUES; i++)
		put_queue(INDEX, QUEUE_IS_RX, 100 + i, 257);
	assert_int_equal(list[0].queues, 2 * NIC_NAPI_QUEUES);
	assert_int_equal(list[0].queue[NIC_NAPI_QUEUES - 1], 100 + NIC_NAPI_QUEUES - 1);
	assert_int_equal(list[1].queue[0], 3);
}

static void more_than_are_kept(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NIC_NAPIS + 3; i++)
		put_napi(INDEX, i, true);
	assert_int_equal(to.count, NIC_NAPIS);
	assert_int_equal(list[NIC_NAPIS - 1].id, NIC_NAPIS - 1);
}

/* Random attributes, and messages that end anywhere. */
static void garbage(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct nl_msg *m = message(i % 2 ? NAPI_GET : QUEUE_GET);
		uint8_t value[16];

		for (int a = 1; a < 10; a++) {
			util_random_bytes(value, sizeof(value));
			nla_put(m, a, (int)util_below(sizeof(value) + 1), value);
		}
		nlmsg_hdr(m)->nlmsg_len -= (uint32_t)util_below(40);
		read_and_free(m, i % 2 ? read_napi : read_queue);
	}
	put_napi(INDEX, 3, true);
	assert_true(to.count <= NIC_NAPIS);
}

/* The loopback has no NAPI. Older kernels than 6.8 have no such family. */
static void napis_of_the_kernel(void **state)
{
	struct nic n = { .index = (int)if_nametoindex("lo") };
	int napis = nic_read_napis(&n, list);

	(void)state;
	if (napis == -EOPNOTSUPP)
		skip();
	assert_int_equal(napis, 0);
	n.index = INT_MAX;
	assert_true(nic_read_napis(&n, list) <= 0); /* the error is in the last message of the reply */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_value, begin), cmocka_unit_test_setup(queues_of_napis, begin),
		cmocka_unit_test_setup(more_than_are_kept, begin), cmocka_unit_test_setup(garbage, begin),
		cmocka_unit_test_setup(napis_of_the_kernel, begin),
	};

	util_seed();
	return cmocka_run_group_tests_name("nic_napi", tests, NULL, NULL);
}
