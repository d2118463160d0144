// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,fcntl,genl_ctrl_resolve,nl_connect sources= libs=-lnl-3 -lnl-genl-3 */
/*
 * nic.c against a fake NIC behind ioctl (scripts, as no driver with a hardware clock can be had everywhere), and, as
 * root, against the real kernel in a network namespace of its own.
 */
#include "host/nic.c"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "util.h"

#include "fake_nic.h"

#define HARDWARE FAKE_NIC_HARDWARE
#define OFF_ON (BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON))
#define NONE_ALL (BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL))
#define PTP_ONLY (BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_PTP_V2_EVENT))

/* ---- What goes to stderr --------------------------------------------------------------------------------------- */

static struct util_capture capture;
static bool capturing;
static char said[4096];

static void capture_end(void)
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

/* For an assertion in the fake kernel that failed while its message went into the capture. */
static void capture_abandon(void)
{
	if (!capturing)
		return;
	capture_end();
	print_message("%s", said);
}

static void assert_silent(void)
{
	assert_string_equal(said, "");
}

/* Exactly one line, with each of the pieces ("" ends them). */
static void assert_said(const char *const *pieces)
{
	const char *end = strchr(said, '\n');

	if (!end || end[1])
		fail_msg("not one line: \"%s\"", said);
	for (; *pieces && **pieces; pieces++)
		if (!strstr(said, *pieces))
			fail_msg("\"%s\" is not in: %s", *pieces, said);
}

#define ASSERT_SAID(...) assert_said((const char *const[]){ __VA_ARGS__, "" })

static int lowest_free_fd(void)
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
	int grants[3]; /* what a set really sets, with grants_other */
	int behind_our_back[3]; /* with changes_behind: set by someone else before the restore */
	bool changes_behind;

	int result;
	int sets; /* calls of SIOCSHWTSTAMP up to the end of nic_stamp() */
	int stamped[3], restored[3]; /* the setting after nic_stamp(), after nic_restore() */
	const char *says[5]; /* none: silent */
};

static struct {
	const struct script *script;
	int sets;
	void (*after_set)(void);
	/* ETHTOOL_GLINKSETTINGS: words in each of its masks, errors of the first and the second question. */
	int link_words, settings_error[2], settings_asked;
	uint32_t speed;
	uint8_t duplex;
} fake;

static bool netlink_broken;

int __real_nl_connect(struct nl_sock *s, int protocol);
int __wrap_nl_connect(struct nl_sock *s, int protocol);

/* As the kernel: a wrong number of words is answered with the right one, negative, and with nothing else. */
static int fake_link_settings(struct ethtool_link_settings *s)
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
	/* Of the three masks every octet is written. */
	memset(s->link_mode_masks, 0xff, 3 * sizeof(uint32_t) * (size_t)fake.link_words);
	return 0;
}

static int fake_ethtool(void *data)
{
	struct ethtool_link_settings *s = data;

	assert_int_equal(s->cmd, ETHTOOL_GLINKSETTINGS);
	return fake_link_settings(s);
}

