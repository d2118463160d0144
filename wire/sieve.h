/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter on a socket, which the kernel runs before it queues anything: Documentation/networking/filter.rst. Octets
 * are counted from where the socket's datagrams begin; those of the header of IP by SKF_NET_OFF, of the link by
 * SKF_LL_OFF.
 */
#ifndef WIRE_SIEVE_H
#define WIRE_SIEVE_H

#include "rant.h"

#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>

/* A jump beyond the end of one: to the last but one is to take it, to the last not to. */
#define SIEVE_NO 254
#define SIEVE_YES 253
#define SIEVE_LOAD(size, at) BPF_STMT(BPF_LD | BPF_##size | BPF_ABS, (uint32_t)(at))
#define SIEVE_IS(value, then, other) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), (then), (other))
#define SIEVE_END BPF_STMT(BPF_RET | BPF_K, 0xffffffff), BPF_STMT(BPF_RET | BPF_K, 0)

/* Attaches a filter that ends with SIEVE_END, whose jumps are resolved in place. 0 or -errno. */
static inline int sieve_attach(int fd, struct sock_filter *f, size_t count)
{
	const struct sock_fprog program = { .len = (unsigned short)count, .filter = f };

	for (size_t i = 0; i < count; i++) {
		if (BPF_CLASS(f[i].code) != BPF_JMP)
			continue;
		for (uint8_t *jump = &f[i].jt; jump; jump = jump == &f[i].jt ? &f[i].jf : NULL)
			if (*jump == SIEVE_YES || *jump == SIEVE_NO)
				*jump = (uint8_t)(count - i - (*jump == SIEVE_YES ? 3 : 2));
	}
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

#endif
