/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For test_socket.c, which includes wire/socket.c before: replacements of its system calls. */
#ifndef FAKE_SOCKET_H
#define FAKE_SOCKET_H

#include "rant.h"
#include "util.h"
#include "wire/socket.h"
#include "wire/timestamping.h"

int __real_socket(int domain, int type, int protocol);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t bytes);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __real_bind(int fd, const struct sockaddr *address, socklen_t bytes);
int __real_connect(int fd, const struct sockaddr *address, socklen_t bytes);
ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __real_recv(int fd, void *to, size_t bytes, int flags);

int __wrap_socket(int domain, int type, int protocol);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t bytes);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t bytes);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t bytes);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t bytes, int flags);

/* ---- A kernel that refuses a single option ----------------------------------------------------------------------- */

#define SET_MAX 256

static struct {
	bool on;
	int refuse_level, refuse_name, refuse_error; /* setsockopt; error 0: nothing */
	int bind_error, connect_error, send_error;
	int bind_error_at; /* which bind, from 0 */
	int socket_error_at; /* which socket, from 1; 0: none */
	int granted_mask; /* granted timestamping flags */
	/* Observations. */
	struct {
		int level, name, value;
	} set[SET_MAX];
	unsigned sets, binds, sockets, sends;
	uint32_t drops; /* drop count of the socket; 0: unchanged */
	int drops_error;
	int flags; /* SO_TIMESTAMPING as last set */
	char device[IFNAMSIZ];
	struct sockaddr_in bound[4];
} fake;

int __wrap_socket(int domain, int type, int protocol)
{
	if (fake.on && (int)++fake.sockets == fake.socket_error_at) {
		errno = EMFILE;
		return -1;
	}
	return __real_socket(domain, type, protocol);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t bytes)
{
	if (!fake.on)
		return __real_setsockopt(fd, level, name, value, bytes);
	if (fake.refuse_error && level == fake.refuse_level && name == fake.refuse_name) {
		errno = fake.refuse_error;
		return -1;
	}
	assert_true(fake.sets < SET_MAX);
	fake.set[fake.sets].level = level;
	fake.set[fake.sets].name = name;
	if (level == SOL_SOCKET && name == SO_BINDTODEVICE)
		memcpy(fake.device, value, bytes);
	else
		memcpy(&fake.set[fake.sets].value, value, sizeof(int));
	if (level == SOL_SOCKET && name == SO_TIMESTAMPING)
		memcpy(&fake.flags, value, sizeof(int));
	fake.sets++;
	return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	if (fake.on && name == SO_MEMINFO && (fake.drops || fake.drops_error)) {
		errno = fake.drops_error;
		((uint32_t *)value)[SK_MEMINFO_DROPS] = fake.drops;
		return errno ? -1 : 0;
	}
	if (!fake.on || level != SOL_SOCKET || name != SO_TIMESTAMPING)
		return __real_getsockopt(fd, level, name, value, bytes);
	assert_int_equal(*bytes, sizeof(int));
	*(int *)value = fake.flags & fake.granted_mask;
	return 0;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
	if (!fake.on)
		return __real_bind(fd, address, bytes);
	assert_int_equal(bytes, address_bytes((const union address *)address));
	memcpy(&fake.bound[fake.binds % 4], address, sizeof(struct sockaddr_in));
	if ((int)fake.binds++ == fake.bind_error_at && fake.bind_error) {
		errno = fake.bind_error;
		return -1;
	}
	return 0;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	if (!fake.on || !fake.connect_error)
		return __real_connect(fd, address, bytes);
	errno = fake.connect_error;
	return -1;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);
	const struct sockaddr_in *to = m->msg_name;

	if (!fake.on)
		return __real_sendmsg(fd, m, flags);
	/* The only message of this source: nothing, to an address to which nothing may be sent. */
	fake.sends++;
	assert_non_null(h);
	assert_int_equal(h->cmsg_level, SOL_SOCKET);
	assert_int_equal(h->cmsg_type, SCM_TS_OPT_ID);
	assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(uint32_t)));
	assert_int_equal(to->sin_addr.s_addr, htonl(INADDR_BROADCAST));
	assert_int_equal(m->msg_iov[0].iov_len, 0);
	errno = fake.send_error;
	return fake.send_error ? -1 : 0;
}

#endif
