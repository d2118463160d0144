// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several rants on one NIC. Each rant holds a shared lock on a file per NIC. The file stores the setting that the first
 * rant found; the last rant restores it. The lock is exclusive while a setting is made or restored, and the kernel
 * drops it when the process ends in any manner. F_OFD_SETLK of fcntl(2) converts between shared and exclusive without a
 * gap; flock(2) does not.
 */
#include "host/nic/nic_inside.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *share_folder = "/run";

#define SHARE_TRIES 500 /* 10 ms each: some drivers take a second to set the NIC */

static bool share_lock(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &lock);
}

/* Content of the shared file. */
struct shared {
	int found[3], set[3];
	struct nic_switch provider_switch;
};

static bool read_shared(struct nic *n, int fd)
{
	struct shared s = { .provider_switch.done = false };
	const ssize_t bytes = pread(fd, &s, sizeof(s), 0);

	/* An earlier version wrote the settings only. */
	if (bytes != sizeof(s) && bytes != offsetof(struct shared, provider_switch))
		return false;
	n->provider_switch = s.provider_switch;
	memcpy(n->found, s.found, sizeof(s.found));
	memcpy(n->set, s.set, sizeof(s.set));
	return true;
}

bool nic_share_join(struct nic *n)
{
	const struct timespec pause = { .tv_nsec = 10 * NS_PER_MS };
	struct stat space;

	n->share_fd = -1;
	if (stat("/proc/self/ns/net", &space))
		return false;
	snprintf(n->share_path, sizeof(n->share_path), "%s/rant-stamping-%ju-%d", share_folder, (uintmax_t)space.st_ino,
		 n->stamper);
	for (int i = 0; i < SHARE_TRIES; i++) {
		int fd = open(n->share_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		struct stat file;

		if (fd < 0)
			return false;

		bool alone = share_lock(fd, F_WRLCK), locked = alone || share_lock(fd, F_RDLCK);

		if (fstat(fd, &file) || !S_ISREG(file.st_mode) || file.st_uid != geteuid()) {
			close(fd);
			return false;
		}
		/* The last rant may have unlinked the file in the meantime: then open it again. */
		if (locked && file.st_nlink &&
		    (alone || read_shared(n, fd))) {
			n->share_fd = fd;
			return !alone;
		}
		close(fd);
		nanosleep(&pause, NULL);
	}
	return false;
}

void nic_share_begin(const struct nic *n)
{
	struct shared s = { .provider_switch = n->provider_switch };

	memcpy(s.found, n->found, sizeof(s.found));
	memcpy(s.set, n->set, sizeof(s.set));
	if (n->share_fd >= 0 && pwrite(n->share_fd, &s, sizeof(s), 0) == sizeof(s))
		share_lock(n->share_fd, F_RDLCK);
}

bool nic_share_leave(struct nic *n)
{
	if (n->share_fd < 0)
		return true;
	if (!share_lock(n->share_fd, F_UNLCK) || !share_lock(n->share_fd, F_WRLCK))
		return false;
	read_shared(n, n->share_fd);
	return true;
}

void nic_share_end(struct nic *n, bool alone)
{
	if (n->share_fd < 0)
		return;
	if (alone)
		unlink(n->share_path);
	close(n->share_fd);
	n->share_fd = -1;
}