static int fake_set(struct hwtstamp_config *c)
{
	const struct script *s = fake.script;
	/* What a NIC makes of a request shows in the first set; the way back is an exact setting. */
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

static void fake_on(const struct script *s)
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

static int fake_off(void **state)
{
	(void)state;
	fake_nic.on = false;
	netlink_broken = false;
	capture_abandon();
	return 0;
}

/* ---- Scripts: a NIC, what nic_stamp() makes of it, what nic_restore() leaves ----------------------------------- */

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
	  .result = -ERANGE, .sets = 1, .stamped = { 0, 1, 12 }, .restored = { 0, 1, 12 },
	  .says = { "only PTP packets", "none ptpv2-event:", "'fake'", "--stamp kernel" } },
	{ .name = "stamp: ERANGE though all is listed",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .set_error = ERANGE, .result = -ERANGE, .sets = 1,
	  .says = { "refuses to stamp every packet", "none all:", "--stamp kernel" } },
	{ .name = "stamp: EOPNOTSUPP on set",
	  .can = { HARDWARE, OFF_ON, PTP_ONLY, 0 }, .set_error = EOPNOTSUPP, .result = -EOPNOTSUPP, .sets = 1,
	  .says = { "refuses to stamp every packet: Operation not supported", "none ptpv2-event:" } },
	{ .name = "stamp: error that changed something is put back",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 12 }, .set_error = EIO,
	  .error_but_changes = true, .grants = { 0, 1, 12 }, .result = -EIO, .sets = 2, .stamped = { 0, 0, 12 },
	  .restored = { 0, 0, 12 }, .says = { "Input/output error" } },
	{ .name = "stamp: narrowed filter is put back",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 9 }, .grants_other = true,
	  .grants = { 0, 1, 12 }, .result = -ERANGE, .sets = 2, .stamped = { 0, 0, 9 }, .restored = { 0, 0, 9 },
	  .says = { "granted 'on' and 'ptpv2-event'", "--stamp kernel" } },
	{ .name = "stamp: filter 'some' is not all",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .grants_other = true, .grants = { 0, 1, 2 }, .result = -ERANGE,
	  .sets = 2, .says = { "granted 'on' and 'some'" } },
	{ .name = "stamp: transmit not granted is put back",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .grants_other = true, .grants = { 0, 0, 1 }, .result = -ERANGE,
	  .sets = 2, .says = { "granted 'off' and 'all'" } },
	{ .name = "stamp: unknown numbers granted",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .grants_other = true, .grants = { 0, 99, -1 },
	  .result = -ERANGE, .sets = 2, .says = { "granted 'unknown' and 'unknown'" } },
	{ .name = "stamp: EPERM",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 12 }, .set_error = EPERM, .result = -EPERM,
	  .sets = 1, .stamped = { 0, 0, 12 }, .restored = { 0, 0, 12 },
	  .says = { "needs CAP_NET_ADMIN", "sudo", "hwstamp_ctl -i fake0 -t 1 -r 1" } },
	{ .name = "stamp: one-step belongs to another program",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 2, 12 }, .result = -EBUSY,
	  .stamped = { 0, 2, 12 }, .restored = { 0, 2, 12 },
	  .says = { "'onestep-sync' by another program", "ptp4l", "--stamp kernel" } },
	{ .name = "stamp: changed behind our back is not restored",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .sets = 1, .stamped = { 0, 1, 1 }, .changes_behind = true,
	  .behind_our_back = { 0, 1, 12 }, .restored = { 0, 1, 12 } },
	{ .name = "stamp: get not supported, set and left",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .get_error = EOPNOTSUPP, .sets = 1, .stamped = { 0, 1, 1 },
	  .restored = { 0, 1, 1 }, .says = { "warning: driver 'fake'", "hwstamp_ctl -i fake0 -t 0 -r 0" } },
	{ .name = "stamp: get not supported, all not listed",
	  .can = { HARDWARE, OFF_ON, PTP_ONLY, 0 }, .get_error = EOPNOTSUPP, .result = -ERANGE,
	  .says = { "only PTP packets", "none ptpv2-event:" } },
	{ .name = "stamp: get not supported, EPERM",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .get_error = EOPNOTSUPP, .set_error = EPERM, .result = -EPERM,
	  .sets = 1, .says = { "needs CAP_NET_ADMIN" } },
	{ .name = "stamp: get not supported, narrowed",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .get_error = EOPNOTSUPP, .grants_other = true,
	  .grants = { 0, 1, 12 }, .result = -ERANGE, .sets = 1, .stamped = { 0, 1, 12 }, .restored = { 0, 1, 12 },
	  .says = { "granted 'on' and 'ptpv2-event'", "not known" } },
	{ .name = "stamp: get fails",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 0, 12 }, .get_error = EIO, .result = -EIO,
	  .stamped = { 0, 0, 12 }, .restored = { 0, 0, 12 },
	  .says = { "cannot read the stamping setting of interface 'fake0': Input/output error" } },
	{ .name = "stamp: no hardware clock",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, -1 }, .result = -EOPNOTSUPP,
	  .says = { "(driver 'fake') has no hardware clock", "--stamp kernel works on any interface" } },
	{ .name = "stamp: no receive ability",
	  .can = { HARDWARE & ~SOF_TIMESTAMPING_RX_HARDWARE, OFF_ON, NONE_ALL, 0 }, .result = -EOPNOTSUPP,
	  .says = { "(driver 'fake')", "not the abilities hardware-receive:", "--stamp kernel works" } },
	{ .name = "stamp: no transmit and raw ability",
	  .can = { SOF_TIMESTAMPING_RX_HARDWARE, OFF_ON, NONE_ALL, 0 }, .result = -EOPNOTSUPP,
	  .says = { "not the abilities hardware-transmit hardware-raw-clock:" } },
	{ .name = "stamp: transmit type on is not there",
	  .can = { HARDWARE, BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ONESTEP_SYNC), NONE_ALL, 0 },
	  .result = -EOPNOTSUPP, .says = { "transmit types are: off onestep-sync:", "--stamp kernel works" } },
	{ .name = "stamp: abilities not supported",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .info_error = EOPNOTSUPP, .result = -EOPNOTSUPP,
	  .says = { "has no hardware clock" } },
	{ .name = "stamp: abilities cannot be read",
	  .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .info_error = ENODEV, .result = -ENODEV,
	  .says = { "cannot read the stamping abilities of interface 'fake0': No such device" } },
};

static void assert_setting(const char *when, const int expected[3])
{
	if (memcmp(fake_nic.setting, expected, sizeof(fake_nic.setting)))
		fail_msg("%s: setting is {%d,%d,%d}, expected {%d,%d,%d}", when, fake_nic.setting[0], fake_nic.setting[1],
			 fake_nic.setting[2], expected[0], expected[1], expected[2]);
}

