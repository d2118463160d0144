/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common parts of the tests of host/nic/: capture of stderr, and a scripted NIC, since most hosts have no NIC with a
 * hardware clock. Include it after util.h; wraps=ioctl,genl_ctrl_resolve,nl_connect.
 */
#ifndef NIC_BENCH_H
#define NIC_BENCH_H

#include "host/nic/nic.h"
#include "options.h"

#include "fake_nic.h"
#include "golden.h"

#include <fcntl.h>
#include <netlink/errno.h>

#define BIT(n) (1U << (n))
#define HARDWARE FAKE_NIC_HARDWARE
#define OFF_ON (BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON))
#define NONE_ALL (BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL))
#define PTP_ONLY (BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_PTP_V2_EVENT))

static const struct options udp = { .transport = TRANSPORT_UDP };

/* ---- Capture of stderr ----------------------------------------------------------------------------------------- */

static struct util_capture capture;
static bool capturing;
static char said[4096];

static inline void capture_end(void)
{
	util_capture_end(&capture, said, sizeof(said));
	capturing = false;
}

#define CAPTURED(result, call)                 \
	do {                                   \
		util_capture_begin(&capture);  \
		capturing = true;              \
		(result) = (call);             \
		capture_end();                 \
	} while (0)

/* Prints the captured text of an assertion that failed in the simulated kernel. */
static inline void capture_abandon(void)
{
	if (!capturing)
		return;
	capture_end();
	print_message("%s", said);
}

static inline void assert_silent(void)
{
	assert_string_equal(said, "");
}

static inline int lowest_free_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* ---- The fake kernel: off by default, on in one test ----------------------------------------------------------- */

struct script {
	const char *name;
	struct nic_abilities can;
	int found[3];
	int get_error, set_error, info_error; /* errno */
	bool grants_other, error_but_changes;
	int grants[3]; /* with grants_other: the setting that a request really makes */
	int behind_our_back[3]; /* with changes_behind: set by another program before the restoration */
	bool changes_behind;

	int result;
	int sets; /* calls of SIOCSHWTSTAMP up to the end of nic_stamp() */
	int stamped[3], restored[3]; /* the setting after nic_stamp(), after nic_restore() */
};

static struct {
	const struct script *script;
	int sets;
	void (*after_set)(void);
	/* ETHTOOL_GLINKSETTINGS: words in each of its masks, errors of the first and the second request. */
	int link_words, settings_error[2], settings_asked;
	uint32_t speed;
	uint8_t duplex;
} fake;

static bool netlink_broken;

int __real_nl_connect(struct nl_sock *s, int protocol);
int __wrap_nl_connect(struct nl_sock *s, int protocol);

/* As the kernel: the reply to a wrong number of words holds only the right number, negated. */
static inline int fake_link_settings(struct ethtool_link_settings *s)
{
	int asked = s->link_mode_masks_nwords;

	assert_true(fake.settings_asked < 2);
	if (fake.settings_error[fake.settings_asked++])
		return fail_with(fake.settings_error[fake.settings_asked - 1]);
	if (asked != fake.link_words) {
		*s = (struct ethtool_link_settings){ .cmd = ETHTOOL_GLINKSETTINGS,
						     .link_mode_masks_nwords = (int8_t)-fake.link_words };
		return 0;
	}
	s->speed = fake.speed;
	s->duplex = fake.duplex;
	/* Every octet of the three masks is written. */
	memset(s->link_mode_masks, 0xff, 3 * sizeof(uint32_t) * (size_t)fake.link_words);
	return 0;
}

static inline int fake_ethtool(void *data)
{
	struct ethtool_link_settings *s = data;

	assert_int_equal(s->cmd, ETHTOOL_GLINKSETTINGS);
	return fake_link_settings(s);
}

static inline int fake_set(struct hwtstamp_config *c)
{
	const struct script *s = fake.script;
	/* Only the first request is granted in part; the restoration sets the exact setting. */
	bool odd = fake.sets++ == 0 && (s->grants_other || s->error_but_changes);
	const int asked[3] = { c->flags, c->tx_type, c->rx_filter };

	if (fake.sets == 1 && s->set_error && !s->error_but_changes)
		return fail_with(s->set_error);
	memcpy(fake_nic.setting, odd ? s->grants : asked, sizeof(fake_nic.setting));
	*c = (struct hwtstamp_config){ fake_nic.setting[0], fake_nic.setting[1], fake_nic.setting[2] };
	if (fake.after_set)
		fake.after_set();
	return fail_with(fake.sets == 1 ? s->set_error : 0);
}

int __wrap_nl_connect(struct nl_sock *s, int protocol)
{
	return netlink_broken ? -NLE_NOACCESS : __real_nl_connect(s, protocol);
}

static inline void fake_on(const struct script *s)
{
	memset(&fake, 0, sizeof(fake));
	memset(&fake_nic, 0, sizeof(fake_nic));
	fake.script = s;
	fake_nic.driver = "fake";
	fake_nic.bus = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
	memcpy(fake_nic.mac, "\x02\xfe\x00\x10\x0a\xff", sizeof(fake_nic.mac));
	fake_nic.can = s->can;
	memcpy(fake_nic.setting, s->found, sizeof(fake_nic.setting));
	fake_nic.info_error = s->info_error;
	fake_nic.get_error = s->get_error;
	fake_nic.set = fake_set;
	fake_nic.ethtool = fake_ethtool;
	fake_nic.on = true;
}

static inline int fake_off(void **state)
{
	(void)state;
	fake_nic.on = false;
	netlink_broken = false;
	capture_abandon();
	return 0;
}

static const struct script full = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 }, .found = { 0, 0, 12 } };

static inline void assert_setting(const char *when, const int expected[3])
{
	if (memcmp(fake_nic.setting, expected, sizeof(fake_nic.setting)))
		fail_msg("%s: setting is {%d,%d,%d}, expected {%d,%d,%d}", when, fake_nic.setting[0],
			 fake_nic.setting[1], fake_nic.setting[2], expected[0], expected[1], expected[2]);
}

#endif
