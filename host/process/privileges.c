// SPDX-License-Identifier: GPL-2.0-or-later
/* Capabilities by system calls, for which libc has no functions. Sources: capabilities(7), prctl(2). */
#include "host/process/privileges.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_faccessat2
#define SYS_faccessat2 439 /* Linux 5.8 */
#endif

#define BIT(capability) (1ULL << (capability))

/* ---- One thread -------------------------------------------------------------------------------------------------- */

struct capabilities {
	uint64_t effective, permitted, inheritable;
};

static struct capabilities read_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct half[2] = { { 0 } };

	syscall(SYS_capget, &header, half);
	return (struct capabilities){
		.effective = half[0].effective | (uint64_t)half[1].effective << 32,
		.permitted = half[0].permitted | (uint64_t)half[1].permitted << 32,
		.inheritable = half[0].inheritable | (uint64_t)half[1].inheritable << 32,
	};
}

static int set_capabilities(const struct capabilities *c)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct half[2];

	for (int i = 0; i < 2; i++)
		half[i] = (struct __user_cap_data_struct){ .effective = (uint32_t)(c->effective >> 32 * i),
							   .permitted = (uint32_t)(c->permitted >> 32 * i),
							   .inheritable = (uint32_t)(c->inheritable >> 32 * i) };
	return syscall(SYS_capset, &header, half) ? -errno : 0;
}

/* The bounding set cannot be reduced without CAP_SETPCAP; with no_new_privs it has no effect either. */
static int keep_only(uint64_t keep)
{
	const uint64_t had = read_capabilities().permitted;
	const struct capabilities all = { .effective = had, .permitted = had };
	const struct capabilities c = { .effective = keep & had, .permitted = keep & had };

	set_capabilities(&all); /* after a change of the user they are permitted, but not effective */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	for (unsigned long i = 0; i < 64 && !prctl(PR_CAPBSET_DROP, i, 0, 0, 0); i++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return set_capabilities(&c);
}

int privileges_give_up(void)
{
	return keep_only(0);
}

void privileges_guard(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (getuid() && read_capabilities().permitted)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		close(fd);
}

/* ---- The user ---------------------------------------------------------------------------------------------------- */

int privileges_open(struct privileges *r, const char *user)
{
	const uint64_t needed = BIT(CAP_SETUID) | BIT(CAP_SETGID);
	const struct passwd *p;
	int error = 0;

	*r = (struct privileges){ .user = NULL };
	if (!user)
		return 0;
	errno = 0;
	p = getpwnam(user);
	if (!p) {
		error = errno ? errno : ENOENT;
		warnx("--user %s: %s: give one that 'getent passwd' lists", user,
		      error == ENOENT || error == ESRCH ? "there is no such user" : strerror(error));
		return -error;
	}
	*r = (struct privileges){ .user = user, .uid = p->pw_uid, .gid = p->pw_gid };
	if ((read_capabilities().effective & needed) != needed)
		error = EPERM;
	else if (initgroups(user, r->gid))
		error = errno;
	if (error)
		warnx("--user %s: %s: only root can become another user (CAP_SETUID and CAP_SETGID): use sudo, or "
		      "leave "
		      "it out", user, strerror(error));
	return -error;
}

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

/* Accesses files without capabilities and as the user. For this thread only. */
static void look_as_later(const struct privileges *r, bool later, uint64_t effective)
{
	struct capabilities c = read_capabilities();

	if (r->user && later) {
		setfsgid(r->gid);
		setfsuid(r->uid);
	}
	c.effective = later ? 0 : effective;
	set_capabilities(&c);
	if (r->user && !later) {
		setfsuid(geteuid());
		setfsgid(getegid());
		set_capabilities(&c); /* setfsuid() clears and sets the capabilities for files */
	}
}

struct folder {
	const char *option; /* without its dashes */
	const char *path; /* NULL: option not given */
	bool is_file; /* `folder` is the folder of the file, which is replaced or removed there */
	const char *cure; /* for a user who may not write there */
};

static void folder_of(const struct folder *f, char folder[PATH_MAX])
{
	char *slash;

	snprintf(folder, PATH_MAX, "%s", f->path);
	slash = strrchr(folder, '/');
	if (!f->is_file)
		return;
	if (!slash)
		strcpy(folder, ".");
	else
		slash[slash == folder] = 0;
}

/* In a sticky folder only the owner of a file, or of the folder, may replace it. */
static bool is_anothers(const struct privileges *r, const struct folder *f, const char *folder)
{
	const uid_t me = r->user ? r->uid : geteuid();
	struct stat in, file;

	return f->is_file && !stat(folder, &in) && !lstat(f->path, &file) && in.st_mode & S_ISVTX &&
	       in.st_uid != me && file.st_uid != me;
}

static int keep_folder(struct privileges *r, const struct folder *f)
{
	const uint64_t effective = read_capabilities().effective;
	char folder[PATH_MAX];
	bool closed, sticky;

	if (!f->path)
		return 0;
	folder_of(f, folder);
	look_as_later(r, true, effective);
	/* Not access(2), which would restore the capabilities of root. */
	closed = syscall(SYS_faccessat2, AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) && errno == EACCES;
	look_as_later(r, false, effective);
	sticky = is_anothers(r, f, folder);
	if (r->user && (closed || sticky)) {
		warnx("--%s: user %s may not write to %s: %s", f->option, r->user, sticky ? f->path : folder, f->cure);
		return -EACCES;
	}
	r->keep |= (closed || sticky ? BIT(CAP_DAC_OVERRIDE) : 0) | (sticky ? BIT(CAP_FOWNER) : 0);
	return 0;
}

int privileges_plan(struct privileges *r, const struct privileges_needs *n)
{
	const struct folder folders[] = {
		{ "save-trace", n->save_path, false, "choose another folder" },
		{ "save-trace", n->save_path ? n->trace_path : NULL, false,
		  "leave out --user or --save-trace" },
		{ "trace-marker", n->trace_made ? n->trace_path : NULL, true,
		  "to remove the instance of the trace takes that: make it first, by mkdir, then it stays" },
	};
	int error = 0;

	r->keep = n->nic || n->priority ? BIT(CAP_NET_ADMIN) : 0;
	/* CAP_NET_RAW is sufficient since Linux 5.17 (sk_set_prio_allowed() in net/core/sock.c). */
	if (n->priority && !(read_capabilities().permitted & BIT(CAP_NET_ADMIN)))
		r->keep |= BIT(CAP_NET_RAW);
	for (unsigned i = 0; i < n->files && !error; i++)
		error = keep_folder(r, &(struct folder){ n->file[i].option, n->file[i].path, true,
							 "choose another place" });
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !error; i++)
		error = keep_folder(r, &folders[i]);
	return error;
}

