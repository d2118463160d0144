/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up machine for the tests of the doctor: files below a folder of the test's own, a fake NIC behind ioctl, and a
 * clock that goes on a fixed time with each reading. Include it after doctor/files.c, whose root is that folder, and
 * util.h; wraps=ioctl,genl_ctrl_resolve,clock_gettime,getsockopt,getrlimit,
 * nic_check_address, nic_find_own, nic_read_napis.
 */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include "doctor/inside.h"
#include "golden.h"
#include "host/nic/nic_inside.h"
#include "host/nic/nic_napi.h"
#include "options.h"
#include "wire/socket.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "fake_nic.h"

/* ---- Folder of the machine --------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/rant-check.XXXXXX";

static void make_folders(char *path)
{
	for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
}

/* text NULL: a folder; "->X": a link to X. */
static void put_bytes(const char *path, const char *text, size_t bytes)
{
	char full[PATH_MAX];
	int fd;

	snprintf(full, sizeof(full), "%s%s%s", folder, path, text ? "" : "/");
	make_folders(full);
	if (!text)
		return;
	if (!strncmp(text, "->", 2)) {
		assert_int_equal(symlink(text + 2, full), 0);
		return;
	}
	fd = open(full, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, bytes), bytes);
	close(fd);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, text ? strlen(text) : 0);
}

static void remove_all(const char *path)
{
	struct dirent *d;
	DIR *f = opendir(path);
	char full[PATH_MAX];

	while (f && (d = readdir(f))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		snprintf(full, sizeof(full), "%s/%s", path, d->d_name);
		if (d->d_type == DT_DIR) {
			remove_all(full);
			assert_int_equal(rmdir(full), 0);
		} else {
			assert_int_equal(unlink(full), 0);
		}
	}
	if (f)
		closedir(f);
}

/* ---- Fake kernel, off until set_up(); the NIC is fake_nic.h ------------------------------------------------------ */

#define HARDWARE FAKE_NIC_HARDWARE
#define ALL (1U << HWTSTAMP_FILTER_NONE | 1U << HWTSTAMP_FILTER_ALL)
#define PTP_ONLY (1U << HWTSTAMP_FILTER_NONE | 1U << HWTSTAMP_FILTER_PTP_V2_EVENT)

static struct {
	int speed, duplex, settings_error;
	struct ethtool_coalesce coalesce;
	struct ethtool_ringparam ring;
	struct ethtool_channels channels;
	struct ethtool_pauseparam pause;
	bool gro, lro, tso;
	int napis; /* number, or -errno */
	struct nic_napi napi[4];
	int ask_error; /* of all settings */
	int busy_poll_error;
	bool socket_in_ipv6;
	const char *address_refused, *socket_refused; /* lines that rant then prints */
	const union address *asked_for;
	uint64_t memlock;
	/* The clock: duration of a reading, and one reading that takes longer. */
	int64_t now_ns, reading_ns, long_reading_ns;
	long readings, long_reading_at;
	/* The NIC's clock, which begins at 10^18. */
	int64_t phc_step_ns, phc_ppm, phc_jump_ns;
	bool phc_stands;
	int phc_error;
	long phc_error_from, phc_error_every; /* of the readings; 0: each */
	int64_t phc_error_ns; /* that such a reading takes */
	int64_t phc_stall_ns; /* of the 30th reading */
	long phc_readings;
} fake;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __real_getrlimit(__rlimit_resource_t what, struct rlimit *limit);
int __wrap_getrlimit(__rlimit_resource_t what, struct rlimit *limit);

#define ANSWER(type, answer)                                   \
	do {                                                   \
		uint32_t asked = *(uint32_t *)data;            \
							       \
		if (!fake.ask_error) {                         \
			*(type *)data = (answer);              \
			*(uint32_t *)data = asked;             \
		}                                              \
		return fail_with(fake.ask_error);              \
	} while (0)

