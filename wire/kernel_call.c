// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether send and receive functions are those of libc. */
#include "wire/kernel_call.h"

#include <dlfcn.h>

#define LIBC "libc.so.6" /* glibc */

static bool is_libcs(void *libc, const char *name)
{
	const void *own = dlsym(libc, name);

	return own && own == dlsym(RTLD_DEFAULT, name);
}

bool kernel_call_is_free(void)
{
	void *libc = KERNEL_CALL_IS_KNOWN ? dlopen(LIBC, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	bool is_free;

	if (!libc)
		return false;
	is_free = is_libcs(libc, "send") && is_libcs(libc, "sendmsg") && is_libcs(libc, "recv") &&
		  is_libcs(libc, "recvmsg");
	dlclose(libc);
	return is_free;
}
