// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=send,recv,genl_ctrl_resolve sources=host/nic/nic_netlink.c,host/nic/nic_names.c libs=-lnl-3 -lnl-genl-3 */
/* Providers of timestamps: constructed replies, valid and invalid; a simulated kernel; the real kernel with a veth. */
#include "host/nic/nic_provider.c"

#include "host/nic/nic_names.h"

#include "util.h"

#define FAMILY 21
#define INTERFACE 7

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

struct reply {
	int index; /* of the interface */
	struct nic_provider provider;
	int command, provider_bytes, source_bytes; /* 0: as the kernel */
};

static struct nl_msg *begin(int type, uint32_t seq)
{
	struct nl_msg *m = nlmsg_alloc();

	assert_non_null(m);
	assert_non_null(nlmsg_put(m, 1, seq, type, 0, 0));
	return m;
}

static struct nl_msg *reply_begin(const struct reply *r, uint32_t seq)
{
	struct nl_msg *m = begin(FAMILY, seq);
	struct genlmsghdr g = { .cmd = (uint8_t)(r->command ? r->command : ETHTOOL_MSG_TSINFO_GET_REPLY), .version = 1 };
	struct nlattr *header;

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	header = nla_nest_start(m, ETHTOOL_A_TSINFO_HEADER);
	nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)r->index);
	nla_put_string(m, ETHTOOL_A_HEADER_DEV_NAME, "fake0");
	nla_nest_end(m, header);
	return m;
}

/* As tsinfo_fill_reply() of Linux 6.16: a PHC, its provider, its source. */
static struct nl_msg *reply_message(const struct reply *r, uint32_t seq)
{
	static const uint32_t words[4] = { 0 };
	struct nl_msg *m = reply_begin(r, seq);
	struct nlattr *nest;

	if (!r->provider.known)
		return m;
	nla_put_u32(m, ETHTOOL_A_TSINFO_PHC_INDEX, r->provider.phc_index);
	nest = nla_nest_start(m, TSINFO_PROVIDER);
	if (r->provider_bytes)
		nla_put(m, PROVIDER_INDEX, r->provider_bytes, words);
	else
		nla_put_u32(m, PROVIDER_INDEX, r->provider.phc_index);
	nla_put_u32(m, PROVIDER_QUALIFIER, r->provider.qualifier);
	nla_nest_end(m, nest);
	if (r->source_bytes)
		nla_put(m, TSINFO_SOURCE, r->source_bytes, words);
	else if (r->provider.source)
		nla_put_u32(m, TSINFO_SOURCE, r->provider.source);
	if (r->provider.has_phy_index)
		nla_put_u32(m, TSINFO_PHY_INDEX, r->provider.phy_index);
	return m;
}

/* Parses a copy of exactly the size of the message, so that ASan detects a read beyond its end. */
static bool parse(struct nl_msg *m, struct nic_provider *p)
{
	uint8_t *copy = util_exact(nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len);
	const bool good = parse_provider((struct nlmsghdr *)copy, INTERFACE, p);

	free(copy);
	nlmsg_free(m);
	return good;
}

static const struct nic_provider mac = { .known = true, .phc_index = 3, .source = NIC_SOURCE_MAC };
static const struct nic_provider phy = { .known = true, .phc_index = 5, .qualifier = 1, .source = NIC_SOURCE_PHY,
					 .has_phy_index = true, .phy_index = 2 };

static void assert_provider(const struct nic_provider *p, const char *expected)
{
	char text[NIC_PROVIDER_BYTES];

	assert_string_equal(nic_provider_text(p, text), expected);
}

