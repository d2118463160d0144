// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,nl_connect sources=host/nic/nic.c,host/nic/nic_address.c,host/nic/nic_names.c,host/nic/nic_netlink.c,host/nic/nic_provider.c,host/nic/nic_share.c,host/nic/nic_stamp.c,host/nic/nic_lower.c libs=-lnl-3 -lnl-genl-3 */
/* nic_abilities.c: constructed messages, valid and invalid, and, as root, replies of the real kernel. */
#include "host/nic/nic_abilities.c"

#include "util.h"

#include "nic_bench.h"
#include "nic_namespace.h"

/* ---- Constructed TSINFO messages ------------------------------------------------------------------------------- */

static struct nl_msg *tsinfo_begin(int command)
{
	struct nl_msg *m = nlmsg_alloc();
	struct nlattr *header;

	assert_non_null(m);
	assert_non_null(genlmsg_put(m, 1, 1, 20, 0, 0, (uint8_t)command, 1));
	header = nla_nest_start(m, ETHTOOL_A_TSINFO_HEADER);
	nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, 2);
	nla_put_string(m, ETHTOOL_A_HEADER_DEV_NAME, "fake0");
	nla_nest_end(m, header);
	return m;
}

static void put_bitset(struct nl_msg *m, int type, const void *value, int bytes)
{
	struct nlattr *nest = nla_nest_start(m, type);

	nla_put_flag(m, ETHTOOL_A_BITSET_NOMASK);
	nla_put_u32(m, ETHTOOL_A_BITSET_SIZE, 18);
	nla_put(m, ETHTOOL_A_BITSET_VALUE, bytes, value);
	nla_nest_end(m, nest);
}

/* Parses a copy of exactly the size of the message, so that ASan detects a read beyond its end. */
static bool parse(struct nl_msg *m, struct nic_abilities *can)
{
	uint8_t *copy = util_exact(nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len);
	bool good;

	memset(can, 0x55, sizeof(*can));
	good = parse_tsinfo((struct nlmsghdr *)copy, can);
	free(copy);
	nlmsg_free(m);
	return good;
}

static const uint32_t three_words[] = { 0x45, 0xffffffff, 0 };

static void test_tsinfo_full(void **state)
{
	struct nl_msg *m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);
	struct nic_abilities can;

	(void)state;
	put_bitset(m, ETHTOOL_A_TSINFO_TIMESTAMPING, &(uint32_t){ 0x5f }, 4);
	put_bitset(m, ETHTOOL_A_TSINFO_TX_TYPES, &(uint32_t){ 3 }, 4);
	put_bitset(m, ETHTOOL_A_TSINFO_RX_FILTERS, &(uint32_t){ 0x8003 }, 4);
	nla_put_u32(m, ETHTOOL_A_TSINFO_PHC_INDEX, 4);
	nla_put_u32(m, 8, 1); /* HWTSTAMP_SOURCE, an attribute of newer kernels */
	nla_put_u32(m, 200, 1);
	assert_true(parse(m, &can));
	assert_int_equal(can.stamping, 0x5f);
	assert_int_equal(can.tx_types, 3);
	assert_int_equal(can.rx_filters, 0x8003);
	assert_int_equal(can.phc_index, 4);
}

static void test_tsinfo_absent(void **state)
{
	struct nic_abilities can;

	(void)state;
	assert_true(parse(tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY), &can));
	assert_int_equal(can.stamping | can.tx_types | can.rx_filters, 0);
	assert_int_equal(can.phc_index, -1);
	assert_false(parse(tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY + 1), &can));
}

static void test_tsinfo_short(void **state)
{
	struct nic_abilities can;

	(void)state;
	for (uint32_t bytes = 0; bytes < GENL_HDRLEN; bytes++) {
		struct nl_msg *m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);

		nlmsg_hdr(m)->nlmsg_len = NLMSG_HDRLEN + bytes;
		assert_false(parse(m, &can));
	}
}

static void test_tsinfo_phc_size(void **state)
{
	struct nic_abilities can;

	(void)state;
	for (int bytes = 0; bytes <= 12; bytes++) {
		struct nl_msg *m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);

		nla_put(m, ETHTOOL_A_TSINFO_PHC_INDEX, bytes, three_words);
		assert_int_equal(parse(m, &can), bytes == 4);
	}
}

static void test_tsinfo_bitset_size(void **state)
{
	struct nic_abilities can;

	(void)state;
	for (int type = ETHTOOL_A_TSINFO_TIMESTAMPING; type <= ETHTOOL_A_TSINFO_RX_FILTERS; type++)
		for (int bytes = 0; bytes <= 12; bytes++) {
			struct nl_msg *m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);
			bool whole = bytes && bytes % 4 == 0;

			put_bitset(m, type, three_words, bytes);
			assert_int_equal(parse(m, &can), whole);
			if (whole)
				assert_int_equal(can.stamping | can.tx_types | can.rx_filters, 0x45);
		}
}

static void test_tsinfo_verbose_bitset(void **state)
{
	struct nl_msg *m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);
	struct nlattr *nest = nla_nest_start(m, ETHTOOL_A_TSINFO_TX_TYPES), *bits;
	struct nic_abilities can;

	(void)state;
	nla_put_u32(m, ETHTOOL_A_BITSET_SIZE, 4);
	bits = nla_nest_start(m, ETHTOOL_A_BITSET_BITS);
	nla_put_u32(m, ETHTOOL_A_BITSET_BITS_BIT, 1);
	nla_nest_end(m, bits);
	nla_nest_end(m, nest);
	assert_false(parse(m, &can)); /* not the requested reply: the ioctl is used instead */
}

