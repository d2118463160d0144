/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rant may do. When everything is open, the capabilities go that putting things back does not need, and with them
 * the way to new ones (no_new_privs). Capabilities and no_new_privs are of a thread, and go on to those that it starts.
 */
#ifndef HOST_PROCESS_RIGHTS_H
#define HOST_PROCESS_RIGHTS_H

#include "rant.h"

struct rights {
	const char *user; /* the caller's; NULL: who started rant stays */
	uid_t uid;
	gid_t gid;
	uint64_t keep; /* a bit for each capability, linux/capability.h */
};

#define RIGHTS_FILES_MAX 8

/* What is done when the rights are gone. */
struct rights_needs {
	bool nic; /* it is put back */
	bool priority; /* of a socket, above what everybody may set */
	struct {
		const char *option, *path; /* gets a file of this name */
	} file[RIGHTS_FILES_MAX];
	unsigned files;
	const char *save_path; /* folders are made in it; NULL: none */
	const char *trace_path; /* where the kernel traces; read if there is a save_path */
	bool trace_made; /* and to be removed */
};

/*
 * First of all. Where stdin, stdout or stderr are closed, nothing else may get their numbers, and what is written there
 * fails. Who has capabilities without being root is not looked into by others of the same user (ptrace, /proc/PID/mem,
 * pidfd_getfd), and dumps no core: threads that gave theirs up share the memory and the sockets of the one that kept
 * some. With --user the kernel does that itself when the user changes. Source: ptrace(2), PR_SET_DUMPABLE(2const).
 */
void rights_guard(void);

/* Looks the user up (NULL: none), whose groups rant has from now on. 0, or -errno after one line. */
int rights_open(struct rights *r, const char *user);

/*
 * What is to be kept for that: CAP_NET_ADMIN for the NIC, and for a priority, or else CAP_NET_RAW; CAP_DAC_OVERRIDE
 * where a folder is closed to who goes on without capabilities, and CAP_FOWNER where it is sticky and the log replaces
 * another's file. With a user such a folder is refused: -EACCES after one line.
 */
int rights_plan(struct rights *r, const struct rights_needs *n);

/* Makes the user the owner of a file of the option, if there is a user. 0, or -errno after one line. */
int rights_give(const struct rights *r, const char *option, int fd);

/* In the main thread and in the measuring one, when everything is open: the calling thread becomes the user, and keeps
 * no more than what is to be kept. 0, or -errno after one line. */
int rights_drop(const struct rights *r);

/* In the housekeeping thread: the user too, and no more than what writing needs. */
void rights_drop_beside(void *rights);

/* In a thread that is to have no capability at all, nor what it starts. 0 or -errno. */
int rights_give_up(void);

#endif
