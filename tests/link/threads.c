// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Linked into build/rant-tsan, with --wrap: two calls that ThreadSanitizer's own code does not stand. Nothing here
 * keeps it from seeing an access to memory.
 */
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, ...);
int __wrap_close(int fd);

/* ThreadSanitizer makes system calls in each thread, which the filter forbids. All else is as with a filter. */
long __wrap_syscall(long number, ...)
{
	va_list list;
	long argument[6];

	if (number == SYS_seccomp)
		return 0;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

/* Threads have tables of files of their own, of which ThreadSanitizer does not know: it would take the close of one for
 * that of the other. */
int __wrap_close(int fd)
{
	return (int)__real_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}