static void test_script(void **state)
{
	const struct script *s = *state;
	struct nic n;
	int result;

	fake_on(s);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	CAPTURED(result, nic_stamp(&n));
	assert_int_equal(result, s->result);
	if (s->says[0])
		assert_said(s->says);
	else
		assert_silent();
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

	/* Once more must do nothing, even when the NIC looks again as we had left it. */
	int ioctls = fake_nic.gets + fake.sets;

	memcpy(fake_nic.setting, n.set, sizeof(fake_nic.setting));
	nic_restore(&n);
	nic_close(&n);
	assert_int_equal(fake_nic.gets + fake.sets, ioctls);
	assert_int_equal(n.control_fd, -1);
}

static const struct script full = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 }, .found = { 0, 0, 12 } };

static void test_close_restores(void **state)
{
	struct nic n;

	(void)state;
	fake_on(&full);
	assert_int_equal(nic_open(&n, "fake0"), 0);
	assert_int_equal(n.index, 7);
	assert_string_equal(n.driver, "fake");
	assert_int_equal(nic_stamp(&n), 0);
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
	CAPTURED(result, nic_stamp(&n));
	assert_int_equal(result, -ERANGE);
	assert_setting("after the signal", full.found);
	nic_close(&n);
	assert_setting("closed", full.found);
}

/* ---- Several rants on one NIC ----------------------------------------------------------------------------------- */

static char shared[sizeof("/tmp/rant-nic-XXXXXX")];

static int share_enter(void **state)
{
	(void)state;
	strcpy(shared, "/tmp/rant-nic-XXXXXX");
	share_folder = mkdtemp(shared);
	return share_folder ? 0 : -1;
}

static const char *share_file(void)
{
	static char path[100];
	struct stat space;

	assert_int_equal(stat("/proc/self/ns/net", &space), 0);
	snprintf(path, sizeof(path), "%s/rant-stamping-%ju-7", shared, (uintmax_t)space.st_ino);
	return path;
}

static bool unlink_before_lock; /* once */

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
	void *argument;
	va_list ap;

	va_start(ap, command);
	argument = va_arg(ap, void *);
	va_end(ap);
	if (unlink_before_lock)
		assert_int_equal(unlink(share_file()), 0);
	unlink_before_lock = false;
	return __real_fcntl(fd, command, argument);
}

static bool has_share_file(void)
{
	struct stat file;

	return !lstat(share_file(), &file);
}

static int share_exit(void **state)
{
	unlink(share_file());
	assert_int_equal(rmdir(shared), 0);
	share_folder = "/run";
	return fake_off(state);
}

static struct nic stamping(void)
{
	struct nic n;

	assert_int_equal(nic_open(&n, "fake0"), 0);
	assert_int_equal(nic_stamp(&n), 0);
	return n;
}

static const int all_on[3] = { 0, 1, 1 };

/* Whoever ends first, the last one puts back what the first one found. */
static void test_shared_in_each_order(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	int fd = lowest_free_fd();

	(void)state;
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct nic n[3];

		fake_on(&full);
		for (int k = 0; k < 3; k++) {
			n[k] = stamping();
			assert_true(n[k].changed);
			assert_memory_equal(n[k].found, full.found, sizeof(full.found));
		}
		assert_int_equal(fake.sets, 1);
		for (int k = 0; k < 2; k++) {
			nic_close(&n[orders[i][k]]);
			assert_setting("one has ended", all_on);
		}
		nic_close(&n[orders[i][2]]);
		assert_setting("all have ended", full.found);
		assert_int_equal(fake.sets, 2);
		assert_false(has_share_file());
		assert_int_equal(lowest_free_fd(), fd);
	}
}

static void test_shared_one_after_another(void **state)
{
	struct nic a, b, c;

	(void)state;
	fake_on(&full);
	a = stamping();
	b = stamping();
	nic_close(&a);
	c = stamping();
	nic_close(&b);
	assert_setting("two have ended", all_on);
	nic_close(&c);
	assert_setting("all have ended", full.found);
	a = stamping();
	nic_close(&a);
	assert_setting("again", full.found);
	assert_false(has_share_file());
}

/* What was on before is left on, and nothing is left in the folder; nor by a set that fails. */
static void test_nothing_to_share(void **state)
{
	static const struct script on = { .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .found = { 0, 1, 1 } };
	static const struct script refused = { .can = { HARDWARE, OFF_ON, NONE_ALL, 0 }, .set_error = EPERM };
	struct nic a, b;
	int result;

	(void)state;
	fake_on(&on);
	a = stamping();
	assert_false(has_share_file());
	b = stamping();
	nic_close(&a);
	nic_close(&b);
	assert_int_equal(fake.sets, 0);
	fake_on(&refused);
	assert_int_equal(nic_open(&a, "fake0"), 0);
	CAPTURED(result, nic_stamp(&a));
	assert_int_equal(result, -EPERM);
	assert_false(has_share_file());
	nic_close(&a);
}

/* Another program takes the NIC from the first; the second rant takes it again, and each is by itself. */
static void test_shared_and_lost(void **state)
{
	static const int ptp[3] = { 0, 1, 12 };
	struct nic a, b;

	(void)state;
	fake_on(&full);
	a = stamping();
	memcpy(fake_nic.setting, ptp, sizeof(ptp));
	b = stamping();
	assert_memory_equal(b.found, ptp, sizeof(ptp));
	nic_close(&b);
	assert_setting("the second has ended", ptp);
	nic_close(&a);
	assert_setting("the first has ended", ptp);
	assert_false(has_share_file());
}