static void test_replies(void **state)
{
	struct nic_provider p, old = mac;

	(void)state;
	assert_true(parse(reply_message(&(struct reply){ INTERFACE, mac, 0, 0, 0 }, 1), &p));
	assert_provider(&p, "MAC, /dev/ptp3, precise");
	assert_true(parse(reply_message(&(struct reply){ INTERFACE, phy, 0, 0, 0 }, 1), &p));
	assert_provider(&p, "PHY 2, /dev/ptp5, approx");
	old.source = NIC_SOURCE_UNKNOWN; /* Linux 6.14 */
	old.qualifier = 9;
	assert_true(parse(reply_message(&(struct reply){ INTERFACE, old, 0, 0, 0 }, 1), &p));
	assert_provider(&p, "MAC or PHY, /dev/ptp3, unknown precision");
	assert_provider(&(struct nic_provider){ 0 }, "not known");
}

static void test_invalid_replies(void **state)
{
	struct nic_provider p = phy, none = mac, huge = mac;

	(void)state;
	none.known = false; /* Linux 6.12 */
	huge.phc_index = 0x80000000;
	assert_false(parse(reply_message(&(struct reply){ INTERFACE, none, 0, 0, 0 }, 1), &p));
	assert_false(parse(reply_message(&(struct reply){ INTERFACE, huge, 0, 0, 0 }, 1), &p));
	assert_false(parse(reply_message(&(struct reply){ INTERFACE + 1, mac, 0, 0, 0 }, 1), &p));
	assert_false(parse(reply_message(&(struct reply){ INTERFACE, mac, ETHTOOL_MSG_TSINFO_GET_REPLY + 1, 0, 0 }, 1),
			   &p));
	for (int bytes = 1; bytes <= 12; bytes++)
		if (bytes != 4)
			assert_false(parse(reply_message(&(struct reply){ INTERFACE, mac, 0, bytes, 0 }, 1), &p));
	assert_provider(&p, "PHY 2, /dev/ptp5, approx"); /* unchanged */
	/* A source of another size, or with a new number, is not reported. */
	for (int bytes = 1; bytes <= 12; bytes++) {
		assert_true(parse(reply_message(&(struct reply){ INTERFACE, mac, 0, 0, bytes }, 1), &p));
		assert_int_equal(p.source, NIC_SOURCE_UNKNOWN);
	}
	huge = mac;
	huge.source = NIC_SOURCE_PHY + 1;
	assert_true(parse(reply_message(&(struct reply){ INTERFACE, huge, 0, 0, 0 }, 1), &p));
	assert_int_equal(p.source, NIC_SOURCE_UNKNOWN);
}

static void test_random_replies(void **state)
{
	struct nic_provider p;
	int good = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct nl_msg *m = reply_message(&(struct reply){ INTERFACE, phy, 0, 0, 0 }, 1);
		uint8_t *payload = nlmsg_data(nlmsg_hdr(m));
		const int bytes = nlmsg_datalen(nlmsg_hdr(m));

		for (uint64_t n = util_below(4) + 1; n; n--)
			payload[util_below((uint64_t)bytes)] = (uint8_t)util_random();
		if (util_below(4) == 0)
			nlmsg_hdr(m)->nlmsg_len -= (uint32_t)util_below((uint64_t)bytes + 1);
		good += parse(m, &p);
	}
	assert_in_range(good, 100, 19900); /* the mutations reach both outcomes */
}

/* ---- Settings of a simulated NIC: one for each provider ----------------------------------------------------------- */

static int setting[3][3], *selected_setting = setting[0];
static int setting_error;

int nic_read_setting(const struct nic *n, int s[3])
{
	(void)n;
	memcpy(s, selected_setting, sizeof(setting[0]));
	return setting_error;
}

int nic_write_setting(const struct nic *n, int s[3])
{
	(void)n;
	memcpy(selected_setting, s, sizeof(setting[0]));
	return 0;
}

/* ---- A simulated kernel ------------------------------------------------------------------------------------------ */

enum fault { NONE, SILENT, REFUSES, SHORT_ERROR, LATE_REPLY, REFUSES_SELECTION, SELECTS_NOTHING };

static struct {
	bool on;
	enum fault fault;
	struct nic_provider provider[3];
	int providers, selected;
	char queue[6][4096];
	size_t bytes[6];
	int queued, taken, requests, selections;
} kernel;

