// SPDX-License-Identifier: GPL-2.0-or-later
/* Commit, compiler and libraries. Without date and path: builds are reproducible. */
#include "report/text/version.h"

#include <err.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <linux/version.h>
#include <netlink/version.h>

#ifndef RANT_COMMIT
#define RANT_COMMIT ""
#endif

#ifdef __clang__
#define COMPILER __VERSION__ /* contains the name of the compiler */
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(__x86_64__)
#define ARCHITECTURE "x86-64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#else
#define ARCHITECTURE "neither x86-64 nor arm64"
#endif

#ifdef __OPTIMIZE__
#define OPTIMIZED "optimized"
#else
#define OPTIMIZED "not optimized: its own share of each latency is larger"
#endif

/* Feature test of clang; gcc before 14 lacks it. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZED ", with AddressSanitizer"
#else
#define SANITIZED ""
#endif

const char *version_commit(void)
{
	return *RANT_COMMIT ? RANT_COMMIT : NULL;
}

static void print_stage(const char *label, const char *library, const char *variable)
{
	if (library)
		printf("  %-10s:  %s\n", label, library);
	else
		printf("  %-10s:  not built in: make %s=1\n", label, variable);
}

int version_print(const char *hmac, const char *filter, const char *tree, const char *pages)
{
	puts("rant " RANT_VERSION);
	printf("  Commit    :  %s\n", *RANT_COMMIT ? RANT_COMMIT : "unknown");
	puts("  Compiler  :  " COMPILER " for " ARCHITECTURE ", " OPTIMIZED SANITIZED);
	printf("  Kernel    :  headers of Linux %d.%d.%d\n", LINUX_VERSION_CODE >> 16, LINUX_VERSION_CODE >> 8 & 0xff,
	       LINUX_VERSION_CODE & 0xff);
	printf("  C library :  glibc %d.%d, here %s\n", __GLIBC__, __GLIBC_MINOR__, gnu_get_libc_version());
	printf("  libnl     :  %s, here %d.%d.%d\n", LIBNL_VERSION, nl_ver_maj, nl_ver_min, nl_ver_mic);
	print_stage("--key", hmac, "NETTLE");
	print_stage("Filter", filter, "SECCOMP");
	print_stage("Read JSON", tree, "JANSSON");
	print_stage("Raw pages", pages, "TRACEEVENT");
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	warn("--version: stdout cannot be written");
	return -EIO;
}
