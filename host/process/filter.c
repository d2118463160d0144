// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter, and the thread that is not under it. Facts: seccomp(2), Documentation/userspace-api/seccomp_filter.rst.
 * Without WITH_SECCOMP there is none, so that a plain compile of the sources needs no libseccomp.
 */
#include "host/process/filter.h"

#ifdef WITH_SECCOMP

#include "host/process/watch.h"

#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROGRAM_MAX 512

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif
#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static const struct {
	int number;
	bool has_level;
	unsigned level; /* the second argument must be this */
	unsigned name; /* and the third this; 0: any */
} allowed[] = {
	{ .number = SCMP_SYS(sendmsg) }, { .number = SCMP_SYS(recvmsg) }, { .number = SCMP_SYS(ppoll) },
	{ .number = SCMP_SYS(sendto) }, { .number = SCMP_SYS(recvfrom) }, /* send(), recv() */
	/* Where the vDSO cannot tell, and of a PHC. */
	{ .number = SCMP_SYS(clock_gettime) },
	/* Counters of --pmc; markers, the switch and the snapshot of the trace; one line after 3 s of silence. */
	{ .number = SCMP_SYS(read) }, { .number = SCMP_SYS(write) },
	{ .number = SCMP_SYS(pread64) }, { .number = SCMP_SYS(pwrite64) },
	{ .number = SCMP_SYS(futex) }, /* when another thread writes a line at the same time */
	{ .number = SCMP_SYS(clock_nanosleep) }, /* --interval */
	{ .number = SCMP_SYS(epoll_pwait) }, /* --source-ports */
	{ .number = SCMP_SYS(connect) }, /* lane_take() */
	{ .number = SCMP_SYS(getsockopt), .has_level = true, .level = SOL_SOCKET }, /* lane_backlog() */
	{ .number = SCMP_SYS(setsockopt), .has_level = true, .level = SOL_IP }, /* socket_want_tos() */
	{ .number = SCMP_SYS(setsockopt), .has_level = true, .level = SOL_IPV6 },
	{ .number = SCMP_SYS(setsockopt), .has_level = true, .level = SOL_SOCKET, .name = SO_PRIORITY }, /* stamp_send() */
	/* Signals. */
	{ .number = SCMP_SYS(rt_sigreturn) }, { .number = SCMP_SYS(rt_sigprocmask) },
	{ .number = SCMP_SYS(restart_syscall) },
	/* The end: verdict_read_thread(), filter_leave(). */
	{ .number = SCMP_SYS(getrusage) }, { .number = SCMP_SYS(getcpu) }, { .number = SCMP_SYS(close_range) },
	{ .number = SCMP_SYS(exit_group) },
};

/* ---- From the list to a program of the kernel -------------------------------------------------------------------- */

const char *filter_library(void)
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

/* Instructions, or -errno. By a file, so that nothing of the library is left to be done under the filter. */
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
static int length; /* 0: there is none */

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

/* ---- The other thread -------------------------------------------------------------------------------------------- */

static struct {
	int wake_fd;
	void (*_Atomic act)(void *context); /* stored last: who sees it sees all that the measuring thread has done */
	void *context;
	sigset_t mask; /* of signals, as the measuring thread had it */
} outside;

static _Thread_local bool is_filtered;

/* While two threads share one table of files, each system call of the measuring one counts references to its socket. */
static void *wait_outside(void *unused)
{
	void (*act)(void *context);
	eventfd_t count;

	unshare(CLONE_FILES);
	while (eventfd_read(outside.wake_fd, &count))
		;
	pthread_sigmask(SIG_SETMASK, &outside.mask, NULL);
	act = atomic_load_explicit(&outside.act, memory_order_acquire);
	act(outside.context);
	return unused;
}

/* As the housekeeping thread: not on the measuring CPU, if there is another. */
static int start_outside(void)
{
	unsigned long thread;
	cpu_set_t cpus;
	int error = -EINVAL;

	outside.wake_fd = eventfd(0, EFD_CLOEXEC);
	if (outside.wake_fd < 0)
		return -errno;
	pthread_sigmask(SIG_SETMASK, NULL, &outside.mask);
	if (!watch_choose_cpus(&cpus))
		error = watch_start_thread(&thread, &cpus, 0, wait_outside, NULL);
	if (error == -EINVAL && !sched_getaffinity(0, sizeof(cpus), &cpus))
		error = watch_start_thread(&thread, &cpus, 0, wait_outside, NULL);
	if (error)
		close(outside.wake_fd);
	else
		pthread_detach(thread);
	return error;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

static void say_none(int error)
{
	warnx("it is measured without a filter of system calls (%s)", strerror(-error));
}

void filter_open(bool wanted)
{
	length = wanted ? make() : 0;
	if (length >= 0)
		return;
	say_none(length);
	length = 0;
}

void filter_begin(void)
{
	const struct sock_fprog fprog = { .len = (unsigned short)length, .filter = program };
	int error = length ? start_outside() : 0;

	if (!length)
		return;
	/* SPEC_ALLOW: before Linux 5.16 a filter meant a slower CPU (speculative store bypass disabled). */
	if (!error && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &fprog))
		error = -errno;
	is_filtered = !error;
	if (error)
		say_none(error);
}

/* The others see a file as closed only when all who have it close it: an instance of tracefs could not be removed. */
static void close_files(void)
{
	unsigned kept = (unsigned)outside.wake_fd;

	if (kept)
		syscall(SYS_close_range, 0, kept - 1, CLOSE_RANGE_UNSHARE);
	syscall(SYS_close_range, kept + 1, ~0U, CLOSE_RANGE_UNSHARE);
}

void filter_leave(void (*act)(void *context), void *context)
{
	sigset_t all;

	if (!is_filtered) {
		act(context);
		return;
	}
	/* From now on signals are the other thread's. A handler that comes before this does not return. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	outside.context = context;
	atomic_store_explicit(&outside.act, act, memory_order_release);
	close_files();
	eventfd_write(outside.wake_fd, 1);
	for (;;)
		ppoll(NULL, 0, NULL, NULL);
}

#else

const char *filter_library(void)
{
	return NULL;
}

void filter_open(bool wanted)
{
	(void)wanted;
}

void filter_begin(void)
{
}

void filter_leave(void (*act)(void *context), void *context)
{
	act(context);
}

#endif