ssize_t __real_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags);
ssize_t __real_recv(int fd, void *data, size_t bytes, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags);
int __real_genl_ctrl_resolve(struct nl_sock *s, const char *name);
int __wrap_genl_ctrl_resolve(struct nl_sock *s, const char *name);

int __wrap_genl_ctrl_resolve(struct nl_sock *s, const char *name)
{
	if (!kernel.on)
		return __real_genl_ctrl_resolve(s, name);
	assert_string_equal(name, "ethtool");
	return FAMILY;
}

static void put(struct nl_msg *m)
{
	const size_t bytes = nlmsg_hdr(m)->nlmsg_len;

	assert_in_range(kernel.queued, 0, 5);
	memcpy(kernel.queue[kernel.queued], nlmsg_hdr(m), bytes);
	kernel.bytes[kernel.queued++] = bytes;
	nlmsg_free(m);
}

static void put_end(int type, uint32_t seq, int error, bool is_short)
{
	struct nl_msg *m = begin(type, seq);
	struct nlmsgerr e = { .error = error };

	nlmsg_append(m, &e, is_short ? 2 : type == NLMSG_DONE ? sizeof(int) : sizeof(e), 0);
	put(m);
}

/* As ethnl_set_tsconfig(): the timestamps of the earlier provider are turned off. */
static void select_by(struct nlattr *nest)
{
	struct nlattr *part[PROVIDER_QUALIFIER + 1];

	assert_non_null(nest);
	assert_true(nest->nla_type & NLA_F_NESTED);
	assert_int_equal(nla_parse_nested(part, PROVIDER_QUALIFIER, nest, NULL), 0);
	kernel.selections++;
	if (kernel.fault == SELECTS_NOTHING)
		return;
	memset(selected_setting, 0, sizeof(setting[0]));
	for (int i = 0; i < kernel.providers; i++)
		if (nla_get_u32(part[PROVIDER_INDEX]) == kernel.provider[i].phc_index &&
		    nla_get_u32(part[PROVIDER_QUALIFIER]) == kernel.provider[i].qualifier)
			kernel.selected = i;
	selected_setting = setting[kernel.selected];
}

/* Checks the request with the parser of libnl. The headers of both commands have the same number. */
static void check_request(struct nlmsghdr *h)
{
	struct nlattr *a[ETHTOOL_A_TSINFO_MAX + 1], *device[ETHTOOL_A_HEADER_MAX + 1];
	const int command = genlmsg_hdr(h)->cmd;

	assert_int_equal(h->nlmsg_type, FAMILY);
	assert_true(command == ETHTOOL_MSG_TSINFO_GET || command == 47);
	assert_int_equal(genlmsg_parse(h, 0, a, ETHTOOL_A_TSINFO_MAX, NULL), 0);
	assert_non_null(a[ETHTOOL_A_TSINFO_HEADER]);
	assert_true(a[ETHTOOL_A_TSINFO_HEADER]->nla_type & NLA_F_NESTED);
	assert_int_equal(nla_parse_nested(device, ETHTOOL_A_HEADER_MAX, a[ETHTOOL_A_TSINFO_HEADER], NULL), 0);
	assert_int_equal(nla_get_u32(device[ETHTOOL_A_HEADER_DEV_INDEX]), INTERFACE);
	assert_int_equal(nla_get_u32(device[ETHTOOL_A_HEADER_FLAGS]), ETHTOOL_FLAG_COMPACT_BITSETS);
}

ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(uintptr_t)data;

	if (!kernel.on)
		return __real_send(fd, data, bytes, flags);
	kernel.requests++;
	kernel.queued = kernel.taken = 0;
	assert_int_equal(bytes, h->nlmsg_len);
	check_request(h);
	if (kernel.fault == SILENT)
		return (ssize_t)bytes;
	if (kernel.fault == LATE_REPLY)
		put(reply_message(&(struct reply){ INTERFACE, phy, 0, 0, 0 }, h->nlmsg_seq - 1));
	if (kernel.fault == REFUSES || kernel.fault == SHORT_ERROR) {
		put_end(NLMSG_ERROR, h->nlmsg_seq, -EOPNOTSUPP, kernel.fault == SHORT_ERROR);
		return (ssize_t)bytes;
	}
	if (genlmsg_hdr(h)->cmd == 47) {
		if (kernel.fault == REFUSES_SELECTION)
			put_end(NLMSG_ERROR, h->nlmsg_seq, -EPERM, false);
		else
			select_by(nlmsg_find_attr(h, GENL_HDRLEN, 2));
		if (kernel.fault == REFUSES_SELECTION)
			return (ssize_t)bytes;
		put_end(NLMSG_ERROR, h->nlmsg_seq, 0, false); /* and no other reply */
	} else if (h->nlmsg_flags & NLM_F_DUMP) {
		put(reply_message(&(struct reply){ INTERFACE + 1, mac, 0, 0, 0 }, h->nlmsg_seq)); /* of another interface */
		for (int i = 0; i < kernel.providers; i++)
			put(reply_message(&(struct reply){ INTERFACE, kernel.provider[i], 0, 0, 0 }, h->nlmsg_seq));
		put_end(NLMSG_DONE, h->nlmsg_seq, 0, false);
	} else {
		assert_true(h->nlmsg_flags & NLM_F_ACK);
		put(reply_message(&(struct reply){ INTERFACE, kernel.provider[kernel.selected], 0, 0, 0 }, h->nlmsg_seq));
		put_end(NLMSG_ERROR, h->nlmsg_seq, 0, false);
	}
	return (ssize_t)bytes;
}

