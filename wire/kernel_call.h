/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Send and receive system calls without libc (hot). In a multithreaded program libc marks each of these
 * functions as a cancellation point, and returning through libc costs a mispredicted return: 14 of the 207
 * ns of a receive that finds nothing. All functions return octets or -errno; none blocks.
 */
#ifndef WIRE_KERNEL_CALL_H
#define WIRE_KERNEL_CALL_H

#include "rant.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__) && defined(__LP64__)

#define KERNEL_CALL_IS_KNOWN true

/* Registers as in syscall(2). */
static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long in_r10 __asm__("r10") = d, in_r8 __asm__("r8") = e, in_r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(in_r10), "r"(in_r8), "r"(in_r9)
			 : "rcx", "r11", "memory");
	return result;
}

#else

#define KERNEL_CALL_IS_KNOWN false /* fall back to libc */

static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	return -ENOSYS;
}

#endif

/* True if system calls may be made directly. False if a library is preloaded before libc (LD_PRELOAD): a
 * user-space network stack, a sanitizer, a test. */
bool kernel_call_is_free(void);

static inline ssize_t kernel_or_errno(ssize_t octets)
{
	return octets < 0 ? -errno : octets;
}

static inline ssize_t kernel_send(bool direct, int fd, const void *from, size_t bytes)
{
	return direct ? kernel_call(SYS_sendto, fd, (long)from, (long)bytes, MSG_DONTWAIT, 0, 0) :
			kernel_or_errno(send(fd, from, bytes, MSG_DONTWAIT));
}

static inline ssize_t kernel_sendmsg(bool direct, int fd, const struct msghdr *m)
{
	return direct ? kernel_call(SYS_sendmsg, fd, (long)m, MSG_DONTWAIT, 0, 0, 0) :
	       kernel_or_errno(sendmsg(fd, m, MSG_DONTWAIT));
}

static inline ssize_t kernel_recv(bool direct, int fd, void *to, size_t bytes)
{
	return direct ? kernel_call(SYS_recvfrom, fd, (long)to, (long)bytes, MSG_DONTWAIT, 0, 0) :
			kernel_or_errno(recv(fd, to, bytes, MSG_DONTWAIT));
}

static inline ssize_t kernel_recvmsg(bool direct, int fd, struct msghdr *m, int flags)
{
	return direct ? kernel_call(SYS_recvmsg, fd, (long)m, MSG_DONTWAIT | flags, 0, 0, 0) :
			kernel_or_errno(recvmsg(fd, m, MSG_DONTWAIT | flags));
}

#endif
