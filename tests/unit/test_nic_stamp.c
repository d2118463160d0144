// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,nl_connect,nic_provider_select,nic_provider_restore,nic_provider_is_ours sources=host/nic/nic.c,host/nic/nic_address.c,host/nic/nic_names.c,host/nic/nic_netlink.c,host/nic/nic_provider.c,host/nic/nic_share.c,host/nic/nic_lower.c libs=-lnl-3 -lnl-genl-3 */
/* nic_stamp.c against scripted NICs, and, as root, against the real kernel. */
#include "host/nic/nic_abilities.c"
#include "host/nic/nic_stamp.c"

#include "golden.h"

#include "nic_bench.h"
#include "nic_namespace.h"

/* ---- Scripts: a NIC, its setting after nic_stamp(), its setting after nic_restore() ----------------------------- */

static const struct script scripts[] = {
	{ .name = "stamp: full NIC is set and restored",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .sets = 1, .stamped = { 0, 1, 1 } },
	{ .name = "stamp: fitting setting is not touched",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 1, 1 }, .set_error = EPERM,
	  .stamped = { 0, 1, 1 }, .restored = { 0, 1, 1 } },
	{ .name = "stamp: PTP setting is widened and restored exactly",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 3 }, .found = { 0, 1, 12 }, .sets = 1, .stamped = { 0, 1, 1 },
	  .restored = { 0, 1, 12 } },
	{ .name = "stamp: receive only is completed and restored exactly",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 3 }, .found = { 0, 0, 1 }, .sets = 1, .stamped = { 0, 1, 1 },
	  .restored = { 0, 0, 1 } },
	{ .name = "stamp: all not listed but granted",
	  .can = { HARDWARE, OFF_ON, PTP_ONLY, 0 }, .sets = 1, .stamped = { 0, 1, 1 } },
	{ .name = "stamp: flags of the found setting survive",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 1, 0, 0 }, .sets = 1, .stamped = { 0, 1, 1 },
	  .restored = { 1, 0, 0 } },
	{ .name = "stamp: driver that adds a flag is restored",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .grants_other = true, .grants = { 1, 1, 1 }, .sets = 1,
	  .stamped = { 1, 1, 1 } },
	{ .name = "stamp: PTP only, ERANGE",
	  .can = { HARDWARE, OFF_ON, PTP_ONLY, 0 }, .found = { 0, 1, 12 }, .set_error = ERANGE,
	  .result = -ERANGE, .sets = 1, .stamped = { 0, 1, 12 }, .restored = { 0, 1, 12 } },
	{ .name = "stamp: ERANGE though all is listed",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .set_error = ERANGE, .result = -ERANGE, .sets = 1 },
	{ .name = "stamp: EOPNOTSUPP on set",
	  .can = { HARDWARE, OFF_ON, PTP_ONLY, 0 }, .set_error = EOPNOTSUPP, .result = -EOPNOTSUPP, .sets = 1 },
	{ .name = "stamp: error that changed something is put back",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 12 }, .set_error = EIO,
	  .error_but_changes = true, .grants = { 0, 1, 12 }, .result = -EIO, .sets = 2, .stamped = { 0, 0, 12 },
	  .restored = { 0, 0, 12 } },
	{ .name = "stamp: narrowed filter is put back",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 9 }, .grants_other = true,
	  .grants = { 0, 1, 12 }, .result = -ERANGE, .sets = 2, .stamped = { 0, 0, 9 }, .restored = { 0, 0, 9 } },
	{ .name = "stamp: filter 'some' is not all",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .grants_other = true, .grants = { 0, 1, 2 }, .result = -ERANGE,
	  .sets = 2 },
	{ .name = "stamp: transmit not granted is put back",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .grants_other = true, .grants = { 0, 0, 1 }, .result = -ERANGE,
	  .sets = 2 },
	{ .name = "stamp: unknown numbers granted",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .grants_other = true, .grants = { 0, 99, -1 },
	  .result = -ERANGE, .sets = 2 },
	{ .name = "stamp: EPERM",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 12 }, .set_error = EPERM, .result = -EPERM,
	  .sets = 1, .stamped = { 0, 0, 12 }, .restored = { 0, 0, 12 } },
	{ .name = "stamp: one-step belongs to another program",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 2, 12 }, .result = -EBUSY,
	  .stamped = { 0, 2, 12 }, .restored = { 0, 2, 12 } },
	{ .name = "stamp: changed behind our back is not restored",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .sets = 1, .stamped = { 0, 1, 1 }, .changes_behind = true,
	  .behind_our_back = { 0, 1, 12 }, .restored = { 0, 1, 12 } },
	{ .name = "stamp: get not supported, set and left",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .get_error = EOPNOTSUPP, .sets = 1, .stamped = { 0, 1, 1 },
	  .restored = { 0, 1, 1 } },
	{ .name = "stamp: get not supported, all not listed",
	  .can = { HARDWARE, OFF_ON, PTP_ONLY, 0 }, .get_error = EOPNOTSUPP, .result = -ERANGE },
	{ .name = "stamp: get not supported, EPERM",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .get_error = EOPNOTSUPP, .set_error = EPERM, .result = -EPERM,
	  .sets = 1 },
	{ .name = "stamp: get not supported, narrowed",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .get_error = EOPNOTSUPP, .grants_other = true,
	  .grants = { 0, 1, 12 }, .result = -ERANGE, .sets = 1, .stamped = { 0, 1, 12 }, .restored = { 0, 1, 12 } },
	{ .name = "stamp: get fails",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 12 }, .get_error = EIO, .result = -EIO,
	  .stamped = { 0, 0, 12 }, .restored = { 0, 0, 12 } },
	{ .name = "stamp: no hardware clock",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, -1 }, .result = -EOPNOTSUPP },
	{ .name = "stamp: no receive ability",
	  .can = { HARDWARE & ~SOF_TIMESTAMPING_RX_HARDWARE, OFF_ON, NONE_ALL, 0 }, .result = -EOPNOTSUPP },
	{ .name = "stamp: no transmit and raw ability",
	  .can = { SOF_TIMESTAMPING_RX_HARDWARE, OFF_ON, NONE_ALL, 0 }, .result = -EOPNOTSUPP },
	{ .name = "stamp: transmit type on is not there",
	  .can = { HARDWARE, BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ONESTEP_SYNC), NONE_ALL, 0 },
	  .result = -EOPNOTSUPP },
	{ .name = "stamp: abilities not supported",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .info_error = EOPNOTSUPP, .result = -EOPNOTSUPP },
	{ .name = "stamp: abilities cannot be read",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .info_error = ENODEV, .result = -ENODEV },
};

