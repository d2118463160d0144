/* build: wraps=nic_netlink_ask sources=host/nic/nic_netlink.c libs=-lnl-3 */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Lower device of an interface, with simulated replies. The lab tests it with the kernel (test_lower.sh). */
#include "host/nic/nic_lower.c"

#include "golden.h"

/* ---- A kernel with a few interfaces ------------------------------------------------------------------------------ */

static struct fake {
	const char *kind; /* NULL: not reported */
	int link, active; /* 0: not reported */
	bool elsewhere; /* the link is in another namespace */
	struct ifla_vlan_qos_mapping map[NIC_EGRESS_MAX + 4];
	int maps;
} fake[12]; /* by index */

static int refuse; /* index for which the request fails */

static void put_kind(struct nl_msg *m, const struct fake *f)
{
	struct nlattr *info = nla_nest_start(m, IFLA_LINKINFO), *data, *egress;

	nla_put_string(m, IFLA_INFO_KIND, f->kind);
	data = nla_nest_start(m, IFLA_INFO_DATA);
	if (!strcmp(f->kind, "bond")) {
		if (f->active)
			nla_put_u32(m, IFLA_BOND_ACTIVE_SLAVE, (uint32_t)f->active);
	} else {
		nla_put_u16(m, IFLA_VLAN_ID, 5);
		if (f->maps) {
			egress = nla_nest_start(m, IFLA_VLAN_EGRESS_QOS);
			for (int i = 0; i < f->maps; i++)
				nla_put(m, IFLA_VLAN_QOS_MAPPING, sizeof(f->map[i]), &f->map[i]);
			nla_nest_end(m, egress);
		}
	}
	nla_nest_end(m, data);
	nla_nest_end(m, info);
}

int __wrap_nic_netlink_ask(struct nl_sock *s, struct nl_msg *m, nl_recvmsg_msg_cb_t on_answer, void *context);
int __wrap_nic_netlink_ask(struct nl_sock *s, struct nl_msg *m, nl_recvmsg_msg_cb_t on_answer, void *context)
{
	const struct ifinfomsg *asked = nlmsg_data(nlmsg_hdr(m));
	struct ifinfomsg info = { .ifi_index = asked->ifi_index };
	const struct fake *f = &fake[asked->ifi_index];
	struct nl_msg *answer;

	(void)s;
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETLINK);
	assert_in_range(asked->ifi_index, 1, 11);
	if (asked->ifi_index == refuse)
		return -ENODEV;
	answer = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	nlmsg_append(answer, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(answer, IFLA_IFNAME, "any");
	if (f->link)
		nla_put_u32(answer, IFLA_LINK, (uint32_t)f->link);
	if (f->kind)
		put_kind(answer, f);
	if (f->elsewhere)
		nla_put_u32(answer, IFLA_LINK_NETNSID, 0);
	on_answer(answer, context);
	nlmsg_free(answer);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	memset(fake, 0, sizeof(fake));
	refuse = 0;
	return 0;
}

/* ---- The interface whose NIC stamps ------------------------------------------------------------------------------ */

static int stamper_of(int index)
{
	const struct nic n = { .index = index };

	return nic_stamper(&n);
}

static void its_own_nic(void **state)
{
	(void)state;
	assert_int_equal(stamper_of(3), 3);
	/* A veth has IFLA_LINK too. */
	fake[3].link = 4;
	assert_int_equal(stamper_of(3), 3);
}

static void a_vlan_and_a_bond(void **state)
{
	(void)state;
	fake[5] = (struct fake){ .kind = "vlan", .link = 2 };
	assert_int_equal(stamper_of(5), 2);
	fake[6] = (struct fake){ .kind = "bond", .active = 3 };
	assert_int_equal(stamper_of(6), 3);
	/* A VLAN in a VLAN on the bond. */
	fake[7] = (struct fake){ .kind = "vlan", .link = 6 };
	fake[8] = (struct fake){ .kind = "vlan", .link = 7 };
	assert_int_equal(stamper_of(8), 3);
	/* The bond has no active member. */
	fake[6].active = 0;
	assert_int_equal(stamper_of(6), 0);
	assert_int_equal(stamper_of(8), 0);
}