ssize_t __wrap_recv(int fd, void *data, size_t bytes, int flags)
{
	if (!kernel.on)
		return __real_recv(fd, data, bytes, flags);
	if (kernel.taken == kernel.queued) {
		errno = EAGAIN; /* the time limit of the socket */
		return -1;
	}
	assert_in_range(kernel.bytes[kernel.taken], 1, bytes);
	memcpy(data, kernel.queue[kernel.taken], kernel.bytes[kernel.taken]);
	return (ssize_t)kernel.bytes[kernel.taken++];
}

static struct nic with_kernel(void)
{
	struct nic n = { .name = "fake0", .index = 2, .stamper = INTERFACE };

	memset(&kernel, 0, sizeof(kernel));
	memset(setting, 0, sizeof(setting));
	selected_setting = setting[0];
	setting_error = 0;
	kernel.on = true;
	kernel.provider[0] = mac;
	kernel.provider[1] = phy;
	kernel.providers = 2;
	nic_provider_open(&n);
	assert_int_equal(n.ethtool_family, FAMILY);
	assert_provider(&n.provider, "MAC, /dev/ptp3, precise");
	return n;
}

static int open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void test_list(void **state)
{
	const int before = open_fds();
	struct nic_provider list[NIC_PROVIDERS];
	struct nic n = with_kernel(), closed = { .index = INTERFACE };

	(void)state;
	assert_int_equal(nic_provider_list(&n, list), 2);
	assert_provider(&list[0], "MAC, /dev/ptp3, precise");
	assert_provider(&list[1], "PHY 2, /dev/ptp5, approx");
	assert_true(nic_provider_same(&list[0], &mac));
	assert_false(nic_provider_same(&list[0], &list[1]));
	nic_provider_close(&n);
	nic_provider_close(&n);
	assert_int_equal(open_fds(), before);
	assert_int_equal(nic_provider_list(&closed, list), 2);
	assert_true(nic_provider_read(&closed, &list[0]));
	assert_int_equal(open_fds(), before);
	kernel.on = false;
}