static void test_script(void **state)
{
	const struct script *s = *state;
	struct nic n;
	int result;

	fake_on(s);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	CAPTURED(result, nic_stamp(&n, &udp));
	assert_int_equal(result, s->result);
	golden("%s", said);
	assert_setting("stamped", s->stamped);
	assert_int_equal(fake.sets, s->sets);
	assert_int_equal(n.changed, !result && s->sets && !s->get_error);
	if (s->changes_behind)
		memcpy(fake_nic.setting, s->behind_our_back, sizeof(fake_nic.setting));
	errno = ENOMSG;
	nic_restore(&n);
	assert_int_equal(errno, ENOMSG);
	assert_setting("restored", s->restored);
	assert_false(n.changed);

	/* A second call does nothing, even if the NIC has again the setting that nic_stamp() made. */
	int ioctls = fake_nic.gets + fake.sets;

	memcpy(fake_nic.setting, n.set, sizeof(fake_nic.setting));
	nic_restore(&n);
	nic_close(&n);
	assert_int_equal(fake_nic.gets + fake.sets, ioctls);
	assert_int_equal(n.control_fd, -1);
}

/* ---- Providers: test_nic_provider tests their selection ---------------------------------------------------------- */

static int selections, select_error;
static bool theirs;
static char order[64];

int __wrap_nic_provider_select(struct nic *n, enum nic_source source, bool shared);
int __wrap_nic_provider_select(struct nic *n, enum nic_source source, bool shared)
{
	assert_int_equal(source, NIC_SOURCE_PHY);
	assert_false(shared);
	selections++;
	n->provider_switch.done = !select_error;
	return select_error;
}

void __wrap_nic_provider_restore(struct nic *n);
void __wrap_nic_provider_restore(struct nic *n)
{
	if (n->provider_switch.done)
		snprintf(order, sizeof(order), "restored at %d", fake_nic.setting[1]);
	n->provider_switch.done = false;
}

bool __wrap_nic_provider_is_ours(const struct nic *n);
bool __wrap_nic_provider_is_ours(const struct nic *n)
{
	(void)n;
	return !theirs;
}