static int fake_ethtool(void *data)
{
	struct ethtool_link_settings *link = data;

	switch (*(uint32_t *)data) {
	case ETHTOOL_GLINKSETTINGS:
		link->link_mode_masks_nwords = 0;
		link->speed = (uint32_t)fake.speed;
		link->duplex = (uint8_t)fake.duplex;
		return fail_with(fake.settings_error);
	case ETHTOOL_GGRO:
		ANSWER(struct ethtool_value, ((struct ethtool_value){ .data = fake.gro }));
	case ETHTOOL_GTSO:
		ANSWER(struct ethtool_value, ((struct ethtool_value){ .data = fake.tso }));
	case ETHTOOL_GFLAGS: /* other flags are on too */
		ANSWER(struct ethtool_value, ((struct ethtool_value){
			.data = ETH_FLAG_RXHASH | (fake.lro ? ETH_FLAG_LRO : 0) }));
	case ETHTOOL_GCOALESCE:
		ANSWER(struct ethtool_coalesce, fake.coalesce);
	case ETHTOOL_GRINGPARAM:
		ANSWER(struct ethtool_ringparam, fake.ring);
	case ETHTOOL_GCHANNELS:
		ANSWER(struct ethtool_channels, fake.channels);
	case ETHTOOL_GPAUSEPARAM:
		ANSWER(struct ethtool_pauseparam, fake.pause);
	}
	fail_msg("ethtool command %#x", *(uint32_t *)data);
	return -1;
}

static int fake_phc(struct timespec *t)
{
	int64_t ns = fake.now_ns + fake.now_ns / 1000000 * fake.phc_ppm;
	bool fails = fake.phc_readings >= fake.phc_error_from &&
		     (!fake.phc_error_every || fake.phc_readings % fake.phc_error_every == 0);

	ns += ++fake.phc_readings > 50 ? fake.phc_jump_ns : 0;
	ns = fake.phc_stands ? 0 : ns / fake.phc_step_ns * fake.phc_step_ns;
	ns += 1000000000 * NS_PER_S;
	*t = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
	fake.now_ns += fake.phc_error && fails ? fake.phc_error_ns : 0;
	fake.now_ns += fake.phc_readings == 30 ? fake.phc_stall_ns : 0;
	return fail_with(fails ? fake.phc_error : 0);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!fake_nic.on)
		return __real_clock_gettime(clock, t);
	fake.readings++;
	fake.now_ns += fake.readings == fake.long_reading_at ? fake.long_reading_ns : fake.reading_ns;
	if (clock < 0)
		return fake_phc(t);
	*t = (struct timespec){ fake.now_ns / NS_PER_S, fake.now_ns % NS_PER_S };
	return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	if (!fake_nic.on)
		return __real_getsockopt(fd, level, name, value, bytes);
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_BUSY_POLL);
	return fail_with(fake.busy_poll_error);
}

int __wrap_getrlimit(__rlimit_resource_t what, struct rlimit *limit)
{
	if (!fake_nic.on)
		return __real_getrlimit(what, limit);
	assert_int_equal(what, RLIMIT_MEMLOCK);
	*limit = (struct rlimit){ fake.memlock, RLIM_INFINITY };
	return 0;
}

static int refuse(const char *text)
{
	if (text)
		warnx("%s", text);
	return text ? -EPERM : 0;
}

int __wrap_nic_check_address(const struct nic *n, const union address *server);
int __wrap_nic_check_address(const struct nic *n, const union address *server)
{
	assert_string_equal(n->name, "fake0");
	fake.asked_for = server;
	return refuse(fake.address_refused);
}

int __wrap_nic_find_own(struct nic *n, int family);
int __wrap_nic_find_own(struct nic *n, int family)
{
	assert_string_equal(n->name, "fake0");
	assert_int_equal(family, AF_UNSPEC);
	fake.asked_for = NULL;
	n->first6.any.sa_family = AF_INET6;
	return refuse(fake.address_refused);
}

int __wrap_nic_read_napis(const struct nic *n, struct nic_napi list[NIC_NAPIS]);
int __wrap_nic_read_napis(const struct nic *n, struct nic_napi list[NIC_NAPIS])
{
	assert_string_equal(n->name, "fake0");
	if (fake.napis > 0)
		memcpy(list, fake.napi, (size_t)fake.napis * sizeof(*list));
	return fake.napis;
}

