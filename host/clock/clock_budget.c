// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger has the grants of the last second. It is read, checked and written under a lock of the file, which the
 * kernel drops when a process ends in any manner; entries of such a process expire by their times.
 */
#include "host/clock/clock_budget.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VERSION 1
#define ALONE 4 /* a process without the file assumes this number of rants */
#define WINDOW_NS NS_PER_S
#define ACTIVE_NS (2 * NS_PER_S) /* a rant that requested nothing for this time has no share */
#define LOCK_TRIES 20 /* of 1 ms: the lock is held for microseconds */
#define WAIT_TRIES 150
#define WAIT_NS (20 * NS_PER_MS)

static const char *budget_folder = "/run/rant";

/* ---- The shared file --------------------------------------------------------------------------------------------- */

/* Nobody but this user can have made or replaced the file. 0, or an errno. */
static int check_owner(int fd, mode_t type)
{
	struct stat s;

	if (fstat(fd, &s))
		return errno;
	if ((s.st_mode & S_IFMT) != type || s.st_uid != geteuid() || s.st_mode & (S_IWGRP | S_IWOTH))
		return EPERM;
	return type == S_IFREG && s.st_nlink != 1 ? EPERM : 0;
}

/* A descriptor, or -errno. */
static int open_checked(int folder, const char *name, int flags, mode_t type)
{
	int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
	int error = fd < 0 ? errno : check_owner(fd, type);

	if (error && fd >= 0)
		close(fd);
	return error ? -error : fd;
}

static int open_shared(int phc_index)
{
	char name[32];
	int folder, fd;

	if (mkdir(budget_folder, 0700) && errno != EEXIST)
		return -errno;
	folder = open_checked(AT_FDCWD, budget_folder, O_RDONLY | O_DIRECTORY, S_IFDIR);
	if (folder < 0)
		return folder;
	snprintf(name, sizeof(name), "reads-ptp%d", phc_index);
	fd = open_checked(folder, name, O_RDWR | O_CREAT, S_IFREG);
	close(folder);
	return fd;
}

static bool lock(int fd, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };
	const struct timespec pause = { .tv_nsec = NS_PER_MS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!fcntl(fd, F_OFD_SETLK, &l))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* ---- The ledger -------------------------------------------------------------------------------------------------- */

/* A time in the future is of another boot or time namespace. */
static bool is_within(int64_t at_ns, int64_t now_ns, int64_t ns)
{
	return at_ns <= now_ns && at_ns > now_ns - ns;
}

/* Notes the request, and returns the number of rants that requested readings lately, this rant included. */
static uint32_t count_users(struct clock_ledger *l, uint64_t owner, int64_t now_ns)
{
	uint32_t users = 1;
	int place = -1;

	for (int i = 0; i < CLOCK_BUDGET_USERS; i++) {
		bool own = l->user[i].owner == owner;
		bool active = l->user[i].owner && is_within(l->user[i].asked_ns, now_ns, ACTIVE_NS);

		if (own || (!active && place < 0))
			place = i;
		if (own)
			continue;
		users += active;
	}
	if (place >= 0) {
		l->user[place].owner = owner;
		l->user[place].asked_ns = now_ns;
	}
	return users;
}

static bool grant(struct clock_ledger *l, const struct clock_budget *b, uint64_t reads, int64_t now_ns)
{
	struct clock_grant *place = NULL;
	uint64_t all = 0, own = 0, share;

	if (l->version != VERSION)
		*l = (struct clock_ledger){ .version = VERSION };
	share = b->reads_per_s / count_users(l, b->owner, now_ns);
	for (struct clock_grant *g = l->grant; g < l->grant + CLOCK_BUDGET_MAX; g++) {
		if (!g->reads || g->reads > CLOCK_BUDGET_MAX || !is_within(g->at_ns, now_ns, WINDOW_NS)) {
			place = g;
			continue;
		}
		all += g->reads;
		own += g->owner == b->owner ? g->reads : 0;
	}
	/* A share that is smaller than a single request still admits that request. */
	if (!place || all + reads > b->reads_per_s || own + reads > (share > reads ? share : reads))
		return false;
	*place = (struct clock_grant){ b->owner, now_ns, reads };
	return true;
}

static bool take_shared(const struct clock_budget *b, uint64_t reads)
{
	struct clock_ledger l;
	bool granted;

	if (!lock(b->fd, F_WRLCK))
		return false;
	if (pread(b->fd, &l, sizeof(l), 0) != sizeof(l))
		l = (struct clock_ledger){ 0 };
	granted = grant(&l, b, reads, clock_read_ns(CLOCK_MONOTONIC));
	/* A grant that the others cannot see is not a grant. */
	granted &= pwrite(b->fd, &l, sizeof(l), 0) == sizeof(l);
	lock(b->fd, F_UNLCK);
	return granted;
}

bool clock_budget_take(struct clock_budget *b, uint32_t reads)
{
	bool granted;

	if (!b->reads_per_s)
		return true;
	granted = b->fd >= 0 ? take_shared(b, reads) : grant(&b->own, b, reads, clock_read_ns(CLOCK_MONOTONIC));
	b->waits += !granted;
	return granted;
}

bool clock_budget_wait(struct clock_budget *b, uint32_t reads)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };

	const uint64_t waits = b->waits;
	bool granted = false;

	for (int i = 0; i < WAIT_TRIES && !granted; i++) {
		if (i)
			nanosleep(&pause, NULL);
		granted = clock_budget_take(b, reads);
	}
	b->waits = waits;
	return granted;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

void clock_budget_open(struct clock_budget *b, int phc_index, uint32_t reads_per_s)
{
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	*b = (struct clock_budget){ .fd = -1 };
	if (!reads_per_s)
		return;
	b->reads_per_s = reads_per_s < CLOCK_BUDGET_MAX ? reads_per_s : CLOCK_BUDGET_MAX;
	if (getrandom(&b->owner, sizeof(b->owner), GRND_NONBLOCK) != sizeof(b->owner))
		b->owner = (uint64_t)now_ns ^ (uint64_t)getpid() << 32;
	b->owner |= 1; /* 0 is an empty entry */
	b->fd = open_shared(phc_index);
	if (b->fd >= 0)
		return;
	b->error = -b->fd;
	b->fd = -1;
	b->reads_per_s = (b->reads_per_s + ALONE - 1) / ALONE;
}

void clock_budget_close(struct clock_budget *b)
{
	if (b->fd >= 0 && b->reads_per_s)
		close(b->fd);
	b->fd = -1;
}