static int stamp_by_phy(struct nic *n)
{
	const struct options o = { .transport = TRANSPORT_UDP, .provider = PROVIDER_PHY };
	int result;

	assert_int_equal(nic_open(n, "fake0"), 0);
	selections = 0;
	*order = '\0';
	CAPTURED(result, nic_stamp(n, &o));
	assert_int_equal(selections, 1);
	return result;
}

static void test_provider(void **state)
{
	static const struct script no_clock = { .can = { HARDWARE, OFF_ON, NONE_ALL, -1 } };
	static const struct script stamps = { .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 1, 1 } };
	struct nic n;

	(void)state;
	fake_on(&full);
	assert_int_equal(stamp_by_phy(&n), 0);
	nic_restore(&n);
	assert_string_equal(order, "restored at 0"); /* after the setting */
	nic_close(&n);
	/* A provider that stamps already: nothing but the provider is restored. */
	fake_on(&stamps);
	assert_int_equal(stamp_by_phy(&n), 0);
	assert_true(n.changed);
	nic_restore(&n);
	assert_string_equal(order, "restored at 1");
	nic_close(&n);
	/* Errors after the selection, and of the selection. */
	fake_on(&no_clock);
	assert_int_equal(stamp_by_phy(&n), -EOPNOTSUPP);
	assert_string_equal(order, "restored at 0");
	nic_close(&n);
	fake_on(&full);
	select_error = -EPERM;
	assert_int_equal(stamp_by_phy(&n), -EPERM);
	assert_string_equal(order, "");
	assert_int_equal(fake.sets, 0);
	select_error = 0;
	nic_close(&n);
}

/* The setting is now that of a device which another program has selected. */
static void test_another_provider_keeps_its_setting(void **state)
{
	struct nic n;

	(void)state;
	fake_on(&full);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	assert_int_equal(nic_stamp(&n, &udp), 0);
	theirs = true;
	nic_restore(&n);
	theirs = false;
	assert_int_equal(fake.sets, 1);
	nic_close(&n);
}

static void test_close_restores(void **state)
{
	struct nic n;

	(void)state;
	fake_on(&full);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	assert_int_equal(n.index, 7);
	assert_string_equal(n.driver, "fake");
	assert_int_equal(nic_stamp(&n, &udp), 0);
	assert_int_equal(n.can.phc_index, 5);
	assert_int_equal(n.can.rx_filters, NONE_ALL);
	nic_close(&n);
	assert_setting("closed", full.found);
	nic_close(&n);
}

static struct nic *interrupted;

static void signal_in_set(void)
{
	fake.after_set = NULL;
	nic_restore(interrupted);
}

static void test_signal_while_setting(void **state)
{
	struct nic n;
	int result;

	(void)state;
	fake_on(&full);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	interrupted = &n;
	fake.after_set = signal_in_set;
	CAPTURED(result, nic_stamp(&n, &udp));
	assert_int_equal(result, -ERANGE);
	assert_setting("after the signal", full.found);
	nic_close(&n);
	assert_setting("closed", full.found);
}

/* ---- --rx-filter ------------------------------------------------------------------------------------------------ */

static const struct asked_case {
	const char *name;
	int found[3], grants; /* receive filter granted; 0: that asked for */
	int error; /* of SIOCSHWTSTAMP */
	int get_error, result, set; /* set -1: the setting is not changed */
} asked_cases[] = {
	{ "ptpv2-event", .set = HWTSTAMP_FILTER_PTP_V2_EVENT },
	{ "ntp-all", .set = HWTSTAMP_FILTER_NTP_ALL },
	{ "ptpv2-l4-sync", .grants = HWTSTAMP_FILTER_PTP_V2_EVENT, .set = HWTSTAMP_FILTER_PTP_V2_EVENT },
	{ "ptpv2-event", .found = { 0, 1, HWTSTAMP_FILTER_PTP_V2_EVENT }, .set = -1 },
	{ "all", .found = { 0, 1, HWTSTAMP_FILTER_PTP_V2_EVENT }, .set = HWTSTAMP_FILTER_ALL },
	{ "ptpv2-event", .found = { 0, 1, HWTSTAMP_FILTER_ALL }, .result = -EBUSY, .set = -1 },
	{ "ntp-all", .error = ERANGE, .result = -ERANGE, .set = -1 },
	{ "none", .result = -EINVAL, .set = -1 },
	{ "nosuch", .result = -EINVAL, .set = -1 },
	{ "all", .get_error = EOPNOTSUPP, .result = -EOPNOTSUPP, .set = -1 },
};