static void test_tsinfo_random(void **state)
{
	struct nic_abilities can;
	int good = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct nl_msg *m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);

		put_bitset(m, ETHTOOL_A_TSINFO_TIMESTAMPING, three_words, 4);
		put_bitset(m, ETHTOOL_A_TSINFO_RX_FILTERS, three_words, 8);
		nla_put_u32(m, ETHTOOL_A_TSINFO_PHC_INDEX, 0);
		uint8_t *payload = nlmsg_data(nlmsg_hdr(m));
		int bytes = nlmsg_datalen(nlmsg_hdr(m));

		for (uint64_t n = util_below(4) + 1; n; n--)
			payload[util_below((uint64_t)bytes)] = (uint8_t)util_random();
		if (util_below(4) == 0)
			nlmsg_hdr(m)->nlmsg_len -= (uint32_t)util_below((uint64_t)bytes + 1);
		good += parse(m, &can);
	}
	assert_in_range(good, 100, 19900); /* the mutations reach both outcomes */
}

/* ---- The driver's counters of timestamps ----------------------------------------------------------------------- */

static struct nlattr *stamp_stats_begin(struct nl_msg **m)
{
	*m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);
	return nla_nest_start(*m, TSINFO_STATS);
}

/* Reads a copy of exactly its length, so that ASan detects a read beyond its end. */
static struct nic_stamp_counts stamp_counts(struct nl_msg *m)
{
	struct nic_stamp_counts counts = { .has = 0 };
	struct nl_msg *copy = nlmsg_convert(nlmsg_hdr(m));

	assert_non_null(copy);
	assert_int_equal(read_stamp_counts(copy, &counts), NL_OK);
	nlmsg_free(copy);
	nlmsg_free(m);
	return counts;
}

static void test_stamp_counts(void **state)
{
	struct nic_stamp_counts counts;
	struct nl_msg *m;
	struct nlattr *nest = stamp_stats_begin(&m);

	(void)state;
	nla_put_u64(m, TS_STAT_TX_PKTS, 0x500000001);
	nla_put_u32(m, TS_STAT_TX_LOST, 0xfffffffe);
	nla_put_u32(m, TS_STAT_TX_ERR, 3);
	nla_put_u32(m, TS_STAT_TX_ERR + 1, 99); /* an attribute of later kernels */
	nla_nest_end(m, nest);
	counts = stamp_counts(m);
	assert_int_equal(counts.sent, 0x500000001);
	assert_int_equal(counts.lost, 0xfffffffe);
	assert_int_equal(counts.errors, 3);
	assert_int_equal(counts.has, 7);
	/* A counter that is not reported is not 0. */
	nest = stamp_stats_begin(&m);
	nla_put_u32(m, TS_STAT_TX_LOST, 0);
	nla_nest_end(m, nest);
	assert_int_equal(stamp_counts(m).has, 2);
	assert_int_equal(stamp_counts(tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY)).has, 0);
	m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY + 1);
	nest = nla_nest_start(m, TSINFO_STATS);
	nla_put_u32(m, TS_STAT_TX_LOST, 5);
	nla_nest_end(m, nest);
	assert_int_equal(stamp_counts(m).has, 0);
}

static void test_stamp_counts_of_other_lengths(void **state)
{
	static const uint8_t octets[16] = { 1 };

	(void)state;
	for (int bytes = 0; bytes <= 16; bytes++) {
		struct nl_msg *m;
		struct nlattr *nest = stamp_stats_begin(&m);

		nla_put(m, TS_STAT_TX_ERR, bytes, octets);
		nla_nest_end(m, nest);
		assert_int_equal(stamp_counts(m).has, bytes == 4 || bytes == 8 ? 4 : 0);
	}
}

/* veth has no counters, but the kernel accepts the request. */
static void test_kernel_counts_no_stamps(void **state)
{
	struct nic_stamp_counts counts = { .has = 7 };
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	assert_int_equal(nic_read_stamp_counts(&n, &counts), -EOPNOTSUPP);
	assert_int_equal(counts.has, 0);
	nic_close(&n);
	n.index = 9999;
	counts.has = 7;
	assert_int_equal(nic_read_stamp_counts(&n, &counts), -ENODEV);
	assert_int_equal(counts.has, 0);
	netlink_broken = true;
	assert_int_equal(nic_read_stamp_counts(&n, &counts), -EOPNOTSUPP);
	netlink_broken = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tsinfo_full),
		cmocka_unit_test(test_tsinfo_absent),
		cmocka_unit_test(test_tsinfo_short),
		cmocka_unit_test(test_tsinfo_phc_size),
		cmocka_unit_test(test_tsinfo_bitset_size),
		cmocka_unit_test(test_tsinfo_verbose_bitset),
		cmocka_unit_test(test_tsinfo_random),
		cmocka_unit_test(test_stamp_counts),
		cmocka_unit_test(test_stamp_counts_of_other_lengths),
		IN_NAMESPACE(test_kernel_counts_no_stamps),
	};

	util_seed();
	return cmocka_run_group_tests_name("nic_abilities", tests, NULL, NULL);
}