/* A rant that was killed: its lock goes with it, its file says nothing any more. */
static void test_shared_with_a_dead_one(void **state)
{
	struct nic a, b;

	(void)state;
	fake_on(&full);
	a = stamping();
	assert_true(has_share_file());
	close(a.share_fd);
	b = stamping();
	assert_false(b.changed);
	nic_close(&b);
	assert_setting("left as it was found", all_on);
	assert_false(has_share_file());
	close(a.control_fd);
}

/* A link, or a file of somebody else: not touched, and no sharing. */
static void test_no_file_to_share(void **state)
{
	char target[200];
	struct nic a, b;

	(void)state;
	fake_on(&full);
	snprintf(target, sizeof(target), "%s/target", shared);
	assert_int_equal(symlink(target, share_file()), 0);
	a = stamping();
	assert_int_equal(access(target, F_OK), -1);
	b = stamping();
	assert_false(b.changed);
	nic_close(&a);
	nic_close(&b);
	assert_setting("by itself", full.found);
	assert_true(has_share_file());
}

static void test_a_file_of_somebody_else(void **state)
{
	struct nic a, b;
	int fd;

	(void)state;
	if (geteuid())
		skip();
	fake_on(&full);
	fd = open(share_file(), O_CREAT | O_WRONLY, 0666);
	assert_int_equal(pwrite(fd, all_on, sizeof(all_on), 0), sizeof(all_on));
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	close(fd);
	a = stamping();
	b = stamping();
	assert_false(b.changed);
	nic_close(&b);
	nic_close(&a);
	assert_setting("by itself", full.found);
	assert_true(has_share_file());
}

/* The last rant goes between our open and our lock. */
static void test_a_file_that_is_just_gone(void **state)
{
	struct nic a, b;

	(void)state;
	fake_on(&full);
	unlink_before_lock = true;
	a = stamping();
	assert_false(unlink_before_lock);
	b = stamping();
	assert_true(b.changed);
	nic_close(&a);
	assert_setting("one has ended", all_on);
	nic_close(&b);
	assert_setting("both have ended", full.found);
}

/* Each has let go before either looks whether it is alone. */
static void test_both_end_at_once(void **state)
{
	struct nic a, b;

	(void)state;
	fake_on(&full);
	a = stamping();
	b = stamping();
	assert_false(share_leave(&a));
	assert_true(share_leave(&b));
	assert_false(share_leave(&a));
	share_end(&a, false);
	share_end(&b, true);
	nic_close(&a);
	nic_close(&b);
}

/* Another is just about to set the NIC: it is waited for. */
static void test_shared_with_a_slow_one(void **state)
{
	const struct timespec slow = { .tv_nsec = 60 * NS_PER_MS };
	struct nic a = { .index = 7 }, b;
	int go[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(go), 0);
	fake_on(&full);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(20);
		share_join(&a);
		memcpy(a.found, full.found, sizeof(a.found));
		if (write(go[1], "", 1) != 1)
			_exit(1);
		nanosleep(&slow, NULL);
		share_begin(&a);
		pause();
	}
	assert_int_equal(read(go[0], &(char){ 0 }, 1), 1);
	memcpy(fake_nic.setting, all_on, sizeof(all_on));
	b = stamping();
	assert_true(b.changed);
	assert_memory_equal(b.found, full.found, sizeof(full.found));
	nic_restore(&b);
	assert_setting("the other has not ended", all_on);
	nic_close(&b);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(go[0]);
	close(go[1]);
}

/* ---- Netlink that fails ---------------------------------------------------------------------------------------- */

static void test_netlink_broken(void **state)
{
	union address a = { .in = { .sin_family = AF_INET, .sin_addr = { htonl(0xc0000201) } } };
	int result, fd = lowest_free_fd();
	struct nic n;

	(void)state;
	fake_on(&full);
	netlink_broken = true;
	assert_int_equal(nic_open(&n, "fake0"), 0);
	CAPTURED(result, nic_check_address(&n, &a));
	assert_int_equal(result, -EIO);
	ASSERT_SAID("cannot ask the kernel for the route to address '192.0.2.1' through interface 'fake0'",
		    "Input/output error");
	CAPTURED(result, nic_check_address(&n, NULL));
	assert_int_equal(result, -EIO);
	ASSERT_SAID("cannot list the addresses of interface 'fake0'");
	CAPTURED(result, nic_stamp(&n));
	assert_int_equal(result, 0);
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

static int never(struct nl_msg *m, void *context)
{
	(void)m;
	(void)context;
	fail();
	return NL_OK;
}

static void test_netlink_silent(void **state)
{
	struct nl_sock *s = netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(NLMSG_NOOP, 0); /* the kernel answers nothing to it */
	int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);

	(void)state;
	assert_non_null(s);
	assert_non_null(m);
	assert_int_equal(netlink_ask(s, m, never, NULL), -EIO);
	assert_in_range(clock_read_ns(CLOCK_MONOTONIC) - began_ns, NETLINK_LIMIT_S * NS_PER_S / 2, 60 * NS_PER_S);
	nlmsg_free(m);
	nl_socket_free(s);
}