static void test_the_filter_asked_for_is_set(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(asked_cases) / sizeof(asked_cases[0]); i++) {
		const struct asked_case *c = &asked_cases[i];
		struct script s = { .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .set_error = c->error, .get_error = c->get_error,
				    .grants_other = c->grants, .grants = { 0, 1, c->grants } };
		const struct options o = { .transport = TRANSPORT_UDP, .rx_filter = c->name };
		const int set[3] = { 0, 1, c->set };
		struct nic n;
		int result;

		memcpy(s.found, c->found, sizeof(s.found));
		fake_on(&s);
		assert_int_equal(nic_open(&n, "fake0"), 0);
		CAPTURED(result, nic_stamp(&n, &o));
		assert_int_equal(result, c->result);
		golden("%s", said);
		assert_setting("set", c->set < 0 ? c->found : set);
		nic_close(&n);
		assert_setting("restored", c->found);
	}
}

/* ---- PTP: the narrowest filter that stamps it and all that was stamped before ------------------------------------ */

#define F(name) BIT(HWTSTAMP_FILTER_PTP_V2_##name)
#define SET(name) HWTSTAMP_FILTER_PTP_V2_##name

static const struct ptp_case {
	struct options o;
	uint32_t filters;
	int found, set; /* receive filters; set -1: the setting is not changed */
} ptp_cases[] = {
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(L4_EVENT) | F(EVENT) | NONE_ALL, 0,
	  SET(L4_EVENT) },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(L4_SYNC) | F(L4_DELAY_REQ) | F(EVENT), 0,
	  SET(L4_DELAY_REQ) },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_SYNC }, F(L4_SYNC) | F(L4_DELAY_REQ) | F(EVENT), 0,
	  SET(L4_SYNC) },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_SYNC }, F(L2_SYNC) | F(SYNC) | F(EVENT), 0, SET(SYNC) },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(EVENT), 0, SET(EVENT) },
	/* A reflector replies to both types, if a filter stamps both. */
	{ { .role = ROLE_REFLECT, .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_SYNC },
	  F(L4_SYNC) | F(L4_DELAY_REQ) | F(EVENT), 0,
	  SET(EVENT) },
	{ { .role = ROLE_REFLECT, .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_SYNC }, F(L4_SYNC) | F(L2_EVENT), 0,
	  SET(L4_SYNC) },
	/* A setting that is wide enough stays; otherwise the new filter includes it. */
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(L4_EVENT) | F(EVENT) | NONE_ALL,
	  HWTSTAMP_FILTER_ALL, -1 },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(L4_EVENT) | F(EVENT), SET(EVENT), -1 },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_SYNC }, F(L4_EVENT) | F(L4_SYNC), SET(L4_EVENT), -1 },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(L4_EVENT) | F(L2_EVENT) | F(EVENT),
	  SET(L2_EVENT), SET(EVENT) },
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(L4_EVENT) | NONE_ALL,
	  HWTSTAMP_FILTER_PTP_V1_L4_EVENT,
	  HWTSTAMP_FILTER_ALL },
	{ { .transport = TRANSPORT_L2, .ptp_type = PTP_TYPE_DELAY_REQ },
	  F(L4_EVENT) | F(L2_EVENT) | F(EVENT) | NONE_ALL, 0, SET(L2_EVENT) },
	{ { .transport = TRANSPORT_L2, .ptp_type = PTP_TYPE_SYNC }, F(L2_SYNC) | F(L2_EVENT) | F(EVENT), SET(L4_SYNC),
	  SET(EVENT) },
	{ { .role = ROLE_REFLECT, .transport = TRANSPORT_L2, .ptp_type = PTP_TYPE_SYNC }, F(L2_SYNC) | F(L2_DELAY_REQ),
	  0, SET(L2_SYNC) },
	/* A filter of a newer kernel. */
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_SYNC }, F(L4_EVENT) | F(EVENT), 99, SET(L4_EVENT) },
	/* Listed or not, "all" is tried where no listed filter suffices. */
	{ { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ }, F(L2_EVENT), 0, HWTSTAMP_FILTER_ALL },
	{ { .transport = TRANSPORT_UDP }, F(EVENT), SET(EVENT), HWTSTAMP_FILTER_ALL },
	{ { .transport = TRANSPORT_ICMP }, F(EVENT), SET(EVENT), HWTSTAMP_FILTER_ALL },
};

