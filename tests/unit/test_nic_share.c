// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,fcntl,genl_ctrl_resolve,nl_connect sources=host/nic/nic.c,host/nic/nic_abilities.c,host/nic/nic_address.c,host/nic/nic_names.c,host/nic/nic_netlink.c,host/nic/nic_provider.c,host/nic/nic_stamp.c,host/nic/nic_lower.c libs=-lnl-3 -lnl-genl-3 */
/* nic_share.c: several rants on one simulated NIC, ending in each order, with foreign files and programs. */
#include "host/nic/nic_share.c"

#include <signal.h>
#include <sys/wait.h>

#include "host/nic/nic_stamp.h"
#include "util.h"

#include "nic_bench.h"

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

static bool unlink_before_lock; /* at the next lock only */

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
	assert_int_equal(nic_stamp(&n, &udp), 0);
	return n;
}

static const int all_on[3] = { 0, 1, 1 };

static struct nic stamping_for(enum transport_kind transport)
{
	const struct options o = { .transport = transport, .ptp_type = PTP_TYPE_DELAY_REQ };
	struct nic n;

	assert_int_equal(nic_open(&n, "fake0"), 0);
	assert_int_equal(nic_stamp(&n, &o), 0);
	return n;
}

/* Each rant widens the filter; in each order of ending, the last rant restores the setting that the first found. */
static void test_shared_by_several_transports(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	static const struct script s = { .can = { HARDWARE, OFF_ON, NONE_ALL | BIT(HWTSTAMP_FILTER_PTP_V2_L4_EVENT) |
								    BIT(HWTSTAMP_FILTER_PTP_V2_EVENT), 5 },
								    .found = { 0, 0, 0 } };
	static const int l4[3] = { 0, 1, HWTSTAMP_FILTER_PTP_V2_L4_EVENT },
				 both[3] = { 0, 1, HWTSTAMP_FILTER_PTP_V2_EVENT };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(orders); i++) {
		struct nic n[3];

		fake_on(&s);
		n[0] = stamping_for(TRANSPORT_PTP);
		assert_setting("the first", l4);
		n[1] = stamping_for(TRANSPORT_L2);
		assert_setting("the second", both);
		n[2] = stamping_for(TRANSPORT_UDP);
		assert_setting("the third", all_on);
		for (int k = 0; k < 2; k++) {
			nic_close(&n[orders[i][k]]);
			assert_setting("the first has ended", all_on);
		}
		nic_close(&n[orders[i][2]]);
		assert_setting("all have ended", s.found);
	}
}

/* In each order of ending, the last rant restores the setting that the first rant found. */
static void test_shared_in_each_order(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	int fd = lowest_free_fd();

	(void)state;
	for (size_t i = 0; i < COUNT_OF(orders); i++) {
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
			assert_setting("the first has ended", all_on);
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

/* A setting that was on stays on, and no file is left in the folder, also after a request that fails. */
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
	CAPTURED(result, nic_stamp(&a, &udp));
	assert_int_equal(result, -EPERM);
	assert_false(has_share_file());
	nic_close(&a);
}

/* Another program changes the setting of the first rant; the second sets it again, and they do not share it. */
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

/* A rant that was killed: the kernel drops its lock, and the content of its file is ignored. */
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

/* A symbolic link, or a file of another user: not touched, and the NIC is not shared. */
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

/* The last rant unlinks the file between open(2) and the lock of this rant. */
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
	assert_setting("the first has ended", all_on);
	nic_close(&b);
	assert_setting("both have ended", full.found);
}

/* Both rants drop their lock before either checks whether it is alone. */
static void test_both_end_at_once(void **state)
{
	struct nic a, b;

	(void)state;
	fake_on(&full);
	a = stamping();
	b = stamping();
	assert_false(nic_share_leave(&a));
	assert_true(nic_share_leave(&b));
	assert_false(nic_share_leave(&a));
	nic_share_end(&a, false);
	nic_share_end(&b, true);
	nic_close(&a);
	nic_close(&b);
}

/* Another rant is setting the NIC: this rant waits. */
static void test_shared_with_a_slow_one(void **state)
{
	const struct timespec slow = { .tv_nsec = 60 * NS_PER_MS };
	struct nic a = { .index = 7, .stamper = 7 }, b;
	int go[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(go), 0);
	fake_on(&full);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(20);
		nic_share_join(&a);
		memcpy(a.found, full.found, sizeof(a.found));
		if (write(go[1], "", 1) != 1)
			_exit(1);
		nanosleep(&slow, NULL);
		nic_share_begin(&a);
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

/* The last rant reverts the selection that the first rant made. */
static void test_a_selected_provider(void **state)
{
	const struct nic_switch selected = { .done = true, .found = { .known = true, .phc_index = 5 },
					     .has_setting = true, .setting = { 0, 1, 12 } };
	struct nic a = { .index = 7, .stamper = 7, .provider_switch = selected }, b = { .index = 7, .stamper = 7 }, c = b;

	(void)state;
	assert_false(nic_share_join(&a));
	nic_share_begin(&a);
	assert_true(nic_share_join(&b));
	assert_true(b.provider_switch.done);
	assert_int_equal(b.provider_switch.found.phc_index, 5);
	assert_memory_equal(b.provider_switch.setting, selected.setting, sizeof(selected.setting));
	/* An earlier version of rant wrote the settings only. */
	assert_int_equal(truncate(share_file(), offsetof(struct shared, provider_switch)), 0);
	assert_true(nic_share_join(&c));
	assert_false(c.provider_switch.done);
	nic_share_end(&a, false);
	nic_share_end(&b, false);
	nic_share_end(&c, true);
}

#define SHARED(test) cmocka_unit_test_setup_teardown(test, share_enter, share_exit)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARED(test_shared_in_each_order), SHARED(test_shared_by_several_transports),
		SHARED(test_shared_one_after_another),
		SHARED(test_nothing_to_share),
		SHARED(test_shared_and_lost),
		SHARED(test_shared_with_a_dead_one),
		SHARED(test_no_file_to_share),
		SHARED(test_a_file_of_somebody_else),
		SHARED(test_a_file_that_is_just_gone),
		SHARED(test_both_end_at_once),
		SHARED(test_shared_with_a_slow_one),
		SHARED(test_a_selected_provider),
	};

	util_seed();
	return cmocka_run_group_tests_name("nic_share", tests, NULL, NULL);
}