/* ---- Names ----------------------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	char text[NIC_NAMES_BYTES];

	(void)state;
	names_of(filter_names, COUNT(filter_names), UINT32_MAX, text);
	assert_string_equal(text + strlen(text) - 8, " ntp-all"); /* all fit */
	assert_string_equal(names_of(filter_names, COUNT(filter_names), 0, text), "nothing");
	assert_string_equal(names_of(filter_names, COUNT(filter_names), BIT(16) | BIT(31), text), "nothing");
	assert_string_equal(names_of(filter_names, COUNT(filter_names), BIT(15) | 1, text), "none ntp-all");
	assert_string_equal(name_of(filter_names, COUNT(filter_names), 15), "ntp-all");
	assert_string_equal(name_of(filter_names, COUNT(filter_names), 16), "unknown");
	assert_string_equal(name_of(tx_names, COUNT(tx_names), -1), "unknown");
}

/* ---- TSINFO messages, built by hand ---------------------------------------------------------------------------- */

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

/* Parses a copy of exactly the message's size, so that the sanitizer sees a step over its end. */
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
	nla_put_u32(m, 8, 1); /* HWTSTAMP_SOURCE: newer than this program */
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
	assert_false(parse(m, &can)); /* not what was asked for: the ioctl knows */
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

/* ---- Stamps as the driver counts them -------------------------------------------------------------------------- */

static struct nlattr *stamp_stats_begin(struct nl_msg **m)
{
	*m = tsinfo_begin(ETHTOOL_MSG_TSINFO_GET_REPLY);
	return nla_nest_start(*m, TSINFO_STATS);
}

/* From a copy of its own length, so that ASan sees what is read behind it. */
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
	nla_put_u32(m, TS_STAT_TX_ERR + 1, 99); /* what later kernels tell more */
	nla_nest_end(m, nest);
	counts = stamp_counts(m);
	assert_int_equal(counts.sent, 0x500000001);
	assert_int_equal(counts.lost, 0xfffffffe);
	assert_int_equal(counts.errors, 3);
	assert_int_equal(counts.has, 7);
	/* Not counted is not 0. */
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

/* ---- The real kernel, in a network namespace made for one test ------------------------------------------------- */

static int home = -1;

static int namespace_enter(void **state)
{
	(void)state;
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0 || unshare(CLONE_NEWNET) < 0) {
		print_message("skipped: cannot make a network namespace, which needs root: %s\n", strerror(errno));
		if (home >= 0)
			close(home);
		home = -1;
	}
	return 0;
}

static int namespace_leave(void **state)
{
	(void)state;
	if (home >= 0 && setns(home, CLONE_NEWNET) < 0)
		abort(); /* later tests would run in the wrong place */
	if (home >= 0)
		close(home);
	home = -1;
	return 0;
}

static void ip(const char *arguments)
{
	char command[256];

	snprintf(command, sizeof(command), "ip %s", arguments);
	assert_int_equal(system(command), 0);
}

/* va - vb and vc - vd, all up; va has 10.77.1.1/24, vc 10.77.2.1/24. */
static void make_links(void)
{
	if (home < 0)
		skip();
	ip("link set lo up");
	ip("link add va type veth peer name vb");
	ip("link add vc type veth peer name vd");
	ip("address add 10.77.1.1/24 dev va");
	ip("address add 10.77.2.1/24 dev vc");
	ip("link set va up");
	ip("link set vb up");
	ip("link set vc up");
	ip("link set vd up");
}

static struct nic opened(const char *name)
{
	struct nic n;
	int result;

	CAPTURED(result, nic_open(&n, name));
	assert_int_equal(result, 0);
	assert_silent();
	return n;
}

static int check(const struct nic *n, const char *server)
{
	union address a = { .in = { .sin_family = AF_INET } };
	int result;

	assert_int_equal(inet_pton(AF_INET, server, &a.in.sin_addr), 1);
	CAPTURED(result, nic_check_address(n, &a));
	if (!result)
		assert_silent();
	return result;
}