static void test_faults(void **state)
{
	struct nic_provider list[NIC_PROVIDERS];
	struct nic n = with_kernel();

	(void)state;
	for (enum fault f = SILENT; f <= SHORT_ERROR; f++) {
		kernel.fault = f;
		assert_false(nic_provider_read(&n, &list[0]));
		assert_provider(&list[0], "not known");
		assert_int_equal(nic_provider_list(&n, list), 0);
		assert_true(nic_provider_is_ours(&n));
	}
	kernel.fault = LATE_REPLY;
	assert_true(nic_provider_read(&n, &list[0]));
	assert_provider(&list[0], "MAC, /dev/ptp3, precise");
	nic_provider_close(&n);
	kernel.on = false;
}

static void test_changes(void **state)
{
	struct nic n = with_kernel();
	struct nic_provider_watch w = { .nic = &n };

	(void)state;
	nic_provider_look(&w);
	nic_provider_look(&w);
	assert_int_equal(w.changes, 0);
	assert_true(nic_provider_is_ours(&n));
	kernel.selected = 1;
	assert_false(nic_provider_is_ours(&n));
	nic_provider_look(&w);
	nic_provider_look(&w);
	assert_int_equal(w.changes, 1);
	assert_provider(&w.now, "PHY 2, /dev/ptp5, approx");
	kernel.fault = SILENT; /* no reply is not a change */
	nic_provider_look(&w);
	kernel.fault = NONE;
	kernel.selected = 0;
	nic_provider_look(&w);
	assert_int_equal(w.changes, 2);
	/* A change between the set-up and the first look. */
	w = (struct nic_provider_watch){ .nic = &n };
	kernel.selected = 1;
	nic_provider_look(&w);
	assert_int_equal(w.changes, 1);
	/* Nothing is asked where nothing was known. */
	n.provider.known = false;
	kernel.requests = 0;
	nic_provider_look(&w);
	assert_int_equal(kernel.requests, 0);
	assert_true(nic_provider_is_ours(&n));
	nic_provider_close(&n);
	kernel.on = false;
}

/* ---- Selection --------------------------------------------------------------------------------------------------- */

static struct util_capture capture;
static char said[1000];

static int selecting(struct nic *n, enum nic_source source, bool shared)
{
	int error;

	util_capture_begin(&capture);
	error = nic_provider_select(n, source, shared);
	util_capture_end(&capture, said, sizeof(said));
	return error;
}

static void test_selection(void **state)
{
	struct nic n = with_kernel();

	(void)state;
	setting[0][2] = 12; /* of another program, which only receives */
	assert_int_equal(selecting(&n, NIC_SOURCE_MAC, false), 0);
	assert_int_equal(kernel.selections, 0); /* selected already */
	nic_provider_restore(&n);
	assert_int_equal(kernel.selections, 0);
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), 0);
	assert_string_equal(said, "");
	assert_int_equal(kernel.selected, 1);
	assert_int_equal(setting[0][2], 0);
	assert_provider(&n.provider, "PHY 2, /dev/ptp5, approx");
	assert_true(nic_provider_is_ours(&n));
	nic_provider_restore(&n);
	assert_int_equal(kernel.selected, 0);
	assert_int_equal(setting[0][2], 12);
	nic_provider_restore(&n);
	assert_int_equal(kernel.selections, 2);
	nic_provider_close(&n);
	kernel.on = false;
}

/* Another program has selected another provider in mid-run: its selection stays. */
static void test_selection_of_another_program(void **state)
{
	struct nic n = with_kernel();

	(void)state;
	kernel.provider[2] = (struct nic_provider){ .known = true, .phc_index = 8, .source = NIC_SOURCE_PHY };
	kernel.providers = 3;
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), 0);
	kernel.selected = 2;
	selected_setting = setting[2];
	setting[2][1] = 1;
	nic_provider_restore(&n);
	assert_int_equal(kernel.selected, 2);
	assert_int_equal(setting[2][1], 1);
	assert_int_equal(kernel.selections, 1);
	nic_provider_close(&n);
	kernel.on = false;
}

static void assert_said(const char *words)
{
	if (!strstr(said, words))
		fail_msg("'%s' is not in: %s", words, said);
}

