/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic BPF socket filter, which the kernel runs before queueing: Documentation/networking/filter.rst.
 * Offsets count from the begin of the socket's datagrams, with SKF_NET_OFF from the IP header, with
 * SKF_LL_OFF from the link header.
 */
#ifndef WIRE_SOCKET_FILTER_H
#define WIRE_SOCKET_FILTER_H

#include "rant.h"

#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>

/* Jump targets after the end: the second last accepts, the last rejects. */
#define SOCKET_FILTER_NO 254
#define SOCKET_FILTER_YES 253
#define SOCKET_FILTER_LOAD(size, at) BPF_STMT(BPF_LD | BPF_##size | BPF_ABS, (uint32_t)(at))
#define SOCKET_FILTER_IS(value, then, other) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), (then), (other))
#define SOCKET_FILTER_END BPF_STMT(BPF_RET | BPF_K, 0xffffffff), BPF_STMT(BPF_RET | BPF_K, 0)

/* Attaches a filter that ends with SOCKET_FILTER_END; resolves its jumps in place. 0 or -errno. */
static inline int socket_filter_attach(int fd, struct sock_filter *f, size_t count)
{
	const struct sock_fprog program = { .len = (unsigned short)count, .filter = f };

	for (size_t i = 0; i < count; i++) {
		if (BPF_CLASS(f[i].code) != BPF_JMP)
			continue;
		for (uint8_t *jump = &f[i].jt; jump; jump = jump == &f[i].jt ? &f[i].jf : NULL)
			if (*jump == SOCKET_FILTER_YES || *jump == SOCKET_FILTER_NO)
				*jump = (uint8_t)(count - i - (*jump == SOCKET_FILTER_YES ? 3 : 2));
	}
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

#endif