int socket_open(struct channel *channel, const struct options *o, const struct nic *n)
{
	(void)o;
	fake.socket_in_ipv6 = n->first6.any.sa_family == AF_INET6;
	channel->peer_socket[0].fd = 77;
	return refuse(fake.socket_refused);
}

void socket_close(struct channel *channel)
{
	assert_int_equal(channel->peer_socket[0].fd, 77);
}

/* ---- A check of a machine ---------------------------------------------------------------------------------------- */

static struct check c;
static struct options options;
static char said[16384];

/* A machine where all is well: this process on CPU 3 with SCHED_FIFO 22, a NIC that stamps everything. */
static void set_up(void)
{
	remove_all(folder);
	root = folder;
	memset(&fake, 0, sizeof(fake));
	memset(&fake_nic, 0, sizeof(fake_nic));
	fake_nic.driver = "igc";
	fake_nic.bus = "0000:01:00.0";
	memcpy(fake_nic.mac, "\x02\0\0\0\0\x01", sizeof(fake_nic.mac));
	fake_nic.ethtool = fake_ethtool;
	fake_nic.can = (struct nic_abilities){ HARDWARE, 1U << HWTSTAMP_TX_ON | 1, ALL, 0 };
	fake.speed = 1000;
	fake.duplex = DUPLEX_FULL;
	fake.channels.combined_count = 1;
	fake.ring = (struct ethtool_ringparam){ .rx_pending = 512, .tx_pending = 512 };
	fake.reading_ns = 25;
	fake.phc_step_ns = 8;
	fake.memlock = RLIM_INFINITY;
	options = (struct options){ .interface = "fake0", .stamp = SOURCE_HARDWARE };
	c = (struct check){ .options = &options, .policy = SCHED_FIFO, .priority = 22 };
	c.nic = (struct nic){ .name = "fake0", .driver = "igc", .bus = "0000:01:00.0", .index = 7,
			      .flags = IFF_UP | IFF_RUNNING, .can = fake_nic.can, .control_fd = 1000 };
	CPU_SET(3, &c.cpus);
	fake_nic.on = true;
}

static int tear_down(void **state)
{
	(void)state;
	fake_nic.on = false;
	root = "";
	remove_all(folder);
	return 0;
}

static inline const struct check_row *row_of(const char *subject)
{
	static const struct check_row *const all[] = {
		check_stamps_rows, check_link_rows, check_napi_rows, check_refusals_rows, check_clocks_rows,
		check_interrupts_rows, check_placement_rows, check_core_rows, check_kernel_rows, check_memory_rows, check_privileges_rows,
	};

	for (size_t i = 0; i < COUNT_OF(all); i++)
		for (const struct check_row *r = all[i]; r->subject; r++)
			if (!strcmp(r->subject, subject))
				return r;
	fail_msg("no row '%s'", subject);
	return NULL;
}

static void begin_capture(FILE **out, char **text, size_t *bytes)
{
	*out = open_memstream(text, bytes);
	assert_non_null(*out);
	c.out = *out;
}

static void end_capture(FILE *out, char **text)
{
	fclose(out);
	snprintf(said, sizeof(said), "%s", *text);
	free(*text);
	c.out = NULL;
}

static inline void look_quietly(const char *subject)
{
	char *text;
	size_t bytes;
	FILE *out;

	begin_capture(&out, &text, &bytes);
	c.row = row_of(subject);
	c.row->look(&c);
	end_capture(out, &text);
}

/* The text of a check goes into the golden file. */
static inline void look(const char *subject)
{
	look_quietly(subject);
	golden("%s", *said ? said : "(nothing)\n");
}

#define DEVICE "/sys/bus/pci/devices/0000:01:00.0" /* of the fake NIC */

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

/* For the whole group. */
static int make_machine(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_machine(void **state)
{
	(void)state;
	return rmdir(folder);
}

#endif