/* ---- The end of them --------------------------------------------------------------------------------------------- */

/* This thread only: libc changes all threads, and aborts if a thread is not permitted to. */
static int become_user(const struct privileges *r)
{
	if (!r->user)
		return 0;
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || syscall(SYS_setresgid, r->gid, r->gid, r->gid) ||
	       syscall(SYS_setresuid, r->uid, r->uid, r->uid) ? -errno : 0;
}

static int drop(const struct privileges *r, uint64_t keep)
{
	int error = become_user(r);

	if (error) {
		warnx("--user %s: cannot become this user (%s): leave it out", r->user, strerror(-error));
		return error;
	}
	error = keep_only(keep);
	if (error)
		warnx("the capabilities cannot be dropped (%s): a filter forbids prctl or capset: allow them",
		      strerror(-error));
	return error;
}

int privileges_give(const struct privileges *r, const char *option, int fd)
{
	int error;

	if (!r->user || !fchown(fd, r->uid, r->gid))
		return 0;
	error = errno;
	warnx("--user %s: cannot be made the owner of the file of --%s (%s): choose another place for it", r->user,
	      option,
	      strerror(error));
	return -error;
}

int privileges_drop(const struct privileges *r)
{
	return drop(r, r->keep);
}

void privileges_drop_beside(void *privileges)
{
	const struct privileges *r = privileges;

	drop(r, r->keep & ~(BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW)));
}