static void test_refused_selections(void **state)
{
	struct nic n = with_kernel();

	(void)state;
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, true), -EBUSY);
	assert_said("another rant");
	kernel.providers = 1;
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), -ENODEV);
	assert_said("reports no PHY that timestamps packets; it reports: MAC, /dev/ptp3, precise: leave out");
	assert_int_equal(kernel.selections, 0);
	kernel.providers = 2;
	setting[0][1] = 1;
	kernel.fault = REFUSES_SELECTION;
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), -EPERM);
	assert_said("warning: the MAC of interface 'fake0' is set to stamp packets for another program");
	assert_said("needs CAP_NET_ADMIN");
	assert_false(n.provider_switch.done);
	kernel.fault = SELECTS_NOTHING; /* the answer is checked */
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), -EIO);
	assert_provider(&n.provider, "MAC, /dev/ptp3, precise");
	assert_int_equal(setting[0][1], 1);
	kernel.fault = NONE;
	setting_error = -EOPNOTSUPP; /* an old driver: its setting is neither known nor restored */
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), 0);
	nic_provider_restore(&n);
	assert_int_equal(kernel.selected, 0);
	assert_int_equal(setting[0][1], 0);
	n.provider.known = false;
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), -EOPNOTSUPP);
	assert_said("select the PHY with 'ethtool --set-hwtimestamp-cfg fake0 index 5 qualifier approx', and leave out");
	kernel.providers = 0;
	assert_int_equal(selecting(&n, NIC_SOURCE_PHY, false), -EOPNOTSUPP);
	assert_said("Linux 6.14");
	nic_provider_close(&n);
	kernel.on = false;
}

/* The loopback has no hardware clock, so no provider: the kernel accepts the requests. */
static void test_real_kernel(void **state)
{
	struct nic n = { .index = (int)if_nametoindex("lo") };
	struct nic_provider list[NIC_PROVIDERS];
	struct listed l = { list, n.index, NIC_PROVIDERS, 0 };

	(void)state;
	nic_provider_open(&n);
	if (!n.ethtool_family)
		skip();
	assert_false(n.provider.known);
	assert_int_equal(read_providers(n.provider_fd[FOR_RUN], n.ethtool_family, NLM_F_ACK, &l), 0);
	assert_int_equal(read_providers(n.provider_fd[FOR_RESTORE], n.ethtool_family, NLM_F_DUMP, &l), 0);
	assert_int_equal(l.count, 0);
	l.index = 999999;
	assert_int_equal(read_providers(n.provider_fd[FOR_RUN], n.ethtool_family, NLM_F_ACK, &l), -ENODEV);
	nic_provider_close(&n);
}

/* The number of the command: the kernel knows it and finds no such interface, or the privilege is missing. */
static void test_real_kernel_selects(void **state)
{
	const struct nic_provider p = { .known = true };
	struct nic n = { .index = (int)if_nametoindex("lo") };
	int error;

	(void)state;
	nic_provider_open(&n);
	if (!n.ethtool_family)
		skip();
	error = request_selection(n.provider_fd[FOR_RUN], n.ethtool_family, 999999, &p);
	if (error == -EOPNOTSUPP)
		print_message("skipped: this kernel is older than 6.14\n");
	else
		assert_int_equal(error, geteuid() ? -EPERM : -ENODEV);
	if (!error || error == -ENODEV)
		assert_int_equal(request_selection(n.provider_fd[FOR_RUN], n.ethtool_family, n.index, &p), -EOPNOTSUPP);
	nic_provider_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_invalid_replies),
		cmocka_unit_test(test_random_replies),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_selection_of_another_program),
		cmocka_unit_test(test_refused_selections),
		cmocka_unit_test(test_real_kernel),
		cmocka_unit_test(test_real_kernel_selects),
	};

	util_seed();
	return cmocka_run_group_tests_name("nic_provider", tests, NULL, NULL);
}