static void test_kernel_not_found(void **state)
{
	int result, fd = lowest_free_fd();
	struct nic n;

	(void)state;
	make_links();
	CAPTURED(result, nic_open(&n, "eth9"));
	assert_int_equal(result, -ENODEV);
	ASSERT_SAID("interface 'eth9' not found in this network namespace", "'ip link'", "nsenter --net=");
	assert_int_equal(n.control_fd, -1);
	CAPTURED(result, nic_open(&n, "va:1"));
	assert_int_equal(result, -ENODEV);
	ASSERT_SAID("interface 'va:1' not found");
	CAPTURED(result, nic_open(&n, ""));
	assert_int_equal(result, -ENODEV);
	ASSERT_SAID("interface '' not found");
	CAPTURED(result, nic_open(&n, "a23456789012345"));
	assert_int_equal(result, -ENODEV);
	ASSERT_SAID("'a23456789012345' not found");
	CAPTURED(result, nic_open(&n, "a234567890123456"));
	assert_int_equal(result, -ENODEV);
	ASSERT_SAID("'a234567890123456' is longer than 15 characters", "'ip link'");
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

/* What the driver says of the link counts; the flag, which comes late, only where it says nothing. */
static void test_find(void **state)
{
	char mac[NIC_MAC_BYTES] = "kept";
	struct nic n;
	int result, fd = lowest_free_fd();

	(void)state;
	fake_on(&full);
	fake_nic.down = fake_nic.no_link = true;
	CAPTURED(result, nic_open(&n, "fake0"));
	assert_int_equal(result, -ENETDOWN);
	ASSERT_SAID("interface 'fake0' is down");
	assert_int_equal(n.control_fd, -1);
	CAPTURED(result, nic_find(&n, "fake0"));
	assert_int_equal(result, 0);
	assert_silent();
	assert_int_equal(n.index, 7);
	assert_int_equal(n.flags & IFF_UP, 0);
	assert_string_equal(n.driver, "fake");
	/* The kernel's field need not be ended. */
	assert_string_equal(n.bus, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
	assert_false(nic_has_carrier(&n));
	fake_nic.no_link = false;
	assert_true(nic_has_carrier(&n));
	fake_nic.mac_error = EIO;
	assert_int_equal(nic_read_mac(&n, mac), -EIO);
	assert_string_equal(mac, "kept");
	fake_nic.mac_error = 0;
	assert_int_equal(nic_read_mac(&n, mac), 0);
	assert_string_equal(mac, "02:fe:00:10:0a:ff");
	nic_close(&n);
	assert_int_equal(fake.sets, 0);
	assert_int_equal(lowest_free_fd(), fd);
}

static void test_link(void **state)
{
	static const struct {
		int words, errors[2];
		uint32_t speed;
		uint8_t duplex;
		int result, speed_mbps, expected;
	} cases[] = {
		{ 3, { 0, 0 }, 1000, DUPLEX_FULL, 0, 1000, NIC_DUPLEX_FULL },
		{ 3, { 0, 0 }, 10, DUPLEX_HALF, 0, 10, NIC_DUPLEX_HALF },
		{ 127, { 0, 0 }, 800000, DUPLEX_FULL, 0, 800000, NIC_DUPLEX_FULL },
		{ 3, { 0, 0 }, 0, DUPLEX_UNKNOWN, 0, -1, NIC_DUPLEX_UNKNOWN },
		{ 3, { 0, 0 }, (uint32_t)SPEED_UNKNOWN, DUPLEX_UNKNOWN, 0, -1, NIC_DUPLEX_UNKNOWN },
		{ 3, { 0, 0 }, INT_MAX, 77, 0, INT_MAX, NIC_DUPLEX_UNKNOWN },
		{ 3, { 0, 0 }, INT_MAX + 1U, DUPLEX_FULL, 0, -1, NIC_DUPLEX_FULL },
		{ 3, { EOPNOTSUPP, 0 }, 1000, DUPLEX_FULL, -EOPNOTSUPP, 42, NIC_DUPLEX_HALF },
		{ 3, { 0, ENODEV }, 1000, DUPLEX_FULL, -ENODEV, 42, NIC_DUPLEX_HALF },
		{ 0, { 0, 0 }, 1000, DUPLEX_FULL, 0, 1000, NIC_DUPLEX_FULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct nic_link link = { .speed_mbps = 42, .duplex = NIC_DUPLEX_HALF };
		struct nic n;

		fake_on(&full);
		fake.link_words = cases[i].words;
		memcpy(fake.settings_error, cases[i].errors, sizeof(fake.settings_error));
		fake.speed = cases[i].speed;
		fake.duplex = cases[i].duplex;
		assert_int_equal(nic_find(&n, "fake0"), 0);
		assert_int_equal(nic_read_link(&n, &link), cases[i].result);
		assert_int_equal(link.speed_mbps, cases[i].speed_mbps);
		assert_int_equal(link.duplex, cases[i].expected);
		nic_close(&n);
	}
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
	assert_false(nic_stamps_all(setting));
	fake_nic.setting[1] = HWTSTAMP_TX_ON;
	fake_nic.setting[2] = HWTSTAMP_FILTER_ALL;
	assert_int_equal(nic_read_setting(&n, setting), 0);
	assert_true(nic_stamps_all(setting));
	fake_nic.get_error = EOPNOTSUPP;
	assert_int_equal(nic_read_setting(&n, setting), -EOPNOTSUPP);
	assert_int_equal(fake.sets, 0);
	nic_close(&n);
}

static void test_public_names(void **state)
{
	char text[NIC_NAMES_BYTES];

	(void)state;
	assert_string_equal(nic_tx_type_name(HWTSTAMP_TX_ONESTEP_SYNC), "onestep-sync");
	assert_string_equal(nic_tx_type_name(99), "unknown");
	assert_string_equal(nic_filter_name(HWTSTAMP_FILTER_PTP_V2_EVENT), "ptpv2-event");
	assert_string_equal(nic_filter_name(-1), "unknown");
	assert_ptr_equal(nic_filter_names(NONE_ALL, text), text);
	assert_string_equal(text, "none all");
	assert_string_equal(nic_stamping_names(SOF_TIMESTAMPING_TX_HARDWARE, text), "hardware-transmit");
	assert_string_equal(nic_stamping_names(0, text), "nothing");
}

static void test_carrier(void **state)
{
	static const struct {
		int link_error;
		bool no_link, not_running, warned;
	} rows[] = {
		{ 0, false, true, false },
		{ 0, true, false, true },
		{ EOPNOTSUPP, true, false, false },
		{ EOPNOTSUPP, false, true, true },
	};
	static const struct script plain = { .name = "carrier" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct nic n;
		int result;

		fake_on(&plain);
		fake_nic.link_error = rows[i].link_error;
		fake_nic.no_link = rows[i].no_link;
		fake_nic.not_running = rows[i].not_running;
		CAPTURED(result, nic_open(&n, "fake0"));
		nic_close(&n);
		assert_int_equal(result, 0);
		if (rows[i].warned)
			ASSERT_SAID("warning: interface 'fake0' has no carrier");
		else
			assert_silent();
	}
}

static void test_kernel_down(void **state)
{
	struct nic n;
	int result;

	(void)state;
	make_links();
	ip("link set va down");
	CAPTURED(result, nic_open(&n, "va"));
	assert_int_equal(result, -ENETDOWN);
	ASSERT_SAID("interface 'va' is down", "'ip link set va up'");
}

static void test_kernel_no_carrier(void **state)
{
	struct nic n;
	int result;

	(void)state;
	make_links();
	ip("link set vb down");
	CAPTURED(result, nic_open(&n, "va"));
	assert_int_equal(result, 0);
	ASSERT_SAID("warning: interface 'va' has no carrier");
	nic_close(&n);
}

static void test_kernel_alternative_name(void **state)
{
	struct nic n;

	(void)state;
	make_links();
	ip("link property add dev va altname another");
	n = opened("another");
	assert_string_equal(n.name, "va");
	assert_int_equal(n.index, if_nametoindex("va"));
	nic_close(&n);
}

static void test_kernel_own_address(void **state)
{
	static const char *const own[] = { "10.77.1.1", "10.77.2.1", "127.0.0.1", NULL };
	struct nic n;

	(void)state;
	make_links();
	/* With this route even the address of the other interface looks reachable through va. */
	ip("route add default via 10.77.1.2 dev va");
	n = opened("va");
	for (const char *const *a = own; *a; a++) {
		assert_int_equal(check(&n, *a), -EADDRNOTAVAIL);
		ASSERT_SAID(*a, "is this host's own address", "never reach the NIC");
	}
	nic_close(&n);
	n = opened("lo");
	assert_int_equal(check(&n, "127.0.0.1"), 0);
	assert_int_equal(check(&n, "10.77.1.1"), 0);
	assert_int_equal(check(&n, "10.77.1.2"), -EHOSTUNREACH);
	nic_close(&n);
}

/* As in a VRF: only a query that names the interface finds the table with the local address. */
static void test_kernel_own_address_by_rule(void **state)
{
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	ip("rule add pref 0 oif va table local");
	ip("rule del pref 0 from all table local");
	assert_int_equal(check(&n, "10.77.1.1"), -EADDRNOTAVAIL);
	ASSERT_SAID("is this host's own address");
	assert_int_equal(check(&n, "10.77.1.255"), -EADDRNOTAVAIL);
	ASSERT_SAID("is not a single host");
	nic_close(&n);
}

static void test_kernel_not_a_host(void **state)
{
	static const char *const not_hosts[] = { "224.0.0.1", "239.1.2.3", "255.255.255.255", "0.0.0.0", "10.77.1.255",
						 "10.77.2.255", NULL };
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	for (int with_default = 0; with_default < 2; with_default++) {
		for (const char *const *a = not_hosts; *a; a++) {
			assert_int_equal(check(&n, *a), -EADDRNOTAVAIL);
			ASSERT_SAID(*a, "is not a single host", "--address");
		}
		if (!with_default)
			ip("route add default via 10.77.1.2 dev va");
	}
	nic_close(&n);
}

static void test_kernel_route(void **state)
{
	int fd = lowest_free_fd();
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	assert_int_equal(check(&n, "10.77.1.2"), 0);
	assert_int_equal(check(&n, "192.0.2.1"), -EHOSTUNREACH);
	ASSERT_SAID("no route to address '192.0.2.1' through interface 'va'", "ip route add 192.0.2.1 dev va");
	assert_int_equal(check(&n, "10.77.2.2"), -EHOSTUNREACH);
	ASSERT_SAID("is reached through interface 'vc', not 'va'", "--interface vc");
	ip("route add 10.77.2.2 dev va");
	assert_int_equal(check(&n, "10.77.2.2"), 0);
	ip("route add default via 10.77.1.2 dev va");
	assert_int_equal(check(&n, "192.0.2.1"), 0);
	ip("route add blackhole 198.51.100.0/24");
	assert_int_equal(check(&n, "198.51.100.7"), -EHOSTUNREACH);
	ASSERT_SAID("no route to address '198.51.100.7' through interface 'va'");
	ip("route add 203.0.113.0/24 nexthop via 10.77.1.2 dev va nexthop via 10.77.2.2 dev vd onlink");
	assert_int_equal(check(&n, "203.0.113.1"), 0);
	nic_close(&n);
	n = opened("vc");
	assert_int_equal(check(&n, "203.0.113.1"), -EHOSTUNREACH);
	ASSERT_SAID("no route to address '203.0.113.1' through interface 'vc'");
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

static void test_kernel_family(void **state)
{
	union address a = { .in6 = { .sin6_family = AF_INET6 } };
	int result;
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	CAPTURED(result, nic_check_address(&n, &a));
	assert_int_equal(result, -EAFNOSUPPORT);
	ASSERT_SAID("no IPv4 address: give --address");
	nic_close(&n);
}

static void test_kernel_no_address(void **state)
{
	int result;
	struct nic n;

	(void)state;
	make_links();
	n = opened("vb");
	CAPTURED(result, nic_check_address(&n, NULL));
	assert_int_equal(result, -EADDRNOTAVAIL);
	ASSERT_SAID("interface 'vb' has no IPv4 address", "ip address add ADDRESS/PREFIX dev vb");
	ip("address add 10.77.9.1/24 dev vb label vb:x");
	CAPTURED(result, nic_check_address(&n, NULL));
	assert_int_equal(result, 0);
	assert_silent();
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
	CAPTURED(result, nic_stamp(&n));
	assert_int_equal(result, -EOPNOTSUPP);
	ASSERT_SAID("interface 'va' (driver 'veth') has no hardware clock", "--stamp kernel works on any interface");
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

/* veth counts none; the request itself is one that the kernel takes. */
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

#define SHARED(test) cmocka_unit_test_setup_teardown(test, share_enter, share_exit)
#define IN_NAMESPACE(test) cmocka_unit_test_setup_teardown(test, namespace_enter, namespace_leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_close_restores, fake_off),
		cmocka_unit_test_teardown(test_signal_while_setting, fake_off),
		SHARED(test_shared_in_each_order),
		SHARED(test_shared_one_after_another),
		SHARED(test_nothing_to_share),
		SHARED(test_shared_and_lost),
		SHARED(test_shared_with_a_dead_one),
		SHARED(test_no_file_to_share),
		SHARED(test_a_file_of_somebody_else),
		SHARED(test_a_file_that_is_just_gone),
		SHARED(test_both_end_at_once),
		SHARED(test_shared_with_a_slow_one),
		cmocka_unit_test_teardown(test_netlink_broken, fake_off),
		cmocka_unit_test_teardown(test_carrier, fake_off),
		cmocka_unit_test_teardown(test_find, fake_off),
		cmocka_unit_test_teardown(test_link, fake_off),
		cmocka_unit_test_teardown(test_read_setting, fake_off),
		cmocka_unit_test(test_public_names),
		cmocka_unit_test(test_netlink_silent),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_tsinfo_full),
		cmocka_unit_test(test_tsinfo_absent),
		cmocka_unit_test(test_tsinfo_short),
		cmocka_unit_test(test_tsinfo_phc_size),
		cmocka_unit_test(test_tsinfo_bitset_size),
		cmocka_unit_test(test_tsinfo_verbose_bitset),
		cmocka_unit_test(test_tsinfo_random),
		cmocka_unit_test(test_stamp_counts),
		cmocka_unit_test(test_stamp_counts_of_other_lengths),
		IN_NAMESPACE(test_kernel_not_found),
		IN_NAMESPACE(test_kernel_down),
		IN_NAMESPACE(test_kernel_no_carrier),
		IN_NAMESPACE(test_kernel_alternative_name),
		IN_NAMESPACE(test_kernel_own_address),
		IN_NAMESPACE(test_kernel_own_address_by_rule),
		IN_NAMESPACE(test_kernel_not_a_host),
		IN_NAMESPACE(test_kernel_route),
		IN_NAMESPACE(test_kernel_family),
		IN_NAMESPACE(test_kernel_no_address),
		IN_NAMESPACE(test_kernel_veth_has_no_clock),
		IN_NAMESPACE(test_kernel_set_needs_permission),
		IN_NAMESPACE(test_kernel_counts_no_stamps),
	};
	struct CMUnitTest scripted[COUNT(scripts)];
	int failed;

	util_seed();
	for (size_t i = 0; i < COUNT(scripts); i++)
		scripted[i] = (struct CMUnitTest){ .name = scripts[i].name, .test_func = test_script,
						   .teardown_func = fake_off, .initial_state = (void *)&scripts[i] };
	failed = cmocka_run_group_tests_name("nic scripts", scripted, NULL, NULL);
	return cmocka_run_group_tests_name("nic", tests, NULL, NULL) + failed;
}