static void test_ptp_filters(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(ptp_cases); i++) {
		const struct ptp_case *t = &ptp_cases[i];
		const struct script s = { .can = { HARDWARE, OFF_ON, t->filters, 0 }, .found = { 0, 1, t->found } };
		const int expected[3] = { 0, 1, t->set < 0 ? t->found : t->set };
		struct nic n;
		int result;

		fake_on(&s);
		assert_int_equal(nic_open(&n, "fake0"), 0);
		CAPTURED(result, nic_stamp(&n, &t->o));
		if (result || fake.sets != (t->set >= 0))
			fail_msg("case %zu: %d, %d sets: %s", i, result, fake.sets, said);
		assert_setting("stamped", expected);
		nic_close(&n);
		assert_setting("restored", s.found);
	}
}

/* The driver accepts the request but grants a filter that does not stamp these packets; or it refuses. */
static void test_ptp_refused(void **state)
{
	static const struct options ptp = { .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ };
	static const struct script granted = { .can = { HARDWARE, OFF_ON, F(EVENT), 0 }, .grants_other = true,
					       .grants = { 0, 1, SET(L2_EVENT) } };
	static const struct script l2_only = { .can = { HARDWARE, OFF_ON, F(L2_EVENT), 0 }, .set_error = ERANGE };
	static const struct script both = { .can = { HARDWARE, OFF_ON, F(EVENT), 0 }, .set_error = ERANGE };
	static const struct script all_only = { .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .set_error = EIO };
	struct nic n;
	int result;

	(void)state;
	fake_on(&granted);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	CAPTURED(result, nic_stamp(&n, &ptp));
	assert_int_equal(result, -ERANGE);
	golden_line(said);
	nic_close(&n);

	fake_on(&l2_only);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	CAPTURED(result, nic_stamp(&n, &ptp));
	assert_int_equal(result, -ERANGE);
	golden_line(said);
	nic_close(&n);

	/* Both transports are possible: the IP transport is named; only "all" stamps ICMP echoes. */
	for (int i = 0; i < 2; i++) {
		fake_on(&both);
		assert_int_equal(nic_open(&n, "fake0"), 0);
		CAPTURED(result, nic_stamp(&n, &(struct options){ .transport = i ? TRANSPORT_ICMP : TRANSPORT_UDP,
								  .ptp_type = PTP_TYPE_SYNC }));
		assert_int_equal(result, -ERANGE);
		golden_line(said);
		nic_close(&n);
	}

	fake_on(&all_only);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	CAPTURED(result, nic_stamp(&n, &ptp));
	assert_int_equal(result, -EIO);
	golden_line(said);
	nic_close(&n);
}

static void test_read_setting(void **state)
{
	int setting[3] = { 7, 7, 7 };
	struct nic n;

	(void)state;
	fake_on(&full);
	assert_int_equal(nic_find(&n, "fake0"), 0);
	assert_int_equal(nic_read_setting(&n, setting), 0);
	assert_memory_equal(setting, full.found, sizeof(setting));
	assert_false(nic_stamps(setting, &udp));
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_ALL;
	assert_int_equal(nic_read_setting(&n, setting), 0);
	assert_true(nic_stamps(setting, &udp));
	fake_nic.get_error = EOPNOTSUPP;
	assert_int_equal(nic_read_setting(&n, setting), -EOPNOTSUPP);
	assert_int_equal(fake.sets, 0);
	nic_close(&n);
}

