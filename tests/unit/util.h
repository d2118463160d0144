/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers of the unit tests. A test includes its .c first, so that statics can be called and rant.h comes first,
 * then this, which brings cmocka with the headers that it wants but does not include.
 */
#ifndef UTIL_H
#define UTIL_H

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* UBSan prints and goes on by default, and a test that went on would pass. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "halt_on_error=1:print_stacktrace=1";
}

/* ---- Seeded random numbers --------------------------------------------------------------------------------------- */

static uint64_t util_random_state;

/* Call it first in main(). Another seed at each run finds more; the printed one repeats a failure. */
static inline void util_seed(void)
{
	const char *text = getenv("SEED");
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	util_random_state = text ? strtoull(text, NULL, 0) : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	printf("SEED=%llu repeats this run\n", (unsigned long long)util_random_state);
	fflush(stdout); /* a sanitizer ends the program without doing so */
}

/* splitmix64, of the public domain: good with every seed, 0 too. */
static inline uint64_t util_random(void)
{
	uint64_t z = util_random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* 0 .. limit - 1; the bias does not matter in a test. */
static inline uint64_t util_below(uint64_t limit)
{
	return util_random() % limit;
}

static inline void util_random_bytes(void *to, size_t bytes)
{
	uint8_t *p = to;

	while (bytes) {
		uint64_t r = util_random();
		size_t n = bytes < sizeof(r) ? bytes : sizeof(r);

		memcpy(p, &r, n);
		p += n;
		bytes -= n;
	}
}

/* Runs for a moment on each CPU, so that a trace holds something of each. */
static inline void util_visit_cpus(useconds_t us)
{
	cpu_set_t before, one;

	sched_getaffinity(0, sizeof(before), &before);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		usleep(us);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

/* ---- stderr of the code under test ------------------------------------------------------------------------------- */

struct util_capture {
	int saved_fd, file_fd;
};

static inline void util_capture_begin(struct util_capture *c)
{
	fflush(stderr);
	c->saved_fd = dup(STDERR_FILENO);
	c->file_fd = memfd_create("stderr", MFD_CLOEXEC);
	assert_true(c->saved_fd >= 0 && c->file_fd >= 0);
	assert_true(dup2(c->file_fd, STDERR_FILENO) >= 0);
}

/* Puts stderr back and returns its text since then, ended with a 0; a longer text is cut off. Assert only after
 * it: the message of an assertion that fails before would go into the capture. */
static inline size_t util_capture_end(struct util_capture *c, char *text, size_t bytes)
{
	fflush(stderr);
	dup2(c->saved_fd, STDERR_FILENO);
	close(c->saved_fd);

	ssize_t got = pread(c->file_fd, text, bytes - 1, 0);

	close(c->file_fd);
	text[got < 0 ? 0 : got] = '\0';
	return got < 0 ? 0 : (size_t)got;
}

/* ---- Octets ------------------------------------------------------------------------------------------------------ */

/* "00 01ff" to octets; spaces are skipped. Returns how many. */
static inline size_t util_hex(uint8_t *to, size_t space, const char *text)
{
	size_t n = 0;
	int used;
	unsigned octet;

	while (sscanf(text, " %2x%n", &octet, &used) == 1) {
		assert_true(n < space);
		to[n++] = (uint8_t)octet;
		text += used;
	}
	return n;
}

/* A copy that ends where its heap block ends, so that ASan sees one octet read or written behind it. Give it to
 * free(). */
static inline uint8_t *util_exact(const void *from, size_t bytes)
{
	uint8_t *copy = malloc(bytes);

	assert_true(copy || !bytes);
	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

#endif
