// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The system call filter. Sources: seccomp(2), Documentation/userspace-api/seccomp_filter.rst. Without WITH_SECCOMP it
 * is not built, so that a plain compile of the sources does not need libseccomp.
 */
#include "host/process/seccomp.h"

#ifdef WITH_SECCOMP

#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROGRAM_MAX 512

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static const struct {
	int number;
	bool has_level;
	unsigned level; /* required second argument */
	unsigned name; /* required third argument; 0: any */
} allowed[] = {
	{ .number = SCMP_SYS(sendmsg) }, { .number = SCMP_SYS(recvmsg) }, { .number = SCMP_SYS(ppoll) },
	{ .number = SCMP_SYS(sendto) }, { .number = SCMP_SYS(recvfrom) }, /* send(), recv() */
	/* Without a vDSO, and for a PHC. */
	{ .number = SCMP_SYS(clock_gettime) },
	/* Counters of --pmc; markers, the switch and the snapshot of the trace; a message after 3 s without a reply. */
	{ .number = SCMP_SYS(read) }, { .number = SCMP_SYS(write) },
	{ .number = SCMP_SYS(pread64) }, { .number = SCMP_SYS(pwrite64) },
	{ .number = SCMP_SYS(futex) }, /* when another thread writes a line at the same time */
	{ .number = SCMP_SYS(clock_nanosleep) }, /* --interval */
	{ .number = SCMP_SYS(epoll_pwait) }, /* --source-ports */
	{ .number = SCMP_SYS(connect) }, /* peer_socket_take() */
	{ .number = SCMP_SYS(getsockopt), .has_level = true, .level = SOL_SOCKET }, /* peer_socket_backlog() */
	{ .number = SCMP_SYS(setsockopt), .has_level = true, .level = SOL_IP }, /* socket_want_tos() */
	{ .number = SCMP_SYS(setsockopt), .has_level = true, .level = SOL_IPV6 },
	/* socket_want_kernel_times() */
	{ .number = SCMP_SYS(setsockopt), .has_level = true, .level = SOL_SOCKET, .name = SO_TIMESTAMPING },
	/* stamp_send() */
	{ .number = SCMP_SYS(setsockopt), .has_level = true, .level = SOL_SOCKET, .name = SO_PRIORITY },
	/* Signals. */
	{ .number = SCMP_SYS(rt_sigreturn) }, { .number = SCMP_SYS(rt_sigprocmask) },
	{ .number = SCMP_SYS(restart_syscall) },
	/* The end: verdict_read_thread(), then loop_run(). */
	{ .number = SCMP_SYS(getrusage) }, { .number = SCMP_SYS(getcpu) }, { .number = SCMP_SYS(close_range) },
};

/* ---- From the list to a program of the kernel -------------------------------------------------------------------- */

const char *seccomp_library(void)
{
	return "libseccomp.so.2"; /* since 2012 */
}

static int add_rules(scmp_filter_ctx filter)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]) && !error; i++) {
		const struct scmp_arg_cmp of[] = { { .arg = 1, .op = SCMP_CMP_EQ, .datum_a = allowed[i].level },
						   { .arg = 2, .op = SCMP_CMP_EQ, .datum_a = allowed[i].name } };
		const unsigned compared = !allowed[i].has_level ? 0 : !allowed[i].name ? 1 : 2;

		error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, allowed[i].number, compared, of);
	}
	return error;
}

/* Number of instructions, or -errno. Exports to a file, so that the library is not needed under the filter. */
static int export(scmp_filter_ctx filter, struct sock_filter to[PROGRAM_MAX])
{
	int fd = memfd_create("filter", MFD_CLOEXEC), error;
	ssize_t bytes = 0;

	if (fd < 0)
		return -errno;
	error = seccomp_export_bpf(filter, fd);
	if (!error) {
		bytes = pread(fd, to, PROGRAM_MAX * sizeof(*to), 0);
		error = bytes <= 0 || bytes == PROGRAM_MAX * (ssize_t)sizeof(*to) ? -EIO : 0;
	}
	close(fd);
	return error ? error : (int)((size_t)bytes / sizeof(*to));
}

static struct sock_filter program[PROGRAM_MAX];
static int length; /* 0: no filter */

static int make(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
	int error = filter ? add_rules(filter) : -ENOMEM;

	if (!error)
		error = export(filter, program);
	if (filter)
		seccomp_release(filter);
	return error;
}

/* ---- In the program ---------------------------------------------------------------------------------------------- */

static void say_none(int error)
{
	warnx("it is measured without a filter of system calls (%s)", strerror(-error));
}

void seccomp_open(bool wanted)
{
	length = wanted ? make() : 0;
	if (length >= 0)
		return;
	say_none(length);
	length = 0;
}

void seccomp_begin(void)
{
	const struct sock_fprog fprog = { .len = (unsigned short)length, .filter = program };

	/* SPEC_ALLOW: before Linux 5.16 a filter disabled speculative store bypass, which slows down the CPU. */
	if (length && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &fprog))
		say_none(-errno);
}

#else

const char *seccomp_library(void)
{
	return NULL;
}

void seccomp_open(bool wanted)
{
	(void)wanted;
}

void seccomp_begin(void)
{
}

#endif