static void test_kernel_veth_has_no_clock(void **state)
{
	struct nic_abilities by_netlink, by_ioctl;
	int result, setting[3], fd = lowest_free_fd();
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	assert_string_equal(n.driver, "veth");
	CAPTURED(result, nic_stamp(&n, &udp));
	assert_int_equal(result, -EOPNOTSUPP);
	golden_line(said);
	assert_false(n.changed);
	assert_true(abilities_by_netlink(&n, &by_netlink));
	assert_int_equal(abilities_by_ioctl(&n, &by_ioctl), 0);
	assert_memory_equal(&by_netlink, &by_ioctl, sizeof(by_ioctl));
	assert_true(by_netlink.stamping & SOF_TIMESTAMPING_TX_SOFTWARE);
	assert_int_equal(by_netlink.phc_index, -1);
	assert_int_equal(hwtstamp_ioctl(&n, SIOCGHWTSTAMP, setting), -EOPNOTSUPP);
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

static void test_kernel_set_needs_permission(void **state)
{
	int with, without, setting[3] = { 0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL };
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	with = hwtstamp_ioctl(&n, SIOCSHWTSTAMP, setting);
	assert_int_equal(seteuid(65534), 0);
	without = hwtstamp_ioctl(&n, SIOCSHWTSTAMP, setting);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(with, -EOPNOTSUPP);
	assert_int_equal(without, -EPERM);
	nic_close(&n);
}

/* --stamp receive sets the filter only, and leaves the transmit type to other programs. */
static void test_receive(void **state)
{
	static const struct options receive = { .transport = TRANSPORT_UDP, .stamp = SOURCE_RECEIVE };
	static const uint32_t half = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
				     SOF_TIMESTAMPING_TX_SOFTWARE;
	static const struct {
		const struct options *o;
		uint32_t stamping, tx_types;
		int found[3], result, stamped[3];
	} cases[] = {
		{ &receive, half, BIT(HWTSTAMP_TX_OFF), { 0, 0, 0 }, 0, { 0, 0, 1 } },
		{ &receive, half, BIT(HWTSTAMP_TX_OFF), { 0, 0, 1 }, 0, { 0, 0, 1 } },
		{ &receive, HARDWARE | half, OFF_ON, { 0, 1, 12 }, 0, { 0, 1, 1 } },
		{ &udp, half, BIT(HWTSTAMP_TX_OFF), { 0, 0, 0 }, -EOPNOTSUPP, { 0, 0, 0 } },
		/* Without transmit timestamps of the kernel it is no help. */
		{ &udp, half & ~(uint32_t)SOF_TIMESTAMPING_TX_SOFTWARE, BIT(HWTSTAMP_TX_OFF), { 0, 0, 0 }, -EOPNOTSUPP,
		  { 0, 0, 0 } },
		{ &receive, half & ~(uint32_t)SOF_TIMESTAMPING_TX_SOFTWARE, OFF_ON, { 0, 0, 0 }, -EOPNOTSUPP, { 0, 0, 0 } },
		{ &receive, HARDWARE & ~(uint32_t)SOF_TIMESTAMPING_RX_HARDWARE, OFF_ON, { 0, 0, 0 }, -EOPNOTSUPP,
		  { 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct script s = { .can = { cases[i].stamping, cases[i].tx_types, NONE_ALL, 0 } };
		struct nic n;
		int result;

		memcpy(s.found, cases[i].found, sizeof(s.found));
		fake_on(&s);
		assert_int_equal(nic_open(&n, "fake0"), 0);
		CAPTURED(result, nic_stamp(&n, cases[i].o));
		assert_int_equal(result, cases[i].result);
		if (result)
			golden_line(said);
		assert_setting("stamped", cases[i].stamped);
		nic_close(&n);
		assert_setting("restored", cases[i].found);
	}
}

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(scripts) + 10] = {
		cmocka_unit_test_teardown(test_close_restores, fake_off),
		cmocka_unit_test_teardown(test_provider, fake_off),
		cmocka_unit_test_teardown(test_another_provider_keeps_its_setting, fake_off),
		cmocka_unit_test_teardown(test_signal_while_setting, fake_off),
		cmocka_unit_test_teardown(test_the_filter_asked_for_is_set, fake_off),
		cmocka_unit_test_teardown(test_ptp_filters, fake_off),
		cmocka_unit_test_teardown(test_ptp_refused, fake_off),
		cmocka_unit_test_teardown(test_read_setting, fake_off),
		cmocka_unit_test_teardown(test_receive, fake_off),
		IN_NAMESPACE(test_kernel_veth_has_no_clock),
		IN_NAMESPACE(test_kernel_set_needs_permission),
	};

	util_seed();
	for (size_t i = 0; i < COUNT_OF(scripts); i++)
		tests[10 + i] = (struct CMUnitTest){ .name = scripts[i].name, .test_func = test_script,
						    .teardown_func = fake_off, .initial_state = (void *)&scripts[i] };
	return golden_run(tests);
}
