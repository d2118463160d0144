/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privileges of rant. When everything is open, capabilities that are not needed to restore settings are dropped, and
 * new capabilities are prevented (no_new_privs). Capabilities and no_new_privs belong to a thread, and are inherited by
 * its threads.
 */
#ifndef HOST_PROCESS_PRIVILEGES_H
#define HOST_PROCESS_PRIVILEGES_H

#include "rant.h"

struct privileges {
	const char *user; /* the caller's; NULL: the user that started rant */
	uid_t uid;
	gid_t gid;
	uint64_t keep; /* a bit for each capability, linux/capability.h */
};

#define PRIVILEGES_FILES_MAX 8

/* Actions that follow after the privileges were dropped. */
struct privileges_needs {
	bool nic; /* its setting is restored */
	bool priority; /* of a socket, above the range that needs no privilege */
	struct {
		const char *option, *path; /* option, and the file that it creates */
	} file[PRIVILEGES_FILES_MAX];
	unsigned files;
	const char *save_path; /* folders are created in it; NULL: none */
	const char *trace_path; /* trace instance; read if save_path is set */
	bool trace_made; /* by rant, which removes it at the end */
};

/*
 * Call it first. If stdin, stdout or stderr is closed, reserves its number, so that no file gets it and writes fail. If
 * the process has capabilities without being root, other processes of the same user cannot inspect it (ptrace,
 * /proc/PID/mem, pidfd_getfd), and it dumps no core: threads without capabilities share the memory and the sockets of
 * the thread that keeps some. With --user the kernel does that when the user changes. Source: ptrace(2),
 * PR_SET_DUMPABLE(2const).
 */
void privileges_guard(void);

/* Looks the user up (NULL: none) and takes over its groups. 0, or -errno after one line. */
int privileges_open(struct privileges *r, const char *user);

/*
 * Plans the capabilities to keep: CAP_NET_ADMIN for the NIC, and for a priority, or else CAP_NET_RAW; CAP_DAC_OVERRIDE
 * if a folder is not writable without capabilities, and CAP_FOWNER if it is sticky and the log replaces a file of
 * another user. With --user such a folder is refused: -EACCES after one line.
 */
int privileges_plan(struct privileges *r, const struct privileges_needs *n);

/* Makes the user the owner of a file of the option, if there is a user. 0, or -errno after one line. */
int privileges_give(const struct privileges *r, const char *option, int fd);

/* For the main and the measuring thread, when everything is open: the calling thread becomes the user, and keeps only
 * the planned capabilities. 0, or -errno after one line. */
int privileges_drop(const struct privileges *r);

/* For the worker thread: becomes the user, and keeps only the capabilities that writing needs. */
void privileges_drop_beside(void *privileges);

/* For a thread that must not have any capability, and its children. 0 or -errno. */
int privileges_give_up(void);

#endif