static void what_cannot_be_reported(void **state)
{
	(void)state;
	/* The index counts in the other namespace; here it is another interface. */
	fake[5] = (struct fake){ .kind = "vlan", .link = 2, .elsewhere = true };
	assert_int_equal(stamper_of(5), 0);
	fake[5].elsewhere = false;
	refuse = 2;
	assert_int_equal(stamper_of(5), 0);
	/* A loop, which the kernel does not allow. */
	fake[9] = (struct fake){ .kind = "vlan", .link = 10 };
	fake[10] = (struct fake){ .kind = "vlan", .link = 9 };
	assert_int_equal(stamper_of(9), 0);
}

/* ---- The priority ------------------------------------------------------------------------------------------------ */

static int64_t chosen(int code)
{
	const struct nic n = { .index = 5, .name = "eth0.5" };
	struct options o = { .vlan_priority = code, .priority = -1 };

	assert_int_equal(nic_choose_priority(&n, &o), 0);
	return o.priority;
}

static void a_priority_by_the_egress_map(void **state)
{
	(void)state;
	fake[5] = (struct fake){ .kind = "vlan", .link = 2, .maps = 4,
				 .map = { { 6, 3 }, { 2, 5 }, { 9, 3 }, { 1, 3 } } };
	assert_int_equal(chosen(3), 1);
	assert_int_equal(chosen(5), 2);
	/* A priority that is not in the map. */
	assert_int_equal(chosen(0), 0);
	fake[5].map[0] = (struct ifla_vlan_qos_mapping){ 0, 3 };
	assert_int_equal(chosen(3), 0);
	assert_int_equal(chosen(0), 3);
	/* Class ids of tc are 32-bit priorities too. */
	fake[5].map[1].from = 0x80010002;
	assert_int_equal(chosen(5), 0x80010002);
	fake[5].maps = 0;
	assert_int_equal(chosen(0), 0);
}

static void none_is_asked_for(void **state)
{
	const struct nic n = { .index = 5 };
	struct options o = { .vlan_priority = -1, .priority = 4 };

	(void)state;
	refuse = 5;
	assert_int_equal(nic_choose_priority(&n, &o), 0);
	assert_int_equal(o.priority, 4);
}

static void more_than_there_is_room_for(void **state)
{
	(void)state;
	fake[5] = (struct fake){ .kind = "vlan", .maps = NIC_EGRESS_MAX + 4 };
	for (int i = 0; i < fake[5].maps; i++)
		fake[5].map[i] = (struct ifla_vlan_qos_mapping){ (uint32_t)i, i < NIC_EGRESS_MAX ? 2 : 4 };
	assert_int_equal(chosen(2), 0);
}

static void assert_refused(int code, int error)
{
	const struct nic n = { .index = 5, .name = "eth0.5" };
	struct util_capture capture;
	char said[1024];
	struct options o = { .vlan_priority = code, .priority = -1 };
	int got;

	util_capture_begin(&capture);
	got = nic_choose_priority(&n, &o);
	util_capture_end(&capture, said, sizeof(said));
	assert_int_equal(got, error);
	golden_line(said);
}

static void what_has_no_such_priority(void **state)
{
	(void)state;
	assert_refused(5, -EINVAL);
	fake[5] = (struct fake){ .kind = "vlan", .maps = 1, .map = { { 3, 4 } } };
	assert_refused(5, -ENOENT);
	refuse = 5;
	assert_refused(5, -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(its_own_nic, set_up),
		cmocka_unit_test_setup(a_vlan_and_a_bond, set_up),
		cmocka_unit_test_setup(what_cannot_be_reported, set_up),
		cmocka_unit_test_setup(a_priority_by_the_egress_map, set_up),
		cmocka_unit_test_setup(none_is_asked_for, set_up),
		cmocka_unit_test_setup(more_than_there_is_room_for, set_up),
		cmocka_unit_test_setup(what_has_no_such_priority, set_up),
	};

	return golden_run(tests);
}
