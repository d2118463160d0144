// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of the refused packets does the kernel count? And its report of that.
 *
 * ids hold COUNT COMMAND... runs the command in a control group; for each line on stdin its next COUNT packets are
 * refused (EPERM)
 *   ids tell ADDRESS OCTETS [BUFFER]
 * sends one packet to 10.78.0.2, then one to ADDRESS (so many that one finds no room in a buffer of
 * 
 * BUFFER octets), then one that asks for its id. Prints: what became of the second; how many ids the
 * 
 *                               refused one has taken; whether the id that was told is that of the stamp
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int bpf(int command, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, command, a, sizeof(*a));
}

/* ---- A control group whose packets can be refused ---------------------------------------------------------------- */

#define INSN(c, d, s, o, i) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

/* While map[0] is above 0, it counts down, and the packet is refused. */
static int load_program(int map)
{
	const struct bpf_insn program[] = {
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 6, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_0, 0, 0),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 4, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -1),
		INSN(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_CGROUP_SKB, .insns = (uintptr_t)program,
			     .insn_cnt = sizeof(program) / sizeof(program[0]), .license = (uintptr_t)"GPL",
			     .expected_attach_type = BPF_CGROUP_INET_EGRESS };

	return bpf(BPF_PROG_LOAD, &a);
}

static pid_t child;

static void pass_on(int signal_number)
{
	kill(child, signal_number);
}

static int hold(uint64_t count, char **command)
{
	union bpf_attr create = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1 };
	char place[] = "/tmp/ids.XXXXXX", group[64], line[64];
	uint32_t zero = 0;
	int map = bpf(BPF_MAP_CREATE, &create), program = map < 0 ? -1 : load_program(map), directory;

	if (program < 0)
		fail("bpf");
	if (!mkdtemp(place) || mount("none", place, "cgroup2", 0, NULL))
		fail("cgroup2");
	snprintf(group, sizeof(group), "%s/ids.%d", place, getpid());
	if (mkdir(group, 0700))
		fail(group);
	directory = open(group, O_RDONLY | O_DIRECTORY);
	child = fork();
	if (child == 0) {
		int procs = openat(directory, "cgroup.procs", O_WRONLY);

		if (procs < 0 || write(procs, "0", 1) != 1)
			fail("cgroup.procs");
		execvp(command[0], command);
		fail(command[0]);
	}
	union bpf_attr attach = { .target_fd = (uint32_t)directory, .attach_bpf_fd = (uint32_t)program,
				  .attach_type = BPF_CGROUP_INET_EGRESS };
	union bpf_attr set = { .map_fd = (uint32_t)map, .key = (uintptr_t)&zero, .value = (uintptr_t)&count };

	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = pass_on }, NULL);
	if (bpf(BPF_PROG_ATTACH, &attach))
		fail("attach");
	int status = 1;
	struct pollfd in = { .events = POLLIN };

	while (waitpid(child, &status, WNOHANG) == 0)
		if (poll(&in, 1, 100) > 0 && read(0, line, sizeof(line)) > 0 && bpf(BPF_MAP_UPDATE_ELEM, &set))
			fail("map");
	rmdir(group);
	umount(place);
	rmdir(place);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- What has been counted --------------------------------------------------------------------------------------- */

static int send_one(int s, const char *to, size_t bytes, int asks)
{
	static char octets[65000];
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(9) };
	union {
		char octets[CMSG_SPACE(4)];
		struct cmsghdr header;
	} control = { .header = { .cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPING, .cmsg_len = CMSG_LEN(4) } };
	struct iovec payload = { octets, bytes };
	struct msghdr m = { .msg_name = &address, .msg_namelen = sizeof(address), .msg_iov = &payload,
			    .msg_iovlen = 1 };
	const uint32_t flags = SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_TX_SOFTWARE;

	memcpy(CMSG_DATA(&control.header), &flags, sizeof(flags));
	inet_aton(to, &address.sin_addr);
	if (asks) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	return sendmsg(s, &m, MSG_DONTWAIT) < 0 ? errno : 0;
}

/* The last ids that are there: of stamps on leaving, SCM_TSTAMP_SND, and at the door, SCM_TSTAMP_SCHED. */
static void read_ids(int s, long id[2])
{
	char control[256];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };

	for (; recvmsg(s, &m, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0; m.msg_controllen = sizeof(control)) {
		for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
			struct sock_extended_err e;

			if (h->cmsg_level != SOL_IP || h->cmsg_type != IP_RECVERR)
				continue;
			memcpy(&e, CMSG_DATA(h), sizeof(e));
			if (e.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && e.ee_info <= SCM_TSTAMP_SCHED)
				id[e.ee_info] = e.ee_data;
		}
	}
}

static int print(const char *to, const char *bytes, int buffer)
{
	const int flags = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
			  SOF_TIMESTAMPING_OPT_TSONLY, whole = IP_PMTUDISC_DO;
	int s = socket(AF_INET, SOCK_DGRAM, 0), error = 0;
	long sent = 0, id[2] = { -1, -1 };

	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ||
	    setsockopt(s, SOL_IP, IP_MTU_DISCOVER, &whole, sizeof(whole)))
		fail("socket");
	if (buffer)
		setsockopt(s, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	if (send_one(s, "10.78.0.2", 50, 0))
		fail("the first packet");
	/* A packet that waits for its neighbour keeps the buffer full. */
	do
		error = send_one(s, to, (size_t)atoi(bytes), 0);
	while (!error && ++sent < (buffer ? 1000 : 1));
	setsockopt(s, SOL_SOCKET, SO_SNDBUF, (int[]){ 1 << 20 }, sizeof(int));
	read_ids(s, id);
	id[0] = -1;
	if (send_one(s, "10.78.0.2", 50, 1))
		fail("the last packet");
	read_ids(s, id);
	printf("%s %ld %s\n", error ? strerrorname_np(error) : "sent", id[1] - sent - 1,
	       id[0] == id[1] ? "true" : "false");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "hold"))
		return hold(strtoull(argv[2], NULL, 10), argv + 3);
	if (argc > 3 && !strcmp(argv[1], "tell"))
		return print(argv[2], argv[3], argc > 4 ? atoi(argv[4]) : 0);
	fprintf(stderr, "usage: see the source\n");
	return 2;
}
